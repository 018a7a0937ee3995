"""Figures: alt texts, words on the axes, colours that can be told apart."""

import base64
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
