"""Read the old .doc and .ppt of Word and PowerPoint by kreuzberg (the extra `legacy`).

Nothing else reads both without a program of its own: antiword and catdoc are unmaintained since 2016, and LibreOffice
needs more memory than a reading process has.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from anabranch.errors import MissingExtraError, ReadingError
from anabranch.readers.document import PLAIN, Block, Document, ReadOptions
from anabranch.readers.document_parts import one_document
from anabranch.readers.encoding import clean_text
from anabranch.readers.office_password import is_compound
from anabranch.readers.size_limit import limited
from anabranch.text.normalization import squeeze
from anabranch_readers.protected_office import open_with_password

_KINDS = {"doc": "application/msword", "ppt": "application/vnd.ms-powerpoint"}


@limited(1 << 28)
def read_legacy_office(path: Path, source: str, options: ReadOptions = PLAIN) -> Iterator[Document]:
    """Yield the one document of a file, a block for each paragraph.

    Raises:
        ReadingError: `encrypted`, `broken`, `empty`.
        MissingExtraError: kreuzberg is not installed.
    """
    kind = path.suffix.lower().removeprefix(".")
    if not is_compound(path):
        msg = f"{source!r} is no .{kind} file."
        raise ReadingError(msg, reason="broken", hint="If it is RTF, HTML or .docx under this name, rename it.")
    with open_with_password(path, source, options.passwords) as plain:
        text, notes = clean_text(_text(plain, kind, source), ())
    blocks = (Block(line) for line in map(squeeze, text.splitlines()) if line)
    yield one_document(source, path, blocks, {"format": kind}, notes=notes)


def _text(path: Path, kind: str, source: str) -> str:
    try:
        from kreuzberg import ExtractionConfig, KreuzbergError, extract_bytes_sync
    except ImportError as error:
        raise MissingExtraError(f"Reading .{kind} files", "legacy") from error
    try:
        # Its cache is a folder where the program was started, with the texts in it.
        found = extract_bytes_sync(path.read_bytes(), _KINDS[kind], config=ExtractionConfig(use_cache=False))
    except KreuzbergError as error:
        msg = f"{source!r} is damaged or is no .{kind} file: {squeeze(str(error))[:200]}"
        raise ReadingError(msg, reason="broken", hint="Open it and save it anew, or give its password.") from error
    return str(found.content)
