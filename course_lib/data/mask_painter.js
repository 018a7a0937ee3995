// A table of tick boxes, with a row for each query and a column for each key. Each cell shows the weight that the softmax
// over the ticked cells of its row gives. It is computed here, so it works without a kernel.
function softmaxOverTicked(scores, ticked) {
  const powers = scores.map((score, i) => (ticked[i] ? Math.exp(score - Math.max(...scores)) : 0));
  const total = powers.reduce((sum, power) => sum + power, 0);
  return powers.map((power) => (total > 0 ? power / total : 0));
}

function render({ model, el }) {
  const words = model.get("words");
  const scores = model.get("scores");
  const presets = model.get("presets");
  const boxes = words.map(() => []);
  const shown = words.map(() => []);

  function make(kind, parent, properties = {}) {
    const made = Object.assign(document.createElement(kind), properties);
    made.dataset.lmSuppressShortcuts = "true"; // else JupyterLab takes the keys
    parent.append(made);
    return made;
  }
  function paint(allowed) {
    model.set("allowed", allowed);
    model.save_changes();
  }
  function turned(chosen) {
    const now = model.get("allowed");
    const on = !chosen.every(([i, j]) => now[i][j]);
    return now.map((row, i) => row.map((old, j) => (chosen.some(([a, b]) => a === i && b === j) ? on : old)));
  }

  const label = make("label", make("div", el), { textContent: "mask " });
  const menu = make("select", label);
  Object.keys(presets).forEach((name) => menu.add(new Option(name, name)));
  menu.add(new Option("your own", ""));
  menu.addEventListener("change", () => menu.value && paint(presets[menu.value]));

  const table = make("table", el, { className: "am-painter" });
  const head = make("tr", table);
  make("th", head, { textContent: "looks ↓ at →" });
  words.forEach((word, j) => {
    const button = make("button", make("th", head, { scope: "col" }), { textContent: word });
    button.setAttribute("aria-label", `turn the whole column ${word}`);
    button.addEventListener("click", () => paint(turned(words.map((_, i) => [i, j]))));
  });
  words.forEach((word, i) => {
    const row = make("tr", table);
    const button = make("button", make("th", row, { scope: "row" }), { textContent: word });
    button.setAttribute("aria-label", `turn the whole row ${word}`);
    button.addEventListener("click", () => paint(turned(words.map((_, j) => [i, j]))));
    words.forEach((key, j) => {
      const cell = make("label", make("td", row));
      boxes[i][j] = make("input", cell, { type: "checkbox" });
      boxes[i][j].setAttribute("aria-label", `${word} may look at ${key}`);
      boxes[i][j].addEventListener("change", () => paint(turned([[i, j]])));
      shown[i][j] = make("span", cell);
    });
  });
  const said = make("div", el);
  said.setAttribute("aria-live", "polite");

  function draw() {
    const allowed = model.get("allowed");
    words.forEach((_, i) => {
      softmaxOverTicked(scores[i], allowed[i]).forEach((weight, j) => {
        boxes[i][j].checked = allowed[i][j];
        shown[i][j].textContent = weight.toFixed(2);
        shown[i][j].parentNode.parentNode.style.background = `rgba(0, 114, 178, ${(0.6 * weight).toFixed(2)})`;
      });
    });
    const same = (name) => JSON.stringify(presets[name]) === JSON.stringify(allowed);
    menu.value = Object.keys(presets).find(same) ?? "";
    const empty = words.filter((_, i) => !allowed[i].some(Boolean));
    said.textContent = empty.length
      ? `nothing to look at: ${empty.join(", ")}; the course's softmax gives zeros there`
      : "each row sums to 1";
  }
  model.on("change:allowed", draw);
  el.classList.add("am-explorer");
  draw();
}

export default { render };
