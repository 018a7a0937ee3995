// The whole Transformer on one page: a sentence goes through all its stations, each opens down to one dot product. English
// words are columns. A vector is a tile of coloured squares. The state is one object, as in translator.js.

const KEPT = { sentence: "", layer: 1, head: 1, reads: 0, asks: 0, writes: 0, open: "", off: [], without: [] };

// A Transformer that keeps what it computes: for each part, one record a row, in their order.
class Watched extends Transformer {
  begin(off) {
    Object.assign(this, { seen: {}, off });
  }

  keep(name, record) {
    (this.seen[name] ??= []).push(record);
  }

  linear(name, x) {
    const y = super.linear(name, x);
    this.keep(name, { x, y });
    return y;
  }

  attend(name, x, memory, place, choices) {
    const done = super.attend(name, x, memory, place, choices);
    this.keep(name, { x, query: this.seen[`${name}.query_projection`].at(-1).y, ...memory, ...done });
    return done;
  }

  feed(name, x) {
    const output = super.feed(name, x);
    return this.off.includes(name) ? output.map(() => 0) : output;
  }

  around(name, x, part, choices) {
    const after = super.around(name, x, part, choices);
    this.keep(`${name}_residual`, { before: x, after });
    return after;
  }
}

const signed = (value, digits = 2) => (Number(value.toFixed(digits)) + 0).toFixed(digits).replace("-", "−"); // no −0.00
const share = (value) => (value < 0.005 ? "0" : value.toFixed(2).replace("0.", "."));

// A vector as squares: orange above zero, blue below, the stronger the further from it. `most` has the strongest colour.
function tile(vector, most = Math.max(...vector.map(Math.abs))) {
  const columns = 2 ** Math.ceil(Math.log2(vector.length) / 2), rows = Math.ceil(vector.length / columns);
  const canvas = make("canvas", { class: "am-tile", width: columns, height: rows, "aria-hidden": "true" });
  const context = canvas.getContext("2d"), picture = context.createImageData(columns, rows);
  vector.forEach((value, i) => {
    const strength = Math.min(1, Math.abs(value) / most);
    picture.data.set([...(value < 0 ? [0, 114, 178] : [224, 96, 0]), 255 * strength], 4 * i);
  });
  context.putImageData(picture, 0, 0);
  return canvas;
}

function table(head, rows) {
  const row = (tag, cells) => make("tr", {}, ...cells.map((text) => make(tag, {}, text)));
  return make("table", {}, make("thead", {}, row("th", head)), make("tbody", {}, ...rows.map((cells) => row("td", cells))));
}
const said = (...parts) => make("p", {}, ...parts);
const MOST = 12; // words, so that a column has room on a phone
const onSlide = Boolean(document.querySelector(".reveal"));
const FEW = onSlide ? 4 : 6; // so many of a long vector's numbers are listed, and of every vector's on a slide

// Two vectors' products one by one, and their sum.
function products(names, a, b) {
  const few = a.length > 16 || onSlide ? FEW : a.length, rows = Array.from({ length: few }, (_, i) => [i + 1, signed(a[i]), signed(b[i]), signed(a[i] * b[i])]);
  if (few < a.length) rows.push(["…", "…", "…", "…"]);
  return table(["", ...names, "product"], [...rows, ["sum", "", "", signed(dot(a, b))]]);
}
function sums(names, ...vectors) {
  const rows = Array.from({ length: FEW }, (_, i) => [i + 1, ...vectors.map((vector) => signed(vector[i]))]);
  return table(["", ...names], [...rows, ["…", ...vectors.map(() => "…")]]);
}

function start(model, el, spec) {
  const engine = new Watched(spec), width = engine.size / spec.heads;
  const texts = (value) => Array.isArray(value) && value.every((text) => typeof text === "string");
  const allowed = {
    sentence: (value) => typeof value === "string" && value.length <= 300, layer: count(1, spec.layers), head: count(1, spec.heads),
    reads: count(0, 100), asks: count(0, 100), writes: count(0, 100), open: (value) => typeof value === "string", off: texts, without: texts,
  };
  const given = { ...KEPT, ...model.get("start") };
  let state = { ...given, ...model.get("state"), ...spelledInAddress(allowed) }, run = null;

  const change = tied(model, el, given, allowed, () => state, (next) => {
    state = next;
    show();
  });
  const flipped = (list, values) => (values.every((value) => list.includes(value)) ? list.filter((one) => !values.includes(one)) : [...new Set([...list, ...values])]);

  // ---- what the stations show; `at` is all that was computed, for the chosen layer, head and words ----

  const piece = (vector) => vector.subarray((state.head - 1) * width, state.head * width);
  const named = (word) => (word === EOS ? "end" : spec.target[word]);
  const heads = (name) => Array.from({ length: spec.heads }, (_, head) => `${name}.${head}`);
  const everywhere = (side, part) => Array.from({ length: spec.layers }, (_, i) => `${side}.layers.${i}.${part}`);

  function computed() {
    const layer = `encoder.layers.${state.layer - 1}`, over = `decoder.layers.${state.layer - 1}`, { seen, words } = run;
    const own = seen[`${layer}.self_attention`], here = own[state.reads];
    const queries = own.map(({ query }) => piece(query)), keys = here.keys.map(piece), values = here.values.map(piece);
    const scores = keys.map((key) => dot(queries[state.reads], key) / Math.sqrt(width)), weights = here.weights[state.head - 1];
    return {
      ...run, layer, over, own, here, queries, keys, values, scores, weights, word: words[state.reads], key: words[state.asks],
      added: seen[`${layer}.self_attention_residual`], fed: seen[`${layer}.feed_forward.inner`], passed: seen[`${layer}.feed_forward_residual`],
      cross: seen[`${over}.cross_attention`][state.writes], back: seen[`${over}.self_attention`][state.writes],
    };
  }

  // A row with a button for each word: `inside` fills it, and pressing it chooses the word for `what`.
  function row(words, what, name, inside, choose = (place) => ({ [what]: place })) {
    return make("div", { class: "am-row", style: `--words: ${words.length}` }, ...words.map((word, place) => {
      const button = make("button", { type: "button", "data-key": `${name}-${place}`, "aria-pressed": String(state[what] === place),
        onclick: () => change(choose(place)) }, ...[inside(place, word)].flat());
      button.setAttribute("aria-label", [name, word, button.textContent].filter((text, i, all) => text && all.indexOf(text) === i).join(", "));
      return button;
    }));
  }
  const tiles = (vectors) => {
    const most = Math.max(...vectors.flatMap((vector) => Array.from(vector, Math.abs)));
    return (place) => tile(vectors[place], most);
  };
  const shaded = (value, most, text, head = state.head - 1) =>
    make("span", { class: `am-shade am-head-${head}`, style: `--share: ${Math.round(100 * Math.min(1, Math.max(0, value / most)))}%` }, text);
  const read = (at, name, inside) => row(at.words, "reads", name, inside);
  const asked = (at, name, inside) => row(at.words, "asks", name, inside);
  const across = (name, words, weights) => make("div", { class: "am-row am-few", role: "img",
    "aria-label": `${name}: ${words.map((word, place) => `${word} ${share(weights[place])}`).join(", ")}` },
    ...words.map((word, place) => make("span", { class: "am-cell" }, shaded(weights[place], 1, share(weights[place])), make("small", {}, word))));

  // The score of a query for one of the keys.
  function scored({ query, keys }, place) {
    const [one, other] = [piece(query), piece(keys[place])], product = dot(one, other);
    return [products(["query", "key"], one, other), said(`${signed(product)} / √${width} = ${signed(product / Math.sqrt(width))}`)];
  }

  const STATIONS = [
    { id: "tokens", title: "Words", told: () => "Each word becomes a number.",
      row: (at) => read(at, "number", (place) => at.numbers[place]),
      deep: (at) => [said(`The model knows ${spec.source.length} words and signs. “${at.word}” is number ${at.numbers[state.reads]}.`)] },
    { id: "position", title: "Embedding plus position", told: () => `Each number becomes a vector of ${engine.size} numbers, the sum of two: one for the word, one for its place. Orange squares are above zero, blue ones below.`,
      off: { without: "positions" }, row: (at) => read(at, "embedding plus position", tiles(at.embedded)),
      deep: (at) => {
        const word = engine.embed("source_embedding", at.numbers[state.reads], 0, { positions: false }), both = at.embedded[state.reads];
        return [said(`“${at.word}” is word ${state.reads + 1}:`), sums(["word", "position", "sum"], word, both.map((value, i) => value - word[i]), both)];
      } },
    { id: "queries", title: "Queries and keys", told: () => `Layer ${state.layer} of ${spec.layers} begins. From each word, head ${state.head} makes a query, which asks, and a key, which is asked: ${width} numbers each.`,
      row: (at) => make("div", {}, make("small", {}, "queries"), read(at, "query", tiles(at.queries)), make("small", {}, "keys"), asked(at, "key", tiles(at.keys))),
      deep: (at) => {
        const first = (state.head - 1) * width, name = `${at.layer}.self_attention.query_projection`;
        return [said(`The first number of the query of “${at.word}” is a dot product of ${engine.size} numbers: the normed word times a row of weights, plus a bias of ${signed(engine.tensors[`${name}.bias`][first])}.`),
          products(["word", "weight"], at.here.x, engine.tensors[`${name}.weight`][first])];
      } },
    { id: "scores", title: "Scores", told: (at) => `The query of “${at.word}” meets the key of each word. Their dot product says how well they fit.`,
      row: (at) => {
        const least = Math.min(...at.scores), most = Math.max(...at.scores);
        return asked(at, "score", (place) => shaded(at.scores[place] - least, most - least, signed(at.scores[place], 1)));
      },
      deep: (at) => [said(`“${at.word}” asks “${at.key}”. Press another score to see its dot product.`), ...scored(at.here, state.asks)] },
    { id: "softmax", title: "Softmax", told: () => "Softmax turns the scores into weights. None is negative, and their sum is 1.",
      row: (at) => asked(at, "weight", (place) => shaded(at.weights[place], 1, share(at.weights[place]))),
      deep: (at) => {
        const raised = at.scores.map(Math.exp), total = sum(raised);
        return [table(["word", "score s", "exp(s)", "weight"], at.words.map((word, i) => [word, signed(at.scores[i]), raised[i].toFixed(2), (raised[i] / total).toFixed(3)])),
          said(`Each weight is exp(s) divided by their sum, ${total.toFixed(2)}.`)];
      } },
    { id: "values", title: "Values", told: (at) => `Each word has a value, too. “${at.word}” takes the weighted mean of the values.`,
      row: (at) => {
        const drawn = tiles(at.values);
        return asked(at, "value", (place) => [drawn(place), shaded(at.weights[place], 1, share(at.weights[place]))]);
      },
      deep: (at) => {
        const mean = weighted(at.weights, at.values);
        return [said("The first number of the mean:"), table(["word", "weight", "value", "product"], [
          ...at.words.map((word, i) => [word, at.weights[i].toFixed(3), signed(at.values[i][0]), signed(at.weights[i] * at.values[i][0])]), ["sum", "", "", signed(mean[0])]])];
      } },
    { id: "heads", title: "Heads side by side", told: (at) => `${spec.heads} heads look at the same time, each with its own weights. Here is where each looks from “${at.word}”.`,
      off: { off: () => everywhere("encoder", "self_attention").flatMap(heads) },
      row: (at) => make("div", {}, ...at.here.weights.map((weights, head) => row(at.words, "asks", `head ${head + 1}`,
        (place) => shaded(weights[place], 1, share(weights[place]), head), (place) => ({ asks: place, head: head + 1 })))),
      deep: (at) => [said(`The heads' means, ${spec.heads} times ${width} numbers, stand side by side. One matrix mixes them. For “${at.word}” it gives:`),
        tile(at.here.output), make("div", { role: "group", "aria-label": "switch off a head" }, "switch off: ", ...heads(`${at.layer}.self_attention`).map((name, head) =>
          make("button", { type: "button", "data-key": name, "aria-pressed": String(state.off.includes(name)), onclick: () => change({ off: flipped(state.off, [name]) }) }, `head ${head + 1}`)))] },
    { id: "residual", title: "Residual stream and norm", told: () => "What attention found is added to what was there. So a word keeps what it was. Before the next part, a norm brings all vectors to one scale.",
      off: { without: "residuals" }, row: (at) => read(at, "after attention", tiles(at.added.map(({ after }) => after))),
      deep: (at) => {
        const { before, after } = at.added[state.reads], mean = sum(after) / after.length;
        const spread = Math.sqrt(sum(after.map((value) => (value - mean) ** 2)) / after.length);
        return [sums(["before", "attention", "after"], before, at.here.output, after),
          said(`The norm then takes off the mean, ${signed(mean)}, and divides by the spread, ${spread.toFixed(2)}. A learnt gain and offset follow.`)];
      } },
    { id: "feed", title: "Feed-forward", told: (at) => `Each word goes through two matrices by itself. Between them are ${at.fed[0].y.length} units, of which only those above zero count.`,
      off: { off: () => everywhere("encoder", "feed_forward") },
      row: (at) => make("div", {}, make("small", {}, "units"), read(at, "units above zero", tiles(at.fed.map(({ y }) => y.map((value) => Math.max(0, value))))),
        make("small", {}, "after both matrices"), read(at, "after feed-forward", tiles(at.passed.map(({ after }) => after)))),
      deep: (at) => {
        const { x, y: inner } = at.fed[state.reads], strongest = inner.indexOf(Math.max(...inner)), name = `${at.layer}.feed_forward.inner`;
        return [said(`For “${at.word}”, ${inner.filter((value) => value > 0).length} of ${inner.length} units are above zero. The strongest is unit ${strongest + 1}. Its dot product, plus ${signed(engine.tensors[`${name}.bias`][strongest])}, is ${signed(inner[strongest])}:`),
          products(["word", "weight"], x, engine.tensors[`${name}.weight`][strongest])];
      } },
    { id: "french", title: "The French so far", told: (at) => `The decoder begins here. To write “${at.next}”, it looks back at the French so far, and at nothing later.`,
      off: { off: () => everywhere("decoder", "self_attention").flatMap(heads) },
      row: (at) => across("looks back", ["start", ...at.french.slice(0, state.writes)], at.back.weights[state.head - 1]),
      deep: (at) => {
        const weights = at.back.weights[state.head - 1], most = weights.indexOf(Math.max(...weights));
        return [said(`Head ${state.head} looks most at “${["start", ...at.french][most]}”. The dot product:`), ...scored(at.back, most)];
      } },
    { id: "cross", title: "Cross-attention", told: (at) => `It also looks at the English. The query comes from the French so far, the keys and values from the English.`,
      off: { off: () => everywhere("decoder", "cross_attention").flatMap(heads) },
      row: (at) => row(at.words, "asks", "looks across", (place) => shaded(at.cross.weights[state.head - 1][place], 1, share(at.cross.weights[state.head - 1][place]))),
      deep: (at) => [said(`To write “${at.next}”, head ${state.head} asks “${at.key}”. Press another weight to see its dot product.`), ...scored(at.cross, state.asks)] },
    { id: "logits", title: "Logits", told: () => `Each of the ${spec.target.length} French words and signs gets a score, the logit. Softmax turns these into probabilities.`,
      row: (at) => make("ol", { class: "am-bars" }, ...at.best.slice(0, 5).map(([p, word]) =>
        make("li", {}, make("span", {}, named(word)), shaded(p, 1, p.toFixed(3), 0)))),
      deep: (at) => {
        const best = at.best[0][1], last = at.seen.output[state.writes].x;
        return [table(["word", "logit", "probability"], at.best.slice(0, FEW).map(([p, word]) => [named(word), signed(at.logits[state.writes][word]), p.toFixed(4)])),
          said(`The logit of “${at.next}” is a dot product, plus ${signed(engine.tensors["output.bias"][best])}:`), products(["state", "weight"], last, engine.tensors["output.weight"][best])];
      } },
    { id: "word", title: "The word", told: (at) => `The most probable is written: “${at.next}”. It joins the French so far, and the decoder starts again.`,
      row: (at) => make("p", { class: "am-next-word", lang: "fr" }, at.next), deep: (at) => [said(`All of it: ${at.french.join(" ")}.`)] },
  ];

  // ---- the elements that stay ----

  const [examples, mark] = menu(model, "sentence", "your own sentence", (sentence) => change({ sentence }));
  const line = make("input", { type: "text", "aria-label": "English sentence", spellcheck: "false", autocomplete: "off", lang: "en",
    oninput: () => change({ sentence: line.value.toLowerCase() }), onblur: () => write() });
  const wrong = make("p", { class: "am-unknown", role: "alert" });
  const status = make("p", { role: "status" }), top = make("div", { class: "am-top" }), stations = make("div", { class: "am-stations" });
  const several = (name, what, most) => make("span", { role: "group", "aria-label": name }, `${name} `, ...Array.from({ length: most }, (_, i) =>
    make("button", { type: "button", "data-key": `${what}-${i}`, "aria-pressed": String(state[what] === i + 1), class: what === "head" ? `am-head-${i}` : "", onclick: () => change({ [what]: i + 1 }) }, i + 1)));

  // Opens one station after the other, until the reader does something.
  let timer = 0;
  function go(id) {
    change({ open: id });
    el.querySelector(`[data-station="${id}"]`).scrollIntoView({ block: "start", behavior: calm.matches ? "instant" : "smooth" });
  }
  function travel(i = 0) {
    timer = i < STATIONS.length && setTimeout(travel, 5000, i + 1);
    if (i < STATIONS.length) go(STATIONS[i].id);
    else show();
  }
  function rest() {
    clearTimeout(timer);
    timer = 0;
    show();
  }
  el.addEventListener("pointerdown", ({ target }) => timer && !target.closest("[data-key='travel']") && rest());
  el.addEventListener("keydown", ({ target }) => timer && !target.closest("[data-key='travel']") && rest());

  function write() {
    const words = state.sentence.split(/[\s.,;:!?]+/).filter(Boolean), numbers = words.map((word) => spec.source.indexOf(word, 4));
    const unknown = words.filter((_, i) => numbers[i] < 0), focused = document.activeElement === line;
    // The word that is still being typed isn't wrong yet.
    const strange = (focused && /\p{L}$/u.test(line.value) && numbers.at(-1) < 0 ? unknown.slice(0, -1) : unknown).map((word) => `“${word}”`).join(", ");
    mark(state.sentence);
    if (!focused) line.value = state.sentence;
    wrong.textContent = strange ? `The model has never read ${strange}. Choose other words, or one of the sentences in the menu.`
      : words.length > MOST ? `${MOST} words have room here, and this sentence has ${words.length}.` : words.length ? "" : "Type an English sentence, or choose one from the menu.";
    const key = JSON.stringify([words, state.off, state.without]);
    if (wrong.textContent || unknown.length || run?.key === key) return;
    const began = performance.now(), choices = { ...WHOLE, off: state.off, ...Object.fromEntries(state.without.map((name) => [name, false])) };
    engine.begin([]);
    const whole = translate(engine, numbers);
    const changed = state.off.length + state.without.length > 0;
    if (changed) engine.begin(state.off);
    const done = changed ? translate(engine, numbers, choices) : whole;
    run = { key, words, changed, numbers, logits: done.logits, french: done.words.map(named), whole: whole.words.map(named), seen: engine.seen,
      embedded: numbers.map((word, place) => engine.embed("source_embedding", word, place, choices)) };
    el.dataset.milliseconds = (performance.now() - began).toFixed(1);
  }

  function show() {
    write();
    if (!run) return;
    const held = document.activeElement?.closest(".am-machine") === el && document.activeElement.dataset.key;
    const within = (place, words) => Math.min(place, words.length - 1);
    const wished = state; // a place beyond the last word waits until there is a word again
    state = { ...state, reads: within(state.reads, run.words), asks: within(state.asks, run.words), writes: within(state.writes, run.french) };
    const at = computed();
    at.next = at.french[state.writes];
    at.best = softmax(at.logits[state.writes]).map((p, word) => [p, word]).sort(([a], [b]) => b - a);
    const alike = String(run.french) === String(run.whole), { changed } = run;
    top.replaceChildren(
      read(at, "English word", (_, word) => make("span", { lang: "en" }, word)),
      make("div", { class: "am-french", lang: "fr" }, ...row(at.french, "writes", "French word", (_, word) => word).children),
      status,
      make("div", { class: "am-choices" }, several("layer", "layer", spec.layers), several("head", "head", spec.heads),
        make("button", { type: "button", "data-key": "travel", "aria-pressed": String(Boolean(timer)), onclick: () => (timer ? rest() : travel()) }, timer ? "stop" : "watch it travel"),
        ...(changed ? [make("button", { type: "button", "data-key": "whole", onclick: () => change({ off: [], without: [] }) }, "switch all on")] : [])));
    status.textContent = changed ? (alike ? "Parts are switched off, and the French is the same." : `With all parts: ${run.whole.filter((word) => word !== "end").join(" ")}.`) : "Press an English word to follow it, and a French word to see it being written.";
    stations.replaceChildren(...STATIONS.map((station, i) => shown(station, i, at)));
    state = wished;
    if (held) (el.querySelector(`[data-key="${held}"]`) ?? el.querySelector("[data-key=travel]")).focus({ preventScroll: true });
  }

  function shown({ id, title, told, row, deep, off }, i, at) {
    const open = state.open === id, following = STATIONS[i + 1];
    const section = make("div", { class: open ? "am-station am-open" : "am-station", "data-station": id, role: "group", "aria-label": title },
      make("button", { type: "button", class: "am-title", "data-key": id, "aria-expanded": String(open), onclick: () => change({ open: open ? "" : id }) },
        make("span", {}, i + 1), make("b", {}, title)), said(told(at)), row(at));
    if (off) {
      const names = off.off?.(), without = off.without, pressed = names ? names.every((name) => state.off.includes(name)) : state.without.includes(without);
      const label = pressed ? "switched off" : "switch off";
      section.append(make("button", { type: "button", class: "am-off", "data-key": `${id}-off`, "aria-pressed": String(pressed), "aria-label": `${title}: ${label}`,
        onclick: () => change(names ? { off: flipped(state.off, names) } : { without: flipped(state.without, [without]) }) }, label));
    }
    if (open) section.append(make("div", { class: "am-deep" }, ...deep(at), ...(following ? [make("button", { type: "button", "data-key": following.id, class: "am-following", onclick: () => go(following.id) }, `next: ${following.title}`)] : [])));
    return section;
  }

  el.replaceChildren(make("div", { class: "am-type" }, examples, line, wrong), top, stations);
  show();
}

export default { render: (view) => begin("machine", view, start) };
