"""Figures: alt texts, words on the axes, colours that can be told apart."""

import base64
import html
import json
import re

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from course_lib import plotting, toy_french
from course_lib.attention_map import AttentionMap


@pytest.fixture
def shown(monkeypatch):
    calls = []
    monkeypatch.setattr(plotting, "display", lambda data, **options: calls.append((data, options)))
    return calls


def test_a_figure_is_shown_with_its_alt_text_and_closed(shown):
    fig, ax = plotting.figure()
    ax.plot([0, 1])
    plotting.show(fig, "A rising line.")
    ((data, options),) = shown
    assert base64.b64decode(data["image/png"]).startswith(b"\x89PNG")
    assert data["text/plain"] == options["metadata"]["image/png"]["alt"] == "A rising line."
    assert not plotting.plt.fignum_exists(fig.number)


def test_a_figure_of_lines_and_words_is_vector_graphics_with_letters_and_the_same_in_each_run(shown):
    for _ in range(2):
        fig, ax = plotting.figure()
        ax.plot([0, 1], label="rises")
        ax.set_xlabel("words")
        ax.set_ylabel("$h_i$")
        ax.legend()
        plotting.show(fig, "A rising line.")
    (drawing, again) = [plotting.svg(data) for data, _ in shown]
    assert drawing == again
    assert re.findall("<text.*>(words|rises)</text>", drawing) == ["words", "rises"]
    assert set(re.findall('font-family: ([^;"]*)', drawing)) == {plotting.FONTS}


def test_a_figure_says_at_which_width_its_smallest_letters_can_be_read(shown):
    for size in (8.25, 16.5):
        fig, ax = plotting.figure(figsize=(10, 4))
        ax.text(0, 0, "small", fontsize=size)
        ax.axis("off")
        plotting.show(fig, "One word.")
    assert [options["metadata"]["image/png"]["narrowest"] for _, options in shown] == [960, 480]


def test_a_heatmap_is_vector_graphics_with_a_pixel_for_each_number_and_its_own_colours_for_what_is_on_it(shown):
    fig, (left, right) = plotting.figure(1, 2)
    pair = toy_french.RECURRING["the black cat"]
    plotting.draw_heatmap(left, np.eye(3), pair.target, pair.source, written="{:.1f}".format, gold=pair)
    left.text(1, -0.8, "above it")
    right.plot([0, 1])
    right.text(0.5, 0.5, "beside a line")
    plotting.show(fig, "A diagonal.")
    drawing = plotting.svg(shown[0][0])
    (image,) = re.findall("<image [^>]*>", drawing)
    assert 'width="3" height="3"' in image and "pixelated" in image
    kept = re.findall(rf'<g id="{plotting.ON_DATA}">\s*<(\w+)', drawing)
    assert (kept.count("text"), kept.count("path"), len(kept)) == (9, 3, 12)


def told(shown):
    """What the last figure tells, as left, top, width, height and the lines of words."""
    (text,) = re.findall('<svg data-told="([^"]*)"', plotting.svg(shown[-1][0]))
    return [(*where, words.split("\n")) for *where, words in json.loads(html.unescape(text))]


def test_what_is_told_of_a_mark_is_its_value_and_where_it_is_drawn(shown):
    fig, ax = plotting.figure()
    curves = {"state 8": {"3–6": 0.9127, "7–10": 0.25}, "state 16": {"3–6": 1.0, "7–10": 0.5}}
    plotting.draw_by_length(ax, curves)
    ax.axhline(0.1)
    ax.plot(range(500), range(500))
    ax.scatter([1.1], [0.75], label="dots")
    plotting.show(fig, "Two curves.")
    x, y = "words in the English sentence: ", "correct sentences: "
    values = {"state 8": ["0.913", "0.25"], "state 16": ["1", "0.5"], "dots": ["0.75"]}
    assert [words for *_, words in told(shown)] == [
        [name, x + bucket, y + value]
        for name, row in values.items()
        for bucket, value in zip(["3–6", "7–10"] if len(row) == 2 else ["7–10"], row, strict=True)
    ]
    marks = re.findall(
        r'<use [^>]*x="([\d.]+)" y="([\d.]+)" style="fill: (#0072b2|#d55e00)', plotting.svg(shown[-1][0])
    )
    drawn = [(float(x), float(y)) for x, y, _ in marks]
    for left, top, wide, tall, (name, *_) in told(shown):
        near = any(abs(left - x) + abs(top - y) < 0.2 for x, y in drawn)
        assert (wide, tall) == (0, 0) and near, name


def test_what_is_told_of_a_bar_is_its_own_length(shown):
    fig, (across, up) = plotting.figure(1, 2)
    across.barh(range(2), [0.2, 0.3], label="tables")
    across.barh(range(2), [0.5, 0.1], left=[0.2, 0.3], label="attention")
    across.set_yticks(range(2), ["ours", "GPT-3"])
    up.bar([-0.2, 0.8], [1500, -2.5], 0.4)
    up.set_xticks([0, 1], ["$d_k$", "1"])
    plotting.show(fig, "Bars.")
    assert [words for *_, words in told(shown)] == [
        ["tables", "0.2", "ours"], ["tables", "0.3", "GPT-3"],
        ["attention", "0.5", "ours"], ["attention", "0.1", "GPT-3"],
        ["d_k", "1,500"], ["0.8", "−2.5"],
    ]  # fmt: skip
    paths = re.findall(
        r'd="M ([\d.]+) ([\d.]+) \nL ([\d.]+) ([\d.]+) \nL ([\d.]+) ([\d.]+)', plotting.svg(shown[-1][0])
    )
    corners = [[*map(float, path)] for path in paths]
    for left, top, wide, tall, words in told(shown):
        box = [left, left + wide, top, top + tall]
        edges = ((min(c[0::2]), max(c[0::2]), min(c[1::2]), max(c[1::2])) for c in corners)
        assert any(max(abs(a - b) for a, b in zip(box, each, strict=True)) < 0.2 for each in edges), words


def test_what_is_told_of_a_square_is_its_row_its_column_and_its_value(shown):
    fig, ax = plotting.figure()
    plotting.draw_heatmap(ax, np.array([[0, 0.1234], [np.nan, 1]]), ["le", "chat"], ["the", "cat"], label="weight")
    ax.set(xlabel="looked at", ylabel="written")
    plotting.show(fig, "A map.")
    assert [words for *_, words in told(shown)] == [
        [f"looked at: {column}", f"written: {row}", f"weight: {value}"]
        for row, column, value in (("le", "the", "0"), ("le", "cat", "0.123"), ("chat", "cat", "1"))
    ]
    (left, top, wide, tall, _), (second, *_), (*_, low, _, _, _) = told(shown)
    image = re.search(r"matrix\(([\d.]+) 0 0 ([\d.]+) ([\d.]+) ([\d.]+)\)", plotting.svg(shown[0][0]))
    assert np.allclose([float(number) for number in image.groups()], [wide, tall, left, top], atol=0.1)
    assert np.isclose(second, left + wide, atol=0.2) and np.isclose(low, top + tall, atol=0.2)


def test_marks_under_a_legend_are_counted(shown):
    for corner in ("upper left", "lower right"):
        fig, ax = plotting.figure()
        ax.plot([0, 1, 9], [9, 8.9, 0], "o", label="falls")
        ax.axvline(20)
        ax.legend(loc=corner)
        plotting.show(fig, "Two marks in the upper left, one in the middle.")
    fig, ax = plotting.figure()
    plotting.show(fig, "Nothing, and no legend.")
    assert [options["metadata"]["image/png"]["covered"] for _, options in shown] == [2, 0, 0]


def test_a_figure_without_alt_text_is_refused():
    fig, _ = plotting.figure()
    with pytest.raises(ValueError, match="alt is empty"):
        plotting.show(fig, " ")
    plotting.plt.close(fig)


def test_a_map_is_drawn_with_its_words_and_gold_links():
    pair = toy_french.RECURRING["the black cat"]
    fig, ax = plotting.figure()
    plotting.draw_attention(ax, AttentionMap(np.eye(3)[[0, 2, 1]], pair.target, pair.source), pair)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["the", "black", "cat"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["le", "chat", "noir"]
    assert {(round(box.get_x() + 0.45), round(box.get_y() + 0.45)) for box in ax.patches} == {(0, 0), (2, 1), (1, 2)}
    assert ax.images[0].get_clim() == (0, 1)
    plotting.plt.close(fig)


def test_curves_by_length_carry_their_names_and_the_bands_reach_from_lowest_to_highest():
    fig, ax = plotting.figure()
    runs = [{"3–6": 0.8, "7–10": 0.2}, {"3–6": 1.0, "7–10": 0.4}]
    plotting.draw_by_length(ax, {"state 8": {"3–6": 0.9, "7–10": 0.3}}, {"state 8": runs}, "recorded: 2 seeds")
    assert [label.get_text() for label in ax.get_xticklabels()] == ["3–6", "7–10"]
    assert {text.get_text() for text in ax.get_legend().get_texts()} == {"state 8", "recorded: 2 seeds"}
    band = ax.collections[0].get_paths()[0].vertices
    assert (band[:, 1].min(), band[:, 1].max()) == (0.2, 1.0)
    assert plotting.medians([*runs, runs[1]]) == {"3–6": 1.0, "7–10": 0.4}
    plotting.plt.close(fig)


def test_names_stand_beside_the_ends_of_their_lines_in_order_and_apart_and_can_be_read():
    fig, ax = plotting.figure()
    for height, name in ((0.5, "middle"), (0.49, "a little lower"), (0.0, "lowest"), (0.51, "a little higher")):
        plotting.draw_band(ax, [0, 1], [[0.2, height]], label=name)
    ax.plot([0, 1], [1, 1])
    plotting.draw_names(ax, "recorded: 1 seed")
    fig.draw_without_rendering()
    boxes = {text.get_text(): text.get_window_extent() for text in ax.texts}
    assert list(boxes) == ["middle", "a little lower", "lowest", "a little higher"]
    order = sorted(boxes.values(), key=lambda box: box.y0)
    assert order == [boxes[name] for name in ("lowest", "a little lower", "middle", "a little higher")]
    assert all(below.y1 <= above.y0 + 1 for below, above in zip(order, order[1:], strict=False))
    (x, y) = ax.transData.transform((1, 0))
    assert boxes["lowest"].x0 > x and boxes["lowest"].y0 < y < boxes["lowest"].y1, "what is alone is not moved"
    assert all(1.05 / (luminance(text.get_color()) + 0.05) > 4.5 for text in ax.texts)
    assert ax.get_title("right") == "bands: recorded: 1 seed"
    plotting.plt.close(fig)


def test_a_heatmap_names_its_axes_and_writes_its_numbers(shown, monkeypatch):
    drawn = []
    monkeypatch.setattr(plotting, "show", lambda fig, alt: drawn.append((fig.axes[0], alt)))
    names = {"down": "size", "across": "word", "label": "share", "alt": "It falls."}
    plotting.show_heatmap(np.array([[1.0, 0.25]]), [4], ["the", "cat"], written=True, **names)
    ((ax, alt),) = drawn
    assert ([text.get_text() for text in ax.texts], alt) == (["1.00", "0.25"], "It falls.")
    assert [label.get_text() for label in ax.get_xticklabels()] == ["the", "cat"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("word", "size")
    plotting.plt.close(ax.figure)


def test_a_band_reaches_from_lowest_to_highest_under_a_line_of_its_colour():
    fig, (live, middle) = plotting.figure(1, 2)
    runs = [[0.0, 4.0], [1.0, 2.0], [5.0, 3.0]]
    plotting.draw_band(live, [10, 20], runs, [0.5, 2.5], color="#d55e00", marker="s", label="GRU")
    plotting.draw_band(middle, [10, 20], runs)
    for ax, heights in ((live, [0.5, 2.5]), (middle, [1.0, 3.0])):
        (line,), (band,) = ax.lines, ax.collections
        assert (list(line.get_xdata()), list(line.get_ydata())) == ([10, 20], heights)
        edges = band.get_paths()[0].vertices
        assert [{*edges[edges[:, 0] == x, 1]} for x in (10, 20)] == [{0.0, 5.0}, {2.0, 4.0}]
        assert to_rgb(band.get_facecolor()[0, :3]) == to_rgb(line.get_color())
    plotting.draw_legend(live, "recorded: 3 seeds", loc="lower left")
    assert [text.get_text() for text in live.get_legend().get_texts()] == ["GRU", "recorded: 3 seeds"]
    plotting.plt.close(fig)


def test_what_is_written_into_a_cell_can_be_read_on_its_colour_and_empty_cells_stay_empty():
    fig, (dark, light) = plotting.figure(1, 2)
    values = np.array([[0.0, 1.0], [np.nan, 0.25]])
    plotting.draw_heatmap(dark, values, "ab", "cd", written="{:.1f}".format, top=1)
    cells = {"written": lambda value: "✓", "cmap": "cividis_r"}
    plotting.draw_heatmap(light, values, "ab", ["le", "chat"], label="weight", turned=40, **cells)
    assert [text.get_text() for text in dark.texts] == ["0.0", "1.0", "0.2"]
    assert [text.get_text() for text in light.texts] == ["✓"] * 3
    assert [text.get_color() for text in dark.texts] == ["white", "black", "white"]
    assert [text.get_color() for text in light.texts] == ["black", "white", "black"]
    turned = [{label.get_rotation() for label in ax.get_xticklabels()} for ax in (dark, light)]
    assert turned == [{0}, {40}], "a letter needs no turning"
    assert len(fig.axes) == 3, "a bar of colours where it has a name"
    plotting.plt.close(fig)


def luminance(colour):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_every_colour_stands_out_from_white_and_has_a_marker_of_its_own():
    assert len(set(plotting.MARKERS)) == len(set(plotting.COLOURS)) == len(plotting.COLOURS)
    assert all(1.05 / (luminance(colour) + 0.05) > 2 for colour in plotting.COLOURS)
