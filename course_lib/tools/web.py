"""The front-end packages that slides and site are made with: npm fetches them, and copies go beside the pages."""

import shutil

from course_lib.files import ROOT

PACKAGES = ROOT / "node_modules"
BUILD = ROOT / "build"
# What a page needs so that its widgets live without a kernel: where it lies in a package, and its name beside the page.
WIDGETS = {
    "requirejs/require.js": "require.js",
    "@jupyter-widgets/html-manager/dist": "html-manager",
    "anywidget/dist/index.js": "anywidget.js",
}
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
