"""Verdicts on fresh data: their conditions are frozen before, the data and seeds are new, and failures are kept."""

import json
import os
import subprocess
import sys

import nbformat
import pytest

import course_lib.__main__ as front_door
from course_lib import claims
from course_lib.curriculum import name_of
from course_lib.files import read_json
from course_lib.tools import confirm, lessons

DRAWN = """
import json
from course_lib import corpus, scenes, texts
toy, digits = corpus.toy_french(), scenes.scans("unseen")
tested = [" ".join(pair.source) for pairs in toy.test.values() for pair in pairs]
print(json.dumps({
    "trained": [" ".join(pair.source) for pair in toy.train], "tested": tested,
    "scans": digits.pictures.flatten(1).tolist(), "held out": texts.python_reference().validation.split("\\n\\n"),
}))
"""
LESSON = """
from course_lib import claims, files, training
@claims.Lesson("trial").experiment(variants={"one": {}}, seeds=2)
def measured(seed):
    return [seed, files.data_draw(), training.course_seed()]
lead_recorded = sum(measured.recorded().results["one"][0])
claims.verdict("N8", {"lead_recorded": lead_recorded}, as_said="lead_recorded > 2", measured_on="toy French")
"""


# ---- what is kept ----


def test_all_conditions_and_lines_are_frozen_as_they_are():
    frozen = read_json(confirm.FROZEN)
    assert confirm.thawed() == [], "`make freeze` freezes them, and they are no longer confirmed"
    assert confirm.hash_of(frozen) == frozen["hash"]


def test_a_kept_run_has_every_verdict_that_a_run_can_change():
    for path in lessons.find():
        entries = confirm.kept().get(name_of(path), {"runs": {}, "claims": {}})
        for claim, conditions in confirm.conditions()[name_of(path)].items():
            entry = entries["claims"].get(claim)
            if entries["runs"] and entry["conditions"] == conditions:
                assert set(entry["verdicts"]) == set(entries["runs"]) == set(entry["figures"]), (path.stem, claim)


# ---- fresh data ----


def drawn(number):
    told = subprocess.run(
        [sys.executable, "-c", DRAWN], capture_output=True, check=True, env={**os.environ, "COURSE_DRAW": number}
    )
    return json.loads(told.stdout)


@pytest.mark.large
@pytest.mark.parametrize("number", ["1", "2"])
def test_another_draw_has_other_sentences_scans_and_topics(number):
    first, other = drawn(""), drawn(number)
    known = {*first["trained"], *first["tested"]}
    long = [sentence for sentence in other["tested"] if len(sentence.split()) > 6]
    assert sum(sentence in known for sentence in long) < 0.01 * len(long)
    assert not {*other["tested"]} & {*other["trained"]}
    assert not {*first["held out"]} & {*other["held out"]}
    both = sum(scan in first["scans"] for scan in other["scans"])
    assert both < 0.3 * len(other["scans"]), "the share that chance gives is 397 of 1,797"
    assert drawn(number) == other


# ---- how it is frozen and run ----


def box(verdict="holds", as_said="x > 1", effects=None, figures=None):
    return {
        "id": "N8", "kind": "experiment", "verdict": verdict, "as_said": as_said, "within": "",
        "figures": figures or {"x": 2.0}, "effects": effects or {}, "measured_on": "toy French",
    }  # fmt: skip


def notebook_with(*boxes):
    outputs = [nbformat.v4.new_output("display_data", {claims.MIME: one}) for one in boxes]
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("", outputs=outputs)])


@pytest.fixture
def trial(tmp_path, monkeypatch):
    """A lesson with one box, whose conditions are frozen."""
    for name in ("FROZEN", "CONFIRMED", "RECORDS"):
        monkeypatch.setattr(confirm, name, tmp_path / name.lower())
    monkeypatch.setattr(lessons, "NOTEBOOKS", tmp_path)
    monkeypatch.setattr(confirm.seeds, "here", lambda: ["plain", "AVX2", "AVX512"])
    nbformat.write(notebook_with(box()), tmp_path / "01_trial.ipynb")
    assert confirm.freeze() == [("trial", "N8")] and confirm.thawed() == []
    return tmp_path / "01_trial.ipynb"


def test_a_condition_or_line_that_changes_must_be_frozen_again_before_it_runs(trial, monkeypatch):
    before = read_json(confirm.FROZEN)["hash"]
    nbformat.write(notebook_with(box(as_said="x > 1.5")), trial)
    assert confirm.thawed() == [("trial", "N8")]
    with pytest.raises(SystemExit, match="01_trial: the conditions of N8 aren't frozen; `make freeze` freezes them"):
        front_door.confirm(["1"])
    assert confirm.freeze() == [("trial", "N8")] and read_json(confirm.FROZEN)["hash"] != before
    monkeypatch.setattr(confirm.effects, "units", lambda: {"factor": {"line": 1.1}})
    assert confirm.thawed() == [("trial", "N8")]


def test_runs_add_up_and_one_that_fails_is_kept_until_the_condition_changes(trial):
    assert confirm.still_to_run(trial, 1) == [(1, "AVX2"), (1, "AVX512")]
    confirm.keep(trial, 1, "AVX2", notebook_with(box()))
    assert confirm.still_to_run(trial, 2) == [(1, "AVX512"), (2, "AVX2"), (2, "AVX512")]
    confirm.keep(trial, 1, "AVX512", notebook_with(box("does not hold", figures={"x": 0.5})))
    entry = confirm.kept()["trial"]["claims"]["N8"]
    assert entry == {
        "conditions": ["x > 1", ""],
        "verdicts": {"draw 1 AVX2": "holds", "draw 1 AVX512": "does not hold"},
        "figures": {"draw 1 AVX2": {"x": 2.0}, "draw 1 AVX512": {"x": 0.5}},
    }
    assert confirm.same(box(), entry) == "1 of 2"
    assert confirm.same(box(as_said="x > 0"), entry) == "its condition has changed since"
    effect = {"x": {"mean": 3, "low": 2, "high": 4, "unit": "factor", "over": "5 runs"}}
    confirm.keep(trial, 1, "AVX2", notebook_with(box(as_said="x > line", effects=effect)))
    assert confirm.kept()["trial"]["claims"]["N8"]["figures"] == {"draw 1 AVX2": {"x": [3, 2, 4]}}
    nbformat.write(notebook_with(box(as_said="x > line", effects=effect)), trial)
    assert confirm.still_to_run(trial, 1) == [(1, "AVX512")], "a run under the former condition doesn't count"


@pytest.mark.parametrize(
    "changed", [{"kind": "proof"}, {"kind": "cannot be tested", "as_said": ""}, {"figures": {"x_counted": 2}}]
)
def test_what_no_run_can_change_is_neither_run_nor_counted(trial, changed):
    one = {**box(as_said="x_counted > 1" if "figures" in changed else "x > 1"), **changed}
    assert confirm.same(one, None) == "" and confirm.same(box(), None) == "not run"
    confirm.keep(trial, 1, "AVX2", notebook_with(one))
    assert confirm.kept()["trial"]["claims"] == {}


def test_a_real_model_is_asked_about_fresh_sentences():
    counted = box(as_said="x_counted > 1", figures={"x_counted": 2.0})
    assert not confirm.runs(counted) and confirm.runs(counted | {"measured_on": "a real model"})


@pytest.mark.notebook
def test_a_run_records_in_a_folder_of_its_own_with_fresh_seeds(trial, tmp_path, monkeypatch):
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(LESSON)]), trial)
    monkeypatch.setattr(confirm, "conditions", lambda: {"trial": {"N8": ["lead_recorded > 2", ""]}})
    confirm.freeze()
    monkeypatch.setattr(confirm.seeds, "here", lambda: [])
    monkeypatch.setattr(front_door, "pages", lambda arguments: None)
    front_door.confirm(["1"])
    record = read_json(tmp_path / "records" / "draw-1" / "recorded" / "trial.json")
    assert record["measured"]["one"]["seeds"] == {"1001": [1001, 1, 1000], "1002": [1002, 1, 1000]}
    assert confirm.kept()["trial"]["claims"]["N8"]["verdicts"] == {"draw 1": "holds"}
    assert nbformat.read(trial, as_version=4).cells[0].outputs == [], "the saved lesson stays as it was"


def test_confirm_without_a_number_says_what_to_do():
    with pytest.raises(SystemExit, match="make confirm N=2"):
        front_door.confirm([])
