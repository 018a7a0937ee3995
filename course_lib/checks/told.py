"""Formats what a check says, as lines of text or as a box in a notebook with the same words."""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from IPython.display import display

from course_lib.checks import places, record
from course_lib.processes import in_a_notebook

WRONG, BLANK, RIGHT = "✗", "○", "✓"
RESULTS = {WRONG: "wrong", BLANK: "blank", RIGHT: "right"}  # the words of the log
LOOKS = {  # colour of the edge, and the opacity of that colour in the box
    WRONG: ((213, 94, 0), 0.05),
    BLANK: ((0, 114, 178), 0.07),
    RIGHT: ((0, 158, 115), 0.18),
}
STOPPED = {WRONG: "is not right yet", BLANK: "is still open"}
INLINE = re.compile(
    r"`(?P<code>[^`\n]+)`|(?<![\w*])\*(?=[^\s*])(?P<stress>[^*\n]+?)(?<!\s)\*(?![\w*])"
    r"|(?P<link>\[(?P<words>[^\]\n]+)\]\((?P<target>[^)\s]+)\))"
)
LINK = re.compile(r"\[([^\]\n]+)\]\([^)\s]+\)")
CELL = (
    "text-align:left;vertical-align:top;font-family:monospace;font-weight:normal;padding:.1em 1.2em .1em 0;border:none;"
)
UNBROKEN = "white-space:normal;word-break:keep-all;overflow-wrap:normal;hyphens:none"
# The error's line below a box is shown without the red background. Viewers that ignore this style keep it red.
STYLE = (
    '<style>.jp-OutputArea-child:has(.am-check)+.jp-OutputArea-child [data-mime-type="application/vnd.jupyter.stderr"]'
    "{background:none;opacity:.75;font-size:90%}"
    '.jp-OutputArea-child:has(.am-check)+.jp-OutputArea-child [data-mime-type="application/vnd.jupyter.stderr"] pre'
    "{word-break:normal;overflow-wrap:normal}</style>"
)


@dataclass(frozen=True)
class Told:
    """The message about an answer; `str` gives it as a terminal shows it.

    Args:
        sign: WRONG, BLANK or RIGHT.
        name: name of the exercise.
        what: what is wrong or right; text between backticks is code, between stars emphasised.
        hint: what to look at.
        about: what is special about the input that shows the mistake.
        given: its arguments, as (name, value) pairs.
        results: the result and the wanted one, likewise.
        see: where to read on.
        lesson: the lesson in which "exercise 2" in `see` is looked up.
        following: the next exercise, as Markdown.
    """

    sign: str
    name: str
    what: str
    hint: str = ""
    about: str = ""
    given: Sequence[tuple[str, str]] = ()
    results: Sequence[tuple[str, str]] = ()
    see: str = ""
    lesson: str = ""
    following: str = ""

    @property
    def head(self) -> str:
        """What the message begins with; a message about a blank names the exercise itself."""
        return "" if self.sign == BLANK else f"{self.name}: "

    def __str__(self) -> str:
        lines = [f"{self.sign} {self.head}{self.what}."]
        if self.hint:
            lines.append(f"  {self.hint}".replace("\n", "\n  "))
        if self.about:
            lines.append(f"  Seen with {self.about}:")
        lines += [f"    {name} = {value}" for name, value in self.given]
        lines += [f"  {f'{name}:':9} {value}" for name, value in self.results]
        if self.see:
            lines.append(f"  Read: {self.see}")
        if self.following:
            lines.append("  " + LINK.sub(r"\1", self.following))
        return "\n".join(lines)

    def show(self) -> None:
        """Shows a box in a notebook, else prints text."""
        if in_a_notebook():
            display({"text/html": self.html(), "text/plain": str(self)}, raw=True)
        else:
            print(self)

    def stopped(self) -> str:
        """The line that replaces the error's traceback below a box."""
        return f"{self.sign} {self.name} {STOPPED[self.sign]}: Run All stops here."

    def html(self) -> str:
        (r, g, b), tint = LOOKS[self.sign]
        here = Path.cwd()
        see = self.see and places.linked(self.see, self.lesson, record.home(), here)
        parts = [
            f'<div style="font-size:115%">{self.sign} {html.escape(self.head)}<b>{inline(self.what)}.</b></div>',
            *(f'<div style="margin:.3em 0">{inline(line)}</div>' for line in self.hint.split("\n") if line),
            f'<div style="margin:.6em 0 0">Seen with {inline(self.about)}:</div>' if self.about else "",
            _table(self.given, self.results),
            f'<div style="margin:.4em 0 0">Read: {inline(see, links=True)}</div>' if see else "",
            f'<div style="margin:.4em 0 0">{inline(self.following, links=True)}</div>' if self.following else "",
        ]
        return (
            f'{STYLE if self.sign in STOPPED else ""}<div class="am-check" role="note" aria-label="Check of '
            f'{html.escape(self.name)}" style="border-left:6px solid rgb({r},{g},{b});background:rgba({r},{g},{b},{tint});'
            f'padding:.5em 1em;margin:.3em 0;max-width:56em;{UNBROKEN}">{"".join(parts)}</div>'
        )


def _table(given: Sequence[tuple[str, str]], results: Sequence[tuple[str, str]]) -> str:
    """A table of values below each other, so that result and wanted result can be compared. Long ones wrap at spaces."""
    rows = [*((f"{name} =", value) for name, value in given), *((f"{name}:", value) for name, value in results)]
    if not rows:
        return ""
    cells = "".join(
        f'<tr style="background:none"><th scope="row" style="{CELL}white-space:nowrap">{html.escape(name)}</th>'
        f'<td style="{CELL}{UNBROKEN}">{html.escape(value)}</td></tr>'
        for name, value in rows
    )
    return (
        '<div style="overflow-x:auto"><table style="margin:.3em 0;border:none;border-collapse:collapse;'
        f'table-layout:auto;font-size:100%">{cells}</table></div>'
    )


def inline(text: str, links: bool = False) -> str:
    """Turns code, emphasis and, if allowed, links of a line into HTML; an error's text may look like a link by chance."""

    def one(found: re.Match) -> str:
        if found["code"]:
            return f"<code>{html.escape(found['code'])}</code>"
        if found["stress"]:
            return f"<em>{inline(found['stress'])}</em>"
        if not links:
            return html.escape(found[0])
        return f'<a href="{html.escape(found["target"])}">{inline(found["words"])}</a>'

    parts, at = [], 0
    for found in INLINE.finditer(text):
        parts += [html.escape(text[at : found.start()]), one(found)]
        at = found.end()
    return "".join([*parts, html.escape(text[at:])])
