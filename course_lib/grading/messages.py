"""Decides what is kept of a kernel's messages, since a learner's kernel can send anything, and any amount of it."""

from collections import Counter

from course_lib.grading import examine
from course_lib.grading.submission import writable

LARGEST_OUTPUT = 1_000_000  # characters of a cell's output that are kept
LARGEST_OUTPUTS = 20_000_000  # characters of a whole submission's output that are kept
LONGEST_LINE = 10_000  # characters of an error's message, and of each line of its traceback
DISPLAYS = {"display_data", "execute_result", "update_display_data"}
LEAST_OUTPUT = dict.fromkeys(DISPLAYS, 1_000) | {"stream": 100}  # characters that each counts as at least


def held(kind, content):
    """Returns the part of a kernel's message that a notebook can hold, or None."""
    number = content.get("execution_count")
    count = {"execution_count": number if type(number) is int else None}
    match kind:
        case "stream":
            return {"name": "stderr" if content["name"] == "stderr" else "stdout", "text": writable(content["text"])}
        case "error":
            lines = [writable(str(line))[:LONGEST_LINE] for line in content["traceback"][-100:]]
            said = {name: writable(str(content[name]))[:LONGEST_LINE] for name in ("ename", "evalue")}
            return {**said, "traceback": lines}
        case "display_data" | "execute_result" | "update_display_data":
            about = {
                writable(mime): {writable(name): writable(str(value)) for name, value in items.items()}
                for mime, items in (content.get("metadata") or {}).items()
                if isinstance(items, dict)
            }
            data = {writable(mime): writable(text) for mime, text in content["data"].items() if isinstance(text, str)}
            name = (content.get("transient") or {}).get("display_id")
            count = count if kind == "execute_result" else {}
            return {"data": data, "metadata": about, "transient": {"display_id": name}, **count}
        case "execute_input":
            return count
        case "status":
            return {"execution_state": content["execution_state"]}
        case "clear_output":
            return {"wait": bool(content.get("wait"))}
        case _:  # for example from widgets, which have no page here
            return None


class Room:
    """Counts a submission's output, and says which message is too much."""

    def __init__(self):
        self.taken = Counter()

    def is_too_much(self, kind, content, source, shown):
        """Counts a message, and cuts a text to the room that is left. Answers have a limit of their own.

        Args:
            source: what ran, and whether the message is an answer.
            shown: how many displays with the message's id there are, which it also changes.
        """
        size = (sum(map(len, texts(content))) + LEAST_OUTPUT.get(kind, 0)) * max(1, shown)
        most = {source: examine.LARGEST_ANSWER} if source[1] else {source: LARGEST_OUTPUT, "all": LARGEST_OUTPUTS}
        room = min(largest - self.taken[name] for name, largest in most.items())
        for name in most:
            self.taken[name] += size if name == source else min(size, max(room, 0))
        if kind == "stream" and room > 0:
            content["text"] = content["text"][:room]
            return False
        return size > room and (kind in LEAST_OUTPUT or kind == "error")


def texts(value):
    """Yields every text in nested data."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from texts(item)
