"""The benchmark compares one computation with itself, and its verb prints a row for each model."""

import re
from functools import partial

import pytest
import torch
from torch.testing import assert_close

from course_lib import __main__ as front_door
from course_lib import bench
from course_lib.attention import AdditiveScore, GeneralScore, MultiHeadAttention
from course_lib.recurrent import EncoderDecoder


def test_the_textbook_score_is_the_librarys():
    score, textbook = AdditiveScore(4, 6, attention_size=3), bench.TextbookScore(4, 6, attention_size=3)
    textbook.load_state_dict(score.state_dict())
    query, keys = torch.randn(2, 4), torch.randn(2, 5, 6)
    assert_close(textbook(query, textbook.project_keys(keys)), score(query, score.project_keys(keys)))


def test_the_textbook_projects_the_keys_at_each_step():
    model, calls = EncoderDecoder(9, 9, hidden_size=4, attention=bench.TextbookScore), []
    model.score.key_projection.register_forward_hook(lambda *_: calls.append(1))
    model(torch.ones(2, 5, dtype=torch.int64), None, torch.ones(2, 3, dtype=torch.int64))
    assert len(calls) == 3


@pytest.mark.parametrize("parameter", ["score.energy.weight", "encoder.weight_hh_l0"])
def test_models_that_compute_something_else_are_not_compared(corpus, parameter):
    sizes = len(corpus.source_vocabulary), len(corpus.target_vocabulary)
    one, two = (EncoderDecoder(*sizes, hidden_size=8, attention=AdditiveScore) for _ in range(2))
    two.load_state_dict(one.state_dict())
    batch = corpus.batch(corpus.train[:4])
    bench.assert_same(one, two, batch)
    with torch.no_grad():
        two.get_parameter(parameter).add_(torch.rand_like(two.get_parameter(parameter)))
    with pytest.raises(AssertionError):
        bench.assert_same(one, two, batch)


def test_nothing_is_timed_unless_the_first_two_compute_the_same(corpus, monkeypatch):
    monkeypatch.setitem(bench.SCORES, "attention, keys at each step", GeneralScore)
    monkeypatch.delattr(bench, "measure")
    before = torch.get_num_threads()
    with pytest.raises(AssertionError, match="not close"):
        bench.compare(corpus, state_size=8, batch_size=4, steps=1, rounds=1)
    assert torch.get_num_threads() == before


def test_a_speed_is_words_a_second_and_the_first_round_is_not_timed(corpus, monkeypatch):
    clock = iter([0, 99, 100, 102, 110, 114])  # one round of 99 s, then two of 2 s and 4 s
    monkeypatch.setattr(bench.time, "process_time", lambda: next(clock))
    sizes = len(corpus.source_vocabulary), len(corpus.target_vocabulary)
    pairs = corpus.train[:4]
    words = sum(len(pair.target) + 1 for pair in pairs)
    speeds = list(bench.measure([EncoderDecoder(*sizes, hidden_size=4)], [corpus.batch(pairs)], rounds=2))
    assert speeds == [[words / 2], [words / 4]]


def test_the_table_has_medians_spreads_and_what_is_relative_within_a_round():
    models = {"one": torch.nn.Linear(2, 3), "two": torch.nn.Linear(2, 3, bias=False)}
    table = bench.table(models, [[1000, 3000], [2000, 4000], [4000, 8000]])  # ratios 3, 2, 2
    assert [line.split() for line in table.splitlines()[1:]] == [
        ["one", "9", "2,000", "(1,000", "–", "4,000)", "1.00"],
        ["two", "6", "4,000", "(3,000", "–", "8,000)", "2.00"],
    ]


def test_a_time_is_of_one_step_and_the_first_round_is_not_timed(monkeypatch):
    clock = iter([0, 99, 100, 199, 200, 202, 210, 214, 220, 223, 230, 231])
    monkeypatch.setattr(bench.time, "process_time", lambda: next(clock))
    assert list(bench.measure_heads((2, 3, 8), heads=2, rounds=2)) == [(2, 4), (3, 1)]


def test_the_table_of_heads_has_medians_and_the_ratio_within_a_round(monkeypatch):
    times = [(0.001, 0.002), (0.006, 0.004), (0.003, 0.003)]  # ratios 0.5, 1.5, 1
    monkeypatch.setattr(bench, "measure_heads", lambda *_: times)
    rows = bench.compare_heads([(32, 64, 256), (8, 512, 256)], rounds=3).split("highest)\n")[1].splitlines()
    assert [re.split(r"  +", row) for row in rows] == [
        [shape, "3.0", "3.0", "1.00", "(0.50 – 1.50)"] for shape in ("32 × 64 × 256", "8 × 512 × 256")
    ]


class OtherValue(MultiHeadAttention):
    def forward(self, x):
        return super().forward(x)[0] + 1, None


class OtherGradient(MultiHeadAttention):
    def forward(self, x):
        return super().forward(x)[0] + (x - x.detach()), None


@pytest.mark.parametrize("other", [OtherValue, OtherGradient])
def test_heads_that_compute_something_else_are_not_timed(other, monkeypatch):
    monkeypatch.setattr(bench, "MultiHeadAttention", other)
    monkeypatch.delattr(bench.time, "process_time")
    before = torch.get_num_threads()
    with pytest.raises(AssertionError, match="not close"):
        bench.compare_heads([(2, 3, 8)], heads=2, rounds=1)
    assert torch.get_num_threads() == before


def test_the_verb_prints_both_tables_and_leaves_the_threads_as_they_were(corpus, monkeypatch, capsys):
    small = partial(bench.compare, corpus, state_size=8, batch_size=4, steps=2, rounds=2)
    monkeypatch.setattr(bench, "compare", small)
    monkeypatch.setattr(bench, "compare_heads", partial(bench.compare_heads, [(2, 3, 8)], heads=2, rounds=2))
    before = torch.get_num_threads()
    front_door.bench([])
    assert torch.get_num_threads() == before
    models, heads = capsys.readouterr().out.split("Multi-head")
    rows = models.split("relative\n")[1].strip().splitlines()
    assert [re.split(r"  +", row)[0] for row in rows] == list(bench.SCORES)
    assert rows[0].endswith(" 1.00")
    assert heads.splitlines()[-1].startswith("2 × 3 × 8 ")
