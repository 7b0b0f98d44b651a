// Who is at this page. What only an admin may do carries `data-who="admin"` and is not there for a judge; the server refuses it anyway.
import { set } from "./dom.js";
import { keep } from "./keep.js";

/** @returns {boolean} as the server said last, in this browser */
export const isJudge = () => document.documentElement.dataset.role === "judge";

/** @param {string} [who] whom something is for @returns {boolean} */
export const may = (who) => who !== "admin" || !isJudge();

/**
 * @param {{name: string, role: string}} you as the server says
 * @returns {boolean} whether that is news
 */
export function meetYou({ role }) {
  const judge = role === "judge";
  if (judge === isJudge()) return false;
  keep("role", judge ? role : null); // theme.js sets it before the first paint: nothing shows that then goes
  set(document.documentElement, { "data-role": judge ? role : null });
  return true;
}
