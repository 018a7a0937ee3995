"""Folders of the course, and functions to read and write files; a reader never sees a half-written file.

`course_lib.tools.environment` imports this module on a bare Python, so it must stay importable on Python 3.6.
"""

import codecs
import contextlib
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "course_lib" / "data"
CARRIED = ROOT / "course_lib" / "carried"  # in a wheel only; setup.py fills it
IN_CLONE = not CARRIED.exists()
COURSE = ROOT if IN_CLONE else CARRIED  # holds notebooks/ and glossary/
ENCODINGS = {  # by byte-order mark; the mark of UTF-32 begins with that of UTF-16, so UTF-32 comes first
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
    b"": "utf-8",
}


def own_folder(variable: str, *inside: str) -> Path:
    """Returns the folder that an environment variable names; without it, one in ~/.cache/attention-measured.

    Raises FileNotFoundError if there is neither the variable nor a home folder.
    """
    named = os.environ.get(variable)
    try:
        return Path(named) if named else Path.home().joinpath(".cache", "attention-measured", *inside)
    except RuntimeError:
        raise FileNotFoundError(f"no home folder is known; set {variable} to a folder") from None


def models_folder() -> Path:
    """Returns the folder that keeps models made by others: `COURSE_MODELS`, or ~/.cache/attention-measured/models."""
    return own_folder("COURSE_MODELS", "models")


def learner_folder() -> Path:
    """Returns the folder that holds the learner's workbook, which `COURSE_LEARNER` names.

    Without that variable it is the clone. Without a clone it is attention-measured/ in the current folder, or the
    current folder if that is its name.
    """
    here = Path.cwd()
    own = ROOT if IN_CLONE else here if here.name == "attention-measured" else here / "attention-measured"
    return Path(os.environ.get("COURSE_LEARNER") or own).expanduser().absolute()


def data_draw() -> int:
    """Returns which draw of the data this process uses: `COURSE_DRAW`, or 0, the lessons' own.

    Each draw makes other sentences and scenes, and holds out other topics and scans.
    """
    return int(os.environ.get("COURSE_DRAW") or 0)


def records_folder() -> Path:
    """Returns the folder that keeps recorded results and weights: `COURSE_RECORDS`, or the course's data."""
    return Path(os.environ.get("COURSE_RECORDS") or DATA)


@contextlib.contextmanager
def replacing(file: Path) -> "Iterator[Path]":
    """Gives a path to write to, and moves the file written there to `file` at the end, unless an error was raised.

    The path is in a new folder next to the file, so simultaneous writers do not collide.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=file.parent, prefix=".") as folder:
        beside = Path(folder) / file.name
        yield beside
        beside.replace(file)


def read_text(file: Path, errors: str = "strict") -> str:
    """Returns the text of a learner's file, with "\\n" at the end of each line.

    The byte-order mark decides the encoding (Excel's "Unicode Text" is UTF-16); without a mark it is UTF-8. With
    `errors="surrogateescape"`, bytes that are not UTF-8 become surrogates. Raises ValueError if the file is no text.
    """
    raw = file.read_bytes()
    mark = next(mark for mark in ENCODINGS if raw.startswith(mark))
    encoding, raw = ENCODINGS[mark], raw[len(mark) :]
    try:
        text = raw.decode(encoding, errors if encoding == "utf-8" else "strict")
    except UnicodeDecodeError as error:
        line = _with_plain_ends(raw[: error.start].decode(encoding)).count("\n") + 1
        place = f"byte {len(mark) + error.start + 1}, in line {line},"
        raise ValueError(f"{file}: {place} is not {encoding[:6].upper().rstrip('-')}; save it as UTF-8") from None
    text = _with_plain_ends(text)
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise ValueError(f"{file}: line {line} has a NUL, which no text in UTF-8 has; save it as UTF-8")
    return text


def _with_plain_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_json(file: Path) -> dict:
    """Returns the content of a JSON file, or an empty dict if there is no such file."""
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def write_json(file: Path, content: dict) -> None:
    """Replaces the file by one with this content, as JSON."""
    with replacing(file) as beside:
        beside.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
