"""part_is_worth(train, share_right, seeds): for each seed, how much larger the share of right rows is with a part than without."""

import torch

from course_lib.checks.engine import Case, Exercise


def cases(generator: torch.Generator) -> list[Case]:
    """A table of shares (with the part or without, seed, kind of rows) stands for what training would give."""

    def shares(seeds: int) -> torch.Tensor:
        return torch.rand(2, seeds, 2, generator=generator, dtype=torch.float64)

    # Rows of the table: without and with the part. The last number of each pair is measured on training rows.
    small = torch.tensor([[[0.2, 0.3], [0.5, 0.6]], [[0.9, 1.0], [0.7, 0.9]]], dtype=torch.float64)
    harms = torch.tensor([[[0.8, 0.9], [0.6, 0.7], [0.9, 1.0]], [[0.3, 0.2], [0.7, 0.9], [0.5, 0.1]]]).double()
    inputs = [
        ("two seeds", small, [0, 1]),
        ("a part that does harm with some seeds", harms, [0, 1, 2]),
        ("other seeds than 0, 1, 2", shares(9), [3, 7, 5]),
        ("one seed", shares(5), [4]),
        ("the same seeds the other way round", harms, [2, 1, 0]),
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
    """Hands over a `train` and a `share_right` that look things up; a model is its shares of both kinds of rows."""

    known = list(seeds)

    def train(part, seed):
        if not isinstance(part, bool):
            raise ValueError(f"train wants True (with the part) or False (without it), not {part!r}")
        if seed not in known:
            raise ValueError(f"the seed {seed} is none of the seeds {known}")
        return table[int(part), seed]

    def share_right(model, rows):
        if getattr(model, "shape", None) != table.shape[2:]:
            raise ValueError("share_right wants a model, as train returns it")
        if rows not in ("new", "training"):
            raise ValueError(f'rows is {rows!r}; it must be "new" or "training"')
        return model[("new", "training").index(rows)].item()

    return answer(train, share_right, seeds)


PART_IS_WORTH = Exercise(
    "part_is_worth",
    "transformer_trained",
    cases,
    right,
    'lesson 5, "Order"; lesson 7 takes out every part; glossary.show("positional encoding")',
    drive=drive_worth,
)

PART_IS_WORTH.edit(
    "the difference has the wrong sign",
    "A part that helps must come out with a positive number. Which share is subtracted from which?",
    ("with_it - without", "without - with_it"),
)
PART_IS_WORTH.edit(
    "the sign of the difference is lost",
    "A part may do harm, too. What does your function say of one with which fewer rows are right?",
    ("with_it - without", "abs(with_it - without)"),
)
PART_IS_WORTH.edit(
    "it is measured on the training rows",
    "What a model has seen in training it may know by heart. Which rows tell what it has understood?",
    ('train(True, seed), "new"', 'train(True, seed), "training"'),
    ('train(False, seed), "new"', 'train(False, seed), "training"'),
)
PART_IS_WORTH.edit(
    "with and without are measured on different rows",
    "Two things differ between your two numbers: the part, and the rows. Let only one differ.",
    ('train(False, seed), "new"', 'train(False, seed), "training"'),
)
PART_IS_WORTH.edit(
    "with and without have different seeds",
    "Two things differ between your two trainings: the part, and the seed. Let only one differ.",
    ("train(False, seed)", "train(False, seeds[(seeds.index(seed) + 1) % len(seeds)])"),
)
PART_IS_WORTH.edit(
    "only the first seed is used",
    "One training may be lucky. Where does your function go through the seeds?",
    ("in seeds", "in seeds[:1]"),
)
PART_IS_WORTH.edit(
    "the differences are averaged",
    "Wanted is one difference for each seed: a mean does not show how far they lie apart.",
    ("return worth", "return sum(worth) / len(worth)"),
)
PART_IS_WORTH.edit(
    "the differences are added up",
    "Wanted is one difference for each seed, in a list.",
    ("return worth", "return sum(worth)"),
)


@PART_IS_WORTH.misconception(
    "the best seeds are compared",
    "The best of several trainings is the luckiest, and the two lucky ones may have different seeds.",
)
def best_of_each(train, share_right, seeds):
    with_it, without = ([share_right(train(part, seed), "new") for seed in seeds] for part in (True, False))
    return max(with_it) - max(without)


PART_IS_WORTH.edit(
    "it is a ratio, not a difference",
    "From 0.2 to 0.9 the share has risen by 0.7. Subtract.",
    ("with_it - without", "with_it / without"),
)
PART_IS_WORTH.edit(
    "the share without the part is not taken away",
    "A model without the part may get many right as well. What is the part itself worth?",
    ("with_it - without", "with_it"),
)
PART_IS_WORTH.edit(
    "the differences are sorted",
    "The first difference belongs to the first seed. In which order are the seeds given?",
    ("return worth", "return sorted(worth)"),
)
