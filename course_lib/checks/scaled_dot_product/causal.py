"""`causal(queries, keys)`: True where a query may look; the last query belongs to the last key."""

import torch

from course_lib.checks.engine import Case, Exercise


def cases(generator: torch.Generator) -> list[Case]:
    fresh, before = (int(torch.randint(2, 6, (), generator=generator)) for _ in range(2))
    inputs = [
        ("as many queries as keys", 3, 3),
        ("two new words after two old ones", 2, 4),
        ("one new word at the end", 1, 4),
        ("a single word", 1, 1),
        ("more new words than old ones", 4, 5),
        ("a random length", fresh, fresh + before),
        ("another random length", fresh + 3, fresh + 3),
        ("many words", 4, 80),
        ("one new word after many", 1, 11),
    ]
    return [Case(about, {"queries": queries, "keys": keys}) for about, queries, keys in inputs]


def right(queries, keys):
    own = torch.arange(queries) + keys - queries  # the key that each query belongs to
    return (torch.arange(keys) <= own[:, None])[None, None]


CAUSAL_MASK = Exercise(
    "causal",
    "scaled_dot_product",
    cases,
    right,
    'lesson 3, "Four shapes"; glossary.show("causal mask"), glossary.show("key-value cache")',
)

AT_THE_LAST = "The queries are the *last* words of the text, so the last query belongs to the last key. With 2 queries and 4 keys, which key does query 0 belong to?"
FROM_THE_FIRST = " + keys - queries", ""
CAUSAL_MASK.edit("the first query belongs to the first key", AT_THE_LAST, FROM_THE_FIRST)
CAUSAL_MASK.edit(
    "no query may look at its own word",
    "A query may look at the key that it belongs to. Only the keys after it are closed.",
    ("<=", "<"),
)
CAUSAL_MASK.edit(
    "each query sees one word too many",
    "The first word after the query is open. That is the very word that a model must predict.",
    ("<= own[:, None]", "<= own[:, None] + 1"),
)
CAUSAL_MASK.edit(
    "the mask is transposed: it opens what comes after",
    "Each row is a query. Does it look at the words before it or at those after it?",
    ("<=", ">="),
)
CAUSAL_MASK.edit(
    "the rows are keys and the columns are queries",
    "The axes are (1, 1, query, key), with a row for each query and a column for each key.",
    ("[None, None]", ".mT[None, None]"),
)
CAUSAL_MASK.edit(
    "the mask is the wrong way round",
    "True means that a query *may* look. Your mask is True where it may not.",
    ("<=", ">"),
)
CAUSAL_MASK.edit(
    "True means forbidden, and the first query belongs to the first key",
    "There are two mistakes. True means that a query *may* look. And the last query belongs to the last key.",
    ("<=", ">"),
    FROM_THE_FIRST,
)
CAUSAL_MASK.edit(
    "there is a row for each key",
    "Only the last words have queries. How many rows should the mask have?",
    ("torch.arange(queries) + keys - queries", "torch.arange(keys)"),
)
CAUSAL_MASK.edit(
    "the first two axes are missing",
    "Scores have four axes, and so does their mask: (1, 1, query, key).",
    ("[None, None]", ""),
)
CAUSAL_MASK.edit("the offset has the wrong sign", AT_THE_LAST, ("+ keys - queries", "- keys + queries"))
