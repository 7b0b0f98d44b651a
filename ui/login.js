// The form of /login: shows the token to the server, once, and goes on to the page that was wanted.
import { post } from "./api.js";
import { wordmark } from "./wordmark.js";

const form = document.getElementById("form");
const said = document.getElementById("said");
document.getElementById("mark").replaceChildren(wordmark());

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = form.querySelector("button");
  button.disabled = true;
  said.textContent = "";
  try {
    await post("/login", { token: form.token.value });
    location.replace("/");
  } catch (problem) {
    said.textContent = problem.message;
    form.token.select();
  } finally {
    button.disabled = false;
  }
});
