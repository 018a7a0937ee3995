"""What is wrong with a page: said in words, one string a fault. No fault is an empty list."""

from urllib.parse import urlsplit

HERE = {"127.0.0.1", "localhost"}
OWN = {"file", "data", "blob", "about"}


def is_foreign(url):
    """Whether a request leaves this machine."""
    parts = urlsplit(url)
    return parts.scheme not in OWN and parts.hostname not in HERE


# anywidget rejects a promise if an explorer's script takes more than 2 s to load, and draws the explorer all the same.
SLOW = "[anywidget] Failed to initialize model."


class Watch:
    """Keeps what goes wrong on the pages of a context, pop-ups included, but no slowness: `faults`."""

    def __init__(self, context):
        self.faults = []
        context.on("console", lambda message: message.type == "error" and self.add("console", message.text))
        context.on("weberror", lambda error: str(error.error) != SLOW and self.add("uncaught", str(error.error)))
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

# What scrolls by itself may be wider than the page, but not what holds a page's heading: that is the page. A drawer
# that is drawn in lies beyond the edge as a whole; what is for screen readers alone is a pixel wide.
OUT_OF_REACH = """() => {
  const wide = document.documentElement.clientWidth, known = new Map();
  const found = new Set(), range = document.createRange();
  function style(element) {
    if (!known.has(element)) {
      const { overflowX, position } = getComputedStyle(element);
      known.set(element, { overflowX, position, box: element.getBoundingClientRect() });
    }
    return known.get(element);
  }
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const text = node.nodeType === Node.TEXT_NODE && node.data.trim();
    if (!text && !node.matches?.("img, svg, input, select, mjx-container")) continue;
    if (node.parentElement.closest("mjx-container, svg, select, script, style")) continue;
    range.selectNode(node);
    const own = (text ? range : node).getBoundingClientRect();
    if (own.width < 2 || !own.height) continue;
    const name = JSON.stringify((text || node.alt || node.localName).slice(0, 40));
    let { left, right } = own, drawer = false;
    for (let frame = node.parentElement; frame; frame = frame.parentElement) {
      const { overflowX, position, box } = style(frame);
      if (overflowX !== "visible" && frame !== document.body) {
        if (box.width < 2) {
          drawer = true;
          break;
        }
        const cut = /hidden|clip/.test(overflowX) && Math.max(right - box.right, box.left - left) > 1;
        if (cut) found.add(`${name} is cut`);
        if (!frame.querySelector("h1")) [left, right] = [Math.max(left, box.left), Math.min(right, box.right)];
      }
      if (position === "fixed") {
        drawer = box.left >= wide || box.right <= 0;
        break;
      }
    }
    if (!drawer && (right > wide + 1 || left < -1)) found.add(`${name} lies outside of the page`);
  }
  if (document.documentElement.scrollWidth > wide) found.add("the page scrolls sideways");
  return [...found].slice(0, 3);
}"""

UNSIGNED = """(root) => [root, ...root.querySelectorAll("*")]
  .filter((box) => box.scrollWidth > box.clientWidth + 1 && box.clientWidth > 2 && !box.querySelector("h1"))
  .map((box) => [box, getComputedStyle(box)])
  .filter(([, { overflowX, maskImage }]) => /auto|scroll/.test(overflowX) && maskImage === "none")
  .map(([box]) => `scrolls without a sign: <${box.localName} class="${box.className}">`)"""

# Of every text of an explorer: its size on the screen, whether it lies within its drawing, and its contrast with what
# is painted behind it, at a few points. A mark that is no word may stand on its line.
HARD_TO_READ = """(root) => {
  const found = new Set(), range = document.createRange();
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  function rgba(colour, alpha = 1) {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, (a / 255) * alpha];
  }
  const over = ([r, g, b, a], below) => [r, g, b].map((part, i) => a * part + (1 - a) * below[i]);
  const linear = (part) => (part <= 10 ? part / 3294.6 : ((part / 255 + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b) + 0.05;
  const lineage = (element) => (element ? [element, ...lineage(element.parentElement)] : []);
  const alpha = (element) => lineage(element).reduce((product, e) => product * getComputedStyle(e).opacity, 1);
  const paper = (element) => lineage(element).map((e) => rgba(getComputedStyle(e).backgroundColor))
    .reduceRight((below, layer) => over(layer, below), [255, 255, 255]);
  const shapes = (svg) => [...(svg?.querySelectorAll("path, rect, circle, line") ?? [])].map((shape) => {
    const style = getComputedStyle(shape), see = alpha(shape);
    const paint = (kind) => style[kind] !== "none" && rgba(style[kind], see);
    const back = shape.getScreenCTM().inverse();
    return { shape, box: shape.getBoundingClientRect(), reach: parseFloat(style.strokeWidth),
      paints(x, y) {
        const point = new DOMPoint(x, y).matrixTransform(back);
        return [shape.isPointInFill(point) && paint("fill"), shape.isPointInStroke(point) && paint("stroke")];
      } };
  });
  function behind(node, page, drawn, x, y) {
    let below = page, hidden = false;
    for (const { shape, box, reach, paints } of drawn) {
      if (x < box.left - reach || x > box.right + reach || y < box.top - reach || y > box.bottom + reach) continue;
      const before = node.compareDocumentPosition(shape) & Node.DOCUMENT_POSITION_PRECEDING;
      for (const paint of paints(x, y).filter(Boolean)) {
        if (before) below = over(paint, below);
        else hidden ||= paint[3] > 0.5;
      }
    }
    return [below, hidden];
  }
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT), drawings = new Map();
  while (walker.nextNode()) {
    const node = walker.currentNode, parent = node.parentElement, text = node.data.trim(), svg = parent.closest("svg");
    range.selectNode(node);
    const box = range.getBoundingClientRect();
    if (!text || !box.width || parent.closest("select, script, style")) continue;
    const style = getComputedStyle(parent), page = paper(parent);
    const size = parseFloat(style.fontSize) * (svg ? parent.getScreenCTM().d : 1);
    if (size < 11.95) found.add(`"${text}" is ${size.toFixed(1)} pixels high`);
    const frame = svg?.getBoundingClientRect() ?? box;
    const wide = Math.max(frame.left - box.left, box.right - frame.right);
    const tall = Math.max(frame.top - box.top, box.bottom - frame.bottom);
    if (wide > 1 || tall > 4) found.add(`"${text}" is cut`);
    if (!drawings.has(svg)) drawings.set(svg, shapes(svg));
    const word = /[\\p{L}\\d]/u.test(text);
    const letters = rgba(svg ? style.fill : style.color, alpha(parent));
    const contrasts = [0.1, 0.3, 0.5, 0.7, 0.9].flatMap((u) => [0.4, 0.6].map((v) => {
      const [x, y] = [box.left + u * box.width, box.top + v * box.height];
      const [below, hidden] = behind(node, page, word ? drawings.get(svg) : [], x, y);
      const [a, b] = [light(over(letters, below)), light(below)];
      return hidden ? 1 : Math.max(a, b) / Math.min(a, b);
    }));
    const second = contrasts.sort((a, b) => a - b)[1];  // a thin line behind a letter does not hide it
    if (second < (word ? 4.5 : 3)) found.add(`"${text}" has a contrast of ${second.toFixed(1)}`);
  }
  return [...found];
}"""

# What cannot be read from the last row. In a picture it is known how high its smallest letters are as it was saved.
UNREADABLE = """(root) => {
  const found = new Map();
  const least = (name, size, wanted) => size < wanted - 0.05 && found.set(name,
    `${JSON.stringify(name.slice(0, 40))} is ${size.toFixed(1)} pixels high, ${wanted} are wanted`);
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  while (walker.nextNode()) {
    const node = walker.currentNode, parent = node.parentElement;
    if (parent.closest("aside.notes, .visually-hidden, mjx-container, option, script, style")) continue;
    range.selectNode(node);
    const box = range.getBoundingClientRect();
    if (!box.width || !box.height) continue;
    if (node.localName === "img") {
      least(`the letters of ${node.alt}`, (node.dataset.letters * box.height) / node.naturalHeight || 0, 20);
      continue;
    }
    const formula = node.localName === "mjx-container";
    if (!formula && !(node.nodeType === Node.TEXT_NODE && node.data.trim())) continue;
    const element = formula ? node : parent, drawn = parent.closest("svg") && parent.getScreenCTM().d;
    const scale = drawn || element.currentCSSZoom;
    const size = parseFloat(getComputedStyle(element).fontSize) * scale;
    const label = parent.closest(".am-explorer, svg, table, figcaption");
    least(formula ? "a formula" : node.data.trim(), size, label ? 20 : parent.closest("pre, code") ? 22 : 28);
  }
  return [...found.values()];
}"""

UNFILLED = """(root) => {
  const found = [], boxes = [], range = document.createRange();
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, text = node.nodeType === Node.TEXT_NODE && node.data.trim();
    if (!text && !node.matches?.("img, svg, input, select, pre")) continue;
    if (node.parentElement.closest("aside.notes, .visually-hidden, svg, select, script, style")) continue;
    range.selectNode(node);
    const box = range.getBoundingClientRect();
    if (box.width && box.height) boxes.push(box);
  }
  const reach = (low, high) => Math.max(...boxes.map((box) => box[high])) - Math.min(...boxes.map((box) => box[low]));
  const filled = boxes.length ? (reach("left", "right") * reach("top", "bottom")) / (1280 * 720) : 0;
  if (filled < 0.4) found.push(`nearly empty: what it shows reaches over ${Math.round(100 * filled)} % of it`);
  for (const explorer of root.querySelectorAll(".am-explorer")) {
    const { width, bottom } = explorer.getBoundingClientRect();
    if (width < 1200 || bottom < (explorer.matches(".am-in-page") ? 600 : 690))
      found.push(`an explorer does not fill its slide: ${Math.round(width)} wide, it ends at ${Math.round(bottom)}`);
  }
  return found;
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


def out_of_reach(page):
    """What lies to the left or right of the page, or is cut there, without a way to scroll to it: three of it."""
    return page.evaluate(OUT_OF_REACH)


def unsigned(page, root):
    """What of an element scrolls sideways and does not show it."""
    return page.evaluate(UNSIGNED, root)


def hard_to_read(page, root):
    """Texts in drawings, and beside them, that are too small, cut, or too like what is painted behind them."""
    return page.evaluate(HARD_TO_READ, root)


def unreadable(page, root):
    """What of a slide is too small for the last row: words below 28 pixels, code below 22, labels below 20."""
    return page.evaluate(UNREADABLE, root)


def untypeset(page, root):
    """Formulas that are still dollars and backslashes, and those that MathJax refused."""
    return page.evaluate(UNTYPESET, root)


def unfilled(page, root):
    """Whether a slide is nearly empty, and which of its explorers does not fill it."""
    return page.evaluate(UNFILLED, root)
