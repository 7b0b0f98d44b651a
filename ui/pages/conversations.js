// Conversations of route mode: a list, and of one its turns: who was asked, who was passed over, what it was worth.
import { Trouble, post } from "../api.js";
import { verdictOf } from "../ask/panel.js";
import { timeline } from "../chart.js";
import { Turns } from "../conversations/turns.js";
import { announce, copyButton, h, set } from "../dom.js";
import { Follow } from "../follow.js";
import { shortcut } from "../keys.js";
import { Loading, button, empty } from "../loading.js";
import { commandLine, failure } from "../notice.js";
import { lookOf, meet, seat as seatName } from "../seats.js";
import { figures, walk } from "../table.js";
import { plural, seconds, when } from "../words.js";

const PAGE = 30;
const LAPSE = 3_600_000; // ms without a turn after which a conversation is over by itself

export class Page {
  /** @param {HTMLElement} root @param {any} app */
  constructor(root, app) {
    Object.assign(this, { root, app, next: null, id: "", from: null, works: [], at: 0 });
    this.aside = h("section", { class: "card pane-list", "aria-label": "Conversations" });
    this.body = h("div", { class: "stack" });
    this.panes = h("div", { class: "panes" }, this.aside, this.body);
    this.list = new Loading(this.aside);
    this.one = new Loading(this.body);
    this.follow = new Follow(["turn", "verdict"], {
      place: this.aside,
      look: () => this.list.again(this.#listed(""), (said) => this.#draw(said)).then(() => this.#current()),
      wanted: () => !this.from,
      about: ({ event, call = "" }) => event === "turn" || call.startsWith("r"),
    });
    this.turns = new Follow(["turn"], {
      place: this.body,
      look: () => this.one.again(this.#path(this.id), ({ turns }) => this.#conversation(turns)),
      about: ({ conversation }) => conversation === this.id,
    });
    this.#keys();
  }

  /** @param {URLSearchParams} query */
  async show(query) {
    const id = query.get("conversation") ?? "";
    const from = query.get("before") ?? "";
    this.id = id;
    this.panes.classList.toggle("open", Boolean(id));
    this.app.title(id ? ["Conversations", id] : ["Conversations"]);
    this.root.replaceChildren(this.panes);
    if (this.from !== from || !id) await this.#list(from);
    this.#current();
    if (id) this.#open(id);
    else (this.one.stop(), this.turns.show(false));
  }

  hide() {
    this.follow.show(false);
    this.turns.show(false);
    this.list.stop();
    this.one.stop();
    this.from = null;
  }

  #list(from) {
    this.from = from;
    this.follow.show(true);
    return this.list.show(this.#listed(from), (said) => this.#draw(said));
  }

  #path = (id) => `/api/conversation/${encodeURIComponent(id)}`;

  #listed = (from) =>
    `/api/conversations?${new URLSearchParams({ limit: String(PAGE), ...(from && { before: from }) })}`;

  #draw({ conversations, next }) {
    this.next = next;
    meet(conversations.map((each) => each.model_id ?? each.alias));
    if (!conversations.length && !this.from && !this.id) {
      this.root.replaceChildren(NONE());
      return [];
    }
    if (!this.id)
      this.body.replaceChildren(h("p", { class: "faint pad wide-only" }, "Choose a conversation to see its turns."));
    const older =
      next && h("a", { class: "button quiet small", href: this.#address({ before: next }), "data-go": true }, "Older");
    const newest =
      this.from && h("a", { class: "button quiet small", href: this.#address({}), "data-go": true }, "Newest");
    return [
      h(
        "header",
        {},
        h("h2", {}, "Route mode"),
        h("span", { class: "faint" }, "latest turn first"),
        this.follow.button,
      ),
      h(
        "ul",
        { class: "list" },
        conversations.map((each) => this.#row(each)),
      ),
      (older || newest) && h("div", { class: "foot row" }, newest, older),
    ].filter(Boolean);
  }

  #address(query) {
    const words = new URLSearchParams(query);
    return `/conversations${words.size ? `?${words}` : ""}`;
  }

  #row(each) {
    const {
      conversation,
      alias,
      model_id: id,
      at,
      turn,
      status: how,
      task,
      collection,
      verdict,
      failed_over: over,
    } = each;
    const before = this.from ? { before: this.from } : {};
    const useful = verdictOf(verdict)?.useful;
    const facts = [
      `bench/${collection}`,
      plural(turn, "turn"),
      over?.length ? plural(over.length, "failover") : "",
      how === "ok" ? "" : how,
      useful === true ? "useful" : useful === false ? "not useful" : "",
    ].filter(Boolean);
    return h(
      "li",
      { "data-id": conversation },
      h(
        "a",
        { href: this.#address({ conversation, ...before }), "data-go": true, class: "open" },
        h("span", {}, task || "A turn whose text is not kept"),
        h(
          "span",
          { class: "faint" },
          seatName({ alias, id, failed: how !== "ok" && how !== "cut" }, { name: false }),
          `${when(at)}, ${facts.join(", ")}`,
        ),
      ),
    );
  }

  #current() {
    for (const row of this.aside.querySelectorAll("li[data-id]"))
      set(row, { "aria-current": row.dataset.id === this.id ? "true" : null });
  }

  #open(id) {
    this.works = [];
    this.turns.show(true);
    this.one.show(
      this.#path(id),
      ({ turns }) => this.#conversation(turns),
      (problem) => missing(id, problem),
    );
  }

  #conversation(turns) {
    meet(turns.map((turn) => turn.model_id ?? turn.model));
    this.works = worksOf(turns);
    this.at = this.works.length - 1;
    this.told = new Turns(turns);
    this.verdicts = h("div", { class: "stack works" });
    this.#judged();
    const title = turns[0].task || "A conversation whose text is not kept";
    const back = h(
      "a",
      { class: "button quiet narrow-pane", href: this.#address({}), "data-go": true },
      "All conversations",
    );
    return [
      h(
        "div",
        { class: "item-head" },
        h("h2", {}, title),
        h(
          "span",
          { class: "row end" },
          back,
          this.turns.button,
          this.#anew(turns),
          copyButton("Copy id", () => turns[0].conversation, { class: "button quiet" }),
        ),
      ),
      strip(turns),
      h(
        "section",
        { class: "card", "aria-labelledby": "worth" },
        h(
          "header",
          {},
          h("h3", { id: "worth" }, "What it was worth"),
          h("span", { class: "faint" }, "one verdict on all that a model did here"),
        ),
        this.verdicts,
      ),
      drawn(turns),
      this.told.root,
    ];
  }

  // While it goes on it stays with whom it has: this lets its next turn be given to whoever stands best.
  #anew(turns) {
    const { at, conversation, seconds: took } = turns.at(-1);
    if (Date.now() - Date.parse(at) - 1000 * (took ?? 0) > LAPSE) return null;
    const ended = async () => {
      try {
        const { ended: live } = await post("/api/conversation/end", { conversation });
        const words = live ? "Its next turn is given anew." : "It is over already: what comes next is given anew.";
        announce(words);
        anew.replaceWith(h("span", { class: "faint" }, words));
      } catch (problem) {
        this.verdicts.prepend(failure(problem));
      }
    };
    const anew = button("Choose anew from the next turn", ended, "quiet", { "data-who": "admin" });
    return anew;
  }

  #judged() {
    const many = this.works.length > 1;
    const rows = this.works.map((work, i) => {
      const useful = work.verdict?.useful;
      const give = (value, word, key) =>
        button([word, i === this.at && h("kbd", {}, key)], () => this.#give(i, value), "small", {
          "aria-pressed": String(useful === value),
          "aria-keyshortcuts": key,
        });
      const facts = `${plural(work.turns, "turn")}${work.verdict?.note ? `, ${work.verdict.note}` : ""}`;
      return h(
        "li",
        { "aria-current": many && i === this.at ? "true" : null },
        seatName({ alias: work.alias, id: work.id }),
        h("span", { class: "faint" }, facts),
        work.worked
          ? h("span", { class: "row end" }, give(true, "Useful", "u"), give(false, "Not useful", "n"))
          : h("span", { class: "faint end" }, "did not answer, so there is nothing to judge"),
      );
    });
    this.verdicts.replaceChildren(h("ul", { class: "list works-list" }, rows));
  }

  // The same verdict again takes it back.
  async #give(i, useful) {
    const work = this.works[i];
    if (!work?.worked) return;
    const before = work.verdict;
    const same = before?.useful === useful;
    work.verdict = same ? null : { ...(before ?? {}), useful };
    this.at = i;
    this.#judged();
    try {
      await post("/api/verdict", same ? { call: work.call, withdrawn: true } : { call: work.call, useful });
      announce(`${work.alias}: ${same ? "verdict taken back" : useful ? "useful" : "not useful"}`);
    } catch (problem) {
      work.verdict = before;
      this.#judged();
      this.verdicts.prepend(failure(problem));
    }
  }

  #keys() {
    const list = { page: "conversations", group: "List", when: () => true };
    const judging = { page: "conversations", group: "Judging", when: () => this.works.length > 0 };
    const move = (by) => () => {
      this.at = Math.max(0, Math.min(this.works.length - 1, this.at + by));
      this.#judged();
    };
    shortcut(
      { keys: ["j"], label: "Next conversation", ...list, run: () => walk(this.aside, 1) },
      { keys: ["k"], label: "Conversation before", ...list, run: () => walk(this.aside, -1) },
      { keys: ["u"], label: "Useful", ...judging, run: () => void this.#give(this.at, true) },
      { keys: ["n"], label: "Not useful", ...judging, run: () => void this.#give(this.at, false) },
      { keys: ["]"], label: "Next model", ...judging, run: move(1) },
      { keys: ["["], label: "Model before", ...judging, run: move(-1) },
    );
  }
}

const NONE = () =>
  empty(
    "No conversations yet.",
    "In route mode one model of a collection answers an agent's whole conversation, and another takes over when it fails.",
    commandLine("bench launch claude"),
  );

const missing = (id, problem) =>
  problem.status === 404
    ? failure(
        new Trouble(`There is no conversation ${id} here.`, {
          hint: "It may be from another server, or older than what is kept.",
          request: problem.request,
        }),
        h("a", { class: "button small", href: "/conversations", "data-go": true }, "Show all conversations"),
      )
    : null;

const WORKED = ["ok", "cut", "refused"];

// A call id stands for all that one model did in the conversation: that is what a verdict is about.
function worksOf(turns) {
  const works = new Map();
  for (const turn of turns) {
    const work = works.get(turn.call) ?? {
      call: turn.call,
      alias: turn.model,
      id: turn.model_id,
      turns: 0,
      worked: false,
      verdict: null,
    };
    work.turns += 1;
    work.worked ||= WORKED.includes(turn.status);
    work.verdict = verdictOf(turn.verdict);
    works.set(turn.call, work);
  }
  return [...works.values()];
}

function strip(turns) {
  const took = turns.map((turn) => turn.seconds ?? 0);
  const sorted = [...took].sort((a, b) => a - b);
  const tools = turns.reduce((sum, turn) => sum + (turn.tool_calls ?? 0), 0);
  const overs = turns.filter((turn) => turn.failed_over?.length);
  const models = new Set(turns.map((turn) => turn.model)).size;
  const tokens = (field) => turns.reduce((sum, turn) => sum + (turn[field] ?? 0), 0).toLocaleString("en-US");
  return figures([
    [String(turns.at(-1).turn), "turns", tools ? plural(tools, "tool call") : "no tool calls"],
    [
      seconds(took.reduce((a, b) => a + b, 0)),
      "model time",
      `middle turn ${seconds(sorted[Math.floor(sorted.length / 2)])}`,
    ],
    [tokens("out"), "tokens out", `${tokens("in")} in`],
    [String(models), models === 1 ? "model" : "models"],
    [
      String(overs.length),
      overs.length === 1 ? "failover" : "failovers",
      overs.length ? `in turn ${overs.map((turn) => turn.turn).join(", ")}` : "nobody failed",
    ],
  ]);
}

const named = (decision) =>
  Array.isArray(decision?.candidates) ? decision.candidates.map((each) => [each.alias, each.model_id]) : [];

const MOST = 60; // turns that are drawn: the latest

function drawn(turns) {
  const shown = turns.slice(-MOST);
  const start = Date.parse(shown[0].at);
  const ids = new Map(turns.flatMap(({ model, model_id: id, decision }) => [[model, id], ...named(decision)]));
  const rows = shown.flatMap((turn) => {
    const from = Math.max(0, (Date.parse(turn.at) - start) / 1000);
    const took = turn.seconds ?? 0;
    const failed = (turn.failed_over ?? []).map(({ alias, error }) => ({
      name: [`${turn.turn} `, seatName({ alias, id: ids.get(alias), failed: true })],
      spans: [{ from, to: from, kind: "failed" }],
      said: error ?? "failed",
    }));
    const good = WORKED.includes(turn.status);
    const own = {
      name: [`${turn.turn} `, seatName({ alias: turn.model, id: turn.model_id, failed: !good })],
      colour: lookOf(turn.model_id ?? turn.model).colour,
      spans: [{ from, to: from + took, kind: good ? "solid" : "failed" }],
      said: good ? seconds(took) : (turn.error ?? turn.status),
    };
    return [...failed, own];
  });
  const about = turns.length > MOST ? `the latest ${MOST} turns; ` : "";
  return h(
    "section",
    { class: "card", "aria-labelledby": "when" },
    h(
      "header",
      {},
      h("h3", { id: "when" }, "When"),
      h("span", { class: "faint" }, `${about}solid: the model's time. Between them the agent works. Red: failed.`),
    ),
    h("div", { class: "pad" }, timeline({ label: "Turns in time", head: ["Turn and model", "", "Took"], rows })),
  );
}
