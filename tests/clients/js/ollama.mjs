// Ollama's library for Node.
import { Ollama } from "ollama";
import { BASE, CITY, FOUND, HELLO, PATH, PNG, READ_IT, SEEN } from "./checks.mjs";
import { checks, equal, holds, list, raises } from "./checks.mjs";

const client = new Ollama({ host: BASE });
const check = checks("ollama");
const ask = (model, more) => client.chat({ model, messages: HELLO, ...more });
const say = (model, more) => list(ask(model, { ...more, stream: true }));
const tool = (name, parameters) => ({ type: "function", function: { name, description: "A tool", parameters } });

await check("lists and shows", async () => {
  const names = (await client.list()).models.map((model) => model.model);
  for (const name of ["bench/core", "bench/core:merged"]) equal(names.includes(name), true);
  const shown = await client.show({ model: "c-seeing:route" });
  equal(["completion", "tools", "vision"].every((ability) => shown.capabilities.includes(ability)), true);
  equal((await client.ps()).models, []);
  equal(Boolean((await client.version()).version), true);
});

for (const model of ["bench/pair", "core", "c-plain:route"]) {
  const wanted = model === "core" ? "practice-lint" : "first answer";
  await check(`asks ${model}`, async () => {
    const reply = await ask(model);
    holds(reply.message.content, wanted);
    equal([reply.done, reply.done_reason, reply.eval_count > 0], [true, "stop", true]);
  });
  await check(`streams ${model}`, async () => {
    const lines = await say(model);
    holds(lines.map((line) => line.message.content).join(""), wanted);
    equal(lines.at(-1).done, true);
  });
  await check(`generates as ${model}, whole and streamed`, async () => {
    const asked = { model, prompt: "hello" };
    holds((await client.generate(asked)).response, wanted);
    const lines = await list(client.generate({ ...asked, stream: true }));
    holds(lines.map((line) => line.response).join(""), wanted);
  });
}

await check("shows thinking as thinking", async () => {
  const lines = await say("c-thinking:route", { think: true });
  equal([lines.map((line) => line.message.thinking ?? "").join(""), lines.map((line) => line.message.content).join("")], ["hm ", "so"]);
});

for (const streamed of [false, true]) {
  await check(`plays a tool loop, streamed=${streamed}`, async () => {
    const asked = { messages: [{ role: "user", content: READ_IT }], tools: [tool("read_file", PATH)] };
    const lines = streamed ? await say("bench/agents", asked) : [await ask("bench/agents", asked)];
    const tool_calls = lines.flatMap((line) => line.message.tool_calls ?? []);
    equal([tool_calls.length, tool_calls[0].function.arguments], [1, { path: "notes.txt" }]);
    asked.messages.push({ role: "assistant", content: "", tool_calls }, { role: "tool", tool_name: "read_file", content: FOUND });
    holds((await ask("bench/agents", asked)).message.content, FOUND);
  });
}

await check("two calls in one turn, streamed", async () => {
  const lines = await say("c-calling:route", { tools: [tool("get_weather", CITY)] });
  const calls = lines.flatMap((line) => line.message.tool_calls ?? []);
  equal(calls.map((call) => call.function.arguments.city), ["Paris", "Rome"]);
});

await check("passes a picture on", async () => {
  const messages = [{ role: "user", content: "What is it?", images: [PNG] }];
  equal((await ask("c-seeing:route", { messages })).message.content, SEEN);
  equal((await client.generate({ model: "c-seeing:route", prompt: "What is it?", images: [PNG] })).response, SEEN);
});

await check("asks for JSON by a schema", async () =>
  equal(JSON.parse((await ask("c-filling:route", { format: CITY })).message.content), { city: "Paris" }));

// A member that fails is asked again; a stream may have begun by then, and has no status any more.
for (const [model, status] of [["bench/typo", 404], ["c-refusing", 400], ["c-limited", 429], ["c-broken", 502]]) {
  for (const [how, call] of [["whole", ask], ["streamed", say]]) {
    if (status === 502 && how === "streamed") continue;
    await check(`${status} from ${model}, ${how}`, async () => {
      const problem = await raises(() => call(model));
      equal([problem.name, problem.status_code], ["ResponseError", status]);
    });
  }
}

await check("an error in the stream is raised, after what was said", async () => {
  let said = "";
  await raises(async () => {
    for await (const line of await ask("c-cut:route", { stream: true })) said += line.message.content;
  });
  equal(said, "half");
});

check.end();
