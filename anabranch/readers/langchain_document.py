"""Read what a caller holds in memory: documents of LangChain's, and texts without anything else."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from anabranch.errors import UserError
from anabranch.readers.document import Block, Document, Failure
from anabranch.readers.jsonl import document_of
from anabranch.text.normalization import squeeze

if TYPE_CHECKING:
    # It takes a second to import, which whoever reads files has no use for.
    from langchain_core.documents import Document as LangChainDocument


def read_given(given: str | LangChainDocument) -> Document | Failure:
    """Return a text or a document as one that a file would have held.

    Its `key` is its id, or a hash of what it says where it has none. In its metadata `access` is a list of tags,
    `title` its title, `source` a part of its name; its page is told as by `page_of`. What is no JSON there is kept as
    text.

    Raises:
        UserError: It is neither text nor a document.
    """
    text = given if isinstance(given, str) else getattr(given, "page_content", None)
    if not isinstance(text, str):
        msg = f"A document has to be text, or a Document of LangChain, not {type(given).__name__}."
        raise UserError(msg, hint="Give ingest(documents=[...]); files and folders are its `paths`.")
    metadata: Mapping[str, object] = {} if isinstance(given, str) else given.metadata
    own = None if isinstance(given, str) else given.id
    name = squeeze(str(metadata.get("source") or ""))
    key = own or hashlib.sha256(f"{name}\0{text}".encode("utf-8", "replace")).hexdigest()[:16]
    try:
        line = json.dumps({**metadata, "id": key, "text": text}, default=str)
        document = document_of(line, name, 0)
    except (TypeError, ValueError, RecursionError) as error:
        return Failure(key, "broken", squeeze(str(error)))
    page = page_of(metadata)
    return replace(
        document,
        source=document.source if name and name != key else key,
        # A hash says nothing to whoever reads it, and would be searched for with the words of the text.
        title=squeeze(str(metadata.get("title") or name or own or "")),
        blocks=tuple(Block(block.text, page=page) for block in document.blocks),
    )


def page_of(metadata: Mapping[str, object]) -> int | None:
    """Return the page a document is on, from 1; None where that cannot be told.

    The loaders of LangChain that tell how many pages a file has (`total_pages`), or what is printed on one
    (`page_label`), are those of PDF files, and count pages from 0. All others count from 1, as `page_number` always
    does; a page 0 of theirs is none.
    """
    number, page, total = (_natural(metadata.get(name)) for name in ("page_number", "page", "total_pages"))
    if number:
        return number
    if page is None:
        return None
    from_zero = "page_label" in metadata or (total is not None and page < total)
    return (page + 1 if from_zero else page) or None


def _natural(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
