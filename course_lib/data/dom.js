// What all widgets share: how they make elements, and which keys they keep.

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes))
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false) element.setAttribute(name, value === true ? "" : value);
  element.append(...children);
  return element;
}
// An element of the page, and one of a drawing. `onclick` and its like are listeners, and children may be texts.
const make = (tag, attributes = {}, ...children) => filled(document.createElement(tag), attributes, children);
const drawn = (tag, attributes = {}, ...children) =>
  filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

// In JupyterLab a widget keeps its keys, which are shortcuts elsewhere, and Esc gives the focus back to the cell. In the
// slideshow a clicker's keys always turn the slide.
function keepKeys(el) {
  el.addEventListener("keydown", (event) => {
    const cell = el.closest(".jp-NotebookPanel .jp-Cell");
    if (!cell) return; // on the site or in a deck
    const turns = event.key.startsWith("Page") && cell.closest(".jp-Deck");
    if (turns || event.key === "Escape") cell.focus({ preventScroll: true });
    if (!turns) event.stopPropagation();
  });
}
