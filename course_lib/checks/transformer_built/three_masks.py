"""three_masks(source, target, pad): the masks of encoder, decoder and cross-attention, True where a word may be looked at."""

import torch

from course_lib.checks.engine import Case, Exercise


def cases(generator: torch.Generator) -> list[Case]:
    def words(rows: list[tuple[int, int]], width: int, pad: int) -> torch.Tensor:
        """Draws words; of each row, `rows` says how many positions of padding come first, and how many words follow."""
        numbers = torch.randint(0, 20, (len(rows), width), generator=generator)
        numbers = torch.where(numbers == pad, 20, numbers)
        for row, (before, count) in enumerate(rows):
            numbers[row, :before] = pad
            numbers[row, before + count :] = pad
        return numbers

    inputs = [
        ("one pair, two words each", [(0, 2)], 3, [(0, 2)], 3, 0),
        ("one pair, padding before the words", [(1, 2)], 3, [(1, 2)], 3, 0),
        ("two pairs, the second one shorter", [(0, 3), (0, 2)], 3, [(0, 4), (0, 2)], 4, 0),
        ("three pairs, with the number 7 for padding", [(0, 5), (0, 2), (0, 4)], 5, [(0, 2), (0, 4), (0, 3)], 4, 7),
        ("as many English positions as French ones", [(0, 2), (0, 4)], 4, [(0, 4), (0, 3)], 4, 0),
        ("as many sentences as words", [(0, 3), (0, 1), (0, 2)], 3, [(0, 1), (0, 3), (0, 2)], 3, 9),
        ("padding before the words", [(2, 3), (0, 5), (1, 4)], 5, [(1, 3), (2, 2), (0, 4)], 4, 0),
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


def right(source, target, pad):
    english = source != pad
    french = target != pad
    m = target.shape[1]
    causal = torch.ones(m, m).tril().bool()
    encoder = english[:, None, None]
    decoder = french[:, None, None] & causal
    cross = english[:, None, None]
    return encoder, decoder, cross


def drive(answer, source, target, pad):
    """Expands each mask to (batch, query, key) if it has four axes that allow that and is the same for all heads."""
    import contextlib

    import torch

    given = answer(source, target, pad)
    n, m = source.shape[1], target.shape[1]
    if not isinstance(given, (tuple, list)) or len(given) != 3:
        return given
    expanded = []
    for mask, axes in zip(given, ((n, n), (m, m), (m, n)), strict=True):
        with contextlib.suppress(TypeError, ValueError, RuntimeError):  # None, or lists of tensors
            mask = torch.as_tensor(mask)
        if not isinstance(mask, torch.Tensor) or mask.is_sparse:
            expanded.append(mask)
            continue
        full = len(source), 2, *axes
        fits = mask.ndim == 4 and all(size in (1, wanted) for size, wanted in zip(mask.shape, full, strict=True))
        mask = mask.expand(full) if fits else mask
        expanded.append(mask[:, 0] if fits and (mask == mask[:, :1]).all() else mask)
    return expanded


THREE_MASKS = Exercise(
    "three_masks",
    "transformer_built",
    cases,
    right,
    'lesson 5, "The masks"; glossary.show("padding mask"), glossary.show("causal mask")',
    drive,
    banned=("course_lib.masks",),
)

RETURNED = "return encoder, decoder, cross"

THREE_MASKS.edit(
    "True and False are swapped",
    "True means *may be looked at*. Is a real word True or False in your mask?",
    (RETURNED, "return ~encoder, ~decoder, ~cross"),
)
THREE_MASKS.edit(
    "rows are closed instead of columns",
    "A row belongs to the word that looks, a column to the word that is looked at. Nobody should look at padding.",
    ("encoder = english[:, None, None]", "encoder = english[:, None, :, None]"),
    ("french[:, None, None]", "french[:, None, :, None]"),
    ("cross = english[:, None, None]", "cross = french[:, None, :, None]"),
)
THREE_MASKS.edit(
    "the rows of padding are closed too",
    "No word looks at what padding collects, so its rows may be as open as the others.",
    ("encoder = english", "encoder = english[:, None, :, None] & english"),
    ("decoder = french", "decoder = french[:, None, :, None] & french"),
    ("cross = english", "cross = french[:, None, :, None] & english"),
)
THREE_MASKS.edit(
    "a word may not look at itself",
    "Draw the causal mask of three words. On the diagonal, each word looks at itself.",
    ("tril()", "tril(-1)"),
)
THREE_MASKS.edit(
    "each word sees the next one",
    "Draw the causal mask of three words. What may the first of them look at?",
    ("tril()", "tril(1)"),
)
THREE_MASKS.edit(
    "the causal mask is turned around",
    "The last word may look at all words, the first only at itself. Which triangle is that?",
    ("tril()", "triu()"),
)
THREE_MASKS.edit(
    "the decoder may look at padding",
    "The causal mask closes only what comes later. Padding may also come before the words.",
    ("french[:, None, None] & causal", "causal[None, None]"),
)
THREE_MASKS.edit(
    "the decoder looks ahead",
    "Your mask closes padding, but not the later words. The decoder's mask has to close both.",
    (" & causal", ""),
)
THREE_MASKS.edit(
    "cross-attention closes the target's padding",
    "In cross-attention, French words look at English words. Whose padding is in the columns?",
    ("cross = english", "cross = french"),
)
THREE_MASKS.edit(
    "cross-attention is causal",
    "The whole English sentence is known before the first French word is written.",
    ("cross = english", "cross = torch.ones(m, source.shape[1]).tril().bool() & english"),
)
THREE_MASKS.edit(
    "the encoder is causal",
    "The encoder gets the whole sentence at once, so each word may look at all the others.",
    ("encoder = english", "encoder = torch.ones(source.shape[1], source.shape[1]).tril().bool() & english"),
)
THREE_MASKS.edit(
    "padding is assumed to come after the words",
    "Your mask opens the first positions, as many as there are words. But in some sentences, padding comes first.",
    ("source != pad", "torch.arange(source.shape[1]) < (source != pad).sum(1, keepdim=True)"),
    ("target != pad", "torch.arange(target.shape[1]) < (target != pad).sum(1, keepdim=True)"),
)
THREE_MASKS.edit(
    "padding is assumed to be 0",
    "The argument pad says which number marks padding. Here, 0 may be a word like any other.",
    ("source != pad", "source != 0"),
    ("target != pad", "target != 0"),
)
THREE_MASKS.edit(
    "the axes of heads and queries are missing",
    "A mask has four axes: sentence, head, query and key. An axis along which nothing changes may have length 1.",
    (RETURNED, "return encoder[:, 0, 0], decoder[:, 0], cross[:, 0, 0]"),
)
THREE_MASKS.edit(
    "the axis of heads is missing",
    "A mask has four axes: sentence, head, query and key. Which axis of yours counts the heads?",
    (RETURNED, "return encoder[:, 0], decoder[:, 0], cross[:, 0]"),
)
for order in ("decoder, encoder, cross", "encoder, cross, decoder"):
    THREE_MASKS.edit(
        "the masks are in the wrong order",
        "Return the three masks in the order of the table.",
        (RETURNED, f"return {order}"),
    )
THREE_MASKS.edit(
    "the masks are numbers to be added to the scores",
    "Zeros and minus infinities are a different convention. Here, a mask holds True and False.",
    (RETURNED, "return [torch.zeros(mask.shape).masked_fill(~mask, -torch.inf) for mask in (encoder, decoder, cross)]"),
)
