"""Puts lessons, exercises and glossary into the wheel; pyproject.toml says everything else."""

import json
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).parent


def notebook(text):
    """Returns a notebook without outputs, since workbook and grader read only its cells."""
    content = json.loads(text)
    content["metadata"].pop("widgets", None)
    for cell in content["cells"]:
        if cell["cell_type"] == "code":
            cell.update(outputs=[], execution_count=None)
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def entry(text):
    """Returns a glossary entry that leads to the learner's own copy of a lesson, where no clone has another."""
    return text.replace("](../notebooks/", "](../workbook/")


CARRIED = {
    "notebooks/*.ipynb": notebook,
    "notebooks/exercises/*.ipynb": notebook,
    "notebooks/start.md": str,
    "notebooks/quiz.md": str,
    "glossary/*.md": entry,
    "nbgrader_config.py": str,
}


class WithCourse(build_py):
    """Builds the library with the folder that `course_lib.files.CARRIED` names. An editable install needs none."""

    def run(self):
        shutil.rmtree(self.build_lib, ignore_errors=True)  # otherwise files of an earlier build come along
        super().run()
        for pattern, change in {} if self.editable_mode else CARRIED.items():
            for file in sorted(HERE.glob(pattern)):
                to = Path(self.build_lib) / "course_lib" / "carried" / file.relative_to(HERE)
                to.parent.mkdir(parents=True, exist_ok=True)
                to.write_text(change(file.read_text(encoding="utf-8")), encoding="utf-8")


setup(cmdclass={"build_py": WithCourse})
