// What can be done about one connection or a model of it: limits of your own, a rest, waking, a probe.
import { Trouble, post } from "../api.js";
import { announce, h } from "../dom.js";
import { field, form, input, numberOf, select } from "../form.js";
import { button } from "../loading.js";
import { failure } from "../notice.js";
import { count, money } from "../words.js";
import { whatOf } from "./block.js";

const LIMITS = [
  ["rpm", "requests a minute"],
  ["rpd", "requests a day"],
  ["rpmo", "requests a month"],
  ["rps", "requests a second"],
  ["rph", "requests an hour"],
  ["tpm", "tokens a minute"],
  ["tpd", "tokens a day"],
  ["tpmo", "tokens a month"],
  ["tph", "tokens an hour"],
  ["itpm", "input tokens a minute"],
  ["otpm", "output tokens a minute"],
  ["concurrency", "calls at once"],
  ["usd_day", "USD a day"],
  ["usd_month", "USD a month"],
];
const METRICS = { requests: "rp", tokens: "tp", input_tokens: "itp", output_tokens: "otp" };
const WINDOWS = { second: "s", minute: "m", hour: "h", day: "d", month: "mo" };
const TIMES = [
  ["30m", "30 minutes"],
  ["2h", "2 hours"],
  ["6h", "6 hours"],
  ["1d", "a day"],
  ["7d", "a week"],
];

/** @param {any} one a limit as the server tells it @returns {string} how it is called when it is set: rpm */
export function wordOf({ metric, window }) {
  if (metric === "concurrency") return metric;
  return metric === "usd" ? `usd_${window}` : METRICS[metric] + WINDOWS[window];
}

/**
 * @param {any} connection
 * @param {{quotas: any[], model: string, close: string, choose: (model: string) => void, done: () => void,
 *   act: (what: string, name: string) => void}} how  model: "" for the whole connection
 * @returns {HTMLElement}
 */
export function drawer(connection, { quotas, model, close, choose, done, act }) {
  const name = model || connection.connection;
  const who = select(
    "who",
    [["", `all of ${connection.connection}`], ...connection.models.map((alias) => [alias, alias])],
    model,
    { on: { change: () => choose(who.value) } },
  );
  return h(
    "section",
    { class: "card drawer", "aria-label": `Limits of ${name}` },
    h(
      "header",
      {},
      h("h2", {}, connection.connection),
      h("a", { class: "button quiet small end", href: close, "data-go": true }, "Close", h("kbd", {}, "Esc")),
    ),
    h(
      "div",
      { class: "pad stack" },
      field("For", who),
      h(
        "div",
        { class: "stack", "data-who": "admin" },
        own(
          name,
          quotas.filter((one) => (one.model ?? "") === model),
          done,
        ),
        rest(name, done),
      ),
      h(
        "div",
        { class: "row wrap", "data-who": "admin" },
        button("Wake", () => act("wake", name), "small"),
        button("Probe now", () => act("probe", name), "small"),
      ),
      h(
        "p",
        { class: "faint", "data-who": "admin" },
        "A probe is one small question: it counts and costs like any call. Who answers it is awake again.",
      ),
    ),
  );
}

function own(name, quotas, done) {
  const mine = quotas.filter(({ source }) => source === "set");
  const trouble = h("div", { hidden: true });
  const change = async (word, value, said) => {
    await post("/api/connection-limits", { connection: name, limits: { [word]: value } });
    announce(`${name}: ${said}`);
    done();
  };
  const remove = async (one) => {
    try {
      await change(wordOf(one), null, "the limit is gone");
    } catch (problem) {
      trouble.replaceChildren(failure(problem));
      trouble.hidden = false;
    }
  };
  const listed = mine.map((one) =>
    h(
      "li",
      {},
      h("span", {}, `${one.metric === "usd" ? money(one.limit) : count(one.limit)} ${whatOf(one)}`),
      button("Remove", () => remove(one), "quiet small end", { "aria-label": `Remove the limit ${whatOf(one)}` }),
    ),
  );
  const kind = select("limit", LIMITS, "rpm");
  const set = form({
    label: `Set a limit of ${name}`,
    action: "Set the limit",
    fields: [
      h("div", { class: "two" }, field("At most", input("amount", "", { inputmode: "decimal" })), field("Of", kind)),
    ],
    send: async ({ elements }) => {
      const amount = numberOf(elements.namedItem("amount").value);
      if (!(amount > 0)) throw new Trouble("Give a number above zero, such as 30.", { param: "amount" });
      await change(kind.value, amount, "the limit holds from now on");
    },
  });
  return h(
    "div",
    { class: "stack" },
    h("h3", {}, "Limits you set"),
    listed.length
      ? h("ul", { class: "own-limits" }, listed)
      : h("p", { class: "faint" }, `None of your own for ${name}. Yours go before what its provider says.`),
    trouble,
    set,
  );
}

function rest(name, done) {
  const node = form({
    label: `Let ${name} rest`,
    action: "Let it rest",
    fields: [
      h("h3", {}, "Rest"),
      field(
        "For how long",
        select("for", TIMES, "2h"),
        "Nothing goes out to it until then; others are chosen before it.",
      ),
    ],
    send: async ({ elements }) => {
      await post("/api/rest", { name, for: elements.namedItem("for").value });
      announce(`${name} rests`);
      done();
    },
  });
  node.querySelector("[type=submit]").classList.remove("primary"); // one primary a view
  return node;
}
