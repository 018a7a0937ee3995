// The first page plays a short story: the translator changes its sentence by itself, until the visitor takes over. Each
// scene in `data-scenes` has a sentence, the place of the French word whose arcs are shown, the nouns that it stands for,
// what it should be if it is wrong, what the page says, the last word's share, and its seconds.
(() => {
  const story = document.querySelector(".story");
  if (!story) return;
  const [words, play, own] = [".words", ".play", ".own"].map((name) => story.querySelector(name));
  const scenes = JSON.parse(story.dataset.scenes), switches = [...story.querySelectorAll("[data-word]")];
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  let sentence = scenes[0].sentence, next = 0, timer = 0;

  const set = (more) => story.querySelector(".am-translator").dispatchEvent(new CustomEvent("am-take", { detail: more }));
  function now(said) {
    sentence = said;
    const there = sentence.split(" ");
    for (const button of switches) button.setAttribute("aria-pressed", String(there.includes(button.dataset.word)));
  }
  function playing(scene) {
    story.classList.toggle("playing", scene !== null);
    story.classList.toggle("wrong", Boolean(scene?.wanted));
    story.style.setProperty("--wanted", JSON.stringify(scene?.wanted ?? ""));
    story.style.setProperty("--last", JSON.stringify(scene ? scene.last.toFixed(2).slice(1) : ""));
    story.querySelector(".am-said").setAttribute("aria-live", scene ? "off" : "polite"); // the words say enough
    for (const word of story.querySelectorAll(".am-word"))
      word.classList.toggle("meant", Boolean(scene?.nouns.includes(word.firstChild.textContent)));
  }
  function show() {
    const scene = scenes[next];
    set({ sentence: scene.sentence, at: { side: "french", place: scene.at } });
    now(scene.sentence);
    playing(scene);
    words.innerHTML = scene.words;
    next = (next + 1) % scenes.length;
    if (!next) return stop("Replay");
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
    stop("Replay");
    playing(null);
  }

  play.addEventListener("click", () => (timer ? stop("Go on") : show()));
  own.addEventListener("click", () => {
    own.setAttribute("aria-expanded", String(story.classList.toggle("opened")));
    over();
    words.innerHTML = story.dataset.own;
  });
  for (const button of switches)
    button.addEventListener("click", () => {
      over();
      const { word, instead } = button.dataset;
      now(sentence.split(" ").map((one) => (one === instead ? word : one)).join(" "));
      set({ sentence });
      const scene = scenes.find((one) => one.sentence === sentence);
      if (scene) playing(scene);
      words.innerHTML = scene ? scene.words : story.dataset.own;
    });
  story.addEventListener("am-told", ({ detail }) => {
    over();
    now(detail.sentence);
  });

  // The model's script comes after the page.
  const ready = setInterval(() => {
    if (!story.querySelector(".am-translator .am-word")) return;
    clearInterval(ready);
    play.hidden = false;
    const shared = new URLSearchParams(location.search).has("sentence");
    if (shared) own.click();
    else {
      show();
      if (calm) stop("Play");
    }
  }, 100);
})();
