"""What the database stores of a document: its ids by content, the embedded text, and its rows."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from anabranch.chunking.hierarchical_chunker import Tree
    from anabranch.readers.document import Document

# The prefix of a leaf must leave it room in the 256 tokens that the bundled embedder reads.
LONGEST_TITLE = 160
LONGEST_HEADING = 240

MAX_SUMMARY = 4_000

_CHECKED = ("doc_id", "path", "source", "key", "title", "digest", "metadata", "access", "tokens", "pages")
_JSON = ("metadata", "access", "pages")
_EXACT = Context(prec=MAX_PREC, Emin=MIN_EMIN, Emax=MAX_EMAX)


def digest_of(*parts: str) -> str:
    """Return 16 hex characters that name the parts; the separator cannot occur in text that was read."""
    # 64 bits: ids stay short, and a million documents collide with a chance of one in thirty million.
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def text_key(text: str) -> str:
    """Return 32 hex characters that name a text; longer than an id, because equal keys share a vector."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def row_checksum(*values: object) -> str:
    """Return 16 hex characters by which a stored row shows that it is what was written."""
    return digest_of(json.dumps(values, default=lambda blob: hashlib.sha256(blob).hexdigest()))


def document_checksum(facts: Mapping[str, Any], chunks: Sequence[Sequence[Any]]) -> str:
    """Return the checksum of a document's row and of those of its chunks.

    Args:
        facts: The columns of its row; number and birth do not count, and are in the index.
        chunks: Its rows of `chunks` in any order; their text does not count, for their ids are hashes of it.
    """
    own = [_spell(facts[name]) if name in _JSON else facts[name] for name in _CHECKED]
    return row_checksum(*own, *sorted(row_checksum(*chunk[:11], *chunk[12:]) for chunk in chunks))


def _spell(text: str) -> str:
    """Return JSON in one spelling: PostgreSQL keeps neither the order of names nor the form of numbers."""
    parsed = json.loads(text, parse_int=Decimal, parse_float=Decimal)
    return json.dumps(parsed, sort_keys=True, default=lambda number: str(_EXACT.normalize(number)) if number else "0")


def content_digest(document: Document) -> str:
    """Return a digest of all that the corpus stores of a document, so that an unchanged one is skipped."""
    # Hash the blocks, not the file: a PDF saved again with the same words is not embedded again.
    blocks = [[block.text, block.page, block.heading, block.is_heading] for block in document.blocks]
    facts = [document.title, document.key, make_json_safe(document.metadata), document.access, blocks]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()


def embedded_text(title: str, heading: str, text: str) -> str:
    """Return the text of a leaf that both retrievers see, with title and heading path in front."""
    # The end of a heading path says more than its beginning, the beginning of a title more than its end.
    title, heading = title[:LONGEST_TITLE], heading[-LONGEST_HEADING:]
    head = heading if heading.startswith(title) else " > ".join(part for part in (title, heading) if part)
    return f"{head}\n{text.strip()}" if head else text.strip()


@dataclass(frozen=True, slots=True)
class Grown:
    """A document with its tree, ready to be written once its leaves have vectors."""

    document: Document
    tree: Tree
    digest: str
    path: str

    @property
    def leaves(self) -> list[str]:
        """What is embedded, one text per leaf in document order."""
        title = self.document.title
        return [embedded_text(title, node.heading, node.text) for node in self.tree.nodes if node.level == 2]


def facts_of(grown: Grown, chunks: Sequence[Sequence[Any]]) -> dict[str, str | int]:
    """Return the columns of a document's row, all but its number and its birth, given those of its chunks."""
    document = grown.document
    facts: dict[str, str | int] = {
        "doc_id": digest_of(document.source),
        "path": grown.path,
        "source": document.source,
        "key": document.key or document.source,
        "title": document.title,
        "digest": grown.digest,
        "metadata": json.dumps(make_json_safe(document.metadata), ensure_ascii=False, sort_keys=True),
        "access": json.dumps(sorted(document.access)),
        "tokens": sum(node.tokens for node in grown.tree.nodes if node.level == 0),
        "pages": json.dumps(pages_of(grown)),
    }
    return {**facts, "checksum": document_checksum(facts, chunks)}


def pages_of(grown: Grown) -> list[tuple[int, int]]:
    """Return where in the text each page begins, for formats that have pages."""
    starts: list[tuple[int, int]] = []
    position = 0
    for block in grown.document.blocks:
        # The tree joins and trims blocks, so blocks are searched for in the text; a page that is not found counts as
        # the page before.
        found = grown.tree.text.find(block.text, position)
        position = found if found >= 0 else position
        if block.page is not None and (not starts or starts[-1][1] != block.page):
            starts.append((position, block.page))
        position += len(block.text) if found >= 0 else 0
    return starts


def make_json_safe(value: Any) -> Any:  # noqa: ANN401  # metadata of any shape
    """Return a value that SQLite accepts as JSON: one non-finite number would break every filter of the corpus."""
    if isinstance(value, Mapping):
        return {str(name): make_json_safe(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [make_json_safe(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, str | int | float) else str(value)


def summary_of(found: object) -> str:
    """Return the field `summary` of a document's metadata, bounded; empty if it is not text."""
    return found.strip()[:MAX_SUMMARY] if isinstance(found, str) else ""


def spread_positions(count: int, most: int) -> list[int]:
    """Return at most `most` of the positions 0 to `count` - 1, evenly spread, the first and the last among them."""
    if count <= most:
        return list(range(count))
    return [round(place * (count - 1) / max(most - 1, 1)) for place in range(most)]


def rows_of(grown: Grown) -> list[tuple[Any, ...]]:
    """Give each node its id: a content hash of document, place and text, so that unchanged nodes keep theirs."""
    doc_id, nodes = digest_of(grown.document.source), grown.tree.nodes
    places = [0, 0, 0]
    positions: list[int] = []
    for node in nodes:
        positions.append(places[node.level])
        places[node.level] += 1
    ids = [
        digest_of(doc_id, f"{node.level}/{position}", node.text)
        for node, position in zip(nodes, positions, strict=True)
    ]
    title = grown.document.title
    return [
        (
            ids[index], doc_id, ids[node.parent] if node.parent is not None else None, node.level, positions[index],
            node.start, node.end, node.page, node.page_end, node.heading, node.tokens,
            node.text if node.level == 2 else None,
            text_key(embedded_text(title, node.heading, node.text)) if node.level == 2 else None,
        )
        for index, node in enumerate(nodes)
    ]  # fmt: skip
