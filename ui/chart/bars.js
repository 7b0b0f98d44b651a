// Stacked bars over time: what several together came to, piece by piece.
import { svg } from "../dom.js";
import { beside, line, plot, px, text, upright } from "./plot.js";
import { roomy, times } from "./scale.js";

const TALL = 240;
const TOP = 10;
const FOOT = 24;
const GAP = 1; // px between two of a stack, so that it prints in grey

/**
 * @param {{title: string, note?: any, label: string, at: string[], step: number,
 *   series: {name: string, tone: string, values: (number | null)[]}[], format: (n: number) => string,
 *   more?: {name: string, values: number[]}, mark?: {value: number, name: string} | null}} what
 *   series from the bottom up, null is unknown and is left out; more: a column of its own in the table, said beside the bars;
 *   mark: a line to compare with, such as a budget
 * @returns {HTMLElement}
 */
export function bars({ title, note, label: about, at, step, series, format, more, mark }) {
  const names = times(at, step);
  const sums = at.map((_, i) => series.reduce((sum, { values }) => sum + (values[i] ?? 0), 0));
  const rest = (i) => (more?.values[i] ? `, ${more.values[i]} ${more.name}` : "");
  const said = (i) => {
    const parts = series.filter(({ values }) => values[i]).map(({ name, values }) => `${name} ${format(values[i])}`);
    const whole = parts.length > 1 ? `${format(sums[i])} in all, ${parts.join(", ")}` : (parts[0] ?? "nothing");
    return whole + rest(i);
  };
  const cell = (value) => (value === null ? "unknown" : format(value));
  return plot({
    title,
    note,
    label: about,
    keys: series.map(({ name, tone }) => ({ name, tone })),
    hint: "Arrow keys go from bar to bar.",
    draw: (wide, narrow) => draw({ wide, narrow, names, series, sums, format, said, mark }),
    twin: {
      head: [
        "Time",
        ...series.map(({ name }) => name),
        ...(series.length > 1 ? ["Together"] : []),
        ...(more ? [more.name] : []),
      ],
      rows: names.map(({ long }, i) => [
        long,
        ...series.map(({ values }) => cell(values[i])),
        ...(series.length > 1 ? [format(sums[i])] : []),
        ...(more ? [String(more.values[i])] : []),
      ]),
    },
  });
}

function draw({ wide, narrow, names, series, sums, format, said, mark }) {
  const most = Math.max(...sums, mark && mark.value < 4 * Math.max(...sums) ? mark.value : 0);
  const scale = { most, format, about: narrow ? 2 : 4 };
  const left = beside(scale);
  const right = wide - 4;
  const bottom = TALL - FOOT;
  const { kids, y } = upright({ ...scale, left, right, top: TOP, bottom });
  const one = (right - left) / names.length;
  const wideBar = Math.max(1, one - Math.max(1, Math.min(10, one * 0.3)));
  const labels = names.map(({ short }) => short);
  const shown = roomy(labels, right - left, narrow ? 5 : 31);
  const marks = names.map(({ long }, i) => {
    const x = left + i * one;
    let sum = 0;
    const stack = series.map(({ tone, values }) => {
      const value = values[i] ?? 0;
      if (!value) return null;
      const [from, to] = [y(sum), y((sum += value))];
      return svg("rect", {
        class: tone,
        x: px(x + (one - wideBar) / 2),
        y: px(to),
        width: px(wideBar),
        height: px(Math.max(1, from - to - GAP)),
      });
    });
    const hit = svg("rect", { class: "hit", x: px(x), y: TOP, width: px(one), height: bottom - TOP });
    return { node: svg("g", { class: "mark" }, hit, stack), name: long, said: said(i) };
  });
  const foot = labels.map((words, i) => shown.has(i) && label(words, left + (i + 0.5) * one, wide));
  return { tall: TALL, kids: [kids, marks.map(({ node }) => node), limit(mark, most, left, right, y), foot], marks };
}

// Below its bar, but for one that would end outside.
function label(words, x, wide) {
  const over = x + words.length * 3.1 > wide;
  return text(words, over ? wide : x, TALL - 6, { "text-anchor": over ? "end" : "middle" });
}

// A line to compare with is drawn where it is within reach of the bars; else they would be flat.
function limit(mark, most, left, right, y) {
  if (!mark || mark.value > most) return null;
  return [
    line("limit-line", left, right, y(mark.value)),
    text(mark.name, right, y(mark.value) - 5, { class: "halo strong", "text-anchor": "end" }),
  ];
}
