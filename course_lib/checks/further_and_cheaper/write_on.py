"""`write_on(x, past, W_q, W_k, W_v)`: one more word, with rotary positions and the keys and values of the past."""

import torch
from torch.nn import functional as F

from course_lib.checks.engine import Case, Exercise
from course_lib.checks.further_and_cheaper.rotary import rotary


def write_cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    def given(before: int, d: int, k: int, dtype=torch.float32, times: float = 1.0) -> list:
        weights = [times * draw(*shape).to(dtype) / d**0.5 for shape in ((d, k), (d, k), (d, k))]
        past = past_of(draw(before, d).to(dtype), *weights[1:])
        return [draw(1, d).to(dtype), past, *weights]

    one = torch.eye(2)
    large = 20 * one, 20 * one, one
    opposite, across = -one[0], one[1]

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
        ("very large scores", one[:1], past_of(torch.stack([opposite, across]), *large[1:]), *large),
        ("float64", *given(3, 5, 6, torch.float64)),
        ("weights that are not contiguous in memory", *crossed),
    ]
    return [Case(about, dict(zip(("x", "past", "W_q", "W_k", "W_v"), rest, strict=True))) for about, *rest in inputs]


def past_of(words, W_k, W_v):
    return turned(words @ W_k, 0), words @ W_v


def turned(x, start):
    """Rows turned as at the positions start, start + 1, …"""
    return rotary(x[None], start)[0]


def write_on(x, past, W_q, W_k, W_v):
    position = len(past[0])
    query = turned(x @ W_q, position)
    key = turned(x @ W_k, position)
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

VALUE_TURNED = "= x @ W_v", "= turned(x @ W_v, position)"
QUERY_AT_0, KEY_AT_0 = ("x @ W_q, position", "x @ W_q, 0"), ("x @ W_k, position", "x @ W_k, 0")
WRITE_ON.edit(
    "every new word is at position 0",
    "At position 0 nothing turns. How many words come before the new one, and what tells you?",
    ("len(past[0])", "0"),
)
WRITE_ON.edit(
    "the position is fixed, but values are still turned",
    "A score compares query and key, so these are turned. A value goes straight into the output. Who would turn it back?",
    VALUE_TURNED,
)
SAME_PLACE = "The query and the key of the new word are at the same position."
VALUE_STAYS = "The value is still turned, too. It should stay as it is."
WRITE_ON.edit("the query is still at position 0", SAME_PLACE, QUERY_AT_0)
WRITE_ON.edit("the key is still at position 0", SAME_PLACE, KEY_AT_0)
WRITE_ON.edit("the query is still at position 0", VALUE_STAYS, QUERY_AT_0, VALUE_TURNED)
WRITE_ON.edit("the key is still at position 0", VALUE_STAYS, KEY_AT_0, VALUE_TURNED)
COUNT_0 = "Positions are counted from 0. With two words in the past, the new one is at position 2."
ONE_FURTHER = "len(past[0])", "len(past[0]) + 1"
WRITE_ON.edit("the new word is one position too late", COUNT_0, ONE_FURTHER)
WRITE_ON.edit("the new word is one position too late", COUNT_0, ONE_FURTHER, VALUE_TURNED)
WRITE_ON.edit("the new word is one position too early", COUNT_0, ("len(past[0])", "max(0, len(past[0]) - 1)"))
WRITE_ON.edit("the new word is one position too early", COUNT_0, ("len(past[0])", "len(past[0]) - 1"))
TURNED_BACK = "The keys of the past are at positions 0, 1, 2, …, and the new word comes after them. If it is turned back, it comes before them."
WRITE_ON.edit(
    "the position of the new word is negative", TURNED_BACK, QUERY_AT_0, ("x @ W_k, position", "x @ W_k, -position")
)
WRITE_ON.edit("the position of the new word is negative", TURNED_BACK, ("len(past[0])", "-len(past[0])"))
WRITE_ON.edit(
    "the query is one position after its key",
    "Do you count the words once before and once after you append the key? Query and key belong to the same word.",
    ("x @ W_q, position", "x @ W_q, position + 1"),
)
PAIR = "`past` is a pair, so len(past) is 2. How long are its two parts?"
WRITE_ON.edit("the number of tensors is taken for the number of words", PAIR, ("len(past[0])", "len(past)"))
WRITE_ON.edit(
    "the number of tensors is taken for the number of words", PAIR, ("len(past[0])", "len(past)"), VALUE_TURNED
)
ALONE = "The keys in the past were already turned when their words came. Only the new key still has to be turned."
RAW_KEY = "turned(x @ W_k, position)", "x @ W_k"
WRITE_ON.edit(
    "the keys of the past are turned again",
    ALONE,
    RAW_KEY,
    ("torch.cat([past[0], key])", "turned(torch.cat([past[0], key]), 0)"),
)
WRITE_ON.edit("the keys of the past are turned again", ALONE, RAW_KEY, ("keys.T", "turned(keys, 0).T"))
WRITE_ON.edit(
    "the key is kept as it was before its turn",
    "The next word compares its query with the key that you keep. Must this key be turned?",
    ("(keys, values)", "(torch.cat([past[0], x @ W_k]), values)"),
)
for padded in (True, False):  # a word of odd size can't be turned unless a 0 is appended
    for for_the_value in ("turned_word", "x"):
        WRITE_ON.edit(
            "the word itself is turned",
            "x is projected first. Then query and key are turned, and the value is not.",
            ("= len(past[0])", f"= len(past[0]); turned_word = word_turned(x, position, {padded})"),
            ("turned(x @ W_q, position)", "turned_word @ W_q"),
            ("turned(x @ W_k, position)", "turned_word @ W_k"),
            ("x @ W_v", f"{for_the_value} @ W_v"),
        )


def word_turned(x, position, padded):
    d = x.shape[1]
    return turned(F.pad(x, (0, d % 2)), position)[:, :d] if padded else turned(x, position)


WRITE_ON.edit(
    "the past is returned as it came",
    "The next word needs the key and the value of this one, too.",
    ("(keys, values)", "past"),
)
WRITE_ON.edit(
    "only the new key and value are returned",
    "The next word looks at *all* words before it.",
    ("(keys, values)", "(key, value)"),
)
WRITE_ON.edit(
    "keys and values are swapped",
    "The past is a pair (keys, values). Return the new one in the same order.",
    ("(keys, values)", "(values, keys)"),
)
WRITE_ON.edit(
    "a word does not see itself",
    "A word sees itself, too. Which comes first, appending or comparing?",
    ("keys.T", "past[0].T"),
    ("@ values", "@ past[1]"),
)
WRITE_ON.edit(
    "the new key and value are put in front",
    "Row i of the past belongs to the word at position i. Where does the new word go?",
    ("[past[0], key]", "[key, past[0]]"),
    ("[past[1], value]", "[value, past[1]]"),
)
SHAPE = "The keys have shape (s, k). Which of the two is the number of words?"
WRITE_ON.edit("the size of a key is taken for the number of words", SHAPE, ("len(past[0])", "past[0].shape[1]"))
WRITE_ON.edit("all numbers in the keys are counted, not the words", SHAPE, ("len(past[0])", "past[0].numel()"))
WRITE_ON.edit(
    "large scores overflow",
    "exp(100) is too large for float32. What can you subtract from all scores without changing their softmax?",
    ("scores.softmax(-1)", "(scores.exp() / scores.exp().sum(-1, keepdim=True))"),
)
WRITE_ON.edit("the scores are not divided by √k", "This was correct in `as_found`.", (" / W_k.shape[1] ** 0.5", ""))
WRITE_ON.edit(
    "the scores are divided by √d, not by √k",
    "k is the size of a query and of a key. This was correct in `as_found`.",
    ("W_k.shape[1]", "x.shape[1]"),
)
WRITE_ON.edit(
    "only the output is returned",
    "Return two things, the output and the past with the new word's key and value.",
    (", (keys, values)", ""),
)
