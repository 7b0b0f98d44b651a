// The page starts here: the frame, the address, the pulse of the server, the keys that work everywhere.
import { get, whenLost } from "./api.js";
import { frame, nextTheme } from "./frame.js";
import { listen, shortcut, showShortcuts } from "./keys.js";
import { Ask } from "./pages/ask.js";

// Milliseconds between looks at the server: seldom in a hidden tab, which looks at once when it is seen again.
const PULSE = { seen: 4000, hidden: 60_000 };
const PATIENCE = 3000; // ms after which a server that says nothing counts as gone

const around = frame();
const page = new Ask(document.querySelector("main"), { go, title: around.title, beat });

/**
 * Follow an address inside the app, so that Back returns.
 * @param {string} address what stands behind the path: "?panel=p…"
 * @param {{replace?: boolean, quiet?: boolean}} [how] quiet: the page shows it already
 */
function go(address, { replace = false, quiet = false } = {}) {
  const url = location.pathname + (address === "?" ? "" : address);
  history[replace ? "replaceState" : "pushState"](null, "", url);
  if (quiet) return;
  show();
  scrollTo(0, 0);
}

const show = () => page.show(new URLSearchParams(location.search));

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
    const status = await get("/api/status", AbortSignal.timeout(PATIENCE));
    around.status(status);
    page.status(status);
  } catch (problem) {
    around.stale();
    page.lost(problem);
  }
  clearTimeout(timer); // of another look that began meanwhile
  timer = setTimeout(beat, PULSE[document.hidden ? "hidden" : "seen"] * (0.9 + Math.random() * 0.2));
}

document.addEventListener("visibilitychange", () => document.hidden || beat());

shortcut(
  { keys: ["t"], label: "Theme: system, light, dark", group: "Everywhere", run: nextTheme },
  { keys: ["?"], label: "This list", group: "Everywhere", run: showShortcuts },
);
whenLost(around.stale);
listen();
show();
beat();
