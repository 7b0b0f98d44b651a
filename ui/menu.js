// A few things to do behind one button: opens below it, closes on a choice, on Escape and when the focus goes elsewhere.
import { copyButton, h } from "./dom.js";

/**
 * @param {string} title
 * @param {Node[]} items links and buttons
 * @param {string} [look] classes of its button
 * @returns {HTMLDetailsElement}
 */
export function menu(title, items, look = "button small") {
  const root = h(
    "details",
    { class: "menu" },
    h("summary", { class: look }, title),
    h("div", { class: "menu-items" }, items),
  );
  root.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !root.open) return;
    event.preventDefault();
    event.stopPropagation();
    root.open = false;
    root.firstChild.focus();
  });
  root.addEventListener("focusout", ({ relatedTarget }) => {
    if (relatedTarget && !root.contains(relatedTarget)) root.open = false;
  });
  root.addEventListener("click", (event) => event.target.closest("a") && (root.open = false));
  document.addEventListener("pointerdown", (event) => root.open && !root.contains(event.target) && (root.open = false));
  return root;
}

/**
 * The ways to take a panel along, as links.
 * @param {string} panel its id
 * @param {string} [look]
 */
export function exportMenu(panel, look) {
  const link = ([format, words]) =>
    h("a", { href: `/api/panel/export?panel=${encodeURIComponent(panel)}&format=${format}`, download: true }, words);
  const ways = [
    ["html", "One HTML file"],
    ["md", "Markdown"],
    ["json", "JSON"],
  ];
  return menu("Export", ways.map(link), look);
}

/**
 * The same request in several languages, each copied by its button.
 * @param {Record<string, () => string>} ways
 * @param {string} [look]
 */
export const copyMenu = (ways, look) =>
  menu(
    "Copy as",
    Object.entries(ways).map(([name, text]) => copyButton(name, text, { class: "button quiet" })),
    look,
  );
