// Add a place that serves models: a known provider by its key, anything else by its address, what runs here by one press.
import { post } from "../api.js";
import { announce, h } from "../dom.js";
import { field, form, input, select } from "../form.js";
import { button } from "../loading.js";
import { failure } from "../notice.js";
import { sentence } from "../words.js";

const APIS = {
  chat: "OpenAI chat",
  anthropic: "Anthropic Messages",
  gemini: "Gemini",
  responses: "OpenAI Responses",
  ollama: "Ollama",
};
const OTHER = "";

/**
 * @param {{said: any, found: any[], first: boolean, wanted: string, added: (name: string) => void}} what
 *   said: the reply of /api/endpoints; first: there is no endpoint yet; wanted: the name of one that was found
 * @returns {HTMLElement}
 */
export function adding({ said, found, first, wanted, added }) {
  const { providers = [], apis = [] } = said;
  const chosen = found.find(({ name }) => name === wanted);
  const known = [[OTHER, "Another address"], ...providers.map(({ name }) => [name, name])];
  const provider = select(
    "provider",
    known,
    chosen && providers.some(({ name }) => name === chosen.name)
      ? chosen.name
      : chosen
        ? OTHER
        : (providers[0]?.name ?? OTHER),
    { on: { change: () => fill(providers.find(({ name }) => name === provider.value)) } },
  );
  const base = input("base", "", { placeholder: "https://api.example.com/v1", inputmode: "url" });
  const name = input("name", "");
  const api = select(
    "api",
    apis.map((each) => [each, APIS[each] ?? each]),
    "chat",
  );
  const key = input("key", "", { type: "password", autocomplete: "new-password" });
  const where = h(
    "div",
    { class: "stack" },
    field("Address", base, "The base URL of its API, as its documentation gives it."),
    h("div", { class: "two" }, field("Name here", name), field("Speaks", api)),
  );
  const fill = (row) => {
    base.value = row?.base ?? "";
    name.value = row?.name ?? "";
    api.value = row?.api ?? "chat";
    where.hidden = Boolean(row);
  };
  fill(
    chosen && !providers.some(({ name: each }) => each === chosen.name)
      ? { name: chosen.name, base: chosen.base, api: chosen.api }
      : providers.find(({ name: each }) => each === provider.value),
  );
  where.hidden = provider.value !== OTHER;
  const send = (test) => async () => {
    const body = {
      name: name.value.trim(),
      base: base.value.trim(),
      api: api.value,
      ...(key.value && { key: key.value.trim() }),
      ...(test ? {} : { test: false }),
    };
    const reply = await post("/api/endpoint", body);
    key.value = "";
    announce(`${body.name} is added. ${reply.listing.note ? sentence(reply.listing.note) : ""}`);
    added(body.name);
  };
  const node = form({
    label: "Add an endpoint",
    action: "Add and test",
    fields: [
      field("Provider", provider),
      where,
      field(
        "API key",
        key,
        "Kept on this computer, in a file that only you can read. A runtime on this computer needs none.",
      ),
    ],
    send: send(true),
    beside: [
      button("Add without a test", () => send(false)().catch((problem) => node.prepend(failure(problem))), "quiet"),
      !first && h("a", { class: "button quiet", href: "/endpoints", "data-go": true }, "Cancel"),
    ].filter(Boolean),
  });
  return h(
    "div",
    { class: "stack first-endpoint" },
    h("h2", { class: "big" }, first ? "The bench is empty." : "Add an endpoint"),
    first &&
      h(
        "p",
        {},
        "Add one place that serves models. The practice squad plays until then, and keys stay on this computer.",
      ),
    h("section", { class: "card pad" }, node),
    found.length > 0 && h("h3", {}, "Found on this computer"),
    found.length > 0 &&
      h(
        "ul",
        { class: "card list found" },
        found.map((each) => foundRow(each, providers.find(({ name: one }) => one === each.name)?.api, added)),
      ),
  );
}

// Its key, where it needs one, is in the environment already: one press adds it.
function foundRow({ name, what, base }, api, added) {
  const use = async () => {
    go.disabled = true;
    trouble.replaceChildren();
    try {
      await post("/api/endpoint", { name, base, ...(api && { api }) });
      announce(`${name} is added.`);
      added(name);
    } catch (problem) {
      trouble.replaceChildren(failure(problem));
      go.disabled = false;
    }
  };
  const go = button("Use it", use, "small", { "aria-label": `Use ${name}` });
  const trouble = h("div");
  return h(
    "li",
    {},
    h(
      "div",
      { class: "row wrap" },
      h("span", {}, h("b", {}, name), `, ${what}`),
      h("span", { class: "faint" }, base),
      h("span", { class: "end" }, go),
    ),
    trouble,
  );
}
