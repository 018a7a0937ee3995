"""The frames of lesson 12: the next token among its rivals, and a window that covers exactly what its mask allows."""

import html
import itertools
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.path import Path

from course_lib import widgets
from course_lib.widgets import a_model_that_writes as frames
from course_lib.widgets.drawing import LONGEST, ROOM

PROMPT = ["<|im_start|>", "user", "\n", "Is 1 <", " 2", "?", "<|im_end|>", "\n"]
WRITTEN = [" Yes", ",", " <b>", "<|im_end|>"]
CANDIDATES = {" 2 &": 0.5, "<|im_end|>": 0.25, "\n\n": 0.125, "\t<b>": 0.0625}
SEEN = {  # as in the lesson
    "everything": {},
    "all but the first": {"hidden": 1},
    "the last 256": {"window": 256},
    "the last 64 and the first": {"window": 64, "kept": [0]},
    "the last 64 and tokens 9 to 12": {"window": 64, "kept": [8, 9, 10, 11]},
}


def drawings(frame):
    return [ElementTree.fromstring(drawing) for drawing in widgets.shell.SVG.findall(frame)]


# ---- the next token ----


def next_token(prompt=PROMPT, written=WRITTEN, candidates=CANDIDATES):
    return widgets.next_token_frame(prompt, written, candidates)


def words(frame):
    """What stands above the bars."""
    return ElementTree.fromstring(f"<div>{widgets.shell.SVG.sub('', frame)}</div>")[0]


def names_and_bars(frame):
    (drawing,) = drawings(frame)
    texts = ["".join(text.itertext()) for text in drawing.iter("text")]
    return texts[::2], texts[1::2], [float(bar.get("width")) for bar in drawing.iter("rect")]


def test_the_text_is_shown_as_it_is_and_what_was_written_is_bold():
    shown = words(next_token())
    assert "".join(shown.itertext()) == "".join(PROMPT + WRITTEN) + "▏"
    assert ["".join(bold.itertext()) for bold in shown.iter("b")] == ["".join(WRITTEN)]
    assert "white-space:pre-wrap" in shown.get("style")


def test_marks_are_framed_and_nothing_else_is():
    framed = [box.text for box in words(next_token()).iter("span") if "border" in box.get("style")]
    assert framed == ["<|im_start|>", "<|im_end|>", "<|im_end|>"]
    assert not list(words(next_token(["<|", "|>", " <|im_end|>", "<b>"], ["x"])).iter("span"))


@given(st.lists(st.text("<>&\"'| a\n·é", min_size=1), min_size=1), st.lists(st.text("<>&\"'| a\n", min_size=1)))
def test_no_token_breaks_out_of_the_frame(prompt, written):
    assert "".join(words(next_token(prompt, written)).itertext()) == "".join(prompt + written) + "▏"


def test_before_the_first_step_nothing_is_bold():
    assert [bold.text for bold in words(next_token(written=[])).iter("b")] == [None]


def test_bars_stand_in_order_with_their_probabilities_and_white_space_is_visible():
    names, shares, bars = names_and_bars(next_token())
    assert names == ["·2·&", "<|im_end|>", "↵↵", "⇥<b>"]
    assert shares == ["0.50", "0.25", "0.12", "0.06"]
    np.testing.assert_allclose(bars, 150 * np.array(list(CANDIDATES.values())), atol=0.5)
    told = drawings(next_token())[0].get("aria-label")
    assert told == "probability of the next token: ·2·& 0.50, <|im_end|> 0.25, ↵↵ 0.12, ⇥<b> 0.06"


@given(st.text(st.characters(exclude_categories=["C", "Z"], exclude_characters="·↵⇥…"), min_size=1))
def test_a_name_is_cut_only_if_it_is_too_long_for_its_column(token):
    (name,), *_ = names_and_bars(next_token(candidates={token: 1.0}))
    assert len(name) <= LONGEST
    assert name == token if len(token) <= LONGEST else name.endswith("…") and token.startswith(name[:-1])


@pytest.mark.parametrize("token", ["<|im_start|>", "<|endoftext|>", " photosynthesis", "\n" * 40, " W" * 20])
def test_names_and_bars_are_inside_of_the_drawing(token):
    """Letters of the course's font are half as wide as high, or a little more."""
    (drawing,) = drawings(next_token(candidates={token: 1.0}))
    (name, share), (bar,) = drawing.iter("text"), drawing.iter("rect")
    assert float(name.get("x")) == ROOM >= 0.55 * 15 * len(name.text)
    assert float(name.get("x")) < float(bar.get("x"))
    place = float(re.search(r"translate\((\S+)", share.get("transform"))[1])
    assert float(bar.get("x")) + float(bar.get("width")) < place < float(drawing.get("width")) - 4 * 0.55 * 15
    assert float(drawing.get("width")) <= 26 * 15  # of a phone


def test_probabilities_may_be_a_rounding_error_beyond_one():
    assert names_and_bars(next_token(candidates={"a": 1.0000002, "b": 0.0}))[1] == ["1.00", "0.00"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"prompt": []}, "the prompt is empty; give the tokens that the model has read"),
        ({"candidates": {}}, r"the candidates are \{\}; give one or more, the likeliest first"),
        (
            {"candidates": {"a": 0.1, "b": 0.2}},
            "the candidates are .*'b': 0.2.*; give one or more, the likeliest first",
        ),
        ({"candidates": {"a": 1.1}}, "the probability of 'a' is 1.1; it must be in 0 … 1"),
        ({"candidates": {"a": 0.9, "b": -0.1}}, "the probability of 'b' is -0.1; it must be"),
        ({"candidates": {"a": float("nan")}}, "the probability of 'a' is nan; it must be"),
    ],
)
def test_what_is_no_step_of_a_model_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        next_token(**change)


# ---- the window ----


def allowed(length, window=None, kept=(), hidden=0):
    """The lesson's mask: (query, key), True where the query sees the key."""
    query, key = np.arange(length)[:, None], np.arange(length)
    near = (key > query - (window or length)) | np.isin(key, list(kept))
    return (key <= query) & near & ((key >= hidden) | (query < hidden))


def shapes(drawing):
    """Each fill with its polygons, in the order in which they are painted."""
    for path in drawing.iter("path"):
        if path.get("fill") != "none":
            yield path.get("fill"), [Path(corners(part)) for part in re.findall(r"M[^M]+z", path.get("d"))]


def corners(polygon):
    points = []
    for command, numbers in re.findall(r"([MLHV])([\d. ]+)", polygon):
        one, *other = map(float, numbers.split())
        last = points[-1] if points else (0, 0)
        points.append({"H": (one, last[1]), "V": (last[0], one)}.get(command) or (one, *other))
    return points


def painted(frame, length):
    """The fill in the middle of each token's square, (query, key)."""
    step = frames.SIDE / length
    middles = (np.arange(length) + 0.5) * step
    points = np.stack(np.meshgrid(middles, middles), -1).reshape(-1, 2)
    colours = np.full(len(points), "", object)
    for colour, polygons in shapes(drawings(frame)[0]):
        for polygon in polygons:
            colours[polygon.contains_points(points)] = colour
    return colours.reshape(length, length)


def near_an_edge(seen, many):
    """True where a square this many rows and columns away differs, in one direction or in both."""
    padded = np.pad(seen, many, mode="edge")
    moves = itertools.product((0, many, 2 * many), repeat=2)
    return np.any([padded[y : y + len(seen), x : x + len(seen)] != seen for y, x in moves], 0)


@st.composite
def masks(draw):
    length = draw(st.sampled_from([1, 2, 12, 48, 120, 240]))
    seen = {"window": draw(st.integers(1, length)), "hidden": draw(st.integers(0, length))}
    seen["kept"] = draw(st.lists(st.integers(0, length - 1), max_size=4))
    return length, {name: value for name, value in seen.items() if draw(st.booleans())}


@settings(max_examples=60, deadline=None)
@given(masks())
def test_blue_and_orange_cover_exactly_what_the_mask_allows(case):
    length, seen = case
    colours = painted(widgets.window_frame(length, seen, 1.0, 1.0, 2.0), length)
    mask, kept = allowed(length, **seen), list(seen.get("kept", ()))
    thick = -(-frames.THIN * length // frames.SIDE)  # tokens that a line covers
    lined = np.isin(np.arange(length), [place + more for place in kept for more in range(thick)])
    lined |= np.arange(length) < (thick if seen.get("hidden") else 0)
    sure = ~near_an_edge(mask, 1) & ~lined
    covered = np.isin(colours, (frames.BLUE, frames.ORANGE))
    np.testing.assert_array_equal(covered[sure], mask[sure])
    assert not covered[np.triu_indices(length, 1)].any()  # nobody sees what comes later
    for place in kept:  # all rows of its own column, also where they are next to what is not seen
        rows = np.arange(place + 1, length)
        assert ((colours[rows, place] == frames.ORANGE) == mask[rows, place])[thick:].all()


@pytest.mark.parametrize("seen", SEEN.values(), ids=SEEN)
def test_the_lessons_own_masks_are_drawn_to_the_pixel(seen):
    mask = allowed(768, **seen)
    covered = np.isin(painted(widgets.window_frame(768, seen, 1.0, 1.0, 2.0), 768), (frames.BLUE, frames.ORANGE))
    rows, wrong = np.nonzero(covered != mask)
    window, first = rows - seen.get("window", 768), min(seen.get("kept", [0]))
    thin = (wrong >= first) & (wrong < first + 13)  # a line is as wide as 9.6 tokens, here up to four that overlap
    assert (thin | (abs(wrong - window) <= 1)).all()
    assert mask[500].sum() - 12 <= covered[500].sum() <= mask[500].sum() + 12


def test_a_narrow_window_and_a_single_token_can_be_seen():
    (band,), (line,), (gone,) = [
        polygons
        for _, polygons in shapes(
            drawings(widgets.window_frame(768, {"window": 1, "kept": [767], "hidden": 1}, 1, 1, 2))[0]
        )
    ]
    assert band.contains_point((100, 100.5)) and not band.contains_point((100, 102))
    assert line.vertices[:, 0].max() == frames.SIDE
    assert gone.contains_point((2, 200)) and not gone.contains_point((4, 200))


def test_what_is_hidden_has_the_papers_colour_also_in_the_dark():
    fills = [fill for fill, _ in shapes(drawings(widgets.window_frame(9, {"hidden": 1}, 1, 1, 2))[0])]
    assert fills == [frames.BLUE, frames.ORANGE, "var(--am-paper, #fff)"]


@pytest.mark.parametrize(
    ("seen", "told"),
    [
        ({}, "each row is a token, and blue is what it sees"),
        ({"window": 4}, "each row is a token, and blue is what it sees"),
        ({"kept": [0]}, "each row is a token, and blue is what it sees; orange tokens are kept"),
        ({"hidden": 1}, "each row is a token, and blue is what it sees; the first is hidden from all others"),
        (
            {"kept": [5], "hidden": 3, "another name": 1},
            "each row is a token, and blue is what it sees; orange tokens are kept; "
            "the first 3 are hidden from all later ones",
        ),
    ],
)
def test_it_says_what_is_drawn_in_words_and_to_those_who_listen(seen, told):
    frame = widgets.window_frame(8, seen, 1.25, 1.0, 2.0)
    mask, bar = drawings(frame)
    assert mask.get("aria-label") == told and f"<div>{told}</div>" in frame
    assert bar.get("aria-label") == "1.25 bits per character; dashed: 1.00 if a token sees everything"
    assert "<div>dashed: a token sees everything before it</div>" in frame


@pytest.mark.parametrize(("bits", "of_all", "most"), [(1.3, 1.1, 2.6), (2.6, 1.1, 2.6), (0, 0, 1), (0.9, 1, 1)])
def test_the_bar_and_the_dashed_line_have_one_scale_and_the_label_fits(bits, of_all, most):
    _, drawing = drawings(widgets.window_frame(8, {}, bits, of_all, most))
    (bar,), (line,), (label,) = (list(drawing.iter(name)) for name in ("rect", "path", "text"))
    assert abs(float(bar.get("width")) - frames.SIDE * bits / most) <= 0.5
    assert abs(float(re.match(r"M(\d+) ", line.get("d"))[1]) - frames.SIDE * of_all / most) <= 0.5
    assert label.text == f"{bits:.2f} bits per character"
    place = float(re.search(r"translate\((\S+)", label.get("transform"))[1])
    assert float(bar.get("width")) < place < float(drawing.get("width")) - 0.5 * 15 * len(label.text)


def test_only_attributes_and_texts_differ_from_mask_to_mask_so_that_the_band_glides():
    shown = [widgets.window_frame(768, seen, 1.0, 1.0, 2.0) for seen in SEEN.values()]
    assert len({re.sub(r'"[^"]*"|>[^<]*<', "", frame) for frame in shown}) == 1
    bands = {re.sub(r"[\d.]+", "", path) for frame in shown for path in re.findall(r'd="(M0 0L[^"]+)"', frame)}
    assert len(bands) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seen": {"window": 0}}, "the window is 0; it must be from 1 to 8, the tokens of the text"),
        ({"seen": {"window": 9}}, "the window is 9; it must be from 1 to 8"),
        (
            {"seen": {"kept": [0, 8, -1]}},
            r"the kept tokens \[8, -1\] are not in the text; its 8 tokens are numbered from 0",
        ),
        ({"seen": {"hidden": 9}}, "9 tokens are hidden; it must be from 0 to 8"),
        ({"seen": {"hidden": -1}}, "-1 tokens are hidden; it must be from 0 to 8"),
        ({"bits": 2.5}, "the bits are 2.5 and 1.0; the scale goes from 0 to 2.0"),
        ({"bits": -0.1}, "the bits are -0.1 and 1.0; the scale goes"),
        ({"of_all": 2.5}, "the bits are 1.5 and 2.5; the scale goes"),
        ({"bits": float("nan")}, "the bits are nan and 1.0; the scale goes"),
        ({"of_all": float("nan")}, "the bits are 1.5 and nan; the scale goes"),
        ({"bits": 0, "of_all": 0, "most": 0}, "the bits are 0 and 0; the scale goes from 0 to 0"),
    ],
)
def test_what_is_no_mask_of_the_text_or_off_the_scale_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        widgets.window_frame(**{"length": 8, "seen": {}, "bits": 1.5, "of_all": 1.0, "most": 2.0} | change)


# ---- both ----


@pytest.mark.parametrize("frame", [next_token(), *(widgets.window_frame(768, s, 1, 1, 2) for s in SEEN.values())])
def test_every_frame_is_drawings_that_are_told_in_colours_for_light_and_dark(frame):
    assert all(drawing.get("aria-label") for drawing in drawings(frame))
    assert not re.search(r"nan|inf\b|\de[-+]\d", frame)
    colours = set(re.findall(r"#[0-9a-f]{3,6}\b", html.unescape(frame)))
    assert colours <= {"#0072b2", "#d55e00", "#009e73", "#999", "#fff"}
    assert frame.count("#fff") == frame.count("var(--am-paper, #fff)")
