"""The Transformer of Vaswani et al. 2017 from the parts of `attention`, `positions` and `layers`.

A layer does the same work in training, where all words are there at once, and in writing, where they come one by
one: it is given the keys and values of the words before (the past), and gives them back with those of the new words.
The memory is what `encode` leaves for the decoder, with the keys and values that each cross-attention made of it.

A layer is given its parts, and a model passes them on (`Settings`); so another attention, feed-forward, norm or
position is put in from outside::

    DecoderOnly(size, feed_forward=partial(FeedForward, activation=F.gelu), positions=None,
                self_attention=partial(MultiHeadAttention, key_value_heads=2, rotation=RotaryPositions))
"""

import math
from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from course_lib.attention import MultiHeadAttention
from course_lib.layers import FeedForward, LayerNorm, PostNorm, PreNorm, WithLoss
from course_lib.masks import causal_mask, check_mask
from course_lib.positions import SinusoidalPositions

Words = Int[Tensor, "batch query"]
Vectors = Float[Tensor, "batch query d_model"]
# (batch, head, key, d_head); the heads may share them, and the keys may be a memory's or those of a sentence
KeysAndValues = tuple[Float[Tensor, "batch _ _ d_head"], Float[Tensor, "batch _ _ d_head"]]
Past = tuple[KeysAndValues | None, ...]  # of each layer; None before the first word
Weights = Float[Tensor, "batch head query key"]
LayerMaps = Float[Tensor, "batch layer head query key"]
CrossWeights = Float[Tensor, "batch head query source"]
CrossMaps = Float[Tensor, "batch layer head query source"]
SentenceMask = Bool[Tensor, "batch source"]
Mask = Bool[Tensor, "_ _ _ key"]  # as in `masks`: (batch, head, query, key), each but the last may be 1
Part = Callable[..., nn.Module]
MemoryMask = Bool[Tensor, "_ _ _ source"]


class Memory(NamedTuple):
    """What the encoder leaves for the decoder: made once a sentence, read at every step.

    Args:
        mask: None if there is no padding.
        keys_and_values: for each decoder layer, what its cross-attention makes of the states.
        maps: the encoder's, if they were asked for.
    """

    states: Float[Tensor, "batch source d_model"]
    mask: SentenceMask | None
    keys_and_values: tuple[KeysAndValues, ...]
    maps: Float[Tensor, "batch layer head source source"] | None


class Maps(NamedTuple):
    """The attention weights of every layer and head; `maps.cross[:, -1].mean(1)` is (batch, target, source).

    None stands for those of an attention whose core makes none.
    """

    encoder: Float[Tensor, "batch layer head source source"] | None
    decoder: Float[Tensor, "batch layer head target target"] | None
    cross: Float[Tensor, "batch layer head target source"] | None


def stacked(weights: Iterable[Tensor | None]) -> Float[Tensor, "batch layer head query key"] | None:
    """The weights of all layers, or None if they have none: not asked for, or the attention's core makes none."""
    weights = list(weights)
    return None if any(own is None for own in weights) else torch.stack(weights, 1)


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward, with a residual around each: Vaswani et al. 2017, section 3.1.

    With a causal mask it is the layer of a decoder that has no encoder.

    Args:
        feed_forward_size: numbers inside the feed-forward part; None or 0 leaves the part out.
        dropout: share set to 0 in training: of what each part adds and, as in torch but not in the paper, of the
            attention weights and inside the feed-forward part.
        residual: `PreNorm`, `PostNorm`, or a class with their two methods, `before` and `after`.
        self_attention: makes from (model size, heads, dropout) what has the methods `project_memory` and `attend` of
            `MultiHeadAttention`.
        feed_forward: makes the feed-forward part from (model size, its inner size, dropout).

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
        *,
        self_attention: Part = MultiHeadAttention,
        feed_forward: Part = FeedForward,
    ):
        super().__init__()
        self.dropout, self.make_residual = dropout, partial(residual, model_size, dropout)
        self.self_attention = self_attention(model_size, heads, dropout)
        self.self_attention_residual = self.make_residual()
        self.feed_forward = feed_forward(model_size, feed_forward_size, dropout) if feed_forward_size else None
        self.feed_forward_residual = self.make_residual() if feed_forward_size else None

    def attend_to_self(
        self, x: Vectors, mask: Mask | None, past: KeysAndValues | None, need_weights: bool
    ) -> tuple[Vectors, Weights | None, KeysAndValues]:
        before = self.self_attention_residual.before(x)
        start = 0 if past is None else past[0].shape[2]
        key, value = self.self_attention.project_memory(before, start)
        if past is not None:
            key, value = torch.cat([past[0], key], 2), torch.cat([past[1], value], 2)
        y, weights = self.self_attention.attend(before, key, value, mask, start=start, need_weights=need_weights)
        return self.self_attention_residual.after(x, y), weights, (key, value)

    def feed(self, x: Vectors) -> Vectors:
        if self.feed_forward is None:
            return x
        y = self.feed_forward(self.feed_forward_residual.before(x))
        y = y.output if isinstance(y, WithLoss) else y  # the loss is for `auxiliary_losses`
        return self.feed_forward_residual.after(x, y)

    def forward(
        self, x: Vectors, mask: Mask | None = None, past: KeysAndValues | None = None, *, need_weights: bool = False
    ) -> tuple[Vectors, Weights | None, KeysAndValues]:
        """The new x, the weights if asked for, and the past with these words."""
        x, weights, past = self.attend_to_self(x, mask, past, need_weights)
        return self.feed(x), weights, past

    @classmethod
    def from_torch(cls, layer: nn.Module) -> "EncoderLayer":
        """A copy of torch's layer of the same name. Raises ValueError if it has parts for which there is no place."""
        attention, residual = MultiHeadAttention.from_torch(layer.self_attn), PreNorm if layer.norm_first else PostNorm
        inner, feed_forward = layer.linear1, partial(FeedForward, activation=layer.activation)
        sizes = inner.in_features, attention.heads, inner.out_features
        ours = cls(*sizes, layer.dropout.p, residual, feed_forward=feed_forward).to(inner.weight)
        ours.self_attention = attention
        ours.feed_forward.inner.load_state_dict(inner.state_dict())
        ours.feed_forward.outer.load_state_dict(layer.linear2.state_dict())
        residuals = [ours.self_attention_residual, ours.feed_forward_residual]
        if issubclass(cls, DecoderLayer):
            ours.cross_attention = MultiHeadAttention.from_torch(layer.multihead_attn)
            residuals.insert(1, ours.cross_attention_residual)
        for number, residual in enumerate(residuals, start=1):
            residual.norm = LayerNorm.from_torch(layer.get_submodule(f"norm{number}"))
        return ours.train(layer.training)


class DecoderLayer(EncoderLayer):
    """An encoder layer with cross-attention between its two parts: Vaswani et al. 2017, section 3.1.

    Args:
        cross_attention: as `self_attention`; its queries and keys stand in two sentences, so it gets no positions.
        The others are those of `EncoderLayer`.
    """

    def __init__(self, model_size: int, heads: int, *choices, cross_attention: Part = MultiHeadAttention, **parts):
        super().__init__(model_size, heads, *choices, **parts)
        self.cross_attention = cross_attention(model_size, heads, self.dropout)
        self.cross_attention_residual = self.make_residual()

    def forward(
        self,
        x: Vectors,
        keys_and_values: KeysAndValues,
        mask: Mask | None = None,
        memory_mask: MemoryMask | None = None,
        past: KeysAndValues | None = None,
        *,
        need_weights: bool = False,
    ) -> tuple[Vectors, Weights | None, CrossWeights | None, KeysAndValues]:
        """The new x, the weights of self- and cross-attention if asked for, and the past with these words.

        The keys and values are what `cross_attention.project_memory` makes of the encoder's states.
        """
        x, weights, past = self.attend_to_self(x, mask, past, need_weights)
        before = self.cross_attention_residual.before(x)
        y, cross = self.cross_attention.attend(before, *keys_and_values, memory_mask, need_weights=need_weights)
        return self.feed(self.cross_attention_residual.after(x, y)), weights, cross, past


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
        if not len(self.layers):
            raise ValueError("no layer was given; a stack needs at least one")

    def forward(
        self, x: Vectors, mask: Mask | None = None, past: Past | None = None, *, need_weights: bool = False
    ) -> tuple[Vectors, LayerMaps | None, Past]:
        """The new x, the maps if asked for, and the past with these words. Every layer has the same mask."""
        every = []
        for layer, before in zip(self.layers, past or [None] * len(self.layers), strict=True):
            x, *others = layer(x, mask, before, need_weights=need_weights)
            every.append(others)
        weights, past = zip(*every, strict=True)
        return self.last(x), stacked(weights), past

    def states(self, x: Vectors, mask: Mask | None = None) -> Float[Tensor, "batch layer query d_model"]:
        """x, and what each layer leaves of it: one more than there are layers. `last` ends only the last of them."""
        states = [x]
        for layer in self.layers:
            states.append(layer(states[-1], mask)[0])
        return torch.stack(states, 1)

    @classmethod
    def from_torch(cls, stack: nn.Module) -> "Encoder":
        """A copy of nn.TransformerEncoder (`Encoder`) or nn.TransformerDecoder (`Decoder`); nn.Transformer has both."""
        last = nn.Identity() if stack.norm is None else LayerNorm.from_torch(stack.norm)
        return cls(map(cls.layer.from_torch, stack.layers), last).train(stack.training)


class Decoder(Encoder):
    """Layers with cross-attention, in which no word attends to a later one."""

    layer = DecoderLayer

    def forward(
        self,
        x: Vectors,
        keys_and_values: tuple[KeysAndValues, ...],
        memory_mask: MemoryMask | None = None,
        past: Past | None = None,
        *,
        need_weights: bool = False,
    ) -> tuple[Vectors, LayerMaps | None, CrossMaps | None, Past]:
        """As in `Encoder`, with the maps of self- and cross-attention. `project_memory` makes the keys and values."""
        mask = causal_mask(words_in(past) + x.shape[1], words_in(past)).to(x.device)
        every = []
        past = past or [None] * len(self.layers)
        for layer, of_memory, before in zip(self.layers, keys_and_values, past, strict=True):
            x, *others = layer(x, of_memory, mask, memory_mask, before, need_weights=need_weights)
            every.append(others)
        weights, cross, past = zip(*every, strict=True)
        return self.last(x), stacked(weights), stacked(cross), past

    def project_memory(self, states: Float[Tensor, "batch source d_model"]) -> tuple[KeysAndValues, ...]:
        """What each layer's cross-attention makes of the encoder's states; once a sentence is enough."""
        return tuple(layer.cross_attention.project_memory(states) for layer in self.layers)


def words_in(past: Past | None) -> int:
    """How many words were read before, and so the position of the next."""
    return 0 if past is None or past[0] is None else past[0][0].shape[2]


def checked(mask: SentenceMask | None, words: Int[Tensor, "batch source"]) -> SentenceMask | None:
    """The mask, or None if it hides nothing: attention is faster without. Raises ValueError for an empty sentence."""
    if mask is None:
        return None
    check_mask(mask, words)
    if not mask.any(1).all():
        raise ValueError(f"sentence {int((~mask.any(1)).nonzero()[0])} is empty; every sentence needs a word")
    return None if mask.all() else mask


class WordEmbedding(nn.Embedding):
    """√d E_word + position, then dropout: Vaswani et al. 2017, sections 3.4, 3.5 and 5.4.

    E starts as N(0, 1/d): so √d E is of the size of the positions, and E as the output's matrix (`tie`) makes logits
    of variance 1.

    Args:
        positions: makes from the model size what says where a word stands; None to leave it out.
        scale: what E is multiplied by; √d if not given, 1 in GPT and BERT.
        norm: makes from the model size what stands before the dropout (Devlin et al. 2019: `LayerNorm`).
        types: kinds of words, such as the two sentences that BERT reads at once; each has a vector that is added.

    >>> embed = WordEmbedding(10, 8, 0.0, None, scale=1.0, norm=LayerNorm, types=2)
    >>> embed(torch.tensor([[4, 5]]), types=torch.tensor([[0, 1]])).shape
    torch.Size([1, 2, 8])
    """

    def __init__(
        self,
        size: int,
        model_size: int,
        dropout: float,
        positions: Callable[[int], nn.Module] | None,
        *,
        scale: float | None = None,
        norm: Callable[[int], nn.Module] | None = None,
        types: int = 0,
    ):
        super().__init__(size, model_size)
        nn.init.normal_(self.weight, std=model_size**-0.5)
        self.positions = positions(model_size) if positions else None
        self.dropout = nn.Dropout(dropout)
        self.scale = math.sqrt(model_size) if scale is None else scale
        self.norm = norm(model_size) if norm else None
        self.types = nn.Embedding(types, model_size) if types else None

    def forward(self, words: Words, start: int = 0, types: Words | None = None) -> Vectors:
        """The first word stands at position `start`; each is of type 0 if no types are given."""
        x = self.scale * super().forward(words)
        x = x if self.positions is None else self.positions(x, start)
        if self.types is not None:
            x = x + self.types(torch.zeros_like(words) if types is None else types)
        elif types is not None:
            raise ValueError("types were given, and this embedding has none; make it with types=2 or more")
        return self.dropout(x if self.norm is None else self.norm(x))

    def make_output(self, tie: bool) -> nn.Linear:
        """What makes logits over these words; with `tie`, by this very table."""
        output = nn.Linear(self.embedding_dim, self.num_embeddings)
        nn.init.xavier_uniform_(output.weight)
        nn.init.zeros_(output.bias)
        if tie:
            output.weight = self.weight
        return output


@dataclass(frozen=True)
class Settings:
    """What a model is made of; each is a keyword argument of `Transformer`, `EncoderOnly` and `DecoderOnly`.

    Args:
        model_size: d, numbers in a vector.
        heads: of each attention.
        layers: of the encoder, and as many of the decoder.
        feed_forward_size: numbers inside the feed-forward part; None or 0 leaves the part out.
        dropout: as in `EncoderLayer`, and of the sum of word and position.
        residual, feed_forward, self_attention: parts of every layer, as in `EncoderLayer`.
        positions: `SinusoidalPositions`, `LearnedPositions`, or None to leave them out.
        tie: one table of parameters for the (target) embedding and the output's matrix (section 3.4; there the source
            embedding shares it too, but here the source has words of its own).
        cross_attention: of each layer of a decoder that has an encoder.
        embedding: makes from (words in the vocabulary, model size, dropout, positions) what has the arguments and
            `make_output` of `WordEmbedding`.
    """

    model_size: int = 64
    heads: int = 4
    layers: int = 2
    feed_forward_size: int | None = 256
    dropout: float = 0.0
    residual: Callable[[int, float], nn.Module] = PreNorm
    positions: Callable[[int], nn.Module] | None = SinusoidalPositions
    tie: bool = False
    self_attention: Part = MultiHeadAttention
    cross_attention: Part = MultiHeadAttention
    feed_forward: Part = FeedForward
    embedding: Part = WordEmbedding

    def make_embedding(self, size: int) -> nn.Module:
        """For so many words."""
        return self.embedding(size, self.model_size, self.dropout, self.positions)

    def make_encoder(self) -> Encoder:
        """The layers, and what ends them."""
        return self._stack(Encoder)

    def make_decoder(self) -> Decoder:
        """The same with cross-attention."""
        return self._stack(Decoder, cross_attention=self.cross_attention)

    def _stack(self, stack: type[Encoder], **parts: Part) -> Encoder:
        choices = self.model_size, self.heads, self.feed_forward_size, self.dropout, self.residual
        parts |= {"self_attention": self.self_attention, "feed_forward": self.feed_forward}
        last = getattr(self.residual, "last", nn.Identity)  # nothing, unless the residual's class says
        return stack((stack.layer(*choices, **parts) for _ in range(self.layers)), last(self.model_size))


class Transformer(nn.Module):
    """Reads a whole sentence at once, then writes another one word by word: Vaswani et al. 2017, figure 1.

    Training, metrics and decoding use it as they use `recurrent.EncoderDecoder`.

    Args:
        source_size, target_size: words in each vocabulary.
        settings: those of `Settings`, by name: `model_size`, `heads`, `layers`, `feed_forward_size`, `dropout`,
            `residual`, `positions`, `tie`, and the parts.
    Raises:
        ValueError: the heads do not divide the model size; no layer; an odd model size with sinusoidal positions.

    >>> model = Transformer(10, 12, model_size=8, heads=2, layers=3)
    >>> logits, maps = model(torch.tensor([[4, 5, 6]]), None, torch.tensor([[1, 7]]), need_weights=True)
    >>> logits.shape, maps.cross.shape
    (torch.Size([1, 2, 12]), torch.Size([1, 3, 2, 2, 3]))
    """

    def __init__(self, source_size: int, target_size: int, **settings):
        super().__init__()
        settings = Settings(**settings)
        self.source_embedding = settings.make_embedding(source_size)
        self.encoder = settings.make_encoder()
        self.target_embedding = settings.make_embedding(target_size)
        self.decoder = settings.make_decoder()
        self.output = self.target_embedding.make_output(settings.tie)

    def encode(
        self, source: Int[Tensor, "batch source"], mask: SentenceMask | None, *, need_weights: bool = False
    ) -> Memory:
        """All that the decoder asks of the sentences. Raises ValueError if one is empty."""
        mask = checked(mask, source)
        for_heads = None if mask is None else mask[:, None, None]
        states, maps, _ = self.encoder(self.source_embedding(source), for_heads, need_weights=need_weights)
        return Memory(states, mask, self.decoder.project_memory(states), maps)

    def decode(
        self, words: Words, past: Past | None, memory: Memory, *, need_weights: bool = False
    ) -> tuple[Float[Tensor, "batch query target_size"], LayerMaps | None, CrossMaps | None, Past]:
        """Logits after each of these words, which follow those of the past; `Decoder.forward` has the rest."""
        x = self.target_embedding(words, words_in(past))
        mask = None if memory.mask is None else memory.mask[:, None, None]
        x, *others = self.decoder(x, memory.keys_and_values, mask, past, need_weights=need_weights)
        return self.output(x), *others

    def start(self, memory: Memory) -> Past:
        """The state before the first word: no past in any layer."""
        return (None,) * len(self.decoder.layers)

    def read(
        self, words: Words, state: Past, memory: Memory
    ) -> tuple[Float[Tensor, "batch target_size"], Past, Float[Tensor, "batch source"] | None]:
        """`step` with several words at once: logits for the word after the last, and where the last one looked."""
        logits, _, cross, state = self.decode(words, state, memory, need_weights=True)
        return logits[:, -1], state, None if cross is None else cross[:, -1, :, -1].mean(1)

    def step(
        self, words: Int[Tensor, " batch"], state: Past, memory: Memory
    ) -> tuple[Float[Tensor, "batch target_size"], Past, Float[Tensor, "batch source"] | None]:
        """One step of writing: logits for the next word, the new state, and the attention weights.

        The state is the past. The weights are those of the last layer's cross-attention, the mean over its heads.
        """
        return self.read(words[:, None], state, memory)

    def forward(
        self,
        source: Int[Tensor, "batch source"],
        source_mask: SentenceMask | None,
        target_input: Int[Tensor, "batch target"],
        *,
        need_weights: bool = False,
    ) -> tuple[Float[Tensor, "batch target target_size"], Maps | None]:
        """Teacher forcing, all steps at once: each word of the decoder reads the correct words before it."""
        memory = self.encode(source, source_mask, need_weights=need_weights)
        logits, weights, cross, _ = self.decode(target_input, None, memory, need_weights=need_weights)
        return logits, Maps(memory.maps, weights, cross) if need_weights else None


class EncoderOnly(nn.Module):
    """The encoder with an output of its own, over the words it reads: the form of BERT (Devlin et al. 2019).

    Args:
        size: words in the vocabulary.
        settings: those of `Settings`, by name.

    >>> logits, maps = EncoderOnly(10)(torch.tensor([[4, 5, 6]]), None)
    >>> logits.shape, maps
    (torch.Size([1, 3, 10]), None)
    """

    def __init__(self, size: int, **settings):
        super().__init__()
        settings = Settings(**settings)
        self.embedding = settings.make_embedding(size)
        self.encoder = settings.make_encoder()
        self.output = self.embedding.make_output(settings.tie)

    def may_attend(self, words: Words, mask: Bool[Tensor, "batch query"] | None) -> Mask | None:
        """Every word to every word."""
        mask = checked(mask, words)
        return None if mask is None else mask[:, None, None]

    def forward(
        self,
        words: Words,
        mask: Bool[Tensor, "batch query"] | None = None,
        *,
        types: Words | None = None,
        need_weights: bool = False,
    ) -> tuple[Float[Tensor, "batch query size"], LayerMaps | None]:
        """Logits at each word, and the maps if asked for. Raises ValueError if a sentence is empty."""
        x = self.embedding(words, types=types)
        x, maps, _ = self.encoder(x, self.may_attend(words, mask), need_weights=need_weights)
        return self.output(x), maps

    def states(
        self, words: Words, mask: Bool[Tensor, "batch query"] | None = None, *, types: Words | None = None
    ) -> Float[Tensor, "batch layer query d_model"]:
        """The embedded words, and what each layer leaves of them; `encoder.last` and `output` make logits of a state.

        >>> EncoderOnly(10, layers=3).states(torch.tensor([[4, 5, 6]])).shape
        torch.Size([1, 4, 3, 64])
        """
        x = self.embedding(words, types=types)
        return self.encoder.states(x, self.may_attend(words, mask))


class DecoderOnly(EncoderOnly):
    """The very same with a causal mask, so that it can write: the form of GPT (Radford et al. 2018).

    >>> model = DecoderOnly(10)
    >>> logits, state, _ = model.step(torch.tensor([1]), model.start(None), None)
    >>> logits.shape
    torch.Size([1, 10])
    """

    def may_attend(self, words: Words, mask: Bool[Tensor, "batch query"] | None) -> Mask:
        """Every word to itself and to those before it."""
        past, mask = causal_mask(words.shape[1]).to(words.device), super().may_attend(words, mask)
        return past if mask is None else past & mask

    def start(self, memory: None) -> Past:
        """The state before the first word: no past in any layer. There is no source sentence, so no memory."""
        return (None,) * len(self.encoder.layers)

    def follow(self, words: Words, past: Past | None, need_weights: bool) -> tuple[Vectors, LayerMaps | None, Past]:
        """What leaves the layers at these words, the maps if asked for, and the past with these words."""
        start, count = words_in(past), words.shape[1]
        mask = None if count == 1 else causal_mask(start + count, start).to(words.device)  # a last word may see all
        return self.encoder(self.embedding(words, start), mask, past, need_weights=need_weights)

    def decode(
        self, words: Words, past: Past | None = None, *, need_weights: bool = False
    ) -> tuple[Float[Tensor, "batch query size"], LayerMaps | None, Past]:
        """Logits after each of these words, which follow those of the past; the maps; and the past with these words.

        >>> model, words = DecoderOnly(10).eval(), torch.tensor([[4, 5, 6, 7]])
        >>> _, _, past = model.decode(words[:, :3])
        >>> logits, _, past = model.decode(words[:, 3:], past)
        >>> torch.allclose(logits, model(words)[0][:, 3:], atol=1e-5)
        True
        """
        x, maps, past = self.follow(words, past, need_weights)
        return self.output(x), maps, past

    def read(self, words: Words, state: Past, memory: None) -> tuple[Float[Tensor, "batch size"], Past, None]:
        """`step` with several words at once, as those of a prompt; logits for the word after the last only."""
        x, _, state = self.follow(words, state, need_weights=False)
        return self.output(x[:, -1]), state, None

    def step(
        self, words: Int[Tensor, " batch"], state: Past, memory: None
    ) -> tuple[Float[Tensor, "batch size"], Past, None]:
        """One step of writing: logits for the next word, the new state (the past), and no weights."""
        return self.read(words[:, None], state, memory)


def without_heads(model: nn.Module, heads: Iterable[tuple[str, int]]) -> nn.Module:
    """A copy of the model in which these heads add nothing: their columns of W^O are 0.

    Args:
        heads: (name of a `MultiHeadAttention` in the model, number of the head from 0).
    Raises:
        TypeError: what has that name is no `MultiHeadAttention`. ValueError: it has no head of that number.

    >>> cut = without_heads(Transformer(10, 12), [("encoder.layers.0.self_attention", 3)])
    >>> cut.encoder.layers[0].self_attention.output_projection.weight[:, 48:].abs().sum().item()
    0.0
    """
    model = deepcopy(model)
    for name, head in heads:
        part = model.get_submodule(name)
        if not isinstance(part, MultiHeadAttention):
            raise TypeError(f"{name} is a {type(part).__name__}; heads can be cut from a MultiHeadAttention only")
        if not 0 <= head < part.heads:
            raise ValueError(f"{name} has no head {head}; its heads are 0 to {part.heads - 1}")
        with torch.no_grad():
            part.output_projection.weight.unflatten(1, (part.heads, -1))[:, head] = 0
    return model
