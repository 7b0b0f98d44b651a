// Markdown to a tree that remembers where in the source each piece stands. Pure: text in, values out.
//
// A block's lines are {text, at}: what is left of the line inside its containers, and where that begins in the source.
// So a list in a quote in a list still knows its offsets, and a word selected on the page can be found in the answer.

/**
 * @typedef {{text: string, at: number}} Line
 * @typedef {{type: "paragraph" | "heading" | "code" | "list" | "quote" | "table" | "rule", start: number, end: number,
 *   lines?: Line[], level?: number, lang?: string, ordered?: boolean, first?: number, items?: Block[][], blocks?: Block[],
 *   align?: string[], rows?: Line[][]}} Block
 */

// No two parts of these can take the same character: a line may be as long as an answer, and is looked at once.
const FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+([^]*))?$/;
const RULE = /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])([ \t]+|$)/;
const DIVIDER = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*(?:\|[ \t]*)?$/;
const DEEPEST = 12; // containers inside containers; below that a line is only a line

/**
 * @param {string} source
 * @param {number} [from] where to begin; it must be the start of a block
 * @returns {Block[]}
 */
export function parse(source, from = 0) {
  const lines = [];
  for (let at = from; at < source.length;) {
    const next = source.indexOf("\n", at);
    const end = next < 0 ? source.length : next;
    lines.push({ text: source.slice(at, source[end - 1] === "\r" ? end - 1 : end), at });
    at = end + 1;
  }
  return blocks(lines, 0);
}

const blank = (line) => !line || !line.text.trim();

// Each opener looks at lines[i] and answers [block, next i], or nothing when the line is not its kind.
const OPENERS = [fence, heading, rule, quote, list, table, indented];

function blocks(lines, depth) {
  const found = [];
  for (let i = 0; i < lines.length;) {
    if (blank(lines[i])) {
      i += 1;
      continue;
    }
    const [block, next] = first(lines, i, depth);
    const last = lines[next - 1];
    found.push({ ...block, start: lines[i].at, end: last.at + last.text.length });
    i = next;
  }
  return found;
}

function first(lines, i, depth) {
  for (const open of OPENERS) {
    const opened = open(lines, i, depth);
    if (opened) return opened;
  }
  return paragraph(lines, i, depth);
}

function paragraph(lines, i, depth) {
  let next = i + 1;
  while (next < lines.length && !blank(lines[next]) && !interrupts(lines, next, depth)) next += 1;
  return [{ type: "paragraph", lines: lines.slice(i, next).map(trimmed) }, next];
}

function interrupts(lines, i, depth) {
  const { text } = lines[i];
  if (FENCE.test(text) || HEADING.test(text) || RULE.test(text) || QUOTE.test(text)) return true;
  const item = depth < DEEPEST && ITEM.exec(text);
  // Only a list that begins at 1 may cut a paragraph: a line that opens with "2026." is prose.
  if (item && item[3] && (!/\d/.test(item[2]) || parseInt(item[2], 10) === 1)) return true;
  return Boolean(table(lines, i));
}

function trimmed({ text, at }) {
  const lead = text.length - text.trimStart().length;
  return { text: text.slice(lead), at: at + lead };
}

function fence(lines, i) {
  const open = FENCE.exec(lines[i].text);
  if (!open) return null;
  const close = new RegExp(`^ {0,3}${open[1][0]}{${open[1].length},}[ \\t]*$`);
  let next = i + 1;
  while (next < lines.length && !close.test(lines[next].text)) next += 1;
  const inside = lines.slice(i + 1, next);
  const info = lines[i].text.slice(open[0].length).trim();
  return [{ type: "code", lang: info.split(/\s/)[0], lines: inside }, Math.min(next + 1, lines.length)];
}

function indented(lines, i) {
  if (!/^ {4}/.test(lines[i].text)) return null;
  let next = i;
  while (
    next < lines.length &&
    (/^ {4}/.test(lines[next].text) || (blank(lines[next]) && /^ {4}/.test(lines[next + 1]?.text ?? "")))
  )
    next += 1;
  const inside = lines.slice(i, next).map((line) => drop(line, Math.min(4, line.text.length)));
  return [{ type: "code", lang: "", lines: inside }, next];
}

function heading(lines, i) {
  const found = HEADING.exec(lines[i].text);
  if (!found) return null;
  const words = unclosed(found[2] ?? "");
  const at = lines[i].at + (words ? lines[i].text.indexOf(words, lines[i].text.indexOf("#") + found[1].length) : 0);
  return [{ type: "heading", level: found[1].length, lines: [{ text: words, at }] }, i + 1];
}

/** A heading's words without the #s that may close it; those of `C#` belong to a word. */
function unclosed(text) {
  const words = text.trimEnd();
  let end = words.length;
  while (words[end - 1] === "#") end -= 1;
  return end === 0 || /[ \t]/.test(words[end - 1]) ? words.slice(0, end).trimEnd() : words;
}

function rule(lines, i) {
  return RULE.test(lines[i].text) ? [{ type: "rule" }, i + 1] : null;
}

const drop = (line, n) => ({ text: line.text.slice(n), at: line.at + n });

function quote(lines, i, depth) {
  if (depth >= DEEPEST || !QUOTE.test(lines[i].text)) return null;
  let next = i;
  while (next < lines.length && QUOTE.test(lines[next].text)) next += 1;
  const inside = lines.slice(i, next).map((line) => drop(line, QUOTE.exec(line.text)[0].length));
  return [{ type: "quote", blocks: blocks(inside, depth + 1) }, next];
}

const kindOf = (marker) => (/\d/.test(marker) ? marker.at(-1) : marker);

function list(lines, i, depth) {
  const open = depth < DEEPEST && ITEM.exec(lines[i].text);
  if (!open || RULE.test(lines[i].text)) return null;
  const items = [];
  let next = i;
  while (next < lines.length) {
    const marker = ITEM.exec(lines[next].text);
    if (!marker || kindOf(marker[2]) !== kindOf(open[2]) || RULE.test(lines[next].text)) break;
    const [inside, after] = item(lines, next, marker, depth);
    items.push(blocks(inside, depth + 1));
    next = after;
    let ahead = next;
    while (ahead < lines.length && blank(lines[ahead])) ahead += 1;
    if (ahead < lines.length && ITEM.test(lines[ahead].text)) next = ahead;
  }
  while (blank(lines[next - 1])) next -= 1;
  const number = parseInt(open[2], 10);
  return [{ type: "list", ordered: !Number.isNaN(number), first: number, items }, next];
}

// An item holds its own line, what is indented under it, and lazy lines that continue its paragraph.
function item(lines, i, marker, depth) {
  const spaces = marker[3].length > 4 ? 1 : Math.max(marker[3].length, 1);
  const indent = marker[1].length + marker[2].length + spaces;
  const inside = [drop(lines[i], Math.min(indent, lines[i].text.length))];
  let next = i + 1;
  for (; next < lines.length; next += 1) {
    const { text } = lines[next];
    const lead = text.length - text.trimStart().length;
    if (blank(lines[next])) {
      if (blank(lines[next + 1])) break;
      inside.push({ text: "", at: lines[next].at + text.length });
    } else if (lead >= Math.min(indent, 2) && !(lead < indent && ITEM.test(text)))
      inside.push(drop(lines[next], Math.min(lead, indent)));
    else if (!blank(lines[next - 1]) && !interrupts(lines, next, depth) && !ITEM.test(text)) inside.push(lines[next]);
    else break;
  }
  return [inside, next];
}

function table(lines, i) {
  if (!lines[i].text.includes("|") || !DIVIDER.test(lines[i + 1]?.text ?? "")) return null;
  const head = cells(lines[i]);
  const align = cells(lines[i + 1]).map(({ text }) =>
    /^:.*:$/.test(text) ? "center" : text.endsWith(":") ? "right" : "left",
  );
  if (head.length !== align.length) return null;
  let next = i + 2;
  while (next < lines.length && !blank(lines[next]) && lines[next].text.includes("|")) next += 1;
  const rows = lines.slice(i + 2, next).map((line) => cells(line).slice(0, head.length));
  return [{ type: "table", align, rows: [head, ...rows] }, next];
}

function cells({ text, at }) {
  const found = [];
  let from = /^\s*\|/.exec(text)?.[0].length ?? 0;
  for (let i = from; i <= text.length; i += 1) {
    if (text[i] === "\\") i += 1;
    else if (text[i] === "|" || (i >= text.length && text.slice(from).trim())) {
      found.push(tight(text.slice(from, i), at + from));
      from = i + 1;
    }
  }
  return found;
}

function tight(text, at) {
  const line = trimmed({ text, at });
  return { text: line.text.trimEnd(), at: line.at };
}
