"""How much of what stands in a file was found, and in what order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path

import pymupdf
import yaml

from anabranch.chunking.hierarchical_chunker import grow
from anabranch.models.embedders import load_embedder
from anabranch.readers.document import Document
from benchmarks.reading.pdfium import PageReference, squeezed

_JUDGED, _GARBLED = 8, 0.7  # joints of a page that say something about it, and the share that makes it readable
_AROUND = 10  # letters and digits about a title
_QUESTIONS = Path(__file__).with_name("questions.yaml")


@dataclass(slots=True)
class Score:
    """Counts of one file, or of many: each pair is what was found, and what there is."""

    pages: int = 0
    snippets: list[int] = field(default_factory=lambda: [0, 0])
    joints: list[int] = field(default_factory=lambda: [0, 0])
    garbled: list[int] = field(default_factory=lambda: [0, 0])
    right_page: list[int] = field(default_factory=lambda: [0, 0])
    headings: list[int] = field(default_factory=lambda: [0, 0])
    named: int = 0  # headings that were claimed
    tables: list[int] = field(default_factory=lambda: [0, 0])
    cpu: float = 0.0
    bad_pages: list[int] = field(default_factory=list)

    def add(self, other: Score) -> None:
        """Count another file in."""
        for each in fields(self):
            ours, theirs = getattr(self, each.name), getattr(other, each.name)
            pair = isinstance(ours, list) and each.name != "bad_pages"
            setattr(self, each.name, [a + b for a, b in zip(ours, theirs, strict=True)] if pair else ours + theirs)


def of_text(document: Document, pages: Sequence[PageReference], score: Score) -> None:
    """Count snippets, joints, garbled pages and right pages into a score."""
    whole = squeezed(" ".join(block.text for block in document.blocks))
    on: dict[int, list[str]] = defaultdict(list)
    for block in document.blocks:
        if block.page:
            on[block.page].append(block.text)
    for page in pages:
        # A paragraph that runs over a page has the number of the page on which it begins.
        near = squeezed(" ".join(text for number in (page.number - 1, page.number) for text in on[number]))
        _count(score.snippets, [snippet in whole for snippet in page.snippets])
        _count(score.right_page, [snippet in near for snippet in page.snippets])
        found = [joint in whole for joint in page.joints]
        _count(score.joints, found)
        if len(found) >= _JUDGED:
            garbled = sum(found) < _GARBLED * len(found)
            _count(score.garbled, [garbled])
            score.bad_pages += [page.number] * garbled


def _count(pair: list[int], found: Sequence[bool]) -> None:
    pair[0] += sum(found)
    pair[1] += len(found)


def outline_of(path: Path, pages: Sequence[PageReference], stripped: Path) -> list[str]:
    """Return the titles of an outline that its page says, and write the file without the outline."""
    try:
        with pymupdf.open(path) as pdf:
            entries = [(squeezed(title), page) for _, title, page in pdf.get_toc()]
            if len(entries) > 1:
                pdf.set_toc([])
                pdf.save(stripped)
    except (RuntimeError, ValueError, TypeError):
        return []
    said = {page.number: page.text for page in pages}
    return [title for title, page in entries if len(title) >= 3 and title in said.get(page, "")]


def of_headings(document: Document, titles: Iterable[str], score: Score) -> None:
    """Count the titles of an outline that were found as headings in the file without it."""
    claimed = [squeezed(block.text) for block in document.blocks if block.is_heading]
    score.named += len(claimed)
    _count(score.headings, [any(_is_title(text, title) for text in claimed) for title in titles])


def _is_title(text: str, title: str) -> bool:
    # Its number, `Appendix` or the mark of a note may be in one and not in the other.
    bare = title.lstrip("0123456789") or title
    return bare in text and len(text) - len(bare) <= _AROUND


@dataclass(frozen=True, slots=True)
class Question:
    """A value in a table, and the words that its row and its column have to show in the same leaf."""

    row: tuple[str, ...]
    column: tuple[str, ...]
    value: str


def questions() -> dict[str, list[Question]]:
    """Return the questions by the name of the file."""
    found = yaml.safe_load(_QUESTIONS.read_text("utf-8"))
    return {
        name: [Question(tuple(map(str, q["row"])), tuple(map(str, q["column"])), str(q["value"])) for q in each]
        for name, each in found.items()
    }


def of_tables(document: Document, asked: Sequence[Question], score: Score) -> None:
    """Count the questions that one leaf of 128 tokens answers."""
    if asked:
        leaves = [leaf.text for leaf in grow(document, load_embedder("minilm")).leaves] if document.blocks else []
        _count(score.tables, [any(answers(leaf, question) for leaf in leaves) for question in asked])


def answers(leaf: str, question: Question) -> bool:
    """Tell whether a row of a table in a leaf has the value in a column whose header, above it, says its name."""
    lines = [_cells(line) for line in leaf.split("\n") if line.startswith("|")]
    return any(
        cell == question.value
        and _says(" ".join(row), question.row)
        and _says(" ".join(above[column] for above in lines[:at] if column < len(above)), question.column)
        for at, row in enumerate(lines)
        for column, cell in enumerate(row)
    ) or _as_record(leaf, question)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split(" | ")]


def _as_record(leaf: str, question: Question) -> bool:
    """Tell the same of a wide row, which is written as lines of `name: value`."""
    lines = leaf.split("\n")
    said = any(
        line.endswith(f": {question.value}") and _says(line.rpartition(": ")[0], question.column) for line in lines
    )
    return said and _says(leaf, question.row)


def _says(text: str, words: Iterable[str]) -> bool:
    said = squeezed(text)
    return all(squeezed(word) in said for word in words)
