"""Two language models with the same interface: a decoder-only Transformer and a GRU.

Called with words (batch, n), both return `(logits, maps)`, where logits[:, i] is for the word after words[:, i]. Both
have the methods that `decoding` needs, `start`, `read` and `step`, and the attribute `trained_length`, the length of
the longest text they were trained on.
"""

from jaxtyping import Float, Int
from torch import Tensor, nn

from course_lib.transformer import DecoderOnly

Words = Int[Tensor, "batch n"]
State = tuple[Float[Tensor, "batch d_state"]] | None


class TransformerLanguageModel(DecoderOnly):
    """Writes text with a decoder alone, as GPT does (Radford et al. 2018), and knows its longest training text.

    Args:
        size: tokens in the vocabulary.
        trained_length: most tokens that it reads at once in training; `decoding.write_on` stops there.
        settings: the arguments of `transformer.Settings`, by name.

    >>> import torch
    >>> TransformerLanguageModel(300, trained_length=64)(torch.tensor([[4, 5, 6]]))[0].shape
    torch.Size([1, 3, 300])
    """

    def __init__(self, size: int, *, trained_length: int, **settings):
        super().__init__(size, **settings)
        self.trained_length = trained_length


class RecurrentLanguageModel(nn.Module):
    """Computes h_t = GRU(x_t, h_{t-1}) and logits_t = W h_t + b.

    Source: Sutskever, Martens & Hinton 2011, here with a GRU (Cho et al. 2014).

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
        """Returns the state after each of these words, and the last state by itself."""
        before = None if state is None else state[0][None].contiguous()  # nn.GRU wants (layer, batch, d_state)
        states, last = self.cell(self.dropout(self.embedding(words)), before)
        return self.dropout(states), (last[0],)

    def forward(self, words: Words) -> tuple[Float[Tensor, "batch n size"], None]:
        """Returns logits after each word, and None, since there are no maps."""
        return self.output(self.follow(words, None)[0]), None

    def start(self, memory: None) -> State:
        """Returns the state before the first word: None, which means zeros."""
        return None

    def read(self, words: Words, state: State, memory: None) -> tuple[Float[Tensor, "batch size"], State, None]:
        """Does `step` for several words at once, such as a prompt; returns the logits after the last word only."""
        states, state = self.follow(words, state)
        return self.output(states[:, -1]), state, None

    def step(
        self, words: Int[Tensor, " batch"], state: State, memory: None
    ) -> tuple[Float[Tensor, "batch size"], State, None]:
        """Does one step of writing: returns logits for the next word, the new state, and no weights."""
        return self.read(words[:, None], state, memory)
