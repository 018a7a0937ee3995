"""Lets a browser run only the formgrader's own scripts on nbgrader's formgrader.

`cleaning` removes scripts from a page. If something slips through, the page's content-security policy stops it.
"""

import base64
import copy
import hashlib

from bs4 import BeautifulSoup
from nbconvert.exporters import HTMLExporter
from nbformat.v4 import new_notebook

MATHJAX = "https://cdnjs.cloudflare.com/ajax/libs/"  # from here nbconvert's template loads MathJax and require.js
POLICY = (
    "default-src 'none'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'self'; "
    f"img-src 'self' data:; style-src 'self' 'unsafe-inline' {MATHJAX}; font-src 'self' data: {MATHJAX}; "
    # MathJax evaluates its configuration.
    f"script-src 'self' 'unsafe-eval' 'unsafe-hashes' {MATHJAX} {{scripts}}"
)


def policy(page: str) -> str:
    """Returns the policy that allows the scripts of a formgrader page, given the page without any learner's cell."""
    soup = BeautifulSoup(page, "html.parser")
    own = {script.string for script in soup("script", src=False) if script.string}
    own |= {value for element in soup(True) for name, value in element.attrs.items() if name.startswith("on")}
    hashes = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in sorted(own))
    return POLICY.format(scripts=" ".join(f"'sha256-{one}'" for one in hashes))


class _Exporter:
    """Makes the page of a submission, and sets the policy of the response."""

    def __init__(self, exporter: HTMLExporter, handler: object):
        self.exporter, self.handler = exporter, handler

    def from_filename(self, filename: str, resources: dict) -> tuple[str, dict]:
        empty, _ = self.exporter.from_notebook_node(new_notebook(), resources=copy.deepcopy(resources))
        self.handler.set_header("Content-Security-Policy", policy(empty))
        return self.exporter.from_filename(filename, resources=resources)


def guard() -> None:
    """Sets the policies of the formgrader in this process."""
    from nbgrader.server_extensions.formgrader.handlers import BaseHandler, SubmissionFilesHandler, SubmissionHandler

    render = BaseHandler.render

    def guarded(handler, name, **values):
        page = render(handler, name, **values)  # only a frame, into which the browser puts learners' texts
        handler.set_header("Content-Security-Policy", policy(page))
        return page

    BaseHandler.render = guarded
    SubmissionFilesHandler.content_security_policy = "sandbox"  # no script in a submitted file runs
    SubmissionHandler.exporter = property(lambda handler: _Exporter(handler.settings["nbgrader_exporter"], handler))
