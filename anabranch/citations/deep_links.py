"""Makes the address of quoted words: a page of a PDF, words of a web page, or characters of a text.

`#page=` is understood by PDF viewers (RFC 8118), `#:~:text=` by browsers (URL Fragment Text Directives, WICG), and
`#char=` says which characters of a text are meant (RFC 5147).
"""

from __future__ import annotations

from pathlib import PurePath
from urllib.parse import quote as escaped
from urllib.parse import urldefrag, urlsplit

from anabranch.store.file_identity import archives_of, is_url

_WEB = frozenset({"http", "https"})
_PAGES = frozenset({".html", ".htm", ".xhtml"})
_FEW = 8
_ENDS = 4


def link_to(path: str, *, page: int | None, quote: str, start: int, end: int) -> str:
    """Return the address of some words of a document.

    Args:
        path: The document's absolute path, the address of a web page, or the path of an archive, `!/` and the member.
        page: 1-based page of the words, None without pages.
        quote: The words, as in the document's text.
        start: Their first character in the document's text.
        end: One past their last character.

    Returns:
        The address, percent-encoded; empty if nothing can open it. No file is read.
    """
    try:
        return _link_page(path, page, quote) if is_url(path) else _link_file(path, page, quote, f"char={start},{end}")
    except ValueError:  # a retriever's source may be any text
        return ""


def _link_file(path: str, page: int | None, quote: str, place_in_text: str) -> str:
    archive = next(iter(archives_of(path)), None)
    place = PurePath(archive or path)
    if not place.is_absolute():
        return ""
    address = place.as_uri()
    if archive is not None:
        return address
    if place.suffix.lower() == ".pdf":
        return address if page is None else f"{address}#page={page}"
    return f"{address}#{_make_directive(quote)}" if place.suffix.lower() in _PAGES else f"{address}#{place_in_text}"


def _link_page(url: str, page: int | None, quote: str) -> str:
    parts = urlsplit(url)
    if parts.scheme.lower() not in _WEB:
        return ""
    address = escaped(urldefrag(url).url, safe=":/?#[]@!$&'()*+,;=%~-._")
    if parts.path.lower().endswith(".pdf"):
        return address if page is None else f"{address}#page={page}"
    return f"{address}#{_make_directive(quote)}"


def _make_directive(quote: str) -> str:
    """Return the text directive for a quote; a long quote is given by its first and last words."""
    words = quote.split()
    if len(words) <= _FEW and "\n" not in quote:
        return f":~:text={_encode(words)}"
    return f":~:text={_encode(words[:_ENDS])},{_encode(words[-_ENDS:])}"


def _encode(words: list[str]) -> str:
    # A dash next to a comma would mark the words as context.
    return escaped(" ".join(words), safe="").replace("-", "%2D")
