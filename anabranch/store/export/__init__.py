"""A corpus as a file of JSON lines: to move it, to keep it, to read it without this program, to save a damaged one."""

from __future__ import annotations

from anabranch.store.export.corpus_export import ExportReport, export_corpus
from anabranch.store.export.corpus_import import ImportReport, import_corpus

__all__ = ["ExportReport", "ImportReport", "export_corpus", "import_corpus"]
