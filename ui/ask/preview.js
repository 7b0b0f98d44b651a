// Who will sit, before anything is sent: asked of the server whenever the question has rested for a moment.
import { post } from "../api.js";
import { h } from "../dom.js";
import { failure } from "../notice.js";
import { bench, meet } from "../seats.js";
import { about, money, plural } from "../words.js";

const REST = 350; // ms without typing
const PIXEL = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="; // stands for a picture: that it needs sight is all that matters here
const MOST_OFF = 5;

export class Preview {
  /** @param {() => import("./composer.js").Asking} asking */
  constructor(asking) {
    this.asking = asking;
    this.shape = h("span", { class: "faint" });
    this.body = h("div", { class: "pad stack" }, h("p", { class: "faint" }, "Looking…"));
    this.root = h(
      "section",
      { class: "card who-sits", "aria-labelledby": "who-sits" },
      h("header", {}, h("h2", { id: "who-sits" }, "Who will sit"), this.shape),
      this.body,
    );
    this.timer = 0;
  }

  /** The question changed. @param {number} [rest] ms to wait for more */
  soon(rest = REST) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#look(), rest);
  }

  async #look() {
    const { collection, reply, messages } = this.asking();
    this.stale?.abort();
    if (!collection) return;
    this.stale = new AbortController();
    this.asked = messages.some(({ role, content }) => role === "user" && content.length);
    const words = this.asked ? messages : [{ role: "user", content: "Who would sit?" }];
    try {
      const body = { model: `bench/${collection}`, bench: { reply }, messages: words.map(lighter) };
      this.#draw(await post("/api/seats", body, this.stale.signal));
    } catch (problem) {
      if (problem.name !== "AbortError") this.body.replaceChildren(failure(problem));
    }
  }

  #draw({ seats, skipped = [], estimate, shape }) {
    meet(seats.map((seat) => seat.model_id ?? seat.alias));
    this.shape.textContent = shape ? `shape: ${shape}` : "";
    const sitting = seats.map((seat) => ({
      alias: seat.alias,
      id: seat.model_id,
      role: seat.seat,
      lines: linesOf(seat, estimate),
    }));
    const off = skipped
      .slice(0, MOST_OFF)
      .map(({ alias, why }) => ({ alias, role: "off", lines: [`stays off: ${why}`] }));
    const rest = skipped.length - off.length;
    this.body.replaceChildren(
      seats.length
        ? bench([...sitting, ...off], { label: "Who will sit" })
        : h("p", {}, "Nobody can sit for this question."),
      h(
        "p",
        { class: "estimates" },
        this.asked && estimates(seats, estimate),
        rest > 0 && h("span", {}, `${rest} more stay off`),
      ),
    );
  }
}

function lighter(message) {
  if (!Array.isArray(message.content)) return message;
  const content = message.content.map((part) =>
    part.type === "image_url" ? { ...part, image_url: { url: PIXEL } } : part,
  );
  return { ...message, content };
}

function linesOf(seat, estimate) {
  const time = typeof seat.typical_s === "number" ? `, ${about(seat.typical_s)}` : "";
  return [`${seat.seat}${time}`, seat.builtin ? "program, no cost" : priceOf(seat, estimate)];
}

function priceOf({ price }, estimate) {
  const cost = reading(price, estimate);
  if (cost === null) return h("span", { class: "unknown", title: "No price is known for this model" }, "cost unknown");
  return cost === 0 && !price.output ? "free" : `${little(cost)} to read it`;
}

// What reading the question costs is known before; what writing the answer will cost is not, so it is not promised.
const reading = (price, estimate) =>
  typeof price?.input === "number" ? (price.input * (estimate?.tokens ?? 0)) / 1e6 : null;

const little = (cost) => (cost < 0.001 ? "under $0.001" : `about ${money(cost)}`);

function estimates(seats, estimate) {
  const said = [];
  if (typeof estimate?.tokens === "number")
    said.push(["Input ", h("b", {}, `about ${plural(estimate.tokens, "token")}`), " a seat"]);
  const paid = seats.filter((seat) => !seat.builtin);
  const costs = paid.map((seat) => reading(seat.price, estimate));
  const unknown = costs.filter((cost) => cost === null).length;
  const known = costs.filter((cost) => cost !== null);
  if (known.length)
    said.push([
      "Reading it costs ",
      h("b", {}, little(known.reduce((a, b) => a + b, 0))),
      unknown ? ` and ${plural(unknown, "seat")} of unknown price` : "",
    ]);
  else if (unknown) said.push(`${plural(unknown, "seat")} of unknown price`);
  const slowest = seats
    .filter((seat) => typeof seat.typical_s === "number")
    .sort((a, b) => b.typical_s - a.typical_s)[0];
  if (slowest) said.push(["Wait ", h("b", {}, about(slowest.typical_s)), `, set by ${slowest.alias}`]);
  return said.map((each) => h("span", {}, each));
}
