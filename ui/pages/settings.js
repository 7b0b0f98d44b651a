// Settings: what holds for the whole bench, and how this browser shows it. Each change is kept at once.
import { post } from "../api.js";
import { announce, h, say, set } from "../dom.js";
import { pickTheme } from "../frame.js";
import { keep, recall } from "../keep.js";
import { letterKeys, showShortcuts } from "../keys.js";
import { Loading, button } from "../loading.js";
import { failure } from "../notice.js";
import { pairs } from "../table.js";
import { seconds, sentence } from "../words.js";

// section -> its settings, each with its label and, where only some values will do, those with their words.
const SECTIONS = [
  [
    "panels",
    "Panels",
    [
      ["max_calls", "Seats at most"],
      ["max_explorers", "Explorers at most"],
      ["deadline", "Seconds for a seat"],
      ["practice_in_pool", "Practice squad explores"],
    ],
  ],
  [
    "route",
    "Route mode",
    [
      [
        "route_policy",
        "New conversations go by",
        [
          ["record", "Record"],
          ["counts", "Counts"],
        ],
      ],
    ],
  ],
  [
    "storage",
    "Storage",
    [
      [
        "bodies",
        "Keep full texts",
        [
          ["all", "All"],
          ["errors", "Of failures"],
          ["none", "None"],
        ],
      ],
      ["body_days", "Days until unjudged texts go"],
      ["log_months", "Months of records"],
    ],
  ],
];
const THEMES = [
  ["auto", "As the system"],
  ["light", "Light"],
  ["dark", "Dark"],
];

export class Page {
  /** @param {HTMLElement} root @param {any} app */
  constructor(root, app) {
    Object.assign(this, { root, app, known: null });
    this.place = h("div", { class: "stack", "data-who": "admin" });
    this.loading = new Loading(this.place);
    this.server = h("div", { class: "pad" }, h("p", { class: "faint" }, "Looking…"));
    const all = [["appearance", "Appearance"], ...SECTIONS, ["server", "Server"]];
    this.nav = h(
      "nav",
      { class: "card pane-list sections", "aria-label": "Sections" },
      h(
        "ul",
        { class: "list" },
        all.map(([name, title]) =>
          h(
            "li",
            { "data-name": name, "data-who": SECTIONS.some(([each]) => each === name) ? "admin" : null },
            h("a", { href: `/settings?section=${name}`, "data-go": true }, h("span", {}, title)),
          ),
        ),
      ),
    );
    this.appearance = appearance();
    this.about = card("server", "Server", this.server);
    this.panes = h(
      "div",
      { class: "panes settings" },
      this.nav,
      h("div", { class: "stack" }, this.appearance, this.place, this.about),
    );
  }

  /** @param {URLSearchParams} query */
  async show(query) {
    this.app.title(["Settings"]);
    const section = query.get("section") ?? "";
    for (const each of this.nav.querySelectorAll("li"))
      set(each, { "aria-current": each.dataset.name === section ? "true" : null });
    const fresh = appearance(); // the theme may have been changed in the bar above
    this.appearance.replaceWith(fresh);
    this.appearance = fresh;
    this.root.replaceChildren(this.panes);
    if (!this.place.querySelector("[data-section]"))
      await this.loading.show("/api/settings", (said) => SECTIONS.map((each) => group(each, said)));
    if (section) document.getElementById(`section-${section}`)?.scrollIntoView({ block: "start" });
  }

  hide() {
    this.loading.stop();
    this.place.replaceChildren();
  }

  /** @param {any} status */
  status({ version, url, home, uptime_s: up, exposure, counts }) {
    const said = JSON.stringify([version, url, home, exposure, counts]);
    if (this.server.dataset.said === said) return;
    this.server.dataset.said = said;
    this.server.replaceChildren(
      pairs([
        ["Version", version],
        ["Address", h("code", {}, url)],
        ["Can connect", sentence(exposure)],
        ["Data folder", h("code", {}, home)],
        ["Running for", `${seconds(Math.round(up)).replace(".0", "")} when this page was opened`],
        [
          "On it",
          `${counts.endpoints ?? "unknown"} endpoints, ${counts.models ?? "unknown"} models, ${counts.collections ?? "unknown"} collections`,
        ],
      ]),
    );
  }
}

const card = (name, title, ...inside) =>
  h(
    "section",
    { class: "card", id: `section-${name}`, "data-section": name, "aria-labelledby": `${name}-title` },
    h("header", {}, h("h2", { id: `${name}-title` }, title)),
    inside,
  );

const row = (label, control, source, more) =>
  h(
    "div",
    { class: "setting" },
    h("span", { class: "label", id: more.labelled }, label),
    h("div", { class: "control" }, control, more.about && h("p", { class: "faint" }, more.about)),
    source,
  );

function group([name, title, rows], said) {
  const known = rows.filter(([setting]) => setting in said.settings);
  return card(
    name,
    title,
    known.map((each) => setting(each, said)),
  );
}

// One setting: its control sends what is chosen, and goes back to what was kept when the server refuses it.
function setting([name, label, choices], { settings, about, defaults = {} }) {
  let kept = settings[name];
  const source = h("span", { class: "faint source" });
  const trouble = h("div");
  const told = () => say(source, kept === defaults[name] ? "default" : `default: ${shown(defaults[name], choices)}`);
  const change = async (value) => {
    if (value === kept) return;
    trouble.replaceChildren();
    try {
      const said = await post("/api/settings", { [name]: value });
      kept = said.settings[name];
      announce(`${label}: saved`);
    } catch (problem) {
      trouble.replaceChildren(failure(problem));
    }
    control.show(kept);
    told();
  };
  const control = controlFor(typeof kept, choices)(label, change);
  control.show(kept);
  told();
  return row(label, [control.node, trouble], source, { about: sentence(about[name] ?? "") });
}

const shown = (value, choices) =>
  choices?.find(([each]) => each === value)?.[1] ?? (value === true ? "on" : value === false ? "off" : String(value));

const controlFor = (kind, choices) =>
  choices ? (label, change) => segment(label, choices, change) : kind === "boolean" ? box : number;

function segment(label, choices, change) {
  const node = h(
    "span",
    { class: "segment", role: "group", "aria-label": label },
    choices.map(([value, word]) =>
      h("button", { type: "button", "data-value": value, on: { click: () => change(value) } }, word),
    ),
  );
  const show = (value) =>
    [...node.children].forEach((each) => set(each, { "aria-pressed": String(each.dataset.value === value) }));
  return { node, show };
}

function box(label, change) {
  const node = h("input", { type: "checkbox", "aria-label": label, on: { change: () => change(node.checked) } });
  return { node, show: (value) => void (node.checked = value) };
}

function number(label, change) {
  const node = h("input", {
    class: "field short",
    inputmode: "numeric",
    "aria-label": label,
    on: {
      change: () =>
        change(node.value.trim() !== "" && Number.isFinite(Number(node.value)) ? Number(node.value) : node.value),
    },
  });
  return { node, show: (value) => void (node.value = String(value)) };
}

function appearance() {
  const theme = segment("Theme", THEMES, (value) => (pickTheme(value), theme.show(value)));
  theme.show(recall("theme", "auto"));
  const rows = segment(
    "Rows",
    [
      ["", "Comfortable"],
      ["dense", "Dense"],
    ],
    (value) => (keep("rows", value || null), dense(), rows.show(value)),
  );
  rows.show(recall("rows", ""));
  const letters = box("Single-letter shortcuts", letterKeys);
  letters.show(letterKeys());
  const here = h("span", { class: "faint source" }, "in this browser");
  return card(
    "appearance",
    "Appearance",
    row("Theme", theme.node, here.cloneNode(true), {}),
    row("Rows", rows.node, here.cloneNode(true), {}),
    row(
      "Single-letter shortcuts",
      [letters.node, " ", button(["All shortcuts", h("kbd", {}, "?")], showShortcuts, "quiet small")],
      here,
      {},
    ),
  );
}

/** Rows as close as this browser wants them. */
export function dense() {
  set(document.documentElement, { "data-rows": recall("rows", "") || null });
}
