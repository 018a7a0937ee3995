"""`chat(messages)`: a conversation as the text that a chat model continues."""

import torch

from course_lib.checks.engine import Case, Exercise


def chat_cases(generator: torch.Generator) -> list[Case]:
    def some(low: int, high: int) -> int:
        return int(torch.randint(low, high, (), generator=generator))

    def text() -> str:
        return "".join("abc é?\n"[some(0, 7)] for _ in range(some(4, 12))) + "xyz"[some(0, 3)]

    def turns(count: int) -> list[tuple[str, str]]:
        return [("assistant" if place % 2 else "user", text()) for place in range(2 * count - 1)]

    inputs = [
        ("one question", [("user", "Hi")]),
        ("a system message and a question", [("system", "Be brief."), ("user", "Why?")]),
        ("two questions and an answer", [("user", "Who?"), ("assistant", "Ada."), ("user", "When?")]),
        ("a text that ends with a new line", [("user", "x = 1\n")]),
        ("spaces around a text", [("user", "  Hi "), ("assistant", " Ho"), ("user", "Hi\t")]),
        ("an empty text", [("system", ""), ("user", "Hi")]),
        ("a text with several lines", [("user", "one\n\ntwo")]),
        ("a text that is the name of a role", [("system", "user"), ("user", "assistant")]),
        ("the same text twice", [("user", "Go on"), ("assistant", "Go on"), ("user", "Go on")]),
        *((f"{2 * count - 1} messages", turns(count)) for count in (1, 2, 4)),
        ("a system message and five more", [("system", text()), *turns(3)]),
    ]
    return [Case(about, {"messages": messages}) for about, messages in inputs]


def chat(messages):
    found = ""
    for role, text in messages:
        found += f"<|im_start|>{role}\n{text}<|im_end|>\n"
    return found + "<|im_start|>assistant\n"


CHAT = Exercise(
    "chat",
    "a_model_that_writes",
    chat_cases,
    chat,
    'lesson 12, "What makes it answer?"; glossary.show("chat template")',
)

TURN = "<|im_start|>{role}\\n{text}<|im_end|>\\n"
OPENED = ' + "<|im_start|>assistant\\n"'
OPEN = "The model continues the text. What must the text end with, so that the assistant's answer comes next?"
CHAT.edit("the assistant's turn isn't opened", OPEN, (OPENED, ""))
CHAT.edit(
    "the opened turn lacks its new line",
    "A role is always followed by a new line, in the opened turn, too.",
    (OPENED, ' + "<|im_start|>assistant"'),
)
CHAT.edit(
    "the opened turn is closed, too",
    "After <|im_end|> a turn is over. The model should still write in this one.",
    (OPENED, ' + "<|im_start|>assistant\\n<|im_end|>\\n"'),
)
CHAT.edit(
    "the opened turn is closed, too",
    "After <|im_end|> a turn is over. The model should still write in this one.",
    (OPENED, ' + "<|im_start|>assistant\\n<|im_end|>"'),
)
CHAT.edit("the opened turn is the user's", "Whose answer should the model write?", ("assistant", "user"))
CHAT.edit(
    "the last role has no mark before it",
    "Each turn begins with <|im_start|>, the last one, too.",
    (OPENED, ' + "assistant\\n"'),
)
AFTER_ROLE = "A new line separates a role from its text. Look at the example by hand, character by character."
CHAT.edit("the role and the text are not separated", AFTER_ROLE, ("{role}\\n", "{role}"))
CHAT.edit("the role is followed by a space, not by a new line", AFTER_ROLE, ("{role}\\n", "{role} "))
CHAT.edit("the role is followed by a colon", AFTER_ROLE, ("{role}\\n", "{role}: "))
CHAT.edit("the role is followed by a colon", AFTER_ROLE, ("{role}\\n", "{role}:\\n"))
AFTER_END = "A new line follows each <|im_end|>. Look at the example by hand, character by character."
CHAT.edit("the new line after <|im_end|> is missing", AFTER_END, ("<|im_end|>\\n", "<|im_end|>"))
CHAT.edit("two new lines follow <|im_end|>", AFTER_END, ("<|im_end|>\\n", "<|im_end|>\\n\\n"))
CHAT.edit(
    "a new line comes before <|im_end|>",
    "<|im_end|> follows the text directly. The new line comes after the mark.",
    ("{text}<|im_end|>\\n", "{text}\\n<|im_end|>\\n"),
)
CHAT.edit(
    "the new line comes before <|im_end|>, not after it",
    "<|im_end|> follows the text directly. The new line comes after the mark.",
    ("{text}<|im_end|>\\n", "{text}\\n<|im_end|>"),
)
CHAT.edit("the turns are not closed", "Each turn ends with <|im_end|> and a new line.", ("<|im_end|>", ""))
CHAT.edit(
    "the turns have no <|im_start|>", "Each turn begins with <|im_start|>.", (TURN, TURN.removeprefix("<|im_start|>"))
)
CHAT.edit("the roles are left out", "After <|im_start|> comes the role of this message.", ("{role}\\n", ""))
CHAT.edit(
    "every message is the user's",
    "Each message has its own role, the first entry of the pair.",
    ("{role}", "user"),
)
CHAT.edit("role and text are exchanged", "A pair is (role, text), in this order.", ("role, text in", "text, role in"))
CHAT.edit(
    "only the last message is used",
    "The model remembers nothing. All that was said must be in the text. Does the loop replace what it has found?",
    ("found +=", "found ="),
)
CHAT.edit(
    "only the first message is used",
    "The model remembers nothing. All that was said must be in the text. Is the return inside the loop?",
    ("in messages", "in messages[:1]"),
)
CHAT.edit(
    "the last message is missing", "The last question belongs into the text, too.", ("in messages", "in messages[:-1]")
)
CHAT.edit(
    "the messages of the system are left out",
    "A system message is a turn as any other, with its own role.",
    ("in messages", "in [one for one in messages if one[0] != 'system']"),
)
CHAT.edit(
    "the assistant's messages are left out",
    "The model remembers nothing, not even what it said. Its earlier answers belong into the text, too.",
    ("in messages", "in [one for one in messages if one[0] != 'assistant']"),
)
CHAT.edit("the messages are in reverse order", "The first message comes first.", ("in messages", "in messages[::-1]"))
CHAT.edit(
    "the messages are in reverse order",
    "The first message comes first.",
    ("found += ", "found = "),
    ('<|im_end|>\\n"', '<|im_end|>\\n" + found'),
)
ONCE = "Only one turn is opened without a text, and it comes after all messages. Is that line inside the loop?"
CHAT.edit(
    "an assistant's turn is opened after each message",
    ONCE,
    ('<|im_end|>\\n"', '<|im_end|>\\n<|im_start|>assistant\\n"'),
    (OPENED, ""),
)
STRIPPED = "Don't change the texts. A space or a new line at the end may matter to the model."
for stripped in ("strip", "rstrip"):
    CHAT.edit("spaces and new lines around the texts are removed", STRIPPED, ("{text}", f"{{text.{stripped}()}}"))
CHAT.edit(
    "the text ends with another new line",
    "The opened turn ends with a single new line. Is something joined with new lines in addition?",
    ('assistant\\n"', 'assistant\\n\\n"'),
)
CHAT.edit(
    "a list of turns is returned",
    "Return one text. `''.join` makes one of a list of texts.",
    ('found = ""', "found = []"),
    ('f"<|im_start|>{role}\\n{text}<|im_end|>\\n"', '[f"<|im_start|>{role}\\n{text}<|im_end|>\\n"]'),
    (OPENED, ' + ["<|im_start|>assistant\\n"]'),
)
CHAT.edit(
    "\\n is written as two characters",
    'In a raw text, r"…", a backslash and an n stay as they are. A new line is one character.',
    (f'f"{TURN}"', f'rf"{TURN}"'),
    ('"<|im_start|>assistant', 'r"<|im_start|>assistant'),
)
ADDED = "Return only what the messages say, and the opened turn."
for default in (
    "You are a helpful assistant.",
    "You are a helpful AI assistant named SmolLM, trained by Hugging Face",  # in the model's own template
):
    SYSTEM = f'"<|im_start|>system\\n{default}<|im_end|>\\n"'
    CHAT.edit("a system message is added", ADDED, ('found = ""', f"found = {SYSTEM}"))
    CHAT.edit(
        "a system message is added if none is given",
        f"{ADDED} A conversation needs no system message.",
        ('found = ""', f'found = "" if messages[0][0] == "system" else {SYSTEM}'),
    )
