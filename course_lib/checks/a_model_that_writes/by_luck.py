"""`by_luck(answers, accepted)`: how often a written answer has an accepted word of a fact that wasn't asked about."""

import re

import torch

from course_lib.checks.engine import Case, Exercise

FACTS = (
    ["Rome"], ["Paris"], ["seven", "7"], ["six", "6"], ["ice"], ["yen"], ["Sun"], ["gold"], ["heart"], ["Ada", "Lovelace"],
    ["carbon dioxide", "CO2"], ["D"],
)  # fmt: skip
FILLER = "the It is price Venice sixty of Golden a sunny 70 and Romeo answer called".split()


def by_luck_cases(generator: torch.Generator) -> list[Case]:
    def some(low: int, high: int) -> int:
        return int(torch.randint(low, high, (), generator=generator))

    def drawn(facts: list[list[str]], share: int = 2) -> dict:
        """Answers of six to nine words; one word in `share` is an accepted one, in capitals or not."""
        words = [word for own in facts for word in own]
        cased = [word for word in words for word in (word, word.upper(), word.lower())]
        answers = []
        for _ in facts:
            parts = [
                cased[some(0, len(cased))] if some(0, share) == 0 else FILLER[some(0, len(FILLER))]
                for _ in range(some(6, 10))
            ]
            answers.append(" ".join(parts) + ".")
        return {"answers": answers, "accepted": facts}

    def facts(count: int) -> list[list[str]]:
        order = torch.randperm(len(FACTS), generator=generator).tolist()
        return [FACTS[place] for place in order[:count]]

    by_hand = {
        "answers": ["Rome, built on seven hills.", "There are 7.", "It is seven, or 7."],
        "accepted": [["Rome"], ["seven", "7"], ["Seven"]],
    }
    parts = {
        "answers": ["Venice, at any price.", "Ice on the Seine in Paris", "A sunny day in Rome"],
        "accepted": [["Venice"], ["ice"], ["Sun"]],
    }
    chain = {
        "answers": ["A star.", "Ice, and no star", "The Sun, or a sun", "The sun is a star."],
        "accepted": [["Sun"], ["sun", "star"], ["star"], ["ice"]],
    }
    phrases = {
        "answers": ["carbon", "Carbon dioxide, or CO2", "Mount Etna", "Mount Everest", "Mount Everest on ice"],
        "accepted": [["carbon dioxide", "CO2"], ["carbon"], ["Mount Everest"], ["Mount Etna"], ["ice"]],
    }
    inside = {
        "answers": ["Ice in Venice", "Venice on ice", "Golden gold", "gold, ice and Golden"],
        "accepted": [["Venice"], ["ice"], ["Golden"], ["gold"]],
    }
    inputs = [
        ("three facts, two of which share a word", by_hand),
        ("words that are part of other words", parts),
        ("two facts", drawn([["gold"], ["ice"]], 3)),
        ("answers without any accepted word", {"answers": ["I see", "Who knows?", "No"], "accepted": [["Rome"], ["D"], ["six", "6"]]}),
        ("every answer names everything", {"answers": ["gold, ice, yen, Rome"] * 4, "accepted": [["gold"], ["ice"], ["yen"], ["Rome"]]}),
        ("words with two forms", drawn([["seven", "7"], ["six", "6"], ["Ada", "Lovelace"], ["carbon dioxide", "CO2"]])),
        ("facts that share a word", drawn([["seven", "7"], ["gold"], ["7", "seven"], ["six", "6"]])),
        ("a word shared in capitals", drawn([["mercury"], ["Mercury"], ["ice"], ["gold"]])),
        ("two facts that each share a word with a third", chain),
        ("accepted words of two words", phrases),
        ("accepted words that are part of others", inside),
        ("a shared word among others", drawn([["Ada", "Lovelace"], ["yen"], ["lovelace", "Byron"], ["Sun"]])),
        *((f"{count} facts", drawn(facts(count), 3)) for count in (5, 7, 9)),
        ("eight facts, two of which share a word", drawn([*facts(6), ["moon"], ["moon", "Luna"]], 2)),
        ("six facts, two of which have the same words", drawn([*facts(4), ["moon"], ["moon"]], 2)),
    ]  # fmt: skip
    return [Case(about, arguments) for about, arguments in inputs]


def accepts(answer, words):
    """Whether one of the words is in the answer as a word of its own, in capitals or not."""
    return any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", answer, re.IGNORECASE) for word in words)


def share_a_word(one, other):
    return bool({word.lower() for word in one} & {word.lower() for word in other})


def by_luck(answers, accepted):
    shares = []
    for answer, own in zip(answers, accepted, strict=True):
        others = [words for words in accepted if not share_a_word(words, own)]
        found = [accepts(answer, words) for words in others]
        shares.append(sum(found) / len(others))
    return shares


BY_LUCK = Exercise(
    "by_luck",
    "a_model_that_writes",
    by_luck_cases,
    by_luck,
    'lesson 12, "What makes it answer?"',
)

OTHERS, FOUND, SHARE = (
    "[words for words in accepted if not share_a_word(words, own)]",
    "[accepts(answer, words) for words in others]",
    "sum(found) / len(others)",
)
OWN = "The words of the fact that was asked about don't count. Finding them is no luck."
BY_LUCK.edit("the fact's own words count, too", OWN, (OTHERS, "accepted"))
BY_LUCK.edit(
    "each answer is compared with its own fact only",
    "That is the grade itself. The control compares with the *other* facts.",
    (OTHERS, "[own]"),
)
SHARED = "If two facts have *seven* among their words, a correct answer to one of them has a word of the other. That is no luck, either."
INDEX = "[words for number, words in enumerate(accepted) if number != len(shares)]"
BY_LUCK.edit("facts that share a word with the own one are counted", SHARED, (OTHERS, INDEX))
BY_LUCK.edit(
    "only facts with exactly the same words are left out",
    f"{SHARED} One shared word is enough.",
    (OTHERS, "[words for words in accepted if words != own]"),
)
BY_LUCK.edit(
    "facts with the same words in another case or order are left out, others that share one are not",
    f"{SHARED} One shared word is enough.",
    (OTHERS, "[words for words in accepted if {w.lower() for w in words} != {w.lower() for w in own}]"),
)
BY_LUCK.edit(
    "shared words are only noticed if their capitals agree",
    "*Mercury* and *mercury* are the same word here. What does `lower()` do?",
    (OTHERS, "[words for words in accepted if not set(words) & set(own)]"),
)
LINKED = "any(share_a_word(words, link) and share_a_word(link, own) for link in accepted)"
BY_LUCK.edit(
    "facts linked only through a third fact are left out",
    "Leave out a fact only if it shares an accepted word with the answer's own fact. A third fact that shares words with both doesn't matter.",
    ("share_a_word(words, own)", LINKED),
)
ENTRY = "A word here is a whole entry of the list. *Carbon dioxide* and *carbon* are two different entries, so they aren't shared."
SPLIT = "share_a_word(' '.join(words).split(), ' '.join(own).split())"
BY_LUCK.edit("accepted words are split at spaces", ENTRY, ("share_a_word(words, own)", SPLIT))
TWO_LISTS = "`accepts` looks for words in an answer. Here two lists are compared. Do they have an entry in common?"
OF_OTHER, OF_OWN = "any(accepts(word, own) for word in words)", "any(accepts(word, words) for word in own)"
for found in (OF_OTHER, OF_OWN, f"({OF_OTHER} or {OF_OWN})"):
    BY_LUCK.edit(
        "a fact is left out if an accepted word is found inside one of the other fact's",
        f"{TWO_LISTS} {ENTRY}",
        ("share_a_word(words, own)", found),
    )
SMALL_IN = "word.lower() in other.lower() for word in {} for other in {}"
for one, other in (("words", "own"), ("own", "words")):
    BY_LUCK.edit(
        "a fact is left out if an accepted word is part of one of the other fact's",
        "With `in`, *ice* is part of *Venice*. They are different words. Compare whole entries.",
        ("share_a_word(words, own)", f"any({SMALL_IN.format(one, other)})"),
    )
BY_LUCK.edit(
    "only the first words are compared",
    "A fact may have several accepted words. Facts share a word if *any* of them is the same.",
    ("share_a_word(words, own)", "share_a_word(words[:1], own[:1])"),
)
BY_LUCK.edit(
    "the answer is compared only with facts that share a word with its own",
    "These are the facts to leave out. Is a `not` missing?",
    ("if not share", "if share"),
)
DIVIDE = "Divide by the number of facts that you compare with. The facts left out don't count."
BY_LUCK.edit("the count is divided by all facts", DIVIDE, ("/ len(others)", "/ len(accepted)"))
BY_LUCK.edit("the count is divided by all facts but one", DIVIDE, ("/ len(others)", "/ (len(accepted) - 1)"))
BY_LUCK.edit(
    "these are counts, not shares",
    "Divide by the number of facts that you compare with.",
    ("sum(found) / len(others)", "sum(found)"),
)
BY_LUCK.edit(
    "an answer counts in full if it has a word of any other fact",
    "A single other fact has only one chance. So take the share of the facts, and not whether there is one at all.",
    (SHARE, "float(any(found))"),
)
BY_LUCK.edit(
    "it is the share of the facts whose words are not found",
    "Which of the facts count, those found or those not found?",
    (SHARE, "1 - sum(found) / len(others)"),
)
BY_LUCK.edit(
    "for each fact, the other answers are counted",
    "Return a number for each *answer*. Which of the two does the outer loop go through?",
    (OTHERS, "[answer for answer, words in zip(answers, accepted, strict=True) if not share_a_word(words, own)]"),
    (FOUND, "[accepts(other, own) for other in others]"),
)
BY_LUCK.edit(
    "one number is returned, the mean over all answers",
    "Return the share of each answer. You need all of them to compare answer by answer.",
    ("return shares", "return sum(shares) / len(shares)"),
)
WORD = "`accepts` looks for words of their own. With `in`, *ice* is found in *price*."
BY_LUCK.edit(
    "parts of words count, too",
    WORD,
    ("accepts(answer, words)", "any(word.lower() in answer.lower() for word in words)"),
)
BY_LUCK.edit(
    "parts of words count, but not in other capitals",
    WORD,
    ("accepts(answer, words)", "any(word in answer for word in words)"),
)
BY_LUCK.edit(
    "an answer in other capitals is not found",
    "`accepts` ignores capitals. ROME and Rome are the same word here.",
    ("accepts(answer, words)", r"any(re.search(rf'(?<!\w){re.escape(word)}(?!\w)', answer) for word in words)"),
)
BY_LUCK.edit(
    "the answer is split at spaces, so that full stops and commas hide words",
    "`Rome,` with its comma isn't `Rome`. Use `accepts`.",
    ("accepts(answer, words)", "bool({word.lower() for word in words} & set(answer.lower().split()))"),
)
ANY = "A fact has several accepted words, and one of them is enough."
BY_LUCK.edit(
    "only the first accepted word of a fact is looked for",
    ANY,
    ("accepts(answer, words)", "accepts(answer, words[:1])"),
)
BY_LUCK.edit(
    "all accepted words of a fact must be there",
    ANY,
    ("accepts(answer, words)", "all(accepts(answer, [word]) for word in words)"),
)
BY_LUCK.edit(
    "words are counted, not facts",
    "A fact with two accepted words counts once. `accepts` gets all words of a fact at once.",
    (FOUND, "[accepts(answer, [word]) for words in others for word in words]"),
    ("/ len(others)", "/ sum(map(len, others))"),
)
BY_LUCK.edit(
    "each answer is compared with one other fact only",
    "Compare with all other facts, so that the share doesn't depend on which one comes next.",
    (OTHERS, "[accepted[(len(shares) + 1) % len(accepted)]]"),
)
BY_LUCK.edit(
    "only facts after the own one are compared",
    "Compare with all other facts, those before and those after.",
    (OTHERS, "[words for words in accepted[len(shares) :] if not share_a_word(words, own)]"),
    ("/ len(others)", "/ max(len(others), 1)"),
)
BY_LUCK.edit(
    "True and False are returned for each fact", "Return one number for each answer, the share.", (SHARE, "found")
)
BY_LUCK.edit(
    "the last answer is missing",
    "Return a number for each answer.",
    ("return shares", "return shares[:-1]"),
)
