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
