// The Ask page: a question before it is asked, and a panel while and after it answers. The address says which.
import { Trouble, get, post } from "../api.js";
import { Board } from "../ask/board.js";
import { Composer } from "../ask/composer.js";
import { Earlier } from "../ask/earlier.js";
import { practice, samples } from "../ask/first.js";
import * as blind from "../ask/blind.js";
import { begin, fromRecord, hear, leave, partsOf, finished, restart } from "../ask/panel.js";
import { Preview } from "../ask/preview.js";
import { announce, h } from "../dom.js";
import { shortcuts } from "../ask/shortcuts.js";
import { on, throttled } from "../live.js";
import { failure, notice } from "../notice.js";
import { ask } from "../stream.js";

const RELIST = 3000; // ms between two looks for what was asked elsewhere
const AGAIN = 2000; // ms until an unfinished panel is looked for again
const YOUNG = 6 * 60_000; // ms for which a panel that is not there may still be answering

export class Page {
  /**
   * @param {HTMLElement} root
   * @param {{go: Function, title: (parts: string[]) => void, beat: () => void}} app
   */
  constructor(root, app) {
    Object.assign(this, { root, app, board: null, known: null, listing: null, taken: null });
    this.gone = h("div", { hidden: true });
    this.intro = h("div", { class: "stack" });
    this.preview = new Preview(
      () => this.composer.asking,
      (alias) => this.composer.options.leaveOut(alias),
    );
    this.composer = new Composer({ ask: (asking) => this.#ask(asking), changed: () => this.preview.soon() });
    this.earlier = new Earlier();
    this.samples = samples((draft) => (this.composer.fill(draft), scrollTo(0, 0)));
    this.samples.hidden = true;
    this.compose = h(
      "div",
      { class: "stack" },
      this.intro,
      this.composer.root,
      this.samples,
      this.preview.root,
      this.earlier.root,
    );
    this.view = h("div", { class: "stack" });
    root.append(this.gone, this.view);
    const earlier = throttled(() => this.compose.isConnected && this.#relist(), RELIST);
    on("panel", (event) => (event.state === "begun" ? undefined : (this.#ended(event), earlier())));
    shortcuts(this);
  }

  /** @param {URLSearchParams} query */
  show(query) {
    const id = query.get("panel");
    this.#close();
    this.query = query;
    if (id) this.#open(id);
    else this.#compose(query.get("collection") ?? "");
  }

  hide() {
    this.#close();
    this.compose.remove();
  }

  /** @param {any} status the server answered */
  status(status) {
    const back = this.known === null || !this.gone.hidden;
    this.known = status;
    this.gone.hidden = true;
    this.#intro(status);
    if (back && this.compose.isConnected) this.#load();
  }

  /** @param {Error} problem the server did not answer */
  lost(problem) {
    if (this.board?.panel.problem?.kind === "gone") return; // the panel says it already, with a way on
    if (this.gone.hidden || this.gone.dataset.said !== problem.message) this.gone.replaceChildren(failure(problem));
    this.gone.dataset.said = problem.message;
    this.gone.hidden = false;
  }

  // Drawn again only when it says something else: a redraw would be read out, and would take the focus away.
  #intro({ problems = [], practice: squad, found }) {
    const said = JSON.stringify([problems, squad, found]);
    if (this.intro.dataset.said === said) return;
    this.intro.dataset.said = said;
    this.squad = squad ? practice({ found }) : null;
    this.intro.replaceChildren(...problems.map((each) => notice("bad", each)), ...(this.squad ? [this.squad] : []));
  }

  #compose(wanted) {
    this.wanted = wanted;
    this.app.title(["Ask"]);
    this.view.replaceChildren(this.compose);
    if (this.known) this.#load();
    if (matchMedia("(pointer: fine)").matches) this.composer.focus();
  }

  async #load() {
    const earlier = this.earlier.load();
    try {
      const [{ collections }, { models }] = await Promise.all([get("/api/collections"), get("/api/models")]);
      this.composer.offer(collections, this.wanted);
      if (this.taken) this.composer.fill(this.taken);
      this.taken = null;
      this.composer.options.offer(models.map(({ alias }) => alias));
      this.preview.soon(0);
    } catch (problem) {
      this.composer.tell(problem.kind === "gone" ? null : problem);
      if (problem.kind === "gone") this.lost(problem);
    }
    const asked = await earlier;
    this.samples.hidden = asked && !this.known?.practice;
    if (asked && this.squad && !this.squad.dataset.seen) this.squad.open = false;
    if (this.squad) this.squad.dataset.seen = "yes";
  }

  // What stands there stays where its reader is.
  #relist() {
    if (!this.earlier.root.contains(document.activeElement)) this.earlier.load();
  }

  // A panel that was opened before it was done is opened when it is.
  #ended({ panel }) {
    if (panel && panel === this.awaited) this.#open(panel, true);
  }

  #ask(asking) {
    const panel = begin(asking, Date.now());
    this.draft = {
      ...asking,
      files: this.composer.files,
      question: this.composer.text.value,
      system: this.composer.system.value,
    };
    this.composer.clear();
    this.#close();
    this.#board(panel);
    this.app.title(["Ask"]);
    scrollTo(0, 0);
    this.board.question.title.focus({ preventScroll: true });
    this.#listen(panel, asking);
  }

  async #listen(panel, { collection, reply, messages, invited = [], wishes = {} }) {
    const board = this.board;
    this.stream = new AbortController();
    const guests = invited.length ? { with: invited } : {};
    try {
      await ask(
        { model: `bench/${collection}`, messages, ...guests, bench: { reply, ...wishes } },
        (event) => this.#event(panel, board, event),
        this.stream.signal,
      );
    } catch (problem) {
      if (problem.name === "AbortError") return;
      this.#broken(panel, board, problem);
    }
    this.app.beat();
  }

  #event(panel, board, event) {
    hear(panel, event, Date.now());
    if (event.event === "panel.started") this.#started(panel, board);
    else if (event.event === "seat.done") board.ended(panel.seats.find(({ call }) => call === event.call));
    else if (event.event === "merge.done") board.ended(panel.merger);
    else if (event.event === "seat.delta" || event.event === "seat.reasoning")
      board.change(panel.seats.find(({ call }) => call === event.call));
    else board.change();
    if (event.event === "panel.done") announce(`All done: ${panel.seats.filter(finished).length} seats.`);
    if (event.event === "failed") announce(`The panel failed: ${panel.problem.message}`);
  }

  #started(panel, board) {
    if (panel.blind) blind.hide(panel);
    board.seats();
    if (board !== this.board) return;
    this.query = new URLSearchParams({ panel: panel.id, ...(panel.blind && { blind: "1" }) });
    this.app.go(`?${this.query}`, { quiet: true });
    announce(`${panel.seats.length} seats were asked.`);
  }

  #broken(panel, board, problem) {
    panel.state = "failed";
    leave(panel);
    Object.assign(panel, { problem, actions: [panel.id ? this.#reload(panel) : this.#back()] });
    board.change();
    announce(problem.message);
    if (problem.kind === "gone") this.app.beat();
  }

  #reload = ({ id }) =>
    h(
      "button",
      { type: "button", class: "button small", on: { click: () => this.show(new URLSearchParams({ panel: id })) } },
      "Show what came",
    );

  #back = () =>
    h("button", { type: "button", class: "button small", on: { click: () => this.#again() } }, "Change the question");

  // One seat, or all that are still at work: they end at the server, and say so on the stream that is open.
  async #end(seat) {
    const { board } = this;
    const id = seat ? seat.call.split(".")[0] : board.panel.id;
    try {
      const { stopped } = await post("/api/panel/stop", { panel: id, ...(seat && { call: seat.call }) });
      announce(stopped.length === 1 ? "1 seat was stopped." : `${stopped.length} seats were stopped.`);
    } catch (problem) {
      if (!seat && this.board === board) this.#unheard();
      else announce(problem.message);
    }
  }

  /** @param {import("../ask/panel.js").Seat} [seat] that one alone @returns {false | void} */
  stop(seat) {
    const { board } = this;
    const panel = board?.panel;
    const live =
      panel && (["asking", "answering"].includes(panel.state) || panel.seats.some((each) => !finished(each)));
    if (!live) return false;
    if (panel.id) this.#end(seat);
    else this.#unheard();
  }

  // Nothing is heard of the panel, or it cannot be stopped: then only the waiting ends.
  #unheard() {
    const { board } = this;
    const { panel } = board;
    this.stream?.abort();
    leave(panel);
    panel.state = "stopped";
    board.change();
    const said = panel.id
      ? "Stopped waiting. The panel finishes on the server."
      : "Stopped waiting. If the question had arrived, the panel finishes on the server.";
    Object.assign(panel, { note: said, actions: [panel.id ? this.#reload(panel) : this.#back()] });
    board.change();
    announce(said);
  }

  // Seats are asked once more, in a panel of their own that is recorded like any other; here they take their places again.
  async #rerun(seats) {
    const { board } = this;
    const { panel } = board;
    const aliases = seats.map(({ alias }) => alias);
    const again = { ...panel, seats, state: "asking" };
    const stream = (this.stream = new AbortController());
    const heard = (event) => {
      const now = Date.now();
      if (event.event === "panel.started") {
        for (const said of event.seats) {
          const seat = seats.find(({ alias }) => alias === said.alias);
          if (seat) restart(seat, said, event.panel, now);
        }
        return board.change();
      }
      hear(again, event, now);
      if (event.event === "seat.done") board.ended(seats.find(({ call }) => call === event.call));
      else board.change(seats.find(({ call }) => call === event.call));
    };
    announce(seats.length === 1 ? "It is asked again." : `${seats.length} seats are asked again.`);
    try {
      const body = {
        model: `bench/${panel.collection}`,
        messages: panel.messages,
        bench: { reply: "all", only: aliases },
      };
      await ask(body, heard, stream.signal);
    } catch (problem) {
      if (problem.name === "AbortError" || this.board !== board) return;
      leave(again);
      board.tell(problem);
    }
  }

  // What of the address the board changes: how the answers stand, whether names are hidden.
  #view(changes) {
    if (!this.query?.get("panel")) return;
    const query = new URLSearchParams(this.query);
    for (const [name, value] of Object.entries(changes)) value ? query.set(name, value) : query.delete(name);
    if (String(query) === String(this.query)) return;
    this.query = query;
    this.app.go(`?${query}`, { quiet: true, replace: true });
  }

  #again() {
    const { panel } = this.board;
    const { draft } = this;
    const same = draft && draft.messages === panel.messages;
    const question = same
      ? draft
      : { ...partsOf(panel.messages), files: [], collection: panel.collection, reply: panel.reply };
    this.app.go("?");
    // Who opened a panel by its address knows no collection yet: it is taken over once more when they are known.
    this.taken = this.composer.collections.length ? null : question;
    this.composer.fill(question);
    this.preview.soon(0);
  }

  async #open(id, again = false) {
    this.awaited = null;
    this.opening = new AbortController();
    const { signal } = this.opening;
    this.app.title(["Ask", id]);
    if (!again) this.view.replaceChildren(h("p", { class: "faint" }, "Opening the panel…"));
    try {
      const panel = fromRecord(await get(`/api/panel/${encodeURIComponent(id)}`, signal));
      if (this.query.get("blind") && !blind.judged(panel)) blind.hide(panel);
      this.app.title(["Ask", panel.task || id]);
      this.#board(panel);
      this.board.question.title.focus({ preventScroll: true });
    } catch (problem) {
      if (problem.name !== "AbortError") this.#absent(id, problem, again);
    }
  }

  // A panel is kept when it is done: one that began a moment ago and is not there may still be answering, or be none.
  #absent(id, problem, again) {
    if (problem.status === 404 && Math.abs(Date.now() - began(id)) < YOUNG) {
      const waiting = "If it is still being answered, it opens here when it is done.";
      // Said once: a redraw every other second would only flicker.
      if (!again) this.view.replaceChildren(notice("calm", "This panel is not found, or not finished yet.", waiting));
      this.awaited = id;
      this.retry = setTimeout(() => this.#open(id, true), AGAIN);
    } else if (problem.status === 404) {
      const missing = new Trouble(`There is no panel ${id} here.`, {
        hint: "It may be from another server, older than what is kept, or not finished yet.",
        request: problem.request,
      });
      this.view.replaceChildren(
        failure(missing, h("a", { class: "button small", href: "?", "data-go": true }, "Ask something")),
      );
    } else
      this.view.replaceChildren(
        failure(
          problem,
          h("button", { type: "button", class: "button small", on: { click: () => this.#open(id) } }, "Try again"),
        ),
      );
  }

  #board(panel) {
    const rerun = whole(panel.messages) ? (seats) => this.#rerun(seats) : null;
    this.board = new Board(
      panel,
      {
        stop: (seat) => this.stop(seat),
        again: () => this.#again(),
        rerun,
        view: (changes) => this.#view(changes),
      },
      { layout: this.query?.get("view") ?? undefined },
    );
    this.view.replaceChildren(this.board.root);
  }

  // Leaving ends the listening, not the panel: it goes on at the server and is found there again.
  #close() {
    clearTimeout(this.retry);
    this.awaited = null;
    this.opening?.abort();
    this.stream?.abort();
    this.board?.close();
    this.board = null;
  }
}

// Can it be asked again as it was? A record keeps that there was a picture, not its bytes.
const whole = (messages) =>
  Boolean(messages) &&
  messages.every(
    ({ content }) =>
      !Array.isArray(content) ||
      content.every(
        ({ type, image_url: image }) => type !== "image_url" || /^data:[^,]+,.|^https?:/.test(image?.url ?? ""),
      ),
  );

// p20261129-142220-1a2b3c4d names the second in which it began, in UTC.
function began(id) {
  const [, y, mo, d, hh, mi, s] = /^p(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)-/.exec(id) ?? [];
  return y ? Date.UTC(y, mo - 1, d, hh, mi, s) : 0;
}
