// A figure tells the value of the mark, bar or square that the pointer is at, or that a finger taps.
(() => {
  const REACH = 20; // pixels
  const card = Object.assign(document.createElement("div"), { id: "value-card", hidden: true });
  const ring = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  ring.setAttribute("class", "ring");
  const told = new WeakMap();

  // What is nearest to a place on the screen, and all that is drawn at the same place. A mark goes before its bar.
  function nearest(figure, x, y) {
    if (!told.has(figure)) told.set(figure, JSON.parse(figure.dataset.told));
    const screen = figure.getScreenCTM();
    const point = new DOMPoint(x, y).matrixTransform(screen.inverse());
    const far = ([left, top, wide, tall]) =>
      Math.hypot(Math.max(left - point.x, 0, point.x - left - wide), Math.max(top - point.y, 0, point.y - top - tall)) +
      (wide ? 0 : -5);
    const near = told.get(figure).filter((box) => far(box) * screen.a < REACH).sort((a, b) => far(a) - far(b));
    return near.filter((box) => box.slice(0, 4).every((number, i) => Math.abs(number - near[0][i]) < 1.5));
  }
  function show(figure, boxes) {
    const [left, top, wide, tall] = boxes[0];
    const edge = wide ? 0 : 6;
    Object.entries({ x: left - edge, y: top - edge, width: wide + 2 * edge, height: tall + 2 * edge, rx: edge })
      .forEach(([name, value]) => ring.setAttribute(name, value));
    figure.append(ring);
    const said = [...new Set(boxes.map((box) => box[4]))].slice(0, 4);
    card.replaceChildren(...said.map((text) => Object.assign(document.createElement("p"), { textContent: text })));
    card.hidden = false;
    const [at, size] = [ring.getBoundingClientRect(), card.getBoundingClientRect()];
    card.style.top = `${scrollY + (at.top > size.height + 8 ? at.top - size.height - 4 : at.bottom + 4)}px`;
    card.style.left = `${scrollX + Math.max(8, Math.min(at.right, document.body.clientWidth - size.width - 8))}px`;
  }
  function look({ target, clientX, clientY }) {
    const figure = target.closest?.("article .cell_output .figure[data-told]");
    const boxes = figure ? nearest(figure, clientX, clientY) : [];
    if (boxes.length) return show(figure, boxes);
    card.hidden = true;
    ring.remove();
  }
  document.addEventListener("pointermove", look);
  document.addEventListener("pointerdown", look);
  document.addEventListener("DOMContentLoaded", () => document.body.append(card));
})();
