"""The outline of a document, and which documents hold some terms, against what each leaf holds."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from anabranch.extracts.whole_documents import MOST_ENTRIES, find_documents, list_outline
from anabranch.types import Chunk

TERMS = "abcd"
LEAVES = st.lists(st.frozensets(st.sampled_from(TERMS), min_size=1), min_size=1, max_size=5)
WEIGHTS = {"a": 4.0, "b": 3.0, "c": 2.5, "d": 2.0}


@given(st.lists(LEAVES, min_size=1, max_size=6))
def test_documents_hold_all_terms_or_else_some_and_their_leaves_show_each(
    documents: list[list[frozenset[str]]],
) -> None:
    held = {
        f"{number}.md": {f"{number}-{at}": terms for at, terms in enumerate(leaves)}
        for number, leaves in enumerate(documents)
    }
    found, in_all = find_documents(held, WEIGHTS)
    terms_of = {name: frozenset[str]().union(*leaves.values()) for name, leaves in held.items()}
    full = [name for name, terms in terms_of.items() if terms == frozenset(TERMS)]
    names = [f"{leaves[0].partition('-')[0]}.md" for leaves in found]
    assert in_all == bool(full)
    assert (names == full) if full else (set(names) == set(held))
    for name, leaves in zip(names, found, strict=True):
        assert frozenset[str]().union(*(held[name][leaf] for leaf in leaves)) == terms_of[name]
        assert leaves == [leaf for leaf in held[name] if leaf in leaves]
    weights = [sum(WEIGHTS[term] for term in terms_of[name]) for name in names]
    assert weights == sorted(weights, reverse=True)


def _outline(leaves: Sequence[Chunk]) -> str:
    async def read(ids: Sequence[str]) -> dict[str, Chunk]:
        return {leaf.chunk_id: leaf for leaf in leaves if leaf.chunk_id in ids}

    return asyncio.run(list_outline(read, {leaf.chunk_id: f"p{leaf.start // 50}" for leaf in leaves}, "All:")).write()


def _leaf(at: int, text: str, *, page: int | None = None, heading: str = "") -> Chunk:
    return Chunk(f"c{at}", "d", "d", "a.pdf", "", heading, page, page, 2, None, at * 10, at * 10 + len(text), text, 9)


def test_an_outline_without_headings_has_a_line_for_each_page() -> None:
    leaves = [_leaf(at, f"Sentence {at} is here. It ends.", page=at // 3 + 1) for at in range(30)]
    assert _outline(leaves).splitlines()[2:] == [
        f"- **p. {page}**: Sentence {3 * page - 3} is here. [{page}]" for page in range(1, 11)
    ]


def test_reference_marks_of_a_document_do_not_read_as_citations() -> None:
    leaves = [_leaf(at, f"It was cancelled [1] in part {at} [2, 3].", heading=f"Second [{at}]") for at in range(2)]
    assert _outline(leaves).splitlines()[2:] == [
        "- **Second (0)**: It was cancelled (1) in part 0 (2, 3). [1]",
        "- **Second (1)**: It was cancelled (1) in part 1 (2, 3). [2]",
    ]


def test_an_outline_of_two_thousand_pages_is_spread_over_all_of_them() -> None:
    leaves = [_leaf(at, f"Sentence {at} is here.", page=at + 1) for at in range(2_000)]
    lines = _outline(leaves).splitlines()[2:]
    assert lines[-1] == "- ... 1,900"
    pages = [int(re.search(r"p\. (\d+)", line)[1]) for line in lines[:-1]]  # type: ignore[index]
    assert pages == list(range(1, 2_001, 2_000 // MOST_ENTRIES))


def test_where_a_document_has_headings_its_pages_have_no_lines() -> None:
    leaves = [_leaf(at, f"Sentence {at} is here.", page=at + 1, heading=f"T > H{at // 5}") for at in range(10)]
    assert _outline(leaves).splitlines()[2:] == [
        "- **H0**: Sentence 0 is here. [1]", "- **H1**: Sentence 5 is here. [2]",
    ]  # fmt: skip
