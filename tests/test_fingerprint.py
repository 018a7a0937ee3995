"""A fingerprint changes with what a function computes, and with nothing else."""

import dataclasses
import importlib
import importlib.util
import inspect
import linecache
import re
import sys
import types
from functools import partial

import library
import numpy as np
import pytest
import torch

from course_lib import masks, training
from course_lib.corpus import Corpus, Vocabulary
from course_lib.fingerprint import HOW, UNSEEN, fingerprint, name_of, notebook_cells
from course_lib.masks import causal_mask
from course_lib.processes import side_by_side
from course_lib.recurrent import EncoderDecoder

PLAIN = """
RATE = 0.5
def helper(x):
    return 2 * x
def f(seed, steps=3):
    total = 0
    for step in range(steps):
        total += helper(seed)
        total *= RATE
    return total, "a b"
"""


def of(notebook, source, name="f"):
    return fingerprint(notebook(source)[name])


# ---- what does not count ----


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("total = 0", "total = 0  # nothing yet"),
        ("total = 0", "# nothing yet\n    total = 0"),
        ("total = 0", "\n\n    total   =   0"),
        ("total = 0", "total = (\n        0\n    )".replace("(\n", "").replace("\n    )", "").strip()),
        ("    total = 0", '    """The total."""\n    total = 0'),
        ("    return 2 * x", '    """Twice.\n\n    As much."""\n    return 2 * x'),
        ("return total, ", "return total,   "),
        ("helper(seed)", "helper(\n            seed\n        )"),
        ("def f(", "@staticmethod\ndef f("),
        ("RATE = 0.5", "RATE = 0.5\nOTHER = 1"),
        ("RATE = 0.5", "RATE = 1 / 2"),
        ("RATE = 0.5", "total, step, seed = 1, 2, 3\nRATE = 0.5"),  # variables of the same name as f's own
    ],
)
def test_comments_docstrings_white_space_and_strangers_do_not_count(notebook, old, new):
    assert old in PLAIN
    assert of(notebook, PLAIN) == of(notebook, PLAIN.replace(old, new))


CAREFUL = """
SIZES = (1, 2)
def told(): return "too many rows"
def f(rows, seed=1):
    if len(rows) > SIZES[0]:
        raise ValueError(told())
    total = 0
    for row in rows:
        total += row * sum(part for part in range(row))
    text = ""
    def inner(x, *more):
        nonlocal text
        text += x + total
        texts = [x for x in more if x]
        return texts
    with open("a") as file:
        text = file.read()
    if not total:
        raise RuntimeError("nothing" + text) from None
    else:
        found = [(lambda x: x + total)(row) for row in rows]
    match found:
        case [one, *rest]: return inner(one, *rest)
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (r"told\(\)\)", "f'{len(rows)} rows', 4)"),
        ("too many", "several"),
        ('"nothing" [+] text', '"another word"'),
        (" from None", ""),
        (r"(?s)    if len\(rows\).*?told\(\)\)\n", ""),
        (r"len\(rows\) >", "seed < 0 or min(rows[0], 2) not in SIZES or not isinstance(seed, int) or len(rows) >"),
        (r"len\(rows\) >", "not rows.isfinite().all() and rows.dim() == 3 and len(rows) >"),
        (r"len\(rows\) >", "any(size > seed for size in SIZES) and len(rows) >"),
        (r"\(1, 2\)", "(1, 3)"),  # nothing but the guard asks for it
        (r"\btotal\b", "whole"),
        (r"\brow\b", "line"),
        (r"\bpart\b", "row"),
        (r"\bpart\b", "seed"),
        (r"x for x in more if x", "y for y in more if y"),
        (r"\btexts\b", "file"),
        (r"\bfile\b", "stream"),
        (r"\bfound\b", "told"),
        (r"\bone\b", "first"),
        (r"\brest\b", "others"),
    ],
)
def test_guards_messages_and_names_of_local_variables_do_not_count(notebook, old, new):
    changed = re.sub(old, new, CAREFUL)
    assert changed != CAREFUL and of(notebook, CAREFUL) == of(notebook, changed)


def test_an_attribute_is_not_the_variable_of_the_same_name(notebook):
    source = "def f(history):\n    return history.loss"
    assert of(notebook, source) == of(notebook, f"loss = 3\n{source}")


def test_a_variable_that_inner_functions_share_is_not_the_global_of_the_same_name(notebook):
    source = "def f(pairs):\n    gold = dict(pairs)\n    return [[gold[t] for t in gold] for _ in pairs]"
    assert of(notebook, source) == of(notebook, "gold, t = 1, 2\n" + source)


def test_where_a_function_stands_does_not_count(notebook):
    before = "class A:\n    def f(self):\n        return 0\n"
    source = "def f():\n    return 1\n"
    assert of(notebook, source) == of(notebook, before + source) == of(notebook, source + before)


# ---- what counts ----


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("total = 0", "total = 1"),
        ('"a b"', '"ab"'),
        ("        total *= RATE", "    total *= RATE"),
        ("steps=3", "steps=4"),
        ("RATE = 0.5", "RATE = 0.6"),
        ("2 * x", "3 * x"),
        ("def helper(x):", "def other(x):\n    return x\ndef helper(x):\n    x = other(x)"),
    ],
)
def test_code_constants_and_helpers_count(notebook, old, new):
    assert old in PLAIN
    assert of(notebook, PLAIN) != of(notebook, PLAIN.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (r"range\(row\)", "range(row, 9)"),
        (r"row \*", "row +"),
        (r"sum\(", "max("),
        ("seed=1", "size=1"),  # a caller may name it
        (r"len\(rows\) >", "(seed := len(rows)) >"),
        (r"len\(rows\) >", "rows.pop() >"),
        (r"len\(rows\) >", "told() >"),
        (r"len\(rows\) >", "next(rows) >"),
        (r"len\(rows\) >", "max(rows) >"),
        (r"len\(rows\) >", "seed in rows or len(rows) >"),
        (r"len\(rows\) >", "any(row > 3 for row in rows) or len(rows) >"),
        ("ValueError", "StopIteration"),
        ("ValueError", "IndexError"),
        ("RuntimeError", "TypeError"),  # outside a guard
        (r"x for x in more if x", "x for y in more if x"),
        (r"return texts", "return more"),
        (r"\.read", ".readline"),
        (r"text \+= x", "text = x"),
        (r"x \+ total\)", "x + seed)"),
        (r"inner\(one, \*rest\)", "inner(rest, *one)"),
        (r"nonlocal", "global"),
    ],
)
def test_what_may_change_a_result_counts(notebook, old, new):
    changed = re.sub(old, new, CAREFUL, flags=re.MULTILINE)
    assert changed != CAREFUL and of(notebook, CAREFUL) != of(notebook, changed)


TRYING = """
def g(x):
    if x > 3:
        raise ValueError("much")
    return x
def f(x):
    try: return g(x)
    except ValueError as error: return {}
"""


@pytest.mark.parametrize(("old", "new"), [("> 3", "> 4"), ("much", "more"), ("ValueError as", "TypeError as")])
def test_what_is_caught_counts(notebook, old, new):
    assert of(notebook, TRYING) != of(notebook, TRYING.replace(old, new))
    assert old == "ValueError as" or of(notebook, TRYING, "g") == of(notebook, TRYING.replace(old, new), "g")
    assert of(notebook, TRYING) == of(notebook, TRYING.replace("error", "wrong"))


def test_who_sees_its_own_names_has_them_count(notebook):
    source = "def f(x):\n    found = x\n    return {}"
    names = [of(notebook, text) for text in (source, source.replace("found", "other"))]
    assert names[0] == names[1]
    names = [of(notebook, text.format("locals()")) for text in (source, source.replace("found", "other"))]
    assert names[0] != names[1]


CHANGES = {
    "a helper's helper": "def h(): return {}\ndef g(): return h()\ndef f(): return g()",
    "a function's other self": "def f(n): return f(n - {})",
    "a variable around it": "def make(k):\n    def f(): return k\n    return f\nf = make({})",
    "a default value": "K = {}\ndef f(x=K): return x",
    "a function in a lambda's place": "def g(x): return {}\ndef f(): return [g(x) for x in range(3)]",
    "a method": "class A:\n    def m(self): return {}\ndef f(): return A().m()",
    "a method of the base": "class B:\n    def m(self): return {}\nclass A(B):\n    pass\ndef f(): return A().m()",
    "what a method uses": "K = {}\nclass A:\n    def m(self): return K\ndef f(): return A().m()",
    "what a property uses": "K = {}\nclass A:\n    @property\n    def m(self): return K\ndef f(): return A().m",
    "what a class method uses": "K = {}\nclass A:\n    @classmethod\n    def m(cls): return K\ndef f(): return A.m()",
    "an attribute of a class": "K = {}\nclass A:\n    m = K\ndef f(): return A.m",
    "a field of a dataclass": (
        "import dataclasses\n@dataclasses.dataclass\nclass A:\n    m: int = {}\ndef f(): return A()"
    ),
    "an object": "class A:\n    def __init__(self, x): self.x = x\na = A({})\ndef f(): return a.x",
    "an object's method": "class A:\n    def m(self): return {}\na = A()\ndef f(): return a.m()",
    "an array": "import numpy\nK = numpy.array([{}])\ndef f(): return K",
    "a tensor": "import torch\nK = torch.tensor([{}])\ndef f(): return K",
    "a nested container": "K = {{'a': [(1, {{{}}})]}}\ndef f(): return K",
}


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_a_function_refers_to_counts(notebook, change):
    one, again, two = (of(notebook, CHANGES[change].format(value)) for value in (1, 1, 2))
    assert one == again != two


@pytest.mark.parametrize(
    "source",
    [
        "from course_lib.masks import {}\ndef f(): return {}(3)",
        "from course_lib import masks\ndef f(): return masks.{}(3)",
        "import course_lib.masks\ndef f(): return course_lib.masks.{}(3)",
        "def f():\n    from course_lib.masks import {}\n    return {}(3)",
        "def f():\n    from course_lib import masks as m\n    return m.{}(3)",
    ],
)
def test_the_courses_functions_count_however_they_are_imported(notebook, monkeypatch, source):
    masks = importlib.import_module("course_lib.masks")
    source = source.format("causal_mask", "causal_mask")
    before = of(notebook, source)
    assert before == of(notebook, source)
    monkeypatch.setattr(masks, "causal_mask", masks.padding_mask)
    assert before != of(notebook, source)


def test_the_last_definition_counts(notebook):
    assert of(notebook, "def f(): return 1\ndef f(): return 2") == of(notebook, "def f(): return 2")


def test_settings_and_partial_arguments_count():
    assert fingerprint(causal_mask, {"n": 1}) != fingerprint(causal_mask, {"n": 2})
    assert fingerprint(partial(causal_mask, 1)) == fingerprint(partial(causal_mask, 1))
    assert fingerprint(partial(causal_mask, 1)) != fingerprint(partial(causal_mask, 2))
    assert fingerprint(partial(causal_mask, length=1)) != fingerprint(partial(causal_mask, length=2))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (1, "1"), (1, 1.0), (True, 1), (None, "None"), ([1], [[1]]), ([1, 2], [2, 1]), ({1: 2}, {2: 1}),
        (range(3), range(4)), (np.float64(1), np.float64(2)), (torch.ones(2), torch.zeros(2)),
    ],
)  # fmt: skip
def test_different_data_have_different_fingerprints(one, two):
    assert fingerprint(one) != fingerprint(two)


def test_the_order_within_a_set_does_not_count():
    assert fingerprint({"a", "b", "c"}) == fingerprint({"c", "a", "b"})


def test_a_corpus_counts_by_its_sentences(corpus):
    shorter = dataclasses.replace(corpus, train=corpus.train[:-1])
    assert fingerprint(corpus) == fingerprint(dataclasses.replace(corpus)) != fingerprint(shorter)


# ---- what things are called ----


@pytest.fixture
def moved(monkeypatch):
    """The module `masks` as it would be in a folder."""
    spec = importlib.util.spec_from_file_location("course_lib.folder.masks", masks.__file__)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


def test_a_module_may_move_into_a_folder(moved, notebook):
    source = "def f(): return mask(3)"
    assert moved.masked_softmax is not masks.masked_softmax
    assert fingerprint(moved.masked_softmax, moved.causal_mask) == fingerprint(masks.masked_softmax, masks.causal_mask)
    there, here = (fingerprint(notebook(source, mask=module.causal_mask)["f"]) for module in (moved, masks))
    assert there == here


def test_two_definitions_of_one_name_are_an_error(moved):
    with pytest.raises(ValueError, match="masks and course_lib.*masks both define course_lib.masks.causal_mask"):
        fingerprint(masks.causal_mask, moved.causal_mask)


def test_no_two_definitions_of_the_course_have_one_name():
    names = {}
    for module in library.modules():
        for thing in vars(module).values():
            if isinstance(thing, type | types.FunctionType) and thing.__module__ == module.__name__:
                names.setdefault(name_of(thing), set()).add(module.__name__)
    assert len(names) > 300 and [name for name, modules in names.items() if len(modules) > 1] == []


@pytest.mark.parametrize("module", HOW)
def test_how_a_run_is_started_kept_and_shown_does_not_count(notebook, module):
    def prints(source, where):
        helper = notebook(source)["helper"]
        helper.__module__ = f"course_lib.{where}"
        return fingerprint(notebook("def f(): return helper(3)", helper=helper)["f"])

    one, two = "def helper(n): return n", "def helper(n): return n + 1"
    assert prints(one, module) == prints(two, module)


# ---- where the source is ----


@pytest.mark.parametrize("twice", [1, 2])
def test_decorators_of_any_depth_are_looked_through(notebook, twice):
    source = (
        "import functools\ndef d(g):\n    @functools.wraps(g)\n    def inner(*a):\n        return g(*a)\n"
        "    return inner\n" + "@d\n" * twice + "def f(): return {}"
    )
    assert of(notebook, source.format(1)) == of(notebook, "def f(): return 1") != of(notebook, source.format(2))


def test_what_cannot_be_seen_equals_nothing_and_a_warning_says_so():
    names = {"__name__": "__main__"}
    exec("def f(): return 1", names)
    with pytest.warns(UserWarning, match="the source of f cannot be found; define it in a cell or a file"):
        one, two = fingerprint(names["f"]), fingerprint(names["f"])
    assert one != two and one.startswith(UNSEEN) and two.startswith(UNSEEN)


@pytest.mark.slow
def test_everything_of_the_course_has_a_fingerprint():
    # Without the checks and what looks them over: a solution in them may be a lambda, which has no name to be found by.
    aside = tuple(f"course_lib.{part}" for part in ("checks", "grading", "tools", "__main__"))
    modules = [module for module in library.modules() if not module.__name__.startswith(aside)]
    things = [thing for module in modules for thing in vars(module).values()]
    things = [thing for thing in things if inspect.isroutine(thing) or inspect.isclass(thing)]
    assert len(fingerprint(*things)) == 16  # together, so that what many of them use is read once


def test_it_is_the_same_in_every_version_of_python(notebook):
    source = (
        "from typing import NamedTuple\nclass Row(NamedTuple):\n    x: int = 3\n"
        "def f(a, *, w=3):\n    global K\n    rows = [f'{a:>{w}}' f\"{Row(1)!r:5}\" for _ in range(K)]\n"
        "    match rows:\n        case [one]: return one\n    return max(rows, key=lambda row: row[K - 1])\nK = 2"
    )
    assert of(notebook, source) == "a8b9fc1405e47b22"


NOTEBOOK = """
from dataclasses import dataclass
from course_lib import masks, training
from course_lib.recurrent import EncoderDecoder
SIZE = 8
@dataclass
class Settings:
    size: int = SIZE
class Wide(EncoderDecoder):
    extra = SIZE
    def twice(self):
        return super().forward
def build():
    return Wide(10, 10, hidden_size=Settings().size)
def f(seed):
    return training.fit(build, None, epochs=seed)
"""


def test_a_worker_process_finds_the_same_fingerprint(notebook):
    names = notebook(NOTEBOOK)
    things = {name: names[name] for name in ("f", "build", "Wide", "Settings")}
    things |= {"fit": training.fit, "class": EncoderDecoder, "data": [Corpus, Vocabulary, {"a": 1.5}]}
    here = {name: fingerprint(thing) for name, thing in things.items()}
    assert here == side_by_side({name: partial(fingerprint, thing) for name, thing in things.items()})


def test_cells_are_found_as_each_ipython_keeps_them(monkeypatch):
    old, new = (8, 1.7e9, ["x = 1\n"], "/tmp/old.py"), (8, None, ["x = 2\n"], "/tmp/new.py")
    module = (8, 1.7e9, ["x = 3\n"], "/tmp/module.py")
    monkeypatch.setattr(linecache, "cache", {entry[3]: entry for entry in (old, new, module)})
    monkeypatch.setattr(linecache, "_ipython_cache", {"/tmp/old.py": old}, raising=False)  # as IPython 7
    assert notebook_cells() == {"/tmp/old.py": (8, None, ["x = 1\n"], "/tmp/old.py"), "/tmp/new.py": new}
