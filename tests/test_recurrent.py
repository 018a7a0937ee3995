"""The encoder-decoder against torch's own modules, against itself without padding, and its promises."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.testing import assert_close

from course_lib.attention import AdditiveScore, DotScore, GeneralScore
from course_lib.recurrent import CELLS, EncoderDecoder

SOURCE, TARGET, HIDDEN, EMBEDDING = 11, 13, 8, 5
cells = pytest.mark.parametrize("cell", CELLS)
directions = pytest.mark.parametrize("bidirectional", [False, True], ids=["one way", "two ways"])
attentions = pytest.mark.parametrize(
    "attention", [None, AdditiveScore, GeneralScore], ids=["fixed vector", "additive", "general"]
)


def make(**settings):
    torch.manual_seed(0)
    sizes = {"hidden_size": HIDDEN, "embedding_size": EMBEDDING}
    return EncoderDecoder(SOURCE, TARGET, **sizes, **settings).double().eval()


def words(*shape, size=SOURCE, seed=0):
    return torch.randint(4, size, shape, generator=torch.Generator().manual_seed(seed))


SENTENCES, WRITTEN = words(3, 6), words(3, 4, size=TARGET)


def torchs_own(cell, model):
    """The decoder as one of torch's recurrent modules, with the cell's weights."""
    whole = {"tanh": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}[cell]
    decoder = whole(EMBEDDING + HIDDEN, HIDDEN, batch_first=True).double()
    decoder.load_state_dict({f"{name}_l0": weight for name, weight in model.cell.state_dict().items()})
    return decoder


@cells
def test_without_attention_it_equals_torchs_modules(cell):
    model = make(cell=cell)
    _, last = model.encoder(model.source_embedding(SENTENCES))
    h_n = (last[0] if cell == "lstm" else last)[-1]
    s_0 = torch.tanh(h_n @ model.bridge.weight.T + model.bridge.bias)
    context = h_n[:, None].expand(-1, WRITTEN.shape[1], -1)
    read = torch.cat([model.target_embedding(WRITTEN), context], -1)
    start = (s_0[None], torch.zeros_like(s_0)[None]) if cell == "lstm" else s_0[None]
    states, _ = torchs_own(cell, model)(read, start)
    wanted = torch.cat([states, context], -1) @ model.output.weight.T + model.output.bias

    logits, weights = model(SENTENCES, None, WRITTEN)
    assert_close(logits, wanted)
    assert weights is None


@cells
def test_with_attention_it_equals_a_loop_over_words(cell):
    model = make(cell=cell, attention=AdditiveScore)
    states, last = model.encoder(model.source_embedding(SENTENCES))
    state = torch.tanh(model.bridge((last[0] if cell == "lstm" else last)[-1]))
    memory = torch.zeros_like(state)
    logits, weights = model(SENTENCES, None, WRITTEN)
    for t in range(WRITTEN.shape[1]):
        energies = [model.score(state, model.score.project_keys(states[:, i : i + 1])) for i in range(6)]
        alpha = torch.cat(energies, -1).softmax(-1)  # the query is the state before this step
        context = sum(alpha[:, i, None] * states[:, i] for i in range(6))
        read = torch.cat([model.target_embedding(WRITTEN[:, t]), context], -1)
        if cell == "lstm":
            state, memory = model.cell(read, (state, memory))
        else:
            state = model.cell(read, state)
        assert_close(weights[:, t], alpha)
        assert_close(logits[:, t], model.output(torch.cat([state, context], -1)))


@cells
@directions
@attentions
def test_shapes(cell, bidirectional, attention):
    model = make(cell=cell, bidirectional=bidirectional, attention=attention)
    logits, weights = model(SENTENCES, torch.ones_like(SENTENCES, dtype=torch.bool), WRITTEN)
    assert logits.shape == (3, 4, TARGET)
    if attention is None:
        assert weights is None
    else:
        assert weights.shape == (3, 4, 6)
        assert_close(weights.sum(-1), torch.ones(3, 4, dtype=torch.float64))


def test_two_directions_put_both_last_states_side_by_side():
    model = make(bidirectional=True)
    states, _ = model.encoder(model.source_embedding(SENTENCES))
    memory = model.encode(SENTENCES, None)
    assert_close(memory.last, torch.cat([states[:, -1, :HIDDEN], states[:, 0, HIDDEN:]], -1))


@cells
@directions
@attentions
def test_padding_changes_nothing(cell, bidirectional, attention):
    model = make(cell=cell, bidirectional=bidirectional, attention=attention)
    lengths = [3, 6, 1]
    source = torch.zeros(3, 9, dtype=torch.long)
    for row, length in enumerate(lengths):
        source[row, :length] = SENTENCES[row, :length]
    mask = torch.arange(9) < torch.tensor(lengths)[:, None]
    logits, weights = model(source, mask, WRITTEN)
    for row, length in enumerate(lengths):
        alone, alone_weights = model(source[row : row + 1, :length], None, WRITTEN[row : row + 1])
        assert_close(logits[row], alone[0], atol=1e-9, rtol=0)
        if attention:
            assert_close(weights[row, :, :length], alone_weights[0], atol=1e-9, rtol=0)
            assert not weights[row, :, length:].any()


@attentions
@given(st.integers(4, SOURCE - 1))
def test_what_stands_in_the_padding_does_not_matter(attention, number):
    model = make(attention=attention, bidirectional=True)
    mask = torch.tensor([[True] * 6, [True] * 4 + [False] * 2, [True] * 2 + [False] * 4])
    changed = SENTENCES.masked_fill(~mask, number)
    assert torch.equal(model(SENTENCES, mask, WRITTEN)[0], model(changed, mask, WRITTEN)[0])


@cells
@directions
@attentions
def test_padding_has_no_gradient(cell, bidirectional, attention):
    model = make(cell=cell, bidirectional=bidirectional, attention=attention)
    source, padding = SENTENCES.clone(), SOURCE - 1
    mask = torch.tensor([[True] * 6, [True] * 4 + [False] * 2, [True] + [False] * 5])
    source[source == padding] = 4
    source[~mask] = padding
    model(source, mask, WRITTEN)[0].square().sum().backward()
    gradient = model.source_embedding.weight.grad
    assert not gradient[padding].any()
    assert gradient[source[mask]].any(-1).all()


@cells
@directions
def test_a_state_knows_the_words_before_it_and_with_two_directions_all(cell, bidirectional):
    """Which words each state has a gradient to: a triangle one way, everything two ways."""
    model = make(cell=cell, bidirectional=bidirectional)
    sentence = torch.arange(4, 10)  # no word twice, so that a row of the embedding is one word of the sentence
    states = model.encode(sentence[None], None).states[0]
    direction = torch.randn(states.shape[-1], generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    known = [torch.autograd.grad(h @ direction, model.source_embedding.weight, retain_graph=True)[0] for h in states]
    known = torch.stack(known)[:, sentence].ne(0).any(-1)
    everything = torch.ones(6, 6, dtype=torch.bool)
    assert torch.equal(known, everything if bidirectional else everything.tril())


@given(st.integers(1, 3))
def test_a_step_does_not_know_later_words(step):
    model = make(attention=AdditiveScore)
    changed = WRITTEN.clone()
    changed[:, step:] = words(3, 4 - step, size=TARGET, seed=1)
    before, after = model(SENTENCES, None, WRITTEN)[0], model(SENTENCES, None, changed)[0]
    assert torch.equal(before[:, :step], after[:, :step])
    assert not torch.equal(before[:, step:], after[:, step:])


@cells
@attentions
def test_step_by_step_equals_teacher_forcing(cell, attention):
    model = make(cell=cell, attention=attention)
    logits, weights = model(SENTENCES, None, WRITTEN)
    memory = model.encode(SENTENCES, None)
    state = model.start(memory)
    for t in range(WRITTEN.shape[1]):
        step_logits, state, step_weights = model.step(WRITTEN[:, t], state, memory)
        assert_close(step_logits, logits[:, t])
        if attention:
            assert_close(step_weights, weights[:, t])


def test_keys_are_projected_once_a_sentence():
    model = make(attention=AdditiveScore)
    calls = []
    model.score.key_projection.register_forward_hook(lambda *_: calls.append(1))
    model(SENTENCES, None, WRITTEN)
    assert len(calls) == 1


def test_without_attention_the_context_is_the_same_at_every_step():
    model = make()
    memory = model.encode(SENTENCES, None)
    features, state, _ = model.advance(model.target_embedding(WRITTEN[:, 0]), model.start(memory), memory)
    later, _, _ = model.advance(model.target_embedding(WRITTEN[:, 1]), state, memory)
    assert torch.equal(features[:, HIDDEN:], memory.last) and torch.equal(later[:, HIDDEN:], memory.last)


def test_every_parameter_has_a_gradient():
    model = make(attention=GeneralScore, bidirectional=True, cell="lstm")
    model(SENTENCES, None, WRITTEN)[0].square().sum().backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in model.parameters())


def test_an_unknown_cell_is_refused():
    with pytest.raises(ValueError, match="cell is 'rnn'; it must be one of tanh, gru, lstm"):
        make(cell="rnn")


def test_a_score_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="not 8 and 16; use GeneralScore"):
        make(attention=DotScore, bidirectional=True)


def test_an_empty_sentence_is_named():
    mask = torch.ones_like(SENTENCES, dtype=torch.bool)
    mask[1] = False
    with pytest.raises(ValueError, match="sentence 1 is empty"):
        make().encode(SENTENCES, mask)


def test_padding_before_a_word_is_refused():
    model = EncoderDecoder(10, 10, hidden_size=4)
    source = torch.tensor([[0, 0, 5, 6]])
    with pytest.raises(ValueError, match="a word comes after padding"):
        model.encode(source, source != 0)


def test_a_source_may_be_vectors_and_its_mask_is_of_the_words(unchecked):
    """Lesson 10 listens: in place of words the encoder reads vectors."""
    model = make()
    model.source_embedding = nn.Linear(4, EMBEDDING).double()
    vectors = torch.rand(2, 6, 4, dtype=torch.float64)
    mask = torch.tensor([[True] * 6, [True] * 4 + [False] * 2])
    alone = model.encode(vectors[1:, :4], None)
    assert_close(model.encode(vectors, mask).states[1, :4], alone.states[0])
    with pytest.raises(ValueError, match=r"shape \(2, 5\); it must be the source's, \(2, 6\)"):
        model.encode(vectors, mask[:, :5])
