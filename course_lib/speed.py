"""Measures how fast a machine trains compared with the course's reference, to predict how long a lesson takes."""

import contextlib
import platform
import statistics
import time
from datetime import date

import torch
from torch import nn

from course_lib.cache import cache_folder
from course_lib.files import DATA, read_json, write_json

REFERENCE = 0.25  # CPU-seconds that `work` takes on the machine of the README's table
MINUTES = DATA / "minutes.json"  # for each lesson: seconds with an empty cache, and the machine's factor at that time


def work() -> float:
    """Returns the CPU-seconds of a fixed piece of training on one thread, with a GRU and a Transformer layer."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        gru, layer = nn.GRU(32, 128), nn.TransformerEncoderLayer(64, 4, 192, 0.0)
        words, states = torch.randn(16, 64, 32), torch.randn(16, 64, 64)
    started = time.process_time()
    with torch.enable_grad():
        for _ in range(12):
            gru(words)[0].square().mean().backward()
            layer(states).square().mean().backward()
    torch.set_num_threads(threads)
    return time.process_time() - started


def factor() -> float:
    """Returns how many times as long as the reference the machine takes; it measures about a second, once a day."""
    file, today = cache_folder() / "speed.json", f"{date.today()}, {platform.node()}, torch {torch.__version__}"
    with contextlib.suppress(OSError, ValueError, LookupError, TypeError):  # damaged, or of another day
        return float(read_json(file)[today])
    measured = statistics.median(work() for _ in range(4)) / REFERENCE
    with contextlib.suppress(OSError):
        write_json(file, {today: measured})
    return measured


def _beside() -> str:
    return f"takes {factor():.1f} times as long as the one of the README's table"


def machine() -> str:
    """Returns the note on this run's machine for a table of seconds."""
    return f"this run's machine {_beside()}"


def seconds_here(lesson: str) -> float | None:
    """Returns the seconds a lesson will take here with an empty cache, or None if it was never measured."""
    measured = read_json(MINUTES).get(lesson)
    return measured and measured["seconds"] / measured["factor"] * factor()


def announce(lesson: str) -> str | None:
    """Says in words how many minutes a lesson computes on the machine."""
    seconds = seconds_here(lesson)
    if seconds is None:
        return None
    long = "less than a minute" if seconds < 50 else f"about {seconds / 60:.0f} minute{'s' * (seconds >= 90)}"
    return (
        f"On this machine, the lesson computes for {long} the first time; the machine {_beside()}. "
        "Trained models are kept."
    )


def measured(lesson: str, waited: float, computed: float = 0) -> None:
    """Keeps how many seconds a lesson took with an empty cache.

    On a busy machine, the CPU-seconds that the lesson computed are fewer than the seconds waited. Then it keeps the
    CPU-seconds, unless they are 0, which means unknown.
    """
    seconds = min(waited, computed or waited)
    write_json(MINUTES, {**read_json(MINUTES), lesson: {"seconds": round(seconds), "factor": round(factor(), 2)}})
