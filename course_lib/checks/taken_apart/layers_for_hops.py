"""layers_for_hops: how many layers it takes until the question knows that many hops."""

from course_lib.checks.engine import Misconception, Question

ASKED_HOPS = (1, 2, 3, 4, 7, 8)


def layers_for(hops: int) -> int:
    """Counts the layers until the question knows that many hops. In each layer it and every pair read one pair, all at the same time."""
    known, chain, layers = 0, 1, 0  # hops that the question knows; hops that each pair holds
    while known < hops:
        known, chain, layers = known + chain, chain + chain, layers + 1
    return layers


LAYERS_FOR_HOPS = Question(
    "layers_for_hops",
    "taken_apart",
    lambda: [layers_for(hops) for hops in ASKED_HOPS],
    (
        Misconception("every hop gets a layer of its own", "That would be true if only the question read. But in every layer the pairs read as well. What does a pair hold after layer 1?", list(ASKED_HOPS)),
        Misconception("the chains double, but what the question already knows is left out", "While the pairs grow, the question reads, too. How many hops does it know after layer 1? And how many does the pair hold that it reads in layer 2?", [1, 2, 3, 3, 4, 4]),
        Misconception("the layer in which the question reads is not counted", "Even if a pair holds the whole chain, the question must still read it. How many layers does one hop need?", [0, 1, 2, 2, 3, 3]),
        Misconception("every layer adds two hops", "What a pair holds grows from layer to layer. After layer 1 it is two hops. How many are there after layer 2?", [1, 1, 2, 2, 4, 4]),
        Misconception("everything happens in one layer", "A layer reads what the pairs held *before* it. In layer 1, how could the question know which pair holds hop 2?", [1, 1, 1, 1, 1, 1]),
    ),
    'lesson 7, "Why more than one layer?"',
)  # fmt: skip  # fmt: skip
