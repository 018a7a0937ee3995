"""`unpack_block(scale, minimum, packed)`: the 32 numbers of a block in which a number takes four bits."""

import torch

from course_lib.checks.engine import Case, Exercise


def unpack_block_cases(generator: torch.Generator) -> list[Case]:
    def drawn() -> torch.Tensor:
        return torch.randint(256, (16,), dtype=torch.uint8, generator=generator)

    def number() -> float:
        return torch.randn((), generator=generator).item()

    def scale() -> float:
        return 0.1 + torch.rand((), generator=generator).item()

    by_hand = torch.zeros(16, dtype=torch.uint8)
    by_hand[:2] = torch.tensor([0x53, 0xF0])
    inputs = [
        ("the block of the text", 0.5, -1.0, by_hand),
        ("bytes from 0 to 15", 2.0, 1.0, torch.arange(16, dtype=torch.uint8)),
        ("bytes of 0", 0.25, -2.0, torch.zeros(16, dtype=torch.uint8)),
        ("bytes of 255", 0.25, -2.0, torch.full((16,), 255, dtype=torch.uint8)),
        ("a scale of 0", 0.0, 0.75, drawn()),
        ("a minimum of 0", scale(), 0.0, drawn()),
        ("a minimum above 0", scale(), 1.5, drawn()),
        ("a small scale", scale() / 100, number(), drawn()),
        ("bytes that are not contiguous in memory", scale(), number(), torch.stack([drawn(), drawn()], 1)[:, 0]),
        *((f"drawn block {place}", scale(), number(), drawn()) for place in range(1, 4)),
    ]
    names = "scale", "minimum", "packed"
    return [Case(about, dict(zip(names, given, strict=True))) for about, *given in inputs]


def unpack_block(scale, minimum, packed):
    low = packed % 16
    high = packed // 16
    codes = torch.cat([low, high]).float()
    return scale * codes + minimum


UNPACK_BLOCK = Exercise(
    "unpack_block",
    "a_model_that_writes",
    unpack_block_cases,
    unpack_block,
    'lesson 12, "Fewer bits"; glossary.show("quantisation")',
)

BOTH = "torch.cat([low, high])"
LOW, HIGH = "packed % 16", "packed // 16"
ORDER = (
    "First come the low halves of *all* bytes, the numbers 0 to 15. Then come the high halves, the numbers 16 to 31."
)
UNPACK_BLOCK.edit("the two halves of each byte are neighbours", ORDER, (BOTH, "torch.stack([low, high], 1).flatten()"))
UNPACK_BLOCK.edit(
    "the two halves of each byte are neighbours, the high one first",
    ORDER,
    (BOTH, "torch.stack([high, low], 1).flatten()"),
)
UNPACK_BLOCK.edit("the high halves come first", ORDER, (BOTH, "torch.cat([high, low])"))
UNPACK_BLOCK.edit(
    "the bytes are in reverse order",
    "The first byte holds the numbers 0 and 16.",
    (
        "def unpack_block(scale, minimum, packed):\n",
        "def unpack_block(scale, minimum, packed):\n    packed = packed.flip(0)\n",
    ),
)
BYTE = "A byte holds two numbers of four bits each. Which numbers from 0 to 15 are in the byte 0x53?"
UNPACK_BLOCK.edit("only the low halves are unpacked", BYTE, (BOTH, "low"))
UNPACK_BLOCK.edit("only the high halves are unpacked", BYTE, (BOTH, "high"))
UNPACK_BLOCK.edit("each byte is one number", BYTE, (BOTH, "packed"))
UNPACK_BLOCK.edit("the high halves are unpacked twice", BYTE, (LOW, "packed // 16"))
UNPACK_BLOCK.edit("the low halves are unpacked twice", BYTE, (HIGH, "packed % 16"))
UNPACK_BLOCK.edit(
    "the high halves aren't shifted",
    "`& 0xF0` keeps the high half, but where it is. So it is 16 times too large. `>> 4` moves it down.",
    (HIGH, "packed - packed % 16"),
)
UNPACK_BLOCK.edit(
    "the low halves still hold the high halves",
    "`& 15` or `% 16` keeps the low half of a byte and drops the rest.",
    (LOW, "packed"),
)
UNPACK_BLOCK.edit(
    "only three bits are kept", "A half has four bits, so its mask is 0b1111, which is 15.", (LOW, "packed % 8")
)
UNPACK_BLOCK.edit(
    "only three bits are kept",
    "A half has four bits, so its mask is 0b1111, which is 15.",
    (LOW, "packed % 8"),
    (HIGH, "packed // 16 % 8"),
)
UNPACK_BLOCK.edit(
    "bytes are cut after three bits",
    "Four bits go from 0 to 15. So divide by 16, or shift by 4.",
    (HIGH, "packed // 8"),
)
UNPACK_BLOCK.edit(
    "bytes are cut after three bits",
    "Four bits go from 0 to 15. So divide by 16, or shift by 4.",
    (HIGH, "packed // 8"),
    (LOW, "packed % 8"),
)
UNPACK_BLOCK.edit(
    "bytes are cut into tens",
    "A byte is cut in binary, at 16 and not at 10.",
    (LOW, "packed % 10"),
    (HIGH, "packed // 10"),
)
UNPACK_BLOCK.edit(
    "it is cut at 15, not at 16",
    "A half has 16 different values. `& 15` and `% 16` are the same, `% 15` isn't.",
    (LOW, "packed % 15"),
)
UNPACK_BLOCK.edit(
    "it is cut at 15, not at 16",
    "A half has 16 different values. Divide by 16, or shift by 4.",
    (LOW, "packed % 15"),
    (HIGH, "packed // 15"),
)
UNPACK_BLOCK.edit(
    "the high halves keep a fraction",
    "`/ 16` keeps a fraction. `// 16` and `>> 4` drop it.",
    (HIGH, "packed / 16"),
)
VALUE = "The value is scale · q + minimum. Try it with q = 0: what should come out?"
UNPACK_BLOCK.edit("the minimum is left out", VALUE, (" + minimum", ""))
UNPACK_BLOCK.edit("the minimum is subtracted", VALUE, ("+ minimum", "- minimum"))
UNPACK_BLOCK.edit("the scale is left out", VALUE, ("scale * codes", "codes"))
UNPACK_BLOCK.edit("q itself is returned", VALUE, ("scale * codes + minimum", "codes"))
UNPACK_BLOCK.edit(
    "the minimum is multiplied by the scale, too", VALUE, ("scale * codes + minimum", "scale * (codes + minimum)")
)
UNPACK_BLOCK.edit("scale and minimum are exchanged", VALUE, ("scale * codes + minimum", "minimum * codes + scale"))
UNPACK_BLOCK.edit(
    "8 is subtracted, and the minimum is left out",
    "That is Q4_0, which has no minimum. Q4_1 has one.",
    ("scale * codes + minimum", "scale * (codes - 8)"),
)
UNPACK_BLOCK.edit(
    "8 is subtracted", "Q4_0 subtracts 8. Q4_1 has a minimum instead.", ("scale * codes", "scale * (codes - 8)")
)
UNPACK_BLOCK.edit(
    "the halves count as numbers from −8 to 7",
    "q has no sign. It goes from 0 to 15, and the minimum makes negative numbers of it.",
    ("scale * codes", "scale * (codes - 16 * (codes > 7))"),
)
UNPACK_BLOCK.edit(
    "the scale is taken for the maximum",
    "scale is the step from one q to the next, not the distance from the smallest number to the largest.",
    ("scale * codes", "scale / 15 * codes"),
)
UNPACK_BLOCK.edit("16 rows of two are returned", "Return one row of 32 numbers.", (BOTH, "torch.stack([low, high], 1)"))
UNPACK_BLOCK.edit("two rows of 16 are returned", "Return one row of 32 numbers.", (BOTH, "torch.stack([low, high])"))
