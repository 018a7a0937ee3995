"""Explorers: a pure function from a state to a frame of HTML, and a thin shell with controls.

A shell computes the frames of all states once, so it also works where no kernel runs.
"""

import difflib
import html
import itertools
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import anywidget
import numpy as np
import traitlets
from IPython.display import HTML, display

DATA = Path(__file__).parent / "data"
STYLE = (DATA / "explorer.css").read_text(encoding="utf-8")


class Explorer(anywidget.AnyWidget):
    """Controls, and the frame for what they say.

    Args:
        frame: from a value for each control to HTML; called for every combination.
        controls: names, as they are shown, and their values in order; numbers get a slider, words a menu.
        start: the state shown first; the first values if not given.
    Raises:
        ValueError: a control has no value, or `start` has a value that its control lacks.
    """

    _esm = (DATA / "explorer.js").read_text(encoding="utf-8")
    _css = STYLE
    controls = traitlets.List().tag(sync=True)
    frames = traitlets.Dict().tag(sync=True)
    chosen = traitlets.List().tag(sync=True)

    def __init__(self, frame: Callable[..., str], controls: dict[str, Sequence], start: dict | None = None):
        empty = [name for name, values in controls.items() if not len(values)]
        if empty:
            raise ValueError(f"the control {empty[0]!r} has no value to choose")
        start = start or {}
        for name, value in start.items():
            if value not in controls.get(name, ()):
                raise ValueError(f"{name} = {value!r} is none of {controls.get(name)}")
        states = itertools.product(*(range(len(values)) for values in controls.values()))
        super().__init__(
            controls=[
                {"name": name, "options": [str(v) for v in values], "slider": not isinstance(values[0], str)}
                for name, values in controls.items()
            ],
            frames={
                ",".join(map(str, state)): frame(*(v[i] for v, i in zip(controls.values(), state, strict=True)))
                for state in states
            },
            chosen=[list(values).index(start.get(name, values[0])) for name, values in controls.items()],
        )

    def state(self) -> str:
        """What the controls say, in words."""
        said = [f"{c['name']}: {c['options'][i]}" for c, i in zip(self.controls, self.chosen, strict=True)]
        return ", ".join(said)

    def shown(self) -> str:
        """The frame now shown."""
        return self.frames[",".join(map(str, self.chosen))]

    def _repr_mimebundle_(self, **options):
        data, metadata = super()._repr_mimebundle_(**options)
        data["text/plain"] = self.state()
        data["text/html"] = f"<div><p><i>{html.escape(self.state())}</i></p>{self.shown()}</div>"
        return data, metadata

    def standalone(self) -> str:
        """A page that holds the explorer and needs neither kernel nor network."""
        data = {"controls": self.controls, "frames": self.frames, "chosen": self.chosen}
        spelled = json.dumps(data, ensure_ascii=False).replace("</", r"<\/")
        return f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>Explorer</title>
<style>body {{ font-family: sans-serif; }} {STYLE}</style><div id="explorer"></div><script type="module">
{self._esm.replace("export default", "const explorer =")}
const state = {spelled}, heard = [];
const model = {{
  get: (name) => state[name], on: (_, f) => heard.push(f), save_changes: () => heard.forEach((f) => f()),
  set: (name, value) => {{ state[name] = value; }},
}};
explorer.render({{ model, el: document.getElementById("explorer") }});
</script></html>"""


class Prediction(anywidget.AnyWidget):
    """A question that the reader answers before a result is seen; `compare` comes back to it."""

    _esm = (DATA / "prediction.js").read_text(encoding="utf-8")
    _css = STYLE
    question = traitlets.Unicode().tag(sync=True)
    options = traitlets.List().tag(sync=True)
    chosen = traitlets.Int(-1).tag(sync=True)

    def __init__(self, question: str, options: Sequence[str]):
        super().__init__(question=question, options=list(options))

    def _repr_mimebundle_(self, **more):
        data, metadata = super()._repr_mimebundle_(**more)
        items = "".join(f"<li>{html.escape(option)}</li>" for option in self.options)
        data["text/plain"] = f"Your prediction: {self.question}"
        data["text/html"] = f"<p>Your prediction: {html.escape(self.question)}</p><ul>{items}</ul>"
        return data, metadata

    def compare(self, measured: str) -> None:
        """Shows what was predicted beside what was measured."""
        said = self.options[self.chosen] if self.chosen >= 0 else "nothing yet"
        display(HTML(f"<p>You predicted: <b>{html.escape(said)}</b>. Measured: <b>{html.escape(measured)}</b>.</p>"))


# --- lesson 1 --------------------------------------------------------------------------------------------


def remember(words: Sequence[str], vocabulary: Sequence[str], numbers: int) -> tuple[np.ndarray, list[str]]:
    """Puts a sentence into one vector by an untrained recurrence, and reads it back.

    h_j = R h_{j-1} + E[x_j] with a random rotation R and random unit vectors E; word j is read back as
    argmax_w  h_n · R^{n-j} E[w].

    Returns:
        h_n, and the words read back.
    Raises:
        ValueError: `numbers` is not positive, or a word is not in the vocabulary.
    """
    if numbers < 1:
        raise ValueError(f"a vector of {numbers} numbers holds nothing; at least 1 is needed")
    unknown = sorted(set(words) - set(vocabulary))
    if unknown:
        raise ValueError(f"{unknown[0]!r} is not in the vocabulary of {len(vocabulary)} words")
    random = np.random.default_rng(numbers)
    rotation, _ = np.linalg.qr(random.normal(size=(numbers, numbers)))
    codes = random.normal(size=(len(vocabulary), numbers))
    codes /= np.linalg.norm(codes, axis=1, keepdims=True)
    number_of = {word: i for i, word in enumerate(vocabulary)}
    state = np.zeros(numbers)
    for word in words:
        state = rotation @ state + codes[number_of[word]]
    read, turned = [], state
    for _ in words:  # the last word first: each turn back brings the one before it to the front
        read.append(vocabulary[int((codes @ turned).argmax())])
        turned = rotation.T @ turned
    return state, read[::-1]


def _marked(words: Sequence[str], right: Sequence[bool]) -> str:
    """Wrong words marked and crossed, so that colour is not all that tells them."""
    spelled = (
        html.escape(word) if good else f"<mark>✗&nbsp;{html.escape(word)}</mark>"
        for word, good in zip(words, right, strict=True)
    )
    return " ".join(spelled)


def memory_frame(words: Sequence[str], vocabulary: Sequence[str], length: int, numbers: int) -> str:
    """The first `length` words, the vector of `numbers` numbers that must hold them, and what is read back."""
    sentence = words[:length]
    state, read = remember(sentence, vocabulary, numbers)
    right = [a == b for a, b in zip(sentence, read, strict=True)]
    tallest = np.abs(state).max() or 1
    width = 560 / numbers
    bars = "".join(f"M{(i + 0.5) * width:.0f} 30v{-28 * value / tallest:.0f}" for i, value in enumerate(state))
    return (
        f"<div>in: {html.escape(' '.join(sentence))}</div>"
        f'<svg viewBox="0 0 560 60" width="560" height="60" role="img" aria-label="a vector of {numbers} numbers">'
        f'<path d="M0 30h560" stroke="#999"/>'
        f'<path d="{bars}" stroke="#0072b2" stroke-width="{max(1.5, 0.7 * width):.1f}"/></svg>'
        f"<div>read back: {_marked(read, right)}</div>"
        f"<div><b>{sum(right)} of {length} words</b> survive in {numbers} numbers</div>"
    )


def translation_frame(source: Sequence[str], reference: Sequence[str], written: Sequence[str]) -> str:
    """A sentence, its translation by a model, words that do not belong marked, and the right translation."""
    matches = difflib.SequenceMatcher(None, reference, written, autojunk=False).get_matching_blocks()
    right = [any(m.b <= i < m.b + m.size for m in matches) for i in range(len(written))]
    wrong = max(len(reference), len(written)) - sum(match.size for match in matches)
    verdict = f"✗ {wrong} {'word' if wrong == 1 else 'words'} wrong or missing" if wrong else "✓ all right"
    return (
        f"<div><b>{len(source)} English words:</b> {html.escape(' '.join(source))}</div>"
        f"<div><b>the model writes:</b> {_marked(written, right)}</div>"
        f"<div><b>it should be:</b> {html.escape(' '.join(reference))}</div>"
        f"<div><b>{verdict}</b></div>"
    )
