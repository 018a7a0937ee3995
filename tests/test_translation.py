"""Translated pages: what is extracted, what a catalogue may hold, and what a page shows of it."""

import re

import nbformat
import pytest
from babel.messages import pofile

from course_lib.files import DATA, ROOT
from course_lib.tools import site, translation

PAGES = [translation.catalogue_of(file) for file in translation.PAGES]
FINISHED = [*PAGES, translation.SITE, translation.SHOWN, translation.CHECKS]
MARKS = {
    "places": r"\{\d+\}",
    "links": r"\]\([^)]*\)",
    "formulas": r"\$\$.*?\$\$|\$[^$]+\$",
    "code": r"`[^`]+`",
    "tags": r"</?[a-z][^>]*>",
    "numbers": r"(?<![\w{])\d+(?:\.\d+)?(?!\})",
    "bold": r"\*\*",
}
GROUPS = re.compile(r"(?<=\d)[,\N{NARROW NO-BREAK SPACE}](?=\d{3}\b)")


@pytest.fixture(scope="module")
def extracted():
    return translation.extract(site.translatable())


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder for catalogues, of pages without checks and terms."""
    monkeypatch.setattr(translation, "FOLDER", tmp_path)
    monkeypatch.setattr(translation, "exercises", dict)
    monkeypatch.setattr(translation, "linked_terms", list)
    return tmp_path


def messages(language, name):
    return [message for message in translation.read(language, name) if message.id]


def page_of(*cells, **metadata):
    return nbformat.v4.new_notebook(cells=[*map(nbformat.v4.new_markdown_cell, cells)], metadata=metadata)


# ---- what is extracted ----


@pytest.mark.parametrize("file", translation.PAGES, ids=PAGES)
def test_every_line_that_a_page_says_is_extracted(file, extracted):
    texts = "\n".join(extracted[translation.catalogue_of(file)])
    for cell in nbformat.read(file, as_version=4).cells:
        if cell.cell_type == "markdown":
            prose = re.sub(r"^```.*?^```|\$\$.*?\$\$", "", cell.source, flags=re.MULTILINE | re.DOTALL)
            for line in re.split(r"\n|</?(?:details|summary)>| · ", prose):
                assert not re.search("[a-z]{2}", line) or line in texts, cell.id


def test_what_the_cells_of_a_lesson_show_is_extracted(extracted):
    """Boxes, predictions, tables and the texts of figures. Prints and the labels in figures stay as they are."""
    file = translation.PAGES[0]
    texts = extracted[translation.catalogue_of(file)]
    outputs = [o for cell in nbformat.read(file, as_version=4).cells for o in cell.get("outputs", [])]
    alts = [o.metadata["image/png"]["alt"] for o in outputs if "image/png" in o.get("metadata", {})]
    limits = re.findall(
        r"<div>(<b>[≈✗±✓][^<]+</b>[ :].*?)</div>", "".join(o.get("data", {}).get("text/html", "") for o in outputs)
    )
    options = [option for o in outputs for option in re.findall("<li>(.*?)</li>", str(o.get("data")))]
    shown = [translation.masked(text)[0] for text in (*alts, *limits, *options)]
    assert len(alts) > 5 and len(limits) > 5 and len(options) > 5
    assert [text for text in shown if text not in texts and text not in extracted[translation.SHOWN]] == []


def test_every_misconception_and_its_hint_is_extracted(extracted):
    files = [file for lesson in translation.LESSONS for file in ROOT.glob(f"course_lib/checks/{lesson}/*.py")]
    code = "".join(file.read_text("utf-8") for file in files)
    names = re.findall(r'(?:\.edit\(|Misconception\(|misconception\()\s*"([^"]+)"', code)
    assert len(names) > 40 and {*names} <= extracted[translation.CHECKS].keys()


def test_what_scripts_say_is_in_them():
    folders = {"reading.js": DATA / "site" / "_static"}
    for script, texts in translation.SCRIPTS.items():
        code = (folders.get(script, DATA) / script).read_text(encoding="utf-8")
        assert all(re.search(f'["`>]{text}', code) for text in texts), script


# ---- what a catalogue holds ----


@pytest.mark.parametrize("language", translation.languages())
@pytest.mark.parametrize("name", FINISHED)
def test_a_finished_catalogue_translates_nearly_all_of_todays_texts(name, language, extracted):
    """A text that has changed stays English on the page. If too many do, run `make translate` and translate them."""
    lacking = extracted[name].keys() - {m.id for m in messages(language, name) if m.string and not m.fuzzy}
    assert len(lacking) <= 0.05 * len(extracted[name]), lacking


@pytest.mark.parametrize("language", translation.languages())
@pytest.mark.parametrize("name", FINISHED)
def test_a_translation_has_the_marks_of_its_text(name, language):
    for message in (one for one in messages(language, name) if not one.fuzzy):
        for kind, pattern in MARKS.items():
            here, there = (
                sorted(re.findall(pattern, GROUPS.sub("", text), re.DOTALL)) for text in (message.id, message.string)
            )
            assert here == there, (kind, message.id)


@pytest.mark.parametrize("language", translation.languages())
@pytest.mark.parametrize("name", FINISHED)
def test_a_catalogue_says_what_it_is(name, language):
    header = dict(translation.read(language, name).mime_headers)
    assert header["Project-Id-Version"].startswith("Attention, Measured ") and header["Language"] == language
    assert not [value for value in header.values() if re.search("YEAR|FULL NAME|EMAIL|@", value)]


# ---- extracting again ----

OLD = "The old state is kept, and then a new word is read from the sentence."
NEW = OLD.replace("kept", "left")


def updated(**pages):
    pages = {translation.SITE: page_of(), **pages}
    return [file.stem for file in translation.update("de", pages)]


def translated(name, text, said):
    catalogue = translation.read("de", name)
    catalogue[text].string = said
    with translation.catalogue_file("de", name).open("wb") as file:
        pofile.write_po(file, catalogue)


def test_a_second_run_changes_nothing_and_a_new_text_changes_its_catalogue_alone(folder):
    assert "page" in updated(page=page_of(OLD))
    before = {file: file.read_bytes() for file in folder.rglob("*.po")}
    assert updated(page=page_of(OLD)) == []
    assert {file: file.read_bytes() for file in folder.rglob("*.po")} == before
    assert updated(page=page_of(OLD, "More.")) == ["page"]


def test_a_translation_is_kept_and_becomes_fuzzy_when_its_text_changes(folder):
    updated(page=page_of(OLD))
    translated("page", OLD, "Der alte Zustand bleibt.")
    updated(page=page_of("More.", OLD))
    assert translation.read("de", "page")[OLD].string == "Der alte Zustand bleibt."
    updated(page=page_of("More.", NEW))
    message = translation.read("de", "page")[NEW]
    assert message.string == "Der alte Zustand bleibt." and message.fuzzy


@pytest.mark.parametrize("language", ["", "xx", "../de", "German"])
def test_an_unknown_language_is_refused(folder, language):
    with pytest.raises(SystemExit, match="needs the code of a language"):
        translation.update(language, {})
    assert [*folder.iterdir()] == []


def test_a_missing_or_damaged_catalogue_is_named_with_what_to_do(folder):
    with pytest.raises(SystemExit, match=r"page\.po is missing\. `make translate ARGS=de`"):
        translation.read("de", "page")
    updated(page=page_of(OLD))
    with translation.catalogue_file("de", "page").open("a", encoding="utf-8") as file:
        file.write('msgid "no end\n')
    with pytest.raises(SystemExit, match=r"page\.po is damaged: .*Correct it, or get it again with git"):
        translation.read("de", "page")


# ---- what a page shows ----


def said(folder, texts):
    updated(page=page_of(*texts))
    for text, translation_ in texts.items():
        translated("page", text, translation_)
    return translation.Texts("de", ["page"])


def test_a_paragraph_whose_english_has_changed_is_english(folder):
    said(folder, {OLD: "Der alte Zustand bleibt.", "More.": "Mehr."})
    updated(page=page_of(NEW, "More."))
    texts = translation.Texts("de", ["page"])
    shown = translation.walk(page_of(f"{NEW}\n\nMore."), texts.of, texts.of_shown).cells[0].source
    assert shown == f'<div lang="en">\n\n{NEW}\n\n</div>\n\nMehr.'


def test_numbers_code_and_links_of_an_output_come_to_their_places(folder):
    texts = said(folder, {"{1} of {2} are {3}, see {4}it</a>": "Von {2} sind {1} {3}, siehe {4}das</a>"})
    text = '0.5 of 15,000 are <code>x > 1</code>, see <a href="a01">it</a>'
    wanted = 'Von 15\N{NARROW NO-BREAK SPACE}000 sind 0.5 <code>x > 1</code>, siehe <a href="a01">das</a>'
    assert texts.of_shown(text) == wanted
    assert texts.of_shown("unknown, 3") == "unknown, 3"


def test_a_text_within_a_text_of_a_widget_is_translated_too(folder):
    texts = said(folder, {"✗ {1} {2} wrong": "✗ {1} {2} falsch", "cats": "Katzen", "out: {1}": "heraus: {1}"})
    frame = '<div><b>✗ 3 cats wrong</b></div><svg aria-label="out: a cat"></svg>'
    wanted = '<div><b>✗ 3 Katzen falsch</b></div><svg aria-label="heraus: a cat"></svg>'
    assert translation.in_html(frame, texts.of_shown) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("<p>one</p>", "<p>ONE</p>"),
        ("<pre>one</pre><p>two</p>", '<pre lang="en">one</pre><p>TWO</p>'),
        ('<th scope="row">one_two</th>', '<th lang="en" scope="row">one_two</th>'),
        (
            '<svg class="figure" aria-label="one"><g><text>two</text></g></svg>',
            '<svg class="figure" aria-label="ONE"><g lang="en"><text>two</text></g></svg>',
        ),
        ('<p class="languages"><a href="">one</a></p>', '<p class="languages"><a href="">one</a></p>'),
        ("<td>0.5</td>", "<td>0.5</td>"),
    ],
)
def test_prints_names_and_labels_in_figures_stay_english_and_are_marked(text, wanted):
    assert translation.in_html(text, str.upper) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("[a](../glossary/loss.md)", "[a](../../glossary/loss.md)"),
        ("[a](02_bahdanau_attention.ipynb)", "[a](../02_bahdanau_attention.ipynb)"),
        ("[a](exercises/01_rnn_bottleneck.ipynb)", "[a](exercises/01_rnn_bottleneck.ipynb)"),
        ("[a](#cell-01-x) [b](https://a.org)", "[a](#cell-01-x) [b](https://a.org)"),
        ('<a href="../slides/01.html">', '<a href="../../slides/01.html">'),
    ],
)
def test_links_of_a_translated_page_lead_to_english_pages_where_no_translated_ones_are(text, wanted):
    assert translation.links_from(text, translation.PAGES[0]) == wanted


# ---- the built pages ----


@pytest.mark.notebook
@pytest.mark.parametrize("language", translation.languages())
@pytest.mark.parametrize("name", PAGES)
def test_a_built_page_is_in_its_language_and_links_the_other(name, language, built_site):
    page, english = ((built_site / f"{folder}{name}.html").read_text("utf-8") for folder in (f"{language}/", ""))
    assert f'<html class="no-js" lang="{language}"' in page and f'<article role="main" lang="{language}"' in page
    assert f'<div class="toc-tree" lang="{language}">' in page and '<body lang="en"' in page
    assert page.count('hreflang="en"') == page.count('rel="alternate" hreflang="de"') + 1 == 2
    assert f'/{language}/{name}.html" lang="{language}" hreflang="{language}"' in english
    assert english.count(f' lang="{language}"') == 1
    assert '<div lang="en">' not in page and f"_static/{language}/{translation.SITE_SCRIPT}" in page


@pytest.mark.notebook
@pytest.mark.parametrize("language", translation.languages())
def test_the_widgets_of_a_built_lesson_speak_its_language(language, built_site):
    page = (built_site / language / f"{PAGES[0]}.html").read_text("utf-8")
    (states,) = re.findall(r'<script type="application/vnd.jupyter.widget-state\+json">(.*?)</script>', page, re.DOTALL)
    english = {m.id for name in FINISHED for m in messages(language, name) if m.id != m.string and "{" not in m.id}
    questions = re.findall(r'"(?:question|name)": "([^"]+)"', states)
    assert len(questions) > 5 and not english & {*questions}
    assert "read back:" not in states and "survive in" not in states
