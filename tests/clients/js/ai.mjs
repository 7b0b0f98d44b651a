// Vercel's AI SDK over five providers: OpenAI's Responses and chat, any OpenAI-compatible, Anthropic, Google.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateObject, generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import { BASE, CITY, FOUND, KEY, PATH, PNG, READ_IT, SEEN, checks, equal, holds, raises } from "./checks.mjs";

globalThis.AI_SDK_LOG_WARNINGS = false;
const V1 = { baseURL: `${BASE}/v1`, apiKey: KEY };
const openai = createOpenAI(V1);
const compatible = createOpenAICompatible({ ...V1, name: "bench", supportsStructuredOutputs: true });
const anthropic = createAnthropic(V1);
const google = createGoogleGenerativeAI({ baseURL: `${BASE}/v1beta`, apiKey: KEY });
const PROVIDERS = {
  "openai, Responses": openai.responses,
  "openai, chat": openai.chat,
  "openai-compatible": compatible,
  anthropic,
  google,
};
const check = checks("ai");

async function streamed(asked) {
  let said = "";
  let problem;
  const { textStream } = streamText({ ...asked, onError: ({ error }) => (problem = error) });
  for await (const delta of textStream) said += delta;
  return { said, problem };
}

for (const [name, provider] of Object.entries(PROVIDERS)) {
  const asking = (model, more) => ({ model: provider(model), maxRetries: 0, prompt: "hello", ...more });

  for (const model of ["bench/pair", "core", "c-plain:route"]) {
    const wanted = model === "core" ? "practice-lint" : "first answer";
    await check(`${name}: asks ${model}`, async () =>
      holds((await generateText(asking(model, { system: "Be brief." }))).text, wanted));
    await check(`${name}: streams ${model}`, async () => {
      const { said, problem } = await streamed(asking(model));
      if (problem) throw problem;
      holds(said, wanted);
    });
  }

  await check(`${name}: plays a tool loop, whole and streamed`, async () => {
    const called = [];
    const execute = async ({ path }) => called.push(path) && FOUND;
    const tools = { read_file: tool({ description: "Read a file", inputSchema: jsonSchema(PATH), execute }) };
    const asked = asking("bench/agents", { prompt: READ_IT, tools, stopWhen: stepCountIs(3) });
    holds((await generateText(asked)).text, FOUND);
    holds((await streamed(asked)).said, FOUND);
    equal(called, ["notes.txt", "notes.txt"]);
  });

  await check(`${name}: fills a schema`, async () => {
    const { object } = await generateObject(asking("c-filling:route", { schema: jsonSchema(CITY) }));
    equal(object, { city: "Paris" });
  });

  await check(`${name}: passes a picture on`, async () => {
    const content = [{ type: "text", text: "What is it?" }, { type: "image", image: Buffer.from(PNG, "base64") }];
    const { prompt, ...asked } = asking("c-seeing:route");
    equal((await generateText({ ...asked, messages: [{ role: "user", content }] })).text, SEEN);
  });

  // A member that fails is asked again; a stream may have begun by then, and has no status any more.
  for (const [model, status] of [["bench/typo", 404], ["c-limited", 429], ["c-broken", 502]]) {
    await check(`${name}: ${status} from ${model}, whole and streamed`, async () => {
      equal((await raises(() => generateText(asking(model)))).statusCode, status);
      const { problem } = await streamed(asking(model));
      equal([status === 502 || problem.statusCode === status, Boolean(problem)], [true, true]);
    });
  }

  await check(`${name}: an error in the stream is told, after what was said`, async () => {
    const { said, problem } = await streamed(asking("c-cut:route"));
    equal([said, Boolean(problem)], ["half", true]);
  });
}

check.end();
