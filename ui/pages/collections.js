// Collections: named panels, a card each, and an editor that says who would sit now.
import { get, post } from "../api.js";
import { Editor } from "../collections/editor.js";
import { announce, h } from "../dom.js";
import { confirm } from "../form.js";
import { shortcut } from "../keys.js";
import { Loading, empty } from "../loading.js";
import { failure, notice } from "../notice.js";
import { bench, meet } from "../seats.js";
import { pairs, walk } from "../table.js";
import { plural } from "../words.js";

export class Page {
  /** @param {HTMLElement} root @param {any} app */
  constructor(root, app) {
    Object.assign(this, { root, app, query: new URLSearchParams(), said: null, editor: null });
    this.cards = h("div", { class: "stack" });
    this.side = h("div", { class: "stack" });
    this.list = new Loading(this.cards);
    this.panes = h("div", { class: "drawered" }, this.cards, this.side);
    this.words = h("input", {
      class: "field grow",
      type: "search",
      placeholder: "Filter collections",
      "aria-label": "Filter collections",
      on: { input: () => this.app.go(this.#address({ q: this.words.value.trim() }), { replace: true }) },
    });
    const fresh = h("a", { class: "button primary end", href: "/collections?new=", "data-go": true }, "New collection");
    const how = h(
      "span",
      { class: "faint wide-only" },
      "A caller asks for ",
      h("code", {}, "bench/name"),
      ", an agent for ",
      h("code", {}, "bench/name:route"),
    );
    this.bar = h("div", { class: "filters" }, this.words, how, fresh);
    this.#keys();
  }

  /** @param {URLSearchParams} query */
  show(query) {
    this.query = query;
    const name = query.get("collection");
    const fresh = query.get("new") !== null;
    this.app.title(fresh ? ["Collections", "New"] : name ? ["Collections", name] : ["Collections"]);
    this.panes.classList.toggle("open", fresh || Boolean(name));
    if (document.activeElement !== this.words) this.words.value = query.get("q") ?? "";
    this.root.replaceChildren(this.bar, this.panes);
    if (this.said) this.#fill();
    else this.#again();
  }

  hide() {
    this.list.stop();
    this.editor?.stop();
    this.said = null;
    this.editor = null;
  }

  async #again() {
    this.said = null;
    const models = get("/api/models").catch(() => ({ models: [] })); // without them the seats have no colours
    const ids = new Map((await models).models.map(({ alias, model_id: id }) => [alias, id]));
    await this.list.show("/api/collections", ({ collections, problems }) => {
      this.said = { collections, problems, ids };
      for (const { members } of collections) meet(members.map(({ alias }) => ids.get(alias) ?? alias));
      return this.#rows();
    });
    if (this.said) this.#edit();
  }

  #fill() {
    this.cards.replaceChildren(...this.#rows());
    this.#edit();
  }

  #rows() {
    const { collections, problems = [] } = this.said;
    const words = (this.query.get("q") ?? "").toLowerCase().split(/\s+/).filter(Boolean);
    const fits = ({ name, description, members, tags }) =>
      words.every((word) =>
        [name, description, ...tags, ...members.map(({ alias }) => alias)].join(" ").toLowerCase().includes(word),
      );
    const shown = collections.filter(fits);
    const wrong = problems.map((each) => notice("bad", each));
    const none = collections.length
      ? empty(
          "No collection fits.",
          "No name, member or tag has these words.",
          h("a", { class: "button", href: "/collections", "data-go": true }, "Show all collections"),
        )
      : empty(
          "No collections yet.",
          "A collection is a panel with a name: callers ask for it as a model.",
          h("a", { class: "button primary", href: "/collections?new=", "data-go": true }, "New collection"),
        );
    return [
      ...wrong,
      shown.length
        ? h(
            "ul",
            { class: "cards" },
            shown.map((each) => this.#card(each)),
          )
        : none,
    ];
  }

  #card(collection) {
    const { name, members, explorers, description, tags, reply, shape, shadow } = collection;
    const sitting = [
      ...members.map(({ alias, present }) => ({
        alias,
        id: this.said.ids.get(alias),
        role: present ? "member" : "off",
      })),
      ...Array.from({ length: explorers }, () => ({ alias: "an explorer", open: true, role: "explorer" })),
    ];
    const open = h("a", { href: this.#address({ collection: name }), "data-go": true, class: "open" }, `bench/${name}`);
    const gone = members.filter(({ present }) => !present).map(({ alias }) => alias);
    return h(
      "li",
      { class: "card", "aria-current": name === this.query.get("collection") ? "true" : null },
      h(
        "header",
        {},
        h("h2", {}, open),
        shape && h("span", { class: "chip" }, shape),
        tags.filter((tag) => tag !== shape).map((tag) => h("span", { class: "chip" }, tag)),
      ),
      h(
        "div",
        { class: "pad stack" },
        description && h("p", {}, description),
        members.length
          ? bench(sitting, { mini: true, label: `Seats of ${name}` })
          : h("p", { class: "faint" }, "Nobody sits here yet."),
        pairs([
          [
            "Seats",
            `${plural(members.length, "member")}, ${explorers ? plural(explorers, "explorer") : "no explorer"}`,
          ],
          ["Members", members.map(({ alias }) => alias).join(", ") || "none"],
          gone.length > 0 && ["Not there", `${gone.join(", ")}: not on the bench`],
          [
            "Replies",
            { all: "every answer", merged: "one merged answer", route: "one member's answer" }[reply] ?? reply,
          ],
          shadow > 0 && ["Shadows", `${Math.round(shadow * 100)} % of turns`],
        ]),
        h(
          "div",
          { class: "row wrap" },
          h(
            "a",
            { class: "button small", href: `/?collection=${encodeURIComponent(name)}`, "data-go": true },
            "Ask it",
          ),
          h(
            "a",
            { class: "button small quiet", href: `/panels?collection=${encodeURIComponent(name)}`, "data-go": true },
            "Its panels",
          ),
        ),
      ),
    );
  }

  #address(changes) {
    const query = new URLSearchParams(this.query);
    query.delete("new");
    for (const [name, value] of Object.entries(changes)) value ? query.set(name, value) : query.delete(name);
    return `/collections${query.size ? `?${query}` : ""}`;
  }

  async #edit() {
    const name = this.query.get("collection");
    const fresh = this.query.get("new") !== null;
    this.editor?.stop();
    this.editor = null;
    if (!fresh && !name) return this.side.replaceChildren();
    const found = this.said.collections.find((each) => each.name === name);
    if (!fresh && !found)
      return this.side.replaceChildren(notice("warn", `There is no collection ${name}.`, "It may have been deleted."));
    try {
      const { models } = await get("/api/models");
      this.editor = new Editor(found ?? null, models, {
        close: this.#address({ collection: "" }),
        saved: (saved) => (this.#again(), this.app.go(this.#address({ collection: saved }), { replace: true })),
        remove: (each) => this.#remove(each),
      });
      this.side.replaceChildren(this.editor.root);
    } catch (problem) {
      this.side.replaceChildren(failure(problem));
    }
  }

  async #remove(name) {
    const words = `Calls for bench/${name} are refused at once. Its panels and verdicts stay.`;
    if (!(await confirm({ title: `Delete bench/${name}?`, words, action: "Delete" }))) return;
    try {
      await post("/api/collection/remove", { name });
      announce(`${name} is deleted`);
      this.said = null;
      this.app.go(this.#address({ collection: "" }));
    } catch (problem) {
      this.side.prepend(failure(problem));
    }
  }

  #keys() {
    const list = { page: "collections", group: "List" };
    const close = () =>
      this.panes.classList.contains("open") ? this.app.go(this.#address({ collection: "" })) : false;
    shortcut(
      { keys: ["/"], label: "Filter", ...list, run: () => this.words.focus() },
      { keys: ["j"], label: "Next collection", ...list, run: () => walk(this.cards, 1) },
      { keys: ["k"], label: "Collection before", ...list, run: () => walk(this.cards, -1) },
      { keys: ["Escape"], show: ["Esc"], label: "Close the editor", ...list, run: close },
    );
  }
}
