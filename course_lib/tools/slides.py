"""Builds a reveal.js deck of each lesson from the cells' slide types, with all it loads, so it needs no network."""

import base64
import copy
import html
import re
import shutil

import nbformat
from nbconvert.exporters import SlidesExporter
from nbconvert.preprocessors import Preprocessor

from course_lib import claims, plotting
from course_lib.files import DATA
from course_lib.tools import lessons, web

FOLDER = web.BUILD / "slides"
MINUTES = re.compile(r"\*\*For the lecturer, (\d+) min\.\*\*")
BOLD = re.compile(r"\*\*.+\*\*", re.DOTALL)
LINK = re.compile(r'<a\b[^>]*\bhref="(?!#|https?:)[^"]*"[^>]*>(.*?)</a>', re.DOTALL)


class Lecture(Preprocessor):
    """Keeps what is projected: no skipped cells, no folded source, only the lines that matter. Adds the time plan."""

    def preprocess(self, nb, resources):
        """Called by nbconvert."""
        plan = time_plan(nb)
        bring_answers(nb)
        shown = [cell for cell in nb.cells if lessons.slide_type(cell) != "skip"]
        nb.cells = notes_first(picture_verdicts(shown))
        for cell in nb.cells:
            if "outputs" in cell:
                prints = [(output, lessons.printed(output)) for output in cell.outputs]
                cell.outputs = [output if text is None else as_output(as_words(text)) for output, text in prints]
            for figure in figures(cell):
                if drawing := plotting.svg(figure.data):
                    encoded = base64.b64encode(drawing.encode()).decode()
                    figure.metadata["image/png"]["source"] = f"data:image/svg+xml;base64,{encoded}"
            if lessons.slide_type(cell) == "notes":
                cell.cell_type = "markdown"
            if lessons.is_folded(cell) or cell.metadata.get("slide_lines") == []:
                cell.metadata["transient"] = {"remove_source": True}
            elif "slide_lines" in cell.metadata:
                cell.source = only_lines(cell)
        first = next((cell for cell in nb.cells if lessons.slide_type(cell) == "notes"), None)
        if first is not None:
            rows = "".join(f"| {start} | {title} | {minutes} |\n" for start, title, minutes in plan)
            total = sum(minutes for *_, minutes in plan)
            first.source += f"\n\n**The plan: {total} minutes**\n\n| at | slide | minutes |\n|--|--|--|\n{rows}"
        return nb, resources


def figures(cell):
    """Returns the figures among a cell's outputs."""
    return [output for output in cell.get("outputs", []) if "image/png" in output.get("data", {})]


def again(name, outputs):
    """Returns a cell that shows outputs of another one once more."""
    return nbformat.v4.new_code_cell(id=name, outputs=outputs, metadata={"transient": {"remove_source": True}})


def bring_answers(notebook):
    """Marks what was measured as the answer to a vote, and copies it to the vote's slide, where slides.js shows it."""
    cells = {cell.id: cell for cell in notebook.cells}
    for compared, vote in lessons.votes(notebook).items():
        marked = f'<p class="measured" data-vote="cell-id={vote}">Measured:'
        for output in cells[compared].outputs:
            if "<p>Measured:" in output.get("data", {}).get("text/html", ""):
                output.data["text/html"] = output.data["text/html"].replace("<p>Measured:", marked)
                cells[vote].outputs.append(copy.deepcopy(output))


def picture_verdicts(cells):
    """Makes each verdict a sentence over the last figure before it, and tells the notes its limits and its finding."""
    shown, first, picture = [], 0, []
    for cell in cells:
        if lessons.slide_type(cell) in ("slide", "subslide"):
            first = len(shown)
        shown.append(cell)
        picture = figures(cell)[-1:] or picture
        records = [
            output.data[claims.MIME] for output in cell.get("outputs", []) if claims.MIME in output.get("data", {})
        ]
        if not records:
            continue
        for beside in shown[first:-1]:
            if beside.cell_type == "markdown":
                heading, *told = beside.source.split("\n\n")
                beside.source = "\n\n".join([heading, *filter(BOLD.fullmatch, told)])
        cell.outputs = [as_output(sentence(record)) for record in records]
        told = "\n\n".join(f"{claims.bounds(record)}\n\n{record['finding']}" for record in records)
        note = nbformat.v4.new_markdown_cell(told, metadata={"slideshow": {"slide_type": "notes"}})
        shown += [again(f"{cell.id}-picture", picture), note]
    return shown


def sentence(record):
    """Returns a claim with its verdict; one that holds only if something is so has the first sentence of its limits."""
    claim, (sign, colour) = claims.ledger()[record["id"]], claims.SIGNS[record["verdict"]]
    said = html.escape(claim.get("sense", claim["sentence"]))
    said = re.sub(r"\*(.+?)\*", r"<em>\1</em>", re.sub("&quot;(.+?)&quot;", r"‘\1’", said))
    limits = record["limits"].split(". ")[0].removesuffix(".") if record["verdict"] == claims.WITHIN else ""
    answer = f"<b>{sign}\u00a0{record['verdict']}</b> {html.escape(limits)}".rstrip()
    on = f" ({record['measured_on']})" * bool(record["measured_on"])
    return f'<p role="note" style="border-color: {colour}">“{said}” {answer}{on}.</p>'


def as_words(printed):
    """Returns printed text in the deck's letters: as lines, or as a table if spaces align all of several lines."""
    rows = [re.split(" {2,}", line.strip()) for line in html.escape(printed.strip()).splitlines()]
    if len(rows) > 1 and {len(row) for row in rows} == {max(2, len(rows[0]))}:
        rows = "".join(f"<tr>{''.join(f'<td>{part}</td>' for part in row)}</tr>" for row in rows)
        return f'<table class="printed">{rows}</table>'
    return f"<p>{'<br>'.join(' '.join(row) for row in rows)}</p>"


def as_output(words):
    """Returns HTML as an output of a cell."""
    return nbformat.v4.new_output("display_data", {"text/html": words})


def notes_first(cells):
    """Moves each slide's notes right after its first cell. Inside a fragment, the speaker view would show them late."""
    ordered, place = [], 0
    for cell in cells:
        if lessons.slide_type(cell) in ("slide", "subslide"):
            place = len(ordered) + 1
        if lessons.slide_type(cell) == "notes":
            ordered.insert(place, cell)
            place += 1
        else:
            ordered.append(cell)
    return ordered


def only_lines(cell):
    """Returns the lines in `slide_lines`, [first, last] pairs counted from 1, with # … for lines left out."""
    lines, shown, before = cell.source.splitlines(), [], 0
    for first, last in cell.metadata["slide_lines"]:
        if not before < first <= last <= len(lines):
            raise ValueError(
                f"cell {cell.id!r}: slide_lines has {first} to {last}, not in order within 1 to {len(lines)}"
            )
        if first > before + 1:
            shown.append(re.match(" *", lines[first - 1])[0] + "# …")
        shown += lines[first - 1 : last]
        before = last
    return "\n".join(shown + (["# …"] if before < len(lines) else []))


def time_plan(notebook):
    """Returns for each slide the minute at which it begins, its title, and the minutes from its notes."""
    plan = []
    for cell in notebook.cells:
        if lessons.slide_type(cell) == "slide":
            title = re.search(r"^#+ (.*)", cell.source, re.MULTILINE)
            plan.append([sum(minutes for *_, minutes in plan), title[1] if title else cell.id, 0])
        elif lessons.slide_type(cell) == "notes" and plan:
            plan[-1][2] += sum(map(int, MINUTES.findall(cell.source)))
    return plan


def build(names=(), folder=FOLDER):
    """Writes the decks of all or the named lessons, and what they load; returns the files of the decks."""
    assets = folder / "assets"
    web.copy(web.MATHJAX, assets)
    web.copy({"reveal.js/dist": "reveal/dist", "reveal.js/plugin/notes": "reveal/plugin/notes"}, assets)
    web.copy_models(assets)
    for name in ("widgets.js", "slides.js", "slides.css"):
        shutil.copyfile(DATA / "web" / name, assets / name)
    exporter = SlidesExporter(
        extra_template_basedirs=[str(DATA)],
        template_name="slides",
        preprocessors=[Lecture],
        reveal_url_prefix="assets/reveal",
        reveal_theme="white",
        mathjax_url="assets/mathjax/tex-mml-chtml.js",
    )
    decks = []
    for path in lessons.find(names):
        page, _ = exporter.from_notebook_node(nbformat.read(path, as_version=4), {"metadata": {"name": path.stem}})
        decks.append(folder / f"{path.stem}.slides.html")
        decks[-1].write_text(LINK.sub(r"\1", page), encoding="utf-8")  # a deck is copied without the linked files
    return decks
