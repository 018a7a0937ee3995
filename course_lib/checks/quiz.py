"""Asks three questions before and after a lesson, and says which sections to review.

The questions are in a file that people can read and change, notebooks/quiz.md. The answers go into the log of the checks.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from IPython.display import Markdown, display

from course_lib.checks import places, record
from course_lib.checks.told import RESULTS, RIGHT, WRONG, inline
from course_lib.curriculum import LESSONS

FILE = "quiz.md"
WHEN = "before", "after"
LESSON = re.compile(r"^## (\d+) · ", re.MULTILINE)
ASKED = re.compile(
    r"\*\*\d\.\*\* (?P<words>.+)\n\n(?P<options>(?:- .+\n)+)\n<details><summary>Answer</summary>\n\n"
    r"\*\*(?P<right>.+?)\*\* (?P<because>.+) Review “(?P<section>.+)”\.\n\n</details>"
)


@dataclass(frozen=True)
class Asked:
    """A question with its options, the right one of them, the reason, and the section of the lesson to review."""

    words: str
    options: Sequence[str]
    right: str
    because: str
    section: str


@cache
def questions() -> Mapping[str, Sequence[Asked]]:
    """The questions by lesson, as the file has them."""
    _, *parts = LESSON.split((places.NOTEBOOKS / FILE).read_text(encoding="utf-8"))
    return {
        LESSONS[int(number)]: [
            Asked(**found.groupdict() | {"options": re.findall(r"^- (.+)$", found["options"], re.MULTILINE)})
            for found in ASKED.finditer(text)
        ]
        for number, text in zip(parts[::2], parts[1::2], strict=True)
    }


def logged_as(lesson: str, number: int, when: str) -> str:
    """The name of an answer in the log."""
    return f"quiz_{lesson}_{number}_{when}"


def names() -> Sequence[str]:
    """The names of all answers in the log."""
    return [
        logged_as(lesson, number, when)
        for lesson, asked in questions().items()
        for number in range(1, len(asked) + 1)
        for when in WHEN
    ]


def ask(number: int, when: str) -> None:
    """Shows a lesson's questions in a notebook and, once all are answered, what to review.

    Args:
        number: the lesson's number.
        when: "before" or "after".
    Raises:
        ValueError: there is no such lesson, or `when` is another word.
    """
    from ipywidgets import HTML, Button, Output, RadioButtons, VBox

    if number not in range(len(LESSONS)):
        raise ValueError(
            f"there is no lesson {number!r}; give a number from 0 to {len(LESSONS) - 1}: course_lib.quiz(2)"
        )
    if when not in WHEN:
        raise ValueError(
            f'a quiz comes "before" or "after" the lesson, not {when!r}: course_lib.quiz({number}, "after")'
        )
    lesson = LESSONS[number]
    asked = questions()[lesson]
    choices = [
        RadioButtons(
            options=[(option.replace("*", ""), option) for option in one.options],
            value=None,
            description=f"Answer {at}",
            style={"description_width": "initial"},
            layout={"width": "max-content", "max_width": "100%"},
        )
        for at, one in enumerate(asked, 1)
    ]
    button, said = Button(description="Check my answers"), Output()

    def judge(_: Button) -> None:
        chosen = [choice.value for choice in choices]
        said.outputs = ()  # clear_output would come too late and take the new output with it
        if None in chosen:
            said.append_display_data(Markdown("Choose an answer to each question, then check."))
            return
        for each in (button, *choices):
            each.disabled = True  # the first answers count
        for at, (one, choice) in enumerate(zip(asked, chosen, strict=True), 1):
            record.note(logged_as(lesson, at, when), RESULTS[RIGHT if choice == one.right else WRONG])
        said.append_display_data(Markdown(told(lesson, chosen)))

    button.on_click(judge)
    texts = [HTML(f"<b>{at}.</b> {inline(one.words)}") for at, one in enumerate(asked, 1)]
    shown = [part for pair in zip(texts, choices, strict=True) for part in pair]
    display(VBox([*shown, button, said]))


def told(lesson: str, chosen: Sequence[str]) -> str:
    """What the answers come to, in Markdown: each with its reason, and a list of the sections to review."""
    asked = questions()[lesson]
    lines, missed = [], []
    for number, (one, choice) in enumerate(zip(asked, chosen, strict=True), 1):
        right = choice == one.right
        lines.append(f"{number}. {RIGHT if right else WRONG} {'' if right else '*Answer:* '}{one.right} {one.because}")
        if not right:
            place = places.section(lesson, one.section)
            missed.append(f"- {places.link(one.section, place, record.home(), Path.cwd())}")
    return "\n".join([*lines, "", *(["**Review:**", "", *missed] if missed else ["All are right."])])


def standing(results: Mapping[str, str]) -> Mapping[str, tuple[Sequence[str], Sequence[str]]]:
    """For each lesson with a logged quiz, how many answers were right before and after, and the sections to review.

    Args:
        results: the latest result in the log, by name.
    """
    found = {}
    for lesson, asked in questions().items():
        marks = {when: [results.get(logged_as(lesson, at, when)) for at in range(1, len(asked) + 1)] for when in WHEN}
        if not any(any(every) for every in marks.values()):
            continue
        counts = [f"{each.count(RESULTS[RIGHT])} of {len(asked)}" if any(each) else "–" for each in marks.values()]
        latest = [after or before for before, after in zip(*marks.values(), strict=True)]
        missed = [one.section for one, result in zip(asked, latest, strict=True) if result == RESULTS[WRONG]]
        found[lesson] = counts, missed
    return found
