"""Position codes against their formula, and what is promised of both kinds."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from course_lib.positions import LearnedPositions, SinusoidalPositions, sinusoidal_table

SIZE = 8
both = pytest.mark.parametrize("positions", [SinusoidalPositions, LearnedPositions])


def test_the_table_is_the_papers_formula_number_by_number():
    table = sinusoidal_table(50, SIZE, dtype=torch.float64)
    for position in range(50):
        for i in range(SIZE // 2):
            angle = position / 10000 ** (2 * i / SIZE)
            assert table[position, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-12)
            assert table[position, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-12)


def test_the_table_has_torchs_default_type_and_is_exact_far_out():
    assert sinusoidal_table(3, SIZE).dtype == torch.float32
    last = sinusoidal_table(100_001, SIZE)[-1]
    assert_close(last, sinusoidal_table(100_001, SIZE, dtype=torch.float64)[-1].float(), atol=0, rtol=0)


@given(st.integers(0, 200), st.integers(0, 200))
def test_k_positions_on_every_pair_has_turned_by_the_same_angle(start, k):
    table = sinusoidal_table(start + k + 1, SIZE, dtype=torch.float64)
    pairs = torch.view_as_complex(table.view(-1, SIZE // 2, 2).flip(-1).contiguous())  # cos + i sin
    speeds = 10000 ** (-torch.arange(0, SIZE, 2, dtype=torch.float64) / SIZE)
    turn = torch.polar(torch.ones_like(speeds), k * speeds)
    assert_close(pairs[start + k], turn * pairs[start], atol=1e-10, rtol=0)


@given(st.integers(0, 300), st.integers(0, 300), st.integers(0, 100))
def test_how_alike_two_positions_are_depends_on_their_distance_only(one, two, shift):
    table = sinusoidal_table(max(one, two) + shift + 1, SIZE, dtype=torch.float64)
    assert_close(table[one + shift] @ table[two + shift], table[one] @ table[two], atol=1e-9, rtol=0)


@pytest.mark.parametrize("make", [lambda: sinusoidal_table(3, 7), lambda: SinusoidalPositions(7)])
def test_an_odd_size_is_refused_at_once(make):
    with pytest.raises(ValueError, match="model_size is 7; sines and cosines come in pairs, so it must be even"):
        make()


def rows_of(positions, length):
    """The table that a module adds."""
    return positions(torch.zeros(1, length, SIZE))[0]


@both
def test_it_adds_a_row_to_each_vector_whatever_the_sentence(positions):
    module, x = positions(SIZE), torch.randn(3, 5, SIZE)
    before = x.clone()
    assert_close(module(x) - x, rows_of(module, 5).expand(3, 5, SIZE), atol=1e-6, rtol=0)
    assert torch.equal(x, before)


@both
@given(start=st.integers(0, 50), length=st.integers(0, 10))
def test_a_start_goes_on_where_the_words_before_ended(positions, start, length):
    module = positions(SIZE)
    table = rows_of(module, start + length)
    assert_close(module(torch.zeros(2, length, SIZE), start=start), table[start:].expand(2, -1, -1))


def test_the_sinusoidal_rows_are_the_table_and_have_no_end():
    assert torch.equal(rows_of(SinusoidalPositions(SIZE), 1000), sinusoidal_table(1000, SIZE))


def test_sinusoidal_positions_have_no_parameters_and_nothing_to_save():
    module = SinusoidalPositions(SIZE)
    assert not list(module.parameters()) and not module.state_dict()


@both
def test_float64_goes_through_and_is_exact(positions):
    module = positions(SIZE).double()
    rows = module(torch.zeros(1, 40, SIZE, dtype=torch.float64))[0]
    assert rows.dtype == torch.float64
    wanted = sinusoidal_table(40, SIZE, dtype=torch.float64) if positions is SinusoidalPositions else module.weight[:40]
    assert torch.equal(rows, wanted)


@both
def test_it_follows_the_device(positions):
    assert positions(SIZE).to("meta")(torch.zeros(1, 3, SIZE, device="meta")).device.type == "meta"


def test_a_learned_row_is_one_parameter_and_has_the_gradient_of_its_position():
    module = LearnedPositions(SIZE, rows=6)
    assert [tuple(p.shape) for p in module.parameters()] == [(6, SIZE)]
    module(torch.zeros(2, 2, SIZE), start=3).sum().backward()
    assert torch.equal(module.weight.grad[:, 0], torch.tensor([0.0, 0.0, 0.0, 2.0, 2.0, 0.0]))


def test_learned_rows_start_with_variance_one():
    torch.manual_seed(0)
    weight = LearnedPositions(256, rows=64).weight
    assert abs(weight.mean().item()) < 0.05 and abs(weight.var().item() - 1) < 0.05


def test_there_are_64_learned_rows_unless_said_otherwise():
    assert LearnedPositions(SIZE)(torch.zeros(1, 64, SIZE)).shape == (1, 64, SIZE)
    with pytest.raises(ValueError, match="position 64 was asked for, and the learned table has 64 rows"):
        LearnedPositions(SIZE)(torch.zeros(1, 65, SIZE))


def test_past_the_last_row_the_error_says_what_is_there_and_what_to_do():
    module = LearnedPositions(SIZE, rows=4)
    assert module(torch.zeros(1, 1, SIZE), start=3).shape == (1, 1, SIZE)
    with pytest.raises(ValueError, match="position 5 .* 4 rows, for the positions 0 to 3; make it with rows=6 or more"):
        module(torch.zeros(1, 2, SIZE), start=4)
