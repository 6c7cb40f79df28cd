"""A corpus as a file of JSON lines: to move it, to keep it, to read it without this program, to save a damaged one."""

from __future__ import annotations

from anabranch_copies.export.corpus_copy import CopyReport, copy_corpus
from anabranch_copies.export.corpus_export import ExportReport, export_corpus
from anabranch_copies.export.corpus_import import import_corpus
from anabranch_copies.export.line_import import ImportReport

__all__ = ["CopyReport", "ExportReport", "ImportReport", "copy_corpus", "export_corpus", "import_corpus"]
