"""Scores that compare a query with keys, and the weighted sum that they lead to.

A score is a module with two parts: `project_keys`, done once a sentence, and the comparison itself,
done at every step of the decoder.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from course_lib.masks import masked_softmax


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
