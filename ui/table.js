// A table whose rows can be walked and opened by key. On a phone each row is a card of the cells that say most.
import { h } from "./dom.js";

/**
 * @template T
 * @typedef {{name: string, title: string, cell: (row: T) => any, right?: boolean, phone?: boolean, head?: boolean, sorted?: boolean}} Col
 *   `phone`: shown on phones too; `head`: names its row
 */

/**
 * @template T
 * @param {{label: string, columns: Col<T>[], rows: T[], chosen?: (row: T) => boolean}} what
 * @returns {HTMLElement}
 */
export function table({ label, columns, rows, chosen = () => false }) {
  const head = columns.map(({ name, title, right, sorted }) =>
    h("th", { scope: "col", class: classes(`col-${name}`, right), "aria-sort": sorted ? "descending" : null }, title),
  );
  const body = rows.map((row) =>
    h(
      "tr",
      { "aria-current": chosen(row) ? "true" : null },
      columns.map((column) => cell(column, row)),
    ),
  );
  return h(
    "div",
    { class: "card scroll", tabindex: "-1" },
    h(
      "table",
      { class: "rows", "aria-label": label },
      h("thead", {}, h("tr", {}, head)),
      h("tbody", { on: { click: openRow } }, body),
    ),
  );
}

function cell({ name, title, right, phone, head, cell: draw }, row) {
  const look = { class: classes(`col-${name}`, right, phone || head ? "" : "wide-only"), "data-title": title };
  return h(head ? "th" : "td", head ? { ...look, scope: "row" } : look, draw(row));
}

const classes = (...words) =>
  words
    .map((word) => (word === true ? "right" : word))
    .filter(Boolean)
    .join(" ") || null;

// The row's link is what opens it; pressing beside the link does the same, unless words were selected.
function openRow(event) {
  if (event.target.closest("a, button, input, select, summary") || !getSelection().isCollapsed) return;
  event.target.closest("tr")?.querySelector("th a, a.open")?.click();
}

/**
 * Move the focus to the next row's link, or the one before.
 * @param {Element} root
 * @param {number} by 1 or -1
 */
export function walk(root, by) {
  const links = [...root.querySelectorAll(".rows tbody th a, a.open")];
  if (!links.length) return false;
  const at = links.findIndex(
    (link) => link === document.activeElement || link.closest("tr, li")?.contains(document.activeElement),
  );
  const from = at >= 0 ? at : links.findIndex((link) => link.closest("[aria-current=true]"));
  links[Math.max(0, Math.min(links.length - 1, from + by))].focus();
}

/**
 * Names and values, one pair a line.
 * @param {([string, any] | null | false | undefined)[]} list
 * @returns {HTMLElement}
 */
export const pairs = (list) =>
  h(
    "dl",
    { class: "facts-list" },
    list.filter(Boolean).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
  );

/**
 * The few figures that matter most: the figure, what it is, a line of context.
 * @param {[any, string, any?][]} list
 * @returns {HTMLElement}
 */
export const figures = (list) =>
  h(
    "dl",
    { class: "card figures" },
    list.map(([figure, what, context]) =>
      h("div", {}, h("dt", {}, what), h("dd", {}, figure), context && h("dd", { class: "faint" }, context)),
    ),
  );
