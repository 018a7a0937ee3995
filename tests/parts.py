"""Every module of the library that can be built, small, with a call on inputs of the type that is wanted."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from course_lib.attention import AdditiveScore, DotScore, GeneralScore, MultiHeadAttention
from course_lib.cores import linear_attention, tiled_attention, window_attention
from course_lib.language_models import RecurrentLanguageModel, TransformerLanguageModel
from course_lib.layers import (
    FeedForward,
    GatedFeedForward,
    LayerNorm,
    MixtureOfExperts,
    PostNorm,
    PreNorm,
    PreRMSNorm,
    RMSNorm,
)
from course_lib.positions import LearnedPositions, LinearBiases, RotaryPositions, SinusoidalPositions
from course_lib.pretrained import NoOutput
from course_lib.recurrent import CELLS, EncoderDecoder
from course_lib.transformer import (
    Decoder,
    DecoderLayer,
    DecoderOnly,
    Encoder,
    EncoderLayer,
    EncoderOnly,
    Transformer,
    WordEmbedding,
)

WORDS = torch.tensor([[4, 5, 6, 7, 8], [9, 8, 7, 0, 0]])
MASK = torch.tensor([[True] * 5, [True, True, True, False, False]])
HEADS_MASK = MASK[:, None, None]


class Part(NamedTuple):
    """`call(module, x)` gives a tensor; x is (batch 2, 5, 8), of variance 1, or None for what reads words."""

    build: Callable[[], nn.Module]
    call: Callable[[nn.Module, Tensor | None], Tensor]
    reads_words: bool = False


def _score(score, x):
    return score(x[:, 0], score.project_keys(x))


def _attention(attention, x):
    return attention(x, mask=HEADS_MASK, need_weights=False)[0]


def _causal(attention, x):
    return attention(x)[0]


def _residual(residual, x):
    return residual.after(x, residual.before(x))


def _decoder_layer(layer, x):
    return layer(x, layer.cross_attention.project_memory(x), None, HEADS_MASK)[0]


def _decoder(decoder, x):
    return decoder(x, decoder.project_memory(x), HEADS_MASK)[0]


def _reading(model, x):
    return model(WORDS, MASK)[0]


def _translating(model, x):
    return model(WORDS, MASK, WORDS)[0]


def _in_two_parts(model, x):
    return model.decode(WORDS[:, 3:], model.decode(WORDS[:, :3])[2])[0]


def _a_step(model, x):
    _, state, _ = model.read(WORDS[:, :3], model.start(None), None)
    return model.step(WORDS[:, 3], state, None)[0]


def _heads(**parts):
    return partial(MultiHeadAttention, 8, 2, **parts)


SMALL = {"model_size": 8, "heads": 2, "layers": 2, "feed_forward_size": 16}
LLAMA = {
    "residual": PreRMSNorm,
    "feed_forward": GatedFeedForward,
    "positions": None,
    "self_attention": partial(MultiHeadAttention, key_value_heads=1, rotation=RotaryPositions, projection_bias=False),
}
# All experts are computed: which are the likeliest may differ by a rounding.
MIXTURE = partial(MixtureOfExperts, experts=3, chosen=3)
PARTS = {
    "AdditiveScore": Part(partial(AdditiveScore, 8, 8, 8), _score),
    "DotScore": Part(partial(DotScore, 8, 8), _score),
    "GeneralScore": Part(partial(GeneralScore, 8, 8), _score),
    "MultiHeadAttention": Part(_heads(), _attention),
    "MultiHeadAttention, in steps": Part(_heads(), lambda part, x: part(x, mask=HEADS_MASK, need_weights=True)[0]),
    "MultiHeadAttention, shared": Part(_heads(key_value_heads=1), _attention),
    "MultiHeadAttention, a word": Part(_heads(key_value_heads=1), lambda part, x: part(x[:, :1], x)[0]),
    "MultiHeadAttention, turned": Part(_heads(rotation=RotaryPositions), _attention),
    "MultiHeadAttention, biased": Part(_heads(score_bias=LinearBiases), _attention),
    "tiled_attention": Part(_heads(core=partial(tiled_attention, tile=2)), _attention),
    "tiled_attention, biased": Part(_heads(core=partial(tiled_attention, tile=2), score_bias=LinearBiases), _attention),
    "window_attention": Part(_heads(core=partial(window_attention, window=2)), _causal),
    "linear_attention": Part(_heads(core=linear_attention), _causal),
    "SinusoidalPositions": Part(partial(SinusoidalPositions, 8), lambda part, x: part(x, 3)),
    "LearnedPositions": Part(partial(LearnedPositions, 8), lambda part, x: part(x, 3)),
    "RotaryPositions": Part(partial(RotaryPositions, 8), lambda part, x: part(x[:, None], 300)),
    "LinearBiases": Part(partial(LinearBiases, 1), lambda part, x: part(x[:, None], x[:, None])),
    "LayerNorm": Part(partial(LayerNorm, 8), lambda part, x: part(300 * x)),
    "RMSNorm": Part(partial(RMSNorm, 8), lambda part, x: part(300 * x)),
    "FeedForward": Part(partial(FeedForward, 8, 16), lambda part, x: part(x)),
    "FeedForward, gelu": Part(
        partial(FeedForward, 8, 16, activation=partial(F.gelu, approximate="tanh")), lambda part, x: part(x)
    ),
    "GatedFeedForward": Part(partial(GatedFeedForward, 8, 16), lambda part, x: part(x)),
    "MixtureOfExperts": Part(partial(MIXTURE, 8, 16), lambda part, x: part(x).output),
    "MixtureOfExperts, its loss": Part(partial(MIXTURE, 8, 16), lambda part, x: part(x).loss),
    "PostNorm": Part(partial(PostNorm, 8), _residual),
    "PreNorm": Part(partial(PreNorm, 8), _residual),
    "PreRMSNorm": Part(partial(PreRMSNorm, 8), _residual),
    "EncoderLayer": Part(partial(EncoderLayer, 8, 2, 16), lambda part, x: part(x, HEADS_MASK)[0]),
    "DecoderLayer": Part(partial(DecoderLayer, 8, 2, 16), _decoder_layer),
    "Encoder": Part(lambda: Encoder([EncoderLayer(8, 2, 16)], PreNorm.last(8)), lambda part, x: part(x, HEADS_MASK)[0]),
    "Decoder": Part(lambda: Decoder([DecoderLayer(8, 2, 16)], PreNorm.last(8)), _decoder),
    "WordEmbedding": Part(
        partial(WordEmbedding, 10, 8, 0.0, SinusoidalPositions, norm=LayerNorm, types=2),
        lambda part, x: part(WORDS, types=WORDS % 2),
        True,
    ),
    "NoOutput": Part(partial(NoOutput, 10, 8, 0.0, LearnedPositions), lambda part, x: part(WORDS), True),
    "Transformer": Part(partial(Transformer, 10, 10, **SMALL), _translating, True),
    "Transformer, after": Part(partial(Transformer, 10, 10, **SMALL, residual=PostNorm, tie=True), _translating, True),
    "EncoderOnly": Part(partial(EncoderOnly, 10, **SMALL), _reading, True),
    "EncoderOnly, its states": Part(
        partial(EncoderOnly, 10, **SMALL), lambda model, x: model.states(WORDS, MASK), True
    ),
    "DecoderOnly": Part(partial(DecoderOnly, 10, **SMALL), _reading, True),
    "DecoderOnly, in two parts": Part(partial(DecoderOnly, 10, **SMALL), _in_two_parts, True),
    "DecoderOnly, as Llama": Part(partial(DecoderOnly, 10, **SMALL, **LLAMA), _in_two_parts, True),
    "DecoderOnly, a mixture": Part(partial(DecoderOnly, 10, **SMALL, feed_forward=MIXTURE), _reading, True),
    "TransformerLanguageModel": Part(partial(TransformerLanguageModel, 10, trained_length=8, **SMALL), _reading, True),
    "RecurrentLanguageModel": Part(partial(RecurrentLanguageModel, 10, trained_length=8, hidden_size=8), _a_step, True),
}
PARTS |= {
    f"EncoderDecoder, {cell}": Part(
        partial(EncoderDecoder, 10, 10, hidden_size=8, cell=cell, attention=score, bidirectional=cell != "tanh"),
        _translating,
        True,
    )
    for cell, score in zip(CELLS, (None, AdditiveScore, GeneralScore), strict=True)
}


def made(name: str) -> nn.Module:
    """The part with the same weights each time, without dropout."""
    torch.manual_seed(0)
    return PARTS[name].build().eval()


def given(name: str, dtype: torch.dtype = torch.float32) -> Tensor | None:
    if PARTS[name].reads_words:
        return None
    return torch.randn(2, 5, 8, generator=torch.Generator().manual_seed(1)).to(dtype)
