// What pages look like in the midst of things, and to those who see, move and press otherwise: states that an address alone
// does not bring, the way of the focus, nothing moving, the few colours of the system.
import { EMPTY, bothThemes, fits, heard, must, open, press, run, shot, until } from "./browser.mjs";
import { FRESH, PAGES, at } from "./pages.mjs";

const lost = (page) => page.route("**/api/**", (route) => route.abort());

// name -> where it begins, what brings it about, what shows that it is there
const STATES = {
  "the list of keys": ["panels", (page) => press(page, "?"), "dialog.shortcuts"],
  "a removal that asks": [
    "endpoint",
    (page) => page.locator(".drawer").getByRole("button", { name: "Remove" }).first().click(),
    "dialog input",
  ],
  "a note": ["answers", (page) => page.getByRole("button", { name: "Note" }).first().click(), ".note textarea"],
  "words selected": ["answers", (page) => press(page, "1", "]"), ".pill"],
  "an answer judged": ["answers", (page) => press(page, "1", "u"), ".column [aria-pressed=true]"],
  "answers as tabs": ["answers", (page) => page.getByRole("button", { name: "Tabs" }).click(), ".seat-tabs .button"],
  "only differences": [
    "answers",
    (page) => page.getByRole("button", { name: "Only differences" }).click(),
    "[aria-pressed=true]",
  ],
  "ways to export": ["answers", (page) => page.getByText("Export", { exact: true }).click(), ".menu-items a"],
  "options of a question": ["ask", (page) => page.getByText("Options").click(), "#option-budget"],
  "a panel decided again": [
    "panel",
    (page) => page.getByRole("button", { name: "Decide again" }).click(),
    ".decided p",
  ],
  "columns as a stack": ["answers", (page) => page.getByRole("button", { name: "Stack" }).click(), ".columns.stacked"],
  "names shown": ["owed", (page) => press(page, "h"), ".answer h3 .seat"],
  "nothing found": ["panels", (page) => page.goto("/panels?q=zyxw"), ".empty-state"],
  "a refused setting": [
    "settings",
    async (page) => {
      const box = page.getByLabel("Days until unjudged texts go");
      await box.fill("no");
      await box.blur();
    },
    ".setting .notice.bad",
  ],
  "a panel that is not there": ["ask", (page) => page.goto("/?panel=p20200101-000000-0badf00d"), "main .notice.bad"],
  "a server that is gone": [
    "settings",
    async (page) => {
      await lost(page);
      await press(page, "g", "m");
    },
    "main .notice.bad",
  ],
};

const checks = {};
for (const [name, [where, act, there]] of Object.entries(STATES))
  checks[name] = async () => {
    const page = await at(PAGES[where], {});
    await act(page);
    await page.waitForSelector(there, { state: "visible" });
    await bothThemes(page, `state ${name}`);
    heard.length = 0; // the browser's own lines about what was refused and what is gone
  };

checks["the pages that a phone has no tab for"] = async () => {
  const page = await at(PAGES.panels, { width: 390, height: 844 });
  await page.locator(".tabs").getByText("More").click();
  await page.waitForSelector(".sheet");
  await bothThemes(page, "state more");
};

// Walk with Tab through the page, once round: every stop must be seen, and be seen to be the stop. The composer shows it by its
// frame, a mark of a drawing by what is drawn around it or by its point.
const STOPS = 400;
const stop = () => {
  const node = document.activeElement;
  if (!node || node === document.body || node === document.documentElement) return null;
  const { width, height, top, bottom } = node.getBoundingClientRect();
  const ringed = (each) => {
    const { outlineStyle, outlineWidth } = getComputedStyle(each);
    return outlineStyle !== "none" && Number.parseFloat(outlineWidth) >= 2;
  };
  const accent = getComputedStyle(document.documentElement).getPropertyValue("--accent") && node.closest(".composer");
  const framed =
    accent &&
    getComputedStyle(accent).borderTopColor === getComputedStyle(accent.querySelector(".primary")).backgroundColor;
  const drawn = [...node.querySelectorAll(".hit, .cell, .point")].some((part) => {
    const { stroke, strokeWidth, opacity } = getComputedStyle(part);
    return part.matches(".point") ? opacity === "1" : stroke !== "none" && Number.parseFloat(strokeWidth) >= 2;
  });
  node.dataset.stop ??= String((globalThis.stops = (globalThis.stops ?? 0) + 1));
  return {
    id: node.dataset.stop,
    name: `${node.tagName.toLowerCase()}.${node.className?.baseVal ?? node.className} "${(node.ariaLabel ?? node.textContent).trim().slice(0, 30)}"`,
    ringed: ringed(node) || Boolean(framed) || (Boolean(node.closest("svg")) && drawn),
    seen: width > 0 && height > 0 && bottom > 0 && top < innerHeight,
  };
};

for (const name of Object.keys(PAGES))
  checks[`${name}: every stop of the focus is seen`] = async () => {
    const page = await at(PAGES[name], {});
    const met = new Set();
    for (let n = 0; n < STOPS; n += 1) {
      await press(page, "Tab");
      const here = await page.evaluate(stop);
      if (!here || met.has(here.id)) break;
      met.add(here.id);
      must(here.ringed, `no ring: ${here.name}`);
      must(here.seen, `out of sight: ${here.name}`);
    }
    must(met.size >= 1 && met.size < STOPS, `${met.size} stops`);
  };

for (const name of Object.keys(PAGES))
  checks[`${name}: nothing moves where nothing may`] = async () => {
    const page = await at(PAGES[name], { still: true });
    await page.hover("body", { position: { x: 400, y: 200 } });
    await press(page, "j", "Tab", "Tab");
    const moving = await page.evaluate(() =>
      document.getAnimations().map(({ animationName, transitionProperty }) => animationName ?? transitionProperty),
    );
    must(!moving.length, `it moves: ${moving.join(", ")}`);
    const slow = await page.evaluate(() =>
      [...document.querySelectorAll("body *")]
        .filter((node) =>
          getComputedStyle(node)
            .transitionDuration.split(", ")
            .some((time) => Number.parseFloat(time) > 0),
        )
        .map((node) => `${node.tagName}.${node.className}`),
    );
    must(!slow.length, `it would move: ${slow.slice(0, 3).join(", ")}`);
  };

// With the system's colours, tints are gone: what is pressed or current must still differ from what is not.
const CHOSEN = {
  "the page that shows": ["panels", ".rail [aria-current=page]", ".rail a:not([aria-current])"],
  "the layout that holds": ["answers", ".segment [aria-pressed=true]", ".segment [aria-pressed=false]"],
  "a verdict that is given": ["panel", ".column [aria-pressed=true]", ".column [aria-pressed=false]"],
};
const look = (node) => {
  const { borderTopColor, borderTopWidth, outlineStyle, outlineWidth, backgroundColor, color, textDecorationLine } =
    getComputedStyle(node);
  return [borderTopWidth, borderTopColor, outlineStyle, outlineWidth, backgroundColor, color, textDecorationLine].join(
    " ",
  );
};
for (const [name, [where, chosen, other]] of Object.entries(CHOSEN))
  checks[`${name} is told apart without our colours`] = async () => {
    const page = await at(PAGES[where], { forced: true });
    const [one, two] = [
      await page.locator(chosen).first().evaluate(look),
      await page.locator(other).first().evaluate(look),
    ];
    must(one !== two, `both look the same: ${one}`);
    await shot(page, `state-forced-${where}`);
  };

checks["glyphs are drawn without our colours"] = async () => {
  const page = await at(PAGES.panels, { forced: true });
  const drawn = await page.locator(".rows svg :is(path, circle, rect, polygon)").evaluateAll((shapes) =>
    shapes.map((shape) => {
      const { fill, stroke } = getComputedStyle(shape);
      return [fill, stroke];
    }),
  );
  const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  must(drawn.length > 0, "there are no glyphs");
  must(
    drawn.every((inks) => inks.some((ink) => ink !== "none" && ink !== ground)),
    "a glyph has the colour of the page",
  );
};

checks["text grows to twice its size and nothing is lost"] = async () => {
  for (const name of ["ask", "panels", "owed", "settings"]) {
    const page = await at(PAGES[name], { width: 1280, height: 800 });
    await page.evaluate(() => (document.documentElement.style.fontSize = "200%"));
    await fits(page);
  }
};

checks["first run stands still and fits a small screen"] = async () => {
  for (const [name, place] of Object.entries(FRESH)) {
    const page = await at(place, { base: EMPTY, width: 320, height: 600, still: true });
    await until(page, () => page.evaluate(() => document.getAnimations().length), 0, `${name}: what moves`);
    await fits(page);
  }
};

checks["a page can be left by its skip link, and the focus is in it"] = async () => {
  const page = await open("/panels");
  await page.waitForSelector("table.rows");
  await press(page, "Tab", "Enter", "Tab");
  must(await page.evaluate(() => Boolean(document.activeElement.closest("main"))), "the focus is not in the page");
};

await run(checks);
