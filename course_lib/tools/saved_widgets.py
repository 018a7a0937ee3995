"""Updates the code, style and fields of the widgets saved in notebooks, as executing them would."""

import nbformat
from traitlets.utils.importstring import import_item

from course_lib.tools import lessons

OF_ANY_WIDGET = {"_anywidget_id", "_esm", "_css"}


def renew(path):
    """Updates a notebook's saved widgets if they are old; returns whether they were.

    Chosen and computed values stay. New fields get their defaults, and fields that no longer exist are removed.
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
