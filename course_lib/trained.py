"""The trained model that a lesson reads: this run's, if it learned what the lesson speaks of; else the recorded one.

The recorded one is a file of weights for each such model in data/models, which `make record` writes.
"""

import functools
import os
from collections.abc import Callable

import torch
from IPython.display import display
from torch import nn

from course_lib.files import DATA, replacing
from course_lib.fingerprint import fingerprint
from course_lib.training import course_seed

MIME = "application/vnd.attention-measured.ability+json"
FOLDER = DATA / "models"
RECORDED = "recorded"  # given in place of a seed


class TrainedModel:
    """A training that makes a model of a seed, and what the model must be able to do before it is read.

    Called with a seed it trains; called with `RECORDED` it reads the weights that `make record` kept. `seed` is which
    of the two the lesson goes on with, once `checked` has found out.

    Args:
        train: the training, a function of a seed.
        build: makes the untrained model.
        ability: of a model, a share from 0 to 1.
        what: what that is a share of, as in "100 % of the pronouns are right".
        at_least: the share that is needed.
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
        """The fingerprint of today's training."""
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
        """What `make record` kept: hash, seed, share, weights.

        Raises LookupError if there is nothing, or in strict mode (the tests') if other code made it.
        """
        kept = torch.load(self.file, weights_only=True) if self.file.exists() else None
        stale = kept and kept["hash"] != self.hash()
        if kept is None or (stale and os.environ.get("COURSE_MODE") == "strict"):
            what = "was made by other code" if stale else "is not recorded"
            raise LookupError(f"the model {self.__name__} {what}; `make record` records it")
        return kept

    def recorded(self) -> nn.Module:
        """The recorded model, for a lesson that does not train it."""
        self.seed = RECORDED
        return self(RECORDED)

    def checked(self) -> nn.Module:
        """Trains with the course's seed, says whether the model has learned it, and returns the one to go on with."""
        kept, model = self.kept(), self.train(course_seed())
        share = float(self.ability(model))
        if share >= self.at_least:
            self.seed = course_seed()
            said = f"This run's model has learned enough: {share:.0%} of {self.what}."
        else:
            self.seed = RECORDED
            said = (
                f"**This run's model hasn't learned enough:** {share:.0%} of {self.what}; "
                f"{self.at_least:.0%} are needed. What follows is shown with the recorded model ({kept['share']:.0%})."
            )
        record = {"model": self.__name__, "share": share, "at_least": self.at_least}
        display({MIME: record, "text/markdown": said, "text/plain": said.replace("*", "")}, raw=True)
        return self(self.seed)
