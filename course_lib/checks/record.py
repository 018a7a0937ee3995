"""Records in the workbook which exercises are done, and logs each check, in small files that the learner can read."""

import contextlib
import json
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from course_lib.checks import places
from course_lib.curriculum import number_of
from course_lib.files import replacing, write_json

FILE = "progress.json"
TRIES = "tries.txt"
START = "start.md"
MARKS = "<!-- progress: written by the checks -->", "<!-- end of progress -->"
HEADLINE_MARKS = "<!-- next: written by the checks -->", "<!-- end of next -->"
# On the start page, including both marks:
TABLE, HEADLINE = (re.compile(".*?".join(map(re.escape, marks)), re.DOTALL) for marks in (MARKS, HEADLINE_MARKS))


def workbook() -> Path | None:
    """The workbook that contains this notebook, or None outside a workbook."""
    here = Path.cwd().resolve()
    return next((folder for folder in (here, *here.parents) if (folder / FILE).is_file()), None)


def home() -> Path:
    """The folder that links lead into: the workbook, or outside a workbook the course's own notebooks."""
    return workbook() or places.NOTEBOOKS


def done(folder: Path | None) -> dict[str, str]:
    """Returns the finished exercises, each with the day on which it first passed.

    Raises ValueError if the file can't be read.
    """
    if folder is None:
        return {}
    try:
        return dict(json.loads((folder / FILE).read_text(encoding="utf-8") or "{}"))
    except ValueError:
        raise ValueError(f"{folder / FILE} is not valid JSON; fix it, or empty it to start again") from None


def remember(name: str, lessons: Mapping[str, str]) -> None:
    """Records an exercise as done, and shows it on the start page. Outside a workbook it records nothing.

    Args:
        name: name of the exercise.
        lessons: the lesson of every exercise, by name.
    """
    folder = workbook()
    if folder is None or name in (before := done(folder)):
        return
    after = {**before, name: f"{datetime.now():%Y-%m-%d}"}
    write_json(folder / FILE, after)
    show(folder, lessons)


def note(name: str, result: str) -> None:
    """Logs a check in the workbook. Outside a workbook, or if the log can't be written, it does nothing.

    Args:
        name: name of the exercise, or of an answer to a quiz.
        result: "right", "wrong" or "blank".
    """
    when = datetime.now().astimezone().isoformat(timespec="seconds")
    with contextlib.suppress(OSError):
        if folder := workbook():
            # The line break comes first, so a line cut short spoils no other.
            append(folder, f"\n{when} {name} {result}")


def append(folder: Path, text: str) -> None:
    """Adds a text to the log, in one write to its end, since other kernels may add to it at the same time."""
    with open(folder / TRIES, "ab", buffering=0) as log:
        log.write(text.encode())


def show(folder: Path, lessons: Mapping[str, str]) -> None:
    """Writes the next exercise and the table between their marks on the start page; leaves a page without marks as it is."""
    page = folder / START
    text = page.read_text(encoding="utf-8") if page.is_file() else ""
    passed = done(folder)
    following = places.following(passed, lessons, folder, folder)
    table = "\n".join([MARKS[0], "", following, "", *rows(passed, lessons), "", MARKS[1]])
    headline = "\n".join([HEADLINE_MARKS[0], "", f"## → {following}", "", HEADLINE_MARKS[1]])
    new = HEADLINE.sub(lambda _: headline, TABLE.sub(lambda _: table, text)) if passed else text
    if new != text:
        with replacing(page) as beside:
            beside.write_text(new, encoding="utf-8")


def rows(passed: Mapping[str, str], lessons: Mapping[str, str]) -> list[str]:
    """A Markdown table of the finished exercises and the next one, lesson by lesson."""
    table = ["| exercises of lesson | done | next |", "|---|---|---|"]
    for lesson in sorted(set(lessons.values()), key=number_of):
        names = [name for name, of in lessons.items() if of == lesson]
        ticks = "".join("✓" if name in passed else "○" for name in names)
        left = [name for name in names if name not in passed]
        table.append(
            f"| {number_of(lesson)} | {ticks} {len(names) - len(left)} of {len(names)} | {left[0] if left else 'all done'} |"
        )
    return table
