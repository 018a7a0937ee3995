"""masked_loss(logits, words, mask): the mean cross-entropy of the next tokens, over the positions where both tokens exist."""

import torch
from torch.nn import functional as F

from course_lib.checks.engine import Case, Exercise


def cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    def some(texts: int, n: int, size: int) -> tuple[torch.Tensor, torch.Tensor]:
        return 2 * draw(texts, n, size), torch.randint(size, (texts, n), generator=generator)

    def padding_last(n: int, *lengths: int) -> torch.Tensor:
        return torch.arange(n) < torch.tensor(lengths)[:, None]

    def padding_first(n: int, *lengths: int) -> torch.Tensor:
        return padding_last(n, *lengths).flip(1)

    two = torch.tensor([[[0.0, 1, 2, 0], [3, 0, 0, 1], [1, 1, 2, 0]], [[2, 0, 1, 0], [0, 2, 0, 1], [1, 0, 3, 0]]])
    unsure = two.clone()
    unsure[0, 0] = 0
    sure = 200 * F.one_hot(torch.tensor([[1, 2, 1], [3, 3, 0]]), 5).float()
    inputs = [
        ("two texts of three tokens", two, torch.tensor([[1, 2, 0], [3, 1, 1]]), padding_last(3, 3, 3)),
        ("a position whose logits are all 0", unsure, torch.tensor([[1, 2, 0], [3, 1, 1]]), padding_last(3, 3, 3)),
        ("padding after the second text", two, torch.tensor([[1, 2, 0], [3, 1, 0]]), padding_last(3, 3, 2)),
        ("padding before the second text", two, torch.tensor([[1, 2, 0], [0, 3, 1]]), padding_first(3, 3, 2)),
        ("texts of different lengths", *some(3, 5, 7), padding_last(5, 5, 2, 3)),
        ("texts of different lengths, padding first", *some(3, 5, 7), padding_first(5, 2, 5, 4)),
        ("padding before one text and after another", *some(2, 6, 4), torch.cat([padding_first(6, 4), padding_last(6, 5)])),
        ("padding between two tokens", *some(2, 7, 5), ~F.one_hot(torch.tensor([2, 4]), 7).bool()),
        ("a text of one token", *some(3, 4, 6), padding_last(4, 4, 1, 2)),
        ("a text of one token, padding first", *some(2, 4, 6), padding_first(4, 1, 3)),
        ("as many positions as tokens in the vocabulary", *some(2, 6, 6), padding_last(6, 6, 4)),
        ("logits + 100", draw(2, 4, 5) + 100, some(2, 4, 5)[1], padding_last(4, 4, 3)),
        ("a model that is very sure, and wrong", sure, torch.tensor([[1, 1, 2], [0, 0, 4]]), padding_last(3, 3, 3)),
        ("float64", draw(2, 4, 5).double(), some(2, 4, 5)[1], padding_last(4, 3, 4)),
        ("logits that aren't contiguous in memory", draw(5, 4, 3).permute(2, 1, 0), some(3, 4, 5)[1], padding_last(4, 4, 2, 3)),
        ("one text", *some(1, 5, 3), padding_last(5, 4)),
        ("logits with a gradient, as in training", some(2, 4, 5)[0].requires_grad_(), some(2, 4, 5)[1], padding_last(4, 4, 3)),
    ]  # fmt: skip
    return [Case(about, dict(zip(("logits", "words", "mask"), given, strict=True))) for about, *given in inputs]


def right(logits, words, mask):
    read, asked = logits[:, :-1], words[:, 1:]
    counted = mask[:, :-1] & mask[:, 1:]
    log_p = read.log_softmax(-1)
    loss = F.nll_loss(log_p.mT, asked, reduction="none")  # (batch, n - 1)
    return loss[counted].mean()


def drive_loss(answer, logits, words, mask):
    try:
        loss = answer(logits, words, mask)
    except RuntimeError as error:
        if "requires grad" not in str(error):  # NumPy takes no tensor with a gradient
            raise
        loss = None
    if logits.requires_grad and not getattr(loss, "requires_grad", False):
        return "a number that sends no gradient back"
    return loss


MASKED_LOSS = Exercise(
    "masked_loss",
    "language_models",
    cases,
    right,
    'lesson 8, "All predictions in one pass"; glossary.show("cross-entropy")',
    drive_loss,
)

MASKED_LOSS.edit(
    "it can't be used for training",
    "The number is correct. But training needs a tensor that sends a gradient back to the logits, "
    "so use no .item() or float(), no NumPy and no torch.no_grad().",
    (".mean()", ".mean().item()"),
)
MASKED_LOSS.edit(
    "the tokens are not shifted",
    "Each position predicts the token that has just been read there. Which one should it predict?",
    ("logits[:, :-1], words[:, 1:]", "logits, words"),
    ("mask[:, :-1] & mask[:, 1:]", "mask"),
)
MASKED_LOSS.edit(
    "the shift goes the wrong way",
    "Each position predicts the token before it. In which direction does a text continue?",
    ("logits[:, :-1], words[:, 1:]", "logits[:, 1:], words[:, :-1]"),
)
MASKED_LOSS.edit(
    "the tokens are shifted twice",
    "Each position predicts the token after the next. Has something already been shifted?",
    ("logits[:, :-1], words[:, 1:]", "logits[:, :-2], words[:, 2:]"),
    ("mask[:, :-1] & mask[:, 1:]", "mask[:, :-2] & mask[:, 2:]"),
)
MASKED_LOSS.edit(
    "padding is counted",
    "A model needn't learn to predict padding. Where do you use the mask?",
    ("loss[counted]", "loss"),
)
MASKED_LOSS.edit(
    "padding counts as a token to predict",
    "The last token of a text exists, but what follows it is padding. What does the mask say about the token to predict?",
    ("mask[:, :-1] & mask[:, 1:]", "mask[:, :-1]"),
)
MASKED_LOSS.edit(
    "a position counts although padding is read there",
    "Padding may come first. Then nothing has been read when the first token comes. Which two tokens must exist?",
    ("mask[:, :-1] & mask[:, 1:]", "mask[:, 1:]"),
)
for turned in ("~mask[:, :-1] | ~mask[:, 1:]", "~mask[:, 1:]", "~mask[:, :-1] & ~mask[:, 1:]"):
    MASKED_LOSS.edit(
        "the mask is inverted",
        "In the mask, True marks a token.",
        ("mask[:, :-1] & mask[:, 1:]", turned),
    )
MASKED_LOSS.edit(
    "a position counts if only one of its two tokens exists",
    "A position needs two tokens, the one that is read *and* the one to predict.",
    ("mask[:, :-1] & mask[:, 1:]", "mask[:, :-1] | mask[:, 1:]"),
)


@MASKED_LOSS.misconception(
    "the last position of a text has to predict the first token of the next text",
    "The texts of a batch have nothing to do with each other. Is something flattened before it is shifted?",
)
def flattened_first(logits, words, mask):
    return right(logits.flatten(0, 1)[None], words.flatten()[None], mask.flatten()[None])


for zero in (
    ("loss[counted]", "loss[counted & (asked != 0)]"),
    ("loss[counted]", "loss[asked != 0]"),
    ("mask[:, :-1] & mask[:, 1:]", "(words[:, :-1] != 0) & (words[:, 1:] != 0)"),
):
    MASKED_LOSS.edit(
        "token 0 is treated as padding",
        "0 is a token like any other. Only the mask says what is padding.",
        zero,
    )
MASKED_LOSS.edit(
    "padding is assumed to come last",
    "The number of tokens in a text doesn't say where they are. Padding may come first, or in between.",
    ("loss[counted]", "loss[torch.arange(asked.shape[1]) < mask.sum(1, keepdim=True) - 1]"),
)


@MASKED_LOSS.misconception(
    "tokens on both sides of padding are treated as neighbours",
    "At position t the logits are about position t + 1 alone. Are tokens picked out before they are shifted?",
)
def closed_up(logits, words, mask):
    rows = zip(logits, words, mask, strict=True)
    costs = [F.cross_entropy(row[m][:-1], text[m][1:], reduction="none") for row, text, m in rows]
    return torch.cat(costs).mean()


MASKED_LOSS.edit("it returns the sum, not the mean", "What must the sum be divided by?", (".mean()", ".sum()"))
MASKED_LOSS.edit(
    "positions that don't count are set to 0, but stay in the mean",
    "A mean divides by a number of positions. How many count, and by how many do you divide?",
    ("loss[counted]", "(loss * counted)"),
)
MASKED_LOSS.edit(
    "it divides by all tokens of the texts",
    "The first token of a text is read, but never predicted.",
    (".mean()", ".sum() / mask.sum()"),
)
MASKED_LOSS.edit(
    "it divides by all tokens to predict, even those after padding",
    "A token that follows padding doesn't count. Do you select and divide with the same mask?",
    (".mean()", ".sum() / mask[:, 1:].sum()"),
)
MASKED_LOSS.edit(
    "it divides by the number of texts", "The mean is over tokens, not over texts.", (".mean()", ".sum() / len(mask)")
)
MASKED_LOSS.edit(
    "it returns the mean of the texts' means",
    "A token of a short text must count as much as one of a long text.",
    ("loss[counted].mean()", "((loss * counted).sum(1) / counted.sum(1))[counted.any(1)].mean()"),
)
MASKED_LOSS.edit(
    "it returns one number per text",
    "One number is wanted for the whole batch.",
    ("loss[counted].mean()", "(loss * counted).sum(1) / counted.sum(1)"),
)
for several in ("loss * counted", "loss[counted]"):
    MASKED_LOSS.edit(
        "it returns one number per position, not their mean",
        "One number is wanted for the whole batch.",
        ("loss[counted].mean()", several),
    )
MASKED_LOSS.edit(
    "the softmax is taken twice",
    "F.cross_entropy and log_softmax expect logits, because they take the softmax themselves.",
    ("read.log_softmax", "read.softmax(-1).log_softmax"),
)
for over_positions in ("logits.log_softmax(1)[:, :-1]", "read.log_softmax(1)"):
    MASKED_LOSS.edit(
        "the softmax is taken over the positions",
        "At each position, the probabilities of all tokens in the vocabulary sum to 1. Which axis is the vocabulary?",
        ("read.log_softmax(-1)", over_positions),
    )
MASKED_LOSS.edit(
    "the softmax is taken over the texts",
    "The probabilities for one text don't depend on another text. Which axis is the vocabulary?",
    ("log_softmax(-1)", "log_softmax(0)"),
)
MASKED_LOSS.edit(
    "axes are reshaped where they should be swapped",
    "A reshape doesn't swap axes. It spreads the logits of one position over several rows.",
    ("read.log_softmax", "read.reshape(read.mT.shape).mT.log_softmax"),
)
MASKED_LOSS.edit(
    "the sign is wrong", "log p is never positive, so the loss is never negative.", ("return loss", "return -loss")
)
MASKED_LOSS.edit(
    "the loss is in bits",
    "Nats are wanted. Which logarithm gives nats?",
    (".mean()", ".mean() / torch.tensor(2.0).log()"),
)
MASKED_LOSS.edit(
    "the logarithm is left out",
    "The loss is −log p. With p = 1 it is 0. What is yours then?",
    ("log_softmax", "softmax"),
)
MASKED_LOSS.edit(
    "the logarithm is left out",
    "The loss is −log p. With p = 1/e it is 1. What is yours then?",
    ("log_softmax", "softmax"),
    ("return loss", "return 1 + loss"),
)
MASKED_LOSS.edit(
    "the softmax is left out",
    "Logits aren't probabilities yet. Nothing makes them sum to 1.",
    ("read.log_softmax(-1)", "read"),
)
MASKED_LOSS.edit(
    "it takes the logarithm of a mean",
    "Each token has a loss of its own. What comes first, the logarithm or the mean?",
    ("log_softmax", "softmax"),
    ("loss[counted].mean()", "-(-loss[counted]).mean().log()"),
)
MASKED_LOSS.edit(
    "this is the perplexity", "The perplexity is the exponential of the loss.", (".mean()", ".mean().exp()")
)
MASKED_LOSS.edit(
    "a small probability is rounded to 0, and its logarithm is −∞",
    "exp(−200) is too small for float32, but its logarithm is just −200. Do you need the probability itself?",
    ("log_softmax(-1)", "softmax(-1).log()"),
)
for plain in ("(read.exp() / read.exp().sum(-1, keepdim=True)).log()", "read - read.exp().sum(-1, keepdim=True).log()"):
    MASKED_LOSS.edit(
        "large logits overflow",
        "exp(100) is too large for float32. Which function of torch computes softmax and logarithm in one step?",
        ("read.log_softmax(-1)", plain),
    )
