"""`log_p_of_continuation(logits, words, prompt_length)`: the summed log-probability of what follows the prompt."""

import torch

from course_lib.checks.engine import Case, Exercise


def log_p_of_continuation_cases(generator: torch.Generator) -> list[Case]:
    def given(rows: int, n: int, size: int, prompt_length: int) -> dict:
        return {
            "logits": 2 * torch.randn(rows, n - 1, size, generator=generator),
            "words": torch.randint(size, (rows, n), generator=generator),
            "prompt_length": prompt_length,
        }

    p = torch.tensor([[[0.5, 0.5], [0.25, 0.75], [0.9, 0.1]]])
    by_hand = {"logits": p.log(), "words": torch.tensor([[0, 1, 1, 0]]), "prompt_length": 2}
    strided = given(3, 7, 5, 3)
    strided["logits"] = strided["logits"].permute(2, 1, 0).contiguous().permute(2, 1, 0)
    high = given(3, 7, 5, 2)
    high["logits"] = high["logits"] + 150
    rare = given(3, 6, 4, 2)
    rare["logits"] = -150 * torch.rand(3, 5, 4, generator=generator)
    rare["logits"][:, :, 0], rare["words"][:, 1:] = 0, 1 + rare["words"][:, 1:] % 3
    in_double = given(4, 6, 3, 2)
    in_double["logits"] = in_double["logits"].double()
    inputs = [
        ("the text of the example", by_hand),
        ("a single row", given(1, 5, 3, 2)),
        ("two rows, three tokens to follow", given(2, 6, 4, 3)),
        ("a prompt of one token", given(3, 5, 4, 1)),
        ("a single token to follow", given(3, 6, 4, 5)),
        ("as many rows as logits in a row", given(4, 5, 4, 3)),
        ("a long prompt", given(2, 12, 5, 9)),
        ("logits above 100", high),
        ("tokens that are all but impossible", rare),
        ("float64", in_double),
        ("logits that are not contiguous in memory", strided),
    ]
    return [Case(about, given) for about, given in inputs]


def log_p_of_continuation(logits, words, prompt_length):
    log_p = logits.log_softmax(-1)
    targets = words[:, 1:]
    own = log_p.gather(-1, targets[:, :, None])[:, :, 0]
    kept = own[:, prompt_length - 1 :]
    return kept.sum(1)


LOG_P_OF_CONTINUATION = Exercise(
    "log_p_of_continuation",
    "trained_to_please",
    log_p_of_continuation_cases,
    log_p_of_continuation,
    'lesson 14, "Train on what was preferred"; glossary.show("direct preference optimisation")',
)

LOG_P, TARGETS, OWN, KEPT, SUM = (
    "logits.log_softmax(-1)",
    "words[:, 1:]",
    "log_p.gather(-1, targets[:, :, None])[:, :, 0]",
    "own[:, prompt_length - 1 :]",
    "kept.sum(1)",
)
SHIFT = "The first row of logits is made after token 0, so it's about token 1. Which row is about token number `prompt_length`?"
LOG_P_OF_CONTINUATION.edit("the first token after the prompt is left out", SHIFT, (KEPT, "own[:, prompt_length:]"))
LOG_P_OF_CONTINUATION.edit(
    "the last token of the prompt counts, too", SHIFT, (KEPT, "own[:, max(prompt_length - 2, 0) :]")
)
LOG_P_OF_CONTINUATION.edit(
    "each row of logits is asked for the token that was just read",
    f"{SHIFT} You look up each token in the row after it.",
    (TARGETS, "words[:, :-1]"),
)
LOG_P_OF_CONTINUATION.edit(
    "each row of logits is asked for the token that was just read, and the last prompt token is left out",
    f"{SHIFT} You look up each token in the row after it.",
    (TARGETS, "words[:, :-1]"),
    (KEPT, "own[:, prompt_length:]"),
)
LOG_P_OF_CONTINUATION.edit(
    "the tokens after the prompt are looked up in the first rows of logits",
    f"{SHIFT} You begin with the first row.",
    (TARGETS, "words[:, prompt_length:]"),
    (KEPT, "own"),
)
PROMPT = "The prompt is the same for both texts of a pair, and the model didn't write it. Leave it out."
LOG_P_OF_CONTINUATION.edit("the prompt counts, too", PROMPT, (KEPT, "own"))
LOG_P_OF_CONTINUATION.edit("only the prompt counts", PROMPT, (KEPT, "own[:, : prompt_length - 1]"))
END = "The last token was written, too. `logits` has a row for it."
LOG_P_OF_CONTINUATION.edit("the last token is left out", END, (KEPT, "own[:, prompt_length - 1 : -1]"))
LOG_P_OF_CONTINUATION.edit("only the last token counts", "Add up all tokens after the prompt.", (KEPT, "own[:, -1:]"))
LOG_P_OF_CONTINUATION.edit(
    "only the first token after the prompt counts",
    "Add up all tokens after the prompt.",
    (KEPT, "own[:, prompt_length - 1 : prompt_length]"),
)
LOG_P_OF_CONTINUATION.edit(
    "as many tokens count as the prompt has",
    "`prompt_length` says where the prompt ends. It doesn't say how many tokens follow.",
    (KEPT, "own[:, -prompt_length:]"),
)
MEAN = "The probability of a text is a product over its tokens, so its logarithm is a sum. A mean would make long and short texts alike."
LOG_P_OF_CONTINUATION.edit("it is the mean over the tokens, not the sum", MEAN, (SUM, "kept.mean(1)"))
LOG_P_OF_CONTINUATION.edit("the sum is divided by the length of the row", MEAN, (SUM, "kept.sum(1) / words.shape[1]"))
LOG_P_OF_CONTINUATION.edit(
    "it is the loss, with the sign turned",
    "A loss is the *negative* logarithm. A log-probability is 0 or less.",
    (SUM, "-kept.sum(1)"),
)
LOG_P_OF_CONTINUATION.edit(
    "it is the mean loss, with the sign turned",
    "A loss is the *negative* logarithm, and a mean over the tokens. Return the sum of the logarithms.",
    (SUM, "-kept.mean(1)"),
)
LOG_P_OF_CONTINUATION.edit(
    "the probability is returned, not its logarithm",
    "A text of 48 tokens has a probability too small to be stored. Stay with logarithms.",
    (SUM, "kept.sum(1).exp()"),
)
LOG_P_OF_CONTINUATION.edit(
    "probabilities are added, and the logarithm comes after",
    "Probabilities of tokens in a row are multiplied. What does that make of their logarithms?",
    (SUM, "kept.exp().sum(1).log()"),
)
LOG_P_OF_CONTINUATION.edit(
    "the logarithms are multiplied", "A product of probabilities is a *sum* of logarithms.", (SUM, "kept.prod(1)")
)
LOG_P_OF_CONTINUATION.edit(
    "the logarithm is left out",
    "You add up probabilities. Take the logarithm of each one first.",
    (LOG_P, "logits.softmax(-1)"),
)
LOG_P_OF_CONTINUATION.edit(
    "the softmax is left out",
    "Logits are scores. They become log-probabilities after a softmax and a logarithm.",
    (LOG_P, "logits"),
)
AXIS = "At each position, the probabilities of all tokens of the vocabulary add up to 1. Which axis of `logits` is the vocabulary?"
LOG_P_OF_CONTINUATION.edit("the softmax is over the positions", AXIS, (LOG_P, "logits.log_softmax(1)"))
LOG_P_OF_CONTINUATION.edit("the softmax is over the rows", AXIS, (LOG_P, "logits.log_softmax(0)"))
LOG_P_OF_CONTINUATION.edit(
    "the softmax is over everything but the rows",
    AXIS,
    (LOG_P, "logits - logits.logsumexp((1, 2), keepdim=True)"),
)
LOG_P_OF_CONTINUATION.edit(
    "exp overflows, since nothing is subtracted from the logits first",
    "`exp` of 100 and more is too large for float32. `log_softmax` subtracts the largest logit first.",
    (LOG_P, "logits - logits.exp().sum(-1, keepdim=True).log()"),
)
LOG_P_OF_CONTINUATION.edit(
    "a small probability becomes 0 before the logarithm",
    "float32 can't hold a softmax of 1e-50, and its logarithm is −∞. `log_softmax` does both at once.",
    (LOG_P, "logits.softmax(-1).log()"),
)
LOG_P_OF_CONTINUATION.edit(
    "a small probability becomes 0 before the logarithm",
    "float32 can't hold the product of many small probabilities, and the logarithm of 0 is −∞. Add up logarithms instead.",
    (SUM, "kept.exp().prod(1).log()"),
)
LOG_P_OF_CONTINUATION.edit(
    "the softmax is taken twice",
    "`log_softmax` and `cross_entropy` want the logits themselves.",
    (LOG_P, "logits.softmax(-1).log_softmax(-1)"),
)
LOG_P_OF_CONTINUATION.edit(
    "the most probable token is taken at each position",
    "Take the token that is there, whether the model would have written it or not.",
    (OWN, "log_p.amax(-1)"),
)
LOG_P_OF_CONTINUATION.edit(
    "all tokens of the vocabulary are added up",
    "At each position, one token is there. Take its log-probability alone.",
    (OWN, "log_p.sum(-1)"),
)
LOG_P_OF_CONTINUATION.edit(
    "the entropy is added up, not the tokens that are there",
    "At each position, one token is there. Take its log-probability alone.",
    (OWN, "(log_p.exp() * log_p).sum(-1)"),
)
ROWS = "Each row of `words` is a text and gets a number of its own."
LOG_P_OF_CONTINUATION.edit("all rows are added up", ROWS, (SUM, "kept.sum()"))
LOG_P_OF_CONTINUATION.edit("the mean over all rows and tokens is taken", ROWS, (SUM, "kept.mean()"))
LOG_P_OF_CONTINUATION.edit("the sum is over the rows, not over the tokens", ROWS, (SUM, "kept.sum(0)"))
LOG_P_OF_CONTINUATION.edit("each token's number is returned", "Add up the tokens of each row.", (SUM, "kept"))
LOG_P_OF_CONTINUATION.edit(
    "the sums so far are returned", "Return the last sum of each row alone.", (SUM, "kept.cumsum(1)")
)
LOG_P_OF_CONTINUATION.edit(
    "the logarithm has base 2",
    "A nat is a natural logarithm. Use the logarithm with base e.",
    (SUM, "kept.sum(1) / 0.6931471805599453"),
)
