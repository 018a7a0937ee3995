"""Records experiments: all seeds and variants, in a file for each lesson.

A lesson is executed up to its last experiment, with a cell more after each that defines one.
"""

import ast
import json
from collections.abc import Callable
from datetime import date
from pathlib import Path

import nbformat
import torch

from course_lib.claims import Experiment, plain
from course_lib.files import replacing
from course_lib.tools import lessons


def record(experiment: Experiment) -> None:
    """Runs what is missing or stale, and writes the file after each run, so that nothing done is lost."""
    hashes, entries = experiment.hashes(), experiment.kept()
    for variant, today in hashes.items():
        if entries[variant]["hash"] != today:
            entries[variant] = {"hash": today, "made": [], "seeds": {}}
    missing = {
        f"{variant}, seed {seed}": (variant, seed)
        for seed in experiment.seeds
        for variant in entries
        if str(seed) not in entries[variant]["seeds"]
    }

    def keep(job: str, result) -> None:
        variant, seed = missing[job]
        entry = entries[variant]
        entry["seeds"][str(seed)] = plain(result)
        entry["made"] = sorted({*entry["made"], machine()})
        write(experiment, entries)

    experiment.run({job: experiment.job(*run) for job, run in missing.items()}, keep)


def machine() -> str:
    """What figures may depend on, beside the code: the day, torch's version, and the processor's instructions."""
    where = torch.cuda.get_device_name() if torch.cuda.is_available() else torch.backends.cpu.get_cpu_capability()
    return f"{date.today()}, torch {torch.__version__}, {where}"


def write(experiment: Experiment, entries: dict[str, dict]) -> None:
    """Puts an experiment's variants into the lesson's file, whose other experiments stay."""
    every = json.loads(experiment.file.read_text(encoding="utf-8")) if experiment.file.exists() else {}
    write_every(experiment.file, every | {experiment.name: entries})


def write_every(file: Path, every: dict[str, dict]) -> None:
    """Writes a lesson's file."""
    with replacing(file) as beside:
        beside.write_text(json.dumps(every, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


# ---- the lesson with more cells ----


def record_lesson(path, environment) -> None:
    """Executes a lesson, and records each of its experiments where it stands."""

    def cell(name: str) -> str:
        return f"import course_lib.tools.recording\ncourse_lib.tools.recording.record({name})"

    notebook = up_to_its_experiments(nbformat.read(path, as_version=4), cell)
    if notebook.cells:
        lessons.execute(path, environment, notebook)


def up_to_its_experiments(notebook, cell: Callable[[str], str]):
    """The notebook up to its last experiment; after the cell that defines an experiment, the one that `cell` makes."""
    cells, last = [], 0
    for old in notebook.cells:
        cells.append(old)
        for name in defined_in(old):
            if source := cell(name):
                cells.append(nbformat.v4.new_code_cell(source))
                last = len(cells)
    notebook.cells = cells[:last]
    return notebook


def defined_in(cell) -> list[str]:
    """The names of the experiments that a cell defines."""
    if cell.cell_type != "code" or ".experiment(" not in cell.source:
        return []
    functions = [node for node in ast.parse(cell.source).body if isinstance(node, ast.FunctionDef)]
    return [f.name for f in functions if any(".experiment(" in ast.unparse(d) for d in f.decorator_list)]
