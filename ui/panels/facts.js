// What a row of the log comes to: sums that say what they leave out, and how far it is judged.
import { verdictOf } from "../ask/panel.js";
import { h } from "../dom.js";
import { status } from "../seats.js";
import { sum } from "../words.js";

const ANSWERED = ["ok", "cut"];

/** @param {any} seat a seat of a row @returns {boolean} */
export const gave = ({ status: how }) => ANSWERED.includes(how);

/** @param {any} seat @returns {boolean} it answered, and nobody has said what that was worth */
export const owes = (seat) =>
  seat.seat !== "merger" && gave(seat) && typeof verdictOf(seat.verdict)?.useful !== "boolean";

/**
 * @param {any} row of /api/log
 * @returns {{seconds: number, tokens: number | null, estimated: boolean, cost: string, answered: number, owed: number}}
 */
export function totals({ seats = [] }) {
  const told = seats
    .map(({ tokens }) => tokens)
    .filter((each) => typeof each?.in === "number" || typeof each?.out === "number");
  return {
    seconds: Math.max(0, ...seats.map((seat) => seat.seconds ?? 0)),
    tokens: told.length ? told.reduce((all, each) => all + (each.in ?? 0) + (each.out ?? 0), 0) : null,
    estimated: told.some((each) => each.estimated),
    cost: sum(seats.filter(gave).map(({ cost }) => cost)),
    answered: seats.filter((seat) => seat.seat !== "merger" && gave(seat)).length,
    owed: seats.filter(owes).length,
  };
}

/** @param {any} row @returns {Node} how far it is judged: a mark and a word */
export function judgedState(row) {
  const { answered, owed } = totals(row);
  if (!answered) return status("failed", "none answered");
  return owed ? h("span", { class: "chip accent" }, `${owed} owed`) : status("done", "judged");
}
