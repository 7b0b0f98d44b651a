// Columns that scroll for themselves, moved together: by how far each has come, for they are not equally long.
import { nextFrame } from "../dom.js";

export class Sync {
  /** @param {() => HTMLElement[]} bodies what scrolls */
  constructor(bodies) {
    this.bodies = bodies;
    this.on = false;
    this.leader = null; // whom the others follow in this frame
    this.follow = nextFrame(() => this.#follow());
  }

  /** @param {HTMLElement} body */
  watch(body) {
    body.addEventListener("scroll", () => this.#moved(body), { passive: true });
  }

  #moved(body) {
    if (!this.on || body === this.moving) return;
    this.leader = body;
    this.follow();
  }

  #follow() {
    const { leader } = this;
    this.leader = null;
    if (!leader) return;
    const room = (body) => body.scrollHeight - body.clientHeight;
    const share = room(leader) > 0 ? leader.scrollTop / room(leader) : 0;
    const others = this.bodies().filter((body) => body !== leader);
    const tops = others.map((body) => Math.round(share * room(body))); // read all, then write all
    others.forEach((body, i) => {
      if (Math.abs(body.scrollTop - tops[i]) < 2) return;
      this.moving = body;
      body.scrollTop = tops[i];
    });
    requestAnimationFrame(() => (this.moving = null));
  }
}
