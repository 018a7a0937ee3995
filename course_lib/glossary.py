"""Finds the entries of glossary/ and shows them inside a notebook.

An entry is a Markdown file with the term, a table (other names, symbol, shape, lesson, related), and the sections of
`SECTIONS` in their order, each after its name in bold. tests/test_glossary.py checks this form.
"""

import difflib
import html
import os
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from IPython.display import display

from course_lib.files import COURSE

FOLDER = COURSE / "glossary"
GENERATED = {"README", "claims"}
SECTIONS = (
    "The paper says", "What happens", "The arithmetic", "Shapes", "Where people go wrong", "Where it breaks",
)  # fmt: skip
STYLES = {  # JupyterLab's own styles align cells and show code differently inside an output
    "th": "text-align:left",
    "td": "text-align:left",
    "pre": "background:rgba(128,128,128,.12);padding:.4em .8em;margin:.3em 0;overflow-x:auto",
}
LINK = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])+)\]\(([^)\s]+)\)")  # the text may contain brackets, as in [CLS]


@dataclass(frozen=True)
class Entry:
    """One term of the glossary, read from its file."""

    name: str
    text: str

    @cached_property
    def term(self) -> str:
        return re.match(r"# (.+)", self.text)[1]

    @cached_property
    def header(self) -> dict[str, str]:
        """The rows of the table under the title, as the file has them."""
        table = self.text.split("\n**", 1)[0]
        return dict(re.findall(r"^\| ([a-z ]+) \| (.+) \|$", table, re.MULTILINE))

    @property
    def other_names(self) -> list[str]:
        return [name for name in self.header["other names"].split(", ") if name != "none"]

    @property
    def related(self) -> list[str]:
        return [Path(target).stem for _, target in LINK.findall(self.header["related"])]

    @cached_property
    def sections(self) -> dict[str, str]:
        """The sections of the body, by their names in bold."""
        parts = re.split(rf"^\*\*({'|'.join(SECTIONS)})\.\*\* ?", self.text, flags=re.MULTILINE)
        return {name: text.strip() for name, text in zip(parts[1::2], parts[2::2], strict=True)}

    @property
    def in_short(self) -> str:
        """The first sentence of "What happens"."""
        return re.split(r"(?<=[.:!?]) ", " ".join(self.sections["What happens"].split()))[0].rstrip(":")


def entries() -> dict[str, Entry]:
    """Returns every entry by its file's name, in alphabetical order.

    Raises FileNotFoundError if the course is installed without its folder glossary/.
    """
    if not FOLDER.is_dir():
        raise FileNotFoundError(f"there is no folder {FOLDER}; run the course from its clone (pip install -e .)")
    files = sorted(file for file in FOLDER.glob("*.md") if file.stem not in GENERATED)
    return {file.stem: Entry(file.stem, file.read_text(encoding="utf-8")) for file in files}


def nearby() -> Path:
    """Returns the folder to which a notebook's links lead: the glossary next to the workbook, or the course's own."""
    here = Path.cwd()
    beside = (folder / FOLDER.name for folder in (here, *here.parents))
    return next((folder for folder in beside if (folder / "README.md").is_file()), FOLDER)


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", " ", name.replace("$", "").strip().lower())


def _by_name() -> dict[str, Entry]:
    """Returns the entries by all their names; an entry's term takes precedence over other names of other entries."""
    found = entries().values()
    others = {_plain(name): entry for entry in found for name in entry.other_names}
    return others | {_plain(entry.term): entry for entry in found}


def find(term: str) -> Entry:
    """Returns the entry of a term or of another name for it; capitals, spaces and hyphens do not matter.

    Raises LookupError, which names the nearest terms, if there is no entry.
    """
    known = _by_name()
    wanted = _plain(term)
    for name in (wanted, wanted.removesuffix("s")):
        if name in known:
            return known[name]
    near = [name for name in known if wanted and wanted in name]
    near += difflib.get_close_matches(wanted, known, cutoff=0.7)
    terms = list(dict.fromkeys(known[name].term for name in near))[:5]
    advice = (
        f"the nearest are {', '.join(map(repr, terms))}" if terms else "glossary.search(...) looks inside the entries"
    )
    raise LookupError(f"the glossary has no entry {term!r}; {advice}")


def show(term: str) -> None:
    """Shows the entry of a term as a card; for an unknown term, it names the nearest ones.

    >>> show("boltzman distribution")
    the glossary has no entry 'boltzman distribution'; the nearest are 'statistical selection', 'permutation test'
    """
    try:
        entry = find(term)
    except LookupError as error:
        print(error)
        return
    display({"text/html": _card(entry.text), "text/plain": entry.text}, raw=True)


def search(text: str) -> None:
    """Lists the entries that contain all these words; entries with the words in their names come first."""
    words = _plain(text).split()
    hits = [entry for entry in entries().values() if all(word in _plain(entry.text) for word in words)]
    if not words or not hits:
        print(f"No entry of the glossary contains {text!r}.")
        return
    named = {entry.name for name, entry in _by_name().items() if all(word in name for word in words)}
    hits.sort(key=lambda entry: entry.name not in named)
    lines = [f"- [{entry.term}]({entry.name}.md): {entry.in_short}" for entry in hits]
    display({"text/html": _card("\n".join(lines)), "text/plain": "\n".join(lines)}, raw=True)


def _card(text: str) -> str:
    from nbconvert.filters import markdown2html  # slow to import, and needed only here

    here = os.path.relpath(nearby())  # links in the files are relative to glossary/
    text = LINK.sub(lambda link: f"[{link[1]}]({_seen_from(here, link[2])})", text)
    body = re.sub(r'<a class="anchor-link".*?</a>', "", markdown2html(text))
    for tag, style in STYLES.items():
        body = body.replace(f"<{tag}>", f'<{tag} style="{style}">')
    return (
        '<div role="note" aria-label="Glossary" style="border-left:6px solid #0072b2;padding:.2em 1.2em;'
        f'max-width:52em">{body}</div>'
    )


def _seen_from(here: str, target: str) -> str:
    if "://" in target:
        return target
    return html.escape(os.path.normpath(os.path.join(here, target)).replace(os.sep, "/"))
