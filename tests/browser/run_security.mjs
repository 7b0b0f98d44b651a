// What a model, a provider, a pasted address and a page of another site try on the page, in a real browser. All of it stays words.
import { createServer } from "node:http";
import { BENCH, TOKEN, ask, heard, must, open, press, run, until } from "./browser.mjs";

const HACK = "window.hacked = (window.hacked ?? 0) + 1";

/** Markup that a browser would run or fetch, if it were ever taken for markup. */
const MARKUP = [
  `<script>${HACK}</script>`,
  `<img src="https://evil.example/pixel.png" onerror="${HACK}">`,
  `<svg onload="${HACK}"><animate onbegin="${HACK}" attributeName="x" dur="1s"></svg>`,
  `<iframe srcdoc="<script>parent.${HACK}</script>" src="https://evil.example/"></iframe>`,
  `<style>@import url(https://evil.example/x.css); * { display: none }</style>`,
  `<link rel="stylesheet" href="https://evil.example/x.css"><base href="https://evil.example/">`,
  `<form action="https://evil.example/"><input name="token" autofocus onfocus="${HACK}"></form>`,
  `<meta http-equiv="refresh" content="0; url=https://evil.example/">`,
  `</p></div></body><body onload="${HACK}"><object data="javascript:${HACK}"></object>`,
  `<a href="javascript:${HACK}" onclick="${HACK}">press</a><template><script>${HACK}</script></template>`,
];
const ADDRESSES = [
  `javascript:${HACK}`,
  `JaVaScRiPt:${HACK}`,
  `java\tscript:${HACK}`,
  ` javascript:${HACK}`,
  `\u0001javascript:${HACK}`,
  `javascript&#58;${HACK}`,
  `&#106;avascript:${HACK}`,
  `javascript://example.com/%0a${HACK}`,
  `data:text/html,<script>${HACK}</script>`,
  `vbscript:${HACK}`,
  `file:///etc/passwd`,
  `blob:https://evil.example/x`,
  `//evil.example/x`,
  `/logout`,
  `/login?to=//evil.example`,
].map((address) => address.replaceAll(" = ", "=").replaceAll(" ", "%20"));
const LINKS = [
  ...ADDRESSES.map((address, i) => `[press ${i}](${address}) [press](<${address}>) <${address}>`),
  "![seen](https://evil.example/pixel.png) ![seen](data:image/svg+xml,<svg onload=hacked=1>) [![both](https://evil.example/b.png)](javascript:hacked=1)",
  "[reference][1] ![reference][1]\n\n[1]: javascript:hacked=1 'title\" onmouseover=\"hacked=1'",
  '[title](https://evil.example/ "x\\" onmouseover=\\"hacked=1") https://evil.example/"onmouseover="hacked=1',
].join("\n\n");
const TURNED =
  "access granted \u202egnp.exe\u202c, [pay\u202eelpmaxe.live](https://evil.example/\u202e) and\n\n```js\nif (admin) { /*\u202e } \u2066*/ }\n```";
const ANSWERS = {
  markup: [
    ...MARKUP,
    ...MARKUP.map((each) => `- **${each}**`),
    "```html\n" + MARKUP.join("\n") + "\n```",
    "`" + MARKUP[0] + "`",
  ].join("\n\n"),
  links: LINKS,
  turned: TURNED,
  unseen:
    "nul \u0000, bell \u0007, escape \u001b[31m, lone \ud800, wide \u{1F9D1}\u200D\u{1F680}, joined a\u0301\u0301\u0301",
};

// Five megabytes each, in the shapes that make readers of Markdown slow.
const LONG = 5_000_000;
const fill = (piece) => piece.repeat(Math.ceil(LONG / piece.length));
const BOOKS = {
  paragraphs: fill("One more line of **notes**, with `code` and a [link](https://example.com/a).\n\n"),
  line: fill("word "),
  unbroken: fill("x"),
  brackets: fill("["),
  stars: fill("*a "),
  ticks: fill("` `` "),
  quotes: fill("> "),
  nested: fill("> - 1. "),
  table: "| a | b |\n|---|---|\n" + fill("| `x` | **y** |\n"),
  fence: "```\n" + fill("let x = 1;\n"),
  links: fill("[a](b "),
  images: fill("![a](https://evil.example/x.png)"),
};

/** A provider that says these answers under their names; a name it lists may be anything. */
function provider(answers) {
  const server = createServer(async (request, reply) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const json = (status, body) =>
      reply.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    if (request.method === "GET")
      return json(200, {
        object: "list",
        data: [...Object.keys(answers), MARKUP[1]].map((id) => ({ id, object: "model" })),
      });
    const { model, stream } = JSON.parse(Buffer.concat(chunks).toString());
    if (model === "refuses")
      return json(400, { error: { message: MARKUP.join(" "), type: MARKUP[0], code: MARKUP[1] } });
    const content = answers[model];
    const message = { role: "assistant", content, reasoning_content: MARKUP.join("\n") };
    if (!stream)
      return json(200, {
        id: "x",
        object: "chat.completion",
        model,
        choices: [{ index: 0, message, finish_reason: "stop" }],
      });
    reply.writeHead(200, { "content-type": "text/event-stream" });
    const chunk = (delta, finish = null) =>
      `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", model, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
    reply.write(chunk({ role: "assistant", reasoning_content: message.reasoning_content }));
    for (let at = 0; at < content.length; at += 65_536) reply.write(chunk({ content: content.slice(at, at + 65_536) }));
    reply.end(chunk({}, "stop") + "data: [DONE]\n\n");
  });
  return new Promise((ready) => server.listen(0, "127.0.0.1", () => ready(server)));
}

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
    const longest = await page.evaluate(() => Math.max(0, ...globalThis.long));
    await inert(page, name);
    must(longest < 1500, `${Math.round(longest)} ms at a stretch`);
    console.log(`     ${name}: ${Date.now() - began} ms, longest task ${Math.round(longest)} ms`);
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
    const longest = await page.evaluate(() => Math.max(0, ...globalThis.long));
    await inert(page, name);
    must(took < 8000 && longest < 1500, `it took ${took} ms, ${Math.round(longest)} ms of it at a stretch`);
    console.log(`     ${name}: ${took} ms, longest task ${Math.round(longest)} ms`);
  };

await run(checks);
server.close();
