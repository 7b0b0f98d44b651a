// A Markdown tree to DOM nodes. Every text node that shows source words is noted with the place they came from.
//
// What a model writes is untrusted: it becomes text nodes and a fixed set of elements. Links lead only to http and https
// and name their host; a picture is never fetched, only named.
import { copyButton, h, shown } from "./dom.js";
import { spans } from "./inline.js";

/** @typedef {import("./markdown.js").Block} Block */
/** @typedef {WeakMap<Text, {start: number, end: number}>} Places */

const BLOCKS = {
  paragraph: (block, places) => h("p", {}, inline(block.lines, places)),
  heading: (block, places) => h("h4", { class: `h${block.level}` }, inline(block.lines, places)),
  rule: () => h("hr"),
  quote: (block, places) =>
    h(
      "blockquote",
      {},
      block.blocks.map((each) => render(each, places)),
    ),
  list,
  code,
  table,
};

/**
 * @param {Block} block
 * @param {Places} places
 * @returns {HTMLElement}
 */
export const render = (block, places) => BLOCKS[block.type](block, places);

/**
 * A text node that knows where its words stand in the source.
 * @param {string} text
 * @param {number} start
 * @param {number} end
 * @param {Places} places
 * @returns {Text}
 */
export function placed(text, start, end, places) {
  const node = document.createTextNode(shown(text));
  places.set(node, { start, end });
  return node;
}

function list(block, places) {
  const item = (blocks) =>
    h(
      "li",
      {},
      blocks.map((each) => (lone(each, blocks) ? inline(each.lines, places) : render(each, places))),
    );
  const start = block.ordered && block.first !== 1 ? block.first : null;
  return h(block.ordered ? "ol" : "ul", { start }, block.items.map(item));
}

// An item that is one paragraph, or begins with one, needs no paragraph of its own.
const lone = (each, blocks) => each === blocks[0] && each.type === "paragraph";

function code(block, places) {
  const text = block.lines.map((line) => line.text).join("\n");
  const name = block.lang || "text";
  const wide = block.lines.some((line) => line.text.length > 28);
  const pre = h(
    "pre",
    wide ? { tabindex: "0", role: "region", "aria-label": `Code, ${name}` } : {},
    h("code", {}, runs(block.lines, places)),
  );
  const bar = h(
    "figcaption",
    {},
    h("span", {}, name),
    copyButton("Copy code", () => text, { class: "button quiet tiny" }),
  );
  return h("figure", { class: "code" }, bar, pre);
}

// Lines that stand next to each other in the source become one text node: a fence of 400 lines is one node, not 400.
function runs(lines, places) {
  const nodes = [];
  let open = null;
  const shut = () => open && nodes.push(placed(open.text, open.at, open.at + open.text.length, places));
  for (const { text, at } of lines) {
    if (open && at === open.at + open.text.length + 1) open.text += "\n" + text;
    else {
      shut();
      if (open) nodes.push(document.createTextNode("\n"));
      open = { text, at };
    }
  }
  shut();
  return nodes;
}

function table(block, places) {
  const cell = (tag, line, i) =>
    h(tag, { class: block.align[i], scope: tag === "th" ? "col" : null }, inline([line], places));
  const row = (tag, lines) =>
    h(
      "tr",
      {},
      lines.map((line, i) => cell(tag, line, i)),
    );
  const [head, ...rows] = block.rows;
  const body = h(
    "table",
    {},
    h("thead", {}, row("th", head)),
    h(
      "tbody",
      {},
      rows.map((lines) => row("td", lines)),
    ),
  );
  return h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Table" }, body);
}

function inline(lines, places) {
  const text = lines.map((line) => line.text).join("\n");
  return spans(text).map((span) => SPANS[span.type](span, { text, lines, places }));
}

const SPANS = {
  text: (span, context) => words(span, context),
  char: (span, { lines, places }) => placed(span.char, ...sourceOf(span, lines), places),
  break: () => h("br"),
  code: (span, context) => h("code", {}, inside(span, context)),
  strong: (span, context) => h("strong", {}, inside(span, context)),
  em: (span, context) => h("em", {}, inside(span, context)),
  strike: (span, context) => h("s", {}, inside(span, context)),
  link,
  image: (span, context) => link(span, context, "image: "),
};

const inside = (span, context) => span.kids.map((kid) => SPANS[kid.type](kid, context));

function link(span, context, prefix = "") {
  const url = address(span.href);
  const kids = inside(span, context);
  if (!url) return h("span", { class: "dead" }, prefix, kids);
  const said = context.text.slice(span.from, span.to);
  const host = prefix || !said.startsWith(span.href) ? h("small", { class: "host" }, ` (${url.host})`) : null;
  const safe = { href: url.href, target: "_blank", rel: "noopener noreferrer nofollow", referrerpolicy: "no-referrer" };
  return h("span", {}, h("a", safe, prefix, kids), host);
}

function address(href) {
  try {
    const url = new URL(href);
    return /^https?:$/.test(url.protocol) ? url : null;
  } catch {
    return null;
  }
}

// A run of words may cross lines, and each line has its own place in the source: one text node a line.
function words({ from, to }, { text, lines, places }) {
  const nodes = [];
  let base = 0;
  for (const line of lines) {
    const [a, b] = [Math.max(from, base), Math.min(to, base + line.text.length + 1)];
    if (a < b) nodes.push(...broken(text.slice(a, b), line.at + a - base, places));
    base += line.text.length + 1;
    if (base >= to) break;
  }
  return nodes;
}

// A run without a space: browsers take seconds to find where one of 40,000 characters may be broken, so it is broken for them.
const UNBROKEN = /\S{800,}/g;
const PIECE = /.{1,400}/gsu; // `u`: halves of one character stay together

/**
 * Text nodes that know their places, with breaks where a run would have none.
 * @param {string} text
 * @param {number} at where it begins in the source
 * @param {Places} places
 * @returns {Node[]}
 */
export function broken(text, at, places) {
  const nodes = [];
  let done = 0;
  const put = (from, to) => from < to && nodes.push(placed(text.slice(from, to), at + from, at + to, places));
  for (const { 0: run, index } of text.matchAll(UNBROKEN)) {
    put(done, index);
    for (const piece of run.matchAll(PIECE)) {
      put(index + piece.index, index + piece.index + piece[0].length);
      nodes.push(h("wbr"));
    }
    done = index + run.length;
  }
  put(done, text.length);
  return nodes;
}

function sourceOf({ from, to }, lines) {
  let base = 0;
  for (const line of lines) {
    if (from <= base + line.text.length) return [line.at + from - base, line.at + to - base];
    base += line.text.length + 1;
  }
  return [0, 0];
}
