"""The frames of lesson 9: what they say and draw is what the formulas give, in every state that can be chosen."""

import itertools
import re
from xml.etree import ElementTree

import numpy as np
import pytest
import torch

from course_lib import widgets
from course_lib.attention import dot_product_attention
from course_lib.positions import sinusoidal_table
from course_lib.widgets import further_and_cheaper as frames

DISTANCES, STARTS = (*range(13), 16, 20, 24, 28, 32), (0, 1, 5, 20, 80)
TILES, STEPS = (1, 2, 3), range(7)
SETS = "one for each head", "one for 8 heads", "one for all"
SIZES = tuple(itertools.product((12, 32, 96), (16, 32, 96), SETS, (512, 2048, 8192, 32768, 131072)))
ROTARY = {state: widgets.rotary_frame(*state) for state in itertools.product(DISTANCES, STARTS)}
BY_TILES = {state: widgets.tiles_frame(*state) for state in itertools.product(TILES, STEPS)}
CACHES = {state: widgets.cache_frame(*state) for state in SIZES}


@pytest.mark.parametrize("every", [ROTARY, BY_TILES, CACHES], ids=["rotary", "tiles", "cache"])
def test_every_frame_is_a_told_drawing_and_words_and_all_together_are_small(every):
    for frame in every.values():
        drawing, words = widgets.shell.SVG.search(frame)[0], widgets.shell.SVG.sub("", frame)
        assert ElementTree.fromstring(drawing).get("aria-label")
        assert ElementTree.fromstring(f"<div>{words}</div>").find(".//b").text
        assert not re.search(r"nan|inf\b|\de[-+]\d", frame)
    assert sum(len(frame.encode()) for frame in every.values()) < 250_000


# ---- rotary ----


def number(spelled):
    return float(spelled.replace("−", "-"))


def scores(distance, start):
    """With one rotation matrix a pair, built here; the plain product; the codes added."""
    query, key = frames.QUERY.numpy(), frames.KEY.numpy()

    def turned(vector, place):
        angles = place * 10000 ** (-np.arange(0, 8, 2) / 8)
        turn = np.array([[np.cos(angles), -np.sin(angles)], [np.sin(angles), np.cos(angles)]])
        return np.einsum("abp,pb->pa", turn, vector.reshape(4, 2))

    codes = sinusoidal_table(start + distance + 1, 8, dtype=torch.float64).numpy()
    hands = turned(query, start + distance), turned(key, start)
    added = (query + codes[-1]) @ (key + codes[start])
    return hands, ((hands[0] * hands[1]).sum(), query @ key - distance / 8, added)


@pytest.mark.parametrize("state", ROTARY, ids=str)
def test_hands_shares_and_three_scores_are_those_of_the_formulas(state):
    frame = ROTARY[state]
    hands, wanted = scores(*state)
    told = re.search(r'aria-label=".*: rotary (\S+), ALiBi (\S+), sum (\S+)"', frame).groups()
    np.testing.assert_allclose([number(one) for one in told], wanted, atol=0.0051)
    shares = [number(one) for one in re.findall(r'y="83">([^<]+)<', frame)]
    np.testing.assert_allclose(shares, (hands[0] * hands[1]).sum(1), atol=0.0051)
    for colour, tips in (("#0072b2", hands[0]), ("#888", hands[1])):
        drawn = re.search(rf'd="((?:M\d+ 34l\S+ [^M"]+)+)" stroke="{colour}"', frame)[1]
        ends = re.findall(r"l(\S+) ([^M]+)", drawn)
        np.testing.assert_allclose(np.array(ends, float) * (1, -1) / 28, tips, atol=0.0025)
    points = re.findall(r'd="M(\d+) ([\d.]+)h.1"', frame)
    assert [int(x) for x, _ in points] == [left + 3 * state[0] for left in (30, 158, 286)]
    np.testing.assert_allclose([(194 - float(y)) / 9 for _, y in points], wanted, atol=0.006)


def curves(frame):
    """The heights of the three curves by the distances at which they are drawn."""
    found = []
    for start, rises in re.findall(r'd="M\d+ ([\d.]+)l([^"]+)" stroke-width="2"', frame):
        found.append((194 - np.cumsum([float(start), *map(float, rises.split()[1::2])])) / 9)
    return found


@pytest.mark.parametrize("start", STARTS)
def test_curves_pass_through_the_scores_of_all_distances(start):
    rotary, biased, added = curves(ROTARY[3, start])
    wanted = np.array([scores(distance, start)[1] for distance in range(33)])
    np.testing.assert_allclose(np.stack([rotary, added]), wanted[:, ::2].T, atol=0.006)
    np.testing.assert_allclose(biased, wanted[[0, -1], 1], atol=0.006)
    assert wanted.min() > -2 and wanted.max() < 8


@pytest.mark.parametrize("distance", DISTANCES)
def test_only_the_sum_notices_where_the_two_stand(distance):
    told = [re.search(r"rotary (\S+), ALiBi (\S+), sum (\S+)\"", ROTARY[distance, start]) for start in STARTS]
    assert len({one.group(1, 2) for one in told}) == 1
    assert len({one[3] for one in told}) >= 4
    drawn = [curves(ROTARY[distance, start]) for start in STARTS]
    for here in drawn[1:]:
        np.testing.assert_array_equal(here[0], drawn[0][0])
        np.testing.assert_array_equal(here[1], drawn[0][1])
        assert np.abs(here[2] - drawn[0][2]).max() > 0.5
    np.testing.assert_allclose([scores(distance, start)[1][0] for start in STARTS], scores(distance, 0)[1][0])


# ---- tiles ----


def softmax_average(gone):
    powers = np.exp(frames.SCORES[:gone])
    return powers @ frames.VALUES[:gone] / powers.sum()


@pytest.mark.parametrize("tile", [1, 2, 3, 4, 6])
def test_after_every_tile_the_quotient_is_the_plain_softmax_average(tile):
    states = list(frames._by_tiles(tile))
    for done, (*_, sums) in enumerate(states, 1):
        assert abs(sums[1] / sums[0] - softmax_average(tile * done)) < 1e-12
    parts = [torch.tensor(part)[None, None, :, None] for part in (frames.SCORES, frames.VALUES)]
    whole, _ = dot_product_attention(torch.ones(1, 1, 1, 1, dtype=torch.float64), *parts)
    assert abs(sums[1] / sums[0] - whole.item()) < 1e-12


@pytest.mark.parametrize(("tile", "step"), BY_TILES)
def test_lines_of_a_tile_are_its_arithmetic(tile, step):
    frame, gone = BY_TILES[tile, step], min(tile * step, 6)
    texts = re.findall(r"translate\(\d+ \d+\)\">([^<]*)<", frame)
    assert texts[::2] == [f"{score:g}" for score in frames.SCORES]
    if not step:
        assert "no quotient yet" in frame and set(texts[1::2]) == {""}
        return
    m = frames.SCORES[:gone].max()
    powers = np.exp(frames.SCORES - m)
    assert texts[1::2] == [f"{power:.3f}" for power in powers[:gone]] + [""] * (6 - gone)
    told = re.findall(r"= ([\d.]+)</div>", frame)  # the factor and the two sums
    wanted = powers[:gone].sum(), powers[:gone] @ frames.VALUES[:gone]
    np.testing.assert_allclose([float(one) for one in told[1:]], wanted, atol=5.1e-4)
    for sums in re.findall(r"<div>sum[^:]*: ([\d.]+) · ([\d.]+) \+ ([\d.]+) = ([\d.]+)<", frame):
        factor, before, new, after = map(float, sums)
        assert factor * before + new == pytest.approx(after, abs=5e-3)
    first = tile * (min(step, 6 // tile) - 1)
    expected = np.exp(frames.SCORES[:first].max() - m) if first else 0
    assert float(told[0]) == pytest.approx(expected, abs=5.1e-4)
    average = f"{softmax_average(gone):.3f}"
    those = "all six" if gone == 6 else f"the first {gone}"
    assert f"quotient: {average}; plain softmax average of {those}: {average}</b>" in frame
    colours = re.findall(r'fill="(none|#e69f00|#0072b2)"', frame)[::2]
    assert colours == ["#0072b2"] * first + ["#e69f00"] * (gone - first) + ["none"] * (6 - gone)


@pytest.mark.parametrize("tile", TILES)
def test_a_later_tile_makes_the_sums_shrink_and_steps_beyond_the_last_show_the_end(tile):
    factors = [np.exp(old - m) for old, m, *_ in frames._by_tiles(tile)]
    assert factors[0] == 0 and min(factors[1:]) < 0.2
    assert {BY_TILES[tile, step] for step in STEPS if step >= 6 // tile} == {BY_TILES[tile, 6]}


# ---- cache ----


@pytest.mark.parametrize(("layers", "heads", "sets", "words"), SIZES)
def test_a_cache_has_the_bytes_of_its_tensors(layers, heads, sets, words):
    frame = CACHES[layers, heads, sets, words]
    kept = {"one for each head": heads, "one for 8 heads": heads // 8, "one for all": 1}
    key = torch.empty(kept[sets], words, 128, dtype=torch.float16, device="meta")
    size = 2 * layers * key.nbytes
    counted = f"{kept[sets]} {'set' if kept[sets] == 1 else 'sets'}"
    assert f"2 · {layers} layers · {counted} · 128 numbers · {words:,} words · 2 bytes<" in frame
    assert re.search(rf"<b>{size:,} bytes .* hold {80 * 2**30 // size:,} texts ", frame)
    places = [float(x) for x in re.findall(r'd="M([\d.]+) \d+h.1"', frame)]
    whole = size * heads / kept[sets]
    wanted = [np.log2(whole * number / heads / 2**20) / 20 for number in kept.values()]
    np.testing.assert_allclose((np.array(places) - 24) / 342, wanted, atol=2e-4)
    assert 0 < min(wanted) and max(wanted) < 1
    colours = re.findall(r'h.1" stroke="(\S+)"', frame)
    assert [colour == "#0072b2" for colour in colours] == [name == sets for name in kept]


def test_at_gpt_3_s_size_two_thousand_words_take_nine_gibibytes():
    frame = widgets.cache_frame(96, 96, "one for each head", 2048)
    assert "<b>9,663,676,416 bytes (9 GiB) for one text, so 80 GiB hold 8 texts and nothing else</b>" in frame
    assert "one for each head 9 GiB, one for 8 heads 1.1 GiB, one for all 96 MiB" in frame


@pytest.mark.parametrize(("heads", "sets", "message"), [(12, SETS[0], "by eights"), (16, "two", "must be one of")])
def test_sets_that_cannot_be_shared_out_are_refused(heads, sets, message):
    with pytest.raises(ValueError, match=message):
        widgets.cache_frame(12, heads, sets, 512)
