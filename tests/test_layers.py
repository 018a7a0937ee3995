"""Normalisation and feed-forward against torch's, and residuals against their formulas."""

import itertools
from functools import partial

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F
from torch.testing import assert_close

from course_lib.layers import (
    FeedForward,
    GatedFeedForward,
    LayerNorm,
    MixtureOfExperts,
    PostNorm,
    PreNorm,
    PreRMSNorm,
    RMSNorm,
    WithLoss,
    auxiliary_losses,
    layer_norm,
)

SIZE = 12


def randomized(module, seed=0):
    """Draws every parameter at random, since ones and zeros would hide which is which."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator, dtype=torch.float64))
    return module.double()


def vectors(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return (3 + 2 * torch.randn(*shape, SIZE, generator=generator, dtype=torch.float64)).requires_grad_()


def with_gradients(output, inputs):
    """The output, and its gradients when no two of its numbers weigh the same."""
    upstream = torch.linspace(-1, 2, output.numel(), dtype=output.dtype).view_as(output)
    return output, *torch.autograd.grad(output, inputs, upstream)


# ---- layer normalisation ----


@pytest.mark.parametrize("shape", [(), (5,), (2, 5), (2, 3, 5)], ids=str)
@pytest.mark.parametrize("epsilon", [1e-5, 0.5])
def test_the_formula_the_module_and_torchs_module_are_equal_in_value_and_gradient(shape, epsilon):
    torchs, x = randomized(nn.LayerNorm(SIZE, epsilon)), vectors(*shape)
    ours = LayerNorm.from_torch(torchs)
    wanted = with_gradients(torchs(x), [x, *torchs.parameters()])
    assert_close(with_gradients(ours(x), [x, *ours.parameters()]), wanted, atol=1e-10, rtol=1e-10)
    by_hand = layer_norm(x, ours.weight, ours.bias, epsilon)
    assert_close(with_gradients(by_hand, [x, *ours.parameters()]), wanted, atol=1e-10, rtol=1e-10)


@pytest.mark.parametrize("epsilon", [1e-5, 0.5])
def test_rms_norm_is_torchs_in_value_and_gradient(epsilon):
    torchs, ours, x = randomized(nn.RMSNorm(SIZE, epsilon)), randomized(RMSNorm(SIZE, epsilon)), vectors(2, 5)
    wanted = with_gradients(torchs(x), [x, torchs.weight])
    assert_close(with_gradients(ours(x), [x, ours.weight]), wanted, atol=1e-10, rtol=1e-10)


def test_epsilon_stands_inside_the_root_and_the_variance_is_divided_by_d():
    x = torch.tensor([1.0, 3.0])  # deviations −1 and 1; variance 1, or 2 if divided by d − 1
    output = layer_norm(x, torch.ones(2), torch.zeros(2), 3.0)
    assert_close(output, torch.tensor([-0.5, 0.5]))  # √(1 + 3), and neither √1 + 3 nor √(2 + 3)
    assert_close(LayerNorm(2, epsilon=3.0)(x), output)


def test_a_vector_of_equal_numbers_becomes_the_bias_without_nan():
    x = torch.full((2, SIZE), 7.0, requires_grad=True)
    for output in (LayerNorm(SIZE)(x), layer_norm(x, torch.ones(SIZE), torch.zeros(SIZE))):
        assert not output.any()
        assert torch.autograd.grad(output[0, 0], x)[0].isfinite().all()


@given(st.floats(0.1, 100), st.floats(-100, 100))
def test_neither_shift_nor_scale_of_a_vector_matters(scale, shift):
    x = vectors(4)
    gain, bias = torch.ones(SIZE, dtype=torch.float64), torch.zeros(SIZE, dtype=torch.float64)
    assert_close(layer_norm(scale * x + shift, gain, bias, 0.0), layer_norm(x, gain, bias, 0.0), atol=1e-8, rtol=0)


def test_it_starts_with_mean_0_and_variance_1():
    output = LayerNorm(SIZE).double()(vectors(2, 5))
    assert_close(output.mean(-1), torch.zeros(2, 5).double(), atol=1e-9, rtol=0)
    assert_close(output.var(-1, correction=0), torch.ones(2, 5).double(), atol=1e-4, rtol=0)


def test_torchs_parameters_fit_by_name():
    torchs = randomized(nn.LayerNorm(SIZE))
    ours = LayerNorm(SIZE).double()
    ours.load_state_dict(torchs.state_dict())
    assert torch.equal(ours(vectors(3)), torchs(vectors(3)))


def test_a_copy_shares_nothing_and_keeps_mode_and_type():
    torchs = nn.LayerNorm(SIZE, 0.1).double().eval()
    ours = LayerNorm.from_torch(torchs)
    assert ours.epsilon == 0.1 and ours.weight.dtype == torch.float64 and not ours.training
    randomized(torchs)
    assert torch.equal(ours.weight, torch.ones(SIZE).double())


# ---- feed-forward ----


def test_feed_forward_is_the_papers_equation_2():
    part, x = randomized(FeedForward(SIZE, 20)), vectors(2, 5)
    w_1, b_1, w_2, b_2 = part.inner.weight, part.inner.bias, part.outer.weight, part.outer.bias
    wanted = torch.clamp(x @ w_1.T + b_1, min=0) @ w_2.T + b_2
    assert_close(with_gradients(part(x), [x, *part.parameters()]), with_gradients(wanted, [x, w_1, b_1, w_2, b_2]))


def test_feed_forward_treats_each_vector_by_itself():
    part, x = randomized(FeedForward(SIZE, 20)), vectors(4)
    jacobian = torch.autograd.functional.jacobian(part, x)  # (position out, number out, position in, number in)
    reached = jacobian.ne(0).any(3).any(1)
    assert torch.equal(reached, torch.eye(4, dtype=torch.bool))


def test_feed_forward_drops_inside_and_in_training_only():
    part, x = randomized(FeedForward(SIZE, 4000, dropout=0.25)), vectors(1)
    torch.manual_seed(0)
    seen = []
    part.outer.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    part(x)
    part.eval()(x)
    trained, wanted = seen
    assert torch.equal(wanted, torch.relu(part.inner(x)))
    active = wanted > 0
    kept = trained[active] != 0
    assert 0.2 < 1 - kept.double().mean() < 0.3
    assert_close(trained[active][kept], wanted[active][kept] / 0.75)


def test_feed_forward_starts_with_xavier_matrices_and_zero_biases():
    torch.manual_seed(0)
    part = FeedForward(64, 256)
    for linear in (part.inner, part.outer):
        bound = (6 / (64 + 256)) ** 0.5
        assert 0.98 * bound < linear.weight.abs().max() <= bound
        assert not linear.bias.any()


@pytest.mark.parametrize("activation", [torch.relu, F.gelu, nn.SiLU()])
def test_the_activation_is_put_in(activation):
    part, x = randomized(FeedForward(SIZE, 20, activation=activation)), vectors(2, 5)
    assert_close(part(x), part.outer(activation(part.inner(x))))


@pytest.mark.parametrize("activation", [F.silu, torch.relu])
def test_a_gated_part_multiplies_two_projections_one_of_them_activated(activation):
    part, x = randomized(GatedFeedForward(SIZE, 20, activation=activation)), vectors(2, 5)
    gate, inner, outer = (linear.weight for linear in (part.gate, part.inner, part.outer))
    assert_close(part(x), (activation(x @ gate.T) * (x @ inner.T)) @ outer.T)
    assert len(list(part.parameters())) == 3
    assert not GatedFeedForward(SIZE, 20, dropout=1.0).double()(x).any()


# ---- experts ----


@pytest.mark.parametrize("chosen", [1, 2, 4])
@pytest.mark.parametrize("expert", [FeedForward, GatedFeedForward])
def test_a_mixture_is_the_chosen_experts_weighed_by_the_router(chosen, expert):
    mixture = randomized(MixtureOfExperts(SIZE, 20, experts=4, chosen=chosen, balance=0.3, expert=expert))
    x = vectors(2, 5)
    output, loss = mixture(x)
    wanted, choices = torch.zeros_like(x), torch.zeros(4)
    for row, place in itertools.product(range(2), range(5)):
        p = (mixture.router.weight @ x[row, place]).softmax(0)
        likeliest = p.argsort(descending=True)[:chosen].tolist()
        assert mixture.choices(x)[row, place].tolist() == likeliest
        wanted[row, place] = sum(p[e] * mixture.experts[e](x[row, place]) for e in likeliest)
        choices[likeliest] += 1
    assert_close(output, wanted)
    p = mixture.router(x).softmax(-1).mean((0, 1))
    assert_close(loss, 0.3 * 4 * (choices / choices.sum() * p).sum())
    assert torch.autograd.grad(output.sum(), mixture.router.weight)[0].any()  # also if one expert alone is chosen


def test_the_balance_is_least_where_all_experts_are_chosen_equally():
    mixture = MixtureOfExperts(4, 8, experts=4, balance=1.0)
    with torch.no_grad():
        mixture.router.weight.copy_(9 * torch.eye(4))
    even, uneven = torch.eye(4), torch.eye(4)[[0, 0, 0, 1]]
    assert mixture(even).loss.item() == pytest.approx(1)
    assert mixture(uneven).loss.item() > 2


@pytest.mark.parametrize("chosen", [0, 5])
def test_more_experts_than_there_are_cannot_be_chosen(chosen):
    with pytest.raises(ValueError, match=f"{chosen} of 4 experts cannot be chosen; chosen must be from 1 to 4"):
        MixtureOfExperts(SIZE, 20, chosen=chosen)


class Balanced(FeedForward):
    """Adds a loss that is small if the output is small."""

    def forward(self, x):
        y = super().forward(x)
        return WithLoss(y, y.square().mean())


def test_losses_are_heard_within_the_with_only_and_in_order():
    first, second, x = randomized(Balanced(SIZE, 20)), randomized(Balanced(SIZE, 20), seed=1), vectors(2, 5)
    model = nn.ModuleList([first, FeedForward(SIZE, 20), second])
    with auxiliary_losses(model) as losses:
        wanted = [part(x).loss for part in (second, first)]
    first(x)
    assert len(losses) == 2 and all(map(torch.equal, losses, wanted))
    assert torch.autograd.grad(sum(losses), first.inner.weight)[0].any()
    with pytest.raises(RuntimeError), auxiliary_losses(model):
        raise RuntimeError
    assert not any(part._forward_hooks for part in model.modules())


# ---- residuals ----


def test_post_norm_normalises_the_sum():
    residual, x, y = randomized(PostNorm(SIZE)), vectors(2, 5), vectors(2, 5, seed=1)
    assert residual.before(x) is x
    assert_close(residual.after(x, y), layer_norm(x + y, residual.norm.weight, residual.norm.bias))


def test_pre_norm_normalises_what_the_part_gets_and_leaves_the_sum():
    residual, x, y = randomized(PreNorm(SIZE)), vectors(2, 5), vectors(2, 5, seed=1)
    assert_close(residual.before(x), layer_norm(x, residual.norm.weight, residual.norm.bias))
    assert torch.equal(residual.after(x, y), x + y)


@pytest.mark.parametrize("residual", [PostNorm, PreNorm])
def test_dropout_meets_what_the_part_made_and_never_x(residual):
    module, x, y = residual(SIZE, dropout=1.0).double(), vectors(2, 5), vectors(2, 5, seed=1)
    assert torch.equal(module.after(x, y), module.after(x, torch.zeros_like(y)))
    module.eval()
    assert torch.equal(module.after(x, y), residual(SIZE).double().after(x, y))


def test_only_pre_norm_ends_a_stack_with_a_norm():
    assert isinstance(PreNorm.last(SIZE), LayerNorm)
    x = vectors(2)
    assert PostNorm.last(SIZE)(x) is x


class Halved(nn.Module):
    """A norm of one's own."""

    def __init__(self, model_size):
        super().__init__()

    def forward(self, x):
        return x / 2


def test_the_norm_of_llama_is_put_in():
    residual, x = randomized(PreRMSNorm(SIZE)), vectors(2, 5)
    assert_close(residual.before(x), F.rms_norm(x, (SIZE,), residual.norm.weight, 1e-5))
    assert isinstance(PreRMSNorm.last(SIZE), RMSNorm)


def test_another_norm_is_a_class_of_two_lines():
    class HalvedPreNorm(PreNorm):
        make_norm = last = Halved

    class LoosePostNorm(PostNorm):
        make_norm = partial(LayerNorm, epsilon=0.5)

    x, y = vectors(2, 5), vectors(2, 5, seed=1)
    assert torch.equal(HalvedPreNorm(SIZE).before(x), x / 2) and isinstance(HalvedPreNorm.last(SIZE), Halved)
    gain, bias = torch.ones(SIZE).double(), torch.zeros(SIZE).double()
    assert_close(LoosePostNorm(SIZE).double().after(x, y), layer_norm(x + y, gain, bias, 0.5))
