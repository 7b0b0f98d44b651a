// What stands where an answer of the server will stand: nothing for a moment, then a word, then the answer or what went wrong.
import { get } from "./api.js";
import { h } from "./dom.js";
import { failure } from "./notice.js";

const SOON = 300; // ms for which waiting says nothing

/** One place on a page that shows what an address of the API answers. A later look takes the place of an earlier one. */
export class Loading {
  /** @param {HTMLElement} root filled by each look */
  constructor(root) {
    this.root = root;
    this.look = null;
  }

  /**
   * Look again without a word: what stands there stays until the answer comes, and if it does not.
   * @param {string} path
   * @param {(said: any) => (Node | string)[] | Node} draw
   */
  async again(path, draw) {
    this.stop();
    const look = (this.look = new AbortController());
    try {
      const said = await get(path, look.signal);
      if (this.look === look) this.root.replaceChildren(...[draw(said)].flat());
    } catch {
      // The pulse tells of a server that is gone.
    }
  }

  /**
   * @param {string} path
   * @param {(said: any) => (Node | string)[] | Node | Promise<(Node | string)[]>} draw what to show of the answer
   * @param {(problem: Error) => Node | null} [explain] for a failure that this page can explain better
   */
  async show(path, draw, explain = () => null) {
    this.stop();
    const look = (this.look = new AbortController());
    const slow = setTimeout(() => this.root.replaceChildren(h("p", { class: "faint" }, "Looking…")), SOON);
    try {
      const drawn = await draw(await get(path, look.signal));
      if (this.look === look) this.root.replaceChildren(...[drawn].flat());
    } catch (problem) {
      if (problem.name === "AbortError" || this.look !== look) return;
      const again = () => this.show(path, draw, explain);
      this.root.replaceChildren(explain(problem) ?? failure(problem, button("Try again", again, "small")));
    } finally {
      clearTimeout(slow);
    }
  }

  stop() {
    this.look?.abort();
    this.look = null;
  }
}

/**
 * @param {string | (Node | string)[]} words
 * @param {(event: Event) => void} run
 * @param {string} [look] small, quiet, primary
 * @param {Record<string, any>} [more] attributes
 * @returns {HTMLButtonElement}
 */
export const button = (words, run, look = "", more = {}) =>
  h("button", { type: "button", class: `button ${look}`.trim(), on: { click: run }, ...more }, words);

/**
 * Nothing is here yet: what would be, and the one thing to do about it.
 * @param {string} title
 * @param {string | Node} words
 * @param {...Node} actions
 * @returns {HTMLElement}
 */
export const empty = (title, words, ...actions) =>
  h(
    "section",
    { class: "card empty-state" },
    h("h2", {}, title),
    h("p", {}, words),
    actions.length > 0 && h("div", { class: "row" }, actions),
  );
