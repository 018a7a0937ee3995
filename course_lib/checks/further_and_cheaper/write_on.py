"""`write_on(x, past, W_q, W_k, W_v)`: one word further, with rotary positions and the keys and values of the past."""

import torch
from torch.nn import functional as F

from course_lib.checks.engine import Case, Exercise
from course_lib.checks.further_and_cheaper.rotary import rotary


def write_cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    def given(before: int, d: int, k: int, dtype=torch.float32, times: float = 1.0) -> list:
        weights = [times * draw(*shape).to(dtype) / d**0.5 for shape in ((d, k), (d, k), (d, k))]
        words = draw(before, d).to(dtype)
        past = turned(words @ weights[1], 0), words @ weights[2]
        return [draw(1, d).to(dtype), past, *weights]

    crossed = given(4, 3, 6)
    crossed[2:] = [W.T.contiguous().T for W in crossed[2:]]
    inputs = [
        ("two words in the past", *given(2, 3, 2)),
        ("three words in the past, two pairs", *given(3, 3, 4)),
        ("one word in the past", *given(1, 4, 4)),
        ("the very first word", *given(0, 3, 2)),
        ("many words in the past", *given(17, 6, 4)),
        ("as many words as numbers in a key", *given(4, 4, 4)),
        ("a larger head", *given(5, 4, 8)),
        ("large scores", *given(4, 3, 4, torch.float64, 6.0)),
        ("float64", *given(3, 5, 6, torch.float64)),
        ("weights that do not lie in order in memory", *crossed),
    ]
    return [Case(about, dict(zip(("x", "past", "W_q", "W_k", "W_v"), rest, strict=True))) for about, *rest in inputs]


def turned(x, start):
    """Rows turned as at the places start, start + 1, …"""
    return rotary(x[None], start)[0]


def write_on(x, past, W_q, W_k, W_v):
    place = len(past[0])
    query = turned(x @ W_q, place)
    key = turned(x @ W_k, place)
    value = x @ W_v
    keys, values = torch.cat([past[0], key]), torch.cat([past[1], value])
    scores = query @ keys.T / W_k.shape[1] ** 0.5
    return scores.softmax(-1) @ values, (keys, values)


WRITE_ON = Exercise(
    "write_on",
    "further_and_cheaper",
    write_cases,
    write_on,
    'lesson 9, "Further"; glossary.show("rotary positions"), glossary.show("key-value cache")',
    tolerance=1e-4,
)

VALUE_TURNED = "= x @ W_v", "= turned(x @ W_v, place)"
QUERY_AT_0, KEY_AT_0 = ("x @ W_q, place", "x @ W_q, 0"), ("x @ W_k, place", "x @ W_k, 0")
WRITE_ON.edit(
    "every new word stands at place 0",
    "At place 0 nothing turns. Behind how many words does the new one stand, and where do you learn it?",
    ("len(past[0])", "0"),
)
WRITE_ON.edit(
    "the place is mended, but values are still turned",
    "A score compares query and key, so these are turned. A value is what is handed over: who would turn it back?",
    VALUE_TURNED,
)
SAME_PLACE = "Query and key of the new word stand at the same place."
VALUE_STAYS = "And the value is still turned: it should stay as it is."
WRITE_ON.edit("the query still stands at place 0", SAME_PLACE, QUERY_AT_0)
WRITE_ON.edit("the key still stands at place 0", SAME_PLACE, KEY_AT_0)
WRITE_ON.edit("the query still stands at place 0", VALUE_STAYS, QUERY_AT_0, VALUE_TURNED)
WRITE_ON.edit("the key still stands at place 0", VALUE_STAYS, KEY_AT_0, VALUE_TURNED)
COUNT_0 = "Places are counted from 0: with two words in the past, the new one stands at place 2."
ONE_FURTHER = "len(past[0])", "len(past[0]) + 1"
WRITE_ON.edit("the new word stands one place too far", COUNT_0, ONE_FURTHER)
WRITE_ON.edit("the new word stands one place too far", COUNT_0, ONE_FURTHER, VALUE_TURNED)
WRITE_ON.edit("the new word stands one place too early", COUNT_0, ("len(past[0])", "max(0, len(past[0]) - 1)"))
WRITE_ON.edit("the new word stands one place too early", COUNT_0, ("len(past[0])", "len(past[0]) - 1"))
TURNED_BACK = "Keys of the past stand at the places 0, 1, 2, …, and the new word behind them. Turned back, it would stand in front."
WRITE_ON.edit("the place of the new word has a minus", TURNED_BACK, QUERY_AT_0, ("x @ W_k, place", "x @ W_k, -place"))
WRITE_ON.edit("the place of the new word has a minus", TURNED_BACK, ("len(past[0])", "-len(past[0])"))
WRITE_ON.edit(
    "the query stands one place behind its key",
    "Is the place counted once before and once after the key is appended? Both belong to the same word.",
    ("x @ W_q, place", "x @ W_q, place + 1"),
)
PAIR = "`past` is a pair: len(past) is 2. How long are its two parts?"
WRITE_ON.edit("the number of tensors is taken for the number of words", PAIR, ("len(past[0])", "len(past)"))
WRITE_ON.edit(
    "the number of tensors is taken for the number of words", PAIR, ("len(past[0])", "len(past)"), VALUE_TURNED
)
ALONE = "In the past the keys stand as they were turned when their words came. Turn the new one alone, then append it."
RAW_KEY = "turned(x @ W_k, place)", "x @ W_k"
WRITE_ON.edit(
    "the keys of the past are turned again",
    ALONE,
    RAW_KEY,
    ("torch.cat([past[0], key])", "turned(torch.cat([past[0], key]), 0)"),
)
WRITE_ON.edit("the keys of the past are turned again", ALONE, RAW_KEY, ("keys.T", "turned(keys, 0).T"))
WRITE_ON.edit(
    "the key is kept as it was before the turn",
    "The next word will compare with it as it lies there: keep it turned.",
    ("(keys, values)", "(torch.cat([past[0], x @ W_k]), values)"),
)
for padded in (True, False):  # a word of an odd size cannot be turned, unless a 0 is put behind it
    for for_the_value in ("turned_word", "x"):
        WRITE_ON.edit(
            "the word itself is turned",
            "x is projected first. Query and key are turned, each by itself, and the value is not.",
            ("= len(past[0])", f"= len(past[0]); turned_word = word_turned(x, place, {padded})"),
            ("turned(x @ W_q, place)", "turned_word @ W_q"),
            ("turned(x @ W_k, place)", "turned_word @ W_k"),
            ("x @ W_v", f"{for_the_value} @ W_v"),
        )


def word_turned(x, place, padded):
    d = x.shape[1]
    return turned(F.pad(x, (0, d % 2)), place)[:, :d] if padded else turned(x, place)


WRITE_ON.edit(
    "the past is handed back as it came",
    "The next word will want the key and the value of this one, too.",
    ("(keys, values)", "past"),
)
WRITE_ON.edit(
    "only the new key and value are handed back",
    "The next word will look at *all* words before it.",
    ("(keys, values)", "(key, value)"),
)
WRITE_ON.edit(
    "keys and values have changed places",
    "The past is a pair (keys, values), and so must be what you hand back.",
    ("(keys, values)", "(values, keys)"),
)
WRITE_ON.edit(
    "a word does not see itself",
    "Its own key and value are among those that it meets: append first, then compare.",
    ("keys.T", "past[0].T"),
    ("@ values", "@ past[1]"),
)
WRITE_ON.edit(
    "the new key is put in front",
    "It is appended: row i of the past is the word at place i.",
    ("[past[0], key]", "[key, past[0]]"),
    ("[past[1], value]", "[value, past[1]]"),
)
SHAPE = "keys have the shape (s, k): s says how many words were read."
WRITE_ON.edit("the size of a key is taken for the number of words", SHAPE, ("len(past[0])", "past[0].shape[1]"))
WRITE_ON.edit("all numbers in the keys are counted, not the words", SHAPE, ("len(past[0])", "past[0].numel()"))
WRITE_ON.edit(
    "the scores are not divided by √k", "That was right in what you were given.", (" / W_k.shape[1] ** 0.5", "")
)
WRITE_ON.edit(
    "the scores are divided by √d of the word",
    "k is the size of a query and of a key. That was right in what you were given.",
    ("W_k.shape[1]", "x.shape[1]"),
)
WRITE_ON.edit(
    "only the output comes out",
    "Two things are wanted: the output, and the past with the new word's key and value.",
    (", (keys, values)", ""),
)
