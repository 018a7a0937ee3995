"""Judges answers in a separate process, since an answer can make a comparison endless or huge, or end its process.

The grader writes one answer per line, and reads one judgement per line.
"""

import atexit
import faulthandler
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from course_lib.checks.engine import Wrong
from course_lib.grading import examine
from course_lib.grading.course import PRIVATE, exercises

SECONDS = 30  # for one answer
MEMORY = 4 * 2**30  # bytes
TRIES = 2  # an earlier answer may have ended the first process


class _Judge:
    """Starts and talks to the process that holds the checks of a course."""

    def __init__(self, folder: Path):
        paths = os.pathsep.join(filter(None, sys.path))
        self.process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(folder)],
            env=os.environ | {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.ready = False
        atexit.register(self.close)

    def ask(self, **asked) -> dict | None:
        """Returns the judgement, or None if the process has ended."""
        if not self.ready:
            ready = json.loads(self.process.stdout.readline() or '{"broken": "it did not start"}')
            if "broken" in ready:
                raise RuntimeError(f"the judge process failed: {ready['broken']}")
            self.ready = True
        try:
            self.process.stdin.write(f"{json.dumps(asked)}\n".encode())
            self.process.stdin.flush()
            return json.loads(self.process.stdout.readline())
        except (OSError, ValueError):
            return None

    def close(self) -> None:
        atexit.unregister(self.close)
        self.process.kill()
        self.process.communicate()


_sitting: dict[tuple, _Judge] = {}  # at most one, for the course and checks asked for last


def seat(folder: Path) -> tuple:
    """Starts the judge of a course if it isn't running, also ahead of need; returns its key."""
    private = folder / PRIVATE
    key = (folder, private.read_bytes() if private.exists() else b"")
    if key not in _sitting:
        while _sitting:
            _sitting.popitem()[1].close()
        _sitting[key] = _Judge(folder)
    return key


def judge(folder: Path, name: str, text: str | None, seed: int) -> int | None:
    """Calls `examine.judge` for the check of that name, within limits of time and memory.

    Raises:
        Wrong: the answer is wrong, or needs too much time or memory to judge.
        RuntimeError: the check is broken or cannot be loaded.
    """
    for _ in range(TRIES):
        key, begun = seat(folder), time.monotonic()
        said = _sitting[key].ask(name=name, text=text, seed=seed, seconds=SECONDS)
        if said is None:
            _sitting.pop(key).close()
            if time.monotonic() - begun >= SECONDS:
                break
        elif "wrong" in said:
            raise Wrong(said["wrong"])
        elif "broken" in said:
            raise RuntimeError(f"the check {name} failed: {said['broken']}")
        else:
            return said["right"]
    raise Wrong(f"✗ {name}: the answer cannot be compared within {SECONDS} s and {MEMORY // 2**30} GB.")


# ---- in the process ----


def _said(known: dict, asked: dict) -> dict:
    try:
        return {"right": examine.judge(known[asked["name"]], asked["text"], asked["seed"])}
    except Wrong as wrong:
        return {"wrong": str(wrong)[: examine.LONGEST_REASON]}
    except Exception as error:
        return {"broken": f"{type(error).__name__}: {error}"}


def _sit(folder: Path) -> None:
    """Judges until the input ends."""
    try:
        import resource  # only on POSIX

        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    except (ImportError, ValueError):
        pass
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)  # keeps what a check prints out of the judgements
    try:
        known, ready = exercises(folder), {}
    except BaseException as error:  # an instructor's file can raise anything, even SystemExit
        known, ready = {}, {"broken": f"{type(error).__name__}: {error}"}
    print(json.dumps(ready), file=answers, flush=True)
    with open(os.devnull, "w") as nowhere:
        for line in sys.stdin.buffer:
            asked = json.loads(line)
            # A thread in C also ends a comparison that never returns to Python.
            faulthandler.dump_traceback_later(asked["seconds"], exit=True, file=nowhere)
            said = _said(known, asked)
            faulthandler.cancel_dump_traceback_later()
            print(json.dumps(said), file=answers, flush=True)


if __name__ == "__main__":
    _sit(Path(sys.argv[1]))
