"""Reads GGUF files, which hold a model's settings, tokens and weights, often in 8 or 4 bits a number.

Blocks of 32 numbers share a scale, so a number takes 4 bits and its share of the scale. The package `gguf` reads the
same; but it goes through the 49,152 tokens of lesson 12's model with NumPy, which takes several times as long as all
of this module, and a reader could not see how a block is unpacked.
"""

import math
import struct
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import torch
from jaxtyping import Float, UInt8
from torch import Tensor

Blocks = UInt8[Tensor, "block byte"]
Unpacked = Float[Tensor, "block number"]
NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}  # as in `struct`
STRING, LIST = 8, 9


def halves(blocks: Blocks) -> Unpacked:
    """Returns each two bytes as a 16-bit float."""
    return blocks.contiguous().view(torch.float16).float()


def nibbles(blocks: Blocks) -> UInt8[Tensor, "block number"]:
    """Returns two numbers from 0 to 15 per byte: the low four bits of all bytes, then the high four bits."""
    return torch.cat([blocks & 15, blocks >> 4], 1)


def unpack_q4_0(blocks: Blocks) -> Unpacked:
    """Computes d (q − 8) for 32 numbers q from 0 to 15; a block holds d in 16 bits, then the numbers."""
    return halves(blocks[:, :2]) * (nibbles(blocks[:, 2:]) - 8.0)


def unpack_q4_1(blocks: Blocks) -> Unpacked:
    """Computes d q + m for 32 numbers q from 0 to 15; a block holds d and m in 16 bits each, then the numbers.

    >>> block = torch.tensor([0.5, -1.0]).half().view(torch.uint8)
    >>> unpack_q4_1(torch.cat([block, torch.arange(16, dtype=torch.uint8)])[None])[0, :5]
    tensor([-1.0000, -0.5000,  0.0000,  0.5000,  1.0000])
    """
    return halves(blocks[:, :2]) * nibbles(blocks[:, 4:]) + halves(blocks[:, 2:4])


def unpack_q8_0(blocks: Blocks) -> Unpacked:
    """Computes d q for 32 numbers q from −128 to 127; a block holds d in 16 bits, then the numbers."""
    return halves(blocks[:, :2]) * blocks[:, 2:].contiguous().view(torch.int8)


class Kind(NamedTuple):
    """How numbers are kept: a block of `size` bytes holds `numbers` numbers, which `unpack` returns."""

    name: str
    numbers: int
    size: int
    unpack: Callable[[Blocks], Unpacked]


KINDS = {
    0: Kind("F32", 1, 4, lambda blocks: blocks.contiguous().view(torch.float32)),
    1: Kind("F16", 1, 2, halves),
    2: Kind("Q4_0", 32, 18, unpack_q4_0),
    3: Kind("Q4_1", 32, 20, unpack_q4_1),
    8: Kind("Q8_0", 32, 34, unpack_q8_0),
    30: Kind("BF16", 1, 2, lambda blocks: blocks.contiguous().view(torch.bfloat16).float()),
}
OTHERS = {6: "Q5_0", 7: "Q5_1", 10: "Q2_K", 11: "Q3_K", 12: "Q4_K", 13: "Q5_K", 14: "Q6_K"}


class Packed(NamedTuple):
    """A tensor as the file keeps it; `shape` is torch's, with a matrix as (out, in)."""

    kind: Kind
    shape: tuple[int, ...]
    blocks: Blocks

    def unpack(self) -> Float[Tensor, "..."]:
        """Returns the numbers in 32 bits each, as a copy."""
        return self.kind.unpack(self.blocks).reshape(self.shape)


class GGUF(NamedTuple):
    """The content of a file: settings by name, such as `llama.block_count`, and tensors by name."""

    settings: dict[str, object]
    tensors: dict[str, Packed]


def read(path: Path | str) -> GGUF:
    """Reads settings and tensors. The file is mapped, so a tensor costs memory only when it is unpacked.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is no GGUF file of version 2 or 3, is cut off or damaged, or has tensors of another kind.
    """
    path = Path(path)
    content = torch.from_file(str(path), size=path.stat().st_size, dtype=torch.uint8)
    try:
        return _content(_Reader(memoryview(content.numpy())), content)
    except (ArithmeticError, KeyError, TypeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is damaged ({type(error).__name__}: {error}); get the file again") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _content(reader: "_Reader", content: UInt8[Tensor, " byte"]) -> GGUF:
    if reader.bytes(4) != b"GGUF":
        raise ValueError("it does not begin with GGUF, as a GGUF file does; give the path of a .gguf file")
    version = reader.number("I")
    if version not in (2, 3):
        raise ValueError(f"it has version {version} of the format; this reader knows 2 and 3")
    count, entries = reader.number("Q"), reader.number("Q")
    settings = {reader.string(): reader.value(reader.number("I")) for _ in range(entries)}
    found = {}
    for _ in range(count):
        name, axes = reader.string(), reader.number("I")
        shape = tuple(reader.number("Q") for _ in range(axes))[::-1]  # the file lists the last axis first
        found[name] = shape, reader.number("I"), reader.number("Q")
    alignment = settings.get("general.alignment", 32)
    start = -(-reader.place // alignment) * alignment
    return GGUF(settings, {name: _packed(name, content[start:], *one) for name, one in found.items()})


def _packed(name: str, content: UInt8[Tensor, " byte"], shape: tuple[int, ...], number: int, offset: int) -> Packed:
    if number not in KINDS:
        known = ", ".join(kind.name for kind in KINDS.values())
        raise ValueError(f"{name} is kept as {OTHERS.get(number, f'kind {number}')}; this reader knows {known}")
    kind = KINDS[number]
    count, rest = divmod(math.prod(shape), kind.numbers)
    end = offset + count * kind.size
    if rest or end > len(content):
        raise ValueError(f"{name} has no whole blocks or ends after the file; the file is damaged, so get it again")
    return Packed(kind, shape, content[offset:end].view(count, kind.size))


class _Reader:
    """Reads a file's header from the front."""

    def __init__(self, content: memoryview):
        self.content, self.place = content, 0

    def bytes(self, count: int) -> bytes:
        if self.place + count > len(self.content):
            raise ValueError("the file is cut off, so get it again")
        self.place += count
        return bytes(self.content[self.place - count : self.place])

    def number(self, kind: str) -> float:
        return struct.unpack("<" + kind, self.bytes(struct.calcsize("<" + kind)))[0]

    def string(self) -> str:
        return self.bytes(self.number("Q")).decode()

    def value(self, kind: int) -> object:
        if kind == LIST:
            kind, count = self.number("I"), self.number("Q")
            return [self.value(kind) for _ in range(count)]
        return self.string() if kind == STRING else self.number(NUMBERS[kind])
