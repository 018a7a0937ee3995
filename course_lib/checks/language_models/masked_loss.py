"""masked_loss(logits, words, mask): the mean cross-entropy of the next tokens, where both tokens are there."""

import torch
from torch.nn import functional as F

from course_lib.checks.engine import Case, Exercise


def cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    def some(texts: int, n: int, size: int) -> tuple[torch.Tensor, torch.Tensor]:
        return 2 * draw(texts, n, size), torch.randint(size, (texts, n), generator=generator)

    def behind(n: int, *lengths: int) -> torch.Tensor:
        return torch.arange(n) < torch.tensor(lengths)[:, None]

    def in_front(n: int, *lengths: int) -> torch.Tensor:
        return behind(n, *lengths).flip(1)

    two = torch.tensor([[[0.0, 1, 2, 0], [3, 0, 0, 1], [1, 1, 2, 0]], [[2, 0, 1, 0], [0, 2, 0, 1], [1, 0, 3, 0]]])
    unsure = two.clone()
    unsure[0, 0] = 0
    sure = 200 * F.one_hot(torch.tensor([[1, 2, 1], [3, 3, 0]]), 5).float()
    inputs = [
        ("two texts of three tokens", two, torch.tensor([[1, 2, 0], [3, 1, 1]]), behind(3, 3, 3)),
        ("a token all of whose logits are 0", unsure, torch.tensor([[1, 2, 0], [3, 1, 1]]), behind(3, 3, 3)),
        ("padding behind the second text", two, torch.tensor([[1, 2, 0], [3, 1, 0]]), behind(3, 3, 2)),
        ("padding in front of the second text", two, torch.tensor([[1, 2, 0], [0, 3, 1]]), in_front(3, 3, 2)),
        ("texts of different lengths", *some(3, 5, 7), behind(5, 5, 2, 3)),
        ("texts of different lengths, padding in front", *some(3, 5, 7), in_front(5, 2, 5, 4)),
        ("padding in front of one text, behind another", *some(2, 6, 4), torch.cat([in_front(6, 4), behind(6, 5)])),
        ("padding between two texts of a row", *some(2, 7, 5), ~F.one_hot(torch.tensor([2, 4]), 7).bool()),
        ("a text of one token", *some(3, 4, 6), behind(4, 4, 1, 2)),
        ("a text of one token, padding in front", *some(2, 4, 6), in_front(4, 1, 3)),
        ("as many places as tokens in the vocabulary", *some(2, 6, 6), behind(6, 6, 4)),
        ("logits + 100", draw(2, 4, 5) + 100, some(2, 4, 5)[1], behind(4, 4, 3)),
        ("a model that is very sure, and wrong", sure, torch.tensor([[1, 1, 2], [0, 0, 4]]), behind(3, 3, 3)),
        ("float64", draw(2, 4, 5).double(), some(2, 4, 5)[1], behind(4, 3, 4)),
        ("logits that do not lie in order in memory", draw(5, 4, 3).permute(2, 1, 0), some(3, 4, 5)[1], behind(4, 4, 2, 3)),
        ("one text", *some(1, 5, 3), behind(5, 4)),
        ("logits with a gradient, as in a training", some(2, 4, 5)[0].requires_grad_(), some(2, 4, 5)[1], behind(4, 4, 3)),
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
        return "a number from which no gradient goes back"
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
    "nothing can be trained with it",
    "The number is right. But a training needs a tensor from which a gradient goes back to the logits: "
    "no .item() or float(), no NumPy, no torch.no_grad().",
    (".mean()", ".mean().item()"),
)
MASKED_LOSS.edit(
    "the loss is not shifted",
    "Each place is asked for the token that it has just read. Which one is it to predict?",
    ("logits[:, :-1], words[:, 1:]", "logits, words"),
    ("mask[:, :-1] & mask[:, 1:]", "mask"),
)
MASKED_LOSS.edit(
    "the shift goes the wrong way",
    "Each place is asked for the token before. In which direction does a text go on?",
    ("logits[:, :-1], words[:, 1:]", "logits[:, 1:], words[:, :-1]"),
)
MASKED_LOSS.edit(
    "the shift is made twice",
    "The token after the next is asked for. Has something been shifted already?",
    ("logits[:, :-1], words[:, 1:]", "logits[:, :-2], words[:, 2:]"),
    ("mask[:, :-1] & mask[:, 1:]", "mask[:, :-2] & mask[:, 2:]"),
)
MASKED_LOSS.edit(
    "padding is counted", "Nobody wants to learn what padding is. Where is the mask used?", ("loss[counted]", "loss")
)
MASKED_LOSS.edit(
    "padding is asked for",
    "The last token of a text is there, but what follows it is padding. The mask of what is *asked for* counts, too.",
    ("mask[:, :-1] & mask[:, 1:]", "mask[:, :-1]"),
)
MASKED_LOSS.edit(
    "a token is asked for where only padding was read",
    "Padding may stand in front: then nothing has been read when the first token comes. Which two places must be there?",
    ("mask[:, :-1] & mask[:, 1:]", "mask[:, 1:]"),
)
for turned in ("~mask[:, :-1] | ~mask[:, 1:]", "~mask[:, 1:]", "~mask[:, :-1] & ~mask[:, 1:]"):
    MASKED_LOSS.edit(
        "the mask is turned round",
        "In the mask, True stands where a token is.",
        ("mask[:, :-1] & mask[:, 1:]", turned),
    )
MASKED_LOSS.edit(
    "one of two tokens is enough for it",
    "Both are wanted: the one that is read *and* the one asked for.",
    ("mask[:, :-1] & mask[:, 1:]", "mask[:, :-1] | mask[:, 1:]"),
)


@MASKED_LOSS.misconception(
    "the last place of a text is asked for the first token of the next text",
    "Texts of a batch have nothing to do with each other. Is something flattened before it is shifted?",
)
def flattened_first(logits, words, mask):
    return right(logits.flatten(0, 1)[None], words.flatten()[None], mask.flatten()[None])


for zero in (
    ("loss[counted]", "loss[counted & (asked != 0)]"),
    ("loss[counted]", "loss[asked != 0]"),
    ("mask[:, :-1] & mask[:, 1:]", "(words[:, :-1] != 0) & (words[:, 1:] != 0)"),
):
    MASKED_LOSS.edit(
        "the token of number 0 is taken for padding",
        "0 is a token like others. What is padding, the mask says alone.",
        zero,
    )
MASKED_LOSS.edit(
    "padding is taken to stand behind",
    "How many tokens a text has does not say where they stand: padding may come first, or in between.",
    ("loss[counted]", "loss[torch.arange(asked.shape[1]) < mask.sum(1, keepdim=True) - 1]"),
)


@MASKED_LOSS.misconception(
    "tokens on both sides of padding are taken for neighbours",
    "What the model says at place t is about place t + 1 alone. Are tokens picked out first, and shifted then?",
)
def closed_up(logits, words, mask):
    rows = zip(logits, words, mask, strict=True)
    costs = [F.cross_entropy(row[m][:-1], text[m][1:], reduction="none") for row, text, m in rows]
    return torch.cat(costs).mean()


MASKED_LOSS.edit("it is the sum, not the mean", "By how many tokens do you divide?", (".mean()", ".sum()"))
MASKED_LOSS.edit(
    "what does not count is set to 0, and still divided by",
    "A mean divides by a number of places. By how many do you divide, and how many count?",
    ("loss[counted]", "(loss * counted)"),
)
MASKED_LOSS.edit(
    "it divides by all tokens of the texts",
    "The first token of a text is read, but nobody is asked for it.",
    (".mean()", ".sum() / mask.sum()"),
)
MASKED_LOSS.edit(
    "it divides by all tokens that are asked for",
    "Of those one may follow padding, and does not count. By what you choose, divide: is it the same mask in both?",
    (".mean()", ".sum() / mask[:, 1:].sum()"),
)
MASKED_LOSS.edit(
    "it divides by the number of texts", "The mean is over tokens, not over texts.", (".mean()", ".sum() / len(mask)")
)
MASKED_LOSS.edit(
    "it is the mean of the texts' means",
    "A token of a short text must weigh as much as one of a long text.",
    ("loss[counted].mean()", "((loss * counted).sum(1) / counted.sum(1))[counted.any(1)].mean()"),
)
MASKED_LOSS.edit(
    "it is a number for each text",
    "One number is wanted for the whole batch.",
    ("loss[counted].mean()", "(loss * counted).sum(1) / counted.sum(1)"),
)
for places in ("loss * counted", "loss[counted]"):
    MASKED_LOSS.edit(
        "it is a number for each place, not their mean",
        "One number is wanted for the whole batch.",
        ("loss[counted].mean()", places),
    )
MASKED_LOSS.edit(
    "the softmax is taken twice",
    "F.cross_entropy wants logits: it takes the softmax itself.",
    ("read.log_softmax", "read.softmax(-1).log_softmax"),
)
for over_places in ("logits.log_softmax(1)[:, :-1]", "read.log_softmax(1)"):
    MASKED_LOSS.edit(
        "the softmax runs over the places",
        "At each place the probabilities of all tokens of the vocabulary sum to 1. Which axis is the vocabulary?",
        ("read.log_softmax(-1)", over_places),
    )
MASKED_LOSS.edit(
    "the softmax runs over the texts",
    "What one text's model says has nothing to do with another text. Which axis is the vocabulary?",
    ("log_softmax(-1)", "log_softmax(0)"),
)
MASKED_LOSS.edit(
    "the axes were reshaped where they should have been exchanged",
    "A reshape does not exchange axes: logits of one place now stand in several rows.",
    ("read.log_softmax", "read.reshape(read.mT.shape).mT.log_softmax"),
)
MASKED_LOSS.edit(
    "the sign is wrong", "log p is never above 0; the loss is never below.", ("return loss", "return -loss")
)
MASKED_LOSS.edit(
    "the loss is in bits",
    "Nats are wanted: take the natural logarithm.",
    (".mean()", ".mean() / torch.tensor(2.0).log()"),
)
MASKED_LOSS.edit(
    "it is made of probabilities, without a logarithm",
    "The loss is −log p. With p = 1 it is 0; what is yours then?",
    ("log_softmax", "softmax"),
)
MASKED_LOSS.edit(
    "it is made of probabilities, without a logarithm",
    "The loss is −log p. With p = 1/e it is 1; what is yours then?",
    ("log_softmax", "softmax"),
    ("return loss", "return 1 + loss"),
)
MASKED_LOSS.edit(
    "it is made of logits, without a softmax",
    "Logits are no probabilities yet: nothing says what they sum to.",
    ("read.log_softmax(-1)", "read"),
)
MASKED_LOSS.edit(
    "it is the logarithm of a mean",
    "Each token has a loss of its own: first the logarithms, then the mean of them.",
    ("log_softmax", "softmax"),
    ("loss[counted].mean()", "-(-loss[counted]).mean().log()"),
)
MASKED_LOSS.edit(
    "that is the perplexity", "The perplexity is the exponential of the loss.", (".mean()", ".mean().exp()")
)
MASKED_LOSS.edit(
    "a small probability is rounded to 0, and its logarithm is −∞",
    "exp(−200) is too small for float32, but its logarithm is −200. Do not go by way of the probability.",
    ("log_softmax(-1)", "softmax(-1).log()"),
)
MASKED_LOSS.edit(
    "large logits overflow",
    "exp(100) is too large for float32. Which function of torch takes softmax and logarithm together?",
    ("read.log_softmax(-1)", "(read.exp() / read.exp().sum(-1, keepdim=True)).log()"),
)
