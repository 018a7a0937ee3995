"""The generated pages of glossary/ are today's, every claim that must have a verdict has one that was measured, and on
the site each has a card.
"""

import copy
import re
from functools import partial

import nbformat
import pytest

from course_lib import claims, effects, glossary
from course_lib.tools import cards, lessons, pages


@pytest.fixture(scope="module")
def found():
    return pages.verdicts()


def test_the_index_is_todays():
    assert (glossary.FOLDER / "README.md").read_text("utf-8") == pages.index(), "`make pages` renews it"


def test_the_claims_page_is_todays(found):
    page = (glossary.FOLDER / "claims.md").read_text("utf-8")
    assert page == pages.ledger_of_claims(found), "`make pages` renews it"


def test_writing_the_pages_writes_these_two(found, tmp_path, monkeypatch):
    index = pages.index()
    monkeypatch.setattr(pages, "index", lambda: index)
    monkeypatch.setattr(glossary, "FOLDER", tmp_path)
    assert [file.name for file in pages.write()] == ["README.md", "claims.md"]
    assert (tmp_path / "claims.md").read_text("utf-8") == pages.ledger_of_claims(found)


def test_lessons_and_start_promise_the_minutes_they_take():
    late = [file.name for file, text in pages.with_minutes().items() if file.read_text("utf-8") != text]
    assert late == [], "`make pages` renews them"
    assert all(pages.PROMISED.search(path.read_text("utf-8")) for path in lessons.find())


@pytest.mark.parametrize("path", lessons.find(), ids=lambda path: path.stem)
def test_a_lesson_takes_a_reader_an_hour_at_most(path):
    assert lessons.minutes_to_read(nbformat.read(path, as_version=4)) <= 60


def test_the_index_has_every_entry_once():
    index = pages.index()
    assert [name for name in glossary.entries() if index.count(f"]({name}.md) |") != 1] == []


# ---- every claim has its verdicts ----


def test_every_claim_has_one_row_with_its_verdicts_and_links(found):
    page = pages.ledger_of_claims(found)
    for claim, said in claims.ledger().items():
        (row,) = [line for line in page.splitlines() if line.startswith(f"| {claim} |")]
        assert row.count(" | ") == 6 and said["said_by"] in row
        verdicts = [name for name in claims.SIGNS for _ in range(row.count(f"**{name}**"))]
        assert sorted(verdicts) == sorted(verdict.record["verdict"] for verdict in found[claim])
        assert all(
            f"({verdict.record['measured_on']})" in row for verdict in found[claim] if verdict.record["measured_on"]
        )
        assert all(verdict.link in row for verdict in found[claim])
        assert bool(verdicts) == (said["tested_in"] != "later")


def test_links_lead_to_the_cell_with_the_box(found):
    cells = {(path.name, cell.id): cell for path in lessons.find() for cell in nbformat.read(path, as_version=4).cells}
    for claim, every in found.items():
        for verdict in every:
            if verdict.place != "page":
                name, cell = verdict.link.split("/")[-1].rstrip(")").split("#cell-id=")
                assert verdict.record in claims.boxes({"cells": [cells[name, cell]]}), claim


def test_nothing_is_lacking(found):
    assert pages.lacking(found) == []


@pytest.mark.parametrize("claim", ["N8", "G10"])
def test_a_missing_verdict_is_seen(found, claim):
    gap = {**found, claim: found[claim][1:]}
    (complaint,) = pages.lacking(gap)
    assert complaint == f"{claim} has no verdict in {found[claim][0].place}"
    with pytest.raises(ValueError, match=f"{complaint}.*make notebooks"):
        pages.ledger_of_claims(gap)


def test_a_verdict_without_a_figure_is_seen(found):
    empty = copy.deepcopy(found)
    empty["G4"][0].record["figures"].clear()
    assert pages.lacking(empty) == ["G4 has a verdict in transformer_built but no figure"]


def test_any_change_of_a_verdict_changes_the_page(found):
    other = copy.deepcopy(found)
    other["G4"][0].record["verdict"] = claims.NOT
    assert pages.ledger_of_claims(other) != pages.ledger_of_claims(found)


# ---- what is settled on the page ----

ON_THE_PAGE = [claim for claim, said in claims.ledger().items() if said["tested_in"] == "page"]


@pytest.mark.parametrize("claim", ON_THE_PAGE)
def test_the_page_gives_a_reason_and_the_arithmetic_or_the_evidence(claim):
    case = claims.ledger()[claim]["settled"]
    assert len(case["because"].split()) > 20
    assert case["kind"] in claims.KINDS
    assert case.get("arithmetic") or (case["kind"] == claims.UNTESTABLE and len(case["limits"].split()) > 8)


def test_the_arithmetic_of_the_page_decides(monkeypatch):
    ledger = copy.deepcopy(claims.ledger())
    monkeypatch.setattr(claims, "ledger", lambda: ledger)
    assert claims.settled("S16")["verdict"] == claims.NOT
    ledger["S16"]["settled"]["arithmetic"] = "year_of_the_linked_paper = 2000 + int('1607.06450'[:2])"
    assert claims.settled("S16")["verdict"] == claims.HOLDS


def test_arithmetic_that_fails_gives_no_verdict(monkeypatch):
    ledger = copy.deepcopy(claims.ledger())
    monkeypatch.setattr(claims, "ledger", lambda: ledger)
    ledger["S16"]["settled"]["arithmetic"] = "assert False"
    with pytest.raises(AssertionError):
        claims.settled("S16")


# ---- the cards of the site ----


@pytest.fixture(scope="module")
def ledger(found):
    return cards.ledger(found)


def test_it_is_said_how_many_claims_and_verdicts_there_are_and_every_group_can_be_gone_to(found, ledger):
    waiting, verdicts = sum(not every for every in found.values()), sum(map(len, found.values()))
    assert f"{len(found)} claims with {verdicts} verdicts: some are tested" in ledger
    assert (cards.WAITS in ledger) == (waiting > 0)
    groups = re.findall(r"^## (.+)$", ledger, re.MULTILINE)[:-2]
    links = re.findall(r"^- \[(.+)\]\(#(.+)\)$", ledger, re.MULTILINE)
    assert links == [(group.split(":")[0], group.replace(" ", "-")) for group in groups]


STRIKING = [claim for claim, said in claims.ledger().items() if "striking" in said]


def test_every_claim_has_one_card_and_the_striking_ones_come_first(ledger):
    shown = re.findall(r"^### .+ \(([A-Z]\d+)\)$", ledger, re.MULTILINE)
    assert sorted(shown) == sorted(claims.ledger())
    assert shown[: len(STRIKING)] == sorted(STRIKING, key=lambda claim: claims.ledger()[claim]["striking"])
    groups = re.findall(r"^## (.+)$", ledger, re.MULTILINE)
    waiting = [cards.WAITING] if any(claim["tested_in"] == "later" for claim in claims.ledger().values()) else []
    last = [cards.SETTLED, *waiting, "All effects on one scale", "Who says it"]
    assert groups[0] == cards.STRIKING and groups[-len(last) :] == last
    numbers = [int(re.match(r"Lesson (\d+): ", group)[1]) for group in groups[1 : -len(last)]]
    assert numbers == sorted(numbers)


def test_what_is_striking_was_measured_and_is_not_simply_so(found):
    assert 5 < len(STRIKING) < 12 and len({claims.ledger()[claim]["striking"] for claim in STRIKING}) == len(STRIKING)
    for claim in STRIKING:
        assert {verdict.record["kind"] for verdict in found[claim]} == {"experiment"}
        assert claims.HOLDS not in {verdict.record["verdict"] for verdict in found[claim]}


def test_a_card_has_every_verdict_with_its_link_limits_and_conditions(found, ledger):
    for claim, every in found.items():
        card = ledger.split(cards.heading(claim))[1].split("\n### ")[0]
        assert card.count('<div class="verdict') == len(every) and claims.ledger()[claim]["said_by"] in card
        for verdict in every:
            assert f"**{claims.SIGNS[verdict.record['verdict']][0]} {verdict.record['verdict']}**" in card
            assert claims.bounds(verdict.record) in card
            assert verdict.place == "page" or verdict.link.split("](")[1] in card
            assert all(f"`{verdict.record[side]}`" in card for side in ("as_said", "within") if verdict.record[side])
        if not every:
            assert cards.WAITS in card


def test_the_game_has_every_tested_claim_once_with_its_verdicts_and_none_that_waits(found):
    waiting = STRIKING[0]
    page = cards.game(found | {waiting: []})
    played = re.findall(r'<template data-round="\d+" data-id="(.+)">', page)
    assert sorted(played) == sorted(claim for claim, every in found.items() if every and claim != waiting)
    assert f"# {len(played)} things people say" in page and cards.WAITS not in page
    assert int(re.search(r"For the other (\d+)", page)[1]) + sum(map(int, SUMMED.search(page).groups())) == len(played)
    for claim in played:
        (card,) = re.findall(rf'data-id="{claim}">(.+?)</template>', page, re.DOTALL)
        outcomes = [verdict.record["verdict"] for verdict in found[claim]]
        assert f'data-verdicts="{";".join(outcomes)}"' in card and card.count('<div class="verdict') == len(outcomes)
        assert all(outcome in page.split("<template")[0] for outcome in outcomes)  # as a button


SUMMED = re.compile(
    r"(\d+) of the \d+ hold .+? (\d+) hold only if something more is\ntrue, (\d+) do not hold, (\d+) are undecided, "
    r"and (\d+) cannot be tested"
)


def test_every_round_has_about_ten_claims_of_several_verdicts_and_the_first_two_begin_with_the_striking(found):
    rounds = cards.rounds(found)
    assert sorted(claim for part in rounds for claim in part) == sorted(claim for claim in found if found[claim])
    assert {len(part) for part in rounds} <= {9, 10, 11}
    for part in rounds:
        outcomes = [{verdict.record["verdict"] for verdict in found[claim]} for claim in part]
        assert len(set.union(*outcomes)) >= 3
        assert sum(claims.WITHIN in each for each in outcomes) < 0.7 * len(part)  # no guess is always a good one
    half = len(STRIKING) // 2
    assert {*rounds[0][:half], *rounds[1][: len(STRIKING) - half]} == {*STRIKING}
    assert rounds == cards.rounds(found)


def test_the_ledgers_words_are_those_of_figures(found):
    for claim, said in claims.ledger().items():
        names = {name for verdict in found[claim] for name in verdict.record["figures"]}
        assert said.get("figure_words", {}).keys() <= names, claim


def test_names_of_figures_stay_different_as_words(found):
    for claim, every in found.items():
        words = claims.ledger()[claim].get("figure_words", {})
        for verdict in every:
            names = claims.deciding(verdict.record)
            assert len({pages.in_words(name) for name in names}) == len(names)
            assert len({cards.called(name, words) for name in names}) == len(names)


judged = partial(claims.judged, measured_on="toy tasks")
FIGURES = {"wide": 0.2, "narrow": 0.5, "left": 3, "right": 4, "all": 10, "said": "none"}


@pytest.mark.parametrize(
    ("condition", "words", "judged", "beside", "met"),
    [
        ("wide > 0.6", "above 0.6", ["wide"], [], False),
        ("0.1 < wide", "above 0.1", ["wide"], [], True),
        ("wide <= narrow", "at most 0.5", ["wide"], ["narrow"], True),
        ("narrow - wide > 0.2", "above 0.4", ["narrow"], ["wide"], True),
        ("max(wide, narrow) < 0.4", "each below 0.4", ["wide", "narrow"], [], False),
        ("min(wide, narrow) >= 0.1", "each at least 0.1", ["wide", "narrow"], [], True),
        ("max(wide, narrow) > 0.4", "the largest above 0.4", ["wide", "narrow"], [], True),
        ("left + right > 0.8 * all", "above 8", ["left + right"], ["all"], False),
    ],
)
def test_a_comparison_has_a_threshold(condition, words, judged, beside, met):
    (part,) = cards.compared(condition, FIGURES, {})
    assert (part.words, list(part.judged), list(part.beside), part.met) == (words, judged, beside, met)
    assert all(value == FIGURES.get(name, 7) for name, value in part.figures.items())


@pytest.mark.parametrize("condition", ["", "wide == 0", "abs(wide - narrow) < 0.1", "said == 'none'"])
def test_what_is_no_comparison_of_sizes_is_not_drawn(condition):
    assert list(cards.compared(condition, FIGURES, {})) == []
    assert cards.drawing(judged("C1", FIGURES, as_said=condition or "wide == 0"), {}) == ""


def test_both_sides_of_and_are_compared():
    words = [part.words for part in cards.compared("wide > 0.1 and 0 < narrow < left", FIGURES, {})]
    assert words == ["above 0.1", "above 0", "below 3"]


@pytest.mark.parametrize(
    ("condition", "made"),
    [
        ("wide > 0.9999", ""),
        ("wide > narrow", "○"),
        ("wide < 0.1 * narrow", "0.1 × ○"),
        ("wide - narrow > 0.5", "○ + 0.5"),
        ("wide > narrow - 0.05", "○ − 0.05"),
        ("wide - max(narrow, left) > 0.2", "the largest ○ + 0.2"),
        ("wide > 4 * max(0.05, narrow)", "4 × the larger of 0.05 and ○"),
    ],
)
def test_it_is_said_how_a_threshold_is_made(condition, made):
    (part,) = cards.compared(condition, FIGURES, {})
    assert part.made == made and (made or part.words == "above 0.9999")
    svg = cards.drawing(judged("C1", FIGURES, as_said=condition), {})
    assert ("○ compared with it" in svg) == bool(made)


def test_both_conditions_are_drawn_under_which_a_claim_holds_only_if_something_is_so():
    conditions = {
        "as_said": "wide > 0.6",
        "within": "narrow - wide > 0.2 and left > 1 and right > 1 and said == 'none'",
    }
    svg = cards.drawing(judged("C1", FIGURES, **conditions, limits="narrow"), {})
    assert [svg.count(side) for side in ("✗ as said", "✓ only if")] == [1, 2]
    assert "above ○ + 0.2 = 0.4" in svg and "2 more conditions below" in svg


def test_a_drawing_shows_where_a_claim_fails_and_where_it_holds():
    record = judged("C1", FIGURES, as_said="wide > 0.1 and wide > 0.6", within="narrow > 0.4", limits="narrow")
    svg = cards.drawing(record, {"wide": "a <wide> state"})
    label = "as said, above 0.6: a &lt;wide&gt; state 0.2; only if, above 0.4: narrow 0.5"
    assert f'role="img" aria-label="{label}"' in svg
    assert svg.count("<circle") == svg.count('class="threshold"') == 2 and "✗ as said" in svg and "✓ only if" in svg
    (dot, tick), _ = zip(
        re.findall(r'cx="([\d.]+)"', svg), re.findall(r'class="threshold" x1="([\d.]+)"', svg), strict=True
    )
    assert float(dot) < float(tick)


@pytest.mark.parametrize(("low", "met", "sign"), [(0.15, True, "✓"), (-0.2, None, "±"), (-0.9, None, "±")])
def test_an_effect_is_drawn_with_its_interval_beside_its_line(low, met, sign):
    ahead = effects.Effect(0.2, low, 0.5, "share of items", "5 runs")
    record = judged("C1", {"ahead": ahead}, as_said="ahead > line", scope="five runs")
    (part,) = cards.compared("ahead > line", record["figures"], record["effects"])
    assert (part.words, part.met, part.interval) == ("above 0.1", met, (low, 0.5))
    svg = cards.drawing(record, {})
    assert f"{sign} as said: above 0.1" in svg and svg.count('class="interval"') == 1 and "95 % interval" in svg


@pytest.mark.parametrize(("condition", "threshold"), [("ahead < -line", 1 / 1.2), ("line < ahead", 1.2)])
def test_the_line_of_a_factor_may_be_on_either_side(condition, threshold):
    one = {"ahead": {"mean": 2.5, "low": 2.0, "high": 3.0, "unit": "factor", "over": "5 runs"}}
    (part,) = cards.compared(condition, {"ahead": 2.5}, one)
    assert part.threshold == pytest.approx(threshold) and part.met == (threshold > 1)


def test_every_effect_that_decides_has_a_row_on_the_common_scale(found, ledger):
    drawn = [row for rows in cards.effect_rows(found).values() for row in rows]
    for claim, every in found.items():
        for verdict in every:
            deciding = [name for name in claims.deciding(verdict.record) if name in verdict.record["effects"]]
            shown = [row for row in drawn if row["claim"] == claim and row["verdict"] == verdict.record["verdict"]]
            assert len(shown) >= len(deciding)
    assert ledger.count("data-claim=") == len(drawn) > 50
    for row in drawn:
        assert 2 <= row["places"]["low"] <= row["places"]["mean"] <= row["places"]["high"] <= 98


def test_the_common_scale_has_the_line_of_every_unit_at_one_place():
    for unit, told in effects.units().items():
        assert cards._percent(told["line"], unit) == cards._percent(0.1, "share of items")
        assert cards._percent(effects.place(unit, -1), unit) == pytest.approx(100 - cards._percent(told["line"], unit))


def test_what_is_far_below_the_rest_is_drawn_by_orders_of_magnitude():
    place, ends = cards._scale([2e-6, 1e-3, 1.0])
    assert place(1e-3) - place(1e-6) == pytest.approx(place(1.0) - place(1e-3))
    assert ends == ("10⁻⁶, by powers of ten", "10⁰")
    place, ends = cards._scale([0.0, 0.5, 1.0])
    assert place(0.5) - place(0.0) == pytest.approx(place(1.0) - place(0.5))
    assert ends == ("0", "1")


@pytest.mark.parametrize(
    ("values", "ends"),
    [([5.4, 3, 6], ("0", "10")), ([-0.0176, 0.159], ("-0.02", "0.2")), ([0, 0], ("0", "1")), ([0.3], ("0", "1"))],
)
def test_a_scale_ends_at_round_numbers(values, ends):
    place, told = cards._scale(values)
    assert told == ends
    assert place(float(ends[0])) == cards.EDGE and place(float(ends[1])) == pytest.approx(cards.TRACK - cards.EDGE)


def test_every_drawing_stays_within_its_frame(found):
    drawn = [cards.drawing(verdict.record, {}) for every in found.values() for verdict in every]
    assert sum(map(bool, drawn)) > 40
    for svg in filter(None, drawn):
        xs = [float(x) for x in re.findall(r'(?:cx|threshold" x1)="([-\d.]+)"', svg)]
        height = int(re.search(r'height="(\d+)"', svg)[1])
        assert cards.EDGE <= min(xs) and max(xs) <= cards.TRACK - cards.EDGE
        assert max(int(y) for y in re.findall(r'y="(\d+)"', svg)) <= height
