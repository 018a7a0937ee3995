"""The book: a PDF and an EPUB, in which a reader misses nothing."""

import functools
import posixpath
import re
import zipfile
from urllib.parse import unquote, urlsplit
from xml.dom import minidom
from xml.parsers.expat import ExpatError

import pytest
from pypdf import PdfReader
from pypdfium2 import PdfDocument  # reads the text of all pages thirty times as fast as pypdf

from course_lib.tools import book, lessons, pages

pytestmark = pytest.mark.browser
TEX = re.compile(r"\\\(|\\[a-zA-Z]{2,}|\$[^$\n]+\$")
LESSON = "notebooks/02_bahdanau_attention.xhtml"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("book")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(book, "SOURCE", folder / "source")
        patch.setattr(book, "FOLDER", folder / "pages")
        return book.build(folder)


@functools.cache  # the tests of faults change one page each
def read(text):
    """Of a page in XML: its ids, what it links or shows, its raw TeX, and whether it holds formulas and drawings."""
    page = minidom.parseString(text)
    elements = page.getElementsByTagName("*")
    names = [element.getAttribute("id") for element in elements if element.hasAttribute("id")]
    targets = [element.getAttribute(where) for element in elements for where in ("href", "src")]
    held = {kind for tag, kind in (("math", "mathml"), ("svg", "svg")) if page.getElementsByTagName(tag)}
    return names, [urlsplit(target) for target in targets if target], TEX.findall(words(page.documentElement)), held


def words(element):
    """An element's text without code, drawings and formulas."""
    if element.nodeType == element.TEXT_NODE:
        return element.data
    left_out = element.nodeName in ("pre", "code", "svg", "math", "head")
    return "" if left_out else "".join(map(words, element.childNodes))


def faults(epub):
    """What is wrong with an EPUB: its container, its list of files, its pages' XML, links, pictures and formulas."""
    with zipfile.ZipFile(epub) as archive:
        first = archive.infolist()[0]
        if (first.filename, first.compress_type, archive.read(first)) != ("mimetype", 0, b"application/epub+zip"):
            yield "does not begin with its type"
        held = set(archive.namelist())
        container = minidom.parseString(archive.read("META-INF/container.xml"))
        package = container.getElementsByTagName("rootfile")[0].getAttribute("full-path")
        listed = minidom.parseString(archive.read(package))
        items = {item.getAttribute("id"): item for item in listed.getElementsByTagName("item")}
        yield from (
            f"lists {file}, which is missing" for file in {i.getAttribute("href") for i in items.values()} - held
        )
        order = [part.getAttribute("idref") for part in listed.getElementsByTagName("itemref")]
        yield from (f"reads {part}, which is not listed" for part in order if part not in items)
        found = {}
        for item in items.values():
            file = item.getAttribute("href")
            if file.endswith(".xhtml") and file in held:
                try:
                    names, targets, tex, kinds = read(archive.read(file))
                except ExpatError as error:
                    yield f"{file}: {error}"
                    continue
                found[file] = set(names), targets
                if len(set(names)) < len(names):
                    yield f"{file}: an id is there twice"
                yield from (f"{file}: raw TeX {one!r}" for one in tex)
                if kinds != {"mathml", "svg"} & set(item.getAttribute("properties").split()):
                    yield f"{file}: is listed without {kinds}"
    for file, (_, targets) in found.items():
        for target in targets:
            if target.scheme in ("http", "https", "mailto", "data"):
                continue
            path = posixpath.join(posixpath.dirname(file), unquote(target.path)) if target.path else file
            there = posixpath.normpath(path)
            if there not in held:
                yield f"{file}: leads to {there}, which is missing"
            elif target.fragment and there in found and unquote(target.fragment) not in found[there][0]:
                yield f"{file}: leads to {there}#{target.fragment}, which is missing"


def test_the_epub_is_whole(made):
    assert list(faults(made[0])) == []


@pytest.mark.parametrize(
    ("file", "old", "new", "fault"),
    [
        ("mimetype", "application/epub+zip", "text/plain", "does not begin with its type"),
        ("content.opf", f'href="{LESSON}"', 'href="gone.xhtml"', "lists gone.xhtml, which is missing"),
        ("content.opf", 'idref="epub-0"', 'idref="epub-x"', "reads epub-x, which is not listed"),
        ("content.opf", ' properties="mathml svg"', "", "is listed without"),
        (LESSON, "</body>", "<br></body>", "mismatched tag"),
        (LESSON, "</body>", r"<p>the weight \(\alpha_i\)</p></body>", "raw TeX"),
        (LESSON, "</body>", "<p>the weight $a_i$</p></body>", "raw TeX"),
        (LESSON, "</body>", '<p id="cell-02-verdict-n9"/></body>', "an id is there twice"),
        (LESSON, 'id="cell-02-verdict-n9"', "", f"leads to {LESSON}#cell-02-verdict-n9, which is missing"),
        (LESSON, "</body>", '<img src="gone.png" alt=""/></body>', "leads to notebooks/gone.png, which is missing"),
    ],
)
def test_a_fault_of_the_epub_is_seen(made, tmp_path, file, old, new, fault):
    broken = tmp_path / "broken.epub"
    with zipfile.ZipFile(made[0]) as whole, zipfile.ZipFile(broken, "w") as archive:
        for each in whole.infolist():
            data = whole.read(each)
            if each.filename == file:
                assert old in data.decode()
                data = data.decode().replace(old, new).encode()
            archive.writestr(each, data)
    assert any(fault in told for told in faults(broken))


def test_the_epub_shows_every_figure_and_each_explorer_as_a_picture(made):
    with zipfile.ZipFile(made[0]) as archive:
        for path in lessons.find():
            page = archive.read(f"notebooks/{path.stem}.xhtml").decode()
            text = path.read_text(encoding="utf-8")
            assert page.count("<svg") >= text.count('"image/png": "') + text.count('"image/svg+xml":')
            assert page.count('aria-label="Verdict') == text.count(r"aria-label=\"Verdict")
            assert "<button" not in page and "<input" not in page and "For the lecturer" not in page


@pytest.fixture(scope="module")
def printed(made):
    """The text of each page of the PDF."""
    return [" ".join(page.get_textpage().get_text_bounded().split()) for page in PdfDocument(made[1])]


def test_the_contents_of_the_pdf_name_every_lesson_and_the_page_on_which_it_begins(made, printed):
    contents = "\n".join(page.extract_text(extraction_mode="layout") for page in PdfReader(made[1]).pages[1:6])
    for number, path in enumerate(lessons.find()):
        title = f"{number} · {pages.title(path)}"
        at = re.search(rf"^ *{re.escape(title)} +(\d+)$", contents, re.MULTILINE)[1]
        assert printed[int(at) - 1].startswith(f"{title} {at} {title}")  # head, number, and the chapter's title


def test_the_pdf_has_text_on_every_page_marks_for_its_chapters_and_no_formula_as_tex(made, printed):
    assert 300 < len(printed) < 800
    assert min(len(text.split()) for text in printed) > 3
    assert not [text for text in printed if re.search(r"\\(frac|alpha|mathrm|sqrt|text)\b|\$\$", text)]
    marks = list(flat(PdfReader(made[1]).outline))
    assert {f"{number} · {pages.title(path)}" for number, path in enumerate(lessons.find())} <= set(marks)


def flat(outline):
    """The titles of all bookmarks."""
    for mark in outline:
        yield from flat(mark) if isinstance(mark, list) else [mark.title]
