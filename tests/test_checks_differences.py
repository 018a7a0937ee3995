"""What is said of a result that no known misconception explains: always something true of every input that failed."""

import math
from types import SimpleNamespace

import pytest
import torch

from course_lib.checks import bounds
from course_lib.checks.engine import Case, Exercise, Wrong, differences, examine, naming
from course_lib.checks.engine.describing import difference

G = torch.Generator().manual_seed(0)
X, Y = torch.randn(3, 4, generator=G), torch.randn(4, 5, generator=G)
P = torch.rand(4, 6, generator=G) + 0.1  # positive, and no two alike
SHARES = X.softmax(-1)


def said(change, *wanted):
    """What is said of what `change` makes of the wanted results."""
    told = difference([(change(one), one) for one in wanted or (X, Y)])
    return told[0]


@pytest.mark.parametrize(
    ("change", "wanted", "says"),
    [
        (torch.zeros_like, (X, Y), "everything is 0"),
        (torch.neg, (X, Y), "every sign is flipped"),
        (lambda x: 1 - x, (X, Y), "every number is 1 minus what is wanted"),
        (lambda x: 1 / x, (X, Y), "every number is 1 divided by what is wanted"),
        (torch.square, (X, Y), "every number is the square of what is wanted"),
        (torch.sqrt, (P,), "every number is the root of what is wanted"),
        (torch.exp, (X, Y), "every number is the exponential of what is wanted"),
        (torch.log, (P,), "every number is the logarithm of what is wanted"),
        (torch.abs, (X, Y), "the signs are lost"),
        (torch.round, (10 * X, 10 * Y), "the numbers are rounded"),
        (torch.relu, (X, Y), "negative numbers have become 0"),
        (lambda x: 3 * x, (X, Y), "every number is 3 times what is wanted"),
        (lambda x: x * x.shape[1], (X, Y), "within an input all numbers are off by the same factor (4, 5, "),
        (lambda x: x + 0.5, (X, Y), "every number is +0.5 from what is wanted"),
        (lambda x: x.T, (torch.randn(3, 3, generator=G),), "the last axis and the second-to-last axis are swapped"),
        (lambda x: x.flip(-1), (X, Y), "the order along the last axis is reversed"),
        (lambda x: x.roll(1, 0), (X, Y), "along the second-to-last axis everything is shifted by one"),
        (lambda x: x.roll(-1, -1), (X, Y), "along the last axis everything is shifted by one"),
        (lambda x: x.flatten()[torch.randperm(x.numel(), generator=G)].view(x.shape), (X, Y), "the right numbers"),
        (lambda x: x.log().softmax(0), (SHARES,), "the numbers sum to 1 along the second-to-last axis, not along"),
        (lambda x: x * torch.rand(3, 4, generator=G), (SHARES,), "the numbers do not sum to 1 along the last axis"),
        (lambda x: torch.cat([x[:1] + 1, x[1:]]), (X, Y), "only the first entry along the second-to-last axis is off"),
        (lambda x: torch.cat([x[:, :-1], x[:, -1:] * 2], 1), (X, Y), "only the last entry along the last axis is off"),
        (lambda x: torch.where(x > 0.5, 9.0, x), (X, Y), "only some entries are off"),
        (lambda x: x + torch.rand(x.shape, generator=G), (X, Y), "every number that is off is too large"),
        (lambda x: x - torch.rand(x.shape, generator=G), (X, Y), "every number that is off is too small"),
        (lambda x: x + torch.randn(x.shape, generator=G), (X, Y), "the numbers are not right"),
    ],
)  # fmt: skip
def test_what_relates_the_numbers_is_said(change, wanted, says):
    assert said(change, *wanted).startswith(says)


SPARSE = torch.zeros(3, 4).index_put_((torch.tensor(1), torch.tensor(2)), torch.tensor(0.7071))
RELATIONS = [
    (lambda x: 2 * x, "every number is 2 times what is wanted"),
    (lambda x: x / math.log(2), "every number is 1.443 times what is wanted"),
    (lambda x: x.round(decimals=2), "the numbers are rounded to 2 decimal places"),
    (lambda x: x.flip(-1), "the order along the last axis is reversed"),
    (lambda x: x.flip(-2), "the order along the second-to-last axis is reversed"),
    (lambda x: x.mT, "axes 1 and 0 are swapped"),
]


@pytest.mark.parametrize(
    "wanted", [(X, Y), (SPARSE, X, Y), (X.tril(), Y), (X.masked_fill(X > 1, -torch.inf), Y)],
    ids=["any", "one not zero", "many zeros", "infinite"],
)  # fmt: skip
@pytest.mark.parametrize(("change", "says"), RELATIONS, ids=lambda one: one if isinstance(one, str) else "")
def test_known_relations_are_described(change, says, wanted):
    assert said(change, *wanted) == says


def test_an_input_of_zeros_alone_hides_no_factor():
    assert differences.of_numbers([(torch.zeros(2, 2), torch.zeros(2, 2)), (2 * X, X)])[0].startswith(
        "every number is 2"
    )


def test_parts_of_parts_are_told_as_one_place():
    def cases(generator):
        return [Case("a pair", {"x": torch.randn(3, 4, generator=generator)})]

    asked = Exercise("parts", "rnn_bottleneck", cases, lambda x: (x, (x, (x, x + 1))), "lesson 1")
    with pytest.raises(Wrong, match=r"^✗ parts: in result\[1\]\[1\]\[0\], every sign is flipped\."):
        examine(asked, lambda x: (x, (x, (-x, x + 1))))


def test_what_holds_on_one_input_alone_is_not_said():
    assert said(lambda x: 2 * x if x is X else x.cos()) == "the numbers are not right"


@pytest.mark.parametrize(
    "wanted", [torch.tensor([1.0, 3.0]), torch.tensor(2.0), torch.tensor([[2.0, 2.0], [4.0, 4.0]])]
)
def test_what_few_numbers_have_in_common_may_be_chance(wanted):
    assert said(lambda x: 3 * x, wanted) == "the numbers are not right"


def test_single_numbers_are_related_over_all_inputs():
    scalars = list(P.flatten()[:8])
    assert said(lambda x: x / 2, *scalars) == "every number is 0.5 times what is wanted"
    assert said(torch.neg, *scalars) == "every sign is flipped"
    assert said(lambda x: x + torch.rand((), generator=G), *scalars) == "every number that is off is too large"
    assert said(lambda x: x / 2, *scalars[:5]) == "the numbers are not right"


def test_what_holds_for_tables_alone_is_not_said():
    table, batch = torch.randn(1, 8, generator=G), torch.randn(2, 3, 4, generator=G)
    assert said(lambda x: x * 0 if x is table else x.cos(), table, batch) == "the numbers are not right"


# ---- shapes, NaN, truth, kinds ----


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda x: x.permute(0, 2, 1), "axes 2 and 1 are swapped"),
        (lambda x: x.flatten(1), "the numbers are right, but in shape (2, 12) instead of (2, 3, 4)"),
        (lambda x: x[..., None].expand(-1, -1, -1, 5), "axis 3 is left over"),
        (lambda x: x.sum(1), "axis 1 is missing"),
        (lambda x: x[:, :2], "the result has the wrong shape (2, 2, 4), not (2, 3, 4)"),
        (lambda x: torch.where(x > 0, x, torch.nan), "the result holds NaN in"),
        (lambda x: x * torch.nan, "the result holds NaN everywhere"),
        (lambda x: None, "it returns nothing"),
        (lambda x: "x", "it returns a text, not a tensor of shape (2, 3, 4)"),
    ],
)
def test_what_relates_the_shapes_is_said(change, says):
    assert said(change, torch.randn(2, 3, 4, generator=G)).startswith(says)


def test_of_masks_it_is_said_whether_they_are_turned_round():
    mask = torch.ones(3, 3, dtype=torch.bool).tril()
    assert said(torch.logical_not, mask) == "True and False are swapped"
    assert said(lambda x: x.float(), mask) == "the result is not boolean"


# ---- lists, sets, several results ----

WORDS = [["the", "cat", "sat"], ["a", "dog", "ran", "off"]]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda w: [], "the list is empty"),
        (lambda w: [*w, "."], "there is one entry too many at the end"),
        (lambda w: ["<bos>", *w], "there is one entry too many at the beginning"),
        (lambda w: w[:-1], "the last entry is missing"),
        (lambda w: w[1:], "the first entry is missing"),
        (lambda w: w[::-1], "the order is reversed"),
        (lambda w: sorted(w, key=lambda word: word[-1]), "the entries are right, but in the wrong order"),
        (lambda w: w[:1], "it ends too early"),
        (lambda w: [*w, "x", "y"], "it goes on for too long"),
        (lambda w: [w[0], *w[2:]], "entries are left out"),
        (lambda w: [w[0], "x", "y", *w[1:]], "there are too many entries"),
        (lambda w: [w[0], *("x" for _ in w[1:])], "it starts correctly and then goes wrong"),
        (lambda w: ["x" for _ in w], "the entries are not right"),
    ],
)
def test_what_relates_lists_of_words_is_said(change, says):
    assert said(change, *WORDS) == says


def test_lists_of_words_are_not_told_about_shapes():
    assert "shape" not in said(lambda w: [[word] for word in w], *WORDS)


def test_of_sets_it_is_said_what_is_lacking_and_what_is_too_much():
    assert said(lambda s: {1, 2, 9}, {1, 2, 3}) == "the set lacks {3} and has too many: {9}"


def test_two_things_in_place_of_one_are_told_as_such():
    assert said(lambda x: [x, 1], X) == "it returns 2 things, not a tensor of shape (3, 4)"
    assert said(lambda x: [x, 1], torch.tensor(2.0)) == "it returns 2 things, not a number"


def test_of_several_results_the_one_that_is_off_is_named():
    assert said(lambda r: [r[0], -r[1]], [X, Y]) == "in result 2 of 2, every sign is flipped"
    assert said(lambda r: [r[1], r[0]], [X, Y]) == "the results are in the wrong order"
    assert said(lambda r: [r[0]], [X, Y]) == "it returns 1 thing, not 2"


def test_axes_that_are_exchanged_are_told_over_inputs_of_any_shape():
    square, cube = torch.randn(2, 2, generator=G), torch.randn(2, 3, 4, generator=G)
    for wanted in ((X, cube), (square, X, cube)):
        assert said(lambda x: x.mT, *wanted) == "the last axis and the second-to-last axis are swapped"


def test_few_numbers_tell_that_they_are_rounded():
    wanted = [torch.tensor(number) for number in (0.7782, 1.3452, 334.8137, 2.0696)]
    assert said(lambda x: x.round(decimals=2), *wanted) == "the numbers are rounded to 2 decimal places"
    assert "rounded" not in said(lambda x: x.round(decimals=2), *wanted[:2])


def test_lists_in_a_list_are_looked_into():
    counted = [[["a", "b"], 2], [["a", "c", "d"], 1]]
    assert said(lambda w: [[one[::-1], n] for one, n in w], counted, counted[1:]) == (
        "in result 1 of 2, in result 1 of 2, the order is reversed"
    )


def test_lists_of_another_length_each_are_compared_entry_by_entry():
    assert said(lambda w: [x + 1 for x in w], [X], [X, Y]).startswith("in result 1 of 1, every number is +1")
    assert said(lambda w: [*w[:1], *(2 * x for x in w[1:])], [X, Y], [X]) == (
        "in result 2 of 2, every number is 2 times what is wanted"
    )


def test_relations_need_not_be_of_one_size():
    assert differences.of_numbers([(2 * X, X), (2 * Y, Y)])[0] == "every number is 2 times what is wanted"


# ---- beside a misconception ----

DOUBLE = Exercise(
    "double",
    "rnn_bottleneck",
    lambda generator: [Case(f"{n} numbers", {"x": torch.randn(n, generator=generator)}) for n in (2, 3, 4, 5, 6)],
    lambda x: 2 * x + 1,
    "lesson 1",
)
DOUBLE.misconception("the one is forgotten", "What is added?")(lambda x: 2 * x)


def told(answer):
    with pytest.raises(Wrong) as caught:
        examine(DOUBLE, answer)
    return str(caught.value)


def test_a_misconception_that_explains_every_input_is_named():
    assert told(lambda x: x + x).startswith("✗ double: the one is forgotten.\n  What is added?\n")


def test_a_misconception_that_explains_most_inputs_is_told_as_what_it_is():
    message = told(lambda x: 2 * x if len(x) < 6 else 5 * x)
    assert not message.startswith("✗ double: the one is forgotten")
    assert (
        "On 4 of the 5 failing inputs, it gives the same results as this mistake: the one is forgotten. What is added?"
        in message
    )


def test_nan_is_no_likeness_and_is_told_beside_one():
    """On three of five inputs, the results are those of the mistake, all of them or all but NaN; the others differ."""

    def with_nan(hidden):
        return lambda x: torch.where(hidden(torch.arange(len(x))), torch.nan, 2 * x if len(x) < 5 else 5 * x)

    like = "it gives the same results as this mistake: the one is forgotten."
    assert f"On 3 of the 5 failing inputs, apart from NaN, {like}" in told(with_nan(lambda place: place == 0))
    assert f"On 3 of the 5 failing inputs, {like}" in told(with_nan(lambda place: place > 9))
    asked = Exercise("share", "rnn_bottleneck", DOUBLE.cases, lambda x: x.exp(), "lesson 1")
    asked.misconception("0 is divided by 0", "Which divisor is 0?")(lambda x: x * torch.nan if len(x) < 5 else x)
    with pytest.raises(Wrong) as caught:
        examine(asked, lambda x: x * torch.nan if len(x) < 6 else 5 * x)
    assert "divided by 0" not in str(caught.value)


def test_a_misconception_that_explains_few_inputs_is_not_told():
    assert "forgotten" not in told(lambda x: 2 * x if len(x) < 4 else 5 * x)


def scaled(x, y):
    total = x - y
    return total.exp() / 3


def steps_to_zero(n):
    steps = 0
    while n > 0:
        n, steps = n - 1, steps + 1
    return steps


SCALED = Exercise(
    "scaled",
    "rnn_bottleneck",
    lambda generator: [
        Case(f"{n}", dict(x=torch.rand(n, generator=generator), y=torch.rand(n, generator=generator)))
        for n in (2, 3, 4)
    ],
    scaled,
    "lesson 1",
)
SCALED.edit("x and y are added", "Which is it?", ("x - y", "x + y"))
SCALED.edit("x is taken from y", "Which from which?", ("x - y", "y - x"))
SCALED.edit("the exponential is missing", "What makes it positive?", ("total.exp()", "total"))
SCALED.edit("it is not divided", "By how much?", (" / 3", ""))


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (lambda x, y: (x + y) / 3, "x and y are added; in addition, the exponential is missing"),
        (lambda x, y: (y - x).exp(), "x is taken from y; in addition, it is not divided"),
        (lambda x, y: x + y, "[^;]+"),
    ],
)
def test_two_misconceptions_at_once_are_both_named(answer, says):
    with pytest.raises(Wrong, match=f"^✗ scaled: {says}\\.\n"):
        examine(SCALED, answer)


def test_two_misconceptions_that_make_an_endless_loop_are_not_waited_for(monkeypatch):
    class Soon(bounds.Check):
        def __init__(self):
            super().__init__()
            self.left = 0.5

    monkeypatch.setattr(naming, "bounds", SimpleNamespace(Check=Soon, BeyondError=bounds.BeyondError))
    cases = [Case(f"from {n}", {"n": n}) for n in (8, 9)]
    asked = Exercise("steps_to_zero", "rnn_bottleneck", lambda generator: cases, steps_to_zero, "lesson 1")
    asked.edit("it stops at 1", "Where does it end?", ("n > 0", "n != 1"))
    asked.edit("it goes in twos", "How far is a step?", ("n - 1", "n - 2"))
    with pytest.raises(Wrong, match="^✗ steps_to_zero: 13 is not right|numbers are not right"):
        examine(asked, lambda n: n + 5)


def test_nan_and_an_order_in_memory_hide_no_misconception():
    assert (
        "the one is forgotten"
        in told(lambda x: torch.where(torch.arange(len(x)) == 0, torch.nan, 2 * x)).splitlines()[0]
    )
