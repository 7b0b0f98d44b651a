// Make what stands on the page say what a new drawing says, and keep all that has not changed: the focus, what is selected, a press
// that has just begun. Listeners stay those of the old drawing, so a new one may differ in what it says, not in what it does.

/**
 * @param {Element} place
 * @param {(Node | string)[]} fresh what shall stand in it; a node that stands there already stays as it is
 */
export function morph(place, fresh) {
  const old = [...place.childNodes];
  const wanted = fresh.map((node) => (typeof node === "string" ? document.createTextNode(node) : node));
  if (old.length !== wanted.length) return within(place, () => place.replaceChildren(...wanted));
  old.forEach((node, i) => alike(node, wanted[i]) || within(place, () => node.replaceWith(wanted[i])));
}

// Whether one could be made to say what the other says; it does then.
function alike(node, wanted) {
  if (node === wanted) return true;
  if (!same(node, wanted)) return false;
  retell(node, wanted);
  return true;
}

function same(node, wanted) {
  if (node.nodeName !== wanted.nodeName || node.childNodes.length !== wanted.childNodes.length) return false;
  if (node.dataset?.focus !== wanted.dataset?.focus) return false;
  return [...node.childNodes].every((child, i) => same(child, wanted.childNodes[i]));
}

function retell(node, wanted) {
  if (node.nodeType === Node.TEXT_NODE) {
    if (node.data !== wanted.data) node.data = wanted.data;
    return;
  }
  for (const { name, value } of wanted.attributes)
    if (node.getAttribute(name) !== value) node.setAttribute(name, value);
  for (const { name } of [...node.attributes]) if (!wanted.hasAttribute(name)) node.removeAttribute(name);
  node.childNodes.forEach((child, i) => retell(child, wanted.childNodes[i]));
}

// The focus goes to what has the same `data-focus` afterwards.
function within(place, change) {
  const active = document.activeElement;
  const at = place.contains(active) ? active.dataset.focus : null;
  change();
  if (at && !place.contains(document.activeElement))
    place.querySelector(`[data-focus="${CSS.escape(at)}"]`)?.focus({ preventScroll: true });
}
