"""Exercises of lesson 5: the Transformer, built."""

import torch
from torch import nn
from torch.nn import functional as F

from course_lib.checks.engine import Case, Exercise, Misconception, Question

CODES = 'lesson 5, "By hand: codes of four numbers"; glossary.show("positional encoding")'
SLIPS = 'lesson 5, "Three ways to get it wrong"; glossary.show("layer normalisation")'
ORDER = 'lesson 5, "Before or after?"; glossary.show("pre-norm")'
COUNT = 'lesson 5, "How many parameters?"'
WHOLE = 'lesson 5, "The whole"; glossary.show("cross-attention")'
MASKS = 'lesson 5, "The masks"; glossary.show("padding mask"), glossary.show("causal mask")'


# ---- add_positions(x, start) ----


def position_cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    def some(low: int, high: int) -> int:
        return int(torch.randint(low, high, (), generator=generator))

    inputs = [
        ("two words of zeros, so that the code alone is seen", torch.zeros(1, 2, 4), 0),
        ("two sentences of three words", draw(2, 3, 4), 0),
        ("as many sentences as words", draw(4, 4, 6), 0),
        ("as many words as numbers in a vector", draw(3, 8, 8), 0),
        ("one word, after some that are written already", draw(2, 1, 6), some(2, 9)),
        ("one word behind many", draw(1, 1, 4), some(60, 90)),
        ("one sentence", draw(1, 5, 8), 0),
        ("more sentences than words", draw(7, 2, 10), some(1, 9)),
        ("one clock", draw(2, 4, 2), some(1, 9)),
        ("a long sentence", draw(2, some(30, 40), 16), 0),
        ("float64", draw(2, 3, 6).double(), some(1, 9)),
        ("vectors that do not lie in order in memory", draw(6, 3, 2).permute(2, 1, 0), 0),
    ]
    return [Case(about, {"x": x, "start": start}) for about, x, start in inputs]


def clocks(rows: range, d: int, speed=lambda pair, d: 10000.0 ** (-2 * pair / d)) -> torch.Tensor:
    """Angles (row, pair) in float64."""
    speeds = torch.tensor([speed(pair, d) for pair in range(d // 2)], dtype=torch.float64)
    return torch.tensor(list(rows), dtype=torch.float64)[:, None] * speeds


def pairs(angles: torch.Tensor) -> torch.Tensor:
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)


def positions_right(x, start):
    return x + pairs(clocks(range(start, start + x.shape[1]), x.shape[2])).to(x.dtype)


ADD_POSITIONS = Exercise(
    "add_positions",
    "transformer_built",
    position_cases,
    positions_right,
    CODES,
    tolerance=1e-4,
    banned=("course_lib.positions",),
)


@ADD_POSITIONS.misconception(
    "the code runs along the batch axis",
    "Every word of a sentence has got the same code. Which axis of x counts the words?",
)
def along_batch(x, start):
    return x + pairs(clocks(range(start, start + x.shape[0]), x.shape[2])).to(x.dtype)[:, None]


@ADD_POSITIONS.misconception(
    "the table has a row for each sentence",
    "A row belongs to a word. Which number of x.shape says how many words there are?",
)
def row_for_sentence(x, start):
    return x + pairs(clocks(range(start, start + x.shape[0]), x.shape[2])).to(x.dtype)


def arranged(arrange):
    """The right angles, put into the row in another order."""

    def answer(x, start):
        return x + arrange(clocks(range(start, start + x.shape[1]), x.shape[2])).to(x.dtype)

    return answer


ADD_POSITIONS.misconception(
    "all sines stand first, then all cosines",
    "The two numbers of a clock stand side by side. Write your row of position 1 beside the text's.",
)(arranged(lambda angles: torch.cat([angles.sin(), angles.cos()], -1)))
ADD_POSITIONS.misconception(
    "the cosine stands before the sine", "In each pair the sine comes first: position 0 begins with sin 0."
)(arranged(lambda angles: torch.stack([angles.cos(), angles.sin()], -1).flatten(1)))


def with_speed(speed):
    def answer(x, start):
        return x + pairs(clocks(range(start, start + x.shape[1]), x.shape[2], speed)).to(x.dtype)

    return answer


ADD_POSITIONS.misconception(
    "the exponent is i/d, not 2i/d",
    "In the formula i counts the clocks, of which there are d/2. What is the exponent of the last one?",
)(with_speed(lambda pair, d: 10000.0 ** (-pair / d)))
ADD_POSITIONS.misconception(
    "the exponent is doubled twice",
    "If your i goes 0, 2, 4, … it is the formula's 2i already. What is the second clock's exponent for d = 4?",
)(with_speed(lambda pair, d: 10000.0 ** (-4 * pair / d)))


def by_column(times):
    def answer(x, start):
        d = x.shape[2]
        columns = torch.arange(d, dtype=torch.float64)
        places = torch.arange(start, start + x.shape[1], dtype=torch.float64)
        angles = places[:, None] * 10000 ** (-times * columns / d)
        return x + torch.where(columns % 2 == 0, angles.sin(), angles.cos()).to(x.dtype)

    return answer


ADD_POSITIONS.misconception(
    "sine and cosine of a pair have different speeds",
    "The two numbers of a pair are one hand: they have the same angle, and so the same i.",
)(by_column(1))
ADD_POSITIONS.misconception(
    "the exponent counts columns, not clocks",
    "In the formula i is the number of the pair: columns 0 and 1 are clock 0, columns 2 and 3 clock 1.",
)(by_column(2))
ADD_POSITIONS.misconception(
    "the speeds grow from clock to clock",
    "The first clock is the fastest. Is the angle p divided by the power, or multiplied by it?",
)(with_speed(lambda pair, d: 10000.0 ** (2 * pair / d)))


def from_0_to_1(alone):
    """Exponents that end at 1; `alone` is that of a clock by itself, and None stands for an error."""
    return lambda pair, d: 10000.0 ** -(pair / (d / 2 - 1) if d > 2 else 1 / 0 if alone is None else alone)


for alone in (0.0, None, torch.nan):
    ADD_POSITIONS.misconception(
        "the exponent of the last clock is 1",
        "Between 0 and 1 lie d/2 steps of 2/d, so the last exponent is less than 1. What is it for d = 4?",
    )(with_speed(from_0_to_1(alone)))
for down in (False, True):
    ADD_POSITIONS.misconception(
        "the exponent is rounded to a whole number",
        "// drops what stands behind the point, and all exponents lie between 0 and 1.",
    )(with_speed(lambda pair, d, down=down: 10000.0 ** (-2 * pair // d if down else -(2 * pair // d))))
ADD_POSITIONS.misconception("the base is 1000", "Count the zeros of the base.")(
    with_speed(lambda pair, d: 1000.0 ** (-2 * pair / d))
)


def positions_at(rows):
    """The code of other positions than those of the words."""

    def answer(x, start):
        return x + pairs(clocks(rows(start, x.shape[1]), x.shape[2])).to(x.dtype)

    return answer


ADD_POSITIONS.misconception(
    "start is not used", "The first vector of x stands at position start. Which position has the one after it?"
)(positions_at(lambda start, n: range(n)))
ADD_POSITIONS.misconception(
    "positions are counted from 1", "The first word of a sentence stands at position 0. What are sin 0 and cos 0?"
)(positions_at(lambda start, n: range(start + 1, start + n + 1)))


@ADD_POSITIONS.misconception(
    "the code takes the vector's place", "Without x the model would know where a word stands, and not which word it is."
)
def only_the_code(x, start):
    return positions_right(torch.zeros_like(x), start)


@ADD_POSITIONS.misconception(
    "x is multiplied by √d",
    "That is done in the embedding, before x comes here. Here the code is added, and that is all.",
)
def scaled_up(x, start):
    return positions_right(x * x.shape[2] ** 0.5, start)


# ---- layer_norm(x, gain, bias, epsilon) ----


def norm_cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    def plain(d: int) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.ones(d), torch.zeros(d)

    far = draw(2, 3, 6)
    far = 200 + far + far.sign()  # none near the mean, so that rounding it does no harm
    inputs = [
        ("the lesson's vector", torch.tensor([[1.0, 2.0, 6.0]]), *plain(3), 1e-5),
        ("the same vector, and an epsilon of 2", torch.tensor([[1.0, 2.0, 6.0]]), *plain(3), 2.0),
        ("the same vector, and an epsilon of 0", torch.tensor([[1.0, 2.0, 6.0]]), *plain(3), 0.0),
        ("a thousandth of it", torch.tensor([[1e-3, 2e-3, 6e-3]]), *plain(3), 1e-5),
        (
            "a vector whose numbers are all equal",
            torch.tensor([[2.0, 2.0]]),
            torch.ones(2),
            torch.tensor([0.5, -1]),
            1e-5,
        ),
        ("two words, with gain and bias", draw(1, 2, 4), draw(4), draw(4), 1e-5),
        ("as many sentences as words as numbers", draw(3, 3, 3), draw(3), draw(3), 1e-5),
        ("a batch", draw(2, 5, 8), draw(8), draw(8), 1e-5),
        ("numbers far from zero", far, *plain(6), 1e-5),
        ("float64", draw(4, 2, 5).double(), draw(5).double(), draw(5).double(), 1e-8),
        ("vectors that do not lie in order in memory", draw(6, 4, 2).permute(2, 1, 0), draw(6), draw(6), 1e-5),
        ("one vector by itself", draw(6), draw(6), draw(6), 1e-5),
        ("four axes", draw(2, 1, 3, 7), draw(7), draw(7), 0.1),
    ]
    return [
        Case(about, {"x": x, "gain": gain, "bias": bias, "epsilon": epsilon})
        for about, x, gain, bias, epsilon in inputs
    ]


def norm_right(x, gain, bias, epsilon):
    return F.layer_norm(x, gain.shape, gain, bias, epsilon)


LAYER_NORM = Exercise(
    "layer_norm",
    "transformer_built",
    norm_cases,
    norm_right,
    SLIPS,
    tolerance=1e-4,
    banned=("torch.nn.functional.layer_norm", "torch.layer_norm", "torch.native_layer_norm"),
)


def normed(axes=-1, correction=0, outside=False, centred=True, gained=True, root=True):
    """A LayerNorm with one or more misconceptions."""

    def answer(x, gain, bias, epsilon):
        over = axes(x) if callable(axes) else axes
        variance = x.var(over, correction=correction, keepdim=True)
        below = variance.sqrt() + epsilon if outside else (variance + epsilon).sqrt()
        below = below if root else variance + epsilon
        normal = (x - x.mean(over, keepdim=True) if centred else x) / below
        return normal * gain + bias if gained else normal

    return answer


for outside in (True, False):  # of two faults one is named
    LAYER_NORM.misconception(
        "the squares are divided by d − 1",
        "std and var divide by d − 1 if they are not told otherwise. The formula takes the mean of the d squares.",
    )(normed(correction=1, outside=outside))
LAYER_NORM.misconception(
    "epsilon stands outside the root",
    "Take the input below: is ε added to the root, or to what is under it?",
)(normed(outside=True))


AXIS = "The norm has mixed several vectors: one word's numbers now depend on another's. Each vector is taken by itself."
LAYER_NORM.misconception("the norm runs over the batch", AXIS)(normed(axes=0))
LAYER_NORM.misconception(
    "the norm runs over axis 1",
    "That is the last axis of a table, but not of a batch of sentences. Count from the end: each vector by itself.",
)(normed(axes=1))
LAYER_NORM.misconception("the norm runs over the words", AXIS)(normed(axes=-2))
LAYER_NORM.misconception("the norm runs over a whole sentence", AXIS)(
    normed(axes=lambda x: tuple(range(1, x.ndim)) or (0,))
)
LAYER_NORM.misconception(
    "the mean is not subtracted", "What is divided is the deviation from the mean, not the number itself."
)(normed(centred=False))


@LAYER_NORM.misconception(
    "it divides by the root mean square of x", "That is another norm, RMSNorm. Here the mean is taken away first."
)
def root_mean_square(x, gain, bias, epsilon):
    return x / (x.square().mean(-1, keepdim=True) + epsilon).sqrt() * gain + bias


LAYER_NORM.misconception("the root is forgotten", "You divide by the variance. The standard deviation is its root.")(
    normed(root=False)
)


@LAYER_NORM.misconception(
    "the root is taken of the standard deviation",
    "std is a root already. What stands under the root in the formula is the variance.",
)
def root_of_deviation(x, gain, bias, epsilon):
    return (x - x.mean(-1, keepdim=True)) / (x.std(-1, correction=0, keepdim=True) + epsilon).sqrt() * gain + bias


@LAYER_NORM.misconception(
    "the squares are added up, and not divided by d",
    "The variance is the mean of the squared deviations, not their sum.",
)
def sum_of_squares(x, gain, bias, epsilon):
    deviation = x - x.mean(-1, keepdim=True)
    return deviation / (deviation.square().sum(-1, keepdim=True) + epsilon).sqrt() * gain + bias


LAYER_NORM.misconception("gain and bias are not used", "They come last: after the division, multiply and add.")(
    normed(gained=False)
)


@LAYER_NORM.misconception(
    "epsilon is not used", "Take the second input: the variance is 14/3 and epsilon 2. What is the root of their sum?"
)
def without_epsilon(x, gain, bias, epsilon):
    return normed()(x, gain, bias, 0.0)


@LAYER_NORM.misconception(
    "the variance is a difference of two large numbers",
    "Mean of the squares minus square of the mean is right on paper. Far from zero both are large, and float32 "
    "keeps some seven digits of each. Take the deviations first.",
)
def difference_of_means(x, gain, bias, epsilon):
    mean = x.mean(-1, keepdim=True)
    return (x - mean) / ((x * x).mean(-1, keepdim=True) - mean * mean + epsilon).sqrt() * gain + bias


# ---- pre_norm_layer(x, mask, attend, feed, norm_1, norm_2) ----


def layer_cases(generator: torch.Generator) -> list[Case]:
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
            "parts that make nothing but zeros, so that x must come out as it went in",
            torch.tensor([[[1.0, 3.0], [5.0, 2.0]]]),
            torch.ones(2, 2, dtype=torch.bool),
            1,
            nothing,
        ),
        ("two words, all open", draw(1, 2, 2), torch.ones(2, 2, dtype=torch.bool), 1, weights(2)),
        ("two words, a causal mask", draw(1, 2, 2), causal(2), 1, weights(2)),
        ("a causal mask", draw(2, 3, 4), causal(3), 2, weights(4)),
        ("as many sentences as words as numbers", draw(4, 4, 4), causal(4), 2, weights(4)),
        ("the last two words closed", draw(3, 5, 6), padded, 3, weights(6)),
        ("one word", draw(2, 1, 4), causal(1), 4, weights(4)),
        ("float64", draw(2, 6, 8).double(), causal(6), 4, weights(8).double()),
        ("words that do not lie in order in memory", draw(6, 7, 2).permute(2, 1, 0), causal(7), 2, weights(6)),
    ]
    return [
        Case(about, {"x": x, "mask": mask, "heads": heads, "weights": values})
        for about, x, mask, heads, values in inputs
    ]


def drive_layer(answer, x, mask, heads, weights):
    """Hands the parts of one of torch's layers to the learner's function."""
    import torch
    from torch import nn

    d = x.shape[-1]
    settings = {"dropout": 0.0, "batch_first": True, "norm_first": True, "device": "cpu", "dtype": x.dtype}
    layer = nn.utils.skip_init(nn.TransformerEncoderLayer, d, heads, 2 * d, **settings)
    nn.utils.vector_to_parameters(weights.clone(), layer.parameters())

    def attend(y, mask=None):
        closed = None if mask is None else ~mask
        return layer.self_attn(y, y, y, attn_mask=closed, need_weights=False)[0]

    def feed(y):
        return layer.linear2(layer.linear1(y).relu())

    attend.layer = layer
    with torch.no_grad():
        return answer(x=x, mask=mask, attend=attend, feed=feed, norm_1=layer.norm1, norm_2=layer.norm2)


def layer_right(x, mask, attend, feed, norm_1, norm_2):
    return attend.layer(x, src_mask=~mask)


PRE_NORM_LAYER = Exercise(
    "pre_norm_layer", "transformer_built", layer_cases, layer_right, ORDER, drive=drive_layer, tolerance=1e-4
)


@PRE_NORM_LAYER.misconception(
    "the norm comes after the sum, which is post-norm",
    "That is the paper's order. In pre-norm, x itself meets only sums. Which line of yours norms the sum?",
)
def post_norm(x, mask, attend, feed, norm_1, norm_2):
    x = norm_1(x + attend(x, mask))
    return norm_2(x + feed(x))


@PRE_NORM_LAYER.misconception(
    "the residual adds the normed vector",
    "The norm is for the part alone. Past the part goes x as it was, so it needs a name of its own.",
)
def adds_the_normed(x, mask, attend, feed, norm_1, norm_2):
    x = norm_1(x)
    x = x + attend(x, mask)
    x = norm_2(x)
    return x + feed(x)


@PRE_NORM_LAYER.misconception(
    "the norm stands behind the part", "What is normed is what the part gets, not what it makes."
)
def norms_the_parts(x, mask, attend, feed, norm_1, norm_2):
    x = x + norm_1(attend(x, mask))
    return x + norm_2(feed(x))


@PRE_NORM_LAYER.misconception(
    "both residuals are forgotten", "Parts that make zeros must leave x as it was. What does yours return then?"
)
def no_residual(x, mask, attend, feed, norm_1, norm_2):
    return feed(norm_2(attend(norm_1(x), mask)))


@PRE_NORM_LAYER.misconception(
    "the residual around attention is forgotten", "What attention makes is added to x; it does not replace it."
)
def no_first_residual(x, mask, attend, feed, norm_1, norm_2):
    x = attend(norm_1(x), mask)
    return x + feed(norm_2(x))


@PRE_NORM_LAYER.misconception(
    "the residual around the feed-forward part is forgotten",
    "What the feed-forward part makes is added; it does not replace what came in.",
)
def no_second_residual(x, mask, attend, feed, norm_1, norm_2):
    x = x + attend(norm_1(x), mask)
    return feed(norm_2(x))


@PRE_NORM_LAYER.misconception(
    "the second sum goes back to the layer's input",
    "What attention has added is lost past the feed-forward part. To which vector is feed's result added?",
)
def adds_to_the_input(x, mask, attend, feed, norm_1, norm_2):
    return x + feed(norm_2(x + attend(norm_1(x), mask)))


@PRE_NORM_LAYER.misconception(
    "the feed-forward part reads the layer's input", "It comes after attention: it reads what attention has added to."
)
def feeds_the_input(x, mask, attend, feed, norm_1, norm_2):
    return x + attend(norm_1(x), mask) + feed(norm_2(x))


@PRE_NORM_LAYER.misconception("nothing is normed", "Each part gets a normed vector, each from its own norm.")
def no_norm(x, mask, attend, feed, norm_1, norm_2):
    x = x + attend(x, mask)
    return x + feed(x)


@PRE_NORM_LAYER.misconception("the first norm is forgotten", "Each part reads through its norm: attention does, too.")
def no_first_norm(x, mask, attend, feed, norm_1, norm_2):
    x = x + attend(x, mask)
    return x + feed(norm_2(x))


@PRE_NORM_LAYER.misconception(
    "the second norm is forgotten", "Each part reads through its norm: the feed-forward part does, too."
)
def no_second_norm(x, mask, attend, feed, norm_1, norm_2):
    x = x + attend(norm_1(x), mask)
    return x + feed(x)


def layer_by_hand(x, mask, attend, feed, norm_1, norm_2):
    x = x + attend(norm_1(x), mask)
    return x + feed(norm_2(x))


@PRE_NORM_LAYER.misconception(
    "the first norm is used twice", "Each part has a norm of its own, with its own gain and bias."
)
def one_norm_twice(x, mask, attend, feed, norm_1, norm_2):
    return layer_by_hand(x, mask, attend, feed, norm_1, norm_1)


@PRE_NORM_LAYER.misconception(
    "the two norms are exchanged", "norm_1 belongs to attention, norm_2 to the feed-forward part."
)
def norms_exchanged(x, mask, attend, feed, norm_1, norm_2):
    return layer_by_hand(x, mask, attend, feed, norm_2, norm_1)


@PRE_NORM_LAYER.misconception(
    "the mask is not handed on", "Attention is the only part where words meet, and the only one that needs the mask."
)
def no_mask(x, mask, attend, feed, norm_1, norm_2):
    return layer_by_hand(x, None, attend, feed, norm_1, norm_2)


@PRE_NORM_LAYER.misconception(
    "the mask is the wrong way round", "True is where a query may look, and attend takes it so."
)
def mask_turned_round(x, mask, attend, feed, norm_1, norm_2):
    return layer_by_hand(x, ~mask, attend, feed, norm_1, norm_2)


def norm_more(first=None, between=None, last=None):
    """The layer with one norm too many; each argument is the number of a norm."""

    def answer(x, mask, attend, feed, norm_1, norm_2):
        norms = {None: lambda y: y, 1: norm_1, 2: norm_2}
        x = norms[first](x)
        x = norms[between](x + attend(norm_1(x), mask))
        return norms[last](x + feed(norm_2(x)))

    return answer


for which in (1, 2):
    for place in ("first", "between", "last"):
        PRE_NORM_LAYER.misconception(
            "there is a norm too many",
            "Two norms, one in front of each part; x itself meets none. Which of yours is x put through?",
        )(norm_more(**{place: which}))


# ---- three_masks(source, target, pad) ----


def mask_cases(generator: torch.Generator) -> list[Case]:
    def words(rows: list[tuple[int, int]], width: int, pad: int) -> torch.Tensor:
        """Numbers other than `pad`, in each row as many as told, behind as many places of padding as told."""
        numbers = torch.randint(0, 20, (len(rows), width), generator=generator)
        numbers = torch.where(numbers == pad, 20, numbers)
        for row, (before, count) in enumerate(rows):
            numbers[row, :before] = pad
            numbers[row, before + count :] = pad
        return numbers

    inputs = [
        ("one pair of two words each", [(0, 2)], 3, [(0, 2)], 3, 0),
        ("one pair, padding in front", [(1, 2)], 3, [(1, 2)], 3, 0),
        ("two sentences, the second of each shorter", [(0, 3), (0, 2)], 3, [(0, 4), (0, 2)], 4, 0),
        ("three sentences, and padding has the number 7", [(0, 5), (0, 2), (0, 4)], 5, [(0, 2), (0, 4), (0, 3)], 4, 7),
        ("as many English places as French", [(0, 2), (0, 4)], 4, [(0, 4), (0, 3)], 4, 0),
        ("as many sentences as words", [(0, 3), (0, 1), (0, 2)], 3, [(0, 1), (0, 3), (0, 2)], 3, 9),
        ("padding in front of the words", [(2, 3), (0, 5), (1, 4)], 5, [(1, 3), (2, 2), (0, 4)], 4, 0),
        ("padding on both sides", [(1, 3), (2, 1)], 5, [(2, 3), (1, 1), ], 6, 3),
        ("no padding at all", [(0, 4), (0, 4)], 4, [(0, 3), (0, 3)], 3, 0),
        ("one word each", [(0, 1), (0, 1)], 1, [(0, 1), (0, 1)], 1, 0),
        ("one pair", [(0, 6)], 8, [(0, 3)], 5, 2),
        ("a long French sentence", [(0, 3)], 4, [(0, 12)], 12, 0),
        ("an English sentence of nothing but padding", [(0, 3), (0, 0)], 3, [(0, 2), (0, 2)], 3, 0),
    ]  # fmt: skip
    return [
        Case(about, {"source": words(english, n, pad), "target": words(french, m, pad), "pad": pad})
        for about, english, n, french, m, pad in inputs
    ]


def drive_masks(answer, source, target, pad):
    """The three masks, spread over (batch, query, key) where they have four axes that allow it, the heads alike."""
    import torch

    given = answer(source, target, pad)
    n, m = source.shape[1], target.shape[1]
    if not isinstance(given, (tuple, list)) or len(given) != 3:
        return given
    spread = []
    for mask, places in zip(given, ((n, n), (m, m), (m, n)), strict=True):
        if mask is None or (isinstance(mask, torch.Tensor) and mask.is_sparse):
            spread.append(mask)
            continue
        mask = torch.as_tensor(mask)
        full = len(source), 2, *places
        fits = mask.ndim == 4 and all(size in (1, wanted) for size, wanted in zip(mask.shape, full, strict=True))
        mask = mask.expand(full) if fits else mask
        spread.append(mask[:, 0] if fits and (mask == mask[:, :1]).all() else mask)
    return spread


def masked(
    closes=lambda there, looks: there[:, None, None],
    ahead=lambda m: torch.ones(m, m).tril().bool(),
    padded=True,
    encoder_causal=False,
    cross_causal=False,
    cross_of_target=False,
    there=lambda words, pad: words != pad,
    shaped=lambda mask: mask,
):
    """The three masks with one or more misconceptions.

    `closes` makes a padding mask from the words that are there: those looked at, and those that look.
    """

    def answer(source, target, pad):
        english, french = there(source, pad), there(target, pad)
        (n, m), causal = (source.shape[1], target.shape[1]), ahead(target.shape[1])
        encoder = closes(english, english)
        if encoder_causal:
            encoder = encoder & torch.ones(n, n).tril().bool()
        decoder = closes(french, french) & causal if padded else causal.expand(len(target), 1, m, m)
        cross = closes(french if cross_of_target else english, french)
        if cross_causal:
            cross = cross & torch.ones(m, n).tril().bool()
        return tuple(shaped(mask) for mask in (encoder, decoder, cross))

    return answer


THREE_MASKS = Exercise(
    "three_masks", "transformer_built", mask_cases, masked(), MASKS, drive=drive_masks, banned=("course_lib.masks",)
)

THREE_MASKS.misconception(
    "True and False are exchanged", "True means may be looked at. Is a word that is there open or closed in your mask?"
)(masked(shaped=torch.logical_not))


def rows_closed(there, looks):
    return looks[:, None, :, None]


THREE_MASKS.misconception(
    "rows are closed instead of columns",
    "A row belongs to the word that looks, a column to the one that is looked at. Nobody is to look at padding.",
)(masked(closes=rows_closed))


def rows_too(there, looks):
    return there[:, None, None] & looks[:, None, :, None]


THREE_MASKS.misconception(
    "the rows of padding are closed too",
    "What padding itself collects, no word looks at. Its row may stay as open as another's.",
)(masked(closes=rows_too))
THREE_MASKS.misconception(
    "a word may not look at itself",
    "Draw the causal mask of three words. The diagonal is the word itself, which it has read.",
)(masked(ahead=lambda m: torch.ones(m, m).tril(-1).bool()))
THREE_MASKS.misconception(
    "each word sees the next one", "Draw the causal mask of three words. What may the first of them look at?"
)(masked(ahead=lambda m: torch.ones(m, m).tril(1).bool()))
THREE_MASKS.misconception(
    "the causal mask is turned round",
    "The last word may look at all, the first at itself alone. Which triangle is that?",
)(masked(ahead=lambda m: torch.ones(m, m).triu().bool()))
THREE_MASKS.misconception(
    "the decoder may look at padding",
    "The causal mask hides what lies ahead. Padding in front of the words does not lie ahead.",
)(masked(padded=False))


@THREE_MASKS.misconception(
    "the decoder looks ahead", "Padding is closed in your mask, later words are not. The decoder needs both."
)
def decoder_open_ahead(source, target, pad):
    encoder, _, cross = masked()(source, target, pad)
    return encoder, (target != pad)[:, None, None], cross


THREE_MASKS.misconception(
    "cross-attention closes the target's padding",
    "In cross-attention French words look at English ones. Whose padding stands in the columns?",
)(masked(cross_of_target=True))
THREE_MASKS.misconception(
    "cross-attention is causal", "The English sentence is known to its end before the first French word is written."
)(masked(cross_causal=True))
THREE_MASKS.misconception(
    "the encoder is causal",
    "The encoder reads a sentence that is there to its end: each word may look at all the others.",
)(masked(encoder_causal=True))


def counted_from_the_left(words, pad):
    lengths = (words != pad).sum(1, keepdim=True)
    return torch.arange(words.shape[1]) < lengths


THREE_MASKS.misconception(
    "padding is thought to stand behind the words",
    "You count words and open so many places from the left. In some sentences padding stands in front.",
)(masked(there=counted_from_the_left))
THREE_MASKS.misconception(
    "padding is taken to be 0", "Which number padding has, the argument pad says. Here 0 may be a word like another."
)(masked(there=lambda words, pad: words != 0))


def without_axes(keep):
    """The masks of sentences with fewer axes than four."""

    def answer(source, target, pad):
        encoder, decoder, cross = masked()(source, target, pad)
        return [mask.squeeze(1) for mask in (encoder, decoder, cross)] if keep else [
            encoder[:, 0, 0], decoder[:, 0], cross[:, 0, 0]
        ]  # fmt: skip

    return answer


THREE_MASKS.misconception(
    "the axes of heads and queries are missing",
    "A mask has four axes: sentence, head, query, key. Those that make no difference have the length 1.",
)(without_axes(False))
THREE_MASKS.misconception(
    "the axis of heads is missing", "A mask has four axes: sentence, head, query, key. Which of yours is the head?"
)(without_axes(True))


def in_order(*order):
    """The right masks, in another order."""

    def answer(source, target, pad):
        found = masked()(source, target, pad)
        return tuple(found[place] for place in order)

    return answer


for order in ((1, 0, 2), (0, 2, 1)):
    THREE_MASKS.misconception(
        "the masks stand in another order",
        "Look at the order in which the three are asked for: it is that of the table.",
    )(in_order(*order))


def added(mask):
    return torch.zeros(mask.shape).masked_fill(~mask, float("-inf"))


THREE_MASKS.misconception(
    "the masks are to be added to the scores",
    "Zeros and minus infinities are another convention. Here a mask is True or False.",
)(masked(shaped=added))


# ---- predictions: a decoder layer of d = 32, 64 numbers inside, 4 heads; five pairs of sentences ----


D, INNER = 32, 64
ATTENTION, FEED, NORM = 4 * (D * D + D), D * INNER + INNER + INNER * D + D, 2 * D


def layer_size() -> int:
    return sum(numbers.numel() for numbers in nn.TransformerDecoderLayer(D, 4, INNER, device="meta").parameters())


DECODER_LAYER_SIZE = Question(
    "decoder_layer_size",
    "transformer_built",
    layer_size,
    (
        Misconception(
            "that is an encoder layer",
            "A decoder layer looks at two things: at its own words, and at the encoder's.",
            ATTENTION + FEED + 2 * NORM,
        ),
        Misconception(
            "that has one attention too few",
            "How many attentions does a decoder layer have? Its three norms are counted already.",
            ATTENTION + FEED + 3 * NORM,
        ),
        Misconception(
            "as many numbers are missing as one norm has",
            "Each of the parts of the layer has a norm of its own. Or is it a bias that is missing?",
            2 * ATTENTION + FEED + 2 * NORM,
        ),
        Misconception(
            "as many numbers are missing as the norms have",
            "A norm has a gain and a bias. Or is it other biases that are missing?",
            2 * ATTENTION + FEED,
        ),
        Misconception(
            "that is without the biases of attention and feed-forward",
            "Each of these matrices has a bias, as long as its result.",
            2 * 4 * D * D + 2 * D * INNER + 3 * NORM,
        ),
        Misconception(
            "that is without any bias or norm",
            "Each matrix has a bias, as long as its result; each norm has a gain and a bias.",
            2 * 4 * D * D + 2 * D * INNER,
        ),
        Misconception(
            "as many numbers are missing as two matrices of attention have",
            "What the heads bring is put together by a fourth matrix; the feed-forward part has two. Is each of them there?",
            2 * 3 * (D * D + D) + FEED + 3 * NORM,
        ),
        Misconception(
            "that counts the heads as if each were d wide",
            "Four heads share the d numbers: each is d/4 wide.",
            4 * 2 * ATTENTION + FEED + 3 * NORM,
        ),
    ),
    COUNT,
    tolerance=0.0,
)


def cross_shape() -> tuple[int, ...]:
    attention = nn.MultiheadAttention(32, 4, batch_first=True)
    french, english = torch.zeros(5, 6, 32), torch.zeros(5, 9, 32)
    return tuple(attention(french, english, english, average_attn_weights=False)[1].shape)


CROSS_SHAPE = Question(
    "cross_shape",
    "transformer_built",
    cross_shape,
    (
        Misconception(
            "rows and columns are exchanged",
            "A row is one that looks. Who looks in cross-attention, French or English?",
            [5, 4, 9, 6],
        ),
        Misconception(
            "those are the weights of the decoder's self-attention",
            "In cross-attention the French words look at other words than their own.",
            [5, 4, 6, 6],
        ),
        Misconception(
            "those are the weights of the encoder",
            "In cross-attention the queries do not come from the English words.",
            [5, 4, 9, 9],
        ),
        Misconception("the heads are missing", "Every head has a matrix of weights of its own.", [5, 6, 9]),
        Misconception("the sentences are missing", "There are five pairs of sentences in the batch.", [4, 6, 9]),
        Misconception(
            "that is the shape of what comes out",
            "Asked for are the weights: one number for each pair of words.",
            [5, 6, 32],
        ),
        Misconception("<bos> is counted twice", "The six places hold <bos> already.", [5, 4, 7, 9]),
    ),
    WHOLE,
)

ASKED = [ADD_POSITIONS, LAYER_NORM, PRE_NORM_LAYER, THREE_MASKS, DECODER_LAYER_SIZE, CROSS_SHAPE]
