"""The caption of a table is the innermost title over its rows."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anabranch.chunking.hierarchical_chunker import grow
from anabranch.chunking.table_captions import LONGEST_CAPTION, add_captions, is_table
from anabranch.models.embedders import load_embedder
from anabranch.readers.document import Block, Document
from tests.chunking.test_hierarchical_chunker import EMBEDDER, SIZES, check_laws

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


@pytest.mark.parametrize("label", ["Exhibit 23.1", "FORM 10-Q", "Table 1: A", "Abb. 3 – x", "Note 1.2.3"])
def test_a_label_that_ends_its_text_is_the_caption(label: str) -> None:
    assert _titles("All were counted.", label, TABLE) == [(label,)]
    assert _titles("All were counted.", TABLE, label) == [(label,)]


_words = st.one_of(
    st.text(max_size=12),
    st.text(st.characters(categories=["Cf", "Mn", "Zs", "Zl", "Po", "Nd", "No", "Lo"]), max_size=6),
    st.sampled_from(
        ["Der Strom", "end.", "why?", "e.g.", "日本語。", "电力：", "so:", "x" * 250, "\n", "\n\n", "(in kWh)", "10-Q"]
    ),
)
_prose = st.lists(_words, min_size=1, max_size=9).map(" ".join)
_labels = st.builds(
    "{}{} {}{}{}".format,
    st.sampled_from(["Table", "Tab", "Exhibit", "FORM", "表", "Abbildung", "É"]),
    st.sampled_from(["", "."]),
    st.sampled_from(["1", "23.1", "4.2.10", "٣", "007"]),
    st.sampled_from([":", ".", " |", "–", " —", "-", " :", ""]),
    st.one_of(st.just(""), st.just("A"), _prose.map(" {}".format)),
)
_rows = st.lists(
    st.lists(_words.map(lambda cell: " ".join(cell.split()).replace("|", "")), min_size=1, max_size=4),
    min_size=1,
    max_size=6,
)
_tables = _rows.map(lambda rows: "\n".join(f"| {' | '.join(row)} |" for row in rows))
_texts = st.one_of(_tables, _labels, _prose, st.sampled_from(["| ", "|", "(", "()", "(in thousands)", ":", "："]))
_blocks = st.lists(
    st.builds(
        lambda text, is_heading, page, is_code: Block(
            text, page, ("Energie",) + (text,) * is_heading, is_heading, is_code
        ),
        _texts,
        st.booleans(),
        st.sampled_from([None, 1, 2]),
        st.booleans(),
    ),
    max_size=9,
)


@given(_blocks)
@example([Block("Exhibit 23.1"), Block(TABLE)])
@example([Block(TABLE), Block("FORM 10-Q")])
@example([Block("Table 1: A"), Block(TABLE), Block("Table 2: B")])
def test_whatever_stands_beside_tables_their_texts_stay_and_captions_are_short(blocks: list[Block]) -> None:
    captioned = add_captions(blocks)
    assert [(each.text, each.page, each.is_heading) for each in captioned] == [
        (each.text, each.page, each.is_heading) for each in blocks
    ]
    for before, after in zip(blocks, captioned, strict=True):
        assert after.heading[: len(before.heading)] == before.heading
        captions = after.heading[len(before.heading) :]
        assert len(captions) <= is_table(before.text)
        assert all(0 < len(caption) <= LONGEST_CAPTION for caption in captions)


@given(_blocks)
@example([Block("Exhibit 23.1"), Block(TABLE)])
@example([Block(TABLE), Block("FORM 10-Q")])
def test_whatever_stands_beside_tables_is_in_the_tree(blocks: list[Block]) -> None:
    tree = grow(Document("a.md", "A", tuple(blocks)), EMBEDDER, SIZES)
    check_laws(tree, SIZES)
    for block in blocks:
        for word in re.findall(r"\w+", block.text):
            assert word in tree.text
        assert is_table(block.text) or block.text.strip() in tree.text
