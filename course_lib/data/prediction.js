// A question with answers to choose from. The lesson gives the answer later.
function render({ model, el }) {
  const name = `am-prediction-${Math.random()}`; // every widget loads this module again, so it cannot count
  const box = document.createElement("fieldset");
  box.className = "am-prediction";
  const legend = document.createElement("legend");
  legend.textContent = `Your prediction: ${model.get("question")}`;
  box.append(legend);
  model.get("options").forEach((option, i) => {
    const label = document.createElement("label");
    const input = Object.assign(document.createElement("input"), { type: "radio", name, value: i });
    input.dataset.lmSuppressShortcuts = "true"; // else JupyterLab takes the arrow keys
    input.checked = model.get("chosen") === i;
    input.addEventListener("change", () => {
      model.set("chosen", i);
      model.save_changes();
    });
    label.append(input, option);
    box.append(label);
  });
  el.append(box);
}

export default { render };
