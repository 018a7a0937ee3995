"""Runs jobs in worker processes, two at a time with one thread each, and shows their progress."""

import linecache
import multiprocessing
import os
import pickle
import shutil
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, wait

import cloudpickle
import torch
from tqdm import tqdm

from course_lib.cache import cache_folder
from course_lib.fingerprint import notebook_cells

AT_ONCE = 2
REFRESH = 0.25  # seconds
BAR = "{desc}: {percentage:3.0f}% |{bar:20}| {n_fmt}/{total_fmt} [{elapsed}<{remaining}{postfix}]"
SILENCE = 0.75  # seconds after which a line says that the cell computes, since a folded cell shows nothing else
PATIENCE = 3.0  # seconds after which the time left can be estimated
ALL = "all of this cell"

_to_parent = None  # in a worker: the queue for its progress
_pool: tuple | None = None  # in the parent: the workers and that queue, kept because starting workers takes seconds


class Lines:
    """Shows a few lines of text in one output, and replaces them as the work continues."""

    def __init__(self):
        self.lines: dict[str, str] = {}
        self.drawn = 0.0
        self.handle = None

    def show(self, label: str, text: str, final: bool) -> None:
        self.lines[label] = text
        if not final and time.monotonic() - self.drawn < REFRESH:
            return
        self.drawn = time.monotonic()
        if not in_a_notebook():
            wide = shutil.get_terminal_size().columns - 1  # a wrapped line could not be overwritten
            sys.stderr.write(f"\r\x1b[K{text}\n" if final else f"\r\x1b[K{text[:wide]}")
            return
        from IPython.display import display

        bundle = {"text/plain": "\n".join(self.lines.values())}
        if self.handle is None:
            self.handle = display(bundle, raw=True, display_id=True)
        else:
            self.handle.update(bundle, raw=True)

    def drop(self, label: str) -> None:
        """Removes a line that is not a result."""
        if self.lines.pop(label, None) is None:
            return
        if self.handle is not None:
            self.handle.update({"text/plain": "\n".join(self.lines.values())}, raw=True)
        elif not in_a_notebook():
            sys.stderr.write("\r\x1b[K")


def in_a_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


class Progress:
    """A progress bar for one run; at the end it becomes one line with the result.

    A worker process sends the bar to its parent process, which draws it.
    """

    def __init__(self, label: str, total: int):
        self.label, self.total, self.done = label, total, 0
        self.lines = Lines()
        self.started = self.sent = time.monotonic()

    def advance(self, **figures: float) -> None:
        self.done += 1
        if time.monotonic() - self.sent < REFRESH:
            return
        self.sent = time.monotonic()
        note = ", ".join(f"{name} {value:.2f}" for name, value in figures.items())
        meter = tqdm.format_meter(
            self.done,
            self.total,
            time.monotonic() - self.started,
            prefix=self.label,
            postfix=note,
            bar_format=BAR,
        )
        self._show(meter, False)

    def finish(self, result: str) -> None:
        self._show(f"{self.label}: {result}", True)

    def _show(self, text: str, final: bool) -> None:
        if _to_parent is None:
            self.lines.show(self.label, text, final)
        else:
            _to_parent.put((self.label, text, final, self.done / max(1, self.total)))


def _start_worker(to_parent) -> None:
    global _to_parent
    _to_parent = to_parent
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # after an interrupt, the notebook ends its workers itself
    warnings.showwarning = lambda warning, *where: to_parent.put((str(warning), f"Warning: {warning}", True, 0.0))
    torch.set_num_threads(1)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Ends the worker with its parent, so that a notebook that is restarted or killed leaves no worker."""
    multiprocessing.parent_process().join()
    os._exit(1)


def _call(pickled: bytes, cells: dict) -> bytes:
    linecache.cache.update(cells)
    return pickle.dumps(pickle.loads(pickled)())


def _workers() -> tuple:
    global _pool
    if _pool is None:
        cache_folder()  # if nothing can be kept, the reader is told here and once
        context = multiprocessing.get_context("spawn")
        to_parent = context.SimpleQueue()
        _pool = ProcessPoolExecutor(AT_ONCE, context, _start_worker, (to_parent,)), to_parent
    return _pool


def _end_workers() -> None:
    global _pool
    if _pool is not None:
        workers = list(_pool[0]._processes.values())  # before Python 3.14 the executor has no method to end them
        _pool[0].shutdown(wait=False, cancel_futures=True)
        for worker in workers:
            worker.terminate()
        _pool = None


def _time_left(elapsed: float, jobs: int, done: int, shares: dict[str, float]) -> str:
    """Returns the line on all jobs together, or "" if the jobs' own bars are enough or it is too early."""
    share = max(done, min(jobs, sum(shares.values()))) / jobs
    if elapsed < SILENCE or (shares and jobs <= AT_ONCE):
        return ""
    left = f", about {elapsed / share - elapsed:.0f} s left" if share > 0.05 and elapsed >= PATIENCE else ""
    return f"{ALL}: {elapsed:.0f} s so far{left}"


def side_by_side(jobs: dict[str, Callable[[], object]], finished: Callable[[str, object], None] | None = None) -> dict:
    """Runs the jobs in worker processes, two at a time, and returns their results by name.

    A job may be a function of the notebook. `finished(name, result)` runs in this process when a job ends. If a job
    fails, its error is raised here and the other jobs end.
    """
    pool, progress = _workers()
    # The source of the notebook's cells, so that a worker can find a function's source (see `fingerprint`).
    cells = notebook_cells()
    lines, results, shares, started = Lines(), {}, {}, time.monotonic()
    try:
        waiting = {pool.submit(_call, cloudpickle.dumps(job), cells): name for name, job in jobs.items()}
        while waiting:
            done, _ = wait(waiting, timeout=REFRESH, return_when="FIRST_COMPLETED")
            while not progress.empty():  # a job has written its last line before it is done
                label, text, final, shares[label] = progress.get()
                lines.show(label, text, final)
            for future in done:
                name = waiting.pop(future)
                results[name] = pickle.loads(future.result())
                if finished:
                    finished(name, results[name])
            if waiting and (told := _time_left(time.monotonic() - started, len(jobs), len(results), shares)):
                lines.show(ALL, told, False)
            elif waiting:  # the runs' own bars are enough
                lines.drop(ALL)
        lines.drop(ALL)
    except BaseException:
        _end_workers()
        raise
    return {name: results[name] for name in jobs}
