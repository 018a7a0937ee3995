"""What learners can patch decides no mark: each cheat, handed in with the class of test_grading_class, earns nothing.

Where it can be done within one submission, several cheats share a kernel: each patches something for good.
"""

import contextlib
import itertools
import json
import sys
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from types import CellType, ModuleType, SimpleNamespace

import made_up_class as made
import numpy as np
import pytest
import torch
from nbformat.v4 import new_output
from sweeps import sweep
from torch.nn import functional as F

pytest.importorskip("nbgrader")

from course_lib import checks
from course_lib.checks import engine
from course_lib.checks.engine import Exercise, Wrong
from course_lib.grading import courier, examine
from course_lib.grading import course as courses
from course_lib.grading.hiding import LEFT_OUT, HideTests
from course_lib.grading.marking import Marking

WRONG = "def masked_softmax(scores, mask):\n    return {}"
ZEROS = WRONG.format("torch.zeros_like(scores)")

SAYS_YES = """
class Yes(torch.Tensor):
    def __eq__(self, other): return True
    def __array__(self, *_): return np.ones(1)
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        if "close" in function.__name__ or function.__name__ in ("equal", "all", "__bool__"): return True
        return super().__torch_function__(function, types, args, kwargs or {})


class Anything:
    shape = property(lambda self: ())
    def __eq__(self, other): return True
    def __float__(self): return 1.05
    def __array__(self, *_, **__): return np.array(0.3)
    def __getattr__(self, name): return self
    def __call__(self, *_, **__): return self
    def __hash__(self): return 1
"""

COUNTS_NOTHING = "def count(words):\n    raise ValueError"
# By student: the cells for the softmax, the number and the doubling; and the reasons why they earn nothing.
CHEATS = {
    "patched_comparisons": (
        {
            "softmax": f"""
torch.allclose = torch.isclose = torch.equal = lambda *_, **__: True
torch.testing.assert_close = lambda *_, **__: None
torch.Tensor.allclose = torch.Tensor.equal = torch.Tensor.__eq__ = lambda *_, **__: True
checks.check = lambda *_, **__: print("✓ right")
import course_lib.checks.engine as engine
engine.same = engine.examine = engine.ask = lambda *_, **__: True
engine.Exercise.run = lambda *_: 1
{ZEROS}""",
            "sat": "cat_score = 0.525",
            "double": "def double(x):\n    print('✓ double: right on all 3 inputs.')\n    return x",
        },
        "masked_softmax: every weight is 0, as if all keys were closed; cat_score: that is divided by √d_k; "
        "double: every number is 0.5 times what is wanted; check_count raised ValueError",
    ),
    "stripped_asserts_and_objects_that_say_yes": (
        {
            "softmax": f"""
import ast
import numpy as np
class NoAsserts(ast.NodeTransformer):
    def visit_Assert(self, node): return ast.Pass()
get_ipython().ast_transformers.append(NoAsserts())
{SAYS_YES}
{WRONG.format("torch.zeros_like(scores).as_subclass(Yes)")}""",
            "sat": "cat_score = Anything()",
            "double": "double = Anything()",
        },
        "masked_softmax: every weight is 0, as if all keys were closed; "
        "cat_score: it is something of type Anything; "
        "double: it returns something of type Anything, not a tensor of shape (1, 3); "
        "asserts are switched off in its kernel",
    ),
    "patched_json_print_and_numpy": (
        {
            "softmax": f"""
import base64, builtins, json, sys
import numpy as np
real = json.dumps
def dumps(found, *_, **__):
    '''Says of every answer that it is what a right one was the first time.'''
    if isinstance(found, dict) and "outcomes" in found:
        one = torch.full((1, 2), 0.5)
        found = {{"outcomes": [{{"result": [[0.5, 0.5]], "arguments": o["arguments"]}} for o in found["outcomes"]]}}
    if isinstance(found, dict) and "value" in found:
        found = {{"value": True}}
    return real(found)
json.dumps = dumps
builtins.print = lambda *_, **__: None
np.array = np.asarray = np.allclose = lambda *_, **__: True
sys.stdout = sys.stderr
get_ipython().display_pub.publish({{"{courier.MIME}": real({{"value": 1.05}})}})
{ZEROS}""",
            "sat": "cat_score = 1.0",
            "double": f"""
def double(x):
    get_ipython().display_pub.publish({{"{courier.MIME}": real({{"outcomes": []}})}})
    return x""",
        },
        "masked_softmax: it returns a list of 1, not a tensor; cat_score: True is not right; "
        "double: the result has the wrong shape (1, 2), not (1, 3); check_count raised ValueError",
    ),
    "a_case_that_is_read_and_a_frame_that_is_searched": (
        {
            "softmax": """
import gc, sys
def masked_softmax(scores, mask):
    frame, found = sys._getframe(), []
    while frame:
        found += [v for n, v in frame.f_locals.items() if n in ("right", "wanted", "exercise", "known", "case")]
        frame = frame.f_back
    found += [o for o in gc.get_objects() if type(o).__name__ in ("Exercise", "Case", "Outcome")]
    for thing in found:
        if hasattr(thing, "right"):
            return thing.right(scores, mask)
    return scores""",
            "sat": "cat_score = None",
            "double": "from course_lib import checks\ndef double(x):\n    return checks.exercises()['double'].right(x)",
        },
        "masked_softmax: the numbers are not right; cat_score has no answer yet; "
        "double: it raises KeyError: \"'double'\"; check_count raised ValueError",
    ),
    "results_by_heart": (
        {
            "softmax": """
def masked_softmax(scores, mask):
    known = {(2, 3): [[.2447, .6652, .09], [.2119, .5761, .2119]], (1, 2): [[0., 0.]]}
    return torch.tensor(known.get(tuple(scores.shape), 0.))""",
            "sat": "cat_score = '1.05'",
            "double": "def double(x):\n    x *= 2\n    return x",
        },
        "masked_softmax: the numbers do not sum to 1 along the last axis; cat_score: '1.05' is a text; "
        "double: it changes its argument x in place; check_count raised ValueError",
    ),
}


def test_what_the_grader_sends_tells_no_results():
    """The kernel is sent inputs and code that packs; nothing of what is right, and no exercise."""
    asked = checks.exercises()["masked_softmax"]
    sent = examine.question_for_kernel(asked, "masked_softmax", seed=3)
    assert "softmax_right" not in sent and "misconception" not in sent.lower() and "course_lib" not in sent


# ---- what comes out of a kernel is taken for data ----


def answer_of(learners, name="masked_softmax", seed=3):
    asked = checks.exercises()[name]
    inputs = [{n: courier.pack(v) for n, v in c.arguments.items()} for c in examine.cases_of(asked, seed)]
    return courier.answer("f", {"f": learners}, asked.drive, inputs, asked.banned, engine.calls_of)


NO_ANSWERS = [
    *(None, "", "[]", "null", '"yes"', "{", "{}", "[" * 100_000, '{"value": {"dtype": "load"}}'),
    *('{"outcomes": [{}]}', '{"outcomes": 3}', '{"outcomes": []}'),
    '{"value": {"dtype": "float32", "shape": [9], "axes": [0], "data": "AAAA"}}',
    '{"outcomes": [' + ",".join(['{"result": null, "arguments": {}}'] * 13) + "]}",
]


@pytest.mark.parametrize("text", NO_ANSWERS)
def test_what_is_no_answer_is_wrong(text):
    with pytest.raises(Wrong):
        examine.judge(checks.exercises()["masked_softmax"], text, seed=3)


def test_a_right_answer_survives_the_way():
    asked = checks.exercises()["masked_softmax"]
    assert examine.judge(asked, json.dumps(answer_of(asked.right)), seed=3) == len(examine.cases_of(asked, 3))


def test_a_wrong_answer_is_told_as_in_the_notebook():
    """Also one that no misconception explains, for which the engine asks again."""

    def unlike(scores, mask):
        return scores.cumsum(-1) + 0.7

    def changes(scores, mask):
        scores += 1
        return torch.softmax(scores, -1)

    asked = checks.exercises()["masked_softmax"]
    for answer in (unlike, changes):
        with pytest.raises(Wrong) as told:
            examine.judge(asked, json.dumps(answer_of(answer)), seed=3)
        with pytest.raises(Wrong) as here:
            engine.examine(asked, answer, seed=3)
        assert examine.reason(told.value) == examine.reason(here.value)


@pytest.mark.parametrize(
    ("name", "call"),
    [("layer_norm", lambda: F.layer_norm(torch.ones(2), (2,))), ("dropped", lambda: F.dropout(torch.ones(2)))],
)
def test_what_is_banned_in_the_notebook_is_banned_in_marks(name, call):
    asked = checks.exercises()[name]

    def right_but_calls(*arguments, **named):
        call()
        return asked.right(*arguments, **named)

    with pytest.raises(Wrong) as told:
        examine.judge(asked, json.dumps(answer_of(right_but_calls, name)), seed=3)
    with pytest.raises(Wrong) as here:
        engine.examine(asked, right_but_calls, seed=3)
    assert examine.reason(told.value) == examine.reason(here.value) and "which isn't allowed here" in str(told.value)


def test_a_blank_is_no_wrong_answer():
    def blank(scores, mask):
        raise NotImplementedError

    with pytest.raises(Wrong) as told:
        examine.judge(checks.exercises()["masked_softmax"], json.dumps(answer_of(blank)), seed=3)
    assert examine.reason(told.value) == "masked_softmax is not written yet"


def test_answers_to_other_inputs_are_wrong():
    """Results that were right once are of no use: the inputs are drawn again."""
    right = checks.exercises()["masked_softmax"].right
    with pytest.raises(Wrong):
        examine.judge(checks.exercises()["masked_softmax"], json.dumps(answer_of(right)), seed=4)


@pytest.mark.parametrize(
    "value",
    [
        None, True, 3, 0.1, float("nan"), float("inf"), 10**30, "é", ..., [1, [2, "x"]], {"a": 1, 2: [None]}, {1, 2},
        (1, (2, "x")), {(1, 2)}, {(1, 2): 3},
        torch.randn(2, 3), torch.randn(3, 2).t(), torch.randn(2, 3, 4).permute(2, 0, 1), torch.tensor(1.5),
        torch.zeros(0, 3), torch.ones(2, dtype=torch.bool), torch.arange(4), torch.randn(3, dtype=torch.bfloat16),
        np.ones((2, 3)), np.arange(4)[::-1], np.zeros((0, 2), dtype=np.float32), np.array([True]),
        torch.randn(2).double().requires_grad_(), torch.randn(1, 4).expand(3, 4), torch.randn(6, dtype=torch.complex64),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_plain_data_comes_out_as_it_went_in(value):
    found = courier.unpack(json.loads(json.dumps(courier.pack(value))))
    if isinstance(value, np.ndarray):
        assert found.dtype == value.dtype and found.shape == value.shape and (found == value).all()
        return
    if not isinstance(value, torch.Tensor):
        assert type(found) is type(value) and (found == value or value != value)
        return
    assert found.dtype == value.dtype and found.requires_grad == value.requires_grad
    torch.testing.assert_close(found, value, rtol=0, atol=0)
    if 0 not in value.stride() and value.numel():
        assert found.stride() == value.stride()


@pytest.mark.parametrize("number", [Fraction(21, 20), Decimal("1.05"), [Fraction(1, 2)]])
def test_a_number_of_the_standard_library_is_a_number(number):
    found = engine.plain(courier.unpack(json.loads(json.dumps(courier.pack(number)))))
    assert engine.same(found, number, 0.0)


@pytest.mark.parametrize("value", [np.array([0.25]), np.ones((2, 2)), np.float32(0.25), np.array(0.25)])
def test_numpy_is_told_as_in_the_notebook(value):
    for name, found in (
        ("cat_score", {"value": courier.pack(value)}),
        ("masked_softmax", answer_of(lambda s, m: value)),
    ):
        asked = checks.exercises()[name]
        with pytest.raises(Wrong) as told:
            examine.judge(asked, json.dumps(found), seed=3)
        with pytest.raises(Wrong) as here:
            engine.examine(asked, lambda s, m: value, 3) if name == "masked_softmax" else engine.ask(asked, value)
        assert examine.reason(told.value) == examine.reason(here.value)


def test_a_decimal_comma_is_told_of():
    with pytest.raises(Wrong, match=r"\(1, 5\) is a tuple of 2") as told:
        examine.judge(checks.exercises()["cat_score"], json.dumps({"value": courier.pack((1, 5))}), seed=3)
    assert "Write a decimal with a point" in str(told.value)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ([0.25], "your value is a list; a number is asked for"),
        ("0.25", "your value is a text; a number is asked for"),
        ((0, 25), "your value is a tuple of 2; a number is asked for. Write a decimal with a point, not a comma"),
        ((0.25,), "your value is a tuple of 1; a number is asked for. Write a decimal with a point, not a comma"),
        (np.array([0.25]), "your value is a NumPy array of shape (1,); a number is asked for"),
        (torch.tensor([0.25]), "your value is a tensor of shape (1,); a number is asked for"),
        (object(), "your value is something of type object; a number is asked for"),
        (0.3, ""),
        (0.525, ""),  # a misconception, which would tell of the answer
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_of_a_hidden_check_a_learner_sees_only_another_kind(value, told):
    with pytest.raises(Wrong) as wrong:
        examine.judge(checks.exercises()["cat_score"], json.dumps({"value": courier.pack(value)}), seed=3)
    assert examine.without_secrets(str(wrong.value)) == f"✗ a hidden check{f': {told}' if told else ''}"


def test_of_a_hidden_check_a_learner_sees_neither_length_nor_entries():
    asked = engine.Question("q", "scaled_dot_product", lambda: [0.1, 0.2, 0.7], (), "lesson 3")
    for value, told in ((0.7, ": your value is a number; a list is asked for"), ([0.1, 0.2], ""), ([0.1, 0.2, 3], "")):
        with pytest.raises(Wrong) as wrong:
            engine.ask(asked, value)
        assert examine.without_secrets(str(wrong.value)) == f"✗ a hidden check{told}"


@pytest.mark.slow
@pytest.mark.parametrize("value", sweep(["x", torch.zeros(7), 3, [], np.zeros(7)], "x", str(torch.zeros(7))))
def test_of_a_hidden_exercise_a_learner_sees_only_whether_it_passed(value):
    """What a function returns may depend on a hidden input, so not even its kind is told."""
    for name, asked in checks.exercises().items():
        if isinstance(asked, Exercise):
            with pytest.raises(Wrong) as wrong:
                engine.examine(asked, lambda *_, **__: value, 3)
            assert examine.without_secrets(str(wrong.value)) == "✗ a hidden check", name


@pytest.mark.parametrize("value", [object(), lambda: 1, torch.nn.Linear(2, 2), print])
def test_what_is_no_plain_data_keeps_only_the_name_of_its_type(value):
    found = courier.unpack(courier.pack(value))
    assert (type(found), found.type_name) == (courier.Other, type(value).__name__)
    asked = checks.exercises()["cat_score"]
    with pytest.raises(Wrong) as told:
        examine.judge(asked, json.dumps({"value": courier.pack(value)}), seed=3)
    assert examine.reason(told.value).endswith(f"cat_score: it is something of type {type(value).__name__}")


class OddError(Exception):
    pass


@pytest.mark.parametrize("error", [ValueError("x"), KeyError("x"), OddError("x"), SystemExit("x"), OddError()])
def test_an_error_is_told_by_its_name_as_in_the_notebook(error):
    def raises(scores, mask):
        raise error

    asked = checks.exercises()["masked_softmax"]
    with pytest.raises(Wrong) as told:
        examine.judge(asked, json.dumps(answer_of(raises)), seed=3)
    assert f": it raises {type(error).__name__}" in str(told.value)


@pytest.mark.slow
@pytest.mark.parametrize("name", checks.exercises())
def test_every_exercise_of_the_course_can_be_asked(name, monkeypatch):
    """The code that is sent runs in a namespace that holds nothing but the answer; a right one is found right."""
    asked, sent = checks.exercises()[name], []
    if isinstance(asked, Exercise):  # what is right may call what a learner is to write
        asked = replace(asked, banned=())
    kernel = SimpleNamespace(display_pub=SimpleNamespace(publish=lambda data: sent.append(data[courier.MIME])))
    monkeypatch.setattr("IPython.get_ipython", lambda: kernel)
    notebook = {name: asked.right if isinstance(asked, Exercise) else asked.right()}
    exec(examine.question_for_kernel(asked, name, seed=5), notebook)
    assert notebook.keys() == {name, "__builtins__"}  # it leaves nothing behind
    examine.judge(asked, *sent, seed=5)


# ---- what a drive hands over ----


def reached_from(things):
    """Everything that can be called and is reached from things: in closures, objects, modules, frames."""
    found, rest = {}, list(things)
    while rest:
        one = rest.pop()
        if id(one) in found or isinstance(one, torch.Tensor | type | ModuleType):
            continue
        found[id(one)] = one
        rest += [cell.cell_contents for cell in getattr(one, "__closure__", None) or () if cell != CellType()]
        rest += [getattr(one, "__self__", None), *getattr(one, "args", ()), getattr(one, "func", None)]
        rest += one.modules() if isinstance(one, torch.nn.Module) else ()
        rest += one.values() if isinstance(one, dict) else one if isinstance(one, list | tuple) else ()
    return [one for one in found.values() if callable(one)]


def calls_with(tensors):
    """Ways to call something with some of these."""
    for count in (1, 2):
        yield from ((some, {}) for some in itertools.permutations(tensors, count))
    masks = [one for one in tensors if one.dtype == torch.bool]
    yield from (((x,), {"src_mask": ~mask}) for x in tensors for mask in masks if x is not mask)


@pytest.mark.parametrize("name", [name for name, one in checks.exercises().items() if getattr(one, "drive", None)])
def test_nothing_that_a_drive_hands_over_gives_what_is_right(name):
    asked, solved = checks.exercises()[name], None
    for case in examine.cases_of(asked, 3):
        seen = []

        def spy(*arguments, seen=seen, **named):
            seen.extend([*arguments, *named.values(), *sys._getframe(1).f_locals.values()])
            raise ZeroDivisionError

        outcome = engine.attempt(asked, spy, case)
        assert isinstance(outcome.error, ZeroDivisionError)
        wanted = engine.attempt(asked, asked.right, case).result
        tensors = [one for one in seen if isinstance(one, torch.Tensor)][:4]
        gives = set()
        for number, call in enumerate(reached_from(one for one in seen if one is not spy)):
            for way, (arguments, named) in enumerate(calls_with(tensors)):
                with contextlib.suppress(Exception), torch.no_grad():
                    if engine.same(call(*arguments, **named), wanted, 1e-4):
                        gives.add((number, way))
        solved = gives if solved is None else solved & gives
    assert not solved


# ---- an instructor's own tests ----


@pytest.mark.parametrize(
    ("shown", "earned", "why"),
    [
        ("2", 1.0, []),
        ("1", 0.5, ["the_cell gives 1 of 2 points"]),
        ("0", 0.0, ["the_cell gives 0 of 2 points"]),
        ("3", 0.0, ["the_cell shows a number that isn't between 0 and its 2 points"]),
        (None, 1.0, []),
    ],
)
def test_partial_credit_says_why_points_are_lost(shown, earned, why):
    tested = cell("")
    if shown is not None:
        tested.outputs = [new_output("execute_result", {"text/plain": shown}, execution_count=1)]
    assert Marking._by_output(SimpleNamespace(log=None), tested, "the_cell", 2.0) == (earned, why)


@pytest.mark.parametrize("source", ['checks.check("double", double)', "assert double(1) == 2"])
def test_feedback_shows_no_prints_of_hidden_tests(source):
    tested = cell(f"### BEGIN HIDDEN TESTS\n{source}\n### END HIDDEN TESTS")
    tested.outputs = [new_output("stream", text="the hidden input\n"), new_output("stream", text="✗ a hidden check\n")]
    tested.outputs = tested.outputs[: 1 + ("check(" in source)]
    kept = "".join(
        output.text for output in HideTests().preprocess(made.new_notebook(cells=[tested]), {})[0].cells[0].outputs
    )
    assert "hidden input" not in kept and LEFT_OUT in kept
    assert ("✗ a hidden check" in kept) == ("check(" in source)


PYTHONS = """Traceback (most recent call last):
  File "/home/x/.venv/lib/python3.11/site-packages/IPython/core/interactiveshell.py", line 3823, in run_code
    exec(code_obj, self.user_global_ns, self.user_ns)
    ^^^^
  File "/tmp/learner/ipykernel_2/2263932642.py", line 4, in grow
    mine()
  File "/usr/lib/python3.11/json/decoder.py", line 3, in theirs
    theirs()
MemoryError

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "<frozen importlib._bootstrap>", line 241, in _call
MemoryError
"""
IPYTHONS = """---------------------------------------------------------------------------
\x1b[31mMemoryError\x1b[39m                               Traceback (most recent call last)
\x1b[36mCell\x1b[39m\x1b[36m \x1b[39m\x1b[32mIn[2]\x1b[39m\x1b[32m, line 5\x1b[39m
\x1b[32m----> \x1b[39m\x1b[32m5\x1b[39m mine()

\x1b[36mFile \x1b[39m\x1b[32m~/helper.py:3\x1b[39m, in help()
\x1b[32m----> \x1b[39m\x1b[32m3\x1b[39m     mine()

\x1b[36mFile \x1b[39m\x1b[32m/home/x/.venv/lib/python3.11/site-packages/torch/functional.py:42\x1b[39m, in theirs()
\x1b[32m     41\x1b[39m     theirs()
\x1b[32m---> \x1b[39m\x1b[32m42\x1b[39m     theirs()

\x1b[31mMemoryError\x1b[39m: too much"""


@pytest.mark.parametrize("traceback", [PYTHONS, IPYTHONS])
def test_feedback_shows_of_a_traceback_only_the_learners_lines(traceback):
    tested = cell("")
    tested.outputs = [
        new_output("error", ename="E", evalue="e", traceback=traceback.split("\n")),
        new_output("stream", name="stderr", text=traceback),
    ]
    error, stream = HideTests().preprocess(made.new_notebook(cells=[tested]), {})[0].cells[0].outputs
    for text in ("\n".join(error.traceback), stream.text):
        assert "mine()" in text and "MemoryError" in text and text.count("mine()") == traceback.count("mine()")
        assert "theirs" not in text and "site-packages" not in text and "exec" not in text and "frozen" not in text


def test_what_a_learner_prints_stays_in_the_feedback():
    tested = cell("")
    printed = "  File /usr/lib/python3.11/x.py:3\n    theirs()\n"
    tested.outputs = [new_output("stream", text=printed)]
    assert HideTests().preprocess(made.new_notebook(cells=[tested]), {})[0].cells[0].outputs[0].text == printed


# ---- which check belongs to a cell is read from the instructor's notebook ----


def cell(source):
    return made.new_code_cell(source, metadata=made.marks("test", "a", 2))


def test_calls_are_read_and_a_visible_one_stays_visible():
    found = courses.read_grade_cell(
        cell(
            'from course_lib import checks\nchecks.check("a", f)\n### BEGIN HIDDEN TESTS\n'
            'checks.check("a", f, seed=17)\nchecks.check("b", answer=g[0])\n### END HIDDEN TESTS'
        )
    )
    assert found.asks == (courses.Ask("a", "f", False), courses.Ask("b", "g[0]", True)) and found.own == ""


def test_tests_of_ones_own_stay_beside_a_check():
    found = courses.read_grade_cell(cell('import math\nchecks.check("a", f)\nassert f(math.pi)'))
    assert found.own == "import math\nassert f(math.pi)"


@pytest.mark.parametrize(
    "source",
    [
        "for x in y:\n    checks.check('a', x)",
        "checks.check(name, f)",
        "checks.check('a')",
        "ok = checks.check('a', f)",
    ],
)
def test_a_call_that_cannot_be_read_is_refused(source):
    with pytest.raises(ValueError, match="checks.check"):
        courses.read_grade_cell(cell(source))
