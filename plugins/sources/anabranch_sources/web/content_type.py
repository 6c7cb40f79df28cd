"""The content type of a response: the extension for its reader, and its encoding."""

from __future__ import annotations

import codecs
import re
import shutil
from email.message import Message
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

import httpx

from anabranch.errors import ReadingError
from anabranch.readers import READERS

EXTENSIONS: dict[str, str] = {
    "text/html": ".html",
    "application/xhtml+xml": ".xhtml",
    "application/pdf": ".pdf",
    "application/x-pdf": ".pdf",
    "text/plain": ".txt",
    "text/markdown": ".md",
    "text/x-markdown": ".md",
    "text/x-rst": ".rst",
    "text/calendar": ".ics",
    "text/vtt": ".vtt",
    "application/rtf": ".rtf",
    "text/rtf": ".rtf",
    "application/json": ".json",
    "application/rss+xml": ".rss",
    "application/atom+xml": ".atom",
    "application/xml": ".xml",
    "text/xml": ".xml",
    "text/csv": ".csv",
    "text/tab-separated-values": ".tsv",
    "application/jsonl": ".jsonl",
    "application/x-ndjson": ".jsonl",
    "application/ndjson": ".jsonl",
    "application/epub+zip": ".epub",
    "message/rfc822": ".eml",
    "application/vnd.oasis.opendocument.text": ".odt",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": ".pptx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ".xlsx",
}
"""By media type, lower case."""

_SAYS_LITTLE = frozenset({"", "text/plain", "application/octet-stream", "binary/octet-stream"})
_CHARSETS = re.compile(r"utf-(16|32)|iso8859-|cp\d|koi8-|mac-|big5|gb|euc_|shift_|iso2022_|hz|tis-|johab")
"""Python's names of the encodings of pages; its other codecs are not used by pages, or are slow."""
_LATIN = frozenset({"iso8859-1", "ascii"})
_PIECE = 1 << 16


def extension_of(content_type: str, url: httpx.URL) -> str:
    """Return the extension for a media type; if the type is generic, that of the address.

    Raises:
        ReadingError: `unsupported` if no reader takes it.
    """
    kind = _kind(content_type)
    named = PurePosixPath(unquote(url.path)).suffix.lower()
    found = EXTENSIONS.get(kind, "")
    # Servers send Markdown, logs and CSV as plain text; the extension in the address is more exact.
    if kind in _SAYS_LITTLE and named and named in READERS:
        found = named
    if not found:
        msg = f"The server sent the content type {kind[:100]!r}, which cannot be read."
        raise ReadingError(msg, reason="unsupported", hint="Save the page to a file and ingest that.")
    return found


def recode(path: Path, content_type: str) -> Path:
    """Convert a file to UTF-8 with a byte order mark if the server named another encoding, and return it.

    A reader sees only the file, but the server's encoding goes before the page's own. If the server is wrong, because
    the file is valid UTF-8 or does not fit the encoding, the file stays as it is.
    """
    name = _charset(content_type)
    # A byte order mark is certain; a header is often only the server's default.
    if not name or _has_mark(path) or (not name.startswith("utf") and _is_utf8(path)):
        return path
    other = path.with_name(f"{path.stem}.utf8{path.suffix}")
    try:
        with path.open(encoding=name, newline="") as old, other.open("w", encoding="utf-8-sig", newline="") as new:
            shutil.copyfileobj(old, new, _PIECE)
    except UnicodeError:
        other.unlink(missing_ok=True)
        return path
    return other.replace(path)


def _has_mark(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(3).startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))


def _is_utf8(path: Path) -> bool:
    """Tell whether a file is UTF-8 and not only ASCII, which fits other encodings as well."""
    is_ascii = True
    try:
        with path.open(encoding="utf-8", newline="") as file:
            while piece := file.read(_PIECE):
                is_ascii = is_ascii and piece.isascii()
    except UnicodeError:
        return False
    return not is_ascii


def _charset(content_type: str) -> str:
    if not _kind(content_type).startswith("text/") and _kind(content_type) != "application/xhtml+xml":
        return ""
    message = Message()
    message["Content-Type"] = content_type
    try:
        name = codecs.lookup(message.get_content_charset("")).name
    except (LookupError, ValueError):
        return ""
    if name in _LATIN:
        return "cp1252"  # what browsers take it for (WHATWG Encoding Standard)
    return name if _CHARSETS.match(name) else ""


def _kind(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()
