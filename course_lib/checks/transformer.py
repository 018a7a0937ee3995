"""Exercises of lesson 5: the Transformer."""

import torch
from torch import nn
from torch.nn import functional as F

from course_lib.checks.engine import Case, Exercise, Misconception, Question

CODES = 'lesson 5, "By hand: codes of four numbers"; glossary.show("positional encoding")'
SLIPS = 'lesson 5, "Three ways to get it wrong"; glossary.show("layer normalisation")'
ORDER = 'lesson 5, "Before or after?"; glossary.show("pre-norm")'
COUNT = 'lesson 5, "How many parameters?"'
WHOLE = 'lesson 5, "The whole"; glossary.show("cross-attention")'
LOSS = 'lesson 5, "Training on toy French"; glossary.show("cross-entropy")'
GREEDY = 'lesson 5, "Decoding: from logits to words"; glossary.show("greedy decoding")'
BEAM = 'lesson 5, "Beam search"; glossary.show("beam search")'
TEMPERATURE = 'lesson 5, "Temperature and top-k"; glossary.show("temperature")'


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


def positions_at(rows):
    """The code of other positions than those of the words."""

    def answer(x, start):
        return x + pairs(clocks(rows(start, x.shape[1]), x.shape[2])).to(x.dtype)

    return answer


def along_batch(x, start):
    return x + pairs(clocks(range(start, start + x.shape[0]), x.shape[2])).to(x.dtype)[:, None]


def row_for_sentence(x, start):
    return x + pairs(clocks(range(start, start + x.shape[0]), x.shape[2])).to(x.dtype)


def with_speed(speed):
    def answer(x, start):
        return x + pairs(clocks(range(start, start + x.shape[1]), x.shape[2], speed)).to(x.dtype)

    return answer


def arranged(arrange):
    """The right angles, put into the row in another order."""

    def answer(x, start):
        return x + arrange(clocks(range(start, start + x.shape[1]), x.shape[2])).to(x.dtype)

    return answer


def by_column(times):
    def answer(x, start):
        d = x.shape[2]
        columns = torch.arange(d, dtype=torch.float64)
        places = torch.arange(start, start + x.shape[1], dtype=torch.float64)
        angles = places[:, None] * 10000 ** (-times * columns / d)
        return x + torch.where(columns % 2 == 0, angles.sin(), angles.cos()).to(x.dtype)

    return answer


def only_the_code(x, start):
    return positions_right(torch.zeros_like(x), start)


def scaled_up(x, start):
    return positions_right(x * x.shape[2] ** 0.5, start)


ADD_POSITIONS = Exercise(
    "add_positions",
    "transformer",
    position_cases,
    positions_right,
    (
        Misconception(
            "the code runs along the batch axis",
            "Every word of a sentence has got the same code. Which axis of x counts the words?",
            along_batch,
        ),
        Misconception(
            "the table has a row for each sentence",
            "A row belongs to a word. Which number of x.shape says how many words there are?",
            row_for_sentence,
        ),
        Misconception(
            "all sines stand first, then all cosines",
            "The two numbers of a clock stand side by side. Write your row of position 1 beside the text's.",
            arranged(lambda angles: torch.cat([angles.sin(), angles.cos()], -1)),
        ),
        Misconception(
            "the cosine stands before the sine",
            "In each pair the sine comes first: position 0 begins with sin 0.",
            arranged(lambda angles: torch.stack([angles.cos(), angles.sin()], -1).flatten(1)),
        ),
        Misconception(
            "the exponent is i/d, not 2i/d",
            "In the formula i counts the clocks, of which there are d/2. What is the exponent of the last one?",
            with_speed(lambda pair, d: 10000.0 ** (-pair / d)),
        ),
        Misconception(
            "the exponent is doubled twice",
            "If your i goes 0, 2, 4, … it is the formula's 2i already. What is the second clock's exponent for d = 4?",
            with_speed(lambda pair, d: 10000.0 ** (-4 * pair / d)),
        ),
        Misconception(
            "sine and cosine of a pair have different speeds",
            "The two numbers of a pair are one hand: they have the same angle, and so the same i.",
            by_column(1),
        ),
        Misconception(
            "the exponent counts columns, not clocks",
            "In the formula i is the number of the pair: columns 0 and 1 are clock 0, columns 2 and 3 clock 1.",
            by_column(2),
        ),
        Misconception(
            "the speeds grow from clock to clock",
            "The first clock is the fastest. Is the angle p divided by the power, or multiplied by it?",
            with_speed(lambda pair, d: 10000.0 ** (2 * pair / d)),
        ),
        Misconception(
            "the base is 1000", "Count the zeros of the base.", with_speed(lambda pair, d: 1000.0 ** (-2 * pair / d))
        ),
        Misconception(
            "start is not used",
            "The first vector of x stands at position start. Which position has the one after it?",
            positions_at(lambda start, n: range(n)),
        ),
        Misconception(
            "positions are counted from 1",
            "The first word of a sentence stands at position 0. What are sin 0 and cos 0?",
            positions_at(lambda start, n: range(start + 1, start + n + 1)),
        ),
        Misconception(
            "the code takes the vector's place",
            "Without x the model would know where a word stands, and not which word it is.",
            only_the_code,
        ),
        Misconception(
            "x is multiplied by √d",
            "That is done in the embedding, before x comes here. Here the code is added, and that is all.",
            scaled_up,
        ),
    ),
    CODES,
    tolerance=1e-4,
)


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


def normed(axes=-1, correction=0, outside=False, centred=True, gained=True, root=True):
    """A LayerNorm with one or more slips."""

    def answer(x, gain, bias, epsilon):
        over = axes(x) if callable(axes) else axes
        variance = x.var(over, correction=correction, keepdim=True)
        below = variance.sqrt() + epsilon if outside else (variance + epsilon).sqrt()
        below = below if root else variance + epsilon
        normal = (x - x.mean(over, keepdim=True) if centred else x) / below
        return normal * gain + bias if gained else normal

    return answer


def root_mean_square(x, gain, bias, epsilon):
    return x / (x.square().mean(-1, keepdim=True) + epsilon).sqrt() * gain + bias


def sum_of_squares(x, gain, bias, epsilon):
    deviation = x - x.mean(-1, keepdim=True)
    return deviation / (deviation.square().sum(-1, keepdim=True) + epsilon).sqrt() * gain + bias


def root_of_deviation(x, gain, bias, epsilon):
    return (x - x.mean(-1, keepdim=True)) / (x.std(-1, correction=0, keepdim=True) + epsilon).sqrt() * gain + bias


def without_epsilon(x, gain, bias, epsilon):
    return normed()(x, gain, bias, 0.0)


def difference_of_means(x, gain, bias, epsilon):
    mean = x.mean(-1, keepdim=True)
    return (x - mean) / ((x * x).mean(-1, keepdim=True) - mean * mean + epsilon).sqrt() * gain + bias


AXIS = "The norm has mixed several vectors: one word's numbers now depend on another's. Each vector is taken by itself."
LAYER_NORM = Exercise(
    "layer_norm",
    "transformer",
    norm_cases,
    norm_right,
    (
        Misconception(
            "epsilon stands outside the root, and the squares are divided by d − 1",
            "Both faults are still there. Where does ε stand in the formula, and by what does x.std divide?",
            normed(correction=1, outside=True),
        ),
        Misconception(
            "epsilon stands outside the root",
            "One fault is mended. Now take the input below: is ε added to the root, or to what is under it?",
            normed(outside=True),
        ),
        Misconception(
            "the squares are divided by d − 1",
            "std and var divide by d − 1 if they are not told otherwise. The formula takes the mean of the d squares.",
            normed(correction=1),
        ),
        Misconception("the norm runs over the batch", AXIS, normed(axes=0)),
        Misconception("the norm runs over the words", AXIS, normed(axes=-2)),
        Misconception(
            "the norm runs over a whole sentence", AXIS, normed(axes=lambda x: tuple(range(1, x.ndim)) or (0,))
        ),
        Misconception(
            "the mean is not subtracted",
            "What is divided is the deviation from the mean, not the number itself.",
            normed(centred=False),
        ),
        Misconception(
            "it divides by the root mean square of x",
            "That is another norm, RMSNorm. Here the mean is taken away first.",
            root_mean_square,
        ),
        Misconception(
            "the root is forgotten",
            "You divide by the variance. The standard deviation is its root.",
            normed(root=False),
        ),
        Misconception(
            "the root is taken of the standard deviation",
            "std is a root already. What stands under the root in the formula is the variance.",
            root_of_deviation,
        ),
        Misconception(
            "the squares are added up, and not divided by d",
            "The variance is the mean of the squared deviations, not their sum.",
            sum_of_squares,
        ),
        Misconception(
            "gain and bias are not used",
            "They come last: after the division, multiply and add.",
            normed(gained=False),
        ),
        Misconception(
            "epsilon is not used",
            "Take the second input: the variance is 14/3 and epsilon 2. What is the root of their sum?",
            without_epsilon,
        ),
        Misconception(
            "the variance is a difference of two large numbers",
            "Mean of the squares minus square of the mean is right on paper. Far from zero both are large, and float32 "
            "keeps some seven digits of each. Take the deviations first.",
            difference_of_means,
        ),
    ),
    SLIPS,
    tolerance=1e-4,
)


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


def post_norm(x, mask, attend, feed, norm_1, norm_2):
    x = norm_1(x + attend(x, mask))
    return norm_2(x + feed(x))


def adds_the_normed(x, mask, attend, feed, norm_1, norm_2):
    x = norm_1(x)
    x = x + attend(x, mask)
    x = norm_2(x)
    return x + feed(x)


def norms_the_parts(x, mask, attend, feed, norm_1, norm_2):
    x = x + norm_1(attend(x, mask))
    return x + norm_2(feed(x))


def no_residual(x, mask, attend, feed, norm_1, norm_2):
    return feed(norm_2(attend(norm_1(x), mask)))


def no_first_residual(x, mask, attend, feed, norm_1, norm_2):
    x = attend(norm_1(x), mask)
    return x + feed(norm_2(x))


def no_second_residual(x, mask, attend, feed, norm_1, norm_2):
    x = x + attend(norm_1(x), mask)
    return feed(norm_2(x))


def adds_to_the_input(x, mask, attend, feed, norm_1, norm_2):
    return x + feed(norm_2(x + attend(norm_1(x), mask)))


def feeds_the_input(x, mask, attend, feed, norm_1, norm_2):
    return x + attend(norm_1(x), mask) + feed(norm_2(x))


def no_norm(x, mask, attend, feed, norm_1, norm_2):
    x = x + attend(x, mask)
    return x + feed(x)


def one_norm_twice(x, mask, attend, feed, norm_1, norm_2):
    return layer_by_hand(x, mask, attend, feed, norm_1, norm_1)


def norms_exchanged(x, mask, attend, feed, norm_1, norm_2):
    return layer_by_hand(x, mask, attend, feed, norm_2, norm_1)


def no_mask(x, mask, attend, feed, norm_1, norm_2):
    return layer_by_hand(x, None, attend, feed, norm_1, norm_2)


def layer_by_hand(x, mask, attend, feed, norm_1, norm_2):
    x = x + attend(norm_1(x), mask)
    return x + feed(norm_2(x))


PRE_NORM_LAYER = Exercise(
    "pre_norm_layer",
    "transformer",
    layer_cases,
    layer_right,
    (
        Misconception(
            "the norm comes after the sum, which is post-norm",
            "That is the paper's order. In pre-norm, x itself meets only sums. Which line of yours norms the sum?",
            post_norm,
        ),
        Misconception(
            "the residual adds the normed vector",
            "The norm is for the part alone. Past the part goes x as it was, so it needs a name of its own.",
            adds_the_normed,
        ),
        Misconception(
            "the norm stands behind the part",
            "What is normed is what the part gets, not what it makes.",
            norms_the_parts,
        ),
        Misconception(
            "both residuals are forgotten",
            "Parts that make zeros must leave x as it was. What does yours return then?",
            no_residual,
        ),
        Misconception(
            "the residual around attention is forgotten",
            "What attention makes is added to x; it does not replace it.",
            no_first_residual,
        ),
        Misconception(
            "the residual around the feed-forward part is forgotten",
            "What the feed-forward part makes is added; it does not replace what came in.",
            no_second_residual,
        ),
        Misconception(
            "the second sum goes back to the layer's input",
            "What attention has added is lost past the feed-forward part. To which vector is feed's result added?",
            adds_to_the_input,
        ),
        Misconception(
            "the feed-forward part reads the layer's input",
            "It comes after attention: it reads what attention has added to.",
            feeds_the_input,
        ),
        Misconception("nothing is normed", "Each part gets a normed vector, each from its own norm.", no_norm),
        Misconception(
            "the first norm is used twice",
            "Each part has a norm of its own, with its own gain and bias.",
            one_norm_twice,
        ),
        Misconception(
            "the two norms are exchanged",
            "norm_1 belongs to attention, norm_2 to the feed-forward part.",
            norms_exchanged,
        ),
        Misconception(
            "the mask is not handed on",
            "Attention is the only part where words meet, and the only one that needs the mask.",
            no_mask,
        ),
    ),
    ORDER,
    drive=drive_layer,
    tolerance=1e-4,
)


# ---- predictions: a decoder layer of d = 32, 64 numbers inside, 4 heads; five pairs of sentences ----

D, INNER = 32, 64
ATTENTION, FEED, NORM = 4 * (D * D + D), D * INNER + INNER + INNER * D + D, 2 * D


def layer_size() -> int:
    return sum(numbers.numel() for numbers in nn.TransformerDecoderLayer(D, 4, INNER, device="meta").parameters())


DECODER_LAYER_SIZE = Question(
    "decoder_layer_size",
    "transformer",
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
            "that has one norm too few",
            "Each of the parts of the layer has a norm of its own. How many parts are there?",
            2 * ATTENTION + FEED + 2 * NORM,
        ),
        Misconception("that is without the norms", "A norm has a gain and a bias.", 2 * ATTENTION + FEED),
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
            "that leaves W_O out",
            "What the heads bring is put together by a fourth matrix.",
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
    "transformer",
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


# ---- next_word_loss(logits, words, pad) ----


def loss_cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    def sentences(n: int, words: int, *lengths: int) -> torch.Tensor:
        """Words from 1 on, and behind each sentence zeros."""
        drawn = torch.randint(1, words, (len(lengths), n), generator=generator)
        return drawn * (torch.arange(n) < torch.tensor(lengths)[:, None])

    sure = 200 * F.one_hot(torch.tensor([[1, 2, 1]]), 4).float()
    inputs = [
        ("one sentence of two words", torch.tensor([[[0.0, 1, 2], [3, 0, 0]]]), torch.tensor([[1, 2]]), 0),
        ("three words", draw(1, 3, 4), torch.tensor([[1, 3, 2]]), 0),
        ("padding behind the words", draw(1, 4, 3), torch.tensor([[1, 2, 0, 0]]), 0),
        ("sentences of different lengths", draw(3, 5, 6), sentences(5, 6, 5, 2, 3), 0),
        ("a sentence that is <bos> alone", draw(2, 4, 5), sentences(4, 5, 1, 4), 0),
        ("another number for padding", draw(2, 4, 7), torch.tensor([[1, 0, 2, 0], [1, 3, 6, 6]]), 6),
        ("as many places as words in the vocabulary", draw(2, 6, 6), sentences(6, 6, 6, 4), 0),
        ("logits + 100", draw(2, 3, 5) + 100, sentences(3, 5, 3, 2), 0),
        ("a model that is very sure, and wrong", sure, torch.tensor([[1, 2, 1]]), 0),
        ("float64", draw(2, 4, 5).double(), sentences(4, 5, 3, 4), 0),
        ("logits that do not lie in order in memory", draw(5, 4, 3).permute(2, 1, 0), sentences(4, 5, 4, 2, 3), 0),
    ]
    return [Case(about, {"logits": logits, "words": words, "pad": pad}) for about, logits, words, pad in inputs]


def loss_right(logits, words, pad):
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), words[:, 1:].flatten(), ignore_index=pad)


def ahead(by):
    """Each place is asked for the word `by` places further on; 0 is the word that it has just read."""

    def answer(logits, words, pad):
        n = words.shape[1]
        asked = logits[:, max(0, -by) : n - max(0, by)]
        wanted = words[:, max(0, by) : n - max(0, -by)]
        return F.cross_entropy(asked.flatten(0, 1), wanted.flatten(), ignore_index=pad)

    return answer


def each(logits, words, pad):
    """The loss of each place, and whether it counts."""
    return F.cross_entropy(logits[:, :-1].mT, words[:, 1:], reduction="none"), words[:, 1:] != pad


def counts_padding(logits, words, pad):
    return each(logits, words, pad)[0].mean()


def divides_by_all(logits, words, pad):
    loss, there = each(logits, words, pad)
    return (loss * there).mean()


def divides_by_words_read(logits, words, pad):
    loss, there = each(logits, words, pad)
    return (loss * there).sum() / (words != pad).sum()


def mean_of_means(logits, words, pad):
    loss, there = each(logits, words, pad)
    counted = there.any(1)
    return ((loss * there).sum(1) / there.sum(1))[counted].mean()


def sum_of_all(logits, words, pad):
    loss, there = each(logits, words, pad)
    return (loss * there).sum()


def masks_what_is_read(logits, words, pad):
    return each(logits, words, pad)[0][words[:, :-1] != pad].mean()


def softmax_twice(logits, words, pad):
    return loss_right(logits.softmax(-1), words, pad)


def over_places(logits, words, pad):
    asked, wanted = logits[:, :-1].log_softmax(1), words[:, 1:]
    return -asked.gather(2, wanted[..., None])[..., 0][wanted != pad].mean()


def reshaped_wrongly(logits, words, pad):
    return F.cross_entropy(logits[:, :-1].mT.reshape(-1, logits.shape[-1]), words[:, 1:].flatten(), ignore_index=pad)


def other_sign(logits, words, pad):
    return -loss_right(logits, words, pad)


def in_bits(logits, words, pad):
    return loss_right(logits, words, pad) / torch.tensor(2.0).log()


def log_of_softmax(logits, words, pad):
    asked, wanted = logits[:, :-1].softmax(-1).log(), words[:, 1:]
    return -asked.gather(2, wanted[..., None])[..., 0][wanted != pad].mean()


def overflows(logits, words, pad):
    powers, wanted = logits[:, :-1].exp(), words[:, 1:]
    p = (powers / powers.sum(-1, keepdim=True)).gather(2, wanted[..., None])[..., 0]
    return -p.log()[wanted != pad].mean()


def each_place(logits, words, pad):
    loss, there = each(logits, words, pad)
    return loss * there


NEXT_WORD_LOSS = Exercise(
    "next_word_loss",
    "transformer",
    loss_cases,
    loss_right,
    (
        Misconception(
            "the loss is not shifted",
            "Each place is asked for the word that it has just read. Which word is it to predict?",
            ahead(0),
        ),
        Misconception(
            "the shift goes the wrong way",
            "Each place is asked for the word before. In which direction do sentences go on?",
            ahead(-1),
        ),
        Misconception(
            "the shift is made twice",
            "The word after the next is asked for. Has something been shifted already?",
            ahead(2),
        ),
        Misconception(
            "padding is counted",
            "Nobody wants to learn what comes after the end. Where is pad used?",
            counts_padding,
        ),
        Misconception(
            "the loss of padding is set to 0, but still counted",
            "A mean divides by a number of places. By how many do you divide, and how many words are there?",
            divides_by_all,
        ),
        Misconception(
            "it divides by one word too many in each sentence",
            "The first word of a sentence is read, but nobody is asked for it.",
            divides_by_words_read,
        ),
        Misconception(
            "padding is looked for among the words that are read",
            "The last word of a sentence is no padding, but what is asked for after it is. Which of the two decides?",
            masks_what_is_read,
        ),
        Misconception(
            "it is the mean of the sentences' means",
            "A word of a short sentence must weigh as much as one of a long sentence.",
            mean_of_means,
        ),
        Misconception("it is the sum, not the mean", "By how many words do you divide?", sum_of_all),
        Misconception(
            "it is one loss for each place, not their mean",
            "One number is wanted for the whole batch.",
            each_place,
        ),
        Misconception(
            "the softmax is taken twice",
            "F.cross_entropy wants logits: it takes the softmax itself.",
            softmax_twice,
        ),
        Misconception(
            "the softmax runs over the places",
            "At each place the probabilities of all words of the vocabulary sum to 1. Which axis is the vocabulary?",
            over_places,
        ),
        Misconception(
            "the axes were reshaped where they should have been kept in order",
            "A reshape does not exchange axes: logits of one place now stand in several rows.",
            reshaped_wrongly,
        ),
        Misconception("the sign is wrong", "log p is never above 0; the loss is never below.", other_sign),
        Misconception("the loss is in bits", "Take the natural logarithm.", in_bits),
        Misconception(
            "a small probability is rounded to 0, and its logarithm is −∞",
            "exp(−200) is too small for float32, but its logarithm is −200. Do not go by way of the probability.",
            log_of_softmax,
        ),
        Misconception(
            "large logits overflow",
            "exp(100) is too large for float32. Which function of torch takes softmax and logarithm together?",
            overflows,
        ),
    ),
    LOSS,
)


# ---- greedy_words(scores, start, end, limit) ----


def drive_writer(answer, p, echo, **settings):
    """A model of a few words. It looks at the last word and, as strong as `echo`, at the one before."""
    calls = 0

    def scores(words):
        nonlocal calls
        calls += 1
        if calls > 100_000 or len(words) > settings["limit"] + 50:
            raise RecursionError("it goes on and on, far beyond the limit")
        row = p[int(words[-1])].log()
        if len(words) > 1:
            row = row + echo * p[int(words[-2])].log().roll(1)
        return row.log_softmax(-1)

    return answer(scores, **settings)


def told_apart(draw, right, slips, clear=lambda arguments: True) -> list[dict]:
    """For each slip arguments that show it: what it gives there, neither the right answer nor another slip gives.

    Where rounding could decide (`clear` is False), a right answer in another style might be refused.
    """
    found = []
    for slip in slips:
        for _ in range(3000):
            arguments = draw()
            given = drive_writer(slip, **arguments)
            if clear(arguments) and all(
                drive_writer(other, **arguments) != given for other in (right, *slips) if other is not slip
            ):
                found.append(arguments)
                break
    return found


def table(generator: torch.Generator, words: int) -> torch.Tensor:
    return torch.randn(words, words, generator=generator, dtype=torch.float64).mul(1.5).softmax(-1)


def hardly_ends(generator: torch.Generator, words: int) -> torch.Tensor:
    p = table(generator, words)
    p[:, 1] = 1e-6
    return p / p.sum(-1, keepdim=True)


def never_ends(generator: torch.Generator, words: int) -> torch.Tensor:
    """After each word one is likelier than the others, so that the first place is never in doubt."""
    p = 0.22 + 0.02 * torch.rand(words, words, generator=generator, dtype=torch.float64)
    p[:, 1] = 1e-9
    others = torch.tensor([word for word in range(words) if word != 1])
    favourite = others[torch.randint(len(others), (words,), generator=generator)]
    p[torch.arange(words), favourite] = 0.34
    return p / p.sum(-1, keepdim=True)


def greedily(
    stops=True,
    keeps_limit=True,
    start_counts=False,
    history=lambda words: words,
    pick=torch.argmax,
    give=lambda words: words[1:],
):
    """Greedy decoding with one or more slips."""

    def answer(scores, start, end, limit):
        words = [start]
        while not keeps_limit or len(words) < limit + (not start_counts):
            words.append(int(pick(scores(history(words)))))
            if stops and words[-1] == end:
                break
        return give(words)

    return answer


def greedy_cases(generator: torch.Generator) -> list[Case]:
    # 0 is <bos>, 1 is <eos>; a row is what may come after a word.
    small = torch.tensor([[0.08, 0.12, 0.7, 0.1], [0.1, 0.2, 0.3, 0.4], [0.1, 0.2, 0.13, 0.57], [0.07, 0.63, 0.2, 0.1]])
    at_once = torch.tensor([[0.1, 0.7, 0.2], [0.3, 0.1, 0.6], [0.07, 0.13, 0.8]])
    around = torch.tensor([[0.07, 0.13, 0.8], [0.1, 0.3, 0.6], [0.1, 0.2, 0.7]])
    inputs = [
        ("two words, then the end", small, 0.0, 0, 1, 6),
        ("the end at once", at_once, 0.0, 0, 1, 5),
        ("a model that never ends", around, 0.0, 0, 1, 4),
        ("a limit of one word", small, 0.0, 0, 1, 1),
        ("a limit that is just reached", small, 0.0, 0, 1, 3),
        ("other numbers for start and end", table(generator, 5), 0.0, 4, 2, 7),
    ]
    names = ("p", "echo", "start", "end", "limit")
    cases = [Case(about, dict(zip(names, values, strict=True))) for about, *values in inputs]

    def draw() -> dict:
        words = int(torch.randint(4, 7, (), generator=generator))
        return dict(zip(names, (table(generator, words), 1.0, 0, 1, 8), strict=True))

    slips = (greedily(history=lambda words: words[-1:]), greedily(history=lambda words: words[:1]))
    drawn = told_apart(draw, greedily(), slips)
    return cases + [Case("a model that looks at two words", arguments) for arguments in drawn]


def without_end(scores, start, end, limit):
    return [word for word in greedily()(scores, start, end, limit) if word != end]


GREEDY_WORDS = Exercise(
    "greedy_words",
    "transformer",
    greedy_cases,
    greedily(),
    (
        Misconception(
            "it writes on after the end mark",
            "When the end mark is written, the sentence is finished. What stops your loop?",
            greedily(stops=False),
        ),
        Misconception(
            "it does not keep the limit",
            "A model need not ever write the end mark. What stops your loop then?",
            greedily(keeps_limit=False),
        ),
        Misconception(
            "it never stops",
            "Two things end a sentence: the end mark, and the limit. Your loop looks at neither.",
            greedily(stops=False, keeps_limit=False),
        ),
        Misconception(
            "the start mark is counted as a written word",
            "The limit is for the words that are written, and the start mark was given.",
            greedily(start_counts=True),
        ),
        Misconception(
            "the start mark is returned too",
            "Only what was written is wanted. The start mark was given.",
            greedily(give=lambda words: words),
        ),
        Misconception(
            "the end mark is left out", "The end mark was written, so it belongs to what is returned.", without_end
        ),
        Misconception(
            "the model is handed the last word alone",
            "The next word may depend on all before it. Hand over the whole beginning.",
            greedily(history=lambda words: words[-1:]),
        ),
        Misconception(
            "the model is handed the start mark alone",
            "What was written must be read before the next word. What does your model see at the second step?",
            greedily(history=lambda words: words[:1]),
        ),
        Misconception(
            "it takes the least likely word",
            "log p is negative: the likeliest word has the largest.",
            greedily(pick=torch.argmin),
        ),
    ),
    GREEDY,
    drive=drive_writer,
)


# ---- beam_words(log_p, start, end, width, limit) ----


def beamed(
    rank=lambda total, written: total / written,
    gain=lambda log_p: log_p,
    add=lambda total, gain: total + gain,
    first=0.0,
    finishes=True,
    keeps_finished=True,
    stops_at_first=False,
    each_continues_once=False,
    only_finished=False,
    history=lambda words: words,
    give=lambda words: words[1:],
    margins=None,
):
    """Beam search with one or more slips. A beginning is (words, total). Notes by how much a cut was decided."""

    def answer(log_p, start, end, width, limit):
        def place(beginning):
            words, total = beginning
            return rank(total, len(words) - 1)

        def is_finished(beginning):
            return finishes and len(beginning[0]) > 1 and beginning[0][-1] == end

        kept = [([start], first)]
        for _ in range(limit):
            longer = [beginning for beginning in kept if is_finished(beginning)] if keeps_finished else []
            for words, total in (beginning for beginning in kept if not is_finished(beginning)):
                gains = log_p(history(words)).tolist()
                grown = [(words + [word], add(total, gain(value))) for word, value in enumerate(gains)]
                longer += [max(grown, key=place)] if each_continues_once and len(words) > 1 else grown
            if not longer:
                break
            ranked = sorted(longer, key=place, reverse=True)
            kept = ranked[:width]
            if margins is not None and len(ranked) > width:
                margins.append(place(ranked[width - 1]) - place(ranked[width]))
            if all(map(is_finished, kept)) or stops_at_first and any(map(is_finished, kept)):
                break
        if margins is not None and len(kept) > 1:
            margins.append(place(kept[0]) - place(kept[1]))
        done = [beginning for beginning in kept if is_finished(beginning)]
        return give(max((only_finished or stops_at_first) and done or kept, key=place)[0])

    return answer


def exponential(log_p: float) -> float:
    return torch.tensor(log_p, dtype=torch.float64).exp().item()


def width_one(log_p, start, end, width, limit):
    return beamed()(log_p, start, end, 1, limit)


def by_sum(total, written):
    return total


def clear_cut(arguments) -> bool:
    margins = []
    drive_writer(beamed(margins=margins), **arguments)
    return min(margins, default=1.0) > 1e-4


SLIPS_OF_THE_BEAM = (
    beamed(rank=by_sum),
    beamed(gain=exponential),
    width_one,
    beamed(each_continues_once=True),
    beamed(keeps_finished=False),
    beamed(finishes=False),
    beamed(stops_at_first=True),
    beamed(only_finished=True),
    beamed(rank=lambda total, written: total / (written + 1)),
    beamed(history=lambda words: words[-1:]),
)


def beam_cases(generator: torch.Generator) -> list[Case]:
    # After <bos> 0: 2 or 3. After 2 much may come, after 3 the end 1.
    small = torch.tensor(
        [[0.08, 0.12, 0.5, 0.3], [0.1, 0.2, 0.3, 0.4], [0.17, 0.4, 0.23, 0.2], [0.01, 0.94, 0.03, 0.02]]
    )
    # A short sentence is likelier; word for word, a longer one.
    short = torch.tensor(
        [[0.07, 0.41, 0.39, 0.13], [0.1, 0.2, 0.3, 0.4], [0.06, 0.13, 0.11, 0.7], [0.12, 0.72, 0.09, 0.07]]
    )
    inputs = [
        ("width 1, which is greedy", small, 0.0, 0, 1, 1, 5),
        ("a likely sentence with an unlikely first word", small, 0.0, 0, 1, 2, 5),
        ("a short sentence and a long one", short, 0.0, 0, 1, 2, 5),
        ("a limit of one word", small, 0.0, 0, 1, 3, 1),
        ("a width greater than the vocabulary", short, 0.0, 0, 1, 6, 4),
    ]
    long = ("a long text, whose probability no float holds", never_ends(generator, 5), 0.0, 0, 1, 2, 800)
    names = ("p", "echo", "start", "end", "width", "limit")
    cases = [Case(about, dict(zip(names, values, strict=True))) for about, *values in [*inputs, long]]
    for about, make, *values in (
        ("other numbers for start and end", table, 0.0, 3, 2, 2, 6),
        ("a model that never ends", hardly_ends, 0.7, 0, 1, 3, 5),
    ):
        for _ in range(300):
            arguments = dict(zip(names, (make(generator, 4), *values), strict=True))
            if clear_cut(arguments):
                cases.insert(-1, Case(about, arguments))
                break

    def draw() -> dict:
        words, width, limit = (int(torch.randint(*span, (), generator=generator)) for span in ((4, 6), (2, 4), (3, 6)))
        return dict(zip(names, (table(generator, words), 0.7, 0, 1, width, limit), strict=True))

    drawn = told_apart(draw, beamed(), SLIPS_OF_THE_BEAM, clear_cut)
    return cases[:-1] + [Case("a model that looks at two words", arguments) for arguments in drawn] + cases[-1:]


def beam_without_end(log_p, start, end, width, limit):
    return [word for word in beamed()(log_p, start, end, width, limit) if word != end]


PRODUCT = {"gain": exponential, "add": lambda total, gain: total * gain, "first": 1.0}
BEAM_WORDS = Exercise(
    "beam_words",
    "transformer",
    beam_cases,
    beamed(),
    (
        Misconception(
            "sums of different lengths are compared",
            "Every further word makes the sum smaller, so the shortest sentence wins. What is to be compared here?",
            beamed(rank=by_sum),
        ),
        Misconception(
            "the product of many probabilities is rounded to 0",
            "No float holds so small a number, and then all beginnings seem equal. Stay with the logarithms.",
            beamed(rank=lambda total, written: total ** (1 / written), **PRODUCT),
        ),
        Misconception(
            "probabilities are multiplied",
            "A product gets smaller with each word, which favours the short, and at last it is rounded to 0. What does "
            "log p do to a product?",
            beamed(rank=by_sum, **PRODUCT),
        ),
        Misconception(
            "probabilities are added",
            "The probability of a sentence is a product; its logarithm is a sum of log p.",
            beamed(gain=exponential),
        ),
        Misconception(
            "only one beginning is kept",
            "That is greedy decoding. How many beginnings does a beam of this width keep?",
            width_one,
        ),
        Misconception(
            "each beginning is continued in one way only",
            "All continuations of all beginnings compete, and two of the best may come from the same beginning.",
            beamed(each_continues_once=True),
        ),
        Misconception(
            "finished sentences are lost",
            "A beginning that ends in the end mark is not continued, but it still competes.",
            beamed(keeps_finished=False),
        ),
        Misconception(
            "a finished sentence is continued",
            "After the end mark there is nothing more to write. What do you do with a beginning that ends in it?",
            beamed(finishes=False),
        ),
        Misconception(
            "the search stops at the first finished sentence",
            "Another beginning may still become better. When are all of them finished?",
            beamed(stops_at_first=True),
        ),
        Misconception(
            "unfinished sentences may not win",
            "At the limit the best of all that is kept is wanted, finished or not.",
            beamed(only_finished=True),
        ),
        Misconception(
            "the start mark is counted in the length",
            "Divide by the number of words that were written; the start mark was given.",
            beamed(rank=lambda total, written: total / (written + 1)),
        ),
        Misconception(
            "the start mark is returned too",
            "Only what was written is wanted. The start mark was given.",
            beamed(give=lambda words: words),
        ),
        Misconception(
            "the end mark is left out",
            "The end mark was written, so it belongs to what is returned.",
            beam_without_end,
        ),
        Misconception(
            "the model is handed the last word alone",
            "The next word may depend on all before it. Hand over the whole beginning.",
            beamed(history=lambda words: words[-1:]),
        ),
    ),
    BEAM,
    drive=drive_writer,
)


# ---- at which temperature does a draw take the likeliest word half of the time? ----

LOGITS = torch.tensor([3.0, 2.0, 1.2, 0.8, 0.0, -1.0], dtype=torch.float64)


def temperature_at(words: int, share: float = 0.5) -> float:
    """Where the `words` likeliest have this share of the probability together, by bisection."""
    low, high = 0.01, 100.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if (LOGITS / middle).softmax(-1)[:words].sum() > share else (low, middle)
    return low


HALF_TEMPERATURE = Question(
    "half_temperature",
    "transformer",
    lambda: temperature_at(1),
    (
        Misconception(
            "that is read from the curve of the two likeliest words",
            "Read the other curve, that of the likeliest word alone.",
            lambda: temperature_at(2),
        ),
        Misconception(
            "that is the share, not the temperature",
            "You know the height, 0.5. Asked for is the place below it, on the axis across.",
            0.5,
        ),
        Misconception(
            "that is 1/T",
            "The axis across shows T, by which the logits are divided.",
            lambda: 1 / temperature_at(1),
        ),
    ),
    TEMPERATURE,
    tolerance=0.04,
)

ASKED = [
    ADD_POSITIONS,
    LAYER_NORM,
    PRE_NORM_LAYER,
    DECODER_LAYER_SIZE,
    CROSS_SHAPE,
    NEXT_WORD_LOSS,
    GREEDY_WORDS,
    BEAM_WORDS,
    HALF_TEMPERATURE,
]
