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


# Left out: what is not projected, and MathJax's inner boxes, which are larger than what they draw.
UNSEEN = "aside.notes, mjx-assistive-mml, mjx-container *, .visually-hidden, svg *, script, style"

OVERFLOW = f"""(root) => {{
  const width = 1280, height = 720, found = [];
  const name = (e) => `${{e.tagName.toLowerCase()}} ${{JSON.stringify((e.textContent || e.alt || "").trim().slice(0, 40))}}`;
  for (const e of root.querySelectorAll("*")) {{
    const box = e.getBoundingClientRect(), style = getComputedStyle(e);
    if (e.matches("{UNSEEN}") || e.closest("aside.notes, mjx-assistive-mml") || !box.width || !box.height) continue;
    const beyond = Math.round(Math.max(box.right - width, box.bottom - height, -box.left, -box.top));
    if (beyond > 1) found.push([beyond, `${{name(e)}} ends ${{beyond}} pixels outside`]);
    const cut = Math.max(style.overflowX === "visible" ? 0 : e.scrollWidth - e.clientWidth,
                         style.overflowY === "visible" ? 0 : e.scrollHeight - e.clientHeight);
    if (e.clientWidth && cut > 4) found.push([cut, `${{name(e)}} is cut by ${{cut}} pixels`]);
  }}
  return found.sort((a, b) => b[0] - a[0]).slice(0, 3).map(([, said]) => said);
}}"""

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
