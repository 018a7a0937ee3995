"""`lens(states, gain, output, centred)`: the logits that a middle state would have if the model ended there."""

import torch

from course_lib.checks.engine import Case, Exercise


def lens_cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    def given(prompts: int, d: int, words: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """States that have something in common, as those of a layer do."""
        return draw(prompts, d) + 2 * draw(d), draw(d).abs() + 0.5, draw(words, d)

    by_hand = torch.tensor([[3.0, 1.0], [1.0, 3.0]]), torch.ones(2), torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    large, gain, output = given(4, 3, 5)
    small, *weights = given(3, 4, 5)
    strided = given(4, 6, 5)
    strided = strided[0].T.contiguous().T, strided[1], strided[2].T.contiguous().T
    inputs = [
        ("the two states of the text", *by_hand, False),
        ("the same, with the mean removed", *by_hand, True),
        ("three states", *given(3, 4, 5), False),
        ("three states, with the mean removed", *given(3, 4, 5), True),
        ("as many states as numbers in a state", *given(4, 4, 4), True),
        ("as many words as numbers in a state", *given(3, 5, 5), False),
        ("large states", 100 * large, gain, output, False),
        ("large states, with the mean removed", 100 * large, gain, output, True),
        ("small states", 0.01 * small, *weights, False),
        ("a single state", *given(1, 4, 6), False),
        ("a single state, with the mean removed", *given(1, 4, 6), True),
        ("float64", *(one.double() for one in given(5, 3, 4)), True),
        ("tensors that are not contiguous in memory", *strided, True),
        ("the same, without the mean removed", *strided, False),
    ]
    return [
        Case(about, dict(zip(("states", "gain", "output", "centred"), given, strict=True))) for about, *given in inputs
    ]


def lens(states, gain, output, centred):
    common = states.mean(0) if centred else 0.0
    x = states - common
    square = x.square().mean(-1, keepdim=True)
    normed = x / (square + 1e-5).sqrt()
    scaled = normed * gain
    return scaled @ output.T


LENS = Exercise(
    "lens",
    "opened_up",
    lens_cases,
    lens,
    'lesson 13, "Looking without moving"; glossary.show("logit lens")',
)

COMMON, SQUARE, ROOT, SCALED, OUT = (
    "states.mean(0) if centred else 0.0",
    "x.square().mean(-1, keepdim=True)",
    "x / (square + 1e-5).sqrt()",
    "normed * gain",
    "scaled @ output.T",
)
NORM = "The output matrix has only ever read states that came through the last norm. What does a state ten times as long give?"
LENS.edit("the norm is left out", NORM, (SCALED, "x"))
LENS.edit("the norm is left out, except for the gain", NORM, (SCALED, "x * gain"))
LENS.edit(
    "the norm comes after the output matrix",
    "The last norm is applied to a *state*, with its d numbers. The logits come after it.",
    (SCALED, "x * gain"),
    (OUT, "(scaled @ output.T) / ((scaled @ output.T).square().mean(-1, keepdim=True) + 1e-5).sqrt()"),
)
LENS.edit("the gain is left out", "RMSNorm multiplies each number of the state by its own gain.", (SCALED, "normed"))
LENS.edit("the state is divided by the gain", "RMSNorm *multiplies* by the gain.", (SCALED, "normed / gain"))
LENS.edit(
    "the gain is applied before the norm, too",
    "First divide by the root mean square of the state itself, then multiply by the gain.",
    (SQUARE, "(x * gain).square().mean(-1, keepdim=True)"),
)
LENS.edit(
    "it is LayerNorm, not RMSNorm",
    "RMSNorm subtracts no mean of the state's own numbers.",
    (SQUARE, "x.var(-1, keepdim=True, correction=0)"),
    (ROOT, "(x - x.mean(-1, keepdim=True)) / (square + 1e-5).sqrt()"),
)
for correction in (0, 1):
    LENS.edit(
        "the standard deviation comes in place of the root of the mean square",
        "A standard deviation first subtracts the mean of the state's own numbers. RMSNorm doesn't.",
        (SQUARE, f"x.var(-1, keepdim=True, correction={correction})"),
    )
LENS.edit(
    "the mean is squared, not the numbers",
    "In mean(x²), each number is squared first. What does the mean of 1 and −1 give?",
    (SQUARE, "x.mean(-1, keepdim=True).square()"),
)
LENS.edit(
    "the norm divides by the size that the state had with the mean",
    "First remove the mean, then apply the norm to what is left. Which of the two goes into the squares?",
    (SQUARE, "states.square().mean(-1, keepdim=True)"),
)
SUM = "x.square().sum(-1, keepdim=True)"
LENGTH = "the states get the length 1", "The *mean* of the squares becomes 1, not their sum."
LENS.edit(*LENGTH, (SQUARE, SUM))
LENS.edit(*LENGTH, (SQUARE, SUM), (ROOT, "x / (square.sqrt() + 1e-5)"))
LENS.edit(*LENGTH, (SQUARE, SUM), (ROOT, "x / square.sqrt().clamp(min=1e-12)"))
LENS.edit("the root is missing", "Divide by the *root* of the mean square.", (ROOT, "x / (square + 1e-5)"))
OWN = "Each state has a size of its own. Over which axis do you take the mean of the squares?"
LENS.edit("the mean of the squares is taken over the prompts", OWN, (SQUARE, "x.square().mean(0, keepdim=True)"))
LENS.edit("one size is computed for all states", OWN, (SQUARE, "x.square().mean()"))
EPSILON = "Where is ε in the formula? Without it, a state of zeros becomes NaN, since 0 is divided by 0."
LENS.edit("ε is left out", EPSILON, (ROOT, "x / square.sqrt()"))
LENS.edit("ε is outside the root", "Where is ε in the formula?", (ROOT, "x / (square.sqrt() + 1e-5)"))
LENS.edit("ε isn't 0.00001", "Count the zeros.", (ROOT, "x / (square + 1e-6).sqrt()"))
COMMON_PART = "What all *prompts* have in common goes: one vector of d numbers. Over which axis is its mean?"
LENS.edit(
    "the mean is taken over each state's own numbers",
    COMMON_PART,
    (COMMON, "states.mean(-1, keepdim=True) if centred else 0.0"),
)
LENS.edit("the mean is one number over everything", COMMON_PART, (COMMON, "states.mean() if centred else 0.0"))
EARLY = "The mean of the *states* is removed, before the norm. So the norm sees only what differs between the prompts. If you subtract a mean after the norm, or from the logits, it comes too late. The lesson's lens removes it after the norm, but here it comes first."
LENS.edit(
    "the mean is removed after the norm",
    EARLY,
    ("x = states - common", "x = states"),
    (SCALED, "(normed - normed.mean(0) if centred else normed) * gain"),
)
LENS.edit(
    "the mean is removed in both cases",
    "If `centred` is False, the states stay as they are.",
    (COMMON, "states.mean(0)"),
)
LENS.edit("the mean is never removed", "If `centred` is True, what do the states lose first?", (COMMON, "0.0"))
LENS.edit("the two cases are exchanged", "If `centred` is True, the mean is removed.", ("if centred", "if not centred"))
LENS.edit(
    "only the mean is used, not what differs",
    "The mean is subtracted. What is left says what this prompt has and the others don't.",
    ("x = states - common", "x = states.mean(0).expand_as(states) if centred else states"),
)
LENS.edit("the mean is added", "The mean is subtracted.", ("states - common", "states + common"))
LOGITS = "Return logits, which may be any numbers. The order of the words is the same with a softmax, but their distances aren't."
LENS.edit("probabilities are returned, not logits", LOGITS, (OUT, "(scaled @ output.T).softmax(-1)"))
LENS.edit("logarithms of probabilities are returned, not logits", LOGITS, (OUT, "(scaled @ output.T).log_softmax(-1)"))
LENS.edit("the softmax is taken over the prompts", LOGITS, (OUT, "(scaled @ output.T).softmax(0)"))
LENS.edit(
    "the most probable words are returned", "Return the logits of all words.", (OUT, "(scaled @ output.T).argmax(-1)")
)
LENS.edit(
    "words are the rows, and prompts the columns",
    "Return a row for each state, with a logit for each word.",
    (OUT, "output @ scaled.T"),
)
LENS.edit(
    "the output matrix isn't transposed",
    "`output` has a row for each word, with d numbers. Each logit is a dot product with one row.",
    (OUT, "scaled @ output"),
)
LENS.edit("the output matrix is left out", "The state becomes logits, one for each word.", (OUT, "scaled"))
