"""The course's translators in the page: typed-in English becomes French, with arcs to what each word looks at.

The weights are too many for a notebook. They come as a script (`script`), which lies beside a deck and the site and in
build/ for JupyterLab; where it is not found, the kernel sends it.
"""

import base64
import hashlib
import html
import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path

import numpy as np
import torch
import traitlets
from torch import nn

from course_lib import corpus, decoding
from course_lib.attention import AdditiveScore
from course_lib.files import DATA
from course_lib.recurrent import EncoderDecoder
from course_lib.trained import FOLDER
from course_lib.transformer import Transformer
from course_lib.widgets.drawing import svg
from course_lib.widgets.shell import STYLE, Live

PARTS = DATA / "translator"
# By the name of its file of weights: what makes the model, and what the page must know of it besides its weights.
MODELS = {
    "trained_transformer": (
        partial(Transformer, feed_forward_size=192),
        {"kind": "transformer", "heads": 4, "layers": 2},
    ),
    "reads_both_ways": (
        partial(EncoderDecoder, hidden_size=96, bidirectional=True, attention=AdditiveScore),
        {"kind": "recurrent", "heads": 1, "layers": 1},
    ),
}
COMMON = 12  # words that may follow a word are offered, at most


def _file(name: str) -> Path:
    if name not in MODELS:
        raise ValueError(f"there is no translator {name!r} for the page; there are {', '.join(MODELS)}")
    return FOLDER / f"{name}.pt"


def rounded(name: str) -> dict[str, torch.Tensor]:
    """The recorded weights, each rounded to 16 bits. Raises ValueError for a name that is not in MODELS."""
    weights = torch.load(_file(name), weights_only=True)["weights"]
    return {part: weight.half() for part, weight in weights.items()}


def load(name: str) -> nn.Module:
    """The translator that runs in the page, as a module: the recorded model with its weights rounded."""
    toy = corpus.toy_french()
    model = MODELS[name][0](len(toy.source_vocabulary), len(toy.target_vocabulary))
    model.load_state_dict({part: weight.float() for part, weight in rounded(name).items()})
    return model.eval()


def stamp(name: str) -> str:
    """The first line of a translator's script: another one where its weights or this module are others."""
    made_of = hashlib.sha256(_file(name).read_bytes() + Path(__file__).read_bytes())
    return f"// {made_of.hexdigest()}\n"


@cache
def script(name: str) -> str:
    """A script that leaves the translator in `COURSE_MODELS`: shapes and weights, vocabularies, what may follow."""
    toy, weights = corpus.toy_french(), rounded(name)
    follows = defaultdict(Counter)
    for pair in toy.train:
        for before, after in zip(("", *pair.source), pair.source, strict=False):
            follows[before][after] += 1
    numbers = np.concatenate([weight.numpy().ravel() for weight in weights.values()]).astype("<f2")
    model = {
        **MODELS[name][1],
        "shapes": {part: list(weight.shape) for part, weight in weights.items()},
        "numbers": base64.b64encode(numbers.tobytes()).decode(),
        "source": toy.source_vocabulary.words,
        "target": toy.target_vocabulary.words,
        "follows": {before: [word for word, _ in after.most_common(COMMON)] for before, after in follows.items()},
    }
    spelled = json.dumps(model, ensure_ascii=False, separators=(",", ":"))
    return f"{stamp(name)}(globalThis.COURSE_MODELS ??= {{}})[{json.dumps(name)}] = {spelled};\n"


class Translator(Live):
    """A recorded translator that runs in the page: type or click English together, and see what each word looks at.

    Args:
        name: "trained_transformer" (lessons 6 and 7) or "reads_both_ways" (lesson 2).
        examples: English sentences to choose from; the first is shown first.
        start: where it starts, by name: `at` ({"side": "french", "place": 3}), `layer` and `head` (from 1; head 0 is
            all), `off` (names of heads, such as "decoder.layers.1.cross_attention.0"), `without` ("residuals",
            "positions", "mask", or for the recurrent one "attention"), `temperature`, `beam` (1 or 4), `seed`.
        hint: a line above it.
        apart: whether the choices of layer, head, parts and writing are unfolded.
    Raises:
        ValueError: no such translator, no example, or a word of one that the translator has never read.
    """

    _esm = "".join((PARTS / f"{part}.js").read_text(encoding="utf-8") for part in ("engine", "translator"))
    _css = STYLE + (PARTS / "translator.css").read_text(encoding="utf-8")
    name = traitlets.Unicode().tag(sync=True)
    examples = traitlets.List().tag(sync=True)
    start = traitlets.Dict().tag(sync=True)
    hint = traitlets.Unicode().tag(sync=True)
    apart = traitlets.Bool().tag(sync=True)
    state = traitlets.Dict().tag(sync=True)

    def __init__(
        self, name: str, examples: Sequence[str], start: dict | None = None, *, hint: str = "", apart: bool = True
    ):
        _file(name)
        if not examples:
            raise ValueError("no example was given; the translator shows the first")
        known = corpus.toy_french().source_vocabulary.numbers
        unknown = [word for text in examples for word in text.split() if word not in known]
        if unknown:
            raise ValueError(f"{unknown[0]!r} is none of the {len(known)} words that the translator has read")
        start = {"sentence": examples[0], **(start or {})}
        super().__init__(name=name, examples=list(examples), start=start, hint=hint, apart=apart)
        self.on_msg(lambda *told: self.send({"script": script(name)}))

    def summary(self) -> str:
        return f"a translator in the page: {self.start['sentence']}"

    def still(self) -> str:
        """The first example, its translation, and an arc from each word to those that it looks at."""
        source = self.start["sentence"].split()
        (written,) = decoding.greedy(load(self.name), corpus.toy_french(), [source])
        width = 26 + 9 * max(map(len, (*source, *written.tokens)))
        wide = width * max(len(source), len(written.tokens))

        def across(words: Sequence[str], place: int) -> float:
            return wide / 2 + width * (place - (len(words) - 1) / 2)

        parts = []
        for row, weights in enumerate(written.attention.weights.tolist()):
            for column, weight in enumerate(weights):
                x, to = across(written.tokens, row), across(source, column)
                parts.append(
                    f'<path d="M{x:.0f} 118C{x:.0f} 70 {to:.0f} 70 {to:.0f} 26" fill="none" stroke="#0072b2" '
                    f'stroke-width="{6 * weight:.1f}" opacity="{0.25 + 0.75 * weight:.2f}"/>'
                    if weight >= 0.1
                    else ""
                )
        for words, y in ((source, 20), (written.tokens, 135)):
            parts += [
                f'<text x="{across(words, place):.0f}" y="{y}" text-anchor="middle">{html.escape(word)}</text>'
                for place, word in enumerate(words)
            ]
        told = f"{html.escape(' '.join(source))} becomes {html.escape(' '.join(written.tokens))}"
        return f"{svg(wide, 142, ''.join(parts), f'{told}; arcs show where each word looks')}<div>{told}</div>"
