"""`carried_and_needed(run, heads)`: how much each head brings back alone, and how much is lost without it."""

import torch

from course_lib.checks.engine import Case, Exercise


def drive(answer, run_of_none, run_of_each_alone, run_of_all_but_each, run_of_all):
    """Makes `run`. Any other heads that are missing cost together what each costs alone."""
    count = len(run_of_each_alone)

    def run(kept):
        if isinstance(kept, int | float):
            raise TypeError(f"run takes a set or a list of heads, but it got {kept}")
        heads = set(map(int, kept))
        if len(heads) < len(kept):
            raise ValueError(f"run takes the numbers of the heads that are kept, each once, but it got {list(kept)}")
        missing = set(range(count)) - heads
        if len(heads) + len(missing) > count:
            raise ValueError(f"the heads are 0 to {count - 1}, but run got {sorted(heads)}")
        if not heads:
            return run_of_none
        if not missing:
            return run_of_all
        if len(heads) == 1:
            return run_of_each_alone[heads.pop()]
        return run_of_all - sum(run_of_all - run_of_all_but_each[head] for head in missing)

    return answer(run, count)


def carried_and_needed_cases(generator: torch.Generator) -> list[Case]:
    def draw(count: int) -> list[float]:
        return [round(one, 3) for one in (3 * torch.rand(count, generator=generator) + 0.1).tolist()]

    def given(weights: list[float], joint: float = 0.0, ceiling: float = 99.0, floor: float = -2.0) -> dict:
        """Each head adds its weight, heads 0 and 1 together add more, and a ceiling ends the sum."""

        def run(kept: set[int]) -> float:
            added = sum(weights[head] for head in kept) + joint * (kept >= {0, 1})
            return round(floor + min(added, ceiling), 3)

        every = set(range(len(weights)))
        return {
            "run_of_none": run(set()),
            "run_of_each_alone": [run({head}) for head in every],
            "run_of_all_but_each": [run(every - {head}) for head in every],
            "run_of_all": run(every),
        }

    lowest = round(-1 - 3 * torch.rand((), generator=generator).item(), 3)
    inputs = [
        ("the two heads of the text", given([6.0, 4.0], 0.0, 6.0, -2.0)),
        ("two heads that do the same", given([4.0, 4.0], 0.0, 4.0, -1.0)),
        ("two heads that only work together", given([0.0, 0.0], 5.0, 99.0, -3.0)),
        ("three heads that add up", given(draw(3), 0.0, 99.0, lowest)),
        ("a head that works against the answer", given([5.0, -2.0, 1.0], 0.0, 99.0, lowest)),
        ("four heads, a ceiling", given([4.0, *draw(3)], 0.0, 4.5, lowest)),
        ("four heads, two of which help each other", given(draw(4), 2.5, 99.0, lowest)),
        ("a value above 0 without any head", given(draw(3), 1.0, 99.0, 1.5)),
        ("a single head", given([3.0], 0.0, 99.0, lowest)),
        ("six heads", given(draw(6), 1.5, 6.0, lowest)),
    ]
    return [Case(about, arguments) for about, arguments in inputs]


def carried_and_needed(run, heads):
    everything = set(range(heads))
    full = run(everything)
    empty = run(set())
    whole = full - empty
    rows = []
    for head in range(heads):
        alone = run({head})
        without = run(everything - {head})
        carried = (alone - empty) / whole
        needed = (full - without) / whole
        rows.append([carried, needed])
    return torch.tensor(rows)


CARRIED_AND_NEEDED = Exercise(
    "carried_and_needed",
    "opened_up",
    carried_and_needed_cases,
    carried_and_needed,
    'lesson 13, "Is it needed?"; glossary.show("activation patching"); glossary.show("head pruning")',
    drive,
)

ALONE, WITHOUT, CARRIED, NEEDED, ROW, TABLE = (
    "run({head})",
    "run(everything - {head})",
    "(alone - empty) / whole",
    "(full - without) / whole",
    "[carried, needed]",
    "torch.tensor(rows)",
)
CONTROL = "Need can't be computed from what a head carries. It takes a run of its own, with all heads but this one."
CARRIED_AND_NEEDED.edit("a head is needed for what the others don't carry alone", CONTROL, (NEEDED, "1 - carried"))
CARRIED_AND_NEEDED.edit("a head is needed as much as it carries", CONTROL, (NEEDED, "carried"))
LEFT = "A head that nobody needs should get a 0. Which number do you get if the answer is as good without it?"
CARRIED_AND_NEEDED.edit(
    "it is the share that is left without the head, not the share that is lost",
    LEFT,
    (NEEDED, "(without - empty) / whole"),
)
CARRIED_AND_NEEDED.edit(
    "it is the share of `run` of all heads that is left without the head, not what is lost",
    LEFT,
    (NEEDED, "without / full"),
)
CARRIED_AND_NEEDED.edit("the sign of what is needed is wrong", LEFT, (NEEDED, "(without - full) / whole"))
CARRIED_AND_NEEDED.edit(
    "the sign of what is carried is wrong",
    "A head that helps should get a number above 0.",
    (CARRIED, "(empty - alone) / whole"),
)
CARRIED_AND_NEEDED.edit(
    "carried and needed are exchanged",
    "First what a head carries alone, then what is lost without it. `run` takes the heads that are *kept*.",
    (ROW, "[needed, carried]"),
)
CARRIED_AND_NEEDED.edit(
    "it is what the head still lacks, not what it carries",
    "Compare the head alone with *no* head, not with all of them.",
    (CARRIED, "(full - alone) / whole"),
)
SETS = "`run` takes the heads that are *kept*. What does it give for no head, and for all of them?"
CARRIED_AND_NEEDED.edit(
    "the heads that are kept and those that are replaced are exchanged",
    SETS,
    (f"alone = {ALONE}", "alone = run(everything - {head})"),
    (f"without = {WITHOUT}", "without = run({head})"),
)
CARRIED_AND_NEEDED.edit(
    "all heads and no head are exchanged",
    SETS,
    ("full = run(everything)", "full = run(set())"),
    ("empty = run(set())", "empty = run(everything)"),
)
CARRIED_AND_NEEDED.edit(
    "the head before is measured",
    "`head` is counted from 0.",
    (ALONE, "run({(head - 1) % heads})"),
    (WITHOUT, "run(everything - {(head - 1) % heads})"),
)
ONE = "Each head is measured by itself. Begin again with no head, or with all of them."
CARRIED_AND_NEEDED.edit("all heads up to this one are kept", ONE, (ALONE, "run(set(range(head + 1)))"))
CARRIED_AND_NEEDED.edit("the heads that were taken away stay away", ONE, (WITHOUT, "run(set(range(head + 1, heads)))"))
CARRIED_AND_NEEDED.edit(
    "all heads up to this one are kept, and those taken away stay away",
    ONE,
    (ALONE, "run(set(range(head + 1)))"),
    (WITHOUT, "run(set(range(head + 1, heads)))"),
)
CARRIED_AND_NEEDED.edit(
    "it is what the head adds to those before it",
    ONE,
    (CARRIED, "(run(set(range(head + 1))) - run(set(range(head)))) / whole"),
)
SCALE = "Divide by the distance between all heads and no head. Then 1 means the whole of it."
CARRIED_AND_NEEDED.edit("nothing is divided", SCALE, (CARRIED, "alone - empty"), (NEEDED, "full - without"))
CARRIED_AND_NEEDED.edit("the value with all heads is the divisor", SCALE, ("whole = full - empty", "whole = full"))
CARRIED_AND_NEEDED.edit("what is needed is divided by `run` of all heads", SCALE, (NEEDED, "(full - without) / full"))
CARRIED_AND_NEEDED.edit("what is needed isn't divided", SCALE, (NEEDED, "full - without"))
CARRIED_AND_NEEDED.edit("what is carried isn't divided", SCALE, (CARRIED, "alone - empty"))
CARRIED_AND_NEEDED.edit(
    "the value without any head isn't subtracted",
    "A run without any head is the zero of the scale.",
    (CARRIED, "alone / whole"),
)
CARRIED_AND_NEEDED.edit("the values of the runs are returned", SCALE, (CARRIED, "alone"), (NEEDED, "without"))
CARRIED_AND_NEEDED.edit(
    "the signs are lost",
    "A head may work against the answer. Then its number is below 0.",
    (CARRIED, "abs(alone - empty) / whole"),
    (NEEDED, "abs(full - without) / whole"),
)
CARRIED_AND_NEEDED.edit(
    "the numbers are cut off at 0 and 1",
    "A number below 0 or above 1 is a finding. Don't cut it off.",
    (TABLE, "torch.tensor(rows).clamp(0, 1)"),
)
CARRIED_AND_NEEDED.edit(
    "the numbers are made to add up to 1",
    "Several heads may each carry all of it, or none. So the numbers needn't add up to anything.",
    (TABLE, "torch.tensor(rows) / torch.tensor(rows).sum(0)"),
)
CARRIED_AND_NEEDED.edit(
    "rows and columns are exchanged", "Return a row for each head.", (TABLE, "torch.tensor(rows).T")
)
CARRIED_AND_NEEDED.edit("only what is carried is returned", "Return two numbers for each head.", (ROW, "carried"))
CARRIED_AND_NEEDED.edit(
    "what is needed is returned twice",
    "What a head carries is measured with this head alone. No other head is kept.",
    (ROW, "[needed, needed]"),
)
CARRIED_AND_NEEDED.edit(
    "what is needed is counted from the head alone, not from all heads",
    "Begin with all heads, and take one away. What does the answer lose?",
    (NEEDED, "(alone - without) / whole"),
)
CARRIED_AND_NEEDED.edit("only what is needed is returned", "Return two numbers for each head.", (ROW, "needed"))
