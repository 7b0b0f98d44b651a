// A sentence above what it concerns: what is wrong, what to do next, and the id to quote.
import { here } from "./command.js";
import { copyButton, h } from "./dom.js";
import { sentence } from "./words.js";

/**
 * @param {"bad" | "warn" | "calm"} tone
 * @param {string | Node} cause
 * @param {...(string | Node | false | null | undefined)} next
 * @returns {HTMLElement}
 */
export function notice(tone, cause, ...next) {
  return h(
    "div",
    { class: `notice ${tone}`, role: tone === "calm" ? null : "alert" },
    h(
      "div",
      {},
      h("strong", {}, cause),
      next.map((each) => each && [" ", each]),
    ),
  );
}

/**
 * What went wrong with the server or with a request to it.
 * @param {Error & {hint?: string, request?: string}} problem
 * @param {...Node} actions
 * @returns {HTMLElement}
 */
export function failure(problem, ...actions) {
  const id =
    problem.request &&
    h(
      "span",
      { class: "faint" },
      "Request ",
      h("code", {}, problem.request),
      " ",
      copyButton("Copy request id", () => problem.request, { bare: true, class: "button quiet tiny" }),
    );
  const box = notice("bad", sentence(problem.message), problem.hint && hint(problem.hint), id);
  if (actions.length) box.append(h("div", { class: "actions" }, actions));
  return box;
}

// "Start it with: python3 serve.py": the command is set as one, and can be copied.
function hint(text) {
  const [, words, command] = /^(.*?: )((?:python3|bench|pipx|ollama) .+)$/.exec(text) ?? [];
  return command ? h("span", {}, words, commandLine(command)) : text;
}

/**
 * A command to type elsewhere, for this server, with its copy button.
 * @param {string} command
 * @returns {HTMLElement}
 */
export function commandLine(command) {
  const text = here(command);
  return h(
    "span",
    { class: "command" },
    h("code", {}, text),
    copyButton("Copy command", () => text, { bare: true, class: "button quiet tiny" }),
  );
}
