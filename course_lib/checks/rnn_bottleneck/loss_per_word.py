"""loss_per_word(logits, words, mask): the mean cross-entropy, in nats, over the words of a batch and not its padding."""

import math

import torch
from torch.nn import functional as F

from course_lib.checks.engine import Case, Exercise


def cases(generator: torch.Generator) -> list[Case]:
    def drawn(lengths: list[int], positions: int, size: int, scale: float = 1.0) -> list[torch.Tensor]:
        mask = torch.arange(positions) < torch.tensor(lengths)[:, None]
        words = torch.randint(1, size, mask.shape, generator=generator) * mask
        return [scale * torch.randn(*mask.shape, size, generator=generator), words, mask]

    certain = drawn([3], 3, 4)
    certain[0][0, 1] = -1000 * F.one_hot(certain[1][0, 1], 4)  # a probability of e^-1000: in float64, too, this is 0
    at_padding = drawn([2, 3], 3, 3)
    at_padding[0][0, 2] = torch.tensor([-150.0, 0.0, 150.0])  # at padding, where the number in `words` is 0
    told, zero, raised = drawn([2], 3, 3), drawn([2], 2, 3), drawn([2], 2, 3)
    told[1][0, 2], zero[1][0, 0] = 1, 0
    level, hole = drawn([3], 3, 4), drawn([3, 3], 3, 4)
    level[0][0, 1] += 1000
    hole[2][0, 1] = False
    doubled, apart = drawn([2, 3], 3, 4), drawn([3, 2, 1, 3], 3, 4)
    apart[0] = torch.randn(4, 3, 4, generator=generator).permute(2, 1, 0)
    equal = [doubled[0].clone(), *doubled[1:]]
    equal[0][0, 1] = 0
    inputs = [
        ("one sentence of two words", drawn([2], 2, 3)),
        ("two words and one position of padding", drawn([2], 3, 3)),
        ("two sentences, one shorter", drawn([3, 1], 3, 4)),
        ("a word's number at padding", told),
        ("a word whose number is 0", zero),
        ("a word all of whose scores are 0", equal),
        ("four sentences", drawn([6, 2, 1, 4], 6, 7)),
        ("as many sentences as positions and as words in the vocabulary", drawn([1, 3, 2], 3, 3)),
        ("a single word", drawn([1], 1, 5)),
        ("a correct word with a very low score", certain),
        ("large scores at padding", at_padding),
        ("scores at one position far above those at the next", level),
        ("padding between words", hole),
        ("all scores + 100", [raised[0] + 100, *raised[1:]]),
        ("a sentence that is all padding", drawn([2, 0, 3], 3, 6)),
        ("float64", [doubled[0].double(), *doubled[1:]]),
        ("numbers that aren't contiguous in memory", apart),
    ]
    return [Case(about, dict(zip(("logits", "words", "mask"), given, strict=True))) for about, given in inputs]


def right(logits, words, mask):
    log_p = logits.log_softmax(-1)
    loss = -log_p.gather(-1, words[..., None])[..., 0]
    return loss[mask].mean()


LOSS_PER_WORD = Exercise(
    "loss_per_word", "rnn_bottleneck", cases, right, 'exercise 5, "By hand"; glossary.show("cross-entropy")'
)

LOG_P, MEAN = "logits.log_softmax(-1)", "loss[mask].mean()"
LOGS_OF_P = [
    (LOG_P, f"({p}).log()") for p in ("logits.softmax(-1)", "logits.exp() / logits.exp().sum(-1, keepdim=True)")
]
BY_PRODUCTS = MEAN, "(loss * mask).sum() / mask.sum()"

ROUNDED = (
    "In float32 the softmax of a very low score rounds to 0, and exp(100) is too large. (float64 has such limits, too.) "
    "Which torch function computes the *log* of a softmax directly?"
)
for log_of_p in LOGS_OF_P:
    for changes in ([log_of_p, BY_PRODUCTS], [log_of_p]):
        LOSS_PER_WORD.edit("the log is taken of a probability that rounds to 0 or is NaN", ROUNDED, *changes)
for changes in ([], *([one] for one in LOGS_OF_P)):
    LOSS_PER_WORD.edit(
        "the average counts the positions of padding",
        "The padding adds 0 to the sum, but its positions still count. What should the sum be divided by?",
        *changes,
        (MEAN, "(loss * mask).mean()"),
    )
for changes in ([], *([one] for one in LOGS_OF_P)):
    LOSS_PER_WORD.edit(
        "the padding is not left out",
        "Where the mask is False, there is no word and so no loss. Look at what you multiply or pick before the average.",
        *changes,
        (MEAN, "loss.mean()"),
    )
for small in (1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12, 1e-15, 1e-16, 1e-20, 1e-30):
    for p in (f"(logits.softmax(-1) + {small})", f"logits.softmax(-1).clamp(min={small})"):
        LOSS_PER_WORD.edit(
            "a small number hides that a probability rounds to 0",
            "Then no loss can exceed minus the log of that number, however wrong the model is. " + ROUNDED,
            (LOG_P, f"{p}.log()"),
        )
for words in ("mask.sum(1).clamp(min=1)", "mask.sum(1)"):  # without clamp, a sentence that is all padding gives NaN
    LOSS_PER_WORD.edit(
        "each sentence is averaged on its own",
        "Then a word of a short sentence counts more than a word of a long one. Average over all words of the batch at "
        "once.",
        (MEAN, f"((loss * mask).sum(1) / {words}).mean()"),
    )
LOSS_PER_WORD.edit(
    "the sum is divided by the number of sentences",
    "The loss is an average per *word*. How many words are there?",
    (MEAN, "loss[mask].sum() / len(loss)"),
)
LOSS_PER_WORD.edit(
    "the losses are summed, not averaged",
    "Then a batch with more words has a larger loss, although the model is no worse.",
    (MEAN, "loss[mask].sum()"),
)
LOSS_PER_WORD.edit(
    "the mask is the wrong way round",
    "The mask is True at a word. Your code averages over the padding.",
    ("loss[mask]", "loss[~mask]"),
)
LOSS_PER_WORD.edit(
    "the softmax is taken twice",
    "torch's cross-entropy functions expect scores and take the softmax themselves. How often is it taken in your code?",
    (LOG_P, "logits.softmax(-1).log_softmax(-1)"),
)
LOSS_PER_WORD.edit(
    "the softmax runs over the positions",
    "At each position, the probabilities of all words in the vocabulary sum to 1. Which axis is that?",
    (LOG_P, "logits.log_softmax(1)"),
)
LOSS_PER_WORD.edit(
    "padding counts as the word with the number 0",
    "Does your code set `words` to 0 at padding? Then the sum also holds losses of word 0. Which losses belong in it?",
    ("words[..., None]", "(words * mask)[..., None]"),
    (MEAN, "loss.sum() / mask.sum()"),
)
LOSS_PER_WORD.edit(
    "padding is recognised by the number 0, not by the mask",
    "At padding `words` may hold any number, and 0 may be the number of a real word. What tells the two apart?",
    ("loss[mask]", "loss[words != 0]"),
)
for changes in ([BY_PRODUCTS], []):
    LOSS_PER_WORD.edit(
        "exp of a large score is infinite",
        "exp(100) is too large for float32. Which torch function computes the log of a sum of exponentials directly?",
        (LOG_P, "logits - logits.exp().sum(-1, keepdim=True).log()"),
        *changes,
    )
LOSS_PER_WORD.edit(
    "the largest score is taken over the whole batch, not at each position",
    "Where all scores are far below it, every exponential rounds to 0. Is there a torch function that does all of this?",
    (
        f"log_p = {LOG_P}",
        "logits = logits - logits[mask].max()\n    log_p = logits - logits.exp().sum(-1, keepdim=True).log()",
    ),
)
LOSS_PER_WORD.edit(
    "the scores are used as log-probabilities",
    "`F.nll_loss`, like the formula −log p, needs the log of a probability. What turns scores into probabilities?",
    (LOG_P, "logits"),
)
for base in (2, 10):
    LOSS_PER_WORD.edit(
        "the log is not the natural one",
        "The loss is in nats. What is the base of the log then?",
        (MEAN, f"{MEAN} / {math.log(base)}"),
    )
LOSS_PER_WORD.edit("the sign is wrong", "The log of a probability is negative, but a loss isn't.", ("-log_p", "log_p"))
