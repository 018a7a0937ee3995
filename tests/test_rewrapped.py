"""Right results in other containers: refused by what came and what is wanted, or of use to the next cells."""

import ast
import inspect

import numpy as np
import pytest
import torch
from sweeps import sweep
from torch import nn

from course_lib.__main__ import NEEDED, VERBS
from course_lib.checks import exercises
from course_lib.checks.engine import Wrong, examine
from course_lib.tools import lessons, mutants, rewrapped

SAMPLE = 2  # containers of each exercise; `make mutants` tries all
NOTEBOOKS = lessons.find(folder="exercises")


def solution(name):
    """The exercise's notebook and its solution."""
    (notebook,) = [path for path in NOTEBOOKS if exercises()[name].lesson in path.name]
    return notebook, next(one for one in mutants.solutions(notebook) if one.name == name)


def said(name, wrap):
    """What the check says if the solution's result is wrapped."""
    _, one = solution(name)
    with pytest.raises(Wrong) as caught:
        examine(exercises()[name], rewrapped.Wrapped("", (), wrap).of(one.made(one.source)))
    return str(caught.value).splitlines()[0].removeprefix(f"✗ {name}: ")


def rows(pair):
    return list(map(list, pair))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "wrap", "message"),
    [
        ("read_and_asked", rows, "`result[0]` is a list of 2 tensors, not a tensor of shape (2, 3)."),
        (
            "go_on",
            lambda result: (list(result[0]), result[1]),
            "`result[0]` is a list of 1 tensor, not a tensor of shape (1, 3).",
        ),
        (
            "go_on",
            lambda result: (result[0], [rows(pair) for pair in result[1]]),
            "`result[1][0][0]` is a list of 3 tensors, not a tensor of shape (3, 1).",
        ),
        (
            "unpacked",
            lambda pairs: [rewrapped.as_layer(pair) for pair in pairs],
            "`result[0]` is something of type Linear, not 2 things.",
        ),
        ("merged", rewrapped.as_layer, "it returns something of type Linear, not a tensor of shape (2, 3)."),
        (
            "merged",
            lambda result: dict(enumerate(result)).values(),
            "it returns something of type dict_values, not a tensor of shape (2, 3).",
        ),
        (
            "merged",
            lambda result: result.to(torch.complex64),
            "it returns complex numbers, not a tensor of shape (2, 3).",
        ),
        ("merged", rewrapped.of_leaves(str), "it returns a list of 2 with a text in it, not a tensor of shape (2, 3)."),
        (
            "merged",
            lambda result: [result[0].tolist(), [1.0]],
            "it returns a list of 2 whose rows differ in length, not a tensor of shape (2, 3).",
        ),
        (
            "merged",
            rewrapped.of_leaves(torch.tensor),
            "it returns a list of 11 with a tensor for each number, not a tensor of shape (11, 11).",
        ),
        (
            "top_p",  # its check reads the result before it is compared
            lambda result: result.to_sparse(),
            "it returns a sparse tensor of shape (2, 4), not a tensor of shape (2, 4).",
        ),
        (
            "merged",
            lambda result: result.to_sparse(),
            "it returns a sparse tensor of shape (2, 3), not a tensor of shape (2, 3).",
        ),
        (  # its right results are a list, not a tuple
            "scaled_attention",
            lambda result: [one.tolist() for one in result],
            "`result[0]` is a list of 3, not a tensor.",
        ),
        ("scaled_attention", lambda result: (result[0], result[1].double()), "`result[1]` is float64, not float32."),
        (
            "go_on",
            lambda result: (result[0], [(keys.tolist(), values) for keys, values in result[1]]),
            "`result[1][0][0]` is a list of 12, not a tensor.",
        ),
        (
            "go_on",
            lambda result: (result[0], [(keys, values.double()) for keys, values in result[1]]),
            "`result[1][0][1]` is float64, not float32.",
        ),
        ("embed", list, "it returns a list of 4 tensors, not a tensor of shape (4, 8)."),
        (
            "embed",
            rewrapped.of_leaves(complex),
            "it returns a list of 2 with a complex number in it, not a tensor of shape (2, 8).",
        ),
        ("reach", complex, "it returns a complex number, not a number."),
        ("look", set, "it returns something of type set, not 2 things."),
        ("look", rewrapped.Own, "it returns something of type Own, not 2 things."),
        ("merge_step", lambda result: [result], "it returns 1 thing, not 2."),
    ],
)
def test_a_container_is_told_from_what_is_wanted(name, wrap, message):
    assert said(name, wrap) == message


def test_containers_are_tried_at_each_level():
    result = torch.eye(2), [(torch.eye(3), torch.eye(3))]
    ways = {one.way for one in rewrapped.wrapped(result)}
    assert ways == {(), (0,), (1,), (1, None), (1, None, None)}
    kinds = {type(one.of(lambda: result)()[0]) for one in rewrapped.wrapped(result) if one.way == (0,)}
    assert kinds >= {list, tuple, np.ndarray, dict, nn.Linear, rewrapped.Own, type({}.values())}
    assert list(inspect.signature(rewrapped.Wrapped("", (), list).of(lambda x, y: x)).parameters) == ["x", "y"]


@pytest.mark.parametrize("notebook", sweep(NOTEBOOKS, "03_scaled_dot_product", named=lambda path: path.stem))
def test_a_refusal_says_what_came_and_what_was_wanted(notebook):
    assert [hole for one in mutants.solutions(notebook) for hole in rewrapped.misled(one, SAMPLE)[0]] == []


@pytest.mark.parametrize("notebook", sweep(NOTEBOOKS, named=lambda path: path.stem))
def test_what_is_accepted_is_of_use_to_the_next_cells(notebook):
    assert [hole for _, holes in rewrapped.report(notebook) for hole in holes] == []


@pytest.mark.slow
def test_the_real_model_makes_use_of_each_container_of_embed_that_passes():
    assert "real" in NEEDED[VERBS["mutants"]]  # without the model, the cell after the exercise does nothing
    notebook, one = solution("embed")
    of_notebook, right = rewrapped.cells(notebook), one.made(one.source)
    broken = rewrapped.unusable("embed", lambda model, sentences: [[1.0] * 384] * len(sentences), of_notebook)
    assert broken.startswith("real_neighbours: AssertionError")
    holes, accepted = rewrapped.misled(one)
    assert holes == []
    assert len(accepted) >= 4
    assert [found for each in accepted if (found := rewrapped.unusable("embed", each.of(right), of_notebook))] == []


def test_a_later_cell_that_fails_is_named():
    def cell(source):
        tree = ast.parse(source)
        code = compile(tree, "cell", "exec")
        return rewrapped.Cell(code, rewrapped.names(tree, ast.Load), rewrapped.names(tree, ast.Store), {})

    there = {"f": cell("def f(): return 1"), "use": cell("x = f()"), "go_on": cell("x + 1"), "other": cell("1 / 0")}
    assert rewrapped.unusable("f", lambda: 2, there) == ""
    assert rewrapped.unusable("f", lambda: "2", there).startswith("go_on: TypeError")
