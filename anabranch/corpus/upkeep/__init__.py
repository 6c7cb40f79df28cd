"""Care of a corpus: what is in it, whether it is sound, mending it, removing documents, making it small."""

from __future__ import annotations

from anabranch.corpus.upkeep.compacting import Compacted, compact
from anabranch.corpus.upkeep.finding import Finding
from anabranch.corpus.upkeep.listing import Listed, Overview, documents, overview
from anabranch.corpus.upkeep.rebuilding import rebuild
from anabranch.corpus.upkeep.removing import remove
from anabranch.corpus.upkeep.repairing import RepairReport, repair
from anabranch.corpus.upkeep.verifying import examine, verify

__all__ = [
    "Compacted",
    "Finding",
    "Listed",
    "Overview",
    "RepairReport",
    "compact",
    "documents",
    "examine",
    "overview",
    "rebuild",
    "remove",
    "repair",
    "verify",
]
