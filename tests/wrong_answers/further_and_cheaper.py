"""Lesson 9: further and cheaper."""

import cmath
import math

import numpy as np
import torch
from torch.nn import functional as F

from wrong_answers import right, right_value, wrong, wrong_value

# ---- turned ----


@wrong("turned", "it turns the other way")
def clockwise(pair, angle):
    c, s = math.cos(angle), math.sin(angle)
    return torch.tensor([[c, s], [-s, c]], dtype=pair.dtype) @ pair


@wrong("turned", "it turns the other way")
def row_times_matrix(pair, angle):
    c, s = math.cos(angle), math.sin(angle)
    return pair @ torch.tensor([[c, -s], [s, c]], dtype=pair.dtype)


@wrong("turned", "it turns the other way")
def negative_exponent(pair, angle):
    z = complex(pair[0], pair[1]) * cmath.exp(-1j * angle)
    return [z.real, z.imag]


@wrong("turned", "the angle is taken for degrees")
def with_deg2rad(pair, angle):
    t = np.deg2rad(angle)
    x, y = pair
    return x * np.cos(t) - y * np.sin(t), x * np.sin(t) + y * np.cos(t)


@wrong("turned", "the angle is made into degrees")
def with_rad2deg(pair, angle):
    return by_matrix(pair, float(np.rad2deg(angle)))


@wrong(
    "turned", "it raises RuntimeError: addmv input tensors must have the same dtype, but got Double, Float, and Double"
)
def matrix_in_float32(pair, angle):
    c, s = math.cos(angle), math.sin(angle)
    return torch.tensor([[c, -s], [s, c]]) @ pair


@wrong("turned", "it returns something of type map")
def mapped(pair, angle):
    return map(float, by_matrix(pair, angle))


@wrong("turned", "sine and cosine have changed places")
def sine_first(pair, angle):
    x, y = pair
    c, s = math.sin(angle), math.cos(angle)
    return x * c - y * s, x * s + y * c


@wrong("turned", "the second number is made of the new first one")
def overwritten(pair, angle):
    x, y = pair
    x = x * math.cos(angle) - y * math.sin(angle)
    y = x * math.sin(angle) + y * math.cos(angle)
    return x, y


@wrong("turned", "the first number is made of the new second one")
def overwritten_from_behind(pair, angle):
    new = pair.clone()
    new[1] = new[0] * math.sin(angle) + new[1] * math.cos(angle)
    new[0] = new[0] * math.cos(angle) - new[1] * math.sin(angle)
    return new


@wrong("turned", "no minus sign is there")
def all_plus(pair, angle):
    x, y = pair
    return [x * math.cos(angle) + y * math.sin(angle), x * math.sin(angle) + y * math.cos(angle)]


@wrong("turned", "the minus sign stands before another product")
def minus_below(pair, angle):
    x, y = pair
    return [x * math.cos(angle) + y * math.sin(angle), x * math.sin(angle) - y * math.cos(angle)]


@wrong("turned", "there are two minus signs")
def minus_in_both(pair, angle):
    x, y = pair
    return [x * math.cos(angle) - y * math.sin(angle), x * math.sin(angle) - y * math.cos(angle)]


@wrong("turned", "there are two minus signs")
def minus_in_both_the_other_way(pair, angle):
    x, y = pair
    return [x * math.cos(angle) - y * math.sin(angle), y * math.cos(angle) - x * math.sin(angle)]


@wrong("turned", "the two results have changed places")
def y_first(pair, angle):
    x, y = pair
    return [x * math.sin(angle) + y * math.cos(angle), x * math.cos(angle) - y * math.sin(angle)]


@wrong("turned", "each number is multiplied by itself alone")
def number_by_number(pair, angle):
    return pair * torch.tensor([math.cos(angle), math.sin(angle)])


@wrong("turned", "each number is multiplied by the cosine alone")
def shortened(pair, angle):
    return pair * math.cos(angle)


@wrong("turned", "cosine and sine are added")
def code_added(pair, angle):
    return pair + torch.tensor([math.sin(angle), math.cos(angle)])


@wrong("turned", "cosine and sine are added")
def hand_added(pair, angle):
    return pair + torch.tensor([math.cos(angle), math.sin(angle)])


@wrong("turned", "it is turned *to* the angle, not by it")
def length_at_the_angle(pair, angle):
    return pair.norm() * torch.tensor([math.cos(angle), math.sin(angle)])


@wrong("turned", "the pair's own direction is taken without its quadrant")
def atan_of_the_quotient(pair, angle):
    at, length = torch.atan(pair[1] / pair[0]) + angle, torch.hypot(*pair)
    return [length * torch.cos(at), length * torch.sin(at)]


@wrong("turned", "it is (y, x) that is turned")
def atan2_of_x_and_y(pair, angle):
    at = math.atan2(pair[0], pair[1]) + angle
    return math.hypot(*pair) * math.cos(at), math.hypot(*pair) * math.sin(at)


@wrong("turned", "it is (y, x) that is turned")
def taken_from_the_pair_as_y_and_x(pair, angle):
    y, x = pair
    c, s = math.cos(angle), math.sin(angle)
    return torch.stack([x * c - y * s, x * s + y * c])


@wrong("turned", "it changes its argument pair in place")
def into_the_caller(pair, angle):
    x, y = pair.tolist()
    pair[0] = x * math.cos(angle) - y * math.sin(angle)
    pair[1] = x * math.sin(angle) + y * math.cos(angle)
    return pair


@wrong("turned", "the result is complex")
def complex_number(pair, angle):
    return torch.complex(*pair) * cmath.exp(1j * angle)


@right("turned")
def by_matrix(pair, angle):
    c, s = math.cos(angle), math.sin(angle)
    return torch.tensor([[c, -s], [s, c]], dtype=pair.dtype) @ pair


@right("turned")
def by_complex_numbers(pair, angle):
    z = complex(*pair.tolist()) * cmath.rect(1, angle)
    return z.real, z.imag


@right("turned")
def by_its_own_angle(pair, angle):
    length, at = math.hypot(*pair.tolist()), math.atan2(pair[1], pair[0])
    return np.array([length * np.cos(at + angle), length * np.sin(at + angle)])


# ---- rotary ----


def angle_table(x, start, speeds=None):
    n, d = x.shape[1:]
    speeds = 10000.0 ** (-torch.arange(0, d, 2) / d) if speeds is None else speeds
    return torch.outer(torch.arange(start, start + n).float(), speeds)


def interleaved(x, angles):
    c, s = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    new = torch.empty_like(x)
    new[..., 0::2] = x[..., 0::2] * c - x[..., 1::2] * s
    new[..., 1::2] = x[..., 0::2] * s + x[..., 1::2] * c
    return new


def rotate_half(x):
    one, two = x.chunk(2, -1)
    return torch.cat([-two, one], -1)


def rotate_every_two(x):
    return torch.stack([-x[..., 1::2], x[..., ::2]], -1).reshape(x.shape)


@wrong("rotary", "the numbers are paired across two halves")
def as_in_llama(x, start):
    angles = angle_table(x, start).repeat(1, 2)
    return (x * angles.cos() + rotate_half(x) * angles.sin()).to(x.dtype)


@wrong("rotary", "all first numbers stand first, then all second ones")
def joined_with_cat(x, start):
    angles = angle_table(x, start)
    even, odd = x[..., ::2], x[..., 1::2]
    return torch.cat(
        [even * angles.cos() - odd * angles.sin(), even * angles.sin() + odd * angles.cos()], -1
    ).to(x.dtype)  # fmt: skip


@wrong("rotary", "the halves are turned as pairs, and put together as neighbours")
def halves_in_stacked_out(x, start):
    angles, half = angle_table(x, start), x.shape[-1] // 2
    one, two = x[..., :half], x[..., half:]
    new = one * angles.cos() - two * angles.sin(), one * angles.sin() + two * angles.cos()
    return torch.stack(new, -1).flatten(-2).to(x.dtype)


@wrong("rotary", "the two numbers of a pair get different angles")
def cat_with_every_two(x, start):
    angles = torch.cat([angle_table(x, start)] * 2, -1)
    return (x * angles.cos() + rotate_every_two(x) * angles.sin()).to(x.dtype)


@wrong("rotary", "the two numbers of a pair get different angles")
def interleave_with_half(x, start):
    angles = angle_table(x, start).repeat_interleave(2, -1)
    return (x * angles.cos() + rotate_half(x) * angles.sin()).to(x.dtype)


@wrong("rotary", "each number has a speed of its own")
def speed_for_each_column(x, start):
    n, d = x.shape[1:]
    angles = torch.arange(start, start + n)[:, None] / 10000 ** (torch.arange(d) / d)
    return (x * angles.cos() + rotate_every_two(x) * angles.sin()).to(x.dtype)


@wrong("rotary", "each number has a speed of its own")
def columns_for_pairs(x, start):
    n, d = x.shape[1:]
    angles = torch.arange(start, start + n)[:, None] / 10000 ** (2 * torch.arange(d) / d)
    return (x * angles.cos() + rotate_every_two(x) * angles.sin()).to(x.dtype)


@wrong("rotary", "it turns the other way")
def backwards(x, start):
    return interleaved(x, -angle_table(x, start))


@wrong("rotary", "it turns the other way")
def conjugated(x, start):
    z = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)).contiguous())
    angles = angle_table(x, start).double()
    return torch.view_as_real(z * torch.polar(torch.ones_like(angles), angles).conj()).flatten(-2).to(x.dtype)


@wrong("rotary", "sine and cosine have changed places")
def sine_for_cosine(x, start):
    angles = angle_table(x, start)
    s, c = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    even, odd = x[..., ::2], x[..., 1::2]
    return torch.stack([even * c - odd * s, even * s + odd * c], -1).flatten(-2)


@wrong("rotary", "the second number is made of the new first one")
def written_over(x, start):
    angles, new = angle_table(x, start), x.clone()
    c, s = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    new[..., ::2] = new[..., ::2] * c - new[..., 1::2] * s
    new[..., 1::2] = new[..., ::2] * s + new[..., 1::2] * c
    return new


@wrong("rotary", "no minus sign is there")
def swapped_without_minus(x, start):
    angles = angle_table(x, start).repeat_interleave(2, -1)
    swapped = torch.stack([x[..., 1::2], x[..., ::2]], -1).flatten(-2)
    return (x * angles.cos() + swapped * angles.sin()).to(x.dtype)


@wrong("rotary", "the minus sign stands before another product")
def minus_on_the_second(x, start):
    angles = angle_table(x, start)
    c, s = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    even, odd = x[..., ::2], x[..., 1::2]
    return torch.stack([even * c + odd * s, even * s - odd * c], -1).flatten(-2)


@wrong("rotary", "the two numbers of each pair have changed places")
def second_first(x, start):
    return interleaved(x, angle_table(x, start)).unflatten(-1, (-1, 2)).flip(-1).flatten(-2)


@wrong("rotary", "only the first number of each pair is turned")
def odd_ones_forgotten(x, start):
    new = x.clone()
    new[..., ::2] = interleaved(x, angle_table(x, start))[..., ::2]
    return new


@wrong("rotary", "only the first pair is turned")
def range_of_one(x, start):
    new = x.clone()
    for n in range(x.shape[1]):
        c, s = math.cos(start + n), math.sin(start + n)
        new[:, n, 0], new[:, n, 1] = x[:, n, 0] * c - x[:, n, 1] * s, x[:, n, 0] * s + x[:, n, 1] * c
    return new


@wrong("rotary", "only the first pair is turned")
def whole_powers(x, start):
    d = x.shape[-1]
    return interleaved(x, angle_table(x, start, 10000 ** (-2 * torch.arange(d // 2) // d)))


@wrong("rotary", "the places run along the axis of the heads")
def heads_for_words(x, start):
    speeds = 10000.0 ** (-torch.arange(0, x.shape[-1], 2) / x.shape[-1])
    places = torch.arange(start, start + x.shape[0]).float()
    return interleaved(x, (places[:, None] * speeds)[:, None])


@wrong("rotary", "there are as many places as heads")
def len_of_x(x, start):
    speeds = 10000.0 ** (-torch.arange(0, x.shape[-1], 2) / x.shape[-1])
    return interleaved(x, torch.outer(torch.arange(start, start + len(x)).float(), speeds))


@wrong("rotary", "start is not used")
def always_from_0(x, start):
    return interleaved(x, angle_table(x, 0))


@wrong("rotary", "places are counted from 1")
def from_1(x, start):
    return interleaved(x, angle_table(x, start + 1))


@wrong("rotary", "all words are turned alike")
def one_angle_for_all(x, start):
    d = x.shape[-1]
    return interleaved(x, start * 10000.0 ** (-torch.arange(0, d, 2) / d))


@wrong("rotary", "the number of the pair is taken for the place")
def i_for_n(x, start):
    d, new = x.shape[-1], x.clone()
    for i in range(d // 2):
        t = i * 10000 ** (-2 * i / d)
        new[..., 2 * i] = x[..., 2 * i] * math.cos(t) - x[..., 2 * i + 1] * math.sin(t)
        new[..., 2 * i + 1] = x[..., 2 * i] * math.sin(t) + x[..., 2 * i + 1] * math.cos(t)
    return new


@wrong("rotary", "the number of the pair is taken for the place")
def n_in_the_exponent(x, start):
    n, d = x.shape[1:]
    places = torch.arange(start, start + n, dtype=torch.float64)[:, None]
    return interleaved(x, torch.arange(d // 2) * 10000 ** (-2 * places / d))


@wrong("rotary", "the exponent is i/d, not 2i/d")
def forgot_the_two(x, start):
    d = x.shape[-1]
    return interleaved(x, angle_table(x, start, 10000.0 ** (-torch.arange(d // 2) / d)))


@wrong("rotary", "the exponent is not divided by d")
def powers_of_i_alone(x, start):
    return interleaved(x, angle_table(x, start, 10000.0 ** -torch.arange(x.shape[-1] // 2)))


@wrong("rotary", "only the first pair is turned")
def powers_of_two_i_alone(x, start):
    return interleaved(x, angle_table(x, start, 10000.0 ** (-2 * torch.arange(x.shape[-1] // 2))))


@wrong("rotary", "the exponent is doubled twice")
def two_of_two_i(x, start):
    d = x.shape[-1]
    return interleaved(x, angle_table(x, start, 10000.0 ** (-2 * torch.arange(0, d, 2) / d)))


@wrong("rotary", "the exponent is doubled twice")
def d_is_the_number_of_pairs(x, start):
    d = x.shape[-1] // 2
    return interleaved(x, angle_table(x, start, 10000.0 ** (-2 * torch.arange(d) / d)))


@wrong("rotary", "the speeds grow from pair to pair")
def no_minus_in_the_exponent(x, start):
    d = x.shape[-1]
    speeds = 10000.0 ** (torch.arange(0, d, 2, dtype=torch.float64) / d)
    return interleaved(x, torch.arange(start, start + x.shape[1], dtype=torch.float64)[:, None] * speeds)


@wrong("rotary", "the speeds grow from pair to pair")
def no_minus_in_float32(x, start):
    return interleaved(x, angle_table(x, start, 10000.0 ** (torch.arange(0, x.shape[-1], 2) / x.shape[-1])))


@wrong("rotary", "the speeds grow from pair to pair")
def divided_with_a_minus(x, start):
    n, d = x.shape[1:]
    return interleaved(x, (start + torch.arange(n))[:, None] / 10000 ** (-torch.arange(0, d, 2) / d))


@wrong("rotary", "all pairs turn at the same speed")
def radians_a_word(x, start):
    return interleaved(x, angle_table(x, start, torch.ones(x.shape[-1] // 2)))


@wrong("rotary", "all pairs turn at the same speed")
def rounded_exponent(x, start):
    d = x.shape[-1]
    return interleaved(x, angle_table(x, start, 1 / 10000.0 ** (torch.arange(0, d, 2) // d)))


@wrong("rotary", "the exponent is rounded to a whole number")
def rounded_down(x, start):
    d = x.shape[-1]
    return interleaved(x, angle_table(x, start, 10000.0 ** (-torch.arange(0, d, 2) // d)))


@wrong("rotary", "pairs are counted from 1")
def i_from_1(x, start):
    d = x.shape[-1]
    return interleaved(x, angle_table(x, start, 10000.0 ** (-2 * torch.arange(1, d // 2 + 1) / d)))


@wrong("rotary", "the exponent of the last pair is 1")
def with_linspace(x, start):
    return interleaved(x, angle_table(x, start, 10000.0 ** -torch.linspace(0, 1, x.shape[-1] // 2)))


@wrong("rotary", "the base is 1000")
def a_zero_too_few(x, start):
    d = x.shape[-1]
    return interleaved(x, angle_table(x, start, 1000.0 ** (-torch.arange(0, d, 2) / d)))


@wrong("rotary", "the angle is taken for degrees")
def in_degrees(x, start):
    return interleaved(x, angle_table(x, start).deg2rad())


@wrong("rotary", "the sinusoidal code is added")
def as_in_lesson_5(x, start):
    angles = angle_table(x, start)
    return (x + torch.stack([angles.sin(), angles.cos()], -1).flatten(-2)).to(x.dtype)


@wrong("rotary", "the sinusoidal code is added")
def hands_added(x, start):
    angles = angle_table(x, start)
    return (x + torch.stack([angles.cos(), angles.sin()], -1).flatten(-2)).to(x.dtype)


@wrong("rotary", "the vector is multiplied by the code, number by number")
def times_the_code(x, start):
    angles = angle_table(x, start)
    return (x * torch.stack([angles.cos(), angles.sin()], -1).flatten(-2)).to(x.dtype)


@wrong("rotary", "the result is complex")
def left_complex(x, start):
    z = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    angles = angle_table(x, start)
    return z * torch.polar(torch.ones_like(angles), angles)


@wrong("rotary", "it changes its argument x in place")
def slices_of_the_caller(x, start):
    angles = angle_table(x, start)
    c, s = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    even, odd = x[..., ::2].clone(), x[..., 1::2].clone()
    x[..., ::2], x[..., 1::2] = even * c - odd * s, even * s + odd * c
    return x


@wrong("rotary", "axis 0 is missing")
def only_the_first_head(x, start):
    return interleaved(x, angle_table(x, start))[0]


@wrong("rotary", "it calls course_lib.positions, which is not to be used")
def from_the_library(x, start):
    from course_lib.positions import RotaryPositions

    return RotaryPositions(x.shape[-1])(x[None], start)[0]


@right("rotary")
def with_three_loops(x, start):
    heads, n, d = x.shape
    new = torch.zeros_like(x)
    for head in range(heads):
        for word in range(n):
            for i in range(d // 2):
                new[head, word, 2 * i : 2 * i + 2] = by_matrix(
                    x[head, word, 2 * i : 2 * i + 2], (start + word) * 10000 ** (-2 * i / d)
                )
    return new


@right("rotary")
def with_complex_numbers(x, start):
    z = torch.view_as_complex(x.float().unflatten(-1, (-1, 2)).contiguous())
    angles = angle_table(x, start)
    return torch.view_as_real(z * torch.polar(torch.ones_like(angles), angles)).flatten(2).to(x.dtype)


@right("rotary")
def in_numpy(x, start):
    x, d = np.asarray(x), x.shape[-1]
    angles = np.arange(start, start + x.shape[1])[:, None] / 10000 ** (np.arange(0, d, 2) / d)
    new = np.empty_like(x)
    new[..., ::2] = x[..., ::2] * np.cos(angles) - x[..., 1::2] * np.sin(angles)
    new[..., 1::2] = x[..., ::2] * np.sin(angles) + x[..., 1::2] * np.cos(angles)
    return new


@right("rotary")
def with_matrices(x, start):
    angles = angle_table(x, start)
    c, s = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    turn = torch.stack([torch.stack([c, -s], -1), torch.stack([s, c], -1)], -2)  # (n, pair, 2, 2)
    return torch.einsum("npij,hnpj->hnpi", turn, x.unflatten(-1, (-1, 2))).flatten(-2)


@right("rotary")
def cosine_and_swapped(x, start):
    angles = angle_table(x, start).repeat_interleave(2, -1)
    return (x * angles.cos() + rotate_every_two(x) * angles.sin()).to(x.dtype)


# ---- alibi ----


def distances(queries, keys):
    return (torch.arange(keys - queries, keys)[:, None] - torch.arange(keys)).abs()


def powers(heads):
    return 2.0 ** (-8 * torch.arange(1, heads + 1) / heads)


@wrong("alibi", "far keys gain, where they should lose")
def no_minus(heads, queries, keys):
    return powers(heads)[:, None, None] * distances(queries, keys)


@wrong("alibi", "later keys gain")
def without_abs(heads, queries, keys):
    apart = torch.arange(keys - queries, keys)[:, None] - torch.arange(keys)
    return -powers(heads)[:, None, None] * apart


@wrong("alibi", "earlier keys gain")
def key_minus_query(heads, queries, keys):
    apart = torch.arange(keys)[None] - torch.arange(keys - queries, keys)[:, None]
    return -powers(heads)[:, None, None] * apart


@wrong("alibi", "later keys are masked")
def masked_too(heads, queries, keys):
    bias = -powers(heads)[:, None, None] * distances(queries, keys)
    later = torch.ones(queries, keys).triu(keys - queries + 1).bool()
    return bias.masked_fill(later, -torch.inf)


@wrong("alibi", "later keys have no bias")
def tril_of_the_distance(heads, queries, keys):
    return -powers(heads)[:, None, None] * distances(queries, keys).tril(keys - queries)


@wrong("alibi", "earlier keys have no bias")
def triu_of_the_distance(heads, queries, keys):
    return -powers(heads)[:, None, None] * distances(queries, keys).triu(keys - queries)


@wrong("alibi", "the queries are taken for the first words")
def both_from_0(heads, queries, keys):
    apart = (torch.arange(queries)[:, None] - torch.arange(keys)).abs()
    return -powers(heads)[:, None, None] * apart


@wrong("alibi", "the queries stand one place too far")
def from_keys_minus_queries_plus_one(heads, queries, keys):
    apart = (torch.arange(keys - queries + 1, keys + 1)[:, None] - torch.arange(keys)).abs()
    return -powers(heads)[:, None, None] * apart


@wrong("alibi", "the queries stand one place too early")
def up_to_the_last_but_one(heads, queries, keys):
    places = torch.arange(keys) - 1
    return -powers(heads)[:, None, None] * (places[keys - queries :, None] - torch.arange(keys)).abs()


@wrong("alibi", "all queries stand at the last place")
def counted_from_the_end(heads, queries, keys):
    back = torch.arange(keys).flip(0)
    return -powers(heads)[:, None, None] * back.repeat(queries, 1)


@wrong("alibi", "the word itself is one away")
def words_counted(heads, queries, keys):
    return -powers(heads)[:, None, None] * (distances(queries, keys) + 1)


@wrong("alibi", "the bias is made of the key's place")
def as_in_the_authors_code(heads, queries, keys):
    return powers(heads)[:, None, None] * torch.arange(keys).expand(queries, keys)


@wrong("alibi", "the bias is made of the key's place")
def minus_the_place(heads, queries, keys):
    return (-powers(heads)[:, None] * torch.arange(keys))[:, None].repeat(1, queries, 1)


@wrong("alibi", "the distance is squared")
def squared(heads, queries, keys):
    return -powers(heads)[:, None, None] * distances(queries, keys) ** 2


@wrong("alibi", "the logarithm of the distance is taken")
def logarithmic(heads, queries, keys):
    return -powers(heads)[:, None, None] * (1 + distances(queries, keys)).log()


@wrong("alibi", "the slopes are those of eight heads")
def halves_always(heads, queries, keys):
    slopes = torch.tensor([1 / 2**h for h in range(1, heads + 1)])
    return -slopes[:, None, None] * distances(queries, keys)


@wrong("alibi", "all heads have the same slope")
def one_slope(heads, queries, keys):
    return -(2 ** (-8 / heads)) * distances(queries, keys).repeat(heads, 1, 1)


@wrong("alibi", "all heads have the same slope")
def no_slope(heads, queries, keys):
    return -distances(queries, keys).repeat(heads, 1, 1)


@wrong("alibi", "all heads have the same slope")
def last_slope(heads, queries, keys):
    for h in range(1, heads + 1):
        slope = 2 ** (-8 * h / heads)
    return -slope * distances(queries, keys).expand(heads, queries, keys)


@wrong("alibi", "heads are counted from 0")
def arange_of_heads(heads, queries, keys):
    return -(2.0 ** (-8 * torch.arange(heads) / heads))[:, None, None] * distances(queries, keys)


@wrong("alibi", "heads are counted from 0")
def halves_from_1(heads, queries, keys):
    return -(0.5 ** torch.arange(heads))[:, None, None] * distances(queries, keys)


@wrong("alibi", "the slopes stand in reverse order")
def flattest_first(heads, queries, keys):
    return -powers(heads).flip(0)[:, None, None] * distances(queries, keys)


@wrong("alibi", "the 8 is left out of the exponent")
def no_eight(heads, queries, keys):
    slopes = 2.0 ** (-torch.arange(1, heads + 1) / heads)
    return -slopes[:, None, None] * distances(queries, keys)


@wrong("alibi", "the exponent is turned upside down")
def eight_over_h(heads, queries, keys):
    slopes = 2.0 ** (-8 / torch.arange(1, heads + 1))
    return -slopes[:, None, None] * distances(queries, keys)


@wrong("alibi", "the exponent is turned upside down")
def heads_times_h(heads, queries, keys):
    slopes = 2.0 ** (-heads * torch.arange(1, heads + 1) / 8)
    return -slopes[:, None, None] * distances(queries, keys)


@wrong("alibi", "the power is taken of e")
def with_exp(heads, queries, keys):
    slopes = torch.exp(-8 * torch.arange(1, heads + 1) / heads)
    return -slopes[:, None, None] * distances(queries, keys)


@wrong("alibi", "the exponent stands there without its power")
def linear_slopes(heads, queries, keys):
    slopes = 8 * torch.arange(1, heads + 1) / heads
    return -slopes[:, None, None] * distances(queries, keys)


@wrong("alibi", "the minus of the exponent is left out")
def steep(heads, queries, keys):
    slopes = 2.0 ** (8 * torch.arange(1, heads + 1) / heads)
    return -slopes[:, None, None] * distances(queries, keys)


@wrong("alibi", "the exponent is rounded to a whole number")
def whole_exponents(heads, queries, keys):
    slopes = torch.tensor([2.0 ** -(8 * h // heads) for h in range(1, heads + 1)])
    return -slopes[:, None, None] * distances(queries, keys)


@wrong("alibi", "the exponent is rounded to a whole number")
def whole_steps(heads, queries, keys):
    slopes = torch.tensor([0.5 ** (8 // heads * h) for h in range(1, heads + 1)])
    return -slopes[:, None, None] * distances(queries, keys)


@wrong("alibi", "the slopes are rounded to 0")
def powers_of_whole_numbers(heads, queries, keys):
    slopes = 2 ** (-8 * torch.arange(1, heads + 1) // heads)
    return -slopes[:, None, None] * distances(queries, keys)


@wrong("alibi", "there is a row for every word, not for every query")
def square_table(heads, queries, keys):
    return -powers(heads)[:, None, None] * distances(keys, keys)


@wrong("alibi", "the queries are taken for the first words")
def first_rows_of_the_square(heads, queries, keys):
    return (-powers(heads)[:, None, None] * distances(keys, keys))[:, :queries]


@wrong("alibi", "the axis of the heads stands last")
def heads_last(heads, queries, keys):
    return -powers(heads) * distances(queries, keys)[:, :, None]


@wrong("alibi", "it returns 4 things, not a tensor of shape (4, 3, 3)")
def a_list_of_heads(heads, queries, keys):
    return [-slope * distances(queries, keys) for slope in powers(heads)]


@wrong("alibi", "queries and keys have changed axes")
def keys_in_rows(heads, queries, keys):
    return -powers(heads)[:, None, None] * distances(queries, keys).T


@right("alibi")
def cell_by_cell(heads, queries, keys):
    return [
        [[-(2 ** (-8 * h / heads)) * abs(keys - queries + q - k) for k in range(keys)] for q in range(queries)]
        for h in range(1, heads + 1)
    ]


@right("alibi")
def with_numpy(heads, queries, keys):
    apart = np.abs(np.arange(keys)[-queries:, None] - np.arange(keys))
    return -np.multiply.outer(0.5 ** (8 * np.arange(1, heads + 1) / heads), apart)


@right("alibi")
def with_einsum(heads, queries, keys):
    ratio = 2 ** (-8 / heads)
    slopes = torch.tensor([ratio ** (h + 1) for h in range(heads)])
    return torch.einsum("h,qk->hqk", -slopes, distances(keys, keys)[keys - queries :].float())


# ---- merge_tiles ----


def both_factors(tile, other):
    m = torch.maximum(tile[0], other[0])
    return m, torch.exp(tile[0] - m), torch.exp(other[0] - m)


@wrong("merge_tiles", "the sums are added as they are")
def just_added(tile, other):
    return torch.maximum(tile[0], other[0]), tile[1] + other[1], tile[2] + other[2]


@wrong("merge_tiles", "ℓ is brought to the new maximum, o is not")
def o_as_it_was(tile, other):
    m, a, b = both_factors(tile, other)
    return m, a * tile[1] + b * other[1], tile[2] + other[2]


@wrong("merge_tiles", "o is brought to the new maximum, ℓ is not")
def l_as_it_was(tile, other):
    m, a, b = both_factors(tile, other)
    return m, tile[1] + other[1], a[:, None] * tile[2] + b[:, None] * other[2]


@wrong("merge_tiles", "only the first tile is brought to the new maximum")
def only_the_old_sums(tile, other):
    m, a, _ = both_factors(tile, other)
    return m, a * tile[1] + other[1], a[:, None] * tile[2] + other[2]


@wrong("merge_tiles", "only the second tile is brought to the new maximum")
def only_the_new_sums(tile, other):
    m, _, b = both_factors(tile, other)
    return m, tile[1] + b * other[1], tile[2] + b[:, None] * other[2]


@wrong("merge_tiles", "the exponent has the wrong sign")
def grows(tile, other):
    m = torch.maximum(tile[0], other[0])
    a, b = (m - tile[0]).exp(), (m - other[0]).exp()
    return m, a * tile[1] + b * other[1], a[:, None] * tile[2] + b[:, None] * other[2]


@wrong("merge_tiles", "each tile has the other's factor")
def crossed_factors(tile, other):
    m, b, a = both_factors(tile, other)
    return m, a * tile[1] + b * other[1], a[:, None] * tile[2] + b[:, None] * other[2]


@wrong("merge_tiles", "each factor is made of the other tile's maximum")
def difference_of_the_maxima(tile, other):
    a, b = (tile[0] - other[0]).exp(), (other[0] - tile[0]).exp()
    m = torch.maximum(tile[0], other[0])
    return m, a * tile[1] + b * other[1], a[:, None] * tile[2] + b[:, None] * other[2]


@wrong("merge_tiles", "the factor has no exponential")
def forgot_exp(tile, other):
    m = torch.maximum(tile[0], other[0])
    a, b = tile[0] - m, other[0] - m
    return m, a * tile[1] + b * other[1], a[:, None] * tile[2] + b[:, None] * other[2]


@wrong("merge_tiles", "the factor is a quotient of the maxima")
def in_proportion(tile, other):
    m = torch.maximum(tile[0], other[0])
    a, b = tile[0] / m, other[0] / m
    return m, a * tile[1] + b * other[1], a[:, None] * tile[2] + b[:, None] * other[2]


@wrong("merge_tiles", "powers of 2 are taken, not of e")
def with_exp2(tile, other):
    m = torch.maximum(tile[0], other[0])
    a, b = torch.exp2(tile[0] - m), torch.exp2(other[0] - m)
    return m, a * tile[1] + b * other[1], a[:, None] * tile[2] + b[:, None] * other[2]


@wrong("merge_tiles", "o is divided by ℓ already")
def divided_too_early(tile, other):
    m, a, b = both_factors(tile, other)
    total = a * tile[1] + b * other[1]
    return m, total, (a[:, None] * tile[2] + b[:, None] * other[2]) / total[:, None]


@wrong("merge_tiles", "only the output comes out")
def output_alone(tile, other):
    _, total, o = divided_too_early(tile, other)
    return o


@wrong("merge_tiles", "only o comes out")
def o_alone(tile, other):
    return merged_in_order(tile, other)[2]


@wrong("merge_tiles", "the outputs of both tiles are averaged")
def half_and_half(tile, other):
    m, a, b = both_factors(tile, other)
    return m, a * tile[1] + b * other[1], 0.5 * (tile[2] / tile[1][:, None] + other[2] / other[1][:, None])


@wrong("merge_tiles", "the outputs of both tiles are averaged")
def half_and_half_as_a_sum(tile, other):
    m, total, output = half_and_half(tile, other)
    return m, total, output * total[:, None]


@wrong("merge_tiles", "the mean is taken, not the sum")
def means(tile, other):
    m, total, o = merged_in_order(tile, other)
    return m, total / 2, o / 2


@wrong("merge_tiles", "the outputs are weighted by ℓ alone")
def weighted_by_their_sums(tile, other):
    m, a, b = both_factors(tile, other)
    one, two = tile[2] / tile[1][:, None], other[2] / other[1][:, None]
    share = (tile[1] / (tile[1] + other[1]))[:, None]
    return m, a * tile[1] + b * other[1], share * one + (1 - share) * two


@wrong("merge_tiles", "o is taken for an output that is divided already")
def outputs_come_in(tile, other):
    m, a, b = both_factors(tile, other)
    one, two = a * tile[1], b * other[1]
    return m, one + two, (one[:, None] * tile[2] + two[:, None] * other[2]) / (one + two)[:, None]


@wrong("merge_tiles", "o is taken for an output that is divided already")
def outputs_come_in_and_sums_go_out(tile, other):
    m, a, b = both_factors(tile, other)
    one, two = a * tile[1], b * other[1]
    return m, one + two, one[:, None] * tile[2] + two[:, None] * other[2]


@wrong("merge_tiles", "only the tile with the larger maximum is kept")
def loser_dropped(tile, other):
    first = (tile[0] >= other[0]).tolist()
    rows = [[(x if mine else y)[i] for i, mine in enumerate(first)] for x, y in zip(tile, other, strict=True)]
    return tuple(torch.stack(row) for row in rows)


@wrong("merge_tiles", "all queries share one maximum")
def maximum_of_all(tile, other):
    m = torch.max(tile[0].max(), other[0].max())
    a, b = (tile[0] - m).exp(), (other[0] - m).exp()
    return m, a * tile[1] + b * other[1], a[:, None] * tile[2] + b[:, None] * other[2]


@wrong("merge_tiles", "all queries share one maximum")
def maximum_of_all_spread_out(tile, other):
    m, total, o = maximum_of_all(tile, other)
    return m.repeat(len(total)), total, o


@wrong("merge_tiles", "the smaller maximum is taken")
def minimum(tile, other):
    m = torch.min(tile[0], other[0])
    a, b = (tile[0] - m).exp(), (other[0] - m).exp()
    return m, a * tile[1] + b * other[1], a[:, None] * tile[2] + b[:, None] * other[2]


@wrong("merge_tiles", "m is always that of the second tile")
def newest(tile, other):
    a = (tile[0] - other[0]).exp()
    return other[0], a * tile[1] + other[1], a[:, None] * tile[2] + other[2]


@wrong("merge_tiles", "m is always that of the first tile")
def oldest(tile, other):
    b = (other[0] - tile[0]).exp()
    return tile[0], tile[1] + b * other[1], tile[2] + b[:, None] * other[2]


@wrong("merge_tiles", "the maxima are added")
def everything_added(tile, other):
    _, total, o = merged_in_order(tile, other)
    return tile[0] + other[0], total, o


@wrong("merge_tiles", "the −∞ of an empty tile is replaced by a number")
def finite(tile, other):
    return merged_in_order(*((torch.nan_to_num(m, neginf=0.0), total, o) for m, total, o in (tile, other)))


@wrong("merge_tiles", "the −∞ of an empty tile is replaced by a number")
def first_tile_finite(tile, other):
    m, total, o = tile
    return merged_in_order((torch.where(total == 0, 0.0, m), total, o), other)


@wrong("merge_tiles", "the −∞ of an empty tile is replaced by a number")
def second_tile_finite(tile, other):
    m, total, o = other
    return merged_in_order(tile, (m if total.any() else torch.zeros_like(m), total, o))


@wrong("merge_tiles", "the −∞ of an empty tile is replaced by a number")
def never_below_minus_100(tile, other):
    m, total, o = zip(tile, other, strict=True)
    m = [torch.full_like(one, -100) if not count.any() else one for one, count in zip(m, total, strict=True)]
    return merged_in_order(*zip(m, total, o, strict=True))


@wrong(
    "merge_tiles",
    "it raises RuntimeError: Boolean value of Tensor with more than one value is ambiguous",
)
def max_of_python(tile, other):
    m = max(tile[0], other[0])
    a, b = (tile[0] - m).exp(), (other[0] - m).exp()
    return m, a * tile[1] + b * other[1], a[:, None] * tile[2] + b[:, None] * other[2]


@wrong("merge_tiles", "the results stand in each other's places")
def o_before_l(tile, other):
    m, total, o = merged_in_order(tile, other)
    return m, o, total


@wrong("merge_tiles", "the results stand in each other's places")
def l_before_m(tile, other):
    m, total, o = merged_in_order(tile, other)
    return total, m, o


@wrong("merge_tiles", "exp of a score overflows")
def back_to_the_scores(tile, other):
    m = torch.maximum(tile[0], other[0])
    one, two = tile[0].exp(), other[0].exp()
    total = (one * tile[1] + two * other[1]) / m.exp()
    o = (one[:, None] * tile[2] + two[:, None] * other[2]) / m.exp()[:, None]
    return m, total, o


@wrong("merge_tiles", "the old maximum is handed on")
def m_not_written_back(tile, other):
    m, total, o = merged_in_order(tile, other)
    return tile[0], total, o


@wrong("merge_tiles", "the factors run along the numbers of a value")
def without_a_new_axis(tile, other):
    m, a, b = both_factors(tile, other)
    return m, a * tile[1] + b * other[1], a * tile[2] + b * other[2]


@wrong("merge_tiles", "it changes its argument tile in place")
def into_the_old_sums(tile, other):
    m, a, b = both_factors(tile, other)
    total, o = tile[1], tile[2]
    total *= a
    o *= a[:, None]
    return m, total + b * other[1], o + b[:, None] * other[2]


@right("merge_tiles")
def merged_in_order(tile, other):
    m, a, b = both_factors(tile, other)
    return m, a * tile[1] + b * other[1], a[:, None] * tile[2] + b[:, None] * other[2]


@right("merge_tiles")
def query_by_query(tile, other):
    rows = []
    for m_1, l_1, o_1, m_2, l_2, o_2 in zip(*tile, *other, strict=True):
        if m_1 >= m_2:
            shrink = math.exp(m_2 - m_1)
            rows.append((m_1, l_1 + shrink * l_2, o_1 + shrink * o_2))
        else:
            shrink = math.exp(m_1 - m_2)
            rows.append((m_2, shrink * l_1 + l_2, shrink * o_1 + o_2))
    return tuple(torch.stack(column) for column in zip(*rows, strict=True))


@right("merge_tiles")
def stacked(tile, other):
    maxima = np.stack([tile[0], other[0]])
    m = maxima.max(0)
    factors = np.exp(maxima - m)
    total = (factors * np.stack([tile[1], other[1]])).sum(0)
    return m, total, np.einsum("tq,tqd->qd", factors, np.stack([tile[2], other[2]]))


# ---- window ----


def square(length):
    return torch.ones(length, length, dtype=torch.bool)


@wrong("window", "the window is one key too wide")
def triu_of_minus_width(length, width):
    return square(length).tril().triu(-width)


@wrong("window", "the window is one key too narrow")
def off_by_one(length, width):
    return square(length).tril().triu(-width + 2)


@wrong("window", "a query does not see itself")
def strictly_before(length, width):
    return square(length).tril(-1).triu(-width)


@wrong("window", "a query does not see itself")
def strictly_before_and_narrow(length, width):
    return square(length).tril(-1).triu(1 - width)


@wrong("window", "the window reaches to both sides")
def band(length, width):
    return square(length).tril(width - 1).triu(1 - width)


@wrong("window", "the window reaches to both sides")
def wider_band(length, width):
    places = torch.arange(length)
    return (places[:, None] - places).abs() <= width


@wrong("window", "the window reaches to both sides")
def half_on_each_side(length, width):
    places = torch.arange(length)
    return (places[:, None] - places).abs() <= width // 2


@wrong("window", "the window looks ahead")
def transposed(length, width):
    return square(length).tril().triu(1 - width).T


@wrong("window", "later keys may be seen")
def only_triu(length, width):
    return square(length).triu(1 - width)


@wrong("window", "all keys may be seen")
def either_condition(length, width):
    back = torch.arange(length)[:, None] - torch.arange(length)
    return (back >= 0) | (back < width)


@wrong("window", "no key may be seen")
def triu_of_width(length, width):
    return square(length).tril().triu(width)


@wrong("window", "no key may be seen, unless the window is one wide")
def triu_without_a_minus(length, width):
    return square(length).tril().triu(width - 1)


@wrong("window", "it returns something of type generator")
def rows_one_by_one(length, width):
    return (row for row in two_loops(length, width))


@wrong("window", "far keys may be seen")
def causal_alone(length, width):
    return square(length).tril()


@wrong("window", "only what lies before the window may be seen")
def tril_for_triu(length, width):
    return square(length).tril() & square(length).tril(-width)


@wrong("window", "only what lies before the window may be seen")
def tril_with_triu_s_number(length, width):
    return square(length).tril() & square(length).tril(1 - width)


@wrong("window", "all later keys are seen, and no earlier ones")
def triu_for_tril(length, width):
    return square(length).triu() & square(length).triu(1 - width)


@wrong("window", "True and False have changed places")
def true_is_hidden(length, width):
    return ~square(length).tril().triu(1 - width)


@wrong("window", "the text is cut into pieces")
def in_blocks(length, width):
    block = torch.arange(length) // width
    return block[:, None] == block


@wrong("window", "the text is cut into pieces")
def in_causal_blocks(length, width):
    block = torch.arange(length) // width
    return (block[:, None] == block) & square(length).tril()


@wrong("window", "a query sees all of its own block and the one before")
def two_blocks(length, width):
    block = torch.arange(length) // width
    apart = block[:, None] - block
    return ((apart == 0) | (apart == 1)) & square(length).tril()


@wrong("window", "only the first keys may be seen")
def first_columns(length, width):
    mask = square(length).tril()
    mask[:, width:] = False
    return mask


@wrong("window", "the window goes round past the beginning")
def negative_places(length, width):
    mask = ~square(length)
    for query in range(length):
        for back in range(min(width, length)):
            mask[query, query - back] = True
    return mask


@wrong("window", "only one key may be seen")
def only_the_furthest(length, width):
    places = torch.arange(length)
    return places[:, None] - places == width - 1


@wrong("window", "rows whose window begins before the text are empty")
def from_the_first_full_row(length, width):
    mask = ~square(length)
    for query in range(width - 1, length):
        mask[query, query - width + 1 : query + 1] = True
    return mask


@wrong("window", "rows whose window begins before the text are empty")
def negative_slice(length, width):
    mask = np.zeros((length, length), dtype=bool)
    for query in range(length):
        mask[query, query - width + 1 : query + 1] = True
    return mask


@wrong("window", "the result is not boolean")
def ones_and_zeros(length, width):
    return torch.ones(length, length).tril().triu(1 - width)


@wrong("window", "the result is not boolean")
def minus_infinity(length, width):
    return torch.zeros(length, length).masked_fill(~square(length).tril().triu(1 - width), -torch.inf)


@wrong("window", "the numbers are right, but in the shape (1, 6, 6) in place of (6, 6)")
def with_more_axes(length, width):
    return square(length).tril().triu(1 - width)[None]


@right("window")
def two_loops(length, width):
    return [[query - width < key <= query for key in range(length)] for query in range(length)]


@right("window")
def two_corners(length, width):
    return square(length).tril() & square(length).triu(1 - width)


@right("window")
def row_by_row(length, width):
    mask = np.zeros((length, length), dtype=bool)
    for query in range(length):
        mask[query, max(0, query - width + 1) : query + 1] = True
    return mask


# ---- reach ----


for says, answer in (
    ("every layer adds a whole window", lambda width, layers: layers * width),
    ("the last word itself is not counted", lambda width, layers: sum(width - 1 for _ in range(layers))),
    ("a word is taken off once, not at every layer but the first", lambda width, layers: width * layers - 1),
    ("every layer adds a whole window, and one", lambda width, layers: 1 + layers * width),
    ("the reach is multiplied by each layer", lambda width, layers: width**layers),
    ("the reach is multiplied by each layer", lambda width, layers: 1 + (width - 1) ** layers),
    ("the reach is doubled by each layer", lambda width, layers: 2**layers * width // 2),
    ("every layer adds one word", lambda width, layers: width + (layers - 1)),
    ("the layers are not used", lambda width, layers: width),
    ("one layer is left out", lambda width, layers: 1 + sum(width - 1 for _ in range(1, layers))),
    ("one layer too many is counted", lambda width, layers: width + layers * (width - 1)),
    ("it reaches to both sides", lambda width, layers: 1 + 2 * layers * (width - 1)),
):
    answer.__name__ = says.replace(" ", "_")
    wrong("reach", says)(answer)


@right("reach")
def layer_by_layer(width, layers):
    furthest = 0
    for _ in range(layers):
        furthest += width - 1
    return furthest + 1


@right("reach")
def from_the_first_window(width, layers):
    return torch.tensor(width + (layers - 1) * (width - 1))


@right("reach")
def with_a_set_of_words(width, layers):
    there = {0}
    for _ in range(layers):
        there |= {min(there) - back for back in range(width)}
    return 1 - min(there)


@right("reach")
def with_all_sets_of_words(width, layers):
    there = {0}
    for _ in range(layers):
        there = {word - back for word in there for back in range(width)}
    return len(there)


@right("reach")
def power_of_the_mask(width, layers):
    mask = square(width * layers + 1).tril().triu(1 - width).double()
    return (torch.linalg.matrix_power(mask, layers)[-1] > 0).sum()


# ---- linear_step ----


def positive(x):
    return torch.where(x > 0, x + 1, x.exp())


def one_step(S, z, query, key, value):
    S, z = S + torch.outer(key, value), z + key
    return S, z, query @ S / (query @ z)


@wrong("linear_step", "φ is left out")
def raw_vectors(S, z, query, key, value):
    return one_step(S, z, query, key, value)


@wrong("linear_step", "φ is left out of the query")
def raw_query(S, z, query, key, value):
    return one_step(S, z, query, positive(key), value)


@wrong("linear_step", "φ is left out of the key")
def raw_key(S, z, query, key, value):
    return one_step(S, z, positive(query), key, value)


@wrong("linear_step", "φ is left out of the key in S")
def raw_key_in_S(S, z, query, key, value):
    S, z, query = S + torch.outer(key, value), z + positive(key), positive(query)
    return S, z, query @ S / (query @ z)


@wrong("linear_step", "φ is left out of the key in z")
def raw_key_in_z(S, z, query, key, value):
    S, z, query = S + torch.outer(positive(key), value), z + key, positive(query)
    return S, z, query @ S / (query @ z)


@wrong("linear_step", "φ is left out of the query in the divisor")
def raw_query_below(S, z, query, key, value):
    S, z, _ = one_step(S, z, query, positive(key), value)
    return S, z, positive(query) @ S / (query @ z)


@wrong("linear_step", "φ is left out of the query in the numerator")
def raw_query_above(S, z, query, key, value):
    S, z, _ = one_step(S, z, query, positive(key), value)
    return S, z, query @ S / (positive(query) @ z)


@wrong("linear_step", "φ acts on the value, too")
def all_three(S, z, query, key, value):
    return one_step(S, z, *map(positive, (query, key, value)))


@wrong("linear_step", "φ is elu, without the 1")
def elu_alone(S, z, query, key, value):
    return one_step(S, z, F.elu(query), F.elu(key), value)


@wrong("linear_step", "φ is relu")
def with_relu(S, z, query, key, value):
    return one_step(S, z, query.clamp(min=0), key.clamp(min=0), value)


@wrong("linear_step", "φ is relu + 1")
def with_relu_plus_1(S, z, query, key, value):
    return one_step(S, z, query.relu() + 1, key.relu() + 1, value)


@wrong("linear_step", "φ is the exponential")
def with_exp_everywhere(S, z, query, key, value):
    return one_step(S, z, query.exp(), key.exp(), value)


@wrong("linear_step", "φ is x above 0, without the 1")
def one_forgotten_above(S, z, query, key, value):
    return one_step(S, z, *(x.clamp(min=0) + (x <= 0) * x.exp() for x in (query, key)), value)


@wrong("linear_step", "the two branches of φ have changed places")
def branches_exchanged(S, z, query, key, value):
    return one_step(S, z, *(torch.where(x < 0, x + 1, x.exp()) for x in (query, key)), value)


@wrong("linear_step", "φ is x + 1, below 0 as well")
def plus_1(S, z, query, key, value):
    return one_step(S, z, query + 1, key + 1, value)


@wrong("linear_step", "the 1 is added before elu is taken")
def elu_of_x_plus_1(S, z, query, key, value):
    return one_step(S, z, F.elu(query + 1), F.elu(key + 1), value)


@wrong("linear_step", "φ is softplus")
def with_softplus(S, z, query, key, value):
    return one_step(S, z, (1 + query.exp()).log(), (1 + key.exp()).log(), value)


@wrong("linear_step", "φ is a softmax")
def with_softmax(S, z, query, key, value):
    return one_step(S, z, query.softmax(0), key.softmax(0), value)


@wrong("linear_step", "the query is divided by √d")
def scaled_query(S, z, query, key, value):
    return one_step(S, z, positive(query / math.sqrt(len(query))), positive(key), value)


@wrong("linear_step", "the output is not divided")
def without_z(S, z, query, key, value):
    S, z, _ = one_step(S, z, positive(query), positive(key), value)
    return S, z, positive(query) @ S


@wrong("linear_step", "in result 3 of 3, the numbers are not right")
def divided_by_one_at_least(S, z, query, key, value):
    S, z, output = without_z(S, z, query, key, value)
    return S, z, output / (positive(query) @ z).clamp(min=1)


@wrong("linear_step", "it is divided by the sum of z")
def sum_of_z(S, z, query, key, value):
    S, z, _ = one_step(S, z, positive(query), positive(key), value)
    return S, z, positive(query) @ S / z.sum()


@wrong("linear_step", "it is divided by z, number by number")
def entry_by_entry(S, z, query, key, value):
    S, z, _ = one_step(S, z, positive(query), positive(key), value)
    return S, z, positive(query) @ S / z


@wrong("linear_step", "the products of φ(query) and z are not summed")
def star_below(S, z, query, key, value):
    S, z, _ = one_step(S, z, positive(query), positive(key), value)
    return S, z, (S.T @ positive(query)) / torch.mul(z, positive(query))


@wrong("linear_step", "the results stand in each other's places")
def z_first(S, z, query, key, value):
    S, z, output = one_step(S, z, positive(query), positive(key), value)
    return z, S, output


@wrong("linear_step", "the query is divided by z before S is asked")
def query_over_z(S, z, query, key, value):
    S, z, _ = one_step(S, z, positive(query), positive(key), value)
    return S, z, (positive(query) / z) @ S


@wrong("linear_step", "it is divided by the query's own sum")
def query_sum(S, z, query, key, value):
    S, z, _ = one_step(S, z, positive(query), positive(key), value)
    return S, z, positive(query) @ S / positive(query).sum()


@wrong("linear_step", "the output is brought to length 1")
def unit_length(S, z, query, key, value):
    S, z, output = one_step(S, z, positive(query), positive(key), value)
    return S, z, output / output.norm()


@wrong("linear_step", "it reads before the word is taken in")
def reads_first(S, z, query, key, value):
    output = positive(query) @ S / (positive(query) @ z)
    return S + torch.outer(positive(key), value), z + positive(key), output


@wrong("linear_step", "it reads S before the word is taken in")
def old_S(S, z, query, key, value):
    new, z, _ = one_step(S, z, positive(query), positive(key), value)
    return new, z, positive(query) @ S / (positive(query) @ z)


@wrong("linear_step", "it reads z before the word is taken in")
def old_z(S, z, query, key, value):
    S, new, _ = one_step(S, z, positive(query), positive(key), value)
    return S, new, positive(query) @ S / (positive(query) @ z)


@wrong("linear_step", "the outer product is transposed")
def value_by_key(S, z, query, key, value):
    S, z = S + value[:, None] * positive(key), z + positive(key)
    return S, z, positive(query) @ S / (positive(query) @ z)


@wrong("linear_step", "the outer product is transposed")
def value_by_key_and_read_so(S, z, query, key, value):
    S, z = S + torch.outer(value, positive(key)), z + positive(key)
    return S, z, S @ positive(query) / (z @ positive(query))


@wrong("linear_step", "S is read the wrong way round")
def S_times_query(S, z, query, key, value):
    S, z = S + torch.outer(positive(key), value), z + positive(key)
    return S, z, S @ positive(query) / (z @ positive(query))


@wrong("linear_step", "key and value are multiplied number by number")
def star_for_outer(S, z, query, key, value):
    S, z = S + positive(key) * value, z + positive(key)
    return S, z, positive(query) @ S / (positive(query) @ z)


@wrong("linear_step", "one dot product is added everywhere")
def dot_for_outer(S, z, query, key, value):
    S, z = S + positive(key) @ value, z + positive(key)
    return S, z, positive(query) @ S / (positive(query) @ z)


@wrong("linear_step", "the words before are forgotten")
def assigned_both(S, z, query, key, value):
    S, z = torch.outer(positive(key), value), positive(key)
    return S, z, positive(query) @ S / (positive(query) @ z)


@wrong("linear_step", "the words before are forgotten in S")
def assigned_S(S, z, query, key, value):
    S, z = torch.outer(positive(key), value), z + positive(key)
    return S, z, positive(query) @ S / (positive(query) @ z)


@wrong("linear_step", "the words before are forgotten in z")
def assigned_z(S, z, query, key, value):
    S, z = S + torch.outer(positive(key), value), positive(key)
    return S, z, positive(query) @ S / (positive(query) @ z)


@wrong("linear_step", "z stays as it was")
def z_untouched(S, z, query, key, value):
    S = S + torch.outer(positive(key), value)
    return S, z, positive(query) @ S / (positive(query) @ z)


@wrong("linear_step", "z gains the value")
def value_in_z(S, z, query, key, value):
    S, z = S + torch.outer(positive(key), value), z + value
    return S, z, positive(query) @ S / (positive(query) @ z)


@wrong("linear_step", "z gains 1, as a counter")
def counter(S, z, query, key, value):
    S, z = S + torch.outer(positive(key), value), z + 1
    return S, z, positive(query) @ S / (positive(query) @ z)


@wrong("linear_step", "z gains the sum of the key's numbers")
def key_summed(S, z, query, key, value):
    S, z = S + torch.outer(positive(key), value), z + positive(key).sum()
    return S, z, positive(query) @ S / (positive(query) @ z)


@wrong("linear_step", "query and key have changed places")
def key_asks(S, z, query, key, value):
    return one_step(S, z, positive(key), positive(query), value)


@wrong("linear_step", "only the output comes out")
def answer_alone(S, z, query, key, value):
    return one_step(S, z, positive(query), positive(key), value)[-1]


@wrong("linear_step", "the output comes first")
def output_first(S, z, query, key, value):
    S, z, output = one_step(S, z, positive(query), positive(key), value)
    return output, S, z


@wrong("linear_step", "the state is handed back as it came")
def state_lost(S, z, query, key, value):
    return S, z, one_step(S, z, positive(query), positive(key), value)[-1]


@wrong("linear_step", "it changes its argument S in place")
def plus_equals(S, z, query, key, value):
    S += torch.outer(positive(key), value)
    z += positive(key)
    return S, z, positive(query) @ S / (positive(query) @ z)


@wrong("linear_step", "it returns 2 things, not 3")
def state_alone(S, z, query, key, value):
    return one_step(S, z, positive(query), positive(key), value)[:2]


@right("linear_step")
def by_hand(S, z, query, key, value):
    return one_step(S, z, positive(query), positive(key), value)


@right("linear_step")
def with_a_small_number_below(S, z, query, key, value):
    asked, kept = torch.nn.ELU()(query) + 1.0, torch.nn.ELU()(key) + 1.0
    S, z = torch.addr(S, kept, value), z + kept
    return S, z, torch.einsum("d,dv->v", asked, S) / (torch.dot(asked, z) + 1e-6)


@right("linear_step")
def number_by_number_in_loops(S, z, query, key, value):
    kept, asked = ([a + 1 if a > 0 else math.exp(a) for a in x.tolist()] for x in (key, query))
    S = [[S[a, b] + kept[a] * value[b] for b in range(len(value))] for a in range(len(kept))]
    z = [z[a] + kept[a] for a in range(len(kept))]
    below = sum(q * number for q, number in zip(asked, z, strict=True))
    output = [sum(asked[a] * S[a][b] for a in range(len(asked))) / below for b in range(len(value))]
    return torch.tensor(S), torch.tensor(z), torch.tensor(output)


@right("linear_step")
def in_numpy_too(S, z, query, key, value):
    asked, kept = (np.where(x > 0, x + 1, np.exp(x)) for x in (query.numpy(), key.numpy()))
    S, z = S.numpy() + np.outer(kept, value), z.numpy() + kept
    return S, z, asked @ S / (asked @ z)


# ---- cache_bytes ----


for says, answer in (
    ("only the keys are counted, or only the values", lambda n, L, h, g, d, b: n * L * g * (d // h) * b / 8),
    ("queries are counted, too", lambda n, L, h, g, d, b: 3 * n * L * g * (d // h) * b / 8),
    ("every head has keys and values of its own", lambda n, L, h, g, d, b: 2 * n * L * h * (d // h) * b / 8),
    (
        "every head has keys and values of its own, and only one of both is counted",
        lambda n, L, h, g, d, b: n * L * d * b / 8,
    ),
    ("a set has as many numbers as the whole model", lambda n, L, h, g, d, b: 2 * n * L * g * d * b / 8),
    ("the model size is divided by the sets", lambda n, L, h, g, d, b: 2 * n * L * h * d / g * b / 8),
    ("the number of sets is taken for the heads of a set", lambda n, L, h, g, d, b: 2 * n * L * d / g * b / 8),
    ("the sets are not counted", lambda n, L, h, g, d, b: 2 * n * L * (d // h) * b / 8),
    ("bits are counted, not bytes", lambda n, L, h, g, d, b: 2 * n * L * g * (d // h) * b),
    ("numbers are counted, not bytes", lambda n, L, h, g, d, b: 2 * n * L * g * (d // h)),
    ("every number has four bytes", lambda n, L, h, g, d, b: 8 * n * L * g * (d // h)),
    ("every number has two bytes", lambda n, L, h, g, d, b: 4 * n * L * g * (d // h)),
    ("half a byte is rounded", lambda n, L, h, g, d, b: 2 * n * L * g * (d // h) * (b // 8)),
    ("half a byte is rounded", lambda n, L, h, g, d, b: 2 * n * L * g * (d // h) * math.ceil(b / 8)),
    ("half a byte is rounded", lambda n, L, h, g, d, b: 2 * n * L * g * int(d // h * b / 8)),
    ("half a byte is rounded", lambda n, L, h, g, d, b: 2 * n * L * g * -(-d // h * b // 8)),
    ("8 is divided by the bits", lambda n, L, h, g, d, b: 16 * n * L * g * (d // h) / b),
    ("the sets of a head are rounded to a whole number", lambda n, L, h, g, d, b: n * L * int(g / h) * d * b // 4),
    ("everything is 0", lambda n, L, h, g, d, b: 0),
    ("the layers are not counted", lambda n, L, h, g, d, b: 2 * n * g * (d // h) * b / 8),
    ("one word alone is counted", lambda n, L, h, g, d, b: 2 * L * g * (d // h) * b / 8),
    ("it grows with the square of the words", lambda n, L, h, g, d, b: 2 * n**2 * L * g * (d // h) * b / 8),
    (
        "it is not in bytes, but in thousands, millions or more of them",
        lambda n, L, h, g, d, b: 2 * n * L * g * (d // h) * b / 8 / 1024**2,
    ),
    (
        "it is not in bytes, but in thousands, millions or more of them",
        lambda n, L, h, g, d, b: 2 * n * L * g * (d // h) * b / 8 / 1e9,
    ),
):
    answer.__name__ = says.replace(" ", "_")
    wrong("cache_bytes", says)(answer)


@right("cache_bytes")
def counted_from_the_inside(words, layers, heads, sets, model_size, bits):
    of_a_head = model_size / heads
    of_a_word = 2 * sets * of_a_head * layers
    return of_a_word * words * bits / 8


@right("cache_bytes")
def bits_first(words, layers, heads, sets, model_size, bits):
    return bits * sum(2 * sets * (model_size // heads) for _ in range(layers)) * words // 8


@right("cache_bytes")
def by_shape(words, layers, heads, sets, model_size, bits):
    return math.prod((2, layers, sets, words, model_size // heads)) * (bits / 8)


# ---- write_on ----


def placed(x, start=0):
    """Rows turned as at the places start, start + 1, …"""
    return interleaved(x[None], angle_table(x[None], start).double())[0]


def written_on(x, past, W_q, W_k, W_v, at_query, at_key, at_value=None):
    query, key, value = placed(x @ W_q, at_query), placed(x @ W_k, at_key), x @ W_v
    value = value if at_value is None else placed(value, at_value)
    keys, values = torch.cat([past[0], key]), torch.cat([past[1], value])
    return (query @ keys.T / keys.shape[1] ** 0.5).softmax(-1) @ values, (keys, values)


@wrong("write_on", "every new word stands at place 0")
def as_found(x, past, W_q, W_k, W_v):
    return written_on(x, past, W_q, W_k, W_v, 0, 0, 0)


@wrong("write_on", "every new word stands at place 0")
def values_mended(x, past, W_q, W_k, W_v):
    return written_on(x, past, W_q, W_k, W_v, 0, 0)


@wrong("write_on", "the place is mended, but values are still turned")
def places_mended(x, past, W_q, W_k, W_v):
    n = len(past[0])
    return written_on(x, past, W_q, W_k, W_v, n, n, n)


@wrong("write_on", "the query still stands at place 0")
def key_mended(x, past, W_q, W_k, W_v):
    return written_on(x, past, W_q, W_k, W_v, 0, len(past[0]))


@wrong("write_on", "the query still stands at place 0")
def key_mended_value_turned(x, past, W_q, W_k, W_v):
    n = len(past[0])
    return written_on(x, past, W_q, W_k, W_v, 0, n, n)


@wrong("write_on", "the key still stands at place 0")
def query_mended(x, past, W_q, W_k, W_v):
    return written_on(x, past, W_q, W_k, W_v, len(past[0]), 0)


@wrong("write_on", "the key still stands at place 0")
def query_mended_value_turned(x, past, W_q, W_k, W_v):
    return written_on(x, past, W_q, W_k, W_v, len(past[0]), 0, len(past[0]))


@wrong("write_on", "the new word stands one place too far")
def one_more(x, past, W_q, W_k, W_v):
    n = len(past[0]) + len(x)
    return written_on(x, past, W_q, W_k, W_v, n, n)


@wrong("write_on", "the new word stands one place too far")
def one_more_and_values(x, past, W_q, W_k, W_v):
    n = len(past[0]) + 1
    return written_on(x, past, W_q, W_k, W_v, n, n, n)


@wrong("write_on", "the new word stands one place too early")
def place_of_the_last(x, past, W_q, W_k, W_v):
    n = max(len(past[0]) - 1, 0)
    return written_on(x, past, W_q, W_k, W_v, n, n)


@wrong("write_on", "the new word stands one place too early")
def place_of_the_last_or_minus_1(x, past, W_q, W_k, W_v):
    n = past[0].shape[0] - 1
    return written_on(x, past, W_q, W_k, W_v, n, n)


@wrong("write_on", "the place of the new word has a minus")
def turned_back(x, past, W_q, W_k, W_v):
    n = -past[1].shape[0]
    return written_on(x, past, W_q, W_k, W_v, n, n)


@wrong("write_on", "the place of the new word has a minus")
def distance_in_the_key(x, past, W_q, W_k, W_v):
    return written_on(x, past, W_q, W_k, W_v, 0, -len(past[1]))


@wrong("write_on", "all numbers in the keys are counted, not the words")
def numbers_in_the_past(x, past, W_q, W_k, W_v):
    n = math.prod(past[1].shape)
    return written_on(x, past, W_q, W_k, W_v, n, n)


@wrong("write_on", "the query stands one place behind its key")
def counted_after_appending(x, past, W_q, W_k, W_v):
    keys = torch.cat([past[0], placed(x @ W_k, len(past[0]))])
    values = torch.cat([past[1], x @ W_v])
    query = placed(x @ W_q, len(keys))
    return (query @ keys.T / keys.shape[1] ** 0.5).softmax(-1) @ values, (keys, values)


@wrong("write_on", "the number of tensors is taken for the number of words")
def len_of_past(x, past, W_q, W_k, W_v):
    return written_on(x, past, W_q, W_k, W_v, len(past), len(past))


@wrong("write_on", "the number of tensors is taken for the number of words")
def len_of_past_for_all(x, past, W_q, W_k, W_v):
    return written_on(x, past, W_q, W_k, W_v, len(past), len(past), len(past))


@wrong("write_on", "the size of a key is taken for the number of words")
def numbers_of_a_key(x, past, W_q, W_k, W_v):
    n = past[0].shape[-1]
    return written_on(x, past, W_q, W_k, W_v, n, n)


@wrong("write_on", "the keys of the past are turned again")
def all_keys_turned(x, past, W_q, W_k, W_v):
    keys, values = torch.cat([past[0], x @ W_k]), torch.cat([past[1], x @ W_v])
    keys, query = placed(keys), placed(x @ W_q, len(past[0]))
    return (query @ keys.T / keys.shape[1] ** 0.5).softmax(-1) @ values, (keys, values)


@wrong("write_on", "the keys of the past are turned again")
def all_keys_turned_for_reading(x, past, W_q, W_k, W_v):
    keys, values = torch.cat([past[0], x @ W_k]), torch.cat([past[1], x @ W_v])
    query = placed(x @ W_q, len(past[0]))
    return (query @ placed(keys).T / keys.shape[1] ** 0.5).softmax(-1) @ values, (keys, values)


@wrong("write_on", "the key is kept as it was before the turn")
def raw_key_kept(x, past, W_q, W_k, W_v):
    output, (_, values) = cache_in_order(x, past, W_q, W_k, W_v)
    return output, (torch.cat([past[0], x @ W_k]), values)


@wrong("write_on", "the word itself is turned")
def x_turned(x, past, W_q, W_k, W_v):
    d = x.shape[1]
    turned = placed(torch.cat([x, x.new_zeros(1, d % 2)], 1), len(past[0]))[:, :d]
    keys, values = torch.cat([past[0], turned @ W_k]), torch.cat([past[1], turned @ W_v])
    return (turned @ W_q @ keys.T / keys.shape[1] ** 0.5).softmax(-1) @ values, (keys, values)


@wrong("write_on", "the word itself is turned")
def x_turned_by_the_library(x, past, W_q, W_k, W_v):
    return x_turned_for_the_scores(x, past, W_q, W_k, W_v, for_the_value=True)


@wrong("write_on", "the word itself is turned")
def x_turned_for_the_scores(x, past, W_q, W_k, W_v, for_the_value=False):
    from course_lib.positions import RotaryPositions

    turned = RotaryPositions(x.shape[1])(x[None, None], len(past[0]))[0, 0]
    keys = torch.cat([past[0], turned @ W_k])
    values = torch.cat([past[1], (turned if for_the_value else x) @ W_v])
    return (turned @ W_q @ keys.T / keys.shape[1] ** 0.5).softmax(-1) @ values, (keys, values)


@wrong("write_on", "the past is handed back as it came")
def past_untouched(x, past, W_q, W_k, W_v):
    return cache_in_order(x, past, W_q, W_k, W_v)[0], past


@wrong("write_on", "only the new key and value are handed back")
def new_ones_alone(x, past, W_q, W_k, W_v):
    output, (keys, values) = cache_in_order(x, past, W_q, W_k, W_v)
    return output, (keys[-1:], values[-1:])


@wrong("write_on", "keys and values have changed places")
def values_first(x, past, W_q, W_k, W_v):
    output, (keys, values) = cache_in_order(x, past, W_q, W_k, W_v)
    return output, (values, keys)


@wrong("write_on", "a word does not see itself")
def appended_at_the_end(x, past, W_q, W_k, W_v):
    n = len(past[0])
    weights = (placed(x @ W_q, n) @ past[0].T / W_k.shape[1] ** 0.5).softmax(-1)
    key, value = placed(x @ W_k, n), x @ W_v
    return weights @ past[1], (torch.cat([past[0], key]), torch.cat([past[1], value]))


@wrong("write_on", "the new key is put in front")
def cat_the_other_way(x, past, W_q, W_k, W_v):
    n = len(past[0])
    keys, values = torch.cat([placed(x @ W_k, n), past[0]]), torch.cat([x @ W_v, past[1]])
    return (placed(x @ W_q, n) @ keys.T / keys.shape[1] ** 0.5).softmax(-1) @ values, (keys, values)


@wrong("write_on", "the scores are not divided by √k")
def unscaled(x, past, W_q, W_k, W_v):
    _, (keys, values) = cache_in_order(x, past, W_q, W_k, W_v)
    return (placed(x @ W_q, len(past[0])) @ keys.T).softmax(-1) @ values, (keys, values)


@wrong("write_on", "the scores are divided by √d of the word")
def scaled_by_the_word(x, past, W_q, W_k, W_v):
    _, (keys, values) = cache_in_order(x, past, W_q, W_k, W_v)
    scores = placed(x @ W_q, len(past[0])) @ keys.T / math.sqrt(x.numel())
    return scores.softmax(-1) @ values, (keys, values)


@wrong("write_on", "only the output comes out")
def no_past(x, past, W_q, W_k, W_v):
    return cache_in_order(x, past, W_q, W_k, W_v)[0]


@right("write_on")
def cache_in_order(x, past, W_q, W_k, W_v):
    n = past[0].shape[0]
    return written_on(x, past, W_q, W_k, W_v, n, n)


@right("write_on")
def counted_at_the_end(x, past, W_q, W_k, W_v):
    values = torch.cat([past[1], x @ W_v])
    keys = torch.cat([past[0], placed(x @ W_k, len(values) - 1)])
    query = placed(x @ W_q, len(keys) - 1)
    return F.scaled_dot_product_attention(query, keys, values), [keys, values]


@right("write_on")
def with_the_library(x, past, W_q, W_k, W_v):
    from course_lib.positions import RotaryPositions

    place, turn = len(past[1]), RotaryPositions(W_k.shape[1])
    query, key = (turn(row[None, None], place)[0, 0] for row in (x @ W_q, x @ W_k))
    keys, values = np.concatenate([past[0], key]), np.concatenate([past[1], x @ W_v])
    scores = query.numpy() @ keys.T / np.sqrt(keys.shape[1])
    weights = np.exp(scores - scores.max())
    return weights / weights.sum() @ values, (keys, values)


# ---- known_up_to ----


for value, says in (
    ([8, 16, 14, 19], "every layer leads a whole window back"),
    ([7, 13, 13, 20], "these are the first places without the name"),
    ([7, 13, 13, 19], "the windows' models are one place too far"),
    ([5, 11, 11, 19], "the windows' models are one place too near"),
    ([5, 11, 11, 18], "all are one place too near"),
    ([7, 15, 13, 19], "every layer leads a whole window back"),
    ([6, 12, 12, 20], "D's last place is one too far"),
    ([6, 12, 12, 18], "D's last place is one too near"),
    ([3, 3, 6, 19], "that is what one layer sees"),
    ([6, 12, 14, 19], "B and C are taken for different"),
    ([6, 12, 12, 12], "linear attention is taken for a window"),
    ([6, 12, 12, 3], "linear attention is taken for a window"),
    ([6, 12, 12, 0], "linear attention is thought to know nothing"),
    ([19, 19, 19, 19], "all are thought to know it to the end"),
    ([12, 12, 6, 19], "the models stand in another order"),
    ([12, 6, 12, 19], "the models stand in another order"),
    (6, "that is one number"),
    ([6, 12, 12], "[6, 12, 12] has 3 of 4 entries"),
    ([6, 11, 12, 19], "entry 2 of [6, 11, 12, 19] is not right"),
    (["6", "12", "12", "19"], "'6' is text"),
):
    wrong_value("known_up_to", value, says)
right_value("known_up_to", [6, 12, 12, 19])
right_value("known_up_to", torch.tensor([6, 12, 12, 19]))
