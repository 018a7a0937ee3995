// The arithmetic of the course's translators, as in course_lib/transformer.py and course_lib/recurrent.py. Both have
// `encode`, `start` and `step`.

const BOS = 1, EOS = 2; // numbers of the special tokens, as in course_lib/corpus.py

class Transformer extends Layers {
  constructor(model) {
    super(model, "source_embedding.weight");
  }

  // sqrt(d) E + position code
  embed(name, word, place, { positions }) {
    return Float64Array.from(this.tensors[`${name}.weight`][word], (value, i) => {
      const angle = place / 10000 ** ((i - (i % 2)) / this.size);
      return Math.sqrt(this.size) * value + (positions ? (i % 2 ? Math.cos(angle) : Math.sin(angle)) : 0);
    });
  }

  // Returns the memory (keys and values for each decoder layer) and the maps, [layer][query][head][key].
  encode(words, choices) {
    let rows = words.map((word, place) => this.embed("source_embedding", word, place, choices));
    const maps = [];
    for (let i = 0; i < this.layers; i++) {
      const done = this.layer(`encoder.layers.${i}`, rows, { keys: [], values: [] }, false, null, choices);
      rows = done.rows;
      maps.push(done.looks.own);
    }
    const states = rows.map((row) => this.norm("encoder.last", row));
    const name = (i) => `decoder.layers.${i}.cross_attention`;
    return { maps, layers: Array.from({ length: this.layers }, (_, i) => this.project(name(i), states)) };
  }

  start() {
    return { words: [], past: this.nothing() };
  }

  // Without the mask, earlier words see the new one, so they are computed again.
  step(word, state, memory, choices) {
    const words = [...state.words, word], { past } = choices.mask ? state : this.start();
    const unread = words.slice(past[0].keys.length), first = words.length - unread.length, looks = { own: [], cross: [] };
    let rows = unread.map((number, i) => this.embed("target_embedding", number, first + i, choices));
    const kept = past.map((before, i) => {
      const done = this.layer(`decoder.layers.${i}`, rows, before, choices.mask, memory.layers[i], choices);
      rows = done.rows;
      looks.own.push(done.looks.own.at(-1));
      looks.cross.push(done.looks.cross.at(-1));
      return done.past;
    });
    const logits = this.linear("output", this.norm("decoder.last", rows.at(-1)));
    return { logits, state: { words, past: kept }, looks };
  }
}

// ---- the recurrent translator that reads both ways: Bahdanau et al. 2015 ----

const sigmoid = (x) => 1 / (1 + Math.exp(-x));

class Recurrent {
  constructor(model) {
    this.tensors = unpack(model);
  }

  // The matrices hold r, z and n below each other: Cho et al. 2014, with the reset after the matrix, as in torch
  gru(name, suffix, x, state) {
    const { tensors: t } = this, size = state.length;
    const given = add(times(t[`${name}.weight_ih${suffix}`], x), t[`${name}.bias_ih${suffix}`]);
    const held = add(times(t[`${name}.weight_hh${suffix}`], state), t[`${name}.bias_hh${suffix}`]);
    return state.map((before, i) => {
      const reset = sigmoid(given[i] + held[i]), update = sigmoid(given[size + i] + held[size + i]);
      const candidate = Math.tanh(given[2 * size + i] + reset * held[2 * size + i]);
      return (1 - update) * candidate + update * before;
    });
  }

  encode(words) {
    const { tensors: t } = this, embedded = words.map((word) => t["source_embedding.weight"][word]);
    const read = (vectors, suffix) => {
      let state = new Float64Array(t["bridge.weight"].length);
      return vectors.map((x) => (state = this.gru("encoder", suffix, x, state)));
    };
    const there = read(embedded, "_l0"), back = read(embedded.toReversed(), "_l0_reverse");
    const states = there.map((state, i) => Float64Array.from([...state, ...back.at(-1 - i)]));
    const keys = states.map((state) => add(times(t["score.key_projection.weight"], state), t["score.key_projection.bias"]));
    return { states, keys, last: [...there.at(-1), ...back.at(-1)], maps: [] };
  }

  start({ last }) {
    return add(times(this.tensors["bridge.weight"], last), this.tensors["bridge.bias"]).map(Math.tanh);
  }

  step(word, state, { states, keys }, { even }) {
    const { tensors: t } = this, query = times(t["score.query_projection.weight"], state);
    const scores = keys.map((key) => dot(t["score.energy.weight"][0], add(query, key).map(Math.tanh)));
    const weights = softmax(even ? scores.map(() => 0) : scores), context = weighted(weights, states);
    state = this.gru("cell", "", [...t["target_embedding.weight"][word], ...context], state);
    const logits = add(times(t["output.weight"], [...state, ...context]), t["output.bias"]);
    return { logits, state, looks: { own: [], cross: [[weights]] } };
  }
}

// ---- writing: greedy, drawn, beam ----

const KINDS = { transformer: Transformer, recurrent: Recurrent };

const mostProbable = (logits) => logits.indexOf(Math.max(...logits));
const limit = (words) => 2 * words.length + 10;

// The choices for a translator that has all its parts.
const WHOLE = { positions: true, residuals: true, mask: true, even: false, off: [], beam: 1, temperature: 0, seed: 1 };

// Translates words, given by their numbers. Returns the words written, with the end token if the model wrote it, the
// probability of each, and where the model looked for each.
function translate(model, words, choices = WHOLE) {
  const memory = model.encode(words, choices), next = random(choices.seed);
  if (choices.beam > 1) return { maps: memory.maps, ...beam(model, memory, limit(words), choices) };
  const written = { words: [], probabilities: [], looks: [], logits: [] };
  let state = model.start(memory), word = BOS;
  while (word !== EOS && written.words.length < limit(words)) {
    const step = model.step(word, state, memory, choices);
    word = choices.temperature ? falls(softmax(step.logits.map((logit) => logit / choices.temperature)), next()) : mostProbable(step.logits);
    state = step.state;
    written.words.push(word);
    written.probabilities.push(softmax(step.logits)[word]);
    written.looks.push(step.looks);
    written.logits.push(step.logits);
  }
  return { maps: memory.maps, ...written };
}

// The best of some hypotheses by log p / ((5 + length) / 6)^0.6: Wu et al. 2016, equation 14
function beam(model, memory, most, choices) {
  const rank = ({ total, words }) => total / ((5 + words.length) / 6) ** 0.6;
  const best = (all) => all.sort((a, b) => rank(b) - rank(a)).slice(0, choices.beam);
  let all = [{ words: [], probabilities: [], looks: [], total: 0, state: model.start(memory) }];
  const ended = ({ words }) => words.at(-1) === EOS || words.length === most;
  while (!all.every(ended)) {
    all = best(all.flatMap((before) => {
      if (ended(before)) return [before];
      const { logits, state, looks } = model.step(before.words.at(-1) ?? BOS, before.state, memory, choices);
      return softmax(logits).map((p, word) => ({
        words: [...before.words, word], probabilities: [...before.probabilities, p], looks: [...before.looks, looks],
        total: before.total + Math.log(p), state,
      }));
    }));
  }
  return best(all)[0];
}
