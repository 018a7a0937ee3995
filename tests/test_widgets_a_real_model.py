"""The frames of lesson 11: what they say and draw is what they are given, and what cannot be shown is refused."""

import itertools
import re
from xml.etree import ElementTree

import numpy as np
import pytest
import torch

from course_lib import widgets
from course_lib.widgets import a_real_model as frames

WORDS = "[CLS] the chicken crosses the road because it was < tired ##ness . [SEP]".split()
SENTENCES = [
    *("The bank was <muddy>.", "A bank opens.", "Bank robbers run.", "Fish hid by the bank, not on the bank."),
    *("My bank pays.", "The river-bank fell.", "He owns a bank.", "Grass on the bank.", "The bank lends."),
    *("No bank is open.", "Our bank moved.", "The far bank is steep."),
]
SENSES = ["of a river", "for money", "for money", "of a river", "for money", "of a river"] * 2
FOUND = [("causal mask", 0.62, "A mask <of the past>."), ("a & b", 0.55, "Both."), ("padding", 0.5, "Words without.")]


def drawn_weights(words=14, seed=0, layers=6, heads=12):
    """Some heads that look at one place each, and others that look about."""
    random = np.random.default_rng(seed)
    scores = random.normal(size=(layers, heads, words, words))
    for share, (layer, head) in zip(itertools.cycle(range(7)), np.ndindex(layers, heads)):
        for word in range(words):
            place = (word - 1, word + 1, word, 0, words - 1, -1, words)[share]
            if 0 <= place < words:
                scores[layer, head, word, place] += random.uniform(2, 8)
    powers = np.exp(scores)
    return powers / powers.sum(-1, keepdims=True)


WEIGHTS = drawn_weights()
HEADS = {state: widgets.head_frame(WORDS, WEIGHTS, *state) for state in itertools.product(range(1, 7), range(1, 13))}


def drawings(frame):
    return [ElementTree.fromstring(drawing) for drawing in widgets.shell.SVG.findall(frame)]


# ---- answers ----


def test_topics_stand_in_order_with_their_cosines_and_bars_and_those_with_the_answer_are_marked():
    frame = widgets.answers_frame("Who sees <x>?", FOUND, {"a & b", "padding", "softmax"})
    page = ElementTree.fromstring(f"<div>{frame}</div>")
    texts = [text for text in page.itertext() if text.strip()]
    assert texts == [
        *("question: ", "Who sees <x>?", "1", "0.62", "causal mask", "A mask <of the past>."),
        *("2", "0.55", "a & b", " ✓ holds the answer", "Both."),
        *("3", "0.50", "padding", " ✓ holds the answer", "Words without."),
        "the first topic with the answer is number 2",
    ]
    assert re.findall(r"width:(\d+)%;height:.9em;background:(#\w+)", frame) == [
        *(("62", "#0072b2"), ("55", "#009e73"), ("50", "#009e73"))
    ]


@pytest.mark.parametrize("right", [(), ["softmax"], {"causal"}])
def test_that_the_answer_is_not_among_those_found_is_said(right):
    frame = widgets.answers_frame("Who?", FOUND, right)
    assert frame.endswith("<b>no topic with the answer is among them</b></div>") and "✓" not in frame


@pytest.mark.parametrize(
    ("found", "message"),
    [
        ([], "found is empty"),
        ([("mask", 1.2, "")], "the cosine of 'mask' is 1.2; it must be in 0 … 1"),
        ([("mask", -0.1, "")], "the cosine of 'mask' is -0.1"),
        ([("mask", float("nan"), "")], "the cosine of 'mask' is nan"),
        ([("mask", 0.3, ""), ("head", 0.4, "")], "'head' has the cosine 0.4, more than 0.3 before it"),
    ],
)
def test_what_is_no_list_of_nearest_topics_is_refused(found, message):
    with pytest.raises(ValueError, match=message):
        widgets.answers_frame("Who?", found, ["mask"])


def test_cosines_may_be_a_rounding_error_beyond_their_ends():
    frame = widgets.answers_frame("Who?", [("mask", 1.000001, ""), ("head", -1e-7, "")], [])
    assert re.findall(r">(-?\d\.\d\d)<", frame) == ["1.00", "0.00"] and "width:0%" in frame


# ---- senses ----


def drawn_points(seed, many=12):
    return np.random.default_rng(seed).uniform(-1, 1, (many, 2))


def number_places(frame):
    return np.array(re.findall(r"translate\((\S+) (\S+)\)", frame), float) - (0, 5)


def marks(frame):
    """The middles of the marks of each sense."""
    found = re.findall(r'd="([^"]+)" fill="#\w+" fill-opacity', frame)
    return [np.array(re.findall(r"M(\S+?) ([\d.]+)m", path), float) for path in found]


@pytest.mark.parametrize("seed", range(5))
def test_points_are_drawn_where_they_lie_with_a_mark_for_each_sense(seed):
    points = drawn_points(seed)
    frame = widgets.senses_frame("bank", 3, torch.tensor(points), SENSES, SENTENCES, 11)
    for found, sense in zip(marks(frame), ("of a river", "for money"), strict=True):
        own = [sense == one for one in SENSES]
        np.testing.assert_allclose((found - 150) / (130, -130), points[own], atol=0.0005)
    assert set(re.findall(r'style="color:(#\w+)">(.)', frame)) == {("#0072b2", "●"), ("#d55e00", "■")}
    assert "<b>layer 3: the nearest sentence has the same sense for 11 of 12</b>" in frame
    told = drawings(frame)[0].get("aria-label")
    assert told.startswith("where the vectors of bank are at layer 3; of a river: 1 at ")
    coordinates = {
        int(n): (x, y) for n, x, y in re.findall(r"(\d+) at (\S+) (\S+?)[,;]?(?= |$)", told.replace("−", "-"))
    }
    np.testing.assert_allclose(np.array([coordinates[n] for n in range(1, 13)], float), points, atol=0.051)


def spread_out(seed):
    points = drawn_points(seed)
    return points if seed % 3 else points * 0.1 + (0.9, -0.9, 0.0)[seed // 3 % 3]  # some lie close together at an edge


@pytest.mark.parametrize("seed", range(24))
def test_numbers_stand_on_no_mark_and_on_no_other_number(seed):
    frame = widgets.senses_frame("bank", 1, spread_out(seed), SENSES, SENTENCES, 0)
    places, middles = number_places(frame), np.concatenate(marks(frame))
    assert len(places) == len(middles) == 12 and (places > 8).all() and (places < 292).all()
    for number, place in enumerate(places):
        apart = abs(np.concatenate([np.delete(places, number, 0), middles]) - place)
        assert ((apart[:, 0] > 17) | (apart[:, 1] > 14)).all()


def test_vectors_that_are_all_the_same_have_a_number_each():
    """As at layer 0, where a word at the same place has the same vector in any sentence."""
    places = number_places(widgets.senses_frame("bank", 0, np.ones((12, 2)), SENSES, SENTENCES, 6))
    assert len({tuple(place) for place in places}) == 12


def test_only_attributes_and_texts_differ_from_layer_to_layer_so_that_points_glide():
    shown = [widgets.senses_frame("bank", layer, drawn_points(layer), SENSES, SENTENCES, 6) for layer in range(7)]
    assert len({re.sub(r'"[^"]*"|>[^<]*<', "", frame) for frame in shown}) == 1
    assert "<b>layer 0, the input: the nearest sentence has the same sense for 6" in shown[0]
    assert sum(len(frame.encode()) for frame in shown) < 40_000


def test_sentences_are_numbered_and_have_the_word_in_bold_once():
    frame = widgets.senses_frame("bank", 2, drawn_points(0), SENSES, SENTENCES, 6)
    listed = re.findall(r"</span> (\d+ .*?)</div>", frame)
    assert listed[0] == "1 The <b>bank</b> was &lt;muddy&gt;."
    assert listed[2:4] == ["3 <b>Bank</b> robbers run.", "4 Fish hid by the <b>bank</b>, not on the bank."]
    assert [line.count("<b>") for line in listed] == [1] * 12


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sentences": []}, "0 sentences were given; one to 12"),
        ({"sentences": SENTENCES + ["A bank."]}, "13 sentences were given"),
        (
            {"points": np.zeros((11, 2))},
            r"shape \(11, 2\) and 12 senses were given; 12 sentences need \(12, 2\) and 12",
        ),
        ({"points": np.zeros((12, 3))}, r"shape \(12, 3\)"),
        ({"senses": SENSES[1:]}, "11 senses were given"),
        ({"points": np.full((12, 2), 1.1)}, "reach from 1.1 to 1.1; each number must be in −1 … 1"),
        ({"points": np.full((12, 2), np.nan)}, "each number must be in −1 … 1"),
        ({"senses": [*"abcde", *"aaaaaaa"]}, "5 senses were given.* up to 4"),
        ({"layer": -1}, "the layer is -1; 0 is the input"),
        ({"right": 13}, "right is 13; it counts some of 12"),
        ({"word": "river"}, "'river' is missing from 'The bank was <muddy>.'"),
        ({"word": "ban"}, "must have it as a separate word"),
    ],
)
def test_what_does_not_fit_the_sentences_is_refused(change, message):
    given = {
        "word": "bank",
        "layer": 1,
        "points": drawn_points(0),
        "senses": SENSES,
        "sentences": SENTENCES,
        "right": 3,
    }
    with pytest.raises(ValueError, match=message):
        widgets.senses_frame(**given | change)


# ---- heads ----


def shares(looks):
    """Of one head, by the words of the legend; by hand."""
    many = len(looks)
    return {
        "the word before": np.mean([looks[i, i - 1] for i in range(1, many)]),
        "the word after": np.mean([looks[i, i + 1] for i in range(many - 1)]),
        "the word itself": np.mean([looks[i, i] for i in range(many)]),
        "[CLS]": looks[:, 0].mean(),
        "[SEP]": looks[:, -1].mean(),
    }


def squares(drawing, many, group=0):
    """The colour of each square, from the runs that are drawn."""
    group = [g for g in drawing.iter("g") if "scale" in g.get("transform", "")][group]
    colours = {}
    for path in group.findall("path"):
        for x, y, wide in re.findall(r"M(\d+) (\d+)h(\d+)v\d+", path.get("d")):
            for column in range(int(wide)):
                colours[int(y), int(x) + column] = path.get("fill")
    return np.array([[colours.get((row, column), "#fff") for column in range(many[1])] for row in range(many[0])])


@pytest.mark.parametrize("state", HEADS, ids=str)
def test_the_map_is_as_dark_as_the_weights_and_large_ones_are_written(state):
    looks = WEIGHTS[state[0] - 1, state[1] - 1]
    drawing = drawings(HEADS[state])[0]
    levels = np.vectorize(frames.BLUES.index)(squares(drawing, (14, 14)))
    white = looks < 0.05
    np.testing.assert_allclose(np.where(white, 0, levels) / 10, np.where(white, 0, looks), atol=0.0501)
    texts = list(drawing.iter("text"))
    assert ["".join(text.itertext()) for text in texts[:2]] == ["".join(WORDS)] * 2
    middles = [int(span.get("x")) for span in texts[1]]
    found = {}
    for text in texts[2:]:
        for span in text:
            row, column = middles.index(int(span.get("y")) - 5), middles.index(int(span.get("x")))
            found[row, column] = float(span.text)
            assert (text.get("fill") == "#fff") == (levels[row, column] > 5)
    assert found.keys() == {tuple(place) for place in np.argwhere(looks >= 0.25)}
    assert all(abs(looks[place] - number) <= 0.0501 for place, number in found.items())


@pytest.mark.parametrize("state", HEADS, ids=str)
def test_the_five_shares_are_told_and_the_strongest_is_said(state):
    wanted = shares(WEIGHTS[state[0] - 1, state[1] - 1])
    best = max(wanted, key=wanted.get)
    frame = HEADS[state]
    told = drawings(frame)[1].get("aria-label")
    listed = ", ".join(f"{name} {share:.2f}" for name, share in wanted.items())
    assert told == f"layer {state[0]}, head {state[1]}, mean weight on: {listed}"
    assert re.findall(r'font-weight="bold">([^<]+)<', frame) == [f"{wanted[best]:.2f} {best}"]
    sentence = f"layer {state[0]}, head {state[1]}: {wanted[best]:.2f} of the weight goes to {best}"
    assert re.findall(r"<b>(.*?)</b>", frame) == [sentence]


def test_every_head_has_a_square_with_the_colour_and_the_sign_of_its_strongest_share():
    drawing = drawings(HEADS[3, 5])[1]
    colours, kinds = squares(drawing, (6, 12)), {name: place for place, (name, *_) in enumerate(frames.SHARES)}
    signs = re.findall(
        r"M(\d+) (\d+)([a-z][^M]+)", next(p for p in drawing.iter("path") if p.get("stroke-width") == "1.5").get("d")
    )
    seen = set()
    for place, (layer, head) in enumerate(np.ndindex(6, 12)):
        found = shares(WEIGHTS[layer, head])
        best = max(found, key=found.get)
        _, colour, (right, down), lines = frames.SHARES[kinds[best]]
        assert signs[place] == (str(71 + 18 * head + right), str(29 + 18 * layer + down), lines)
        assert colours[layer, head] == frames._mixed(colour, np.ceil(4 * found[best]) / 4)
        seen.add(best)
    assert seen == kinds.keys()
    assert squares(drawing, (5, 1), 1)[:, 0].tolist() == [colour for _, colour, *_ in frames.SHARES]


def test_the_chosen_head_is_outlined():
    outlines = {re.search(r'd="M(\d+) (\d+)h18v18', frame).groups() for frame in HEADS.values()}
    assert outlines == {(str(62 + 18 * head), str(20 + 18 * layer)) for layer, head in np.ndindex(6, 12)}
    assert 'd="M134 56h18v18' in HEADS[3, 5]


def test_every_frame_is_two_told_drawings_and_all_together_are_small():
    for frame in HEADS.values():
        assert all(drawing.get("aria-label") for drawing in drawings(frame)) and len(drawings(frame)) == 2
        assert not re.search(r"nan|inf\b|\de[-+]\d", frame)
    assert sum(len(frame.encode()) for frame in HEADS.values()) < 540_000


@pytest.mark.parametrize("words", [["[CLS]", "[SEP]"], ["[CLS]", *("word",) * 14, "[SEP]"]], ids=len)
def test_the_shortest_and_the_longest_sentence_are_drawn(words):
    weights = drawn_weights(len(words), 1)
    for drawing in drawings(widgets.head_frame(words, torch.tensor(weights, dtype=torch.float32), 6, 12)):
        assert float(drawing.get("width")) <= 390 and float(drawing.get("height")) <= 340


def test_equal_shares_have_one_that_is_said_and_bold():
    frame = widgets.head_frame(["[CLS]", "a", "[SEP]"], np.full((1, 1, 3, 3), 1 / 3), 1, 1)
    assert re.findall(r'"bold">0.33 ([^<]+)<', frame) == ["the word before"]
    assert "0.33 of the weight goes to the word before<" in frame


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"words": WORDS[:-1]}, r"must go from '\[CLS\]' to '\[SEP\]'"),
        ({"words": []}, r"the words are \[\]"),
        ({"words": ["[CLS]", *"abcdefghijklmno", "[SEP]"]}, "17 words were given; up to 16"),
        ({"words": ["[CLS]", "a", "[SEP]"]}, r"shape \(6, 12, 14, 14\); wanted \(layer, head, 3, 3\)"),
        ({"weights": WEIGHTS[0]}, r"shape \(12, 14, 14\); wanted \(layer, head, 14, 14\)"),
        ({"weights": WEIGHTS / 2}, "those of a word sum to 0.5 … 0.5; .* must sum to 1"),
        ({"weights": WEIGHTS * np.nan}, "the least weight is nan"),
        ({"weights": 1 / 7 - WEIGHTS}, "the least weight is -0.*none may be below 0"),
        ({"layer": 0}, "there is no layer 0; the weights have 6, numbered from 1"),
        ({"head": 13}, "there is no head 13; the weights have 12"),
    ],
)
def test_what_is_no_map_of_the_words_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        widgets.head_frame(**{"words": WORDS, "weights": WEIGHTS, "layer": 1, "head": 1} | change)


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        ("Short, with a bank.", "Short, with a <b>bank</b>."),
        ("In summer our whole village drinks from the bank.", "…our whole village drinks from the <b>bank</b>."),
        ("The bank lies behind the old mill and the bridge.", "The <b>bank</b> lies behind the old mill and the…"),
    ],
)
def test_of_a_long_sentence_as_much_is_shown_as_fits_in_a_line(sentence, shown):
    assert shown in widgets.senses_frame("bank", 1, np.zeros((1, 2)), ["river"], [sentence], 0)
