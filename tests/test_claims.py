"""Verdicts are computed, boxes carry their data, and records are of today's code."""

import contextlib
import json
import re
import tomllib
from datetime import date
from functools import partial

import numpy as np
import pytest
import torch

from course_lib import claims
from course_lib.claims import KINDS, MIME, Lesson, boxes, ledger, missing_boxes
from course_lib.curriculum import LESSONS
from course_lib.effects import Effect
from course_lib.tools.recording import machine, record

DRAWN = "text/plain", "text/html"
CLAIM = "N8"
verdict = partial(claims.verdict, measured_on="toy French")


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch):
    monkeypatch.delenv("COURSE_MODE", raising=False)
    monkeypatch.delenv("COURSE_SEED", raising=False)


@pytest.fixture
def shown(monkeypatch):
    """What was displayed."""
    bundles = []
    monkeypatch.setattr(claims, "display", lambda bundle, raw: bundles.append(bundle))
    return bundles


# ---- the ledger ----


def test_ids_in_the_ledger_are_unique():
    listed = [claim["id"] for claim in tomllib.loads((claims.DATA / "ledger.toml").read_text("utf-8"))["claim"]]
    assert sorted(listed) == sorted(set(listed)) == sorted(ledger())


def test_each_claim_has_a_sentence_its_source_and_a_place():
    for name, claim in ledger().items():
        assert claim["sentence"].strip() and claim["said_by"].strip() and claim["to_measure"].strip(), name
        places = claim["tested_in"]
        assert places in ("page", "later") or (places and set(places) <= set(LESSONS)), name


# ---- the verdict ----


@pytest.mark.parametrize(("wide", "result"), [(0.95, "holds"), (0.7, "holds only if"), (0.1, "does not hold")])
def test_the_figures_decide_the_verdict(shown, wide, result):
    conditions = {"as_said": "wide > 0.9", "within": "wide > narrow + 0.2", "limits": "beside the narrow one"}
    verdict(CLAIM, {"wide": wide, "narrow": 0.4}, **conditions)
    assert shown[0][MIME]["verdict"] == result
    assert ("beside the narrow one" in shown[0]["text/plain"]) == (result == "holds only if")


def test_without_a_second_condition_it_holds_or_not(shown):
    verdict(CLAIM, {"x": 1}, as_said="x == 1", kind="proof")
    verdict(CLAIM, {"x": 2}, as_said="x == 1", kind="proof")
    assert [bundle[MIME]["verdict"] for bundle in shown] == ["holds", "does not hold"]


def test_a_condition_may_compare_several_figures(shown):
    verdict(CLAIM, {"wide": 0.9, "narrow": 0.4}, as_said="max(wide, narrow) - min(wide, narrow) > abs(-0.4) > 0")
    assert shown[0][MIME]["verdict"] == "holds"


ABOVE, ACROSS = (Effect(0.2, low, 0.5, "share of items", "5 runs") for low in (0.15, -0.1))
BELOW = Effect(-0.2, -0.3, 0.05, "share of items", "5 runs")


@pytest.mark.parametrize(
    ("said", "only_if", "told"),
    [
        (ABOVE, ABOVE, "holds</b>: five runs"), (ABOVE, BELOW, "holds</b>: five runs"),
        (ACROSS, ABOVE, "undecided</b>: it holds if it is b. Tried: five runs"),
        (BELOW, ABOVE, "holds only if</b> it is b. Tried: five runs"),
        (ACROSS, BELOW, "undecided</b>: five runs"), (BELOW, ACROSS, "undecided</b>: five runs"),
        (ACROSS, ACROSS, "undecided</b>: five runs"), (BELOW, BELOW, "does not hold</b>: five runs"),
    ],
)  # fmt: skip
def test_what_an_interval_leaves_open_is_undecided(shown, said, only_if, told):
    conditions = {"as_said": "a > line", "within": "b > line", "limits": "it is b", "scope": "five runs"}
    verdict(CLAIM, {"a": said, "b": only_if}, **conditions)
    assert told.startswith(f"{shown[0][MIME]['verdict']}</b>") and told in shown[0]["text/html"]


def test_a_verdict_says_on_what_it_was_measured(shown):
    verdict(CLAIM, {"x": 1}, as_said="x > 0")
    verdict(CLAIM, {"x": 1}, as_said="x > 0", kind="proof")
    assert [bundle[MIME]["measured_on"] for bundle in shown] == ["toy French", "arithmetic"]
    assert "experiment on toy French" in shown[0]["text/html"]


def test_a_figure_that_is_nan_gives_no_verdict(shown):
    with pytest.raises(ValueError, match="the figure 'x' is NaN"):
        verdict(CLAIM, {"x": float("nan")}, as_said="x > 0.5")
    assert shown == []


def test_both_conditions_are_read_whatever_the_first_one_says():
    with pytest.raises(ValueError, match="uses 'y'"):
        verdict(CLAIM, {"x": 1}, as_said="x > 0", within="y > 0", limits="never reached otherwise")


def test_what_cannot_be_tested_says_what_evidence_it_would_take(shown):
    verdict(CLAIM, {}, kind="cannot be tested", limits="two brains and a ruler")
    assert shown[0][MIME]["verdict"] == "cannot be tested"
    assert "two brains and a ruler" in shown[0]["text/plain"] and "two brains" in shown[0]["text/html"]
    with pytest.raises(ValueError, match="what evidence a test would take"):
        verdict(CLAIM, {}, kind="cannot be tested")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_draws_a_box(shown, kind):
    verdict(CLAIM, {"x": 1}, as_said="x > 0", kind=kind, **({"limits": "none"} if "tested" in kind else {}))
    assert shown[0][MIME]["kind"] == kind and kind in shown[0]["text/html"]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"claim": "Z99"}, KeyError, "there is no claim 'Z99' in the ledger; it has .*G1"),
        ({"kind": "guess"}, ValueError, "kind is 'guess'; it must be one of experiment, proof"),
        ({"measured_on": "paper"}, ValueError, "measured_on is 'paper'; it must be one of arithmetic, toy French"),
        ({"as_said": ""}, ValueError, "the condition `as_said` is missing"),
        ({"as_said": "y > 1"}, ValueError, "the condition 'y > 1' uses 'y'; the figures are x"),
        ({"finding": "{y:.0%}"}, ValueError, "the finding uses 'y'; the figures are x"),
        ({"as_said": "open('f')"}, ValueError, "uses 'open'; the figures are x"),
        ({"as_said": "x"}, TypeError, "the condition 'x' gives 1; it must be a comparison"),
        ({"as_said": "x > 1", "within": "x + 1", "limits": "some"}, TypeError, "'x . 1' gives 2"),
        ({"within": "x > 0"}, ValueError, "give both a condition `within` and its `limits`"),
        ({"limits": "some"}, ValueError, "give both a condition `within` and its `limits`"),
    ],
)
def test_a_box_that_cannot_be_computed_is_refused(shown, arguments, error, message):
    with pytest.raises(error, match=message):
        verdict(**{"claim": CLAIM, "figures": {"x": 1}, "as_said": "x > 0", **arguments})
    assert shown == []


# ---- the box ----


def test_the_box_carries_all_that_decided_it(shown, monkeypatch):
    monkeypatch.setenv("COURSE_SEED", "3")
    ahead = Effect(0.3, 0.2, 0.4, "share of items", "5 runs")
    figures = {"wide": np.float64(0.123456789), "steps": 3, "ahead": ahead}
    verdict(
        CLAIM,
        figures,
        as_said="wide > 1",
        within="wide > 0.1 and ahead > line",
        limits="<short> sentences",
        finding="{wide:.0%} of <{steps}> steps",
    )
    assert all("0.3 [0.2, 0.4] share of items, line 0.1, over 5 runs" in shown[0][kind] for kind in DRAWN)
    assert "12% of &lt;3&gt; steps" in shown[0]["text/html"] and "12% of <3> steps" in shown[0]["text/plain"]
    outputs = [{"output_type": "display_data", "data": json.loads(json.dumps(shown[0])), "metadata": {}}]
    cells = [{"cell_type": "markdown", "source": ""}, {"cell_type": "code", "source": "", "outputs": outputs}]
    assert boxes({"cells": cells}) == [
        {
            "id": CLAIM,
            "kind": "experiment",
            "verdict": "holds only if",
            "finding": "12% of <3> steps",
            "figures": {"wide": 0.123457, "steps": 3, "ahead": 0.3},
            "effects": {"ahead": {"mean": 0.3, "low": 0.2, "high": 0.4, "unit": "share of items", "over": "5 runs"}},
            "as_said": "wide > 1",
            "within": "wide > 0.1 and ahead > line",
            "limits": "<short> sentences",
            "scope": "",
            "measured_on": "toy French",
            "seed": 3,
        }
    ]


def test_every_verdict_says_what_was_tried_and_one_with_limits_says_what_it_needs(shown):
    words = {"within": "x > 1", "limits": "in short sentences", "scope": "on one thread"}
    for x in (1, 2, 3):
        verdict(CLAIM, {"x": x}, as_said="x > 2", **words)
    wanted = "DOES NOT HOLD: on one thread", "HOLDS ONLY IF in short sentences. Tried: on one thread"
    for bundle, told in zip(shown, (*wanted, "HOLDS: on one thread"), strict=True):
        assert f"\n{told}\n" in bundle["text/plain"]


def test_the_plain_sense_of_a_claim_stands_in_its_box(shown):
    verdict("G9", {"x": 1}, as_said="x > 0")
    assert f"that is: {ledger()['G9']['sense']}" in shown[0]["text/html"]


def test_the_box_is_readable_without_colour_and_with_a_screen_reader(shown):
    verdict(CLAIM, {"state_64": 0.5}, as_said="state_64 > 0.9")
    drawn = shown[0]["text/html"]
    assert f'role="note" aria-label="Verdict on claim {CLAIM}"' in drawn
    assert "✗ does not hold" in drawn and "state 64" in drawn and "state_64 &gt; 0.9" in drawn
    assert shown[0]["text/plain"].splitlines()[-1] == "  state 64: 0.5"


def test_a_word_that_is_spoken_of_is_set_in_italics(shown, monkeypatch):
    monkeypatch.setattr(claims, "ledger", lambda: {"X": {"sentence": "*it* looks at 2*3", "said_by": "me"}})
    verdict("X", {"x": 1.0}, as_said="x < 2")
    assert "<em>it</em> looks at 2*3" in shown[0]["text/html"]


def test_words_are_escaped(shown, monkeypatch):
    claim = {"sentence": '"a < b & <i>c</i>"', "said_by": "<b>me</b>"}
    monkeypatch.setattr(claims, "ledger", lambda: {"<X>": claim})
    verdict("<X>", {"<u>": 1.0}, as_said="1 < 2")
    drawn = shown[0]["text/html"]
    assert "a &lt; b &amp; &lt;i&gt;" in drawn
    assert not any(mark in drawn for mark in ("<i>", "<u>", "<X>", "<b>me"))


def test_a_claim_without_a_box_is_missed(shown):
    wanted = missing_boxes({"cells": []}, "rnn_bottleneck")
    assert CLAIM in wanted and all("rnn_bottleneck" in ledger()[claim]["tested_in"] for claim in wanted)
    verdict(CLAIM, {"x": 1}, as_said="x > 0")
    cells = [{"outputs": [{"data": shown[0]}]}]
    assert missing_boxes({"cells": cells}, "rnn_bottleneck") == wanted - {CLAIM}
    assert missing_boxes({"cells": []}, "no_such_lesson") == set()


# ---- experiments ----

CELL = """
@lesson.experiment(variants={{"narrow": {{"size": 2}}, "wide": {{"size": 3}}}}, seeds={seeds}, alone=True)
def power(seed, size):
    note(size, seed)
    return {{"value": {formula}, "curve": (seed, 1 / 3)}}
"""
RUNS = []


def note(size, seed):
    """Keeps what was run."""
    RUNS.append((size, seed))
    if len(RUNS) == note.stop:
        raise KeyboardInterrupt


note.stop = None
note.__module__ = "course_lib.processes"  # which is no part of a fingerprint


@pytest.fixture
def experiment(notebook, tmp_path, monkeypatch):
    """Makes the experiment `power` again, as rerunning a notebook does, and returns it with a list of its runs."""

    def make(formula="size**seed", seeds=2, stop=None):
        RUNS.clear()
        monkeypatch.setattr(note, "stop", stop)
        names = notebook(CELL.format(formula=formula, seeds=seeds), lesson=Lesson("trial"), note=note)
        names["power"].file = tmp_path / "recorded" / "trial.json"
        return names["power"], RUNS

    return make


@pytest.fixture
def recorded(experiment):
    record(experiment()[0])


def test_live_runs_each_variant_once_with_the_courses_seed(experiment, monkeypatch):
    power, runs = experiment()
    monkeypatch.setenv("COURSE_SEED", "3")
    found = power.live()
    assert runs == [(2, 3), (3, 3)]
    assert found == {"narrow": {"value": 8, "curve": [3, 0.333333]}, "wide": {"value": 27, "curve": [3, 0.333333]}}
    assert list(power.live("wide")) == ["wide"] and runs[2:] == [(3, 3)]


def test_live_and_side_by_side_give_the_same(experiment):
    power, _ = experiment()
    alone = power.live()
    power.alone = False
    assert power.live() == alone


def test_an_experiment_can_still_be_called():
    assert Lesson("trial").experiment(variants={})(lambda seed, size: seed + size)(1, size=2) == 3


def test_a_fresh_record_is_used_without_a_run(experiment, recorded, monkeypatch):
    for mode in ("", "strict"):
        monkeypatch.setenv("COURSE_MODE", mode)
        power, runs = experiment()
        record(power)
        found = power.recorded()
        assert runs == [] and found.label == "recorded: 2 seeds"
        assert [run["value"] for run in found.results["narrow"]] == [2, 4]
        assert [run["value"] for run in found.results["wide"]] == [3, 9]


def test_recorded_seeds_are_not_the_live_one(experiment):
    assert claims.course_seed() not in experiment()[0].seeds


def test_records_of_other_code_are_labelled_and_refused_in_strict_mode(experiment, recorded, monkeypatch):
    power, runs = experiment(formula="size + seed")
    found = power.recorded()
    assert found.label == "recorded: 2 seeds, by other code than this" and runs == []
    assert [run["value"] for run in found.results["wide"]] == [3, 9]
    monkeypatch.setenv("COURSE_MODE", "strict")
    with pytest.raises(LookupError, match="power is recorded by other code: narrow, wide; `make record` records it"):
        power.recorded()


def test_only_the_variant_that_changed_is_stale(experiment, recorded, monkeypatch):
    power, runs = experiment()
    power.variants["wide"] = {"size": 4}
    monkeypatch.setenv("COURSE_MODE", "strict")
    with pytest.raises(LookupError, match="recorded by other code: wide;"):
        power.recorded()
    record(power)
    assert [run["value"] for run in power.recorded().results["wide"]] == [4, 16]
    assert runs == [(4, 1), (4, 2)]


@pytest.mark.parametrize("mode", ["", "strict"])
def test_without_a_record_nothing_is_drawn(experiment, monkeypatch, mode):
    monkeypatch.setenv("COURSE_MODE", mode)
    power, runs = experiment()
    with pytest.raises(LookupError, match="power is not recorded: narrow, wide; `make record` records it"):
        power.recorded()
    assert runs == [] and not power.file.exists()


def test_more_seeds_than_recorded_are_missed_and_recording_adds_only_those(experiment, recorded):
    power, runs = experiment(seeds=3)
    with pytest.raises(LookupError, match="not recorded: narrow, wide"):
        power.recorded()
    record(power)
    assert power.recorded().label == "recorded: 3 seeds"
    assert runs == [(2, 3), (3, 3)]


def test_recording_again_after_a_change_runs_all_seeds_and_replaces_the_old(experiment, recorded, monkeypatch):
    power, runs = experiment(formula="size + seed")
    record(power)
    assert sorted(runs) == [(2, 1), (2, 2), (3, 1), (3, 2)]
    monkeypatch.setenv("COURSE_MODE", "strict")
    assert [run["value"] for run in power.recorded().results["wide"]] == [4, 5]


def test_a_recording_that_was_stopped_keeps_what_is_done_and_goes_on_from_there(experiment):
    power, runs = experiment(stop=3)
    with pytest.raises(KeyboardInterrupt):
        record(power)
    done, stopped = runs[:2], runs[2:]
    assert len(stopped) == 1
    kept = json.loads(power.file.read_text("utf-8"))["power"]
    assert sum(len(variant["seeds"]) for variant in kept.values()) == 2
    power, runs = experiment()
    record(power)
    assert runs[:1] == stopped and sorted(done + runs) == [(2, 1), (2, 2), (3, 1), (3, 2)]


def test_a_record_keeps_the_other_experiments_of_the_lesson(experiment):
    power, _ = experiment()
    power.file.parent.mkdir()
    power.file.write_text('{"another": {"variant": {"hash": "0", "seeds": {"1": 5}}}}', "utf-8")
    record(power)
    kept = json.loads(power.file.read_text("utf-8"))
    assert kept["another"] == {"variant": {"hash": "0", "seeds": {"1": 5}}}
    assert list(kept) == ["another", "power"]
    assert all(re.fullmatch("[0-9a-f]{16}", variant["hash"]) for variant in kept["power"].values())
    assert [file.name for file in power.file.parent.iterdir()] == ["trial.json"]


def test_recording_in_workers_gives_the_same_file(experiment):
    texts = []
    for alone in (True, False):
        power, _ = experiment()
        power.file.unlink(missing_ok=True)
        power.alone = alone
        record(power)
        texts.append(json.loads(power.file.read_text("utf-8")))
    assert texts[0] == texts[1]


def test_reading_a_record_never_runs_or_writes(experiment, recorded, monkeypatch):
    for mode in ("", "strict", "record"):
        monkeypatch.setenv("COURSE_MODE", mode)
        power, runs = experiment(formula="size + seed")
        before = power.file.read_bytes()
        with contextlib.suppress(LookupError):
            power.recorded()
        assert runs == [] and power.file.read_bytes() == before


def test_a_record_says_on_what_it_was_made(experiment, recorded):
    power, _ = experiment(seeds=3)
    assert [entry["made"] for entry in power.kept().values()] == [[machine()]] * 2
    day, torch_version, processor, factor = machine().split(", ")
    assert day == date.today().isoformat() and torch_version == f"torch {torch.__version__}" and processor
    assert re.fullmatch(r"\d+\.\d times the reference's seconds", factor)
    older = {variant: {**entry, "made": ["2025-01-01, torch 2.0, DEFAULT"]} for variant, entry in power.kept().items()}
    power.file.write_text(json.dumps({"power": older}), "utf-8")
    record(power)
    assert power.kept()["wide"]["made"] == ["2025-01-01, torch 2.0, DEFAULT", machine()]
    assert power.recorded().made == f"2025-01-01, torch 2.0, DEFAULT; {machine()}"
