"""What a learner's code binds, takes from elsewhere and leaves blank is read without running it."""

import pytest

pytest.importorskip("nbgrader")

from course_lib.grading.reading import LARGEST, Code, read


@pytest.mark.parametrize(
    "source",
    [
        *("f = 1", "f: float = 1", "x = f = 1", "x, *f = 1, 2", "if x:\n    f = 1", "for f in x: pass", "(f := 1)"),
        *("def f(): return 1", "async def f(): return 1", "class f: x = 1", "import f", "import x as f", "f += 1"),
        *("from x import f", "from x import y as f", "with x as f: y", "def g():\n    global f\n    f = 1", "f[0] = 1"),
        *("%%time\nf = 1", "!pip install x\nf = 1", "f = (5\n     % 3)", "f.forward = x"),
    ],
)
def test_a_name_is_bound(source):
    assert "f" in read(source).bound and read(source).is_python


@pytest.mark.parametrize(
    "source",
    [
        *("f(1)", "print(f)", "# f = 1", "'f = 1'", "f == 1", "x(f=1)", "def g(f): f = 1", "lambda f: f", "x.f = 1"),
        *("def g():\n    f = 1", "[f for f in x]", "x[f] = 1"),
    ],
)
def test_a_name_is_not_bound(source):
    assert "f" not in read(source).bound


def test_what_is_used_comes_from_other_cells():
    code = read("import torch\ndef f(x):\n    y = twice(x)\n    return torch.sum(y) + len(rest)")
    assert (code.bound, code.used, code.imported) == ({"torch", "f"}, {"twice", "rest"}, {"torch"})


BODIES = [
    "pass",
    "...",
    "return",
    "return None",
    "return ...",
    "'It doubles.'",
    "'It doubles.'\n    pass",
    "# x\n    pass",
]


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("head", ["def f(x):", "async def f(x):", "@torch.no_grad()\ndef f(x):"])
def test_a_function_that_does_nothing_is_blank(head, body):
    assert read(f"{head}\n    {body}").blank == {"f"}


@pytest.mark.parametrize(
    "source",
    [
        *(
            "f = None",
            "f = ...",
            "f: float",
            "f: float = None",
            "f = lambda x: None",
            "class f: pass",
            "f = 1\nf = None",
        ),
        *("class f:\n    def __init__(self): self.x = 1\n    def forward(self, x): pass", "class f:\n    'Doubles.'"),
    ],
)
def test_any_other_blank_is_one(source):
    assert read(source).blank == {"f"}


@pytest.mark.parametrize(
    "source",
    [
        *(
            "def f(x): return x",
            "def f(x):\n    y = x",
            "def f(x):\n    pass\nf = double",
            "f = 0",
            "f = False",
            "f = ''",
        ),
        *("def f(x):\n    pass\nfrom x import f", "class f: x = 1", "def f(x):\n    pass\nfor f in x: y"),
        "class f:\n    def a(self): pass\n    def b(self): return 1",
    ],
)
def test_an_answer_is_not_blank(source):
    assert not read(source).blank


@pytest.mark.parametrize(
    "source", ["(", "They become equal.", "'''", "\0", "-" * LARGEST, "x" + ".a" * 9_000, "\ud800"]
)
def test_what_python_cannot_read_binds_nothing(source):
    assert read(source) == Code(is_python=False)


def test_every_name_of_a_cell_that_is_too_long_counts_as_bound():
    code = read("f = 1\nx = [" + "1," * LARGEST + "]")
    assert code.bound == {"f", "x"} and not code.is_python
