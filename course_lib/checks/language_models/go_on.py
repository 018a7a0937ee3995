"""go_on(x, past, layers, codes): passes new tokens through a model that keeps the keys and values of earlier ones."""

import torch

from course_lib.checks.engine import Case, Exercise


def cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    def given(before: int, new: int, d: int, k: int, count: int, dtype=torch.float32) -> list:
        """Draws new tokens, and the keys and values that a model keeps of those before them."""
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
        ("one layer, an empty past, three new tokens", *given(0, 3, 2, 1, 1)),
        ("two layers, three tokens in the past, one new", *given(3, 1, 4, 2, 2)),
        ("two layers, two new tokens at once", *given(3, 2, 4, 3, 2)),
        ("two layers, an empty past", *given(0, 5, 4, 3, 2)),
        ("two layers, the very first token", *given(0, 1, 4, 3, 2)),
        ("more new tokens than past ones", *given(1, 4, 3, 2, 2)),
        ("three layers", *given(4, 3, 5, 2, 3)),
        ("as many new tokens as past ones", *given(3, 3, 4, 4, 2)),
        ("a long past", *given(11, 1, 6, 4, 2)),
        ("float64", *given(4, 2, 3, 2, 2, torch.float64)),
        ("large scores", *sharp),
        ("a tensor that isn't contiguous in memory", *crossed),
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
    tensor=True,
)

GO_ON.edit(
    "the new tokens start at position 0 again",
    "The model has read the tokens of the past. How many are there, and at which position does the first new one come?",
    ("codes[before : before + new]", "codes[:new]"),
)
GO_ON.edit(
    "the positions of the new tokens are one too high",
    "Positions are counted from 0. With three tokens in the past, which position is next?",
    ("codes[before : before + new]", "codes[before + 1 :][:new]"),
)
GO_ON.edit(
    "the positions of the new tokens are one too low",
    "Positions are counted from 0. With three tokens in the past, which position is next?",
    ("codes[before : before + new]", "codes[max(0, before - 1) :][:new]"),
)
GO_ON.edit(
    "it counts the layers, not the tokens of the past",
    "`len(past)` is the number of layers. What in `past` tells you how many tokens have been read?",
    ("codes[before : before + new]", "codes[len(past) :][:new]"),
)
GO_ON.edit(
    "the residual leaves out the codes",
    "The input of the first layer is x + code. What attention finds is added to *that*, not to x alone.",
    ("x + weights @ values", "x + weights @ values - (0 if kept else own)"),
)
GO_ON.edit(
    "query and key are swapped",
    "`layers` holds W_q, W_k and W_v in this order.",
    ("(W_q, W_k, W_v)", "(W_k, W_q, W_v)"),
)
GO_ON.edit(
    "the codes of the positions are left out",
    "The vector of a token doesn't say where the token is in the text. What does?",
    ("x = x + own", "x = x"),
)
GO_ON.edit(
    "the codes are added in every layer",
    "They are added once, to the input of the first layer. What the next layer reads already contains them.",
    ("query, key, value =", "x = x + own if kept else x\n        query, key, value ="),
)
GO_ON.edit(
    "the past is returned unchanged",
    "The output is correct. But the next token will need the keys and values of this one, too.",
    ("kept.append((keys, values))", "kept.append(old)"),
)
GO_ON.edit(
    "only the new keys and values are returned",
    "The output is correct. But the next token will look at *all* tokens before it.",
    ("kept.append((keys, values))", "kept.append((key, value))"),
)
ONLY_NEW = ("query @ keys", "query @ key"), ("~sees", "~sees[:, before:]"), ("weights @ values", "weights @ value")
for others in (
    [("kept.append((keys, values))", "kept.append((key, value))")],
    [],
    [("kept.append((keys, values))", "kept.append((key, value))"), ("codes[before : before + new]", "codes[:new]")],
):
    GO_ON.edit(
        "the new tokens don't look at the past",
        "A new token meets the keys of all tokens before it, not only those of the new ones.",
        *ONLY_NEW,
        *others,
    )
GO_ON.edit(
    "a token does not see itself",
    "A token meets its own key and value, too. Are they appended in time? Or is the mask off by one?",
    ("tril(before)", "tril(before - 1)"),
)
GO_ON.edit(
    "it attends before the new keys and values are appended",
    "A new token meets itself, too, and the new ones before it. Which keys must exist when the scores are computed?",
    ("query @ keys", "query @ old[0]"),
    ("~sees", "~sees[:, :before]"),
    ("weights @ values", "weights @ old[1]"),
)
GO_ON.edit(
    "a new token sees the one after it, too",
    "Row 0 of the mask belongs to the first new token. How many keys are there up to its own?",
    ("tril(before)", "tril(before + 1)"),
)
GO_ON.edit(
    "the mask is used only if there is no past",
    "Several new tokens may come after a past, too. Which of them may each one see?",
    ("tril(before)", "tril(before + new if before else 0)"),
)
GO_ON.edit(
    "new tokens see what comes after them",
    "When a prompt is read at once, its first token must not see the second. What prevents that in a full pass?",
    (".tril(before)", ""),
)
GO_ON.edit(
    "the mask's triangle begins at the first token, not at the first new one",
    "The first new token may see the whole past. In a mask of shape (new, all), where must the diagonal begin?",
    ("tril(before)", "tril()"),
)
GO_ON.edit(
    "the new keys and values come before the old ones",
    "In the past, row i belongs to the token at position i, and the mask relies on that. Where do the new rows belong?",
    ("[old[0], key]", "[key, old[0]]"),
    ("[old[1], value]", "[value, old[1]]"),
)
GO_ON.edit(
    "keys and values are swapped",
    "Each pair of the past is (keys, values). The new past must have the same form.",
    ("kept.append((keys, values))", "kept.append((values, keys))"),
)
GO_ON.edit(
    "all layers use the past of the first layer",
    "Each layer has keys and values of its own. Which pair belongs to it?",
    ("zip(layers, past,", "zip(layers, past[:1] * len(past),"),
)
GO_ON.edit(
    "all layers use the past of the last layer",
    "Each layer has keys and values of its own. Which pair belongs to it?",
    ("zip(layers, past,", "zip(layers, past[-1:] * len(past),"),
)
GO_ON.edit(
    "all layers read the input",
    "Layer 2 reads what layer 1 has made of a token, not the token as it came in.",
    ("x = x + own", "x = came_in = x + own"),
    ("x @ W_q, x @ W_k, x @ W_v", "came_in @ W_q, came_in @ W_k, came_in @ W_v"),
)
GO_ON.edit(
    "keys and values are made from what leaves the layer",
    "A layer makes query, key and value from the same vector. Is it the one that comes in, or the one that leaves?",
    ("kept.append((keys, values))", "kept.append((torch.cat([old[0], x @ W_k]), torch.cat([old[1], x @ W_v])))"),
)
GO_ON.edit(
    "the residual is left out",
    "What attention finds is added to x. It doesn't replace x.",
    ("x + weights @ values", "weights @ values"),
)
GO_ON.edit(
    "the scores are not divided by √k",
    "Raw dot products grow with k, the size of a key. What keeps the scores at the same size?",
    (" / W_k.shape[1] ** 0.5", ""),
)
GO_ON.edit(
    "the scores are divided by √d, not by √k",
    "Queries and keys have k numbers, and x has d. Which of them are in the dot product?",
    ("W_k.shape[1]", "W_k.shape[0]"),
)
GO_ON.edit("the scores are divided by k, not by √k", "Is a root missing?", (" ** 0.5", ""))
GO_ON.edit(
    "large scores overflow",
    "exp(1000) is ∞, and ∞/∞ is NaN. How does torch's softmax avoid that?",
    (
        "scores.masked_fill(~sees, -torch.inf).softmax(-1)",
        "scores.exp() * sees / (scores.exp() * sees).sum(-1, keepdim=True)",
    ),
)
GO_ON.edit(
    "the scores are divided by the root of the number of keys",
    "Queries and keys have k numbers each. How many keys there are doesn't matter here.",
    ("W_k.shape[1]", "len(keys)"),
)
GO_ON.edit(
    "the softmax is taken over the new tokens",
    "Each new token shares its attention among the keys. Which axis is that?",
    ("softmax(-1)", "softmax(0)"),
)
GO_ON.edit(
    "the mask is applied after the softmax",
    "Then the weights of a row no longer sum to 1. What must be masked, the scores or the weights?",
    ("scores.masked_fill(~sees, -torch.inf).softmax(-1)", "scores.softmax(-1) * sees"),
)
GO_ON.edit(
    "masked scores are set to 0",
    "exp(0) is 1, which isn't a small number. Which score gets the weight 0?",
    ("scores.masked_fill(~sees, -torch.inf)", "(scores * sees)"),
)
