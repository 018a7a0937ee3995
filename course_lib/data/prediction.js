// A question with answers to choose from. The lesson gives the answer later.
function render({ model, el }) {
  const name = `am-prediction-${Math.random()}`; // every widget loads this module again, so it cannot count
  const answer = (option, i) => make("label", {}, make("input", {
    type: "radio", name, value: i, checked: model.get("chosen") === i,
    onchange() {
      model.set("chosen", i);
      model.save_changes();
    },
  }), option);
  const question = make("legend", {}, `Your prediction: ${model.get("question")}`);
  el.append(make("fieldset", { class: "am-prediction" }, question, ...model.get("options").map(answer)));
  keepKeys(el);
}

export default { render };
