"""Whatever a kernel, a notebook or a file says: it costs its author what it spoils, and nobody else anything."""

import base64
import copy
import dataclasses
import json
import math
import random
from functools import cache
from types import SimpleNamespace

import made_up_class as made
import nbformat
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("nbgrader")

from course_lib import checks
from course_lib.checks import engine
from course_lib.checks.engine import BrokenCheckError, Exercise, Wrong
from course_lib.grading import courier, examine
from course_lib.grading import grade as grading
from course_lib.grading.report import reasons, table, write_feedback

SEED = 5

# ---- answers: what comes out of a kernel is judged, or wrong ----


@cache
def right_answer(name):
    """What a kernel sends that has the right answer to an exercise."""
    asked, sent = checks.exercises()[name], []
    with pytest.MonkeyPatch.context() as patch:
        kernel = SimpleNamespace(display_pub=SimpleNamespace(publish=lambda data: sent.append(data[courier.MIME])))
        patch.setattr("IPython.get_ipython", lambda: kernel)
        notebook = {name: asked.right if isinstance(asked, Exercise) else asked.right()}
        exec(examine.question_for_kernel(asked, name, SEED), notebook)
    return json.loads(sent[0])


def places(value, path=()):
    yield path
    if isinstance(value, dict | list):
        for name, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(item, (*path, name))


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


def tensor(**forged):
    return {"dtype": "float32", "shape": [1], "axes": [0], "data": "AAAAAA=="} | forged


JUNK = [
    *(
        None,
        True,
        -1,
        0,
        0.5,
        2**63,
        2**64,
        -(2**64),
        10**400,
        1e400,
        -1e400,
        math.nan,
        "",
        "\ud800",
        "\0",
        "x" * 10_000,
    ),
    *([], {}, [[]], [1, "x"], nested(200), [0] * 70, [1] * 100, [10**9, 0], [-1], [2**40, 0], [2**64]),
    *({"blank": True}, {"other": "\0"}, {"other": "\ud800"}, {"other": "Wrong"}, {"other": 3}, {"dict": [[[], 1]]}),
    *({"dict": [[math.nan, 1], [math.nan, 2]]}, {"dict": [[tensor(), 1]]}, {"dict": 3}, {"dict": [[1]]}),
    *(tensor(), tensor(shape=[0, 2**40], axes=[0, 1], data=""), tensor(shape=[2**40, 0], axes=[0, 1], data="")),
    *(tensor(shape=[1] * 5_000, axes=[*range(5_000)]), tensor(axes=[0, 0]), tensor(axes=[7]), tensor(data="é")),
    *({"error": "SystemExit", "text": "", "arguments": {}}, {"error": "\0", "text": 2**64, "arguments": {}}),
    *(tensor(grad=True, dtype="int32"), {"missing": "\ud800"}, {"result": None, "arguments": {}}),
]
DTYPES = dir(torch)


def forge(found, draw):
    """Changes an answer in one to three places: another value, a key less, an entry twice, a dtype that is none."""
    for _ in range(draw.randint(1, 3)):
        there = [path for path in places(found) if path]
        if not there:
            return found
        *path, last = draw.choice(there)
        within = found
        for name in path:
            within = within[name]
        match draw.randrange(4):
            case 0 if isinstance(within, dict):
                del within[last]
            case 1 if isinstance(within, list):
                within.insert(last, copy.deepcopy(within[last]))
            case _ if last == "dtype":
                within[last] = draw.choice(DTYPES)
            case _:
                within[last] = copy.deepcopy(draw.choice(JUNK))
    return found


@given(st.sampled_from(sorted(checks.exercises())), st.integers(0, 2**32))
def test_a_forged_answer_is_equal_or_wrong(name, seed):
    asked = checks.exercises()[name]
    found = forge(copy.deepcopy(right_answer(name)), random.Random(seed))
    try:
        text = json.dumps(found)
        examine.judge(asked, text, SEED)
    except Wrong as wrong:
        assert examine.reason(wrong).isprintable()
        return
    found = json.loads(text)
    if "value" in found and not isinstance(asked, Exercise):
        assert engine.same(courier.unpack(found["value"]), asked.right(), asked.tolerance)
        return
    for outcome, case in zip(found["outcomes"], examine.cases_of(asked, SEED), strict=True):
        wanted = engine.attempt(asked, asked.right, case)
        assert "error" in outcome or engine.same(courier.unpack(outcome["result"]), wanted.result, asked.tolerance)


@pytest.mark.parametrize("name", ["cat_score", "masked_softmax"])
@pytest.mark.parametrize("number", range(len(JUNK)))
def test_junk_in_the_place_of_an_answer_is_wrong(number, name):
    junk = JUNK[number]
    found = copy.deepcopy(right_answer(name))
    forged = [{"value": junk}, {"outcomes": junk}, {"missing": junk}, junk, [junk] * 3]
    forged += [{"outcomes": [{**one, "result": junk} for one in found.get("outcomes", [])]}]
    forged += [{"outcomes": [{**one, "arguments": junk or None} for one in found.get("outcomes", [])]}]
    forged += [{"outcomes": [{**one, "arguments": {"scores": junk}} for one in found.get("outcomes", [])]}]
    forged += [{"outcomes": [{"error": junk, "text": junk, "arguments": {}}]}]
    for one in forged:
        with pytest.raises(Wrong) as told:
            examine.judge(checks.exercises()[name], json.dumps(one), SEED)
        assert examine.reason(told.value).isprintable()


@pytest.mark.parametrize("depth", [100, 400, 900, 5_000, 100_000])
def test_a_deep_answer_is_wrong(depth):
    deep = "[" * depth + "]" * depth
    for text in (f'{{"value": {deep}}}', f'{{"outcomes": {deep}}}', deep, f'{{"value": {{"dict": [[1, {deep}]]}}}}'):
        with pytest.raises(Wrong):
            examine.judge(checks.exercises()["cat_score"], text, SEED)


def test_no_name_of_torch_but_a_plain_dtype_is_one():
    """Some of them, such as quint8, end the process where a tensor of theirs is made from bytes."""
    data = base64.b64encode(bytes(16)).decode()
    taken = set()
    for name in [*DTYPES, "float32 ", "", "__class__", "\ud800"]:
        try:
            made_of = courier.unpack({"dtype": name, "shape": [16], "axes": [0], "data": data})
        except ValueError:
            try:
                made_of = courier.unpack({"dtype": name, "shape": [2], "axes": [0], "data": data})
            except ValueError:
                continue
        taken.add(str(made_of.dtype))
    assert not [name for name in taken if "q" in name or "bits" in name] and "torch.uint8" in taken


def test_many_small_things_are_no_answer():
    """Each would become a tensor of its own, and all together more than the grader's memory."""
    with pytest.raises(Wrong, match="too long"):
        examine.judge(checks.exercises()["cat_score"], json.dumps({"value": [1] * 1_000_000}), SEED)


def test_a_check_that_is_broken_is_told_as_such():
    """Its error is the instructor's, and costs no learner a point."""
    asked = engine.Question("q", "scaled_dot_product", lambda: 1 / 0, (), "lesson 3")
    with pytest.raises(ZeroDivisionError):
        examine.judge(asked, '{"value": 1}', SEED)
    cases = [engine.Case("one", {"x": 1})]
    asked = Exercise("e", "scaled_dot_product", lambda generator: cases, lambda x: x.no_such_name, "lesson 3")
    with pytest.raises(BrokenCheckError):
        examine.judge(asked, json.dumps({"outcomes": [{"result": 1, "arguments": {"x": 1}}]}), SEED)


@pytest.mark.parametrize("number", [2**63, 2**64, -(2**64), 10**300, 10**400], ids="abcde")
def test_a_large_number_is_a_number(number):
    asked = engine.Question("q", "scaled_dot_product", lambda: 1.0, (), "lesson 3")
    with pytest.raises(Wrong, match="✗ q"):
        engine.ask(asked, number)
    assert engine.same(number, number, 0.0) and not engine.same(number, number // 2, 0.1)


# ---- what a cell puts out: every message with strange content, and a notebook that holds it ----

FORGES = r"""
import json, math

shell = get_ipython()
kernel = shell.kernel
parent = kernel.get_parent()
kernel.session.pack = lambda message: json.dumps(message, default=str).encode()  # which lets half surrogates through
deep = []
for _ in range(400):
    deep = [deep]
JUNK = [None, True, -1, 2**64, 1e400, math.nan, "", "\ud800", "\0", "x" * 100_000, [], {}, [[]], deep, {"a": deep}]
JUNK += [{"\ud800": "\ud800"}, {"text/plain": 2**64}, {"text/html": ["<b>", 1]}, {"image/png": {"width": math.nan}}]
CONTENT = {
    "clear_output": {"wait": True},
    "stream": {"name": "stdout", "text": "t"},
    "error": {"ename": "E", "evalue": "e", "traceback": ["t"]},
    "display_data": {"data": {"text/plain": "d"}, "metadata": {}, "transient": {"display_id": "x"}},
    "update_display_data": {"data": {"text/plain": "u"}, "metadata": {}, "transient": {"display_id": "x"}},
    "execute_result": {"data": {"text/plain": "r"}, "metadata": {}, "execution_count": 1},
    "execute_input": {"code": "1", "execution_count": 1},
    "status": {"execution_state": "busy"},
    "comm_open": {"comm_id": "c", "target_name": "jupyter.widget", "data": {"state": {}}},
    "comm_msg": {"comm_id": "c", "data": {"method": "update", "state": {"a": 1}, "buffer_paths": []}},
    "comm_close": {"comm_id": "c", "data": {}},
    "no_such_type": {},
}

def forge():
    for kind, content in CONTENT.items():
        if kind == "error" and shell.user_ns.get("no_errors"):
            continue
        forged = [content] + [{**content, name: junk} for name in content for junk in JUNK]
        forged += [{n: v for n, v in content.items() if n != name} for name in content]
        forged += [junk for junk in JUNK if kind != "status"]
        for one in forged:
            content = one if isinstance(one, dict) else json.dumps(one).encode()
            kernel.session.send(kernel.iopub_socket, kind, content, parent=kernel.get_parent())
"""
GIVES = "\ndef count(words):\n    {}\n    return len(words.split())"
OUTPUTS = {  # by student: what each cell does besides its exercise, and the points and reasons that remain
    "handles": (
        dict(
            softmax=f"handle = display('a', display_id=True)\n{made.SOFTMAX}",
            sat="cat_score = 1.05\nhandle.update('from another cell')",
            double="def double(x):\n    handle.update('from a function')\n    h = display('d', display_id='d')\n"
            "    h.update('e')\n    return x + x",
            count=GIVES.format("handle.update('f'); display('g', display_id='d', update=True)"),
        ),
        [3, 1, 2, 2],
        "",
    ),
    "numbers": (
        dict(
            sat="cat_score = 2**64",
            double="def double(x):\n    return 2**64",
            count=GIVES.format("display({'application/json': 2**64}, metadata={'a': 2**64}, raw=True)")
            + "\nprint(2**64)\nraise ValueError(2**64)",
        ),
        [3, 0, 0, 2],
        "cell 9 raised ValueError: 18446744073709551616; cat_score: 18446744073709551616 is not right; "
        "double: it raises OverflowError: int too big to convert",
    ),
    "surrogates": (
        dict(
            softmax=f"{made.SOFTMAX}  # \ud800",
            sat="class Odd(Exception):\n    pass\nprint('\\ud800')\ncat_score = '\\ud800'",
            double="def double(x):\n    raise ValueError('\\ud800 \\0 \\x1b[2J')",
            count=GIVES.format("print('\\ud800\\0')") + "\nraise ValueError('\\x1b[2J\\0')",
            words="half \ud800",
        ),
        [3, 0, 0, 2],
        "cell 9 raised ValueError: \\x1b[2J\\x00; cat_score: '\\ud800' is a text; "
        "double: it raises ValueError: \\ud800 \\x00 \\x1b[2J",
    ),
    "forged messages": (
        dict(
            softmax=f"{FORGES}\nforge()\n{made.SOFTMAX}",
            sat="forge()\ncat_score = 1.05",
            double="def double(x):\n    forge()\n    return x + x",
            count="no_errors = True" + GIVES.format("forge()"),
        ),
        [3, 1, 2, 2],
        "cell 3 raised E: e; cell 5 raised E: e",
    ),
    "garbled": (
        dict(double="get_ipython().kernel.session.key = b'another'\ndef double(x):\n    return x + x"),
        [3, 1, 0, 2],
        "cell 7 garbled what its kernel says; double: NameError: name 'double' is not defined",
    ),
    "long": (
        dict(
            sat="cat_score = 1.05\nprint('x' * 3_000_000)\nraise ValueError('y' * 3_000_000)",
            count=GIVES.format("[display({}, raw=True) for _ in range(1_100)]"),
        ),
        [3, 1, 2, 2],
        f"cell 5 raised ValueError: {'y' * 198}",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return dataclasses.replace(made.make_course(tmp_path_factory.mktemp("hostile")), cell_seconds=120)


@pytest.mark.notebook
@pytest.mark.parametrize("student", OUTPUTS)
def test_what_a_cell_puts_out_spoils_nothing_else(student, course):
    answers, points, why = OUTPUTS[student]
    made.hand_in(course, student, text=json.dumps(made.answered(course, **answers)))
    report = grading.grade_one(course, made.NAME, student, seed=SEED)
    assert (report["state"], reasons(report)) == ("graded", why)
    assert [cell["points"] for cell in report["cells"].values()] == points
    graded = course.path("autograded", student, made.NAME, f"{made.NAME}.ipynb")
    assert graded.stat().st_size < 3_000_000
    notebook = json.loads(graded.read_text(encoding="utf-8"), parse_constant=pytest.fail)
    nbformat.validate(nbformat.from_dict(notebook))
    assert grading.kept(course, made.NAME, student) == report


# ---- reports: one that cannot be read is none ----

GRADED = {"state": "graded", "reasons": [], "cells": {}, "seed": 1}
BROKEN = [
    *("", "{", "null", "[]", "3", '"graded"', "{}", "[" * 100_000, "\0" * 512, '{"state": "graded", "reas'),
    *(
        json.dumps(GRADED | {"reasons": None}),
        json.dumps(GRADED | {"reasons": [1]}),
        json.dumps(GRADED | {"state": []}),
    ),
    *(json.dumps(GRADED | {"cells": []}), json.dumps(GRADED | {"cells": {"a": 3}}), b"\xff\xfe\x00"),
    *(json.dumps(GRADED | {"cells": {"a": {"reasons": 3}}}), json.dumps([GRADED])),
    json.dumps(GRADED | {"cells": {"a": {"reasons": [None]}}}),
]


@pytest.mark.notebook
def test_a_report_that_cannot_be_read_is_told_of_and_counts_as_none(tmp_path, capsys):
    course = made.make_course(tmp_path)
    made.hand_in(course, "ada", made.answered(course))
    made.hand_in(course, "zoe", text="{")  # has no feedback, but a reason in its report
    for student in ("ada", "zoe"):
        grading.grade_one(course, made.NAME, student)
    files = {student: grading.report_file(course, made.NAME, student) for student in ("ada", "zoe")}
    whole = {student: file.read_bytes() for student, file in files.items()}
    for broken in BROKEN:
        for file in files.values():
            file.write_bytes(broken if isinstance(broken, bytes) else broken.encode())
        capsys.readouterr()
        assert {"ada", "zoe"} <= set(grading.missing(course, made.NAME)), broken
        told = capsys.readouterr().err.splitlines()
        assert [any(str(file) in line for line in told) for file in files.values()] == [True, True]
        rows = {row["student"]: row for row in table(course, made.NAME)}
        assert (rows["ada"]["points"], rows["ada"]["state"], rows["ada"]["reason"]) == (8, "not graded, to be read", "")
    _, without = write_feedback(course, [made.NAME])
    assert "zoe: not graded yet" in without
    for student, file in files.items():
        file.write_bytes(whole[student])
    capsys.readouterr()
    assert not {"ada", "zoe"} & set(grading.missing(course, made.NAME)) and not capsys.readouterr().err


@pytest.mark.notebook
def test_the_next_run_grades_anew_what_has_no_readable_report(course):
    made.hand_in(course, "ida", made.answered(course))
    grading.report_file(course, made.NAME, "ida").parent.mkdir(parents=True, exist_ok=True)
    grading.report_file(course, made.NAME, "ida").write_text("{")
    assert grading.grade_one(course, made.NAME, "ida") == grading.kept(course, made.NAME, "ida")
    assert "ida" not in grading.missing(course, made.NAME)


def test_a_slip_is_named_in_marks_though_the_kernel_is_asked_once():
    asked = checks.exercises()["split_heads"]
    slip, outcomes = asked.misconceptions[1], []
    for case in examine.cases_of(asked, SEED):
        outcome = engine.attempt(asked, slip.answer, case)
        after = {name: courier.pack(value) for name, value in outcome.arguments.items()}
        outcomes.append({"result": courier.pack(outcome.result), "arguments": after})
    with pytest.raises(Wrong, match=slip.name):
        examine.judge(asked, json.dumps({"outcomes": outcomes}), SEED)
