"""Exercises of lesson 6: the Transformer, trained and read."""

import itertools
from functools import cache

import torch
from torch.nn import functional as F

from course_lib.checks.engine import Case, Exercise, Misconception, Question

LOSS = 'lesson 6, "Training on toy French"; glossary.show("cross-entropy")'
GREEDY = 'lesson 6, "Decoding: from logits to words"; glossary.show("greedy decoding")'
BEAM = 'lesson 6, "Beam search"; glossary.show("beam search")'
TEMPERATURE = 'lesson 6, "Temperature and top-k"; glossary.show("temperature")'
PARTS = 'lesson 5, "Order"; lesson 7 takes out every part; glossary.show("positional encoding")'


# ---- next_word_loss(logits, words, pad) ----


def loss_cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    def sentences(n: int, words: int, *lengths: int) -> torch.Tensor:
        """Words from 1 on, and behind each sentence zeros."""
        drawn = torch.randint(1, words, (len(lengths), n), generator=generator)
        return drawn * (torch.arange(n) < torch.tensor(lengths)[:, None])

    sure = 200 * F.one_hot(torch.tensor([[1, 2, 1]]), 4).float()
    inputs = [
        ("one sentence of two words", torch.tensor([[[0.0, 1, 2], [3, 0, 0]]]), torch.tensor([[1, 2]]), 0),
        ("three words", draw(1, 3, 4), torch.tensor([[1, 3, 2]]), 0),
        ("words that are not the last of the vocabulary", draw(1, 3, 6), torch.tensor([[1, 2, 1]]), 0),
        ("padding behind the words", draw(1, 4, 3), torch.tensor([[1, 2, 0, 0]]), 0),
        ("sentences of different lengths", draw(3, 5, 6), sentences(5, 6, 5, 2, 3), 0),
        ("a sentence that is <bos> alone", draw(2, 4, 5), sentences(4, 5, 1, 4), 0),
        ("another number for padding", draw(2, 4, 7), torch.tensor([[1, 0, 2, 0], [1, 3, 6, 6]]), 6),
        ("as many places as words in the vocabulary", draw(2, 6, 6), sentences(6, 6, 6, 4), 0),
        ("logits + 100", draw(2, 3, 5) + 100, sentences(3, 5, 3, 2), 0),
        ("a model that is very sure, and wrong", sure, torch.tensor([[1, 2, 1]]), 0),
        ("float64", draw(2, 4, 5).double(), sentences(4, 5, 3, 4), 0),
        ("logits that do not lie in order in memory", draw(5, 4, 3).permute(2, 1, 0), sentences(4, 5, 4, 2, 3), 0),
    ]
    return [Case(about, {"logits": logits, "words": words, "pad": pad}) for about, logits, words, pad in inputs]


def loss_right(logits, words, pad):
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), words[:, 1:].flatten(), ignore_index=pad)


NEXT_WORD_LOSS = Exercise("next_word_loss", "transformer_trained", loss_cases, loss_right, LOSS)


def ahead(by):
    """Each place is asked for the word `by` places further on; 0 is the word that it has just read."""

    def answer(logits, words, pad):
        n = words.shape[1]
        asked = logits[:, max(0, -by) : n - max(0, by)]
        wanted = words[:, max(0, by) : n - max(0, -by)]
        return F.cross_entropy(asked.flatten(0, 1), wanted.flatten(), ignore_index=pad)

    return answer


NEXT_WORD_LOSS.misconception(
    "the loss is not shifted", "Each place is asked for the word that it has just read. Which word is it to predict?"
)(ahead(0))
NEXT_WORD_LOSS.misconception(
    "the shift goes the wrong way", "Each place is asked for the word before. In which direction do sentences go on?"
)(ahead(-1))
NEXT_WORD_LOSS.misconception(
    "the shift is made twice", "The word after the next is asked for. Has something been shifted already?"
)(ahead(2))


def each(logits, words, pad):
    """The loss of each place, and whether it counts."""
    return F.cross_entropy(logits[:, :-1].mT, words[:, 1:], reduction="none"), words[:, 1:] != pad


@NEXT_WORD_LOSS.misconception(
    "padding is counted", "Nobody wants to learn what comes after the end. Where is pad used?"
)
def counts_padding(logits, words, pad):
    return each(logits, words, pad)[0].mean()


@NEXT_WORD_LOSS.misconception(
    "the loss of padding is set to 0, but still counted",
    "A mean divides by a number of places. By how many do you divide, and how many words are there?",
)
def divides_by_all(logits, words, pad):
    loss, there = each(logits, words, pad)
    return (loss * there).mean()


@NEXT_WORD_LOSS.misconception(
    "it divides by one word too many in each sentence",
    "The first word of a sentence is read, but nobody is asked for it.",
)
def divides_by_words_read(logits, words, pad):
    loss, there = each(logits, words, pad)
    return (loss * there).sum() / (words != pad).sum()


@NEXT_WORD_LOSS.misconception(
    "padding is looked for among the words that are read",
    "The last word of a sentence is no padding, but what is asked for after it is. Which of the two decides?",
)
def masks_what_is_read(logits, words, pad):
    return each(logits, words, pad)[0][words[:, :-1] != pad].mean()


@NEXT_WORD_LOSS.misconception(
    "it is the mean of the sentences' means", "A word of a short sentence must weigh as much as one of a long sentence."
)
def mean_of_means(logits, words, pad):
    loss, there = each(logits, words, pad)
    counted = there.any(1)
    return ((loss * there).sum(1) / there.sum(1))[counted].mean()


@NEXT_WORD_LOSS.misconception(
    "padding is taken to be 0", "Which number padding has, the argument pad says. Here 0 may be a word like another."
)
def padding_is_zero(logits, words, pad):
    return loss_right(logits, words, 0)


@NEXT_WORD_LOSS.misconception("it is the sum, not the mean", "By how many words do you divide?")
def sum_of_all(logits, words, pad):
    loss, there = each(logits, words, pad)
    return (loss * there).sum()


@NEXT_WORD_LOSS.misconception(
    "it is one loss for each place, not their mean", "One number is wanted for the whole batch."
)
def each_place(logits, words, pad):
    loss, there = each(logits, words, pad)
    return loss * there


@NEXT_WORD_LOSS.misconception(
    "the softmax is taken twice", "F.cross_entropy wants logits: it takes the softmax itself."
)
def softmax_twice(logits, words, pad):
    return loss_right(logits.softmax(-1), words, pad)


@NEXT_WORD_LOSS.misconception(
    "the softmax runs over the places",
    "At each place the probabilities of all words of the vocabulary sum to 1. Which axis is the vocabulary?",
)
def over_places(logits, words, pad):
    asked, wanted = logits[:, :-1].log_softmax(1), words[:, 1:]
    return -asked.gather(2, wanted[..., None])[..., 0][wanted != pad].mean()


@NEXT_WORD_LOSS.misconception(
    "the axes were reshaped where they should have been kept in order",
    "A reshape does not exchange axes: logits of one place now stand in several rows.",
)
def reshaped_wrongly(logits, words, pad):
    return F.cross_entropy(logits[:, :-1].mT.reshape(-1, logits.shape[-1]), words[:, 1:].flatten(), ignore_index=pad)


@NEXT_WORD_LOSS.misconception("the sign is wrong", "log p is never above 0; the loss is never below.")
def other_sign(logits, words, pad):
    return -loss_right(logits, words, pad)


@NEXT_WORD_LOSS.misconception("the loss is in bits", "Take the natural logarithm.")
def in_bits(logits, words, pad):
    return loss_right(logits, words, pad) / torch.tensor(2.0).log()


@NEXT_WORD_LOSS.misconception(
    "a small probability is rounded to 0, and its logarithm is −∞",
    "exp(−200) is too small for float32, but its logarithm is −200. Do not go by way of the probability.",
)
def log_of_softmax(logits, words, pad):
    asked, wanted = logits[:, :-1].softmax(-1).log(), words[:, 1:]
    return -asked.gather(2, wanted[..., None])[..., 0][wanted != pad].mean()


@NEXT_WORD_LOSS.misconception(
    "large logits overflow",
    "exp(100) is too large for float32. Which function of torch takes softmax and logarithm together?",
)
def overflows(logits, words, pad):
    powers, wanted = logits[:, :-1].exp(), words[:, 1:]
    p = (powers / powers.sum(-1, keepdim=True)).gather(2, wanted[..., None])[..., 0]
    return -p.log()[wanted != pad].mean()


# ---- greedy_words(scores, start, end, limit) ----


def drive_writer(answer, p, echo, **settings):
    """A model of a few words. It looks at the last word and, as strong as `echo`, at those before."""
    import torch

    calls = 0

    def scores(words):
        nonlocal calls
        calls += 1
        if calls > 10_000 or len(words) > settings["limit"] + 50:
            raise RecursionError("it goes on and on, far beyond the limit")
        if isinstance(words, torch.Tensor):
            raise TypeError("the model takes a list of word numbers; given was a tensor")
        row = p[int(words[-1])].log()
        if echo:
            for back in range(2, 1 + len(words)):
                row = row + echo * p[int(words[-back])].log().roll(back - 1)
        return row.log_softmax(-1)

    return answer(scores, **settings)


MOST_DRAWS = 150  # of inputs, to find some that tell misconceptions apart


def told_apart(draw, right, misconceptions, clear=lambda arguments: True, nameless=()) -> list[dict]:
    """For each misconception arguments that show it: what it gives there, neither the right answer nor another misconception gives.

    Of `nameless` ones it is enough that the right answer gives something else. Where rounding could decide (`clear` is
    False), a right answer in another style might be refused.
    """
    found, lacking = [], [*misconceptions, *nameless]
    for _ in range(MOST_DRAWS):
        arguments = draw()
        wanted, *named = [drive_writer(answer, **arguments) for answer in (right, *misconceptions)]
        shown = [
            misconception
            for misconception, given in zip(misconceptions, named, strict=True)
            if [wanted, *named].count(given) == 1
        ]
        others = [misconception for misconception in nameless if misconception in lacking]
        shown += [misconception for misconception in others if drive_writer(misconception, **arguments) != wanted]
        if not set(shown).isdisjoint(lacking) and clear(arguments):
            found.append(arguments)
            lacking = [misconception for misconception in lacking if misconception not in shown]
        if not lacking:
            break
    return found


def table(generator: torch.Generator, words: int) -> torch.Tensor:
    return torch.randn(words, words, generator=generator, dtype=torch.float64).mul(1.5).softmax(-1)


def greedily(
    stops=True,
    keeps_limit=True,
    start_counts=False,
    history=lambda words: words,
    pick=torch.argmax,
    give=lambda words: words[1:],
):
    """Greedy decoding with one or more misconceptions."""

    def answer(scores, start, end, limit):
        words = [start]
        while not keeps_limit or len(words) < limit + (not start_counts):
            words.append(int(pick(scores(history(words)))))
            if stops and words[-1] == end:
                break
        return give(words)

    return answer


def newest(count):
    return lambda words: words[-count:]


def the_first(words):
    return words[:1]


def without_start(words):
    """The start mark is handed over only as long as there is nothing else."""
    return words[1:] or words


def greedy_cases(generator: torch.Generator) -> list[Case]:
    # 0 is <bos>, 1 is <eos>; a row is what may come after a word.
    small = torch.tensor([[0.08, 0.12, 0.7, 0.1], [0.1, 0.2, 0.3, 0.4], [0.1, 0.2, 0.13, 0.57], [0.07, 0.63, 0.2, 0.1]])
    at_once = torch.tensor([[0.1, 0.7, 0.2], [0.3, 0.1, 0.6], [0.07, 0.13, 0.8]])
    around = torch.tensor([[0.07, 0.13, 0.8], [0.1, 0.3, 0.6], [0.1, 0.2, 0.7]])
    hardly = torch.tensor(
        [[0.2, 0.26, 0.28, 0.26], [0.25, 0.25, 0.26, 0.24], [0.2, 0.26, 0.26, 0.28], [0.2, 0.28, 0.26, 0.26]]
    )
    inputs = [
        ("two words, then the end", small, 0.0, 0, 1, 6),
        ("the end at once", at_once, 0.0, 0, 1, 5),
        ("a model that never ends", around, 0.0, 0, 1, 4),
        ("a limit of twelve words", around, 0.0, 0, 1, 12),
        ("a model that is hardly sure", hardly, 0.0, 0, 1, 6),
        ("a limit of one word", small, 0.0, 0, 1, 1),
        ("a limit that is just reached", small, 0.0, 0, 1, 3),
        ("other numbers for start and end", table(generator, 5), 0.0, 4, 2, 7),
    ]
    names = ("p", "echo", "start", "end", "limit")
    cases = [Case(about, dict(zip(names, values, strict=True))) for about, *values in inputs]

    def draw() -> dict:
        words = int(torch.randint(4, 7, (), generator=generator))
        return dict(zip(names, (table(generator, words), 1.0, 0, 1, 8), strict=True))

    misconceptions = [greedily(history=history) for history in (newest(1), the_first, without_start)]
    drawn = told_apart(draw, greedily(), misconceptions, nameless=[greedily(history=newest(count)) for count in (2, 3)])
    return cases + [Case("a model that looks at all words", arguments) for arguments in drawn]


GREEDY_WORDS = Exercise("greedy_words", "transformer_trained", greedy_cases, greedily(), GREEDY, drive=drive_writer)

GREEDY_WORDS.misconception(
    "it writes on after the end mark", "When the end mark is written, the sentence is finished. What stops your loop?"
)(greedily(stops=False))
GREEDY_WORDS.misconception(
    "it does not keep the limit", "A model need not ever write the end mark. What stops your loop then?"
)(greedily(keeps_limit=False))
GREEDY_WORDS.misconception(
    "it never stops", "Two things end a sentence: the end mark, and the limit. Your loop looks at neither."
)(greedily(stops=False, keeps_limit=False))
GREEDY_WORDS.misconception(
    "the start mark is counted as a written word",
    "The limit is for the words that are written, and the start mark was given.",
)(greedily(start_counts=True))
GREEDY_WORDS.misconception(
    "the start mark is returned too", "Only what was written is wanted. The start mark was given."
)(greedily(give=lambda words: words))


@GREEDY_WORDS.misconception("the end mark is left out", "The end mark was written, so it belongs to what is returned.")
def without_end(scores, start, end, limit):
    return [word for word in greedily()(scores, start, end, limit) if word != end]


GREEDY_WORDS.misconception(
    "the model is handed the last word alone",
    "The next word may depend on all before it. Hand over the whole beginning.",
)(greedily(history=newest(1)))
GREEDY_WORDS.misconception(
    "the model is handed the start mark alone",
    "What was written must be read before the next word. What does your model see at the second step?",
)(greedily(history=the_first))
GREEDY_WORDS.misconception(
    "from the second step on the start mark is not handed over",
    "The list that the model gets begins with the start mark, at every step. What does yours get at the second?",
)(greedily(history=without_start))
GREEDY_WORDS.misconception("it takes the least likely word", "log p is negative: the likeliest word has the largest.")(
    greedily(pick=torch.argmin)
)


# ---- beam_words(log_p, start, end, width, limit) ----


def beamed(
    rank=lambda total, written: total / written,
    gain=lambda log_p: log_p,
    add=lambda total, gain: total + gain,
    first=0.0,
    finishes=True,
    keeps_finished=True,
    stops_at_first=False,
    each_continues_once=False,
    only_finished=False,
    cut=None,
    aside=None,
    history=lambda words: words,
    give=lambda words: words[1:],
    margins=None,
):
    """Beam search with one or more misconceptions. A beginning is (words, total). Notes by how much a cut was decided.

    `aside`: finished sentences are put aside; there they keep a place of the beam ("place"), or take none, and the
    search ends when there are enough ("enough") or at the limit ("limit").
    """

    def answer(log_p, start, end, width, limit):
        def place(beginning):
            words, total = beginning
            return rank(total, len(words) - 1)

        def is_finished(beginning):
            return finishes and len(beginning[0]) > 1 and beginning[0][-1] == end

        kept, apart = [([start], first)], []
        for _ in range(limit):
            longer = [beginning for beginning in kept if is_finished(beginning)] if keeps_finished else []
            for words, total in (beginning for beginning in kept if not is_finished(beginning)):
                gains = log_p(history(words)).tolist()
                grown = [(words + [word], add(total, gain(value))) for word, value in enumerate(gains)]
                longer += [max(grown, key=place)] if each_continues_once and len(words) > 1 else grown
            if not longer:
                break
            ranked = sorted(longer, key=(lambda one: cut(one[1], len(one[0]) - 1)) if cut else place, reverse=True)
            kept = ranked[: width - len(apart) if aside == "place" else width]
            if aside:
                apart += filter(is_finished, kept)
                kept = [beginning for beginning in kept if not is_finished(beginning)]
                if not kept or (aside == "enough" and len(apart) >= width):
                    break
                continue
            if margins is not None and len(ranked) > width:
                margins.append(place(ranked[width - 1]) - place(ranked[width]))
            if all(map(is_finished, kept)) or stops_at_first and any(map(is_finished, kept)):
                break
        if margins is not None and len(kept) > 1:
            margins.append(place(kept[0]) - place(kept[1]))
        kept = apart + kept
        done = [beginning for beginning in kept if is_finished(beginning)]
        return give(max((only_finished or stops_at_first == "finished") and done or kept, key=place)[0])

    return answer


def exponential(log_p: float) -> float:
    return torch.tensor(log_p, dtype=torch.float64).exp().item()


def width_one(log_p, start, end, width, limit):
    return beamed()(log_p, start, end, 1, limit)


def by_sum(total, written):
    return total


def clear_cut(arguments) -> bool:
    margins = []
    drive_writer(beamed(margins=margins), **arguments)
    return min(margins, default=1.0) > 1e-4


def hardly_ends(generator: torch.Generator, words: int) -> torch.Tensor:
    p = table(generator, words)
    p[:, 1] = 1e-6
    return p / p.sum(-1, keepdim=True)


def never_ends(generator: torch.Generator, words: int) -> torch.Tensor:
    """After each word one is likelier than the others, so that the first place is never in doubt."""
    p = 0.22 + 0.02 * torch.rand(words, words, generator=generator, dtype=torch.float64)
    p[:, 1] = 1e-9
    others = torch.tensor([word for word in range(words) if word != 1])
    favourite = others[torch.randint(len(others), (words,), generator=generator)]
    p[torch.arange(words), favourite] = 0.34
    return p / p.sum(-1, keepdim=True)


def given_other(**changed):
    """A beam that goes by other settings than it is given, such as `width=lambda width: min(width, 3)`."""

    def answer(log_p, **settings):
        return beamed()(log_p, **settings | {name: change(settings[name]) for name, change in changed.items()})

    return answer


SLIPS_OF_THE_BEAM = (
    beamed(rank=by_sum),
    beamed(gain=exponential),
    width_one,
    beamed(each_continues_once=True),
    beamed(keeps_finished=False),
    beamed(finishes=False),
    beamed(stops_at_first="finished"),
    beamed(only_finished=True),
    beamed(rank=lambda total, written: total / (written + 1)),
    beamed(history=newest(1)),
    beamed(history=without_start),
)
NAMELESS = (
    beamed(history=newest(2)),
    beamed(history=newest(3)),
    beamed(rank=lambda total, written: total / written**1.2),
    given_other(width=lambda width: min(width, 2)),
    given_other(width=lambda width: min(width, 3)),
    given_other(width=lambda width: min(width, 4)),
    given_other(width=lambda width: width + 1),
    given_other(width=lambda width: width + 2 * (width > 2)),
    given_other(end=lambda end: 1),
)


def beam_cases(generator: torch.Generator) -> list[Case]:
    return beams_of(generator.initial_seed())


@cache
def beams_of(seed: int) -> list[Case]:
    """Kept, since the search for inputs that tell misconceptions apart takes a second or two."""
    generator = torch.Generator().manual_seed(seed)
    # After <bos> 0: 2 or 3. After 2 much may come, after 3 the end 1.
    small = torch.tensor(
        [[0.08, 0.12, 0.5, 0.3], [0.1, 0.2, 0.3, 0.4], [0.17, 0.4, 0.23, 0.2], [0.01, 0.94, 0.03, 0.02]]
    )
    # A short sentence is likelier; word for word, a longer one.
    short = torch.tensor(
        [[0.07, 0.41, 0.39, 0.13], [0.1, 0.2, 0.3, 0.4], [0.06, 0.13, 0.11, 0.7], [0.12, 0.72, 0.09, 0.07]]
    )
    # Whoever cuts by sums, or keeps finished sentences, ends with 2 3 0 1.
    overtaken = torch.tensor(
        [
            [0.0685, 0.3530, 0.2919, 0.2866],
            [0.1256, 0.3615, 0.0632, 0.4497],
            [0.1678, 0.0365, 0.3379, 0.4578],
            [0.4663, 0.0283, 0.4295, 0.0760],
        ]
    )
    onwards = torch.tensor([[0.05, 0.05, 0.1, 0.8], [0.1, 0.2, 0.3, 0.4], [0.1, 0.1, 0.65, 0.15], [0.1, 0.1, 0.7, 0.1]])
    # A beam of 3 and one of 4 end differently.
    wide = torch.tensor(
        [
            [0.413, 0.118, 0.377, 0.092],
            [0.541, 0.026, 0.338, 0.095],
            [0.455, 0.2, 0.009, 0.336],
            [0.094, 0.354, 0.503, 0.049],
        ]
    )
    # A finished sentence takes the place of another that would have overtaken it.
    takes_a_place = torch.tensor(
        [
            [0.294, 0.137, 0.283, 0.286],
            [0.062, 0.029, 0.798, 0.111],
            [0.523, 0.398, 0.078, 0.001],
            [0.07, 0.076, 0.62, 0.234],
        ]
    )
    inputs = [
        ("width 1, which is greedy", small, 0.0, 0, 1, 1, 5),
        ("a likely sentence with an unlikely first word", small, 0.0, 0, 1, 2, 5),
        ("a short sentence and a long one", short, 0.0, 0, 1, 2, 5),
        ("finished sentences that are overtaken", overtaken, 0.0, 0, 1, 2, 6),
        ("width 3", wide, 0.0, 0, 1, 3, 5),
        ("width 4", wide, 0.0, 0, 1, 4, 5),
        ("a finished sentence that takes a place", takes_a_place, 0.0, 0, 1, 2, 5),
        ("a limit of one word", small, 0.0, 0, 1, 3, 1),
        ("a limit that is a word's number, too", onwards, 0.0, 0, 1, 1, 3),
        ("a width greater than the vocabulary", short, 0.0, 0, 1, 6, 4),
    ]
    long = ("a long text, whose probability no float holds", never_ends(generator, 5), 0.0, 0, 1, 2, 800)
    names = ("p", "echo", "start", "end", "width", "limit")
    cases = [Case(about, dict(zip(names, values, strict=True))) for about, *values in [*inputs, long]]
    for about, make, *values in (
        ("other numbers for start and end", table, 0.0, 3, 2, 2, 6),
        ("a model that never ends", hardly_ends, 0.7, 0, 1, 3, 5),
    ):
        for _ in range(300):
            arguments = dict(zip(names, (make(generator, 4), *values), strict=True))
            if clear_cut(arguments):
                cases.insert(-1, Case(about, arguments))
                break

    def draw() -> dict:
        words, width, limit = (int(torch.randint(*span, (), generator=generator)) for span in ((4, 6), (2, 6), (3, 6)))
        start, end = torch.randperm(words, generator=generator)[:2].tolist()
        return dict(zip(names, (table(generator, words), 0.7, start, end, width, limit), strict=True))

    drawn = told_apart(draw, beamed(), SLIPS_OF_THE_BEAM, clear_cut, NAMELESS)
    return cases[:-1] + [Case("a model that looks at all words", arguments) for arguments in drawn] + cases[-1:]


BEAM_WORDS = Exercise("beam_words", "transformer_trained", beam_cases, beamed(), BEAM, drive=drive_writer)

BEAM_WORDS.misconception(
    "short sentences are favoured",
    "Every further word makes the sum smaller. By what is it to be divided, before sentences are compared?",
)(beamed(rank=by_sum))


PRODUCT = {"gain": exponential, "add": lambda total, gain: total * gain, "first": 1.0}
BEAM_WORDS.misconception(
    "the product of many probabilities is rounded to 0",
    "No float holds so small a number, and then all beginnings seem equal. Stay with the logarithms.",
)(beamed(rank=lambda total, written: total ** (1 / written), **PRODUCT))
BEAM_WORDS.misconception(
    "probabilities are multiplied",
    "A product gets smaller with each word, which favours the short, and at last it is rounded to 0. What does "
    "log p do to a product?",
)(beamed(rank=by_sum, **PRODUCT))
BEAM_WORDS.misconception(
    "probabilities are added", "The probability of a sentence is a product; its logarithm is a sum of log p."
)(beamed(gain=exponential))
BEAM_WORDS.misconception(
    "it writes what greedy decoding writes",
    "Only one beginning goes on in each round. How many are kept, how many of those are continued, and in how many ways?",
)(width_one)
BEAM_WORDS.misconception(
    "each beginning is continued in one way only",
    "All continuations of all beginnings compete, and two of the best may come from the same beginning.",
)(beamed(each_continues_once=True))
BEAM_WORDS.misconception(
    "finished sentences are lost", "A beginning that ends in the end mark is not continued, but it still competes."
)(beamed(keeps_finished=False))
BEAM_WORDS.misconception(
    "a finished sentence is continued",
    "After the end mark there is nothing more to write. What do you do with a beginning that ends in it?",
)(beamed(finishes=False))
BEAM_WORDS.misconception(
    "the search stops at the first finished sentence",
    "Another beginning may still become better. When are all of them finished?",
)(beamed(stops_at_first="finished"))
BEAM_WORDS.misconception(
    "the search stops at the first finished sentence",
    "Another beginning may still become better. When are all of them finished?",
)(beamed(stops_at_first="best"))
BEAM_WORDS.misconception(
    "the beam is cut by the sum, and divided only at the end",
    "The rule ranks by log p a word in every round. What may the cut lose, if it goes by the sum?",
)(beamed(cut=by_sum))
BEAM_WORDS.misconception(
    "a finished sentence keeps its place for good",
    "A finished sentence goes on competing: it may be cut like the others, and then its place is free again.",
)(beamed(aside="place"))
for aside in ("enough", "limit"):
    BEAM_WORDS.misconception(
        "finished sentences take no place in the beam",
        "Finished or not, all compete for the same places: only so many are kept as the width allows.",
    )(beamed(aside=aside))
BEAM_WORDS.misconception(
    "unfinished sentences may not win", "At the limit the best of all that is kept is wanted, finished or not."
)(beamed(only_finished=True))
BEAM_WORDS.misconception(
    "the start mark is counted in the length",
    "Divide by the number of words that were written; the start mark was given.",
)(beamed(rank=lambda total, written: total / (written + 1)))
BEAM_WORDS.misconception(
    "the start mark is returned too", "Only what was written is wanted. The start mark was given."
)(beamed(give=lambda words: words))


@BEAM_WORDS.misconception("the end mark is left out", "The end mark was written, so it belongs to what is returned.")
def beam_without_end(log_p, start, end, width, limit):
    return [word for word in beamed()(log_p, start, end, width, limit) if word != end]


BEAM_WORDS.misconception(
    "the model is handed the last word alone",
    "The next word may depend on all before it. Hand over the whole beginning.",
)(beamed(history=newest(1)))
BEAM_WORDS.misconception(
    "from the second step on the start mark is not handed over",
    "The list that the model gets begins with the start mark, at every step. What does yours get at the second?",
)(beamed(history=without_start))


# ---- part_is_worth(train, share_right, seeds) ----


def worth_cases(generator: torch.Generator) -> list[Case]:
    """A table of shares (with the part or without, seed, kind of rows) stands for what training would give."""

    def shares(seeds: int) -> torch.Tensor:
        return torch.rand(2, seeds, 2, generator=generator, dtype=torch.float64)

    # Rows of the table: without and with the part. The last number of each pair is measured on training rows.
    small = torch.tensor([[[0.2, 0.3], [0.5, 0.6]], [[0.9, 1.0], [0.7, 0.9]]], dtype=torch.float64)
    harms = torch.tensor([[[0.8, 0.9], [0.6, 0.7], [0.9, 1.0]], [[0.3, 0.2], [0.7, 0.9], [0.5, 0.1]]]).double()
    inputs = [
        ("two seeds", small, [0, 1]),
        ("a part that does harm with some seeds", harms, [0, 1, 2]),
        ("other seeds than 0, 1, 2", shares(9), [3, 7, 5]),
        ("one seed", shares(5), [4]),
        ("the same seeds the other way round", harms, [2, 1, 0]),
        ("five seeds", shares(12), [11, 2, 3, 5, 7]),
    ]
    return [Case(about, {"table": table, "seeds": seeds}) for about, table, seeds in inputs]


def drive_worth(answer, table, seeds):
    """Hands over a `train` and a `share_right` that look things up; a model is its shares of both kinds of rows."""

    known = list(seeds)

    def train(part, seed):
        if not isinstance(part, bool):
            raise ValueError(f"train wants True (with the part) or False (without it), not {part!r}")
        if seed not in known:
            raise ValueError(f"the seed {seed} is none of the seeds {known}")
        return table[int(part), seed]

    def share_right(model, rows):
        if getattr(model, "shape", None) != table.shape[2:]:
            raise ValueError("share_right wants a model, as train returns it")
        if rows not in ("new", "training"):
            raise ValueError(f'rows is {rows!r}; it must be "new" or "training"')
        return model[("new", "training").index(rows)].item()

    return answer(train, share_right, seeds)


def worth(
    measure=lambda right, seed, other: right(True, seed) - right(False, seed),
    rows="new",
    gathered=lambda values: values,
    of=lambda seeds: seeds,
):
    """The differences, with one or more misconceptions; `measure` may also use the next of the seeds."""

    def answer(train, share_right, seeds):
        def right(part, seed, at=rows):
            return share_right(train(part, seed), at)

        chosen = of(seeds)
        following = dict(zip(seeds, seeds[1:] + seeds[:1], strict=True))
        return gathered([measure(right, seed, following[seed]) for seed in chosen])

    return answer


PART_IS_WORTH = Exercise("part_is_worth", "transformer_trained", worth_cases, worth(), PARTS, drive=drive_worth)

PART_IS_WORTH.misconception(
    "the difference has the wrong sign",
    "A part that helps must come out with a positive number. Which share is subtracted from which?",
)(worth(lambda right, seed, other: right(False, seed) - right(True, seed)))
PART_IS_WORTH.misconception(
    "the sign of the difference is lost",
    "A part may do harm, too. What does your function say of one with which fewer rows are right?",
)(worth(lambda right, seed, other: abs(right(True, seed) - right(False, seed))))
PART_IS_WORTH.misconception(
    "it is measured on the training rows",
    "What a model has seen in training it may know by heart. Which rows tell what it has understood?",
)(worth(rows="training"))
PART_IS_WORTH.misconception(
    "with and without are measured on different rows",
    "Two things differ between your two numbers: the part, and the rows. Let only one differ.",
)(worth(lambda right, seed, other: right(True, seed) - right(False, seed, "training")))
PART_IS_WORTH.misconception(
    "with and without have different seeds",
    "Two things differ between your two trainings: the part, and the seed. Let only one differ.",
)(worth(lambda right, seed, other: right(True, seed) - right(False, other)))
PART_IS_WORTH.misconception(
    "only the first seed is used", "One training may be lucky. Where does your function go through the seeds?"
)(worth(of=lambda seeds: seeds[:1]))
PART_IS_WORTH.misconception(
    "the differences are averaged",
    "Wanted is one difference for each seed: a mean does not show how far they lie apart.",
)(worth(gathered=lambda values: sum(values) / len(values)))
PART_IS_WORTH.misconception("the differences are added up", "Wanted is one difference for each seed, in a list.")(
    worth(gathered=sum)
)


@PART_IS_WORTH.misconception(
    "the best seeds are compared",
    "The best of several trainings is the luckiest, and the two lucky ones may have different seeds.",
)
def best_of_each(train, share_right, seeds):
    with_it, without = ([share_right(train(part, seed), "new") for seed in seeds] for part in (True, False))
    return max(with_it) - max(without)


PART_IS_WORTH.misconception("it is a ratio, not a difference", "From 0.2 to 0.9 the share has risen by 0.7. Subtract.")(
    worth(lambda right, seed, other: right(True, seed) / right(False, seed))
)
PART_IS_WORTH.misconception(
    "the share without the part is not taken away",
    "A model without the part may get many right as well. What is the part itself worth?",
)(worth(lambda right, seed, other: right(True, seed)))
PART_IS_WORTH.misconception(
    "the differences are sorted", "The first difference belongs to the first seed. In which order are the seeds given?"
)(worth(gathered=sorted))


# ---- six cards, to be written backwards, by a model without positions; and what positions are worth ----


def best_without_positions() -> float:
    """Over all models that map a card to an answer, the best share: five others are equally likely, itself never."""
    rows = torch.tensor(list(itertools.permutations(range(6))))  # (720, 6)
    backwards = rows.flip(1)
    return max((backwards[rows == 0] == card).double().mean().item() for card in range(6))


BEST_WITHOUT = Question(
    "best_without",
    "transformer_trained",
    best_without_positions,
    (
        Misconception(
            "that would be all six cards",
            "Six cards, so the middle falls between two: can a card stand opposite itself?",
            1 / 6,
        ),
        Misconception(
            "that needs the places",
            "Without positions the model knows which cards there are, and for each card which it is. Does it know where it lies?",
            1.0,
        ),
        Misconception(
            "that is worse than guessing",
            "It may always guess. How many cards can lie opposite of a card?",
            0.0,
        ),
        Misconception(
            "that would be one of two",
            "Two cards lie opposite each other; but which is the other? How many cards can it be?",
            0.5,
        ),
    ),
    PARTS,
    tolerance=0.005,
)

POSITIONS_ARE_WORTH = Question(
    "positions_are_worth",
    "transformer_trained",
    lambda: 1.0 - best_without_positions(),
    (
        Misconception(
            "that is the share with positions",
            "Some cards are right without positions, too. What is the difference?",
            1.0,
        ),
        Misconception(
            "that is the share without positions",
            "That much remains. How much is lost?",
            best_without_positions,
        ),
        Misconception(
            "that has the wrong sign",
            "Positions help here: what they are worth is a positive number.",
            lambda: best_without_positions() - 1.0,
        ),
        Misconception(
            "that is a ratio",
            "From 0.2 to 1 the share rises by how much? Subtract.",
            lambda: 1 / best_without_positions(),
        ),
        Misconception(
            "that is in percent",
            "As a share it lies between 0 and 1.",
            lambda: 100 * (1.0 - best_without_positions()),
        ),
    ),
    PARTS,
    tolerance=0.055,  # a twentieth, and what rounding adds
)


# ---- at which temperature does a draw take the likeliest word half of the time? ----


LOGITS = torch.tensor([3.0, 2.0, 1.2, 0.8, 0.0, -1.0], dtype=torch.float64)


def temperature_at(words: int, share: float = 0.5) -> float:
    """Where the `words` likeliest have this share of the probability together, by bisection."""
    low, high = 0.01, 100.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if (LOGITS / middle).softmax(-1)[:words].sum() > share else (low, middle)
    return low


HALF_TEMPERATURE = Question(
    "half_temperature",
    "transformer_trained",
    lambda: temperature_at(1),
    (
        Misconception(
            "that is read from the curve of the two likeliest words",
            "Read the other curve, that of the likeliest word alone.",
            lambda: temperature_at(2),
        ),
        Misconception(
            "that is the share, not the temperature",
            "You know the height, 0.5. Asked for is the place below it, on the axis across.",
            0.5,
        ),
        Misconception(
            "that is 1/T",
            "The axis across shows T, by which the logits are divided.",
            lambda: 1 / temperature_at(1),
        ),
    ),
    TEMPERATURE,
    tolerance=0.1,
)

ASKED = [NEXT_WORD_LOSS, GREEDY_WORDS, BEAM_WORDS, HALF_TEMPERATURE, BEST_WITHOUT, PART_IS_WORTH, POSITIONS_ARE_WORTH]
