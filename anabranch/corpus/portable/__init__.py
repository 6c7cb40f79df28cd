"""A corpus as a file of JSON lines: to move it, to keep it, to read it without this program, to save a damaged one."""

from __future__ import annotations

from anabranch.corpus.portable.exporting import ExportReport, export_corpus
from anabranch.corpus.portable.importing import ImportReport, import_corpus

__all__ = ["ExportReport", "ImportReport", "export_corpus", "import_corpus"]
