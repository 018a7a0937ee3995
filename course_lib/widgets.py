"""Explorers: a pure function from a state to a frame of HTML, and a thin shell with controls.

A shell computes the frames of all states once, so it also works where no kernel runs; where there are too many,
it computes each when it is chosen.
"""

import difflib
import html
import itertools
import json
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import anywidget
import numpy as np
import torch
import traitlets
from IPython.display import HTML, display

from course_lib.masks import masked_softmax
from course_lib.positions import sinusoidal_table

DATA = Path(__file__).parent / "data"
STYLE = (DATA / "explorer.css").read_text(encoding="utf-8")


SVG = re.compile(r"<svg\b.*?</svg>", re.DOTALL)


class Live(anywidget.AnyWidget):
    """A widget with a picture of itself above it, for readers where nothing runs; what is alive hides the picture.

    A widget of this kind says what it shows: `summary()` in a line of text, `still()` as HTML.
    """

    _css = STYLE

    def _ipython_display_(self) -> None:
        # GitHub takes drawings out of HTML, and shows those that are images of their own.
        for drawing in SVG.findall(self.still()):
            labelled = "role=" in drawing.partition(">")[0]
            label = "" if labelled else f' role="img" aria-label="{html.escape(self.summary())}"'
            image = drawing.replace("<svg", f'<svg xmlns="http://www.w3.org/2000/svg"{label}', 1)
            display({"image/svg+xml": image, "text/plain": self.summary()}, raw=True)
        words = f'<div class="am-still">{SVG.sub("", self.still())}</div>'
        display({"text/html": words, "text/plain": self.summary()}, raw=True)
        data, metadata = self._repr_mimebundle_()
        display(data | {"text/plain": self.summary()}, metadata=metadata, raw=True)


class Explorer(Live):
    """Controls, and the frame for what they say.

    Args:
        frame: from a value for each control to HTML; called for every combination.
        controls: names, as they are shown, and their values in order; numbers get a slider, words a menu.
        start: the state shown first; the first values if not given.
        ahead: False computes a frame only when it is chosen, which takes a running kernel.
    Raises:
        ValueError: a control has no value, or `start` has a value that its control lacks.
    """

    _esm = (DATA / "explorer.js").read_text(encoding="utf-8")
    controls = traitlets.List().tag(sync=True)
    frames = traitlets.Dict().tag(sync=True)
    chosen = traitlets.List().tag(sync=True)

    def __init__(
        self,
        frame: Callable[..., str],
        controls: dict[str, Sequence],
        start: dict | None = None,
        *,
        ahead: bool = True,
    ):
        empty = [name for name, values in controls.items() if not len(values)]
        if empty:
            raise ValueError(f"the control {empty[0]!r} has no value to choose")
        start = start or {}
        for name, value in start.items():
            if value not in controls.get(name, ()):
                raise ValueError(f"{name} = {value!r} is none of {controls.get(name)}")
        chosen = [list(values).index(start.get(name, values[0])) for name, values in controls.items()]
        states = itertools.product(*(range(len(values)) for values in controls.values())) if ahead else [chosen]

        def computed(state: Sequence[int]) -> dict[str, str]:
            values = (values[i] for values, i in zip(controls.values(), state, strict=True))
            return {",".join(map(str, state)): frame(*values)}

        super().__init__(
            controls=[
                {"name": name, "options": [str(v) for v in values], "slider": not isinstance(values[0], str)}
                for name, values in controls.items()
            ],
            frames={key: shown for state in states for key, shown in computed(state).items()},
            chosen=chosen,
        )

        def follow(change: dict) -> None:
            self.frames = computed(change["new"])

        if not ahead:
            self.observe(follow, "chosen")

    def summary(self) -> str:
        said = [f"{c['name']}: {c['options'][i]}" for c, i in zip(self.controls, self.chosen, strict=True)]
        return ", ".join(said)

    def shown(self) -> str:
        """The frame now shown."""
        return self.frames[",".join(map(str, self.chosen))]

    def still(self) -> str:
        return f"<p><i>{html.escape(self.summary())}</i></p>{self.shown()}"

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


class Prediction(Live):
    """A question that the reader answers before a result is seen; `compare` comes back to it."""

    _esm = (DATA / "prediction.js").read_text(encoding="utf-8")
    question = traitlets.Unicode().tag(sync=True)
    options = traitlets.List().tag(sync=True)
    chosen = traitlets.Int(-1).tag(sync=True)

    def __init__(self, question: str, options: Sequence[str]):
        super().__init__(question=question, options=list(options))

    def summary(self) -> str:
        return f"Your prediction: {self.question}"

    def still(self) -> str:
        items = "".join(f"<li>{html.escape(option)}</li>" for option in self.options)
        return f"<p>{html.escape(self.summary())}</p><ul>{items}</ul>"

    def compare(self, measured: str) -> None:
        """Shows what was measured, and before it what was predicted, if anything was."""
        said = f"You predicted: <b>{html.escape(self.options[self.chosen])}</b>. " if self.chosen >= 0 else ""
        display(HTML(f"<p>{said}Measured: <b>{html.escape(measured)}</b>.</p>"))


# --- how frames are drawn --------------------------------------------------------------------------------
# Colours must be seen on white and on black, and no word may stand on one of them. 390 wide is what a phone shows
# whole; drawings side by side go below each other there.


def _svg(wide: float, tall: float, content: str, told: str = "", size: int = 14, scale: int = 1) -> str:
    """A drawing with letters of `size` pixels that scrolls before they have less than 11; `told` says what is seen."""
    image = f' role="img" aria-label="{told}"' if told else ""
    return (
        f'<svg viewBox="0 0 {wide} {tall}" width="{scale * wide}" height="{scale * tall}" '
        f'style="min-width:{wide * 11 // size + 1}px" '
        f'fill="currentColor" font-size="{size}"{image}>{content}</svg>'
    )


def _beside(told: str, *drawings: str) -> str:
    """Drawings that make one picture."""
    return f'<div role="img" aria-label="{told}">{"".join(drawings)}</div>'


def _likeliest(candidates: dict[str, float], digits: int, told: str) -> str:
    """Words and their probabilities, as bars."""
    rows = "".join(
        f'<text x="96" y="{14 + 22 * row}" text-anchor="end">{html.escape(word)}</text>'
        f'<rect x="104" y="{1 + 22 * row}" width="{200 * probability:.0f}" height="17" fill="#009e73"/>'
        f'<text x="{110 + 200 * probability:.0f}" y="{14 + 22 * row}">{probability:.{digits}f}</text>'
        for row, (word, probability) in enumerate(candidates.items())
    )
    listed = ", ".join(f"{html.escape(word)} {probability:.{digits}f}" for word, probability in candidates.items())
    return f"<div>{_svg(360, 22 * len(candidates), rows, f'{told}: {listed}')}</div>"


# --- the warm-up -----------------------------------------------------------------------------------------


def softmax_frame(words: Sequence[str], *scores: float) -> str:
    """The softmax weights of the scores, one bar a word, beside the powers exp(score) that they come from."""
    powers = np.exp(scores)
    weights = powers / powers.sum()
    rows = []
    for i, (word, score, power, weight) in enumerate(zip(words, scores, powers, weights, strict=True)):
        top, line, length = 32 * i + 6, 32 * i + 22, 170 * weight
        rows.append(
            f'<text y="{line}">{html.escape(word)}<tspan x="46">exp({score}) = {power:.2f}</tspan>'
            f'<tspan x="{length + 176:.0f}">{weight:.3f}</tspan></text>'
            f'<path d="M170 {top}h{length:.1f}v22H170" fill="#0072b2"/>'
        )
    said = ", ".join(f"{html.escape(word)} {weight:.3f}" for word, weight in zip(words, weights, strict=True))
    return (
        f"{_svg(390, 32 * len(words), ''.join(rows), f'weights: {said}')}"
        f"<div>sum of the powers: {powers.sum():.2f}; each is divided by it, so the weights add up to 1</div>"
    )


def descent_frame(
    loss: Callable, slope: Callable, start: float, span: tuple[float, float], rate: float, steps: int
) -> str:
    """The curve of `loss` over `span`, and where `steps` steps  w <- w - rate * slope(w)  lead from `start`."""
    path = [start]
    for _ in range(steps):
        path.append(path[-1] - rate * slope(path[-1]))
    low, high = span
    grid = np.linspace(low, high, 25)
    tallest = max(loss(w) for w in grid)

    def place(w: float, height: float) -> str:
        return f"{20 + 350 * (w - low) / (high - low):.0f} {180 - 165 * height / tallest:.0f}"

    def number(value: float) -> str:
        return f"{value:.2f}".replace("-0.00", "0.00").replace("-", "−")

    curve = "L".join(place(w, loss(w)) for w in grid)
    way = "L".join(place(w, loss(w)) for w in path)
    w, rise = path[-1], slope(path[-1])
    tangent = "L".join(place(w + d, loss(w) + d * rise) for d in (-0.1 * (high - low), 0.1 * (high - low)))
    ticks = "".join(
        f'<text x="{x}" y="199" text-anchor="middle">{tick:g}</text>'
        for x, tick in ((20, low), (195, (low + high) / 2), (370, high))
    )
    off = "" if low <= w <= high else ", off the picture"
    here = f"after {steps} {'step' if steps == 1 else 'steps'}: w = {number(w)}, loss {number(loss(w))}{off}"
    drawn = (
        f'<g fill="none" stroke-width="2"><path d="M{curve}" stroke="#999"/><path d="M{way}" stroke="#0072b2"/>'
        f'<path d="M{way.replace("L", "h.1M")}h.1" stroke="#0072b2" stroke-width="9" stroke-linecap="round"/>'
        f'<path d="M{tangent}" stroke="#d55e00" stroke-width="3" stroke-dasharray="6 4"/></g>'
        f'{ticks}<text y="12">loss</text><text x="282" y="199">w</text>'
    )
    return (
        f"{_svg(390, 205, drawn, f'the loss as a curve over w; {here}')}<div>w: {' → '.join(map(number, path))}</div>"
        f"<div><b>{here}</b></div><div>slope there (dashed) {number(rise)}; "
        f"the next step moves w by −{rate:g} · ({number(rise)}) = {number(-rate * rise)}</div>"
    )


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


# --- lesson 2 --------------------------------------------------------------------------------------------


def _spread(scores: np.ndarray) -> np.ndarray:
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def _percent(weights: Iterable[float]) -> str:
    return ", ".join(f"{weight:.0%}" for weight in weights)


def flashlight_frame(words: Sequence[str], states: np.ndarray, degrees: float, length: float) -> str:
    """A query in the plane, the words' states, the weights softmax(q · h_i), and the context Σ α_i h_i.

    Args:
        states: (words, 2), of length about 1.
        degrees, length: where the query points, counted from the right against the clock, and how long it is.
    """
    angle = np.radians(degrees)
    query = length * np.array([np.cos(angle), np.sin(angle)])
    weights = _spread(states @ query)

    def at(vector: np.ndarray, scale: float = 75) -> str:
        return f"{150 + scale * vector[0]:.0f} {125 - scale * vector[1]:.0f}"

    plane, bars = [], []
    for row, (word, state, weight) in enumerate(zip(words, states, weights, strict=True)):
        # A word stands outwards of the light, so that it is never written on it.
        anchor = "middle" if abs(state[0]) < 0.35 else "start" if state[0] > 0 else "end"
        plane.append(
            f'<path d="M{at(state)}h.1" stroke="#f0e442" stroke-width="{44 * weight:.0f}" stroke-linecap="round"/>'
            f'<path d="M150 125L{at(state)}" stroke="#0072b2" stroke-width="{1.5 + 6 * weight:.1f}"/>'
            f'<path d="M{at(state)}h.1" stroke="#0072b2" stroke-width="10" stroke-linecap="round"/>'
            f'<text x="{150 + 101 * state[0]:.0f}" y="{129 - 104 * state[1]:.0f}" text-anchor="{anchor}">'
            f"{html.escape(word)}</text>"
        )
        y = 30 + 32 * row
        bars.append(
            f'<text x="50" y="{y + 5}" text-anchor="end">{html.escape(word)}</text>'
            f'<rect x="60" y="{y - 9}" width="{140 * weight:.0f}" height="18" fill="#0072b2"/>'
            f'<text x="{66 + 140 * weight:.0f}" y="{y + 5}">{weight:.2f}</text>'
        )
    context = weights @ states
    plane.append(
        f'<path d="M150 125L{at(context)}" stroke="#d55e00" stroke-width="3"/>'
        f'<path d="M{at(context)}h.1" stroke="#d55e00" stroke-width="12" stroke-linecap="round"/>'
        f'<path d="M150 125L{at(query, 15)}" stroke="currentColor" stroke-width="2" stroke-dasharray="5 3"/>'
    )
    told = f"weights {html.escape(', '.join(words))}: {_percent(weights)}"
    drawings = _svg(300, 250, "".join(plane)), _svg(240, 40 + 32 * len(words), "".join(bars))
    return (
        f"{_beside(told, *drawings)}"
        "<div>dashed: the query, drawn smaller · blue: the states, lit by their weight · orange: the context, at "
        f"({context[0]:.2f}, {context[1]:.2f})</div>"
    )


def attention_frame(
    source: Sequence[str],
    weights: Sequence[float],
    written: Sequence[str],
    candidates: dict[str, float],
    gold: Iterable[int] = (),
    scores: Sequence[float] = (),
) -> str:
    """One step of a decoder: the weights over the source words, and the likeliest words.

    Args:
        written: the words so far; the last is the one that this step writes.
        candidates: the likeliest words and their probabilities.
        gold: positions of the source words that the written word translates; they are marked.
        scores: written above the weights, if given.
    """
    width = max(64, *(9 * len(word) + 14 for word in source))
    parts = []
    for i, (word, weight) in enumerate(zip(source, weights, strict=True)):
        x = width * (i + 0.5)
        tall = 80 * weight
        parts.append(f'<rect x="{x - 20:.0f}" y="{106 - tall:.0f}" width="40" height="{tall + 1:.0f}" fill="#0072b2"/>')
        parts.append(f'<text x="{x:.0f}" y="{100 - tall:.0f}">{weight:.2f}</text>')
        parts.append(f'<text x="{x:.0f}" y="124">{html.escape(word)}</text>')
        if scores:
            parts.append(f'<text x="{x:.0f}" y="12">e = {scores[i]:.1f}</text>')
        if i in gold:
            parts.append(f'<text x="{x:.0f}" y="140" fill="#d55e00">◆</text>')
    label = f"weights over {html.escape(' '.join(source))}: {_percent(weights)}"
    columns = f'<g text-anchor="middle">{"".join(parts)}</g>'
    return (
        f"<div>written: {html.escape(' '.join(written[:-1]))} <b>{html.escape(written[-1])}</b></div>"
        f"{_svg(width * len(source), 146, columns, label)}{_likeliest(candidates, 2, 'likeliest words')}"
    )


# --- lesson 3 --------------------------------------------------------------------------------------------


def query_key_value_frame(
    words: Sequence[str], keys: np.ndarray, values: np.ndarray, turned: int, degrees: float, key_degrees: float
) -> str:
    """A query among keys in one plane, and what it gets, the values' weighted sum, in another.

    Args:
        keys, values: (words, 2), of length about 1.
        turned: the word whose key points to `key_degrees` instead.
        degrees: where the query points, counted from the right against the clock; it is 2 long.
    """

    def pointing(angle: float) -> np.ndarray:
        return np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))])

    keys = keys.copy()
    keys[turned] = pointing(key_degrees)
    query = 2 * pointing(degrees)
    scores = keys @ query
    weights = _spread(scores)
    output = weights @ values

    def arrow(vector: np.ndarray, width: float, colour: str, more: str = "") -> str:
        end = f"{105 + 75 * vector[0]:.0f} {130 - 75 * vector[1]:.0f}"
        return f'<path d="M105 130L{end}" stroke="{colour}" stroke-width="{width:.1f}"{more}/>'

    def name(vector: np.ndarray, text: str) -> str:
        away = 94 * vector / max(np.linalg.norm(vector), 1e-9) * min(1, np.linalg.norm(vector) + 0.1)
        return f'<text x="{105 + away[0]:.0f}" y="{134 - away[1]:.0f}" text-anchor="middle">{html.escape(text)}</text>'

    left, middle, right = [], [], []
    for row, (word, key, value, score, weight) in enumerate(zip(words, keys, values, scores, weights, strict=True)):
        y = 16 + 44 * row
        left += [arrow(key, 3, "#0072b2"), name(key, word)]
        right += [arrow(value, 1.5 + 7 * weight, "#009e73"), name(value, word)]
        middle.append(
            f'<text y="{y}">{html.escape(word)}: q·k = {score:.1f}</text>'
            f'<path d="M0 {y + 6}h{100 * weight:.0f}v14H0z" fill="#0072b2"/>'
            f'<text x="{6 + 100 * weight:.0f}" y="{y + 18}">{weight:.2f}</text>'
        )
    left.append(arrow(query / 2 * 1.15, 2, "currentColor", ' stroke-dasharray="5 3"'))
    right.append(arrow(output, 3, "#d55e00"))
    dot = f"{105 + 75 * output[0]:.0f} {130 - 75 * output[1]:.0f}"
    right.append(f'<path d="M{dot}h.1" stroke="#d55e00" stroke-width="12" stroke-linecap="round"/>')
    told = f"weights of {html.escape(', '.join(words))}: {_percent(weights)}"
    drawings = (
        _svg(210, 250, f'<text x="15" y="14">query and keys</text>{"".join(left)}'),
        _svg(150, 44 * len(words), "".join(middle)),
        _svg(210, 250, f'<text x="15" y="14">values and output</text>{"".join(right)}'),
    )
    return (
        f"{_beside(told, *drawings)}"
        "<div>dashed: the query · blue: keys · green: values, the wider the more weight · orange: the output, at "
        f"({output[0]:.2f}, {output[1]:.2f})</div>"
    )


def width_frame(keys: int, width: int, draw: int) -> str:
    """Softmax weights of one random query over random keys of `width` numbers, undivided and divided by √width."""
    random = np.random.default_rng(1000 * draw + width)
    scores = random.normal(size=(keys, width)) @ random.normal(size=width)
    rows, said = [], []
    for row, (title, shown) in enumerate((("q·k", scores), ("q·k / √d_k", scores / width**0.5))):
        weights, base = _spread(shown), 110 + 125 * row
        bars = "".join(f"M{4 + 32 * i} {base}v-{70 * weight + 1:.0f}h24V{base}z" for i, weight in enumerate(weights))
        rows.append(
            f'<text x="4" y="{base - 95}">{title}, from {shown.min():.1f} to {shown.max():.1f}</text>'
            f'<path d="M4 {base}h{32 * keys - 8}" stroke="#999"/>'
            f'<path d="{bars}" fill="{("#d55e00", "#0072b2")[row]}"/>'
            f'<text x="{16 + 32 * weights.argmax()}" y="{base - 70 * weights.max() - 6:.0f}" '
            f'text-anchor="middle">{weights.max():.2f}</text>'
        )
        said.append(f"{weights.max():.2f}")
    told = f"largest weight: {said[0]} undivided, {said[1]} divided by √{width}"
    return f"{_svg(32 * keys + 6, 240, ''.join(rows), told)}<div><b>{told}</b></div>"


def temperature_frame(choices: dict[str, float], temperature: float, draws: int) -> str:
    """Boltzmann probabilities p = exp(−E / T) / Z of words with energies, and how often each is drawn.

    Args:
        choices: words and their energies E.
        draws: how many words are drawn, with a seed that does not change.
    """
    probabilities = _spread(-np.array(list(choices.values())) / temperature)
    counts = np.random.default_rng(0).multinomial(draws, probabilities)
    rows = []
    for i, (word, energy, p, count) in enumerate(zip(choices, choices.values(), probabilities, counts, strict=True)):
        top = 34 * i + 4
        rows.append(
            f'<text y="{top + 17}">{html.escape(word)}<tspan x="66">E = {energy:g}</tspan>'
            f'<tspan x="{136 + 160 * p:.0f}">{p:.3f}</tspan></text>'
            f'<path d="M130 {top}h{160 * p:.1f}v13H130z" fill="#0072b2"/>'
            f'<path d="M130 {top + 15}h{160 * count / draws:.1f}v8H130z" fill="#e69f00"/>'
            f'<text x="388" y="{top + 17}" text-anchor="end">{count}</text>'
        )
    cheapest = min(choices, key=choices.get)
    others = 1 - counts[list(choices).index(cheapest)] / draws
    said = ", ".join(f"{html.escape(word)} {p:.3f}" for word, p in zip(choices, probabilities, strict=True))
    return (
        f"{_svg(390, 34 * len(choices), ''.join(rows), f'probabilities: {said}')}"
        "<div>blue: probability · orange, and the number on the right: how often it was drawn</div>"
        f"<div><b>{others:.1%} of the draws are not {html.escape(cheapest)}, the cheapest word</b></div>"
    )


def mask_frame(words: Sequence[str], scores: np.ndarray, allowed: np.ndarray) -> str:
    """The weights that a softmax over the allowed cells of each row gives, as a table; empty rows are zeros."""
    weights = masked_softmax(torch.tensor(scores), torch.tensor(allowed)).tolist()
    rows = []
    for word, row, ticked in zip(words, weights, allowed, strict=True):
        cells = "".join(f"<td>{'☑' if on else '☐'} {weight:.2f}</td>" for on, weight in zip(ticked, row, strict=True))
        rows.append(f'<tr><th scope="row">{html.escape(word)}</th>{cells}</tr>')
    head = "".join(f'<th scope="col">{html.escape(word)}</th>' for word in words)
    return f"<table><tr><th>looks ↓ at →</th>{head}</tr>{''.join(rows)}</table>"


class MaskPainter(Live):
    """A mask to tick, cell by cell or a row or column at a time, and the weights that it leaves.

    Args:
        words: of the rows (queries) and of the columns (keys).
        scores: (words, words).
        presets: masks to choose from, each (words, words) of booleans, True where attention is allowed; the first
            is shown first.
    Raises:
        ValueError: scores or a mask have another shape.
    """

    _esm = (DATA / "mask_painter.js").read_text(encoding="utf-8")
    _css = (
        STYLE + ".am-painter td, .am-painter th { padding: 0.3em min(0.6em, 1vw); text-align: center; }\n"
        "@media (max-width: 30em) { .am-painter td span { display: block; } .am-painter button { padding: 0; } }"
    )
    words = traitlets.List().tag(sync=True)
    scores = traitlets.List().tag(sync=True)
    presets = traitlets.Dict().tag(sync=True)
    allowed = traitlets.List().tag(sync=True)

    def __init__(self, words: Sequence[str], scores: np.ndarray, presets: dict[str, np.ndarray]):
        wanted = (len(words), len(words))
        for name, given in {"scores": scores, **presets}.items():
            if np.shape(given) != wanted:
                raise ValueError(f"{name!r} has the shape {np.shape(given)}; {len(words)} words need {wanted}")
        masks = {name: np.asarray(mask).tolist() for name, mask in presets.items()}
        rounded = np.asarray(scores).round(4).tolist()
        super().__init__(words=list(words), scores=rounded, presets=masks, allowed=next(iter(masks.values())))

    def summary(self) -> str:
        return f"a mask to tick, over the words {', '.join(self.words)}"

    def still(self) -> str:
        return mask_frame(self.words, np.array(self.scores), np.array(self.allowed))


# --- lesson 4 --------------------------------------------------------------------------------------------

WHO_AND_WHOM = ("dog", "cat"), ("cat", "dog")


def two_sources_frame(heads: int, weight: float) -> str:
    """What *sees* can tell of *dog sees cat* and of *cat sees dog*, with one head or with two.

    A head that gives weight p to the word before and 1 − p to the word after hands on p · before + (1 − p) · after.
    The first head has p = `weight`, the second, if there is one, 1 − `weight`. A linear readout can ask a head for its
    largest part; each question asks the head that looks harder at its word.
    """
    sentences = []
    for who, whom in WHO_AND_WHOM:
        drawings, mixed = [], []
        for head in range(heads):
            p = weight if head == 0 else 1 - weight
            amounts = {"dog": p if who == "dog" else 1 - p, "cat": p if who == "cat" else 1 - p, "bee": 0.0}
            mixed.append((p, amounts))
            parts = [f'<text x="40" y="14">head {head + 1}</text>']
            for line, (word, amount) in enumerate(amounts.items()):
                y = 22 + 22 * line
                parts.append(
                    f'<text x="32" y="{y + 13}" text-anchor="end">{word}</text>'
                    f'<path d="M40 {y}h{80 * amount:.0f}v16h-{80 * amount:.0f}z" fill="#0072b2"/>'
                    f'<text x="{46 + 80 * amount:.0f}" y="{y + 13}">{amount:.1f}</text>'
                )
            drawings.append(_svg(152, 92, "".join(parts)))
        said = []
        for question, right, asks in (
            ("who sees?", who, max(mixed, key=lambda head: head[0])),
            ("who is seen?", whom, min(mixed, key=lambda head: head[0])),
        ):
            dog, cat = round(asks[1]["dog"], 6), round(asks[1]["cat"], 6)
            answer = "cannot tell" if dog == cat else "dog" if dog > cat else "cat"
            said.append(f"{question} {'✓' if answer == right else '✗'} {answer}")
        told = f"what {'one head hands' if heads == 1 else 'two heads hand'} on of {who} sees {whom}"
        sentences.append(f"<div><b>{who} sees {whom}</b></div>{_beside(told, *drawings)}<div>{' · '.join(said)}</div>")
    count = sum(sentence.count("✓") for sentence in sentences)
    return f"{''.join(sentences)}<div><b>{count} of 4 answers right</b></div>"


def heads_frame(
    words: Sequence[str], weights: np.ndarray, query: int, threshold: float = 0.0, only: int | None = None
) -> str:
    """Where one word looks, head by head: a line to each word, the stronger the more weight.

    Args:
        weights: (head, query, key).
        query: the place of the word that looks.
        threshold: no line is drawn for less weight than this, nor for less than 0.05, which could hardly be seen.
        only: the number of one head, from 0, to draw it alone and twice as large.
    """
    panels, strongest = [], []
    start, tall = 17 * query + 31, 17 * len(words) + 36

    def short(weight: float) -> str:
        return f"{weight:.2f}".removeprefix("0")

    heads = range(len(weights)) if only is None else [only]
    for head in heads:
        row = np.asarray(weights)[head, query]
        lines = "".join(
            f'<path d="M-49 {start}L-4 {17 * key + 31}" opacity="{short(weight)}"/>'
            for key, weight in enumerate(row)
            if weight >= max(threshold, 0.05)
        )
        names = "".join(
            f'<tspan x="0" dy="17">{html.escape(word)}'
            + (f" {short(weight)}" if weight >= max(threshold, 0.1) else "")
            + "</tspan>"
            for word, weight in zip(words, row, strict=True)
        )
        best = int(row.argmax())
        strongest.append(f"head {head + 1}: {html.escape(words[best])} {short(row[best])}")
        panel = (
            '<g transform="translate(111 0)">'
            f'<text y="12" font-weight="bold">head {head + 1}</text>'
            f'<g stroke="#0072b2" stroke-width="4">{lines}</g><text y="{start + 4}" x="-53" text-anchor="end" '
            f'font-weight="bold">{html.escape(words[query])}</text><text y="18">{names}</text></g>'
        )
        panels.append(_svg(280, tall, panel, scale=1 if only is None else 2))
    told = f"{html.escape(words[query])} looks at: {', '.join(strongest)}"
    return _beside(told, *panels)


# --- lesson 5 --------------------------------------------------------------------------------------------

ORANGES = ("fff", "fed", "fdb", "fc8", "fb6", "fa4", "f92")  # of numbers from 0 to 1
BLUES = ("fff", "def", "bdf", "9cf", "7bf", "5af", "4af")  # from 0 to −1


def position_code_frame(model_size: int, position: int, offset: int) -> str:
    """The sinusoidal codes of a position and of one `offset` further on: as coloured cells, and as hands of clocks.

    Each pair of numbers (sin, cos) is a hand: the first says how far its tip is to the right, the second how far up.
    A cell is orange for a positive number, blue for a negative one.

    Args:
        model_size: numbers in a code, an even number; up to 16 can be read.
    Raises:
        ValueError: an odd model size.
    """
    codes = sinusoidal_table(position + offset + 1, model_size, dtype=torch.float64)[[position, -1]].numpy()
    names = f"position {position}", f"position {position} + {offset} = {position + offset}"
    hands, wide = model_size // 2, 560 / model_size
    degrees = np.degrees(offset * 10000 ** (-2 * np.arange(hands) / model_size))
    turned = [_degrees(angle) for angle in degrees]
    halves = []
    for half in (range(hands // 2), range(hands // 2, hands)):
        cells, texts, circles, arcs, befores, afters = [], [], "", "", "", ""
        for code, name, top in zip(codes, names, (31, 83), strict=True):
            numbers = ""
            for place, value in enumerate(code[2 * half.start : 2 * half.stop]):
                colour = (ORANGES if value > 0 else BLUES)[round(6 * abs(value) ** 0.7)]
                cells.append(f'<path d="M{wide * place:g} {top}h{wide - 1:g}" stroke="#{colour}"/>')
                numbers += f'<tspan x="{wide * (place + 0.5):g}">{_signed(value)}</tspan>'
            texts.append(f'<text y="{top + 4}" font-size="12" text-anchor="middle" fill="#000">{numbers}</text>')
            texts.append("" if half.start else f'<text y="{top - 15}">{name}</text>')
        for place, hand in enumerate(half):
            x, (before, after) = 2 * wide * (place + 0.5), codes[:, 2 * hand : 2 * hand + 2]
            texts.append(f'<text x="{x:g}" y="182" text-anchor="middle">{turned[hand]}</text>')
            start, end = (f"{x + 29 * sin:.1f} {133 - 29 * cos:.1f}" for sin, cos in (before, after))
            if 1 <= degrees[hand] < 359:
                arcs += f"M{start}A29 29 0 {int(degrees[hand] > 180)} 1 {end}"
            circles += f"M{x - 29:g} 133a29 29 0 1 1 0 .01"
            befores += f"M{x:g} 133L{start}"
            afters += f"M{x:g} 133L{end}"
        drawn = (
            f'<g fill="none"><path d="{circles}" stroke="#999"/><path d="{arcs}" stroke="#e69f00" stroke-width="5"/>'
            f'<path d="{befores}" stroke="#888" stroke-width="3" stroke-dasharray="4 3"/>'
            f'<path d="{afters}" stroke="#0072b2" stroke-width="3"/><g stroke-width="22">{"".join(cells)}</g></g>'
        )
        halves.append(_svg(2 * wide * len(half), 190, drawn + "".join(texts), size=12))
    product = codes[0] @ codes[1]
    said = f"{offset} {'position' if offset == 1 else 'positions'} on, the hands have turned by {', '.join(turned)}"
    return (
        f"{_beside(f'the codes of position {position} and {position + offset}; {said}', *halves)}"
        f"<div>dashed: position {position} · blue: position {position + offset} · below: by how much a hand has turned"
        f"</div><div>dot product of the two rows: <b>{product:.2f}</b></div>"
    )


def _signed(value: float) -> str:
    """Two digits, without the zero in front: .54, −1, 0."""
    spelled = f"{value:.2f}"
    if float(spelled) in (-1, 0, 1):
        return f"{value:.0f}".replace("-0", "0").replace("-", "−")
    return spelled.replace("0.", ".").replace("-", "−")


def _degrees(value: float) -> str:
    return f"{value:.0f}°" if value >= 10 or not value else f"{value:.1f}°" if value >= 1 else f"{value:.2f}°"


def decoder_frame(
    source: Sequence[str], read: Sequence[str], cross: np.ndarray, own: np.ndarray, candidates: dict[str, float]
) -> str:
    """One step of a Transformer's decoder: where each head of a layer looks, and the likeliest next words.

    Args:
        read: the words that the decoder has read, `<bos>` first; the last of them is the one that looks.
        cross: (head, source), its weights over the source words.
        own: (head, read), its weights over the words read.
        candidates: the likeliest next words and their probabilities.
    """
    blocks, said = [], []
    for title, words, weights in (("the sentence", source, cross), ("what is written", read, own)):
        weights = np.asarray(weights)
        names = "".join(
            f'<text x="72" y="{51 + 18 * row}" text-anchor="end">{html.escape(word)}</text>'
            for row, word in enumerate(words)
        )
        parts = [f'<text y="14" font-size="14" font-weight="bold">{title}</text>{names}']
        for head, looks in enumerate(weights):
            x = 80 + 51 * head
            bars = "".join(f"M{x} {39 + 18 * row}h{22 * weight:.1f}v14H{x}" for row, weight in enumerate(looks))
            numbers = "".join(
                f'<text x="{x + 3 + 22 * weight:.0f}" y="{50 + 18 * row}">{f"{weight:.2f}".removeprefix("0")}</text>'
                for row, weight in enumerate(looks)
                if weight >= 0.05
            )
            parts.append(f'<text x="{x}" y="32">head {head + 1}</text><path d="{bars}" fill="#0072b2"/>{numbers}')
            best = int(looks.argmax())
            said.append(f"{title}, head {head + 1}: {html.escape(words[best])} {looks[best]:.2f}")
        tall = 42 + 18 * max(len(source), len(read))
        blocks.append(_svg(80 + 51 * len(weights), tall, "".join(parts), size=12))
    return (
        f"<div>read so far: {html.escape(' '.join(read[:-1]))} <b>{html.escape(read[-1])}</b></div>"
        f"{_beside('; '.join(said), *blocks)}"
        f"<div>and the next word is …</div>{_likeliest(candidates, 3, 'likeliest next words')}"
    )


def by_length_frame(curves: dict[str, dict[str, float]], below: str = "") -> str:
    """Curves over the length buckets, from 0 to 1, each with a colour, a mark and a dash of its own.

    Args:
        curves: by name, at most three; each gives a share for every bucket, in one order of buckets.
        below: HTML that stands under the picture.
    Raises:
        ValueError: no curve or more than three.
    """
    if not 1 <= len(curves) <= 3:
        raise ValueError(f"{len(curves)} curves were given; one to three can be told apart")
    buckets = list(next(iter(curves.values())))
    across = [56 + 310 * i / max(1, len(buckets) - 1) for i in range(len(buckets))]
    parts = [
        f'<path d="M44 {200 - 180 * share:.0f}H380" stroke="currentColor" opacity="0.25"/>'
        f'<text x="38" y="{205 - 180 * share:.0f}" text-anchor="end">{share:g}</text>'
        for share in (0, 0.5, 1)
    ]
    parts += [
        f'<text x="{x:.0f}" y="220" text-anchor="middle">{html.escape(bucket)}</text>'
        for x, bucket in zip(across, buckets, strict=True)
    ]
    styles = zip(("#0072b2", "#d55e00", "#009e73"), ("", "7 4", "2 3"), ("●", "■", "▲"), strict=True)
    for place, ((name, values), (colour, dash, mark)) in enumerate(zip(curves.items(), styles, strict=False)):
        points = [(x, 200 - 180 * values[bucket]) for x, bucket in zip(across, buckets, strict=True)]
        line = "L".join(f"{x:.0f} {y:.1f}" for x, y in points)
        parts.append(f'<path d="M{line}" fill="none" stroke="{colour}" stroke-width="2.5" stroke-dasharray="{dash}"/>')
        parts += [
            f'<text x="{x:.0f}" y="{y + 5:.1f}" text-anchor="middle" fill="{colour}">{mark}</text>' for x, y in points
        ]
        parts.append(
            f'<text x="4" y="{268 + 20 * place}"><tspan fill="{colour}">{mark}</tspan> {html.escape(name)}</text>'
        )
    tall = 258 + 20 * len(curves)
    told = "; ".join(
        f"{name}: " + ", ".join(f"{bucket} {value:.2f}" for bucket, value in values.items())
        for name, values in curves.items()
    )
    titles = (
        '<text x="44" y="12">sentences all right</text>'
        '<text x="212" y="240" text-anchor="middle">words in the English sentence</text>'
    )
    return _svg(390, tall, titles + "".join(parts), f"sentences all right by length; {html.escape(told)}") + below
