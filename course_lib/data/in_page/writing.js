// A language model in the page, as in course_lib/language_models.py, byte_pairs.py and decoding.py.

const utf8 = new TextEncoder();

class BytePairs {
  constructor({ piece, merges }) {
    this.piece = new RegExp(piece, "g");
    this.bytes = Array.from({ length: 256 }, (_, byte) => [byte]);
    this.merged = new Map();
    for (const [a, b] of merges) {
      this.merged.set(`${a} ${b}`, this.bytes.length);
      this.bytes.push([...this.bytes[a], ...this.bytes[b]]);
    }
  }

  // The numbers of a text's tokens; half of a surrogate pair becomes �.
  encode(text) {
    return (text.match(this.piece) ?? []).flatMap((piece) => {
      let tokens = [...utf8.encode(piece)];
      for (;;) {
        const found = tokens.map((token, i) => this.merged.get(`${token} ${tokens[i + 1]}`) ?? Infinity);
        const first = Math.min(...found);
        if (first === Infinity) return tokens;
        tokens = tokens.flatMap((token, i) => {
          if (found[i] !== first) return found[i - 1] === first ? [] : [token];
          found[i + 1] = Infinity; // of aaa the first two
          return [first];
        });
      }
    });
  }

  // One token by itself; part of a character as its bytes, <e2>.
  spelled(token) {
    const bytes = Uint8Array.from(this.bytes[token]);
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      return Array.from(bytes, (byte) => `<${byte.toString(16).padStart(2, "0")}>`).join("");
    }
  }

  decode(tokens) {
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(Uint8Array.from(tokens.flatMap((token) => this.bytes[token])));
  }
}

// A decoder-only Transformer with rotary positions: Su et al. 2021. It keeps what it has read, so a text that begins like
// the last one costs only its new tokens.
class LanguageModel extends Layers {
  constructor(model) {
    super(model, "embedding.weight");
    this.read = [];
  }

  turned(vector, place) {
    const width = this.size / this.heads;
    return vector.map((value, i) => {
      const angle = place / 10000 ** ((i - (i % 2)) % width / width);
      return value * Math.cos(angle) + (i % 2 ? vector[i - 1] : -vector[i + 1]) * Math.sin(angle);
    });
  }

  // What may follow these tokens: all tokens, the most probable first, and their logits.
  after(tokens) {
    const known = tokens.findIndex((token, i) => this.read[i]?.token !== token);
    if (known >= 0) this.read.length = known;
    for (const token of known < 0 ? [] : tokens.slice(known)) this.read.push(this.step(token, this.read.at(-1)?.past ?? this.nothing()));
    return this.read[tokens.length - 1];
  }

  step(token, past) {
    let rows = [Float64Array.from(this.tensors["embedding.weight"][token], (value) => Math.sqrt(this.size) * value)];
    past = past.map((before, i) => {
      const done = this.layer(`encoder.layers.${i}`, rows, before, true, null);
      rows = done.rows;
      return done.past;
    });
    const logits = this.linear("output", this.norm("encoder.last", rows[0]));
    const order = Array.from(logits.keys()).sort((a, b) => logits[b] - logits[a]);
    return { token, past, order, logits: order.map((number) => logits[number]) };
  }
}

// The probabilities of the tokens to draw from, the most probable first: with temperature, of the k most probable (lower
// numbers win ties), the fewest that together reach `top_p`. At temperature 0 there is only one.
function chances(logits, { temperature, top_k, top_p }) {
  if (!temperature) return [1];
  const shares = softmax(logits.slice(0, top_k ?? logits.length).map((logit) => logit / temperature));
  let kept = 0, reached = 0;
  while (kept < shares.length && reached < (top_p ?? Infinity)) reached += shares[kept++];
  return shares.slice(0, kept).map((share) => share / reached);
}
