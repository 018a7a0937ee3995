"""The log of the checks in a workbook, and progress.html, whose figures are those that a simple model counts."""

import json
import re
import sys
import threading
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

import course_lib
from course_lib import checks
from course_lib.checks import places, record, report

NAMES = ["rnn_step", "feels", "words_held_64", "cat_score", "causal", "head_shapes"]
ROW = re.compile(r"<code>(\w+)</code></th><td>(\d+)</td><td>(.*?)</td><td>(.*?)</td></tr>")
SUMS = re.compile(r"(\d+) of (\d+) exercises solved, (\d+) of (\d+) points")


class Clock(datetime):
    """A clock that shows what a test has set."""

    at = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

    @classmethod
    def now(cls):
        return cls.at.astimezone()


def blank(*arguments):
    raise NotImplementedError


def answer(name, result):
    asked = checks.exercises()[name]
    if isinstance(asked, checks.Exercise):
        return {"right": asked.right, "wrong": 7, "blank": blank}[result]
    return {"right": asked.right(), "wrong": "no idea", "blank": ...}[result]


def check(name, result):
    if result == "right":
        checks.check(name, answer(name, result))
    else:
        with pytest.raises(checks.Wrong):
            checks.check(name, answer(name, result))


@pytest.fixture
def workbook(tmp_path, monkeypatch):
    (tmp_path / "exercises").mkdir()
    (tmp_path / record.FILE).write_text("{}")
    monkeypatch.chdir(tmp_path / "exercises")
    return tmp_path


@pytest.fixture
def often():
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def refuse(*arguments, **named):
    raise PermissionError(13, "Permission denied", "a folder")


def read_page(folder):
    """The rows by name, each with points, first solved and tries; the total; and the sums of the lessons."""
    text = (folder / report.PAGE).read_text(encoding="utf-8")
    rows = {name: (int(points), re.sub("<.*?>", "", solved), said) for name, points, solved, said in ROW.findall(text)}
    total, *of_lessons = [tuple(map(int, sums)) for sums in SUMS.findall(text)]
    return text, rows, total, of_lessons


# ---- the figures ----

OF_ONE = st.tuples(st.sampled_from(NAMES), st.sampled_from(["right", "wrong", "blank"]))
LINE = "2026-01-02T03:04:05+01:00 causal right"
DAMAGE = st.one_of(
    st.integers(1, len(LINE) - 1).map(lambda end: LINE[:end]),
    st.sampled_from([LINE.replace("causal", "causa"), LINE.replace("-01-02", "-13-02"), LINE + "ly", LINE * 2]),
    st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1),
).map(str.encode) | st.just(LINE.encode().replace(b"T", b"\xff"))
EVENTS = st.lists(
    st.tuples(st.integers(0, 10**8), st.one_of(OF_ONE, OF_ONE.map(lambda of: (*of, "unlogged")), DAMAGE)), max_size=12
)


@given(events=EVENTS)
def test_the_figures_are_those_of_a_simple_model(tmp_path_factory, events):
    folder = tmp_path_factory.mktemp("workbook")
    (folder / record.FILE).write_text("{}")
    tries, passed, damaged, at = {name: [] for name in NAMES}, {}, 0, datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(record, "datetime", Clock)
        for seconds, event in events:
            at += timedelta(seconds=seconds)
            patch.setattr(Clock, "at", at)
            if isinstance(event, bytes):
                with open(folder / record.TRIES, "ab") as log:
                    log.write(b"\n" + event)
                damaged += 1
                continue
            name, result, *unlogged = event
            with pytest.MonkeyPatch.context() as once:
                if unlogged:
                    once.setattr(record, "append", refuse)
                check(name, result)
            when = f"{at.astimezone():%Y-%m-%d %H:%M}"
            if result == "right":
                passed.setdefault(name, when[:10])
            if result != "blank" and not unlogged:
                tries[name].append((when, result))
        course_lib.progress()
    text, rows, total, of_lessons = read_page(folder)
    wanted = {}
    for name in NAMES:
        results = [result for _, result in tries[name]]
        until = results.index("right") + 1 if "right" in results else None
        if until and tries[name][until - 1][0][:10] <= passed[name]:
            wanted[name] = f"✓ {tries[name][until - 1][0]}", str(until)
        elif name in passed:
            wanted[name] = f"✓ {passed[name]}", "not logged"
        else:
            wanted[name] = "○ open", f"{len(results)} so far"
    assert {name: row[1:] for name, row in rows.items() if name in NAMES} == wanted
    assert all(row[1:] == ("○ open", "0 so far") for name, row in rows.items() if name not in NAMES)
    assert total[0] == len(passed) and total[2] == sum(rows[name][0] for name in passed)
    assert total == tuple(map(sum, zip(*of_lessons, strict=True)))
    assert ("were left out" in text) == (damaged > 0) and (
        not damaged or f"no check of this course: {damaged}." in text
    )


def test_every_exercise_has_a_row_with_the_points_of_its_notebook(workbook):
    course_lib.progress()
    _, rows, total, of_lessons = read_page(workbook)
    assert list(rows) == list(checks.lessons()) and len(of_lessons) == len(set(checks.lessons().values()))
    text = (places.NOTEBOOKS / "exercises" / "04_multi_head.ipynb").read_text(encoding="utf-8")
    heads = [name for name, lesson in checks.lessons().items() if lesson == "multi_head"]
    assert f"**{sum(rows[name][0] for name in heads)} points" in text
    assert total == (0, len(rows), 0, sum(row[0] for row in rows.values()))


@pytest.mark.parametrize("day", ["", "<b>soon</b>", "2026-1-2"])
def test_a_day_that_is_none_is_not_shown(workbook, day):
    (workbook / record.FILE).write_text(json.dumps({"causal": day}))
    course_lib.progress()
    assert read_page(workbook)[1]["causal"][1:] == ("✓ no day", "not logged")
    check("causal", "right")  # it's logged, and now the day is known
    course_lib.progress()
    assert read_page(workbook)[1]["causal"][2] == "1"


# ---- what it says of itself ----


def test_it_says_what_it_is_and_needs_nothing_else(workbook):
    course_lib.progress()
    text = read_page(workbook)[0]
    for said in (
        "a report to oneself and no proof",
        "Marks come from the instructor's own run",
        "course_lib.progress()",
    ):
        assert said in re.sub("<.*?>", "", text).replace("&#x27;", "'")
    assert not re.search(r"https?:|src=|href=|url\(|@import|<script", text)
    assert all(part in text for part in ("@media print", "color-scheme: light dark", 'name="viewport"'))


# ---- the log ----


def test_kernels_that_log_at_the_same_time_lose_nothing_and_mix_nothing(workbook, often):
    def log(name):
        for _ in range(200):
            record.note(name, "wrong")

    kernels = [threading.Thread(target=log, args=(name,)) for name in NAMES]
    for kernel in kernels:
        kernel.start()
    for kernel in kernels:
        kernel.join()
    found, skipped = report.tries(workbook, checks.lessons())
    assert sorted(name for _, name, _ in found) == sorted(NAMES * 200) and skipped == 0


def test_outside_of_a_workbook_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for result in ("wrong", "right", "blank"):
        check("causal", result)
    course_lib.progress()
    assert list(tmp_path.iterdir()) == []


def test_a_read_only_workbook_gives_no_error_and_is_told(workbook, monkeypatch, capsys):
    before = sorted(workbook.rglob("*"))
    monkeypatch.setattr("tempfile.mkdtemp", refuse)  # root may write into any folder
    monkeypatch.setattr(record, "append", refuse)
    for result in ("wrong", "right", "blank"):
        check("causal", result)
    assert "✓ causal: right" in (said := capsys.readouterr().out)
    assert "Your workbook can't be written to, so it doesn't remember this." in said
    course_lib.progress()
    said = capsys.readouterr().out
    assert "exercises of lesson" in said and "`progress.html` wasn't written: [Errno 13] Permission denied" in said
    assert "Checks aren't logged at the moment" in said
    assert sorted(workbook.rglob("*")) == before


def test_the_page_says_so_if_only_the_log_cannot_be_written(workbook):
    (workbook / record.TRIES).mkdir()
    check("causal", "right")
    course_lib.progress()
    text, rows, *_ = read_page(workbook)
    assert "Checks aren't logged at the moment" in text.replace("&#x27;", "'") and rows["causal"][2] == "not logged"


# ---- a learner's file ----


@given(content=st.binary(), at=st.integers(0, 10_000), new=st.binary(max_size=3))
def test_a_page_that_is_not_as_it_was_written_stays(tmp_path_factory, content, at, new):
    folder = tmp_path_factory.mktemp("workbook")
    (folder / record.FILE).write_text("{}")
    page = folder / report.PAGE
    report.write(folder, checks.lessons())
    report.write(folder, checks.lessons())  # its own page it writes again
    written = page.read_bytes()
    for theirs in {content, written[:at] + new + written[at + 1 :]} - {written}:
        page.write_bytes(theirs)
        with pytest.raises(FileExistsError, match="isn't as course_lib.progress.. left it; rename it"):
            report.write(folder, checks.lessons())
        assert page.read_bytes() == theirs and sorted(folder.iterdir()) == sorted(
            folder / name for name in (record.FILE, record.TRIES, report.PAGE)
        )


def test_a_refusal_is_told_below_the_table(workbook, capsys):
    (workbook / report.PAGE).write_text("mine")
    course_lib.progress()
    said = capsys.readouterr().out
    assert "exercises of lesson" in said and "wasn't written" in said and "rename it" in said
    assert (workbook / report.PAGE).read_text() == "mine"
