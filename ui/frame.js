// What stands around every page: the rail with its foot, the top bar with freshness and theme.
import { post } from "./api.js";
import { announce, h, icon, say, set } from "./dom.js";
import { keep, recall } from "./keep.js";
import { hour, money, plural } from "./words.js";
import { showShortcuts } from "./keys.js";
import { wordmark } from "./wordmark.js";

const PAGES = [{ name: "ask", title: "Ask", href: "?" }];
const THEMES = { auto: "Theme of the system", light: "Light", dark: "Dark" };

/** Build the frame around main. @returns {{status: (status: any) => void, stale: () => void, title: (parts: string[]) => void}} */
export function frame() {
  const foot = h("footer", {}, h("span", {}, "Today: looking…"));
  const home = h("a", { class: "logo", href: "?", "data-go": true, "aria-label": "Benchwarmers, ask" }, wordmark());
  const nav = h("nav", { "aria-label": "Pages" }, home, PAGES.map(link));
  const rail = h("div", { class: "rail" }, nav, foot);
  const title = h("h1", {}, "Ask");
  const live = h("span", { class: "pulse" }, "Looking…");
  const keys = h(
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
  const top = h("header", { class: "top" }, title, h("div", { class: "end row" }, live, keys, themes()));
  document.querySelector("main").before(rail, top);
  return {
    status: (status) => (drawFoot(foot, status), fresh(live)),
    stale: () => stale(live),
    title: (parts) => drawTitle(title, parts),
  };
}

const link = ({ name, title, href }) => h("a", { href, "data-go": true, "aria-current": "page" }, icon(name), title);

function drawTitle(node, parts) {
  const [page, ...rest] = parts;
  node.replaceChildren(
    ...(rest.length
      ? [h("a", { href: "?", "data-go": true }, page), h("span", { class: "crumb" }, rest.join(" / "))]
      : [page]),
  );
  document.title = [...parts].reverse().join(" · ") + " · Benchwarmers";
}

const EXPOSURE = { "this computer only": "Only this computer can connect" };

function drawFoot(node, { today, exposure, login }) {
  const lines = today.calls ? [`Today: ${plural(today.calls, "call")}`, ...spent(today)] : ["Today: no calls yet"];
  const out = login && h("button", { type: "button", class: "button tiny", on: { click: signOut } }, "Sign out");
  node.replaceChildren(...[...lines, EXPOSURE[exposure] ?? exposure].map((line) => h("span", {}, line)), out || "");
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

function pickTheme(name, group = document.querySelector(".themes")) {
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
