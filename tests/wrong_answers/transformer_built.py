"""Lesson 5: the Transformer, built."""

import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from course_lib import masks, positions
from wrong_answers import right, right_value, wrong, wrong_value

# ---- add_positions ----


@wrong("add_positions", "the code runs along the batch axis")
def tutorial_with_the_batch_first(x, start):
    d = x.size(-1)
    position = torch.arange(500).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d, 2) * (-math.log(10000.0) / d))
    pe = torch.zeros(500, 1, d)
    pe[:, 0, 0::2] = torch.sin(position * div_term)
    pe[:, 0, 1::2] = torch.cos(position * div_term)
    return x + pe[start : start + x.size(0)].to(x.dtype)


@wrong("add_positions", "the table has a row for each sentence")
def rows_counted_by_len(x, start):
    table = np.array(
        [
            [f(p / 10000 ** (2 * i / x.shape[-1])) for i in range(x.shape[-1] // 2) for f in (np.sin, np.cos)]
            for p in range(start, start + len(x))
        ]
    )
    return x + torch.from_numpy(table).to(x.dtype)


@wrong("add_positions", "all sines stand first, then all cosines")
def as_tensor2tensor_has_it(x, start):
    d = x.shape[-1]
    inverse = 1.0 / (10000 ** (torch.arange(0.0, d, 2.0) / d))
    sinusoid = torch.outer(torch.arange(start, start + x.shape[1]).float(), inverse)
    return x + torch.cat((sinusoid.sin(), sinusoid.cos()), dim=-1).to(x.dtype)


@wrong("add_positions", "the cosine stands before the sine")
def even_columns_get_the_cosine(x, start):
    out = x.clone()
    for p in range(x.shape[1]):
        for c in range(x.shape[2]):
            angle = (start + p) / 10000 ** (2 * (c // 2) / x.shape[2])
            out[:, p, c] += math.sin(angle) if c % 2 else math.cos(angle)
    return out


@wrong("add_positions", "the exponent is i/d, not 2i/d")
def half_of_the_exponent(x, start):
    batch, n, d = x.shape
    code = torch.zeros(n, d, dtype=x.dtype)
    for row in range(n):
        for i in range(d // 2):
            code[row, 2 * i] = math.sin((row + start) / 10000 ** (i / d))
            code[row, 2 * i + 1] = math.cos((row + start) / 10000 ** (i / d))
    return x + code.expand(batch, n, d)


@wrong("add_positions", "the exponent is doubled twice")
def textbook_with_two_i_for_two_i(x, start):
    _, n, d = x.shape
    code = np.zeros((n, d))
    for pos in range(n):
        for i in range(0, d, 2):
            code[pos, i] = np.sin((pos + start) / (10000 ** ((2 * i) / d)))
            code[pos, i + 1] = np.cos((pos + start) / (10000 ** ((2 * i) / d)))
    return x + torch.tensor(code, dtype=x.dtype)


@wrong("add_positions", "sine and cosine of a pair have different speeds")
def exponent_of_each_column(x, start):
    places = np.arange(start, start + x.shape[1])[:, None]
    angles = places / np.power(10000, np.arange(x.shape[2])[None] / x.shape[2])
    angles[:, 0::2] = np.sin(angles[:, 0::2])
    angles[:, 1::2] = np.cos(angles[:, 1::2])
    return x + torch.from_numpy(angles).to(x.dtype)


@wrong("add_positions", "the exponent counts columns, not clocks")
def two_i_for_every_column(x, start):
    rows = [
        [
            (math.cos if column % 2 else math.sin)(p * 10000 ** (-2 * column / x.shape[2]))
            for column in range(x.shape[2])
        ]
        for p in range(start, start + x.shape[1])
    ]
    return x + torch.tensor(rows, dtype=x.dtype)


@wrong("add_positions", "the speeds grow from clock to clock")
def minus_forgotten(x, start):
    d = x.shape[-1]
    rates = torch.exp(math.log(10000) * torch.arange(0, d, 2, dtype=torch.float64) / d)
    angles = torch.arange(start, start + x.shape[1])[:, None] * rates
    return x + torch.stack((angles.sin(), angles.cos()), 2).reshape(x.shape[1], d).to(x.dtype)


@wrong("add_positions", "the base is 1000")
def a_zero_too_few(x, start):
    d = x.shape[-1]
    angles = torch.arange(start, start + x.shape[1])[:, None] / torch.pow(1000, torch.arange(0, d, 2) / d)
    code = torch.empty(x.shape[1], d)
    code[:, ::2], code[:, 1::2] = angles.sin(), angles.cos()
    return x + code


def numpy_code(places, d):
    pair = np.arange(d) // 2
    angles = np.asarray(places)[:, None] * 10000.0 ** (-2 * pair / d)
    return np.where(np.arange(d) % 2 == 0, np.sin(angles), np.cos(angles))


@wrong("add_positions", "start is not used")
def always_from_the_beginning(x, start):
    return x + torch.from_numpy(numpy_code(range(x.shape[1]), x.shape[2])).type_as(x)


@wrong("add_positions", "positions are counted from 1")
def first_place_is_one(x, start):
    return x + torch.from_numpy(numpy_code(range(start + 1, start + 1 + x.shape[1]), x.shape[2])).type_as(x)


@wrong("add_positions", "the code takes the vector's place")
def returns_the_table_alone(x, start):
    return torch.from_numpy(numpy_code(np.arange(x.shape[1]) + start, x.shape[2])).type_as(x).repeat(len(x), 1, 1)


@wrong("add_positions", "x is multiplied by √d")
def scales_as_the_annotated_embedding(x, start):
    code = torch.from_numpy(numpy_code(np.arange(x.shape[1]) + start, x.shape[2])).type_as(x)
    return x * math.sqrt(x.size(2)) + code[None]


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


@wrong("layer_norm", "the squares are divided by d − 1")
def as_it_was_given(x, gain, bias, epsilon):
    mean = x.mean(-1, keepdim=True)
    std = x.std(-1, keepdim=True)
    return gain * (x - mean) / (std + epsilon) + bias


@wrong("layer_norm", "epsilon stands outside the root")
def only_the_divisor_mended(x, gain, bias, epsilon):
    std = torch.std(x, dim=-1, keepdim=True, unbiased=False)
    return gain * ((x - x.mean(-1, keepdim=True)) / (std + epsilon)) + bias


@wrong("layer_norm", "the squares are divided by d − 1")
def only_epsilon_mended(x, gain, bias, epsilon):
    d = x.shape[-1]
    deviation = x - x.sum(-1, keepdim=True) / d
    return gain * deviation * ((deviation**2).sum(-1, keepdim=True) / (d - 1) + epsilon) ** -0.5 + bias


@wrong("layer_norm", "the norm runs over the batch")
def batch_norm(x, gain, bias, epsilon):
    deviation = x - x.mean(0)
    return deviation * torch.rsqrt((deviation * deviation).mean(0) + epsilon) * gain + bias


@wrong("layer_norm", "the norm runs over the words")
def last_axis_but_one(x, gain, bias, epsilon):
    values = x.numpy()
    mean, variance = values.mean(-2, keepdims=True), values.var(-2, keepdims=True)
    return torch.from_numpy((values - mean) / np.sqrt(variance + epsilon)) * gain + bias


@wrong("layer_norm", "the norm runs over a whole sentence")
def each_sentence_at_once(x, gain, bias, epsilon):
    if x.ndim == 1:
        return F.layer_norm(x, x.shape, eps=epsilon) * gain + bias
    return torch.stack([(one - one.mean()) / torch.sqrt(one.var(correction=0) + epsilon) for one in x]) * gain + bias


@wrong("layer_norm", "the mean is not subtracted")
def only_divided(x, gain, bias, epsilon):
    return x * torch.rsqrt(x.var(-1, correction=0, keepdim=True) + epsilon) * gain + bias


@wrong("layer_norm", "it divides by the root mean square of x")
def rms_norm(x, gain, bias, epsilon):
    return F.rms_norm(x, gain.shape, gain, epsilon) + bias


@wrong("layer_norm", "the root is forgotten")
def divided_by_the_variance(x, gain, bias, epsilon):
    variance, mean = torch.var_mean(x, -1, correction=0, keepdim=True)
    return gain * (x - mean) / (variance + epsilon) + bias


@wrong("layer_norm", "the root is taken of the standard deviation")
def root_of_std(x, gain, bias, epsilon):
    deviation, mean = torch.std_mean(x, -1, correction=0, keepdim=True)
    return gain * (x - mean) / torch.sqrt(deviation + epsilon) + bias


@wrong("layer_norm", "the squares are added up, and not divided by d")
def unit_length(x, gain, bias, epsilon):
    centred = x - x.mean(dim=-1, keepdim=True)
    length = torch.einsum("...d,...d->...", centred, centred)
    return centred / (length[..., None] + epsilon).sqrt() * gain + bias


@wrong("layer_norm", "gain and bias are not used")
def bare(x, gain, bias, epsilon):
    return F.layer_norm(x, (x.size(-1),), eps=epsilon)


@wrong("layer_norm", "epsilon is not used")
def no_guard(x, gain, bias, epsilon):
    centred = x - x.mean(dim=-1, keepdim=True)
    return centred / centred.square().mean(-1, keepdim=True).sqrt() * gain + bias


@wrong("layer_norm", "the variance is a difference of two large numbers")
def in_one_pass(x, gain, bias, epsilon):
    mean, squares = x.mean(-1, keepdim=True), x.pow(2).mean(-1, keepdim=True)
    return (x - mean) * (squares - mean.pow(2) + epsilon).rsqrt() * gain + bias


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


@wrong("pre_norm_layer", "the norm comes after the sum, which is post-norm")
def labelled_pre_norm(x, mask, attend, feed, norm_1, norm_2):
    for part, norm in ((lambda y: attend(y, mask), norm_1), (feed, norm_2)):
        x = norm(torch.add(x, part(x)))
    return x


@wrong("pre_norm_layer", "the residual adds the normed vector")
def keeps_only_the_normed(x, mask, attend, feed, norm_1, norm_2):
    normed = norm_1(x)
    summed = normed + attend(normed, mask)
    normed = norm_2(summed)
    return normed + feed(normed)


@wrong("pre_norm_layer", "the norm stands behind the part")
def norm_of_the_result(x, mask, attend, feed, norm_1, norm_2):
    after = torch.stack([x, norm_1(attend(x, mask))]).sum(0)
    return torch.stack([after, norm_2(feed(after))]).sum(0)


@wrong("pre_norm_layer", "both residuals are forgotten")
def replaces(x, mask, attend, feed, norm_1, norm_2):
    y = norm_1(x)
    y = attend(y, mask)
    y = norm_2(y)
    return feed(y)


@wrong("pre_norm_layer", "the residual around attention is forgotten")
def only_the_second_sum(x, mask, attend, feed, norm_1, norm_2):
    attended = attend(norm_1(x), mask)
    return attended.add(feed(norm_2(attended)))


@wrong("pre_norm_layer", "the residual around the feed-forward part is forgotten")
def only_the_first_sum(x, mask, attend, feed, norm_1, norm_2):
    return feed(norm_2(x.add(attend(norm_1(x), mask))))


@wrong("pre_norm_layer", "the second sum goes back to the layer's input")
def other_names_mixed_up(x, mask, attend, feed, norm_1, norm_2):
    after_attention = x + attend(norm_1(x), mask)
    after_feed = feed(norm_2(after_attention))
    return after_feed + x


@wrong("pre_norm_layer", "the feed-forward part reads the layer's input")
def side_by_side(x, mask, attend, feed, norm_1, norm_2):
    return sum([x, attend(norm_1(x), mask), feed(norm_2(x))])


@wrong("pre_norm_layer", "nothing is normed")
def without_norms(x, mask, attend, feed, norm_1, norm_2):
    y = attend(x, mask)
    return x + y + feed(x + y)


@wrong("pre_norm_layer", "the first norm is used twice")
def copied_line(x, mask, attend, feed, norm_1, norm_2):
    y = x + attend(norm_1(x), mask)
    z = y + feed(norm_1(y))
    return z


@wrong("pre_norm_layer", "the two norms are exchanged")
def twos_first(x, mask, attend, feed, norm_1, norm_2):
    y = attend(norm_2(x), mask) + x
    return feed(norm_1(y)) + y


@wrong("pre_norm_layer", "the mask is not handed on")
def unmasked(x, mask, attend, feed, norm_1, norm_2):
    x = attend(norm_1(x)) + x
    return feed(norm_2(x)) + x


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


@wrong("three_masks", "True and False are exchanged")
def as_torch_has_it(source, target, pad):
    m = target.shape[1]
    later = torch.triu(torch.ones(m, m, dtype=torch.bool), 1)
    closed = (source == pad)[:, None, None]
    return closed, (target == pad)[:, None, None] | later, closed


@wrong("three_masks", "rows are closed instead of columns")
def padding_does_not_look(source, target, pad):
    french = (target != pad)[:, None, :, None]
    return (source != pad)[:, None, :, None], french & triangle(target.shape[1]), french


@wrong("three_masks", "the rows of padding are closed too")
def an_outer_product(source, target, pad):
    english, french = (words.ne(pad).float() for words in (source, target))
    encoder = torch.einsum("bq,bk->bqk", english, english)[:, None].bool()
    decoder = torch.einsum("bq,bk->bqk", french, french)[:, None].bool() & triangle(target.shape[1])
    return encoder, decoder, torch.einsum("bq,bk->bqk", french, english)[:, None].bool()


@wrong("three_masks", "a word may not look at itself")
def strictly_below_the_diagonal(source, target, pad):
    m, there = target.shape[1], source.ne(pad)[:, None, None]
    places = torch.arange(m)
    return there, target.ne(pad)[:, None, None] & (places[:, None] > places), there


@wrong("three_masks", "each word sees the next one")
def one_too_many(source, target, pad):
    there = (source != pad)[:, None, None]
    m = target.shape[1]
    causal = torch.ones(m, m, dtype=torch.bool).triu(2).logical_not()
    return there, (target != pad)[:, None, None] & causal, there


@wrong("three_masks", "the causal mask is turned round")
def upper_triangle(source, target, pad):
    there = (source != pad)[:, None, None]
    return there, (target != pad)[:, None, None] & triangle(target.shape[1]).T, there


@wrong("three_masks", "the decoder may look at padding")
def as_the_library_does(source, target, pad):
    there = (source != pad)[:, None, None]
    return there, triangle(target.shape[1])[None, None], there


@wrong("three_masks", "the decoder looks ahead")
def padding_alone(source, target, pad):
    english, french = (words.ne(pad)[:, None, None] for words in (source, target))
    return english, french.expand(-1, -1, target.shape[1], -1), english


@wrong("three_masks", "cross-attention closes the target's padding")
def the_decoders_own_words(source, target, pad):
    english, french = (words.ne(pad)[:, None, None] for words in (source, target))
    return english, french & triangle(target.shape[1]), french


@wrong("three_masks", "cross-attention is causal")
def no_look_ahead_in_english(source, target, pad):
    english, french = (words.ne(pad)[:, None, None] for words in (source, target))
    n, m = source.shape[1], target.shape[1]
    return english, french & triangle(m), english & (torch.arange(n) <= torch.arange(m)[:, None])


@wrong("three_masks", "the encoder is causal")
def causal_everywhere(source, target, pad):
    english, french = (words.ne(pad)[:, None, None] for words in (source, target))
    return english & triangle(source.shape[1]), french & triangle(target.shape[1]), english


@wrong("three_masks", "padding is thought to stand behind the words")
def from_lengths(source, target, pad):
    def open_(words):
        length = [sum(word != pad for word in row) for row in words.tolist()]
        rows = [[place < long for place in range(words.shape[1])] for long in length]
        return torch.tensor(rows)[:, None, None]

    return open_(source), open_(target) & triangle(target.shape[1]), open_(source)


@wrong("three_masks", "padding is taken to be 0")
def truth_of_a_number(source, target, pad):
    english, french = (words.bool()[:, None, None] for words in (source, target))
    return english, french & triangle(target.shape[1]), english


@wrong("three_masks", "the axes of heads and queries are missing")
def one_row_a_sentence(source, target, pad):
    there = source != pad
    return there, (target != pad)[:, None] & triangle(target.shape[1]), there


@wrong("three_masks", "the axis of heads is missing")
def three_axes(source, target, pad):
    there = (source != pad)[:, None]
    return there, (target != pad)[:, None] & triangle(target.shape[1]), there


@wrong("three_masks", "the masks are to be added to the scores")
def minus_infinity(source, target, pad):
    inf = float("inf")
    english = torch.where(source == pad, -inf, 0.0)[:, None, None]
    m = target.shape[1]
    ahead = torch.triu(torch.full((m, m), -inf), 1)
    decoder = torch.minimum(torch.where(target == pad, -inf, 0.0)[:, None, None], ahead)
    return english, decoder, english


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

wrong_value("decoder_layer_size", 8544, "that is an encoder layer")
wrong_value("decoder_layer_size", 8608, "that has one attention too few")
wrong_value("decoder_layer_size", 12768, "as many numbers are missing as one norm has")
wrong_value("decoder_layer_size", 12640, "as many numbers are missing as the norms have")
wrong_value("decoder_layer_size", 12480, "that is without the biases of attention and feed-forward")
wrong_value("decoder_layer_size", 12288, "that is without any bias or norm")
wrong_value("decoder_layer_size", 10720, "as many numbers are missing as two matrices of attention have")
wrong_value("decoder_layer_size", 38176, "that counts the heads as if each were d wide")
wrong_value("decoder_layer_size", 12000, "12000 is not right")
right_value("decoder_layer_size", 12832)
right_value("decoder_layer_size", sum(p.numel() for p in nn.TransformerDecoderLayer(32, 4, 64).parameters()))

wrong_value("cross_shape", (5, 4, 9, 6), "rows and columns are exchanged")
wrong_value("cross_shape", (5, 4, 6, 6), "those are the weights of the decoder's self-attention")
wrong_value("cross_shape", (5, 4, 9, 9), "those are the weights of the encoder")
wrong_value("cross_shape", (5, 6, 9), "the heads are missing")
wrong_value("cross_shape", torch.Size([4, 6, 9]), "the sentences are missing")
wrong_value("cross_shape", [5, 6, 32], "that is the shape of what comes out")
wrong_value("cross_shape", (5, 4, 7, 9), "<bos> is counted twice")
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


@wrong("add_positions", "it calls course_lib.positions, which is not to be used")
def with_the_librarys_table(x, start):
    return x + positions.sinusoidal_table(start + x.shape[1], x.shape[2])[start:].to(x.dtype)


@wrong("layer_norm", "the norm runs over axis 1")
def over_axis_one(x, gain, bias, epsilon):
    deviation = x - x.mean(1, keepdim=True)
    return gain * deviation / (deviation.square().mean(1, keepdim=True) + epsilon).sqrt() + bias


@wrong("layer_norm", "it calls torch.nn.functional.layer_norm, which is not to be used")
def with_torchs_function(x, gain, bias, epsilon):
    return F.layer_norm(x, (x.shape[-1],), gain, bias, epsilon)


@wrong("layer_norm", "it calls torch.nn.functional.layer_norm, which is not to be used")
def with_torchs_module(x, gain, bias, epsilon):
    norm = nn.LayerNorm(x.shape[-1], epsilon, dtype=x.dtype)
    norm.weight.data, norm.bias.data = gain, bias
    return norm(x).detach()


@wrong("layer_norm", "it calls torch.layer_norm, which is not to be used")
def with_torchs_operator(x, gain, bias, epsilon):
    return torch.layer_norm(x, gain.shape, gain, bias, epsilon)


@wrong("pre_norm_layer", "there is a norm too many")
def one_norm_more(x, mask, attend, feed, norm_1, norm_2):
    x = x + attend(norm_1(x), mask)
    x = x + feed(norm_2(x))
    return norm_2(x)


@wrong("pre_norm_layer", "there is a norm too many")
def one_norm_before_all(x, mask, attend, feed, norm_1, norm_2):
    x = norm_1(x)
    x = x + attend(norm_1(x), mask)
    return x + feed(norm_2(x))


@wrong("pre_norm_layer", "the second norm is forgotten")
def second_norm_forgotten(x, mask, attend, feed, norm_1, norm_2):
    x = x + attend(norm_1(x), mask)
    return x + feed(x)


@wrong("pre_norm_layer", "the first norm is forgotten")
def first_norm_forgotten(x, mask, attend, feed, norm_1, norm_2):
    x = x + attend(x, mask)
    return x + feed(norm_2(x))


@wrong("pre_norm_layer", "the mask is the wrong way round")
def mask_turned_round(x, mask, attend, feed, norm_1, norm_2):
    x = x + attend(norm_1(x), ~mask)
    return x + feed(norm_2(x))


@wrong("three_masks", "padding is taken to be 0")
def pad_is_zero(source, target, pad):
    english, french = (words.bool()[:, None, None] for words in (source, target))
    return english, french & torch.ones(target.shape[1], target.shape[1]).tril().bool(), english


@wrong("three_masks", "the masks stand in another order")
def decoder_first(source, target, pad):
    english, french = (words != pad for words in (source, target))
    causal = torch.ones(target.shape[1], target.shape[1]).tril().bool()
    return french[:, None, None] & causal, english[:, None, None], english[:, None, None]


@wrong("three_masks", "the masks stand in another order")
def cross_before_decoder(source, target, pad):
    english, french = (words != pad for words in (source, target))
    causal = torch.ones(target.shape[1], target.shape[1]).tril().bool()
    return english[:, None, None], english[:, None, None], french[:, None, None] & causal


@wrong("three_masks", "in result 1 of 3, True and False have changed places")
def padding_is_open(source, target, pad):
    english, french = (words == pad for words in (source, target))
    causal = torch.ones(target.shape[1], target.shape[1]).tril().bool()
    return english[:, None, None], french[:, None, None] & causal, english[:, None, None]


@wrong("three_masks", "it calls course_lib.masks, which is not to be used")
def with_the_librarys_masks(source, target, pad):
    english, french = ((words != pad)[:, None, None] for words in (source, target))
    return english, french & masks.causal_mask(target.shape[1]), english


# ---- what readers of their own gave ----


@wrong("three_masks", "in result 3 of 3, there is None")
def two_of_three(source, target, pad):
    there, ahead = (words != pad for words in (source, target)), torch.ones(target.shape[1], target.shape[1]).tril()
    english, french = (one[:, None, None] for one in there)
    return english, french & ahead.bool(), None


@wrong("three_masks", "in result 1 of 3, the order along the last axis is turned round")
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
