"""Lesson 5: the Transformer."""

import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

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


@wrong("layer_norm", "epsilon stands outside the root, and the squares are divided by d − 1")
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


# ---- decoder_layer_size, cross_shape, half_temperature ----

wrong_value("decoder_layer_size", 8544, "that is an encoder layer")
wrong_value("decoder_layer_size", 8608, "that has one attention too few")
wrong_value("decoder_layer_size", 12768, "that has one norm too few")
wrong_value("decoder_layer_size", 12640, "that is without the norms")
wrong_value("decoder_layer_size", 12480, "that is without the biases of attention and feed-forward")
wrong_value("decoder_layer_size", 12288, "that is without any bias or norm")
wrong_value("decoder_layer_size", 10720, "that leaves W_O out")
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

wrong_value("half_temperature", 3.1, "that is read from the curve of the two likeliest words")
wrong_value("half_temperature", 0.5, "that is the share, not the temperature")
wrong_value("half_temperature", 0.79, "that is 1/T")
wrong_value("half_temperature", 1.0, "1.0 is not right")
right_value("half_temperature", 1.26)
right_value("half_temperature", 1.3)


# ---- next_word_loss ----


@wrong("next_word_loss", "the loss is not shifted")
def asked_for_what_it_has_read(logits, words, pad):
    return F.cross_entropy(logits.reshape(-1, logits.size(-1)), words.reshape(-1), ignore_index=pad)


@wrong("next_word_loss", "the shift goes the wrong way")
def shifted_backwards(logits, words, pad):
    log_p = logits[:, 1:].log_softmax(-1)
    target = words[:, :-1]
    chosen = torch.take_along_dim(log_p, target.unsqueeze(-1), -1).squeeze(-1)
    return -chosen[target != pad].mean()


@wrong("next_word_loss", "the shift is made twice")
def words_were_shifted_before(logits, words, pad):
    labels = words[:, 1:]
    shifted = logits[:, :-1]
    log_p = F.log_softmax(shifted[:, :-1], -1)
    labels = labels[:, 1:]
    total = [
        -log_p[b, t, labels[b, t]] for b in range(len(labels)) for t in range(labels.shape[1]) if labels[b, t] != pad
    ]
    return torch.stack(total).mean() if total else torch.tensor(torch.nan)


@wrong("next_word_loss", "padding is counted")
def padding_has_a_loss_too(logits, words, pad):
    shift_logits = logits[..., :-1, :].contiguous()
    shift_labels = words[..., 1:].contiguous()
    return nn.CrossEntropyLoss()(shift_logits.view(-1, shift_logits.size(-1)), shift_labels.view(-1))


@wrong("next_word_loss", "the loss of padding is set to 0, but still counted")
def zeroed(logits, words, pad):
    log_p = logits[:, :-1].log_softmax(-1)
    total, count = 0.0, 0
    for sentence, line in zip(words[:, 1:].tolist(), log_p, strict=True):
        for word, row in zip(sentence, line, strict=True):
            count += 1
            total = total - (row[word] if word != pad else 0)
    return total / count


@wrong("next_word_loss", "it divides by one word too many in each sentence")
def words_of_the_whole_batch(logits, words, pad):
    total = F.cross_entropy(logits[:, :-1].transpose(1, 2), words[:, 1:], ignore_index=pad, reduction="sum")
    return total / words.ne(pad).sum()


@wrong("next_word_loss", "padding is looked for among the words that are read")
def mask_not_shifted(logits, words, pad):
    keep = (words != pad)[:, :-1].reshape(-1)
    loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), words[:, 1:].flatten(), reduction="none")
    return loss[keep].mean()


@wrong("next_word_loss", "it is the mean of the sentences' means")
def sentence_by_sentence(logits, words, pad):
    means = []
    for one, sentence in zip(logits, words, strict=True):
        loss = F.cross_entropy(one[:-1], sentence[1:], ignore_index=pad)
        if not loss.isnan():
            means.append(loss)
    return sum(means) / len(means)


@wrong("next_word_loss", "it is the sum, not the mean")
def summed(logits, words, pad):
    return F.nll_loss(
        logits[:, :-1].log_softmax(-1).flatten(0, 1), words[:, 1:].flatten(), ignore_index=pad, reduction="sum"
    )


@wrong("next_word_loss", "it is one loss for each place, not their mean")
def all_places(logits, words, pad):
    return F.cross_entropy(logits[:, :-1].permute(0, 2, 1), words[:, 1:], ignore_index=pad, reduction="none")


@wrong("next_word_loss", "the softmax is taken twice")
def probabilities_for_logits(logits, words, pad):
    p = F.softmax(logits[:, :-1], dim=-1)
    return nn.CrossEntropyLoss(ignore_index=pad)(p.reshape(-1, p.shape[-1]), words[:, 1:].reshape(-1))


@wrong("next_word_loss", "the softmax runs over the places")
def softmax_over_axis_one(logits, words, pad):
    log_p = F.log_softmax(logits[:, :-1], dim=1)
    return F.nll_loss(log_p.permute(0, 2, 1), words[:, 1:], ignore_index=pad)


@wrong("next_word_loss", "the axes were reshaped where they should have been kept in order")
def transposed_then_viewed(logits, words, pad):
    rows = logits[:, :-1].transpose(1, 2).contiguous().view(-1, logits.size(2))
    return F.cross_entropy(rows, words[:, 1:].contiguous().view(-1), ignore_index=pad)


@wrong("next_word_loss", "the sign is wrong")
def minus_forgotten_in_the_loss(logits, words, pad):
    target = words[:, 1:]
    return logits[:, :-1].log_softmax(-1).gather(-1, target.unsqueeze(-1)).squeeze(-1)[target != pad].mean()


@wrong("next_word_loss", "the loss is in bits")
def logarithm_to_base_two(logits, words, pad):
    target = words[:, 1:]
    log_p = logits[:, :-1] - logits[:, :-1].logsumexp(-1, keepdim=True)
    return -(log_p * math.log2(math.e)).gather(-1, target[..., None])[..., 0][target != pad].mean()


@wrong("next_word_loss", "large logits overflow")
def naive_softmax(logits, words, pad):
    p = torch.exp(logits[:, :-1]) / torch.exp(logits[:, :-1]).sum(-1, keepdim=True)
    target = words[:, 1:]
    return -torch.log(torch.gather(p, -1, target[..., None]).squeeze(-1))[target != pad].mean()


@wrong("next_word_loss", "a small probability is rounded to 0, and its logarithm is −∞")
def softmax_then_logarithm(logits, words, pad):
    p = torch.softmax(logits[:, :-1], -1)
    losses = [-p[b, t, w].log() for (b, t), w in np.ndenumerate(words[:, 1:].numpy()) if w != pad]
    return torch.stack(losses).mean()


@right("next_word_loss")
def with_loops(logits, words, pad):
    total, count = 0.0, 0
    for b in range(words.shape[0]):
        for t in range(words.shape[1] - 1):
            target = int(words[b, t + 1])
            if target != pad:
                total += float(torch.logsumexp(logits[b, t], 0) - logits[b, t, target])
                count += 1
    return total / count


@right("next_word_loss")
def one_hot_and_einsum(logits, words, pad):
    target = words[:, 1:]
    wish = F.one_hot(target, logits.shape[-1]) * (target != pad)[..., None]
    return -torch.einsum("btv,btv->", logits[:, :-1].log_softmax(-1), wish.to(logits.dtype)) / wish.sum()


@right("next_word_loss")
def numpy_loss(logits, words, pad):
    values, target = logits.numpy()[:, :-1], words.numpy()[:, 1:]
    values = values - values.max(-1, keepdims=True)
    log_p = values - np.log(np.exp(values).sum(-1, keepdims=True))
    return np.float32(-np.take_along_axis(log_p, target[..., None], -1)[..., 0][target != pad].mean())


# ---- greedy_words ----


@wrong("greedy_words", "it writes on after the end mark")
def always_as_many_as_the_limit(scores, start, end, limit):
    sentence = [start]
    for _ in range(limit):
        sentence = sentence + [scores(sentence).argmax().item()]
    return sentence[1:]


@wrong("greedy_words", "it does not keep the limit")
def until_the_end(scores, start, end, limit):
    written, word = [], None
    while word != end:
        word = scores([start, *written]).topk(1).indices.item()
        written.append(word)
    return written


@wrong("greedy_words", "it never stops")
def on_and_on(scores, start, end, limit):
    written = [start]
    while True:
        written.append(scores(written).argmax().item())


@wrong("greedy_words", "the start mark is counted as a written word")
def limit_of_the_whole_list(scores, start, end, limit):
    words = [start]
    while len(words) < limit and words[-1] != end:
        words += [int(scores(words).max(0).indices)]
    return words[1:]


@wrong("greedy_words", "the start mark is returned too")
def all_of_it(scores, start, end, limit):
    words = [start]
    for _ in range(limit):
        words.append(np.argmax(scores(words).numpy()))
        if words[-1] == end:
            return words
    return words


@wrong("greedy_words", "the end mark is left out")
def breaks_before_it_is_appended(scores, start, end, limit):
    words = []
    while len(words) < limit:
        word = int(scores([start] + words).argmax())
        if word == end:
            break
        words.append(word)
    return words


@wrong("greedy_words", "the model is handed the last word alone")
def as_a_recurrent_decoder(scores, start, end, limit):
    word, written = start, []
    while word != end and len(written) < limit:
        word = scores([word]).argmax().item()
        written.append(word)
    return written


@wrong("greedy_words", "the model is handed the start mark alone")
def never_reads_on(scores, start, end, limit):
    prompt, written = [start], []
    for _ in range(limit):
        written.append(scores(prompt).argmax().item())
        if written[-1] == end:
            break
    return written


@wrong("greedy_words", "it takes the least likely word")
def smallest_of_all(scores, start, end, limit):
    written = []
    while len(written) < limit and end not in written:
        written.append(torch.argsort(scores([start, *written]))[0].item())
    return written


@right("greedy_words")
def with_a_tensor(scores, start, end, limit):
    written = torch.tensor([], dtype=torch.long)
    while len(written) < limit and end not in written[-1:]:
        words = torch.cat([torch.tensor([start]), written]).tolist()
        written = torch.cat([written, scores(words).softmax(-1).argmax(keepdim=True)])
    return written


@right("greedy_words")
def recursively(scores, start, end, limit):
    def go_on(words):
        if len(words) > limit or words[-1] == end:
            return words
        values = scores(words).tolist()
        return go_on([*words, values.index(max(values))])

    return go_on([start])[1:]


# ---- beam_words: three skeletons, each with its slips ----


def with_topk(log_p, start, end, width, limit, alpha=1.0, one=0):
    """Tensors and topk, a loop over the kept; rank = total / length ** alpha."""
    kept = [(torch.tensor(0.0, dtype=torch.float64), [start])]
    for _ in range(limit):
        totals, words = [], []
        for total, sentence in kept:
            if sentence[-1] == end and len(sentence) > 1:
                totals.append(total)
                words.append(sentence)
                continue
            for word, value in enumerate(log_p(sentence)):
                totals.append(total + value)
                words.append(sentence + [word])
        lengths = torch.tensor([len(sentence) - 1 + one for sentence in words])
        ranks = torch.stack(totals) / lengths**alpha
        best = ranks.topk(min(width, len(words))).indices.tolist()
        kept = [(totals[i], words[i]) for i in best]
        if all(sentence[-1] == end for _, sentence in kept):
            break
    return kept[0][1][1:]


@wrong("beam_words", "sums of different lengths are compared")
def without_division(log_p, start, end, width, limit):
    return with_topk(log_p, start, end, width, limit, alpha=0.0)


@wrong("beam_words", "the start mark is counted in the length")
def length_of_the_list(log_p, start, end, width, limit):
    return with_topk(log_p, start, end, width, limit, one=1)


@wrong("beam_words", "the start mark is returned too")
def with_the_start(log_p, start, end, width, limit):
    return [start, *with_topk(log_p, start, end, width, limit)]


@wrong("beam_words", "the end mark is left out")
def end_cut_off(log_p, start, end, width, limit):
    words = with_topk(log_p, start, end, width, limit)
    return words[:-1] if words[-1] == end else words


@wrong("beam_words", "only one beginning is kept")
def takes_the_best_each_time(log_p, start, end, width, limit):
    words = []
    while len(words) < limit and words[-1:] != [end]:
        words.append(log_p([start] + words).topk(width if width < 2 else 2).indices[0].item())
    return words


@wrong("beam_words", "the model is handed the last word alone")
def beam_of_last_words(log_p, start, end, width, limit):
    return with_topk(lambda words: log_p([words[-1]]), start, end, width, limit)


def with_heap(log_p, start, end, width, limit, *, probability=False, normal=True, drop=False, stop=False, only=False):
    """Dictionaries from sentence to total, sorted by key."""
    unit = 1.0 if probability else 0.0

    def rank(item):
        words, total = item
        if probability:
            return total ** (1 / len(words)) if normal else total
        return total / len(words)

    def ended(words):
        return len(words) > 0 and words[-1] == end

    beam = {(): unit}
    for _ in range(limit):
        following = {} if drop else {words: total for words, total in beam.items() if ended(words)}
        for words, total in beam.items():
            if not ended(words):
                for word, gain in enumerate(log_p([start, *words]).tolist()):
                    following[(*words, word)] = total * math.exp(gain) if probability else total + gain
        if not following:
            break
        beam = dict(sorted(following.items(), key=rank, reverse=True)[:width])
        if stop and any(map(ended, beam)):
            beam = {words: total for words, total in beam.items() if ended(words)}
            break
        if all(map(ended, beam)):
            break
    if only and any(map(ended, beam)):
        beam = {words: total for words, total in beam.items() if ended(words)}
    return list(max(beam.items(), key=rank)[0])


@wrong("beam_words", "probabilities are multiplied")
def a_product(log_p, start, end, width, limit):
    return with_heap(log_p, start, end, width, limit, probability=True, normal=False)


@wrong("beam_words", "the product of many probabilities is rounded to 0")
def a_root_of_the_product(log_p, start, end, width, limit):
    return with_heap(log_p, start, end, width, limit, probability=True)


@wrong("beam_words", "finished sentences are lost")
def forgets_what_is_finished(log_p, start, end, width, limit):
    return with_heap(log_p, start, end, width, limit, drop=True)


@wrong("beam_words", "the search stops at the first finished sentence")
def first_come(log_p, start, end, width, limit):
    return with_heap(log_p, start, end, width, limit, stop=True)


@wrong("beam_words", "unfinished sentences may not win")
def prefers_the_finished(log_p, start, end, width, limit):
    return with_heap(log_p, start, end, width, limit, only=True)


@wrong("beam_words", "probabilities are added")
def sums_of_probabilities(log_p, start, end, width, limit):
    return with_topk(lambda words: log_p(words).exp(), start, end, width, limit)


@wrong("beam_words", "a finished sentence is continued")
def no_look_at_the_end(log_p, start, end, width, limit):
    sentences, totals = [[start]], torch.zeros(1, dtype=torch.float64)
    for _ in range(limit):
        grid = totals[:, None] + torch.stack([log_p(sentence) for sentence in sentences])
        totals, places = grid.flatten().topk(min(width, grid.numel()))
        sentences = [sentences[place // grid.shape[1]] + [place % grid.shape[1]] for place in places.tolist()]
    return sentences[0][1:]


@wrong("beam_words", "each beginning is continued in one way only")
def several_greedy_ones(log_p, start, end, width, limit):
    first = log_p([start])
    firsts = first.topk(min(width, len(first)))
    lines = [([word], total) for total, word in zip(firsts.values.tolist(), firsts.indices.tolist(), strict=True)]
    for _ in range(limit - 1):
        for place, (words, total) in enumerate(lines):
            if words[-1] != end:
                gain, word = log_p([start] + words).max(0)
                lines[place] = words + [word.item()], total + gain.item()
    return max(lines, key=lambda line: line[1] / len(line[0]))[0]


@right("beam_words")
def beam_with_topk(log_p, start, end, width, limit):
    return with_topk(log_p, start, end, width, limit)


@right("beam_words")
def beam_with_dictionaries(log_p, start, end, width, limit):
    return with_heap(log_p, start, end, width, limit)


@right("beam_words")
def unfinished_and_finished_apart(log_p, start, end, width, limit):
    living, finished = [(0.0, [])], []
    for length in range(1, limit + 1):
        grown = [(t + g, w + [v]) for t, w in living for v, g in enumerate(log_p([start] + w).numpy())]
        best = sorted(finished + [(t / length, w) for t, w in grown], key=lambda pair: -pair[0])[:width]
        finished = [pair for pair in best if pair[1][-1] == end]
        living = [(mean * length, words) for mean, words in best if words[-1] != end]
        if not living:
            break
    return max(finished + [(t / len(w), w) for t, w in living], key=lambda pair: pair[0])[1]
