"""Toy French is right French, and its links are right."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.toy_french import RECURRING, Dice, SentencePair, difficulties, growing_sentence, sentence

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
    with pytest.raises(ValueError, match=f"length is {length}; it must be at least 3"):
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
def test_the_recurring_sentences_are_right(english, french):
    pair = RECURRING[english]
    assert " ".join(pair.target) == french


def test_the_links_of_the_black_cat():
    assert RECURRING["the small black cat"].sure == {(0, 0), (1, 1), (2, 3), (3, 2)}


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
