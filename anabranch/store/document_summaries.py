"""Documents at a glance: what each is called, what its metadata says it is about, and its leaves."""

from __future__ import annotations

import sqlite3
from typing import Any, NamedTuple

MAX_SUMMARY = 4_000


class Outline(NamedTuple):
    """One document.

    Attributes:
        doc_id: See `Chunk.doc_id`.
        title: See `Document.title`.
        summary: The field `summary` of its metadata, empty where there is no such text.
        leaves: How many leaves it has.
    """

    doc_id: str
    title: str
    summary: str
    leaves: int


def outlines(connection: sqlite3.Connection, where: str, parameters: list[Any], most: int) -> list[Outline]:
    """Return the documents that a condition lets through, by source; no more than `most`."""
    sql = (
        "SELECT d.doc_id, d.title, json_extract(d.metadata, '$.summary'), "  # noqa: S608  # values are parameters
        "(SELECT count(*) FROM chunks c WHERE c.doc_id = d.doc_id AND c.level = 2) "
        f"FROM documents d WHERE {where} ORDER BY d.source LIMIT ?"
    )
    return [
        Outline(doc_id, title, summary.strip()[:MAX_SUMMARY] if isinstance(summary, str) else "", leaves)
        for doc_id, title, summary, leaves in connection.execute(sql, [*parameters, most])
    ]


def leaves_of(connection: sqlite3.Connection, doc_id: str, where: str, parameters: list[Any], most: int) -> list[str]:
    """Return the ids of the first `most` leaves of a document in its order; none where the condition hides it."""
    sql = (
        "SELECT c.chunk_id FROM chunks c JOIN documents d USING (doc_id) "  # noqa: S608  # values are parameters
        f"WHERE c.doc_id = ? AND c.level = 2 AND {where} ORDER BY c.start LIMIT ?"
    )
    return [row[0] for row in connection.execute(sql, [doc_id, *parameters, most])]
