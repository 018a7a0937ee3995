"""`control_labels(words, labels, seed)`: the control task of a probe, with a random label for each word."""

import random

import torch

from course_lib.checks.engine import Case, Exercise

WORDS = "lamp river chair moon glass horse bread stone cloud paper shoe door plant clock".split()


def drive(answer, words, labels, seed):
    """What an answer's labels have to do with the words and with their own labels, and how the seed decides."""
    from collections import Counter

    names = (
        "it returns",
        "a word has",
        "words with the same label",
        "a word's own label comes",
        "of 1000 words with two labels",
        "frequent labels",
        "with the same seed again",
        "with other seeds",
    )

    def told(returned, *others):
        return dict(zip(names, (returned, *(others or ["not compared"] * 7)), strict=True))

    given, words, labels = (words, labels), list(words), list(labels)
    first = answer(*given, seed)  # the check compares `given` with what it was
    if first is None:
        return None
    if not isinstance(first, list | tuple):
        return told("a dict" if isinstance(first, dict) else "something other than a list")
    if not all(isinstance(one, str) for one in first):
        return told("numbers" if all(isinstance(one, int) for one in first) else "something other than labels")
    if not set(first) <= set(labels):
        return told("labels that don't occur")
    if len(first) != len(words):
        return told(
            "a label for each different word" if len(first) == len(set(words)) else "too many or too few labels"
        )
    seeds = range(seed, seed + 40 * 1009, 1009)  # far apart, since an answer may add something to its seed
    many, again = ([list(answer(list(words), list(labels), number)) for number in seeds] for _ in range(2))

    def groups(found):
        """For each own label, the new labels of its words."""
        return [{new for own, new in zip(labels, found, strict=True) if own == one} for one in set(labels)]

    kept = [new == own for found in many for new, own in zip(found, labels, strict=True)]
    rare = [f"word {number}" for number in range(100)]
    frequent = ["often"] * 90 + ["seldom"] * 10
    halves = ["one", "other"] * 500
    found = answer([f"word {number}" for number in range(1000)], list(halves), seed)
    stay = sum(new == own for new, own in zip(found, halves, strict=True))
    share = sum(Counter(answer(list(rare), list(frequent), number))["often"] for number in seeds[:10]) / 1000
    apart = any(len(one) > 1 for found in many for one in groups(found))
    return told(
        "a label for each word",
        "one label, wherever it occurs"
        if all(len(set(zip(words, found, strict=True))) == len(set(words)) for found in many)
        else "several labels",
        "may get different ones"
        if apart
        else "get the one label that all words get"
        if all(len(set(found)) == 1 for found in many)
        else "stay together",
        "always" if all(kept) else "sometimes" if any(kept) else "never",
        # by chance 500, with a standard deviation of 16
        "not compared"
        if not apart
        else "more than half keep their label"
        if stay > 600
        else "fewer than half keep their label"
        if stay < 400
        else "about half keep their label",
        "not compared" if not apart else "stay frequent" if share > 0.8 else "become rarer",
        "the same" if again == many else "not the same",
        "the same" if all(found == many[0] for found in many) else "not the same",
    )


def control_labels_cases(generator: torch.Generator) -> list[Case]:
    def given(labels: str, repeats: str) -> dict:
        """Words with these labels, one a letter, and then further occurrences, each a word's number."""
        order = torch.randperm(len(WORDS), generator=generator).tolist()
        words = [WORDS[place] for place in order[: len(labels)]]
        names = [f"label {one}" for one in labels]
        places = [*range(len(labels)), *map(int, repeats)]
        seed = int(torch.randint(25, (), generator=generator))
        return {"words": [words[place] for place in places], "labels": [names[place] for place in places], "seed": seed}

    inputs = [
        ("four words, two labels", "aabb", "02"),
        ("six words, two labels", "ababab", "0123"),
        ("six words, three labels", "aabbcc", "00112"),
        ("a word that comes four times", "aaabbb", "0003"),
        ("nine words, three labels", "abcabcabc", "012345678"),
        ("a label that most words have", "aaaaaab", "0166"),
        ("eight words, four labels", "aabbccdd", "7531"),
    ]
    return [Case(about, given(labels, repeats)) for about, labels, repeats in inputs]


def control_labels(words, labels, seed):
    draw = random.Random(seed)
    new = {}
    for word in words:
        if word not in new:
            new[word] = draw.choice(labels)
    return [new[word] for word in words]


def others_of(words, labels, word):
    """The labels without those that a word has."""
    own = {label for one, label in zip(words, labels, strict=True) if one == word}
    return [label for label in labels if label not in own]


def exchanged(words, labels, draw):
    """For each label another name, so that the same words stay together."""
    names = sorted(set(labels))
    others = dict(zip(names, draw.sample(names, len(names)), strict=True))
    return [others[label] for label in labels]


CONTROL_LABELS = Exercise(
    "control_labels",
    "opened_up",
    control_labels_cases,
    control_labels,
    'lesson 13, "Readable, or used?"; glossary.show("probe")',
    drive,
)

DRAWN, RESULT = "draw.choice(labels)", "[new[word] for word in words]"
TYPE = "A word must keep its new label wherever it occurs. Otherwise no probe can learn the control, and it's beaten too easily."
CONTROL_LABELS.edit(
    "each occurrence gets a label of its own", TYPE, (RESULT, "[draw.choice(labels) for word in words]")
)
CONTROL_LABELS.edit("each occurrence gets a label of its own", TYPE, (RESULT, "draw.sample(labels, len(labels))"))
CLASSES = "If all nouns get one label and all verbs another, the control is the task itself under other names. Which label a word gets must not depend on its own."
CONTROL_LABELS.edit(
    "all words with one label get the same other label", CLASSES, (RESULT, "exchanged(words, labels, draw)")
)
CONTROL_LABELS.edit("nothing is changed", CLASSES, (RESULT, "list(labels)"))
CONTROL_LABELS.edit(
    "no word keeps its own label",
    "That was right in lesson 12. Here the new label must say *nothing* about the old one. A label that is never the old one says something. With two labels, it says everything.",
    (DRAWN, "draw.choice(others_of(words, labels, word))"),
)
CONTROL_LABELS.edit(
    "words keep their own label more often than chance",
    "Then the control is partly the task. Does your draw look at the word's own label?",
    (DRAWN, "draw.choice([*labels, *labels, *[labels[words.index(word)]] * len(labels)])"),
)
CONTROL_LABELS.edit(
    "frequent labels become as rare as the others",
    "If nine of ten words have one label, guessing it is right nine times in ten. In the control it should be, too. Do you draw from the whole list? `set` forgets how often a label occurs.",
    (DRAWN, "draw.choice(sorted(set(labels)))"),
)
CONTROL_LABELS.edit(
    "every word gets the same label",
    "A control with one label is no task. Each word draws for itself. Does your generator begin again for each word?",
    (DRAWN, "labels[seed % len(labels)]"),
)
CONTROL_LABELS.edit(
    "every word gets the most frequent label",
    "A control with one label is no task. Each word draws for itself.",
    (RESULT, "[max(sorted(set(labels)), key=labels.count)] * len(words)"),
)
SEED = "The same seed must give the same control, and another seed another one. `random.Random(seed)` makes a generator of your own."
CONTROL_LABELS.edit("the seed isn't used", SEED, ("random.Random(seed)", "random.Random()"))
CONTROL_LABELS.edit("the seed is always the same", SEED, ("random.Random(seed)", "random.Random(0)"))
LIST = "Return a list with a label for each entry of `words`, in their order."
CONTROL_LABELS.edit("there is one label for each different word", LIST, (RESULT, "[new[word] for word in new]"))
CONTROL_LABELS.edit("it returns a dict, not a list", LIST, (RESULT, "new"))
OLD = "The new labels are the old ones, drawn from `labels`."
CONTROL_LABELS.edit("it returns labels that aren't in `labels`", OLD, (DRAWN, "str(draw.randrange(3))"))
CONTROL_LABELS.edit(
    "it returns numbers, not labels",
    OLD,
    (DRAWN, "draw.randrange(len(set(labels)))"),
)
CONTROL_LABELS.edit(
    "it returns other things, not labels",
    f"{LIST} A pair of a word and a label is not a label.",
    (RESULT, "[(word, new[word]) for word in words]"),
)
CONTROL_LABELS.edit("it returns something else, not a list", LIST, (RESULT, "iter([new[word] for word in words])"))
