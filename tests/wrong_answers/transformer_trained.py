"""Lesson 6: the Transformer, trained and read."""

import math
from fractions import Fraction

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from wrong_answers import right, right_value, wrong, wrong_value

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


# ---- beam_words: three skeletons, each with its misconceptions ----


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


@wrong("beam_words", "short sentences are favoured")
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


@wrong("beam_words", "it returns a number, not a list")
def returns_the_score(log_p, start, end, width, limit):
    words = with_topk(log_p, start, end, width, limit)
    return sum(log_p([start, *words[:t]])[word].item() for t, word in enumerate(words))


@wrong("beam_words", "it writes what greedy decoding writes")
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


# ---- part_is_worth, best_without, positions_are_worth ----


@right("part_is_worth")
def one_comprehension(train, share_right, seeds):
    return [share_right(train(True, s), "new") - share_right(train(False, s), "new") for s in seeds]


@right("part_is_worth")
def two_lists_and_a_tensor(train, share_right, seeds):
    right_with = torch.tensor([share_right(train(True, seed), "new") for seed in seeds])
    right_without = torch.tensor([share_right(train(False, seed), "new") for seed in seeds])
    return right_with - right_without


@right("part_is_worth")
def an_array_filled_up(train, share_right, seeds):
    worth = np.zeros(len(seeds))
    for place, seed in enumerate(seeds):
        for part, sign in ((True, 1), (False, -1)):
            worth[place] += sign * share_right(train(part, seed), "new")
    return worth


@right("part_is_worth")
def without_first(train, share_right, seeds):
    def measured(part):
        return [share_right(train(part, seed), rows="new") for seed in seeds]

    return tuple(a - b for b, a in zip(measured(False), measured(True), strict=True))


@wrong("part_is_worth", "the difference has the wrong sign")
def what_is_lost(train, share_right, seeds):
    worth = []
    for seed in seeds:
        full, cut = train(True, seed), train(False, seed)
        worth.append(share_right(cut, "new") - share_right(full, "new"))
    return worth


@wrong("part_is_worth", "the sign of the difference is lost")
def as_a_distance(train, share_right, seeds):
    return np.abs([share_right(train(True, s), "new") - share_right(train(False, s), "new") for s in seeds])


@wrong("part_is_worth", "it is measured on the training rows")
def on_what_it_knows(train, share_right, seeds):
    shares = [[share_right(train(part, s), "training") for part in (True, False)] for s in seeds]
    return [full - cut for full, cut in shares]


@wrong("part_is_worth", "with and without are measured on different rows")
def new_against_training(train, share_right, seeds):
    full = [share_right(train(True, s), "new") for s in seeds]
    cut = [share_right(train(False, s), "training") for s in seeds]
    return torch.tensor(full) - torch.tensor(cut)


@wrong("part_is_worth", "with and without have different seeds")
def one_seed_after_the_other(train, share_right, seeds):
    full = [share_right(train(True, s), "new") for s in seeds]
    cut = [share_right(train(False, s), "new") for s in [*seeds[1:], seeds[0]]]
    return [a - b for a, b in zip(full, cut, strict=True)]


@wrong("part_is_worth", "only the first seed is used")
def returns_inside_the_loop(train, share_right, seeds):
    worth = []
    for seed in seeds:
        worth.append(share_right(train(True, seed), "new") - share_right(train(False, seed), "new"))
        return worth


@wrong("part_is_worth", "the differences are averaged")
def mean_of_the_seeds(train, share_right, seeds):
    return np.mean([share_right(train(True, s), "new") - share_right(train(False, s), "new") for s in seeds])


@wrong("part_is_worth", "the differences are added up")
def a_running_total(train, share_right, seeds):
    total = 0.0
    for seed in seeds:
        total += share_right(train(True, seed), "new") - share_right(train(False, seed), "new")
    return total


@wrong("part_is_worth", "the best seeds are compared")
def luckiest_of_each(train, share_right, seeds):
    best = {part: max(share_right(train(part, s), "new") for s in seeds) for part in (True, False)}
    return best[True] - best[False]


@wrong("part_is_worth", "it is a ratio, not a difference")
def times_as_many(train, share_right, seeds):
    return [share_right(train(True, s), "new") / share_right(train(False, s), "new") for s in seeds]


@wrong("part_is_worth", "the share without the part is not taken away")
def only_the_full_model(train, share_right, seeds):
    return list(map(lambda seed: share_right(train(True, seed), "new"), seeds))


@wrong("part_is_worth", "the differences are sorted")
def from_small_to_large(train, share_right, seeds):
    worth = torch.tensor([share_right(train(True, s), "new") - share_right(train(False, s), "new") for s in seeds])
    return worth.sort().values


@wrong("part_is_worth", "it raises ValueError: share_right wants a model, as train returns it")
def forgets_to_train(train, share_right, seeds):
    return [share_right(True, "new") - share_right(False, "new") for _ in seeds]


@wrong("part_is_worth", "it raises ValueError: the seed 2 is none of the seeds [0, 1]")
def another_seed_without(train, share_right, seeds):
    return [share_right(train(True, s), "new") - share_right(train(False, s + 1), "new") for s in seeds]


@wrong("part_is_worth", "it returns nothing")
def prints_it(train, share_right, seeds):
    print([share_right(train(True, s), "new") - share_right(train(False, s), "new") for s in seeds])


wrong_value("best_without", 1 / 6, "that would be all six cards")
wrong_value("best_without", 0.167, "that would be all six cards")
wrong_value("best_without", 1.0, "that needs the places")
wrong_value("best_without", 0, "that is worse than guessing")
wrong_value("best_without", 0.5, "that would be one of two")
wrong_value("best_without", 0.25, "0.25 is not right")
wrong_value("best_without", 5, "5 is not right")
right_value("best_without", 1 / 5)
right_value("best_without", 0.2)

wrong_value("positions_are_worth", 0.99, "that is the share with positions")
wrong_value("positions_are_worth", 0.21, "that is the share without positions")
wrong_value("positions_are_worth", -0.79, "that has the wrong sign")
wrong_value("positions_are_worth", 4.9, "that is a ratio")
wrong_value("positions_are_worth", 80, "that is in percent")
wrong_value("positions_are_worth", 0.5, "0.5 is not right")
right_value("positions_are_worth", 0.8)
right_value("positions_are_worth", 0.78)
right_value("positions_are_worth", torch.tensor([0.81, 0.79, 0.8]).mean())


# ---- half_temperature ----

wrong_value("half_temperature", 3.1, "that is read from the curve of the two likeliest words")
wrong_value("half_temperature", 0.5, "that is the share, not the temperature")
wrong_value("half_temperature", 0.79, "that is 1/T")
wrong_value("half_temperature", 1.0, "1.0 is not right")
right_value("half_temperature", 1.26)
right_value("half_temperature", 1.3)


# ---- what learners wrote who saw neither solution nor bank ----


@wrong("next_word_loss", "padding is taken to be 0")
def padding_is_always_zero(logits, words, pad):
    wanted = words[:, 1:]
    return F.cross_entropy(logits[:, :-1][wanted != 0], wanted[wanted != 0])


@wrong("greedy_words", "from the second step on the start mark is not handed over")
def without_start_once_it_has_words(scores, start, end, limit):
    out = []
    while len(out) < limit:
        out.append(int(scores(out or [start]).argmax()))
        if out[-1] == end:
            break
    return out


@wrong("greedy_words", "`result[0]` is a list of 1, not a number")
def one_word_in_a_list_each(scores, start, end, limit):
    words = []
    while len(words) < limit and [end] not in words:
        words.append([int(scores([start, *(word for (word,) in words)]).argmax())])
    return words


def beam_with(
    log_p, start, end, width, limit, rank, shrinks=False, aside=False, history=lambda start, words: [start, *words]
):
    """A beam in another style, with its cut, its width or what it does with finished sentences to be chosen."""
    kept, finished = [([], 0.0)], []
    for _ in range(limit):
        grown = []
        for words, total in kept:
            if words and words[-1] == end:
                grown.append((words, total))
            else:
                grown += [(words + [w], total + p) for w, p in enumerate(log_p(history(start, words)).tolist())]
        grown.sort(key=rank, reverse=True)
        if aside or shrinks:
            kept = []
            for one in grown[: width - (len(finished) if shrinks else 0)]:
                (finished if one[0][-1] == end else kept).append(one)
            if not kept or (aside and len(finished) >= width):
                break
        else:
            kept = grown[:width]
            if all(words[-1] == end for words, _ in kept):
                break
    return finished + kept


def per_word(one):
    return one[1] / len(one[0])


def raw_sum(one):
    return one[1]


@wrong("beam_words", "the beam is cut by the sum, and divided only at the end")
def cut_by_sums_and_divided_at_the_end(log_p, start, end, width, limit):
    return max(beam_with(log_p, start, end, width, limit, raw_sum), key=per_word)[0]


@wrong("beam_words", "a finished sentence keeps its place for good")
def width_shrinks(log_p, start, end, width, limit):
    return max(beam_with(log_p, start, end, width, limit, per_word, shrinks=True), key=per_word)[0]


@wrong("beam_words", "finished sentences take no place in the beam")
def finished_ones_set_aside(log_p, start, end, width, limit):
    return max(beam_with(log_p, start, end, width, limit, per_word, aside=True), key=per_word)[0]


@wrong("beam_words", "the list is empty")
def nothing_comes_out(log_p, start, end, width, limit):
    best = []
    for words, _ in beam_with(log_p, start, end, width, limit, per_word):
        if len(words) > limit:
            best = words
    return best


@wrong("beam_words", "`result[0]` is a list of 2, not a number")
def words_and_their_score(log_p, start, end, width, limit):
    return max(beam_with(log_p, start, end, width, limit, per_word), key=per_word)


@wrong("beam_words", "there is a list within what it returns")
def whole_beam(log_p, start, end, width, limit):
    return [words for words, _ in beam_with(log_p, start, end, width, limit, per_word)]


@wrong("beam_words", "the search stops at the first finished sentence")
def stops_when_one_is_finished(log_p, start, end, width, limit):
    kept = [([start], 0.0)]
    for _ in range(limit):
        grown = [(words + [w], total + p) for words, total in kept for w, p in enumerate(log_p(words).tolist())]
        kept = sorted(grown, key=lambda one: one[1] / (len(one[0]) - 1), reverse=True)[:width]
        if any(words[-1] == end for words, _ in kept):
            break
    return kept[0][0][1:]


@wrong("beam_words", "the search stops at the first finished sentence")
def first_finished_is_returned(log_p, start, end, width, limit):
    kept = [([start], 0.0)]
    for _ in range(limit):
        grown = [(words + [w], total + p) for words, total in kept for w, p in enumerate(log_p(words).tolist())]
        kept = sorted(grown, key=lambda one: one[1] / (len(one[0]) - 1), reverse=True)[:width]
        for words, _ in kept:
            if words[-1] == end:
                return words[1:]
    return kept[0][0][1:]


@wrong("beam_words", "from the second step on the start mark is not handed over")
def no_start_mark(log_p, start, end, width, limit):
    history = lambda start, words: words or [start]  # noqa: E731
    return max(beam_with(log_p, start, end, width, limit, per_word, history=history), key=per_word)[0]


# ---- what readers of their own gave ----


@wrong("part_is_worth", "it changes its argument seeds in place")
def empties_the_seeds(train, share_right, seeds):
    worth = []
    while seeds:
        seed = seeds.pop(0)
        worth.append(share_right(train(True, seed), "new") - share_right(train(False, seed), "new"))
    return worth


@wrong("part_is_worth", "what it has returned changes when it is called again")
def one_list_for_all_calls(train, share_right, seeds, worth=[]):  # noqa: B006
    for seed in seeds:
        worth.append(share_right(train(True, seed), "new") - share_right(train(False, seed), "new"))
    return worth


@right("next_word_loss")
def by_other_names(scores, w, p):
    return F.cross_entropy(scores[:, :-1].flatten(0, 1), w[:, 1:].flatten(), ignore_index=p)


wrong_value("positions_are_worth", 0.9, "0.9 is not right")
right_value("half_temperature", Fraction(5, 4))


@wrong("greedy_words", "it raises TypeError: the model takes a list of word numbers; given was a tensor")
def greedy_with_a_tensor(scores, start, end, limit):
    words = [start]
    while len(words) <= limit and (len(words) == 1 or words[-1] != end):
        words.append(scores(torch.tensor(words)).argmax().item())
    return words[1:]


@wrong("next_word_loss", "the numbers are not right")
def cuts_the_vocabulary(logits, words, pad):
    logits = logits[:, :-1, : int(words.max()) + 1]
    return F.cross_entropy(logits.flatten(0, 1), words[:, 1:].flatten(), ignore_index=pad)
