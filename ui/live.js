// What happens at the server, as it happens: one stream for the whole page. A page says what it wants to hear of:
//
//     live.on("panel", (event) => …)        panel turn verdict claim change calls quota; docs/API.md says what each holds
//
// Where the stream broke off it is taken up again, later each time, by the id of the last thing that was heard. Who was away for
// too long hears "missed" on every topic, and looks again. A hidden tab lets go of the stream: browsers give a server six.
import { send } from "./api.js";
import { lines } from "./stream.js";

const AGAIN = { first: 500, most: 30_000 }; // ms until the next try, doubled each time
const SILENT = 25_000; // ms: the server says something every ten seconds, or it is gone
const UNSEEN = 10_000; // ms a hidden tab goes on listening
const FULL = 60_000; // ms until the next try where too many listen already

const watchers = new Map(); // topic -> functions
let hooks = { up() {}, down() {} };
let last = ""; // the id of what was heard last
let tries = 0;
let stream = null;
let timer = 0; // of the next try, of the watch over a silent stream
let unseen = 0;

/**
 * Hear of a topic, and of "missed".
 * @param {string} topic
 * @param {(event: {event: string, [name: string]: any}) => void} run
 * @returns {() => void} stops it
 */
export function on(topic, run) {
  if (!watchers.has(topic)) watchers.set(topic, new Set());
  watchers.get(topic).add(run);
  return () => watchers.get(topic).delete(run);
}

/** Is the stream open? */
export const isUp = () => Boolean(stream?.open);

/**
 * Begin to listen.
 * @param {{up: () => void, down: () => void}} told up: something was heard; down: the stream has ended
 */
export function start(told) {
  hooks = told;
  document.addEventListener("visibilitychange", seen);
  addEventListener("pagehide", stop);
  if (!document.hidden) connect();
}

/** Run at most once in `ms`, at the end of it, however often it is asked for. @param {() => void} run @param {number} ms */
export function throttled(run, ms) {
  let waiting = 0;
  let ran = -Infinity;
  return () => {
    if (waiting) return;
    const left = Math.max(0, ran + ms - performance.now());
    waiting = setTimeout(() => ((waiting = 0), (ran = performance.now()), run()), left);
  };
}

function seen() {
  clearTimeout(unseen);
  if (document.hidden) unseen = setTimeout(stop, UNSEEN);
  else if (!stream) connect();
}

function stop() {
  clearTimeout(timer);
  stream?.ending.abort();
  stream = null;
}

async function connect() {
  stop();
  const mine = (stream = { ending: new AbortController(), open: false });
  let wait = 0;
  try {
    const path = `/api/events${last ? `?after=${encodeURIComponent(last)}` : ""}`;
    const response = await send("GET", path, undefined, mine.ending.signal);
    mine.open = true;
    for await (const line of lines(response.body)) {
      if (stream !== mine) return;
      watch(mine);
      hear(JSON.parse(line));
    }
  } catch (problem) {
    if (problem.status === 429) wait = FULL;
  }
  if (stream !== mine) return;
  const was = mine.open;
  stop();
  if (was) hooks.down();
  if (document.hidden) return; // it is taken up again when it is seen
  tries += 1;
  const pause = wait || Math.min(AGAIN.most, AGAIN.first * 2 ** Math.min(tries - 1, 10));
  timer = setTimeout(connect, pause * (0.5 + Math.random()));
}

function watch(mine) {
  clearTimeout(timer);
  timer = setTimeout(() => mine.ending.abort(), SILENT);
}

function hear(event) {
  tries = 0;
  if (event.id) last = event.id;
  hooks.up();
  if (event.event === "hello") {
    if (event.missed)
      new Set([...watchers.values()].flatMap((each) => [...each])).forEach((run) => run({ event: "missed" }));
    return;
  }
  if (event.event === "end" && event.why === "behind") last = "none"; // what was missed is not known: look again
  watchers.get(event.event)?.forEach((run) => run(event));
}
