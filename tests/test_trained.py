"""A lesson looks into this run's model only if it has learned its task."""

import pytest
import torch
from torch import nn

from course_lib import trained
from course_lib.claims import Lesson
from course_lib.tools import recording


def build():
    return nn.Linear(1, 1, bias=False)


def share(model):
    return model.weight.item()


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Makes a model whose training with a seed ends at the ability given for that seed."""
    monkeypatch.setattr(trained, "FOLDER", tmp_path / "models")
    monkeypatch.setenv("COURSE_MODE", "")
    monkeypatch.setenv("COURSE_SEED", "0")
    shown = []
    monkeypatch.setattr(trained, "display", lambda bundle, raw: shown.append(bundle))

    def make(**abilities):
        reached, done = {int(name[1:]): value for name, value in abilities.items()}, []

        @Lesson("trial").model(build=build, ability=share, what="the pronouns are right", at_least=0.95)
        def taught(seed):
            done.append(seed)
            model = build()
            nn.init.constant_(model.weight, reached[seed])
            return model

        taught.shown, taught.trained = shown, done
        return taught

    return make


def test_this_runs_model_is_read_if_it_can_do_what_it_must(made):
    model = made(s0=0.97, s1=1.0)
    recording.record_model(model)
    assert share(model.checked()) == pytest.approx(0.97) and model.seed == 0
    assert model.shown[0]["text/markdown"] == "This run's model has learned enough: 97% of the pronouns are right."


def test_else_the_recorded_one_is_and_the_lesson_says_so(made):
    model = made(s0=0.63, s1=0.7, s2=0.99)
    recording.record_model(model)
    read = model.checked()
    assert share(read) == pytest.approx(0.99) and not read.training and model.seed == trained.RECORDED
    assert share(model(model.seed)) == pytest.approx(0.99) and share(model(0)) == pytest.approx(0.63)
    (shown,) = model.shown
    assert shown[trained.MIME] == {"model": "taught", "share": pytest.approx(0.63), "at_least": 0.95}
    said = shown["text/markdown"]
    assert "hasn't learned enough:** 63% of the pronouns" in said and "95% are needed" in said and "(99%)" in said


def test_a_lesson_that_does_not_train_one_reads_the_recorded_one(made):
    model = made(s1=0.99)
    recording.record_model(model)
    assert share(model.recorded()) == pytest.approx(0.99) and model.seed == trained.RECORDED
    assert model.trained == [1] and model.shown == []


def test_the_first_recorded_seed_that_learns_it_is_kept_and_none_is_an_error(made):
    model = made(s1=0.9, s2=0.94, s3=0.96)
    recording.record_model(model)
    assert model.kept()["seed"] == 3
    model.file.unlink()
    with pytest.raises(RuntimeError, match="taught did not reach 0.95 of the pronouns are right with five seeds"):
        recording.record_model(made(**{f"s{seed}": 0.9 for seed in range(1, 6)}))


def test_weights_of_todays_code_are_not_made_again(made):
    model = made(s1=1.0)
    recording.record_model(model)
    kept = model.file.read_bytes()
    recording.record_model(model)
    assert model.file.read_bytes() == kept and model.trained == [1]


def test_what_is_not_recorded_or_by_other_code_in_strict_mode_is_refused(made, monkeypatch):
    model = made(s0=1.0, s1=1.0)
    with pytest.raises(LookupError, match="the model taught is not recorded; `make record` records it"):
        model.checked()
    recording.record_model(model)
    monkeypatch.setattr(trained.TrainedModel, "hash", lambda self: "another")
    model.checked()
    monkeypatch.setenv("COURSE_MODE", "strict")
    with pytest.raises(LookupError, match="was made by other code"):
        model.checked()


def test_an_experiment_runs_with_the_model_that_is_read_and_its_fingerprint_sees_the_training(made):
    model = made(s0=0.5, s1=1.0)
    recording.record_model(model)
    model.checked()

    @Lesson("trial").experiment(variants={"": {}})
    def measured(seed):
        return share(model(seed))

    measured.alone = True
    assert measured.live(seed=model.seed) == {"": 1.0} and measured.live() == {"": 0.5}
    assert trained.fingerprint(model) == trained.fingerprint(model.train)


@pytest.mark.parametrize("way", ["checked", "recorded"])
def test_recording_a_lesson_records_a_model_before_it_is_read(way, made, monkeypatch):
    model = made(s0=0.5, s1=1.0)
    for name in ("checked", "recorded"):
        monkeypatch.setattr(trained.TrainedModel, name, getattr(trained.TrainedModel, name))
    recording.before_checking()
    assert share(getattr(model, way)()) == 1.0
    assert torch.load(model.file, weights_only=True)["seed"] == 1
