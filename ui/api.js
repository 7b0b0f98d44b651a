// The server, over fetch. Whatever goes wrong becomes one Trouble: a sentence, what to do, and the request's id.

/** A failure to show: `message` says what is wrong, `hint` what to do next. */
export class Trouble extends Error {
  /**
   * @param {string} message
   * @param {{status?: number, kind?: string, hint?: string, request?: string, param?: string, wait?: number}} [more]
   *   param: the field it is about; wait: seconds until the server looks at another try
   */
  constructor(message, { status = 0, kind = "error", hint = "", request = "", param = "", wait = 0 } = {}) {
    super(message);
    Object.assign(this, { status, kind, hint, request, param, wait });
  }
}

let lost = () => {};

/** @param {() => void} run what to do at once, whenever a request finds no server or a stream breaks off */
export const whenLost = (run) => void (lost = run);

/** @returns {Trouble} */
export function gone() {
  lost();
  return new Trouble("The server is not running.", { kind: "gone", hint: "Start it with: python3 serve.py" });
}

/** @returns {Trouble} an answer that ended before its end */
export function cut() {
  lost();
  return new Trouble("The stream broke off before the panel was done.", { kind: "cut" });
}

/** @returns {Trouble} */
function silent() {
  lost();
  return new Trouble("The server does not answer.", { kind: "gone", hint: "Start it again with: python3 serve.py" });
}

/**
 * @param {string} path
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>} the JSON that came back
 */
export const get = async (path, signal) => (await send("GET", path, undefined, signal)).json();

/**
 * @param {string} path
 * @param {unknown} body
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export const post = async (path, body, signal) => (await send("POST", path, body, signal)).json();

/**
 * One request, answered or in Trouble. An abort passes through as it is.
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 * @param {AbortSignal} [signal]
 * @returns {Promise<Response>}
 */
export async function send(method, path, body, signal) {
  const headers = body === undefined ? {} : { "content-type": "application/json" };
  let response;
  try {
    response = await fetch(path, { method, headers, signal, body: body && JSON.stringify(body), cache: "no-store" });
  } catch (problem) {
    if (problem.name === "AbortError") throw problem;
    throw problem.name === "TimeoutError" ? silent() : gone();
  }
  if (response.status === 401 && path.startsWith("/api/")) signIn();
  if (!response.ok) throw await trouble(response);
  return response;
}

/** The session is over: to the form, and from there back to this page. */
export function signIn() {
  const here = location.pathname + location.search;
  location.assign(here === "/" ? "/login" : `/login?to=${encodeURIComponent(here)}`);
}

async function trouble(response) {
  const said = await response.json().catch(() => ({}));
  const error = said.error ?? {};
  const message = error.message ?? said.errors?.join(" ") ?? `The server answered ${response.status} without a reason.`;
  return new Trouble(message, {
    status: response.status,
    kind: error.kind ?? error.type ?? "error",
    hint: error.hint ?? "",
    param: error.param ?? "",
    request: response.headers.get("x-request-id") ?? "",
    wait: Number(response.headers.get("retry-after")) || 0,
  });
}
