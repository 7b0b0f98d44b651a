// The head of a panel: what was asked, who sits, how far it is, and how to leave.
import { copyButton, h, say, set } from "../dom.js";
import { copyMenu, exportMenu } from "../menu.js";
import { Prose } from "../prose.js";
import { bench } from "../seats.js";
import { clock, plural, seconds, sum } from "../words.js";
import { stateOf } from "./column.js";
import { programs } from "./code.js";
import { finished, partsOf, tookOf } from "./panel.js";

export class Question {
  /**
   * @param {import("./panel.js").Panel} panel
   * @param {import("./board.js").Hooks} hooks
   */
  constructor(panel, hooks) {
    this.panel = panel;
    this.bench = h("div", { class: "seats wide-only" });
    this.off = h("span", { class: "faint off" });
    this.progress = h("span", { class: "progress" });
    this.stop = h(
      "button",
      { type: "button", class: "button small", on: { click: () => hooks.stop() } },
      "Stop",
      h("kbd", {}, "Esc"),
    );
    this.again = h("button", { type: "button", class: "button small", on: { click: hooks.again } }, "Ask again");
    const fresh = h("a", { class: "button small", href: "?", "data-go": true }, "New question");
    this.export = h("span", { hidden: true });
    const side = h("div", { class: "side" }, this.progress, this.stop, this.export, this.again, fresh);
    this.title = h("h2", { tabindex: "-1" }, panel.task);
    this.cue = h("span", { class: "cue" });
    this.more = h(
      "details",
      { class: "asked", on: { toggle: () => this.#cue() } },
      h("summary", {}, this.title, panel.messages && chips(panel.messages), this.cue),
    );
    this.more.addEventListener("toggle", () => this.#open(), { once: true });
    this.#cue();
    this.root = h(
      "section",
      { class: "card question", "aria-label": "Question" },
      this.more,
      this.bench,
      this.off,
      side,
    );
    set(this.again, { hidden: !panel.messages });
  }

  /** @param {number} now ms */
  draw(now) {
    const { panel } = this;
    const live = ["asking", "answering"].includes(panel.state);
    this.stop.hidden = !live;
    this.again.hidden = live || !panel.messages;
    this.#export(live);
    say(this.progress, progressOf(panel, now));
    this.#seats();
  }

  #seats() {
    const { seats, skipped } = this.panel;
    const look = seats.map((seat) => seat.call + (seat.letter ?? "") + (stateOf(seat)[0] === "failed")).join();
    if (this.bench.dataset.look === look) return;
    this.bench.dataset.look = look;
    const off = this.panel.blind ? [] : skipped.map(({ alias }) => ({ alias, role: "off" }));
    const role = (seat) => (this.panel.blind ? "member" : seat.role);
    const sitting = seats.map((seat) => ({ ...seat, role: role(seat), failed: stateOf(seat)[0] === "failed" }));
    this.bench.replaceChildren(bench([...sitting, ...off.slice(0, 4)], { mini: true, label: "Who sits" }));
    const stay = skipped.length === 1 ? "1 stays off" : skipped.length ? `${skipped.length} stay off` : "";
    this.off.textContent = this.panel.blind ? "names and prices return when you have judged" : stay;
  }

  // What is recorded can be taken along: once the panel is done, or was opened from its record.
  #export(live) {
    const { id, state } = this.panel;
    this.export.hidden = live || !id || state === "failed";
    if (!this.export.hidden && !this.export.firstChild) this.export.append(exportMenu(id));
  }

  #cue() {
    const { messages, task } = this.panel;
    const longer = messages && partsOf(messages).question.trim() !== task;
    say(this.cue, this.more.open ? "Fold" : longer ? "Whole question" : "Details");
  }

  #open() {
    const { messages, id, collection, shape, skipped } = this.panel;
    const facts = h(
      "p",
      { class: "faint" },
      [collection && `bench/${collection}`, shape && `shape ${shape}`].filter(Boolean).join(", "),
      id && [
        " · ",
        h("code", {}, id),
        copyButton("Copy panel id", () => id, { bare: true, class: "button quiet tiny" }),
      ],
    );
    const off = skipped.length > 0 && !this.panel.blind && reasons(skipped);
    if (!messages)
      return this.more.append(
        h(
          "div",
          { class: "asked-body" },
          facts,
          off,
          h("p", { class: "faint" }, "The text of this question is not kept."),
        ),
      );
    facts.append(
      copyMenu(
        programs(() => this.panel),
        "button quiet tiny",
      ),
    );
    const { system, question, images } = partsOf(messages);
    const text = h("div", { class: "prose" });
    new Prose(text).show(question);
    const pictures = images.map((src, i) => picture(src, `Attached picture ${i + 1}`));
    this.more.append(
      h(
        "div",
        { class: "asked-body" },
        system && h("div", { class: "system" }, h("h3", {}, "System text"), h("p", {}, system)),
        text,
        pictures,
        facts,
        off,
      ),
    );
  }
}

function chips(messages) {
  const { files, images } = partsOf(messages);
  const n = files.length + images.length;
  return n > 0 && h("span", { class: "chip" }, plural(n, "file"));
}

// A record keeps that there was a picture, not its bytes; and no picture is ever fetched from elsewhere.
const picture = (src, name) =>
  /^data:image\/.+,/.test(src) ? h("img", { src, alt: name }) : h("p", { class: "chip" }, `${name}, not kept`);

const reasons = (skipped) =>
  h(
    "ul",
    { class: "off-list" },
    skipped.map(({ alias, why }) => h("li", {}, h("b", {}, alias), ` stays off: ${why}`)),
  );

function progressOf(panel, now) {
  const { state, seats, began, problem, blind } = panel;
  const ended = seats.filter((seat) => finished(seat) && seat.status !== "pending");
  const costs = blind ? [] : ended.filter((seat) => seat.status !== "skipped").map((seat) => seat.cost);
  const of = seats.length ? `${ended.length} of ${seats.length} done` : "";
  if (state === "asking") return `${clock((now - began) / 1000)}, asking`;
  if (state === "answering") return [clock((now - began) / 1000), of, sum(costs)].filter(Boolean).join(", ");
  if (state === "stopped") return ["stopped waiting", of].filter(Boolean).join(", ");
  if (problem && !seats.length) return "not answered";
  const gave = seats.filter((seat) => ["ok", "cut"].includes(seat.status)).length;
  return [gave > 0 && !blind && seconds(tookOf(panel)), `${gave} of ${seats.length} answered`, sum(costs)]
    .filter(Boolean)
    .join(", ");
}
