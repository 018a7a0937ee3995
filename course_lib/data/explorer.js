// Draws controls, and below them the frame for their values. Python computes the frames, either all beforehand or when
// a menu's choice is made.

// A frame that differs from the shown one in attributes and texts alone is patched, so that its shapes glide (see
// explorer.css); any other is swapped.
const named = (node) => [...(node.attributes ?? [])].map(({ name }) => name).join();
const alike = (old, fresh) =>
  old.nodeName === fresh.nodeName && named(old) === named(fresh) && old.childNodes.length === fresh.childNodes.length &&
  [...old.childNodes].every((child, i) => alike(child, fresh.childNodes[i]));
function patch(old, fresh) {
  if (old.nodeValue !== fresh.nodeValue) old.nodeValue = fresh.nodeValue;
  for (const { name, value } of fresh.attributes ?? []) {
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  old.childNodes.forEach((child, i) => patch(child, fresh.childNodes[i]));
}
function show(frame, html) {
  const fresh = frame.cloneNode();
  fresh.innerHTML = html;
  if (alike(frame, fresh)) patch(frame, fresh);
  else frame.replaceChildren(...fresh.childNodes);
}

function render({ model, el }) {
  const controls = model.get("controls");
  const frame = make("div", { class: "am-frame", "aria-live": "polite" });
  const told = make("div", { class: "visually-hidden", "aria-live": "polite" }); // a patched drawing is not announced by itself
  const waiting = make("i");
  const box = make("div", { class: "am-controls" });

  // Keeps the room of the tallest frame, so that nothing jumps while a control is moved.
  let measured;
  function reserve() {
    const size = `${frame.clientWidth} ${frame.querySelector("svg")?.currentCSSZoom}`; // a deck zooms its drawings
    if (!frame.clientWidth || size === measured) return;
    measured = size;
    const trial = make("div", { style: `position: absolute; visibility: hidden; width: ${frame.clientWidth}px` });
    trial.innerHTML = Object.values(model.get("frames")).map((html) => `<div class="am-frame">${html}</div>`).join("");
    frame.after(trial);
    frame.style.minHeight = `${Math.max(...[...trial.children].map((each) => each.offsetHeight))}px`;
    trial.remove();
  }

  const states = () => Object.keys(model.get("frames")).map((state) => state.split(",").map(Number));
  // The choice, with each slider kept within the frames that exist for the controls before it, and where each slider ends.
  function fitted(chosen) {
    let left = states();
    const ends = [];
    const fit = chosen.map((value, i) => {
      ends[i] = left.length && controls[i].slider ? Math.max(...left.map((state) => state[i])) : controls[i].options.length - 1;
      value = Math.min(value, ends[i]);
      left = left.filter((state) => state[i] === value);
      return value;
    });
    return [fit, ends];
  }
  // Menus with choices that have no frame ask a kernel. Without a kernel they can do nothing.
  const asks = controls.map(({ slider, options }, i) => !slider && new Set(states().map((state) => state[i])).size < options.length);
  waiting.hidden = !asks.includes(true);
  waiting.textContent = model.send ? "This is the previous picture. The new one is being computed, which needs a running kernel."
    : "Here you see one choice of the menus. Other choices need a running kernel: start the course with make lab.";

  function draw() {
    const [chosen, ends] = fitted(model.get("chosen"));
    const shown = model.get("frames")[chosen.join(",")];
    frame.style.filter = shown === undefined ? "grayscale(1)" : "";
    waiting.style.visibility = model.send && shown !== undefined ? "hidden" : ""; // its room is kept
    if (shown !== undefined) show(frame, shown);
    told.textContent = [...frame.querySelectorAll("[role=img]")].map((drawing) => drawing.ariaLabel).join("; ");
    box.querySelectorAll("[data-control]").forEach((input, i) => {
      const option = controls[i].options[chosen[i]];
      if (controls[i].slider) input.max = ends[i];
      input.value = chosen[i];
      if (controls[i].slider) {
        input.setAttribute("aria-valuetext", option);
        input.style.setProperty("--at", `${(100 * chosen[i]) / Math.max(1, input.max)}%`);
      }
      const shown = box.querySelector(`[data-value="${i}"]`);
      if (shown) shown.textContent = option;
    });
    reserve();
  }

  controls.forEach(({ name, options, slider }, i) => {
    function oninput() {
      const chosen = [...model.get("chosen")];
      chosen[i] = Number(this.value);
      model.set("chosen", fitted(chosen)[0]);
      model.save_changes();
    }
    const said = { "data-control": i, "aria-label": name, oninput };
    const widest = Math.max(...options.map((option) => option.length));
    box.append(make("label", {}, name), ...(slider
      ? [make("input", { type: "range", min: 0, step: 1, ...said }), make("output", { "data-value": i, style: `min-width: ${widest}ch` })]
      : [make("select", { disabled: asks[i] && !model.send, ...said }, ...options.map((option, n) => new Option(option, n)))]));
  });
  model.on("change:chosen", draw);
  model.on("change:frames", draw);
  el.classList.add("am-explorer");
  el.setAttribute("role", "group");
  el.setAttribute("aria-label", `Explorer: ${controls.map(({ name }) => name).join(", ")}`);
  el.append(box, frame, told, waiting);
  keepKeys(el);
  draw();
  new ResizeObserver(reserve).observe(box); // which is as wide as the frame
  el.addEventListener("resize", reserve); // a deck tries sizes and measures each at once
}

export default { render };
