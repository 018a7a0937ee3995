"""Where exercises, sections and glossary entries lie, and Markdown links that lead there.

What a link leads to is a cell by its id: ids are the same in the course and in every workbook, whatever a learner has
written into the cells.
"""

import os
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from urllib.parse import quote

from course_lib import glossary
from course_lib.curriculum import NUMBERS, number_of
from course_lib.files import ROOT, read_json

NOTEBOOKS = ROOT / "notebooks"
HEADING = re.compile(r"^(#+) (?:\d+ · )?(.+)$", re.MULTILINE)
READ_ON = re.compile(  # in what an exercise says of where to read on
    r'lesson (?P<lesson>\d+)(?:, "(?P<section>[^"]+)")?|exercise (?P<exercise>\d)|glossary\.show\("(?P<term>[^"]+)"\)'
)


def stem(lesson: str) -> str:
    """The name of a lesson's notebook, without its ending."""
    return f"{number_of(lesson):02}_{lesson}"


@cache
def _cells(path: str) -> Sequence[tuple[str, str, str]]:
    """Id, type and source of each cell of one of the course's notebooks; none if it is not there."""
    cells = read_json(NOTEBOOKS / path).get("cells", [])
    return [(cell.get("id", ""), cell["cell_type"], "".join(cell["source"])) for cell in cells]


def _headings(path: str) -> list[tuple[str, str, str]]:
    """Of each heading: its words with their number, the words alone, and its cell."""
    return [
        (found[0].lstrip("# "), found[2], cell)
        for cell, kind, source in _cells(path)
        if kind == "markdown"
        for found in HEADING.finditer(source)
    ]


def _letters(text: str) -> str:
    """What is compared of two headings, one of which may have stress or formulas."""
    return re.sub(r"[\W_]", "", text.replace("√", "sqrt")).casefold()


def title(lesson: str) -> str:
    """What its notebook's heading calls a lesson."""
    headings = _headings(f"{stem(lesson)}.ipynb")
    return headings[0][1] if headings else lesson


def section(lesson: str, words: str) -> str | None:
    """The place of a section of a lesson, None if it has none of that name."""
    path = f"{stem(lesson)}.ipynb"
    cells = [cell for _, heading, cell in _headings(path) if _letters(heading) == _letters(words)]
    return f"{path}#cell-id={cells[0]}" if cells else None


def exercise(name: str, lesson: str) -> tuple[str, str]:
    """What the heading above an exercise says, and its place; its name and its notebook, if it is not found there."""
    path = f"exercises/{stem(lesson)}.ipynb"
    found = name, path
    for cell, kind, source in _cells(path):
        if kind == "markdown" and (headings := HEADING.findall(source)):
            found = headings[-1][1], f"{path}#cell-id={cell}"
        elif f'checks.check("{name}"' in source:
            return found
    return name, path


def link(words: str, place: str, home: Path, here: Path) -> str:
    """A link from the folder `here` to a place in `home`, the workbook or the course's notebooks."""
    path, _, cell = place.partition("#")
    target = quote(os.path.relpath(home / path, here).replace(os.sep, "/"))
    return f"[{words}]({target}{'#' if cell else ''}{cell})"


def linked(see: str, lesson: str, home: Path, here: Path) -> str:
    """What is said of where to read on, with links to what is there."""

    def one(found: re.Match) -> str:
        place = None
        if found["term"]:
            try:
                entry = glossary.find(found["term"])
            except (LookupError, FileNotFoundError):
                return found[0]
            return link(found[0], f"{entry.name}.md", glossary.FOLDER, here)
        if found["exercise"]:
            numbered = [cell for words, _, cell in _headings(f"exercises/{stem(lesson)}.ipynb")
                        if words.startswith(f"{found['exercise']} · ")]  # fmt: skip
            place = f"exercises/{stem(lesson)}.ipynb#cell-id={numbered[0]}" if numbered else None
        elif of := next((name for name, number in NUMBERS.items() if number == int(found["lesson"])), None):
            place = (found["section"] and section(of, found["section"])) or f"{stem(of)}.ipynb"
        return link(found[0], place, home, here) if place else found[0]

    return READ_ON.sub(one, see)


def following(passed: Mapping[str, str], lessons: Mapping[str, str], home: Path, here: Path, after: str = "") -> str:
    """Which exercise comes next, as a line of Markdown: the first open one, from the lesson on that was worked on last.

    Where nothing of its lesson is done yet, the lesson comes first. In the end it says that all is done.

    Args:
        passed: what is done, by name, the last at the end.
        lessons: the lesson of every exercise, by name, in their order.
        after: what was done again just now.
    """
    names = list(lessons)
    last = after or next((name for name in reversed(passed) if name in lessons), "")
    at = list(lessons.values()).index(lessons[last]) if last in lessons else 0
    left = [name for name in names[at:] + names[:at] if name not in passed]
    if not left:
        return "All exercises are done."
    lesson = lessons[left[0]]
    words, place = exercise(left[0], lesson)
    begun = any(of == lesson for name, of in lessons.items() if name in passed)
    if begun:
        return f"Next: {link(words, place, home, here)} (`{left[0]}`)"
    first = link(f"lesson {number_of(lesson)}, {title(lesson)}", f"{stem(lesson)}.ipynb", home, here)
    return f"Next: {first}, then {link(words, place, home, here)} (`{left[0]}`)"
