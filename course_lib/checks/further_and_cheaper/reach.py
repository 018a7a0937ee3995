"""`reach(width, layers)`: how many words can have an effect on the last one, through layers with a window."""

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
    "A window also contains the word itself, which has already been counted. How many words further back does a layer reach?",
)(lambda width, layers: layers * width)
REACH.misconception(
    "the last word itself is not counted",
    "This is how many words *back* the last word reaches. The last word itself counts, too.",
)(lambda width, layers: layers * (width - 1))
REACH.misconception(
    "one word is subtracted in all, not one for each further layer",
    "Two windows share one word, so two layers are correct. With three windows, how many words are counted twice?",
)(lambda width, layers: layers * width - 1)
REACH.misconception(
    "every layer adds a whole window, and one more word is added",
    "After one layer, the last word has seen the words of its window. How many are these?",
)(lambda width, layers: layers * width + 1)
REACH.misconception(
    "each layer multiplies the reach",
    "Windows overlap. Draw two layers with windows of four. How many words do two neighbouring windows share?",
)(lambda width, layers: width**layers)
REACH.misconception(
    "each layer multiplies the reach",
    "Windows overlap. Draw a window of four words. Which of them reaches furthest back?",
)(lambda width, layers: (width - 1) ** layers + 1)
REACH.misconception(
    "each layer doubles the reach",
    "Each layer reaches as far back as the one before. So does it add, or does it double?",
)(lambda width, layers: width * 2 ** (layers - 1))
REACH.misconception(
    "every layer adds one word",
    "The furthest word of one layer has a window of its own. How many words before it are in that window?",
)(lambda width, layers: width + layers - 1)
REACH.misconception("the layers are not used", "Layer 2 can pass on what layer 1 has put into a vector.")(
    lambda width, layers: width
)
REACH.misconception("one layer is left out", "The first layer reaches as far back as the others.")(
    lambda width, layers: (layers - 1) * (width - 1) + 1
)
REACH.misconception(
    "one layer too many is counted", "After one layer, the last word has seen only the words of its window."
)(lambda width, layers: (layers + 1) * (width - 1) + 1)
REACH.misconception("the reach goes to both sides", "No query sees a later word, so all the words are on one side.")(
    lambda width, layers: 2 * layers * (width - 1) + 1
)
