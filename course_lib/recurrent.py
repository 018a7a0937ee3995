"""A recurrent encoder-decoder, with attention or without.

Without attention, every step of the decoder has the same context, the encoder's last state (Cho et al. 2014).
With attention, each step has its own context (Bahdanau et al. 2015): the previous state s_{t-1} is the query,
and the context goes into the cell that computes s_t.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from course_lib.attention import attend

ENCODERS = {"tanh": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}
CELLS = {"tanh": nn.RNNCell, "gru": nn.GRUCell, "lstm": nn.LSTMCell}


class Memory(NamedTuple):
    """The encoder's result, made once per sentence; the decoder reads it at every step."""

    states: Float[Tensor, "batch source d_state"]
    last: Float[Tensor, "batch d_state"]
    mask: Bool[Tensor, "batch source"] | None
    keys: Float[Tensor, "batch source d_key"] | None


class EncoderDecoder(nn.Module):
    """Reads a sentence word by word, then writes another one word by word.

    h_i = cell(x_i, h_{i-1});  s_t = cell([y_{t-1}; c_t], s_{t-1});  logits_t = W_o [s_t; c_t] + b_o
    with c_t = h_n for every t (no attention) or c_t = Σ_i α_{t,i} h_i (attention).

    Args:
        source_size, target_size: words in each vocabulary.
        hidden_size: numbers in a state of encoder (per direction) and decoder.
        embedding_size: numbers in a word's vector.
        cell: "tanh", "gru" or "lstm".
        bidirectional: lets a second encoder read from right to left; h_i then concatenates both states.
        attention: None, or a function or class that takes (query size, key size) and makes a score, such as
            `AdditiveScore`.
    Raises:
        ValueError: there is no such cell, or the score does not fit the sizes.

    >>> model = EncoderDecoder(10, 12, hidden_size=8)
    >>> logits, weights = model(torch.tensor([[4, 5, 6]]), None, torch.tensor([[1, 7]]))
    >>> logits.shape, weights
    (torch.Size([1, 2, 12]), None)
    """

    def __init__(
        self,
        source_size: int,
        target_size: int,
        *,
        hidden_size: int = 128,
        embedding_size: int = 32,
        cell: str = "gru",
        bidirectional: bool = False,
        attention: Callable[[int, int], nn.Module] | None = None,
    ):
        super().__init__()
        if cell not in CELLS:
            raise ValueError(f"cell is {cell!r}; it must be one of {', '.join(CELLS)}")
        state_size = hidden_size * (1 + bidirectional)
        self.source_embedding = nn.Embedding(source_size, embedding_size)
        self.target_embedding = nn.Embedding(target_size, embedding_size)
        self.encoder = ENCODERS[cell](embedding_size, hidden_size, batch_first=True, bidirectional=bidirectional)
        self.bridge = nn.Linear(state_size, hidden_size)
        self.cell = CELLS[cell](embedding_size + state_size, hidden_size)
        self.score = attention(hidden_size, state_size) if attention else None
        self.output = nn.Linear(hidden_size + state_size, target_size)

    def encode(self, source: Int[Tensor, "batch source"], mask: Bool[Tensor, "batch source"] | None) -> Memory:
        """Returns all encoder states, and the last one of each direction.

        Raises:
            TypeError: the mask is not boolean.
            ValueError: the mask and the source differ in shape, a sentence is empty, or a word comes after padding.
        """
        if mask is not None and mask.dtype != torch.bool:
            raise TypeError(f"the mask is {mask.dtype}; it must be torch.bool, True at the words")
        if mask is not None and mask.shape != source.shape[:2]:
            raise ValueError(
                f"the mask has the shape {tuple(mask.shape)}; it must be the source's, {tuple(source.shape[:2])}"
            )
        embedded = self.source_embedding(source)
        mask = None if mask is None or mask.all() else mask  # every step of the decoder is faster without a mask
        if mask is None:
            states, last = self.encoder(embedded)
        else:
            lengths = mask.sum(1).cpu()
            if (lengths == 0).any():
                raise ValueError(f"sentence {int((lengths == 0).nonzero()[0])} is empty; every sentence needs a word")
            if (mask[:, 1:] & ~mask[:, :-1]).any():
                raise ValueError("a word comes after padding; pad sentences at their end, as `corpus.pad` does")
            packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
            states, last = self.encoder(packed)
            states, _ = pad_packed_sequence(states, batch_first=True, total_length=source.shape[1])
        last = last[0] if isinstance(last, tuple) else last
        keys = self.score.project_keys(states) if self.score else None
        return Memory(states, torch.cat(tuple(last), -1), mask, keys)

    def start(self, memory: Memory) -> tuple[Tensor, ...]:
        """Returns (s_0,) with s_0 = tanh(W h_n); for an LSTM, it also returns a cell state of zeros."""
        state = torch.tanh(self.bridge(memory.last))
        return (state, torch.zeros_like(state)) if isinstance(self.cell, nn.LSTMCell) else (state,)

    def advance(
        self, embedded: Float[Tensor, "batch d_embedding"], state: tuple[Tensor, ...], memory: Memory
    ) -> tuple[Float[Tensor, "batch features"], tuple[Tensor, ...], Float[Tensor, "batch source"] | None]:
        """Does one step: returns [s_t; c_t], the new state, and the attention weights."""
        if self.score is None:
            context, weights = memory.last, None
        else:
            context, weights = attend(self.score(state[0], memory.keys), memory.states, memory.mask)
        new = self.cell(torch.cat([embedded, context], -1), state if len(state) == 2 else state[0])
        state = new if isinstance(new, tuple) else (new,)
        return torch.cat([state[0], context], -1), state, weights

    def step(
        self, words: Int[Tensor, " batch"], state: tuple[Tensor, ...], memory: Memory
    ) -> tuple[Float[Tensor, "batch target_size"], tuple[Tensor, ...], Float[Tensor, "batch source"] | None]:
        """Does one step of writing: returns logits for the next word, the new state, and the attention weights."""
        features, state, weights = self.advance(self.target_embedding(words), state, memory)
        return self.output(features), state, weights

    def forward(
        self,
        source: Int[Tensor, "batch source"],
        source_mask: Bool[Tensor, "batch source"] | None,
        target_input: Int[Tensor, "batch target"],
    ) -> tuple[Float[Tensor, "batch target target_size"], Float[Tensor, "batch target source"] | None]:
        """Does all steps with teacher forcing: each step reads the correct previous word, not the model's own."""
        memory = self.encode(source, source_mask)
        state = self.start(memory)
        features, weights = [], []
        for embedded in self.target_embedding(target_input).unbind(1):
            feature, state, weight = self.advance(embedded, state, memory)
            features.append(feature)
            weights.append(weight)
        logits = self.output(torch.stack(features, 1))
        return logits, torch.stack(weights, 1) if self.score else None
