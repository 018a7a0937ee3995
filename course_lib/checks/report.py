"""Writes progress.html, a page in the workbook that lists each exercise with its tries, to print or to show.

It tells what is in two files of the learner, the log of the checks and the record of what is done, and nothing else.
"""

import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from course_lib.checks import places, quiz, record
from course_lib.checks.told import BLANK, RESULTS, RIGHT, inline
from course_lib.curriculum import number_of
from course_lib.files import DATA, replacing

PAGE = "progress.html"
DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
LINE = re.compile(rf"(\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d) (\w+) ({'|'.join(RESULTS.values())})")
HEAD = "exercise", "points", "first solved", "tries until then"
QUIZ_HEAD = "lesson", "before", "after", "to review"
NO_PROOF = (
    f"This page is a report to oneself and no proof. It comes from two files that the learner can edit, `{record.TRIES}` "
    f"and `{record.FILE}`. Marks come from the instructor's own run."
)
TRY = "A try is a check that finds an answer, right or wrong. A check that finds a blank doesn't count."
NOT_LOGGED = f"*Not logged* means that `{record.FILE}` has a day, but `{record.TRIES}` doesn't have the tries up to it."

Try = tuple[datetime, str, str]  # when, the exercise's name, and the result


def told(folder: Path, lessons: Mapping[str, str]) -> str:
    """Writes the page and returns a line of Markdown that links it, or says why it couldn't be written."""
    try:
        write(folder, lessons)
    except OSError as error:
        return " ".join([f"`{PAGE}` wasn't written: {error}.", *_unlogged(folder)])
    return f"{places.link(PAGE, PAGE, folder, Path.cwd())} has a list with times and tries, to print or to show."


def write(folder: Path, lessons: Mapping[str, str]) -> None:
    """Writes the page.

    Args:
        folder: the workbook.
        lessons: the lesson of every exercise, by name.
    Raises:
        FileExistsError: there is a file of this name that isn't as this function has written it.
        OSError: the folder can't be written to.
        ValueError: the record of what is done can't be read.
    """
    page = folder / PAGE
    if page.exists() and not _is_as_written(page.read_bytes()):
        raise FileExistsError(
            f"{page} isn't as course_lib.progress() left it; rename it, then call course_lib.progress() again"
        )
    with replacing(page) as beside:
        beside.write_bytes(_signed(_page(folder, lessons)))


def _signed(page: str) -> bytes:
    """A page under a line with its hash, by which a changed page is recognised."""
    sign = hashlib.sha256(page.encode()).hexdigest()[:16]
    return f"<!-- written by course_lib.progress(), {sign} -->\n{page}".encode()


def _is_as_written(found: bytes) -> bool:
    return found == _signed(found.decode(errors="replace").partition("\n")[2])


def tries(folder: Path, names: Collection[str]) -> tuple[list[Try], int]:
    """Returns the checks in the log, and how many lines are damaged or have none of these names."""
    try:
        text = (folder / record.TRIES).read_text(encoding="utf-8-sig", errors="replace")
    except OSError:  # there is none yet, or it can't be read
        return [], 0
    found = [_read(line.strip(), names) for line in text.splitlines() if line.strip()]
    return [one for one in found if one], found.count(None)


def _read(line: str, names: Collection[str]) -> Try | None:
    parts = LINE.fullmatch(line)
    if not parts or parts[2] not in names:
        return None
    try:
        return datetime.fromisoformat(parts[1]), parts[2], parts[3]
    except ValueError:  # such as a 13th month
        return None


def _unlogged(folder: Path) -> list[str]:
    """Says so if new checks can't be logged."""
    try:
        record.append(folder, "")
    except OSError:
        return [f"Checks aren't logged at the moment, because `{record.TRIES}` can't be written."]
    return []


def _standing(name: str, logged: Sequence[Try], passed: Mapping[str, str]) -> tuple[str, str]:
    """When an exercise was first solved, or nothing if it wasn't, and the tries until then."""
    results = [(when, result) for when, of, result in logged if of == name and result != RESULTS[BLANK]]
    until = next((n for n, (_, result) in enumerate(results, 1) if result == RESULTS[RIGHT]), 0)
    solved = _moment(results[until - 1][0]) if until else ""
    day = passed[name] if DAY.fullmatch(str(passed.get(name))) else "no day"
    if name in passed and (not until or day < solved[:10]):
        return day, "not logged"
    return solved, str(until or f"{len(results)} so far")


def _moment(when: datetime) -> str:
    return f"{when:%Y-%m-%d %H:%M}"


def _page(folder: Path, lessons: Mapping[str, str]) -> str:
    logged, skipped = tries(folder, {*lessons, *quiz.names()})
    passed = record.done(folder)
    standing = {name: _standing(name, logged, passed) for name in lessons}
    taken = list(dict.fromkeys(lessons.values()))
    points = {name: worth for lesson in taken for name, worth in places.points(lesson).items()}

    def sums(names: Sequence[str]) -> str:
        solved = [name for name in names if standing[name][0]]
        earned, all_points = (sum(points[name] for name in some) for some in (solved, names))
        return f"{len(solved)} of {len(names)} exercises solved, {earned} of {all_points} points"

    sections = []
    for lesson in taken:
        names = [name for name in lessons if lessons[name] == lesson]
        heading = f"<h2>{number_of(lesson)} · {inline(places.title(lesson))}</h2><p>{sums(names)}</p>"
        rows = [_row(name, lesson, points[name], *standing[name]) for name in names]
        sections.append(f"<section>{heading}{_table(HEAD, rows)}</section>")
    if quizzes := quiz.standing({name: result for _, name, result in logged}):
        table = _table(QUIZ_HEAD, [_quiz_row(lesson, *stood) for lesson, stood in quizzes.items()])
        sections.append(f'<section class="quiz"><h2>Questions before and after a lesson</h2>{table}</section>')
    begin = f"`{record.TRIES}` begins on {_moment(logged[0][0])}." if logged else f"`{record.TRIES}` has no checks yet."
    about = [NO_PROOF, f"{TRY} {begin} {NOT_LOGGED}", *_unlogged(folder)]
    if skipped:
        about.append(
            f"Lines of `{record.TRIES}` that were left out, since they name no check of this course: {skipped}."
        )
    made = f"`course_lib.progress()` wrote this page on {_moment(datetime.now())} and writes it again at each call."
    return f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>My progress in Attention, Measured</title>
<style>
{(DATA / "progress.css").read_text(encoding="utf-8")}</style>
<h1>My progress in Attention, Measured</h1>
<p><b>{sums(list(lessons))}</b></p>
<div class="about">{"".join(f"<p>{inline(line)}</p>" for line in about)}</div>
{"".join(sections)}
<footer>{inline(made)} A page that somebody has changed stays as it is.</footer>
</html>
"""


def _table(head: Sequence[str], rows: Sequence[str]) -> str:
    named = "".join(f"<th scope=col>{name}</th>" for name in head)
    return f"<table><thead><tr>{named}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _row(name: str, lesson: str, points: int, solved: str, said: str) -> str:
    heading = f"{inline(places.exercise(name, lesson)[0])} <code>{name}</code>"
    parts = "".join(f" <span>{part}</span>" for part in solved.split())
    when = f"<td>✓{parts}</td>" if solved else "<td>○ open</td>"
    return f"<tr><th scope=row>{heading}</th><td>{points}</td>{when}<td>{said}</td></tr>"


def _quiz_row(lesson: str, counts: Sequence[str], missed: Sequence[str]) -> str:
    right = "".join(f"<td>{count}</td>" for count in counts)
    review = "<br>".join(map(inline, missed)) or "nothing"
    return f"<tr><th scope=row>{number_of(lesson)} · {inline(places.title(lesson))}</th>{right}<td>{review}</td></tr>"
