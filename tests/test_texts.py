"""Running text: the extract is the one that was measured, nothing is read twice, and windows reach every place."""

import hashlib
import lzma
import re
import zlib

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from course_lib.byte_pairs import BytePairs
from course_lib.texts import (
    BLANK,
    REFERENCE,
    SHORTEST,
    TextCorpus,
    Windows,
    from_text,
    python_reference,
    split,
    vocabulary,
)

TOPICS = dict(topic.split("\n", 1) for topic in lzma.decompress(REFERENCE.read_bytes()).decode().split("\f")[1:])
HELD_OUT = {name for name in TOPICS if zlib.crc32(name.encode()) % 10 == 2}


def paragraphs(text):
    return [part for part in re.split(BLANK, text.strip("\n")) if part.strip()]


def in_both(corpus):
    return paragraphs(corpus.train) + paragraphs(corpus.validation)


# ---- the extract ----


def test_the_extract_is_the_one_that_was_measured_and_its_licence_lies_beside_it():
    raw = lzma.decompress(REFERENCE.read_bytes())
    assert hashlib.sha256(raw).hexdigest() == "718454ad4fce87311c6ccbfc6b82cb382dc23962470a18d1581e2948842eb2a8"
    assert len(TOPICS) == 79
    notice = REFERENCE.with_name("LICENSE").read_text(encoding="utf-8")
    for said in (
        REFERENCE.name,
        "79 topics",
        "Python 3.11.7",
        "PYTHON SOFTWARE FOUNDATION LICENSE",
        "Summary of changes",
    ):
        assert said in notice


def test_every_paragraph_of_the_reference_is_read_once():
    corpus, whole = python_reference(), [part for text in TOPICS.values() for part in paragraphs(text)]
    assert len(in_both(corpus)) == len(set(in_both(corpus)))
    assert set(in_both(corpus)) == set(whole) and len(whole) > 1.1 * len(set(whole))
    lost = 1 - sum(map(len, {*whole})) / sum(map(len, whole))
    assert corpus.dropped == pytest.approx(lost, abs=0.01)
    assert 0.1 < len(corpus.validation) / len(corpus.train) < 0.25


def test_hardly_anything_of_what_is_held_out_stands_in_the_training_text():
    """Split by topic alone, a third of it would be in both parts, since topics repeat each other."""
    parts = [[text for name, text in TOPICS.items() if (name in HELD_OUT) == held_out] for held_out in (False, True)]
    naive = TextCorpus(*("\n\n\n".join(part) for part in parts), dropped=0.0)
    assert python_reference().overlap < 0.005
    assert naive.overlap > 0.2


def test_the_overlap_is_the_share_of_runs_of_eight_words():
    known, new = "a b c d e f g h i", "h i j k l m n o p"
    assert TextCorpus(known, "\n".join(["x", known, new]), 0.0).overlap == pytest.approx(2 / (19 - 7))
    assert TextCorpus(known, "a b c d e f g", 0.0).overlap == 0  # no run at all


# ---- paragraphs once, then parts ----

PARAGRAPHS = {letter: letter * SHORTEST for letter in "abcdef"}
topic = st.lists(st.sampled_from([*PARAGRAPHS]), min_size=1, max_size=4)


@given(st.dictionaries(st.integers(0, 9).map(str), topic, max_size=8), st.sets(st.integers(0, 9).map(str)))
def test_a_paragraph_goes_where_it_stands_first(topics, held_out):
    wanted, seen = {False: [], True: []}, set()
    for name, letters in topics.items():
        for letter in letters:
            if letter not in seen:
                wanted[name in held_out].append(PARAGRAPHS[letter])
            seen.add(letter)
    texts = {name: "\n\n".join(PARAGRAPHS[letter] for letter in letters) for name, letters in topics.items()}
    if all(wanted.values()):
        corpus = split(texts, held_out)
        assert (paragraphs(corpus.train), paragraphs(corpus.validation)) == (wanted[False], wanted[True])
        count = sum(map(len, topics.values()))
        assert corpus.dropped == pytest.approx(1 - len(seen) / count, abs=0.01)
    else:
        name = "validation" if wanted[False] else "training"
        with pytest.raises(ValueError, match=f"^0 characters are left for {name}; it needs at least 1,000"):
            split(texts, held_out)


@pytest.mark.parametrize("between", ["\n\n", "\n\n\n\n", "\n  \n", "\n \n\t\n\n"])
def test_a_paragraph_is_the_same_whatever_blank_lines_stand_before_it(between):
    long = "x" * SHORTEST
    corpus = split({"one": f"  indented{between}{long}", "two": f"{long}y{between}  indented"}, {"two"})
    assert (corpus.train, corpus.validation) == (f"  indented\n\n{long}", f"{long}y")


def test_a_corpus_is_known_by_its_two_texts():
    one = TextCorpus("a", "b", 0.0)
    assert one.fingerprint == TextCorpus("a", "b", 0.5).fingerprint
    others = [
        TextCorpus("b", "a", 0.0),
        TextCorpus("a\f", "b", 0.0),
        TextCorpus("ab", "", 0.0),
        TextCorpus("", "ab", 0.0),
    ]
    assert len({corpus.fingerprint for corpus in (one, *others)}) == 5


def test_the_vocabulary_is_that_of_the_training_text_and_is_made_once():
    corpus = TextCorpus("low lower lowest", "newer newest", 0.0)
    assert vocabulary(corpus, 262).merges == BytePairs.train("low lower lowest", 262).merges
    assert vocabulary(corpus, 262) is vocabulary(TextCorpus("low lower lowest", "newer newest", 0.0), 262)
    assert len(vocabulary(corpus, 258)) == 258


# ---- a text of one's own ----


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("texts") / "own.txt"


WRITTEN = st.characters(exclude_characters="\0", codec="utf-8")


def prose(count, size=400):
    """Returns `count` paragraphs, no two of them equal."""
    return "\n\n".join(f"{number} " + "word " * (size // 5) for number in range(count))


def test_a_file_that_is_fine(file):
    file.write_text(prose(300), encoding="utf-8")
    corpus = from_text(str(file))
    assert sorted(in_both(corpus)) == sorted(paragraphs(prose(300)))
    assert 0.05 < len(corpus.validation) / (len(corpus.train) + len(corpus.validation)) < 0.15
    assert corpus.dropped < 0.001
    assert corpus.fingerprint == from_text(file).fingerprint


@given(
    st.lists(st.text(WRITTEN, min_size=1, max_size=9).map(lambda text: text * 99), max_size=40),
    st.sampled_from(["\n\n", "\r\n\r\n"]),
)
def test_each_paragraph_of_any_file_is_read_once_or_the_file_is_refused(file, parts, between):
    text = between.join(parts)
    file.write_bytes(text.encode())
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    try:
        corpus = from_text(file)
    except ValueError as error:
        assert re.match(
            f"{re.escape(str(file))}(: [0-9,]+ characters are left for | is empty; give a text)", str(error)
        )
        assert len("".join({*paragraphs(lines)})) < 30 * SHORTEST
    else:
        assert sorted(in_both(corpus)) == sorted({*paragraphs(lines)})


@pytest.mark.parametrize("size", range(6_500, 60_000, 3_100))
def test_a_file_is_not_refused_for_where_its_chapters_happen_to_end(file, size):
    """The last chapter may be a single paragraph, so it must not be the only one held out."""
    file.write_text(prose(200)[:size], encoding="utf-8")
    assert len(from_text(file).validation) > SHORTEST


@pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbf", b" \n\r\n\t"])
def test_an_empty_file_is_refused(file, content):
    file.write_bytes(content)
    with pytest.raises(ValueError, match="own.txt is empty; give a text of some 100,000 characters"):
        from_text(file)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("short", "5 characters are left for training"),
        (prose(14)[:5600], r"\d\d\d characters are left for validation"),
        ("one giant paragraph " * 9_000, "0 characters are left for validation"),
        ("\n\n".join([prose(3)] * 100), "0 characters are left for validation"),
    ],
    ids=["short", "hardly more than a chapter", "one paragraph", "repeated"],
)
def test_a_file_that_leaves_too_little_is_refused(file, text, left):
    file.write_text(text, encoding="utf-8")
    advice = (
        "it needs at least 1,000, and a model needs some 100,000 .* at blank lines, and repeated paragraphs count once"
    )
    with pytest.raises(ValueError, match=f"own.txt: {left}; {advice}"):
        from_text(file)


def test_what_is_repeated_in_a_file_counts_as_dropped(file):
    file.write_text(f"{prose(100)}\n\n{prose(100)}", encoding="utf-8")
    corpus = from_text(file)
    assert corpus.dropped == pytest.approx(0.5, abs=0.01) and len(in_both(corpus)) == 100


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "BOM"])
@pytest.mark.parametrize(
    ("content", "byte", "line"),
    [(b"\xffa", 1, 1), ("é\n".encode() + b"\xe9t\xe9\n", 4, 2), (b"a\r\n\nb\xc3", 6, 3)],
)
def test_a_file_that_is_not_utf_8_is_refused_and_told_where(file, mark, content, byte, line):
    file.write_bytes(mark + content)
    said = f"own.txt: byte {byte + len(mark)}, in line {line}, is not UTF-8; save it as UTF-8"
    with pytest.raises(ValueError, match=said) as raised:
        from_text(file)
    assert type(raised.value) is ValueError


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=repr)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_byte_order_marks_and_line_ends_are_no_part_of_the_text(file, encoding, end):
    file.write_text(prose(60), encoding="utf-8", newline="\n")
    plain = from_text(file)
    file.write_text(prose(60), encoding=encoding, newline=end)
    assert from_text(file) == plain


def test_a_file_with_a_nul_is_refused(file):
    file.write_text(prose(60), encoding="utf-16-le")
    with pytest.raises(ValueError, match="own.txt: line 1 has a NUL, which no text in UTF-8 has; save it as UTF-8"):
        from_text(file)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="lost.txt"):
        from_text(tmp_path / "lost.txt")


# ---- windows ----


def drawn(windows, seed=0):
    return list(windows(torch.Generator().manual_seed(seed)))


def test_windows_have_one_token_more_than_is_read_and_follow_the_text():
    batches = drawn(Windows(range(100, 200), 8, 3, batches=5))
    assert [batch.shape for batch in batches] == [(3, 9)] * 5
    for batch in batches:
        assert batch.dtype == torch.int64
        assert torch.equal(batch[:, 1:], batch[:, :-1] + 1)  # what follows each token that is read


@given(st.integers(1, 12), st.integers(1, 5))
def test_a_window_may_begin_at_every_place_from_which_it_fits(places, length):
    batches = drawn(Windows(range(places + length), length, 16, batches=30))
    assert {int(start) for batch in batches for start in batch[:, 0]} == set(range(places))
    assert max(int(batch.max()) for batch in batches) == places + length - 1


def test_the_generator_decides_and_each_pass_is_drawn_anew():
    windows = Windows(range(1_000), 4, 8, batches=3)
    one, two, other = drawn(windows), drawn(windows), drawn(windows, seed=1)
    assert all(map(torch.equal, one, two)) and not any(map(torch.equal, one, other))
    generator = torch.Generator().manual_seed(0)
    assert not torch.equal(next(windows(generator)), next(windows(generator)))


@pytest.mark.parametrize("count", [0, 1, 8])
def test_a_text_shorter_than_a_window_is_refused(count):
    with pytest.raises(ValueError, match=rf"the text has {count} tokens, but a window has 8 \+ 1; give a longer text"):
        Windows(range(count), 8, 2)
    assert drawn(Windows(range(9), 8, 1, batches=1))[0].tolist() == [[*range(9)]]


@pytest.mark.parametrize("numbers", [(0, 2, 2), (4, 0, 2), (4, 2, 0)])
def test_windows_of_no_size_are_refused(numbers):
    with pytest.raises(
        ValueError, match="length is {}, batch_size {} and batches {}; each must be at least 1".format(*numbers)
    ):
        Windows(range(9), *numbers)


def test_the_fingerprint_differs_when_anything_differs():
    text = [1, 2, 3] * 9
    settings = [(text, 8, 2, 5), (text[:-1], 8, 2, 5), ([*text[:-1], 4], 8, 2, 5), (text[::-1], 8, 2, 5),
                (text, 7, 2, 5), (text, 8, 3, 5), (text, 8, 2, 6), (text, 2, 8, 5)]  # fmt: skip
    assert len({Windows(*own).fingerprint for own in settings}) == len(settings)
    assert Windows(*settings[0]).fingerprint == Windows(*settings[0]).fingerprint
