"""Mutants of the reference solutions: none passes, and what is said of them is more than that they are wrong."""

import pytest
from sweeps import sweep

from course_lib.checks import bounds
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


@pytest.mark.parametrize(
    "notebook", sweep(lessons.find(folder="exercises"), "03_scaled_dot_product", named=lambda path: path.stem)
)
def test_no_mutant_passes_and_most_are_told_what_differs(notebook):
    told = {name: became for name, became in mutants.report(notebook, SAMPLE)}
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
