"""Care of a corpus: what is in it, whether it is sound, mending it, removing documents, making it small."""

from __future__ import annotations

from anabranch.store.maintenance.compact import Compacted, compact
from anabranch.store.maintenance.corpus_list import Listed, Overview, documents, overview
from anabranch.store.maintenance.database_check import Finding
from anabranch.store.maintenance.rebuild import rebuild
from anabranch.store.maintenance.remove import remove
from anabranch.store.maintenance.repair import RepairReport, repair
from anabranch.store.maintenance.verify import examine, verify

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
