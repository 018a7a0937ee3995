"""hiding_costs(log_probability, words, unk): by how much the log-probability falls when one word is hidden, word by word."""

import torch

from course_lib.checks.engine import Case, Exercise


def cases(generator: torch.Generator) -> list[Case]:
    def table(places: int, size: int) -> torch.Tensor:
        return 2 * torch.randn(places, size, generator=generator)

    inputs = [
        ("two words, the first matters", torch.tensor([[0.0, 0.0, 3.0], [0.0, 1.0, 1.0]]), [2, 2], 1),
        ("one word", table(1, 4), [3], 1),
        ("three words", table(3, 5), [2, 4, 3], 1),
        ("a word that occurs twice", table(4, 6), [5, 2, 5, 3], 0),
        ("<unk> has another number", table(3, 6), [0, 1, 2], 4),
        ("a word that is <unk> already", table(4, 5), [2, 3, 1, 4], 3),
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
    """Calls it with a log-probability made of a table: a number for each place and word, added, squashed."""
    import torch

    def log_probability(sentence):
        if not isinstance(sentence, torch.Tensor):
            raise TypeError(f"log_probability takes a tensor of word numbers; given was a {type(sentence).__name__}")
        if sentence.ndim != 1:
            raise ValueError(f"log_probability takes one sentence, of shape (n,); given was {tuple(sentence.shape)}")
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
    "the sign is turned",
    "A cost is what is lost: positive where the log-probability *falls* when the word is hidden.",
    ("before - after", "after - before"),
)
HIDING_COSTS.edit(
    "words stay hidden once they were",
    "Each word is hidden alone. Start from the whole sentence every time; is your copy made inside the loop?",
    ("place == i", "place <= i"),
)
HIDING_COSTS.edit(
    "each word is hidden on top of those before it",
    "Each word is hidden alone, and compared with the whole sentence.",
    ("place == i", "place <= i"),
    ("before - after", "torch.cat([before[None], after[:-1]]) - after"),
)
HIDING_COSTS.edit(
    "the word is taken out, not replaced",
    "Then the sentence gets shorter, and every later word stands at another place: two changes at once.",
    ("torch.where(place == i, unk, words)", "words[place != i]"),
)
HIDING_COSTS.edit(
    "every word of that kind is hidden",
    "A word that occurs twice is hidden at one place at a time: go by the place, not by the word.",
    ("place == i", "words == words[i]"),
)
HIDING_COSTS.edit(
    "the word's number is taken for its place",
    "words[i] is *which* word it is; where it stands is i.",
    ("torch.where(place == i, unk, words)", "words.index_fill(0, words[i], unk)"),
)
HIDING_COSTS.edit("all words but one are hidden", "Hide *one*; the others stay.", ("place == i", "place != i"))
HIDING_COSTS.edit(
    "probabilities are subtracted",
    "The difference of the *log*-probabilities is wanted, in nats. No exp is needed.",
    ("before - after", "before.exp() - after.exp()"),
)
HIDING_COSTS.edit(
    "log-probabilities are divided",
    "Quotients of probabilities are differences of their logarithms. How much lower is it, in nats?",
    ("before - after", "before / after"),
)
HIDING_COSTS.edit(
    "it gives what is left, not what is lost",
    "A cost compares: with the word, and without it.",
    ("before - after", "after"),
)
HIDING_COSTS.edit(
    "it hides with number 0, not with unk",
    "Which number <unk> has depends on the vocabulary; it comes in as unk.",
    ("place == i, unk", "place == i, 0"),
)
