// Questions asked before on this server, newest first. A link opens what came of each.
import { get } from "../api.js";
import { h } from "../dom.js";
import { failure } from "../notice.js";
import { when } from "../words.js";
import { idOf, titleIn, verdictOf } from "./panel.js";

const PAGE = 8;

export class Earlier {
  constructor() {
    this.list = h("ul", { class: "list" });
    this.more = h(
      "button",
      { type: "button", class: "button quiet small", hidden: true, on: { click: () => this.#add() } },
      "Show more",
    );
    this.foot = h("div", { class: "foot" }, this.more);
    this.root = h(
      "section",
      { class: "card", "aria-labelledby": "earlier", hidden: true },
      h(
        "header",
        {},
        h("h2", { id: "earlier" }, "Earlier on this computer"),
        h("a", { class: "end", href: "/panels", "data-go": true }, "All panels"),
      ),
      this.list,
      this.foot,
    );
  }

  /** @returns {Promise<boolean>} is there any? */
  async load() {
    this.next = null;
    try {
      const { panels, next } = await get(`/api/log?limit=${PAGE}`);
      this.list.replaceChildren(...panels.map(row));
      this.#tail(next);
      this.root.hidden = !panels.length;
      return panels.length > 0;
    } catch (problem) {
      this.root.hidden = problem.kind === "gone"; // the page says that once, above
      this.list.replaceChildren(h("li", {}, failure(problem)));
      return true;
    }
  }

  async #add() {
    try {
      const { panels, next } = await get(`/api/log?limit=${PAGE * 3}&before=${encodeURIComponent(this.next)}`);
      const first = panels.map(row);
      this.list.append(...first);
      first[0]?.querySelector("a").focus();
      this.#tail(next);
    } catch (problem) {
      this.list.append(h("li", {}, failure(problem)));
    }
  }

  #tail(next) {
    this.next = next ?? null;
    this.more.hidden = !next;
    this.foot.hidden = !next;
  }
}

function row(panel) {
  const seats = panel.seats ?? [];
  const gave = seats.filter(({ status, seat }) => seat !== "merger" && ["ok", "cut"].includes(status));
  const owed = gave.filter(({ verdict }) => typeof verdictOf(verdict)?.useful !== "boolean").length;
  const judged = !gave.length
    ? null
    : owed === 0
      ? "judged"
      : owed < gave.length
        ? h("b", {}, `${owed} to judge`)
        : "not judged yet";
  const facts = [
    when(panel.at),
    `bench/${panel.collection}`,
    gave.length ? `${gave.length} answered` : "none answered",
    judged,
  ].filter(Boolean);
  const link = h(
    "a",
    { href: `?panel=${encodeURIComponent(idOf(panel))}`, "data-go": true },
    titleIn(panel.task) || "A question whose text is not kept",
  );
  return h(
    "li",
    {},
    link,
    h(
      "span",
      { class: "faint" },
      facts.flatMap((fact, i) => [i ? ", " : "", fact]),
    ),
  );
}
