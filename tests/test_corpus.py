"""No test sentence is in the training part, and batches hold the sentences that they got."""

import codecs
import json
import os
import subprocess
import sys
import unicodedata
from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from course_lib.corpus import (
    BUCKETS,
    SPECIALS,
    Batches,
    Vocabulary,
    bucket_of,
    from_tsv,
    pad,
    part,
    tokenize,
)
from course_lib.toy_french import RECURRING

# ---- the corpus ----

FULL = """
import json
from course_lib.corpus import toy_french
corpus = toy_french()
known = {pair.source for pair in corpus.train}
held_out = [pair for pairs in (corpus.validation, *corpus.test.values()) for pair in pairs]
print(json.dumps({
    "fingerprint": corpus.fingerprint,
    "train": len(corpus.train),
    "different": len(known),
    "lengths": sorted({len(pair.source) for pair in corpus.train}),
    "validation": len(corpus.validation),
    "held out": len({pair.source for pair in held_out}),
    "leaked": [str(pair) for pair in held_out if pair.source in known],
    "test": [len(pairs) for pairs in corpus.test.values()],
    "vocabularies": [len(corpus.source_vocabulary), len(corpus.target_vocabulary)],
    "unknown": [str(pair) for pair in held_out if {*pair.source} - {*corpus.source_vocabulary.words}
                or {*pair.target} - {*corpus.target_vocabulary.words}],
    "small": [toy_french(50, 2).fingerprint, toy_french.__wrapped__(50, 2).fingerprint,
              toy_french(50, 2, seed=1).fingerprint],
    "beginning": toy_french(50, 2).train == corpus.train[:50],
}))
"""


@pytest.fixture(scope="module")
def full():
    """The course's own corpus, made in a process without run-time checks."""
    command = [sys.executable, "-c", FULL]
    environment = {**os.environ, "COURSE_SEED": "5"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.slow
def test_the_corpus_is_the_same_on_every_machine_whatever_the_course_seed(full):
    assert full["fingerprint"] == "c41e72e92ca1adfc"


@pytest.mark.slow
def test_there_are_fifteen_thousand_different_pairs(full):
    assert full["train"] == full["different"] == 15_000


@pytest.mark.slow
def test_no_held_out_sentence_occurs_in_training(full):
    assert full["leaked"] == []
    assert full["held out"] == full["validation"] + sum(full["test"])


@pytest.mark.slow
def test_each_bucket_has_five_hundred_test_sentences(full):
    assert full["test"] == [500] * len(BUCKETS) and full["validation"] == 500


@pytest.mark.slow
def test_training_has_all_lengths_from_3_to_20(full):
    assert full["lengths"] == list(range(3, 21))


@pytest.mark.slow
def test_the_vocabularies_are_small_and_cover_what_is_held_out(full):
    assert all(60 <= size - len(SPECIALS) <= 120 for size in full["vocabularies"])
    assert full["unknown"] == []


@pytest.mark.slow
def test_the_same_seed_gives_the_same_corpus_and_another_seed_another(full):
    first, again, other = full["small"]
    assert first == again != other


@pytest.mark.slow
def test_a_smaller_corpus_is_the_beginning_of_a_larger_one(full):
    assert full["beginning"]


def test_test_sentences_lie_in_their_bucket(corpus):
    assert tuple(corpus.test) == BUCKETS
    for (low, high), found in corpus.test.items():
        assert len(found) == 20 and all(low <= len(pair.source) <= high for pair in found)


@given(st.integers(1, 200))
def test_every_length_falls_in_one_bucket(length):
    low, high = bucket_of(length)
    assert low <= length <= high
    assert bucket_of(low) == bucket_of(high) == (low, high)
    assert bucket_of(high + 1)[0] == high + 1


@pytest.mark.parametrize("text", RECURRING)
def test_the_recurring_sentences_are_held_out(text):
    assert part(RECURRING[text]) == "test"


# ---- vocabulary ----


def test_specials_come_first_and_are_named():
    vocabulary = Vocabulary(["dog", "cat", "dog", "<pad>"])
    assert vocabulary.words == ("<pad>", "<bos>", "<eos>", "<unk>", "cat", "dog")
    assert len(vocabulary) == 6


@given(st.lists(st.sampled_from(["cat", "dog", "l'", "été"]), max_size=8))
def test_decoding_undoes_encoding(words):
    vocabulary = Vocabulary(["cat", "dog", "l'", "été"])
    assert vocabulary.decode(vocabulary.encode(words)) == words


def test_decoding_stops_at_eos_and_leaves_out_pad_and_bos():
    vocabulary = Vocabulary(["cat", "dog"])
    assert vocabulary.decode(torch.tensor([1, 4, 0, 5, 2, 4])) == ["cat", "dog"]


def test_an_unknown_word_is_refused_with_the_nearest_known_ones(corpus):
    message = r"'chikens' is not among the \d+ words of this vocabulary; the nearest it has: chickens"
    with pytest.raises(KeyError, match=message):
        corpus.source_vocabulary.encode(["the", "chikens"])
    with pytest.raises(KeyError, match=r"'zzzz' is not among the \d+ words of this vocabulary\"?'?$"):
        corpus.source_vocabulary.encode(["zzzz"])


def test_an_open_vocabulary_gives_unk():
    assert Vocabulary(["cat"], open=True).encode(["cat", "zzzz"]) == [4, SPECIALS.index("<unk>")]


def test_a_string_is_not_taken_for_a_list_of_words():
    with pytest.raises(TypeError, match="wants a list of words, not the string 'the cat'; split it first"):
        Vocabulary(["the", "cat"]).encode("the cat")


# ---- batches ----


def test_padding_fills_up_and_the_mask_is_true_at_words():
    filled, mask = pad([[4, 5, 6], [7]])
    assert filled.tolist() == [[4, 5, 6], [7, 0, 0]]
    assert mask.tolist() == [[True, True, True], [True, False, False]]


def test_padding_nothing_or_an_empty_sentence_is_refused():
    with pytest.raises(ValueError, match="no sentence was given"):
        pad([])
    with pytest.raises(ValueError, match="sentence 1 is empty"):
        pad([[4], [], [5]])


def test_the_decoder_reads_bos_and_words_and_writes_words_and_eos(corpus):
    batch = corpus.batch([RECURRING["the black cat"], RECURRING["the small black cat"]])
    words = corpus.target_vocabulary.words

    def spelled(rows):
        return [" ".join(words[number] for number in row) for row in rows]

    assert spelled(batch.target_input) == ["<bos> le chat noir <pad>", "<bos> le petit chat noir"]
    assert spelled(batch.target_output) == ["le chat noir <eos> <pad>", "le petit chat noir <eos>"]
    assert batch.target_mask.tolist() == [[True] * 4 + [False], [True] * 5]
    assert batch.source_mask.tolist() == [[True] * 3 + [False], [True] * 4]
    assert torch.equal(batch.source_mask, batch.source != 0)


def lines(corpus, batch):
    decoded = zip(batch.source.tolist(), batch.target_output.tolist(), strict=True)
    sides = [
        (corpus.source_vocabulary.decode(source), corpus.target_vocabulary.decode(target)) for source, target in decoded
    ]
    return [f"{' '.join(source)} → {' '.join(target)}" for source, target in sides]


@pytest.mark.parametrize("batch_size", [1, 7, 64, 1000])
def test_an_epoch_has_every_pair_once_and_one_source_length_a_batch(corpus, batch_size):
    batches = Batches(corpus, corpus.train, batch_size)
    epoch = list(batches(torch.Generator().manual_seed(0)))
    assert len(epoch) == len(batches)
    assert Counter(line for batch in epoch for line in lines(corpus, batch)) == Counter(map(str, corpus.train))
    for batch in epoch:
        assert batch.source_mask.all() and len(batch.source) <= batch_size
        assert batch.target_mask.any(0).all(), "a column of nothing but padding"
        assert torch.equal(batch.target_mask, batch.target_input != 0)
        assert torch.equal(batch.target_mask, batch.target_output != 0)


def first_words(batch):
    return [row[0] for row in batch.source.tolist()]


@pytest.mark.parametrize(
    "seen", [lambda batch: batch.source.shape[1], first_words], ids=["of batches", "of the sentences in one"]
)
def test_the_order_is_the_generators(corpus, seen):
    pairs = corpus.train if seen is not first_words else [p for p in corpus.train if len(p.source) == 7]
    batches = Batches(corpus, pairs, len(pairs))
    first = torch.Generator().manual_seed(1)
    once, next_epoch = ([seen(batch) for batch in batches(first)] for _ in range(2))
    again, other = ([seen(b) for b in batches(torch.Generator().manual_seed(seed))] for seed in (1, 2))
    assert once == again
    assert once != next_epoch and once != other


def test_a_batch_size_below_one_is_refused(corpus):
    with pytest.raises(ValueError, match="batch_size is 0"):
        Batches(corpus, corpus.train, 0)


# ---- your own sentences ----

GOOD = [f"number {n}\tnuméro {n}" for n in range(60)]


def tsv(tmp_path, *rows):
    file = tmp_path / "pairs.tsv"
    file.write_bytes(b"".join(row if isinstance(row, bytes) else f"{row}\n".encode() for row in rows))
    return file


def everything(corpus):
    return {str(pair) for pairs in (corpus.train, corpus.validation, *corpus.test.values()) for pair in pairs}


def test_good_lines_are_kept_whatever_stands_between_them(tmp_path):
    bad = ["only one column", "a\tb\tc", "\tsans source", "no target\t  ", b"caf\xe9\tcaf\xe9\n", ""]
    rows = [row for pair in zip(GOOD, bad + [None] * 54, strict=True) for row in pair if row is not None]
    corpus = from_tsv(tsv(tmp_path, *rows))
    assert everything(corpus) == {row.replace("\t", " → ") for row in GOOD}
    assert [str(line) for line in corpus.bad_lines] == [
        "line 2: it has 1 column(s) and needs 2: source, one tab, target",
        "line 4: it has 3 column(s) and needs 2: source, one tab, target",
        "line 6: the source side has no word",
        "line 8: the target side has no word",
        "line 10: byte 4 is not UTF-8; save the file as UTF-8",
        "line 12: it has 1 column(s) and needs 2: source, one tab, target",
    ]


ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16 big-endian"]
INTO = {"utf-16 big-endian": lambda text: codecs.BOM_UTF16_BE + text.encode("utf-16-be")}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=repr)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_marks_and_line_ends_are_no_part_of_the_words_in_any_encoding_that_a_mark_names(tmp_path, encoding, end):
    text = "".join(row + end for row in GOOD)
    read = from_tsv(tsv(tmp_path, INTO.get(encoding, lambda text: text.encode(encoding))(text)))
    assert read.fingerprint == from_tsv(tsv(tmp_path, *GOOD)).fingerprint and not read.bad_lines


def quoted(cell):
    return '"' + cell.replace('"', '""') + '"' if set(cell) & set('",\n') else cell  # as Excel does


def test_quotes_that_a_spreadsheet_adds_are_taken_off_again(tmp_path):
    cells = ["Well, {}", 'She says "{}"', '"{}, "', "two\nlines {}", "plain {}"]
    table = [[cell.format(f"{word} {n}") for word in ("number", "numéro")] for n in range(20) for cell in cells]
    excel = tsv(tmp_path, *("\t".join(map(quoted, row)) for row in table))
    assert everything(from_tsv(excel)) == {" → ".join(" ".join(tokenize(cell)) for cell in row) for row in table}


def test_quotes_that_were_written_stay(tmp_path):
    said = ['"Look out!" he said.\t« Attention ! »', '"I came.\t"Je suis venu.', 'I saw."\tJ\'ai vu."']
    found = everything(from_tsv(tsv(tmp_path, *said, *GOOD)))
    assert found > {" → ".join(" ".join(tokenize(side)) for side in row.split("\t")) for row in said}


def test_of_three_columns_the_first_two_are_taken_and_it_is_said(tmp_path):
    """The files of manythings.org are so."""
    rows = [f"{row}\tCC-BY 2.0 (France) #{n}" for n, row in enumerate(GOOD)]
    with pytest.warns(UserWarning, match=r"pairs.tsv has 3 columns; the first two are read, as source and target"):
        corpus = from_tsv(tsv(tmp_path, *rows, "four\tcolumns\tare\tbad"))
    assert everything(corpus) == everything(from_tsv(tsv(tmp_path, *GOOD)))
    assert [str(line) for line in corpus.bad_lines] == [
        "line 61: it has 4 column(s) and needs 2: source, one tab, target"
    ]


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ("a\tb\nc\td\n".encode("utf-16-le"), "line 1 has a NUL, which no text in UTF-8 has; save it as UTF-8"),
        ("a\tb\r".encode("utf-16") + b"!", "byte 11, in line 2, is not UTF-16; save it as UTF-8"),
    ],
)
def test_a_file_that_is_no_text_is_refused(tmp_path, raw, said):
    with pytest.raises(ValueError, match=f"pairs.tsv: {said}"):
        from_tsv(tsv(tmp_path, raw))


def test_the_last_line_may_lack_its_end_and_a_blank_last_line_is_named(tmp_path):
    whole = "\n".join(GOOD).encode()
    for end, bad in ((b"", []), (b"\n", []), (b"\n\n", [61])):
        corpus = from_tsv(tsv(tmp_path, whole + end))
        assert len(everything(corpus)) == 60
        assert [line.number for line in corpus.bad_lines] == bad


def test_parts_are_disjoint_and_about_a_fifth_is_for_testing(tmp_path):
    rows = [f"number {n}\tnuméro {n}" for n in range(1000)]
    corpus = from_tsv(tsv(tmp_path, *rows, *rows))
    tests = [pair for pairs in corpus.test.values() for pair in pairs]
    assert len(corpus.train) + len(corpus.validation) + len(tests) == len(everything(corpus)) == 1000
    assert 150 < len(tests) < 250 and 60 < len(corpus.validation) < 140
    assert not any(pair.sure for pair in tests)


def test_a_word_that_only_held_out_sentences_have_is_unk(tmp_path):
    corpus = from_tsv(tsv(tmp_path, *GOOD))
    held_out = next(pair for pairs in corpus.test.values() for pair in pairs)
    assert corpus.source_vocabulary.encode(held_out.source)[1] == SPECIALS.index("<unk>")
    assert corpus.batch([held_out]).source.shape == (1, 2)


@pytest.mark.parametrize("rows", [[], ["one column", "\t"], [b"caf\xe9\tcaf\xe9\n"]])
def test_a_file_without_a_usable_line_is_refused_with_its_lines(tmp_path, rows):
    with pytest.raises(ValueError, match=r"pairs.tsv has 0 usable pair\(s\)(?s:.)*line 1: "):
        from_tsv(tsv(tmp_path, *rows))


def test_a_file_too_small_to_validate_on_is_refused_before_any_training(tmp_path):
    with pytest.raises(ValueError, match=r"1 usable pair\(s\): 1 for training, 0 for validation"):
        from_tsv(tsv(tmp_path, "b cat\tle b"))


def test_own_words_are_cut_as_toy_french_is():
    assert tokenize("L’oiseau n'est pas noir!") == ("l'", "oiseau", "n'", "est", "pas", "noir", "!")


LETTERS = [c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(c)[0] in "LM"]
ALONE = ("CJK", "IDEOGRAPHIC", "HIRAGANA", "KATAKANA", "HALFWIDTH KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR")


def test_no_letter_or_mark_of_any_script_cuts_its_word():
    words = [f"x{letter}x" for letter in LETTERS if not unicodedata.name(letter, "").startswith(ALONE)]
    cut = zip(words, tokenize(" ".join(words)), strict=False)
    assert next(((word, found) for word, found in cut if len(found) < 2), None) is None
    assert len(tokenize(" ".join(words))) == len(words) > 20_000


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("नमस्ते दुनिया।", "नमस्ते दुनिया ।"),
        ("İstanbul'da", "istanbul' da"),
        ("Việt Nam", "việt nam"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("שָׁלוֹם, עולם", "שָׁלוֹם , עולם"),
        ("inter\u00adnational", "international"),
        ("한국어 문장", "한국어 문장"),
        ("我喜欢Python。", "我 喜 欢 python 。"),
        ("猫が好き", "猫 が 好 き"),
        ("สวัสดี", "ส วั ส ดี"),
        ("ខ្មែរ\u200bភាសា", "ខ្ មែ រ ភា សា"),
        ("❤️1️⃣", "❤️ 1️⃣"),
    ],
)
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_scripts_are_cut_as_they_are_written(text, words, form):
    expected = tuple(unicodedata.normalize("NFC", word) for word in words.split(" "))
    assert tokenize(unicodedata.normalize(form, text)) == expected


@given(st.text())
def test_both_spellings_of_a_text_have_the_same_words(text):
    composed, decomposed = (tokenize(unicodedata.normalize(form, text)) for form in ("NFC", "NFD"))
    assert composed == decomposed == tokenize(" ".join(composed).replace("' ", "'"))
