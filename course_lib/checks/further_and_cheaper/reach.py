"""`reach(width, layers)`: how many words reach the last one through layers with a window."""

import torch

from course_lib.checks.engine import Case, Exercise


def reach_cases(generator: torch.Generator) -> list[Case]:
    def some(low: int, high: int) -> int:
        return int(torch.randint(low, high, (), generator=generator))

    inputs = [
        ("three layers, a window of four", 4, 3),
        ("two layers, a window of three", 3, 2),
        ("five layers, a window of two", 2, 5),
        ("one layer", 5, 1),
        ("a window of one", 1, 4),
        ("any window", some(5, 12), some(3, 9)),
        ("any other window", some(12, 80), some(2, 13)),
        ("more layers than keys in a window", 3, some(6, 20)),
        ("a wide window", 64, 6),
    ]
    return [Case(about, {"width": width, "layers": layers}) for about, width, layers in inputs]


def reach(width, layers):
    return layers * (width - 1) + 1


REACH = Exercise(
    "reach",
    "further_and_cheaper",
    reach_cases,
    reach,
    'lesson 9, "What a window sees, layer by layer"; glossary.show("sliding-window attention")',
    tolerance=0,
)

REACH.misconception(
    "every layer adds a whole window",
    "A window holds the word itself, too, which has been counted already: how many words further back does a layer lead?",
)(lambda width, layers: layers * width)
REACH.misconception(
    "the last word itself is not counted", "That is how many words *back* it reaches. The last word's own counts, too."
)(lambda width, layers: layers * (width - 1))
REACH.misconception(
    "a word is taken off once, not at every layer but the first",
    "Two windows share one word, so two layers are right. How many words are counted twice with three windows?",
)(lambda width, layers: layers * width - 1)
REACH.misconception(
    "every layer adds a whole window, and one",
    "With one layer the words that reach it are those of its window: `width`.",
)(lambda width, layers: layers * width + 1)
REACH.misconception(
    "the reach is multiplied by each layer",
    "Windows overlap. Draw it: of four words in a window, each reaches three further back, to the same ones.",
)(lambda width, layers: width**layers)
REACH.misconception(
    "the reach is multiplied by each layer",
    "Windows overlap. Draw it: of four words in a window, which reaches furthest?",
)(lambda width, layers: (width - 1) ** layers + 1)
REACH.misconception(
    "the reach is doubled by each layer", "Each layer leads as far as the one before: it adds, it does not double."
)(lambda width, layers: width * 2 ** (layers - 1))
REACH.misconception(
    "every layer adds one word", "From the furthest word of one layer, the next leads a whole window further back."
)(lambda width, layers: width + layers - 1)
REACH.misconception("the layers are not used", "What layer 1 brought into a vector, layer 2 can bring on.")(
    lambda width, layers: width
)
REACH.misconception("one layer is left out", "The first layer leads width − 1 words back as well as the others.")(
    lambda width, layers: (layers - 1) * (width - 1) + 1
)
REACH.misconception(
    "one layer too many is counted", "After one layer the words that reach it are those of its window: `width`."
)(lambda width, layers: (layers + 1) * (width - 1) + 1)
REACH.misconception("it reaches to both sides", "Nobody sees what comes later: there are words before it alone.")(
    lambda width, layers: 2 * layers * (width - 1) + 1
)
