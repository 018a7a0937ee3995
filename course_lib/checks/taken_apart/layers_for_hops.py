"""layers_for_hops: how many layers the question needs until it knows so many hops."""

from course_lib.checks.engine import Misconception, Question

ASKED_HOPS = (1, 2, 3, 4, 7, 8)


def layers_for(hops: int) -> int:
    """Layers until the question knows so many hops: it and every pair read one pair a layer, all at the same time."""
    known, chain, layers = 0, 1, 0  # hops that the question knows; hops that each pair holds
    while known < hops:
        known, chain, layers = known + chain, chain + chain, layers + 1
    return layers


LAYERS_FOR_HOPS = Question(
    "layers_for_hops",
    "taken_apart",
    lambda: [layers_for(hops) for hops in ASKED_HOPS],
    (
        Misconception("one layer for each hop", "So it is if only the question reads. But the pairs read as well, all in the same layer: what does the pair x → c hold after layer 1?", list(ASKED_HOPS)),
        Misconception("the chains double, but what the question has read already is left out", "While the pairs grow, the question reads too. How many hops does it know after layer 1, and how many does the pair hold that it reads in layer 2?", [1, 2, 3, 3, 4, 4]),
        Misconception("the last reading is not counted", "A pair that holds the whole chain is no use until the question has read it. Which layer does one hop need?", [0, 1, 2, 2, 3, 3]),
        Misconception("two hops for every layer", "What is read grows from layer to layer: after layer 1 a pair holds two hops, after layer 2 …?", [1, 1, 2, 2, 4, 4]),
        Misconception("one layer for everything", "In one layer a pair is read as it came in. Who tells the question, in layer 1, which pair to read for hop 2?", [1, 1, 1, 1, 1, 1]),
    ),
    'lesson 7, "Why more than one layer?"',
)  # fmt: skip  # fmt: skip
