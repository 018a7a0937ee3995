"""`window(length, width)`: which of the last `width` keys each query may see."""

import torch

from course_lib.checks.engine import Case, Exercise


def window_cases(generator: torch.Generator) -> list[Case]:
    def some(low: int, high: int) -> int:
        return int(torch.randint(low, high, (), generator=generator))

    inputs = [
        ("six words, a window of three", 6, 3),
        ("five words, a window of two", 5, 2),
        ("a window of one", 4, 1),
        ("a window as long as the text", 4, 4),
        ("a window longer than the text", 3, 5),
        ("one word", 1, 2),
        ("a window that does not divide the text", 7, 3),
        *((f"{length} words", length, some(2, length)) for length in (8, 11, 16)),
        ("a longer text", some(20, 30), some(3, 9)),
    ]
    return [Case(about, {"length": length, "width": width}) for about, length, width in inputs]


def window(length, width):
    key = torch.arange(length)
    query = key[:, None]
    not_later = key <= query
    not_too_far = key > query - width
    return not_later & not_too_far


WINDOW_MASK = Exercise(
    "window",
    "further_and_cheaper",
    window_cases,
    window,
    'lesson 9, "Not the same, cheaper"; glossary.show("sliding-window attention")',
    banned=("course_lib.masks",),
)

BOTH = "not_later & not_too_far"
COUNT = "Count the True of a row that is long enough: with the query's own word there are `width` of them."
WINDOW_MASK.edit("the window is one key too wide", COUNT, ("key >", "key >="))
WINDOW_MASK.edit("the window is one key too narrow", COUNT, ("- width", "- width + 1"))
WINDOW_MASK.edit(
    "a query does not see itself",
    "Its own word is the last of the window. Is it < where it should be ≤?",
    ("key <=", "key <"),
    ("key >", "key >="),
)
WINDOW_MASK.edit("a query does not see itself", COUNT, ("key <=", "key <"))
for within in ("< width", "<= width", "<= width // 2"):
    WINDOW_MASK.edit(
        "the window reaches to both sides",
        "Nobody sees what comes later: the window ends with the query's own word.",
        (BOTH, f"(query - key).abs() {within}"),
    )
WINDOW_MASK.edit(
    "the window looks ahead",
    "The row is the query, the column the key; a window holds the keys *before*.",
    (BOTH, "(key >= query) & (key < query + width)"),
)
WINDOW_MASK.edit(
    "later keys may be seen",
    "Two conditions are wanted: not too far back, and not later than the query.",
    (BOTH, "not_too_far"),
)
WINDOW_MASK.edit(
    "all keys may be seen", "Two conditions must hold for a key, and both at once: is that & or |?", ("&", "|")
)
SIDE = (
    "A number in triu or tril leads to the right of the diagonal, one below 0 to the left. On which side is the window?"
)
WINDOW_MASK.edit("no key may be seen", SIDE, ("key > query - width", "key >= query + width"))
WINDOW_MASK.edit("no key may be seen, unless the window is one wide", SIDE, ("- width", "+ width - 2"))
WINDOW_MASK.edit(
    "far keys may be seen",
    "Two conditions are wanted: not later than the query, and not too far back.",
    (BOTH, "not_later"),
)
BEFORE = "Is tril where triu should be? Look at the last row: which keys are there?"
WINDOW_MASK.edit("only what lies before the window may be seen", BEFORE, ("key >", "key <="))
WINDOW_MASK.edit(
    "only what lies before the window may be seen", BEFORE, ("key > query - width", "key <= query - width + 1")
)
WINDOW_MASK.edit(
    "all later keys are seen, and no earlier ones",
    "Is triu where tril should be? Look at the first row.",
    (BOTH, "key >= query"),
)
WINDOW_MASK.edit(
    "True and False have changed places", "True means that the query *may* look at the key.", (BOTH, f"~({BOTH})")
)
PIECES = (
    "The window moves along with every word; nothing is cut into pieces. Word 3 with a window of 3 sees 1, 2 and 3."
)
WINDOW_MASK.edit("the text is cut into pieces", PIECES, (BOTH, "(query // width == key // width) & not_later"))
WINDOW_MASK.edit("the text is cut into pieces", PIECES, (BOTH, "query // width == key // width"))
WINDOW_MASK.edit(
    "a query sees all of its own block and the one before",
    "Blocks are an order of computing. The window itself ends `width` words back, and with the query.",
    (BOTH, "(query // width - key // width <= 1) & not_later"),
)
WINDOW_MASK.edit(
    "only the first keys may be seen",
    "The window moves along with the query: q − k counts, not k alone.",
    ("key > query - width", "key < width"),
)
WINDOW_MASK.edit(
    "the window goes round past the beginning",
    "A negative place counts from the end, in Python and in roll. Nothing stands before word 0.",
    (BOTH, "(query - key) % length < width"),
)
FULL = "Where the window begins before the text, a row starts at word 0. A slice that starts at a negative place counts from the end."
WINDOW_MASK.edit("rows whose window begins before the text are empty", FULL, (BOTH, f"{BOTH} & (query >= width - 1)"))


@WINDOW_MASK.misconception("rows whose window begins before the text are empty", FULL)
def sliced(length, width):
    mask = torch.zeros(length, length, dtype=torch.bool)
    for query in range(length):
        mask[query, query - width + 1 : query + 1] = True
    return mask


WINDOW_MASK.edit(
    "only one key may be seen",
    "The window has `width` keys: all from the first to the query's own.",
    (BOTH, "key == query - width + 1"),
)
