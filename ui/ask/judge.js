// Verdicts and claims: what the user decides, kept at the server, and taken back the same way.
//
// Each act is a list of steps {seat, before, after}. Doing sends every `after`, undoing every `before`; nothing else is needed.
import { post } from "../api.js";
import { toPoints } from "../prose.js";
import { nameOf } from "../seats.js";
import { answered, finished, noVerdict, placed } from "./panel.js";

/**
 * @typedef {import("./panel.js").Seat} Seat
 * @typedef {import("./panel.js").Claim} Claim
 * @typedef {{kind: "verdict" | "claim", seat: Seat, before: any, after: any}} Step
 */

export class Judge {
  /**
   * @param {() => import("./panel.js").Panel} panel
   * @param {(said: string, problem?: Error) => void} tell after each change: what happened, in words
   */
  constructor(panel, tell) {
    this.panel = panel;
    this.tell = tell;
    this.acts = [];
    this.sending = Promise.resolve(); // one after another: the last decision is the last one kept
    this.held = new Map(); // seat -> steps given while it was still writing; sent when it has finished
  }

  /** @param {Seat} seat @param {boolean} useful pressing the same again takes it back */
  useful(seat, useful) {
    const now = seat.verdict;
    const same = now?.useful === useful && !now.best;
    const after = same ? without(now) : { ...(now ?? noVerdict()), useful, best: false, allBad: false };
    return this.#act(
      [verdict(seat, after)],
      same ? `${nameOf(seat)}: verdict taken back` : `${nameOf(seat)}: ${useful ? "useful" : "not useful"}`,
    );
  }

  /** @param {Seat} seat the one best answer; it is a useful one, and no other is the best */
  best(seat) {
    if (seat.verdict?.best)
      return this.#act([verdict(seat, { ...seat.verdict, best: false })], `${nameOf(seat)}: not the best any more`);
    const others = this.#seats().filter((other) => other !== seat && other.verdict?.best);
    const steps = others.map((other) => verdict(other, { ...other.verdict, best: false }));
    return this.#act(
      [...steps, verdict(seat, { ...(seat.verdict ?? noVerdict()), useful: true, best: true, allBad: false })],
      `${nameOf(seat)}: best of the panel`,
    );
  }

  allBad() {
    const seats = this.#seats().filter((seat) => answered(seat));
    if (!seats.length) return;
    this.#act(
      seats.map((seat) =>
        verdict(seat, { ...(seat.verdict ?? noVerdict()), useful: false, best: false, allBad: true }),
      ),
      "All answers: not useful",
    );
  }

  /** @param {Seat} seat @param {string} note */
  note(seat, note) {
    if (note === (seat.verdict?.note ?? "")) return;
    this.#act([verdict(seat, { ...(seat.verdict ?? noVerdict()), note })], `${nameOf(seat)}: note kept`);
  }

  /**
   * Mark words of an answer; the same decision again takes the mark back.
   * @param {Seat} seat
   * @param {{start: number, end: number, quote?: string}} where  a claim of which the answer has not the words goes by its quote
   * @param {"real" | "false"} decision
   */
  claim(seat, where, decision) {
    const { start, end } = where;
    const before = seat.claims.find((claim) => alike(claim, where)) ?? null;
    const quote = placed(where) ? seat.text.slice(start, end) : where.quote;
    const after = { quote, start, end, decision: before?.decision === decision ? null : decision };
    const said = after.decision ? (decision === "real" ? "real finding" : "false claim") : "mark taken back";
    this.#act([{ kind: "claim", seat, before, after }], `${nameOf(seat)}: ${said}`);
  }

  undo() {
    const steps = this.acts.pop();
    if (!steps) return false;
    const back = steps.map((step) => ({
      ...step,
      before: step.after,
      after: step.kind === "claim" ? (step.before ?? { ...step.after, decision: null }) : step.before,
    }));
    this.#do(back, "Taken back");
    return true;
  }

  /** @param {Seat} seat it has just finished: send what was decided meanwhile */
  release(seat) {
    const steps = this.held.get(seat);
    this.held.delete(seat);
    if (!steps) return;
    if (answered(seat)) this.#send(steps.filter((step) => moved(step, seat)));
    else {
      Object.assign(seat, { verdict: null, claims: [] });
      this.tell(`${nameOf(seat)} failed, so your verdict on it was not kept.`);
    }
  }

  #seats = () => [...this.panel().seats, ...(this.panel().merger ? [this.panel().merger] : [])];

  #act(steps, said) {
    this.acts.push(steps);
    this.#do(steps, said);
  }

  #do(steps, said) {
    steps.forEach(apply);
    this.tell(said);
    const later = steps.filter((step) => !finished(step.seat));
    for (const step of later) this.held.set(step.seat, [...(this.held.get(step.seat) ?? []), step]);
    this.#send(steps.filter((step) => !later.includes(step)));
  }

  #send(steps) {
    if (steps.length) this.sending = this.sending.then(() => this.#post(steps));
  }

  async #post(steps) {
    for (const step of steps) {
      try {
        await post("/api/verdict", bodyOf(step));
      } catch (problem) {
        apply({
          ...step,
          after: step.kind === "claim" ? (step.before ?? { ...step.after, decision: null }) : step.before,
        });
        this.acts = this.acts.filter(
          (act) => !act.some((each) => each.seat === step.seat && each.after === step.after),
        );
        this.tell(`Not kept: ${problem.message}`, problem);
        return;
      }
    }
  }
}

// Whose it was before is not whose it is from now on.
const verdict = (seat, after) => ({
  kind: "verdict",
  seat,
  before: seat.verdict,
  after: after && { ...after, by: "" },
});

// What is left of a verdict when its decision is taken back: a note, or nothing.
const without = ({ note }) => (note ? { ...noVerdict(), note } : null);

function apply({ kind, seat, after }) {
  if (kind === "verdict") seat.verdict = after;
  else {
    const others = seat.claims.filter((claim) => !alike(claim, after));
    seat.claims = (after.decision ? [...others, after] : others).sort((a, b) => a.start - b.start);
  }
}

const alike = (one, other) =>
  one.start === other.start && one.end === other.end && (placed(one) || one.quote === other.quote);

// Text that grew since a claim was held keeps its offsets; a claim whose words the final answer moved is dropped.
const moved = (step, seat) => step.kind === "verdict" || seat.text.startsWith(step.after.quote, step.after.start);

function bodyOf({ kind, seat, after }) {
  const { call, text } = seat;
  if (kind === "claim") {
    const { quote, start, end, decision } = after;
    if (!placed(after)) return { call, claims: [{ quote, decision }] };
    return { call, claims: [{ quote, start: toPoints(text, start), end: toPoints(text, end), decision }] };
  }
  if (!after) return { call, useful: null, withdrawn: true };
  return { call, useful: after.useful, best: after.best, all_bad: after.allBad, note: after.note || null };
}
