"""Limits how long an answer may compute in a check, how large its result may be, and how much it may print."""

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
LARGEST = 1_000_000  # numbers and characters of a result
MOST_PRINTED = 4_000  # characters


class BeyondError(BaseException):
    """An answer exceeds a limit. No `except Exception:` in an answer catches this."""


class TooLongError(BeyondError):
    """The answer takes too long."""


class TooLargeError(BeyondError):
    """A result is too large to be compared."""


class UnreadableError(Exception):
    """Replaces an error whose text cannot be read; `type_name` is the type of that error."""

    def __init__(self, error: BaseException):
        super().__init__("(its text raises an error, too)")
        self.type_name = type(error).__name__
        self.__traceback__ = error.__traceback__


def readable(error: BaseException) -> BaseException:
    """Returns the error itself if its text can be read, else an UnreadableError."""
    try:
        str(error)
    except Exception:
        return UnreadableError(error)
    return error


# ---- size ----


def refuse_large(value: object) -> None:
    """Raises TooLargeError for more than LARGEST numbers. It reads only shapes and lengths, and copies nothing."""
    if _size(value, LARGEST) > LARGEST:
        raise TooLargeError(value)


def _size(value: object, room: int) -> int:
    """Counts the numbers and characters of a value; stops once the count exceeds `room`."""
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


_inside = lambda call: call()  # noqa: E731 - its frame marks what may be stopped, so nothing may wrap it


class _Bell:
    """Rings in the main thread until it is silent. Each ring raises TooLongError in the call that is running there.

    On every system, Python makes pending calls between two steps of the main thread. When one raises, the next comes one
    step later, so an `except:` that swallows the first meets another. A pending call must be a C function that returns
    -1 after raising, such as `PyObject_IsTrue`, which asks an object for its truth value.
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


_BELL = _Bell()  # never deleted, since a pending call may come late


# ---- one check ----


class _Head(io.TextIOBase):
    """Passes on the beginning of printed text, and counts the lines that it leaves out."""

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
    """Rings even while C code sleeps or matches a pattern; not available on Windows."""

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
    """Runs each call of an answer, and limits the time of all calls in one check together.

    The limit works in the main thread, where all cells run. C code that loops forever without checking for signals, such
    as `sum(itertools.count())`, ends only with the kernel.
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
                head.room = 0  # the first call's output is enough

    def tell(self) -> None:
        """Prints how many printed lines were left out."""
        if lines := sum(head.lines for head in self.heads):
            print(f"\n(Printed output is shown only for the first input; {lines:,} more lines are left out.)")
