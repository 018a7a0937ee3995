"""Finds exercises, sections and glossary entries, and writes Markdown links to them.

A link points to a cell by its id. Ids are the same in the course and in every workbook, whatever a learner has written
into the cells.
"""

import os
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from urllib.parse import quote

from course_lib import glossary
from course_lib.curriculum import NUMBERS, number_of
from course_lib.files import COURSE, read_json

NOTEBOOKS = COURSE / "notebooks"
HEADING = re.compile(r"^(#+) (?:\d+ · )?(.+)$", re.MULTILINE)
READ_ON = re.compile(  # places named in an exercise's `see`
    r'lesson (?P<lesson>\d+)(?:, "(?P<section>[^"]+)")?|exercise (?P<exercise>\d)|glossary\.show\("(?P<term>[^"]+)"\)'
)


def stem(lesson: str) -> str:
    """The file name of a lesson's notebook, without its suffix."""
    return f"{number_of(lesson):02}_{lesson}"


@cache
def _cells(path: str) -> Sequence[tuple[str, str, str]]:
    """Id, type and source of each cell of a course notebook; empty if the notebook doesn't exist."""
    cells = read_json(NOTEBOOKS / path).get("cells", [])
    return [(cell.get("id", ""), cell["cell_type"], "".join(cell["source"])) for cell in cells]


def _headings(path: str) -> list[tuple[str, str, str]]:
    """For each heading, its words with the number, its words alone, and its cell."""
    return [
        (found[0].lstrip("# "), found[2], cell)
        for cell, kind, source in _cells(path)
        if kind == "markdown"
        for found in HEADING.finditer(source)
    ]


def _letters(text: str) -> str:
    """The letters by which two headings are compared, without emphasis and formulas."""
    return re.sub(r"[\W_]", "", text.replace("√", "sqrt")).casefold()


def title(lesson: str) -> str:
    """The title of a lesson, from its notebook's heading."""
    headings = _headings(f"{stem(lesson)}.ipynb")
    return headings[0][1] if headings else lesson


def section(lesson: str, words: str) -> str | None:
    """The link target of a lesson's section; None if the lesson has no section of that name."""
    path = f"{stem(lesson)}.ipynb"
    cells = [cell for _, heading, cell in _headings(path) if _letters(heading) == _letters(words)]
    return f"{path}#cell-id={cells[0]}" if cells else None


def exercise(name: str, lesson: str) -> tuple[str, str]:
    """The heading above an exercise and its link target; if there is none, the exercise's name and notebook."""
    path = f"exercises/{stem(lesson)}.ipynb"
    found = name, path
    for cell, kind, source in _cells(path):
        if kind == "markdown" and (headings := HEADING.findall(source)):
            found = headings[-1][1], f"{path}#cell-id={cell}"
        elif f'checks.check("{name}"' in source:
            return found
    return name, path


@cache
def points(lesson: str) -> Mapping[str, int]:
    """The points of a lesson's exercises, by their names."""
    cells = read_json(NOTEBOOKS / f"exercises/{stem(lesson)}.ipynb").get("cells", [])
    marks = [cell["metadata"].get("nbgrader", {}) for cell in cells]
    return {mark["grade_id"].removeprefix("check_"): mark["points"] for mark in marks if mark.get("grade")}


def link(words: str, place: str, home: Path, here: Path) -> str:
    """A Markdown link from the folder `here` to a target in `home`, the workbook or the course's notebooks."""
    path, _, cell = place.partition("#")
    target = quote(os.path.relpath(home / path, here).replace(os.sep, "/"))
    return f"[{words}]({target}{'#' if cell else ''}{cell})"


def linked(see: str, lesson: str, home: Path, here: Path) -> str:
    """Returns `see`, where an exercise says what to read, with links added."""

    def one(found: re.Match) -> str:
        place = None
        if found["term"]:
            try:
                entry = glossary.find(found["term"])
            except (LookupError, FileNotFoundError):
                return found[0]
            return link(found[0], f"{entry.name}.md", glossary.nearby(), here)
        if found["exercise"]:
            numbered = [cell for words, _, cell in _headings(f"exercises/{stem(lesson)}.ipynb")
                        if words.startswith(f"{found['exercise']} · ")]  # fmt: skip
            place = f"exercises/{stem(lesson)}.ipynb#cell-id={numbered[0]}" if numbered else None
        elif of := next((name for name, number in NUMBERS.items() if number == int(found["lesson"])), None):
            place = (found["section"] and section(of, found["section"])) or f"{stem(of)}.ipynb"
        return link(found[0], place, home, here) if place else found[0]

    return READ_ON.sub(one, see)


def following(passed: Mapping[str, str], lessons: Mapping[str, str], home: Path, here: Path, after: str = "") -> str:
    """Names the next exercise in a line of Markdown: the first open one, beginning with the lesson worked on last.

    If none of that exercise's lesson is done yet, the line names the lesson first. If nothing is open, it says so.

    Args:
        passed: finished exercises by name, the latest last.
        lessons: the lesson of every exercise, by name, in order.
        after: the exercise that was just done again.
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
