"""The formgrader's page of a submission that is full of scripts: none of them runs in a browser."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from traitlets.config import Config

pytest.importorskip("nbgrader")

from test_grading_cleaning import HIT, PAYLOADS, formgrader_page

from course_lib.grading.course import Course

pytestmark = pytest.mark.browser

EVENTS = """async () => {
  for (const element of document.querySelectorAll("body *"))
    for (const kind of ["mouseover", "focus", "toggle", "error", "load", "start"])
      element.dispatchEvent(new Event(kind));
  for (const link of document.querySelectorAll("a, button, input"))
    if (!/^(https?:|#|[^:]*$)/.test(link.getAttribute("href") ?? "")) link.click();
  await new Promise(done => setTimeout(done, 200));
  return Boolean(window.HIT);
}"""


def runs(browser, config, file):
    """Whether anything of a learner's runs; what the page asks a server for stays unanswered."""
    file.write_text(formgrader_page(config, file.with_suffix(".ipynb")), encoding="utf-8")
    context = browser.new_context()
    context.route("**/*", lambda route: route.continue_() if route.request.url == file.as_uri() else route.abort())
    page = context.new_page()
    page.goto(file.as_uri(), wait_until="domcontentloaded")
    hit = page.evaluate(EVENTS)
    context.close()
    return hit


def test_no_payload_runs_in_the_formgrader(browser, tmp_path):
    cells = []
    for payload in PAYLOADS:
        outputs = [new_output("display_data", data={mime: payload}) for mime in ("text/html", "image/svg+xml")]
        outputs += [new_output("display_data", data={"application/javascript": HIT, "text/html": payload})]
        cells += [
            new_code_cell("1", outputs=outputs),
            new_markdown_cell(payload, attachments={"a": {"text/html": "x"}}),
        ]
    nbformat.write(new_notebook(cells=cells), tmp_path / "hostile.ipynb")
    assert not runs(browser, Course.here().config(), tmp_path / "hostile.html")
    nbformat.write(new_notebook(cells=[new_markdown_cell(PAYLOADS[0])]), tmp_path / "control.ipynb")
    assert runs(browser, Config(), tmp_path / "control.html")  # without the course's configuration it does
