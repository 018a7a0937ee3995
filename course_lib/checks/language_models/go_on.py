"""go_on(x, past, layers, codes): new tokens through a model that keeps the keys and values of those before them."""

import torch

from course_lib.checks.engine import Case, Exercise


def cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    def given(before: int, new: int, d: int, k: int, count: int, dtype=torch.float32) -> list:
        """New tokens, and what a model keeps of those before them."""
        layers = [tuple(draw(*shape).to(dtype) / d**0.5 for shape in ((d, k), (d, k), (d, d))) for _ in range(count)]
        codes = draw(before + new + 3, d).to(dtype)
        none = [(codes.new_zeros(0, k), codes.new_zeros(0, d)) for _ in layers]
        _, past = right(draw(before, d).to(dtype), none, layers, codes)
        return [draw(new, d).to(dtype), past, layers, codes]

    sharp = given(3, 2, 4, 3, 2, torch.float64)
    sharp[2] = [(100 * W_q, 100 * W_k, W_v) for W_q, W_k, W_v in sharp[2]]
    sharp[1] = right(draw(3, 4).double(), [(keys[:0], values[:0]) for keys, values in sharp[1]], *sharp[2:])[1]
    crossed = given(4, 2, 3, 2, 2)
    crossed[0], crossed[3] = crossed[0].T.contiguous().T, crossed[3].T.contiguous().T
    inputs = [
        ("one layer, two tokens in the past, one new", *given(2, 1, 3, 1, 1)),
        ("one layer, nothing in the past: three tokens are read", *given(0, 3, 2, 1, 1)),
        ("two layers, three tokens in the past, one new", *given(3, 1, 4, 2, 2)),
        ("two layers, two new tokens at once", *given(3, 2, 4, 3, 2)),
        ("two layers, nothing in the past", *given(0, 5, 4, 3, 2)),
        ("two layers, the very first token", *given(0, 1, 4, 3, 2)),
        ("more new tokens than in the past", *given(1, 4, 3, 2, 2)),
        ("three layers", *given(4, 3, 5, 2, 3)),
        ("as many new tokens as in the past", *given(3, 3, 4, 4, 2)),
        ("a long past", *given(11, 1, 6, 4, 2)),
        ("float64", *given(4, 2, 3, 2, 2, torch.float64)),
        ("large scores", *sharp),
        ("numbers that do not lie in order in memory", *crossed),
    ]
    return [Case(about, dict(zip(("x", "past", "layers", "codes"), rest, strict=True))) for about, *rest in inputs]


def right(x, past, layers, codes):
    before, new, kept = len(past[0][0]), len(x), []
    sees = torch.ones(new, before + new, dtype=torch.bool).tril(before)
    own = codes[before : before + new]
    x = x + own
    for (W_q, W_k, W_v), old in zip(layers, past, strict=True):
        query, key, value = x @ W_q, x @ W_k, x @ W_v
        keys, values = torch.cat([old[0], key]), torch.cat([old[1], value])
        scores = query @ keys.T / W_k.shape[1] ** 0.5
        weights = scores.masked_fill(~sees, -torch.inf).softmax(-1)
        x = x + weights @ values
        kept.append((keys, values))
    return x, kept


GO_ON = Exercise(
    "go_on",
    "language_models",
    cases,
    right,
    'lesson 8, "Writing fast"; glossary.show("key-value cache")',
    tolerance=1e-4,
)

GO_ON.edit(
    "the new tokens stand at place 0 again",
    "There are tokens in the past. At which place does the first new one stand, and where do you learn how many there are?",
    ("codes[before : before + new]", "codes[:new]"),
)
GO_ON.edit(
    "the new tokens stand one place too far",
    "Places are counted from 0: with three tokens in the past, which is next?",
    ("codes[before : before + new]", "codes[before + 1 :][:new]"),
)
GO_ON.edit(
    "the new tokens stand one place too early",
    "Places are counted from 0: with three tokens in the past, which is next?",
    ("codes[before : before + new]", "codes[max(0, before - 1) :][:new]"),
)
GO_ON.edit(
    "the layers are counted, not the tokens of the past",
    "`len(past)` is how many layers there are. How many tokens have been read, one of its tensors says.",
    ("codes[before : before + new]", "codes[len(past) :][:new]"),
)
GO_ON.edit(
    "the residual goes on without the codes",
    "x + code is what comes in: what attention finds is added to *that*, not to x alone.",
    ("x + weights @ values", "x + weights @ values - (0 if kept else own)"),
)
GO_ON.edit(
    "query and key have changed places",
    "`layers` holds W_q, W_k and W_v, in this order.",
    ("(W_q, W_k, W_v)", "(W_k, W_q, W_v)"),
)
GO_ON.edit(
    "the codes of the places are not added",
    "Without them the model cannot tell one order from another.",
    ("x = x + own", "x = x"),
)
GO_ON.edit(
    "the codes are added in every layer",
    "They are added once, to what comes in. What a layer reads has them already.",
    ("query, key, value =", "x = x + own if kept else x\n        query, key, value ="),
)
GO_ON.edit(
    "the past is handed back as it came",
    "The output is right. But the next token will want the keys of this one, too.",
    ("kept.append((keys, values))", "kept.append(old)"),
)
GO_ON.edit(
    "only the new keys and values are handed back",
    "The output is right. But the next token will look at *all* tokens before it.",
    ("kept.append((keys, values))", "kept.append((key, value))"),
)
ONLY_NEW = ("query @ keys", "query @ key"), ("~sees", "~sees[:, before:]"), ("weights @ values", "weights @ value")
for others in (
    [("kept.append((keys, values))", "kept.append((key, value))")],
    [],
    [("kept.append((keys, values))", "kept.append((key, value))"), ("codes[before : before + new]", "codes[:new]")],
):
    GO_ON.edit(
        "the past is not looked at",
        "The new token meets the keys of all tokens before it, not of the new ones alone.",
        *ONLY_NEW,
        *others,
    )
GO_ON.edit(
    "a token does not see itself",
    "Its own key and value are among those that it meets: append first, then attend. Or is the mask off by one?",
    ("tril(before)", "tril(before - 1)"),
)
GO_ON.edit(
    "it attends before the new keys and values are appended",
    "Append first, then attend: a new token meets itself, too, and the new ones before it.",
    ("query @ keys", "query @ old[0]"),
    ("~sees", "~sees[:, :before]"),
    ("weights @ values", "weights @ old[1]"),
)
GO_ON.edit(
    "a new token sees the one behind it, too",
    "The mask is one place too far. Row 0 is the first new token: how many keys are there up to itself?",
    ("tril(before)", "tril(before + 1)"),
)
GO_ON.edit(
    "a mask is used only if there is no past",
    "Several new tokens may come behind a past, too. Which of them may each one see?",
    ("tril(before)", "tril(before + new if before else 0)"),
)
GO_ON.edit(
    "new tokens see what comes after them",
    "When a prompt is read at once, its first token must not see the second. What does a full pass have for that?",
    (".tril(before)", ""),
)
GO_ON.edit(
    "the triangle of the mask begins at the first token, not at the first new one",
    "The first new token may see all of the past. In a mask of shape (new, all), where does the diagonal begin?",
    ("tril(before)", "tril()"),
)
GO_ON.edit(
    "new keys and values are put in front",
    "They are appended: in the past, row i is the token at place i, and the mask counts on that.",
    ("[old[0], key]", "[key, old[0]]"),
    ("[old[1], value]", "[value, old[1]]"),
)
GO_ON.edit(
    "keys and values have changed places",
    "A pair of the past is (keys, values), and so must be what you hand back.",
    ("kept.append((keys, values))", "kept.append((values, keys))"),
)
GO_ON.edit(
    "all layers look at the past of the first",
    "Each layer has keys and values of its own. Which pair belongs to it?",
    ("zip(layers, past,", "zip(layers, past[:1] * len(past),"),
)
GO_ON.edit(
    "all layers look at the past of the last",
    "Each layer has keys and values of its own. Which pair belongs to it?",
    ("zip(layers, past,", "zip(layers, past[-1:] * len(past),"),
)
GO_ON.edit(
    "all layers read what came in",
    "Layer 2 reads what layer 1 has made of the token, not the token itself.",
    ("x = x + own", "x = came_in = x + own"),
    ("x @ W_q, x @ W_k, x @ W_v", "came_in @ W_q, came_in @ W_k, came_in @ W_v"),
)
GO_ON.edit(
    "keys and values are made of what leaves the layer",
    "A layer makes its query, key and value of the same vector: that which comes in.",
    ("kept.append((keys, values))", "kept.append((torch.cat([old[0], x @ W_k]), torch.cat([old[1], x @ W_v])))"),
)
GO_ON.edit(
    "the residual is forgotten",
    "What attention finds is added to x; it does not replace it.",
    ("x + weights @ values", "weights @ values"),
)
GO_ON.edit(
    "the scores are not divided by √k",
    "Raw dot products grow with the size k of a key. Which root is missing?",
    (" / W_k.shape[1] ** 0.5", ""),
)
GO_ON.edit(
    "the scores are divided by √d, not by √k",
    "Queries and keys have k numbers, and x has d.",
    ("W_k.shape[1]", "W_k.shape[0]"),
)
GO_ON.edit("the scores are divided by k, not by √k", "Is a root missing?", (" ** 0.5", ""))
GO_ON.edit(
    "large scores overflow",
    "exp(1000) is ∞, and ∞/∞ is NaN. Subtract the largest score of a row first, or let torch's softmax do it.",
    (
        "scores.masked_fill(~sees, -torch.inf).softmax(-1)",
        "scores.exp() * sees / (scores.exp() * sees).sum(-1, keepdim=True)",
    ),
)
GO_ON.edit(
    "the scores are divided by the root of the number of keys",
    "Queries and keys have k numbers each. What is `len(keys)`?",
    ("W_k.shape[1]", "len(keys)"),
)
GO_ON.edit(
    "the softmax runs over the new tokens",
    "Each token shares its attention among the keys: which axis is that?",
    ("softmax(-1)", "softmax(0)"),
)
GO_ON.edit(
    "the mask comes after the softmax",
    "Then a row no longer sums to 1. Close the scores, before the softmax is taken.",
    ("scores.masked_fill(~sees, -torch.inf).softmax(-1)", "scores.softmax(-1) * sees"),
)
GO_ON.edit(
    "closed scores are 0",
    "exp(0) is 1, and that is no small weight. Which score gives the weight 0?",
    ("scores.masked_fill(~sees, -torch.inf)", "(scores * sees)"),
)
