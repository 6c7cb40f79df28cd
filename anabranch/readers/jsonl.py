"""Read JSON lines: one document a line, streamed, so that the file may be larger than memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from anabranch.errors import ReadingError
from anabranch.readers.document import PLAIN, Block, Document, Failure, ReadOptions, access_tags
from anabranch.readers.plain_text import paragraphs
from anabranch.readers.size_limit import limited
from anabranch.text.normalization import clean, squeeze

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]

_LONGEST_LINE = 32 << 20
_SKIPPED = 1 << 20  # bytes at a time, of a line that is too long to hold
# What `corpus export` begins with: as JSON lines, its documents would be taken in again under other names.
_EXPORTED = b'{"kind": "corpus", "format": "anabranch",'
_OWN = frozenset({"id", "_id", "title", "text", "access"})


@limited(most_bytes=None)
def read_jsonl(path: Path, source: str, _: ReadOptions = PLAIN) -> Iterator[Document | Failure]:
    """Yield one document per line, and a `Failure` for each line that is none or too long; blank lines are skipped.

    Keys: `id` (or BEIR's `_id`; the line number when absent), `title`, `text`, `access` (a list of tags); every other
    key is metadata. Where there is no text, as in many collections of abstracts, the title is what the document says.
    A line whose `access` is anything but a list of strings fails, because reading it as public could show it to
    everybody. An id that came before is not noticed here, where all of them would have to be remembered.
    """
    found: Document | Failure | None = None
    with path.open("rb") as file:
        for number, line in enumerate(_lines(file), start=1):
            if line is not None and not line.strip():
                continue
            if number == 1 and line is not None and line.startswith(_EXPORTED):
                msg = f"{source!r} is an exported corpus; `anabranch corpus import` takes it in."
                raise ReadingError(msg, reason="unsupported")
            found = _too_long(source, number) if line is None else _read(line, source, number)
            yield found
    if found is None:
        raise ReadingError(f"{source!r} holds no document.", reason="empty")


def _lines(file: BinaryIO) -> Iterator[bytes | None]:
    """Yield each line, None for one that is too long; never more of the file than one such line is in memory."""
    while line := file.readline(_LONGEST_LINE):
        if len(line) < _LONGEST_LINE or line.endswith(b"\n"):
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = file.readline(_SKIPPED)
        yield None


def _too_long(source: str, number: int) -> Failure:
    return Failure(f"{source}:{number}", "too_large", f"the line is longer than {_LONGEST_LINE >> 20} MB; split it")


def _read(line: bytes, source: str, number: int) -> Document | Failure:
    where = f"{source}:{number}"
    try:
        # A byte order mark may stand at the beginning of a file; anywhere else it is a character.
        return document_of(line.decode("utf-8-sig" if number == 1 else "utf-8"), source, number)
    except UnicodeDecodeError:
        return Failure(where, "encoding", "the line is not UTF-8")
    except (ValueError, RecursionError) as error:
        return Failure(where, "broken", squeeze(str(error)))


def record_parts(text: str, source: str) -> Iterator[Document | Failure]:
    """Yield the documents of a JSON list whose records are as those lines are, under the same rules."""
    try:
        # Read again, by the stricter rules: of two `access` lists nobody can say which was meant.
        found = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_refuse_repeated_keys)
    except ValueError as error:
        raise ReadingError(f"{source!r} is not valid: {error}.", reason="broken") from error
    inner = found if isinstance(found, list) else next(each for each in found.values() if isinstance(each, list))
    for number, record in enumerate(inner, start=1):
        try:
            yield _document_of_record(_clean_record(record), source, number)
        except ValueError as error:
            yield Failure(f"{source}:{number}", "broken", squeeze(str(error)))


def document_of(line: str, source: str, number: int) -> Document:
    """Return the document of a line; see `read_jsonl`.

    Raises:
        ValueError: It is none.
    """
    return _document_of_record(
        _clean_record(json.loads(line, parse_constant=_refuse_constant, object_pairs_hook=_refuse_repeated_keys)),
        source,
        number,
    )


def _document_of_record(record: Json, source: str, number: int) -> Document:
    if not isinstance(record, dict):
        raise ValueError(f"expected an object with a text, not {type(record).__name__}")  # noqa: TRY004
    key = _key(record, number)
    title = squeeze(_string(record, "title"))
    parts = paragraphs(_string(record, "text")) or paragraphs(title)
    if not parts:
        raise ValueError("the text is empty, and so is the title")
    return Document(
        source=f"{source}#{key}",
        title=title or key,
        blocks=tuple(Block(part) for part in parts),
        metadata={name: value for name, value in record.items() if name not in _OWN},
        access=access_tags(record.get("access", [])),
        key=key,
    )


def _refuse_constant(constant: str) -> float:
    raise ValueError(f"{constant} is not JSON")


def _refuse_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Clean the names of keys and refuse one given twice: of two `access` lists, nobody can say which was meant."""
    # Cleaned first: two names that differ in an invisible character are one to whoever reads them.
    named = {clean(name): value for name, value in pairs}
    if len(named) < len(pairs):
        raise ValueError("a key stands twice in the same object")
    return named


def _key(record: dict[str, Any], number: int) -> str:
    key = record.get("id", record.get("_id", number))
    if isinstance(key, bool) or not isinstance(key, str | int) or not str(key).strip():
        raise ValueError(f"the id has to be a string or a whole number, not {key!r}")
    return str(key).strip()


def _string(record: dict[str, Any], name: str) -> str:
    value = record.get(name)
    if value is None:
        value = ""
    if not isinstance(value, str):
        raise ValueError(f"{name!r} has to be a string, not {type(value).__name__}")  # noqa: TRY004
    return value


def _clean_record(value: Json) -> Json:
    """Return a JSON value with every string in it cleaned; `_refuse_repeated_keys` has cleaned the names of keys."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_clean_record(item) for item in value]
    if isinstance(value, dict):
        return {name: _clean_record(item) for name, item in value.items()}
    return value
