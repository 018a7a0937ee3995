"""Runs lessons with fresh seeds under several instruction sets, and keeps what became of their verdicts.

A run is a seed and an instruction set. Of a claim is kept how it is decided today, its verdict in each run, and each
figure that decides it: its value while all runs agree, `VARIES` once two differ. Of a model that the lesson reads, what
it had learned in each run.
"""

import random
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import nbformat
import torch

from course_lib import trained
from course_lib.claims import boxes, deciding, rests_on, shown_as
from course_lib.curriculum import name_of
from course_lib.files import DATA, read_json, write_json

FILE = DATA / "seeds.json"
VARIES = "varies"
# What a processor may lack, from the plainest to the one with most; a library takes the best it is allowed.
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
    """The sets that this processor has; on one that is not of the x86 family, none can be chosen."""
    best = torch.backends.cpu.get_cpu_capability()
    names = list(SETS)
    return names[: names.index(best) + 1] if best in SETS else ["plain"] if best == "DEFAULT" else []


def kept() -> dict:
    """By lesson: its `runs`; by claim `conditions`, `verdicts` and `figures`; by model `at_least` and `shares`."""
    return read_json(FILE)


def still_to_run(path: Path, seeds: int) -> list[tuple[str, str, dict[str, str]]]:
    """(run, seed, variables of the instruction set) for so many seeds under the two most different sets.

    Seeds that were tried before count; what was run is not among them.
    """
    runs = kept().get(name_of(path), {}).get("runs", [])
    drawn = list(dict.fromkeys(run.split()[0] for run in runs))
    drawn += [str(random.randrange(10**4, 10**6)) for _ in range(seeds - len(drawn))]
    names = list(dict.fromkeys((*here()[:1], *here()[-1:]))) or [""]
    every = [(f"{seed} {name}".strip(), seed, SETS.get(name, {})) for seed in drawn[:seeds] for name in names]
    return [one for one in every if one[0] not in runs]


def keep(path: Path, run: str, notebook) -> None:
    """Adds what became of a lesson's verdicts in a run.

    What a claim got under other conditions than today's is dropped.
    """
    before = kept().get(name_of(path), {"runs": [], "claims": {}, "models": {}})
    notebook = notebook or {"cells": []}
    found = {box["id"]: box for box in boxes(notebook)}
    claims = {}
    for box in boxes(nbformat.read(path, as_version=4)) + list(found.values()):
        entry = {"conditions": [box["as_said"], box["within"]], "verdicts": {}, "figures": {}}
        earlier = before["claims"].get(box["id"], {})
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
    models = before["models"]
    for told in shown_as(trained.MIME, notebook):
        shares = models.get(told["model"], {"shares": {}})["shares"]
        models[told["model"]] = {"at_least": told["at_least"], "shares": {**shares, run: told["share"]}}
    runs = before["runs"] + [run] * (run not in before["runs"])
    write_json(FILE, kept() | {name_of(path): {"runs": runs, "claims": claims, "models": models}})


def _agreed(before: Mapping, name: str, value):
    return value if before.get(name, value) == value else VARIES


def same(record: Mapping, entry: Mapping | None) -> str:
    """How many of the runs under today's conditions gave this verdict; or that none can change it, and why."""
    if rests_on(record) != "this run":
        return rests_on(record)
    if entry is None or entry["conditions"] != [record["as_said"], record["within"]]:
        return "not tried"
    tried = list(entry["verdicts"].values())
    return f"{tried.count(record['verdict'])} of {len(tried)}"


def agreement(path: Path) -> str:
    """A line for each verdict of a lesson that a run can change, and for each model that it reads."""
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
