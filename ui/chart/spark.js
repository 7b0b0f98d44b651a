// A trend in a line of text: no axis, the figure stands beside it. Its baseline is zero.
import { svg } from "../dom.js";
import { px } from "./plot.js";

const WIDE = 88;
const TALL = 20;

/**
 * @param {{label: string, values: (number | null)[], format: (n: number) => string}} what  null: unknown, left out
 * @returns {SVGElement}
 */
export function sparkline({ label, values, format }) {
  const known = values.map((value, i) => [value, i]).filter(([value]) => value !== null);
  const most = Math.max(...known.map(([value]) => value), 0) || 1;
  const x = (i) => 2 + (i * (WIDE - 6)) / Math.max(1, values.length - 1);
  const y = (value) => TALL - 3 - (value / most) * (TALL - 6);
  const points = known.map(([value, i], n) => {
    const joined = n > 0 && known[n - 1][1] === i - 1;
    return `${joined ? "L" : "M"}${px(x(i))} ${px(y(value))}`;
  });
  const [last, at] = known.at(-1) ?? [];
  const said = known.length ? `from ${format(known[0][0])} to ${format(last)}, at most ${format(most)}` : "unknown";
  return svg(
    "svg",
    {
      class: "spark",
      viewBox: `0 0 ${WIDE} ${TALL}`,
      width: WIDE,
      height: TALL,
      role: "img",
      "aria-label": `${label}: ${said}`,
    },
    known.length > 0 && svg("path", { d: points.join("") }),
    known.length > 0 && svg("circle", { cx: px(x(at)), cy: px(y(last)), r: 2.5 }),
  );
}
