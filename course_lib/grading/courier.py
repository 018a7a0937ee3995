"""Carries plain data into a learner's kernel and back: numbers and text, never a pickle.

The source of this file is sent into the kernel, so it imports nothing of the course. The grader unpacks with its own
copy, so a kernel with patched libraries can still send only data.
"""

import base64
import builtins
import json
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import torch

MIME = "application/x-course-answer+json"
# Listed, since reading bytes as a dtype such as quint8 ends the process.
PLAIN = (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint16, torch.uint32,
         torch.uint64, torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64,
         torch.complex128)  # fmt: skip
DTYPES = {str(dtype).removeprefix("torch."): dtype for dtype in PLAIN}
MOST_AXES = 16
DEEPEST = 32  # lists within lists; deeper ones would be slow to compare
LARGEST_EMPTY = 10_000  # product of the other sizes of an empty tensor


class Other:
    """Represents a value that is not plain data; the checks name its type by `type_name`."""

    def __init__(self, type_name):
        self.type_name = type_name


class OtherError(Exception):
    """Represents an error that is not built into Python."""


def pack(value):
    """Returns a value in a form that JSON can hold. Of other than plain data, only the name of its type is kept."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if value is ...:
        return {"blank": True}
    if isinstance(value, list):
        return [pack(item) for item in value]
    if isinstance(value, tuple):
        return {"tuple": [pack(item) for item in value]}
    if isinstance(value, dict):
        return {"dict": [[pack(name), pack(item)] for name, item in value.items()]}
    if isinstance(value, (set, frozenset)):
        return {"set": [pack(item) for item in value]}
    try:
        return float(value) if isinstance(value, (Decimal, Fraction)) else _pack_numbers(value)
    except Exception:
        return {"other": type(value).__name__}


def _pack_numbers(value):
    # A copy in C order has no negative strides, which torch refuses.
    tensor = value if isinstance(value, torch.Tensor) else torch.as_tensor(np.array(value, order="C"))
    dense = tensor.detach().cpu()
    # Keep the order of the axes in memory, since some answers work only on contiguous inputs.
    axes = sorted(range(dense.ndim), key=lambda axis: -dense.stride(axis))
    flat = dense.permute(axes).contiguous().reshape(-1)
    dtype = str(dense.dtype).removeprefix("torch.")
    if dtype not in DTYPES:
        raise TypeError(f"{dtype} is not a plain number type")
    packed = {
        "dtype": dtype,
        "shape": [dense.shape[axis] for axis in axes],
        "axes": [axes.index(axis) for axis in range(dense.ndim)],
        "data": base64.b64encode(flat.view(torch.uint8).numpy().tobytes()).decode() if flat.numel() else "",
    }
    if tensor is not value:  # messages tell NumPy from tensors
        packed["numpy"] = "number" if isinstance(value, np.generic) else "array"
    if tensor.requires_grad:
        packed["grad"] = True
    return packed


def unpack(packed, room=DEEPEST):
    """Returns the value that `pack` was given. Raises ValueError if `pack` did not make the data."""
    if not isinstance(packed, (list, dict)):
        return packed
    if not room:
        raise ValueError(f"it is nested more than {DEEPEST} levels deep")
    if isinstance(packed, list):
        return [unpack(item, room - 1) for item in packed]
    try:
        if "blank" in packed:
            return ...
        if "other" in packed:
            return Other(str(packed["other"]))
        if "tuple" in packed:
            return tuple(unpack(item, room - 1) for item in packed["tuple"])
        if "dict" in packed:
            return {unpack(name, room - 1): unpack(item, room - 1) for name, item in packed["dict"]}
        if "set" in packed:
            return {unpack(item, room - 1) for item in packed["set"]}
        dtype, shape = DTYPES[packed["dtype"]], packed["shape"]
        data = bytearray(base64.b64decode(packed["data"]))
        flat = torch.frombuffer(data, dtype=dtype) if data else torch.empty(0, dtype=dtype)
        if len(shape) > MOST_AXES or math.prod(max(size, 1) for size in shape) > max(flat.numel(), LARGEST_EMPTY):
            raise ValueError(f"{flat.numel()} numbers cannot fill a tensor of this shape, which has {len(shape)} axes")
        tensor = flat.reshape(shape).permute(packed["axes"])
        if "numpy" in packed:
            return tensor.numpy()[()] if packed["numpy"] == "number" else tensor.numpy()
        return tensor.requires_grad_() if packed.get("grad") else tensor
    except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
        raise ValueError(f"pack did not make this: {error}") from None


def unpack_error(name, text):
    """Returns the built-in exception of that name, or else an `OtherError` with the name as `type_name`."""
    known = getattr(builtins, str(name), None)
    if isinstance(known, type) and issubclass(known, Exception):
        try:
            return known(text)
        except TypeError:
            pass
    error = OtherError(text)
    error.type_name = str(name)
    return error


def answer(expression, names, drive, inputs, banned, calls_of):
    """Returns the learner's object, or its results, as plain data. It runs in the kernel.

    Args:
        expression: finds the object in the notebook.
        names: the notebook's namespace.
        drive: a function that uses the object; None calls the object itself.
        inputs: the packed arguments of each call, or None if the object itself is the answer.
        banned, calls_of: names that it must not call, and the checks' function that finds such calls.
    """
    try:
        learners = eval(expression, names)
    except Exception as error:
        return {"missing": f"{type(error).__name__}: {error}"}
    if inputs is None or not callable(learners):
        return {"value": pack(learners)}

    def outcome_of(packed):
        arguments = {name: unpack(value) for name, value in packed.items()}
        try:
            given = learners(*arguments.values()) if drive is None else drive(learners, **arguments)
            outcome = {"result": pack(given)}
        except (Exception, SystemExit) as error:
            outcome = {"error": type(error).__name__, "text": str(error)[:500]}
        return {**outcome, "arguments": {name: pack(value) for name, value in arguments.items()}}

    found = {"outcomes": [outcome_of(packed) for packed in inputs]}
    if banned:
        found["called"] = calls_of(banned, lambda: outcome_of(inputs[0]))
    return found


def publish(found):
    """Sends the answer out of the kernel."""
    from IPython import get_ipython

    get_ipython().display_pub.publish(data={MIME: json.dumps(found)})
