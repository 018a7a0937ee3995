"""No page, notebook or script of the course uses a phrase that is never right; it has the field's word instead."""

import re

import nbformat
import pytest

from course_lib.files import ROOT
from course_lib.tools import lessons

INSTEAD = {
    "a want of": "a lack of",
    "anew": "again",
    "bits a character": "bits per character",
    "by lot": "at random",
    "counted runs": "n-gram counts",
    "is no mark of": "doesn't make",
    "next to none": "hardly any",
    "of which each": "each of which",
    "one and the same": "the same",
    "said plainly": "in short",
    "thereby": "so",
    "trainings": "runs",
    "what becomes of": "what happens to",
    "whoever has": "if you have",
}
NEVER = re.compile(rf"\b(?:{'|'.join(INSTEAD)})\b", re.IGNORECASE)
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted(ROOT.glob("glossary/*.md")),
    lessons.NOTEBOOKS / "start.md",
    *lessons.find(),
    *lessons.find(folder="exercises"),
]
SCRIPTS = sorted(path for suffix in ("py", "js", "toml") for path in ROOT.glob(f"course_lib/**/*.{suffix}"))


def prose(page):
    if page.suffix == ".md":
        return page.read_text("utf-8")
    return "\n".join(cell.source for cell in nbformat.read(page, as_version=4).cells if cell.cell_type != "code")


def phrases(text):
    """Those found, each with the words around it and what to write."""
    return [
        f"…{text[max(0, found.start() - 40) : found.end() + 40]}…: write {INSTEAD[found[0].lower()]!r}"
        for found in NEVER.finditer(text)
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}/{page.name}")
def test_a_page_has_none_of_them(page):
    assert phrases(prose(page)) == []


def test_no_script_has_one():
    found = {str(script.relative_to(ROOT)): phrases(script.read_text("utf-8")) for script in SCRIPTS}
    assert {script: said for script, said in found.items() if said} == {}


@pytest.mark.parametrize("phrase", INSTEAD)
def test_each_is_found(phrase):
    assert len(phrases(f"It is {phrase.capitalize()} here.")) == 1
