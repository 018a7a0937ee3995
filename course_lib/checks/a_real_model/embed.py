"""`embed(model, sentences)`: a vector for each sentence, whatever else is in the batch."""

import torch

from course_lib.checks.a_real_model.sentence_vector import last_own, sentence_vector  # noqa: F401 - an edit uses last_own
from course_lib.checks.engine import Case, Exercise


def drive_embed(answer, sentences, seed, width):
    """What the answer makes with an untrained encoder, a different one for each seed. Raises if the encoder changes."""
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
        raise ValueError("your function changes the model, which others use afterwards: leave it as it is")
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
        ("a sentence of one word next to a long one", of(1, 9)),
        ("the longest first", of(5, 2, 3)),
        ("the longest in the middle", of(2, 6, 4)),
        ("the same sentence twice, next to a longer one", [shared := of(3)[0], shared, of(8)[0]]),
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
    "The mean is correct, but of which states? Print the states of a short sentence, alone and next to a long one. Where do they begin to differ?",
    SEES_ALL,
)
EMBED.edit(
    "the padding counts in the mean",
    "The model has the mask now. Does the mean have it, too, as in `as_found`?",
    (MEAN, "states.mean(1)"),
)
EMBED.edit(
    "the padding is attended to and counts in the mean",
    "Two steps must know which positions are words, the model and the mean.",
    SEES_ALL,
    (MEAN, "states.mean(1)"),
)
EMBED.edit(
    "the sum over the words is divided by the number of all positions",
    "Sum and count must be over the same words. This was correct in `as_found`.",
    (MEAN, "(states * mask[:, :, None]).mean(1)"),
)
EMBED.edit(
    "True and False are swapped",
    "In this course's masks, True marks what may be seen.",
    ("model(words, mask)", "model(words, ~mask)"),
)
EMBED.edit(
    "the mean is over the padding",
    "In the mean, True marks the words. This was correct in `as_found`.",
    (MEAN, "sentence_vector(states, ~mask)"),
)
PLACES = "The positions in a sentence count from 0. Padding in front moves the words to later positions."
IN_FRONT = "own + [0] * (n - len(own))", "[0] * (n - len(own)) + own"
EMBED.edit("the padding is in front, so the words are at other positions", PLACES, IN_FRONT)
EMBED.edit("the padding is in front and is attended to", PLACES, IN_FRONT, SEES_ALL)
EMBED.edit(
    "all sentences are cut to the length of the shortest",
    "That needs no padding, but it loses words. Fill up the short sentences, and hide the padding.",
    ("max(", "min("),
    ("own + [0]", "own[:n] + [0]"),
)
for backwards in (False, True):
    EMBED.misconception(
        "the vectors are in another order than the sentences",
        "You may sort by length if each vector goes back to the position of its sentence.",
    )(lambda model, sentences, reverse=backwards: embed(model, sorted(sentences, key=len, reverse=reverse)))


@EMBED.misconception(
    "the vectors come group by group, not in the order of the sentences",
    "You may read sentences of the same length together. But then each vector must go back to the position of its sentence.",
)
def grouped(model, sentences):
    lengths = list(dict.fromkeys(map(len, sentences)))  # in the order in which they come
    return embed(model, sorted(sentences, key=lambda words: lengths.index(len(words))))


STATES = "Return the mean over the states of a sentence's own words. This was correct in `as_found`."
EMBED.edit("the first word's state is returned, not the mean", STATES, (MEAN, "states[:, 0]"))
EMBED.edit("the last word's state is returned, not the mean", STATES, (MEAN, "last_own(states, mask)"))
EMBED.edit("the result is a sum, not a mean", STATES, (MEAN, "(states * mask[:, :, None]).sum(1)"))
EMBED.edit(
    "the vectors are scaled to length 1",
    "Return the mean as it is.",
    (MEAN, f"torch.nn.functional.normalize({MEAN}, dim=-1)"),
)
EMBED.edit(
    "there is more padding than needed, and the words attend to it",
    "To the model, a 0 is a word like any other. What tells it which positions are words?",
    ("max(", "2 * max("),
    SEES_ALL,
)
EMBED.edit(
    "the mean is over the embedded words, not over the states",
    "`model(words, mask)` returns two things, the states of the last layer and the maps. What do you average?",
    ("model(words, mask)[0]", "model.embedding(words)"),
)
EMBED.edit(
    "the mean is over the states of all layers",
    "Only the states of the last layer count.",
    ("model(words, mask)[0]", "model.states(words, mask).mean(1)"),
)
EMBED.edit(
    "all sentences together get one vector", "Return a vector for each sentence.", (MEAN, "states[mask].mean(0)")
)
EMBED.misconception(
    "only the first sentence is embedded",
    "Return a vector for each sentence. If you have a loop, where does it return?",
)(lambda model, sentences: embed(model, sentences[:1]))
EMBED.edit(
    "the states are returned, not their mean",
    "Return a vector for each sentence, the mean over its words.",
    (MEAN, "states"),
)
