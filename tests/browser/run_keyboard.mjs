// The journeys of run_journeys.mjs once more with the other hand: by keyboard alone what is done there by mouse, and by mouse what
// is done there by keyboard. No check here that is named a keyboard's uses the mouse, nor sets the focus by itself.
import { EMPTY, ask, must, open, press, run, tabTo, until } from "./browser.mjs";

const path = (page) => page.evaluate(() => location.pathname + location.search);
const answered = async (page) =>
  (await page.locator(".column").count()) > 0 && (await page.locator(".column.live").count()) === 0;
const judged = async (page) =>
  (await ask(page, "/api/models")).models.reduce((sum, { record }) => sum + record.judged, 0);
const claims = async (page, panel) => Object.values((await ask(page, `/api/panel/${panel}`)).claims).flat();
const latest = async (page) => (await ask(page, "/api/log?limit=1")).panels[0].panel;

await run({
  "first run by keyboard: ask the practice squad, mark a claim, judge, see the record change": async () => {
    const page = await open("/", { base: EMPTY });
    await page.locator(".samples button").first().waitFor();
    await tabTo(page, (await page.locator(".samples button").first().textContent()).trim());
    await press(page, "Enter", "Control+Enter");
    await until(page, () => answered(page), true, "all have answered");
    const before = await judged(page);
    await press(page, "1", "]", "r");
    await until(page, () => page.locator("mark.real").count().then(Boolean), true, "the words are marked");
    await until(page, async () => (await claims(page, await latest(page))).length, 1, "claims at the server");
    await press(page, "u");
    await until(page, () => judged(page), before + 1, "verdicts on the record");
    await press(page, "g", "m");
    await page.getByText("1 of 1, early").first().waitFor();
  },

  "first run by mouse: ask the practice squad, mark a claim, judge, see the record change": async () => {
    const page = await open("/", { base: EMPTY });
    await page.locator(".samples button").first().click();
    await page.getByRole("button", { name: "Ask the bench" }).click();
    await until(page, () => answered(page), true, "all have answered");
    const before = await judged(page);
    const words = page.locator(".column").nth(1).locator(".prose p, .prose li").first();
    await words.click({ clickCount: 3, position: { x: 12, y: 8 } });
    await page.locator(".pill").getByRole("button", { name: "False claim" }).click();
    await until(page, () => page.locator("mark.false").count().then(Boolean), true, "the words are marked");
    await page.locator(".column").nth(1).getByRole("button", { name: "Not" }).first().click();
    await until(page, () => judged(page), before + 1, "verdicts on the record");
    await page.locator(".rail").getByText("Models").click();
    await page.locator("table.rows").getByText("0 of 1, early").first().waitFor();
  },

  "by keyboard an endpoint is added, its models, a collection of them, and asked": async () => {
    const page = await open("/endpoints");
    await page.waitForSelector("table.rows");
    const { base } = (await ask(page, "/api/endpoints")).endpoints.find(({ name }) => name === "hub");
    await tabTo(page, "Add an endpoint");
    await press(page, "Enter");
    await page.getByLabel("Provider").waitFor();
    await tabTo(page, "Provider");
    await press(page, "Home"); // the first choice is an address of one's own
    await tabTo(page, "Address");
    await page.keyboard.type(base);
    await tabTo(page, "Name here");
    await page.keyboard.type("typed");
    await tabTo(page, "API key");
    await page.keyboard.type("sk-typed");
    await press(page, "Enter");
    await page.waitForSelector(".choices");
    await tabTo(page, "glm-5.2");
    await press(page, "Space");
    await tabTo(page, "Name for glm-5.2");
    await press(page, "Control+a");
    await page.keyboard.type("glm-typed");
    await tabTo(page, "Add 1 model");
    await press(page, "Enter");
    await page.getByRole("link", { name: "glm-typed" }).waitFor();
    await press(page, "g", "c");
    await page.waitForSelector(".cards");
    await tabTo(page, "New collection");
    await press(page, "Enter");
    await page.locator(".drawer form").waitFor();
    await tabTo(page, "Name");
    await page.keyboard.type("typed");
    await tabTo(page, "Add a member");
    await page.keyboard.type("glm-typed");
    await press(page, "Enter");
    await tabTo(page, "Make it");
    await press(page, "Enter");
    await page.locator(".drawer .bench").waitFor();
    await tabTo(page, "Ask");
    await press(page, "Enter");
    await page.waitForSelector(".composer");
    await tabTo(page, "Collection");
    await page.keyboard.type("bench/typed");
    await tabTo(page, "Question");
    await page.keyboard.type("Is it there?");
    await press(page, "Control+Enter");
    await page.locator(".column[data-state=done]").first().waitFor();
    must((await ask(page, "/api/log?limit=1")).panels[0].collection === "typed", "another collection was asked");
  },

  "ten owed answers are judged blind by mouse": async () => {
    const page = await open("/owed");
    await page.waitForSelector(".judge-bar");
    const left = async () => Number.parseInt(await page.locator(".pane-list h2").textContent(), 10);
    const before = await left();
    must(before >= 10, `${before} are owed`);
    for (let n = 0; n < 10; n += 1) {
      must(!/kimi|glm|qwen|nemotron|gpt-oss/.test(await page.locator("main").innerText()), "a name is shown");
      await page.locator(".judge-bar").getByRole("button", { name: n % 2 ? "Not useful" : /^Useful/ }).click();
      await until(page, left, before - n - 1, "what is left");
    }
    await page.getByRole("button", { name: "Undo" }).first().click();
    await until(page, left, before - 9, "what is left after undo");
  },

  "a panel is found by mouse, and Back returns to the filter": async () => {
    const page = await open("/panels");
    await page.waitForSelector("table.rows");
    await page.getByRole("button", { name: "Judged" }).or(page.getByText("Judged", { exact: true })).first().click();
    await until(page, async () => (await path(page)).includes("state=judged"), true, "the filter is in the address");
    await page.getByRole("button", { name: "Any" }).or(page.getByText("Any", { exact: true })).first().click();
    await page.getByText("Which of these three index layouts").click();
    await page.waitForSelector(".answers .column");
    must(/panel=p/.test(await path(page)), "the panel is in the address");
    await page.goBack();
    await page.waitForSelector("table.rows");
  },

  "a conversation is judged by mouse": async () => {
    const page = await open("/conversations");
    await page.locator(".pane-list .list a").first().click();
    await page.locator(".works-list").getByRole("button", { name: /^Useful/ }).first().click();
    await page.waitForSelector(".works-list [aria-pressed=true]");
  },

  "settings are changed by keyboard": async () => {
    const page = await open("/panels");
    await page.waitForSelector("table.rows");
    await press(page, "g", "s");
    await page.waitForSelector(".setting .field");
    await tabTo(page, "Days until unjudged texts go");
    await press(page, "Control+a");
    await page.keyboard.type("33");
    await press(page, "Tab");
    await until(page, async () => (await ask(page, "/api/settings")).settings.body_days, 33, "days at the server");
  },
});
