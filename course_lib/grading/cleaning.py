"""What the formgrader and the feedback show of a learner's work: text, formulas, tables and figures; nothing that runs.

Both make their pages by nbconvert's HTMLExporter, and a learner's markdown and outputs may hold any HTML. It is cleaned
when a page is made, so that a submission that was graded before, or changed by hand, is cleaned as well. The exporter's
own sanitize_html does not do: nbgrader's templates pass it by, and it knows neither figures nor the heads of tables.
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
# Neither id nor class nor data-: the formgrader's own script finds by them what it enters in the gradebook.
ATTRIBUTES = {"alt", "colspan", "height", "open", "rowspan", "scope", "span", "start", "style", "title", "width"}
STYLES = ["background-color", "color", "font-style", "font-weight", "text-align", "text-decoration", "vertical-align"]
LINK = re.compile(r"https?://|#")
PICTURE = re.compile(r"data:image/(png|jpeg|gif|webp|svg\+xml);base64,|[\w%-]+(/[\w%-]+)*\.(png|jpe?g|gif|webp|svg)\Z")
SHOWN = {"image/jpeg", "image/png", "image/svg+xml", "text/html", "text/latex", "text/markdown", "text/plain"}
MOST_TAGS, DEEPEST, MOST_SIGNS = 10_000, 200, 5_000  # beyond these, parsers take minutes
NAMES = ("student", "first_name", "last_name", "notebook_path")  # of a learner, that the formgrader puts on a page


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
    """HTML without what runs, loads or steers; its source where it is too large or too deep to be cleaned."""
    try:
        if text.count("<") > MOST_TAGS:
            raise ValueError("too many tags")
        soup = BeautifulSoup(text, "html.parser")
        depth = {id(soup): 0}
        for element in soup.descendants:
            depth[id(element)] = depth[id(element.parent)] + 1
        if max(depth.values()) > DEEPEST:
            raise ValueError("too deep")
        for element in soup(["script", "style"]):  # the cleaner alone would leave what stands in them as text
            element.decompose()
        return CLEANER.clean(str(soup))
    except Exception:  # whatever HTML can make a parser do
        return f"<pre>{html.escape(text)}</pre>"


@pass_context
def markdown2html(context, source: str) -> str:
    """A cell's markdown, or a comment, as clean HTML."""
    try:
        if sum(map(source.count, "\\$")) > MOST_SIGNS:
            raise ValueError("too many formulas")
        attachments = context.get("cell", {}).get("attachments", {})
        renderer = IPythonRenderer(escape=False, attachments=attachments, exclude_anchor_links=True)
        return clean(MarkdownWithMath(renderer=renderer).render(source))
    except Exception:  # such as an attachment that is missing
        return f"<pre>{html.escape(source)}</pre>"


class Harmless(Preprocessor):
    """Leaves of a notebook what a page may show."""

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
        data["text/plain"] = f"({', '.join(map(printable, output.data)) or 'nothing'} is not shown here)"
    about = {}
    for mime, given in output.metadata.items():
        if mime in SHOWN and isinstance(given, dict):
            sizes = {name: given[name] for name in ("width", "height") if str(given.get(name)).isdecimal()}
            about[mime] = sizes | ({"alt": given["alt"]} if isinstance(given.get("alt"), str) else {})
    output.data, output.metadata = data, about
    return output
