"""Mutants of the reference solutions: none passes, and what is said of them is more than that they are wrong."""

import pytest
import torch
from sweeps import sweep

from course_lib.checks import bounds, exercises
from course_lib.checks.engine import Case, Exercise
from course_lib.tools import lessons, mutants

SAMPLE = 10  # of each exercise; `make mutants` tries all


def sources_of(source):
    return {mutant.source.strip(): mutant.what for mutant in mutants.mutants(source)}


@pytest.mark.parametrize(
    ("line", "other"),
    [
        ("return x.mT @ y", "return x @ y"),
        ("return x.mT @ y", "return y @ x.mT"),
        ("return x.softmax(-1)", "return x.softmax(-2)"),
        ("return x.softmax(-1)", "return x"),
        ("return x.softmax(-1)", "return x.exp() / x.exp().sum(-1, keepdim=True)"),
        ("return F.log_softmax(x, dim=y)", "return x - x.exp().sum(dim=y, keepdim=True).log()"),
        ("return x.masked_fill(~y, 0.0)", "return x.masked_fill(y, 0.0)"),
        ("return x.masked_fill(~y, 0.0)", "return x"),
        ("return x + y", "return x"),
        ("return x + y", "return x - y"),
        ("return x if y else 0", "return x if not y else 0"),
        ("return x[1:]", "return x[:]"),
        ("return f(x, y)", "return f(y, x)"),
        ("return x", "return y"),
        ("return x", "return None"),
        ("return x < y", "return x <= y"),
        ("return x and y", "return x or y"),
        ("x += 1\n    return x", "return x"),
        ("return 2 * x", "return 3 * x"),
    ],
)
def test_a_rule_changes_one_place(line, other):
    assert f"def f(x, y):\n    {other}" in sources_of(f"def f(x, y):\n    {line}")


def test_each_mutant_is_another_source_and_none_is_the_solution():
    source = "def f(x, y):\n    z = x + 1\n    return z * y"
    found = mutants.mutants(source)
    assert len({mutant.source for mutant in found}) == len(found) > 20
    assert all(mutant.source != source for mutant in found)


@pytest.mark.slow
@pytest.mark.parametrize(
    "notebook", sweep(lessons.find(folder="exercises"), "03_scaled_dot_product", named=lambda path: path.stem)
)
def test_no_mutant_passes_and_most_are_told_what_differs(notebook):
    told = {solution.name: became for solution, became in mutants.report(notebook, SAMPLE)}
    assert len(told) >= 3
    holes = [(name, one.what) for name, became in told.items() for one in became[mutants.PASSED]]
    assert holes == []
    counts = {
        kind: sum(len(became[kind]) for became in told.values()) for kind in (mutants.DESCRIBED, mutants.NOT_RIGHT)
    }
    assert counts[mutants.DESCRIBED] >= 0.7 * sum(counts.values()), counts


def test_a_mutant_that_never_ends_is_told_as_such(monkeypatch):
    monkeypatch.setattr(bounds, "SECONDS", 0)
    endless = mutants.Mutant("a loop", "def masked_softmax(scores):\n    while True:\n        pass")
    assert mutants.judged(mutants.Solution("masked_softmax", "", {}), endless) == mutants.ENDLESS


def test_a_likeness_to_a_misconception_describes_more_than_that_a_result_is_wrong():
    assert not mutants.described("✗ double: the numbers are not right.\n  Go through it.")
    like = "On all failing inputs, it gives the same results as this mistake: the one is forgotten."
    assert mutants.described(f"✗ double: the numbers are not right.\n  {like}")


# ---- misconceptions against each other, and two at once ----


@pytest.mark.slow
@pytest.mark.parametrize("name", sweep(exercises(), "turned", "merged"))
def test_each_misconception_is_called_by_its_own_name(name):
    assert mutants.confused(exercises()[name]) == []


@pytest.mark.slow
def test_what_an_exercise_called_alike_knows_is_named_here_by_what_is_true():
    found = {mine: mutants.strangers(exercises()[mine]) for mine in ("rotary", "add_positions")}
    sine_code = "the sinusoidal code is added"
    assert found["rotary"] == [("add_positions", "the cosine comes before the sine", sine_code)]
    assert found["add_positions"] == [
        ("rotary", sine_code, mutants.PASSED),
        ("rotary", sine_code, "the cosine comes before the sine"),
    ]


EDITED = [name for name, asked in exercises().items() if any(one.changes for one in asked.misconceptions)]


@pytest.mark.slow
@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("name", sweep(EDITED, "merged", "weight_at"))
def test_two_misconceptions_at_once_are_told_by_name(name, monkeypatch):
    monkeypatch.setattr(bounds, "SECONDS", 600)  # on a busy machine, too
    told = list(mutants.doubled(exercises()[name], mutants.PAIRS))
    others = [said for how, said in told if how not in (mutants.ONE_OF_THEM, mutants.ALIKE)]
    assert len(others) <= 0.1 * len(told), others


def one_more(x):
    return x + 1


def test_two_edits_of_the_same_words_or_that_undo_each_other_are_no_wrong_answer():
    asked = Exercise("one_more", "", lambda generator: [Case("three", {"x": torch.tensor(3.0)})], one_more, "")
    for name, *change in (
        ("two are added", "+ 1", "+ 2"),
        ("one is subtracted", "return x", "return x - 1"),
        ("three are added", "x + 1", "x + 3"),
        ("x is doubled", "return", "return 2 *"),
    ):
        asked.edit(name, "Look at it.", tuple(change))
    told = {both.partition(" + x")[0] for _, both in mutants.doubled(asked, 9)}
    assert told == {"two are added", "one is subtracted", "three are added"}
