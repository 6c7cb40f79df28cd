"""Where leaves end: what belongs together stays together."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from anabranch.chunking.hierarchical_chunker import ChunkNode, grow
from anabranch.models.embedders import load_embedder
from anabranch.readers.document import Block, Document

EMBEDDER = load_embedder("minilm")
SIZES = (512, 256, 64)


def leaves(*blocks: Block | str, sizes: Sequence[int] = SIZES) -> list[str]:
    return [leaf.text for leaf in grown(*blocks, sizes=sizes)]


def grown(*blocks: Block | str, sizes: Sequence[int] = SIZES) -> tuple[ChunkNode, ...]:
    made = tuple(Block(block) if isinstance(block, str) else block for block in blocks)
    return grow(Document("a.md", "A", made), EMBEDDER, sizes).leaves


@pytest.mark.parametrize("marker", ["-", "•", "{n}.", "{n})"])
def test_a_list_keeps_its_last_item(marker: str) -> None:
    items = [f"{marker.format(n=n)} five percent of all payments of plan {n}" for n in range(1, 7)]
    for count in range(2, 7):
        parts = leaves("\n".join(items[:count]))
        assert parts[-1].strip() != items[count - 1]
        assert all(item in "\n".join(parts) for item in items[:count])


def test_a_key_stays_with_its_value() -> None:
    record = f"id: 7\nSpearmanCorrelationCoefficient: {'0.123 weir ' * 60}"
    found = leaves(record, sizes=(512, 256, 16))
    assert not any(leaf.rstrip().endswith(":") for leaf in found)


def test_a_number_stays_whole() -> None:
    found = leaves(" ".join(f"{n},062.6" for n in range(100, 160)), sizes=(512, 256, 16))
    assert "".join(found).split() == [number for leaf in found for number in leaf.split()]
