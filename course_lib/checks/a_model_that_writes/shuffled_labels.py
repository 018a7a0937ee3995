"""`shuffled_labels(pairs, seed)`: the control in which no example keeps its label, and nothing else differs."""

import random

import torch

from course_lib.checks.engine import Case, Exercise

WORDS = "lamp river chair moon glass horse bread stone cloud paper shoe door plant clock".split()


def drive(answer, pairs, seed):
    """What an answer changes in the examples, what it keeps, and how the seed decides."""
    from collections.abc import Iterator

    fails = IndexError, ValueError, RuntimeError, StopIteration  # of a choice from nothing, in any library

    def kind(found):
        if isinstance(found, dict | Iterator):
            return "a dict" if isinstance(found, dict) else "an iterator"
        labels = {label for _, label in pairs}
        if isinstance(found, list | tuple):
            if all(isinstance(one, list | tuple) and len(one) == 2 for one in found):
                return "a list of pairs"
            if all(isinstance(one, str) and one in labels for one in found):
                return "a list of labels"
        return "something other than a list of pairs"

    def runs_out():
        """Whether it fails for some seeds, but not for others, with three examples of different labels."""
        three, failed = [("one", "a"), ("two", "b"), ("three", "c")], 0
        for number in range(1000, 1040):
            try:
                answer(list(three), number)
            except fails:
                failed += 1
            except Exception:
                return False  # the calls below show this error
        return 0 < failed < 40

    def told(kept):
        if not any(kept):
            return "none"
        shifts = [labels[place:] + labels[:place] for place in range(len(labels))]
        shifted = all([label for _, label in found] in shifts for found in many)
        return "all" if all(kept) else "some, with all labels shifted alike" if shifted else "some"

    def all_told(returned, *others):
        names = (
            "it returns",
            "examples",
            "words",
            "each label occurs",
            "examples that keep their label",
            "with the same seed again",
            "with other seeds",
        )
        return dict(zip(names, (returned, *(others or ["not compared"] * 6)), strict=True))

    ran_out = all_told("nothing for some seeds, since the labels have run out")
    try:
        first = answer(pairs, seed)
    except fails:
        if runs_out():
            return ran_out
        raise
    if runs_out():
        return ran_out
    if first is None:
        return None
    if kind(first) != "a list of pairs":
        return all_told(kind(first))
    seeds = range(seed, seed + 20 * 1009, 1009)  # far apart, since an answer may try the next seed, and the next
    many, again = ([[*map(tuple, answer(list(pairs), number))] for number in seeds] for _ in range(2))
    first = [*map(tuple, first)]
    own, words = dict(pairs), [word for word, _ in pairs]
    labels = [label for _, label in pairs]
    return all_told(
        "a list of pairs",
        "as many as before" if len(first) == len(pairs) else "not as many",
        "in the same order"
        if all([word for word, _ in found] == words for found in many)
        else "in another order"
        if all(sorted(word for word, _ in found) == sorted(words) for found in many)
        else "not the same",
        "as often as before"
        if all(sorted(one for _, one in found) == sorted(labels) for found in many)
        else "not as often",
        told([own.get(word) == label for found in many for word, label in found]),
        "the same" if again == many else "not the same",
        "the same" if all(found == first for found in many) else "not the same",
    )


def shuffled_labels_cases(generator: torch.Generator) -> list[Case]:
    def some(low: int, high: int) -> int:
        return int(torch.randint(low, high, (), generator=generator))

    def given(labels: str) -> dict:
        order = torch.randperm(len(WORDS), generator=generator).tolist()
        words = [WORDS[place] for place in order]
        names = torch.randperm(26, generator=generator).tolist()
        label = {one: "label " + chr(97 + names[number]) for number, one in enumerate(sorted(set(labels)))}
        pairs = [(word, label[one]) for word, one in zip(words, labels, strict=False)]
        return {"pairs": pairs, "seed": some(0, 1000)}

    inputs = [
        ("four labels", "abcd"),
        ("five labels", "abcde"),
        ("three labels, twice each, in order", "aabbcc"),
        ("three labels, twice each, mixed", "abcabc"),
        ("two labels, four times each, in order", "aaaabbbb"),
        ("two labels, four times each, mixed", "abbabaab"),
        ("two labels that take turns", "abababab"),
        ("one label three times, the others once", "aabcdea"),
        ("one label in half of the examples", "aabacdea"),
        ("the same label first and last", "abcdea"),
        ("twelve labels", "abcdefghijkl"),
    ]
    return [Case(about, given(labels)) for about, labels in inputs]


def shuffled_labels(pairs, seed):
    labels = [label for _, label in pairs]
    draw = random.Random(seed)
    new = exchanged(labels, draw)
    return [(word, label) for (word, _), label in zip(pairs, new, strict=True)]


def exchanged(labels, draw):
    """The same labels in an order drawn at random, with none where it was."""
    new = list(labels)
    while any(map(str.__eq__, new, labels)):
        draw.shuffle(new)
    return new


def mixed(values, draw):
    """The same values in an order drawn at random."""
    return draw.sample(values, len(values))


def drawn_again(labels, draw, others):
    """For each example a label, drawn from all; if `others`, from all but its own."""
    names = sorted(set(labels))
    return [draw.choice([name for name in names if not others or name != own]) for own in labels]


def from_others(labels, draw):
    """For each example the label of another one, in an order drawn at random. The two labels may be equal."""
    order = list(range(len(labels)))
    while any(place == own for own, place in enumerate(order)):
        draw.shuffle(order)
    return [labels[place] for place in order]


def one_by_one(labels, draw):
    """For each example in turn, a label drawn from those left that aren't its own. They may run out."""
    rest, new = list(labels), []
    for own in labels:
        new.append(draw.choice([label for label in rest if label != own]))
        rest.remove(new[-1])
    return new


def next_name(labels):
    """Each label becomes the next one of those there are."""
    names = sorted(set(labels))
    return [names[(names.index(own) + 1) % len(names)] for own in labels]


SHUFFLED_LABELS = Exercise(
    "shuffled_labels",
    "a_model_that_writes",
    shuffled_labels_cases,
    shuffled_labels,
    'lesson 12, "Examples in the prompt"; glossary.show("in-context learning")',
    drive,
)

NEW, PAIRED = "exchanged(labels, draw)", "[(word, label) for (word, _), label in zip(pairs, new, strict=True)]"
SHUFFLED_LABELS.edit(
    "some examples keep their own label",
    "A random order leaves some labels where they were, with two labels about half of them. These examples still tell the task. What do you do with such an order?",
    (NEW, "mixed(labels, draw)"),
)
SHUFFLED_LABELS.edit(
    "each label comes from another example, but some of these have the same label",
    "Two words may have the same label. Then a word can get its own label from another example. Compare the labels, not their positions.",
    (NEW, "from_others(labels, draw)"),
)
SHUFFLED_LABELS.edit(
    "for some seeds, the labels run out",
    "You choose the labels one by one. For the last words, only their own label may be left. When that happens, begin again, or exchange it with an earlier one.",
    (NEW, "one_by_one(labels, draw)"),
)
SHUFFLED_LABELS.edit(
    "nothing is shuffled",
    "The labels are where they were. `shuffle` changes a list in place and returns None. `sample` returns a new list.",
    (NEW, "labels"),
)
COUNTS = "The control must have the same labels, each as often as before. Otherwise two things differ, which label an example has and which labels there are."
SHUFFLED_LABELS.edit(
    "the labels are drawn again, so that some occur more often than before",
    COUNTS,
    (NEW, "drawn_again(labels, draw, False)"),
)
SHUFFLED_LABELS.edit(
    "each example gets another label, but some labels occur more often than before",
    COUNTS,
    (NEW, "drawn_again(labels, draw, True)"),
)
SHUFFLED_LABELS.edit(
    "all examples with one label get the same other label",
    "Then the labels still tell which examples belong together, only under other names. A model that reads the labels can learn that.",
    (NEW, "next_name(labels)"),
)
DRAWN = "A fixed rule is one control among many. Draw one that depends on the seed."
SHIFT = f"A shift leaves a label where it was if the neighbour has the same one. {DRAWN}"
SHUFFLED_LABELS.edit("the labels are shifted by one", SHIFT, (NEW, "labels[1:] + labels[:1]"))
SHUFFLED_LABELS.edit("the labels are shifted by one", SHIFT, (NEW, "labels[-1:] + labels[:-1]"))
SHUFFLED_LABELS.edit(
    "the labels are shifted by a number that depends on the seed",
    "A shift leaves a label where it was if the example it comes from has the same one.",
    (NEW, "(labels + labels)[seed % (len(labels) - 1) + 1 :][: len(labels)]"),
)
SHUFFLED_LABELS.edit(
    "the labels are reversed",
    f"The reverse order leaves the label in the middle where it was, and others, too. {DRAWN}",
    (NEW, "labels[::-1]"),
)
SHUFFLED_LABELS.edit(
    "neighbours exchange their labels",
    f"If two neighbours have the same label, nothing changes. {DRAWN}",
    (NEW, "[labels[place ^ 1] if place ^ 1 < len(labels) else labels[place] for place in range(len(labels))]"),
)
TOGETHER = "Each word keeps its label if word and label move together. Only the labels may move."
SHUFFLED_LABELS.edit("whole examples are shuffled", TOGETHER, (PAIRED, "mixed(pairs, draw)"))
ORDER = "In the control, only the labels may differ. The words stay in their order."
SHUFFLED_LABELS.edit(
    "the words are shuffled, not the labels",
    ORDER,
    (PAIRED, "[(word, label) for (word, _), label in zip(mixed(pairs, draw), labels, strict=True)]"),
)
SHUFFLED_LABELS.edit(
    "the labels are exchanged, and then the examples are shuffled",
    ORDER,
    (PAIRED, "mixed(list(zip([word for word, _ in pairs], new, strict=True)), draw)"),
)
SHUFFLED_LABELS.edit(
    "the examples are sorted",
    ORDER,
    (PAIRED, "sorted(zip([word for word, _ in pairs], new, strict=True))"),
)
SEED = "The same seed must give the same control, and another seed another one. `random.Random(seed)` makes a generator of your own."
SHUFFLED_LABELS.edit("the seed isn't used", SEED, ("random.Random(seed)", "random.Random()"))
SHUFFLED_LABELS.edit(
    "the seed isn't used, and some examples keep their own label",
    SEED,
    ("random.Random(seed)", "random.Random()"),
    (NEW, "mixed(labels, draw)"),
)
SHUFFLED_LABELS.edit("the seed is always the same", SEED, ("random.Random(seed)", "random.Random(0)"))
SHUFFLED_LABELS.edit(
    "the seed is always the same, and some examples keep their own label",
    SEED,
    ("random.Random(seed)", "random.Random(0)"),
    (NEW, "mixed(labels, draw)"),
)
LEFT = "The control must be as long as the prompt it is compared with. An order that leaves a label where it was needs another try."
SHUFFLED_LABELS.edit(
    "examples that keep their label are left out",
    LEFT,
    (PAIRED, "[(word, label) for (word, own), label in zip(pairs, mixed(labels, draw), strict=True) if label != own]"),
)
SHUFFLED_LABELS.edit(
    "words and labels are exchanged in the pairs",
    "A pair is (word, label), in this order.",
    (PAIRED, "[(label, word) for (word, _), label in zip(pairs, new, strict=True)]"),
)
PAIRS = "Return a list of pairs (word, label), in the order of `pairs`."
SHUFFLED_LABELS.edit("only the labels are returned", f"{PAIRS} Each label needs its word.", (PAIRED, "new"))
SHUFFLED_LABELS.edit(
    "a dict is returned, not a list of pairs", f"{PAIRS} The cells below go through pairs.", (PAIRED, f"dict({PAIRED})")
)
SHUFFLED_LABELS.edit(
    "an iterator is returned, not a list of pairs",
    f"{PAIRS} `zip` gives its pairs one by one, and only once. Put list() around it.",
    (PAIRED, f"iter({PAIRED})"),
)
SHUFFLED_LABELS.edit("something other than a list of pairs is returned", PAIRS, (PAIRED, f"str({PAIRED})"))
