"""Claims, the experiments that test them, and the verdicts.

A verdict is computed from measured figures. An experiment is a function of a seed. A lesson runs it live, or
`make record` records it for several seeds and the lesson draws it as a band.

A figure is a number or an `effects.Effect`.

A figure with "recorded" in its name comes from the record, and one with "counted" in its name from arithmetic; no run
changes them. Every other figure comes from this run.
"""

import html
import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cache, partial

from IPython.display import Markdown, display

from course_lib import speed
from course_lib.effects import Effect, condition, units
from course_lib.files import DATA, data_draw, read_json, records_folder
from course_lib.fingerprint import fingerprint
from course_lib.processes import in_a_notebook, side_by_side
from course_lib.trained import TrainedModel
from course_lib.training import course_seed

MIME = "application/vnd.attention-measured.verdict+json"
KINDS = ("experiment", "proof", "citation", "cannot be tested")
MEASURED_ON = ("arithmetic", "toy French", "toy tasks", "real text", "real pictures", "a real model")
HOLDS, WITHIN, NOT = "holds", "holds only if", "does not hold"
UNDECIDED, UNTESTABLE = "undecided", "cannot be tested"
SIGNS = {
    HOLDS: ("✓", "#009e73"),
    WITHIN: ("≈", "#e69f00"),
    NOT: ("✗", "#d55e00"),
    UNDECIDED: ("±", "#56b4e9"),
    UNTESTABLE: ("?", "#767676"),
}


# --- verdicts --------------------------------------------------------------------------------------------


@cache
def _ledger_file() -> dict:
    return tomllib.loads((DATA / "ledger.toml").read_text(encoding="utf-8"))


def ledger() -> dict[str, dict]:
    """Returns every claim by its id, with sentence, said_by, to_measure and tested_in.

    `settled` is there for claims of the claims page. `sense` says in a sentence what is claimed, where people say
    only words.
    """
    return {claim["id"]: claim for claim in _ledger_file()["claim"]}


def sources() -> dict[str, str]:
    """Returns the texts that claims come from, by their names in `said_by`."""
    return _ledger_file()["source"]


def verdict(claim: str, figures: Mapping[str, object], **conditions: str) -> None:
    """Shows the verdict box of a claim, and keeps the verdict and its figures as data in the cell's output.

    Arguments and errors are those of `judged`.
    """
    record = judged(claim, figures, **conditions)
    plain = f"{claim}: {ledger()[claim]['sentence']}\n"
    plain += outcome(record).replace(record["verdict"], record["verdict"].upper(), 1)
    plain += f"\n{record['finding']}" * bool(record["finding"])
    lines = [f"  {name.replace('_', ' ')}: {shown_of(record, name)}" for name in record["figures"]]
    display({MIME: record, "text/html": _box(record), "text/plain": "\n".join([plain, *lines])}, raw=True)


def judged(
    claim: str,
    figures: Mapping[str, object],
    *,
    finding: str = "",
    as_said: str = "",
    within: str = "",
    limits: str = "",
    scope: str = "",
    kind: str = "experiment",
    measured_on: str = "",
) -> dict:
    """Computes a claim's verdict from the figures, and returns the claim's record.

    Args:
        claim: the claim's id in the ledger.
        figures: the measured figures, numbers or effects; their names are Python names.
        finding: the result in a sentence, with one or two of the figures: "{wide:.0%} were right".
        as_said: the condition under which the claim holds as people say it, such as "wide > 0.9": a Python
            expression over the figures, with `min`, `max`, `abs` and `line`.
        within: the condition under which the claim holds only if something more is true. If it is met while `as_said`
            is undecided, so is the claim.
        limits: what that is, in words that go on from "holds only if"; for a claim that cannot be tested, the evidence
            that a test would take.
        scope: what was tried, in words that go on from "Tried:".
        kind: "experiment", "proof", "citation" or "cannot be tested".
        measured_on: one of `MEASURED_ON`; for a proof it is "arithmetic".
    Raises:
        KeyError: the ledger has no such claim.
        ValueError: there is no such kind, a figure is NaN, a condition is missing, or a condition or the finding uses
            an unknown figure.
        TypeError: a condition is not a comparison.
    """
    if claim not in ledger():
        raise KeyError(f"there is no claim {claim!r} in the ledger; it has {', '.join(ledger())}")
    if kind not in KINDS:
        raise ValueError(f"kind is {kind!r}; it must be one of {', '.join(KINDS)}")
    measured_on = {"experiment": measured_on, "proof": "arithmetic"}.get(kind, "")
    if kind == "experiment" and measured_on not in MEASURED_ON:
        raise ValueError(f"{claim}: measured_on is {measured_on!r}; it must be one of {', '.join(MEASURED_ON)}")
    if bool(within) != bool(limits) and kind != UNTESTABLE:
        raise ValueError(f"{claim}: give both a condition `within` and its `limits` in words, or neither")
    effects = {name: value for name, value in figures.items() if isinstance(value, Effect)}
    figures = {name: value if name in effects else plain(value) for name, value in figures.items()}
    unknown = [name for name, value in figures.items() if value != value]
    if unknown:
        raise ValueError(f"{claim}: the figure {unknown[0]!r} is NaN; a verdict needs numbers, so fix its measurement")
    if kind == UNTESTABLE:
        if not limits:
            raise ValueError(f"{claim}: `limits` is missing; say there what evidence a test would take")
        result = UNTESTABLE
    elif not as_said:
        raise ValueError(f"{claim}: the condition `as_said` is missing; give one, such as 'wide > 0.9'")
    else:
        holds, holds_within = condition(as_said, figures), bool(within) and condition(within, figures)
        if holds:
            result = HOLDS
        elif None in (holds, holds_within):
            result = UNDECIDED
            scope = ". Tried: ".join(filter(None, (f"it holds if {limits}" * bool(holds_within), scope)))
        else:
            result = WITHIN if holds_within else NOT
    figures |= {name: one.mean for name, one in effects.items()}
    try:
        finding = finding.format_map(figures)
    except KeyError as error:
        raise ValueError(f"{claim}: the finding uses {error}; the figures are {', '.join(figures)}") from None
    return {
        "id": claim, "kind": kind, "verdict": result, "finding": finding, "figures": figures,
        "effects": {name: asdict(one) for name, one in effects.items()},
        "as_said": as_said, "within": within, "limits": limits, "scope": scope, "measured_on": measured_on,
        "seed": course_seed(),
    }  # fmt: skip


def settled(claim: str) -> dict:
    """Returns the record of a claim that the claims page settles, with the arithmetic in the ledger.

    The figures are the numbers that the arithmetic computes; errors are those of `judged`.
    """
    case = ledger()[claim]["settled"]
    names = {"__name__": "a claim's arithmetic"}
    exec(case.get("arithmetic", ""), names)
    figures = {name: value for name, value in names.items() if isinstance(value, int | float)}
    conditions = {name: case[name] for name in ("finding", "as_said", "within", "limits", "scope") if name in case}
    return judged(claim, figures, kind=case["kind"], measured_on="arithmetic", **conditions)


def bounds(record: Mapping) -> str:
    """Returns in words what a claim needs in order to hold, and what was tried."""
    needed = record["limits"] if record["verdict"] in (WITHIN, UNTESTABLE) else ""
    return ". Tried: ".join(filter(None, (needed, record["scope"])))


def answer(verdict: str) -> str:
    """Returns a verdict as an answer without its bounds."""
    return verdict + " …" * (verdict == WITHIN)


def outcome(record: Mapping) -> str:
    """Returns the verdict in words, with its bounds."""
    joint = " " if record["verdict"] == WITHIN else ": "
    return joint.join(filter(None, (record["verdict"], bounds(record))))


def rests_on(record: Mapping) -> str:
    """Returns what a verdict depends on, or "" if nothing was measured.

    That is "this run", "records", "arithmetic", or, where a model that others trained reads them, "given sentences".
    """
    names = _compared(record["as_said"], record) | _compared(record["within"], record)
    if record["kind"] == "proof":
        return "arithmetic"
    if any("recorded" not in name and "counted" not in name for name in names):
        return "this run"
    if any("recorded" in name for name in names):
        return "records"
    if not names:
        return ""
    return "given sentences" if record["measured_on"] == "a real model" else "arithmetic"


def _compared(condition: str, record: Mapping) -> dict[str, object]:
    used = dict.fromkeys(re.findall(r"[^\W\d]\w*", condition))
    return {name: record["figures"][name] for name in used if name in record["figures"]}


def deciding(record: dict) -> dict[str, object]:
    """Returns the figures that the condition behind the verdict compares, in its order."""
    return _compared(record["within"] if record["verdict"] == WITHIN else record["as_said"], record)


def shown(value: float | str) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def shown_of(record: Mapping, figure: str) -> str:
    """Returns a figure as text; an effect has its interval, its unit and the unit's line."""
    one, value = record["effects"].get(figure), shown(record["figures"][figure])
    if one is None:
        return value
    ends = f"[{shown(one['low'])}, {shown(one['high'])}]"
    return f"{value} {ends} {one['unit']}, line {units()[one['unit']]['line']}, over {one['over']}"


def _box(record: dict) -> str:
    claim, result = ledger()[record["id"]], record["verdict"]
    sign, colour = SIGNS[result]
    where = f" on {record['measured_on']}" if record["kind"] == "experiment" else ""
    said = f"{html.escape(record['id'])} · {html.escape(claim['said_by'])} · {record['kind']}{where}"
    sentence = re.sub(r"\*(.+?)\*", r"<em>\1</em>", html.escape(claim["sentence"]))
    sense = f"<div>that is: {html.escape(claim['sense'])}</div>" if "sense" in claim else ""
    finding = html.escape(record["finding"])
    cells = "".join(
        f'<tr><th scope="row" style="text-align:left;font-weight:normal">{html.escape(name.replace("_", " "))}</th>'
        f'<td style="text-align:right">{html.escape(shown_of(record, name))}</td></tr>'
        for name in record["figures"]
    )
    conditions = "".join(
        f"<div>{words}: <code>{html.escape(record[name])}</code></div>"
        for name, words in (("as_said", "“holds” if"), ("within", "else “holds only if …” if"))
        if record[name]
    )
    return (
        f'<div role="note" aria-label="Verdict on claim {html.escape(record["id"])}" style="border-left:6px solid '
        f'{colour};padding:.5em 1em;margin:.5em 0;max-width:44em">'
        f'<div style="font-size:85%">{said}</div>'
        f'<div style="font-size:115%;margin:.2em 0">{sentence}</div>{sense}'
        f"<div><b>{sign} {result}</b>{html.escape(outcome(record)[len(result) :])}</div>"
        + (f'<div style="margin-top:.4em">{finding}</div>' if finding else "")
        + '<details style="font-size:85%;margin-top:.4em"><summary>All figures, and what decides</summary>'
        f'<table style="margin:.4em 0">{cells}</table>{conditions}</details></div>'
    )


def plain(value):
    """Turns numbers of any library into Python's own, with six digits, also inside containers."""
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    value = value.item() if hasattr(value, "item") else value
    return float(f"{value:.6g}") if isinstance(value, float) else value


# --- experiments -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Recorded:
    """Results of the recorded seeds, by variant.

    Args:
        label: their name in a figure's legend.
        made: when and where they were made: day, torch, processor, and its speed for a table of seconds.
    """

    results: dict[str, list]
    label: str
    made: str


class Experiment:
    """A function of a seed and a variant's settings that a lesson runs live or reads from its record."""

    def __init__(self, lesson: str, function: Callable, variants: dict[str, dict], seeds: int, alone: bool):
        self.file = records_folder() / "recorded" / f"{lesson}.json"
        self.function, self.variants, self.alone = function, variants, alone
        self.seeds = range(first := 1000 * data_draw() + 1, first + seeds)
        self.name = function.__name__

    def __call__(self, seed: int, **settings):
        return self.function(seed, **settings)

    def job(self, variant: str, seed: int | str) -> Callable[[], object]:
        """Returns a function without arguments that runs this variant with this seed."""
        return partial(self.function, seed, **self.variants[variant])

    def run(self, jobs: dict, finished: Callable[[str, object], None] | None = None) -> dict:
        """Runs the jobs like `side_by_side`, or one after the other if the experiment must run alone."""
        if not self.alone:
            return side_by_side(jobs, finished)
        results = {}
        for name, job in jobs.items():
            results[name] = job()
            if finished:
                finished(name, results[name])
        return results

    def live(self, *variants: str, seed: int | str | None = None) -> dict:
        """Runs these variants now, or all if none is named, and returns the results by variant.

        The seed is the course's by default. After `checked`, a `TrainedModel` has the seed that its lesson uses.
        """
        seed = course_seed() if seed is None else seed
        return plain(self.run({name: self.job(name, seed) for name in variants or self.variants}))

    def kept(self) -> dict[str, dict]:
        """Returns the file's record of each variant: `hash`, the fingerprint of its code, and `seeds`, the results."""
        kept = read_json(self.file).get(self.name, {})
        return {variant: kept.get(variant, {"hash": "", "seeds": {}}) for variant in self.variants}

    def hashes(self) -> dict[str, str]:
        """Returns today's fingerprint of each variant's code and settings."""
        return {variant: fingerprint(self.function, settings) for variant, settings in self.variants.items()}

    def recorded(self) -> Recorded:
        """Returns the results of `make record`, for seeds that the live run does not use.

        The label says so if other code made a record. Raises LookupError if there is no record or, in the tests'
        strict mode, if other code made it.
        """
        kept, hashes = self.kept(), self.hashes()
        wanted = [str(seed) for seed in self.seeds]
        absent = [v for v in kept if not set(wanted) <= set(kept[v]["seeds"])]
        stale = [v for v in kept if v not in absent and kept[v]["hash"] != hashes[v]]
        if absent or (stale and os.environ.get("COURSE_MODE") == "strict"):
            what = f"not recorded: {', '.join(absent)}" if absent else f"recorded by other code: {', '.join(stale)}"
            raise LookupError(f"{self.name} is {what}; `make record` records it")
        label = f"recorded: {len(wanted)} seeds" + (", by other code than this" if stale else "")
        made = "; ".join(sorted({machine for entry in kept.values() for machine in entry.get("made", [])}))
        return Recorded({v: [kept[v]["seeds"][seed] for seed in wanted] for v in kept}, label, made)


class Lesson:
    """Makes a lesson's experiments; in a notebook, it also says how long the lesson computes.

    In strict mode, which saves the lessons, it says nothing, since readers have other machines or none.

    >>> lesson = Lesson("rnn_bottleneck")
    >>> @lesson.experiment(variants={"fair": {"sides": 6}})
    ... def throw(seed, sides):
    ...     return seed % sides
    >>> throw.live()
    {'fair': 0}
    """

    def __init__(self, name: str):
        self.name = name
        live = in_a_notebook() and os.environ.get("COURSE_MODE") != "strict"
        if live and (minutes := speed.announce(self.name)):
            display(Markdown(minutes))

    def experiment(self, *, variants: dict[str, dict], seeds: int = 5, alone: bool = False) -> Callable:
        """Turns a function `f(seed, **settings)` that returns numbers, lists and dicts into an experiment.

        Args:
            variants: settings by name.
            seeds: number of recorded seeds.
            alone: nothing else may run at the same time, because the experiment measures time.
        """
        return lambda function: Experiment(self.name, function, variants, seeds, alone)

    def model(self, *, build: Callable, ability: Callable, what: str, at_least: float) -> Callable:
        """Turns a function `f(seed)` that trains a model into a `TrainedModel`, which explains the arguments."""
        return lambda train: TrainedModel(train, build, ability, what, at_least)


def shown_as(mime: str, notebook) -> list:
    """Returns the data of this type in the outputs of a notebook, a dict from nbformat."""
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", [])]
    return [output["data"][mime] for output in outputs if mime in output.get("data", {})]


def boxes(notebook) -> list[dict]:
    """Returns the records of all verdict boxes in the outputs of a notebook."""
    return shown_as(MIME, notebook)


def missing_boxes(notebook, lesson: str) -> set[str]:
    """Returns the claims that this lesson tests according to the ledger, but whose verdict box is missing."""
    tested = {i: claim["tested_in"] for i, claim in ledger().items() if isinstance(claim["tested_in"], list)}
    return {i for i, lessons in tested.items() if lesson in lessons} - {box["id"] for box in boxes(notebook)}
