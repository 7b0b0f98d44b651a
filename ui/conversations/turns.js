// The turns of a conversation, one row each; a turn's own record opens under it.
import { h } from "../dom.js";
import { seat as seatName, status } from "../seats.js";
import { count, plural, seconds, sentence, when } from "../words.js";

// How a turn's model came to be asked, in the server's words -> in ours.
const HOW = {
  new: "A new conversation: it was chosen by its record.",
  moved: "Whoever had it cannot take this turn: the next was chosen by its record.",
  sticky: "It answered the turn before, so it stays: what it has read is in its provider's cache.",
};
const WORKED = ["ok", "cut", "refused"];

export class Turns {
  /** @param {any[]} turns oldest first */
  constructor(turns) {
    this.root = h(
      "section",
      { class: "card", "aria-labelledby": "turns" },
      h(
        "header",
        {},
        h("h3", { id: "turns" }, "Turns"),
        h("span", { class: "faint" }, "who was asked, who was passed over and why"),
      ),
      h("ol", { class: "turns" }, turns.map(turnRow)),
    );
  }
}

function turnRow(turn) {
  const good = WORKED.includes(turn.status);
  const overs = turn.failed_over ?? [];
  const state = good
    ? status("done", turn.status === "ok" ? "answered" : turn.status)
    : status("failed", turn.error ?? turn.status);
  return h(
    "li",
    {},
    h(
      "details",
      { class: "fold", open: overs.length > 0 || !good },
      h(
        "summary",
        {},
        h("b", {}, `Turn ${turn.turn}`),
        seatName({ alias: turn.model, id: turn.model_id, failed: !good }),
        state,
        h(
          "span",
          { class: "faint end" },
          [
            when(turn.at),
            seconds(turn.seconds ?? 0),
            tokensOf(turn),
            turn.tool_calls ? plural(turn.tool_calls, "tool call") : "",
          ]
            .filter(Boolean)
            .join(", "),
        ),
      ),
      h("div", { class: "pad turn-body" }, lines(turn)),
    ),
  );
}

const tokensOf = ({ in: read, out }) => (typeof out === "number" ? `${count(read ?? 0)} in, ${count(out)} out` : "");

function lines(turn) {
  const overs = turn.failed_over ?? [];
  const said = overs.map(({ alias, error, message }) =>
    h(
      "p",
      {},
      h("b", {}, alias),
      ` failed (${error}) before a word was sent${message ? `: ${sentence(message)}` : "."}`,
    ),
  );
  const after =
    overs.length && WORKED.includes(turn.status)
      ? h("p", {}, "The turn went to ", h("b", {}, turn.model), ". The caller saw one answer and no error.")
      : null;
  const how = !overs.length && h("p", {}, HOW[turn.how] ?? `Asked as ${turn.how}.`);
  return [turn.task && h("p", { class: "asked-line" }, turn.task), said, after, how, places(turn), skipped(turn)];
}

// Whom the policy put in which place, when it was asked at all.
function places({ decision, model }) {
  if (!decision?.ranked) return null;
  const known = new Map(decision.candidates.map((each) => [each.alias, each]));
  const rows = decision.ranked.map((alias, i) => {
    const { p = 0, value } = decision.why?.[alias] ?? {};
    const { rests, model_id: id } = known.get(alias) ?? {};
    return h(
      "tr",
      { class: alias === model ? "sat" : null },
      h("th", { scope: "row" }, seatName({ alias, id, role: rests ? "off" : "member" })),
      h("td", {}, rests ? (rests.why ?? "rests") : i === 0 ? "leads" : `place ${i + 1}`),
      h("td", {}, `${Math.round(p * 100)} %`),
      h("td", {}, judgedOf(decision.why?.[alias])),
      h("td", { class: "wide-only" }, typeof value === "number" ? value.toFixed(2) : ""),
    );
  });
  const head = ["Could answer", "Standing", "Chance", "Record"].map((word) => h("th", { scope: "col" }, word));
  return h(
    "table",
    { class: "plain", "aria-label": "Who could answer" },
    h(
      "thead",
      {},
      h("tr", {}, head, h("th", { scope: "col", class: "wide-only" }, "Value with the benefit of the doubt")),
    ),
    h("tbody", {}, rows),
  );
}

// The record counts in faded verdicts, so their number need not be whole.
const judgedOf = ({ n = 0, rate = 0 } = {}) =>
  n ? `${Math.round(rate * 100)} % useful of ${Math.round(n * 10) / 10}` : "not judged yet";

function skipped({ skipped: left = [], decision }) {
  const whys = new Map((decision?.excluded ?? []).map(({ alias, reason }) => [alias, reason]));
  for (const { alias, why } of left) whys.set(alias, why);
  if (!whys.size) return null;
  return h(
    "div",
    {},
    h("h4", {}, "Passed over"),
    h(
      "ul",
      { class: "left-out" },
      [...whys].map(([alias, why]) => h("li", {}, seatName({ alias, role: "off" }), h("span", {}, why))),
    ),
  );
}
