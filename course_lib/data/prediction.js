// A question with answers to choose from. It does not say what is right: the lesson comes back to it.
function render({ model, el }) {
  const name = `am-prediction-${Math.random()}`; // every widget has this module anew, so it cannot count
  const answer = (option, i) => make("label", {}, make("input", {
    type: "radio", name, value: i, checked: model.get("chosen") === i,
    onchange() {
      model.set("chosen", i);
      model.save_changes();
    },
  }), option);
  const question = make("legend", {}, `Your prediction: ${model.get("question")}`);
  el.append(make("fieldset", { class: "am-prediction" }, question, ...model.get("options").map(answer)));
  ownKeys(el);
}

export default { render };
