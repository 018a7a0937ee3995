"""Finds the lessons, executes them, saves them, and reads their verdict boxes."""

import platform
import time
from collections import Counter
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"
VERDICT = "application/vnd.attention-measured.verdict+json"
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


class LessonError(SystemExit):
    """Ends a verb with its message and no traceback."""


def find(names=()):
    """The lessons in order: all, or those whose file names begin with one of `names`."""
    lessons = sorted(NOTEBOOKS.glob("[0-9]*.ipynb"))
    for name in names:
        if not any(path.name.startswith(name) for path in lessons):
            there = ", ".join(path.stem for path in lessons) or "none"
            raise LessonError(f"No lesson's name begins with {name!r}. In {NOTEBOOKS} there are: {there}.")
    return [path for path in lessons if not names or path.name.startswith(tuple(names))]


def execute(path, environment):
    """Runs a lesson in a fresh kernel with the variables of `environment`; returns the executed notebook.

    Raises LessonError if a cell raises (cells tagged `raises-exception` may).
    """
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        kernel_name="python3",
        timeout=None,
        store_widget_state=False,
        coalesce_streams=True,
        record_timing=False,
        resources={"metadata": {"path": str(path.parent)}},
    )
    started = time.perf_counter()
    try:
        client.execute(env=environment)
    except CellExecutionError as error:
        raise LessonError(f"{path.name}: a cell raised, so the file is left as it was.\n{error}") from None
    print(f"{path.name}: {time.perf_counter() - started:.0f} s", flush=True)
    return notebook


def save(path, notebook):
    """Writes an executed lesson without times, widget states and the details of this machine."""
    major, minor, _ = platform.python_version_tuple()
    language = {"name": "python", "version": f"{major}.{minor}"}
    notebook.metadata.pop("widgets", None)
    notebook.metadata.update(kernelspec=KERNEL, language_info=language)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    nbformat.write(notebook, path)


def verdicts(path, notebook):
    """The verdict of each box in an executed lesson, by lesson and claim."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    boxes = [output.data[VERDICT] for output in outputs if VERDICT in output.get("data", {})]
    return {f"{path.stem} {box['id']}": box["verdict"] for box in boxes}


def agreement(runs):
    """A table of claim, agreement and counts, from one `verdicts` dictionary a run."""
    claims = sorted({claim for run in runs for claim in run})
    lines = []
    for claim in claims:
        counts = Counter(run[claim] for run in runs if claim in run)
        tally = ", ".join(f"{verdict}: {count}" for verdict, count in counts.most_common())
        if without := len(runs) - counts.total():
            tally += f", no verdict: {without}"
        same = counts.most_common(1)[0][1]
        lines.append(f"{claim:<{max(map(len, claims))}}  same in {same} of {len(runs)}  ({tally})")
    return "\n".join(lines) or "No lesson has a verdict box."
