// One model: its record first, then what is known of it, then what may be changed.
import { get, post } from "../api.js";
import { whisker } from "../chart.js";
import { announce, h } from "../dom.js";
import { area } from "../chart/area.js";
import { check, confirm, field, form, input, numberOf, select } from "../form.js";
import { button } from "../loading.js";
import { failure } from "../notice.js";
import { restsFor } from "../quotas/block.js";
import { seat as seatName, status } from "../seats.js";
import { pairs } from "../table.js";
import { eachOf } from "../usage/figures.js";
import { EARLY, plural, seconds, share, when } from "../words.js";

const ROLES = ["general", "code", "light", "vision", "image", "decision"];
const KNOWN = [
  ["", "unknown"],
  ["yes", "yes"],
  ["no", "no"],
];

/** @param {any} model @returns {Node} how it is today, as a mark and a word */
export function stateOf({ resting_until: until, failing, retired, last_answered_at: last }) {
  if (retired) return h("span", { class: "status" }, "retired");
  if (failing) return status("failed", "failing");
  if (until) return status("resting", `rests until ${when(until)}`);
  return last ? status("done", "up") : h("span", { class: "faint" }, "no answer yet");
}

/**
 * @param {any} model
 * @param {any[] | null} places collections it is a member of; null: not known
 * @param {{close: string, done: (alias?: string) => void, speed?: any, worth?: any}} how  done: it was changed, and has this name
 *   now ("" when it is gone); speed, worth: what is known of it, if anything is
 * @returns {HTMLElement}
 */
export function drawer(model, places, { close, done, speed, worth }) {
  const { alias, model_id: id, builtin, retired } = model;
  return h(
    "section",
    { class: "card drawer", "aria-label": alias },
    h(
      "header",
      {},
      h("h2", {}, seatName({ alias, id })),
      stateOf(model),
      h("a", { class: "button quiet small end", href: close, "data-go": true }, "Close", h("kbd", {}, "Esc")),
    ),
    h(
      "div",
      { class: "pad stack" },
      recordOf(model, worth),
      speed && speedOf(model.alias, speed),
      about(model, places),
      retired ? back(model, done) : builtin ? null : change(model, done),
    ),
  );
}

// The course over time comes by itself; the figures do not wait for it.
function speedOf(alias, { calls, first, whole }) {
  const place = h("div", {});
  get(`/api/models/speed?model=${encodeURIComponent(alias)}`).then(
    ({ course }) => {
      if (course?.p50.some((value) => value !== null)) place.append(drawnSpeed(course));
    },
    () => {},
  ); // the figures stand without it
  const said = (value, over) => (value === null ? "unknown" : `${over ? "over " : ""}${seconds(value)}`);
  return h(
    "div",
    { class: "stack" },
    h("h3", {}, "Speed"),
    pairs([
      ["First token", `p50 ${said(first.p50)}, p95 ${said(first.p95)}`],
      ["Answer", `p50 ${said(whole.p50, whole.p50_at_least)}, p95 ${said(whole.p95, whole.p95_at_least)}`],
      ["Of", `${plural(calls, "call")} among the bench's latest 2,000`],
    ]),
    place,
  );
}

const drawnSpeed = ({ at, step_s: step, p50, p95 }) =>
  area({
    title: "Seconds to the last token",
    note: "gaps: fewer than three calls",
    label: "Seconds to the last token over time",
    at,
    step,
    low: p50,
    high: p95,
    format: (n) => `${Number(n.toPrecision(3))} s`,
  });

function recordOf({ alias, record }, worth) {
  const all = h("a", { href: `/panels?model=${encodeURIComponent(alias)}`, "data-go": true }, "Its panels");
  if (!record.judged) return h("p", {}, "Not judged yet. ", all);
  return h(
    "div",
    {},
    h("p", {}, "Useful ", h("b", {}, share(record)), ". ", all),
    h("div", { class: "wide-whisker" }, whisker(record, EARLY)),
    worth && pairs(costs(worth)),
  );
}

// What 90 days came to.
function costs({ each_useful: useful, each_real: real, real: found, false: wrong, looked_at: looked }) {
  const said = (each) => {
    const { figure, range } = eachOf(each, "Nobody judged it in 90 days, or its price is not known");
    return [figure, range && ` (${range})`];
  };
  return [
    looked > 0 && ["Claims", `${found} real, ${wrong} false, in ${plural(looked, "answer")}`],
    ["Each useful", said(useful)],
    ["Each finding", said(real)],
  ];
}

const yes = (value) => (value === null || value === undefined ? "unknown" : value ? "yes" : "no");

function about(model, places) {
  const { endpoint, served, role, context, max_output: most, tools, vision, reasoning, price, failing } = model;
  const links = places?.map(({ name }, i) => [
    i ? ", " : "",
    h("a", { href: `/collections?collection=${encodeURIComponent(name)}`, "data-go": true }, `bench/${name}`),
  ]);
  return pairs([
    model.description && ["About", model.description],
    failing && ["Fails", String(failing)],
    model.resting_why && ["Rests", [restsFor(model.resting_why), ". ", limitsOf(model, "Wake or probe it")]],
    !model.builtin && ["Limits", limitsOf(model, "Limits and rests")],
    ["Endpoint", h("a", { href: `/endpoints?endpoint=${encodeURIComponent(endpoint)}`, "data-go": true }, endpoint)],
    ["Served as", h("code", {}, served)],
    ["Role", role],
    places && ["Sits in", links.length ? links : "no collection"],
    ["Explores", model.in_pool ? "yes" : model.ad_hoc ? "no, only when it is named" : "no"],
    ["Reads", context ? `${context.toLocaleString("en-US")} tokens` : "unknown"],
    ["Writes", most ? `${most.toLocaleString("en-US")} tokens at most` : "unknown"],
    ["Can", `tools ${yes(tools)}, pictures ${yes(vision)}, reasoning ${yes(reasoning)}`],
    [
      "Price",
      price
        ? `${said(price.input)} in, ${said(price.output)} out, a million tokens (by ${price.source || "you"})`
        : "unknown",
    ],
    ["Last answer", model.last_answered_at ? when(model.last_answered_at) : "none yet"],
  ]);
}

const limitsOf = ({ endpoint, alias }, words) =>
  h("a", { href: `/quotas?${new URLSearchParams({ connection: endpoint, model: alias })}`, "data-go": true }, words);

const said = (usd) => (typeof usd === "number" ? `$${usd}` : "unknown");

function change(model, done) {
  const { alias, role, tools, vision, reasoning, context, max_output: most, price, ad_hoc: adHoc } = model;
  const word = (value) => (value === null || value === undefined ? "" : value ? "yes" : "no");
  const number = (name, value) => input(name, value, { inputmode: "decimal" });
  const edit = form({
    label: `Change ${alias}`,
    action: "Save",
    fields: [
      field("Name", input("rename", alias)),
      field(
        "Role",
        select(
          "role",
          ROLES.map((each) => [each, each]),
          role,
        ),
      ),
      h(
        "div",
        { class: "three" },
        field("Tools", select("tools", KNOWN, word(tools))),
        field("Pictures", select("vision", KNOWN, word(vision))),
        field("Reasoning", select("reasoning", KNOWN, word(reasoning))),
      ),
      h(
        "div",
        { class: "two" },
        field("Reads, tokens", number("context", context)),
        field("Writes at most", number("max_output", most)),
      ),
      h(
        "div",
        { class: "two" },
        field("Price in, $ a million", number("input", price?.input)),
        field("Price out", number("output", price?.output)),
      ),
      check("ad_hoc", "Only when it is named: never explores", adHoc),
    ],
    send: (node) => save(node, model, done),
    beside: [button("Retire…", () => retire(model, done, edit), "quiet danger-text end")],
  });
  return h("details", { class: "edit" }, h("summary", {}, "Change or retire it"), edit);
}

// Only what differs is sent: what a catalog knows stays the catalog's word.
async function save({ elements }, model, done) {
  const text = (name) => elements.namedItem(name).value;
  const wanted = {
    role: text("role"),
    tools: KNOWN_VALUES[text("tools")],
    vision: KNOWN_VALUES[text("vision")],
    reasoning: KNOWN_VALUES[text("reasoning")],
    context: numberOf(text("context")),
    max_output: numberOf(text("max_output")),
    ad_hoc: elements.namedItem("ad_hoc").checked,
  };
  const body = Object.fromEntries(
    Object.entries(wanted).filter(([name, value]) => value !== (model[name] ?? (name === "ad_hoc" ? false : null))),
  );
  const [paid, out] = [numberOf(text("input")), numberOf(text("output"))];
  const before = model.price ?? {};
  if (paid !== (before.input ?? null) || out !== (before.output ?? null))
    body.price = paid === null && out === null ? null : { input: paid, output: out };
  const name = text("rename").trim();
  if (name !== model.alias) body.rename = name;
  if (!Object.keys(body).length) return announce("Nothing was changed.");
  await post("/api/model", { alias: model.alias, ...body });
  announce(`${name}: saved`);
  done(name);
}

const KNOWN_VALUES = { "": null, yes: true, no: false };

async function retire(model, done, edit) {
  const sure = await confirm({
    title: `Retire ${model.alias}?`,
    words: "It leaves every collection. Its record stays, and it can be brought back.",
    action: "Retire",
  });
  if (!sure) return;
  try {
    await post("/api/remove", { alias: model.alias, reason: "" });
    announce(`${model.alias} is retired`);
    done("");
  } catch (problem) {
    edit.prepend(failure(problem));
  }
}

function back(model, done) {
  const restore = async () => {
    try {
      await post("/api/restore", { alias: model.alias });
      announce(`${model.alias} is back`);
      done(model.alias);
    } catch (problem) {
      node.prepend(failure(problem));
    }
  };
  const { reason, at } = model.retired ?? {};
  const node = h(
    "div",
    { class: "stack" },
    h("p", {}, `Retired${at ? ` ${when(at)}` : ""}${reason ? `: ${reason}` : ""}.`),
    h("div", { "data-who": "admin" }, button("Bring it back", restore, "primary")),
  );
  return node;
}
