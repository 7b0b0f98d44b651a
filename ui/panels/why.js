// Why each seat sat: the decision that was kept with the panel, in sentences first and in its figures after.
import { get } from "../api.js";
import { announce, h } from "../dom.js";
import { failure } from "../notice.js";
import { seat as seatName } from "../seats.js";
import { plural } from "../words.js";

const percent = (p) => `${Math.round(p * 100)} %`;

// How an explorer came to its seat, in the policy's words -> in ours.
const HOW = {
  asked: () => "was asked for by name.",
  rotation: ({ waited }) =>
    `had its turn: nobody's last answer is older${waited ? `, and it had waited for ${plural(waited, "panel")}` : ""}.`,
};

/**
 * @param {any} row a panel's row, with its decision
 * @returns {HTMLElement}
 */
export function why(row) {
  const { decision } = row;
  const members = (row.seats ?? []).filter(({ seat }) => seat === "member");
  return h(
    "section",
    { class: "card", "aria-labelledby": "why" },
    h(
      "header",
      {},
      h("h3", { id: "why" }, "Why these seats"),
      decision && h("span", { class: "faint end" }, `policy ${decision.policy}, seed ${decision.seed}`),
    ),
    h(
      "div",
      { class: "pad stack" },
      h(
        "ul",
        { class: "reasons" },
        members.length > 0 && h("li", {}, membersSaid(members, row.collection)),
        (decision?.seats ?? []).map(explorer),
      ),
      !decision && h("p", { class: "faint" }, "Nobody explored, so nothing was decided."),
      decision?.candidates?.length > 0 && considered(decision),
      left(row),
      decision?.candidates?.length > 0 && again(row),
    ),
  );
}

const membersSaid = (members, collection) => [
  h("b", {}, members.map(({ alias }) => alias).join(", ")),
  ` ${members.length === 1 ? "sits" : "sit"} in every panel of bench/${collection}.`,
];

function explorer(seat) {
  const { alias, how, p, expected_new: expected, leader } = seat;
  const said = HOW[how]?.(seat) ?? `was seated by ${how}.`;
  const chance = typeof p === "number" && p < 1 ? ` Its chance was ${percent(p)}.` : "";
  const more = typeof expected === "number" ? ` Expected new findings: ${expected.toFixed(2)}.` : "";
  const over = leader && leader !== alias ? ` ${leader} was expected to find most.` : "";
  return h("li", {}, h("b", {}, alias), " explored: it ", said, chance, more, over);
}

function considered({ candidates, seats = [] }) {
  const sat = new Set(seats.map(({ alias }) => alias));
  const judged = candidates.some(({ E }) => typeof E === "number");
  const head = ["Could explore", "Waited", judged && "Expects new", judged && "Judged"].filter(Boolean);
  const rows = candidates.map(({ alias, model_id: id, wait, E, n }) =>
    h(
      "tr",
      { class: sat.has(alias) ? "sat" : null },
      h(
        "th",
        { scope: "row" },
        seatName({ alias, id, role: "explorer" }),
        sat.has(alias) && h("span", { class: "chip" }, "sat"),
      ),
      h("td", {}, plural(wait ?? 0, "panel")),
      judged && h("td", {}, typeof E === "number" ? E.toFixed(2) : "unknown"),
      judged && h("td", {}, typeof n === "number" ? String(Math.round(n * 10) / 10) : "none"),
    ),
  );
  return h(
    "table",
    { class: "plain", "aria-label": "Who could explore" },
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        head.map((word) => h("th", { scope: "col" }, word)),
      ),
    ),
    h("tbody", {}, rows),
  );
}

// The same decision once more, for what it would have come to: asked of the server, which asks nobody.
function again({ panel: id, decision }) {
  const said = h("div", { class: "stack decided", "aria-live": "polite" });
  const ask = async (query, words) => {
    try {
      const told = await get(`/api/panel/decide?panel=${encodeURIComponent(id)}${query}`);
      said.replaceChildren(...outcome(told, words));
      announce(said.firstChild.textContent);
    } catch (problem) {
      said.replaceChildren(failure(problem));
    }
  };
  const sat = (decision.seats ?? []).filter(({ how }) => how !== "asked");
  const today = h(
    "button",
    { type: "button", class: "button", on: { click: () => ask("&today=1", "With today's record") } },
    "Decide again with today's record",
  );
  const without = sat.map(({ alias }) =>
    h(
      "button",
      {
        type: "button",
        class: "button quiet",
        on: { click: () => ask(`&without=${encodeURIComponent(alias)}`, `Had ${alias} not sat`) },
      },
      `What if ${alias} had not sat?`,
    ),
  );
  return h("div", { class: "stack" }, h("div", { class: "row wrap" }, today, without), said);
}

function outcome({ before, after, candidates, gone, policy, was, seed }, words) {
  const names = (seats) => seats.map(({ alias }) => alias).join(", ");
  const same = names(before) === names(after);
  const who = after.length ? h("b", {}, names(after)) : "nobody";
  const verdict = same
    ? [`${words} it is the same: `, who, after.length > 1 ? " explore." : " explores."]
    : [`${words}, `, who, ` would explore instead of ${names(before) || "nobody"}.`];
  const notes = [
    gone.length > 0 && `${gone.join(", ")} left the bench since.`,
    policy !== was && `It was decided by ${was} then; this is ${policy}.`,
    `Drawn with the same seed, ${seed}, from ${plural(candidates.length, "model")}. Nobody was asked.`,
  ].filter(Boolean);
  const rows = after.map((seat) => explorer(seat));
  return [
    h("p", { class: "verdict-said" }, verdict),
    rows.length > 0 && !same ? h("ul", { class: "reasons" }, rows) : "",
    h("p", { class: "faint" }, notes.join(" ")),
  ];
}

function left({ skipped = [], decision }) {
  const whys = new Map(
    (decision?.excluded ?? [])
      .filter(({ reason }) => reason !== "sits already")
      .map(({ alias, reason }) => [alias, reason]),
  );
  for (const { alias, why: said } of skipped) whys.set(alias, said);
  if (!whys.size) return null;
  const rows = [...whys].map(([alias, said]) => h("li", {}, seatName({ alias, role: "off" }), h("span", {}, said)));
  return h("div", {}, h("h4", {}, "Not considered"), h("ul", { class: "left-out" }, rows));
}
