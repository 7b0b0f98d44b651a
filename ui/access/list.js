// The gateway keys: a table whose rows open, and above it the one that was just made, shown once.
import { copyButton, h } from "../dom.js";
import { notice } from "../notice.js";
import { table } from "../table.js";
import { when } from "../words.js";
import { meter } from "./meter.js";
import { day, pace, scope, spent, state, used } from "./words.js";

/** @param {string} name @returns {string} the address that opens a key */
export const placeOf = (name) => `/keys?key=${encodeURIComponent(name)}`;

/**
 * @param {any[]} keys
 * @param {{chosen: string | null, month: Map<string, any> | null}} look  month: what each used in 30 days; null: not known
 * @returns {HTMLElement}
 */
export const keyTable = (keys, { chosen, month }) =>
  table({
    label: "Gateway keys",
    columns: [
      { name: "key", title: "Name", head: true, cell: named },
      { name: "prefix", title: "Starts with", cell: ({ prefix }) => h("code", {}, prefix) },
      { name: "scope", title: "May ask", phone: true, cell: (key) => h("span", { class: "clip" }, scope(key)) },
      { name: "pace", title: "A minute", cell: (key) => pace(key) || faint("no limit") },
      { name: "budget", title: "Budget", phone: true, cell: (key) => budgets(key) },
      { name: "month", title: "30 days", right: true, cell: ({ name }) => (month ? used(month.get(name)) : unknown()) },
      {
        name: "used",
        title: "Last used",
        phone: true,
        cell: ({ last_used: at }) => (at ? when(at) : faint("never used")),
      },
      { name: "made", title: "Made", cell: made },
    ],
    rows: keys,
    chosen: ({ name }) => name === chosen,
  });

const faint = (words) => h("span", { class: "faint" }, words);
const unknown = () => h("span", { class: "unknown", tabindex: "0", title: "The ledger did not answer." }, "unknown");

const named = (key) => [
  h("a", { href: placeOf(key.name), "data-go": true }, key.name),
  state(key) && h("span", { class: "chip warn" }, state(key)),
];

const made = ({ created, expires, expired }) => [
  created ? day(created) : faint("unknown"),
  h("small", {}, expires ? `${expired ? "expired" : "until"} ${day(expires)}` : "does not expire"),
];

/** @param {any} key @returns {any} each of its budgets: the bar, and what it shows in words */
export function budgets({ name, budgets: listed }) {
  const own = `the key "${name}"`;
  if (!listed.length) return faint("no budget");
  return h(
    "span",
    { class: "meters" },
    listed.map((budget) => [
      meter(budget.spent_usd, budget.limit_usd, budget.held_usd),
      h("span", {}, [
        `${spent(budget)}${budget.spent_usd >= budget.limit_usd ? ", used up" : ""}`,
        budget.whose !== own && h("small", {}, ` (of ${budget.whose})`),
      ]),
    ]),
  );
}

/**
 * What is shown once: a new key, or the link of an invitation.
 * @param {string} name whose it is
 * @param {string} secret
 * @param {string} words what becomes of it
 * @param {string} what "key" or "link"
 * @returns {HTMLElement}
 */
export function once(name, secret, words, what) {
  const box = notice(
    "calm",
    name,
    h("code", { class: "secret", tabindex: "0", "aria-label": `The ${what} of ${name}` }, secret),
    copyButton(`Copy ${what}`, () => secret, { class: "button small" }),
    h("span", {}, words),
  );
  box.classList.add("once");
  return box;
}
