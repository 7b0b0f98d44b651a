// Every page, in both themes, wide and narrow: opens by its address, says nothing wrong, is accessible and fits.
import { BENCH, EMPTY, bothThemes, fits, run } from "./browser.mjs";
import { FRESH, PAGES, at } from "./pages.mjs";

const SIZES = [
  [1440, 900],
  [390, 844],
];
const NARROW = { width: 320, height: 700 };

const checks = {};
for (const [base, pages, where] of [
  [BENCH, PAGES, ""],
  [EMPTY, FRESH, "empty "],
])
  for (const [name, place] of Object.entries(pages))
    for (const [width, height] of SIZES)
      checks[`${where}${name}, ${width} px`] = async () => {
        const page = await at(place, { base, width, height });
        await bothThemes(page, `${where}${name}`);
        if (width > 500) return;
        await page.setViewportSize(NARROW);
        await fits(page);
      };

for (const [width, height] of SIZES)
  checks[`search, ${width} px`] = async () => {
    const page = await at(PAGES.panels, { width, height });
    await page.keyboard.press("Control+k");
    const found = page.locator(".palette li", { hasText: "kimi-k3" });
    await found.or(page.locator(".palette li", { hasText: "practice" })).first().waitFor();
    await bothThemes(page, "search");
  };

for (const [name, place] of Object.entries(PAGES))
  checks[`${name}, opened in the dark at ${NARROW.width} px`] = async () =>
    fits(await at(place, { ...NARROW, theme: "dark", still: true }));

await run(checks);
