"""The course's way of drawing."""

import base64
import io
from collections.abc import Mapping, Sequence
from statistics import median

import matplotlib.pyplot as plt
import numpy as np
from IPython.display import display
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from course_lib.attention_map import AttentionMap
from course_lib.corpus import SentencePair

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")  # Okabe & Ito
MARKERS = "osD^vP"
STYLE = {
    "figure.figsize": (7.5, 4.2),
    "figure.constrained_layout.use": True,
    "font.size": 12,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": plt.cycler(color=COLOURS),
    "axes.titlesize": 12,
    "axes.titlelocation": "left",
    "legend.frameon": False,
    "lines.linewidth": 2,
}


def figure(rows: int = 1, columns: int = 1, **options) -> tuple[Figure, Axes]:
    """`plt.subplots` in the course's style."""
    with plt.rc_context(STYLE):
        return plt.subplots(rows, columns, **options)


def show(fig: Figure, alt: str) -> None:
    """Displays the figure with a text that says what is to be seen, and closes it.

    Raises ValueError if that text is missing.
    """
    if not alt.strip():
        raise ValueError("alt is empty; say in a sentence what is to be seen in the figure")
    picture = io.BytesIO()
    with plt.rc_context(STYLE):
        fig.savefig(picture, format="png", dpi=96)
    plt.close(fig)
    data = {"image/png": base64.b64encode(picture.getvalue()).decode(), "text/plain": alt}
    display(data, metadata={"image/png": {"alt": alt}}, raw=True)


def draw_heatmap(
    ax: Axes,
    values,
    rows: Sequence,
    columns: Sequence,
    *,
    label: str,
    top: float | None = None,
    gold: SentencePair | None = None,
) -> None:
    """A matrix from 0 to `top` (or its largest value) as colours, with names on both axes.

    Sure links of `gold` (target words down, source words across) are framed, possible ones dotted.
    """
    image = ax.imshow(values, cmap="cividis", vmin=0, vmax=top, aspect="equal")
    words = any(isinstance(column, str) for column in columns)
    ax.set_xticks(range(len(columns)), columns, rotation=60 if words else 0, ha="right" if words else "center")
    ax.set_yticks(range(len(rows)), rows)
    ax.spines[:].set_visible(False)
    ax.figure.colorbar(image, ax=ax, label=label, shrink=0.8)
    for target, source in gold.possible if gold else ():
        style = "-" if (target, source) in gold.sure else ":"
        box = plt.Rectangle((source - 0.45, target - 0.45), 0.9, 0.9, fill=False, ec="#d55e00", lw=2, ls=style)
        ax.add_patch(box)


def show_heatmap(
    values, rows: Sequence, columns: Sequence, *, down: str, across: str, label: str, alt: str, written: bool = False
) -> None:
    """`draw_heatmap` in a figure of its own, stretched to its width; `written` puts the numbers into the cells."""
    fig, ax = figure(figsize=(7, 0.6 + 0.42 * len(rows) + 0.09 * max(len(str(column)) for column in columns)))
    draw_heatmap(ax, values, rows, columns, label=label)
    ax.set(xlabel=across, ylabel=down, aspect="auto")
    for (row, column), value in np.ndenumerate(values) if written else ():
        colour = "black" if value > 0.5 * np.max(values) else "white"
        ax.text(column, row, f"{value:.2f}", ha="center", va="center", color=colour)
    show(fig, alt)


def draw_attention(ax: Axes, attention: AttentionMap, gold: SentencePair | None = None) -> None:
    """The map as a heatmap from 0 to 1, with words on both axes and the links of `gold` framed."""
    rows, columns = attention.query_tokens, attention.key_tokens
    draw_heatmap(ax, attention.weights, rows, columns, label="weight", top=1, gold=gold)


def draw_by_length(
    ax: Axes,
    live: Mapping[str, Mapping[str, float]],
    recorded: Mapping[str, Sequence[Mapping[str, float]]] = {},
    recorded_label: str = "",
    linestyle: str = "-",
) -> None:
    """A curve for each name over the length buckets; recorded seeds as a band from lowest to highest."""
    for name, colour, marker in zip(live, COLOURS, MARKERS, strict=False):
        buckets = list(live[name])
        if name in recorded:
            runs = [[run[bucket] for bucket in buckets] for run in recorded[name]]
            low, high = [min(column) for column in zip(*runs, strict=True)], [max(c) for c in zip(*runs, strict=True)]
            ax.fill_between(range(len(buckets)), low, high, color=colour, alpha=0.2, lw=0)
        values = list(live[name].values())
        ax.plot(range(len(buckets)), values, linestyle, color=colour, marker=marker, label=name)
    if recorded_label:
        ax.fill_between([], [], color="grey", alpha=0.3, lw=0, label=recorded_label)
    ax.set_xticks(range(len(buckets)), buckets, rotation=45 if len(buckets) > 6 else 0)
    ax.set_xlabel("words in the English sentence")
    ax.set_ylabel("sentences all right")
    ax.set_ylim(-0.03, 1.03)
    ax.legend()


def medians(runs: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Median over runs, key by key."""
    return {name: median(run[name] for run in runs) for name in runs[0]}
