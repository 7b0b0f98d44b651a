// What a model might say to harm its reader: markup, addresses, marks that turn words around, five megabytes of anything.
import { createServer } from "node:http";

const HACK = "window.hacked = (window.hacked ?? 0) + 1";

/** Markup that a browser would run or fetch, if it were ever taken for markup. */
export const MARKUP = [
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
export const TURNED =
  "access granted \u202egnp.exe\u202c, [pay\u202eelpmaxe.live](https://evil.example/\u202e) and\n\n```js\nif (admin) { /*\u202e } \u2066*/ }\n```";
export const ANSWERS = {
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
export const BOOKS = {
  paragraphs: fill("One more line of **notes**, with `code` and a [link](https://example.com/a).\n\n"),
  line: fill("word "),
  unbroken: fill("x"),
  brackets: fill("["),
  stars: fill("*a "),
  ticks: fill("` `` "),
  quotes: fill("> "),
  nested: fill("> - 1. "),
  code: "```\n" + fill("x"),
  table: "| a | b |\n|---|---|\n" + fill("| `x` | **y** |\n"),
  fence: "```\n" + fill("let x = 1;\n"),
  links: fill("[a](b "),
  gaps: fill(["# a", "a|b\n-", "```"].map((begun) => `${begun}${" ".repeat(50_000)}x\`\n\n`).join("")),
  images: fill("![a](https://evil.example/x.png)"),
};

/** A provider that says these answers under their names; a name it lists may be anything. */
export function provider(answers) {
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
