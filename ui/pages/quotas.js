// Quotas: what may still be sent to whom, and until when. One block a connection, worst first; one of them opens beside.
import { get, post } from "../api.js";
import { announce, h, say } from "../dom.js";
import { Follow } from "../follow.js";
import { shortcut } from "../keys.js";
import { Loading, empty } from "../loading.js";
import { morph } from "../morph.js";
import { notice } from "../notice.js";
import { block, isSpent, restsFor, whatOf } from "../quotas/block.js";
import { drawer } from "../quotas/drawer.js";
import { walk } from "../table.js";
import { ahead, plural, sentence } from "../words.js";

const MOST_NOTICES = 3;
const TICK = 1000; // ms between two steps of the countdowns
const SOON = 100_000; // ms: clocks nearer than that are told to the second, others to the minute
const SLOW = 20; // ticks between two looks at clocks that are told to the minute
const LOOK = 5000; // ms between two looks at the server, while it is seen

export class Page {
  /** @param {HTMLElement} root @param {any} app */
  constructor(root, app) {
    Object.assign(this, {
      root,
      app,
      query: new URLSearchParams(),
      said: null,
      late: 0,
      timer: 0,
      looked: 0,
      tests: new Map(),
      ticks: 0,
    });
    this.place = h("div", { class: "stack" });
    this.side = h("div", { class: "stack" });
    this.list = new Loading(this.place);
    this.follow = new Follow(["quota", "calls"], { place: h("div"), look: () => this.#look() });
    this.panes = h("div", { class: "drawered" }, this.place, this.side);
    this.count = h("span", { class: "faint" });
    this.bar = h("div", { class: "filters" }, this.count, h("span", { class: "end" }, this.follow.button));
    this.#keys();
  }

  /** @param {URLSearchParams} query */
  show(query) {
    const other =
      query.get("connection") !== this.query.get("connection") || query.get("model") !== this.query.get("model");
    this.query = query;
    const name = query.get("connection");
    this.app.title(name ? ["Quotas", name] : ["Quotas"]);
    this.panes.classList.toggle("open", Boolean(name));
    this.root.replaceChildren(this.bar, this.panes);
    this.follow.show(true);
    clearInterval(this.timer);
    this.timer = setInterval(() => this.#tick(), TICK);
    if (!this.said) return void this.#again();
    this.#fill();
    if (other) this.#drawer();
  }

  hide() {
    this.list.stop();
    this.follow.show(false);
    clearInterval(this.timer);
    this.asking?.abort();
    this.said = null;
  }

  #again() {
    this.looked = performance.now();
    return this.list.show("/api/quotas", (said) => this.#loaded(said));
  }

  // What stands there stays until the news are there; where none come, the pulse tells why.
  async #look() {
    this.looked = performance.now();
    this.asking?.abort();
    const asking = (this.asking = new AbortController());
    try {
      const said = await get("/api/quotas", asking.signal);
      if (this.asking !== asking || !this.said) return;
      const news = told(said) !== told(this.said);
      this.#know(said);
      if (news) this.#fill();
    } catch {
      // The next look may find it.
    }
  }

  #loaded(said) {
    this.#know(said);
    this.#drawer();
    return this.#blocks();
  }

  #know(said) {
    this.said = said;
    this.late = Date.parse(said.now) - Date.now(); // this clock may be wrong; distances are the server's
  }

  #tick() {
    if (document.hidden || !this.said || this.follow.paused) return;
    if (performance.now() - this.looked > LOOK) this.#look();
    this.ticks = (this.ticks + 1) % SLOW;
    this.#fill(this.ticks > 0);
  }

  // With `near`, only blocks whose clocks are told to the second are drawn anew.
  #fill(near = false) {
    const kept = new Map(
      [...this.place.querySelectorAll(".connection")].map((node) => [node.getAttribute("aria-label"), node]),
    );
    morph(this.place, this.#blocks(near ? kept : new Map()));
  }

  #blocks(kept = new Map()) {
    const { connections, quotas, resting, problems = [] } = this.said;
    const now = Date.now() + this.late;
    const wrong = problems.map((each) => notice("bad", sentence(each)));
    const stopped = connections.filter(({ state }) => state === "resting").length;
    say(
      this.count,
      connections.length
        ? `${plural(connections.length, "connection")}, ${stopped ? `${stopped} resting` : "none resting"}`
        : "",
    );
    if (!connections.length) return [...wrong, this.#none()];
    const chosen = this.query.get("connection");
    let headed = false;
    return [
      ...wrong,
      ...this.#notices(now),
      ...connections.map((each) => {
        const mine = quotas.filter(({ connection }) => connection === each.connection);
        const first = mine.length > 0 && !headed;
        headed ||= first;
        const theirs = resting.filter(({ connection }) => connection === each.connection);
        if (kept.has(each.connection) && !ticking([each, ...mine, ...theirs], now)) return kept.get(each.connection);
        return block(each, {
          quotas: mine.sort(worst),
          resting: theirs,
          now,
          first,
          chosen: each.connection === chosen,
          address: this.#address({ connection: each.connection, model: "" }),
          act: (what, name) => this.#act(what, name, each.connection),
          tests: this.tests,
          all: this.query.get("all") === each.connection,
          more: this.#address({ all: each.connection }),
        });
      }),
    ];
  }

  #notices(now) {
    const { connections, quotas, resting } = this.said;
    const stopped = connections.filter(({ state, next_at: next }) => state === "resting" && next);
    return stopped.slice(0, MOST_NOTICES).map(({ connection, next_at: next, why }) => {
      const gone = quotas.find((one) => one.connection === connection && isSpent(one) && one.metric !== "concurrency");
      const who = resting.filter((one) => one.connection === connection);
      const cause = gone
        ? `${connection} has no ${whatOf(gone)
            .replace(/ (a|an) day$/, " left today")
            .replace(/ this month$/, " left this month")}.`
        : `${connection} rests.`;
      const names =
        who.length === 1
          ? `${who[0].model} rests for it: ${restsFor(who[0].why)}.`
          : who.length
            ? `${who.length} models rest for it.`
            : "";
      const what = gone || who.length ? names : `${sentence(why)}`;
      return notice(
        "warn",
        cause,
        `The next call can go out ${ahead(next, now).replace(/^(\d)/, "at $1")}.`,
        what,
        h("a", { href: "/panels?state=failed", "data-go": true }, "Show the panels"),
      );
    });
  }

  #none() {
    return empty(
      "No connection yet.",
      "Limits are learned from the first replies of a place that serves models, and shown here with what is left of each.",
      h(
        "a",
        { class: "button primary", href: "/endpoints?add=", "data-go": true, "data-who": "admin" },
        "Add an endpoint",
      ),
    );
  }

  #drawer() {
    const name = this.query.get("connection");
    const connection = name && this.said.connections.find((each) => each.connection === name);
    if (!name) return this.side.replaceChildren();
    if (!connection) return this.side.replaceChildren(notice("warn", `There is no connection ${name}.`));
    const model = connection.models.includes(this.query.get("model")) ? this.query.get("model") : "";
    const done = async () => {
      await this.#look();
      this.#drawer();
    };
    this.side.replaceChildren(
      drawer(connection, {
        quotas: this.said.quotas.filter((one) => one.connection === name),
        model,
        close: this.#address({ connection: "", model: "" }),
        choose: (alias) => this.app.go(this.#address({ model: alias }), { replace: true }),
        done,
        act: (what, who) => this.#act(what, who, name),
      }),
    );
  }

  #address(changes) {
    const query = new URLSearchParams(this.query);
    for (const [name, value] of Object.entries(changes)) value ? query.set(name, value) : query.delete(name);
    return `/quotas${query.size ? `?${query}` : ""}`;
  }

  // What came of it stays in the block until the page is left.
  async #act(what, name, connection) {
    const tell = (words) => (this.tests.set(connection, words), announce(words));
    this.tests.set(connection, what === "probe" ? `Asking ${name}…` : "");
    this.#fill();
    try {
      const answer = await post(`/api/${what}`, { name });
      tell(what === "wake" ? `${name} is awake: the next call will tell.` : probed(answer));
    } catch (problem) {
      tell(`${name}: ${sentence(problem.message)}`);
    }
    await this.#look();
    if (this.said) this.#fill(); // the words are news, even where the figures are none
  }

  #keys() {
    const list = { page: "quotas", group: "List" };
    const close = () =>
      this.query.get("connection") ? this.app.go(this.#address({ connection: "", model: "" })) : false;
    shortcut(
      { keys: ["j"], label: "Next connection", ...list, run: () => walk(this.place, 1) },
      { keys: ["k"], label: "Connection before", ...list, run: () => walk(this.place, -1) },
      { keys: ["Escape"], show: ["Esc"], label: "Close the drawer", ...list, run: close },
    );
  }
}

// What is used up first, then what is nearest to it; what has no limit last.
const worst = (a, b) => share(a) - share(b) || String(a.model ?? "").localeCompare(String(b.model ?? ""));
const share = ({ limit, remaining, why }) => (why ? -1 : limit ? remaining / limit : 2);

const probed = ({ model, reached, seconds, message, error, status }) =>
  reached
    ? `${model} answers, in ${seconds.toFixed(1)} s.`
    : `${model} does not answer: ${sentence(message ?? error ?? status)}`;

// Is one of these clocks told to the second?
const ticking = (all, now) =>
  all.some(({ reset_at: reset, next_at: next, until }) =>
    [reset, next, until].some((at) => at && Math.abs(Date.parse(at) - now) < SOON),
  );

// What there is to see: without the server's clock, and how old things are.
const told = (said) => JSON.stringify(said, (name, value) => (name === "now" || name === "age_s" ? undefined : value));
