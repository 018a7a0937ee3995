"""Lesson 12: a model that writes."""

import math
import random
import re

import numpy as np
import torch
from torch.nn import functional as F

from wrong_answers import right, wrong

# ---- chat ----


@right("chat")
def chat_joined(messages):
    turns = ["<|im_start|>" + role + "\n" + text + "<|im_end|>\n" for role, text in messages]
    return "".join(turns) + "<|im_start|>assistant\n"


@right("chat")
def chat_by_lines(messages):
    """Every piece between two marks ends with the mark of the next."""
    pieces = [f"{role}\n{text}<|im_end|>" for role, text in [*messages]]
    return "<|im_start|>" + "\n<|im_start|>".join([*pieces, "assistant\n"])


@right("chat")
def chat_by_recursion(messages):
    if not messages:
        return "<|im_start|>assistant\n"
    (role, text), *rest = messages
    return f"<|im_start|>{role}\n{text}<|im_end|>\n{chat_by_recursion(rest)}"


@wrong("chat", "the new line after <|im_end|> is missing")
def chat_without_lines_between(messages):
    return "".join(f"<|im_start|>{role}\n{text}<|im_end|>" for role, text in messages) + "<|im_start|>assistant\n"


@wrong("chat", "the assistant's turn isn't opened")
def chat_of_the_messages_alone(messages):
    return "".join([f"<|im_start|>{one[0]}\n{one[1]}<|im_end|>\n" for one in messages])


@wrong("chat", "the opened turn is closed, too")
def chat_with_an_empty_answer(messages):
    messages = [*messages, ("assistant", "")]
    return "".join(f"<|im_start|>{role}\n{text}<|im_end|>\n" for role, text in messages)


@wrong("chat", "it changes its argument messages in place")
def chat_with_an_appended_turn(messages):
    messages.append(("assistant", ""))
    return "".join(f"<|im_start|>{r}\n{t}<|im_end|>\n" for r, t in messages).removesuffix("<|im_end|>\n")


@wrong("chat", "only the last message is used")
def chat_of_the_question_alone(messages):
    return f"<|im_start|>user\n{messages[-1][1]}<|im_end|>\n<|im_start|>assistant\n"


@wrong("chat", "every message is the user's")
def chat_of_users(messages):
    text = ""
    for _, said in messages:
        text = text + "<|im_start|>user\n" + said + "<|im_end|>\n"
    return text + "<|im_start|>assistant\n"


@wrong("chat", "the opened turn lacks its new line; in addition, the role and the text are not separated")
def chat_in_one_line(messages):
    return "".join(f"<|im_start|>{role}{text}<|im_end|>\n" for role, text in messages) + "<|im_start|>assistant"


@wrong("chat", "a system message is added if none is given")
def chat_with_a_default(messages):
    if messages[0][0] != "system":
        messages = [("system", "You are a helpful AI assistant named SmolLM, trained by Hugging Face"), *messages]
    return chat_joined(messages)


@wrong("chat", "it returns nothing")
def chat_printed(messages):
    print(chat_joined(messages), end="")


# ---- unpack_block ----


@right("unpack_block")
def unpacked_by_bits(scale, minimum, packed):
    return scale * torch.cat([packed & 15, packed >> 4]) + minimum


@right("unpack_block")
def unpacked_in_numpy(scale, minimum, packed):
    packed = packed.numpy()
    return np.concatenate([packed & 0x0F, (packed & 0xF0) >> 4]).astype(np.float64) * scale + minimum


@right("unpack_block")
def unpacked_in_a_loop(scale, minimum, packed):
    numbers = [0.0] * 32
    for place, byte in enumerate(packed.tolist()):
        high, low = divmod(byte, 16)
        numbers[place], numbers[place + 16] = scale * low + minimum, scale * high + minimum
    return numbers


@right("unpack_block")
def unpacked_by_hexadecimal_digits(scale, minimum, packed):
    digits = bytes(packed.tolist()).hex()
    return [scale * int(digit, 16) + minimum for digit in digits[1::2] + digits[::2]]


@wrong("unpack_block", "the two halves of each byte are neighbours")
def unpacked_byte_by_byte(scale, minimum, packed):
    found = []
    for byte in packed.tolist():
        found += [scale * (byte & 15) + minimum, scale * (byte >> 4) + minimum]
    return found


@wrong("unpack_block", "the two halves of each byte are neighbours, the high one first")
def unpacked_as_they_are_written(scale, minimum, packed):
    return [scale * int(digit, 16) + minimum for digit in bytes(packed.tolist()).hex()]


@wrong("unpack_block", "8 is subtracted, and the minimum is left out")
def unpacked_as_q4_0(scale, minimum, packed):
    return scale * (torch.cat([packed & 15, packed >> 4]).float() - 8)


@wrong("unpack_block", "the minimum is multiplied by the scale, too")
def unpacked_with_the_minimum_inside(scale, minimum, packed):
    return scale * (minimum + torch.cat([packed & 15, packed >> 4]))


@wrong("unpack_block", "the high halves aren't shifted")
def unpacked_with_a_mask_only(scale, minimum, packed):
    return scale * torch.cat([packed & 0x0F, packed & 0xF0]).double() + minimum


@wrong("unpack_block", "it changes its argument packed in place")
def unpacked_in_place(scale, minimum, packed):
    low = (packed & 15).float()
    packed >>= 4
    return scale * torch.cat([low, packed.float()]) + minimum


@wrong("unpack_block", "two rows of 16 are returned")
def unpacked_in_two_rows(scale, minimum, packed):
    return torch.stack([packed & 15, packed >> 4]) * scale + minimum


# ---- rounded ----


@right("rounded")
def rounded_to_the_nearest_of_a_list(blocks, bits):
    found = []
    for block in blocks:
        grid = torch.linspace(0, 1, 2**bits, dtype=torch.float64) * (block.max() - block.min()).double() + block.min()
        found.append(grid[(block.double()[:, None] - grid).abs().argmin(1)])
    return torch.stack(found)


@right("rounded")
def rounded_in_numpy(blocks, bits):
    blocks = blocks.double().numpy()
    low, high = blocks.min(1, keepdims=True), blocks.max(1, keepdims=True)
    step = (high - low) / ((1 << bits) - 1)
    return np.where(step > 0, np.rint((blocks - low) / np.where(step > 0, step, 1)) * step + low, blocks)


@right("rounded")
def rounded_in_a_loop(blocks, bits):
    result = blocks.clone()
    for row, block in enumerate(blocks.tolist()):
        low, step = min(block), (max(block) - min(block)) / (2**bits - 1)
        for column, number in enumerate(block):
            if step:
                result[row, column] = low + step * int((number - low) / step + 0.5)
    return result


@wrong("rounded", "the grid has one value too many")
def rounded_with_2_to_the_bits_steps(blocks, bits):
    low, high = blocks.min(dim=1, keepdim=True).values, blocks.max(dim=1, keepdim=True).values
    step = ((high - low) / 2**bits).clamp(min=1e-9)
    return ((blocks - low) / step).round() * step + low


@wrong("rounded", "a block of equal numbers becomes NaN")
def rounded_without_a_thought_of_zero(blocks, bits):
    low, high = blocks.min(1, keepdim=True)[0], blocks.max(1, keepdim=True)[0]
    step = (high - low) / (2**bits - 1)
    return low + step * torch.round((blocks - low) / step)


@wrong("rounded", "`^` is taken for a power")
def rounded_by_exclusive_or(blocks, bits):
    low, high = blocks.amin(1, keepdim=True), blocks.amax(1, keepdim=True)
    step = (high - low) / ((2 ^ bits) - 1)
    step[step == 0] = 1
    return ((blocks - low) / step).round() * step + low


@wrong("rounded", "one grid serves all blocks")
def rounded_on_one_grid(blocks, bits):
    low, step = blocks.min(), (blocks.max() - blocks.min()) / (2**bits - 1)
    return low + step * ((blocks - low) / step).round()


@wrong("rounded", "the numbers are rounded down")
def rounded_by_int(blocks, bits):
    low, high = blocks.amin(1, keepdim=True), blocks.amax(1, keepdim=True)
    step = ((high - low) / (2**bits - 1)).clamp(min=1e-12)
    return low + ((blocks - low) / step).long() * step


@wrong("rounded", "the places in the grid are returned, not the values")
def rounded_to_codes(blocks, bits):
    low, high = blocks.amin(1, keepdim=True), blocks.amax(1, keepdim=True)
    return ((blocks - low) / ((high - low) / (2**bits - 1)).clamp(min=1e-12)).round().long()


@wrong("rounded", "it changes its argument blocks in place")
def rounded_in_place(blocks, bits):
    for block in blocks:
        low, step = block.min().item(), (block.max() - block.min()).item() / (2**bits - 1)
        if step:
            block.sub_(low).div_(step).round_().mul_(step).add_(low)
    return blocks


@wrong("rounded", "it returns a list of 3 tensors, not a tensor of shape (3, 32)")
def rounded_block_by_block(blocks, bits):
    return list(rounded_to_the_nearest_of_a_list(blocks, bits))


# ---- interleaved ----


@right("interleaved")
def interleaved_by_transposing(weight, heads):
    return weight.unflatten(0, (heads, 2, -1)).transpose(1, 2).flatten(0, 2)


@right("interleaved")
def interleaved_by_stacking(weight, heads):
    found = []
    for head in weight.chunk(heads):
        first, second = head.chunk(2)
        found.append(torch.stack([first, second], 1).reshape(head.shape))
    return torch.cat(found)


@right("interleaved")
def interleaved_into_new_rows(weight, heads):
    size = weight.shape[0] // heads
    new = torch.empty_like(weight)
    for row in range(len(weight)):
        head, place = divmod(row, size)
        second, pair = divmod(place, size // 2)
        new[head * size + 2 * pair + second] = weight[row]
    return new


@right("interleaved")
def interleaved_by_steps(weight, heads):
    blocks = weight.reshape(heads, -1, weight.shape[1])
    half = blocks.shape[1] // 2
    new = blocks.clone()
    new[:, ::2], new[:, 1::2] = blocks[:, :half], blocks[:, half:]
    return new.reshape(weight.shape)


@wrong("interleaved", "it is the opposite order")
def interleaved_backwards(weight, heads):
    return weight.view(heads, -1, 2, weight.shape[1]).transpose(1, 2).reshape(weight.shape) if (
        weight.is_contiguous()
    ) else weight.contiguous().view(heads, -1, 2, weight.shape[1]).transpose(1, 2).reshape(weight.shape)  # fmt: skip


@wrong("interleaved", "all heads are taken as one")
def interleaved_over_all(weight, heads):
    half = len(weight) // 2
    return torch.stack([weight[:half], weight[half:]], 1).flatten(0, 1)


@wrong("interleaved", "the rows are as they were")
def interleaved_by_reshaping(weight, heads):
    return weight.reshape(heads, -1, 2, weight.shape[1]).reshape(weight.shape)


@wrong("interleaved", "the heads are an axis of their own")
def interleaved_in_heads(weight, heads):
    return interleaved_by_transposing(weight, heads).unflatten(0, (heads, -1))


@wrong("interleaved", "it changes its argument weight in place")
def interleaved_in_place(weight, heads):
    weight[:] = interleaved_by_transposing(weight, heads).clone()
    return weight


@wrong("interleaved", "the second number of each pair comes first")
def interleaved_second_first(weight, heads):
    half = len(weight) // heads // 2
    order = [h * 2 * half + place for h in range(heads) for i in range(half) for place in (i + half, i)]
    return weight[order]


# ---- bits_per_character ----


@right("bits_per_character")
def bits_by_base_two(log_probabilities, pieces):
    bits = -(log_probabilities.double().exp().log2().sum())
    return bits / sum(len(piece) for piece in pieces[1:])


@right("bits_per_character")
def bits_in_numpy(log_probabilities, pieces):
    text = "".join(pieces)
    return np.negative(log_probabilities.numpy()).sum() / np.log(2) / (len(text) - len(pieces[0]))


@right("bits_per_character")
def bits_in_a_loop(log_probabilities, pieces):
    bits, characters = 0.0, 0
    for log, piece in zip(log_probabilities.tolist(), pieces[1:], strict=True):
        bits -= log / math.log(2)
        characters += len(piece)
    return bits / characters


@wrong("bits_per_character", "the characters of the first token are counted")
def bits_of_the_whole_text(log_probabilities, pieces):
    return -log_probabilities.sum() / math.log(2) / len("".join(pieces))


@wrong("bits_per_character", "these are nats per character")
def bits_left_as_nats(log_probabilities, pieces):
    return float(-log_probabilities.sum()) / len("".join(pieces[1:]))


@wrong("bits_per_character", "these are bits per token")
def bits_per_token(log_probabilities, pieces):
    return -log_probabilities.mean().item() / math.log(2)


@wrong(
    "bits_per_character",
    "the characters of the first token are counted; in addition, bytes are counted, not characters",
)
def bits_per_byte(log_probabilities, pieces):
    return -log_probabilities.sum().item() / math.log(2) / len("".join(pieces).encode("utf-8"))


@wrong("bits_per_character", "each token's bits are divided by its own characters, and then averaged")
def bits_averaged(log_probabilities, pieces):
    own = torch.tensor([len(piece) for piece in pieces[1:]])
    return (-log_probabilities / math.log(2) / own).mean()


@wrong("bits_per_character", "the sign is missing")
def bits_below_zero(log_probabilities, pieces):
    return log_probabilities.sum().item() / math.log(2) / len("".join(pieces[1:]))


# ---- window_mask ----


@right("window_mask")
def window_in_a_loop(n, window, kept):
    mask = torch.zeros(n, n, dtype=torch.bool)
    for query in range(n):
        mask[query, max(0, query - window + 1) : query + 1] = True
        mask[query, : min(kept, query + 1)] = True
    return mask


@right("window_mask")
def window_by_triangles(n, window, kept):
    past = torch.ones(n, n, dtype=torch.bool).tril()
    far = past.tril(-window)
    far[:, :kept] = False
    return past & ~far


@right("window_mask")
def window_in_lists(n, window, kept):
    return [[k <= q and (q - k < window or k < kept) for k in range(n)] for q in range(n)]


@right("window_mask")
def window_in_numpy(n, window, kept):
    q, k = np.indices((n, n))
    return (k <= q) & ((q - window < k) | (k < kept))


@wrong("window_mask", "the kept tokens are seen before they come")
def window_with_whole_columns(n, window, kept):
    mask = torch.ones(n, n, dtype=torch.bool).tril().triu(1 - window)
    mask[:, :kept] = True
    return mask


@wrong("window_mask", "the window is one token too wide")
def window_too_wide(n, window, kept):
    mask = torch.ones(n, n, dtype=torch.bool).tril().triu(-window)
    mask[:, :kept] = True
    return mask.tril()


@wrong("window_mask", "for the first tokens, the window begins at a negative number")
def window_by_slices(n, window, kept):
    mask = torch.zeros(n, n, dtype=torch.bool)
    for i in range(n):
        mask[i, i - window + 1 : i + 1] = True
        mask[i, : min(kept, i + 1)] = True
    return mask


@wrong("window_mask", "True and False are exchanged")
def window_of_what_is_hidden(n, window, kept):
    q, k = torch.arange(n)[:, None], torch.arange(n)
    return (k > q) | ((k <= q - window) & (k >= kept))


@wrong("window_mask", "the result is not boolean")
def window_of_numbers(n, window, kept):
    return window_by_triangles(n, window, kept).float()


@wrong("window_mask", "it calls course_lib.masks, which isn't allowed here")
def window_of_the_library(n, window, kept):
    from course_lib.masks import causal_mask
    from course_lib.masks import window_mask as library

    mask = library(n, window)[0, 0].clone()
    mask[:, :kept] = True
    return mask & causal_mask(n)[0, 0]


@wrong("window_mask", "the kept tokens are taken off the window")
def window_that_pays_for_the_kept(n, window, kept):
    return window_by_triangles(n, max(1, window - kept), kept)


# ---- shuffled_labels ----


@right("shuffled_labels")
def labels_until_it_fits(pairs, seed):
    generator = torch.Generator().manual_seed(seed)
    while True:
        order = torch.randperm(len(pairs), generator=generator).tolist()
        new = [(word, pairs[place][1]) for (word, _), place in zip(pairs, order, strict=True)]
        if all(one != other for one, other in zip(new, pairs, strict=True)):
            return new


@right("shuffled_labels")
def labels_by_groups(pairs, seed):
    """The groups in an order drawn at random, each moves by the size of the largest group."""
    draw = np.random.default_rng(seed)
    labels = [label for _, label in pairs]
    rank = dict(zip(sorted(set(labels)), draw.permutation(len(set(labels))).tolist(), strict=True))
    order = sorted(draw.permutation(len(pairs)).tolist(), key=lambda place: rank[labels[place]])
    most = max(labels.count(label) for label in labels)
    new = list(labels)
    for place, number in enumerate(order):
        new[number] = labels[order[(place + most) % len(order)]]
    return [[word, label] for (word, _), label in zip(pairs, new, strict=True)]


@wrong("shuffled_labels", "with other seeds: 'the same' is not right")
def labels_by_sorted_groups(pairs, seed):
    """Sorted by label, each moves by the size of the largest group. If all labels differ, the seed changes nothing."""
    draw = np.random.default_rng(seed)
    order = sorted(draw.permutation(len(pairs)).tolist(), key=lambda place: pairs[place][1])
    labels = [label for _, label in pairs]
    most = max(labels.count(label) for label in labels)
    new = list(labels)
    for place, number in enumerate(order):
        new[number] = labels[order[(place + most) % len(order)]]
    return [[word, label] for (word, _), label in zip(pairs, new, strict=True)]


@right("shuffled_labels")
def labels_by_exchanges(pairs, seed):
    """Exchanges two labels at random as often as needed."""
    draw, new = random.Random(seed), [label for _, label in pairs]
    count = 0
    while count < 100 or any(one == own for one, (_, own) in zip(new, pairs, strict=True)):
        a, b = draw.sample(range(len(new)), 2)
        new[a], new[b], count = new[b], new[a], count + 1
    return tuple(zip((word for word, _ in pairs), new, strict=True))


@right("shuffled_labels")
def labels_with_the_next_seed(pairs, seed):
    """It tries one seed after the other, so that neighbouring seeds often give the same control."""
    new = [label for _, label in pairs]
    random.Random(seed).shuffle(new)
    while any(one == own for one, (_, own) in zip(new, pairs, strict=True)):
        seed += 1
        new = [label for _, label in pairs]
        random.Random(seed).shuffle(new)
    return [(word, one) for (word, _), one in zip(pairs, new, strict=True)]


@wrong("shuffled_labels", "each label comes from another example, but some of these have the same label")
def labels_in_one_circle(pairs, seed):
    """Each example gets the label of the next one on a circle through all, drawn at random."""
    circle = np.random.default_rng(seed).permutation(len(pairs)).tolist()
    new = {one: pairs[other][1] for one, other in zip(circle, circle[1:] + circle[:1], strict=True)}
    return [(word, new[place]) for place, (word, _) in enumerate(pairs)]


@wrong("shuffled_labels", "the labels are shifted by a number that depends on the seed")
def labels_turned(pairs, seed):
    by = random.Random(seed).randint(1, len(pairs) - 1)
    return [(word, pairs[(place + by) % len(pairs)][1]) for place, (word, _) in enumerate(pairs)]


@wrong("shuffled_labels", "for some seeds, the labels run out")
def labels_taken_in_turn(pairs, seed):
    draw = random.Random(seed)
    left = [label for _, label in pairs]
    draw.shuffle(left)
    return [(word, left.pop(next(i for i, one in enumerate(left) if one != own))) for word, own in pairs]


@wrong("shuffled_labels", "a dict is returned, not a list of pairs")
def labels_by_word(pairs, seed):
    return dict(labels_until_it_fits(pairs, seed))


@wrong("shuffled_labels", "something other than a list of pairs is returned")
def labels_in_lines(pairs, seed):
    return [f"{word} -> {label}" for word, label in labels_until_it_fits(pairs, seed)]


@wrong("shuffled_labels", "an iterator is returned, not a list of pairs")
def labels_zipped(pairs, seed):
    return zip([word for word, _ in pairs], labels_alone(pairs, seed), strict=True)


@wrong("shuffled_labels", "some examples keep their own label")
def labels_in_a_random_order(pairs, seed):
    labels = [label for _, label in pairs]
    random.Random(seed).shuffle(labels)
    return [(word, label) for (word, _), label in zip(pairs, labels, strict=True)]


@wrong("shuffled_labels", "whole examples are shuffled")
def labels_with_their_words(pairs, seed):
    pairs = list(pairs)
    random.Random(seed).shuffle(pairs)
    return pairs


@wrong("shuffled_labels", "it changes its argument pairs in place")
def labels_shuffled_in_place(pairs, seed):
    random.Random(seed).shuffle(pairs)
    return pairs


@wrong("shuffled_labels", "each example gets another label, but some labels occur more often than before")
def labels_chosen_from_the_others(pairs, seed):
    draw = random.Random(seed)
    labels = sorted({label for _, label in pairs})
    return [(word, draw.choice([one for one in labels if one != label])) for word, label in pairs]


@wrong("shuffled_labels", "the labels are shifted by one")
def labels_of_the_next(pairs, seed):
    return [(word, pairs[(place + 1) % len(pairs)][1]) for place, (word, _) in enumerate(pairs)]


@wrong("shuffled_labels", "only the labels are returned")
def labels_alone(pairs, seed):
    return [label for _, label in labels_until_it_fits(pairs, seed)]


@wrong("shuffled_labels", "it returns nothing")
def labels_forgotten(pairs, seed):
    labels_until_it_fits(pairs, seed)


@wrong("shuffled_labels", "the seed isn't used")
def labels_without_the_seed(pairs, seed):
    return labels_until_it_fits(pairs, random.randrange(10**9))


# ---- by_luck ----


def has(answer, words):
    return any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", answer, re.IGNORECASE) for word in words)


def disjoint(one, other):
    return set(map(str.casefold, one)).isdisjoint(map(str.casefold, other))


@right("by_luck")
def luck_in_a_tensor(answers, accepted):
    found = torch.tensor([[has(answer, words) for words in accepted] for answer in answers]).double()
    other = torch.tensor([[disjoint(one, two) for two in accepted] for one in accepted])
    return (found * other).sum(1) / other.sum(1)


@right("by_luck")
def luck_counted(answers, accepted):
    shares = []
    for number, answer in enumerate(answers):
        hits = tries = 0
        for other in range(len(accepted)):
            if other == number or not disjoint(accepted[other], accepted[number]):
                continue
            tries += 1
            hits += has(answer, accepted[other])
        shares.append(hits / tries)
    return shares


@right("by_luck")
def luck_in_numpy(answers, accepted):
    return np.array(
        [
            np.mean([has(answer, words) for words in accepted if disjoint(words, own)])
            for answer, own in zip(answers, accepted, strict=True)
        ]
    )


@wrong("by_luck", "facts that share a word with the own one are counted")
def luck_by_index(answers, accepted):
    return [
        sum(has(answer, words) for j, words in enumerate(accepted) if j != i) / (len(accepted) - 1)
        for i, answer in enumerate(answers)
    ]


@wrong("by_luck", "shared words are only noticed if their capitals agree")
def luck_with_sets(answers, accepted):
    shares = []
    for answer, own in zip(answers, accepted, strict=True):
        others = [has(answer, words) for words in accepted if set(words).isdisjoint(own)]
        shares.append(sum(others) / len(others))
    return shares


@wrong("by_luck", "facts linked only through a third fact are left out")
def luck_between_groups(answers, accepted):
    """It joins facts that share a word to groups, and compares with other groups only."""
    groups = []
    for words in accepted:
        small = {word.lower() for word in words}
        near = [group for group in groups if group & small]
        groups = [group for group in groups if not group & small] + [small.union(*near)]
    group = [next(one for one in groups if words[0].lower() in one) for words in accepted]
    shares = []
    for answer, own in zip(answers, group, strict=True):
        others = [words for words, other in zip(accepted, group, strict=True) if other is not own]
        shares.append(sum(has(answer, words) for words in others) / len(others))
    return shares


@wrong("by_luck", "accepted words are split at spaces")
def luck_without_phrases(answers, accepted):
    single = [{part for word in words for part in word.lower().split()} for words in accepted]
    shares = []
    for answer, own in zip(answers, single, strict=True):
        others = [words for words, parts in zip(accepted, single, strict=True) if not parts & own]
        shares.append(sum(has(answer, words) for words in others) / len(others))
    return shares


@wrong("by_luck", "a fact is left out if an accepted word is found inside one of the other fact's")
def luck_by_the_grade(answers, accepted):
    shares = []
    for i, answer in enumerate(answers):
        others = [words for words in accepted if not any(has(written, accepted[i]) for written in words)]
        shares.append(sum(has(answer, words) for words in others) / len(others))
    return shares


@wrong("by_luck", "the fact's own words count, too")
def luck_over_all(answers, accepted):
    return [sum(has(answer, words) for words in accepted) / len(accepted) for answer in answers]


@wrong("by_luck", "parts of words count, too")
def luck_with_in(answers, accepted):
    shares = []
    for answer, own in zip(answers, accepted, strict=True):
        others = [words for words in accepted if disjoint(words, own)]
        shares.append(sum(any(w.lower() in answer.lower() for w in words) for words in others) / len(others))
    return shares


@wrong("by_luck", "one number is returned, the mean over all answers")
def luck_on_average(answers, accepted):
    return float(np.mean(luck_in_numpy(answers, accepted)))


@wrong("by_luck", "each answer is compared with its own fact only")
def luck_as_the_grade(answers, accepted):
    return [float(has(answer, own)) for answer, own in zip(answers, accepted, strict=True)]


@wrong("by_luck", "it raises ZeroDivisionError: division by zero")
def luck_among_the_sharing(answers, accepted):
    shares = []
    for i, (answer, own) in enumerate(zip(answers, accepted, strict=True)):
        others = [words for j, words in enumerate(accepted) if j != i and not disjoint(words, own)]
        shares.append(sum(has(answer, words) for words in others) / len(others))
    return shares


@wrong("interleaved", "the columns are put in order, not the rows")
def interleaved_columns(weight, heads):
    """It takes the order of the rows and applies it to the columns that are there."""
    half = len(weight) // heads // 2
    order = [h * 2 * half + place for h in range(heads) for i in range(half) for place in (i, i + half)]
    return weight[:, [place for place in order if place < weight.shape[1]]]


@wrong("rounded", "the result is transposed")
def rounded_and_turned(blocks, bits):
    return rounded_to_the_nearest_of_a_list(blocks, bits).mT


@wrong("bits_per_character", "this is the perplexity")
def bits_as_perplexity(log_probabilities, pieces):
    return F.relu(-log_probabilities).mean().exp()
