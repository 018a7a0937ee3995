"""Notebooks away from a clone: their first lines, the links that open them, and Colab's versions of the packages."""

import re

import nbformat
import pytest

from course_lib.files import ROOT
from course_lib.tools import hosted, lessons, pages

NOTEBOOKS = [*lessons.find(), *lessons.find(folder="exercises")]
README = ROOT / "README.md"
ADDRESS = "https://github.com/you/course"


def first_cell(path):
    return next(cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: "/".join(path.parts[-2:]))
def test_every_notebook_begins_with_the_same_lines_and_says_what_installs_the_course(path):
    lines = hosted.FIRST_LINES.format(source=hosted.source(hosted.here()))
    assert first_cell(path).source.startswith(lines), "`make pages` renews the address; the other lines are copied"
    assert len(hosted.SOURCE.findall(path.read_text("utf-8"))) == 1


def test_the_pages_have_todays_address():
    late = [
        file.name for file, text in pages.with_address({}, hosted.here()).items() if file.read_text("utf-8") != text
    ]
    assert late == [], "`make pages` renews them"


def test_one_address_reaches_every_notebook_and_the_readme(tmp_path):
    written = pages.with_address({NOTEBOOKS[0]: NOTEBOOKS[0].read_text("utf-8") + " "}, ADDRESS)
    assert written.keys() == {*NOTEBOOKS, README}
    assert written[NOTEBOOKS[0]].endswith(" ")  # what else is new stays
    for path in NOTEBOOKS:
        (tmp_path / "notebook.ipynb").write_text(written[path], "utf-8")
        assert first_cell(tmp_path / "notebook.ipynb").source.startswith(
            hosted.FIRST_LINES.format(source="git+https://github.com/you/course")
        )
    (links,) = re.findall(r"Open lesson 1 in (.*)\.\n<!-- end -->", written[README])
    assert [name for name in re.findall(r"\[(\w+)\]", links)] == ["Colab", "Kaggle", "Binder"]
    assert links.count("you/course") == links.count("notebooks/01_rnn_bottleneck.ipynb") == 3


@pytest.mark.parametrize(
    ("urls", "found"), [("", ""), ("[project.urls]\nHomepage = 'https://x.org'", ""),
                        (f"[project.urls]\nRepository = '{ADDRESS}'", ADDRESS)],
)  # fmt: skip
def test_the_address_is_read_from_pyproject(urls, found):
    assert hosted.repository(f"[project]\nname = 'x'\n{urls}") == found


@pytest.mark.parametrize("address", ["https://gitlab.com/you/course", "you/course", ADDRESS + "/tree/main"])
def test_an_address_that_the_services_cannot_open_is_refused(address):
    with pytest.raises(ValueError, match="must be like https://github.com/YOU/REPOSITORY"):
        hosted.repository(f"[project]\nname = 'x'\n[project.urls]\nRepository = '{address}'")
