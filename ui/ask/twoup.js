// Two answers side by side, point by point: where they say the same it is folded, where they differ the words are marked.
import { post } from "../api.js";
import { announce, h, say, set } from "../dom.js";
import { Prose } from "../prose.js";
import { glyph, nameOf } from "../seats.js";
import { plural, seconds, sum } from "../words.js";
import { aligned, breathing, differences, points } from "./alike.js";
import { answered } from "./panel.js";

const CHOICES = [
  ["left", "Left", "1"],
  ["right", "Right", "2"],
  ["tie", "Equal", "="],
  ["both_bad", "Both bad", "x"],
];
const MARKED = "differs";

export class TwoUp {
  /**
   * @param {import("./panel.js").Panel} panel
   * @param {{told: (said: string, problem?: Error) => void}} hooks
   */
  constructor(panel, { told }) {
    this.panel = panel;
    this.told = told;
    this.only = true; // only differences
    this.words = true; // word marks
    this.opened = false; // what is folded is shown
    this.sides = [null, null];
    this.given = new Map(); // "call~call" -> choice
    this.past = [];
    const pick = (i) => h("select", { class: "field", on: { change: (event) => this.#choose(i, event.target.value) } });
    this.picks = [pick(0), pick(1)];
    this.marks = h(
      "button",
      { type: "button", class: "button", "aria-pressed": "true", on: { click: () => this.#marks() } },
      "Word marks",
    );
    this.rows = h("div", { class: "two-rows" });
    this.end = h("p", { class: "two-fold faint" });
    this.heads = [h("div"), h("div")];
    this.verdicts = CHOICES.map(([choice, word, key]) => this.#verdict(choice, word, key));
    this.undoButton = h(
      "button",
      { type: "button", class: "button quiet small end", disabled: true, on: { click: () => this.undo() } },
      "Undo",
      h("kbd", {}, "z"),
    );
    this.root = this.#frame();
  }

  /** Draw the pair again; what was chosen stays, as far as it is still there. @param {boolean} only */
  show(only = this.only) {
    this.only = only;
    const there = this.panel.seats.filter(answered);
    if (!this.sides.every((side) => there.includes(side))) this.sides = drawn(there);
    this.#draw();
  }

  swap() {
    this.sides.reverse();
    this.#draw();
  }

  /** The pair before or after. @param {number} by */
  turn(by) {
    const all = pairsOf(this.panel.seats.filter(answered));
    if (all.length < 2) return false;
    const at = all.findIndex((pair) => this.sides.every((side) => pair.includes(side)));
    const next = all[(at + by + all.length) % all.length];
    this.sides = Math.random() < 0.5 ? next : [...next].reverse();
    this.#draw();
    announce(`${nameOf(this.sides[0])} beside ${nameOf(this.sides[1])}`);
  }

  /** @param {string} choice left, right, tie or both_bad; the same again takes it back */
  async choose(choice) {
    if (!this.sides[0]) return false;
    const key = this.#key();
    const before = this.given.get(key) ?? null;
    const after = before === choice ? null : choice;
    this.past.push({ key, before, sides: [...this.sides] });
    await this.#give(key, after, this.sides);
  }

  async undo() {
    const last = this.past.pop();
    if (!last) return false;
    await this.#give(last.key, last.before, last.sides, "Taken back");
  }

  async #give(key, choice, sides, said) {
    const was = this.given.get(key) ?? null;
    this.given.set(key, choice);
    this.#pressed();
    const words = CHOICES.find(([name]) => name === choice)?.[1].toLowerCase();
    this.told(said ?? (choice ? `${nameOf(sides[0])} beside ${nameOf(sides[1])}: ${words}` : "Choice taken back"));
    try {
      await post("/api/verdict", { pair: sides.map(({ call }) => call), choice });
    } catch (problem) {
      this.given.set(key, was);
      this.past = this.past.filter((each) => each.key !== key);
      this.#pressed();
      this.told(`Not kept: ${problem.message}`, problem);
    }
  }

  #key = () => this.sides.map(({ call }) => call).join("~");

  #choose(i, call) {
    const seat = this.panel.seats.find((each) => each.call === call);
    const other = this.sides[1 - i];
    this.sides[i] = seat;
    if (other === seat) this.sides[1 - i] = this.panel.seats.filter(answered).find((each) => each !== seat);
    this.#draw();
  }

  #marks() {
    this.words = !this.words;
    set(this.marks, { "aria-pressed": String(this.words) });
    this.#draw();
  }

  async #draw() {
    const there = this.panel.seats.filter(answered);
    const mine = (this.drawing = {});
    this.picks.forEach((pick, i) => {
      pick.replaceChildren(...there.map((seat) => h("option", { value: seat.call }, nameOf(seat))));
      pick.value = this.sides[i]?.call ?? "";
      set(pick, { "aria-label": i ? "Right" : "Left" });
    });
    this.root.classList.toggle("lonely", there.length < 2);
    if (there.length < 2) {
      this.heads.forEach((head) => head.replaceChildren());
      this.rows.replaceChildren(h("p", { class: "pad faint" }, "Two answers are needed to compare."));
      return say(this.end, "");
    }
    this.heads.forEach((head, i) => head.replaceChildren(...headOf(this.sides[i])));
    this.#pressed();
    const pairs = await aligned(...this.sides.map(({ text }) => points(text)));
    if (this.drawing === mine) await this.#rows(pairs, mine);
  }

  // A pair is drawn at a time, so that long answers do not hold the page up.
  async #rows(pairs, mine) {
    const breath = breathing();
    const rows = [];
    let folded = 0;
    const fold = () => {
      if (folded) rows.push(this.#fold(folded));
      folded = 0;
    };
    for (const pair of pairs) {
      if (pair.how === "same" && this.only && !this.opened) {
        folded += 1;
        continue;
      }
      fold();
      rows.push(this.#row(pair));
      await breath();
      if (this.drawing !== mine) return;
    }
    fold();
    this.rows.replaceChildren(...rows);
    say(this.end, endOf(pairs));
  }

  #fold(n) {
    const show = () => ((this.opened = true), this.#draw());
    return h(
      "p",
      { class: "two-fold faint" },
      `${plural(n, "identical point")} folded. `,
      h("button", { type: "button", class: "link", on: { click: show } }, "Show"),
    );
  }

  #row({ left, right, how }) {
    const sources = [left, right].map(
      (point, i) => point && this.sides[i].text.slice(point.start, point.end).trimEnd(),
    );
    const marks = how === "differs" && this.words ? differences(...sources) : [[], []];
    const place = (left ?? right).places[0];
    const cells = sources.map((source, i) => {
      if (source === null) return h("div", { class: "silent" }, place ? `Silent on ${place}` : "Silent on this");
      const prose = new Prose(h("div", { class: "prose" }));
      prose.show(source);
      prose.mark(
        how === "differs" || !this.words
          ? marks[i].map((stretch) => ({ ...stretch, decision: MARKED }))
          : how === "same"
            ? []
            : [{ start: 0, end: source.length, decision: MARKED }],
      );
      return h("div", {}, h("span", { class: "hidden" }, `${i ? "Right" : "Left"}: `), prose.root);
    });
    return h("div", { class: "two-row", "data-how": how }, cells);
  }

  #verdict(choice, word, key) {
    return h(
      "button",
      {
        type: "button",
        class: "button",
        "aria-pressed": "false",
        "aria-keyshortcuts": key,
        on: { click: () => this.choose(choice) },
      },
      word,
      h("kbd", {}, key),
    );
  }

  #pressed() {
    const given = this.sides[0] ? this.given.get(this.#key()) : null;
    this.verdicts.forEach((button, i) => set(button, { "aria-pressed": String(CHOICES[i][0] === given) }));
    set(this.undoButton, { disabled: !this.past.length });
  }

  #frame() {
    const act = (word, key, run) =>
      h("button", { type: "button", class: "button", on: { click: run } }, word, h("kbd", {}, key));
    return h(
      "section",
      { class: "two-up", "aria-label": "Two answers side by side" },
      h(
        "div",
        { class: "row wrap two-tools" },
        this.marks,
        h("label", {}, "Left ", this.picks[0]),
        act("Swap", "s", () => this.swap()),
        h("label", {}, "Right ", this.picks[1]),
        h(
          "span",
          { class: "row end" },
          act("Previous", "[", () => this.turn(-1)),
          act("Next", "]", () => this.turn(1)),
        ),
      ),
      h("div", { class: "card two-card" }, h("div", { class: "two-row two-heads" }, this.heads), this.rows, this.end),
      h(
        "div",
        { class: "card verdict-line row wrap", role: "group", "aria-label": "Which one would you keep?" },
        h("b", {}, "Which one would you keep?"),
        this.verdicts,
        h("span", { class: "faint end wide-only" }, "Sides are drawn at random each time."),
        this.undoButton,
      ),
    );
  }
}

const pairsOf = (seats) => seats.flatMap((one, i) => seats.slice(i + 1).map((other) => [one, other]));

function drawn(seats) {
  const [pair = [null, null]] = pairsOf(seats);
  return Math.random() < 0.5 ? [...pair] : [...pair].reverse();
}

function headOf(seat) {
  const { letter, tokens, cost } = seat;
  const out = typeof tokens?.out === "number" ? plural(tokens.out, "token") : "";
  const facts = letter ? [] : [seconds(seat.seconds ?? 0), out, sum([cost])].filter(Boolean);
  return [glyph(seat), h("strong", {}, nameOf(seat)), h("span", { class: "faint end" }, facts.join(", "))];
}

function endOf(pairs) {
  const worded = pairs.filter(({ how }) => how === "differs").length;
  const alone = pairs.filter(({ how }) => how === "left" || how === "right").length;
  if (!worded && !alone) return "End. Both say the same.";
  const parts = [worded && `${worded} worded differently`, alone && `${alone} on one side only`].filter(Boolean);
  return `End. ${plural(worded + alone, "difference")}: ${parts.join(", ")}`;
}
