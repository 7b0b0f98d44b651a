// The tables of Usage: what each name came to, and what a useful answer of each model costs. Sorted by any column, as the address says.
import { sparkline } from "../chart/spark.js";
import { h } from "../dom.js";
import { seat } from "../seats.js";
import { EARLY, count, money, plural } from "../words.js";
import { eachOf, spent } from "./figures.js";

/**
 * @template T
 * @typedef {{name: string, title: string, cell: (row: T) => any, by?: (row: T) => number | string | null, right?: boolean, phone?: boolean, head?: boolean}} Col
 *   by: what it is sorted by; null stands last whichever way
 */

const FIRST = 12; // rows that stand there before somebody asks for all

/**
 * @template T
 * @param {{label: string, columns: Col<T>[], rows: T[], sort: string, down: boolean, turn: (name: string) => void, all: boolean,
 *   more: string}} what  sort: the column's name; turn: a head was pressed; all: show every row; more: the address that does
 * @returns {HTMLElement}
 */
export function sorted({ label, columns, rows, sort, down, turn, all, more }) {
  const by = columns.find(({ name }) => name === sort)?.by;
  const ordered = by ? [...rows].sort((a, b) => order(by(a), by(b), down)) : rows;
  const heads = columns.map(({ name, title, right, by: can }) =>
    h(
      "th",
      {
        scope: "col",
        class: right ? "right" : null,
        "aria-sort": name === sort ? (down ? "descending" : "ascending") : null,
      },
      can
        ? h(
            "button",
            { type: "button", class: "sort", "data-focus": `${label} ${name}`, on: { click: () => turn(name) } },
            title,
          )
        : title,
    ),
  );
  const body = ordered.slice(0, all ? Infinity : FIRST).map((row) =>
    h(
      "tr",
      {},
      columns.map(({ title, cell, right, phone, head }) =>
        h(
          head ? "th" : "td",
          {
            scope: head ? "row" : null,
            class: [right && "right", !phone && !head && "wide-only"].filter(Boolean).join(" ") || null,
            "data-title": title,
          },
          cell(row),
        ),
      ),
    ),
  );
  return h(
    "div",
    { class: "scroll" },
    h("table", { class: "rows", "aria-label": label }, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, body)),
    body.length < rows.length &&
      h("p", { class: "foot-line" }, h("a", { href: more, "data-go": true }, `Show all ${count(rows.length)}`)),
  );
}

function order(a, b, down) {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  const way = typeof a === "string" ? a.localeCompare(b) : a - b;
  return down ? -way : way;
}

const taken = ({ uncached_in: fresh, cache_read: read, cache_write: wrote }) => fresh + read + wrote;

/**
 * @param {string} title of the first column
 * @param {(name: string | null) => any} called how a name is shown
 * @param {boolean} overTime is there room for the course of each?
 * @returns {Col<any>[]}
 */
export const usedColumns = (title, called, overTime) => [
  { name: "name", title, head: true, cell: ({ name }) => called(name), by: ({ name }) => name ?? "" },
  ...(overTime
    ? [
        {
          name: "course",
          title: "Over time",
          cell: ({ name, course: of, known_usd: known }) => of && course(name, known ? of.usd : of.calls, known),
        },
      ]
    : []),
  {
    name: "calls",
    title: "Calls",
    right: true,
    phone: true,
    cell: ({ calls }) => count(calls),
    by: ({ calls }) => calls,
  },
  {
    name: "failed",
    title: "Failed",
    right: true,
    cell: failed,
    by: ({ calls, errors }) => (calls ? errors / calls : null),
  },
  {
    name: "in",
    title: "Tokens in",
    right: true,
    cell: ({ tokens: of }) => count(taken(of)),
    by: ({ tokens: of }) => taken(of),
  },
  {
    name: "cached",
    title: "From cache",
    right: true,
    cell: ({ tokens: of }) => cachedOf(of),
    by: ({ tokens: of }) => (taken(of) ? of.cache_read / taken(of) : null),
  },
  {
    name: "out",
    title: "Tokens out",
    right: true,
    cell: ({ tokens: of }) => count(of.out),
    by: ({ tokens: of }) => of.out,
  },
  {
    name: "spent",
    title: "Spent",
    right: true,
    phone: true,
    cell: spent,
    by: ({ known_usd: known }) => known,
  },
];

const course = (name, values, inMoney) =>
  sparkline({ label: `${name ?? "others"} over time`, values, format: inMoney ? money : count });
const failed = ({ calls, errors }) =>
  errors ? `${count(errors)} (${Number(((100 * errors) / calls).toPrecision(2))} %)` : "none";
const cachedOf = (of) => (taken(of) ? `${Math.round((100 * of.cache_read) / taken(of))} %` : "nothing read");

/** @type {Col<any>[]} what a useful answer of each model costs */
export const WORTH = [
  {
    name: "name",
    title: "Model",
    head: true,
    cell: ({ name, model_id: id }) =>
      h("a", { href: `/models?model=${encodeURIComponent(name)}`, "data-go": true }, seat({ alias: name, id })),
    by: ({ name }) => name,
  },
  { name: "spent", title: "Spent", right: true, cell: (row) => spent(row), by: (row) => row.known_usd },
  {
    name: "useful",
    title: "Each useful",
    right: true,
    phone: true,
    cell: (row) => each(row.each_useful, row.judged, "judged", row),
    by: (row) => row.each_useful?.usd ?? null,
  },
  {
    name: "real",
    title: "Each real finding",
    right: true,
    phone: true,
    cell: (row) => each(row.each_real, row.looked_at, "looked at", row),
    by: (row) => row.each_real?.usd ?? null,
  },
];

function each(cost, n, word, { known_usd: known }) {
  const why = !n
    ? `No answer of it was ${word} yet`
    : known === null
      ? "Its price is not known"
      : "Nothing of it was found useful yet";
  const { figure, range } = eachOf(cost, why);
  const early = n && n < EARLY ? ", early" : "";
  return [figure, range && h("small", {}, range), n > 0 && h("small", {}, `${n} ${word}${early}`)];
}

/**
 * @param {any[]} models @returns {string} who is not in the drawing, and why
 */
export function leftOut(models) {
  const free = models.filter(({ each_useful: cost }) => cost?.usd === 0).map(({ name }) => name);
  const dark = models.filter(({ each_useful: cost }) => cost === null || cost.usd === null);
  const parts = [
    free.length &&
      `${free.slice(0, 4).join(", ")}${free.length > 4 ? ` and ${free.length - 4} more` : ""} ${free.length === 1 ? "is" : "are"} free`,
    dark.length && `of ${plural(dark.length, "model")} it is unknown`,
  ].filter(Boolean);
  return parts.length ? `Not drawn: ${parts.join("; ")}.` : "";
}
