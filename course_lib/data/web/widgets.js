// Makes the course's widgets live where no kernel runs. Each is an anywidget, which is a module and a model with its state.
// So a page needs neither require.js nor Jupyter's own widget manager, which weigh more than all the rest.
(() => {
  const saved = (kind) => [...document.querySelectorAll(`script[type="application/vnd.jupyter.widget-${kind}+json"]`)]
    .map((script) => [script, JSON.parse(script.textContent)]);
  globalThis.COURSE_MODELS_AT = new URL("models/", document.currentScript.src).href; // the scripts of what computes in the page

  function modelOf(state) {
    const heard = {};
    return {
      get: (name) => state[name],
      on: (event, listener) => (heard[event] ??= []).push(listener),
      save_changes: () => {},
      set(name, value) {
        state[name] = value;
        heard[`change:${name}`]?.forEach((listener) => listener());
      },
    };
  }

  addEventListener("DOMContentLoaded", () => {
    const states = Object.assign({}, ...saved("state").map(([, { state }]) => state)), models = {};
    saved("view").forEach(async ([script, { model_id: id }]) => {
      const { state } = states[id], model = (models[id] ??= modelOf(state));
      const box = document.createElement("div"), style = document.createElement("style"), el = document.createElement("div");
      box.className = "jupyter-widgets widget-subarea";
      style.textContent = state._css;
      box.append(style, el);
      script.after(box);
      const module = await import(URL.createObjectURL(new Blob([state._esm], { type: "text/javascript" })));
      module.default.render({ model, el });
    });
  });
})();
