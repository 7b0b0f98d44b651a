// Figures in words. What is not known is said as unknown: never a zero, never a dash.

/**
 * @param {number} n
 * @returns {string} 11,400
 */
export const count = (n) => Math.round(n).toLocaleString("en-US");

/**
 * @param {number} n
 * @param {string} one
 * @param {string} [many]
 * @returns {string} "1 seat", "4 seats"
 */
export const plural = (n, one, many = one + "s") => `${count(n)} ${n === 1 ? one : many}`;

/**
 * @param {number} usd a known sum
 * @returns {string} two figures that mean something below a cent, three decimals below a dollar
 */
export function money(usd) {
  if (usd === 0) return "$0";
  if (usd < 0.01) return "$" + Number(usd.toPrecision(2)).toFixed(12).replace(/0+$/, "");
  return (
    "$" +
    (usd < 1 ? usd.toFixed(3) : usd.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 }))
  );
}

/**
 * @param {number} s
 * @returns {string} "40 ms", "0.4 s", "34 s", "2 min 5 s"
 */
export function seconds(s) {
  if (s > 0 && s < 0.0995) return `${Math.ceil(s * 1000)} ms`;
  if (s < 60) return `${s < 19.95 ? Math.max(s, 0).toFixed(1) : Math.round(s)} s`;
  return `${Math.floor(s / 60)} min ${Math.floor(s % 60)} s`;
}

/**
 * @param {number} s
 * @returns {string} an estimate: no more figures than it deserves
 */
export const about = (s) => `about ${s < 9.5 ? Number(s.toFixed(1)) + " s" : seconds(Math.round(s)).replace(".0", "")}`;

/**
 * @param {number} s
 * @returns {string} a running clock: 0:19
 */
export const clock = (s) => `${Math.floor(s / 60)}:${String(Math.floor(s % 60)).padStart(2, "0")}`;

/**
 * @param {string | number | Date} at
 * @returns {string} 12:38
 */
export const hour = (at) => new Date(at).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });

/**
 * @param {string} at ISO
 * @param {Date} [now]
 * @returns {string} "11:52", "yesterday 16:40", "27 November 16:40"
 */
export function when(at, now = new Date()) {
  const then = new Date(at);
  const days = Math.round((new Date(now).setHours(0, 0, 0, 0) - new Date(then).setHours(0, 0, 0, 0)) / 86_400_000);
  if (days === 0) return hour(then);
  if (days === 1) return `yesterday ${hour(then)}`;
  const year = then.getFullYear() === now.getFullYear() ? undefined : "numeric";
  return `${then.toLocaleDateString("en-GB", { day: "numeric", month: "long", year })} ${hour(then)}`;
}

/**
 * @param {string} at ISO, ahead
 * @param {number} now ms
 * @returns {string} "6 s", "12 min", "12 h 18 min", "3 days"
 */
export function distance(at, now) {
  const left = Math.max(0, (Date.parse(at) - now) / 1000);
  if (left < 90) return `${Math.ceil(left)} s`;
  if (left < 5400) return `${Math.round(left / 60)} min`;
  if (left < 172_800) return `${Math.floor(left / 3600)} h ${Math.floor((left % 3600) / 60)} min`;
  return plural(Math.round(left / 86_400), "day");
}

/**
 * @param {string} at ISO, ahead
 * @param {number} now ms
 * @returns {string} clock and distance: "01:00, in 12 h 18 min"; the day too where it is not today or tomorrow
 */
export function ahead(at, now) {
  const far = Date.parse(at) - now;
  const clockTime = far < 90_000 ? "" : far < 86_400_000 ? hour(at) : when(at, new Date(now));
  return clockTime ? `${clockTime}, in ${distance(at, now)}` : `in ${distance(at, now)}`;
}

/**
 * A server's message set as a sentence: messages begin small, for they may stand behind a colon. Names keep their letters.
 * @param {string} text
 * @returns {string}
 */
export function sentence(text) {
  const begun = /^[a-z]+[ ,]/.test(text) ? text[0].toUpperCase() + text.slice(1) : text;
  return /[.!?:]$/.test(begun) ? begun : begun + ".";
}

/**
 * @param {string} text
 * @returns {number}
 */
export function wordsIn(text) {
  let words = 0;
  for (const at = /\S+/g; at.test(text);) words += 1;
  return words;
}

const FRAME = /^(?:`{3,}|~{3,}|File: )/; // a fence, or the heading of an attached file: not what a text says

/**
 * @param {string} text
 * @param {number} most
 * @returns {string} its first line that says something, cut at a length
 */
export function headline(text, most = 160) {
  const lines = text
    .slice(0, 4000)
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  const line = lines.find((each) => !FRAME.test(each)) ?? lines[0] ?? "";
  return line.length > most ? line.slice(0, most - 1) + "…" : line;
}

/**
 * What is known of a sum, and what is not.
 * @param {(number | null | undefined)[]} costs null: unknown
 * @returns {string} "$0.02", "at least $0.02", "cost unknown"; empty when there is nothing to sum
 */
export function sum(costs) {
  const known = costs.filter((cost) => typeof cost === "number");
  if (!costs.length) return "";
  if (!known.length) return "cost unknown";
  const total = money(known.reduce((a, b) => a + b, 0));
  if (known.length === costs.length) return total === "$0" ? "no cost" : total;
  return total === "$0" ? "cost unknown" : `at least ${total}`;
}

/**
 * @param {{useful: number, judged: number, range?: [number, number] | null}} record  range: the 95 % interval, 0 to 1
 * @returns {string} "34 of 41 (69–91 %)", "1 of 2 (9–91 %), early", "not judged yet"
 */
export function share({ useful, judged, range }) {
  if (!judged) return "not judged yet";
  const [low, high] = (range ?? []).map((part) => Math.round(part * 100));
  const said = range ? ` (${low}–${high} %)` : "";
  return `${useful} of ${judged}${said}${judged < EARLY ? ", early" : ""}`;
}

/** Fewer verdicts than this say little yet. */
export const EARLY = 5;
