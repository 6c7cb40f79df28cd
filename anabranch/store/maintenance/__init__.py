"""Maintenance of a corpus: listing, verifying and rebuilding it, and removing documents."""

from __future__ import annotations

from anabranch.store.corpus_snapshot import Finding, Listed, Overview
from anabranch.store.maintenance.corpus_list import documents, overview
from anabranch.store.maintenance.rebuild import rebuild, renew
from anabranch.store.maintenance.remove import remove
from anabranch.store.maintenance.verify import REMEDIES, examine, verify

__all__ = [
    "REMEDIES",
    "Finding",
    "Listed",
    "Overview",
    "documents",
    "examine",
    "overview",
    "rebuild",
    "remove",
    "renew",
    "verify",
]
