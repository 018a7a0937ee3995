"""The formgrader's page of a submission that is full of scripts: none of them runs in a browser."""

import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from traitlets.config import Config

pytest.importorskip("nbgrader")

import made_up_class as made
from nbgrader.api import Gradebook
from test_grading_cleaning import HIT, PAYLOADS, formgrader_page

from course_lib.grading.course import Course
from course_lib.grading.formgrader import policy
from course_lib.grading.grade import grade_one

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


LEAVES = re.compile("attachment:|http-equiv")  # what nbconvert refuses, and what leads to another page
PAGE = "http://formgrader.example/formgrader/submissions/5/"


def shown_under_policy(browser, tmp_path, cells):
    """A page that nothing has cleaned, as the formgrader's own address sends it with its policy; its own scripts lack
    the libraries that they call."""
    config = Course.here().config()
    nbformat.write(new_notebook(), tmp_path / "empty.ipynb")
    nbformat.write(new_notebook(cells=cells), tmp_path / "cells.ipynb")
    headers = {"Content-Security-Policy": policy(formgrader_page(config, tmp_path / "empty.ipynb"))}
    body = formgrader_page(Config(), tmp_path / "cells.ipynb")
    context = browser.new_context()
    asked = []

    def answer(route):
        if route.request.url == PAGE:
            return route.fulfill(body=body, headers=headers, content_type="text/html; charset=utf-8")
        asked.append(route.request.url)
        return route.abort()

    context.route("**/*", answer)
    page = context.new_page()
    refused = []
    page.on("console", lambda message: refused.append(message.text) if "violates" in message.text else None)
    page.goto(PAGE, wait_until="domcontentloaded")
    hit = page.evaluate(EVENTS.replace("link.click()", "0"))
    own = page.evaluate("[submission_id, typeof toggle_name]")
    context.close()
    return hit, refused, asked, own


def test_the_policy_stops_what_no_cleaning_has_taken_out(browser, tmp_path):
    hit, refused, asked, own = shown_under_policy(browser, tmp_path, [])
    assert not hit and not refused and own == ["5", "function"]  # the formgrader's own scripts run
    cells = [new_markdown_cell(payload) for payload in PAYLOADS if not LEAVES.search(payload)]
    hit, refused, asked, _ = shown_under_policy(browser, tmp_path, cells)
    assert not hit and len(refused) > 10
    assert not [address for address in asked if "evil.example" in address]


EVIL = "<img src=x onerror='window.HIT = true'>"


def test_every_page_of_the_formgrader_works_under_its_policy(browser, tmp_path, shoot):
    course = made.make_course(tmp_path)
    made.hand_in(course, "ada", made.answered(course))
    assert grade_one(course, made.NAME, "ada")["state"] == "graded"
    with Gradebook(course.database) as gradebook:
        gradebook.update_or_create_student("ada", first_name=EVIL, last_name="Lovelace")
        submission = gradebook.find_submission_notebook(made.NAME, made.NAME, "ada").id
    pages = {  # and what has come to it by its own scripts
        "": made.NAME,
        f"manage_submissions/{made.NAME}": "Lovelace",
        "gradebook": made.NAME,
        f"gradebook/{made.NAME}": made.NAME,
        f"gradebook/{made.NAME}/{made.NAME}": "Submission #1",
        "manage_students": "Lovelace",
        "manage_students/ada": made.NAME,
        f"manage_students/ada/{made.NAME}": made.NAME,
        f"submissions/{submission}/": "It sums to one.",
    }
    context = browser.new_context()
    page, refused = context.new_page(), []
    page.on("console", lambda message: refused.append(message.text) if "violates" in message.text else None)
    with made.formgrader(course, tmp_path) as address:
        for place, text in pages.items():
            answer = page.goto(f"{address}/{place}?token={made.TOKEN}")
            assert "script-src 'self' 'unsafe-eval'" in answer.headers["content-security-policy"], place
            page.get_by_text(text).first.wait_for()
            assert not page.evaluate("Boolean(window.HIT)"), place
    shoot(page, "formgrader")
    context.close()
    assert not [text for text in refused if "onerror" not in text and "inline event handler" not in text], refused
