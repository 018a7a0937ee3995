"""The live parts of a notebook: explorers, which show frames, and predictions.

An explorer computes the frames of all states once, so it also works without a kernel. Where there are too many, it
computes each when it is chosen.
"""

import html
import itertools
import json
import re
from collections.abc import Callable, Sequence

import anywidget
import traitlets
from IPython.display import HTML, display

from course_lib.files import DATA

STYLE = (DATA / "explorer.css").read_text(encoding="utf-8")
SVG = re.compile(r"<svg\b.*?</svg>", re.DOTALL)


def source(*parts: str) -> str:
    """These parts of the JavaScript as one module; what a part needs stands before it."""
    return "".join((DATA / f"{part}.js").read_text(encoding="utf-8") for part in parts)


class Live(anywidget.AnyWidget):
    """A widget with a picture of itself above it for readers where nothing runs. A live widget hides the picture.

    Each widget says what it shows: `summary()` in a line of text, `still()` as HTML.
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

    def in_page(self, name: str) -> str:
        """HTML for a page of its own, without kernel and network; `name` is the id of the element there."""
        usual = {*anywidget.AnyWidget.class_trait_names(), "_esm", "_css"}
        data = {name: getattr(self, name) for name in sorted(self.traits(sync=True).keys() - usual)}
        spelled = json.dumps(data, ensure_ascii=False).replace("</", r"<\/")
        return f"""<style>{self._css}</style><div id="{name}"></div><script type="module">
{self._esm.replace("export default", "const widget =")}
const state = {spelled}, heard = [];
const model = {{
  get: (name) => state[name], on: (_, f) => heard.push(f), save_changes: () => heard.forEach((f) => f()),
  set: (name, value) => {{ state[name] = value; }},
}};
widget.render({{ model, el: document.getElementById("{name}") }});
</script>"""


def _ended(frames: dict[tuple[int, ...], str], slider: int) -> dict[tuple[int, ...], str]:
    """The frames without a slider's last values that only repeat the one before: a short sentence has no ninth word."""
    shown = {}  # for each choice up to the slider: the frames of all choices after it
    for state, frame in frames.items():
        shown.setdefault(state[: slider + 1], []).append(frame)
    ended, gone = set(), set()
    for at in sorted(shown, reverse=True):
        *before, value = at
        if tuple(before) not in ended and shown[at] == shown.get((*before, value - 1)):
            gone.add(at)
        else:
            ended.add(tuple(before))
    return {state: frame for state, frame in frames.items() if state[: slider + 1] not in gone}


class Explorer(Live):
    """Controls, and the frame for their values. A slider ends where the frames no longer change.

    Args:
        frame: returns the HTML for one value of each control; called for every combination.
        controls: the names shown, and their values in order. Numbers get a slider, words a menu.
        start: the state shown first; by default the first values.
        ahead: False computes a menu's frames only when they are chosen, which needs a running kernel.
    Raises:
        ValueError: a control has no value, or `start` has a value that its control lacks.
    """

    _esm = source("dom", "explorer")
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
        sliders = [not isinstance(values[0], str) for values in controls.values()]

        def computed(chosen: Sequence[int]) -> dict[str, str]:
            several = [
                range(len(values)) if ahead or slider else [i]
                for values, slider, i in zip(controls.values(), sliders, chosen, strict=True)
            ]
            frames = {}
            for state in itertools.product(*several):
                frames[state] = frame(*(values[i] for values, i in zip(controls.values(), state, strict=True)))
            for place, slider in enumerate(sliders):
                frames = _ended(frames, place) if slider else frames
            return {",".join(map(str, state)): shown for state, shown in frames.items()}

        super().__init__(
            controls=[
                {"name": name, "options": [str(v) for v in values], "slider": slider}
                for (name, values), slider in zip(controls.items(), sliders, strict=True)
            ],
            frames=computed(chosen),
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


class Prediction(Live):
    """A question that the reader answers before seeing the result; `compare` shows both."""

    _esm = source("dom", "prediction")
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
        """Show what was measured, after the prediction if there is one."""

        def said() -> HTML:
            chosen = f"You predicted: <b>{html.escape(self.options[self.chosen])}</b>. " if self.chosen >= 0 else ""
            return HTML(f"<p>{chosen}Measured: <b>{html.escape(measured)}</b>.</p>")

        shown = display(said(), display_id=True)
        if shown:  # None outside of a notebook
            self.observe(lambda _: shown.update(said()), "chosen")
