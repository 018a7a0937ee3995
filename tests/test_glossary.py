"""Each entry of the glossary is complete, runs, links to what exists, and states the library's own shapes."""

import ast
import contextlib
import importlib
import inspect
import io
import math
import re
import time
import typing
from pathlib import Path

import pytest
import torch
from nbformat.v4.nbjson import reads

from course_lib import glossary
from course_lib.glossary import SECTIONS

ROOT = Path(__file__).parent.parent
NOTEBOOKS = {path.name: path for path in sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))}
HEADER = ["other names", "symbol", "shape", "lesson", "related"]
BLOCK = re.compile(r"```python\n(.*?)```(?:\n+```text\n(.*?)```)?", re.DOTALL)
LONGEST_BLOCK = 15  # lines
SCREEN_AND_A_HALF = 70  # lines of 100 characters
QUOTED = re.compile(r"^> |[“\"«].{12,}?[”\"»][^(]*\([A-Z][^()]*\d{4}[^()]*\)", re.DOTALL)
FUNCTION = re.compile(r"([a-z_]+)\.([A-Za-z_.]+)(?:\((\w+)\)| -> ?(\d?))?")
SIZES = dict(
    batch=2, head=3, heads=3, query=5, key=7, source=7, target=5, n=5, length=11, d_k=13, d_value=17, d_model=24,
    d_ff=29, d_head=8, d_state=19, d_attention=23, size=31,
)  # fmt: skip


# ---- the checks: each gives the complaints that it has about an entry ----


def has_its_header(entry):
    lacking = [name for name in HEADER if not entry.header.get(name, "").strip()]
    return lacking + [name for name in entry.header if name not in HEADER]


def is_named_like_its_file(entry):
    name = re.sub(r"[ ,]+", "-", entry.term.lower())
    return [] if entry.name == name else [f"{entry.term!r} belongs in {name}.md"]


def has_its_sections_in_order(entry):
    return [] if list(entry.sections) == list(SECTIONS) else list(entry.sections)


def says_something_in_each_section(entry):
    return [name for name, text in entry.sections.items() if len(text.split()) < 8]


def quotes_a_paper_with_its_year(entry):
    return [] if QUOTED.search(entry.sections["The paper says"]) else ["no quotation with its source"]


def has_a_short_block_that_checks_itself(entry):
    blocks = BLOCK.findall(entry.sections["The arithmetic"])
    found = ["no block"] if len(blocks) != 1 else []
    for code, printed in blocks:
        last = ast.parse(code).body[-1]
        if not printed and not isinstance(last, ast.Assert):
            found.append("it ends neither in an assert nor in a printed result")
        if len(code.splitlines()) > LONGEST_BLOCK:
            found.append(f"{len(code.splitlines())} lines")
    return found


def has_lines_that_fit(entry):
    code = [line for block in BLOCK.findall(entry.text) for part in block for line in part.splitlines()]
    return [line for line in code if len(line) > 100]


def is_a_screen_and_a_half(entry):
    height = sum(math.ceil(len(line) / 100) for paragraph in unwrapped(entry.text) for line in paragraph)
    return [f"{height} lines"] if height > SCREEN_AND_A_HALF else []


def unwrapped(text):
    """Paragraph by paragraph: prose as one line, tables and code as their own."""
    for part in re.split(r"\n\n(?=[^\n])", text):
        yield part.splitlines() if part.startswith(("|", "```", "-")) else [" ".join(part.split())]


def links_to_what_exists(entry):
    targets = [target for _, target in glossary.LINK.findall(entry.text) if "://" not in target]
    return [target for target in targets if not (glossary.FOLDER / target.split("#")[0]).is_file()]


def names_related_entries_and_a_lesson(entry):
    lesson = [Path(target).name for _, target in glossary.LINK.findall(entry.header["lesson"])]
    found = [] if lesson and set(lesson) <= NOTEBOOKS.keys() else [f"lesson {lesson}"]
    return found + [name for name in entry.related if name not in glossary.entries()] + ([] if entry.related else [""])


def has_its_symbol_in_its_lesson(entry):
    symbols = re.findall(r"\$([^$]+)\$", entry.header["symbol"])
    text = "".join(prose(Path(target).name) for _, target in glossary.LINK.findall(entry.header["lesson"]))
    known = entry.header["symbol"] == "none" or any(bare(symbol) in bare(text) for symbol in symbols)
    return [] if known else [entry.header["symbol"]]


def bare(formula):
    return re.sub(r"[\s{}]|\\[,;!]", "", formula)


def prose(lesson):
    cells = reads(NOTEBOOKS[lesson].read_text(encoding="utf-8")).cells
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def states_the_shapes_of_the_library(entry):
    rows = re.findall(r"^\|[^|]+\| `([^`]+)` \| `([^`]+)` \|$", entry.sections["Shapes"], re.MULTILINE)
    named = [(shape, shape_of(thing)) for shape, thing in rows]
    return [f"{shape} is {real}" for shape, real in named if real not in (shape, sizes_of(shape))]


def sizes_of(shape):
    with contextlib.suppress(Exception):
        return tuple(eval(name, dict(SIZES)) for name in shape.split())


def shape_of(thing):
    """What the library says: an annotation's text, or the sizes of a tensor."""
    found = FUNCTION.fullmatch(thing)
    if not found:  # an expression over SIZES, such as layers.FeedForward(d_model, d_ff).expand.weight
        names = {name: importlib.import_module(f"course_lib.{name}") for name in re.findall(r"\b([a-z_]+)\.", thing)
                 if name in MODULES}  # fmt: skip
        return tuple(eval(thing, {**SIZES, **names, "torch": torch}).shape)
    module, path, argument, place = found.groups()
    thing = importlib.import_module(f"course_lib.{module}")
    *owners, last = path.split(".")
    for owner in owners:
        thing = getattr(thing, owner)
    if argument is None and place is None:  # a field of a class
        return annotation(typing.get_type_hints(thing)[last])
    thing = getattr(thing, last)
    hints = inspect.get_annotations(thing.forward if inspect.isclass(thing) else thing)
    if argument is not None:
        return annotation(hints[argument])
    hint = hints["return"]
    return annotation(typing.get_args(hint)[int(place)] if place else hint)


def annotation(hint):
    options = [option for option in (hint, *typing.get_args(hint)) if hasattr(option, "dim_str")]
    return options[0].dim_str.strip()


MODULES = {path.stem for path in (ROOT / "course_lib").glob("*.py")}
CHECKS = [
    has_its_header,
    is_named_like_its_file,
    has_its_sections_in_order,
    says_something_in_each_section,
    quotes_a_paper_with_its_year,
    has_a_short_block_that_checks_itself,
    has_lines_that_fit,
    is_a_screen_and_a_half,
    links_to_what_exists,
    names_related_entries_and_a_lesson,
    has_its_symbol_in_its_lesson,
    states_the_shapes_of_the_library,
]
each_check = pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)


@pytest.mark.parametrize("entry", glossary.entries().values(), ids=lambda entry: entry.name)
def test_entry(entry):
    assert {check.__name__: found for check in CHECKS if (found := check(entry))} == {}


# ---- every block runs ----


def run(code):
    """Runs a block alone, after a random number of draws, so that only what it seeds itself is the same."""
    torch.seed()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "a block of the glossary", "exec"), {"__name__": "__main__"})
    return printed.getvalue()


SECONDS = {}


@pytest.mark.parametrize("entry", glossary.entries().values(), ids=lambda entry: entry.name)
def test_the_arithmetic_runs_and_prints_what_is_shown(entry):
    started = time.perf_counter()
    for code, shown in BLOCK.findall(entry.sections["The arithmetic"]):
        assert run(code).rstrip() == shown.rstrip()
    SECONDS[entry.name] = time.perf_counter() - started


def test_all_blocks_together_take_less_than_a_minute():
    assert sum(SECONDS.values()) < 60, SECONDS


# ---- the glossary as a whole ----

SOURCE_GLOSSARY = [
    "gradient anti-ascent", "hidden state", "statistical selection", "attention", "self-attention",
    "multi-head attention", "query", "key", "value", "encoder", "decoder", "learned parameters",
    "positional encoding", "residual connection", "layer normalisation", "feed-forward network",
    "training and inference", "what training produced",
]  # fmt: skip
LECTURE_NOTES = ["x_i", "h_i", "s_t", "q_t", "K", "V", "e_{t,i}", "α_{t,i}", "c_t", "o_t"]
OTHERS = [
    "bottleneck", "teacher forcing", "alignment", "additive score", "scaled dot product", "mask", "padding mask",
    "causal mask", "softmax", "temperature", "logits", "cross-entropy", "label smoothing", "dropout", "warm-up",
    "cross-attention", "encoder-only", "decoder-only", "greedy decoding", "sampling", "beam search", "embedding",
    "static embedding", "contextual embedding", "tokenisation", "backpropagation", "autograd", "loss",
    "activation function", "optimiser", "BLEU", "alignment error rate", "permutation equivariance",
]  # fmt: skip


@pytest.mark.parametrize("term", SOURCE_GLOSSARY + LECTURE_NOTES + OTHERS)
def test_a_reader_finds(term):
    assert glossary.find(term)


def test_no_two_entries_claim_one_name():
    every = glossary.entries().values()
    names = [name for entry in every for name in {glossary._plain(name) for name in (entry.term, *entry.other_names)}]
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize(
    ("analogy", "home"), [("flashlight", "attention"), ("library index", "query"), ("classroom", "self-attention")]
)
def test_an_analogy_stands_once_with_the_point_at_which_it_fails(analogy, home):
    told = {entry.name: entry.text for entry in glossary.entries().values() if analogy in entry.text}
    assert list(told) == [home] and re.search(r"\bfails?\b", told[home])


# ---- the lessons lead here ----

TO_ENTRY = re.compile(r"\[([^\]]+)\]\(\.\./glossary/([^)#]+)\.md\)")
NOT_PROSE = re.compile(
    r"```.*?```|`[^`\n]*`|\$\$.*?\$\$|\$[^$\n]+\$|!?\[[^\]]*\]\([^)]*\)|^#[^\n]*|^\|[^\n]*", re.DOTALL | re.MULTILINE
)


def cells_of_prose(lesson):
    """The text of a lesson, without what stands beside it: opening, lecturer's notes, list of entries."""
    for cell in reads(NOTEBOOKS[lesson].read_text(encoding="utf-8")).cells:
        notes = cell.metadata.get("slideshow", {}).get("slide_type") == "notes"
        if cell.cell_type == "markdown" and not notes and cell.id not in ("title", "plan", "glossary"):
            yield cell.source


NAMES = {name for entry in glossary.entries().values() for name in (entry.term, *entry.other_names)}


def late_links(cells):
    """Links that stand after their words have been used, or lead to an entry that was linked before."""
    before, linked, late = "", set(), []
    for text in cells:
        for link in TO_ENTRY.finditer(text):
            words, entry = link[1].replace("*", ""), link[2]
            used = before + NOT_PROSE.sub(" ", text[: link.start()])
            for longer in NAMES:  # in "causal mask", the mask is not yet named
                used = used.replace(longer, " ") if words in longer and words != longer else used
            if entry in linked or re.search(rf"(?<![\w-]){re.escape(words)}(?![\w-])", used, re.IGNORECASE):
                late.append(words)
            linked.add(entry)
        before += NOT_PROSE.sub(" ", text)
    return late


@pytest.mark.parametrize("lesson", NOTEBOOKS)
def test_a_lesson_links_a_term_at_its_first_use(lesson):
    assert late_links(cells_of_prose(lesson)) == []


def test_a_late_link_is_seen():
    link = "[mask](../glossary/mask.md)"
    assert late_links([f"# Mask\n\n`mask` {link}, and a mask"]) == []
    assert late_links(["A mask.", f"A {link}."]) == ["mask"]
    assert late_links([f"A {link}.", "A [second mask](../glossary/mask.md)."]) == ["second mask"]


def test_every_entry_is_linked_from_a_lesson_that_it_names():
    for entry in glossary.entries().values():
        for _, lesson in glossary.LINK.findall(entry.header["lesson"]):
            assert f"](../glossary/{entry.name}.md)" in prose(Path(lesson).name), f"{entry.name}: {lesson}"


@pytest.mark.parametrize("lesson", NOTEBOOKS)
def test_every_entry_that_a_lesson_links_exists(lesson):
    linked = [name for _, name in TO_ENTRY.findall(prose(lesson))]
    assert linked and set(linked) <= {*glossary.entries(), "claims"}
