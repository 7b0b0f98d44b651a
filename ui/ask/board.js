// A panel on the page: the question, the claims, the columns. It owns nothing but what is drawn; the panel is the truth.
import { announce, h, nextFrame, set } from "../dom.js";
import { keep, recall } from "../keep.js";
import { failure, notice } from "../notice.js";
import { lookOf, meet } from "../seats.js";
import { plural, seconds, sentence, wordsIn } from "../words.js";
import { Claims } from "./claims.js";
import { Column, stateOf } from "./column.js";
import { Judge } from "./judge.js";
import { answered, finished } from "./panel.js";
import { Pager, wanted } from "./pager.js";
import { Pick } from "./pick.js";
import { Question } from "./question.js";
import { Strip } from "./strip.js";

const FAILED = 0.65; // the share of a column that a failed one needs

/** @typedef {{stop: () => void, again: () => void, reload: () => void}} Hooks */

export class Board {
  /**
   * @param {import("./panel.js").Panel} panel
   * @param {Hooks} hooks
   */
  constructor(panel, hooks) {
    this.panel = panel;
    this.columns = [];
    this.dirty = new Set();
    this.judge = new Judge(
      () => this.panel,
      (said, problem) => this.#told(said, problem),
    );
    this.pick = new Pick(
      () => this.#all(),
      (column, where, decision) => this.judge.claim(column.seat, where, decision),
    );
    this.claims = new Claims(
      (row, decision) => this.judge.claim(row.seat, row.claim, decision),
      (row) => this.#columnOf(row.seat).prose.reveal(row.claim),
    );
    this.question = new Question(panel, hooks);
    this.trouble = h("div", { class: "stack", hidden: true });
    this.merged = h("section", { class: "merged", "aria-label": "Merged answer", hidden: true });
    this.cols = h("div", { class: "columns", role: "group", "aria-label": "Answers" });
    this.pager = new Pager(this.cols);
    this.strip = new Strip((i) => this.focus(i));
    this.tools = this.#tools();
    this.root = h(
      "div",
      { class: "stack board" },
      this.question.root,
      this.trouble,
      this.claims.root,
      this.tools,
      this.merged,
      this.strip.top,
      this.cols,
      this.strip.bottom,
    );
    this.at = 0;
    this.soon = nextFrame(() => this.#draw());
    this.sizes = new ResizeObserver(() => this.#fit());
    this.sizes.observe(this.cols);
    this.timer = setInterval(() => this.#tick(), 500);
    this.cols.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    this.cols.addEventListener("focusin", (event) => this.#entered(event.target));
    this.#layout(recall("layout", "columns"));
    this.seats();
  }

  close() {
    clearInterval(this.timer);
    this.sizes.disconnect();
    this.pick.close();
  }

  /** The seats are known: a column each. */
  seats() {
    meet(this.panel.seats.map((seat) => seat.id ?? seat.alias));
    this.columns = this.panel.seats.map((seat, i) => new Column(seat, i + 1, this.judge));
    this.columns.forEach(({ root, seat }) => root.classList.add(`c${lookOf(seat.id ?? seat.alias).colour}`));
    this.cols.replaceChildren(...this.columns.map((column) => column.root));
    this.strip.seats(this.columns);
    this.#current(this.at);
    this.change();
  }

  /** Something of the panel changed. @param {import("./panel.js").Seat} [seat] only this seat */
  change(seat) {
    if (seat) this.dirty.add(seat);
    else this.panel.seats.forEach((each) => this.dirty.add(each));
    this.soon();
  }

  /** A seat has just finished. @param {import("./panel.js").Seat} seat */
  ended(seat) {
    const took = seconds(seat.seconds ?? 0);
    announce(
      answered(seat)
        ? `${seat.alias || "The merged answer"} finished, ${plural(wordsIn(seat.text), "word")}, ${took}`
        : `${seat.alias} failed after ${took}: ${seat.message ?? "no answer"}`,
    );
    this.judge.release(seat);
    this.change(seat);
  }

  /** @param {number} i from 0 @returns {false | void} */
  focus(i) {
    const column = this.columns[i];
    if (!column) return false;
    this.#current(i);
    column.root.focus({ preventScroll: true });
    column.root.scrollIntoView({ block: "nearest", inline: "start" });
  }

  /** @param {(judge: Judge, seat: import("./panel.js").Seat) => void} run what a letter key does to the current seat */
  onCurrent(run) {
    const column = this.merged.contains(document.activeElement) ? this.merger : this.columns[this.at];
    if (!column || (finished(column.seat) && !answered(column.seat)))
      return void announce("This seat gave no answer to judge.");
    run(this.judge, column.seat);
  }

  /** @param {"real" | "false"} decision @returns {false | void} */
  decide(decision) {
    if (this.pick.take(decision) !== false) return;
    const row = this.claims.current;
    if (!row) return this.#say("Nothing is selected: select words in an answer, or move to a claim with j.");
    this.judge.claim(row.seat, row.claim, decision);
  }

  /** @param {number} step @returns {false | void} */
  sentence(step) {
    const column = this.merged.contains(document.activeElement) ? this.merger : this.columns[this.at];
    if (!column || this.pick.sentence(column, step) === false) return false;
    if (this.claims.root.contains(document.activeElement)) column.root.focus({ preventScroll: true });
  }

  /** Move to a claim: what was selected before is let go of. @param {number} step @returns {false | void} */
  claim(step) {
    this.pick.dismiss();
    return this.claims.move(step);
  }

  #all = () => [...this.columns, ...(this.merger ? [this.merger] : [])];

  #columnOf = (seat) => this.#all().find((column) => column.seat === seat);

  #tools() {
    this.undoButton = h(
      "button",
      { type: "button", class: "button quiet", disabled: true, on: { click: () => this.judge.undo() } },
      "Undo",
      h("kbd", {}, "z"),
    );
    this.badButton = h(
      "button",
      { type: "button", class: "button", on: { click: () => this.judge.allBad() } },
      "All bad",
      h("kbd", {}, "x"),
    );
    this.saidLast = h("span", { class: "faint last" });
    this.layouts = h(
      "div",
      { class: "segment wide-only", role: "group", "aria-label": "Layout" },
      ["columns", "stack"].map((name) => this.#choice(name)),
    );
    const raw = h(
      "button",
      { type: "button", class: "button quiet", "aria-pressed": "false", on: { click: () => this.#raw(raw) } },
      "Plain text",
    );
    return h(
      "div",
      { class: "tools" },
      this.badButton,
      this.undoButton,
      this.saidLast,
      h("div", { class: "end row" }, this.pager.root, this.layouts, raw),
    );
  }

  #choice(name) {
    const run = () => (keep("layout", name), this.#layout(name));
    return h(
      "button",
      { type: "button", "data-name": name, on: { click: run } },
      name === "columns" ? "Columns" : "Stack",
    );
  }

  #layout(name) {
    this.cols.classList.toggle("stacked", name === "stack");
    for (const button of this.layouts.children) set(button, { "aria-pressed": String(button.dataset.name === name) });
    this.#fit();
  }

  #raw(button) {
    const raw = button.getAttribute("aria-pressed") !== "true";
    set(button, { "aria-pressed": String(raw) });
    this.#all().forEach((column) => column.prose.format(raw));
  }

  #say(said, bad = false) {
    announce(said);
    this.saidLast.textContent = said;
    this.saidLast.classList.toggle("bad", bad);
  }

  #told(said, problem) {
    this.#say(said, Boolean(problem));
    set(this.undoButton, { disabled: !this.judge.acts.length });
    this.change();
    this.#marked();
  }

  #marked() {
    this.claims.draw(
      this.#all().flatMap(({ seat, prose }) =>
        seat.claims.map((claim) => ({ seat, claim, words: prose.words(claim) })),
      ),
    );
  }

  #draw() {
    const now = Date.now();
    for (const column of this.columns) if (this.dirty.has(column.seat)) column.draw(now);
    this.dirty.clear();
    this.#merge(now);
    this.question.draw(now);
    this.strip.draw();
    set(this.badButton, { disabled: !this.panel.seats.some(answered) });
    this.claims.root.hidden = this.tools.hidden = !this.panel.seats.length;
    this.#fitAgain();
    this.#problem();
    if (!this.drawnClaims && this.panel.state === "done") {
      this.drawnClaims = true;
      this.#marked();
    }
  }

  #merge(now) {
    const seat = this.panel.merger;
    const waited = this.panel.reply === "merged" && ["asking", "answering"].includes(this.panel.state);
    if (!seat && !waited) return void (this.merged.hidden = true);
    this.merged.hidden = false;
    if (!seat)
      return void this.merged.replaceChildren(
        h("p", { class: "faint pending" }, "The merged answer is written when the seats have answered."),
      );
    if (this.merger?.seat !== seat || (seat.alias && this.merger.alias !== seat.alias)) {
      this.merger = Object.assign(new Column(seat, 0, this.judge), { alias: seat.alias });
      this.merged.replaceChildren(h("h2", {}, "Merged answer"), this.merger.root);
    }
    this.merger.draw(now);
  }

  #problem() {
    const { problem, note, actions = [] } = this.panel;
    const said = problem ? problem.message : note;
    this.trouble.hidden = !said;
    if (this.trouble.dataset.said === said) return;
    this.trouble.dataset.said = said;
    this.trouble.replaceChildren(problem ? failure(problem, ...actions) : notice("warn", sentence(note), ...actions));
  }

  #tick() {
    const now = Date.now();
    for (const column of this.#all()) if (!finished(column.seat)) column.tick(now);
    this.question.draw(now);
  }

  // Whether columns fit changes with how many there are and which failed, and is measured: not for every word that comes.
  #fitAgain() {
    const look = this.columns.map(({ seat }) => stateOf(seat)[0] === "failed").join();
    if (look === this.fitted) return;
    this.fitted = look;
    this.#fit();
  }

  // Up to four columns fit side by side; what does not fit scrolls sideways, and then each column scrolls for itself.
  #fit() {
    const least = wanted(this.columns.map(({ seat }) => (stateOf(seat)[0] === "failed" ? FAILED : 1)));
    const many = least > this.cols.clientWidth + 1 || this.columns.length > 4;
    this.cols.classList.toggle("many", many);
    this.pager.draw(many && !this.cols.classList.contains("stacked"), this.columns.length);
  }

  #current(i) {
    this.at = i;
    this.columns.forEach((column, n) => column.current(n === i));
    this.strip.current(i);
  }

  #entered(target) {
    const i = this.columns.findIndex((column) => column.root.contains(target));
    if (i >= 0 && i !== this.at) this.#current(i);
  }

  #scrolled() {
    if (matchMedia("(min-width: 821px)").matches) return this.#fit();
    const i = Math.round(this.cols.scrollLeft / this.cols.clientWidth);
    if (i !== this.at && this.columns[i]) this.#current(i);
  }
}
