// How much fell into each hour or each day. Level is told by height as well as by tone; what has not come yet is an outline.
import { h, svg } from "../dom.js";
import { plot, px, text } from "./plot.js";
import { dayOf } from "./scale.js";

const CELL = 12;
const DEEP = 18;
const DAY = 86_400_000;
const WEEKDAYS = ["Mon", "", "Wed", "", "Fri", "", ""];
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/**
 * A strip in a line or a cell, such as the hours of a day.
 * @param {{label: string, counts: (number | null)[], names: string[], tone?: string}} what  null: not yet; names: one each, some are
 *   shown below, all are said; tone: warn or q1
 * @returns {HTMLElement}
 */
export function strip({ label, counts, names, tone = "warn" }) {
  const most = Math.max(1, ...counts.map((count) => count ?? 0));
  const cells = counts.map((count, i) => [
    svg("rect", {
      class: count === null ? "cell yet" : "cell",
      x: i * CELL + 0.5,
      y: 0.5,
      width: CELL - 3,
      height: DEEP - 1,
    }),
    count > 0 && level(count / most, i * CELL, tone),
    i % 6 === 0 && svg("text", { x: i * CELL, y: DEEP + 12 }, names[i]),
  ]);
  const some = counts.map((count, i) => count && `${names[i]} ${count}`).filter(Boolean);
  const wide = counts.length * CELL;
  return h(
    "span",
    { class: "hours" },
    svg(
      "svg",
      {
        viewBox: `0 0 ${wide} ${DEEP + 14}`,
        width: wide,
        height: DEEP + 14,
        role: "img",
        "aria-label": `${label}: ${some.join(", ") || "none"}`,
      },
      cells,
    ),
  );
}

function level(share, x, tone) {
  const tall = 4 + (DEEP - 4) * share;
  return svg("rect", { class: tone, x, y: px(DEEP - tall), width: CELL - 2, height: px(tall) });
}

/**
 * Days in columns of weeks, Monday first; as many of the latest weeks as there is room for.
 * @param {{title: string, note?: any, label: string, days: {day: string, value: number}[], today: string, format: (n: number) => string}} what
 *   day: "2026-11-29"; days that are not named had nothing
 * @returns {HTMLElement}
 */
export function calendar({ title, note, label, days, today, format }) {
  const values = new Map(days.map(({ day, value }) => [day, value]));
  return plot({
    title,
    note,
    label,
    hint: "Arrow keys go from day to day.",
    draw: (wide) => draw(wide, values, today, format),
    twin: {
      head: ["Day", "Calls"],
      rows: [...days].reverse().map(({ day, value }) => [`${dayOf(day)} ${day.slice(0, 4)}`, format(value)]),
    },
  });
}

function draw(wide, values, today, format) {
  const left = 36;
  const size = Math.max(13, Math.min(20, Math.floor((wide - left) / 53)));
  const weeks = Math.max(4, Math.min(53, Math.floor((wide - left) / size)));
  const end = Date.parse(today);
  const monday = end - ((new Date(end).getUTCDay() + 6) % 7) * DAY;
  const first = monday - (weeks - 1) * 7 * DAY;
  const all = Array.from({ length: weeks * 7 }, (_, i) => new Date(first + i * DAY).toISOString().slice(0, 10));
  const shown = all.filter((day) => day <= today);
  const most = Math.max(1, ...shown.map((day) => values.get(day) ?? 0));
  const place = (i) => ({ x: left + Math.floor(i / 7) * size, y: 16 + (i % 7) * size });
  const marks = shown.map((day, i) => {
    const { x, y } = place(i);
    const value = values.get(day) ?? 0;
    const share = Math.sqrt(value / most); // a busy day must not make all others look idle
    const tall = Math.max(3, (size - 3) * share);
    const node = svg(
      "g",
      { class: "mark" },
      svg("rect", { class: "cell", x: x + 0.5, y: y + 0.5, width: size - 4, height: size - 4 }),
      value > 0 &&
        svg("rect", {
          class: `q1 tone-${Math.ceil(share * 4)}`,
          x,
          y: px(y + size - 3 - tall),
          width: size - 3,
          height: px(tall),
        }),
    );
    return { node, name: dayOf(day), said: format(value) };
  });
  const later = all.slice(shown.length).map((_, n) => {
    const { x, y } = place(shown.length + n);
    return svg("rect", { class: "cell yet", x: x + 0.5, y: y + 0.5, width: size - 4, height: size - 4 });
  });
  const rows = WEEKDAYS.map((name, i) => name && text(name, 0, 16 + i * size + size - 5));
  return {
    tall: 16 + 7 * size,
    kids: [months(all, place), rows, marks.map(({ node }) => node), later],
    marks,
    across: 7,
    down: 1,
  };
}

function months(all, place) {
  return all
    .map((day, i) => [day, i])
    .filter(([day, i]) => i % 7 === 0 && Number(day.slice(8)) <= 7)
    .map(([day, i]) => text(MONTHS[Number(day.slice(5, 7)) - 1], place(i).x, 10));
}
