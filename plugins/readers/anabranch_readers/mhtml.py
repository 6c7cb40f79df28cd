"""Read a page that a browser has saved in one file (.mhtml, RFC 2557): its HTML, without what it shows of others."""

from __future__ import annotations

import email
import email.policy
from collections.abc import Iterator
from pathlib import Path

from anabranch.errors import ReadingError
from anabranch.readers.document import PLAIN, Document, ReadOptions, declared_title
from anabranch.readers.document_parts import one_document
from anabranch.readers.encoding import decode
from anabranch.readers.html import page_blocks, parse_html
from anabranch.readers.size_limit import MOST_PARSED_BYTES, limited
from anabranch.readers.visible_nodes import Visible


@limited(MOST_PARSED_BYTES)
def read_mhtml(path: Path, source: str, _: ReadOptions = PLAIN) -> Iterator[Document]:
    """Yield the one document of a saved page; its address is the metadata `url`.

    Raises:
        ReadingError: `broken` when there is no page in it, `empty`, `encoding`.
    """
    message = email.message_from_bytes(path.read_bytes(), policy=email.policy.compat32)
    # The first is the page, the others are what stands in its frames.
    page = next((part for part in message.walk() if part.get_content_type() == "text/html"), None)
    data = page.get_payload(decode=True) if page is not None else None
    if page is None or not isinstance(data, bytes):
        raise ReadingError(f"{source!r} holds no page.", reason="broken", hint="Check the file's extension.")
    try:
        text = data.decode(page.get_content_charset() or "utf-8")
    except (LookupError, UnicodeDecodeError):
        text = decode(data, source)[0]
    soup = parse_html(text, source)
    visible = Visible()
    blocks = page_blocks(soup, visible)[0]
    url = message.get("Snapshot-Content-Location") or page.get("Content-Location") or ""
    title = declared_title(soup.title.get_text()) if soup.title else ""
    yield one_document(source, path, blocks, {"format": "mhtml", "url": str(url).strip()}, title, visible.notes())
