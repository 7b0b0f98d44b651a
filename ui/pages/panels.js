// Panels: what was asked, a row each, with filters and pages that stand in the address; one of them in detail.
import { get } from "../api.js";
import { h, set } from "../dom.js";
import { shortcut } from "../keys.js";
import { Loading, button, empty } from "../loading.js";
import { Follow } from "../follow.js";
import { Detail } from "../panels/detail.js";
import { judgedState, totals } from "../panels/facts.js";
import { idOf, titleIn } from "../ask/panel.js";
import { meet, seat } from "../seats.js";
import { table, walk } from "../table.js";
import { count, seconds, when } from "../words.js";

const PAGE = 50;
const REST = 300; // ms without typing after which a filter is looked up
const STATES = [
  ["", "Any"],
  ["owed", "Owed"],
  ["judged", "Judged"],
  ["failed", "With failures"],
];

export class Page {
  /** @param {HTMLElement} root @param {any} app */
  constructor(root, app) {
    Object.assign(this, { root, app, next: null, query: new URLSearchParams() });
    this.detail = new Detail(app);
    this.place = h("div", { class: "stack" });
    this.list = new Loading(this.place);
    this.follow = new Follow(["panel", "verdict"], {
      place: this.place,
      look: () => this.list.again(this.#asked(), (said) => this.#draw(said)),
      wanted: () => !this.query.get("before"),
      about: ({ state }) => state !== "begun",
    });
    this.filters = this.#filters();
    this.#keys();
  }

  /** @param {URLSearchParams} query */
  show(query) {
    this.query = query;
    const id = query.get("panel");
    this.hide();
    if (id) {
      this.root.replaceChildren(this.detail.root);
      this.detail.show(id);
    } else this.#list();
  }

  hide() {
    this.follow.show(false);
    this.list.stop();
    this.detail.stop();
    clearTimeout(this.timer);
  }

  #list() {
    this.app.title(["Panels"]);
    this.#offer();
    this.#pressed();
    this.root.replaceChildren(this.filters, this.place);
    this.follow.show(true);
    this.list.show(this.#asked(), (said) => this.#draw(said));
  }

  #asked() {
    const asked = new URLSearchParams(this.query);
    asked.set("limit", String(PAGE));
    return `/api/log?${asked}`;
  }

  #draw({ panels, next }) {
    this.next = next;
    meet(panels.flatMap(({ seats = [] }) => seats.map((each) => each.model_id ?? each.alias)));
    if (!panels.length) return this.#none(next);
    return [table({ label: "Panels", columns: COLUMNS, rows: panels }), this.#foot(panels.length, next)];
  }

  #none(next) {
    if (next)
      return [
        empty("None in this stretch.", "The filter found nothing among the panels looked at so far."),
        this.#foot(0, next),
      ];
    const filtered = [...this.query.keys()].length > 0;
    const all = h("a", { class: "button", href: "/panels", "data-go": true }, "Show all panels");
    const ask = h("a", { class: "button primary", href: "/", "data-go": true }, "Ask something");
    return filtered
      ? empty("No panel fits.", "Nothing that is kept here fits this filter.", all)
      : empty(
          "No panels yet.",
          "Every question asked of a collection is kept here: who sat, how it went, what it was worth.",
          ask,
        );
  }

  #foot(n, next) {
    const first = !this.query.get("before");
    const newest = button(["Newest", h("kbd", {}, "[")], () => this.#turn(-1), "quiet small", { disabled: first });
    const older = button([n ? "Older" : "Look further back", h("kbd", {}, "]")], () => this.#turn(1), "quiet small", {
      disabled: !next,
    });
    return h(
      "div",
      { class: "under-table" },
      h("p", { class: "faint wide-only" }, "Filled shape: member. Outline: explorer. Struck: failed."),
      h("span", { class: "row end" }, newest, older),
    );
  }

  #turn(by) {
    if (by > 0 && this.next) this.#with({ before: this.next });
    else if (by < 0 && this.query.get("before")) this.#with({ before: "" });
    else return false;
  }

  // The address after a change of the filter; another filter begins at its newest panel.
  #with(changes, replace = false) {
    const query = new URLSearchParams(this.query);
    if (!("before" in changes)) query.delete("before");
    for (const [name, value] of Object.entries(changes)) value ? query.set(name, value) : query.delete(name);
    this.app.go(`/panels${query.size ? `?${query}` : ""}`, { replace });
  }

  #filters() {
    this.words = h("input", {
      class: "field grow",
      type: "search",
      placeholder: "Filter questions, ids, keys",
      "aria-label": "Filter questions, ids, keys",
      on: { input: () => this.#typed() },
    });
    this.collection = h("select", {
      class: "field",
      "aria-label": "Collection",
      on: { change: () => this.#with({ collection: this.collection.value }) },
    });
    this.model = h("select", {
      class: "field",
      "aria-label": "Model",
      on: { change: () => this.#with({ model: this.model.value }) },
    });
    this.states = h(
      "span",
      { class: "segment", role: "group", "aria-label": "Verdict" },
      STATES.map(([state, word]) =>
        h("button", { type: "button", "data-state": state, on: { click: () => this.#with({ state }) } }, word),
      ),
    );
    return h("div", { class: "filters" }, this.words, this.collection, this.model, this.states, this.follow.button);
  }

  #typed() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#with({ q: this.words.value.trim() }, true), REST);
  }

  #pressed() {
    const q = this.query.get("q") ?? "";
    if (document.activeElement !== this.words) this.words.value = q;
    for (const each of this.states.children)
      set(each, { "aria-pressed": String(each.dataset.state === (this.query.get("state") ?? "")) });
  }

  // The choices are looked up once; what the address names is a choice even if it is gone from the bench.
  async #offer() {
    const fill = (select, word, names) => {
      const wanted = this.query.get(select === this.model ? "model" : "collection") ?? "";
      const all = [...new Set([...names, ...(wanted ? [wanted] : [])])];
      select.replaceChildren(
        h("option", { value: "" }, `${word}: any`),
        ...all.map((name) => h("option", { value: name }, name)),
      );
      select.value = wanted;
    };
    const draw = () => (
      fill(this.collection, "Collection", this.names?.[0] ?? []),
      fill(this.model, "Model", this.names?.[1] ?? [])
    );
    draw();
    if (this.names) return;
    try {
      const [{ collections }, { models, retired = [] }] = await Promise.all([
        get("/api/collections"),
        get("/api/models"),
      ]);
      this.names = [collections.map(({ name }) => name), [...models, ...retired].map(({ alias }) => alias)];
      draw();
    } catch {
      // The list beside says that the server is gone; without choices the other filters still work.
    }
  }

  #keys() {
    const list = { page: "panels", group: "List", when: () => !this.query.get("panel") };
    shortcut(
      { keys: ["/"], label: "Filter", ...list, run: () => this.words.focus() },
      { keys: ["j"], label: "Next row", ...list, run: () => walk(this.place, 1) },
      { keys: ["k"], label: "Row before", ...list, run: () => walk(this.place, -1) },
      { keys: ["["], label: "Newest", ...list, run: () => this.#turn(-1) },
      { keys: ["]"], label: "Older", ...list, run: () => this.#turn(1) },
    );
    this.detail.keys();
  }
}

const COLUMNS = [
  { name: "at", title: "Asked", phone: true, sorted: true, cell: ({ at }) => when(at) },
  {
    name: "task",
    title: "Question",
    head: true,
    cell: (row) =>
      h(
        "a",
        { href: `?panel=${encodeURIComponent(idOf(row))}`, "data-go": true },
        titleIn(row.task) || "A question whose text is not kept",
      ),
  },
  { name: "collection", title: "Collection", cell: ({ collection }) => `bench/${collection}` },
  { name: "key", title: "Key", cell: ({ key }) => key ?? "" },
  {
    name: "seats",
    title: "Seats",
    phone: true,
    cell: ({ seats = [] }) => h("span", { class: "glyph-row" }, seats.map(mini)),
  },
  { name: "time", title: "Time", right: true, cell: (row) => seconds(totals(row).seconds) },
  { name: "tokens", title: "Tokens", right: true, cell: (row) => tokensOf(totals(row)) },
  { name: "cost", title: "Cost", right: true, cell: (row) => costOf(totals(row).cost) },
  { name: "verdict", title: "Verdict", phone: true, cell: judgedState },
];

const mini = (said) =>
  seat(
    { alias: said.alias, id: said.model_id, role: said.seat, failed: !["ok", "cut"].includes(said.status) },
    { name: false },
  );

const tokensOf = ({ tokens, estimated }) =>
  tokens === null ? unknown("unknown", "No seat said how many") : `${estimated ? "about " : ""}${count(tokens)}`;

const costOf = (cost) =>
  /unknown|at least/.test(cost) ? unknown(cost, "No price is known for every model of this panel") : cost;

const unknown = (words, why) => h("span", { class: "unknown", title: why }, words);
