// A chart that stands alone: its caption, the drawing, what the mark under the pointer or the focus says, and the same as a table.
// Its view box is its box in pixels, so text keeps its size: it is drawn again when the box gets another width.
import { announce, h, say, set, svg } from "../dom.js";
import { ticks } from "./scale.js";

const NARROW = 500; // px, below which there are fewer ticks

/**
 * @typedef {{node: Element, name: string, said: string}} Mark  what can be focused: its name, and what it says
 * @typedef {{tall: number, kids: any[], marks: Mark[], across?: number, down?: number}} Drawn
 *   across, down: how many marks an arrow key goes on; both 1 if not said
 * @typedef {{name: string, tone: string}} Key  an entry of the legend; tone: q1 to q4, or c1 to c8 for models
 */

/**
 * @param {{title: string, note?: any, label: string, keys?: Key[], draw: (wide: number, narrow: boolean) => Drawn,
 *   twin: {head: string[], rows: any[][]}, hint?: string}} what  label: what it shows, for who does not see it
 * @returns {HTMLElement}
 */
export function plot({ title, note, label, keys = [], draw, twin, hint = "Arrow keys go from mark to mark." }) {
  const box = h("div", { class: "plot-box" });
  const said = h("p", { class: "plot-said", "aria-hidden": "true" });
  const state = { at: 0, wide: 0 };
  const redraw = () => {
    const wide = Math.floor(box.clientWidth);
    if (wide < 40 || wide === state.wide) return;
    state.wide = wide;
    fill(box, said, state, label, draw(wide, wide < NARROW), hint);
  };
  new ResizeObserver(redraw).observe(box);
  return h(
    "figure",
    { class: "card plot" },
    h("figcaption", {}, h("h2", {}, title), note && h("span", { class: "faint" }, note)),
    box,
    said,
    keys.length > 1 && legend(keys),
    table(label, twin),
  );
}

function fill(box, said, state, label, { tall, kids, marks, across = 1, down = 1 }, hint) {
  const within = box.contains(document.activeElement);
  state.at = Math.min(state.at, Math.max(0, marks.length - 1));
  marks.forEach(({ node, name }, i) =>
    set(node, { role: "img", "aria-label": name, tabindex: i === state.at ? "0" : "-1" }),
  );
  const root = svg(
    "svg",
    { viewBox: `0 0 ${state.wide} ${tall}`, width: state.wide, height: tall, role: "group", "aria-label": label },
    kids,
  );
  const tell = (i) => say(said, `${marks[i].name}: ${marks[i].said}`);
  const find = (event) => marks.findIndex(({ node }) => node.contains(event.target));
  root.addEventListener("pointerover", (event) => find(event) >= 0 && tell(find(event)));
  root.addEventListener("pointerleave", () => say(said, ""));
  root.addEventListener("focusin", (event) => {
    const i = find(event);
    if (i < 0) return;
    set(marks[state.at].node, { tabindex: "-1" });
    set(marks[(state.at = i)].node, { tabindex: "0" });
    tell(i);
    announce(marks[i].said + (event.relatedTarget && root.contains(event.relatedTarget) ? "" : `. ${hint}`));
  });
  root.addEventListener("focusout", () => say(said, ""));
  root.addEventListener("keydown", (event) => {
    const to = {
      ArrowRight: state.at + across,
      ArrowLeft: state.at - across,
      ArrowDown: state.at + down,
      ArrowUp: state.at - down,
    };
    const next = { ...to, Home: 0, End: marks.length - 1 }[event.key];
    if (next === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    marks[Math.max(0, Math.min(marks.length - 1, next))]?.node.focus();
  });
  box.replaceChildren(root);
  if (within) marks[state.at]?.node.focus();
}

/** @param {Key[]} keys @returns {HTMLElement} */
export const legend = (keys) =>
  h(
    "ul",
    { class: "legend" },
    keys.map(({ name, tone }) =>
      h(
        "li",
        {},
        svg(
          "svg",
          { class: "swatch", viewBox: "0 0 10 10", "aria-hidden": "true" },
          svg("rect", { class: tone, width: 10, height: 10 }),
        ),
        name,
      ),
    ),
  );

function table(label, { head, rows }) {
  const body = rows.map(([first, ...rest]) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, first),
      rest.map((cell) => h("td", {}, cell)),
    ),
  );
  return h(
    "details",
    { class: "twin" },
    h("summary", {}, "Show as table"),
    h(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": `${label}, as a table` },
      h(
        "table",
        { class: "plain", "aria-label": label },
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            head.map((word) => h("th", { scope: "col" }, word)),
          ),
        ),
        h("tbody", {}, body),
      ),
    ),
  );
}

/**
 * How far from the left a drawing begins, for its figures to be whole: "$0.00015" is longer than "$20".
 * @param {{most: number, format: (n: number) => string, about?: number}} how
 * @returns {number}
 */
export const beside = ({ most, format, about = 4 }) =>
  Math.max(52, 12 + 6.6 * Math.max(...ticks(most, about).map((value) => format(value).length)));

/**
 * Horizontal lines with their figures at the left, from 0 up.
 * @param {{most: number, left: number, right: number, top: number, bottom: number, format: (n: number) => string, about?: number}} how
 * @returns {{kids: Element[], y: (value: number) => number}}
 */
export function upright({ most, left, right, top, bottom, format, about = 4 }) {
  const marks = ticks(most, about);
  const end = marks.at(-1);
  const y = (value) => bottom - (value / end) * (bottom - top);
  const kids = marks.flatMap((value) => [
    line(value ? "grid" : "axis-line", left, right, y(value)),
    text(format(value), left - 8, y(value) + 4, { "text-anchor": "end" }),
  ]);
  return { kids, y };
}

/** @returns {Element} a horizontal line */
export const line = (kind, from, to, y) => svg("path", { class: kind, d: `M${px(from)} ${px(y)}H${px(to)}` });

/** @returns {Element} */
export const text = (words, x, y, more = {}) => svg("text", { x: px(x), y: px(y), ...more }, words);

/** @param {number} n @returns {string} no more digits than a screen shows */
export const px = (n) => String(Math.round(n * 10) / 10);
