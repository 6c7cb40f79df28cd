"""The address of a corpus in PostgreSQL: a database as libpq writes it, and the corpus after a #."""

from __future__ import annotations

from typing import NamedTuple

from anabranch.errors import SettingsError
from anabranch.store.corpus_address import shown_address

NAME = "corpus"
"""The default name of a corpus."""


class DatabaseAddress(NamedTuple):
    """Where a corpus is.

    Attributes:
        database: The address for psycopg, which may hold a password.
        corpus: The name of the corpus in that database.
        shown: The whole address without a password.
    """

    database: str
    corpus: str
    shown: str


def parse_address(address: str) -> DatabaseAddress:
    """Return the parts of `postgresql://user@host/database#corpus`.

    Raises:
        SettingsError: The name of the corpus is empty or too long.
    """
    database, mark, name = address.partition("#")
    shown = shown_address(address)
    if (mark and not name) or len(name) > 200 or "\0" in name:
        raise SettingsError(f"{shown} names no corpus.", hint="For example: postgresql://host/database#handbook")
    return DatabaseAddress(database, name or NAME, shown)
