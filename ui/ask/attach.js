// Files beside the question: text becomes a named, fenced block of it, a picture a data URL. Nothing leaves the page before asking.

/**
 * @typedef {{name: string, kind: "text", text: string, lines: number} | {name: string, kind: "image", url: string, size: number}} Attached
 */

const LARGEST = { text: 2 << 20, image: 8 << 20 };
const PICTURES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const LANGUAGES = {
  py: "python",
  js: "javascript",
  ts: "typescript",
  rs: "rust",
  go: "go",
  rb: "ruby",
  sh: "sh",
  c: "c",
  h: "c",
  cpp: "cpp",
  java: "java",
  sql: "sql",
  html: "html",
  css: "css",
  json: "json",
  yaml: "yaml",
  yml: "yaml",
  toml: "toml",
  md: "markdown",
  diff: "diff",
  patch: "diff",
};

/**
 * @param {File} file
 * @returns {Promise<Attached>} rejects with a sentence
 */
export async function read(file) {
  const name = file.name || "pasted";
  if (PICTURES.includes(file.type)) {
    if (file.size > LARGEST.image) throw new Error(`${name} is larger than 8 MB. Send a smaller picture.`);
    return { name, kind: "image", url: await asUrl(file), size: file.size };
  }
  if (file.size > LARGEST.text) throw new Error(`${name} is larger than 2 MB. Send the part that matters.`);
  return textFile(name, await textOf(file, name));
}

/**
 * @param {string} name
 * @param {string} text
 * @returns {Attached}
 */
export const textFile = (name, text) => ({
  name,
  kind: "text",
  text,
  lines: text.replace(/\n$/, "").split("\n").length,
});

async function textOf(file, name) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  try {
    if (bytes.subarray(0, 8000).includes(0)) throw new TypeError("a zero byte");
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes).replace(/\r\n?/g, "\n");
  } catch {
    throw new Error(`${name} is neither text in UTF-8 nor a PNG, JPEG, GIF or WebP picture.`);
  }
}

function asUrl(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.onerror = () => reject(new Error(`${file.name} could not be read.`));
    reader.readAsDataURL(file);
  });
}

/**
 * The messages of a question.
 * @param {{question: string, system?: string, files: Attached[]}} draft
 * @returns {object[]} in OpenAI's chat shape
 */
export function messagesOf({ question, system = "", files }) {
  const texts = files.filter((file) => file.kind === "text").map(fenced);
  const text = [question.trim(), ...texts].filter(Boolean).join("\n\n");
  const images = files
    .filter((file) => file.kind === "image")
    .map(({ url }) => ({ type: "image_url", image_url: { url } }));
  const content = images.length ? [{ type: "text", text }, ...images] : text;
  return [...(system.trim() ? [{ role: "system", content: system.trim() }] : []), { role: "user", content }];
}

function fenced({ name, text }) {
  const longest = Math.max(2, ...(text.match(/`{3,}/g) ?? []).map((ticks) => ticks.length));
  const ticks = "`".repeat(longest + 1);
  const language = LANGUAGES[name.split(".").at(-1).toLowerCase()] ?? "";
  return `File: ${name}\n${ticks}${language}\n${text.replace(/\n$/, "")}\n${ticks}`;
}
