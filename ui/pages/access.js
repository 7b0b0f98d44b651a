// Keys and access: who can reach this server, which keys open the gateway, what may be spent, who is signed in and who is invited.
import { get } from "../api.js";
import { budgetDrawer, budgetTable } from "../access/budgets.js";
import { keyDrawer, newKey } from "../access/drawer.js";
import { keyTable, once } from "../access/list.js";
import { invited, inviteForm, refusals, signedIn } from "../access/people.js";
import { h } from "../dom.js";
import { shortcut } from "../keys.js";
import * as live from "../live.js";
import { button, empty } from "../loading.js";
import { failure, notice } from "../notice.js";
import { pairs, walk } from "../table.js";
import { isJudge } from "../who.js";

const SOON = 300; // ms for which waiting says nothing
const OFTEN = 1000; // ms between looks for what others change
const ABOUT = /^(key|budget|invitation|session) /;
const MONTH = "/api/usage?by=key&since=30d";

export class Page {
  /** @param {HTMLElement} root @param {any} app */
  constructor(root, app) {
    Object.assign(this, {
      root,
      app,
      query: new URLSearchParams(),
      said: null,
      made: null,
      link: null,
      form: "",
      secret: "",
    });
    this.place = h("div", { class: "stack" });
    this.side = h("div", { class: "stack" });
    this.panes = h("div", { class: "drawered" }, this.place, this.side);
    this.#keys();
    const told = live.throttled(() => this.look && !typing(this.root) && this.#again(), OFTEN);
    live.on("change", ({ what = "key " }) => ABOUT.test(what) && told());
  }

  /** @param {URLSearchParams} query  key, and model: what it would be asked; new, budget or invite: a form */
  show(query) {
    this.query = query;
    this.app.title(["Keys & access", ...this.#crumb()]);
    if (isJudge())
      return this.root.replaceChildren(
        notice("warn", "Keys and access are for admins.", "You are a judge: you read, and give verdicts."),
      );
    this.panes.classList.toggle("open", this.#opened());
    this.root.replaceChildren(this.panes);
    if (this.said) this.#fill();
    else this.#again();
  }

  hide() {
    this.look?.abort();
    this.look = null;
    // What was shown once is gone when the page is left.
    Object.assign(this, { said: null, made: null, link: null, form: "", secret: "" });
  }

  #opened = () => ["key", "new", "budget", "invite"].some((name) => this.query.has(name));

  #crumb() {
    if (this.query.has("new")) return ["New key"];
    if (this.query.has("invite")) return ["Invite"];
    if (this.query.has("budget")) return ["Budget"];
    return this.query.has("key") ? [this.query.get("key")] : [];
  }

  // Everything at once; what stands there stays until it is all there.
  async #again() {
    const look = (this.look = new AbortController());
    const slow = setTimeout(
      () => this.said || this.place.replaceChildren(h("p", { class: "faint" }, "Looking…")),
      SOON,
    );
    try {
      const [keys, beside] = await Promise.all([get("/api/keys", look.signal), this.#beside()]);
      if (this.look !== look) return;
      this.said = { ...keys, ...beside };
      this.#fill();
    } catch (problem) {
      if (problem.name === "AbortError" || this.look !== look) return;
      this.said = null;
      this.side.replaceChildren();
      this.place.replaceChildren(
        failure(
          problem,
          button("Try again", () => this.#again(), "small"),
        ),
      );
    } finally {
      clearTimeout(slow);
    }
  }

  async #beside() {
    const paths = ["/api/access", "/api/budgets", "/api/collections", MONTH, "/api/sessions", "/api/invitations"];
    const [access, budgets, collections, month, sessions, invitations] = await Promise.allSettled(
      paths.map((path) => get(path)),
    );
    const of = ({ value }, draw, otherwise = null) => (value ? draw(value) : otherwise);
    return {
      access: access.value ?? null,
      budgets: of(budgets, (said) => said.budgets, {}),
      collections: of(collections, (said) => said.collections.map(({ name }) => name), []),
      month: of(month, (said) => new Map(said.rows.map((row) => [row.name, row]))),
      sessions: of(sessions, (said) => said.sessions, []),
      refused: of(sessions, (said) => said.refused, []),
      invitations: of(invitations, (said) => said.invitations, []),
      failed: [access, budgets, collections, sessions, invitations].find(({ reason }) => reason)?.reason,
    };
  }

  #fill() {
    const back = [this.place, this.side].map(hold);
    this.place.replaceChildren(...this.#draw());
    this.side.replaceChildren(...[this.#drawer()].filter(Boolean));
    back.forEach((put) => put());
    this.#focus();
  }

  // A form that has just opened takes the focus; so does what is shown once, when it is new.
  #focus() {
    const opened = ["new", "budget", "invite"].find((name) => this.query.has(name)) ?? "";
    const secret = this.made?.key ?? this.link?.link ?? "";
    const fresh = secret !== this.secret && this.place.querySelector(".once .button");
    const first = opened !== this.form && this.side.querySelector(".form input:not([type=checkbox]), .form select");
    Object.assign(this, { secret, form: opened });
    (first || fresh || null)?.focus();
  }

  #draw() {
    const { problems = [], failed, access, sessions, invitations, refused } = this.said;
    const wrong = [...problems.map((each) => notice("bad", each)), failed && notice("warn", failed.message)].filter(
      Boolean,
    );
    const people = [
      access?.login && signedIn(sessions, () => this.#again()),
      access?.login &&
        invited(invitations, { again: () => this.#again(), made: this.link, inviting: this.query.has("invite") }),
      access?.login === false && h("section", { class: "card pad stack", "aria-label": "Signing in" }, ...open()),
      refusals(refused ?? []),
    ];
    return [
      access && reach(access),
      ...wrong,
      this.#gateway(),
      this.#money(),
      h("div", { class: "people-cards" }, people.filter(Boolean)),
    ].filter(Boolean);
  }

  #gateway() {
    const { keys, month, access } = this.said;
    const shown =
      this.made &&
      h("div", { class: "pad" }, once(this.made.name, this.made.key, "Shown once. Only its hash is kept.", "key"));
    const add =
      !this.query.has("new") &&
      h(
        "a",
        { class: `button small end ${this.#opened() ? "" : "primary"}`, href: "/keys?new=", "data-go": true },
        "New key",
      );
    const head = h(
      "header",
      {},
      h("h2", {}, "Gateway keys"),
      h("span", { class: "faint" }, "open the gateway, never this dashboard"),
      add,
    );
    if (!keys.length) {
      const who = access?.keys_required
        ? "Nobody may ask the gateway without one."
        : "Programs on this computer may ask without one.";
      const words = `${who} A key has its own scope, limits and budget, and its calls are counted under its name.`;
      return h("section", { class: "card", "aria-label": "Gateway keys" }, head, shown, empty("No keys yet.", words));
    }
    return h(
      "section",
      { class: "card holds-table", "aria-label": "Gateway keys" },
      head,
      shown,
      keyTable(keys, { chosen: this.query.get("key"), month }),
    );
  }

  #money() {
    const { budgets, collections } = this.said;
    const free = collections.some((name) => !budgets[`collection:${name}`]);
    const add =
      free &&
      !this.query.has("budget") &&
      h("a", { class: "button small end", href: "/keys?budget=", "data-go": true }, "Budget for a collection");
    const head = h(
      "header",
      {},
      h("h2", {}, "Budgets"),
      h("span", { class: "faint" }, "all that apply to a call must have room"),
      add,
    );
    return (
      Object.keys(budgets).length > 0 &&
      h(
        "section",
        { class: "card holds-table", "aria-label": "Budgets" },
        head,
        budgetTable(budgets, this.query.get("budget")),
      )
    );
  }

  #drawer() {
    const { keys, collections, budgets } = this.said;
    const name = this.query.get("key");
    const done = (left, key) => this.#done(left, key);
    const around = { collections, go: this.app.go, done };
    if (this.query.has("new")) return newKey({ ...around, done: (made, key) => this.#done(null, key, made) });
    if (this.query.has("invite")) return inviteForm((link) => this.#closed({ link }));
    if (this.query.has("budget")) return this.#budget(this.query.get("budget"), budgets, collections);
    if (name === null) return null;
    const key = keys.find((each) => each.name === name);
    return key ? keyDrawer(key, this.query.get("model"), around) : notice("warn", `There is no key ${name}.`);
  }

  #budget(subject, budgets, collections) {
    const known = !subject || subject === "bench" || collections.some((name) => subject === `collection:${name}`);
    return known
      ? budgetDrawer(subject, budgets, collections, () => this.#closed({}))
      : notice("warn", `There is no ${subject} here.`);
  }

  // A key was changed; null: its drawer has nothing to show any more. `key` is a secret to show once, of `name`.
  #done(left, key, name = left) {
    if (key) this.made = { name, key };
    if (key || left === null) return this.#closed({});
    this.#again();
  }

  #closed(made) {
    Object.assign(this, made);
    this.app.go("/keys", { replace: true });
    this.#again();
  }

  #keys() {
    const list = { page: "access", group: "List" };
    const close = () => (this.#opened() ? this.app.go("/keys") : false);
    shortcut(
      { keys: ["j"], label: "Next row", ...list, run: () => walk(this.place, 1) },
      { keys: ["k"], label: "Row before", ...list, run: () => walk(this.place, -1) },
      {
        keys: ["n"],
        label: "New key",
        ...list,
        when: () => !this.query.has("new"),
        run: () => this.app.go("/keys?new="),
      },
      { keys: ["Escape"], show: ["Esc"], label: "Close the drawer", ...list, run: close },
    );
  }
}

// A form that is being filled in, and a question that waits, are left alone.
const typing = (root) => Boolean(document.querySelector("dialog[open]") ?? root.querySelector("form:focus-within"));

// Who has the focus, and how to give it to whoever stands in that place after a redraw.
function hold(root) {
  const all = () => [...root.querySelectorAll("a, button, input, select, summary, [tabindex]")];
  const at = all().indexOf(document.activeElement);
  return () => at >= 0 && all()[at]?.focus();
}

// --- who can reach this server

function reach({ beyond, bind, https, login, keys_required: keys, public_url: url, hosts, origins, proxies }) {
  const at = `Listening on ${bind}, port ${location.port || (https ? 443 : 80)}, over ${https ? "https" : "http"}.`;
  const wanted = [login && "Signing in", keys && "a key for the gateway"].filter(Boolean).join(" and ");
  const guarded = wanted
    ? `${wanted[0].toUpperCase()}${wanted.slice(1)} ${wanted.includes(" and ") ? "are" : "is"} required.`
    : "Nobody is asked for a key or to sign in.";
  const lists = [
    url && ["Known as", h("code", {}, url)],
    hosts.length && ["Hosts", hosts.join(", ")],
    origins.length && ["Pages that may call", origins.join(", ")],
    proxies.length && ["Trusted proxies", proxies.join(", ")],
  ].filter(Boolean);
  const plain =
    beyond &&
    !https &&
    notice(
      "warn",
      "Others can read along.",
      "There is no TLS here: put a proxy with https in front, and name it in BENCH_TRUSTED_PROXIES.",
    );
  return h(
    "section",
    { class: "card pad stack reach", "aria-label": "Who can connect" },
    h(
      "div",
      {},
      h("h2", { class: "lead" }, beyond ? "Your network can connect." : "Reachable only from this computer."),
      h("p", {}, `${at} ${guarded}`),
    ),
    lists.length > 0 && pairs(lists),
    plain,
  );
}

const open = () => [
  h("h2", {}, "Nobody has to sign in"),
  h(
    "p",
    { class: "faint" },
    "Whoever uses this computer may do everything here. Start the server with BENCHWARMERS_ADMIN_TOKEN set (16 characters or more) and this page asks for it; then others can be invited to judge.",
  ),
];
