"""Two models that go on with a text, asked for the same things: a decoder-only Transformer, and a GRU.

Both are called with words (batch, n) and give `(logits, maps)`, logits[:, i] for the word after words[:, i]; and both
write as `decoding` wants it: `start`, `read`, `step`. Both name the longest text that they were trained on.
"""

from jaxtyping import Float, Int
from torch import Tensor, nn

from course_lib.transformer import DecoderOnly

Words = Int[Tensor, "batch n"]
State = tuple[Float[Tensor, "batch d_state"]] | None


class TransformerLanguageModel(DecoderOnly):
    """The form of GPT (Radford et al. 2018) that names the longest text it was trained on.

    Args:
        size: tokens in the vocabulary.
        trained_length: tokens that it reads at most in training; `decoding.write_on` stops there.
        settings: those of `transformer.Settings`, by name.

    >>> import torch
    >>> TransformerLanguageModel(300, trained_length=64)(torch.tensor([[4, 5, 6]]))[0].shape
    torch.Size([1, 3, 300])
    """

    def __init__(self, size: int, *, trained_length: int, **settings):
        super().__init__(size, **settings)
        self.trained_length = trained_length


class RecurrentLanguageModel(nn.Module):
    """h_t = GRU(x_t, h_{t-1});  logits_t = W h_t + b: Sutskever, Martens & Hinton 2011, with a GRU (Cho et al. 2014).

    Args:
        size: tokens in the vocabulary.
        trained_length: as in `TransformerLanguageModel`.
        hidden_size: numbers in a state.
        embedding_size: numbers in a token's vector.
        dropout: share of the numbers of x_t and h_t set to 0 in training (Zaremba et al. 2014).

    >>> import torch
    >>> model = RecurrentLanguageModel(300, trained_length=64)
    >>> logits, state, _ = model.step(torch.tensor([4]), model.start(None), None)
    >>> logits.shape, state[0].shape
    (torch.Size([1, 300]), torch.Size([1, 256]))
    """

    def __init__(
        self,
        size: int,
        *,
        trained_length: int,
        hidden_size: int = 256,
        embedding_size: int = 64,
        dropout: float = 0.0,
    ):
        super().__init__()
        self.trained_length = trained_length
        self.embedding = nn.Embedding(size, embedding_size)
        self.cell = nn.GRU(embedding_size, hidden_size, batch_first=True)
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(hidden_size, size)

    def follow(self, words: Words, state: State) -> tuple[Float[Tensor, "batch n d_state"], State]:
        """The state after each of these words, and the last one."""
        before = None if state is None else state[0][None].contiguous()  # nn.GRU wants (layer, batch, d_state)
        states, last = self.cell(self.dropout(self.embedding(words)), before)
        return self.dropout(states), (last[0],)

    def forward(self, words: Words) -> tuple[Float[Tensor, "batch n size"], None]:
        """Logits after each word; there are no maps."""
        return self.output(self.follow(words, None)[0]), None

    def start(self, memory: None) -> State:
        """Zeros stand before the first word."""
        return None

    def read(self, words: Words, state: State, memory: None) -> tuple[Float[Tensor, "batch size"], State, None]:
        """`step` with several words at once, as those of a prompt; logits for the word after the last only."""
        states, state = self.follow(words, state)
        return self.output(states[:, -1]), state, None

    def step(
        self, words: Int[Tensor, " batch"], state: State, memory: None
    ) -> tuple[Float[Tensor, "batch size"], State, None]:
        """One step of writing: logits for the next word, the new state, and no weights."""
        return self.read(words[:, None], state, memory)
