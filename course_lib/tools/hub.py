"""Makes a learner's workbook and starts Lab. A JupyterHub runs it as `python -m course_lib.tools.hub`.

It runs as the learner, where the learner's files are. The hub itself may have no access to either, as on Kubernetes.
"""

import os
import shutil

from course_lib.files import COURSE, learner_folder
from course_lib.tools import workbook

LINKED = "glossary", "notebooks"  # where the links of a workbook lead


def prepare(folder):
    """Updates the workbook in a learner's folder, and links what the workbook's links lead to next to it."""
    workbook.make(folder / workbook.FOLDER)
    for name in LINKED:
        link = folder / name
        if link.is_symlink():  # the course may have moved
            link.unlink()
        if not link.exists():
            try:
                link.symlink_to(COURSE / name)
            except OSError:  # some network drives allow no links
                shutil.copytree(COURSE / name, link)


def main():
    from jupyterhub.singleuser import main as singleuser

    folder = learner_folder()
    prepare(folder)
    os.chdir(folder)  # JupyterLab's root
    singleuser()


if __name__ == "__main__":
    main()
