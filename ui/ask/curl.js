// The same question for a terminal.

/** @param {string} text @returns {string} one shell word */
const word = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * @param {{collection: string, reply: string, messages: object[] | null}} question
 * @param {string} [origin]
 * @returns {string}
 */
export function curl({ collection, reply, messages }, origin = location.origin) {
  const body = { model: `bench/${collection}${reply === "merged" ? ":merged" : ":all"}`, messages };
  return `curl ${word(origin + "/v1/chat/completions")} \\\n  -H 'content-type: application/json' \\\n  -d ${word(JSON.stringify(body))}\n`;
}
