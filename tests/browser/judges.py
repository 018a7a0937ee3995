"""What is wrong with a page: said in words, one string a fault. No fault is an empty list."""

from urllib.parse import urlsplit

HERE = {"127.0.0.1", "localhost"}
OWN = {"file", "data", "blob", "about"}


def is_foreign(url):
    """Whether a request leaves this machine."""
    parts = urlsplit(url)
    return parts.scheme not in OWN and parts.hostname not in HERE


class Watch:
    """Keeps what goes wrong on the pages of a context, pop-ups included: `faults`."""

    def __init__(self, context):
        self.faults = []
        context.on("console", lambda message: message.type == "error" and self.add("console", message.text))
        context.on("weberror", lambda error: self.add("uncaught", str(error.error)))
        context.on("request", lambda request: self.asked(request.url))
        context.on("page", lambda page: page.on("websocket", lambda socket: self.asked(socket.url)))

    def add(self, kind, text):
        self.faults.append(f"{kind}: {text[:300]}")

    def asked(self, url):
        if is_foreign(url):
            self.add("asks another host", url)


# Text and what is drawn as a whole are measured, not the boxes around them.
OVERFLOW = """(root) => {
  const slide = {left: 0, top: 0, right: 1280, bottom: 720}, found = [], range = document.createRange();
  const outside = (box, frame) => Math.round(
    Math.max(box.right - frame.right, box.bottom - frame.bottom, frame.left - box.left, frame.top - box.top));
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, parent = node.parentElement;
    const text = node.nodeType === Node.TEXT_NODE && node.data.trim();
    if (!text && !node.matches?.("img, svg, input, select, mjx-container")) continue;
    if (parent.closest("aside.notes, .visually-hidden, mjx-container, svg, select, script, style")) continue;
    range.selectNode(node);
    // A formula's range holds its hidden MathML for screen readers, too.
    const box = (node.localName === "mjx-container" ? node.querySelector("mjx-math") : range).getBoundingClientRect();
    if (!box.width || !box.height) continue;
    const name = JSON.stringify((text || node.alt || node.localName).slice(0, 40)), beyond = outside(box, slide);
    if (beyond > 1) found.push([beyond, `${name} ends ${beyond} pixels outside`]);
    let frame = parent;
    while (frame !== root && getComputedStyle(frame).overflow === "visible") frame = frame.parentElement;
    const cut = frame === root ? 0 : outside(box, frame.getBoundingClientRect());
    if (cut > 10) found.push([cut, `${name} is cut by ${cut} pixels`]);  // less is the space around letters
  }
  return found.sort((a, b) => b[0] - a[0]).slice(0, 3).map(([, said]) => said);
}"""

UNTYPESET = """(root) => {
  const found = [...root.querySelectorAll("mjx-merror")].map((e) => `not understood: ${e.textContent}`);
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent;
    if (walker.currentNode.parentElement.closest("pre, code, script, style")) continue;
    if (/\\$[^$]+\\$|\\\\[([]/.test(text)) found.push(`not typeset: ${text.trim().slice(0, 80)}`);
  }
  return found;
}"""


def overflow(page, root):
    """What of an element lies outside of 1280 x 720, or is cut: the three worst."""
    return page.evaluate(OVERFLOW, root)


def untypeset(page, root):
    """Formulas that are still dollars and backslashes, and those that MathJax refused."""
    return page.evaluate(UNTYPESET, root)
