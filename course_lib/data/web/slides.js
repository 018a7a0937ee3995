// Starts the deck, lets figures fill their slides, and leaves the keys to an explorer that has the focus.
Reveal.initialize({
  controls: false, progress: true, hash: true, center: false, transition: "none", slideNumber: "c/t",
  width: 1280, height: 720, margin: 0, plugins: [RevealNotes],
});

// Figures and drawings are made for a page; on a slide they take the room that is left.
function grow() {
  const slide = Reveal.getCurrentSlide();
  const figures = slide.querySelectorAll(".jp-RenderedImage img");
  const drawings = [...slide.querySelectorAll(".am-frame svg")];
  if (slide.dataset.grown || figures.length + drawings.length === 0) return;
  slide.dataset.grown = true;
  const bottoms = [...slide.children].map((part) => part.getBoundingClientRect().bottom);
  const used = (Math.max(...bottoms) - slide.getBoundingClientRect().top) / Reveal.getScale();
  const room = Math.max(0, 690 - used);
  if (drawings.length) {
    const tall = drawings.reduce((sum, drawing) => sum + drawing.height.baseVal.value, 0);
    // Other frames of an explorer may be a few lines taller than the one now shown.
    slide.style.setProperty("--am-zoom", Math.min(1.6, Math.max(1, (tall + room - 60) / tall)));
  } else if (figures.length === 1) {
    const [width, height] = [figures[0].offsetWidth, figures[0].offsetHeight];
    figures[0].style.maxHeight = "none";
    figures[0].style.height = `${Math.min(height + room, (height * 1200) / width)}px`;
  }
}
Reveal.on("ready", grow);
Reveal.on("slidechanged", grow);
new MutationObserver(grow).observe(document.querySelector(".slides"), { childList: true, subtree: true }); // explorers come late

document.querySelector(".slides").addEventListener("keydown", (event) => {
  if (event.target.closest(".jupyter-widgets")) event.stopPropagation();
});
