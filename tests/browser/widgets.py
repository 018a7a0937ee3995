"""The course's widgets on a page, in JupyterLab or on a slide, under the keys of someone without a mouse."""

import nbformat

from course_lib.tools import lessons

VIEW = lessons.WIDGET_VIEW
IN_FOCUS = "(widget) => widget.contains(document.activeElement)"
VALUE = "document.activeElement.value"
PICTURE = "(widget) => widget.querySelector('.am-frame, .am-painter, .am-stations').innerHTML"
# Each control at its first, its middle and its last value, the others as they were at the start; what can be turned
# once round and back to its length from the longest and the shortest.
IN_EVERY_STATE = """async () => {
  const found = new Set();
  for (const handle of document.querySelectorAll(".am-explorer [role=slider]"))
    for (const [key, times] of [...Array(12).fill(["Left", 6]), ["Up", 16], ["Down", 16], ["Up", 8]]) {
      for (let n = 0; n < times; n++)
        handle.dispatchEvent(new KeyboardEvent("keydown", { key: `Arrow${key}`, bubbles: true }));
      for (const judge of JUDGES)
        for (const fault of await judge(handle.closest(".am-explorer")))
          found.add(`${handle.ariaLabel}, ${handle.ariaValueText}: ${fault}`);
    }
  for (const explorer of document.querySelectorAll(".am-explorer"))
    for (const control of explorer.querySelectorAll("input[type=range], select")) {
      const [place, last] = control.max ? ["value", Number(control.max)] : ["selectedIndex", control.length - 1];
      for (const value of [0, last >> 1, last, control[place]]) {
        control[place] = value;
        for (const kind of ["input", "change"]) control.dispatchEvent(new Event(kind, { bubbles: true }));
        for (const judge of JUDGES)
          for (const fault of await judge(explorer)) found.add(`${control.ariaLabel ?? "mask"} at ${value}: ${fault}`);
      }
    }
  return [...found];
}"""
CHANGED = f"([widget, before]) => ({PICTURE})(widget) !== before"


def saved(path, cells=lambda cell: True):
    """How many explorers, painters included, and how many predictions a lesson showed when it was last saved."""
    notebook = nbformat.read(path, as_version=4)
    models = notebook.metadata.widgets[lessons.WIDGET_STATE]["state"]
    shown = [output.get("data", {}) for cell in filter(cells, notebook.cells) for output in cell.get("outputs", [])]
    states = [models[data[VIEW]["model_id"]]["state"] for data in shown if VIEW in data]
    of_explorers = {"frames", "allowed", "key_vectors", "colours", "examples"}
    explorers = sum(not of_explorers.isdisjoint(state) for state in states)
    return explorers, sum("question" in state for state in states)


def reach(page, widget):
    """Presses Tab until the focus is on the widget's first control."""
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate(IN_FOCUS, widget):
            return
    raise AssertionError("thirty times Tab did not reach the widget")


def move(page, widget):
    """Presses an arrow key, the other where that one is at the end, and waits until the picture is another."""
    before, value = page.evaluate(PICTURE, widget), page.evaluate(VALUE)
    page.keyboard.press("ArrowRight")
    if value is not None and page.evaluate(VALUE) == value:
        page.keyboard.press("ArrowLeft")
    page.wait_for_function(CHANGED, arg=[widget, before], timeout=300_000)


def in_every_state(page, *judges):
    """What these functions of an explorer, in JavaScript, find while its controls are moved, which must not glide."""
    page.emulate_media(reduced_motion="reduce")
    page.wait_for_function("!document.querySelector('.am-unwritten')")
    return page.evaluate(IN_EVERY_STATE.replace("JUDGES", f"[{', '.join(judges)}]"))
