// Draws controls, and below them the frame that belongs to what they say. Frames are computed in Python,
// all beforehand or each when it is chosen.
function render({ model, el }) {
  const controls = model.get("controls");
  const frame = document.createElement("div");
  frame.className = "am-frame";
  frame.setAttribute("aria-live", "polite");
  const waiting = document.createElement("i");
  waiting.textContent = "The last one; what is chosen is being computed, which takes a running kernel.";
  const box = document.createElement("div");
  box.className = "am-controls";

  function draw() {
    const chosen = model.get("chosen");
    const shown = model.get("frames")[chosen.join(",")];
    frame.style.filter = shown === undefined ? "grayscale(1)" : "";
    waiting.hidden = shown !== undefined;
    if (shown !== undefined) frame.innerHTML = shown;
    box.querySelectorAll("[data-control]").forEach((input, i) => {
      const option = controls[i].options[chosen[i]];
      input.value = chosen[i];
      if (controls[i].slider) input.setAttribute("aria-valuetext", option);
      const shown = box.querySelector(`[data-value="${i}"]`);
      if (shown) shown.textContent = option;
    });
  }

  controls.forEach(({ name, options, slider }, i) => {
    const label = document.createElement("label");
    label.textContent = name;
    const input = document.createElement(slider ? "input" : "select");
    input.dataset.control = i;
    input.dataset.lmSuppressShortcuts = "true"; // else JupyterLab takes the arrow keys
    input.setAttribute("aria-label", name);
    if (slider) Object.assign(input, { type: "range", min: 0, max: options.length - 1, step: 1 });
    else options.forEach((option, n) => input.add(new Option(option, n)));
    input.addEventListener("input", () => {
      const chosen = [...model.get("chosen")];
      chosen[i] = Number(input.value);
      model.set("chosen", chosen);
      model.save_changes();
    });
    box.append(label, input);
    if (slider) {
      const shown = document.createElement("output");
      shown.dataset.value = i;
      box.append(shown);
    }
  });
  model.on("change:chosen", draw);
  model.on("change:frames", draw);
  el.classList.add("am-explorer");
  el.setAttribute("role", "group");
  el.setAttribute("aria-label", `Explorer: ${controls.map(({ name }) => name).join(", ")}`);
  el.append(box, frame, waiting);
  draw();
}

export default { render };
