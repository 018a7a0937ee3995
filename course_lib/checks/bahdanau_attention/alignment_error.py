"""alignment_error(proposed, sure, possible): the alignment error rate of all sentences together, from sets of links."""

import torch

from course_lib.checks.engine import Case, Exercise


def cases(generator: torch.Generator) -> list[Case]:
    def draw(chance):
        kept = torch.rand(5, 6, generator=generator) < chance
        return kept.nonzero().tolist()

    def sentence():
        sure = draw(0.2) or [[0, 0]]
        # Some gold links are proposed, so that there are hits.
        possible = sure + [link for link in draw(0.2) if link not in sure]
        kept = torch.rand(len(possible), generator=generator) < 0.6
        proposed = [link for link, keep in zip(possible, kept.tolist(), strict=True) if keep]
        return proposed + [link for link in draw(0.1) if link not in possible], sure, possible

    cat = [[0, 0], [1, 2], [2, 1]]
    inputs = [
        ("one link, found", [([[0, 0]], [[0, 0]], [[0, 0]])]),
        ("one link, missed", [([[0, 1]], [[0, 0]], [[0, 0]])]),
        ("the black cat, one of three found", [([[0, 2], [1, 2], [2, 2]], cat, cat)]),
        ("a possible link is proposed", [([[0, 0], [1, 1]], [[0, 0]], [[0, 0], [1, 1]])]),
        ("nothing is proposed", [([], cat, cat)]),
        ("a short sentence and a longer one", [([[0, 0]], [[0, 0]], [[0, 0]]), ([[0, 2], [1, 2], [2, 2]], cat, cat)]),
        ("a sentence without sure links, and another sentence", [([[0, 0], [1, 0]], [], [[0, 0]]), (cat, cat, cat)]),
        ("a sentence for which nothing is proposed, and another sentence", [([], cat, cat), (cat, cat, cat)]),
        ("a sentence without any gold links, and another sentence", [([[0, 0]], [], []), (cat, cat, cat)]),
        *(
            (f"{told} drawn at random", [sentence() for _ in range(count)])
            for count, told in ((1, "one sentence"), (2, "two sentences"), (5, "five sentences"))
        ),
    ]
    return [
        Case(about, dict(zip(("proposed", "sure", "possible"), map(list, zip(*pairs, strict=True)), strict=True)))
        for about, pairs in inputs
    ]


def right(proposed, sure, possible):
    sentences = list(zip(proposed, sure, possible, strict=True))
    a = sum(len(A) for A, S, P in sentences)
    s = sum(len(S) for A, S, P in sentences)
    a_s = sum(len(A & S) for A, S, P in sentences)
    a_p = sum(len(A & P) for A, S, P in sentences)
    return 1 - (a_s + a_p) / (a + s)


def drive(answer, proposed, sure, possible):
    """Passes the links of each sentence as a set of pairs. If the answer changes a set, the list that came in is emptied."""
    given = proposed, sure, possible
    links = [[set(map(tuple, of_one)) for of_one in one] for one in given]
    before = [list(map(set, one)) for one in links]
    result = answer(*links)
    for one, now, then in zip(given, links, before, strict=True):
        if now != then:
            one.clear()
    return result


ALIGNMENT_ERROR = Exercise(
    "alignment_error",
    "bahdanau_attention",
    cases,
    right,
    'lesson 2, "How far from the gold links?"; glossary.show("alignment error rate")',
    drive,
    banned=("course_lib.metrics.alignment_error_rate",),
)

RATE = "1 - (a_s + a_p) / (a + s)"

ALIGNMENT_ERROR.edit(
    "that is the share of hits, not of errors",
    "If every link is found, the rate is 0. What is yours then?",
    (RATE, "(a_s + a_p) / (a + s)"),
)


@ALIGNMENT_ERROR.misconception(
    "each sentence counts equally, whatever its length",
    "Yours is the mean of the sentences' own rates. Count the links of all sentences first, and divide once.",
)
def mean_of_rates(proposed, sure, possible):
    rates = [right([A], [S], [P]) for A, S, P in zip(proposed, sure, possible, strict=True)]
    return sum(rates) / len(rates)


@ALIGNMENT_ERROR.misconception(
    "links of different sentences are mixed up",
    "The link (0, 0) of one sentence isn't the link (0, 0) of another. Compare the sets sentence by sentence.",
)
def all_in_one(proposed, sure, possible):
    return right(*([set().union(*links)] for links in (proposed, sure, possible)))


ALIGNMENT_ERROR.edit(
    "a sure link counts once, not twice",
    "P contains S. In how many of the two intersections is a sure link that is proposed?",
    (RATE, "1 - a_p / (a + s)"),
)
ALIGNMENT_ERROR.edit(
    "links that are only possible count as mistakes",
    "Proposing a possible link is no mistake. Which of the two intersections counts it?",
    (RATE, "1 - 2 * a_s / (a + s)"),
)
ALIGNMENT_ERROR.edit(
    "the possible links are in the divisor",
    "A possible link needn't be found. Which two sets are below the line of the fraction?",
    ("len(S)", "len(P)"),
)
ALIGNMENT_ERROR.edit(
    "only the sure links that were found count",
    "Your rate says how many sure links were missed. Wrong links that were proposed must cost something, too.",
    (RATE, "1 - a_s / s"),
)
ALIGNMENT_ERROR.edit(
    "it raises an error when no link is proposed",
    "Every set A may be empty. What do you divide by then?",
    (RATE, "1 - a_p / a"),
)
for empty in (0.0, 1.0):
    ALIGNMENT_ERROR.edit(
        "only the proposed links are judged",
        "Your rate says how many links of A are wrong. Sure links that were missed must cost something, too.",
        (RATE, f"1 - a_p / a if a else {empty}"),
    )
for rate in ("1 - a_s + a_p / (a + s)", "1 - (a_s + a_p) / a + s"):
    ALIGNMENT_ERROR.edit(
        "a pair of brackets is missing",
        "Python divides before it adds. What should be divided, and by what? Put brackets around each of the two.",
        (RATE, rate),
    )
ALIGNMENT_ERROR.edit(
    "sentences without sure links are left out",
    "A sentence may have no sure links. The links that are proposed for it still count in |A|.",
    (
        "list(zip(proposed, sure, possible, strict=True))",
        "[links for links in zip(proposed, sure, possible, strict=True) if links[1]]",
    ),
)
