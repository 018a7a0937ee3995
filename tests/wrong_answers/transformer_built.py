"""Lesson 5: the Transformer, built."""

import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from course_lib import masks, positions
from wrong_answers import right, right_value, wrong, wrong_value

# ---- add_positions ----


def numpy_code(places, d):
    pair = np.arange(d) // 2
    angles = np.asarray(places)[:, None] * 10000.0 ** (-2 * pair / d)
    return np.where(np.arange(d) % 2 == 0, np.sin(angles), np.cos(angles))


@wrong("add_positions", "it changes its argument x in place")
def adds_in_place(x, start):
    x += torch.from_numpy(numpy_code(np.arange(x.shape[1]) + start, x.shape[2])).type_as(x)
    return x


@wrong("add_positions", "it returns nothing")
def forgets_to_return(x, start):
    code = torch.from_numpy(numpy_code(np.arange(x.shape[1]) + start, x.shape[2]))
    x = x + code


@right("add_positions")
def word_by_word(x, start):
    placed = []
    for k, vectors in enumerate(x.unbind(1)):
        row = []
        for i in range(x.size(2) // 2):
            turn = (start + k) / math.pow(10000, 2 * i / x.size(2))
            row.extend((math.sin(turn), math.cos(turn)))
        placed.append(vectors + torch.tensor(row, dtype=x.dtype))
    return torch.stack(placed, dim=1)


@right("add_positions")
def float32_with_exp_and_log(x, start):
    d = x.size(-1)
    position = torch.arange(start, start + x.size(1), dtype=torch.float).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d, 2).float() * (-math.log(10000.0) / d))
    pe = torch.zeros(x.size(1), d)
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)
    return x + pe.unsqueeze(0)


@right("add_positions")
def one_angle_a_column(x, start):
    return x.numpy() + numpy_code(range(start, start + x.shape[1]), x.shape[2])[None]


# ---- layer_norm ----


@wrong("layer_norm", "the norm runs over the words")
def last_axis_but_one(x, gain, bias, epsilon):
    values = x.numpy()
    mean, variance = values.mean(-2, keepdims=True), values.var(-2, keepdims=True)
    return torch.from_numpy((values - mean) / np.sqrt(variance + epsilon)) * gain + bias


@right("layer_norm")
def vector_by_vector(x, gain, bias, epsilon):
    done = []
    for vector in x.reshape(-1, x.shape[-1]):
        mean = sum(vector) / len(vector)
        variance = sum((number - mean) ** 2 for number in vector) / len(vector)
        parts = zip(vector, gain, bias, strict=True)
        done.append(torch.stack([g * (v - mean) / (variance + epsilon) ** 0.5 + b for v, g, b in parts]))
    return torch.stack(done).view(x.shape)


@right("layer_norm")
def numpy_norm(x, gain, bias, epsilon):
    values = np.asarray(x)
    deviation = values - values.mean(-1, keepdims=True)
    return deviation / np.sqrt(np.mean(deviation**2, -1, keepdims=True) + epsilon) * np.asarray(gain) + np.asarray(bias)


@right("layer_norm")
def var_told_what_to_do(x, gain, bias, epsilon):
    mean, var = x.mean(-1, True), x.var(-1, unbiased=False, keepdim=True)
    return torch.addcmul(bias, gain, (x - mean) / torch.sqrt(var + epsilon))


# ---- pre_norm_layer ----


@wrong("pre_norm_layer", "it changes its argument x in place")
def plus_equals(x, mask, attend, feed, norm_1, norm_2):
    x += attend(norm_1(x), mask)
    x += feed(norm_2(x))
    return x


@right("pre_norm_layer")
def in_a_loop(x, mask, attend, feed, norm_1, norm_2):
    for part, norm in ((lambda y: attend(y, mask), norm_1), (feed, norm_2)):
        x = x + part(norm(x))
    return x


@right("pre_norm_layer")
def in_one_line_each(x, mask, attend, feed, norm_1, norm_2):
    return (lambda y: torch.add(feed(norm_2(y)), y))(torch.add(attend(norm_1(x), mask=mask), x))


@right("pre_norm_layer")
def with_other_names(vectors, may_look, attention, feed_forward, norm_a, norm_b):
    vectors = vectors + attention(norm_a(vectors), may_look)
    return vectors + feed_forward(norm_b(vectors))


# ---- three_masks ----


def triangle(m):
    return torch.tril(torch.ones(m, m, dtype=torch.bool))


@right("three_masks")
def spread_over_all_axes(source, target, pad):
    n, m = source.shape[1], target.shape[1]
    encoder = (source != pad)[:, None, None, :].repeat(1, 1, n, 1)
    decoder = (target != pad)[:, None, None, :].repeat(1, 1, m, 1) * triangle(m)
    cross = (source != pad)[:, None, None, :].repeat(1, 1, m, 1)
    return [encoder, decoder, cross]


@right("three_masks")
def with_numpy(source, target, pad):
    english, french = source.numpy() != pad, target.numpy() != pad
    places = np.arange(french.shape[1])
    decoder = french[:, None, None] & (places[None, :] <= places[:, None])
    return english[:, None, None], decoder, english[:, None, None]


@right("three_masks")
def masks_in_loops(source, target, pad):
    (b, n), m = source.shape, target.shape[1]
    encoder, decoder, cross = (torch.zeros(b, 1, *s, dtype=torch.bool) for s in ((n, n), (m, m), (m, n)))
    for s in range(b):
        for key in range(n):
            encoder[s, 0, :, key] = cross[s, 0, :, key] = bool(source[s, key] != pad)
        for query in range(m):
            for key in range(query + 1):
                decoder[s, 0, query, key] = bool(target[s, key] != pad)
    return encoder, decoder, cross


@right("three_masks")
def closed_ones_turned_round(source, target, pad):
    closed = source.eq(pad).unsqueeze(1).unsqueeze(2)
    m = target.shape[1]
    later = torch.triu(torch.ones(1, 1, m, m), diagonal=1) == 1
    return ~closed, ~(target.eq(pad).unsqueeze(1).unsqueeze(2) | later), ~closed


@wrong("three_masks", "in result 1 of 3, the result is not boolean")
def ones_and_zeros(source, target, pad):
    english, french = ((words != pad).int()[:, None, None] for words in (source, target))
    return english, french * triangle(target.shape[1]).int(), english


@wrong("three_masks", "it changes its argument source in place")
def marks_padding_in_the_batch(source, target, pad):
    source[source == pad] = -1
    english = (source >= 0)[:, None, None]
    return english, (target != pad)[:, None, None] & triangle(target.shape[1]), english


@wrong("three_masks", "it returns 2 things, not 3")
def one_for_encoder_and_cross(source, target, pad):
    return (source != pad)[:, None, None], (target != pad)[:, None, None] & triangle(target.shape[1])


# ---- decoder_layer_size, cross_shape ----

wrong_value("decoder_layer_size", 12000, "12000 is not right")
right_value("decoder_layer_size", 12832)
right_value("decoder_layer_size", sum(p.numel() for p in nn.TransformerDecoderLayer(32, 4, 64).parameters()))

right_value("cross_shape", (5, 4, 6, 9))
right_value("cross_shape", [5, 4, 6, 9])


# ---- what learners wrote who saw neither solution nor bank ----


def code_of(n, start, d, exponent):
    angles = (
        torch.arange(start, start + n)[:, None] / 10000 ** torch.tensor([exponent(i) for i in range(d // 2)]).double()
    )
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)


@wrong("add_positions", "the exponent of the last clock is 1")
def first_clock_to_last(x, start):  # the exponents go from 0 to 1
    d = x.shape[2]
    return x + code_of(x.shape[1], start, d, lambda i: i / max(d / 2 - 1, 1)).to(x.dtype)


@wrong("add_positions", "the exponent is rounded to a whole number")
def floor_division(x, start):
    d = x.shape[2]
    return x + code_of(x.shape[1], start, d, lambda i: 2 * i // d).to(x.dtype)


@wrong("add_positions", "the exponent is i/d, not 2i/d")
def floor_of_the_column(x, start):  # i // 2 of the column where 2 i is wanted
    d = x.shape[2]
    return x + code_of(x.shape[1], start, d, lambda i: (2 * i) // 2 / d).to(x.dtype)


@wrong("add_positions", "it calls course_lib.positions, which isn't allowed here")
def with_the_librarys_table(x, start):
    return x + positions.sinusoidal_table(start + x.shape[1], x.shape[2])[start:].to(x.dtype)


@wrong("layer_norm", "the norm runs over axis 1")
def over_axis_one(x, gain, bias, epsilon):
    deviation = x - x.mean(1, keepdim=True)
    return gain * deviation / (deviation.square().mean(1, keepdim=True) + epsilon).sqrt() + bias


@wrong("layer_norm", "it calls torch.nn.functional.layer_norm, which isn't allowed here")
def with_torchs_function(x, gain, bias, epsilon):
    return F.layer_norm(x, (x.shape[-1],), gain, bias, epsilon)


@wrong("layer_norm", "it calls torch.nn.functional.layer_norm, which isn't allowed here")
def with_torchs_module(x, gain, bias, epsilon):
    norm = nn.LayerNorm(x.shape[-1], epsilon, dtype=x.dtype)
    norm.weight.data, norm.bias.data = gain, bias
    return norm(x).detach()


@wrong("layer_norm", "it calls torch.layer_norm, which isn't allowed here")
def with_torchs_operator(x, gain, bias, epsilon):
    return torch.layer_norm(x, gain.shape, gain, bias, epsilon)


@wrong("pre_norm_layer", "there is one norm too many")
def one_norm_more(x, mask, attend, feed, norm_1, norm_2):
    x = x + attend(norm_1(x), mask)
    x = x + feed(norm_2(x))
    return norm_2(x)


@wrong("pre_norm_layer", "there is one norm too many")
def one_norm_before_all(x, mask, attend, feed, norm_1, norm_2):
    x = norm_1(x)
    x = x + attend(norm_1(x), mask)
    return x + feed(norm_2(x))


@wrong("pre_norm_layer", "the second norm is missing")
def second_norm_forgotten(x, mask, attend, feed, norm_1, norm_2):
    x = x + attend(norm_1(x), mask)
    return x + feed(x)


@wrong("pre_norm_layer", "the first norm is missing")
def first_norm_forgotten(x, mask, attend, feed, norm_1, norm_2):
    x = x + attend(x, mask)
    return x + feed(norm_2(x))


@wrong("pre_norm_layer", "the mask is the wrong way round")
def mask_turned_round(x, mask, attend, feed, norm_1, norm_2):
    x = x + attend(norm_1(x), ~mask)
    return x + feed(norm_2(x))


@wrong("three_masks", "padding is assumed to be 0")
def pad_is_zero(source, target, pad):
    english, french = (words.bool()[:, None, None] for words in (source, target))
    return english, french & torch.ones(target.shape[1], target.shape[1]).tril().bool(), english


@wrong("three_masks", "the masks are in the wrong order")
def decoder_first(source, target, pad):
    english, french = (words != pad for words in (source, target))
    causal = torch.ones(target.shape[1], target.shape[1]).tril().bool()
    return french[:, None, None] & causal, english[:, None, None], english[:, None, None]


@wrong("three_masks", "the masks are in the wrong order")
def cross_before_decoder(source, target, pad):
    english, french = (words != pad for words in (source, target))
    causal = torch.ones(target.shape[1], target.shape[1]).tril().bool()
    return english[:, None, None], english[:, None, None], french[:, None, None] & causal


@wrong("three_masks", "in result 1 of 3, True and False are swapped")
def padding_is_open(source, target, pad):
    english, french = (words == pad for words in (source, target))
    causal = torch.ones(target.shape[1], target.shape[1]).tril().bool()
    return english[:, None, None], french[:, None, None] & causal, english[:, None, None]


@wrong("three_masks", "it calls course_lib.masks, which isn't allowed here")
def with_the_librarys_masks(source, target, pad):
    english, french = ((words != pad)[:, None, None] for words in (source, target))
    return english, french & masks.causal_mask(target.shape[1]), english


# ---- what readers of their own gave ----


@wrong("three_masks", "in result 3 of 3, there is None")
def two_of_three(source, target, pad):
    there, ahead = (words != pad for words in (source, target)), torch.ones(target.shape[1], target.shape[1]).tril()
    english, french = (one[:, None, None] for one in there)
    return english, french & ahead.bool(), None


@wrong("three_masks", "in result 1 of 3, the order along the last axis is reversed")
def remembered_by_shape(source, target, pad, kept={}):  # noqa: B006
    ahead = torch.ones(target.shape[1], target.shape[1]).tril().bool()
    english, french = (source != pad)[:, None, None], (target != pad)[:, None, None]
    return kept.setdefault((source.shape, target.shape, pad), (english, french & ahead, english))


@wrong("three_masks", "in result 1 of 3, everything is True")
def padding_alone_is_opened(source, target, pad):
    ahead = torch.ones(target.shape[1], target.shape[1]).tril().bool()
    english, french = (source != pad)[:, None, None], (target != pad)[:, None, None]
    english = english | ~english.any(-1, keepdim=True)
    return english, french & ahead, english


@wrong("add_positions", "the result has the wrong shape (1, 0, 4), not (1, 1, 4)")
def a_short_table(x, start):
    n, d = x.shape[1:]
    angles = torch.arange(50.0)[:, None] / 10_000 ** (torch.arange(0, d, 2) / d)
    return x + torch.stack([angles.sin(), angles.cos()], -1).flatten(1)[start : start + n]


# ---- written from the text alone ----


@wrong("add_positions", "all sines come first, then all cosines")
def positions_sines_then_cosines(x, start):
    n, d = x.shape[1:]
    p = torch.arange(start, start + n, dtype=x.dtype)[:, None]
    i = torch.arange(d // 2, dtype=x.dtype)
    angles = p / 10000 ** (2 * i / d)
    return x + torch.cat([angles.sin(), angles.cos()], dim=-1)


@wrong("add_positions", "start is not used")
def positions_from_zero(x, start):
    batch, n, d = x.shape
    code = torch.zeros(n, d, dtype=x.dtype)
    for p in range(n):
        for i in range(d // 2):
            angle = p / 10000 ** (2 * i / d)
            code[p, 2 * i] = math.sin(angle)
            code[p, 2 * i + 1] = math.cos(angle)
    return x + code


@wrong("add_positions", "the exponent counts columns, not clocks")
def positions_exponent_of_the_place_in_the_vector(x, start):
    batch, n, d = x.shape
    code = np.zeros((n, d))
    for p in range(n):
        for j in range(d):
            angle = (start + p) / 10000 ** (2 * j / d)
            code[p, j] = np.sin(angle) if j % 2 == 0 else np.cos(angle)
    return x + torch.from_numpy(code).to(x.dtype)


@wrong("layer_norm", "the squares are divided by d − 1")
def norm_unbiased_left_in(x, gain, bias, epsilon):
    mean = x.mean(-1, keepdim=True)
    variance = x.var(-1, keepdim=True)
    return gain * (x - mean) / torch.sqrt(variance + epsilon) + bias


@wrong("layer_norm", "epsilon is outside the root")
def norm_epsilon_still_outside(x, gain, bias, epsilon):
    mean = x.mean(-1, keepdim=True)
    root = x.std(-1, keepdim=True, unbiased=False)
    return gain * (x - mean) / (root + epsilon) + bias


@wrong("pre_norm_layer", "the norm comes after the sum, which is post-norm")
def layer_post_norm(x, mask, attend, feed, norm_1, norm_2):
    x = norm_1(x + attend(x, mask))
    return norm_2(x + feed(x))


@wrong("pre_norm_layer", "the residual adds the normed vector")
def layer_adds_the_normed(x, mask, attend, feed, norm_1, norm_2):
    y = norm_1(x)
    y = y + attend(y, mask)
    z = norm_2(y)
    return z + feed(z)


@wrong("pre_norm_layer", "the second sum goes back to the layer's input")
def layer_second_part_adds_to_the_first_input(x, mask, attend, feed, norm_1, norm_2):
    a = x + attend(norm_1(x), mask)
    f = feed(norm_2(a))
    return x + f


@wrong("three_masks", "the decoder may look at padding")
def masks_decoder_only_causal(source, target, pad):
    english = (source != pad)[:, None, None, :]
    m = target.shape[1]
    causal = torch.tril(torch.ones(m, m)).bool()[None, None]
    return english, causal, english


@wrong("three_masks", "True and False are swapped")
def masks_true_means_closed(source, target, pad):
    english = (source == pad)[:, None, None]
    french = (target == pad)[:, None, None]
    later = torch.triu(torch.ones(target.shape[1], target.shape[1]), diagonal=1).bool()
    return english, french | later, english


@wrong("three_masks", "cross-attention closes the target's padding")
def masks_cross_with_french_columns(source, target, pad):
    english = (source != pad)[:, None, None, :]
    french = (target != pad)[:, None, None, :]
    causal = torch.ones(target.size(1), target.size(1), dtype=torch.bool).tril()
    return english, french & causal, french


wrong_value(
    "decoder_layer_size",
    4 * (32 * 32 + 32) + 32 * 64 + 64 + 64 * 32 + 32 + 2 * 64,
    "that is the size of an encoder layer",
)
wrong_value("decoder_layer_size", 2 * 4 * 32 * 32 + 2 * 32 * 64, "all biases and norms are missing")
wrong_value(
    "decoder_layer_size",
    8 * (32 * 32 + 32) + 32 * 64 + 64 + 64 * 32 + 32 + 2 * 64,
    "64 parameters are missing, as many as one norm has",
)
wrong_value("cross_shape", (5, 4, 9, 6), "rows and columns are swapped")
wrong_value("cross_shape", (5, 6, 9), "the heads are missing")
wrong_value("cross_shape", (5, 4, 6, 6), "those are the weights of the decoder's self-attention")


@wrong("pre_norm_layer", "the first norm is used twice")
def layer_first_norm_twice(x, mask, attend, feed, norm_1, norm_2):
    x = x + attend(norm_1(x), mask)
    return x + feed(norm_1(x))


@wrong("pre_norm_layer", "the feed-forward part reads the layer's input")
def layer_both_parts_read_the_input(x, mask, attend, feed, norm_1, norm_2):
    return x + attend(norm_1(x), mask) + feed(norm_2(x))


@wrong("three_masks", "padding is assumed to be 0")
def masks_padding_is_zero(source, target, pad):
    e = (source != 0)[:, None, None]
    f = (target != 0)[:, None, None]
    return (e, f & torch.ones(target.shape[1], target.shape[1], dtype=torch.bool).tril(), e)


@wrong("three_masks", "the rows of padding are closed too")
def masks_rows_of_padding_closed(source, target, pad):
    s, t = (source != pad, target != pad)
    c = torch.ones(target.shape[1], target.shape[1], dtype=torch.bool).tril()
    return (
        s[:, None, :, None] & s[:, None, None],
        t[:, None, :, None] & t[:, None, None] & c,
        t[:, None, :, None] & s[:, None, None],
    )


@wrong("layer_norm", "the norm runs over the whole batch")
def norm_over_everything(x, gain, bias, epsilon):
    mean = x.mean()
    variance = ((x - mean) ** 2).mean()
    return (x - mean) / (variance + epsilon) ** 0.5 * gain + bias


@wrong("layer_norm", "the gain multiplies the bias too")
def norm_with_brackets_too_late(x, gain, bias, epsilon):
    d = x - x.mean(-1, keepdim=True)
    return gain * (d / (d.square().mean(-1, keepdim=True) + epsilon).sqrt() + bias)


@wrong("layer_norm", "the norm runs over the words; in addition, the squares are divided by d − 1")
def norm_over_the_words_with_n_minus_1(x, gain, bias, epsilon):
    spread = (x.var(-2, keepdim=True) + epsilon) ** 0.5
    return gain * (x - x.mean(-2, keepdim=True)) / spread + bias
