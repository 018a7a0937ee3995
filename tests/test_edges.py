"""Values at the edges: the generator finds what a check lets through there, and no check of the course does."""

import pytest
import torch
from sweeps import sweep

from course_lib.checks.engine import Case, Exercise, Question
from course_lib.tools import edges, lessons, mutants


def holes_of(monkeypatch, source, cases):
    """What the generator finds in an exercise with this solution and these inputs."""
    solution = mutants.Solution("made_up", source, {})
    inputs = [Case("made up", arguments) for arguments in cases]
    asked = Exercise("made_up", "made_up_lesson", lambda generator: inputs, solution.made(source), "nowhere")
    for module in (edges, mutants):
        monkeypatch.setattr(module, "exercises", lambda: {"made_up": asked})
    return [hole.removeprefix("made_up, ") for hole in edges.holes(solution)]


def loose_of(monkeypatch, right, tolerance):
    """Wrong values next to the right one that a question with this tolerance passes."""
    asked = Question("made_up", "made_up_lesson", lambda: right, (), "nowhere", tolerance)
    monkeypatch.setattr(edges, "exercises", lambda: {"made_up": asked})
    return [value.removeprefix("made_up, ") for value in edges.loose("made_up_lesson")]


@pytest.mark.parametrize(
    ("line", "others"),
    [
        ("return 2 * n * bits / 8", ["n * bits // 8 * 2", "2 * bits // 8 * n", "2 * n // 8 * bits"]),
        ("return n * (bits // 8) / 2", ["bits // 8 // 2 * n", "n // 2 * (bits // 8)"]),
        ("count = n * bits\n    return count / 8", ["bits // 8 * n", "n // 8 * bits"]),
        ("n = n * bits\n    n = n + 1\n    return n / 8", []),
        ("return n / 8", []),
    ],
)
def test_each_factor_is_multiplied_after_the_division(line, others):
    tried = edges.divided_sooner(f"def made_up(n, bits):\n    {line}")
    assert [mutant.source.rpartition("return ")[2] for mutant in tried] == others


EVEN = [dict(n=0, times=4), dict(n=4, times=0), dict(n=2, times=4)]
HALVED_SOONER = ["line 2: divided before n is multiplied", "line 2: divided before times is multiplied"]
HALVES = "def made_up(n, times):\n    return n * times / 2"
DOUBLE = "def made_up(n, times):\n    return 4 * n * times / 2"
ADDED = "def made_up(x, epsilon):\n    return x / (2 + epsilon)"
MEAN = "def made_up(x, mask):\n    return x[mask].mean()"
SUM = "def made_up(x, mask):\n    return x[mask].sum()"
SOME = dict(x=torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), mask=torch.tensor([[True, True, False], [True] * 3]))
WITH_0 = {**SOME, "x": torch.tensor([[1.0, 0.0, 3.0], [4.0, 5.0, 6.0]])}


@pytest.mark.parametrize(
    ("source", "cases", "lacking", "found"),
    [
        (HALVES, EVEN, [dict(n=3, times=4), dict(n=2, times=5)], HALVED_SOONER),
        (DOUBLE, EVEN, [dict(n=3, times=5)], ["line 2: divided before 4 is multiplied"]),
        (ADDED, [dict(x=1.0, epsilon=0.5)], [dict(x=0.0, epsilon=0.0), dict(x=1.0, epsilon=0.0)],
         ["x or 1", "epsilon or 1"]),
        (MEAN, [SOME], [WITH_0], ["mask only where x is not 0"]),
    ],
)  # fmt: skip
def test_a_hole_is_found_until_the_check_has_the_case(monkeypatch, source, cases, lacking, found):
    assert holes_of(monkeypatch, source, cases) == found
    assert holes_of(monkeypatch, source, cases + lacking) == []


@pytest.mark.parametrize(
    ("source", "case"),
    [
        ("def made_up(bits):\n    return 1 + bits", {"bits": 8}),  # no number has 0 bits
        ("def made_up(bits):\n    return 3 * bits / 8", {"bits": 8}),  # nor has it 9
        ("def made_up(n):\n    return 3 / n", {"n": 2}),  # nothing is right for 0
        (SUM, SOME),  # a 0 adds nothing
    ],
)
def test_what_is_no_input_or_makes_no_difference_is_no_hole(monkeypatch, source, case):
    assert holes_of(monkeypatch, source, [case]) == []


@pytest.mark.parametrize(
    ("right", "tolerance", "found"),
    [(5, 0.0, []), (0.3, 0.02, []), ([3, 0.5], 0.1, []), (0.3, 0.4, ["0"]), ([2, 0.2], 0.3, ["[2, 0]"])],
)
def test_a_tolerance_that_lets_0_through_is_found(monkeypatch, right, tolerance, found):
    assert loose_of(monkeypatch, right, tolerance) == found


@pytest.mark.parametrize(
    "notebook", sweep(lessons.find(folder="exercises"), "02_bahdanau_attention", named=lambda path: path.stem)
)
def test_no_check_lets_a_value_at_an_edge_through(notebook):
    told = list(edges.report(notebook))
    assert len(told) >= 2
    assert [hole for _, found in told for hole in found] == []
