// The keys of the Ask page, in the list that `?` shows: while a question is written, while answers are judged, side by side.
import { shortcut } from "../keys.js";

/** @param {{board: import("./board.js").Board | null, stop: () => false | void}} page */
export function shortcuts(page) {
  const two = () => page.board?.layout === "two-up";
  const judging = { page: "ask", group: "Judging", when: () => Boolean(page.board) && !two() };
  const comparing = { page: "ask", group: "Two-up", when: two };
  const on = (run) => () => page.board.onCurrent(run);
  shortcut(
    { keys: ["Ctrl+Enter"], label: "Ask", group: "Question", page: "ask", run: () => false },
    {
      keys: ["ArrowUp"],
      show: ["Up"],
      label: "Last question, in an empty composer",
      group: "Question",
      page: "ask",
      run: () => false,
    },
    {
      keys: ["Escape"],
      show: ["Esc"],
      label: "Stop",
      group: "Question",
      page: "ask",
      run: () => (page.board?.pick.dismiss() ? undefined : page.stop()),
    },
    {
      keys: [..."12345678"],
      show: ["1 – 8"],
      label: "Go to a seat",
      ...judging,
      run: (key) => page.board.focus(Number(key) - 1),
    },
    { keys: ["u"], label: "Useful", ...judging, run: on((judge, seat) => judge.useful(seat, true)) },
    { keys: ["n"], label: "Not useful", ...judging, run: on((judge, seat) => judge.useful(seat, false)) },
    { keys: ["b"], label: "Best of the panel", ...judging, run: on((judge, seat) => judge.best(seat)) },
    { keys: ["x"], label: "All bad", ...judging, run: () => page.board.judge.allBad() },
    { keys: ["z"], label: "Undo", ...judging, run: () => void page.board.judge.undo() },
    { keys: ["h"], label: "Hide or show names", ...judging, run: () => page.board.blind(!page.board.panel.blind) },
    { keys: ["1"], label: "Keep the left one", ...comparing, run: () => void page.board.twoUp.choose("left") },
    { keys: ["2"], label: "Keep the right one", ...comparing, run: () => void page.board.twoUp.choose("right") },
    { keys: ["="], label: "Equal", ...comparing, run: () => void page.board.twoUp.choose("tie") },
    { keys: ["x"], label: "Both bad", ...comparing, run: () => void page.board.twoUp.choose("both_bad") },
    { keys: ["z"], label: "Undo", ...comparing, run: () => void page.board.twoUp.undo() },
    { keys: ["s"], label: "Swap the sides", ...comparing, run: () => page.board.twoUp.swap() },
    {
      keys: ["[", "]"],
      label: "Pair before, next pair",
      ...comparing,
      run: (key) => page.board.twoUp.turn(key === "]" ? 1 : -1),
    },
    {
      keys: ["[", "]"],
      label: "Select the sentence before, after",
      ...judging,
      run: (key) => page.board.sentence(key === "]" ? 1 : -1),
    },
    {
      keys: ["r"],
      label: "Selected words or claim: a real finding",
      ...judging,
      run: () => page.board.decide("real"),
    },
    {
      keys: ["f"],
      label: "Selected words or claim: a false claim",
      ...judging,
      run: () => page.board.decide("false"),
    },
    { keys: ["j"], label: "Next claim", ...judging, run: () => page.board.claim(1) },
    { keys: ["k"], label: "Claim before", ...judging, run: () => page.board.claim(-1) },
  );
}
