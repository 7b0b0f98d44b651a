// Keys, signing in, and who may what: on a bench that asks who is there.
import { BENCH, LOOKS, TOKEN, accessible, ask, fits, heard, must, open, press, run, shot, until } from "./browser.mjs";

const path = (page) => page.evaluate(() => location.pathname + location.search);

/** A browser that has signed in with the admin token, at a path. */
async function signedIn(to = "/", look = {}) {
  const page = await open(`/login?to=${encodeURIComponent(to)}`, look);
  await page.getByLabel("Admin token").fill(TOKEN);
  await press(page, "Enter");
  await page.waitForURL((url) => url.pathname !== "/login");
  return page;
}

/** A browser that came in by an invitation. */
async function invited(page, name) {
  const { link } = await page.evaluate(
    async (who) =>
      (
        await fetch("/api/invitation", {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ name: who }),
        })
      ).json(),
    name,
  );
  const guest = await open(link.slice(BENCH.length));
  await guest.getByRole("button", { name: "Come in" }).click();
  await guest.waitForURL((url) => url.pathname !== "/login");
  return guest;
}

/** What the gateway answers to a question with this key. */
async function asks(key) {
  const answer = await fetch(`${BENCH}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: "review", messages: [{ role: "user", content: "Is it there?" }] }),
  });
  await answer.text();
  return answer.status;
}

const keyOf = async (page, name) => (await ask(page, "/api/keys")).keys.find((key) => key.name === name);

// The browser's own lines about a refusal that a check asked for.
const forget = (...words) => {
  const rest = heard.filter((line) => !words.some((word) => line.includes(word)));
  heard.splice(0, heard.length, ...rest);
};

/** Every visible button of main, by its words. */
const buttons = (page) =>
  page.locator("main button:visible").evaluateAll((all) => all.map((each) => each.textContent || each.title));

const checks = {
  "a key is made, used and revoked, with the mouse": async () => {
    const page = await signedIn("/keys");
    await page.getByRole("link", { name: "New key" }).click();
    await page.getByLabel("Name", { exact: true }).fill("mouse");
    await page.getByLabel("review", { exact: true }).check();
    await page.getByLabel("Requests a minute").fill("20");
    await page.getByRole("button", { name: "Make the key" }).click();
    const key = await page.locator(".once .secret").textContent();
    must(/^bwk_[\w-]{43}$/.test(key), `it is shown: ${key}`);
    must((await path(page)) === "/keys", "no secret and no form is in the address");
    await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: undefined })); // as over plain http
    await page.getByRole("button", { name: "Copy key" }).click();
    await page.getByText("Copied").first().waitFor();
    await press(page, "Control+k", "Control+v");
    must((await page.locator(".palette input").inputValue()) === key, "it is in the clipboard");
    await press(page, "Escape");
    must((await asks(key)) === 200, "it opens the gateway");
    await page.reload();
    await page.getByRole("link", { name: "mouse" }).click();
    must((await page.getByText(key).count()) === 0, "it is shown once");
    await page.locator(".drawer").getByText("bench/review").waitFor();
    must(
      (await page.getByRole("row", { name: /mouse/ }).innerText()).includes("never used") === false,
      "its use is told",
    );
    await page.getByRole("button", { name: "Disable" }).click();
    await page.getByRole("button", { name: "Enable" }).waitFor();
    must((await asks(key)) === 401, "disabled it opens nothing");
    await page.getByRole("button", { name: "Enable" }).click();
    await page.getByRole("button", { name: "Disable" }).waitFor();
    must((await asks(key)) === 200, "enabled it opens again");
    await page.getByRole("button", { name: "Revoke" }).click();
    const dialog = page.getByRole("dialog");
    must((await dialog.innerText()).includes('Revoke key "mouse"?'), "it asks");
    await dialog.getByRole("button", { name: "Cancel" }).click();
    must((await asks(key)) === 200, "no is no");
    await page.getByRole("button", { name: "Revoke" }).click();
    await dialog.getByRole("button", { name: "Revoke" }).click();
    await until(page, async () => Boolean(await keyOf(page, "mouse")), false, "the key is there");
    must((await asks(key)) === 401, "revoked it opens nothing");
  },

  "a key is made, used, rotated and revoked, by keyboard alone": async () => {
    const page = await signedIn("/panels");
    await page.waitForSelector("table.rows");
    await press(page, "g", "k");
    await page.waitForSelector(".holds-table .rows");
    await press(page, "n");
    await page.waitForSelector(".drawer form");
    await page.keyboard.type("typed");
    await press(page, "Enter");
    await page.locator(".once .button:focus").waitFor(); // the copy button is at hand
    const first = await page.locator(".once .secret").textContent();
    must((await asks(first)) === 200, "it opens the gateway");
    const rows = await page.locator(".holds-table .rows").first().locator("tbody tr").count();
    for (let tries = 0; tries < rows; tries += 1) {
      await press(page, "j");
      if ((await page.evaluate(() => document.activeElement.textContent)) === "typed") break;
    }
    await press(page, "Enter");
    await page.waitForSelector(".drawer");
    const reach = async (words) => {
      for (let tabs = 0; tabs < 200; tabs += 1) {
        if ((await page.evaluate(() => document.activeElement.textContent)).startsWith(words)) return;
        await press(page, "Tab");
      }
      throw new Error(`Tab does not lead to ${words}`);
    };
    await reach("Rotate");
    await press(page, "Enter");
    await page.getByRole("dialog").waitFor();
    await press(page, "Shift+Tab", "Enter");
    await until(page, async () => (await page.locator(".once .secret").textContent()) !== first, true, "another key");
    const second = await page.locator(".once .secret").textContent();
    must((await asks(first)) === 401 && (await asks(second)) === 200, "the new one opens, the old one does not");
    await page.goto("/keys?key=typed");
    await page.waitForSelector(".drawer");
    await reach("Revoke");
    await press(page, "Enter");
    await page.getByRole("dialog").waitFor();
    await press(page, "Shift+Tab", "Enter");
    await until(page, async () => Boolean(await keyOf(page, "typed")), false, "the key is there");
    must((await asks(second)) === 401, "revoked it opens nothing");
  },

  "limits are changed, and only what was changed; nonsense is refused beside its field": async () => {
    const page = await signedIn("/keys?key=ci");
    await page.getByText("Change its limits").click();
    await page.getByLabel("Requests a minute").fill("many");
    await page.getByRole("button", { name: "Save" }).click();
    await page.locator(".drawer .notice.bad").waitFor();
    must((await page.locator("[aria-invalid]").getAttribute("name")) === "rpm", "the field is marked");
    must((await keyOf(page, "ci")).rpm === 30, "nothing was changed");
    forget("400");
    await page.getByLabel("Requests a minute").fill("");
    await page.getByLabel("Tokens a minute").fill("9,000");
    await page.getByRole("button", { name: "Save" }).click();
    await until(page, async () => (await keyOf(page, "ci")).tpm, 9000, "tokens a minute");
    const { rpm, budget, collections, expires } = await keyOf(page, "ci");
    must(rpm === null && budget.month === 5 && collections[0] === "review" && expires, "the rest is as it was");
    await page.goto("/keys?key=ci&model=bench/code");
    await page.locator(".drawer").getByText("Refused with 403").waitFor();
  },

  "a budget is set, and taken away": async () => {
    const page = await signedIn("/keys?budget=bench");
    const bench = async () => (await ask(page, "/api/budgets")).budgets.bench.periods.length;
    await page.getByLabel("USD a month").fill("50");
    await press(page, "Enter");
    await until(page, bench, 1, "budgets of the bench");
    await page.getByText("$50.00 a month").first().waitFor();
    await page.getByRole("link", { name: "The whole bench" }).click();
    await page.getByLabel("USD a month").fill("");
    await press(page, "Enter");
    await until(page, bench, 0, "budgets of the bench");
  },

  "a deep link asks to sign in and leads back; the cookie is the browser's own; signing out ends it": async () => {
    const page = await open("/panels?q=torn+write");
    must((await path(page)).startsWith("/login?to="), "the form stands before the page");
    await page.getByLabel("Admin token").fill("not the token at all");
    await press(page, "Enter");
    await page.getByText("This is not the admin token").waitFor();
    forget("401");
    must((await page.evaluate(() => document.activeElement.id)) === "token", "the field has the focus");
    await page.getByLabel("Admin token").fill(TOKEN);
    await press(page, "Enter");
    await page.waitForURL((url) => url.pathname === "/panels" && url.search === "?q=torn+write");
    await page.waitForSelector("table.rows");
    const [cookie] = await page.context().cookies();
    must(cookie.name === "bw_session" && cookie.httpOnly && cookie.sameSite === "Strict", JSON.stringify(cookie));
    must((await page.evaluate(() => document.cookie)) === "", "no script reads it");
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.waitForURL((url) => url.pathname === "/login");
    must((await page.context().cookies()).length === 0, "the cookie is gone");
    await page.goto("/panels");
    must((await path(page)).startsWith("/login"), "the page is closed");
  },

  "nobody is led to another site by signing in": async () => {
    for (const to of [
      "https://evil.example/",
      "//evil.example/",
      "/\\evil.example/",
      "javascript:alert(1)",
      "/login?to=/",
    ]) {
      const page = await signedIn(to);
      must(page.url() === `${BENCH}/`, `${to} led to ${page.url()}`);
      await page.waitForSelector(".composer");
    }
  },

  "a judge comes in by a link, once, judges under their own name, and nothing else": async () => {
    const admin = await signedIn("/keys");
    await admin.getByRole("link", { name: "Invite somebody" }).click();
    await admin.getByLabel("Name", { exact: true }).fill("anna");
    await press(admin, "Enter");
    const link = await admin.locator(".once .secret").textContent();
    must(link.startsWith(`${BENCH}/login#invitation=bwi_`), link);
    const anna = await open(link.slice(BENCH.length));
    await fetch(link); // a preview of a chat opens it first: that uses nothing up
    await anna.getByRole("button", { name: "Come in" }).click();
    await anna.waitForURL((url) => url.pathname === "/owed");
    await anna.waitForSelector(".judge-bar");
    const rail = await anna.locator(".rail nav a:visible").allInnerTexts();
    must(!rail.some((words) => /Ask|Keys/.test(words)), `the rail has ${rail}`);
    await press(anna, "g", "k", "g", "a");
    must((await path(anna)) === "/owed", "keys lead nowhere else");
    const { panels } = await ask(anna, "/api/log?state=owed&limit=100");
    await press(anna, "n");
    const verdicts = async () =>
      (await ask(anna, "/api/log?limit=100")).panels
        .flatMap(({ seats }) => seats)
        .filter(({ verdict }) => verdict?.by === "anna").length;
    await until(anna, verdicts, 1, "verdicts of anna");
    const judged = (await ask(anna, "/api/log?limit=100")).panels.find(({ seats }) =>
      seats.some(({ verdict }) => verdict?.by === "anna"),
    );
    const other = await signedIn(`/panels?panel=${judged.panel}`);
    await other.locator(".verdicts").getByText("by anna").waitFor();
    await press(anna, "z");
    await until(anna, verdicts, 0, "verdicts of anna after undo");
    must(panels.length > 0, "there was something to judge");
    const again = await open(link.slice(BENCH.length));
    await again.getByRole("button", { name: "Come in" }).click();
    await again.getByText("was used or withdrawn").waitFor();
    forget("401");
    await admin.locator(".people li", { hasText: "anna" }).getByText("seen").waitFor(); // without a look for it
    await admin.locator(".people li", { hasText: "anna" }).getByRole("button").click();
    await admin.getByRole("dialog").getByRole("button", { name: "Sign out" }).click();
    await anna.waitForURL((url) => url.pathname === "/login"); // nobody touched her page
    forget("401");
  },

  "a judge sees nothing to press that writes": async () => {
    const admin = await signedIn("/keys");
    const judge = await invited(admin, "bert");
    const sent = [];
    judge.on("request", (each) => each.method() === "POST" && sent.push(new URL(each.url()).pathname));
    for (const place of [
      "/panels",
      "/conversations",
      "/models",
      "/models?model=kimi-k3",
      "/collections",
      "/collections?collection=review",
      "/endpoints",
      "/endpoints?endpoint=hub",
      "/quotas",
      "/usage",
      "/settings",
      "/keys",
    ]) {
      await judge.goto(place);
      await judge.waitForLoadState("networkidle").catch(() => {});
      must((await judge.locator("main form:visible").count()) === 0, `${place} shows a form`);
      const words = (await buttons(judge)).join(" | ");
      must(
        !/\b(Add|New|Save|Remove|Retire|Delete|Test|Disable|Revoke|Rotate|Invite|Rest|Wake|Probe|Set)\b/.test(words),
        `${place}: ${words}`,
      );
    }
    must(
      sent.every((each) => each === "/api/seats"),
      `it sent ${sent}`,
    ); // which asks nobody
    const status = await judge.evaluate(async () => {
      const answer = await fetch("/api/settings", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ bodies: "none" }),
      });
      return [answer.status, (await answer.json()).errors[0]];
    });
    must(status[0] === 403 && status[1].includes("a judge reads"), String(status));
    forget("403");
  },

  "wrong tokens have to wait, and the form counts down": async () => {
    const page = await open("/login");
    for (let tries = 0; tries < 6; tries += 1) {
      await page.getByLabel("Admin token").fill("wrong again and again");
      await press(page, "Enter");
      await page.locator("#token-said:not(:empty)").waitFor();
      if ((await page.locator("#token-said").innerText()).includes("The next is looked at")) break;
    }
    await page.getByRole("button", { name: /Next try in \d+ s/ }).waitFor();
    must(await page.locator("#token-form button").isDisabled(), "the button waits");
    await page.getByRole("button", { name: "Sign in" }).waitFor();
    forget("401");
    await page.getByLabel("Admin token").fill(TOKEN);
    await press(page, "Enter");
    await page.waitForURL((url) => url.pathname === "/");
  },
};

for (const [theme, width] of LOOKS)
  checks[`people, invitations and both forms of signing in, ${theme}, ${width} px`] = async () => {
    const look = { theme, width, height: width < 500 ? 844 : 900 };
    const seen = async (page, place, drawn, name) => {
      if (place) await page.goto(place);
      await page.locator(drawn).first().waitFor();
      await fits(page);
      await accessible(page);
      await shot(page, `${name}-${theme}-${width}`);
    };
    await seen(await open("/login#invitation=bwi_x", look), "", "#invited-form", "invited");
    const page = await signedIn("/keys", look);
    await seen(page, "", ".people", "access");
    await seen(page, "/keys?invite=", ".drawer form", "invite");
    await page.getByLabel("Name", { exact: true }).fill(`guest-${theme}-${width}`);
    await press(page, "Enter");
    await seen(page, "", ".once", "invitation");
  };

await run(checks);
