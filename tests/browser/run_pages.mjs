// Every page, in both themes, wide and narrow: opens by its address, says nothing wrong, is accessible and fits.
import { BENCH, EMPTY, LOOKS, accessible, fits, run, shot } from "./browser.mjs";
import { FRESH, PAGES, at } from "./pages.mjs";

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
