// What every script of checks needs: one browser, a page that tells of its errors, and a line for each check.
import { mkdirSync, readFileSync } from "node:fs";
import { chromium } from "playwright-core";

export const { BENCH, EMPTY, SHOTS, TOKEN } = process.env;
const [PART, OF] = (process.env.PART ?? "0/1").split("/").map(Number);

const AXE = readFileSync(new URL("node_modules/axe-core/axe.min.js", import.meta.url), "utf8");

/** Themes and widths that a page is looked at in. */
export const LOOKS = [
  ["light", 1440],
  ["dark", 1440],
  ["light", 390],
  ["dark", 390],
];

/** What a page said that no page should say; each check begins with none. */
export const heard = [];

let browser;

/**
 * Run checks one after another, or the PART of them that falls to this run; a failure is told and the next one runs.
 * @param {Record<string, () => Promise<void>>} checks
 */
export async function run(checks) {
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
  try {
    for (const [name, check] of Object.entries(checks).filter((_, number) => number % OF === PART)) {
      heard.length = 0;
      try {
        await check();
        if (heard.length) throw new Error(heard.join("; "));
        console.log(`PASS ${name}`);
      } catch (problem) {
        console.log(`FAIL ${name}: ${String(problem.message).split("\n").slice(0, 6).join(" ")}`);
      }
      await Promise.all(browser.contexts().map((context) => context.close()));
    }
  } finally {
    await browser.close();
  }
}

/**
 * A fresh browser at a path.
 * @param {string} path
 * @param {{width?: number, height?: number, theme?: string, base?: string, still?: boolean, forced?: boolean}} [look]
 *   still: nothing may move; forced: the system's few colours instead of ours
 */
export async function open(path, look = {}) {
  const { width = 1440, height = 900, theme = "light", base = BENCH, still = false, forced = false } = look;
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: theme,
    reducedMotion: still ? "reduce" : "no-preference",
    forcedColors: forced ? "active" : "none",
    locale: "en-GB",
    timezoneId: "UTC",
    baseURL: base,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  page.on("pageerror", (problem) => heard.push(`page error: ${problem.message}`));
  page.on("console", (said) => ["error", "warning"].includes(said.type()) && heard.push(`console: ${said.text()}`));
  page.on("request", (asked) => {
    if (!asked.url().startsWith(base) && !asked.url().startsWith("data:")) heard.push(`asked ${asked.url()}`);
  });
  await page.goto(path);
  return page;
}

/** Fail with a sentence unless it holds. */
export function must(holds, sentence) {
  if (!holds) throw new Error(sentence);
}

/** Wait until what `look` answers is `wanted`. */
export async function until(page, look, wanted, sentence) {
  for (let tries = 0; tries < 100; tries += 1) {
    if ((await look()) === wanted) return;
    await page.waitForTimeout(50);
  }
  throw new Error(`${sentence}: ${await look()}, not ${wanted}`);
}

/**
 * Go with Tab to what is called so: by its label, or by the words in it, from their beginning.
 * @param {import("playwright-core").Page} page
 * @param {string} words
 */
export async function tabTo(page, words) {
  const called = () => {
    const node = document.activeElement;
    const label = node.labels?.[0]?.textContent ?? node.closest("label")?.textContent;
    return (node.getAttribute("aria-label") ?? label ?? node.textContent).trim();
  };
  for (let tabs = 0; tabs < 150; tabs += 1) {
    await page.keyboard.press("Tab");
    if ((await page.evaluate(called)).startsWith(words)) return;
  }
  throw new Error(`Tab does not lead to "${words}"`);
}

/** Press keys one after another. */
export async function press(page, ...keys) {
  for (const key of keys) await page.keyboard.press(key);
}

/** Fail where axe finds anything. */
export async function accessible(page) {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  const said = violations.map(
    ({ id, nodes }) =>
      `${id}: ${nodes
        .map(({ target }) => target.join(" "))
        .slice(0, 3)
        .join(", ")}`,
  );
  must(!violations.length, said.join("; "));
}

/** Fail where the page has to be scrolled sideways, and where something to press or to fill in is cut off. */
export async function fits(page) {
  const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  must(over <= 0, `it is ${over} px too wide`);
  const cut = await page.evaluate(() => {
    const scrolls = (node) => node && (["auto", "scroll"].includes(getComputedStyle(node).overflowX) || scrolls(node.parentElement));
    return [...document.querySelectorAll("button, a, input, select, textarea, summary")]
      .filter((node) => node.checkVisibility() && node.getBoundingClientRect().right > innerWidth + 1 && !scrolls(node))
      .map((node) => node.textContent.trim().slice(0, 30) || node.tagName);
  });
  must(!cut.length, `cut off: ${cut.slice(0, 4).join(", ")}`);
}

/**
 * Fail where what is shown does not fit, or axe finds anything, in the light or in the dark; a picture of each.
 * @param {import("playwright-core").Page} page
 * @param {string} name
 */
export async function bothThemes(page, name) {
  await fits(page);
  for (const theme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: theme });
    await page.evaluate(() => {
      const changing = document.getAnimations().filter((each) => each instanceof CSSTransition);
      return Promise.allSettled(changing.map((each) => each.finished));
    });
    await accessible(page);
    await shot(page, `${name}-${theme}-${page.viewportSize().width}`.replaceAll(" ", "-"));
  }
}

/** A picture, if pictures are wanted. */
export async function shot(page, name) {
  if (!SHOTS) return;
  mkdirSync(SHOTS, { recursive: true });
  await page.screenshot({ path: `${SHOTS}/${name}.png` });
}

/** The JSON at an address of the server, asked by the page. */
export const ask = (page, path) => page.evaluate(async (at) => (await fetch(at)).json(), path);
