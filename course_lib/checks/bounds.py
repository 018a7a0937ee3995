"""Bounds of what an answer may do in a check: how long it computes, how large its result is, how much it prints."""

import ctypes
import io
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping

import numpy as np
from torch import Tensor

SECONDS = 20  # for all calls of one check together
LARGEST = 1_000_000  # numbers of a result, and characters of its texts
MOST_PRINTED = 4_000  # characters


class BeyondError(BaseException):
    """What a check does not wait for, or does not look at. No `except Exception:` of an answer catches it."""


class TooLongError(BeyondError):
    """The time is over."""


class TooLargeError(BeyondError):
    """A result is too large to be compared."""


class UnreadableError(Exception):
    """Stands for an error whose own text cannot be had; `type_name` is that of the error."""

    def __init__(self, error: BaseException):
        super().__init__("(its text raises an error, too)")
        self.type_name = type(error).__name__
        self.__traceback__ = error.__traceback__


def readable(error: BaseException) -> BaseException:
    """An error whose text can be had: itself, if it can."""
    try:
        str(error)
    except Exception:
        return UnreadableError(error)
    return error


# ---- size ----


def refuse_large(value: object) -> None:
    """Raises TooLargeError for more than LARGEST numbers, by shapes and lengths alone: nothing is copied or converted."""
    if _size(value, LARGEST) > LARGEST:
        raise TooLargeError(value)


def _size(value: object, room: int) -> int:
    """How many numbers and characters there are; the count ends where there is no room for more."""
    if isinstance(value, Tensor):
        return value.numel()
    if isinstance(value, np.ndarray):
        return value.size
    if isinstance(value, str | bytes):
        return len(value)
    if not isinstance(value, list | tuple | set | frozenset | Mapping):
        return 1
    total = len(value)
    for item in value.values() if isinstance(value, Mapping) else value:
        if total > room:
            break
        if type(item) not in (int, float, bool):
            total += _size(item, room - total)
    return total


# ---- time ----


_inside = lambda call: call()  # noqa: E731 - its frame tells what may be stopped, so nothing may be wrapped around it


class _Bell:
    """Rings in the main thread until it is silent: each ring raises TooLongError in the call that is running there.

    Python makes pending calls between two steps of the main thread, on every system. When one raises, the next comes one
    step later, so an `except:` that swallows the first meets another. A pending call must be a function in C that says by
    -1 that it has raised: `PyObject_IsTrue`, which asks an object for its truth, is one.
    """

    silent = True

    def ring(self) -> None:
        ctypes.pythonapi.Py_AddPendingCall(ctypes.pythonapi.PyObject_IsTrue, ctypes.py_object(self))

    def __bool__(self) -> bool:
        if not self.silent:
            self.ring()
            self.stop()
        return False

    def stop(self) -> None:
        frame = None if self.silent else sys._getframe()
        while frame:
            if frame.f_code is _inside.__code__:
                raise TooLongError
            frame = frame.f_back


_BELL = _Bell()  # one for ever: a pending call may come late


# ---- one check ----


class _Head(io.TextIOBase):
    """Passes on the beginning of what is printed, and counts the lines that are left out."""

    def __init__(self, stream, room: int):
        self.stream, self.room, self.lines = stream, room, 0

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if shown := text[: self.room]:
            self.room -= len(shown)
            self.stream.write(shown)
        self.lines += text[len(shown) :].count("\n")
        return len(text)


class _Signal:
    """Rings in C code, too, if it sleeps or looks for a pattern; Windows has none."""

    def __init__(self, seconds: float):
        self.before = signal.signal(signal.SIGALRM, self.came)
        signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-6))

    def came(self, number, frame) -> None:
        _BELL.ring()
        _BELL.stop()

    def cancel(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self.before or signal.SIG_DFL)


def _thread(seconds: float) -> threading.Timer:
    timer = threading.Timer(max(seconds, 0), _BELL.ring)
    timer.daemon = True
    timer.start()
    return timer


ALARM = _Signal if hasattr(signal, "setitimer") else _thread


class Check:
    """What all calls of an answer in one check may take together; it is called with each.

    The time is bound in the main thread, where all cells run. C code that counts without end and never looks up, as
    `sum(itertools.count())`, ends with the kernel alone.
    """

    def __init__(self):
        self.left = SECONDS
        self.heads = [_Head(sys.stdout, MOST_PRINTED), _Head(sys.stderr, MOST_PRINTED)]

    def __call__(self, call: Callable) -> object:
        streams, begun, alarm = (sys.stdout, sys.stderr), time.monotonic(), None
        sys.stdout, sys.stderr = self.heads
        try:
            if threading.current_thread() is threading.main_thread():
                _BELL.silent = False
                alarm = ALARM(self.left)
            return _inside(call)
        finally:
            _BELL.silent = True
            if alarm:
                alarm.cancel()
            self.left -= time.monotonic() - begun
            sys.stdout, sys.stderr = streams
            for head in self.heads:
                head.room = 0  # what the first call prints is enough

    def tell(self) -> None:
        """Says how much of what was printed is not shown."""
        if lines := sum(head.lines for head in self.heads):
            print(f"\n(What is printed is shown for the first input alone. {lines:,} more lines are left out.)")
