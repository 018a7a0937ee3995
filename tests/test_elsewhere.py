"""Lessons where nothing runs and nobody serves them: plain nbconvert, and notebooks shown on the web."""

import base64
import re
from xml.etree import ElementTree

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbconvert import HTMLExporter
from sweeps import sweep

from course_lib.tools import lessons

VIEW = lessons.WIDGET_VIEW
PATHS = pytest.mark.parametrize("path", lessons.find(), ids=lambda path: path.stem)
SOME = pytest.mark.parametrize(
    "path", sweep(lessons.find(), "03_scaled_dot_product", named=lambda path: path.stem, rest="slow")
)


def bundles(path):
    """The data of all outputs of a notebook."""
    cells = nbformat.read(path, as_version=4).cells
    return [output.get("data", {}) for cell in cells for output in cell.get("outputs", [])]


@SOME
def test_a_plain_page_shows_every_picture_and_no_note_of_the_lecturer(path):
    page = BeautifulSoup(HTMLExporter(exclude_input=True).from_filename(path)[0], "html.parser")
    assert "For the lecturer" not in page.text
    drawn = [data["image/svg+xml"] for data in bundles(path) if "image/svg+xml" in data]
    images = [image["src"].partition("base64,")[2] for image in page.select(".jp-RenderedSVG > img")]
    assert [base64.b64decode(image).decode().strip() for image in images] == drawn != []
    words = [data["text/html"] for data in bundles(path) if "am-still" in data.get("text/html", "")]
    assert [still.text for still in page.select(".am-still")] == [BeautifulSoup(w, "html.parser").text for w in words]


@PATHS
def test_a_widgets_picture_is_an_image_and_its_words_stand_without_drawings(path):
    """GitHub takes drawings and scripts out of HTML, and shows images."""
    stills = [data["text/html"] for data in bundles(path) if "am-still" in data.get("text/html", "")]
    assert len(stills) == sum(VIEW in data for data in bundles(path)) > 0
    for still in stills:
        assert "<svg" not in still and len(re.sub("<.*?>", "", still).split()) >= 4
    for data in bundles(path):
        if "image/svg+xml" in data:
            image = ElementTree.fromstring(data["image/svg+xml"])
            assert image.tag == "{http://www.w3.org/2000/svg}svg" and image.get("aria-label")
