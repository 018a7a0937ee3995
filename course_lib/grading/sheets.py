"""Reads the sheets that a learning platform gives out as CSV."""

import csv
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import dateutil.parser

from course_lib.grading.course import CourseError

SUBMITTED = re.compile(r"submission|abgabe|remise|entrega|consegna|inlever", re.IGNORECASE)  # in a worksheet's header


def read_sheet(file: Path) -> tuple[list[str], list[list[str]]]:
    """Returns the names of a sheet's columns, and its rows. Raises CourseError if there is no such file."""
    try:
        with file.open(encoding="utf-8-sig", newline="") as opened:
            head, *rows = [row for row in csv.reader(opened) if row] or [[]]
    except OSError:
        raise CourseError(f"There is no file {file}.") from None
    return head, rows


def people(head: list[str], rows: list[list[str]]) -> Iterator[tuple[str, list[str]]]:
    """Yields each person's number and row. Moodle ends the first column with the number; Canvas has a column ID."""
    who = head.index("ID") if "ID" in head else 0
    for row in rows:
        if number := re.search(r"\d+$", row[who]):
            yield number[0], row


def read_worksheet(file: Path) -> dict[str, datetime | None]:
    """Returns when each participant of Moodle's grading worksheet handed in, by number; None means never.

    Raises:
        CourseError: the file or its column is missing, or a date can't be read.
    """
    head, rows = read_sheet(file)
    when = next((place for place, column in enumerate(head) if SUBMITTED.search(column)), None)
    if when is None:
        there = ", ".join(head) or "none"
        raise CourseError(f"{file}: no column says when work was handed in (columns: {there}). Use Moodle's grading "
                          "worksheet, which has the column “Last modified (submission)”.")  # fmt: skip
    return {number: _date(row[when], file) for number, row in people(head, rows)}


def _date(text: str, file: Path) -> datetime | None:
    if text.strip() in ("", "-"):
        return None
    try:
        return dateutil.parser.parse(text, dayfirst=True).astimezone(UTC)
    except (OverflowError, ValueError):
        raise CourseError(f"{file}: the date {text!r} cannot be read. Set Moodle to English, and download the "
                          "worksheet again.") from None  # fmt: skip
