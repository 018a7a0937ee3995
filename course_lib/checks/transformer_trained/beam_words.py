"""beam_words(log_p, start, end, width, limit): beam search, ranked by log p per word."""

from functools import cache, partial

import torch

from course_lib.checks.engine import Case, Exercise
from course_lib.checks.transformer_trained.made_up_models import drive_writer, newest, table, told_apart

SETTINGS = "start", "end", "width", "limit"


def cases(generator: torch.Generator) -> list[Case]:
    return beams_of(generator.initial_seed())


@cache
def beams_of(seed: int) -> list[Case]:
    """Keeps the cases, because the search for inputs that tell misconceptions apart takes a second or two."""
    generator = torch.Generator().manual_seed(seed)
    # After <bos> (0) comes 2 or 3. After 2, many words may come; after 3, nearly always the end mark (1).
    small = torch.tensor(
        [[0.08, 0.12, 0.5, 0.3], [0.1, 0.2, 0.3, 0.4], [0.17, 0.4, 0.23, 0.2], [0.01, 0.94, 0.03, 0.02]]
    )
    # A short sentence is more probable, but per word a longer one is.
    short = torch.tensor(
        [[0.07, 0.41, 0.39, 0.13], [0.1, 0.2, 0.3, 0.4], [0.06, 0.13, 0.11, 0.7], [0.12, 0.72, 0.09, 0.07]]
    )
    # A search that cuts by sums, or never cuts a finished sentence, returns 2 3 0 1.
    overtaken = torch.tensor(
        [
            [0.0685, 0.3530, 0.2919, 0.2866],
            [0.1256, 0.3615, 0.0632, 0.4497],
            [0.1678, 0.0365, 0.3379, 0.4578],
            [0.4663, 0.0283, 0.4295, 0.0760],
        ]
    )
    onwards = torch.tensor([[0.05, 0.05, 0.1, 0.8], [0.1, 0.2, 0.3, 0.4], [0.1, 0.1, 0.65, 0.15], [0.1, 0.1, 0.7, 0.1]])
    # Beams of width 3 and of width 4 return different sentences.
    wide = torch.tensor(
        [
            [0.413, 0.118, 0.377, 0.092],
            [0.541, 0.026, 0.338, 0.095],
            [0.455, 0.2, 0.009, 0.336],
            [0.094, 0.354, 0.503, 0.049],
        ]
    )
    # A finished sentence takes the place of one that would have overtaken it.
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
        ("a probable sentence with a less probable first word", small, 0.0, 0, 1, 2, 5),
        ("a short sentence and a long one", short, 0.0, 0, 1, 2, 5),
        ("finished sentences that are overtaken", overtaken, 0.0, 0, 1, 2, 6),
        ("width 3", wide, 0.0, 0, 1, 3, 5),
        ("width 4", wide, 0.0, 0, 1, 4, 5),
        ("a finished sentence that takes a place", takes_a_place, 0.0, 0, 1, 2, 5),
        ("a limit of one word", small, 0.0, 0, 1, 3, 1),
        ("a limit that is also the number of a word", onwards, 0.0, 0, 1, 1, 3),
        ("a width greater than the vocabulary", short, 0.0, 0, 1, 6, 4),
    ]
    long = ("a long text, whose probability is too small for a float", never_ends(generator, 5), 0.0, 0, 1, 2, 800)
    names = ("p", "echo", *SETTINGS)
    given = [Case(about, dict(zip(names, values, strict=True))) for about, *values in [*inputs, long]]
    for about, make, *values in (
        ("other numbers for start and end", table, 0.0, 3, 2, 2, 6),
        ("a model that never ends", hardly_ends, 0.7, 0, 1, 3, 5),
    ):
        for _ in range(300):
            arguments = dict(zip(names, (make(generator, 4), *values), strict=True))
            if clear_cut(arguments):
                given.insert(-1, Case(about, arguments))
                break

    def draw() -> dict:
        words, width, limit = (int(torch.randint(*span, (), generator=generator)) for span in ((4, 6), (2, 6), (3, 6)))
        start, end = torch.randperm(words, generator=generator)[:2].tolist()
        return dict(zip(names, (table(generator, words), 0.7, start, end, width, limit), strict=True))

    named = {one.name: one.answer for one in reversed(BEAM_WORDS.misconceptions)}  # the first answer of each name
    drawn = told_apart(draw, right, [named[name] for name in SHOWN], clear_cut, NAMELESS)
    return given[:-1] + [Case("a model that looks at all words", arguments) for arguments in drawn] + given[-1:]


def hardly_ends(generator: torch.Generator, words: int) -> torch.Tensor:
    p = table(generator, words)
    p[:, 1] = 1e-6
    return p / p.sum(-1, keepdim=True)


def never_ends(generator: torch.Generator, words: int) -> torch.Tensor:
    """After each word, one word is more probable than the others, so the best beginning is never in doubt."""
    p = 0.22 + 0.02 * torch.rand(words, words, generator=generator, dtype=torch.float64)
    p[:, 1] = 1e-9
    others = torch.tensor([word for word in range(words) if word != 1])
    favourite = others[torch.randint(len(others), (words,), generator=generator)]
    p[torch.arange(words), favourite] = 0.34
    return p / p.sum(-1, keepdim=True)


SHOWN = (  # some drawn input tells each of them from the right answer and from the others
    "short sentences are favoured",
    "probabilities are added",
    "it writes what greedy decoding writes",
    "each beginning is continued in only one way",
    "finished sentences are lost",
    "a finished sentence is continued",
    "the search stops at the first finished sentence",
    "unfinished sentences can't win",
    "the start mark is counted in the length",
    "the model gets only the last word",
    "the model gets the start mark only at the first step",
)


def right(log_p, start, end, width, limit, power=1, note=lambda margin: None):
    """What is right. The search for inputs sets another `power` of the length, and is told how clear each choice was."""

    def rank(beginning):
        words, total = beginning
        return total / (len(words) - 1) ** power

    def finished(beginning):
        words, total = beginning
        return len(words) > 1 and words[-1] == end

    def decide(beginnings, count):
        if len(beginnings) > count:
            note(rank(beginnings[count - 1]) - rank(beginnings[count]))

    kept = [([start], 0.0)]
    for _ in range(limit):
        longer = [one for one in kept if finished(one)]
        for words, total in (one for one in kept if not finished(one)):
            grown = [(words + [word], total + gain) for word, gain in enumerate(log_p(words).tolist())]
            longer += grown
        ranked = sorted(longer, key=rank, reverse=True)
        kept = ranked[:width]
        decide(ranked, width)
        if all(map(finished, kept)):
            break
    decide(kept, 1)
    return max(kept, key=rank)[0][1:]


def clear_cut(arguments) -> bool:
    margins = []
    drive_writer(partial(right, note=margins.append), **arguments)
    return min(margins, default=1.0) > 1e-4


def given_other(**changed):
    """Returns a beam search that changes its settings, for example by `width=lambda width: min(width, 3)`."""

    def answer(log_p, *settings):
        settings = dict(zip(SETTINGS, settings, strict=True))
        return right(log_p, **settings | {name: change(settings[name]) for name, change in changed.items()})

    return answer


NAMELESS = (  # some drawn input tells each of them from the right answer
    newest(right, 2),
    newest(right, 3),
    partial(right, power=1.2),
    given_other(width=lambda width: min(width, 2)),
    given_other(width=lambda width: min(width, 3)),
    given_other(width=lambda width: min(width, 4)),
    given_other(width=lambda width: width + 1),
    given_other(width=lambda width: width + 2 * (width > 2)),
    given_other(end=lambda end: 1),
)

BEAM_WORDS = Exercise(
    "beam_words",
    "transformer_trained",
    cases,
    right,
    'lesson 6, "Beam search"; glossary.show("beam search")',
    drive=drive_writer,
)

BEAM_WORDS.edit(
    "short sentences are favoured",
    "Every further word makes the sum smaller. What do you have to divide it by before you compare sentences?",
    ("total / (len(words) - 1) ** power", "total"),
)
PRODUCT = ("([start], 0.0)", "([start], 1.0)"), ("total + gain", "total * torch.tensor(gain).double().exp().item()")
BEAM_WORDS.edit(
    "the product of many probabilities is rounded to 0",
    "A float can't hold such a small number, and then all beginnings look equally good. Work with the logarithms.",
    *PRODUCT,
    ("total / (len(words) - 1) ** power", "total ** (1 / (len(words) - 1))"),
)
BEAM_WORDS.edit(
    "probabilities are multiplied",
    "A product gets smaller with each word, which favours short sentences, and in the end it is rounded to 0. What does "
    "the logarithm turn a product into?",
    *PRODUCT,
    ("total / (len(words) - 1) ** power", "total"),
)
BEAM_WORDS.edit(
    "probabilities are added",
    "The probability of a sentence is a product. The logarithm of that product is a sum of log p.",
    ("log_p(words)", "log_p(words).exp()"),
)
BEAM_WORDS.edit(
    "it writes what greedy decoding writes",
    "In each round, only one beginning seems to go on. How many do you keep, how many of those do you continue, and in how many ways?",
    ("ranked[:width]", "ranked[:1]"),
)
BEAM_WORDS.edit(
    "each beginning is continued in only one way",
    "All continuations of all beginnings compete, and two of the best may come from the same beginning.",
    ("longer += grown", "longer += grown if words == [start] else [max(grown, key=rank)]"),
)
BEAM_WORDS.edit(
    "finished sentences are lost",
    "A beginning that ends in the end mark isn't continued, but it still competes with the others.",
    ("longer = [one for one in kept if finished(one)]", "longer = []"),
)
BEAM_WORDS.edit(
    "a finished sentence is continued",
    "Nothing comes after the end mark. What does your function do with a beginning that ends in it?",
    ("return len(words) > 1 and words[-1] == end", "return False"),
)
FINISHED_WINS = "max(kept,", "max([one for one in kept if finished(one)] or kept,"
for best_of in ([FINISHED_WINS], []):
    BEAM_WORDS.edit(
        "the search stops at the first finished sentence",
        "Another beginning may still become better. What has to be finished before the search may stop?",
        ("all(map(finished, kept))", "any(map(finished, kept))"),
        *best_of,
    )
BEAM_WORDS.edit(
    "the beam is cut by the sum, which is divided only at the end",
    "The rule ranks by log p per word in every round. Which beginnings may a cut by the sum lose?",
    ("sorted(longer, key=rank,", "sorted(longer, key=lambda one: one[1],"),
)


def put_aside(places, until="not kept"):
    """Returns changes that take finished sentences out of the beam; the others share the `places` that are left."""
    return (
        ("kept = [([start], 0.0)]", "kept, apart = [([start], 0.0)], []"),
        ("kept = ranked[:width]", f"kept = [one for one in ranked[:{places}] if not finished(one)]"),
        ("decide(ranked, width)", f"apart += filter(finished, ranked[:{places}])"),
        ("all(map(finished, kept))", until),
        ("max(kept,", "max(apart + kept,"),
    )


BEAM_WORDS.edit(
    "a finished sentence keeps its place for good",
    "A finished sentence keeps competing. It may be cut like the others, and then its place is free again.",
    *put_aside("width - len(apart)"),
)
for until in ("not kept or len(apart) >= width", "not kept"):
    BEAM_WORDS.edit(
        "finished sentences take no place in the beam",
        "Finished or not, all beginnings compete for the same places. How many places does the beam have?",
        *put_aside("width", until),
    )
BEAM_WORDS.edit(
    "unfinished sentences can't win",
    "In the end, return the best of all that you keep, finished or not.",
    FINISHED_WINS,
)
BEAM_WORDS.edit(
    "the start mark is counted in the length",
    "Divide by the number of words that were written. The start mark was given.",
    ("(len(words) - 1)", "len(words)"),
)
BEAM_WORDS.edit(
    "the start mark is returned too",
    "Return only what was written. The start mark was given.",
    ("[0][1:]", "[0]"),
)
BEAM_WORDS.edit(
    "the end mark is left out",
    "The end mark was written, so it belongs in the result.",
    ("max(kept, key=rank)[0][1:]", "[word for word in max(kept, key=rank)[0][1:] if word != end]"),
)
BEAM_WORDS.edit(
    "the model gets only the last word",
    "The next word may depend on all words before it. What should the model get to read?",
    ("log_p(words)", "log_p(words[-1:])"),
)
BEAM_WORDS.edit(
    "the model gets the start mark only at the first step",
    "At every step, the list for the model begins with the start mark. What does your list begin with at the second step?",
    ("log_p(words)", "log_p(words[1:] or words)"),
)
