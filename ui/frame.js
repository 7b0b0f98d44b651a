// What stands around every page: the rail with its foot, the top bar with freshness and theme.
import { post } from "./api.js";
import { announce, h, icon, say, set } from "./dom.js";
import { keep, recall } from "./keep.js";
import { PAGES, TABS } from "./pages.js";
import { hour, money, plural } from "./words.js";
import { showShortcuts } from "./keys.js";
import { wordmark } from "./wordmark.js";

/** @typedef {import("./pages.js").Place} Place */

const THEMES = { auto: "Theme of the system", light: "Light", dark: "Dark" };

/**
 * Build the frame around main.
 * @returns {{status: (status: any) => void, fresh: () => void, stale: () => void, title: (parts: string[], place: Place) => void,
 *   current: (place: Place) => void, owed: (n: number, more: boolean) => void}}
 */
export function frame() {
  const foot = h("footer", {}, h("span", {}, "Today: looking…"));
  const home = h("a", { class: "logo", href: "/", "data-go": true, "aria-label": "Benchwarmers, ask" }, wordmark());
  const links = PAGES.map((page, i) => link(page, i > 0 && PAGES[i - 1].group !== page.group));
  const rail = h("div", { class: "rail" }, h("nav", { "aria-label": "Pages" }, home, links), foot);
  const title = h("h1", {}, "Ask");
  const live = h("span", { class: "pulse" }, "Looking…");
  const top = h("header", { class: "top" }, title, h("div", { class: "end row" }, live, keysButton(), themes()));
  const main = document.querySelector("main");
  main.before(rail, top);
  const bar = tabs(foot);
  main.after(bar);
  return {
    status: (status) => (drawFoot(foot, status), fresh(live)),
    fresh: () => fresh(live),
    stale: () => stale(live),
    title: (parts, place) => drawTitle(title, parts, place),
    current: (place) => [rail, bar].forEach((each) => mark(each, place)),
    owed: (n, more) =>
      document
        .querySelectorAll('[data-page="owed"] .owed')
        .forEach((node) => say(node, n ? `${n}${more ? "+" : ""}` : "")),
  };
}

const link = ({ name, title, path, who }, apart = false) =>
  h(
    "a",
    { href: path, "data-go": true, "data-page": name, "data-who": who, class: apart ? "apart" : null },
    icon(name),
    title,
    name === "owed" && h("span", { class: "owed end" }),
  );

function mark(nav, { name }) {
  for (const each of nav.querySelectorAll("[data-page]"))
    set(each, { "aria-current": each.dataset.page === name ? "page" : null });
  const more = nav.querySelector(".more-pages");
  if (more) more.classList.toggle("here", !TABS.includes(name));
}

const keysButton = () =>
  h(
    "button",
    {
      type: "button",
      class: "button quiet icon-only wide-only",
      "aria-label": "Shortcuts",
      title: "Shortcuts ( ? )",
      on: { click: showShortcuts },
    },
    icon("keys"),
  );

// On a phone: four tabs, and the rest with the foot in a dialog.
function tabs() {
  const shown = PAGES.filter(({ name }) => TABS.includes(name));
  const open = () => {
    const foot = document.querySelector(".rail footer").cloneNode(true);
    const close = h("button", { type: "button", class: "button", on: { click: () => dialog.close() } }, "Close");
    const rest = PAGES.filter(({ name }) => !TABS.includes(name)).map((page) => link(page));
    const dialog = h(
      "dialog",
      {
        class: "sheet",
        "aria-label": "More pages",
        on: { click: (event) => event.target.closest("a") && dialog.close() },
      },
      h("header", {}, h("h2", {}, "More pages"), close),
      h("nav", { "aria-label": "More pages" }, rest),
      foot,
    );
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
  };
  const more = h("button", { type: "button", class: "more-pages", on: { click: open } }, icon("more"), "More");
  return h(
    "nav",
    { class: "tabs narrow-only", "aria-label": "Pages" },
    shown.map((page) => link(page)),
    more,
  );
}

function drawTitle(node, parts, { path }) {
  const [page, ...rest] = parts;
  node.replaceChildren(
    ...(rest.length
      ? [h("a", { href: path, "data-go": true }, page), h("span", { class: "crumb" }, rest.join(" / "))]
      : [page]),
  );
  document.title = [...parts].reverse().join(" · ") + " · Benchwarmers";
}

const reach = (exposure) =>
  exposure.startsWith("this computer only") ? "Only this computer can connect" : "Your network can connect";

function drawFoot(node, { today, exposure, login, you }) {
  const lines = today.calls ? [`Today: ${plural(today.calls, "call")}`, ...spent(today)] : ["Today: no calls yet"];
  const out = login && h("button", { type: "button", class: "button tiny", on: { click: signOut } }, "Sign out");
  if (login) lines.push(`Signed in as ${you.name}${you.role === you.name ? "" : `, ${you.role}`}`);
  node.replaceChildren(...[...lines, reach(exposure)].map((line) => h("span", {}, line)), out || "");
}

async function signOut() {
  await post("/logout", {});
  location.assign("/login");
}

// An unknown price is never added as nothing: it stands beside the sum.
function spent({ known_usd: known, unknown_calls: unknown }) {
  if (!unknown) return [known ? money(known) : "no cost"];
  return [known ? `at least ${money(known)}` : "spend unknown", `${plural(unknown, "call")} unpriced`];
}

function fresh(node) {
  node.classList.remove("stale");
  node.dataset.seen = String(Date.now());
  say(node, "Live");
}

function stale(node) {
  node.classList.add("stale");
  say(node, node.dataset.seen ? `Stale since ${hour(Number(node.dataset.seen))}` : "Not connected");
}

function themes() {
  const choose = (name) => () => pickTheme(name, group);
  const button = (name) =>
    h(
      "button",
      {
        type: "button",
        "data-name": name,
        "aria-label": THEMES[name],
        title: THEMES[name],
        on: { click: choose(name) },
      },
      icon(name),
    );
  const group = h(
    "span",
    { class: "segment icons themes", role: "group", "aria-label": "Theme" },
    Object.keys(THEMES).map(button),
  );
  press(group, recall("theme", "auto"));
  return group;
}

/** @param {string} name auto, light or dark: kept in this browser @param {Element} [group] the buttons that show it */
export function pickTheme(name, group = document.querySelector(".themes")) {
  keep("theme", name === "auto" ? null : name);
  if (name === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  press(group, name);
}

const press = (group, name) =>
  [...group.children].forEach((button) => set(button, { "aria-pressed": String(button.dataset.name === name) }));

/** The next of the three themes. */
export function nextTheme() {
  const names = Object.keys(THEMES);
  const name = names[(names.indexOf(recall("theme", "auto")) + 1) % names.length];
  pickTheme(name);
  announce(THEMES[name]);
}
