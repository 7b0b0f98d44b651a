// Charts that are their own tables: a row names what it shows and says its figures, and between them is the drawing. Those that stand
// alone, with a table beside them, are in chart/: bars, area, scatter, heat (strip, calendar), spark.
import { h, svg } from "./dom.js";
import { seconds, share } from "./words.js";

const WIDE = 1000; // units of a drawing's width; it is stretched to its cell, so nothing in it is text
const TALL = 20;

/** @typedef {{from: number, to: number, kind: string}} Span  kind: waiting, solid, failed, tool */

/**
 * @param {{label: string, head: [string, string, string], rows: {name: any, colour?: number, spans: Span[], said: any}[]}} what  times in s
 * @returns {HTMLElement}
 */
export function timeline({ label, head, rows }) {
  const end = Math.max(0, ...rows.flatMap(({ spans }) => spans.map(({ to }) => to)));
  const step = Math.max(nice(end / 4), 0.001); // no two marks of an axis may be called the same
  const called = (at) => (step < 0.1 ? `${Math.round(at * 1000)} ms` : seconds(at).replace(/\.0 /, " "));
  const most = step * 4;
  const drawn = rows.map(({ name, colour, spans, said }) => [
    name,
    svg(
      "svg",
      look(colour),
      grid(),
      spans.map((each) => span(each, most)),
    ),
    said,
  ]);
  return drawing(
    label,
    head,
    drawn,
    [0, 1, 2, 3, 4].map((n) => (n ? called(n * step) : "0")),
  );
}

/**
 * A share with its interval on a fixed axis from 0 to 100 %.
 * @param {{useful: number, judged: number, range?: [number, number] | null}} record
 * @param {number} early fewer verdicts than this are drawn hollow
 * @returns {SVGElement}
 */
export function whisker({ useful, judged, range }, early) {
  const few = judged < early ? " early" : "";
  const at = judged ? (useful / judged) * WIDE : 0;
  const marks = judged &&
    range && [
      svg("path", { class: `whisker${few}`, d: `M${range[0] * WIDE} 10H${range[1] * WIDE}` }),
      svg("path", { class: `dot${few}`, d: `M${at} 10h.01` }),
      svg("path", { class: `dot-in${few}`, d: `M${at} 10h.01` }),
    ];
  return svg("svg", look(), grid(), marks);
}

/**
 * Shares with their intervals, one a row, on one axis.
 * @param {{label: string, head: [string, string, string], early: number,
 *   rows: {name: any, useful: number, judged: number, range?: [number, number] | null}[]}} what
 * @returns {HTMLElement}
 */
export const forest = ({ label, head, early, rows }) =>
  drawing(
    label,
    head,
    rows.map((record) => [record.name, whisker(record, early), share(record)]),
    [0, 25, 50, 75, 100].map((part) => `${part} %`),
  );

const look = (colour) => ({
  class: colour ? `bars c${colour}` : "bars",
  viewBox: `0 0 ${WIDE} ${TALL}`,
  preserveAspectRatio: "none",
  "aria-hidden": "true",
});

const grid = () => svg("path", { class: "grid", d: [0, 250, 500, 750, 1000].map((x) => `M${x} 0V${TALL}`).join("") });

function span({ from, to, kind }, most) {
  const x = most ? (from / most) * WIDE : 0;
  const width = Math.max(most ? ((to - from) / most) * WIDE : 0, 4); // what took no time is still there to see
  return svg("rect", { class: `span ${kind}`, x: x.toFixed(1), y: 5, width: width.toFixed(1), height: 10 });
}

// 1-2-5, and 3 and 6 on clocks.
function nice(step) {
  if (!(step > 0)) return 1;
  const size = 10 ** Math.floor(Math.log10(step));
  return size * [1, 2, 5, 10].find((n) => n * size >= step);
}

function drawing(label, [first, , last], rows, ticks) {
  const body = rows.map(([name, drawn, said]) =>
    h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, drawn), h("td", { class: "said" }, said)),
  );
  const axis = h(
    "tr",
    { class: "axis", "aria-hidden": "true" },
    h("td"),
    h(
      "td",
      {},
      h(
        "div",
        {},
        ticks.map((tick) => h("span", {}, tick)),
      ),
    ),
    h("td"),
  );
  const widths = h("colgroup", {}, h("col", { class: "named" }), h("col"), h("col", { class: "says" }));
  const head = h(
    "thead",
    { class: "hidden" },
    h(
      "tr",
      {},
      [first, "Drawn", last].map((word) => h("th", { scope: "col" }, word)),
    ),
  );
  return h("table", { class: "chart", "aria-label": label }, widths, head, h("tbody", {}, body, axis));
}
