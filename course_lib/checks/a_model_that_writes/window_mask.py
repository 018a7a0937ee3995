"""`window_mask(n, window, kept)`: which tokens each token may see, the last `window` and the first `kept`."""

import torch

from course_lib.checks.engine import Case, Exercise


def window_mask_cases(generator: torch.Generator) -> list[Case]:
    def some(low: int, high: int) -> int:
        return int(torch.randint(low, high, (), generator=generator))

    inputs = [
        ("six tokens, a window of two, one kept", 6, 2, 1),
        ("seven tokens, a window of three, two kept", 7, 3, 2),
        ("three tokens kept and a window of one", 6, 1, 3),
        ("nothing kept", 6, 3, 0),
        ("a window as long as the text", 5, 5, 1),
        ("a window longer than the text", 3, 5, 2),
        ("as many kept as there are tokens", 4, 2, 4),
        ("more kept than there are tokens", 3, 1, 5),
        ("one token", 1, 1, 1),
        ("window and kept tokens touch", 6, 3, 3),
        *((f"{n} tokens", n, some(2, n // 2), some(2, 5)) for n in (9, 12, 17)),
        ("a longer text", some(20, 30), some(3, 9), some(1, 7)),
    ]
    return [Case(about, dict(zip(("n", "window", "kept"), given, strict=True))) for about, *given in inputs]


def window_mask(n, window, kept):
    key = torch.arange(n)
    query = key[:, None]
    not_later = key <= query
    near = key > query - window
    first = key < kept
    return not_later & (near | first)


WINDOW_MASK = Exercise(
    "window_mask",
    "a_model_that_writes",
    window_mask_cases,
    window_mask,
    'lesson 12, "What may it forget?"; glossary.show("attention sink"); glossary.show("sliding-window attention")',
    banned=("course_lib.masks",),
)

ALL = "not_later & (near | first)"
LATER = "The first tokens aren't there yet when the very first ones are read. No token sees a later one, kept or not."
WINDOW_MASK.edit("the kept tokens are seen before they come", LATER, (ALL, "(not_later & near) | first"))
WINDOW_MASK.edit("later tokens may be seen", "No token sees a later one.", (ALL, "near | first"))
WINDOW_MASK.edit(
    "only a token that is near and kept is seen",
    "Near *or* kept is enough. Is that & or |?",
    (ALL, "not_later & near & first"),
)
WINDOW_MASK.edit(
    "everything before a token may be seen", "A token that is far away and not kept is hidden.", (ALL, "not_later")
)
WINDOW_MASK.edit(
    "the first tokens are not kept", "Which tokens stay visible, however far away they are?", (ALL, "not_later & near")
)
WINDOW_MASK.edit(
    "only the first tokens are seen, without a window",
    "A token also sees itself and those just before it.",
    (ALL, "not_later & first"),
)
COUNT = "Count the True in a row far down. There should be `window` of them near the diagonal, and `kept` at the left."
WINDOW_MASK.edit("the window is one token too wide", COUNT, ("key > query", "key >= query"))
WINDOW_MASK.edit("the window is one token too narrow", COUNT, ("query - window", "query - window + 1"))
WINDOW_MASK.edit(
    "a token doesn't see itself", "The token itself is the last one in its window.", ("key <= query", "key < query")
)
WINDOW_MASK.edit(
    "a token doesn't see itself, but one token more before it",
    "The token itself is the last one in its window.",
    ("key <= query", "key < query"),
    ("key > query", "key >= query"),
)
START = "query - window + 1"
WINDOW_MASK.edit(
    "for the first tokens, the window begins at a negative number",
    "Python counts a negative number from the end of the row. So where does the slice begin for the very first token?",
    ("key > query - window", f"key >= torch.where({START} < 0, ({START} + n).clamp(min=0), {START})"),
)
WINDOW_MASK.edit("one token too many is kept", COUNT, ("key < kept", "key <= kept"))
WINDOW_MASK.edit("one token too few is kept", COUNT, ("key < kept", "key < kept - 1"))
WINDOW_MASK.edit(
    "only one token is kept",
    "`kept` says how many of the first tokens stay visible.",
    ("key < kept", "key < min(kept, 1)"),
)
WINDOW_MASK.edit(
    "only the last of the kept tokens is seen",
    "All of the first `kept` tokens stay visible.",
    ("key < kept", "key == kept - 1"),
)
WINDOW_MASK.edit(
    "the token with the number `kept` is kept",
    "`kept` is how many, not which one. Tokens are counted from 0.",
    ("key < kept", "key == kept"),
)
WINDOW_MASK.edit(
    "the last tokens are kept, not the first",
    "Which end of the text do the kept tokens come from?",
    ("key < kept", "key >= n - kept"),
)
WINDOW_MASK.edit(
    "the kept tokens see everything before them, and nobody sees them",
    "Rows are the tokens that look, columns are the tokens that are seen. Which of the two is kept?",
    ("key < kept", "query < kept"),
)
WINDOW_MASK.edit(
    "the kept tokens are taken off the window",
    "The kept tokens come in addition. The window stays as wide as it was.",
    ("query - window", "query - max(window - kept, 1)"),
)
WINDOW_MASK.edit(
    "the window is widened by the kept tokens",
    "The kept tokens are at the beginning of the text. The window stays as wide as it was.",
    ("query - window", "query - window - kept"),
    ("near | first", "near"),
)
for within in ("< window", "<= window"):
    WINDOW_MASK.edit(
        "the window reaches to both sides",
        "No token sees a later one. The window ends with the token itself.",
        (ALL, f"((query - key).abs() {within}) | first"),
    )
WINDOW_MASK.edit(
    "rows and columns are exchanged",
    "Rows are the tokens that look, columns are the tokens that are seen.",
    (ALL, f"({ALL}).T"),
)
WINDOW_MASK.edit("True and False are exchanged", "True means that a token may be seen.", (ALL, f"~({ALL})"))
WINDOW_MASK.edit("the mask has more axes", "Return a table of shape (n, n).", (ALL, f"({ALL})[None]"))
WINDOW_MASK.edit("the mask has more axes", "Return a table of shape (n, n).", (ALL, f"({ALL})[None, None]"))
WINDOW_MASK.edit(
    "the kept tokens are seen by the last token only",
    "Every later token sees the kept ones, not only the last row.",
    ("near | first", "near | (first & (query == n - 1))"),
)
