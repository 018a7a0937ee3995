"""The benchmark compares one computation with itself, and its verb prints a row for each model or length."""

import re
from functools import partial

import pytest
import torch
from torch.testing import assert_close

from course_lib import __main__ as front_door
from course_lib.attention import AdditiveScore, GeneralScore, MultiHeadAttention
from course_lib.language_models import TransformerLanguageModel
from course_lib.recurrent import EncoderDecoder
from course_lib.tools import bench
from course_lib.training import next_token_loss
from course_lib.transformer import Transformer


def test_the_textbook_score_is_the_librarys():
    score, textbook = AdditiveScore(4, 6, attention_size=3), bench.TextbookScore(4, 6, attention_size=3)
    textbook.load_state_dict(score.state_dict())
    query, keys = torch.randn(2, 4), torch.randn(2, 5, 6)
    assert_close(textbook(query, textbook.project_keys(keys)), score(query, score.project_keys(keys)))


def test_the_textbook_projects_the_keys_at_each_step():
    model, calls = EncoderDecoder(9, 9, hidden_size=4, attention=bench.TextbookScore), []
    model.score.key_projection.register_forward_hook(lambda *_: calls.append(1))
    model(torch.ones(2, 5, dtype=torch.int64), None, torch.ones(2, 3, dtype=torch.int64))
    assert len(calls) == 3


@pytest.mark.parametrize("parameter", ["score.energy.weight", "encoder.weight_hh_l0"])
def test_models_that_compute_something_else_are_not_compared(corpus, parameter):
    sizes = len(corpus.source_vocabulary), len(corpus.target_vocabulary)
    one, two = (EncoderDecoder(*sizes, hidden_size=8, attention=AdditiveScore) for _ in range(2))
    two.load_state_dict(one.state_dict())
    batch = corpus.batch(corpus.train[:4])
    bench.assert_same(one, two, batch)
    with torch.no_grad():
        two.get_parameter(parameter).add_(torch.rand_like(two.get_parameter(parameter)))
    with pytest.raises(AssertionError):
        bench.assert_same(one, two, batch)


def test_nothing_is_timed_unless_the_first_two_compute_the_same(corpus, monkeypatch):
    monkeypatch.setitem(bench.SCORES, "attention, keys at each step", GeneralScore)
    monkeypatch.delattr(bench, "measure")
    before = torch.get_num_threads()
    with pytest.raises(AssertionError, match="not close"):
        bench.compare(corpus, state_size=8, batch_size=4, steps=1, rounds=1)
    assert torch.get_num_threads() == before


def test_a_speed_is_words_a_second_and_the_first_round_is_not_timed(corpus, monkeypatch):
    clock = iter([0, 99, 100, 102, 110, 114])  # one round of 99 s, then two of 2 s and 4 s
    monkeypatch.setattr(bench.time, "process_time", lambda: next(clock))
    sizes = len(corpus.source_vocabulary), len(corpus.target_vocabulary)
    pairs = corpus.train[:4]
    words = sum(len(pair.target) + 1 for pair in pairs)
    speeds = list(bench.measure([EncoderDecoder(*sizes, hidden_size=4)], [corpus.batch(pairs)], rounds=2))
    assert speeds == [[words / 2], [words / 4]]


def test_the_table_has_medians_spreads_and_what_is_relative_within_a_round():
    models = {"one": torch.nn.Linear(2, 3), "two": torch.nn.Linear(2, 3, bias=False)}
    table = bench.table(models, [[1000, 3000], [2000, 4000], [4000, 8000]])  # ratios 3, 2, 2
    assert [line.split() for line in table.splitlines()[1:]] == [
        ["one", "9", "2,000", "(1,000", "–", "4,000)", "1.00"],
        ["two", "6", "4,000", "(3,000", "–", "8,000)", "2.00"],
    ]


def test_the_words_and_the_loss_may_be_others_and_so_may_their_name(monkeypatch):
    clock, seen = iter([0, 99, 100, 102]), []
    monkeypatch.setattr(bench.time, "process_time", lambda: next(clock))
    windows = [torch.randint(9, (2, 6)), torch.randint(9, (3, 6))]

    def loss(model, window):
        seen.append(window)
        return next_token_loss(model, window)

    model = TransformerLanguageModel(9, trained_length=5, model_size=4, heads=1, layers=1)
    (speeds,) = bench.measure([model], windows, rounds=1, loss=loss, words_in=bench.predicted)
    assert speeds == [(2 + 3) * 5 / 2] and len(seen) == 4
    assert bench.table({"one": model}, [[12_500]], "tokens").splitlines()[0].split()[2] == "tokens/s"


def test_a_time_is_of_one_step_and_the_first_round_is_not_timed(monkeypatch):
    clock = iter([0, 99, 100, 199, 200, 202, 210, 214, 220, 223, 230, 231])
    monkeypatch.setattr(bench.time, "process_time", lambda: next(clock))
    assert list(bench.measure_heads((2, 3, 8), heads=2, rounds=2)) == [(2, 4), (3, 1)]


def test_the_table_of_heads_has_medians_and_the_ratio_within_a_round(monkeypatch):
    times = [(0.001, 0.002), (0.006, 0.004), (0.003, 0.003)]  # ratios 0.5, 1.5, 1
    monkeypatch.setattr(bench, "measure_heads", lambda *_: times)
    rows = bench.compare_heads([(32, 64, 256), (8, 512, 256)], rounds=3).split("highest)\n")[1].splitlines()
    assert [re.split(r"  +", row) for row in rows] == [
        [shape, "3.0", "3.0", "1.00", "(0.50 – 1.50)"] for shape in ("32 × 64 × 256", "8 × 512 × 256")
    ]


class OtherValue(MultiHeadAttention):
    def forward(self, x):
        return super().forward(x)[0] + 1, None


class OtherGradient(MultiHeadAttention):
    def forward(self, x):
        return super().forward(x)[0] + (x - x.detach()), None


@pytest.mark.parametrize("other", [OtherValue, OtherGradient])
def test_heads_that_compute_something_else_are_not_timed(other, monkeypatch):
    monkeypatch.setattr(bench, "MultiHeadAttention", other)
    monkeypatch.delattr(bench.time, "process_time")
    before = torch.get_num_threads()
    with pytest.raises(AssertionError, match="not close"):
        bench.compare_heads([(2, 3, 8)], heads=2, rounds=1)
    assert torch.get_num_threads() == before


# ---- the Transformer ----


def torchs_and_ours(corpus):
    torch.manual_seed(0)
    torchs = bench.TorchTransformer(len(corpus.source_vocabulary), len(corpus.target_vocabulary), model_size=8)
    return torchs, torchs.to_ours()


def test_torchs_transformer_is_ours_with_padding_and_shares_nothing(corpus):
    torchs, ours = torchs_and_ours(corpus)
    batch = corpus.batch(corpus.train[:6])
    assert not batch.source_mask.all()
    bench.assert_same(torchs, ours, batch)
    with torch.no_grad():
        for parameter in torchs.parameters():
            parameter.add_(torch.rand_like(parameter))
    with pytest.raises(AssertionError, match="not close"):
        bench.assert_same(torchs, ours, batch)


class OtherSourceGradient(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.source_embedding, self.model = model.source_embedding, model

    def forward(self, source, source_mask, target_input):
        logits, _ = self.model(source, source_mask, target_input)
        x = self.source_embedding(source).sum()
        return logits + (x - x.detach()) * torch.arange(logits.shape[-1]), None


def test_transformers_with_other_gradients_are_not_the_same(corpus):
    torchs, ours = torchs_and_ours(corpus)
    batch = corpus.batch(corpus.train[:6])
    with pytest.raises(AssertionError, match="not close"):
        bench.assert_same(torchs, OtherSourceGradient(ours), batch)


def test_transformers_that_compute_something_else_are_not_timed(corpus, monkeypatch):
    other = Transformer(len(corpus.source_vocabulary), len(corpus.target_vocabulary))
    monkeypatch.setattr(bench.TorchTransformer, "to_ours", lambda _: other)
    monkeypatch.delattr(bench, "measure")
    before = torch.get_num_threads()
    with pytest.raises(AssertionError, match="not close"):
        bench.compare_transformers(corpus, batch_size=4, steps=1, rounds=1)
    assert torch.get_num_threads() == before


# ---- a language model ----

SMALL = bench.Shape(8, 2, 2, length=5, batch_size=3, batches=2)


def textbook_and_ours():
    torch.manual_seed(0)
    textbook = bench.TextbookLanguageModel(20, *SMALL[:4])
    return textbook, textbook.to_ours(), torch.randint(20, (3, 6))


def test_the_textbooks_language_model_is_ours_and_shares_nothing():
    textbook, ours, window = textbook_and_ours()
    names = bench.as_ours(dict(textbook.named_parameters())).keys()
    assert {*names, "output.bias"} == dict(ours.named_parameters()).keys()
    bench.assert_same_as_textbook(textbook, ours, window)
    bench.assert_same_as_textbook(textbook, ours, window[:, :3])
    with torch.no_grad():
        for parameter in textbook.parameters():
            parameter.add_(torch.rand_like(parameter))
    with pytest.raises(AssertionError, match="not close"):
        bench.assert_same_as_textbook(textbook, ours, window)


@pytest.mark.parametrize("name", [name for name, _ in textbook_and_ours()[1].named_parameters()])
def test_each_parameter_of_ours_is_compared(name):
    """Its gradient alone is another."""
    textbook, ours, window = textbook_and_ours()
    parameter = ours.get_parameter(name)
    parameter.register_hook(lambda gradient: gradient / 2 + 1)
    if name == "output.bias":  # the textbook has none
        bench.assert_same_as_textbook(textbook, ours, window)
    else:
        with pytest.raises(AssertionError, match=rf"not close[^$]*{re.escape(name)}"):
            bench.assert_same_as_textbook(textbook, ours, window)


def test_language_models_that_compute_something_else_are_not_timed(monkeypatch):
    other = TransformerLanguageModel(260, trained_length=5, model_size=8, heads=2)
    monkeypatch.setattr(bench.TextbookLanguageModel, "to_ours", lambda _: other)
    monkeypatch.delattr(bench, "measure")
    before = torch.get_num_threads()
    with pytest.raises(AssertionError, match="not close"):
        bench.compare_language_models(TEXT, size=260, shapes=[SMALL], rounds=1)
    assert torch.get_num_threads() == before


TEXT = "while the cat runs, the dog does not run; the cat is black. " * 9


def test_the_tables_of_language_models_are_of_each_shape():
    said = bench.compare_language_models(TEXT, size=300, shapes=[SMALL, SMALL._replace(heads=1)], rounds=2)
    _, two_heads, one_head = said.split("Training a language model")
    assert "d_model 8, 2 heads, 2 layers,\n3 windows of 5 tokens" in two_heads and ", 1 heads, " in one_head
    for table in (two_heads, one_head):
        rows = [re.split(r"  +", row) for row in table.split("relative\n")[1].strip().splitlines()]
        assert [row[0] for row in rows] == ["textbook", "ours"] and rows[0][-1] == "1.00"


def language_model():
    torch.manual_seed(0)
    return TransformerLanguageModel(20, trained_length=9, model_size=8, heads=2).eval(), torch.randint(20, (3, 2))


@pytest.mark.parametrize("go_on", [bench.go_on_with_past, bench.go_on_anew])
@torch.no_grad()
def test_both_ways_of_going_on_write_the_likeliest_token(go_on):
    model, prompt = language_model()
    written = go_on(model, prompt, 7)
    line = torch.cat([prompt, written], 1)
    assert written.shape == (3, 7) and torch.equal(model(line[:, :-1])[0][:, 1:].argmax(-1), written)
    bench.assert_likeliest(model, prompt, written, written)


@torch.no_grad()
def test_what_is_not_the_likeliest_token_is_seen_wherever_it_stands():
    model, prompt = language_model()
    written = bench.go_on_anew(model, prompt, 7)
    for place in range(7):
        other = written.clone()
        other[1, place] = (other[1, place] + 1) % 20
        with pytest.raises(AssertionError, match="not close"):
            bench.assert_likeliest(model, prompt, written, other)
    with torch.no_grad():
        model.output.weight.zero_()
    bench.assert_likeliest(model, prompt, other)  # where all are equally likely, any will do


@torch.no_grad()
def test_going_on_reads_one_token_a_step_with_the_past_and_all_without():
    (model, prompt), read = language_model(), []
    model.embedding.register_forward_hook(lambda _, inputs, __: read.append(inputs[0].shape[1]))
    bench.go_on_with_past(model, prompt, 4)
    bench.go_on_anew(model, prompt, 4)
    assert read == [2, 1, 1, 1, 2, 3, 4, 5]


def test_a_text_that_is_gone_on_with_otherwise_is_not_timed(monkeypatch):
    right = bench.go_on_anew
    monkeypatch.setattr(bench, "go_on_anew", lambda *settings: (right(*settings) + 1) % 1024)
    with pytest.raises(AssertionError, match="not close"):
        list(bench.measure_writing(2, texts=1, rounds=1))


def test_a_time_of_going_on_is_of_one_writing_and_the_first_round_is_not_timed(monkeypatch):
    clock = iter([0, 99, 100, 199, 200, 202, 210, 214, 220, 223, 230, 231])
    monkeypatch.setattr(bench.time, "process_time", lambda: next(clock))
    assert list(bench.measure_writing(2, texts=1, rounds=2)) == [(2, 4), (3, 1)]


def test_the_table_of_writing_has_medians_and_the_ratio_within_a_round(monkeypatch):
    times = [(0.001, 0.002), (0.006, 0.003), (0.003, 0.009)]  # ratios 2, 0.5, 3
    monkeypatch.setattr(bench, "measure_writing", lambda *_: times)
    rows = bench.compare_writing(texts=[1, 8], rounds=3).split("highest)\n")[1].splitlines()
    assert [re.split(r"  +", row.strip()) for row in rows] == [
        [texts, "3", "3", "2.00", "(0.50 – 3.00)"] for texts in ("1", "8")
    ]


# ---- writing a translation ----


@pytest.mark.parametrize("write", [bench.write_with_past, bench.write_anew])
def test_both_ways_of_writing_take_the_likeliest_word_each_time(write):
    torch.manual_seed(0)
    model, source = Transformer(20, 20, model_size=8).eval(), torch.randint(4, 20, (3, 5))
    written = write(model, source, 7)
    read = torch.cat([torch.full((3, 1), 1), written[:, :-1]], 1)  # <bos> is 1
    assert torch.equal(model(source, None, read)[0].argmax(-1), written)


def test_each_step_reads_one_word_with_the_past_and_all_words_without(monkeypatch):
    model, source, read = Transformer(20, 20, model_size=8).eval(), torch.randint(4, 20, (3, 5)), []
    model.target_embedding.register_forward_hook(lambda _, inputs, __: read.append(inputs[0].shape[1]))
    bench.write_with_past(model, source, 4)
    bench.write_anew(model, source, 4)
    assert read == [1, 1, 1, 1, 1, 2, 3, 4]


def test_a_time_is_of_one_writing_and_the_first_round_is_not_timed(monkeypatch):
    clock = iter([0, 99, 100, 199, 200, 202, 210, 214, 220, 223, 230, 231])
    monkeypatch.setattr(bench.time, "process_time", lambda: next(clock))
    assert list(bench.measure_decoding(2, batch_size=2, source_length=3, rounds=2)) == [(2, 4), (3, 1)]


def test_what_is_written_otherwise_is_not_timed(monkeypatch):
    right = bench.write_anew
    monkeypatch.setattr(bench, "write_anew", lambda *settings: right(*settings) + 1)
    with pytest.raises(AssertionError, match="not equal"):
        list(bench.measure_decoding(2, batch_size=2, source_length=3, rounds=1))


def test_the_table_of_decoding_has_medians_and_the_ratio_within_a_round(monkeypatch):
    times = [(0.001, 0.002), (0.006, 0.003), (0.003, 0.009)]  # ratios 2, 0.5, 3
    monkeypatch.setattr(bench, "measure_decoding", lambda *_: times)
    rows = bench.compare_decoding(lengths=[16, 64], rounds=3).split("highest)\n")[1].splitlines()
    assert [re.split(r"  +", row.strip()) for row in rows] == [
        [length, "3", "3", "2.00", "(0.50 – 3.00)"] for length in ("16", "64")
    ]


def test_ways_to_attend_that_differ_are_not_timed(monkeypatch):
    right = bench.window_attention
    monkeypatch.setattr(bench, "window_attention", lambda *args, **kw: (1.01 * right(*args, **kw)[0], None))
    with pytest.raises(AssertionError, match="not close"):
        bench.compare_cores([9], window=4, rounds=1)


def test_the_verb_prints_all_tables_and_leaves_the_threads_as_they_were(corpus, monkeypatch, capsys):
    small = partial(bench.compare, corpus, state_size=8, batch_size=4, steps=2, rounds=2)
    monkeypatch.setattr(bench, "compare", small)
    monkeypatch.setattr(bench, "compare_heads", partial(bench.compare_heads, [(2, 3, 8)], heads=2, rounds=2))
    transformers = partial(bench.compare_transformers, corpus, batch_size=4, steps=2, rounds=2)
    monkeypatch.setattr(bench, "compare_transformers", transformers)
    small = partial(bench.compare_language_models, TEXT, size=260, shapes=[SMALL], rounds=2)
    monkeypatch.setattr(bench, "compare_language_models", small)
    monkeypatch.setattr(bench, "compare_decoding", partial(bench.compare_decoding, lengths=[3], rounds=2))
    monkeypatch.setattr(bench, "compare_writing", partial(bench.compare_writing, length=3, texts=[2], rounds=2))
    monkeypatch.setattr(bench, "compare_cores", partial(bench.compare_cores, [9, 70], window=4, rounds=2))
    sharing = partial(bench.compare_sharing, [3, 5], size=16, texts=2, rounds=2)
    monkeypatch.setattr(bench, "compare_sharing", sharing)
    monkeypatch.setattr(bench, "LESSON_TOKENS", 260)
    monkeypatch.setattr(bench, "LESSON", SMALL)
    monkeypatch.setattr(bench, "compare_positions", partial(bench.compare_positions, TEXT, rounds=2))
    monkeypatch.setattr(bench, "compare_pretrained", partial(bench.compare_pretrained, lengths=[5], rounds=2))
    monkeypatch.setattr(bench.shutil, "which", lambda _: None)
    before = torch.get_num_threads()
    front_door.bench([])
    assert torch.get_num_threads() == before
    told = capsys.readouterr().out
    titles = (
        "Multi-head|Training a T|Training a l|Greedy|A language|Attention of|Heads that|Positions|A loaded|Dragging|"
        "Translating"
    )
    tables = re.split(titles, told)
    models, heads, training, language_models, decoding, writing, cores, sharing, positions, loaded, *in_page = tables
    rows = models.split("relative\n")[1].strip().splitlines()
    assert [re.split(r"  +", row)[0] for row in rows] == list(bench.SCORES)
    assert rows[0].endswith(" 1.00")
    assert heads.strip().splitlines()[-1].startswith("2 × 3 × 8 ")
    rows = training.split("relative\n")[1].strip().splitlines()
    assert [re.split(r"  +", row)[0] for row in rows] == ["nn.Transformer", "ours"]
    rows = language_models.split("relative\n")[1].strip().splitlines()
    assert [re.split(r"  +", row)[0] for row in rows] == ["textbook", "ours"]
    assert writing.strip().splitlines()[-1].split()[0] == "2"
    assert re.search(r"all scores  .* 1\.000\n", cores) and "MiB at most at a time: all scores" in cores
    assert [row.split()[0] for row in sharing.strip().splitlines()[-3:]] == ["8", "2", "1"]
    rows = positions.split("relative\n")[1].strip().splitlines()
    assert [row.split()[0] for row in rows] == ["sinusoidal", "rotary", "ALiBi"]
    assert loaded.strip().splitlines()[-1].split()[0] == "5"
    assert decoding.strip().splitlines()[-1].split()[0] == "3"
    timed = "was not timed: no browser was found."
    assert [said.strip() for said in in_page] == [f"an explorer {timed}", f"in the page {timed}"]


def test_a_loaded_model_has_a_row_for_each_length(tmp_path):
    from transformers import BertConfig, BertModel

    BertModel(
        BertConfig(vocab_size=1000, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24)
    ).save_pretrained(tmp_path)
    title, rows = bench.compare_pretrained(tmp_path, lengths=(4, 9), rounds=2).split("\n\n")
    assert "transformers" in title
    assert [row.split()[0] for row in rows.splitlines()] == ["tokens", "4", "9"]
