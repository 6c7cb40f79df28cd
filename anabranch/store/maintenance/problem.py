"""What a look at a corpus finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["database", "version", "torn", "strays", "vectors", "index", "behind", "leftover"]
"""Where it was found, which is also how it is mended.

`database`: SQLite itself complains. `version`: the tables are of an earlier version. `torn`: a document is not whole.
`strays`: chunks of no document. `vectors`: passages without their vector. `index`: an index file is damaged, or holds
something else than the database. `behind`: documents have changed since the index was made. `leftover`: what a run
that was killed left in the folder.
"""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was found.

    Attributes:
        kind: See `Kind`.
        said: For a person.
        number: Of the document, where it is one.
        is_remark: Whether the corpus is sound all the same.
    """

    kind: Kind
    said: str
    number: int = 0
    is_remark: bool = False
