"""Marks in class: a class of made-up submissions, graded by two processes, with exact points and reasons."""

import csv
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import made_up_class as made
import pytest

pytest.importorskip("nbgrader")

from course_lib.grading import grade as grading
from course_lib.grading.report import reasons, write_feedback, write_grades

pytestmark = pytest.mark.notebook  # they execute notebooks

TEST_CELLS = ("check_softmax", "check_sat", "check_double", "check_count")
LOOP = "def masked_softmax(scores, mask):\n    while True:\n        pass"
STUBBORN = """
def masked_softmax(scores, mask):
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass
""".strip()
EXITS = "import os\ndef masked_softmax(scores, mask):\n    os._exit(3)"
GREEDY = "def double(x):\n    held = bytearray(6 * 2**30)\n    return 2 * x"
WARNS = "import warnings\ndef count(words):\n    warnings.warn('old')\n    return len(words.split())"

# By student: points of softmax (3), sat (1), double (2), count (2); state; and the reasons.
EXPECTED = {
    "ada": ([3, 1, 2, 2], ""),
    "bob": (
        [0, 0, 0, 0],
        "masked_softmax: the mask comes after the softmax; cat_score: that is divided by √d_k; "
        "double: that is the square; check_count raised AssertionError: the hidden sentence",
    ),
    "cy": (
        [0, 0, 0, 0],
        "masked_softmax is not written yet; cat_score has no answer yet; double is not written yet; "
        "check_count raised NotImplementedError",
    ),
    "dan": (
        [0, 1, 2, 2],
        "cell 3 raised SyntaxError: '(' was never closed (line 1); "
        "masked_softmax: NameError: name 'masked_softmax' is not defined",
    ),
    "eli": ([0, 1, 2, 2], "masked_softmax: no answer within 3 s"),
    "fay": ([3, 1, 0, 2], "cell 7 ended its kernel; double: NameError: name 'double' is not defined"),
    "gus": ([3, 1, 0, 2], "double: it raises MemoryError"),
    "hal": ([3, 1, 2, 2], "; ".join(f"{name} was deleted, and is put back" for name in TEST_CELLS)),
    "ida": ([0, 1, 2, 2], "check_softmax was edited, and is restored; "
                          "masked_softmax: the mask comes after the softmax"),
    "jon": (None, "03_small.ipynb cannot be read as a notebook: Notebook does not appear to be JSON: 'no notebook'"),
    "kim": ([3, 1, 2, 2], "it was handed in as my work (1).ipynb, not 03_small.ipynb"),
    "lou": ([3, 1, 2, 2], ""),
    "mia": ([3, 1, 2, 0], "cell 9 raised ModuleNotFoundError: No module named 'no_such_package'; "
                          "check_count raised NameError: name 'count' is not defined"),
    "ned": (None, "there is no 03_small.ipynb; handed in: answers.txt"),
    "oto": ([0, 1, 2, 2], "check_softmax ended its kernel"),
    "pam": ([0, 1, 2, 2], "check_softmax could not be interrupted"),
}  # fmt: skip


def hand_in_all(course):
    def give(student, **answers):
        made.hand_in(course, student, made.answered(course, **answers))

    give("ada")
    give("bob", softmax=made.MASK_AFTER, sat="cat_score = 0.525", double="def double(x):\n    return x * x",
         count="def count(words):\n    return 2")  # fmt: skip
    give("cy", softmax=None, sat=None, double=None, count=None, words=None)
    give("dan", softmax="def masked_softmax(scores, mask:\n    return scores")
    give("eli", softmax=LOOP)
    give("fay", double="import os\nos._exit(1)")
    give("gus", double=GREEDY)
    hal = made.answered(course)
    hal.cells = [cell for cell in hal.cells if cell.metadata.get("nbgrader", {}).get("grade_id") not in TEST_CELLS]
    made.hand_in(course, "hal", hal)
    ida = made.answered(course, softmax=made.MASK_AFTER)
    for cell in ida.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "check_softmax":
            cell.source = "print('✓')"
            cell.metadata["nbgrader"]["points"] = 300
    made.hand_in(course, "ida", ida)
    made.hand_in(course, "jon", text="no notebook")
    made.hand_in(course, "kim", made.answered(course), name="my work (1).ipynb")
    give("lou", count=WARNS)
    give("mia", count="import no_such_package\n" + made.COUNT)
    made.hand_in(course, "ned", name="answers.txt", text="My answers")
    give("oto", softmax=EXITS)
    give("pam", softmax=STUBBORN)


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return made.make_course(tmp_path_factory.mktemp("class"))


@pytest.fixture(scope="module")
def graded(course):
    """The class, handed in and graded by two processes."""
    hand_in_all(course)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        reports = grading.grade(course, [made.NAME], executor=pool)
    return {report["student"]: report for report in reports}


def test_each_submission_has_its_points_and_its_reasons(graded):
    found = {
        student: ([cell["points"] for cell in report["cells"].values()] or None, reasons(report))
        for student, report in sorted(graded.items())
    }
    assert found == EXPECTED


def rows(course):
    with write_grades(course, made.NAME).open(encoding="utf-8-sig", newline="") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


def test_the_table_has_every_student_every_check_and_the_reason(course, graded):
    table = rows(course)
    assert table.keys() == EXPECTED.keys()
    for student, (points, why) in EXPECTED.items():
        row = table[student]
        assert [float(row[name]) for name in TEST_CELLS] == (points or [0, 0, 0, 0]), student
        assert (float(row["points"]), float(row["max"]), row["reason"]) == (sum(points or []), 9, why), student
    assert {table[student]["state"] for student in ("jon", "ned")} == {"unreadable"}
    assert table["ada"]["state"] == "graded, to be read"  # the sentence that a person reads


def test_a_second_run_grades_only_what_has_changed(course, graded):
    assert grading.missing(course, made.NAME) == []
    made.hand_in(course, "bob", made.answered(course, sat="cat_score = 0.6"))
    grading.report_file(course, made.NAME, "cy").unlink()  # as if a run had been killed before its end
    assert grading.missing(course, made.NAME) == ["bob", "cy"]


def test_feedback_has_the_reasons_and_no_hidden_test(course, graded):
    pages, without = write_feedback(course, [made.NAME])
    assert [line.partition(":")[0] for line in without] == ["jon", "ned"]
    assert len(pages) == len(EXPECTED) - 2
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert "HIDDEN" not in text and "hidden sentence" not in text and "seed=17" not in text
        assert "a b c d" not in text, page
    text = course.path("feedback", "bob", made.NAME, f"{made.NAME}.html").read_text(encoding="utf-8")
    assert "the mask comes after the softmax" in text and "It raised AssertionError" in text
    released = course.path("release", made.NAME, f"{made.NAME}.ipynb").read_text(encoding="utf-8")
    assert "hidden sentence" not in released and "nan_to_num" not in released
    assert "cat_score = ...  # YOUR ANSWER HERE" in released and '"YOUR ANSWER HERE"' in released
