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

from course_lib import claims, glossary
from course_lib.curriculum import number_of
from course_lib.glossary import SECTIONS, Entry
from course_lib.tools import pages

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


# ---- an entry that pleases every check, and one that displeases each ----

GOOD = """# key

| other names | K |
|---|---|
| symbol | $K$ |
| shape | `key d_k` |
| lesson | [3](../notebooks/03_scaled_dot_product.ipynb) |
| related | [query](query.md) |

**The paper says.** "mapping a query and a set of key-value pairs" (Vaswani et al. 2017, section 3.2).

**What happens.** A vector is multiplied by a matrix, and the product is the key.

**The arithmetic.** One entry of one key.

```python
print(1 * 2 + 3 * 4)
```

```text
14
```

**Shapes.**

| what | shape | in the library |
|---|---|---|
| keys | `*axes key d_k` | `attention.scaled_dot_product_attention(key)` |
| projected | `batch source d_key` | `recurrent.Memory.keys` |
| weights | `*axes query key` | `attention.scaled_dot_product_attention -> 1` |
| matrix | `d_model d_model` | `attention.MultiHeadAttention(d_model, heads).key_projection.weight` |

**Where people go wrong.** They take the key for the value, which is another product.

**Where it breaks.** A key and a query of different sizes have no dot product.
"""
FAULTS = {
    has_its_header: ("| shape | `key d_k` |\n", ""),
    is_named_like_its_file: ("# key", "# keyword"),
    has_its_sections_in_order: ("**Where it breaks.**", "**Limits.**"),
    says_something_in_each_section: ("They take the key for the value, which is another product.", "No."),
    quotes_a_paper_with_its_year: (" 2017", ""),
    has_a_short_block_that_checks_itself: ("```text\n14\n```\n", ""),
    has_lines_that_fit: ("print(1", "print(0" + " + 0" * 30 + " + 1"),
    is_a_screen_and_a_half: ("have no dot product.", "have no dot product. " * 400),
    links_to_what_exists: ("A vector is", "A [vector](vector.md) is"),
    names_related_entries_and_a_lesson: ("[query](query.md)", "[query](claims.md)"),
    has_its_symbol_in_its_lesson: ("$K$", "$K_{17}$"),
    states_the_shapes_of_the_library: ("`batch source d_key`", "`batch d_key source`"),
}


@each_check
def test_a_good_entry_passes(check):
    assert check(Entry("key", GOOD)) == []


@pytest.mark.parametrize("shape", ["*axes key d_k", "batch source d_key", "*axes query key", "d_model d_model"])
def test_each_way_to_name_an_object_finds_a_wrong_shape(shape):
    assert states_the_shapes_of_the_library(Entry("key", GOOD.replace(f"`{shape}` | `", "`batch 1` | `"))) != []


@each_check
def test_a_fault_is_found_by_its_check_and_no_other(check):
    good, bad = FAULTS[check]
    assert GOOD.count(good) == 1
    entry = Entry("key", GOOD.replace(good, bad))
    assert [other for other in CHECKS if other(entry)] == [check]


def test_a_block_that_prints_something_else_is_found():
    with pytest.raises(AssertionError):
        test_the_arithmetic_runs_and_prints_what_is_shown(Entry("trial", GOOD.replace("\n14\n", "\n15\n")))
    SECONDS.pop("trial", None)


@pytest.mark.parametrize("lines", [LONGEST_BLOCK, LONGEST_BLOCK + 1])
def test_a_block_has_so_many_lines(lines):
    entry = Entry("key", GOOD.replace("print(1", "\n" * (lines - 1) + "print(1"))
    assert bool(has_a_short_block_that_checks_itself(entry)) == (lines > LONGEST_BLOCK)


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
    started = time.process_time()
    for code, shown in BLOCK.findall(entry.sections["The arithmetic"]):
        assert run(code).rstrip() == shown.rstrip()
    SECONDS[entry.name] = time.process_time() - started


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
    "activation function", "optimiser", "BLEU", "alignment error rate", "permutation equivariance", "language model",
    "masked language model", "byte-pair encoding", "BPE", "bits per character", "perplexity", "n-gram",
    "nucleus sampling", "top-p", "induction head", "in-context learning", "few-shot learning", "RoPE",
    "ALiBi", "flash attention", "online softmax", "sliding window", "linear attention", "GQA", "MQA", "MoE", "RMSNorm",
    "SwiGLU", "hard attention", "REINFORCE", "Gumbel-softmax", "ViT", "rollout", "occlusion",
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


# ---- the glossary tells the verdicts of the boxes ----

ANSWERS = "|".join(sorted(claims.SIGNS, key=len, reverse=True))  # "holds only if" before "holds"
TOLD = re.compile(rf"[Cc]laim ([A-Z]\d+)(?: \(lesson (\d+)\))?(?:(?:, [^.]*?,)? (?:is )?({ANSWERS}))?")


def test_every_verdict_that_an_entry_tells_is_that_of_the_box():
    """A claim named with its lesson must have its answer there; one named alone may have none."""
    boxes = {
        (claim, "" if verdict.place == "page" else str(number_of(verdict.place)), verdict.record["verdict"])
        for claim, every in pages.verdicts().items()
        for verdict in every
    }
    told = {entry.name: TOLD.findall(" ".join(entry.text.split())) for entry in glossary.entries().values()}
    told = [(name, said) for name, every in told.items() for said in every if said[1] or said[2]]
    assert len(told) >= 40
    assert [(name, said) for name, said in told if said not in boxes] == []


# ---- the lessons lead here ----

TO_ENTRY = re.compile(r"\[([^\]]+)\]\(\.\./glossary/([^)#]+)\.md\)")
NOT_PROSE = re.compile(
    r"```.*?```|`[^`\n]*`|\$\$.*?\$\$|\$[^$\n]+\$|!?\[[^\]]*\]\([^)]*\)|^#[^\n]*|^\|[^\n]*", re.DOTALL | re.MULTILINE
)


def cells_of_prose(lesson):
    """The text of a lesson, without what stands beside it: opening, lecturer's notes, list of entries."""
    for cell in reads(NOTEBOOKS[lesson].read_text(encoding="utf-8")).cells:
        notes = cell.metadata.get("slideshow", {}).get("slide_type") == "notes"
        if cell.cell_type == "markdown" and not notes and cell.id not in ("title", "title-about", "plan", "glossary"):
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


@pytest.mark.slow
def test_every_entry_is_linked_from_a_lesson_that_it_names():
    for entry in glossary.entries().values():
        for _, lesson in glossary.LINK.findall(entry.header["lesson"]):
            assert f"](../glossary/{entry.name}.md)" in prose(Path(lesson).name), f"{entry.name}: {lesson}"


@pytest.mark.parametrize("lesson", NOTEBOOKS)
def test_every_entry_that_a_lesson_links_exists(lesson):
    linked = [name for _, name in TO_ENTRY.findall(prose(lesson))]
    assert linked and set(linked) <= {*glossary.entries(), "claims"}


# ---- in a notebook ----


@pytest.fixture
def shown(monkeypatch):
    bundles = []
    monkeypatch.setattr(glossary, "display", lambda bundle, raw: bundles.append(bundle))
    return bundles


@pytest.mark.parametrize("name", ["query", "Query", "q_t", "query vectors", "query-vector"])
def test_a_card_is_shown_by_any_name(shown, name):
    glossary.show(name)
    (bundle,) = shown
    assert bundle["text/plain"] == glossary.entries()["query"].text
    assert (
        '<h1 id="query">query</h1>' in bundle["text/html"]
        and "<strong>Where it breaks.</strong>" in bundle["text/html"]
    )


@pytest.mark.parametrize("folder", ["notebooks", "notebooks/images", "."])
def test_links_of_a_card_lead_to_the_files_from_where_the_notebook_is(shown, folder, monkeypatch):
    monkeypatch.chdir(ROOT / folder)
    glossary.show("key")
    targets = re.findall(r'href="([^"#]+)"', shown[0]["text/html"])
    assert any(target.endswith("query.md") for target in targets)
    assert any(target.endswith(".ipynb") for target in targets)
    assert all((ROOT / folder / target).is_file() for target in targets)


def test_an_unknown_term_suggests_the_nearest(shown, capsys):
    glossary.show("boltzman distribution")
    assert "no entry 'boltzman distribution'; the nearest are 'statistical selection'" in capsys.readouterr().out
    glossary.show("zzz")
    assert "glossary.search" in capsys.readouterr().out
    glossary.show("")
    assert "no entry ''" in capsys.readouterr().out
    assert shown == []


def test_a_search_lists_what_contains_all_words_and_names_first(shown, capsys):
    glossary.search("causal mask")
    lines = shown[0]["text/plain"].splitlines()
    assert lines[0].startswith("- [causal mask](causal-mask.md): ") and len(lines) > 2
    glossary.search("a word that no entry has: xylophone")
    glossary.search(" ")
    assert len(shown) == 1 and capsys.readouterr().out.count("No entry of the glossary contains") == 2


def test_without_its_folder_the_glossary_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setattr(glossary, "FOLDER", tmp_path / "glossary")
    with pytest.raises(FileNotFoundError, match="run the course from its clone"):
        glossary.show("query")
