"""Where trained models are kept. On a machine that can't keep them, a warning says so, and training goes on."""

import atexit
import contextlib
import functools
import io
import os
import shutil
import tempfile
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path

import torch

from course_lib import files

ROOM = 10**7  # bytes, more than a model that a lesson trains
NOWHERE = Path(os.devnull, "nothing is kept here")


def cache_folder() -> Path:
    """Returns the folder that keeps trained models: `COURSE_CACHE`, or ~/.cache/attention-measured.

    If nothing can be kept there, a warning says why. Then `COURSE_CACHE` names a folder that goes with the process.
    """
    try:
        folder = files.own_folder("COURSE_CACHE")
        _check_room(folder)
        return folder
    except OSError as error:
        instead = _instead()
        os.environ["COURSE_CACHE"] = str(instead)  # worker processes use it, too
        warnings.warn(
            f"Trained models can't be kept: {error}. Training works all the same. To keep its models, set COURSE_CACHE "
            "to a folder that can be written, and start again.",
            stacklevel=2,
        )
        return instead


def _instead() -> Path:
    """Makes a folder that goes with the process; returns `NOWHERE` if there is no room for one."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="attention-measured-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        _check_room(folder)
        return folder
    except OSError:
        return NOWHERE


@functools.cache
def _check_room(folder: Path) -> None:
    """Raises OSError unless `ROOM` bytes can be written into the folder; asks once per process."""
    if folder != NOWHERE:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(ROOM))


@contextlib.contextmanager
def replacing(file: Path) -> Iterator[Path | io.BytesIO]:
    """Does the same as `files.replacing`, but if the file can't be written, it warns and raises no error.

    What is kept is a trained model, which the caller still has.
    """
    nowhere = io.BytesIO()
    try:
        with files.replacing(file) as beside:
            nowhere = None
            yield beside
    except (OSError, RuntimeError) as error:  # torch.save raises RuntimeError
        warnings.warn(f"This model is trained, but it could not be kept: {error}", stacklevel=3)
    if nowhere:
        yield nowhere


def set_damaged_aside(folder: Path) -> None:
    """Renames every model's file that isn't whole, with a warning, so that the model is trained again."""
    for file in folder.glob("*.pt"):
        with contextlib.suppress(FileNotFoundError):  # another process was faster
            found = file.stat()
            if not _is_whole(file, found.st_mtime_ns, found.st_size):
                aside = file.replace(file.with_suffix(".damaged"))
                told = f"A trained model's file is damaged. It is now {aside}; training runs again."
                warnings.warn(told, stacklevel=3)


@functools.cache
def _is_whole(file: Path, changed: int, size: int) -> bool:
    """Says whether a file can be read and has its checksums, which torch ignores; asks once per state of a file."""
    try:
        torch.load(file, weights_only=True)
        with zipfile.ZipFile(file) as archive:
            return archive.testzip() is None
    except Exception:  # damage has no limits
        return False
