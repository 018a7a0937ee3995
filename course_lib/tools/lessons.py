"""Finds the lessons, executes them, and saves them."""

import base64
import math
import platform
import re
import time

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat.sign import NotebookNotary
from traitlets.config import Config

from course_lib.files import COURSE

NOTEBOOKS = COURSE / "notebooks"
VOTE = re.compile(r"^(\S+) = widgets\.Prediction\(", re.MULTILINE)
ANSWER = re.compile(r"^\s*(\S+)\.compare\(", re.MULTILINE)
WIDGET_STATE = "application/vnd.jupyter.widget-state+json"
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
# Otherwise other users of the machine could read a kernel's messages.
ENCRYPTED = {"KernelManager": {"transport_encryption": "auto"}}


class LessonError(SystemExit):
    """Ends a verb with its message and no traceback."""


def find(names=(), folder=""):
    """Returns the lessons, or a subfolder's notebooks, in order: all, or those that begin with one of `names`."""
    there = sorted((NOTEBOOKS / folder).glob("[0-9]*.ipynb"))
    for name in names:
        if not any(path.name.startswith(name) for path in there):
            stems = ", ".join(path.stem for path in there) or "none"
            raise LessonError(f"No notebook begins with {name!r}. In {NOTEBOOKS / folder} there are: {stems}.")
    return [path for path in there if not names or path.name.startswith(tuple(names))]


def execute(path, environment, notebook=None):
    """Runs a lesson, or `notebook` in its place, in a fresh kernel; returns the executed notebook.

    Args:
        environment: the kernel's variables.

    Raises LessonError if a cell raises (cells tagged `raises-exception` may).
    """
    notebook = notebook or nbformat.read(path, as_version=4)
    notebook.metadata.pop("widgets", None)
    client = NotebookClient(
        notebook,
        kernel_name="python3",
        timeout=None,
        coalesce_streams=True,
        record_timing=False,
        config=Config(ENCRYPTED),
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
    """Writes an executed lesson without times and details of this machine, and renumbers its widgets.

    The picture of the cell tagged `main-figure` is also written to images/, for the README.
    """
    major, minor, _ = platform.python_version_tuple()
    language = {"name": "python", "version": f"{major}.{minor}"}
    notebook.metadata.update(kernelspec=KERNEL, language_info=language)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if "outputs" in cell:  # a cleared progress line leaves an empty output
            cell.outputs = [output for output in cell.outputs if "data" not in output or any(output.data.values())]
    text = nbformat.writes(notebook)
    for number, model in enumerate(notebook.metadata.get("widgets", {}).get(WIDGET_STATE, {}).get("state", {})):
        text = text.replace(model, f"{number:032x}")
    nbformat.write(nbformat.reads(text, as_version=4), path)  # this sorts the widgets
    for cell in notebook.cells:
        if "main-figure" in cell.metadata.get("tags", []):
            (picture,) = [o.data["image/png"] for o in cell.outputs if "image/png" in o.get("data", {})]
            (path.parent / "images").mkdir(exist_ok=True)
            (path.parent / "images" / f"{path.stem}.png").write_bytes(base64.b64decode(picture))


def trust(paths):
    """Signs these lessons, so that Jupyter shows their saved boxes and widgets."""
    notary = NotebookNotary()
    for path in paths:
        notary.sign(nbformat.read(path, as_version=4))


def slide_type(cell):
    """Returns a cell's slide type: slide, subslide, fragment, notes, skip, or - if it continues the slide."""
    return cell.metadata.get("slideshow", {}).get("slide_type", "-")


def is_folded(cell):
    """Returns whether a cell's source is folded in JupyterLab."""
    return bool(cell.metadata.get("jupyter", {}).get("source_hidden"))


def votes(notebook):
    """Returns, by the id of each cell that compares a vote with what was measured, the id of the vote's cell."""
    asked, found = {}, {}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            asked.update((vote, cell.id) for vote in VOTE.findall(cell.source))
            found.update((cell.id, asked[vote]) for vote in ANSWER.findall(cell.source))
    return found


def printed(output):
    """Returns the text of an output that is only text, else None."""
    if output.output_type == "stream":
        return output.text
    return output.data["text/plain"] if set(output.get("data", {})) == {"text/plain"} else None


def main_path(notebook):
    """Returns the cells before *More claims*."""
    more = re.compile(r"^#+ .*More claims", re.MULTILINE)
    ends = (at for at, cell in enumerate(notebook.cells) if cell.cell_type == "markdown" and more.search(cell.source))
    return notebook.cells[: next(ends, None)]


def minutes_to_read(notebook):
    """Returns the minutes that the main path takes to read, rounded up to a multiple of five.

    It counts 130 words per minute, 6 seconds per visible line of code, 20 seconds per figure, table or widget, and no
    folded text.
    """
    words = lines = figures = 0
    for cell in main_path(notebook):
        if cell.cell_type == "markdown":
            text = re.sub(r"(?s)<details>.*?</details>|\]\(.*?\)", "", cell.source)
            figures += len(re.findall(r"^\|[-:| ]+\|$|!\[", text, re.MULTILINE))
            words += len(re.findall(r"\w[\w'’-]*", re.sub(r"(?m)^\|.*", "", text)))
        elif cell.cell_type == "code":
            lines += 0 if is_folded(cell) else sum(bool(line.strip()) for line in cell.source.splitlines())
            figures += any(set(output.get("data", {})) - {"text/plain"} for output in cell.outputs)
    return 5 * math.ceil((words / 130 + lines * 6 / 60 + figures / 3) / 5)
