// Columns that do not fit scroll sideways, a whole column at a time: which ones show, and a button to each side.
import { h, say, set } from "../dom.js";

const GAP = 12; // px between columns
const NARROWEST = 216; // px of a column that is still read with ease

/** @param {number} width px @returns {number} how many whole columns stand side by side in it */
export const fitting = (width) => Math.max(1, Math.floor((width + GAP) / (NARROWEST + GAP)));

/** @param {number[]} shares 1 for a column, less for one that needs less @returns {number} px they take at least */
export const wanted = (shares) => shares.reduce((all, share) => all + share * NARROWEST + GAP, -GAP);

export class Pager {
  /** @param {HTMLElement} columns what scrolls */
  constructor(columns) {
    this.columns = columns;
    this.place = h("span", { class: "faint" });
    this.left = this.#button("‹", "Columns to the left", -1);
    this.right = this.#button("›", "Columns to the right", 1);
    this.root = h("div", { class: "pager row wide-only", hidden: true }, this.left, this.place, this.right);
  }

  /** @param {boolean} many do they scroll? @param {number} all how many there are */
  draw(many, all) {
    this.root.hidden = !many;
    if (!many) return;
    const fit = fitting(this.columns.clientWidth);
    this.columns.style.setProperty("--fit", String(Math.min(fit, all)));
    const first = Math.min(Math.round(this.columns.scrollLeft / this.#step()), all - 1);
    const last = Math.min(all, first + fit);
    say(this.place, last > first + 1 ? `${first + 1} to ${last} of ${all}` : `${last} of ${all}`);
    set(this.left, { disabled: first === 0 });
    set(this.right, { disabled: last === all });
  }

  #step = () => (this.columns.firstElementChild?.offsetWidth ?? this.columns.clientWidth) + GAP || 1;

  #button(sign, name, way) {
    const run = () => this.columns.scrollBy({ left: way * this.#step() });
    return h(
      "button",
      { type: "button", class: "button small", "aria-label": name, title: name, on: { click: run } },
      sign,
    );
  }
}
