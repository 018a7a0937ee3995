"""Position codes against their formula, and what is promised of both kinds."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from course_lib.positions import (
    LearnedPositions,
    LinearBiases,
    RotaryPositions,
    SinusoidalPositions,
    sinusoidal_table,
    turns,
)

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


# ---- on queries and keys ----


def heads_of(length, seed=0):
    return torch.randn(2, 3, length, SIZE, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_rotary_is_the_papers_formula_number_by_number():
    x = heads_of(9)
    turned = RotaryPositions(SIZE)(x, start=5)
    for n in range(9):
        for i in range(SIZE // 2):
            angle = (5 + n) / 10000 ** (2 * i / SIZE)
            one, two = x[..., n, 2 * i], x[..., n, 2 * i + 1]
            assert_close(turned[..., n, 2 * i], one * math.cos(angle) - two * math.sin(angle))
            assert_close(turned[..., n, 2 * i + 1], one * math.sin(angle) + two * math.cos(angle))


@given(st.integers(0, 2000), st.integers(0, 2000), st.integers(0, 2000))
def test_a_score_between_rotated_vectors_depends_on_their_distance_only(one, two, shift):
    query, key, turn = heads_of(1), heads_of(1, seed=1), RotaryPositions(SIZE)
    scores = (turn(query, one) * turn(key, two)).sum(-1)
    assert_close((turn(query, one + shift) * turn(key, two + shift)).sum(-1), scores, atol=1e-9, rtol=0)


def test_rotary_turns_as_the_clocks_of_the_sinusoidal_table():
    x = torch.zeros(1, 1, 7, SIZE, dtype=torch.float64)
    x[..., ::2] = 1  # every hand starts at (1, 0)
    pairs = RotaryPositions(SIZE)(x)[0, 0].unflatten(-1, (-1, 2))
    assert_close(pairs.flip(-1).flatten(1), sinusoidal_table(7, SIZE, dtype=torch.float64))


def test_rotary_in_halves_is_the_same_for_rows_of_the_projections_in_another_order():
    """As the docstring says of weights from elsewhere."""
    x = heads_of(6)
    angles = torch.arange(6)[:, None] / 10000 ** (torch.arange(0, SIZE, 2, dtype=torch.float64) / SIZE)
    first, second = x.chunk(2, -1)
    halves = torch.cat([first * angles.cos() - second * angles.sin(), second * angles.cos() + first * angles.sin()], -1)
    order = torch.arange(SIZE).view(2, -1).T.flatten()  # 0, d / 2, 1, d / 2 + 1, …
    assert_close(RotaryPositions(SIZE)(x[..., order]), halves[..., order])


def test_rotary_trains_after_the_same_places_were_read_without_gradients():
    rotary, x = RotaryPositions(SIZE), torch.randn(1, 2, 5, SIZE, requires_grad=True)
    turns.cache_clear()
    with torch.inference_mode():
        rotary(x)
    rotary(x).square().sum().backward()
    assert torch.allclose(x.grad, 2 * x, atol=1e-5)  # a rotation keeps lengths


def test_rotary_keeps_lengths_types_and_arguments_and_saves_nothing():
    x, turn = heads_of(5), RotaryPositions(SIZE)
    before = x.clone()
    assert_close(turn(x, 3).norm(dim=-1), x.norm(dim=-1))
    assert torch.equal(x, before) and torch.equal(turn(x[:, :, :1]), x[:, :, :1])
    assert turn(x.float()).dtype == torch.float32 and turn(x.to("meta")).device.type == "meta"
    assert not list(turn.parameters()) and not turn.state_dict()
    with pytest.raises(ValueError, match="head_size is 7; numbers are turned in pairs"):
        RotaryPositions(7)


def test_another_base_turns_slower():
    x = heads_of(4)
    angle = 3 / 500_000 ** (2 / SIZE)
    one, two = x[..., 3, 2], x[..., 3, 3]
    assert_close(RotaryPositions(SIZE, base=500_000)(x)[..., 3, 2], one * math.cos(angle) - two * math.sin(angle))


def test_squeezed_positions_turn_as_far_as_earlier_ones():
    x = heads_of(7)
    turned, squeezed = RotaryPositions(SIZE)(x), RotaryPositions(SIZE, squeeze=0.5)(x[:, :, :1], start=6)
    assert_close(RotaryPositions(SIZE, squeeze=0.5)(x[:, :, ::2])[:, :, 0], turned[:, :, 0])
    assert_close(squeezed, RotaryPositions(SIZE)(x[:, :, :1], start=3))


# ---- on scores ----


@pytest.mark.parametrize(
    ("heads", "exponents"),
    [
        (1, [8]),
        (2, [4, 8]),
        (4, [2, 4, 6, 8]),
        (8, [1, 2, 3, 4, 5, 6, 7, 8]),
        (3, [4, 8, 2]),
        (12, [1, 2, 3, 4, 5, 6, 7, 8, 0.5, 1.5, 2.5, 3.5]),
    ],
)
def test_the_slopes_of_linear_biases(heads, exponents):
    assert LinearBiases(heads).slopes == pytest.approx([2**-exponent for exponent in exponents])


@pytest.mark.parametrize("queries", [1, 3, 7])
def test_a_linear_bias_grows_with_the_distance_at_every_distance(queries):
    bias = LinearBiases(3)(torch.zeros(2, 3, queries, SIZE), torch.zeros(2, 3, 7, SIZE))
    assert bias.shape == (1, 3, queries, 7)
    for head, slope in enumerate(LinearBiases(3).slopes):
        for row in range(queries):
            place = 7 - queries + row
            assert bias[0, head, row].tolist() == [-slope * abs(place - other) for other in range(7)]


def test_linear_biases_follow_type_and_device_and_save_nothing():
    module, x = LinearBiases(4), torch.zeros(1, 4, 3, SIZE)
    assert module(x.double(), x.double()).dtype == torch.float64
    assert module(x.to("meta"), x.to("meta")).device.type == "meta"
    assert not module.state_dict()
    far = torch.zeros(1, 4, 1000, SIZE)
    half = module(far[:, :, :1].bfloat16(), far.bfloat16())
    assert half.dtype == torch.bfloat16 and torch.equal(half, module(far[:, :, :1], far).bfloat16())
