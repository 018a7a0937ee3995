"""Lesson 9: further and cheaper."""

import cmath
import math

import numpy as np
import torch
from torch.nn import functional as F

from wrong_answers import right, right_value, wrong, wrong_value

# ---- turned ----


@wrong(
    "turned", "it raises RuntimeError: addmv input tensors must have the same dtype, but got Double, Float, and Double"
)
def matrix_in_float32(pair, angle):
    c, s = math.cos(angle), math.sin(angle)
    return torch.tensor([[c, -s], [s, c]]) @ pair


@wrong("turned", "it returns something of type map, not a tensor of shape (2,)")
def mapped(pair, angle):
    return map(float, by_matrix(pair, angle))


@wrong("turned", "it changes its argument pair in place")
def into_the_caller(pair, angle):
    x, y = pair.tolist()
    pair[0] = x * math.cos(angle) - y * math.sin(angle)
    pair[1] = x * math.sin(angle) + y * math.cos(angle)
    return pair


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


def rotate_every_two(x):
    return torch.stack([-x[..., 1::2], x[..., ::2]], -1).reshape(x.shape)


@wrong("rotary", "only the first pair is turned")
def whole_powers(x, start):
    d = x.shape[-1]
    return interleaved(x, angle_table(x, start, 10000 ** (-2 * torch.arange(d // 2) // d)))


@wrong("rotary", "only the first pair is turned")
def powers_of_two_i_alone(x, start):
    return interleaved(x, angle_table(x, start, 10000.0 ** (-2 * torch.arange(x.shape[-1] // 2))))


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


@wrong("rotary", "it calls course_lib.positions, which isn't allowed here")
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


@wrong("alibi", "the slopes are rounded to 0")
def powers_of_whole_numbers(heads, queries, keys):
    slopes = 2 ** (-8 * torch.arange(1, heads + 1) // heads)
    return -slopes[:, None, None] * distances(queries, keys)


@wrong("alibi", "it returns a list of 4 tensors, not a tensor of shape (4, 3, 3)")
def a_list_of_heads(heads, queries, keys):
    return [-slope * distances(queries, keys) for slope in powers(heads)]


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


@wrong(
    "merge_tiles",
    "it raises RuntimeError: Boolean value of Tensor with more than one value is ambiguous",
)
def max_of_python(tile, other):
    m = max(tile[0], other[0])
    a, b = (tile[0] - m).exp(), (other[0] - m).exp()
    return m, a * tile[1] + b * other[1], a[:, None] * tile[2] + b[:, None] * other[2]


@wrong("merge_tiles", "the results are in the wrong order")
def o_before_l(tile, other):
    m, total, o = merged_in_order(tile, other)
    return m, o, total


@wrong("merge_tiles", "the results are in the wrong order")
def l_before_m(tile, other):
    m, total, o = merged_in_order(tile, other)
    return total, m, o


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


@wrong("window", "it returns something of type generator, not a tensor of shape (6, 6)")
def rows_one_by_one(length, width):
    return (row for row in two_loops(length, width))


@wrong("window", "the result is not boolean")
def ones_and_zeros(length, width):
    return torch.ones(length, length).tril().triu(1 - width)


@wrong("window", "the result is not boolean")
def minus_infinity(length, width):
    return torch.zeros(length, length).masked_fill(~square(length).tril().triu(1 - width), -torch.inf)


@wrong("window", "the numbers are right, but in shape (1, 6, 6) instead of (6, 6)")
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


@wrong("linear_step", "in result 3 of 3, the numbers are not right")
def divided_by_one_at_least(S, z, query, key, value):
    S, z, _ = one_step(S, z, positive(query), positive(key), value)
    return S, z, positive(query) @ S / (positive(query) @ z).clamp(min=1)


@wrong("linear_step", "the results are in the wrong order")
def z_first(S, z, query, key, value):
    S, z, output = one_step(S, z, positive(query), positive(key), value)
    return z, S, output


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


@wrong("cache_bytes", "everything is 0")
def nothing(words, layers, heads, sets, model_size, bits):
    return 0


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
    """Rows turned as at the positions start, start + 1, …"""
    return interleaved(x[None], angle_table(x[None], start).double())[0]


@right("write_on")
def cache_in_order(x, past, W_q, W_k, W_v):
    n = past[0].shape[0]
    query, key, value = placed(x @ W_q, n), placed(x @ W_k, n), x @ W_v
    keys, values = torch.cat([past[0], key]), torch.cat([past[1], value])
    return (query @ keys.T / keys.shape[1] ** 0.5).softmax(-1) @ values, (keys, values)


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

wrong_value("known_up_to", [6, 12, 12], "[6, 12, 12] has 3 of 4 entries")
wrong_value("known_up_to", [6, 11, 12, 19], "entry 2 of [6, 11, 12, 19] is not right")
wrong_value("known_up_to", ["6", "12", "12", "19"], "'6' is text")
right_value("known_up_to", [6, 12, 12, 19])
right_value("known_up_to", torch.tensor([6, 12, 12, 19]))


# ---- written from the text alone ----


@wrong("turned", "the turn goes the other way")
def turned_clockwise(pair, angle):
    x, y = pair
    return torch.stack([x * math.cos(angle) + y * math.sin(angle), y * math.cos(angle) - x * math.sin(angle)])


@wrong("turned", "the angle is taken for degrees")
def turned_in_degrees(pair, angle):
    angle = math.radians(angle)
    x, y = pair
    c, s = math.cos(angle), math.sin(angle)
    return torch.stack([x * c - y * s, x * s + y * c])


@wrong("turned", "the second number is computed from the new first one")
def turned_step_by_step_with_the_new_x(pair, angle):
    x, y = pair[0], pair[1]
    x = x * math.cos(angle) - y * math.sin(angle)
    y = x * math.sin(angle) + y * math.cos(angle)
    return [float(x), float(y)]


@wrong("rotary", "the numbers are paired across two halves")
def rotary_halves(x, start):
    heads, n, d = x.shape
    i = torch.arange(d // 2)
    theta = torch.arange(start, start + n)[:, None] * 10000.0 ** (-2 * i / d)
    c, s = theta.cos().to(x.dtype), theta.sin().to(x.dtype)
    a, b = x[..., : d // 2], x[..., d // 2 :]
    return torch.cat([a * c - b * s, a * s + b * c], dim=-1)


@wrong("rotary", "start is not used")
def rotary_start_forgotten(x, start):
    out = x.clone()
    for p in range(x.shape[1]):
        for i in range(x.shape[2] // 2):
            angle = p * 10000 ** (-2 * i / x.shape[2])
            c, s = math.cos(angle), math.sin(angle)
            out[:, p, 2 * i] = x[:, p, 2 * i] * c - x[:, p, 2 * i + 1] * s
            out[:, p, 2 * i + 1] = x[:, p, 2 * i] * s + x[:, p, 2 * i + 1] * c
    return out


@wrong("rotary", "the exponent is i/d, not 2i/d")
def rotary_speed_by_i_over_d(x, start):
    heads, n, d = x.shape
    speeds = 10000.0 ** (-torch.arange(d // 2) / d)
    theta = torch.arange(start, start + n)[:, None] * speeds
    c, s = theta.cos().to(x.dtype), theta.sin().to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]
    out = torch.empty_like(x)
    out[..., 0::2] = even * c - odd * s
    out[..., 1::2] = even * s + odd * c
    return out


@wrong("alibi", "the queries are taken for the first words")
def alibi_queries_from_the_first(heads, queries, keys):
    m = 2.0 ** (-8 * torch.arange(1, heads + 1) / heads)
    i, j = torch.arange(queries)[:, None], torch.arange(keys)[None]
    return -m[:, None, None] * (i - j).abs()


@wrong("alibi", "heads are counted from 0")
def alibi_heads_from_zero(heads, queries, keys):
    out = torch.zeros(heads, queries, keys)
    for h in range(heads):
        for i in range(queries):
            for j in range(keys):
                out[h, i, j] = -(2 ** (-8 * h / heads)) * abs(i + keys - queries - j)
    return out


@wrong("alibi", "later keys get higher scores")
def alibi_signed_distance(heads, queries, keys):
    m = 2.0 ** (-8 * torch.arange(1, heads + 1) / heads)
    i, j = torch.arange(keys - queries, keys)[:, None], torch.arange(keys)[None]
    return -m[:, None, None] * (i - j)


@wrong("merge_tiles", "the sums are added as they are")
def tiles_simply_added(tile, other):
    m = torch.maximum(tile[0], other[0])
    return m, tile[1] + other[1], tile[2] + other[2]


@wrong("merge_tiles", "exp of a score overflows")
def tiles_back_to_plain_powers(tile, other):
    m1, l1, o1 = tile
    m2, l2, o2 = other
    m = torch.max(m1, m2)
    total = (l1 * m1.exp() + l2 * m2.exp()) / m.exp()
    o = (o1 * m1.exp()[:, None] + o2 * m2.exp()[:, None]) / m.exp()[:, None]
    return m, total, o


@wrong("merge_tiles", "o is already divided by ℓ")
def tiles_divided_already(tile, other):
    (m1, l1, o1), (m2, l2, o2) = tile, other
    m = torch.maximum(m1, m2)
    a, b = torch.exp(m1 - m), torch.exp(m2 - m)
    total = a * l1 + b * l2
    return m, total, (a[:, None] * o1 + b[:, None] * o2) / total[:, None]


@wrong("window", "the window reaches to both sides")
def window_on_both_sides(length, width):
    i = torch.arange(length)
    return (i[:, None] - i).abs() < width


@wrong("window", "the window is one key too wide")
def window_width_and_itself(length, width):
    rows = []
    for i in range(length):
        rows.append([i - width <= j <= i for j in range(length)])
    return torch.tensor(rows)


@wrong("window", "the window looks ahead")
def window_rows_and_columns_exchanged(length, width):
    places = np.arange(length)
    back = places[None, :] - places[:, None]
    return (back >= 0) & (back < width)


@wrong("reach", "every layer adds a whole window")
def reach_width_times_layers(width, layers):
    return width * layers


@wrong("reach", "the last word itself is not counted")
def reach_without_the_word_itself(width, layers):
    return (width - 1) * layers


@wrong("reach", "each layer multiplies the reach")
def reach_to_the_power(width, layers):
    return width**layers


@wrong("linear_step", "the state is read before the word is added")
def linear_reads_before_it_writes(S, z, query, key, value):
    q, k = F.elu(query) + 1, F.elu(key) + 1
    output = q @ S / (q @ z)
    return S + torch.outer(k, value), z + k, output


@wrong("linear_step", "φ is not applied to the query")
def linear_without_phi_of_query(S, z, query, key, value):
    k = F.elu(key) + 1
    S = S + k[:, None] * value[None]
    z = z + k
    return S, z, (query @ S) / (query @ z)


@wrong("linear_step", "it changes its argument S in place")
def linear_in_place(S, z, query, key, value):
    q = torch.where(query > 0, query + 1, query.exp())
    k = torch.where(key > 0, key + 1, key.exp())
    S += torch.outer(k, value)
    z += k
    return S, z, q @ S / (q @ z)


@wrong("cache_bytes", "only the keys are counted, or only the values")
def cache_keys_only(words, layers, heads, sets, model_size, bits):
    return words * layers * sets * (model_size // heads) * bits // 8


@wrong("cache_bytes", "half a byte is rounded")
def cache_bytes_per_number_whole(words, layers, heads, sets, model_size, bits):
    bytes_per_number = bits // 8
    return 2 * words * layers * sets * model_size // heads * bytes_per_number


@wrong("cache_bytes", "keys and values are counted for every head, not for every set")
def cache_every_head(words, layers, heads, sets, model_size, bits):
    head = model_size / heads
    return 2 * words * layers * heads * head * bits / 8


def turn(x, start=0):
    n, k = x.shape
    angles = torch.arange(start, start + n)[:, None] * 10000.0 ** (-torch.arange(0, k, 2) / k)
    c, s = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x[:, ::2], x[:, 1::2]
    return torch.stack([a * c - b * s, a * s + b * c], -1).flatten(-2)


@wrong("write_on", "the position is fixed, but values are still turned")
def write_on_values_still_turned(x, past, W_q, W_k, W_v):
    place = len(past[0])
    query, key, value = turn(x @ W_q, place), turn(x @ W_k, place), turn(x @ W_v, place)
    keys, values = torch.cat([past[0], key]), torch.cat([past[1], value])
    scores = query @ keys.T / keys.shape[1] ** 0.5
    return scores.softmax(-1) @ values, (keys, values)


@wrong("write_on", "every new word is at position 0")
def write_on_only_values_mended(x, past, W_q, W_k, W_v):
    query, key, value = turn(x @ W_q), turn(x @ W_k), x @ W_v
    keys, values = torch.cat([past[0], key]), torch.cat([past[1], value])
    scores = query @ keys.T / keys.shape[1] ** 0.5
    return scores.softmax(-1) @ values, (keys, values)


@wrong("write_on", "the new word is one position too late")
def write_on_place_counted_after(x, past, W_q, W_k, W_v):
    keys = torch.cat([past[0], x @ W_k])
    values = torch.cat([past[1], x @ W_v])
    place = keys.shape[0]
    query = turn(x @ W_q, place)
    keys = torch.cat([past[0], turn(keys[-1:], place)])
    scores = query @ keys.T / math.sqrt(keys.shape[1])
    return torch.softmax(scores, -1) @ values, (keys, values)


wrong_value("known_up_to", [7, 13, 13, 20], "these are the first positions without the name")
wrong_value("known_up_to", [8, 16, 14, 19], "every layer reaches back a whole window")
wrong_value("known_up_to", [3, 3, 6, 19], "this is what one layer sees")


@wrong("merge_tiles", "the exponent has the wrong sign")
def tiles_exponent_turned(tile, other):
    m = torch.maximum(tile[0], other[0])
    a, b = ((m - tile[0]).exp(), (m - other[0]).exp())
    return (m, a * tile[1] + b * other[1], a[:, None] * tile[2] + b[:, None] * other[2])


@wrong("linear_step", "the output is not divided")
def linear_undivided(S, z, query, key, value):
    q, k = (F.elu(query) + 1, F.elu(key) + 1)
    S, z = (S + torch.outer(k, value), z + k)
    return (S, z, q @ S)


@wrong("linear_step", "φ is relu")
def linear_relu(S, z, query, key, value):
    q, k = (F.relu(query), F.relu(key))
    S, z = (S + torch.outer(k, value), z + k)
    return (S, z, q @ S / (q @ z))


@wrong("cache_bytes", "a key has as many numbers as the whole vector")
def cache_whole_vectors(words, layers, heads, sets, model_size, bits):
    return 2 * words * layers * sets * model_size * bits / 8


@wrong("alibi", "the slopes are those of eight heads")
def alibi_slopes_of_eight_heads(heads, queries, keys):
    m = torch.tensor([2.0 ** (-h) for h in range(1, heads + 1)])
    i = torch.arange(keys - queries, keys)
    return -m[:, None, None] * (i[:, None] - torch.arange(keys)).abs()


@wrong("write_on", "large scores overflow")
def write_on_by_hand(x, past, W_q, W_k, W_v):
    n = past[0].shape[0]
    keys = torch.vstack([past[0], turn(x @ W_k, n)])
    values = torch.vstack([past[1], x @ W_v])
    e = torch.exp(turn(x @ W_q, n) @ keys.T / math.sqrt(keys.shape[1]))
    return (e / e.sum()) @ values, (keys, values)
