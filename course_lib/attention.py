"""Scores that compare a query with keys, and the weighted sum that they lead to; one head, and many.

For the decoder of `recurrent`, a score is a module with two parts: `project_keys`, done once a sentence,
and the comparison itself, done at every step. From `scaled_dot_product_attention` on, all queries of a
sentence are compared at once.
"""

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F

from course_lib.masks import check_bias, check_mask, masked_softmax


class AdditiveScore(nn.Module):
    """e_i = v · tanh(W_s s + W_h h_i + b): Bahdanau et al. 2015, appendix A.1.2, there without the bias b.

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
    """e_i = s · h_i: Luong et al. 2015, equation 8. Raises ValueError unless query and key have one size."""

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
    """e_i = s · W h_i: Luong et al. 2015, equation 8."""

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
    """Context c = Σ_i α_i h_i with α = softmax(e), and the weights α: Bahdanau et al. 2015, equations 5 and 6.

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
    """softmax(Q Kᵀ / √d_k) V: Vaswani et al. 2017, equation 1; with a bias, softmax(Q Kᵀ / √d_k + B) V.

    Args:
        query, key, value: (batch, head, query or key, numbers in a vector); the axes in front may be fewer.
        mask: True where a query may attend to a key; as many axes as the scores, each 1 or theirs.
            A query that may attend to nothing gets zeros.
        bias: B, added to the scores; as many axes as they have, each 1 or theirs (`positions.LinearBiases` makes one).
        scale: what a dot product is multiplied by; 1 / √d_k if not given.
        dropout: share of the weights set to 0 on their way to the values, whether training or not.
    Returns:
        The output, and the weights as they were before dropout.
    Raises:
        TypeError, ValueError: query, key, value, mask or bias do not fit together; says where.

    >>> x = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> output, weights = scaled_dot_product_attention(x, x, x, torch.tensor([[True, False], [True, True]]))
    >>> weights
    tensor([[1.0000, 0.0000],
            [0.3302, 0.6698]])
    """
    check_fit(query, key, value)
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    # Scaled before the product: in half precision, a raw dot product may overflow.
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
    """The core of `MultiHeadAttention`: `scaled_dot_product_attention`, in steps or by torch's fused kernel.

    A core of your own is a function with these arguments. If there are fewer queries than keys, in self-attention,
    the queries are the last of the words.

    Args:
        key, value: of as many heads as the queries, or of fewer, each shared by equally many heads side by side.
        need_weights: compute in steps and return the weights; the fused kernel keeps none.
    Raises:
        TypeError, ValueError: the tensors do not fit together; says where.
    """
    if need_weights:
        return scaled_dot_product_attention(query, *for_each_head(query, key, value), mask, bias=bias, dropout=dropout)
    group = query.shape[1] // key.shape[1]
    check_fit(query[:, ::group] if group * key.shape[1] == query.shape[1] else query, key, value)
    if group > 1 and query.shape[2] == 1 and mask is None and bias is None:
        # A word that is written: heads that share a key ask it as so many queries of one head, and nothing is copied.
        output = F.scaled_dot_product_attention(query.view(*key.shape[:2], group, -1), key, value, dropout_p=dropout)
        return output.flatten(1, 2)[:, :, None], None
    for given, check in ((mask, check_mask), (bias, check_bias)):
        if given is not None:  # the scores' shape and type are enough, and on "meta" they cost no memory
            check(given, torch.empty(*query.shape[:-1], key.shape[-2], dtype=query.dtype, device="meta"))
    if bias is not None:  # the kernel has one place for both
        mask = bias if mask is None else torch.where(mask, bias, -torch.inf)
    return F.scaled_dot_product_attention(query, key, value, mask, dropout_p=dropout, enable_gqa=group > 1), None


def for_each_head(
    query: Float[Tensor, "batch head query d_k"],
    key: Float[Tensor, "batch kept key d_k"],
    value: Float[Tensor, "batch kept key d_value"],
) -> tuple[Float[Tensor, "batch head key d_k"], Float[Tensor, "batch head key d_value"]]:
    """Keys and values that heads share, once for each head of the queries."""
    group = query.shape[1] // key.shape[1]
    return (key, value) if group == 1 else (key.repeat_interleave(group, 1), value.repeat_interleave(group, 1))


def check_fit(query: Tensor, key: Tensor, value: Tensor) -> None:
    """Raises ValueError unless each query can be compared with each key, and each key has its value."""
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
    """Cuts each vector into as many pieces as there are heads; head i has the i-th piece of every vector.

    >>> split_heads(torch.tensor([[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]]), heads=2)
    tensor([[[[1., 2.],
              [5., 6.]],
    <BLANKLINE>
             [[3., 4.],
              [7., 8.]]]])
    """
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def merge_heads(x: Float[Tensor, "batch head n d_head"]) -> Float[Tensor, "batch n d_model"]:
    """The way back from `split_heads`: the pieces of each vector side by side."""
    return x.transpose(1, 2).flatten(2)


def divisors(number: int) -> str:
    """For an error: the numbers that would do."""
    return ", ".join(str(n) for n in range(1, number + 1) if number % n == 0)


class MultiHeadAttention(nn.Module):
    """Concat(head_1, …, head_h) W^O with head_i = attention(X W_i^Q, M W_i^K, M W_i^V), each of d_model / h numbers.

    Self-attention if the memory M is X itself, cross-attention if it is another sequence, as the `states` that an
    encoder leaves: Vaswani et al. 2017, section 3.2.2, there without biases. W_1^Q … W_h^Q side by side are one
    matrix, `query_projection`; so are the keys' and values'.

    Args:
        model_size: d_model, numbers in a vector of x, of the memory and of the output.
        heads: h, a divisor of the model size.
        dropout: share of the weights set to 0 in training.
        key_value_heads: a divisor of the heads; equally many heads, side by side, share each key and value (Ainslie et
            al. 2023; 1 is multi-query attention, Shazeer 2019). As many as the heads if not given.
        projection_bias: whether the four projections add a bias.
        rotation: makes from the size of a head what turns queries and keys: `positions.RotaryPositions`.
        score_bias: makes from the number of heads what biases the scores: `positions.LinearBiases`.
        core: what queries, keys and values meet in; a function with the arguments of `dot_product_attention`.
    Raises:
        ValueError: the heads do not divide the model size, or the heads of keys and values not the heads.

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
            # From x of variance 1 come queries and keys of variance 1, for which 1 / √d_k is meant; nn.Linear's
            # own start would make it 1/3.
            nn.init.xavier_uniform_(projection.weight)
            if projection_bias:
                nn.init.zeros_(projection.bias)
        self.rotation = rotation(head_size) if rotation else None
        self.score_bias = score_bias(heads) if score_bias else None
        self.core = core

    def project_memory(
        self, memory: Float[Tensor, "batch key d_model"], start: int = 0
    ) -> tuple[Float[Tensor, "batch head key d_head"], Float[Tensor, "batch head key d_head"]]:
        """Keys and values of each head, for `attend`. The first vector of the memory stands at position `start`."""
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
        """`forward` with keys and values that are there already. The first vector of x stands at position `start`."""
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
        """Each vector of x attends to the memory.

        Args:
            memory: the vectors attended to, from which keys and values come; x itself if not given.
            mask: True where a query may attend to a key; each axis but the last is 1 or the scores' own.
            need_weights: compute in steps and return the weights, instead of by torch's fused kernel, which keeps none.
        Returns:
            The output; and the weights of each head before dropout, or None.
        Raises:
            TypeError, ValueError: x, memory and mask do not fit together; says where.
        """
        key, value = self.project_memory(x if memory is None else memory)
        return self.attend(x, key, value, mask, need_weights=need_weights)

    def to_torch(self) -> nn.MultiheadAttention:
        """torch's own module with a copy of the weights. In its boolean masks True means the opposite: `~mask`.

        Raises ValueError if this one has parts for which there is no place there.
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
        """A copy of torch's module as ours. Raises ValueError if it has parts for which there is no place here."""
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
