// What two answers share and where they differ: by the points they make, then by words. Values in, values out. How much is
// compared is bounded, and what takes longer than a moment lets the page breathe in between.
import { parse } from "../markdown.js";

/**
 * @typedef {{start: number, end: number, words: string[], places: string[]}} Point  a paragraph, an item or a block of code
 * @typedef {{left: Point | null, right: Point | null, how: "same" | "differs" | "left" | "right"}} Pair
 */

const MOST_POINTS = 120; // of one answer that are matched with another's
const MOST_WORDS = 350; // of one point that are matched word by word
const ALIKE = 0.3; // the share of words from which on two points are about the same
const PLACE = /\b[\w./-]+\.\w{1,5}:\d+\b/g; // fetch.py:88

const MOMENT = 12; // ms after which whoever compares lets others have a turn

/** @returns {() => Promise<void>} waits for a turn of its own, once a moment has passed */
export function breathing() {
  let begun = performance.now();
  return async () => {
    if (performance.now() - begun < MOMENT) return;
    await new Promise((resolve) => setTimeout(resolve));
    begun = performance.now();
  };
}

/**
 * The points of an answer, in their order, with where each stands in it.
 * @param {string} text
 * @returns {Point[]}
 */
export function points(text) {
  const found = parse(text).flatMap((block) => spansOf(block, text));
  return found.map(({ start, end }) => point(text, start, end)).filter(({ words }) => words.length);
}

// Items of a list are points of their own; what is nested in one belongs to it.
function spansOf(block, text) {
  if (block.type !== "list") return block.type === "rule" ? [] : [block];
  const starts = block.items.filter((blocks) => blocks.length).map(([first]) => lineStart(text, first.start));
  return starts.map((start, i) => ({ start, end: starts[i + 1] ?? block.end }));
}

const lineStart = (text, at) => text.lastIndexOf("\n", at - 1) + 1;

function point(text, start, end) {
  const source = text.slice(start, end);
  return { start, end, words: wordsOf(source), places: [...new Set(source.match(PLACE) ?? [])] };
}

/** @param {string} text @returns {string[]} its words as they are compared */
const wordsOf = (text) => (text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []).slice(0, 4 * MOST_WORDS);

/**
 * Which point of one answer meets which of the other; what only one of them says stands where it says it.
 * @param {Point[]} left
 * @param {Point[]} right
 * @returns {Promise<Pair[]>}
 */
export async function aligned(left, right) {
  const breath = breathing();
  const [ours, theirs] = [left.slice(0, MOST_POINTS), right.slice(0, MOST_POINTS)];
  const taken = new Map(); // index in ours -> index in theirs
  const used = new Set();
  const ranked = [];
  for (const [i, one] of ours.entries()) {
    theirs.forEach((other, j) => {
      const like = likeness(one, other);
      if (like >= ALIKE) ranked.push({ i, j, like });
    });
    await breath();
  }
  ranked.sort((a, b) => b.like - a.like || a.i - b.i || a.j - b.j);
  for (const { i, j } of ranked) if (!taken.has(i) && !used.has(j)) (taken.set(i, j), used.add(j));
  const pairs = ours.map((one, i) => met(one, theirs[taken.get(i)]));
  theirs.forEach((other, j) => {
    if (used.has(j)) return;
    // Behind what the right side said before it.
    const before = theirs.slice(0, j).findLast((each) => pairs.some(({ right: it }) => it === each));
    const at = before ? pairs.findLastIndex(({ right: it }) => it === before) + 1 : 0;
    pairs.splice(at, 0, { left: null, right: other, how: "right" });
  });
  return pairs;
}

function met(left, right) {
  if (!right) return { left, right: null, how: "left" };
  const same = left.words.length === right.words.length && left.words.every((word, i) => word === right.words[i]);
  return { left, right, how: same ? "same" : "differs" };
}

/**
 * How alike two points are, from 0 to 1: the words they share; one place in the code that both name counts much.
 * @param {Point} one
 * @param {Point} other
 */
export function likeness(one, other) {
  one.set ??= new Set(one.words);
  other.set ??= new Set(other.words);
  let shared = 0;
  for (const word of one.set) shared += other.set.has(word);
  const words = (2 * shared) / (one.set.size + other.set.size || 1);
  return one.places.some((place) => other.places.includes(place)) ? Math.max(words, 0.5 + words / 2) : words;
}

/**
 * The words of each of two texts that the other does not have in the same order, as stretches of offsets.
 * @param {string} left
 * @param {string} right
 * @returns {[{start: number, end: number}[], {start: number, end: number}[]]}
 */
export function differences(left, right) {
  const [a, b] = [tokens(left), tokens(right)];
  if (a.length > MOST_WORDS || b.length > MOST_WORDS) return [whole(a), whole(b)];
  const [keptA, keptB] = common(a, b);
  return [stretches(a, keptA), stretches(b, keptB)];
}

const tokens = (text) =>
  [...text.matchAll(/[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu)].map((found) => ({
    word: found[0].toLowerCase(),
    start: found.index,
    end: found.index + found[0].length,
  }));

const whole = (all) => (all.length ? [{ start: all[0].start, end: all.at(-1).end }] : []);

// The longest common subsequence, by the table that every textbook has; what is alike at both ends needs none.
function common(a, b) {
  const [keptA, keptB] = [new Set(), new Set()];
  let from = 0;
  while (from < a.length && from < b.length && a[from].word === b[from].word) from += 1;
  let back = 0;
  while (back < a.length - from && back < b.length - from && a.at(-1 - back).word === b.at(-1 - back).word) back += 1;
  const [m, n] = [a.length - from - back, b.length - from - back];
  const keep = (i, j) => (keptA.add(i), keptB.add(j));
  for (let i = 0; i < from; i += 1) keep(i, i);
  for (let i = 1; i <= back; i += 1) keep(a.length - i, b.length - i);
  const table = new Uint16Array((m + 1) * (n + 1));
  const at = (i, j) => i * (n + 1) + j;
  for (let i = m - 1; i >= 0; i -= 1)
    for (let j = n - 1; j >= 0; j -= 1)
      table[at(i, j)] =
        a[from + i].word === b[from + j].word
          ? table[at(i + 1, j + 1)] + 1
          : Math.max(table[at(i + 1, j)], table[at(i, j + 1)]);
  for (let i = 0, j = 0; i < m && j < n;) {
    if (a[from + i].word === b[from + j].word) (keep(from + i, from + j), (i += 1), (j += 1));
    else if (table[at(i + 1, j)] >= table[at(i, j + 1)]) i += 1;
    else j += 1;
  }
  return [keptA, keptB];
}

// Words that differ side by side are one stretch; a single word or sign that both have between two of them does not part it.
function stretches(all, kept) {
  const found = [];
  all.forEach((token, i) => {
    if (kept.has(i)) return;
    const last = found.at(-1);
    if (last && i - last.at <= 2) Object.assign(last, { end: token.end, at: i });
    else found.push({ start: token.start, end: token.end, at: i });
  });
  return found.filter(({ start, end }) => end > start).map(({ start, end }) => ({ start, end }));
}

/**
 * The points of an answer that every other one makes too.
 * @param {Point[]} mine
 * @param {Point[][]} others
 * @returns {Promise<Point[]>}
 */
export async function shared(mine, others) {
  const breath = breathing();
  const found = [];
  for (const one of others.length ? mine.slice(0, MOST_POINTS) : []) {
    const said = (theirs) => theirs.slice(0, MOST_POINTS).some((each) => likeness(one, each) >= 2 * ALIKE);
    if (others.every(said)) found.push(one);
    await breath();
  }
  return found;
}
