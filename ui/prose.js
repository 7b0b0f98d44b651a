// One answer on the page: grows while it is written, carries the marks of its claims, and turns a selection into offsets.
//
// Only the last block can still change while text arrives, so only that is drawn again; a finished one keeps its nodes, and
// with them a reader's selection. A long answer is drawn a stretch at a time, so five megabytes cost no more than a page.
import { h } from "./dom.js";
import { parse } from "./markdown.js";
import { broken, render } from "./render.js";
import { plural } from "./words.js";

const LEAVES = "p, li, h4, td, pre";
const STRETCH = { lines: 400, characters: 40_000 };

// Whether anything is selected, as the browser last told. To ask it would have it lay the page out first, and answers that
// grow side by side would ask eight times a frame.
let selecting = false;
document.addEventListener("selectionchange", () => (selecting = !document.getSelection().isCollapsed));

/** @typedef {{start: number, end: number, decision: "real" | "false"}} Mark  in UTF-16 units of the text */

export class Prose {
  /** @param {HTMLElement} root an empty element that this answer fills */
  constructor(root) {
    this.root = root;
    this.text = "";
    this.raw = false;
    this.stretches = 1;
    this.marks = [];
    this.places = new WeakMap();
    this.rest = 0; // the moment before which a growing text is not drawn again
    this.shown = -1; // how much of the text is drawn
    this.drawn = []; // {start, end, node} of each block, in order
    this.more = h("button", { type: "button", class: "button small more", on: { click: () => this.#longer() } });
  }

  /**
   * Show this text: what was shown before, grown, or another one altogether.
   * @param {string} text
   * @param {{whole?: boolean}} [state] whole: nothing more is coming
   */
  show(text, { whole = true } = {}) {
    if (!text.startsWith(this.text)) this.#clear();
    this.text = text;
    this.root.setAttribute("aria-busy", String(!whole));
    if (whole || !(this.#held() || performance.now() < this.rest)) this.#draw();
  }

  /** @param {boolean} raw the text as it came, or formatted */
  format(raw) {
    if (raw === this.raw) return;
    this.raw = raw;
    this.#holding(() => (this.#clear(), this.#draw()));
  }

  /**
   * Fold stretches of the source away: paragraphs, items and lines of tables that stand wholly in one of them.
   * @param {{start: number, end: number}[]} stretches none shows all
   */
  fold(stretches) {
    for (const leaf of this.root.querySelectorAll("p, li, h4, figure, tr")) {
      const place = this.places.get(this.#nodes(leaf)[0]);
      leaf.classList.toggle(
        "folded-away",
        Boolean(place) && stretches.some(({ start, end }) => place.start >= start && place.end <= end),
      );
    }
  }

  /**
   * Put something behind the words of each stretch; what stood there before goes.
   * @param {{start: number, end: number, node: Node}[]} cites
   */
  cite(cites) {
    this.root.querySelectorAll(".cites").forEach((old) => old.remove());
    const leaves = [...this.root.querySelectorAll("p, li, figure, blockquote")].map((leaf) => ({
      leaf,
      place: this.places.get(this.#nodes(leaf)[0]),
    }));
    for (const { start, end, node } of cites) {
      const inside = leaves.filter(({ place }) => place && place.start >= start && place.start < end);
      const last = inside.findLast(({ leaf }) => leaf.matches("p, li")) ?? inside.at(-1);
      const nested = last?.leaf.querySelector(":scope > :is(ul, ol)");
      if (nested) nested.before(node);
      else last?.leaf.append(node);
    }
  }

  /** @param {Mark[]} marks all of them; what is not named is unmarked */
  mark(marks) {
    const touched = [...this.marks, ...marks].filter((mark) => !(has(this.marks, mark) && has(marks, mark)));
    this.marks = marks;
    const hit = (block) => touched.some((mark) => mark.start < block.end && mark.end > block.start);
    const again = this.drawn.filter(hit);
    if (again.length) this.#holding(() => again.forEach((block) => this.#redraw(block)));
  }

  /**
   * Where a selection stands in the source, or null when it holds none of its words.
   * @param {Range} range
   * @returns {{start: number, end: number} | null}
   */
  locate(range) {
    const nodes = this.#nodes().filter((node) => range.intersectsNode(node) && chosen(range, node).size > 0);
    if (!nodes.length) return null;
    const [first, last] = [nodes[0], nodes.at(-1)];
    const found = {
      start: this.#source(first, chosen(range, first).from),
      end: this.#source(last, chosen(range, last).to),
    };
    return this.#tight(found);
  }

  /**
   * The words a reader sees between two offsets, without the marks of Markdown.
   * @param {{start: number, end: number}} stretch
   * @returns {string}
   */
  words({ start, end }) {
    const seen = this.#nodes().map((node) => {
      const place = this.places.get(node);
      if (place.start >= end || place.end <= start) return "";
      const exact = node.data.length === place.end - place.start;
      return exact ? node.data.slice(Math.max(0, start - place.start), end - place.start) : node.data;
    });
    return seen.join("").replace(/\s+/g, " ").trim() || this.text.slice(start, end).trim();
  }

  /**
   * Put the marked words where they can be seen.
   * @param {{start: number, end: number}} stretch
   */
  reveal({ start }) {
    while (this.#limit() < this.text.length && this.#limit() <= start) this.stretches += 1;
    this.#draw();
    const node = this.#nodes().find((each) => this.places.get(each).end > start);
    node?.parentElement.scrollIntoView({ block: "center", inline: "nearest" });
  }

  /**
   * What the keyboard steps over: a sentence each, as ranges of the document.
   * @returns {Range[]}
   */
  sentences() {
    const own = (leaf) => this.#nodes(leaf).filter((node) => node.parentElement.closest(LEAVES) === leaf);
    return [...this.root.querySelectorAll(LEAVES)].flatMap((leaf) => sentencesOf(own(leaf)));
  }

  #clear() {
    this.root.replaceChildren();
    this.drawn = [];
    this.shown = -1;
  }

  // A large last block takes its time to draw: then it rests nine times as long, so that the page stays free.
  #draw() {
    const begun = performance.now();
    const limit = this.#limit();
    const grow = () => this.#grow(this.text.slice(0, limit));
    if (limit !== this.shown) selecting ? this.#holding(grow) : grow();
    this.shown = limit;
    this.#offer(limit);
    const took = performance.now() - begun;
    this.rest = begun + (took > 4 ? took * 10 : 0);
  }

  #grow(visible) {
    const settled = this.drawn.at(-1)?.start ?? 0;
    this.drawn.pop()?.node.remove();
    const blocks = this.raw ? [{ type: "raw", start: 0, end: visible.length }] : parse(visible, settled);
    for (const block of blocks) {
      const node = this.#node(block, visible);
      this.drawn.push({ start: block.start, end: block.end, node, block });
      this.root.append(node);
    }
  }

  #node(block, visible = this.text.slice(0, this.#limit())) {
    const raw = () =>
      h(
        "pre",
        { class: "raw", tabindex: "0", role: "region", "aria-label": "The text as it came" },
        broken(visible, 0, this.places),
      );
    const node = block.type === "raw" ? raw() : render(block, this.places);
    for (const mark of this.marks) if (mark.start < block.end && mark.end > block.start) this.#wrap(node, mark);
    return node;
  }

  #redraw(drawn) {
    const node = this.#node(drawn.block);
    drawn.node.replaceWith(node);
    drawn.node = node;
  }

  #wrap(node, mark) {
    for (const text of this.#nodes(node)) {
      const place = this.places.get(text);
      if (place.start >= mark.end || place.end <= mark.start || !text.data.trim()) continue;
      const middle = this.#cut(text, Math.max(mark.start, place.start), Math.min(mark.end, place.end));
      const wrap = h("mark", { class: mark.decision });
      middle.replaceWith(wrap);
      wrap.append(middle);
    }
  }

  // Split a text node so that one piece is exactly [start, end); each piece keeps its place.
  #cut(text, start, end) {
    const place = this.places.get(text);
    if (text.data.length !== place.end - place.start) return text;
    if (end < place.end) this.places.set(text.splitText(end - place.start), { start: end, end: place.end });
    if (start === place.start) {
      this.places.set(text, { start, end });
      return text;
    }
    const middle = text.splitText(start - place.start);
    this.places.set(text, { start: place.start, end: start });
    this.places.set(middle, { start, end });
    return middle;
  }

  #nodes(root = this.root) {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    const nodes = [];
    while (walker.nextNode()) if (this.places.has(walker.currentNode)) nodes.push(walker.currentNode);
    return nodes;
  }

  #source(node, offset) {
    const { start, end } = this.places.get(node);
    if (node.data.length === end - start) return start + offset;
    return offset < node.data.length ? start : end;
  }

  #tight({ start, end }) {
    while (start < end && /\s/.test(this.text[start])) start += 1;
    while (end > start && /\s/.test(this.text[end - 1])) end -= 1;
    return end > start ? { start, end } : null;
  }

  // A selection in the block that is being written would be lost by drawing it again: the drawing waits for it.
  #held() {
    if (!selecting) return false;
    const selection = document.getSelection();
    const last = this.drawn.at(-1)?.node;
    return Boolean(last && !selection.isCollapsed && selection.containsNode(last, true));
  }

  // Nodes drawn again take a selection with them: it is set anew on the same words.
  #holding(draw) {
    const selection = document.getSelection();
    const range = selection.rangeCount && !selection.isCollapsed ? selection.getRangeAt(0) : null;
    const inside = range && [range.startContainer, range.endContainer].every((node) => this.root.contains(node));
    const place = inside ? this.locate(range) : null;
    draw();
    const now = place && selection.rangeCount ? this.locate(selection.getRangeAt(0)) : null;
    if (!place || (now?.start === place.start && now.end === place.end)) return;
    const [from, to] = [this.#edge(place.start, 1), this.#edge(place.end, 0)];
    if (from && to) selection.setBaseAndExtent(...from, ...to);
  }

  // Where an offset of the source stands in the document, as the beginning (1) or the end (0) of words.
  #edge(at, first) {
    const node = this.#nodes().find((each) => this.places.get(each).end >= at + first);
    if (!node) return null;
    const { start, end } = this.places.get(node);
    const exact = node.data.length === end - start;
    return [node, exact ? Math.max(0, at - start) : first ? 0 : node.data.length];
  }

  #limit() {
    const { text, stretches } = this;
    const most = Math.min(text.length, stretches * STRETCH.characters);
    let at = -1;
    for (let line = 0; line < stretches * STRETCH.lines; line += 1) {
      at = text.indexOf("\n", at + 1);
      if (at < 0 || at >= most) return most;
    }
    return at;
  }

  #offer(shown) {
    const left = this.text.length - shown;
    if (left <= 1) return this.more.remove();
    this.more.textContent = `Show more (${plural(left, "character")} left)`;
    if (this.root.lastChild !== this.more) this.root.append(this.more);
  }

  #longer() {
    this.stretches += this.stretches < 5 ? 1 : 5;
    this.#draw();
  }
}

const has = (marks, { start, end, decision }) =>
  marks.some((mark) => mark.start === start && mark.end === end && mark.decision === decision);

function chosen(range, node) {
  const from = range.startContainer === node ? range.startOffset : 0;
  const to = range.endContainer === node ? range.endOffset : node.data.length;
  return { from, to, size: to - from };
}

function sentencesOf(nodes) {
  const text = nodes.map((node) => node.data).join("");
  if (!text.trim()) return [];
  const cuts =
    "Segmenter" in Intl
      ? [...new Intl.Segmenter("en", { granularity: "sentence" }).segment(text)]
      : [{ index: 0, segment: text }];
  return cuts
    .filter(({ segment }) => segment.trim())
    .map(({ index, segment }) => rangeIn(nodes, index, index + segment.trimEnd().length));
}

function rangeIn(nodes, from, to) {
  const range = document.createRange();
  let base = 0;
  let begun = false;
  for (const node of nodes) {
    const end = base + node.data.length;
    if (!begun && from < end) {
      range.setStart(node, from - base);
      begun = true;
    }
    if (to <= end) {
      range.setEnd(node, to - base);
      break;
    }
    base = end;
  }
  return range;
}

/**
 * Offsets in characters (code points), as records count them, from offsets in UTF-16 units, as this page counts them.
 * @param {string} text
 * @param {number} units
 * @returns {number}
 */
export function toPoints(text, units) {
  let pairs = 0;
  for (let i = 0; i < units; i += 1) if ((text.charCodeAt(i) & 0xfc00) === 0xd800 && i + 1 < units) pairs += 1;
  return units - pairs;
}

/**
 * The other way round.
 * @param {string} text
 * @param {number} points
 * @returns {number}
 */
export function toUnits(text, points) {
  let units = 0;
  for (let seen = 0; seen < points && units < text.length; seen += 1)
    units += (text.charCodeAt(units) & 0xfc00) === 0xd800 ? 2 : 1;
  return units;
}
