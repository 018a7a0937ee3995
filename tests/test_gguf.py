"""Files that the package `gguf` writes give what `transformers` makes of them; others are refused by name."""

import copy
import os
import random

import gguf
import numpy as np
import pytest
import torch
from gguf import GGMLQuantizationType as Type
from small_gguf import SMALL, weights, written
from torch.testing import assert_close

from course_lib import decoding, gguf_file, pretrained
from course_lib.byte_pairs import BytePairs
from course_lib.pretrained import ByteLevelTokens, from_gguf
from course_lib.tools.bench import of_transformers

os.environ["HF_HUB_OFFLINE"] = "1"


@pytest.fixture
def small(tmp_path):
    """Writes a small file whose settings are changed by name, and whose weights go through `change`."""

    def make(changes=(), change=lambda tensors: tensors, tied=True, **how):
        settings = SMALL | dict(changes)
        return written(tmp_path / "small.gguf", settings, change(weights(SMALL, tied)), **how)

    return make


# ---- equal ----


@torch.no_grad()
@pytest.mark.parametrize("kind", [Type.F32, Type.F16, Type.BF16, Type.Q8_0, Type.Q4_0, Type.Q4_1], ids=lambda t: t.name)
def test_numbers_are_those_that_the_package_gguf_unpacks(small, kind):
    path = small(kind=kind)
    told = {tensor.name: tensor for tensor in gguf.GGUFReader(path).tensors}
    found = gguf_file.read(path).tensors
    assert found.keys() == told.keys()
    for name, packed in found.items():
        assert packed.kind.name == told[name].tensor_type.name
        wanted = torch.from_numpy(gguf.dequantize(told[name].data, told[name].tensor_type).copy())
        assert torch.equal(packed.unpack(), wanted.reshape(packed.shape))


@torch.no_grad()
@pytest.mark.parametrize(
    ("changes", "tied"),
    [
        ({}, True),
        ({}, False),
        ({"attention.head_count_kv": 4}, True),
        ({"attention.head_count_kv": 1, "rope.freq_base": 500000.0}, True),
        ({"attention.layer_norm_rms_epsilon": 0.25, "block_count": 1}, True),
    ],
    ids=str,
)
def test_any_llama_is_that_of_transformers_layer_by_layer_and_token_by_token(tmp_path, changes, tied):
    settings = SMALL | changes
    path = written(tmp_path / "small.gguf", settings, weights(settings, tied))
    ours, other = from_gguf(path), of_transformers(path)
    words = torch.randint(60, (2, 9), generator=torch.Generator().manual_seed(1))
    told = other(words, output_hidden_states=True)
    assert_close(ours(words, need_weights=True)[0], told.logits, atol=2e-5, rtol=1e-4)
    states = ours.states(words)
    for layer in range(settings["block_count"]):  # their last state is after the norm
        assert_close(states[:, layer], told.hidden_states[layer], atol=2e-5, rtol=1e-5)
    assert_close(ours(words)[0], told.logits, atol=2e-5, rtol=1e-4)
    past = None
    for place in range(words.shape[1]):
        logits, _, past = ours.decode(words[:, place : place + 1], past)
        assert_close(logits[:, 0], told.logits[:, place], atol=2e-5, rtol=1e-4)
    seen = torch.ones_like(words)  # else a word that is the padding's number would be hidden
    greedy = other.generate(words, attention_mask=seen, max_new_tokens=8, do_sample=False, eos_token_id=None)
    wrote = decoding.write(ours, None, words, torch.tensor([8, 8]), end=decoding.NO_END)
    assert torch.equal(wrote.words, greedy[:, words.shape[1] :])


@torch.no_grad()
@pytest.mark.slow
def test_smollm2_is_that_of_transformers():
    from transformers import AutoTokenizer

    file = pretrained.smollm2_file()
    ours, tokens, other = pretrained.smollm2(), pretrained.smollm2_tokens(), of_transformers(file)
    text = "It didn't cross in 1999.<|im_start|>user\nNaïve 東京 🙂<|im_end|>\n  def f(x): return x**2\n\n\n   end"
    numbers = tokens.encode(text)
    assert numbers == AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name).encode(text)
    assert tokens.decode(numbers) == text
    words = torch.tensor([numbers])
    told = other(words, output_hidden_states=True)
    for layer, state in enumerate(ours.states(words)[0, :-1]):
        assert_close(state, told.hidden_states[layer][0], atol=2e-3, rtol=1e-5)  # beside entries of 22,000
    assert_close(ours(words)[0], told.logits, atol=2e-4, rtol=0)


@torch.no_grad()
def test_a_bias_of_the_output_counts_where_the_file_has_one(tmp_path):
    plain = weights(SMALL)
    bias = np.random.default_rng(1).normal(size=SMALL["vocab_size"]).astype(np.float32)
    without, having = (
        from_gguf(written(tmp_path / f"{number}.gguf", SMALL, tensors))
        for number, tensors in enumerate((plain, plain | {"output.bias": bias}))
    )
    words = torch.tensor([[3, 1, 4]])
    assert_close(having(words)[0], without(words)[0] + torch.from_numpy(bias))


@torch.no_grad()
def test_a_loaded_model_can_be_kept_and_copied(small, tmp_path):
    model, words = from_gguf(small()), torch.tensor([[4, 5, 6]])
    torch.save(model, tmp_path / "kept.pt")
    for copied in (torch.load(tmp_path / "kept.pt", weights_only=False), copy.deepcopy(model)):
        assert torch.equal(copied(words)[0], model(words)[0])
    assert model.output.weight is model.embedding.weight


# ---- tokens ----


def tokens_of(special=("<|end|>",), pre="smollm"):
    """Tokens of bytes, of a few merges, and special ones, as a file names them."""
    signs = [chr(sign) for sign in (*range(33, 127), *range(161, 173), *range(174, 256), *range(256, 324))]
    merges = ["t h", "th e", "Ġ the", "Ġ c", "i n"]
    names = [*special, *signs, *(merge.replace(" ", "") for merge in merges)]
    kinds = [pretrained.SPECIAL] * len(special) + [1] * (len(names) - len(special))
    return {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": pre,
        "tokenizer.ggml.tokens": names,
        "tokenizer.ggml.merges": merges,
        "tokenizer.ggml.token_type": kinds,
    }


def test_tokens_keep_every_text_and_split_digits_one_by_one():
    tokens = ByteLevelTokens(tokens_of())
    text = "the cat in 1999 didn't, naïve 東京 🙂\n\n <|end|>the"
    assert tokens.decode(tokens.encode(text)) == text
    assert tokens.spelled(tokens.encode(" the 19<|end|>")) == [" the", " ", "1", "9", "<|end|>"]


def test_byte_pairs_split_a_text_the_same_way():
    names = tokens_of()["tokenizer.ggml.tokens"]
    tokens = ByteLevelTokens(tokens_of())
    ours = BytePairs([(116, 104), (256, 101), (32, 257), (32, 99), (105, 110)])
    text = "then the chicken thinks: in the inn?"
    assert ours.spelled(ours.encode(text)) == tokens.spelled(tokens.encode(text))
    assert len(tokens) == len(names)


# ---- refused ----


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"rope.scaling.type": "linear"}, "llama.rope.scaling.type = 'linear'; this course has no part"),
        ({"expert_count": 8}, "llama.expert_count = 8"),
        ({"attention.key_length": 8}, "llama.attention.key_length = 8"),
        ({"rope.dimension_count": 8}, "llama.rope.dimension_count = 8"),
        ({"block_count": 1}, r"unknown in the file: blk\.1\..* and 4 more"),
        ({"block_count": 3}, r"missing in the file: encoder\.layers\.2\..* and 4 more"),
        ({"feed_forward_length": 64}, r"of another shape: .*\(96, 64\) in the file and \(64, 64\) in the model"),
    ],
    ids=str,
)
def test_settings_without_a_part_or_without_weights_are_refused(small, changes, told):
    with pytest.raises(ValueError, match=told):
        from_gguf(small(changes))


def test_settings_that_say_nothing_are_accepted(small):
    from_gguf(small({"rope.scaling.type": "none", "expert_count": 0, "attention.key_length": 16}))


def test_another_architecture_is_refused(small):
    with pytest.raises(ValueError, match="architecture 'gemma'; those of 'llama'"):
        from_gguf(small(architecture="gemma"))


@pytest.mark.parametrize("name", sorted(SMALL.keys() - {"attention.head_count_kv", "rope.freq_base", "vocab_size"}))
def test_a_setting_that_is_missing_is_named(tmp_path, name):
    settings = {own: value for own, value in SMALL.items() if own != name}
    path = written(tmp_path / "small.gguf", settings, weights(SMALL))
    if name == "rope.dimension_count":  # then it is the size of a head
        from_gguf(path)
    else:
        with pytest.raises(ValueError, match=f"does not say '{name}'"):
            from_gguf(path)


@pytest.mark.parametrize("name", sorted(weights(SMALL | {"block_count": 1})))
def test_each_weight_is_missed(small, name):
    with pytest.raises(ValueError, match="missing in the file|does not say"):
        from_gguf(small(change=lambda tensors: {own: one for own, one in tensors.items() if own != name}))


def test_an_unknown_weight_is_refused_by_its_name(small):
    path = small(change=lambda tensors: tensors | {"rope_freqs.weight": np.ones(8, np.float32)})
    with pytest.raises(ValueError, match=r"unknown in the file: rope_freqs\.weight"):
        from_gguf(path)


def test_numbers_of_another_kind_are_refused_by_its_name(small):
    with pytest.raises(ValueError, match="kept as Q5_1; this reader knows F32, F16, Q4_0, Q4_1, Q8_0, BF16"):
        from_gguf(small(kind=Type.Q5_1))


def test_tokens_of_another_kind_are_refused():
    with pytest.raises(ValueError, match="split as 'llama-bpe'"):
        ByteLevelTokens(tokens_of(pre="llama-bpe"))


def test_a_file_that_is_not_there_is_named(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match="nothing.gguf"):
        from_gguf(tmp_path / "nothing.gguf")
    monkeypatch.setenv("COURSE_MODELS", str(tmp_path))
    with pytest.raises(pretrained.NotInstalledError, match="make model"):
        pretrained.smollm2_file()


def test_a_cut_off_or_damaged_file_is_refused_or_read_but_never_breaks_the_reader(small):
    path = small()
    whole = path.read_bytes()
    header = whole.index(b"ffn_norm") + 200
    draw, refused = random.Random(0), 0
    for round in range(300):
        content = bytearray(whole)
        if round % 3 == 0:
            del content[draw.randrange(len(content)) :]
        else:
            for _ in range(round % 5 + 1):
                content[draw.randrange(header)] = draw.randrange(256)
        path.write_bytes(content)
        try:
            from_gguf(path)
        except ValueError as error:
            refused += 1
            assert str(path) in str(error)
    assert refused > 100
