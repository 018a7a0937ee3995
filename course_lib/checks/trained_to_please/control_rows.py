"""`control_rows(digits, steps, seed)`: as many tokens as the written steps, and nothing in them of the row's digits."""

import random

import torch

from course_lib.checks.engine import Case, Exercise


def drive(answer, digits, steps, seed):
    """What an answer writes, and what changes in a row's filler when the row's own digits change."""
    import random

    import torch

    names = "it returns", "tokens in a row", "the last token", "the tokens", "with the same seed again", "of the row's own, it writes"  # fmt: skip

    def told(returned, *others):
        return dict(zip(names, (returned, *(others or ["not compared"] * 5)), strict=True))

    def table(found):
        try:
            found = torch.as_tensor(found)  # as the cell below does
        except (TypeError, ValueError, RuntimeError):
            return None
        if found.ndim != 2 or found.layout != torch.strided or found.is_complex() or (found != found.long()).any():
            return None
        return found.long()

    def written(digits, seed):
        return table(answer(digits.clone(), digits.cumsum(1) % 2, seed))

    def changed(seed, first, flips):
        """Which tokens of each row's filler change when digits of the row change, and no others, and all that came out."""
        found, seen = torch.zeros(rows, n - 1, dtype=torch.bool), [(first[:, :-1], before, before.cumsum(1) % 2)]
        for row in range(rows):
            own = before[row].tolist()
            others = [[digit ^ (place == flipped) for place, digit in enumerate(own)] for flipped in range(flips)]
            others += [[1 - digit for digit in own], [draw.randrange(2) for _ in own]]
            for other in others:
                new = before.clone()
                new[row] = torch.tensor(other)
                seen.append((written(new, seed)[:, :-1], new, new.cumsum(1) % 2))
                found[row] |= seen[-1][0][row] != first[row, :-1]
        return found, seen

    rows, n = digits.shape
    before, last = digits.clone(), steps[:, -1:].clone()
    first = answer(digits, steps, seed)  # the check compares what was given with what it was
    if first is None:
        return None
    first = table(first)
    if first is None or len(first) != rows:
        return told("something else, not a table with a row for each")
    if first.shape[1] != n:
        return told("a row for each", "fewer than the steps" if first.shape[1] < n else "more than the steps",
                    *["not compared"] * 4)  # fmt: skip
    first = first.clone()
    end = first[:, -1:]
    again = all(torch.equal(written(before, seed), first) for _ in range(4))  # a few draws may be alike by chance
    draw = random.Random(0)
    own_changes, seen, some = torch.zeros(rows, n - 1, dtype=torch.bool), [], ""
    for number in range(5) if again else ():  # a row may change with one seed and not with another
        changes, out = changed(seed + number, written(before, seed + number), 1 if number else n)
        if not changes.any(1).all():
            some = ", in some rows"
        if changes.any() and not own_changes.any():
            own_changes, seen = changes, out

    def is_own(copy, exchanged):
        """Whether the tokens that change are this copy, whatever the digits are."""
        return all((filler == abs(exchanged - copy(*own)))[own_changes].all() for filler, *own in seen)

    def in_order(copy):
        return all(torch.equal(filler.sort(1).values, copy(*own).sort(1).values) for filler, *own in seen)

    copies = (
        ("its steps", lambda digits, steps: steps[:, :-1]),
        ("its steps, shifted", lambda digits, steps: steps[:, 1:]),
        ("its steps, shifted", lambda digits, steps: steps.roll(1, 1)[:, :-1]),
        ("its answer", lambda digits, steps: steps[:, -1:]),
        ("its digits", lambda digits, steps: digits[:, :-1]),
        ("its digits", lambda digits, steps: digits[:, 1:]),
    )
    found = [name for name, copy in copies if is_own(copy, 0)]
    found += [f"{name}, 0 and 1 exchanged" for name, copy in copies if is_own(copy, 1)]
    found += [f"{name}, in another order" for name, copy in copies if in_order(copy)]
    what = (found or ["something"])[0] if own_changes.any() else "nothing"
    return told(
        "a row for each",
        "as many as the steps",
        "the row's own answer" if torch.equal(end, last) else
        "a dot" if (end == 2).all() else "another than the row's own answer",
        "0, 1 and 2" if 0 <= first.min() and first.max() <= 2 else "others than 0, 1 and 2",
        "the same" if again else "not the same",
        f"{what}{some * what.startswith('its')}" if again else "not compared",
    )  # fmt: skip


def control_rows_cases(generator: torch.Generator) -> list[Case]:
    def given(rows: int, n: int) -> dict:
        digits = torch.randint(2, (rows, n), generator=generator)
        digits[0, :-1] = torch.tensor([1] + [0] * (n - 2))  # its last digit isn't its answer
        digits[1, -1] = 1 - digits[1, :-1].sum() % 2 if digits[0, -1] else digits[1, :-1].sum() % 2
        return {
            "digits": digits,
            "steps": digits.cumsum(1) % 2,
            "seed": int(torch.randint(25, (), generator=generator)),
        }

    by_hand = torch.tensor([[1, 0, 1, 1, 0, 1], [0, 0, 1, 0, 1, 0], [0, 1, 1, 1, 0, 0]])
    inputs = [
        ("the three rows of the text", {"digits": by_hand, "steps": by_hand.cumsum(1) % 2, "seed": 3}),
        ("three rows of eight digits", given(3, 8)),
        ("five rows of six digits", given(5, 6)),
        ("as many rows as digits", given(7, 7)),
        ("rows of ten digits", given(5, 10)),
        ("more rows than digits", given(8, 5)),
    ]
    return [Case(about, given) for about, given in inputs]


def control_rows(digits, steps, seed):
    filler = torch.full_like(steps[:, 1:], 2)
    answer = steps[:, -1:]
    return torch.cat([filler, answer], 1)


def permuted(steps, seed):
    order = torch.randperm(len(steps), generator=torch.Generator().manual_seed(seed))
    order[0] = 0  # so that a row stays in every draw
    return steps[order, :-1]


def drawn_from(digits, seed):
    draws = [random.Random(f"{seed} {row}") for row in digits.tolist()]
    return torch.tensor([[draw.randrange(2) for _ in range(digits.shape[1] - 1)] for draw in draws])


CONTROL_ROWS = Exercise(
    "control_rows",
    "trained_to_please",
    control_rows_cases,
    control_rows,
    'lesson 14, "Steps that are written down"',
    drive,
)

FILLER, ANSWER, RESULT = "torch.full_like(steps[:, 1:], 2)", "steps[:, -1:]", "torch.cat([filler, answer], 1)"
LENGTH = "A model that writes more tokens computes more. So the control needs as many as the steps, the answer included. Otherwise a difference may come from the length alone."
CONTROL_ROWS.edit("the control is shorter than the steps", LENGTH, (RESULT, "answer"))
CONTROL_ROWS.edit("the control is longer than the steps", LENGTH, (FILLER, "torch.full_like(steps, 2)"))
END = "The question stays the same, so the correct answer does, too. It's the last of the row's own steps."
CONTROL_ROWS.edit(
    "the answer is another than the row's own",
    f"{END} If you take over another row's steps, leave out its answer.",
    (ANSWER, "steps.roll(1, 0)[:, -1:]"),
)
CONTROL_ROWS.edit("the answer is another than the row's own", END, (ANSWER, "1 - steps[:, -1:]"))
CONTROL_ROWS.edit(
    "the answer is another than the row's own", f"{END} Are the rows in their order?", (ANSWER, "steps.flip(0)[:, -1:]")
)
CONTROL_ROWS.edit(
    "the answer comes first, not last", "The model answers at the end.", (RESULT, "torch.cat([answer, filler], 1)")
)
CONTROL_ROWS.edit(
    "rows and positions are swapped",
    "Row by row, return what is written.",
    (RESULT, "torch.cat([filler, answer], 1).T"),
)
CONTROL_ROWS.edit("there is a dot where the answer should be", END, (ANSWER, "filler[:, -1:]"))
KEPT = "The control is about what is written down. As long as the row's own steps are there, a model can use them."
CONTROL_ROWS.edit("the row's own steps are kept", KEPT, (FILLER, "steps[:, :-1]"))
for kept in ("permuted(steps, seed)", "steps.flip(0)[:, :-1]", "steps[[0, *range(len(steps) - 1)], :-1]"):
    CONTROL_ROWS.edit(
        "some rows keep their own steps",
        "Does every row get those of another? A permutation may leave a row where it was.",
        (FILLER, kept),
    )
CONTROL_ROWS.edit(
    "the row's own steps are there, shifted",
    "A model can still use them. Axis 0 is that of the rows. Nothing may depend on the row's digits.",
    (FILLER, "steps.roll(1, 1)[:, :-1]"),
)
CONTROL_ROWS.edit(
    "the row's own steps are there, shifted, and the answer is shifted, too",
    "Axis 0 is that of the rows, and axis 1 goes along a row. Which one did you mean?",
    (RESULT, "steps.roll(1, 1)"),
)
CONTROL_ROWS.edit(
    "the row's own steps are there, with 0 and 1 exchanged",
    "A model learns to read them upside down. Nothing may depend on the row's digits.",
    (FILLER, "1 - steps[:, :-1]"),
)
CONTROL_ROWS.edit(
    "the row's own steps are there in another order",
    "In another order they still say how many of them are 1. Nothing may depend on the row's digits.",
    (FILLER, "steps[:, :-1].flip(1)"),
)
DIGITS = (
    "Then the digits can be read twice, and the second time near the answer. Nothing may depend on the row's digits."
)
CONTROL_ROWS.edit("the row's own digits are copied", DIGITS, (FILLER, "digits[:, :-1]"))
CONTROL_ROWS.edit("the row's own digits are there, with 0 and 1 exchanged", DIGITS, (FILLER, "1 - digits[:, :-1]"))
CONTROL_ROWS.edit("the row's own digits are there in another order", DIGITS, (FILLER, "digits[:, :-1].flip(1)"))
LEAK = "If the filler says the answer, the model needs only to copy it, and the last token is easy for another reason."
CONTROL_ROWS.edit("the answer is in the filler", LEAK, (FILLER, "steps[:, -1:].expand(-1, steps.shape[1] - 1)"))
CONTROL_ROWS.edit(
    "the answer is in the filler, with 0 and 1 exchanged",
    LEAK,
    (FILLER, "1 - steps[:, -1:].expand(-1, steps.shape[1] - 1)"),
)
CONTROL_ROWS.edit(
    "something in the filler depends on the row's own digits",
    "Change one digit of a row and look whether its filler changes. Random tokens must not get their seed from the digits.",
    (FILLER, "drawn_from(digits, seed)"),
)
CONTROL_ROWS.edit(
    "there are tokens that the model doesn't have",
    "There are three tokens: 0, 1 and the dot, which is 2.",
    (FILLER, "torch.full_like(steps[:, 1:], 3)"),
)
CONTROL_ROWS.edit(
    "the seed isn't used",
    "Random tokens must come again with the same seed. `torch.Generator().manual_seed(seed)` makes a generator of your own.",
    (FILLER, "torch.randint(2, steps[:, 1:].shape)"),
)
CONTROL_ROWS.edit(
    "it returns something else, not a table of tokens",
    "Return a whole number for each token, with a row for each row of `digits`. `torch.stack` joins rows to a table.",
    (RESULT, "[filler, answer]"),
)
