"""The whole Transformer of lesson 6 in the page: fourteen stations, each open down to a dot product."""

from collections.abc import Sequence

from course_lib.widgets.in_page import source, style
from course_lib.widgets.translator import Translator


class Machine(Translator):
    """The recorded Transformer that runs in the page, with all it computes at each of fourteen stations.

    Args:
        examples: English sentences to choose from; the first is shown first.
        start: where it starts, by name: `open` (a station, such as "scores"), `layer` and `head` (from 1), `reads` and
            `asks` (places of English words), `writes` (place of a French one), `off` and `without` (as for Translator),
            `temperature` (0, 0.5, 1, 2 or 3), `seed` of what is drawn,
            `show`: "all" stations below each other, "one" for the open one alone, "shut" for boxes without names.
    Raises:
        TypeError, ValueError: as for Translator.
    """

    _esm = source("engine", "translating", "page", "machine")
    _css = style("machine")

    def __init__(self, examples: Sequence[str], start: dict | None = None):
        super().__init__("trained_transformer", examples, start)

    def summary(self) -> str:
        return f"a Transformer, station by station: {self.start['sentence']}"
