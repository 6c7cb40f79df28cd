"""Whatever room there is: no leaf has figures without the names of their columns."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from anabranch.chunking.hierarchical_chunker import grow
from anabranch.chunking.table_fitting import fit_tables
from anabranch.models.embedders import load_embedder
from anabranch.readers.document import Block, Document
from anabranch.readers.table_blocks import cells_of, markdown_rows, table_parts

EMBEDDER = load_embedder("minilm")
HEADER = "| Gebäude | 2021 | 2020 |"


def leaves(blocks: Sequence[Block], leaf: int) -> list[str]:
    return [each.text for each in grow(Document("a", "A", tuple(blocks)), EMBEDDER, (512, 256, leaf)).leaves]


@pytest.mark.parametrize("leaf", [128, 96, 64, 48])
@pytest.mark.parametrize(
    "title", ["Strom", "Stromverbrauch der städtischen Gebäude in Kilowattstunden, nach Jahren " * 2]
)
def test_each_leaf_with_figures_has_the_header(leaf: int, title: str) -> None:
    rows = [["Gebäude", "2021", "2020"], *([f"Schule {n}", f"{n}.304", f"{n}.198"] for n in range(40))]
    heading = Block(title.strip(), heading=(title.strip(),), is_heading=True)
    found = leaves([heading, *(Block(part, heading=(title.strip(),)) for part in table_parts(rows))], leaf)
    for text in found:
        table = text[text.index("| ") :].strip() if "| " in text else ""
        # A heading that leaves no room for the header and one row stands alone.
        assert (table.startswith(f"{HEADER}\n") and table.count("\n")) or leaf - EMBEDDER.count([text])[0] < 28
    assert [row for n in range(40) for row in [f"| Schule {n} | {n}.304 | {n}.198 |"]] == [
        line for text in found for line in text.split("\n") if line.startswith("| Schule")
    ]


def test_only_the_first_part_gives_way_to_the_headings_above() -> None:
    heading = Block("Stromverbrauch der städtischen Gebäude in Kilowattstunden", heading=("Strom",), is_heading=True)
    table = Block("\n".join([HEADER, *(f"| Schule {n} | 1.304 | 1.198 |" for n in range(40))]), heading=("Strom",))
    rows = [each.text.count("\n") for each in fit_tables([heading, table], EMBEDDER, 128) if each is not heading]
    assert rows[0] < rows[1]
    assert sum(rows) == 40


def test_a_row_that_leaves_no_room_for_the_header_is_written_by_column() -> None:
    header = ["Gebäude", "Bemerkung", *[f"Jahr {year}" for year in range(2010, 2020)]]
    row = ["Rathaus", "Strom im Winter und im Sommer", *map(str, range(310, 320))]
    found = leaves([Block(markdown_rows([header, row]))], 64)
    assert "\n".join(found).startswith("Gebäude: Rathaus\nBemerkung: Strom im Winter und im Sommer\nJahr 2010: 310\n")
    assert not any("| " in text for text in found)


def test_the_name_of_a_column_without_values_is_kept() -> None:
    header = ["Gebäude", "Bemerkung", *[f"Jahr {year}" for year in range(2010, 2020)], "Leerstand", "Anmerkung " * 40]
    row = ["Rathaus", "Strom im Winter und im Sommer", *map(str, range(310, 320)), "", "keine"]
    text = "\n".join(leaves([Block(markdown_rows([header, row, row, [""] * 13 + ["keine"]]))], 64))
    assert text.count("Leerstand") == 1
    assert text.count("Anmerkung") >= 40
    assert text.count("Jahr 2010: 310") == 2


def test_a_row_without_cells_leaves_the_header() -> None:
    header = "| " + " | ".join(f"Jahr {year}" for year in range(1990, 2020)) + " |"
    assert "".join(leaves([Block(f"{header}\n|  |")], 64)) == header


def test_figures_without_names_are_not_doubled() -> None:
    rows = [[f"{n}", f"{n}.198"] for n in range(60)]
    found = leaves([Block(part) for part in table_parts(rows)], 48)
    assert "\n".join(text.strip() for text in found).replace("\n\n", "\n") == markdown_rows(rows)


def test_cells_are_read_back() -> None:
    row = ["a|b", "", "c \\ d", "|"]
    assert cells_of(markdown_rows([row, ["x"] * 4]).split("\n")[0]) == row
