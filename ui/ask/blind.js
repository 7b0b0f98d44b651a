// Answers without names: letters in an order that is drawn from the panel's id, until every one of them is judged.
import { letters } from "../owed/queue.js";
import { answered, finished } from "./panel.js";

/** Hide who sits where. @param {import("./panel.js").Panel} panel */
export function hide(panel) {
  const drawn = letters(panel.seats, panel.id);
  panel.seats = drawn.map(({ seat, letter }) => Object.assign(seat, { letter }));
  if (panel.merger) panel.merger.letter = "M";
  panel.blind = true;
}

/** Show the names; everybody stays where they sit. @param {import("./panel.js").Panel} panel */
export function show(panel) {
  for (const seat of [...panel.seats, ...(panel.merger ? [panel.merger] : [])]) delete seat.letter;
  panel.blind = false;
}

/** Has every answer a verdict? @param {import("./panel.js").Panel} panel */
export const judged = ({ seats }) =>
  seats.length > 0 &&
  seats.every(finished) &&
  seats.every((seat) => !answered(seat) || typeof seat.verdict?.useful === "boolean");
