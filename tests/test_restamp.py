"""Records are carried over a change of the code that changes no result, and over no other."""

import io
import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import torch
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from course_lib.curriculum import name_of
from course_lib.tools import recording, restamp

ROOT = Path(__file__).parent.parent

NUMBERS = '''"""Numbers for the trial."""


def double(x):
    return {double}


def triple(x):
    return {triple}
'''
LESSON = (
    """
from course_lib import claims
from course_lib.numbers_of_the_trial import double, triple
lesson = claims.Lesson("{name}")
""",
    """
@lesson.experiment(variants={"small": {"size": 2}, "large": {"size": 300}}, seeds=2, alone=True)
def doubled(seed, size):
    return {"value": double(size) + seed / PARTS, "cpu_seconds": __import__("time").perf_counter()}
""",
    """
PARTS = 3
@lesson.experiment(variants={"one": {}}, seeds=2)
def tripled(seed):
    return [triple(seed), "a word"]
runs = tripled.recorded()
""",
    "found = doubled.recorded()",
    "raise ValueError('what stands behind the last record is not run')",
)
TRAINING = (
    """
import torch
from torch import nn
from course_lib import claims, training
from course_lib.numbers_of_the_trial import double
lesson = claims.Lesson("{name}")
def build():
    return nn.Linear(2, 1)
def batches(generator):
    yield torch.rand(4, 2, generator=generator)
def loss(model, batch):
    return double(model(batch)).square().mean()
def train(seed):
    return training.train(build, batches, loss, steps=300, learning_rate=0.1, seed=seed)
def ability(model):
    return 1.0
""",
    """
@lesson.experiment(variants={"long": {}}, seeds=2)
def losses(seed):
    return train(seed)[1].loss
@lesson.model(build=build, ability=ability, what="all", at_least=0.5)
def small(seed):
    return train(seed)[0]
""",
    "runs, model = losses.live(), small.checked()",
    "found = losses.recorded()",
)
DRIVER = """
import os, sys
from course_lib.tools import lessons, recording, restamp
if sys.argv[1:]:
    print(*restamp.restamp(sys.argv[1], dict(os.environ), *map(int, sys.argv[2:])), sep="\\n")
else:
    for path in lessons.find():
        recording.record_lesson(path, dict(os.environ))
"""


class Trial:
    """A repository with the library and one small lesson, whose code changes from revision to revision."""

    def __init__(self, folder):
        self.folder = folder
        if any(folder.iterdir()):
            return
        tracked = self.run("git", "-C", ROOT, "ls-files", "-co", "--exclude-standard", "course_lib", at=ROOT)
        for name in tracked.splitlines():
            if (ROOT / name).is_file() and "/recorded/" not in name:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes((ROOT / name).read_bytes())
        (folder / "notebooks").mkdir()
        self.run("git", "init", "-q")

    def run(self, *command, at=None):
        variables = {**os.environ, "PYTHONPATH": str(self.folder), "COURSE_MODE": "", "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            list(map(str, command)), cwd=at or self.folder, env=variables, text=True, capture_output=True
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout

    def commit(self, name="01_trial", double="2 * x", triple="3 * x", lesson=LESSON):
        file = self.folder / "course_lib" / "numbers_of_the_trial.py"
        file.write_text(NUMBERS.format(double=double, triple=triple), "utf-8")
        for path in (self.folder / "notebooks").glob("*.ipynb"):
            path.unlink()
        cells = [new_code_cell(source.replace("{name}", name_of(name))) for source in lesson]
        notebook = new_notebook(cells=[new_markdown_cell("# A trial"), *cells])
        nbformat.write(notebook, self.folder / "notebooks" / f"{name}.ipynb")
        self.run("git", "add", "-A")
        self.run("git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a step")

    def python(self, *arguments):
        """Records, or carries over from a revision."""
        return self.run(sys.executable, "-c", DRIVER, *arguments)

    def revision(self, name):
        return self.run("git", "rev-parse", "--short=10", name).strip()

    @property
    def recorded(self):
        return self.folder / "course_lib" / "data" / "recorded"

    @property
    def records(self):
        (file,) = self.recorded.glob("*.json")
        return json.loads(file.read_text("utf-8"))

    def another_rule(self):
        """A revision in which the same code has other hashes."""
        rule = self.folder / "course_lib" / "fingerprint.py"
        rule.write_text(rule.read_text("utf-8").replace(".sha256(", ".sha1("), "utf-8")

    def results(self):
        """What restamp has run so far."""
        files = self.folder.glob("build/restamp/*/*/*ed.json")
        return {file.name: file.read_text("utf-8") for file in sorted(files) if "stale" not in file.name}


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """With one revision, and its records."""
    trial = Trial(tmp_path_factory.mktemp("trial"))
    trial.commit()
    trial.python()  # which records
    trial.commit()
    return trial.folder


@pytest.fixture
def trial(first, tmp_path):
    shutil.copytree(first, tmp_path / "trial")
    return Trial(tmp_path / "trial")


pytestmark = pytest.mark.notebook


@pytest.mark.large
def test_a_record_is_carried_where_a_seed_gives_the_same_and_only_there(trial):
    """In a lesson that has another name by now, whatever the machine that made the record gave."""
    before = trial.records
    before["doubled"]["small"]["seeds"]["1"]["value"] += 0.001
    (file,) = trial.recorded.glob("*.json")
    file.write_text(json.dumps(before), "utf-8")
    file.rename(trial.recorded / "renamed.json")
    trial.commit("04_renamed", double="x + x", triple="3 * x + 1")
    assert trial.python("HEAD~1").splitlines()[-1] == "renamed, tripled, one: the results differ"
    after, ran = trial.records, trial.results()
    assert after["tripled"] == before["tripled"]
    for variant, entry in after["doubled"].items():
        assert entry["hash"] != before["doubled"][variant]["hash"]
        assert entry == before["doubled"][variant] | {
            "hash": entry["hash"],
            "carried": [trial.revision("HEAD~1") + ", 20 steps"],
        }
    asked = {name: list(json.loads(results)) for name, results in ran.items() if name.startswith("renamed")}
    assert asked == {
        "renamed.doubled.json": ["small, 20 steps", "large, 20 steps"],
        "renamed.tripled.json": ["one, 20 steps"],
    }
    assert trial.python("HEAD~1").splitlines()[-1] == "renamed, tripled, one: the results differ"
    assert trial.results() == ran, "what was run is not run again"


@pytest.mark.large
def test_with_steps_no_training_is_longer_and_weights_are_carried_too(tmp_path):
    trial = Trial(tmp_path)
    trial.commit(lesson=TRAINING)
    trial.python()
    trial.commit(lesson=TRAINING)
    (weights,) = (trial.folder / "course_lib" / "data" / "models").glob("small.pt")
    records, made = trial.records, weights.read_bytes()

    trial.commit(double="2 * x + 1", lesson=TRAINING)
    assert trial.python("HEAD~1", 3).splitlines()[-2:] == [
        "trial, small, its weights: the results differ",
        "trial, losses, long: the results differ",
    ]
    assert (trial.records, weights.read_bytes()) == (records, made)

    trial.commit(double="x + x", lesson=TRAINING)
    assert trial.python("HEAD~2", 3).splitlines()[-1] == ""
    entry, before = trial.records["losses"]["long"], records["losses"]["long"]
    assert entry == before | {"hash": entry["hash"], "carried": [trial.revision("HEAD~2") + ", 3 steps"]}
    assert entry["hash"] != before["hash"] and len(entry["seeds"]["1"]) == 300
    kept, old = torch.load(weights, weights_only=True), torch.load(io.BytesIO(made), weights_only=True)
    hashed = kept.pop("hash")
    assert hashed != old.pop("hash") and str(kept) == str(old)
    ran = [json.loads(file.read_text("utf-8")) for file in trial.folder.glob("build/restamp/*/*/*.losses.json")]
    assert {len(losses) for results in ran for losses in results.values()} == {3}

    trial.another_rule()
    trial.commit(double="x + x", lesson=TRAINING)
    assert trial.python("HEAD~1").splitlines()[-1] == ""
    again = torch.load(weights, weights_only=True)
    assert again.pop("hash") != hashed and str(again) == str(kept)
    assert trial.records["losses"]["long"]["hash"] != entry["hash"]
    assert not [*trial.folder.glob(f"build/restamp/{trial.revision('HEAD~1')}/*/*.json")], "nothing was run"


@pytest.mark.large
def test_another_rule_of_hashing_takes_no_run(trial):
    before = trial.records
    trial.another_rule()
    trial.commit()
    assert trial.python("HEAD~1").splitlines()[-1] == "" and trial.results() == {}
    for name, variants in trial.records.items():
        for variant, entry in variants.items():
            assert entry["hash"] != before[name][variant]["hash"] and "carried" not in entry
            assert entry["seeds"] == before[name][variant]["seeds"]


def test_a_revision_that_is_none_is_refused(tmp_path):
    with pytest.raises(SystemExit, match="There is no revision 'nowhere'; name a commit"):
        restamp.unpacked("nowhere")


def test_only_what_a_clock_gave_is_left_out_of_the_comparison():
    result = {"cpu_seconds": 3, "validated_at": [1, 2], "at": [3], "right": {"CPU-seconds": 1, "at all": 0.5}}
    assert restamp.without_clocks(result) == {"right": {"at all": 0.5}}


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ({"loss": [2.0002, math.nan], "right": 0, "word": "le"}, True),
        ({"loss": [2.02, math.nan], "right": 0, "word": "le"}, False),
        ({"loss": [2.0, 1.0], "right": 0, "word": "le"}, False),
        ({"loss": [2.0], "right": 0, "word": "le"}, False),
        ({"loss": [2.0, math.nan], "right": 1, "word": "le"}, False),
        ({"loss": [2.0, math.nan], "right": 0, "word": "la"}, False),
        ({"loss": [2.0, math.nan], "right": 0}, False),
    ],
)
def test_results_agree_if_numbers_differ_by_rounding_only(other, same):
    assert restamp.agree({"loss": [2.0, math.nan], "right": 0, "word": "le"}, other) == same


def test_experiments_are_found_where_they_are_defined():
    assert [recording.defined_in(new_code_cell(source)) for source in LESSON] == [[], ["doubled"], ["tripled"], [], []]
    assert recording.defined_in(new_code_cell(TRAINING[1])) == ["losses", "small"]
    assert recording.defined_in(new_markdown_cell("@lesson.experiment()")) == []
