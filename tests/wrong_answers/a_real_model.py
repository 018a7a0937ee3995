"""Lesson 11: a real model."""

import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from wrong_answers import right, right_value, wrong, wrong_value

# ---- split_word ----


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
    return as_in_bert(word, known)


@wrong("split_word", "it returns something of type generator, not a list")
def one_by_one(word, known):
    yield from as_in_bert(word, known)


@wrong("split_word", "it returns nothing")
def return_forgotten(word, known):
    pieces = as_in_bert(word, known)
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


@wrong("split_word", "an earlier result changes in a later call")
def one_list_for_all(word, known):
    kept_pieces[:] = as_in_bert(word, known)
    return kept_pieces


@wrong("split_word", "it calls course_lib.word_pieces, which isn't allowed here")
def by_the_library(word, known):
    from course_lib.word_pieces import WordPieces

    return WordPieces(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *known])._split_word(word)


@right("split_word")
def as_in_bert(word, known):
    """From left to right by two places."""
    pieces, start = [], 0
    while start < len(word):
        mark = "##" if start > 0 else ""
        for end in range(len(word), start, -1):
            if mark + word[start:end] in known:
                break
        else:
            return ["[UNK]"]
        pieces.append(mark + word[start:end])
        start = end
    return pieces


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
    return np.array(as_in_bert(word, known))


# ---- sentence_vector ----


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


@wrong("sentence_vector", "it calls course_lib.pretrained, which isn't allowed here")
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


# ---- nearest ----


@wrong("nearest", "it changes its argument vectors in place")
def normed_in_place(query, vectors, k):
    vectors /= vectors.norm(dim=1, keepdim=True)
    return (vectors @ query).topk(k).indices


@wrong("nearest", "it raises IndexError: Dimension out of range (expected to be in range of [-1, 0], but got 1)")
def query_as_a_row(query, vectors, k):
    return (F.normalize(vectors, dim=1) @ F.normalize(query, dim=1)).topk(k).indices


@wrong("nearest", "the entries are right, but in the wrong order")
def two_digits(query, vectors, k):
    cosines = [round(float(query @ v / (query.norm() * v.norm())), 2) for v in vectors]
    return sorted(range(len(cosines)), key=lambda row: cosines[row], reverse=True)[:k]


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


@wrong("merged", "it changes its argument weight in place")
def merged_in_place(weight, down, up, alpha):
    weight += alpha / len(down) * up @ down
    return weight


@wrong(
    "merged",
    "its arguments are in the wrong order: (weight, up, down, alpha), but the text has (weight, down, up, alpha)",
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


# ---- head_only ----


@right("head_only")
def by_name(model, settings):
    for name, numbers in model.named_parameters():
        numbers.requires_grad = name.startswith("head.")
    return dict(settings)


@right("head_only")
def by_their_ids(model, settings):
    own = set(map(id, model.head.parameters()))
    for numbers in model.parameters():
        numbers.requires_grad_(id(numbers) in own)
    return {name: value for name, value in settings.items()}


@wrong("head_only", "the body isn't frozen")
def attribute_of_the_body(model, settings):
    model.body.requires_grad = False
    for numbers in model.head.parameters():
        numbers.requires_grad = True
    return settings


@wrong("head_only", "the body isn't frozen")
def in_evaluation(model, settings):
    """Evaluation switches dropout off, and freezes nothing."""
    model.body.eval()
    model.head.train().requires_grad_()
    return settings


@wrong("head_only", "a head that was frozen before stays frozen")
def body_alone(model, settings):
    for numbers in model.body.parameters():
        numbers.requires_grad = False
    return settings


@wrong("head_only", "nothing at all trains")
def all_frozen(model, settings):
    for numbers in model.parameters():
        numbers.requires_grad = False
    model.head.requires_grad = True
    return settings


@wrong("head_only", "the head begins with other numbers")
def another_head(model, settings):
    model.requires_grad_(False)
    old = model.head
    model.head = nn.Linear(old.in_features, old.out_features, bias=old.bias is not None)
    return settings


@wrong("head_only", "the LayerNorm and the biases still train")
def matrices_frozen(model, settings):
    """As if a LayerNorm had nothing to train."""
    for numbers in model.parameters():
        numbers.requires_grad_(numbers.ndim == 1)
    model.head.requires_grad_(True)
    return settings


@wrong("head_only", "the learning rate is another one")
def slower(model, settings):
    model.body.requires_grad_(False)
    model.head.requires_grad_(True)
    return {**settings, "learning rate": settings["learning rate"] / 10}


@wrong("head_only", "it stops on other data")
def best_on_test(model, settings):
    model.requires_grad_(False)
    model.head.requires_grad_(True)
    return settings | {"stops on": "test"}


@wrong("head_only", "it raises TypeError: your function returns something of type tuple, not the settings")
def both_returned(model, settings):
    model.body.requires_grad_(False)
    model.head.requires_grad_(True)
    return model, settings


@wrong("head_only", "it raises ValueError: your function returns nothing, but the settings are wanted")
def none_returned(model, settings):
    model.body.requires_grad_(False)
    model.head.requires_grad_(True)


@wrong("head_only", "settings that differ: 'weight decay, stops on' is not right")
def some_of_the_settings(model, settings):
    model.body.requires_grad_(False)
    model.head.requires_grad_(True)
    return {"learning rate": settings["learning rate"], "steps": settings["steps"], "seed": settings["seed"]}


# ---- embed ----


def padded(sentences):
    words = pad_sequence([torch.tensor(row) for row in sentences], batch_first=True)
    return words, torch.arange(words.shape[1]) < torch.tensor([len(row) for row in sentences])[:, None]


def mean(states, mask):
    return (states * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True)


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


@wrong("embed", "it raises ValueError: your function changes the model, which others use afterwards: leave it as it is")
def model_in_training(model, sentences):
    model.train()
    for part in model.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.0
    return torch.stack([model(torch.tensor([words]))[0][0].mean(0) for words in sentences])


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

wrong_value("adjusted_numbers", "36864", "'36864' is a text")
wrong_value("adjusted_numbers", [6, 2, 3072], "[6, 2, 3072] is a list")
wrong_value("adjusted_numbers", 36_865, "36865 is not right")
right_value("adjusted_numbers", 36_864)
right_value("adjusted_numbers", 6 * 2 * 2 * 4 * 384.0)
right_value("adjusted_numbers", torch.tensor(36_864))


# ---- written from the text alone ----


@wrong("split_word", "the shortest known piece is taken")
def split_shortest_piece_first(word, known):
    pieces, start = [], 0
    while start < len(word):
        for end in range(start + 1, len(word) + 1):
            piece = ("##" if start else "") + word[start:end]
            if piece in known:
                pieces.append(piece)
                start = end
                break
        else:
            return ["[UNK]"]
    return pieces


@wrong("split_word", "[UNK] replaces only the rest")
def split_keeps_what_was_known(word, known):
    pieces, start = [], 0
    while start < len(word):
        end = len(word)
        while end > start:
            piece = word[start:end] if start == 0 else "##" + word[start:end]
            if piece in known:
                break
            end -= 1
        if end == start:
            pieces.append("[UNK]")
            return pieces
        pieces.append(piece)
        start = end
    return pieces


@wrong(
    "split_word",
    "the ## is missing in the result; in addition, a piece is taken with or without ##, whichever is known",
)
def split_without_the_marks(word, known):
    pieces = []
    while word:
        for end in range(len(word), 0, -1):
            if word[:end] in known or "##" + word[:end] in known:
                pieces.append(word[:end])
                word = word[end:]
                break
        else:
            return ["[UNK]"]
    return pieces


@wrong("sentence_vector", "the sum over the tokens is divided by the number of all positions")
def vector_mean_over_all_places(states, mask):
    return (states * mask[:, :, None]).mean(dim=1)


@wrong("sentence_vector", "the first token's state is returned, not the mean")
def vector_of_the_first_token(states, mask):
    return states[:, 0]


@wrong("sentence_vector", "the first positions are used, as many as the mask counts")
def vector_first_n_places(states, mask):
    out = []
    for b in range(len(states)):
        n = int(mask[b].sum())
        out.append(states[b, :n].mean(0))
    return torch.stack(out)


@wrong("nearest", "the dot product is used, not the cosine")
def nearest_by_dot_product(query, vectors, k):
    return (vectors @ query).topk(k).indices.tolist()


@wrong("nearest", "the smallest cosine comes first")
def nearest_farthest_first(query, vectors, k):
    cosines = F.cosine_similarity(vectors, query[None], dim=1)
    return cosines.argsort()[:k].tolist()


@wrong("nearest", "the cosines are returned, not the numbers")
def nearest_the_cosines_themselves(query, vectors, k):
    cosines = F.normalize(vectors, dim=1) @ F.normalize(query, dim=0)
    return cosines.sort(descending=True).values[:k].tolist()


@wrong("unpacked", "nothing is transposed")
def unpacked_not_transposed(weight, bias):
    d = weight.shape[0]
    return [(weight[:, i * d : (i + 1) * d], bias[i * d : (i + 1) * d]) for i in range(3)]


@wrong("unpacked", "the matrix is reshaped, not transposed")
def unpacked_reshaped(weight, bias):
    d = len(weight)
    parts = weight.reshape(3, d, d)
    return [(parts[i], bias.reshape(3, d)[i]) for i in range(3)]


@wrong("unpacked", "three matrices come first, then three biases")
def unpacked_two_lists(weight, bias):
    return [weight.T.chunk(3), bias.chunk(3)]


@wrong("merged", "the factor is left out")
def merged_without_the_scale(weight, down, up, alpha):
    return weight + up @ down


@wrong("merged", "the factor is alpha alone")
def merged_alpha_alone(weight, down, up, alpha):
    return weight + alpha * (up @ down)


@wrong("merged", "it changes its argument weight in place")
def merged_in_place_by_a_learner(weight, down, up, alpha):
    weight += alpha / down.shape[0] * up @ down
    return weight


@wrong("embed", "the padding counts in the mean")
def embed_mask_only_in_the_model(model, sentences):
    n = max(len(s) for s in sentences)
    words = torch.tensor([s + [0] * (n - len(s)) for s in sentences])
    states, _ = model(words, words != 0)
    return states.mean(1)


@wrong("embed", "the sum over the words is divided by the number of all positions")
def embed_padding_states_zeroed_but_all_counted(model, sentences):
    n = max(map(len, sentences))
    words = torch.zeros(len(sentences), n, dtype=torch.long)
    for i, s in enumerate(sentences):
        words[i, : len(s)] = torch.tensor(s)
    own = words != 0
    states, _ = model(words, own)
    return (states * own.unsqueeze(-1)).sum(1) / n


@wrong("embed", "the vectors are in another order than the sentences")
def embed_sorted_by_length(model, sentences):
    out = []
    for s in sorted(sentences, key=len):
        states, _ = model(torch.tensor([s]), None)
        out.append(states[0].mean(0))
    return torch.stack(out)


wrong_value("adjusted_numbers", 6 * 4 * (384 + 384), "only A or only B is counted, or only the query or the value")
wrong_value("adjusted_numbers", 6 * 2 * 8 * (384 + 384), "the count is twice as large as it should be")
wrong_value("adjusted_numbers", 6 * 2 * 384 * 384, "all numbers of the matrices are counted")


@wrong("split_word", "pieces are looked up and returned without ##")
def split_looks_up_without_marks(word, known):
    out, start = ([], 0)
    while start < len(word):
        for end in range(len(word), start, -1):
            if word[start:end] in known:
                out.append(word[start:end])
                start = end
                break
        else:
            return ["[UNK]"]
    return out


@wrong("split_word", "a shorter piece is tried if the longest leads to a dead end")
def split_gives_back(word, known):

    def go(rest, mark):
        if not rest:
            return []
        for end in range(len(rest), 0, -1):
            if mark + rest[:end] in known:
                more = go(rest[end:], "##")
                if more is not None:
                    return [mark + rest[:end], *more]
        return None

    return go(word, "") or ["[UNK]"]


@wrong("nearest", "the sign of the cosine is left out")
def nearest_without_sign(query, vectors, k):
    return F.cosine_similarity(vectors, query[None]).abs().topk(k).indices.tolist()


@wrong("nearest", "the distance is used, not the cosine")
def nearest_by_distance(query, vectors, k):
    return (vectors - query).norm(dim=1).argsort()[:k].tolist()


@wrong("nearest", "vectors are counted from 1")
def nearest_counted_from_one(query, vectors, k):
    return [i + 1 for i in F.cosine_similarity(vectors, query[None]).topk(k).indices.tolist()]


@wrong("merged", "the number of inputs is taken for r")
def merged_numbers_in_for_r(weight, down, up, alpha):
    return weight + alpha / down.shape[1] * (up @ down)


@wrong("embed", "all sentences are cut to the length of the shortest")
def embed_cut_at_the_shortest(model, sentences):
    n = min(len(s) for s in sentences)
    return model(torch.tensor([s[:n] for s in sentences]), None)[0].mean(1)


@wrong("sentence_vector", "the result is a sum, not a mean")
def vector_a_sum(states, mask):
    return (states * mask[:, :, None]).sum(1)


@wrong("sentence_vector", "all sentences are averaged together")
def vector_all_thrown_together(states, mask):
    return states[mask].mean(0).expand(len(states), -1)


@wrong("merged", "only the update is returned; in addition, the number of inputs is taken for r")
def only_the_update_over_the_inputs(weight, down, up, alpha):
    update = torch.zeros_like(weight)
    for row, column in zip(down, up.T, strict=True):
        update += torch.outer(column, row)
    return alpha * update / down.shape[1]
