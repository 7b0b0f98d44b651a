// One panel, one fetch: every seat's events arrive on the same stream, a JSON object a line.
import { Trouble, cut, gone, send } from "./api.js";

/**
 * Ask a panel and hand over its events as they arrive. Resolves when the server has said its last word.
 * @param {object} body the request: model, messages, bench
 * @param {(event: {event: string, [name: string]: any}) => void} take
 * @param {AbortSignal} signal aborting stops the listening; the panel itself goes on at the server
 */
export async function ask(body, take, signal) {
  const response = await send("POST", "/api/ask", body, signal);
  let last = "";
  for await (const line of lines(response.body)) {
    const event = read(line);
    last = event.event;
    take(event);
  }
  if (last !== "panel.done" && last !== "failed") throw cut();
}

function read(line) {
  try {
    return JSON.parse(line);
  } catch {
    throw new Trouble("The server sent a line that is not JSON.", { kind: "garbage" });
  }
}

/**
 * Lines of a byte stream, wherever it was cut: inside a character, inside a line. Blank lines are dropped.
 * @param {ReadableStream<Uint8Array>} stream
 */
export async function* lines(stream) {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let held = []; // pieces of the unfinished line: joined once, so that a long line costs its length and not its square
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(broken);
      const pieces = (done ? decoder.decode() : decoder.decode(value, { stream: true })).split("\n");
      for (const piece of pieces.slice(0, -1)) {
        const line = held.join("") + piece;
        held = [];
        if (line.trim()) yield line;
      }
      held.push(pieces.at(-1));
      if (done) break;
    }
    if (held.join("").trim()) yield held.join("");
  } finally {
    reader.cancel().catch(() => {});
  }
}

function broken(problem) {
  throw problem.name === "AbortError" ? problem : gone();
}
