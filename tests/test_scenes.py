"""Scenes of scanned digits: what is said of them is what is there."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from course_lib import scenes

SEEDS = st.integers(0, 2**32)
PARTS = st.sampled_from(["train", "unseen"])


def drawn(seed, *arguments):
    return scenes.draw_scenes(torch.Generator().manual_seed(seed), *arguments)


def test_every_scan_is_in_one_part_and_numbers_are_ink():
    train, unseen = scenes.scans("train"), scenes.scans("unseen")
    assert len(train.digits) + len(unseen.digits) == 1797
    pictures = torch.cat([train.pictures, unseen.pictures])
    assert pictures.min() == 0 and pictures.max() == 1
    for part in (train, unseen):  # no digit is rare in either
        assert 0.07 < torch.bincount(part.digits).div(len(part.digits)).min()


@given(SEEDS, PARTS, st.integers(1, 9))
def test_a_picture_shows_its_scans_in_reading_order(seed, part, objects):
    scene = drawn(seed, 3, part, objects)
    assert ((scene.scans != scenes.EMPTY).sum(1) == objects).all()
    for picture, own, digits in zip(scene.pictures, scene.scans, scene.digits, strict=True):
        for cell in range(scenes.CELLS):
            row, column = divmod(cell, scenes.SIDE)
            shown = picture[8 * row : 8 * row + 8, 8 * column : 8 * column + 8]
            if own[cell] == scenes.EMPTY:
                assert not shown.any() and digits[cell] == scenes.EMPTY
            else:
                assert torch.equal(shown, scenes.scans(part).pictures[own[cell]])
                assert digits[cell] == scenes.scans(part).digits[own[cell]]


def test_one_to_four_digits_are_drawn_equally_often_and_in_every_cell():
    many = drawn(0, 4000, "train").digits != scenes.EMPTY
    assert (torch.bincount(many.sum(1), minlength=5)[1:] / 4000 - 0.25).abs().max() < 0.03
    assert (many.double().mean(0) - 2.5 / 9).abs().max() < 0.03


@given(SEEDS, PARTS)
def test_a_caption_can_be_read_back(seed, part):
    """From the words alone: the digits in order, and which of them share a row."""
    digits = drawn(seed, 4, part).digits
    said = scenes.captions(digits)
    for row, words, cells in zip(digits.tolist(), said.words.tolist(), said.cells.tolist(), strict=True):
        there = [cell for cell, digit in enumerate(row) if digit != scenes.EMPTY]
        end = words.index(scenes.EOS)
        assert words[:end:2] == [row[cell] for cell in there] and cells[:end:2] == there
        rows = [cell // 3 for cell in there]
        joined = [scenes.BESIDE if a == b else scenes.BELOW for a, b in zip(rows, rows[1:], strict=False)]
        assert words[1:end:2] == joined
        assert set(words[end + 1 :]) <= {scenes.PAD} and set(cells[1::2] + cells[end:]) == {scenes.EMPTY}


@given(SEEDS, PARTS)
def test_a_question_has_the_answer_that_stands_there(seed, part):
    scene, asked = scenes.draw_questions(torch.Generator().manual_seed(seed), 8, part)
    digits = scene.digits
    assert all(len(set(row)) == scenes.CELLS for row in digits.tolist())
    moved = {"left of": (0, -1), "right of": (0, 1), "above": (-1, 0), "below": (1, 0)}
    for i, row in enumerate(digits.tolist()):
        down, across = moved[list(scenes.RELATIONS)[asked.relation[i]]]
        first = row.index(asked.about[i])
        at_row, at_column = first // 3 + down, first % 3 + across
        assert 0 <= at_row < 3 and 0 <= at_column < 3
        assert first == asked.first[i] and 3 * at_row + at_column == asked.second[i]
        assert asked.answer[i] == row[3 * at_row + at_column]


@pytest.mark.parametrize("objects", [0, 10, -1])
def test_more_digits_than_cells_are_refused(objects):
    with pytest.raises(ValueError, match=f"objects is {objects}; it must be from 1 to 9"):
        drawn(0, 2, "train", objects)
