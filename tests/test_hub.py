"""The course on a JupyterHub: what a learner's server finds, and that HUB.md says what is so."""

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from course_lib.files import DATA, ROOT
from course_lib.tools import hub, workbook

PAGE = (ROOT / "HUB.md").read_text(encoding="utf-8")
CONFIG = DATA / "hub" / "jupyterhub_config.py"


@pytest.fixture
def small(monkeypatch):
    """A workbook of one file."""
    monkeypatch.setattr(workbook, "contents", lambda: [("01.ipynb", "the lesson")])


def test_a_learner_finds_the_workbook_and_what_it_links_to(small, tmp_path):
    for _ in range(2):
        hub.prepare(tmp_path)
    assert (tmp_path / "workbook" / "01.ipynb").read_text() == "the lesson"
    assert (tmp_path / "glossary" / "README.md").samefile(ROOT / "glossary" / "README.md")
    assert (tmp_path / "notebooks" / "start.md").samefile(ROOT / "notebooks" / "start.md")


def test_what_is_a_learners_own_stays_and_a_link_into_an_old_course_is_renewed(small, tmp_path):
    hub.prepare(tmp_path)
    (tmp_path / "workbook" / "01.ipynb").write_text("my answer")
    for name in hub.LINKED:
        (tmp_path / name).unlink()
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "glossary").symlink_to(tmp_path / "moved away")
    hub.prepare(tmp_path)
    assert (tmp_path / "workbook" / "01.ipynb").read_text() == "my answer"
    assert not (tmp_path / "notebooks").is_symlink()
    assert (tmp_path / "glossary" / "README.md").exists()


def test_a_learner_gets_copies_where_no_link_can_be_made(small, tmp_path, monkeypatch):
    def no_links(*_, **__):
        raise PermissionError

    monkeypatch.setattr(hub.os, "symlink", no_links)
    hub.prepare(tmp_path)
    assert (tmp_path / "glossary" / "README.md").read_text() == (ROOT / "glossary" / "README.md").read_text()
    assert not (tmp_path / "notebooks").is_symlink() and (tmp_path / "notebooks" / "start.md").exists()


def test_in_the_courses_own_folder_nothing_is_linked(small, tmp_path, monkeypatch):
    monkeypatch.setattr(hub, "COURSE", tmp_path)
    for name in hub.LINKED:
        (tmp_path / name).mkdir()
    hub.prepare(tmp_path)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["glossary", "notebooks", "workbook"]


def configured():
    config = SimpleNamespace(Spawner=SimpleNamespace())
    exec(CONFIG.read_text(encoding="utf-8"), {"get_config": lambda: config, "__file__": str(CONFIG)})
    return config.Spawner


def test_the_configuration_opens_what_make_lab_opens():
    lab = json.loads((DATA / "jupyter" / "jupyter_lab_config.json").read_text())["LabApp"]
    spawner = configured()
    assert spawner.default_url == lab["default_url"]
    assert Path(spawner.environment["JUPYTER_CONFIG_PATH"]) == DATA / "jupyter"


def untrue(page):
    """What the page says of the chart, the image and the configuration that is not so."""
    (block,) = re.findall(r"^```yaml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    chart, spawner = yaml.safe_load(block)["singleuser"], configured()
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    (user,), (uid,) = (re.findall(rf"ARG {name}=(\w+)", dockerfile) for name in ("NB_USER", "NB_UID"))
    place = f"/home/{user}/{re.search(r'COURSE=[$]{HOME}/(.*)', dockerfile)[1]}/workbook"
    wanted = {
        "cmd": ["python", *spawner.cmd[1:]],
        "defaultUrl": spawner.default_url,
        "uid": int(uid),
        "storage": {"capacity": "1Gi", "homeMountPath": place},
        "extraEnv": {"COURSE_CACHE": f"{place}/.cache", "OMP_NUM_THREADS": spawner.environment["OMP_NUM_THREADS"]},
    }
    return [key for key, value in wanted.items() if chart.get(key) != value]


def test_the_charts_values_fit_image_and_configuration():
    assert untrue(PAGE) == []


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("[python, -m, course_lib.tools.hub]", "jupyterhub-singleuser", "cmd"),
        ("homeMountPath: /home/jovyan/attention-measured/workbook", "homeMountPath: /home/jovyan", "storage"),
        ('OMP_NUM_THREADS: "1"', 'OMP_NUM_THREADS: "2"', "extraEnv"),
    ],
)
def test_values_that_do_not_fit_are_found(old, new, told):
    assert old in PAGE
    assert untrue(PAGE.replace(old, new)) == [told]


def test_the_sums_on_the_page_come_out():
    sums = re.findall(r"(\d+) × ([\d.]+)( \+ [\d.]+)? = (\d+) GB", PAGE)
    assert len(sums) == 4
    for learners, each, more, total in sums:
        assert round(int(learners) * float(each) + float(more.strip(" +") or 0)) == int(total)
