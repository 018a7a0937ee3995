"""The site: what its pages are made from, and that nothing on them leads nowhere."""

import re
import runpy
import shutil

import jaxtyping
import nbformat
import numpy as np
import pytest
import yaml
from markdown_it import MarkdownIt
from matplotlib.patches import Rectangle
from PIL import Image
from test_notebooks import A_MACHINE
from test_plotting import luminance

from course_lib import LAYERS, claims, glossary, plotting
from course_lib import __main__ as front_door
from course_lib.files import DATA, ROOT
from course_lib.tools import cards, lessons, site, slides
from course_lib.tools.lessons import WIDGET_VIEW

NAMES = [path.stem for path in lessons.find()]


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """What Sphinx reads, without buttons that start a lesson elsewhere."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(site, "SOURCE", tmp_path_factory.mktemp("site") / "source")
        patch.delenv(site.HUB, raising=False)
        patch.setattr(site.hosted, "here", str)
        with patch.context() as quick:
            quick.setattr(jaxtyping.config, "jaxtyping_disable", True)  # shapes of 26,000 sentences take a minute
            quick.setattr(site.web, "copy_models", lambda folder: None)  # no page's source has to do with them
            site.assemble()
        yield site.SOURCE


def read(source, name):
    return nbformat.read(source / "notebooks" / f"{name}.ipynb", as_version=4)


def the_original(name):
    return nbformat.read(lessons.NOTEBOOKS / f"{name}.ipynb", as_version=4)


# ---- lessons ----


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_lesson_is_there_without_its_notes(source, name):
    wanted = [cell.id for cell in the_original(name).cells if lessons.slide_type(cell) != "notes"]
    shown = [cell.id for cell in read(source, name).cells]
    assert [cell for cell in shown if cell in set(wanted)] == wanted
    notes = {cell.id for cell in the_original(name).cells} - set(wanted)
    assert notes and not notes & set(shown)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_cell_can_be_linked_to_and_its_code_and_prints_are_folded(source, name):
    cells = read(source, name).cells
    for before, cell in zip(cells, cells[1:], strict=False):
        if cell.cell_type == "code":
            assert before.source == f"(cell-{name[:2]}-{cell.id})="
            shows = any(lessons.printed(output) is None for output in cell.outputs)
            assert ("hide-input" if shows or not cell.outputs else "hide-cell") in cell.metadata.tags
            assert not shows or all(lessons.printed(output) is None for output in cell.outputs)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_what_answers_a_vote_is_in_a_fold_of_that_vote(source, name):
    """Folds hold no heading, so that the list of contents leads nowhere hidden, and no other vote."""
    folded, votes, told, fold = set(), [], [], None
    for cell in read(source, name).cells:
        if '<details class="answer"' in cell.source:
            fold = re.search(r'data-vote="cell-\d\d-([\w-]+)"', cell.source)[1]
            folded.add(fold)
        elif cell.source == site.FOLDED_TOPIC:
            fold = "a topic"
        elif cell.source == "</details>":
            fold = None
        elif cell.cell_type == "markdown":
            assert not (fold and site.HEADING.search(cell.source))
        elif "widgets.Prediction(" in cell.source:
            assert fold is None
            votes.append(cell.id)
        elif any('<p class="measured">' in output.get("data", {}).get("text/html", "") for output in cell.outputs):
            told.append(fold)
    assert fold is None and sorted(told) == sorted(votes) and folded == set(votes)


def test_an_answer_reaches_from_its_figure_to_the_next_heading_and_to_the_verdicts_of_its_section():
    cell, text = nbformat.v4.new_code_cell, nbformat.v4.new_markdown_cell
    shown = nbformat.v4.new_output("display_data", {"image/png": "iVBO"}, metadata={"image/png": {"alt": "a"}})
    box = nbformat.v4.new_output("display_data", {claims.MIME: {}})
    cells = [
        text("## Section"), cell("figure", outputs=[shown]), cell("guess = widgets.Prediction(1)", id="vote"),
        text("### Look"), cell("code"), cell("figure", outputs=[shown]), cell("guess.compare(2)"), text("Yes."),
        text("### Other"), text("More."),
        text("### Verdict"), cell("claim", outputs=[box]), text("So."),
        text("## Next section"), cell("claim", outputs=[box]),
    ]  # fmt: skip
    assert site.answers(nbformat.v4.new_notebook(cells=cells)) == {5: ("vote", 8), 11: ("vote", 13)}


def test_a_topic_after_the_main_path_is_folded_unless_it_has_something_to_move():
    cell, text = nbformat.v4.new_code_cell, nbformat.v4.new_markdown_cell
    widget = nbformat.v4.new_output("display_data", {WIDGET_VIEW: {}})
    cells = [
        text("## Section"), text("### Not folded"), cell("1"),
        text("## More claims"), text("They are:"),
        text("### One"), cell("figure"), text("So."),
        text("### A vote"), cell("guess = widgets.Prediction(1)", outputs=[widget]),
        text("### Its answer"), cell("guess.compare(2)"),
        text("### An explorer"), text("Move it."), cell("widgets.explorer()", outputs=[widget]),
        text("### Only text"),
        text("### Last"), cell("figure"),
    ]  # fmt: skip
    assert site.topics(nbformat.v4.new_notebook(cells=cells)) == {6: 8, 17: 18}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_lesson_begins_with_its_question_an_explorer_and_its_links(source, name):
    title, _, explorer, rest, *_ = read(source, name).cells
    assert title.source.startswith("# ") and any(WIDGET_VIEW in output.get("data", {}) for output in explorer.outputs)
    assert rest.source.startswith(site.SWITCH) and ("exercises/" in rest.source) == site.has_exercises(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_picture_says_what_is_to_be_seen(source, name):
    outputs = [output for cell in read(source, name).cells for output in cell.get("outputs", [])]
    shown = "".join(output.get("data", {}).get("text/html", "") for output in outputs)
    texts = re.findall(r'class="figure"[^>]* aria-label="(.+?)"', shown)
    assert len(texts) == sum(len(slides.figures(cell)) for cell in the_original(name).cells) > 3
    assert all(len(text.split()) > 9 for text in texts)


@pytest.fixture
def dressed(monkeypatch):
    """The parts of a page that two figures become."""
    outputs = []

    def keep(data, metadata, raw):
        outputs.append(nbformat.v4.new_output("display_data", data, metadata=metadata))

    monkeypatch.setattr(plotting, "display", keep)
    for _ in range(2):
        fig, ax = plotting.figure()
        ax.plot([0, 1], "o-", label="rises")
        ax.legend(fontsize=8.25)
        plotting.show(fig, 'It "rises".')
    site.dress(nbformat.v4.new_code_cell("", outputs=outputs), "cell-01-a")
    assert [output.data.keys() for output in outputs] == [{"text/html"}] * 2
    return [output.data["text/html"] for output in outputs]


def test_a_figure_is_part_of_its_page_with_its_text_and_as_wide_as_its_letters_need(dressed):
    tag = re.match("<svg [^>]*>", dressed[0])[0]
    assert 'role="img" aria-label="It &quot;rises&quot;."' in tag and 'style="--needs: 720px"' in tag
    assert "<style" not in dressed[0], "it would hold for the whole page"


def test_the_parts_of_two_figures_are_not_mixed_up(dressed):
    names = [re.findall(' id="([^"]+)"', figure) for figure in dressed]
    assert names[0] and len({*names[0], *names[1]}) == len(names[0]) + len(names[1])
    for figure, own in zip(dressed, names, strict=True):
        assert {*re.findall(r'(?:url\(|href=")#([^)"]+)', figure)} == {*own}


DARK = {"var(--color-background-primary)": "#131416", "var(--color-foreground-primary)": "#cfd0d0"}  # Furo's


def contrast(one, other):
    darker, brighter = sorted(map(luminance, (one, other)))
    return (brighter + 0.05) / (darker + 0.05)


def test_in_the_dark_lines_stand_out_from_the_page_and_words_from_what_is_pale(dressed):
    assert "fill: var(--drawn-0072b2, #0072b2)" in dressed[0] and not re.search(r"[^,] #[0-9a-f]{6}", dressed[0])
    becomes = runpy.run_path(DATA / "site" / "conf.py")["html_theme_options"]["dark_css_variables"]
    paper, ink = DARK.values()
    drawings = [
        plotting.svg(figure.data)
        for name in NAMES
        for cell in the_original(name).cells
        for figure in slides.figures(cell)
    ]
    used = set(plotting.COLOURS).union(*(re.findall(r"#[0-9a-f]{6}\b", drawing) for drawing in drawings))
    for colour in used:
        there = becomes.get(f"drawn-{colour[1:]}", colour)
        there = DARK.get(there, there)
        if contrast(colour, "#ffffff") < 1.5:
            assert contrast(there, ink) > 4.5, colour
        else:
            assert contrast(there, paper) > (4.5 if colour in plotting.COLOURS else 3), colour


def test_a_picture_that_says_nothing_is_refused():
    output = nbformat.v4.new_output("display_data", {"image/png": "iVBO"})
    with pytest.raises(KeyError):
        site.dress(nbformat.v4.new_code_cell("", outputs=[output]), "cell-01-a")


@pytest.mark.slow
def test_exercises_are_there_without_solutions_and_say_how_they_are_done(source):
    for path in (lessons.NOTEBOOKS / "exercises").glob("*.ipynb"):
        notebook = read(source, f"exercises/{path.stem}")
        text = "\n".join(cell.source for cell in notebook.cells)
        assert "YOUR ANSWER HERE" in text or "YOUR CODE HERE" in text
        assert "BEGIN" not in text and "`make lab`" in notebook.cells[0].source


# ---- links ----


@pytest.mark.parametrize(
    ("file", "text", "on_site"),
    [
        ("glossary/claims.md", "[a](../notebooks/02_bahdanau_attention.ipynb#cell-id=x)", "[a](#cell-02-x)"),
        ("glossary/claims.md", "[a](#A10)", "[a](#A10)"),
        ("glossary/key.md", "[a](query.md)", "[a](query.md)"),
        ("glossary/key.md", "[a](README.md)", "[a](index.md)"),
        ("notebooks/01_rnn_bottleneck.ipynb", "[a](../glossary/README.md#b)", "[a](../glossary/index.md#b)"),
        ("notebooks/exercises/04_multi_head.ipynb", "[a](../../notebooks/exercises/04_multi_head.ipynb)", "a"),
        ("INSTRUCTORS.md", "[a](README.md)", "[a](index.md)"),
        ("INSTRUCTORS.md", "[the rules](CONTRIBUTING.md)", "the rules"),
        ("INSTRUCTORS.md", "[a](https://nbgrader.readthedocs.io)", "[a](https://nbgrader.readthedocs.io)"),
        ("INSTRUCTORS.md", "[a](nowhere.md)", "[a](nowhere.md)"),  # which Sphinx complains about
        ("glossary/key.md", "`weights[0](x)`", "`weights[0](x)`"),
    ],
)
def test_links_lead_where_they_lead_on_the_site(file, text, on_site):
    assert site.links(text, ROOT / file) == on_site


@pytest.mark.parametrize(("title", "name"), [("It is so (A10)", "A10"), ("Two words", "Two-words"), ("f (x)", "f-(x)")])
def test_a_heading_has_the_name_that_links_use(title, name):
    assert site.slug(title) == name


def small_site(folder, page='<a href="b.html#part">b</a> <img src="c.png"> <a href="https://a.org/x">a</a>'):
    (folder / "a.html").write_text(f"<p id='top'>{page}</p>")
    (folder / "b.html").write_text('<p id="part"><a href="a.html">a</a></p>')
    (folder / "c.png").touch()
    return folder


def test_a_whole_site_has_no_dead_link(tmp_path):
    assert list(site.dead_links(small_site(tmp_path))) == []


@pytest.mark.parametrize("dead", ["d.html", "b.html#elsewhere", "#elsewhere", "d.png", "../a.html"])
def test_a_dead_link_is_seen(tmp_path, dead):
    (tmp_path / "site").mkdir()
    folder = small_site(tmp_path / "site", f'<a href="#top">a</a><a href="{dead}">b</a>')
    assert list(site.dead_links(folder)) == [f"a.html: {dead}"]


# ---- the first page ----


@pytest.mark.slow
def test_the_first_page_has_every_lesson_with_its_question(source):
    page = (source / "index.md").read_text(encoding="utf-8")
    for name in NAMES:
        assert page.count(f"](notebooks/{name}.ipynb)\n") == 1 and f" <notebooks/{name}>" in page
        assert re.search(rf"\]\(notebooks/{name}\.ipynb\)\n\n[A-Z][^\n]+\?\n", page)
    in_order = ["notebooks/06", "exercises/index>", "glossary/index>", "claims>", "LECTURERS>", "INSTRUCTORS>", "api/"]
    places = [page.rindex(entry) for entry in in_order]
    assert places == sorted(places)


def test_a_deck_is_linked_when_there_is_one(tmp_path, monkeypatch):
    monkeypatch.setattr(site.slides, "FOLDER", tmp_path)
    assert [link for link in site.beside(NAMES[1], "../") if "slides" in link] == []
    (tmp_path / f"{NAMES[1]}.slides.html").touch()
    assert f'<a href="../slides/{NAMES[1]}.slides.html">Slides</a>' in site.beside(NAMES[1], "../")


@pytest.mark.parametrize("value", [None, ""])
def test_launch_buttons_are_off_when_unset(monkeypatch, value):
    monkeypatch.setattr(site.hosted, "here", str)
    monkeypatch.delenv(site.HUB, raising=False)
    if value is not None:
        monkeypatch.setenv(site.HUB, value)
    assert "Open in" not in " ".join(site.beside(NAMES[1], ""))


def test_launch_buttons_lead_to_the_lesson(monkeypatch):
    monkeypatch.setattr(site.hosted, "here", lambda: "https://github.com/you/course")
    monkeypatch.setenv(site.HUB, "https://hub.example/hub/user-redirect/lab/tree/course/{path}")
    *_, colab, kaggle, binder, hub = site.beside("01_rnn_bottleneck", "")
    path = "notebooks/01_rnn_bottleneck.ipynb"
    assert colab == f"[Open in Colab](https://colab.research.google.com/github/you/course/blob/main/{path})"
    github = f"https://github.com/you/course/blob/main/{path}"
    assert kaggle == f"[Open in Kaggle](https://www.kaggle.com/kernels/welcome?src={github})"
    assert binder == f"[Open in Binder](https://mybinder.org/v2/gh/you/course/HEAD?urlpath=lab/tree/{path})"
    path = path.replace("/", "%2F")
    assert hub == f"[Open in JupyterHub](https://hub.example/hub/user-redirect/lab/tree/course/{path})"


@pytest.mark.slow
def test_the_reference_has_every_module_in_its_layer(source):
    page = (source / "api" / "index.md").read_text(encoding="utf-8")
    layers = dict(re.findall(r"^## (.+)\n\n```{toctree}\n((?:[a-z_]+\n)+)```$", page, re.MULTILINE))
    assert {name: " ".join(modules.split()) for name, modules in layers.items()} == LAYERS
    for module in " ".join(LAYERS.values()).split():
        assert f"course_lib.{module}" in (source / "api" / f"{module}.rst").read_text(encoding="utf-8")


# ---- what others show of a link ----


@pytest.mark.slow
@pytest.mark.parametrize("name", ["index", "claims", "play", *NAMES])
def test_a_shared_picture_has_the_size_that_is_asked_for(source, name):
    file = source / "_static" / "share" / f"{name}.png"
    with Image.open(file) as picture:
        assert picture.size == (1200, 630) and len(picture.getcolors()) > 20
    assert file.stat().st_size < 200_000


def test_the_first_pages_story_is_what_its_model_does():
    """It writes elle when the road was wide, looks at *wide* and at neither noun, and takes a tired cow for a he."""
    shown = [site.scene(*told) for told in site.SCENES]
    assert [re.sub("<.+?>", "", one["french"]) for one in shown] == ["il", "elle", "il"]
    written = [site.translated(sentence) for sentence, *_ in site.SCENES]
    looks = [zip(one.attention.key_tokens, one.attention.weights[at], strict=True) for one, at in written]
    tired, wide, _ = map(dict, looks)
    assert tired["chicken"] < 0.05
    assert shown[1]["seen"] == "wide" and wide["wide"] > 0.5 and max(wide["road"], wide["chicken"]) < 0.05
    cow = written[2][0]
    assert cow.tokens[:2] == ("la", "vache") and [one["wanted"] for one in shown] == ["", "", "≠ elle"]
    wide_cow, place = site.translated(site.SCENES[2][0].replace("tired", "wide"))
    assert wide_cow.tokens[place] == "elle", "the last word alone no longer decides"
    assert shown[2]["last"] < 0.05  # what decides is not what it looks at
    assert sum(one["seconds"] for one in shown[:2]) < 20


@pytest.mark.parametrize("lines", [1, 2, 3, 4])
def test_in_a_shared_picture_nothing_touches_the_text(tmp_path, lines):
    def fill(ax):
        ax.add_patch(Rectangle((0, 0), 1, 1, color="red"))

    cards.share(tmp_path / "a.png", "A title", "word " * 14 * lines, fill)
    with Image.open(tmp_path / "a.png") as picture:
        pixels = np.asarray(picture.convert("RGB")).astype(int)
    drawn = (pixels - (255, 0, 0) == 0).all(-1).any(1)
    said = ((pixels < 250).any(-1) & ~(pixels[..., 0] > 250)).any(1)
    (rows,) = np.where(drawn)
    assert len(rows) > 200 and not said[rows[0] - 20 : rows[-1] + 5].any()
    assert said[: rows[0]].any() and said[rows[-1] :].any()


def told(context):
    return dict(re.findall(r'<meta (?:name|property)="([\w:]+)" content="([^"]*)">', site.preview(context)))


LESSON = {
    "pagename": "notebooks/01_rnn_bottleneck",
    "title": "The <em>RNN</em> &amp; more",
    "body": "<h1>The RNN</h1><p><strong>Is &quot;one&quot; \\(h_t\\)\nenough?</strong></p><p>More.</p>",
}


@pytest.mark.slow
def test_a_page_tells_its_title_its_first_words_and_its_picture(source, monkeypatch):
    monkeypatch.delenv(site.ADDRESS, raising=False)
    tags = told(LESSON)
    assert tags["og:title"] == "The RNN &amp; more" and tags["og:description"] == "Is &quot;one&quot; h_t enough?"
    assert tags["og:image"] == "../_static/share/01_rnn_bottleneck.png"
    assert tags["twitter:card"] == "summary_large_image" and "og:url" not in tags
    assert told({"pagename": "glossary/key"})["og:image"] == "../_static/share/index.png"
    assert told({"pagename": "search"})["og:description"] == site.SENTENCE


@pytest.mark.slow
@pytest.mark.parametrize("base", ["https://a.org/b", "https://a.org/b/"])
def test_where_the_address_is_known_the_picture_has_a_whole_one(source, monkeypatch, base):
    monkeypatch.setenv(site.ADDRESS, base)
    assert told(LESSON)["og:image"] == "https://a.org/b/_static/share/01_rnn_bottleneck.png"
    assert told(LESSON)["og:url"] == "https://a.org/b/notebooks/01_rnn_bottleneck.html"


@pytest.mark.slow
def test_a_long_text_is_cut_between_words(source):
    text = told(LESSON | {"body": f"<p>{'word ' * 100}</p>"})["og:description"]
    assert 150 < len(text) <= 200 and text.endswith("word …")


# ---- what Sphinx makes, mended ----


def test_a_long_signature_is_no_list_of_definitions():
    context = {
        "pagename": "a",
        "body": "<dt>f(<dl>\n<dd>a</dd>\n<dd>b</dd>\n</dl>\n)</dt><dl class='py'><dt>g</dt><dd>c</dd></dl>",
    }
    site.mend(context)
    spans = "<span>\n<span>a</span>\n<span>b</span>\n</span>"
    assert context["body"] == f"<dt>f({spans}\n)</dt><dl class='py'><dt>g</dt><dd>c</dd></dl>"


def test_a_page_without_a_body_stays_as_it_is():
    context = {"title": "Search", "pagename": "search"}
    site.mend(context)
    assert context.pop("metatags") == site.preview(context) and context == {"title": "Search", "pagename": "search"}


# ---- the workflow that publishes ----

WORKFLOWS = ROOT / ".github" / "workflows"
WORKFLOW = (WORKFLOWS / "site.yml").read_text(encoding="utf-8")


def called(job):
    """The make targets that a job calls."""
    return " ".join(line for step in job["steps"] for line in re.findall(r"make (.+)", step.get("run", ""))).split()


def faults(workflow):
    """Make targets that do not exist, steps of Pages that are missing or are given another folder."""
    (job,) = yaml.safe_load(workflow)["jobs"].values()
    yield from (target for target in called(job) if target not in front_door.VERBS)
    used = [step.get("uses", "").split("@")[0] for step in job["steps"]]
    wanted = ("checkout", "setup-python", "configure-pages", "upload-pages-artifact", "deploy-pages")
    yield from (action for action in wanted if f"actions/{action}" not in used)
    named = [name for step in job["steps"] for name in step.get("env", {})]
    yield from (f"sets {name}" for name in named if name not in (site.ADDRESS, site.HUB))
    folders = [step["with"]["path"] for step in job["steps"] if "path" in step.get("with", {})]
    if folders != [str(site.FOLDER.relative_to(ROOT))]:
        yield f"publishes {folders}"


def test_the_workflow_calls_what_exists():
    assert list(faults(WORKFLOW)) == []


def test_every_sweep_runs_on_a_schedule():
    workflow = yaml.safe_load((WORKFLOWS / "sweeps.yml").read_text(encoding="utf-8"))
    assert [called(job) for job in workflow["jobs"].values()] == [["check"], ["test-all"]]
    assert "schedule" in workflow[True]  # YAML reads the key `on` as true


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("make slides site", "make slides sight", "sight"),
        ("actions/deploy-pages", "actions/deploy", "deploy-pages"),
        ("COURSE_SITE:", "COURSE_ADDRESS:", "sets COURSE_ADDRESS"),
        ("path: build/site", "path: build/html", "publishes ['build/html']"),
    ],
)
def test_a_fault_of_the_workflow_is_seen(old, new, fault):
    assert old in WORKFLOW and list(faults(WORKFLOW.replace(old, new))) == [fault]


# ---- the built site ----


@pytest.mark.notebook
def test_nothing_on_the_site_leads_nowhere(built_site):
    assert list(site.dead_links(built_site)) == []


@pytest.mark.notebook
@pytest.mark.parametrize("what", ["a page", "a cell"])
def test_what_is_missing_on_the_built_site_is_seen(built_site, tmp_path, what):
    for file in ("glossary/claims.html", "notebooks/02_bahdanau_attention.html"):
        (tmp_path / file).parent.mkdir()
        shutil.copy(built_site / file, tmp_path / file)
    lesson = tmp_path / "notebooks" / "02_bahdanau_attention.html"
    if what == "a page":
        lesson.unlink()
    else:
        lesson.write_text(lesson.read_text(encoding="utf-8").replace('id="cell-02-verdict-n9"', ""), encoding="utf-8")
    dead = "glossary/claims.html: ../notebooks/02_bahdanau_attention.html#cell-02-verdict-n9"
    assert dead in list(site.dead_links(tmp_path))


@pytest.mark.notebook
def test_every_verdict_of_the_ledger_leads_to_its_box(built_site):
    ledger = (built_site / "glossary" / "claims.html").read_text(encoding="utf-8")
    for name in NAMES:
        page = (built_site / "notebooks" / f"{name}.html").read_text(encoding="utf-8")
        for cell in the_original(name).cells:
            for record in claims.boxes({"cells": [cell]}):
                anchor = f"cell-{name[:2]}-{cell.id}"
                assert f'href="../notebooks/{name}.html#{anchor}"' in ledger
                part = page[page.index(f'id="{anchor}"') :]
                assert f'aria-label="Verdict on claim {record["id"]}"' in part[: part.find('id="cell-', 9)]


@pytest.mark.notebook
def test_every_claim_has_a_card_with_its_address(built_site):
    ledger = (built_site / "glossary" / "claims.html").read_text(encoding="utf-8")
    assert sorted(re.findall(r'<span id="([A-Z]\d+)"></span><h3>', ledger)) == sorted(claims.ledger())


@pytest.mark.notebook
def test_every_page_tells_a_picture_that_is_there(built_site):
    for file in site.built_pages(built_site):
        page = file.read_text(encoding="utf-8")
        (picture,) = re.findall(r'<meta property="og:image" content="([^"]+)">', page)
        assert (file.parent / picture).is_file(), file
        assert len(re.findall(r'<meta (?:name|property)="(?:og|twitter):[a-z_]+" content="[^"]+">', page)) == 6


def markdown_of(file):
    """The Markdown of a page's source: its text, and what its cells have shown."""
    if file.suffix == ".md":
        yield file.read_text(encoding="utf-8")
        return
    for cell in nbformat.read(file, as_version=4).cells:
        if cell.cell_type == "markdown":
            yield cell.source
        yield from (o.data["text/markdown"] for o in cell.get("outputs", []) if "text/markdown" in o.get("data", {}))


@pytest.mark.slow
@pytest.mark.notebook
def test_every_table_is_one_on_its_page(source, built_site):
    """Also a table that a cell has shown, which is Markdown, too."""
    parser, wanted, shown = MarkdownIt("commonmark").enable("table"), {}, {}
    for file in map(site.on_site, site.pages()):
        tokens = (token.type for text in markdown_of(source / file) for token in parser.parse(text))
        wanted[file] = list(tokens).count("table_open")
        page = (built_site / file).with_suffix(".html").read_text(encoding="utf-8")
        shown[file] = page.count('<table class="docutils')
    assert shown == wanted and sum(wanted.values()) > 300


@pytest.mark.notebook
def test_every_term_has_a_card(built_site):
    script = (built_site / "_static" / "terms.js").read_text(encoding="utf-8")
    assert re.findall(r'^"([a-z-]+)": \{', script, re.MULTILINE) == list(glossary.entries())
    assert "<a " not in script


@pytest.mark.notebook
def test_no_page_loads_anything_from_elsewhere(built_site):
    loads = re.compile(r'<(?:script|img|link|iframe)\b[^>]*\b(?:src|href)="((?:https?:)?//[^"]*)')
    for file in built_site.rglob("*.html"):
        assert loads.findall(file.read_text(encoding="utf-8")) == [], file


@pytest.mark.notebook
def test_no_page_speaks_of_the_machine_that_made_it(built_site):
    for file in site.built_pages(built_site):
        text = re.sub(r"<(script|style)\b.*?</\1>", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
        assert A_MACHINE.findall(re.sub(r"<[^>]+>", "", text)) == [], file


@pytest.mark.notebook
def test_every_picture_on_the_site_has_a_text(built_site):
    for file in (built_site / "notebooks").glob("*.html"):
        tags = re.findall(r'<img\b[^>]*>|<svg\b[^>]* role="img"[^>]*>', file.read_text(encoding="utf-8"))
        assert [tag for tag in tags if not re.search(r'(alt|aria-label)="[^"]', tag)] == []


@pytest.mark.notebook
def test_a_warning_ends_the_build(tmp_path, monkeypatch):
    """A small source with a link that leads nowhere."""

    def assemble():
        shutil.copy(DATA / "site" / "conf.py", tmp_path / "conf.py")
        (tmp_path / "_static").mkdir()
        (tmp_path / "index.md").write_text("# Title\n\n[there](nowhere.md)\n")

    monkeypatch.setattr(site, "SOURCE", tmp_path)
    monkeypatch.setattr(site, "FOLDER", tmp_path / "built")
    monkeypatch.setattr(site, "assemble", assemble)
    with pytest.raises(SystemExit, match="faults"):
        site.build()
