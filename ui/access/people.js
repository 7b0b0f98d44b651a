// Who is signed in, who is invited, and who was refused.
import { post } from "../api.js";
import { announce, h } from "../dom.js";
import { confirm, field, form, input, select } from "../form.js";
import { button } from "../loading.js";
import { failure } from "../notice.js";
import { plural, when } from "../words.js";
import { once } from "./list.js";
import { MAY } from "./words.js";

/** @typedef {{again: () => void, made: {name: string, link: string, role: string, expires: string} | null, inviting: boolean}} Around */

/**
 * @param {any[]} sessions
 * @param {() => void} again
 * @returns {HTMLElement}
 */
export function signedIn(sessions, again) {
  const told = h("div", { class: "stack" });
  const end = async ({ id, name, yours }) => {
    const what = {
      title: yours ? "Sign out here?" : `Sign out ${name}?`,
      words: yours ? "This page closes." : "Their page stops at once. Another invitation lets them in again.",
      action: "Sign out",
    };
    if (!(await confirm(what))) return;
    try {
      if (yours) await post("/logout", {});
      else await post("/api/session/end", { id });
      announce(`${name} is signed out`);
      if (yours) location.assign("/login");
      else again();
    } catch (problem) {
      told.replaceChildren(failure(problem));
    }
  };
  return card(
    "Signed in",
    plural(sessions.length, "session"),
    null,
    told,
    h(
      "ul",
      { class: "list people" },
      sessions.map((each) => person(each, end)),
    ),
  );
}

const person = (each, end) =>
  h(
    "li",
    {},
    h("b", {}, each.name),
    h("span", { class: "chip" }, each.role),
    each.yours && h("span", { class: "chip ok" }, "this browser"),
    h(
      "span",
      { class: "faint grow" },
      `from ${each.address || "an unknown address"}, since ${when(each.begun)}, seen ${when(each.seen)}`,
    ),
    button("Sign out…", () => end(each), "quiet small", {
      "aria-label": `Sign out ${each.name}, seen ${when(each.seen)}`,
    }),
  );

/**
 * @param {any[]} open
 * @param {Around} around
 * @returns {HTMLElement}
 */
export function invited(open, { again, made, inviting }) {
  const told = h("div", { class: "stack" });
  const withdraw = async ({ name }) => {
    try {
      await post("/api/invitation/withdraw", { name });
      announce(`The invitation of ${name} is withdrawn`);
      again();
    } catch (problem) {
      told.replaceChildren(failure(problem));
    }
  };
  return card(
    "Invitations",
    "a link lets one browser in, once",
    !inviting && h("a", { class: "button small end", href: "/keys?invite=", "data-go": true }, "Invite somebody"),
    told,
    made && h("div", { class: "pad" }, once(made.name, made.link, after(made), "link")),
    open.length
      ? h(
          "ul",
          { class: "list people" },
          open.map((each) =>
            h(
              "li",
              {},
              h("b", {}, each.name),
              h("span", { class: "chip" }, each.role),
              h("span", { class: "faint grow" }, `by ${each.by}, good until ${when(each.expires)}`),
              button("Withdraw", () => withdraw(each), "quiet small", {
                "aria-label": `Withdraw the invitation of ${each.name}`,
              }),
            ),
          ),
        )
      : !made &&
          h("p", { class: "pad faint" }, "Nobody is invited. A judge may read and give verdicts, and nothing else."),
  );
}

const after = ({ role, expires, link }) => {
  const here = ["localhost", "127.0.0.1", "[::1]"].includes(new URL(link).hostname);
  const reach = here ? " It leads to this computer only: for others, set BENCHWARMERS_PUBLIC_URL." : "";
  return `Shown once; good until ${when(expires)}. Whoever opens it first ${MAY[role]}.${reach}`;
};

/**
 * @param {(made: any) => void} done
 * @returns {HTMLElement}
 */
export function inviteForm(done) {
  const node = form({
    label: "Invite somebody",
    action: "Make the link",
    fields: [
      field("Name", input("name"), "Letters, digits, dots and dashes. It stands beside their verdicts."),
      field(
        "Role",
        select(
          "role",
          Object.entries(MAY)
            .reverse()
            .map(([role, may]) => [role, `${role}: ${may}`]),
          "judge",
        ),
      ),
      field("Good for", input("expires", "3d"), "12h, 3d, at most 30d."),
    ],
    send: async ({ elements }) => {
      const value = (name) => elements.namedItem(name).value.trim();
      const said = await post("/api/invitation", {
        name: value("name"),
        role: value("role"),
        expires: value("expires") || null,
      });
      announce(`${said.name} is invited. The link is shown once.`);
      done(said);
    },
  });
  return h(
    "section",
    { class: "card drawer", "aria-label": "Invite somebody" },
    h(
      "header",
      {},
      h("h2", {}, "Invite somebody"),
      h("a", { class: "button quiet small end", href: "/keys", "data-go": true }, "Close", h("kbd", {}, "Esc")),
    ),
    h("div", { class: "pad" }, node),
  );
}

/** @param {any[]} refused @returns {HTMLElement | null} */
export const refusals = (refused) =>
  refused.length
    ? card(
        "Refused",
        "since the server began",
        null,
        h(
          "ul",
          { class: "list people" },
          refused.map(({ what, address, times, at, wait_s: wait }) =>
            h(
              "li",
              {},
              h("b", {}, address),
              h("span", { class: "grow" }, `${plural(times, `wrong ${what}`)}, last ${when(at)}`),
              wait > 0 && h("span", { class: "chip warn" }, `waits ${Math.ceil(wait)} s`),
            ),
          ),
        ),
      )
    : null;

const card = (title, about, action, ...inside) =>
  h(
    "section",
    { class: "card", "aria-label": title },
    h("header", {}, h("h2", {}, title), h("span", { class: "faint" }, about), action),
    inside,
  );
