"""What becomes of the widgets that a notebook has saved when their classes have changed since."""

import nbformat

from course_lib.tools import lessons, saved_widgets

TRANSLATOR = "02_bahdanau_attention"


def test_old_widgets_get_the_module_the_style_and_the_fields_of_today(tmp_path):
    there = lessons.NOTEBOOKS / f"{TRANSLATOR}.ipynb"
    notebook = nbformat.read(there, as_version=4)
    for model in notebook.metadata.widgets[lessons.WIDGET_STATE]["state"].values():
        if model["state"].get("hint") == "":
            del model["state"]["hint"]  # of which this is the default
        if "_esm" in model["state"]:
            model["state"] |= {"_esm": "of yesterday", "_css": "", "gone since": 1}
    nbformat.write(notebook, tmp_path / "old.ipynb")
    assert saved_widgets.renew(tmp_path / "old.ipynb")
    assert (tmp_path / "old.ipynb").read_bytes() == there.read_bytes()
    assert not saved_widgets.renew(tmp_path / "old.ipynb")


def test_a_notebook_without_widgets_stays_as_it_is(tmp_path):
    (tmp_path / "plain.ipynb").write_text('{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}')
    before = (tmp_path / "plain.ipynb").read_bytes()
    assert not saved_widgets.renew(tmp_path / "plain.ipynb")
    assert (tmp_path / "plain.ipynb").read_bytes() == before
