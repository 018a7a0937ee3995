// The arithmetic that the models in the page share, as in course_lib/transformer.py. A vector is an array of numbers, a
// matrix an array of rows.

// The tensors by name, from numbers of 16 bits in base64; a matrix as its rows.
function unpack({ shapes, numbers }) {
  const halves = new Uint16Array(Uint8Array.from(atob(numbers), (letter) => letter.charCodeAt(0)).buffer);
  // In 64 bits like all that is computed from them, since a dot product of two kinds of numbers takes twice as long.
  const values = Float64Array.from(halves, (half) => {
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
function times(matrix, x) {
  const y = new Float64Array(matrix.length);
  for (let i = 0; i < y.length; i++) y[i] = dot(matrix[i], x);
  return y;
}
function weighted(weights, vectors) {
  const total = new Float64Array(vectors[0].length);
  for (let j = 0; j < weights.length; j++) for (let i = 0; i < total.length; i++) total[i] += weights[j] * vectors[j][i];
  return total;
}

// Random numbers from 0 to 1 from a seed: Marsaglia's xorshift
function random(seed) {
  let state = (seed * 2654435761) >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

// The index of the share that a number from 0 to 1 falls on.
function falls(shares, number) {
  let left = number;
  return Math.max(0, shares.findIndex((share) => (left -= share) < 0));
}

// ---- the layers of a Transformer: Vaswani et al. 2017, with the norm before each part ----

const ALL = { residuals: true, off: [] }; // nothing is switched off

class Layers {
  // `table` names the embedding.
  constructor(model, table) {
    Object.assign(this, { heads: model.heads, layers: model.layers, tensors: unpack(model) });
    this.size = this.tensors[table][0].length;
  }

  linear(name, x) {
    const y = times(this.tensors[`${name}.weight`], x), bias = this.tensors[`${name}.bias`];
    for (let i = 0; i < y.length; i++) y[i] += bias[i];
    return y;
  }

  // (x - mean) / sqrt(variance + 1e-5) * gain + bias: Ba et al. 2016
  norm(name, x) {
    const gain = this.tensors[`${name}.weight`], bias = this.tensors[`${name}.bias`];
    const mean = sum(x) / x.length, variance = sum(x.map((value) => (value - mean) ** 2)) / x.length;
    return x.map((value, i) => ((value - mean) / Math.sqrt(variance + 1e-5)) * gain[i] + bias[i]);
  }

  // A query or key before the dot product. Models with rotary positions turn it here.
  turned(vector) {
    return vector;
  }

  // The keys and values of states; the first state is at position `first`.
  project(name, states, first = 0) {
    return {
      keys: states.map((state, i) => this.turned(this.linear(`${name}.key_projection`, state), first + i)),
      values: states.map((state) => this.linear(`${name}.value_projection`, state)),
    };
  }

  // The output of one query, and the weights of each head. A head that is off adds nothing.
  attend(name, x, { keys, values }, place, { off }) {
    const query = this.turned(this.linear(`${name}.query_projection`, x), place), width = this.size / this.heads, all = [];
    const joined = new Float64Array(this.size);
    for (let head = 0; head < this.heads; head++) {
      const from = head * width, piece = (vector) => vector.subarray(from, from + width), own = piece(query);
      const weights = softmax(keys.map((key) => dot(own, piece(key)) / Math.sqrt(width)));
      all.push(weights);
      if (!off.includes(`${name}.${head}`)) joined.set(weighted(weights, values.map(piece)), from);
    }
    return { output: this.linear(`${name}.output_projection`, joined), weights: all };
  }

  feed(name, x, { off }) {
    const output = this.linear(`${name}.outer`, this.linear(`${name}.inner`, x).map((value) => Math.max(0, value)));
    return off.includes(name) ? output.map(() => 0) : output;
  }

  // A part with its norm and residual connection: x + part(norm(x)), or part(norm(x)) where residuals are off.
  around(name, x, part, { residuals }) {
    const y = part(this.norm(`${name}_residual.norm`, x));
    return residuals ? add(x, y) : y;
  }

  // One layer for all rows of x, which follow `past`. With a mask no row sees a later one. Only the decoder has memory.
  layer(name, x, past, masked, memory, choices = ALL) {
    const self = `${name}.self_attention`, before = x.map((row) => this.norm(`${self}_residual.norm`, row));
    const first = past.keys.length, fresh = this.project(self, before, first);
    const all = { keys: [...past.keys, ...fresh.keys], values: [...past.values, ...fresh.values] };
    const looks = { own: [], cross: [] };
    const rows = x.map((row, i) => {
      const place = first + i, end = masked ? place + 1 : all.keys.length;
      const seen = { keys: all.keys.slice(0, end), values: all.values.slice(0, end) };
      const keep = (kind, { output, weights }) => (looks[kind].push(weights), output);
      row = this.around(self, row, (y) => keep("own", this.attend(self, y, seen, place, choices)), choices);
      const cross = `${name}.cross_attention`;
      if (memory) row = this.around(cross, row, (y) => keep("cross", this.attend(cross, y, memory, place, choices)), choices);
      return this.around(`${name}.feed_forward`, row, (y) => this.feed(`${name}.feed_forward`, y, choices), choices);
    });
    return { rows, past: all, looks };
  }

  // The state before the first word.
  nothing() {
    return Array.from({ length: this.layers }, () => ({ keys: [], values: [] }));
  }
}
