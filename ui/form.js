// Forms: a label over each control, one button that sends, and what the server refused beside the control it is about.
import { h, set } from "./dom.js";
import { button } from "./loading.js";
import { failure } from "./notice.js";

let made = 0;

/**
 * @param {string} label
 * @param {HTMLElement} control gets an id and is named by the label
 * @param {string | Node} [hint]
 * @returns {HTMLElement}
 */
export function field(label, control, hint) {
  made += 1;
  const id = `field-${made}`;
  set(control, { id, "aria-describedby": hint ? `${id}-hint` : null });
  return h(
    "div",
    { class: "form-field" },
    h("label", { for: id }, label),
    control,
    hint && h("p", { class: "faint", id: `${id}-hint` }, hint),
  );
}

/** @param {string} name @param {any} value @param {Record<string, any>} [more] @returns {HTMLInputElement} */
export const input = (name, value = "", more = {}) =>
  h("input", { class: "field", name, value: value ?? "", autocomplete: "off", spellcheck: "false", ...more });

/**
 * @param {string} name
 * @param {[string, string][]} options value and word
 * @param {string} value
 * @param {Record<string, any>} [more]
 * @returns {HTMLSelectElement}
 */
export function select(name, options, value, more = {}) {
  const node = h(
    "select",
    { class: "field", name, ...more },
    options.map(([each, word]) => h("option", { value: each }, word)),
  );
  node.value = value ?? "";
  return node;
}

/** @param {string} name @param {string} label @param {boolean} checked @returns {HTMLElement} */
export const check = (name, label, checked) =>
  h("label", { class: "check" }, h("input", { type: "checkbox", name, checked }), h("span", {}, label));

/**
 * @param {{label: string, fields: any[], action: string, send: (form: HTMLFormElement) => Promise<any>, beside?: any[]}} what
 *   `action` names the button; `send` may throw what the server refused
 * @returns {HTMLFormElement}
 */
export function form({ label, fields, action, send, beside = [] }) {
  const trouble = h("div", { hidden: true });
  const go = h("button", { type: "submit", class: "button primary" }, action);
  const submit = async (event) => {
    event.preventDefault();
    go.disabled = true;
    for (const each of node.elements) each.removeAttribute("aria-invalid");
    trouble.hidden = true;
    try {
      await send(node);
    } catch (problem) {
      refused(node, trouble, problem);
    } finally {
      go.disabled = false;
    }
  };
  const node = h(
    "form",
    { class: "form", "aria-label": label, novalidate: true, on: { submit } },
    fields,
    trouble,
    h("div", { class: "row wrap" }, go, beside),
  );
  return node;
}

function refused(node, trouble, problem) {
  trouble.replaceChildren(failure(problem));
  trouble.hidden = false;
  const named = problem.param && node.elements.namedItem(problem.param);
  if (named?.setAttribute) {
    named.setAttribute("aria-invalid", "true");
    named.focus();
  }
}

/**
 * Ask before something that cannot simply be undone.
 * @param {{title: string, words: any, action: string, typed?: string}} what  typed: a word to type first
 * @returns {Promise<boolean>}
 */
export function confirm({ title, words, action, typed }) {
  return new Promise((answer) => {
    const word = typed && input("typed", "", { on: { input: () => (go.disabled = word.value !== typed) } });
    const go = button(action, () => (answer(true), dialog.close()), "danger", { disabled: Boolean(typed) });
    const dialog = h(
      "dialog",
      { class: "confirm", "aria-labelledby": "confirm-title" },
      h("header", {}, h("h2", { id: "confirm-title" }, title)),
      h("div", { class: "pad stack" }, h("p", {}, words), word && field(`Type ${typed} to go on`, word)),
      h(
        "footer",
        { class: "row" },
        go,
        button("Cancel", () => dialog.close()),
      ),
    );
    dialog.addEventListener("close", () => (answer(false), dialog.remove()));
    document.body.append(dialog);
    dialog.showModal();
    (word || dialog.querySelector("footer .button:last-child")).focus();
  });
}

/** @param {string} text @returns {number | null} what a number field holds; null when it is empty */
export const numberOf = (text) => (text.trim() === "" ? null : Number(text.trim().replaceAll(",", "")));
