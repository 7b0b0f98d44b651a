// One model: its record first, then what is known of it, then what may be changed.
import { post } from "../api.js";
import { whisker } from "../chart.js";
import { announce, h } from "../dom.js";
import { check, confirm, field, form, input, numberOf, select } from "../form.js";
import { button } from "../loading.js";
import { failure } from "../notice.js";
import { seat as seatName, status } from "../seats.js";
import { pairs } from "../table.js";
import { EARLY, share, when } from "../words.js";

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
  if (until) return status("cut", `rests until ${when(until)}`);
  return last ? status("done", "up") : h("span", { class: "faint" }, "not asked yet");
}

/**
 * @param {any} model
 * @param {any[] | null} places collections it is a member of; null: not known
 * @param {{close: string, done: (alias?: string) => void}} how  done: it was changed, and has this name now ("" when it is gone)
 * @returns {HTMLElement}
 */
export function drawer(model, places, { close, done }) {
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
      recordOf(model),
      about(model, places),
      retired ? back(model, done) : builtin ? null : change(model, done),
    ),
  );
}

function recordOf({ alias, record }) {
  const all = h("a", { href: `/panels?model=${encodeURIComponent(alias)}`, "data-go": true }, "Its panels");
  if (!record.judged) return h("p", {}, "Not judged yet. ", all);
  return h(
    "div",
    {},
    h("p", {}, "Useful ", h("b", {}, share(record)), ". ", all),
    h("div", { class: "wide-whisker" }, whisker(record, EARLY)),
  );
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
    model.resting_why && ["Rests", String(model.resting_why).replaceAll("_", " ")],
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
