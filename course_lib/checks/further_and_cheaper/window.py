"""`window(length, width)`: which keys each query may see, the last `width` of them."""

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
COUNT = "Count the True in a row whose window fits into the text. Together with the query's own word there should be `width`."
WINDOW_MASK.edit("the window is one key too wide", COUNT, ("key >", "key >="))
WINDOW_MASK.edit("the window is one key too narrow", COUNT, ("- width", "- width + 1"))
WINDOW_MASK.edit(
    "a query does not see itself",
    "The query's own word is the last one in its window. Is a < or a diagonal off by one?",
    ("key <=", "key <"),
    ("key >", "key >="),
)
WINDOW_MASK.edit("a query does not see itself", COUNT, ("key <=", "key <"))
for within in ("< width", "<= width", "<= width // 2"):
    WINDOW_MASK.edit(
        "the window reaches to both sides",
        "No query sees a later word. The window ends with the query's own word.",
        (BOTH, f"(query - key).abs() {within}"),
    )
WINDOW_MASK.edit(
    "the window looks ahead",
    "Rows are queries, columns are keys. A window contains the query's own word and the keys *before* it.",
    (BOTH, "(key >= query) & (key < query + width)"),
)
WINDOW_MASK.edit(
    "later keys may be seen",
    "A key must meet two conditions. It isn't too far back, and it isn't later than the query.",
    (BOTH, "not_too_far"),
)
WINDOW_MASK.edit("all keys may be seen", "A key must meet two conditions, both at once. Is that & or |?", ("&", "|"))
SIDE = "On which side of the diagonal is the window? (In triu and tril, a number above 0 moves to the right, one below 0 to the left.)"
WINDOW_MASK.edit("no key may be seen", SIDE, ("key > query - width", "key >= query + width"))
WINDOW_MASK.edit("no key may be seen, unless the width is 1", SIDE, ("- width", "+ width - 2"))
WINDOW_MASK.edit(
    "far keys may be seen",
    "A key must meet two conditions. It isn't later than the query, and it isn't too far back.",
    (BOTH, "not_later"),
)
BEFORE = "Look at the last row: which keys are True? Do you use tril where you need triu?"
WINDOW_MASK.edit("only the keys before the window may be seen", BEFORE, ("key >", "key <="))
WINDOW_MASK.edit(
    "only the keys before the window may be seen", BEFORE, ("key > query - width", "key <= query - width + 1")
)
WINDOW_MASK.edit(
    "a query sees itself and all later keys, but no earlier ones",
    "Look at the first row: which keys are True? Do you use triu where you need tril?",
    (BOTH, "key >= query"),
)
WINDOW_MASK.edit("True and False are swapped", "True means that the query *may* look at the key.", (BOTH, f"~({BOTH})"))
PIECES = "The window moves along with every word. With a width of 3, the word at position 3 sees 1, 2 and 3."
WINDOW_MASK.edit("the text is cut into pieces", PIECES, (BOTH, "(query // width == key // width) & not_later"))
WINDOW_MASK.edit("the text is cut into pieces", PIECES, (BOTH, "query // width == key // width"))
WINDOW_MASK.edit(
    "a query sees its own block as far as itself, and all of the block before",
    "Blocks are only a way to compute. A query sees at most `width` keys, wherever it is in its block.",
    (BOTH, "(query // width - key // width <= 1) & not_later"),
)
WINDOW_MASK.edit(
    "only the first keys may be seen",
    "The window moves along with the query. What counts is how far back a key is, not its position alone.",
    ("key > query - width", "key < width"),
)
WINDOW_MASK.edit(
    "the window wraps around at the beginning",
    "In Python, a negative index counts from the end, and roll wraps around. But there is no word before word 0.",
    (BOTH, "(query - key) % length < width"),
)
FULL = (
    "If the window begins before the text, the row starts at word 0. A slice with a negative start counts from the end."
)
WINDOW_MASK.edit("rows whose window begins before the text are empty", FULL, (BOTH, f"{BOTH} & (query >= width - 1)"))


@WINDOW_MASK.misconception("rows whose window begins before the text are empty", FULL)
def sliced(length, width):
    mask = torch.zeros(length, length, dtype=torch.bool)
    for query in range(length):
        mask[query, query - width + 1 : query + 1] = True
    return mask


WINDOW_MASK.edit(
    "only one key may be seen",
    "The window contains all keys from its first one to the query's own.",
    (BOTH, "key == query - width + 1"),
)
