"""next_word_loss(logits, words, pad): the mean cross-entropy of the next words, without padding."""

import torch
from torch.nn import functional as F

from course_lib.checks.engine import Case, Exercise


def cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    def sentences(n: int, words: int, *lengths: int) -> torch.Tensor:
        """Draws words other than 0, and fills up each sentence with zeros."""
        drawn = torch.randint(1, words, (len(lengths), n), generator=generator)
        return drawn * (torch.arange(n) < torch.tensor(lengths)[:, None])

    sure = 200 * F.one_hot(torch.tensor([[1, 2, 1]]), 4).float()
    inputs = [
        ("one sentence of two words", torch.tensor([[[0.0, 1, 2], [3, 0, 0]]]), torch.tensor([[1, 2]]), 0),
        ("three words", draw(1, 3, 4), torch.tensor([[1, 3, 2]]), 0),
        ("a vocabulary with words that don't occur", draw(1, 3, 6), torch.tensor([[1, 2, 1]]), 0),
        ("padding after the words", draw(1, 4, 3), torch.tensor([[1, 2, 0, 0]]), 0),
        ("sentences of different lengths", draw(3, 5, 6), sentences(5, 6, 5, 2, 3), 0),
        ("a sentence of <bos> alone", draw(2, 4, 5), sentences(4, 5, 1, 4), 0),
        ("another number for padding", draw(2, 4, 7), torch.tensor([[1, 0, 2, 0], [1, 3, 6, 6]]), 6),
        ("as many positions as words in the vocabulary", draw(2, 6, 6), sentences(6, 6, 6, 4), 0),
        ("logits + 100", draw(2, 3, 5) + 100, sentences(3, 5, 3, 2), 0),
        ("a model that is very sure, but wrong", sure, torch.tensor([[1, 2, 1]]), 0),
        ("float64", draw(2, 4, 5).double(), sentences(4, 5, 3, 4), 0),
        ("logits that are not contiguous in memory", draw(5, 4, 3).permute(2, 1, 0), sentences(4, 5, 4, 2, 3), 0),
    ]
    return [Case(about, {"logits": logits, "words": words, "pad": pad}) for about, logits, words, pad in inputs]


def right(logits, words, pad):
    read, wanted = logits[:, :-1], words[:, 1:]
    log_p = read.log_softmax(-1)
    loss = F.nll_loss(log_p.mT, wanted, reduction="none")  # (batch, n - 1)
    there = wanted != pad
    return loss[there].mean()


NEXT_WORD_LOSS = Exercise(
    "next_word_loss",
    "transformer_trained",
    cases,
    right,
    'lesson 6, "Training on toy French"; glossary.show("cross-entropy")',
)

NEXT_WORD_LOSS.edit(
    "the loss is not shifted",
    "At each position, you ask for the word that the model has just read. Which word should it predict?",
    ("logits[:, :-1], words[:, 1:]", "logits, words"),
)
NEXT_WORD_LOSS.edit(
    "the shift goes the wrong way",
    "At each position, you ask for the word before. Which word should the model predict?",
    ("logits[:, :-1], words[:, 1:]", "logits[:, 1:], words[:, :-1]"),
)
NEXT_WORD_LOSS.edit(
    "the shift is made twice",
    "You ask for the word after the next one. Have you already shifted something?",
    ("logits[:, :-1], words[:, 1:]", "logits[:, :-2], words[:, 2:]"),
)
NEXT_WORD_LOSS.edit(
    "padding is counted",
    "The model shouldn't have to predict padding. Where do you use pad?",
    ("loss[there]", "loss"),
)
NEXT_WORD_LOSS.edit(
    "the loss at padding is set to 0, but still counted",
    "By how many positions do you divide, and at how many does the model have to predict a word?",
    ("loss[there]", "(loss * there)"),
)
NEXT_WORD_LOSS.edit(
    "it divides by one word too many per sentence",
    "The model reads the first word of a sentence, but it doesn't have to predict it.",
    ("loss[there].mean()", "loss[there].sum() / (words != pad).sum()"),
)
NEXT_WORD_LOSS.edit(
    "padding is looked for among the words that are read",
    "At the end of a sentence, the model has read a word, but what follows is padding. Which of the two decides?",
    ("wanted != pad", "words[:, :-1] != pad"),
)
NEXT_WORD_LOSS.edit(
    "it is the mean of the sentences' means",
    "A word in a short sentence must count as much as a word in a long one.",
    ("loss[there].mean()", "((loss * there).sum(1) / there.sum(1))[there.any(1)].mean()"),
)
NEXT_WORD_LOSS.edit(
    "padding is assumed to be 0",
    "The argument pad says which number marks padding. Here, 0 may be a word like any other.",
    ("wanted != pad", "wanted != 0"),
)
NEXT_WORD_LOSS.edit("it is the sum, not the mean", "Over how many words does your sum run?", (".mean()", ".sum()"))
NEXT_WORD_LOSS.edit(
    "it is one loss per position, not their mean",
    "Return one number for the whole batch.",
    ("loss[there].mean()", "loss * there"),
)
NEXT_WORD_LOSS.edit(
    "the softmax is taken twice",
    "Do you apply a softmax yourself? F.cross_entropy takes logits and applies one, too.",
    ("read.log_softmax", "read.softmax(-1).log_softmax"),
)
NEXT_WORD_LOSS.edit(
    "the softmax runs over the positions",
    "At each position, the probabilities of all words in the vocabulary sum to 1. Which axis is the vocabulary?",
    ("log_softmax(-1)", "log_softmax(1)"),
)
NEXT_WORD_LOSS.edit(
    "a reshape mixes up the logits",
    "A reshape doesn't swap axes. Now the logits of one position are in several rows.",
    ("read.log_softmax", "read.mT.reshape(read.shape).log_softmax"),
)
NEXT_WORD_LOSS.edit(
    "the sign is wrong", "log p is never above 0, so the loss is never below 0.", ("return loss", "return -loss")
)
NEXT_WORD_LOSS.edit(
    "the loss is in bits", "Take the natural logarithm.", (".mean()", ".mean() / torch.tensor(2.0).log()")
)
NEXT_WORD_LOSS.edit(
    "a small probability is rounded to 0, and its logarithm is −∞",
    "exp(−200) is too small for float32, but its logarithm is −200. Don't compute the probability on the way.",
    ("log_softmax(-1)", "softmax(-1).log()"),
)
for plain in ("(read.exp() / read.exp().sum(-1, keepdim=True)).log()", "read - read.exp().sum(-1, keepdim=True).log()"):
    NEXT_WORD_LOSS.edit(
        "large logits overflow",
        "exp(100) is too large for float32. Which torch function computes softmax and logarithm in one go?",
        ("read.log_softmax(-1)", plain),
    )
