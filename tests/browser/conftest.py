"""Minimal fixtures to develop tests/browser/test_site.py with; another file of this name takes its place."""

import shutil

import pytest
from playwright.sync_api import sync_playwright

from course_lib import web


def pytest_collection_modifyitems(items):
    for item in items:
        if "browser" in str(item.path):
            item.add_marker("browser")


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def page(browser):
    """A fresh page that must make no error and ask no other host."""
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    page = context.new_page()
    wrong = []
    page.on("console", lambda message: message.type == "error" and wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    local = ("http://127.0.0.1", "http://localhost", "file:", "data:", "blob:")
    page.on("request", lambda request: request.url.startswith(local) or wrong.append(request.url))
    yield page
    context.close()
    assert wrong == []


@pytest.fixture(scope="session")
def shoot():
    def save(page, name):
        folder = web.BUILD / "screenshots"
        folder.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=folder / f"{name}.png")

    return save
