"""A language model in the page: what may follow the typed text, and what the model writes after it."""

import html
from collections.abc import Sequence
from functools import cache, partial

import torch

from course_lib import byte_pairs, decoding, texts
from course_lib.attention import MultiHeadAttention
from course_lib.language_models import TransformerLanguageModel
from course_lib.positions import RotaryPositions
from course_lib.widgets.drawing import most_probable
from course_lib.widgets.in_page import InPage, PageModel, source, style

SIZE, LONGEST = 1024, 64  # tokens in the vocabulary, and in the texts it was trained on
SHOWN = 8  # of the most probable tokens, in the still picture
SETTINGS = "text", "temperature", "top_k", "top_p", "seed"


@cache
def vocabulary() -> byte_pairs.BytePairs:
    """The tokens of lesson 8."""
    return byte_pairs.BytePairs.train(texts.python_reference().train, SIZE)


def _model() -> TransformerLanguageModel:
    attention = partial(MultiHeadAttention, rotation=RotaryPositions)
    return TransformerLanguageModel(SIZE, trained_length=LONGEST, positions=None, self_attention=attention)


def _known() -> dict:
    tokens = {"piece": byte_pairs.PIECE, "merges": vocabulary().merges}
    return {"heads": 4, "layers": 2, "longest": LONGEST, **tokens}


MODEL = PageModel("page_writer", _model, _known)


class Writer(InPage):
    """The language model of lesson 8, which runs in the page and continues what the reader types.

    Args:
        prompts: texts to choose from; the first is shown first.
        start: where it starts, by name: `text`, `temperature` (0 to 2; 0 takes the top one), `top_k`, `top_p` and
            `seed`, with the meaning that they have in `decoding.draw`.
        hint: a line above it.
    Raises:
        TypeError: one string in place of several prompts.
        ValueError: there is no prompt, a prompt is empty, or a setting in `start` is unknown.
    """

    _esm = source("engine", "writing", "page", "writer")
    _css = style("writer")

    def __init__(self, prompts: Sequence[str], start: dict | None = None, *, hint: str = ""):
        if isinstance(prompts, str):
            raise TypeError(
                f"the prompts are one string, whose characters would be prompts; give a list, [{prompts!r}]"
            )
        if not prompts or "" in prompts:
            raise ValueError("no prompt was given, or an empty one; the model can only continue a text")
        start = {"text": prompts[0], **(start or {})}
        if unknown := start.keys() - set(SETTINGS):
            raise ValueError(f"{min(unknown)!r} is none of the settings, which are {', '.join(SETTINGS)}")
        super().__init__(MODEL, examples=list(prompts), start=start, hint=hint)

    def summary(self) -> str:
        return f"a language model in the page: {self.start['text']} …"

    def still(self) -> str:
        """The most probable tokens after the first text, and what the model writes if it always takes the top one."""
        model, tokens, text = MODEL.load(), vocabulary(), self.start["text"]
        with torch.no_grad():
            p = model(torch.tensor([tokens.encode(text)]))[0][0, -1].softmax(-1)
        best = p.topk(SHOWN)
        names = [token.replace(" ", "·").replace("\n", "↵") for token in tokens.spelled(best.indices.tolist())]
        bars = most_probable(dict(zip(names, best.values.tolist(), strict=True)), 2, f"after {html.escape(text)}")
        (written,) = decoding.write_on(model, tokens, [text], LONGEST)
        return (
            f"{bars}<p>What the model writes if it always takes the most probable token:</p>"
            f'<pre style="white-space:pre-wrap"><b>{html.escape(text)}</b>{html.escape(written.text)}</pre>'
        )
