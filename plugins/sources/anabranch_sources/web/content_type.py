"""What a response holds: the extension that its reader goes by, and the characters in it."""

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
"""Python's names of the encodings that pages are in; its other codecs are no encodings of pages, or slow."""
_LATIN = frozenset({"iso8859-1", "ascii"})
_PIECE = 1 << 16


def extension_of(content_type: str, url: httpx.URL) -> str:
    """Return the extension for a media type; where the type says little, that of the address.

    Raises:
        ReadingError: `unsupported` where no reader goes by it.
    """
    kind = _kind(content_type)
    named = PurePosixPath(unquote(url.path)).suffix.lower()
    found = EXTENSIONS.get(kind, "")
    # Servers call Markdown, logs and CSV plain text; the ending in the address knows better.
    if kind in _SAYS_LITTLE and named and named in READERS:
        found = named
    if not found:
        said = repr(kind[:100]) if kind else "nothing"
        msg = f"The server calls it {said}, which is not of a kind that can be read."
        raise ReadingError(msg, reason="unsupported", hint="Save the page to a file of its kind and ingest that.")
    return found


def recoded(path: Path, content_type: str) -> Path:
    """Return a file in UTF-8 with its mark where the server named another encoding, else the file as it is.

    A reader sees only the file, and what the server says of the encoding goes before what the page says of itself. A
    server that is wrong about it is not believed: valid UTF-8, and bytes that do not fit, stay as they are.
    """
    name = _charset(content_type)
    # A byte order mark is part of the page and certain; a header is often the default of a server.
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
    """Tell whether a file is UTF-8 and not only ASCII, which other encodings are written in."""
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
