"""hiding_costs(log_probability, words, unk): how far the log-probability falls when each word alone is hidden."""

import torch

from course_lib.checks.engine import Case, Exercise


def cases(generator: torch.Generator) -> list[Case]:
    def table(positions: int, size: int) -> torch.Tensor:
        return 2 * torch.randn(positions, size, generator=generator)

    inputs = [
        ("two words, of which the first matters", torch.tensor([[0.0, 0.0, 3.0], [0.0, 1.0, 1.0]]), [2, 2], 1),
        ("one word", table(1, 4), [3], 1),
        ("three words", table(3, 5), [2, 4, 3], 1),
        ("a word that occurs twice", table(4, 6), [5, 2, 5, 3], 0),
        ("<unk> has another number", table(3, 6), [0, 1, 2], 4),
        ("a word that is already <unk>", table(4, 5), [2, 3, 1, 4], 3),
        ("seven words", table(7, 9), [1, 8, 2, 2, 7, 5, 0], 6),
        ("a sentence that the model finds very unlikely", table(3, 4) - 80, [1, 2, 3], 0),
        ("float64", table(3, 4).double(), [1, 2, 3], 0),
    ]
    return [Case(about, {"table": t, "words": torch.tensor(words), "unk": unk}) for about, t, words, unk in inputs]


def right(log_probability, words, unk):
    place = torch.arange(len(words))
    hidden = [torch.where(place == i, unk, words) for i in place]
    before = log_probability(words)
    after = torch.stack([log_probability(sentence) for sentence in hidden])
    return before - after


def with_table(answer, table, words, unk):
    """Calls the answer with a log-probability made from a table. It adds up one number for each position and its word, and takes the log of the sigmoid."""
    import torch

    def log_probability(sentence):
        if not isinstance(sentence, torch.Tensor):
            raise TypeError(f"log_probability takes a tensor of word numbers, but it got a {type(sentence).__name__}")
        if sentence.ndim != 1:
            raise ValueError(
                f"log_probability takes one sentence, of shape (n,), but it got the shape {tuple(sentence.shape)}"
            )
        added = table[torch.arange(len(sentence)), sentence].sum()
        return torch.nn.functional.logsigmoid(added)

    return answer(log_probability, words, unk)


HIDING_COSTS = Exercise(
    "hiding_costs",
    "taken_apart",
    cases,
    right,
    'lesson 7, "Attention maps reveal what the model focuses on"',
    drive=with_table,
    tensor=True,
)

HIDING_COSTS.edit(
    "the sign is wrong",
    "A cost is a loss. It is positive where the log-probability *falls* when the word is hidden.",
    ("before - after", "after - before"),
)
HIDING_COSTS.edit(
    "a word stays hidden after its turn",
    "Each word is hidden alone. Is the word before it back in your sentence by then?",
    ("place == i", "place <= i"),
)
HIDING_COSTS.edit(
    "each word is hidden in addition to the words before it",
    "Each word is hidden alone. With which sentence do you compare the result?",
    ("place == i", "place <= i"),
    ("before - after", "torch.cat([before[None], after[:-1]]) - after"),
)
HIDING_COSTS.edit(
    "the word is removed, not replaced",
    "Then the sentence gets shorter, and every later word moves to another position. That makes two changes at once.",
    ("torch.where(place == i, unk, words)", "words[place != i]"),
)
HIDING_COSTS.edit(
    "a word that occurs twice is hidden at all its positions",
    "Hide one position at a time. How does your code choose what to hide, by the word or by its position?",
    ("place == i", "words == words[i]"),
)
HIDING_COSTS.edit(
    "the word's number is used as its position",
    "The number in `words` says *which* word it is. What says where in the sentence it is?",
    ("torch.where(place == i, unk, words)", "words.index_fill(0, words[i], unk)"),
)
HIDING_COSTS.edit(
    "all words but one are hidden", "Hide *one* word, and leave the others.", ("place == i", "place != i")
)
HIDING_COSTS.edit(
    "probabilities are subtracted",
    "The cost is the difference of two *log*-probabilities, in nats. It needs no exp.",
    ("before - after", "before.exp() - after.exp()"),
)
HIDING_COSTS.edit(
    "log-probabilities are divided",
    "Dividing probabilities means subtracting their logarithms. By how many nats does the log-probability fall?",
    ("before - after", "before / after"),
)
HIDING_COSTS.edit(
    "it returns what is left, not what is lost",
    "A cost compares two log-probabilities, one with the word and one without it.",
    ("before - after", "after"),
)
HIDING_COSTS.edit(
    "it hides a word with number 0, not with unk",
    "The number of <unk> depends on the vocabulary. Which argument tells you?",
    ("place == i, unk", "place == i, 0"),
)
