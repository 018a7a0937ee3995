"""Jobs in processes of their own: results, errors, two at a time, no orphans, one line each."""

import multiprocessing
import os
import re
import subprocess
import sys
import time
from functools import partial

import pytest

from course_lib import processes
from course_lib.processes import Progress, side_by_side


def wait_and_return(seconds, value):
    started = time.monotonic()
    time.sleep(seconds)
    return value, started, time.monotonic(), os.getpid()


def once_there(file, job):
    """Begins when the file is there; gives up after ten minutes."""
    given_up = time.monotonic() + 600
    while not file.exists() and time.monotonic() < given_up:
        time.sleep(0.01)
    return job()


def test_results_come_by_name_in_the_given_order_and_are_announced_as_they_end(tmp_path):
    ended, fast_ended = [], tmp_path / "fast has ended"

    def finished(name, result):
        ended.append((name, result))
        fast_ended.touch()

    results = side_by_side({"slow": partial(once_there, fast_ended, int), "fast": partial(int, 2)}, finished)
    assert [*results.items()] == [("slow", 0), ("fast", 2)]
    assert ended == [("fast", 2), ("slow", 0)]


def meet(folder, name, other):
    """Waits until the other has begun, too; gives up after a minute."""
    started = time.monotonic()
    (folder / name).touch()
    while not (folder / other).exists() and time.monotonic() < started + 60:
        time.sleep(0.01)
    return name, started, time.monotonic(), os.getpid()


def test_two_run_at_a_time_and_none_of_them_here(tmp_path):
    pairs = {"a": "b", "b": "a", "c": "d", "d": "c"}
    results = side_by_side({name: partial(meet, tmp_path, name, other) for name, other in pairs.items()})
    spans = [(started, ended) for _, started, ended, _ in results.values()]
    at_once = [sum(start <= moment < end for start, end in spans) for moment, _ in spans]
    assert max(at_once) == 2
    workers = {process for *_, process in results.values()}
    assert len(workers) <= 2 == len(multiprocessing.active_children()) and os.getpid() not in workers


def test_each_worker_uses_one_thread():
    import torch

    assert side_by_side({"threads": torch.get_num_threads}) == {"threads": 1}


def test_no_jobs_give_no_results():
    assert side_by_side({}) == {}


CELL = """
FACTOR = 3
def triple(x):
    return FACTOR * x
class Box:
    def __init__(self, x):
        self.x = x
    def opened(self):
        return triple(self.x)
def job(x):
    return Box(x).opened()
"""


def test_functions_and_classes_of_a_notebook_run_in_workers(notebook):
    job = notebook(CELL)["job"]
    assert side_by_side({"two": partial(job, 2), "five": partial(job, 5)}) == {"two": 6, "five": 15}


def test_a_changed_function_is_run_as_it_is_now(notebook):
    assert side_by_side({"job": partial(notebook(CELL)["job"], 1)}) == {"job": 3}
    assert side_by_side({"job": partial(notebook(CELL.replace("= 3", "= 4"))["job"], 1)}) == {"job": 4}


def fail():
    raise LookupError("no such word: 'chiken'")


@pytest.mark.slow
def test_a_jobs_exception_arrives_at_once_and_leaves_no_process():
    started = time.monotonic()
    with pytest.raises(LookupError, match="no such word: 'chiken'"):
        side_by_side({"long": partial(wait_and_return, 600, 0), "fails": fail})
    while multiprocessing.active_children():
        assert time.monotonic() - started < 120
        time.sleep(0.1)
    assert side_by_side({"next": partial(wait_and_return, 0, 7)})["next"][0] == 7


@pytest.mark.slow
def test_an_interrupt_leaves_no_process():
    def interrupt(*_):
        raise KeyboardInterrupt

    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        side_by_side({"long": partial(wait_and_return, 600, 0), "short": partial(wait_and_return, 0, 0)}, interrupt)
    while multiprocessing.active_children():
        assert time.monotonic() - started < 120
        time.sleep(0.1)


# ---- progress ----


def screen(text):
    """What a terminal shows in the end, line by line."""
    return [re.split("\r\x1b\\[K", line)[-1] for line in text.split("\n")]


def count(label, steps):
    progress = Progress(label, steps)
    for _ in range(steps):
        time.sleep(0.05)
        progress.advance(loss=0.5)
    progress.finish(f"{steps} steps")


KILLED = """
import os, time
from course_lib.processes import side_by_side

def job():
    os.write(1, f"{os.getpid()}\\n".encode())  # at once, so that two workers do not mix their lines
    time.sleep(600)

if __name__ == "__main__":
    side_by_side({"one": job, "two": job})
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no way to ask whether a process is there")
def test_a_killed_parent_leaves_no_process(tmp_path):
    script = tmp_path / "killed.py"
    script.write_text(KILLED)
    parent = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True)
    workers = [int(parent.stdout.readline()) for _ in range(2)]
    parent.kill()
    parent.wait()
    deadline = time.monotonic() + 120
    while any(is_there(worker) for worker in workers):
        assert time.monotonic() < deadline, "a worker outlives its parent"
        time.sleep(0.1)


def is_there(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_bar_ends_as_one_line_of_result(capsys):
    count("a run", 8)
    written = capsys.readouterr().err
    assert "loss 0.50" in written and "8/8" not in screen(written)
    assert screen(written) == ["a run: 8 steps", ""]


def test_a_line_holds_a_bar_and_every_figure_and_stays_within_a_narrow_terminal(capsys, monkeypatch):
    monkeypatch.setattr(processes, "REFRESH", 0.0)
    for columns in (200, 60):
        monkeypatch.setenv("COLUMNS", str(columns))
        progress = Progress("with attention, on twice as many sentences", 400)
        progress.advance(loss=1.25, **{"validation accuracy": 0.5})
        line = screen(capsys.readouterr().err)[-1]
        whole = re.search(r"\|[^|]{20}\| 1/400 \[.*, loss 1.25, validation accuracy 0.50\]$", line)
        assert whole if columns == 200 else len(line) < 60


def test_bars_of_workers_end_as_one_line_each(capsys, monkeypatch):
    monkeypatch.setattr(processes, "SILENCE", float("inf"))  # on a busy machine, the line for all jobs would appear
    side_by_side({name: partial(count, name, 8) for name in ("first", "second", "third")})
    written = capsys.readouterr().err
    assert "loss 0.50" in written
    assert sorted(screen(written)) == ["", "first: 8 steps", "second: 8 steps", "third: 8 steps"]


def test_more_runs_than_fit_at_once_say_how_long_all_will_take_and_leave_no_trace(capsys, monkeypatch, tmp_path):
    """When the first has ended, the third has not begun."""
    for seconds in ("PATIENCE", "SILENCE", "REFRESH"):
        monkeypatch.setattr(processes, seconds, 0.0)
    jobs, ended = {name: partial(count, name, 2) for name in ("first", "second", "third")}, tmp_path / "one has ended"
    side_by_side({**jobs, "third": partial(once_there, ended, jobs["third"])}, lambda *_: ended.touch())
    written = capsys.readouterr().err
    assert re.search(r"all of this cell: \d+ s so far, about \d+ s left", written)
    assert sorted(screen(written)) == ["", "first: 2 steps", "second: 2 steps", "third: 2 steps"]


@pytest.mark.parametrize(
    ("elapsed", "jobs", "done", "shares", "said"),
    [
        (0.5, 5, 0, {"a": 0.9}, ""),
        (1, 2, 0, {}, "1 s so far"),
        (2, 5, 0, {"a": 0.9}, "2 s so far"),
        (30, 2, 0, {"a": 0.5, "b": 0.5}, ""),
        (30, 2, 0, {}, "30 s so far"),
        (30, 2, 1, {}, "30 s so far, about 30 s left"),
        (30, 4, 1, {"a": 1.0, "b": 0.5, "c": 0.5}, "30 s so far, about 30 s left"),
        (30, 4, 3, {"a": 1.0}, "30 s so far, about 10 s left"),
    ],
)
def test_the_time_left_is_told_where_no_bar_tells_it(elapsed, jobs, done, shares, said):
    assert processes._time_left(elapsed, jobs, done, shares).removeprefix(f"{processes.ALL}: ") == said


def test_no_last_line_comes_late(capsys):
    """The line of a run must not appear below what was done next."""
    for turn in range(20):
        side_by_side({str(n): partial(count, f"{turn}.{n}", 0) for n in range(2)})
        written = capsys.readouterr().err
        assert sorted(screen(written)) == ["", f"{turn}.0: 0 steps", f"{turn}.1: 0 steps"]
