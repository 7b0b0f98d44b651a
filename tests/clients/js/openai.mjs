// OpenAI's library for Node: chat, its tool runner, Responses and completions.
import OpenAI from "openai";
import { BASE, CITY, FOUND, HELLO, KEY, PATH, PNG, READ_IT, SEEN } from "./checks.mjs";
import { checks, equal, holds, list, raises } from "./checks.mjs";

const client = new OpenAI({ baseURL: `${BASE}/v1`, apiKey: KEY, maxRetries: 0 });
const check = checks("openai");
const ask = (model, more) => client.chat.completions.create({ model, messages: HELLO, ...more });
const respond = (model, more) => client.responses.create({ model, input: "hello", ...more });

await check("lists and retrieves", async () => {
  const names = (await list(client.models.list())).map((model) => model.id);
  for (const name of ["bench/core", "bench/core:merged"]) {
    equal(names.includes(name), true);
    equal((await client.models.retrieve(name)).id, name);
  }
});

for (const model of ["bench/pair", "core", "c-plain:route"]) {
  const wanted = model === "core" ? "practice-lint" : "first answer";
  await check(`asks ${model}`, async () => {
    const reply = await ask(model);
    holds(reply.choices[0].message.content, wanted);
    equal([reply.choices[0].finish_reason, reply.usage.total_tokens > 0], ["stop", true]);
  });
  await check(`streams ${model}`, async () => {
    const chunks = await list(ask(model, { stream: true, stream_options: { include_usage: true } }));
    holds(chunks.map((chunk) => chunk.choices[0]?.delta?.content ?? "").join(""), wanted);
    equal(chunks.at(-1).usage.total_tokens > 0, true);
  });
  await check(`streams ${model} through its helper`, async () =>
    holds(await client.chat.completions.stream({ model, messages: HELLO }).finalContent(), wanted));
  await check(`responds as ${model}, whole and streamed`, async () => {
    holds((await respond(model)).output_text, wanted);
    holds((await client.responses.stream({ model, input: "hello" }).finalResponse()).output_text, wanted);
  });
  await check(`completes as ${model}, whole and streamed`, async () => {
    const asked = { model, prompt: "hello" };
    holds((await client.completions.create(asked)).choices[0].text, wanted);
    const chunks = await list(client.completions.create({ ...asked, stream: true }));
    holds(chunks.map((chunk) => chunk.choices[0]?.text ?? "").join(""), wanted);
  });
}

for (const stream of [false, true]) {
  await check(`runs a tool, streamed=${stream}`, async () => {
    const called = [];
    const read = (given) => called.push(given.path) && FOUND;
    const tool = { name: "read_file", description: "Read a file", parameters: PATH, parse: JSON.parse, function: read };
    const run = client.chat.completions.runTools({
      model: "bench/agents",
      stream,
      messages: [{ role: "user", content: READ_IT }],
      tools: [{ type: "function", function: tool }],
    });
    holds(await run.finalContent(), FOUND);
    equal(called, ["notes.txt"]);
  });
}

await check("two calls in one turn, streamed", async () => {
  const tools = [{ type: "function", function: { name: "get_weather", parameters: CITY } }];
  const message = await client.chat.completions
    .stream({ model: "c-calling:route", messages: HELLO, tools })
    .finalMessage();
  equal(message.tool_calls.map((call) => JSON.parse(call.function.arguments).city), ["Paris", "Rome"]);
});

await check("plays a tool loop in Responses", async () => {
  const tools = [{ type: "function", name: "read_file", parameters: PATH, strict: false }];
  const input = [{ role: "user", content: READ_IT }];
  const asked = { model: "bench/agents", tools };
  const first = await client.responses.stream({ ...asked, input }).finalResponse();
  const call = first.output.find((item) => item.type === "function_call");
  equal(JSON.parse(call.arguments), { path: "notes.txt" });
  input.push(...first.output, { type: "function_call_output", call_id: call.call_id, output: FOUND });
  holds((await client.responses.create({ ...asked, input })).output_text, FOUND);
});

await check("passes a picture on, in chat and in Responses", async () => {
  const url = `data:image/png;base64,${PNG}`;
  const parts = [{ type: "text", text: "What is it?" }, { type: "image_url", image_url: { url } }];
  const reply = await ask("c-seeing:route", { messages: [{ role: "user", content: parts }] });
  equal(reply.choices[0].message.content, SEEN);
  const input = [{ role: "user", content: [{ type: "input_image", image_url: url, detail: "auto" }] }];
  equal((await respond("c-seeing:route", { input })).output_text, SEEN);
});

await check("asks for JSON by a schema, in chat and in Responses", async () => {
  const format = { type: "json_schema", json_schema: { name: "city", strict: true, schema: CITY } };
  const reply = await ask("c-filling:route", { response_format: format });
  equal(JSON.parse(reply.choices[0].message.content), { city: "Paris" });
  const text = { format: { type: "json_schema", name: "city", strict: true, schema: CITY } };
  equal(JSON.parse((await respond("c-filling:route", { text })).output_text), { city: "Paris" });
});

await check("counts", async () =>
  equal((await client.responses.inputTokens.count({ model: "core", input: "hello" })).input_tokens > 0, true));

// A member that fails is asked again; a stream may have begun by then, and has no status any more.
for (const [model, kind, status] of [
  ["bench/typo", OpenAI.NotFoundError, 404],
  ["c-refusing", OpenAI.BadRequestError, 400],
  ["c-limited", OpenAI.RateLimitError, 429],
  ["c-broken", OpenAI.InternalServerError, 502],
]) {
  for (const [how, call] of [["chat", ask], ["responses", respond]]) {
    for (const stream of status === 502 ? [false] : [false, true]) {
      await check(`${status} from ${model}, ${how}, streamed=${stream}`, async () => {
        const problem = await raises(async () => list(await call(model, { stream })));
        equal([problem instanceof kind, problem.status], [true, status]);
        if (status === 429) {
          const left = Number(problem.headers.get("retry-after")); // the later ones are not sent before
          equal(left > 0 && left <= 77, true);
        }
      });
    }
  }
}

await check("an error in the stream is raised, after what was said", async () => {
  let said = "";
  const problem = await raises(async () => {
    for await (const chunk of await ask("c-cut:route", { stream: true })) said += chunk.choices[0]?.delta?.content ?? "";
  });
  equal([said, problem instanceof OpenAI.APIError], ["half", true]);
});

await check("an error in a stream of Responses is told as failed, or raised", async () => {
  const told = list(respond("c-cut:route", { stream: true }));
  const end = await told.then((events) => events.at(-1), (problem) => problem); // version 7 raises
  equal(end.type === "response.failed" || end instanceof OpenAI.APIError, true);
});

check.end();
