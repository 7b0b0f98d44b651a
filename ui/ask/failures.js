// Why a seat gave nothing, in words, and what to do about it.

/** @typedef {{cause: string, next: string}} Told */

const KINDS = {
  rate_limited: [
    "No calls left for now.",
    "The provider limits how often it may be called. Ask again later, or seat another model.",
  ],
  overloaded: ["The provider is overloaded.", "Ask again in a minute."],
  auth: ["The provider refused the key.", "Check it with: bench endpoint test, then set it with: bench endpoint key"],
  payment: ["The account has no credit.", "Top it up at the provider, or seat another model."],
  forbidden: ["The key may not use this model.", "Choose another model of this endpoint, or another key."],
  not_found: ["The provider does not know this model.", "See what it serves with: bench endpoint test"],
  too_large: ["The question does not fit this model.", "Send less, or seat a model with a larger window."],
  unreachable: ["The endpoint could not be reached.", "Is it running? Try: bench endpoint test"],
  timeout: ["It did not finish in time.", "Give it longer with: bench collection save, option --deadline"],
  cut: ["The answer broke off.", "Ask again: the connection failed part way."],
  garbage: ["The endpoint did not speak its API.", "Check its base address with: bench endpoint test"],
  stopped: ["You stopped it.", "It had not said anything yet. Ask it again when you want its answer."],
  paced: [
    "Not sent: it would have had to wait too long.",
    "The bench keeps to the limits of its provider. Ask again later.",
  ],
  bad_request: ["The provider refused the request.", "What it said is above. Nothing was answered."],
};

const STATUSES = {
  timeout: KINDS.timeout,
  empty: ["It answered with nothing.", "That counts as no answer. Ask again, or seat another model."],
  refused: ["It declined to answer.", "Put the question differently, or seat another model."],
  skipped: ["It was not called.", "It could not have answered this question."],
};

/**
 * @param {import("./panel.js").Seat} seat
 * @returns {Told}
 */
export function nextStep({ status, error }) {
  const [cause, next] = KINDS[error] ?? STATUSES[status] ?? ["No answer.", "Ask again, or seat another model."];
  return { cause, next };
}
