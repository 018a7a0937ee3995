// A table of tick boxes, with a row for each query and a column for each key. Each cell shows the weight that the softmax
// over the ticked cells of its row gives. It is computed here, so it works without a kernel.
function render({ model, el }) {
  const words = model.get("words");
  const scores = model.get("scores");
  const presets = model.get("presets");

  function paint(allowed) {
    model.set("allowed", allowed);
    model.save_changes();
  }
  function turned(chosen) {
    const now = model.get("allowed");
    const on = !chosen.every(([i, j]) => now[i][j]);
    return now.map((row, i) => row.map((old, j) => (chosen.some(([a, b]) => a === i && b === j) ? on : old)));
  }
  const heading = (word, scope, chosen) => make("th", { scope: scope === "column" ? "col" : scope }, make("button", {
    "aria-label": `turn the whole ${scope} ${word}`, onclick: () => paint(turned(chosen)),
  }, word));

  const menu = make("select", { onchange: () => menu.value && paint(presets[menu.value]) },
    ...Object.keys(presets).map((name) => new Option(name, name)), new Option("your own", ""));
  const boxes = words.map((word, i) => words.map((key, j) => make("input", {
    type: "checkbox", "aria-label": `${word} may look at ${key}`, onchange: () => paint(turned([[i, j]])),
  })));
  const shown = words.map(() => words.map(() => make("span")));
  const columns = words.map((word, j) => heading(word, "column", words.map((_, i) => [i, j])));
  const rows = words.map((word, i) => make("tr", {}, heading(word, "row", words.map((_, j) => [i, j])),
    ...words.map((_, j) => make("td", {}, make("label", {}, boxes[i][j], shown[i][j])))));
  const said = make("div", { "aria-live": "polite" });
  el.append(
    make("div", {}, make("label", {}, "mask ", menu)),
    make("table", { class: "am-painter" }, make("tr", {}, make("th", {}, "looks ↓ at →"), ...columns), ...rows),
    said,
  );

  function draw() {
    const allowed = model.get("allowed");
    words.forEach((_, i) => {
      softmax(scores[i].map((score, j) => (allowed[i][j] ? score : -Infinity))).forEach((weight, j) => {
        boxes[i][j].checked = allowed[i][j];
        shown[i][j].textContent = weight.toFixed(2);
        shown[i][j].closest("td").style.background = `rgba(0, 114, 178, ${(0.6 * weight).toFixed(2)})`;
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
  keepKeys(el);
  draw();
}

export default { render };
