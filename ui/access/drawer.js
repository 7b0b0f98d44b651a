// One gateway key: what it opens and spent, what would happen if it asked, and how to change, replace or end it.
import { get, post } from "../api.js";
import { announce, h } from "../dom.js";
import { confirm, field, form, input } from "../form.js";
import { button } from "../loading.js";
import { failure } from "../notice.js";
import { pairs } from "../table.js";
import { count, money, plural, sentence, when } from "../words.js";
import { limitFields, limitsIn } from "./limits.js";
import { budgets, placeOf } from "./list.js";
import { pace, scope, state } from "./words.js";

/**
 * @typedef {{collections: string[], go: (address: string) => void, done: (name: string | null, made?: string) => void}} Around
 *   done: the key was changed (null: is gone); `made` is the secret of a new one
 */

const head = (title) =>
  h(
    "header",
    {},
    h("h2", {}, title),
    h("a", { class: "button quiet small end", href: "/keys", "data-go": true }, "Close", h("kbd", {}, "Esc")),
  );

/**
 * @param {any} key
 * @param {string | null} model what it is asked about; null: nothing yet
 * @param {Around} around
 * @returns {HTMLElement}
 */
export function keyDrawer(key, model, around) {
  const told = h("div", { class: "stack" });
  return h(
    "section",
    { class: "card drawer", "aria-label": key.name },
    head(key.name),
    h(
      "div",
      { class: "pad stack" },
      told,
      about(key),
      actions(key, around, told),
      effect(key, model, around),
      change(key, around),
    ),
  );
}

const STATES = {
  "": "opens the gateway",
  disabled: "disabled: opens nothing until it is enabled",
  expired: "expired: opens nothing any more",
};

function about(key) {
  const { spent } = key;
  const unknown = spent.unknown_calls ? `; beside that ${plural(spent.unknown_calls, "call")} of unknown cost` : "";
  return pairs([
    ["State", STATES[state(key)]],
    ["Starts with", h("code", {}, key.prefix)],
    ["May ask", scope(key)],
    ["A minute", rates(key) || "no limit"],
    ["Budget", budgets(key)],
    [
      "Spent",
      `${unknown && "known: "}${money(spent.day_usd)} today, ${money(spent.month_usd)} this month, ${money(spent.total_usd)} in total${unknown}`,
    ],
    ["Last used", key.last_used ? when(key.last_used) : "never"],
    ["Made", key.created ? when(key.created) : "unknown"],
    ["Expires", key.expires ? when(key.expires) : "never"],
  ]);
}

// "12 of 30 requests used, 40,000 tokens": what its windows hold now, where anything is in them.
const rates = (key) =>
  Object.values(key.rates).some(({ used }) => used)
    ? Object.entries(key.rates)
        .map(
          ([kind, { used, limit }]) =>
            `${count(used)} of ${count(limit)} ${kind === "rpm" ? "requests" : "tokens"} used`,
        )
        .join(", ")
    : pace(key);

function actions({ name, enabled }, around, told) {
  const act = async (path, words) => {
    told.replaceChildren();
    try {
      const { key } = await post(path, { name });
      announce(words);
      around.done(path.endsWith("revoke") ? null : name, key);
    } catch (problem) {
      told.replaceChildren(failure(problem));
    }
  };
  const ask = async (what, path, said) => (await confirm(what)) && act(path, said);
  const rotate = {
    title: `Rotate key "${name}"?`,
    words: "The old key stops at once. The new one is shown once. Name, limits and spend stay.",
    action: "Rotate",
  };
  const revoke = {
    title: `Revoke key "${name}"?`,
    words: "Calls with it stop at once. What it spent stays in the books.",
    action: "Revoke",
  };
  return h(
    "div",
    { class: "row wrap", "data-who": "admin" },
    enabled
      ? button("Disable", () => act("/api/key/disable", `${name} is disabled`))
      : button("Enable", () => act("/api/key/enable", `${name} is enabled`)),
    button("Rotate…", () => ask(rotate, "/api/key/rotate", `${name} has a new key`)),
    button("Revoke…", () => ask(revoke, "/api/key/revoke", `${name} is revoked`), "quiet danger-text"),
  );
}

function change(key, { collections, done }) {
  const node = form({
    label: `Change the limits of ${key.name}`,
    action: "Save",
    fields: limitFields(key, collections),
    send: async (sent) => {
      const edits = limitsIn(sent, key);
      if (Object.keys(edits).length) await post("/api/key", { name: key.name, ...edits });
      announce(`${key.name}: saved`);
      done(key.name);
    },
  });
  return h("details", { class: "edit", "data-who": "admin" }, h("summary", {}, "Change its limits"), node);
}

// --- what would happen

function effect({ name }, model, { collections, go }) {
  const said = h("div", { class: "stack", role: "status" });
  const list = h(
    "datalist",
    { id: "askable" },
    collections.flatMap((each) =>
      ["", ":merged", ":route"].map((mode) => h("option", { value: `bench/${each}${mode}` })),
    ),
  );
  const asked = input("model", model ?? "", { list: "askable", placeholder: "bench/review" });
  const node = form({
    label: `What would happen if ${name} asked`,
    action: "See",
    fields: [field("If it asked this now", asked, "A model as a caller names it. Nobody is asked."), list],
    send: async () => go(`${placeOf(name)}&model=${encodeURIComponent(asked.value.trim())}`),
  });
  node.querySelector(".primary").classList.remove("primary"); // the drawer has one already
  if (model) fillEffect(said, name, model);
  return h(
    "section",
    { class: "stack", "aria-label": "What would happen" },
    h("h3", {}, "What would happen"),
    node,
    said,
  );
}

async function fillEffect(place, name, model) {
  try {
    const query = new URLSearchParams({ name, model });
    place.replaceChildren(...happening(await get(`/api/key/effective?${query}`)));
  } catch (problem) {
    place.replaceChildren(failure(problem));
  }
}

const happening = ({ allowed, status, why, members }) =>
  [
    h(
      "p",
      { class: allowed ? "ok" : "bad" },
      allowed ? "✓ It would be asked." : `✕ Refused with ${status}: ${sentence(why)}`,
    ),
    members.length > 0 &&
      h(
        "ul",
        { class: "list" },
        members.map((each) =>
          h("li", {}, h("b", {}, each.alias), h("span", {}, each.why ? sentence(each.why) : "Would be asked.")),
        ),
      ),
  ].filter(Boolean);

// --- a new one

/**
 * @param {Around} around
 * @returns {HTMLElement}
 */
export function newKey({ collections, done }) {
  const node = form({
    label: "New key",
    action: "Make the key",
    fields: [
      field("Name", input("name"), "Letters, digits, dots and dashes. Its calls are counted under it."),
      ...limitFields({}, collections),
    ],
    send: async (sent) => {
      const name = sent.elements.namedItem("name").value.trim();
      const { key } = await post("/api/key/create", { name, ...limitsIn(sent) });
      announce(`The key ${name} is made. It is shown once.`);
      done(name, key);
    },
  });
  return h(
    "section",
    { class: "card drawer", "aria-label": "New key" },
    head("New key"),
    h("div", { class: "pad" }, node),
  );
}
