"""On a machine that can't keep trained models, training says so at once and works; a damaged file is trained again."""

import json
import os
import pickle
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path

import pytest
import torch
from sweeps import sweep
from torch import nn

from course_lib import __main__, cache, files, speed
from course_lib.processes import side_by_side
from course_lib.tools import model
from course_lib.training import train

TRAINING = """
import torch, sys
from functools import partial
from torch import nn
from course_lib.training import train

def batches(generator):
    print("a step", flush=True, file=sys.stderr)
    yield torch.ones(2, 1)

def loss(model, batch):
    return model(batch).square().mean()

for _ in range(2):
    model, history = train(partial(nn.Linear, 1, 1), batches, loss, steps=1, learning_rate=0.1)
print("trained", len(history.loss))
"""
# What is wrong, and what the process does first, so that it is.
MACHINES = {
    "no home folder is known": """
        import os, pwd
        del os.environ["HOME"], os.environ["COURSE_CACHE"]
        def unknown(number):
            raise KeyError(number)
        pwd.getpwuid = unknown
        """,
    "a file is where the folder would be": """
        import os
        os.environ["COURSE_CACHE"] = __file__ + "/cache"
        """,
    "nothing can be written": """
        import os
        os.environ["COURSE_CACHE"] = "/proc/cache"
        """,
    "the disk is full": """
        import resource
        resource.setrlimit(resource.RLIMIT_FSIZE, (10**6, 10**6))
        """,
    "no folder can be written, not even a temporary one": """
        import os, tempfile
        os.environ["COURSE_CACHE"] = "/proc/cache"
        def none(**_):
            raise FileNotFoundError("No usable temporary directory found")
        tempfile.mkdtemp = none
        """,
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path / "cache"))
    cache._check_room.cache_clear()
    return tmp_path / "cache"


@pytest.mark.skipif(sys.platform != "linux", reason="makes these machines out of Linux")
@pytest.mark.parametrize("machine", sweep(MACHINES, "no home folder is known", "the disk is full"))
def test_training_says_at_its_beginning_that_nothing_can_be_kept_and_works(machine, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(MACHINES[machine]) + TRAINING, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(files.ROOT), "TMPDIR": str(tmp_path)}
    run = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, timeout=300)
    assert run.stdout == "trained 1\n", run.stderr
    told = run.stderr.index("Trained models can't be kept: ")
    assert told < run.stderr.index("a step") and run.stderr.count("models can't be kept") == 1
    assert "set COURSE_CACHE to a folder that can be written" in run.stderr
    assert not list(tmp_path.glob("attention-measured-*"))  # what it kept for itself is gone


def test_without_a_home_folder_the_verbs_that_need_one_say_so(monkeypatch):
    def unknown():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("COURSE_MODELS", raising=False)
    monkeypatch.setattr(Path, "home", unknown)
    with pytest.raises(SystemExit, match="no home folder is known; set COURSE_MODELS to a folder"):
        model.get()
    with pytest.raises(SystemExit, match="JupyterLab needs a home folder .* Let HOME name one"):
        __main__.lab([])


def test_a_model_that_cannot_be_written_at_the_end_is_still_returned(folder, monkeypatch):
    def full(saved, file):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(torch, "save", full)
    with pytest.warns(UserWarning, match="is trained, but it could not be kept: .* No space left"):
        assert trained()[1]
    assert list(folder.iterdir()) == []


def test_a_warning_in_a_worker_process_reaches_the_reader(capsys):
    def job():
        import warnings

        warnings.warn("the sky is falling", stacklevel=1)

    side_by_side({"one": job})
    assert "Warning: the sky is falling" in capsys.readouterr().err


# ---- damaged files ----


def build():
    return nn.Linear(1, 1)


def batches(generator):
    yield torch.ones(2, 1)


def loss(model, batch):
    return model(batch).square().mean()


def trained():
    """Trains, and says whether a step was done."""
    steps, step = [], torch.optim.Adam.step
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.optim.Adam, "step", lambda self, *given: steps.append(step(self, *given)))
        model, history = train(build, batches, loss, steps=3, learning_rate=0.1)
    return [*model.parameters(), history.loss], bool(steps)


DAMAGE = {
    "empty": lambda raw: b"",
    "zeros": lambda raw: bytes(len(raw)),
    "text": lambda raw: b"a letter to my landlord",
    "a pickle": lambda raw: pickle.dumps({"model": {}, "history": {}}),
    "its first bytes": lambda raw: raw[:40],
    "its first half": lambda raw: raw[: len(raw) // 2],
    "all but its last byte": lambda raw: raw[:-1],
    "the beginning is missing": lambda raw: raw[100:],
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_set_aside_and_its_model_trained_again(damage, folder):
    first, _ = trained()
    (kept,) = folder.glob("*.pt")
    raw = kept.read_bytes()
    kept.write_bytes(DAMAGE[damage](raw))
    with pytest.warns(UserWarning, match="file is damaged. It is now .*damaged; training runs again"):
        again, anew = trained()
    assert anew and again == first
    assert kept.with_suffix(".damaged").read_bytes() == DAMAGE[damage](raw)
    assert trained() == (first, False)


def test_no_flipped_bit_changes_a_model(folder):
    """A flip in the zip's own tables may be harmless; whatever it is, the model stays the same."""
    first, _ = trained()
    (kept,) = folder.glob("*.pt")
    raw, again = kept.read_bytes(), 0
    for place in range(0, len(raw), 37):
        kept.write_bytes(raw[:place] + bytes([raw[place] ^ 16]) + raw[place + 1 :])
        cache._is_whole.cache_clear()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(cache.warnings, "warn", lambda *_, **__: None)
            found, anew = trained()
        again += anew
        assert found == first
    assert again > 10


def test_a_folder_in_place_of_a_file_is_set_aside(folder):
    first, _ = trained()
    (kept,) = folder.glob("*.pt")
    kept.unlink()
    kept.mkdir()
    with pytest.warns(UserWarning, match="file is damaged"):
        assert trained() == (first, True)


def test_a_file_that_another_process_takes_away_meanwhile_stops_no_training(folder, monkeypatch):
    trained()
    (kept,) = folder.glob("*.pt")
    monkeypatch.setattr(cache, "_is_whole", lambda file, *_: file.unlink())
    assert trained()[1] and kept.exists()


def test_a_file_is_checked_once_for_each_state(folder, monkeypatch):
    trained()
    checked, check = [], zipfile.ZipFile.testzip
    monkeypatch.setattr(zipfile.ZipFile, "testzip", lambda self: checked.append(1) or check(self))
    trained()
    trained()
    assert len(checked) == 1


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "[1]", "null", "3", '"speed"', "{}", '{"TODAY": null}', '{"TODAY": []}', '{"TODAY": "x"}', "\0"],
)
def test_a_damaged_note_of_the_speed_is_measured_again(content, folder, monkeypatch):
    monkeypatch.setattr(speed, "work", lambda: speed.REFERENCE)
    speed.factor()
    (today,) = json.loads((folder / "speed.json").read_text(encoding="utf-8"))
    (folder / "speed.json").write_text(content.replace("TODAY", today), encoding="utf-8")
    assert speed.factor() == 1
    assert json.loads((folder / "speed.json").read_text(encoding="utf-8")) == {today: 1.0}


def test_a_folder_in_place_of_the_note_of_the_speed_costs_no_lesson(folder, monkeypatch):
    monkeypatch.setattr(speed, "work", lambda: speed.REFERENCE)
    (folder / "speed.json").mkdir(parents=True)
    assert speed.factor() == 1
