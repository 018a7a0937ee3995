"""The generated pages of glossary/ are today's, and every claim that must have a verdict has one that was measured."""

import copy

import nbformat
import pytest

from course_lib import claims, glossary
from course_lib.tools import lessons, pages


@pytest.fixture(scope="module")
def found():
    return pages.verdicts()


def test_the_index_is_todays():
    assert (glossary.FOLDER / "README.md").read_text("utf-8") == pages.index(), "`make pages` writes it anew"


def test_the_claims_page_is_todays(found):
    page = (glossary.FOLDER / "claims.md").read_text("utf-8")
    assert page == pages.ledger_of_claims(found), "`make pages` writes it anew"


def test_writing_the_pages_writes_these_two(found, tmp_path, monkeypatch):
    index = pages.index()
    monkeypatch.setattr(pages, "index", lambda: index)
    monkeypatch.setattr(glossary, "FOLDER", tmp_path)
    assert [file.name for file in pages.write()] == ["README.md", "claims.md"]
    assert (tmp_path / "claims.md").read_text("utf-8") == pages.ledger_of_claims(found)


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
    assert pages.lacking(empty) == ["G4 has a verdict in transformer_built and no figure"]


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
