"""Gives stale records today's hash if the change of code didn't change their results.

For every stale variant, and every model with kept weights, it runs one seed twice on this machine: with today's code
and with the code of the revision that made the record. Each run has at most `steps` steps. If by then the results agree
to `ROUNDING`, the code does the same; sums in another order differ by less. Times are not compared.
"""

import inspect
import io
import math
import re
import subprocess
import tarfile
import textwrap
import types
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import nbformat
import torch

from course_lib import trained
from course_lib.claims import Experiment
from course_lib.curriculum import name_of
from course_lib.files import DATA, ROOT, read_json, replacing, write_json
from course_lib.tools import lessons, recording
from course_lib.trained import TrainedModel

WEIGHTS = "its weights"  # takes the place of a variant for a model
CLOCK = re.compile(r".*seconds.*|(validated_)?at")  # the last two are in a run's History
ROUNDING = 1e-3  # share of a number


def restamp(revision: str, environment: dict, steps: int = 20) -> list[str]:
    """Renews the hashes of what hasn't changed since the revision; returns what stays stale, with reasons.

    Finished runs are kept in build/restamp, so the next call continues from there.
    """
    folder = unpacked(revision)
    environment = {**environment, "COURSE_CACHE": str(folder.parent / "cache")}
    (folder / "now").mkdir(exist_ok=True)
    (folder / "then").mkdir(exist_ok=True)
    stale = {}
    for path in lessons.find():
        stale |= run_today(path, folder, environment, steps)
    notebooks = defined_then(folder)
    then = defaultdict(dict)  # what to run, by notebook of the revision
    for (lesson, name), variants in stale.items():
        found = [path for path in notebooks if name in notebooks[path]]
        found = [path for path in found if name_of(path) == lesson] or found
        if len(found) == 1:
            then[found[0]][name] = (lesson, variants)
    for path, wanted in then.items():
        run_then(path, wanted, folder, environment, steps)
    return [line for (lesson, name), found in stale.items() for line in carry(lesson, name, found, folder, steps)]


def unpacked(revision: str) -> Path:
    """Returns a folder for this revision, with its files in `tree`."""
    git = ["git", "-C", str(ROOT)]
    done = subprocess.run([*git, "rev-parse", "--short=10", f"{revision}^{{commit}}"], capture_output=True, text=True)
    if done.returncode:
        raise lessons.LessonError(f"There is no revision {revision!r}; name a commit, such as HEAD~3 or a1b2c3d.")
    folder = ROOT / "build" / "restamp" / done.stdout.strip()
    if not (folder / "tree").exists():
        archive = subprocess.run([*git, "archive", folder.name], capture_output=True, check=True).stdout
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(folder / "part", filter="data")
        (folder / "part").rename(folder / "tree")
    return folder


# ---- runs by today's code, and by the revision's ----


def run_today(path: Path, folder: Path, environment: dict, steps: int) -> dict:
    """Runs a lesson's stale variants with `today`; returns them by (lesson, name of experiment or model)."""
    told = folder / "now" / f"{path.stem}.stale.json"
    told.unlink(missing_ok=True)
    module = "course_lib.tools.restamp"
    first = f"import {module}\n{module}.before_reading(lambda one: {module}.today(one, {str(told)!r}, {steps}))"
    notebook = recording.up_to_the_last_record(nbformat.read(path, as_version=4), first)
    if notebook.cells:
        lessons.execute(path, environment, notebook)
    return {(name_of(path), name): variants for name, variants in read_json(told).items()}


def today(one: Experiment | TrainedModel, told: str, steps: int) -> None:
    """Runs one seed of each stale variant in a lesson's kernel, and adds the variants to the file `told`."""
    told = Path(told)
    name = one.function.__name__ if isinstance(one, Experiment) else one.__name__
    find = stale_variants if isinstance(one, Experiment) else stale_weights
    stale = find(one, rule_then(told.parents[1] / "tree"))
    if not stale:
        return
    file = told.with_name(told.name.replace("stale", name))
    labels = {variant: f"{found['hash']} {label(variant, steps)}" for variant, found in stale.items()}
    run_one_seed(one, {labels[v]: (v, found["seed"]) for v, found in stale.items()}, str(file), steps)
    results = read_json(file)
    for variant, found in stale.items():
        found["now"] = without_clocks(results[labels[variant]])
    write_json(told, read_json(told) | {name: stale})


def label(name: str, steps: int) -> str:
    return f"{name}, {steps} steps"


def rule_then(tree: Path) -> Callable[..., str]:
    """Returns the revision's `fingerprint`."""
    rule = types.ModuleType("course_lib.fingerprint")
    exec((tree / "course_lib" / "fingerprint.py").read_text(encoding="utf-8"), vars(rule))
    return rule.fingerprint


def stale_variants(experiment: Experiment, then: Callable[..., str]) -> dict[str, dict]:
    """Returns the hash and seed of each. If only the rule of hashing changed, the variant gets its new hash instead."""
    entries, stale = experiment.kept(), {}
    for variant, new in experiment.hashes().items():
        entry = entries[variant]
        if entry["hash"] == new or not entry["seeds"]:
            continue
        if entry["hash"] == then(experiment.function, experiment.variants[variant]):
            entry["hash"] = new
        else:
            stale[variant] = {"hash": new, "seed": int(next(iter(entry["seeds"])))}
    if entries != experiment.kept():
        recording.write(experiment, entries)
    return stale


def stale_weights(model: TrainedModel, then: Callable[..., str]) -> dict[str, dict]:
    """Returns the same for a model, whose weights are one variant."""
    kept, new = model.kept(), model.hash()
    if kept["hash"] == new:
        return {}
    if kept["hash"] == then(model.train):
        renew_weights(model.file, new)
        return {}
    return {WEIGHTS: {"hash": new, "seed": kept["seed"]}}


def before_reading(do) -> None:
    """Makes a kernel call `do` with each experiment and model just before it is read, and trains no other.

    Live runs are read from the record. The imports are inside, since the source is sent to a revision's kernel.
    """
    from course_lib.claims import Experiment
    from course_lib.trained import TrainedModel

    run, read, load = Experiment.live, Experiment.recorded, TrainedModel.recorded

    def live(experiment, *variants, seed=None):
        kept = experiment.kept()
        runs = {name: list(kept[name]["seeds"].values()) for name in variants or kept}
        return {name: found[0] for name, found in runs.items()} if all(runs.values()) else run(experiment, *variants)

    def recorded(experiment):
        do(experiment)
        return read(experiment)

    def loaded(model):
        do(model)
        return load(model)

    Experiment.live, Experiment.recorded = live, recorded
    TrainedModel.checked = TrainedModel.recorded = loaded


def run_one_seed(one, wanted: dict, file: str, most: int) -> None:
    """Runs a variant and a seed for each label of `wanted`, with at most `most` steps, and adds results to the file.

    Results already in the file are kept. A model's result is the norm of each weight matrix. A bias that changes no
    result, such as that of the keys, only gathers rounding. The imports are inside, since the source is sent to a
    revision's kernel.
    """
    import functools
    import json
    from pathlib import Path

    from course_lib.processes import side_by_side

    def exact(value):
        if isinstance(value, dict):
            return {str(name): exact(item) for name, item in value.items()}
        if isinstance(value, list | tuple):
            return [exact(item) for item in value]
        return value.tolist() if hasattr(value, "tolist") else value

    def weights(train, seed):
        matrices = {name: weight for name, weight in train(seed).state_dict().items() if weight.dim() > 1}
        return {name: weight.double().norm().item() for name, weight in matrices.items()}

    def shortened(job, *given, **settings):
        from course_lib import training

        whole = training.train

        @functools.wraps(whole)
        def train(*arguments, steps, **others):
            return whole(*arguments, steps=min(steps, most), **others)

        training.train = train
        try:
            return job(*given, **settings)
        finally:
            training.train = whole

    done = json.loads(Path(file).read_text(encoding="utf-8")) if Path(file).exists() else {}

    def keep(label, result):
        done[label] = exact(result)
        Path(file).write_text(json.dumps(done), encoding="utf-8")

    variants = getattr(one, "variants", None)
    jobs = {
        label: functools.partial(shortened, one.function, seed, **variants[variant])
        if variants
        else functools.partial(shortened, weights, one.train, seed)
        for label, (variant, seed) in wanted.items()
        if label not in done and (not variants or variant in variants)
    }
    alone = getattr(one, "alone", False)
    if not alone:
        side_by_side(jobs, keep)
    for label, job in jobs.items() if alone else ():
        keep(label, job())


def defined_then(folder: Path) -> dict[Path, set[str]]:
    """Returns the revision's notebooks, and the experiments and models that each defines."""
    paths = sorted((folder / "tree" / "notebooks").glob("[0-9]*.ipynb"))
    cells = {path: nbformat.read(path, as_version=4).cells for path in paths}
    return {path: {name for cell in cells[path] for name in recording.defined_in(cell)} for path in paths}


def run_then(path: Path, wanted: dict, folder: Path, environment: dict, steps: int) -> None:
    """Executes a notebook of the revision with its own library, and runs what is wanted from it."""
    runs = {
        name: (
            {label(variant, steps): (variant, one["seed"]) for variant, one in variants.items()},
            str(folder / "then" / f"{lesson}.{name}.json"),
            steps,
        )
        for name, (lesson, variants) in wanted.items()
    }
    body = f"""{inspect.getsource(run_one_seed)}
{inspect.getsource(before_reading)}
runs = {runs!r}
def run(one):
    name = getattr(one, "function", one).__name__
    if name in runs:
        run_one_seed(one, *runs[name])
before_reading(run)
"""
    first = f"def restamp():\n{textwrap.indent(body, '    ')}\nrestamp()\ndel restamp"
    notebook = recording.up_to_the_last_record(nbformat.read(path, as_version=4), first)
    lessons.execute(path, {**environment, "PYTHONPATH": str(folder / "tree")}, notebook)


# ---- the comparison ----


def carry(lesson: str, name: str, variants: dict, folder: Path, steps: int) -> list[str]:
    """Gives today's hash to variants whose results agree; returns the others with reasons."""
    then, left = read_json(folder / "then" / f"{lesson}.{name}.json"), []
    for variant, one in variants.items():
        run = label(variant, steps)
        before = without_clocks(then.get(run))
        if run in then and agree(before, one["now"]):
            rounded = "" if before == one["now"] else ", up to rounding"
            renew(lesson, name, variant, one["hash"], label(folder.name, steps) + rounded)
        else:
            reason = "the results differ" if run in then else "the revision does not have it"
            left.append(f"{lesson}, {name}, {variant}: {reason}")
    return left


def renew(lesson: str, name: str, variant: str, code: str, carried: str) -> None:
    """Writes today's hash into a record, or into a file of weights."""
    if variant == WEIGHTS:
        renew_weights(trained.FOLDER / f"{name}.pt", code)
        return
    file = DATA / "recorded" / f"{lesson}.json"
    every = read_json(file)
    entry = every[name][variant]
    carried = [*entry.get("carried", []), carried]
    every[name][variant] = {**entry, "hash": code, "carried": carried, "seeds": entry["seeds"]}
    write_json(file, every)


def renew_weights(file: Path, code: str) -> None:
    with replacing(file) as beside:
        torch.save({**torch.load(file, weights_only=True), "hash": code}, beside)


def agree(one, other) -> bool:
    """Says whether two results have the same parts, and numbers that differ by rounding only."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(agree(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(agree, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=ROUNDING, abs_tol=1e-6) or math.isnan(one) and math.isnan(other)
    return one == other


def without_clocks(result):
    """Returns a result without times, which it recognises by name."""
    if isinstance(result, dict):
        return {name: without_clocks(value) for name, value in result.items() if not CLOCK.fullmatch(name)}
    return result
