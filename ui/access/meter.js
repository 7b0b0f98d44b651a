// How much of a limit is used, as a bar. The number stands beside it, so the bar itself says nothing.
import { svg } from "../dom.js";

const NEAR = 0.8; // of a limit, from where on the bar warns

/**
 * @param {number} used
 * @param {number} limit
 * @param {number} [held] set aside for what is under way: drawn lighter
 * @returns {SVGElement}
 */
export function meter(used, limit, held = 0) {
  const part = (amount) => (limit > 0 ? Math.min(100, (100 * amount) / limit) : 100);
  const tone = used >= limit ? "full" : used + held >= NEAR * limit ? "near" : "";
  return svg(
    "svg",
    { class: `meter ${tone}`.trim(), viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { class: "track", width: 100, height: 8 }),
    held > 0 && svg("rect", { class: "held", width: part(used + held), height: 8 }),
    svg("rect", { class: "used", width: part(used), height: 8 }),
  );
}
