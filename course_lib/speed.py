"""How fast a machine trains, beside the one on which the course was measured; so, how long a lesson takes on it."""

import platform
import statistics
import time
from datetime import date

import torch
from torch import nn

from course_lib.files import DATA, cache_folder, read_json, write_json

REFERENCE = 0.25  # CPU-seconds that `work` takes on the machine of the README's table
MINUTES = DATA / "minutes.json"  # of each lesson: wall-clock seconds without anything cached, and the factor then


def work() -> float:
    """CPU-seconds of a fixed piece of training on one thread: a GRU and a Transformer layer, forward and backward."""
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
    """How many times as long as the reference the machine takes; about a second of work, once a day."""
    file, today = cache_folder() / "speed.json", f"{date.today()}, {platform.node()}, torch {torch.__version__}"
    kept = read_json(file)
    if today not in kept:
        kept = {today: statistics.median(work() for _ in range(4)) / REFERENCE}
        write_json(file, kept)
    return kept[today]


def _beside() -> str:
    return f"takes {factor():.1f} times as long as the one of the README's table"


def machine() -> str:
    """What a table of seconds says of the machine they were taken on."""
    return f"this run's machine {_beside()}"


def seconds_here(lesson: str) -> float | None:
    """How long a lesson will take on the machine if nothing is cached; None of one that was never measured."""
    measured = read_json(MINUTES).get(lesson)
    return measured and measured["seconds"] / measured["factor"] * factor()


def announce(lesson: str) -> str | None:
    """How many minutes a lesson computes on the machine, in words."""
    seconds = seconds_here(lesson)
    if seconds is None:
        return None
    long = "less than a minute" if seconds < 50 else f"about {seconds / 60:.0f} minute{'s' * (seconds >= 90)}"
    return f"On this machine all of it computes for {long} the first time; it {_beside()}. What is trained is kept."


def measured(lesson: str, waited: float, computed: float = 0) -> None:
    """Keeps how long a lesson took with nothing cached: the seconds that one waited for it.

    Where a busy machine made one wait, the CPU-seconds that the lesson computed are fewer, and are kept; 0 if unknown.
    """
    seconds = min(waited, computed or waited)
    write_json(MINUTES, {**read_json(MINUTES), lesson: {"seconds": round(seconds), "factor": round(factor(), 2)}})
