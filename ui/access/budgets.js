// What may be spent: by the whole bench, by each collection, by each key; and the form that says so.
import { post } from "../api.js";
import { announce, h } from "../dom.js";
import { field, form, select } from "../form.js";
import { table } from "../table.js";
import { money, plural, when } from "../words.js";
import { budgetFields, budgetIn } from "./limits.js";
import { meter } from "./meter.js";
import { PERIODS, spent } from "./words.js";

/** @param {string} subject "bench", "collection:review" or "key:ci" @returns {string} */
export const nameOf = (subject) => (subject === "bench" ? "The whole bench" : subject.replace(":", " "));

/** @param {string} subject @returns {string} where it is changed: a key's budget stands with the key */
const placeOf = (subject) =>
  subject.startsWith("key:")
    ? `/keys?key=${encodeURIComponent(subject.slice(4))}`
    : `/keys?budget=${encodeURIComponent(subject)}`;

/**
 * @param {Record<string, any>} budgets by subject
 * @param {string | null} chosen
 * @returns {HTMLElement}
 */
export const budgetTable = (budgets, chosen) =>
  table({
    label: "Budgets",
    columns: [
      {
        name: "subject",
        title: "Of",
        head: true,
        cell: ([subject]) => h("a", { href: placeOf(subject), "data-go": true }, nameOf(subject)),
      },
      { name: "budget", title: "Spent", phone: true, cell: ([, each]) => used(each) },
      { name: "left", title: "Left", phone: true, right: true, cell: ([, each]) => lines(each, left) },
      {
        name: "renews",
        title: "Renews",
        cell: ([, each]) => lines(each, ({ renews }) => (renews ? when(renews) : "never")),
      },
      { name: "unknown", title: "Unknown cost", cell: ([, each]) => unknownCost(each) },
    ],
    rows: Object.entries(budgets),
    chosen: ([subject]) => subject === chosen,
  });

function used({ periods, spent: so }) {
  if (!periods.length)
    return h(
      "span",
      { class: "faint" },
      `no limit; ${so.unknown_calls ? "known: " : ""}${money(so.day_usd)} today, ${money(so.month_usd)} this month`,
    );
  return h(
    "span",
    { class: "meters" },
    periods.map((each) => [
      meter(each.spent_usd, each.limit_usd, each.held_usd),
      h("span", {}, spent(each), each.held_usd > 0 && `, ${money(each.held_usd)} set aside`),
    ]),
  );
}

const left = ({ left_usd: usd }) => (usd > 0 ? money(usd) : "none");
const lines = ({ periods }, draw) => periods.map((each) => h("div", {}, draw(each)));

const unknownCost = ({ periods, unknown_cost: rule, spent: { unknown_calls: calls } }) => [
  periods.length > 0 && (rule === "allow" ? "calls are made" : "calls are refused"),
  calls > 0 && h("small", {}, `${plural(calls, "call")} so far`),
];

/**
 * @param {string} subject "bench", "collection:review", or "" for one that has none yet
 * @param {Record<string, any>} budgets
 * @param {string[]} collections
 * @param {() => void} done
 * @returns {HTMLElement}
 */
export function budgetDrawer(subject, budgets, collections, done) {
  const standing = budgets[subject];
  const free = collections.map((name) => `collection:${name}`).filter((name) => !budgets[name]);
  const whose = select(
    "subject",
    (subject ? [subject] : free).map((each) => [each, nameOf(each)]),
    subject || free[0],
  );
  const limits = Object.fromEntries((standing?.periods ?? []).map((each) => [each.period, each.limit_usd]));
  const node = form({
    label: "Budget",
    action: "Save",
    fields: [!subject && field("Of", whose), ...budgetFields(limits, standing?.unknown_cost)],
    send: async (sent) => {
      const of = subject || whose.value;
      const [kind, name] = of.split(/:(.*)/s);
      await post("/api/budget", { ...budgetIn(sent), ...(kind === "bench" ? {} : { [kind]: name }) });
      announce(`Budget of ${nameOf(of)}: saved`);
      done();
    },
  });
  const title = subject ? `Budget: ${nameOf(subject)}` : "New budget";
  return h(
    "section",
    { class: "card drawer", "aria-label": title },
    h(
      "header",
      {},
      h("h2", {}, title),
      h("a", { class: "button quiet small end", href: "/keys", "data-go": true }, "Close", h("kbd", {}, "Esc")),
    ),
    h(
      "div",
      { class: "pad stack" },
      h(
        "p",
        { class: "faint" },
        `USD for ${Object.keys(PERIODS).join(", ")}. Empty fields are no limit; all empty: no budget.`,
      ),
      node,
    ),
  );
}
