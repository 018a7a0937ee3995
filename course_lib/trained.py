"""Gives a lesson the trained model that it looks into: this run's, if it learned its task, or else the recorded one.

`make record` writes the weights of each recorded model to a file in data/models.
"""

import functools
import os
from collections.abc import Callable

import torch
from IPython.display import display
from torch import nn

from course_lib.files import records_folder, replacing
from course_lib.fingerprint import fingerprint
from course_lib.training import course_seed

MIME = "application/vnd.attention-measured.ability+json"
FOLDER = records_folder() / "models"
RECORDED = "recorded"  # used as a seed, it means the recorded weights


class TrainedModel:
    """A model that a lesson trains, and the ability it needs before the lesson looks into it.

    Called with a seed, it trains; called with `RECORDED`, it reads the weights that `make record` kept. After
    `checked`, `seed` says which of the two the lesson uses.

    Args:
        train: trains a model with a given seed.
        build: makes the untrained model.
        ability: measures a model, as a share from 0 to 1.
        what: the rest of the sentence that reports the share, as in "100% of the pronouns are right".
        at_least: the share that the model needs.
    """

    def __init__(
        self,
        train: Callable[[int], nn.Module],
        build: Callable[[], nn.Module],
        ability: Callable[[nn.Module], float],
        what: str,
        at_least: float,
    ):
        functools.update_wrapper(self, train)  # so that a fingerprint sees the training
        self.train, self.build, self.ability, self.what, self.at_least = train, build, ability, what, at_least
        self.file = FOLDER / f"{train.__name__}.pt"
        self.seed: int | str = course_seed()

    def __call__(self, seed: int | str) -> nn.Module:
        if seed != RECORDED:
            return self.train(seed)
        model = self.build()
        model.load_state_dict(self.kept()["weights"])
        return model.eval()

    def hash(self) -> str:
        """Returns the fingerprint of today's training code."""
        return fingerprint(self.train)

    def able(self, model: nn.Module) -> bool:
        return self.ability(model) >= self.at_least

    def keep(self, seed: int, model: nn.Module) -> None:
        """Writes the file of weights."""
        self.file.parent.mkdir(exist_ok=True)
        kept = {"hash": self.hash(), "seed": seed, "share": self.ability(model), "weights": model.state_dict()}
        with replacing(self.file) as beside:
            torch.save(kept, beside)

    def kept(self) -> dict:
        """Returns what `make record` kept: hash, seed, share, weights.

        Raises LookupError if there is nothing or, in the tests' strict mode, if other code made it.
        """
        kept = torch.load(self.file, weights_only=True) if self.file.exists() else None
        stale = kept and kept["hash"] != self.hash()
        if kept is None or (stale and os.environ.get("COURSE_MODE") == "strict"):
            what = "was made by other code" if stale else "is not recorded"
            raise LookupError(f"the model {self.__name__} {what}; `make record` records it")
        return kept

    def recorded(self) -> nn.Module:
        """Returns the recorded model, for a lesson that does not train it."""
        self.seed = RECORDED
        return self(RECORDED)

    def checked(self) -> nn.Module:
        """Trains with the course's seed, says whether the model learned its task, and returns the model to use."""
        kept, model = self.kept(), self.train(course_seed())
        share = float(self.ability(model))
        if share >= self.at_least:
            self.seed = course_seed()
            said = f"This run's model has learned enough: {share:.0%} of {self.what}."
        else:
            self.seed = RECORDED
            said = (
                f"**This run's model hasn't learned enough:** {share:.0%} of {self.what}, and {self.at_least:.0%} are "
                f"needed. The rest of the lesson uses the recorded model ({kept['share']:.0%})."
            )
        record = {"model": self.__name__, "share": share, "at_least": self.at_least}
        display({MIME: record, "text/markdown": said, "text/plain": said.replace("*", "")}, raw=True)
        return self(self.seed)
