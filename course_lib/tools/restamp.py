"""Carries records over a change of the code that leaves their results as they were.

Of every stale variant one seed is run by today's code. Where the result is not the recorded one, to the last digit and
measured seconds apart, the revision's code runs it too, on this machine, since machines differ in the third digit.
Where the two are equal, the record gets today's hash.
"""

import inspect
import io
import subprocess
import tarfile
import textwrap
import types
from collections import defaultdict
from pathlib import Path

import nbformat

from course_lib.claims import Experiment, plain
from course_lib.curriculum import name_of
from course_lib.files import DATA, ROOT, read_json, write_json
from course_lib.tools import lessons, recording

CLOCKS = "seconds", "validated_at"  # the latter is in a training's History


def restamp(revision: str, environment: dict) -> list[str]:
    """Renews the hashes of what has not changed since the revision; returns what stays stale, each with the reason.

    What was run is kept in build/restamp, so that it goes on from there when it is called again.
    """
    folder = unpacked(revision)
    environment = {**environment, "COURSE_CACHE": str(folder.parent / "cache")}
    (folder / "now").mkdir(exist_ok=True)
    (folder / "then").mkdir(exist_ok=True)
    stale = {}
    for path in lessons.find():
        stale |= run_today(path, folder, environment)
    notebooks = experiments_then(folder)
    then = defaultdict(dict)  # by notebook of the revision: what to run in it
    for (lesson, experiment), variants in stale.items():
        unlike = {variant: one for variant, one in variants.items() if not one["like the record"]}
        found = [path for path in notebooks if experiment in notebooks[path]]
        found = [path for path in found if name_of(path) == lesson] or found
        if unlike and len(found) == 1:
            then[found[0]][experiment] = (lesson, unlike)
    for path, wanted in then.items():
        run_then(path, wanted, folder, environment)
    return [line for (lesson, name), variants in stale.items() for line in carry(lesson, name, variants, folder)]


def unpacked(revision: str) -> Path:
    """A folder for this revision, with its files in `tree`."""
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


def run_today(path: Path, folder: Path, environment: dict) -> dict:
    """By (lesson, experiment): the stale variants of a lesson, which `today` has run."""
    told = folder / "now" / f"{path.stem}.stale.json"
    told.unlink(missing_ok=True)
    module = "course_lib.tools"
    first = (
        f"import {module}.restamp\n"
        f"{module}.recording.before_reading(lambda experiment: {module}.restamp.today(experiment, {str(told)!r}))"
    )
    notebook = recording.up_to_the_last_record(nbformat.read(path, as_version=4), first)
    if notebook.cells:
        lessons.execute(path, environment, notebook)
    return {(name_of(path), experiment): variants for experiment, variants in read_json(told).items()}


def today(experiment: Experiment, told: str) -> None:
    """In a lesson: runs a seed of each stale variant, and adds to the file `told` which they are.

    A variant that only the rule of hashing makes stale, while the revision's rule calls it fresh, gets its new hash.
    """
    told = Path(told)
    rule = types.ModuleType("course_lib.fingerprint")
    exec((told.parents[1] / "tree" / "course_lib" / "fingerprint.py").read_text(encoding="utf-8"), vars(rule))
    entries, stale = experiment.kept(), {}
    for variant, new in experiment.hashes().items():
        entry = entries[variant]
        if entry["hash"] == new or not entry["seeds"]:
            continue
        if entry["hash"] == rule.fingerprint(experiment.function, experiment.variants[variant]):
            entry["hash"] = new
        else:
            stale[variant] = {"hash": new, "seed": int(next(iter(entry["seeds"])))}
    if entries != experiment.kept():
        recording.write(experiment, entries)
    if stale:
        file = told.with_name(told.name.replace("stale", experiment.name))
        run_one_seed(experiment, {f"{one['hash']} {v}": (v, one["seed"]) for v, one in stale.items()}, str(file))
        results = read_json(file)
        for variant, one in stale.items():
            one["now"] = without_clocks(results[f"{one['hash']} {variant}"])
            recorded = entries[variant]["seeds"][str(one["seed"])]
            one["like the record"] = plain(one["now"]) == without_clocks(recorded)
        write_json(told, read_json(told) | {experiment.name: stale})


def run_one_seed(experiment, wanted: dict, file: str) -> None:
    """Adds results to the file, by label: wanted has a variant and a seed for each. What is there is not run again.

    It stands by itself (imports inside), since its source is sent to a revision's kernel.
    """
    import json
    from functools import partial
    from pathlib import Path

    from course_lib.processes import side_by_side

    def exact(value):
        if isinstance(value, dict):
            return {str(name): exact(item) for name, item in value.items()}
        if isinstance(value, list | tuple):
            return [exact(item) for item in value]
        return value.tolist() if hasattr(value, "tolist") else value

    done = json.loads(Path(file).read_text(encoding="utf-8")) if Path(file).exists() else {}

    def keep(label, result):
        done[label] = exact(result)
        Path(file).write_text(json.dumps(done), encoding="utf-8")

    jobs = {
        label: partial(experiment.function, seed, **experiment.variants[variant])
        for label, (variant, seed) in wanted.items()
        if label not in done and variant in experiment.variants
    }
    if not experiment.alone:
        side_by_side(jobs, keep)
    for label, job in jobs.items() if experiment.alone else ():
        keep(label, job())


def experiments_then(folder: Path) -> dict[Path, set[str]]:
    """The notebooks of the revision, and which experiments each defines."""
    paths = sorted((folder / "tree" / "notebooks").glob("[0-9]*.ipynb"))
    cells = {path: nbformat.read(path, as_version=4).cells for path in paths}
    return {path: {name for cell in cells[path] for name in recording.defined_in(cell)} for path in paths}


def run_then(path: Path, wanted: dict, folder: Path, environment: dict) -> None:
    """Executes a notebook of the revision with its own library, and runs what is wanted of it."""
    runs = {
        name: ({v: (v, one["seed"]) for v, one in variants.items()}, str(folder / "then" / f"{lesson}.{name}.json"))
        for name, (lesson, variants) in wanted.items()
    }
    body = f"""{inspect.getsource(run_one_seed)}
{inspect.getsource(recording.before_reading)}
runs = {runs!r}
before_reading(lambda e: e.function.__name__ in runs and run_one_seed(e, *runs[e.function.__name__]))
"""
    first = f"def restamp():\n{textwrap.indent(body, '    ')}\nrestamp()\ndel restamp"
    notebook = recording.up_to_the_last_record(nbformat.read(path, as_version=4), first)
    lessons.execute(path, {**environment, "PYTHONPATH": str(folder / "tree")}, notebook)


# ---- the comparison ----


def carry(lesson: str, experiment: str, variants: dict, folder: Path) -> list[str]:
    """Gives today's hash to the variants whose results are equal; returns the others, each with the reason."""
    then, left = read_json(folder / "then" / f"{lesson}.{experiment}.json"), []
    file = DATA / "recorded" / f"{lesson}.json"
    every = read_json(file)
    for variant, one in variants.items():
        entry = every[experiment][variant]
        if one["like the record"] or (variant in then and without_clocks(then[variant]) == one["now"]):
            carried = [*entry.get("carried", []), folder.name]
            every[experiment][variant] = {**entry, "hash": one["hash"], "carried": carried, "seeds": entry["seeds"]}
        else:
            reason = "the results differ" if variant in then else "the revision does not have it"
            left.append(f"{lesson}, {experiment}, {variant}: {reason}")
    write_json(file, every)
    return left


def without_clocks(result):
    """A result without the figures that a clock gave, which their names tell."""
    if isinstance(result, dict):
        return {name: without_clocks(value) for name, value in result.items() if not any(c in name for c in CLOCKS)}
    return result
