"""Compares an answer to a question, and says what is wrong with it. Only the package itself imports it."""

from collections.abc import Sequence

from torch import Tensor

from course_lib.checks import bounds
from course_lib.checks.engine.comparing import as_tensor, has_text, listed, plain, same
from course_lib.checks.engine.exercise import Question, Wrong
from course_lib.checks.engine.saying import kind_of, says, short, type_name
from course_lib.checks.told import BLANK, Told

TRY_AGAIN = "Go through your solution again, step by step."


def ask(question: Question, answer: object) -> None:
    """Compares an answer with the right value; raises Wrong as `examine` does."""
    try:
        bounds.refuse_large(answer)
        bounds.Check()(lambda: same(answer, answer, 0.0))
    except (Exception, bounds.BeyondError):
        what = f"it has the type {type_name(answer)}, which cannot be compared"
        raise Wrong(says(question, what, "Give a number, a text, or a list of those.")) from None
    if answer is None or _has_blank(answer):
        raise Wrong(Told(BLANK, question.name, f"{question.name} has no answer yet", "Replace the blank."))
    if _is_right(question, answer, question.right()):
        return
    named = [(one, one.answer() if callable(one.answer) else one.answer) for one in question.misconceptions]
    named = [(one, value) for one, value in named if _is_near(question, answer, value)]
    if named:
        nearest = min(named, key=lambda one: _distance(answer, one[1]))[0]
        raise Wrong(says(question, nearest.name, nearest.hint))
    given, target, shown = plain(answer), plain(question.right()), short(answer)
    if isinstance(given, Tensor) and isinstance(target, Tensor) and given.shape != target.shape and given.ndim > 1:
        if same(given.flatten(), target.flatten(), question.tolerance, 0.0):
            what = f"the numbers are right, but in shape {tuple(given.shape)}"
            raise Wrong(says(question, what, f"The answer has the shape {tuple(target.shape)}."))
    if isinstance(target, Tensor) and target.ndim == 1:
        target, given = target.tolist(), listed(given)
    if isinstance(target, list):
        many = f"The answer is a list of {len(target)}."
        if not isinstance(given, list):
            raise Wrong(says(question, f"{shown} is {kind_of(answer)}", many))
        if len(given) != len(target):
            raise Wrong(says(question, f"{shown} has {len(given)} of {len(target)} entries", many))
        for n, (one, wanted) in enumerate(zip(given, target, strict=True), 1):
            if has_text(one) > has_text(wanted):
                raise Wrong(says(question, f"{short(one)} is text", "Write a number without quotation marks."))
            table = isinstance(wanted, list) and len({len(row) for row in target}) == 1
            if table and isinstance(one, list) and len(one) != len(wanted):
                raise Wrong(says(question, f"entry {n}, {short(one)}, has {len(one)} of {len(wanted)} numbers", many))
        entries = enumerate(zip(given, target, strict=True), 1)
        off = [n for n, (one, wanted) in entries if not _is_right(question, [one], [wanted])]
        if off:
            right = len(given) - len(off)
            if right == 0 and len(off) > 1:
                raise Wrong(says(question, f"no entry of {shown} is right", TRY_AGAIN))
            hint = "The other one is right." if right == 1 else "The others are right."
            raise Wrong(says(question, f"{_entries(off)} of {shown} {_are(off)} not right", hint))
    numbers, wanted = as_tensor(given), as_tensor(target)
    if (type(given) is not type(target) and (numbers is None) != (wanted is None)) or (
        wanted is not None and wanted.ndim == 0 < numbers.ndim
    ):
        hint = f"The answer is {kind_of(target)}."
        if isinstance(answer, tuple) and wanted is not None and wanted.ndim == 0:
            hint += " A comma makes a tuple. Write a decimal with a point, and put no comma after it."
        what = f"it is {shown}" if shown == kind_of(answer) else f"{shown} is {kind_of(answer)}"
        raise Wrong(says(question, what, hint))
    if numbers is not None and numbers.shape != wanted.shape:
        if numbers.ndim == wanted.ndim == 1:
            what = f"{shown} has {len(numbers)} of {len(wanted)} entries"
        else:
            what = f"{shown} has the shape {tuple(numbers.shape)}, not {tuple(wanted.shape)}"
        raise Wrong(says(question, what, "How many numbers does the question ask for?"))
    raise Wrong(says(question, f"{shown} is not right", TRY_AGAIN))


def _is_right(question: Question, answer: object, right: object) -> bool:
    """Whether an answer is right within the tolerance; where a list wants 0, only an exact 0 is right."""
    if not same(answer, right, question.tolerance, 0.0):
        return False
    given, wanted = as_tensor(plain(answer)), as_tensor(plain(right))
    return wanted is None or wanted.ndim == 0 or not given[wanted == 0].any()


def _is_near(question: Question, answer: object, value: object) -> bool:
    """Whether an answer is a misconception's value: integers must be equal, larger numbers may be rounded more."""
    near = 0.0 if isinstance(value, int) else min(question.tolerance, max(0.01, question.tolerance / 2))
    return same(answer, value, near, 0.0) or same(answer, value, 0.0, near)


def _has_blank(answer: object) -> bool:
    return answer is ... or (isinstance(answer, list | tuple) and any(map(_has_blank, answer)))


def _entries(numbers: Sequence[int]) -> str:
    *first, last = map(str, numbers)
    return f"entries {', '.join(first)} and {last}" if first else f"entry {last}"


def _are(several: Sequence) -> str:
    return "is" if len(several) == 1 else "are"


def _distance(given: object, value: object) -> float:
    """The largest difference between two values of equal shape if they are numbers, else 0."""
    numbers, target = as_tensor(plain(given)), as_tensor(plain(value))
    if numbers is None or target is None or not target.numel():
        return 0.0
    return (numbers.double() - target.double()).abs().nan_to_num().max().item()
