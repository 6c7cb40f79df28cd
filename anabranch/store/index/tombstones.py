"""Works out which rows of an index a change of the documents kills."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from anabranch.store.corpus_database import CorpusDatabase
from anabranch.store.index.manifest import Dead
from anabranch.store.index.segment import Segment


def buried(database: CorpusDatabase, segments: Sequence[Segment], dead: Dead) -> Dead:
    """Return all dead rows of each segment, former ones and those of the database's retired documents."""
    # Kept by the database until an index knows of them: a kill between the removal and the index loses no death.
    retired = np.array(database.all("SELECT number, born FROM retired"), dtype=np.int64).reshape(-1, 2)
    return {
        segment.name: np.union1d(dead[segment.name], segment.rows_of(_places(segment, retired))) for segment in segments
    }


def _places(segment: Segment, retired: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return which documents of a segment are among the retired editions."""
    candidates = np.flatnonzero(np.isin(segment.documents[:, 0], retired[:, 0]))
    # A document that was changed keeps its number: what its newer edition added must not die with the former one.
    editions = set(map(tuple, retired.tolist()))
    facts = np.asarray(segment.documents[candidates, :2]).tolist()
    kept = [place for place, fact in zip(candidates.tolist(), facts, strict=True) if tuple(fact) in editions]
    return np.array(kept, dtype=np.int64)
