"""Right results times two, in bits, rounded, transposed, turned round: each check says which it is."""

import math

import pytest
import torch
from sweeps import sweep

from course_lib.checks.engine import Case, Exercise
from course_lib.tools import lessons, mutants, relations


def undescribed(monkeypatch, source, **cases):
    solution = mutants.Solution("made_up", source, {"torch": torch})
    inputs = [Case(name, {"x": x}) for name, x in cases.items()]
    asked = Exercise("made_up", "made_up_lesson", lambda generator: inputs, solution.made(source), "nowhere")
    for module in (relations, mutants):
        monkeypatch.setattr(module, "exercises", lambda: {"made_up": asked})
    return [hole.removeprefix("made_up").strip() for hole in relations.undescribed(solution)]


def test_what_is_only_not_right_is_found(monkeypatch):
    source = "def made_up(x):\n    return x + 1"
    numbers = torch.linspace(0.123, 2.345, 6)
    assert undescribed(monkeypatch, source, many=torch.outer(numbers, numbers.square())) == []
    told = undescribed(monkeypatch, source, few=numbers[:2])
    assert [hole.partition(":")[0] for hole in told][:4] == ["times 2", "in bits", "rounded to 2 places", "rounded"]


def test_a_change_is_made_in_each_part_of_a_result():
    pair = torch.eye(2), 3.0
    changes = [(len(way), one.what) for way, inside in relations.levels(pair) for one in relations.relations(inside)]
    assert (1, "transposed") in changes and changes.count((1, "in bits")) == 2
    (in_bits,) = [one for one in relations.relations(1.0) if one.what == "in bits"]
    assert in_bits.change(math.log(2)) == pytest.approx(1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "notebook", sweep(lessons.find(folder="exercises"), "07_taken_apart", named=lambda path: path.stem)
)
def test_each_check_says_what_has_become_of_the_right_result(notebook):
    told = dict(relations.report(notebook))
    assert len(told) >= 3
    assert [hole for found in told.values() for hole in found] == []
