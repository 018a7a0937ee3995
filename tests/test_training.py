"""Training: a seed decides, the cache gives back what was trained, and only that."""

import dataclasses
import math
from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.testing import assert_close

from course_lib import training
from course_lib.attention import AdditiveScore
from course_lib.cache import cache_folder
from course_lib.language_models import RecurrentLanguageModel
from course_lib.recurrent import EncoderDecoder
from course_lib.texts import Windows
from course_lib.training import (
    History,
    constant,
    course_seed,
    cross_entropy,
    fit,
    inverse_square_root,
    next_token_loss,
    one_cycle,
    train,
)
from course_lib.transformer import Transformer

EPOCHS = 2


@pytest.fixture(autouse=True)
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path))
    monkeypatch.delenv("COURSE_SEED", raising=False)
    return tmp_path


@pytest.fixture
def build(tiny):
    sizes = len(tiny.source_vocabulary), len(tiny.target_vocabulary)
    return partial(EncoderDecoder, *sizes, hidden_size=8, embedding_size=8)


@pytest.fixture
def no_training(monkeypatch):
    """Makes training impossible from now on; a fingerprint doesn't cover `torch`."""

    def refuse(*_, **__):
        raise AssertionError("it was trained again")

    return lambda: monkeypatch.setattr(torch.optim.Optimizer, "__init__", refuse)


def equal(one, two):
    pairs = zip(one.state_dict().items(), two.state_dict().items(), strict=True)
    return all(name == other and torch.equal(a, b) for (name, a), (other, b) in pairs)


# ---- the seed ----


@pytest.mark.slow
def test_the_same_seed_gives_the_same_weights_and_another_seed_others(build, tiny, tmp_path, monkeypatch):
    models, losses = [], []
    for number, seed in enumerate((1, 1, 2)):
        monkeypatch.setenv("COURSE_CACHE", str(tmp_path / str(number)))  # so that each is trained
        torch.manual_seed(number)
        model, history = fit(build, tiny, epochs=EPOCHS, seed=seed)
        models.append(model)
        losses.append(history.loss)
    assert equal(models[0], models[1]) and losses[0] == losses[1]
    assert not equal(models[0], models[2]) and losses[0] != losses[2]


@pytest.mark.slow
def test_course_seed_decides_where_no_seed_is_given(build, tiny, monkeypatch, no_training):
    assert course_seed() == 0
    plain, _ = fit(build, tiny, epochs=1)
    monkeypatch.setenv("COURSE_SEED", "7")
    assert course_seed() == 7
    seven, _ = fit(build, tiny, epochs=1)
    assert not equal(plain, seven)
    no_training()
    assert equal(fit(build, tiny, epochs=1, seed=7)[0], seven)
    assert equal(fit(build, tiny, epochs=1, seed=0)[0], plain)


# ---- what it does ----


def test_the_loss_goes_down_and_the_history_tells_it(build, tiny):
    model, history = fit(build, tiny, epochs=6, batch_size=16, learning_rate=1e-2)
    steps = len(history.loss) // 6
    assert len(history.loss) % 6 == 0 and steps >= 300 // 16
    first, last = sum(history.loss[:steps]) / steps, sum(history.loss[-steps:]) / steps
    assert abs(history.loss[0] - math.log(len(tiny.target_vocabulary))) < 0.5
    assert last < 0.8 * first
    assert len(history.validation_accuracy) == 6
    assert all(0 <= accuracy <= 1 for accuracy in history.validation_accuracy)
    assert history.parameters == sum(p.numel() for p in model.parameters())
    assert 0 < history.cpu_seconds < 600
    assert not model.training


@pytest.mark.slow
def test_a_translator_with_attention_learns_too(tiny, build):
    _, history = fit(partial(build, attention=AdditiveScore), tiny, epochs=2, learning_rate=1e-2)
    assert history.loss[-1] < history.loss[0] - 0.3


def test_gradients_are_clipped(build, tiny, monkeypatch):
    norms, clip = [], torch.nn.utils.clip_grad_norm_

    def watch(parameters, norm):
        norms.append(norm)
        return clip(parameters, norm)

    monkeypatch.setattr(torch.nn.utils, "clip_grad_norm_", watch)
    _, history = fit(build, tiny, epochs=1, clip=0.25)
    assert norms == [0.25] * len(history.loss)


def test_padding_of_targets_is_no_part_of_the_loss(build, tiny, tmp_path, monkeypatch):
    """One batch of two targets of unequal length: the loss is the mean over their words."""
    length = next(n for n in range(5, 15) if len({len(p.target) for p in tiny.train if len(p.source) == n}) > 1)
    same = [pair for pair in tiny.train if len(pair.source) == length]
    shortest, longest = min(same, key=lambda p: len(p.target)), max(same, key=lambda p: len(p.target))
    small = dataclasses.replace(tiny, train=(shortest, longest))
    _, history = fit(build, small, epochs=1)

    torch.manual_seed(0)
    model, total, count = build(), 0.0, 0
    for pair in (shortest, longest):
        batch = small.batch([pair])
        logits, _ = model(batch.source, None, batch.target_input)
        total += torch.nn.functional.cross_entropy(logits[0], batch.target_output[0], reduction="sum").item()
        count += len(pair.target) + 1
    assert history.loss == [pytest.approx(total / count, rel=1e-5)]


@pytest.mark.slow
def test_a_transformer_learns_through_the_same_door(tiny):
    sizes = len(tiny.source_vocabulary), len(tiny.target_vocabulary)
    build = partial(Transformer, *sizes, model_size=16, heads=2, layers=1, feed_forward_size=16)
    model, history = fit(build, tiny, epochs=3, learning_rate=1e-2, smoothing=0.1)
    assert history.loss[-1] < history.loss[0] - 0.3
    assert isinstance(model, Transformer) and not model.training


# ---- any task: train ----


def a_line(x):
    return 3 * x - 1


def points(generator):
    for _ in range(4):
        x = torch.randn(16, 1, generator=generator)
        yield x, a_line(x)


def squared_error(model, batch):
    x, y = batch
    return (model(x) - y).square().mean()


def distance(model):
    return -abs(model.weight.item() - 3)


def test_a_line_is_found_in_the_steps_that_were_asked_for():
    model, history = train(
        partial(nn.Linear, 1, 1), points, squared_error, steps=401, learning_rate=0.1, validate=distance
    )
    assert_close(torch.cat([model.weight.flatten(), model.bias]), torch.tensor([3.0, -1.0]), atol=0.02, rtol=0)
    assert len(history.loss) == 401  # the last pass is broken off after its first batch
    assert len(history.validation_accuracy) == len(history.validated_at) == 101
    assert history.validated_at == sorted(history.validated_at) and history.validated_at[-1] == history.cpu_seconds
    assert abs(history.validation_accuracy[-1]) < 0.02


@pytest.mark.parametrize(
    "changed",
    [{"steps": 9}, {"loss": lambda model, batch: squared_error(model, batch).sqrt()}, {"schedule": constant},
     {"schedule": partial(inverse_square_root, warm_up=3)}, {"batches": lambda generator: list(points(generator))[:2]},
     {"optimizer": torch.optim.AdamW}, {"optimizer": partial(torch.optim.Adam, eps=0.1)}],
    ids=["steps", "loss", "another schedule", "schedule with other settings", "batches", "another optimizer",
         "optimizer with other settings"],
)  # fmt: skip
def test_another_task_is_trained_anew(changed, no_training):
    task = {"build": partial(nn.Linear, 1, 1), "batches": points, "loss": squared_error, "steps": 8}
    train(**task, learning_rate=0.1)
    no_training()
    train(**task, learning_rate=0.1, label="another name")
    with pytest.raises(AssertionError, match="trained again"):
        train(**{**task, **changed}, learning_rate=0.1)


def test_the_optimizer_is_put_in():
    task = {"build": partial(nn.Linear, 1, 1), "batches": points, "loss": squared_error, "steps": 1}
    (before, _), (after, _) = (
        train(**task, learning_rate=0.1, schedule=constant, optimizer=partial(torch.optim.AdamW, weight_decay=decay))
        for decay in (0.0, 0.5)
    )
    torch.manual_seed(course_seed())
    start = nn.Linear(1, 1)
    assert_close(before.weight - after.weight, 0.1 * 0.5 * start.weight)


def test_a_measurement_without_gradients_may_ask_for_a_trained_model():
    with torch.no_grad():
        _, history = train(partial(nn.Linear, 1, 1), points, squared_error, steps=80, learning_rate=0.1)
    assert history.loss[-1] < history.loss[0]


def test_no_steps_are_refused():
    with pytest.raises(ValueError, match="steps is 0; it must be at least 1"):
        train(partial(nn.Linear, 1, 1), points, squared_error, steps=0, learning_rate=0.1)


# ---- the learning rate ----


def rates(schedule, steps):
    optimizer = torch.optim.Adam([nn.Parameter(torch.zeros(1))], lr=0.5)
    scheduler, seen = schedule(optimizer, steps), []
    for _ in range(steps):
        seen.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step() if len(seen) < steps else None
    return seen


def test_one_cycle_goes_up_to_the_rate_and_down_to_almost_nothing():
    seen = rates(one_cycle, 100)
    assert max(seen) == pytest.approx(0.5) and 25 <= seen.index(max(seen)) <= 31
    assert seen[0] < 0.03 and seen[-1] < 1e-4


SCHEDULES = {"one cycle": one_cycle, "constant": constant, "warm-up": partial(inverse_square_root, warm_up=2)}


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("steps", [1, 2, 3])
def test_a_few_steps_teach_something(name, steps):
    assert max(rates(SCHEDULES[name], steps)) >= 0.25
    model, history = train(
        partial(nn.Linear, 1, 1), points, squared_error, steps=steps, learning_rate=0.1, schedule=SCHEDULES[name]
    )
    torch.manual_seed(course_seed())
    assert abs(model.weight - nn.Linear(1, 1).weight) > 0.04 and len(history.loss) == steps


def test_a_translator_learns_from_a_single_batch(build, tiny):
    model, history = fit(build, dataclasses.replace(tiny, train=tiny.train[:1]), epochs=1, learning_rate=0.01)
    torch.manual_seed(course_seed())
    assert len(history.loss) == 1 and (model.output.bias - build().output.bias).abs().max() > 0.005


def test_constant_stays():
    assert rates(constant, 10) == [0.5] * 10


def test_warm_up_is_the_papers_formula_scaled_to_its_peak():
    d, w = 512, 40  # d_model^-0.5 · min(t^-0.5, t · w^-1.5), whose peak is (d w)^-0.5
    paper = [d**-0.5 * min(t**-0.5, t * w**-1.5) for t in range(1, 201)]
    seen = rates(partial(inverse_square_root, warm_up=w), 200)
    assert seen == pytest.approx([0.5 * rate * (d * w) ** 0.5 for rate in paper])
    assert seen.index(max(seen)) == w - 1 and max(seen) == pytest.approx(0.5)


def test_no_warm_up_at_all_is_refused():
    with pytest.raises(ValueError, match="warm_up is 0; .*use `constant`"):
        rates(partial(inverse_square_root, warm_up=0), 3)


# ---- the loss ----


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.9])
def test_cross_entropy_and_its_gradient_equal_torchs(smoothing):
    torch.manual_seed(0)
    logits = torch.randn(3, 5, 7, dtype=torch.float64, requires_grad=True)
    words, mask = torch.randint(7, (3, 5)), torch.rand(3, 5) > 0.4
    assert mask.any() and not mask.all()
    for kept in (None, mask):
        targets = words if kept is None else words.masked_fill(~kept, -100)
        ours = cross_entropy(logits, words, kept, smoothing=smoothing)
        torchs = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), label_smoothing=smoothing)
        assert_close(ours, torchs, atol=1e-12, rtol=0)
        assert_close(*(torch.autograd.grad(loss, logits)[0] for loss in (ours, torchs)), atol=1e-12, rtol=0)


def test_the_loss_of_a_language_model_is_that_of_each_next_token():
    torch.manual_seed(0)
    model, window = RecurrentLanguageModel(9, trained_length=4).double(), torch.randint(9, (3, 5))
    read, told = window[:, :4], window[:, 1:]
    torchs = F.cross_entropy(model(read)[0].flatten(0, 1), told.flatten())
    assert_close(next_token_loss(model, window), torchs, atol=1e-12, rtol=0)


# ---- the cache ----


def test_the_second_call_is_read_from_the_cache(build, tiny, no_training, capsys):
    model, history = fit(build, tiny, epochs=EPOCHS)
    assert "validation accuracy" in capsys.readouterr().err
    no_training()
    again, same_history = fit(build, tiny, epochs=EPOCHS)
    assert equal(model, again) and history == same_history
    assert type(same_history) is History and not again.training
    assert capsys.readouterr().err == ""
    source = tiny.batch(tiny.validation[:1]).source
    assert torch.equal(model(source, None, source)[0], again(source, None, source)[0])


@pytest.mark.parametrize(
    "changed", [{"epochs": 2}, {"learning_rate": 1e-3}, {"batch_size": 32}, {"clip": 2.0}, {"seed": 1}]
)
def test_another_setting_is_trained_anew(build, tiny, changed, no_training):
    fit(build, tiny, epochs=1)
    no_training()
    with pytest.raises(AssertionError, match="trained again"):
        fit(build, tiny, **{"epochs": 1, **changed})


def test_another_corpus_or_model_is_trained_anew_and_another_label_is_not(build, tiny, no_training):
    fit(build, tiny, epochs=1)
    no_training()
    fit(build, tiny, epochs=1, label="another name")
    with pytest.raises(AssertionError, match="trained again"):
        fit(partial(build, cell="lstm"), tiny, epochs=1)
    with pytest.raises(AssertionError, match="trained again"):
        fit(build, dataclasses.replace(tiny, train=tiny.train[1:]), epochs=1)


@pytest.mark.parametrize("changed", [Windows(range(98), 4, 2), Windows(range(99), 5, 2), Windows(range(99), 4, 3)])
def test_other_windows_of_a_text_are_trained_on_anew_and_the_same_are_not(changed, no_training):
    build = partial(RecurrentLanguageModel, 99, trained_length=4, hidden_size=4)
    task = partial(train, build, loss=next_token_loss, steps=3, learning_rate=1e-2)
    model, _ = task(Windows(range(99), 4, 2))
    no_training()
    assert equal(task(Windows(range(99), 4, 2))[0], model)
    with pytest.raises(AssertionError, match="trained again"):
        task(changed)


CELL = """
from course_lib.recurrent import EncoderDecoder
def build():  # in the notebook
    return EncoderDecoder(*sizes, hidden_size={}, embedding_size=8)
"""


def test_a_notebooks_function_is_trained_anew_when_its_code_changes(tiny, notebook, no_training):
    sizes = len(tiny.source_vocabulary), len(tiny.target_vocabulary)
    model, _ = fit(notebook(CELL.format(8), sizes=sizes)["build"], tiny, epochs=1)
    no_training()
    again, _ = fit(notebook(CELL.format(8).replace("in the", "in my"))["build"], tiny, epochs=1)
    assert equal(model, again)
    with pytest.raises(AssertionError, match="trained again"):
        fit(notebook(CELL.format(9))["build"], tiny, epochs=1)


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_an_interrupted_write_leaves_no_half_file(build, tiny, empty_cache, monkeypatch, stop):
    save = torch.save

    def interrupted(saved, file):
        save(saved, file)
        file.write_bytes(file.read_bytes()[:100])
        raise stop

    monkeypatch.setattr(torch, "save", interrupted)
    with pytest.raises(stop):
        fit(build, tiny, epochs=1)
    assert list(empty_cache.glob("*.pt")) == []
    monkeypatch.setattr(torch, "save", save)
    model, _ = fit(build, tiny, epochs=1)
    assert len(list(empty_cache.glob("*.pt"))) == 1
    assert equal(model, fit(build, tiny, epochs=1)[0])


def test_the_cache_is_a_folder_of_your_own_unless_named(monkeypatch, tmp_path):
    assert cache_folder() == tmp_path
    monkeypatch.delenv("COURSE_CACHE")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    assert cache_folder() == tmp_path / "home" / ".cache" / "attention-measured"


# ---- what is refused ----


@pytest.mark.parametrize("epochs", [0, -1])
def test_no_epochs_are_refused(build, tiny, epochs):
    with pytest.raises(ValueError, match=f"epochs is {epochs}; it must be at least 1"):
        fit(build, tiny, epochs=epochs)


def test_no_pairs_are_refused(build, tiny):
    with pytest.raises(ValueError, match="the corpus has no pairs to train on"):
        fit(build, dataclasses.replace(tiny, train=()), epochs=1)


@pytest.mark.parametrize("passes", [0, 1, 2])
def test_batches_that_run_dry_are_refused(passes, empty_cache):
    some = iter(list(points(torch.Generator())) * passes)
    with pytest.raises(ValueError, match="batches.generator. gave no batch; .* used up"):
        train(partial(nn.Linear, 1, 1), lambda generator: some, squared_error, steps=99, learning_rate=0.1)
    assert list(empty_cache.glob("*.pt")) == []


@pytest.mark.parametrize("bias", [math.nan, -math.inf])
def test_a_loss_that_is_not_finite_ends_the_training_and_is_not_kept(build, tiny, empty_cache, bias):
    def spoilt():
        model = build()
        model.output.bias.data[5] = bias  # a word that some target has
        return model

    with pytest.raises(
        FloatingPointError, match="label: the loss is (nan|inf) at step .*; try a learning rate below 0.005"
    ):
        fit(spoilt, tiny, epochs=1, label="label")
    assert list(empty_cache.glob("*.pt")) == []


def test_nothing_is_written_to_the_corpus(build, tiny):
    before = tiny.fingerprint, tiny.train
    fit(build, tiny, epochs=1)
    assert (training.Corpus(*[getattr(tiny, f.name) for f in dataclasses.fields(tiny) if f.init]).fingerprint,
            tiny.train) == before  # fmt: skip
