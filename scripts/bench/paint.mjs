// Look at every page of a bench in Chromium, each in a fresh browser with nothing cached, and at a panel that is
// being written; tell what was seen as one line of JSON. bench_pages.py starts it where playwright-core is installed.
import { chromium } from "playwright-core";

const { BASE, CHROMIUM, LOOKS = "3" } = process.env;
const STREAMED = 10_000; // ms that the voices take at the most
const MAIN = "CrRendererMain";

const read = async (path) => (await fetch(BASE + path)).json();
const { panels } = await read("/api/log?limit=1&collection=team-00");
const { conversations } = await read("/api/conversations?limit=1");

// name -> address, and what shows that its data is drawn
const PAGES = {
  ask: ["/", ".who-sits .bench"],
  owed: ["/owed", ".judge-bar"],
  panels: ["/panels", "table.rows"],
  "panels by words": ["/panels?q=nowhere+to+be+found", "main"],
  "panels that failed": ["/panels?state=failed", "main"],
  "panels of a collection": ["/panels?collection=team-03", "table.rows"],
  "panels of a model": ["/panels?model=model-007", "table.rows"],
  panel: [`/panels?panel=${panels[0].panel}`, ".answers .column"],
  conversations: ["/conversations", ".pane-list .list"],
  conversation: [`/conversations?conversation=${conversations[0].conversation}`, ".turns"],
  models: ["/models", "table.rows"],
  model: ["/models?model=model-007", ".drawer"],
  collections: ["/collections", ".cards"],
  collection: ["/collections?collection=team-03", ".drawer .bench"],
  endpoints: ["/endpoints", "table.rows"],
  endpoint: ["/endpoints?endpoint=mock", ".drawer"],
  quotas: ["/quotas", "main .card"],
  usage: ["/usage", "main .card"],
  "usage of a year": ["/usage?since=365d", "main .card"],
  keys: ["/keys", "main .card"],
  settings: ["/settings", ".setting .field"],
};

const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });

/** One look: {paint, drawn} in ms since the address was opened, what it asked of /api, bytes that came. */
async function look([address, drawn]) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, baseURL: BASE });
  const page = await context.newPage();
  const begun = performance.now();
  await page.goto(address, { waitUntil: "commit" });
  await page.waitForSelector(drawn, { state: "visible", timeout: 10_000 });
  const shown = performance.now() - begun;
  await page.waitForTimeout(150); // what it asks beside what it shows
  const seen = await page.evaluate(() => ({
    paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? null,
    asked: performance
      .getEntriesByType("resource")
      .map(({ name }) => new URL(name))
      .filter(({ pathname }) => pathname.startsWith("/api/") && pathname !== "/api/events")
      .map(({ pathname, search }) => pathname + search),
    bytes: performance.getEntriesByType("resource").reduce((sum, { transferSize }) => sum + transferSize, 0),
  }));
  await context.close();
  return { ...seen, drawn: shown };
}

/** The look in the middle by its first paint. */
async function looks(place) {
  const seen = [];
  for (let n = 0; n < Number(LOOKS); n += 1) seen.push(await look(place));
  const asked = [...new Set(seen.flatMap((each) => each.asked))];
  return { ...seen.sort((a, b) => a.paint - b.paint)[seen.length >> 1], asked };
}

/**
 * A panel of eight, a token each 10 ms, traced: frames a second, what one costs the main thread (of the 16.7 ms that 60 a second
 * leave it, however busy the machine is with other things), the longest frame and the longest task.
 */
async function panel() {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, baseURL: BASE });
  const page = await context.newPage();
  await page.goto("/?collection=voices");
  await page.waitForSelector(".who-sits .bench");
  await page.locator(".composer textarea").first().fill("Say as much as you can, all of you.");
  const cdp = await context.newCDPSession(page);
  const events = [];
  cdp.on("Tracing.dataCollected", ({ value }) => events.push(...value));
  await page.keyboard.press("Control+Enter");
  await page.waitForFunction(() => document.querySelectorAll(".column.live").length === 8);
  await cdp.send("Tracing.start", { transferMode: "ReportEvents", categories: "toplevel,devtools.timeline" });
  const frames = page.evaluate(
    (patience) =>
      new Promise((resolve) => {
        const times = [];
        const each = (at) => {
          times.push(at);
          if (!document.querySelector(".column.live") || at - times[0] > patience) resolve(times);
          else requestAnimationFrame(each);
        };
        requestAnimationFrame(each);
      }),
    STREAMED * 2,
  );
  const times = await frames;
  const over = new Promise((resolve) => cdp.once("Tracing.tracingComplete", resolve));
  await cdp.send("Tracing.end");
  await over;
  const words = await page.locator(".column .prose").allInnerTexts();
  await context.close();
  const drawn = smooth(times);
  const told = tasks(events);
  return { ...drawn, ...told, frame: told.work / times.length, words: words.map((text) => text.length) };
}

function smooth(times) {
  const gaps = times.slice(1).map((at, n) => at - times[n]);
  const seconds = (times.at(-1) - times[0]) / 1000;
  return { seconds, fps: gaps.length / seconds, slowest_frame: Math.max(...gaps) };
}

// Tasks of the main threads: how long they took, and how much of that was spent at work (thread time), which no
// other program on the machine can lengthen.
function tasks(events) {
  const named = events.filter(({ name, args }) => name === "thread_name" && args?.name === MAIN);
  const mains = new Set(named.map(({ pid, tid }) => `${pid} ${tid}`));
  const run = events.filter(({ ph, name, pid, tid }) => ph === "X" && /RunTask$/.test(name) && mains.has(`${pid} ${tid}`));
  const long = (field) => Math.max(0, ...run.map((event) => event[field] ?? 0)) / 1000;
  const work = run.reduce((sum, { tdur = 0 }) => sum + tdur, 0) / 1000;
  return { work, tasks: run.length, longest: long("dur"), longest_at_work: long("tdur"), over_50: run.filter(({ dur }) => dur > 50_000).length };
}

const found = { pages: {}, panel: null };
try {
  await look(PAGES.panels); // the browser's own first time
  for (const [name, place] of Object.entries(PAGES)) {
    try {
      found.pages[name] = { address: place[0], ...(await looks(place)) };
    } catch (problem) {
      found.pages[name] = { address: place[0], error: String(problem.message).split("\n")[0] };
    }
  }
  found.panel = await panel().catch((problem) => ({ error: String(problem.message).split("\n")[0] }));
} finally {
  await browser.close();
}
console.log(JSON.stringify(found));
