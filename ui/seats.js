// How a model looks: a shape and a colour that name it, a fill that tells its role. And the bench it sits on.
import { h, svg } from "./dom.js";
import { keep, recall } from "./keep.js";

/** @typedef {{shape: number, colour: number}} Look  1 to 8 each */

// Drawn on 16 x 16, about equal in weight: circle, square, triangle up, diamond, triangle down, plus, hexagon, bar.
const SHAPES = [
  "",
  "M13.4 8A5.4 5.4 0 1 1 2.6 8a5.4 5.4 0 0 1 10.8 0z",
  "M3.3 3.3h9.4v9.4H3.3z",
  "M8 2.7 13.9 13H2.1z",
  "M8 1.9 14.1 8 8 14.1 1.9 8z",
  "M8 13.3 2.1 3h11.8z",
  "M6.1 2.6h3.8v3.5h3.5v3.8H9.9v3.5H6.1V9.9H2.6V6.1h3.5z",
  "M8 2l5.2 3v6L8 14l-5.2-3V5z",
  "M2.1 5.6h11.8v4.8H2.1z",
];
const ALIKE = [
  [1, 4],
  [3, 6],
]; // colours that a red-green blind reader may take for each other

let looks = recall("looks", {});

/**
 * Give every model of a group its look, so that no two of the group share a shape. A look once given is kept.
 * @param {string[]} ids model ids, members first
 */
export function meet(ids) {
  const seen = [];
  for (const id of new Set(ids)) {
    const old = looks[id];
    if (!old || seen.some((each) => (seen.length < 8 || each[1] === old[1]) && each[0] === old[0]))
      looks[id] = choose(id, seen);
    seen.push(looks[id]);
  }
  keep("looks", looks);
}

/**
 * @param {string} id
 * @returns {Look}
 */
export function lookOf(id) {
  if (!looks[id]) meet([id]);
  const [shape, colour] = looks[id];
  return { shape, colour };
}

function choose(id, seen) {
  const from = hash(id) % 8;
  const shapes = [...Array(8).keys()].map((i) => ((from + i) % 8) + 1);
  const free = shapes.filter((shape) => !seen.some((each) => each[0] === shape));
  // While eight suffice a model's colour is its shape's number; beyond that the two are combined freely.
  const worn = new Set(seen.map((each) => each[1]));
  const clear = free.filter(
    (n) =>
      !worn.has(n) && !ALIKE.some((pair) => pair.includes(n) && pair.some((other) => other !== n && worn.has(other))),
  );
  const shape = clear[0] ?? free[0] ?? shapes[0];
  const colours = [shape, ...shapes];
  // A pair that no other model wears, wherever it was met; among more than 64 the group alone counts.
  const others = Object.keys(looks)
    .filter((other) => other !== id)
    .map((other) => looks[other]);
  const unworn = (all) => colours.find((colour) => !all.some((each) => each[0] === shape && each[1] === colour));
  return [shape, unworn([...seen, ...others]) ?? unworn(seen) ?? shape];
}

// FNV-1a: the same model looks the same in every browser that meets it first.
function hash(text) {
  let sum = 0x811c9dc5;
  for (const char of text) sum = Math.imul(sum ^ char.codePointAt(0), 0x01000193);
  return sum >>> 0;
}

/**
 * @typedef {{alias: string, id?: string, role?: string, failed?: boolean, builtin?: boolean, open?: boolean, letter?: string}} Who
 *   open: a seat that nobody has yet; letter: whose name, look and role are hidden
 *   role: member, explorer, merger, off (stays off the bench)
 */

/**
 * A model's glyph: filled under members, an outline under explorers, a grey outline for one that stays off.
 * @param {Who} who
 * @returns {SVGElement}
 */
export function glyph(who) {
  if (who.letter) return tile(who);
  const { shape, colour } = who.open ? { shape: 1, colour: 0 } : lookOf(who.id ?? who.alias);
  const strike = who.failed && svg("path", { class: "strike", d: "M2.5 13.5l11-11" });
  const classes = `glyph c${colour} ${who.role ?? "member"}${who.failed ? " failed" : ""}`;
  return svg(
    "svg",
    { class: classes, viewBox: "0 0 16 16", "aria-hidden": "true" },
    svg("path", { class: "shape", d: SHAPES[shape] }),
    strike,
  );
}

// Who is not to be known: a letter in a neutral tile.
const tile = ({ letter, failed }) =>
  svg(
    "svg",
    { class: "glyph tile", viewBox: "0 0 16 16", "aria-hidden": "true" },
    svg("rect", { x: 1, y: 1, width: 14, height: 14, rx: 2.5 }),
    svg("text", { x: 8, y: 11.6, "text-anchor": "middle" }, letter),
    failed && svg("path", { class: "strike", d: "M2.5 13.5l11-11" }),
  );

/** @param {Who} who @returns {string} as it is called now: by its name, or by its letter while that is hidden */
export const nameOf = ({ letter, alias }) => (letter === "M" ? "Merged answer" : letter ? `Seat ${letter}` : alias);

/**
 * Glyph and name.
 * @param {Who} who
 * @param {{name?: boolean}} [look] name false: the name is only heard
 * @returns {HTMLElement}
 */
export function seat(who, { name = true } = {}) {
  const title = name ? null : nameOf(who);
  return h(
    "span",
    { class: `seat ${who.letter ? "" : (who.role ?? "")}`, title },
    glyph(who),
    h("span", { class: name ? null : "hidden" }, nameOf(who)),
  );
}

/**
 * The bench: a solid line under members, a dashed one under explorers, none under who stays off.
 * @param {(Who & {lines?: (string | Node)[]})[]} sitting in order: members, explorers, who stays off
 * @param {{mini?: boolean, label: string}} look mini: glyphs alone
 * @returns {HTMLElement}
 */
export function bench(sitting, { mini = false, label }) {
  const runs = ["member", "explorer", "off"].map((role) => sitting.filter((who) => (who.role ?? "member") === role));
  const items = runs.flatMap((run) => run.map((who, i) => place(who, mini, i === 0, i === run.length - 1)));
  return h("ol", { class: mini ? "bench mini" : "bench", "aria-label": label }, items);
}

function place(who, mini, first, last) {
  const classes = [who.role ?? "member", first && "first", last && "last"].filter(Boolean).join(" ");
  const lines = mini ? null : (who.lines ?? []).map((line) => h("small", {}, line));
  return h("li", { class: classes }, seat(who, { name: !mini }), lines);
}

const MARKS = {
  done: ["ok", "M3 8.5l3.5 3.5L13 5"],
  writing: ["", "M3 9a5 5 0 0 1 10 0"],
  thinking: ["", "M3 8h.01M8 8h.01M13 8h.01"],
  waiting: ["", "M8 3a5 5 0 1 1 0 10A5 5 0 0 1 8 3z"],
  cut: ["warn", "M3 8h4M9.5 8h.01M13 8h.01"],
  failed: ["bad", "M4 4l8 8M12 4l-8 8"],
  up: ["ok", "M8 8h.01"],
  pacing: ["warn", "M8 2.8a5.2 5.2 0 1 1 0 10.4A5.2 5.2 0 0 1 8 2.8zM8 5v3.2l2 1.4"],
  resting: ["warn", "M6 3.5v9M10.5 3.5v9"],
  real: ["ok", "M3 8.5l3.5 3.5L13 5"],
  false: ["bad", "M4 4l8 8M12 4l-8 8"],
};

/**
 * A state, told twice: by a mark and by a word.
 * @param {keyof MARKS} kind
 * @param {string} word
 * @returns {HTMLElement}
 */
export function status(kind, word) {
  const [tone, d] = MARKS[kind];
  return h("span", { class: `status ${kind} ${tone}` }, mark(kind, d), word);
}

const mark = (kind, d) =>
  svg(
    "svg",
    { class: kind === "thinking" ? "dots" : null, viewBox: "0 0 16 16", "aria-hidden": "true" },
    svg("path", { d }),
  );
