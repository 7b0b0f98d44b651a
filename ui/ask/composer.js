// The question before it is asked: words, files, whom to ask. The draft survives a closed tab.
import { announce, h, set } from "../dom.js";
import { keep, recall } from "../keep.js";
import { copyMenu } from "../menu.js";
import { commandLine, failure, notice } from "../notice.js";
import { plural } from "../words.js";
import { messagesOf, read } from "./attach.js";
import { programs } from "./code.js";
import { Options } from "./options.js";

const MAKE = "bench collection save core --members a,b";
const REMEMBERED = 50;

/**
 * @typedef {{collection: string, reply: string, messages: object[], blind: boolean, invited: string[],
 *   wishes: Record<string, any>}} Asking  invited and wishes: see options.js
 */

export class Composer {
  /**
   * @param {{ask: (asking: Asking) => void, changed: () => void}} hooks
   */
  constructor({ ask, changed }) {
    this.ask = ask;
    this.changed = changed;
    this.files = [];
    this.past = -1;
    this.collections = [];
    const draft = recall("draft", {});
    this.text = h("textarea", {
      id: "question",
      rows: "4",
      placeholder: "Ask the bench. Paste code, or drop files here.",
      "aria-describedby": "question-trouble",
    });
    this.text.value = draft.question ?? "";
    this.system = h("textarea", { id: "system", rows: "3", class: "field" });
    this.system.value = draft.system ?? "";
    this.picker = h("select", { id: "collection", class: "field" });
    this.picked = draft.collection ?? "";
    this.trouble = h("div", { id: "question-trouble", class: "trouble" });
    this.options = new Options(() => this.#draft());
    this.options.fill(draft);
    this.blind = Boolean(recall("blind", false));
    this.root = this.#form();
    this.#listen();
    this.#segment("all");
  }

  /** @returns {Asking} */
  get asking() {
    return {
      collection: this.picker.value,
      reply: this.reply,
      messages: messagesOf({ question: this.text.value, system: this.system.value, files: this.files }),
      blind: this.blind,
      ...this.options.value,
    };
  }

  get empty() {
    return !this.text.value.trim() && !this.files.length;
  }

  /** @param {any[]} collections @param {string} [wanted] the one the address names */
  offer(collections, wanted = "") {
    this.collections = collections;
    const names = collections.map(({ name }) => name);
    const chosen =
      [wanted, this.picker.value, this.picked, "core", names[0]].find((name) => names.includes(name)) ?? "";
    this.picker.replaceChildren(
      ...collections.map(({ name, description }) => h("option", { value: name, title: description }, `bench/${name}`)),
    );
    this.picker.value = chosen;
    this.#chosen();
  }

  /**
   * Take a question over, to be asked or changed.
   * @param {{question: string, system?: string, files?: any[], collection?: string, reply?: string, invited?: string[],
   *   wishes?: Record<string, any>}} draft
   */
  fill({ question, system = "", files = [], collection, reply, ...asked }) {
    this.options.fill(asked);
    this.text.value = question;
    this.system.value = system;
    this.systemBox.open = Boolean(system);
    this.files = files;
    if (collection && this.collections.some(({ name }) => name === collection)) this.picker.value = collection;
    if (reply) this.#segment(reply);
    this.#drawFiles();
    this.#draft();
    this.focus();
  }

  /** It has been asked: the draft is done with. */
  clear() {
    const asked = [this.text.value, ...recall("asked", []).filter((each) => each !== this.text.value)];
    if (this.text.value.trim()) keep("asked", asked.slice(0, REMEMBERED));
    this.text.value = "";
    this.files = [];
    this.options.fill({}); // what was asked for was asked for once
    this.past = -1;
    this.#drawFiles();
    this.#draft();
  }

  focus() {
    this.text.focus();
  }

  /** @param {Error | null} problem */
  tell(problem) {
    this.trouble.replaceChildren(...(problem ? [failure(problem)] : []));
  }

  #form() {
    this.chips = h("span", { class: "chips" });
    this.input = h("input", { type: "file", multiple: true, hidden: true, tabindex: "-1", "aria-hidden": "true" });
    const attach = h(
      "button",
      { type: "button", class: "button quiet small", on: { click: () => this.input.click() } },
      "Attach",
    );
    this.systemBox = h(
      "details",
      { class: "system-box", open: Boolean(this.system.value) },
      h("summary", {}, "System text"),
      h("label", { class: "hidden", for: "system" }, "System text"),
      this.system,
    );
    this.segment = h(
      "span",
      { class: "segment", role: "group", "aria-label": "What comes back" },
      this.#choice("all", "All answers"),
      this.#choice("merged", "Merged"),
    );
    this.send = h(
      "button",
      { type: "submit", class: "button primary" },
      "Ask the bench",
      h("kbd", {}, navigator.platform.startsWith("Mac") ? "⌘ ↵" : "Ctrl ↵"),
    );
    const copied = copyMenu(
      programs(() => ({ ...this.asking, bench: benchOf(this.asking) })),
      "button quiet small",
    );
    copied.classList.add("wide-only");
    const hide = () => {
      this.blind = !this.blind;
      keep("blind", this.blind || null);
      set(this.blindButton, { "aria-pressed": String(this.blind) });
      announce(this.blind ? "Names will be hidden until all is judged." : "Names will be shown.");
    };
    this.blindButton = h(
      "button",
      { type: "button", class: "button", "aria-pressed": String(this.blind), on: { click: hide } },
      "Blind",
    );
    return h(
      "form",
      { class: "card composer", "aria-label": "Question" },
      h("label", { class: "hidden", for: "question" }, "Question"),
      this.text,
      this.trouble,
      h("div", { class: "foot files" }, this.chips, attach, this.input, this.systemBox, this.options.root),
      h(
        "div",
        { class: "foot" },
        h("label", { class: "hidden", for: "collection" }, "Collection"),
        this.picker,
        this.segment,
        this.blindButton,
        copied,
        this.send,
      ),
    );
  }

  #choice(name, word) {
    return h(
      "button",
      { type: "button", "data-name": name, on: { click: () => (this.#segment(name), this.changed()) } },
      word,
    );
  }

  #segment(name) {
    this.reply = name === "merged" ? "merged" : "all";
    for (const button of this.segment.children)
      set(button, { "aria-pressed": String(button.dataset.name === this.reply) });
  }

  #listen() {
    const { root, text } = this;
    root.addEventListener("submit", (event) => (event.preventDefault(), this.#submit()));
    root.addEventListener("keydown", (event) => this.#key(event));
    text.addEventListener("input", () => ((this.past = -1), this.#draft()));
    this.system.addEventListener("input", () => this.#draft());
    this.picker.addEventListener("change", () => (this.#chosen(), this.#draft()));
    this.input.addEventListener("change", () => (this.#take([...this.input.files]), (this.input.value = "")));
    text.addEventListener("paste", (event) => this.#pasted(event));
    // Anywhere on the page: a file dropped beside the box would otherwise replace the page.
    document.addEventListener("dragover", (event) => this.#over(event, root.isConnected));
    document.addEventListener("dragleave", (event) => event.relatedTarget || this.#over(event, false));
    document.addEventListener("drop", (event) => this.#dropped(event));
  }

  #key(event) {
    const plain = !(event.ctrlKey || event.metaKey || event.altKey || event.shiftKey);
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      this.root.requestSubmit();
    } else if (event.target === this.text && plain && event.key === "ArrowUp") this.#past(event, 1);
    else if (event.target === this.text && plain && event.key === "ArrowDown" && this.past >= 0) this.#past(event, -1);
  }

  // Up in an empty composer brings the last question back; again, the one before it. What was typed is never replaced.
  #past(event, step) {
    const asked = recall("asked", []);
    if (this.past < 0 ? this.text.value : this.text.value !== asked[this.past]) return;
    const next = this.past + step;
    if (next >= asked.length) return;
    event.preventDefault();
    this.past = next;
    this.text.value = next < 0 ? "" : asked[next];
    this.#draft();
  }

  #over(event, over) {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    this.root.classList.toggle("over", over);
  }

  #dropped(event) {
    const files = [...event.dataTransfer.files];
    this.#over(event, false);
    if (files.length && this.root.isConnected) this.#take(files);
  }

  #pasted(event) {
    const files = [...event.clipboardData.files];
    if (!files.length) return;
    event.preventDefault();
    this.#take(files);
  }

  async #take(files) {
    this.tell(null);
    for (const file of files) {
      try {
        this.files.push(await read(file));
        announce(`${file.name} attached`);
      } catch (problem) {
        this.trouble.append(notice("warn", problem.message));
      }
    }
    this.#drawFiles();
    this.changed();
  }

  #drawFiles() {
    this.chips.replaceChildren(...this.files.map((file) => this.#chip(file)));
  }

  #chip(file) {
    const size = file.kind === "text" ? plural(file.lines, "line") : `${Math.ceil(file.size / 1024)} KB`;
    const drop = () => {
      this.files = this.files.filter((each) => each !== file);
      this.#drawFiles();
      this.changed();
      this.focus();
    };
    const picture = file.kind === "image" && h("img", { src: file.url, alt: "" });
    const remove = h(
      "button",
      { type: "button", class: "drop", "aria-label": `Remove ${file.name}`, on: { click: drop } },
      "×",
    );
    return h("span", { class: "chip" }, picture, file.name, h("span", { class: "faint" }, size), remove);
  }

  #chosen() {
    const reply = this.collections.find(({ name }) => name === this.picker.value)?.reply;
    if (reply) this.#segment(reply);
  }

  #draft() {
    const { question, system, picker } = { question: this.text.value, system: this.system.value, picker: this.picker };
    keep("draft", { question, system, collection: picker.value, ...this.options.value });
    this.changed();
  }

  #submit() {
    this.tell(null);
    if (!this.empty && this.picker.value) this.ask(this.asking);
    else if (this.empty)
      this.trouble.replaceChildren(notice("warn", "There is no question yet.", "Write one above, or attach a file."));
    else
      this.trouble.replaceChildren(
        notice("warn", "There is no collection to ask.", h("span", {}, "Make one with: ", commandLine(MAKE))),
      );
  }
}

// What a program sends beside the messages: nothing, where nothing is asked for.
function benchOf({ wishes }) {
  return Object.keys(wishes).length ? wishes : undefined;
}
