"""What a learner hands in runs nowhere in the pages of the formgrader and the feedback, and stays readable."""

import base64
import contextlib
import json
import time

import made_up_class as made
import nbformat
import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output, new_raw_cell
from traitlets.config import Config

pytest.importorskip("nbgrader")

from nbconvert.exporters import HTMLExporter
from nbgrader.server_extensions.formgrader import handlers

from course_lib.grading import cleaning
from course_lib.grading import grade as grading
from course_lib.grading.course import Course
from course_lib.grading.report import write_feedback

HIT = "top.HIT=1"
JS = f"javascript:{HIT}"
PAGE = base64.b64encode(f"<script>{HIT}</script>".encode()).decode()
# Each would set HIT, now or at a click, in a page that shows it as it is.
PAYLOADS = [
    f"<script>{HIT}</script>",
    f"<SCRIPT\n>{HIT}</SCRIPT >",
    f"<scr<script>ipt>{HIT}</scr</script>ipt>",
    f"<script src='data:text/javascript,{HIT}'></script>",
    f"<script type=module>{HIT}</script>",
    f"<img src=x onerror={HIT}>",
    f"<img src=x onerror\n=\n'{HIT}'>",
    f"<img/src=x/onerror={HIT}//>",
    f'"><img src=x onerror={HIT}>',
    f"'><img src=x onerror={HIT}>",
    f"</pre></div></textarea></title><img src=x onerror={HIT}>",
    f"<svg onload={HIT}></svg>",
    f"<svg><script>{HIT}</script></svg>",
    f"<svg><script href='data:text/javascript,{HIT}'/></svg>",
    f"<svg><animate onbegin={HIT} attributeName=x dur=1s></animate></svg>",
    f"<svg><a xlink:href='{JS}'><text y=20>click</text></a></svg>",
    f"<svg><foreignObject><body onload={HIT}></body></foreignObject></svg>",
    f"<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror={HIT}&gt;'>",
    f"<math href='{JS}'>click</math>",
    f"<iframe src='{JS}'></iframe>",
    f"<iframe srcdoc='<script>{HIT}</script>'></iframe>",
    f"<iframe src='data:text/html;base64,{PAGE}'></iframe>",
    f"<object data='data:text/html;base64,{PAGE}'></object>",
    f"<embed src='data:text/html;base64,{PAGE}'>",
    f"<meta http-equiv=refresh content='0;url={JS}'>",
    "<meta http-equiv=refresh content='0;url=http://evil.example/'>",
    "<base href='http://evil.example/'>",
    "<link rel=stylesheet href='http://evil.example/x.css'>",
    f"<link rel=import href='data:text/html;base64,{PAGE}'>",
    "<style>@import 'http://evil.example/x.css'; * { display: none }</style>",
    f"<style><img src=x onerror={HIT}></style><noscript><p title='</noscript><img src=x onerror={HIT}>'>",
    f"<form action='{JS}'><input type=submit id=go><button>go</button></form>",
    f"<form id=f></form><button form=f formaction='{JS}'>go</button>",
    f"<input autofocus onfocus={HIT}>",
    f"<details open ontoggle={HIT}><summary>s</summary></details>",
    f"<video><source onerror={HIT}></video><audio src=x onerror={HIT}></audio>",
    f"<marquee onstart={HIT}>m</marquee>",
    f"<a href='{JS}'>click</a>",
    f"<a href='JaVaScRiPt:{HIT}'>click</a>",
    f"<a href='java\tscript:{HIT}'>click</a>",
    f"<a href='&#106;avascript&colon;{HIT}'>click</a>",
    f"<a href='\x01{JS}'>click</a>",
    f"<a href='files/{JS}'>click</a>",
    f"<a href='vbscript:{HIT}'>click</a>",
    f"<a href='data:text/html;base64,{PAGE}'>click</a>",
    "<a href='evil.html'>my plot</a><a href='//evil.example'>out</a><a href='/logout'>bye</a>",
    f"[click]({JS}) [again](<java\nscript:{HIT}>) ![p]({JS}) <{JS}>",
    f"[ref]\n\n[ref]: {JS}",
    f"[x](https://a.example/\"onmouseover=\"{HIT}) [y](https://a.example '\" onmouseover={HIT} x=\"')",
    f"![x\" onerror=\"{HIT}](x.png) ![y](x.png '\" onerror={HIT} x=\"') ![a](attachment:a) ![b](attachment:none)",
    f"$<img src=x onerror={HIT}>$ $$<script>{HIT}</script>$$ `<script>{HIT}</script>`",
    f"<!-- --!><script>{HIT}</script> --><![CDATA[<script>{HIT}</script>]]><?x <script>{HIT}</script>?>",
    f"```x\"><script>{HIT}</script>\n<script>{HIT}</script>\n```\n\n```mermaid\n</pre><script>{HIT}</script>\n```",
    f"# heading <img src=x onerror={HIT}>\n\n- <script>{HIT}</script>\n\n> <iframe src={JS}></iframe>",
    f"|a|\n|-|\n|<script>{HIT}</script>|",
    f"<div style=\"background:url('{JS}');position:fixed;color:red;width:expression({HIT})\">styled</div>",
    "<img src='/logout'><img src='../../x.png'><img src='http://evil.example/x.png'><img srcset='/logout 1x'>",
    f"<div data-toggle=tooltip data-html=true title='<img src=x onerror={HIT}>' data-link='{JS}'>tip</div>",
    "<div id=check_sat class='nbgrader_cell score'>mine</div><a name=top href='#top'>top</a>",
    f"<template><script>{HIT}</script></template><textarea><img src=x onerror={HIT}></textarea>",
    f"<xmp><img title='</xmp><img src=x onerror={HIT}>'></xmp><plaintext>",
    f"{'<div>' * 500}<img src=x onerror={HIT}>{'<b>' * 500}{'> ' * 300}",
    "\x00\ud800".encode("utf-8", "replace").decode() + f"<scr\x00ipt>{HIT}</scr\x00ipt>",
]  # fmt: skip
PNG = base64.b64encode(b"no picture").decode()
STATE, VIEW = "application/vnd.jupyter.widget-state+json", "application/vnd.jupyter.widget-view+json"
MIMES = [
    *("text/html", "text/markdown", "text/latex", "text/plain", "image/svg+xml", "image/png", "image/jpeg"),
    *("application/javascript", "application/pdf", "text/vnd.mermaid", "application/x-unknown", VIEW, STATE),
]


def places(payload):
    """Cells that hold a payload wherever a learner can put it."""
    yield new_markdown_cell(payload, attachments={"a": {f"text/html,<b>{payload}": payload}})
    tags = [payload.replace(",", ";")]
    yield new_markdown_cell(payload, metadata={"tags": tags, "transient": {"remove_source": True}})
    yield new_raw_cell(payload)
    yield new_raw_cell(payload, metadata={"raw_mimetype": "text/html"})
    outputs = [new_output("stream", name=name, text=payload) for name in ("stdout", "stderr")]
    outputs += [new_output("error", ename=payload, evalue=payload, traceback=[payload, f"\x1b[31m{payload}\x1b[0m"])]
    about = {"width": f"1 onload={HIT}", "height": f"1 onerror={HIT}", "alt": payload, "isolated": True}
    about["filenames"] = {"image/png": payload, "image/jpeg": payload}
    for mime in MIMES:
        for metadata in ({}, about, {mime: about}):
            outputs.append(new_output("display_data", data={mime: payload}, metadata=metadata))
        outputs.append(new_output("execute_result", data={mime: payload, "text/plain": "p"}, execution_count=1))
    cell = new_code_cell(payload, metadata={"magics_language": payload, "tags": tags}, outputs=outputs)
    yield cell


READABLE = {
    "a table of pandas": '<style scoped>.dataframe { color: red }</style><table border="1" class="dataframe"><thead>'
    '<tr><th></th><th>key</th></tr></thead><tbody><tr><th>0</th><td colspan="1">0.25</td></tr></tbody></table>',
    "in words": "They **sum** to one: $\\sum_i w_i < 2$, and `a<b`.\n\n1. first\n\n```python\nx = 1\n```\n\n"
    "<details><summary>Why</summary>Because.</details>\n\n"
    '[a page](https://example.org/x?a=1&b=2) <b style="color: red">red</b>',
}


def harmless():
    yield new_markdown_cell(
        f"{READABLE['in words']}\n\n![drawn](attachment:a.png)", attachments={"a.png": {"image/png": PNG}}
    )
    data = {"image/png": PNG, "text/plain": "<Figure>"}
    outputs = [
        new_output("stream", name="stdout", text="printed <b>text</b>\n"),
        new_output("error", ename="E", evalue="e", traceback=["\x1b[31mValueError\x1b[0m: a < b"]),
        new_output("display_data", data=data, metadata={"image/png": {"alt": "a map of weights", "width": 640}}),
        new_output("display_data", data={"text/html": READABLE["a table of pandas"], "text/plain": "0.25"}),
        new_output("display_data", data={"text/latex": "$\\alpha < 1$"}),
        new_output("display_data", data={"image/svg+xml": "<svg xmlns='http://www.w3.org/2000/svg'></svg>"}),
        new_output("execute_result", data={"text/plain": "tensor([0.25])"}, execution_count=7),
        new_output("display_data", data={"application/javascript": "1"}),
    ]
    yield new_code_cell("weights = {'a': 1}  # <b>", execution_count=7, outputs=outputs)


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    course = made.make_course(tmp_path_factory.mktemp("pages"))
    made.hand_in(course, "ada", made.answered(course))
    assert grading.grade_one(course, made.NAME, "ada")["state"] == "graded"
    return course


@pytest.fixture(scope="module")
def graded(course):
    file = course.path("autograded", "ada", made.NAME, f"{made.NAME}.ipynb")
    return file, file.read_text(encoding="utf-8")


def formgrader_page(config, file, **about):
    """As nbgrader's `FormgradeExtension` and `SubmissionHandler` make it."""
    extra = Config()
    extra.HTMLExporter.template_name = "formgrade"
    extra.HTMLExporter.extra_template_basedirs = [handlers.template_path]
    config = config.copy()
    config.merge(extra)
    resources = {"assignment_id": made.NAME, "notebook_id": made.NAME, "submission_id": "5", "index": 0, "total": 1,
                 "base_url": "", "student": "ada", "last_name": None, "first_name": None,
                 "notebook_path": "autograded/ada/x.ipynb"}  # fmt: skip
    return HTMLExporter(config=config).from_filename(str(file), resources=resources | about)[0]


@contextlib.contextmanager
def with_cells(graded, cells):
    """The graded notebook has more cells for a while, whether they are valid or not."""
    file, before = graded
    notebook = nbformat.reads(before, as_version=4)
    notebook.cells += cells
    file.write_text(json.dumps(notebook), encoding="utf-8")
    yield file
    file.write_text(before, encoding="utf-8")


def feedback_page(course, student="ada"):
    pages, _ = write_feedback(course, [made.NAME])
    page = course.path("feedback", student, made.NAME, f"{made.NAME}.html")
    assert page in pages
    return page.read_text(encoding="utf-8")


ACTIVE = set(
    "applet audio base button embed form frame iframe input link marquee math meta noscript object plaintext script "
    "style svg template textarea video".split()
)
ADDRESSES = ("href", "src", "srcset", "action", "formaction", "data", "xlink:href", "poster", "background", "srcdoc")


def what_runs(page, parser):
    """All of a page that could run, load, send or be taken for a part of the formgrader."""
    found = []
    for element in BeautifulSoup(page, parser).find_all(True):
        if element.name in ACTIVE:
            found.append(str(element))
        for name, value in element.attrs.items():
            words = " ".join(value) if isinstance(value, list) else value
            address = (
                words if name in ADDRESSES and not words.startswith(("data:image/", "https://a.example", "#")) else ""
            )
            if (
                name.startswith(("on", "data-", "form"))
                or name in ("id", "name")
                or address
                or (name == "style" and "(" in words)
            ):
                found.append(f"{element.name} {name}={words}")
    return sorted(found)


def of_learners(page, mine, parser):
    """What runs in a page and not in the same without a learner's cells; their ids and pictures are the exporter's."""
    theirs = [one for one in what_runs(page, parser) if one not in mine]
    return [one for one in theirs if not one.startswith(("div id=cell-id=", "img src=x.png"))]


@pytest.mark.notebook
def test_nothing_of_a_learner_runs(course, graded):
    names = dict.fromkeys(("last_name", "first_name", "student"), "".join(PAYLOADS))
    without = formgrader_page(course.config(), graded[0]), feedback_page(course)
    with with_cells(graded, [cell for payload in PAYLOADS for cell in places(payload)]) as file:
        both = formgrader_page(course.config(), file, **names), feedback_page(course)
    for page, before in zip(both, without, strict=True):
        for parser in ("html.parser", "lxml"):
            assert of_learners(page, what_runs(before, parser), parser) == []


@pytest.mark.notebook
def test_what_is_harmless_stays_readable(course, graded):
    with with_cells(graded, list(harmless())) as file:
        both = formgrader_page(course.config(), file), feedback_page(course)
    for page in both:
        soup = BeautifulSoup(page, "html.parser")
        text = soup.get_text()
        for wanted in (
            "printed <b>text</b>",
            "ValueError: a < b",
            "$\\alpha < 1$",
            "tensor([0.25])",
            "x = 1",
            "Because.",
        ):
            assert wanted in text, wanted
        assert "$\\sum_i w_i < 2$" in text and "a<b" in text and "weights = {'a': 1}" in text
        assert "(Not shown on this page: application/javascript)" in text and ".dataframe" not in soup.body.get_text()
        assert soup.find("th", string="key") and soup.find("td", string="0.25") and soup.find("li", string="first")
        assert soup.find(class_="ansi-red-fg", string="ValueError") and soup.find("summary", string="Why")
        assert soup.find("b", string="red")["style"] == "color: red;"
        assert soup.find("a", string="a page")["href"] == "https://example.org/x?a=1&b=2"
        figure = soup.find("img", alt="a map of weights")
        assert figure["src"] == f"data:image/png;base64,{PNG}" and figure["width"] == "640"
        assert soup.find("img", alt="drawn")["src"] == f"data:image/png;base64,{PNG}"
        assert soup.find("img", src=lambda src: src.startswith("data:image/svg+xml;base64,"))
        assert "Out[7]:" in text and "In\xa0[7]:" in text


@pytest.mark.notebook
def test_the_payloads_run_where_nothing_is_cleaned(graded):
    """So that the test above tests something: without the course's configuration they come through."""
    outputs = [new_output("display_data", data={"text/html": payload}) for payload in PAYLOADS]
    with with_cells(graded, [*map(new_markdown_cell, PAYLOADS[:40]), new_code_cell(outputs=outputs)]) as file:
        page = formgrader_page(Config(), file)
    assert f"<script>{HIT}</script>" in page and f"onerror={HIT}" in page.replace('"', "")


@pytest.mark.notebook
def test_what_a_learner_displays_is_cleaned_from_end_to_end(course):
    shows = f"""
from IPython.display import HTML, Javascript, Markdown, IFrame, Image, display
display(HTML("<b>seen</b><script>{HIT}</script>"), Javascript("{HIT}"), IFrame("{JS}", 9, 9))
display(Markdown("*read* <img src=x onerror={HIT}>"))
display({{"image/png": "AAAA"}}, raw=True, metadata={{"image/png": {{"width": "1 onerror={HIT}"}}}})
cat_score = 1.05"""
    made.hand_in(course, "eve", made.answered(course, sat=shows, words=f"It sums. <script>{HIT}</script>"))
    assert grading.grade_one(course, made.NAME, "eve")["cells"]["check_sat"]["points"] == 1
    shown = [formgrader_page(course.config(), course.path("autograded", "eve", made.NAME, f"{made.NAME}.ipynb"))]
    shown.append(feedback_page(course, "eve"))
    for page in shown:
        soup = BeautifulSoup(page, "html.parser")
        assert soup.find("b", string="seen") and soup.find("em", string="read") and "It sums." in soup.get_text()
        assert not any(HIT in str(script) for script in soup(["script", "iframe"]))
        assert not any(
            name.startswith("on") and HIT in str(value) for e in soup(True) for name, value in e.attrs.items()
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    "text", ["<div>" * 9_999, "<table>" * 20_000, "<b></i>" * 5_000, "<!--" * 9_999, "&" * 100_000]
)
def test_cleaning_ends(text):
    started = time.process_time()
    cleaning.clean(text)
    assert time.process_time() - started < 10


@pytest.mark.slow
@pytest.mark.parametrize(
    "text", ["\\begin{a}", "\\\\(", "$", "\\begin{a}\n", "`", "[", "**", "<!--", "|a|\n|-|\n", "> "]
)
def test_markdown_ends(text):
    started = time.process_time()
    assert cleaning.markdown2html({}, text * 60_000)
    assert time.process_time() - started < 20


def test_nbgraders_own_commands_have_the_same_exporter():
    assert Course.here().config().HTMLExporter.preprocessors == ["course_lib.grading.cleaning.Harmless"]
