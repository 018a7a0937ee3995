"""The Transformer of Vaswani et al. 2017, built from the parts in `attention`, `positions` and `layers`.

In training, a layer gets all words at once; in writing, it gets them one by one. It does the same work in both cases:
it takes the *past*, which is the keys and values of the earlier words, and returns it with those of the new words.
The *memory* is what `encode` returns for the decoder. It includes the keys and values of each cross-attention.

A layer takes its parts as arguments, and a model passes them on (`Settings`). So you can choose another attention,
feed-forward part, norm or kind of position without changing this module::

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
# (batch, head, key, d_head); heads may share them, and the keys come from a memory or from the sentence itself
KeysAndValues = tuple[Float[Tensor, "batch _ _ d_head"], Float[Tensor, "batch _ _ d_head"]]
Past = tuple[KeysAndValues | None, ...]  # one entry per layer; None before the first word
Weights = Float[Tensor, "batch head query key"]
LayerMaps = Float[Tensor, "batch layer head query key"]
CrossWeights = Float[Tensor, "batch head query source"]
CrossMaps = Float[Tensor, "batch layer head query source"]
SentenceMask = Bool[Tensor, "batch source"]
Mask = Bool[Tensor, "_ _ _ key"]  # as in `masks`: (batch, head, query, key); each axis but the last may be 1
Part = Callable[..., nn.Module]
MemoryMask = Bool[Tensor, "_ _ _ source"]


class Memory(NamedTuple):
    """The encoder's result, made once per sentence; the decoder reads it at every step.

    Args:
        mask: True at words; None if there is no padding.
        keys_and_values: for each decoder layer, the keys and values that its cross-attention makes from the states.
        maps: the encoder's attention weights, if they were asked for.
    """

    states: Float[Tensor, "batch source d_model"]
    mask: SentenceMask | None
    keys_and_values: tuple[KeysAndValues, ...]
    maps: Float[Tensor, "batch layer head source source"] | None


class Maps(NamedTuple):
    """The attention weights of every layer and head; `maps.cross[:, -1].mean(1)` is (batch, target, source).

    An entry is None if the attention's core returns no weights.
    """

    encoder: Float[Tensor, "batch layer head source source"] | None
    decoder: Float[Tensor, "batch layer head target target"] | None
    cross: Float[Tensor, "batch layer head target source"] | None


def stacked(weights: Iterable[Tensor | None]) -> Float[Tensor, "batch layer head query key"] | None:
    """Stacks the weights of all layers; returns None if they weren't asked for or the core returns none."""
    weights = list(weights)
    return None if any(own is None for own in weights) else torch.stack(weights, 1)


class EncoderLayer(nn.Module):
    """Applies self-attention, then a feed-forward part, each with a residual connection.

    Source: Vaswani et al. 2017, section 3.1. With a causal mask, it is a layer of a decoder without an encoder.

    Args:
        feed_forward_size: numbers inside the feed-forward part; None or 0 leaves the part out.
        dropout: share set to 0 in training of what each part adds. As in torch, but not in the paper, it also
            applies to the attention weights and inside the feed-forward part.
        residual: `PreNorm`, `PostNorm`, or a class with their two methods, `before` and `after`.
        self_attention: takes (model size, heads, dropout) and makes a module with the methods `project_memory` and
            `attend` of `MultiHeadAttention`.
        feed_forward: takes (model size, inner size, dropout) and makes the feed-forward part.

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
        """Returns the new x, the weights if asked for, and the past extended by these words."""
        x, weights, past = self.attend_to_self(x, mask, past, need_weights)
        return self.feed(x), weights, past

    @classmethod
    def from_torch(cls, layer: nn.Module) -> "EncoderLayer":
        """Copies torch's layer of the same name. Raises ValueError if it has parts that ours lacks."""
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
    """Adds cross-attention between the two parts of an encoder layer (Vaswani et al. 2017, section 3.1).

    Args:
        cross_attention: as `self_attention`; its queries and keys belong to two sentences, so it gets no positions.
        The other arguments are those of `EncoderLayer`.
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
        """Returns the new x, the weights of self- and cross-attention if asked for, and the extended past.

        `cross_attention.project_memory` makes the keys and values from the encoder's states.
        """
        x, weights, past = self.attend_to_self(x, mask, past, need_weights)
        before = self.cross_attention_residual.before(x)
        y, cross = self.cross_attention.attend(before, *keys_and_values, memory_mask, need_weights=need_weights)
        return self.feed(self.cross_attention_residual.after(x, y)), weights, cross, past


class Encoder(nn.Module):
    """Runs layers one after the other, then `last`: a norm (`PreNorm.last`) or nothing (`PostNorm.last`).

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
        """Returns the new x, the maps if asked for, and the extended past. Every layer uses the same mask."""
        every = []
        for layer, before in zip(self.layers, past or [None] * len(self.layers), strict=True):
            x, *others = layer(x, mask, before, need_weights=need_weights)
            every.append(others)
        weights, past = zip(*every, strict=True)
        return self.last(x), stacked(weights), past

    def states(self, x: Vectors, mask: Mask | None = None) -> Float[Tensor, "batch layer query d_model"]:
        """Returns x and the output of each layer, one state more than there are layers. `last` isn't applied."""
        states = [x]
        for layer in self.layers:
            states.append(layer(states[-1], mask)[0])
        return torch.stack(states, 1)

    @classmethod
    def from_torch(cls, stack: nn.Module) -> "Encoder":
        """Copies nn.TransformerEncoder (`Encoder`) or nn.TransformerDecoder (`Decoder`); nn.Transformer has both."""
        last = nn.Identity() if stack.norm is None else LayerNorm.from_torch(stack.norm)
        return cls(map(cls.layer.from_torch, stack.layers), last).train(stack.training)


class Decoder(Encoder):
    """Runs layers with cross-attention, in which no word attends to a later one."""

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
        """Returns the new x, the maps of self- and cross-attention if asked for, and the extended past.

        `project_memory` makes the keys and values from the encoder's states.
        """
        mask = causal_mask(words_in(past) + x.shape[1], words_in(past)).to(x.device)
        every = []
        past = past or [None] * len(self.layers)
        for layer, of_memory, before in zip(self.layers, keys_and_values, past, strict=True):
            x, *others = layer(x, of_memory, mask, memory_mask, before, need_weights=need_weights)
            every.append(others)
        weights, cross, past = zip(*every, strict=True)
        return self.last(x), stacked(weights), stacked(cross), past

    def project_memory(self, states: Float[Tensor, "batch source d_model"]) -> tuple[KeysAndValues, ...]:
        """Returns the keys and values that each layer's cross-attention needs; one call per sentence is enough."""
        return tuple(layer.cross_attention.project_memory(states) for layer in self.layers)


def words_in(past: Past | None) -> int:
    """Returns the number of words read so far, which is the position of the next word."""
    return 0 if past is None or past[0] is None else past[0][0].shape[2]


def checked(mask: SentenceMask | None, words: Int[Tensor, "batch source"]) -> SentenceMask | None:
    """Returns the mask, or None if it hides nothing, since attention is faster without a mask.

    Raises ValueError if a sentence is empty.
    """
    if mask is None:
        return None
    check_mask(mask, words)
    if not mask.any(1).all():
        raise ValueError(f"sentence {int((~mask.any(1)).nonzero()[0])} is empty; every sentence needs a word")
    return None if mask.all() else mask


class WordEmbedding(nn.Embedding):
    """Computes √d E_word + position, then applies dropout (Vaswani et al. 2017, sections 3.4, 3.5 and 5.4).

    E starts as N(0, 1/d). So √d E is as large as the positions, and as the output's matrix (`tie`) E gives logits of
    variance 1.

    Args:
        positions: takes the model size and makes the module that adds positions; None leaves positions out.
        scale: the factor that multiplies E; √d by default, 1 in GPT and BERT.
        norm: takes the model size and makes a norm before the dropout (`LayerNorm` in Devlin et al. 2019).
        types: number of word types, such as the two sentences that BERT reads at once. Each type adds its own vector.

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
        """Returns the vectors of the words. The first word has position `start`; without `types`, every type is 0."""
        x = self.scale * super().forward(words)
        x = x if self.positions is None else self.positions(x, start)
        if self.types is not None:
            x = x + self.types(torch.zeros_like(words) if types is None else types)
        elif types is not None:
            raise ValueError("types were given, and this embedding has none; make it with types=2 or more")
        return self.dropout(x if self.norm is None else self.norm(x))

    def make_output(self, tie: bool) -> nn.Linear:
        """Makes the linear layer that gives logits over these words; with `tie`, it uses this table as its matrix."""
        output = nn.Linear(self.embedding_dim, self.num_embeddings)
        nn.init.xavier_uniform_(output.weight)
        nn.init.zeros_(output.bias)
        if tie:
            output.weight = self.weight
        return output


@dataclass(frozen=True)
class Settings:
    """Sizes and parts of a model; each is a keyword argument of `Transformer`, `EncoderOnly` and `DecoderOnly`.

    Args:
        model_size: d, numbers in a vector.
        heads: number of heads in each attention.
        layers: number of layers in the encoder, and in the decoder.
        feed_forward_size: numbers inside the feed-forward part; None or 0 leaves the part out.
        dropout: as in `EncoderLayer`; it also applies to the sum of word and position.
        residual, feed_forward, self_attention: parts of every layer, as in `EncoderLayer`.
        positions: `SinusoidalPositions`, `LearnedPositions`, or None to leave them out.
        tie: uses one table of parameters for the target embedding and the output's matrix (section 3.4). In the paper
            the source embedding shares the table, too; here the source has its own words.
        cross_attention: the cross-attention of each decoder layer, if the model has an encoder.
        embedding: takes (words in the vocabulary, model size, dropout, positions) and makes a module with the call
            arguments and the method `make_output` of `WordEmbedding`.
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
        """Makes the embedding of a vocabulary with `size` words."""
        return self.embedding(size, self.model_size, self.dropout, self.positions)

    def make_encoder(self) -> Encoder:
        """Makes the encoder: its layers and the module at their end."""
        return self._stack(Encoder)

    def make_decoder(self) -> Decoder:
        """Makes the decoder, which has cross-attention, too."""
        return self._stack(Decoder, cross_attention=self.cross_attention)

    def _stack(self, stack: type[Encoder], **parts: Part) -> Encoder:
        choices = self.model_size, self.heads, self.feed_forward_size, self.dropout, self.residual
        parts |= {"self_attention": self.self_attention, "feed_forward": self.feed_forward}
        last = getattr(self.residual, "last", nn.Identity)  # a residual class of your own may have no `last`
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
        """Returns the memory of the sentences for the decoder. Raises ValueError if a sentence is empty."""
        mask = checked(mask, source)
        for_heads = None if mask is None else mask[:, None, None]
        states, maps, _ = self.encoder(self.source_embedding(source), for_heads, need_weights=need_weights)
        return Memory(states, mask, self.decoder.project_memory(states), maps)

    def decode(
        self, words: Words, past: Past | None, memory: Memory, *, need_weights: bool = False
    ) -> tuple[Float[Tensor, "batch query target_size"], LayerMaps | None, CrossMaps | None, Past]:
        """Returns logits after each of these words, which follow the past, and the rest of `Decoder.forward`."""
        x = self.target_embedding(words, words_in(past))
        mask = None if memory.mask is None else memory.mask[:, None, None]
        x, *others = self.decoder(x, memory.keys_and_values, mask, past, need_weights=need_weights)
        return self.output(x), *others

    def start(self, memory: Memory) -> Past:
        """Returns the state before the first word: no layer has a past."""
        return (None,) * len(self.decoder.layers)

    def read(
        self, words: Words, state: Past, memory: Memory
    ) -> tuple[Float[Tensor, "batch target_size"], Past, Float[Tensor, "batch source"] | None]:
        """Does `step` for several words at once; returns the logits after the last word, and its weights."""
        logits, _, cross, state = self.decode(words, state, memory, need_weights=True)
        return logits[:, -1], state, None if cross is None else cross[:, -1, :, -1].mean(1)

    def step(
        self, words: Int[Tensor, " batch"], state: Past, memory: Memory
    ) -> tuple[Float[Tensor, "batch target_size"], Past, Float[Tensor, "batch source"] | None]:
        """Does one step of writing: returns logits for the next word, the new state, and the attention weights.

        The state is the past. The weights are the mean over the heads of the last layer's cross-attention.
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
        """Does all steps at once with teacher forcing: each word is predicted from the correct words before it."""
        memory = self.encode(source, source_mask, need_weights=need_weights)
        logits, weights, cross, _ = self.decode(target_input, None, memory, need_weights=need_weights)
        return logits, Maps(memory.maps, weights, cross) if need_weights else None


class EncoderOnly(nn.Module):
    """Reads words and gives logits at each of them, with an encoder alone, as BERT does (Devlin et al. 2019).

    Args:
        size: words in the vocabulary.
        settings: the arguments of `Settings`, by name.

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
        """Returns the mask that lets every word attend to every word."""
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
        """Returns logits at each word, and the maps if asked for. Raises ValueError if a sentence is empty."""
        x = self.embedding(words, types=types)
        x, maps, _ = self.encoder(x, self.may_attend(words, mask), need_weights=need_weights)
        return self.output(x), maps

    def states(
        self, words: Words, mask: Bool[Tensor, "batch query"] | None = None, *, types: Words | None = None
    ) -> Float[Tensor, "batch layer query d_model"]:
        """Returns the embedded words and each layer's output; `encoder.last`, then `output` turn a state into logits.

        >>> EncoderOnly(10, layers=3).states(torch.tensor([[4, 5, 6]])).shape
        torch.Size([1, 4, 3, 64])
        """
        x = self.embedding(words, types=types)
        return self.encoder.states(x, self.may_attend(words, mask))


class DecoderOnly(EncoderOnly):
    """Reads words with a causal mask, so that it can also write, as GPT does (Radford et al. 2018).

    >>> model = DecoderOnly(10)
    >>> logits, state, _ = model.step(torch.tensor([1]), model.start(None), None)
    >>> logits.shape
    torch.Size([1, 10])
    """

    def may_attend(self, words: Words, mask: Bool[Tensor, "batch query"] | None) -> Mask:
        """Returns the mask that lets every word attend to itself and to the words before it."""
        past, mask = causal_mask(words.shape[1]).to(words.device), super().may_attend(words, mask)
        return past if mask is None else past & mask

    def start(self, memory: None) -> Past:
        """Returns the state before the first word: no layer has a past. Without a source, there is no memory."""
        return (None,) * len(self.encoder.layers)

    def follow(self, words: Words, past: Past | None, need_weights: bool) -> tuple[Vectors, LayerMaps | None, Past]:
        """Returns the last layer's vectors at these words, the maps if asked for, and the extended past."""
        start, count = words_in(past), words.shape[1]
        mask = None if count == 1 else causal_mask(start + count, start).to(words.device)  # the last word may see all
        return self.encoder(self.embedding(words, start), mask, past, need_weights=need_weights)

    def decode(
        self, words: Words, past: Past | None = None, *, need_weights: bool = False
    ) -> tuple[Float[Tensor, "batch query size"], LayerMaps | None, Past]:
        """Returns logits after each of these words, the maps if asked for, and the extended past.

        >>> model, words = DecoderOnly(10).eval(), torch.tensor([[4, 5, 6, 7]])
        >>> _, _, past = model.decode(words[:, :3])
        >>> logits, _, past = model.decode(words[:, 3:], past)
        >>> torch.allclose(logits, model(words)[0][:, 3:], atol=1e-5)
        True
        """
        x, maps, past = self.follow(words, past, need_weights)
        return self.output(x), maps, past

    def read(self, words: Words, state: Past, memory: None) -> tuple[Float[Tensor, "batch size"], Past, None]:
        """Does `step` for several words at once, such as a prompt; returns the logits after the last word only."""
        x, _, state = self.follow(words, state, need_weights=False)
        return self.output(x[:, -1]), state, None

    def step(
        self, words: Int[Tensor, " batch"], state: Past, memory: None
    ) -> tuple[Float[Tensor, "batch size"], Past, None]:
        """Does one step of writing: returns logits for the next word, the new state (the past), and no weights."""
        return self.read(words[:, None], state, memory)


def without_heads(model: nn.Module, heads: Iterable[tuple[str, int]]) -> nn.Module:
    """Copies the model and cuts these heads: it sets their columns of W^O to 0, so that they add nothing.

    Args:
        heads: pairs (name of a `MultiHeadAttention` in the model, number of the head, from 0).
    Raises:
        TypeError: the part with that name is not a `MultiHeadAttention`.
        ValueError: the part has no head with that number.

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
