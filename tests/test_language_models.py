"""Both language models: all at once or word by word the same, blind to what comes, and they go on with a text."""

from functools import partial

import pytest
import torch
from torch.testing import assert_close

from course_lib.attention import MultiHeadAttention
from course_lib.byte_pairs import BytePairs
from course_lib.corpus import EOS, SPECIALS
from course_lib.decoding import draw, write_on
from course_lib.language_models import RecurrentLanguageModel, TransformerLanguageModel
from course_lib.positions import LearnedPositions, RotaryPositions
from course_lib.texts import Windows, python_reference
from course_lib.training import next_token_loss, train
from course_lib.transformer import DecoderOnly

SMALL = {"model_size": 16, "heads": 2, "layers": 2, "feed_forward_size": 16}
ROTARY = {"positions": None, "self_attention": partial(MultiHeadAttention, rotation=RotaryPositions)}
KINDS = {
    "transformer": partial(TransformerLanguageModel, **SMALL),
    "rotary": partial(TransformerLanguageModel, **SMALL, **ROTARY),
    "recurrent": partial(RecurrentLanguageModel, hidden_size=12, embedding_size=6),
}
each_kind = pytest.mark.parametrize("kind", KINDS)
DEVICES = ["cpu", *["cuda"] * torch.cuda.is_available()]
BYTES = BytePairs([])


def untrained(kind, size=256, trained_length=16, **settings):
    torch.manual_seed(3)
    model = KINDS[kind](size, trained_length=trained_length, **settings).double().eval()
    with torch.no_grad():
        model.output.weight.mul_(5)  # so that it has preferences
    return model


def some_words(size=256, shape=(3, 9)):
    return torch.randint(size, shape, generator=torch.Generator().manual_seed(0))


# ---- the models ----


@each_kind
@torch.no_grad()
def test_one_pass_equals_step_by_step_and_read_then_step(kind):
    model, words = untrained(kind), some_words()
    whole, maps = model(words)
    assert whole.shape == (3, 9, 256) and maps is None
    for prompt in (0, 1, 4, 9):  # so many words are read at once
        state, found = model.start(None), []
        if prompt:
            logits, state, _ = model.read(words[:, :prompt], state, None)
            found.append(logits)
        for word in words[:, prompt:].unbind(1):
            logits, state, weights = model.step(word, state, None)
            assert weights is None
            found.append(logits)
        assert_close(torch.stack(found, 1), whole[:, max(0, prompt - 1) :], atol=1e-10, rtol=0)


@each_kind
@torch.no_grad()
def test_a_prompt_may_be_read_in_parts(kind):
    model, words = untrained(kind), some_words()
    state = model.start(None)
    for part in (words[:, :3], words[:, 3:4], words[:, 4:]):
        logits, state, _ = model.read(part, state, None)
    assert_close(logits, model(words)[0][:, -1], atol=1e-10, rtol=0)


@each_kind
@torch.no_grad()
def test_what_comes_later_changes_nothing_before(kind):
    model, words = untrained(kind), some_words()
    before, _ = model(words)
    for place in range(words.shape[1]):
        other = words.clone()
        other[:, place] = (other[:, place] + 1) % 256
        after, _ = model(other)
        assert_close(after[:, :place], before[:, :place], atol=1e-12, rtol=0)
        assert not torch.isclose(after[:, place:], before[:, place:]).all(-1).any()  # and all that follows


@each_kind
@torch.no_grad()
def test_the_sentences_of_a_batch_do_not_see_each_other(kind):
    model, words = untrained(kind), some_words()
    assert_close(model(words)[0][1:2], model(words[1:2])[0], atol=1e-10, rtol=0)


def test_the_transformer_is_the_decoder_only_of_the_same_weights():
    torch.manual_seed(0)
    plain, words = DecoderOnly(20, **SMALL), some_words(20)
    torch.manual_seed(0)
    model = TransformerLanguageModel(20, trained_length=7, **SMALL)
    assert model.trained_length == 7 and torch.equal(model(words)[0], plain(words)[0])
    assert model(words, need_weights=True)[1].shape == (3, 2, 2, 9, 9)


def test_dropout_of_the_recurrent_model_spares_its_state():
    torch.manual_seed(0)
    model, words = RecurrentLanguageModel(20, trained_length=7, dropout=0.5, hidden_size=200), some_words(20)
    states, (last,) = model.train().follow(words, None)
    assert 0.4 < (states == 0).float().mean() < 0.6 and last.all()
    assert not torch.equal(model(words)[0], model(words)[0])
    states, (last,) = model.eval().follow(words, None)
    assert states.all() and torch.equal(states[:, -1], last)


@each_kind
def test_the_device_is_that_of_the_words(kind):
    model, words = KINDS[kind](20, trained_length=7).to("meta"), some_words(20).to("meta")
    assert model(words)[0].device.type == "meta"
    state = model.start(None)
    for part in (words[:, :4], words[:, 4:]):
        logits, state, _ = model.read(part, state, None)
        assert logits.device.type == "meta"
    assert model.step(words[:, 0], state, None)[0].device.type == "meta"


# ---- going on with a text ----

PROMPTS = ["while", "a", "for x", "if"]


@torch.no_grad()
def by_whole_passes(model, prompt, limit):
    """The likeliest word each time, from a pass over all words so far; and the sum of its log p."""
    words, total = torch.tensor([BYTES.encode(prompt)]), 0.0
    begun = words.shape[1]
    for _ in range(limit):
        log_p = model(words)[0][0, -1].log_softmax(-1)
        total += log_p.max().item()
        words = torch.cat([words, log_p.argmax()[None, None]], 1)
    return tuple(words[0, begun:].tolist()), total


@pytest.mark.slow
@each_kind
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 0, 2, 1], [1, 1, 0, 0]], ids=str)
def test_prompts_of_unequal_length_write_what_each_writes_alone(kind, order, device):
    model = untrained(kind)
    wanted = {prompt: by_whole_passes(model, prompt, 9) for prompt in PROMPTS}
    model.to(device)
    prompts = [PROMPTS[number] for number in order]
    for prompt, written in zip(prompts, write_on(model, BYTES, prompts, 9), strict=True):
        (alone,) = write_on(model, BYTES, [prompt], 9)
        tokens, total = wanted[prompt]
        assert written.tokens == alone.tokens == tokens and written.stopped == alone.stopped == ""
        assert written.text == alone.text == BYTES.decode(tokens)
        assert written.log_probability == pytest.approx(total, abs=1e-4)  # it is summed up in float32
    assert len({tokens for tokens, _ in wanted.values()}) > 1


@each_kind
def test_each_text_stops_where_training_stopped_and_says_so(kind):
    model = untrained(kind, trained_length=8)
    short, long, longest = write_on(model, BYTES, ["ab", "abcdef", "abcdefg"], 4)
    assert [len(written.tokens) for written in (short, long, longest)] == [4, 2, 1]
    told = "stopped at 8 tokens, the longest text that the model was trained on; beyond=True writes on"
    assert [written.stopped for written in (short, long, longest)] == ["", told, told]
    (just,) = write_on(model, BYTES, ["abcdef"], 2)
    assert just.stopped == "" and just.tokens == long.tokens
    assert long.log_probability == pytest.approx(just.log_probability, abs=1e-5)  # of its own two tokens only


@each_kind
def test_beyond_it_writes_on_as_if_trained_for_longer(kind):
    short, long = untrained(kind, trained_length=8), untrained(kind, trained_length=99)
    prompts = ["ab", "abcdefg", "abcdefghijkl"]
    beyond = write_on(short, BYTES, prompts, 12, beyond=True)
    assert [len(written.tokens) for written in beyond] == [12] * 3
    assert beyond == write_on(long, BYTES, prompts, 12)


def test_no_token_ends_a_text():
    """Not even the one that has the number of a sentence's end mark."""
    model = untrained("recurrent")
    with torch.no_grad():
        model.output.bias[SPECIALS.index(EOS)] = 999
    (written,) = write_on(model, BYTES, ["a"], 5)
    assert written.tokens == (SPECIALS.index(EOS),) * 5 and written.stopped == ""


def test_beyond_a_learned_table_there_are_no_positions():
    model = untrained("transformer", trained_length=8, positions=partial(LearnedPositions, rows=8))
    assert len(write_on(model, BYTES, ["abc"], 9)[0].tokens) == 5
    with pytest.raises(ValueError, match="position 8 was asked for, and the learned table has 8 rows"):
        write_on(model, BYTES, ["abc"], 9, beyond=True)


def test_words_may_be_drawn_and_the_generator_decides():
    model = untrained("recurrent", trained_length=40)

    def written(seed, **settings):
        choose = partial(draw, generator=torch.Generator().manual_seed(seed), **settings)
        return [row.tokens for row in write_on(model, BYTES, PROMPTS, 20, choose)]

    assert written(0, top_p=0.9) == written(0, top_p=0.9) != written(1, top_p=0.9)
    assert written(0, top_k=1) == written(1, top_p=1e-9) == [row.tokens for row in write_on(model, BYTES, PROMPTS, 20)]


def test_writing_has_no_dropout_leaves_the_mode_and_makes_no_gradients():
    model = untrained("recurrent", dropout=0.9).train()
    one, two = (write_on(model, BYTES, ["while "], 9) for _ in range(2))
    assert one == two and model.training and model.output.weight.grad is None


@pytest.mark.parametrize(
    ("prompts", "limit", "error", "said"),
    [
        (["abc"], 0, ValueError, "limit is 0; it must be at least 1 token"),
        (["abc"], -1, ValueError, "limit is -1; it must be at least 1 token"),
        (["abc", ""], 5, ValueError, "prompt 1 is empty; every prompt needs a token"),
        (["ab", "abcdefgh"], 5, ValueError,
         "prompt 1 has 8 tokens, but the model was trained on texts of at most 8; shorten the prompt, or pass"),
        ("abc", 5, TypeError, r"the prompts are one string, whose characters would be prompts; give a list, \['abc'\]"),
        (["a\ud800"], 5, ValueError, "character 1 is .* half of a surrogate pair"),
    ],
)  # fmt: skip
def test_what_cannot_be_gone_on_with_is_refused(prompts, limit, error, said):
    with pytest.raises(error, match=said):
        write_on(untrained("recurrent", trained_length=8), BYTES, prompts, limit)


# ---- training ----


@pytest.mark.slow
@each_kind
def test_a_few_steps_of_training_lower_the_loss(kind):
    text = python_reference().train[:20_000]
    tokens = BytePairs.train(text, 300)
    build = partial(KINDS[kind], len(tokens), trained_length=16)
    batches = Windows(tokens.encode(text), 16, 8, batches=20)
    model, history = train(build, batches, next_token_loss, steps=50, learning_rate=1e-2, seed=0)
    assert sum(history.loss[-5:]) / 5 < sum(history.loss[:5]) / 5 - 0.8
    assert len(history.loss) == 50 and model.trained_length == 16 and not model.training
    (written,) = write_on(model, tokens, ["The "], 5)
    assert len(written.tokens) == 5
