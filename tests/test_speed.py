"""How long a lesson computes here is told from a short calibration, which is kept."""

import re

import nbformat
import pytest

from course_lib import claims, speed
from course_lib.curriculum import LESSONS, name_of
from course_lib.tools import lessons


@pytest.fixture
def slow(tmp_path, monkeypatch):
    """A machine that takes three times as long as the reference; the runs of `work` are listed."""
    runs = []
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path))
    monkeypatch.setattr(speed, "MINUTES", tmp_path / "minutes.json")
    monkeypatch.setattr(speed, "work", lambda: runs.append(1) or 3 * speed.REFERENCE)
    return runs


def test_the_work_is_the_same_each_time_and_leaves_the_random_numbers_alone():
    speed.torch.manual_seed(5)
    expected = speed.torch.rand(1)
    speed.torch.manual_seed(5)
    threads = speed.torch.get_num_threads()
    assert 0 < speed.work() and speed.torch.rand(1) == expected and speed.torch.get_num_threads() == threads


def test_the_factor_is_measured_once_a_day(slow):
    assert [speed.factor(), speed.factor()] == pytest.approx([3, 3]) and len(slow) == 4
    assert speed.machine() == "this run's machine takes 3.0 times as long as the one of the README's table"


@pytest.mark.parametrize(
    ("seconds", "factor", "said"),
    [
        (10, 1, "less than a minute"),
        (25, 1, "about 1 minute "),
        (90, 1.5, "about 3 minutes"),
        (100, 1.0, "about 5 minutes"),
    ],
)
def test_minutes_are_told_for_this_machine(slow, seconds, factor, said):
    speed.write_json(speed.MINUTES, {"trial": {"seconds": seconds, "factor": factor}})
    assert said in speed.announce("trial")


def test_what_was_measured_here_is_told_again_here_and_nothing_of_what_never_was(slow):
    speed.measured("trial", 61.4)
    assert speed.seconds_here("trial") == pytest.approx(61) and speed.announce("another") is None


@pytest.mark.parametrize(("waited", "computed", "kept"), [(300, 100, 100), (60, 100, 60), (60, 0, 60)])
def test_a_busy_machine_makes_no_lesson_longer(slow, waited, computed, kept):
    speed.measured("trial", waited, computed)
    assert speed.read_json(speed.MINUTES) == {"trial": {"seconds": kept, "factor": 3.0}}


def test_every_lesson_was_measured():
    assert set(speed.read_json(speed.MINUTES)) == set(LESSONS)


SAID = {  # of how much computing a lesson's first cells speak, and what that is in seconds of the reference
    "seconds": (0, 40),
    "half a minute": (20, 50),
    "less than a minute": (20, 60),
    "a minute and a half": (70, 110),
    "a minute or two": (60, 120),
    "two minutes": (90, 150),
}


@pytest.mark.parametrize("path", lessons.find(), ids=lambda path: path.stem)
def test_a_lesson_promises_as_much_computing_as_was_measured(path):
    time = next(cell.source for cell in nbformat.read(path, as_version=4).cells if "**Time:**" in cell.source)
    measured = speed.read_json(speed.MINUTES)[name_of(path)]
    for promise in re.findall(r"([\w ]+) of computing", time):
        least, most = SAID[re.sub(r"^ (about |a few |some )?", "", promise)]
        assert least <= measured["seconds"] / measured["factor"] <= most


def test_a_lesson_says_it_in_a_notebook_that_is_not_saved_and_nowhere_else(slow, monkeypatch):
    shown = []
    monkeypatch.delenv("COURSE_MODE", raising=False)
    monkeypatch.setattr(claims, "display", lambda said: shown.append(said.data))
    speed.measured("rnn_bottleneck", 100)
    claims.Lesson("rnn_bottleneck")
    assert shown == []
    monkeypatch.setattr(claims, "in_a_notebook", lambda: True)
    claims.Lesson("rnn_bottleneck")
    assert len(shown) == 1 and "about 2 minutes" in shown[0]
    monkeypatch.setenv("COURSE_MODE", "strict")
    claims.Lesson("rnn_bottleneck")
    assert len(shown) == 1
