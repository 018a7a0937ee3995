// What all widgets have in common: how they make elements, and whose the keys are.

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes))
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false) element.setAttribute(name, value === true ? "" : value);
  element.append(...children);
  return element;
}
// An element of a page, and one of a drawing; `onclick` and its like are listeners, children may be texts.
const make = (tag, attributes = {}, ...children) => filled(document.createElement(tag), attributes, children);
const drawn = (tag, attributes = {}, ...children) =>
  filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

// JupyterLab leaves a widget its keys. In its slideshow a clicker's keys turn the slide all the same, and Esc frees the focus.
function ownKeys(el) {
  el.dataset.lmSuppressShortcuts = "true";
  el.addEventListener("keydown", (event) => {
    const cell = el.closest(".jp-Deck .jp-Cell");
    if (!cell || !["PageDown", "PageUp", "Escape"].includes(event.key)) return;
    event.preventDefault();
    cell.focus();
    if (event.key !== "Escape") cell.dispatchEvent(new KeyboardEvent("keydown", event));
  });
}
