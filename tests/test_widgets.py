"""The shell around frames: explorers and predictions."""

import json
import re
from xml.etree import ElementTree

import nbformat
import pytest

from course_lib import widgets
from course_lib.tools import lessons
from course_lib.widgets import in_page

VIEW = lessons.WIDGET_VIEW


def test_on_demand_the_frames_of_a_choice_are_computed_when_it_is_made():
    computed = []

    def frame(name, size):
        computed.append(f"{name} {size}")
        return computed[-1]

    names = [str(number) for number in range(1000)]
    explorer = widgets.Explorer(frame, {"name": names, "size": [1, 2]}, start={"name": "7"}, ahead=False)
    assert (computed, explorer.shown()) == (["7 1", "7 2"], "7 1")
    explorer.chosen = [3, 1]
    assert (computed[2:], explorer.shown()) == (["3 1", "3 2"], "3 2")


@pytest.mark.parametrize("ahead", [True, False])
def test_a_slider_ends_with_its_sentence(ahead):
    """Repeats at its end are dropped, and no others: a later slider still has something to say there."""

    def frame(sentence, word, size):
        return f"{sentence.split()[min(word, len(sentence.split())) - 1]} {size}"

    controls = {"sentence": ["a a b", "a", "a b b a"], "word": range(1, 6), "size": [1, 2]}
    explorer = widgets.Explorer(frame, controls, start={"sentence": "a a b"}, ahead=ahead)
    assert {state.split(",")[1] for state in explorer.frames if state[0] == "0"} == {"0", "1", "2"}
    assert {state.split(",")[2] for state in explorer.frames} == {"0", "1"}
    if ahead:
        assert {state.split(",")[1] for state in explorer.frames if state[0] == "1"} == {"0"}
        assert {state.split(",")[1] for state in explorer.frames if state[0] == "2"} == {"0", "1", "2", "3"}


@pytest.fixture
def explorer():
    return widgets.Explorer(
        lambda colour, size: f"{size} {colour}</script>",
        {"colour": ["red", "blue"], "size": range(1, 4)},
        start={"size": 2},
    )


def test_an_explorer_has_a_frame_for_every_state(explorer):
    assert len(explorer.frames) == 6
    assert (explorer.summary(), explorer.shown()) == ("colour: red, size: 2", "2 red</script>")
    explorer.chosen = [1, 2]
    assert (explorer.summary(), explorer.shown()) == ("colour: blue, size: 3", "3 blue</script>")
    assert [control["slider"] for control in explorer.controls] == [False, True]


@pytest.fixture
def displayed(monkeypatch):
    """The bundles that are displayed."""
    bundles = []
    monkeypatch.setattr(widgets.shell, "display", lambda bundle, **_: bundles.append(bundle))
    return bundles


def test_above_a_widget_stands_what_it_shows_where_no_kernel_runs(displayed):
    drawn = widgets.Explorer(lambda size: f'<div>of <svg role="img">{size}</svg></div>', {"size": [2, 3]})
    drawn._ipython_display_()
    drawing, words, view = displayed
    assert drawing["image/svg+xml"] == '<svg xmlns="http://www.w3.org/2000/svg" role="img">2</svg>'
    assert words["text/html"] == '<div class="am-still"><p><i>size: 2</i></p><div>of </div></div>'
    assert "text/html" not in view and VIEW in view
    assert {bundle["text/plain"] for bundle in displayed} == {"size: 2"}


def test_every_drawing_is_an_image_of_its_own():
    """In any state of any explorer: an image is stricter than the HTML that it stands in."""
    drawn = 0
    for path in lessons.find():
        for model in nbformat.read(path, as_version=4).metadata.widgets[lessons.WIDGET_STATE]["state"].values():
            for frame in model["state"].get("frames", {}).values():
                for drawing in widgets.shell.SVG.findall(frame):
                    drawn += ElementTree.fromstring(drawing).tag == "svg"
    assert drawn > 1000


def test_in_a_page_of_its_own_it_asks_for_nothing_and_cannot_be_broken_out_of(explorer):
    page = explorer.in_page("explorer")
    assert page.count("</script>") == 1
    name = "http://www.w3.org/2000/svg"  # of a language, where no browser looks anything up
    assert not re.search(r"https?://|src=|import ", page.replace(name, ""))
    state = json.loads(re.search(r"const state = (\{.*?\}), heard", page, re.S)[1])
    assert state["frames"]["1,2"] == "3 blue</script>"


@pytest.mark.parametrize(
    ("controls", "start", "message"),
    [({"size": []}, {}, "'size' has no value"), ({"size": [1, 2]}, {"size": 3}, "size = 3 is none of")],
)
def test_an_explorer_refuses_controls_that_cannot_be_set(controls, start, message):
    with pytest.raises(ValueError, match=message):
        widgets.Explorer(lambda size: "", controls, start)


def test_a_prediction_comes_back_to_what_was_said(monkeypatch):
    shown = []
    monkeypatch.setattr(widgets.shell, "display", lambda thing, **_: shown.append(thing.data))
    guess = widgets.Prediction("How many?", ["few", "many < all"])
    guess.compare("12")
    guess.chosen = 1
    guess.compare("12")
    assert shown == [
        "<p>Measured: <b>12</b>.</p>", "<p>You predicted: <b>many &lt; all</b>. Measured: <b>12</b>.</p>"
    ]  # fmt: skip
    assert "many &lt; all" in guess.still()


def test_a_prediction_is_compared_when_the_reader_answers_after_all_has_run(monkeypatch):
    now = {}

    class Shown:
        def __init__(self, thing):
            self.update(thing)

        def update(self, thing):
            now[id(self)] = thing.data

    monkeypatch.setattr(widgets.shell, "display", lambda thing, **_: Shown(thing))
    guess = widgets.Prediction("How many?", ["few", "many"])
    guess.compare("12")
    guess.compare("13")
    for answer, said in ((0, "few"), (1, "many")):
        guess.chosen = answer
        assert list(now.values()) == [f"<p>You predicted: <b>{said}</b>. Measured: <b>{n}</b>.</p>" for n in (12, 13)]


def test_saved_widgets_are_those_of_today():
    """Slides and site show widgets as they were saved: a field that was added since would be `undefined` there.

    After a change of a class or its module, `make widgets` renews them.
    """
    # Not `__subclasses__()`: traitlets makes a class of each shown widget, which lives until it is collected.
    every = [kind for kind in vars(widgets).values() if isinstance(kind, type)]
    live = [kind for kind in every if issubclass(kind, (widgets.Live, in_page.InPage)) and hasattr(kind, "_esm")]
    kinds = {kind._esm: kind for kind in live}
    seen = set()
    for path in [*lessons.find(), *lessons.find(folder="exercises")]:
        saved = nbformat.read(path, as_version=4).metadata.get("widgets", {}).get(lessons.WIDGET_STATE, {"state": {}})
        for state in (model["state"] for model in saved["state"].values() if "_esm" in model["state"]):
            kind = kinds.get(state["_esm"])
            assert kind and state["_css"] == kind._css, f"{path.name} has a widget whose module or style is an old one"
            missing = kind.class_trait_names(sync=True) - state.keys()
            assert not missing, f"{path.name} has a {kind.__name__} without {missing}"
            seen.add(kind)
    assert seen == set(kinds.values())


@pytest.mark.parametrize("path", lessons.find(), ids=lambda path: path.stem)
def test_no_saved_slider_goes_on_where_nothing_changes(path):
    models = nbformat.read(path, as_version=4).metadata.widgets[lessons.WIDGET_STATE]["state"].values()
    for state in (model["state"] for model in models if "frames" in model["state"]):
        frames = {tuple(map(int, key.split(","))): shown for key, shown in state["frames"].items()}
        for place, control in enumerate(state["controls"]):
            if control["slider"]:
                assert widgets.shell._ended(frames, place) == frames, control["name"]


@pytest.mark.parametrize("path", [*lessons.find(), *lessons.find(folder="exercises")], ids=lambda path: path.stem)
def test_no_output_is_an_empty_box(path):
    cells = nbformat.read(path, as_version=4).cells
    outputs = [(cell.id, output) for cell in cells for output in cell.get("outputs", [])]
    assert [name for name, output in outputs if not any(output.get("data", output).values())] == []


@pytest.mark.parametrize("path", [*lessons.find(), *lessons.find(folder="exercises")], ids=lambda path: path.stem)
def test_no_output_names_a_place_in_memory(path):
    """As in `<torch._C.Generator at 0x7fe8…>`, which tells a reader nothing and is another in each run."""
    cells = nbformat.read(path, as_version=4).cells
    assert [cell.id for cell in cells if " at 0x" in json.dumps(cell.get("outputs", []))] == []


@pytest.mark.parametrize("path", [*lessons.find(), *lessons.find(folder="exercises")], ids=lambda path: path.stem)
def test_no_legend_covers_what_is_drawn(path):
    """Of figures that were drawn before this was counted, nothing is known."""
    cells = nbformat.read(path, as_version=4).cells
    pictures = [
        (cell.id, o.metadata["image/png"])
        for cell in cells
        for o in cell.get("outputs", [])
        if "image/png" in o.get("metadata", {})
    ]
    assert [name for name, said in pictures if said.get("covered")] == []
