// Whose points a merged answer makes: each is looked for in the answers of the seats, by its words, and their glyphs stand behind
// it. What no seat said is said to be so: a merger may have made it up.
import { h } from "../dom.js";
import { glyph, nameOf } from "../seats.js";
import { breathing, likeness, points } from "./alike.js";
import { answered } from "./panel.js";

const SAYS = 0.42; // the share of words from which on a seat counts as saying it
const SHORT = 6; // words under which a point says too little to be looked for

/**
 * @param {import("./column.js").Column} merged
 * @param {import("./panel.js").Seat[]} seats
 * @param {(seat: import("./panel.js").Seat, point: {start: number, end: number}) => void} reveal
 */
export async function cite(merged, seats, reveal) {
  const { text } = merged.seat;
  const breath = breathing();
  const said = seats.filter(answered).map((seat) => ({ seat, made: points(seat.text) }));
  const cites = [];
  for (const point of points(text).filter(({ words }) => words.length >= SHORT)) {
    const found = said.map(({ seat, made }) => best(point, seat, made)).filter(({ like }) => like >= SAYS);
    cites.push({ start: point.start, end: point.end, node: marks(found, reveal) });
    await breath();
  }
  if (merged.seat.text === text) merged.prose.cite(cites);
}

function best(point, seat, made) {
  let found = { seat, like: 0, point: null };
  for (const each of made) {
    const like = likeness(point, each);
    if (like > found.like) found = { seat, like, point: each };
  }
  return found;
}

function marks(found, reveal) {
  if (!found.length) return h("span", { class: "cites none" }, "in no seat's answer");
  return h(
    "span",
    { class: "cites" },
    found.map(({ seat, point }) => {
      const words = `${nameOf(seat)} says this: show where`;
      const look = { type: "button", title: words, "aria-label": words, on: { click: () => reveal(seat, point) } };
      return h("button", look, glyph(seat));
    }),
  );
}
