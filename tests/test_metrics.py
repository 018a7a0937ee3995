"""Accuracy, BLEU and alignment error rate on cases that can be computed by hand."""

import pytest
import sacrebleu

from course_lib import metrics
from course_lib.corpus import RECURRING, SentencePair
from course_lib.decoding import Translation
from course_lib.metrics import accuracy_by_length, alignment_error_rate, corpus_bleu, sentence_accuracy


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


def test_gold_links_themselves_have_no_error(corpus):
    assert alignment_error_rate([p.sure for p in corpus.train], corpus.train) == 0
    assert alignment_error_rate([p.possible for p in corpus.train], corpus.train) == 0


@pytest.mark.parametrize("link", [(3, 0), (0, 3), (-1, 0), (0, -1)])
def test_a_link_outside_the_sentence_pair_is_refused(link):
    with pytest.raises(ValueError, match=r"\(target, source\) lies outside the sentence pair un deux trois"):
        alignment_error_rate([{link}], [pair("un deux trois", sure={(0, 0)})])


def test_without_gold_there_is_no_alignment_error_rate():
    with pytest.raises(ValueError, match="no gold links are known"):
        alignment_error_rate([{(0, 0)}], [pair("un deux")])


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
        return [Translation(right.get(sentence, ()), None, True) for sentence in sentences]

    monkeypatch.setattr(metrics, "greedy", write)
    parts = {bucket: corpus.test[bucket] for bucket in ((3, 6), (7, 10))}
    assert accuracy_by_length(None, corpus, parts) == {"3–6": 1.0, "7–10": 0.0}


# ---- what does not fit together ----


@pytest.mark.parametrize("measure", [sentence_accuracy, corpus_bleu, alignment_error_rate])
def test_numbers_that_do_not_match_and_nothing_at_all_are_refused(measure):
    gold = [pair("un", sure={(0, 0)})]
    with pytest.raises(ValueError, match="2 translations for 1 sentence pairs; one for each is wanted"):
        measure([[], []], gold)
    with pytest.raises(ValueError, match="nothing to measure"):
        measure([], [])
