"""Every lesson is a lecture too: it has a plan, notes, and slides that keep what is projected and nothing else."""

import base64
import gzip
import html
import re
from functools import cache

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output, new_raw_cell

from course_lib import claims, plotting
from course_lib.tools import lessons, slides

MINUTES = range(40, 51)
LINES = 14  # of code on a slide


@cache
def read(path):
    return nbformat.read(path, as_version=4)


def markdown(kind, source, **metadata):
    return new_markdown_cell(source, metadata={"slideshow": {"slide_type": kind}, **metadata})


def note(source):
    about = {"slideshow": {"slide_type": "notes"}, "raw_mimetype": "text/x-speaker-notes"}
    return new_raw_cell(source, metadata=about)


def code(kind, source, **metadata):
    return new_code_cell(source, metadata={"slideshow": {"slide_type": kind}, **metadata})


# ---- the checks: each gives the complaints that it has about a lesson ----


def the_lecture_takes_40_to_50_minutes(notebook):
    total = sum(minutes for *_, minutes in slides.time_plan(notebook))
    return [] if total in MINUTES else [f"{total} minutes"]


def every_section_has_its_minutes(notebook):
    return [title for _, title, minutes in slides.time_plan(notebook) if not minutes]


def minutes_stand_on_a_sections_first_slide(notebook):
    """There the speaker view shows them in time."""
    late, first = [], True
    for cell in notebook.cells:
        first = lessons.slide_type(cell) == "slide" or (first and lessons.slide_type(cell) != "subslide")
        if lessons.slide_type(cell) == "notes" and slides.MINUTES.search(cell.source) and not first:
            late.append(cell.id)
    return late


def every_section_has_a_heading(notebook):
    starts = [cell for cell in notebook.cells if lessons.slide_type(cell) == "slide"]
    return [cell.id for cell in starts if not re.match(r"#{1,3} ", cell.source)]


def notes_are_plain(notebook):
    """A formula or a link would not work in the speaker view."""
    notes = [cell for cell in notebook.cells if lessons.slide_type(cell) == "notes"]
    return [cell.id for cell in notes if re.search(r"\$|\]\(", cell.source) or "**For the lecturer" not in cell.source]


def notes_are_no_text_of_the_lesson(notebook):
    """Raw cells of a format that only decks know: nbconvert leaves them out, and so do pages on the web."""
    notes = [cell for cell in notebook.cells if lessons.slide_type(cell) == "notes"]
    kinds = [(cell.cell_type, cell.metadata.get("raw_mimetype")) for cell in notes]
    return [cell.id for cell, kind in zip(notes, kinds, strict=True) if kind != ("raw", "text/x-speaker-notes")]


def the_first_explorer_has_notes(notebook):
    """It is alone on the second slide. The notes say what to move, and what to ask."""
    kinds = [lessons.slide_type(cell) for cell in notebook.cells]
    second = [at for at, kind in enumerate(kinds) if kind in ("slide", "subslide")][1]
    following = [kind for kind in kinds[second + 1 :] if kind != "skip"]
    return [] if following and following[0] == "notes" else [notebook.cells[second].id]


def little_code_is_shown(notebook):
    shown = slides.Lecture().preprocess(nbformat.from_dict(notebook), {})[0].cells
    open_code = [c for c in shown if c.cell_type == "code" and not c.metadata.get("transient")]
    return [cell.id for cell in open_code if len(cell.source.splitlines()) > LINES]


CHECKS = [
    the_lecture_takes_40_to_50_minutes,
    every_section_has_its_minutes,
    minutes_stand_on_a_sections_first_slide,
    every_section_has_a_heading,
    notes_are_plain,
    notes_are_no_text_of_the_lesson,
    the_first_explorer_has_notes,
    little_code_is_shown,
]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("path", lessons.find(), ids=lambda path: path.stem)
def test_lesson(path, check):
    assert check(read(path)) == []


# ---- a lecture that pleases every check, and one that displeases each ----

NOTE = "**For the lecturer, 22 min.** Say it."


def lecture(**changed):
    cells = {
        "title": markdown("slide", "# A lesson\n\n**A question?**"),
        "title_note": note(NOTE),
        "opening": code("subslide", "explore()"),
        "opening_note": note("**For the lecturer.** Ask."),
        "told": markdown("skip", "## More to read"),
        "next": markdown("slide", "## The next idea"),
        "shown": code("fragment", "x = 1\ny = 2"),
        "next_note": note(NOTE),
    }
    return new_notebook(cells=[cell for cell in {**cells, **changed}.values() if cell])


FAULTS = {
    "too long": (lecture(next_note=note(NOTE.replace("22", "40"))), CHECKS[0]),
    "no minutes": (lecture(title_note=note(NOTE.replace("22", "44")), next_note=None), CHECKS[1]),
    "late minutes": (lecture(shown=markdown("subslide", "More.")), CHECKS[2]),
    "no heading": (lecture(next=code("slide", "x = 1")), CHECKS[3]),
    "a formula in a note": (lecture(next_note=note(NOTE + " $x$")), CHECKS[4]),
    "a link in a note": (lecture(next_note=note(NOTE + " [here](x.md)")), CHECKS[4]),
    "a note that is none": (lecture(more=note("Say.")), CHECKS[4]),
    "a note in the text": (lecture(next_note=markdown("notes", NOTE)), CHECKS[5]),
    "no word on the explorer": (lecture(opening_note=None), CHECKS[6]),
    "a wall of code": (lecture(shown=code("fragment", "x = 1\n" * 15)), CHECKS[7]),
    "many lines chosen": (lecture(shown=code("fragment", "x = 1\n" * 20, slide_lines=[[1, 15]])), CHECKS[7]),
}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_a_good_lecture_passes(check):
    assert check(lecture()) == []


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found_by_its_check_and_no_other(fault):
    notebook, expected = FAULTS[fault]
    assert [check for check in CHECKS if check(notebook)] == [expected]


def test_every_check_has_a_fault_to_find():
    assert {check for _, check in FAULTS.values()} == set(CHECKS)


# ---- what is projected ----


def projected(*cells):
    notebook, _ = slides.Lecture().preprocess(new_notebook(cells=list(cells)), {})
    return notebook.cells


def test_skipped_cells_are_left_out_and_folded_source_is_not_shown():
    cells = projected(
        markdown("slide", "# A"),
        code("skip", "x = 1"),
        code("-", "draw()", jupyter={"source_hidden": True}),
        code("-", "ask()", slide_lines=[]),
        code("-", "open()"),
    )
    assert [cell.source for cell in cells] == ["# A", "draw()", "ask()", "open()"]
    assert [bool(cell.metadata.get("transient")) for cell in cells] == [False, True, True, False]


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        ([[1, 4]], "a\nb\nc\nd"),
        ([[2, 3]], "# …\nb\nc\n# …"),
        ([[1, 1], [4, 4]], "a\n# …\nd"),
        ([[1, 2], [3, 4]], "a\nb\nc\nd"),
    ],
)
def test_only_the_lines_that_matter_are_shown(lines, shown):
    assert projected(code("slide", "a\nb\nc\nd", slide_lines=lines))[0].source == shown


@pytest.mark.parametrize("lines", [[[0, 1]], [[3, 2]], [[2, 3], [3, 4]], [[1, 5]]])
def test_lines_that_are_not_there_are_named(lines):
    with pytest.raises(ValueError, match="within 1 to 4"):
        projected(code("slide", "a\nb\nc\nd", slide_lines=lines))


def test_lines_left_out_are_marked_where_the_next_line_begins():
    assert projected(code("slide", "for a in b:\n    c\n    d", slide_lines=[[1, 1], [3, 3]]))[0].source == (
        "for a in b:\n    # …\n    d"
    )


def test_notes_stand_before_the_fragments_of_their_slide():
    cells = projected(
        markdown("slide", "# A"), code("fragment", "x"), note("a"), note("b"),
        markdown("subslide", "B"), code("fragment", "y"), note("c"),
    )  # fmt: skip
    assert [cell.source.splitlines()[0] for cell in cells] == ["# A", "a", "b", "x", "B", "c", "y"]


def test_the_first_notes_get_the_time_plan():
    cells = projected(*lecture().cells)
    assert "**The plan: 44 minutes**" in cells[1].source
    assert "| 22 | The next idea | 22 |" in cells[1].source
    assert "plan" not in cells[-1].source


def drawn(cell, picture="iVBO"):
    cell.outputs.append(new_output("display_data", {"image/png": picture}))
    return cell


def shown_by(cell):
    """The texts and pictures that a cell shows."""
    return [text for output in cell.get("outputs", []) for text in output.data.values()]


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("loss before 2.50, after < 1\n", "<p>loss before 2.50, after &lt; 1</p>"),
        ("two\nlines\n", "<p>two<br>lines</p>"),
        ("most likely:  >>> list(s)", "<p>most likely: &gt;&gt;&gt; list(s)</p>"),
        ("the sum:  1\ndone", "<p>the sum: 1<br>done</p>"),
        (
            "0.87  She is afraid.\n0.1   Bread.\n",
            '<table class="printed"><tr><td>0.87</td><td>She is afraid.</td></tr>'
            "<tr><td>0.1</td><td>Bread.</td></tr></table>",
        ),
    ],
)
def test_what_is_printed_is_shown_as_words(printed, shown):
    streamed, valued = code("slide", "say()"), code("-", "it")
    streamed.outputs = [new_output("stream", text=printed)]
    valued.outputs = [new_output("execute_result", {"text/plain": printed}, execution_count=1)]
    assert [shown_by(cell) for cell in projected(streamed, valued)] == [[shown], [shown]]


@pytest.mark.parametrize("path", lessons.find(), ids=lambda path: path.stem)
def test_no_slide_shows_a_print_as_code(path):
    cells = slides.Lecture().preprocess(nbformat.from_dict(read(path)), {})[0].cells
    assert [cell.id for cell in cells if any(map(lessons.printed, cell.get("outputs", [])))] == []


MEASURED = '<p class="measured" data-vote="cell-id=vote">Measured: <b>4</b>.</p>'


@pytest.mark.parametrize("kind", ["skip", "fragment"])
def test_a_vote_has_its_answer_on_its_slide(kind):
    vote, compared = code("slide", "guess = widgets.Prediction('?', ['a', 'b'])"), code(kind, "guess.compare(str(4))")
    vote.id = "vote"
    compared.outputs = [new_output("display_data", {"text/html": "<p>Measured: <b>4</b>.</p>"})]
    assert [shown_by(cell) for cell in projected(vote, compared)] == [[MEASURED]] * (1 + (kind != "skip"))


@pytest.mark.parametrize("path", lessons.find(), ids=lambda path: path.stem)
def test_every_vote_on_a_slide_has_one_answer(path):
    cells = slides.Lecture().preprocess(nbformat.from_dict(read(path)), {})[0].cells
    votes = [cell for cell in cells if cell.cell_type == "code" and lessons.VOTE.search(cell.source)]
    answers = [sum(f'data-vote="cell-id={vote.id}"' in text for text in map(str, shown_by(vote))) for vote in votes]
    assert votes and answers == [1] * len(votes)


def judged(claim="N8", **conditions):
    given = {"finding": "{share:.0%} were correct.", "measured_on": "toy French", **conditions}
    record = claims.judged(claim, {"share": 0.5}, **given)
    cell = code("-", "judge()")
    cell.outputs = [new_output("display_data", {claims.MIME: record, "text/html": "a box"})]
    return cell


def test_a_verdict_is_a_sentence_and_a_picture():
    cells = projected(
        drawn(code("slide", "first()"), "old"), drawn(code("subslide", "draw()")), drawn(code("skip", "x()"), "unseen"),
        markdown("subslide", "### Is it?\n\n**A sentence for all.**\n\nA **sentence** to read."),
        judged(as_said="share > 1", scope="a few runs"),
    )  # fmt: skip
    heading, note, verdict, picture = cells[2:]
    assert heading.source == "### Is it?\n\n**A sentence for all.**" and shown_by(picture) == ["iVBO"]
    (said,) = shown_by(verdict)
    assert claims.ledger()["N8"]["sentence"] in said and said.endswith("<b>✗\u00a0does not hold</b> (toy French).</p>")
    assert lessons.slide_type(note) == "notes" and note.source.startswith("a few runs\n\n50% were correct.")


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ({"sentence": "it sees *everything*"}, "“it sees <em>everything</em>”"),
        ({"sentence": 'it is "just" <sums>'}, "“it is ‘just’ &lt;sums&gt;”"),
        ({"sentence": "words", "sense": "a sentence"}, "“a sentence”"),
    ],
)
def test_the_sentence_of_a_verdict_is_what_is_claimed(claim, said, monkeypatch):
    monkeypatch.setattr(claims, "ledger", lambda: {"N8": claim})
    record = {"id": "N8", "verdict": claims.WITHIN, "limits": "a < b. Else not.", "measured_on": "real text"}
    sentence = slides.sentence(record)
    assert said in sentence and sentence.endswith("<b>≈\u00a0holds only if</b> a &lt; b (real text).</p>")
    record |= {"verdict": claims.UNTESTABLE, "measured_on": ""}
    assert slides.sentence(record).endswith("<b>?\u00a0cannot be tested</b>.</p>")


@pytest.mark.parametrize("path", lessons.find(), ids=lambda path: path.stem)
def test_every_verdict_on_a_slide_has_one_sentence_and_one_picture(path):
    """And a heading, but no other output, nor other text than one bold sentence."""
    there = [cell for cell in read(path).cells if lessons.slide_type(cell) not in ("skip", "notes")]
    found = []
    for cell in slides.Lecture().preprocess(nbformat.from_dict(read(path)), {})[0].cells:
        if lessons.slide_type(cell) in ("slide", "subslide"):
            found.append([])
        if cell.cell_type == "code":
            found[-1] += [output.data.get("text/html", "a picture") for output in cell.outputs]
        elif lessons.slide_type(cell) != "notes":
            found[-1].append(re.sub(r"\n\n\*\*[^*]+\*\*", "", cell.source.strip()))
    verdicts = [shown for shown in found if any(text.startswith('<p role="note"') for text in shown)]
    assert len(verdicts) == len(claims.boxes({"cells": there}))
    for heading, _, *picture in verdicts:
        assert re.fullmatch("#+ .*", heading) and picture == ["a picture"]


# ---- a deck ----


@pytest.fixture(scope="module")
def deck(tmp_path_factory):
    """The text of the deck of a small lesson."""
    linked = markdown("slide", "# A [term](../glossary/term.md) and [the paper](https://arxiv.org/abs/1409.0473)")
    shown = code("-", "1 + 1")
    drawn = new_output("display_data", {"image/png": "iVBO"}, metadata={"image/png": {"alt": "One < two"}})
    vector = base64.b64encode(gzip.compress(b"<svg>")).decode()
    both = {"image/png": "iVBO", plotting.VECTOR: vector}
    also = new_output("display_data", both, metadata={"image/png": {"alt": "Two"}})
    shown.outputs = [new_output("execute_result", {"text/plain": "2"}, execution_count=1), drawn, also]
    folder = tmp_path_factory.mktemp("a course")
    nbformat.write(new_notebook(cells=[linked, shown, note(NOTE)]), folder / "01_a.ipynb")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lessons, "NOTEBOOKS", folder)
        patch.setattr(slides.web, "copy_models", lambda assets: None)  # no lesson of this course has one in it
        (file,) = slides.build(folder=folder / "decks")
    return file


def test_what_a_deck_loads_lies_beside_it(deck):
    loaded = re.findall(r'<(?:script|link)[^>]* (?:src|href)="([^"]+)"', deck.read_text(encoding="utf-8"))
    assert {"assets/reveal/dist/reveal.js", "assets/slides.css", "assets/widgets.js"} <= set(loaded)
    assert [name for name in loaded if not (deck.parent / name).is_file()] == []


def test_a_deck_has_its_slide_its_notes_and_no_link_to_files_that_stay_behind(deck):
    text = deck.read_text(encoding="utf-8")
    assert text.count("<section") == 2  # a stack of one
    assert '<aside class="notes">' in text and "Say it." in text
    assert "term.md" not in text and "A term and" in text and "https://arxiv.org/abs/1409.0473" in text


def test_a_picture_keeps_its_description(deck):
    alts = re.findall('<img [^>]*alt="([^"]*)"', deck.read_text(encoding="utf-8"))
    assert [html.unescape(alt) for alt in alts] == ["One < two", "Two"]


def test_a_picture_is_vector_graphics_where_the_lesson_has_them(deck):
    picture, vector = re.findall('<img [^>]*src="([^"]*)"', deck.read_text(encoding="utf-8"))
    assert picture == "data:image/png;base64,iVBO"
    assert vector == f"data:image/svg+xml;base64,{base64.b64encode(b'<svg>').decode()}"


# ---- the time of a reader ----


@pytest.mark.parametrize(
    ("cells", "minutes"),
    [
        ([markdown("slide", "word " * 650)], 5),
        ([markdown("slide", "word " * 651)], 10),
        ([markdown("slide", "<details>\n\n" + "word " * 900 + "\n\n</details>")], 0),
        ([code("-", "x = 1\n\n" * 50)], 5),
        ([code("-", "x = 1\n" * 50, jupyter={"source_hidden": True})], 0),
        ([markdown("slide", "| a |\n|---|\n| b |\n\n" * 16)], 10),
        ([markdown("slide", "word"), markdown("skip", "## More claims"), markdown("skip", "word " * 900)], 5),
    ],
)
def test_words_visible_lines_and_tables_take_a_reader_time(cells, minutes):
    assert lessons.minutes_to_read(new_notebook(cells=cells)) == minutes
