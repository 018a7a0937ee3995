"""Accuracy, BLEU, alignment error rate and bits per character on cases that can be computed by hand."""

import math
from functools import cache

import pytest
import sacrebleu
import torch

from course_lib import metrics
from course_lib.attention import AdditiveScore
from course_lib.byte_pairs import BytePairs
from course_lib.decoding import Translation
from course_lib.language_models import RecurrentLanguageModel, TransformerLanguageModel
from course_lib.metrics import (
    accuracy_by_length,
    alignment_error_rate,
    bits_per_character,
    corpus_bleu,
    sentence_accuracy,
    strongest_links,
)
from course_lib.recurrent import EncoderDecoder
from course_lib.toy_french import RECURRING, SentencePair


def pair(french, sure=(), possible=()):
    words = tuple(french.split())
    sure = frozenset(sure)
    return SentencePair(words, words, sure, sure | frozenset(possible))


# ---- alignment error rate ----


@pytest.mark.parametrize(
    ("proposed", "rate"),
    [
        ({(0, 0), (1, 1)}, 0),  # every sure link
        ({(0, 0), (1, 1), (2, 1)}, 0),  # and a possible one
        ({(0, 0)}, 1 - 2 / 3),  # one of two sure links missed
        ({(0, 0), (2, 1)}, 1 - 3 / 4),  # the possible one in its place
        ({(2, 1)}, 1 - 1 / 3),  # the possible one alone
        ({(2, 1), (0, 1)}, 1 - 1 / 4),  # and a wrong one
        ({(0, 0), (1, 1), (2, 2)}, 1 - 4 / 5),  # one too many
        ({(0, 1), (1, 0)}, 1),  # all wrong
        (set(), 1),
    ],
)
def test_alignment_error_rate_by_hand(proposed, rate):
    gold = pair("un deux trois", sure={(0, 0), (1, 1)}, possible={(2, 1)})
    assert alignment_error_rate([proposed], [gold]) == pytest.approx(rate)


def test_alignment_error_rate_counts_links_of_all_pairs_together():
    gold = [pair("un", sure={(0, 0)}), pair("un deux trois", sure={(0, 0), (1, 1), (2, 2)})]
    assert alignment_error_rate([{(0, 0)}, set()], gold) == pytest.approx(1 - 2 / 5)


def test_a_long_pair_counts_for_more_than_a_short_one():
    gold = [
        pair("un", sure={(0, 0)}),
        pair("un deux", sure={(0, 0)}, possible={(1, 0), (1, 1)}),
        pair("un deux trois", sure={(0, 0), (1, 1), (2, 2)}),
    ]
    proposed = [{(0, 0)}, {(0, 1), (1, 0)}, {(0, 0), (1, 1), (2, 1)}]
    sure, possible, links, gold_sure = 1 + 0 + 2, 1 + 1 + 2, 1 + 2 + 3, 1 + 1 + 3
    assert alignment_error_rate(proposed, gold) == pytest.approx(1 - (sure + possible) / (links + gold_sure))


def test_gold_links_themselves_have_no_error(corpus):
    assert alignment_error_rate([p.sure for p in corpus.train], corpus.train) == 0
    assert alignment_error_rate([p.possible for p in corpus.train], corpus.train) == 0


@pytest.mark.parametrize("link", [(3, 0), (0, 3), (-1, 0), (0, -1)])
def test_a_link_outside_the_sentence_pair_is_refused(link):
    with pytest.raises(ValueError, match=r"\(target, source\) is outside the sentence pair un deux trois"):
        alignment_error_rate([{link}], [pair("un deux trois", sure={(0, 0)})])


def test_without_gold_there_is_no_alignment_error_rate():
    with pytest.raises(ValueError, match="has no gold links"):
        alignment_error_rate([{(0, 0)}], [pair("un deux")])


# ---- links from attention ----


def linked(english, french, sure):
    return SentencePair(tuple(english.split()), tuple(french.split()), frozenset(sure), frozenset(sure))


CHAT = linked("the black cat", "le chat noir", {(0, 0), (1, 2), (2, 1)})
COURT = linked("dogs run", "courent chiens", {(0, 1), (1, 0)})
WEIGHTS = torch.tensor(
    [
        [[0.8, 0.1, 0.1], [0.2, 0.2, 0.6], [0.3, 0.3, 0.4], [0.1, 0.8, 0.1]],  # le chat noir <eos>
        [[0.4, 0.6, 0.0], [0.9, 0.1, 0.0], [0.0, 1.0, 0.0], [0.5, 0.5, 0.0]],  # courent chiens <eos> <pad>
    ]
)


def test_a_word_is_linked_to_the_word_with_the_largest_weight_and_eos_and_padding_are_left_out():
    chat, court = strongest_links(WEIGHTS, [CHAT, COURT])
    assert chat == {(0, 0), (1, 2), (2, 2)} and court == {(0, 1), (1, 0)}
    assert alignment_error_rate([chat, court], [CHAT, COURT]) == pytest.approx(1 - (4 + 4) / (5 + 5))


def test_columns_of_padding_are_not_looked_at():
    wider = torch.cat([WEIGHTS, torch.zeros(2, 4, 2)], -1)
    assert strongest_links(wider, [CHAT, COURT]) == strongest_links(WEIGHTS, [CHAT, COURT])


def test_a_row_of_zeros_proposes_no_link():
    weights = WEIGHTS.clone()
    weights[0, 1] = 0
    assert strongest_links(weights, [CHAT, COURT])[0] == {(0, 0), (2, 2)}


def test_the_links_of_a_batch_are_those_of_its_pairs_alone(corpus):
    torch.manual_seed(0)
    sizes = len(corpus.source_vocabulary), len(corpus.target_vocabulary)
    model = EncoderDecoder(*sizes, hidden_size=8, attention=AdditiveScore).double()
    pairs = corpus.train[:20]

    def links(pairs):
        batch = corpus.batch(pairs)
        return strongest_links(model(batch.source, batch.source_mask, batch.target_input)[1], pairs)

    together = links(pairs)
    assert [len(found) for found in together] == [len(pair.target) for pair in pairs]
    assert together == [links([pair])[0] for pair in pairs]


@pytest.mark.parametrize(
    ("weights", "pairs", "said"),
    [
        (WEIGHTS, [CHAT], "weights of 2 sentences for 1 sentence pairs; give the pairs of the batch, in its order"),
        (WEIGHTS[:, :2], [CHAT, COURT], "2 target and 3 source positions, too few for the 3 and 3 words of the black"),
        (
            WEIGHTS[..., :2],
            [CHAT, COURT],
            "4 target and 2 source positions, too few for the 3 and 3 words of the black",
        ),
        (WEIGHTS.flip(0), [COURT, COURT], "the row of 'courent' sums to 0.9000, not 1"),
        (WEIGHTS * torch.nan, [CHAT, COURT], "the row of 'le' holds NaN"),
    ],
    ids=["pairs", "target", "source", "another order", "NaN"],
)
def test_weights_that_do_not_fit_the_pairs_are_refused(weights, pairs, said):
    with pytest.raises(ValueError, match=said):
        strongest_links(weights, pairs)


# ---- BLEU ----

LONG = [RECURRING[key] for key in RECURRING if "chicken" in key]


def test_bleu_is_sacrebleus():
    written = ["le poulet n' a pas traversé la rue parce qu' il était fatigué".split(), LONG[1].target]
    direct = sacrebleu.metrics.BLEU(tokenize="none", force=True).corpus_score(
        [" ".join(tokens) for tokens in written], [[" ".join(p.target) for p in LONG]]
    )
    assert 0 < direct.score < 100
    assert corpus_bleu(written, LONG) == direct.score


def test_identical_sentences_of_four_words_or_more_score_100():
    assert corpus_bleu([p.target for p in LONG], LONG) == pytest.approx(100)


def test_identical_three_word_sentences_score_0():
    short = [RECURRING["the black cat"], RECURRING["the dog runs"]]
    assert corpus_bleu([p.target for p in short], short) == 0


def test_words_are_compared_as_they_are_cut():
    gold = [pair("l' oiseau n' a pas chanté hier.")]
    assert corpus_bleu(["l' oiseau n' a pas chanté hier.".split()], gold) == pytest.approx(100)
    assert corpus_bleu(["l' oiseau n' a pas chanté hier .".split()], gold) < 90
    assert corpus_bleu(["l'oiseau n'a pas chanté hier.".split()], gold) < 50


# ---- accuracy ----


def test_a_sentence_counts_if_every_word_is_right():
    gold = [pair("le chat"), pair("le chien")]
    assert sentence_accuracy([["le", "chat"], ("le", "chien")], gold) == 1
    assert sentence_accuracy([["le", "chat"], ["le", "chien", "noir"]], gold) == 0.5
    assert sentence_accuracy([[], ["chien", "le"]], gold) == 0


def test_accuracy_by_length_is_named_by_its_buckets(corpus, monkeypatch):
    right = {p.source: p.target for p in corpus.test[3, 6]}

    def write(model, corpus, sentences):
        return [Translation(right.get(sentence, ()), None, True, 0.0) for sentence in sentences]

    monkeypatch.setattr(metrics, "greedy", write)
    parts = {bucket: corpus.test[bucket] for bucket in ((3, 6), (7, 10))}
    assert accuracy_by_length(None, corpus, parts) == {"3–6": 1.0, "7–10": 0.0}


# ---- bits a character ----

TOKENS = BytePairs.train("the cat sat on the mat; the dog did not", 270)
TEXT = "the cat did not sit on the dog: été 🙂 " * 9
LANGUAGE_MODELS = {
    "recurrent": lambda length: RecurrentLanguageModel(len(TOKENS), trained_length=length, hidden_size=8),
    "transformer": lambda length: TransformerLanguageModel(
        len(TOKENS), trained_length=length, model_size=8, heads=2, layers=1, feed_forward_size=8
    ),
}


@cache
def text_of(count):
    """Returns a part of the text with `count` tokens."""
    parts = (TEXT[start:end] for start in range(40) for end in range(start + count, len(TEXT)))
    return next(part for part in parts if len(TOKENS.encode(part)) == count)


@torch.no_grad()
def bits_by_token(model, text, length):
    """Each token by itself, from the window that it is promised: the next L / 2 tokens share the L before the last."""
    numbers, half = TOKENS.encode(text), max(1, length // 2)
    bits = math.log2(len(TOKENS))
    for place in range(1, len(numbers)):
        windows = max(0, -(-(place - length) // half))  # that many after the first, rounded up
        end = min(length + windows * half, len(numbers) - 1)
        before = numbers[max(0, end - length) : place]
        assert len(before) == place if place <= length else length / 2 <= len(before) <= length
        bits -= model(torch.tensor([before]))[0][0, -1].log_softmax(-1)[numbers[place]].item() / math.log(2)
    return bits


@pytest.mark.parametrize("kind", LANGUAGE_MODELS)
@pytest.mark.parametrize("length", [1, 2, 7, 8])
def test_bits_per_character_are_those_of_each_token_from_its_window(kind, length):
    torch.manual_seed(0)
    model = LANGUAGE_MODELS[kind](length).double().eval()
    with torch.no_grad():
        model.output.weight.mul_(5)
    for count in {2, 3, length, length + 1, length + 2, length + length // 2 + 1, 2 * length, 2 * length + 1, 61} - {1}:
        text = text_of(count)
        wanted = bits_by_token(model, text, length) / len(text)
        assert bits_per_character(model, text, TOKENS) == pytest.approx(wanted, abs=1e-9), count


def test_bits_per_character_do_not_depend_on_how_many_windows_go_at_once(monkeypatch):
    model, text = LANGUAGE_MODELS["recurrent"](8).eval(), text_of(99)
    whole = bits_per_character(model, text, TOKENS)
    for at_once in (1, 7):
        monkeypatch.setattr(metrics, "AT_ONCE", at_once)
        assert bits_per_character(model, text, TOKENS) == pytest.approx(whole, rel=1e-6)


@pytest.mark.parametrize("kind", LANGUAGE_MODELS)
@pytest.mark.parametrize("count", [2, 9, 50])
def test_a_uniform_model_pays_the_logarithm_of_the_vocabulary_for_each_token(kind, count):
    model, text = LANGUAGE_MODELS[kind](8).double().eval(), text_of(count)
    torch.nn.init.zeros_(model.output.weight)
    torch.nn.init.zeros_(model.output.bias)
    wanted = math.log2(len(TOKENS)) * count / len(text)
    assert bits_per_character(model, text, TOKENS) == pytest.approx(wanted, rel=1e-12)


def test_a_model_in_training_is_measured_without_dropout_and_gets_no_gradients():
    model, text = RecurrentLanguageModel(len(TOKENS), trained_length=8, dropout=0.9).train(), text_of(50)
    assert bits_per_character(model, text, TOKENS) == bits_per_character(model.eval(), text, TOKENS)
    assert model.output.weight.grad is None


@pytest.mark.parametrize("text", ["", "a"])
def test_of_fewer_than_two_tokens_there_is_nothing_to_predict(text):
    with pytest.raises(ValueError, match=f"the text has {len(text)} tokens; it needs at least 2"):
        bits_per_character(LANGUAGE_MODELS["recurrent"](8), text, TOKENS)


# ---- what does not fit together ----


@pytest.mark.parametrize("measure", [sentence_accuracy, corpus_bleu, alignment_error_rate])
def test_numbers_that_do_not_match_and_nothing_at_all_are_refused(measure):
    gold = [pair("un", sure={(0, 0)})]
    with pytest.raises(ValueError, match="there are 2 translations for 1 sentence pairs; give one"):
        measure([[], []], gold)
    with pytest.raises(ValueError, match="no sentence pair was given"):
        measure([], [])
