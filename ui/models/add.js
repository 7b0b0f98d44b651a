// Models of an endpoint that could sit: its own list, filtered, chosen, added in one go.
import { get, post } from "../api.js";
import { announce, h, say, set } from "../dom.js";
import { field, input, select } from "../form.js";
import { button, empty } from "../loading.js";
import { failure } from "../notice.js";
import { plural } from "../words.js";

const SHOWN = 200; // rows that are drawn; the filter finds the rest

export class Adding {
  /** @param {any} app @param {() => void} added */
  constructor(app, added) {
    Object.assign(this, { app, added, chosen: new Map() });
    this.root = h("div", { class: "stack" });
  }

  stop() {
    this.look?.abort();
  }

  /** @param {string} name the endpoint; "" for the only one, or the reader's choice */
  async show(name) {
    this.stop();
    const look = (this.look = new AbortController());
    this.chosen.clear();
    try {
      const [{ endpoints }, { models }] = await Promise.all([
        get("/api/endpoints", look.signal),
        get("/api/models", look.signal),
      ]);
      const own = endpoints.filter(({ builtin }) => !builtin);
      this.taken = new Set(models.map(({ alias }) => alias));
      this.seated = new Set(models.map(({ model_id: id }) => id));
      if (!own.length) return this.root.replaceChildren(NOWHERE());
      this.endpoint = own.find((each) => each.name === name) ?? own.find((each) => each.default) ?? own[0];
      this.#frame(own);
      await this.#list(look.signal);
    } catch (problem) {
      if (problem.name !== "AbortError")
        this.root.replaceChildren(
          failure(
            problem,
            button("Try again", () => this.show(name), "small"),
          ),
        );
    }
  }

  #frame(own) {
    const choose = select(
      "endpoint",
      own.map((each) => [each.name, each.name]),
      this.endpoint.name,
      {
        on: { change: () => this.app.go(`/models?add=${encodeURIComponent(choose.value)}`) },
      },
    );
    this.words = input("q", "", { type: "search", placeholder: "Filter by name", on: { input: () => this.#draw() } });
    this.place = h("div", {}, h("p", { class: "faint pad" }, `Asking ${this.endpoint.name} what it serves…`));
    this.said = h("span", { class: "faint" });
    this.trouble = h("div", { class: "stack" });
    this.go = button("Add", () => this.#add(), "primary", { disabled: true });
    this.root.replaceChildren(
      h("div", { class: "two narrow-form" }, field("Endpoint", choose), field("Its models", this.words)),
      this.trouble,
      h("section", { class: "card", "aria-label": "Models that could be added" }, this.place),
      h(
        "div",
        { class: "judge-bar" },
        this.go,
        h("a", { class: "button quiet", href: "/models", "data-go": true }, "Back to models"),
        this.said,
      ),
    );
  }

  async #list(signal) {
    const { listing } = await post("/api/endpoint/test", { name: this.endpoint.name }, signal);
    this.models = listing.models;
    this.total = listing.total;
    if (!listing.models.length) this.#byHand(listing.note);
    else this.#draw();
  }

  // An endpoint that keeps no list: the reader types what it serves.
  #byHand(note) {
    const served = input("served");
    const put = button("Choose it", () => {
      if (!served.value.trim()) return;
      this.chosen.set(served.value.trim(), this.#name(served.value.trim()));
      this.models = [...this.chosen.keys()];
      this.#draw();
      this.#count();
    });
    this.place.replaceChildren(
      h("div", { class: "pad stack" }, h("p", {}, note), field("The model's name there", served), h("div", {}, put)),
    );
  }

  #draw() {
    const words = this.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fit = this.models.filter((id) => words.every((word) => id.toLowerCase().includes(word)));
    const rows = fit.slice(0, SHOWN).map((served) => this.#row(served));
    const more = fit.length > SHOWN || this.total > this.models.length;
    this.place.replaceChildren(
      fit.length
        ? h("ul", { class: "list choices" }, rows)
        : h("p", { class: "pad" }, "Nothing it serves has these words."),
      more ? h("p", { class: "pad faint" }, `${rows.length} of ${this.total} are shown. Filter to find the rest.`) : "",
    );
  }

  #row(served) {
    const there = this.seated.has(`${this.endpoint.name}:${served}`);
    const name = input("alias", this.chosen.get(served) ?? this.#name(served), {
      "aria-label": `Name for ${served}`,
      disabled: !this.chosen.has(served),
      on: { input: () => this.chosen.set(served, name.value.trim()) },
    });
    const box = h("input", {
      type: "checkbox",
      checked: this.chosen.has(served),
      disabled: there,
      on: {
        change: () => {
          box.checked ? this.chosen.set(served, name.value.trim()) : this.chosen.delete(served);
          name.disabled = !box.checked;
          this.#count();
        },
      },
    });
    return h(
      "li",
      {},
      h("label", { class: "check" }, box, h("span", {}, served)),
      there ? h("span", { class: "faint end" }, "on the bench") : h("span", { class: "end" }, name),
    );
  }

  // The last part of what it is called there, without what no alias may hold, and not a name that is taken.
  #name(served) {
    const plain =
      served
        .split("/")
        .at(-1)
        .replace(/[^A-Za-z0-9._-]+/g, "-")
        .replace(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, "") || "model";
    return this.taken.has(plain) ? `${plain}-${this.endpoint.name}` : plain;
  }

  #count() {
    const n = this.chosen.size;
    say(this.go, n ? `Add ${plural(n, "model")}` : "Add");
    set(this.go, { disabled: n === 0 });
  }

  async #add() {
    this.go.disabled = true;
    this.trouble.replaceChildren();
    let added = 0;
    for (const [served, alias] of this.chosen) {
      try {
        await post("/api/model/add", { alias, endpoint: this.endpoint.name, served });
        this.chosen.delete(served);
        this.seated.add(`${this.endpoint.name}:${served}`);
        this.taken.add(alias);
        added += 1;
      } catch (problem) {
        this.trouble.append(failure(problem));
      }
    }
    this.#count();
    this.added();
    if (added) announce(`${plural(added, "model")} added`);
    if (!this.chosen.size) this.app.go("/models");
    else this.#draw();
  }
}

const NOWHERE = () =>
  empty(
    "No endpoint yet.",
    "Models are served somewhere: by a provider, or by a runtime on this computer.",
    h("a", { class: "button primary", href: "/endpoints?add=", "data-go": true }, "Add an endpoint"),
  );
