"""Builds the course's site: executed lessons, exercises, glossary, ledger of claims, and the library's reference.

Sphinx builds it from a folder of copies, whose links are adapted to the site.
"""

import functools
import html
import json
import os
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from textwrap import shorten
from urllib.parse import quote, unquote, urlsplit

import jinja2
import nbformat
from sphinx.cmd.build import main as sphinx

from course_lib import LAYERS, claims, decoding, glossary, plotting, trained
from course_lib.corpus import toy_french
from course_lib.files import DATA, ROOT
from course_lib.tools import cards, hosted, lessons, slides, translation, web, workbook
from course_lib.tools.pages import survived, verdicts
from course_lib.widgets import Machine, Translator, translator

SOURCE = web.BUILD / "site-source"
FOLDER = web.BUILD / "site"
HUB = "COURSE_JUPYTERHUB"  # the variable that holds a hub's address, with {path} for the notebook's path
ADDRESS = "COURSE_SITE"  # the variable that holds the address of the published site
SENTENCE = (
    "A course from the recurrent network to the Transformer and on to language models. It tests what people say about "
    "attention, with experiments that you can move, run and change."
)
MODEL = "trained_transformer"  # translates on the first page
MODELS_AT = '<script>COURSE_MODELS_AT = "_static/models/"</script>'
# The first page's story: a sentence, the noun that *it* stands for in both languages, the pronoun that this noun wants,
# what the page says meanwhile, with a part for when the French is written, and its seconds.
SCENES = [
    (
        "the chicken did not cross the road because it was tired",
        ("chicken", "poulet", "il"),
        "A small model translates in your browser. It turns <i>it</i> into {french}, which is right: "
        "<i lang='fr'>poulet</i> is masculine. <span>The blue lines are its <b>attention</b>: where it looks to write "
        "that word. Hardly any goes to <i>chicken</i>.</span>",
        7,
    ),
    (
        "the chicken did not cross the road because it was wide",
        ("road", "route", "elle"),
        "Now <b>tired</b> becomes <b>wide</b>, and the model writes {french}. Right again: <i lang='fr'>la route</i> "
        "is feminine. <span>But {share:.0%} of its attention goes to <i>{seen}</i>, and hardly any to <i>road</i>."
        "</span>",
        8,
    ),
    (
        "the cow did not cross the road because it was tired",
        ("cow", "vache", "elle"),
        "With a <b>cow</b>, <i lang='fr'>la vache</i>, it should be <i lang='fr'>elle</i>. <span>It is still {french}: "
        "here the last word decides, not the animal. <b>Yet <i>tired</i> gets {last:.0%} of the attention.</b> "
        "<a href='notebooks/06_transformer_trained.html'>Lesson 6 takes this apart</a>.</span>",
        8,
    ),
]
SWITCHES = [("tired", "wide"), ("chicken", "cow")]
OWN = "Change the words, or write your own sentence. Point at a word, or tap it: arcs show what the model looks at."
TRANSLATED = [
    *(sentence for sentence, *_ in SCENES),
    "the small black cat sees the white dog",
    "this red cat that the dog hears does not eat",
]
TO_DO = "This page shows the exercises. To do them, with checks that answer at once, start the course with `make lab`."
IN_EXERCISES = f":::{{note}}\n{TO_DO}\n:::"
README_ROW = re.compile(r"^\| (\d+) \| \[(.+?)\]\(notebooks/(.+?)\.ipynb\)", re.MULTILINE)
SIGNATURE = re.compile(r"<dl>\n(<dd>.*?)</dl>", re.DOTALL)
PARAGRAPH = re.compile(r"<p>(.+?)</p>", re.DOTALL)
PROMPTS = {
    "code_prompt_show": "Show the code and what it prints",
    "code_prompt_hide": "Hide the code and what it prints",
}
HEADING = re.compile(r"^(#+) ", re.MULTILINE)
SWITCH = (
    '<p class="view">Code, prints and fine print are folded, and answers wait for your vote. '
    '<button type="button">Show everything</button></p>'
)
FOLDED_ANSWER = (
    '<p class="vote-first"><a href="#{vote}">Vote first</a>, or open the answer:</p>\n'
    '<details class="answer" data-vote="{vote}">'
    "<summary><span>Show the answer</span><span>Hide the answer</span></summary>"
)
FOLDED_TOPIC = """<details class="topic">
<summary><span>Show the rest of this topic</span><span>Hide the rest of this topic</span></summary>"""
FOLDED_PRINTS = '<details class="hide"><summary>Show what it prints</summary><pre>{text}</pre></details>'
WHAT_HAPPENS = re.compile(r"<p><strong>What happens\.</strong>\s*(.+?)</p>", re.DOTALL)


def build():
    """Rebuilds the site and returns its first page. Exits with the faults if there is a warning or a dead link."""
    print(f"Making the site from {len(pages())} files.", flush=True)
    assemble()
    shutil.rmtree(FOLDER, ignore_errors=True)
    options = ["-W", "--keep-going", "-q", "-j", "auto", "-d", str(SOURCE / "_doctrees")]
    if sphinx(["-b", "html", *options, str(SOURCE), str(FOLDER)]):
        raise SystemExit("Sphinx found the faults above. Fix them before you publish the site.")
    if slides.FOLDER.is_dir():
        shutil.copytree(slides.FOLDER, FOLDER / "slides")
    write_terms(FOLDER)
    translation.finish(FOLDER)
    if dead := list(dead_links(FOLDER)):
        raise SystemExit("\n".join(["These links on the site are dead:", *dead]))
    return FOLDER / "index.html"


# ---- the copies ----


def assemble():
    """Fills SOURCE with the files that Sphinx reads."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    shutil.copytree(DATA / "site", SOURCE)
    web.copy(web.MATHJAX, SOURCE / "_static")
    web.copy_models(SOURCE / "_static")
    shutil.copyfile(DATA / "web" / "widgets.js", SOURCE / "_static" / "widgets.js")
    shutil.copytree(lessons.NOTEBOOKS / "images", SOURCE / "notebooks" / "images")
    for file in pages():
        to = SOURCE / on_site(file)
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(page(file), encoding="utf-8")
    for language in translation.languages():
        for file in translation.PAGES:
            to = SOURCE / language / on_site(file)
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_text(page(file, language), encoding="utf-8")
    translation.copy_scripts(SOURCE / "_static")
    with (SOURCE / "glossary" / "index.md").open("a", encoding="utf-8") as index:
        index.write("\n".join(["\n```{toctree}", ":hidden:\n", *glossary.entries(), "```\n"]))
    told = [about(*row) for row in README_ROW.findall((ROOT / "README.md").read_text(encoding="utf-8"))]
    found = verdicts()
    game = links(cards.game(found), glossary.FOLDER / "play.md")
    (SOURCE / "glossary" / "play.md").write_text(game, encoding="utf-8")
    draw_shares(told, found, SOURCE / "_static" / "share")
    for name in ("index.md", "machine.md", "notebooks/exercises/index.md", "api/index.md"):
        file = SOURCE / name
        template = jinja2.Template(file.read_text(encoding="utf-8"), trim_blocks=True)
        texts = {"sentence": SENTENCE, "story": story(), "machine": machine(), "claims": len(cards.tested(found))}
        filled = template.render(lessons=told, layers=LAYERS, survived=survived(found), **texts)
        file.write_text(filled, encoding="utf-8")
    for module in " ".join(LAYERS.values()).split():
        text = f"{module}\n{'=' * len(module)}\n\n.. automodule:: course_lib.{module}\n"
        (SOURCE / "api" / f"{module}.rst").write_text(text, encoding="utf-8")


@functools.cache  # called for every link
def pages():
    """Returns the files of the repository that are pages of the site."""
    texts = [*sorted(glossary.FOLDER.glob("*.md")), ROOT / "INSTRUCTORS.md", ROOT / "LECTURERS.md"]
    exercises = sorted((lessons.NOTEBOOKS / "exercises").glob("*.ipynb"))
    return (*lessons.find(), *exercises, *texts)


def on_site(file):
    """Returns a repository file's path in SOURCE."""
    return Path(str(file.relative_to(ROOT)).replace("README.md", "index.md"))


def page(file, language=None):
    """Returns a file's text as on the site, a notebook's in English or another language."""
    if file == glossary.FOLDER / "claims.md":
        return links(cards.ledger(verdicts()), file)
    if file.suffix == ".md":
        return links(file.read_text(encoding="utf-8"), file)
    notebook = on_page(file, language)
    if language:
        notebook = translation.translate(notebook, file, language)
        notebook.metadata["orphan"] = True  # in no list of pages; the English page links it
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = links(cell.source, file)
            if language:
                cell.source = translation.links_from(cell.source, file)
    return nbformat.writes(notebook)


def on_page(file, language=None):
    """Returns a notebook with what its page adds and without what it leaves out; a language's ids are its own."""
    notebook = nbformat.read(file, as_version=4)
    for cell in notebook.cells if language else ():
        cell.id = f"{language}-{cell.id}"
    if file.parent == lessons.NOTEBOOKS:
        return lesson(notebook, file, translation.switch(file, language))
    return exercises(notebook, translation.switch(file, language))


def translatable():
    """Returns the pages that are translated, and what pages of their kinds say, by the names of their catalogues."""
    folds = (SWITCH, FOLDED_ANSWER, FOLDED_TOPIC, FOLDED_PRINTS.format(text=""), IN_EXERCISES)
    prompts = nbformat.v4.new_code_cell(metadata={"tags": ["hide-cell"], "mystnb": PROMPTS})
    usual = nbformat.v4.new_code_cell(metadata={"tags": ["hide-input"]})
    shared = nbformat.v4.new_notebook(cells=[*map(nbformat.v4.new_markdown_cell, folds), prompts, usual])
    return {translation.SITE: shared} | {translation.catalogue_of(file): on_page(file) for file in translation.PAGES}


def lesson(notebook, file, switch=""):
    """Returns a lesson without its notes, with an anchor for each code cell and a fold over what answers a vote.

    After the main path, each topic without anything to move is folded below its first cell, which asks the question.
    """
    folds, beyond, ends = answers(notebook), topics(notebook), None
    cells = []
    for at, cell in enumerate(notebook.cells):
        if at in folds:
            vote, ends = folds[at]
            cells.append(nbformat.v4.new_markdown_cell(FOLDED_ANSWER.format(vote=anchor(file, vote))))
        elif at in beyond:
            ends = beyond[at]
            cells.append(nbformat.v4.new_markdown_cell(FOLDED_TOPIC))
        if cell.cell_type == "code":
            cells.append(nbformat.v4.new_markdown_cell(f"({anchor(file, cell.id)})="))
            dress(cell, anchor(file, cell.id))
        if lessons.slide_type(cell) != "notes":
            cells.append(cell)
        if at + 1 == ends:
            cells.append(nbformat.v4.new_markdown_cell("</details>"))
    notebook.cells = cells
    open_with_explorer(notebook, " · ".join(beside(file.stem, "../")), switch)
    return notebook


def answers(notebook):
    """Returns, by the number of its first cell, each answer to a vote: the id of the vote's cell, and where it ends.

    A vote is answered by the cell that compares it with what was measured, and by each verdict later in the section.
    Both begin with the first figure after their heading and end at the next heading. Under *More claims*, each
    heading begins a new topic.
    """
    cells, main_path = notebook.cells, len(lessons.main_path(notebook))
    heads = headings(cells)
    asked = lessons.votes(notebook)
    found, vote, figure, end = {}, None, None, 0
    for at, cell in enumerate(cells):
        if at in heads:
            figure = None
            if at >= main_path or HEADING.search(cell.source)[1] == "##":
                vote = None
        if cell.cell_type != "code":
            continue
        if cell.id in asked.values():
            figure = None
        if figure is None and slides.figures(cell):
            figure = at
        vote = asked.get(cell.id, vote)
        if at >= end and (cell.id in asked or (vote and claims.boxes({"cells": [cell]}))):
            end = next((head for head in heads if head > at), len(cells))
            found[at if figure is None else figure] = vote, end
    return found


def topics(notebook):
    """Returns, for each topic after the main path without anything to move, the cell after its first, and its end."""
    cells, main_path = notebook.cells, len(lessons.main_path(notebook))
    heads, asked = headings(cells), lessons.votes(notebook)
    moving = {
        at
        for at, cell in enumerate(cells)
        if cell.get("id") in asked
        or any(lessons.WIDGET_VIEW in shown.get("data", {}) for shown in cell.get("outputs", []))
    }
    return {
        head + 1: end
        for head, end in zip(heads, [*heads[1:], len(cells)], strict=True)
        if head >= main_path and head + 1 < end and HEADING.search(cells[head].source)[1] == "###"
        and moving.isdisjoint(range(head, end))
    }  # fmt: skip


def headings(cells):
    """Returns the numbers of the cells with a heading."""
    return [at for at, cell in enumerate(cells) if cell.cell_type == "markdown" and HEADING.search(cell.source)]


def open_with_explorer(notebook, beside, switch):
    """Inserts the switch of the reading view and the links that belong to the lesson after its first explorer."""
    first = next(at for at, cell in enumerate(notebook.cells) if cell.cell_type == "code")
    notebook.cells.insert(first + 1, nbformat.v4.new_markdown_cell(f"{SWITCH}\n\n{beside}" + switch))


def dress(cell, name):
    """Folds a cell's code and prints, draws its figures into the page, and removes what can't be shown."""
    for number, output in enumerate(cell.outputs):
        if "image/png" in output.get("data", {}):
            output.data = nbformat.NotebookNode({"text/html": drawn(output, f"{name}-{number}")})
        for record in (claims.MIME, trained.MIME):
            output.get("data", {}).pop(record, None)
        if "text/html" in output.get("data", {}):  # what a vote is compared with
            output.data["text/html"] = output.data["text/html"].replace("<p>Measured:", '<p class="measured">Measured:')
    prints = [output for output in cell.outputs if lessons.printed(output) is not None]
    tags = cell.metadata.setdefault("tags", [])
    if prints and prints == cell.outputs:
        tags.append("hide-cell")
        cell.metadata["mystnb"] = dict(PROMPTS)
    else:
        tags.append("hide-input")
        for output in prints:
            text = html.escape(lessons.printed(output))
            folded = nbformat.v4.new_output("display_data", {"text/html": FOLDED_PRINTS.format(text=text)})
            cell.outputs[cell.outputs.index(output)] = folded


def exercises(notebook, switch=""):
    """Returns the exercises as learners get them."""
    workbook.student_version(notebook)
    title, _, rest = notebook.cells[0].source.partition("\n")
    notebook.cells[0].source = "\n\n".join([title, IN_EXERCISES + switch, rest])
    return notebook


def drawn(figure, name):
    """Returns a figure as part of a page: in the page's colours, by light and in the dark, and as wide as it needs.

    `name` begins the ids of its parts, which are unique on a page.
    """
    about, svg = figure.metadata["image/png"], plotting.svg(figure.data)
    body = re.search(r"<svg[^>]* width=.*", svg, re.DOTALL)[0]
    body = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", body, flags=re.DOTALL)
    body = body.replace(f'id="{plotting.ON_DATA}"', f'class="{plotting.ON_DATA}"')
    body = re.sub(
        r"#([0-9a-f]{6})\b", r"var(--drawn-\1, #\1)", re.sub(r' id="(?:[a-zA-Z][\w.]*_\d+|image\w+)"', "", body)
    )
    body = re.sub(r'( id="|href="#|url\(#)', rf"\g<1>{name}-", body)
    told = f'role="img" aria-label="{html.escape(about["alt"])}" style="--needs: {about["narrowest"]}px"'
    return body.replace("<svg", f'<svg class="figure" {told}', 1)


def slug(title):
    """Returns a heading's name in a link, as JupyterLab makes it, or a claim's id."""
    claim = re.search(r" \(([A-Z]\d+)\)$", title)
    return claim[1] if claim else title.replace(" ", "-")


def anchor(file, cell):
    """Returns a name for a lesson's cell that is unique on the site."""
    return f"cell-{file.name[:2]}-{cell}"


def links(text, file, among=None):
    """Returns a page's Markdown with links to cells by their anchors, and none to itself or files outside the site.

    Args:
        among: the files that can be linked, by default those of the site.
    """
    among = pages() if among is None else among

    def seen_from_site(link):
        words, target = link.groups()
        path, _, fragment = target.partition("#")
        there = (file.parent / path).resolve()
        if fragment.startswith("cell-id="):
            return f"[{words}](#{anchor(there, fragment.removeprefix('cell-id='))})"
        if there != file and (there == ROOT / "README.md" or there in among):
            return f"[{words}]({target.replace('README.md', 'index.md')})"
        return words if path and there.exists() else link[0]

    return glossary.LINK.sub(seen_from_site, text)


# ---- the first page ----


def about(number, title, stem):
    """Returns what the first page says about a lesson."""
    first = nbformat.read(lessons.NOTEBOOKS / f"{stem}.ipynb", as_version=4).cells[0].source
    return {
        "number": number, "title": title, "stem": stem, "question": first.split("\n\n")[1].strip("*"),
        "links": " · ".join(beside(stem, "")), "exercises": has_exercises(stem),
    }  # fmt: skip


def story():
    """Returns the first page's explorer, the Transformer of lesson 6, and the scenes that it plays."""
    scenes = [scene(*told) for told in SCENES]
    at = {"side": "french", "place": scenes[0]["at"]}
    size, learnt = sum(weight.numel() for weight in model().parameters()), len(toy_french().train)
    explorer = Translator(MODEL, TRANSLATED, {"at": at}, apart=False)
    return {
        "scenes": html.escape(json.dumps(scenes)), "first": scenes[0]["words"], "own": html.escape(OWN),
        "about": "The lines are the cross-attention of the last layer, one for each head, and the numbers are the "
        f"heads' mean. The model is a Transformer with {size:,} parameters that learned from {learnt:,} sentences of "
        "toy French.",
        "switches": [pair for one, other in SWITCHES for pair in ((one, other), (other, one))],
        "explorer": MODELS_AT + explorer.in_page("translator"),
    }  # fmt: skip


def machine():
    """Returns the explorer of the whole Transformer, with the word *it* on its way to the French pronoun."""
    sentence, *_ = SCENES[0]
    words, (_, at) = sentence.split(), translated(sentence)
    start = {"reads": words.index("it"), "asks": words.index("chicken"), "writes": at}
    return MODELS_AT + Machine(TRANSLATED, start).in_page("machine")


@functools.cache
def model():
    """Returns the first page's model, which writes every scene and the picture for shared links."""
    return translator.MODELS[MODEL].load()


def translated(sentence):
    """Returns the translation by the first page's model, and the place of its pronoun."""
    (written,) = decoding.greedy(model(), toy_french(), [sentence.split()])
    return written, next(place for place, word in enumerate(written.tokens) if word in ("il", "elle"))


def scene(sentence, meant, words, seconds):
    """Returns a scene with what the model writes for *it*, and the word that it looks at most."""
    written, at = translated(sentence)
    weights = written.attention.weights[at].tolist()
    share, seen = max(zip(weights, sentence.split(), strict=True))
    told = {"french": f"<i lang='fr'>{written.tokens[at]}</i>", "seen": seen, "share": share, "last": weights[-1]}
    *nouns, wanted = meant
    return {
        "sentence": sentence, "at": at, "words": words.format(**told), "seconds": seconds, "nouns": nouns,
        "wanted": "" if written.tokens[at] == wanted else f"≠ {wanted}", **told,
    }  # fmt: skip


def has_exercises(stem):
    return (lessons.NOTEBOOKS / "exercises" / f"{stem}.ipynb").exists()


def beside(stem, up):
    """Yields links to what belongs to a lesson; `up` leads from the page to the site's top folder."""
    if (slides.FOLDER / f"{stem}.slides.html").exists():
        yield f'<a href="{up}slides/{stem}.slides.html">Slides</a>'
    if has_exercises(stem):
        yield f"[Exercises]({up}notebooks/exercises/{stem}.ipynb)"
    path = f"notebooks/{stem}.ipynb"
    for name, link in hosted.services(path, hosted.here()).items():
        yield f"[Open in {name}]({link})"
    if os.environ.get(HUB):
        yield f"[Open in JupyterHub]({os.environ[HUB].replace('{path}', quote(path, safe=''))})"


# ---- what others show of a link to a page ----


def draw_shares(told, found, folder):
    """Draws a picture for the first page, each lesson, the claims and their game."""
    folder.mkdir()
    images = lessons.NOTEBOOKS / "images"
    shown, at = translated(SCENES[1][0])
    cards.share_arcs(folder / "index.png", cards.COURSE, SENTENCE, shown.attention, at)
    for lesson in told:
        title, picture = f"{lesson['number']} · {lesson['title']}", images / f"{lesson['stem']}.png"
        cards.share_picture(folder / f"{lesson['stem']}.png", title, lesson["question"], picture)
    striking = min(claims.ledger().values(), key=lambda claim: claim.get("striking", len(claims.ledger())))
    outcome = found[striking["id"]][0].record["verdict"]
    sentence = f"What people say about attention, put to the test. “{striking['sentence'].capitalize()}”: {outcome}."
    cards.share_counts(folder / "claims.png", "The ledger of claims", sentence, found)
    guess = f"{len(cards.tested(found))} things people say about attention. What came out when we tested them?"
    cards.share_game(folder / "play.png", "How many are true?", guess)


def preview(context):
    """Returns the tags for a page's link previews: title, text and picture."""
    page, body = context["pagename"], context.get("body", "")
    text = WHAT_HAPPENS.search(body) or PARAGRAPH.search(body)
    plain = html.unescape(re.sub(r"<[^>]+>|\\[()]", "", text[1] if text else SENTENCE))
    name = Path(page).name
    if not (SOURCE / "_static" / "share" / f"{name}.png").exists():
        name = "index"
    base = os.environ.get(ADDRESS, "").rstrip("/")
    told = {
        "og:site_name": cards.COURSE,
        "og:type": "website",
        "og:title": html.unescape(re.sub(r"<[^>]+>", "", context.get("title", cards.COURSE))),
        "og:description": shorten(" ".join(plain.split()), 200, placeholder=" …"),
        "og:image": f"{base + '/' if base else '../' * page.count('/')}_static/share/{name}.png",
        "twitter:card": "summary_large_image",
    }
    if base:
        told["og:url"] = f"{base}/{page}.html"
    return "".join(
        f'\n<meta {"name" if name.startswith("twitter") else "property"}="{name}" content="{html.escape(text)}">'
        for name, text in told.items()
    )


# ---- while Sphinx writes, and after ----


def mend(context):
    """Removes what confuses screen readers from a page, and adds its preview. Sphinx calls it for each page."""
    told = preview(context) + translation.alternates(context["pagename"])
    context["metatags"] = context.get("metatags", "") + told
    if "body" in context:
        # A long signature is a list of definitions without terms.
        body = SIGNATURE.sub(lambda found: re.sub(r"(</?)d[ld]\b", r"\1span", found[0]), context["body"])
        # Let a folded cell's own words be its label.
        context["body"] = body.replace('<summary aria-label="Toggle hidden content">', "<summary>")


def write_terms(folder):
    """Writes the texts for the cards over links to terms: each entry's first paragraph, as Sphinx rendered it."""
    terms = {}
    for name, entry in glossary.entries().items():
        text = WHAT_HAPPENS.search((folder / "glossary" / f"{name}.html").read_text(encoding="utf-8"))[1]
        terms[name] = {"term": entry.term, "text": re.sub(r"</?a\b[^>]*>", "", text)}
    script = f"const TERMS = {json.dumps(terms, ensure_ascii=False, indent=0)};\n"
    (folder / "_static" / "terms.js").write_text(script, encoding="utf-8")


class Links(HTMLParser):
    """Collects a page's link targets and its anchors."""

    def __init__(self, file):
        super().__init__()
        self.targets, self.names = set(), set()
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id":
                self.names.add(value)
            elif name in ("href", "src"):
                self.targets.add(value)


def built_pages(folder):
    """Returns the pages of a built site, except the decks."""
    return [file for file in sorted(folder.rglob("*.html")) if file.relative_to(folder).parts[0] != "slides"]


def dead_links(folder):
    """Yields each link within the site whose file or anchor does not exist."""
    folder = folder.resolve()
    found = {file: Links(file) for file in built_pages(folder)}
    for file, page in found.items():
        for target in sorted(page.targets):
            link = urlsplit(target)
            if link.scheme or link.netloc:
                continue
            there = (file.parent / unquote(link.path)).resolve() if link.path else file
            if not there.is_file():
                yield f"{file.relative_to(folder)}: {target}"
            elif there in found and link.fragment and unquote(link.fragment) not in found[there].names:
                yield f"{file.relative_to(folder)}: {target}"
