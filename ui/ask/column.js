// One seat's column: who it is, how far it is, what it says, and the buttons that judge it. Drawn again from its seat.
import { copyButton, h, say, set } from "../dom.js";
import { Prose } from "../prose.js";
import { glyph, nameOf, status } from "../seats.js";
import { count, money, plural, seconds, wordsIn } from "../words.js";
import { answered, finished } from "./panel.js";
import { nextStep } from "./failures.js";

const STATES = { waiting: "waiting", thinking: "thinking", writing: "writing", cut: "cut off" };

/**
 * @param {import("./panel.js").Seat} seat
 * @returns {[string, string]} mark and word
 */
export function stateOf({ status: now }) {
  if (now === "ok") return ["done", "done"];
  if (now === "pending") return ["waiting", "at the server"];
  return STATES[now] ? [now, STATES[now]] : ["failed", "failed"];
}

export class Column {
  /**
   * @param {import("./panel.js").Seat} seat
   * @param {number} number its key, from 1
   * @param {import("./judge.js").Judge} judge
   * @param {{stop?: (seat: any) => void, again?: (seat: any) => void}} [acts] what can be done with the call itself
   */
  constructor(seat, number, judge, acts = {}) {
    this.seat = seat;
    this.judge = judge;
    this.acts = acts;
    this.name = h(
      "h3",
      {},
      glyph(seat),
      h("span", { class: "name" }, nameOf(seat) || "merger"),
      seat.builtin && !seat.letter && h("span", { class: "chip" }, "program"),
    );
    this.state = h("span", { class: "state" });
    this.facts = h("p", { class: "facts" });
    this.thought = new Prose(h("div", { class: "prose thought" }));
    const look = () => this.thought.show(this.seat.reasoning, { whole: this.seat.status !== "thinking" });
    this.think = h("details", { class: "think", hidden: true, on: { toggle: look } }, h("summary"), this.thought.root);
    this.prose = new Prose(h("div", { class: "prose" }));
    this.trouble = h("div", { class: "cause", hidden: true });
    this.folded = h("p", { class: "faint folded", hidden: true });
    this.body = h("div", { class: "body" }, this.think, this.folded, this.prose.root, this.trouble);
    this.about = this.#about();
    this.buttons = this.#buttons();
    this.noted = this.#noted();
    this.calls = this.#calls();
    this.footer = h("footer", {}, this.buttons, this.calls, this.noted);
    const label = `${number}, ${nameOf(seat) || "merger"}`;
    this.root = h(
      "article",
      { class: "column", tabindex: "-1", "aria-label": label },
      h("header", {}, h("div", { class: "row" }, this.name, this.state), this.facts),
      this.body,
      this.about,
      this.footer,
    );
    this.draw(0);
  }

  /** @param {number} now ms */
  draw(now) {
    const { seat } = this;
    const [kind, word] = stateOf(seat);
    const failed = kind === "failed";
    // A column that failed is half as wide: its state stands in the second line, with the time.
    if (this.state.dataset.kind !== kind) this.state.replaceChildren(failed ? "" : status(kind, word));
    this.state.dataset.kind = kind;
    this.root.classList.toggle("failed", failed);
    this.root.classList.toggle("live", !finished(seat));
    this.root.dataset.state = kind;
    this.tick(now);
    this.#words();
    this.trouble.hidden = !failed;
    if (failed) this.#failed();
    this.#pressed();
  }

  /** Only what a passing second changes. @param {number} now ms */
  tick(now) {
    const facts = factsOf(this.seat, now);
    if (this.facts.dataset.said === facts.join()) return;
    this.facts.dataset.said = facts.join();
    this.facts.replaceChildren(...facts.flatMap((fact, i) => [i ? ", " : "", shown(fact)]));
  }

  /**
   * Fold away what all others say too.
   * @param {{start: number, end: number}[]} points
   * @param {number} all how many it makes
   */
  fold(points, all) {
    this.prose.fold(points);
    this.folded.hidden = !points.length;
    const same =
      points.length === all
        ? "All of it is"
        : `${plural(points.length, "point")} of ${all} ${points.length === 1 ? "is" : "are"}`;
    say(this.folded, `${same} what the others say too, and folded.`);
  }

  /** @param {boolean} current are the letter keys this seat's now? */
  current(current) {
    set(this.root, { "aria-current": current ? "true" : null });
  }

  #words() {
    const { seat } = this;
    const { reasoning } = seat;
    this.think.hidden = !reasoning;
    if (reasoning) {
      say(this.think.firstChild, `Reasoning, ${reasoningSize(seat)}`);
      if (this.think.open) this.thought.show(reasoning, { whole: seat.status !== "thinking" });
    }
    this.prose.show(seat.text, { whole: finished(seat) });
    this.prose.mark(seat.claims);
    const empty = answered(seat) && !seat.text;
    this.prose.root.classList.toggle("empty", empty);
    if (empty) say(this.prose.root, "The words of this answer are not kept any more.");
  }

  #failed() {
    const { message, letter } = this.seat;
    const { cause, next } = nextStep(this.seat);
    // What a provider said of itself would name it.
    if (letter)
      return void this.trouble.replaceChildren(
        h("p", {}, h("strong", {}, "No answer.")),
        h("p", { class: "said" }, "Why is told with the names."),
      );
    this.trouble.replaceChildren(
      h("p", {}, h("strong", {}, cause)),
      message && message !== cause ? h("p", { class: "said" }, message) : "",
      h("p", { class: "said" }, next),
    );
  }

  #pressed() {
    const { seat } = this;
    const verdict = seat.verdict;
    const [useful, not, best] = this.buttons.children;
    set(useful, { "aria-pressed": String(verdict?.useful === true) });
    set(not, { "aria-pressed": String(verdict?.useful === false) });
    set(best, { "aria-pressed": String(Boolean(verdict?.best)) });
    say(this.whose, verdict?.by ? `by ${verdict.by}` : "");
    const judged = !finished(seat) || answered(seat);
    this.buttons.hidden = !judged;
    this.#callsShown();
    this.footer.hidden = !judged && this.calls.hidden;
    this.about.hidden = Boolean(seat.letter);
    const area = this.noted.querySelector("textarea");
    if (document.activeElement !== area) area.value = verdict?.note ?? "";
    this.noteButton.classList.toggle("has", Boolean(verdict?.note));
    this.#details();
  }

  #buttons() {
    const button = (word, key, run) =>
      h(
        "button",
        {
          type: "button",
          class: "button small",
          "aria-pressed": "false",
          "aria-keyshortcuts": key,
          on: { click: run },
        },
        word,
        h("kbd", {}, key),
      );
    this.whose = h("span", { class: "faint" });
    this.noteButton = h(
      "button",
      {
        type: "button",
        class: "button quiet small end",
        "aria-expanded": "false",
        on: { click: () => this.#openNote() },
      },
      "Note",
    );
    return h(
      "div",
      { class: "verdicts", role: "group", "aria-label": `Verdict on ${nameOf(this.seat) || "the merged answer"}` },
      button("Useful", "u", () => this.judge.useful(this.seat, true)),
      button("Not", "n", () => this.judge.useful(this.seat, false)),
      button("Best", "b", () => this.judge.best(this.seat)),
      this.whose,
      this.noteButton,
    );
  }

  // What can be done with the call: end it while it is at work, make it again once it is over.
  #calls() {
    const act = (word, run) =>
      h("button", { type: "button", class: "button small", on: { click: () => run(this.seat) } }, word);
    this.stopButton = this.acts.stop && act("Stop", this.acts.stop);
    this.againButton = this.acts.again && act("Retry", this.acts.again);
    this.place = h("span", { class: "faint" }, "You can judge while it writes");
    return h(
      "div",
      { class: "row calls", "data-who": "admin", hidden: true },
      this.place,
      this.againButton,
      this.stopButton,
    );
  }

  #callsShown() {
    const { seat } = this;
    const live = !finished(seat);
    const failed = !live && !answered(seat) && seat.status !== "pending";
    if (this.stopButton) this.stopButton.hidden = !live;
    if (this.againButton) this.againButton.hidden = !failed;
    this.place.hidden = !live;
    this.calls.hidden = !(live && this.stopButton) && !(failed && this.againButton);
  }

  #noted() {
    const save = () => this.judge.note(this.seat, area.value.trim());
    const leave = (event) => {
      if (event.key !== "Escape" && !(event.key === "Enter" && (event.ctrlKey || event.metaKey))) return;
      event.preventDefault();
      event.stopPropagation();
      area.blur();
      this.#openNote(false);
      this.noteButton.focus();
    };
    const area = h("textarea", {
      rows: "2",
      class: "field",
      "aria-label": `Note on ${nameOf(this.seat)}`,
      placeholder: "Why, in a few words",
      on: { change: save, keydown: leave },
    });
    return h("div", { class: "note", hidden: true }, area);
  }

  #openNote(open = this.noted.hidden) {
    this.noted.hidden = !open;
    set(this.noteButton, { "aria-expanded": String(open) });
    if (open) this.noted.firstChild.focus({ preventScroll: true });
  }

  #about() {
    this.callId = h("code", {}, this.seat.call);
    const id = h(
      "p",
      { class: "call" },
      this.callId,
      copyButton("Copy call id", () => this.seat.call, { bare: true, class: "button quiet tiny" }),
      this.acts.again &&
        h(
          "button",
          {
            type: "button",
            class: "button quiet tiny rerun",
            "data-who": "admin",
            on: { click: () => this.acts.again(this.seat) },
          },
          "Run again",
        ),
    );
    this.more = h("dl", { class: "pairs" });
    this.details = h("details", { class: "more", hidden: true }, h("summary", {}, "About this call"), this.more);
    return h("div", { class: "about" }, id, this.details);
  }

  #details() {
    say(this.callId, this.seat.call);
    this.about.classList.toggle("over", finished(this.seat));
    if (!finished(this.seat) || this.seat.status === "pending") return void (this.details.hidden = true);
    if (!this.details.hidden) return;
    this.more.replaceChildren(
      ...pairsOf(this.seat).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
    );
    this.details.hidden = false;
  }
}

function shown(fact) {
  if (fact === "cost unknown") return h("span", { class: "unknown", title: "No price is known for this model" }, fact);
  return fact.startsWith("failed") ? status("failed", fact) : fact;
}

const FEW = 200_000; // characters up to which words are counted one by one

// Neither speed nor price nor role: they would tell who it is.
function blindFacts(seat) {
  if (finished(seat) && !answered(seat)) return [`failed after ${seconds(seat.seconds ?? 0)}`];
  const words = seat.text.length > FEW ? Math.round(seat.text.length / 6) : wordsIn(seat.text);
  return [plural(words, "word") + (finished(seat) ? "" : " so far")];
}

function factsOf(seat, now) {
  if (seat.letter) return blindFacts(seat);
  const { role, tokens, cost } = seat;
  const time = seat.seconds ?? Math.max(0, (now - seat.began) / 1000);
  if (!finished(seat)) {
    const about = Math.ceil((seat.text.length + seat.reasoning.length) / 4);
    const writes = seat.first === null ? 0 : time - seat.first;
    const pace = about && writes >= 1 ? `about ${Math.round(about / writes)} tok/s` : "";
    return [
      role,
      seconds(Math.floor(time)).replace(".0", ""),
      pace,
      about ? `about ${plural(about, "token")}` : "",
    ].filter(Boolean);
  }
  if (seat.status === "pending") return [role, "not waited for"];
  if (!answered(seat)) return [`failed after ${seconds(time)}`];
  const out = tokens?.out ?? null;
  const speed = out && time - (seat.first ?? 0) >= 1 ? `${Math.round(out / time)} tok/s` : "";
  const size = out === null ? "" : `${tokens.estimated ? "about " : ""}${plural(out, "token")}`;
  return [
    role,
    seconds(time),
    speed,
    size,
    cost === null ? "cost unknown" : cost === 0 ? "no cost" : money(cost),
    full(seat),
    FINISHED[seat.finish] ?? "",
  ].filter(Boolean);
}

const FINISHED = { length: "cut at its limit", content_filter: "filtered" }; // how it ended, where that was not by itself

// How full its window was, where that is known.
function full({ context, tokens }) {
  const used = (tokens?.in ?? 0) + (tokens?.out ?? 0);
  if (!context || !used) return "";
  const share = (100 * used) / context;
  return share < 1 ? "" : `${Math.round(share)} % of its window`;
}

function reasoningSize({ tokens, reasoning }) {
  const exact = tokens?.reasoning && !tokens.estimated;
  return exact ? plural(tokens.reasoning, "token") : `about ${plural(Math.ceil(reasoning.length / 4), "token")}`;
}

const HOW = {
  member: "a member of the collection",
  asked: "asked for by name",
  rotation: "its turn, it waited longest",
  merger: "to merge the answers",
};
const FINISH = {
  stop: "by itself",
  length: "at its limit of tokens",
  content_filter: "stopped by a content filter",
  tool_calls: "asking for a tool",
};

function pairsOf(seat) {
  const { tokens, servedBy, finish, first, how, p, alias, id, error } = seat;
  const served = servedBy?.provider && [servedBy.provider, servedBy.fingerprint].filter(Boolean).join(", ");
  const chance = p !== null && p !== undefined && p < 1 ? `, chance ${Math.round(p * 100)} %` : "";
  return [
    ["Model", id ?? alias],
    how && ["Seated", (HOW[how] ?? how) + chance],
    served && ["Served by", served],
    first !== null && ["First words", `after ${seconds(first)}`],
    finish && ["Ended", FINISH[finish] ?? finish],
    tokens && tokensIn(tokens) && ["Tokens", tokensIn(tokens)],
    error && ["Kind", error],
  ].filter(Boolean);
}

function tokensIn(tokens) {
  const figures = [
    ["in", tokens.in],
    ["out", tokens.out],
    ["of it reasoning", tokens.reasoning],
  ];
  const parts = figures.filter(([, n]) => typeof n === "number").map(([word, n]) => `${count(n)} ${word}`);
  return parts.length ? parts.join(", ") + (tokens.estimated ? " (estimated)" : "") : "";
}
