// The pages: one row each. The address names the page, its query what the page shows.

/**
 * @typedef {{name: string, path: string, title: string, key: string, group: number, who?: string, load: () => Promise<{Page: any}>}} Place
 *   `key` follows g; pages of one group stand together in the rail; `who`: "admin" where a judge has nothing to do
 */

/** @type {Place[]} */
export const PAGES = [
  { name: "ask", path: "/", title: "Ask", key: "a", group: 1, who: "admin", load: () => import("./pages/ask.js") },
  { name: "owed", path: "/owed", title: "Owed", key: "o", group: 1, load: () => import("./pages/owed.js") },
  { name: "panels", path: "/panels", title: "Panels", key: "p", group: 1, load: () => import("./pages/panels.js") },
  {
    name: "conversations",
    path: "/conversations",
    title: "Conversations",
    key: "v",
    group: 1,
    load: () => import("./pages/conversations.js"),
  },
  { name: "models", path: "/models", title: "Models", key: "m", group: 2, load: () => import("./pages/models.js") },
  {
    name: "collections",
    path: "/collections",
    title: "Collections",
    key: "c",
    group: 2,
    load: () => import("./pages/collections.js"),
  },
  {
    name: "endpoints",
    path: "/endpoints",
    title: "Endpoints",
    key: "e",
    group: 2,
    load: () => import("./pages/endpoints.js"),
  },
  {
    name: "quotas",
    path: "/quotas",
    title: "Quotas",
    key: "q",
    group: 3,
    load: () => import("./pages/quotas.js"),
  },
  {
    name: "usage",
    path: "/usage",
    title: "Usage & cost",
    key: "u",
    group: 3,
    load: () => import("./pages/usage.js"),
  },
  {
    name: "access",
    path: "/keys",
    title: "Keys & access",
    key: "k",
    group: 4,
    who: "admin",
    load: () => import("./pages/access.js"),
  },
  {
    name: "settings",
    path: "/settings",
    title: "Settings",
    key: "s",
    group: 4,
    load: () => import("./pages/settings.js"),
  },
];

/** The pages a phone has a tab for; the rest stands under More. */
export const TABS = ["ask", "owed", "panels", "models"];

/** @param {string} path @returns {Place} the page at an address; Ask at any other */
export const pageAt = (path) => PAGES.find((page) => page.path === path) ?? PAGES[0];
