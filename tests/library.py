"""The modules of the library, those in its folders too."""

import importlib
import pkgutil
from types import ModuleType

import course_lib

SCRIPT = "course_lib.grading.limits"  # sets limits on the process that imports it
NOT_TAUGHT = ("course_lib.checks", "course_lib.tools", "course_lib.grading", "course_lib.widgets")


def modules() -> list[ModuleType]:
    found = [module.name for module in pkgutil.walk_packages(course_lib.__path__, "course_lib.")]
    return [course_lib, *map(importlib.import_module, sorted({*found} - {SCRIPT}))]


def taught() -> list[ModuleType]:
    """Those that lessons stand on, without what checks, draws, grades and builds."""
    return [module for module in modules() if not module.__name__.startswith(NOT_TAUGHT)]
