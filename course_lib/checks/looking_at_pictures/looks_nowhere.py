"""`looks_nowhere(query, keys)`: weights of a captioner that sees all of the picture and looks nowhere in particular."""

import torch

from course_lib.checks.engine import Case, Exercise
from course_lib.checks.looking_at_pictures.drawn import some


def cases(generator: torch.Generator) -> list[Case]:
    def given(batch: int, regions: int, d: int, scale: float = 1.0) -> tuple[torch.Tensor, torch.Tensor]:
        query = scale * torch.randn(batch, d, generator=generator)
        return query, torch.randn(batch, regions, d, generator=generator)

    by_hand = torch.tensor([[1.0, 2], [0, 1]]), torch.tensor([[[1.0, 0], [0, 1], [2, 2]], [[3, 1], [0, 0], [1, 2]]])
    double, single = given(2, 5, 3), given(4, 6, 2)
    inputs = [
        ("two pictures of three regions", *by_hand),
        ("one picture", *given(1, 4, 3)),
        ("more pictures than regions", *given(6, 4, 5)),
        ("as many pictures as regions", *given(4, 4, 3)),
        ("as many numbers as regions", *given(2, 6, 6)),
        ("36 regions", *given(some(generator, 3, 6), 36, 4)),
        ("scores above 100", *given(3, some(generator, 6, 9), 8, scale=100.0)),
        ("float64", double[0].double(), double[1].double()),
        ("tensors that are not contiguous in memory", single[0].T.contiguous().T, single[1].mT.contiguous().mT),
    ]
    return [Case(about, {"query": query, "keys": keys}) for about, query, keys in inputs]


def right(query, keys):
    batch, regions, _ = keys.shape
    weights = torch.ones(batch, regions)
    return weights / regions


def drive(answer, query, keys):
    """What is true of the weights. Any fixed look is right, so no numbers are wanted.

    The answer is called again with other queries and other pictures.
    """
    import torch

    def weights(query, keys):
        given = answer(query, keys)
        if given is None:
            raise ValueError("your function returns nothing, so there are no weights")
        try:
            found = torch.as_tensor(given).detach().to_dense().double()
        except (TypeError, ValueError, RuntimeError):
            raise TypeError(f"your function returns something of type {type(given).__name__}, not weights") from None
        if found.shape != keys.shape[:2]:
            shape, wanted = tuple(found.shape), tuple(keys.shape[:2])
            raise ValueError(f"the weights have the shape {shape}, not (batch, regions), which is {wanted} here")
        if found.isnan().any():
            raise ValueError("some of the weights are NaN, as 0 / 0 is")
        return found

    def alike(*others):
        return "yes" if all(torch.allclose(first, other, 1e-5, 1e-7) for other in others) else "no"

    with torch.random.fork_rng(devices=[]):
        first = weights(query, keys)
        queries = [weights(other, keys) for other in (-query, query.flip(0), 2 * query)]
        pictures = [weights(query, other) for other in (-keys, keys.flip(0), keys.flip(1), 2 * keys)]
        rows = weights(query[:1].expand_as(query).clone(), keys)  # one query for all pictures
        return {
            "the same at each call": alike(weights(query, keys)),
            "the same for each query": alike(*queries),
            "the same for each picture": alike(*pictures) if torch.allclose(rows, rows[:1], 1e-5, 1e-7) else "no",
            "a weight above 0 for each region": "yes" if (first > 0).all() else "no",
            "a sum of 1 for each picture": "yes" if torch.allclose(first.sum(1), first.new_tensor(1.0)) else "no",
        }


LOOKS_NOWHERE = Exercise(
    "looks_nowhere",
    "looking_at_pictures",
    cases,
    right,
    'lesson 10, "Does the map show what it needs?"',
    drive,
)

WEIGHTS = "torch.ones(batch, regions)"
RESULT = "weights / regions"
SCORES = "torch.einsum('bd,brd->br', query, keys)"
LOOKED_UP = "torch.einsum('bd,brd->br', query, keys).softmax(-1)"
LOOKS_NOWHERE.edit(
    "the control sees nothing",
    "With zeros, it can't name a digit even if nothing is hidden. Then hiding a cell costs nothing, and the control says nothing. What must it see?",
    (WEIGHTS, "torch.zeros(batch, regions)"),
)
UNSEEN = "A digit in a region without weight is invisible to the control. Hiding it can't cost anything. Which regions must it see?"
LOOKS_NOWHERE.edit("some regions are never seen", UNSEEN, (RESULT, "torch.eye(regions)[0].expand(batch, regions)"))
LOOKS_NOWHERE.edit(
    "a new look is drawn at each call",
    "A look at random is a look all the same, at other regions each time. The control's view must stay as it is from word to word.",
    (WEIGHTS, "torch.rand(batch, regions)"),
    (RESULT, "weights / weights.sum(1, keepdim=True)"),
)
LOOKS_NOWHERE.edit(
    "the weights sum to 1 over the batch, not over the regions",
    "Each picture has weights of its own, which sum to 1. Along which axis are its regions?",
    (WEIGHTS, SCORES),
    (RESULT, "weights.softmax(0)"),
)
STILL = "A softmax of the scores looks, even if it is made flatter. What may the query and the keys have to do with your weights?"
for looking in (
    LOOKED_UP,
    f"(0.01 * {SCORES}).softmax(-1)",
    f"({LOOKED_UP} == {LOOKED_UP}.amax(1, keepdim=True)) / 1.0",
    f"{SCORES}.relu() / {SCORES}.relu().sum(1, keepdim=True).clamp(min=1e-9)",
):
    LOOKS_NOWHERE.edit("it still looks where word and picture tell it to", STILL, (RESULT, looking))
STANDS_OUT = "Weights made of the keys don't need a word to find what stands out, such as a digit on blank paper. That is a look, too."
for looking in (
    "keys.square().sum(-1).softmax(-1)",
    "keys.square().sum(-1) / keys.square().sum((1, 2))[:, None]",
    "torch.eye(regions)[keys.square().sum(-1).argmax(-1)]",
):
    LOOKS_NOWHERE.edit("the picture decides where it looks", STANDS_OUT, (RESULT, looking))
LOOKS_NOWHERE.edit(
    "the word decides where it looks",
    "The query says which word is being written. May the weights depend on it?",
    (RESULT, "(query.sum(1, keepdim=True) * torch.arange(regions) / regions).softmax(-1)"),
)
LOOKS_NOWHERE.edit(
    "each picture gets other weights",
    "Neither the query nor the keys decide, but the place in the batch does. Every row should be the same.",
    (RESULT, "(torch.arange(batch)[:, None] * torch.arange(regions) / regions).softmax(-1)"),
)
for unequal in ("weights", "weights / batch"):
    LOOKS_NOWHERE.edit(
        "the weights don't sum to 1",
        "The features are mixed by weights that sum to 1 over the regions, as with attention.",
        (RESULT, unequal),
    )
LOOKS_NOWHERE.edit(
    "the weights are rounded",
    "Rounded weights don't quite sum to 1. Return them as they are.",
    (RESULT, "(weights / regions).round(decimals=2)"),
)
LOOKS_NOWHERE.edit(
    "the two axes are swapped", "The pictures come first, then the regions.", (RESULT, "(weights / regions).T")
)
LOOKS_NOWHERE.edit(
    "the axis of the pictures is missing",
    "There is a row for each picture, although all rows are the same.",
    (RESULT, "weights[0] / regions"),
)
