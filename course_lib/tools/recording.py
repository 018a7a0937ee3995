"""Records experiments with all seeds and variants, in one file per lesson.

It executes a lesson, and records each result just before the lesson reads it.
"""

import ast
from datetime import date

import nbformat
import torch

from course_lib import speed
from course_lib.claims import Experiment, plain
from course_lib.files import read_json, write_json
from course_lib.tools import lessons
from course_lib.trained import TrainedModel

# A lesson's first cell, so that each experiment and model is recorded just before the lesson reads its record.
BEFORE = """from course_lib.tools import recording
recording.before_reading(recording.record)
recording.before_checking()"""


def record(experiment: Experiment) -> None:
    """Runs what is missing or stale, and writes the file after each run, so that no finished run is lost."""
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
    """Returns what figures depend on besides the code: day, torch version, processor instructions and speed."""
    where = torch.cuda.get_device_name() if torch.cuda.is_available() else torch.backends.cpu.get_cpu_capability()
    return f"{date.today()}, torch {torch.__version__}, {where}, {speed.factor():.1f} times the reference's seconds"


def write(experiment: Experiment, entries: dict[str, dict]) -> None:
    """Writes an experiment's variants into the lesson's file, and keeps the other experiments."""
    write_json(experiment.file, read_json(experiment.file) | {experiment.name: entries})


# ---- in a lesson ----


def record_lesson(path, environment) -> None:
    """Executes a lesson, and records each experiment before the lesson reads its record."""
    notebook = up_to_the_last_record(nbformat.read(path, as_version=4), BEFORE)
    if notebook.cells:
        lessons.execute(path, environment, notebook)


def up_to_the_last_record(notebook, first: str):
    """Returns the notebook up to the last cell that reads a record, with `first` at its start; empty if none does."""
    cells = [nbformat.v4.new_code_cell(first), *notebook.cells]
    reads = ".recorded()", ".checked()"
    reading = [number for number, cell in enumerate(cells) if any(read in cell.source for read in reads)]
    notebook.cells = cells[: reading[-1] + 1] if reading else []
    return notebook


def before_reading(do) -> None:
    """Makes a kernel call `do` with each experiment just before it reads that record."""
    read = Experiment.recorded

    def recorded(experiment):
        do(experiment)
        return read(experiment)

    Experiment.recorded = recorded


def record_model(model: TrainedModel) -> None:
    """Keeps the weights of the first seed that learns enough, unless today's code made the kept ones."""
    try:
        if model.kept()["hash"] == model.hash():
            return
    except LookupError:
        pass
    for seed in range(1, 6):
        if model.able(trained := model.train(seed)):
            return model.keep(seed, trained)
    raise RuntimeError(f"the model {model.__name__} did not reach {model.at_least} of {model.what} with five seeds")


def before_checking() -> None:
    """Makes a kernel record each model just before it checks or reads that model."""

    def after_recording(read):
        def recorded_first(model):
            record_model(model)
            return read(model)

        return recorded_first

    for way in ("checked", "recorded"):
        setattr(TrainedModel, way, after_recording(getattr(TrainedModel, way)))


def defined_in(cell) -> list[str]:
    """Returns the names of the experiments and trained models that a cell defines."""
    makers = ".experiment(", ".model("
    if cell.cell_type != "code" or not any(maker in cell.source for maker in makers):
        return []
    functions = [node for node in ast.parse(cell.source).body if isinstance(node, ast.FunctionDef)]
    return [f.name for f in functions if any(m in ast.unparse(d) for d in f.decorator_list for m in makers)]
