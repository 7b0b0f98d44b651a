// The order in which answers are read, drawn anew for each panel, and how far the sitting has come.
import { h, say, set } from "../dom.js";
import { button } from "../loading.js";

const MOST_TICKS = 24;

/**
 * Answers in an order that says nothing of who wrote them; the same panel always comes in the same order.
 * @template T
 * @param {T[]} seats
 * @param {string} seed the panel's id
 * @returns {{seat: T, letter: string}[]}
 */
export function letters(seats, seed) {
  const order = [...seats];
  let sum = 0x811c9dc5;
  for (const char of seed) sum = Math.imul(sum ^ char.codePointAt(0), 0x01000193);
  for (let i = order.length - 1; i > 0; i -= 1) {
    sum = Math.imul(sum ^ (sum >>> 15), 0x2c1b3c6d) ^ i;
    const j = (sum >>> 0) % (i + 1);
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order.map((seat, i) => ({ seat, letter: i < 26 ? String.fromCharCode(65 + i) : String(i + 1) }));
}

export class Progress {
  /** @param {() => void} names show or hide them */
  constructor(names) {
    this.ticks = h("span", { class: "ticks", "aria-hidden": "true" });
    this.said = h("span", { class: "faint" });
    this.hidden = h("span", { class: "chip" });
    this.toggle = button("", names, "quiet small", { "aria-keyshortcuts": "h" });
    this.word = h("span");
    this.toggle.append(this.word, h("kbd", {}, "h"));
    this.root = h(
      "div",
      { class: "progress-line" },
      this.ticks,
      this.said,
      h("span", { class: "row end" }, this.hidden, this.toggle),
    );
  }

  /** @param {{done: number, all: number, named: boolean}} state */
  draw({ done, all, named }) {
    say(this.said, `${done} of ${all} judged`);
    say(this.hidden, named ? "Names shown" : "Names hidden");
    say(this.word, named ? "Hide names" : "Show names");
    set(this.toggle, { "aria-pressed": String(named) });
    const ticks =
      all > MOST_TICKS
        ? []
        : Array.from({ length: all }, (_, i) => h("i", { class: i < done ? "done" : i === done ? "now" : null }));
    this.ticks.replaceChildren(...ticks);
  }
}
