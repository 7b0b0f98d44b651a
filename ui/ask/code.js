// The same question for a terminal or a program: the address of this server, and a place for the key where it wants one.
const KEY = "YOUR_KEY";

/** @typedef {{collection: string, reply: string, messages: object[] | null, invited?: string[], bench?: object}} Question */

/** What goes beside model and messages. @param {Question} question @returns {Record<string, any>} */
const extras = ({ invited = [], bench }) => ({ ...(invited.length && { with: invited }), ...(bench && { bench }) });

/** @param {string} text @returns {string} one shell word */
const word = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

const model = ({ collection, reply }) => `bench/${collection}${reply === "merged" ? ":merged" : ":all"}`;

/** @param {string} text @param {string} indent @returns {string} with every line but the first moved in */
const moved = (text, indent) => text.replaceAll("\n", `\n${indent}`);

/**
 * A value in Python's spelling. JSON differs in three words only, which stand outside its strings.
 * @param {unknown} value
 */
const python = (value) =>
  JSON.stringify(value, null, 4).replace(/"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g, (found) =>
    found[0] === '"' ? found : { true: "True", false: "False", null: "None" }[found],
  );

function curl(question, origin) {
  const body = JSON.stringify({ model: model(question), messages: question.messages, ...extras(question) });
  return `curl ${word(origin + "/v1/chat/completions")} \\\n  -H 'content-type: application/json' \\\n  -d ${word(body)}\n`;
}

function extraBody(question) {
  const more = extras(question);
  return Object.keys(more).length ? [`    extra_body=${moved(python(more), "    ")},`] : [];
}

const pythonOpenai = (question, origin) =>
  [
    "from openai import OpenAI",
    "",
    `client = OpenAI(base_url=${JSON.stringify(`${origin}/v1`)}, api_key="${KEY}")`,
    "reply = client.chat.completions.create(",
    `    model=${JSON.stringify(model(question))},`,
    `    messages=${moved(python(question.messages), "    ")},`,
    ...extraBody(question),
    ")",
    "print(reply.choices[0].message.content)",
    "",
  ].join("\n");

const javascript = (question, origin) =>
  [
    'import OpenAI from "openai";',
    "",
    `const client = new OpenAI({ baseURL: ${JSON.stringify(`${origin}/v1`)}, apiKey: "${KEY}" });`,
    "const reply = await client.chat.completions.create({",
    `  model: ${JSON.stringify(model(question))},`,
    `  messages: ${moved(JSON.stringify(question.messages, null, 2), "  ")},`,
    ...Object.entries(extras(question)).map(
      ([name, value]) => `  ${name}: ${moved(JSON.stringify(value, null, 2), "  ")},`,
    ),
    "});",
    "console.log(reply.choices[0].message.content);",
    "",
  ].join("\n");

function anthropic(question, origin) {
  const { messages } = question;
  const system = messages
    .filter(({ role }) => role === "system" || role === "developer")
    .map(({ content }) => String(content))
    .join("\n\n");
  const said = messages
    .filter(({ role }) => role !== "system" && role !== "developer")
    .map(({ role, content }) => ({ role, content: blocksOf(content) }));
  return [
    "from anthropic import Anthropic",
    "",
    `client = Anthropic(base_url=${JSON.stringify(origin)}, api_key="${KEY}")`,
    "reply = client.messages.create(",
    `    model=${JSON.stringify(model(question))},`,
    "    max_tokens=4096,",
    ...(system ? [`    system=${JSON.stringify(system)},`] : []),
    `    messages=${moved(python(said), "    ")},`,
    ...extraBody(question),
    ")",
    "print(reply.content[0].text)",
    "",
  ].join("\n");
}

// Anthropic's API writes a picture as {type: image, source}.
const blocksOf = (content) => (Array.isArray(content) ? content.map(blockOf) : content);

function blockOf(part) {
  const url = part.image_url?.url;
  if (part.type !== "image_url" || !url) return part;
  const [, kind, data] = /^data:([\w/+.-]+);base64,(.*)$/s.exec(url) ?? [];
  return { type: "image", source: data ? { type: "base64", media_type: kind, data } : { type: "url", url } };
}

const LANGUAGES = {
  curl,
  "Python, OpenAI SDK": pythonOpenai,
  "Python, Anthropic SDK": anthropic,
  "JavaScript, OpenAI SDK": javascript,
};

/**
 * @param {() => Question} question as it is at that moment
 * @param {string} [origin]
 * @returns {Record<string, () => string>} for each language the program that asks it
 */
export const programs = (question, origin = location.origin) =>
  Object.fromEntries(Object.entries(LANGUAGES).map(([name, write]) => [name, () => write(question(), origin)]));
