"""Read JSON: conversations, lists of texts and lists of records as what they say; anything else as it stands."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from anabranch.errors import ReadingError
from anabranch.readers.document import PLAIN, Block, Document, Failure, ReadOptions
from anabranch.readers.document_parts import in_parts
from anabranch.readers.encoding import clean_text, decode
from anabranch.readers.jsonl import record_parts
from anabranch.readers.size_limit import limited
from anabranch.readers.table_blocks import table_texts
from anabranch.registry import Registry
from anabranch.text.normalization import squeeze

JsonRecord = dict[str, Any]

JSON_EXPORTS: Registry[Callable[[Sequence[JsonRecord], str], Iterator[Document] | None]] = Registry("json export", {})
"""Functions that return the documents of what a service exports, None where the records are none of its own."""

_MOST_COLUMNS = 40  # a list of records with more keys is no table that a person would read
_MOST_CODE = 1 << 25  # bytes that are read as they stand, as of any source code
_DEEPEST = 6


@limited(1 << 27, "Turn it into JSON lines, or split it.")
def read_json(path: Path, source: str, _: ReadOptions = PLAIN) -> Iterator[Document | Failure]:
    """Yield the documents of a .json file.

    An export of conversations gives one for each. A list of objects gives one for each, as lines of JSON lines do, if
    all have a `text`, or a `title` in its place. One of flat records is a table, and one of others has a paragraph for
    each record. Configuration and all other JSON stays as it stands.

    Raises:
        ReadingError: `empty`, `broken` (binary data), `encoding`, `too_large`.
    """
    text, notes = clean_text(*decode(path.read_bytes(), source))
    try:
        records = _records(json.loads(text))
    except (ValueError, RecursionError):  # with comments, in pieces, or no JSON: it is text all the same
        records = []
    if not records:
        if path.stat().st_size > _MOST_CODE:
            msg = f"{source!r} is no list of records, and longer than {_MOST_CODE} bytes."
            raise ReadingError(msg, reason="too_large", hint="Turn it into CSV or JSON lines, or split it.")
        whole = Document(source, source, (), {"format": "code", "language": "json"}, key=source, notes=notes)
        text = text.strip("\n")
        yield from in_parts([Block(text, is_preformatted=True)] if text.strip() else [], whole, tuple)
        return
    found = (read_export(records, source) for read_export in JSON_EXPORTS.installed())
    exported = next((documents for documents in found if documents is not None), None)
    if exported is not None:
        yield from exported
    elif _are_documents(records):
        yield from record_parts(text, source)
    else:
        whole = Document(source, path.stem, (), {"format": "json", "records": len(records)}, key=source, notes=notes)
        yield from in_parts(_blocks(records), whole, tuple)


def _records(value: object) -> list[JsonRecord]:
    """Return the records of a list, or of an object that is no more than a wrapping around one; else none."""
    if isinstance(value, dict):
        inner = [each for each in value.values() if isinstance(each, list | dict)]
        value = inner[0] if len(inner) == 1 else None
    return value if isinstance(value, list) and value and all(isinstance(each, dict) for each in value) else []


def _are_documents(records: Sequence[JsonRecord]) -> bool:
    """Tell whether each record has a text; where some have one, a title stands for those that are missing."""
    texts = [each.get("text") for each in records]
    return any(isinstance(text, str) for text in texts) and all(
        isinstance(text, str) or (text is None and isinstance(each.get("title"), str))
        for text, each in zip(texts, records, strict=True)
    )


def _blocks(records: Sequence[JsonRecord]) -> Iterator[Block]:
    columns = list(dict.fromkeys(key for record in records for key in record))
    if len(columns) <= _MOST_COLUMNS and not any(isinstance(each, list | dict) for r in records for each in r.values()):
        rows = ([_text_of(record.get(column)) for column in columns] for record in records)
        yield from map(Block, table_texts(row for part in ([columns], rows) for row in part))
        return
    for record in records:
        if text := "\n".join(_lines(record, "")):
            yield Block(text)


def _lines(value: object, name: str, depth: int = 0) -> Iterator[str]:
    if isinstance(value, dict) and depth < _DEEPEST:
        for key, each in value.items():
            yield from _lines(each, f"{name}.{key}" if name else str(key), depth + 1)
    elif isinstance(value, list) and any(isinstance(each, list | dict) for each in value) and depth < _DEEPEST:
        for at, each in enumerate(value, 1):
            yield from _lines(each, f"{name}.{at}", depth + 1)
    elif said := _text_of(value):
        yield f"{name}: {said}"


def _text_of(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, list | dict):
        plain = isinstance(value, list) and not any(isinstance(each, list | dict) for each in value)
        return ", ".join(map(_text_of, value)) if plain else json.dumps(value, ensure_ascii=False)
    return squeeze(value) if isinstance(value, str) else json.dumps(value)
