"""`patched(layers, start, donor, layer, position)`: a run in which one state comes from another run."""

import torch

from course_lib.checks.engine import Case, Exercise


def drive(answer, inside_the_layers, start, donor, layer, position):
    """Makes the layers. Each adds up the rows from the first to its own; weights of 1 alone change nothing else."""

    def made(weight):
        def run(x):
            if not weight.any():
                return x  # as a layer that is switched off
            total = x.cumsum(0)
            return total if weight.numel() == 1 else (x + total @ weight).tanh()

        return run

    return answer([made(weight) for weight in inside_the_layers], start, donor, layer, position)


def patched_cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    def runs(layers: int, n: int, d: int, off: tuple[int, ...] = (), kind=torch.float32) -> dict:
        """Weights of the layers, some of which change nothing, the start, and all states of another run."""
        weights = [torch.zeros(d, d) if number in off else draw(d, d) / d**0.5 for number in range(1, layers + 1)]
        weights = [weight.to(kind) for weight in weights]
        return given(weights, draw(n, d).to(kind), draw(n, d).to(kind))

    def given(weights: list[torch.Tensor], start: torch.Tensor, other: torch.Tensor) -> dict:
        states = [other]
        drive(lambda layers, *_: [states.append(run(states[-1])) for run in layers], weights, None, None, 0, 0)
        return {"inside_the_layers": weights, "start": start, "donor": torch.stack(states)}

    by_hand = given([torch.ones(1, 1)] * 2, torch.tensor([[1.0], [2.0]]), torch.tensor([[4.0], [5.0]]))
    first_off, last_off = runs(3, 3, 2, (1,)), runs(3, 3, 2, (3,))
    strided = runs(3, 4, 3)
    strided["donor"] = strided["donor"].permute(2, 1, 0).contiguous().permute(2, 1, 0)
    inputs = [
        ("the two layers of the text, layer 1, position 0", by_hand, 1, 0),
        ("the same, position 1", by_hand, 1, 1),
        ("the same, layer 2", by_hand, 2, 1),
        ("two layers", runs(2, 2, 2), 1, 1),
        ("as many positions as numbers in a state", runs(3, 3, 3), 2, 1),
        ("as many layers as positions", runs(4, 4, 3), 2, 2),
        ("the last layer", runs(3, 3, 2), 3, 1),
        ("the first position", runs(4, 5, 3), 3, 0),
        ("the last position", runs(4, 5, 3), 1, 4),
        ("a first layer that returns the tensor it gets", first_off, 1, 1),
        ("a last layer that returns the tensor it gets", last_off, 3, 2),
        ("a single position", runs(3, 1, 4), 1, 0),
        ("float64", runs(3, 4, 2, kind=torch.float64), 2, 1),
        ("states that are not contiguous in memory", strided, 2, 2),
    ]
    return [Case(about, {**given, "layer": layer, "position": place}) for about, given, layer, place in inputs]


def patched(layers, start, donor, layer, position):
    x = start
    for number, run in enumerate(layers, 1):
        x = run(x)
        if number == layer:
            x = x.clone()
            x[position] = donor[layer, position]
    return x


PATCHED = Exercise(
    "patched",
    "opened_up",
    patched_cases,
    patched,
    'lesson 13, "Move a state"; glossary.show("activation patching")',
    drive,
    tensor=True,
)

RUN, HERE, PUT = "        x = run(x)\n", "number == layer", "x[position] = donor[layer, position]"
LOOP = """        x = run(x)
        if number == layer:
            x = x.clone()
            x[position] = donor[layer, position]
"""
BEFORE = """        if number == layer:
            x = x.clone()
            x[position] = donor[{}, position]
        x = run(x)
"""
AFTER = "The state is replaced *after* layer number `layer` has run. So this layer doesn't read the new one. Which line comes first?"
PATCHED.edit("the state before the layer is replaced, not the one after it", AFTER, (LOOP, BEFORE.format("layer - 1")))
PATCHED.edit("the layer runs on the donor's state, which is the one after it", AFTER, (LOOP, BEFORE.format("layer")))
ZERO = "`donor[0]` is the other run's start, and `donor[1]` its state after the first layer. Is the first layer number 0 or 1 in your loop?"
PATCHED.edit("the patch comes one layer too late", ZERO, (HERE, "number == layer + 1"))
PATCHED.edit(
    "the patch comes one layer too late, with the donor's state of that layer",
    ZERO,
    (HERE, "number == layer + 1"),
    (PUT, "x[position] = donor[number, position]"),
)
PATCHED.edit("the donor's state is one layer too early", ZERO, (PUT, "x[position] = donor[layer - 1, position]"))
PATCHED.edit(
    "the donor's state is the last one, whatever the layer",
    "Take the donor's state after the same layer.",
    (PUT, "x[position] = donor[-1, position]"),
)
PATCHED.edit(
    "the donor's state is its start, whatever the layer",
    "Take the donor's state after the same layer.",
    (PUT, "x[position] = donor[0, position]"),
)
for early in ("donor[layer, position]", "donor[0, position]"):
    PATCHED.edit(
        "the donor's state is put in before the first layer, not after `layer`",
        "The layers up to number `layer` run on `start` as it is. Which line of yours comes before them?",
        (PUT, "x[position] = x[position]"),
        ("x = start", f"x = start.clone()\n    x[position] = {early}"),
    )
ONE = "Only the state at `position` is replaced. What should the others be?"
PATCHED.edit("all positions are replaced", ONE, (PUT, "x[:] = donor[layer]"))
PATCHED.edit(
    "all positions up to this one are replaced", ONE, (PUT, "x[: position + 1] = donor[layer, : position + 1]")
)
PATCHED.edit("all positions from this one on are replaced", ONE, (PUT, "x[position:] = donor[layer, position:]"))
PLACE = "Positions are counted from 0, so `position` is an index as it is."
PATCHED.edit("positions are counted from 1", PLACE, (PUT, "x[position - 1] = donor[layer, position - 1]"))
PATCHED.edit(
    "the position before is replaced by the donor's state at this one",
    PLACE,
    (PUT, "x[position - 1] = donor[layer, position]"),
)
PATCHED.edit(
    "the donor's state is taken from the last position",
    "The donor's state comes from the same position.",
    (PUT, "x[position] = donor[layer, -1]"),
)
PATCHED.edit(
    "the last position is replaced, whatever the position",
    "Which state does `position` name?",
    (PUT, "x[-1] = donor[layer, -1]"),
)
PATCHED.edit(
    "only the first number of the state is replaced",
    "A state is a whole vector of d numbers. All of them come from the donor.",
    (PUT, "x[position, 0] = donor[layer, position, 0]"),
)
PATCHED.edit(
    "one number is replaced at every position, not one position",
    "The first axis has the positions, the second the numbers of a state. Along which of the two do you choose?",
    (PUT, "x[:, position % x.shape[1]] = donor[layer, :, position % x.shape[1]]"),
)
PATCHED.edit(
    "the donor's state is added, not put in its place",
    "The old state at this position is gone after the patch.",
    (PUT, "x[position] += donor[layer, position]"),
)
PATCHED.edit(
    "the mean of both states is put in",
    "The new state is the donor's alone.",
    (PUT, "x[position] = (x[position] + donor[layer, position]) / 2"),
)
ONCE = "The patch happens once. Layers after it may change this position again, as they do in every run."
PATCHED.edit(
    "the state is replaced after every layer",
    ONCE,
    (HERE, "number >= 1"),
    (PUT, "x[position] = donor[number, position]"),
)
PATCHED.edit(
    "the state is replaced after this layer and after all later ones",
    ONCE,
    (HERE, "number >= layer"),
    (PUT, "x[position] = donor[number, position]"),
)
PATCHED.edit("the donor's state is put in again after each later layer", ONCE, (HERE, "number >= layer"))
PATCHED.edit(
    "the state is replaced after each layer up to this one",
    ONCE,
    (HERE, "number <= layer"),
    (PUT, "x[position] = donor[number, position]"),
)
REST = "After the patch, the remaining layers still have to run."
PATCHED.edit("the run ends with the patched layer", REST, (PUT, f"{PUT}\n            break"))
PATCHED.edit(
    "after the patch, all layers run again, not only the remaining ones",
    "The patched state is one *after* `layer`. Which layers are left?",
    (PUT, f"{PUT}\n            for again in layers[:layer]:\n                x = again(x)"),
)
PATCHED.edit(
    "after the patch, layer number `layer` runs once more",
    "The patched state is one *after* `layer`. Which layers are left?",
    (PUT, f"{PUT}\n            x = run(x)"),
)
PATCHED.edit(
    "the first layer after the patch is skipped",
    "All layers after number `layer` still run. Which index does the first of them have in `layers`?",
    (RUN, "        if number == layer + 1:\n            continue\n        x = run(x)\n"),
)
PATCHED.edit(
    "the layers before the patch are skipped",
    "One state comes from the donor, and the other positions need the layers up to `layer`.",
    (RUN, "        x = run(x) if number > layer else x\n"),
)
PATCHED.edit(
    "the remaining layers are skipped, except for the last one",
    REST,
    (RUN, "        if layer < number < len(layers):\n            continue\n        x = run(x)\n"),
)
PATCHED.edit(
    "nothing is replaced",
    "The result is that of the run without a patch. Is the state that you change the one that the next layer reads?",
    (PUT, "x[position] = x[position]"),
)
PATCHED.edit(
    "the state isn't changed by the layers, only by the patch",
    "Each layer's result is what the next layer reads.",
    (RUN, "        run(x)\n"),
)
ROLES = "The run begins at `start`, and `donor` gives it the state at one position. In yours, which positions are still those of `start`?"


@PATCHED.misconception("the two runs are exchanged", ROLES)
def exchanged(layers, start, donor, layer, position):
    own = [start]
    for run in layers:
        own.append(run(own[-1]))
    return patched(layers, donor[0], torch.stack(own), layer, position)


PATCHED.edit(
    "the result is only the state at the last position",
    "Return the states of all positions.",
    ("return x", "return x[-1]"),
)
PATCHED.edit(
    "the result is only the state at the patched position",
    "Return the states of all positions.",
    ("return x", "return x[position]"),
)


@PATCHED.misconception("the states after every layer are returned", "Return the state after the last layer only.")
def every_state(layers, start, donor, layer, position):
    states = [start]
    for number, run in enumerate(layers, 1):
        states.append(run(states[-1]).clone())
        if number == layer:
            states[-1][position] = donor[layer, position]
    return torch.stack(states)
