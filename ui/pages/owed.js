// Owed: the answers that wait for a verdict, oldest first, one at a time, blind until the reader asks for names.
import { get } from "../api.js";
import { Judge } from "../ask/judge.js";
import { answered, fromRecord, idOf, titleIn } from "../ask/panel.js";
import { Pick } from "../ask/pick.js";
import { announce, h, say, set } from "../dom.js";
import { shortcut } from "../keys.js";
import { button, empty } from "../loading.js";
import { failure } from "../notice.js";
import { Progress, letters } from "../owed/queue.js";
import { totals } from "../panels/facts.js";
import { Prose } from "../prose.js";
import { meet, seat as seatName } from "../seats.js";
import { count, plural, when, wordsIn } from "../words.js";

const MOST = 50; // panels of one sitting
const VERDICTS = [
  ["Useful", "u"],
  ["Not useful", "n"],
  ["Best of panel", "b"],
  ["All bad", "x"],
];

export class Page {
  /** @param {HTMLElement} root @param {any} app */
  constructor(root, app) {
    Object.assign(this, { root, app, queue: [], named: false, skipped: new Set(), past: [], panel: null });
    this.aside = h("section", { class: "card pane-list", "aria-label": "Owed panels" });
    this.body = h("div", { class: "stack" });
    this.shown = null;
    this.progress = new Progress(() => this.#names());
    this.#keys();
  }

  /** @param {URLSearchParams} query  `panel`: begin with this one */
  async show(query) {
    this.app.title(["Owed"]);
    this.wanted = query.get("panel");
    this.pick ??= new Pick(
      () => (this.shown ? [this.shown] : []),
      ({ seat }, where, decision) => this.#claim(seat, where, decision),
    );
    const look = (this.look = new AbortController());
    try {
      if (!this.queue.length || !this.wanted) await this.#fill(look.signal);
      await this.#open();
    } catch (problem) {
      if (problem.name === "AbortError") return;
      this.root.replaceChildren(
        failure(
          problem,
          button("Try again", () => this.show(query), "small"),
        ),
      );
    }
  }

  hide() {
    this.look?.abort();
    this.pick?.close();
    Object.assign(this, { queue: [], panel: null, shown: null, pick: null, past: [] });
  }

  // One sitting: the latest panels that are owed anything, the oldest of them first.
  async #fill(signal) {
    const { panels, next } = await get(`/api/log?state=owed&limit=${MOST}`, signal);
    this.queue = panels
      .reverse()
      .map((row) => ({ id: idOf(row), row, owed: totals(row).owed, seats: totals(row).answered }));
    this.more = Boolean(next);
    this.done = 0;
    this.all = this.queue.reduce((sum, { owed }) => sum + owed, 0);
    meet(panels.flatMap(({ seats = [] }) => seats.map((each) => each.model_id ?? each.alias)));
  }

  async #open() {
    const item = this.queue.find(({ id }) => id === this.wanted) ?? this.queue[0];
    if (!item) return this.#nothing();
    const said = await get(`/api/panel/${encodeURIComponent(item.id)}`, this.look.signal);
    this.item = item;
    this.panel = fromRecord(said);
    this.judge = new Judge(
      () => this.panel,
      (words, problem) => this.#told(words, problem),
    );
    this.order = letters(this.panel.seats.filter(answered), item.id);
    this.#next();
  }

  // The next answer of this panel that nobody judged; after the last of them the next panel.
  #next() {
    const open = this.order.filter(
      ({ seat }) => typeof seat.verdict?.useful !== "boolean" && !this.skipped.has(seat.call),
    );
    if (open.length) return this.#draw(open[0]);
    this.queue = this.queue.filter((each) => each !== this.item);
    if (this.order.some(({ seat }) => typeof seat.verdict?.useful !== "boolean")) this.left = true;
    this.wanted = null;
    this.#open().catch((problem) => problem.name !== "AbortError" && this.body.prepend(failure(problem)));
  }

  #nothing() {
    this.panel = this.shown = null;
    this.app.owed(0, false);
    const again = button(
      "Look again",
      () => (this.skipped.clear(), (this.left = false), this.show(new URLSearchParams())),
      "primary",
    );
    const words = this.left
      ? "What you skipped is still owed."
      : "Answers that nobody judged wait here. Each verdict changes who sits in the next panel.";
    const ask = h("a", { class: "button primary", href: "/", "data-go": true }, "Ask something");
    this.root.replaceChildren(
      empty(
        this.left ? "That was all of this sitting." : "Nothing is owed.",
        words,
        this.left ? again : ask,
        this.past.length ? this.#undoButton() : "",
      ),
    );
  }

  #draw(place) {
    this.place = place;
    const { seat, letter } = place;
    this.pick?.dismiss();
    this.prose = new Prose(h("div", { class: "prose reading" }));
    this.prose.show(seat.text);
    this.prose.mark(seat.claims);
    if (!seat.text)
      say(this.prose.root, "The words of this answer are not kept any more. It can still be judged, or skipped.");
    this.name = h("h3", {});
    const at = `${this.order.indexOf(place) + 1} of ${this.order.length} in this panel`;
    this.article = h(
      "article",
      { class: "card answer", tabindex: "-1", "aria-label": `Answer ${letter}` },
      h(
        "header",
        {},
        this.name,
        h("span", { class: "faint" }, at),
        h("span", { class: "faint end" }, plural(wordsIn(seat.text), "word")),
      ),
      h("div", { class: "pad body" }, this.prose.root),
    );
    this.claims = h("p", { class: "claims-line" });
    this.saved = h("span", { class: "saved", role: "status" });
    this.body.replaceChildren(this.progress.root, this.#question(), this.article, this.claims, this.#bar());
    this.#list();
    this.root.replaceChildren(h("div", { class: "panes owed-page" }, this.aside, this.body));
    this.#named();
    this.#claimed();
    this.#pressed();
    this.shown = { seat, prose: this.prose, body: this.article.querySelector(".body") };
    if (this.skipped.size || this.past.length) this.article.focus({ preventScroll: true });
    scrollTo(0, 0);
  }

  #question() {
    const { task, collection, began, messages } = this.panel;
    const more =
      messages &&
      h("details", {}, h("summary", {}, "The whole question"), h("pre", { class: "asked-text" }, textOf(messages)));
    const open = h(
      "a",
      { href: `/panels?panel=${encodeURIComponent(this.panel.id)}`, "data-go": true },
      "Open the panel",
    );
    return h(
      "section",
      { class: "card pad question-card", "aria-label": "Question" },
      h("h2", {}, task || "A question whose text is not kept"),
      h(
        "p",
        { class: "faint" },
        `bench/${collection}, ${when(new Date(began).toISOString())}. `,
        open,
        " (it shows names)",
      ),
      more,
    );
  }

  #bar() {
    const buttons = VERDICTS.map(([word, key]) =>
      button([word, h("kbd", {}, key)], () => this.#give(key), "", {
        "data-key": key,
        "aria-keyshortcuts": key,
        "aria-pressed": "false",
      }),
    );
    const skip = button(["Skip", h("kbd", {}, "s")], () => this.#skip(), "quiet", { "aria-keyshortcuts": "s" });
    this.undoing = this.#undoButton();
    return h(
      "div",
      { class: "judge-bar", role: "group", "aria-label": "Verdict" },
      buttons,
      skip,
      h("span", { class: "end row" }, this.saved, this.undoing),
    );
  }

  #undoButton = () =>
    button(["Undo", h("kbd", {}, "z")], () => this.#undo(), "quiet small", {
      hidden: !this.past.length,
      "aria-keyshortcuts": "z",
    });

  #give(key) {
    const { seat, letter } = this.place;
    const was = this.panel.seats.filter((each) => typeof each.verdict?.useful !== "boolean" && answered(each)).length;
    if (key === "x") this.judge.allBad();
    else if (key === "b") this.judge.best(seat);
    else this.judge.useful(seat, key === "u");
    const left = this.panel.seats.filter((each) => typeof each.verdict?.useful !== "boolean" && answered(each)).length;
    this.#did(was - left);
    this.done += was - left;
    this.item.owed = left;
    const word = VERDICTS.find(([, each]) => each === key)[0].toLowerCase();
    this.last = key === "x" ? "all bad" : `${letter} ${word}`;
    this.#next();
    say(this.saved, `Saved: ${this.last}.`);
  }

  #did(n) {
    const { panel, judge, item, order, place } = this;
    this.past.push({ panel, judge, item, order, place, n });
    set(this.undoing, { hidden: false });
  }

  #claim(seat, where, decision) {
    this.judge.claim(seat, where, decision);
    this.#did(0);
  }

  #skip() {
    this.skipped.add(this.place.seat.call);
    this.left = true;
    this.#next();
  }

  #undo() {
    const last = this.past.pop();
    if (!last) return false;
    last.judge.undo();
    this.done -= last.n;
    Object.assign(this, { panel: last.panel, judge: last.judge, item: last.item, order: last.order });
    last.item.owed += last.n;
    if (!this.queue.includes(last.item)) this.queue.unshift(last.item);
    this.#draw(last.place);
    say(this.saved, "Taken back.");
    announce("Taken back.");
  }

  // Only a failure is told here: what was given shows in what comes next.
  #told(words, problem) {
    if (!this.place || !this.panel) return;
    if (problem) (this.body.prepend(failure(problem)), (this.past = []));
    else announce(this.named ? words : words.replace(/^[^:]+:/, "Answer:"));
    this.prose?.mark(this.place.seat.claims);
    this.#claimed();
    this.#pressed();
  }

  #pressed() {
    const { verdict } = this.place.seat;
    const on = {
      u: verdict?.useful === true && !verdict.best,
      n: verdict?.useful === false && !verdict.allBad,
      b: Boolean(verdict?.best),
      x: Boolean(verdict?.allBad),
    };
    for (const each of this.body.querySelectorAll(".judge-bar [data-key]"))
      set(each, { "aria-pressed": String(on[each.dataset.key]) });
  }

  #claimed() {
    const { claims } = this.place.seat;
    const chips = claims.map(({ quote, decision }) =>
      h("span", { class: `chip ${decision === "real" ? "ok" : "bad"}` }, `${decision}: ${quote.slice(0, 60)}`),
    );
    this.claims.replaceChildren(
      ...chips,
      h(
        "span",
        { class: "faint wide-only" },
        "Claims: select words, then ",
        h("kbd", {}, "r"),
        " real or ",
        h("kbd", {}, "f"),
        " false",
      ),
    );
  }

  #names() {
    this.named = !this.named;
    this.#named();
    this.#list();
  }

  #named() {
    const { seat, letter } = this.place;
    const shown = this.named
      ? seatName({ alias: seat.alias, id: seat.id, role: seat.role })
      : h("span", {}, h("span", { class: "tile", "aria-hidden": "true" }, letter), ` Answer ${letter}`);
    this.name.replaceChildren(shown);
    this.progress.draw({ done: this.done, all: this.all, named: this.named });
  }

  #list() {
    const left = this.queue.reduce((sum, { owed }) => sum + owed, 0);
    this.app.owed(left, this.more);
    const rows = this.queue.map((item) =>
      h(
        "li",
        { "aria-current": item === this.item ? "true" : null },
        h(
          "a",
          { href: `/owed?panel=${encodeURIComponent(item.id)}`, "data-go": true, class: "open" },
          h("span", {}, titleIn(item.row.task) || "A question whose text is not kept"),
          h(
            "span",
            { class: "faint" },
            `${when(item.row.at)}, ${item.owed === item.seats ? plural(item.owed, "answer") : `${item.owed} of ${plural(item.seats, "answer")}`}`,
          ),
        ),
      ),
    );
    const more =
      this.more &&
      h("p", { class: "pad faint" }, `Older ones follow when these ${count(this.queue.length)} panels are done.`);
    this.aside.replaceChildren(
      h("header", {}, h("h2", {}, `${left} owed`), h("span", { class: "faint" }, "oldest first")),
      h("ul", { class: "list" }, rows),
      more || "",
    );
  }

  #keys() {
    const judging = { page: "owed", group: "Judging", when: () => Boolean(this.panel) };
    shortcut(
      ...VERDICTS.map(([word, key]) => ({ keys: [key], label: word, ...judging, run: () => this.#give(key) })),
      { keys: ["s"], label: "Skip for now", ...judging, run: () => this.#skip() },
      { keys: ["z"], label: "Undo", page: "owed", group: "Judging", run: () => this.#undo() },
      { keys: ["h"], label: "Show or hide names", ...judging, run: () => this.#names() },
      {
        keys: ["[", "]"],
        label: "Select the sentence before, after",
        ...judging,
        run: (key) => this.pick.sentence(this.shown, key === "]" ? 1 : -1),
      },
      { keys: ["r"], label: "Selected words: a real finding", ...judging, run: () => this.pick.take("real") },
      { keys: ["f"], label: "Selected words: a false claim", ...judging, run: () => this.pick.take("false") },
    );
  }
}

const textOf = (messages) =>
  messages
    .map(
      ({ role, content }) =>
        `${messages.length > 1 ? `${role}: ` : ""}${typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? `(${part.type})`).join("\n")}`,
    )
    .join("\n\n");
