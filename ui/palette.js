// Search or jump: pages, panels, models, collections and actions behind one field. The right edge says what will happen.
import { get } from "./api.js";
import { h, icon, set } from "./dom.js";
import { idOf, titleIn } from "./ask/panel.js";
import { PAGES } from "./pages.js";
import { may } from "./who.js";
import { when } from "./words.js";

const ID = /^([pr]\d{8}-\d{6}-[0-9a-f]{4,32})(?:\.[a-z0-9]+)?$/; // of a panel or a conversation, or of a call in it
const REST = 200; // ms without typing after which panels are looked up
const MOST = 6; // of a group

/** @typedef {{group: string, words: string, says: string, run: () => void}} Found */

/**
 * @param {{go: (address: string) => void, actions: [string, () => void, string?][]}} app  an action's third: who may
 * @returns {() => void} opens it
 */
export function palette({ go, actions }) {
  let known = [];

  /** What can be chosen without asking: pages and actions, and once they came, models and collections. */
  const fixed = () => [
    ...PAGES.filter(({ who }) => may(who)).map(({ title, path }) => ({
      group: "Pages",
      words: title,
      says: "go there",
      run: () => go(path),
    })),
    ...known,
    ...actions.filter(([, , who]) => may(who)).map(([words, run]) => ({ group: "Actions", words, says: "do it", run })),
  ];

  async function learn() {
    const [{ models }, { collections }] = await Promise.all([get("/api/models"), get("/api/collections")]);
    const one = (group, page, name) => ({
      group,
      words: name,
      says: "open",
      run: () => go(`/${page}s?${page}=${encodeURIComponent(name)}`),
    });
    known = [
      ...models.map(({ alias }) => one("Models", "model", alias)),
      ...collections.map(({ name }) => one("Collections", "collection", name)),
    ];
  }

  return () => {
    if (document.querySelector("dialog[open]")) return;
    new Palette(fixed, go, learn);
  };
}

class Palette {
  constructor(fixed, go, learn) {
    Object.assign(this, { fixed, go, panels: [], at: 0, shown: [] });
    this.list = h("ul", { role: "listbox", id: "palette-list", "aria-label": "Found" });
    this.words = h("input", {
      class: "palette-words",
      role: "combobox",
      "aria-expanded": "true",
      "aria-controls": "palette-list",
      "aria-label": "Search or jump to",
      placeholder: "A page, a question, a model, an id; > for actions",
      autocomplete: "off",
      spellcheck: "false",
      on: { input: () => this.#typed(), keydown: (event) => this.#key(event) },
    });
    this.dialog = h("dialog", { class: "palette", "aria-label": "Search or jump to" }, this.words, this.list);
    this.dialog.addEventListener("close", () => (clearTimeout(this.timer), this.look?.abort(), this.dialog.remove()));
    this.dialog.addEventListener("click", (event) => event.target === this.dialog && this.dialog.close());
    document.body.append(this.dialog);
    this.dialog.showModal();
    this.#draw();
    // What is not known is not found: the pages are there all the same.
    learn().then(
      () => this.#draw(),
      () => {},
    );
  }

  #typed() {
    this.at = 0;
    this.panels = [];
    this.#draw();
    clearTimeout(this.timer);
    this.look?.abort();
    const q = this.words.value.trim();
    if (q.length > 1 && !q.startsWith(">")) this.timer = setTimeout(() => this.#search(q), REST);
  }

  async #search(q) {
    this.look = new AbortController();
    try {
      const { panels } = await get(`/api/log?${new URLSearchParams({ q, limit: String(MOST) })}`, this.look.signal);
      this.panels = panels.map((row) => ({
        group: "Panels",
        words: titleIn(row.task) || idOf(row),
        says: `${when(row.at)}, bench/${row.collection}`,
        run: () => this.go(`/panels?panel=${encodeURIComponent(idOf(row))}`),
      }));
      this.#draw();
    } catch {
      // The rest can be chosen without them.
    }
  }

  // An id is opened as it stands, that of a call in what it belongs to.
  #named(typed) {
    const id = ID.exec(typed)?.[1];
    if (!id) return [];
    const path = id[0] === "p" ? `/panels?panel=${id}` : `/conversations?conversation=${id}`;
    return [
      { group: id[0] === "p" ? "Panels" : "Conversations", words: typed, says: "open", run: () => this.go(path) },
    ];
  }

  #draw() {
    const typed = this.words.value.trim().toLowerCase();
    const only = typed.startsWith(">") ? "Actions" : "";
    const words = typed.replace(/^>/, "").split(/\s+/).filter(Boolean);
    const fits = (each) =>
      (!only || each.group === only) && words.every((word) => each.words.toLowerCase().includes(word));
    const named = this.#named(typed);
    const all = [...named, ...this.fixed().filter(fits), ...(only || named.length ? [] : this.panels)];
    const groups = [...new Set(all.map(({ group }) => group))];
    this.shown = groups.flatMap((group) =>
      all.filter((each) => each.group === group).slice(0, typed ? MOST : group === "Pages" ? 12 : 2),
    );
    const rows = this.shown.map((each, i) => this.#row(each, i, i === 0 || this.shown[i - 1].group !== each.group));
    this.list.replaceChildren(...rows);
    if (!rows.length)
      this.list.append(
        h(
          "li",
          { class: "faint pad", role: "option", "aria-disabled": "true", "aria-selected": "false" },
          "Nothing has these words.",
        ),
      );
    this.#current(Math.min(this.at, this.shown.length - 1));
  }

  #row({ group, words, says }, i, first) {
    return h(
      "li",
      { role: "option", id: `palette-${i}`, "data-group": first ? group : null, on: { click: () => this.#choose(i) } },
      h("span", { class: "words" }, words),
      h("span", { class: "faint end" }, says),
    );
  }

  #current(i) {
    this.at = Math.max(0, i);
    [...this.list.children].forEach((row, n) => row.id && set(row, { "aria-selected": String(n === this.at) }));
    set(this.words, { "aria-activedescendant": this.shown.length ? `palette-${this.at}` : null });
    this.list.children[this.at]?.scrollIntoView({ block: "nearest" });
  }

  #choose(i) {
    const chosen = this.shown[i];
    if (!chosen) return;
    this.dialog.close();
    chosen.run();
  }

  #key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) this.#current((this.at + step + this.shown.length) % Math.max(1, this.shown.length));
    else if (event.key === "Enter" && !event.isComposing) this.#choose(this.at);
    else return;
    event.preventDefault();
  }
}

/** @param {() => void} open @returns {HTMLElement} the button in the top bar */
export const paletteButton = (open) =>
  h(
    "button",
    {
      type: "button",
      class: "button quiet search",
      "aria-keyshortcuts": "Control+K",
      on: { click: open },
    },
    icon("search"),
    h("span", { class: "words" }, "Search or jump to"),
    h("kbd", {}, "Ctrl K"),
  );
