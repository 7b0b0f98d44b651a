// Usage and cost: what was spent with its gaps, on what, and what a useful answer and a real finding cost.
import { get } from "../api.js";
import { bars } from "../chart/bars.js";
import { calendar } from "../chart/heat.js";
import { scatter } from "../chart/scatter.js";
import { dayOf } from "../chart/scale.js";
import { h, set } from "../dom.js";
import { Loading, empty } from "../loading.js";
import { notice } from "../notice.js";
import { lookOf, meet, seat } from "../seats.js";
import { budgetCard, dayBudget } from "../usage/budgets.js";
import { dollars, eachOf, strip } from "../usage/figures.js";
import { WORTH, leftOut, sorted, usedColumns } from "../usage/tables.js";
import { EARLY, count, money, plural, share } from "../words.js";

const SPANS = [
  ["24h", "24 h"],
  ["7d", "7 days"],
  ["30d", "30 days"],
  ["90d", "90 days"],
  ["month", "Month"],
  ["year", "Year"],
];
const BY = [
  ["purpose", "By purpose", "Purpose"],
  ["model", "Model", "Model"],
  ["collection", "Collection", "Collection"],
  ["key", "Key", "Key"],
];
const SHOW = [
  ["", "Spend"],
  ["calls", "Calls"],
];
const PURPOSES = {
  panel: "panels",
  route: "route",
  merge: "merging",
  probe: "probes",
  shadow: "shadows",
  suite: "suite",
};
const OTHERS = "(others)";
const NOBODY = { collection: "no collection", key: "no key", purpose: "no purpose", model: "no model" };
const TONES = ["q1", "q2", "q3", "q4"];

export class Page {
  /** @param {HTMLElement} root @param {any} app */
  constructor(root, app) {
    Object.assign(this, { root, app, query: new URLSearchParams(), said: null, asked: "" });
    this.place = h("div", { class: "stack" });
    this.list = new Loading(this.place);
    this.bar = this.#bar();
  }

  /** @param {URLSearchParams} query */
  show(query) {
    this.query = query;
    this.app.title(["Usage & cost"]);
    this.root.replaceChildren(this.bar, this.place);
    this.#pressed();
    const wanted = this.#stretch();
    if (this.said && this.asked === `${wanted} ${this.by}`) this.place.replaceChildren(...this.#keeping(this.#draw()));
    else this.#load(wanted);
  }

  hide() {
    this.list.stop();
    this.said = null;
  }

  get by() {
    const by = this.query.get("by");
    return BY.some(([name]) => name === by) ? by : "purpose";
  }

  get span() {
    return this.query.get("since") ? "" : (this.query.get("span") ?? "30d");
  }

  // Which time: a named span, or from one moment to another.
  #stretch() {
    const names = this.query.get("since") ? ["since", "until"] : ["span"];
    const query = new URLSearchParams(
      names.filter((name) => this.query.get(name)).map((name) => [name, this.query.get(name)]),
    );
    return String(query.size ? query : "span=30d");
  }

  #load(wanted) {
    const by = this.by;
    this.said = null;
    this.asked = `${wanted} ${by}`;
    const ask = () =>
      Promise.all([
        get(`/api/usage/worth?${wanted}`),
        get("/api/usage?by=day"),
        get("/api/budgets").catch(() => ({ budgets: {} })),
      ]);
    const rest = ask();
    rest.catch(() => {}); // told with the first answer; whoever tries again asks again
    set(this.csv, { href: `/api/usage/csv?by=${by}&${wanted}` });
    return this.list.show(`/api/usage/series?by=${by}&${wanted}`, async (series) => {
      const [worth, days, { budgets }] = await rest.catch(ask);
      this.said = { series, worth, days, budgets };
      meet(worth.models.map(({ name, model_id: id }) => id ?? name));
      return this.#draw();
    });
  }

  #draw() {
    const { series, worth, days, budgets } = this.said;
    const counting = series.complete
      ? null
      : notice("calm", "The ledger is being counted again.", "These figures grow until it is done.");
    if (!days.total.calls) return [counting, none()].filter(Boolean);
    return [
      counting,
      strip(series, worth, this.span),
      this.#bars(series, budgets),
      this.#used(series),
      h("div", { class: "even" }, this.#worth(worth), against(worth)),
      budgetCard(budgets),
      busy(days),
    ].filter(Boolean);
  }

  // A press in a table draws it anew: the focus stays on what was pressed.
  #keeping(fresh) {
    const at = this.place.contains(document.activeElement) ? document.activeElement.dataset.focus : null;
    if (at)
      queueMicrotask(() =>
        this.place.querySelector(`[data-focus="${CSS.escape(at)}"]`)?.focus({ preventScroll: true }),
      );
    return fresh;
  }

  #bars(series, budgets) {
    const calls = this.query.get("show") === "calls";
    const { at, step_s: step, total, since, until } = series;
    const groups = this.by === "model" ? series.names : few(series.names);
    const dark = sumOf(
      series.names.map(({ unknown }) => unknown),
      at.length,
    );
    const day = dayBudget(budgets);
    const last = new Date(Date.parse(until) - 1000).toISOString();
    const gaps = total.unknown_calls
      ? ` ${plural(total.unknown_calls, "call")} of unknown price ${total.unknown_calls === 1 ? "is" : "are"} not in the bars.`
      : "";
    const each = step >= 604_800 ? "week" : step >= 86_400 ? "day" : step > 3600 ? "quarter of a day" : "hour";
    return bars({
      title: `${calls ? "Calls" : "Priced spend"} by ${each}`,
      note: `${dayOf(since) === dayOf(last) ? dayOf(since) : `${dayOf(since)} to ${dayOf(last)}`}${step > 3600 ? " (UTC)" : ""}${calls ? "." : `, ${prices(total)}.${gaps}`}`,
      label: `${calls ? "Calls" : "Spend"} over time by ${this.by}`,
      at,
      step,
      series: groups.map((group, i) => ({
        name: this.#called(group.name),
        tone:
          this.by === "model" && group.name !== OTHERS
            ? `c${lookOf(this.#id(group.name)).colour}`
            : TONES[Math.min(i, TONES.length - 1)],
        values: calls ? group.calls : group.usd,
      })),
      format: calls ? count : dollarsOf,
      more: calls || !total.unknown_calls ? undefined : { name: "calls of unknown price", values: dark },
      mark: !calls && step === 86_400 && day ? { value: day, name: `budget of a day, ${money(day)}` } : null,
    });
  }

  #called(name) {
    if (name === OTHERS) return "others";
    if (name === null) return NOBODY[this.by];
    return this.by === "purpose" ? (PURPOSES[name] ?? name) : name;
  }

  #id(name) {
    return this.said.worth.models.find((each) => each.name === name)?.model_id ?? String(name);
  }

  #used(series) {
    const title = BY.find(([name]) => name === this.by)[2];
    const called = (name) =>
      this.by === "model" && name && name !== OTHERS
        ? seat({ alias: name, id: this.#id(name) })
        : h("span", { class: "name" }, this.#called(name));
    return this.#sortable("sort", "spent", {
      title: `What each ${this.by} came to`,
      note: "failed calls included",
      columns: usedColumns(title, called, true),
      rows: series.rows.map((row) => ({ ...row, course: series.names.find(({ name }) => name === row.name) ?? null })),
    });
  }

  #worth(worth) {
    const note = `what it cost over the share judged useful; failed calls included`;
    return this.#sortable(
      "worth",
      "useful",
      { title: "What a useful answer costs", note, columns: WORTH, rows: worth.models },
      false,
    );
  }

  #sortable(param, usual, { title, note, columns, rows }, downFirst = true) {
    const wanted = this.query.get(param) ?? "";
    const name = columns.some((each) => each.name === wanted.replace(/^-/, "")) ? wanted.replace(/^-/, "") : usual;
    const shown = (this.query.get("all") ?? "").split(" ").filter(Boolean);
    const all = shown.includes(param);
    const down = wanted ? wanted.startsWith("-") : downFirst;
    const turn = (next) =>
      this.app.go(
        this.#address({
          [param]:
            next === name && down !== downFirst
              ? ""
              : next === name
                ? `${down ? "" : "-"}${next}`
                : `${next === "name" ? "" : "-"}${next}`,
        }),
        { replace: true },
      );
    return h(
      "section",
      { class: "card each", "aria-label": title },
      h("header", {}, h("h2", {}, title), h("span", { class: "faint" }, note)),
      sorted({
        label: title,
        columns,
        rows,
        sort: name,
        down,
        turn,
        all,
        more: this.#address({ all: [...shown, param].join(" ") }),
      }),
    );
  }

  #address(changes) {
    const query = new URLSearchParams(this.query);
    for (const [name, value] of Object.entries(changes)) value ? query.set(name, value) : query.delete(name);
    return `/usage${query.size ? `?${query}` : ""}`;
  }

  #bar() {
    const segment = (label, param, choices, usual, more = {}) =>
      h(
        "span",
        { class: "segment", role: "group", "aria-label": label, "data-param": param, "data-usual": usual },
        choices.map(([value, word]) =>
          h(
            "button",
            {
              type: "button",
              "data-value": value,
              on: { click: () => this.app.go(this.#address({ [param]: value === usual ? "" : value, ...more })) },
            },
            word,
          ),
        ),
      );
    this.csv = h("a", { class: "button end", download: true }, "Download CSV");
    return h(
      "div",
      { class: "usage-bar" },
      segment("Time", "span", SPANS, "30d", { since: "", until: "" }),
      segment("By what", "by", BY, "purpose", { sort: "" }),
      segment("What is drawn", "show", SHOW, ""),
      this.csv,
    );
  }

  #pressed() {
    for (const group of this.bar.querySelectorAll(".segment")) {
      const { param, usual } = group.dataset;
      const now = param === "span" ? this.span : param === "by" ? this.by : (this.query.get(param) ?? usual);
      for (const each of group.children) set(each, { "aria-pressed": String(each.dataset.value === now) });
    }
  }
}

// Whose word the sum is.
const prices = ({ known_usd: known, billed_usd: billed }) =>
  !billed
    ? "at list prices"
    : billed < known
      ? `${money(billed)} of it as billed, the rest at list prices`
      : "as billed";

const dollarsOf = (usd) => (usd && usd < 0.01 ? money(usd) : dollars(usd));

// Stacks of what is no model have four tones: the three dearest, and the others together.
function few(names) {
  if (names.length <= TONES.length) return names;
  const rest = names.slice(TONES.length - 1);
  const length = names[0].calls.length;
  const usd = sumOf(
    rest.map((each) => each.usd.map((value) => value ?? 0)),
    length,
  );
  return [
    ...names.slice(0, TONES.length - 1),
    {
      name: OTHERS,
      usd,
      calls: sumOf(
        rest.map(({ calls }) => calls),
        length,
      ),
    },
  ];
}

const sumOf = (lists, length) => Array.from({ length }, (_, i) => lists.reduce((sum, list) => sum + list[i], 0));

function against({ models }) {
  const title = "Cost against usefulness";
  const points = models
    .filter(({ each_useful: cost, range }) => cost?.usd > 0 && range)
    .map(({ name, model_id: id, each_useful: cost, useful, judged, range }) => ({
      alias: name,
      id: id ?? name,
      x: cost.usd,
      y: useful / judged,
      range,
      early: judged < EARLY,
      said: `${money(cost.usd)} each useful answer, useful ${share({ useful, judged, range })}`,
    }));
  if (!points.length)
    return h(
      "section",
      { class: "card", "aria-label": title },
      h("header", {}, h("h2", {}, title)),
      h(
        "p",
        { class: "pad" },
        "Nothing to draw yet: no model has both a price and a useful answer. ",
        h("a", { href: "/owed", "data-go": true }, "Judge what is owed"),
      ),
    );
  return scatter({
    title,
    note: `Dotted: nothing is cheaper and better. ${leftOut(models)}`,
    label: title,
    axis: "cost of each useful answer, log scale",
    points,
    format: dollars,
    head: ["Model", "Each useful answer", "Range", "Useful"],
    rows: points.map(({ alias }) => {
      const model = models.find(({ name }) => name === alias);
      const { figure, range } = eachOf(model.each_useful, "");
      return [alias, figure, range, share(model)];
    }),
  });
}

function busy({ rows }) {
  const days = rows
    .filter(({ name }) => /^\d{4}-\d\d-\d\d$/.test(name))
    .map(({ name, calls }) => ({ day: name, value: calls }));
  return calendar({
    title: "Calls by day",
    note: `${plural(days.length, "day")} with calls, UTC. Taller and darker is more.`,
    label: "Calls by day",
    days,
    today: new Date().toISOString().slice(0, 10),
    format: (n) => plural(n, "call"),
  });
}

const none = () =>
  empty(
    "Nothing was asked yet.",
    "What calls cost, and what came of it, stands here from the first call on.",
    h("a", { class: "button primary", href: "/", "data-go": true, "data-who": "admin" }, "Ask the bench"),
  );
