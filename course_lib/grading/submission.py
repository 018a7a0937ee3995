"""Prepares a submission for grading: finds and reads the notebook, and restores the instructor's cells."""

import json
import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.reader import parse_json
from nbformat.v4 import new_code_cell, new_markdown_cell, new_raw_cell

LARGEST = 100_000_000  # bytes of a notebook file
MOST_CELLS = 2_000
MOST_PARTS = 10_000_000  # of a notebook's JSON; in memory, a few bytes can become a hundred
LONGEST_REASON = 2_000  # characters of a message, which a learner's results could fill
TIMESTAMP = "timestamp.txt"  # when it was handed in
MARKED = {"utf-8-sig": "UTF-8 with a byte-order mark"}
IMPORT = re.compile(r"^(?:from\s+[\w.]+\s+)?import\s+(?:\([^()]*\)|[^\n(;]+)", re.MULTILINE)
CELLS = {"code": new_code_cell, "markdown": new_markdown_cell, "raw": new_raw_cell}


class Unreadable(Exception):  # noqa: N818 - it is a state of a submission
    """Means that a submission cannot be graded; the message says why."""


def writable(text: str) -> str:
    """Returns text that a file can hold: a lone surrogate becomes its escape."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def printable(text: str) -> str:
    """Returns text for one line of a table or terminal: control characters become their escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def grade_id(cell: dict) -> str | None:
    about = cell.get("metadata")
    about = about.get("nbgrader") if isinstance(about, dict) else None
    name = about.get("grade_id") if isinstance(about, dict) else None
    return name if isinstance(name, str) else None


def is_notebook(name: str) -> bool:
    """Returns whether a name is a notebook's, even if a browser or editor added to it: x.ipynb.txt."""
    return ".ipynb" in name.lower()


def is_file(path: Path) -> bool:
    """Returns whether a path is a file and not a link, which could lead to the solutions or to someone else's work."""
    return path.is_file() and not path.is_symlink()


def _pruned(found: dict) -> dict:
    """Returns only what grading needs of a notebook of any version, since the rest could grow far beyond the file."""
    kept = {name: found[name] for name in ("nbformat", "nbformat_minor") if isinstance(found.get(name), int)}
    kept["metadata"] = {}
    if "worksheets" in found:  # in versions 2 and 3
        kept["worksheets"] = [_pruned(sheet) for sheet in found["worksheets"]]
    if "cells" in found:
        kept["cells"] = [_pruned_cell(cell) for cell in found["cells"]]
    return kept


def _pruned_cell(cell: dict) -> dict:
    kept = {name: value for name, value in cell.items() if _is_text(value)} | {"metadata": {}}
    if name := grade_id(cell):
        kept["metadata"]["nbgrader"] = {"grade_id": name}
    # The level belongs to a heading in version 3, and becomes that many # signs.
    kept |= {name: value for name, value in (("execution_count", None), ("outputs", []), ("level", 1)) if name in cell}
    if "attachments" in cell:
        kept["attachments"] = {
            name: {mime: data for mime, data in bundle.items() if isinstance(data, str)}
            for name, bundle in cell["attachments"].items()
        }
    return kept


def _is_text(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(line, str) for line in value))


def read_notebook(file: Path) -> tuple[NotebookNode, list[str]]:
    """Reads a notebook of any version and makes its cells again, without outputs and with no metadata but grade_ids.

    Returns:
        The notebook, and remarks about it.
    Raises:
        Unreadable: the file is not a notebook, or too large.
    """
    try:
        if file.stat().st_size > LARGEST:
            raise Unreadable(f"{file.name} is larger than {LARGEST // 10**6} MB")
        content = file.read_bytes()
        encoding = json.detect_encoding(content)
        if sum(map(content.count, (b"[", b"{", b","))) > MOST_PARTS:
            raise Unreadable(f"{file.name} has more than {MOST_PARTS // 10**6} million brackets and commas")
        found = parse_json(content.decode(encoding))
        count = sum(len(sheet.get("cells", [])) for sheet in (found, *found.get("worksheets", [])))
        if count > MOST_CELLS:
            raise Unreadable(f"{file.name} has {count} cells; at most {MOST_CELLS} are read")
        found = _pruned(found)
        cells = []
        for cell in nbformat.reads(json.dumps(found), as_version=4).cells:
            about = {"nbgrader": {"grade_id": grade_id(cell)}} if grade_id(cell) else {}
            source = cell.source if isinstance(cell.source, str) else "".join(cell.source)
            kept = {
                writable(name): {writable(mime): writable(data) for mime, data in bundle.items()}
                for name, bundle in cell.get("attachments", {}).items()
            }
            kept = {"attachments": kept} if kept else {}
            cells.append(CELLS[cell.cell_type](writable(source), metadata=about, **kept))
    except Unreadable:
        raise
    except Exception as error:  # a broken file can make nbformat raise anything
        said = str(error).splitlines()[0][:120] if str(error) else type(error).__name__
        raise Unreadable(f"{file.name} cannot be read as a notebook: {said}") from None
    told = [] if encoding == "utf-8" else [f"it is encoded in {MARKED.get(encoding, encoding.upper())}"]
    return nbformat.v4.new_notebook(cells=cells), told


def find_notebook(folder: Path, assignment: str, ids: set[str], note: str = "") -> tuple[NotebookNode, list[str]]:
    """Returns the notebook that answers an assignment, and remarks about it.

    If no notebook has the assignment's name, it is the one that holds the assignment's cells.

    Args:
        note: why nothing was collected from an archive, if so.
    Raises:
        Unreadable: there is no such notebook, there are several, or it can't be read.
    """
    wanted = f"{assignment}.ipynb"
    files = [path for path in folder.rglob("*") if is_notebook(path.name) and is_file(path)]
    notebooks = sorted(path for path in files if ".ipynb_checkpoints" not in path.parts)
    if folder / wanted in notebooks:
        return read_notebook(folder / wanted)
    candidates, problems = [], []
    for file in notebooks:
        try:
            notebook, told = read_notebook(file)
        except Unreadable as error:
            problems.append(str(error))
            continue
        if ids & set(map(grade_id, notebook.cells)):
            candidates.append((file, notebook, told))
    if len(candidates) == 1:
        file, notebook, told = candidates[0]
        return notebook, [f"it was handed in as {file.relative_to(folder).as_posix()}, not {wanted}", *told]
    if candidates:
        names = ", ".join(file.relative_to(folder).as_posix() for file, _, _ in candidates)
        raise Unreadable(f"no notebook is named {wanted}, and several hold its cells: {names}")
    problems += [note] if note else []
    there = ", ".join(sorted(p.name for p in folder.iterdir() if p.name != TIMESTAMP)) or "nothing"
    raise Unreadable("; ".join(problems) or f"there is no {wanted}; handed in: {there}")


def handed_in_at(folder: Path) -> datetime | None:
    """Returns when a submission was handed in, in UTC, or None if unknown. Raises ValueError if it's not a date."""
    from nbgrader.utils import parse_utc

    file = folder / TIMESTAMP
    try:
        return parse_utc(file.read_text(encoding="utf-8").strip()) if is_file(file) else None
    except OverflowError as error:
        raise ValueError(f"{file} holds no date") from error


def put_back(notebook: NotebookNode, source: NotebookNode, release: NotebookNode) -> list[str]:
    """Restores the instructor's cells in a submission; returns a remark for each change.

    Args:
        notebook: the submission; it is changed in place.
        source: the instructor's notebook.
        release: what was handed out, without hidden tests.
    """
    told, behind, ours = [], {}, {grade_id(cell): cell for cell in source.cells if grade_id(cell)}
    given = {grade_id(cell): cell.source for cell in release.cells if grade_id(cell)}
    seen = set()
    for cell in reversed(notebook.cells):  # if a cell was copied, nbgrader takes the last one
        name = grade_id(cell)
        if name not in ours or name in seen:
            cell.metadata.pop("nbgrader", None)
            continue
        seen.add(name)
        if _is_locked(ours[name]):
            if cell.source.strip() not in (given.get(name, "").strip(), ours[name].source.strip()):
                imports = [line.strip() for line in IMPORT.findall(cell.source)]
                imports = [line for line in imports if line not in ours[name].source]
                kept = ""
                if imports and ours[name].cell_type == "code" and not ours[name].metadata.nbgrader.get("grade"):
                    # The learner took the set-up for a cell of their own.
                    behind[name] = new_code_cell("\n".join(imports))
                    kept = "; the imports added to it are kept"
                told.insert(0, f"{name} was edited and has been restored{kept}")
                if ours[name].cell_type != "code":  # an answer may have been typed into its question
                    behind[name] = new_markdown_cell(cell.source)
            cell.source = ours[name].source
        cell.metadata.nbgrader = ours[name].metadata.nbgrader
        if cell.cell_type != ours[name].cell_type:
            _become(cell, ours[name].cell_type)
    order = list(ours)
    for place, name in enumerate(order):
        if name not in seen and (_is_locked(ours[name]) or ours[name].metadata.nbgrader.get("grade")):
            blank = given.get(name, "") if not _is_locked(ours[name]) else ours[name].source
            cell = CELLS[ours[name].cell_type](blank, metadata={"nbgrader": ours[name].metadata.nbgrader})
            notebook.cells.insert(_where(notebook, order, place), cell)
            told.append(f"{name} was deleted and has been restored")
    for name, kept_cell in behind.items():
        place = next(index for index, cell in enumerate(notebook.cells) if grade_id(cell) == name)
        notebook.cells.insert(place + 1, kept_cell)
    notebook.metadata.kernelspec = source.metadata.get("kernelspec", {})
    return told


def _is_locked(cell: NotebookNode) -> bool:
    about = cell.metadata.nbgrader
    return not about.get("solution") and bool(about.get("grade") or about.get("locked"))


def _become(cell: NotebookNode, kind: str) -> None:
    like = CELLS[kind](cell.source, metadata=cell.metadata)
    cell.clear()
    cell.update(like)


def _where(notebook: NotebookNode, order: Sequence[str], place: int) -> int:
    """Returns a position after the nearest earlier cell, or else before the nearest later one, or else at the end."""
    at = {grade_id(cell): index for index, cell in enumerate(notebook.cells)}
    before = [at[name] for name in order[:place] if name in at]
    after = [at[name] for name in order[place + 1 :] if name in at]
    return before[-1] + 1 if before else after[0] if after else len(notebook.cells)
