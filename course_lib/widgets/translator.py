"""The course's translators in the page: typed English becomes French, with arcs to what each word looks at."""

import html
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cache

import traitlets

from course_lib import corpus, decoding
from course_lib.attention import AdditiveScore
from course_lib.recurrent import EncoderDecoder
from course_lib.transformer import Transformer
from course_lib.widgets.drawing import svg
from course_lib.widgets.in_page import InPage, PageModel, source, style

COMMON = 12  # at most this many next words are offered


def _sizes() -> tuple[int, int]:
    toy = corpus.toy_french()
    return len(toy.source_vocabulary), len(toy.target_vocabulary)


@cache
def _words() -> dict:
    """Both vocabularies, and the words that may follow each English word."""
    toy, follows = corpus.toy_french(), defaultdict(Counter)
    for pair in toy.train:
        for before, after in zip(("", *pair.source), pair.source, strict=False):
            follows[before][after] += 1
    return {
        "source": toy.source_vocabulary.words,
        "target": toy.target_vocabulary.words,
        "follows": {before: [word for word, _ in after.most_common(COMMON)] for before, after in follows.items()},
    }


def _transformer() -> Transformer:
    return Transformer(*_sizes(), feed_forward_size=192)


def _of_transformer() -> dict:
    return {"kind": "transformer", "heads": 4, "layers": 2, **_words()}


def _recurrent() -> EncoderDecoder:
    return EncoderDecoder(*_sizes(), hidden_size=96, bidirectional=True, attention=AdditiveScore)


def _of_recurrent() -> dict:
    return {"kind": "recurrent", "heads": 1, "layers": 1, **_words()}


MODELS = {
    "trained_transformer": PageModel("trained_transformer", _transformer, _of_transformer),
    "reads_both_ways": PageModel("reads_both_ways", _recurrent, _of_recurrent),
}


class Translator(InPage):
    """A recorded translator that runs in the page. The reader types or clicks English and sees what each word looks at.

    Args:
        name: "trained_transformer" (lessons 6 and 7) or "reads_both_ways" (lesson 2).
        examples: English sentences to choose from; the first is shown first.
        start: where it starts, by name: `at` ({"side": "french", "place": 3}), `layer` and `head` (from 1; head 0 is
            all), `off` (names of heads, such as "decoder.layers.1.cross_attention.0"), `without` ("residuals",
            "positions", "mask", or for the recurrent one "attention"), `temperature`, `beam` (1 or 4), `seed`.
        hint: a line above it.
        apart: whether the choices of layer, head, parts and writing are unfolded.
    Raises:
        TypeError: one string in place of several examples.
        ValueError: there is no such translator or no example, or an example has a word that the translator never read.
    """

    _esm = source("engine", "translating", "page", "translator")
    _css = style("translator")
    apart = traitlets.Bool().tag(sync=True)

    def __init__(
        self, name: str, examples: Sequence[str], start: dict | None = None, *, hint: str = "", apart: bool = True
    ):
        if name not in MODELS:
            raise ValueError(f"there is no translator {name!r} for the page; choose one of {', '.join(MODELS)}")
        if isinstance(examples, str):
            raise TypeError(f"the examples are one string, whose characters would be sentences; give [{examples!r}]")
        if not examples:
            raise ValueError("no example was given; the translator shows the first")
        known = corpus.toy_french().source_vocabulary.numbers
        unknown = [word for text in examples for word in text.split() if word not in known]
        if unknown:
            raise ValueError(f"{unknown[0]!r} is none of the {len(known)} words that the translator has read")
        start = {"sentence": examples[0], **(start or {})}
        super().__init__(MODELS[name], examples=list(examples), start=start, hint=hint, apart=apart)

    def summary(self) -> str:
        return f"a translator in the page: {self.start['sentence']}"

    def still(self) -> str:
        """The first example, its translation, and arcs from each word to the words it looks at."""
        source = self.start["sentence"].split()
        (written,) = decoding.greedy(MODELS[self.name].load(), corpus.toy_french(), [source])
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
