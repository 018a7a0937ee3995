"""The Transformer of Vaswani et al. 2017 from the parts of `attention`, `positions` and `layers`.

A layer does the same work in training, where all words are there at once, and in writing, where they come one by
one: it is given the keys and values of the words before (`past`), and gives back those with the new words' added.
"""

import math
from collections.abc import Callable, Iterable
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from course_lib.attention import MultiHeadAttention
from course_lib.layers import FeedForward, LayerNorm, PostNorm, PreNorm
from course_lib.masks import causal_mask, check_mask
from course_lib.positions import SinusoidalPositions

KeysAndValues = tuple[Float[Tensor, "batch head _ d_head"], Float[Tensor, "batch head _ d_head"]]
Past = tuple[KeysAndValues | None, ...]  # of each layer; None before the first word


class Memory(NamedTuple):
    """What the encoder leaves for the decoder: made once a sentence, read at every step.

    Args:
        mask: None if there is no padding.
        keys_and_values: for each decoder layer, what its cross-attention makes of the states.
        maps: the encoder's, if they were asked for.
    """

    states: Float[Tensor, "batch source d_model"]
    mask: Bool[Tensor, "batch source"] | None
    keys_and_values: tuple[KeysAndValues, ...]
    maps: Float[Tensor, "batch layer head source source"] | None


class Maps(NamedTuple):
    """The attention weights of every layer and head."""

    encoder: Float[Tensor, "batch layer head source source"]
    decoder: Float[Tensor, "batch layer head target target"]
    cross: Float[Tensor, "batch layer head target source"]


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward; around each of them a residual: Vaswani et al. 2017, section 3.1.

    With a causal mask the same layer is that of a decoder without encoder.

    Args:
        feed_forward_size: None or 0 leaves the feed-forward part out.
        dropout: share set to 0 in training: of what each part adds, and, as in torch, of the attention weights and
            within the feed-forward part.
        residual: `PreNorm`, `PostNorm`, or a class with their two methods.

    >>> x, weights, _ = EncoderLayer(8, 2, 32)(torch.zeros(1, 3, 8), need_weights=True)
    >>> x.shape, weights.shape
    (torch.Size([1, 3, 8]), torch.Size([1, 2, 3, 3]))
    """

    def __init__(
        self,
        model_size: int,
        heads: int,
        feed_forward_size: int | None,
        dropout: float = 0.0,
        residual: Callable[[int, float], nn.Module] = PreNorm,
    ):
        super().__init__()
        self.self_attention = MultiHeadAttention(model_size, heads, dropout)
        self.self_attention_residual = residual(model_size, dropout)
        self.feed_forward = FeedForward(model_size, feed_forward_size, dropout) if feed_forward_size else None
        self.feed_forward_residual = residual(model_size, dropout) if feed_forward_size else None

    def attend_to_self(
        self, x: Tensor, mask: Tensor | None, past: KeysAndValues | None, need_weights: bool
    ) -> tuple[Tensor, Tensor | None, KeysAndValues]:
        before = self.self_attention_residual.before(x)
        key, value = self.self_attention.project_memory(before)
        if past is not None:
            key, value = torch.cat([past[0], key], 2), torch.cat([past[1], value], 2)
        y, weights = self.self_attention.attend(before, key, value, mask, need_weights=need_weights)
        return self.self_attention_residual.after(x, y), weights, (key, value)

    def feed(self, x: Tensor) -> Tensor:
        if self.feed_forward is None:
            return x
        y = self.feed_forward(self.feed_forward_residual.before(x))
        return self.feed_forward_residual.after(x, y)

    def forward(
        self,
        x: Float[Tensor, "batch query d_model"],
        mask: Bool[Tensor, "_ _ _ key"] | None = None,
        past: KeysAndValues | None = None,
        *,
        need_weights: bool = False,
    ) -> tuple[Float[Tensor, "batch query d_model"], Float[Tensor, "batch head query key"] | None, KeysAndValues]:
        """The new x, the weights if asked for, and keys and values of the words up to here."""
        x, weights, past = self.attend_to_self(x, mask, past, need_weights)
        return self.feed(x), weights, past

    @classmethod
    def from_torch(cls, layer: nn.Module) -> "EncoderLayer":
        """A copy of torch's layer as ours. Raises ValueError if it has parts for which there is no place here."""
        if layer.activation is not F.relu and not isinstance(layer.activation, nn.ReLU):
            raise ValueError(f"only a layer with the activation relu can be copied, not {layer.activation}")
        sizes = layer.self_attn.embed_dim, layer.self_attn.num_heads, layer.linear1.out_features
        ours = cls(*sizes, layer.dropout.p, PreNorm if layer.norm_first else PostNorm).to(layer.linear1.weight)
        ours.self_attention = MultiHeadAttention.from_torch(layer.self_attn)
        ours.feed_forward.inner.load_state_dict(layer.linear1.state_dict())
        ours.feed_forward.outer.load_state_dict(layer.linear2.state_dict())
        residuals = [ours.self_attention_residual, ours.feed_forward_residual]
        if cls is DecoderLayer:
            ours.cross_attention = MultiHeadAttention.from_torch(layer.multihead_attn)
            residuals.insert(1, ours.cross_attention_residual)
        for number, residual in enumerate(residuals, 1):
            residual.norm = LayerNorm.from_torch(layer.get_submodule(f"norm{number}"))
        return ours.train(layer.training)


class DecoderLayer(EncoderLayer):
    """An encoder layer with cross-attention to the memory between its two parts: Vaswani et al. 2017, section 3.1."""

    def __init__(
        self,
        model_size: int,
        heads: int,
        feed_forward_size: int | None,
        dropout: float = 0.0,
        residual: Callable[[int, float], nn.Module] = PreNorm,
    ):
        super().__init__(model_size, heads, feed_forward_size, dropout, residual)
        self.cross_attention = MultiHeadAttention(model_size, heads, dropout)
        self.cross_attention_residual = residual(model_size, dropout)

    def forward(
        self,
        x: Float[Tensor, "batch query d_model"],
        memory: KeysAndValues,
        mask: Bool[Tensor, "_ _ _ key"] | None = None,
        memory_mask: Bool[Tensor, "_ _ _ source"] | None = None,
        past: KeysAndValues | None = None,
        *,
        need_weights: bool = False,
    ) -> tuple[
        Float[Tensor, "batch query d_model"],
        Float[Tensor, "batch head query key"] | None,
        Float[Tensor, "batch head query source"] | None,
        KeysAndValues,
    ]:
        """The new x, the weights of both attentions if asked for, and keys and values of the words up to here.

        `memory` are keys and values: `cross_attention.project_memory` of the encoder's states.
        """
        x, own, past = self.attend_to_self(x, mask, past, need_weights)
        before = self.cross_attention_residual.before(x)
        y, cross = self.cross_attention.attend(before, *memory, memory_mask, need_weights=need_weights)
        return self.feed(self.cross_attention_residual.after(x, y)), own, cross, past


class Encoder(nn.Module):
    """Layers one after the other, and what ends them: a norm (`PreNorm.last`) or nothing (`PostNorm.last`).

    >>> encoder = Encoder([EncoderLayer(8, 2, 32) for _ in range(3)], PreNorm.last(8))
    >>> encoder(torch.zeros(1, 4, 8), need_weights=True)[1].shape
    torch.Size([1, 3, 2, 4, 4])
    """

    layer = EncoderLayer

    def __init__(self, layers: Iterable[nn.Module], last: nn.Module):
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.last = last
        if not self.layers:
            raise ValueError("no layer was given; a stack needs at least one")

    def forward(
        self,
        x: Float[Tensor, "batch query d_model"],
        mask: Bool[Tensor, "_ _ _ key"] | None = None,
        past: Past | None = None,
        *,
        need_weights: bool = False,
    ) -> tuple[Float[Tensor, "batch query d_model"], Float[Tensor, "batch layer head query key"] | None, Past]:
        """The same mask in every layer. The new x, the maps if asked for, and the past with these words."""
        maps, present = [], []
        for layer, before in zip(self.layers, past or [None] * len(self.layers), strict=True):
            x, weights, now = layer(x, mask, before, need_weights=need_weights)
            maps.append(weights)
            present.append(now)
        return self.last(x), torch.stack(maps, 1) if need_weights else None, tuple(present)

    @classmethod
    def from_torch(cls, stack: nn.Module) -> "Encoder":
        """A copy of nn.TransformerEncoder or, for a `Decoder`, of nn.TransformerDecoder."""
        last = nn.Identity() if stack.norm is None else LayerNorm.from_torch(stack.norm)
        return cls(map(cls.layer.from_torch, stack.layers), last).train(stack.training)


class Decoder(Encoder):
    """Layers with cross-attention, in which no word attends to a later one."""

    layer = DecoderLayer

    def forward(
        self,
        x: Float[Tensor, "batch query d_model"],
        memory: tuple[KeysAndValues, ...],
        memory_mask: Bool[Tensor, "_ _ _ source"] | None = None,
        past: Past | None = None,
        *,
        need_weights: bool = False,
    ) -> tuple[
        Float[Tensor, "batch query d_model"],
        Float[Tensor, "batch layer head query key"] | None,
        Float[Tensor, "batch layer head query source"] | None,
        Past,
    ]:
        """As `Encoder.forward`, with two maps. `memory` are the keys and values for each layer: `project_memory`."""
        mask = causal_mask(words_in(past) + x.shape[1])[:, :, words_in(past) :].to(x.device)
        own_maps, cross_maps, present = [], [], []
        pasts = past or [None] * len(self.layers)
        for layer, keys_and_values, before in zip(self.layers, memory, pasts, strict=True):
            x, own, cross, now = layer(x, keys_and_values, mask, memory_mask, before, need_weights=need_weights)
            own_maps.append(own)
            cross_maps.append(cross)
            present.append(now)
        maps = [torch.stack(weights, 1) if need_weights else None for weights in (own_maps, cross_maps)]
        return self.last(x), *maps, tuple(present)

    def project_memory(self, states: Float[Tensor, "batch source d_model"]) -> tuple[KeysAndValues, ...]:
        """What each layer's cross-attention makes of the encoder's states; once a sentence is enough."""
        return tuple(layer.cross_attention.project_memory(states) for layer in self.layers)


def words_in(past: Past | None) -> int:
    """How many words were read before, and so the position of the next."""
    return 0 if not past or past[0] is None else past[0][0].shape[2]


def sentence_mask(
    mask: Bool[Tensor, "batch n"] | None, words: Int[Tensor, "batch n"]
) -> Bool[Tensor, "batch n"] | None:
    """The mask, or None if it hides nothing: the kernel is faster without. Raises ValueError for an empty sentence."""
    if mask is None:
        return None
    check_mask(mask, words)
    if not mask.any(1).all():
        empty = int((~mask.any(1)).nonzero()[0])
        raise ValueError(f"sentence {empty} is empty; every sentence needs a word")
    return None if mask.all() else mask


class WordEmbedding(nn.Embedding):
    """√d E_w + position: Vaswani et al. 2017, sections 3.4, 3.5 and 5.4 (dropout).

    E starts with variance 1/d, so that as the output's matrix (`tie`) it gives logits of variance 1, and times √d
    it is as large as the positions.
    """

    def __init__(self, size: int, model_size: int, dropout: float, positions: Callable[[int], nn.Module] | None):
        super().__init__(size, model_size)
        nn.init.normal_(self.weight, std=model_size**-0.5)
        self.positions = positions(model_size) if positions else None
        self.dropout = nn.Dropout(dropout)

    def forward(self, words: Int[Tensor, "batch n"], start: int = 0) -> Float[Tensor, "batch n d_model"]:
        x = math.sqrt(self.embedding_dim) * super().forward(words)
        return self.dropout(x if self.positions is None else self.positions(x, start))


def make_output(embedding: WordEmbedding, tie: bool) -> nn.Linear:
    """From the last vectors to logits; with `tie`, by the embedding's own table."""
    size, model_size = embedding.weight.shape
    output = nn.Linear(model_size, size)
    nn.init.xavier_uniform_(output.weight)
    nn.init.zeros_(output.bias)
    if tie:
        output.weight = embedding.weight
    return output


def make_last(residual: Callable[[int, float], nn.Module], model_size: int) -> nn.Module:
    """What ends a stack of layers with this residual: nothing, unless its class names something."""
    return getattr(residual, "last", nn.Identity)(model_size)


class Transformer(nn.Module):
    """Reads a whole sentence at once, then writes another one word by word: Vaswani et al. 2017, figure 1.

    Training, metrics and decoding use it as they use `recurrent.EncoderDecoder`.

    Args:
        source_size, target_size: words in each vocabulary.
        model_size: d, numbers in a vector.
        heads: of every attention.
        layers: of the encoder, and as many of the decoder.
        feed_forward_size: numbers inside the feed-forward part; None leaves the part out.
        dropout: share set to 0 in training: where words enter, and as in `EncoderLayer`.
        residual: `PreNorm` (trains without warm-up), `PostNorm` (the paper's), or a class with their two methods.
        positions: `SinusoidalPositions`, `LearnedPositions`, or None for none.
        tie: let the target embedding be the output's matrix too, one table of parameters (section 3.4; the paper
            shares it with the source embedding as well, which here has words of its own).
    Raises:
        ValueError: the heads do not divide the model size, no layer, an odd model size with sinusoidal positions.

    >>> model = Transformer(10, 12, model_size=8, heads=2, layers=3)
    >>> logits, maps = model(torch.tensor([[4, 5, 6]]), None, torch.tensor([[1, 7]]), need_weights=True)
    >>> logits.shape, maps.cross.shape
    (torch.Size([1, 2, 12]), torch.Size([1, 3, 2, 2, 3]))
    """

    def __init__(
        self,
        source_size: int,
        target_size: int,
        *,
        model_size: int = 64,
        heads: int = 4,
        layers: int = 2,
        feed_forward_size: int | None = 256,
        dropout: float = 0.0,
        residual: Callable[[int, float], nn.Module] = PreNorm,
        positions: Callable[[int], nn.Module] | None = SinusoidalPositions,
        tie: bool = False,
    ):
        super().__init__()
        settings = model_size, heads, feed_forward_size, dropout, residual
        self.source_embedding = WordEmbedding(source_size, model_size, dropout, positions)
        self.encoder = Encoder((EncoderLayer(*settings) for _ in range(layers)), make_last(residual, model_size))
        self.target_embedding = WordEmbedding(target_size, model_size, dropout, positions)
        self.decoder = Decoder((DecoderLayer(*settings) for _ in range(layers)), make_last(residual, model_size))
        self.output = make_output(self.target_embedding, tie)

    def encode(
        self,
        source: Int[Tensor, "batch source"],
        mask: Bool[Tensor, "batch source"] | None,
        *,
        need_weights: bool = False,
    ) -> Memory:
        """All that the decoder asks of a sentence. Raises ValueError if a sentence is empty."""
        mask = sentence_mask(mask, source)
        x = self.source_embedding(source)
        states, maps, _ = self.encoder(x, None if mask is None else mask[:, None, None], need_weights=need_weights)
        return Memory(states, mask, self.decoder.project_memory(states), maps)

    def decode(
        self, words: Int[Tensor, "batch target"], past: Past | None, memory: Memory, *, need_weights: bool = False
    ) -> tuple[
        Float[Tensor, "batch target target_size"],
        Float[Tensor, "batch layer head target _"] | None,
        Float[Tensor, "batch layer head target source"] | None,
        Past,
    ]:
        """Logits after each of the words that follow the past, both maps if asked for, and the new past."""
        x = self.target_embedding(words, words_in(past))
        mask = None if memory.mask is None else memory.mask[:, None, None]
        x, own, cross, past = self.decoder(x, memory.keys_and_values, mask, past, need_weights=need_weights)
        return self.output(x), own, cross, past

    def start(self, memory: Memory) -> Past:
        """The state before the first word: no past in any layer."""
        return (None,) * len(self.decoder.layers)

    def step(
        self, words: Int[Tensor, " batch"], state: Past, memory: Memory
    ) -> tuple[Float[Tensor, "batch target_size"], Past, Float[Tensor, "batch source"]]:
        """One step of writing: logits for the next word, the new state, and the attention weights.

        The state is the past of each layer. The weights are the mean over heads of the last layer's cross-attention.
        """
        logits, _, cross, state = self.decode(words[:, None], state, memory, need_weights=True)
        return logits[:, 0], state, cross[:, -1, :, 0].mean(1)

    def forward(
        self,
        source: Int[Tensor, "batch source"],
        source_mask: Bool[Tensor, "batch source"] | None,
        target_input: Int[Tensor, "batch target"],
        *,
        need_weights: bool = False,
    ) -> tuple[Float[Tensor, "batch target target_size"], Maps | None]:
        """Teacher forcing, all steps at once: the decoder reads the correct words, each with those before it only."""
        memory = self.encode(source, source_mask, need_weights=need_weights)
        logits, own, cross, _ = self.decode(target_input, None, memory, need_weights=need_weights)
        return logits, Maps(memory.maps, own, cross) if need_weights else None


class EncoderOnly(nn.Module):
    """Encoder layers alone, from words to logits over the same words: the form of BERT (Devlin et al. 2019).

    Args:
        size: words in the vocabulary; the others are those of `Transformer`.

    >>> logits, maps = EncoderOnly(10)(torch.tensor([[4, 5, 6]]), None)
    >>> logits.shape, maps
    (torch.Size([1, 3, 10]), None)
    """

    def __init__(
        self,
        size: int,
        *,
        model_size: int = 64,
        heads: int = 4,
        layers: int = 2,
        feed_forward_size: int | None = 256,
        dropout: float = 0.0,
        residual: Callable[[int, float], nn.Module] = PreNorm,
        positions: Callable[[int], nn.Module] | None = SinusoidalPositions,
        tie: bool = False,
    ):
        super().__init__()
        settings = model_size, heads, feed_forward_size, dropout, residual
        self.embedding = WordEmbedding(size, model_size, dropout, positions)
        self.encoder = Encoder((EncoderLayer(*settings) for _ in range(layers)), make_last(residual, model_size))
        self.output = make_output(self.embedding, tie)

    def allowed(self, mask: Bool[Tensor, "batch n"] | None, n: int) -> Bool[Tensor, "_ 1 _ n"] | None:
        """Who may attend to whom: every word to every word."""
        return None if mask is None else mask[:, None, None]

    def forward(
        self, words: Int[Tensor, "batch n"], mask: Bool[Tensor, "batch n"] | None, *, need_weights: bool = False
    ) -> tuple[Float[Tensor, "batch n size"], Float[Tensor, "batch layer head n n"] | None]:
        """Logits at each word, and the maps if asked for. Raises ValueError if a sentence is empty."""
        allowed = self.allowed(sentence_mask(mask, words), words.shape[1])
        x, maps, _ = self.encoder(self.embedding(words), allowed, need_weights=need_weights)
        return self.output(x), maps


class DecoderOnly(EncoderOnly):
    """The same layers with a causal mask, which writes: the form of GPT (Radford et al. 2018).

    >>> model = DecoderOnly(10)
    >>> logits, state, _ = model.step(torch.tensor([1]), model.start(None), None)
    >>> logits.shape
    torch.Size([1, 10])
    """

    def allowed(self, mask: Bool[Tensor, "batch n"] | None, n: int) -> Bool[Tensor, "_ 1 n n"]:
        """Who may attend to whom: every word to itself and those before it."""
        causal = causal_mask(n).to(self.embedding.weight.device)
        return causal if mask is None else causal & mask[:, None, None]

    def start(self, memory: None) -> Past:
        """The state before the first word. There is no sentence to translate, and so no memory."""
        return (None,) * len(self.encoder.layers)

    def step(
        self, words: Int[Tensor, " batch"], state: Past, memory: None
    ) -> tuple[Float[Tensor, "batch size"], Past, None]:
        """One step of writing: logits for the next word, the new state, and no weights: there is no source."""
        x, _, state = self.encoder(self.embedding(words[:, None], words_in(state)), None, state)
        return self.output(x[:, 0]), state, None
