// The form of what a key may: the same for a new key and for one that is changed. Only what was changed is sent.
import { check, field, input, select } from "../form.js";
import { h } from "../dom.js";
import { MODES, PERIODS } from "./words.js";

const UNKNOWN = [
  ["refuse", "not made"],
  ["allow", "made all the same"],
];

/**
 * @param {any} key as it is now; {} for a new one
 * @param {string[]} collections that there are
 * @returns {HTMLElement[]}
 */
export function limitFields(key, collections) {
  const gone = (key.collections ?? []).filter((name) => !collections.includes(name));
  return [
    boxes("collections", "Collections", "None ticked: every collection.", [
      ...collections.map((name) => [name, name, (key.collections ?? []).includes(name)]),
      ...gone.map((name) => [name, `${name} (gone)`, true]),
    ]),
    field(
      "Models",
      input("models", (key.models ?? []).join(", ")),
      "Aliases with commas between them: only these answer. Empty: every model.",
    ),
    boxes(
      "modes",
      "Ways of asking",
      "None ticked: every way.",
      Object.entries(MODES).map(([mode, word]) => [mode, word, (key.modes ?? []).includes(mode)]),
    ),
    h(
      "div",
      { class: "two" },
      field("Requests a minute", input("rpm", key.rpm, { inputmode: "numeric" }), "Empty: no limit."),
      field("Tokens a minute", input("tpm", key.tpm, { inputmode: "numeric" }), "Empty: no limit."),
    ),
    ...budgetFields(key.budget, key.unknown_cost),
    field(
      "Expires",
      input("expires", key.expires ? key.expires.slice(0, 10) : ""),
      "In a time such as 90d or 12h, or on a date such as 2027-01-31. Empty: never.",
    ),
  ];
}

/**
 * @param {Record<string, number> | null | undefined} budget USD by period
 * @param {string} [unknown]
 * @returns {HTMLElement[]}
 */
export const budgetFields = (budget, unknown = "refuse") => [
  h(
    "div",
    { class: "three" },
    Object.entries(PERIODS).map(([period, word]) =>
      field(`USD ${word}`, input(period, budget?.[period], { inputmode: "decimal" })),
    ),
  ),
  field(
    "Calls whose cost cannot be told are",
    select("unknown_cost", UNKNOWN, unknown),
    "Where there is a budget, which is what may be spent. Days and months begin in UTC.",
  ),
];

function boxes(name, label, hint, rows) {
  return h(
    "fieldset",
    { class: "form-field" },
    h("legend", { class: "label" }, label),
    h(
      "div",
      { class: "ticks-list" },
      rows.map(([value, word, ticked]) => {
        const box = check(name, word, ticked);
        box.querySelector("input").value = value;
        return box;
      }),
    ),
    h("p", { class: "faint" }, hint),
  );
}

/**
 * @param {HTMLFormElement} form
 * @param {any} [key] as it was when the form was drawn: what is still so is left out
 * @returns {Record<string, any>} for the API; null takes a limit away
 */
export function limitsIn(form, key = {}) {
  const was = {
    collections: key.collections ?? null,
    models: key.models ?? null,
    modes: key.modes ?? null,
    rpm: key.rpm ?? null,
    tpm: key.tpm ?? null,
    expires: key.expires ? key.expires.slice(0, 10) : null,
    ...moneyOf(key.budget, key.unknown_cost),
  };
  const now = {
    collections: ticked(form, "collections"),
    models: listed(textIn(form, "models")),
    modes: ticked(form, "modes"),
    rpm: numberIn(form, "rpm"),
    tpm: numberIn(form, "tpm"),
    expires: textIn(form, "expires") || null,
    ...budgetIn(form),
  };
  return Object.fromEntries(Object.entries(now).filter(([name, value]) => !same(value, was[name])));
}

/** @param {HTMLFormElement} form @returns {{budget: Record<string, any>, unknown_cost: string}} */
export const budgetIn = (form) => ({
  budget: Object.fromEntries(Object.keys(PERIODS).map((period) => [period, numberIn(form, period)])),
  unknown_cost: textIn(form, "unknown_cost"),
});

const moneyOf = (budget, unknown) => ({
  budget: Object.fromEntries(Object.keys(PERIODS).map((period) => [period, budget?.[period] ?? null])),
  unknown_cost: unknown ?? "refuse",
});

const same = (one, other) => JSON.stringify(unordered(one)) === JSON.stringify(unordered(other));
const unordered = (value) => (Array.isArray(value) ? [...value].sort() : value);

const textIn = (form, name) => form.elements.namedItem(name).value.trim();

// What is no number goes to the server as it was typed, which says so: taken for nothing it would be no limit at all.
function numberIn(form, name) {
  const text = textIn(form, name);
  const number = Number(text.replaceAll(",", ""));
  return text === "" ? null : Number.isFinite(number) ? number : text;
}

const listed = (text) => {
  const words = text.split(/[\s,]+/).filter(Boolean);
  return words.length ? words : null;
};

const ticked = (form, name) => {
  const values = [...form.querySelectorAll(`input[name="${name}"]:checked`)].map((box) => box.value);
  return values.length ? values : null;
};
