// The whole Transformer on one page: a sentence goes through all its stations, each opens down to one dot product. English
// words are columns. A vector is a tile of coloured squares. The state is one object, as in translator.js. Of `show`, which
// only the lesson chooses, "all" has all stations below each other, "one" the open one, and "shut" nothing but boxes. A
// slide and a phone have "one" in place of "all", so that the map is in sight.

const KEPT = { sentence: "", layer: 1, head: 1, reads: 0, asks: 0, writes: 0, open: "", off: [], without: [], temperature: 0, seed: 1, show: "all" };
const TEMPERATURES = [0, 0.5, 1, 2, 3];
const PAUSE = 4000; // milliseconds at a station, when the word travels

// A Transformer that keeps what it computes: for each part, one record a row, in their order.
class Watched extends Transformer {
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
  if (unpainted.push(() => paint(canvas.getContext("2d"), vector, most)) === 1) requestAnimationFrame(paintSome);
  return canvas;
}
function paint(context, vector, most) {
  const picture = context.createImageData(context.canvas.width, context.canvas.height);
  vector.forEach((value, i) => {
    const [red, green, blue] = value < 0 ? [0, 114, 178] : [224, 96, 0];
    picture.data.set([red, green, blue, 255 * Math.min(1, Math.abs(value) / most)], 4 * i);
  });
  context.putImageData(picture, 0, 0);
}
// A hundred tiles take longer than a frame, so each frame paints those for which it has time.
const unpainted = [];
function paintSome() {
  const end = performance.now() + 4;
  while (unpainted.length && performance.now() < end) unpainted.shift()();
  if (unpainted.length) requestAnimationFrame(paintSome);
}

function table(head, rows) {
  const row = (tag, cells) => make("tr", {}, ...cells.map((text) => make(tag, {}, text)));
  return make("table", {}, make("thead", {}, row("th", head)), make("tbody", {}, ...rows.map((cells) => row("td", cells))));
}
const said = (...parts) => make("p", {}, ...parts);
const MOST = 12; // words, so that a column has room on a phone
const onSlide = Boolean(document.querySelector(".reveal"));
const FEW = onSlide ? 3 : 6; // so many of a long vector's numbers are listed, and of every vector's on a slide

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
  const allowed = {
    sentence: text(300), layer: count(1, spec.layers), head: count(1, spec.heads), reads: count(0, 100), asks: count(0, 100),
    writes: count(0, 100), open: text(20), off: texts, without: texts, temperature: (value) => TEMPERATURES.includes(value), seed: count(1, 1e9),
  };
  const given = { ...KEPT, ...model.get("start") };
  const view = given.show === "all" && (onSlide || el.clientWidth < 500) ? "one" : given.show;
  let state = { ...given, ...model.get("state"), ...spelledInAddress(allowed) }, run = null, typing = false;

  const change = tied(model, el, given, allowed, () => state, (next) => {
    state = next;
    show();
  });

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
      mean: weighted(weights, values), most: Math.max(...values.flatMap((vector) => Array.from(vector, Math.abs))),
      ...run, layer, over, own, here, queries, keys, values, scores, weights, word: words[state.reads], key: words[state.asks],
      added: seen[`${layer}.self_attention_residual`], fed: seen[`${layer}.feed_forward.inner`], passed: seen[`${layer}.feed_forward_residual`],
      cross: seen[`${over}.cross_attention`][state.writes], back: seen[`${over}.self_attention`][state.writes],
      looked: seen[`${over}.self_attention_residual`][state.writes].after, crossed: seen[`${over}.cross_attention_residual`][state.writes].after,
      inner: seen[`${over}.feed_forward.inner`][state.writes], refined: seen[`${over}.feed_forward_residual`][state.writes].after,
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
  // The tiles of a row, which share one scale. They are kept while the translation is the same; `of` says what else they are of.
  const tiles = (name, vectors, ...of) => {
    const drawn = (run.drawn[[name, ...of]] ??= all(vectors));
    return (place) => drawn[place];
  };
  function all(vectors) {
    const most = Math.max(...vectors.flatMap((vector) => Array.from(vector, Math.abs)));
    return vectors.map((vector) => tile(vector, most));
  }
  const above = (vector) => vector.map((value) => Math.max(0, value));
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

  // The strongest unit of a feed-forward part.
  function unit(word, { x, y }, name) {
    const strongest = y.indexOf(Math.max(...y));
    return [said(`For “${word}”, ${y.filter((value) => value > 0).length} of ${y.length} units are above zero. The strongest is unit ${strongest + 1}. Its dot product, plus ${signed(engine.tensors[`${name}.bias`][strongest])}, is ${signed(y[strongest])}:`),
      products(["word", "weight"], x, engine.tensors[`${name}.weight`][strongest])];
  }

  // All weights of a head at once.
  function mapOf({ words, own }) {
    const rows = own.map(({ weights }) => weights[state.head - 1]);
    return [said(`Here are all weights of head ${state.head}, with a row for each word that looks. The row of “${words[state.reads]}” is the one above.`),
      make("div", { class: `am-weights am-head-${state.head - 1}`, style: `--words: ${words.length}`, role: "img",
        "aria-label": rows.map((row, i) => `${words[i]} looks most at ${words[row.indexOf(Math.max(...row))]}`).join(", ") },
      ...rows.flatMap((row, i) => [make(i === state.reads ? "b" : "span", {}, words[i]), ...row.map((weight, j) =>
        make("i", { style: `--share: ${Math.round(100 * weight)}%`, title: `${words[i]} looks at ${words[j]}: ${weight.toFixed(2)}` }))]))];
  }

  // A row for each word, on a slide for those with the most weight.
  function byWord({ words, weights }, cells) {
    const places = [...words.keys()], shown = onSlide ? places.sort((a, b) => weights[b] - weights[a]).slice(0, FEW) : places, rows = shown.map(cells);
    return shown.length < words.length ? [...rows, rows[0].map(() => "…")] : rows;
  }

  // Where a station is on the map, the part it belongs to, and the vector that the followed word carries when it leaves.
  const STATIONS = [
    { id: "tokens", where: "in", part: "word", title: "Words", told: () => "Each word becomes a number.",
      row: (at) => read(at, "number", (place) => at.numbers[place]),
      deep: (at) => [said(`The model knows ${spec.source.length} words and signs. “${at.word}” is number ${at.numbers[state.reads]}.`)] },
    { id: "position", where: "in", part: "place", carried: (at) => at.embedded[state.reads], title: "Embedding plus position", told: () => `Each number becomes a vector of ${engine.size} numbers, the sum of two: one for the word, one for its place. Orange squares are above zero, blue ones below.`,
      off: { without: "positions" }, row: (at) => read(at, "embedding plus position", tiles("embedded", at.embedded)),
      deep: (at) => {
        const word = engine.embed("source_embedding", at.numbers[state.reads], 0, { positions: false }), both = at.embedded[state.reads];
        return [said(`“${at.word}” is word ${state.reads + 1}:`), sums(["word", "position", "sum"], word, both.map((value, i) => value - word[i]), both)];
      } },
    { id: "queries", where: "encoder", part: "attention", carried: (at) => at.queries[state.reads], title: "Queries and keys", told: () => `Layer ${state.layer} of ${spec.layers} begins. From each word, head ${state.head} makes a query, which asks, and a key, which is asked: ${width} numbers each.`,
      row: (at) => make("div", {}, make("small", {}, "queries"), read(at, "query", tiles("queries", at.queries, state.layer, state.head)), make("small", {}, "keys"), asked(at, "key", tiles("keys", at.keys, state.layer, state.head))),
      deep: (at) => {
        const first = (state.head - 1) * width, name = `${at.layer}.self_attention.query_projection`;
        return [said(`The first number of the query of “${at.word}” is a dot product of ${engine.size} numbers: the normed word times a row of weights, plus a bias of ${signed(engine.tensors[`${name}.bias`][first])}.`),
          products(["word", "weight"], at.here.x, engine.tensors[`${name}.weight`][first])];
      } },
    { id: "scores", where: "encoder", part: "attention", carried: (at) => at.scores, title: "Scores", told: (at) => `The query of “${at.word}” meets the key of each word. Their dot product says how well they fit.`,
      row: (at) => {
        const least = Math.min(...at.scores), most = Math.max(...at.scores);
        return asked(at, "score", (place) => shaded(at.scores[place] - least, most - least, signed(at.scores[place], 1)));
      },
      deep: (at) => [said(`“${at.word}” asks “${at.key}”. Press another score to see its dot product.`), ...scored(at.here, state.asks)] },
    { id: "softmax", where: "encoder", part: "attention", carried: (at) => at.weights, title: "Softmax", told: () => "Softmax turns the scores into weights. None is negative, and their sum is 1.",
      row: (at) => asked(at, "weight", (place) => shaded(at.weights[place], 1, share(at.weights[place]))),
      deep: (at) => {
        const raised = at.scores.map(Math.exp), total = sum(raised);
        return [table(["word", "score s", "exp(s)", "weight"], byWord(at, (i) => [at.words[i], signed(at.scores[i]), raised[i].toFixed(2), (raised[i] / total).toFixed(3)])),
          said(`Each weight is exp(s) divided by their sum, ${total.toFixed(2)}.`), ...(onSlide ? [] : mapOf(at))];
      } },
    { id: "values", where: "encoder", part: "attention", carried: (at) => at.mean, title: "Values",
      told: (at) => `Each word has a value, too. “${at.word}” takes as much of each as the weights say, and adds all up.`,
      row: (at) => make("div", {}, asked(at, "value", tiles("values", at.values, state.layer, state.head)),
        make("div", { class: "am-row am-few" }, make("small", {}, "added up"), tile(at.mean, at.most))),
      deep: (at) => [said("The first number of the sum:"), table(["word", "weight", "value", "product"], [
        ...byWord(at, (i) => [at.words[i], at.weights[i].toFixed(3), signed(at.values[i][0]), signed(at.weights[i] * at.values[i][0])]), ["sum", "", "", signed(at.mean[0])]])] },
    { id: "heads", where: "encoder", part: "attention", carried: (at) => at.here.output, title: "Heads side by side", told: (at) => `${spec.heads} heads look at the same time, each with its own weights. Here is where each looks from “${at.word}”.`,
      off: { off: () => everywhere("encoder", "self_attention").flatMap(heads) },
      row: (at) => make("div", {}, ...at.here.weights.map((weights, head) => row(at.words, "asks", `head ${head + 1}`,
        (place) => shaded(weights[place], 1, share(weights[place]), head), (place) => ({ asks: place, head: head + 1 })))),
      deep: (at) => [said(`The heads' means, ${spec.heads} times ${width} numbers, stand side by side. One matrix mixes them. For “${at.word}” it gives:`),
        tile(at.here.output), make("div", { role: "group", "aria-label": "switch off a head" }, "switch off: ", ...heads(`${at.layer}.self_attention`).map((name, head) =>
          make("button", { type: "button", "data-key": name, "aria-pressed": String(state.off.includes(name)), onclick: () => change({ off: flipped(state.off, name) }) }, `head ${head + 1}`)))] },
    { id: "residual", where: "encoder", part: "sum", carried: (at) => at.added[state.reads].after, title: "Residual stream and norm", told: () => "What attention found is added to what was there. So a word keeps what it was. Before the next part, a norm brings all vectors to one scale.",
      off: { without: "residuals" }, row: (at) => read(at, "after attention", tiles("added", at.added.map(({ after }) => after), state.layer)),
      deep: (at) => {
        const { before, after } = at.added[state.reads], mean = sum(after) / after.length;
        const spread = Math.sqrt(sum(after.map((value) => (value - mean) ** 2)) / after.length);
        return [sums(["before", "attention", "after"], before, at.here.output, after),
          said(`The norm then takes off the mean, ${signed(mean)}, and divides by the spread, ${spread.toFixed(2)}. A learnt gain and offset follow.`)];
      } },
    { id: "feed", where: "encoder", part: "feed-forward", carried: (at) => at.passed[state.reads].after, title: "Feed-forward", told: (at) => `Each word goes through two matrices by itself. Between them are ${at.fed[0].y.length} units, of which only those above zero count.`,
      off: { off: () => everywhere("encoder", "feed_forward") },
      row: (at) => make("div", {}, make("small", {}, "units"), read(at, "units above zero", tiles("units", at.fed.map(({ y }) => above(y)), state.layer)),
        make("small", {}, "after both matrices"), read(at, "after feed-forward", tiles("passed", at.passed.map(({ after }) => after), state.layer))),
      deep: (at) => unit(at.word, at.fed[state.reads], `${at.layer}.feed_forward.inner`) },
    { id: "french", where: "decoder", part: "looks back", carried: (at) => at.looked, title: "The French so far", told: (at) => `The decoder begins here. To write “${at.next}”, it looks back at the French so far, and at nothing later.`,
      off: { off: () => everywhere("decoder", "self_attention").flatMap(heads) },
      row: (at) => across("looks back", ["start", ...at.french.slice(0, state.writes)], at.back.weights[state.head - 1]),
      deep: (at) => {
        const weights = at.back.weights[state.head - 1], most = weights.indexOf(Math.max(...weights));
        return [said(`Head ${state.head} looks most at “${["start", ...at.french][most]}”. The dot product:`), ...scored(at.back, most)];
      } },
    { id: "cross", where: "decoder", part: "looks across", carried: (at) => at.crossed, title: "Cross-attention", told: (at) => `It also looks at the English. The query comes from the French so far, the keys and values from the English.`,
      off: { off: () => everywhere("decoder", "cross_attention").flatMap(heads) },
      row: (at) => row(at.words, "asks", "looks across", (place) => shaded(at.cross.weights[state.head - 1][place], 1, share(at.cross.weights[state.head - 1][place]))),
      deep: (at) => [said(`To write “${at.next}”, head ${state.head} asks “${at.key}”. Press another weight to see its dot product.`), ...scored(at.cross, state.asks)] },
    { id: "refine", where: "decoder", part: "feed-forward", carried: (at) => at.refined, title: "The decoder's feed-forward",
      told: (at) => `Layer ${state.layer} of the decoder ends as a layer of the encoder does: with two matrices, for the word that is being written alone.`,
      off: { off: () => everywhere("decoder", "feed_forward") },
      row: (at) => make("div", { class: "am-row am-few" }, ...[["before", at.crossed], ["units", above(at.inner.y)], ["after", at.refined]].map(([name, vector]) =>
        make("span", { class: "am-cell" }, tile(vector), make("small", {}, name)))),
      deep: (at) => unit(at.next, at.inner, `${at.over}.feed_forward.inner`) },
    { id: "logits", where: "out", part: "logits", carried: (at) => at.last, title: "Logits", told: () => `Each of the ${spec.target.length} French words and signs gets a score, the logit. Softmax turns these into probabilities${
      state.temperature ? `, once they are divided by the temperature, ${state.temperature}. Then a word is drawn.` : "."}`,
      row: (at) => make("div", {}, make("ol", { class: "am-bars" }, ...at.best.slice(0, 5).map(([p, word]) =>
        make("li", {}, make("span", {}, named(word)), shaded(p, 1, p.toFixed(3), 0)))),
      make("span", { role: "group", "aria-label": "temperature" }, "temperature ", ...TEMPERATURES.map((temperature) => make("button", { type: "button", "data-key": `temperature-${temperature}`,
        "aria-pressed": String(state.temperature === temperature), onclick: () => change({ temperature }) }, temperature))), " ",
      ...(state.temperature ? [make("button", { type: "button", "data-key": "draw", onclick: () => change({ seed: state.seed + 1 }) }, "draw other words")] : [])),
      deep: (at) => {
        const best = at.best[0][1];
        return [table(["word", "logit", "probability"], at.best.slice(0, FEW).map(([p, word]) => [named(word), signed(at.logits[state.writes][word]), p.toFixed(4)])),
          said(`The logit of “${named(best)}” is a dot product, plus ${signed(engine.tensors["output.bias"][best])}:`), products(["state", "weight"], at.last, engine.tensors["output.weight"][best])];
      } },
    { id: "word", where: "out", part: "word", title: "The word", told: (at) => `The ${state.temperature ? "word drawn" : "most probable"} is written: “${at.next}”. It joins the French so far, and the decoder starts again.`,
      row: (at) => make("p", { class: "am-next-word", lang: "fr" }, at.next), deep: (at) => [said(`All of it: ${at.french.join(" ")}.`)] },
  ];

  // ---- the map: all stations by their numbers, those of a layer once for each ----

  const numberOf = (station) => STATIONS.indexOf(station) + 1;
  const onMap = (station, layer = state.layer) => `map-${station.id}-${["encoder", "decoder"].includes(station.where) ? layer : 0}`;
  const stops = (where, layer = 0) => {
    const all = STATIONS.filter((station) => station.where === where), parts = [...new Set(all.map(({ part }) => part))];
    return parts.map((part) => make("span", { class: "am-part" }, make("span", {}, ...all.filter((station) => station.part === part).map((station) =>
      make("button", { type: "button", "data-key": onMap(station, layer), "aria-label": `${layer ? `${where}, layer ${layer}: ` : ""}${numberOf(station)}, ${station.title}`,
        onclick: () => go(station, layer || state.layer) }, numberOf(station)))), make("small", {}, part)));
  };
  const layers = (where) => Array.from({ length: spec.layers }, (_, i) =>
    make("span", { class: "am-layer", role: "group", "aria-label": `${where}, layer ${i + 1}` }, make("small", {}, `layer ${i + 1}`), ...stops(where, i + 1)));
  const ways = drawn("svg", { "aria-hidden": "true" }), traveller = make("div", { class: "am-traveller", "aria-hidden": "true" });
  const map = make("div", { class: "am-map", role: "group", "aria-label": "map of the model" }, ways,
    make("div", { class: "am-side" }, make("b", {}, "encoder"), ...stops("in"), ...layers("encoder")),
    make("div", { class: "am-side" }, make("b", {}, "decoder"), ...layers("decoder"), ...stops("out")), traveller);

  // The ways between the stops, once for each width of the map.
  const spots = {};
  function drawWays() {
    const { left, top: above } = map.getBoundingClientRect(), scale = map.offsetWidth / map.getBoundingClientRect().width || 1; // a slide is scaled
    for (const button of map.querySelectorAll("button")) {
      const box = button.getBoundingClientRect(), half = (box.height / 2) * scale;
      spots[button.dataset.key] = { x: (box.left - left) * scale + half, y: (box.top - above) * scale + half, half };
    }
    const way = (from, to) => (Math.abs(from.y - to.y) < 2 ? `M${from.x} ${from.y}H${to.x}` : `M${from.x} ${from.y}V${to.y - to.half - 7}H${to.x}V${to.y}`);
    const [reading, writing] = [...map.querySelectorAll(".am-side")].map((side) => [...side.querySelectorAll("button")].map((button) => spots[button.dataset.key]));
    const along = (row) => row.slice(1).map((spot, i) => way(row[i], spot));
    const across = Array.from({ length: spec.layers }, (_, i) => way(reading.at(-1), spots[`map-cross-${i + 1}`]));
    ways.replaceChildren(...[...along(reading), ...along(writing)].map((d) => drawn("path", { d })), ...across.map((d) => drawn("path", { d, class: "am-across" })));
    el.style.setProperty("--am-top", `${top.offsetHeight}px`);
    travelled(false);
  }
  function travelled(glides) {
    traveller.classList.toggle("am-glides", glides);
    const { x, y, half } = spots[map.querySelector("[aria-current]")?.dataset.key] ?? {};
    traveller.hidden = x === undefined;
    if (!traveller.hidden) traveller.style.translate = `${x}px ${y - half}px`;
  }

  // ---- the elements that stay ----

  const [examples, mark] = menu(model, "sentence", "your own sentence", (sentence) => change({ sentence }));
  const type = (unfinished) => {
    typing = unfinished;
    change({ sentence: line.value.toLowerCase() });
  };
  const line = make("input", { type: "text", "aria-label": "English sentence", spellcheck: "false", autocomplete: "off", lang: "en",
    oninput: () => type(/\p{L}$/u.test(line.value)), onchange: () => type(false) });
  const wrong = make("p", { class: "am-unknown", role: "alert" });
  const status = make("p", { role: "status" }), english = make("div"), french = make("div", { class: "am-french", lang: "fr" }), choices = make("div", { class: "am-choices" });
  const top = make("div", { class: "am-top" }, english, map, french), stations = make("div", { class: "am-stations" });
  // The level of the stations' headings: below the heading that they are under.
  const before = [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].filter((heading) => heading.compareDocumentPosition(el) & Node.DOCUMENT_POSITION_FOLLOWING);
  const level = 1 + Number(before.at(-1)?.tagName[1] ?? 1);
  const sections = STATIONS.map((station) => {
    const press = { type: "button", "data-key": station.id, onclick: () => change({ open: state.open === station.id ? "" : station.id }) };
    // Where a station is alone, the map opens it, and closed there would be nothing.
    const title = make(view === "one" ? "div" : "button", { class: "am-title", ...(view === "one" ? { tabindex: -1 } : press) },
      make("span", {}, numberOf(station)), make("b", {}, station.title)), body = make("div", { class: "am-body" });
    const section = make("div", { class: "am-station", "data-station": station.id, role: "group", "aria-label": station.title },
      make("div", { role: "heading", "aria-level": level }, title), body);
    return { station, section, title, body };
  });

  function go(station, layer) {
    change({ open: station.id, layer });
    const [inSight, block] = view === "all" ? [sections[numberOf(station) - 1].section, "start"] : [map, "nearest"];
    if (!onSlide) inSight.scrollIntoView({ block, behavior: calm.matches ? "instant" : "smooth" });
  }

  // Opens one stop after the other, until the reader does something. In the layers after the first it looks at no single head.
  const within = (where) => Array.from({ length: spec.layers }, (_, i) => STATIONS.filter((station) => station.where === where
    && (i === 0 || where === "decoder" || ["heads", "residual", "feed"].includes(station.id))).map((station) => [station, i + 1])).flat();
  const route = [...STATIONS.filter(({ where }) => where === "in").map((station) => [station, 1]), ...within("encoder"), ...within("decoder"),
    ...STATIONS.filter(({ where }) => where === "out").map((station) => [station, spec.layers])];
  let timer = 0;
  function travel(i = 0) {
    timer = i < route.length && setTimeout(travel, PAUSE, i + 1);
    if (i < route.length) go(...route[i]);
    else show();
  }
  function rest() {
    clearTimeout(timer);
    timer = 0;
    show();
  }
  const interrupt = ({ target }) => timer && !target.closest("[data-key='travel']") && rest();
  el.addEventListener("pointerdown", interrupt);
  el.addEventListener("keydown", interrupt);

  // ---- from a state to what is shown ----

  function write() {
    const { words, numbers, unknown } = inWords(state.sentence, spec.source, typing);
    mark(state.sentence);
    if (document.activeElement !== line) line.value = state.sentence;
    wrong.textContent = unknown ? `The model has never read ${unknown}. Choose other words, or one of the sentences in the menu.`
      : words.length > MOST ? `${MOST} words have room here, and this sentence has ${words.length}.` : words.length ? "" : "Type an English sentence, or choose one from the menu.";
    const { off, without, temperature, seed } = state, key = JSON.stringify([words, off, without, temperature, temperature && seed]);
    if (wrong.textContent || numbers.some((number) => number < 0) || run?.key === key) return;
    const began = performance.now(), options = { ...WHOLE, off, temperature, seed, ...Object.fromEntries(without.map((name) => [name, false])) };
    const written = (choices) => {
      engine.seen = {};
      return translate(engine, numbers, choices);
    };
    const parts = off.length + without.length > 0, changed = parts || temperature > 0, before = String(run?.words) === String(words) && run.whole;
    const whole = before || (changed && written(WHOLE).words.map(named)), done = written(options), french = done.words.map(named);
    run = { key, words, parts, changed, numbers, logits: done.logits, french, whole: whole || french, seen: engine.seen, drawn: {},
      embedded: numbers.map((word, place) => engine.embed("source_embedding", word, place, options)) };
    el.dataset.milliseconds = (performance.now() - began).toFixed(1);
  }

  function show() {
    write();
    if (!run) return;
    if (view === "shut") return shut();
    const held = document.activeElement?.closest(".am-machine") === el && document.activeElement.dataset.key;
    const inside = (place, words) => Math.min(place, words.length - 1);
    const wished = state; // a place beyond the last word waits until there is a word again
    state = { ...state, reads: inside(state.reads, run.words), asks: inside(state.asks, run.words), writes: inside(state.writes, run.french) };
    const at = computed(), { parts, changed } = run;
    at.next = at.french[state.writes];
    at.last = at.seen.output[state.writes].x;
    at.best = softmax(at.logits[state.writes].map((logit) => logit / (state.temperature || 1))).map((p, word) => [p, word]).sort(([a], [b]) => b - a);
    english.replaceChildren(read(at, "English word", (_, word) => make("span", { lang: "en" }, word)));
    french.replaceChildren(...row(at.french, "writes", "French word", (_, word) => word).children);
    choices.replaceChildren(
      make("button", { type: "button", "data-key": "travel", "aria-pressed": String(Boolean(timer)), onclick: () => (timer ? rest() : travel()) }, timer ? "stop" : "watch it travel"),
      make("span", { role: "group", "aria-label": "head" }, "head ", ...Array.from({ length: spec.heads }, (_, i) =>
        make("button", { type: "button", "data-key": `head-${i}`, "aria-pressed": String(state.head === i + 1), class: `am-head-${i}`, onclick: () => change({ head: i + 1 }) }, i + 1))),
      ...(parts ? [make("button", { type: "button", "data-key": "whole", onclick: () => change({ off: [], without: [] }) }, "switch all on")] : []));
    status.textContent = !changed ? "Press an English word to follow it, a French word to see it being written, and a number to see what happens there."
      : String(run.french) === String(run.whole) ? `${parts ? "Parts are switched off" : "The words are drawn"}, and the French is the same.`
        : `${parts ? "With all parts" : "Without drawing"}: ${run.whole.filter((word) => word !== "end").join(" ")}.`;
    for (const one of sections) fill(one, at);
    const here = STATIONS.find(({ id }) => id === state.open), current = here && onMap(here);
    map.querySelectorAll("[aria-current]").forEach((button) => button.removeAttribute("aria-current"));
    if (here) {
      map.querySelector(`[data-key="${current}"]`).setAttribute("aria-current", "location");
      traveller.replaceChildren(here.carried ? tile(here.carried(at)) : here.where === "in" ? at.word : at.next);
    }
    travelled(true);
    state = wished;
    if (held && !document.activeElement?.dataset.key) (el.querySelector(`[data-key="${held}"]`) ?? el.querySelector("[data-key=travel]")).focus({ preventScroll: true });
  }

  // A station is drawn again only if what it shows has changed.
  function fill({ station, section, title, body }, at) {
    const { id, told, row, deep, off } = station, open = state.open === id, next = STATIONS[numberOf(station)];
    section.hidden = view === "one" && !open;
    section.classList.toggle("am-open", open);
    if (section.hidden) return;
    const { reads, writes, ...others } = { ...state, open }, reading = ["in", "encoder"].includes(station.where);
    const key = JSON.stringify([run.key, others, reading ? reads : writes]);
    if (body.dataset.key === key) return;
    body.dataset.key = key;
    section.classList.remove("am-without");
    if (view === "all") title.setAttribute("aria-expanded", String(open));
    body.replaceChildren(said(told(at)), row(at));
    if (off) {
      const names = off.off?.(), { without } = off, pressed = names ? names.every((name) => state.off.includes(name)) : state.without.includes(without);
      const label = pressed ? "switched off" : "switch off";
      section.classList.toggle("am-without", pressed);
      body.append(make("button", { type: "button", class: "am-off", "data-key": `${id}-off`, "aria-pressed": String(pressed), "aria-label": `${station.title}: ${label}`,
        onclick: () => change(names ? { off: flipped(state.off, ...names) } : { without: flipped(state.without, without) }) }, label));
    }
    if (open) body.append(make("div", { class: "am-deep" }, ...deep(at), ...(next ? [make("button", { type: "button", "data-key": `next-${next.id}`, class: "am-following", onclick: () => {
      go(next, state.layer);
      sections[numberOf(next) - 1].title.focus({ preventScroll: true });
    } }, `next: ${next.title}`)] : [])));
  }

  // Nothing but the words, closed boxes, and the French.
  function shut() {
    stations.replaceChildren(make("p", { class: "am-words", lang: "en" }, ...run.words.map((word) => make("span", {}, word))),
      make("div", { class: "am-boxes", role: "img", "aria-label": `${STATIONS.length} closed boxes` }, ...STATIONS.map((_, i) => make("span", { style: `--at: ${i}` }, "?"))),
      make("p", { class: "am-words am-written", lang: "fr", role: "status" }, ...run.french.filter((word) => word !== "end").map((word) => make("span", {}, word))));
  }

  const typed = make("div", { class: "am-type" }, examples, line, wrong);
  if (view === "shut") el.replaceChildren(typed, stations);
  else {
    el.replaceChildren(typed, top, make("div", { class: "am-about" }, choices, status), stations);
    stations.append(...sections.map(({ section }) => section));
    new ResizeObserver(drawWays).observe(map);
  }
  show();
}

export default { render: (view) => begin("machine", view, start) };
