// The Ask page: stopped and asked again, judged blind, two answers side by side, found again and taken along.
import { readFileSync } from "node:fs";
import { ask, must, open, press, run, tabTo, until } from "./browser.mjs";

const NAMES = /kimi|glm|qwen|nemotron|gpt-oss/;

/** The JSON that comes of a POST by the page. */
const post = (page, path, body) =>
  page.evaluate(
    async ([at, said]) => {
      const sent = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(said) };
      return (await fetch(at, sent)).json();
    },
    [path, body],
  );

/** Ask a collection, by keyboard. */
async function asks(page, collection, question) {
  await page.goto(`/?collection=${collection}`);
  await page.waitForSelector(".who-sits .bench");
  await until(page, () => page.locator("#collection").inputValue(), collection, "the collection");
  await page.locator("#question").fill(question);
  await press(page, "Control+Enter");
  await page.locator(".column").first().waitFor();
}

const done = (page) => until(page, () => page.locator(".column.live").count(), 0, "seats at work");
const path = (page) => page.evaluate(() => location.pathname + location.search);

await run({
  "a seat is stopped, one that failed is asked again, and both are on record": async () => {
    const page = await open("/");
    for (const alias of ["slow-7b", "flaky-7b"])
      await post(page, "/api/model/add", { alias, endpoint: "hub", served: alias, ad_hoc: true });
    const members = ["slow-7b", "flaky-7b", "kimi-k3"];
    await post(page, "/api/collection", { name: "trial", members, explorers: 0 });
    await asks(page, "trial", "Will this end?");
    const column = (name) => page.locator(".column", { hasText: name });
    await column("slow-7b").locator(".prose", { hasText: "Half an answer" }).waitFor();
    await column("flaky-7b").locator(".cause").waitFor();
    await column("slow-7b").getByRole("button", { name: "Stop" }).click();
    await until(page, () => column("slow-7b").getAttribute("data-state"), "cut", "the stopped seat");
    must((await column("slow-7b").locator(".prose").last().innerText()).includes("Half an answer"), "its words stay");
    await column("flaky-7b").getByRole("button", { name: "Retry" }).click();
    await column("flaky-7b").locator(".prose", { hasText: "Now it answers" }).waitFor();
    await until(page, () => column("flaky-7b").getAttribute("data-state"), "done", "the seat that was asked again");
    await page.locator(".column").nth(1).focus();
    await press(page, "2", "u");
    const { panels } = await ask(page, "/api/log?collection=trial&limit=5");
    must(panels.length === 2, `${panels.length} panels are recorded`);
    must(panels[0].seats.length === 1 && panels[0].seats[0].alias === "flaky-7b", "it was asked alone");
    must(panels[1].seats.find(({ alias }) => alias === "slow-7b").error === "stopped", "it is known as stopped");
    const judged = async () =>
      (await ask(page, "/api/log?collection=trial&limit=1")).panels[0].seats[0].verdict?.useful;
    await until(page, judged, true, "the verdict on the new answer");
  },

  "a panel is asked and judged blind by keyboard, then the names return": async () => {
    const page = await open("/");
    await page.waitForSelector(".who-sits .bench");
    await page.getByRole("button", { name: "Blind" }).focus();
    await press(page, "Enter");
    await asks(page, "review", "Is the retry in fetch.py idempotent when the upload is resumed?");
    await done(page);
    const text = await page.locator("main").innerText();
    must(!NAMES.test(text), `a name is shown: ${text.match(NAMES)?.[0]}`);
    must(!/\$|tok\/s|member\d|explorer/.test(text), "a price, a speed or a role is shown");
    must(/blind=1/.test(await path(page)), "blind is in the address");
    const answers = page.locator(".column[data-state=done]");
    const n = await answers.count();
    must(n >= 3, `${n} answers`);
    const letters = await page.locator(".column .name").allInnerTexts();
    must(letters.join() === "Seat A,Seat B,Seat C,Seat D".slice(0, letters.join().length), letters.join());
    const seats = await page.locator(".column").evaluateAll((all) => all.map(({ dataset }) => dataset.state));
    for (const [i, state] of seats.entries()) if (state === "done") await press(page, String(i + 1), i % 2 ? "n" : "u");
    await until(page, async () => NAMES.test(await page.locator(".columns").innerText()), true, "the names return");
    must(!/blind/.test(await path(page)), "the address no longer says blind");
    await page.getByRole("link", { name: "New question" }).click();
    await page.getByRole("button", { name: "Blind" }).click(); // the choice is remembered
  },

  "two answers are compared side by side, chosen from, and the choice taken back": async () => {
    const page = await open("/");
    await asks(page, "review", "Is the retry in fetch.py idempotent when the upload is resumed?");
    await done(page);
    await page.getByRole("button", { name: "Two-up" }).click();
    await page
      .locator(".two-row[data-how=differs], .two-row[data-how=left], .two-row[data-how=right]")
      .first()
      .waitFor();
    must(/view=two-up/.test(await path(page)), "the view is in the address");
    const names = () => page.locator(".two-heads strong").allInnerTexts();
    const [left, right] = await names();
    await press(page, "s");
    await until(page, async () => (await names()).join(), [right, left].join(), "the sides after a swap");
    await press(page, "1");
    await until(
      page,
      () =>
        page
          .locator(".verdict-line [aria-pressed=true]")
          .innerText()
          .then((t) => t.split("\n")[0].trim().slice(0, 4)),
      "Left",
      "the choice",
    );
    await press(page, "z");
    await until(page, () => page.locator(".verdict-line [aria-pressed=true]").count(), 0, "choices after undo");
    await press(page, "]");
    await until(page, async () => (await names()).join() !== [right, left].join(), true, "another pair");
    must((await page.locator(".two-row mark.differs").count()) > 0, "words are marked");
    await page.getByRole("button", { name: "Word marks" }).click();
    await until(page, () => page.locator(".two-row mark.differs").count(), 0, "marks");
    await page.reload();
    await page.locator(".two-heads strong").first().waitFor();
    await page.getByRole("button", { name: "Columns" }).click();
    must(!/view=/.test(await path(page)), "the address forgets the view");
    await page.getByRole("button", { name: "Only differences" }).click();
  },

  "a merged answer says which seats make its points, and a call is found by its id": async () => {
    const page = await open("/?collection=review");
    await page.waitForSelector(".who-sits .bench");
    await until(page, () => page.locator("#collection").inputValue(), "review", "the collection");
    await page.getByRole("button", { name: "Merged" }).click();
    await page.locator("#question").fill("Is the retry in fetch.py idempotent when the upload is resumed?");
    await press(page, "Control+Enter");
    await page.locator(".merged .cites button").first().click();
    must((await page.locator(".columns .column[aria-current=true]").count()) === 1, "it leads to the seat");
    await done(page);
    const { panels } = await ask(page, "/api/log?limit=1");
    await press(page, "Control+k");
    await page.keyboard.type(panels[0].seats[0].call);
    await page.locator(".palette [aria-selected=true]", { hasText: "open" }).waitFor();
    await press(page, "Enter");
    await page.waitForSelector(".answers .column");
    must((await path(page)).endsWith(panels[0].panel), "its panel is open");
  },

  "yesterday's panel is found and taken along as a page that does nothing": async () => {
    const page = await open("/panels");
    await page.waitForSelector("table.rows");
    await page.locator("tr", { hasText: "yesterday" }).first().locator("th a").click();
    await page.waitForSelector(".answers .column");
    const text = await page.locator(".answers .column .prose").first().innerText();
    for (const [name, ending] of [
      ["One HTML file", "html"],
      ["Markdown", "md"],
      ["JSON", "json"],
    ]) {
      await page.getByText("Export", { exact: true }).click();
      const coming = page.waitForEvent("download");
      await page.getByRole("link", { name }).click();
      const file = await coming;
      must(file.suggestedFilename().endsWith(`.${ending}`), file.suggestedFilename());
      const kept = readFileSync(await file.path(), "utf8");
      must(kept.includes(text.split(/[\s.,:]/)[0]), `${ending}: the answer is in it`);
      if (ending === "html") must(!/<script|<img|<link|src=/.test(kept), "it runs or fetches something");
    }
  },

  "yesterday's panel is found and taken along by keyboard": async () => {
    const page = await open("/usage");
    await press(page, "g", "p");
    await page.waitForSelector("table.rows");
    const asked = await page.locator("tr", { hasText: "yesterday" }).first().locator("th a").textContent();
    await tabTo(page, asked.trim());
    await press(page, "Enter");
    await page.waitForSelector(".answers .column");
    await tabTo(page, "Export");
    await press(page, "Enter");
    await tabTo(page, "One HTML file");
    const coming = page.waitForEvent("download");
    await press(page, "Enter");
    const kept = readFileSync(await (await coming).path(), "utf8");
    must(kept.includes(asked.trim().slice(0, 20)), "the question is in it");
  },

  "a panel that was opened by its address is asked again as it was asked": async () => {
    const page = await open("/usage");
    const asked = [{ role: "user", content: "Who sat here?" }];
    const reply = await post(page, "/v1/chat/completions", { model: "bench/review:merged", messages: asked });
    await page.goto(`/?panel=${reply.bench.panel}`);
    await page.getByRole("button", { name: "Ask again" }).click();
    await until(page, () => page.locator("#collection").inputValue(), "review", "the collection");
    must((await page.locator("textarea").first().inputValue()) === "Who sat here?", "the question");
    await until(page, () => page.getByRole("button", { name: "Merged" }).getAttribute("aria-pressed"), "true", "merged");
  },

  "claims in words of one's own are shown and can be decided otherwise": async () => {
    const page = await open("/usage");
    const asked = [{ role: "user", content: "What did an agent make of it?" }];
    const reply = await post(page, "/v1/chat/completions", { model: "bench/review", messages: asked });
    const { call } = reply.bench.seats[0];
    await post(page, "/bench/verdict", { call, useful: true, real: ["It leaks, I think", "It is slow"] });
    await page.goto(`/?panel=${reply.bench.panel}`);
    const row = (words) => page.locator(".claims tr", { hasText: words });
    await row("It leaks, I think").getByRole("button", { name: "Unmark" }).click();
    await until(page, () => row("It leaks").count(), 0, "rows of what was taken back");
    await row("It is slow").getByRole("button", { name: "False" }).click();
    const kept = async () => {
      const { claims } = await ask(page, `/api/panel/${reply.bench.panel}`);
      return Object.values(claims).flat().map(({ quote, decision }) => `${quote}: ${decision}`).sort().join(", ");
    };
    await until(page, kept, "It is slow: false", "what the server keeps");
  },

  "points and words of two answers are matched as a reader would": async () => {
    const page = await open("/");
    const told = await page.evaluate(async () => {
      const { aligned, differences, points, shared } = await import("/ui/ask/alike.js");
      const left =
        "**No.** It is counted twice.\n\n1. `fetch.py:88` builds the key in the loop.\n2. Line 94 is fine.\n\n---\n\nThe end.";
      const right =
        "Yes.\n\n- Nobody reads the log at night, so the alarm is late.\n- The key at `fetch.py:88` is made anew.\n\nThe end.";
      const [ours, theirs] = [points(left), points(right)];
      const words = (text, all) => all.map(({ start, end }) => text.slice(start, end));
      const [was, is] = ["the lock is held twice", "the lock was held once, briefly"];
      const [a, b] = differences(was, is);
      const many = Array.from({ length: 400 }, (_, i) => `- point ${i} says ${"word ".repeat(60)}`).join("\n");
      return {
        points: words(left, ours).map((each) => each.trim()),
        how: (await aligned(ours, theirs)).map(({ how }) => how).join(),
        words: [words(was, a), words(is, b)],
        same: differences(was, was).flat().length,
        shared: words(left, await shared(ours, [theirs])).map((each) => each.trim()),
        alone: (await shared(ours, [])).length,
        many: (await aligned(points(many), points(many))).filter(({ how }) => how === "same").length,
        nothing: (await aligned(points(""), theirs)).map(({ how }) => how).join(),
      };
    });
    const wanted = {
      points: [
        "**No.** It is counted twice.",
        "1. `fetch.py:88` builds the key in the loop.",
        "2. Line 94 is fine.",
        "The end.",
      ],
      how: "right,right,left,differs,left,same",
      words: [["is held twice"], ["was held once, briefly"]],
      same: 0,
      shared: ["1. `fetch.py:88` builds the key in the loop.", "The end."],
      alone: 0,
      many: 120,
      nothing: "right,right,right,right",
    };
    for (const [name, value] of Object.entries(wanted))
      must(JSON.stringify(told[name]) === JSON.stringify(value), `${name}: ${JSON.stringify(told[name])}`);
  },

  "what happens elsewhere shows by itself, and can be paused": async () => {
    const page = await open("/panels");
    await page.waitForSelector("table.rows");
    const rows = () => page.locator(".rows tbody tr").count();
    const before = await rows();
    const elsewhere = (words) =>
      post(page, "/v1/chat/completions", { model: "bench/review", messages: [{ role: "user", content: words }] });
    await elsewhere("Is anybody there?");
    await until(page, rows, before + 1, "rows");
    await page.getByRole("button", { name: "Pause updates" }).click();
    await elsewhere("And now?");
    await page.getByRole("button", { name: "Resume updates, 1 new" }).click();
    await until(page, rows, before + 2, "rows after the pause");
    await page.locator(".pulse", { hasText: "Live" }).waitFor();
  },
});
