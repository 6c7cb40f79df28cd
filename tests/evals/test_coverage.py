"""What the table of hits measures: the collections are what they say, and the reader makes the slips that it says."""

from __future__ import annotations

from pathlib import Path

import pytest
from langchain_core.messages import HumanMessage

from anabranch.parsing.row_list import read_rows
from anabranch.safety.prompt_envelope import new_nonce, wrap
from evals.coverage import __main__ as coverage
from evals.coverage.made_collection import HIT, SIZES, make_collection
from evals.coverage.scripted_reader import list_hits


@pytest.mark.parametrize("number", [0, 7, len(SIZES) - 1])
def test_a_collection_has_the_hits_that_it_names(number: int) -> None:
    made = make_collection(number)
    found = [hit[1] for text in made.documents.values() for hit in HIT.finditer(text)]
    assert set(found) == made.hits
    assert (len(made.hits), len(found)) == (SIZES[number], made.places)
    units = sum(text.count("U-") for text in made.documents.values())
    assert units >= 2.5 * SIZES[number]
    assert make_collection(number) == made


def test_the_reader_lists_what_stands_in_its_prompt_with_slips() -> None:
    rows = [
        (n, "log", f"Unit U-{n:04d} leaked at the flange and was shut down by the night shift.") for n in range(1, 13)
    ]
    reply = list_hits([HumanMessage(wrap(rows, new_nonce()))]).text
    hits = list(read_rows(reply))
    assert {hit.item for hit in hits} >= {f"U-{n:04d}" for n in range(1, 13)}
    assert len(hits) > 12
    assert any(hit.number != int(hit.item[2:]) for hit in hits[:-1])
    assert hits[-1].item == "U-99999"
    assert list_hits([HumanMessage(wrap([(1, "x", "Unit U-0001 was filled.")], new_nonce()))]).text == "NONE"


@pytest.mark.slow
def test_the_command_counts_a_collection_exactly(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- coverage-hits -->\n<!-- /coverage-hits -->\n")
    assert coverage.main(["--collections", "6", "--write", str(page)]) == 0
    (row,) = [line for line in page.read_text().splitlines() if line.startswith("| 33 |")]
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[4:8] == ["33", "0", "1.000", "38 of 38"]
    assert float(cells[-1]) < 0.7
    capsys.readouterr()
