// How callers ask a collection, ready to paste: the real address, and a place for the key where one is needed.

const KEY = "YOUR_KEY";

/** @type {Record<string, (name: string, origin: string) => string>} */
export const SNIPPETS = {
  curl: (name, origin) =>
    [
      `curl ${origin}/v1/chat/completions \\`,
      `  -H 'content-type: application/json' -H 'authorization: Bearer ${KEY}' \\`,
      `  -d '{"model": "bench/${name}", "messages": [{"role": "user", "content": "Hello"}]}'`,
    ].join("\n"),
  "OpenAI SDK": (name, origin) =>
    [
      "from openai import OpenAI",
      "",
      `client = OpenAI(base_url="${origin}/v1", api_key="${KEY}")`,
      "reply = client.chat.completions.create(",
      `    model="bench/${name}",`,
      '    messages=[{"role": "user", "content": "Hello"}],',
      ")",
      "print(reply.choices[0].message.content)",
    ].join("\n"),
  "Anthropic SDK": (name, origin) =>
    [
      "from anthropic import Anthropic",
      "",
      `client = Anthropic(base_url="${origin}", api_key="${KEY}")`,
      "reply = client.messages.create(",
      `    model="bench/${name}",`,
      "    max_tokens=1024,",
      '    messages=[{"role": "user", "content": "Hello"}],',
      ")",
      "print(reply.content[0].text)",
    ].join("\n"),
  Agent: (name) => `bench launch claude --collection ${name}`,
  Terminal: (name) => `bench ask ${name} "Hello"`,
};
