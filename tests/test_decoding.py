"""Greedy decoding, on models whose answers are known beforehand."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.testing import assert_close

from course_lib import decoding
from course_lib.attention import AdditiveScore
from course_lib.corpus import BOS, EOS
from course_lib.decoding import greedy
from course_lib.recurrent import EncoderDecoder, Memory

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
    """Everything between the words read and the words written, once more in plain NumPy."""
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


def test_decoding_makes_no_gradients_and_switches_dropout_off(corpus):
    model = Scripted(corpus, SCRIPT)
    model.train()
    greedy(model, corpus, [CAT])
    assert not model.training and model.placeholder.grad is None


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
