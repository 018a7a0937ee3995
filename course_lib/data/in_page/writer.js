// A language model that runs in the page. The reader sees the typed text as tokens, the next tokens as bars that three
// sliders change, and what the model writes. A click on a written token shows the bars it was drawn from, and the next
// change writes again from there. The state is one object. Everything the reader does makes a new one, and `show` draws it.

const KEPT = { text: "", temperature: 1, top_k: null, top_p: null, seed: 1, kept: [], at: 0 };
const PAUSE = 35; // milliseconds from token to token
const READ = 4000; // characters of a text that are cut into tokens; more are too many in any case
const OWN = { temperature: 1, top_k: null, top_p: null }; // how the model itself would draw
const KS = [1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, null];
const nearest = (k) => KS.findIndex((each) => each === null || (k !== null && each >= k));
const KNOBS = {
  temperature: { label: "temperature", why: "below 1 favours probable tokens; 0 always takes the top one", least: 0, most: 20,
    place: (value) => Math.round(10 * value), value: (place) => place / 10, words: (value) => value.toFixed(1) },
  top_k: { label: "top-k", why: "only the k most probable", least: 0, most: KS.length - 1,
    place: nearest, value: (place) => KS[place], words: (value) => String(value ?? "off") },
  top_p: { label: "top-p", why: "only the fewest that together reach p", least: 1, most: 20,
    place: (value) => Math.round(20 * (value ?? 1)), value: (place) => (place < 20 ? place / 20 : null),
    words: (value) => value?.toFixed(2) ?? "off" },
};
// What a reader could have chosen, by name.
const allowedIn = ({ longest }, { bytes }) => ({
  text: text(1000), temperature: within(0, 2), seed: count(1, 1e9),
  top_k: (value) => value === null || count(1, bytes.length)(value), top_p: (value) => value === null || within(0.01, 1)(value),
  kept: (value) => Array.isArray(value) && value.length < longest && value.every(count(0, bytes.length - 1)), at: count(0, longest - 1),
});

// A token with signs for white space and other unseen characters; `line` is put after each ↵.
const SIGNS = { " ": "·", "\n": "↵", "\t": "⇥", "\x7f": "␡" };
const signs = (text, line = "") => text.replace(/[\x00-\x20\x7f]/g, (unseen) =>
  (SIGNS[unseen] ?? String.fromCharCode(0x2400 + unseen.charCodeAt(0))) + (unseen === "\n" ? line : ""));
const shortened = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
const inPercent = (share) => `${(100 * share).toFixed(share < 0.001 ? 2 : 1)}%`;

function start(model, el, spec) {
  const tokens = new BytePairs(spec), engine = new LanguageModel(spec), allowed = allowedIn(spec, tokens);
  const given = { ...KEPT, ...model.get("start") };
  let state = { ...given, ...model.get("state"), ...spelledInAddress(allowed) };
  let typed = [], written = [], key = "", timer = 0;

  // ---- what is on the page ----

  const [examples, mark] = menu(model, "examples of a text", "your own text", (text) => change({ text, kept: [], at: 0 }));
  const line = make("textarea", { "aria-label": "text that the model continues", rows: 1, spellcheck: "false", autocomplete: "off",
    oninput: () => change({ text: line.value, kept: [], at: 0 }),
    onkeydown(event) {
      if (onPage || event.key !== "Enter" || event.isComposing) return;
      event.preventDefault(); // JupyterLab lets no new line into a cell's output
      line.setRangeText("\n", line.selectionStart, line.selectionEnd, "end");
      line.dispatchEvent(new Event("input"));
    } });
  const wrong = make("p", { class: "am-unknown", role: "alert" });
  const prompt = make("span", { class: "am-typed" });
  const options = make("span", { role: "listbox", "aria-label": "tokens that the model has written", onclick, onkeydown });
  const text = make("div", { class: "am-text" }, prompt, options);
  const told = make("p", { class: "am-told" }), said = make("p", { class: "visually-hidden", "aria-live": "polite" });
  const another = make("button", { type: "button", onclick: () => drawAgain({ seed: state.seed + 1 }) }, "write another");

  const knobs = Object.entries(KNOBS).map(([name, { label, why, least, most, place, value, words }]) => {
    const slider = make("input", { type: "range", min: least, max: most, "aria-label": label, "aria-description": why,
      oninput: () => drawAgain({ [name]: value(Number(slider.value)) }) });
    const output = make("output");
    return { parts: [make("label", {}, label), slider, output, make("small", {}, why)], show() {
      slider.value = place(state[name]);
      slider.style.setProperty("--at", `${(100 * (slider.value - least)) / (most - least)}%`);
      slider.setAttribute("aria-valuetext", (output.textContent = words(state[name])));
    } };
  });

  const context = make("caption");
  const rows = Array.from({ length: el.closest(".reveal") ? 8 : 13 }, () => {
    const name = make("th", { scope: "row" }), own = make("i"), now = make("b"), share = make("td");
    return { name, own, now, share, row: make("tr", {}, name, make("td", { class: "am-bar" }, own, now), share) };
  });
  const bars = make("table", { class: "am-bars" }, context, make("tbody", {}, ...rows.map(({ row }) => row)));
  const legend = make("p", { class: "am-legend" }, make("span", {}, make("i"), " the model’s own"), make("span", {}, make("b"), " what is drawn from"),
    make("span", {}, "▸ drawn"), make("small", {}, "Click a written token to see what it was drawn from. If you then change something, the model writes again from there."));
  const controls = make("div", { class: "am-controls" }, ...knobs.flatMap(({ parts }) => parts));
  const stage = make("div", { class: "am-frame" }, text, make("div", { class: "am-beside" }, make("div", {}, controls, another, told), make("div", {}, bars, legend)));

  // ---- from a state to a text ----

  const change = tied(model, el, given, allowed, () => state, (next) => {
    state = next;
    show();
  });
  // What comes before the chosen token stays.
  const drawAgain = (more) => change({ ...more, kept: written.slice(0, state.at) });

  function show() {
    if (line.value !== state.text) line.value = state.text;
    line.rows = Math.min(6, state.text.split("\n").length);
    mark(state.text);
    knobs.forEach((knob) => knob.show());
    const { at, ...rest } = state;
    if (key !== (key = JSON.stringify(rest))) write();
    choose();
  }

  function write() {
    const before = typed, old = written, next = random(state.seed), dice = Array.from({ length: spec.longest }, next);
    typed = tokens.encode(state.text.slice(0, READ));
    const same = String(before) === String(typed) ? old : [], ready = typed.length > 0 && typed.length < spec.longest;
    const many = `${typed.length} tokens${state.text.length > READ ? " and more" : ""}`;
    wrong.textContent = ready ? "" : !typed.length ? "Type something. The model can only continue a text."
      : `These are ${many}. The longest text that the model was trained on has ${spec.longest}, so it continues ${spec.longest - 1} at most.`;
    stage.classList.toggle("am-empty", !ready);
    prompt.replaceChildren(...typed.map((token, place) => make("span", { class: `am-hue-${place % 4}` }, chip(token))));
    written = state.kept.slice(0, Math.max(0, spec.longest - 1 - typed.length));
    const full = () => typed.length + written.length >= spec.longest;
    const draw = () => {
      const { order, logits } = engine.after([...typed, ...written]);
      written.push(order[falls(chances(logits, state), dice[written.length])]);
    };
    clearInterval(timer);
    // At once as far as the text is as it was, then token by token.
    if (ready) do draw(); while (!full() && (calm.matches || written.length <= state.at || same[written.length - 1] === written.at(-1)));
    const focused = options.contains(document.activeElement);
    options.replaceChildren(...written.map((_, place) => option(place)));
    if (focused) options.children[state.at]?.focus();
    tell(!ready || full());
    if (ready && !full()) timer = setInterval(() => {
      draw();
      options.append(option(written.length - 1));
      if (full()) clearInterval(timer);
      tell(full());
    }, PAUSE);
  }

  const chip = (token) => {
    const spelled = tokens.spelled(token);
    return (/^\s/.test(spelled) ? "\u200b" : "") + signs(spelled, "\n"); // a line may end before a space
  };
  const option = (place) => make("span", { role: "option", class: `am-hue-${(typed.length + place) % 4}`, tabindex: -1,
    "aria-label": tokens.spelled(written[place]).replaceAll("\n", " new line ").trim() || "space" }, chip(written[place]));

  function tell(done) {
    options.setAttribute("aria-busy", String(!done));
    told.textContent = `${typed.length} ${typed.length > 1 ? "tokens" : "token"} typed (bold), ${written.length} written.`
      + (done ? ` The model stops at ${spec.longest}, the longest text that it was trained on.` : "");
    if (!done) text.scrollTop = text.scrollHeight;
    if (done) said.textContent = written.length ? `The model continues: ${tokens.decode(written)}. ${told.textContent}` : "";
  }

  // ---- the chosen token, and what it was drawn from ----

  function onclick({ target }) {
    const place = [...options.children].indexOf(target);
    if (place >= 0) change({ at: place });
  }

  function onkeydown(event) {
    const to = { ArrowLeft: state.at - 1, ArrowRight: state.at + 1, Home: 0, End: written.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    if (to < 0 || to >= written.length) return;
    change({ at: to });
    options.children[to].focus();
  }

  function choose() {
    if (!written.length) return;
    const at = Math.min(state.at, written.length - 1), before = [...typed, ...written.slice(0, at)];
    options.querySelectorAll("[aria-selected=true]").forEach((other) => (other.ariaSelected = "false", (other.tabIndex = -1)));
    options.children[at].ariaSelected = "true";
    options.children[at].tabIndex = 0;
    const { order, logits } = engine.after(before), own = chances(logits, OWN), now = chances(logits, state);
    const drawn = order.indexOf(written[at]), ranks = Array.from({ length: rows.length - 1 }, (_, rank) => rank);
    if (drawn >= ranks.length) ranks[ranks.length - 1] = drawn;
    const rest = (shares) => 1 - sum(ranks.map((rank) => shares[rank] ?? 0));
    const others = order.length - ranks.length, left = now.length - ranks.filter((rank) => rank < now.length).length;
    const read = signs(tokens.decode(before));
    context.textContent = `What may follow “${read.length > 30 ? "…" : ""}${read.slice(-30)}”`;
    rows.forEach(({ name, own: pale, now: solid, share, row }, i) => {
      const last = i === ranks.length, rank = ranks[i], cut = last ? !left : rank >= now.length;
      const [mine, drawnFrom] = last ? [rest(own), left ? rest(now) : 0] : [own[rank], now[rank] ?? 0];
      name.textContent = last ? `${left && left < others ? `${left} of ` : ""}${others.toLocaleString("en")} others` : shortened(signs(tokens.spelled(order[rank])), 14);
      row.classList.toggle("am-cut", cut);
      row.classList.toggle("am-drawn", rank === drawn);
      pale.style.width = `${100 * mine}%`;
      solid.style.width = `${100 * drawnFrom}%`;
      share.textContent = cut ? "cut" : inPercent(drawnFrom);
    });
  }

  el.replaceChildren(make("p", { class: "am-hint" }, model.get("hint")), make("div", { class: "am-type" }, examples, line, wrong), stage, said);
  show();
}

export default { render: (view) => begin("writer", view, start) };
