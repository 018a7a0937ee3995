"""The parts around attention in a Transformer: normalisation, feed-forward parts, residual connections."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from course_lib.decorators import in_float32, outside_autocast


@in_float32
def layer_norm(
    x: Float[Tensor, "*axes d_model"],
    gain: Float[Tensor, " d_model"],
    bias: Float[Tensor, " d_model"],
    epsilon: float = 1e-5,
) -> Float[Tensor, "*axes d_model"]:
    """Normalises each vector: (x − mean) / √(variance + ε) · gain + bias (Ba et al. 2016, equations 3 and 4).

    The variance divides the sum of squared deviations by d, not by d − 1, and ε is inside the root.

    >>> layer_norm(torch.tensor([[1.0, 3.0], [10.0, 30.0]]), torch.ones(2), torch.zeros(2))
    tensor([[-1.0000,  1.0000],
            [-1.0000,  1.0000]])
    """
    deviation = x - x.mean(-1, keepdim=True)
    variance = deviation.square().mean(-1, keepdim=True)
    return deviation * torch.rsqrt(variance + epsilon) * gain + bias


class LayerNorm(nn.Module):
    """Applies `layer_norm` with a learned gain (`weight`, initially 1) and a learned bias (initially 0) per number.

    The parameters have the names of nn.LayerNorm. torch's fused kernel does the work: a Transformer of this course
    trains about a tenth faster with it than with the formula in steps.

    >>> LayerNorm(2, epsilon=3.0)(torch.tensor([[1.0, 3.0]]))
    tensor([[-0.5000,  0.5000]], grad_fn=<NativeLayerNormBackward0>)
    """

    def __init__(self, model_size: int, epsilon: float = 1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(model_size))
        self.bias = nn.Parameter(torch.zeros(model_size))
        self.epsilon = epsilon

    def forward(self, x: Float[Tensor, "*axes d_model"]) -> Float[Tensor, "*axes d_model"]:
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias, self.epsilon)

    @classmethod
    def from_torch(cls, module: nn.LayerNorm) -> "LayerNorm":
        """Copies torch's module into one of ours."""
        ours = cls(*module.normalized_shape, module.eps).to(module.weight)
        ours.load_state_dict(module.state_dict())
        return ours.train(module.training)


class RMSNorm(nn.Module):
    """Computes x / √(mean of x² + ε) · gain (Zhang & Sennrich 2019, equation 4); unlike LayerNorm, it keeps the mean.

    >>> RMSNorm(2)(torch.tensor([[3.0, 4.0]])) * 12.5**0.5
    tensor([[3.0000, 4.0000]], grad_fn=<MulBackward0>)
    """

    def __init__(self, model_size: int, epsilon: float = 1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(model_size))
        self.epsilon = epsilon

    def forward(self, x: Float[Tensor, "*axes d_model"]) -> Float[Tensor, "*axes d_model"]:
        return F.rms_norm(x, self.weight.shape, self.weight, self.epsilon)


class FeedForward(nn.Module):
    """Computes W_2 relu(W_1 x + b_1) + b_2 for each vector by itself (Vaswani et al. 2017, equation 2).

    A feed-forward part of your own takes (model size, inner size, dropout) and returns a tensor or `WithLoss`.

    Args:
        inner_size: numbers between W_1 and W_2; four times the model size in the paper.
        dropout: share of those numbers set to 0 in training, as in nn.TransformerEncoderLayer but not in the paper.
        activation: the function used for relu.

    >>> FeedForward(model_size=8, inner_size=32)(torch.zeros(1, 3, 8)).shape
    torch.Size([1, 3, 8])
    """

    def __init__(
        self,
        model_size: int,
        inner_size: int,
        dropout: float = 0.0,
        activation: Callable[[Tensor], Tensor] = torch.relu,
    ):
        super().__init__()
        self.activation = activation
        self.inner = nn.Linear(model_size, inner_size)
        self.outer = nn.Linear(inner_size, model_size)
        self.dropout = nn.Dropout(dropout)
        for linear in (self.inner, self.outer):
            nn.init.xavier_uniform_(linear.weight)
            nn.init.zeros_(linear.bias)

    def forward(self, x: Float[Tensor, "*axes d_model"]) -> Float[Tensor, "*axes d_model"]:
        return self.outer(self.dropout(self.activation(self.inner(x))))


class GatedFeedForward(nn.Module):
    """Computes W_2 (activation(W_1 x) ⊙ V x), without biases; with SiLU (Swish_1) it is SwiGLU.

    Source: Shazeer 2020, equation 6. It has three matrices, so with 2/3 of the inner size it has as many weights as
    `FeedForward`.

    >>> GatedFeedForward(model_size=8, inner_size=21)(torch.zeros(1, 3, 8)).shape
    torch.Size([1, 3, 8])
    """

    def __init__(
        self, model_size: int, inner_size: int, dropout: float = 0.0, activation: Callable[[Tensor], Tensor] = F.silu
    ):
        super().__init__()
        self.activation = activation
        self.gate = nn.Linear(model_size, inner_size, bias=False)  # W_1
        self.inner = nn.Linear(model_size, inner_size, bias=False)  # V
        self.outer = nn.Linear(inner_size, model_size, bias=False)  # W_2
        self.dropout = nn.Dropout(dropout)
        for linear in (self.gate, self.inner, self.outer):
            nn.init.xavier_uniform_(linear.weight)

    def forward(self, x: Float[Tensor, "*axes d_model"]) -> Float[Tensor, "*axes d_model"]:
        return self.outer(self.dropout(self.activation(self.gate(x)) * self.inner(x)))


class WithLoss(NamedTuple):
    """The output of a feed-forward part that adds a term to the loss, as a mixture of experts does for its balance."""

    output: Float[Tensor, "*axes d_model"]
    loss: Float[Tensor, ""]


@contextmanager
def auxiliary_losses(model: nn.Module) -> Iterator[list[Float[Tensor, ""]]]:
    """Collects the losses that parts of the model return with their outputs, in the order in which the parts run.

    Within the `with`, a hook catches each `WithLoss` where it is made, so no module stores a loss or passes it on. A
    model returns the same with such parts and without them, and outside the `with` their losses are dropped.

    >>> class Balanced(FeedForward):
    ...     def forward(self, x):
    ...         return WithLoss(super().forward(x), x.square().mean())
    >>> part = Balanced(model_size=8, inner_size=32)
    >>> with auxiliary_losses(part) as losses:
    ...     output = part(torch.ones(1, 3, 8)).output
    >>> sum(losses)
    tensor(1.)
    """
    losses: list[Tensor] = []

    def listen(part: nn.Module, inputs: tuple, output: object) -> None:
        if isinstance(output, WithLoss):
            losses.append(output.loss)

    hooks = [part.register_forward_hook(listen) for part in model.modules()]
    try:
        yield losses
    finally:
        for hook in hooks:
            hook.remove()


class MixtureOfExperts(nn.Module):
    """Sums p_e(x) expert_e(x) over the k most probable experts e of each vector; the router gives p(x) = softmax(W x).

    The experts are feed-forward parts, and each vector passes through k of them. Jacobs et al. 1991 compute all experts
    and weight their errors; Shazeer et al. 2017 compute a few and weight their outputs; this form is Fedus et al. 2022,
    equations 1 and 2. The added loss, `balance · E · Σ_e f_e P_e` (their equations 4 to 6), grows when choices and
    probabilities concentrate on the same experts: f_e is the share of the choices that went to e, and P_e is the mean
    of p_e. Under autocast all of this is computed in the type of the weights; in Fedus et al. 2022, section 2.4, only
    the router is.

    Args:
        inner_size, dropout: sizes and dropout of each expert.
        experts: E, the number of experts.
        chosen: k, from 1 to E.
        balance: their α; with 0 nothing balances the router's choices.
        expert: makes an expert from (model size, inner size, dropout).
    Raises:
        ValueError: k is not from 1 to E.

    >>> mixture = MixtureOfExperts(model_size=8, inner_size=32, experts=4, chosen=2)
    >>> mixture(torch.zeros(1, 3, 8)).output.shape, mixture.choices(torch.zeros(1, 3, 8)).shape
    (torch.Size([1, 3, 8]), torch.Size([1, 3, 2]))
    """

    def __init__(
        self,
        model_size: int,
        inner_size: int,
        dropout: float = 0.0,
        *,
        experts: int = 4,
        chosen: int = 1,
        balance: float = 0.01,
        expert: Callable[[int, int, float], nn.Module] = FeedForward,
    ):
        super().__init__()
        if not 1 <= chosen <= experts:
            raise ValueError(f"{chosen} of {experts} experts cannot be chosen; chosen must be from 1 to {experts}")
        self.chosen, self.balance = chosen, balance
        self.router = nn.Linear(model_size, experts, bias=False)
        self.experts = nn.ModuleList(expert(model_size, inner_size, dropout) for _ in range(experts))

    @outside_autocast
    def choices(self, x: Float[Tensor, "*axes d_model"]) -> Int[Tensor, "*axes chosen"]:
        """Returns the experts chosen for each vector, the most probable first."""
        return self.router(x).topk(self.chosen).indices

    @outside_autocast
    def forward(self, x: Float[Tensor, "*axes d_model"]) -> WithLoss:
        vectors = x.flatten(0, -2)  # (vector, d_model)
        p = self.router(vectors).softmax(-1)  # (vector, expert)
        of_chosen, chosen = p.topk(self.chosen)  # (vector, k)
        output, shares = torch.zeros_like(vectors), []
        for number, expert in enumerate(self.experts):
            vector, place = (chosen == number).nonzero(as_tuple=True)
            output = output.index_add(0, vector, of_chosen[vector, place, None] * expert(vectors[vector]))
            shares.append(len(vector) / chosen.numel())
        uneven = len(shares) * (p.new_tensor(shares) * p.mean(0)).sum()
        return WithLoss(output.view_as(x), self.balance * uneven)


class PostNorm(nn.Module):
    """Computes norm(x + part(x)), as in Vaswani et al. 2017, sections 3.1 and 5.4 (dropout).

    A residual connection has two methods. The part receives `before(x)` and returns y, and `after(x, y)` goes to the
    next part. `last(model_size)` makes the module at the end of a stack of layers. A class of your own takes (model
    size, dropout) and needs the two methods; without `last`, the stack has no module at its end. For another norm,
    make a subclass and set `make_norm`, and in a subclass of PreNorm `last`, too. Each takes the model size, such as
    `partial(LayerNorm, epsilon=1e-6)`.

    >>> residual = PostNorm(8)
    >>> x = torch.randn(1, 3, 8)
    >>> residual.after(x, FeedForward(8, 32)(residual.before(x))).shape
    torch.Size([1, 3, 8])
    """

    make_norm = LayerNorm
    last = nn.Identity  # a layer's output is normalised already

    def __init__(self, model_size: int, dropout: float = 0.0):
        super().__init__()
        self.norm = type(self).make_norm(model_size)  # on the class: on self, a function would become a method
        self.dropout = nn.Dropout(dropout)

    def before(self, x: Float[Tensor, "*axes d_model"]) -> Float[Tensor, "*axes d_model"]:
        return x

    def after(
        self, x: Float[Tensor, "*axes d_model"], y: Float[Tensor, "*axes d_model"]
    ) -> Float[Tensor, "*axes d_model"]:
        return self.norm(x + self.dropout(y))


class PreNorm(PostNorm):
    """Computes x + part(norm(x)) (Xiong et al. 2020, section 3). From layer to layer, x is only added to."""

    last = LayerNorm  # the last layer's sum is not normalised

    def before(self, x: Float[Tensor, "*axes d_model"]) -> Float[Tensor, "*axes d_model"]:
        return self.norm(x)

    def after(
        self, x: Float[Tensor, "*axes d_model"], y: Float[Tensor, "*axes d_model"]
    ) -> Float[Tensor, "*axes d_model"]:
        return x + self.dropout(y)


class PreRMSNorm(PreNorm):
    """`PreNorm` with `RMSNorm`, as in Llama (Touvron et al. 2023, section 2.2)."""

    make_norm = last = RMSNorm
