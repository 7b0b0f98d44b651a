// Shortcuts: one table that both acts and is shown. Letters are off in inputs, and can be turned off altogether.
import { h } from "./dom.js";
import { keep, recall } from "./keep.js";

/**
 * @typedef {{keys: string[], label: string, group: string, run: (key: string) => void | false, when?: () => boolean, show?: string[]}} Shortcut
 *   run answers false when it had nothing to do: then the browser has the key. `show` is what the list prints instead of `keys`.
 */

const shortcuts = /** @type {Shortcut[]} */ ([]);
let letters = recall("letters", true);

/** @param {...Shortcut} more */
export const shortcut = (...more) => void shortcuts.push(...more);

/** Start listening. */
export function listen() {
  document.addEventListener("keydown", (event) => {
    const key = event.key;
    const name = event.ctrlKey || event.metaKey ? `Ctrl+${key}` : key;
    if (event.altKey || event.isComposing || document.querySelector("dialog[open]")) return;
    if (key.length === 1 && name === key && (!letters || typing(event.target))) return;
    for (const each of shortcuts) {
      if (each.keys.includes(name) && (each.when?.() ?? true) && each.run(key) !== false) {
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
  const groups = [...new Set(shortcuts.map((each) => each.group))];
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
    .filter((each) => each.group === group)
    .map(({ keys, show, label }) =>
      h(
        "div",
        {},
        h(
          "dt",
          {},
          (show ?? keys).map((key) => h("kbd", {}, key)),
        ),
        h("dd", {}, label),
      ),
    );
  return h("section", {}, h("h3", {}, group), h("dl", {}, rows));
}

function toggle() {
  const box = h("input", { type: "checkbox", id: "letters", checked: letters });
  box.addEventListener("change", () => keep("letters", (letters = box.checked)));
  return h("label", { for: "letters" }, box, " Single-letter shortcuts");
}
