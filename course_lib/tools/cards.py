"""Makes a card on the site for each claim of the ledger, and the pictures that a shared link shows.

`site` calls it. `pages` writes glossary/claims.md, the ledger that readers of the repository see.
"""

import ast
import html
import io
import operator
import re
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import accumulate, chain
from math import asinh, ceil, floor, inf, log10
from pathlib import Path
from random import Random
from typing import NamedTuple

import jinja2
import matplotlib.pyplot as plt
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path as Bezier
from PIL import Image, ImageFont

from course_lib import claims, effects, plotting
from course_lib.attention_map import AttentionMap
from course_lib.curriculum import name_of, number_of
from course_lib.files import DATA
from course_lib.tools import lessons, pages

COURSE = "Attention, Measured"
LOADER = jinja2.FileSystemLoader(DATA / "site" / "_templates")
TEMPLATES = jinja2.Environment(loader=LOADER, trim_blocks=True, keep_trailing_newline=True)
STRIKING, SETTLED, WAITING = "Begin with these", "Settled on this page", "Not tested yet"
WAITS = "waits for its lesson"
RUNS = {
    "records": "decided by recorded runs with several seeds",
    "arithmetic": "arithmetic, which no run changes",
    "given sentences": "the same sentences each time, which no run changes",
    "not tried": "not tried with other seeds",
    "": "",
}
FRESH = {
    "": "",
    "not run": "not yet run on fresh data",
    "its condition has changed since": "its condition has changed since it was run on fresh data",
}
SIGNS = {ast.Gt: ">", ast.Lt: "<", ast.GtE: ">=", ast.LtE: "<="}
MET = {True: "✓", False: "✗", None: "±"}
MIRRORED = {">": "<", "<": ">", ">=": "<=", "<=": ">="}
TRUE = {">": operator.gt, "<": operator.lt, ">=": operator.ge, "<=": operator.le}
WORDS = {">": "above", "<": "below", ">=": "at least", "<=": "at most"}
ALL_OR_ONE = {"min>": "each ", "max<": "each ", "max>": "the largest ", "min<": "the smallest "}
# A drawing's measures, in pixels.
WIDTH, TRACK, LETTERS, LINE = 290, 206, 12.5, 16
# Break lines as for DejaVu Sans, one of the widest fonts that a page may fall back on.
FACES = {
    kind: ImageFont.truetype(font_manager.findfont(f"DejaVu Sans:{weight}"), 100)
    for kind, weight in (("", "normal"), ("needed", "bold"), ("end", "normal"))
}
EDGE = 6  # from the end of a line to the end of its scale: half a dot and its rim
ROWS = 5
ENDS = "mean", "low", "high"
TICKS = -100, -10, -1, 0, 1, 10, 100
MOST_LINES = 100  # where the scale of all effects ends
ROUND = (1, 2, 5, 10)  # where a scale ends, times a power of ten
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


# ---- the ledger ----


def ledger(found: Mapping[str, list[pages.Verdict]], template: str = "claims.md") -> str:
    """Returns the page in Markdown, with a card for each claim and the striking ones first."""
    titles = {name_of(path): f"Lesson {number_of(name_of(path))}: {pages.title(path)}" for path in lessons.find()}
    group_of = titles | {"page": SETTLED}
    groups = {group: [] for group in (STRIKING, *group_of.values(), WAITING)}
    for claim in sorted(found, key=_rank):
        place = group_of[found[claim][0].place] if found[claim] else WAITING
        groups[STRIKING if _rank(claim) < inf else place].append(_card(claim, found[claim]))
    counts = verdict_counts(found)
    verdicts, waiting = sum(map(len, found.values())), sum(not every for every in found.values())
    if waiting:
        counts[WAITS] = waiting
    wait = f", {waiting} wait for theirs" if waiting else ""
    told = f"{len(found)} claims with {verdicts} verdicts: some are tested in two lessons{wait}."
    filled = {group: every for group, every in groups.items() if every}
    texts = {"told": told, "sources": claims.sources(), "waits": WAITS, "effects": effect_rows(found)}
    texts["survived"] = pages.survived(found)
    texts |= {"units": effects.units(), "ticks": [(n, _percent(n * 0.1, "share of items")) for n in TICKS]}
    return TEMPLATES.get_template(template).render(groups=filled, counts=counts, **texts)


def _rank(claim: str) -> float:
    return claims.ledger()[claim].get("striking", inf)


def _look(verdict: str) -> str:
    """Returns the class of a verdict, which has its colour."""
    return verdict.replace(" ", "-")


TEMPLATES.globals |= {"look": _look, "answer": claims.answer}


def verdict_counts(found: Mapping[str, list[pages.Verdict]]) -> dict[str, int]:
    """Returns the number of verdicts of each kind."""
    outcomes = Counter(verdict.record["verdict"] for every in found.values() for verdict in every)
    return {name: outcomes[name] for name in claims.SIGNS}


def heading(claim: str) -> str:
    """Returns the claim as a heading, with its id at the end, which `site.slug` uses as its name."""
    return f"{_sentence(claim)} ({claim})"


def _sentence(claim: str) -> str:
    sentence = claims.ledger()[claim]["sentence"]
    if re.match(r"[a-z]*[aeiou][a-z]*\b", sentence):  # a word, not a symbol
        sentence = sentence[0].upper() + sentence[1:]
    return sentence


def _card(claim: str, every: list[pages.Verdict]) -> dict:
    said = claims.ledger()[claim]
    settled = said.get("settled", {})
    return {
        "id": claim,
        "heading": heading(claim),
        "sentence": _sentence(claim),
        "said_by": said["said_by"],
        "sense": said.get("sense", "").rstrip("."),
        "because": settled.get("because", "").strip(),
        "arithmetic": settled.get("arithmetic", "").strip(),
        "outcomes": [verdict.record["verdict"] for verdict in every] or [WAITS],
        "places": [v.place if v.place == "page" else f"lesson {number_of(v.place)}" for v in every] or ["later"],
        "verdicts": [_verdict(verdict, said.get("figure_words", {})) for verdict in every],
        "several": len(every) > 1,
    }


def _verdict(verdict: pages.Verdict, words: Mapping[str, str]) -> dict:
    record = verdict.record
    parts = panels(record)
    first = [next(iter(part.judged)) for _, part in parts]
    sums = [*first, *(name for _, part in parts for name in part.figures), *claims.deciding(record)]
    terms = dict.fromkeys(name for each in sums for name in each.split(" + "))
    figures = [name for name in terms if name in record["figures"]][:2]
    conditions = {"As said": record["as_said"], "Only if": record["within"]}
    return {
        "record": record,
        "outcome": record["verdict"],
        "place": f"Lesson {number_of(verdict.place)}" if verdict.place != "page" else "",
        "sign": claims.SIGNS[record["verdict"]][0],
        "limits": claims.bounds(record),
        "on": record["measured_on"],
        "figures": [(called(name, words), claims.shown(record["figures"][name])) for name in figures],
        "drawing": drawing(record, words) if record["kind"] == "experiment" else "",
        "link": "" if verdict.place == "page" else verdict.link.replace("[lesson", "[Lesson", 1),
        "runs": RUNS.get(verdict.runs, f"the same in {verdict.runs} runs with other seeds"),
        "fresh": FRESH.get(verdict.confirmed, f"on fresh data the same in {verdict.confirmed} runs"),
        "kind": f"Kind of verdict: {record['kind']}.",
        "conditions": [(side, condition) for side, condition in conditions.items() if condition],
        "every_figure": [(name.replace("_", " "), claims.shown_of(record, name)) for name in record["figures"]],
    }


def called(figure: str, words: Mapping[str, str]) -> str:
    """Returns a card's words for a figure, or a sum of figures: the ledger's, or else those of its name."""
    return " + ".join(words.get(part) or pages.in_words(part) for part in figure.split(" + "))


# ---- all effects on one scale ----


def effect_rows(found: Mapping[str, list[pages.Verdict]]) -> dict[str, list[dict]]:
    """Returns by unit a row for each effect that decides a verdict, the largest first.

    Places on the scale are in percent: an effect is divided by its line (for a factor, the logarithms are), and asinh
    shows small and large ones together.
    """
    rows = {unit: [] for unit in effects.units()}
    for claim, every in found.items():
        for record in (verdict.record for verdict in every):
            words = claims.ledger()[claim].get("figure_words", {})
            for name in filter(record["effects"].get, claims.deciding(record)):
                one = record["effects"][name]
                rows[one["unit"]].append(
                    {
                        "claim": claim,
                        "sentence": _sentence(claim),
                        "words": called(name, words),
                        "sign": claims.SIGNS[record["verdict"]][0],
                        "verdict": record["verdict"],
                        "on": record["measured_on"],
                        **{end: claims.shown(one[end]) for end in ENDS},
                        "over": one["over"],
                        "places": {end: _percent(one[end], one["unit"]) for end in ENDS},
                    }
                )
    return {unit: sorted(every, key=lambda row: -row["places"]["mean"]) for unit, every in rows.items() if every}


def _percent(value: float, unit: str) -> float:
    line = effects.units()[unit]["line"]
    lines = log10(value) / log10(line) if effects.units()[unit].get("factor") else value / line
    return round(50 + 48 * max(-1, min(1, asinh(lines) / asinh(MOST_LINES))), 1)


# ---- the ledger as a game ----


def tested(found: Mapping[str, list[pages.Verdict]]) -> dict[str, list[pages.Verdict]]:
    """Returns the claims that have a verdict."""
    return {claim: every for claim, every in found.items() if every}


def game(found: Mapping[str, list[pages.Verdict]]) -> str:
    """Returns the page in Markdown on which a visitor guesses the verdicts, with the cards of `ledger`."""
    dealt = [[_card(claim, found[claim]) for claim in part] for part in rounds(found)]
    counts = Counter(card["outcomes"][0] for card in chain(*dealt) if len({*card["outcomes"]}) == 1)
    texts = {"claims": len(tested(found)), "counts": counts, "signs": claims.SIGNS}
    return TEMPLATES.get_template("play.md").render(rounds=dealt, **texts)


def rounds(found: Mapping[str, list[pages.Verdict]]) -> list[list[str]]:
    """Returns the tested claims in rounds of about ten, each with about its share of every verdict.

    The first two rounds begin with the striking claims. The others come in a random order, which is always the same.
    """
    outcomes = {claim: _main(every) for claim, every in tested(found).items()}
    dealt = [[] for _ in range(max(2, len(outcomes) // 10))]
    mixed = Random(0).sample(list(outcomes), len(outcomes))
    for claim in sorted(mixed, key=_rank):
        parts = dealt[:2] if _rank(claim) < inf else dealt
        alike = [(sum(outcomes[other] == outcomes[claim] for other in part), len(part)) for part in parts]
        parts[alike.index(min(alike))].append(claim)
    return dealt


def _main(every: list[pages.Verdict]) -> str:
    """Returns the first verdict, or "holds only if" if any is: whoever always says that shall not win."""
    outcomes = [verdict.record["verdict"] for verdict in every]
    return claims.WITHIN if claims.WITHIN in outcomes else outcomes[0]


# ---- what a condition compares, drawn ----


class Compared(NamedTuple):
    """Describes a part of a condition, which says that figures are above or below a threshold.

    `interval` is that of an effect; `met` is None if the threshold lies within it.
    """

    sign: str
    threshold: float
    made: str  # the threshold's formula, with ○ for each figure of `beside`; "" if it is a number
    judged: dict[str, float]  # by name; a sum's name joins the names of its terms with " + "
    beside: dict[str, float]  # the figures in the threshold
    met: bool | None
    interval: tuple[float, float] | tuple[()] = ()

    @property
    def figures(self) -> dict[str, float]:
        return self.judged | self.beside

    @property
    def words(self) -> str:
        return f"{self.sign} {claims.shown(self.threshold) if self.made else f'{self.threshold:g}'}"


def compared(condition: str, figures: Mapping[str, object], intervals: Mapping[str, dict]) -> Iterator[Compared]:
    """Yields the parts of a condition that can be drawn: no equations and no distances."""
    for node in ast.walk(ast.parse(condition or "0", mode="eval")):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            for left, sign, right in zip(sides, node.ops, sides[1:], strict=False):
                if type(sign) in SIGNS and (part := _compared(left, SIGNS[type(sign)], right, figures, intervals)):
                    yield part


def _compared(left: ast.expr, sign: str, right: ast.expr, figures: Mapping, intervals: Mapping) -> Compared | None:
    def used(node):
        return {n.id: figures[n.id] for n in ast.walk(node) if isinstance(n, ast.Name) and n.id in figures}

    def value(node):
        return eval(ast.unparse(node), {"__builtins__": {"min": min, "max": max, "abs": abs}}, dict(figures))

    if not used(left):
        left, sign, right = right, MIRRORED[sign], left
    if isinstance(left, ast.Name) and (one := intervals.get(left.id)):
        threshold = effects.place(one["unit"], -1 if isinstance(right, ast.UnaryOp) else 1)
        met = effects.condition(f"{left.id} {sign} {ast.unparse(right)}", {left.id: effects.Effect(**one)})
        return Compared(WORDS[sign], threshold, "", {left.id: figures[left.id]}, {}, met, (one["low"], one["high"]))
    met = TRUE[sign](value(left), value(right))
    if isinstance(left, ast.BinOp) and isinstance(left.op, ast.Sub):  # a - b > c is a > b + c
        left, right = left.left, ast.BinOp(left.right, ast.Add(), right)
    call = left.func.id if isinstance(left, ast.Call) else ""
    judged = {ast.unparse(node): value(node) for node in (left.args if call else [left])}
    if call == "abs" or not used(left):
        return None
    sign = f"{ALL_OR_ONE.get(call + sign[0], '')}{WORDS[sign]}"
    return Compared(sign, value(right), _made(right) if used(right) else "", judged, used(right), met)


def _made(threshold: ast.expr) -> str:
    formula = re.sub(r"[^\W\d]\w*\b(?!\()", "○", ast.unparse(threshold)).replace("*", "×")
    for call, of_all, of_two in (("max", "the largest", "the larger"), ("min", "the smallest", "the smaller")):
        formula = re.sub(rf"{call}\(○(, ○)+\)", f"{of_all} ○", formula)
        formula = re.sub(rf"{call}\((.+), (.+)\)", rf"{of_two} of \1 and \2", formula)
    return formula.replace("+ -", "− ").replace(" - ", " − ")


def panels(record: Mapping) -> list[tuple[str, Compared]]:
    """Returns the part on which a claim failed as said, and two parts of the condition under which it holds.

    If it holds under no such condition, it returns two parts of the condition. A part that can't be drawn is left out.
    """
    said, within = (
        list(compared(record[side], record["figures"], record["effects"])) for side in ("as_said", "within")
    )
    if record["verdict"] != claims.HOLDS:
        said = [part for part in said if not part.met]
    if record["verdict"] != claims.WITHIN:
        return [("as said", part) for part in said[:2]]
    return [*(("as said", part) for part in said[:1]), *(("only if", part) for part in within[:2])]


def drawing(record: Mapping, words: Mapping[str, str]) -> str:
    """Returns an SVG with each figure as a dot on a line. The threshold crosses the lines of the figures it judges."""
    drawn, told, y = [], [], 0

    def write(text: str, kind: str = "") -> None:
        nonlocal y
        for line in _lines(text, kind):
            y += LINE
            drawn.append(_text(0, y, line, kind))

    parts = panels(record)
    for side, part in parts:
        equal = f"{part.sign} {part.made} = {claims.shown(part.threshold)}" if part.made else part.words
        write(f"{MET[part.met]} {side}: {equal}", "needed")
        rows = list(part.figures.items())[:ROWS]
        place, ends = _scale([part.threshold, *part.interval, *(value for _, value in rows)])
        for number, (name, value) in enumerate(rows):
            write(called(name, words))
            y += LINE
            drawn.append(f'<line class="track" x1="0" x2="{TRACK}" y1="{y - 4}" y2="{y - 4}"/>')
            if judged := number < len(part.judged):
                x = place(part.threshold)
                drawn.append(f'<line class="threshold" x1="{x:.1f}" x2="{x:.1f}" y1="{y - 11}" y2="{y + 3}"/>')
            if part.interval:
                low, high = map(place, part.interval)
                drawn.append(f'<line class="interval" x1="{low:.1f}" x2="{high:.1f}" y1="{y - 4}" y2="{y - 4}"/>')
            kind = "judged" if judged else "beside"
            drawn.append(f'<circle class="{kind}" cx="{place(value):.1f}" cy="{y - 4}" r="5"/>')
            drawn.append(_text(TRACK + 9, y, claims.shown(value)))
        y += LINE
        drawn += [_text(x, y, end, kind) for x, end, kind in zip((0, TRACK), ends, ("end", "end right"), strict=True)]
        y += LINE // 2
        told.append(f"{side}, {part.words}: " + ", ".join(f"{called(n, words)} {claims.shown(v)}" for n, v in rows))
    if not drawn:
        return ""
    beside = any(part.beside for _, part in parts)
    among = "━ 95 % interval · " * any(part.interval for _, part in parts)
    write(f"● measured · {among}{'○ compared with it · ' * beside}┃ threshold", "end")
    if more := _comparisons(record) - len(parts):
        write(f"{more} more condition{'s' * (more > 1)} below: “How it was decided”", "end")
    label = html.escape("; ".join(told))
    box = f'width="{WIDTH}" height="{y + 4}" viewBox="0 0 {WIDTH} {y + 4}" font-size="{LETTERS}"'
    return f'<svg role="img" aria-label="{label}" {box}>{"".join(drawn)}</svg>'


def _comparisons(record: Mapping) -> int:
    """Returns the number of comparisons in the conditions."""
    within = record["within"] if record["verdict"] == claims.WITHIN else ""
    trees = [ast.parse(condition or "0", mode="eval") for condition in (record["as_said"], within)]
    return sum(len(node.ops) for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Compare))


def _lines(text: str, kind: str) -> list[str]:
    """Returns the text in lines that fit into the drawing."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and FACES[kind].getlength(longer) * LETTERS / FACES[kind].size > WIDTH:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def _text(x: float, y: float, text: str, kind: str = "") -> str:
    marked = f' class="{kind}"' if kind else ""
    return f'<text x="{x}" y="{y}"{marked}>{html.escape(text)}</text>'


def _scale(values: list[float]):
    """Returns value → x and the labels of both ends. The scale begins at 0, or is logarithmic for a wide range."""
    low, high = min(values), max(values)
    if low > 0 and high / low > 300:
        turn, (start, end) = log10, (floor(log10(low)), ceil(log10(high)))
        ends = f"10{str(start).translate(RAISED)}, by powers of ten", f"10{str(end).translate(RAISED)}"
    else:
        turn, (start, end) = float, (-_rounded(-low) if low < 0 else 0, _rounded(high) if high > 0 else 1)
        ends = f"{start:g}", f"{end:g}"
    return lambda value: EDGE + (TRACK - 2 * EDGE) * (turn(value) - start) / (end - start), ends


def _rounded(value: float) -> float:
    if 0.2 < value <= 1:
        return 1.0  # most such figures are shares
    unit = 10 ** floor(log10(value))
    return next(times * unit for times in ROUND if times * unit >= value * (1 - 1e-9))


# ---- the pictures that a shared link shows ----


def share(file: Path, title: str, sentence: str, draw: Callable[[Axes], object]) -> None:
    """Saves a picture of 1200 × 630 pixels: title, sentence, and what `draw` puts on axes without a frame."""
    fig, ax = plotting.figure(figsize=(12, 6.3), dpi=100, layout="none")
    ax.axis("off")
    draw(ax)
    fig.text(0.04, 0.94, title, size=38, weight="bold", va="top")
    told = fig.text(0.04, 0.81, textwrap.fill(sentence, 74), size=21, va="top", linespacing=1.4)
    below = told.get_window_extent().y0 / fig.bbox.height - 0.04
    ax.set_position((0.04, 0.1, 0.92, below - 0.1))
    if title != COURSE:
        fig.text(0.96, 0.03, COURSE, size=15, ha="right", color=plotting.COLOURS[0])
    drawn = io.BytesIO()
    fig.savefig(drawn, format="png")
    plt.close(fig)
    with Image.open(drawn) as image:
        image.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(file, "png", optimize=True)


def share_picture(file: Path, title: str, sentence: str, picture: Path) -> None:
    """Saves a lesson's picture in the form for a shared link."""
    share(file, title, sentence, lambda ax: ax.imshow(plt.imread(picture)))


def share_arcs(file: Path, title: str, sentence: str, written: AttentionMap, at: int) -> None:
    """Saves a picture of a translation, with arcs from its word `at` to the words that it looks at."""

    def draw(ax):
        places = []
        for words, height in ((written.key_tokens, 1), (written.query_tokens, 0)):
            widths = [len(word) + 1.6 for word in words]
            ends = list(accumulate(widths))
            places.append([end - (width + ends[-1]) / 2 for end, width in zip(ends, widths, strict=True)])
            for number, (place, word) in enumerate(zip(places[-1], words, strict=True)):
                bold = "bold" if not height and number == at else "normal"
                ax.text(place, height, word, size=19, ha="center", va="center", weight=bold)
        below = places[1][at]
        for above, weight in zip(places[0], written.weights[at], strict=True):
            corners = [(below, 0.14), (below, 0.5), (above, 0.5), (above, 0.86)]
            path = Bezier(corners, [Bezier.MOVETO, *[Bezier.CURVE4] * 3])
            ax.add_patch(PathPatch(path, fill=False, lw=14 * weight, color=plotting.COLOURS[0], alpha=0.9))
        wide = max(abs(place) for row in places for place in row) + 4
        ax.set(xlim=(-wide, wide), ylim=(-0.25, 1.25))

    share(file, title, sentence, draw)


def share_counts(file: Path, title: str, sentence: str, found: Mapping[str, list[pages.Verdict]]) -> None:
    """Saves a picture of the number of verdicts of each kind."""

    def draw(ax):
        for place, (name, count) in enumerate(verdict_counts(found).items()):
            sign, colour = claims.SIGNS[name]
            ax.barh(-place, count, color=colour, height=0.6)
            ax.text(count, -place, f"  {sign} {count} {claims.answer(name)}", size=24, va="center")
        ax.set_xlim(0, 1.7 * max(verdict_counts(found).values()))

    share(file, title, sentence, draw)


def share_game(file: Path, title: str, sentence: str) -> None:
    """Saves a picture of the verdicts among which a visitor chooses."""

    def draw(ax):
        for place, (name, (sign, colour)) in enumerate(claims.SIGNS.items()):
            left, below = place % 2, -(place // 2)
            ax.add_patch(Rectangle((left, below), 0.02, 0.8, color=colour))
            ax.add_patch(Rectangle((left + 0.02, below), 0.9, 0.8, color=colour, alpha=0.15, lw=0))
            ax.text(left + 0.08, below + 0.4, f"{sign}  {claims.answer(name)}", size=30, va="center")
        ax.set(xlim=(0, 1.95), ylim=(-2.1, 0.9))

    share(file, title, sentence, draw)
