// One connection on Quotas: how it stands, each of its windows, who rests, what was refused last.
import { meter } from "../access/meter.js";
import { strip } from "../chart/heat.js";
import { h, set } from "../dom.js";
import { button } from "../loading.js";
import { status } from "../seats.js";
import { ahead, count, distance, hour, money, plural, when } from "../words.js";

const ROWS = 8; // windows of one connection that stand there before somebody asks for all
const NAMED = 5; // models that rest, likewise
const NEAR = 0.8; // of a limit, from where on its figures warn
const WORD = {
  requests: "requests",
  tokens: "tokens",
  input_tokens: "input tokens",
  output_tokens: "output tokens",
  usd: "money",
};
const WINDOW = { second: "a second", minute: "a minute", hour: "an hour", day: "a day", month: "this month" };
const CAUSES = {
  window: "a limit was used up",
  concurrency: "too many calls at once",
  exhausted: "an allowance or credit was used up",
  too_large: "the call was larger than a window",
};
const STATES = { free: ["up", "free to send"], pacing: ["pacing", "pacing"], resting: ["resting", "resting"] };

/** @param {any} one a limit as the server tells it @returns {string} "requests a day", "money this month" */
export function whatOf({ metric, window, why }) {
  if (why) return "held back";
  if (metric === "concurrency") return "calls at once";
  if (window === "unknown") return `${WORD[metric]}, window unknown`;
  return `${WORD[metric] ?? metric} ${WINDOW[window] ?? `in ${window.replace(/s$/, " s")}`}`;
}

/** @param {any} one @returns {boolean} is nothing of it left? */
export const isSpent = ({ limit, remaining }) => remaining <= 0 && limit !== null;

/**
 * @param {any} connection
 * @param {{quotas: any[], resting: any[], now: number, first: boolean, chosen: boolean, address: string, act: (what: string, name: string) => void,
 *   tests: Map<string, string>, all: boolean, more: string}} on  now: ms at the server; act: rest, wake or probe; all: show every
 *   window; more: the address that does
 * @returns {HTMLElement}
 */
export function block(connection, { quotas, resting, now, first, chosen, address, act, tests, all, more }) {
  const { connection: name } = connection;
  return h(
    "section",
    { class: "card connection", "aria-label": name, "aria-current": chosen ? "true" : null },
    head(connection, now, address, act),
    quotas.length
      ? limits(connection, all ? quotas : quotas.slice(0, ROWS), now, first)
      : h("p", { class: "none" }, "No limits known. They are learned from the first replies that name one."),
    !all &&
      quotas.length > ROWS &&
      h(
        "p",
        { class: "foot-line" },
        h("a", { href: more, "data-go": true }, `Show all ${count(quotas.length)} windows`),
      ),
    connection.refused.hours.some(Boolean) &&
      h("div", { class: "narrow-strip" }, h("span", { class: "faint" }, "Refused, by hour"), refusals(connection)),
    below(connection, { resting, spent: quotas.some(isSpent), now, act, said: tests.get(name) }),
  );
}

function head(
  { connection: name, kind, models, price, state, held, next_at: next, in_use: busy, waiting },
  now,
  address,
  act,
) {
  const [mark, word] = STATES[state];
  const said =
    state === "pacing" && next
      ? `pacing, next slot in ${distance(next, now)}`
      : state === "resting" && next
        ? rests("resting", next, now)
        : word;
  const facts = [
    kind === "local" ? "this computer" : price === "mixed" ? "free and paid" : price,
    plural(models.length, "model"),
    busy > 0 && `${busy} in use`,
    waiting > 0 && `${plural(waiting, "call")} waiting`,
  ].filter(Boolean);
  return h(
    "header",
    {},
    h("h2", {}, h("a", { class: "open", href: address, "data-go": true, "data-focus": `${name} open` }, name)),
    status(mark, said),
    h("span", { class: "facts" }, facts.join(", ")),
    h(
      "span",
      { class: "row end", "data-who": "admin" },
      held && small("Wake", () => act("wake", name), name),
      models.length > 0 && small("Probe now", () => act("probe", name), name),
      h(
        "a",
        { class: "button quiet small", href: address, "data-go": true, "aria-label": `Set a limit of ${name}` },
        "Set a limit",
      ),
    ),
  );
}

const small = (word, run, name, look = "small") =>
  button(word, run, look, { "aria-label": `${word}: ${name}`, "data-focus": `${name} ${word}` });

function limits(connection, quotas, now, first) {
  const heads = ["Window", "Used", "Left", "Resets", "Known from", "Refused, by hour"];
  const classes = ["w-window", "w-used", "w-left", "w-resets", "w-from", "w-strip"];
  const cells = heads.map((word, i) =>
    h("th", { scope: "col", class: [classes[i], i === 2 && "right"].filter(Boolean).join(" ") }, word),
  );
  const rows = quotas.map((one) => row(one, now));
  rows[0].append(h("td", { class: "strip-cell", rowspan: rows.length }, refusals(connection)));
  const columns = h(
    "colgroup",
    {},
    classes.map((name) => h("col", { class: name })),
  );
  return h(
    "table",
    { class: "limits", "aria-label": `Limits of ${connection.connection}` },
    columns,
    h("thead", { class: first ? null : "hidden" }, h("tr", {}, cells)),
    h("tbody", {}, rows),
  );
}

function row(one, now) {
  const { metric, limit, used, remaining, model, model_id: id, forecast } = one;
  const figure = metric === "usd" ? dollars : count;
  const taken = limit === null ? null : limit - remaining;
  const tone = isSpent(one) || one.why ? "spent" : limit && remaining <= (1 - NEAR) * limit ? "near" : "";
  const bar = limit
    ? meter(taken, limit, forecast ? Math.max(0, Math.min(limit, forecast.by_reset) - taken) : 0)
    : null;
  const left =
    limit === null
      ? one.why
        ? "nothing goes out"
        : `${figure(remaining)} left`
      : `${figure(remaining)} of ${figure(limit)}`;
  const line = h(
    "tr",
    { class: tone || null },
    h("th", { scope: "row" }, whatOf(one), (model ?? id) && h("small", {}, model ?? id)),
    h("td", { class: "used-cell" }, bar ?? h("span", { class: "faint" }, one.why ?? "what is used is not known")),
    h("td", { class: "right" }, h("span", { class: "left-now" }, left)),
    h("td", { class: "resets-cell" }, resets(one, now)),
    h("td", { class: "from-cell" }, source(one, now), forecast && foretold(forecast, figure, now)),
  );
  if (bar) set(line.querySelector("th"), { title: used === null ? null : `${figure(used)} used by this bench` });
  return line;
}

// Limits in money are mostly whole.
const dollars = (usd) => money(usd).replace(/\.00$/, "");

function resets({ kind, window, reset_at: at }, now) {
  const flows = kind === "rolling" || kind === "bucket";
  if (window === "at-once") return "as calls end";
  if (!at) return flows ? "rolling" : h("span", { class: "unknown", title: "Its provider has not said" }, "unknown");
  return flows ? `rolling, ${distance(at, now)}` : ahead(at, now);
}

const SOURCES = { set: "set by you", headers: "reply header", error: "429 text", learned: "learned from a 429" };

function source({ source: from, observed_at: at, age_s: age }, now) {
  const heard = at && (age < 60 ? "now" : when(at, new Date(now)));
  return [SOURCES[from] ?? from, heard].filter(Boolean).join(", ");
}

// Where it will not last, that is the news; else what it will come to.
function foretold({ by_reset: amount, empty_at: empty }, figure, now) {
  if (empty) return h("small", { class: "warn" }, `at today's pace empty at ${whenShort(empty, now)}`);
  return h("small", {}, `${figure(amount)} by then at this pace`);
}

const whenShort = (at, now) => (Date.parse(at) - now < 72_000_000 ? hour(at) : when(at, new Date(now)));

function refusals({ connection: name, refused }) {
  const begin = Date.parse(refused.since);
  const names = refused.hours.map((_, i) => hour(begin + i * 3_600_000));
  return strip({ label: `What ${name} refused for want of room, by the hour`, counts: refused.hours, names });
}

function below({ connection: name, refused, why, state }, { resting, spent, now, act, said }) {
  const rows = [
    state !== "free" && why && !spent && h("li", {}, `It waits for this: ${why}.`),
    ...resting.slice(0, NAMED).map(({ model, until, why: reason }) =>
      h(
        "li",
        {},
        h("span", {}, h("b", {}, model), ` ${rests("rests", until, now)}: ${restsFor(reason)}.`),
        h(
          "span",
          { class: "row", "data-who": "admin" },
          small("Wake", () => act("wake", model), model, "quiet small"),
          small("Probe now", () => act("probe", model), model, "quiet small"),
        ),
      ),
    ),
    resting.length > NAMED && h("li", {}, `And ${count(resting.length - NAMED)} more.`),
    refused.last && h("li", { class: "last-refusal" }, lastRefusal(refused.last, now)),
    said && h("li", { class: "acted", role: "status" }, said),
  ].filter(Boolean);
  return rows.length ? h("ul", { class: "below", "data-connection": name }, rows) : null;
}

// "rests for 4 s", "rests until 03:57, in 60 min"
const rests = (verb, until, now) =>
  Date.parse(until) - now < 90_000 ? `${verb} for ${distance(until, now)}` : `${verb} until ${ahead(until, now)}`;

/** @param {string | null} why @returns {string} */
export const restsFor = (why) => (why === "asked" ? "you let it rest" : String(why ?? "unknown").replaceAll("_", " "));

function lastRefusal({ at, model_id: id, cause, status: code, limits: named, until }, now) {
  const what = named.map(({ metric, window, limit }) => `${limit ?? 0} ${whatOf({ metric, window })}`).join(", ");
  const whose = id ? `, ${id.slice(id.indexOf(":") + 1)}` : "";
  const again = until && Date.parse(until) > now ? ` Worth asking again ${ahead(until, now)}.` : "";
  return `Last refused ${when(at, new Date(now))}${whose} (${code}): ${CAUSES[cause] ?? cause}${what ? `, ${what}` : ""}.${again}`;
}
