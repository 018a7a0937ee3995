"""Decorators that decide in which type a function computes, and that restore a model's modes after it."""

from collections.abc import Callable
from functools import wraps

import torch
from torch import Tensor

HALF = (torch.float16, torch.bfloat16)


def in_float32(function: Callable) -> Callable:
    """Makes a function compute half-precision inputs in float32, also under autocast, and return their type.

    In float16 the square of a number above 255 overflows, and in bfloat16 a long sum stops growing.

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
    """Makes a module's method compute in the type of the module's weights, even under autocast."""

    @wraps(forward)
    def computed(module, x: Tensor):
        if not torch.is_autocast_enabled(x.device.type):
            return forward(module, x)
        with torch.autocast(x.device.type, enabled=False):
            return forward(module, x.to(next(module.parameters()).dtype))

    return computed


def without_gradients(function: Callable) -> Callable:
    """Makes a function that returns a named tuple of tensors run in torch.inference_mode, and returns copies.

    A step of a small model takes a quarter less time than under torch.no_grad. The copies may take part in training,
    which tensors of that mode may not.
    """

    @wraps(function)
    def run(*arguments, **settings):
        with torch.inference_mode():
            output = function(*arguments, **settings)
        return type(output)(*(part.clone() if isinstance(part, Tensor) else part for part in output))

    return run


def restoring_modes(function: Callable) -> Callable:
    """Lets a function call `model.eval()`, and puts every part of the model back into its mode afterwards.

    So dropout stays on in a training run that looks at translations now and then.
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
