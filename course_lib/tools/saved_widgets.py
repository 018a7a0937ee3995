"""Puts today's module, style and fields into the widgets that notebooks have saved, as an execution would."""

import nbformat
from traitlets.utils.importstring import import_item

from course_lib.tools import lessons

OF_ANY_WIDGET = {"_anywidget_id", "_esm", "_css"}


def renew(path):
    """Renews a notebook's saved widgets where they are old, and says whether they were.

    What a reader chose and what was computed stays; a field that is new has its default, and one that is gone goes.
    """
    notebook = nbformat.read(path, as_version=4)
    models = notebook.metadata.get("widgets", {}).get(lessons.WIDGET_STATE, {"state": {}})["state"].values()
    old = False
    for model in models:
        if "_esm" not in model["state"]:
            continue  # a layout
        saved = model["state"]
        kind = import_item(saved["_anywidget_id"])
        fields = {name: trait.default() for name, trait in kind.class_traits(sync=True).items()}
        kept = {name: value for name, value in saved.items() if name in fields.keys() | OF_ANY_WIDGET}
        model["state"] = {**fields, **kept, "_esm": kind._esm, "_css": kind._css}
        old = old or model["state"] != saved
    if old:
        nbformat.write(notebook, path)
    return old
