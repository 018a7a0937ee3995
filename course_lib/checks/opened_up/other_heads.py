"""`other_heads(chosen, heads, seed)`: as many heads of the same layers, drawn from those that weren't chosen."""

import random
from collections import Counter

import torch

from course_lib.checks.engine import Case, Exercise


def drive(answer, chosen, heads, seed):
    """What an answer keeps of the chosen heads, which heads it can draw, and how the seed decides."""
    from collections import Counter

    names = (
        "it returns",
        "heads",
        "layers",
        "chosen heads among them",
        "heads that occur twice",
        "heads that don't exist",
        "heads that never come",
        "with the same seed again",
        "with other seeds",
    )

    def told(returned, *others):
        return dict(zip(names, (returned, *(others or ["not compared"] * 8)), strict=True))

    def pairs(found):
        try:
            found = [tuple(int(number) for number in one) for one in found]
        except TypeError:
            return None
        return sorted(found) if all(len(one) == 2 for one in found) else None

    def some(wrong):
        return "some" if wrong else "none"

    given, chosen = chosen, list(chosen)
    first = answer(given, heads, seed)  # the check compares `given` with what it was
    if first is None:
        return None
    if pairs(first) is None:
        return told("something other than a list of pairs")
    seeds = range(seed, seed + 150 * 1009, 1009)  # far apart, since an answer may add something to its seed
    many, again = ([pairs(answer(list(chosen), heads, number)) for number in seeds] for _ in range(2))
    in_layers = Counter(layer for layer, _ in chosen)
    layers = [Counter(layer for layer, _ in found) for found in many]
    there = {(layer, head) for layer in in_layers for head in range(heads)}
    come = {one for found in many for one in found}
    same = all(one == in_layers for one in layers)
    return told(
        "a list of pairs",
        "as many as chosen" if all(len(found) == len(chosen) for found in many) else "not as many",
        "the same, each as often"
        if same
        else "the same, not each as often"
        if all(set(one) <= set(in_layers) for one in layers)
        else "not the same",
        "all" if come == set(chosen) else some(come & set(chosen)),
        some(any(len(set(found)) < len(found) for found in many)),
        some(any(not 0 <= head < heads for _, head in come)),
        some(there - set(chosen) - come) if same else "not compared",
        "the same" if again == many else "not the same",
        "the same" if all(found == many[0] for found in many) else "not the same",
    )


def other_heads_cases(generator: torch.Generator) -> list[Case]:
    def given(heads: int, counts: dict[int, int]) -> dict:
        chosen = []
        for layer, count in counts.items():
            drawn = torch.randperm(heads, generator=generator)[:count]
            chosen += [(layer, head) for head in drawn.tolist()]
        mixed = torch.randperm(len(chosen), generator=generator)
        seed = int(torch.randint(25, (), generator=generator))
        return {"chosen": [chosen[place] for place in mixed.tolist()], "heads": heads, "seed": seed}

    inputs = [
        ("one head", 4, {2: 1}),
        ("two layers of four heads", 4, {0: 1, 3: 1}),
        ("two heads of one layer, one of another", 6, {1: 2, 4: 1}),
        ("half of a layer's heads", 4, {5: 2}),
        ("three layers of nine heads", 9, {17: 3, 18: 1, 20: 2}),
        ("half of one layer's heads, one of another's", 6, {0: 3, 1: 1}),
        ("the first layer", 5, {0: 2}),
        ("five heads of five layers", 8, {3: 1, 4: 1, 5: 1, 6: 1, 7: 1}),
    ]
    return [Case(about, given(heads, counts)) for about, heads, counts in inputs]


def other_heads(chosen, heads, seed):
    draw = random.Random(seed)
    found = []
    for layer, count in Counter(layer for layer, _ in chosen).items():
        free = [head for head in range(heads) if (layer, head) not in chosen]
        found += [(layer, head) for head in draw.sample(free, count)]
    return found


OTHER_HEADS = Exercise(
    "other_heads",
    "opened_up",
    other_heads_cases,
    other_heads,
    'lesson 13, "Induction heads, for real"; glossary.show("induction head"); glossary.show("head pruning")',
    drive,
)

FREE, DRAWN, RESULT = (
    "[head for head in range(heads) if (layer, head) not in chosen]",
    "draw.sample(free, count)",
    "return found",
)
CHOSEN = "The control cuts heads that were *not* chosen. If some chosen ones are among them, it may break copying, too."
OTHER_HEADS.edit("some chosen heads are drawn again", CHOSEN, (FREE, "list(range(heads))"))
OTHER_HEADS.edit("the chosen heads themselves are returned", CHOSEN, (RESULT, "return list(chosen)"))
OTHER_HEADS.edit(
    "some heads occur twice",
    "Cutting a head twice cuts no more than once. `sample` draws without putting back, `choices` and `choice` don't.",
    (DRAWN, "draw.choices(free, k=count)"),
)
LAYERS = "A layer near the output may matter more than one near the input, whichever heads you cut. So each layer must lose as many heads as before."
OTHER_HEADS.edit(
    "the heads come from other layers, too",
    LAYERS,
    (
        RESULT,
        "return draw.sample([(layer, head) for layer in range(max(chosen)[0] + 1) for head in range(heads)"
        " if (layer, head) not in chosen], len(chosen))",
    ),
)
OTHER_HEADS.edit(
    "the heads come from other layers only",
    LAYERS,
    (
        RESULT,
        "return draw.sample([(layer, head) for layer in range(30) for head in range(heads)"
        " if layer not in {one for one, _ in chosen}], len(chosen))",
    ),
)
OTHER_HEADS.edit(
    "the layers are the same, but not each as often",
    LAYERS,
    (
        RESULT,
        "return draw.sample([(layer, head) for layer in sorted({one for one, _ in chosen}) for head in range(heads)"
        " if (layer, head) not in chosen], len(chosen))",
    ),
)
MANY = "Cutting more heads does more harm, and cutting fewer does less. So cut as many as were chosen, layer by layer."
OTHER_HEADS.edit("each layer gets one head only", MANY, (DRAWN, "draw.sample(free, 1)"))
OTHER_HEADS.edit("all other heads of these layers are returned", MANY, (DRAWN, "free"))
RULE = "A fixed rule gives one control, and nobody knows how others would do. Draw at random, so that every other head can come."
OTHER_HEADS.edit("every seed gives the same heads", RULE, (DRAWN, "free[:count]"))
OTHER_HEADS.edit("every seed gives the same heads", RULE, (DRAWN, "free[-count:]"))
OTHER_HEADS.edit(
    "each head is replaced by the next one",
    f"The next head may be a chosen one. {RULE}",
    (RESULT, "return [(layer, (head + 1) % heads) for layer, head in chosen]"),
)
OTHER_HEADS.edit(
    "all heads are moved on by the same number",
    "From a chosen head, the same step may lead to another chosen one. Draw among the heads that are left.",
    (
        RESULT,
        "step = random.Random(seed).randrange(1, heads)\n"
        "    return [(layer, (head + step) % heads) for layer, head in chosen]",
    ),
)
NUMBERS = "Heads are counted from 0. With four heads, which number does the last one have?"
OTHER_HEADS.edit("heads are counted from 1", NUMBERS, ("range(heads)", "range(1, heads + 1)"))
OTHER_HEADS.edit("the last head never comes", NUMBERS, ("range(heads)", "range(heads - 1)"))
OTHER_HEADS.edit("head 0 never comes", NUMBERS, ("range(heads)", "range(1, heads)"))
OTHER_HEADS.edit(
    "a head's number is left out in all layers if it is chosen in one",
    "Head 3 of layer 1 and head 3 of layer 4 have nothing in common. Compare pairs, not numbers.",
    ("(layer, head) not in chosen", "head not in [other for _, other in chosen]"),
)
SEED = "The same seed must give the same control, and another seed another one. `random.Random(seed)` makes a generator of your own."
OTHER_HEADS.edit("the seed isn't used", SEED, ("random.Random(seed)", "random.Random()"))
OTHER_HEADS.edit("every seed gives the same heads", SEED, ("random.Random(seed)", "random.Random(0)"))
PAIRS = "Return a list of pairs (layer, head)."
OTHER_HEADS.edit("layer and head are exchanged in the pairs", PAIRS, ("[(layer, head) for", "[(head, layer) for"))
OTHER_HEADS.edit(
    "it returns something else, not a list of pairs",
    f"{PAIRS} The numbers of the heads alone don't say in which layers they are.",
    (RESULT, "return [head for _, head in found]"),
)
OTHER_HEADS.edit(
    "the chosen heads are returned together with the others", CHOSEN, (RESULT, "return list(chosen) + found")
)
