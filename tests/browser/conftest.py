"""Chromium, a JupyterLab of the tests' own, and pages on which nothing may go wrong."""

import contextlib
import io
import os
import shutil
from pathlib import Path

import pytest
from PIL import Image
from running_lab import Lab, own_copy

from browser.judges import Watch
from course_lib.tools import seeds, web

ROOT = Path(__file__).parent.parent.parent
SCREENSHOTS = ROOT / "build" / "screenshots"
IMAGES = ROOT / "notebooks" / "images"
WIDE = 1000
ALONE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>one explorer</title>
<style>body {{ font-family: sans-serif; }}</style>{weights}{explorer}</html>"""
NAMES = "chromium", "chromium-browser", "google-chrome"
WITHOUT = (
    "THE BROWSER TESTS DID NOT RUN: no browser was found. Install Chromium (on Debian and Ubuntu: "
    "sudo apt install chromium), or name one that is there: COURSE_CHROMIUM=/path/to/chrome."
)


def find_chromium(named, find=shutil.which):
    """The browser that COURSE_CHROMIUM names, else the first one on the path, else None."""
    if named and find(named) is None:
        raise pytest.UsageError(f"COURSE_CHROMIUM={named} is no program that can be started")
    return find(named) if named else next(filter(None, map(find, NAMES)), None)


CHROMIUM = find_chromium(os.environ.get("COURSE_CHROMIUM"))


def pytest_addoption(parser):
    parser.addoption("--pictures", action="store_true", help="take the README's pictures anew")


def pytest_collection_modifyitems(items):
    if CHROMIUM is None:
        for item in items:
            if item.get_closest_marker("browser"):
                item.add_marker(pytest.mark.skip(reason="no browser"))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter):
    yield
    skipped = terminalreporter.stats.get("skipped", [])
    if any("browser" in getattr(report, "keywords", ()) for report in skipped):  # a file skipped as a whole has none
        terminalreporter.write_line(WITHOUT, yellow=True, bold=True)


@pytest.fixture(scope="session")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM)
        yield chromium
        chromium.close()


@contextlib.contextmanager
def watched(browser, expected=()):
    """A page in a fresh context; in the end, it is an error if a page of it erred or asked another host.

    What goes wrong on purpose has one of the `expected` texts in it.
    """
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    watch = Watch(context)
    yield context.new_page()
    context.close()
    assert [fault for fault in watch.faults if not any(text in fault for text in expected)] == []


@pytest.fixture
def page(browser, request):
    """Where a test breaks something, its mark `expects` tells the texts of the faults that must follow."""
    marked = request.node.get_closest_marker("expects")
    with watched(browser, marked.args if marked else ()) as fresh:
        yield fresh


@pytest.fixture(scope="session")
def beside_models(tmp_path_factory):
    """A folder for pages, next to the models that run in them."""
    folder = tmp_path_factory.mktemp("alone")
    web.copy_models(folder)
    return folder


@pytest.fixture
def alone(beside_models, page):
    """Opens a page that holds nothing but a widget with a model, and waits until `there` is."""

    def open_(widget, there, query="", *, weights=True, motion="reduce", **media):
        script = f'<script src="models/{widget.name}.js"></script>' if weights else ""
        text = ALONE.format(weights=script, explorer=widget.in_page("explorer"))
        (beside_models / "alone.html").write_text(text, encoding="utf-8")
        page.emulate_media(reduced_motion=motion, **media)
        page.goto(f"{(beside_models / 'alone.html').as_uri()}{query}")
        page.locator(there).first.wait_for()
        return page

    return open_


@pytest.fixture
def again(page):
    """Opens the page's address, in which its state is soon after a reader's last click."""

    def open_(there):
        page.wait_for_timeout(400)
        page.goto(page.url)
        page.locator(there).first.wait_for()

    return open_


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """JupyterLab as `make lab` starts it, on a copy of the course, so that no learner's workbook is touched.

    Its kernels have the plainest instruction set, and models that were trained with it: nbval runs the lessons on all
    that this processor has.
    """
    folder = tmp_path_factory.mktemp("lab")
    kernels = {**seeds.SETS["plain"], "COURSE_CACHE": str(Path(os.environ["COURSE_CACHE"]) / "plain")}
    course = own_copy(ROOT, folder / "course")
    with Lab(course, folder, "--LabApp.expose_app_in_browser=True", environment=kernels) as running:
        yield running


@pytest.fixture
def lab(server):
    """The lab; kernels end with the test."""
    yield server
    server.end_kernels()


@pytest.fixture
def open_notebook(lab, page):
    """Opens a notebook, of the workbook unless told, with nothing left of earlier tests' tabs."""

    def open_(name, folder="workbook"):
        page.goto(f"{lab.base}/lab/tree/{folder}/{name}?token={lab.token}&reset")
        page.locator(".jp-NotebookPanel .jp-Cell").first.wait_for(timeout=300_000)
        page.get_by_text("Python 3 (ipykernel) | Idle").wait_for(timeout=300_000)

    return open_


@pytest.fixture(scope="session")
def shots():
    """The folder of the pictures that the tests take."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    return SCREENSHOTS


@pytest.fixture
def shoot(shots):
    """Saves a picture of a page in that folder."""
    return lambda page, name: page.screenshot(path=shots / f"{name}.png")


@pytest.fixture
def show(request):
    """With --pictures, keeps a picture of a page for the README: small, and with few colours."""

    def save(page, name):
        if request.config.getoption("--pictures", False):
            picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            small = picture.resize((WIDE, WIDE * picture.height // picture.width), Image.Resampling.LANCZOS)
            small = small.quantize(256, Image.Quantize.MAXCOVERAGE)  # other methods lose a colour that is rare
            small.save(IMAGES / f"{name}.png", optimize=True)
            assert (IMAGES / f"{name}.png").stat().st_size < 120_000

    return save
