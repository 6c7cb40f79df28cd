"""The chunk tree: tiling, nesting, budgets, headings."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.chunking import split_units
from anabranch.chunking.hierarchical_chunker import ChunkNode, Tree, grow
from anabranch.errors import SettingsError
from anabranch.models.embedders import load_embedder
from anabranch.readers.document import Block, Document

EMBEDDER = load_embedder("minilm")
SIZES = (128, 64, 16)


def document(*blocks: Block) -> Document:
    return Document(source="a.md", title="A", blocks=blocks)


def heading(title: str, *path: str) -> Block:
    return Block(title, heading=(*path, title), is_heading=True)


def check_laws(tree: Tree, sizes: tuple[int, int, int]) -> None:
    """Every law that a tree has to keep."""
    for level in (0, 1, 2):
        spans = [(node.start, node.end) for node in tree.nodes if node.level == level]
        assert "".join(tree.text[start:end] for start, end in spans) == tree.text
        assert all(left[1] == right[0] for left, right in pairwise(spans))
    for node in tree.nodes:
        assert node.text == tree.text[node.start : node.end]
        assert node.text.strip()
        assert node.tokens <= sizes[node.level]
        assert (node.parent is None) == (node.level == 0)
        if node.parent is not None:
            parent = tree.nodes[node.parent]
            assert parent.level == node.level - 1
            assert parent.start <= node.start < node.end <= parent.end
    check_children(tree)
    counted = EMBEDDER.count([leaf.text for leaf in tree.leaves])
    assert all(tokens <= sizes[2] for tokens in counted)


def check_children(tree: Tree) -> None:
    children: dict[int, list[ChunkNode]] = {}
    for node in tree.nodes:
        if node.parent is not None:
            children.setdefault(node.parent, []).append(node)
    for index, node in enumerate(tree.nodes):
        if node.level < 2:
            assert "".join(child.text for child in children[index]) == node.text
            assert sum(child.tokens for child in children[index]) == node.tokens


words = st.sampled_from(
    ["river", "Dr.", "2,000", "end.", "why?", "a", "日本語", "x" * 40, "한국어", "\n", "e.g.", "🙂", "—"]
)
texts = st.lists(words, min_size=1, max_size=60).map(" ".join).filter(str.strip)
blocks = st.lists(
    st.one_of(
        st.builds(Block, texts, page=st.integers(1, 3)),
        st.sampled_from(["Intro", "Methods and a rather long title of many words", "x"]).map(heading),
    ),
    max_size=12,
)


@given(blocks)
def test_laws_hold_for_any_document(found: list[Block]) -> None:
    tree = grow(document(*found), EMBEDDER, SIZES)
    check_laws(tree, SIZES)
    assert tree == grow(document(*found), EMBEDDER, SIZES)


@given(st.lists(st.text(min_size=1, max_size=200).filter(str.strip), max_size=4))
def test_laws_hold_for_any_characters(found: list[str]) -> None:
    check_laws(grow(document(*map(Block, found)), EMBEDDER, SIZES), SIZES)


def test_laws_hold_for_a_novel(shared: Path) -> None:
    text = (shared / "data" / "seeds" / "gatsby.txt").read_text("utf-8")
    tree = grow(document(*(Block(part) for part in text.split("\n\n") if part.strip())), EMBEDDER)
    check_laws(tree, (2048, 512, 128))
    leaves = [leaf.tokens for leaf in tree.leaves]
    assert sum(leaves) / len(leaves) > 96


@pytest.mark.parametrize(
    "run", ["A" * 20_000, "x " * 5_000, "日本語" * 2_000, "한국어" * 2_000, "a,b;c" * 500, "é" * 9_000]
)
def test_unbroken_runs_are_cut(run: str) -> None:
    tree = grow(document(Block("Before."), Block(run), Block("After.")), EMBEDDER)
    check_laws(tree, (2048, 512, 128))
    assert max(len(leaf.text) for leaf in tree.leaves) <= 1024


def test_leaves_end_at_sentences() -> None:
    text = " ".join(f"Sentence number {number} speaks of rivers and of the sea." for number in range(100))
    tree = grow(document(Block(text)), EMBEDDER)
    assert all(leaf.text.rstrip().endswith(".") for leaf in tree.leaves)
    assert all(leaf.text.startswith("Sentence") for leaf in tree.leaves)


def test_a_heading_opens_a_leaf_and_keeps_its_text() -> None:
    body = Block("Some words about the first thing. " * 3, heading=("One",))
    long = Block("word " * 125 + ".", heading=("One", "Two"))
    tree = grow(document(heading("One"), body, heading("Two", "One"), long), EMBEDDER)
    first, second = (leaf for leaf in tree.leaves if leaf.text.startswith(("One", "Two")))
    assert first.heading == "One"
    assert second.heading == "One > Two"
    assert "word word" in second.text


def test_headings_in_a_row_share_the_leaf_of_their_text() -> None:
    tree = grow(document(heading("One"), heading("Two", "One"), Block("Text.", heading=("One", "Two"))), EMBEDDER)
    assert [leaf.text for leaf in tree.leaves] == ["One\n\nTwo\n\nText."]
    assert tree.leaves[0].heading == "One > Two"


def test_a_parent_carries_the_headings_that_its_children_share() -> None:
    blocks = [
        heading("Book"),
        *(heading(f"Part {n}", "Book") for n in (1,)),
        Block("Text one.", heading=("Book", "Part 1")),
    ]
    blocks += [heading("Part 2", "Book"), Block("Text two.", heading=("Book", "Part 2"))]
    tree = grow(document(*blocks), EMBEDDER)
    assert [leaf.heading for leaf in tree.leaves] == ["Book > Part 1", "Book > Part 2"]
    assert tree.nodes[0].heading == "Book"


def test_parents_break_at_headings_once_a_quarter_full() -> None:
    section = "Rivers run to the sea and the sea is never full of them. " * 4
    blocks = [part for n in range(6) for part in (heading(f"S{n}"), Block(section, heading=(f"S{n}",)))]
    tree = grow(document(*blocks), EMBEDDER, (512, 192, 96))
    middles = [node for node in tree.nodes if node.level == 1]
    assert len(middles) == 6
    assert all(node.text.startswith("S") for node in middles)


def test_pages_span_what_the_blocks_say() -> None:
    tree = grow(document(Block("One.", page=1), Block("Two.", page=2), Block("Three.", page=4)), EMBEDDER)
    assert {(node.page, node.page_end) for node in tree.nodes} == {(1, 4)}


def test_no_text_no_tree() -> None:
    assert grow(document(), EMBEDDER).nodes == ()
    assert grow(document(Block(" \n ")), EMBEDDER).nodes == ()


@pytest.mark.parametrize("sizes", [(128, 512, 2048), (512, 128), (64, 32, 15), (64, 64, 32), (2048, 512, 128.0), ()])
def test_sizes_that_cannot_make_a_tree_are_refused(sizes: tuple[int, ...]) -> None:
    with pytest.raises(SettingsError, match="sizes"):
        grow(document(Block("x")), EMBEDDER, sizes)


class Watched:
    """Counts as the bundled tokenizer does, and remembers the most that it was given at once."""

    name, dimension = "watched", 4

    def __init__(self) -> None:
        self.most = 0

    def count(self, texts: Sequence[str]) -> list[int]:
        self.most = max(self.most, sum(map(len, texts)))
        return EMBEDDER.count(texts)

    def offsets(self, text: str) -> list[tuple[int, int]]:
        self.most = max(self.most, len(text))
        return EMBEDDER.offsets(text)


AT_MOST = 1 << 17
"""Characters given to the tokenizer at once, which takes up to a hundred bytes for each."""

ALL_AT_ONCE = 140_000
SCALE = 8
ENDLESS = {
    "words": "weir mill ",
    "short lines": "weir\nmill\n",
    "clauses": "weir, mill; ",
    "one word": "weir",
    "chinese": "堰水磨坊",
    "gaps": "weir" + " " * (70_000 // SCALE),
    "sentences": "The weir was built. ",
}


# A table from its first character on, and a sentence after another. An unbroken run is cut alike in both.
@pytest.mark.parametrize(
    ("front", "kind"),
    [*(("| ", kind) for kind in ENDLESS if kind != "chinese"), *(("The weir. ", kind) for kind in ENDLESS)],
)
def test_a_sentence_without_an_end_is_counted_piece_by_piece(
    kind: str, front: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At an eighth of the size, text and bounds alike: what is done is the same."""
    monkeypatch.setattr(split_units, "_BATCH", split_units._BATCH // SCALE)
    monkeypatch.setattr(split_units, "_LONGEST", split_units._LONGEST // SCALE)
    check_counted(front, ENDLESS[kind], SCALE)


@pytest.mark.parametrize("kind", ["sentences", "one word"])
def test_a_huge_sentence_is_counted_piece_by_piece(kind: str) -> None:
    check_counted("The weir. ", ENDLESS[kind], 1)


def check_counted(front: str, endless: str, scale: int) -> None:
    size = ALL_AT_ONCE // scale
    watched, text = Watched(), (front + endless * max(size // len(endless), 3)).strip()
    assert len(text) > AT_MOST // scale
    tree = grow(document(Block(text)), watched, SIZES)
    check_laws(tree, SIZES)
    assert watched.most <= AT_MOST // scale


def test_where_a_sentence_is_counted_in_pieces_no_word_is_torn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(split_units, "_BATCH", split_units._BATCH // SCALE)
    monkeypatch.setattr(split_units, "_LONGEST", split_units._LONGEST // SCALE)
    words = [f"weir{number}" for number in range(40_000 // SCALE)]
    tree = grow(document(Block(" ".join(words))), EMBEDDER, SIZES)
    assert [word for leaf in tree.leaves for word in leaf.text.split()] == words
