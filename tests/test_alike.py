"""What every function of the library does alike: what it refuses, how it decides ties, how it leaves a model."""

import inspect

import library
import pytest
import torch
from parts import HEADS_MASK, MASK, WORDS, made

from course_lib import (
    attention,
    byte_pairs,
    cores,
    masks,
    metrics,
    pretrained,
    training,
    transformer,
)
from course_lib.attention_map import AttentionMap
from course_lib.corpus import Vocabulary
from course_lib.decoding import beam, draw, greedy, sample, write_on
from course_lib.language_models import RecurrentLanguageModel, TransformerLanguageModel
from course_lib.positions import LearnedPositions, RotaryPositions, SinusoidalPositions
from course_lib.toy_french import SentencePair
from course_lib.training import cross_entropy
from course_lib.transformer import Transformer
from course_lib.widgets import Translator, Writer
from course_lib.word_pieces import WordPieces

X = torch.zeros(2, 5, 8)
HEADS = X[:, None]  # (batch, head, n, d)


# ---- masks ----


def takers():
    """Functions and methods of the library that take a mask, and the parameter's name."""
    for module in library.taught():
        for thing in vars(module).values():
            if getattr(thing, "__module__", None) != module.__name__:
                continue
            functions = vars(thing).values() if inspect.isclass(thing) else [thing]
            for function in filter(inspect.isfunction, functions):
                if function.__name__.startswith("__"):  # what is only kept is checked where it is used
                    continue
                for name in inspect.signature(function).parameters:
                    if name.endswith("mask"):
                        yield f"{function.__module__.removeprefix('course_lib.')}.{function.__qualname__}", name


def _causal(core):
    return lambda mask: core(HEADS, HEADS, HEADS, mask(masks.causal_mask(5)))


def _of_layer(name, method="forward"):
    return lambda mask: getattr(made(name), method)(X, mask(HEADS_MASK))


def _of_words(name, method="forward"):
    return lambda mask: getattr(made(name), method)(WORDS, mask(MASK))


def _memory(name):
    own = made(name)
    return own, own.project_memory(X) if name == "Decoder" else own.cross_attention.project_memory(X)


def _decoder(name):
    def call(mask):
        own, memory = _memory(name)
        return own(X, memory, memory_mask=mask(HEADS_MASK))

    return call


def _decoder_layer(mask):
    own, memory = _memory("DecoderLayer")
    return own(X, memory, mask(masks.causal_mask(5)))


CALLS = {
    ("attention.attend", "mask"): lambda mask: attention.attend(X[..., 0], X, mask(MASK)),
    ("attention.scaled_dot_product_attention", "mask"): lambda mask: attention.scaled_dot_product_attention(
        HEADS, HEADS, HEADS, mask(HEADS_MASK)
    ),
    ("attention.dot_product_attention", "mask"): lambda mask: attention.dot_product_attention(
        HEADS, HEADS, HEADS, mask(HEADS_MASK)
    ),
    ("attention.MultiHeadAttention.forward", "mask"): lambda mask: made("MultiHeadAttention")(X, mask=mask(HEADS_MASK)),
    ("attention.MultiHeadAttention.attend", "mask"): lambda mask: made("MultiHeadAttention").attend(
        X, *made("MultiHeadAttention").project_memory(X), mask(HEADS_MASK)
    ),
    ("cores.tiled_attention", "mask"): lambda mask: cores.tiled_attention(HEADS, HEADS, HEADS, mask(HEADS_MASK)),
    ("cores.window_attention", "mask"): _causal(lambda *given: cores.window_attention(*given, window=2)),
    ("cores.linear_attention", "mask"): _causal(cores.linear_attention),
    ("cores.check_causal", "mask"): _causal(lambda *given: cores.check_causal(*given, None)),
    ("masks.check_mask", "mask"): lambda mask: masks.check_mask(mask(MASK), WORDS),
    ("masks.masked_softmax", "mask"): lambda mask: masks.masked_softmax(X[..., 0], mask(MASK)),
    ("recurrent.EncoderDecoder.encode", "mask"): _of_words("EncoderDecoder, tanh", "encode"),
    ("recurrent.EncoderDecoder.forward", "source_mask"): lambda mask: made("EncoderDecoder, tanh")(
        WORDS, mask(MASK), WORDS
    ),
    ("transformer.EncoderLayer.attend_to_self", "mask"): lambda mask: made("EncoderLayer").attend_to_self(
        X, mask(HEADS_MASK), None, False
    ),
    ("transformer.EncoderLayer.forward", "mask"): _of_layer("EncoderLayer"),
    ("transformer.DecoderLayer.forward", "mask"): _decoder_layer,
    ("transformer.DecoderLayer.forward", "memory_mask"): _decoder("DecoderLayer"),
    ("transformer.Encoder.forward", "mask"): _of_layer("Encoder"),
    ("transformer.Encoder.states", "mask"): _of_layer("Encoder", "states"),
    ("transformer.Decoder.forward", "memory_mask"): _decoder("Decoder"),
    ("transformer.checked", "mask"): lambda mask: transformer.checked(mask(MASK), WORDS),
    ("transformer.Transformer.encode", "mask"): _of_words("Transformer", "encode"),
    ("transformer.Transformer.forward", "source_mask"): lambda mask: made("Transformer")(WORDS, mask(MASK), WORDS),
    ("transformer.EncoderOnly.may_attend", "mask"): _of_words("EncoderOnly", "may_attend"),
    ("transformer.EncoderOnly.forward", "mask"): _of_words("EncoderOnly"),
    ("transformer.EncoderOnly.states", "mask"): _of_words("EncoderOnly", "states"),
    ("transformer.DecoderOnly.may_attend", "mask"): _of_words("DecoderOnly", "may_attend"),
    ("training.cross_entropy", "mask"): lambda mask: cross_entropy(X, WORDS % 8, mask(MASK)),
    ("pretrained.mean_pooled", "mask"): lambda mask: pretrained.mean_pooled(X, mask(MASK)),
}


def test_every_function_with_a_mask_is_tried():
    assert set(takers()) == CALLS.keys()


@pytest.mark.parametrize("dtype", [torch.int64, torch.uint8, torch.float32], ids=str)
@pytest.mark.parametrize("name", CALLS, ids=" ".join)
def test_a_mask_that_is_not_boolean_is_refused_everywhere(name, dtype, unchecked):
    with torch.no_grad():
        CALLS[name](lambda mask: mask)
        with pytest.raises(TypeError, match=rf"the mask is {dtype}; it must be torch.bool"):
            CALLS[name](lambda mask: mask.to(dtype))


# ---- the loss ----


def test_a_loss_takes_the_words_of_its_own_logits(unchecked):
    logits, words, mask = torch.randn(2, 5, 10), WORDS, MASK
    with pytest.raises(ValueError, match=r"the words have the shape \(2, 4\) and the logits \(2, 5, 10\)"):
        cross_entropy(logits, words[:, :4])
    for number in (-100, 10):
        with pytest.raises(ValueError, match=f"the words have numbers from .*{number}.*0 to 9; give padding any"):
            cross_entropy(logits, words.masked_fill(~mask, number), mask)
    with pytest.raises(ValueError, match=r"the mask has the shape \(2,\); it must be the words', \(2, 5\)"):
        cross_entropy(logits, words, mask[:, 0])
    with pytest.raises(ValueError, match="the mask is False everywhere"):
        cross_entropy(logits, words, mask & False)


@pytest.mark.parametrize("smoothing", [-0.1, 1.1, 10, float("nan")])
def test_smoothing_is_a_share(smoothing):
    with pytest.raises(ValueError, match=f"smoothing is {smoothing}; it must be from 0 to 1"):
        cross_entropy(torch.zeros(1, 4), torch.tensor([2]), smoothing=smoothing)


def test_a_recurrent_encoder_refuses_a_mask_of_another_shape(unchecked):
    with pytest.raises(ValueError, match=r"the mask has the shape \(2, 4\); it must be the source's, \(2, 5\)"):
        made("EncoderDecoder, tanh").encode(WORDS, MASK[:, :4])


# ---- strings ----

PIECES = WordPieces(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "hello"])
PAIR = SentencePair(("the", "cat"), ("le", "chat"))
ONE_STRING = {
    "greedy": lambda corpus: greedy(translator(corpus), corpus, "the cat"),
    "greedy, nothing": lambda corpus: greedy(translator(corpus), corpus, ""),
    "sample": lambda corpus: sample(translator(corpus), corpus, "the cat"),
    "beam": lambda corpus: beam(translator(corpus), corpus, "the cat"),
    "write_on": lambda corpus: write_on(*writer(), "while ", 1),
    "sentence_vectors": lambda corpus: pretrained.sentence_vectors(made("EncoderOnly"), PIECES, "hello"),
    "WordPieces.batch": lambda corpus: PIECES.batch("hello"),
    "Vocabulary": lambda corpus: Vocabulary("the cat"),
    "Vocabulary.encode": lambda corpus: Vocabulary(["the", "cat"]).encode("the"),
    "sentence_accuracy": lambda corpus: metrics.sentence_accuracy(["le chat"], [PAIR]),
    "corpus_bleu": lambda corpus: metrics.corpus_bleu(["le chat"], [PAIR]),
    "corpus_bleu, one": lambda corpus: metrics.corpus_bleu("a", [PAIR]),
    "AttentionMap": lambda corpus: AttentionMap(torch.eye(2), "ab", ["a", "b"]),
    "Writer": lambda corpus: Writer("A class"),
    "Translator": lambda corpus: Translator("trained_transformer", "the cat"),
}


def translator(corpus, **settings):
    torch.manual_seed(0)
    return Transformer(len(corpus.source_vocabulary), len(corpus.target_vocabulary), model_size=8, **settings)


def writer(build=RecurrentLanguageModel, **settings):
    torch.manual_seed(0)
    return build(256, trained_length=32, **settings), byte_pairs.BytePairs([])


@pytest.mark.parametrize("name", ONE_STRING)
def test_one_string_is_not_taken_for_a_list_of_texts_or_words(name, corpus, unchecked):
    with pytest.raises(TypeError, match="string"):
        ONE_STRING[name](corpus)


# ---- positions ----


@pytest.mark.parametrize("kind", [SinusoidalPositions, LearnedPositions, RotaryPositions])
def test_no_position_is_before_the_first(kind):
    x = HEADS if kind is RotaryPositions else X
    with pytest.raises(ValueError, match="start is -1; it must be 0 or more"):
        kind(8)(x, start=-1)


@pytest.mark.parametrize("name", ["WordEmbedding", "NoOutput"])
def test_nor_is_one_of_what_passes_the_start_on(name):
    with pytest.raises(ValueError, match="start is -1"):
        made(name)(WORDS, start=-1)


@pytest.mark.parametrize("method", ["project_memory", "attend"])
def test_nor_of_keys_and_queries(method):
    own = made("MultiHeadAttention, turned")
    rest = own.project_memory(X) if method == "attend" else ()
    with pytest.raises(ValueError, match="start is -1"):
        getattr(own, method)(X, *rest, start=-1)


@pytest.mark.parametrize("mask", [masks.causal_mask, lambda length, start: masks.window_mask(length, 2, start)])
def test_nor_of_a_masks_rows(mask):
    with pytest.raises(ValueError, match="start is -1; it must be from 0 to the length"):
        mask(3, start=-1)


# ---- logits that decide nothing ----


def broken(model, number):
    with torch.no_grad():
        model.output.bias[5] = number
    return model


DECODERS = {
    "greedy": lambda corpus, number: greedy(broken(translator(corpus), number), corpus, [("the", "cat")]),
    "sample": lambda corpus, number: sample(broken(translator(corpus), number), corpus, [("the", "cat")]),
    "beam": lambda corpus, number: beam(broken(translator(corpus), number), corpus, [("the", "cat")]),
    "write_on": lambda corpus, number: write_on(broken(writer()[0], number), writer()[1], ["while "], 3),
    "draw": lambda corpus, number: draw(torch.tensor([[0.0, 1.0], [number, 0.0]])),
}


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
@pytest.mark.parametrize("name", DECODERS)
def test_no_word_is_chosen_by_logits_that_are_not_finite(name, number, corpus):
    with pytest.raises(FloatingPointError, match="the logits of a row are NaN or infinite"):
        DECODERS[name](corpus, number)


def test_a_word_may_be_forbidden_by_a_logit_of_minus_infinity(corpus):
    assert DECODERS["greedy"](corpus, -torch.inf) and DECODERS["beam"](corpus, -torch.inf)
    assert draw(torch.tensor([[0.0, -torch.inf]])).tolist() == [0]


# ---- ties ----


@pytest.mark.parametrize("k", [1, 2, 3, 6])
def test_of_equal_words_exactly_k_are_kept_those_with_the_lower_numbers(k):
    logits = torch.tensor([0.0, 1.0, 1.0, 0.0, 1.0, 1.0])
    generator = torch.Generator().manual_seed(0)
    drawn = draw(logits.expand(2_000, 6), top_k=k, generator=generator)
    assert drawn.unique().tolist() == sorted([1, 2, 4, 5, 0, 3][:k])


# ---- modes ----

LOOKS = {
    "greedy": lambda model, corpus: greedy(model, corpus, [("the", "cat")]),
    "sample": lambda model, corpus: sample(model, corpus, [("the", "cat")]),
    "beam": lambda model, corpus: beam(model, corpus, [("the", "cat")]),
    "write_on": lambda model, corpus: write_on(model, writer()[1], ["while "], 3),
    "bits_per_character": lambda model, corpus: metrics.bits_per_character(model, "while ", writer()[1]),
    "accuracy_by_length": lambda model, corpus: metrics.accuracy_by_length(model, corpus, {(3, 3): [PAIR]}),
    "validation_accuracy": lambda model, corpus: training.validation_accuracy(model, corpus),
}


def looked_at(name, corpus):
    if name in ("write_on", "bits_per_character"):
        return writer(TransformerLanguageModel, dropout=0.5)[0]
    return translator(corpus, dropout=0.5)


@pytest.mark.parametrize("name", LOOKS)
def test_a_look_at_a_model_in_training_leaves_every_part_in_its_mode(name, tiny):
    model = looked_at(name, tiny).train()
    model.encoder.eval()  # frozen, say
    model.encoder.layers[0].feed_forward.train()
    before = [part.training for part in model.modules()]
    LOOKS[name](model, tiny)
    assert [part.training for part in model.modules()] == before


@pytest.mark.parametrize("name", LOOKS)
def test_so_does_one_that_fails(name, tiny):
    model = broken(looked_at(name, tiny), torch.nan).train()
    if name == "bits_per_character":
        model.output = None
    with pytest.raises((FloatingPointError, TypeError)):
        LOOKS[name](model, tiny)
    assert all(part.training for part in model.modules())
