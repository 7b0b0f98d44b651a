// One collection, to make or to change: its members in order, what it does, who would sit now, how to ask it.
import { post } from "../api.js";
import { announce, copyButton, h, set } from "../dom.js";
import { field, form, input, numberOf, select } from "../form.js";
import { button } from "../loading.js";
import { failure } from "../notice.js";
import { bench, meet, seat as seatName } from "../seats.js";
import { isJudge } from "../who.js";
import { share } from "../words.js";
import { SNIPPETS } from "./snippets.js";

const SHAPES = ["", "general", "design", "prose", "review", "code", "enumeration", "quick", "vision"];
const REPLIES = [
  ["all", "every answer"],
  ["merged", "one merged answer"],
  ["route", "one member's answer"],
];

const titleOf = (collection) => (collection ? `${isJudge() ? "" : "Edit "}bench/${collection.name}` : "New collection");

export class Editor {
  /**
   * @param {any | null} collection null: a new one
   * @param {any[]} models
   * @param {{close: string, saved: (name: string) => void, remove: (name: string) => void}} how
   */
  constructor(collection, models, how) {
    this.models = new Map(models.map((model) => [model.alias, model]));
    this.before = collection;
    this.how = how;
    this.members = (collection?.members ?? []).map(({ alias }) => alias);
    this.list = h("ol", { class: "list members" });
    this.more = select("more", [], "", {
      "aria-label": "Add a member",
      on: { change: () => this.#add(this.more.value) },
    });
    this.now = h("div", { class: "stack" });
    this.root = h(
      "section",
      { class: "card drawer", "aria-label": titleOf(collection) },
      h(
        "header",
        {},
        h("h2", {}, titleOf(collection)),
        h("a", { class: "button quiet small end", href: how.close, "data-go": true }, "Close", h("kbd", {}, "Esc")),
      ),
      h(
        "div",
        { class: "pad stack" },
        this.#form(),
        collection && this.#preview(),
        collection && uses(collection.name),
      ),
    );
    this.#draw();
    if (collection) this.#who();
  }

  stop() {
    this.look?.abort();
  }

  #form() {
    const {
      name = "",
      description = "",
      explorers = 1,
      reply = "all",
      merger = "",
      shape = "",
      deadline = "",
      shadow = 0,
    } = this.before ?? {};
    const shapes = [...new Set([...SHAPES, shape ?? ""])].map((each) => [each, each || "seen in each question"]);
    const mergers = [
      ["", "chosen by record"],
      ...[...this.models.values()]
        .filter(({ role }) => !["image", "decision"].includes(role))
        .map(({ alias }) => [alias, alias]),
    ];
    if (merger && !this.models.has(merger)) mergers.push([merger, merger]);
    const gone = this.before && button("Delete…", () => this.how.remove(name), "quiet danger-text end");
    return form({
      label: "Collection",
      action: this.before ? "Save" : "Make it",
      fields: [
        !this.before && field("Name", input("name"), "Callers ask for bench/ and this name."),
        field("Purpose", input("description", description, { maxlength: 300 })),
        h("div", { class: "form-field" }, h("span", { class: "label" }, "Members, in order"), this.list, this.more),
        h(
          "div",
          { class: "two" },
          field("Explorers", input("explorers", explorers, { inputmode: "numeric" })),
          field("Replies with", select("reply", REPLIES, reply)),
        ),
        h(
          "details",
          { class: "edit" },
          h("summary", {}, "More"),
          h(
            "div",
            { class: "form" },
            h(
              "div",
              { class: "two" },
              field("Kind of task", select("shape", shapes, shape ?? "")),
              field("Merger", select("merger", mergers, merger ?? "")),
            ),
            h(
              "div",
              { class: "two" },
              field(
                "Seconds a seat may take",
                input("deadline", deadline, { inputmode: "numeric", placeholder: "as in Settings" }),
              ),
              field(
                "Shadows, share of turns",
                input("shadow", shadow, { inputmode: "decimal" }),
                "0 to 1; each is one more call",
              ),
            ),
          ),
        ),
      ],
      send: (node) => this.#save(node),
      beside: gone ? [gone] : [],
    });
  }

  async #save({ elements }) {
    const text = (name) => elements.namedItem(name).value.trim();
    const name = this.before?.name ?? text("name");
    const body = {
      name,
      members: this.members,
      description: text("description"),
      explorers: numberOf(text("explorers")) ?? 0,
      reply: text("reply"),
      shape: text("shape") || null,
      merger: text("merger") || null,
      deadline: numberOf(text("deadline")),
      shadow: numberOf(text("shadow")) ?? 0,
    };
    await post("/api/collection", body);
    announce(`bench/${name}: saved`);
    this.how.saved(name);
  }

  #add(alias) {
    if (!alias) return;
    this.members.push(alias);
    this.#draw();
    announce(`${alias} is a member, not saved yet`);
  }

  #move(i, by) {
    const [alias] = this.members.splice(i, 1);
    if (by) this.members.splice(i + by, 0, alias);
    this.#draw();
    const row = this.list.children[by ? i + by : Math.min(i, this.members.length - 1)];
    (
      row?.querySelector(by > 0 ? ".down:not(:disabled)" : ".up:not(:disabled)") ??
      row?.querySelector("button:not(:disabled)") ??
      this.more
    ).focus();
  }

  #draw() {
    const last = this.members.length - 1;
    const rows = this.members.map((alias, i) => {
      const model = this.models.get(alias);
      const said = model ? share({ ...model.record, range: null }) : "not on the bench";
      return h(
        "li",
        {},
        seatName({ alias, id: model?.model_id, role: model ? "member" : "off" }),
        h("span", { class: "faint" }, said),
        h(
          "span",
          { class: "row end" },
          button("↑", () => this.#move(i, -1), "quiet tiny up", { "aria-label": `${alias} up`, disabled: i === 0 }),
          button("↓", () => this.#move(i, 1), "quiet tiny down", {
            "aria-label": `${alias} down`,
            disabled: i === last,
          }),
          button("Remove", () => this.#move(i, 0), "quiet tiny", { "aria-label": `Remove ${alias}` }),
        ),
      );
    });
    this.list.replaceChildren(...rows);
    set(this.list, { hidden: !rows.length });
    const free = [...this.models.values()].filter(
      ({ alias, role }) => !this.members.includes(alias) && !["image", "decision"].includes(role),
    );
    this.more.replaceChildren(
      h("option", { value: "" }, free.length ? "Add a member" : "Everybody is a member"),
      ...free.map(({ alias }) => h("option", { value: alias }, alias)),
    );
  }

  #preview = () => h("div", {}, h("h3", {}, "Would sit now"), this.now);

  async #who() {
    const look = (this.look = new AbortController());
    try {
      const asked = { model: `bench/${this.before.name}`, messages: [{ role: "user", content: "Who would sit?" }] };
      const { seats, skipped = [] } = await post("/api/seats", asked, look.signal);
      meet(seats.map((each) => each.model_id));
      const sitting = seats.map((each) => ({ alias: each.alias, id: each.model_id, role: each.seat }));
      const off = skipped.map(({ alias, why }) =>
        h("li", {}, seatName({ alias, id: this.models.get(alias)?.model_id, role: "off" }), h("span", {}, why)),
      );
      this.now.replaceChildren(
        bench(sitting, { label: "Would sit now" }),
        off.length ? h("ul", { class: "left-out" }, off) : "",
      );
    } catch (problem) {
      if (problem.name !== "AbortError") this.now.replaceChildren(failure(problem));
    }
  }
}

function uses(name) {
  const names = Object.keys(SNIPPETS);
  const code = h("code", {});
  const text = () =>
    SNIPPETS[names.find((_, i) => tabs.children[i].getAttribute("aria-pressed") === "true")](name, location.origin);
  const choose = (chosen) => {
    [...tabs.children].forEach((tab, i) => set(tab, { "aria-pressed": String(names[i] === chosen) }));
    code.textContent = text();
  };
  const tabs = h(
    "span",
    { class: "segment", role: "group", "aria-label": "Use it from" },
    names.map((each) => h("button", { type: "button", on: { click: () => choose(each) } }, each)),
  );
  choose(names[0]);
  return h(
    "div",
    { class: "form-field" },
    h("h3", {}, "Use it from"),
    h("div", { class: "row wrap" }, tabs, copyButton("Copy", text, { class: "button quiet small" })),
    h("pre", { class: "asked-text", tabindex: "0" }, code),
  );
}
