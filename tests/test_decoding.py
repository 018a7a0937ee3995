"""Decoding, on models whose answers are known beforehand."""

import itertools
import math
from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from torch import nn
from torch.testing import assert_close

from course_lib import decoding, transformer
from course_lib.attention import AdditiveScore, MultiHeadAttention
from course_lib.corpus import BOS, EOS, SPECIALS, Vocabulary, pad
from course_lib.decoding import beam, draw, greedy, likeliest, nucleus, rows_of, sample, write, write_from
from course_lib.positions import RotaryPositions
from course_lib.recurrent import EncoderDecoder, Memory
from course_lib.transformer import DecoderOnly, Transformer

CAT, SMALL_CAT, DOG = "the black cat".split(), "the small black cat".split(), "the dog runs".split()


class Scripted(nn.Module):
    """Writes the words it was told for each source; looks at source word t when it writes word t."""

    def __init__(self, corpus, script):
        super().__init__()
        self.corpus, self.script = corpus, script
        self.placeholder = nn.Parameter(torch.zeros(1))

    def encode(self, source, mask):
        self.sources = [tuple(self.corpus.source_vocabulary.decode(row)) for row in source]
        self.read = []
        return Memory(torch.zeros(*source.shape, 1), torch.zeros(len(source), 1), mask, None)

    def start(self, memory):
        return (torch.zeros(len(memory.last), 1),)

    def step(self, words, state, memory):
        self.read.append(self.corpus.target_vocabulary.words[words[0]])
        t = int(state[0][0, 0])
        logits = torch.zeros(len(words), len(self.corpus.target_vocabulary))
        weights = torch.zeros(memory.mask.shape)
        for row, source in enumerate(self.sources):
            told = self.script[" ".join(source)]
            word = told[t] if t < len(told) else EOS
            logits[row, self.corpus.target_vocabulary.numbers[word]] = 1.0
            weights[row, min(t, len(source) - 1)] = 1.0
        return logits, (state[0] + 1,), weights


SCRIPT = {
    "the black cat": "le chat noir".split(),
    "the small black cat": "le petit chat noir".split(),
    "the dog runs": ["le"] * 99,
}


def test_it_writes_the_likeliest_words_until_eos(corpus):
    model = Scripted(corpus, SCRIPT)
    (translation,) = greedy(model, corpus, [CAT])
    assert translation.tokens == ("le", "chat", "noir")
    assert translation.finished
    assert model.read == ["<bos>", "le", "chat", "noir"]  # each word written is the next one read


def test_the_map_has_the_words_written_and_read(corpus):
    (translation,) = greedy(Scripted(corpus, SCRIPT), corpus, [SMALL_CAT])
    assert translation.attention.query_tokens == ("le", "petit", "chat", "noir")
    assert translation.attention.key_tokens == ("the", "small", "black", "cat")
    assert translation.attention.weights.tolist() == torch.eye(4).tolist()


def test_a_sentence_without_end_is_stopped_at_twice_its_words_and_ten(corpus):
    (translation,) = greedy(Scripted(corpus, SCRIPT), corpus, [DOG])
    assert translation.tokens == ("le",) * 16 and not translation.finished
    assert translation.attention.weights.shape == (16, 3)


def test_one_that_never_ends_does_not_change_its_neighbours(corpus):
    together = greedy(Scripted(corpus, SCRIPT), corpus, [SMALL_CAT, DOG, CAT])
    assert [len(translation.tokens) for translation in together] == [4, 16, 3]
    assert [translation.finished for translation in together] == [True, False, True]


def test_eos_at_once_gives_no_words(corpus):
    (translation,) = greedy(Scripted(corpus, {"the black cat": []}), corpus, [CAT])
    assert translation.tokens == () and translation.finished
    assert translation.attention.weights.shape == (0, 3)


def test_eos_at_the_limit_still_counts_as_finished(corpus):
    told = {"the dog runs": ["le"] * 15, "the black cat": ["le"] * 16}
    dog, cat = greedy(Scripted(corpus, told), corpus, [DOG, CAT])
    assert (len(dog.tokens), dog.finished) == (15, True)
    assert (len(cat.tokens), cat.finished) == (16, False)


@pytest.mark.parametrize("attention", [None, AdditiveScore], ids=["fixed vector", "attention"])
@pytest.mark.parametrize("at_once", [2, 500])
def test_many_sentences_equal_one_at_a_time_in_the_given_order(corpus, monkeypatch, attention, at_once):
    monkeypatch.setattr(decoding, "AT_ONCE", at_once)
    torch.manual_seed(0)
    sizes = len(corpus.source_vocabulary), len(corpus.target_vocabulary)
    model = EncoderDecoder(*sizes, hidden_size=8, attention=attention).double()
    sentences = [pair.source for pair in corpus.train[:7]]
    assert len(set(map(len, sentences))) > 3
    together = greedy(model, corpus, sentences)
    for sentence, translation in zip(sentences, together, strict=True):
        (alone,) = greedy(model, corpus, [sentence])
        assert translation.tokens == alone.tokens and translation.finished == alone.finished
        if attention:
            assert translation.attention.key_tokens == sentence
            assert_close(translation.attention.weights, alone.attention.weights, atol=1e-9, rtol=0)
        else:
            assert translation.attention is None


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gru(x, h, name, w, suffix=""):
    """One step of a GRU with torch's gates: reset, update, new (Cho et al. 2014, with h inside the reset)."""
    read, kept = w[f"{name}.weight_ih{suffix}"] @ x, w[f"{name}.weight_hh{suffix}"] @ h
    read_r, read_z, read_n = np.split(read + w[f"{name}.bias_ih{suffix}"], 3)
    kept_r, kept_z, kept_n = np.split(kept + w[f"{name}.bias_hh{suffix}"], 3)
    r, z = sigmoid(read_r + kept_r), sigmoid(read_z + kept_z)
    return (1 - z) * np.tanh(read_n + r * kept_n) + z * h


def encode_by_hand(numbers, w, bidirectional):
    """All states h_i, and h_n; two directions stand side by side."""
    embedded = w["source_embedding.weight"][numbers]
    forward, backward = [np.zeros(6)], [np.zeros(6)]
    for x in embedded:
        forward.append(gru(x, forward[-1], "encoder", w, "_l0"))
    if not bidirectional:
        return np.array(forward[1:]), forward[-1]
    for x in embedded[::-1]:
        backward.append(gru(x, backward[-1], "encoder", w, "_l0_reverse"))
    return np.hstack([forward[1:], backward[:0:-1]]), np.hstack([forward[-1], backward[-1]])


@pytest.mark.parametrize("bidirectional", [False, True], ids=["one way", "two ways"])
def test_three_steps_equal_those_by_hand(corpus, bidirectional):
    """Does everything between the words read and the words written in plain NumPy."""
    torch.manual_seed(0)
    french = corpus.target_vocabulary
    sizes = len(corpus.source_vocabulary), len(french)
    settings = {"hidden_size": 6, "embedding_size": 5, "bidirectional": bidirectional, "attention": AdditiveScore}
    model = EncoderDecoder(*sizes, **settings).double()
    with torch.no_grad():
        model.output.weight *= 5  # so that it does not write one word three times
        model.output.bias[french.numbers[EOS]] = -99.0  # and goes on for three
    w = {name: weight.numpy() for name, weight in model.state_dict().items()}
    numbers = corpus.source_vocabulary.encode(SMALL_CAT)

    memory = model.encode(torch.tensor([numbers]), None)
    library_state = model.start(memory)
    states, last = encode_by_hand(numbers, w, bidirectional)
    state = np.tanh(w["bridge.weight"] @ last + w["bridge.bias"])  # s_0
    word, written, seen = french.numbers[BOS], [], []
    for _ in range(3):
        query = w["score.query_projection.weight"] @ state  # W_s s_{t-1}
        keys = states @ w["score.key_projection.weight"].T + w["score.key_projection.bias"]  # W_h h_i + b
        scores = np.tanh(query + keys) @ w["score.energy.weight"][0]  # v
        weights = np.exp(scores) / np.exp(scores).sum()
        context = weights @ states
        state = gru(np.hstack([w["target_embedding.weight"][word], context]), state, "cell", w)
        logits = w["output.weight"] @ np.hstack([state, context]) + w["output.bias"]

        with torch.no_grad():
            library = model.step(torch.tensor([word]), library_state, memory)
        library_logits, library_state, library_weights = library
        for theirs, own in ((library_logits, logits), (library_state[0], state), (library_weights, weights)):
            np.testing.assert_allclose(theirs[0], own, atol=1e-10, rtol=0)
        word = int(logits.argmax())
        written.append(french.words[word])
        seen.append(weights)

    assert len(set(written)) > 1
    (translation,) = greedy(model, corpus, [SMALL_CAT])
    assert list(translation.tokens[:3]) == written
    np.testing.assert_allclose(translation.attention.weights[:3], seen, atol=1e-10, rtol=0)


def test_decoding_makes_no_gradients_and_switches_dropout_off_for_itself(corpus):
    class Noting(Scripted):
        def step(self, *given):
            modes.append(self.training)
            return super().step(*given)

    model, modes = Noting(corpus, SCRIPT).train(), []
    greedy(model, corpus, [CAT])
    assert modes and not any(modes) and model.training and model.placeholder.grad is None


def test_no_sentences_give_no_translations(corpus):
    assert greedy(Scripted(corpus, SCRIPT), corpus, []) == []


def test_an_unknown_word_and_an_empty_sentence_are_refused(corpus):
    with pytest.raises(KeyError, match="'chikens' is not among"):
        greedy(Scripted(corpus, SCRIPT), corpus, [CAT, ["the", "chikens"]])
    with pytest.raises(ValueError, match="sentence 1 is empty; every sentence needs at least one word"):
        greedy(Scripted(corpus, SCRIPT), corpus, [CAT, []])


def test_a_string_is_not_taken_for_a_list_of_words(corpus):
    with pytest.raises(TypeError, match="split it first"):
        greedy(Scripted(corpus, SCRIPT), corpus, ["the black cat"])


# ---- drawing ----


def test_draws_come_as_often_as_the_softmax_says():
    logits, generator = torch.tensor([0.0, 1.0, -1.0, 3.0]), torch.Generator().manual_seed(0)
    for temperature in (0.5, 1.0, 2.0):
        drawn = draw(logits.expand(100_000, 4), temperature=temperature, generator=generator)
        assert_close(drawn.bincount(minlength=4) / 100_000, (logits / temperature).softmax(0), atol=0.006, rtol=0)


def test_only_the_k_likeliest_are_drawn_and_among_them_in_proportion():
    logits, generator = torch.tensor([0.0, 1.0, -1.0, 3.0]), torch.Generator().manual_seed(0)
    drawn = draw(logits.expand(50_000, 4), top_k=2, generator=generator).bincount(minlength=4) / 50_000
    assert drawn[0] == drawn[2] == 0
    assert_close(drawn[[1, 3]], logits[[1, 3]].softmax(0), atol=0.01, rtol=0)
    assert torch.equal(draw(logits.expand(9, 4), top_k=1), likeliest(logits.expand(9, 4)))


@pytest.mark.parametrize("temperature", [0, -1.0, math.nan])
def test_a_temperature_that_is_not_positive_is_refused(temperature):
    with pytest.raises(ValueError, match="temperature is .*; it must be above 0"):
        draw(torch.zeros(1, 4), temperature=temperature)


@pytest.mark.parametrize("top_k", [0, 5])
def test_a_k_outside_the_vocabulary_is_refused(top_k):
    with pytest.raises(ValueError, match=f"top_k is {top_k}; it must be from 1 to 4"):
        draw(torch.zeros(1, 4), top_k=top_k)


@st.composite
def several_p(draw):
    """Rows of p over one vocabulary, some with words that are equally likely or of p = 0."""
    size = draw(st.integers(1, 40))
    parts = st.lists(st.integers(0, 12) | st.floats(1e-6, 9), min_size=size, max_size=size).filter(any)
    p = torch.tensor(draw(st.lists(parts, min_size=1, max_size=3)))
    return p / p.sum(-1, keepdim=True)


@given(several_p(), st.floats(0, 1, exclude_min=True))
@example(torch.tensor([[0.5, 0.3, 0.2]]), 0.5)
@example(torch.tensor([[0.1] * 10]), 0.9)
@example(torch.tensor([[0.25] * 4]), 0.5)
@example(torch.tensor([[0.7, 0.2, 0.1]]), 0.9)
@example(torch.tensor([[1 / 3] * 3]), 0.99999999)
@example(torch.tensor([[1e-8, 1.0, 0.0]]), 5e-324)  # 0 in float32
def test_a_nucleus_is_of_the_fewest_likeliest_words_that_reach_p_together(p, top_p):
    for row, kept in zip(p.tolist(), nucleus(p, top_p).tolist(), strict=True):
        assert all(own in (0.0, before) for own, before in zip(kept, row, strict=True))
        inside = sorted((own for own in kept if own), reverse=True)
        outside = [before for own, before in zip(kept, row, strict=True) if not own]
        assert inside and inside[-1] >= max(outside, default=0.0)
        assert math.fsum(inside) >= top_p - 1e-6  # p is float32, and so is its sum
        assert math.fsum(inside[:-1]) <= top_p + 1e-6  # without the word that crosses it, they do not


def test_the_nucleus_ends_where_the_sum_in_float32_reaches_p_exactly():
    p = torch.rand(2_000, 6, generator=torch.Generator().manual_seed(0))
    p /= p.sum(-1, keepdim=True)
    for row in p[:, None].unbind():
        for count, reached in enumerate(row.sort(descending=True).values.cumsum(-1)[0, :-1].tolist(), start=1):
            assert int((nucleus(row, reached) > 0).sum()) == count


def test_a_nucleus_of_1_keeps_all_words_though_a_rounded_sum_reaches_1_before_the_last():
    p = (3 * torch.randn(50, 1_000, generator=torch.Generator().manual_seed(0))).softmax(-1)
    assert (p.sort(descending=True).values.cumsum(-1)[:, :-1] >= 1).any() and p.all()
    assert torch.equal(nucleus(p, 1.0), p) and torch.equal(nucleus(p, 1), p)


@pytest.mark.parametrize(
    ("settings", "kept"),
    [
        ({"top_p": 0.6}, [3, 1]),
        ({"top_p": 0.9}, [3, 1, 0]),
        ({"top_p": 0.9, "top_k": 3}, [3, 1, 0]),
        ({"top_p": 0.8, "top_k": 2}, [3, 1]),
        ({"top_p": 0.6, "top_k": 2}, [3]),  # .625 of the two, though .5 of all
        ({"top_p": 0.6, "temperature": 0.5}, [3]),  # .66
        ({"top_p": 0.6, "temperature": 9.0}, [3, 1, 0]),
    ],
)
def test_what_is_drawn_from_a_nucleus_comes_in_proportion(settings, kept):
    logits, generator = torch.tensor([0.15, 0.3, 0.05, 0.5]).log(), torch.Generator().manual_seed(0)
    drawn = draw(logits.expand(50_000, 4), generator=generator, **settings).bincount(minlength=4) / 50_000
    p = (logits / settings.get("temperature", 1.0)).exp()[kept]
    assert_close(drawn[kept], p / p.sum(), atol=0.01, rtol=0)
    assert drawn.count_nonzero() == len(kept)


def test_each_row_has_its_own_nucleus():
    logits = torch.tensor([[0.0, 9.0, 0.0], [0.0, 0.0, 9.0], [0.0, 0.0, 0.0]])
    drawn = {tuple(draw(logits, top_p=0.9).tolist()) for _ in range(200)}
    assert drawn == {(1, 2, 0), (1, 2, 1), (1, 2, 2)}


@pytest.mark.parametrize("top_p", [0, -0.1, 1.01, math.nan])
def test_a_p_that_is_not_above_0_and_at_most_1_is_refused(top_p):
    with pytest.raises(ValueError, match=f"top_p is {top_p}; it must be above 0 and at most 1, which keeps all words"):
        draw(torch.zeros(1, 4), top_p=top_p)


# ---- both kinds of model through one interface ----


def untrained(corpus, kind):
    torch.manual_seed(3)
    sizes = len(corpus.source_vocabulary), len(corpus.target_vocabulary)
    if kind == "transformer":
        model = Transformer(*sizes, model_size=16, heads=2, layers=2, feed_forward_size=16)
    else:
        model = EncoderDecoder(*sizes, hidden_size=8, attention=AdditiveScore if kind == "attention" else None)
    with torch.no_grad():
        model.output.weight.mul_(3)  # so that it has preferences
        model.output.bias[SPECIALS.index(EOS)] = 1.0  # and an end now and then
    return model.double().eval()


each_kind = pytest.mark.parametrize("kind", ["fixed vector", "attention", "transformer"])


@torch.no_grad()
def log_probability(model, corpus, source, tokens, finished):
    """By teacher forcing, independent of how the words were found."""
    numbers = corpus.target_vocabulary.encode(tokens)
    told = torch.tensor([[*numbers, *[SPECIALS.index(EOS)] * finished]])
    read = torch.tensor([[SPECIALS.index(BOS), *numbers]])[:, : told.shape[1]]
    logits, _ = model(torch.tensor([corpus.source_vocabulary.encode(source)]), None, read)
    return logits.log_softmax(-1).gather(-1, told[..., None]).sum().item()


@each_kind
@pytest.mark.parametrize("way", [greedy, partial(sample, temperature=2.0), partial(beam, width=3)])
def test_the_log_probability_is_that_of_teacher_forcing(corpus, kind, way):
    torch.manual_seed(0)
    model, sentences = untrained(corpus, kind), [pair.source for pair in corpus.train[:6]]
    ends = set()
    for sentence, translation in zip(sentences, way(model, corpus, sentences), strict=True):
        ends.add(translation.finished)
        wanted = log_probability(model, corpus, sentence, translation.tokens, translation.finished)
        assert translation.log_probability == pytest.approx(wanted, abs=1e-4)  # it is summed up in float32
        if kind != "fixed vector":
            assert translation.attention.query_tokens == translation.tokens
    assert True in ends


@pytest.mark.slow
@each_kind
def test_the_same_generator_draws_the_same_words_and_top_1_is_greedy(corpus, kind):
    model, sentences = untrained(corpus, kind), [pair.source for pair in corpus.train[:6]]
    one, two, other = (
        [t.tokens for t in sample(model, corpus, sentences, generator=torch.Generator().manual_seed(seed))]
        for seed in (1, 1, 2)
    )
    assert one == two != other
    for only in ({"top_k": 1}, {"top_p": 1e-9}):
        assert sample(model, corpus, sentences, **only)[0].tokens == greedy(model, corpus, sentences)[0].tokens


@each_kind
def test_a_beam_of_width_1_is_greedy(corpus, kind):
    model, sentences = untrained(corpus, kind), [pair.source for pair in corpus.train[:8]]
    for one, two in zip(beam(model, corpus, sentences, width=1), greedy(model, corpus, sentences), strict=True):
        assert (one.tokens, one.finished) == (two.tokens, two.finished)
        assert one.log_probability == pytest.approx(two.log_probability, abs=1e-4)
        if two.attention:
            assert_close(one.attention.weights, two.attention.weights, atol=1e-6, rtol=0)


@pytest.mark.slow
@each_kind
def test_beams_of_many_sentences_equal_one_at_a_time(corpus, kind, monkeypatch):
    model, sentences = untrained(corpus, kind), [pair.source for pair in corpus.train[:8]]
    together = beam(model, corpus, sentences, width=3)
    for sentence, translation in zip(sentences, together, strict=True):
        (alone,) = beam(model, corpus, [sentence], width=3)
        assert translation.tokens == alone.tokens
        assert translation.log_probability == pytest.approx(alone.log_probability, abs=1e-4)


class Chain(nn.Module):
    """p(next word | word) from a table, over a vocabulary so small that all its sentences can be written down."""

    def __init__(self, table):
        super().__init__()
        self.table = nn.Parameter(table)

    def start(self, memory):
        return ()

    def step(self, words, state, memory):
        return self.table[words], state, None


def best_by_trying_all(table, limit, length_penalty):
    eos = SPECIALS.index(EOS)
    logs, best = table.log_softmax(-1), (-math.inf, None)
    others = [word for word in range(len(table)) if word != eos]
    for count in range(limit + 1):
        for words in itertools.product(others, repeat=count):
            line = (*words, eos) if count < limit else words
            total = sum(logs[a, b].item() for a, b in itertools.pairwise((SPECIALS.index(BOS), *line)))
            best = max(best, (total / ((5 + len(line)) / 6) ** length_penalty, line))
    return best[1]


@pytest.mark.parametrize("length_penalty", [0.0, 0.6, 2.0])
def test_a_beam_of_full_width_finds_the_best_of_all_sentences(length_penalty):
    found = []
    for seed in range(8):
        table = 2 * torch.randn(5, 5, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
        prompt, limit = torch.tensor([[SPECIALS.index(BOS)]]), torch.tensor([4])
        written = decoding._beam(Chain(table), None, prompt, limit, width=5**4, length_penalty=length_penalty)
        line = written.words[0].tolist()
        line = line[: line.index(SPECIALS.index(EOS)) + 1] if SPECIALS.index(EOS) in line else line
        assert tuple(line) == best_by_trying_all(table, 4, length_penalty)
        found.append(len(line))
    assert len(set(found)) > 1


def test_a_wider_beam_finds_what_greedy_misses():
    """The likeliest first word, 4, leads where nothing is likely; word 3 leads to a sure end."""
    table = torch.full((5, 5), -9.0)
    table[SPECIALS.index(BOS)] = torch.tensor([-9.0, -9.0, -9.0, 0.4, 0.6])
    table[3, SPECIALS.index(EOS)] = 9.0
    table[4] = 0.0
    prompt, limit = torch.tensor([[SPECIALS.index(BOS)]]), torch.tensor([6])
    alone = write(Chain(table), None, prompt, limit)
    wide = decoding._beam(Chain(table), None, prompt, limit, width=2, length_penalty=0.0)
    assert alone.words[0, 0] == 4 and wide.words[0, :2].tolist() == [3, SPECIALS.index(EOS)]
    assert wide.log_probability > alone.log_probability


def test_short_sentences_win_without_a_length_penalty():
    """Each word more costs something; divided by length, the longer sentence is the better one."""
    table = torch.full((5, 5), -30.0, dtype=torch.float64)
    table[SPECIALS.index(BOS), [SPECIALS.index(EOS), 4]] = torch.tensor([0.45, 0.55], dtype=torch.float64).log()
    table[4, 4] = math.log(0.9)
    table[4, SPECIALS.index(EOS)] = math.log(0.1)
    prompt, limit = torch.tensor([[SPECIALS.index(BOS)]]), torch.tensor([3])
    short, long = (
        decoding._beam(Chain(table), None, prompt, limit, width=3, length_penalty=penalty).words[0].tolist()
        for penalty in (0.0, 2.0)
    )
    assert short[0] == SPECIALS.index(EOS)
    assert long == [4, 4, 4]


@pytest.mark.parametrize("width", [0, -1])
def test_a_beam_without_width_is_refused(corpus, width):
    with pytest.raises(ValueError, match=f"width is {width}; it must be at least 1"):
        beam(Scripted(corpus, SCRIPT), corpus, [CAT], width=width)


def test_a_language_model_goes_on_from_a_prompt_as_its_whole_forward_says():
    torch.manual_seed(0)
    model = DecoderOnly(12, model_size=16, heads=2, layers=2, feed_forward_size=16).double().eval()
    prompt = torch.tensor([[1, 5, 7], [1, 6, 4]])
    written = write(model, None, prompt, torch.tensor([6, 6]))
    line = torch.cat([prompt, written.words], 1)
    with torch.no_grad():
        logits, _ = model(line[:, :-1], None)
    expected = logits[:, prompt.shape[1] - 1 :].argmax(-1)
    for row, own in zip(written.words.tolist(), expected.tolist(), strict=True):
        end = row.index(SPECIALS.index(EOS)) + 1 if SPECIALS.index(EOS) in row else len(row)
        assert row[:end] == own[:end]
    assert written.weights is None


# ---- prompts ----

PROMPT = torch.tensor([[1, 5, 7, 8, 4], [1, 6, 4, 9, 11], [1, 9, 11, 5, 5]])


class NoRead:
    """The same model, which must be told a prompt word by word."""

    def __init__(self, model):
        self.start, self.step = model.start, model.step


def language_model(**settings):
    torch.manual_seed(3)
    model = DecoderOnly(12, model_size=16, heads=2, layers=2, feed_forward_size=16, **settings).double().eval()
    with torch.no_grad():
        model.output.weight.mul_(3)
        model.output.bias[SPECIALS.index(EOS)] = 1.0
    return model


def lines(written, limit):
    """What each row wrote, with its end."""
    rows = [row[:most] for row, most in zip(written.words.tolist(), limit.tolist(), strict=True)]
    return [row[: row.index(2) + 1] if 2 in row else row for row in rows]


@pytest.mark.parametrize("wrap", [lambda model: model, NoRead], ids=["at once", "word by word"])
@pytest.mark.parametrize("order", [[0, 1, 2], [1, 2, 0], [2, 2, 1]], ids=str)
def test_prompts_together_equal_one_at_a_time(wrap, order):
    model, limit = language_model(), torch.tensor([4, 9, 6])
    together = write(wrap(model), None, PROMPT[order], limit)
    for row, number in enumerate(order):
        own = limit[row : row + 1]
        alone = write(model, None, PROMPT[number : number + 1], own)
        assert lines(together, limit)[row] == lines(alone, own)[0]
        assert_close(together.log_probability[row : row + 1], alone.log_probability)


def test_prompts_of_a_translation_keep_their_weights(corpus):
    model, sentences = untrained(corpus, "transformer"), [pair.source for pair in corpus.train[:2]]
    source, mask = pad([corpus.source_vocabulary.encode(sentence) for sentence in sentences])
    prompt = torch.tensor([[1, 9, 10, 11], [1, 12, 9, 9]])
    with torch.no_grad():
        memory = model.encode(source, mask)
    limit = torch.tensor([5, 5])
    together = write(model, memory, prompt, limit)
    for row in (0, 1):
        own = torch.tensor([row])
        alone = write(model, rows_of(memory, own), prompt[own], limit[own])
        (line,) = lines(alone, limit[own])
        assert lines(together, limit)[row] == line
        assert_close(together.weights[row, : len(line)], alone.weights[0, : len(line)])


def test_a_prompt_is_read_in_one_pass():
    model, seen = language_model(), []
    model.embedding.register_forward_hook(lambda _, inputs, __: seen.append(inputs[0].shape[1]))
    write(model, None, PROMPT[:1], torch.tensor([3]))
    assert seen == [5, 1, 1]


def test_recurrent_models_are_told_prompts_too(corpus):
    model = untrained(corpus, "attention")
    with torch.no_grad():
        memory = model.encode(torch.tensor([[4, 5, 6]] * 3), None)
    limit = torch.tensor([5, 5, 5])
    together = write(model, memory, PROMPT, limit)
    one = rows_of(memory, torch.tensor([0]))
    for row in range(3):
        alone = write(model, one, PROMPT[row : row + 1], limit[:1])
        assert lines(together, limit)[row] == lines(alone, limit[:1])[0]


@pytest.mark.parametrize("search", [write, partial(decoding._beam, width=2, length_penalty=0.6)])
def test_a_model_can_be_trained_on_what_it_wrote(search):
    """Reinforcement learning does so; nothing that writing leaves behind, such as angles, may stand in its way."""
    model = DecoderOnly(10, positions=None, self_attention=partial(MultiHeadAttention, rotation=RotaryPositions))
    written = search(model, None, torch.tensor([[1, 4, 5]]), torch.tensor([6]), end=decoding.NO_END)
    rewards = torch.ones(1, requires_grad=True) * written.log_probability
    (model(written.words)[0].logsumexp(-1).sum() + rewards.sum()).backward()
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters() if parameter.grad is not None)
    assert sum(parameter.grad is not None for parameter in model.parameters()) > 5


def test_an_empty_prompt_is_refused():
    with pytest.raises(ValueError, match="the prompts are empty; every prompt needs a word, such as <bos>"):
        write(language_model(), None, PROMPT[:, :0], torch.tensor([5, 5, 5]))


# ---- other vocabularies, other memories ----


class Marked:
    """A vocabulary from elsewhere: its marks have other names and other numbers."""

    bos, eos = "<s>", "</s>"
    words = ("chat", "chien", "</s>", "noir", "<s>", "<pad>")[::-1]
    numbers = {word: number for number, word in enumerate(words)}


@pytest.mark.parametrize("search", [write, partial(decoding._beam, width=2, length_penalty=0.0)])
def test_the_marks_are_those_of_the_vocabulary(search):
    """Word 2, our `<eos>`, is theirs for a word, and the sentence goes on behind it."""
    read = []

    class Told(Chain):
        def step(self, words, state, memory):
            read.append(words[0].item())
            return super().step(words, state, memory)

    table = torch.full((6, 6), -9.0)
    for one, two in itertools.pairwise(("<s>", "noir", "chat", "</s>")):
        table[Marked.numbers[one], Marked.numbers[two]] = 9.0
    assert Marked.numbers["noir"] == SPECIALS.index(EOS) != Marked.numbers["</s>"]
    (written,) = write_from(Told(table), None, Marked, torch.tensor([5]), search=search)
    assert written.tokens == ("noir", "chat") and written.finished and written.attention is None
    assert read[0] == Marked.numbers["<s>"]
    (stopped,) = write_from(Chain(table), None, Marked, torch.tensor([2]), search=search)
    assert stopped.tokens == ("noir", "chat") and not stopped.finished


def test_it_writes_from_a_memory_that_was_not_made_from_words():
    """Captions: the regions of two images, the second with fewer."""
    torch.manual_seed(0)
    vocabulary = Vocabulary(["cat", "dog", "runs"])
    model = Transformer(1, len(vocabulary), model_size=16, heads=2)
    regions, mask = torch.randn(2, 4, 16), torch.tensor([[True] * 4, [True, True, False, False]])
    memory = transformer.Memory(regions, mask, model.decoder.project_memory(regions), None)
    labels = [["top", "left", "right", "below"], ["left", "right"]]
    captions = write_from(model, memory, vocabulary, torch.tensor([3, 6]), labels=labels)
    for caption, names, limit in zip(captions, labels, (3, 6), strict=True):
        assert caption.attention.key_tokens == tuple(names) and caption.attention.query_tokens == caption.tokens
        assert len(caption.tokens) <= limit
    assert model.training
    alone = write_from(model, rows_of(memory, torch.tensor([1])), vocabulary, torch.tensor([6]))
    assert alone[0].tokens == captions[1].tokens and alone[0].attention is None


def test_rows_are_taken_from_every_tensor_of_a_state():
    memory = Memory(torch.arange(6.0).view(2, 3, 1), torch.zeros(2, 1), None, torch.ones(2, 3, 1))
    taken, nested = rows_of((memory, (torch.tensor([7, 8]), None, ())), torch.tensor([1, 1, 0]))
    assert isinstance(taken, Memory) and taken.mask is None
    assert taken.states[:, 0, 0].tolist() == [3.0, 3.0, 0.0]
    assert nested[0].tolist() == [8, 8, 7] and nested[1:] == (None, ())
