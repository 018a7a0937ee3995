// A translator that runs in the page. The reader types or clicks a sentence, sees its French word by word, and arcs to what
// each word looks at. The state is one object. Everything the reader does makes a new one, and `show` draws it.

const KEPT = { sentence: "", layer: 2, head: 0, off: [], without: [], temperature: 0, beam: 1, seed: 1, at: null };
const SWITCHES = {
  transformer: {
    residuals: ["residuals", "the sums around each part"],
    positions: ["positions", "the code that says where a word is"],
    mask: ["the mask", "which hides later words; without it, all words are read again as each new one follows"],
  },
  recurrent: { attention: ["attention", "without it, all words count the same"] },
};
const ATTENTIONS = {
  "English looks at English": (layer) => `encoder.layers.${layer}.self_attention`,
  "French looks at English": (layer) => `decoder.layers.${layer}.cross_attention`,
  "French looks at French": (layer) => `decoder.layers.${layer}.self_attention`,
};
const FAINT = 0.03; // no arc is drawn for less weight

function start(model, el, spec) {
  const engine = new KINDS[spec.kind](spec), allowed = allowedIn(spec);
  const given = { ...KEPT, layer: spec.layers, ...model.get("start") };
  let state = { ...given, ...model.get("state"), ...spelledInAddress(allowed) };
  let written = null, hovered = null, timer = 0, typing = false;

  // ---- the elements; each of `buttons` has a function that says whether it is pressed ----

  const buttons = [];
  function toggle(text, pressed, press, attributes = {}) {
    const button = make("button", { type: "button", onclick: press, ...attributes }, text);
    buttons.push([button, pressed]);
    return button;
  }
  const group = (name, ...children) => make("div", { role: "group", "aria-label": name }, make("span", {}, name), ...children);
  const [examples, mark] = menu(model, "sentence", "your own sentence", (sentence) => change({ sentence, at: given.at }));
  const line = make("input", { type: "text", "aria-label": "English sentence", spellcheck: "false", autocomplete: "off", lang: "en",
    oninput: () => type(/\p{L}$/u.test(line.value)), onchange: () => type(false) });
  const next = make("div", { class: "am-next", role: "group", "aria-label": "words that may come next" });
  const wrong = make("p", { class: "am-unknown", role: "alert" });
  const row = (lang, name) => make("div", { class: "am-line", lang, role: "group", "aria-label": name });
  const english = row("en", "English"), french = row("fr", "French");
  const arcs = drawn("svg", { class: "am-arcs", "aria-hidden": "true" });
  arcs.innerHTML = `<defs>${[0, 1, 2, 3].map((head) => `<marker id="translator-head-${head}" class="am-head-${head}" viewBox="0 0 8 8"
    refX="6" refY="4" markerWidth="11" markerHeight="11" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 8 4 0 8z"/></marker>`).join("")}</defs>`;
  const stage = make("div", { class: "am-frame" }, arcs, english, french);
  const said = make("p", { class: "am-said", "aria-live": "polite" }), same = make("p", { class: "am-same", "aria-live": "polite" });

  const heads = Array.from({ length: spec.heads }, (_, head) => head), layers = Array.from({ length: spec.layers }, (_, i) => i);
  const headName = (name, head) => `${name}.${head}`;
  const slider = make("input", { type: "range", min: 0, max: 30, "aria-label": "temperature",
    oninput: () => change({ temperature: slider.value / 10, beam: 1 }) });
  const temperature = make("output");
  const choices = make("div", { class: "am-choices" },
    ...(spec.heads > 1 ? [
      group("layer", ...layers.map((i) => toggle(i + 1, () => state.layer === i + 1, () => change({ layer: i + 1 })))),
      group("head", ...["all", ...heads.map((head) => head + 1)].map((text, head) =>
        toggle(text, () => state.head === head, () => change({ head }), head ? { class: `am-head-${head - 1}` } : {}))),
    ] : []),
    group("switch off", ...Object.entries(SWITCHES[spec.kind]).map(([name, [text, why]]) =>
      toggle(text, () => state.without.includes(name), () => change({ without: flipped(state.without, name) }), { title: why }))),
    group("temperature", slider, temperature,
      toggle("draw other words", () => false, () => change({ seed: state.seed + 1, temperature: state.temperature || 1, beam: 1 })),
      toggle("beam of 4", () => state.beam > 1, () => change({ beam: state.beam > 1 ? 1 : 4, temperature: 0 }), { title: "keeps the four best beginnings, not only the best" })),
    ...(spec.heads > 1 ? [headGrid()] : []));
  const share = make("button", { type: "button", async onclick() {
    share.style.minWidth = `${share.offsetWidth}px`;
    try {
      await navigator.clipboard.writeText(location.href);
      share.textContent = "copied";
    } catch { // a page from a folder may not, and a reader may have forbidden it
      share.textContent = "copy it from the address bar";
    }
  } }, "copy the address of this");
  const whole = toggle("all as it was", () => false, () => change({ ...given, sentence: state.sentence, at: state.at }));
  const apart = make("details", { open: model.get("apart") }, make("summary", {}, "Take it apart"), choices,
    make("div", { class: "am-choices am-ends" }, whole, ...(onPage ? [share] : [])));

  function headGrid() {
    const rows = Object.entries(ATTENTIONS).flatMap(([title, name]) => layers.map((layer) =>
      make("tr", {}, make("th", { scope: "row" }, `${title}, layer ${layer + 1}`), ...heads.map((head) => {
        const part = headName(name(layer), head);
        return make("td", {}, toggle(head + 1, () => state.off.includes(part), () => change({ off: flipped(state.off, part) }),
          { class: `am-head-${head}`, "aria-label": `${title}, layer ${layer + 1}, head ${head + 1}: switch off` }));
      }))));
    return make("table", {}, make("caption", {}, "Single heads: click one to switch it off"), ...rows);
  }

  // ---- from a state to French ----

  const change = tied(model, el, given, allowed, () => state, (next) => {
    [state, hovered] = [next, null];
    show();
  });

  function type(on) {
    typing = on;
    change({ sentence: line.value.toLowerCase(), at: null });
  }

  function show() {
    const { words, numbers, unknown } = inWords(state.sentence, spec.source, typing), ready = numbers.every((number) => number >= 0);
    if (document.activeElement !== line) line.value = state.sentence;
    mark(state.sentence);
    offer(words, numbers);
    wrong.textContent = unknown && `The model has never read ${unknown}, so it can't translate this. It knows ${spec.source.length - 4} words and offers those that may come next.`;
    stage.classList.toggle("am-stale", !ready);
    const key = JSON.stringify([words, state.off, state.without, state.temperature, state.beam, state.seed]);
    if (ready && written?.key !== key) write(words, numbers, key);
    for (const [button, pressed] of buttons) button.setAttribute("aria-pressed", String(pressed()));
    if (document.activeElement !== slider) slider.value = Math.round(state.temperature * 10);
    temperature.textContent = state.temperature ? state.temperature.toFixed(1) : "0, the most probable word";
    slider.setAttribute("aria-valuetext", temperature.textContent);
    look();
  }

  // Arcs need room next to the words. Where a line would break, the words form two columns instead.
  // The room is fixed once per sentence, so the controls below stay where they are when the French changes.
  let roomFor;
  function arrange() {
    const now = `${stage.clientWidth} ${written?.source}`, begins = stage.clientWidth && now !== roomFor;
    if (begins) {
      roomFor = now;
      stage.style.height = "";
      stage.classList.remove("am-upright");
    }
    const broken = ({ children }) => children.length && children[children.length - 1].offsetTop > children[0].offsetTop;
    stage.classList.toggle("am-upright", [english, french].some(broken));
    if (begins) stage.style.height = `${stage.offsetHeight}px`;
    look();
  }

  function write(typed, numbers, key) {
    const { without, off, temperature, beam: width, seed } = state, began = performance.now();
    const choices = { ...WHOLE, off, temperature, beam: width, seed, even: without.includes("attention") };
    for (const name of without) if (name in choices) choices[name] = false;
    const empty = { words: [], looks: [], maps: [], logits: [] };
    const chosen = state.at?.side === "french" && written?.french[state.at.place];
    written = { key, source: typed, ...(typed.length ? translate(engine, numbers, choices) : empty) };
    el.dataset.milliseconds = (performance.now() - began).toFixed(1);
    const changed = off.length || without.length || temperature || width > 1;
    const alike = changed && typed.length && String(translate(engine, numbers).words) === String(written.words);
    same.textContent = alike ? "The French is the same as before anything was changed." : "";
    written.ended = written.words.at(-1) === EOS;
    written.french = written.words.filter((word) => word !== EOS).map((word) => spec.target[word]);
    const again = written.french.indexOf(chosen); // the chosen word may have moved
    if (again >= 0) state = { ...state, at: { side: "french", place: again } };
    english.replaceChildren(...typed.map((word, place) => wordButton(word, "english", place)));
    const shown = written.french.map((word, place) => wordButton(word, "french", place));
    french.replaceChildren(...shown, ...(typed.length && !written.ended ? ["…"] : []));
    arrange();
    clearInterval(timer);
    stage.classList.toggle("am-writing", !calm.matches);
    if (calm.matches) return;
    let count = 0; // word by word
    shown.forEach((button) => button.classList.add("am-unwritten"));
    timer = setInterval(() => {
      if (count < shown.length) return shown[count++].classList.remove("am-unwritten");
      stage.classList.remove("am-writing");
      clearInterval(timer);
    }, 90);
  }

  function wordButton(word, side, place) {
    const here = { side, place }, hover = (what) => () => ((hovered = what), look());
    return make("button", { type: "button", class: "am-word", onclick: () => change({ at: here }), onfocus: hover(here), onblur: hover(null),
      onpointerenter: hover(here), onpointerleave: hover(null) }, make("span", {}, word), make("small"));
  }

  function offer(typed, numbers) {
    if (next.dataset.after === typed.join(" ")) return; // otherwise a click would hit a button that is gone
    next.dataset.after = typed.join(" ");
    const known = typed.filter((_, i) => numbers[i] >= 0), follows = spec.follows[known.at(-1) ?? ""] ?? [];
    const to = (text, kept, name = text) => make("button", { type: "button", "aria-label": name, onclick: () =>
      change({ sentence: kept.join(" "), at: null }) }, text);
    next.replaceChildren(make("span", {}, "next word:"), ...follows.map((word) => to(word, [...known, word])),
      ...(typed.length ? [to("⌫", typed.slice(0, -1), "remove the last word")] : []));
  }

  // ---- arcs ----

  // What the word at `at` looks at in the chosen layer, each as {side, place, head, weight}.
  function targets(at) {
    const layer = state.layer - 1, chosen = (head) => !state.head || head === state.head - 1, found = [];
    const keep = (side, shift, weightsOfHeads, name) => weightsOfHeads?.forEach((weights, head) =>
      chosen(head) && !state.off.includes(headName(name, head))
        && weights.forEach((weight, place) => place + shift >= 0 && found.push({ side, place: place + shift, head, weight })));
    const [first, across, last] = Object.values(ATTENTIONS).map((name) => name(layer));
    if (at.side === "english") keep("english", 0, written.maps[layer]?.[at.place], first);
    else {
      keep("english", 0, written.looks[at.place]?.cross[layer], across);
      keep("french", -1, written.looks[at.place]?.own[layer], last); // position 0 is the start token
    }
    return found;
  }

  const buttonAt = ({ side, place }) => (side === "english" ? english : french).children[place];

  function look() {
    const at = [hovered, state.at].find((there) => there && buttonAt(there)?.matches?.("button"));
    const chosen = state.at && buttonAt(state.at);
    stage.querySelectorAll(".am-word").forEach((button) => {
      button.classList.remove("am-at", "am-seen");
      button.ariaCurrent = String(button === chosen);
      button.lastChild.textContent = "";
    });
    const old = new Map([...arcs.querySelectorAll(":scope > path")].map((path) => [path.dataset.key, path]));
    said.textContent = "";
    if (at && written) {
      buttonAt(at).classList.add("am-at");
      const found = targets(at), shares = new Map();
      const heads = (where) => new Set(found.filter(({ side }) => side === where).map(({ head }) => head)).size;
      const counts = { english: heads("english"), french: heads("french") };
      for (const target of found) {
        const button = buttonAt(target), share = (shares.get(button) ?? 0) + target.weight / counts[target.side];
        shares.set(button, share);
        if (target.weight >= FAINT) drawArc(old, at, target);
      }
      for (const [button, share] of shares) {
        if (share >= 0.1) button.classList.add("am-seen");
        button.lastChild.textContent = share >= 0.05 ? share.toFixed(2).replace("0.", ".") : "";
      }
      const told = (line, where) => {
        const named = [...shares].filter(([button, share]) => button.parentNode === line && share >= 0.1)
          .sort((a, b) => b[1] - a[1]).slice(0, 3).map(([button, share]) => `${button.firstChild.textContent} ${share.toFixed(2)}`);
        return named.length ? `${where} ${named.join(", ")}` : "";
      };
      const beginning = 1 - [...shares].reduce((rest, [button, share]) => rest + (button.parentNode === french && share), 0);
      const rest = at.side === "french" && counts.french && beginning >= 0.1 ? [`at the start token ${beginning.toFixed(2)}`] : [];
      const where = at.side === "english" ? [told(english, "")] : [told(english, "in the English"), told(french, "in the French so far"), ...rest];
      const which = spec.heads > 1 ? ` (layer ${state.layer}, ${state.head ? `head ${state.head}` : "all heads"})` : "";
      said.textContent = `${at.side === "english" ? "Reading" : "Writing"} “${buttonAt(at).firstChild.textContent}”, the model looks at: ${
        where.filter(Boolean).join("; ").trim() || "nothing in particular"}${which}.${surely(at)}`;
    } else if (written?.french.length) {
      said.textContent = `French: ${written.french.join(" ")}. Point at a word, or tap it, to see what the model looks at.`;
    }
    old.forEach((path) => path.remove());
  }

  // The probabilities of the model's first choices for a French word.
  function surely({ side, place }) {
    const logits = side === "french" && written.logits?.[place];
    if (!logits) return "";
    const ranked = softmax(logits).map((p, word) => [p, word]).sort(([a], [b]) => b - a).slice(0, 3);
    return ` Its first choices were: ${ranked.map(([p, word]) => `${spec.target[word]} ${p.toFixed(3)}`).join(", ")}.`;
  }

  function drawArc(old, at, { side, place, head, weight }) {
    const key = `${at.side}-${side}-${place}-${head}`, from = buttonAt(at), to = buttonAt({ side, place });
    let path = old.get(key);
    old.delete(key);
    if (!path) {
      path = drawn("path", { "data-key": key, class: `am-head-${head}` });
      arcs.append(path);
    }
    const shift = spec.heads > 1 && !state.head ? 5 * (head - (spec.heads - 1) / 2) : 0;
    const upright = stage.classList.contains("am-upright");
    // Along the lines of words, and across them, before and after a word.
    const along = (button) => shift + (upright ? button.offsetTop + button.offsetHeight / 2 : button.offsetLeft + button.offsetWidth / 2);
    const before = (button) => (upright ? button.offsetLeft : button.offsetTop) - 3;
    const behind = (button) => (upright ? button.offsetLeft + button.offsetWidth : button.offsetTop + button.offsetHeight) + 3;
    const point = (place, depth) => (upright ? `${depth} ${place}` : `${place} ${depth}`);
    let ends;
    if (at.side !== side) ends = [before(from), behind(to), (before(from) + behind(to)) / 2, (before(from) + behind(to)) / 2];
    else {
      const up = side === "english" && !upright ? -1 : 1, edge = up < 0 ? before : behind;
      const rise = up * (24 + Math.min(upright ? 12 : 40, Math.abs(along(to) - along(from)) / 5));
      ends = [edge(from), edge(to), edge(from) + rise, edge(to) + rise];
    }
    const spread = from === to ? (upright ? 7 : 14) : 0; // a word that looks at itself: a loop
    path.setAttribute("d", `M${point(along(from) - spread, ends[0])}C${point(along(from) - 2 * spread, ends[2])} ${
      point(along(to) + 2 * spread, ends[3])} ${point(along(to) + spread, ends[1])}`);
    path.setAttribute("stroke-width", (1 + 6 * weight).toFixed(2));
    path.setAttribute("opacity", (0.3 + 0.7 * weight).toFixed(2));
    path.setAttribute("marker-end", weight >= 0.1 ? `url(#translator-head-${head})` : "");
  }

  new ResizeObserver(arrange).observe(apart); // which is as wide as the stage
  const hint = make("p", { class: "am-hint" }, model.get("hint"));
  el.replaceChildren(hint, make("div", { class: "am-type" }, examples, line, next, wrong), stage, same, apart, said);
  show();
}

// What a reader could have chosen, by name.
function allowedIn(spec) {
  return {
    sentence: text(300), layer: count(1, spec.layers), head: count(0, spec.heads),
    off: texts, without: texts, temperature: within(0, 3), beam: (value) => [1, 4].includes(value), seed: count(1, 1e9),
    at: (value) => value === null || (["english", "french"].includes(value.side) && count(0, 300)(value.place)),
  };
}

export default { render: (view) => begin("translator", view, start) };
