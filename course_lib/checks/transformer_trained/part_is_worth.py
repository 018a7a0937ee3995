"""part_is_worth(train, share_right, seeds): for each seed, the share right with a part minus the share right without it."""

import torch

from course_lib.checks.engine import Case, Exercise


def cases(generator: torch.Generator) -> list[Case]:
    """Draws tables of shares (with the part or without, seed, kind of rows) that replace what training would give."""

    def shares(seeds: int) -> torch.Tensor:
        return torch.rand(2, seeds, 2, generator=generator, dtype=torch.float64)

    # The rows of the table are without and with the part. The second number of each pair is measured on training rows.
    small = torch.tensor([[[0.2, 0.3], [0.5, 0.6]], [[0.9, 1.0], [0.7, 0.9]]], dtype=torch.float64)
    harms = torch.tensor([[[0.8, 0.9], [0.6, 0.7], [0.9, 1.0]], [[0.3, 0.2], [0.7, 0.9], [0.5, 0.1]]]).double()
    inputs = [
        ("two seeds", small, [0, 1]),
        ("a part that does harm with some seeds", harms, [0, 1, 2]),
        ("other seeds than 0, 1, 2", shares(9), [3, 7, 5]),
        ("one seed", shares(5), [4]),
        ("the same seeds in reverse order", harms, [2, 1, 0]),
        ("five seeds", shares(12), [11, 2, 3, 5, 7]),
    ]
    return [Case(about, {"table": table, "seeds": seeds}) for about, table, seeds in inputs]


def right(train, share_right, seeds):
    worth = []
    for seed in seeds:
        with_it = share_right(train(True, seed), "new")
        without = share_right(train(False, seed), "new")
        worth.append(with_it - without)
    return worth


def drive_worth(answer, table, seeds):
    """Passes on a `train` and a `share_right` that look up shares; a model is its pair of shares, on new and training rows."""

    known = list(seeds)

    def train(part, seed):
        if not isinstance(part, bool):
            raise ValueError(f"train wants True (with the part) or False (without it), not {part!r}")
        if seed not in known:
            raise ValueError(f"the seed {seed} is not one of the seeds {known}")
        return table[int(part), seed]

    def share_right(model, rows):
        if getattr(model, "shape", None) != table.shape[2:]:
            raise ValueError("share_right wants a model that train has returned")
        if rows not in ("new", "training"):
            raise ValueError(f'rows is {rows!r}; it must be "new" or "training"')
        return model[("new", "training").index(rows)].item()

    return answer(train, share_right, seeds)


PART_IS_WORTH = Exercise(
    "part_is_worth",
    "transformer_trained",
    cases,
    right,
    'lesson 5, "Order"; lesson 7, which removes every part in turn; glossary.show("positional encoding")',
    drive=drive_worth,
)

PART_IS_WORTH.edit(
    "the difference has the wrong sign",
    "A part that helps must get a positive number. Which share do you subtract from which?",
    ("with_it - without", "without - with_it"),
)
PART_IS_WORTH.edit(
    "the sign of the difference is lost",
    "A part may also do harm. What does your function return if the share is smaller with the part?",
    ("with_it - without", "abs(with_it - without)"),
)
PART_IS_WORTH.edit(
    "it is measured on the training rows",
    "A model may know its training rows by heart. Which rows show whether it can do the task?",
    ('train(True, seed), "new"', 'train(True, seed), "training"'),
    ('train(False, seed), "new"', 'train(False, seed), "training"'),
)
PART_IS_WORTH.edit(
    "the two models are measured on different rows",
    "Two things differ between your two shares, the part and the rows. Only one of them may differ.",
    ('train(False, seed), "new"', 'train(False, seed), "training"'),
)
PART_IS_WORTH.edit(
    "the two models have different seeds",
    "Two things differ between your two runs, the part and the seed. Only one of them may differ.",
    ("train(False, seed)", "train(False, seeds[(seeds.index(seed) + 1) % len(seeds)])"),
)
PART_IS_WORTH.edit(
    "only the first seed is used",
    "A single run may be lucky. Where does your function go through the seeds?",
    ("in seeds", "in seeds[:1]"),
)
PART_IS_WORTH.edit(
    "the differences are averaged",
    "Return one difference per seed, because a mean doesn't show how much they vary.",
    ("return worth", "return sum(worth) / len(worth)"),
)
PART_IS_WORTH.edit(
    "the differences are added up",
    "Return a list with one difference per seed.",
    ("return worth", "return sum(worth)"),
)


@PART_IS_WORTH.misconception(
    "the best seeds are compared",
    "The best of several runs is the luckiest one, and the two lucky runs may have different seeds.",
)
def best_of_each(train, share_right, seeds):
    with_it, without = ([share_right(train(part, seed), "new") for seed in seeds] for part in (True, False))
    return max(with_it) - max(without)


PART_IS_WORTH.edit(
    "it is a ratio, not a difference",
    "If the share rises from 0.2 to 0.9, the part is worth 0.7.",
    ("with_it - without", "with_it / without"),
)
PART_IS_WORTH.edit(
    "the share without the part is not subtracted",
    "A model without the part may also get many rows right. What is the part itself worth?",
    ("with_it - without", "with_it"),
)
PART_IS_WORTH.edit(
    "the differences are sorted",
    "The first difference should belong to the first seed. In which order are the seeds given?",
    ("return worth", "return sorted(worth)"),
)
