"""The caption of a table is the innermost title over its rows."""

from __future__ import annotations

import pytest

from anabranch.chunking.hierarchical_chunker import grow
from anabranch.chunking.table_captions import add_captions
from anabranch.models.embedders import load_embedder
from anabranch.readers.document import Block, Document

TABLE = "| Gebäude | 2023 |\n| Rathaus | 642.304 |"
MORE = "| Gebäude | 2023 |\n| Bauhof | 90.212 |"


def _titles(*texts: str) -> list[tuple[str, ...]]:
    """The titles that tables have of their own among blocks below one heading."""
    blocks = add_captions([Block(text, heading=("Energie",)) for text in texts])
    assert [block.text for block in blocks] == list(texts)
    assert all(block.heading[0] == "Energie" for block in blocks)
    assert all(len(block.heading) == 1 for block in blocks if not block.text.startswith("| "))
    return [block.heading[1:] for block in blocks if block.text.startswith("| ")]


@pytest.mark.parametrize(
    "caption", ["Tabelle 1: Strom in kWh", "Table 12. Power used.", "Tableau 3 : électricité", "Tab. 2.1 – Strom"]
)
def test_a_numbered_caption_stands_above_or_below(caption: str) -> None:
    prose = "Das Amt hat alles gezählt."
    assert _titles(prose, caption, TABLE, MORE, prose) == [(caption,)] * 2
    assert _titles(prose, TABLE, MORE, caption, prose) == [(caption,)] * 2


def test_a_numbered_caption_is_that_of_one_table() -> None:
    assert _titles(TABLE, "Table 1: power", MORE, "Table 2: water") == [("Table 1: power",), ("Table 2: water",)]
    assert _titles("Table 1: power", TABLE, "Table 2: water", MORE) == [("Table 1: power",), ("Table 2: water",)]


def test_of_a_long_caption_the_first_sentence_counts() -> None:
    assert _titles(f"Table 1: Power used. {'It was counted twice. ' * 30}", TABLE) == [("Table 1: Power used.",)]


def test_a_sentence_with_a_colon_introduces_a_table_and_prose_does_not() -> None:
    said = "The town counts all it uses. Der Strom verteilt sich so:"
    assert _titles(said, TABLE, "NOTE 5. WATER") == [("Der Strom verteilt sich so:",)]
    assert _titles("The town counts all it uses.", TABLE) == [()]
    assert _titles(TABLE) == [()]
    assert _titles("43", TABLE) == [()]


def test_a_line_above_is_a_caption_with_its_unit() -> None:
    assert _titles("Stromverbrauch", "(in Kilowattstunden)", TABLE) == [("Stromverbrauch (in Kilowattstunden)",)]


def test_a_heading_is_a_title_already() -> None:
    heading = Block("Strom", heading=("Strom",), is_heading=True)
    assert add_captions([heading, Block(TABLE, heading=("Strom",))])[1].heading == ("Strom",)


def test_every_leaf_of_a_long_table_has_the_caption() -> None:
    rows = [Block(f"| Gebäude | 2023 |\n| Schule {n} | {n}.304 |\n| Kita {n} | 1.{n} |") for n in range(9)]
    tree = grow(
        Document("a.md", "A", (Block("Tabelle 4: Ausgaben in Euro"), *rows)), load_embedder("minilm"), (256, 64, 32)
    )
    assert len(tree.leaves) >= 9
    for leaf in tree.leaves:
        assert "Ausgaben in Euro" in f"{leaf.heading} {leaf.text}"
