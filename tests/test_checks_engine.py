"""The checks' engine: what counts as the same, and what is said where no misconception is recognised."""

import functools
import importlib
import itertools
import linecache
import warnings

import numpy as np
import pytest
import torch

from course_lib import checks
from course_lib.checks import engine
from course_lib.checks.engine import (
    Case,
    Exercise,
    Misconception,
    Question,
    Wrong,
    ask,
    comparing,
    describing,
    examine,
    same,
)

# ---- what counts as the same ----

T = torch.tensor([1.0, 2.0])


@pytest.mark.parametrize(
    "given", [T, [1.0, 2.0], (1, 2), np.array([1.0, 2.0]), T.double(), T.requires_grad_(), T + 1e-7]
)
def test_the_same_numbers_in_any_form_are_the_same(given):
    assert same(given, T, 1e-5)


@pytest.mark.parametrize("given", [T + 1e-3, T[None], T[:1], [1.0], "1.0, 2.0", None, [True, False], T.tolist() + [3]])
def test_other_numbers_shapes_and_kinds_are_not(given):
    assert not same(given, T, 1e-5)


@pytest.mark.parametrize(
    ("given", "wanted", "answer"),
    [
        ("le chat", "le chat", True),
        ("le chat", "la chat", False),
        ((T, T), (T, T), True),
        ((T, T), (T, T + 1), False),
        ((T,), (T, T), False),
        ({"a": T}, {"a": T}, True),
        ({"a": T}, {"b": T}, False),
        (torch.tensor([True]), torch.tensor([True]), True),
        (torch.tensor([1]), torch.tensor([True]), False),
        (torch.tensor(float("nan")), torch.tensor(float("nan")), True),
        (None, None, True),
        (3, 3.0, True),
        ([1j, 2.0], torch.tensor([1j, 2.0]), True),
        ([1j, 2.0], T, False),
        ([], torch.zeros(0, 2), True),
        ([[], []], torch.zeros(2, 0), True),
        ([[]], torch.zeros(2, 0), False),
    ],
)
def test_texts_pairs_masks_nan_complex_numbers_and_empty_lists(given, wanted, answer):
    assert same(given, wanted, 1e-5) is answer


def test_lists_of_texts_and_counts_need_no_tensors(monkeypatch):
    monkeypatch.setattr(comparing, "as_tensor", None)
    pieces = [(["a", "b"], 2), (["a", "c"], 1)]
    assert same(pieces, [(["a", "b"], 2), (["a", "c"], 1)], 1e-5)
    assert not same(pieces, pieces[:1], 1e-5)


# ---- an exercise: twice x plus one ----


def cases(generator):
    return [
        Case("two numbers", {"x": torch.tensor([1.0, 3.0])}),
        Case("many numbers", {"x": torch.randn(30, generator=generator)}),
        Case("numbers that do not lie in order", {"x": torch.randn(4, 3, generator=generator).T}),
    ]


EXERCISE = Exercise("double", "rnn_bottleneck", cases, lambda x: 2 * x + 1, "lesson 1")


@EXERCISE.misconception("the one is forgotten", "What is added?")
def twice(x):
    return 2 * x


def doubled_plus_one(x):
    return 2 * x + 1


@pytest.mark.parametrize("right", [doubled_plus_one, functools.cache(doubled_plus_one)], ids=["plain", "decorated"])
def test_an_edit_of_what_is_right_is_a_misconception(right):
    asked = Exercise("double", "rnn_bottleneck", cases, right, "lesson 1")
    asked.edit("one is subtracted", "Which sign has the one?", ("+ 1", "- 1"))
    with pytest.raises(Wrong, match="one is subtracted"):
        examine(asked, lambda x: x + x - 1)


@pytest.mark.parametrize(("words", "times"), [("x", 2), ("third", 0)])
def test_an_edit_that_does_not_fit_once_is_refused(words, times):
    asked = Exercise("double", "rnn_bottleneck", cases, doubled_plus_one, "lesson 1")
    with pytest.raises(ValueError, match=f"'{words}' stands {times} times"):
        asked.edit("it is another", "Look at it.", (words, "y"))


def test_a_misconception_is_filed_under_its_name_and_stays_a_function():
    assert [(one.name, one.hint, one.answer) for one in EXERCISE.misconceptions] == [
        ("the one is forgotten", "What is added?", twice)
    ]


def told(answer):
    with pytest.raises(Wrong) as caught:
        examine(EXERCISE, answer)
    return str(caught.value)


def test_a_right_answer_passes_on_all_inputs():
    assert examine(EXERCISE, lambda x: x + x + 1) == 3


def test_a_misconception_is_named_with_the_smallest_input_that_shows_it():
    assert told(lambda x: x + x) == (
        "✗ double: the one is forgotten.\n  What is added?\n  Seen with two numbers:\n    x = [1.0, 3.0]\n"
        "  came out: [2.0, 6.0]\n  wanted:   [3.0, 7.0]\n  Read: lesson 1"
    )


@pytest.mark.parametrize(
    ("right", "says"),
    [
        (3, "It is right with input 0; input 1; input 2. What"),
        (4, "It is right with input 0; input 1; input 2; and 1 more input. What"),
        (9, "It is right with input 0; input 1; input 2; and 6 more inputs. What"),
        (11, "It is wrong only with input 11; input 12; input 13; and 6 more inputs. What"),
        (19, "All other inputs come out right. What"),
    ],
)
def test_a_list_of_inputs_ends_before_nobody_reads_on(right, says):
    wanted, other = engine.Outcome(1, None, {}), engine.Outcome(2, None, {})
    tried = [(Case(f"input {i}", {}), wanted if i < right else other, wanted) for i in range(20)]
    assert describing.where_right(EXERCISE, tried).startswith(says)


def in_place(x):
    x *= 2
    return x + 1


def crashes(x):
    return x.view(2, 1, 1) @ x


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (lambda x: None, "it returns nothing"),
        (lambda x: "3", "it returns a text, not a tensor of shape (2,)"),
        (lambda x: (2 * x + 1)[None], "the numbers are right, but in shape (1, 2) instead of (2,)"),
        (lambda x: x / 0 * 0, "the result holds NaN"),
        (lambda x: 5 - x, "the numbers are not right"),
        (lambda x: 3 * x, "the one is forgotten; in addition, every number is 1.5 times what that gives"),
        (in_place, "it changes its argument x in place"),
        (7, "it is 7, not a function"),
        (lambda x: 2 * x.contiguous() + 1 if x.is_contiguous() else x.view(-1), "it raises RuntimeError: view size"),
    ],
)
def test_without_a_misconception_the_symptom_is_told(answer, says):
    assert told(answer).startswith(f"✗ double: {says}")


def test_the_line_of_the_learner_that_fails_is_shown():
    file = "/a/kernel/cell.py"
    source = "def double(x):\n    y = x.oops()\n    return y\n"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    names = {}
    exec(compile(source, file, "exec"), names)
    assert "\n  In the line `y = x.oops()`\n  " in told(names["double"])


def test_where_large_results_differ_is_told():
    message = told(lambda x: torch.where(torch.arange(len(x)) == 7, 0.0, 2 * x + 1) if x.dim() == 1 else 2 * x + 1)
    assert "\n  first difference: at [7]: 0.0, wanted" in message


def blank(x):
    raise NotImplementedError


def test_a_blank_is_no_mistake():
    assert told(blank) == "○ double is not written yet.\n  Replace the line that raises `NotImplementedError`."
    assert told(lambda x: blank(x)).startswith("○ double calls blank, which is not written yet.")


def test_what_torch_has_not_implemented_is_no_blank():
    message = told(lambda x: (x > 0) @ (x > 0))
    assert message.startswith("✗ double: it raises NotImplementedError: ")
    assert ".float() makes them" in message


def test_the_inputs_of_another_seed_are_others():
    seen = []
    for seed in (0, 1):
        examine(EXERCISE, lambda x: seen.append(x) or 2 * x + 1, seed)
    assert not torch.equal(seen[1], seen[4])


def test_what_a_misconception_gives_is_computed_once_for_all_checks():
    asked, calls = exercise(lambda x: x), itertools.count()
    asked.misconception("the sign is wrong", "Look at the sign.")(lambda x: -x + 0 * next(calls))
    for _ in range(2):
        assert said_of(asked, torch.neg) == "✗ row: the sign is wrong."
        first = next(calls)
    assert first == 9  # 4 inputs, as many drawn once more, and the call above


def test_a_broken_check_does_not_blame_the_learner():
    broken = Exercise("double", "rnn_bottleneck", cases, lambda x: undefined, "lesson 1")  # noqa: F821
    with pytest.raises(RuntimeError, match="the check of double is broken, not your answer"):
        examine(broken, lambda x: x)


# ---- a question ----

QUESTION = Question(
    "share",
    "rnn_bottleneck",
    lambda: 0.25,
    (Misconception("that is the other share", "Which is asked for?", 0.75),),
    "lesson 1",
    0.01,
)
LIST = Question("shares", "rnn_bottleneck", lambda: [0.25, 0.75], (), "lesson 1", 0.01)


@pytest.mark.parametrize("answer", [0.25, 0.254, torch.tensor(0.25), np.float32(0.25)])
def test_a_value_within_the_tolerance_is_right(answer):
    ask(QUESTION, answer)


@pytest.mark.parametrize(
    ("question", "answer", "says"),
    [
        (QUESTION, 0.75, "✗ share: that is the other share."),
        (QUESTION, 0.3, "✗ share: 0.3 is not right."),
        (QUESTION, "a quarter", "✗ share: 'a quarter' is a text."),
        (QUESTION, ..., "○ share has no answer yet."),
        (QUESTION, None, "○ share has no answer yet."),
        (LIST, 0.25, "✗ shares: 0.25 is a number."),
        (LIST, [0.25], "✗ shares: [0.25] has 1 of 2 entries."),
        (LIST, [0.25, 0.5], "✗ shares: entry 2 of [0.25, 0.5] is not right."),
    ],
)
def test_what_is_said_of_a_wrong_value(question, answer, says):
    with pytest.raises(Wrong) as caught:
        ask(question, answer)
    assert str(caught.value).startswith(says)


# ---- odd values ----


class Unequal:
    def __eq__(self, other):
        raise RuntimeError("cannot be compared")

    __hash__ = None
    __repr__ = None


def odd_values():
    endless = []
    endless.append(endless)
    yield from (endless, Unequal(), [Unequal(), 1.0], {1, 2}, b"ab", 1j, 10**400, object, iter([1]), ((1, 2), []), {})
    yield from (
        np.array(["a", "b"]),
        np.array([1, "a", None], dtype=object),
        np.array(None),
        np.array([[1], [2, 3]], object),
    )
    yield from (np.str_("a"), [np.str_("a")], np.datetime64("NaT"), np.array(["2020-01-01"], dtype="datetime64[D]"))
    yield from (
        np.uint64(2**64 - 1),
        np.longdouble(1),
        np.zeros(2, dtype=[("a", int)]),
        np.ma.array([1, 2], mask=[0, 1]),
    )
    yield from (torch.eye(3).to_sparse(), torch.ones(2, device="meta"), torch.ones(2).bfloat16(), torch.zeros(0))
    yield torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
    yield torch.ones(2, dtype=torch.complex64)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_no_odd_value_crashes_the_checker():
    pair = Exercise("pair", "rnn_bottleneck", cases, lambda x: (x, [3, 4]), "lesson 1")
    for value in odd_values():
        for odd in (value, [value, value], (T, value), {"a": value}):
            for asked in (EXERCISE, pair):
                with pytest.raises(Wrong) as caught:
                    examine(asked, lambda x, odd=odd: odd)
                assert str(caught.value).startswith(f"✗ {asked.name}: ")
            for asked in (QUESTION, LIST):
                with pytest.raises(Wrong) as caught:
                    ask(asked, odd)
                assert str(caught.value).startswith(f"✗ {asked.name}: ")


# ---- in a notebook ----


def test_no_traceback_is_shown():
    assert Wrong("✗ one\n  two")._render_traceback_() == ["✗ one", "  two"]


def test_check_prints_a_tick_and_knows_its_exercises(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(checks, "exercises", lambda: {"double": EXERCISE, "share": QUESTION})
    checks.check("double", lambda x: 2 * x + 1)
    checks.check("share", 0.25)
    assert capsys.readouterr().out == (
        "✓ double: right on all 3 inputs.\n  Next: share (`share`)\n✓ share: right.\n  All exercises are done.\n"
    )
    with pytest.raises(LookupError, match="there is no exercise 'dubble'; there are double, share"):
        checks.check("dubble", 1)


def test_no_two_exercises_have_one_name():
    modules = [importlib.import_module(f"course_lib.checks.{lesson}") for lesson in checks.EXERCISED]
    asked = [asked for module in modules for asked in module.ASKED]
    assert len({one.name for one in asked}) == len(asked) == len(checks.exercises())


def test_a_misconception_never_says_nothing():
    for asked in checks.exercises().values():
        assert isinstance(asked, engine.Exercise | engine.Question) and asked.see
        for misconception in asked.misconceptions:
            assert len(misconception.name.split()) >= 3 and len(misconception.hint.split()) >= 3, asked.name


# ---- what is named, and what is not ----


def test_of_several_values_the_nearest_is_named():
    near = Misconception("that is the nearer one", "Look again.", 0.125)
    asked = Question(
        "share", "rnn_bottleneck", lambda: 0.25, (Misconception("that is the other one", "", 0.1), near), "", 0.05
    )
    for value, name in ((0.12, "nearer"), (0.1, "other")):
        with pytest.raises(Wrong, match=name):
            ask(asked, value)


def exercise(right, **more):
    def drawn(generator):
        return [Case(f"{n} rows", {"x": torch.randn(n, 3, generator=generator)}) for n in (1, 2, 3, 4)]

    return Exercise("row", "rnn_bottleneck", drawn, right, "lesson 1", **more)


def said_of(asked, answer):
    with pytest.raises(Wrong) as caught:
        examine(asked, answer)
    return str(caught.value).splitlines()[0]


def test_what_is_right_but_for_nan_is_not_taken_for_a_misconception():
    asked = exercise(lambda x: x.clamp(min=0))
    asked.misconception("what is negative stays", "Look at the sign.")(lambda x: x)
    nan = said_of(asked, lambda x: torch.where(x < 0, torch.nan, x))
    assert nan.startswith("✗ row: the result holds NaN")
    assert said_of(asked, lambda x: x) == "✗ row: what is negative stays."


def test_nothing_but_nan_is_like_no_misconception():
    asked = exercise(lambda x: x.exp())
    asked.misconception("0 is divided by 0", "Which divisor is 0?")(lambda x: x * torch.nan)
    assert said_of(asked, lambda x: x - torch.nan) == "✗ row: the result holds NaN everywhere."


def test_nan_of_a_misconception_hides_no_other_number():
    def naive(x):
        return x.exp() / x.exp().sum(-1, keepdim=True)

    rows = [
        Case(about, {"x": torch.tensor([x, x + 1])}) for about, x in (("small", 1.0), ("high", 99.0), ("low", -300.0))
    ]
    asked = Exercise("share", "rnn_bottleneck", lambda generator: rows, lambda x: x.softmax(-1), "lesson 1")
    asked.misconception("large scores overflow", "exp(100) is too large.")(naive)
    assert said_of(asked, naive) == "✗ share: large scores overflow."
    assert "overflow" not in said_of(asked, lambda x: naive(x.clamp(max=80)))
    assert "overflow" not in said_of(asked, lambda x: torch.where(x == 2, torch.nan, naive(x)))


def test_what_has_become_of_a_misconception_is_told_beside_its_name():
    asked = exercise(lambda x: x.softmax(-1))
    asked.misconception("the softmax runs over the rows", "Each *row* must sum to 1.")(lambda x: x.softmax(0))
    assert said_of(asked, lambda x: -x.softmax(0)) == (
        "✗ row: the softmax runs over the rows; in addition, every sign is flipped."
    )
    assert "over the rows" not in said_of(asked, lambda x: -x.softmax(-1))


def halved_and_shared_out(x):
    halved = x / 2
    return halved.softmax(-1)


@pytest.mark.parametrize(
    ("answer", "names"),
    [
        (lambda x: x.softmax(0), {"nothing is halved", "the softmax runs over the rows"}),
        (lambda x: (-x / 2).softmax(0), {"the sign is wrong", "the softmax runs over the rows"}),
        (lambda x: (x / 2).log_softmax(0), {"logs are returned", "the softmax runs over the rows"}),
        (lambda x: [x.softmax(-1)], {"nothing is halved", "the result is in a list"}),
        (lambda x: (-x / 2).softmax(-1).T, {"the sign is wrong", "the rows become columns"}),
    ],
)
def test_two_edits_are_named_even_where_their_words_overlap(answer, names):
    asked = exercise(halved_and_shared_out)
    warnings.simplefilter("ignore")
    for name, *change in (
        ("nothing is halved", " / 2", ""),
        ("the softmax runs over the rows", "softmax(-1)", "softmax(0)"),
        ("the sign is wrong", "halved.softmax", "(-halved).softmax"),
        ("logs are returned", ".softmax", ".log_softmax"),
        ("the result is in a list", "halved.softmax(-1)", "[halved.softmax(-1)]"),
        ("the rows become columns", "softmax(-1)", "softmax(-1).T"),
        ("x is called", "x / 2", "1(x)"),  # Python warns of it
    ):
        asked.edit(name, "Look again.", tuple(change))
    warnings.simplefilter("error")
    said = said_of(asked, answer)
    assert set(said.removeprefix("✗ row: ").removesuffix(".").split("; in addition, ")) == names


def test_an_order_in_memory_hides_no_misconception():
    def drawn(generator):
        x = torch.randn(4, 3, generator=generator)
        return [Case("in order", {"x": x}), Case("not in order", {"x": x.T})]

    asked = Exercise("flat", "rnn_bottleneck", drawn, lambda x: x.flatten(), "lesson 1")
    asked.misconception("the sign is wrong", "Look at the sign.")(lambda x: -x.flatten())
    assert said_of(asked, lambda x: -x.view(-1)) == "✗ flat: the sign is wrong."


def relu_by_hand(x):
    return x * (x > 0)


@pytest.mark.parametrize(
    "answer",
    [torch.relu, lambda x: torch.nn.functional.relu(x), lambda x: torch.nn.ReLU()(x), lambda x: x.detach().relu()],
)
def test_what_the_text_forbids_is_seen_however_it_is_called(answer):
    banned = "torch.nn.functional.relu", "torch.relu", "None.relu"
    asked = exercise(torch.relu, banned=banned)
    assert said_of(asked, answer).endswith("which isn't allowed here.")
    assert examine(asked, relu_by_hand) == 4


def test_sets_that_are_emptied_are_seen():
    asked = checks.exercises()["alignment_error"]
    with pytest.raises(Wrong, match="it changes its argument sure in place\\.\n.*make a new one"):
        examine(asked, lambda proposed, sure, possible: [gold.clear() for gold in sure])


def test_what_is_drawn_or_kept_between_calls_is_told_as_such():
    calls, kept, buffer = itertools.count(), {}, torch.empty(30)
    assert "two calls with the same input give different results" in told(lambda x: x + next(calls))
    assert "it is right at first, but wrong for other numbers" in told(lambda x: kept.setdefault(x.numel(), 2 * x + 1))
    said = told(lambda x: torch.mul(x, 2, out=buffer).add_(1) if x.shape == (30,) else 2 * x + 1)
    assert "an earlier result changes in a later call" in said


def test_arguments_in_another_order_are_named_and_other_names_are_taken():
    pair = [Case("two numbers", {"a": torch.tensor(3.0), "b": torch.tensor(1.0)})]
    taken = Exercise("taken", "rnn_bottleneck", lambda generator: pair, lambda a, b: a - b, "lesson 1")
    with pytest.raises(Wrong, match=r"the wrong order: \(b, a\), but the text has \(a, b\)"):
        examine(taken, lambda b, a: a - b)
    assert examine(taken, lambda x, y: x - y) == 1


def test_a_result_of_another_input_is_recognised():
    rows = [Case(f"row {n}", {"x": torch.arange(4.0) + 10 * n}) for n in range(3)]
    doubled = Exercise("doubled", "rnn_bottleneck", lambda generator: rows, lambda x: 2 * x, "lesson 1")
    with pytest.raises(Wrong, match="it gives the same result as for another input: row 0"):
        examine(doubled, lambda x: torch.arange(4.0) * 2)


def test_values_that_come_one_by_one_are_told_as_such():
    for answer in (lambda x: map(float, x), lambda x: (one for one in x)):
        message = told(answer)
        assert message.startswith("✗ double: it returns something of type ") and "Put list() around it" in message


def test_an_error_s_text_is_one_short_line():
    def fails(x):
        raise ValueError("1.0 2.0\n" * 100)

    first = told(fails).splitlines()[0]
    assert first.startswith("✗ double: it raises ValueError: 1.0 2.0 1.0 2.0") and first.endswith(" ….")
    assert len(first) < 250 and "\n" not in first


@pytest.mark.parametrize(
    ("answer", "advice"),
    [
        (lambda x: max(x, 2 * x), "torch.maximum go entry by entry"),
        (lambda x: 0 <= x < 1, "a < x < b"),
        (lambda x: max(x.numpy(), 2 * x.numpy()), "ask for one answer"),
        (lambda x: (x > 0) - (x > 1), "True and False cannot be subtracted"),
        (lambda x: True - (x > 1), "True and False cannot be subtracted"),
        (lambda x: x.double() @ x, "of the same dtype as the input"),
        (lambda x: torch.dot(x.double(), x), "of the same dtype as the input"),
        (lambda x: torch.eye(2).double() @ x, "of the same dtype as the input"),
        (lambda x: torch.eye(2).double() @ x[:, None], "of the same dtype as the input"),
    ],
)
def test_of_common_errors_it_is_said_what_helps(answer, advice):
    assert advice in told(answer)


def test_results_in_any_other_order_are_recognised():
    def parts(x):
        return x, x.sum(1), -x.sum(1)

    asked = exercise(parts)
    for order in itertools.permutations(range(3)):
        if list(order) != [0, 1, 2]:
            said = said_of(asked, lambda x, order=order: [parts(x)[place] for place in order])
            assert said == "✗ row: the results are in the wrong order."
    for answer in (lambda x: (x, x.sum(1), x.sum(1)), lambda x: (x, -x.sum(1), x.sum(1) + 1)):
        assert "in the wrong order" not in said_of(asked, answer)


def test_of_tensors_in_a_tuple_the_lines_that_change_tensors_are_named():
    def drawn(generator):
        return [Case("a pair", {"pair": (torch.ones(2), torch.ones(2))})]

    asked = Exercise("sum", "rnn_bottleneck", drawn, lambda pair: pair[0] + pair[1], "lesson 1")
    with pytest.raises(Wrong, match=r"it changes its argument pair in place\.\n.*x\.mul_\(2\)"):
        examine(asked, lambda pair: pair[0].add_(pair[1]))


def test_an_array_read_backwards_is_an_array():
    assert engine.plain(np.arange(3)[::-1]).tolist() == [2, 1, 0]
    assert engine.plain(np.float32(2)).shape == ()
