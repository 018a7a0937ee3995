"""Lesson 6: the Transformer, trained and read."""

from fractions import Fraction

import numpy as np
import torch
from torch.nn import functional as F

from wrong_answers import right, right_value, wrong, wrong_value

# ---- next_word_loss ----


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


@right("greedy_words")
def greedy_with_other_names(model, first, last, most):
    return with_a_tensor(model, first, last, most)


# ---- beam_words ----


@right("beam_words")
def with_topk(log_p, start, end, width, limit):
    """Tensors and topk, a loop over the kept."""
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
        lengths = torch.tensor([len(sentence) - 1 for sentence in words])
        ranks = torch.stack(totals) / lengths
        best = ranks.topk(min(width, len(words))).indices.tolist()
        kept = [(totals[i], words[i]) for i in best]
        if all(sentence[-1] == end for _, sentence in kept):
            break
    return kept[0][1][1:]


@wrong("beam_words", "it returns a number, not a list")
def returns_the_score(log_p, start, end, width, limit):
    words = with_topk(log_p, start, end, width, limit)
    return sum(log_p([start, *words[:t]])[word].item() for t, word in enumerate(words))


@right("beam_words")
def with_dictionaries(log_p, start, end, width, limit):
    """From sentence to total, sorted by key."""

    def rank(item):
        return item[1] / len(item[0])

    def ended(words):
        return words[-1:] == (end,)

    beam = {(): 0.0}
    for _ in range(limit):
        following = {words: total for words, total in beam.items() if ended(words)}
        for words, total in beam.items():
            if not ended(words):
                for word, gain in enumerate(log_p([start, *words]).tolist()):
                    following[(*words, word)] = total + gain
        beam = dict(sorted(following.items(), key=rank, reverse=True)[:width])
        if all(map(ended, beam)):
            break
    return list(max(beam.items(), key=rank)[0])


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


@right("beam_words")
def beam_with_other_names(model, first, last, places, rounds):
    return with_topk(model, first, last, places, rounds)


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


@wrong("part_is_worth", "it raises ValueError: share_right wants a model that train has returned")
def forgets_to_train(train, share_right, seeds):
    return [share_right(True, "new") - share_right(False, "new") for _ in seeds]


@wrong("part_is_worth", "it raises ValueError: the seed 2 is not one of the seeds [0, 1]")
def another_seed_without(train, share_right, seeds):
    return [share_right(train(True, s), "new") - share_right(train(False, s + 1), "new") for s in seeds]


@wrong("part_is_worth", "it returns nothing")
def prints_it(train, share_right, seeds):
    print([share_right(train(True, s), "new") - share_right(train(False, s), "new") for s in seeds])


wrong_value("best_without", 0.167, "that would be guessing among all six cards")
wrong_value("best_without", 0.25, "0.25 is not right")
wrong_value("best_without", 5, "5 is not right")
right_value("best_without", 1 / 5)
right_value("best_without", 0.2)

wrong_value("positions_are_worth", 0.99, "that is the share with positions")
wrong_value("positions_are_worth", 0.21, "that is the share without positions")
wrong_value("positions_are_worth", -0.79, "that has the wrong sign")
wrong_value("positions_are_worth", 4.9, "that is a ratio")
wrong_value("positions_are_worth", 0.5, "0.5 is not right")
right_value("positions_are_worth", 0.8)
right_value("positions_are_worth", 0.78)
right_value("positions_are_worth", torch.tensor([0.81, 0.79, 0.8]).mean())


# ---- half_temperature ----

wrong_value("half_temperature", 3.1, "that is read from the curve of the two most probable words")
wrong_value("half_temperature", 0.79, "that is 1/T")
wrong_value("half_temperature", 1.0, "1.0 is not right")
right_value("half_temperature", 1.26)
right_value("half_temperature", 1.3)


# ---- odd answers of learners ----


@wrong("greedy_words", "`result[0]` is a list of 1, not a number")
def one_word_in_a_list_each(scores, start, end, limit):
    words = []
    while len(words) < limit and [end] not in words:
        words.append([int(scores([start, *(word for (word,) in words)]).argmax())])
    return words


def whole_beam(log_p, start, end, width, limit):
    """Pairs of words and the sum of their log p, the best first."""
    kept = [([], 0.0)]
    for _ in range(limit):
        grown = []
        for words, total in kept:
            if words[-1:] == [end]:
                grown.append((words, total))
            else:
                grown += [(words + [w], total + p) for w, p in enumerate(log_p([start, *words]).tolist())]
        kept = sorted(grown, key=lambda one: one[1] / len(one[0]), reverse=True)[:width]
        if all(words[-1] == end for words, _ in kept):
            break
    return kept


@wrong("beam_words", "the list is empty")
def nothing_comes_out(log_p, start, end, width, limit):
    best = []
    for words, _ in whole_beam(log_p, start, end, width, limit):
        if len(words) > limit:
            best = words
    return best


@wrong("beam_words", "`result[0]` is a list of 2, not a number")
def words_and_their_score(log_p, start, end, width, limit):
    return whole_beam(log_p, start, end, width, limit)[0]


@wrong("beam_words", "there is a list within what it returns")
def all_that_are_kept(log_p, start, end, width, limit):
    return [words for words, _ in whole_beam(log_p, start, end, width, limit)]


@wrong("part_is_worth", "it changes its argument seeds in place")
def empties_the_seeds(train, share_right, seeds):
    worth = []
    while seeds:
        seed = seeds.pop(0)
        worth.append(share_right(train(True, seed), "new") - share_right(train(False, seed), "new"))
    return worth


@wrong("part_is_worth", "an earlier result changes in a later call")
def one_list_for_all_calls(train, share_right, seeds, worth=[]):  # noqa: B006
    for seed in seeds:
        worth.append(share_right(train(True, seed), "new") - share_right(train(False, seed), "new"))
    return worth


@right("next_word_loss")
def by_other_names(scores, w, p):
    return F.cross_entropy(scores[:, :-1].flatten(0, 1), w[:, 1:].flatten(), ignore_index=p)


wrong_value("positions_are_worth", 0.9, "0.9 is not right")
right_value("half_temperature", Fraction(5, 4))


@wrong("greedy_words", "it raises TypeError: the model takes a list of word numbers, but it got a tensor")
def greedy_with_a_tensor(scores, start, end, limit):
    words = [start]
    while len(words) <= limit and (len(words) == 1 or words[-1] != end):
        words.append(scores(torch.tensor(words)).argmax().item())
    return words[1:]


@wrong("next_word_loss", "the numbers are not right")
def cuts_the_vocabulary(logits, words, pad):
    logits = logits[:, :-1, : int(words.max()) + 1]
    return F.cross_entropy(logits.flatten(0, 1), words[:, 1:].flatten(), ignore_index=pad)


# ---- written from the text alone ----


@wrong("next_word_loss", "the loss is not shifted")
def loss_of_the_same_word(logits, words, pad):
    return F.cross_entropy(logits.transpose(1, 2), words, ignore_index=pad)


@wrong("next_word_loss", "padding is counted")
def loss_padding_counted(logits, words, pad):
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), words[:, 1:].flatten())


@wrong("next_word_loss", "it is the mean of the sentences' means")
def loss_sum_over_sentences(logits, words, pad):
    total = 0.0
    for b in range(len(words)):
        sentence, count = 0.0, 0
        for t in range(words.shape[1] - 1):
            if words[b, t + 1] != pad:
                sentence -= logits[b, t].log_softmax(0)[words[b, t + 1]]
                count += 1
        if count:
            total += sentence / count
    return total / len(words)


@wrong("greedy_words", "the end mark is left out")
def greedy_end_dropped(scores, start, end, limit):
    words = [start]
    for _ in range(limit):
        best = scores(words).argmax().item()
        if best == end:
            break
        words.append(best)
    return words[1:]


@wrong("greedy_words", "the model gets only the last word")
def greedy_only_last_word_told(scores, start, end, limit):
    word, written = start, []
    while len(written) < limit:
        word = int(torch.argmax(scores([word])))
        written.append(word)
        if word == end:
            return written
    return written


@wrong("beam_words", "short sentences are favoured")
def beam_ranks_by_the_sum(log_p, start, end, width, limit):
    beams = [([], 0.0)]
    for _ in range(limit):
        grown = []
        for words, total in beams:
            if words and words[-1] == end:
                grown.append((words, total))
                continue
            for word, gain in enumerate(log_p([start] + words).tolist()):
                grown.append((words + [word], total + gain))
        grown.sort(key=lambda pair: pair[1], reverse=True)
        beams = grown[:width]
        if all(words[-1] == end for words, _ in beams):
            break
    return beams[0][0]


@wrong("beam_words", "the search stops at the first finished sentence")
def beam_stops_at_the_first_end(log_p, start, end, width, limit):
    beams = [([], 0.0)]
    for _ in range(limit):
        grown = []
        for words, total in beams:
            for word, gain in enumerate(log_p([start, *words]).tolist()):
                grown.append(([*words, word], total + gain))
        beams = sorted(grown, key=lambda b: b[1] / len(b[0]), reverse=True)[:width]
        for words, _ in beams:
            if words[-1] == end:
                return words
    return beams[0][0]


@wrong("beam_words", "the start mark is counted in the length")
def beam_with_the_start_mark_counted(log_p, start, end, width, limit):
    beams = [([start], 0.0)]
    for _ in range(limit):
        candidates = []
        for words, total in beams:
            if words[-1] == end:
                candidates.append((words, total))
            else:
                p = log_p(words)
                for w in range(len(p)):
                    candidates.append((words + [w], total + float(p[w])))
        candidates.sort(key=lambda c: c[1] / len(c[0]), reverse=True)
        beams = candidates[:width]
        if all(words[-1] == end for words, _ in beams):
            break
    return beams[0][0][1:]


wrong_value("half_temperature", 0.5, "that is the share, not the temperature")
wrong_value("best_without", 1 / 6, "that would be guessing among all six cards")
wrong_value("best_without", 0.5, "that would be guessing between two cards")
wrong_value("best_without", 1.0, "that needs the positions")


@wrong("part_is_worth", "the differences are averaged")
def worth_mean_over_seeds(train, share_right, seeds):
    diffs = [share_right(train(True, s), "new") - share_right(train(False, s), "new") for s in seeds]
    return sum(diffs) / len(diffs)


wrong_value("positions_are_worth", 0.2, "that is the share without positions")
wrong_value("positions_are_worth", 80, "that is in percent")
wrong_value("positions_are_worth", 1.0, "that is the share with positions")


@wrong("next_word_loss", "padding is looked for among the words that are read")
def loss_masked_by_what_is_read(logits, words, pad):
    losses = F.cross_entropy(logits[:, :-1].transpose(1, 2), words[:, 1:], reduction="none")
    m = words[:, :-1] != pad
    return (losses * m).sum() / m.sum()


@wrong("next_word_loss", "it divides by one word too many per sentence")
def loss_divided_by_all_words(logits, words, pad):
    losses = F.cross_entropy(logits[:, :-1].transpose(1, 2), words[:, 1:], reduction="none", ignore_index=pad)
    return losses.sum() / (words != pad).sum()


@wrong("greedy_words", "the start mark is counted as a written word")
def greedy_start_counted_in_the_limit(scores, start, end, limit):
    words = [start]
    while words[-1] != end and len(words) < limit:
        words.append(scores(words).argmax().item())
    return words[1:]


@wrong("beam_words", "unfinished sentences can't win")
def beam_finished_set_aside(log_p, start, end, width, limit):
    kept, done = ([([], 0.0)], [])
    for _ in range(limit):
        grown = [([*w, i], t + g) for w, t in kept for i, g in enumerate(log_p([start, *w]).tolist())]
        grown = sorted(grown, key=lambda o: o[1] / len(o[0]), reverse=True)[:width]
        done += [o for o in grown if o[0][-1] == end]
        kept = [o for o in grown if o[0][-1] != end]
        if not kept:
            break
    return max(done or kept, key=lambda o: o[1] / len(o[0]))[0]


@wrong("part_is_worth", "it is measured on the training rows")
def worth_on_training_rows(train, share_right, seeds):
    return [share_right(train(True, s), "training") - share_right(train(False, s), "training") for s in seeds]


@wrong("greedy_words", "large scores overflow")
def greedy_by_probability(scores, start, end, limit):
    words = [start]
    while len(words) <= limit and end not in words[1:]:
        e = torch.exp(scores(words))
        words.append((e / e.sum()).argmax().item())
    return words[1:]


@wrong("next_word_loss", "large logits overflow")
def loss_without_subtracting(logits, words, pad):
    read, wanted = logits[:, :-1], words[:, 1:]
    log_p = read - torch.log(torch.exp(read).sum(-1, keepdim=True))
    return -log_p.gather(-1, wanted[..., None])[..., 0][wanted != pad].mean()
