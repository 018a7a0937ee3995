"""`each_once(text)`: the number of different finished sentences, which mends one hole in the reward."""

import re

import torch

from course_lib.checks.engine import Case, Exercise

WORDS = "the if value returns object is a raised when list of new none method class it".split()


def each_once_cases(generator: torch.Generator) -> list[Case]:
    def draw(most: int) -> int:
        return int(torch.randint(most, (), generator=generator))

    def sentence(words: int = 4) -> str:
        one = " ".join(WORDS[draw(len(WORDS))] for _ in range(words))
        return one[0].upper() + one[1:] + "."

    def altered(one: str) -> str:
        """The same sentence in other case or with other white space."""
        first, *rest = one.split()
        rest = [word.upper() if draw(4) == 0 else word for word in rest]
        return (" ", "  ", "\n")[draw(3)].join([first, *rest])

    def mixed(different: int, count: int) -> str:
        base = [sentence(3 + draw(3)) for _ in range(different)]
        chosen = [altered(base[draw(different)]) for _ in range(count)]
        return " ".join(chosen + ["No way.", "No way.", "and so on and so on.", "The rest is"])

    one, other, third = sentence(), sentence(5), sentence(6)
    words = one[:-1].split()
    reordered = " ".join([words[0], *words[-2:0:-1], words[-1]]) + "."
    in_lines = "\n".join(one.split())
    inputs = [
        (
            "the example of the text",
            "If the exception. A class is made. If the Exception. if it fails. No. If the exception!",
        ),
        ("a text without a repetition", f"{one} {other}"),
        ("one sentence again and again", " ".join([one] * (3 + draw(4)))),
        ("a sentence that comes back later", f"{one} {other} {one} {third} {other}"),
        ("a sentence in other case", f"{one} {one[0] + one[1:].upper()} {other}"),
        ("a sentence with other white space", f"{one} {one.replace(' ', '  ')} {other} {in_lines}"),
        ("a sentence with two spaces", f"{one} {one.replace(' ', '  ', 1)} {third}"),
        ("the same words in another order", f"If the value is a list. If a value is the list. {one} {reordered}"),
        ("the same words, but not each as often", "It is what it is. It is what is. The the list is. The list is."),
        ("words that run together", "It may be a list. It maybe a list."),
        ("a mark within a word", "The value of pi is 3.14 here. The value of pi is 3.15 here."),
        ("the same words with another mark", f"{one} {one[:-1]}! {one[:-1]}? {one}"),
        ("sentences with the same beginning", "If it is a list. If it is a class. If it is a list of none. If it is."),
        ("short sentences, twice", f"No way. {one} No way. Never. {one} Never."),
        ("sentences with a small first letter", f"if it is new. if it is new. {one} when it is a list."),
        ("a sentence that isn't finished", f"{one} {other} {other[:-1]}"),
        ("nothing finished", "the value of the"),
        ("an empty text", ""),
        ("a longer text", mixed(4, 9)),
        ("a longer text with many repetitions", mixed(3, 14)),
        ("a longer text with few repetitions", mixed(12, 12)),
    ]
    return [Case(about, {"text": text}) for about, text in inputs]


def is_finished(part):
    return len(part.split()) >= 3 and part[0].isupper() and part[-1] in ".!?"


def each_once(text):
    parts = re.split(r"(?<=[.!?])\s+", text)
    sentences = [part for part in parts if is_finished(part)]
    same = [tuple(part.lower().split()) for part in sentences]
    return len(set(same))


EACH_ONCE = Exercise(
    "each_once",
    "trained_to_please",
    each_once_cases,
    each_once,
    'lesson 14, "Count what pleases"; lesson 14, "A judge that was learned"',
)

PARTS, FINISHED, SAME, RESULT = (
    're.split(r"(?<=[.!?])\\s+", text)',
    "is_finished(part)",
    "tuple(part.lower().split())",
    "len(set(same))",
)
EACH_ONCE.edit(
    "capital and small letters make a difference",
    "A text could repeat a sentence with one letter changed from small to capital. Compare them in small letters.",
    (SAME, "tuple(part.split())"),
)
SPACE = "Two spaces or a new line in place of one space make no new sentence. `split` takes a sentence apart, whatever white space it has."
EACH_ONCE.edit("white space makes a difference", SPACE, (SAME, "part.lower()"))
EACH_ONCE.edit(
    "white space and capital letters make a difference", f"{SPACE} Capital letters make none either.", (SAME, "part")
)
EACH_ONCE.edit("a new line makes a difference", SPACE, (SAME, 'part.lower().replace("  ", " ")'))
EACH_ONCE.edit("two spaces make a difference", SPACE, (SAME, 'part.lower().replace("\\n", " ")'))
EACH_ONCE.edit(
    "all white space is taken away",
    "Without it, *may be* and *maybe* are the same. Compare word by word.",
    (SAME, '"".join(part.lower().split())'),
)
EACH_ONCE.edit("repetitions still count", "Count each *different* sentence once.", (RESULT, "len(same)"))
EACH_ONCE.edit(
    "only a repetition that comes at once is left out",
    "The text could use two sentences in turn. Compare each sentence with *all* those before it.",
    (RESULT, "sum(number == 0 or one != same[number - 1] for number, one in enumerate(same))"),
)
EACH_ONCE.edit(
    "a repeated sentence doesn't count at all",
    "A repeated sentence counts once, like any other.",
    (RESULT, "sum(same.count(one) == 1 for one in same)"),
)
EACH_ONCE.edit(
    "only repeated sentences count",
    "Sentences that come once count, too.",
    (RESULT, "len({one for one in same if same.count(one) > 1})"),
)
EACH_ONCE.edit(
    "the repetitions are counted, not the sentences",
    "Return what is left without the repetitions.",
    (RESULT, "len(same) - len(set(same))"),
)
EACH_ONCE.edit(
    "a repeated sentence is taken away only once",
    "A sentence that comes three times has two repetitions.",
    (RESULT, "len(same) - len({one for one in same if same.count(one) > 1})"),
)
EACH_ONCE.edit(
    "repetitions cost something",
    "A repetition earns nothing. It doesn't cost anything either.",
    (RESULT, "2 * len(set(same)) - len(same)"),
)
CAPITAL = "In small letters, no sentence begins with a capital one. First find the sentences that count, and compare them in small letters then."
EACH_ONCE.edit(
    "nothing counts, since the text is in small letters first", CAPITAL, ('\\s+", text)', '\\s+", text.lower())')
)
MARK = "The mark belongs to the sentence. *It works now!* and *It works now?* are two sentences."
EACH_ONCE.edit("marks make no difference", MARK, (SAME, 'tuple(part.lower().rstrip(".!?").split())'))
ORDER = "The same words in another order are another sentence. Compare word by word."
EACH_ONCE.edit("the order of the words makes no difference", ORDER, (SAME, "tuple(sorted(part.lower().split()))"))
EACH_ONCE.edit("only which words there are makes a difference", ORDER, (SAME, "frozenset(part.lower().split())"))
WHOLE = "Compare the whole sentences."
EACH_ONCE.edit("only the first three words are compared", WHOLE, (SAME, "tuple(part.lower().split()[:3])"))
EACH_ONCE.edit("only the first words are compared", WHOLE, (SAME, "part.lower().split()[0]"))
EACH_ONCE.edit("only the number of words is compared", WHOLE, (SAME, "len(part.split())"))
RULE = "What counts as a sentence stays as it was. `sentences` gives the list."
EACH_ONCE.edit(
    "sentences of one or two words count, too",
    RULE,
    (FINISHED, "part and part[0].isupper() and part[-1] in '.!?'"),
)
EACH_ONCE.edit(
    "sentences with a small first letter count, too",
    RULE,
    (FINISHED, "len(part.split()) >= 3 and part[-1] in '.!?'"),
)
EACH_ONCE.edit(
    "a sentence that isn't finished counts, too",
    RULE,
    (FINISHED, "len(part.split()) >= 3 and part[0].isupper()"),
)
EACH_ONCE.edit("everything between two marks counts", RULE, (FINISHED, "part"))
EACH_ONCE.edit("a mark ends a sentence without white space after it, too", RULE, ('\\s+", text)', '\\s*", text)'))
EACH_ONCE.edit(
    "the text is split at every mark, and the marks are lost",
    RULE,
    (PARTS, 're.split(r"[.!?]\\s*", text)'),
    (FINISHED, "len(part.split()) >= 3 and part[0].isupper()"),
)
EACH_ONCE.edit("sentences need four words", RULE, (FINISHED, "is_finished(part) and len(part.split()) > 3"))
EACH_ONCE.edit(
    "different words are counted, not different sentences",
    "A set of all words counts words. Make one entry of each sentence.",
    (RESULT, "len(set(sum(same, ())))"),
)
EACH_ONCE.edit(
    "it is a share, not a number",
    "Return how many different sentences there are.",
    (RESULT, "len(set(same)) / max(len(same), 1)"),
)
EACH_ONCE.edit("the sentences are returned, not their number", "Return how many there are.", (RESULT, "set(same)"))
EACH_ONCE.edit(
    "a list of the sentences is returned, not their number", "Return how many there are.", (RESULT, "[*set(same)]")
)
