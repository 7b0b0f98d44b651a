// Google's library for Node.
import { GoogleGenAI } from "@google/genai";
import { BASE, CITY, FOUND, KEY, PATH, PNG, READ_IT, SEEN } from "./checks.mjs";
import { checks, equal, holds, list, raises } from "./checks.mjs";

const client = new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: BASE } });
const check = checks("@google/genai");
const ask = (model, contents = "hello", config = {}) => client.models.generateContent({ model, contents, config });
const say = (model, contents = "hello", config = {}) =>
  client.models.generateContentStream({ model, contents, config });
const READ = { functionDeclarations: [{ name: "read_file", description: "Read a file", parametersJsonSchema: PATH }] };

await check("lists and gets", async () => {
  const names = (await list(client.models.list())).map((model) => model.name);
  for (const name of ["bench/core", "bench/core:merged"]) {
    equal(names.includes(`models/${name}`), true);
    equal((await client.models.get({ model: name })).name, `models/${name}`);
  }
});

for (const model of ["bench/pair", "core", "c-plain:route"]) {
  const wanted = model === "core" ? "practice-lint" : "first answer";
  await check(`asks ${model}`, async () => {
    const reply = await ask(model);
    holds(reply.text, wanted);
    equal([reply.candidates[0].finishReason, reply.usageMetadata.totalTokenCount > 0], ["STOP", true]);
  });
  await check(`streams ${model}`, async () => {
    const chunks = await list(say(model, "hello", { systemInstruction: "Be brief." }));
    holds(chunks.map((chunk) => chunk.text ?? "").join(""), wanted);
    equal([new Set(chunks.map((chunk) => chunk.responseId)).size, chunks.at(-1).candidates[0].finishReason], [1, "STOP"]);
  });
}

for (const streamed of [false, true]) {
  await check(`plays a tool loop, streamed=${streamed}`, async () => {
    const turns = [{ role: "user", parts: [{ text: READ_IT }] }];
    const config = { tools: [READ] };
    const told = streamed ? await list(say("bench/agents", turns, config)) : [await ask("bench/agents", turns, config)];
    const parts = told.flatMap((piece) => piece.candidates[0].content.parts).filter((part) => part.functionCall);
    const { id, name, args } = parts[0].functionCall;
    equal([name, args], ["read_file", { path: "notes.txt" }]);
    const functionResponse = { id, name, response: { output: FOUND } };
    turns.push({ role: "model", parts }, { role: "user", parts: [{ functionResponse }] });
    holds((await ask("bench/agents", turns, config)).text, FOUND);
  });
}

await check("two calls in one turn, streamed", async () => {
  const tools = [{ functionDeclarations: [{ name: "get_weather", parametersJsonSchema: CITY }] }];
  const calls = (await list(say("c-calling:route", "hello", { tools }))).flatMap((chunk) => chunk.functionCalls ?? []);
  equal(calls.map((call) => call.args.city), ["Paris", "Rome"]);
});

await check("passes a picture on", async () => {
  const picture = { inlineData: { mimeType: "image/png", data: PNG } };
  equal((await ask("c-seeing:route", [picture, { text: "What is it?" }])).text, SEEN);
});

for (const [name, schema] of [
  ["responseJsonSchema", CITY],
  ["responseSchema", { type: "OBJECT", properties: { city: { type: "STRING" } }, required: ["city"] }],
]) {
  await check(`asks for JSON by ${name}`, async () => {
    const config = { responseMimeType: "application/json", [name]: schema };
    equal(JSON.parse((await ask("c-filling:route", "hello", config)).text), { city: "Paris" });
  });
}

await check("counts", async () =>
  equal((await client.models.countTokens({ model: "core", contents: "hello" })).totalTokens > 0, true));

// A member that fails is asked again; a stream may have begun by then, and has no status any more.
for (const [model, status] of [["bench/typo", 404], ["c-refusing", 400], ["c-limited", 429], ["c-broken", 502]]) {
  for (const [how, call] of [["whole", ask], ["streamed", (name) => list(say(name))]]) {
    if (status === 502 && how === "streamed") continue;
    await check(`${status} from ${model}, ${how}`, async () => {
      const problem = await raises(() => call(model));
      equal([problem.name, problem.status], ["ApiError", status]);
    });
  }
}

await check("an error in the stream is raised, after what was said", async () => {
  let said = "";
  const problem = await raises(async () => {
    for await (const chunk of await say("c-cut:route")) said += chunk.text ?? "";
  });
  equal([said, problem.name], ["half", "ApiError"]);
});

check.end();
