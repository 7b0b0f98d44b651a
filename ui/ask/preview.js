// Who will sit, before anything is sent: asked of the server whenever the question has rested for a moment.
import { post } from "../api.js";
import { h } from "../dom.js";
import { failure, notice } from "../notice.js";
import { bench, meet } from "../seats.js";
import { about, hour, money, plural } from "../words.js";

const REST = 350; // ms without typing
const PIXEL = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="; // stands for a picture: that it needs sight is all that matters here
const MOST_OFF = 5;

export class Preview {
  /**
   * @param {() => import("./composer.js").Asking} asking
   * @param {(alias: string) => void} leaveOut keep this one for later
   */
  constructor(asking, leaveOut) {
    this.asking = asking;
    this.leaveOut = leaveOut;
    this.shape = h("span", { class: "faint" });
    this.change = h("a", { class: "button quiet small end", href: "/collections", "data-go": true }, "Change seats");
    this.body = h("div", { class: "pad stack" }, h("p", { class: "faint" }, "Looking…"));
    this.root = h(
      "section",
      { class: "card who-sits", "aria-labelledby": "who-sits" },
      h("header", {}, h("h2", { id: "who-sits" }, "Who will sit"), this.shape, this.change),
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
    const { collection, reply, messages, invited = [], wishes = {} } = this.asking();
    this.stale?.abort();
    if (!collection) return;
    this.change.href = `/collections?collection=${encodeURIComponent(collection)}`;
    this.stale = new AbortController();
    this.asked = messages.some(({ role, content }) => role === "user" && content.length);
    const words = this.asked ? messages : [{ role: "user", content: "Who would sit?" }];
    try {
      const guests = invited.length ? { with: invited } : {};
      const body = {
        model: `bench/${collection}`,
        ...guests,
        bench: { reply, ...wishes },
        messages: words.map(lighter),
      };
      this.#draw(await post("/api/seats", body, this.stale.signal));
    } catch (problem) {
      if (problem.name !== "AbortError") this.body.replaceChildren(failure(problem));
    }
  }

  #draw({ seats, skipped = [], estimate, shape, shape_by: by }) {
    meet(seats.map((seat) => seat.model_id ?? seat.alias));
    const why = by === "collection" ? ", set by the collection" : by === "images" ? ", for it shows pictures" : "";
    this.shape.textContent = shape ? `shape: ${shape}${why}` : "";
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
      this.#scarce(seats) ?? "",
    );
  }

  // At most one warning: of the limit of which least would be left.
  #scarce(seats) {
    const near = seats.filter(({ limit }) => limit).sort((a, b) => a.limit.after - b.limit.after)[0];
    if (!near) return null;
    const [cause, ...next] = scarcity(near);
    const keep = h(
      "button",
      { type: "button", class: "link", on: { click: () => this.leaveOut(near.alias) } },
      "Keep it for later",
    );
    const box = notice("warn", cause, ...next, seats.length > 1 && keep);
    box.removeAttribute("role"); // it changes while somebody types: it is read where it stands, not called out
    return box;
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
  const time = typeof seat.typical_s === "number" ? `, ${lasting(seat.typical_s)}` : "";
  return [`${seat.seat}${time}`, seat.builtin ? "program, no cost" : priceOf(seat, estimate), ...leftOf(seat)];
}

// What it usually costs; before anything is known of its length, what reading the question costs.
function priceOf({ price, cost }, estimate) {
  if (cost) return cost.high === 0 ? "free" : spread(cost);
  const reading = typeof price?.input === "number" ? (price.input * (estimate?.tokens ?? 0)) / 1e6 : null;
  if (reading === null || !price.output)
    return h("span", { class: "unknown", title: "No price is known for this model" }, "cost unknown");
  return `${little(reading)} to read it`;
}

const leftOf = ({ limit }) =>
  limit?.metric === "requests" && limit.limit ? [`${Math.max(0, limit.remaining)} of ${limit.limit} left`] : [];

const lasting = (s) => (s < 0.1 ? "under 0.1 s" : about(s));

const little = (cost) => (cost < 0.001 ? "under $0.001" : `about ${money(cost)}`);

function spread({ low, high }) {
  if (high < 0.001) return "under $0.001";
  const [from, to] = [money(low), money(high)];
  return from === to ? `about ${to}` : `${from}–${to.slice(1)}`;
}

const WINDOWS = { "at-once": "at once", "retry-after": "for now", unknown: "for now" };

/** @param {{alias: string, limit: any}} seat @returns {(string | Node)[]} cause, next step */
function scarcity({ alias, limit }) {
  const { connection, metric, window, after, reset_at: resets } = limit;
  const span = WINDOWS[window] ?? `of the ${window}`;
  const back = resets ? `It comes back at ${hour(resets)}. ` : "";
  const where = h("span", {}, "on ", h("b", {}, connection), ". ", back);
  if (metric === "requests") {
    if (after < 0) return [`${alias} has no call ${span} left`, where];
    return [
      after === 0 ? `${alias} uses its last call ${span}` : `${alias} will have ${plural(after, "call")} ${span} left`,
      where,
    ];
  }
  const now = WINDOWS[window] ?? `this ${window}`;
  return [
    after < 0 ? `This is more than ${alias} may still read ${now}` : `${alias} uses most of its tokens ${span}`,
    where,
  ];
}

function estimates(seats, estimate) {
  const said = [];
  if (typeof estimate?.tokens === "number")
    said.push(["Input ", h("b", {}, `about ${plural(estimate.tokens, "token")}`), " a seat"]);
  const { low, high, unknown } = estimate?.cost ?? { low: null, high: null, unknown: 0 };
  const gap = unknown ? `${plural(unknown, "seat")} of unknown cost` : "";
  if (high !== null && (high > 0 || !unknown))
    said.push(["Cost ", h("b", {}, high === 0 ? "nothing" : spread({ low, high })), gap && ` and ${gap}`]);
  else if (gap) said.push(h("span", { class: "unknown" }, gap));
  if (typeof estimate?.wait_s === "number") {
    const dark = seats.filter(({ typical_s: time }) => typeof time !== "number").length;
    const more = dark ? `; of ${plural(dark, "seat")} it is unknown` : "";
    const wait = h("b", {}, lasting(estimate.wait_s));
    said.push([dark ? "Wait at least " : "Wait ", wait, `, set by ${estimate.wait_by}${more}`]);
  } else if (seats.length) said.push("Wait unknown: none of them has answered yet");
  return said.map((each) => h("span", {}, each));
}
