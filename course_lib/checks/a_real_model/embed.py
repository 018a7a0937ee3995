"""`embed(model, sentences)`: a vector for each sentence, whatever it stands beside."""

import torch

from course_lib.checks.a_real_model.sentence_vector import last_own, sentence_vector  # noqa: F401 - an edit uses last_own
from course_lib.checks.engine import Case, Exercise


def drive_embed(answer, sentences, seed, width):
    """An untrained encoder, each seed another, that gives its states; and whether it is left as it was."""
    import torch

    from course_lib.layers import PostNorm
    from course_lib.pretrained import NoOutput
    from course_lib.transformer import EncoderOnly

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        shape = {"model_size": width, "heads": 2, "layers": 2, "feed_forward_size": 16}
        model = EncoderOnly(20, **shape, residual=PostNorm, embedding=NoOutput).eval()
    before = [own.clone() for own in model.parameters()]
    with torch.no_grad():
        found = answer(model, sentences)
    if model.training or not all(map(torch.equal, before, model.parameters())):
        raise ValueError("your function changes the model, which others use after it: leave it as it is")
    return found


def embed_cases(generator: torch.Generator) -> list[Case]:
    def some(low: int, high: int) -> int:
        return int(torch.randint(low, high, (), generator=generator))

    def of(*lengths: int) -> list[list[int]]:
        return [torch.randint(1, 20, (length,), generator=generator).tolist() for length in lengths]

    inputs = [
        ("sentences of two words and of three", of(2, 3)),
        ("one sentence alone", of(3)),
        ("sentences of the same length", of(3, 3)),
        ("a sentence of one word beside a long one", of(1, 9)),
        ("the longest first", of(5, 2, 3)),
        ("the longest in the middle", of(2, 6, 4)),
        ("the same words with and without company", [shared := of(3)[0], shared, of(8)[0]]),
        ("as many sentences as words", of(4, 2, 3, 1)),
        ("two of one length, with another between them", of(2, 4, 2)),
        ("many sentences", of(*(some(1, 9) for _ in range(6)), 9)),
        ("a long sentence, and a wider model", of(3, 40)),
    ]
    return [
        Case(about, {"sentences": sentences, "seed": some(0, 10_000), "width": 12 if "wider" in about else 8})
        for about, sentences in inputs
    ]


def embed(model, sentences):
    n = max(map(len, sentences))
    words = torch.tensor([own + [0] * (n - len(own)) for own in sentences])
    mask = words != 0
    states = model(words, mask)[0]
    return sentence_vector(states, mask)


EMBED = Exercise(
    "embed",
    "a_real_model",
    embed_cases,
    embed,
    'lesson 11, "One vector for a sentence"; glossary.show("padding mask")',
    drive=drive_embed,
    tolerance=1e-4,
)

MEAN = "sentence_vector(states, mask)"
SEES_ALL = "model(words, mask)", "model(words, torch.ones_like(mask))"
EMBED.edit(
    "the sentence's own words attend to the padding",
    "The mean is right. But of what? Print a state of a short sentence, alone and beside a long one: where do they begin to differ?",
    SEES_ALL,
)
EMBED.edit(
    "the padding counts in the mean",
    "The model has the mask now. The mean needs it, too, as it had it before.",
    (MEAN, "states.mean(1)"),
)
EMBED.edit(
    "the padding is attended to, and counts in the mean",
    "Two parts of the function ask which places are words: the model, and the mean.",
    SEES_ALL,
    (MEAN, "states.mean(1)"),
)
EMBED.edit(
    "the sum of the own words is divided by all places",
    "Sum and count must be of the same words. That was right in what you were given.",
    (MEAN, "(states * mask[:, :, None]).mean(1)"),
)
EMBED.edit(
    "True and False have changed places",
    "In this course's masks, True stands where one may look.",
    ("model(words, mask)", "model(words, ~mask)"),
)
EMBED.edit(
    "the mean is taken over the padding",
    "In the mean, True marks the words. That was right in what you were given.",
    (MEAN, "sentence_vector(states, ~mask)"),
)
PLACES = "A word has its place in the sentence, counted from 0. With padding in front, it stands further on."
IN_FRONT = "own + [0] * (n - len(own))", "[0] * (n - len(own)) + own"
EMBED.edit("the padding stands in front, so the words stand at other places", PLACES, IN_FRONT)
EMBED.edit("the padding stands in front, and is attended to", PLACES, IN_FRONT, SEES_ALL)
EMBED.edit(
    "all sentences are cut off at the shortest",
    "That needs no padding, and loses words. Fill up, and hide what you filled up.",
    ("max(", "min("),
    ("own + [0]", "own[:n] + [0]"),
)
for backwards in (False, True):
    EMBED.misconception(
        "the vectors stand in another order than the sentences",
        "Sorting by length is allowed, if each vector goes back to the place of its sentence.",
    )(lambda model, sentences, reverse=backwards: embed(model, sorted(sentences, key=len, reverse=reverse)))


@EMBED.misconception(
    "the vectors stand group by group, not in the order of the sentences",
    "Each vector goes back to the place of its sentence, also when sentences of one length are read together.",
)
def grouped(model, sentences):
    lengths = list(dict.fromkeys(map(len, sentences)))  # in the order in which they come
    return embed(model, sorted(sentences, key=lambda words: lengths.index(len(words))))


STATES = "Wanted is the mean of the states of a sentence's own words. That was right in what you were given."
EMBED.edit("the first word stands for the sentence", STATES, (MEAN, "states[:, 0]"))
EMBED.edit("the last word stands for the sentence", STATES, (MEAN, "last_own(states, mask)"))
EMBED.edit("it is a sum, not a mean", STATES, (MEAN, "(states * mask[:, :, None]).sum(1)"))
EMBED.edit(
    "the vectors are brought to length 1",
    "Wanted is the mean as it is.",
    (MEAN, f"torch.nn.functional.normalize({MEAN}, dim=-1)"),
)
EMBED.edit(
    "the words that the layers read are masked, and the model attends to the places left",
    "A word 0 is a word with a vector and a place. The model must be told which places are words.",
    ("max(", "2 * max("),
    SEES_ALL,
)
EMBED.edit(
    "the mean is taken of the embedded words, not of the states",
    "`model(words, mask)` gives two things: the states that leave the last layer, and maps.",
    ("model(words, mask)[0]", "model.embedding(words)"),
)
EMBED.edit(
    "the mean is taken over all layers",
    "Wanted are the states that leave the last layer.",
    ("model(words, mask)[0]", "model.states(words, mask).mean(1)"),
)
EMBED.edit(
    "the vectors of all sentences are one", "A vector for each sentence is wanted.", (MEAN, "states[mask].mean(0)")
)
EMBED.misconception(
    "only the first sentence is embedded", "A vector for each sentence is wanted. Where does the loop return?"
)(lambda model, sentences: embed(model, sentences[:1]))
EMBED.edit(
    "the states come out, not their mean",
    "A vector for each sentence is wanted: the mean over its words.",
    (MEAN, "states"),
)
