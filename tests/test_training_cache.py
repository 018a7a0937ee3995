"""The cache returns a trained model for the same code and settings only, whatever holds the settings."""

import importlib
import itertools
import linecache
import sys

import pytest
import torch

from course_lib.training import train

CELL = """
import collections, dataclasses, decimal, enum, fractions, functools, io, operator, re, threading, types
import torch
from functools import partial
from torch import nn
def error(model, batch):
    return (model(batch) - 1).square().mean()
def batches(generator):
    yield torch.ones(2, 1)
def build():
    return nn.Linear(1, 1)
Row = collections.namedtuple("Row", "size")
@dataclasses.dataclass
class Fields:
    size: int
class Slots:
    __slots__ = "size", "__hidden"
    def __init__(self, size):
        self.size, self.__hidden = 0, size
    def hidden(self):
        return self.__hidden
class Plain:
    def __init__(self, size):
        self.size = size
class Listed(list):
    pass
class Counted(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size, self.itself = size, [self]
"""
# An object that holds the number V, and how it is read.
HELD = {
    "itself": ("V", "x"),
    "a string": ("str(V)", "int(x)"),
    "bytes": ("bytes([V])", "x[0]"),
    "a list": ("[0, [V]]", "x[1][0]"),
    "a dict": ("{'a': V}", "x['a']"),
    "a set": ("{V}", "min(x)"),
    "a range": ("range(V)", "len(x)"),
    "a complex number": ("complex(0, V)", "x.imag"),
    "a fraction": ("fractions.Fraction(V, 7)", "float(x)"),
    "a decimal": ("decimal.Decimal(V)", "float(x)"),
    "a slice": ("slice(V)", "x.stop"),
    "a bytearray": ("bytearray([V])", "x[0]"),
    "a deque": ("collections.deque([V])", "x[0]"),
    "an ordered dict": ("collections.OrderedDict(a=V)", "x['a']"),
    "a default dict": ("collections.defaultdict(partial(int, V))", "x['a']"),
    "a named tuple": ("Row(V)", "x.size"),
    "a dataclass": ("Fields(V)", "x.size"),
    "an object": ("Plain(Plain(V))", "x.size.size"),
    "a slot": ("Slots(V)", "x.hidden()"),
    "a namespace": ("types.SimpleNamespace(a=V)", "x.a"),
    "a list of your own": ("Listed([V])", "x[0]"),
    "a module": ("Counted(V)", "x.size"),
    "a layer's weight": ("nn.Parameter(torch.tensor([float(V)]), requires_grad=False)", "x"),
    "a layer": ("nn.Linear(V, 1)", "x.in_features"),
    "a recurrent layer": ("nn.GRU(1, V)", "x.hidden_size"),
    "a tensor": ("torch.tensor([float(V)])", "x"),
    "a tensor's type": ("torch.zeros(1, dtype=(torch.float16, torch.float64)[V - 1])", "x.element_size()"),
    "a type of numbers": ("(torch.float16, torch.float64)[V - 1]", "x.itemsize"),
    "what learns": ("torch.zeros(1, requires_grad=V == 2)", "(1 + x.requires_grad)"),
    "an enum": ("enum.Enum('Sizes', 'one two')(V)", "x.value"),
    "a pattern": ("re.compile('a' * V)", "len(x.pattern)"),
    "a partial": ("partial(max, V)", "x(0)"),
    "a getter": ("operator.itemgetter(V)", "x([0, 1, 2])"),
    "a method": ("Slots(V).hidden", "x()"),
    "a dict's method": ("{'a': V}.get", "x('a')"),
    "a function": ("(lambda y: lambda: y)(V)", "x()"),
    "a function of your own": ("(min, max)[V - 1]", "x(1, 2)"),
    "one of two functions": ("[(lambda y: lambda: y)(each) for each in (5, V)]", "x[1]()"),
    "an iterator": ("iter([V] * 9)", "next(x)"),
}
# The ways from a loss to such an object.
REACHED = {
    "a global": "x = MADE\ndef loss(model, batch): return READ * error(model, batch)",
    "a closure": (
        "def make(x):\n    def loss(model, batch): return READ * error(model, batch)\n    return loss\n"
        "loss = make(MADE)"
    ),
    "a default": "def loss(model, batch, x=MADE): return READ * error(model, batch)",
    "a keyword's default": "def loss(model, batch, *, x=MADE): return READ * error(model, batch)",
    "a lambda's default": "loss = lambda model, batch, x=MADE: READ * error(model, batch)",
    "a lambda's closure": "loss = (lambda x: lambda model, batch: READ * error(model, batch))(MADE)",
    "a lambda's global": "x, loss = MADE, lambda model, batch: READ * error(model, batch)",
    "a function's attribute": (
        "def loss(model, batch):\n    x = loss.x\n    return READ * error(model, batch)\nloss.x = MADE"
    ),
    "an attribute": (
        "class A:\n    def __init__(self, x): self.x = x\n    def loss(self, model, batch):\n        x = self.x\n"
        "        return READ * error(model, batch)\nloss = A(MADE).loss"
    ),
    "a class attribute": (
        "class A:\n    def loss(self, model, batch):\n        x = self.x\n        return READ * error(model, batch)\n"
        "A.x = MADE\nloss = A().loss"
    ),
    "a base's attribute": (
        "class B: x = MADE\nclass A(B):\n    @classmethod\n    def loss(cls, model, batch):\n        x = cls.x\n"
        "        return READ * error(model, batch)\nloss = A.loss"
    ),
    "a slot": (
        "class A:\n    __slots__ = ('__x',)\n    def __init__(self, x): self.__x = x\n"
        "    def __call__(self, model, batch):\n        x = self.__x\n        return READ * error(model, batch)\n"
        "loss = A(MADE)"
    ),
    "a layer": (
        "class A(nn.Module):\n    def __init__(self, x):\n        super().__init__()\n        self.x = x\n"
        "    def forward(self, model, batch):\n        x = self.x\n        return READ * error(model, batch)\n"
        "loss = A(MADE)"
    ),
    "a partial": "def scaled(model, batch, x): return READ * error(model, batch)\nloss = partial(scaled, x=MADE)",
    "a partial of a method": (
        "class A:\n    def loss(self, x, model, batch): return READ * error(model, batch)\n"
        "loss = partial(A().loss, MADE)"
    ),
    "what is filled later": (
        "x = []\ndef make(x):\n    def loss(model, batch):\n"
        "        return (lambda x: READ)(x[0]) * error(model, batch)\n    return loss\nloss = make(x)\nx.append(MADE)"
    ),
    "a method put in later": (
        "class A:\n    def loss(self, model, batch): return 3\ndef other(self, model, batch, x=MADE):\n"
        "    return READ * error(model, batch)\nA.loss = other\nloss = A().loss"
    ),
}
# What is written with the number in it.
SPELLED = {
    "in a function": "def loss(model, batch): return V * error(model, batch)",
    "in a method": "class A:\n    def loss(self, model, batch): return V * error(model, batch)\nloss = A().loss",
    "in a callable object": (
        "class A:\n    def __call__(self, model, batch): return V * error(model, batch)\nloss = A()"
    ),
    "in a lambda": "loss = lambda model, batch: V * error(model, batch)",
    "in a lambda in a lambda": "loss = (lambda: lambda model, batch: V * error(model, batch))()",
    "in one of two lambdas": (
        "loss = (lambda model, batch: 1 * error(model, batch), lambda model, batch: 2 * error(model, batch))[V - 1]"
    ),
    "in one of two functions of a name": (
        "def make(size):\n    if size == 1:\n        def loss(model, batch): return 1 * error(model, batch)\n"
        "    else:\n        def loss(model, batch): return 2 * error(model, batch)\n    return loss\nloss = make(V)"
    ),
    "in a property": (
        "class A:\n    @property\n    def size(self): return V\n    def loss(self, model, batch):\n"
        "        return self.size * error(model, batch)\nloss = A().loss"
    ),
    "in what a cached property asks": (
        "SIZE = V\nclass A:\n    @functools.cached_property\n    def size(self): return SIZE\n"
        "    def loss(self, model, batch): return self.size * error(model, batch)\nloss = A().loss"
    ),
    "in a class of an older cell": (
        "class A:\n    def size(self): return V\na = A()\nclass A(A):\n    def loss(self, model, batch):\n"
        "        return a.size() * error(model, batch)\nloss = A().loss"
    ),
    "in an object that is changed by the training": (
        "class A:\n    sizes = [V]\n    def loss(self, model, batch): return self.size * error(model, batch)\n"
        "    def build(self):\n        self.size = self.sizes.pop()\n        return nn.Linear(1, 1)\n"
        "a = A()\nbuild, loss = a.build, a.loss"
    ),
}
UNSEEN = {
    "a generator": ("(V for _ in range(9))", "next(x)"),
    "an open file": ("open(__import__('os').devnull)", "V * (1 + len(x.read()))"),
    "a lock": ("Plain([threading.Lock(), V])", "x.size[1]"),
    "a view": ("memoryview(bytearray([V]))", "x[0]"),
}


@pytest.fixture(autouse=True)
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path))
    return tmp_path


@pytest.fixture
def trained(notebook, monkeypatch):
    """The history of a cell's training, and whether it was trained rather than read."""
    steps, step = [], torch.optim.Adam.step
    monkeypatch.setattr(torch.optim.Adam, "step", lambda self, *given: steps.append(step(self, *given)))

    def run(source, value):
        names = notebook(CELL)
        notebook(source.replace("V", str(value)))
        steps.clear()
        torch.manual_seed(0)
        _, history = train(names["build"], names["batches"], names["loss"], steps=2, learning_rate=0.1)
        return history.loss, bool(steps)

    return run


def reached(way, held):
    made, read = held
    return REACHED[way].replace("MADE", made).replace("READ", read)


def is_told_apart(trained, source):
    (one, _), (two, anew), (again, trained_again) = (trained(source, value) for value in (1, 2, 1))
    assert anew and one != two
    assert again == one and not trained_again


@pytest.mark.parametrize("held", HELD)
def test_a_setting_counts_whatever_holds_it(trained, held):
    is_told_apart(trained, reached("a closure", HELD[held]))


@pytest.mark.parametrize("way", REACHED)
def test_a_setting_counts_wherever_it_is(trained, way):
    is_told_apart(trained, reached(way, HELD["a slot"]))


@pytest.mark.large
@pytest.mark.parametrize(
    ("way", "held"),
    [pair for pair in itertools.product(REACHED, HELD) if pair != ("a class attribute", "a function")],  # is a method
)
def test_a_setting_counts_wherever_it_is_and_whatever_holds_it(trained, way, held):
    is_told_apart(trained, reached(way, HELD[held]))


@pytest.mark.parametrize("place", SPELLED)
def test_code_counts_wherever_it_is(trained, place):
    is_told_apart(trained, SPELLED[place])


@pytest.mark.slow
@pytest.mark.parametrize("way", REACHED)
@pytest.mark.parametrize("held", UNSEEN)
def test_what_cannot_be_looked_into_is_trained_anew_with_a_warning(trained, way, held, empty_cache):
    for value in (1, 2, 1):
        with pytest.warns(UserWarning, match="one .* cannot be told from another.* nothing made with it is read"):
            loss, anew = trained(reached(way, UNSEEN[held]), value)
        assert anew and len(loss) == 2
    assert list(empty_cache.iterdir()) == []


def test_two_lambdas_on_one_line_that_cannot_be_told_apart_are_trained_anew(trained, notebook):
    source = "loss = [lambda m, b: error(m, b), lambda m, b: error(m, b)][0]\n"
    source += "loss.__code__ = loss.__code__.replace(co_linetable=b'')"
    with pytest.warns(UserWarning, match="several lambdas .*; give each a line of its own"):
        assert trained(source, 1)[1]


def test_a_file_of_your_own_counts_like_a_cell(tmp_path, monkeypatch):
    """It is imported again for each number, as by a kernel that was restarted."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    losses = []
    for value in (1, 2):
        (tmp_path / "a_file_of_mine.py").write_text(CELL + SPELLED["in a method"].replace("V", str(value)), "utf-8")
        linecache.clearcache()
        monkeypatch.delitem(sys.modules, "a_file_of_mine", raising=False)
        mine = importlib.import_module("a_file_of_mine")
        losses.append(train(mine.build, mine.batches, mine.loss, steps=2, learning_rate=0.1)[1].loss)
    monkeypatch.delitem(sys.modules, "a_file_of_mine")
    assert losses[0] != losses[1]
