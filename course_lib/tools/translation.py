"""Translates pages: extracts their texts into gettext catalogues, and puts a language's texts in their place.

A text is a paragraph, a heading, a list or a table of a notebook, or what is between two tags of HTML that a cell has
shown. `walk` finds the texts of a page and replaces them, so whatever a page shows can be extracted. A text without a
current translation stays English.
"""

import ast
import html
import os
import re
from datetime import datetime

import nbformat
from babel import Locale, UnknownLocaleError
from babel.messages import pofile
from babel.messages.catalog import Catalog

import course_lib
from course_lib import glossary, plotting
from course_lib.checks import exercises
from course_lib.curriculum import name_of
from course_lib.files import DATA, ROOT, replacing
from course_lib.tools import lessons

FOLDER = DATA / "site" / "locale"
LESSONS = ("rnn_bottleneck",)
PAGES = [page for folder in ("", "exercises") for page in lessons.find(folder=folder) if name_of(page) in LESSONS]
SITE, SHOWN, CHECKS, TERMS = "site", "widgets", "checks", "glossary"  # the catalogues besides one for each page
LIBRARY = ROOT / "course_lib"
MAKE_TEXTS = (
    [*LIBRARY.glob("checks/**/*.py")],
    [*LIBRARY.glob("widgets/*.py"), *LIBRARY.glob("grading/*.py"), LIBRARY / "claims.py"],
)
# What scripts say, by script; those of the site are copied for each language.
SCRIPTS = {
    "prediction.js": ("Your prediction: ",),
    "explorer.js": ("Explorer: ",),
    "reading.js": ("Reading view", "Show everything", "You predicted: ", "See what was measured"),
}
SITE_SCRIPT = "reading.js"
TRANSLATED = "This page is translated. Code and figures are in English. Numbers have a decimal point, as in the code."
SOMETIMES = ("{1}Slides</a>",)  # what a page says only where decks were built
ANY_WIDGET = "Your prediction: {1}", "Measured: <b>{1}</b>."  # what widgets/shell.py says
ENGLISH_CARD = """\
document.addEventListener("DOMContentLoaded", () => (document.getElementById("term-card").lang = "en"));
"""
ADDED = "what the site adds"
FOLDED = ("Show the code", "Hide the code")

FENCE = re.compile(r"(^```.*?^```$|^\$\$.*?\$\$$|\n{2,})", re.MULTILINE | re.DOTALL)
TAG = re.compile(r"(<(?!/?(?:a|b|code|em|i|mark|span|strong)\b)/?[a-z][^>]*>)")
AROUND = re.compile(r"(\s*)(.*?)(\s*)", re.DOTALL)
ALL_BOLD = re.compile(r"(\s*<[bi]>)([^<]*)(</[bi]>\s*)")
LABEL = re.compile(r'(?<= aria-label=")[^"]+')
ENGLISH = re.compile(r'<pre(?=>)|<th(?= scope="row")|<svg class="figure".*?<g(?=[ >])', re.DOTALL)
KEPT = re.compile(r'<(pre|svg|th|p)(?= class="(?:figure|languages)"| lang="en")')
CHANGING = re.compile(r"<code>.*?</code>|<a\b[^>]*>|(?<![\w#])\d+(?:[.,]\d+)*")
NOT_NAMED = re.compile(r"[0-9a-f]{8}")  # a cell that nbformat has given an id
FIGURE_TEXT = re.compile(r"<text[^>]*>([^<]+)<")
PLACE = re.compile(r"\{(\d+)\}")
NOT_WORDS = re.compile(r"\$\$.*?\$\$|\$[^$]+\$|`[^`]+`|<[^>]+>|&\w+;|\]\([^)]*\)|^\([\w-]+\)=$", re.DOTALL)
WORD = re.compile(r"[^\W\d_]{2}")
THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")


# ---- the texts of a page ----


def walk(notebook, said, shown):
    """Replaces each text of a page: `said(text)` those that authors wrote, `shown(text)` those of outputs and HTML."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = in_markdown(cell.source, said, shown)
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "text/html" in data:
                data["text/html"] = in_html(data["text/html"], shown)
            if "text/markdown" in data:
                data["text/markdown"] = in_markdown(data["text/markdown"], shown, shown, by_cell=True)
        if any(tag.startswith("hide-") for tag in cell.metadata.get("tags", [])):
            about = cell.metadata.setdefault("mystnb", {})
            for kind, usual in zip(("code_prompt_show", "code_prompt_hide"), FOLDED, strict=True):
                about[kind] = shown(about.get(kind, usual))
    for model in notebook.metadata.get("widgets", {}).get(lessons.WIDGET_STATE, {"state": {}})["state"].values():
        in_widget(model["state"], shown)
    return notebook


def in_markdown(text, said, shown, *, by_cell=False):
    """Returns Markdown with its texts replaced; with `by_cell`, each cell of a table is a text of its own."""
    parts = FENCE.split(text)
    for at, part in enumerate(parts[::2]):
        if part.startswith("<"):
            parts[2 * at] = in_html(part, shown)
        elif not has_words(part):
            continue
        elif part.startswith("|"):
            parts[2 * at] = in_pieces(part, r"( *\|\s*)", said) if by_cell else said(part)
        else:
            parts[2 * at] = in_pieces(part, "( · )", lambda piece: (shown if piece[0] == "<" else said)(piece))
    return "".join(parts)


def in_pieces(text, between, said):
    pieces = re.split(between, text)
    pieces[::2] = [said(piece) if has_words(piece) else piece for piece in pieces[::2]]
    return "".join(pieces)


def in_html(text, shown):
    """Returns HTML with its texts replaced, but for prints, for words in figures, and for names of figures in boxes."""
    parts, kept = TAG.split(ENGLISH.sub(r'\g<0> lang="en"', text)), None
    for at, part in enumerate(parts):
        if at % 2:
            parts[at] = LABEL.sub(lambda found: html.escape(shown(html.unescape(found[0]))), part)
            if found := KEPT.match(part):
                kept = found[1]
            elif kept and part == f"</{kept}>":
                kept = None
        elif not kept and has_words(part):
            begin, words, end = (ALL_BOLD.fullmatch(part) or AROUND.fullmatch(part)).groups()
            parts[at] = begin + shown(words.replace("&#x27;", "'").replace("&quot;", '"')) + end
    return "".join(parts)


def in_widget(state, shown):
    if "_esm" not in state:
        return
    for script in ("prediction.js", "explorer.js"):
        state["_esm"] = in_script(state["_esm"], SCRIPTS[script], shown)
    if "question" in state:
        state["question"], state["options"] = shown(state["question"]), [*map(shown, state["options"])]
    for control in state.get("controls", []):
        control["name"] = shown(control["name"])
        control["options"] = [shown(option) if has_words(option) else option for option in control["options"]]
    if "frames" in state:
        state["frames"] = {key: in_html(frame, shown) for key, frame in state["frames"].items()}


def in_script(script, texts, shown):
    for text in texts:
        for before in '"`>':
            script = script.replace(before + text, before + shown(text))
    return script


def has_words(text):
    return WORD.search(NOT_WORDS.sub("", PLACE.sub("", text))) is not None


def masked(text):
    """Returns a shown text with {1}, {2} … for its numbers, code and links, and a list of those."""
    found = []

    def place(match):
        found.append(match[0])
        return f"{{{len(found)}}}"

    return CHANGING.sub(place, text), found


# ---- extracting ----


class Found:
    """Collects the texts of a page, but for those in `known`, which all pages share; `where` says where they are."""

    def __init__(self, known):
        self.known, self.patterns, self.texts, self.where = known, compiled(known), {}, ADDED

    def keep(self, text):
        if text not in self.known:
            self.texts.setdefault(text, self.where)
        return text

    def keep_shown(self, text):
        whole = next((known for known, pattern in self.patterns.items() if pattern.fullmatch(text)), None)
        if whole in ANY_WIDGET:
            self.keep_shown(self.patterns[whole].fullmatch(text)[1])
        elif whole is None:
            self.keep(masked(text)[0])
        return text


def extract(pages):
    """Returns what is to be translated, as {catalogue: {text: where it is}}.

    Args:
        pages: the site's pages by the names of their catalogues; what pages share comes first, as SITE.
    """
    widgets = (text for name in LESSONS for text in templates(LIBRARY / "widgets" / f"{name}.py"))
    made = {SHOWN: dict.fromkeys([*ANY_WIDGET, *widgets], "what widgets show")}
    scripts = dict.fromkeys([TRANSLATED, *SOMETIMES, *sum(SCRIPTS.values(), ())], ADDED)
    for name, page in pages.items():
        found = Found(made[SHOWN] | made.get(SITE, {}))
        for cell in page.cells:
            found.where = ADDED if NOT_NAMED.fullmatch(cell.id) else f"cell {cell.id}"
            walk(nbformat.v4.new_notebook(cells=[cell]), found.keep, found.keep_shown)
        found.where = "a widget"
        walk(nbformat.v4.new_notebook(metadata=page.metadata), found.keep, found.keep_shown)
        made[name] = scripts | found.texts if name == SITE else found.texts
    made[CHECKS] = {
        text: f"{name}: {what}"
        for name, asked in exercises().items()
        if asked.lesson in LESSONS
        for one in asked.misconceptions
        for text, what in ((one.name, "a misconception"), (one.hint, "its hint"))
    }
    terms = Found({})
    for entry in linked_terms():
        terms.where = f"{entry}.md"
        in_markdown((glossary.FOLDER / terms.where).read_text(encoding="utf-8"), terms.keep, str)
    return made | {TERMS: terms.texts}


def linked_terms():
    """Returns the names of the glossary's entries that the translated pages link."""
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    return [name for name in glossary.entries() if f"glossary/{name}.md" in text]


def templates(file):
    """Yields the texts of a widget's module: what its strings show, with {1}, {2} … for what is computed."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    silent = {part for node in ast.walk(tree) if isinstance(node, ast.Raise) for part in ast.walk(node)}
    silent |= {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr) and node not in silent:
            spelled = "".join(part.value if isinstance(part, ast.Constant) else "\0" for part in node.values)
            for text in TAG.sub("\n", spelled).split("\n"):
                if has_words(text.replace("\0", " ")):
                    numbers = iter(range(1, 100))
                    yield re.sub("\0", lambda _, n=numbers: f"{{{next(n)}}}", text)
        elif isinstance(node, ast.IfExp):
            yield from (one.value for one in (node.body, node.orelse) if isinstance(one, ast.Constant) and one.value)


def compiled(texts):
    """Returns a pattern for each text with places to fill in."""
    return {
        text: re.compile(PLACE.sub("(.+)", re.escape(text).replace(r"\{", "{").replace(r"\}", "}")), re.DOTALL)
        for text in texts
        if PLACE.search(text)
    }


def catalogue_file(language, name):
    return FOLDER / language / "LC_MESSAGES" / f"{name}.po"


def update(language, pages):
    """Brings a language's catalogues up to date, and returns those that changed.

    Translations of texts that are still there are kept. Where a text has changed, its old translation becomes fuzzy,
    which the site ignores until someone has looked at it. A catalogue with the same texts stays as it is.

    Raises:
        SystemExit: there is no such language, or a catalogue cannot be read.
    """
    try:
        locale = Locale.parse(language)
    except (UnknownLocaleError, ValueError):
        needs = "It needs the code of a language, such as de, fr or pt_BR."
        raise SystemExit(f"translate got {language!r}. {needs}") from None
    changed = []
    for name, texts in extract(pages).items():
        file = catalogue_file(language, name)
        catalogue = read(language, name) if file.exists() else new(locale)
        before = {message.id: message.auto_comments for message in catalogue if message.id}
        if file.exists() and before == {text: [where] for text, where in texts.items()}:
            continue
        now = datetime.now().astimezone()
        template = Catalog(creation_date=now)
        for text, where in texts.items():
            template.add(text, auto_comments=[where])
        catalogue.update(template)
        catalogue.revision_date = now
        catalogue.obsolete.clear()  # git has them
        for message in catalogue:
            message.flags -= {"python-format", "python-brace-format"}  # neither are filled in by Python
        file.parent.mkdir(parents=True, exist_ok=True)
        with replacing(file) as beside, beside.open("wb") as written:
            pofile.write_po(written, catalogue, width=100)
        changed.append(file)
    return changed


def new(locale):
    """Returns an empty catalogue whose header says all that a header should."""
    catalogue = Catalog(
        locale,
        project="Attention, Measured",
        version=course_lib.__version__,
        copyright_holder="the Attention, Measured authors",
        msgid_bugs_address="the issues of the course's repository",
        last_translator="the Attention, Measured authors",
        language_team=locale.english_name,
        fuzzy=False,
    )
    catalogue.header_comment = (
        f"# {locale.english_name} translation of Attention, Measured, under CC BY 4.0; see LICENSE-TEXT.\n"
        '# Made by `make translate`; CONTRIBUTING.md, "Translate", says how to work on it.'
    )
    return catalogue


def read(language, name):
    """Returns a catalogue. Raises SystemExit if it is missing or damaged."""
    file = catalogue_file(language, name)
    shown = os.path.relpath(file, ROOT)
    try:
        with file.open("rb") as text:
            return pofile.read_po(text, locale=language, abort_invalid=True)
    except FileNotFoundError:
        raise SystemExit(f"{shown} is missing. `make translate ARGS={language}` makes it.") from None
    except (pofile.PoFileError, UnicodeDecodeError) as error:
        raise SystemExit(f"{shown} is damaged: {error}. Correct it, or get it again with git.") from None


def progress(language):
    """Yields a line for each catalogue of a language: how many of its texts, and of their words, are translated."""
    for file in sorted((FOLDER / language).rglob("*.po")):
        name = file.relative_to(FOLDER / language / "LC_MESSAGES").with_suffix("").as_posix()
        messages = [message for message in read(language, name) if message.id]
        done = [message for message in messages if message.string and not message.fuzzy]
        both = (words(message.id for message in those) for those in (done, messages))
        yield f"{language} {name}: {len(done)} of {len(messages)} texts, " + "{:,} of {:,} words".format(*both)


def remaining():
    """Yields what the whole course has for a translator, by its kind, counted from its files."""
    pages = [nbformat.read(file, as_version=4) for file in (*lessons.find(), *lessons.find(folder="exercises"))]
    cells = [cell for page in pages for cell in page.cells]
    texts = {kind: [cell.source for cell in cells if cell.cell_type == kind] for kind in ("markdown", "raw")}
    entries = [file.read_text(encoding="utf-8") for file in glossary.FOLDER.glob("*.md")]
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    drawn = " ".join(plotting.svg(output.data) or "" for output in outputs if "data" in output)
    labels = {label for label in FIGURE_TEXT.findall(drawn) if has_words(label)}
    shown = set()
    ran = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(outputs=outputs)])
    walk(ran, str, lambda text: shown.add(masked(text)[0]) or text)
    alts = [alt for output in outputs if (alt := output.get("metadata", {}).get("image/png", {}).get("alt"))]
    computed = [sum(1 for file in files for _ in templates(file)) for files in MAKE_TEXTS]
    docs = [ast.get_docstring(node) or "" for file in LIBRARY.glob("*.py") for node in documented(file)]
    counted = {
        "words in lessons and exercises": words(texts["markdown"]),
        "words in the lecturer's notes": words(texts["raw"]),
        "words in the glossary and the ledger of claims": words(entries),
        "words in the library's docstrings, which the reference shows": words(docs),
        "different texts in saved outputs, which change when a lesson is executed again": len(shown),
        "texts of figures for those who don't see them": len(alts),
        "different labels in figures, drawn by matplotlib": len(labels),
        "texts within formulas": sum(text.count(r"\text{") for text in texts["markdown"]),
        "strings in checks with computed parts or two forms, some of them code": computed[0],
        "strings in widgets, boxes and grading with computed parts or two forms": computed[1],
    }
    yield from (f"{number:,} {what}" for what, number in counted.items())


def words(texts):
    return sum(len(text.split()) for text in texts)


def documented(file):
    kinds = ast.Module, ast.ClassDef, ast.FunctionDef
    return [node for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(node, kinds)]


# ---- the pages of a language ----


def languages():
    return sorted(folder.name for folder in FOLDER.iterdir()) if FOLDER.is_dir() else []


def catalogue_of(file):
    """Returns the name of a page's catalogue."""
    return file.relative_to(ROOT).with_suffix("").as_posix()


class Texts:
    """What a language says for the texts of these catalogues."""

    def __init__(self, language, names):
        messages = [message for name in names for message in read(language, name) if message.id]
        self.said = {message.id: message.string for message in messages if message.string and not message.fuzzy}
        self.patterns = compiled(self.said)

    def of(self, text):
        """Returns an authored text in the language. Without a translation it stays English, and is marked as that."""
        if text in self.said:
            return self.said[text]
        heading = text.startswith("#")  # begins a section, and a tag around it would not end in the same one
        return text if heading or "\n\n" in text else f'<div lang="en">\n\n{text}\n\n</div>'

    def of_shown(self, text):
        """Returns a text of an output in the language, with its numbers, code and links in their places."""
        general, found = masked(text)
        if general in self.said:
            return self.filled(self.said[general], found)
        for known, pattern in self.patterns.items():
            if match := pattern.fullmatch(text):
                return self.filled(self.said[known], [self.of_shown(part) for part in match.groups()])
        return text

    @staticmethod
    def filled(text, parts):
        parts = [THOUSANDS.sub("\N{NARROW NO-BREAK SPACE}", part) for part in parts]
        return PLACE.sub(lambda place: parts[int(place[1]) - 1], text)


def translate(page, file, language):
    """Returns a page in a language, as deep in the site as `links_from` expects."""
    texts = Texts(language, [catalogue_of(file), SHOWN, SITE])
    return walk(page, texts.of, texts.of_shown)


def links_from(text, file):
    """Returns Markdown of a translated page, which is one folder deeper, with links to pages that aren't translated."""

    def deeper(target):
        path = target.partition("#")[0]
        outside = not path or re.match(r"[a-z]+:", path) or (file.parent / path).resolve() in PAGES
        return target if outside else f"../{target}"

    text = glossary.LINK.sub(lambda link: f"[{link[1]}]({deeper(link[2])})", text)
    return re.sub(r'(?<= href=")[^"]+|(?<= src=")[^"]+', lambda found: deeper(found[0]), text)


def switch(file, language=None):
    """Returns a paragraph with links to a page's other languages, if it has any, and a note on a translated page."""
    if file not in PAGES or not languages():
        return ""
    up, here = "../" * (len(file.relative_to(ROOT).parts) - 1), file.relative_to(ROOT).with_suffix(".html").as_posix()
    places = {"en": here} | {other: f"{other}/{here}" for other in languages()}
    links = "\n".join(
        f'<a href="{up}{place}" lang="{other}" hreflang="{other}">{Locale.parse(other).get_display_name()}</a>'
        for other, place in places.items()
        if other != (language or "en")
    )
    told = f"\n\n{TRANSLATED}" if language else ""
    return f'\n\n<p class="languages">\n{links}\n</p>{told}'


def alternates(docname):
    """Returns the tags that tell a search engine of a page's other languages."""
    language, _, rest = docname.partition("/")
    name = rest if language in languages() else docname
    if name not in map(catalogue_of, PAGES):
        return ""
    up = "../" * docname.count("/")
    places = {"en": name} | {other: f"{other}/{name}" for other in languages()}
    return "".join(f'\n<link rel="alternate" hreflang="{other}" href="{up}{at}.html">' for other, at in places.items())


def copy_scripts(static):
    """Writes the site's scripts that speak in each language, beside the English ones. A card over a link is English."""
    for language in languages():
        script = (static / SITE_SCRIPT).read_text(encoding="utf-8")
        (static / language).mkdir()
        translated = in_script(script, SCRIPTS[SITE_SCRIPT], Texts(language, [SITE]).of_shown)
        (static / language / SITE_SCRIPT).write_text(translated + ENGLISH_CARD, encoding="utf-8")


def finish(folder):
    """Marks on built pages what is in which language, and lets their script speak it."""
    for language in languages():
        for file in (folder / language).rglob("*.html"):
            page = file.read_text(encoding="utf-8")
            page = page.replace('<html class="no-js" lang="en"', f'<html class="no-js" lang="{language}"')
            page = re.sub("<body", '<body lang="en"', page, count=1)
            for part in ('<article role="main"', '<div class="toc-tree"'):
                page = page.replace(part, f'{part} lang="{language}"')
            page = re.sub(rf"_static/{SITE_SCRIPT}(\?v=\w+)?", f"_static/{language}/{SITE_SCRIPT}", page)
            file.write_text(page, encoding="utf-8")
