"""Effects have the interval that their formula gives, and are compared with nothing but their line."""

import itertools

import numpy as np
import pytest
from scipy import stats

from course_lib import effects
from course_lib.effects import Effect, condition, effect, share, units
from course_lib.files import DATA, read_json

UNITS = list(units())
AROUND = {"above": (3, 4), "across": (0.5, 2), "within": (-0.5, 0.5), "across both": (-2, 2), "below": (-4, -3)}


def at(low: float, high: float, unit: str = "share of items") -> Effect:
    """Returns an effect whose interval has these ends, in lines."""
    line = units()[unit]["line"]
    ends = [line**end if units()[unit].get("factor") else end * line for end in ((low + high) / 2, low, high)]
    return Effect(*ends, unit, "some")


@pytest.mark.parametrize("unit", UNITS)
def test_a_unit_has_a_line_and_a_reason(unit):
    assert units()[unit]["line"] > (1 if units()[unit].get("factor") else 0)
    assert len(units()[unit]["because"].split()) > 8


def test_seeds_alone_seldom_move_a_writer_by_the_line_of_bits():
    writers = read_json(DATA / "recorded" / "language_models.json")["writers"]
    runs = [[run["unseen"] for run in variant["seeds"].values()] for variant in writers.values()]
    apart = [abs(one - other) for own in runs for one, other in itertools.combinations(own, 2)]
    assert len(apart) >= 30 and np.mean(np.array(apart) < units()["bits per character"]["line"]) > 0.9


# ---- intervals ----


@pytest.mark.parametrize("seed", range(5))
def test_a_mean_has_students_interval(seed):
    values = np.random.default_rng(seed).normal(0.3, 0.1, 3 + seed)
    found = effect(values, "share of items", "runs")
    wanted = stats.t.interval(0.95, len(values) - 1, values.mean(), stats.sem(values))
    assert (found.mean, found.low, found.high) == pytest.approx((values.mean(), *wanted), rel=1e-5)
    assert found.over == f"{3 + seed} runs"


def test_95_of_100_intervals_contain_the_mean():
    draw = np.random.default_rng(0).normal
    found = [effect(draw(0.3, 0.1, 5), "share of items", "runs") for _ in range(2000)]
    assert 0.935 < np.mean([one.low < 0.3 < one.high for one in found]) < 0.965


def test_a_factor_and_its_inverse_have_mirrored_intervals():
    one, other = (effect(values, "factor", "runs") for values in ([2, 3, 2.5], [1 / 2, 1 / 3, 1 / 2.5]))
    assert (one.mean, one.low, one.high) == pytest.approx((1 / other.mean, 1 / other.high, 1 / other.low), rel=1e-5)


@pytest.mark.parametrize(("right", "of"), [(0, 5), (8, 14), (20, 20), (1, 2)])
def test_a_share_has_the_interval_of_clopper_and_pearson(right, of):
    found, wanted = share(right, of, "pairs", beyond=0.5), stats.binomtest(right, of).proportion_ci()
    assert (found.low + 0.5, found.high + 0.5) == pytest.approx((wanted.low, wanted.high), rel=1e-5)
    assert found.mean == pytest.approx(right / of - 0.5)


@pytest.mark.parametrize(
    ("values", "unit", "error", "message"),
    [
        ([1, 2], "metres", KeyError, "there is no unit 'metres'; there are bits"),
        ([1], "factor", ValueError, "at least two values, and there are 1"),
        ([1, float("nan")], "share of items", ValueError, "value 1 of 2 is NaN"),
        ([1, 0], "factor", ValueError, "must be positive, and one is 0"),
    ],
)
def test_what_has_no_interval_is_refused(values, unit, error, message):
    with pytest.raises(error, match=message):
        effect(values, unit, "runs")


# ---- conditions ----


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ("a > line", [True, None, False, None, False]),
        ("a < line", [False, None, True, None, True]),
        ("a < -line", [False, False, False, None, True]),
        ("-line < a", [True, True, True, None, False]),
        ("-line < a < line", [False, None, True, None, False]),
    ],
)
def test_an_interval_beyond_the_line_decides_and_one_across_it_does_not(unit, text, answers):
    assert [condition(text, {"a": at(*ends, unit)}) for ends in AROUND.values()] == answers


def test_and_and_or_follow_from_what_is_decided():
    answers = {True: "above", None: "across", False: "below"}
    for (one, a), (two, b) in itertools.product(answers.items(), repeat=2):
        figures = {"a": at(*AROUND[a]), "b": at(*AROUND[b]), "exact": 0}
        both = False if False in (one, two) else None if None in (one, two) else True
        either = True if True in (one, two) else None if None in (one, two) else False
        assert condition("a > line and b > line and exact == 0", figures) is both
        assert condition("a > line or b > line", figures) is either


@pytest.mark.parametrize("text", ["a > 0.1", "a > b", "min(a, b) > line", "0 < a"])
def test_an_effect_is_compared_with_nothing_but_its_line(text):
    with pytest.raises(TypeError, match="is an effect; compare it with `line` or `-line`"):
        condition(text, {"a": at(1, 2), "b": at(1, 2)})


def test_nothing_is_turned_around_by_not():
    with pytest.raises(ValueError, match="has a `not`; turn the comparison around"):
        condition("not a > line", {"a": at(1, 2)})


def test_the_line_of_a_factor_is_mirrored():
    assert effects.place("factor", -1) == pytest.approx(1 / effects.place("factor", 1))
