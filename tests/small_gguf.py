"""Small GGUF files with random weights, written by the package `gguf`."""

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type

SMALL = {
    "context_length": 64,
    "embedding_length": 64,
    "block_count": 2,
    "feed_forward_length": 96,
    "attention.head_count": 4,
    "attention.head_count_kv": 2,
    "attention.layer_norm_rms_epsilon": 1e-5,
    "rope.freq_base": 10000.0,
    "rope.dimension_count": 16,
    "vocab_size": 60,
}


def weights(settings, tied=True):
    """Random weights of all parts, with other numbers in the norms than 1."""
    size, inner = settings["embedding_length"], settings["feed_forward_length"]
    shared = size // settings["attention.head_count"] * settings["attention.head_count_kv"]
    shapes = {"token_embd": (settings["vocab_size"], size), "output_norm": (size,)}
    shapes |= {} if tied else {"output": (settings["vocab_size"], size)}
    of_block = {"attn_q": (size, size), "attn_k": (shared, size), "attn_v": (shared, size), "attn_output": (size, size)}
    of_block |= {"ffn_gate": (inner, size), "ffn_up": (inner, size), "ffn_down": (size, inner)}
    of_block |= {"attn_norm": (size,), "ffn_norm": (size,)}
    for block in range(settings["block_count"]):
        shapes |= {f"blk.{block}.{name}": shape for name, shape in of_block.items()}
    draw = np.random.default_rng(0)
    return {f"{name}.weight": draw.normal(0, 0.3, shape).astype(np.float32) for name, shape in shapes.items()}


def written(path, settings, tensors, kind=Type.F32, architecture="llama", more=lambda writer: None):
    writer = gguf.GGUFWriter(path, architecture)
    for name, value in settings.items():
        {int: writer.add_uint32, float: writer.add_float32, str: writer.add_string}[type(value)](f"llama.{name}", value)
    more(writer)
    for name, numbers in tensors.items():
        own = kind if numbers.ndim == 2 else Type.F32
        writer.add_tensor(name, gguf.quantize(numbers, own), raw_dtype=own)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
