// A panel as the page knows it: one value that events change while it is asked, or that a record fills afterwards.
import { Trouble } from "../api.js";
import { toUnits } from "../prose.js";
import { headline } from "../words.js";

/**
 * @typedef {{useful: boolean | null, best: boolean, allBad: boolean, note: string, by: string}} Verdict
 * @typedef {{quote: string, start: number, end: number, decision: "real" | "false" | null}} Claim  offsets in UTF-16 units
 * @typedef {{call: string, role: string, alias: string, id?: string, builtin: boolean, how: string, p: number | null, status: string,
 *   text: string, reasoning: string, began: number, seconds: number | null, first: number | null, error: string | null,
 *   message: string | null, tokens: {in?: number, out?: number, reasoning?: number, estimated?: boolean} | null,
 *   context?: number | null, letter?: string, again?: string,
 *   cost: number | null, servedBy: {provider?: string, fingerprint?: string} | null, finish: string | null,
 *   verdict: Verdict | null, claims: Claim[]}} Seat  `status`: waiting thinking writing pending, then a record's (ok cut error …)
 * @typedef {{id: string, collection: string, shape: string, reply: string, messages: object[] | null, task: string, seats: Seat[],
 *   skipped: {alias: string, why: string}[], merger: Seat | null, began: number, state: string,
 *   problem: Trouble | null, note: string, blind?: boolean, actions?: Node[]}} Panel  `state`: asking, answering, stopped, done,
 *   failed. A seat's `letter` stands for its name while that is hidden; `again` is the panel in which it was asked once more
 */

const PRACTICE = "practice:"; // the built-in endpoint: its models are programs, and records do not say it again

/** @returns {Verdict} */
export const noVerdict = () => ({ useful: null, best: false, allBad: false, note: "", by: "" });

/**
 * @param {{collection: string, reply: string, messages: object[], blind?: boolean}} question
 * @param {number} now ms
 * @returns {Panel}
 */
export function begin({ collection, reply, messages, blind = false }, now) {
  const task = titleOf(messages);
  return {
    id: "",
    collection,
    shape: "",
    reply,
    messages,
    task,
    seats: [],
    skipped: [],
    merger: null,
    began: now,
    state: "asking",
    problem: null,
    note: "",
    blind,
  };
}

function blankSeat(said, now) {
  const { call, seat: role, alias = "", model_id: id, how = "", p = null, context = null } = said;
  const builtin = said.builtin ?? Boolean(id?.startsWith(PRACTICE));
  return {
    call,
    role,
    alias,
    id,
    builtin,
    how,
    p,
    context,
    status: "waiting",
    text: "",
    reasoning: "",
    began: now,
    seconds: null,
    first: null,
    error: null,
    message: null,
    tokens: null,
    cost: null,
    servedBy: null,
    finish: null,
    verdict: null,
    claims: [],
  };
}

const EVENTS = {
  "panel.started"(panel, event, now) {
    const all = event.seats.map((seat) => blankSeat(seat, now));
    Object.assign(panel, {
      id: event.panel,
      shape: event.shape ?? "",
      reply: event.reply ?? panel.reply,
      skipped: event.skipped ?? [],
      state: "answering",
    });
    panel.seats = all.filter((seat) => seat.role !== "merger");
  },
  "seat.started": (panel, event, now) => change(panel, event, { began: now }),
  "seat.delta": (panel, event, now) => grow(find(panel, event), "text", "writing", event, now),
  "seat.reasoning": (panel, event, now) => grow(find(panel, event), "reasoning", "thinking", event, now),
  "seat.done": (panel, event) => change(panel, event, outcome(event)),
  "merge.reasoning": (panel, event, now) => grow(merging(panel, event, now), "reasoning", "thinking", event, now),
  "merge.delta": (panel, event, now) => grow(merging(panel, event, now), "text", "writing", event, now),
  "merge.done": (panel, event, now) => Object.assign(merging(panel, event, now), outcome(event)),
  "panel.done"(panel, event) {
    panel.state = "done";
    panel.note = event.bench?.note ?? "";
    leave(panel);
  },
  failed(panel, event) {
    panel.state = "failed";
    panel.problem = new Trouble(event.error?.message ?? "The panel failed.", {
      status: event.status,
      kind: event.error?.type,
    });
  },
};

/**
 * Let one event of the stream change the panel.
 * @param {Panel} panel
 * @param {{event: string, [name: string]: any}} event
 * @param {number} now ms
 */
export const hear = (panel, event, now) => void EVENTS[event.event]?.(panel, event, now);

/**
 * A seat is asked once more, in a panel of its own: what it said before is gone from the page, not from the record.
 * @param {Seat} seat
 * @param {any} said its place in the panel that has begun
 * @param {string} id of that panel
 * @param {number} now ms
 */
export function restart(seat, said, id, now) {
  const { role, how, letter, builtin } = seat;
  Object.assign(seat, blankSeat(said, now), { role, how, letter, builtin, again: id });
}

/**
 * Nobody listens any more: what has not finished goes on at the server.
 * @param {Panel} panel
 */
export function leave(panel) {
  for (const seat of [...panel.seats, panel.merger]) if (seat && !finished(seat)) seat.status = "pending";
}

const find = (panel, { call }) => panel.seats.find((seat) => seat.call === call);

const change = (panel, event, fields) => Object.assign(find(panel, event) ?? {}, fields);

function grow(seat, field, status, event, now) {
  if (!seat || seat.seconds !== null) return;
  seat[field] += event.text;
  seat.first ??= (now - seat.began) / 1000;
  seat.status = status;
}

function merging(panel, event, now) {
  panel.merger ??= blankSeat({ call: event.call, seat: "merger", alias: event.alias ?? "" }, now);
  if (event.alias) {
    const same = panel.seats.find(({ alias }) => alias === event.alias); // who merges mostly sits too, and looks the same
    Object.assign(panel.merger, { alias: event.alias, id: panel.merger.id ?? same?.id });
  }
  if (panel.blind) panel.merger.letter = "M";
  return panel.merger;
}

function outcome(said) {
  const fields = {
    status: said.status,
    seconds: said.seconds ?? 0,
    first: said.seconds_to_first ?? null,
    error: said.error ?? null,
    message: said.message ?? null,
    tokens: said.tokens ?? null,
    cost: said.cost ?? null,
    servedBy: said.served_by ?? null,
    finish: said.finish ?? null,
  };
  // The answer as the server keeps it wins over the pieces: offsets of claims count in it.
  if (typeof said.answer === "string" && ANSWERED.includes(said.status)) fields.text = said.answer;
  if (said.reasoning) fields.reasoning = said.reasoning;
  return fields;
}

const ANSWERED = ["ok", "cut"];

/** @param {Seat} seat */
export const finished = (seat) => !["waiting", "thinking", "writing"].includes(seat.status);

/** @param {Panel} panel @returns {number} seconds of its longest call: the same while it is watched and when it is read again */
export const tookOf = ({ seats, merger }) => Math.max(0, ...[...seats, merger].map((seat) => seat?.seconds ?? 0));

/** @param {Seat} seat */
export const answered = (seat) => ANSWERED.includes(seat.status);

/**
 * A panel from what the server keeps of it.
 * @param {any} said the reply of /api/panel/{id}
 * @returns {Panel}
 */
export function fromRecord(said) {
  const row = { ...said, ...(said.panel?.seats ? said.panel : {}) };
  const seats = (row.seats ?? []).map((seat) => stored(seat, said)).sort(bySeat);
  const messages = said.body?.messages ?? null;
  return {
    id: idOf(row),
    collection: row.collection ?? "",
    shape: row.shape ?? "",
    reply: row.reply ?? "all",
    messages,
    task: messages ? titleOf(messages) : titleIn(row.task),
    seats: seats.filter((seat) => seat.role !== "merger"),
    skipped: row.skipped ?? [],
    merger: seats.find((seat) => seat.role === "merger") ?? null,
    began: Date.parse(row.at),
    state: "done",
    problem: null,
    note: row.note ?? "",
  };
}

// Records list seats as they finished; the page lists them as they sat: members, then explorers, by number.
const bySeat = (a, b) =>
  Number(a.role !== "member") - Number(b.role !== "member") || a.call.localeCompare(b.call, "en", { numeric: true });

/** @param {any} row a row of /api/log or a record */
export const idOf = (row) => (typeof row.panel === "string" ? row.panel : row.id) ?? "";

function stored(said, { body, verdicts, claims }) {
  const seat = { ...blankSeat(said, 0), ...outcome(said) };
  seat.text = body?.answers?.[seat.call] ?? said.answer ?? "";
  seat.reasoning = body?.reasoning?.[seat.call] ?? "";
  seat.verdict = verdictOf(verdicts?.[seat.call] ?? said.verdict);
  seat.claims = (claims?.[seat.call] ?? []).filter((claim) => claim.decision).map((claim) => inUnits(claim, seat.text));
  return seat;
}

/**
 * @param {any} row a verdict as the server keeps it
 * @returns {Verdict | null}
 */
export function verdictOf(row) {
  if (!row || row.withdrawn) return null;
  const by = row.by === "local" ? "" : (row.by ?? ""); // where nobody signs in, everybody is the same person
  return {
    useful: row.useful ?? null,
    best: Boolean(row.best),
    allBad: Boolean(row.all_bad),
    note: row.note ?? "",
    by,
  };
}

/**
 * Do its words stand in the answer? An agent or the command line may put a claim in words of its own.
 * @param {{start: number, end: number}} claim
 * @returns {boolean}
 */
export const placed = ({ start, end }) => end > start;

// Records count characters; where the words do not stand there any more they are looked for.
function inUnits({ quote, start, end, decision }, text) {
  const at = toUnits(text, start);
  if (!quote || text.startsWith(quote, at)) return { quote, start: at, end: toUnits(text, end), decision };
  const found = text.indexOf(quote);
  return found < 0
    ? { quote, start: 0, end: 0, decision }
    : { quote, start: found, end: found + quote.length, decision };
}

/**
 * @param {object[]} messages
 * @returns {string} the last thing the user said, in text
 */
function questionOf(messages) {
  const last = messages.findLast((message) => message.role === "user");
  if (typeof last?.content === "string") return last.content;
  return (last?.content ?? [])
    .filter((part) => part.type === "text")
    .map((part) => part.text)
    .join("\n\n");
}

/**
 * @param {object[]} messages
 * @returns {string} one line that names the question
 */
const titleOf = (messages) => headline(questionOf(messages)) || "A question without words";

/**
 * A title from a record's task, which is one line of the first words, files and all: it ends where the files begin.
 * @param {string | null | undefined} task
 * @returns {string}
 */
export function titleIn(task) {
  const words = (task ?? "").replace(/^(?:File: \S+ )?(?:`{3,}|~{3,})\S* /, "");
  return words.split(/ (?:File: \S+ )?`{3}/)[0];
}

/**
 * @param {object[]} messages
 * @returns {{system: string, question: string, files: string[], images: string[]}} its parts, for reading
 */
export function partsOf(messages) {
  const question = questionOf(messages);
  const system = messages
    .filter((message) => message.role === "system" || message.role === "developer")
    .map((message) => String(message.content))
    .join("\n\n");
  const images = messages
    .flatMap((message) => (Array.isArray(message.content) ? message.content : []))
    .map((part) => part.image_url?.url)
    .filter(Boolean);
  return { system, question, files: [...question.matchAll(/^File: (.+)\n`{3,}/gm)].map((found) => found[1]), images };
}
