// The figures of Usage that matter most, each with what it is and a line of context.
import { h } from "../dom.js";
import { figures } from "../table.js";
import { count, money, plural } from "../words.js";

const SPANS = {
  "24h": "24 hours",
  "7d": "7 days",
  "30d": "30 days",
  "90d": "90 days",
  month: "this month",
  year: "a year",
};

/** @param {string} why @param {string} [word] @returns {HTMLElement} */
export const unknown = (why, word = "unknown") => h("span", { class: "unknown", title: why, tabindex: "0" }, word);

/** @param {string} span @returns {string} */
export const spanWords = (span) => SPANS[span] ?? "this time";

/** @param {number} usd @returns {string} for an axis: no more digits than it needs */
export const dollars = (usd) => (usd >= 1000 ? `$${count(usd)}` : `$${Number(usd.toPrecision(3))}`);

/**
 * @param {{known_usd: number | null, unknown_calls: number}} total
 * @returns {string | Node} "$38.20", "at least $38.20", "free", or unknown
 */
export function spent({ known_usd: known, unknown_calls: dark, calls }) {
  if (known === null) return unknown("No call has a known price");
  if (!known && !dark) return calls ? "free" : "$0";
  if (!known) return unknown(`${plural(dark, "call")} of unknown price`);
  return dark ? `at least ${money(known)}` : money(known);
}

/**
 * What one useful answer or one finding costs.
 * @param {{usd: number | null, low: number | null, high: number | null} | null} each
 * @param {string} why it is unknown, if it is
 * @param {(why: string) => any} [dark] how that is shown
 * @returns {{figure: any, range: string}}
 */
export function eachOf(each, why, dark = unknown) {
  if (!each) return { figure: dark(why), range: "" };
  if (each.usd === 0) return { figure: "free", range: "" };
  if (each.usd === null) return { figure: each.low ? `over ${money(each.low)}` : dark(why), range: "" };
  const range =
    each.low && each.high
      ? `${money(each.low)}–${money(each.high).slice(1)}`
      : each.low
        ? `from ${money(each.low)}`
        : "";
  return { figure: money(each.usd), range };
}

/**
 * @param {any} series what /api/usage/series said
 * @param {any} worth what /api/usage/worth said
 * @param {string} span
 * @returns {HTMLElement}
 */
export function strip(series, worth, span) {
  const { total, before } = series;
  const { over_all: all, cached, unpriced } = worth;
  const useful = eachOf(all.each_useful, "No model that has a price was found useful yet");
  const real = eachOf(all.each_real, "No real finding of a model that has a price yet");
  const share = cached.share;
  return figures([
    [spent(total), `spent, ${spanWords(span)}`, compared(total, before, "known_usd", span)],
    total.unknown_calls
      ? [plural(total.unknown_calls, "call"), "of unknown price", missing(unpriced)]
      : [plural(total.calls, "call"), "all of known price", compared(total, before, "calls", span)],
    [useful.figure, "each useful answer", useful.range || judged(all.judged, "answer", "judged")],
    [real.figure, "each real finding", real.range || judged(all.looked_at, "answer", "looked at")],
    [
      share === null ? unknown("No call has said what it read") : `${Math.round(share * 100)} %`,
      "of input read from cache",
      saved(cached),
    ],
  ]);
}

const judged = (n, one, word) => (n ? `${plural(n, one)} ${word}` : `no ${one} ${word} yet`);

const saved = ({ saved_usd: usd }) =>
  usd === null ? "what it saved is unknown" : usd > 0 ? `about ${rough(usd)} saved` : "nothing saved";

// A guess gets two figures.
const rough = (usd) => (usd >= 1 ? `$${count(Number(usd.toPrecision(2)))}` : money(Number(usd.toPrecision(2))));

// A price helps where tokens were counted: calls that failed before anybody counted have one already, or need none.
function missing(names) {
  if (!names.length) return "their tokens were not counted";
  const what = names.length === 1 ? `All of ${names[0]}.` : `Of ${plural(names.length, "model")}.`;
  return h(
    "span",
    {},
    what,
    " ",
    h(
      "a",
      { href: names.length === 1 ? `/models?model=${encodeURIComponent(names[0])}` : "/models", "data-go": true },
      "Set prices",
    ),
  );
}

// As much time before, if the ledger reaches back: the last piece of this one may have just begun.
function compared(total, before, what, span) {
  const [now, then] = [total[what], before?.total[what]];
  if (!before) return "nothing is kept from before";
  if (typeof now !== "number" || typeof then !== "number" || !then) return "nothing to compare with before";
  const change = Math.round((100 * (now - then)) / then);
  const name = SPANS[span] && span !== "month" ? `the ${SPANS[span]} before` : "as many days before";
  return change ? `${count(Math.abs(change))} % ${change < 0 ? "less" : "more"} than ${name}` : `as much as ${name}`;
}
