// A sentence as buttons. Arcs lead from the chosen word to what each head of a layer looks at. The page has all the
// weights, so this works without a kernel.
const LEAST = 0.05; // lighter arcs can hardly be seen
const WRITTEN = 0.1;
const short = (weight) => weight.toFixed(2).replace(/^0/, "");

function render({ model, el }) {
  const [sentences, layers, colours] = ["sentences", "layers", "colours"].map((name) => model.get(name));
  const weights = JSON.parse(model.get("weights")); // (sentence, layer, head, word that looks, word looked at)
  const name = Math.random(); // every widget loads this module again, so it cannot count
  let [hovered, words, arcs, numbers] = [null];

  const now = () => ({ ...model.get("chosen"), word: hovered ?? model.get("chosen").word });
  const tell = () => el.dispatchEvent(new CustomEvent("am-told", { bubbles: true, detail: now() }));
  function choose(changed) {
    hovered = null;
    const chosen = { ...model.get("chosen"), ...changed };
    chosen.word = Math.min(chosen.word, sentences[chosen.sentence].flat().length - 1);
    model.set("chosen", chosen);
    model.save_changes();
    tell();
  }
  function point(word) {
    if (hovered === word) return;
    hovered = word;
    draw();
    tell();
  }

  const box = make("div", { class: "am-choices" });
  const inputs = [];
  function menu(key, title, options) {
    const select = make("select", { "aria-label": title, oninput: () => choose({ [key]: Number(select.value) }) },
      ...options.map((option, i) => new Option(option, i)));
    inputs.push((chosen) => (select.value = chosen[key]));
    box.append(make("label", {}, title, select));
  }
  function marks(key, title, options) {
    box.append(make("div", { class: "am-marks", role: "radiogroup", "aria-label": title }, make("span", {}, title),
      ...options.map(([value, text, colour]) => {
        const input = make("input", { type: "radio", name: `am-${key}-${name}`, value, oninput: () => choose({ [key]: value }) });
        inputs.push((chosen) => (input.checked = chosen[key] === value));
        return make("label", {}, input, ...(colour ? [make("i", { style: `background: ${colour}` })] : []), text);
      })));
  }
  if (sentences.length > 1) menu("sentence", "sentence", sentences.map((lines) => lines[0].join(" ")));
  if (layers.length > 1) marks("layer", "layer", layers.map((layer, i) => [i, layer]));
  if (colours.length > 1) marks("head", "head", [[-1, "all"], ...colours.map((colour, i) => [i, `${i + 1}`, colour])]);
  marks("least", "arcs", [[0, "all"], [0.2, "from .2"]]);

  const frame = make("div", { class: "am-frame am-heads", onpointerleave: () => point(null) });
  const said = make("div", { class: "visually-hidden", "aria-live": "polite" });
  el.append(box, frame, said);

  function build(sentence) {
    frame.dataset.sentence = sentence;
    const svg = drawn("svg", { class: "am-arcs", "aria-hidden": "true" });
    const row = make("div", { class: "am-words", role: "toolbar", "aria-label": "the word that looks", onkeydown(event) {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      event.preventDefault();
      words[(now().word + step + words.length) % words.length].focus();
    } });
    frame.replaceChildren(svg, row);
    [words, numbers] = [[], []];
    sentences[sentence].forEach((line, i) => {
      if (i) row.append(make("span", { class: "am-break" }));
      line.forEach((text) => {
        const place = words.length, below = make("div", { class: "am-numbers" });
        const word = make("button", {
          onpointerenter: ({ pointerType }) => pointerType === "mouse" && point(place),
          onfocus: () => place !== model.get("chosen").word && choose({ word: place }),
          onclick: () => choose({ word: place }), // Safari focuses no button
        }, text);
        row.append(make("div", { class: "am-word" }, word, below));
        words.push(word);
        numbers.push(below);
      });
    });
    arcs = colours.map((colour, head) => {
      const id = `am-tip-${head}-${name}`;
      const box = { viewBox: "0 0 8 8", refY: 4, orient: "auto", markerUnits: "userSpaceOnUse" };
      const paths = words.map(() => drawn("path"));
      svg.append(drawn("marker", { id, ...box }, drawn("path", { d: "M0 0L8 4L0 8z", fill: colour })),
        drawn("g", { fill: "none", stroke: colour, "marker-end": `url(#${id})` }, ...paths));
      return paths;
    });
    sizes.disconnect();
    sizes.observe(row);
  }

  // Arcs leave and arrive above the words; to a word in a lower line they leave below. Heads stand side by side.
  function arc(from, to, aside, size) {
    const middle = ({ parentNode: box }) => box.offsetLeft + box.offsetWidth / 2 + aside;
    const loop = from === to ? 0.6 * size : 0;
    const [a, b] = [middle(from) - loop, middle(to) + loop];
    const above = (word) => word.offsetTop - 2;
    const below = ({ parentNode: box }) => box.offsetTop + box.offsetHeight;
    const [here, there] = [above(from), above(to) - size];
    if (Math.abs(here - there - size) < 4) {
      const room = from.offsetTop - from.parentNode.offsetTop; // what the column leaves free above its word
      const top = here - Math.min(1.3 * room, 1.6 * size + 0.3 * Math.abs(b - a)) - Math.abs(aside) / 2;
      return `M${a} ${here}C${a} ${top} ${b} ${top} ${b} ${there}`;
    }
    const [start, end, pull] = here < there ? [below(from), there, 1] : [here, below(to) + size, -1];
    const bend = pull * Math.max(30, Math.abs(end - start) / 2);
    return `M${a} ${start}C${a} ${start + bend} ${b} ${end - bend} ${b} ${end}`;
  }

  function draw() {
    const { sentence, layer, head: only, least, word } = now();
    if (frame.dataset.sentence !== `${sentence}`) build(sentence);
    inputs.forEach((follow) => follow(now()));
    const floor = (head) => (only < 0 || only === head ? Math.max(least, LEAST) : Infinity);
    const seen = weights[sentence][layer].map((rows, head) =>
      rows.map((row) => row.map((weight) => (weight >= floor(head) ? weight : 0))),
    );
    const looks = seen.map((rows) => rows[word]);
    words.forEach((button, i) => {
      button.setAttribute("aria-pressed", i === word);
      button.tabIndex = i === model.get("chosen").word ? 0 : -1;
      numbers[i].replaceChildren();
      looks.forEach((row, head) => {
        if (row[i] < WRITTEN) return;
        numbers[i].append(make("span", { style: `--head: ${colours[head]}` }, short(row[i])));
      });
    });
    // Each line keeps the room that the word with the most numbers and arcs needs, so nothing moves.
    const lines = sentences[sentence].flatMap((line, i) => line.map(() => i));
    const needed = sentences[sentence].map(() => ({ rows: 0, arcs: false }));
    seen.forEach((rows) => rows.forEach((row, from) => row.forEach((weight, to) => {
      if (weight && lines[to] <= lines[from]) needed[lines[from]].arcs = true;
      if (weight && lines[to] > lines[from]) needed[lines[to]].arcs = true;
      const count = seen.filter((rows) => rows[from][to] >= WRITTEN).length;
      needed[lines[to]].rows = Math.max(needed[lines[to]].rows, count);
    })));
    numbers.forEach(({ parentNode: { style } }, i) => {
      style.setProperty("--rows", needed[lines[i]].rows);
      style.setProperty("--room", needed[lines[i]].arcs ? "var(--arc)" : "0.4em");
    });
    const size = frame.isConnected ? parseFloat(getComputedStyle(frame).fontSize) : 0; // else drawn when it is
    arcs.forEach((paths, head) => {
      const aside = (head - (arcs.length - 1) / 2) * 0.4 * size;
      Object.entries({ markerWidth: 0.8 * size, markerHeight: 0.8 * size }).forEach(([key, value]) =>
        paths[0].parentNode.previousSibling.setAttribute(key, value),
      );
      paths.forEach((path, i) => {
        const weight = looks[head][i];
        path.setAttribute("d", arc(words[word], words[i], aside, 0.7 * size));
        path.setAttribute("stroke-width", ((0.1 + 0.4 * weight) * size).toFixed(1));
        path.setAttribute("opacity", weight && 0.45 + 0.55 * weight);
      });
    });
    const told = looks
      .flatMap((row, head) => row.map((weight, i) => ({ weight, i, head })))
      .filter(({ weight }) => weight >= WRITTEN)
      .sort((one, other) => other.weight - one.weight)
      .map(({ weight, i, head }) => `${words[i].textContent} ${short(weight)} (head ${head + 1})`);
    said.textContent = `${words[word].textContent} looks at: ${told.join(", ") || "nothing"}`;
  }
  const sizes = new ResizeObserver(draw);
  model.on("change:chosen", draw);
  el.addEventListener("am-take", ({ detail }) => {
    hovered = null;
    model.set("chosen", detail);
    model.save_changes();
  });
  el.classList.add("am-explorer", "am-tells");
  el.setAttribute("role", "group");
  el.setAttribute("aria-label", "Explorer: where heads look");
  keepKeys(el);
  draw();
}

export default { render };
