// Anthropic's library for Node, with its stream helper and its tool runner, which keeps threads by default.
import Anthropic from "@anthropic-ai/sdk";
import { BASE, CITY, FOUND, HELLO, KEY, PATH, PNG, READ_IT, SEEN } from "./checks.mjs";
import { checks, equal, holds, list, raises } from "./checks.mjs";

const client = new Anthropic({ baseURL: BASE, apiKey: KEY, maxRetries: 0 });
const check = checks("@anthropic-ai/sdk");
const asking = (model, more) => ({ model, max_tokens: 500, messages: HELLO, ...more });
const ask = (model, more) => client.messages.create(asking(model, more));
const words = (message) => message.content.map((block) => block.text ?? "").join("");
const TOOL = { name: "read_file", description: "Read a file", input_schema: PATH };

await check("lists and retrieves", async () => {
  const names = (await list(client.models.list())).map((model) => model.id);
  for (const name of ["bench/core", "bench/core:merged", "claude-bench-core-route"]) {
    equal(names.includes(name), true);
    equal((await client.models.retrieve(name)).id, name);
  }
});

for (const model of ["bench/pair", "core", "c-plain:route"]) {
  const wanted = model === "core" ? "practice-lint" : "first answer";
  await check(`asks ${model}`, async () => {
    const message = await ask(model, { system: "Be brief." });
    holds(words(message), wanted);
    equal([message.stop_reason, message.usage.output_tokens > 0], ["end_turn", true]);
  });
  await check(`streams ${model} through its helper`, async () => {
    const stream = client.messages.stream(asking(model));
    let said = "";
    stream.on("text", (delta) => (said += delta));
    const message = await stream.finalMessage();
    equal([words(message), message.stop_reason], [said, "end_turn"]);
    holds(said, wanted);
  });
}

await check("thinks in blocks of their own", async () => {
  const thinking = { type: "enabled", budget_tokens: 1024 };
  const message = await client.messages.stream(asking("c-thinking:route", { thinking, max_tokens: 2000 })).finalMessage();
  equal(message.content.map((block) => block.type), ["thinking", "text"]);
});

for (const streamed of [false, true]) {
  await check(`plays a tool loop, streamed=${streamed}`, async () => {
    const asked = asking("bench/agents", { messages: [{ role: "user", content: READ_IT }], tools: [TOOL] });
    const first = streamed
      ? await client.messages.stream(asked).finalMessage()
      : await client.messages.create(asked);
    const call = first.content.find((block) => block.type === "tool_use");
    equal([first.stop_reason, call.name, call.input], ["tool_use", "read_file", { path: "notes.txt" }]);
    const result = { type: "tool_result", tool_use_id: call.id, content: FOUND };
    asked.messages.push({ role: "assistant", content: first.content }, { role: "user", content: [result] });
    holds(words(await client.messages.create(asked)), FOUND);
  });
}

await check("two calls in one turn, streamed", async () => {
  const tools = [{ name: "get_weather", input_schema: CITY }];
  const message = await client.messages.stream(asking("c-calling:route", { tools })).finalMessage();
  const calls = message.content.filter((block) => block.type === "tool_use");
  equal(calls.map((call) => call.input.city), ["Paris", "Rome"]);
});

await check("its tool runner goes on when threads are not kept", async () => {
  const called = [];
  const tool = { ...TOOL, parse: (given) => given, run: (given) => called.push(given.path) && FOUND };
  const messages = [{ role: "user", content: READ_IT }];
  holds(words(await client.beta.messages.toolRunner(asking("bench/agents", { messages, tools: [tool] }))), FOUND);
  equal(called, ["notes.txt"]);
});

await check("passes a picture on, also in a tool's result", async () => {
  const picture = { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } };
  const shown = [{ role: "user", content: [picture, { type: "text", text: "What is it?" }] }];
  equal(words(await ask("c-seeing:route", { messages: shown })), SEEN);
  const call = { type: "tool_use", id: "toolu_1", name: "read_file", input: { path: "a.png" } };
  const result = { type: "tool_result", tool_use_id: "toolu_1", content: [picture] };
  const loop = [...HELLO, { role: "assistant", content: [call] }, { role: "user", content: [result] }];
  equal(words(await ask("c-seeing:route", { messages: loop, tools: [TOOL] })), SEEN);
});

await check("asks for JSON by a schema", async () => {
  const output_config = { format: { type: "json_schema", schema: CITY } };
  equal(JSON.parse(words(await ask("c-filling:route", { output_config }))), { city: "Paris" });
});

await check("counts", async () =>
  equal((await client.messages.countTokens({ model: "core", messages: HELLO })).input_tokens > 0, true));

// A member that fails is asked again; a stream may have begun by then, and has no status any more.
for (const [model, kind, status] of [
  ["bench/typo", Anthropic.NotFoundError, 404],
  ["c-refusing", Anthropic.BadRequestError, 400],
  ["c-limited", Anthropic.RateLimitError, 429],
  ["c-broken", Anthropic.InternalServerError, 502],
]) {
  for (const stream of status === 502 ? [false] : [false, true]) {
    await check(`${status} from ${model}, streamed=${stream}`, async () => {
      const problem = await raises(() => (stream ? client.messages.stream(asking(model)).finalMessage() : ask(model)));
      equal([problem instanceof kind, problem.status], [true, status]);
      if (status === 429) {
        const left = Number(problem.headers.get("retry-after")); // the later ones are not sent before
        equal(left > 0 && left <= 77, true);
      }
    });
  }
}

await check("an error in the stream is raised, after what was said", async () => {
  const stream = client.messages.stream(asking("c-cut:route"));
  let said = "";
  stream.on("text", (delta) => (said += delta));
  const problem = await raises(() => stream.finalMessage());
  equal([said, problem instanceof Anthropic.APIError], ["half", true]);
});

check.end();
