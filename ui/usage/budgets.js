// Budgets as they stand: what is spent of each, and when it renews.
import { meter } from "../access/meter.js";
import { h } from "../dom.js";
import { ahead, money } from "../words.js";

const PERIODS = { day: "today", month: "this month", total: "in all" };

/**
 * @param {Record<string, any>} budgets by subject: bench, collection:NAME, key:NAME
 * @returns {HTMLElement | null} null where there is none
 */
export function budgetCard(budgets) {
  const rows = Object.entries(budgets).flatMap(([subject, each]) =>
    each.periods.map((period) => line(subject, period, each)),
  );
  if (!rows.length) return null;
  return h(
    "section",
    { class: "card", "aria-label": "Budgets" },
    h(
      "header",
      {},
      h("h2", {}, "Budgets"),
      h("a", { class: "end", href: "/keys", "data-go": true, "data-who": "admin" }, "Change them"),
    ),
    h("ul", { class: "budget-list" }, rows),
  );
}

function line(
  subject,
  { period, limit_usd: limit, spent_usd: spent, held_usd: held, left_usd: left, renews },
  { unknown_cost: rule },
) {
  const [kind, name] = subject.includes(":") ? subject.split(/:(.*)/s) : ["", "the whole bench"];
  const said = left > 0 ? `${money(left)} left` : "nothing left";
  const when = renews ? `, new ${ahead(renews, Date.now())}` : "";
  return h(
    "li",
    {},
    h("span", {}, h("b", {}, name), kind && ` (${kind})`, ` ${PERIODS[period] ?? period}`),
    meter(spent, limit, held ?? 0),
    h(
      "span",
      {},
      `${money(spent)} of ${money(limit)}, ${said}${when}`,
      rule === "refuse" ? "; calls of unknown cost are refused" : "",
    ),
  );
}

/** @param {Record<string, any>} budgets @returns {number | null} what the whole bench may spend a day */
export const dayBudget = (budgets) => budgets.bench?.periods.find(({ period }) => period === "day")?.limit_usd ?? null;
