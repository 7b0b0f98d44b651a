// One endpoint: what it is, its key, whether it leads, and how to let it go.
import { post } from "../api.js";
import { announce, h } from "../dom.js";
import { confirm, field, form, input, select } from "../form.js";
import { button } from "../loading.js";
import { failure, notice } from "../notice.js";
import { SPEAKS, keyOf } from "../pages/endpoints.js";
import { pairs } from "../table.js";
import { plural, sentence } from "../words.js";

/**
 * @param {any} endpoint
 * @param {string[]} apis those this version speaks
 * @param {(name: string | null) => void} done it was changed; null: it is gone
 * @returns {HTMLElement}
 */
export function drawer(endpoint, apis, done) {
  const { name, builtin } = endpoint;
  const told = h("div", { class: "stack" });
  const act = async (path, body, words) => {
    told.replaceChildren();
    try {
      await post(path, body);
      announce(words);
      done(name);
    } catch (problem) {
      told.replaceChildren(failure(problem));
    }
  };
  return h(
    "section",
    { class: "card drawer", "aria-label": name },
    h(
      "header",
      {},
      h("h2", {}, name),
      h("a", { class: "button quiet small end", href: "/endpoints", "data-go": true }, "Close", h("kbd", {}, "Esc")),
    ),
    h(
      "div",
      { class: "pad stack" },
      told,
      about(endpoint),
      builtin
        ? h("p", { class: "faint" }, "The practice squad is part of this server.")
        : [
            actions(endpoint, act),
            keyForm(endpoint, done),
            change(endpoint, apis, done, told),
            away(endpoint, done, told),
          ],
    ),
  );
}

const about = (endpoint) =>
  pairs([
    ["Address", h("code", {}, endpoint.base)],
    ["Speaks", SPEAKS[endpoint.api] ?? endpoint.api],
    endpoint.profile && ["Profile", endpoint.profile],
    ["Kind", endpoint.kind],
    ["Key", keyOf(endpoint)],
    ["Models", plural(endpoint.models, "model")],
    !endpoint.builtin && [
      "Limits",
      h(
        "a",
        { href: `/quotas?connection=${encodeURIComponent(endpoint.name)}`, "data-go": true },
        "What is left of them",
      ),
    ],
    ["Default", endpoint.default ? "yes: new models are looked for here" : "no"],
  ]);

const actions = ({ name, default: usual }, act) =>
  h(
    "div",
    { class: "row wrap", "data-who": "admin" },
    h("a", { class: "button", href: `/models?add=${encodeURIComponent(name)}`, "data-go": true }, "Add models of it"),
    !usual && button("Make it the default", () => act("/api/endpoint/default", { name }, `${name} is the default`)),
  );

function keyForm({ name, key }, done) {
  const typed = input("key", "", { type: "password", autocomplete: "new-password" });
  const hint =
    key.source === "env"
      ? "The key in the environment is used as long as it is there."
      : "The old one is forgotten. An empty field removes it.";
  const node = form({
    label: "Key",
    action: key.set ? "Replace the key" : "Save the key",
    fields: [field("New API key", typed, hint)],
    send: async () => {
      await post("/api/endpoint/key", { name, key: typed.value.trim() });
      announce("The key is saved.");
      done(name);
    },
  });
  return h("details", { class: "edit" }, h("summary", {}, key.set ? "Replace its key" : "Give it a key"), node);
}

function change({ name, base, api }, apis, done, told) {
  const node = form({
    label: `Change ${name}`,
    action: "Save and test",
    fields: [
      field("Address", input("base", base), "Another host forgets the saved key: it was given for this one."),
      field(
        "Speaks",
        select(
          "api",
          [...new Set([...apis, api])].map((each) => [each, SPEAKS[each] ?? each]),
          api,
        ),
      ),
    ],
    send: async ({ elements }) => {
      const { listing } = await post("/api/endpoint", {
        name,
        base: elements.namedItem("base").value.trim(),
        api: elements.namedItem("api").value,
      });
      announce(`${name}: saved`);
      await done(name);
      if (listing.note) told.replaceChildren(notice("calm", sentence(listing.note)));
    },
  });
  return h("details", { class: "edit" }, h("summary", {}, "Change its address"), node);
}

function away({ name, models }, done, told) {
  const run = async () => {
    const words = models
      ? `Its ${plural(models, "model")} retire with it: they leave every collection, and their record stays. Its key is deleted.`
      : "Its key is deleted.";
    if (!(await confirm({ title: `Remove ${name}?`, words, action: "Remove", typed: models ? name : undefined })))
      return;
    try {
      await post("/api/endpoint/remove", { name, with_models: models > 0 });
      announce(`${name} is removed`);
      done(null);
    } catch (problem) {
      told.replaceChildren(failure(problem));
    }
  };
  return h("div", { "data-who": "admin" }, button("Remove…", run, "quiet danger-text"));
}
