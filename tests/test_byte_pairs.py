"""Byte-pair encoding: every text comes back, and merges and tokens are those of plain loops and of `tokenizers`."""

import itertools
import json
import re
from collections import Counter
from functools import cache

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from tokenizers import Regex, Tokenizer, models, pre_tokenizers

from course_lib.byte_pairs import PIECE, BytePairs, merge, pieces
from course_lib.texts import python_reference

# Kinds of pieces that meet: words, digits, signs, white space of all kinds, characters of one to four bytes.
ODD = (
    "  the whi\nwhile\r\n\t\t x1 42\x0b\x0c\x1c\x85\xa0\u2028\u3000e\u0301ß漢字🙂👩\u200d🔬\x00\x1f\x7f'll__init__ "
    "\ufeff–½٣\U0010ffff\n"
)
any_text = st.text(st.characters(exclude_categories=["Cs"]))
odd_text = st.lists(st.sampled_from([*ODD, "the ", "while", "\r\n", "  "])).map("".join)
few_letters = st.text("ab c\n", max_size=60)  # so that ties and overlapping pairs are common


@cache
def trained():
    return BytePairs.train(python_reference().train, 600)


# ---- there and back ----


@given(any_text | odd_text)
@example(ODD)
@example("")
def test_every_text_comes_back(text):
    for tokens in (trained(), BytePairs([])):
        numbers = tokens.encode(text)
        assert tokens.decode(numbers) == text
        assert len(numbers) <= len(text.encode())


@given(any_text | odd_text)
@example(ODD)
def test_pieces_are_of_one_kind_and_joined_they_are_the_text(text):
    cut = pieces(text)
    assert "".join(cut) == text
    space = "\t\n\x0b\x0c\r "
    kinds = [
        lambda c: not c.isascii() or c.isalpha(),
        lambda c: c.isascii() and c.isdigit(),
        lambda c: c.isascii() and not c.isalnum() and c not in space,
    ]
    for piece in cut:
        assert not piece.strip(space) or any(all(map(kind, piece.removeprefix(" "))) for kind in kinds)


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("while x1: # 42", ["while", " x", "1", ":", " #", " 42"]),
        ("a  b\n    c\n\n", ["a", " ", " b", "\n   ", " c", "\n\n"]),
        ("don't_42é n\xa0m", ["don", "'", "t", "_", "42", "é", " n\xa0m"]),
        ("x\t\ty\n", ["x", "\t", "\t", "y", "\n"]),
    ],
)
def test_how_a_text_is_cut(text, cut):
    assert pieces(text) == cut


@given(st.lists(st.integers(0, 599)))
def test_any_tokens_can_be_read_and_what_is_no_text_becomes_a_mark(numbers):
    tokens = trained()
    written = tokens.decode(numbers)
    raw = b"".join(tokens.bytes_of[number] for number in numbers)
    assert written == raw.decode("utf-8", "replace")
    assert len(tokens.spelled(numbers)) == len(numbers)
    if "�" not in written:
        assert tokens.decode(tokens.encode(written)) == written


def test_a_token_by_itself_is_spelled_as_text_or_as_its_bytes():
    tokens = BytePairs.train("é é é", 257)
    assert len(tokens) == 257 and tokens.spelled([256, 0xC3, 97]) == ["é", "<c3>", "a"]
    assert tokens.decode([0xC3, 97]) == "�a"


@pytest.mark.parametrize("number", [-1, 600])
@pytest.mark.parametrize("way", ["decode", "spelled"])
def test_a_number_that_is_no_token_is_refused(way, number):
    with pytest.raises(IndexError, match=f"there is no token {number}; the tokens are 0 to 599"):
        getattr(trained(), way)([5, number])


@pytest.mark.parametrize("half", ["\ud800", "\udfff"])
def test_half_of_a_surrogate_pair_is_refused(half):
    text = f"ab{half}c"
    for use in (trained().encode, pieces, lambda text: BytePairs.train(text, 300)):
        with pytest.raises(ValueError, match=r"character 2 is '\\ud[8f][0f][0f]', half of .*; remove it") as raised:
            use(text)
    assert type(raised.value) is ValueError  # not the codec's own error, whose words are others
    advice = re.search("by (.*)$", str(raised.value)).group(1)
    assert trained().decode(trained().encode(eval(advice, {"text": text}))) == "abc"


# ---- training ----


def by_recounting(text, size):
    """The plain loop: count all pairs of neighbours, merge the commonest, and again. And what is left of the text."""
    rows, merges = [list(piece.encode()) for piece in pieces(text)], []
    while len(merges) < size - 256:
        count = Counter(pair for row in rows for pair in itertools.pairwise(row))
        if not count:
            break
        most = max(count.values())
        merges.append(min(pair for pair in count if count[pair] == most))
        rows = [merge(row, merges[-1], 255 + len(merges)) for row in rows]
    return merges, list(itertools.chain(*rows))


@given(few_letters | any_text | odd_text)
@example("aaaaa aaaa aaa")
@example("abab baba abab baba")
def test_the_fast_training_finds_what_recounting_finds(text):
    tokens = BytePairs.train(text, 280)
    assert (tokens.merges, tokens.encode(text)) == by_recounting(text, 280)


def test_it_does_on_real_text():
    text = python_reference().train[:5_000]
    tokens = BytePairs.train(text, 306)
    assert (tokens.merges, tokens.encode(text)) == by_recounting(text, 306)


def test_of_pairs_that_stand_equally_often_the_one_of_smaller_numbers_is_first():
    assert BytePairs.train("zy ab", 258).merges == [(ord(" "), ord("a")), (ord("z"), ord("y"))]


def test_a_merge_goes_from_left_to_right_and_reaches_across_no_two_pieces():
    tokens = BytePairs.train("aaa aaa", 300)
    assert tokens.merges[0] == (97, 97) and len(tokens) < 300  # no pair is left
    assert all(" " not in spelled[1:] for spelled in tokens.spelled(range(len(tokens))))


@pytest.mark.parametrize("text", ["", "a", "a\nb"])
def test_without_pairs_the_tokens_are_the_bytes(text):
    assert len(BytePairs.train(text, 300)) == 256


@pytest.mark.parametrize("size", [255, 0, -1])
def test_a_size_below_that_of_the_alphabet_is_refused(size):
    with pytest.raises(ValueError, match=f"size is {size}; it must be at least 256, since the alphabet is the bytes"):
        BytePairs.train("text", size)
    assert BytePairs.train("text", 256).merges == []


# ---- the `tokenizers` package ----


def package(tokens):
    """The package's tokenizer of the same merges and rule. Its alphabet writes each byte as a printable character."""
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = iter(range(256, 512))
    letters = [chr(byte if byte in printable else next(others)) for byte in range(256)]
    assert sorted(letters) == sorted(pre_tokenizers.ByteLevel.alphabet())
    spelled = ["".join(letters[byte] for byte in own) for own in tokens.bytes_of]
    merges = [(spelled[a], spelled[b]) for a, b in tokens.merges]
    built = Tokenizer(models.BPE({name: number for number, name in enumerate(spelled)}, merges))
    built.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PIECE), "isolated"),
            pre_tokenizers.ByteLevel(use_regex=False, add_prefix_space=False),
        ]
    )
    return built


@cache
def reference():
    return package(trained())


@given(any_text | odd_text | st.text("ehiltw \n"))
@example(ODD)
def test_the_tokens_are_those_of_the_tokenizers_package(text):
    assert trained().encode(text) == reference().encode(text).ids


@given(few_letters | odd_text, few_letters | odd_text)
def test_they_are_with_merges_of_any_text(known, text):
    tokens = BytePairs.train(known, 280)
    assume(len({*tokens.bytes_of}) == len(tokens))  # the package tells tokens by what they spell
    assert tokens.encode(text) == package(tokens).encode(text).ids


def test_they_are_on_the_whole_reference_with_odd_text_mixed_in():
    corpus = python_reference()
    lines = (corpus.train + corpus.validation).splitlines(keepends=True)
    text = "".join(line + ODD * (number % 97 == 0) for number, line in enumerate(lines))
    assert trained().encode(text) == reference().encode(text).ids


# ---- kept ----


def test_what_is_saved_is_loaded(tmp_path):
    tokens, file = BytePairs.train("low lower lowest", 262), tmp_path / "new" / "tokens.json"
    tokens.save(file)
    again = BytePairs.load(str(file))
    assert again.merges == tokens.merges and again.fingerprint == tokens.fingerprint and len(again) == 262
    assert again.encode("lower") == tokens.encode("lower")
    assert BytePairs(tokens.merges[:-1]).fingerprint != tokens.fingerprint


@pytest.mark.parametrize(
    ("merges", "said"),
    [
        ([[97, 98], [256, 257]], r"merge 1 is \(256, 257\); it must be two tokens before it, 0 to 256"),
        ([[-1, 98]], r"merge 0 is \(-1, 98\); it must be two tokens before it, 0 to 255"),
        ([[97, 98, 99]], r"merge 0 is \(97, 98, 99\); it must be two tokens"),
        ([[97, 98], []], r"merge 1 is \(\); it must be two tokens"),
    ],
)
def test_a_merge_that_is_not_of_two_tokens_before_it_is_refused(merges, said, tmp_path):
    with pytest.raises(ValueError, match=f"^{said}"):
        BytePairs(merges)
    file = tmp_path / "tokens.json"
    file.write_text(json.dumps({"merges": merges}))
    with pytest.raises(ValueError, match=f"tokens.json is no file of BytePairs.save .*{said}.*; train again, and save"):
        BytePairs.load(file)


@pytest.mark.parametrize(
    "content",
    [None, b"", b"{", b"\xff", b"{}", b"[]", b'["merges"]', b"7", b"null", b'{"merges": 7}', b'{"merges": [7]}',
     b'{"merges": ["ab"]}', b'{"merges": [[null, 1]]}'],
)  # fmt: skip
def test_a_file_that_save_did_not_write_is_refused(content, tmp_path, unchecked):
    file = tmp_path / "tokens.json"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ValueError, match="tokens.json is no file of BytePairs.save .*; train again") as raised:
        BytePairs.load(file)
    assert type(raised.value) is ValueError
