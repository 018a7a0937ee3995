"""Where the course lies, and how a file is written so that no reader meets half of it.

`course_lib.tools.environment` imports it on a bare Python, so its grammar stays that of Python 3.6.
"""

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "course_lib" / "data"


def cache_folder() -> Path:
    """Where trained models are kept: `COURSE_CACHE`, or a folder of your own."""
    return Path(os.environ.get("COURSE_CACHE") or Path.home() / ".cache" / "attention-measured")


@contextlib.contextmanager
def replacing(file: Path) -> Iterator[Path]:
    """Gives a path to write to; what lies there at the end takes the file's place, if nothing was raised.

    The path is in a new folder beside the file, so writers at the same time do not meet.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=file.parent, prefix=".") as folder:
        beside = Path(folder) / file.name
        yield beside
        beside.replace(file)


def read_json(file: Path) -> dict:
    """What the file holds; nothing if there is no such file."""
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def write_json(file: Path, content: dict) -> None:
    """Puts it in place of what the file holds."""
    with replacing(file) as beside:
        beside.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
