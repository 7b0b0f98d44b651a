// What the scripts here share: checks that print PASS or FAIL, and what to ask about. BASE_URL names a server with
// the members of ../scripted.py; run_js.py starts it.
import { readFileSync } from "node:fs";

export const BASE = process.env.BASE_URL;
export const KEY = "unused";
export const HELLO = [{ role: "user", content: "hello" }];
export const READ_IT = "Read the file notes.txt"; // what practice-agent needs to hear to call read_file
export const FOUND = "seven herons";
export const PATH = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
export const CITY = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};
export const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=";
export const SEEN = `image/png, ${Buffer.from(PNG, "base64").length} bytes`; // what the member that sees says of it

export function checks(library) {
  const manifest = new URL(`./node_modules/${library}/package.json`, import.meta.url);
  const name = `${library} ${JSON.parse(readFileSync(manifest)).version}`;
  let failed = 0;
  const check = async (what, call) => {
    try {
      await call();
      console.log(`PASS ${name}: ${what}`);
    } catch (problem) {
      failed += 1;
      const said = String(problem?.message ?? problem).replace(/\s+/g, " ").slice(0, 400);
      console.log(`FAIL ${name}: ${what}: ${problem?.name}: ${said}`);
    }
  };
  check.end = () => process.exit(failed ? 1 : 0);
  return check;
}

export function equal(got, wanted) {
  const [mine, yours] = [JSON.stringify(got), JSON.stringify(wanted)];
  if (mine !== yours) throw new Error(`${mine} is not ${yours}`);
}

export function holds(got, wanted) {
  if (!(got ?? "").includes(wanted)) throw new Error(`"${wanted}" is not in "${(got ?? "").slice(0, 300)}"`);
}

export async function raises(call) {
  try {
    await call();
  } catch (problem) {
    return problem;
  }
  throw new Error("nothing was raised");
}

export async function list(pieces) {
  const all = [];
  for await (const piece of await pieces) all.push(piece);
  return all;
}
