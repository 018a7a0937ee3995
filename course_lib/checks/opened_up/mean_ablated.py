"""`mean_ablated(outputs, w_o, head)`: attention's output with one head's replaced by its mean over the prompts."""

import torch

from course_lib.checks.engine import Case, Exercise


def mean_ablated_cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    def given(prompts: int, heads: int, n: int, d_head: int, out: int) -> tuple[torch.Tensor, torch.Tensor]:
        return draw(prompts, heads, n, d_head), draw(out, heads * d_head)

    by_hand = torch.tensor([[[[1.0], [2.0]], [[3.0], [4.0]]], [[[5.0], [6.0]], [[7.0], [0.0]]]])
    wide, narrow = given(3, 2, 4, 3, 5)
    inputs = [
        ("the two prompts of the text", by_hand, torch.tensor([[1.0, 10.0]]), 1),
        ("the same, head 0", by_hand, torch.tensor([[1.0, 10.0]]), 0),
        ("two heads of two numbers", *given(3, 2, 2, 2, 4), 1),
        ("three heads, the middle one", *given(4, 3, 5, 2, 6), 1),
        ("as many prompts as heads and positions", *given(3, 3, 3, 2, 6), 2),
        ("as many positions as numbers in a head", *given(5, 2, 3, 3, 6), 0),
        ("a single prompt", *given(1, 2, 3, 2, 4), 1),
        ("a single position", *given(4, 3, 1, 2, 6), 0),
        ("a single head", *given(3, 1, 4, 4, 4), 0),
        ("more numbers out than in", *given(3, 2, 3, 2, 7), 1),
        ("float64", *(one.double() for one in given(3, 4, 3, 1, 4)), 3),
        (
            "outputs that are not contiguous in memory",
            wide.permute(2, 1, 3, 0).contiguous().permute(3, 1, 0, 2),
            narrow,
            1,
        ),
    ]
    return [Case(about, dict(zip(("outputs", "w_o", "head"), given, strict=True))) for about, *given in inputs]


def mean_ablated(outputs, w_o, head):
    own = outputs[:, head]
    mean = own.mean(0, keepdim=True)
    here = torch.arange(outputs.shape[1]) == head
    changed = torch.where(here[:, None, None], mean[:, None], outputs)
    joined = changed.transpose(1, 2).flatten(2)
    return joined @ w_o.T


MEAN_ABLATED = Exercise(
    "mean_ablated",
    "opened_up",
    mean_ablated_cases,
    mean_ablated,
    'lesson 13, "Is it needed?"; glossary.show("head pruning")',
)

MEAN, CHANGED, JOINED, OUT = (
    "own.mean(0, keepdim=True)",
    "torch.where(here[:, None, None], mean[:, None], outputs)",
    "changed.transpose(1, 2).flatten(2)",
    "joined @ w_o.T",
)
OVER = "Average over the *prompts*. What a head does at each position on average should stay."
MEAN_ABLATED.edit(
    "the mean is taken over the positions, too", OVER, (MEAN, "own.mean((0, 1), keepdim=True).expand_as(own)")
)
MEAN_ABLATED.edit(
    "the mean is taken over the positions of each prompt, not over the prompts",
    f"{OVER} What this prompt says must be gone.",
    (MEAN, "own.mean(1, keepdim=True).expand_as(own)"),
)
MEAN_ABLATED.edit(
    "the mean is taken over the numbers of the head, not over the prompts",
    OVER,
    (MEAN, "own.mean(2, keepdim=True).expand_as(own)"),
)
MEAN_ABLATED.edit("everything is averaged to one number", OVER, (MEAN, "own.mean().expand_as(own)"))
MEAN_ABLATED.edit(
    "the head's output is set to 0",
    "That is the other way to cut a head. Zero may be a value that the next layers have never met. What is the head's mean?",
    (MEAN, "torch.zeros_like(own)"),
)
HEADS = "The head's own mean comes in its place, over the prompts. Other heads have nothing to do with it."
MEAN_ABLATED.edit("the mean of all heads comes in its place", HEADS, (MEAN, "outputs.mean(1)"))
MEAN_ABLATED.edit(
    "the mean of the other heads comes in its place",
    HEADS,
    (MEAN, "(outputs.sum(1) - own) / max(outputs.shape[1] - 1, 1)"),
)
MEAN_ABLATED.edit(
    "the mean over all heads and prompts comes in its place", HEADS, (MEAN, "outputs.mean((0, 1)).expand_as(own)")
)
MEAN_ABLATED.edit(
    "each prompt gets the mean of the other prompts",
    "Average over all prompts, this one included. So all prompts get the same.",
    (MEAN, "(own.sum(0) - own) / max(len(own) - 1, 1)"),
)
MEAN_ABLATED.edit("every prompt gets the first prompt's output", "Take the mean over all prompts.", (MEAN, "own[:1]"))
MEAN_ABLATED.edit(
    "every prompt gets another prompt's output",
    "That is resampling. Take the mean over all prompts.",
    (MEAN, "own.roll(1, 0)"),
)
MEAN_ABLATED.edit(
    "it is the sum over the prompts, not the mean",
    "Divide by the number of prompts.",
    (MEAN, "own.sum(0, keepdim=True)"),
)
MEAN_ABLATED.edit(
    "it is the median over the prompts, not the mean", "Take the mean.", (MEAN, "own.median(0, keepdim=True).values")
)
ONE = "Only the head number `head` is replaced. The others stay as they are in each prompt."
MEAN_ABLATED.edit(
    "all heads are replaced by their means",
    f"{ONE} After W^O, they can't be told apart, and a mean over the prompts takes all of them.",
    (OUT, "(outputs.transpose(1, 2).flatten(2) @ w_o.T).mean(0, keepdim=True).expand(len(outputs), -1, -1)"),
)
MEAN_ABLATED.edit(
    "the other heads are replaced",
    ONE,
    (CHANGED, "torch.where(here[:, None, None], outputs, outputs.mean(0, keepdim=True))"),
)
MEAN_ABLATED.edit(
    "only the first prompt is changed",
    "The head is replaced in every prompt.",
    (CHANGED, "torch.cat([torch.where(here[:, None, None], mean[:, None], outputs)[:1], outputs[1:]])"),
)
MEAN_ABLATED.edit(
    "the mean is added, not put in its place",
    "The head's own output is gone afterwards.",
    (CHANGED, "torch.where(here[:, None, None], outputs + mean[:, None], outputs)"),
)
MEAN_ABLATED.edit(
    "the mean is subtracted, not put in its place",
    "The mean stays, and what differs between the prompts goes. You keep the other part.",
    (CHANGED, "torch.where(here[:, None, None], outputs - mean[:, None], outputs)"),
)
MEAN_ABLATED.edit(
    "heads are counted from 1",
    "`head` is an index, and head 0 is the first.",
    ("outputs[:, head]", "outputs[:, head - 1]"),
    ("== head", "== (head - 1) % outputs.shape[1]"),
)
MEAN_ABLATED.edit(
    "the head is replaced by the mean of the head before it",
    "`head` is an index, and head 0 is the first.",
    ("outputs[:, head]", "outputs[:, head - 1]"),
)
MEAN_ABLATED.edit(
    "nothing is replaced", "The result is that of all heads. Do you use what you have changed?", (CHANGED, "outputs")
)
MERGE = "W^O takes, at each position, the numbers of head 0, then those of head 1, and so on. Which axis must be next to the head's numbers?"
MEAN_ABLATED.edit(
    "the heads are merged without a transpose",
    MERGE,
    (JOINED, "changed.reshape(outputs.shape[0], outputs.shape[2], -1)"),
)
MEAN_ABLATED.edit("the numbers of the heads alternate", MERGE, (JOINED, "changed.permute(0, 2, 3, 1).flatten(2)"))
MEAN_ABLATED.edit(
    "W^O is not applied",
    "Return attention's output. What does W^O do with the heads' numbers?",
    (OUT, "joined"),
)
MEAN_ABLATED.edit(
    "W^O is not transposed",
    "torch computes x W^T. Each row of `w_o` makes one number of the output.",
    (OUT, "joined @ w_o"),
)
MEAN_ABLATED.edit(
    "only the replaced head's part of the output is returned",
    "Attention's output is the sum of all heads' parts.",
    (CHANGED, "torch.where(here[:, None, None], mean[:, None], 0.0 * outputs)"),
)
MEAN_ABLATED.edit(
    "the mean over the prompts is returned", "Return the output for each prompt.", (OUT, "(joined @ w_o.T).mean(0)")
)
