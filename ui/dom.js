// Elements from values. Nothing here reads markup from a string, so nothing a model writes can become markup.
const SVG = "http://www.w3.org/2000/svg";

/** @typedef {Node | string | number | null | undefined | false | Kid[]} Kid */

/**
 * An element with its attributes, listeners and children.
 * @param {string} tag
 * @param {Record<string, any>} [props] `on` holds listeners; true is an empty attribute; null and false leave it out
 * @param {...Kid} kids
 * @returns {HTMLElement}
 */
export function h(tag, props = {}, ...kids) {
  return fill(document.createElement(tag), props, kids);
}

/**
 * The same for SVG.
 * @param {string} tag
 * @param {Record<string, any>} [props]
 * @param {...Kid} kids
 * @returns {SVGElement}
 */
export function svg(tag, props = {}, ...kids) {
  return fill(document.createElementNS(SVG, tag), props, kids);
}

function fill(node, props, kids) {
  set(node, props);
  const there = kids.flat(Infinity).filter((kid) => kid !== null && kid !== undefined && kid !== false);
  node.append(...there.map((kid) => (typeof kid === "string" ? shown(kid) : kid)));
  return node;
}

// Marks that turn the direction of what follows: unseen themselves, they let words read as others than they are.
const TURNS = /[\u202a-\u202e\u2066-\u2069]/g;

/**
 * @param {string} text of anybody
 * @returns {string} as long, with what would turn it to be seen instead
 */
export const shown = (text) => text.replace(TURNS, "⇆");

/**
 * Set attributes and listeners on an element that exists.
 * @param {Element} node
 * @param {Record<string, any>} props
 */
export function set(node, props) {
  for (const [name, value] of Object.entries(props)) {
    if (name === "on") for (const [event, run] of Object.entries(value)) node.addEventListener(event, run);
    else if (value === null || value === undefined || value === false) node.removeAttribute(name);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
}

/**
 * Replace an element's children, but only when that changes what is read: a redraw must not cost a reader their place.
 * @param {Element} node
 * @param {string} text
 */
export function say(node, text) {
  const words = shown(text);
  if (node.textContent !== words) node.textContent = words;
}

const ICONS = {
  ask: "M2.5 3.5h11v7.2H7.6L4.4 13.4v-2.7H2.5z",
  auto: "M8 2.4a5.6 5.6 0 1 0 0 11.2zM8 2.4a5.6 5.6 0 0 1 0 11.2",
  light:
    "M8 5.3a2.7 2.7 0 1 1 0 5.4 2.7 2.7 0 0 1 0-5.4M8 1.6v1.2M8 13.2v1.2M1.6 8h1.2M13.2 8h1.2M3.5 3.5l.8.8M11.7 11.7l.8.8M3.5 12.5l.8-.8M11.7 4.3l.8-.8",
  dark: "M13.2 9.6A5.6 5.6 0 0 1 6.4 2.8a5.6 5.6 0 1 0 6.8 6.8z",
  copy: "M5.5 5.5V3h7.5v7.5h-2.5M3 5.5h7.5V13H3z",
  keys: "M1.8 4.2h12.4v7.6H1.8zM4.4 6.6h.01M6.8 6.6h.01M9.2 6.6h.01M11.6 6.6h.01M5.2 9.4h5.6",
  owed: "M3 8.5l3.5 3.5L13 5",
  panels: "M2.5 3h11v10h-11zM6.2 3v10M9.8 3v10",
  conversations: "M2.5 4h11M2.5 8h7M2.5 12h9",
  models: "M8 2.8a2.6 2.6 0 1 1 0 5.2 2.6 2.6 0 0 1 0-5.2M3 13.4a5 5 0 0 1 10 0",
  collections: "M1.5 9h13M4 9v4M12 9v4M4.2 6.2h.01M8 6.2h.01M11.8 6.2h.01",
  endpoints: "M6 2.5v3M10 2.5v3M4.5 5.5h7v2.2a3.5 3.5 0 0 1-7 0zM8 11.2v2.6",
  quotas: "M8 2.6a5.4 5.4 0 1 1 0 10.8A5.4 5.4 0 0 1 8 2.6zM8 5.2V8l1.9 1.4",
  usage: "M3.5 13V9M6.5 13V5M9.5 13V7.5M12.5 13V3",
  settings: "M2.5 5h4M9.5 5h4M8 3.2v3.6M2.5 11h6M11.5 11h2M10 9.2v3.6",
  access: "M5.6 5.2a2.8 2.8 0 1 1 0 5.6 2.8 2.8 0 0 1 0-5.6M8.4 8h5.1v2.4M11.2 8v1.8",
  search: "M7 2.6a4.4 4.4 0 1 1 0 8.8 4.4 4.4 0 0 1 0-8.8M10.3 10.3l3.2 3.2",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  close: "M4 4l8 8M12 4l-8 8",
};

/**
 * @param {keyof ICONS} name
 * @returns {SVGElement} 16 px, in the colour of the text, silent
 */
export function icon(name) {
  return svg("svg", { class: "icon", viewBox: "0 0 16 16", "aria-hidden": "true" }, svg("path", { d: ICONS[name] }));
}

/**
 * A button that copies what `text` returns at that moment, and says so in its own label.
 * @param {string} label what a reader sees, or hears where only the icon shows
 * @param {() => string} text
 * @param {{bare?: boolean, class?: string}} [look] bare: the icon alone
 */
export function copyButton(label, text, look = {}) {
  const word = h("span", { class: look.bare ? "hidden" : null }, label);
  const button = h(
    "button",
    { type: "button", class: look.class ?? "button quiet small" },
    look.bare && icon("copy"),
    word,
  );
  if (look.bare) set(button, { title: label });
  let timer = 0;
  button.addEventListener("click", async () => {
    const copied = await copy(text());
    say(word, copied ? "Copied" : "Not copied");
    button.classList.toggle("copied", copied);
    announce(copied ? "Copied" : "The browser refused to copy.");
    clearTimeout(timer);
    timer = setTimeout(() => (say(word, label), button.classList.remove("copied")), 1600);
  });
  return button;
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

// Over plain http from another computer a browser has no clipboard to write to; what is selected it copies all the same.
function copyBySelection(text) {
  const back = document.activeElement;
  const box = h("textarea", { class: "hidden", "aria-hidden": "true", tabindex: "-1" });
  box.value = text;
  (document.querySelector("dialog[open]") ?? document.body).append(box);
  box.select();
  const copied = document.execCommand("copy");
  box.remove();
  back?.focus();
  return copied;
}

let unsaid = [];

/**
 * Say a sentence to screen readers, politely. The page has exactly one such region; what comes in one moment is said together,
 * for a later text would cut the earlier one off.
 * @param {string} sentence
 */
export function announce(sentence) {
  if (unsaid.push(sentence) === 1) setTimeout(speak, 200);
}

function speak() {
  const region = document.getElementById("spoken");
  const words = unsaid.map((each) => each.replace(/[^.]$/, "$&.")).join(" ");
  unsaid = [];
  // The same words twice would not be read again: an invisible mark makes them new.
  region.textContent = region.textContent === words ? words + "\u00a0" : words;
}

/**
 * Run `draw` at the next frame, once, however often it is asked for until then. In a hidden tab frames stop: a timer steps in.
 * @param {() => void} draw
 * @returns {() => void}
 */
export function nextFrame(draw) {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    const run = () => ((waiting = false), draw());
    if (document.hidden) setTimeout(run, 250);
    else requestAnimationFrame(run);
  };
}
