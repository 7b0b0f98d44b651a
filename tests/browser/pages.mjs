// The pages that the checks look at: every page, and what stands in it by its address.
import { ask, open } from "./browser.mjs";

const found = async (page, query) => (await ask(page, `/api/log?limit=1&${query}`)).panels[0].panel;
const first = (page) => found(page, "q=idempotent"); // in part judged, with a seat that failed
const latest = (page) => found(page, "q=inversion");

// name -> address, and what shows that it is drawn; an address may need an id that only the server knows.
export const PAGES = {
  ask: ["/", ".who-sits .bench"],
  answers: [async (page) => `/?panel=${await latest(page)}`, ".columns .column"],
  "answers blind": [async (page) => `/?panel=${await latest(page)}&blind=1`, ".column .tile"],
  "two answers": [async (page) => `/?panel=${await latest(page)}&view=two-up`, ".two-row[data-how]"],
  owed: ["/owed", ".judge-bar"],
  panels: ["/panels", "table.rows"],
  panel: [async (page) => `/panels?panel=${await first(page)}`, ".answers .column"],
  conversations: ["/conversations", ".pane-list .list"],
  conversation: [
    async (page) =>
      `/conversations?conversation=${(await ask(page, "/api/conversations")).conversations[0].conversation}`,
    ".turns",
  ],
  models: ["/models", "table.rows"],
  model: ["/models?model=kimi-k3", ".drawer"],
  "models drawn": ["/models?view=scatter", ".plot"],
  "add models": ["/models?add=hub", ".choices"],
  collections: ["/collections", ".cards"],
  collection: ["/collections?collection=review", ".drawer .bench"],
  "new collection": ["/collections?new=", ".drawer form"],
  endpoints: ["/endpoints", "table.rows"],
  endpoint: ["/endpoints?endpoint=hub", ".drawer"],
  "add endpoint": ["/endpoints?add=", "form"],
  quotas: ["/quotas", ".connection"],
  quota: ["/quotas?connection=relay", ".drawer"],
  usage: ["/usage", ".plot"],
  "usage of models": ["/usage?by=model&since=90d", ".plot"],
  keys: ["/keys", ".holds-table .rows"],
  key: ["/keys?key=ci&model=bench/code", ".drawer .bad"],
  "new key": ["/keys?new=", ".drawer form"],
  budget: ["/keys?budget=collection:review", ".drawer form"],
  settings: ["/settings", ".setting .field"],
  login: ["/login", "#token-form"],
};
/** The same of a bench that nobody has used. */
export const FRESH = {
  ask: ["/", ".squad"],
  owed: ["/owed", ".empty-state"],
  panels: ["/panels", ".empty-state"],
  conversations: ["/conversations", ".empty-state"],
  endpoints: ["/endpoints", ".first-endpoint"],
  quotas: ["/quotas", ".empty-state"],
  usage: ["/usage", ".empty-state"],
  keys: ["/keys", ".empty-state"],
};

/** A fresh browser that shows a row of the table. */
export async function at([address, drawn], look) {
  const page = await open(typeof address === "string" ? address : "/", look);
  if (typeof address !== "string") await page.goto(await address(page));
  await page.waitForSelector(drawn, { state: "visible" });
  return page;
}
