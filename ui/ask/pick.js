// Words selected in an answer, by mouse, by finger or by sentence from the keyboard, and the pill that judges them.
//
// What is judged is read from the document's selection at that very moment. The frame only draws the pill: a decision that
// waited for it would fall on the words before.
import { h, nextFrame } from "../dom.js";

/** @typedef {import("./column.js").Column} Column */

export class Pick {
  /**
   * @param {() => Column[]} columns
   * @param {(column: Column, where: {start: number, end: number}, decision: "real" | "false") => void} decide
   */
  constructor(columns, decide) {
    this.columns = columns;
    this.decide = decide;
    this.chosen = null; // {column, start, end} of the words that are selected now
    this.steps = new Map(); // column -> index of the sentence the keyboard stands on
    const button = (word, decision) =>
      h("button", { type: "button", on: { click: () => this.#decide(decision) } }, word, h("kbd", {}, decision[0]));
    // Pressing a button must not take the selection away before it is read.
    this.pill = h(
      "div",
      {
        class: "pill",
        role: "group",
        "aria-label": "The selected words",
        on: { pointerdown: (event) => event.preventDefault() },
      },
      button("Real finding", "real"),
      button("False claim", "false"),
    );
    this.look = nextFrame(() => this.look.open && this.#look());
    this.look.open = true;
    document.addEventListener("selectionchange", this.look);
  }

  close() {
    this.look.open = false;
    document.removeEventListener("selectionchange", this.look);
    this.pill.remove();
  }

  /** @param {"real" | "false"} decision @returns {false | void} false when no words are selected */
  take(decision) {
    this.#look();
    return this.#decide(decision);
  }

  #decide(decision) {
    const { chosen } = this;
    if (!chosen) return false;
    document.getSelection().removeAllRanges();
    this.#hide();
    this.decide(chosen.column, chosen, decision);
  }

  /** @returns {boolean} was there anything selected to let go of? */
  dismiss() {
    this.#look();
    if (!this.chosen) return false;
    document.getSelection().removeAllRanges();
    this.#hide();
    return true;
  }

  /** Select the next or the last sentence of an answer. @param {Column} column @param {number} step @returns {false | void} */
  sentence(column, step) {
    const sentences = column.prose.sentences();
    if (!sentences.length) return false;
    const from = this.steps.get(column) ?? (step > 0 ? -1 : sentences.length);
    const at = Math.max(0, Math.min(sentences.length - 1, from + step));
    this.steps.set(column, at);
    const selection = document.getSelection();
    selection.removeAllRanges();
    selection.addRange(sentences[at]);
    sentences[at].startContainer.parentElement.scrollIntoView({ block: "nearest", inline: "nearest" });
    this.#look();
  }

  #look() {
    const selection = document.getSelection();
    const range = selection.rangeCount && !selection.isCollapsed ? selection.getRangeAt(0) : null;
    const found = range
      ? this.columns()
          .map((column) => ({ column, ...within(column, range) }))
          .filter(({ end }) => end)
      : [];
    // Words of two answers at once are no claim of either.
    if (found.length !== 1) return this.#hide();
    const [{ column }] = found;
    this.#place(range, column);
    this.chosen = found[0];
  }

  #place(range, { body }) {
    const words = [...range.getClientRects()].at(-1);
    if (!words) return this.pill.remove();
    body.append(this.pill);
    const box = body.getBoundingClientRect();
    const left = Math.max(8, Math.min(words.left - box.left, box.width - this.pill.offsetWidth - 8));
    this.pill.style.left = `${left}px`;
    this.pill.style.top = `${words.bottom - box.top + body.scrollTop + 6}px`;
  }

  #hide() {
    this.chosen = null;
    this.pill.remove();
  }
}

const within = ({ prose }, range) => (range.intersectsNode(prose.root) ? prose.locate(range) : null);
