// Draws controls, and below them the frame that belongs to what they say. All frames were computed in Python.
function render({ model, el }) {
  const controls = model.get("controls");
  const frame = document.createElement("div");
  frame.className = "am-frame";
  frame.setAttribute("aria-live", "polite");
  const box = document.createElement("div");
  box.className = "am-controls";

  function draw() {
    const chosen = model.get("chosen");
    frame.innerHTML = model.get("frames")[chosen.join(",")];
    box.querySelectorAll("[data-control]").forEach((input, i) => {
      const option = controls[i].options[chosen[i]];
      input.value = chosen[i];
      input.setAttribute("aria-valuetext", option);
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
  el.classList.add("am-explorer");
  el.append(box, frame);
  draw();
}

export default { render };
