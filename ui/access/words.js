// Keys, budgets and people in words.
import { count, money, plural } from "../words.js";

/** Ways of asking, as a reader knows them. */
export const MODES = { all: "every answer", merged: "merged", route: "route mode" };

/** The periods of a budget. */
export const PERIODS = { day: "a day", month: "a month", total: "in total" };

/** What a role may. */
export const MAY = { admin: "may do everything", judge: "may read and give verdicts" };

/** @param {{enabled: boolean, expired: boolean}} key @returns {"" | "disabled" | "expired"} what keeps it from opening anything */
export const state = ({ enabled, expired }) => (!enabled ? "disabled" : expired ? "expired" : "");

/** @param {any} key @returns {string} "bench/review, bench/code; models haiku; merged alone" */
export function scope({ collections, models, modes }) {
  const parts = [collections ? collections.map((name) => `bench/${name}`).join(", ") || "nothing" : "every collection"];
  if (models) parts.push(`models ${models.join(", ")}`);
  if (modes) parts.push(modes.map((mode) => MODES[mode] ?? mode).join(", "));
  return parts.join("; ");
}

/** @param {any} key @returns {string} "30 requests, 40,000 tokens" */
export function pace({ rpm, tpm }) {
  const parts = [rpm !== null && plural(rpm, "request"), tpm !== null && plural(tpm, "token")].filter(Boolean);
  return parts.join(", ");
}

/** @param {string} at ISO @returns {string} "28 Feb", with its year unless it is this one */
export const day = (at, now = new Date()) =>
  new Date(at).toLocaleDateString("en-GB", {
    day: "numeric",
    month: "short",
    year: new Date(at).getFullYear() === now.getFullYear() ? undefined : "numeric",
  });

/** @param {any} budget one period as it stands @returns {string} "$3.10 of $5.00 a month" */
export const spent = ({ spent_usd: used, limit_usd: limit, period }) =>
  `${money(used)} of ${money(limit)} ${PERIODS[period]}`;

/**
 * @param {{calls: number, known_usd: number | null, unknown_calls: number} | undefined} used
 * @returns {string} "412 calls, $3.10", "12 calls, at least $0.20"
 */
export function used(row) {
  if (!row) return "none";
  const { calls, known_usd: known, unknown_calls: unknown } = row;
  const cost = known === null ? "cost unknown" : unknown ? `at least ${money(known)}` : money(known);
  return `${count(calls)} ${calls === 1 ? "call" : "calls"}, ${cost === "$0" ? "no cost" : cost}`;
}
