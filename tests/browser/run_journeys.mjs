// What people come to do, from beginning to end: by keyboard alone, by mouse, on a phone.
import { EMPTY, ask, heard, must, open, press, run, until } from "./browser.mjs";

const path = (page) => page.evaluate(() => location.pathname + location.search);

await run({
  "every page is two keys away, and Back returns": async () => {
    const page = await open("/panels");
    await page.waitForSelector("table.rows");
    for (const [key, place] of [
      ["o", "/owed"],
      ["v", "/conversations"],
      ["m", "/models"],
      ["c", "/collections"],
      ["e", "/endpoints"],
      ["q", "/quotas"],
      ["u", "/usage"],
      ["k", "/keys"],
      ["s", "/settings"],
      ["p", "/panels"],
    ]) {
      await press(page, "g", key);
      await until(page, () => path(page), place, "where we are");
      must((await page.locator(".rail [aria-current=page]").count()) === 1, "one page of the rail is current");
    }
    const back = ["/settings", "/keys", "/usage", "/quotas", "/endpoints", "/collections", "/models"];
    for (const place of [...back, "/conversations", "/owed", "/panels"]) {
      await page.goBack();
      await until(page, () => path(page), place, "where Back leads");
    }
  },

  "ten owed answers are judged blind in under 25 keys, and the last one is undone": async () => {
    const page = await open("/owed");
    await page.waitForSelector(".judge-bar");
    const left = async () => Number.parseInt(await page.locator(".pane-list h2").textContent(), 10);
    const before = await left();
    must(before >= 10, `${before} are owed`);
    let keys = 0;
    for (let n = 0; n < 10; n += 1) {
      const text = await page.locator("main").innerText();
      must(!/kimi|glm|qwen|nemotron|gpt-oss/.test(text), "a name is shown");
      await press(page, n % 2 ? "n" : "u");
      keys += 1;
      await until(page, left, before - n - 1, "what is left");
    }
    must(keys < 25, `${keys} keys`);
    await press(page, "z");
    await until(page, left, before - 9, "what is left after undo");
    await press(page, "h");
    await page.waitForSelector(".answer h3 .seat");
    await until(
      page,
      async () =>
        (await ask(page, "/api/log?state=owed&limit=100")).panels
          .flatMap(({ seats }) => seats)
          .filter((seat) => ["ok", "cut"].includes(seat.status) && typeof seat.verdict?.useful !== "boolean").length,
      before - 9,
      "what the server says is owed",
    );
  },

  "a sentence is marked by keyboard and kept": async () => {
    const page = await open("/owed");
    await page.waitForSelector(".judge-bar");
    await press(page, "]", "r");
    await page.waitForSelector(".claims-line .chip.ok");
    const claims = async () =>
      Object.values(
        (await ask(page, `/api/panel/${(await ask(page, "/api/log?state=owed&limit=100")).panels.at(-1).panel}`))
          .claims,
      ).flat().length;
    await until(page, claims, 1, "claims at the server");
    await press(page, "z");
    await until(page, () => page.locator(".claims-line .chip").count(), 0, "claims after undo");
  },

  "a panel is found by its words, opened by key, and Back returns to the filter": async () => {
    const page = await open("/panels");
    await page.waitForSelector("table.rows");
    await press(page, "/");
    await page.keyboard.type("torn write");
    await until(page, () => page.locator(".rows tbody tr").count(), 1, "rows that fit");
    await page.locator("h1").click();
    await press(page, "j", "Enter");
    await page.waitForSelector(".answers .column");
    must(/panel=p/.test(await path(page)), "the panel is in the address");
    await page.goBack();
    await until(page, () => page.locator(".rows tbody tr").count(), 1, "rows after Back");
    must(/q=torn\+write/.test(await path(page)), "the filter is in the address");
  },

  "search jumps to a panel, a model and a page, and gives the focus back": async () => {
    const page = await open("/settings");
    await page.waitForSelector(".setting .field");
    const jump = async (words, found, place) => {
      await press(page, "Control+k");
      await page.keyboard.type(words);
      await page.locator(".palette [aria-selected=true]", { hasText: found }).waitFor();
      await press(page, "Enter");
      await until(page, async () => place.test(await path(page)), true, `${words} leads to ${place}`);
    };
    await jump("torn", "torn write", /^\/panels\?panel=p/);
    await jump("kimi", "kimi-k3", /^\/models\?model=kimi-k3$/);
    await jump("> add an", "Add an endpoint", /^\/endpoints\?add=/);
    await press(page, "Control+k", "Escape");
    await until(page, () => page.locator("dialog").count(), 0, "dialogs after Escape");
  },

  "a server that is gone is told on every page, with a way on": async () => {
    const page = await open("/settings");
    await page.waitForSelector(".setting .field");
    await page.route("**/api/**", (route) => route.abort());
    for (const key of ["o", "p", "v", "m", "c", "k", "e"]) {
      await press(page, "g", key);
      await page.locator("main .notice.bad", { hasText: "not running" }).first().waitFor();
      await page.getByRole("button", { name: "Try again" }).first().waitFor();
    }
    await page.locator(".pulse.stale").waitFor();
    await page.unroute("**/api/**");
    const again = page.getByRole("button", { name: "Try again" }).first();
    const back = page.waitForSelector("table.rows"); // the page may come back before the button is pressed
    await Promise.race([again.click().catch(() => back), back]);
    await back;
    heard.length = 0; // the browser's own lines about what was aborted
  },

  "a conversation tells who failed and who took over, and is judged": async () => {
    const page = await open("/conversations");
    await page.waitForSelector(".pane-list .list");
    await press(page, "j", "Enter");
    await page.waitForSelector(".turns");
    must(/failed \(overloaded\)/.test(await page.locator(".turns").innerText()), "the failover is told");
    await press(page, "n");
    await page.waitForSelector(".works-list [aria-pressed=true]");
    await until(
      page,
      async () => (await ask(page, "/api/conversations")).conversations[0].verdict?.useful,
      false,
      "the verdict at the server",
    );
  },

  "an endpoint is added, its models, a collection of them, and asked": async () => {
    const page = await open("/endpoints");
    const { endpoints } = await ask(page, "/api/endpoints");
    const { base } = endpoints.find(({ name }) => name === "hub");
    await page.getByRole("link", { name: "Add an endpoint" }).click();
    await page.getByLabel("Provider").selectOption("");
    await page.getByLabel("Address").fill(base);
    await page.getByLabel("Name here").fill("second");
    await page.getByLabel("API key").fill("sk-journey");
    await page.getByRole("button", { name: "Add and test" }).click();
    await page.waitForSelector(".choices");
    await page.getByLabel("glm-5.2", { exact: true }).check();
    await page.getByLabel("Name for glm-5.2").fill("glm-again");
    await page.getByRole("button", { name: "Add 1 model" }).click();
    await page.getByRole("link", { name: "glm-again" }).waitFor();
    await page.getByRole("link", { name: "Collections" }).first().click();
    await page.getByRole("link", { name: "New collection" }).click();
    await page.getByLabel("Name", { exact: true }).fill("fresh");
    await page.getByLabel("Add a member").selectOption("glm-again");
    await page.getByRole("button", { name: "Make it" }).click();
    await page.locator(".drawer .bench").waitFor();
    await page.goto("/?collection=fresh");
    await page.locator(".composer textarea").first().fill("Is it there?");
    await press(page, "Control+Enter");
    await page.locator(".column[data-state=done]").first().waitFor();
    await page.goto("/endpoints?endpoint=second");
    await page.getByRole("button", { name: "Remove" }).click();
    await page.locator("dialog input").fill("second");
    await page.locator("dialog").getByRole("button", { name: "Remove" }).click();
    await until(
      page,
      async () => (await ask(page, "/api/endpoints")).endpoints.length,
      endpoints.length,
      "endpoints at the end",
    );
  },

  "a setting is kept, a wrong one is refused with its reason and goes back": async () => {
    const page = await open("/settings");
    const box = page.getByLabel("Days until unjudged texts go");
    await box.fill("31");
    await box.blur();
    await until(page, async () => (await ask(page, "/api/settings")).settings.body_days, 31, "days at the server");
    await box.fill("no");
    await box.blur();
    await page.locator(".setting .notice.bad").waitFor();
    must((await box.inputValue()) === "31", "the field goes back");
    must(heard.length === 1 && heard[0].includes("400"), `it said: ${heard.join("; ")}`); // the browser's own line
    heard.length = 0;
  },

  "first run: ask the practice squad, judge, see it on the record": async () => {
    const page = await open("/", { base: EMPTY });
    await page.locator(".samples button").first().click();
    await press(page, "Control+Enter");
    await until(
      page,
      async () => (await page.locator(".column").count()) > 0 && (await page.locator(".column.live").count()) === 0,
      true,
      "all have answered",
    );
    await press(page, "1", "u");
    const judged = async () =>
      (await ask(page, "/api/models")).models.reduce((sum, { record }) => sum + record.judged, 0);
    await until(page, judged, 1, "verdicts on the record");
    await press(page, "g", "m");
    await page.getByText("1 of 1, early").first().waitFor();
  },

  "what a model writes stays words": async () => {
    const page = await open("/panels");
    await page.waitForSelector("table.rows");
    const { panels } = await ask(page, "/api/log?model=nemotron-ultra&q=idempotent&limit=1");
    await page.goto(`/panels?panel=${panels[0].panel}`);
    await page.waitForSelector(".answers .column");
    must((await page.evaluate(() => globalThis.hacked)) === undefined, "it ran");
    must(
      (await page.locator(".prose script, .prose img, .prose a[href^=javascript]").count()) === 0,
      "it became an element",
    );
  },

  "on a phone all pages are within reach": async () => {
    const page = await open("/", { width: 390, height: 844 });
    await page.locator(".tabs").getByText("Panels").click();
    await page.waitForSelector(".rows");
    await page.locator(".tabs").getByText("More").click();
    await page.locator(".sheet").getByText("Settings").click();
    await page.waitForSelector(".setting .field");
    must((await page.locator("dialog").count()) === 0, "the sheet is closed");
  },
});
