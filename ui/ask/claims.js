// What the user marked in the answers: a row each, with its seat; j and k move over them, r and f change them.
import { h, say, set } from "../dom.js";
import { seat as seatName, status } from "../seats.js";
import { plural } from "../words.js";

/** @typedef {{seat: import("./panel.js").Seat, claim: import("./panel.js").Claim, words: string}} Row */

export class Claims {
  /**
   * @param {(row: Row, decision: "real" | "false") => void} decide
   * @param {(row: Row) => void} reveal
   */
  constructor(decide, reveal) {
    this.decide = decide;
    this.reveal = reveal;
    this.at = -1;
    this.rows = [];
    this.title = h("h2", {}, "Claims");
    this.hint = h("span", { class: "faint" });
    this.body = h("tbody", { on: { focusout: (event) => this.#left(event) } });
    const head = h(
      "thead",
      { class: "hidden" },
      h(
        "tr",
        {},
        ["Seat", "Claim", "Verdict"].map((name) => h("th", { scope: "col" }, name)),
      ),
    );
    const wide = matchMedia("(min-width: 821px)").matches;
    this.root = h(
      "details",
      { class: "card fold claims", open: wide },
      h("summary", {}, this.title, this.hint),
      h("table", {}, head, this.body),
    );
    this.draw([]);
  }

  /** @param {Row[]} rows */
  draw(rows) {
    const focused = this.#focused;
    this.rows = rows;
    this.at = Math.min(this.at, rows.length - 1);
    const real = rows.filter(({ claim }) => claim.decision === "real").length;
    say(this.title, rows.length ? `${plural(rows.length, "claim")} marked` : "No claims marked yet");
    say(
      this.hint,
      rows.length
        ? `${real} real, ${rows.length - real} false`
        : "Select words in an answer: a real finding, or a false claim.",
    );
    this.root.classList.toggle("none", !rows.length);
    this.body.replaceChildren(...rows.map((row, i) => this.#row(row, i)));
    if (focused) this.body.children[this.at]?.querySelector("a").focus({ preventScroll: true });
  }

  /** @param {number} step 1 or -1 @returns {false | void} */
  move(step) {
    if (!this.rows.length) return false;
    this.root.open = true;
    this.at = Math.max(
      0,
      Math.min(this.rows.length - 1, this.at < 0 ? (step > 0 ? 0 : this.rows.length - 1) : this.at + step),
    );
    this.#show(this.at);
    this.body.children[this.at].querySelector("a").focus();
  }

  /** @returns {Row | undefined} the row that r and f change: only the one that has the focus */
  get current() {
    return this.#focused ? this.rows[this.at] : undefined;
  }

  get #focused() {
    return this.root.open && this.body.contains(document.activeElement);
  }

  #left({ relatedTarget }) {
    if (!this.body.contains(relatedTarget) && document.hasFocus()) this.#show(-1);
  }

  #row(row, i) {
    const { seat, claim, words } = row;
    const show = (event) => (event.preventDefault(), this.reveal(row));
    const link = h("a", { href: "#", class: "words", on: { click: show } }, words);
    const buttons = ["real", "false"].map((decision) => this.#button(row, decision));
    return h(
      "tr",
      { class: claim.decision, on: { focusin: () => this.#select(i) } },
      h("td", { class: "who" }, seatName(seat)),
      h("td", {}, link),
      h("td", { class: "decision" }, h("div", {}, chip(claim.decision), buttons)),
    );
  }

  #select(i) {
    this.at = i;
    this.#show(i);
  }

  #show(i) {
    [...this.body.children].forEach((row, n) => set(row, { "aria-current": n === i ? "true" : null }));
  }

  #button(row, decision) {
    const same = row.claim.decision === decision;
    const word = same ? "Unmark" : decision === "real" ? "Real" : "False";
    const run = () => this.decide(row, decision);
    return h(
      "button",
      { type: "button", class: "button quiet small", on: { click: run } },
      word,
      h("kbd", {}, decision[0]),
    );
  }
}

const chip = (decision) =>
  h(
    "span",
    { class: `chip ${decision === "real" ? "ok" : "bad"}` },
    status(decision, decision === "real" ? "Real finding" : "False claim"),
  );
