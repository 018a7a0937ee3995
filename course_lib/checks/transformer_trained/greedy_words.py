"""greedy_words(scores, start, end, limit): writes the most probable word, again and again."""

import torch

from course_lib.checks.engine import Case, Exercise
from course_lib.checks.transformer_trained.made_up_models import drive_writer, newest, table, told_apart


def cases(generator: torch.Generator) -> list[Case]:
    # 0 is <bos>, 1 is <eos>; a row is what may come after a word.
    small = torch.tensor([[0.08, 0.12, 0.7, 0.1], [0.1, 0.2, 0.3, 0.4], [0.1, 0.2, 0.13, 0.57], [0.07, 0.63, 0.2, 0.1]])
    at_once = torch.tensor([[0.1, 0.7, 0.2], [0.3, 0.1, 0.6], [0.07, 0.13, 0.8]])
    around = torch.tensor([[0.07, 0.13, 0.8], [0.1, 0.3, 0.6], [0.1, 0.2, 0.7]])
    hardly = torch.tensor(
        [[0.2, 0.26, 0.28, 0.26], [0.25, 0.25, 0.26, 0.24], [0.2, 0.26, 0.26, 0.28], [0.2, 0.28, 0.26, 0.26]]
    )
    inputs = [
        ("two words, then the end", small, 0.0, 0, 1, 6),
        ("the end mark at once", at_once, 0.0, 0, 1, 5),
        ("a model that never ends", around, 0.0, 0, 1, 4),
        ("a limit of twelve words", around, 0.0, 0, 1, 12),
        ("a model that is hardly sure", hardly, 0.0, 0, 1, 6),
        ("a limit of one word", small, 0.0, 0, 1, 1),
        ("a limit that is exactly reached", small, 0.0, 0, 1, 3),
        ("other numbers for start and end", table(generator, 5), 0.0, 4, 2, 7),
    ]
    names = ("p", "echo", "start", "end", "limit")
    given = [Case(about, dict(zip(names, values, strict=True))) for about, *values in inputs]
    given.append(Case("large scores", given[0].arguments | {"added": 200.0}))

    def draw() -> dict:
        words = int(torch.randint(4, 7, (), generator=generator))
        return dict(zip(names, (table(generator, words), 1.0, 0, 1, 8), strict=True))

    gets = [one.answer for one in GREEDY_WORDS.misconceptions if one.name.startswith("the model gets")]
    drawn = told_apart(draw, right, gets, nameless=[newest(right, 2), newest(right, 3)])
    return given + [Case("a model that looks at all words", arguments) for arguments in drawn]


def right(scores, start, end, limit):
    words = [start]
    while len(words) <= limit:
        word = scores(words).argmax().item()
        words.append(word)
        if word == end:
            break
    return words[1:]


GREEDY_WORDS = Exercise(
    "greedy_words",
    "transformer_trained",
    cases,
    right,
    'lesson 6, "Decoding: from logits to words"; glossary.show("greedy decoding")',
    drive=drive_writer,
)

GREEDY_WORDS.edit(
    "it keeps writing after the end mark",
    "When the end mark is written, the sentence is finished. What stops your loop?",
    ("word == end", "False"),
)
GREEDY_WORDS.edit(
    "it ignores the limit",
    "A model may never write the end mark. What stops your loop then?",
    ("len(words) <= limit", "True"),
)
GREEDY_WORDS.edit(
    "it never stops",
    "Two things should end the loop, the end mark and the limit. Why does neither stop yours?",
    ("len(words) <= limit", "True"),
    ("word == end", "False"),
)
GREEDY_WORDS.edit(
    "the start mark is counted as a written word",
    "The limit counts the words that are written. The start mark was given.",
    ("<= limit", "< limit"),
)
GREEDY_WORDS.edit(
    "the start mark is returned too",
    "Return only what was written. The start mark was given.",
    ("words[1:]", "words"),
)
GREEDY_WORDS.edit(
    "the end mark is left out",
    "The end mark was written, so it belongs in the result.",
    ("words[1:]", "[word for word in words[1:] if word != end]"),
)
GREEDY_WORDS.edit(
    "the model gets only the last word",
    "The next word may depend on all words before it. What should the model get to read?",
    ("scores(words)", "scores(words[-1:])"),
)
GREEDY_WORDS.edit(
    "the model gets only the start mark",
    "The model has to read what is already written. What does it get at the second step?",
    ("scores(words)", "scores([start])"),
)
GREEDY_WORDS.edit(
    "the model gets the start mark only at the first step",
    "At every step, the list for the model begins with the start mark. What does your list begin with at the second step?",
    ("scores(words)", "scores(words[1:] or words)"),
)
GREEDY_WORDS.edit(
    "large scores overflow",
    "exp(100) is too large for float32, and ∞/∞ is NaN. Do you need a softmax to find the largest score?",
    ("scores(words).argmax()", "((powers := scores(words).exp()) / powers.sum()).argmax()"),
)
GREEDY_WORDS.edit(
    "it takes the least probable word",
    "log p is negative. Which word has the largest log p, the most or the least probable one?",
    ("argmax", "argmin"),
)
