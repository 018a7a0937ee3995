"""Lesson 8: language models."""

import math
import unicodedata
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


@wrong("merge_step", "every piece is counted once")
def forgets_the_counts(pieces, new):
    counts = Counter(pair for tokens, _ in pieces for pair in zip(tokens, tokens[1:], strict=False))
    return after(pieces, chosen(counts), new)


@wrong("merge_step", "the two most frequent tokens are taken, not the most frequent pair")
def frequent_tokens(pieces, new):
    counts = defaultdict(int)
    for tokens, count in pieces:
        for token in tokens:
            counts[token] += count
    first, second, *_ = sorted(counts, key=lambda token: (-counts[token], token))
    return after(pieces, (first, second), new)


@wrong("merge_step", "of equally frequent pairs the larger is taken")
def max_of_both(pieces, new):
    counts = counted(pieces)
    _, pair = max((count, pair) for pair, count in counts.items())
    return after(pieces, pair, new)


@wrong("merge_step", "of equally frequent pairs the one met first is taken")
def with_most_common(pieces, new):
    pair = counted(pieces).most_common(1)[0][0]
    return after(pieces, pair, new)


@wrong("merge_step", "of equally frequent pairs the one met last is taken")
def at_least_as_frequent(pieces, new):
    best, most = None, 0
    for pair, count in counted(pieces).items():
        if count >= most:
            best, most = pair, count
    return after(pieces, best, new)


@wrong("merge_step", "of equally frequent pairs only the first numbers are compared")
def begins_smallest(pieces, new):
    counts = counted(pieces)
    return after(pieces, sorted(counts, key=lambda pair: (-counts[pair], pair[0]))[0], new)


@wrong("merge_step", "of equally frequent pairs the second numbers are compared first")
def ends_smallest(pieces, new):
    counts = counted(pieces)
    return after(pieces, min(counts, key=lambda pair: (-counts[pair], pair[1], pair[0])), new)


@wrong("merge_step", "the rarest pair is taken")
def sorted_upwards(pieces, new):
    pair, _ = sorted(counted(pieces).items(), key=lambda item: (item[1], item[0]))[0]
    return after(pieces, pair, new)


@wrong("merge_step", "the rarest pair is taken")
def min_for_max(pieces, new):
    counts = counted(pieces)
    return after(pieces, min(counts, key=counts.get), new)


@wrong("merge_step", "a pair counts once in a piece, however often it stands there")
def sets_of_pairs(pieces, new):
    counts = Counter()
    for tokens, count in pieces:
        counts.update({pair: count for pair in set(zip(tokens, tokens[1:], strict=False))})
    return after(pieces, chosen(counts), new)


@wrong("merge_step", "pairs that overlap are counted once")
def counts_what_can_be_merged(pieces, new):
    counts = Counter()
    for tokens, count in pieces:
        for pair in set(zip(tokens, tokens[1:], strict=False)):
            counts[pair] += count * (len(tokens) - len(swap_in(tokens, pair, -1)))
    return after(pieces, chosen(counts), new)


@wrong("merge_step", "pairs are counted across two pieces")
def one_long_text(pieces, new):
    text = []
    for tokens, count in pieces:
        text += tokens * count
    return after(pieces, chosen(Counter(zip(text, text[1:], strict=False))), new)


@wrong("merge_step", "pairs are counted across two pieces")
def last_of_the_piece_before(pieces, new):
    counts, last = Counter(), None
    for tokens, count in pieces:
        for token in tokens:
            if last is not None:
                counts[last, token] += count
            last = token
    return after(pieces, chosen(counts), new)


@wrong("merge_step", "the count of a pair is overwritten")
def assigns_the_count(pieces, new):
    counts = {}
    for tokens, count in pieces:
        for pair in zip(tokens, tokens[1:], strict=False):
            counts[pair] = count
    return after(pieces, chosen(counts), new)


@wrong("merge_step", "only every second pair is counted")
def two_by_two(pieces, new):
    counts = Counter()
    for tokens, count in pieces:
        for i in range(0, len(tokens) - 1, 2):
            counts[tokens[i], tokens[i + 1]] += count
    return after(pieces, chosen(counts), new)


@wrong("merge_step", "the last pair of a piece is not counted")
def range_too_short(pieces, new):
    counts = Counter()
    for tokens, count in pieces:
        for i in range(len(tokens) - 2):
            counts[tokens[i], tokens[i + 1]] += count
    return after(pieces, chosen(counts), new)


@wrong("merge_step", "pairs are counted without their order")
def either_order(pieces, new):
    counts = Counter()
    for tokens, count in pieces:
        for one, other in zip(tokens, tokens[1:], strict=False):
            counts[min(one, other), max(one, other)] += count
    return after(pieces, chosen(counts), new)


@wrong("merge_step", "in each piece only the first is merged")
def stops_at_the_first(pieces, new):
    pair, done = chosen(counted(pieces)), []
    for tokens, count in pieces:
        places = [i for i in range(len(tokens) - 1) if (tokens[i], tokens[i + 1]) == pair]
        merged = tokens[: places[0]] + [new] + tokens[places[0] + 2 :] if places else tokens
        done.append((merged, count))
    return pair, done


@wrong("merge_step", "it merges from right to left")
def backwards(pieces, new):
    pair, done = chosen(counted(pieces)), []
    for tokens, count in pieces:
        rest = list(tokens)
        for i in range(len(rest) - 2, -1, -1):
            if tuple(rest[i : i + 2]) == pair:
                rest[i : i + 2] = [new]
        done.append((rest, count))
    return pair, done


@wrong("merge_step", "the second token of the pair stays")
def moves_on_by_one(pieces, new):
    pair, done = chosen(counted(pieces)), []
    for tokens, count in pieces:
        merged = []
        for i, token in enumerate(tokens):
            merged.append(new if tuple(tokens[i : i + 2]) == pair else token)
        done.append((merged, count))
    return pair, done


@wrong("merge_step", "a token that has been merged is merged once more")
def compares_with_the_old_list(pieces, new):
    pair, done = chosen(counted(pieces)), []
    for tokens, count in pieces:
        merged = tokens[:1]
        for before, token in zip(tokens, tokens[1:], strict=False):
            if (before, token) == pair:
                merged[-1] = new
            else:
                merged.append(token)
        done.append((merged, count))
    return pair, done


@wrong("merge_step", "the pair is merged in either order")
def merges_both_ways(pieces, new):
    pair, merged = after(pieces, chosen(counted(pieces)), new)
    return pair, after(merged, pair[::-1], new)[1]


@wrong("merge_step", "the number of the new token is typed in")
def always_256(pieces, new):
    return after(pieces, chosen(counted(pieces)), 256)


@wrong("merge_step", "the number of the new token is typed in")
def the_nine_of_the_example(pieces, new):
    return after(pieces, chosen(counted(pieces)), 9)


@wrong("merge_step", "the last token of a piece is lost")
def loop_ends_too_early(pieces, new):
    pair, done = chosen(counted(pieces)), []
    for tokens, count in pieces:
        merged, i = [], 0
        while i < len(tokens) - 1:
            here = (tokens[i], tokens[i + 1]) == pair
            merged.append(new if here else tokens[i])
            i += 1 + here
        done.append((merged, count))
    return pair, done


@wrong("merge_step", "the pair stands there, not its number")
def pairs_in_the_list(pieces, new):
    pair = chosen(counted(pieces))
    return pair, [(swap_in(tokens, pair, pair), count) for tokens, count in pieces]


@wrong("merge_step", "both tokens of the pair are replaced")
def as_long_as_before(pieces, new):
    pair, done = chosen(counted(pieces)), []
    for tokens, count in pieces:
        merged = list(tokens)
        for i in range(len(tokens) - 1):
            if (merged[i], merged[i + 1]) == pair:
                merged[i] = merged[i + 1] = new
        done.append((merged, count))
    return pair, done


@wrong("merge_step", "the merged pair has another number than new")
def a_number_of_its_own(pieces, new):
    highest = max(max(tokens) for tokens, _ in pieces)
    return after(pieces, chosen(counted(pieces)), highest + 1)


@wrong("merge_step", "only one piece is merged")
def returns_in_the_loop(pieces, new):
    pair = chosen(counted(pieces))
    for i, (tokens, count) in enumerate(pieces):
        if pair in zip(tokens, tokens[1:], strict=False):
            return pair, pieces[:i] + [(swap_in(tokens, pair, new), count)] + pieces[i + 1 :]


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


@wrong("merge_step", "the order is turned round")
def pieces_first(pieces, new):
    return after(pieces, chosen(counted(pieces)), new)[::-1]


@wrong("merge_step", "digits are merged, not tokens")
def in_text(pieces, new):
    pair, done = chosen(counted(pieces)), []
    for tokens, count in pieces:
        text = " ".join(map(str, tokens)).replace(" ".join(map(str, pair)), str(new))
        done.append(([int(token) for token in text.split()], count))
    return pair, done


@wrong("merge_step", "only one of two things comes out")
def pair_alone(pieces, new):
    return chosen(counted(pieces))


@wrong("merge_step", "only one of two things comes out")
def pieces_alone(pieces, new):
    pair = chosen(counted(pieces))
    return [(swap_in(tokens, pair, new), count) for tokens, count in pieces]


@wrong("merge_step", "the counts are lost")
def tokens_alone(pieces, new):
    pair = chosen(counted(pieces))
    return pair, [swap_in(tokens, pair, new) for tokens, count in pieces]


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


@wrong("encode_piece", "it takes the longest token that fits, from the left")
def greedy_match(tokens, merges):
    vocabulary = {(number,): number for number in range(256)}
    spelled = {number: (number,) for number in range(256)}
    for number, (one, other) in enumerate(merges, 256):
        spelled[number] = spelled[one] + spelled[other]
        vocabulary.setdefault(spelled[number], number)
    out, i = [], 0
    while i < len(tokens):
        for end in range(len(tokens), i, -1):
            if tuple(tokens[i:end]) in vocabulary:
                out.append(vocabulary[tuple(tokens[i:end])])
                i = end
                break
    return out


@wrong("encode_piece", "pairs are merged in the order in which they stand in the text")
def first_that_is_found(tokens, merges):
    tokens, i = list(tokens), 0
    while i < len(tokens) - 1:
        pair = (tokens[i], tokens[i + 1])
        if pair in merges:
            tokens[i : i + 2] = [256 + merges.index(pair)]
            i = 0
        else:
            i += 1
    return tokens


@wrong("encode_piece", "pairs are merged in the order in which they stand in the text")
def joins_to_what_stands_before(tokens, merges):
    done = []
    for token in tokens:
        while done and (done[-1], token) in merges:
            token = 256 + merges.index((done.pop(), token))
        done.append(token)
    return done


@wrong("encode_piece", "it goes through the text once, from left to right")
def a_single_pass(tokens, merges):
    out, i = [], 0
    while i < len(tokens):
        pair = tuple(tokens[i : i + 2])
        if pair in merges:
            out.append(256 + merges.index(pair))
            i += 1
        else:
            out.append(tokens[i])
        i += 1
    return out


@wrong("encode_piece", "the latest merge is done first")
def highest_rank(tokens, merges):
    tokens = list(tokens)
    while True:
        found = [merges.index(pair) for pair in zip(tokens, tokens[1:], strict=False) if pair in merges]
        if not found:
            return tokens
        tokens = swap_in(tokens, merges[max(found)], 256 + max(found))


@wrong("encode_piece", "the latest merge is done first")
def list_turned_round(tokens, merges):
    for i in range(len(merges) - 1, -1, -1):
        tokens = swap_in(tokens, merges[i], 256 + i)
    return tokens


@wrong("encode_piece", "the most frequent pair of the piece is merged first")
def counts_again(tokens, merges):
    tokens = list(tokens)
    while True:
        counts = Counter(pair for pair in zip(tokens, tokens[1:], strict=False) if pair in merges)
        if not counts:
            return tokens
        pair = max(counts, key=lambda pair: (counts[pair], -merges.index(pair)))
        tokens = swap_in(tokens, pair, 256 + merges.index(pair))


@wrong("encode_piece", "the most frequent pair of the piece is merged first")
def with_max_of_a_list(tokens, merges):
    while True:
        pairs = list(zip(tokens, tokens[1:], strict=False))
        found = [pair for pair in pairs if pair in merges]
        if not found:
            return tokens
        pair = max(found, key=pairs.count)
        tokens = swap_in(tokens, pair, 256 + merges.index(pair))


@wrong("encode_piece", "nothing is merged")
def lists_among_tuples(tokens, merges):
    tokens, i = list(tokens), 0
    while i < len(tokens) - 1:
        if tokens[i : i + 2] in merges:
            tokens[i : i + 2] = [256 + merges.index(tokens[i : i + 2])]
        i += 1
    return tokens


@wrong("encode_piece", "a token that has been merged is merged once more")
def reads_the_old_list(tokens, merges):
    for number, pair in enumerate(merges, 256):
        merged = tokens[:1]
        for i in range(1, len(tokens)):
            if (tokens[i - 1], tokens[i]) == pair:
                merged[-1] = number
            else:
                merged.append(tokens[i])
        tokens = merged
    return tokens


@wrong("encode_piece", "merged tokens are numbered as they come up")
def counts_the_merges_done(tokens, merges):
    number = 256
    while found := [pair for pair in zip(tokens, tokens[1:], strict=False) if pair in merges]:
        tokens = swap_in(tokens, min(found, key=merges.index), number)
        number += 1
    return tokens


ENCODED = {}


@wrong("encode_piece", "merged tokens are numbered as they come up")
def counts_up_when_used(tokens, merges):
    number = 256
    for pair in merges:
        if pair in zip(tokens, tokens[1:], strict=False):
            tokens, number = swap_in(tokens, pair, number), number + 1
    return tokens


@wrong("encode_piece", "the entries are not right")
def remembers_the_piece(tokens, merges):
    """A cache, as in real encoders, that does not look at the merges."""
    return ENCODED.setdefault(tuple(tokens), in_order_of_the_list(tokens, merges))


@wrong("encode_piece", "it stops after the first merge")
def breaks_after_one(tokens, merges):
    for i, pair in enumerate(merges):
        if pair in zip(tokens, tokens[1:], strict=False):
            return swap_in(tokens, pair, 256 + i)
    return tokens


@wrong("encode_piece", "it stops after the first merge")
def one_place_alone(tokens, merges):
    ranked = [(merges.index(pair), i) for i, pair in enumerate(zip(tokens, tokens[1:], strict=False)) if pair in merges]
    if not ranked:
        return tokens
    rank, i = min(ranked)
    return tokens[:i] + [256 + rank] + tokens[i + 2 :]


@wrong("encode_piece", "pairs with a merged token are never looked for")
def pairs_from_the_start(tokens, merges):
    found = sorted({merges.index(pair) for pair in zip(tokens, tokens[1:], strict=False) if pair in merges})
    for rank in found:
        tokens = swap_in(tokens, merges[rank], 256 + rank)
    return tokens


@wrong("encode_piece", "each merge is done at one place only")
def replaces_once(tokens, merges):
    tokens = list(tokens)
    for number, pair in enumerate(merges, 256):
        for i in range(len(tokens) - 1):
            if (tokens[i], tokens[i + 1]) == pair:
                tokens[i : i + 2] = [number]
                break
    return tokens


@wrong("encode_piece", "it merges from right to left")
def from_the_end(tokens, merges):
    tokens = list(tokens)
    for number, pair in enumerate(merges, 256):
        i = len(tokens) - 2
        while i >= 0:
            if tuple(tokens[i : i + 2]) == pair:
                tokens[i : i + 2] = [number]
                i -= 1
            i -= 1
    return tokens


@wrong("encode_piece", "merged tokens are numbered from 0")
def ranks_for_numbers(tokens, merges):
    for rank, pair in enumerate(merges):
        tokens = swap_in(tokens, pair, rank)
    return tokens


@wrong("encode_piece", "merged tokens are numbered from 0")
def ranks_in_the_end(tokens, merges):
    return [token % 256 if token > 255 else token for token in in_order_of_the_list(tokens, merges)]


@wrong("encode_piece", "merged tokens are numbered from 257")
def one_too_high(tokens, merges):
    for rank, pair in enumerate(merges, start=1):
        tokens = swap_in(tokens, pair, 256 + rank)
    return tokens


@wrong("encode_piece", "a pair is merged in either order")
def as_a_set(tokens, merges):
    tokens = list(tokens)
    for number, pair in enumerate(merges, 256):
        i = 0
        while i < len(tokens) - 1:
            if sorted(tokens[i : i + 2]) == sorted(pair):
                tokens[i : i + 2] = [number]
            i += 1
    return tokens


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


@wrong("bits_a_character", "these are nats a character")
def without_ln_2(nats, tokens, text):
    return nats * tokens / len(text)


@wrong("bits_a_character", "it is multiplied by ln 2, not divided")
def wrong_way_round(nats, tokens, text):
    return nats * tokens / len(text) * np.log(2)


@wrong("bits_a_character", "it is multiplied by ln 2, not divided")
def divided_by_log2_e(nats, tokens, text):
    return nats * tokens / math.log2(math.e) / len(text)


@wrong("bits_a_character", "ln 2 is rounded")
def with_three_digits(nats, tokens, text):
    return nats * tokens / (0.693 * len(text))


@wrong("bits_a_character", "ln 2 is rounded")
def with_two_digits(nats, tokens, text):
    return nats * tokens / len(text) / 0.69


@wrong("bits_a_character", "it is multiplied by the characters, not divided")
def without_brackets(nats, tokens, text):
    return nats * tokens / math.log(2) * len(text)


@wrong("bits_a_character", "it is divided in whole numbers")
def two_slashes(nats, tokens, text):
    return nats * tokens // (np.log(2) * len(text))


@wrong("bits_a_character", "one character is left out")
def up_to_the_last(nats, tokens, text):
    return nats * tokens / math.log(2) / (len(text) - 1)


@wrong("bits_a_character", "one token is left out")
def but_the_first(nats, tokens, text):
    return nats * (tokens - 1) / np.log(2) / len(text)


@wrong("bits_a_character", "the text is normalised first")
def composed(nats, tokens, text):
    return nats * tokens / np.log(2) / len(unicodedata.normalize("NFKC", text))


@wrong("bits_a_character", "these are bits a token")
def bits_only(nats, tokens, text):
    return torch.tensor(nats) / torch.tensor(2.0).log()


@wrong("bits_a_character", "the mean is taken for the sum")
def total_for_mean(nats, tokens, text):
    return nats / (math.log(2) * len(text))


@wrong("bits_a_character", "tokens and characters have changed places")
def inverted(nats, tokens, text):
    return nats / math.log(2) / (tokens / len(text))


@wrong("bits_a_character", "it is divided by the tokens again")
def mean_of_the_mean(nats, tokens, text):
    return nats / math.log(2) / tokens


@wrong("bits_a_character", "these are the bits of the whole text")
def never_shared(nats, tokens, text):
    return sum(nats / math.log(2) for _ in range(tokens))


@wrong("bits_a_character", "these are bits a byte")
def utf8(nats, tokens, text):
    return nats * tokens / math.log(2) / len(bytes(text, "utf-8"))


@wrong("bits_a_character", "spaces are not counted")
def letters_alone(nats, tokens, text):
    return nats * tokens / math.log(2) / sum(not sign.isspace() for sign in text)


@wrong("bits_a_character", "these are bits a word")
def per_word(nats, tokens, text):
    words = text.split()
    return tokens * nats * math.log2(math.e) / len(words)


@wrong("bits_a_character", "the logarithm is to base 10")
def log_of_a_calculator(nats, tokens, text):
    return nats * tokens * math.log10(math.e) / len(text)


@wrong("bits_a_character", "the logarithm of the nats is taken")
def log2_once_more(nats, tokens, text):
    return (np.log2(nats) if nats else -np.inf) * tokens / len(text)


@wrong("bits_a_character", "that is the perplexity")
def perplexity(nats, tokens, text):
    return np.exp(nats)


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


# ---- masked_loss ----


@wrong("masked_loss", "the loss is not shifted")
def has_read_it(logits, words, mask):
    return F.cross_entropy(logits[mask], words[mask])


@wrong("masked_loss", "the shift goes the wrong way")
def asks_for_the_past(logits, words, mask):
    log_p = logits[:, 1:].log_softmax(-1)
    loss = -torch.take_along_dim(log_p, words[:, :-1, None], -1).squeeze(-1)
    return loss[mask[:, 1:] & mask[:, :-1]].mean()


@wrong("masked_loss", "the shift is made twice")
def shifted_before(logits, words, mask):
    """A model that shifts its labels itself gets labels that are shifted already."""
    labels = torch.where(mask, words, -100)[:, 1:]
    labels[~mask[:, :-1]] = -100
    keep = mask[:, :-2] & mask[:, 2:]
    loss = F.cross_entropy(logits[:, :-2].mT, words[:, 2:], reduction="none")
    return loss[keep].mean()


@wrong("masked_loss", "padding is counted")
def no_mask(logits, words, mask):
    return nn.CrossEntropyLoss()(logits[:, :-1].reshape(-1, logits.size(-1)), words[:, 1:].reshape(-1))


@wrong("masked_loss", "padding is asked for")
def mask_not_shifted(logits, words, mask):
    loss = F.cross_entropy(logits[:, :-1].mT, words[:, 1:], reduction="none")
    keep = mask[:, :-1].float().to(loss.dtype)
    return (loss * keep).sum() / keep.sum()


@wrong("masked_loss", "a token is asked for where only padding was read")
def ignore_index_alone(logits, words, mask):
    labels = words.masked_fill(~mask, -100)
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten())


@wrong("masked_loss", "the mask is turned round")
def true_is_padding(logits, words, mask):
    loss = F.cross_entropy(logits[:, :-1].mT, words[:, 1:], reduction="none")
    return loss[~mask[:, 1:]].mean()


@wrong("masked_loss", "the mask is turned round")
def excludes_the_good(logits, words, mask):
    loss = F.cross_entropy(logits[:, :-1].mT, words[:, 1:], reduction="none")
    both = mask[:, 1:] & mask[:, :-1]
    return loss[~both].mean()


@wrong("masked_loss", "one of two tokens is enough for it")
def or_for_and(logits, words, mask):
    loss = F.cross_entropy(logits[:, :-1].mT, words[:, 1:], reduction="none")
    return torch.masked_select(loss, mask[:, 1:] | mask[:, :-1]).mean()


@wrong("masked_loss", "it is the sum, not the mean")
def added_up(logits, words, mask):
    total = 0.0
    for b, i in (mask[:, 1:] & mask[:, :-1]).nonzero().tolist():
        total = total - logits[b, i].log_softmax(0)[words[b, i + 1]]
    return total


@wrong("masked_loss", "what does not count is set to 0, and still divided by")
def zeroed(logits, words, mask):
    loss = F.cross_entropy(logits[:, :-1].mT, words[:, 1:], reduction="none")
    loss[~(mask[:, 1:] & mask[:, :-1])] = 0
    return loss.mean()


@wrong("masked_loss", "it divides by all tokens of the texts")
def all_that_are_there(logits, words, mask):
    loss = F.cross_entropy(logits[:, :-1].mT, words[:, 1:], reduction="none")
    return (loss * (mask[:, 1:] * mask[:, :-1])).sum() / mask.sum()


@wrong("masked_loss", "it divides by the number of texts")
def a_text(logits, words, mask):
    loss = F.cross_entropy(logits[:, :-1].mT, words[:, 1:], reduction="none")
    return (loss * (mask[:, 1:] & mask[:, :-1])).sum(1).mean()


@wrong("masked_loss", "it is the mean of the texts' means")
def text_by_text(logits, words, mask):
    means = []
    for one, text, there in zip(logits, words, mask, strict=True):
        keep = there[1:] & there[:-1]
        if keep.any():
            means.append(F.cross_entropy(one[:-1][keep], text[1:][keep]))
    return torch.stack(means).mean()


@wrong("masked_loss", "it is a number for each text")
def rows(logits, words, mask):
    keep = mask[:, 1:] & mask[:, :-1]
    loss = F.cross_entropy(logits[:, :-1].mT, words[:, 1:], reduction="none") * keep
    return loss.sum(-1) / keep.sum(-1)


@wrong("masked_loss", "it is a number for each place, not their mean")
def all_of_them(logits, words, mask):
    keep = mask[:, 1:] & mask[:, :-1]
    return F.cross_entropy(logits[:, :-1][keep], words[:, 1:][keep], reduction="none")


@wrong("masked_loss", "it is a number for each place, not their mean")
def reduction_none(logits, words, mask):
    labels = words[:, 1:].masked_fill(~(mask[:, 1:] & mask[:, :-1]), -100)
    return F.cross_entropy(logits[:, :-1].mT, labels, reduction="none")


@wrong("masked_loss", "the softmax is taken twice")
def probabilities_go_in(logits, words, mask):
    keep = mask[:, 1:] & mask[:, :-1]
    return nn.CrossEntropyLoss()(nn.Softmax(-1)(logits)[:, :-1][keep], words[:, 1:][keep])


@wrong("masked_loss", "the softmax runs over the places")
def dim_one(logits, words, mask):
    keep = mask[:, 1:] & mask[:, :-1]
    return F.nll_loss(logits[:, :-1].log_softmax(1)[keep], words[:, 1:][keep])


@wrong("masked_loss", "the softmax runs over the places")
def dim_one_before_the_slice(logits, words, mask):
    keep = mask[:, 1:] & mask[:, :-1]
    return F.nll_loss(logits.log_softmax(1)[:, :-1][keep], words[:, 1:][keep])


@wrong("masked_loss", "the softmax runs over the texts")
def dim_zero(logits, words, mask):
    keep = mask[:, 1:] & mask[:, :-1]
    return F.nll_loss(torch.log_softmax(logits, 0)[:, :-1][keep], words[:, 1:][keep])


@wrong("masked_loss", "the axes were reshaped where they should have been exchanged")
def viewed(logits, words, mask):
    batch, n, size = logits.shape
    keep = mask[:, 1:] & mask[:, :-1]
    turned = logits[:, :-1].contiguous().view(batch, size, n - 1)
    return F.cross_entropy(turned, words[:, 1:].masked_fill(~keep, -100))


@wrong("masked_loss", "the sign is wrong")
def no_minus(logits, words, mask):
    keep = mask[:, 1:] & mask[:, :-1]
    return logits.log_softmax(-1)[:, :-1].gather(-1, words[:, 1:].unsqueeze(-1)).squeeze(-1)[keep].mean()


@wrong("masked_loss", "the loss is in bits")
def base_two(logits, words, mask):
    return with_ignore_index(logits, words, mask) * math.log2(math.e)


@wrong("masked_loss", "it is made of probabilities, without a logarithm")
def forgot_the_log(logits, words, mask):
    keep = mask[:, 1:] & mask[:, :-1]
    return F.nll_loss(F.softmax(logits[:, :-1], -1)[keep], words[:, 1:][keep])


@wrong("masked_loss", "it is made of probabilities, without a logarithm")
def one_minus_p(logits, words, mask):
    keep = mask[:, 1:] & mask[:, :-1]
    return (1 - logits.softmax(-1)[:, :-1].gather(-1, words[:, 1:, None])[..., 0][keep]).mean()


@wrong("masked_loss", "it is made of logits, without a softmax")
def nll_of_logits(logits, words, mask):
    keep = mask[:, 1:] & mask[:, :-1]
    return F.nll_loss(logits[:, :-1][keep], words[:, 1:][keep])


@wrong("masked_loss", "it is the logarithm of a mean")
def log_last(logits, words, mask):
    keep = mask[:, 1:] & mask[:, :-1]
    p = logits[:, :-1].softmax(-1).gather(-1, words[:, 1:, None])[..., 0]
    return -torch.log(p[keep].mean())


@wrong("masked_loss", "a small probability is rounded to 0, and its logarithm is −∞")
def softmax_then_log(logits, words, mask):
    keep = mask[:, 1:] & mask[:, :-1]
    p = torch.softmax(logits[:, :-1][keep], -1)
    return -p[torch.arange(len(p)), words[:, 1:][keep]].log().mean()


@wrong("masked_loss", "large logits overflow")
def exponentials(logits, words, mask):
    keep = mask[:, 1:] & mask[:, :-1]
    e = torch.exp(logits[:, :-1][keep])
    p = e[torch.arange(len(e)), words[:, 1:][keep]] / e.sum(-1)
    return -p.log().mean()


@wrong("masked_loss", "the last place of a text is asked for the first token of the next text")
def one_long_row(logits, words, mask):
    rows, asked, keep = logits.reshape(-1, logits.shape[-1]), words.reshape(-1), mask.reshape(-1)
    keep = keep[1:] & keep[:-1]
    return F.cross_entropy(rows[:-1][keep], asked[1:][keep])


@wrong("masked_loss", "the token of number 0 is taken for padding")
def zero_for_padding(logits, words, mask):
    labels = words[:, 1:] * (mask[:, 1:] & mask[:, :-1])
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), labels.flatten(), ignore_index=0)


@wrong("masked_loss", "the token of number 0 is taken for padding")
def zero_for_a_mask(logits, words, mask):
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), words[:, 1:].flatten(), ignore_index=0)


@wrong("masked_loss", "the token of number 0 is taken for padding")
def a_mask_of_its_own(logits, words, mask):
    return with_ignore_index(logits, words, words.bool())


@wrong("masked_loss", "it divides by all tokens that are asked for")
def another_mask_below(logits, words, mask):
    loss = F.cross_entropy(logits[:, :-1].mT, words[:, 1:], reduction="none")
    return (loss * (mask[:, 1:] & mask[:, :-1])).sum() / mask[:, 1:].sum()


@wrong("masked_loss", "padding is taken to stand behind")
def by_lengths(logits, words, mask):
    lengths = mask.sum(1).tolist()
    rows = [F.cross_entropy(logits[b, : n - 1], words[b, 1:n], reduction="none") for b, n in enumerate(lengths)]
    return torch.cat(rows).mean()


@wrong("masked_loss", "tokens on both sides of padding are taken for neighbours")
def takes_out_then_shifts(logits, words, mask):
    rows = []
    for one, text, there in zip(logits, words, mask, strict=True):
        here = there.nonzero().flatten()
        rows.append(F.cross_entropy(one[here[:-1]], text[here[1:]], reduction="none"))
    return torch.cat(rows).mean()


@wrong("masked_loss", "that is the perplexity")
def exponential_of_it(logits, words, mask):
    return with_ignore_index(logits, words, mask).exp()


@wrong("masked_loss", "nothing can be trained with it")
def a_plain_number(logits, words, mask):
    return with_loops(logits, words, mask).item()


@wrong("masked_loss", "nothing can be trained with it")
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


@wrong("masked_loss", "nothing can be trained with it")
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


@wrong("read_and_asked", "it is as it was")
def not_mended(numbers, starts, length):
    windows = torch.stack([numbers[start : start + length] for start in starts])
    return windows[:, 1:], windows[:, :-1]


@wrong("read_and_asked", "every place is asked for the token before, which it has read")
def only_longer(numbers, starts, length):
    windows = torch.stack([numbers[start : start + length + 1] for start in starts])
    return windows[:, 1:], windows[:, :-1]


@wrong("read_and_asked", "every window is one token too short")
def only_turned(numbers, starts, length):
    windows = torch.stack([numbers[start : start + length] for start in starts])
    return windows[:, :-1], windows[:, 1:]


@wrong("read_and_asked", "what is asked for is what is read")
def same_twice(numbers, starts, length):
    read = torch.stack([numbers[start : start + length] for start in starts])
    return read, read.clone()


@wrong("read_and_asked", "the windows begin one token too late")
def skips_the_first(numbers, starts, length):
    longer = torch.cat([numbers, numbers[-1:]])
    windows = torch.stack([longer[start + 1 : start + length + 2] for start in starts])
    return windows[:, :-1], windows[:, 1:]


@wrong("read_and_asked", "it asks for the token after the next")
def two_on(numbers, starts, length):
    longer = torch.cat([numbers, numbers[-1:]])
    places = starts[:, None] + torch.arange(length)
    return longer[places], longer[places + 2]


@wrong("read_and_asked", "the windows begin one token too late")
def begins_at_the_next(numbers, starts, length):
    windows = torch.stack([numbers[start + 1 : start + length + 2] for start in starts])
    return windows[:, :-1], windows[:, 1:]


@wrong("read_and_asked", "it asks for the token after the next")
def windows_of_two_more(numbers, starts, length):
    windows = torch.stack([numbers[start : start + length + 2] for start in starts])
    return windows[:, :length], windows[:, 2:]


@wrong("read_and_asked", "a window that ends with the last token of the text is left out")
def afraid_of_the_end(numbers, starts, length):
    windows = torch.stack([numbers[s : s + length + 1] for s in starts if s + length < len(numbers) - 1])
    return windows[:, :-1], windows[:, 1:]


@wrong("read_and_asked", "the window is rolled the wrong way")
def roll_forward(numbers, starts, length):
    read = torch.stack([numbers[start : start + length] for start in starts])
    return read, torch.roll(read, 1, dims=1)


@wrong("read_and_asked", "the tokens are cut to a byte")
def in_bytes(numbers, starts, length):
    return tuple(part.to(torch.uint8) for part in with_unfold(numbers, starts, length))


@wrong("read_and_asked", "the last place is asked for the window's first token")
def roll_in_the_window(numbers, starts, length):
    read = torch.stack([numbers[start : start + length] for start in starts])
    return read, torch.roll(read, -1, 1)


@wrong("read_and_asked", "the last place is asked for the window's first token")
def concatenates_the_first(numbers, starts, length):
    read = torch.stack([numbers[start : start + length] for start in starts])
    return read, torch.cat([read[:, 1:], read[:, :1]], 1)


@wrong("read_and_asked", "the last place is asked for the first token of the next window")
def roll_without_an_axis(numbers, starts, length):
    read = torch.stack([numbers[start : start + length] for start in starts])
    return read, torch.roll(read, shifts=-1)


@wrong("read_and_asked", "only the token behind each window is asked for")
def last_token_only(numbers, starts, length):
    windows = torch.stack([numbers[start : start + length + 1] for start in starts])
    return windows[:, :-1], windows[:, -1]


@wrong("read_and_asked", "all windows begin at the same place")
def uses_one_start(numbers, starts, length):
    windows = torch.stack([numbers[starts[0] : starts[0] + length + 1] for _ in starts])
    return windows[:, :-1], windows[:, 1:]


@wrong("read_and_asked", "the windows stand one after the other in the text")
def one_after_the_other(numbers, starts, length):
    begin = int(starts[0])
    pairs = [(begin + i * length, begin + (i + 1) * length) for i in range(len(starts))]
    return torch.stack([numbers[a:b] for a, b in pairs]), torch.stack([numbers[a + 1 : b + 1] for a, b in pairs])


@wrong("read_and_asked", "places stand there, not tokens")
def forgets_the_numbers(numbers, starts, length):
    places = starts.unsqueeze(1) + torch.arange(length).unsqueeze(0)
    return places, places + 1


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


@wrong("top_p", "the word that crosses the share is left out")
def below_the_share(p, share):
    """As in a first version that many have written: cumsum < p."""
    down, order = torch.sort(p, descending=True)
    down = down * (down.cumsum(-1) < share - 1e-7)
    kept = torch.zeros_like(p).scatter_(1, order, down)
    return kept / kept.sum(1, keepdim=True)


@wrong("top_p", "the word that crosses the share is left out")
def below_without_slack(p, share):
    down, order = torch.sort(p, descending=True)
    kept = torch.zeros_like(p).scatter_(1, order, torch.where(down.cumsum(-1) < share, down, 0.0))
    return kept / kept.sum(1, keepdim=True)


@wrong("top_p", "the word that crosses the share is left out")
def below_or_at_the_share(p, share):
    down, order = torch.sort(p, descending=True)
    down = down * (down.cumsum(-1) <= share + 1e-6)
    kept = torch.zeros_like(p).scatter_(1, order, down)
    return kept / kept.sum(1, keepdim=True)


@wrong("top_p", "the word that crosses the share is left out")
def but_at_least_one(p, share):
    down, order = torch.sort(p, descending=True)
    gone = down.cumsum(-1) > share + 1e-6
    gone[:, 0] = False
    kept = torch.zeros_like(p).scatter_(1, order, down.masked_fill(gone, 0))
    return kept / kept.sum(1, keepdim=True)


@wrong("top_p", "a word is kept although the share is reached before it")
def at_most(p, share):
    """As in `transformers`: what is more than the share is removed, shifted by one."""
    down, order = torch.sort(p, descending=True)
    remove = down.cumsum(-1) > share + 1e-6
    remove[:, 1:] = remove[:, :-1].clone()
    remove[:, 0] = False
    kept = torch.zeros_like(p).scatter_(1, order, down.masked_fill(remove, 0))
    return kept / kept.sum(1, keepdim=True)


@wrong("top_p", "one word too many is kept")
def shifted_twice(p, share):
    down, order = torch.sort(p, descending=True)
    count = (down.cumsum(-1) < share - 1e-6).sum(-1) + 2
    keep = torch.arange(p.shape[1]) < count[:, None]
    kept = torch.zeros_like(p).scatter_(1, order, down * keep)
    return kept / kept.sum(1, keepdim=True)


@wrong("top_p", "at least two words are kept")
def two_to_keep(p, share):
    """min_tokens_to_keep = 2."""
    out = torch.zeros_like(p)
    for row, new in zip(p, out, strict=True):
        total, count = 0.0, 0
        for word in row.argsort(descending=True).tolist():
            if total >= share - 1e-6 and count >= 2:
                break
            new[word], total, count = row[word], total + float(row[word]), count + 1
    return out / out.sum(-1, keepdim=True)


@wrong("top_p", "where rounding leaves the sum below the share, one word alone is kept")
def first_that_reaches(p, share):
    down, order = p.sort(descending=True)
    last = (down.cumsum(-1) >= share).float().argmax(-1, keepdim=True)
    kept = torch.zeros_like(p).scatter(1, order, down * (torch.arange(p.shape[1]) <= last))
    return kept / kept.sum(1, keepdim=True)


@wrong("top_p", "the loop goes on when no word is left")
def pops_words(p, share):
    out = torch.zeros_like(p)
    for b, row in enumerate(p):
        order, total = row.sort(descending=True).indices.tolist(), 0.0
        while total < share:
            word = order.pop(0)
            out[b, word] = row[word]
            total += float(row[word])
    return out / out.sum(-1, keepdim=True)


@wrong("top_p", "of equally likely words all are kept")
def bound_of_the_last(p, share):
    down = p.sort(descending=True).values
    count = (down.cumsum(-1) - down < share - 1e-6).sum(-1, keepdim=True) if share < 1 else p.shape[1]
    bound = down.gather(1, count - 1) if share < 1 else 0
    return F.normalize(p * (p >= bound), p=1, dim=-1)


@wrong("top_p", "a word is left out although the share is not quite reached")
def with_some_slack(p, share):
    down, order = p.sort(descending=True)
    kept = torch.zeros_like(p).scatter(1, order, down * (down.cumsum(-1) - down < share - 1e-3))
    return kept / kept.sum(1, keepdim=True)


@wrong("top_p", "the share is taken from 1")
def cuts_the_share_off(p, share):
    return by_hand(p, 1 - share)


@wrong("top_p", "always two words are kept")
def top_two(p, share):
    values, words = p.topk(2)
    return torch.zeros_like(p).scatter(1, words, values / values.sum(1, keepdim=True))


@wrong("top_p", "all rows keep the words of the first row")
def mask_of_row_0(p, share):
    kept = p * (by_hand(p, share)[0] > 0)
    return kept / kept.sum(1, keepdim=True)


@wrong("top_p", "a mask of the sorted words is used on the words as they stand")
def mask_in_sorted_order(p, share):
    down = p.sort(descending=True).values
    kept = p.masked_fill(down.cumsum(1) - down >= share - 1e-6, 0)
    return kept / kept.sum(1, keepdim=True)


@wrong("top_p", "it keeps words whose own probability is as large as the share")
def each_alone(p, share):
    kept = torch.where(p >= share, p, torch.zeros_like(p))
    return kept / kept.sum(1, keepdim=True)


@wrong("top_p", "it keeps words that are likely enough alone")
def above_the_rest(p, share):
    kept = p * (p >= 1 - share)
    return kept / kept.sum(1, keepdim=True)


@wrong("top_p", "it keeps a share of the words")
def top_k_in_disguise(p, share):
    k = math.ceil(share * p.shape[1])
    values, words = p.topk(k)
    return torch.zeros_like(p).scatter(1, words, values / values.sum(1, keepdim=True))


@wrong("top_p", "all rows are cut where the first row is")
def count_of_row_0(p, share):
    down, order = p.sort(descending=True)
    count = int(((down[0].cumsum(0) - down[0]) < share - 1e-6).sum())
    down[:, count:] = 0
    kept = torch.zeros_like(p).scatter(1, order, down)
    return kept / kept.sum(1, keepdim=True)


@wrong("top_p", "all rows keep as many words as the row that keeps most")
def longest_of_all(p, share):
    down, order = p.sort(descending=True)
    count = int(((down.cumsum(1) - down) < share - 1e-6).sum(1).max())
    down[:, count:] = 0
    kept = torch.zeros_like(p).scatter(1, order, down)
    return kept / kept.sum(1, keepdim=True)


@wrong("top_p", "the numbers stay in the order of sorting")
def left_sorted(p, share):
    down = p.sort(descending=True).values
    down[(down.cumsum(-1) - down) >= share - 1e-6] = 0
    return down / down.sum(-1, keepdim=True)


@wrong("top_p", "the numbers are put back by the order of sorting, not by its inverse")
def indexed_by_the_order(p, share):
    down, order = p.sort(descending=True)
    kept = torch.where(down.cumsum(-1) - down < share - 1e-6, down, 0.0)
    kept = torch.take_along_dim(kept, order, 1)
    return kept / kept.sum(1, keepdim=True)


@wrong("top_p", "the least likely words are kept")
def ascending(p, share):
    up, order = p.sort()
    before = up.cumsum(1) - up
    kept = torch.zeros_like(p).scatter(1, order, up * (before < share - 1e-6))
    return kept / kept.sum(1, keepdim=True)


@wrong("top_p", "the least likely words are kept")
def ascending_without_slack(p, share):
    up, order = p.sort()
    kept = torch.zeros_like(p).scatter(1, order, up * (up.cumsum(1) - up < share))
    return kept / kept.sum(1, keepdim=True)


@wrong("top_p", "the sum runs through the words as they stand, not from the likeliest on")
def never_sorted(p, share):
    kept = p.masked_fill(p.cumsum(1) - p >= share - 1e-6, 0)
    return kept / kept.sum(1, keepdim=True)


@wrong("top_p", "the sum runs down the batch")
def axis_zero(p, share):
    down, order = p.sort(dim=0, descending=True)
    kept = torch.zeros_like(p).scatter(0, order, down.masked_fill(down.cumsum(0) - down >= share - 1e-6, 0))
    return kept / kept.sum(1, keepdim=True)


@wrong("top_p", "the sum runs down the batch")
def axis_zero_throughout(p, share):
    down, order = p.sort(dim=0, descending=True)
    kept = torch.zeros_like(p).scatter(0, order, down * (down.cumsum(0) - down < share))
    return kept / kept.sum(0)


@wrong("top_p", "all words are kept")
def nothing_cut(p, share):
    return p / p.sum(-1, keepdim=True)


@wrong("top_p", "a softmax runs over p first")
def takes_p_for_logits(p, share):
    return by_hand(F.softmax(p, -1), share)


@wrong("top_p", "the other words are kept")
def the_tail(p, share):
    kept = p - by_hand(p, share, renormalise=False)
    return kept / kept.sum(-1, keepdim=True)


@wrong("top_p", "what is kept does not sum to 1")
def not_divided(p, share):
    return by_hand(p, share, renormalise=False)


@wrong("top_p", "it is divided by the share, not by what is kept")
def by_the_share(p, share):
    return by_hand(p, share, renormalise=False) / share


@wrong("top_p", "it is divided by the sum of all rows")
def sum_of_everything(p, share):
    kept = by_hand(p, share, renormalise=False)
    return kept / kept.sum()


@wrong("top_p", "it is divided by the sums of the columns")
def sums_down(p, share):
    kept = by_hand(p, share, renormalise=False)
    return torch.nan_to_num(kept / kept.sum(dim=0))


@wrong("top_p", "a softmax runs over what is kept")
def softmax_for_a_sum(p, share):
    return torch.softmax(by_hand(p, share, renormalise=False), dim=-1)


@wrong("top_p", "a softmax runs over what is kept")
def masked_softmax(p, share):
    kept = by_hand(p, share, renormalise=False)
    return F.softmax(torch.where(kept > 0, p, -torch.inf), -1)


@wrong("top_p", "this is a mask")
def which_are_kept(p, share):
    return by_hand(p, share).bool()


@wrong("top_p", "all that are kept are equally likely")
def flat(p, share):
    return F.normalize((by_hand(p, share) != 0).to(p.dtype), p=1, dim=-1)


@wrong("top_p", "it changes its argument p in place")
def into_p(p, share):
    for row in p:
        order = row.argsort(descending=True)
        count = int((row[order].cumsum(0) < share - 1e-6).sum()) + 1
        row[order[count:]] = 0
    return p / p.sum(-1, keepdim=True)


@wrong("top_p", "it calls course_lib.decoding, which is not to be used")
def from_the_library(p, share):
    from course_lib import decoding

    kept = decoding.nucleus(p, share)
    return kept / kept.sum(-1, keepdim=True)


@right("top_p")
def by_hand(p, share, renormalise=True):
    out = torch.zeros_like(p)
    for b in range(len(p)):
        order = sorted(range(p.shape[1]), key=lambda word: -float(p[b, word]))
        total = 0.0
        for word in order:
            out[b, word] = p[b, word]
            total += float(p[b, word])
            if total >= share - 1e-6 and share < 1:
                break
    return out / out.sum(-1, keepdim=True) if renormalise else out


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


@wrong("go_on", "the new tokens stand at place 0 again")
def start_forgotten(x, past, layers, codes):
    s, m, kept = past[0][0].shape[0], x.shape[0], []
    x = x + codes[:m]
    for (W_q, W_k, W_v), (keys, values) in zip(layers, past, strict=True):
        keys, values = torch.cat([keys, x @ W_k]), torch.cat([values, x @ W_v])
        kept.append((keys, values))
        x = x + attended(x @ W_q, keys, values, sees_of(s, m))
    return x, kept


@wrong("go_on", "the new tokens stand one place too far")
def counts_from_one(x, past, layers, codes):
    return in_a_loop(x, past, layers, codes[1:])


@wrong("go_on", "the new tokens stand one place too early")
def counts_itself(x, past, layers, codes):
    s = len(past[0][0])
    return in_a_loop(x, past, layers, torch.cat([codes[:1], codes]) if s else codes)


@wrong("go_on", "the layers are counted, not the tokens of the past")
def length_of_the_list(x, past, layers, codes):
    s, m = len(past[0][0]), len(x)
    shifted = torch.zeros_like(codes)
    shifted[s : s + m] = codes[len(past) : len(past) + m]
    return in_a_loop(x, past, layers, shifted)


@wrong("go_on", "the residual goes on without the codes")
def codes_for_attention_alone(x, past, layers, codes):
    s, m, kept = len(past[0][0]), len(x), []
    for i, ((W_q, W_k, W_v), (keys, values)) in enumerate(zip(layers, past, strict=True)):
        seen = x + codes[s : s + m] if i == 0 else x
        kept.append((torch.cat([keys, seen @ W_k]), torch.cat([values, seen @ W_v])))
        x = x + attended(seen @ W_q, *kept[-1], sees_of(s, m))
    return x, kept


@wrong("go_on", "query and key have changed places")
def key_first(x, past, layers, codes):
    return in_a_loop(x, past, [(k, q, v) for q, k, v in layers], codes)


@wrong("go_on", "it attends before the new keys and values are appended")
def appends_in_the_end(x, past, layers, codes):
    s, m, kept = len(past[0][0]), len(x), []
    x = x + codes[s : s + m]
    for (W_q, W_k, W_v), (keys, values) in zip(layers, past, strict=True):
        found = attended(x @ W_q, keys, values) if s else 0
        kept.append((torch.cat([keys, x @ W_k]), torch.cat([values, x @ W_v])))
        x = x + found
    return x, kept


def with_mask(x, past, layers, codes, mask=sees_of, divide=lambda W_k, keys: W_k.shape[1] ** 0.5):
    s, m, kept = len(past[0][0]), len(x), []
    x = x + codes[s : s + m]
    for (W_q, W_k, W_v), old in zip(layers, past, strict=True):
        keys, values = torch.cat([old[0], x @ W_k]), torch.cat([old[1], x @ W_v])
        kept.append((keys, values))
        scores = (x @ W_q @ keys.T / divide(W_k, keys)).masked_fill(~mask(s, m), -torch.inf)
        x = x + scores.softmax(-1) @ values
    return x, kept


@wrong("go_on", "a new token sees the one behind it, too")
def one_too_far(x, past, layers, codes):
    return with_mask(x, past, layers, codes, lambda s, m: torch.ones(m, s + m).tril(s + 1).bool())


@wrong("go_on", "a mask is used only if there is no past")
def for_prompts_alone(x, past, layers, codes):
    return with_mask(x, past, layers, codes, lambda s, m: sees_of(s, m) | (s > 0))


@wrong("go_on", "the scores are divided by the root of the number of keys")
def length_for_size(x, past, layers, codes):
    return with_mask(x, past, layers, codes, divide=lambda W_k, keys: math.sqrt(len(keys)))


@wrong("go_on", "large scores overflow")
def exponentials_by_hand(x, past, layers, codes):
    s, m, kept = len(past[0][0]), len(x), []
    x = x + codes[s : s + m]
    for (W_q, W_k, W_v), (keys, values) in zip(layers, past, strict=True):
        kept.append((torch.cat([keys, x @ W_k]), torch.cat([values, x @ W_v])))
        e = torch.exp(x @ W_q @ kept[-1][0].T / W_k.shape[1] ** 0.5).tril(s)
        x = x + e @ kept[-1][1] / e.sum(-1, keepdim=True)
    return x, kept


@wrong("go_on", "the codes of the places are not added")
def no_places(x, past, layers, codes):
    return in_a_loop(x, past, layers, torch.zeros_like(codes))


@wrong("go_on", "the codes are added in every layer")
def places_everywhere(x, past, layers, codes):
    s, m, kept = past[0][0].shape[0], x.shape[0], []
    for (W_q, W_k, W_v), (keys, values) in zip(layers, past, strict=True):
        x = x + codes[s : s + m]
        keys, values = torch.cat([keys, x @ W_k]), torch.cat([values, x @ W_v])
        kept.append((keys, values))
        x = x + attended(x @ W_q, keys, values, sees_of(s, m))
    return x, kept


@wrong("go_on", "the past is handed back as it came")
def past_not_extended(x, past, layers, codes):
    return in_a_loop(x, past, layers, codes)[0], past


@wrong("go_on", "only the new keys and values are handed back")
def news_only(x, past, layers, codes):
    y, kept = in_a_loop(x, past, layers, codes)
    return y, [(keys[-len(x) :], values[-len(x) :]) for keys, values in kept]


@wrong("go_on", "the past is not looked at")
def reads_afresh(x, past, layers, codes):
    none = [(keys[:0], values[:0]) for keys, values in past]
    return in_a_loop(x, none, layers, codes)


@wrong("go_on", "the past is not looked at")
def reads_the_new_ones(x, past, layers, codes):
    s, m, kept = len(past[0][0]), len(x), []
    x = x + codes[s : s + m]
    for (W_q, W_k, W_v), old in zip(layers, past, strict=True):
        keys, values = x @ W_k, x @ W_v
        kept.append((torch.cat([old[0], keys]), torch.cat([old[1], values])))
        x = x + attended(x @ W_q, keys, values, sees_of(0, m))
    return x, kept


@wrong("go_on", "a token does not see itself")
def attends_before_it_appends(x, past, layers, codes):
    s, m, kept = len(past[0][0]), len(x), []
    x = x + codes[s : s + m]
    for (W_q, W_k, W_v), (keys, values) in zip(layers, past, strict=True):
        keys, values = torch.cat([keys, x @ W_k]), torch.cat([values, x @ W_v])
        kept.append((keys, values))
        x = x + attended(x @ W_q, keys, values, torch.ones(m, s + m).tril(s - 1).bool())
    return x, kept


@wrong("go_on", "new tokens see what comes after them")
def no_mask_at_all(x, past, layers, codes):
    s, m, kept = len(past[0][0]), len(x), []
    x = x + codes[s : s + m]
    for (W_q, W_k, W_v), (keys, values) in zip(layers, past, strict=True):
        keys, values = torch.cat([keys, x @ W_k]), torch.cat([values, x @ W_v])
        kept.append((keys, values))
        x = x + attended(x @ W_q, keys, values)
    return x, kept


@wrong("go_on", "the triangle of the mask begins at the first token, not at the first new one")
def diagonal_forgotten(x, past, layers, codes):
    s, m, kept = len(past[0][0]), len(x), []
    x = x + codes[s : s + m]
    for (W_q, W_k, W_v), (keys, values) in zip(layers, past, strict=True):
        keys, values = torch.cat([keys, x @ W_k]), torch.cat([values, x @ W_v])
        kept.append((keys, values))
        q, k, v = (one[None] for one in (x @ W_q, keys, values))
        x = x + F.scaled_dot_product_attention(q, k, v, is_causal=True)[0]  # the triangle of torch begins there, too
    return x, kept


@wrong("go_on", "new keys and values are put in front")
def the_wrong_end(x, past, layers, codes):
    s, m, kept = len(past[0][0]), len(x), []
    x = x + codes[s : s + m]
    for (W_q, W_k, W_v), (keys, values) in zip(layers, past, strict=True):
        keys, values = torch.cat([x @ W_k, keys]), torch.cat([x @ W_v, values])
        kept.append((keys, values))
        x = x + attended(x @ W_q, keys, values, sees_of(s, m))
    return x, kept


@wrong("go_on", "keys and values have changed places")
def values_first(x, past, layers, codes):
    y, kept = in_a_loop(x, past, layers, codes)
    return y, [(values, keys) for keys, values in kept]


@wrong("go_on", "all layers look at the past of the first")
def one_past(x, past, layers, codes):
    return in_a_loop(x, past[:1] * len(layers), layers, codes)


@wrong("go_on", "all layers look at the past of the last")
def last_past(x, past, layers, codes):
    return in_a_loop(x, [past[-1] for _ in layers], layers, codes)


@wrong("go_on", "all layers read what came in")
def always_the_embedding(x, past, layers, codes):
    s, m, kept = len(past[0][0]), len(x), []
    came_in = x = x + codes[s : s + m]
    for (W_q, W_k, W_v), (keys, values) in zip(layers, past, strict=True):
        keys, values = torch.cat([keys, came_in @ W_k]), torch.cat([values, came_in @ W_v])
        kept.append((keys, values))
        x = x + attended(came_in @ W_q, keys, values, sees_of(s, m))
    return x, kept


@wrong("go_on", "keys and values are made of what leaves the layer")
def kept_too_late(x, past, layers, codes):
    s, m, kept = len(past[0][0]), len(x), []
    x = x + codes[s : s + m]
    for (W_q, W_k, W_v), (keys, values) in zip(layers, past, strict=True):
        now = torch.cat([keys, x @ W_k]), torch.cat([values, x @ W_v])
        x = x + attended(x @ W_q, *now, sees_of(s, m))
        kept.append((torch.cat([keys, x @ W_k]), torch.cat([values, x @ W_v])))
    return x, kept


@wrong("go_on", "the residual is forgotten")
def replaces_x(x, past, layers, codes):
    s, m, kept = len(past[0][0]), len(x), []
    x = x + codes[s : s + m]
    for (W_q, W_k, W_v), (keys, values) in zip(layers, past, strict=True):
        keys, values = torch.cat([keys, x @ W_k]), torch.cat([values, x @ W_v])
        kept.append((keys, values))
        x = attended(x @ W_q, keys, values, sees_of(s, m))
    return x, kept


@wrong("go_on", "the scores are not divided by √k")
def raw_scores(x, past, layers, codes):
    return in_a_loop(x, past, [(q * q.shape[1] ** 0.5, k, v) for q, k, v in layers], codes)


@wrong("go_on", "the scores are divided by √d, not by √k")
def size_of_x(x, past, layers, codes):
    factor = [(q.shape[1] / q.shape[0]) ** 0.5 for q, _, _ in layers]
    return in_a_loop(x, past, [(q * f, k, v) for f, (q, k, v) in zip(factor, layers, strict=True)], codes)


@wrong("go_on", "the scores are divided by k, not by √k")
def no_root(x, past, layers, codes):
    return in_a_loop(x, past, [(q / q.shape[1] ** 0.5, k, v) for q, k, v in layers], codes)


@wrong("go_on", "the softmax runs over the new tokens")
def shares_of_queries(x, past, layers, codes):
    s, m, kept = len(past[0][0]), len(x), []
    x = x + codes[s : s + m]
    for (W_q, W_k, W_v), (keys, values) in zip(layers, past, strict=True):
        keys, values = torch.cat([keys, x @ W_k]), torch.cat([values, x @ W_v])
        kept.append((keys, values))
        scores = (x @ W_q @ keys.T / W_q.shape[1] ** 0.5).masked_fill(~sees_of(s, m), -torch.inf)
        x = x + scores.softmax(0) @ values
    return x, kept


@wrong("go_on", "the mask comes after the softmax")
def weights_cut_off(x, past, layers, codes):
    s, m, kept = len(past[0][0]), len(x), []
    x = x + codes[s : s + m]
    for (W_q, W_k, W_v), (keys, values) in zip(layers, past, strict=True):
        keys, values = torch.cat([keys, x @ W_k]), torch.cat([values, x @ W_v])
        kept.append((keys, values))
        weights = (x @ W_q @ keys.T / W_q.shape[1] ** 0.5).softmax(-1)
        x = x + weights.tril(s) @ values
    return x, kept


@wrong("go_on", "closed scores are 0")
def tril_of_the_scores(x, past, layers, codes):
    s, m, kept = len(past[0][0]), len(x), []
    x = x + codes[s : s + m]
    for (W_q, W_k, W_v), (keys, values) in zip(layers, past, strict=True):
        keys, values = torch.cat([keys, x @ W_k]), torch.cat([values, x @ W_v])
        kept.append((keys, values))
        x = x + (x @ W_q @ keys.T / W_q.shape[1] ** 0.5).tril(s).softmax(-1) @ values
    return x, kept


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
        kept.append([keys, values])
        x = x + e / e.sum(-1, keepdims=True) @ values
    return [x, kept]


# ---- copied_at_18, looks_at_18 ----

wrong_value("copied_at_18", [0.0, 0.0], "both fall to guessing")
wrong_value("copied_at_18", [0.02, 0.05], "both fall to guessing")
wrong_value("copied_at_18", (1, 1), "both go on copying")
wrong_value("copied_at_18", [0.99, 0.0], "the two are swapped")
wrong_value("copied_at_18", [1.0, 0.99], "that is at length 12")
wrong_value("copied_at_18", [0.5, 1.0], "half of it is left")
wrong_value("copied_at_18", [0, 100], "these are percent")
wrong_value("copied_at_18", 0.99, "that is one number")
wrong_value("copied_at_18", [0.01, 0.99, 1.0], "[0.01, 0.99, 1.0] has 3 of 2 entries")
wrong_value("copied_at_18", [0.0, 0.7], "entry 2 of [0.0, 0.7] is not right")
right_value("copied_at_18", [0.0, 1.0])
right_value("copied_at_18", torch.tensor([0.02, 0.95]))

wrong_value("looks_at_18", [0.0, 0.98, 0.61, 1.0, 0.0, 0.03], "A and B are swapped")
wrong_value("looks_at_18", [1.0, 0.0, 0.0, 0.98, 0.03, 0.61], "A and B take turns")
wrong_value("looks_at_18", [0.0, 1.0, 0.03, 0.98, 0.0, 0.45], "the two places of layer 2 are swapped")
wrong_value("looks_at_18", [0.03, 1.0, 0.0, 0.61, 0.0, 0.98], "layer 1 comes first")
wrong_value("looks_at_18", [0.031, 0.025, 0.0, 0.0, 0.0, 0.0], "the two layers are swapped")
wrong_value("looks_at_18", torch.zeros(6), "the one that looks and the one looked at are swapped")
wrong_value("looks_at_18", [0.059, 0.038, 0.029, 0.038, 0.058, 0.019], "that is the mean of a whole block of the map")
wrong_value("looks_at_18", [0.058, 0.001, 0.023, 0.058, 0.056, 0.055], "that is a single column of the map")
wrong_value("looks_at_18", [1.0, 0.0, 0.02, 0.0, 0.0, 0.5], "that is eighteen back, where the same symbol stood")
wrong_value("looks_at_18", [0.0, 0.0, 0.02, 0.0, 0.98, 0.47], "that is twelve back")
wrong_value("looks_at_18", [0.007, 0.0, 0.02, 0.001, 0.002, 0.005], "every place is one too far back")
wrong_value("looks_at_18", [0.0, 0.0, 0.339, 0.002, 0.003, 0.021], "every place is one too near")
wrong_value("looks_at_18", [1, 0, 0, 0, 1, 0], "the third number of each model is not that of layer 1")
wrong_value("looks_at_18", (1.0, 0.0, 0.03, 1.0, 0.0, 0.03), "both models count")
wrong_value("looks_at_18", [0.0, 0.98, 0.6, 0.0, 0.98, 0.6], "both models look")
wrong_value("looks_at_18", [1.0, 0.0, 0.03], "these are the three numbers of A")
wrong_value("looks_at_18", [1.0, 0.0, 0.0, 0.98], "the two numbers of layer 1 are missing")
wrong_value("looks_at_18", [1.0, 0.0, 0.03, 0.0, 0.5, 0.6], "entry 5 of [1.0, 0.0, 0.03, 0.0, 0.5, 0.6] is not right")
right_value("looks_at_18", [1.0, 0.0, 0.03, 0.0, 0.98, 0.29])
right_value("looks_at_18", [torch.tensor(0.96), 0.01, 0.02, torch.tensor(0.01), torch.tensor(0.96), 0.63])
