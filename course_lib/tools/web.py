"""What lies beside pages: copies of the front-end packages, which npm fetches, and scripts of the models in pages."""

import shutil

from course_lib.files import ROOT, replacing
from course_lib.widgets import translator, writer

PACKAGES = ROOT / "node_modules"
BUILD = ROOT / "build"
SCRIPTS = BUILD / "models"
MODELS = *translator.MODELS.values(), writer.MODEL
MATHJAX = {
    "mathjax/es5/tex-mml-chtml.js": "mathjax/tex-mml-chtml.js",
    "mathjax/es5/output/chtml/fonts": "mathjax/output/chtml/fonts",
}


def copy(files, folder):
    """Copies files and folders of the packages: from the path within node_modules to the name in `folder`."""
    for source, name in files.items():
        to = folder / name
        to.parent.mkdir(parents=True, exist_ok=True)
        if (PACKAGES / source).is_dir():
            shutil.copytree(PACKAGES / source, to, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.map"))
        else:
            shutil.copyfile(PACKAGES / source, to)


def write_models():
    """Writes the scripts of the models that run in a page where JupyterLab finds them, unless they are there."""
    for model in MODELS:
        file, stamp = SCRIPTS / f"{model.name}.js", model.stamp()
        if not file.exists() or not file.read_text(encoding="utf-8").startswith(stamp):
            with replacing(file) as beside:  # another process may be copying it
                beside.write_text(model.script, encoding="utf-8")


def copy_models(folder):
    """Puts these scripts beside the pages of a deck or a site."""
    write_models()
    beside_pages = folder / SCRIPTS.name
    beside_pages.mkdir(parents=True, exist_ok=True)
    for model in MODELS:
        shutil.copyfile(SCRIPTS / f"{model.name}.js", beside_pages / f"{model.name}.js")
