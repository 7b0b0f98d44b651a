// The mark: a bench with two members and an explorer on it. Beside it the name, in letters drawn as single strokes.
import { svg } from "./dom.js";

// letter -> [strokes on a 4..13 body with ascenders from 0, advance]
const LETTERS = {
  b: ["M1 0v13M1 9a3.9 3.9 0 1 1 7.8 0A3.9 3.9 0 0 1 1 9", 10.9],
  e: ["M1.1 9h7.7A3.9 3.9 0 1 0 7.6 11.9", 10.6],
  n: ["M1 5v8M1 8.6a3.3 3.5 0 0 1 6.6 0V13", 9.8],
  c: ["M7.7 6.2a3.9 3.9 0 1 0 0 5.6", 9.3],
  h: ["M1 0v13M1 8.6a3.3 3.5 0 0 1 6.6 0V13", 9.6],
  w: ["M.8 5l2.6 8L6 5.6 8.6 13l2.6-8", 12.4],
  a: ["M8.8 5v8M8.8 9A3.9 3.9 0 1 1 1 9a3.9 3.9 0 0 1 7.8 0", 10.9],
  r: ["M1 5v8M1 8.8A3.8 3.8 0 0 1 5 5.1", 6.6],
  m: ["M1 5v8M1 8.3a2.8 3.3 0 0 1 5.6 0V13M6.6 8.3a2.8 3.3 0 0 1 5.6 0V13", 14.3],
  s: ["M6.3 6.4C5.9 5.5 5.1 5 4 5 2.6 5 1.7 5.7 1.7 6.8c0 2.7 5 1.5 5 4.2 0 1.2-1 2-2.6 2-1.3 0-2.4-.5-2.9-1.5", 8],
};

/**
 * @param {boolean} [name] false: the mark alone
 * @returns {SVGElement}
 */
export function wordmark(name = true) {
  let x = 32;
  const letters = [];
  for (const letter of name ? "benchwarmers" : "") {
    letters.push(svg("path", { d: LETTERS[letter][0], transform: `translate(${x.toFixed(1)} 2)` }));
    x += LETTERS[letter][1];
  }
  const width = name ? x + 1 : 28;
  const label = { role: "img", "aria-label": "Benchwarmers" };
  return svg(
    "svg",
    { class: "wordmark", viewBox: `0 0 ${width.toFixed(1)} 20`, ...label },
    mark(),
    svg("g", { class: "letters" }, letters),
  );
}

function mark() {
  return svg(
    "g",
    {},
    svg("path", { class: "letters", d: "M1 12.5h26M5 13v4M23 13v4" }),
    svg("circle", { cx: 6, cy: 7.4, r: 2.7, fill: "currentColor" }),
    svg("path", { d: "M11.5 4.8h5.2V10h-5.2z", fill: "currentColor" }),
    svg("path", { class: "hollow", d: "M22.4 5.2l2.6 4.6h-5.2z" }),
  );
}
