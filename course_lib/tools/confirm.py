"""Freezes the conditions of all verdicts, then runs the lessons on data and with seeds that nobody has seen.

A run has a draw of the data (`files.data_draw`) and an instruction set. It records a lesson's experiments once more,
into a folder of its own, executes the whole lesson, and keeps each verdict with its deciding figures.
"""

import hashlib
import json
import platform
from collections.abc import Mapping
from datetime import date
from pathlib import Path

import nbformat
import torch

from course_lib import effects
from course_lib.claims import boxes, deciding, rests_on
from course_lib.curriculum import name_of
from course_lib.files import DATA, ROOT, read_json, write_json
from course_lib.tools import lessons, recording, seeds

FROZEN, CONFIRMED = DATA / "frozen.json", DATA / "confirmed.json"
RECORDS = ROOT / "build" / "confirm"


def conditions() -> dict[str, dict[str, list[str]]]:
    """Returns the conditions of the saved lessons' verdicts that an experiment decides, by lesson and claim."""
    return {
        name_of(path): {b["id"]: seeds.conditions(b) for b in boxes(nbformat.read(path, as_version=4)) if runs(b)}
        for path in lessons.find()
    }


def runs(box: Mapping) -> bool:
    """Says whether a run can confirm a verdict; a proof and a claim that can't be tested need none.

    A real model doesn't change, but each draw asks it about other sentences.
    """
    return rests_on(box) in ("this run", "records") or box["measured_on"] == "a real model"


def freeze() -> list[tuple[str, str]]:
    """Writes today's conditions and lines with their hash; returns what `thawed` returned before."""
    changed = thawed()
    frozen = {"lines": _lines(), "conditions": conditions()}
    write_json(FROZEN, {"day": f"{date.today()}", "hash": hash_of(frozen), **frozen})
    return changed


def _lines() -> dict[str, float]:
    return {name: unit["line"] for name, unit in effects.units().items()}


def hash_of(frozen: Mapping) -> str:
    """Returns the SHA-256 of the lines and conditions."""
    kept = {part: frozen[part] for part in ("lines", "conditions")}
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()


def thawed() -> list[tuple[str, str]]:
    """Returns lesson and claim where the conditions aren't the frozen ones; if a line has changed, all of them."""
    frozen = read_json(FROZEN)
    then = frozen["conditions"] if frozen.get("lines") == _lines() else {}
    now = conditions()
    return [(lesson, c) for lesson in now for c in now[lesson] if then.get(lesson, {}).get(c) != now[lesson][c]]


# ---- runs on fresh data ----


def still_to_run(path: Path, draws: int) -> list[tuple[int, str]]:
    """Returns the draw and the instruction set of each run that lacks a verdict under today's conditions.

    The sets are the processor's two richest.
    """
    entries = kept().get(name_of(path), {"claims": {}})["claims"]
    done = [
        entries[claim]["verdicts"] if claim in entries and entries[claim]["conditions"] == said else {}
        for claim, said in conditions()[name_of(path)].items()
    ]
    every = [(draw, name) for draw in range(1, draws + 1) for name in seeds.here()[-2:] or [""]]
    return [one for one in every if not all(label(*one) in verdicts for verdicts in done)]


def label(draw: int, instructions: str) -> str:
    return f"draw {draw} {instructions}".strip()


def variables(draw: int, instructions: str) -> dict[str, str]:
    """Returns the environment variables of a run."""
    folder = RECORDS / label(draw, instructions).replace(" ", "-")
    return {
        "PYTHONOPTIMIZE": "1",  # leaves out asserts, which hold a lesson's text and its own data together
        "COURSE_DRAW": str(draw),
        "COURSE_SEED": str(1000 * draw),
        "COURSE_RECORDS": str(folder),
        "COURSE_MODE": "strict",
        **seeds.SETS.get(instructions, {}),
    }


def run(path: Path, environment: dict):
    """Executes a lesson, each experiment recorded just before its record is read; returns the executed notebook."""
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(recording.BEFORE))
    return lessons.execute(path, environment, notebook)


def keep(path: Path, draw: int, instructions: str, notebook) -> None:
    """Adds the verdicts of a run, with conditions, deciding figures, day and machine."""
    every, lesson, name = kept(), name_of(path), label(draw, instructions)
    mine = every.get(lesson, {"runs": {}, "claims": {}})
    mine["runs"][name] = f"{date.today()}, torch {torch.__version__}, {platform.machine()} {instructions}".strip()
    for box in filter(runs, boxes(notebook)):
        entry = mine["claims"].get(box["id"])
        if entry is None or entry["conditions"] != seeds.conditions(box):
            entry = {"conditions": seeds.conditions(box), "verdicts": {}, "figures": {}}
        entry["verdicts"][name], entry["figures"][name] = box["verdict"], _figures(box)
        mine["claims"][box["id"]] = entry
    write_json(CONFIRMED, every | {lesson: mine})


def _figures(box: Mapping) -> dict[str, object]:
    return {
        name: [box["effects"][name][end] for end in ("mean", "low", "high")] if name in box["effects"] else value
        for name, value in deciding(box).items()
    }


# ---- what came out ----


def same(record: Mapping, entry: Mapping | None) -> str:
    """Returns "" if no run can confirm a verdict, "2 of 2" for runs with the same verdict, or why there is none."""
    if not runs(record):
        return ""
    if entry is None:
        return "not run"
    if entry["conditions"] != seeds.conditions(record):
        return "its condition has changed since"
    verdicts = list(entry["verdicts"].values())
    return f"{verdicts.count(record['verdict'])} of {len(verdicts)}"


def kept() -> dict:
    """Returns by lesson `runs`, with day and machine, and `claims`: `conditions`, and `verdicts`, `figures` by run."""
    return read_json(CONFIRMED)
