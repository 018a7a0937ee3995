"""What is put around a function or a method: the type in which it computes, and the modes that it leaves behind."""

from collections.abc import Callable
from functools import wraps

import torch
from torch import Tensor

HALF = (torch.float16, torch.bfloat16)


def in_float32(function: Callable) -> Callable:
    """Computes in float32 what is given in half precision, also under autocast, and gives back the type that it got.

    The square of a number above 255 overflows in float16, and a long sum stands still in bfloat16.

    >>> in_float32(torch.square)(torch.tensor([300.0], dtype=torch.float16)).sqrt()
    tensor([inf], dtype=torch.float16)
    >>> in_float32(lambda x: x.square().sqrt())(torch.tensor([300.0], dtype=torch.float16))
    tensor([300.], dtype=torch.float16)
    """

    def widened(given):
        return given.float() if isinstance(given, Tensor) and given.dtype in HALF else given

    @wraps(function)
    def computed(*arguments, **settings):
        x = next(given for given in (*arguments, *settings.values()) if isinstance(given, Tensor))

        def narrowed(output):
            return output.to(x.dtype) if isinstance(output, Tensor) and output.is_floating_point() else output

        with torch.autocast(x.device.type, enabled=False):
            if x.dtype not in HALF:
                return function(*arguments, **settings)
            output = function(*map(widened, arguments), **{name: widened(given) for name, given in settings.items()})
        return tuple(map(narrowed, output)) if isinstance(output, tuple) else narrowed(output)

    return computed


def outside_autocast(forward: Callable) -> Callable:
    """A method of a module that computes in the type of the module's weights, also where autocast would change it."""

    @wraps(forward)
    def computed(module, x: Tensor):
        if not torch.is_autocast_enabled(x.device.type):
            return forward(module, x)
        with torch.autocast(x.device.type, enabled=False):
            return forward(module, x.to(next(module.parameters()).dtype))

    return computed


def restoring_modes(function: Callable) -> Callable:
    """A function of a model that may call `model.eval()`: every part is back in its own mode afterwards.

    So dropout stays on in a training that looks at translations in between.
    """

    @wraps(function)
    def restored(model, *arguments, **settings):
        modes = {part: part.training for part in model.modules()}
        try:
            return function(model, *arguments, **settings)
        finally:
            for part, training in modes.items():
                part.training = training

    return restored
