// A median in the band up to its 95th percentile, over time. Where nothing is known there is a gap.
import { svg } from "../dom.js";
import { beside, plot, px, text, upright } from "./plot.js";
import { roomy, times } from "./scale.js";

const TALL = 200;
const TOP = 10;
const FOOT = 24;

/**
 * @param {{title: string, note?: any, label: string, at: string[], step: number, low: (number | null)[], high: (number | null)[],
 *   names?: [string, string], format: (n: number) => string}} what  low and high: p50 and p95
 * @returns {HTMLElement}
 */
export function area({ title, note, label, at, step, low, high, names = ["p50", "p95"], format }) {
  const called = times(at, step);
  const cell = (value) => (value === null ? "unknown" : format(value));
  return plot({
    title,
    note,
    label,
    hint: "Arrow keys go from moment to moment.",
    draw: (wide, narrow) => draw({ wide, narrow, called, low, high, names, format }),
    twin: { head: ["Time", ...names], rows: called.map(({ long }, i) => [long, cell(low[i]), cell(high[i])]) },
  });
}

function draw({ wide, narrow, called, low, high, names, format }) {
  const scale = { most: Math.max(0, ...low, ...high), format, about: narrow ? 2 : 4 };
  const left = beside(scale);
  const right = wide - 34;
  const bottom = TALL - FOOT;
  const { kids, y } = upright({ ...scale, left, right, top: TOP, bottom });
  const one = (right - left) / Math.max(1, called.length - 1);
  const x = (i) => left + i * one;
  const runs = stretches(low, high);
  const path = (values, run) => run.map((i, n) => `${n ? "L" : "M"}${px(x(i))} ${px(y(values[i]))}`).join("");
  const band = (run) => `${path(high, run)}${path(low, [...run].reverse()).replace("M", "L")}Z`;
  const drawn = runs.map((run) => [
    svg("path", { class: "band", d: band(run) }),
    svg("path", { class: "band-line high", d: path(high, run) + (run.length > 1 ? "" : "h.01") }),
    svg("path", { class: "band-line", d: path(low, run) + (run.length > 1 ? "" : "h.01") }),
  ]);
  const marks = runs.flat().map((i) => {
    const hit = svg("rect", {
      class: "hit",
      x: px(x(i) - one / 2),
      y: TOP,
      width: px(Math.max(8, one)),
      height: bottom - TOP,
    });
    const dots = [low, high].map((values) =>
      svg("circle", { class: "point", cx: px(x(i)), cy: px(y(values[i])), r: 3 }),
    );
    const said = `${names[0]} ${format(low[i])}, ${names[1]} ${format(high[i])}`;
    return { node: svg("g", { class: "mark dotted" }, hit, dots), name: called[i].long, said };
  });
  const labels = called.map(({ short }) => short);
  const shown = roomy(labels, right - left, narrow ? 4 : 12);
  const foot = labels.map(
    (words, i) => shown.has(i) && text(words, x(i), TALL - 6, { "text-anchor": i ? "middle" : "start" }),
  );
  return {
    tall: TALL,
    kids: [kids, drawn, ends(runs.at(-1), low, high, names, x, y), marks.map(({ node }) => node), foot],
    marks,
  };
}

// The names stand where the lines end, a line of text apart at least.
function ends(run, low, high, names, x, y) {
  if (!run) return null;
  const last = run.at(-1);
  const below = y(low[last]) + 4;
  const above = Math.min(y(high[last]) + 4, below - 12);
  return [
    text(names[0], x(last) + 6, below, { class: "strong" }),
    text(names[1], x(last) + 6, above, { class: "strong" }),
  ];
}

// Runs of places where both are known.
function stretches(low, high) {
  const runs = [];
  low.forEach((value, i) => {
    if (value === null || high[i] === null) return;
    if (runs.at(-1)?.at(-1) === i - 1) runs.at(-1).push(i);
    else runs.push([i]);
  });
  return runs;
}
