"""The Dockerfile for Binder and JupyterHub: linted, and true to what the course offers. No engine is asked for."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from course_lib import __main__ as front_door

ROOT = Path(__file__).parent.parent
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def untrue(dockerfile):
    """What the file says of the course that is not so."""
    (python,) = re.findall(r"^FROM python:([\d.]+)", dockerfile, re.MULTILINE)
    verbs = re.findall(r'course_lib"?,? "?(\w+)', dockerfile)
    extras = re.findall(r'"\.\[(\w+)\]"', dockerfile)
    copied = re.findall(r"--constraint (\S+)|\$\{COURSE\}/(course_lib\S*)", dockerfile)
    return (
        ([] if python in SpecifierSet(PROJECT["requires-python"]) else [f"Python {python}"])
        + [f"verb {verb}" for verb in verbs if verb not in front_door.VERBS]
        + [f"extra {extra}" for extra in extras if extra not in PROJECT["optional-dependencies"]]
        + [f"file {name}" for names in copied for name in names if name and not (ROOT / name).exists()]
    )


def test_the_dockerfile_says_what_is_so():
    assert untrue(DOCKERFILE) == []


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("python:3.12", "python:3.10", "Python 3.10"),
        ("course_lib lab", "course_lib labs", "verb labs"),
        ('"course_lib", "lab"', '"course_lib", "labs"', "verb labs"),
        (".[hub]", ".[hubs]", "extra hubs"),
        ("constraints.txt", "constraint.txt", "file constraint.txt"),
        ("course_lib/data/jupyter", "course_lib/data/jupiter", "file course_lib/data/jupiter"),
    ],
)
def test_what_is_not_so_is_found(old, new, told):
    assert old in DOCKERFILE
    assert untrue(DOCKERFILE.replace(old, new)) == [told]


def lint(dockerfile):
    hadolint = Path(sys.executable).parent / "hadolint"
    return subprocess.run([hadolint, "-"], input=dockerfile, text=True, capture_output=True).stdout


@pytest.mark.skipif(sys.platform == "win32", reason="hadolint comes for Linux and macOS")
def test_the_dockerfile_passes_the_linter_and_a_careless_one_does_not():
    assert lint(DOCKERFILE) == ""
    assert "DL3006" in lint(DOCKERFILE.replace("python:3.12-slim", "python"))
