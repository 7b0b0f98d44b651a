// What a question may ask for beside its words: who else sits, who does not, how long, how many, what it may cost.
import { h, set } from "../dom.js";

const NUMBERS = [
  ["deadline", "Seconds a seat may take", "300", { min: 1, max: 3600, step: "any" }],
  ["quorum", "Reply when so many have answered", "all", { min: 1, max: 64, step: 1 }],
  ["budget", "Most it may cost, in USD", "no limit", { min: 0, step: "any" }],
];

export class Options {
  /** @param {() => void} changed */
  constructor(changed) {
    this.changed = changed;
    this.lists = { invited: [], without: [] };
    this.fields = Object.fromEntries(NUMBERS.map(([name, , hint, bounds]) => [name, this.#number(name, hint, bounds)]));
    this.select = h("select", { id: "option-with", class: "field", on: { change: () => this.#chosen() } });
    this.chips = h("span", { class: "chips row wrap" });
    this.said = h("span", { class: "faint" });
    this.root = h(
      "details",
      { class: "system-box options" },
      h("summary", {}, "Options", this.said),
      h(
        "div",
        { class: "option-fields" },
        h("div", {}, h("label", { for: "option-with" }, "Also seat"), this.select),
        NUMBERS.map(([name, label]) => h("div", {}, h("label", { for: `option-${name}` }, label), this.fields[name])),
        this.chips,
      ),
    );
    this.offer([]);
  }

  /** @returns {{invited: string[], wishes: Record<string, any>}} what goes with the request; empty where nothing is asked for */
  get value() {
    const numbers = NUMBERS.map(([name]) => [name, this.fields[name].valueAsNumber]).filter(([, n]) =>
      Number.isFinite(n),
    );
    const { invited, without } = this.lists;
    return { invited, wishes: { ...Object.fromEntries(numbers), ...(without.length && { without }) } };
  }

  /** @param {{invited?: string[], wishes?: Record<string, any>}} value */
  fill({ invited = [], wishes = {} }) {
    this.lists = { invited: [...invited], without: [...(wishes.without ?? [])] };
    for (const [name] of NUMBERS) this.fields[name].value = wishes[name] ?? "";
    this.#draw();
  }

  /** Who could be seated beside the members. @param {string[]} aliases */
  offer(aliases) {
    const free = aliases.filter((alias) => !this.lists.invited.includes(alias));
    this.select.replaceChildren(
      h("option", { value: "" }, "nobody else"),
      ...free.map((alias) => h("option", { value: alias }, alias)),
    );
    this.all = aliases;
  }

  /** Leave a model out this time. @param {string} alias */
  leaveOut(alias) {
    if (!this.lists.without.includes(alias)) this.lists.without.push(alias);
    this.lists.invited = this.lists.invited.filter((each) => each !== alias);
    this.root.open = true;
    this.#draw();
    this.changed();
  }

  #chosen() {
    const alias = this.select.value;
    if (!alias) return;
    this.lists.invited.push(alias);
    this.lists.without = this.lists.without.filter((each) => each !== alias);
    this.#draw();
    this.changed();
  }

  #draw() {
    this.offer(this.all);
    const chip = (list, alias, words) => {
      const drop = () => {
        this.lists[list] = this.lists[list].filter((each) => each !== alias);
        this.#draw();
        this.changed();
        this.select.focus();
      };
      const remove = { type: "button", class: "drop", "aria-label": `Not ${words} ${alias}`, on: { click: drop } };
      return h("span", { class: "chip" }, `${words} ${alias}`, h("button", remove, "×"));
    };
    this.chips.replaceChildren(
      ...this.lists.invited.map((alias) => chip("invited", alias, "with")),
      ...this.lists.without.map((alias) => chip("without", alias, "without")),
    );
    this.#count();
  }

  #count() {
    const { invited, wishes } = this.value;
    const n = invited.length + this.lists.without.length + NUMBERS.filter(([name]) => name in wishes).length;
    this.said.textContent = n ? `\u00a0(${n})` : "";
    set(this.said, { class: n ? null : "faint" });
  }

  #number(name, hint, bounds) {
    const input = () => (this.#count(), this.changed());
    return h("input", {
      type: "number",
      id: `option-${name}`,
      class: "field",
      placeholder: hint,
      inputmode: "decimal",
      ...bounds,
      on: { input },
    });
  }
}
