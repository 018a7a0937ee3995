"""layer_norm(x, gain, bias, epsilon): each vector minus its mean, divided by its standard deviation; then gain and bias."""

import torch

from course_lib.checks.engine import Case, Exercise


def cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    def plain(d: int) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.ones(d), torch.zeros(d)

    far = draw(2, 3, 6)
    far = 200 + far + far.sign()  # no number is near the mean, so rounding the mean does no harm
    inputs = [
        ("the lesson's vector", torch.tensor([[1.0, 2.0, 6.0]]), *plain(3), 1e-5),
        ("the same vector, with an epsilon of 2", torch.tensor([[1.0, 2.0, 6.0]]), *plain(3), 2.0),
        ("the same vector, with an epsilon of 0", torch.tensor([[1.0, 2.0, 6.0]]), *plain(3), 0.0),
        ("a thousandth of that vector", torch.tensor([[1e-3, 2e-3, 6e-3]]), *plain(3), 1e-5),
        (
            "a vector whose numbers are all equal",
            torch.tensor([[2.0, 2.0]]),
            torch.ones(2),
            torch.tensor([0.5, -1]),
            1e-5,
        ),
        ("two words, with gain and bias", draw(1, 2, 4), draw(4), draw(4), 1e-5),
        ("as many sentences as words and as numbers", draw(3, 3, 3), draw(3), draw(3), 1e-5),
        ("a batch", draw(2, 5, 8), draw(8), draw(8), 1e-5),
        ("numbers far from zero", far, *plain(6), 1e-5),
        ("float64", draw(4, 2, 5).double(), draw(5).double(), draw(5).double(), 1e-8),
        ("vectors that are not contiguous in memory", draw(6, 4, 2).permute(2, 1, 0), draw(6), draw(6), 1e-5),
        ("one vector by itself", draw(6), draw(6), draw(6), 1e-5),
        ("four axes", draw(2, 1, 3, 7), draw(7), draw(7), 0.1),
    ]
    return [
        Case(about, {"x": x, "gain": gain, "bias": bias, "epsilon": epsilon})
        for about, x, gain, bias, epsilon in inputs
    ]


def right(x, gain, bias, epsilon):
    deviation = x - x.mean(-1, keepdim=True)
    variance = deviation.square().mean(-1, keepdim=True)
    normal = deviation / (variance + epsilon).sqrt()
    return normal * gain + bias


LAYER_NORM = Exercise(
    "layer_norm",
    "transformer_built",
    cases,
    right,
    'lesson 5, "LayerNorm by hand"; glossary.show("layer normalisation")',
    tolerance=1e-4,
    banned=("torch.nn.functional.layer_norm", "torch.layer_norm", "torch.native_layer_norm"),
)

VARIANCE = "deviation.square().mean(-1, keepdim=True)"
OUTSIDE = "(variance + epsilon).sqrt()", "(variance.sqrt() + epsilon)"

for changes in ([OUTSIDE], []):  # an answer with both faults is named after this one
    LAYER_NORM.edit(
        "the squares are divided by d − 1",
        "In torch, std and var divide by d − 1 unless you tell them not to. The formula takes the mean of the d squares.",
        (VARIANCE, "x.var(-1, keepdim=True)"),
        *changes,
    )
LAYER_NORM.edit(
    "epsilon is outside the root",
    "Do you add ε to the root, or to what is under the root? Try it with the input below.",
    OUTSIDE,
)


def over(axes: str) -> tuple[tuple[str, str], ...]:
    """Returns the changes that make mean and variance run over other axes."""
    return ("x.mean(-1", f"x.mean({axes}"), ("square().mean(-1", f"square().mean({axes}")


AXIS = "The norm mixes different vectors, so the numbers of one word depend on other words. Each vector should be normed by itself."
LAYER_NORM.edit("the norm runs over the batch", AXIS, *over("0"))
LAYER_NORM.edit(
    "the norm runs over axis 1",
    "Axis 1 is the last axis of a table, but not of a batch of sentences. Count the axes from the end.",
    *over("1"),
)
LAYER_NORM.edit("the norm runs over the words", AXIS, *over("-2"))
LAYER_NORM.edit("the norm runs over a whole sentence", AXIS, *over("tuple(range(1, x.ndim)) or 0"))
LAYER_NORM.edit(
    "the norm runs over the whole batch",
    AXIS,
    ("x.mean(-1, keepdim=True)", "x.mean()"),
    (VARIANCE, "deviation.square().mean()"),
)
LAYER_NORM.edit(
    "the gain multiplies the bias too",
    "First multiply by the gain, then add the bias. Where do your brackets end?",
    ("normal * gain + bias", "(normal + bias) * gain"),
)
LAYER_NORM.edit(
    "the mean is not subtracted",
    "The formula divides the deviation from the mean, not the number itself.",
    ("deviation /", "x /"),
)
LAYER_NORM.edit(
    "it divides by the root mean square of x",
    "That is a different norm, RMSNorm. LayerNorm subtracts the mean first.",
    ("x - x.mean(-1, keepdim=True)", "x"),
)
LAYER_NORM.edit(
    "the root is missing",
    "You divide by the variance. The standard deviation is the root of the variance.",
    (".sqrt()", ""),
)
LAYER_NORM.edit(
    "the root of the standard deviation is taken",
    "The standard deviation is already a root. In the formula, the variance is under the root.",
    ("variance +", "variance.sqrt() +"),
)
LAYER_NORM.edit(
    "the squares are added up, but not divided by d",
    "The variance is the mean of the squared deviations, not their sum.",
    ("square().mean", "square().sum"),
)
LAYER_NORM.edit(
    "gain and bias are not used",
    "They come last, after the division. Which one multiplies, and which one is added?",
    ("normal * gain + bias", "normal"),
)
LAYER_NORM.edit(
    "epsilon is not used",
    "The vector (1, 2, 6) has the variance 14/3. With an epsilon of 2, what is under the root?",
    ("(variance + epsilon)", "variance"),
)
LAYER_NORM.edit(
    "the variance is a difference of two large numbers",
    "The mean of the squares minus the square of the mean is correct on paper. Far from zero, both are large, and "
    "float32 keeps only about seven digits of each. Subtract the mean before you square.",
    (VARIANCE, "x.square().mean(-1, keepdim=True) - x.mean(-1, keepdim=True).square()"),
)
