// The forms of /login: one shows the admin token to the server, once, the other an invitation. Then on to the page that was wanted.
import { post } from "./api.js";
import { wordmark } from "./wordmark.js";

const at = (id) => document.getElementById(id);
const invitation = new URLSearchParams(location.hash.slice(1)).get("invitation");
at("mark").replaceChildren(wordmark());
at("mark").setAttribute("aria-label", "Benchwarmers, sign in");
at("where").textContent =
  `${location.host}, over ${location.protocol.slice(0, -1)}. A gateway key does not open this page.`;

/**
 * Where to go once signed in: the page that was asked for, or the one a role begins with. Only an address of this server counts.
 * @param {string} role
 */
function next(role) {
  const to = new URLSearchParams(location.search).get("to") ?? "";
  const wanted = new URL(URL.canParse(to, location.origin) ? to : "/", location.origin);
  if (wanted.origin !== location.origin || wanted.pathname === "/login") return "/";
  return wanted.pathname === "/" && role === "judge" ? "/owed" : wanted.pathname + wanted.search;
}

/**
 * @param {string} name of the form
 * @param {(form: HTMLFormElement) => unknown} shown what it shows the server
 */
function listen(name, shown) {
  const form = at(`${name}-form`);
  const said = at(`${name}-said`);
  const button = form.querySelector("button");
  const usual = button.textContent;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    said.textContent = "";
    try {
      const { role } = await post("/login", shown(form));
      location.replace(next(role));
    } catch (problem) {
      said.textContent = words(problem);
      form.token?.select();
      await pause(button, problem.wait ?? 0);
      button.textContent = usual;
      button.disabled = false;
    }
  });
}

const words = ({ message }) => message.charAt(0).toUpperCase() + message.slice(1) + (/[.!?]$/.test(message) ? "" : ".");

// The button counts down until the server looks at another try; the sentence above it is said once.
async function pause(button, wait) {
  for (let left = wait; left > 0; left -= 1) {
    button.textContent = `Next try in ${left} s`;
    await new Promise((resume) => setTimeout(resume, 1000));
  }
}

listen("token", (form) => ({ token: form.token.value }));
listen("invited", () => ({ invitation }));
if (invitation) {
  at("token-form").hidden = true;
  at("invited-form").hidden = false;
  at("invited-form").querySelector("button").focus();
}
