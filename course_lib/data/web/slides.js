// Starts the deck, lets figures fill their slides, and leaves an explorer's control the keys that it needs.
Reveal.initialize({
  controls: false, progress: true, hash: true, center: false, transition: "none", slideNumber: "c/t",
  width: 1280, height: 720, margin: 0, plugins: [RevealNotes],
});

// Figures and drawings are made for a page. On a slide they grow into the room that is left, as do words without a figure.
function grow() {
  const slide = Reveal.getCurrentSlide();
  const figures = slide.querySelectorAll(".jp-RenderedImage img");
  const drawings = [...slide.querySelectorAll(".am-frame svg:not(.am-arcs)")];
  const words = !slide.querySelector("pre, .jupyter-widgets, script[type$='view+json']");
  if (slide.dataset.grown || (figures.length + drawings.length === 0 && !words)) return;
  slide.dataset.grown = true;
  const left = () => {
    const bottoms = [...slide.children].map((part) => part.getBoundingClientRect().bottom);
    return 690 - (Math.max(...bottoms) - slide.getBoundingClientRect().top) / Reveal.getScale();
  };
  const room = Math.max(0, left());
  if (drawings.length) {
    const boxes = drawings.map((drawing) => drawing.getBoundingClientRect()); // some are side by side
    const reach = (low, high) => Math.max(...boxes.map((box) => box[high])) - Math.min(...boxes.map((box) => box[low]));
    const [wide, tall] = [reach("left", "right") / Reveal.getScale(), reach("top", "bottom") / Reveal.getScale()];
    // Other frames of an explorer may be a few lines taller than the one now shown.
    slide.style.setProperty("--am-zoom", Math.min(2.2, 1120 / wide, Math.max(1, (tall + room - 60) / tall)));
  } else if (figures.length === 1) {
    const [width, height] = [figures[0].offsetWidth, figures[0].offsetHeight];
    figures[0].style.maxHeight = "none";
    figures[0].style.height = `${Math.min(height + room, (height * 1200) / width)}px`;
  } else if (figures.length === 0) {
    const cut = () => [...slide.querySelectorAll("table, mjx-math")].some((box) => {
      const { right } = box.getBoundingClientRect();
      return right > box.closest(".jp-Cell").getBoundingClientRect().right + 1;
    });
    const grown = [1.4, 1.3, 1.2, 1.1, 1].find((zoom) => {
      slide.style.setProperty("--am-words", zoom);
      return left() > 0 && !cut();
    });
    slide.style.setProperty("--am-words", grown ?? 1);
  }
}
Reveal.on("ready", grow);
Reveal.on("slidechanged", grow);
new MutationObserver(grow).observe(document.querySelector(".slides"), { childList: true, subtree: true }); // explorers come late

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
