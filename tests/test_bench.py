"""The benchmark times only what computes the same, and its tables say what was timed."""

from functools import partial

import pytest
import torch
from small_gguf import SMALL, weights, written
from torch.testing import assert_close

from course_lib import __main__ as front_door
from course_lib.attention import AdditiveScore, MultiHeadAttention
from course_lib.pretrained import from_gguf
from course_lib.recurrent import EncoderDecoder
from course_lib.tools import bench, bench_in_page
from course_lib.training import next_token_loss, translation_loss
from course_lib.transformer import Transformer

TINY = {"size": 8, "heads": 2, "layers": 2, "length": 5}


@pytest.fixture
def clock(monkeypatch):
    """Two ways, of 2 s and 4 s, 6 s and 3 s, 3 s and 3 s."""
    times = iter([0, 2, 10, 14, 20, 26, 30, 33, 40, 43, 50, 53])
    monkeypatch.setattr(bench.time, "process_time", lambda: next(times))


def test_a_table_has_medians_and_what_is_relative_within_a_round(clock):
    calls = []
    ways = {"one": lambda: calls.append(1) or 5, "two": lambda: calls.append(2) or 6}
    title, _, *rows = bench.table("Title", ways, lambda *results: calls.append(results), rounds=3).splitlines()
    assert title == "Title" and calls == [1, 2, (5, 6), 1, 2, 1, 2, 1, 2]
    assert [row.split() for row in rows] == [
        ["one", "3,000.00", "1.000", "(1.000", "–", "1.000)"],
        ["two", "3,000.00", "1.000", "(0.500", "–", "2.000)"],
    ]


def test_a_speed_is_words_a_second_and_relative_to_the_first(clock):
    _, head, one, two = bench.table("", dict.fromkeys("ab", int), bench.equal, words=12, rounds=3).splitlines()
    assert head.split()[0] == "words/s" and one.split()[1:3] == ["4", "1.000"]
    assert two.split()[1:] == ["4", "1.000", "(0.500", "–", "2.000)"]


def test_ways_that_give_something_else_are_not_timed(monkeypatch):
    monkeypatch.delattr(bench.time, "process_time")
    with pytest.raises(AssertionError, match="not close"):
        bench.table("", {"one": lambda: 1.0, "two": lambda: 1.001}, bench.equal)


# ---- each way is the same as ours ----


def test_the_textbook_score_is_the_librarys_and_projects_the_keys_at_each_step():
    score, textbook = AdditiveScore(4, 6, attention_size=3), bench.TextbookScore(4, 6, attention_size=3)
    textbook.load_state_dict(score.state_dict())
    query, keys = torch.randn(2, 4), torch.randn(2, 5, 6)
    assert_close(textbook(query, textbook.project_keys(keys)), score(query, score.project_keys(keys)))
    model, calls = EncoderDecoder(9, 9, hidden_size=4, attention=bench.TextbookScore), []
    model.score.key_projection.register_forward_hook(lambda *_: calls.append(1))
    model(torch.ones(2, 5, dtype=torch.int64), None, torch.ones(2, 3, dtype=torch.int64))
    assert len(calls) == 3


def translators(corpus):
    ours = Transformer(len(corpus.source_vocabulary), len(corpus.target_vocabulary), model_size=8)
    batch = corpus.batch(corpus.train[:6])
    assert not batch.source_mask.all()
    return bench.TorchTransformer(ours, size=8), ours, batch, translation_loss


def language_models(_):
    textbook, ours = bench.language_model(**TINY, **bench.TEXTBOOK), bench.language_model(**TINY, **bench.GPT_2)
    return textbook, ours, torch.randint(1024, (3, 6)), next_token_loss


@pytest.mark.parametrize("models", [translators, language_models])
def test_models_are_the_same_and_share_nothing(corpus, models):
    one, two, batch, loss = models(corpus)
    bench.assert_same(one, two, batch, loss)
    with torch.no_grad():
        for parameter in one.parameters():
            parameter.add_(torch.rand_like(parameter))
    with pytest.raises(AssertionError, match="not close"):
        bench.assert_same(one, two, batch, loss)


@pytest.mark.parametrize("name", [name for name, _ in language_models(None)[1].named_parameters()])
def test_each_parameters_gradient_is_compared(name):
    one, two, batch, loss = language_models(None)
    two.get_parameter(name).register_hook(lambda gradient: gradient / 2 + 1)
    with pytest.raises(AssertionError, match="not close"):
        bench.assert_same(one, two, batch, loss)


class OtherValue(MultiHeadAttention):
    def forward(self, x):
        return super().forward(x)[0] + 1, None


class OtherGradient(MultiHeadAttention):
    def forward(self, x):
        return super().forward(x)[0] + (x - x.detach()), None


@pytest.mark.parametrize("other", [OtherValue, OtherGradient])
def test_heads_that_compute_something_else_are_not_timed(other, monkeypatch):
    monkeypatch.setattr(bench, "MultiHeadAttention", other)
    with pytest.raises(AssertionError, match="not close"):
        next(bench.heads([(2, 3, 8)], rounds=1))


# ---- writing ----


@torch.no_grad()
def test_a_text_written_from_all_words_is_of_the_likeliest_words_and_each_step_reads_all():
    model, prompt, read = bench.language_model(**TINY).eval(), torch.randint(1024, (3, 2)), []
    model.embedding.register_forward_hook(lambda _, inputs, __: read.append(inputs[0].shape[1]))
    logits_of = lambda words: model(words)[0]  # noqa: E731
    written = bench.reading_all(logits_of, prompt, 4)
    assert read == [2, 3, 4, 5] and written.shape == (3, 4)
    bench.assert_likeliest(logits_of, prompt, written)
    for place in range(4):
        other = written.clone()
        other[1, place] = (other[1, place] + 1) % 1024
        with pytest.raises(AssertionError, match="not close"):
            bench.assert_likeliest(logits_of, prompt, written, other)
    model.output.weight.zero_()
    bench.assert_likeliest(logits_of, prompt, other)  # where all are equally likely, any will do


@pytest.mark.slow
def test_a_loaded_model_has_a_table_for_each_length(tmp_path):
    from transformers import BertConfig, BertModel

    BertModel(
        BertConfig(vocab_size=1000, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24)
    ).save_pretrained(tmp_path)
    tables = list(bench.pretrained(tmp_path, lengths=(4, 9), rounds=1))
    assert ["texts of 4 " in tables[0], "texts of 9 " in tables[1], len(tables)] == [True, True, 2]


@pytest.mark.slow
def test_a_model_that_writes_has_tables_for_both_and_its_memory(tmp_path, monkeypatch):
    file = written(tmp_path / "small.gguf", SMALL, weights(SMALL))
    reads, writes, memory = bench.generative(file, read=20, written=5, rounds=1)
    assert "reads 20 tokens" in reads and "writes 5 tokens" in writes and memory.startswith("MB of a process")
    monkeypatch.setattr(bench, "from_gguf", lambda file: other)
    other = from_gguf(file)
    other.encoder.last.weight.data += 0.01
    with pytest.raises(AssertionError, match="not close"):
        next(bench.generative(file, rounds=1))
    monkeypatch.setenv("COURSE_MODELS", str(tmp_path))
    assert "make model" in next(bench.generative())


# ---- the verb ----


@pytest.mark.slow
def test_the_verb_prints_all_tables(corpus, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(bench, "toy_french", lambda **_: corpus)
    monkeypatch.setattr(bench, "LESSON_8", TINY)
    monkeypatch.setattr(bench, "LARGER", {**TINY, "layers": 1})
    short = {
        "translators": {"steps": 1}, "heads": {"shapes": [(2, 3, 8)]}, "writing": {"translated": 3, "written": 3},
        "cores": {"length": 70}, "sharing": {"length": 5, "texts": 2}, "pretrained": {"lengths": [5]},
        "generative": {"file": written(tmp_path / "small.gguf", SMALL, weights(SMALL)), "read": 20, "written": 5},
    }  # fmt: skip
    quick = [partial(measured, rounds=1, **short.get(measured.__name__, {})) for measured in bench.ALL]
    monkeypatch.setattr(bench, "ALL", quick)
    monkeypatch.setattr(bench_in_page.web, "chromium", lambda: None)
    before = torch.get_num_threads()
    front_door.bench([])
    torch.set_num_threads(before)
    _, *told = capsys.readouterr().out.strip().split("\n\n")
    assert [len(each.splitlines()) for each in told] == [5, 5, 4, 4, 4, 4, 4, 4, 4, 5, 1, 4, 4, 4, 4, 1, 1, 1]
    assert told[10].startswith("peak MiB: all scores")
    assert told[-1] == "06_transformer_trained was not timed: no browser was found."
