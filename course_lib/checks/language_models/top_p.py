"""top_p(p, share): keeps the fewest words that reach the share together, and rescales them to sum to 1."""

import torch

from course_lib.checks.engine import Case, Exercise


def cases(generator: torch.Generator) -> list[Case]:
    def draw(batch: int, size: int, share: float) -> tuple[torch.Tensor, float]:
        """Draws rows in which no sum is close to the share, because nobody should be told wrong over rounding."""
        while True:
            p = (2 * torch.randn(batch, size, generator=generator)).softmax(-1)
            if (p.sort(-1, descending=True).values.cumsum(-1) - share).abs().min() > 1e-3:
                return p, share

    def not_quite_1(batch: int, size: int) -> torch.Tensor:
        """Draws rows whose sum stays below 1 because of rounding, in float32 and in float64."""
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
        ("a share that one word has alone", two, 0.45),
        ("a share that two words reach exactly", halves, 0.75),
        ("a share that one word reaches exactly", halves, 0.5),
        ("a word that is certain", torch.tensor([[0.0, 0.0, 1.0], [0.2, 0.7, 0.1]]), 0.85),
        ("a share of 1", two, 1.0),
        ("a share of 1, and a sum that rounding leaves below it", not_quite_1(3, 12), 1.0),
        ("a share near 0", two, 0.01),
        ("a share that two words narrowly miss", torch.tensor([[0.2995, 0.5, 0.2005]]), 0.8),
        ("equally probable words", torch.tensor([[0.25, 0.25, 0.25, 0.25], [0.1, 0.4, 0.4, 0.1]]), 0.5),
        ("equally probable words that are cut", torch.tensor([[0.125, 0.125, 0.5, 0.125, 0.125]]), 0.75),
        ("a nearly even row, and one that isn't", torch.tensor([[0.21, 0.2, 0.19, 0.18, 0.22], [0.02, 0.9, 0.03, 0.04, 0.01]]), 0.5),
        ("as many rows as words", *draw(4, 4, 0.6)),
        ("three rows of six words", *draw(3, 6, 0.9)),
        ("five rows of three words", *draw(5, 3, 0.7)),
        ("many words", *draw(4, 40, 0.8)),
        ("one row", *draw(1, 7, 0.75)),
        ("float64", draw(2, 5, 0.65)[0].double(), 0.65),
        ("a tensor that isn't contiguous in memory", draw(3, 8, 0.85)[0].T.contiguous().T, 0.85),
    ]  # fmt: skip
    return [Case(about, {"p": p, "share": share}) for about, p, share in inputs]


def right(p, share):
    down, order = p.sort(-1, descending=True)
    before = down.cumsum(-1) - down  # what the more probable words have together
    needed = before < share - 1e-6  # rounding aside
    kept = torch.where(needed, down, 0.0)
    back = torch.zeros_like(p).scatter(-1, order, kept)
    return back / back.sum(-1, keepdim=True)


def drive_top_p(answer, p, share):
    """Sorts the numbers of equally probable words, since it doesn't matter which of them are kept."""
    import torch

    given = answer(p, share)
    if all(len(row.unique()) == len(row) for row in p):
        return given
    try:
        found = torch.as_tensor(given).clone()
    except (TypeError, ValueError, RuntimeError):
        return given
    if found.shape != p.shape or found.is_sparse:
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
        "The word with which the sum reaches the share is kept, too. What is left if the most probable word alone has more than the share?",
        ("before < share - 1e-6", needed),
    )
TOP_P.edit(
    "a word is kept although the words before it reach the share",
    "If two words have exactly the share together, no third one is needed. Is it < or ≤?",
    ("before < share - 1e-6", "before <= share + 1e-6"),
)
TOP_P.edit(
    "it keeps one word too many",
    "The word with which the sum reaches the share is the last one to keep. Is your mask shifted too far?",
    ("before < share - 1e-6", "(before < share - 1e-6).roll(1, -1) | (before == 0)"),
)
TOP_P.edit(
    "it always keeps at least two words",
    "If the most probable word alone reaches the share, only this word is kept. Where does the second one come from?",
    ("before < share - 1e-6", "(before < share - 1e-6) | (torch.arange(p.shape[1]) < 2)"),
)
TOP_P.edit(
    "only one word is kept where rounding leaves the sum below the share",
    "The argmax of a mask that is False everywhere is 0. With a share of 1, all words should stay.",
    (
        "before < share - 1e-6",
        "torch.arange(p.shape[1]) <= (down.cumsum(-1) >= share).int().argmax(-1, keepdim=True)",
    ),
)


@TOP_P.misconception(
    "the loop continues when no word is left",
    "Because of rounding, all words together may have a little less than 1. When should the loop stop?",
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
    "all equally probable words are kept",
    "Of four words with 0.25 each, two are enough for 0.5. A bound on the probability can't tell equal words apart.",
    (
        "torch.where(needed, down, 0.0)",
        "torch.where(down >= torch.where(needed, down, torch.inf).amin(-1, True), down, 0.0)",
    ),
)
TOP_P.edit(
    "a word is left out although the share isn't quite reached",
    "How close to the share do you stop adding words, and why?",
    ("share - 1e-6", "share - 1e-3"),
)
TOP_P.edit(
    "it keeps 1 − share in place of the share",
    "`share` is what you *keep*, not what you cut off.",
    ("share - 1e-6", "1 - share - 1e-6"),
)
TOP_P.edit(
    "it always keeps two words",
    "That is top-k with k = 2. How many words does it take to reach the share in this row?",
    ("before < share - 1e-6", "torch.arange(p.shape[1]) < 2"),
)
TOP_P.edit(
    "it keeps words whose own probability is at least the share",
    "Don't compare each word alone with the share. How much do the most probable words have *together*?",
    ("before < share - 1e-6", "down >= share"),
)
TOP_P.edit(
    "it keeps words that are probable enough on their own",
    "Don't compare each word alone with a bound. How much do the most probable words have *together*?",
    ("before < share - 1e-6", "down >= 1 - share"),
)
TOP_P.edit(
    "it keeps a share of the words",
    "That is top-k. How many words you keep should depend on how the probability is spread over them.",
    ("before < share - 1e-6", "torch.arange(p.shape[1]) < share * p.shape[1]"),
)
TOP_P.edit(
    "all rows keep as many words as the first row",
    "A row that is sure keeps few words, and an unsure one keeps many. Does each row have a cut of its own?",
    ("before < share - 1e-6", "before[:1] < share - 1e-6"),
)


@TOP_P.misconception(
    "all rows keep the words of the first row",
    "Each row has probable words of its own. How many rows does your mask have?",
)
def words_of_the_first(p, share):
    kept = torch.where(right(p[:1], share) > 0, p, 0.0)
    return kept / kept.sum(-1, keepdim=True)


TOP_P.edit(
    "all rows keep as many words as the row that needs most",
    "A row that is sure keeps few words, and an unsure one keeps many. Does each row have a cut of its own?",
    ("before < share - 1e-6", "(before < share - 1e-6).any(0)"),
)
TOP_P.edit(
    "the numbers stay in sorted order",
    "Each column belongs to a word. After sorting, the numbers must go back to their columns.",
    ("torch.zeros_like(p).scatter(-1, order, kept)", "kept"),
)
TOP_P.edit(
    "the sorting is applied once more, not undone",
    "`order` says *from where* each sorted number came. `gather` reads from there. Which operation writes there?",
    ("torch.zeros_like(p).scatter(-1, order, kept)", "kept.gather(-1, order)"),
)
TOP_P.edit(
    "the mask of the sorted words is used on the unsorted words",
    "Position i of the sorted row is another word than position i of p. So the mask must go back to the order of p.",
    ("torch.zeros_like(p).scatter(-1, order, kept)", "torch.where(needed, p, 0.0)"),
)
TOP_P.edit(
    "it keeps the least probable words",
    "torch.sort goes from small to large, unless you say otherwise.",
    ("p.sort(-1, descending=True)", "p.sort(-1)"),
)
TOP_P.edit(
    "the words are added up unsorted",
    "You want the fewest words that reach the share. In which order must they be added up?",
    ("p.sort(-1, descending=True)", "p, torch.arange(p.shape[1]).expand_as(p)"),
)
for divided in ("back.sum(-1", "back.sum(0"):
    TOP_P.edit(
        "the sum runs over the batch, not over the words",
        "Each row is a distribution of its own. Along which axis are its words?",
        ("p.sort(-1", "p.sort(0"),
        ("down.cumsum(-1)", "down.cumsum(0)"),
        ("scatter(-1", "scatter(0"),
        ("back.sum(-1", divided),
    )
TOP_P.edit(
    "all words are kept",
    "Nothing has been cut. Where do you use the share?",
    ("back / back.sum(-1, keepdim=True)", "p"),
)
TOP_P.edit(
    "it takes a softmax of p first",
    "p already holds probabilities, and a softmax is for logits.",
    ("p.sort", "p.softmax(-1).sort"),
)
TOP_P.edit(
    "it keeps the other words",
    "Your function keeps the improbable tail, which it should cut.",
    ("torch.where(needed", "torch.where(~needed"),
)
TOP_P.edit(
    "the probabilities that are kept don't sum to 1",
    "In the end one word is drawn, so the probabilities of a row must sum to 1 again.",
    ("back / back.sum(-1, keepdim=True)", "back"),
)
TOP_P.edit(
    "it divides by the share, not by the sum of what is kept",
    "The words that are kept have *at least* the share together, and mostly more. What must you divide by to get a sum of 1?",
    ("back.sum(-1, keepdim=True)", "share"),
)
TOP_P.edit(
    "it divides by the sum of all rows",
    "Each row must sum to 1. Along which axis do you take the sum?",
    ("sum(-1, keepdim=True)", "sum()"),
)
TOP_P.edit(
    "it divides by the sums of the columns",
    "Each row must sum to 1. Along which axis do you take the sum?",
    ("back / back.sum(-1, keepdim=True)", "(back / back.sum(0)).nan_to_num()"),
)
TOP_P.edit(
    "it takes a softmax of what is kept",
    "These are probabilities, not logits. What does a softmax make of the words with probability 0?",
    ("back / back.sum(-1, keepdim=True)", "back.softmax(-1)"),
)
TOP_P.edit(
    "it takes a softmax of what is kept",
    "These are probabilities, not logits. How can they sum to 1 and keep their ratios?",
    ("back / back.sum(-1, keepdim=True)", "back.masked_fill(back == 0, -torch.inf).softmax(-1)"),
)
TOP_P.edit(
    "it returns a mask",
    "It keeps the right words. But their probabilities are wanted, rescaled to sum to 1.",
    ("back / back.sum(-1, keepdim=True)", "back > 0"),
)
TOP_P.edit(
    "all words that are kept get the same probability",
    "Among the words that are kept, a more probable word must stay more probable.",
    ("back / back.sum(-1, keepdim=True)", "(back > 0) / (back > 0).sum(-1, keepdim=True)"),
)
