// The page starts here: the frame, the address, the pulse of the server, the keys that work everywhere.
import { get, whenLost } from "./api.js";
import { h } from "./dom.js";
import { frame, nextTheme } from "./frame.js";
import { listen, shortcut, showShortcuts, turnTo } from "./keys.js";
import * as live from "./live.js";
import { failure } from "./notice.js";
import { PAGES, pageAt } from "./pages.js";
import { palette, paletteButton } from "./palette.js";
import { may, meetYou } from "./who.js";

// Milliseconds between looks at the server: seldom in a hidden tab, which looks at once when it is seen again, and while the
// stream tells what happens.
const PULSE = { seen: 4000, told: 20_000, hidden: 60_000 };
const OFTEN = 2000; // ms between looks for what the stream tells
const RECOUNT = { told: 5000, untold: 60_000 }; // ms until what is owed is counted again: it is a look at many panels
const PATIENCE = 3000; // ms after which a server that says nothing counts as gone

const main = document.querySelector("main");
const around = frame();
const pages = new Map(); // name -> the page, once it was shown
let here = null; // the name of the page that shows
let known = null; // the server's last status

const app = { go, title: (parts) => around.title(parts, pageAt(location.pathname)), beat, owed: around.owed };

/**
 * Follow an address inside the app, so that Back returns.
 * @param {string} address "/panels?state=owed", or what stands behind the path: "?panel=p…"
 * @param {{replace?: boolean, quiet?: boolean}} [how] quiet: the page shows it already
 */
function go(address, { replace = false, quiet = false } = {}) {
  const { pathname, search } = new URL(address, location.href);
  history[replace ? "replaceState" : "pushState"](null, "", pathname + (search === "?" ? "" : search));
  if (quiet) return;
  show();
  if (!replace) scrollTo(0, 0);
}

/** Show what the address names. */
async function show() {
  if (location.pathname === "/" && !may(pageAt("/").who)) history.replaceState(null, "", "/owed"); // a judge begins there
  const place = pageAt(location.pathname);
  try {
    if (here !== place.name) await turn(place);
  } catch (problem) {
    const again = h(
      "button",
      { type: "button", class: "button small", on: { click: () => location.reload() } },
      "Load again",
    );
    main.replaceChildren(failure(problem, again));
    return;
  }
  // While it is still loading, whoever began that shows it, by the address of then.
  if (pageAt(location.pathname) === place) pages.get(place.name)?.show(new URLSearchParams(location.search));
}

// Another page: the one before lets go of what it waits for and keeps what it holds.
async function turn(place) {
  pages.get(here)?.hide?.();
  here = place.name;
  around.current(place);
  turnTo(place.name);
  const page = pages.get(place.name) ?? (await made(place));
  if (here !== place.name) return; // the reader has gone on meanwhile
  main.replaceChildren(page.root);
  if (known) page.status?.(known);
}

async function made(place) {
  const { Page } = await place.load();
  const page = new Page(h("div", { class: "stack" }), app);
  pages.set(place.name, page);
  return page;
}

addEventListener("popstate", show);
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-go]");
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  go(link.getAttribute("href"));
});

let timer = 0;

/** Look at the server now, and again after a while. */
async function beat() {
  clearTimeout(timer);
  try {
    known = await get("/api/status", AbortSignal.timeout(PATIENCE));
    if (meetYou(known.you)) show();
    around.status(known);
    pages.get(here)?.status?.(known);
    count();
  } catch (problem) {
    around.stale();
    pages.get(here)?.lost?.(problem);
  }
  clearTimeout(timer); // of another look that began meanwhile
  const pause = PULSE[document.hidden ? "hidden" : live.isUp() ? "told" : "seen"];
  timer = setTimeout(beat, pause * (0.9 + Math.random() * 0.2));
}

let counted = -Infinity;

// What is owed, for the rail. The page that judges counts by itself.
async function count() {
  if (here === "owed" || performance.now() - counted < RECOUNT.untold) return;
  counted = performance.now();
  try {
    const { answers, more } = await get("/api/owed");
    if (here !== "owed") around.owed(answers, more);
  } catch {
    // The pulse tells that the server is gone; the number is counted again when it is back.
  }
}

const recount = live.throttled(() => ((counted = -Infinity), count()), RECOUNT.told);
const rebeat = live.throttled(beat, OFTEN);
for (const topic of ["panel", "verdict"]) live.on(topic, (event) => event.state === "begun" || recount());
for (const topic of ["calls", "change"]) live.on(topic, rebeat);

document.addEventListener("visibilitychange", () => document.hidden || beat());

const search = palette({
  go,
  actions: [
    ["Next theme: system, light, dark", nextTheme],
    ["Shortcuts", showShortcuts],
    ["New question", () => go("/"), "admin"],
    ["New collection", () => go("/collections?new="), "admin"],
    ["Add an endpoint", () => go("/endpoints?add="), "admin"],
    ["Add models", () => go("/models?add="), "admin"],
    ["New key", () => go("/keys?new="), "admin"],
    ["Invite somebody", () => go("/keys?invite="), "admin"],
  ],
});
document.querySelector(".top .end").prepend(paletteButton(search));

shortcut(
  { keys: ["Ctrl+k"], show: ["Ctrl", "K"], label: "Search or jump to", group: "Everywhere", run: search },
  { keys: ["t"], label: "Theme: system, light, dark", group: "Everywhere", run: nextTheme },
  { keys: ["?"], label: "This list", group: "Everywhere", run: showShortcuts },
  ...PAGES.map(({ title, path, key, who }) => ({
    keys: [`g ${key}`],
    label: title,
    group: "Go to",
    who,
    run: () => go(path),
  })),
);
whenLost(around.stale);
listen();
show();
beat();
live.start({ up: around.fresh, down: beat });
