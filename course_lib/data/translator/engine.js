// The arithmetic of the course's translators in the page, as course_lib/transformer.py and course_lib/recurrent.py have
// it: a vector is an array of numbers, a matrix an array of rows. Both models are asked for `encode`, `start` and `step`.

const BOS = 1, EOS = 2; // numbers of the marks, as in course_lib/corpus.py

// The tensors by name, from numbers of 16 bits in base64; a matrix as its rows.
function unpack({ shapes, numbers }) {
  const halves = new Uint16Array(Uint8Array.from(atob(numbers), (letter) => letter.charCodeAt(0)).buffer);
  const values = Float32Array.from(halves, (half) => {
    const exponent = (half >> 10) & 31, fraction = half & 1023;
    const size = exponent ? (1 + fraction / 1024) * 2 ** (exponent - 15) : fraction * 2 ** -24;
    return half >> 15 ? -size : size;
  });
  let start = 0;
  const take = (count) => values.subarray(start, (start += count));
  return Object.fromEntries(Object.entries(shapes).map(([name, [rows, columns]]) => [
    name, columns === undefined ? take(rows) : Array.from({ length: rows }, () => take(columns)),
  ]));
}

function dot(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}
const add = (a, b) => a.map((value, i) => value + b[i]);
const sum = (vector) => vector.reduce((total, value) => total + value, 0);
const times = (matrix, x) => new Float64Array(matrix.map((row) => dot(row, x)));
function weighted(weights, vectors) {
  const total = new Float64Array(vectors[0].length);
  weights.forEach((weight, j) => vectors[j].forEach((value, i) => (total[i] += weight * value)));
  return total;
}

function softmax(scores) {
  const most = Math.max(...scores);
  const powers = Array.from(scores, (score) => Math.exp(score - most)), total = sum(powers);
  return powers.map((power) => power / total);
}

// ---- the Transformer: Vaswani et al. 2017, with the norm before each part ----

class Transformer {
  constructor(model) {
    Object.assign(this, { heads: model.heads, layers: model.layers, tensors: unpack(model) });
    this.size = this.tensors["source_embedding.weight"][0].length;
  }

  linear(name, x) {
    const bias = this.tensors[`${name}.bias`];
    return times(this.tensors[`${name}.weight`], x).map((value, i) => value + bias[i]);
  }

  // (x - mean) / sqrt(variance + 1e-5) * gain + bias: Ba et al. 2016
  norm(name, x) {
    const gain = this.tensors[`${name}.weight`], bias = this.tensors[`${name}.bias`];
    const mean = sum(x) / x.length, variance = sum(x.map((value) => (value - mean) ** 2)) / x.length;
    return x.map((value, i) => ((value - mean) / Math.sqrt(variance + 1e-5)) * gain[i] + bias[i]);
  }

  // sqrt(d) E + position code
  embed(name, word, place, { positions }) {
    return Float64Array.from(this.tensors[`${name}.weight`][word], (value, i) => {
      const angle = place / 10000 ** ((i - (i % 2)) / this.size);
      return Math.sqrt(this.size) * value + (positions ? (i % 2 ? Math.cos(angle) : Math.sin(angle)) : 0);
    });
  }

  project(name, states) {
    return {
      keys: states.map((state) => this.linear(`${name}.key_projection`, state)),
      values: states.map((state) => this.linear(`${name}.value_projection`, state)),
    };
  }

  // What one query gets of the keys and values, and the weights of each head; a head that is off adds nothing.
  attend(name, x, { keys, values }, { off }) {
    const query = this.linear(`${name}.query_projection`, x), width = this.size / this.heads, all = [];
    const joined = new Float64Array(this.size);
    for (let head = 0; head < this.heads; head++) {
      const from = head * width, piece = (vector) => vector.subarray(from, from + width), own = piece(query);
      const weights = softmax(keys.map((key) => dot(own, piece(key)) / Math.sqrt(width)));
      all.push(weights);
      if (!off.includes(`${name}.${head}`)) joined.set(weighted(weights, values.map(piece)), from);
    }
    return { output: this.linear(`${name}.output_projection`, joined), weights: all };
  }

  feed(name, x) {
    return this.linear(`${name}.outer`, this.linear(`${name}.inner`, x).map((value) => Math.max(0, value)));
  }

  // A part and what stands around it: x + part(norm(x)), or part(norm(x)) where residuals are off.
  around(name, x, part, { residuals }) {
    const y = part(this.norm(`${name}_residual.norm`, x));
    return residuals ? add(x, y) : y;
  }

  // One layer for all rows of x behind `past`; with a mask no row sees a later one. Memory is there in the decoder only.
  layer(name, x, past, masked, memory, choices) {
    const self = `${name}.self_attention`, before = x.map((row) => this.norm(`${self}_residual.norm`, row));
    const fresh = this.project(self, before), first = past.keys.length;
    const all = { keys: [...past.keys, ...fresh.keys], values: [...past.values, ...fresh.values] };
    const looks = { own: [], cross: [] };
    const rows = x.map((row, place) => {
      const end = masked ? first + place + 1 : all.keys.length;
      const seen = { keys: all.keys.slice(0, end), values: all.values.slice(0, end) };
      const keep = (kind, { output, weights }) => (looks[kind].push(weights), output);
      row = this.around(self, row, (y) => keep("own", this.attend(self, y, seen, choices)), choices);
      const cross = `${name}.cross_attention`;
      if (memory) row = this.around(cross, row, (y) => keep("cross", this.attend(cross, y, memory, choices)), choices);
      return this.around(`${name}.feed_forward`, row, (y) => this.feed(`${name}.feed_forward`, y), choices);
    });
    return { rows, past: all, looks };
  }

  // The memory: for each decoder layer its keys and values; and the maps, [layer][query][head][key].
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
    return { words: [], past: Array.from({ length: this.layers }, () => ({ keys: [], values: [] })) };
  }

  // Without the mask earlier words see this new one, so they are computed anew.
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

  // r, z and n stand below each other in the matrices: Cho et al. 2014, with the reset behind the matrix, as in torch
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

// Numbers from 0 to 1 that a seed decides: Marsaglia's xorshift
function random(seed) {
  let state = (seed * 2654435761) >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

function draw(logits, temperature, next) {
  const share = softmax(logits.map((logit) => logit / temperature));
  let left = next();
  return Math.max(0, share.findIndex((p) => (left -= p) < 0));
}

const likeliest = (logits) => logits.indexOf(Math.max(...logits));
const limit = (words) => 2 * words.length + 10;

// How a translator that has all its parts writes.
const WHOLE = { positions: true, residuals: true, mask: true, even: false, off: [], beam: 1, temperature: 0, seed: 1 };

// What the model writes for these numbers of words: its words, with the end mark if it was written, the probability of
// each, and where it looked as it wrote each.
function translate(model, words, choices = WHOLE) {
  const memory = model.encode(words, choices), next = random(choices.seed);
  if (choices.beam > 1) return { maps: memory.maps, ...beam(model, memory, limit(words), choices) };
  const written = { words: [], probabilities: [], looks: [], logits: [] };
  let state = model.start(memory), word = BOS;
  while (word !== EOS && written.words.length < limit(words)) {
    const step = model.step(word, state, memory, choices);
    word = choices.temperature ? draw(step.logits, choices.temperature, next) : likeliest(step.logits);
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
