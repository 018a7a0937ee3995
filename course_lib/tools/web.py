"""Copies what pages load: the front-end packages that npm installs, and the scripts of the models in pages."""

import os
import shutil

from course_lib.files import ROOT, learner_folder, replacing
from course_lib.widgets import translator, writer

PACKAGES = ROOT / "node_modules"
BUILD = ROOT / "build"
SCRIPTS = learner_folder() / "build" / "models"
MODELS = *translator.MODELS.values(), writer.MODEL
MATHJAX = {
    "mathjax/es5/tex-mml-chtml.js": "mathjax/tex-mml-chtml.js",
    "mathjax/es5/output/chtml/fonts": "mathjax/output/chtml/fonts",
}


def chromium():
    """Returns the browser that COURSE_CHROMIUM names, else the first one on the path, else None."""
    names = os.environ.get("COURSE_CHROMIUM") or "chromium", "chromium-browser", "google-chrome"
    return next(filter(None, map(shutil.which, names)), None)


def copy(files, folder):
    """Copies files and folders of the packages; `files` maps paths in node_modules to names in `folder`."""
    for source, name in files.items():
        to = folder / name
        to.parent.mkdir(parents=True, exist_ok=True)
        if (PACKAGES / source).is_dir():
            shutil.copytree(PACKAGES / source, to, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.map"))
        else:
            shutil.copyfile(PACKAGES / source, to)


def write_models():
    """Writes the scripts of the in-page models where JupyterLab finds them, unless they are up to date."""
    for model in MODELS:
        file, stamp = SCRIPTS / f"{model.name}.js", model.stamp()
        if not file.exists() or not file.read_text(encoding="utf-8").startswith(stamp):
            with replacing(file) as beside:  # another process may be copying it
                beside.write_text(model.script, encoding="utf-8")


def copy_models(folder):
    """Copies these scripts next to the pages of a deck or site."""
    write_models()
    beside_pages = folder / SCRIPTS.name
    beside_pages.mkdir(parents=True, exist_ok=True)
    for model in MODELS:
        shutil.copyfile(SCRIPTS / f"{model.name}.js", beside_pages / f"{model.name}.js")
