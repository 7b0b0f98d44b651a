// A list that keeps itself up to date, as long as that takes nothing from its reader: while somebody is at a row, or has words
// selected, it only says how much is new. It can be paused altogether.
import { h, say, set } from "./dom.js";
import { on, throttled } from "./live.js";

const OFTEN = 1500; // ms between two looks

export class Follow {
  /**
   * @param {string[]} topics what makes the list old
   * @param {{place: HTMLElement, look: () => void, wanted?: () => boolean, about?: (event: any) => boolean}} list  look: load it
   *   again; wanted: is it a list that news come into at all? about: does this event concern it?
   */
  constructor(topics, { place, look, wanted = () => true, about = () => true }) {
    Object.assign(this, { place, look, wanted, about, paused: false, news: 0, shown: false });
    this.button = h("button", {
      type: "button",
      class: "button quiet small follow",
      on: { click: () => this.#press() },
    });
    this.soon = throttled(() => this.#look(), OFTEN);
    topics.forEach((topic) => on(topic, (event) => this.#heard(event)));
    this.#draw();
  }

  /** @param {boolean} shown is the list on the page? */
  show(shown) {
    this.shown = shown;
    this.news = 0;
    this.button.hidden = !shown || !this.wanted();
    this.#draw();
  }

  #heard(event) {
    if (!this.shown || !this.wanted() || (event.event !== "missed" && !this.about(event))) return;
    this.news += 1;
    if (this.paused || this.#busy()) this.#draw();
    else this.soon();
  }

  #look() {
    if (!this.shown || !this.news || this.paused || this.#busy()) return this.#draw();
    this.news = 0;
    this.#draw();
    this.look();
  }

  #busy() {
    const selection = document.getSelection();
    const chosen = !selection.isCollapsed && this.place.contains(selection.anchorNode);
    return chosen || this.place.contains(document.activeElement);
  }

  #press() {
    const shows = this.news && !this.paused;
    if (!shows) this.paused = !this.paused;
    if (shows || !this.paused) {
      const fresh = this.news;
      this.news = 0;
      if (fresh) this.look();
    }
    this.#draw();
  }

  #draw() {
    const { news, paused } = this;
    const fresh = news ? `${news} new` : "";
    say(this.button, paused ? `Resume updates${fresh && `, ${fresh}`}` : news ? `Show ${fresh}` : "Pause updates");
    set(this.button, { "aria-pressed": paused ? "true" : null });
  }
}
