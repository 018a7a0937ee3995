"""Reduces a learner's work in the formgrader and the feedback to text, formulas, tables and figures. Nothing runs.

Both make their pages with nbconvert's HTMLExporter, and a learner's Markdown and outputs can contain any HTML. It is
cleaned when a page is made, so this also covers submissions that were graded before or changed by hand. The exporter's
own sanitize_html isn't enough: nbgrader's templates bypass it, and it knows neither figures nor table heads.
"""

import html
import re

import bleach
from bleach.css_sanitizer import CSSSanitizer
from bs4 import BeautifulSoup
from jinja2 import pass_context
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode

from course_lib.grading.submission import printable, writable

TAGS = set(
    "a abbr b blockquote br caption code col colgroup dd del details div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 "
    "hr i img ins kbd li mark ol p pre s samp small span strong sub summary sup table tbody td tfoot th thead tr "
    "u ul var".split()
)  # fmt: skip
# No id, class or data-: the formgrader's own script uses them to find what it enters in the gradebook.
ATTRIBUTES = {"alt", "colspan", "height", "open", "rowspan", "scope", "span", "start", "style", "title", "width"}
STYLES = ["background-color", "color", "font-style", "font-weight", "text-align", "text-decoration", "vertical-align"]
LINK = re.compile(r"https?://|#")
PICTURE = re.compile(r"data:image/(png|jpeg|gif|webp|svg\+xml);base64,|[\w%-]+(/[\w%-]+)*\.(png|jpe?g|gif|webp|svg)\Z")
SHOWN = {"image/jpeg", "image/png", "image/svg+xml", "text/html", "text/latex", "text/markdown", "text/plain"}
MOST_TAGS, DEEPEST, MOST_SIGNS = 10_000, 200, 5_000  # beyond these, a parser takes minutes
NAMES = ("student", "first_name", "last_name", "notebook_path")  # of a learner, which the formgrader puts on a page


def _may_stay(tag: str, name: str, value: str) -> bool:
    if name == "href":
        return tag == "a" and bool(LINK.match(value))
    if name == "src":
        return tag == "img" and bool(PICTURE.match(value))
    return name in ATTRIBUTES


CLEANER = bleach.Cleaner(
    TAGS, _may_stay, {"http", "https", "data"}, strip=True, css_sanitizer=CSSSanitizer(allowed_css_properties=STYLES)
)


def clean(text: str) -> str:
    """Returns HTML without anything that runs, loads or navigates, or its source if it is too large or too deep."""
    try:
        if text.count("<") > MOST_TAGS:
            raise ValueError("too many tags")
        soup = BeautifulSoup(text, "html.parser")
        depth = {id(soup): 0}
        for element in soup.descendants:
            depth[id(element)] = depth[id(element.parent)] + 1
        if max(depth.values()) > DEEPEST:
            raise ValueError("too deep")
        for element in soup(["script", "style"]):  # the cleaner alone would leave their content as text
            element.decompose()
        return CLEANER.clean(str(soup))
    except Exception:  # HTML can make a parser raise anything
        return f"<pre>{html.escape(text)}</pre>"


@pass_context
def markdown2html(context, source: str) -> str:
    """Returns a cell's Markdown, or a comment, as clean HTML."""
    try:
        if sum(map(source.count, "\\$")) > MOST_SIGNS:
            raise ValueError("too many formulas")
        attachments = context.get("cell", {}).get("attachments", {})
        renderer = IPythonRenderer(escape=False, attachments=attachments, exclude_anchor_links=True)
        return clean(MarkdownWithMath(renderer=renderer).render(source))
    except Exception:  # a missing attachment, for example
        return f"<pre>{html.escape(source)}</pre>"


class Harmless(Preprocessor):
    """Removes from a notebook what a page must not show."""

    def preprocess(self, nb, resources):
        resources.update({name: html.escape(resources[name]) for name in NAMES if resources.get(name)})
        return super().preprocess(nb, resources)

    def preprocess_cell(self, cell, resources, index):
        cell.metadata = NotebookNode({name: about for name, about in cell.metadata.items() if name == "nbgrader"})
        if cell.cell_type == "code":
            cell.outputs = [_harmless(output) for output in cell.outputs]
        return cell, resources


def _harmless(output: NotebookNode) -> NotebookNode:
    if output.output_type not in ("display_data", "execute_result"):
        return output  # text, which the exporter escapes
    data = {mime: writable(text) for mime, text in output.data.items() if mime in SHOWN and isinstance(text, str)}
    if "text/html" in data:
        data["text/html"] = clean(data["text/html"])
    if not data:
        data["text/plain"] = f"(Not shown on this page: {', '.join(map(printable, output.data)) or 'an empty output'})"
    about = {}
    for mime, given in output.metadata.items():
        if mime in SHOWN and isinstance(given, dict):
            sizes = {name: given[name] for name in ("width", "height") if str(given.get(name)).isdecimal()}
            about[mime] = sizes | ({"alt": given["alt"]} if isinstance(given.get("alt"), str) else {})
    output.data, output.metadata = data, about
    return output
