// What happens inside a paragraph: code, emphasis, links. Pure, and linear: a closer once looked for in vain is not looked for again.

/**
 * @typedef {{type: "text" | "code" | "strong" | "em" | "strike" | "link" | "image" | "break" | "char", from: number, to: number,
 *   kids?: Span[], href?: string, char?: string}} Span  `from` and `to` count in the text that was given
 */

const ESCAPED = /[!-/:-@[-`{-~]/;
const ENTITIES = { "&lt;": "<", "&gt;": ">", "&amp;": "&", "&quot;": '"', "&#39;": "'", "&nbsp;": "\u00a0" };
const BARE = /https?:\/\/[^\s<>"'`]+/y;
const DEEPEST = 8;
const LONGEST_LINK = 2000;

/**
 * @param {string} text
 * @returns {Span[]}
 */
export const spans = (text) => scan({ text, vain: new Set(), next: new Map() }, 0, text.length, 0);

// Each reader looks at text[i] and answers a span, or nothing.
const READERS = {
  "`": code,
  "*": emphasis,
  _: emphasis,
  "~": emphasis,
  "[": link,
  "!": image,
  "<": angle,
  "\\": escape,
  "&": entity,
  "\n": hardBreak,
  h: bare,
};

function scan(state, from, to, depth) {
  const found = [];
  let plain = from;
  for (let i = from; i < to;) {
    const span = READERS[state.text[i]]?.(state, i, to, depth);
    if (!span) {
      // A run of marks that opened nothing is skipped whole, else its second star would open what the first could not.
      i += "*_~`".includes(state.text[i]) ? run(state.text, i) : 1;
      continue;
    }
    if (span.from > plain) found.push({ type: "text", from: plain, to: span.from });
    found.push(span);
    i = plain = span.to;
  }
  if (to > plain) found.push({ type: "text", from: plain, to });
  return found;
}

function run(text, i) {
  let end = i + 1;
  while (text[end] === text[i]) end += 1;
  return end - i;
}

function code(state, i, to) {
  const { text } = state;
  const n = run(text, i);
  const end = codeEnd(state, i, n, to);
  if (end < 0) return null;
  let [a, b] = [i + n, end];
  if (text[a] === " " && text[b - 1] === " " && b - a > 2) [a, b] = [a + 1, b - 1];
  return { type: "code", from: i, to: end + n, kids: [{ type: "text", from: a, to: b }] };
}

function codeEnd(state, i, n, to) {
  if (state.vain.has("`" + n)) return -1;
  let at = state.text.indexOf("`", i + n);
  while (at >= 0 && at < to) {
    const size = run(state.text, at);
    if (size === n) return at;
    at = state.text.indexOf("`", at + size);
  }
  if (at < 0) state.vain.add("`" + n);
  return -1;
}

const NAMES = { 1: ["em"], 2: ["strong"], 3: ["strong", "em"] };

function emphasis(state, i, to, depth) {
  const { text } = state;
  const mark = text[i];
  const n = run(text, i);
  const strike = mark === "~";
  if (depth >= DEEPEST || n > 3 || (strike && n !== 2) || !opens(text, i, n)) return null;
  const end = closer(state, i + n, to, mark, n);
  if (end < 0) return null;
  const kids = scan(state, i + n, end, depth + 1);
  const span = { from: i, to: end + n, kids };
  if (strike) return { ...span, type: "strike" };
  const [outer, inner] = NAMES[n];
  return inner
    ? { ...span, type: outer, kids: [{ from: i + n, to: end, type: inner, kids }] }
    : { ...span, type: outer };
}

const word = /[\p{L}\p{N}]/u;
const space = (char) => char === undefined || /\s/.test(char);
const opens = (text, i, n) => !space(text[i + n]) && !(text[i] === "_" && word.test(text[i - 1] ?? ""));
const closes = (text, i, n) => !space(text[i - 1]) && !(text[i] === "_" && word.test(text[i + n] ?? ""));

function closer(state, from, to, mark, n) {
  const vain = mark + n;
  if (state.vain.has(vain)) return -1;
  const { text } = state;
  for (let i = from; i < to;) {
    if (text[i] === "\\") i += 2;
    else if (text[i] === "`") {
      const size = run(text, i);
      const end = codeEnd(state, i, size, to);
      i = end < 0 ? i + size : end + size;
    } else if (text[i] === mark) {
      const size = run(text, i);
      if (closes(text, i, size) && i > from) {
        if (size === n) return i;
        if (size === 3 && n < 3) return i + (opens(text, i, size) ? 0 : 3 - n);
      }
      i += size;
    } else i += 1;
  }
  if (to === text.length) state.vain.add(vain);
  return -1;
}

// Is there any of these from here on, near enough for a link? Without, no bracket has to be matched.
function near(state, mark, i, to) {
  let found = state.next.get(mark);
  if (!found || i < found.from || i > found.at) {
    found = { from: i, at: (state.text.indexOf(mark, i) + 1 || Infinity) - 1 };
    state.next.set(mark, found);
  }
  return found.at < Math.min(to, i + LONGEST_LINK);
}

function link(state, i, to, depth) {
  const { text } = state;
  if (!near(state, "](", i, to)) return null;
  const shut = bracket(text, i, Math.min(to, i + LONGEST_LINK), "[", "]");
  if (shut < 0 || text[shut + 1] !== "(" || !near(state, ")", shut, to)) return null;
  const end = bracket(text, shut + 1, Math.min(to, shut + LONGEST_LINK), "(", ")");
  if (end < 0) return null;
  const href = text
    .slice(shut + 2, end)
    .trim()
    .replace(/\s+["'(].*$/s, "")
    .replace(/^<(.*)>$/, "$1");
  const kids = depth < DEEPEST ? scan(state, i + 1, shut, DEEPEST) : [{ type: "text", from: i + 1, to: shut }];
  return { type: "link", from: i, to: end + 1, href, kids };
}

function bracket(text, i, to, open, shut) {
  let depth = 0;
  for (let at = i; at < to; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === open) depth += 1;
    else if (text[at] === shut && (depth -= 1) === 0) return at;
  }
  return -1;
}

function image(state, i, to) {
  if (state.text[i + 1] !== "[") return null;
  const found = link(state, i + 1, to, DEEPEST);
  return found && { ...found, type: "image", from: i };
}

function angle({ text }, i, to) {
  const end = text.indexOf(">", i);
  if (end < 0 || end >= to || end - i > LONGEST_LINK) return null;
  const inside = text.slice(i + 1, end);
  if (/^https?:\/\/\S+$/.test(inside))
    return { type: "link", from: i, to: end + 1, href: inside, kids: [{ type: "text", from: i + 1, to: end }] };
  if (/^br\s*\/?$/i.test(inside)) return { type: "break", from: i, to: end + 1 };
  return null;
}

function bare({ text }, i, to, depth) {
  if (depth >= DEEPEST || word.test(text[i - 1] ?? "")) return null;
  BARE.lastIndex = i;
  const href = BARE.exec(text)?.[0]
    .slice(0, to - i)
    .replace(/[.,;:!?*_~)\]}]+$/, "");
  return href && href.length > 8
    ? { type: "link", from: i, to: i + href.length, href, kids: [{ type: "text", from: i, to: i + href.length }] }
    : null;
}

function escape({ text }, i, to) {
  if (i + 1 >= to) return null;
  if (text[i + 1] === "\n") return { type: "break", from: i, to: i + 2 };
  return ESCAPED.test(text[i + 1]) ? { type: "char", from: i, to: i + 2, char: text[i + 1] } : null;
}

function entity({ text }, i) {
  const name = /^&(?:[a-z]+|#39);/.exec(text.slice(i, i + 8))?.[0];
  return name && ENTITIES[name] ? { type: "char", from: i, to: i + name.length, char: ENTITIES[name] } : null;
}

function hardBreak({ text }, i) {
  const lead = /( {2,})$/.exec(text.slice(Math.max(0, i - 8), i))?.[1].length;
  return lead ? { type: "break", from: i, to: i + 1 } : null;
}
