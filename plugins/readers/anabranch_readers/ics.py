"""Read calendars (.ics, RFC 5545): each event, task or journal entry is a document."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from icalendar import Calendar

from anabranch.errors import ReadingError
from anabranch.readers.document import PLAIN, Block, Document, ReadOptions
from anabranch.readers.encoding import clean_text, decode
from anabranch.readers.heartbeat import beat
from anabranch.readers.plain_text import paragraphs
from anabranch.readers.size_limit import MOST_PARSED_BYTES, limited
from anabranch.text.normalization import clean, squeeze

_ENTRIES = ("VEVENT", "VTODO", "VJOURNAL")
_MOMENTS = {"Start": "DTSTART", "End": "DTEND", "Due": "DUE"}
_SHOWN = {"Location": "LOCATION", "Organizer": "ORGANIZER", "Attendees": "ATTENDEE", "Status": "STATUS"}


@limited(MOST_PARSED_BYTES)
def read_ics(path: Path, source: str, _: ReadOptions = PLAIN) -> Iterator[Document]:
    """Yield a document for each entry, called by its UID, and by its date where it is one of a series.

    Raises:
        ReadingError: `broken` when it is no calendar, `empty`, `encoding`.
    """
    text, notes = clean_text(*decode(path.read_bytes(), source))
    if "BEGIN:VCALENDAR" not in text.upper():
        raise ReadingError(f"{source!r} is no calendar.", reason="broken", hint="Check the file's extension.")
    seen: set[str] = set()
    for number, entry in enumerate(_entries(text), start=1):
        key = " ".join(filter(None, (str(entry.get("UID", "")), _moment(entry, "RECURRENCE-ID")))) or str(number)
        key = key if key not in seen else f"{key}.{number}"
        seen.add(key)
        yield _document(entry, f"{source}#{squeeze(key)}", notes)
        beat()
    if not seen:
        raise ReadingError(f"{source!r} holds no entry.", reason="empty")


def _entries(text: str) -> Iterator[Any]:
    for calendar in Calendar.from_ical(text, multiple=True):
        yield from (entry for entry in calendar.walk() if entry.name in _ENTRIES)


def _document(entry: Any, source: str, notes: tuple[str, ...]) -> Document:  # noqa: ANN401  # an icalendar component
    title = squeeze(clean(str(entry.get("SUMMARY", "")))) or source.rpartition("#")[2]
    moments = {label: _moment(entry, name) for label, name in _MOMENTS.items()}
    said = moments | {label: _people(entry, name) for label, name in _SHOWN.items()}
    lines = [title, *(f"{label}: {value}" for label, value in said.items() if value)]
    description = paragraphs(clean(str(entry.get("DESCRIPTION", ""))))
    facts = {"format": "ics", "date": moments["Start"] or moments["Due"], "location": said["Location"]}
    metadata = {name: value for name, value in facts.items() if value}
    blocks = (Block("\n".join(lines)), *map(Block, description))
    return Document(source, title, blocks, metadata, key=source, notes=notes)


def _moment(entry: Any, name: str) -> str:  # noqa: ANN401  # likewise
    """Return a date, or a time with what it is from UTC."""
    value = getattr(entry.get(name), "dt", None)
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ", "minutes")
    return value.isoformat() if isinstance(value, datetime.date) else ""


def _people(entry: Any, name: str) -> str:  # noqa: ANN401  # likewise
    given = entry.get(name, [])
    found = given if isinstance(given, list) else [given]
    names = (each.params.get("CN") or str(each).removeprefix("mailto:").removeprefix("MAILTO:") for each in found)
    return squeeze(clean(", ".join(map(str, names))))
