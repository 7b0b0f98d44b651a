// On a phone one answer fills the screen: a strip above tells whose it is, a bar below judges it.
import { h, set } from "../dom.js";
import { nameOf, seat as seatName, status } from "../seats.js";
import { stateOf } from "./column.js";
import { answered, finished } from "./panel.js";

export class Strip {
  /** @param {(i: number) => void} go */
  constructor(go) {
    this.go = go;
    this.glyphs = h("div", { class: "glyphs", role: "group", "aria-label": "Seats" });
    this.name = h("span", { class: "name" });
    this.place = h("span", { class: "faint" });
    this.top = h("div", { class: "strip narrow-only" }, this.glyphs, h("div", { class: "who" }, this.name, this.place));
    this.bottom = h("div", { class: "verdict-bar narrow-only", role: "group", "aria-label": "Verdict" });
    this.columns = [];
    this.at = 0;
  }

  /** @param {import("./column.js").Column[]} columns */
  seats(columns) {
    this.columns = columns;
    this.buttons = ["Useful", "Not", "Best", "Note"].map((word, i) =>
      h(
        "button",
        { type: "button", class: i < 3 ? "button" : "button quiet", on: { click: () => this.#press(i) } },
        word,
      ),
    );
    this.bottom.replaceChildren(...this.buttons);
  }

  /** @param {number} i */
  current(i) {
    this.at = i;
    this.draw();
  }

  draw() {
    const column = this.columns[this.at];
    if (!column) return;
    this.#glyphs();
    const [kind, word] = stateOf(column.seat);
    this.name.replaceChildren(h("strong", {}, nameOf(column.seat)), " ", status(kind, word));
    this.place.textContent = this.columns.length > 1 ? `${this.at + 1} of ${this.columns.length}, swipe` : "";
    this.bottom.hidden = finished(column.seat) && !answered(column.seat);
    column.buttons
      .querySelectorAll("[aria-pressed]")
      .forEach((twin, i) => set(this.buttons[i], { "aria-pressed": twin.getAttribute("aria-pressed") }));
  }

  #glyphs() {
    const said = this.columns.map(({ seat }) => stateOf(seat)[0]).join() + this.at;
    if (this.glyphs.dataset.said === said) return;
    this.glyphs.dataset.said = said;
    this.glyphs.replaceChildren(...this.columns.map(({ seat }, i) => this.#glyph(seat, i)));
  }

  #glyph(seat, i) {
    const failed = stateOf(seat)[0] === "failed";
    return h(
      "button",
      { type: "button", class: "button quiet", "aria-pressed": String(i === this.at), on: { click: () => this.go(i) } },
      seatName({ ...seat, failed }, { name: false }),
    );
  }

  // The column's own buttons do the work: these are their twins within reach of a thumb.
  #press(i) {
    this.columns[this.at].buttons.querySelectorAll("button")[i].click();
  }
}
