"""Attention: scores that compare queries with keys, weighted sums of values, and attention with many heads.

For the decoder in `recurrent`, a score is a module with two steps. `project_keys` runs once per sentence, and
`forward` compares one query with the keys at every step. `scaled_dot_product_attention` and the code after it
compare all queries of a sentence at once.
"""

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F

from course_lib.masks import check_bias, check_mask, masked_softmax


class AdditiveScore(nn.Module):
    """Scores a key by e_i = v · tanh(W_s s + W_h h_i + b).

    Source: Bahdanau et al. 2015, appendix A.1.2. The paper has no bias b.

    >>> score = AdditiveScore(query_size=4, key_size=6, attention_size=3)
    >>> score(torch.zeros(2, 4), score.project_keys(torch.zeros(2, 5, 6))).shape
    torch.Size([2, 5])
    """

    def __init__(self, query_size: int, key_size: int, attention_size: int = 32):
        super().__init__()
        self.query_projection = nn.Linear(query_size, attention_size, bias=False)  # W_s
        self.key_projection = nn.Linear(key_size, attention_size)  # W_h
        self.energy = nn.Linear(attention_size, 1, bias=False)  # v

    def project_keys(self, keys: Float[Tensor, "batch key d_key"]) -> Float[Tensor, "batch key d_attention"]:
        return self.key_projection(keys)

    def forward(
        self, query: Float[Tensor, "batch d_query"], projected: Float[Tensor, "batch key d_attention"]
    ) -> Float[Tensor, "batch key"]:
        return self.energy(torch.tanh(self.query_projection(query)[:, None] + projected)).squeeze(-1)


class DotScore(nn.Module):
    """Scores a key by e_i = s · h_i (Luong et al. 2015, equation 8).

    Raises ValueError if query and key differ in size.
    """

    def __init__(self, query_size: int, key_size: int):
        super().__init__()
        if query_size != key_size:
            raise ValueError(
                f"the dot product needs queries and keys of one size, not {query_size} and {key_size}; "
                "use GeneralScore, which puts a matrix between them"
            )

    def project_keys(self, keys: Float[Tensor, "batch key d"]) -> Float[Tensor, "batch key d"]:
        return keys

    def forward(
        self, query: Float[Tensor, "batch d"], projected: Float[Tensor, "batch key d"]
    ) -> Float[Tensor, "batch key"]:
        return (projected @ query[:, :, None]).squeeze(-1)


class GeneralScore(DotScore):
    """Scores a key by e_i = s · W h_i (Luong et al. 2015, equation 8)."""

    def __init__(self, query_size: int, key_size: int):
        super().__init__(query_size, query_size)
        self.key_projection = nn.Linear(key_size, query_size, bias=False)  # W

    def project_keys(self, keys: Float[Tensor, "batch key d_key"]) -> Float[Tensor, "batch key d"]:
        return self.key_projection(keys)


def attend(
    scores: Float[Tensor, "batch key"],
    values: Float[Tensor, "batch key d_value"],
    mask: Bool[Tensor, "batch key"] | None = None,
) -> tuple[Float[Tensor, "batch d_value"], Float[Tensor, "batch key"]]:
    """Returns the context c = Σ_i α_i h_i and the weights α = softmax(e) (Bahdanau et al. 2015, equations 5 and 6).

    >>> context, weights = attend(torch.zeros(1, 2), torch.tensor([[[1.0], [3.0]]]))
    >>> context.item(), weights.tolist()
    (2.0, [[0.5, 0.5]])
    """
    weights = masked_softmax(scores, mask)
    return (weights[:, None] @ values).squeeze(1), weights


def scaled_dot_product_attention(
    query: Float[Tensor, "*axes query d_k"],
    key: Float[Tensor, "*axes key d_k"],
    value: Float[Tensor, "*axes key d_value"],
    mask: Bool[Tensor, "*_ key"] | None = None,
    *,
    bias: Float[Tensor, "*_ key"] | None = None,
    scale: float | None = None,
    dropout: float = 0.0,
) -> tuple[Float[Tensor, "*axes query d_value"], Float[Tensor, "*axes query key"]]:
    """Computes softmax(Q Kᵀ / √d_k) V (Vaswani et al. 2017, equation 1), or softmax(Q Kᵀ / √d_k + B) V with a bias B.

    Args:
        query, key, value: (batch, head, query or key, numbers in a vector); the batch and head axes are optional.
        mask: True where a query may attend to a key. It has as many axes as the scores; each axis has length 1 or
            the scores' own length. A query that may attend to no key gets zeros.
        bias: B, added to the scores; its shape follows the mask's rule (`positions.LinearBiases` makes one).
        scale: the factor that multiplies each dot product; 1 / √d_k by default.
        dropout: share of the weights set to 0 before they multiply the values, in training and in evaluation.
    Returns:
        The output, and the weights before dropout.
    Raises:
        TypeError, ValueError: query, key, value, mask or bias do not fit together; the message says where.

    >>> x = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> output, weights = scaled_dot_product_attention(x, x, x, torch.tensor([[True, False], [True, True]]))
    >>> weights
    tensor([[1.0000, 0.0000],
            [0.3302, 0.6698]])
    """
    check_fit(query, key, value)
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    # The query is scaled before the product: in half precision, an unscaled dot product may overflow.
    scores = (scale * query) @ key.mT
    if bias is not None:
        check_bias(bias, scores)
        scores = scores + bias
    weights = masked_softmax(scores, mask)
    return F.dropout(weights, dropout) @ value, weights


def dot_product_attention(
    query: Float[Tensor, "batch head query d_k"],
    key: Float[Tensor, "batch kept key d_k"],
    value: Float[Tensor, "batch kept key d_value"],
    mask: Bool[Tensor, "_ _ _ key"] | None = None,
    bias: Float[Tensor, "_ _ _ key"] | None = None,
    *,
    dropout: float = 0.0,
    need_weights: bool = False,
) -> tuple[Float[Tensor, "batch head query d_value"], Float[Tensor, "batch head query key"] | None]:
    """Computes `scaled_dot_product_attention` for all heads, in steps or with torch's fused kernel.

    This is the core of `MultiHeadAttention`. A core of your own is a function with the same arguments. In
    self-attention with fewer queries than keys, the queries belong to the last words.

    Args:
        key, value: have as many heads as the queries, or fewer. With fewer, equally many adjacent heads share each.
        need_weights: computes in steps and returns the weights, which the fused kernel does not keep.
    Raises:
        TypeError, ValueError: the tensors do not fit together; the message says where.
    """
    if need_weights:
        return scaled_dot_product_attention(query, *for_each_head(query, key, value), mask, bias=bias, dropout=dropout)
    group = query.shape[1] // key.shape[1]
    check_fit(query[:, ::group] if group * key.shape[1] == query.shape[1] else query, key, value)
    if group > 1 and query.shape[2] == 1 and mask is None and bias is None:
        # One query, as in writing: the heads that share a key become several queries of one head, so no key is copied.
        output = F.scaled_dot_product_attention(query.view(*key.shape[:2], group, -1), key, value, dropout_p=dropout)
        return output.flatten(1, 2)[:, :, None], None
    for given, check in ((mask, check_mask), (bias, check_bias)):
        if given is not None:  # the check needs only the scores' shape and type; on "meta" they cost no memory
            check(given, torch.empty(*query.shape[:-1], key.shape[-2], dtype=query.dtype, device="meta"))
    if bias is not None:  # the kernel has one argument for mask and bias
        mask = bias if mask is None else torch.where(mask, bias, -torch.inf)
    return F.scaled_dot_product_attention(query, key, value, mask, dropout_p=dropout, enable_gqa=group > 1), None


def for_each_head(
    query: Float[Tensor, "batch head query d_k"],
    key: Float[Tensor, "batch kept key d_k"],
    value: Float[Tensor, "batch kept key d_value"],
) -> tuple[Float[Tensor, "batch head key d_k"], Float[Tensor, "batch head key d_value"]]:
    """Repeats shared keys and values, so that each head of the queries has its own."""
    group = query.shape[1] // key.shape[1]
    return (key, value) if group == 1 else (key.repeat_interleave(group, 1), value.repeat_interleave(group, 1))


def check_fit(query: Tensor, key: Tensor, value: Tensor) -> None:
    """Raises ValueError if a query and a key differ in size, a key has no value, or the leading axes differ."""
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"a query has {query.shape[-1]} numbers and a key {key.shape[-1]}; they need the same d_k")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(f"there are {key.shape[-2]} keys and {value.shape[-2]} values; each key needs its value")
    axes = [tuple(tensor.shape[:-2]) for tensor in (query, key, value)]
    if not axes[0] == axes[1] == axes[2]:
        raise ValueError(
            f"query, key and value differ in the axes before the last two: {', '.join(map(str, axes))}; "
            "nothing is broadcast here, so expand them to one shape"
        )


def split_heads(x: Float[Tensor, "batch n d_model"], heads: int) -> Float[Tensor, "batch head n d_head"]:
    """Splits each vector into one piece per head; head i gets the i-th piece of every vector.

    >>> split_heads(torch.tensor([[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]]), heads=2)
    tensor([[[[1., 2.],
              [5., 6.]],
    <BLANKLINE>
             [[3., 4.],
              [7., 8.]]]])
    """
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def merge_heads(x: Float[Tensor, "batch head n d_head"]) -> Float[Tensor, "batch n d_model"]:
    """Undoes `split_heads`: concatenates the pieces of each vector."""
    return x.transpose(1, 2).flatten(2)


def divisors(number: int) -> str:
    """Lists the divisors of a number, for an error message."""
    return ", ".join(str(n) for n in range(1, number + 1) if number % n == 0)


class MultiHeadAttention(nn.Module):
    """Computes Concat(head_1, …, head_h) W^O with head_i = attention(X W_i^Q, M W_i^K, M W_i^V).

    Each head has d_model / h numbers. If the memory M is X itself, this is self-attention; if M is another sequence,
    such as an encoder's `states`, it is cross-attention. One matrix, `query_projection`, holds W_1^Q … W_h^Q; keys and
    values have one matrix each, too. Source: Vaswani et al. 2017, section 3.2.2. The paper has no biases.

    Args:
        model_size: d_model, numbers in a vector of x, of the memory and of the output.
        heads: h, a divisor of the model size.
        dropout: share of the weights set to 0 in training.
        key_value_heads: a divisor of `heads`, by default `heads` itself. With fewer, equally many adjacent heads share
            each key and value (Ainslie et al. 2023); 1 is multi-query attention (Shazeer 2019).
        projection_bias: whether the four projections add a bias.
        rotation: takes the size of a head and makes a module that rotates queries and keys, such as
            `positions.RotaryPositions`.
        score_bias: takes the number of heads and makes a module that gives a bias for the scores, such as
            `positions.LinearBiases`.
        core: the function that computes attention, with the arguments of `dot_product_attention`.
    Raises:
        ValueError: `heads` does not divide the model size, or `key_value_heads` does not divide `heads`.

    >>> attention = MultiHeadAttention(model_size=8, heads=2)
    >>> output, weights = attention(torch.zeros(1, 3, 8), memory=torch.zeros(1, 5, 8), need_weights=True)
    >>> output.shape, weights.shape
    (torch.Size([1, 3, 8]), torch.Size([1, 2, 3, 5]))
    """

    def __init__(
        self,
        model_size: int,
        heads: int,
        dropout: float = 0.0,
        *,
        key_value_heads: int | None = None,
        projection_bias: bool = True,
        rotation: Callable[[int], nn.Module] | None = None,
        score_bias: Callable[[int], nn.Module] | None = None,
        core: Callable[..., tuple[Tensor, Tensor | None]] = dot_product_attention,
    ):
        super().__init__()
        if heads < 1 or model_size % heads:
            raise ValueError(
                f"model_size {model_size} cannot be cut into {heads} heads of one size; heads may be "
                f"{divisors(model_size)}"
            )
        key_value_heads = heads if key_value_heads is None else key_value_heads
        if key_value_heads < 1 or heads % key_value_heads:
            raise ValueError(
                f"{heads} heads cannot share {key_value_heads} keys and values evenly; key_value_heads may be "
                f"{divisors(heads)}"
            )
        head_size = model_size // heads
        self.heads, self.key_value_heads = heads, key_value_heads
        self.dropout = dropout
        self.query_projection = nn.Linear(model_size, model_size, projection_bias)
        self.key_projection = nn.Linear(model_size, key_value_heads * head_size, projection_bias)
        self.value_projection = nn.Linear(model_size, key_value_heads * head_size, projection_bias)
        self.output_projection = nn.Linear(model_size, model_size, projection_bias)
        for projection in self.children():
            # 1 / √d_k assumes queries and keys of variance 1. Xavier gives them from x of variance 1; nn.Linear's
            # default start would give 1/3.
            nn.init.xavier_uniform_(projection.weight)
            if projection_bias:
                nn.init.zeros_(projection.bias)
        self.rotation = rotation(head_size) if rotation else None
        self.score_bias = score_bias(heads) if score_bias else None
        self.core = core

    def project_memory(
        self, memory: Float[Tensor, "batch key d_model"], start: int = 0
    ) -> tuple[Float[Tensor, "batch head key d_head"], Float[Tensor, "batch head key d_head"]]:
        """Returns each head's keys and values for `attend`. The memory's first vector has position `start`."""
        key, value = self.key_projection(memory), self.value_projection(memory)
        key, value = split_heads(key, self.key_value_heads), split_heads(value, self.key_value_heads)
        return key if self.rotation is None else self.rotation(key, start), value

    def attend(
        self,
        x: Float[Tensor, "batch query d_model"],
        key: Float[Tensor, "batch head key d_head"],
        value: Float[Tensor, "batch head key d_head"],
        mask: Bool[Tensor, "_ _ _ key"] | None = None,
        *,
        start: int = 0,
        need_weights: bool = False,
    ) -> tuple[Float[Tensor, "batch query d_model"], Float[Tensor, "batch query_head query key"] | None]:
        """Computes `forward` from given keys and values. The first vector of x has position `start`."""
        query = split_heads(self.query_projection(x), self.heads)
        if self.rotation is not None:
            query = self.rotation(query, start)
        bias = None if self.score_bias is None else self.score_bias(query, key)
        dropout = self.dropout if self.training else 0.0
        heads, weights = self.core(query, key, value, mask, bias, dropout=dropout, need_weights=need_weights)
        return self.output_projection(merge_heads(heads)), weights

    def forward(
        self,
        x: Float[Tensor, "batch query d_model"],
        memory: Float[Tensor, "batch key d_model"] | None = None,
        mask: Bool[Tensor, "_ _ _ key"] | None = None,
        *,
        need_weights: bool = False,
    ) -> tuple[Float[Tensor, "batch query d_model"], Float[Tensor, "batch head query key"] | None]:
        """Lets each vector of x attend to the memory.

        Args:
            memory: the vectors that give keys and values; x itself by default.
            mask: True where a query may attend to a key; each axis but the last has length 1 or the scores' own.
            need_weights: computes in steps and returns the weights, which torch's fused kernel does not keep.
        Returns:
            The output, and each head's weights before dropout or None.
        Raises:
            TypeError, ValueError: x, memory and mask do not fit together; the message says where.
        """
        key, value = self.project_memory(x if memory is None else memory)
        return self.attend(x, key, value, mask, need_weights=need_weights)

    def to_torch(self) -> nn.MultiheadAttention:
        """Returns torch's module with a copy of the weights. Its boolean masks mean the opposite: give it `~mask`.

        Raises ValueError if this module has parts that torch's module lacks.
        """
        plain = self.core is dot_product_attention and self.rotation is None and self.score_bias is None
        if not plain or self.key_value_heads < self.heads or self.query_projection.bias is None:
            raise ValueError(
                "nn.MultiheadAttention has keys and values for every head, biases in its projections, and neither "
                "rotation nor score_bias nor another core; only such a module can be copied"
            )
        own = self.state_dict()
        like = self.output_projection.weight
        module = nn.MultiheadAttention(
            like.shape[0], self.heads, self.dropout, batch_first=True, device=like.device, dtype=like.dtype
        )
        for part in ("weight", "bias"):
            packed = [own.pop(f"{name}_projection.{part}") for name in ("query", "key", "value")]
            own[f"in_proj_{part}"] = torch.cat(packed)
            own[f"out_proj.{part}"] = own.pop(f"output_projection.{part}")
        module.load_state_dict(own)
        return module.train(self.training)

    @classmethod
    def from_torch(cls, module: nn.MultiheadAttention) -> "MultiHeadAttention":
        """Copies torch's module into one of ours. Raises ValueError if it has parts that ours lacks."""
        lacking = module.in_proj_weight is None or module.in_proj_bias is None
        if lacking or module.bias_k is not None or module.add_zero_attn:
            raise ValueError(
                "only nn.MultiheadAttention with bias, with one size for queries, keys and values, and without "
                "add_bias_kv and add_zero_attn can be copied"
            )
        ours = cls(module.embed_dim, module.num_heads, module.dropout).to(module.in_proj_weight)
        theirs = module.state_dict()
        for part in ("weight", "bias"):
            packed = theirs.pop(f"in_proj_{part}").chunk(3)
            for name, piece in zip(("query", "key", "value"), packed, strict=True):
                theirs[f"{name}_projection.{part}"] = piece
            theirs[f"output_projection.{part}"] = theirs.pop(f"out_proj.{part}")
        ours.load_state_dict(theirs)
        return ours.train(module.training)
