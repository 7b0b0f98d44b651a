// What this browser remembers between visits. Storage may be closed or full: then the page works and forgets.

/**
 * @template T
 * @param {string} name
 * @param {T} otherwise what to answer when nothing is kept
 * @returns {T}
 */
export function recall(name, otherwise) {
  try {
    return JSON.parse(localStorage.getItem("bench." + name)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

/**
 * @param {string} name
 * @param {unknown} value null forgets it
 */
export function keep(name, value) {
  try {
    if (value === null) localStorage.removeItem("bench." + name);
    else localStorage.setItem("bench." + name, JSON.stringify(value));
  } catch {
    // See above: forgetting is the fallback.
  }
}
