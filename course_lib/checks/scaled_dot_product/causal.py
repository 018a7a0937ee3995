"""`causal(queries, keys)`: True where a query may look; the last query stands at the last key."""

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
        ("a length that is drawn", fresh, fresh + before),
        ("another length", fresh + 3, fresh + 3),
        ("many words", 4, 80),
        ("one new word after many", 1, 11),
    ]
    return [Case(about, {"queries": queries, "keys": keys}) for about, queries, keys in inputs]


def right(queries, keys):
    place = torch.arange(queries) + keys - queries  # of each query among the keys
    return (torch.arange(keys) <= place[:, None])[None, None]


CAUSAL_MASK = Exercise(
    "causal",
    "scaled_dot_product",
    cases,
    right,
    'lesson 3, "Four shapes"; glossary.show("causal mask"), glossary.show("key-value cache")',
)

AT_THE_LAST = "The queries are the *last* words of the text: the last query stands at the last key. At which key stands query 0, if there are 2 queries and 4 keys?"
FROM_THE_FIRST = " + keys - queries", ""
CAUSAL_MASK.edit("the first query stands at the first key", AT_THE_LAST, FROM_THE_FIRST)
CAUSAL_MASK.edit(
    "no query may look at its own word",
    "A query may look at the key of its own place, too: what it must not see comes after it.",
    ("<=", "<"),
)
CAUSAL_MASK.edit(
    "each query sees one word too many",
    "The first word after the query is open. It is the very word that a model must predict.",
    ("<= place[:, None]", "<= place[:, None] + 1"),
)
CAUSAL_MASK.edit(
    "the mask is transposed: what comes after is open",
    "A row is a query. Which entries of row 0 are open, those to its left or those to its right?",
    ("<=", ">="),
)
CAUSAL_MASK.edit(
    "the rows are keys and the columns are queries",
    "The axes are (1, 1, query, key): a row for each query, a column for each key.",
    ("[None, None]", ".mT[None, None]"),
)
CAUSAL_MASK.edit(
    "the mask is the wrong way round", "True means *may* attend. Yours is True where it must not.", ("<=", ">")
)
CAUSAL_MASK.edit(
    "True means forbidden, and the first query stands at the first key",
    "Two things: True means *may* attend; and the last query stands at the last key.",
    ("<=", ">"),
    FROM_THE_FIRST,
)
CAUSAL_MASK.edit(
    "there is a row for each key",
    "Only the last words ask. How many rows has the table?",
    ("torch.arange(queries) + keys - queries", "torch.arange(keys)"),
)
CAUSAL_MASK.edit(
    "the two axes in front are missing",
    "Scores have four axes, and so has their mask: (1, 1, query, key).",
    ("[None, None]", ""),
)
CAUSAL_MASK.edit("the offset has the wrong sign", AT_THE_LAST, ("+ keys - queries", "- keys + queries"))
