// Every page, in both themes, wide and narrow: opens by its address, says nothing wrong, is accessible and fits.
import { BENCH, EMPTY, LOOKS, accessible, ask, fits, open, run, shot } from "./browser.mjs";

// name -> address, and what shows that it is drawn; an address may need an id that only the server knows.
const PAGES = {
  ask: ["/", ".who-sits .bench"],
  owed: ["/owed", ".judge-bar"],
  panels: ["/panels", "table.rows"],
  panel: [
    async (page) => `/panels?panel=${(await ask(page, "/api/log?limit=100")).panels.at(-1).panel}`,
    ".answers .column",
  ],
  conversations: ["/conversations", ".pane-list .list"],
  conversation: [
    async (page) =>
      `/conversations?conversation=${(await ask(page, "/api/conversations")).conversations[0].conversation}`,
    ".turns",
  ],
  models: ["/models", "table.rows"],
  model: ["/models?model=kimi-k3", ".drawer"],
  "add models": ["/models?add=hub", ".choices"],
  collections: ["/collections", ".cards"],
  collection: ["/collections?collection=review", ".drawer .bench"],
  "new collection": ["/collections?new=", ".drawer form"],
  endpoints: ["/endpoints", "table.rows"],
  endpoint: ["/endpoints?endpoint=hub", ".drawer"],
  "add endpoint": ["/endpoints?add=", "form"],
  keys: ["/keys", ".holds-table .rows"],
  key: ["/keys?key=ci&model=bench/code", ".drawer .bad"],
  "new key": ["/keys?new=", ".drawer form"],
  budget: ["/keys?budget=collection:review", ".drawer form"],
  settings: ["/settings", ".setting .field"],
  login: ["/login", "#token-form"],
};
const FRESH = {
  ask: ["/", ".squad"],
  owed: ["/owed", ".empty-state"],
  panels: ["/panels", ".empty-state"],
  conversations: ["/conversations", ".empty-state"],
  endpoints: ["/endpoints", ".first-endpoint"],
  keys: ["/keys", ".empty-state"],
};

async function at([address, drawn], look) {
  const page = await open(typeof address === "string" ? address : "/", look);
  if (typeof address !== "string") await page.goto(await address(page));
  await page.waitForSelector(drawn, { state: "visible" });
  return page;
}

const checks = {};
for (const [base, pages, where] of [
  [BENCH, PAGES, ""],
  [EMPTY, FRESH, "empty "],
])
  for (const [name, place] of Object.entries(pages))
    for (const [theme, width] of LOOKS)
      checks[`${where}${name}, ${theme}, ${width} px`] = async () => {
        const page = await at(place, { base, theme, width, height: width < 500 ? 844 : 900 });
        await fits(page);
        await accessible(page);
        await shot(page, `${where}${name}-${theme}-${width}`.replaceAll(" ", "-"));
      };

for (const [theme, width] of LOOKS)
  checks[`search, ${theme}, ${width} px`] = async () => {
    const page = await at(PAGES.panels, { theme, width });
    await page.keyboard.press("Control+k");
    await page
      .locator(".palette li", { hasText: "kimi-k3" })
      .or(page.locator(".palette li", { hasText: "practice" }))
      .first()
      .waitFor();
    await fits(page);
    await accessible(page);
    await shot(page, `search-${theme}-${width}`);
  };

for (const [name, place] of Object.entries(PAGES))
  checks[`${name} at 320 px, nothing moving`] = async () =>
    fits(await at(place, { width: 320, height: 700, still: true }));

await run(checks);
