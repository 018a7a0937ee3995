// Starts the deck, lets figures fill their slides, and leaves an explorer's control the keys that it needs.
Reveal.initialize({
  controls: false, progress: true, hash: true, center: false, transition: "none", slideNumber: "c/t",
  width: 1280, height: 720, margin: 0, plugins: [RevealNotes],
});

// What is made for a page grows until it fills its slide, once all of it is there: an explorer, a figure, or else the words.
const END = 708; // of 720 pixels
function grow() {
  const slide = Reveal.getCurrentSlide();
  const widgets = [...slide.querySelectorAll("script[type$='view+json']")];
  if (slide.dataset.grown || !widgets.every(({ parentNode }) => parentNode.querySelector(".am-explorer, .am-prediction"))) return;
  const free = () => {
    const bottoms = [...slide.children].map((part) => part.getBoundingClientRect().bottom);
    return END - (Math.max(...bottoms) - slide.getBoundingClientRect().top) / Reveal.getScale();
  };
  const set = (name, value) => slide.style.setProperty(name, value);
  // Gives the property the largest value with which all fits, else the least.
  function largest(name, least, most, fits) {
    const fit = (size) => (set(name, size), fits());
    if (fit(most)) return;
    for (let [low, high] = [least, most]; high - low > 0.05; ) {
      const middle = (low + high) / 2;
      if (fit(middle)) least = low = middle;
      else high = middle;
    }
    if (!fit(least)) fit(1);
  }
  const measured = slide.querySelector(".jp-Cell:has(.am-prediction) .measured");
  if (measured) {
    const options = [...slide.querySelectorAll(".am-prediction label")].map((option) => option.textContent);
    predicted(measured, options.sort((one, other) => other.length - one.length)[0]); // the room that it will need
  }
  const explorer = slide.querySelector(".am-explorer:not(.am-in-page)"), images = slide.querySelectorAll("img");
  if (explorer) {
    const fits = () => {
      explorer.dispatchEvent(new Event("resize")); // it reserves the room of its tallest frame
      return free() >= 0 && [explorer, ...explorer.querySelectorAll(".am-frame")].every((box) => box.scrollWidth <= box.clientWidth + 1);
    };
    largest("--am-zoom", 1, 2.2, fits); // first the drawing, then its words
    largest("--am-size", 0.84, explorer.querySelector(".am-frame svg:not(.am-arcs)") ? 1.5 : 1.8, fits);
    explorer.style.minHeight = `${explorer.offsetHeight + Math.max(0, free())}px`;
  } else if (images.length === 1) {
    const [width, height] = [images[0].offsetWidth, images[0].offsetHeight];
    images[0].style.maxHeight = "none";
    images[0].style.height = `${Math.min(height + free(), (height * 1216) / width)}px`;
  } else if (images.length + widgets.length === 0 || measured) {
    const cut = () => [...slide.querySelectorAll("table, mjx-math, pre")].some((box) => {
      const { right } = box.getBoundingClientRect(), wide = box.matches("pre") && box.scrollWidth > box.clientWidth + 1;
      return wide || right > box.closest(".jp-Cell").getBoundingClientRect().right + 1;
    });
    const most = slide.querySelector("table, pre, .am-prediction") ? 1.5 : 2;
    largest("--am-words", measured ? 0.94 : 1, most, () => free() >= 0 && !cut());
  }
  if (!slide.querySelector(".am-in-page")) set("--am-free", `${Math.max(0, free())}px`);
  slide.dataset.grown = true;
}
Reveal.on("ready", grow);
Reveal.on("slidechanged", grow);
new MutationObserver(grow).observe(document.querySelector(".slides"), { childList: true, subtree: true }); // explorers come late

// A vote shows on its slide what was measured. Each "Measured: …" that answers it begins with what was predicted.
function predicted(measured, option) {
  measured.querySelector("span")?.remove();
  const said = document.createElement("b"), told = document.createElement("span");
  said.textContent = option;
  told.append("You predicted: ", said, ". ");
  measured.prepend(told);
}
document.addEventListener("change", ({ target }) => {
  if (!target.matches(".am-prediction input")) return;
  const vote = target.closest("[id^=cell-id]").id;
  for (const measured of document.querySelectorAll(`[data-vote="${vote}"]`)) {
    predicted(measured, target.closest("label").textContent);
    measured.classList.add("voted");
  }
});

// A clicker's keys always turn the slide. After a click on a control the other keys are the deck's, too, except those of a
// slider and of a text field. A control reached by Tab keeps all keys until Esc.
const PAGES = { PageDown: "next", PageUp: "prev" };
let pointed = false;
addEventListener("pointerdown", () => (pointed = true), true);
document.querySelector(".slides").addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (!target.closest(".jupyter-widgets")) return;
  if (key === "Tab") pointed = false;
  const slides = target.matches("[type=range], [role=slider]") && /^(Arrow|Home|End)/.test(key);
  const own = slides || !pointed || target.matches("textarea, [type=text]") || /^(Shift|Control|Alt|Meta)$/.test(key);
  if (PAGES[key]) {
    event.preventDefault();
    Reveal[PAGES[key]]();
  } else if (key === "Escape" || !own) target.blur();
  if (PAGES[key] || key === "Escape" || own) event.stopPropagation();
});

// What moves in the speaker view moves on the projector, and the other way round. The speaker view's slides are frames
// with this deck in a window that the projected deck opened. They announce themselves to it.
const channel = "attention-measured";
const others = new Set();
const controlsOf = (cell) => [...cell.querySelectorAll(".jupyter-widgets :is(input, select, button)")];
const tell = (to, told) => to.postMessage({ channel, ...told }, "*"); // decks opened from a folder have no origin

if (window.parent.opener && window.parent !== window) {
  others.add(window.parent.opener);
  tell(window.parent.opener, {});
}
for (const kind of ["input", "change", "click"]) {
  document.addEventListener(kind, ({ target, isTrusted }) => {
    if (!isTrusted || !target.closest(".jupyter-widgets") || (kind === "click") !== target.matches("button")) return;
    if (target.closest(".am-tells")) return;
    const cell = target.closest("[id^=cell-id]");
    const told = { kind, cell: cell.id, place: controlsOf(cell).indexOf(target), value: target.value, checked: target.checked };
    others.forEach((other) => tell(other, told));
  });
}
// An explorer that is dragged has no input to relay; it tells its state, and takes the other window's.
document.addEventListener("am-told", ({ target, detail }) => {
  const { id } = target.closest("[id^=cell-id]");
  others.forEach((other) => tell(other, { cell: id, state: detail }));
});
addEventListener("message", ({ data, source }) => {
  if (data.channel !== channel) return;
  others.add(source);
  if (data.state) {
    const explorer = document.getElementById(data.cell).querySelector(".am-tells");
    explorer?.dispatchEvent(new CustomEvent("am-take", { detail: data.state }));
    return;
  }
  const control = data.kind && controlsOf(document.getElementById(data.cell))[data.place];
  if (!control) return;
  if (data.kind === "click") return control.click();
  control.value = data.value;
  control.checked = data.checked;
  control.dispatchEvent(new Event(data.kind, { bubbles: true }));
});
