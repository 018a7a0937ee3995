"""pre_norm_layer(x, mask, attend, feed, norm_1, norm_2): an encoder layer with a norm before each of its parts."""

import torch

from course_lib.checks.engine import Case, Exercise


def cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    def causal(n: int) -> torch.Tensor:
        return torch.ones(n, n, dtype=torch.bool).tril()

    def weights(d: int) -> torch.Tensor:
        return 0.6 * draw(8 * d * d + 11 * d)

    nothing = torch.zeros(8 * 4 + 22)
    nothing[-8:] = torch.tensor([1.0, 1.0, 0.0, 0.0] * 2)  # the norms' gains and biases come last
    padded = torch.ones(5, 5, dtype=torch.bool)
    padded[:, 3:] = False
    inputs = [
        (
            "parts that return only zeros, so that x must come out unchanged",
            torch.tensor([[[1.0, 3.0], [5.0, 2.0]]]),
            torch.ones(2, 2, dtype=torch.bool),
            1,
            nothing,
        ),
        ("two words, nothing masked", draw(1, 2, 2), torch.ones(2, 2, dtype=torch.bool), 1, weights(2)),
        ("two words, a causal mask", draw(1, 2, 2), causal(2), 1, weights(2)),
        ("a causal mask", draw(2, 3, 4), causal(3), 2, weights(4)),
        ("as many sentences as words and as numbers", draw(4, 4, 4), causal(4), 2, weights(4)),
        ("the last two words masked", draw(3, 5, 6), padded, 3, weights(6)),
        ("one word", draw(2, 1, 4), causal(1), 4, weights(4)),
        ("float64", draw(2, 6, 8).double(), causal(6), 4, weights(8).double()),
        ("words that are not contiguous in memory", draw(6, 7, 2).permute(2, 1, 0), causal(7), 2, weights(6)),
    ]
    return [
        Case(about, {"x": x, "mask": mask, "heads": heads, "weights": values})
        for about, x, mask, heads, values in inputs
    ]


def right(x, mask, attend, feed, norm_1, norm_2):
    x = x + attend(norm_1(x), mask)
    x = x + feed(norm_2(x))
    return x


def drive(answer, x, mask, heads, weights):
    """Passes the parts one by one, because a whole layer of torch would know what is right."""
    import torch
    from torch import nn

    def part(kind, *sizes, **settings):
        return nn.utils.skip_init(kind, *sizes, device="cpu", dtype=x.dtype, **settings)

    d = x.shape[-1]
    attention = part(nn.MultiheadAttention, d, heads, batch_first=True)
    wide, narrow = part(nn.Linear, d, 2 * d), part(nn.Linear, 2 * d, d)
    norm_1, norm_2 = part(nn.LayerNorm, d), part(nn.LayerNorm, d)
    parts = nn.ModuleList([attention, wide, narrow, norm_1, norm_2])
    nn.utils.vector_to_parameters(weights.clone(), parts.parameters())

    def attend(y, mask=None):
        closed = None if mask is None else ~mask
        return attention(y, y, y, attn_mask=closed, need_weights=False)[0]

    def feed(y):
        return narrow(wide(y).relu())

    with torch.no_grad():
        return answer(x, mask, attend, feed, norm_1, norm_2)


PRE_NORM_LAYER = Exercise(
    "pre_norm_layer",
    "transformer_built",
    cases,
    right,
    'lesson 5, "Before or after?"; glossary.show("pre-norm")',
    drive,
    tolerance=1e-4,
)

ATTENTION, FEED_FORWARD = "x + attend(norm_1(x), mask)", "x + feed(norm_2(x))"

PRE_NORM_LAYER.edit(
    "the norm comes after the sum, which is post-norm",
    "That is the paper's order. In pre-norm, a norm changes only what a part reads. Which of your lines changes x itself with a norm?",
    (ATTENTION, "norm_1(x + attend(x, mask))"),
    (FEED_FORWARD, "norm_2(x + feed(x))"),
)
PRE_NORM_LAYER.edit(
    "the residual adds the normed vector",
    "Only the part should get the normed vector. The sum needs x as it was, so keep both.",
    (ATTENTION, "norm_1(x) + attend(norm_1(x), mask)"),
    (FEED_FORWARD, "norm_2(x) + feed(norm_2(x))"),
)
PRE_NORM_LAYER.edit(
    "the norm comes after the part",
    "The norm is for what the part gets, not for what it returns.",
    (ATTENTION, "x + norm_1(attend(x, mask))"),
    (FEED_FORWARD, "x + norm_2(feed(x))"),
)
PRE_NORM_LAYER.edit(
    "both residuals are missing",
    "If both parts return zeros, x must come out unchanged. What does your function return then?",
    ("x + attend", "attend"),
    ("x + feed", "feed"),
)
PRE_NORM_LAYER.edit(
    "the residual around attention is missing",
    "The result of attention is added to x. It doesn't replace x.",
    ("x + attend", "attend"),
)
PRE_NORM_LAYER.edit(
    "the residual around the feed-forward part is missing",
    "The result of the feed-forward part is added to the vector that was there. It doesn't replace it.",
    ("x + feed", "feed"),
)
PRE_NORM_LAYER.edit(
    "the second sum goes back to the layer's input",
    "What attention added is missing from the second sum. To which vector do you add feed's result?",
    ("x = x + attend", "between = x + attend"),
    ("norm_2(x)", "norm_2(between)"),
)
PRE_NORM_LAYER.edit(
    "the feed-forward part reads the layer's input",
    "The feed-forward part comes after attention. Which vector should it read?",
    ("x = x + attend", "between = x + attend"),
    ("x = x + feed", "x = between + feed"),
)
PRE_NORM_LAYER.edit(
    "nothing is normed",
    "Each part should get a normed vector, from its own norm.",
    ("norm_1(x)", "x"),
    ("norm_2(x)", "x"),
)
PRE_NORM_LAYER.edit(
    "the first norm is missing",
    "Attention reads its input through a norm, too.",
    ("norm_1(x)", "x"),
)
PRE_NORM_LAYER.edit(
    "the second norm is missing",
    "The feed-forward part reads its input through a norm, too.",
    ("norm_2(x)", "x"),
)
PRE_NORM_LAYER.edit(
    "the first norm is used twice",
    "Each part has its own norm, with its own gain and bias.",
    ("norm_2(x)", "norm_1(x)"),
)
PRE_NORM_LAYER.edit(
    "the two norms are swapped",
    "norm_1 belongs to attention, norm_2 to the feed-forward part.",
    ("attend(norm_1", "attend(norm_2"),
    ("feed(norm_2", "feed(norm_1"),
)
PRE_NORM_LAYER.edit(
    "the mask is not passed on",
    "Words meet only in attention. Which part needs the mask?",
    (", mask)", ")"),
)
PRE_NORM_LAYER.edit(
    "the mask is the wrong way round",
    "True means that a query may look, and attend expects the mask that way.",
    (", mask)", ", ~mask)"),
)
for norm in ("norm_1", "norm_2"):
    for change in (
        ("x = x + attend", f"x = {norm}(x)\n    x = x + attend"),
        (ATTENTION, f"{norm}({ATTENTION})"),
        (FEED_FORWARD, f"{norm}({FEED_FORWARD})"),
    ):
        PRE_NORM_LAYER.edit(
            "there is one norm too many",
            "There are only two norms, one before each part. Does your x itself go through a norm?",
            change,
        )
