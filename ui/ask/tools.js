// The row above the answers: what holds for all of them at once.
import { h, set } from "../dom.js";
import { keep, recall } from "../keep.js";

export const LAYOUTS = { columns: "Columns", stack: "Stack", tabs: "Tabs", "two-up": "Two-up" };

/**
 * @typedef {{layout: (name: string) => void, sync: (on: boolean) => void, fold: (on: boolean) => void,
 *   reasoning: (on: boolean) => void, raw: (on: boolean) => void, blind: (on: boolean) => void, allBad: () => void,
 *   undo: () => void, retry: () => void}} Acts
 */

export class Tools {
  /**
   * @param {Acts} acts
   * @param {Node} pager
   */
  constructor(acts, pager) {
    this.acts = acts;
    this.undoButton = this.#button("Undo", "z", acts.undo, "quiet");
    this.badButton = this.#button("All bad", "x", acts.allBad);
    this.retryButton = this.#button("Retry failed", "", acts.retry);
    this.last = h("span", { class: "faint last" });
    const layouts = Object.entries(LAYOUTS).map(([name, word]) => this.#layout(name, word));
    this.layouts = h("div", { class: "segment wide-only", role: "group", "aria-label": "Layout" }, layouts);
    this.toggles = {
      sync: this.#toggle("Sync scroll", acts.sync),
      fold: this.#toggle("Only differences", acts.fold),
      reasoning: this.#toggle("Reasoning", acts.reasoning),
      raw: this.#toggle("Plain text", acts.raw),
      blind: this.#toggle("Blind", acts.blind),
    };
    this.root = h(
      "div",
      { class: "tools" },
      this.badButton,
      this.retryButton,
      this.undoButton,
      this.last,
      h("div", { class: "end row wrap" }, pager, this.layouts, Object.values(this.toggles)),
    );
    set(this.toggles.sync, { class: "button quiet wide-only" });
    this.press("sync", recall("sync", true));
  }

  /** @param {string} said what has just happened @param {boolean} bad */
  say(said, bad) {
    this.last.textContent = said;
    this.last.classList.toggle("bad", bad);
  }

  /** @param {string} name of the layout that shows */
  show(name) {
    for (const each of this.layouts.children) set(each, { "aria-pressed": String(each.dataset.name === name) });
    const columns = name === "columns";
    this.toggles.sync.hidden = !columns;
    this.toggles.reasoning.hidden = this.toggles.raw.hidden = name === "two-up";
  }

  /** @param {keyof Tools["toggles"]} name @param {boolean} on */
  press(name, on) {
    set(this.toggles[name], { "aria-pressed": String(on) });
  }

  /** @param {string} name @returns {boolean} */
  pressed = (name) => this.toggles[name].getAttribute("aria-pressed") === "true";

  /** @param {{judging: boolean, acts: number, failed: number, many: boolean}} state */
  draw({ judging, acts, failed, many }) {
    const look = [judging, acts, failed, many].join();
    if (look === this.look) return; // it is asked for with every word that comes
    this.look = look;
    set(this.badButton, { disabled: !judging });
    set(this.undoButton, { disabled: !acts });
    this.retryButton.hidden = !failed;
    this.retryButton.firstChild.textContent = failed > 1 ? `Retry ${failed} failed` : "Retry failed";
    this.toggles.fold.hidden = !many;
    for (const each of this.layouts.children) if (["two-up", "tabs"].includes(each.dataset.name)) each.hidden = !many;
  }

  #button(word, key, run, look = "") {
    const keys = key ? h("kbd", {}, key) : "";
    return h(
      "button",
      { type: "button", class: `button ${look}`.trim(), on: { click: () => run() } },
      h("span", {}, word),
      keys,
    );
  }

  #toggle(word, run) {
    const press = () => {
      const on = button.getAttribute("aria-pressed") !== "true";
      set(button, { "aria-pressed": String(on) });
      run(on);
    };
    const button = h(
      "button",
      { type: "button", class: "button quiet", "aria-pressed": "false", on: { click: press } },
      word,
    );
    return button;
  }

  #layout(name, word) {
    const run = () => (keep("layout", name === "two-up" ? null : name), this.acts.layout(name));
    return h("button", { type: "button", "data-name": name, on: { click: run } }, word);
  }
}
