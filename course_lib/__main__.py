"""Whatever a user does, one verb each: `python3 -m course_lib` lists them.

Each verb first makes sure that the environment is there, so this file starts on a bare Python, as `environment` does,
and its grammar stays that of Python 3.6.
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

from course_lib.files import DATA, ROOT
from course_lib.tools.environment import EXTRAS_MB, go_where_complete, require_python


@contextlib.contextmanager
def clean_run(**variables):
    """The environment of a run that depends neither on earlier trainings nor on the number of cores."""
    threads = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory(prefix="course-cache-") as cache:
        yield {**os.environ, **threads, "COURSE_CACHE": cache, **variables}


def configure_jupyter(*more):
    """Puts the course's settings for Jupyter, and folders with more, before those that the environment names."""
    folders = [*map(str, more), str(DATA / "jupyter"), os.environ.get("JUPYTER_CONFIG_PATH")]
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, folders))


def as_root():
    """What Jupyter wants to hear before it starts for root."""
    return ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []


# ---- the verbs ----


def setup(arguments):
    """make the environment and nothing else"""
    print(f"The environment is ready: {sys.prefix}")


def lab(arguments):
    """start JupyterLab on the start page (--no-browser, --port=8899 ... are passed on)"""
    configure_jupyter()
    from jupyterlab.labapp import LabApp

    from course_lib.tools import lessons, web

    workbook([])
    web.write_models()
    lessons.trust(lessons.find())
    server = LabApp.initialize_server(argv=[f"--ServerApp.root_dir={ROOT}", *as_root(), *arguments])
    if not server.identity_provider.token_generated:  # else Jupyter itself prints the address
        print(f"JupyterLab is at\n    {server.display_url}", flush=True)
    server.start()


def workbook(arguments):
    """put lessons and exercises into workbook/ to work in; what you have changed there stays as it is"""
    from course_lib.tools import workbook

    new, renewed, newer = workbook.make()
    if new:
        print(
            f"workbook/ has {len(new)} new files. Work there: what you change, an update of the course never touches."
        )
    if renewed:
        print(f"Renewed in workbook/, where you had not changed them: {', '.join(renewed)}")
    if newer:
        print(f"Newer in this version of the course, and put beside your files in workbook/: {', '.join(newer)}")


IN_TWO_PROCESSES = "-n2", "--dist=loadfile"  # a file's tests stay in one: they share what is dear to make


def test(arguments):
    """run every check: ruff, the quick tests, the lessons (arguments go to pytest)"""
    return test_all(["-m", "not large", *arguments])


def test_all(arguments):
    """run every check with every sweep: all pages, all widths, all slides, large classes (an hour and more)"""
    nbval = "--nbval-lax", "--nbval-current-env", "--nbval-cell-timeout=900"
    # In the order of the tests: the browser comes last and finds the models that the lessons have trained.
    return ruff_and_pytest([*IN_TWO_PROCESSES, "--no-loadscope-reorder", *nbval, *arguments])


def check(arguments):
    """run the quick part: ruff and the tests that execute no lesson (arguments go to pytest)"""
    quick = "not notebook and not browser and not slow and not large"
    return ruff_and_pytest(["-p", "no:nbval", "-m", quick, *IN_TWO_PROCESSES, *arguments])


def ruff_and_pytest(arguments):
    commands = [["ruff", "check"], ["ruff", "format", "--check"], ["pytest", *arguments]]
    with clean_run(COURSE_MODE="strict") as environment:
        codes = [subprocess.run([sys.executable, "-m", *c], env=environment).returncode for c in commands]
    return next(filter(None, codes), 0)


def notebooks(arguments):
    """execute the lessons and save them in place (all, or those named: 01 02 exercises/03)"""
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
    """put today's modules and styles of the widgets into the saved lessons, without executing them"""
    from course_lib.tools import lessons, saved_widgets

    named = {path.name for path in lessons.find(arguments)}  # a lesson's exercises are called like it
    paths = [path for path in [*lessons.find(), *lessons.find(folder="exercises")] if path.name in named]
    renewed = [path.name for path in paths if saved_widgets.renew(path)]
    print(*renewed, f"{len(renewed)} notebooks had old widgets", sep="\n")


def format(arguments):
    """format the library, the tests and the notebooks"""
    commands = [["ruff", "check", "--fix"], ["ruff", "format"]]
    codes = [subprocess.run([sys.executable, "-m", *c]).returncode for c in commands]
    return next(filter(None, codes), 0)


def record(arguments):
    """run the lessons' experiments with all seeds and variants, and record them (all, or those named)"""
    from course_lib.tools import lessons, recording

    with clean_run(COURSE_MODE="strict") as environment:
        for path in lessons.find(arguments):
            recording.record_lesson(path, environment)


def restamp(arguments):
    """REVISION [STEPS]: where the code has changed since and results have not, give the records today's hash"""
    from course_lib.tools import restamp

    revision, *steps = arguments or [""]
    if not revision or len(steps) > 1 or not all(number.isdigit() and int(number) for number in steps):
        sys.exit(
            "restamp wants the revision whose code made the records, for example: make restamp REVISION=HEAD~3; "
            "and, if 20 steps of each training are not to be enough, how many: ARGS=50"
        )
    with clean_run(COURSE_MODE="") as environment:
        left = restamp.restamp(revision, environment, *map(int, steps))
    print(*left, f"{len(left)} variants stay stale" + ("; `make record` records them" if left else ""), sep="\n")


def seeds(arguments):
    """N [lesson ...]: execute the lessons with N fresh seeds under two instruction sets, keep each claim's verdicts"""
    from course_lib.tools import lessons, seeds

    if not arguments or not arguments[0].isdigit() or int(arguments[0]) == 0:
        sys.exit("seeds wants the number of seeds first, for example: make seeds N=10")
    for path in lessons.find(arguments[1:]):
        for run in seeds.still_to_run(path, int(arguments[0])):
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


def pages(arguments):
    """write the glossary's index and the claims page anew, from the entries and the lessons' verdict boxes"""
    from course_lib.tools import pages

    for file in pages.write():
        print(f"{file.relative_to(ROOT)} is written")


def bench(arguments):
    """compare the speed of attention and the Transformer with textbook forms and torch's modules (three minutes)"""
    import torch

    from course_lib import speed
    from course_lib.tools import bench, bench_in_page

    torch.set_num_threads(1)
    print(f"{speed.machine()}, one thread\n")
    for measured in (*bench.ALL, bench_in_page.explorers):
        for told in measured():
            print(told, flush=True, end="\n\n")


def mutants(arguments):
    """[exercise ...]: change the reference solutions by rule, see what the checks say (all, or those named: 03)"""
    import torch

    from course_lib.tools import edges, lessons, mutants, relations, rewrapped

    torch.set_num_threads(1)
    holes = []
    for notebook in lessons.find(arguments, "exercises"):
        for solution, became in mutants.report(notebook):
            counts = ", ".join(f"{len(those)} {kind}" for kind, those in became.items() if those)
            print(f"{solution.name:<22}", counts, flush=True)
            two = mutants.doubled(solution, became[mutants.DESCRIBED], mutants.PAIRS)
            counted = ", ".join(f"{many} {how}" for how, many in Counter(how for how, _ in two).items())
            print(f"{'':<22} two at once:", counted or "no two names", flush=True)
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
    """[exercise ...] [--due DATE]: make the student versions of the exercises (all, or those named: 03)"""
    from course_lib.grading import course

    options = parse("release", arguments, "names", due=None)
    here = course.Course.here()
    for line in course.release(here, course.sources(), options.names, options.due):
        print(line, flush=True)


def collect(arguments):
    """ARCHIVE [exercise] [--worksheet FILE] [--trust-dates]: take submissions out of the ZIP of Moodle or Canvas"""
    from course_lib.grading import collect
    from course_lib.grading.course import Course

    options = parse("collect", arguments, "archive", "names", worksheet=None, trust_dates=False)
    here = Course.here()
    named = here.find(options.names)[0] if options.names else None
    worksheet = Path(options.worksheet) if options.worksheet else None
    found = collect.collect(here, Path(options.archive), named, worksheet, options.trust_dates)
    for line in found.told:
        print(line)
    print(f"{found.assignment}: {len(found.students)} collected, {len(found.told)} remarks")


def grade(arguments):
    """[exercise ...] [--again] [--unsandboxed]: grade what is missing or has changed (--again: everything)"""
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
    """open nbgrader's formgrader, for manual marks and comments (--no-browser ... are passed on)"""
    from jupyterlab.labapp import LabApp

    from course_lib.grading import formgrader as guarded
    from course_lib.grading.course import Course

    here = Course.here()
    here.find()
    guarded.guard()
    configure_jupyter(ROOT)
    extension = "nbgrader.server_extensions.formgrader"
    LabApp.launch_instance(
        argv=[f"--ServerApp.root_dir={here.folder}", f"--ServerApp.jpserver_extensions={extension}=True",
              "--ServerApp.default_url=/formgrader", "--LabApp.default_url=/formgrader", *as_root(), *arguments]
    )  # fmt: skip


def feedback(arguments):
    """[exercise ...]: write each learner's feedback as a page, and a ZIP for Moodle; hidden tests are not shown"""
    from course_lib.grading import report, returning
    from course_lib.grading.course import Course, shown

    here = Course.here()
    assignments = here.find(parse("feedback", arguments, "names").names)
    pages, without = report.write_feedback(here, assignments)
    for line in without:
        print(f"no feedback for {line}")
    print(f"{len(pages)} pages in {shown(here.path('feedback'))}")
    for assignment in assignments:
        file = returning.archive(here, assignment)
        if file:
            print(f"{shown(file)} for Moodle")


def grades(arguments):
    """[exercise ...] [--into SHEET [--column NAME]]: write marks and reasons as CSV, or fill a platform's sheet"""
    from course_lib.grading import report, returning
    from course_lib.grading.course import Course, CourseError, shown

    options = parse("grades", arguments, "names", into=None, column="Grade")
    here = Course.here()
    assignments = here.find(options.names)
    if options.into is None:
        for assignment in assignments:
            print(shown(report.write_grades(here, assignment)))
        return
    if len(assignments) != 1:
        raise CourseError(f"A sheet is of one assignment; name it, as in ARGS='03 --into={options.into}'.")
    file, told = returning.fill(here, assignments[0], Path(options.into), options.column)
    print(*told, shown(file), sep="\n")


def parse(verb, arguments, *places, **options):
    """Reads a verb's arguments: `names` may be none or many, another place is one; an option False is a switch."""
    parser = argparse.ArgumentParser(prog=f"python3 -m course_lib {verb}", description=VERBS[verb].__doc__)
    for place in places:
        parser.add_argument(place, **({"nargs": "*"} if place == "names" else {}))
    for option, value in options.items():
        parser.add_argument(f"--{option}", **({"action": "store_true"} if value is False else {"default": value}))
    return parser.parse_args(arguments)


# ---- lectures and the site ----


def slides(arguments):
    """make the decks of the lessons in build/slides, which need no network (all, or those named: 01 02)"""
    from course_lib.tools import slides

    for deck in slides.build(arguments):
        print(deck.relative_to(ROOT))


def site(arguments):
    """make the site in build/site: lessons, exercises, glossary, claims, the library's reference"""
    from course_lib.tools import site

    print(site.build().relative_to(ROOT))


def warm(arguments):
    """do before a lecture what takes time: train and keep the models, make the decks (all lessons, or those named)"""
    from course_lib.tools import lessons

    for path in lessons.find(arguments):
        lessons.execute(path, dict(os.environ))
    slides(arguments)
    print("The trained models are kept, and lessons and decks need no network.")


IN_CLASS = (release, collect, grade, formgrader, feedback, grades)
ON_SHOW = (slides, site, warm)
ALL = (
    setup,
    lab,
    workbook,
    test,
    test_all,
    check,
    notebooks,
    widgets,
    format,
    record,
    restamp,
    seeds,
    pages,
    bench,
    mutants,
    *ON_SHOW,
    *IN_CLASS,
)
VERBS = {verb.__name__.replace("_", "-"): verb for verb in ALL}
NEEDED = {
    **dict.fromkeys((test, test_all, check, format), set(EXTRAS_MB)),
    **dict.fromkeys((lab, notebooks, record, restamp, seeds, bench), {"real"}),
    **dict.fromkeys(IN_CLASS, {"teach"}),
    **dict.fromkeys((slides, site), {"web"}),
    warm: {"real", "web"},
}


def main(arguments):
    if not arguments or arguments[0] not in VERBS:
        if arguments:
            print(f"There is no verb {arguments[0]!r}.", file=sys.stderr)
        print('usage: python3 -m course_lib VERB ARGUMENTS, or make VERB ARGS="ARGUMENTS"\n')
        for name, verb in VERBS.items():
            print(f"  {name:<10} {verb.__doc__}")
        return 2 if arguments else 0
    require_python()
    os.chdir(ROOT)
    verb = VERBS[arguments[0]]
    elsewhere = go_where_complete(NEEDED.get(verb, set()), arguments)
    return verb(arguments[1:]) if elsewhere is None else elsewhere


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
