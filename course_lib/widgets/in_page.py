"""Models that run in the page: a recorded model as a script, and the widgets that compute with it in JavaScript.

The weights are too many for a notebook. Decks and the site have the script next to them, JupyterLab finds it in build/,
and otherwise the kernel sends it.
"""

import base64
import hashlib
import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
import traitlets
from torch import nn

from course_lib.files import DATA
from course_lib.widgets import shell
from course_lib.widgets.shell import STYLE, Live

PARTS = DATA / "in_page"


def source(*parts: str) -> str:
    """What all widgets share, and these parts of the JavaScript as one module, each after the parts it needs."""
    return shell.source("dom", "softmax", *(f"{PARTS.name}/{part}" for part in parts))


def style(part: str) -> str:
    """The styles of all explorers, of those in the page, and of this one."""
    return STYLE + "".join((PARTS / f"{file}.css").read_text(encoding="utf-8") for file in ("page", part))


@dataclass(frozen=True)
class PageModel:
    """A recorded model for the page.

    Args:
        name: of its file of weights.
        build: makes the untrained model.
        known: what the page must know besides the weights, such as `heads` and `layers`.
    """

    name: str
    build: Callable[[], nn.Module]
    known: Callable[[], dict]

    @property
    def file(self) -> Path:
        return DATA / "models" / f"{self.name}.pt"  # also in a run that records elsewhere

    def rounded(self) -> dict[str, torch.Tensor]:
        """The recorded weights, each rounded to 16 bits."""
        weights = torch.load(self.file, weights_only=True)["weights"]
        return {part: weight.half() for part, weight in weights.items()}

    def load(self) -> nn.Module:
        """The model that runs in the page, as a module with the recorded weights, rounded."""
        model = self.build()
        model.load_state_dict({part: weight.float() for part, weight in self.rounded().items()})
        return model.eval()

    def stamp(self) -> str:
        """The first line of its script, which changes with the weights and with the modules that write it."""
        files = self.file, Path(__file__), Path(inspect.getfile(self.known))
        return f"// {hashlib.sha256(b''.join(file.read_bytes() for file in files)).hexdigest()}\n"

    @cached_property
    def script(self) -> str:
        """A script that puts the shapes, the weights and `known` into `COURSE_MODELS`."""
        weights = self.rounded()
        numbers = np.concatenate([weight.numpy().ravel() for weight in weights.values()]).astype("<f2")
        model = {
            "shapes": {part: list(weight.shape) for part, weight in weights.items()},
            "numbers": base64.b64encode(numbers.tobytes()).decode(),
            **self.known(),
        }
        spelled = json.dumps(model, ensure_ascii=False, separators=(",", ":"))
        return f"{self.stamp()}(globalThis.COURSE_MODELS ??= {{}})[{json.dumps(self.name)}] = {spelled};\n"


class InPage(Live):
    """A widget that asks the page for its model, and the kernel if the page has none.

    Args:
        model: what it computes with.
        examples: texts to choose from.
        start: where it starts, by name.
        hint: a line above it.
    """

    name = traitlets.Unicode().tag(sync=True)
    examples = traitlets.List().tag(sync=True)
    start = traitlets.Dict().tag(sync=True)
    hint = traitlets.Unicode().tag(sync=True)
    state = traitlets.Dict().tag(sync=True)

    def __init__(self, model: PageModel, **traits):
        super().__init__(name=model.name, **traits)
        self.on_msg(lambda *told: self.send({"script": model.script}))
