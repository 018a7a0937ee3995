"""pyproject.toml, environment.yml and constraints.txt say the same."""

import importlib.metadata
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from rattler import MatchSpec

from course_lib.tools import environment

ROOT = Path(__file__).parent.parent
PYPROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
ENVIRONMENT = (ROOT / "environment.yml").read_text(encoding="utf-8")
PROJECT = tomllib.loads(PYPROJECT)["project"]
PIP_NAMES = {"pytorch-cpu": "torch"}


def requirements(lines):
    return {canonicalize_name(r.name): r.specifier for r in map(Requirement, lines)}


def pinned():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return requirements(line for line in lines if not line.startswith("#"))


def differences(pyproject, environment):
    """What to change so that both files ask for the same packages within the same bounds."""
    project = tomllib.loads(pyproject)["project"]
    pip = requirements(project["dependencies"] + project["optional-dependencies"]["lab"])  # a later bound counts
    lines = [line for line in yaml.safe_load(environment)["dependencies"] if isinstance(line, str)]
    conda = {}
    for spec in (MatchSpec(line, strict=True) for line in lines):
        name = spec.name.normalized
        if name not in ("python", "pip"):  # conda must be told of these; pip cannot be
            conda[canonicalize_name(PIP_NAMES.get(name, name))] = SpecifierSet(str(spec.version or ""))
    return [
        f"{name}: pyproject.toml {pip.get(name, 'lacks it')}, environment.yml {conda.get(name, 'lacks it')}"
        for name in sorted(pip.keys() | conda.keys())
        if pip.get(name) != conda.get(name)
    ]


def test_pip_and_conda_ask_for_the_same():
    assert differences(PYPROJECT, ENVIRONMENT) == []


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("torch", "pytorch-cpu>=2.6,<2.14", "pytorch-cpu>=2.6"),
        ("torch", "pytorch-cpu>=2.6,<2.14", "pytorch-cpu>=2.7,<2.14"),
        ("tqdm", "  - tqdm>=4.66\n", ""),
        ("pandas", "  - pip\n", "  - pip\n  - pandas\n"),
    ],
)
def test_drift_in_conda_is_seen(name, old, new):
    assert old in ENVIRONMENT
    (difference,) = differences(PYPROJECT, ENVIRONMENT.replace(old, new))
    assert difference.startswith(name)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("numpy", '"numpy>=2"', '"numpy>=2.1"'),
        ("numpy", '    "numpy>=2",\n', ""),
        ("ipywidgets", '"ipywidgets>=8.1"', '"ipywidgets>=8.2"'),
        ("nbval", '    "nbval>=0.11",\n', ""),
        ("pandas", '"numpy>=2"', '"numpy>=2", "pandas"'),
    ],
)
def test_drift_in_pip_is_seen(name, old, new):
    assert old in PYPROJECT
    (difference,) = differences(PYPROJECT.replace(old, new), ENVIRONMENT)
    assert difference.startswith(name)


def test_conda_python_is_one_that_pip_accepts_and_the_course_is_installed_editable():
    lines = yaml.safe_load(ENVIRONMENT)["dependencies"]
    assert "python=3.12" in lines  # repo2docker reads the version from this form only
    assert "3.12" in SpecifierSet(PROJECT["requires-python"])
    assert {"pip": ["-e ."]} in lines


def test_both_ends_of_the_pythons_are_the_same_everywhere():
    oldest, newest = environment.OLDEST, environment.NEWEST
    assert PROJECT["requires-python"] == f">={oldest[0]}.{oldest[1]},<{newest[0]}.{newest[1] + 1}"
    for page in ("README.md", "HUB.md"):
        assert f"Python {environment.SUPPORTED}" in (ROOT / page).read_text(encoding="utf-8").replace("must be ", "")
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "sweeps.yml").read_text(encoding="utf-8"))
    quick = workflow["jobs"]["check"]
    tried = [f"3.{minor}" for minor in range(oldest[1], newest[1] + 1)]
    assert quick["strategy"]["matrix"]["python"] == tried
    assert {"run": "make check"} in quick["steps"]
    (version,) = [step["with"]["python-version"] for step in quick["steps"] if "setup-python" in step.get("uses", "")]
    assert version == "${{ matrix.python }}"


def test_each_dependency_is_pinned_within_its_bounds():
    pins = pinned()
    extras = [line for lines in PROJECT["optional-dependencies"].values() for line in lines]
    for name, bounds in requirements(PROJECT["dependencies"] + extras).items():
        assert name in pins, f"constraints.txt has no pin of {name}"
        (pin,) = pins[name]
        assert pin.operator == "==" and pin.version in bounds, f"{name}{pin} is not within {bounds}"
    assert "torch" in pins
    assert not [f"{name}{pin}" for name, pin in pins.items() if "+" in str(pin)], "pins must fit every system"


def test_each_pin_admits_the_first_and_the_later_releases_of_each_python():
    """Debian 12 has Python 3.11.2: a pin that wants 3.11.5 cannot be installed there."""
    pins = pinned()
    wanted = {}
    for package in importlib.metadata.distributions():
        if package.version.split("+")[0] in pins.get(canonicalize_name(package.name), ()):
            wanted[package.name] = SpecifierSet(package.metadata.get("Requires-Python", ""))
    pythons = [f"3.{minor}.{patch}" for minor in range(11, 15) for patch in (0, 5)]
    assert all(python in SpecifierSet(PROJECT["requires-python"]) for python in pythons) and len(wanted) > 100
    assert [f"{name} {bounds}" for name, bounds in wanted.items() if not all(map(bounds.contains, pythons))] == []
