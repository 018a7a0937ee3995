"""weight_at(weights, words, offset): for each head, the mean weight that a word gives to the word at this offset."""

import torch

from course_lib.checks.engine import Case, Exercise


def cases(generator: torch.Generator) -> list[Case]:
    def maps(lengths: list[int], heads: int, longest: int | None = None) -> dict[str, torch.Tensor]:
        """Makes weights as a model does: padding gets none, but the rows of padding look at words."""
        words = torch.arange(longest or max(lengths)) < torch.tensor(lengths)[:, None]
        scores = 2 * torch.randn(len(lengths), heads, words.shape[1], words.shape[1], generator=generator)
        closed = scores.masked_fill(~words[:, None, None], -torch.inf)
        return {"weights": closed.softmax(-1).nan_to_num(0.0), "words": words}

    three = torch.tensor([[[[0.2, 0.7, 0.1], [0.5, 0.3, 0.2], [0.3, 0.6, 0.1]]]])
    padded = torch.tensor([[[[0.2, 0.8, 0.0], [0.5, 0.5, 0.0], [0.4, 0.6, 0.0]]]])
    four = torch.arange(1.0, 17).reshape(1, 1, 4, 4) / 16
    all_words, two_words = torch.ones(1, 3, dtype=torch.bool), torch.tensor([[True, True, False]])
    apart, double = maps([2, 5, 4], 2), maps([3, 4], 1)
    front = maps([3, 5], 2)
    front = {"weights": front["weights"].flip(2, 3), "words": front["words"].flip(1)}
    double["weights"] = double["weights"].double()
    strange = maps([6, 3], 3)
    strange["weights"] = strange["weights"].permute(3, 2, 1, 0).contiguous().permute(3, 2, 1, 0)
    inputs = [
        ("one head, three words, the word before", {"weights": three, "words": all_words}, -1),
        ("the same weights, the word after", {"weights": three, "words": all_words}, 1),
        ("the same weights, the word itself", {"weights": three, "words": all_words}, 0),
        ("two words and padding, the word before", {"weights": padded, "words": two_words}, -1),
        ("two words and padding, the word after", {"weights": padded, "words": two_words}, 1),
        ("two heads", maps([4], 2), -1),
        ("sentences of unequal lengths", apart, -1),
        ("sentences of unequal lengths, the word after", apart, 1),
        ("sentences of unequal lengths, the word itself", apart, 0),
        ("as many sentences as heads and words", maps([3, 3, 3], 3), -1),
        ("two positions further on", maps([5, 3, 2], 2), 2),
        ("padding in front", front, 1),
        ("padding in front, the word before", front, -1),
        ("a pair with weight 0", {"weights": three * torch.tensor([1.0, 0.0, 1.0]), "words": all_words}, 1),
        ("padding between words", {"weights": three, "words": torch.tensor([[True, False, True]])}, 1),
        ("padding between the two words", {"weights": three, "words": torch.tensor([[True, False, True]])}, 2),
        ("padding among four words", {"weights": four, "words": torch.tensor([[True, False, True, True]])}, 1),
        ("padding in front of the only sentence", {"weights": three, "words": torch.tensor([[False, True, True]])}, -1),
        ("three positions further on", maps([5, 6], 2), 3),
        ("one word, and the word before it", maps([1], 2), -1),
        ("further back than any sentence is long", maps([2, 3], 2), -4),
        ("a sentence without any word", maps([0, 3], 2), -1),
        ("float64", double, -1),
        ("weights that aren't contiguous in memory", strange, -2),
    ]
    return [Case(about, {**given, "offset": offset}) for about, given, offset in inputs]


def right(weights, words, offset):
    query, key = words[:, :, None], words[:, None, :]
    both = query & key
    counted = both.diagonal(offset, -2, -1)  # (batch, pair)
    looks = weights.diagonal(offset, -2, -1) * counted[:, None]  # (batch, head, pair)
    return looks.sum((0, 2)) / counted.sum().clamp(min=1)


WEIGHT_AT = Exercise("weight_at", "taken_apart", cases, right, 'lesson 7, "Reading the trained model"', tensor=True)

WEIGHT_AT.edit(
    "it looks the other way",
    "A row belongs to the word that looks, a column to the word it looks at. With offset −1, which column goes with row 1?",
    ("both.diagonal(offset", "both.diagonal(-offset"),
    ("weights.diagonal(offset", "weights.diagonal(-offset"),
)
NEITHER = "Take the example with two words and padding. Which pairs with this offset consist of two words?"
WEIGHT_AT.edit(
    "padding is counted",
    f"{NEITHER} The row of the padding has weights, too, but they mean nothing.",
    ("query & key", "torch.ones_like(query & key)"),
)
WEIGHT_AT.edit(
    "padding is left out only where it is looked at",
    f"{NEITHER} The row of the padding has weights, too.",
    ("query & key", "torch.ones_like(query) & key"),
)
WEIGHT_AT.edit(
    "padding is left out only where it looks",
    f"{NEITHER} The last word has padding after it, and its weight there is 0. Should this 0 count in the mean?",
    ("query & key", "query & torch.ones_like(key)"),
)


def wrapped(after):
    """Wraps around from the first word to the last and, if `after`, from the last to the first, too."""

    def answer(weights, words, offset):
        n = words.shape[1]
        i = torch.tensor([i for i in range(n) if after or i + offset < n], dtype=torch.long)
        j = (i + offset) % n
        counted = words[:, i] & words[:, j]
        looks = weights[:, :, i, j] * counted[:, None]
        return looks.sum((0, 2)) / counted.sum().clamp(min=1)

    return answer


for after in (False, True):
    WEIGHT_AT.misconception(
        "it wraps around at the end of the sentence",
        "Word 0 has no word before it. In Python, position −1 is the last one, and torch.roll wraps around, too.",
    )(wrapped(after))
WEIGHT_AT.edit(
    "it divides by the number of all words",
    "With offset −1, the first word has no partner. How many words have one?",
    ("counted.sum()", "words.sum()"),
)
OF_A_SENTENCE = "looks.sum(2) / counted.sum(1, keepdim=True).clamp(min=1)"
WEIGHT_AT.edit(
    "every sentence counts the same",
    "The mean is over pairs, and a sentence of five words has more of them than a sentence of two.",
    ("looks.sum((0, 2)) / counted.sum().clamp(min=1)", f"({OF_A_SENTENCE}).mean(0)"),
)
WEIGHT_AT.edit(
    "every sentence counts the same",
    "The mean is over pairs, and a sentence of five words has more of them than a sentence of two.",
    (
        "looks.sum((0, 2)) / counted.sum().clamp(min=1)",
        f"({OF_A_SENTENCE}).sum(0) / counted.any(1).sum().clamp(min=1)",
    ),
)
WEIGHT_AT.edit(
    "it returns a number for each sentence",
    "One number per head is wanted, over the pairs of all sentences together.",
    ("looks.sum((0, 2)) / counted.sum().clamp(min=1)", OF_A_SENTENCE),
)
WEIGHT_AT.edit(
    "it averages over the heads, too",
    "The question is which head looks there. Keep the axis of the heads.",
    ("looks.sum((0, 2))", "looks.mean(1).sum()"),
)
WEIGHT_AT.edit(
    "it returns a sum, not a mean",
    "A sum grows with the number of pairs. How many weights does it add up?",
    (" / counted.sum().clamp(min=1)", ""),
)
WEIGHT_AT.edit(
    "it returns NaN if no pair counts",
    "If no pair counts, the mean is 0/0, which is NaN. The exercise says what to return then.",
    (".clamp(min=1)", ""),
)
