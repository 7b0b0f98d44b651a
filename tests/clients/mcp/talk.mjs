// The official TypeScript client against a running server, over HTTP and stdio: what an agent does.
// BASE_URL, KEY and COMMAND (a JSON list) say where; scripts/check_mcp.py starts the server.
import { readFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const { BASE_URL, KEY, COMMAND } = process.env;
const SAID = "the panel says hello";
const PATIENCE = 20_000; // ms until a panel that nobody waits for is written down
const manifest = new URL("./node_modules/@modelcontextprotocol/sdk/package.json", import.meta.url);
const NAME = `@modelcontextprotocol/sdk ${JSON.parse(readFileSync(manifest)).version}`;

const transports = {
  HTTP: () =>
    new StreamableHTTPClientTransport(new URL(`${BASE_URL}/mcp`), {
      requestInit: { headers: { Authorization: `Bearer ${KEY}` } },
    }),
  stdio: () => {
    const [command, ...args] = JSON.parse(COMMAND);
    const env = { PATH: process.env.PATH, BENCHWARMERS_URL: BASE_URL, BENCHWARMERS_KEY: KEY };
    return new StdioClientTransport({ command, args, env });
  },
};

function must(so, what) {
  if (!so) throw new Error(what);
}

async function tool(client, name, args = {}, options = undefined) {
  const result = await client.callTool({ name, arguments: args }, undefined, options);
  must(!result.isError, JSON.stringify(result.content));
  return result.structuredContent;
}

const talks = {
  async "lists tools, collections, prompts and resources"(client) {
    must((await client.listTools()).tools.length === 7, "seven tools");
    const { collections } = await tool(client, "list_collections");
    must(collections.some((one) => one.name === "slow"), "the collection slow");
    must((await client.listPrompts()).prompts.length === 3, "three prompts");
    must((await client.listResourceTemplates()).resourceTemplates.length === 2, "two templates");
    const prompt = await client.getPrompt({ name: "review_diff", arguments: { diff: "+b" } });
    must(prompt.messages[0].content.text.includes("+b"), "the diff in the prompt");
    must(client.getInstructions().includes("Verify before you act"), "the rules");
  },
  async "asks with progress, and reads the panel"(client) {
    const heard = [];
    const onprogress = ({ progress }) => heard.push(progress);
    const options = { onprogress, resetTimeoutOnProgress: true };
    const told = await tool(client, "ask", { collection: "slow", prompt: `ECHO ${SAID}` }, options);
    must(told.seats.every((seat) => seat.answer === SAID), "both answers");
    must(heard.length >= 2 && heard.every((one, at) => !at || one > heard[at - 1]), `progress ${heard}`);
    const read = await client.readResource({ uri: `bench://panel/${told.panel}` });
    must(read.contents[0].text.includes(SAID), "the answer in the resource");
  },
  async judges(client) {
    const told = await tool(client, "ask", { collection: "quick", prompt: `ECHO ${SAID}` });
    const [call] = told.to_judge;
    const owes = async () => (await tool(client, "pending_verdicts")).pending.some((one) => one.call === call);
    must(await owes(), "it is owed");
    must((await tool(client, "verdict", { call, useful: false, note: "no" })).recorded, "it is recorded");
    must(!(await owes()), "it is owed no more");
  },
  async "cancels, and the panel goes on"(client) {
    const list = async () => (await client.listResources()).resources.map((one) => one.uri);
    const before = await list();
    const began = Date.now();
    const asked = { collection: "slow", prompt: `ECHO ${SAID} after all` };
    const refused = await tool(client, "ask", asked, { signal: AbortSignal.timeout(400) }).catch((error) => error);
    must(refused instanceof Error && Date.now() - began < 1400, "it stopped waiting");
    while (Date.now() - began < PATIENCE) {
      for (const uri of (await list()).filter((one) => !before.includes(one))) {
        const text = (await client.readResource({ uri })).contents[0].text;
        if (text.split(`"${SAID} after all"`).length === 3) return;
      }
      await new Promise((go) => setTimeout(go, 100));
    }
    throw new Error("the panel was not recorded");
  },
};

let failed = 0;
for (const [name, transport] of Object.entries(transports)) {
  for (const [what, talk] of Object.entries(talks)) {
    const client = new Client({ name: "check", version: "1" });
    try {
      await client.connect(transport());
      await client.listTools(); // from here on it holds what tools give against their schemas
      await talk(client);
      console.log(`PASS ${NAME}: ${name}: ${what}`);
    } catch (problem) {
      failed += 1;
      console.log(`FAIL ${NAME}: ${name}: ${what}: ${String(problem?.message ?? problem).replace(/\s+/g, " ").slice(0, 400)}`);
    }
    await client.close();
  }
}
process.exit(failed ? 1 : 0);
