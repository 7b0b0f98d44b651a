// What an answer costs against how often it is useful: cost on a log axis, the rate on a fixed one with its interval. A dotted line
// joins those that nobody beats on both.
import { svg } from "../dom.js";
import { glyph } from "../seats.js";
import { plot, px, text } from "./plot.js";
import { decades } from "./scale.js";

const TALL = 320;
const TOP = 10;
const FOOT = 44;
const LETTER = 6; // px, about
const HALF = 7; // px, of a glyph

/** @typedef {{alias: string, id?: string, x: number, y: number, range: [number, number], early?: boolean, said: string}} Point  y, range: 0 to 1 */

/**
 * @param {{title: string, note?: any, label: string, axis: string, points: Point[], format: (n: number) => string,
 *   head: string[], rows: any[][]}} what  axis: what stands below; x must be above nothing
 * @returns {HTMLElement}
 */
export function scatter({ title, note, label, axis, points, format, head, rows }) {
  const ordered = [...points].sort((a, b) => a.x - b.x || b.y - a.y);
  return plot({
    title,
    note,
    label,
    hint: "Arrow keys go from model to model, the cheapest first.",
    draw: (wide, narrow) => draw({ wide, narrow, axis, points: ordered, format }),
    twin: { head, rows },
  });
}

function draw({ wide, narrow, axis, points, format }) {
  const left = 48;
  const right = wide - 16;
  const bottom = TALL - FOOT;
  const tens = decades(Math.min(...points.map(({ x }) => x)), Math.max(...points.map(({ x }) => x)));
  const [first, last] = [Math.log10(tens[0]), Math.log10(tens.at(-1))];
  const at = {
    x: (value) => left + ((Math.log10(value) - first) / (last - first)) * (right - left),
    y: (share) => bottom - share * (bottom - TOP),
  };
  const lines = [0, 0.25, 0.5, 0.75, 1].flatMap((share) => [
    svg("path", { class: share ? "grid" : "axis-line", d: `M${left} ${px(at.y(share))}H${right}` }),
    text(`${share * 100} %`, left - 8, at.y(share) + 4, { "text-anchor": "end" }),
  ]);
  const every = Math.ceil(tens.length / (narrow ? 3 : 6));
  const columns = tens.flatMap((value, i) => [
    svg("path", { class: "grid", d: `M${px(at.x(value))} ${TOP}V${bottom}` }),
    i % every === 0 &&
      text(format(value), at.x(value), TALL - 26, { "text-anchor": i === tens.length - 1 ? "end" : "middle" }),
  ]);
  const foot = text(axis, (left + right) / 2, TALL - 6, { "text-anchor": "middle" });
  const marks = points.map((point) => mark(point, at));
  const labels = named(points, at, left, right);
  return { tall: TALL, kids: [lines, columns, foot, best(points, at), marks.map(({ node }) => node), labels], marks };
}

function mark({ alias, id, x, y, range, early, said }, at) {
  const sign = glyph({ alias, id, role: early ? "explorer" : "member" });
  for (const [name, value] of Object.entries({
    x: px(at.x(x) - HALF),
    y: px(at.y(y) - HALF),
    width: 2 * HALF,
    height: 2 * HALF,
  }))
    sign.setAttribute(name, String(value));
  const node = svg(
    "g",
    { class: "mark" },
    svg("path", {
      class: `interval${early ? " early" : ""}`,
      d: `M${px(at.x(x))} ${px(at.y(range[0]))}V${px(at.y(range[1]))}`,
    }),
    svg("circle", { class: "hit", cx: px(at.x(x)), cy: px(at.y(y)), r: 13 }),
    sign,
  );
  return { node, name: alias, said };
}

// Nothing is both cheaper and more often useful than these.
function best(points, at) {
  const front = points.filter((point, i) => points.slice(0, i).every((other) => other.y < point.y));
  if (front.length < 2) return null;
  return svg("path", {
    class: "front",
    d: front.map(({ x, y }, n) => `${n ? "L" : "M"}${px(at.x(x))} ${px(at.y(y))}`).join(""),
  });
}

// A name stands beside its point where it covers no other: right, left, above or below; else it is only in the table.
function named(points, at, left, right) {
  const taken = points.map(({ x, y }) => box(at.x(x) - HALF, at.y(y) - HALF, 2 * HALF, 2 * HALF));
  return points.map(({ alias, x, y }) => {
    const long = alias.length * LETTER;
    const [cx, cy] = [at.x(x), at.y(y)];
    const tries = [
      [cx + 12, cy + 4, "start", cx + 12],
      [cx - 12, cy + 4, "end", cx - 12 - long],
      [cx + 6, cy - 12, "start", cx + 6],
      [cx + 6, cy + 20, "start", cx + 6],
      [cx - 6, cy - 12, "end", cx - 6 - long],
      [cx - 6, cy + 20, "end", cx - 6 - long],
    ];
    for (const [tx, ty, anchor, from] of tries) {
      const room = box(from, ty - 10, long, 13);
      if (from < left - 40 || from + long > right + 12 || taken.some((other) => covers(room, other))) continue;
      taken.push(room);
      return text(alias, tx, ty, { class: "halo strong", "text-anchor": anchor, "aria-hidden": "true" });
    }
    return null;
  });
}

const box = (x, y, wide, tall) => ({ x, y, wide, tall });
const covers = (a, b) => a.x < b.x + b.wide && b.x < a.x + a.wide && a.y < b.y + b.tall && b.y < a.y + a.tall;
