"""Draws figures and tables in the style of the course."""

import base64
import gzip
import html
import io
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import median

import matplotlib.pyplot as plt
import numpy as np
import torch
from IPython.display import Markdown, display
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.category import StrCategoryFormatter
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.text import Text
from matplotlib.ticker import FuncFormatter
from PIL import Image
from torch import nn

from course_lib.attention_map import AttentionMap
from course_lib.corpus import Corpus
from course_lib.toy_french import SentencePair
from course_lib.transformer import Transformer

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")  # Okabe & Ito
INKS = ("#0072b2", "#b34f00", "#007d5b", "#a84f80", "#8a6000", "#1f729f")  # of words: each darker, to be read on white
MARKERS = "osD^vP"
DPI = 96
MOST_MARKS, MOST_SQUARES = 100, 400  # of a line and of a heatmap whose values are told
LEAST = 11  # pixels that letters need on a phone
FONTS = "'DejaVu Sans', Verdana, sans-serif"  # in vector graphics; Verdana's letters are as wide
VECTOR = "application/vnd.attention-measured.figure+gzip"  # of an SVG, for the site and the decks
ON_DATA = "on-data"  # the name, in the SVG, of what is drawn on a heatmap: its colours belong to those of the data
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
    "svg.fonttype": "none",  # letters stay letters
    "svg.hashsalt": "the same names in each run",
}


plt.rcParams.update(STYLE)  # globally, so that legends and texts added later have the style, too


def figure(rows: int = 1, columns: int = 1, **options) -> tuple[Figure, Axes | np.ndarray]:
    """Calls `plt.subplots` in the course's style."""
    return plt.subplots(rows, columns, **options)


def show(fig: Figure, alt: str) -> None:
    """Displays the figure with its alternative text `alt`, which describes it in words, and closes it.

    The picture's metadata keep the text, the height of the smallest letters in pixels, the width at which these have
    11 pixels, and the number of the curves' marks under a legend. The figure is kept as vector graphics, too.

    Raises ValueError if `alt` is empty.
    """
    if not alt.strip():
        raise ValueError("alt is empty; describe in a sentence what the figure shows")
    drawn, picture = io.BytesIO(), io.BytesIO()
    fig.savefig(drawn, format="png", dpi=DPI)
    covered = sum(_covered(ax) for ax in fig.axes)
    sizes = [text.get_fontsize() for text in fig.findobj(Text) if text.get_visible() and text.get_text().strip()]
    letters = min(sizes, default=0) * DPI / 72
    vector = _vector(fig)
    plt.close(fig)
    # A palette of 256 colours is enough for a plot, and the file has a third of the bytes.
    with Image.open(drawn) as image:
        image.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(picture, "png", optimize=True)
    data = {"image/png": base64.b64encode(picture.getvalue()).decode(), "text/plain": alt, VECTOR: vector}
    about = {
        "alt": alt,
        "letters": round(letters, 1),
        "narrowest": round(fig.get_figwidth() * DPI * LEAST / letters) if letters else 0,
        "covered": covered,
    }
    display(data, metadata={"image/png": about}, raw=True)


def _vector(fig: Figure) -> str:
    """The figure as SVG. Gzipped, it has a third of the PNG's bytes instead of twice as many."""
    for ax in fig.axes:
        for image in ax.images:
            image.set_interpolation("none")  # a square for each number, whatever the size
        for artist in (*ax.texts, *ax.lines, *ax.patches) if ax.images else ():
            if ax.bbox.overlaps(artist.get_window_extent()):
                artist.set_gid(ON_DATA)
    drawn = io.BytesIO()
    fig.savefig(drawn, format="svg", dpi=DPI, metadata={"Date": None})
    svg = re.sub('font-family: [^;"]*', f"font-family: {FONTS}", drawn.getvalue().decode())
    svg = re.sub(' (?:d|x|y)="[^"]*"', lambda places: re.sub(r"(\.\d\d)\d+", r"\1", places[0]), svg)
    told = json.dumps(list(_told(fig)), ensure_ascii=False, separators=(",", ":"))
    svg = svg.replace("<svg ", f'<svg data-told="{html.escape(told)}" ', 1)
    return base64.b64encode(gzip.compress(svg.encode(), mtime=0)).decode()


def _told(fig: Figure) -> Iterator[list]:
    """Yields left, top, width and height, in the SVG's points, of each mark, bar and square, and in words its value."""
    points = 72 / fig.dpi
    for ax in fig.axes:
        for corners, *said in _shown(ax) if ax.axison else ():  # a diagram has no axes
            (left, bottom), (right, top) = np.sort(ax.transData.transform(corners), axis=0)
            if ax.bbox.expanded(1.01, 1.01).contains((left + right) / 2, (bottom + top) / 2):
                where = left, fig.bbox.height - top, right - left, top - bottom
                yield [*(round(float(number) * points, 1) for number in where), "\n".join(filter(None, said))]


def _shown(ax: Axes) -> Iterator[tuple]:
    """Yields two corners of each mark, bar and square, and what is said of it, in lines."""

    def said(series: object, x: float, y: float) -> tuple[str, str, str]:
        return "" if str(series).startswith("_") else str(series), _named(ax.xaxis, x), _named(ax.yaxis, y)

    lines = [line for line in ax.lines if line.get_transform() is ax.transData]  # not what goes across the axes
    marks = {line: line.get_xydata() for line in lines}
    marks |= {dots: dots.get_offsets() for dots in ax.collections if isinstance(dots, PathCollection)}
    for artist, places in marks.items():
        for x, y in places if len(places) <= MOST_MARKS else ():
            yield ((x, y), (x, y)), *said(artist.get_label(), x, y)
    for bars in ax.containers:
        if isinstance(bars, BarContainer):
            for bar, value in zip(bars, bars.datavalues, strict=True):
                corners = bar.get_corners()[[0, 2]]
                x, y = corners.mean(0)
                x, y = (value, y) if bars.orientation == "horizontal" else (x, value)
                yield corners, *said(bars.get_label(), float(x), float(y))
    for image in ax.images:
        values = np.where(np.ma.getmaskarray(image.get_array()), np.nan, image.get_array().data)
        label = image.colorbar.ax.get_ylabel() if image.colorbar else ""
        for place, value in np.ndenumerate(values) if values.ndim == 2 and values.size <= MOST_SQUARES else ():
            if not np.isnan(value):
                y, x = place
                yield ((x - 0.5, y - 0.5), (x + 0.5, y + 0.5)), *said("", x, y), _labelled(label, _number(value))


def _named(axis: Axis, value: float) -> str:
    """The axis' label with its name for this place or the one beside it, or on an axis of numbers with the number."""
    places, named = np.asarray(axis.get_ticklocs()), _number(value)
    if isinstance(axis.get_major_formatter(), (FuncFormatter, StrCategoryFormatter)):
        if not len(places):
            return ""
        nearest = np.abs(places - value).argmin()
        far, name = abs(places[nearest] - value), axis.get_major_formatter().format_ticks(places)[nearest]
        if np.isclose(far, 0) or (far < 0.5 and name != _number(float(places[nearest]))):
            named = name
    return _labelled(axis.get_label_text(), named)


def _labelled(label: str, said: str) -> str:
    """Both in one line, without the marks of mathtext."""
    return " ".join(re.sub(r"[${}\\]", "", f"{label}: {said}".removeprefix(": ")).split())


def _number(value: float) -> str:
    """The value with three digits, or all those before the point."""
    digits = max(0, 2 - math.floor(math.log10(abs(value)))) if value else 0
    written = f"{value:,.{min(digits, 6)}f}".replace("-", "−")
    return written.rstrip("0").rstrip(".") if "." in written else written


def svg(data: Mapping) -> str | None:
    """The SVG that `show` put into an output's data, or None if the figure has none."""
    return gzip.decompress(base64.b64decode(data[VECTOR])).decode() if VECTOR in data else None


def _covered(ax: Axes) -> int:
    """Counts the curves' marks under the legend."""
    if ax.get_legend() is None:
        return 0
    ax.figure.draw_without_rendering()
    box = ax.get_legend().get_window_extent()
    marks = np.concatenate(
        [line.get_transform().transform(line.get_xydata()) for line in ax.lines] or [np.empty((0, 2))]
    )
    return int(sum(box.contains(*mark) for mark in marks))


def show_table(*rows: Sequence) -> None:
    """Displays rows of cells as a table; the first row names the columns."""
    head, *body = ["| " + " | ".join(map(str, row)) + " |" for row in rows]
    display(Markdown("\n".join([head, "|--" * len(rows[0]) + "|", *body])))


def draw_heatmap(
    ax: Axes,
    values,
    rows: Sequence,
    columns: Sequence,
    *,
    label: str = "",
    top: float | None = None,
    gold: SentencePair | None = None,
    written: Callable[[float], str] | None = None,
    turned: float | None = None,
    **options,
) -> AxesImage:
    """Draws a matrix as colours from 0 to `top`, or to its largest value, with names on both axes.

    Args:
        values: (rows, columns); NaN leaves a cell empty.
        label: label of the colour bar. Without it there is no colour bar; make one for several axes from the returned
            image.
        gold: frames the sure links of this pair with a line and the possible ones with dots; target words are down,
            source words across.
        written: returns the text of a cell; `"{:.2f}".format` writes its number.
        turned: rotation of the column names in degrees; by default 60 for words and 0 for single characters.
        options: arguments of `ax.imshow`, such as another `cmap` or `aspect="auto"`.
    """
    image = ax.imshow(values, **{"cmap": "cividis", "vmin": 0, "vmax": top, "aspect": "equal"} | options)
    if turned is None:
        turned = 60 if any(isinstance(column, str) and len(column) > 1 for column in columns) else 0
    ax.set_xticks(range(len(columns)), columns, rotation=turned, ha="right" if turned else "center")
    ax.set_yticks(range(len(rows)), rows)
    ax.spines[:].set_visible(False)
    if label:
        ax.figure.colorbar(image, ax=ax, label=label, shrink=0.8)
    for (row, column), value in np.ndenumerate(values) if written else ():
        if not np.isnan(value):
            bright = np.dot(image.to_rgba(value)[:3], (0.299, 0.587, 0.114)) > 0.46  # black is as legible as white
            ax.text(column, row, written(value), ha="center", va="center", color="black" if bright else "white")
    for target, source in gold.possible if gold else ():
        style = "-" if (target, source) in gold.sure else ":"
        box = plt.Rectangle((source - 0.45, target - 0.45), 0.9, 0.9, fill=False, ec="#d55e00", lw=2, ls=style)
        ax.add_patch(box)
    return image


def show_heatmap(
    values, rows: Sequence, columns: Sequence, *, down: str, across: str, label: str, alt: str, written: bool = False
) -> None:
    """Shows `draw_heatmap` in its own figure, stretched to its width; `written` puts the numbers into the cells."""
    fig, ax = figure(figsize=(7, 0.6 + 0.42 * len(rows) + 0.09 * max(len(str(column)) for column in columns)))
    numbers = "{:.2f}".format if written else None
    draw_heatmap(ax, values, rows, columns, label=label, written=numbers, aspect="auto")
    ax.set(xlabel=across, ylabel=down)
    show(fig, alt)


def draw_attention(ax: Axes, attention: AttentionMap, gold: SentencePair | None = None) -> None:
    """Draws the map as a heatmap from 0 to 1, with words on both axes and the links of `gold` framed."""
    rows, columns = attention.query_tokens, attention.key_tokens
    draw_heatmap(ax, attention.weights, rows, columns, label="weight", top=1, gold=gold)


def draw_band(ax: Axes, x, runs, line=None, **options) -> None:
    """Draws runs as a band from the lowest to the highest, with a line in the same colour, `line` or the median.

    Args:
        x: (x,).
        runs: (run, x), such as the recorded seeds.
        line: (x,), such as this run's values.
        options: arguments of `ax.plot` for the line, such as `color`, `marker` or `label`.
    """
    (drawn,) = ax.plot(x, np.median(runs, 0) if line is None else line, **options)
    ax.fill_between(x, np.min(runs, 0), np.max(runs, 0), color=drawn.get_color(), alpha=0.2, lw=0)


def draw_legend(ax: Axes, bands: str, **options) -> None:
    """Draws the legend, with a grey band for the text `bands`; `options` are arguments of `ax.legend`."""
    ax.fill_between([], [], color="grey", alpha=0.3, lw=0, label=bands)
    ax.legend(**options)


def draw_names(ax: Axes, bands: str = "") -> None:
    """Writes the label of each line beside its right end, in its colour and apart from the others, without a legend.

    Call it last, since it looks where the lines end. The text `bands` is written above the axes and says what they are.
    """
    ax.figure.draw_without_rendering()
    points = 72 / ax.figure.dpi
    lines = [line for line in ax.lines if not line.get_label().startswith("_")]
    ends = [line.get_transform().transform(line.get_xydata()[-1])[1] * points for line in lines]
    order, places = np.argsort(ends, kind="stable"), np.array(ends)
    for _ in range(200):  # each pushes its neighbour
        for below, above in zip(order, order[1:], strict=False):
            lack = max(0, 15 - (places[above] - places[below])) / 2
            places[[below, above]] += -lack, lack
    for line, end, place in zip(lines, ends, places, strict=True):
        colour = to_hex(line.get_color())
        style = {"color": INKS[COLOURS.index(colour)] if colour in COLOURS else colour, "fontsize": 12, "va": "center"}
        at, offset = line.get_xydata()[-1], (8, place - end)
        ax.annotate(line.get_label(), at, offset, line.get_transform(), "offset points", annotation_clip=False, **style)
    if bands:
        ax.set_title(f"bands: {bands}", loc="right", color="#555555")


def draw_by_length(
    ax: Axes,
    live: Mapping[str, Mapping[str, float]],
    recorded: Mapping[str, Sequence[Mapping[str, float]]] = {},
    recorded_label: str = "",
    linestyle: str = "-",
) -> None:
    """Draws a curve for each name over the length buckets, and recorded seeds as a band from lowest to highest."""
    for name, colour, marker in zip(live, COLOURS, MARKERS, strict=False):
        buckets, values = list(live[name]), list(live[name].values())
        # Without recorded runs, the band has no width.
        runs = [[run[bucket] for bucket in buckets] for run in recorded.get(name, [live[name]])]
        draw_band(ax, range(len(buckets)), runs, values, ls=linestyle, color=colour, marker=marker, label=name)
    ax.set_xticks(range(len(buckets)), buckets, rotation=45 if len(buckets) > 6 else 0)
    ax.set_xlabel("words in the English sentence")
    ax.set_ylabel("correct sentences")
    ax.set_ylim(-0.03, 1.03)
    if recorded_label:
        draw_legend(ax, recorded_label)
    else:
        ax.legend()


def medians(runs: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Returns the median over the runs for each key."""
    return {name: median(run[name] for run in runs) for name in runs[0]}


# --- a Transformer, drawn from a pass through it ---------------------------------------------------------


def shapes_of_a_pass(model: nn.Module, *inputs, **options) -> tuple[dict[str, tuple[int, ...]], object]:
    """Runs a pass through the model and notes the shape of each module's output, in the order in which they end.

    Returns:
        The shapes by the modules' names (for a tuple, the shape of its first tensor), and the model's output.

    >>> shapes_of_a_pass(nn.Sequential(nn.Linear(4, 8), nn.ReLU()), torch.zeros(2, 4))[0]
    {'0': (2, 8), '1': (2, 8), '': (2, 8)}
    """
    shapes = {}

    def noting(name: str):
        def note(module: nn.Module, given: tuple, output) -> None:
            shapes[name] = tuple((output[0] if isinstance(output, tuple) else output).shape)

        return note

    hooks = [module.register_forward_hook(noting(name)) for name, module in model.named_modules()]
    try:
        with torch.no_grad():
            return shapes, model(*inputs, **options)
    finally:
        for hook in hooks:
            hook.remove()


def draw_transformer(model: Transformer, corpus: Corpus, pairs: Sequence[SentencePair]) -> None:
    """Draws the encoder, the decoder and the connection between them, with the shapes for these sentences.

    A pass through the model decides what is drawn: the parts, their shapes, the position of each norm, and whether
    words attend to later ones. Each residual connection is tested for whether it adds.
    """
    _Diagram(model, corpus, pairs).show()


class _Diagram:
    """Draws `draw_transformer`: the encoder is on the left, the decoder on the right, and both go upwards."""

    TINTS = {"table": "#f2dcea", "norm": "#e4e4e4", "self": "#cfe6f5", "cross": "#fbd9bd", "feed": "#cfeadf"}
    PART = 1.2  # height of a part's box

    def __init__(self, model: Transformer, corpus: Corpus, pairs: Sequence[SentencePair]):
        self.model, self.modules = model, dict(model.named_modules())
        self.batch = corpus.batch(pairs)
        given = self.batch.source, self.batch.source_mask, self.batch.target_input
        self.shapes, (_, self.maps) = shapes_of_a_pass(model, *given, need_weights=True)
        self.order = list(self.shapes)
        longest = max(pairs, key=lambda pair: len(pair.source))
        layers = len(model.encoder.layers)
        self.figure, self.ax = figure()
        self.said = [f"{layers} of the encoder's layers on the left and {layers} of the decoder's on the right"]
        states, memory, _ = self.column("encoder", 27, -1, longest.source)
        top, end, crosses = self.column("decoder", 84, 1, ("<bos>", *longest.target))
        self.memory(states, memory, crosses)
        self.output(top, end)
        highest = max(states + 1, top + 1.3 + self.PART)
        self.ax.set(xlim=(0, 111), ylim=(-0.65, highest))
        self.figure.set_size_inches(9.9, 0.345 * (highest + 0.65))
        self.ax.axis("off")

    def show(self) -> None:
        show(self.figure, f"The model, drawn from a pass through it: {'; '.join(self.said)}.")

    def arrow(self, *points: tuple[float, float]) -> None:
        self.ax.plot(*zip(*points[:-1], strict=True), color="black", lw=1.5)
        style = {"arrowstyle": "-|>", "color": "black", "lw": 1.5, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 13}
        self.ax.annotate("", points[-1], points[-2], arrowprops=style)

    def box(self, x: float, y: float, kind: str, text: str) -> float:
        """Draws a part's box and returns its upper edge."""
        tall = 0.5 if kind == "norm" else self.PART
        self.ax.add_patch(plt.Rectangle((x - 15, y), 30, tall, fc=self.TINTS[kind], ec="black", lw=1))
        centre = "center" if "\n" in text else "center_baseline"
        self.ax.text(x, y + tall / 2, text, ha="center", va=centre, fontsize=13, linespacing=1.05)
        return y + tall

    def shape(self, x: float, y: float, shape: Sequence[int]) -> None:
        self.ax.text(x + 1, y, " × ".join(map(str, shape)), va="center", fontsize=13, color="#333333")

    def when(self, prefix: str) -> int | None:
        """Returns the position in the pass at which the last module of this name ended, without dropout."""
        names = [name for name in self.order if name == prefix or name.startswith(f"{prefix}.")]
        names = [name for name in names if not isinstance(self.modules[name], nn.Dropout)]
        return self.order.index(names[-1]) if names else None

    def part(self, x: float, side: int, y: float, name: str, kind: str, text: str) -> tuple[float, float]:
        """Draws a part, its norm and its residual connection; returns their upper end and the middle of the box."""
        residual, norm = self.modules[f"{name}_residual"], self.when(f"{name}_residual")
        before = norm is not None and norm < self.when(name)
        self.arrow((x, y), (x, y + 0.6))
        bottom = self.box(x, y + 0.6, "norm", "norm") if before else y + 0.6
        top = self.box(x, bottom, kind, text)
        like = next(self.model.parameters())
        ramp = torch.arange(like.shape[-1]).to(like)[None, None]
        with torch.no_grad():
            adds = not torch.equal(residual.after(ramp, 0 * ramp), residual.after(0 * ramp, 0 * ramp))
        if adds:
            plus, lane = top + 0.42, x + 18 * side
            self.ax.plot([x, x], [top, plus], color="black", lw=1.5)
            self.arrow((x, y + 0.12), (lane, y + 0.12), (lane, plus), (x + 1.3 * side, plus))
            self.ax.plot([x], [plus], "o", ms=13, mfc="white", mec="black", zorder=3)
            self.ax.text(x, plus - 0.02, "+", ha="center", va="center", fontsize=13, zorder=4)
            top = plus + 0.2
        if norm is not None and not before:
            self.arrow((x, top), (x, top + 0.35))
            top = self.box(x, top + 0.35, "norm", "norm")
        return top, bottom + self.PART / 2

    def column(self, name: str, x: float, side: int, words: Sequence[str]):
        """Draws words, table and layers; returns their end, the shape there, and the cross-attentions' middles."""
        stack, own = getattr(self.model, name), getattr(self.maps, name)
        source = name == "encoder"
        embedding = self.model.source_embedding if source else self.model.target_embedding
        numbers = self.batch.source if source else self.batch.target_input
        self.ax.text(x, -0.05, " ".join(words), ha="center", va="top", fontsize=13, style="italic")
        self.arrow((x, 0), (x, 0.6))
        self.shape(x, 0.25, numbers.shape)
        rows, size = embedding.weight.shape
        places = "no positions" if embedding.positions is None else "+ code of the position"
        y = self.box(x, 0.6, "table", f"table of words, {rows} × {size}\n{places}")
        at, crosses = self.shapes[f"{'source' if source else 'target'}_embedding"], []
        reach = "every word" if bool((own.triu(1) > 0).any()) else "no later word"
        for number, layer in enumerate(stack.layers):
            prefix, start = f"{name}.layers.{number}", y
            parts = [("self_attention", "self", f"self-attention: {reach}\n{_weights(own)}")]
            if not source:
                parts.append(("cross_attention", "cross", f"cross-attention\n{_weights(self.maps.cross)}"))
            if layer.feed_forward is not None:
                inner = self.shapes[f"{prefix}.feed_forward.inner"][-1]
                parts.append(("feed_forward", "feed", f"feed-forward\n{size} → {inner} → {size}"))
            for part, kind, text in parts:
                self.shape(x, y + 0.36, at)
                y, middle = self.part(x, side, y, f"{prefix}.{part}", kind, text)
                crosses += [(middle, f"{prefix}.{part}")] if kind == "cross" else []
                last = f"{prefix}.{part}" if part == "feed_forward" else f"{prefix}.{part}.output_projection"
                at = self.shapes[last]
            at, low = self.shapes[prefix], start + 0.03
            outline = {"fill": False, "ec": "#777777", "lw": 1, "ls": (0, (4, 3))}
            self.ax.add_patch(plt.Rectangle((x - 19.5, low), 39, y - low + 0.02, **outline))
            label = f"{name} layer {number + 1}"
            self.ax.text(x + 22 * side, (start + y) / 2, label, rotation=90, ha="center", va="center", fontsize=13)
        self.said.append(f"a layer of the {name} has " + ", ".join(text.replace("\n", ", ") for *_, text in parts))
        if f"{name}.last" in self.shapes and not isinstance(stack.last, nn.Identity):
            self.shape(x, y + 0.36, at)
            self.arrow((x, y), (x, y + 0.6))
            y, at = self.box(x, y + 0.6, "norm", "norm"), self.shapes[f"{name}.last"]
        return y, (x, at), crosses

    def memory(self, y: float, memory: tuple, crosses: list) -> None:
        """Draws the arrows from the encoder's end to every cross-attention."""
        x, shape = memory
        gutter = 54
        self.shape(x, y + 0.28, shape)
        for middle, name in crosses:
            self.arrow((x, y), (x, y + 0.6), (gutter, y + 0.6), (gutter, middle), (84 - 15, middle))
            text = " × ".join(map(str, self.shapes[f"{name}.key_projection"]))
            style = {"ha": "center", "fontsize": 13, "color": "#333333", "zorder": 3}
            style["bbox"] = {"fc": "white", "ec": "none", "pad": 1}
            self.ax.text((gutter + 69) / 2, middle + 0.12, "keys, values", va="bottom", **style)
            self.ax.text((gutter + 69) / 2, middle - 0.14, text, va="top", **style)
        self.said.append(
            f"from the encoder's end arrows lead to the cross-attention of each decoder layer, {len(crosses)} in all"
        )

    def output(self, y: float, end: tuple) -> None:
        x, at = end
        self.shape(x, y + 0.3, at)
        self.arrow((x, y), (x, y + 0.6))
        rows, size = self.model.output.weight.shape
        top = self.box(x, y + 0.6, "table", f"linear, {size} → {rows}\na logit for every word")
        self.arrow((x, top), (x, top + 0.6))
        self.shape(x, top + 0.3, self.shapes["output"])
        self.said.append(f"at the end a linear layer gives {rows} logits")


def _weights(maps: torch.Tensor) -> str:
    heads, queries, keys = maps.shape[2:]
    return f"{heads} heads of {queries} × {keys} weights"
