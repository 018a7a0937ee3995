"""top_p(p, share): keeps the fewest words that have the share of the probability together, at a sum of 1."""

import torch

from course_lib.checks.engine import Case, Exercise


def cases(generator: torch.Generator) -> list[Case]:
    def draw(batch: int, size: int, share: float) -> tuple[torch.Tensor, float]:
        """Rows in which the share is not just reached: what rounding decides, nobody should be told is wrong."""
        while True:
            p = (2 * torch.randn(batch, size, generator=generator)).softmax(-1)
            if (p.sort(-1, descending=True).values.cumsum(-1) - share).abs().min() > 1e-3:
                return p, share

    def not_quite_1(batch: int, size: int) -> torch.Tensor:
        """Rows whose sum stays below 1 by rounding, in float32 as in float64."""
        rows = []
        while len(rows) < batch:
            p = torch.randn(size, generator=generator).softmax(-1)
            if p.sort(descending=True).values.cumsum(-1)[-1] < 1 and sum(p.tolist()) < 1:
                rows.append(p)
        return torch.stack(rows)

    two = torch.tensor([[0.1, 0.5, 0.15, 0.25], [0.6, 0.06, 0.3, 0.04]])
    halves = torch.tensor([[0.1875, 0.5, 0.0625, 0.25], [0.25, 0.0625, 0.1875, 0.5]])
    inputs = [
        ("two rows, a share of 0.7", two, 0.7),
        ("a share of 0.8", two, 0.8),
        ("a share that the first word has already", two, 0.45),
        ("a share that is just reached by two words", halves, 0.75),
        ("a share that one word just has", halves, 0.5),
        ("a word that is certain", torch.tensor([[0.0, 0.0, 1.0], [0.2, 0.7, 0.1]]), 0.85),
        ("a share of 1", two, 1.0),
        ("a share of 1, and a sum that rounding leaves below it", not_quite_1(3, 12), 1.0),
        ("a share near 0", two, 0.01),
        ("a share that two words miss by little", torch.tensor([[0.2995, 0.5, 0.2005]]), 0.8),
        ("words that are equally likely", torch.tensor([[0.25, 0.25, 0.25, 0.25], [0.1, 0.4, 0.4, 0.1]]), 0.5),
        ("equally likely words that are cut", torch.tensor([[0.125, 0.125, 0.5, 0.125, 0.125]]), 0.75),
        ("a row that is nearly even, and one that is not", torch.tensor([[0.21, 0.2, 0.19, 0.18, 0.22], [0.02, 0.9, 0.03, 0.04, 0.01]]), 0.5),
        ("as many rows as words", *draw(4, 4, 0.6)),
        ("three rows of six words", *draw(3, 6, 0.9)),
        ("five rows of three words", *draw(5, 3, 0.7)),
        ("many words", *draw(4, 40, 0.8)),
        ("one row", *draw(1, 7, 0.75)),
        ("float64", draw(2, 5, 0.65)[0].double(), 0.65),
        ("numbers that do not lie in order in memory", draw(3, 8, 0.85)[0].T.contiguous().T, 0.85),
    ]  # fmt: skip
    return [Case(about, {"p": p, "share": share}) for about, p, share in inputs]


def right(p, share):
    down, order = p.sort(-1, descending=True)
    before = down.cumsum(-1) - down  # what the likelier words have together
    needed = before < share - 1e-6  # but for rounding
    kept = torch.where(needed, down, 0.0)
    back = torch.zeros_like(p).scatter(-1, order, kept)
    return back / back.sum(-1, keepdim=True)


def drive_top_p(answer, p, share):
    """Which of equally likely words is kept does not matter: their numbers are put in order."""
    import torch

    given = answer(p, share)
    if all(len(row.unique()) == len(row) for row in p):
        return given
    try:
        found = torch.as_tensor(given).clone()
    except (TypeError, ValueError, RuntimeError):
        return given
    if found.shape != p.shape:
        return given
    for row, new in zip(p, found, strict=True):
        for value in row.unique():
            new[row == value] = new[row == value].sort(descending=True).values
    return found


TOP_P = Exercise(
    "top_p",
    "language_models",
    cases,
    right,
    'lesson 8, "Sampling a token"; glossary.show("nucleus sampling")',
    drive_top_p,
    banned=("course_lib.decoding",),
)

for needed in (
    "before + down <= share + 1e-6",
    "before + down < share - 1e-6",
    "down.cumsum(-1) < share",
    "(before + down <= share + 1e-6) | (before == 0)",
):
    TOP_P.edit(
        "the word that crosses the share is left out",
        "The word with which the share is reached is kept, too. What is left if the likeliest word alone has more?",
        ("before < share - 1e-6", needed),
    )
TOP_P.edit(
    "a word is kept although the share is reached before it",
    "If two words have just the share together, no third is needed: < or ≤?",
    ("before < share - 1e-6", "before <= share + 1e-6"),
)
TOP_P.edit(
    "one word too many is kept",
    "The word with which the share is reached is the last. Is the order moved on by two?",
    ("before < share - 1e-6", "(before < share - 1e-6).roll(1, -1) | (before == 0)"),
)
TOP_P.edit(
    "at least two words are kept",
    "If the likeliest word has the share alone, it stays alone. Where do two come from?",
    ("before < share - 1e-6", "(before < share - 1e-6) | (torch.arange(p.shape[1]) < 2)"),
)
TOP_P.edit(
    "where rounding leaves the sum below the share, one word alone is kept",
    "argmax of a mask that is False everywhere is 0. With a share of 1 all words should stay.",
    (
        "before < share - 1e-6",
        "torch.arange(p.shape[1]) <= (down.cumsum(-1) >= share).int().argmax(-1, keepdim=True)",
    ),
)


@TOP_P.misconception(
    "the loop goes on when no word is left",
    "By rounding, all words together may have a little less than a share of 1. Until when should the loop go on?",
)
def popping(p, share):
    kept = torch.zeros_like(p)
    for row, new in zip(p, kept, strict=True):
        words, reached = row.argsort(descending=True).tolist(), 0.0
        while reached < share:
            word = words.pop(0)
            new[word], reached = row[word], reached + row[word].item()
    return kept / kept.sum(-1, keepdim=True)


TOP_P.edit(
    "of equally likely words all are kept",
    "As *few* as reach the share: of four words of 0.25 two have 0.5. A bound on the probability cannot tell them apart.",
    (
        "torch.where(needed, down, 0.0)",
        "torch.where(down >= torch.where(needed, down, torch.inf).amin(-1, True), down, 0.0)",
    ),
)
TOP_P.edit(
    "a word is left out although the share is not quite reached",
    "How much is taken from the share, and why?",
    ("share - 1e-6", "share - 1e-3"),
)
TOP_P.edit(
    "the share is taken from 1",
    "`share` is what is *kept*, not what is cut off.",
    ("share - 1e-6", "1 - share - 1e-6"),
)
TOP_P.edit(
    "always two words are kept",
    "That is a top-k with k = 2. How many words have the share together, in this row?",
    ("before < share - 1e-6", "torch.arange(p.shape[1]) < 2"),
)
TOP_P.edit(
    "it keeps words whose own probability is as large as the share",
    "Not each word alone is compared with the share, but what the likeliest words have *together*.",
    ("before < share - 1e-6", "down >= share"),
)
TOP_P.edit(
    "it keeps words that are likely enough alone",
    "Not each word alone is compared with a bound, but what the likeliest words have *together*.",
    ("before < share - 1e-6", "down >= 1 - share"),
)
TOP_P.edit(
    "it keeps a share of the words",
    "That is a top-k. How many words are kept should depend on how the probability is spread over them.",
    ("before < share - 1e-6", "torch.arange(p.shape[1]) < share * p.shape[1]"),
)
TOP_P.edit(
    "all rows are cut where the first row is",
    "A sure row keeps few words and an unsure one many. How many rows does your cut look at?",
    ("before < share - 1e-6", "before[:1] < share - 1e-6"),
)


@TOP_P.misconception(
    "all rows keep the words of the first row",
    "Each row has likely words of its own. How many rows does your mask have?",
)
def words_of_the_first(p, share):
    kept = torch.where(right(p[:1], share) > 0, p, 0.0)
    return kept / kept.sum(-1, keepdim=True)


TOP_P.edit(
    "all rows keep as many words as the row that keeps most",
    "A sure row keeps few words and an unsure one many. How many rows does your cut look at?",
    ("before < share - 1e-6", "(before < share - 1e-6).any(0)"),
)
TOP_P.edit(
    "the numbers stay in the order of sorting",
    "A column stands for a word. After sorting they must go back to where they were.",
    ("torch.zeros_like(p).scatter(-1, order, kept)", "kept"),
)
TOP_P.edit(
    "the numbers are put back by the order of sorting, not by its inverse",
    "order[i] says *from where* the i-th came. `gather(order)` reads from there; which operation writes to there?",
    ("torch.zeros_like(p).scatter(-1, order, kept)", "kept.gather(-1, order)"),
)
TOP_P.edit(
    "a mask of the sorted words is used on the words as they stand",
    "Place i of the sorted row is another word than place i of p: the mask has to go back to where the words stand.",
    ("torch.zeros_like(p).scatter(-1, order, kept)", "torch.where(needed, p, 0.0)"),
)
TOP_P.edit(
    "the least likely words are kept",
    "torch.sort goes from small to large, unless told otherwise.",
    ("p.sort(-1, descending=True)", "p.sort(-1)"),
)
TOP_P.edit(
    "the sum runs through the words as they stand, not from the likeliest on",
    "The fewest words that reach the share are wanted. In which order must they be added up?",
    ("p.sort(-1, descending=True)", "p, torch.arange(p.shape[1]).expand_as(p)"),
)
for divided in ("back.sum(-1", "back.sum(0"):
    TOP_P.edit(
        "the sum runs down the batch",
        "Each row is a distribution of its own. Along which axis do its words stand?",
        ("p.sort(-1", "p.sort(0"),
        ("down.cumsum(-1)", "down.cumsum(0)"),
        ("scatter(-1", "scatter(0"),
        ("back.sum(-1", divided),
    )
TOP_P.edit(
    "all words are kept",
    "Nothing has been cut. Where is the share used?",
    ("back / back.sum(-1, keepdim=True)", "p"),
)
TOP_P.edit(
    "a softmax runs over p first",
    "p holds probabilities already; a softmax is for logits.",
    ("p.sort", "p.softmax(-1).sort"),
)
TOP_P.edit(
    "the other words are kept",
    "Yours keeps the unlikely tail, and that is what should go.",
    ("torch.where(needed", "torch.where(~needed"),
)
TOP_P.edit(
    "what is kept does not sum to 1",
    "One word is drawn in the end: the probabilities of the rest must sum to 1 again.",
    ("back / back.sum(-1, keepdim=True)", "back"),
)
TOP_P.edit(
    "it is divided by the share, not by what is kept",
    "The words that are kept have *at least* the share together, mostly more. By what must be divided for a sum of 1?",
    ("back.sum(-1, keepdim=True)", "share"),
)
TOP_P.edit(
    "it is divided by the sum of all rows",
    "Each row must sum to 1. Along which axis is the sum taken?",
    ("sum(-1, keepdim=True)", "sum()"),
)
TOP_P.edit(
    "it is divided by the sums of the columns",
    "Each row must sum to 1. Along which axis is the sum taken?",
    ("back / back.sum(-1, keepdim=True)", "(back / back.sum(0)).nan_to_num()"),
)
TOP_P.edit(
    "a softmax runs over what is kept",
    "These are probabilities, not logits: they need only be divided. (A softmax would give words of probability 0 some.)",
    ("back / back.sum(-1, keepdim=True)", "back.softmax(-1)"),
)
TOP_P.edit(
    "a softmax runs over what is kept",
    "These are probabilities, not logits: they need only be divided by their sum.",
    ("back / back.sum(-1, keepdim=True)", "back.masked_fill(back == 0, -torch.inf).softmax(-1)"),
)
TOP_P.edit(
    "this is a mask",
    "Which words are kept is right. Wanted are their probabilities, divided so that they sum to 1.",
    ("back / back.sum(-1, keepdim=True)", "back > 0"),
)
TOP_P.edit(
    "all that are kept are equally likely",
    "Among the words that are kept the likelier stays the likelier.",
    ("back / back.sum(-1, keepdim=True)", "(back > 0) / (back > 0).sum(-1, keepdim=True)"),
)
