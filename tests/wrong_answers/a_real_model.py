"""Lesson 11: a real model."""

import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from wrong_answers import right, right_value, wrong, wrong_value

# ---- split_word ----


@wrong("split_word", "the shortest known piece is taken")
def from_short_to_long(word, known):
    pieces, start = [], 0
    while start < len(word):
        for end in range(start + 1, len(word) + 1):
            piece = ("##" if start > 0 else "") + word[start:end]
            if piece in known:
                pieces.append(piece)
                start = end
                break
        else:
            return ["[UNK]"]
    return pieces


def by_places(word, known, look=None, show=None, lost=None, ends=None):
    """From left to right by two places, as in the code of BERT."""
    look = look or (lambda start: "##" if start > 0 else "")
    show = show or (lambda start: "##" if start > 0 else "")
    pieces, start = [], 0
    while start < len(word):
        for end in ends(start, len(word)) if ends else range(len(word), start, -1):
            if look(start) + word[start:end] in known:
                break
        else:
            return lost(pieces, word, start) if lost else ["[UNK]"]
        pieces.append(show(start) + word[start:end])
        start = end
    return pieces


@wrong("split_word", "the ## is missing in the result")
def mark_taken_off(word, known):
    return [piece.removeprefix("##") for piece in by_places(word, known)]


@wrong("split_word", "pieces are looked up without ##, and come out without it")
def no_marks(word, known):
    pieces, rest = [], word
    while rest:
        for end in range(len(rest), 0, -1):
            if rest[:end] in known:
                pieces.append(rest[:end])
                rest = rest[end:]
                break
        else:
            return ["[UNK]"]
    return pieces


@wrong("split_word", "pieces are looked up without ##, which is put in front afterwards")
def marked_at_the_end(word, known):
    pieces = no_marks(word, known)
    return pieces[:1] + ["##" + piece for piece in pieces[1:]]


@wrong("split_word", "the first piece is marked, too")
def always_marked(word, known):
    return by_places(word, known, lambda start: "##", lambda start: "##")


@wrong("split_word", "the first piece comes out with ##")
def written_with_a_mark_always(word, known):
    return by_places(word, known, show=lambda start: "##")


@wrong("split_word", "the ## stands behind the piece")
def mark_behind(word, known):
    pieces = by_places(word, known)
    return [piece if number == 0 else piece[2:] + "##" for number, piece in enumerate(pieces)]


@wrong("split_word", "the ## stands behind every piece but the last")
def mark_where_it_goes_on(word, known):
    *first, last = [piece.removeprefix("##") for piece in by_places(word, known)]
    return [piece + "##" for piece in first] + [last]


@wrong("split_word", "a piece is taken with or without ##, whichever is known")
def either_form_marked(word, known):
    plain = {piece.removeprefix("##") for piece in known}
    return by_places(word, plain, look=lambda start: "")


@wrong("split_word", "a piece is taken with or without ##, whichever is known")
def either_form_as_it_is(word, known):
    pieces, rest = [], word
    while rest:
        for end in range(len(rest), 0, -1):
            forms = [rest[:end], "##" + rest[:end]]
            forms = [form for form in (forms[::-1] if pieces else forms) if form in known]
            if forms:
                pieces.append(forms[0])
                rest = rest[end:]
                break
        else:
            return ["[UNK]"]
    return pieces


@wrong("split_word", "[UNK] stands for the rest alone")
def unknown_behind(word, known):
    return by_places(word, known, lost=lambda pieces, *_: pieces + ["[UNK]"])


@wrong("split_word", "[UNK] stands for the rest alone, with a mark")
def marked_unknown_behind(word, known):
    return by_places(word, known, lost=lambda pieces, *_: pieces + ["##[UNK]" if pieces else "[UNK]"])


@wrong("split_word", "a rest without a piece is left out")
def broken_off(word, known):
    pieces, rest = [], word
    while rest:
        length = len(rest)
        while length and ("##" if pieces else "") + rest[:length] not in known:
            length -= 1
        if length == 0:
            break
        pieces.append(("##" if pieces else "") + rest[:length])
        rest = rest[length:]
    return pieces


@wrong("split_word", "a rest without a piece comes out as it is")
def rest_as_it_is(word, known):
    def lost(pieces, word, start):
        return pieces + [("##" if pieces else "") + word[start:]]

    return by_places(word, known, lost=lost)


@wrong("split_word", "an unknown word gives no piece")
def empty_if_unknown(word, known):
    return by_places(word, known, lost=lambda *_: [])


@wrong("split_word", "an unknown word comes out as it is")
def word_if_unknown(word, known):
    return by_places(word, known, lost=lambda pieces, word, start: [word])


@wrong("split_word", "[UNK] is not in a list")
def text_if_unknown(word, known):
    return by_places(word, known, lost=lambda *_: "[UNK]")


@wrong("split_word", "[UNK] is taken apart into its letters")
def extended_by_a_text(word, known):
    pieces = by_places(word, known)
    return list("[UNK]") if pieces == ["[UNK]"] else pieces


@wrong("split_word", "there is an [UNK] for each piece and one for the rest")
def as_many_unknown_as_pieces(word, known):
    return by_places(word, known, lost=lambda pieces, *_: ["[UNK]" for _ in pieces] + ["[UNK]"])


@wrong("split_word", "there is an [UNK] for each letter")
def unknown_letters(word, known):
    return by_places(word, known, lost=lambda pieces, word, start: ["[UNK]" for _ in word])


@wrong("split_word", "there is an [UNK] for each letter of the rest")
def unknown_letters_of_the_rest(word, known):
    return by_places(word, known, lost=lambda pieces, word, start: pieces + ["[UNK]" for _ in word[start:]])


def letter_by_letter(word, known, instead):
    pieces, start = [], 0
    while start < len(word):
        end = len(word)
        while end > start and ("##" if pieces else "") + word[start:end] not in known:
            end -= 1
        if end == start:
            pieces, end = pieces + instead, start + 1
        else:
            pieces.append(("##" if pieces else "") + word[start:end])
        start = end
    return pieces


@wrong("split_word", "a letter without a piece becomes [UNK], and the splitting goes on")
def unknown_in_between(word, known):
    return letter_by_letter(word, known, ["[UNK]"])


@wrong("split_word", "a letter without a piece is passed over")
def passed_over(word, known):
    return letter_by_letter(word, known, [])


@wrong("split_word", "the whole rest is never tried")
def one_letter_too_short(word, known):
    return by_places(word, known, ends=lambda start, n: range(n - 1, start, -1))


@wrong("split_word", "the whole rest is never tried, unless it is one letter")
def short_unless_one_letter(word, known):
    return by_places(word, known, ends=lambda start, n: range(n - 1, start, -1) if n - start > 1 else [n])


@wrong("split_word", "a single letter is never tried")
def not_down_to_one(word, known):
    return by_places(word, known, ends=lambda start, n: range(n, start + 1, -1))


@wrong("split_word", "the ## is counted as letters of the word")
def cut_by_the_length_of_the_piece(word, known):
    pieces = []
    while word:
        tries = [("##" if pieces else "") + word[:end] for end in range(len(word), 0, -1)]
        tries = [piece for piece in tries if piece in known]
        if not tries:
            return ["[UNK]"]
        pieces.append(tries[0])
        word = word[len(tries[0]) :]
    return pieces


def with_rest(word, known, take_off):
    pieces = []
    while word:
        tries = [word[:end] for end in range(len(word), 0, -1) if ("##" if pieces else "") + word[:end] in known]
        if not tries:
            return ["[UNK]"]
        pieces.append(("##" if pieces else "") + tries[0])
        word = take_off(word, tries[0])
    return pieces


@wrong("split_word", "the piece is taken out everywhere")
def with_replace(word, known):
    return with_rest(word, known, lambda word, piece: word.replace(piece, ""))


@wrong("split_word", "the piece is taken out everywhere")
def joined_from_split(word, known):
    return with_rest(word, known, lambda word, piece: "".join(word.split(piece)))


@wrong("split_word", "all letters of the piece are stripped")
def with_lstrip(word, known):
    return with_rest(word, known, str.lstrip)


@wrong("split_word", "all letters of the piece are stripped")
def with_strip(word, known):
    return with_rest(word, known, str.strip)


@wrong("split_word", "a shorter piece is tried where the longest leads nowhere")
def by_recursion_with_a_way_back(word, known, failed=None, start=0):
    failed = set() if failed is None else failed
    if start == len(word):
        return []
    for end in range(len(word), start, -1):
        piece = ("##" if start else "") + word[start:end]
        if piece in known and end not in failed:
            rest = by_recursion_with_a_way_back(word, known, failed, end)
            if rest != ["[UNK]"]:
                return [piece] + rest
    failed.add(start)
    return ["[UNK]"]


@wrong("split_word", "the fewest pieces are taken")
def as_few_as_possible(word, known):
    """Forward, and of equally few the one whose first piece is longest."""
    rests = {len(word): []}
    for start in reversed(range(len(word))):
        ways = [
            [("##" if start else "") + word[start:end], *rests[end]]
            for end in range(len(word), start, -1)
            if end in rests and ("##" if start else "") + word[start:end] in known
        ]
        if ways:
            rests[start] = min(ways, key=len)
    return rests.get(0, ["[UNK]"])


@wrong("split_word", "the word is split from its end")
def backwards(word, known):
    pieces, end = [], len(word)
    while end > 0:
        for start in range(end):
            piece = ("##" if start else "") + word[start:end]
            if piece in known:
                pieces, end = [piece] + pieces, start
                break
        else:
            return ["[UNK]"]
    return pieces


@wrong("split_word", "the pieces stand in the opposite order")
def inserted_in_front(word, known):
    return list(reversed(by_places(word, known)))


@wrong("split_word", "the pieces come out as one text")
def joined_by_spaces(word, known):
    return " ".join(by_places(word, known))


@wrong("split_word", "the pieces come out as one text")
def joined(word, known):
    text = ""
    for piece in by_places(word, known):
        text += piece
    return text


@wrong("split_word", "only the first piece comes out")
def return_in_the_loop(word, known):
    pieces = by_places(word, known)
    for piece in pieces:
        return [piece]


@wrong("split_word", "every letter is a piece")
def letters_alone(word, known):
    pieces = [("##" if number else "") + letter for number, letter in enumerate(word)]
    return pieces if set(pieces) <= known else ["[UNK]"]


@wrong("split_word", "there are two pieces at most")
def a_first_and_a_second(word, known):
    first = by_places(word, known)[0]
    if first in ("[UNK]", word):
        return [first]
    second = "##" + word[len(first) :]
    return [first, second] if second in known else ["[UNK]"]


@wrong("split_word", "after the longest first piece the shortest ones follow")
def other_loop_behind(word, known):
    return by_places(word, known, ends=lambda start, n: range(start + 1, n + 1) if start else range(n, 0, -1))


@wrong("split_word", "there is a list within the list")
def list_of_a_list(word, known):
    pieces = by_places(word, known)
    return pieces if pieces == ["[UNK]"] else [pieces]


@wrong("split_word", "there is a list within the list")
def each_in_a_list(word, known):
    pieces = []
    for piece in by_places(word, known):
        if piece == "[UNK]":
            return [piece]
        pieces.append([piece])
    return pieces


def appended(word, known, append):
    pieces, start = [], 0
    while start < len(word):
        mark = "##" if start else ""
        fits = [end for end in range(start + 1, len(word) + 1) if mark + word[start:end] in known]
        if not fits:
            return ["[UNK]"]
        append(pieces, mark, word, start, max(fits))
        start = max(fits)
    return pieces


@wrong("split_word", "pieces are taken apart into their signs")
def with_extend(word, known):
    return appended(word, known, lambda pieces, mark, word, start, end: pieces.extend(mark + word[start:end]))


@wrong("split_word", "the whole rest comes out, not the piece")
def rest_appended(word, known):
    return appended(word, known, lambda pieces, mark, word, start, end: pieces.append(mark + word[start:]))


@wrong("split_word", "each piece lacks its last letter")
def end_minus_one(word, known):
    return appended(word, known, lambda pieces, mark, word, start, end: pieces.append(mark + word[start : end - 1]))


@wrong("split_word", "the beginning of the word is looked up each time, not that of the rest")
def looked_up_from_the_start(word, known):
    pieces, start = [], 0
    while start < len(word):
        mark, end = "##" if start else "", len(word)
        while end > start and mark + word[:end] not in known:
            end -= 1
        if end == start:
            return ["[UNK]"]
        pieces.append(mark + word[start:end])
        start = end
    return pieces


@wrong("split_word", "it raises IndexError: string index out of range")
def letter_behind_the_end(word, known):
    pieces, rest = [], word
    while rest[0]:
        end = next((e for e in range(len(rest), 0, -1) if ("##" if pieces else "") + rest[:e] in known), 0)
        if not end:
            return ["[UNK]"]
        pieces.append(("##" if pieces else "") + rest[:end])
        rest = rest[end:]
    return pieces


@wrong("split_word", "it changes its argument known in place")
def unknown_is_added(word, known):
    known.add("[UNK]")
    return by_places(word, known)


@wrong("split_word", "it returns something of type generator, not a list")
def one_by_one(word, known):
    yield from by_places(word, known)


@wrong("split_word", "it returns nothing")
def return_forgotten(word, known):
    pieces = by_places(word, known)
    pieces.sort(key=lambda piece: 0)


@wrong("split_word", "it raises StopIteration:")
def next_without_an_end(word, known):
    pieces = []
    while word:
        end = next(e for e in range(len(word), 0, -1) if ("##" if pieces else "") + word[:e] in known)
        pieces.append(("##" if pieces else "") + word[:end])
        word = word[end:]
    return pieces


kept_pieces = []


@wrong("split_word", "what it has returned changes when it is called again")
def one_list_for_all(word, known):
    kept_pieces[:] = by_places(word, known)
    return kept_pieces


@wrong("split_word", "it calls course_lib.word_pieces, which is not to be used")
def by_the_library(word, known):
    from course_lib.word_pieces import WordPieces

    return WordPieces(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *known])._split_word(word)


@right("split_word")
def as_in_bert(word, known):
    return by_places(word, known)


@right("split_word")
def by_recursion(word, known, mark=""):
    for end in range(len(word), 0, -1):
        if mark + word[:end] in known:
            rest = by_recursion(word[end:], known, "##") if word[end:] else []
            return ["[UNK]"] if rest == ["[UNK]"] else [mark + word[:end], *rest]
    return ["[UNK]"]


@right("split_word")
def by_the_longest_that_fits(word, known):
    pieces, rest = [], word
    while rest != "":
        mark = "##" if pieces else ""
        fits = [p for p in known if (mark + rest).startswith(p) and (p.startswith("##") == bool(mark)) and p != "##"]
        if not fits:
            return ("[UNK]",)
        pieces.append(max(fits, key=len))
        rest = rest.removeprefix(pieces[-1].removeprefix("##"))
    return tuple(pieces)


@right("split_word")
def in_an_array(word, known):
    return np.array(by_places(word, known))


# ---- sentence_vector ----


@wrong("sentence_vector", "the padding counts in the mean")
def mean_of_all(states, mask):
    return states.mean(dim=1)


@wrong("sentence_vector", "the padding counts in the mean")
def mean_of_all_in_numpy(states, mask):
    return np.mean(states.numpy(), axis=1)


@wrong("sentence_vector", "the sum of the own tokens is divided by all places")
def mean_of_the_masked(states, mask):
    return (states * mask[..., None]).mean(1)


@wrong("sentence_vector", "the sum of the own tokens is divided by all places")
def mean_of_the_filled(states, mask):
    return states.masked_fill(~mask.unsqueeze(-1), 0.0).mean(1)


@wrong("sentence_vector", "the sum of all places is divided by the own tokens")
def only_the_count_is_masked(states, mask):
    return states.sum(1) / mask.sum(1, keepdim=True)


@wrong("sentence_vector", "it is a sum, not a mean")
def sum_by_product(states, mask):
    return (mask[:, None].to(states.dtype) @ states)[:, 0]


@wrong("sentence_vector", "True and False have changed places")
def filled_where_true(states, mask):
    return states.masked_fill(mask[:, :, None], 0).sum(1) / (~mask).sum(1)[:, None]


@wrong("sentence_vector", "all sentences are divided by the same count, that of all tokens")
def one_count(states, mask):
    return (states * mask[:, :, None]).sum(1) / mask.sum()


@wrong("sentence_vector", "all sentences are divided by the mean number of tokens")
def mean_count(states, mask):
    return (states * mask[:, :, None]).sum(1) / (mask.sum() / len(mask))


@wrong("sentence_vector", "all sentences share the count of the first")
def count_of_the_first(states, mask):
    return (states * mask[:, :, None]).sum(1) / mask[0].sum()


@wrong("sentence_vector", "it is divided by the number of sentences")
def divided_by_the_batch(states, mask):
    return torch.einsum("bnd,bn->bd", states, mask.to(states.dtype)) / states.shape[0]


@wrong("sentence_vector", "all sentences are thrown together")
def chosen_by_mask(states, mask):
    return states[mask].mean(0)


@wrong("sentence_vector", "all sentences are thrown together")
def same_for_all(states, mask):
    return torch.stack([states[mask].mean(0) for _ in states])


@wrong("sentence_vector", "the first token stands for the sentence")
def of_cls(states, mask):
    return states[:, 0, :]


@wrong("sentence_vector", "the last place stands for the sentence")
def of_the_last(states, mask):
    return states[:, states.shape[1] - 1]


@wrong("sentence_vector", "the last own token stands for the sentence")
def of_sep(states, mask):
    return torch.stack([own[its][-1] for own, its in zip(states, mask, strict=True)])


@wrong("sentence_vector", "the largest numbers are taken, not the mean")
def max_pooled(states, mask):
    return torch.stack([own[its].max(0).values for own, its in zip(states, mask, strict=True)])


@wrong("sentence_vector", "the largest numbers are taken, not the mean")
def max_pooled_with_zeros(states, mask):
    return (states * mask[:, :, None]).max(1).values


@wrong("sentence_vector", "the vectors are brought to length 1")
def normed(states, mask):
    mean = own_mean(states, mask)
    return mean / mean.norm(dim=-1, keepdim=True)


@wrong("sentence_vector", "it is divided by the root of the count")
def by_the_root(states, mask):
    return (states * mask[:, :, None]).sum(1) / mask.sum(1).sqrt()[:, None]


@wrong("sentence_vector", "it is divided by the square of the count")
def divided_twice(states, mask):
    return own_mean(states, mask) / mask.sum(1, keepdim=True)


@wrong("sentence_vector", "one is added to the count")
def count_and_one(states, mask):
    return (states * mask[:, :, None]).sum(1) / (mask.sum(1)[:, None] + 1)


@wrong("sentence_vector", "the last own token is left out")
def slice_too_short(states, mask):
    return torch.stack([own[its][:-1].mean(0) for own, its in zip(states, mask, strict=True)])


@wrong("sentence_vector", "the first own token is left out")
def without_cls(states, mask):
    return torch.stack([own[its][1:].mean(0) for own, its in zip(states, mask, strict=True)])


@wrong("sentence_vector", "[CLS] and [SEP] are left out")
def without_both(states, mask):
    return torch.stack([own[its][1:-1].mean(0) for own, its in zip(states, mask, strict=True)])


@wrong("sentence_vector", "the first places are taken, as many as the mask counts")
def by_length(states, mask):
    return torch.stack([own[: its.sum()].mean(0) for own, its in zip(states, mask, strict=True)])


@wrong("sentence_vector", "it is cut off at the shortest sentence")
def at_the_shortest(states, mask):
    return states[:, : min(its.sum() for its in mask)].mean(1)


@wrong("sentence_vector", "the axis of the tokens is kept")
def keepdim_left(states, mask):
    return (states * mask[:, :, None]).sum(1, keepdim=True) / mask.sum(1)[:, None, None]


@wrong("sentence_vector", "the mean runs along the numbers of a vector")
def along_the_last_axis(states, mask):
    return states.mean(2)


@wrong("sentence_vector", "the mean runs along the numbers of a vector")
def masked_along_the_last_axis(states, mask):
    return (states * mask.unsqueeze(-1)).mean(2)


@wrong("sentence_vector", "there is one number for each sentence")
def two_means(states, mask):
    return own_mean(states, mask).mean(1)


@wrong("sentence_vector", "the mean runs along the batch")
def masked_along_the_batch(states, mask):
    return (states * mask[..., None]).sum(0) / mask.sum(0, keepdim=True).T


@wrong("sentence_vector", "the mean runs along the batch")
def along_the_batch(states, mask):
    return states.mean(0)


@wrong("sentence_vector", "the states are masked, and nothing is averaged")
def only_masked(states, mask):
    return states.where(mask[:, :, None], torch.zeros(()).to(states))


@wrong("sentence_vector", "it changes its argument states in place")
def zeros_into_the_caller(states, mask):
    states[~mask] = 0
    return states.sum(1) / mask.sum(1)[:, None]


@wrong("sentence_vector", "it returns a list of 5 tensors, not a tensor of shape (5, 6)")
def list_of_tensors(states, mask):
    return [own[its].mean(0) for own, its in zip(states, mask, strict=True)]


@wrong("sentence_vector", "the result holds NaN in 3 of 6 places")
def filled_with_infinity(states, mask):
    return (states.masked_fill(~mask[:, :, None], -torch.inf) * mask[:, :, None]).sum(1) / mask.sum(1)[:, None]


@wrong("sentence_vector", "it calls course_lib.pretrained, which is not to be used")
def with_the_library(states, mask):
    from course_lib.pretrained import mean_pooled

    return mean_pooled(states, mask)


@right("sentence_vector")
def own_mean(states, mask):
    return torch.stack([own[its].mean(0) for own, its in zip(states, mask, strict=True)])


@right("sentence_vector")
def by_einsum(states, mask):
    weights = mask.double() / mask.sum(1, keepdim=True)
    return torch.einsum("bn,bnd->bd", weights, states.double())


@right("sentence_vector")
def in_numpy(states, mask):
    states, own = states.numpy(), mask.numpy()[:, :, None]
    return np.where(own, states, 0).sum(1) / own.sum(1)


@right("sentence_vector")
def by_nanmean(states, mask):
    return states.masked_fill(~mask[:, :, None], torch.nan).nanmean(1)


@right("sentence_vector")
def as_in_sentence_transformers(states, mask):
    expanded = mask.unsqueeze(-1).expand(states.size()).float()
    return torch.sum(states * expanded, 1) / torch.clamp(expanded.sum(1), min=1e-9)


@right("sentence_vector")
def in_plain_lists(states, mask):
    batch, n, d = states.shape
    rows = []
    for b in range(batch):
        own = [states[b, i].tolist() for i in range(n) if mask[b, i]]
        rows.append([sum(numbers) / len(own) for numbers in zip(*own, strict=True)])
    return rows


@wrong("sentence_vector", "tokens whose state is 0 are not counted")
def states_that_are_not_zero(states, mask):
    own = states * mask[:, :, None]
    return own.sum(1) / (own.abs().sum(-1) > 0).sum(1, keepdim=True)


# ---- nearest ----


@wrong("nearest", "the dot product is taken, not the cosine")
def by_dot_product(query, vectors, k):
    return (vectors @ query).topk(k).indices


@wrong("nearest", "the dot product is taken, not the cosine")
def only_the_query_is_normed(query, vectors, k):
    return (vectors @ F.normalize(query, dim=0)).argsort(descending=True)[:k].tolist()


@wrong("nearest", "the dot product is taken, not the cosine")
def by_one_common_length(query, vectors, k):
    return (vectors / vectors.norm() @ (query / query.norm())).topk(k).indices.tolist()


@wrong("nearest", "it is multiplied by the lengths, not divided")
def parentheses_forgotten(query, vectors, k):
    return (vectors @ query / query.norm() * vectors.norm(dim=1)).topk(k).indices


@wrong("nearest", "it is divided by the square of the length")
def root_forgotten(query, vectors, k):
    scores = [(query @ v / ((query @ query) * (v @ v))).item() for v in vectors]
    return sorted(range(len(scores)), key=lambda i: -scores[i])[:k]


@wrong("nearest", "the vectors are normed along the wrong axis")
def normed_along_columns(query, vectors, k):
    return (vectors / vectors.norm(dim=0) @ query).topk(k).indices


@wrong("nearest", "a length is taken for the sum of the numbers")
def divided_by_the_sum(query, vectors, k):
    return (vectors @ query / (vectors.sum(-1) * query.norm())).topk(k).indices


@wrong("nearest", "a length is taken for the sum of absolute numbers")
def p_is_one(query, vectors, k):
    return (F.normalize(vectors, p=1, dim=1) @ query).topk(k).indices


@wrong("nearest", "the distance is taken, not the cosine")
def by_distance(query, vectors, k):
    return torch.cdist(query[None], vectors)[0].topk(k, largest=False).indices.tolist()


@wrong("nearest", "the distance is taken, and the greatest comes first")
def by_greatest_distance(query, vectors, k):
    return ((vectors - query) ** 2).sum(1).topk(k).indices


@wrong("nearest", "the distances are city blocks")
def by_blocks(query, vectors, k):
    return np.abs(vectors.numpy() - query.numpy()).sum(1).argsort()[:k]


@wrong("nearest", "a cosine is taken without its sign")
def with_abs(query, vectors, k):
    return F.cosine_similarity(query[None], vectors).abs().topk(k).indices


@wrong("nearest", "a cosine is taken without its sign")
def squared(query, vectors, k):
    return (F.cosine_similarity(query[None], vectors) ** 2).topk(k).indices


@wrong("nearest", "the means are taken away first")
def by_correlation(query, vectors, k):
    query, vectors = query.numpy(), vectors.numpy()
    scores = [np.dot(query - query.mean(), v - v.mean()) / np.std(v) for v in vectors]
    return np.argsort(scores)[::-1][:k].tolist()


@wrong("nearest", "the longest vectors are taken")
def by_length_alone(query, vectors, k):
    return torch.linalg.vector_norm(vectors, dim=1).topk(k).indices.tolist()


@wrong("nearest", "the smallest cosine comes first")
def upwards(query, vectors, k):
    return F.cosine_similarity(query[None], vectors).argsort()[:k]


@wrong("nearest", "the smallest cosine comes first")
def largest_is_false(query, vectors, k):
    return F.cosine_similarity(query[None], vectors).topk(k, largest=False).indices


@wrong("nearest", "the greatest are found, and stand last")
def last_of_the_ascending(query, vectors, k):
    return F.cosine_similarity(query[None], vectors).argsort()[-k:].tolist()


@wrong("nearest", "the numbers stand in the order of the vectors")
def sorted_numbers(query, vectors, k):
    return sorted(by_cosine_similarity(query, vectors, k))


@wrong("nearest", "vectors are counted from 1")
def from_one(query, vectors, k):
    return [number + 1 for number in by_cosine_similarity(query, vectors, k)]


@wrong("nearest", "the nearest is left out")
def without_the_first(query, vectors, k):
    return F.cosine_similarity(query[None], vectors).argsort(descending=True)[1 : k + 1]


@wrong("nearest", "there is one too few")
def one_too_few(query, vectors, k):
    return by_cosine_similarity(query, vectors, k)[:-1]


@wrong("nearest", "there is one too many")
def one_too_many(query, vectors, k):
    return F.cosine_similarity(query[None], vectors).argsort(descending=True)[: k + 1]


@wrong("nearest", "all come out, not k")
def all_of_them(query, vectors, k):
    return F.cosine_similarity(query[None], vectors).argsort(descending=True)


@wrong("nearest", "only the k-th comes out")
def the_kth(query, vectors, k):
    return [by_cosine_similarity(query, vectors, k)[-1]]


@wrong("nearest", "the last k of the order are taken")
def last_of_the_descending(query, vectors, k):
    return F.cosine_similarity(query[None], vectors).argsort(descending=True)[-k:].tolist()


@wrong("nearest", "ranks come out, not numbers of vectors")
def ranks(query, vectors, k):
    return F.cosine_similarity(query[None], vectors).argsort(descending=True).argsort()[:k]


@wrong("nearest", "the cosines come out, not the numbers")
def values(query, vectors, k):
    return sorted(F.cosine_similarity(query[None], vectors).tolist(), reverse=True)[:k]


@wrong("nearest", "the vectors come out, not their numbers")
def vectors_themselves(query, vectors, k):
    return vectors[by_cosine_similarity(query, vectors, k)]


@wrong("nearest", "cosines and numbers come out")
def whole_topk(query, vectors, k):
    return F.cosine_similarity(query[None], vectors).topk(k)


@wrong("nearest", "True and False come out")
def as_a_mask(query, vectors, k):
    chosen = torch.zeros(len(vectors), dtype=torch.bool)
    chosen[by_cosine_similarity(query, vectors, k)] = True
    return chosen


@wrong("nearest", "it changes its argument vectors in place")
def normed_in_place(query, vectors, k):
    vectors /= vectors.norm(dim=1, keepdim=True)
    return (vectors @ query).topk(k).indices


@wrong("nearest", "it raises IndexError: Dimension out of range (expected to be in range of [-1, 0], but got 1)")
def query_as_a_row(query, vectors, k):
    return (F.normalize(vectors, dim=1) @ F.normalize(query, dim=1)).topk(k).indices


@wrong("nearest", "the numbers stand in a row of their own")
def in_a_row(query, vectors, k):
    return F.cosine_similarity(query[None], vectors)[None].topk(k).indices


@right("nearest")
def by_cosine_similarity(query, vectors, k):
    return F.cosine_similarity(query[None], vectors).topk(k).indices.tolist()


@right("nearest")
def only_the_vectors_are_normed(query, vectors, k):
    return (F.normalize(vectors, dim=1) @ query).topk(k).indices


@right("nearest")
def in_numpy_from_behind(query, vectors, k):
    vectors = vectors.double().numpy()
    return np.argsort(vectors @ query.double().numpy() / np.linalg.norm(vectors, axis=1))[::-1][:k].tolist()


@right("nearest")
def by_hand_and_sorted(query, vectors, k):
    def cosine(one, other):
        dot = sum(a * b for a, b in zip(one, other, strict=True))
        return dot / math.hypot(*one) / math.hypot(*other)

    scores = [(cosine(query.tolist(), vector), number) for number, vector in enumerate(vectors.tolist())]
    return tuple(number for _, number in sorted(scores, reverse=True)[:k])


@right("nearest")
def one_by_one_taken_out(query, vectors, k):
    scores, found = F.cosine_similarity(query[None], vectors), []
    for _ in range(k):
        found.append(scores.argmax())
        scores[found[-1]] = -torch.inf
    return found


@right("nearest")
def by_distance_of_normed(query, vectors, k):
    return torch.cdist(F.normalize(query[None].double()), F.normalize(vectors.double()))[0].argsort()[:k]


# ---- unpacked ----


def pairs_of(weights, biases):
    return [(weight, bias) for weight, bias in zip(weights, biases, strict=True)]


def cut(weight, bias):
    d = weight.shape[0]
    return [weight[:, n * d : (n + 1) * d] for n in range(3)], [bias[n * d : (n + 1) * d] for n in range(3)]


@wrong("unpacked", "nothing is transposed")
def columns_as_they_are(weight, bias):
    return pairs_of(*cut(weight, bias))


@wrong("unpacked", "nothing is transposed")
def turned_twice(weight, bias):
    return pairs_of([rows.T for rows in weight.T.chunk(3)], bias.chunk(3))


@wrong("unpacked", "it is cut along the axis of what goes in, and not transposed")
def rows_as_they_are(weight, bias):
    return pairs_of(weight.tensor_split(3), bias.chunk(3))


@wrong("unpacked", "it is cut along the axis of what goes in, and not transposed")
def first_axis_of_the_file(weight, bias):
    return tuple(zip(weight.chunk(3), bias.chunk(3), strict=False))


@wrong("unpacked", "it is cut along the axis of what goes in")
def last_axis_after_turning(weight, bias):
    return pairs_of(weight.T.tensor_split(3, dim=-1), bias.chunk(3))


@wrong("unpacked", "it is cut along the axis of what goes in")
def rows_turned(weight, bias):
    return [(rows.T, own) for rows, own in zip(weight.chunk(3), bias.chunk(3), strict=False)]


@wrong("unpacked", "it is reshaped, not transposed")
def three_by_d_by_d(weight, bias):
    d = len(weight)
    return pairs_of(weight.reshape(3, d, d), bias.reshape(3, d))


@wrong("unpacked", "it is reshaped, not transposed")
def three_by_d_by_d_turned(weight, bias):
    d = len(weight)
    return pairs_of(weight.reshape(3, d, d).mT, bias.reshape(3, d))


@wrong("unpacked", "every third column is taken")
def d_by_three(weight, bias):
    d = len(weight)
    return pairs_of(weight.reshape(d, d, 3).permute(2, 1, 0), bias.reshape(d, 3).T)


@wrong("unpacked", "every third column is taken")
def third_columns_right_bias(weight, bias):
    return [(weight[:, n::3].T, cut(weight, bias)[1][n]) for n in range(3)]


@wrong("unpacked", "every third column is taken, and not transposed")
def third_columns(weight, bias):
    return [(weight[:, n::3], bias[n::3]) for n in range(3)]


@wrong("unpacked", "every third column is taken, and not transposed")
def third_columns_right_bias_not_turned(weight, bias):
    return [(weight[:, n::3], cut(weight, bias)[1][n]) for n in range(3)]


@wrong("unpacked", "the matrices are right, and every third number of the bias is taken")
def third_numbers(weight, bias):
    return [(columns.T, bias[n::3]) for n, columns in enumerate(cut(weight, bias)[0])]


def in_order(*places):
    def answer(weight, bias):
        right_ones = turned_columns(weight, bias)
        return [right_ones[place] for place in places]

    answer.__name__ = f"order_{places}"
    return answer


for places in ((0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)):
    wrong("unpacked", "the three stand in another order")(in_order(*places))


@wrong("unpacked", "the three stand in another order, and nothing is transposed")
def value_first_not_turned(weight, bias):
    return pairs_of(*cut(weight, bias))[::-1]


@wrong("unpacked", "each gets the whole bias")
def whole_bias(weight, bias):
    return [(columns.T, bias) for columns in weight.chunk(3, dim=1)]


@wrong("unpacked", "all get the bias of the query")
def first_bias(weight, bias):
    return [(columns.T, bias[: len(weight)]) for columns in weight.chunk(3, dim=1)]


@wrong("unpacked", "the biases stand in another order than the matrices")
def biases_from_behind(weight, bias):
    return [(columns.T, own) for columns, own in zip(weight.chunk(3, 1), reversed(bias.chunk(3)), strict=True)]


@wrong("unpacked", "the biases are 0")
def no_bias(weight, bias):
    return [(columns.T, torch.zeros(len(weight))) for columns in weight.chunk(3, 1)]


@wrong("unpacked", "the biases are tables")
def biases_as_rows(weight, bias):
    return [(columns.T, own[None]) for columns, own in zip(*cut(weight, bias), strict=True)]


@wrong("unpacked", "the biases are tables")
def biases_as_columns(weight, bias):
    return [(columns.T, own[:, None]) for columns, own in zip(*cut(weight, bias), strict=True)]


@wrong("unpacked", "all three matrices are those of the query")
def three_times_the_query(weight, bias):
    d = len(weight)
    return [(weight[:, :d].T, bias[n * d : (n + 1) * d]) for n in range(3)]


@wrong("unpacked", "the matrix is not cut")
def whole_matrix(weight, bias):
    return [(weight.T, own) for own in bias.chunk(3)]


@wrong("unpacked", "the rows of each matrix stand in the opposite order")
def rotated(weight, bias):
    return [(torch.rot90(columns), own) for columns, own in zip(*cut(weight, bias), strict=True)]


@wrong("unpacked", "three matrices come first, then three biases")
def matrices_then_biases(weight, bias):
    return weight.T.chunk(3), bias.chunk(3)


@wrong("unpacked", "six tensors stand in a row")
def flat(weight, bias):
    q, k, v = cut(weight, bias)[0]
    a, b, c = cut(weight, bias)[1]
    return q.T, a, k.T, b, v.T, c


@wrong("unpacked", "six tensors stand in a row")
def flat_matrices_first(weight, bias):
    return [*weight.T.chunk(3), *bias.chunk(3)]


@wrong("unpacked", "each pair has the bias first")
def bias_first(weight, bias):
    return list(zip(bias.chunk(3), weight.T.chunk(3), strict=True))


@wrong("unpacked", "only the matrices come out")
def matrices_alone(weight, bias):
    return list(weight.T.chunk(3))


@wrong("unpacked", "only the query's pair comes out")
def return_within_the_loop(weight, bias):
    for columns, own in zip(*cut(weight, bias), strict=True):
        return columns.T, own


@wrong("unpacked", "it returns something of type zip, not 3 things")
def zip_as_it_is(weight, bias):
    return zip(weight.T.chunk(3), bias.chunk(3), strict=True)


@wrong("unpacked", "`result[0]` is something of type Linear, not 2 things")
def as_layers(weight, bias):
    layers = [nn.Linear(len(weight), len(weight)) for _ in range(3)]
    for layer, (own, shift) in zip(layers, turned_columns(weight, bias), strict=True):
        layer.weight.data, layer.bias.data = own, shift
    return layers


@wrong("unpacked", "it returns something of type dict, not 3 things")
def by_names(weight, bias):
    return dict(zip(("query", "key", "value"), turned_columns(weight, bias), strict=True))


@wrong("unpacked", "it changes its argument weight in place")
def turned_in_place(weight, bias):
    weight.t_()
    return pairs_of(weight.chunk(3), bias.chunk(3))


@right("unpacked")
def turned_columns(weight, bias):
    return [(columns.T, own) for columns, own in zip(*cut(weight, bias), strict=True)]


@right("unpacked")
def by_reshape_and_permute(weight, bias):
    d = len(weight)
    return tuple(zip(weight.reshape(d, 3, d).permute(1, 2, 0), bias.reshape(3, d), strict=True))


@right("unpacked")
def lists_in_numpy(weight, bias):
    matrices, biases = np.hsplit(weight.numpy(), 3), np.split(bias.numpy(), 3)
    return [[matrix.T.copy(), own] for matrix, own in zip(matrices, biases, strict=True)]


@right("unpacked")
def number_by_number(weight, bias):
    d = weight.shape[0]
    found = []
    for part in range(3):
        own = torch.empty(d, d, dtype=torch.float64)
        for i in range(d):
            for j in range(d):
                own[j, i] = weight[i, part * d + j]
        found.append((own, [bias[part * d + j].item() for j in range(d)]))
    return found


# ---- merged ----


@wrong("merged", "the factor is left out")
def without_factor(weight, down, up, alpha):
    return weight + up @ down


@wrong("merged", "the factor is left out")
def r_is_alpha(weight, down, up, alpha):
    r = alpha or 1
    return weight + (1 if alpha == 0 else alpha / r) * torch.mm(up, down)


@wrong("merged", "the factor is alpha alone")
def by_alpha(weight, down, up, alpha):
    return torch.addmm(weight, up, down, alpha=alpha)


@wrong("merged", "the factor is 1 / r")
def by_r_alone(weight, down, up, alpha):
    return weight + up @ down / up.shape[1]


@wrong("merged", "the factor is alpha times r")
def alpha_times_r(weight, down, up, alpha):
    return weight + alpha * up.shape[1] * (up @ down)


@wrong("merged", "r is divided by alpha")
def r_over_alpha(weight, down, up, alpha):
    r = down.shape[0]
    return weight + (r / alpha) * up @ down


@wrong("merged", "alpha is divided by √r")
def rank_stabilised(weight, down, up, alpha):
    return weight + alpha / math.sqrt(len(down)) * up @ down


@wrong("merged", "the numbers that go in are taken for r")
def second_of_down(weight, down, up, alpha):
    return weight + alpha / down.size(1) * up @ down


@wrong("merged", "the numbers that go in are taken for r")
def second_of_weight(weight, down, up, alpha):
    r = weight.shape[-1]
    return weight + (up @ down).mul(alpha).div(r)


@wrong("merged", "the numbers that come out are taken for r")
def first_of_up(weight, down, up, alpha):
    return weight + alpha / len(up) * up @ down


@wrong("merged", "all numbers of down are taken for r")
def numel_of_down(weight, down, up, alpha):
    return weight + alpha / down.numel() * up @ down


@wrong("merged", "all numbers of up are taken for r")
def numel_of_up(weight, down, up, alpha):
    return weight + alpha / up.numel() * up @ down


@wrong("merged", "alpha / r is rounded to a whole number")
def whole_division(weight, down, up, alpha):
    r = len(down)
    return weight + alpha // r * (up @ down)


@wrong("merged", "the factor is there twice")
def on_both(weight, down, up, alpha):
    s = alpha / len(down)
    return weight + (s * up) @ (s * down)


@wrong("merged", "A stands before B")
def a_before_b(weight, down, up, alpha):
    return weight + alpha / len(down) * torch.matmul(down, up)


@wrong("merged", "the update is turned round")
def update_turned(weight, down, up, alpha):
    return weight + alpha / len(down) * down.T @ up.T


@wrong("merged", "both matrices are turned round")
def both_turned(weight, down, up, alpha):
    return weight + alpha / len(down) * torch.einsum("ro,ir->oi", up, down)


@wrong("merged", "A is turned round")
def a_turned(weight, down, up, alpha):
    return weight + alpha / len(down) * (up @ down.T)


@wrong("merged", "B is turned round")
def b_turned(weight, down, up, alpha):
    return weight + alpha / len(down) * (up.T @ down)


@wrong("merged", "A and B are multiplied entry by entry")
def by_star(weight, down, up, alpha):
    return weight + alpha / len(down) * (up * down)


@wrong("merged", "only the first of the r directions is there")
def outer_of_the_first(weight, down, up, alpha):
    return weight + alpha / len(down) * torch.outer(up[:, 0], down[0])


@wrong("merged", "the last of the r directions is left out")
def loop_ends_early(weight, down, up, alpha):
    r = len(down)
    update = sum((torch.outer(up[:, i], down[i]) for i in range(r - 1)), torch.zeros_like(weight))
    return weight + alpha / r * update


@wrong("merged", "the update is taken away")
def unmerged(weight, down, up, alpha):
    return weight - alpha / len(down) * up @ down


@wrong("merged", "only the update comes out")
def update_alone(weight, down, up, alpha):
    return alpha / len(down) * up @ down


@wrong("merged", "the matrix comes out as it was")
def not_added(weight, down, up, alpha):
    weight + alpha / len(down) * up @ down
    return weight


@wrong("merged", "W is multiplied by the factor, too")
def factor_before_both(weight, down, up, alpha):
    return (weight + up @ down) * alpha / len(down)


@wrong("merged", "W is made smaller to make room")
def mixed(weight, down, up, alpha):
    return torch.lerp(weight, up @ down, alpha / len(down))


@wrong("merged", "the update is multiplied with W, not added")
def multiplied(weight, down, up, alpha):
    return weight * (alpha / len(down) * up @ down)


@wrong("merged", "the result is turned round")
def result_turned(weight, down, up, alpha):
    return weight.T + alpha / len(down) * down.T @ up.T


@wrong("merged", "it changes its argument weight in place")
def merged_in_place(weight, down, up, alpha):
    weight += alpha / len(down) * up @ down
    return weight


@wrong(
    "merged",
    "its arguments stand in another order: (weight, up, down, alpha), and the text has (weight, down, up, alpha)",
)
def other_names(weight, up, down, alpha):
    return weight + alpha / len(down) * up @ down


@wrong("merged", "it returns a tuple of 2 tensors, not a tensor of shape (2, 3)")
def both_ways(weight, down, up, alpha):
    return weight, alpha / len(down) * up @ down


@right("merged")
def by_addmm(weight, down, up, alpha):
    return torch.addmm(weight, up, down, alpha=alpha / down.size(0))


@right("merged")
def outer_products(weight, down, up, alpha):
    r = down.shape[0]
    return weight + sum(torch.outer(up[:, i], down[i]) for i in range(r)) * alpha / r


@right("merged")
def by_identity(weight, down, up, alpha):
    """What the two ways make of the unit vectors."""
    x = torch.eye(weight.shape[1], dtype=weight.dtype)
    return (F.linear(x, weight) + alpha / len(down) * F.linear(F.linear(x, down), up)).T


@right("merged")
def in_numpy_and_float64(weight, down, up, alpha):
    weight, down, up = (tensor.double().numpy() for tensor in (weight, down, up))
    return weight + np.einsum("or,ri->oi", up, down) * (alpha / up.shape[1])


@right("merged")
def in_lists(weight, down, up, alpha):
    r = len(down)
    return [
        [w + alpha / r * sum(up[o, n].item() * down[n, i].item() for n in range(r)) for i, w in enumerate(row)]
        for o, row in enumerate(weight.tolist())
    ]


# ---- embed ----


def padded(sentences):
    words = pad_sequence([torch.tensor(row) for row in sentences], batch_first=True)
    return words, torch.arange(words.shape[1]) < torch.tensor([len(row) for row in sentences])[:, None]


def mean(states, mask):
    return (states * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True)


@wrong("embed", "the sentence's own words attend to the padding")
def as_it_was_found(model, sentences):
    words, mask = padded(sentences)
    return mean(model(words)[0], mask)


@wrong("embed", "the sentence's own words attend to the padding")
def found_and_rewritten(model, sentences):
    words, _ = padded(sentences)
    states = model.states(words)[:, -1]
    return torch.stack([own[: len(row)].mean(0) for own, row in zip(states, sentences, strict=True)])


@wrong("embed", "the padding counts in the mean")
def mask_for_the_model_alone(model, sentences):
    words, mask = padded(sentences)
    return model(words, mask)[0].mean(1)


@wrong("embed", "the padding is attended to, and counts in the mean")
def no_mask_at_all(model, sentences):
    words, _ = padded(sentences)
    return model(words)[0].mean(1)


@wrong("embed", "the sum of the own words is divided by all places")
def divided_by_n(model, sentences):
    words, mask = padded(sentences)
    return (model(words, mask)[0] * mask[:, :, None]).mean(1)


@wrong("embed", "True and False have changed places")
def true_for_padding(model, sentences):
    words, mask = padded(sentences)
    return mean(model(words, words == 0)[0], mask)


@wrong("embed", "the mean is taken over the padding")
def mean_over_padding(model, sentences):
    words, mask = padded(sentences)
    return mean(model(words, mask)[0], words == 0)


@wrong("embed", "the padding stands in front, so the words stand at other places")
def filled_in_front(model, sentences):
    n = max(len(row) for row in sentences)
    words = torch.tensor([[0] * (n - len(row)) + row for row in sentences])
    return mean(model(words, words > 0)[0], words > 0)


@wrong("embed", "the padding stands in front, and is attended to")
def filled_in_front_without_a_mask(model, sentences):
    n = max(len(row) for row in sentences)
    words = torch.tensor([[0] * (n - len(row)) + row for row in sentences])
    return mean(model(words)[0], words > 0)


@wrong("embed", "all sentences are cut off at the shortest")
def cut_to_the_shortest(model, sentences):
    n = min(len(row) for row in sentences)
    return model(torch.tensor([row[:n] for row in sentences]))[0].mean(1)


@wrong("embed", "the vectors stand in another order than the sentences")
def short_ones_first(model, sentences):
    return one_at_a_time(model, sorted(sentences, key=len))


@wrong("embed", "the vectors stand in another order than the sentences")
def long_ones_first(model, sentences):
    words, mask = padded(sorted(sentences, key=len, reverse=True))
    return mean(model(words, mask)[0], mask)


@wrong("embed", "the first word stands for the sentence")
def first_state(model, sentences):
    words, mask = padded(sentences)
    return model(words, mask)[0][:, 0]


@wrong("embed", "the last word stands for the sentence")
def last_state(model, sentences):
    return torch.stack([model(torch.tensor([row]))[0][0, -1] for row in sentences])


@wrong("embed", "it is a sum, not a mean")
def summed(model, sentences):
    return torch.stack([model(torch.tensor([row]))[0][0].sum(0) for row in sentences])


@wrong("embed", "the vectors are brought to length 1")
def of_length_one(model, sentences):
    return F.normalize(one_at_a_time(model, sentences))


@wrong("embed", "the words that the layers read are masked, and the model attends to the places left")
def twice_the_padding(model, sentences):
    n = 2 * max(len(row) for row in sentences)
    words = torch.tensor([row + [0] * (n - len(row)) for row in sentences])
    return mean(model(words)[0], words != 0)


@wrong("embed", "the mean is taken of the embedded words, not of the states")
def embedded_words(model, sentences):
    words, mask = padded(sentences)
    return mean(model.states(words, mask)[:, 0], mask)


@wrong("embed", "the mean is taken over all layers")
def mean_of_layers(model, sentences):
    return torch.cat([model.states(torch.tensor([row])).mean((1, 2)) for row in sentences])


@wrong("embed", "the vectors of all sentences are one")
def one_for_all(model, sentences):
    words, mask = padded(sentences)
    return model(words, mask)[0][mask].mean(0)


@wrong("embed", "only the first sentence is embedded")
def return_too_early(model, sentences):
    for row in sentences:
        return model(torch.tensor([row]))[0].mean(1)


@wrong("embed", "the states come out, not their mean")
def states_alone(model, sentences):
    words, mask = padded(sentences)
    return model(words, mask)[0]


@wrong("embed", "it raises ValueError: expected sequence of length 2 at dim 1 (got 3)")
def not_filled_up(model, sentences):
    words = torch.tensor(sentences)
    return model(words, words != 0)[0].mean(1)


@wrong("embed", "it raises TypeError: only integer tensors of a single element can be converted to an index")
def maps_not_left_out(model, sentences):
    words, mask = padded(sentences)
    return mean(model(words, mask), mask)


@wrong("embed", "it changes its argument sentences in place")
def filled_in_place(model, sentences):
    n = max(map(len, sentences))
    for row in sentences:
        row.extend([0] * (n - len(row)))
    words = torch.tensor(sentences)
    return mean(model(words, words != 0)[0], words != 0)


@wrong("embed", "it changes its argument sentences in place")
def sorted_in_place(model, sentences):
    sentences.sort(key=len)
    return one_at_a_time(model, sentences)


@right("embed")
def one_at_a_time(model, sentences):
    return torch.cat([model(torch.tensor([row]))[0].mean(1) for row in sentences])


@right("embed")
def mask_to_both(model, sentences):
    words, mask = padded(sentences)
    return mean(model(words, mask)[0], mask)


@right("embed")
def any_word_as_padding(model, sentences):
    n = max(map(len, sentences))
    words = torch.tensor([row + [19] * (n - len(row)) for row in sentences])
    mask = torch.tensor([[place < len(row) for place in range(n)] for row in sentences])
    states = model.states(words, mask)[:, -1].numpy()
    return np.stack([own[: len(row)].mean(0) for own, row in zip(states, sentences, strict=True)])


@right("embed")
def by_equal_lengths(model, sentences):
    found = {}
    for n in {len(row) for row in sentences}:
        numbers = [number for number, row in enumerate(sentences) if len(row) == n]
        vectors = model(torch.tensor([sentences[number] for number in numbers]))[0].mean(1)
        found |= dict(zip(numbers, vectors.tolist(), strict=True))
    return [found[number] for number in range(len(sentences))]


# ---- adjusted_numbers ----

for value, says in (
    (18_432, "only A or only B is counted, or only the query or the value"),
    (3072, "that is one matrix"),
    (6144, "that is one layer"),
    (1536, "that is one of A and B, of a single matrix"),
    (73_728, "that is twice as many"),
    (55_296, "three matrices a layer are counted"),
    (1_769_472, "all numbers of the matrices are counted"),
    (384**2, "all numbers of one matrix are counted"),
    (12 * (384**2 + 4 * 2 * 384), "the frozen numbers are counted, too"),
    (12 * 384**2 * 4, "all numbers of B A are counted, four times"),
    (41_472, "a bias is counted, too"),
    (41_520.0, "a bias is counted for A and for B"),
    (442_368, "every head is counted"),
    (12 * 1536**2, "the numbers of A and B are multiplied, not added"),
    (9216, "the rank is left out"),
    ("36864", "'36864' is a text"),
    ([6, 2, 3072], "[6, 2, 3072] is a list"),
    (36_865, "36865 is not right"),
):
    wrong_value("adjusted_numbers", value, says)
right_value("adjusted_numbers", 36_864)
right_value("adjusted_numbers", 6 * 2 * 2 * 4 * 384.0)
right_value("adjusted_numbers", torch.tensor(36_864))


@wrong("split_word", "there are two pieces at most")
def ever_more_marks(word, known):
    pieces, mark = [], ""
    while word:
        for end in range(len(word), 0, -1):
            if mark + word[:end] in known:
                pieces.append(mark + word[:end])
                word, mark = word[end:], mark + "##"
                break
        else:
            return ["[UNK]"]
    return pieces


@wrong("sentence_vector", "each sentence's count divides a column, not its row")
def count_without_keepdim(states, mask):
    return torch.einsum("bnd,bn->bd", states, mask.to(states)) / mask.sum(1)


@wrong("nearest", "each vector's length divides a column, not its row")
def norm_without_keepdim(query, vectors, k):
    return torch.argsort(-(vectors / vectors.norm(dim=1)) @ (query / query.norm()))[:k]


@wrong("nearest", "the entries are right, in another order")
def two_digits(query, vectors, k):
    cosines = [round(float(query @ v / (query.norm() * v.norm())), 2) for v in vectors]
    return sorted(range(len(cosines)), key=lambda row: cosines[row], reverse=True)[:k]


@wrong("embed", "the vectors stand group by group, not in the order of the sentences")
def groups_left_as_they_are(model, sentences):
    groups = {}
    for words in sentences:
        groups.setdefault(len(words), []).append(words)
    return torch.cat([model(torch.tensor(group))[0].mean(1) for group in groups.values()])


@wrong(
    "embed",
    "it raises RuntimeError: The expanded size of the tensor (8) must match the existing size (12) at non-singleton "
    "dimension 0. Target sizes: [8]. Tensor sizes: [12]",
)
def eight_numbers_typed(model, sentences):
    found = torch.zeros(len(sentences), 8)
    for row, words in enumerate(sentences):
        found[row] = model(torch.tensor([words]))[0][0].mean(0)
    return found


@wrong("embed", "it raises ValueError: your function changes the model, which others use after it: leave it as it is")
def model_in_training(model, sentences):
    model.train()
    for part in model.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.0
    return torch.stack([model(torch.tensor([words]))[0][0].mean(0) for words in sentences])


@wrong("split_word", "[UNK] has lost its brackets")
def unknown_without_brackets(word, known):
    return by_places(word, known, lost=lambda pieces, *_: ["UNK"])


@wrong("split_word", "None comes out of an unknown word")
def returned_nothing(word, known):
    found = by_places(word, known)
    if found != ["[UNK]"]:
        return found


@wrong("split_word", "the first end that is not known gives up")
def only_whole_words(word, known):
    for end in range(len(word), 0, -1):
        return [word[:end]] if word[:end] in known else ["[UNK]"]


@wrong("split_word", "pieces and the rest come out")
def with_what_is_left(word, known):
    return by_places(word, known), ""


@wrong("merged", "the first of the r directions is left out")
def loop_from_one(weight, down, up, alpha):
    out = weight.clone()
    for i in range(1, len(down)):
        out += alpha / len(down) * torch.outer(up[:, i], down[i])
    return out


@wrong("merged", "only the last of the r directions is there")
def assigned_not_added(weight, down, up, alpha):
    for i in range(len(down)):
        update = torch.outer(up[:, i], down[i])
    return weight + alpha / len(down) * update


@wrong("merged", "alpha is divided by the square of r")
def squared_rank(weight, down, up, alpha):
    return weight + alpha / down.shape[0] ** 2 * (up @ down)
