// One panel in detail: how long each seat took, why each sat, what each said and what that was worth.
import { Trouble } from "../api.js";
import { Column } from "../ask/column.js";
import { programs } from "../ask/code.js";
import { Judge } from "../ask/judge.js";
import { answered, fromRecord } from "../ask/panel.js";
import { timeline } from "../chart.js";
import { announce, copyButton, h } from "../dom.js";
import { shortcut } from "../keys.js";
import { copyMenu, exportMenu } from "../menu.js";
import { Loading } from "../loading.js";
import { failure } from "../notice.js";
import { lookOf, meet, seat as seatName } from "../seats.js";
import { figures, pairs } from "../table.js";
import { count, plural, seconds, when } from "../words.js";
import { totals } from "./facts.js";
import { why } from "./why.js";

export class Detail {
  /** @param {any} app */
  constructor(app) {
    this.app = app;
    this.root = h("div", { class: "stack" });
    this.loading = new Loading(this.root);
    this.columns = [];
    this.at = -1;
  }

  /** @param {string} id */
  show(id) {
    this.id = id;
    this.app.title(["Panels", id]);
    this.loading.show(
      `/api/panel/${encodeURIComponent(id)}`,
      (said) => this.#draw(said),
      (problem) => missing(id, problem),
    );
  }

  stop() {
    this.loading.stop();
    this.columns = [];
    this.at = -1;
  }

  #draw(said) {
    const panel = fromRecord(said);
    const row = said.panel;
    meet(panel.seats.map((each) => each.id ?? each.alias));
    this.judge = new Judge(
      () => panel,
      (words, problem) => this.#told(words, problem),
    );
    const all = [...panel.seats, ...(panel.merger ? [panel.merger] : [])];
    this.columns = all.map((each, i) => new Column(each, i + 1, this.judge));
    this.columns.forEach((column, i) => column.root.addEventListener("focusin", () => this.#choose(i)));
    this.said = h("p", { class: "faint", hidden: true });
    return [
      head(panel),
      strip(row, panel),
      h(
        "div",
        { class: "halves" },
        h("div", { class: "stack" }, times(panel), why(row)),
        h("div", { class: "stack" }, request(row, said.body)),
      ),
      h("h2", {}, "Answers"),
      this.said,
      h(
        "div",
        { class: "columns stacked answers" },
        this.columns.map(({ root }) => root),
      ),
    ];
  }

  #told(words, problem) {
    for (const column of this.columns) column.draw(0);
    this.said.hidden = !problem;
    this.said.textContent = problem ? words : "";
    announce(words);
  }

  #choose(i) {
    this.at = i;
    this.columns.forEach((column, n) => column.current(n === i));
  }

  #focus(i) {
    const column = this.columns[i];
    if (!column) return false;
    column.root.focus({ preventScroll: true });
    column.root.scrollIntoView({ block: "start" });
    this.#choose(i);
  }

  #on(run) {
    const column = this.columns[this.at];
    if (!column || !answered(column.seat)) return false;
    run(this.judge, column.seat);
  }

  keys() {
    const judging = { page: "panels", group: "Judging", when: () => this.columns.length > 0 };
    shortcut(
      {
        keys: [..."12345678"],
        show: ["1 – 8"],
        label: "Go to an answer",
        ...judging,
        run: (key) => this.#focus(Number(key) - 1),
      },
      { keys: ["j"], label: "Next answer", ...judging, run: () => this.#focus(this.at + 1) },
      { keys: ["k"], label: "Answer before", ...judging, run: () => this.#focus(this.at - 1) },
      { keys: ["u"], label: "Useful", ...judging, run: () => this.#on((judge, each) => judge.useful(each, true)) },
      { keys: ["n"], label: "Not useful", ...judging, run: () => this.#on((judge, each) => judge.useful(each, false)) },
      { keys: ["b"], label: "Best of the panel", ...judging, run: () => this.#on((judge, each) => judge.best(each)) },
      { keys: ["z"], label: "Undo", ...judging, run: () => void this.judge.undo() },
    );
  }
}

const missing = (id, problem) =>
  problem.status === 404
    ? failure(
        new Trouble(`There is no panel ${id} here.`, {
          hint: "It may be from another server, or older than what is kept.",
          request: problem.request,
        }),
        h("a", { class: "button small", href: "/panels", "data-go": true }, "Show all panels"),
      )
    : null;

const head = (panel) =>
  h(
    "div",
    { class: "item-head" },
    h("h2", {}, panel.task || "A question whose text is not kept"),
    h(
      "span",
      { class: "row end" },
      h("a", { class: "button", href: `/?panel=${encodeURIComponent(panel.id)}`, "data-go": true }, "Side by side"),
      exportMenu(panel.id, "button"),
      panel.messages &&
        copyMenu(
          programs(() => panel),
          "button quiet",
        ),
      copyButton("Copy id", () => panel.id, { class: "button quiet" }),
    ),
  );

function strip(row, panel) {
  const { seconds: took, tokens, estimated, cost, answered: n, owed } = totals(row);
  const seats = panel.seats.length;
  const first = panel.seats.filter(answered).map((each) => each.seconds ?? 0);
  const claims = panel.seats.flatMap((each) => each.claims);
  const of = (decision) => claims.filter((claim) => claim.decision === decision).length;
  return figures([
    [`${n} of ${seats}`, "seats answered", owed ? `${plural(owed, "seat")} owed` : n ? "all judged" : null],
    [seconds(took), "until the last seat", first.length ? `first answer ${seconds(Math.min(...first))}` : null],
    [cost || "no cost", "cost of the answers"],
    [tokens === null ? "unknown" : count(tokens), "tokens, in and out", estimated ? "in part estimated" : null],
    [`${of("real")} real, ${of("false")} false`, "claims judged"],
  ]);
}

function times(panel) {
  const rows = panel.seats.map((each) => {
    const took = each.seconds ?? 0;
    const first = each.first ?? took;
    const kind = answered(each) ? "solid" : "failed";
    return {
      name: seatName({ alias: each.alias, id: each.id, role: each.role, failed: !answered(each) }),
      colour: lookOf(each.id ?? each.alias).colour,
      spans: [
        first > 0 && answered(each) && { from: 0, to: first, kind: "waiting" },
        { from: answered(each) ? first : 0, to: took, kind },
      ].filter(Boolean),
      said: answered(each) ? seconds(took) : `failed after ${seconds(took)}`,
    };
  });
  return h(
    "section",
    { class: "card", "aria-labelledby": "times" },
    h(
      "header",
      {},
      h("h3", { id: "times" }, "Timeline"),
      h("span", { class: "faint" }, "outline: until the first word. Solid: first word to last."),
    ),
    h("div", { class: "pad" }, timeline({ label: "Timeline", head: ["Seat", "", "Took"], rows })),
  );
}

const SHAPED = { collection: "set by the collection", images: "it shows pictures", default: "nothing said otherwise" };

function request(row, body) {
  const collection = h(
    "a",
    { href: `/collections?collection=${encodeURIComponent(row.collection)}`, "data-go": true },
    `bench/${row.collection}`,
  );
  return h(
    "section",
    { class: "card", "aria-labelledby": "request" },
    h("header", {}, h("h3", { id: "request" }, "Request")),
    h(
      "div",
      { class: "pad" },
      pairs([
        ["Asked", when(row.at)],
        ["Collection", collection],
        ["Format", row.format ?? "unknown"],
        ["Key", row.key ?? "none"],
        ["Shape", `${row.shape ?? "unknown"}${SHAPED[row.shape_by] ? `, ${SHAPED[row.shape_by]}` : ""}`],
        ["Reply", row.reply ?? "all"],
        row.note && ["Note", row.note],
        ["Words", body ? "kept" : "not kept any more"],
      ]),
    ),
  );
}
