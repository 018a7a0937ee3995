"""For every reader: pictures that say what is to be seen, headings in order, links and tables that explain themselves,
colours that colour-blind readers can tell apart."""

import itertools
import re
from pathlib import Path

import matplotlib
import nbformat
import numpy as np
import pytest
from colorspacious import cspace_convert, deltaE
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from course_lib import plotting

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").rglob("[0-9]*.ipynb"))
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("glossary/*.md"), ROOT / "notebooks" / "start.md"]
EMPTY_NAMES = {"here", "this", "link", "click here", "more", "this page", "read more"}


# ---- the checks: each gives the complaints that it has about a notebook ----


def prose(notebook):
    return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def outputs(notebook):
    return [(cell, output) for cell in notebook.cells for output in cell.get("outputs", [])]


def without_code(markdown):
    return re.sub(r"^```.*?^```", "", markdown, flags=re.DOTALL | re.MULTILINE)


def alt_texts_say_what_is_to_be_seen(notebook):
    """Ten words at least; "Figure of accuracy" says only what was drawn."""
    texts = [(cell, output.get("metadata", {}).get("image/png", {}).get("alt")) for cell, output in outputs(notebook)]
    return [cell.id for cell, alt in texts if alt is not None and len(alt.split()) < 10]


def headings_are_in_order(notebook):
    """One title, at the top; below it no level is left out."""
    levels = [len(marks) for marks in re.findall(r"^(#+) ", without_code(prose(notebook)), re.MULTILINE)]
    jumps = [f"{a} to {b}" for a, b in itertools.pairwise(levels) if b > a + 1]
    return jumps + ([] if levels[:1] == [1] and levels.count(1) == 1 else ["not one title at the top"])


def links_say_where_they_lead(notebook):
    return nameless_links(prose(notebook))


def nameless_links(markdown):
    names = re.findall(r"(?<!!)\[([^\]]*)\]\([^)]*\)", without_code(markdown))
    return [name for name in names if name.lower().strip(" .") in EMPTY_NAMES | {""} or name.startswith("http")]


def tables_have_headers(notebook):
    made = [(cell.id, output.get("data", {}).get("text/html", "")) for cell, output in outputs(notebook)]
    return [name for name, page in made if any("<th" not in table for table in page.split("<table")[1:])]


def drawings_have_a_label(notebook):
    kinds = "text/html", "image/svg+xml"
    made = [(cell.id, output.get("data", {}).get(kind, "")) for cell, output in outputs(notebook) for kind in kinds]
    return [name for name, page in made if any("aria-label" not in tag for tag in re.findall(r"<svg[^>]*>", page))]


CHECKS = [
    alt_texts_say_what_is_to_be_seen,
    headings_are_in_order,
    links_say_where_they_lead,
    tables_have_headers,
    drawings_have_a_label,
]
each_check = pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)


@each_check
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: str(path.relative_to(ROOT)))
def test_notebook(path, check):
    assert check(nbformat.read(path, as_version=4)) == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_of_a_page_say_where_they_lead(path):
    assert nameless_links(path.read_text(encoding="utf-8")) == []


def good(text="Then:\n\n## Part\n\n[the glossary](a.md)", **data):
    alt = "Accuracy falls with the length of the sentence, sooner for small states."
    drawing = '<svg role="img" aria-label="weights"></svg><table><tr><th>word</th></tr></table>'
    shown = [
        new_output("display_data", {"image/png": "iVBO"}, metadata={"image/png": {"alt": data.get("alt", alt)}}),
        new_output("display_data", {"text/html": data.get("page", drawing)}),
    ]
    return new_notebook(
        cells=[new_markdown_cell("# A lesson"), new_code_cell("", outputs=shown), new_markdown_cell(text)]
    )


FAULTS = {
    "a title for an alt text": (good(alt="Figure of accuracy"), CHECKS[0]),
    "a level left out": (good("### Part"), CHECKS[1]),
    "two titles": (good("# Part"), CHECKS[1]),
    "a link named here": (good("## Part\n\nread it [here](a.md)"), CHECKS[2]),
    "a link named by its address": (good("## Part\n\n[https://a.org](https://a.org)"), CHECKS[2]),
    "a table without a header": (good(page="<table><tr><td>1</td></tr></table>"), CHECKS[3]),
    "the second table": (good(page="<table><th>a</th></table><table><td>1</td></table>"), CHECKS[3]),
    "a drawing without a label": (good(page='<svg role="img"></svg>'), CHECKS[4]),
}


@each_check
def test_a_good_notebook_passes(check):
    assert check(good()) == []


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found_by_its_check_and_no_other(fault):
    notebook, expected = FAULTS[fault]
    assert [check for check in CHECKS if check(notebook)] == [expected]


# ---- colours ----

VISIONS = [None, "deuteranomaly", "protanomaly", "tritanomaly"]


def seen(colour, vision):
    """A colour (red, green, blue from 0 to 1) as this kind of colour-blindness sees it, at its full severity."""
    if vision is None:
        return np.asarray(colour)
    sight = {"name": "sRGB1+CVD", "cvd_type": vision, "severity": 100}
    return np.clip(cspace_convert(colour, sight, "sRGB1"), 0, 1)


def contrast(one, other):
    """The contrast ratio of WCAG 2.2 between two colours, 1 to 21."""

    def luminance(colour):
        colour = np.asarray(colour)
        return np.where(colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


RGB = [matplotlib.colors.to_rgb(colour) for colour in plotting.COLOURS]
WHITE, DARK = (1, 1, 1), (0.07, 0.08, 0.09)


def closest(colours, vision):
    """The smallest perceptual distance between two of the colours (CAM02-UCS; 1 can just be seen side by side)."""
    pairs = itertools.combinations([seen(colour, vision) for colour in colours], 2)
    return min(float(deltaE(a, b, input_space="sRGB1")) for a, b in pairs)


@pytest.mark.parametrize("vision", VISIONS)
def test_the_colours_of_curves_can_be_told_apart(vision):
    assert closest(RGB, vision) >= 10


def test_red_and_green_of_equal_lightness_would_be_found():
    assert closest([(0.8, 0.3, 0.2), (0.45, 0.5, 0.2)], "deuteranomaly") < 10


def test_four_curves_stand_out_from_light_and_dark_paper_and_more_have_a_marker_each():
    assert all(contrast(colour, paper) >= 3 for colour in RGB[:4] for paper in (WHITE, DARK))
    assert len(set(plotting.MARKERS)) >= len(RGB)  # the fifth and sixth are too light to stand on colour alone


@pytest.mark.parametrize("vision", VISIONS)
def test_heatmaps_grow_lighter_for_everyone(vision):
    colours = matplotlib.colormaps["cividis"](np.linspace(0, 1, 32))[:, :3]
    lightness = [cspace_convert(seen(colour, vision), "sRGB1", "JCh")[0] for colour in colours]
    assert all(a < b for a, b in itertools.pairwise(lightness))
