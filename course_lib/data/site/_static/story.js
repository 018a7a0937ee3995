// The first page plays a short story: the translator changes its sentence by itself, until the visitor takes over. Each
// scene in `data-scenes` has a sentence, the place of the French word whose arcs are shown, what to say, and its seconds.
(() => {
  const story = document.querySelector(".story");
  if (!story) return;
  const scenes = JSON.parse(story.dataset.scenes), words = story.querySelector(".words"), play = story.querySelector(".play");
  const switches = [...story.querySelectorAll(".turns [data-word]")];
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  let sentence = scenes[0].sentence, next = 0, timer = 0;

  const set = (more) => story.querySelector(".am-translator").dispatchEvent(new CustomEvent("am-take", { detail: more }));
  function now(said) {
    sentence = said;
    const there = sentence.split(" ");
    for (const button of switches) button.setAttribute("aria-pressed", String(there.includes(button.dataset.word)));
  }
  function show() {
    const scene = scenes[next];
    story.classList.add("playing");
    set({ sentence: scene.sentence, at: { side: "french", place: scene.at } });
    now(scene.sentence);
    words.innerHTML = scene.words;
    next = (next + 1) % scenes.length;
    if (!next) return stop("Play again");
    timer = setTimeout(show, 1000 * scene.seconds);
    play.textContent = "Pause";
  }
  function stop(label) {
    clearTimeout(timer);
    timer = 0;
    play.textContent = label;
  }
  function over() {
    next = 0;
    story.classList.remove("playing");
    stop("Play again");
  }

  play.addEventListener("click", () => (timer ? stop("Go on") : show()));
  for (const button of switches)
    button.addEventListener("click", () => {
      over();
      const { word, instead } = button.dataset;
      now(sentence.split(" ").map((one) => (one === instead ? word : one)).join(" "));
      set({ sentence });
      const known = scenes.find((one) => one.sentence === sentence);
      words.innerHTML = known ? known.words : story.dataset.own;
    });
  story.addEventListener("am-told", ({ detail }) => {
    over();
    now(detail.sentence);
  });

  // The model's script comes after the page.
  const ready = setInterval(() => {
    if (!story.querySelector(".am-translator .am-word")) return;
    clearInterval(ready);
    const shared = new URLSearchParams(location.search).has("sentence");
    play.hidden = false;
    if (calm || shared) stop("Play");
    else show();
  }, 100);
})();
