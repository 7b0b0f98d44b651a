// Scales and their labels: what stands at which tick, in round figures and plain dates.

const HOUR = 3600;
const DAY = 86_400;
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const LONG = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

/**
 * @param {number} most the largest value
 * @param {number} [about] how many steps there should be
 * @returns {number[]} from 0 up in steps of 1, 2 or 5; the last one reaches `most`
 */
export function ticks(most, about = 4) {
  if (!(most > 0)) return [0, 1];
  const step = nice(most / about);
  const count = Math.max(1, Math.ceil(most / step - 1e-9));
  return Array.from({ length: count + 1 }, (_, n) => Number((n * step).toPrecision(12)));
}

/** @param {number} step @returns {number} the next of 1, 2, 5 times a power of ten */
export function nice(step) {
  if (!(step > 0)) return 1;
  const size = 10 ** Math.floor(Math.log10(step) + 1e-9);
  return size * [1, 2, 5, 10].find((n) => n * size >= step * (1 - 1e-9));
}

/**
 * @param {number} low above nothing
 * @param {number} high
 * @returns {number[]} the powers of ten around both
 */
export function decades(low, high) {
  const first = Math.floor(Math.log10(low) + 1e-9);
  const last = Math.max(first + 1, Math.ceil(Math.log10(high) - 1e-9));
  return Array.from({ length: last - first + 1 }, (_, n) => 10 ** (first + n));
}

/**
 * How pieces of time are called: in a row of ticks, and in full. Hours are those of the reader's clock, days are the server's (UTC).
 * @param {string[]} at the stamp where each begins
 * @param {number} step seconds of one
 * @returns {{short: string, long: string}[]} a short name may be empty
 */
export function times(at, step) {
  return at.map((stamp, i) => {
    const begin = new Date(stamp);
    if (step < DAY && step > HOUR) return quarter(begin, step);
    if (step <= HOUR) return hours(begin, step);
    const day = begin.getUTCDate();
    const named = i === 0 || at.length < 10 || new Date(at[i - 1]).getUTCMonth() !== begin.getUTCMonth() || step > DAY;
    const long = `${day} ${LONG[begin.getUTCMonth()]}`;
    return {
      short: named ? `${day} ${MONTHS[begin.getUTCMonth()]}` : String(day),
      long: step > DAY ? `week of ${long} ${begin.getUTCFullYear()}` : long,
    };
  });
}

function hours(begin, step) {
  const clock = (date) => date.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  const end = new Date(begin.getTime() + step * 1000);
  return {
    short: clock(begin),
    long: `${begin.getDate()} ${LONG[begin.getMonth()]}, ${clock(begin)} to ${clock(end)}`,
  };
}

function quarter(begin, step) {
  const from = begin.getUTCHours();
  const day = `${begin.getUTCDate()} ${LONG[begin.getUTCMonth()]}`;
  const clock = (n) => String(n).padStart(2, "0");
  return {
    short: from ? "" : `${begin.getUTCDate()} ${MONTHS[begin.getUTCMonth()]}`,
    long: `${day}, ${clock(from)} to ${clock(from + step / HOUR)} UTC`,
  };
}

/**
 * Which of a row of labels have room.
 * @param {string[]} labels an empty one takes none
 * @param {number} wide pixels for all of them
 * @param {number} [most] labels at most
 * @returns {Set<number>} their places, evenly spread
 */
export function roomy(labels, wide, most = Infinity) {
  const said = labels.map((_, i) => i).filter((i) => labels[i]);
  const widest = Math.max(1, ...said.map((i) => labels[i].length)) * 6.2 + 14;
  const every = Math.max(1, Math.ceil((said.length * widest) / wide), Math.ceil(said.length / most));
  return new Set(said.filter((_, n) => n % every === 0));
}

/** @param {string} stamp @returns {string} 29 November, the server's day */
export const dayOf = (stamp) => `${new Date(stamp).getUTCDate()} ${LONG[new Date(stamp).getUTCMonth()]}`;
