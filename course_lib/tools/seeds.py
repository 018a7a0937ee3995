"""Runs lessons with fresh seeds on several instruction sets, and keeps their verdicts.

A run has a seed and an instruction set. The two most different sets run the whole lesson. Those in between stop after
the models that the lesson reads. For each claim it keeps the conditions, the verdict in each run, and each deciding
figure: its value while all runs agree, then `VARIES`. For each model it keeps the share that it learned in each run.
"""

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import nbformat
import torch

from course_lib import trained
from course_lib.claims import boxes, deciding, rests_on, shown_as
from course_lib.curriculum import name_of
from course_lib.files import DATA, read_json, write_json

FILE = DATA / "seeds.json"
VARIES = "varies"
# From the plainest set to the richest; a library uses the best that the processor has and these variables allow.
SETS = {
    "plain": {
        "ATEN_CPU_CAPABILITY": "default", "MKL_ENABLE_INSTRUCTIONS": "SSE4_2", "ONEDNN_MAX_CPU_ISA": "SSE41",
    },
    "AVX2": {"ATEN_CPU_CAPABILITY": "avx2", "MKL_ENABLE_INSTRUCTIONS": "AVX2", "ONEDNN_MAX_CPU_ISA": "AVX2"},
    "AVX512": {
        "ATEN_CPU_CAPABILITY": "avx512", "MKL_ENABLE_INSTRUCTIONS": "AVX512", "ONEDNN_MAX_CPU_ISA": "AVX512_CORE",
    },
}  # fmt: skip


def here() -> list[str]:
    """Returns the sets of this processor; one outside the x86 family has none to choose from."""
    best = torch.backends.cpu.get_cpu_capability()
    names = list(SETS)
    return names[: names.index(best) + 1] if best in SETS else ["plain"] if best == "DEFAULT" else []


def kept() -> dict:
    """Returns by lesson `runs`, `claims` (`conditions`, `verdicts`, `figures`), `models` (`at_least`, `shares`)."""
    return read_json(FILE)


@dataclass(frozen=True)
class Run:
    """Describes one run of a lesson: name, seed, the instruction set's variables, and the number of cells to run."""

    name: str
    seed: str
    instructions: Mapping[str, str]
    cells: int | None = None

    def lesson(self, path: Path):
        """Returns the notebook up to the last cell of this run."""
        notebook = nbformat.read(path, as_version=4)
        notebook.cells = notebook.cells[: self.cells]
        return notebook


def still_to_run(path: Path, seeds: int) -> list[Run]:
    """Returns the runs still missing for so many seeds. Seeds tried before count, too."""
    runs = kept().get(name_of(path), {}).get("runs", [])
    drawn = list(dict.fromkeys(run.split()[0] for run in runs))
    drawn += [str(random.randrange(10**4, 10**6)) for _ in range(seeds - len(drawn))]
    whole = list(dict.fromkeys((*here()[:1], *here()[-1:]))) or [""]
    models = as_far_as_models(path)
    between = [name for name in here()[1:-1] if models]
    every = [
        Run(f"{seed} {name}".strip(), seed, SETS.get(name, {}), None if name in whole else models)
        for seed in drawn[:seeds]
        for name in (*whole, *between)
    ]
    return [run for run in every if run.name not in runs]


def as_far_as_models(path: Path) -> int:
    """Returns the number of cells up to the last model that a lesson reads; 0 if it reads none."""
    cells = nbformat.read(path, as_version=4).cells
    reading = [place for place, cell in enumerate(cells, start=1) if shown_as(trained.MIME, {"cells": [cell]})]
    return max(reading, default=0)


def keep(path: Path, run: Run, notebook) -> None:
    """Adds a run's verdicts and models; `notebook` is None if a cell raised.

    Verdicts under conditions other than today's are dropped.
    """
    before = kept().get(name_of(path), {"runs": [], "claims": {}, "models": {}})
    notebook = notebook or {"cells": []}
    claims = before["claims"] if run.cells else _verdicts(path, run.name, notebook, before["claims"])
    models = before["models"]
    for told in shown_as(trained.MIME, notebook):
        shares = models.get(told["model"], {"shares": {}})["shares"]
        models[told["model"]] = {"at_least": told["at_least"], "shares": {**shares, run.name: told["share"]}}
    runs = before["runs"] + [run.name] * (run.name not in before["runs"])
    write_json(FILE, kept() | {name_of(path): {"runs": runs, "claims": claims, "models": models}})


def _verdicts(path: Path, run: str, notebook, before: Mapping) -> dict:
    found = {box["id"]: box for box in boxes(notebook)}
    claims = {}
    for box in boxes(nbformat.read(path, as_version=4)) + list(found.values()):
        entry = {"conditions": conditions(box), "verdicts": {}, "figures": {}}
        earlier = before.get(box["id"], {})
        if earlier.get("conditions") == entry["conditions"]:
            entry = earlier
        verdict, figures = "no verdict", {}
        if box["id"] in found:
            verdict, figures = found[box["id"]]["verdict"], deciding(found[box["id"]])
        claims[box["id"]] = {
            "conditions": entry["conditions"],
            "verdicts": {**entry["verdicts"], run: verdict},
            "figures": {**entry["figures"], **{n: _agreed(entry["figures"], n, v) for n, v in figures.items()}},
        }
    return claims


def conditions(box: Mapping) -> list[str]:
    return [box["as_said"], box["within"]]


def _agreed(before: Mapping, name: str, value):
    return value if before.get(name, value) == value else VARIES


def same(record: Mapping, entry: Mapping | None) -> str:
    """Returns how many runs under today's conditions gave this verdict, or why no run can change it."""
    if rests_on(record) != "this run":
        return rests_on(record)
    if entry is None or entry["conditions"] != conditions(record):
        return "not tried"
    tried = list(entry["verdicts"].values())
    return f"{tried.count(record['verdict'])} of {len(tried)}"


def agreement(path: Path) -> str:
    """Returns a line for each verdict of a lesson that a run can change, and for each model that it reads."""
    lines = []
    for box in boxes(nbformat.read(path, as_version=4)):
        entry = kept().get(name_of(path), {}).get("claims", {}).get(box["id"])
        if rests_on(box) == "this run" and entry:
            tally = ", ".join(f"{v}: {n}" for v, n in Counter(entry["verdicts"].values()).most_common())
            lines.append(f"{name_of(path) + ' ' + box['id']:<28} same in {same(box, entry)}  ({tally})")
    for model, told in kept().get(name_of(path), {}).get("models", {}).items():
        learned = sum(share >= told["at_least"] for share in told["shares"].values())
        lines.append(f"{name_of(path) + ' ' + model}: learned in {learned} of {len(told['shares'])} runs")
    return "\n".join(lines) or f"{name_of(path)}: no verdict that a run can change"
