// What a model, a provider, a pasted address and a page of another site try on the page, in a real browser. All of it stays words.
import { createServer } from "node:http";
import { BENCH, TOKEN, ask, heard, must, open, press, run, until } from "./browser.mjs";
import { ANSWERS, BOOKS, MARKUP, TURNED, provider } from "./hostile.mjs";

const books = Object.entries(BOOKS).map(([name, book]) => [`book-${name}`, book]);
const said = { ...ANSWERS, ...Object.fromEntries(books), refuses: "" };
const server = await provider(said);
const owner = { "content-type": "application/json", authorization: `Bearer ${TOKEN}` };

async function post(path, body) {
  const answer = await fetch(BENCH + path, { method: "POST", headers: owner, body: JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text.slice(0, 300)}`);
  return text;
}

/** The id of a panel that the models of a collection have answered. */
async function panelOf(collection) {
  const text = await post("/api/ask", {
    model: `bench/${collection}`,
    messages: [{ role: "user", content: MARKUP.join("\n") + TURNED }],
  });
  return /"panel": ?"(p[^"]+)"/.exec(text)[1];
}

await post("/api/endpoint", {
  name: "hostile",
  base: `http://127.0.0.1:${server.address().port}/v1`,
  key: "sk-test-key",
  test: false,
});
for (const name of Object.keys(said)) await post("/api/model/add", { alias: name, endpoint: "hostile", served: name });
await post("/api/collection", {
  name: "hostile",
  members: [...Object.keys(ANSWERS), "refuses"],
  explorers: 0,
  description: MARKUP.join(" ").slice(0, 250),
});
for (const name of Object.keys(BOOKS))
  await post("/api/collection", { name: `book-${name}`, members: [`book-${name}`], explorers: 0 });
const panel = await panelOf("hostile");

async function signedIn(to) {
  const page = await open(`/login?to=${encodeURIComponent(to)}`);
  await page.getByLabel("Admin token").fill(TOKEN);
  await press(page, "Enter");
  await page.waitForURL((url) => url.pathname !== "/login");
  return page;
}

/** Nothing ran, nothing was fetched, nothing became an element that could; and what was said can be read. */
async function inert(page, where) {
  const found = await page.evaluate(() => {
    const bad = (each) =>
      [...each.attributes].some(
        ({ name, value }) =>
          name.startsWith("on") ||
          (name === "style" && each.closest(".prose")) ||
          /^\s*(javascript|data|vbscript|blob|file):/i.test(value),
      );
    const all = [...document.querySelectorAll("body *")];
    return {
      hacked: globalThis.hacked,
      elements: all
        .filter((each) =>
          /^(script|img|iframe|object|embed|style|link|base|meta|template|audio|video)$/i.test(each.tagName),
        )
        .map((each) => each.outerHTML.slice(0, 90)),
      attributes: all.filter(bad).map((each) => each.outerHTML.slice(0, 90)),
      links: all
        .filter((each) => each.matches("main a[href]") && new URL(each.href).origin !== location.origin)
        .map(({ href, rel, target }) => ({ href, rel, target })),
      turns: /[\u202a-\u202e\u2066-\u2069]/.test(document.body.innerText),
      base: document.baseURI === location.href,
    };
  });
  must(found.hacked === undefined, `${where}: it ran`);
  must(!found.elements.length, `${where}: it became ${found.elements}`);
  must(!found.attributes.length, `${where}: ${found.attributes}`);
  must(!found.turns, `${where}: the direction turns unseen`);
  must(found.base, `${where}: addresses lead elsewhere`);
  for (const { href, rel, target } of found.links)
    must(
      /^https?:/.test(href) && rel.includes("noopener") && rel.includes("noreferrer") && target === "_blank",
      `${where}: a link to ${href}, ${rel}`,
    );
}

const checks = {
  "what models, a provider's error and a listing say stays words, wherever it is shown": async () => {
    const page = await signedIn("/");
    for (const [place, drawn] of [
      [`/panels?panel=${panel}`, ".answers .column"],
      ["/panels", "table.rows"],
      [`/owed?panel=${panel}`, ".judge-bar"],
      ["/collections?collection=hostile", ".drawer"],
      ["/models?add=hostile", ".choices"],
      ["/models", "table.rows"],
      ["/endpoints?endpoint=hostile", ".drawer"],
      ["/quotas", "main > *"],
      ["/usage", "main > *"],
    ]) {
      await page.goto(place);
      await page.locator(drawn).first().waitFor();
      await page.waitForTimeout(150); // for what would be fetched or run
      await inert(page, place);
    }
    await page.goto(`/panels?panel=${panel}`);
    const text = await page.locator(".answers").innerText();
    must(text.includes("<script>") && text.includes("onerror="), "what was said can be read");
    must(text.includes("⇆gnp.exe"), "what would turn the direction is seen");
    for (const fold of await page.locator("details:not([open]) > summary").all()) await fold.click().catch(() => {});
    await inert(page, "with all folds open");
    await press(page, "Control+k");
    await page.keyboard.type("script");
    await page.locator(".palette li", { hasText: "<script>" }).first().waitFor();
    await inert(page, "search");
  },

  "it stays words while it is written, and when it is marked": async () => {
    const page = await signedIn("/?collection=hostile");
    await page.locator(".composer textarea").first().fill(MARKUP.join("\n"));
    await press(page, "Control+Enter");
    await until(page, () => page.locator(".column.live, .column[data-state=waiting]").count(), 0, "columns under way");
    await page.locator(".column[data-state=done]").first().waitFor();
    await inert(page, "Ask");
    await page.goto(`/owed?panel=${panel}`);
    await page.waitForSelector(".judge-bar");
    await press(page, "]", "r");
    await page.waitForSelector(".claims-line .chip.ok");
    await inert(page, "a claim");
    await press(page, "z");
  },

  "what is exported is words too, and runs nothing where it is opened": async () => {
    const page = await signedIn("/");
    const answer = await page.request.get(`/api/panel/export?panel=${panel}&format=html`);
    must(answer.status() === 200, `the export answers ${answer.status()}`);
    must(/attachment/.test(answer.headers()["content-disposition"] ?? ""), "it is a file, not a page of this server");
    const file = await page.context().newPage();
    file.on("request", (asked) => asked.url().startsWith("http") && heard.push(`the file asked ${asked.url()}`));
    await file.setContent(await answer.text());
    await file.waitForTimeout(200);
    const found = await file.evaluate(() => ({
      hacked: globalThis.hacked,
      policy: document.querySelector('meta[http-equiv="Content-Security-Policy"]')?.content ?? "",
      bad: [...document.querySelectorAll("body *")]
        .filter(
          (each) =>
            /^(script|img|iframe|object|embed|form|base|link)$/i.test(each.tagName) ||
            [...each.attributes].some(({ name }) => name.startsWith("on")),
        )
        .map((each) => each.outerHTML.slice(0, 90)),
      links: [...document.querySelectorAll("a[href]")].map(({ protocol }) => protocol),
      text: document.body.innerText,
    }));
    must(found.hacked === undefined && !found.bad.length, `it holds ${found.bad}`);
    must(/default-src 'none'/.test(found.policy), `its policy is ${found.policy}`);
    must(
      found.links.every((each) => /^https?:$/.test(each)),
      `it links to ${found.links}`,
    );
    must(found.text.includes("<script>"), "what was said can be read");
    must(!/[\u202a-\u202e\u2066-\u2069]/.test(found.text), "the direction turns unseen");
  },

  "an address that somebody pasted says nothing but words": async () => {
    const page = await signedIn("/");
    const words = encodeURIComponent(MARKUP.join(" ") + TURNED);
    for (const [place, name] of [
      ["/panels", "panel"],
      ["/panels", "q"],
      ["/conversations", "conversation"],
      ["/models", "model"],
      ["/collections", "collection"],
      ["/collections", "q"],
      ["/endpoints", "endpoint"],
      ["/endpoints", "add"],
      ["/keys", "key"],
      ["/keys", "budget"],
      ["/quotas", "connection"],
      ["/usage", "since"],
      ["/settings", "section"],
      ["/", "collection"],
    ]) {
      await page.goto(`${place}?${name}=${words}`);
      await page.waitForTimeout(250);
      await inert(page, `${place}?${name}=`);
      heard.splice(0, heard.length, ...heard.filter((line) => !/status of 4\d\d/.test(line))); // the browser's own lines
    }
  },

  "another site neither frames the page, nor reads it, nor signs in or out with it": async () => {
    const evil = createServer((_, reply) =>
      reply.writeHead(200, { "content-type": "text/html" }).end("<title>evil</title>"),
    );
    await new Promise((ready) => evil.listen(0, "127.0.0.1", ready));
    try {
      const page = await signedIn("/settings");
      await page.goto(`http://localhost:${evil.address().port}/`); // another site to a browser, with the cookie at hand
      const found = await page.evaluate(async (bench) => {
        const frame = document.body.appendChild(document.createElement("iframe"));
        const loaded = new Promise((done) => (frame.onload = done));
        frame.src = `${bench}/settings`;
        await Promise.race([loaded, new Promise((done) => setTimeout(done, 2000))]);
        const reads = async (path, how) =>
          fetch(bench + path, { credentials: "include", ...how }).then(
            ({ type, status }) => `${type} ${status}`,
            () => "refused",
          );
        const form = { method: "POST", body: new URLSearchParams({ bodies: "none" }), mode: "no-cors" };
        const json = { method: "POST", body: '{"bodies": "none"}', headers: { "content-type": "application/json" } };
        let inside = "opaque";
        try {
          inside = frame.contentDocument?.body.innerText ?? "opaque";
        } catch {
          // Another origin: so it should be.
        }
        return {
          inside,
          read: await reads("/api/settings"),
          json: await reads("/api/settings", json),
          form: await reads("/api/settings", form),
          out: await reads("/logout", form),
          script: await new Promise((done) => {
            const node = document.createElement("script");
            Object.assign(node, {
              src: `${bench}/api/keys`,
              onload: () => done("loaded"),
              onerror: () => done("refused"),
            });
            document.head.append(node);
          }),
        };
      }, BENCH);
      must(
        found.inside === "opaque" && found.read === "refused" && found.json === "refused" && found.script === "refused",
        JSON.stringify(found),
      );
      heard.length = 0; // the browser's own lines about all of that
      await page.goto(`${BENCH}/settings`);
      await page.locator(".setting .field").first().waitFor();
      must((await ask(page, "/api/settings")).settings.bodies === "all", "nothing was changed, nobody was signed out");
      await press(page, "g", "p"); // and the page is whole
      await page.waitForSelector("table.rows");
    } finally {
      evil.close();
    }
  },
};

// Long tasks, in ms, once the browser has told of them: it tells when it comes to it.
const longest = (page) =>
  page.evaluate(
    () =>
      new Promise((told) =>
        setTimeout(
          () => requestAnimationFrame(() => setTimeout(() => told(Math.max(0, ...globalThis.long)), 100)),
          100,
        ),
      ),
  );

const watched = (page) =>
  page.evaluate(() => {
    globalThis.long = [];
    new PerformanceObserver((list) => {
      globalThis.long.push(...list.getEntries().map(({ duration }) => duration));
    }).observe({ type: "longtask" });
  });

for (const name of ["paragraphs", "brackets"])
  checks[`five megabytes of ${name} are written without the page standing still`] = async () => {
    const page = await signedIn(`/?collection=book-${name}`);
    await page.locator(".composer textarea").first().fill("Write a book.");
    await watched(page);
    const began = Date.now();
    await press(page, "Control+Enter");
    await page.locator(".column[data-state=done]").first().waitFor();
    const still = await longest(page);
    await inert(page, name);
    must(still < 1500, `${Math.round(still)} ms at a stretch`);
    console.log(`     ${name}: ${Date.now() - began} ms, longest task ${Math.round(still)} ms`);
  };

for (const name of Object.keys(BOOKS))
  checks[`five megabytes of ${name} are read without the page standing still`] = async () => {
    const id = await panelOf(`book-${name}`);
    const page = await signedIn("/panels");
    await watched(page);
    const began = Date.now();
    await page.evaluate((place) => {
      history.pushState(null, "", place);
      dispatchEvent(new PopStateEvent("popstate"));
    }, `/panels?panel=${id}`);
    await page.locator(".answers .column .prose > *").first().waitFor();
    await until(page, () => page.evaluate(() => 1 + 1), 2, "the page answers");
    const took = Date.now() - began;
    const still = await longest(page);
    await inert(page, name);
    must(took < 8000 && still < 1500, `it took ${took} ms, ${Math.round(still)} ms of it at a stretch`);
    console.log(`     ${name}: ${took} ms, longest task ${Math.round(still)} ms`);
  };

await run(checks);
server.close();
