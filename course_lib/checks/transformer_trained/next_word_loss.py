"""next_word_loss(logits, words, pad): the mean cross-entropy of the next words, without padding."""

import torch
from torch.nn import functional as F

from course_lib.checks.engine import Case, Exercise


def cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    def sentences(n: int, words: int, *lengths: int) -> torch.Tensor:
        """Words from 1 on, and behind each sentence zeros."""
        drawn = torch.randint(1, words, (len(lengths), n), generator=generator)
        return drawn * (torch.arange(n) < torch.tensor(lengths)[:, None])

    sure = 200 * F.one_hot(torch.tensor([[1, 2, 1]]), 4).float()
    inputs = [
        ("one sentence of two words", torch.tensor([[[0.0, 1, 2], [3, 0, 0]]]), torch.tensor([[1, 2]]), 0),
        ("three words", draw(1, 3, 4), torch.tensor([[1, 3, 2]]), 0),
        ("words that are not the last of the vocabulary", draw(1, 3, 6), torch.tensor([[1, 2, 1]]), 0),
        ("padding behind the words", draw(1, 4, 3), torch.tensor([[1, 2, 0, 0]]), 0),
        ("sentences of different lengths", draw(3, 5, 6), sentences(5, 6, 5, 2, 3), 0),
        ("a sentence that is <bos> alone", draw(2, 4, 5), sentences(4, 5, 1, 4), 0),
        ("another number for padding", draw(2, 4, 7), torch.tensor([[1, 0, 2, 0], [1, 3, 6, 6]]), 6),
        ("as many places as words in the vocabulary", draw(2, 6, 6), sentences(6, 6, 6, 4), 0),
        ("logits + 100", draw(2, 3, 5) + 100, sentences(3, 5, 3, 2), 0),
        ("a model that is very sure, and wrong", sure, torch.tensor([[1, 2, 1]]), 0),
        ("float64", draw(2, 4, 5).double(), sentences(4, 5, 3, 4), 0),
        ("logits that do not lie in order in memory", draw(5, 4, 3).permute(2, 1, 0), sentences(4, 5, 4, 2, 3), 0),
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
    "Each place is asked for the word that it has just read. Which word is it to predict?",
    ("logits[:, :-1], words[:, 1:]", "logits, words"),
)
NEXT_WORD_LOSS.edit(
    "the shift goes the wrong way",
    "Each place is asked for the word before. In which direction do sentences go on?",
    ("logits[:, :-1], words[:, 1:]", "logits[:, 1:], words[:, :-1]"),
)
NEXT_WORD_LOSS.edit(
    "the shift is made twice",
    "The word after the next is asked for. Has something been shifted already?",
    ("logits[:, :-1], words[:, 1:]", "logits[:, :-2], words[:, 2:]"),
)
NEXT_WORD_LOSS.edit(
    "padding is counted",
    "Nobody wants to learn what comes after the end. Where is pad used?",
    ("loss[there]", "loss"),
)
NEXT_WORD_LOSS.edit(
    "the loss of padding is set to 0, but still counted",
    "A mean divides by a number of places. By how many do you divide, and how many words are there?",
    ("loss[there]", "(loss * there)"),
)
NEXT_WORD_LOSS.edit(
    "it divides by one word too many in each sentence",
    "The first word of a sentence is read, but nobody is asked for it.",
    ("loss[there].mean()", "loss[there].sum() / (words != pad).sum()"),
)
NEXT_WORD_LOSS.edit(
    "padding is looked for among the words that are read",
    "The last word of a sentence is no padding, but what is asked for after it is. Which of the two decides?",
    ("wanted != pad", "words[:, :-1] != pad"),
)
NEXT_WORD_LOSS.edit(
    "it is the mean of the sentences' means",
    "A word of a short sentence must weigh as much as one of a long sentence.",
    ("loss[there].mean()", "((loss * there).sum(1) / there.sum(1))[there.any(1)].mean()"),
)
NEXT_WORD_LOSS.edit(
    "padding is taken to be 0",
    "Which number padding has, the argument pad says. Here 0 may be a word like another.",
    ("wanted != pad", "wanted != 0"),
)
NEXT_WORD_LOSS.edit("it is the sum, not the mean", "By how many words do you divide?", (".mean()", ".sum()"))
NEXT_WORD_LOSS.edit(
    "it is one loss for each place, not their mean",
    "One number is wanted for the whole batch.",
    ("loss[there].mean()", "loss * there"),
)
NEXT_WORD_LOSS.edit(
    "the softmax is taken twice",
    "F.cross_entropy wants logits: it takes the softmax itself.",
    ("read.log_softmax", "read.softmax(-1).log_softmax"),
)
NEXT_WORD_LOSS.edit(
    "the softmax runs over the places",
    "At each place the probabilities of all words of the vocabulary sum to 1. Which axis is the vocabulary?",
    ("log_softmax(-1)", "log_softmax(1)"),
)
NEXT_WORD_LOSS.edit(
    "the axes were reshaped where they should have been kept in order",
    "A reshape does not exchange axes: logits of one place now stand in several rows.",
    ("read.log_softmax", "read.mT.reshape(read.shape).log_softmax"),
)
NEXT_WORD_LOSS.edit(
    "the sign is wrong", "log p is never above 0; the loss is never below.", ("return loss", "return -loss")
)
NEXT_WORD_LOSS.edit(
    "the loss is in bits", "Take the natural logarithm.", (".mean()", ".mean() / torch.tensor(2.0).log()")
)
NEXT_WORD_LOSS.edit(
    "a small probability is rounded to 0, and its logarithm is −∞",
    "exp(−200) is too small for float32, but its logarithm is −200. Do not go by way of the probability.",
    ("log_softmax(-1)", "softmax(-1).log()"),
)
NEXT_WORD_LOSS.edit(
    "large logits overflow",
    "exp(100) is too large for float32. Which function of torch takes softmax and logarithm together?",
    ("read.log_softmax(-1)", "(read.exp() / read.exp().sum(-1, keepdim=True)).log()"),
)
