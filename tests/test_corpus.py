"""Toy French is right French, its links are right, and nothing that is tested was trained on."""

import json
import os
import subprocess
import sys
from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from course_lib.corpus import (
    BUCKETS,
    RECURRING,
    SPECIALS,
    Batches,
    Dice,
    SentencePair,
    Vocabulary,
    bucket_of,
    difficulties,
    from_tsv,
    growing_sentence,
    pad,
    part,
    sentence,
    tokenize,
)

# ---- a grammar of its own, to hold the other one to: gender (m, f, x: either) and number (s, p, x) ----

MASCULINE = ["chat", "chien", "oiseau", "poulet", "pont", "champ", "moteur"]
FEMININE = ["vache", "souris", "abeille", "route", "rue", "rivière", "île", "horloge"]
PLURALS = {"oiseau": "oiseaux", "souris": "souris"}
NOUNS: dict[str, list[str]] = {}
for gender, nouns in (("m", MASCULINE), ("f", FEMININE)):
    for noun in nouns:
        NOUNS.setdefault(noun, []).append(gender + "s")
        NOUNS.setdefault(PLURALS.get(noun, noun + "s"), []).append(gender + "p")
DETERMINERS = {
    "le": "ms", "la": "fs", "l'": "xs", "les": "xp", "un": "ms", "une": "fs",
    "ce": "ms", "cet": "ms", "cette": "fs", "ces": "xp",
}  # fmt: skip
ADJECTIVES = {
    "petit": "ms", "petite": "fs", "petits": "mp", "petites": "fp",
    "grand": "ms", "grande": "fs", "grands": "mp", "grandes": "fp",
    "vieux": "mx", "vieil": "ms", "vieille": "fs", "vieilles": "fp", "jeune": "xs", "jeunes": "xp",
    "noir": "ms", "noire": "fs", "noirs": "mp", "noires": "fp",
    "blanc": "ms", "blanche": "fs", "blancs": "mp", "blanches": "fp", "rouge": "xs", "rouges": "xp",
}  # fmt: skip
VERBS = {
    "court": "s", "marche": "s", "dort": "s", "chante": "s", "mange": "s",
    "voit": "s", "suit": "s", "aime": "s", "entend": "s",
    "courent": "p", "marchent": "p", "dorment": "p", "chantent": "p", "mangent": "p",
    "voient": "p", "suivent": "p", "aiment": "p", "entendent": "p",
}  # fmt: skip
MEANS = {
    "the": "le la l' les", "this": "ce cet cette", "these": "ces", "a": "un une", "an": "un une",
    "small": "petit petite petits petites", "big": "grand grande grands grandes",
    "old": "vieux vieil vieille vieilles", "young": "jeune jeunes", "black": "noir noire noirs noires",
    "white": "blanc blanche blancs blanches", "red": "rouge rouges",
    "cat": "chat", "cats": "chats", "dog": "chien", "dogs": "chiens", "bird": "oiseau", "birds": "oiseaux",
    "chicken": "poulet", "chickens": "poulets", "cow": "vache", "cows": "vaches", "mouse": "souris",
    "mice": "souris", "bee": "abeille", "bees": "abeilles", "road": "route", "roads": "routes",
    "street": "rue", "streets": "rues", "river": "rivière", "rivers": "rivières", "island": "île",
    "islands": "îles", "bridge": "pont", "bridges": "ponts", "field": "champ", "fields": "champs",
    "engine": "moteur", "engines": "moteurs", "clock": "horloge", "clocks": "horloges",
    "runs": "court marche", "run": "courent marchent court marche",
    "sleeps": "dort", "sleep": "dorment dort", "sings": "chante", "sing": "chantent chante",
    "eats": "mange", "eat": "mangent mange", "sees": "voit", "see": "voient voit",
    "follows": "suit", "follow": "suivent suit", "loves": "aime", "love": "aiment aime",
    "hears": "entend", "hear": "entendent entend", "not": "pas", "cross": "traversé",
    "in": "dans", "behind": "derrière", "under": "sous", "before": "devant",
    "and": "et", "but": "mais", "while": "pendant que qu'", "that": "qui que qu'",
    "because": "parce que qu'", "it": "il elle", "was": "était",
    "tired": "fatigué fatiguée", "hungry": "affamé affamée", "wide": "large", "long": "long longue",
    "narrow": "étroit étroite",
}  # fmt: skip
VOWELS = tuple("aeiouyhéèêîâ")


def agree(*forms):
    """Gender and number on which all the forms agree; None if they do not."""
    genders, numbers = ({form[axis] for form in forms} - {"x"} for axis in (0, 1))
    return "".join([*genders, *numbers]) if len(genders) == len(numbers) == 1 else None


def noun_phrases(words):
    """Where each noun stands, and the gender and number on which it, determiner and adjectives agree."""
    for place, word in enumerate(words):
        if word in NOUNS:
            first = place - 1 if words[place - 1] in DETERMINERS else place - 2
            around = [DETERMINERS[words[first]]]
            around += [ADJECTIVES[w] for w in words[first + 1 : place + 2] if w in ADJECTIVES]
            found = filter(None, (agree(own, *around) for own in NOUNS[word]))
            yield place, next(found, None)


def of_any_sentence(test):
    """Runs the test on sentence pairs of any seed and length."""

    def of(seed, length):
        test(sentence(Dice(seed), length))

    of.__name__ = test.__name__
    return given(st.integers(0, 2**40), st.integers(3, 60))(of)


def of_any_crossing(test):
    """Runs the test on sentence pairs with a pronoun: *the chicken did not cross the road because it ...*"""

    def of(seed, length):
        dice = Dice(seed)
        test(next(pair for pair in iter(lambda: sentence(dice, length), None) if pair.pronoun))

    of.__name__ = test.__name__
    return given(st.integers(0, 2**40), st.integers(11, 60))(of)


def test_the_tables_of_this_file_can_fail():
    assert list(noun_phrases("le petit chat noir".split())) == [(2, "ms")]
    assert list(noun_phrases("la souris".split())) == [(1, "fs")]
    for wrong in ("la chat", "le petite chat", "le chat noire", "les chat", "les petits souris noires"):
        assert [agreement for _, agreement in noun_phrases(wrong.split())] == [None], wrong


# ---- the grammar ----


@given(st.integers(0, 2**40), st.integers(3, 60))
def test_a_sentence_has_exactly_as_many_words_as_asked_for(seed, length):
    assert len(sentence(Dice(seed), length).source) == length


@pytest.mark.parametrize("length", [2, 0, -1])
def test_a_sentence_shorter_than_the_grammar_writes_is_refused(length):
    with pytest.raises(ValueError, match=f"a sentence of {length} words .* shortest has 3"):
        sentence(Dice(0), length)


@of_any_sentence
def test_links_join_words_of_the_pair_and_every_word_has_one(pair):
    assert pair.sure <= pair.possible
    assert {target for target, _ in pair.possible} == set(range(len(pair.target)))
    assert {source for _, source in pair.possible} == set(range(len(pair.source)))


@of_any_sentence
def test_sure_links_join_translations(pair):
    for target, source in pair.sure:
        english, french = pair.source[source], pair.target[target]
        assert french in MEANS[english].split(), f"{english} → {french} in {pair}"


@of_any_sentence
def test_only_ne_and_auxiliaries_have_no_sure_link(pair):
    free_french = set(range(len(pair.target))) - {target for target, _ in pair.sure}
    free_english = set(range(len(pair.source))) - {source for _, source in pair.sure}
    assert {pair.target[i] for i in free_french} <= {"ne", "n'", "a"}
    assert {pair.source[i] for i in free_english} <= {"do", "does", "did"}


@of_any_sentence
def test_elision_happens_exactly_before_vowels(pair):
    for word, following in zip(pair.target, [*pair.target[1:], "."], strict=True):
        if following.startswith(VOWELS):
            assert word not in ("le", "la", "ne", "que", "ce"), f"{word} {following}"
        else:
            assert word not in ("l'", "n'", "qu'", "cet", "vieil"), f"{word} {following}"
    assert ("elision" in pair.phenomena) == any(word.endswith("'") for word in pair.target)


@of_any_sentence
def test_old_masculine_is_vieil_before_a_vowel_in_the_singular(pair):
    for determiner, word, following in zip(pair.target, pair.target[1:], pair.target[2:], strict=False):
        if word == "vieux" and following.startswith(VOWELS):
            assert determiner in ("les", "ces")


@of_any_sentence
def test_an_stands_exactly_before_vowels(pair):
    for word, following in zip(pair.source, pair.source[1:], strict=False):
        if word in ("a", "an"):
            assert (word == "an") == following.startswith(("a", "e", "i", "o", "u"))


@of_any_sentence
def test_determiner_adjectives_and_noun_agree(pair):
    found = list(noun_phrases(pair.target))
    assert found
    for place, agreement in found:
        assert agreement, " ".join(pair.target[: place + 2])


@of_any_sentence
def test_colours_follow_the_noun_and_other_adjectives_precede_it(pair):
    for before, word, after in zip(["", *pair.target], pair.target, [*pair.target[1:], ""], strict=False):
        if word.startswith(("noir", "blanc", "rouge")):
            assert before in NOUNS
        elif word in ADJECTIVES:
            assert after in NOUNS


@of_any_sentence
def test_verbs_agree_with_their_subject_and_with_the_english_verb(pair):
    english = {target: source for target, source in pair.sure}
    numbers = {place: agreement[-1] for place, agreement in noun_phrases(pair.target)}
    for place, word in enumerate(pair.target):
        if word not in VERBS:
            continue
        source = english[place]
        if pair.source[source - 1] == "not":
            singular = pair.source[source - 2] == "does"
        else:
            singular = pair.source[source].endswith("s")
        assert VERBS[word] == ("s" if singular else "p"), f"{pair}"
        if "relative clause" not in pair.phenomena:
            subject = max(noun for noun in numbers if noun < place)
            assert numbers[subject] == VERBS[word], f"{pair}"


@of_any_sentence
def test_negation_embraces_the_verb(pair):
    negated = [i for i, word in enumerate(pair.source) if word == "not"]
    assert all(pair.source[i - 1] in ("do", "does", "did") for i in negated)
    around = [i for i, word in enumerate(pair.target) if word == "pas"]
    assert len(around) == len(negated)
    for i in around:
        assert pair.target[i - 2] == ("n'" if pair.target[i - 1].startswith(VOWELS) else "ne")
        assert pair.target[i - 1] in VERBS or pair.target[i - 1 : i + 2] == ("a", "pas", "traversé")
    assert ("negation" in pair.phenomena) == bool(negated)


@of_any_sentence
def test_qui_stands_before_a_verb_and_que_before_a_subject(pair):
    for target, source in pair.sure:
        if pair.source[source] == "that":
            wanted = VERBS if pair.target[target] == "qui" else DETERMINERS
            assert pair.target[target + 1] in wanted, f"{pair}"


def gender_of(pair, source):
    (noun,) = [pair.target[target] for target, linked in pair.sure if linked == source]
    return NOUNS[noun][0][0]


@of_any_crossing
def test_the_pronoun_has_the_gender_of_what_it_refers_to_and_the_distractor_the_other(pair):
    it = pair.pronoun
    assert pair.source[it.source] == "it" and (it.target, it.source) in pair.sure
    wanted = {"m": "il", "f": "elle"}
    assert pair.target[it.target] == wanted[gender_of(pair, it.antecedent)]
    assert gender_of(pair, it.distractor) != gender_of(pair, it.antecedent)
    assert it.antecedent < it.source and it.distractor < it.source


@of_any_crossing
def test_the_state_tells_the_antecedent_and_agrees_with_it(pair):
    it = pair.pronoun
    animals = ("cat", "dog", "bird", "chicken", "cow", "mouse", "bee")
    is_animal = pair.source[it.source + 2] in ("tired", "hungry")
    assert (pair.source[it.antecedent] in animals) == is_animal
    assert (pair.source[it.distractor] in animals) != is_animal
    state = pair.target[it.target + 2]
    if state != "large":
        feminine = state.endswith("e") and state not in ("fatigué", "affamé")
        assert feminine == (pair.target[it.target] == "elle")


def test_pronouns_are_marked_just_where_they_are(corpus):
    for pair in corpus.train:
        assert (pair.pronoun is not None) == ("it" in pair.source) == ("pronoun" in pair.phenomena)


@pytest.fixture(scope="module")
def crossings():
    """Sentences of one length with a pronoun."""
    dice = Dice(0)
    return [pair for pair in (sentence(dice, 17) for _ in range(2000)) if pair.pronoun]


def test_guessing_a_pronoun_or_taking_the_nearer_noun_scores_one_half(crossings):
    masculine = sum(pair.target[pair.pronoun.target] == "il" for pair in crossings)
    nearer = sum(pair.pronoun.antecedent > pair.pronoun.distractor for pair in crossings)
    assert len(crossings) > 400
    assert abs(masculine / len(crossings) - 0.5) < 0.1 and abs(nearer / len(crossings) - 0.5) < 0.1


def test_the_distance_of_pronoun_and_antecedent_varies_within_one_length(crossings):
    distances = Counter(pair.pronoun.source - pair.pronoun.antecedent for pair in crossings)
    assert len(distances) >= 6 and max(distances.values()) < 0.6 * len(crossings), distances


def test_every_phenomenon_occurs_often(corpus):
    count = Counter(tag for pair in corpus.train for tag in pair.phenomena)
    wanted = {
        "agreement", "word order", "elision", "negation", "relative clause", "preposition",
        "conjunction", "pronoun", "several meanings",
    }  # fmt: skip
    assert set(count) == wanted
    assert min(count.values()) > 0.05 * len(corpus.train), count


@given(st.integers(0, 2**40), st.integers(3, 40))
def test_a_growing_sentence_goes_on_where_it_was(seed, longest):
    grown = growing_sentence(seed, longest)
    lengths = [len(pair.source) for pair in grown]
    assert lengths[0] == 3 and longest - 5 < lengths[-1] <= longest
    for shorter, longer in zip(grown, grown[1:], strict=False):
        assert longer.source[: len(shorter.source)] == shorter.source
        assert longer.target[: len(shorter.target)] == shorter.target
        assert len(longer.source) - len(shorter.source) in (4, 5)


@pytest.mark.parametrize(
    ("english", "french"),
    [
        ("the black cat", "le chat noir"),
        ("the small black cat", "le petit chat noir"),
        ("the dog runs", "le chien court"),
        (
            "the chicken did not cross the road because it was tired",
            "le poulet n' a pas traversé la route parce qu' il était fatigué",
        ),
        (
            "the chicken did not cross the road because it was wide",
            "le poulet n' a pas traversé la route parce qu' elle était large",
        ),
    ],
)
def test_the_recurring_sentences_are_right_and_held_out(english, french):
    pair = RECURRING[english]
    assert " ".join(pair.target) == french
    assert part(pair) == "test"


def test_the_links_of_the_black_cat():
    assert RECURRING["the small black cat"].sure == {(0, 0), (1, 1), (2, 3), (3, 2)}


# ---- the corpus ----

FULL = """
import json, time
import torch
from course_lib.corpus import toy_french
torch.set_num_threads(1)
started = time.process_time()
corpus = toy_french()
seconds = time.process_time() - started
known = {pair.source for pair in corpus.train}
held_out = [pair for pairs in (corpus.validation, *corpus.test.values()) for pair in pairs]
print(json.dumps({
    "seconds": seconds,
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
    """The course's own corpus, made in a process without run-time checks, so that the time is a user's."""
    command = [sys.executable, "-c", FULL]
    environment = {**os.environ, "COURSE_SEED": "5"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_the_corpus_is_the_same_on_every_machine_whatever_the_course_seed(full):
    assert full["fingerprint"] == "c41e72e92ca1adfc"


def test_fifteen_thousand_pairs_take_seconds_of_the_processor(full):
    assert full["train"] == full["different"] == 15_000
    assert full["seconds"] < 20  # measured: 2 to 4, more where others use the same core


def test_no_held_out_sentence_occurs_in_training(full):
    assert full["leaked"] == []
    assert full["held out"] == full["validation"] + sum(full["test"])


def test_each_bucket_has_five_hundred_test_sentences(full):
    assert full["test"] == [500] * len(BUCKETS) and full["validation"] == 500


def test_training_has_all_lengths_from_3_to_20(full):
    assert full["lengths"] == list(range(3, 21))


def test_the_vocabularies_are_small_and_cover_what_is_held_out(full):
    assert all(60 <= size - len(SPECIALS) <= 120 for size in full["vocabularies"])
    assert full["unknown"] == []


def test_the_same_seed_gives_the_same_corpus_and_another_seed_another(full):
    first, again, other = full["small"]
    assert first == again != other


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
        "line 2: 1 column(s), 2 wanted: source, one tab, target",
        "line 4: 3 column(s), 2 wanted: source, one tab, target",
        "line 6: the source side has no word",
        "line 8: the target side has no word",
        "line 10: byte 4 is not UTF-8; save the file as UTF-8",
        "line 12: 1 column(s), 2 wanted: source, one tab, target",
    ]


def test_bom_and_windows_line_ends_are_no_part_of_the_words(tmp_path):
    plain = from_tsv(tsv(tmp_path, *GOOD))
    windows = b"\xef\xbb\xbf" + "".join(f"{row}\r\n" for row in GOOD).encode()
    assert everything(from_tsv(tsv(tmp_path, windows))) == everything(plain)
    assert not from_tsv(tsv(tmp_path, windows)).bad_lines


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


@pytest.mark.parametrize("rows", [[], ["one column", "\t"], [b"\xff\xfea\x00\t\x00b\x00"]])
def test_a_file_without_a_usable_line_is_refused_with_its_lines(tmp_path, rows):
    with pytest.raises(ValueError, match=r"pairs.tsv has 0 usable pair\(s\)(?s:.)*line 1: "):
        from_tsv(tsv(tmp_path, *rows))


def test_a_file_too_small_to_validate_on_is_refused_before_any_training(tmp_path):
    with pytest.raises(ValueError, match=r"1 usable pair\(s\): 1 for training, 0 for validation"):
        from_tsv(tsv(tmp_path, "b cat\tle b"))


def test_own_words_are_cut_as_toy_french_is():
    assert tokenize("L’oiseau n'est pas noir!") == ("l'", "oiseau", "n'", "est", "pas", "noir", "!")


def test_a_pair_prints_as_both_sentences():
    assert str(SentencePair(("the", "cat"), ("le", "chat"))) == "the cat → le chat"


@given(st.integers(0, 2**40))
def test_dice_repeat_with_their_seed_and_give_every_option(seed):
    first, again = Dice(seed), Dice(seed)
    assert [first.random() for _ in range(5)] == [again.random() for _ in range(5)]
    assert {first.pick("ab") for _ in range(64)} == {"a", "b"}


# ---- what makes a word difficult ----


def met(text):
    pair = RECURRING[text]
    return dict(zip(pair.target, difficulties(pair), strict=True))


def test_words_without_a_counterpart_of_their_own_are_of_another_length():
    words = met("the chicken did not cross the road because it was wide")
    assert [word for word, names in words.items() if "lengths differ" in names] == ["n'", "a", "parce", "qu'"]


def test_crossing_links_are_a_change_of_order_and_others_are_not():
    words = met("the small black cat")
    assert [word for word, names in words.items() if "order changes" in names] == ["chat", "noir"]
    assert not any("order changes" in names for names in met("the dog runs").values())


def test_forms_that_a_noun_decides_are_morphology_and_the_noun_is_not():
    words = met("the small black cat")
    assert [word for word, names in words.items() if "morphology" in names] == ["le", "petit", "noir"]


def test_words_with_more_than_one_translation():
    assert met("the dog runs")["court"] == ["several meanings"]
    assert met("the chicken did not cross the road because it was wide")["elle"] == ["several meanings"]
