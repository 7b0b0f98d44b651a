// The books: quotas watched and changed, what was spent, and the drawings that stand alone.
import { LOOKS, accessible, ask, fits, heard, must, open, press, run, shot, until } from "./browser.mjs";

const path = (page) => page.evaluate(() => location.pathname + location.search);
const brisk = (page) => page.getByRole("region", { name: "brisk", exact: true });
const spoken = (page) => page.locator("#spoken").textContent();

/** Wait until the block of the short window says this, of its requests and of itself. */
async function says(page, left, state) {
  await brisk(page).locator("tbody tr", { hasText: left }).waitFor();
  await brisk(page).locator("header .status", { hasText: state }).waitFor();
}

// One of each drawing, as pages make them, in place of the page.
const KIT = async () => {
  const [{ bars }, { area }, { scatter }, { strip, calendar }, { sparkline }, { timeline, forest }] = await Promise.all(
    ["chart/bars", "chart/area", "chart/scatter", "chart/heat", "chart/spark", "chart"].map(
      (name) => import(`/ui/${name}.js`),
    ),
  );
  const at = Array.from({ length: 12 }, (_, i) => new Date(Date.UTC(2026, 10, 1 + i)).toISOString());
  const money = (n) => `$${n}`;
  const point = (alias, x, y) => ({ alias, x, y, range: [y - 0.1, y + 0.1], said: `${money(x)}, ${y * 100} %` });
  const share = { useful: 34, judged: 41, range: [0.69, 0.91] };
  const parts = [
    bars({
      title: "Bars",
      label: "Spend by day",
      at,
      step: 86_400,
      series: [
        { name: "panels", tone: "q1", values: at.map((_, i) => i / 10) },
        { name: "route", tone: "q2", values: at.map((_, i) => (i === 3 ? null : 0.5)) },
      ],
      format: money,
      mark: { value: 1.2, name: "budget" },
    }),
    area({
      title: "Area",
      label: "Seconds by day",
      at,
      step: 86_400,
      low: at.map((_, i) => (i === 5 ? null : 2 + i)),
      high: at.map((_, i) => (i === 5 ? null : 9 + i)),
      format: (n) => `${n} s`,
    }),
    scatter({
      title: "Scatter",
      label: "Cost against usefulness",
      axis: "cost, log scale",
      points: [point("kimi-k3", 0.013, 0.83), point("glm-5.2", 0.012, 0.74), point("qwen3.5", 0.002, 0.64)],
      format: money,
      head: ["Model", "Cost"],
      rows: [["kimi-k3", "$0.013"]],
    }),
    calendar({
      title: "Calendar",
      label: "Calls by day",
      days: [
        { day: "2026-11-25", value: 4 },
        { day: "2026-11-26", value: 9 },
      ],
      today: "2026-11-26",
      format: (n) => `${n} calls`,
    }),
    strip({ label: "Refused", counts: [0, 1, 5, null], names: ["00:00", "01:00", "02:00", "03:00"] }),
    sparkline({ label: "Calls", values: [1, 2, null, 4], format: String }),
    timeline({
      label: "Seats",
      head: ["Seat", "Time", "Took"],
      rows: [{ name: "kimi-k3", spans: [{ from: 0, to: 2, kind: "solid" }], said: "2 s" }],
    }),
    forest({ label: "Records", head: ["Model", "Useful", "Judged"], early: 5, rows: [{ name: "kimi-k3", ...share }] }),
  ];
  const place = document.createElement("div");
  place.className = "stack";
  place.append(...parts);
  document.querySelector("main").replaceChildren(place);
};

async function kit(look) {
  const page = await open("/settings", look);
  await page.waitForSelector(".setting .field");
  await page.evaluate(KIT);
  await page.locator(".plot svg .mark").first().waitFor();
  return page;
}

const checks = {
  "the books are two keys away": async () => {
    const page = await open("/models");
    await page.waitForSelector("table.rows");
    for (const [key, place] of [
      ["q", "/quotas"],
      ["u", "/usage"],
    ]) {
      await press(page, "g", key);
      await until(page, () => path(page), place, "where we are");
      await page.locator(`.rail [aria-current=page][href="${place}"]`).waitFor();
    }
    await page.goBack();
    await page.locator(".connection").first().waitFor();
  },

  "a quota runs out and comes back by itself, by mouse and by keyboard": async () => {
    const page = await open("/quotas");
    await brisk(page).getByText("No limits known").waitFor();
    const probe = () => brisk(page).getByRole("button", { name: /^Probe now/ });
    await probe().click();
    await says(page, "1 of 2", "free to send");
    must(/reply header/.test(await brisk(page).innerText()), "it is said who told the limit");
    await probe().click();
    await says(page, "0 of 2", "pacing, next slot in");
    await probe().click();
    await brisk(page).getByText("not sent, paced by the bench").waitFor();
    await says(page, "2 of 2", "free to send"); // nobody pressed anything
    await page.locator("h1").click();
    for (let n = 0; n < 4; n += 1) {
      if (await brisk(page).locator("h2 a:focus").count()) break;
      await press(page, "j");
    }
    await press(page, "Tab", "Enter");
    await says(page, "1 of 2", "free to send");
    must(await probe().evaluate((node) => node === document.activeElement), "the focus is still on the button");
    await press(page, "Enter");
    await says(page, "0 of 2", "pacing");
    await says(page, "2 of 2", "free to send");
  },

  "a limit is set, refused with its reason, and taken away": async () => {
    const page = await open("/quotas");
    await brisk(page).getByRole("link", { name: "Set a limit of brisk" }).click();
    must(/connection=brisk/.test(await path(page)), "the connection is in the address");
    await page.getByLabel("At most").fill("none");
    await page.getByRole("button", { name: "Set the limit" }).click();
    await page.locator(".drawer .notice.bad", { hasText: "such as 30" }).waitFor();
    await page.getByLabel("At most").fill("1e20");
    await page.getByRole("button", { name: "Set the limit" }).click();
    await page.locator(".drawer .notice.bad", { hasText: "whole number" }).waitFor();
    heard.length = 0; // the browser's own line about the server's refusal
    await page.getByLabel("At most").fill("30");
    await page.getByLabel("Of", { exact: true }).selectOption("rpd");
    await page.getByRole("button", { name: "Set the limit" }).click();
    await page.locator(".own-limits", { hasText: "30 requests a day" }).waitFor();
    await brisk(page).locator("tbody tr", { hasText: "requests a day" }).waitFor();
    await page.getByRole("button", { name: "Remove the limit requests a day" }).click();
    await page.getByText("None of your own for brisk").waitFor();
    await press(page, "Escape");
    await until(page, () => path(page), "/quotas", "where Escape leads");
  },

  "a model rests for as long as it is told, and is woken": async () => {
    const page = await open("/quotas?connection=brisk&model=brisk-mini");
    await page.getByRole("button", { name: "Let it rest" }).click();
    await brisk(page)
      .getByText(/brisk-mini rests until .*: you let it rest/)
      .waitFor();
    await page.locator(".notice.warn", { hasText: "brisk rests." }).waitFor();
    await brisk(page).getByRole("button", { name: "Wake: brisk-mini" }).click();
    await brisk(page).getByText("brisk-mini is awake").waitFor();
    must(
      (await ask(page, "/api/quotas")).resting.every(({ model }) => model !== "brisk-mini"),
      "it rests still",
    );
  },

  "what was spent is cut by time and by what, and the address says how": async () => {
    const page = await open("/usage");
    await page.locator(".plot svg .mark").first().waitFor();
    await page.getByRole("button", { name: "7 days" }).click();
    await page.getByRole("heading", { name: "Priced spend by quarter of a day" }).waitFor();
    await page.getByRole("button", { name: "Model", exact: true }).first().click();
    await page.locator(".legend", { hasText: "kimi-k3" }).waitFor();
    await until(page, () => path(page), "/usage?span=7d&by=model", "the address");
    await page.getByRole("button", { name: "Calls", exact: true }).first().click();
    await page.getByRole("heading", { name: "Calls by quarter of a day" }).waitFor();
    await page.getByRole("button", { name: "Tokens out" }).click();
    must(/sort=-out/.test(await path(page)), "the order is in the address");
    const first = page.getByRole("table", { name: "What each model came to" }).locator("thead [aria-sort=descending]");
    must((await first.innerText()).startsWith("Tokens out"), "the head says so");
    await page.goBack();
    await page.getByRole("heading", { name: "Priced spend by quarter of a day" }).waitFor();
    await page.reload();
    await page.locator(".legend", { hasText: "kimi-k3" }).waitFor();
    const href = await page.getByRole("link", { name: "Download CSV" }).getAttribute("href");
    const lines = await page.evaluate(async (at) => (await (await fetch(at)).text()).split("\n"), href);
    must(lines[0].startsWith("since,model,calls") && lines.length > 20, `the file begins: ${lines[0]}`);
  },

  "a model says what it costs and how quick it is, and the address keeps the drawing of all": async () => {
    const page = await open("/models");
    await page.locator("tbody tr", { hasText: "kimi-k3" }).locator(".col-each", { hasText: /^\$/ }).waitFor();
    await page.getByRole("link", { name: "kimi-k3" }).click();
    await page.locator(".drawer", { hasText: /Answer\s*p50 [\d.]+ (s|ms), p95/ }).waitFor();
    await page.locator(".drawer .plot svg .mark").first().waitFor();
    await page.getByRole("link", { name: "Limits and rests" }).click();
    await page.locator(".drawer select[name=who]").waitFor();
    must((await page.locator(".drawer select[name=who]").inputValue()) === "kimi-k3", "the model is chosen");
    await page.goto("/models");
    await page.getByRole("button", { name: "Scatter" }).click();
    await page.getByRole("group", { name: /Cost of each useful answer/ }).waitFor();
    await until(page, () => path(page), "/models?view=scatter", "the address");
  },

  "figures agree with the server's, and gaps are said": async () => {
    const page = await open("/usage?span=30d");
    await page.locator(".figures").waitFor();
    const { total } = await ask(page, "/api/usage/series?span=30d");
    const figures = await page.locator(".figures").innerText();
    must(total.unknown_calls > 0 && figures.includes(`${total.unknown_calls} calls`), "calls of unknown price");
    must(figures.includes(`at least $${total.known_usd.toFixed(2)}`), `spent: ${figures}`);
    must(/\$[\d.]+–[\d.]+/.test(figures), "a cost comes with its range");
  },

  "ticks are round, decades whole, times named": async () => {
    const page = await open("/settings");
    const said = await page.evaluate(async () => {
      const { decades, roomy, ticks, times } = await import("/ui/chart/scale.js");
      const days = Array.from({ length: 12 }, (_, i) => new Date(Date.UTC(2026, 9, 30 + i)).toISOString());
      return {
        ticks: [0.41, 7, 100, 0, 3_200_000].map((most) => ticks(most)),
        decades: [decades(0.002, 0.013), decades(1, 1)],
        days: times(days, 86_400).map(({ short }) => short),
        quarter: times(["2026-11-01T06:00:00Z"], 21_600)[0],
        week: times(["2026-11-02T00:00:00Z"], 604_800)[0].long,
        roomy: [...roomy(days, 200)],
      };
    });
    const wanted = {
      ticks: [
        [0, 0.2, 0.4, 0.6],
        [0, 2, 4, 6, 8],
        [0, 50, 100],
        [0, 1],
        [0, 1_000_000, 2_000_000, 3_000_000, 4_000_000],
      ],
      decades: [
        [0.001, 0.01, 0.1],
        [1, 10],
      ],
      days: ["30 Oct", "31", "1 Nov", "2", "3", "4", "5", "6", "7", "8", "9", "10"],
      quarter: { short: "", long: "1 November, 06 to 12 UTC" },
      week: "week of 2 November 2026",
    };
    for (const [name, value] of Object.entries(wanted)) {
      const [got, right] = [said[name], value].map((each) => JSON.stringify(each));
      must(got === right, `${name}: ${got}, not ${right}`);
    }
    must(said.roomy.length < 3 && said.roomy[0] === 0, `${said.roomy.length} labels of a date each in 200 px`);
  },

  "each drawing is walked by arrows, tells its values and has its table": async () => {
    const page = await kit({});
    for (const [label, first, next] of [
      ["Spend by day", "panels $0", "$0.6 in all, panels $0.1, route $0.5"],
      ["Seconds by day", "p50 2 s, p95 9 s", "p50 3 s, p95 10 s"],
      ["Cost against usefulness", "$0.002, 64 %", "$0.012, 74 %"],
    ]) {
      const drawing = page.getByRole("group", { name: label });
      await drawing.locator(".mark[tabindex='0']").focus();
      await until(
        page,
        async () => (await spoken(page)).includes(first.replace("panels $0", "$0.5")),
        true,
        `${label} says its first`,
      );
      await press(page, "ArrowRight");
      await until(page, async () => (await spoken(page)).includes(next), true, `${label} says its next`);
      must((await drawing.locator(".mark[tabindex='0']").count()) === 1, "one stop of the tab key");
      await press(page, "End", "Home");
      await until(
        page,
        () =>
          drawing
            .locator(".mark")
            .first()
            .evaluate((node) => node === document.activeElement),
        true,
        "Home",
      );
    }
    for (const label of ["Spend by day", "Seconds by day", "Cost against usefulness", "Calls by day"])
      must((await page.locator(`.twin table[aria-label="${label}"] tbody tr`).count()) > 0, `${label} has no table`);
    await page.locator(".twin summary").first().click();
    await page.getByRole("table", { name: "Spend by day" }).getByText("unknown").waitFor();
  },

  "a drawing is drawn anew for another width: text keeps its size, ticks get fewer": async () => {
    const page = await kit({});
    const labels = () => page.locator(".plot").first().locator("text").count();
    const size = () =>
      page
        .locator(".plot text")
        .first()
        .evaluate((node) => node.getBoundingClientRect().height);
    const [many, tall] = [await labels(), await size()];
    await page.setViewportSize({ width: 390, height: 844 });
    await until(page, async () => (await labels()) < many, true, "fewer labels");
    must(Math.abs((await size()) - tall) < 1, "the text keeps its size");
    await fits(page);
  },

  "small figures are whole, and no two marks of an axis are called the same": async () => {
    const page = await kit({});
    const told = await page.evaluate(async () => {
      const [{ bars }, { timeline }] = await Promise.all([import("/ui/chart/bars.js"), import("/ui/chart.js")]);
      const place = document.querySelector("main > .stack");
      const at = ["2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z"];
      const series = [{ name: "panels", tone: "q1", values: [0.00007, 0.00016] }];
      const small = { title: "Small", label: "Small sums", at, step: 86_400, series, format: (n) => `$${n}` };
      place.replaceChildren(bars(small));
      await new Promise((drawn) => setTimeout(drawn, 300));
      const edge = place.querySelector("svg").getBoundingClientRect().left;
      const texts = [...place.querySelectorAll("svg text")].map((node) => [node.textContent, node.getBoundingClientRect().left]);
      const alike = [];
      for (let took = 0.0002; took < 4000; took *= 1.3) {
        const rows = [{ name: "a", spans: [{ from: 0, to: took, kind: "solid" }], said: "" }];
        const drawn = timeline({ label: "Seats", head: ["Seat", "", "Took"], rows });
        const marks = [...drawn.querySelectorAll(".axis span")].map((node) => node.textContent);
        if (new Set(marks).size < 5) alike.push(marks.join(" "));
      }
      return { cut: texts.filter(([, left]) => left < edge).map(([words]) => words), alike, texts: texts.length };
    });
    must(told.texts > 4 && !told.cut.length, `cut off: ${told.cut.join(", ")} of ${told.texts}`);
    must(!told.alike.length, `called the same: ${told.alike.slice(0, 3).join("; ")}`);
  },

  "a server that is gone is told, with a way on": async () => {
    const page = await open("/models");
    await page.waitForSelector("table.rows");
    await page.route("**/api/**", (route) => route.abort());
    for (const [key, title] of [
      ["q", "Quotas"],
      ["u", "Usage & cost"],
    ]) {
      await press(page, "g", key);
      await page.locator("h1", { hasText: title }).waitFor();
      await page.locator("main .notice.bad", { hasText: "not running" }).first().waitFor();
    }
    await page.unroute("**/api/**");
    await page.getByRole("button", { name: "Try again" }).first().click();
    await page.locator(".plot svg .mark").first().waitFor();
    heard.length = 0; // the browser's own lines about what was aborted
  },

  "empty books teach": async () => {
    const page = await open("/usage", { base: process.env.EMPTY });
    await page.getByRole("heading", { name: "Nothing was asked yet." }).waitFor();
    await page.goto("/quotas");
    await page.getByRole("heading", { name: "No connection yet." }).waitFor();
  },
};

for (const [theme, width] of LOOKS)
  checks[`the drawings, ${theme}, ${width} px`] = async () => {
    const page = await kit({ theme, width, height: 1400 });
    await fits(page);
    await accessible(page);
    await shot(page, `drawings-${theme}-${width}`);
  };

await run(checks);
