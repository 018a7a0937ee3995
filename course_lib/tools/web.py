"""What lies beside pages: copies of the front-end packages, which npm fetches, and the translators' scripts."""

import shutil

from course_lib.files import ROOT, replacing
from course_lib.widgets import translator

PACKAGES = ROOT / "node_modules"
BUILD = ROOT / "build"
TRANSLATORS = BUILD / "models"
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


def write_translators():
    """Writes the scripts of the translators that run in a page where JupyterLab finds them, unless they are there."""
    for name in translator.MODELS:
        file, stamp = TRANSLATORS / f"{name}.js", translator.stamp(name)
        if not file.exists() or not file.read_text(encoding="utf-8").startswith(stamp):
            with replacing(file) as beside:  # another process may be copying it
                beside.write_text(translator.script(name), encoding="utf-8")


def copy_translators(folder):
    """Puts these scripts beside the pages of a deck or a site."""
    write_translators()
    beside_pages = folder / TRANSLATORS.name
    beside_pages.mkdir(parents=True, exist_ok=True)
    for name in translator.MODELS:
        shutil.copyfile(TRANSLATORS / f"{name}.js", beside_pages / f"{name}.js")
