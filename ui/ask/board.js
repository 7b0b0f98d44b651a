// A panel on the page: the question, the claims, the columns. It owns nothing but what is drawn; the panel is the truth.
import { announce, h, nextFrame, set } from "../dom.js";
import { keep, recall } from "../keep.js";
import { failure, notice } from "../notice.js";
import { glyph, lookOf, meet, nameOf } from "../seats.js";
import { plural, seconds, sentence, wordsIn } from "../words.js";
import { points, shared } from "./alike.js";
import * as blind from "./blind.js";
import { cite } from "./cite.js";
import { Claims } from "./claims.js";
import { Column, stateOf } from "./column.js";
import { Judge } from "./judge.js";
import { answered, finished, placed } from "./panel.js";
import { Pager, wanted } from "./pager.js";
import { Pick } from "./pick.js";
import { Question } from "./question.js";
import { Strip } from "./strip.js";
import { Sync } from "./sync.js";
import { LAYOUTS, Tools } from "./tools.js";
import { TwoUp } from "./twoup.js";

const FAILED = 0.65; // the share of a column that a failed one needs

/**
 * @typedef {{stop: (seat?: any) => void, again: () => void, rerun: ((seats: any[]) => void) | null,
 *   view: (changes: Record<string, string>) => void}} Hooks  view: what of the address changes
 */

export class Board {
  /**
   * @param {import("./panel.js").Panel} panel
   * @param {Hooks} hooks
   * @param {{layout?: string}} [look] what the address asks for
   */
  constructor(panel, hooks, look = {}) {
    this.panel = panel;
    this.hooks = hooks;
    this.sync = new Sync(() => this.columns.map(({ body }) => body));
    this.twoUp = new TwoUp(panel, { told: (said, problem) => this.#say(said, Boolean(problem)) });
    this.tabs = h("div", { class: "seat-tabs row wrap wide-only", role: "group", "aria-label": "Answers" });
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
    this.sync.on = this.tools.pressed("sync");
    this.tools.press("blind", Boolean(panel.blind));
    this.root = h(
      "div",
      { class: "stack board" },
      this.question.root,
      this.trouble,
      this.claims.root,
      this.tools.root,
      this.merged,
      this.strip.top,
      this.tabs,
      this.twoUp.root,
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
    this.layout = "columns";
    this.seats();
    this.show(look.layout ?? recall("layout", "columns"));
  }

  close() {
    clearInterval(this.timer);
    this.sizes.disconnect();
    this.pick.close();
  }

  /** The seats are known: a column each. */
  seats() {
    meet(this.panel.seats.map((seat) => seat.id ?? seat.alias));
    const { stop, rerun } = this.hooks;
    const acts = { stop, again: rerun && ((seat) => rerun([seat])) };
    this.columns = this.panel.seats.map((seat, i) => new Column(seat, i + 1, this.judge, acts));
    this.columns.forEach(({ root, seat, body }) => {
      if (!seat.letter) root.classList.add(`c${lookOf(seat.id ?? seat.alias).colour}`);
      this.sync.watch(body);
    });
    if (this.raw) this.columns.forEach((column) => column.prose.format(true));
    this.merger = null;
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
        ? `${nameOf(seat) || "The merged answer"} finished, ${plural(wordsIn(seat.text), "word")}${seat.letter ? "" : `, ${took}`}`
        : `${nameOf(seat)} failed after ${took}${seat.letter ? "" : `: ${seat.message ?? "no answer"}`}`,
    );
    this.judge.release(seat);
    if (this.tools.pressed("fold")) this.#fold();
    if (this.layout === "two-up") this.twoUp.show();
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

  /** What went wrong with something beside the panel itself. @param {Error} problem */
  tell(problem) {
    this.#say(problem.message, true);
    this.change();
  }

  #all = () => [...this.columns, ...(this.merger ? [this.merger] : [])];

  #columnOf = (seat) => this.#all().find((column) => column.seat === seat);

  #tools() {
    return new Tools(
      {
        layout: (name) => this.show(name),
        sync: (on) => (keep("sync", on), (this.sync.on = on), this.#fit()),
        fold: (on) => (this.layout === "two-up" ? this.twoUp.show(on) : this.#fold(on)),
        reasoning: (on) => this.#all().forEach(({ think }) => (think.open = on)),
        raw: (on) => ((this.raw = on), this.#all().forEach((column) => column.prose.format(on)), this.#fold()),
        blind: (on) => this.blind(on),
        allBad: () => this.judge.allBad(),
        undo: () => this.judge.undo(),
        retry: () => this.hooks.rerun(this.#failed()),
      },
      this.pager.root,
    );
  }

  #failed = () => this.panel.seats.filter((seat) => finished(seat) && !answered(seat) && seat.status !== "pending");

  /** @param {string} name how the answers stand: one of LAYOUTS */
  show(name) {
    this.layout = LAYOUTS[name] && this.panel.seats.length > 1 ? name : "columns";
    if (!this.panel.seats.length && LAYOUTS[name]) this.layout = name;
    const two = this.layout === "two-up";
    this.cols.classList.toggle("stacked", this.layout === "stack");
    this.cols.classList.toggle("tabbed", this.layout === "tabs");
    this.cols.hidden = two;
    this.root.classList.toggle("comparing", two);
    this.twoUp.root.hidden = !two;
    this.tabs.hidden = this.layout !== "tabs";
    this.tools.show(this.layout);
    this.#tabs();
    this.tools.press("fold", two ? this.twoUp.only : Boolean(this.folds));
    if (two) this.twoUp.show();
    this.hooks.view({ view: two ? "two-up" : "" });
    this.#fit();
  }

  /** Hide or show the names. @param {boolean} on */
  blind(on) {
    if (on) blind.hide(this.panel);
    else blind.show(this.panel);
    this.tools.press("blind", on);
    this.hooks.view({ blind: on ? "1" : "" });
    this.seats();
    this.#marked();
    if (this.layout === "two-up") this.twoUp.show();
    announce(on ? "Names are hidden until all is judged." : "Names are shown.");
  }

  // What every other answer says too is folded away, and said to be.
  async #fold(on = this.tools.pressed("fold") && this.layout !== "two-up") {
    this.folds = on;
    const there = on ? this.columns.filter(({ seat }) => answered(seat)) : [];
    const said = there.map(({ seat }) => points(seat.text));
    let folded = 0;
    for (const column of this.columns) {
      const i = there.indexOf(column);
      const others = said.filter((_, n) => n !== i);
      const same = i < 0 ? [] : await shared(said[i], others);
      folded += same.length;
      column.fold(same, said[i]?.length ?? 0);
    }
    if (there.length > 1 && !folded) this.#say("No point is made by all of them.");
  }

  #say(said, bad = false) {
    announce(said);
    this.tools.say(said, bad);
  }

  #told(said, problem) {
    this.#say(said, Boolean(problem));
    this.change();
    this.#marked();
    if (this.panel.blind && blind.judged(this.panel)) this.blind(false);
  }

  #marked() {
    this.claims.draw(
      this.#all().flatMap(({ seat, prose }) =>
        seat.claims.map((claim) => ({ seat, claim, words: placed(claim) ? prose.words(claim) : claim.quote })),
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
    this.tools.draw({
      judging: this.panel.seats.some(answered),
      acts: this.judge.acts.length,
      failed: this.hooks.rerun ? this.#failed().length : 0,
      many: this.panel.seats.length > 1,
    });
    this.claims.root.hidden = this.tools.root.hidden = !this.panel.seats.length;
    this.#tabs();
    this.#fitAgain();
    this.#problem();
    if (!this.drawnClaims && this.panel.state === "done") {
      this.drawnClaims = true;
      this.#marked();
    }
  }

  #tabs() {
    if (this.layout !== "tabs") return;
    const look = this.columns.map(({ seat }) => nameOf(seat) + stateOf(seat)[1]).join() + this.at;
    if (this.tabs.dataset.look === look) return;
    this.tabs.dataset.look = look;
    const tab = ({ seat }, i) =>
      h(
        "button",
        { type: "button", class: "button", "aria-pressed": String(i === this.at), on: { click: () => this.focus(i) } },
        glyph(seat),
        nameOf(seat),
        h("span", { class: "faint" }, stateOf(seat)[1]),
      );
    this.tabs.replaceChildren(...this.columns.map(tab));
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
      this.cited = "";
      this.merged.replaceChildren(
        h("h2", {}, "Merged answer"),
        h("p", { class: "faint" }, "Behind each point: the seats that say it too, matched by its words."),
        this.merger.root,
      );
    }
    this.merger.draw(now);
    if (finished(seat) && this.panel.seats.every(finished)) this.#cite();
  }

  // Again whenever something about it has changed: a mark or the plain text draw it anew.
  #cite() {
    const { seat, prose } = this.merger;
    const look = [seat.text.length, seat.claims.length, prose.raw, this.panel.blind].join();
    if (!answered(seat) || this.cited === look || prose.raw) return;
    this.cited = look;
    cite(this.merger, this.panel.seats, (from, point) => {
      if (this.layout === "two-up") this.show("columns");
      this.focus(this.panel.seats.indexOf(from));
      this.#columnOf(from).prose.reveal(point);
    });
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
    const columns = this.layout === "columns";
    this.cols.classList.toggle("many", many);
    this.cols.classList.toggle("own", columns && !many && !this.sync.on);
    this.pager.draw(many && columns, this.columns.length);
  }

  #current(i) {
    this.at = i;
    this.columns.forEach((column, n) => column.current(n === i));
    this.strip.current(i);
    this.#tabs();
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
