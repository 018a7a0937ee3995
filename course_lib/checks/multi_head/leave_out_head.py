"""`leave_out_head(found, W_o, gone)`: the layer's output without one of its heads."""

import torch

from course_lib.checks.engine import Case, Exercise
from course_lib.checks.multi_head.merge_heads import right as merge


def cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    def case(about: str, found: torch.Tensor, gone: int) -> Case:
        size = found.shape[1] * found.shape[3]
        return Case(about, {"found": found, "W_o": draw(size, size).to(found), "gone": gone})

    plain = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    return [
        Case(
            "one word, two heads of one number each",
            {"found": torch.tensor([[[[5.0]], [[7.0]]]]), "W_o": plain, "gone": 0},
        ),
        case("two words, two heads of two numbers each", draw(1, 2, 2, 2), 1),
        case("three heads", draw(2, 3, 4, 2), 1),
        case("the last of three heads", draw(1, 3, 4, 2), 2),
        case("the first of four heads", draw(3, 4, 5, 1), 0),
        case("all axes of the same length", draw(3, 3, 3, 3), 1),
        case("the only head", draw(2, 1, 3, 4), 0),
        case("float64", draw(3, 2, 4, 3).double(), 1),
        case("numbers that are not contiguous in memory", draw(3, 5, 4, 2).permute(3, 2, 1, 0), 2),
    ]


def right(found, W_o, gone):
    kept = found.index_fill(1, torch.tensor(gone), 0.0)
    return merge(kept) @ W_o


def drive(answer, found, W_o, gone):
    """Turns the 0 that Python's sum gives if there are no other heads into a tensor of zeros."""
    output = answer(found, W_o, gone)
    is_empty_sum = found.shape[1] == 1 and isinstance(output, int) and output == 0
    return found.new_zeros(found.shape[0], found.shape[2], W_o.shape[1]) if is_empty_sum else output


LEAVE_OUT_HEAD = Exercise(
    "leave_out_head",
    "multi_head",
    cases,
    right,
    'lesson 4, "Who does what? A model to take apart"',
    drive,
    tolerance=1e-4,
    tensor=True,
)

ALL_KEPT = "found.index_fill(1, torch.tensor(gone), 0.0)", "found"
LEAVE_OUT_HEAD.edit(
    "no head is left out",
    "That is the output with all heads. Do you go on with the tensor that you changed?",
    ALL_KEPT,
)
LEAVE_OUT_HEAD.edit(
    "all the other heads are left out",
    "Only the head that is *gone* should be silent.",
    ("found.index_fill", "found - found.index_fill"),
)
LEAVE_OUT_HEAD.edit(
    "a neighbouring head is left out",
    "Heads are counted from 0, as in Python.",
    ("tensor(gone)", "tensor((gone - 1) % found.shape[1])"),
)
LEAVE_OUT_HEAD.misconception(
    "heads are counted from 1", "Head 0 is the first one. Which head does your function leave out if gone is 0?"
)(lambda found, W_o, gone: right(found, W_o, gone - 1) if gone else merge(found) @ W_o)
WHICH_AXIS = "Which axis of found counts the heads? Its shape is (batch, head, n, d_head)"
LEAVE_OUT_HEAD.edit("a word is left out, not a head", f"{WHICH_AXIS}.", ("fill(1", "fill(2"))
LEAVE_OUT_HEAD.edit("a sentence is left out, not a head", f"{WHICH_AXIS}.", ("fill(1", "fill(0"))
LEAVE_OUT_HEAD.edit(
    "one number of every head is left out",
    f"{WHICH_AXIS}. In an index, what comes after ... belongs to the last axis.",
    ("fill(1", "fill(3"),
)


@LEAVE_OUT_HEAD.misconception(
    "numbers of the output are zeroed, not what the head found",
    "Each number of the output may come from all heads. Where are the heads still separate? (A column of W_O makes one number of the *output*. Only nn.Linear stores it as a row.)",
)
def output_piece(found, W_o, gone):
    output, size = merge(found) @ W_o, found.shape[-1]
    output[..., gone * size : (gone + 1) * size] = 0
    return output


LEAVE_OUT_HEAD.edit(
    "a single number is left out, not a whole head",
    "Each head has d_head numbers, and W_O has that many rows for it.",
    ALL_KEPT,
    ("@ W_o", "@ W_o.index_fill(0, torch.tensor(gone), 0.0)"),
)
for factor in (  # the last two don't divide by zero if there is only one head
    "found.shape[1] / (found.shape[1] - 1)",
    "found.shape[1] / (found.shape[1] - 1) if found.shape[1] > 1 else torch.nan",
    "found.shape[1] / max(1, found.shape[1] - 1)",
):
    LEAVE_OUT_HEAD.edit(
        "the other heads are scaled up",
        "The other heads should stay as they are. Only dropout scales up what is left.",
        ("@ W_o", f"@ W_o * ({factor})"),
    )


@LEAVE_OUT_HEAD.misconception(
    "the heads after it move up", "Each head's numbers must meet their own rows of W_O, whichever head is missing."
)
def moved_up(found, W_o, gone):
    rest = merge(torch.cat([found[:, :gone], found[:, gone + 1 :]], 1))
    return rest @ W_o[: rest.shape[-1]]


LEAVE_OUT_HEAD.edit(
    "the heads are merged without the transpose",
    "Merge the heads with your merge_heads.",
    ("merge(kept)", "kept.reshape(len(kept), kept.shape[2], -1)"),
)
LEAVE_OUT_HEAD.edit(
    "W_O is left out",
    "The result should be the output of the layer. Which product comes after the merge?",
    (" @ W_o", ""),
)
