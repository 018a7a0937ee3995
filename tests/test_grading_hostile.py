"""Whatever a kernel, a notebook or a file says: it costs its author what it spoils, and nobody else anything."""

import base64
import copy
import dataclasses
import json
import math
import random
import sys
import tempfile
import tracemalloc
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace

import made_up_class as made
import nbformat
import pytest
import torch
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from sweeps import sweep

pytest.importorskip("nbgrader")

from course_lib import checks
from course_lib.checks import engine
from course_lib.checks.engine import BrokenCheckError, Exercise, Wrong
from course_lib.grading import courier, examine, marking, sandbox
from course_lib.grading import grade as grading
from course_lib.grading import judge as judging
from course_lib.grading.report import reasons, table, write_feedback
from course_lib.grading.submission import Unreadable, find_notebook, grade_id, printable, put_back, read_notebook

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


TEXTS = st.text(st.characters(), max_size=20)  # with half surrogates
KEYS = "value outcomes missing result arguments error text blank other dict set dtype shape axes data grad scores mask"
ANY = st.recursive(  # JSON; its keys are often those of an answer
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS | st.sampled_from(JUNK),
    lambda some: st.lists(some, max_size=5) | st.dictionaries(st.sampled_from(KEYS.split()) | TEXTS, some, max_size=5),
    max_leaves=10,
)
DRAWS = st.randoms(use_true_random=False)


@pytest.mark.slow
@settings(max_examples=300, deadline=1_000 * judging.SECONDS)
@given(st.sampled_from(sorted(checks.exercises())), DRAWS | ANY)
def test_any_answer_is_equal_or_wrong(name, content):
    asked = checks.exercises()[name]
    found = forge(copy.deepcopy(right_answer(name)), content) if isinstance(content, random.Random) else content
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


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cat_score", "masked_softmax"])
@pytest.mark.parametrize("number", sweep(range(len(JUNK)), *map(str, range(0, len(JUNK), 6))))
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


@pytest.mark.parametrize("depth", [courier.DEEPEST + 1, 400, 900, 5_000, 100_000])
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
    with pytest.raises(Wrong, match="too large"):
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
FORGED = {
    "softmax": f"{FORGES}\nforge()\n{made.SOFTMAX}",
    "sat": "forge()\ncat_score = 1.05",
    "double": "def double(x):\n    forge()\n    return x + x",
    "count": "no_errors = True" + GIVES.format("forge()"),
}
# By student of test_grading_class: what each cell does besides its exercise, and the points and reasons that remain.
OUTPUTS = {
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
    "garbled": (
        dict(double="get_ipython().kernel.session.key = b'another'\ndef double(x):\n    return x + x"),
        [3, 1, 0, 2],
        "cell 7 garbled its kernel's messages; double: NameError: name 'double' is not defined",
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
def test_what_a_cell_puts_out_spoils_nothing_else(course):
    made.hand_in(course, "forges", text=json.dumps(made.answered(course, **FORGED)))
    report = grading.grade_one(course, made.NAME, "forges", seed=SEED)
    assert (report["state"], reasons(report)) == ("graded", "cell 3 raised E: e; cell 5 raised E: e")
    assert [cell["points"] for cell in report["cells"].values()] == [3, 1, 2, 2]
    can_be_read(course, report)


def can_be_read(course, report):
    """What grading wrote is as small and as valid as it has to be."""
    file = course.path("autograded", report["student"], made.NAME, f"{made.NAME}.ipynb")
    assert file.stat().st_size < 3_000_000
    notebook = json.loads(file.read_text(encoding="utf-8"), parse_constant=pytest.fail)
    nbformat.validate(nbformat.from_dict(notebook))
    assert grading.kept(course, made.NAME, report["student"]) == report


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


def test_a_misconception_is_named_in_marks_though_the_kernel_is_asked_once():
    asked = checks.exercises()["split_heads"]
    misconception, outcomes = asked.misconceptions[1], []
    for case in examine.cases_of(asked, SEED):
        outcome = engine.attempt(asked, misconception.answer, case)
        after = {name: courier.pack(value) for name, value in outcome.arguments.items()}
        outcomes.append({"result": courier.pack(outcome.result), "arguments": after})
    with pytest.raises(Wrong, match=misconception.name):
        examine.judge(asked, json.dumps({"outcomes": outcomes}), SEED)


# ---- notebooks: any bytes, and any JSON in any place of one, are read or told of ----


def ready(folder):
    """What is run of a submission: as `grade_one` makes it ready; None if nothing can be read."""
    source, wanted = made.source(), {grade_id(cell) for cell in made.source().cells} - {None}
    try:
        notebook, told = find_notebook(folder, made.NAME, wanted)
    except Unreadable as error:
        told, notebook = [str(error)], None
    if notebook:
        told += put_back(notebook, source, released())
        nbformat.validate(nbformat.reads(nbformat.writes(notebook), as_version=4))
        theirs = [cell for cell in notebook.cells if grade_id(cell)]
        graded = [cell for cell in source.cells if cell.metadata.get("nbgrader", {}).get("grade")]
        for ours in graded:  # each once, as the instructor has it
            (cell,) = [cell for cell in theirs if grade_id(cell) == grade_id(ours)]
            assert (cell.cell_type, cell.metadata) == (ours.cell_type, ours.metadata)
            assert cell.source == ours.source or ours.metadata.nbgrader.solution
    assert all(printable(line).isprintable() for line in told)
    return notebook


@cache
def released():
    with tempfile.TemporaryDirectory() as folder:
        course = made.make_course(Path(folder))
        return nbformat.read(course.path("release", made.NAME, f"{made.NAME}.ipynb"), as_version=4)


HANDED_IN = json.loads(nbformat.writes(made.source(), split_lines=False))  # the solutions are right answers


def forged_notebook(draw):
    """With any JSON in one to three of its places."""
    return forge(copy.deepcopy(HANDED_IN), draw)


CODE = [
    *("", "exit()", "quit", "1 / 0", "return", "await 1", "'" * 3, "\\", "\0", "\ufeff", "%reset -f", "%%bash\nexit 1"),
    *("!false", "?", "%%", "%%no_such_magic", "input()", "raise SystemExit", "raise KeyboardInterrupt"),
    *("del masked_softmax", "import no_such_package", "cat_score = float('nan')", "double = 3", "checks = None"),
    *("def count(words): yield words", "print('\\ud800')", "### BEGIN SOLUTION", "### END HIDDEN TESTS", "display(1)"),
]  # fmt: skip
SOURCES = TEXTS | st.sampled_from([*CODE, *made.RIGHT.values()])
NAMES = st.sampled_from([*map(grade_id, made.source().cells)])
METADATA = st.dictionaries(TEXTS, ANY, max_size=3) | st.fixed_dictionaries(
    {"nbgrader": ANY | st.fixed_dictionaries({"grade_id": NAMES | ANY}, optional={"points": ANY, "locked": ANY})},
    optional={"tags": st.sampled_from([["skip-execution"], ["raises-exception"]])},
)
TEXT_LINES = TEXTS | st.lists(TEXTS, max_size=3)
BUNDLES = st.dictionaries(st.sampled_from(["text/plain", "text/html", "image/png"]) | TEXTS, TEXT_LINES, max_size=3)
OUTPUTS_IN_FILE = st.lists(
    st.fixed_dictionaries({"output_type": st.just("stream"), "name": TEXTS, "text": TEXT_LINES})
    | st.fixed_dictionaries({"output_type": st.just("display_data"), "data": BUNDLES, "metadata": METADATA})
    | st.fixed_dictionaries(
        {"output_type": st.just("error"), "ename": TEXTS, "evalue": TEXTS, "traceback": st.lists(TEXTS, max_size=3)}
    ),
    max_size=3,
)
OFTEN_NOT = st.sampled_from([False] * 5 + [True])


@st.composite
def cells(draw, handed_in=HANDED_IN["cells"]):
    """One that was handed in, as it is or changed, or another."""
    cell = copy.deepcopy(draw(st.sampled_from(handed_in))) if not draw(OFTEN_NOT) else {"metadata": {}}
    kind = cell.get("cell_type")
    if kind is None or draw(OFTEN_NOT):
        kind = draw(st.sampled_from(["code", "markdown", "raw"]))
    source = cell.get("source")
    if source is None or draw(OFTEN_NOT):
        source = draw(SOURCES)
    elif draw(OFTEN_NOT):
        lines = source.splitlines()
        source = "\n".join(draw(st.permutations(lines)) if draw(st.booleans()) else [*lines, draw(SOURCES)])
    about = draw(METADATA) if draw(OFTEN_NOT) else cell["metadata"]
    found = {"cell_type": kind, "source": source, "metadata": about}
    if kind == "code":
        found |= {"outputs": draw(OUTPUTS_IN_FILE), "execution_count": draw(st.none() | st.integers(0))}
    elif draw(OFTEN_NOT):
        found["attachments"] = draw(st.dictionaries(TEXTS, BUNDLES, max_size=2))
    return found


@st.composite
def notebooks(draw):
    """As nbformat has them: cells that were handed out, answered rightly, and others, in any order and number."""
    found = [draw(cells([cell])) for cell in HANDED_IN["cells"]]
    if draw(st.booleans()):
        found = draw(st.permutations(found)) if draw(st.booleans()) else draw(st.lists(cells(), max_size=20))
    minor = draw(st.integers(0, 5))
    for number, cell in enumerate(found if minor == 5 else ()):
        cell["id"] = draw(st.from_regex(r"\A[a-zA-Z0-9_-]{1,64}\Z")) if draw(OFTEN_NOT) else f"cell-{number}"
    return {"cells": found, "metadata": draw(METADATA), "nbformat": 4, "nbformat_minor": minor}


FILES = st.binary() | st.text().map(lambda text: text.encode("utf-16")) | DRAWS.map(forged_notebook) | notebooks()


def written(content):
    return content if isinstance(content, bytes) else json.dumps(content).encode()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Non-unique cell id", "ignore:Cell is missing an id")
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(FILES)
@example(b"\xff\xfe")
@example(b'{"cells": [[]], "nbformat": 4, "nbformat_minor": 5, "metadata": {}}')
@example(b'{"worksheets": 3, "nbformat": 3}')
@example(b"[" * 100_000)
@example({"cells": [{"cell_type": "raw", "source": "", "metadata": {}}] * 3_000, "nbformat": 4, "nbformat_minor": 4})
def test_any_file_is_read_or_told_of(tmp_path, content):
    for name in (f"{made.NAME}.ipynb", "other.IPYNB.txt"):
        (tmp_path / f"{made.NAME}.ipynb").unlink(missing_ok=True)
        (tmp_path / name).write_bytes(written(content))
        ready(tmp_path)


@pytest.mark.skipif(bool(sandbox.missing()), reason="what is drawn may be a command")
@pytest.mark.notebook
@pytest.mark.filterwarnings("ignore:Non-unique cell id", "ignore:Cell is missing an id")
@settings(max_examples=15, derandomize=True, database=None, phases=[Phase.generate])
@given(FILES | notebooks() | notebooks() | notebooks())
def test_any_notebook_is_graded_within_its_limits_and_has_no_more_points_than_the_right_one(course, content):
    course = dataclasses.replace(course, cell_seconds=10, submission_seconds=60)
    (made.hand_in(course, "any", text="") / f"{made.NAME}.ipynb").write_bytes(written(content))
    report = grading.grade_one(course, made.NAME, "any", seed=SEED)
    assert report["state"] in ("graded", "unreadable"), report
    assert report["seconds"] < course.submission_seconds + 2 * course.cell_seconds, report
    most = dict(check_softmax=3, check_sat=1, check_double=2, check_count=2)
    assert all(cell["points"] <= most[name] == cell["max"] for name, cell in report["cells"].items())


@pytest.mark.notebook
def test_a_kernel_that_ends_late_is_given_no_more_time(course, monkeypatch):
    """A fresh kernel does not run again for as long what the last one has run."""
    made.hand_in(course, "late", made.answered(course, softmax="import os\nos._exit(0)"))
    clock = iter([0, 0, 0])  # when it begins, and before each of the first two cells
    monkeypatch.setattr(marking, "time", SimpleNamespace(monotonic=lambda: next(clock, 1e9)))
    report = grading.grade_one(course, made.NAME, "late", seed=SEED)
    late = f"the submission took longer than {course.submission_seconds} s"
    assert (report["state"], report["reasons"]) == ("graded", [late, "cell 3 ended its kernel"])
    assert all(cell["reasons"][0] == f"{name} was not reached" for name, cell in report["cells"].items())


NEVER_SILENT = """
import threading, time
kernel = get_ipython().kernel
channel = getattr(kernel.shell_stream, "socket", kernel.shell_stream)
kernel.shell_handlers["kernel_info_request"] = lambda *a, **b: None
to = kernel._shell_parent_ident.get()
def speak():
    while True:
        kernel.session.send(channel, "x_reply", {}, parent={"header": {"msg_id": "nobody"}}, ident=to)
        time.sleep(0.3)
threading.Thread(target=speak, daemon=True).start()"""


@pytest.mark.skipif(bool(sandbox.missing()), reason=f"there is no sandbox: {sandbox.missing()}")
@pytest.mark.notebook
def test_a_kernel_that_speaks_for_ever_and_answers_nothing_is_ended(course):
    course = dataclasses.replace(course, cell_seconds=2, submission_seconds=10)
    made.hand_in(course, "talker", made.answered(course, sat=NEVER_SILENT))
    report = grading.grade_one(course, made.NAME, "talker", seed=SEED)
    assert report["state"] == "graded" and 8 < report["seconds"] < 200, report
    assert "the submission took longer than 10 s" in report["reasons"], report


FLOODS = {
    "asks": "k = get_ipython().kernel\nto = k._shell_parent_ident.get()\nfor _ in range(100):\n"
    "    k.session.send(k.stdin_socket, 'input_request', {'prompt': 'x' * 10**7}, parent=k.get_parent(), ident=to)",
    "prints": "print('x' * 200_000_000)",
    "shows": "for _ in range(30): display({'text/plain': 'x' * 50_000_000}, raw=True)",
    "updates": "for _ in range(400): h = display('a', display_id='q')\nh.update('x' * 990_000)",
    "parts": "import time, zmq\nk, part = get_ipython().kernel, b'x' * 79_000_000\nto = k.iopub_thread.socket\n"
    "def flood():\n    for _ in range(40):\n        to.send(part, zmq.SNDMORE, copy=False)\n    to.send(b'')\n"
    "k.iopub_thread.schedule(flood)\ntime.sleep(9)",
    "values": "k = get_ipython().kernel\nmany = {'text/plain': [[0]] * 9_000_000}\nk.session.send("
    "k.iopub_socket, 'display_data', {'data': many, 'metadata': {}}, parent=k.get_parent())",
    "alternates": "import sys\nfor _ in range(5_000):\n    for to in (sys.stdout, sys.stderr):\n"
    "        print('a', file=to, flush=True)",
}


def graded_and_most_memory(course, student):
    """A report, and the bytes that the grader's process had at most."""
    report = grading.grade_one(course, made.NAME, student, seed=SEED)
    words = Path("/proc/self/status").read_text().split()  # getrusage would tell of the process that started this one
    return report, int(words[words.index("VmHWM:") + 1]) * 1024


@pytest.mark.skipif(bool(sandbox.missing()), reason=f"there is no sandbox: {sandbox.missing()}")
@pytest.mark.notebook
@pytest.mark.parametrize("flood", sweep(FLOODS, "asks"))
def test_a_flood_takes_none_of_the_graders_memory(course, flood):
    course = dataclasses.replace(course, cell_seconds=15)
    made.hand_in(course, flood, made.answered(course, sat=f"cat_score = 1.05\n{FLOODS[flood]}"))
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
        report, most = alone.submit(graded_and_most_memory, course, flood).result()
    told = {
        "parts": "cell 5 sent more at once than the grader accepts",
        "values": "cell 5 garbled its kernel's messages",
    }
    assert report["reasons"] == [told[flood]] if flood in told else not report["reasons"], report
    assert [cell["points"] for cell in report["cells"].values()] == [3, flood not in told, 2, 2], report
    # Its own 0.3, and eight messages of 50 MB wait while one is read; of parts a tenth of a second's come on top.
    assert most < (2.5e9 if flood == "parts" else 1.2e9), (report, most)
    can_be_read(course, report)


def test_what_is_not_read_of_a_notebook_takes_no_memory(tmp_path):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("x")])
    for place in (notebook, notebook.metadata, notebook.cells[0], notebook.cells[0].metadata):
        place["filled"] = [{}] * 100_000
    (tmp_path / "x.ipynb").write_text(json.dumps(notebook))
    tracemalloc.start()
    found, _ = read_notebook(tmp_path / "x.ipynb")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [cell.source for cell in found.cells] == ["x"] and most < 60e6, most
    (tmp_path / "x.ipynb").write_bytes(b"[" + b"[]," * 6_000_000)
    with pytest.raises(Unreadable, match="more than 10 million brackets and commas"):
        read_notebook(tmp_path / "x.ipynb")


@pytest.mark.skipif(sys.platform == "win32", reason="links want a right there")
@pytest.mark.notebook
def test_a_link_leads_to_nothing(course):
    """Neither to the solutions in place of a notebook, nor for a kernel to read what it leads to."""
    folder = made.hand_in(course, "linker", name="note.txt", text="")
    (folder / f"{made.NAME}.ipynb").symlink_to(course.source(made.NAME))
    report = grading.grade_one(course, made.NAME, "linker", seed=SEED)
    assert report["state"] == "unreadable" and not report["cells"], report
    (course.folder / "private.txt").write_text("private")
    folder = made.hand_in(course, "reader", made.answered(course, sat="cat_score = 1.05\nopen('link.txt')"))
    (folder / "link.txt").symlink_to(course.folder / "private.txt")
    (folder / "all").symlink_to(course.folder)
    report = grading.grade_one(course, made.NAME, "reader", seed=SEED)
    assert "FileNotFoundError" in " ".join(report["reasons"]) and report["state"] == "graded", report


def test_a_heading_of_version_3_has_no_length_of_its_own(tmp_path):
    cell = {"cell_type": "heading", "level": 10**9, "metadata": {}, "source": "x"}
    sheets = {"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": ""}, "worksheets": [{"cells": [cell]}]}
    (tmp_path / "x.ipynb").write_text(json.dumps(sheets))
    notebook, _ = read_notebook(tmp_path / "x.ipynb")
    assert [one.source for one in notebook.cells] == ["# x"]


# ---- the judge: a comparison may take no more than its limits, and end no process but its own ----

BAD_CHECKS = """
import ctypes
import os
import time

from course_lib.checks.engine import Question

def allocate():
    return bytearray(16 * 2**30)

RIGHT = {"plain": lambda: 1, "endless": lambda: time.sleep(600), "segfault": lambda: ctypes.string_at(0),
         "ends": lambda: os._exit(0), "huge": allocate, "prints": lambda: print("{}") or 1}
ASKED = [Question(name, "scaled_dot_product", right, (), "lesson 3") for name, right in RIGHT.items()]
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the limit of memory is one of Linux")
def test_a_judge_that_ends_takes_nobody_with_it(tmp_path, monkeypatch):
    monkeypatch.setattr(judging, "SECONDS", 1)
    (tmp_path / "graded.py").write_text(BAD_CHECKS)
    for name in ("endless", "segfault", "ends"):
        with pytest.raises(Wrong, match=f"✗ {name}: the answer cannot be compared within 1 s and 4 GB"):
            judging.judge(tmp_path, name, '{"value": 1}', SEED)
    with pytest.raises(RuntimeError, match="the check huge failed: MemoryError"):
        judging.judge(tmp_path, "huge", '{"value": 1}', SEED)
    monkeypatch.undo()
    for name in ("plain", "prints"):
        judging.judge(tmp_path, name, '{"value": 1}', SEED)
        with pytest.raises(Wrong, match=f"✗ {name}: '\\\\udc80' is a text"):
            judging.judge(tmp_path, name, '{"value": "\\udc80"}', SEED)
    (judge,) = judging._sitting.values()
    (tmp_path / "graded.py").write_text("import no_such_package")
    with pytest.raises(RuntimeError, match="the judge process failed: ModuleNotFoundError"):
        judging.judge(tmp_path, "plain", '{"value": 1}', SEED)
    assert judge.process.poll() is not None  # checks that have changed are judged by another
