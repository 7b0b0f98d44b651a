// Models: who is on the bench, sorted by the lower end of what its verdicts say, and one of them in a drawer.
import { get } from "../api.js";
import { whisker } from "../chart.js";
import { scatter } from "../chart/scatter.js";
import { h, set } from "../dom.js";
import { shortcut } from "../keys.js";
import { Loading, empty } from "../loading.js";
import { Adding } from "../models/add.js";
import { drawer, stateOf } from "../models/drawer.js";
import { notice } from "../notice.js";
import { meet, seat as seatName } from "../seats.js";
import { table, walk } from "../table.js";
import { dollars, eachOf } from "../usage/figures.js";
import { leftOut } from "../usage/tables.js";
import { EARLY, money, plural, seconds, share } from "../words.js";

const SHOWN = [
  ["", "On the bench"],
  ["retired", "Retired"],
];

const VIEWS = [
  ["", "Table"],
  ["scatter", "Scatter"],
];
const COSTS = "/api/usage/worth?span=90d"; // a quarter of a year: seldom judged models have a price then

export class Page {
  /** @param {HTMLElement} root @param {any} app */
  constructor(root, app) {
    Object.assign(this, { root, app, query: new URLSearchParams(), said: null, speed: {}, worth: new Map() });
    this.place = h("div", { class: "stack" });
    this.side = h("div", { class: "stack" });
    this.list = new Loading(this.place);
    this.adding = new Adding(app, () => this.#again());
    this.bar = this.#bar();
    this.panes = h("div", { class: "drawered" }, this.place, this.side);
    this.#keys();
  }

  /** @param {URLSearchParams} query */
  show(query) {
    this.query = query;
    const add = query.get("add");
    const model = query.get("model");
    this.app.title(add !== null ? ["Models", "Add"] : model ? ["Models", model] : ["Models"]);
    if (add !== null) {
      this.root.replaceChildren(this.adding.root);
      this.adding.show(add);
      return;
    }
    this.panes.classList.toggle("open", Boolean(model));
    this.#pressed();
    this.root.replaceChildren(this.bar, this.panes);
    if (this.said) this.#fill(this.said);
    else this.#again();
  }

  hide() {
    this.list.stop();
    this.adding.stop();
    this.said = null;
  }

  #again() {
    this.said = null;
    // What models cost and how quick they are is beside the list: without it, it is unknown.
    const ask = () => Promise.all(["/api/models/speed", COSTS].map((path) => get(path)));
    const beside = ask();
    beside.catch(() => {});
    return this.list.show("/api/models", async (said) => {
      const [speed, worth] = await beside.catch(ask).catch(() => [{ models: {} }, { models: [] }]);
      this.speed = speed.models;
      this.worth = new Map(worth.models.map((each) => [each.name, each]));
      return this.#loaded(said);
    });
  }

  #loaded(said) {
    this.said = said;
    meet([...said.models].map(({ model_id: id }) => id));
    this.#drawer();
    return this.#rows();
  }

  #fill() {
    this.place.replaceChildren(...this.#rows());
    this.#drawer();
  }

  #rows() {
    const { models, retired, problems = [] } = this.said;
    const old = this.query.get("show") === "retired";
    const words = (this.query.get("q") ?? "").toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (model) =>
      words.every((word) => `${model.alias} ${model.model_id} ${model.role}`.toLowerCase().includes(word));
    const all = old ? retired : models;
    const rows = all.filter(fits).sort(byRecord);
    const wrong = problems.map((each) => notice("bad", each));
    if (!rows.length) return [...wrong, this.#none(all.length, old)];
    const columns = COLUMNS((alias) => this.#address({ model: alias }), this.speed, this.worth);
    if (this.query.get("view") === "scatter") return [...wrong, this.#scatter(rows)];
    return [
      ...wrong,
      table({
        label: old ? "Retired models" : "Models",
        columns,
        rows,
        chosen: ({ alias }) => alias === this.query.get("model"),
      }),
      h("p", { class: "faint" }, tied(rows)),
    ];
  }

  // Cost of each useful answer against how many are useful: of all that was ever judged.
  #scatter(rows) {
    const known = rows.map((model) => ({ ...model, cost: this.worth.get(model.alias)?.each_useful ?? null }));
    const points = known
      .filter(({ cost, record }) => cost?.usd > 0 && record.range)
      .map(({ alias, model_id: id, cost, record }) => ({
        alias,
        id,
        x: cost.usd,
        y: record.useful / record.judged,
        range: record.range,
        early: record.judged < EARLY,
        said: `${money(cost.usd)} each useful answer, useful ${share(record)}`,
      }));
    if (!points.length)
      return empty(
        "Nothing to draw yet.",
        "A model stands here once it has a price and a useful answer of the last 90 days.",
        h("a", { class: "button", href: this.#address({ view: "" }), "data-go": true }, "Show the table"),
      );
    return scatter({
      title: "Cost against usefulness",
      note: `Costs of 90 days. Dotted: nothing is cheaper and better. ${leftOut(known.map(({ alias, cost }) => ({ name: alias, each_useful: cost })))}`,
      label: "Cost of each useful answer against the share that is useful",
      axis: "cost of each useful answer, log scale",
      points,
      format: dollars,
      head: ["Model", "Each useful answer", "Range", "Useful"],
      rows: points.map(({ alias }) => {
        const { cost, record } = known.find((model) => model.alias === alias);
        const { figure, range } = eachOf(cost, "");
        return [alias, figure, range, share(record)];
      }),
    });
  }

  #none(n, old) {
    if (n)
      return empty(
        "No model fits.",
        "No name, role or endpoint has these words.",
        h("a", { class: "button", href: "/models", "data-go": true }, "Show all models"),
      );
    if (old)
      return empty(
        "Nobody has retired.",
        "A model that is retired keeps its record here, and can be brought back with its places.",
      );
    return empty(
      "The bench is empty.",
      "Add one place that serves models.",
      h("a", { class: "button primary", href: "/endpoints?add=", "data-go": true }, "Add an endpoint"),
    );
  }

  #address(changes) {
    const query = new URLSearchParams(this.query);
    for (const [name, value] of Object.entries(changes)) value ? query.set(name, value) : query.delete(name);
    return `/models${query.size ? `?${query}` : ""}`;
  }

  async #drawer() {
    const alias = this.query.get("model");
    const model = alias && [...this.said.models, ...this.said.retired].find((each) => each.alias === alias);
    if (!alias) return this.side.replaceChildren();
    if (!model)
      return this.side.replaceChildren(
        notice("warn", `There is no model ${alias} on the bench.`, "It may have another name by now."),
      );
    let places = null;
    try {
      places = (await get("/api/collections")).collections.filter(({ members }) =>
        members.some((each) => each.alias === alias),
      );
    } catch {
      // Where it sits is one line of many; the rest of the drawer stands without it.
    }
    if (this.query.get("model") !== alias) return;
    const done = (name) => (
      this.#again(),
      name === undefined ? undefined : this.app.go(this.#address({ model: name }), { replace: true })
    );
    this.side.replaceChildren(
      drawer(model, places, {
        close: this.#address({ model: "" }),
        done,
        speed: this.speed[alias],
        worth: this.worth.get(alias),
      }),
    );
  }

  #bar() {
    this.words = h("input", {
      class: "field grow",
      type: "search",
      placeholder: "Filter models",
      "aria-label": "Filter models",
      on: { input: () => this.app.go(this.#address({ q: this.words.value.trim() }), { replace: true }) },
    });
    const go = (show) => () => this.app.go(this.#address({ show, model: "" }));
    this.shown = h(
      "span",
      { class: "segment", role: "group", "aria-label": "Which models" },
      SHOWN.map(([show, word]) => h("button", { type: "button", "data-show": show, on: { click: go(show) } }, word)),
    );
    const view = (name) => () => this.app.go(this.#address({ view: name }));
    this.views = h(
      "span",
      { class: "segment", role: "group", "aria-label": "How models are shown" },
      VIEWS.map(([name, word]) => h("button", { type: "button", "data-view": name, on: { click: view(name) } }, word)),
    );
    const add = h("a", { class: "button primary end", href: "/models?add=", "data-go": true }, "Add models");
    return h("div", { class: "filters" }, this.words, this.views, this.shown, add);
  }

  #pressed() {
    if (document.activeElement !== this.words) this.words.value = this.query.get("q") ?? "";
    for (const each of this.views.children)
      set(each, { "aria-pressed": String(each.dataset.view === (this.query.get("view") ?? "")) });
    for (const each of this.shown.children)
      set(each, { "aria-pressed": String(each.dataset.show === (this.query.get("show") ?? "")) });
  }

  #keys() {
    const list = { page: "models", group: "List", when: () => this.query.get("add") === null };
    const close = () => (this.query.get("model") ? this.app.go(this.#address({ model: "" })) : false);
    shortcut(
      { keys: ["/"], label: "Filter", ...list, run: () => this.words.focus() },
      { keys: ["j"], label: "Next row", ...list, run: () => walk(this.place, 1) },
      { keys: ["k"], label: "Row before", ...list, run: () => walk(this.place, -1) },
      { keys: ["Escape"], show: ["Esc"], label: "Close the drawer", ...list, run: close },
    );
  }
}

// By the lower end of the interval, so that one lucky verdict never tops forty; who has none comes after, programs last.
const byRecord = (a, b) =>
  Number(Boolean(a.builtin)) - Number(Boolean(b.builtin)) ||
  (b.record.range?.[0] ?? -1) - (a.record.range?.[0] ?? -1) ||
  a.alias.localeCompare(b.alias);

const COLUMNS = (address, speed, worth) => [
  {
    name: "model",
    title: "Model",
    head: true,
    cell: (model) => [
      h("a", { href: address(model.alias), "data-go": true }, seatName({ alias: model.alias, id: model.model_id })),
      h("small", {}, model.builtin ? "program, inside this server" : model.endpoint),
    ],
  },
  { name: "status", title: "Status", phone: true, cell: stateOf },
  { name: "useful", title: "Useful, 95 % interval", sorted: true, cell: ({ record }) => whisker(record, EARLY) },
  {
    name: "judged",
    title: "Judged",
    phone: true,
    right: true,
    cell: ({ record }) => share({ ...record, range: null }),
  },
  {
    name: "speed",
    title: "Answer p50",
    right: true,
    cell: ({ alias }) => quick(speed[alias]),
  },
  {
    name: "each",
    title: "Each useful",
    right: true,
    cell: ({ alias }) =>
      eachOf(worth.get(alias)?.each_useful ?? null, "Nobody judged it in 90 days, or its price is not known", unknown)
        .figure,
  },
  {
    name: "context",
    title: "Reads",
    right: true,
    cell: ({ context }) => (context ? `${context.toLocaleString("en-US")} tokens` : unknown()),
  },
  { name: "price", title: "Price, in and out", right: true, cell: priceOf },
];

// Of the latest calls of the bench. A time-out would have taken longer.
function quick(of) {
  if (!of) return h("span", { class: "unknown", title: "It is not among the latest 2,000 calls" }, "unknown");
  return `${of.whole.p50_at_least ? "over " : ""}${seconds(of.whole.p50)}`;
}

const unknown = (why = "Neither you nor a catalog has said it") =>
  h("span", { class: "unknown", title: why }, "unknown");

function priceOf({ price }) {
  if (typeof price?.input !== "number") return unknown();
  if (!price.input && !price.output) return "free";
  return `${money(price.input)}, ${typeof price.output === "number" ? money(price.output) : "unknown"} a million`;
}

// Whoever's interval reaches that of the first cannot be told apart from it.
function tied(rows) {
  const [first, ...rest] = rows.filter(({ record }) => record.judged >= EARLY);
  const tie = first ? rest.filter(({ record }) => record.range[1] >= first.record.range[0]) : [];
  const said = !first
    ? `Nobody has ${EARLY} verdicts yet, so nobody leads.`
    : tie.length
      ? `${[first, ...tie].map(({ alias }) => alias).join(", ")} are not told apart yet: their intervals overlap.`
      : `${first.alias} leads: no other interval reaches its own.`;
  return `${plural(rows.length, "model")}, sorted by the lower end of the interval. ${said}`;
}
