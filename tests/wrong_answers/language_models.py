"""Lesson 8: language models."""

import itertools
import math
from collections import Counter, defaultdict

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from wrong_answers import right, right_value, wrong, wrong_value

# ---- merge_step ----


def swap_in(tokens, pair, new):
    """From left to right, with a place of its own."""
    out, i = [], 0
    while i < len(tokens):
        if i + 1 < len(tokens) and (tokens[i], tokens[i + 1]) == tuple(pair):
            out.append(new)
            i += 2
        else:
            out.append(tokens[i])
            i += 1
    return out


def counted(pieces):
    counts = Counter()
    for tokens, count in pieces:
        for pair in zip(tokens, tokens[1:], strict=False):
            counts[pair] += count
    return counts


def chosen(counts):
    return sorted(counts, key=lambda pair: (-counts[pair], pair))[0]


def after(pieces, pair, new):
    return pair, [(swap_in(tokens, pair, new), count) for tokens, count in pieces]


@wrong("merge_step", "it changes its argument pieces in place")
def list_of_the_caller(pieces, new):
    pair = chosen(counted(pieces))
    for tokens, _ in pieces:
        i = 0
        while i < len(tokens) - 1:
            if (tokens[i], tokens[i + 1]) == pair:
                tokens[i : i + 2] = [new]
            i += 1
    return pair, pieces


@wrong("merge_step", "the order is reversed")
def pieces_first(pieces, new):
    return after(pieces, chosen(counted(pieces)), new)[::-1]


@right("merge_step")
def with_arrays(pieces, new):
    """Counts in a table, with numbers of NumPy in what comes out."""
    size = 1 + max(max(tokens) for tokens, _ in pieces)
    table = np.zeros((size, size), int)
    for tokens, count in pieces:
        row = np.array(tokens)
        np.add.at(table, (row[:-1], row[1:]), count)
    pair = np.unravel_index(table.argmax(), table.shape)
    return pair, [[np.array(swap_in(tokens, tuple(map(int, pair)), new)), count] for tokens, count in pieces]


@right("merge_step")
def with_a_stack(pieces, new):
    counts = defaultdict(int)
    for tokens, count in pieces:
        for i in range(1, len(tokens)):
            counts[tokens[i - 1], tokens[i]] += count
    most = max(counts.values())
    pair = min(pair for pair, count in counts.items() if count == most)
    done = []
    for tokens, count in pieces:
        out = []
        for token in tokens:
            if out and out[-1] == pair[0] and token == pair[1]:
                out[-1] = new
            else:
                out.append(token)
        done.append((tuple(out), count))
    return pair, done


@right("merge_step")
def with_a_dict(pieces, new):
    """Each different piece is listed once, so that a dict holds them all."""
    pieces = {tuple(tokens): count for tokens, count in pieces}
    return after(pieces.items(), chosen(counted(pieces.items())), new)


@right("merge_step")
def in_strings(pieces, new):
    pair, done = chosen(counted(pieces)), []
    for tokens, count in pieces:
        text = "".join(map(chr, tokens)).replace("".join(map(chr, pair)), chr(new))
        done.append((list(map(ord, text)), count))
    return list(pair), done


# ---- encode_piece ----


ENCODED = {}


@wrong("encode_piece", "the entries are not right")
def remembers_the_piece(tokens, merges):
    """A cache, as in real encoders, that does not look at the merges."""
    return ENCODED.setdefault(tuple(tokens), in_order_of_the_list(tokens, merges))


@wrong("encode_piece", "it changes its argument tokens in place")
def pops(tokens, merges):
    for number, pair in enumerate(merges, 256):
        i = 0
        while i < len(tokens) - 1:
            if (tokens[i], tokens[i + 1]) == pair:
                tokens[i] = number
                tokens.pop(i + 1)
            i += 1
    return tokens


@right("encode_piece")
def in_order_of_the_list(tokens, merges):
    for rank, pair in enumerate(merges):
        tokens = swap_in(tokens, pair, 256 + rank)
    return tokens


@right("encode_piece")
def one_merge_at_a_time(tokens, merges):
    """The leftmost of the earliest merge, then all again."""
    tokens, ranks = list(tokens), {pair: rank for rank, pair in enumerate(merges)}
    while len(tokens) > 1:
        rank, i = min((ranks.get((tokens[i], tokens[i + 1]), math.inf), i) for i in range(len(tokens) - 1))
        if rank == math.inf:
            break
        tokens = tokens[:i] + [256 + rank] + tokens[i + 2 :]
    return tuple(tokens)


@right("encode_piece")
def a_tensor_of_tokens(tokens, merges):
    return torch.tensor(one_merge_at_a_time(tokens, merges))


# ---- bits_a_character ----


@wrong("bits_a_character", "the numbers are rounded")
def rounded(nats, tokens, text):
    return round(nats * tokens / math.log(2) / len(text))


@right("bits_a_character")
def a_character_at_a_time(nats, tokens, text):
    total = torch.full((tokens,), nats, dtype=torch.float64).sum() / torch.tensor(2.0, dtype=torch.float64).log()
    return total / sum(1 for _ in text)


@right("bits_a_character")
def ratio_first(nats, tokens, text):
    tokens_a_character = tokens / len(text)
    return np.float64(nats) * np.log2(np.e) * tokens_a_character


# ---- by_chance ----


@right("by_chance")
def half_of_the_choices(differences):
    """The mirror image of a choice is equally far from 0, so the first sign may stay."""
    first, *rest = differences.tolist()
    sums = [first]
    for difference in rest:
        sums = [total + signed for total in sums for signed in (difference, -difference)]
    return sum(abs(total) >= abs(first + sum(rest)) for total in sums) / len(sums)


@right("by_chance")
def bits_of_a_number(differences):
    d = differences.numpy().astype(float)
    d = d[d != 0]  # the sign of a 0 changes nothing
    signs = 1 - 2 * (np.arange(2 ** len(d))[:, None] >> np.arange(len(d)) & 1)
    return np.mean(np.abs(signs @ d) >= abs(d.sum()))


@right("by_chance")
def without_the_smaller(differences):
    n = len(differences)
    closer = 0
    for signs in itertools.product([-1, 1], repeat=n):
        mean = sum(s * x for s, x in zip(signs, differences, strict=True)) / n
        closer += bool(abs(mean) < abs(sum(differences) / n))
    return 1 - closer / 2**n


@wrong("by_chance", "only one side is counted")
def as_large(differences):
    observed = differences.mean()
    count = 0
    for signs in itertools.product([1, -1], repeat=len(differences)):
        if (torch.tensor(signs) * differences).mean() >= observed:
            count += 1
    return count / 2 ** len(differences)


@wrong("by_chance", "every choice is counted, since their means are all equally far from 0")
def in_another_order(differences):
    some = differences[:6].tolist()
    means = [sum(order) / len(order) for order in itertools.permutations(some)]
    return sum(abs(mean) >= abs(sum(some) / len(some)) for mean in means) / len(means)


@wrong("by_chance", "a mean that is exactly as far from 0 isn't counted")
def farther(differences):
    n = len(differences)
    observed = abs(differences.sum())
    sums = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
        for signs in itertools.product((1, -1), repeat=n)
    ]
    return sum(bool(one > observed) for one in sums) / len(sums)


@wrong("by_chance", "only the number of pairs ahead is compared")
def sign_test(differences):
    plus, minus = int((differences > 0).sum()), int((differences < 0).sum())
    n = plus + minus
    if n == 0:
        return 1.0
    return min(1.0, 2 * sum(math.comb(n, k) for k in range(max(plus, minus), n + 1)) / 2**n)


@wrong("by_chance", "not every choice of signs is tried")
def one_at_a_time(differences):
    means = [differences.mean()]
    for i in range(len(differences)):
        turned = differences.clone()
        turned[i] = -turned[i]
        means.append(turned.mean())
    return sum(bool(abs(mean) >= abs(differences.mean())) for mean in means) / len(means)


@wrong("by_chance", "the numbers are not right")
def ten_thousand_draws(differences):
    generator = torch.Generator().manual_seed(0)
    signs = torch.randint(2, (10_000, len(differences)), generator=generator) * 2 - 1
    means = (signs * differences).mean(1).abs()
    return (means >= differences.mean().abs()).double().mean()


@wrong("by_chance", "the numbers are not right")
def from_a_bell_curve(differences):
    z = differences.sum() / differences.square().sum().sqrt()
    return math.erfc(abs(z) / 2**0.5)


# ---- masked_loss ----


@wrong("masked_loss", "it can't be used for training")
@torch.no_grad()
def without_a_gradient(logits, words, mask):
    return with_loops(logits, words, mask)


@right("masked_loss")
def with_loops(logits, words, mask):
    total, count = 0.0, 0
    for b, text in enumerate(mask.tolist()):
        for i in range(len(text) - 1):
            if text[i] and text[i + 1]:
                total = total + logits[b, i].logsumexp(0) - logits[b, i, words[b, i + 1]]
                count += 1
    return total / count


@wrong("masked_loss", "it can't be used for training")
def loss_in_numpy(logits, words, mask):
    z, words, mask = logits.double().numpy(), words.numpy(), mask.numpy()
    z = z - z.max(-1, keepdims=True)
    log_p = z - np.log(np.exp(z).sum(-1, keepdims=True))
    loss = -np.take_along_axis(log_p[:, :-1], words[:, 1:, None], -1)[..., 0]
    return np.average(loss, weights=mask[:, 1:] & mask[:, :-1])


@right("masked_loss")
def with_ignore_index(logits, words, mask):
    labels = words.masked_fill(~mask, -1)[:, 1:].masked_fill(~mask[:, :-1], -1)
    return nn.CrossEntropyLoss(ignore_index=-1)(logits[:, :-1].permute(0, 2, 1), labels)


# ---- read_and_asked ----


@wrong("read_and_asked", "the model has to predict the token after the next")
def windows_of_two_more(numbers, starts, length):
    windows = torch.stack([numbers[start : start + length + 2] for start in starts])
    return windows[:, :length], windows[:, 2:]


@right("read_and_asked")
def with_unfold(numbers, starts, length):
    windows = numbers.unfold(0, length + 1, 1)[starts]
    return windows[:, :-1], windows[:, 1:]


@right("read_and_asked")
def rolls_the_whole_text(numbers, starts, length):
    """What comes in at the end of the text is never asked for."""
    return [torch.stack([text[start : start + length] for start in starts]) for text in (numbers, numbers.roll(-1))]


@right("read_and_asked")
def lists_of_lists(numbers, starts, length):
    text = numbers.tolist()
    read = [text[start : start + length] for start in starts.tolist()]
    asked = [text[start + 1 : start + 1 + length] for start in starts.tolist()]
    return [read, asked]


@right("read_and_asked")
def by_places(numbers, starts, length):
    places = starts[:, None] + torch.arange(length + 1)
    return tuple(numbers[places[:, which]] for which in (slice(length), slice(1, None)))


# ---- top_p ----


@wrong("top_p", "it keeps 1 − share in place of the share")
def cuts_the_share_off(p, share):
    return by_hand(p, 1 - share)


@wrong("top_p", "it changes its argument p in place")
def into_p(p, share):
    for row in p:
        order = row.argsort(descending=True)
        count = int((row[order].cumsum(0) < share - 1e-6).sum()) + 1
        row[order[count:]] = 0
    return p / p.sum(-1, keepdim=True)


@wrong("top_p", "it calls course_lib.decoding, which isn't allowed here")
def from_the_library(p, share):
    from course_lib import decoding

    kept = decoding.nucleus(p, share)
    return kept / kept.sum(-1, keepdim=True)


@right("top_p")
def by_hand(p, share):
    out = torch.zeros_like(p)
    for b in range(len(p)):
        order = sorted(range(p.shape[1]), key=lambda word: -float(p[b, word]))
        total = 0.0
        for word in order:
            out[b, word] = p[b, word]
            total += float(p[b, word])
            if total >= share - 1e-6 and share < 1:
                break
    return out / out.sum(-1, keepdim=True)


@right("top_p")
def top_p_in_numpy(p, share):
    p = p.numpy()
    order = np.argsort(-p, axis=1)
    down = np.take_along_axis(p, order, 1)
    down = np.where(np.cumsum(down, 1) - down < share - 1e-6, down, 0)
    kept = np.zeros_like(p)
    np.put_along_axis(kept, order, down, 1)
    return kept / kept.sum(1, keepdims=True)


@right("top_p")
def the_last_of_equal_words(p, share):
    down, order = p.flip(-1).sort(dim=-1, descending=True, stable=True)
    kept = torch.zeros_like(p).scatter(1, order, down * (down.cumsum(-1) - down < share))
    return (kept / kept.sum(-1, keepdim=True)).flip(-1)


@right("top_p")
def by_ranks(p, share):
    """No sorting: what comes before a word, likelier or equal and further to the left, is added up for each word."""
    place = torch.arange(p.shape[1])
    likelier = (p[:, None, :] > p[:, :, None]) | ((p[:, None, :] == p[:, :, None]) & (place < place[:, None]))
    before = (likelier * p[:, None, :]).sum(-1)
    kept = p * (before < share - 1e-6)
    return kept / kept.sum(-1, keepdim=True)


# ---- go_on ----


def attended(q, keys, values, sees=None):
    scores = q @ keys.mT / math.sqrt(q.shape[-1])
    if sees is not None:
        scores = scores.masked_fill(~sees, float("-inf"))
    return scores.softmax(-1) @ values


def sees_of(before, new):
    return torch.arange(before + new) <= before + torch.arange(new)[:, None]


@wrong("go_on", "it changes its argument past in place")
def into_the_past(x, past, layers, codes):
    s, m = len(past[0][0]), len(x)
    x = x + codes[s : s + m]
    for i, (W_q, W_k, W_v) in enumerate(layers):
        past[i] = torch.cat([past[i][0], x @ W_k]), torch.cat([past[i][1], x @ W_v])
        x = x + attended(x @ W_q, *past[i], sees_of(s, m))
    return x, past


@wrong("go_on", "it returns a tensor of shape (1, 3), not 2 things")
def forgets_the_past(x, past, layers, codes):
    return in_a_loop(x, past, layers, codes)[0]


@right("go_on")
def in_a_loop(x, past, layers, codes):
    """Token after token, as if each came alone."""
    kept = [(keys, values) for keys, values in past]
    out = []
    for one in x:
        v = one + codes[len(kept[0][0])]
        for i, (W_q, W_k, W_v) in enumerate(layers):
            kept[i] = torch.cat([kept[i][0], (v @ W_k)[None]]), torch.cat([kept[i][1], (v @ W_v)[None]])
            v = v + attended((v @ W_q)[None], *kept[i])[0]
        out.append(v)
    return torch.stack(out), kept


@right("go_on")
def in_numpy(x, past, layers, codes):
    x, codes, s = x.numpy(), codes.numpy(), len(past[0][0])
    x, kept = x + codes[s : s + len(x)], []
    for weights, old in zip(layers, past, strict=True):
        W_q, W_k, W_v = (weight.numpy() for weight in weights)
        keys, values = np.concatenate([old[0].numpy(), x @ W_k]), np.concatenate([old[1].numpy(), x @ W_v])
        scores = x @ W_q @ keys.T / np.sqrt(W_k.shape[1]).astype(x.dtype)
        scores = np.where(np.tri(len(x), s + len(x), s, dtype=bool), scores, -np.inf)
        e = np.exp(scores - scores.max(-1, keepdims=True))
        kept.append([torch.from_numpy(keys), torch.from_numpy(values)])
        x = x + e / e.sum(-1, keepdims=True) @ values
    return [torch.from_numpy(x), kept]


# ---- copied_at_18, looks_at_18 ----

wrong_value("copied_at_18", [0.02, 0.05], "neither model copies")
wrong_value("copied_at_18", [0.99, 0.0], "the two shares are swapped")
wrong_value("copied_at_18", [0.5, 1.0], "half of the copy stays correct")
wrong_value("copied_at_18", [0, 100], "these are percentages")
wrong_value("copied_at_18", [0.01, 0.99, 1.0], "[0.01, 0.99, 1.0] has 3 of 2 entries")
wrong_value("copied_at_18", [0.0, 0.7], "entry 2 of [0.0, 0.7] is not right")
right_value("copied_at_18", [0.0, 1.0])
right_value("copied_at_18", torch.tensor([0.02, 0.95]))

wrong_value("looks_at_18", [0.0, 0.98, 0.61, 1.0, 0.0, 0.03], "A and B are swapped")
wrong_value("looks_at_18", [1.0, 0.0, 0.0, 0.98, 0.03, 0.61], "the numbers of A and B alternate")
wrong_value("looks_at_18", [0.0, 1.0, 0.03, 0.98, 0.0, 0.45], "the two numbers of layer 2 are swapped")
wrong_value("looks_at_18", [0.03, 1.0, 0.0, 0.61, 0.0, 0.98], "the number of layer 1 comes first")
wrong_value("looks_at_18", [0.031, 0.025, 0.0, 0.0, 0.0, 0.0], "the two layers are swapped")
wrong_value("looks_at_18", [0.059, 0.038, 0.029, 0.038, 0.058, 0.019], "this is the mean over a whole block of the map")
wrong_value("looks_at_18", [0.058, 0.001, 0.023, 0.058, 0.056, 0.055], "this is the mean of a single column of the map")
wrong_value(
    "looks_at_18",
    [1.0, 0.0, 0.02, 0.0, 0.0, 0.5],
    "the second number of each model is from eighteen back, where the same symbol was",
)
wrong_value("looks_at_18", [0.0, 0.0, 0.02, 0.0, 0.98, 0.47], "the first number of each model is from twelve back")
wrong_value("looks_at_18", [0.007, 0.0, 0.02, 0.001, 0.002, 0.005], "every position is one too far back")
wrong_value("looks_at_18", [0.0, 0.0, 0.339, 0.002, 0.003, 0.021], "every position is one too close")
wrong_value("looks_at_18", [1, 0, 0, 0, 1, 0], "the third number of each model isn't from layer 1")
wrong_value("looks_at_18", (1.0, 0.0, 0.03, 1.0, 0.0, 0.03), "both models count")
wrong_value("looks_at_18", [0.0, 0.98, 0.6, 0.0, 0.98, 0.6], "both models look")
wrong_value("looks_at_18", [1.0, 0.0, 0.03], "these are the three numbers of A")
wrong_value("looks_at_18", [1.0, 0.0, 0.0, 0.98], "the two numbers of layer 1 are missing")
wrong_value("looks_at_18", [1.0, 0.0, 0.03, 0.0, 0.5, 0.6], "entry 5 of [1.0, 0.0, 0.03, 0.0, 0.5, 0.6] is not right")
right_value("looks_at_18", [1.0, 0.0, 0.03, 0.0, 0.98, 0.29])
right_value("looks_at_18", [torch.tensor(0.96), 0.01, 0.02, torch.tensor(0.01), torch.tensor(0.96), 0.63])


# ---- written from the text alone ----


def replaced(tokens, pair, new):
    out, i = [], 0
    while i < len(tokens):
        if i + 1 < len(tokens) and (tokens[i], tokens[i + 1]) == pair:
            out.append(new)
            i += 2
        else:
            out.append(tokens[i])
            i += 1
    return out


@wrong("merge_step", "each piece is counted only once")
def merge_counts_pieces_once(pieces, new):
    counts = Counter()
    for tokens, _ in pieces:
        counts.update(zip(tokens, tokens[1:], strict=False))
    most = max(counts.values())
    pair = min(p for p in counts if counts[p] == most)
    return pair, [(replaced(tokens, pair, new), count) for tokens, count in pieces]


@wrong("merge_step", "in a tie, it takes the pair it met first")
def merge_ties_by_order_of_meeting(pieces, new):
    counts = Counter()
    for tokens, count in pieces:
        for pair in zip(tokens, tokens[1:], strict=False):
            counts[pair] += count
    pair = counts.most_common(1)[0][0]
    return pair, [(replaced(tokens, pair, new), count) for tokens, count in pieces]


@wrong("merge_step", "only the first occurrence in each piece is merged")
def merge_first_occurrence_only(pieces, new):
    counts = {}
    for tokens, count in pieces:
        for a, b in zip(tokens, tokens[1:], strict=False):
            counts[a, b] = counts.get((a, b), 0) + count
    pair = sorted(counts, key=lambda p: (-counts[p], p))[0]
    after = []
    for tokens, count in pieces:
        tokens = list(tokens)
        for i in range(len(tokens) - 1):
            if (tokens[i], tokens[i + 1]) == pair:
                tokens[i : i + 2] = [new]
                break
        after.append((tokens, count))
    return pair, after


@wrong("encode_piece", "pairs are merged in the order of the text")
def encode_from_the_left(tokens, merges):
    out = list(tokens)
    i = 0
    while i < len(out) - 1:
        pair = (out[i], out[i + 1])
        if pair in merges:
            out[i : i + 2] = [256 + merges.index(pair)]
            i = max(i - 1, 0)
        else:
            i += 1
    return out


@wrong("encode_piece", "merged tokens are numbered from 0")
def encode_numbers_from_zero(tokens, merges):
    for number, pair in enumerate(merges):
        tokens = replaced(tokens, pair, number)
    return tokens


@wrong("encode_piece", "it stops after the first merge")
def encode_one_round(tokens, merges):
    pairs = list(zip(tokens, tokens[1:], strict=False))
    found = [m for m in merges if m in pairs]
    if not found:
        return tokens
    return replaced(tokens, found[0], 256 + merges.index(found[0]))


@wrong("bits_a_character", "these are bits per byte")
def bits_of_bytes(nats, tokens, text):
    return nats * tokens / math.log(2) / len(text.encode())


@wrong("bits_a_character", "the nats are multiplied by ln 2, not divided by it")
def bits_times_ln_2(nats, tokens, text):
    return nats * tokens * math.log(2) / len(text)


@wrong("bits_a_character", "these are bits per token")
def bits_a_token(nats, tokens, text):
    return nats / math.log(2)


@wrong("masked_loss", "a position counts although padding is read there")
def masked_only_asked_for(logits, words, mask):
    log_p = logits[:, :-1].log_softmax(-1)
    loss = -log_p.gather(-1, words[:, 1:].unsqueeze(-1)).squeeze(-1)
    m = mask[:, 1:]
    return (loss * m).sum() / m.sum()


@wrong("masked_loss", "positions that don't count are set to 0, but stay in the mean")
def masked_divides_by_all_places(logits, words, mask):
    both = mask[:, :-1] & mask[:, 1:]
    loss = F.cross_entropy(logits[:, :-1].transpose(1, 2), words[:, 1:], reduction="none")
    return (loss * both).mean()


@wrong("masked_loss", "it can't be used for training")
def masked_loop_with_item(logits, words, mask):
    total, count = 0.0, 0
    for b in range(len(words)):
        for t in range(words.shape[1] - 1):
            if mask[b, t] and mask[b, t + 1]:
                total -= logits[b, t].log_softmax(-1)[words[b, t + 1]].item()
                count += 1
    return torch.tensor(total / count)


@wrong("read_and_asked", "every window is one token too short")
def asked_window_one_short(numbers, starts, length):
    windows = torch.stack([numbers[start : start + length] for start in starts])
    return windows[:, :-1], windows[:, 1:]


@wrong("read_and_asked", "the model has to predict what it reads")
def asked_is_what_is_read(numbers, starts, length):
    reads = torch.stack([numbers[s : s + length] for s in starts])
    return reads, reads.clone()


@wrong("read_and_asked", "every position has to predict the token before it, which has been read")
def asked_only_exchanged(numbers, starts, length):
    windows = torch.stack([numbers[start : start + length + 1] for start in starts])
    return windows[:, 1:], windows[:, :-1]


@wrong("top_p", "the word that crosses the share is left out")
def top_p_without_the_word_that_reaches(p, share):
    down, order = p.sort(-1, descending=True)
    keep = down.cumsum(-1) <= share
    down = down * keep
    out = torch.zeros_like(p).scatter(-1, order, down)
    return out / out.sum(-1, keepdim=True)


@wrong("top_p", "the numbers stay in sorted order")
def top_p_left_sorted(p, share):
    down, order = p.sort(-1, descending=True)
    before = down.cumsum(-1) - down
    down = down.masked_fill(before >= share, 0)
    return down / down.sum(-1, keepdim=True)


@wrong("top_p", "it keeps words that are probable enough on their own")
def top_p_as_a_threshold(p, share):
    kept = torch.where(p >= 1 - share, p, torch.zeros_like(p))
    return kept / kept.sum(-1, keepdim=True)


@wrong("go_on", "the new tokens start at position 0 again")
def go_on_codes_from_zero(x, past, layers, codes):
    s, m = past[0][0].shape[0], x.shape[0]
    x = x + codes[:m]
    mask = torch.ones(m, s + m, dtype=torch.bool).tril(s)
    new_past = []
    for (W_q, W_k, W_v), (keys, values) in zip(layers, past, strict=True):
        keys = torch.cat([keys, x @ W_k])
        values = torch.cat([values, x @ W_v])
        new_past.append((keys, values))
        scores = x @ W_q @ keys.T / math.sqrt(W_q.shape[1])
        x = x + torch.softmax(scores.masked_fill(~mask, -torch.inf), -1) @ values
    return x, new_past


@wrong("go_on", "new tokens see what comes after them")
def go_on_prompt_sees_what_comes(x, past, layers, codes):
    s, m = past[0][0].shape[0], x.shape[0]
    x = x + codes[s : s + m]
    new_past = []
    for (W_q, W_k, W_v), (keys, values) in zip(layers, past, strict=True):
        keys = torch.cat([keys, x @ W_k])
        values = torch.cat([values, x @ W_v])
        new_past.append((keys, values))
        scores = x @ W_q @ keys.T / math.sqrt(W_q.shape[1])
        x = x + torch.softmax(scores, -1) @ values
    return x, new_past


@wrong("go_on", "the residual is left out")
def go_on_without_the_residual(x, past, layers, codes):
    s, m = past[0][0].shape[0], x.shape[0]
    x = x + codes[s : s + m]
    mask = torch.ones(m, s + m, dtype=torch.bool).tril(s)
    new_past = []
    for (W_q, W_k, W_v), (keys, values) in zip(layers, past, strict=True):
        keys = torch.cat([keys, x @ W_k])
        values = torch.cat([values, x @ W_v])
        new_past.append((keys, values))
        scores = x @ W_q @ keys.T / math.sqrt(W_q.shape[1])
        x = torch.softmax(scores.masked_fill(~mask, -torch.inf), -1) @ values
    return x, new_past


wrong_value("copied_at_18", [1.0, 1.0], "both models copy")
wrong_value("copied_at_18", [1.0, 0.0], "the two shares are swapped")
wrong_value("looks_at_18", [0.9, 0.0, 0.0], "these are the three numbers of A")


@wrong("merge_step", "a pair counts once per piece, however often it occurs there")
def merge_pair_once_a_piece(pieces, new):
    c = Counter()
    for t, k in pieces:
        for p in set(zip(t, t[1:], strict=False)):
            c[p] += k
    best = min(c, key=lambda p: (-c[p], p))
    after = []
    for t, k in pieces:
        o, i = ([], 0)
        while i < len(t):
            if tuple(t[i : i + 2]) == best:
                o.append(new)
                i += 2
            else:
                o.append(t[i])
                i += 1
        after.append((o, k))
    return (best, after)


@wrong("merge_step", "in a tie, it takes the larger pair")
def merge_ties_to_the_larger(pieces, new):
    c = Counter()
    for t, k in pieces:
        for p in zip(t, t[1:], strict=False):
            c[p] += k
    best = max(c, key=lambda p: (c[p], p))
    after = []
    for t, k in pieces:
        o, i = ([], 0)
        while i < len(t):
            if tuple(t[i : i + 2]) == best:
                o.append(new)
                i += 2
            else:
                o.append(t[i])
                i += 1
        after.append((o, k))
    return (best, after)


@wrong("masked_loss", "it returns the mean of the texts' means")
def masked_mean_of_text_means(logits, words, mask):
    losses = F.cross_entropy(logits[:, :-1].transpose(1, 2), words[:, 1:], reduction="none")
    per = []
    for r, m in zip(losses, mask[:, 1:] & mask[:, :-1], strict=False):
        if m.any():
            per.append(r[m].mean())
    return torch.stack(per).mean()


@wrong("top_p", "a word is kept although the words before it reach the share")
def top_p_one_more_at_the_share(p, share):
    d, o = p.sort(-1, descending=True)
    k = d.cumsum(-1) - d <= share
    r = torch.zeros_like(p).scatter(-1, o, d * k)
    return r / r.sum(-1, keepdim=True)


@wrong("top_p", "the probabilities that are kept don't sum to 1")
def top_p_not_divided_again(p, share):
    d, o = p.sort(-1, descending=True)
    return torch.zeros_like(p).scatter(-1, o, d.masked_fill(d.cumsum(-1) - d >= share, 0))


@wrong("go_on", "the scores are divided by √d, not by √k")
def go_on_root_of_d(x, past, layers, codes):
    s, m = (past[0][0].shape[0], len(x))
    x = x + codes[s : s + m]
    sees = torch.ones(m, s + m, dtype=torch.bool).tril(s)
    new = []
    for (q, k, v), (K, V) in zip(layers, past, strict=False):
        K, V = (torch.cat([K, x @ k]), torch.cat([V, x @ v]))
        new.append((K, V))
        x = x + (x @ q @ K.T / x.shape[1] ** 0.5).masked_fill(~sees, -torch.inf).softmax(-1) @ V
    return (x, new)


@wrong("go_on", "the mask's triangle begins at the first token, not at the first new one")
def go_on_triangle_from_the_first(x, past, layers, codes):
    s, m = (past[0][0].shape[0], len(x))
    x = x + codes[s : s + m]
    sees = torch.ones(m, s + m, dtype=torch.bool).tril()
    new = []
    for (q, k, v), (K, V) in zip(layers, past, strict=False):
        K, V = (torch.cat([K, x @ k]), torch.cat([V, x @ v]))
        new.append((K, V))
        x = x + (x @ q @ K.T / K.shape[1] ** 0.5).masked_fill(~sees, -torch.inf).softmax(-1) @ V
    return (x, new)


@wrong("masked_loss", "large logits overflow")
def masked_without_subtracting(logits, words, mask):
    read, wanted = logits[:, :-1], words[:, 1:]
    log_p = read - torch.log(torch.exp(read).sum(-1, keepdim=True))
    return -log_p.gather(-1, wanted[..., None])[..., 0][mask[:, 1:] & mask[:, :-1]].mean()
