"""Exercises of lesson 7: the Transformer taken apart."""

# ruff: noqa: E501 - a misconception is a line
import torch

from course_lib.checks.engine import Case, Exercise, Misconception, Question

DROPOUT = 'lesson 7, "Dropout"; glossary.show("dropout")'
HOPS = 'lesson 7, "Why more than one layer?"'
READING = 'lesson 7, "Reading the trained model"'
CUTTING = 'lesson 4 (`without`), and lesson 7, "Switch heads off"; transformer.without_heads'
FOCUS = 'lesson 7, "Attention maps reveal what the model focuses on"'
MIX = 'lesson 7, "The new it is mostly the value of chicken"; glossary.show("value")'


# ---- dropped(x, kept, share, training) ----


def dropped_cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    def keep(share: float, *shape: int) -> torch.Tensor:
        return torch.rand(*shape, generator=generator) >= share

    two, lost = torch.tensor([4.0, 8.0]), torch.tensor([True, False])
    inputs = [
        ("two numbers, the second dropped", two, lost, 0.25, True),
        ("the same, at inference", two, lost, 0.25, False),
        ("a share of 0.5, at inference", draw(2, 3), keep(0.5, 2, 3), 0.5, False),
        ("a share of 0.5", draw(5), keep(0.5, 5), 0.5, True),
        ("a share of 0.8", draw(2, 4), keep(0.8, 2, 4), 0.8, True),
        ("a share of 0.995", draw(6), torch.tensor([True, *[False] * 5]), 0.995, True),
        ("sentences of vectors", draw(2, 3, 5), keep(0.1, 2, 3, 5), 0.1, True),
        ("by chance nothing is dropped", draw(4), torch.ones(4, dtype=torch.bool), 0.1, True),
        ("by chance all is dropped", draw(3), torch.zeros(3, dtype=torch.bool), 0.3, True),
        ("a share of 0", draw(1, 4), torch.ones(1, 4, dtype=torch.bool), 0.0, True),
        ("a share of 1: everything goes", draw(2, 2), torch.zeros(2, 2, dtype=torch.bool), 1.0, True),
        ("float64", draw(3, 2).double(), keep(0.3, 3, 2), 0.3, True),
        ("numbers that do not lie in order in memory", draw(4, 3).T, keep(0.3, 3, 4), 0.3, True),
        ("a share of 1, at inference", draw(2, 4), torch.zeros(2, 4, dtype=torch.bool), 1.0, False),
    ]
    names = "x", "kept", "share", "training"
    return [Case(about, dict(zip(names, values, strict=True))) for about, *values in inputs]


def dropped_right(x, kept, share, training):
    if not training:
        return x
    return torch.where(kept, x * (1 / (1 - share) if share < 1 else 0.0), 0.0)


DROPPED = Exercise(
    "dropped", "taken_apart", dropped_cases, dropped_right, DROPOUT, banned=("torch.nn.functional.dropout",)
)


def in_training(change):
    """A wrong answer in training; at inference x goes through."""

    def answer(x, kept, share, training):
        return change(x, kept, share) if training else x

    return answer


DROPPED.misconception(
    "nothing makes up for what is dropped", "Add up what comes out over many draws: is a number on average what it was?"
)(in_training(lambda x, kept, share: x * kept))
DROPPED.misconception(
    "it is multiplied by 1 − share, not divided",
    "What is left must make up for what is gone. Does it get larger or smaller?",
)(in_training(lambda x, kept, share: x * kept * (1 - share)))
DROPPED.misconception("it is divided by share", "Of what share are the numbers that *stay*?")(
    in_training(lambda x, kept, share: torch.where(kept, x / share, 0.0))
)
DROPPED.misconception("it drops what should stay", "In kept, True means that the number stays.")(
    in_training(lambda x, kept, share: dropped_right(x, ~kept, share, True))
)


@DROPPED.misconception(
    "it drops at inference too", "The trained model should use all that it has. What is `training` for?"
)
def always_dropped(x, kept, share, training):
    return dropped_right(x, kept, share, True)


@DROPPED.misconception(
    "it scales both in training and at inference",
    "One of the two makes up for the other, so one is too many. At inference x should go through as it is.",
)
def scaled_twice(x, kept, share, training):
    return dropped_right(x, kept, share, True) if training else x * (1 - share)


@DROPPED.misconception(
    "it scales both in training and at inference",
    "One of the two makes up for the other, so one is too many. At inference x should go through as it is.",
)
def divided_twice(x, kept, share, training):
    return dropped_right(x, kept, share, True) if training else x / (1 - share)


PAPER_OF_2014 = "That is how the paper of 2014 has it. Here, as in torch, training does all of it: at inference x goes through as it is."


@DROPPED.misconception("it scales at inference instead of in training", PAPER_OF_2014)
def scaled_later(x, kept, share, training):
    return x * kept if training else x * (1 - share)


@DROPPED.misconception(
    "it divides at inference instead of in training",
    "Nothing is missing at inference, so nothing is to be made up for. When is something missing?",
)
def divided_at_inference(x, kept, share, training):
    return x * kept if training else x / (1 - share)


@DROPPED.misconception(
    "a share of 1 leaves nothing at inference either",
    "At inference nothing is dropped, whatever the share. Which of your two conditions is looked at first?",
)
def nothing_left(x, kept, share, training):
    return torch.zeros_like(x) if share == 1 else dropped_right(x, kept, share, training)


DROPPED.misconception(
    "a share of 1 gives NaN or an error",
    "With share = 1 there is nothing left to scale: 0/0. What should come out when everything goes?",
)(in_training(lambda x, kept, share: x * kept / (1 - torch.tensor(share))))
DROPPED.misconception(
    "a share of 1 gives NaN or an error",
    "With share = 1 there is nothing left to scale, and 1 − share is 0. What should come out when everything goes?",
)(in_training(lambda x, kept, share: x * kept * (1 / (1 - share))))
DROPPED.misconception(
    "it divides by the share that stayed by chance",
    "Use the probability, not what this draw came to: otherwise one number's size depends on the luck of the others.",
)(in_training(lambda x, kept, share: x * kept / kept.to(x.dtype).mean()))


# ---- layers_for_hops ----


ASKED_HOPS = (1, 2, 3, 4, 7, 8)


def layers_for(hops: int) -> int:
    """Layers until the question knows so many hops: it and every pair read one pair a layer, all at the same time."""
    known, chain, layers = 0, 1, 0  # hops that the question knows; hops that each pair holds
    while known < hops:
        known, chain, layers = known + chain, chain + chain, layers + 1
    return layers


LAYERS_FOR_HOPS = Question(
    "layers_for_hops",
    "taken_apart",
    lambda: [layers_for(hops) for hops in ASKED_HOPS],
    (
        Misconception("one layer for each hop", "So it is if only the question reads. But the pairs read as well, all in the same layer: what does the pair x → c hold after layer 1?", list(ASKED_HOPS)),
        Misconception("the chains double, but what the question has read already is left out", "While the pairs grow, the question reads too. How many hops does it know after layer 1, and how many does the pair hold that it reads in layer 2?", [1, 2, 3, 3, 4, 4]),
        Misconception("the last reading is not counted", "A pair that holds the whole chain is no use until the question has read it. Which layer does one hop need?", [0, 1, 2, 2, 3, 3]),
        Misconception("two hops for every layer", "What is read grows from layer to layer: after layer 1 a pair holds two hops, after layer 2 …?", [1, 1, 2, 2, 4, 4]),
        Misconception("one layer for everything", "In one layer a pair is read as it came in. Who tells the question, in layer 1, which pair to read for hop 2?", [1, 1, 1, 1, 1, 1]),
    ),
    HOPS,
)  # fmt: skip


# ---- weight_at(weights, words, offset) ----


def weight_at_cases(generator: torch.Generator) -> list[Case]:
    def maps(lengths: list[int], heads: int, longest: int | None = None) -> dict[str, torch.Tensor]:
        """Weights as a model gives them: nothing on padding, but padded queries look at words."""
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
        ("the same, the word after", {"weights": three, "words": all_words}, 1),
        ("the same, the word itself", {"weights": three, "words": all_words}, 0),
        ("two words and padding, the word before", {"weights": padded, "words": two_words}, -1),
        ("two words and padding, the word after", {"weights": padded, "words": two_words}, 1),
        ("two heads", maps([4], 2), -1),
        ("sentences of unequal lengths", apart, -1),
        ("sentences of unequal lengths, the word after", apart, 1),
        ("sentences of unequal lengths, the word itself", apart, 0),
        ("as many sentences as heads as words", maps([3, 3, 3], 3), -1),
        ("two words further on", maps([5, 3, 2], 2), 2),
        ("padding in front", front, 1),
        ("padding in front, the word before", front, -1),
        ("a pair of weight 0", {"weights": three * torch.tensor([1.0, 0.0, 1.0]), "words": all_words}, 1),
        ("padding between words", {"weights": three, "words": torch.tensor([[True, False, True]])}, 1),
        ("padding between the two words", {"weights": three, "words": torch.tensor([[True, False, True]])}, 2),
        ("padding among four words", {"weights": four, "words": torch.tensor([[True, False, True, True]])}, 1),
        ("padding in front of the only sentence", {"weights": three, "words": torch.tensor([[False, True, True]])}, -1),
        ("three words further on", maps([5, 6], 2), 3),
        ("one word, and the word before it", maps([1], 2), -1),
        ("further back than any sentence is long", maps([2, 3], 2), -4),
        ("a sentence without any word", maps([0, 3], 2), -1),
        ("float64", double, -1),
        ("weights that do not lie in order in memory", strange, -2),
    ]
    return [Case(about, {**given, "offset": offset}) for about, given, offset in inputs]


def weight_at_right(weights, words, offset):
    batch, heads, n, _ = weights.shape
    places = [
        (b, i, i + offset)
        for b in range(batch)
        for i in range(n)
        if 0 <= i + offset < n and words[b, i] and words[b, i + offset]
    ]
    return torch.stack([sum((weights[b, h, i, j] for b, i, j in places), weights.new_zeros(())) for h in range(heads)]) / max(1, len(places))  # fmt: skip


WEIGHT_AT = Exercise("weight_at", "taken_apart", weight_at_cases, weight_at_right, READING)


@WEIGHT_AT.misconception(
    "it looks the other way",
    "In a row is the word that looks, in a column the word looked at. With offset −1, which column belongs to row 1?",
)
def other_way(weights, words, offset):
    return weight_at_right(weights, words, -offset)


def along(weights, words, offset, queries=True, keys=True):
    """Weights on the diagonal, which of them count, and how many places there are: (batch, head, m) and (batch, m)."""
    counted = torch.ones_like(words[:, :, None] & words[:, None, :])
    if queries:
        counted = counted & words[:, :, None]
    if keys:
        counted = counted & words[:, None, :]
    counted = counted.diagonal(offset, -2, -1)
    return weights.diagonal(offset, -2, -1) * counted[:, None], counted


def counting(queries, keys):
    def answer(weights, words, offset):
        looks, counted = along(weights, words, offset, queries, keys)
        return looks.sum((0, 2)) / max(1, int(counted.sum()))

    return answer


NEITHER = "Take the case with two words and padding. Which pairs (query, key) are two words that stand so?"
WEIGHT_AT.misconception("padding is counted", NEITHER + " A padded query has weights too; they mean nothing.")(
    counting(False, False)
)
WEIGHT_AT.misconception(
    "only padded words that are looked at are left out", NEITHER + " The row of padding has weights too."
)(counting(False, True))
WEIGHT_AT.misconception(
    "only padded words that look are left out",
    NEITHER + " The last word has padding after it, and the weight there is 0: should that 0 be in the mean?",
)(counting(True, False))


def wrapped(before, after):
    """Counts pairs that go round: past the first word to the last, past the last to the first."""

    def answer(weights, words, offset):
        n = words.shape[1]
        pairs = [(i, i + offset) for i in range(n) if (before or i + offset >= 0) and (after or i + offset < n)]
        looks, count = weights.new_zeros(weights.shape[1]), 0
        for i, j in pairs:
            here = words[:, i] & words[:, j % n]
            looks, count = looks + (weights[:, :, i, j % n] * here[:, None]).sum(0), count + int(here.sum())
        return looks / max(1, count)

    return answer


ROUND = "Word 0 has no word before it. In Python place −1 is the last one, and torch.roll brings it back to the front."
WEIGHT_AT.misconception("it goes round past the end of the sentence", ROUND)(wrapped(True, False))
WEIGHT_AT.misconception("it goes round past the end of the sentence", ROUND)(wrapped(True, True))


@WEIGHT_AT.misconception(
    "it divides by the number of all words", "The first word has no word before it. How many words have one?"
)
def of_all_words(weights, words, offset):
    return along(weights, words, offset)[0].sum((0, 2)) / max(1, int(words.sum()))


WEIGHT_AT.misconception(
    "every sentence counts the same",
    "The mean is over words: a sentence of five has more of them than a sentence of two.",
)(lambda weights, words, offset: by_sentence(weights, words, offset).mean(0))


@WEIGHT_AT.misconception(
    "it gives a number for each sentence", "One number a head is wanted, over the words of all sentences together."
)
def by_sentence(weights, words, offset):
    looks, counted = along(weights, words, offset)
    return looks.sum(2) / counted.sum(1, keepdim=True).clamp(min=1)


WEIGHT_AT.misconception("the heads are averaged too", "Which head looks there is the question. Keep the head's axis.")(
    lambda weights, words, offset: weight_at_right(weights, words, offset).mean()
)
WEIGHT_AT.misconception(
    "it is a sum, not a mean", "The sum grows with the number of words. Of how many weights is it the sum?"
)(lambda weights, words, offset: along(weights, words, offset)[0].sum((0, 2)))


@WEIGHT_AT.misconception(
    "with no such word it gives NaN",
    "A sentence of one word has no word before any: 0/0. The exercise says what should come out.",
)
def gives_nan(weights, words, offset):
    looks, counted = along(weights, words, offset)
    return looks.sum((0, 2)) / counted.sum()


# ---- cut_a_head(W, head, heads) ----


def cut_cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    small = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    inputs = [
        ("two heads of one number, the first cut", small, 0, 2),
        ("the same, the second cut", small, 1, 2),
        ("two heads of two numbers", draw(4, 4), 0, 2),
        ("three heads of two numbers, the middle cut", draw(6, 6), 1, 3),
        ("the last of four heads", draw(8, 8), 3, 4),
        ("fewer numbers out than in", draw(3, 6), 1, 2),
        ("more numbers out than in", draw(8, 4), 1, 2),
        ("a single head", draw(3, 3), 0, 1),
        ("one number out", draw(1, 4), 1, 2),
        ("two heads of one number, other numbers", draw(2, 2), 0, 2),
        ("float64", draw(4, 4).double(), 1, 4),
        ("numbers that do not lie in order in memory", draw(6, 4).T, 2, 3),
    ]
    return [Case(about, {"W": W, "head": head, "heads": heads}) for about, W, head, heads in inputs]


def cut_right(W, head, heads):
    out, numbers = W.shape
    size = numbers // heads
    inside = torch.tensor([head * size <= column < (head + 1) * size for column in range(numbers)])
    return torch.where(inside, 0.0, W)


CUT_A_HEAD = Exercise("cut_a_head", "taken_apart", cut_cases, cut_right, CUTTING)
ACROSS = "torch computes x W^T: a column of W takes one number of what the heads found, a row makes one number of the output. "


@CUT_A_HEAD.misconception("rows are cut, not columns", ACROSS + "Where does the head's part come in?")
def rows_cut(W, head, heads):
    size = W.shape[0] // heads
    there = torch.arange(W.shape[0])[:, None]
    return torch.where((there >= head * size) & (there < (head + 1) * size), 0.0, W)


@CUT_A_HEAD.misconception("rows are cut, not columns", ACROSS + "Where does the head's part come in?")
def rows_of_the_columns_size(W, head, heads):
    size = W.shape[1] // heads
    there = torch.arange(W.shape[0])[:, None]
    return torch.where((there >= head * size) & (there < (head + 1) * size), 0.0, W)


@CUT_A_HEAD.misconception(
    "the size of a head is taken from the rows",
    "W need not be square. The heads stand side by side in what *comes in*: along which axis is that?",
)
def size_from_the_rows(W, head, heads):
    size = W.shape[0] // heads
    there = torch.arange(W.shape[1])
    return torch.where((there >= head * size) & (there < (head + 1) * size), 0.0, W)


@CUT_A_HEAD.misconception(
    "a number of every head is cut",
    "Concat puts the heads one after the other: first all numbers of head 0, then all of head 1.",
)
def every_other(W, head, heads):
    return torch.where(torch.arange(W.shape[1]) % heads == head, 0.0, W)


CUT_A_HEAD.misconception("the other heads are cut", "Yours keeps the head that should go.")(
    lambda W, head, heads: W - cut_right(W, head, heads)
)


@CUT_A_HEAD.misconception("heads are counted from 1", "Head 0 is the first one: where do its columns start?")
def from_one(W, head, heads):
    size = W.shape[1] // heads
    there = torch.arange(W.shape[1])
    return torch.where((there >= (head - 1) * size) & (there < head * size), 0.0, W)


@CUT_A_HEAD.misconception(
    "the columns are taken out, not set to 0",
    "The heads still hand on as many numbers as before, so W must keep its shape.",
)
def columns_gone(W, head, heads):
    size = W.shape[1] // heads
    return torch.cat([W[:, : head * size], W[:, (head + 1) * size :]], 1)


# ---- right_after_the_cut: an experiment ----


RIGHT_AFTER_THE_CUT = Question(
    "right_after_the_cut",
    "taken_apart",
    lambda: [0.1, 1.0],
    (
        Misconception("that is the model with both heads", "Read the group of bars of the head that has most weight on the digit before, when it is cut.", [1.0, 1.0]),
        Misconception("that is the other head, or the two numbers are swapped", "First the share for the digit *before*, then for the digit *after*; and cut is the head that looks at the digit before.", [1.0, 0.1]),
        Misconception("both fall to guessing", "Only one head is cut. Does the other one still look, and where?", [0.1, 0.1]),
        Misconception("half of it is left", "Half of the heads, but not half of every answer. Read each of the two bars by itself.", [0.5, 0.5]),
        Misconception("that is the weight of the heads", "The left picture shows where the heads look. What is asked for is the right picture.", [0.75, 0.1]),
        Misconception("nothing is left of one", "Who guesses one of ten digits is right now and then. How high is the dotted line?", [0.0, 1.0]),
        Misconception("that is one number", "Two shares are asked for, in a list: for the digit before, and for the digit after.", 0.1),
        Misconception("half of it is left", "Guessing one of two gives a half. Of how many digits is this one?", [0.5, 1.0]),
    ),
    READING,
    tolerance=0.08,
)  # fmt: skip


# ---- hiding_costs(log_probability, words, unk) ----


def hiding_cases(generator: torch.Generator) -> list[Case]:
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


def hidden_one_by_one(log_probability, words, unk):
    for i in range(len(words)):
        yield log_probability(torch.where(torch.arange(len(words)) == i, unk, words))


def hiding_right(log_probability, words, unk):
    return log_probability(words) - torch.stack(list(hidden_one_by_one(log_probability, words, unk)))


HIDING_COSTS = Exercise("hiding_costs", "taken_apart", hiding_cases, hiding_right, FOCUS, drive=with_table)


@HIDING_COSTS.misconception(
    "the sign is turned", "A cost is what is lost: positive where the log-probability *falls* when the word is hidden."
)
def sign_turned(log_probability, words, unk):
    return -hiding_right(log_probability, words, unk)


@HIDING_COSTS.misconception(
    "words stay hidden once they were",
    "Each word is hidden alone. Start from the whole sentence every time; is your copy made inside the loop?",
)
def staying_hidden(log_probability, words, unk):
    there = torch.arange(len(words))
    return log_probability(words) - torch.stack([log_probability(torch.where(there <= i, unk, words)) for i in there])


@HIDING_COSTS.misconception(
    "each word is hidden on top of those before it", "Each word is hidden alone, and compared with the whole sentence."
)
def last_two_compared(log_probability, words, unk):
    total = staying_hidden(log_probability, words, unk)
    return torch.diff(total, prepend=total.new_zeros(1))


@HIDING_COSTS.misconception(
    "the word is taken out, not replaced",
    "Then the sentence gets shorter, and every later word stands at another place: two changes at once.",
)
def taken_out(log_probability, words, unk):
    shorter = [torch.cat([words[:i], words[i + 1 :]]) for i in range(len(words))]
    return log_probability(words) - torch.stack([log_probability(sentence) for sentence in shorter])


@HIDING_COSTS.misconception(
    "every word of that kind is hidden",
    "A word that occurs twice is hidden at one place at a time: go by the place, not by the word.",
)
def all_of_its_kind(log_probability, words, unk):
    hidden = [torch.where(words == word, unk, words) for word in words]
    return log_probability(words) - torch.stack([log_probability(sentence) for sentence in hidden])


@HIDING_COSTS.misconception(
    "the word's number is taken for its place", "words[i] is *which* word it is; where it stands is i."
)
def number_for_place(log_probability, words, unk):
    hidden = [words.index_fill(0, word, unk) for word in words]
    return log_probability(words) - torch.stack([log_probability(sentence) for sentence in hidden])


@HIDING_COSTS.misconception("all words but one are hidden", "Hide *one*; the others stay.")
def all_but_one(log_probability, words, unk):
    there = torch.arange(len(words))
    return log_probability(words) - torch.stack([log_probability(torch.where(there != i, unk, words)) for i in there])


@HIDING_COSTS.misconception(
    "probabilities are subtracted", "The difference of the *log*-probabilities is wanted, in nats. No exp is needed."
)
def probabilities(log_probability, words, unk):
    hidden = torch.stack(list(hidden_one_by_one(log_probability, words, unk)))
    return log_probability(words).exp() - hidden.exp()


@HIDING_COSTS.misconception(
    "log-probabilities are divided",
    "Quotients of probabilities are differences of their logarithms. How much lower is it, in nats?",
)
def quotients(log_probability, words, unk):
    return log_probability(words) / torch.stack(list(hidden_one_by_one(log_probability, words, unk)))


HIDING_COSTS.misconception(
    "it gives what is left, not what is lost", "A cost compares: with the word, and without it."
)(lambda log_probability, words, unk: torch.stack(list(hidden_one_by_one(log_probability, words, unk))))
HIDING_COSTS.misconception(
    "it hides with number 0, not with unk", "Which number <unk> has depends on the vocabulary; it comes in as unk."
)(lambda log_probability, words, unk: hiding_right(log_probability, words, 0))


# ---- word_shares(weights, values) ----


def shares_cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator) + 0.7  # so that no output is near zero

    def weights(queries: int, keys: int) -> torch.Tensor:
        return torch.randn(queries, keys, generator=generator).softmax(-1)

    some = weights(3, 3)
    some[1] = 0
    inputs = [
        ("two words at right angles", torch.tensor([[0.25, 0.75]]), torch.tensor([[12.0, 0.0], [0.0, 4.0]])),
        ("an output whose numbers sum to 0", torch.tensor([[0.25, 0.75]]), torch.tensor([[12.0, 0.0], [0.0, -4.0]])),
        ("an output that begins with 0", torch.tensor([[0.25, 0.75]]), torch.tensor([[0.0, 12.0], [0.0, 4.0]])),
        ("two words that pull apart", torch.tensor([[0.5, 0.5]]), torch.tensor([[2.0], [-1.0]])),
        ("all weight on one word", torch.tensor([[0.0, 1.0]]), torch.tensor([[1.0, 2.0], [3.0, 1.0]])),
        ("three words, three queries", weights(3, 3), draw(3, 3)),
        ("two queries, five words", weights(2, 5), draw(5, 3)),
        ("four queries, two words", weights(4, 2), draw(2, 6)),
        ("one word", weights(2, 1), draw(1, 4)),
        ("long values", weights(2, 4), 100 * draw(4, 3)),
        ("short values", weights(2, 4), 0.01 * draw(4, 3)),
        ("very short values", weights(2, 3), 1e-6 * draw(3, 3)),
        ("words that nearly cancel", torch.tensor([[0.5, 0.5]]), torch.tensor([[1.0], [-0.9]])),
        ("a query that looks at nothing", some, draw(3, 4)),
        ("float64", weights(3, 2).double(), draw(2, 2).double()),
        ("numbers that do not lie in order in memory", weights(4, 3).T.contiguous().T, draw(5, 3).T),
    ]
    return [Case(about, {"weights": w, "values": v}) for about, w, v in inputs]


def shares_right(weights, values):
    rows = []
    for row in weights:
        pieces = row[:, None] * values
        a = pieces.sum(0)
        rows.append((pieces * a).sum(1) / (a * a).sum() if a.any() else torch.zeros_like(row))
    return torch.stack(rows)


WORD_SHARES = Exercise("word_shares", "taken_apart", shares_cases, shares_right, MIX, tolerance=1e-4)


def shares_over(measure):
    """A wrong answer that differs in what is computed from weights, dot products v_j · a and the output a."""

    def answer(weights, values):
        a = weights @ values
        return torch.nan_to_num(measure(weights, a @ values.T, a, values), nan=0.0)

    return answer


WORD_SHARES.misconception(
    "these are the weights", "A word with much weight and a short value hands on little. What do the values add?"
)(shares_over(lambda w, dots, a, v: w))
WORD_SHARES.misconception(
    "it is divided by ‖a‖, not by ‖a‖²",
    "Do the shares of a row sum to 1? Make all values ten times as long: a share must not change.",
)(shares_over(lambda w, dots, a, v: w * dots / a.norm(dim=-1, keepdim=True)))
WORD_SHARES.misconception("it is not divided by anything", "Do the shares of a row sum to 1?")(
    shares_over(lambda w, dots, a, v: w * dots)
)
WORD_SHARES.misconception(
    "the weight of the word is left out", "What a word hands on is its value *times* its weight."
)(shares_over(lambda w, dots, a, v: dots / a.square().sum(-1, keepdim=True)))
WORD_SHARES.misconception(
    "the weight of the word is left out", "What a word hands on is its value *times* its weight."
)(shares_over(lambda w, dots, a, v: dots / dots.sum(-1, keepdim=True)))
WORD_SHARES.misconception(
    "all queries share one ‖a‖",
    "Each query has an output of its own, and so a length of its own. Over which axis should the squares be added?",
)(shares_over(lambda w, dots, a, v: w * dots / a.square().sum()))


def lengths_shared(weights, dots, a, values):
    long = weights * values.norm(dim=-1)
    return long / long.sum(-1, keepdim=True)


WORD_SHARES.misconception(
    "it compares lengths and forgets directions",
    "A long piece that points against the output takes away from it. How much of the piece lies along a?",
)(shares_over(lengths_shared))


def made_positive(weights, dots, a, values):
    positive = (weights * dots).abs()
    return positive / positive.sum(-1, keepdim=True)


WORD_SHARES.misconception(
    "negative shares are made positive",
    "A word may pull against the output; then its share is negative, and those of the others sum to more than 1.",
)(shares_over(made_positive))
WORD_SHARES.misconception(
    "negative shares are made positive",
    "A word may pull against the output; then its share is negative, and those of the others sum to more than 1.",
)(shares_over(lambda w, dots, a, v: (w * dots).abs() / a.square().sum(-1, keepdim=True)))
WORD_SHARES.misconception(
    "these are cosines", "A cosine forgets how long the piece is. Do the shares of a row sum to 1?"
)(shares_over(lambda w, dots, a, v: dots / a.norm(dim=-1, keepdim=True) / v.norm(dim=-1)))
WORD_SHARES.misconception("a softmax runs over them", "They are shares already and sum to 1 as they are.")(
    lambda weights, values: shares_right(weights, values).softmax(-1)
)


@WORD_SHARES.misconception(
    "a query that looks at nothing gives NaN",
    "Its output is the zero vector: 0/0. The exercise says what should come out.",
)
def shares_nan(weights, values):
    a = weights @ values
    return weights * (a @ values.T) / a.square().sum(-1, keepdim=True)


WORD_SHARES.misconception(
    "rows and columns are swapped", "A row for each query, a column for each word that is looked at."
)(lambda weights, values: shares_right(weights, values).T)


ASKED = [DROPPED, LAYERS_FOR_HOPS, WEIGHT_AT, CUT_A_HEAD, RIGHT_AFTER_THE_CUT, HIDING_COSTS, WORD_SHARES]
