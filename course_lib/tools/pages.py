"""Writes what is computed from the lessons: the glossary's index, the ledger of claims, and the lessons' minutes."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import nbformat

from course_lib import claims, effects, glossary
from course_lib.curriculum import name_of, number_of
from course_lib.files import ROOT
from course_lib.tools import confirm, hosted, lessons, seeds, slides, workbook

PROMISED = re.compile(r"(?<=\*\*Time:\*\* )\d+ minutes to read, \d+ as a lecture")  # in each lesson
OPENED = re.compile(r"(<!-- opened elsewhere: written by make pages -->).*?(<!-- end -->)", re.DOTALL)  # in README.md
NOWHERE = "Links to Colab, Kaggle and Binder appear here when `pyproject.toml` has the repository's address."
MOST_FIGURES = 4  # shown per verdict; its box shows all
PROVENANCE = {"recorded", "counted", "live"}  # the column `runs` says this for all figures of a verdict

INDEX = """# Glossary

Each entry gives the paper's definition, then what happens in practice, then the arithmetic in a few lines that run.
In a notebook, after `from course_lib import glossary`, `glossary.show("query")` shows an entry, and
`glossary.search("mask")` searches all of them. The [ledger of claims](claims.md) lists common claims about attention
and what we found when we tested them.
"""

CLAIMS = """# The ledger of claims

This page lists common claims about attention and what we found when we tested them. A verdict is computed from the
figures of an experiment or a proof, in the cell that the last column links to. Claims that need no experiment, or allow
none, are [settled on this page](#Settled-on-this-page).

The column *runs* says how often the verdict came out the same when the lesson ran with seeds that nobody picked, on
the plainest and on the richest instruction set of a processor (`make seeds`). If no run can change a verdict, the
column says what it rests on: records of several seeds, sentences that a real model was given, or arithmetic. A number
before a colon is the lesson's. `make pages` writes this page from the lessons' outputs.

Most conditions were written when the results were known. So all of them are frozen, with their hash, in
`course_lib/data/frozen.json`, and `make confirm` tests them on fresh data, with fresh seeds for the records too. The
same column says how often the verdict then came out the same.
"""

LINES = """## What counts as an effect

An effect is a mean with its 95 % interval. It is compared with its *line*, the smallest effect that matters, which is
the same in the whole course. *Holds* needs the whole interval beyond the line, and *does not hold* needs all of it on
the other side. Otherwise the claim is *undecided*. *Holds only if …* needs two things: the claim holds under the
condition, and as people say it, it does not. We drew these lines when most results were known. No result made after
this can move them.
"""


class Verdict(NamedTuple):
    """Holds one verdict on a claim: a lesson's name or "page", a link to the cell, and the box's record.

    `runs` says what came out with other seeds, and `confirmed` what came out on fresh data.
    """

    place: str
    link: str
    record: dict
    runs: str
    confirmed: str


def write() -> list[Path]:
    """Writes the pages that have changed, and returns their files."""
    pages = {glossary.FOLDER / "README.md": index(), glossary.FOLDER / "claims.md": ledger_of_claims(verdicts())}
    pages |= with_minutes()
    pages |= with_address(pages, hosted.here())
    changed = [file for file, text in pages.items() if not file.exists() or file.read_text("utf-8") != text]
    for file in changed:
        file.write_text(pages[file], encoding="utf-8")
    return changed


# ---- the minutes ----


def with_minutes() -> dict[Path, str]:
    """Returns the texts of the lessons and `start.md` with the minutes that the lessons take."""
    start = lessons.NOTEBOOKS / workbook.START
    pages = {start: start.read_text("utf-8")}
    for path in lessons.find():
        notebook = nbformat.read(path, as_version=4)
        reading, lecture = lessons.minutes_to_read(notebook), sum(m for *_, m in slides.time_plan(notebook))
        pages[path] = PROMISED.sub(f"{reading} minutes to read, {lecture} as a lecture", path.read_text("utf-8"))
        pages[start] = re.sub(rf"(\({path.name}\).* \| )\d+(?= \|)", rf"\g<1>{reading}", pages[start])
    return pages


# ---- the repository's address ----


def with_address(pages: Mapping[Path, str], address: str) -> dict[Path, str]:
    """Returns the texts of all notebooks and of README.md with the repository's address; `pages` has newer texts."""
    notebooks = [*lessons.find(), *lessons.find(folder="exercises")]
    texts = {path: pages.get(path) or path.read_text("utf-8") for path in notebooks}
    written = {path: hosted.SOURCE.sub(hosted.source(address), text) for path, text in texts.items()}
    links = [f"[{name}]({link})" for name, link in hosted.services(f"notebooks/{notebooks[1].name}", address).items()]
    told = f"Open lesson 1 in {' · '.join(links)}." if links else NOWHERE
    readme = (ROOT / "README.md").read_text("utf-8")
    return {**written, ROOT / "README.md": OPENED.sub(lambda marks: f"{marks[1]}\n{told}\n{marks[2]}", readme)}


# ---- the index ----


def index() -> str:
    """Returns the index: entries by the first lesson that teaches them, each with its first sentence."""
    text = [INDEX]
    for path in lessons.find():
        taught = [e for e in glossary.entries().values() if path.name in glossary.LINK.search(e.header["lesson"])[2]]
        rows = [f"| [{entry.term}]({entry.name}.md) | {entry.in_short} |" for entry in taught]
        head = ["", f"## [{title(path)}](../notebooks/{path.name})", "", "| term | in one sentence |", "|---|---|"]
        text += [*head, *rows] if taught else []
    return "\n".join(text) + "\n"


def title(path: Path) -> str:
    """Returns a lesson's title."""
    return nbformat.read(path, as_version=4).cells[0].source.splitlines()[0].removeprefix("# ")


# ---- the claims ----


def verdicts() -> dict[str, list[Verdict]]:
    """Returns the verdicts by claim: those in the lessons' boxes, then those settled on the page."""
    found = {claim: [] for claim in claims.ledger()}
    tried, confirmed = seeds.kept(), confirm.kept()
    for path in lessons.find():
        heading = ""
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "markdown":
                heading = (re.findall(r"^#+ (.+)", cell.source, re.MULTILINE) or [heading])[-1]
            for record in claims.boxes({"cells": [cell]}):
                name = name_of(path)
                link = f"[lesson {number_of(name)}: {heading}](../notebooks/{path.name}#cell-id={cell.id})"
                runs = seeds.same(record, _entry(tried, name, record))
                fresh = confirm.same(record, _entry(confirmed, name, record))
                found[record["id"]].append(Verdict(name, link, record, runs, fresh))
    for claim, said in claims.ledger().items():
        if said["tested_in"] == "page":
            found[claim].append(Verdict("page", f"[below](#{claim})", claims.settled(claim), "", ""))
    return found


def _entry(kept: Mapping, lesson: str, record: Mapping) -> dict | None:
    return kept.get(lesson, {}).get("claims", {}).get(record["id"])


def lacking(found: Mapping[str, list[Verdict]]) -> list[str]:
    """Returns complaints about claims without a verdict that the ledger requires, and verdicts without a figure."""
    complaints = []
    for claim, said in claims.ledger().items():
        tested_in = said["tested_in"]
        wanted = tested_in if isinstance(tested_in, list) else [tested_in] if tested_in == "page" else []
        places = {verdict.place for verdict in found[claim]}
        complaints += [f"{claim} has no verdict in {place}" for place in wanted if place not in places]
        for verdict in found[claim]:
            if not verdict.record["figures"] and verdict.record["kind"] != claims.UNTESTABLE:
                complaints.append(f"{claim} has a verdict in {verdict.place} but no figure")
    return complaints


def ledger_of_claims(found: Mapping[str, list[Verdict]]) -> str:
    """Returns a row per claim, then what is settled on the page. Raises ValueError if a verdict is missing."""
    if complaints := lacking(found):
        raise ValueError(f"{'; '.join(complaints)}; `make notebooks` runs the lessons")
    counts = Counter(verdict.record["verdict"] for every in found.values() for verdict in every)
    total = ", ".join(f"{counts[name]} {claims.answer(name)}" for name in claims.SIGNS)
    waiting = sum(not every for every in found.values())
    return "\n".join(
        [
            CLAIMS,
            f"{len(found)} claims, {counts.total()} verdicts: {total}; {waiting} claims wait for their lesson.\n",
            f"{survived(found)}\n",
            "| id | claim | said by | verdict | what came out | runs | where |\n|---|---|---|---|---|---|---|",
            *(_row(claim, every) for claim, every in found.items()),
            f"\n{LINES}\n| unit | line | why |\n|---|---|---|",
            *(
                f"| {name} | {claims.shown(unit['line'])} | {unit['because']} |"
                for name, unit in effects.units().items()
            ),
            "\n## Who says it\n",
            *(f"- {name}: {text}" for name, text in claims.sources().items()),
            "\n## Settled on this page\n",
            *(_settled(claim, v.record) for claim, every in found.items() for v in every if v.place == "page"),
        ]
    )


def survived(found: Mapping[str, list[Verdict]]) -> str:
    """Returns in words how many verdicts were run on fresh data, and how many came out the same in every run."""
    told = [verdict.confirmed for every in found.values() for verdict in every if verdict.confirmed]
    ran = [line.split(" of ") for line in told if " of " in line]
    same = sum(one == of for one, of in ran)
    if not ran:
        return f"None of the {len(told)} verdicts that a run can change was run on fresh data yet."
    return (
        f"Of the {len(told)} verdicts that a run can change, {len(ran)} were run on fresh data and with fresh seeds; "
        f"{same} of these came out the same in every run."
    )


def _row(claim: str, every: list[Verdict]) -> str:
    columns = [[], [], [], []]
    for place, link, record, runs, confirmed in every:
        deciding = claims.deciding(record)
        figures = _figures(record, deciding)
        more = [f"and {len(figures) - MOST_FIGURES} more"] if len(figures) > MOST_FIGURES else []
        found = record["finding"] or "; ".join(figures[:MOST_FIGURES] + more)
        effects_of = _figures(record, filter(record["effects"].get, deciding))
        if record["finding"] and effects_of:
            found += f" ({'; '.join(effects_of)})"
        fresh = f"fresh data: {confirmed}" if confirmed else ""
        cells = _outcome(record), found, "; ".join(filter(None, (runs, fresh))), link
        for column, text in zip(columns, cells, strict=True):
            before = place if place == "page" else number_of(place)
            column.append(f"{before}: {text}" if len(every) > 1 and text is not link else text)
    said = claims.ledger()[claim]
    sentence = said["sentence"] + (f" (in other words: {said['sense']})" if "sense" in said else "")
    cells = [claim, sentence, said["said_by"], *("<br>".join(column) for column in columns)]
    if not every:
        cells[3] = "waits for its lesson"
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def _outcome(record: Mapping) -> str:
    result, on = record["verdict"], record["measured_on"]
    told = claims.outcome(record).replace(result, f"**{result}**", 1)
    return f"{claims.SIGNS[result][0]} {told}" + f" ({on})" * bool(on)


def _figures(record: Mapping, names: Iterable[str]) -> list[str]:
    return [f"{in_words(name)} {claims.shown_of(record, name)}" for name in names]


def in_words(figure: str) -> str:
    """Returns a figure's name as words, without those that say where it comes from."""
    return " ".join(word for word in figure.split("_") if word not in PROVENANCE)


def _settled(claim: str, record: Mapping) -> str:
    said = claims.ledger()[claim]
    arithmetic = said["settled"].get("arithmetic", "").strip()
    parts = [
        f"### {claim}",
        f"{said['sentence']} ({said['said_by']})",
        said["settled"]["because"].strip(),
        f"```python\n{arithmetic}\n```" if arithmetic else "",
        "; ".join(_figures(record, record["figures"])),
        f"{_outcome(record)} · {record['kind']}" if record["kind"] != record["verdict"] else _outcome(record),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"
