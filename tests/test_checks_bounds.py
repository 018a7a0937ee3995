"""Nothing an answer does hangs or crashes a check. No test waits: where SECONDS is 0, the time is over at once."""

import sys

import pytest
import torch
from sweeps import sweep

from course_lib import checks
from course_lib.checks import bounds
from course_lib.checks.engine import Case, Exercise, Question, Wrong, ask, examine

ROW = Exercise(
    "row",
    "rnn_bottleneck",
    lambda generator: [Case(f"{n} numbers", {"x": torch.randn(n, generator=generator)}) for n in (2, 3, 4)],
    lambda x: 2 * x,
    "lesson 1",
)


def said(answer, asked=ROW):
    with pytest.raises(Wrong) as caught:
        examine(asked, answer)
    return str(caught.value)


# ---- time ----


def endless(*given, **named):
    while True:
        pass


def swallows(*given, **named):
    while True:
        try:
            while True:
                pass
        except:  # noqa: E722
            pass


def ends_badly(*given, **named):
    try:
        endless()
    finally:
        endless()


def never_sorted(*given, **named):
    return sorted([2, 1], key=lambda number: endless())


class Endless:
    def __init__(self, *given, **named):
        while True:
            self.step()

    def step(self):
        return 1


LOOPS = endless, swallows, ends_badly, never_sorted, Endless


@pytest.mark.parametrize("alarm", [bounds.ALARM, bounds._thread], ids=["here", "without signals"])
@pytest.mark.parametrize("loop", sweep(LOOPS, "endless", named=lambda loop: loop.__name__, rest="slow"))
def test_an_endless_loop_is_ended(monkeypatch, loop, alarm):
    monkeypatch.setattr(bounds, "SECONDS", 0)
    monkeypatch.setattr(bounds, "ALARM", alarm)
    assert said(loop).startswith("✗ row: it has not ended after 0 s.\n")
    assert sum(range(10**5)) > 0  # and nothing rings any more


def test_the_line_of_the_loop_and_the_input_are_told():
    def loops(x):
        while len(x) == 3:
            bounds._BELL.ring()  # as if the time were over
        return 2 * x

    message = said(loops)
    assert "\n  In the line `while len(x) == 3:`\n" in message or "\n  In the line `bounds._BELL.ring()" in message
    assert "\n  Seen with 3 numbers:\n    x = [" in message


def test_all_calls_have_one_time_together():
    check = bounds.Check()
    left = [check.left, check(lambda: None) or check.left, check(lambda: None) or check.left]
    assert bounds.SECONDS == left[0] > left[1] > left[2]


# ---- size ----


@pytest.mark.parametrize(
    "large",
    [
        torch.zeros(1).expand(10_000, 10_000),
        torch.zeros(10_000, 10_000, device="meta"),
        [torch.zeros(1).expand(10_000, 10_000)],
        {"a": torch.zeros(1).expand(10_000, 10_000)},
        [[0] * 10_000] * 10_000,
        "a" * 10_000_000,
    ],
    ids=["tensor", "without numbers", "in a list", "in a dict", "lists", "text"],
)
def test_too_large_a_result_is_refused_before_anything_is_copied(monkeypatch, large):
    monkeypatch.setattr("course_lib.checks.engine.trying.copied", lambda value: pytest.fail("it is copied"))
    message = said(lambda x: large)
    assert (
        "which is too large to be compared.\n  A result may have up to 1,000,000 numbers. Here, a tensor of shape (2,)"
        in message
    )
    with pytest.raises(Wrong, match="cannot be compared"):
        ask(Question("share", "rnn_bottleneck", lambda: 0.25, (), "lesson 1"), large)


# ---- errors and prints ----


class SpeechlessError(Exception):
    def __str__(self):
        raise SpeechlessError

    __repr__ = __str__


def speechless(*given, **named):
    raise SpeechlessError


def leaves(*given, **named):
    raise GeneratorExit("nothing")


def huge(*given, **named):
    return 10**400


def hugest(*given, **named):
    return 10**5000


def large(*given, **named):
    return torch.zeros(1).expand(10_000, 10_000)


class Text(str):
    def __repr__(self):
        raise ValueError


def odd_text(*given, **named):
    return Text("x")


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (speechless, "it raises SpeechlessError: (its text raises an error, too)."),
        (leaves, "it raises GeneratorExit: nothing."),
        (huge, "it returns a number, not a tensor of shape (2,)."),
        (hugest, "it returns a number, not a tensor of shape (2,)."),
        (odd_text, "what it returns cannot be compared."),
        (lambda x: sys.exit(), "it raises SystemExit:"),
    ],
)
def test_what_cannot_be_shown_is_told_as_such(answer, says):
    assert said(answer).startswith(f"✗ row: {says}")


def test_what_an_answer_prints_is_shown_once(capsys, monkeypatch):
    monkeypatch.setattr(bounds, "MOST_PRINTED", 20)

    def loud(x):
        print("number 1\nnumber 2\nnumber 3\nnumber 4")
        print(len(x), file=sys.stderr)
        return 2 * x

    assert examine(ROW, loud) == 3
    out, err = capsys.readouterr()
    left_out = 2 + 8 * 5  # of the first call, and of all others
    shown = f"number 1\nnumber 2\nnu\n(Printed output is shown only for the first input; {left_out} more"
    assert (out[: len(shown)], err) == (shown, "2\n"), out
    assert examine(ROW, lambda x: 2 * x) == 3
    assert capsys.readouterr().out == ""


# ---- every exercise ----

HOSTILE = *LOOPS, speechless, leaves, huge, hugest, large, odd_text


@pytest.mark.large
@pytest.mark.parametrize("answer", HOSTILE, ids=lambda answer: answer.__name__)
def test_no_exercise_hangs_or_crashes(monkeypatch, answer):
    if answer in LOOPS:
        monkeypatch.setattr(bounds, "SECONDS", 0)
    for asked in checks.exercises().values():
        if isinstance(asked, Exercise):
            message = said(answer, asked)
            assert message.startswith(f"✗ {asked.name}: ")
            assert answer not in LOOPS or "it has not ended after 0 s" in message
