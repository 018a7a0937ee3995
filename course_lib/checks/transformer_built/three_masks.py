"""three_masks(source, target, pad): the masks of encoder, decoder and cross-attention, True where a word may be looked at."""

import torch

from course_lib.checks.engine import Case, Exercise


def cases(generator: torch.Generator) -> list[Case]:
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
    """The three masks, spread over (batch, query, key) where they have four axes that allow it, the heads alike."""
    import contextlib

    import torch

    given = answer(source, target, pad)
    n, m = source.shape[1], target.shape[1]
    if not isinstance(given, (tuple, list)) or len(given) != 3:
        return given
    spread = []
    for mask, places in zip(given, ((n, n), (m, m), (m, n)), strict=True):
        with contextlib.suppress(TypeError, ValueError, RuntimeError):  # None, or lists of tensors
            mask = torch.as_tensor(mask)
        if not isinstance(mask, torch.Tensor) or mask.is_sparse:
            spread.append(mask)
            continue
        full = len(source), 2, *places
        fits = mask.ndim == 4 and all(size in (1, wanted) for size, wanted in zip(mask.shape, full, strict=True))
        mask = mask.expand(full) if fits else mask
        spread.append(mask[:, 0] if fits and (mask == mask[:, :1]).all() else mask)
    return spread


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
    "True and False are exchanged",
    "True means may be looked at. Is a word that is there open or closed in your mask?",
    (RETURNED, "return ~encoder, ~decoder, ~cross"),
)
THREE_MASKS.edit(
    "rows are closed instead of columns",
    "A row belongs to the word that looks, a column to the one that is looked at. Nobody is to look at padding.",
    ("encoder = english[:, None, None]", "encoder = english[:, None, :, None]"),
    ("french[:, None, None]", "french[:, None, :, None]"),
    ("cross = english[:, None, None]", "cross = french[:, None, :, None]"),
)
THREE_MASKS.edit(
    "the rows of padding are closed too",
    "What padding itself collects, no word looks at. Its row may stay as open as another's.",
    ("encoder = english", "encoder = english[:, None, :, None] & english"),
    ("decoder = french", "decoder = french[:, None, :, None] & french"),
    ("cross = english", "cross = french[:, None, :, None] & english"),
)
THREE_MASKS.edit(
    "a word may not look at itself",
    "Draw the causal mask of three words. The diagonal is the word itself, which it has read.",
    ("tril()", "tril(-1)"),
)
THREE_MASKS.edit(
    "each word sees the next one",
    "Draw the causal mask of three words. What may the first of them look at?",
    ("tril()", "tril(1)"),
)
THREE_MASKS.edit(
    "the causal mask is turned round",
    "The last word may look at all, the first at itself alone. Which triangle is that?",
    ("tril()", "triu()"),
)
THREE_MASKS.edit(
    "the decoder may look at padding",
    "The causal mask hides what lies ahead. Padding in front of the words does not lie ahead.",
    ("french[:, None, None] & causal", "causal[None, None]"),
)
THREE_MASKS.edit(
    "the decoder looks ahead",
    "Padding is closed in your mask, later words are not. The decoder needs both.",
    (" & causal", ""),
)
THREE_MASKS.edit(
    "cross-attention closes the target's padding",
    "In cross-attention French words look at English ones. Whose padding stands in the columns?",
    ("cross = english", "cross = french"),
)
THREE_MASKS.edit(
    "cross-attention is causal",
    "The English sentence is known to its end before the first French word is written.",
    ("cross = english", "cross = torch.ones(m, source.shape[1]).tril().bool() & english"),
)
THREE_MASKS.edit(
    "the encoder is causal",
    "The encoder reads a sentence that is there to its end: each word may look at all the others.",
    ("encoder = english", "encoder = torch.ones(source.shape[1], source.shape[1]).tril().bool() & english"),
)
THREE_MASKS.edit(
    "padding is thought to stand behind the words",
    "You count words and open so many places from the left. In some sentences padding stands in front.",
    ("source != pad", "torch.arange(source.shape[1]) < (source != pad).sum(1, keepdim=True)"),
    ("target != pad", "torch.arange(target.shape[1]) < (target != pad).sum(1, keepdim=True)"),
)
THREE_MASKS.edit(
    "padding is taken to be 0",
    "Which number padding has, the argument pad says. Here 0 may be a word like another.",
    ("source != pad", "source != 0"),
    ("target != pad", "target != 0"),
)
THREE_MASKS.edit(
    "the axes of heads and queries are missing",
    "A mask has four axes: sentence, head, query, key. Those that make no difference have the length 1.",
    (RETURNED, "return encoder[:, 0, 0], decoder[:, 0], cross[:, 0, 0]"),
)
THREE_MASKS.edit(
    "the axis of heads is missing",
    "A mask has four axes: sentence, head, query, key. Which of yours is the head?",
    (RETURNED, "return encoder[:, 0], decoder[:, 0], cross[:, 0]"),
)
for order in ("decoder, encoder, cross", "encoder, cross, decoder"):
    THREE_MASKS.edit(
        "the masks stand in another order",
        "Look at the order in which the three are asked for: it is that of the table.",
        (RETURNED, f"return {order}"),
    )
THREE_MASKS.edit(
    "the masks are to be added to the scores",
    "Zeros and minus infinities are another convention. Here a mask is True or False.",
    (RETURNED, "return [torch.zeros(mask.shape).masked_fill(~mask, -torch.inf) for mask in (encoder, decoder, cross)]"),
)
