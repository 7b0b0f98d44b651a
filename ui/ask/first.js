// The first minutes: what the practice squad is, how to seat a model, and three questions that work already.
import { h } from "../dom.js";
import { commandLine } from "../notice.js";
import { textFile } from "./attach.js";

const CART = `import json
import os


class Cart:
    def __init__(self, items=[]):
        self.items = items

    def add(self, name, price, id=None):
        if id == None:
            id = len(self.items)
        self.items.append({"id": id, "name": name, "price": price})

    def load(self, path):
        try:
            text = open(path).read()
            self.items = json.loads(text)
        except:
            return False

    def total(self, discount):
        total = 0
        for item in self.items:
            if discount > 0:
                total += item["price"] * (1 - discount)
        return total
        print("never")
`;

const RETRY = `Which line of this fails first in production, and why?

\`\`\`python
def fetch(url, tries=3, seen={}):
    for attempt in range(tries):
        try:
            if seen.get(url) != None:
                return seen[url]
            seen[url] = download(url)
        except:
            pass
    return seen[url]
\`\`\``;

const PARSE = `How long and how complex is this, and which part should be split first?

\`\`\`python
def parse(path):
    rows, errors, sum = [], [], 0
    lines = open(path).readlines()
    for number, line in enumerate(lines):
        if not line or line.startswith("#"):
            continue
        parts = line.split(",")
        if len(parts) == 3:
            name, amount, unit = parts
            if unit == "kg":
                rows.append((name, float(amount) * 1000))
            elif unit == "g":
                rows.append((name, float(amount)))
            else:
                errors.append((number, "unit"))
        else:
            errors.append((number, "fields"))
    return rows, errors
\`\`\``;

const SAMPLES = [
  {
    title: "Review a file",
    about: "cart.py attached, with several faults",
    question: "Review cart.py. Name each fault with its line, the worst one first.",
    files: () => [textFile("cart.py", CART)],
  },
  { title: "Find the line that fails", about: "a retry loop with a shared default", question: RETRY },
  { title: "Size up a function", about: "a parser with many branches", question: PARSE },
];

/**
 * Three questions to begin with; pressing one fills the composer.
 * @param {(draft: {question: string, files?: any[]}) => void} fill
 * @returns {HTMLElement}
 */
export function samples(fill) {
  const choose = (sample) => () => fill({ question: sample.question, files: sample.files?.() ?? [] });
  const item = (sample) =>
    h(
      "li",
      {},
      h(
        "button",
        { type: "button", on: { click: choose(sample) } },
        h("strong", {}, sample.title),
        h("span", { class: "faint" }, sample.about),
      ),
    );
  return h(
    "section",
    { class: "card samples", "aria-labelledby": "samples" },
    h("header", {}, h("h2", { id: "samples" }, "Try one of these")),
    h("ul", {}, SAMPLES.map(item)),
  );
}

/**
 * Says what sits on the bench before any endpoint is set up, and how to change that.
 * @param {any} status the reply of /api/status
 * @returns {HTMLElement}
 */
export function practice({ found = [] }) {
  const ways = found.length
    ? found.map(({ what, name, command }) => [`Found ${what}`, command ?? `bench endpoint add ${name}`])
    : [["Any OpenAI-compatible address", "bench endpoint add NAME --base URL --key-stdin"]];
  const way = ([what, command]) => h("li", {}, h("span", {}, what, ": "), commandLine(command));
  return h(
    "details",
    { class: "card fold squad", open: true },
    h(
      "summary",
      {},
      h("h2", {}, "The practice squad is on the bench"),
      h("span", { class: "faint" }, "Programs, not models. How to seat models."),
    ),
    h(
      "p",
      {},
      "These seats are small programs inside this server. They read the Python in your question and report what they find, so that you can ask, compare and judge right away. Add an endpoint to seat real models.",
    ),
    h("ul", { class: "ways" }, ways.slice(0, 4).map(way)),
  );
}
