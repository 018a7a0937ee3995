"""Every part of the library in half precision, in float64 and under autocast; and how it is kept and copied."""

import copy
import inspect
import io
import pickle

import library
import pytest
import torch
from parts import PARTS, given, made
from torch import nn
from torch.nn import functional as F
from torch.testing import assert_close

from course_lib.attention_map import AttentionMap
from course_lib.cores import linear_attention, tiled_attention
from course_lib.decoding import beam, draw, greedy, nucleus
from course_lib.layers import MixtureOfExperts, RMSNorm, layer_norm
from course_lib.recurrent import EncoderDecoder
from course_lib.transformer import Transformer

ROUNDING = {torch.float16: 0.02, torch.bfloat16: 0.1, torch.float64: 1e-5}
HALF = [torch.float16, torch.bfloat16]
# torch's own recurrent cells may never come back from float16 under autocast on a CPU.
LOWERED = [(name, torch.bfloat16) for name in PARTS] + [("MixtureOfExperts", torch.float16)]


def test_every_class_of_modules_is_among_the_parts():
    classes = {
        name
        for module in library.taught()
        for name, thing in vars(module).items()
        if inspect.isclass(thing) and issubclass(thing, nn.Module) and thing.__module__ == module.__name__
    }
    assert classes and classes <= {type(made(name)).__name__ for name in PARTS}


def close(result, wanted, dtype):
    """Within the rounding of so many numbers, in parts of the largest."""
    assert result.isfinite().all()
    assert_close(
        result.double() / wanted.abs().max(), wanted.double() / wanted.abs().max(), atol=ROUNDING[dtype], rtol=0
    )


@torch.no_grad()
@pytest.mark.parametrize("dtype", ROUNDING, ids=str)
@pytest.mark.parametrize("name", PARTS)
def test_in_another_type_a_part_computes_what_it_does_in_float32(name, dtype):
    call = PARTS[name].call
    result = call(made(name).to(dtype), given(name, dtype))
    assert result.dtype == dtype
    close(result, call(made(name), given(name)), dtype)


@torch.no_grad()
@pytest.mark.parametrize(("name", "dtype"), LOWERED, ids=str)
def test_so_it_does_under_autocast_whatever_the_part_before_gave(name, dtype):
    call, part = PARTS[name].call, made(name)
    wanted = call(part, given(name))
    with torch.autocast("cpu", dtype=dtype):
        for got in {torch.float32, dtype}:
            close(call(part, given(name, got)), wanted, dtype)


def test_under_autocast_a_mixture_has_gradients_and_the_choices_that_it_computes_with():
    mixture, x = MixtureOfExperts(8, 16), torch.randn(2, 5, 8, requires_grad=True)
    wanted = mixture.choices(x)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(mixture.choices(x), wanted)
        output, loss = mixture(x)
    assert output.dtype == torch.float32
    (output.sum() + loss).backward()
    assert x.grad.isfinite().all() and x.grad.any()


@pytest.mark.parametrize("dtype", HALF, ids=str)
@pytest.mark.parametrize("size", [1e-3, 1.0, 300.0, 3e4])
def test_norms_in_half_precision_are_torchs(size, dtype):
    x = (size * torch.tensor([[1.0, -1.0, 1.0, -1.0]])).to(dtype)
    assert_close(RMSNorm(4).to(dtype)(x), F.rms_norm(x, (4,), eps=1e-5))
    gain, bias = torch.ones(4, dtype=dtype), torch.zeros(4, dtype=dtype)
    assert_close(layer_norm(x, gain, bias), F.layer_norm(x, (4,)))


@pytest.mark.parametrize("dtype", HALF, ids=str)
@pytest.mark.parametrize("core", [linear_attention, tiled_attention])
def test_sums_over_a_long_text_are_those_of_float32(core, dtype):
    """In float16 the sums of `linear_attention` overflow, in bfloat16 they stand still."""
    query, key, value = torch.randn(3, 1, 1, 2000, 32, generator=torch.Generator().manual_seed(0)).to(dtype)
    result = core(query, key, value)[0]
    assert result.dtype == dtype
    assert torch.equal(result, core(query.float(), key.float(), value.float())[0].to(dtype))


@pytest.mark.parametrize("dtype", HALF, ids=str)
def test_the_fewest_words_that_reach_p_are_those_of_float32(dtype):
    p = torch.full((1, 1000), 0.001, dtype=dtype)
    assert (nucleus(p, 0.9) > 0).sum() == (nucleus(p.float(), 0.9) > 0).sum()
    assert draw(torch.tensor([[0.0, 5.0]], dtype=dtype), top_k=1).tolist() == [1]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", HALF, ids=str)
@pytest.mark.parametrize("search", [greedy, beam])
@pytest.mark.parametrize("build", [Transformer, EncoderDecoder])
def test_a_model_in_half_precision_translates_with_maps(build, search, dtype, corpus):
    torch.manual_seed(0)
    parts = {} if build is Transformer else {"attention": PARTS["AdditiveScore"].build.func}
    model = build(len(corpus.source_vocabulary), len(corpus.target_vocabulary), **parts).to(dtype)
    for written in search(model, corpus, [pair.source for pair in corpus.validation[:3]]):
        assert written.attention is not None and written.log_probability < 0


def test_rows_may_miss_1_by_the_rounding_of_their_own_type_only():
    row = torch.tensor([[0.5, 0.4951171875]])  # 0.9951, as a softmax in bfloat16 may sum
    AttentionMap(row.bfloat16(), ["chat"], ["black", "cat"])
    with pytest.raises(ValueError, match="sums to 0.9951, not 1"):
        AttentionMap(row, ["chat"], ["black", "cat"])


# ---- kept and copied ----


def saved_and_loaded(module):
    file = io.BytesIO()
    torch.save(module, file)
    file.seek(0)
    return torch.load(file, weights_only=False)


@torch.no_grad()
@pytest.mark.parametrize("name", PARTS)
def test_a_copy_of_a_part_computes_the_same(name):
    call, part = PARTS[name].call, made(name)
    wanted = call(part, given(name))
    for copied in (saved_and_loaded(part), pickle.loads(pickle.dumps(part)), copy.deepcopy(part)):
        assert torch.equal(call(copied, given(name)), wanted)
