// Endpoints: where models are served. A list with what is wrong above it, one to add, one in a drawer.
import { post } from "../api.js";
import { announce, h, say } from "../dom.js";
import { drawer } from "../endpoints/drawer.js";
import { adding } from "../endpoints/add.js";
import { shortcut } from "../keys.js";
import { Loading, button } from "../loading.js";
import { notice } from "../notice.js";
import { table, walk } from "../table.js";
import { plural, sentence } from "../words.js";

/** How an API is called where people read it. */
export const SPEAKS = {
  chat: "OpenAI chat",
  anthropic: "Anthropic Messages",
  gemini: "Gemini",
  responses: "OpenAI Responses",
  ollama: "Ollama",
};

export class Page {
  /** @param {HTMLElement} root @param {any} app */
  constructor(root, app) {
    Object.assign(this, { root, app, query: new URLSearchParams(), said: null, found: [], tests: new Map() });
    this.place = h("div", { class: "stack" });
    this.side = h("div", { class: "stack" });
    this.list = new Loading(this.place);
    this.panes = h("div", { class: "drawered" }, this.place, this.side);
    this.#keys();
  }

  /** @param {URLSearchParams} query */
  show(query) {
    this.query = query;
    const name = query.get("endpoint");
    this.fresh = query.get("add");
    this.app.title(this.fresh !== null ? ["Endpoints", "Add"] : name ? ["Endpoints", name] : ["Endpoints"]);
    this.panes.classList.toggle("open", Boolean(name) && this.fresh === null);
    this.root.replaceChildren(this.panes);
    if (this.said) this.#fill();
    else this.#again();
  }

  hide() {
    this.list.stop();
    this.said = null;
  }

  /** @param {any} status what the server found on this computer */
  status({ found = [] }) {
    const changed = JSON.stringify(found) !== JSON.stringify(this.found);
    this.found = found;
    // A form that is being filled in is left alone.
    if (changed && this.said && this.fresh === null && !this.root.contains(document.activeElement)) this.#fill();
  }

  #again() {
    this.said = null;
    return this.list.show("/api/endpoints", (said) => {
      this.said = said;
      this.#drawer();
      return this.#draw();
    });
  }

  #fill() {
    this.place.replaceChildren(...this.#draw());
    this.#drawer();
  }

  #draw() {
    const { endpoints, problems = [] } = this.said;
    const own = endpoints.filter(({ builtin }) => !builtin);
    const wrong = problems.map((each) => notice("bad", each));
    if (this.fresh !== null || !own.length)
      return [
        ...wrong,
        adding({
          said: this.said,
          found: this.found,
          first: !own.length,
          wanted: this.fresh ?? "",
          added: (name) => this.#added(name),
        }),
      ];
    const models = own.reduce((sum, each) => sum + each.models, 0);
    const add = h("a", { class: "button primary end", href: "/endpoints?add=", "data-go": true }, "Add an endpoint");
    return [
      h(
        "div",
        { class: "filters" },
        h("span", { class: "faint" }, `${plural(own.length, "endpoint")}, ${plural(models, "model")} on the bench`),
        add,
      ),
      ...wrong,
      ...this.#found(),
      table({
        label: "Endpoints",
        columns: this.#columns(),
        rows: endpoints,
        chosen: ({ name }) => name === this.query.get("endpoint"),
      }),
    ];
  }

  #found() {
    return this.found.map(({ name, what }) =>
      notice(
        "calm",
        `Found ${what}.`,
        h("a", { href: `/endpoints?add=${encodeURIComponent(name)}`, "data-go": true }, "Add it"),
      ),
    );
  }

  #added(name) {
    this.said = null;
    this.app.beat();
    this.app.go(`/models?add=${encodeURIComponent(name)}`);
  }

  #columns() {
    return [
      {
        name: "endpoint",
        title: "Endpoint",
        head: true,
        cell: ({ name, base, default: usual }) => [
          h("a", { href: `/endpoints?endpoint=${encodeURIComponent(name)}`, "data-go": true }, name),
          usual && h("span", { class: "chip" }, "default"),
          h("small", {}, base),
        ],
      },
      { name: "api", title: "Speaks", cell: ({ api }) => SPEAKS[api] ?? api },
      { name: "key", title: "Key", phone: true, cell: keyOf },
      { name: "models", title: "Models", phone: true, right: true, cell: ({ models }) => plural(models, "model") },
      { name: "test", title: "Test", phone: true, right: true, cell: (each) => this.#test(each) },
    ];
  }

  // What a test said stays beside its button until the page is left.
  #test({ name, builtin }) {
    if (builtin) return h("span", { class: "faint" }, "inside this server");
    const said = h("span", { class: "faint test-said", role: "status" }, this.tests.get(name) ?? "");
    const run = async () => {
      go.disabled = true;
      say(said, "asking…");
      const words = await tested(name);
      this.tests.set(name, words);
      say(said, words);
      go.disabled = false;
    };
    const go = button("Test", run, "quiet small", { "aria-label": `Test ${name}`, "data-who": "admin" });
    return h("span", { class: "row test" }, said, go);
  }

  #drawer() {
    const name = this.fresh === null && this.query.get("endpoint");
    if (!name) return this.side.replaceChildren();
    const endpoint = this.said.endpoints.find((each) => each.name === name);
    if (!endpoint) return this.side.replaceChildren(notice("warn", `There is no endpoint ${name}.`));
    const done = (left) => (this.#again(), left === null && this.app.go("/endpoints", { replace: true }));
    this.side.replaceChildren(drawer(endpoint, this.said.apis, done));
  }

  #keys() {
    const list = { page: "endpoints", group: "List", when: () => this.fresh === null };
    const close = () => (this.query.get("endpoint") ? this.app.go("/endpoints") : false);
    shortcut(
      { keys: ["j"], label: "Next row", ...list, run: () => walk(this.place, 1) },
      { keys: ["k"], label: "Row before", ...list, run: () => walk(this.place, -1) },
      { keys: ["Escape"], show: ["Esc"], label: "Close the drawer", ...list, run: close },
    );
  }
}

async function tested(name) {
  try {
    const { listing } = await post("/api/endpoint/test", { name });
    const words = listing.ok ? `up, serves ${plural(listing.total, "model")}` : sentence(listing.note);
    announce(`${name}: ${words}`);
    return words;
  } catch (problem) {
    announce(`${name}: ${problem.message}`);
    return sentence(problem.message);
  }
}

/** @param {any} endpoint @returns {Node | string} of its key only whence it is and how it ends */
export function keyOf({ key, builtin, kind }) {
  if (key.set)
    return h("span", {}, h("code", {}, `…${key.hint ?? ""}`), key.source === "env" ? " from the environment" : "");
  return h("span", { class: "faint" }, builtin || kind === "local" ? "none needed" : "none");
}
