// Shortcuts: one table that both acts and is shown. Letters are off in inputs, and can be turned off altogether.
import { h } from "./dom.js";
import { keep, recall } from "./keep.js";
import { may } from "./who.js";

/**
 * @typedef {{keys: string[], label: string, group: string, run: (key: string) => void | false, when?: () => boolean, show?: string[], page?: string, who?: string}} Shortcut
 *   run answers false when it had nothing to do: then the browser has the key. `show` is what the list prints instead of `keys`.
 *   "g o" is two keys, one after the other. With `page` it holds on that page only; `who`: "admin" where a judge may not.
 */

const shortcuts = /** @type {Shortcut[]} */ ([]);
let letters = recall("letters", true);
let page = "";
let led = -Infinity; // when g was pressed, which waits for a second letter
const LED = 1500; // ms it waits

/** @param {boolean} [on] turn shortcuts of one letter on or off @returns {boolean} are they on? */
export function letterKeys(on = letters) {
  if (on !== letters) keep("letters", (letters = on));
  return letters;
}

/** @param {...Shortcut} more */
export const shortcut = (...more) => void shortcuts.push(...more);

/** @param {string} name the page that shows now */
export const turnTo = (name) => void (page = name);

const holds = (each) => (!each.page || each.page === page) && may(each.who);

/** Start listening. */
export function listen() {
  document.addEventListener("keydown", (event) => {
    const key = event.key;
    const plain = event.ctrlKey || event.metaKey ? `Ctrl+${key}` : key;
    const name = performance.now() - led < LED && key.length === 1 ? `g ${key}` : plain;
    if (event.altKey || event.isComposing || document.querySelector("dialog[open]")) return;
    if (key.length === 1 && plain === key && (!letters || typing(event.target))) return;
    led = name === "g" ? performance.now() : -Infinity;
    for (const each of shortcuts) {
      if (holds(each) && each.keys.includes(name) && (each.when?.() ?? true) && each.run(key) !== false) {
        event.preventDefault();
        return;
      }
    }
  });
}

const typing = (target) => Boolean(target.closest?.("input, textarea, select, [contenteditable]"));

/** Show the list, in a dialog that gives the focus back. */
export function showShortcuts() {
  const dialog = h("dialog", { class: "shortcuts", "aria-labelledby": "shortcuts-title" });
  const close = h("button", { type: "button", class: "button", on: { click: () => dialog.close() } }, "Close");
  const groups = [...new Set(shortcuts.filter(holds).map((each) => each.group))];
  dialog.append(
    h("header", {}, h("h2", { id: "shortcuts-title" }, "Shortcuts"), close),
    h("div", { class: "lists" }, groups.map(section)),
    h("footer", {}, toggle()),
  );
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  dialog.showModal();
}

function section(group) {
  const rows = shortcuts
    .filter((each) => holds(each) && each.group === group)
    .map(({ keys, show, label }) =>
      h(
        "div",
        {},
        h(
          "dt",
          {},
          (show ?? keys.flatMap((key) => key.split(" "))).map((key) => h("kbd", {}, key)),
        ),
        h("dd", {}, label),
      ),
    );
  return h("section", {}, h("h3", {}, group), h("dl", {}, rows));
}

function toggle() {
  const box = h("input", { type: "checkbox", id: "letters", checked: letters });
  box.addEventListener("change", () => letterKeys(box.checked));
  return h("label", { for: "letters" }, box, " Single-letter shortcuts");
}
