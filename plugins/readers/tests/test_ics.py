from __future__ import annotations

from pathlib import Path

from plugins.readers.tests.format_samples import EVENT
from tests.readers.read_bytes import documents, reason


def test_an_event_is_a_document(tmp_path: Path) -> None:
    (document,) = documents(tmp_path, "cal.ics", EVENT)
    assert (document.source, document.title) == ("cal.ics#1@x", "some words")
    assert [block.text for block in document.blocks] == [
        "some words\nStart: 2024-03-01 10:00+00:00\nLocation: Room 1, Halden\nOrganizer: Ada\nAttendees: eve@y.org",
        "We talk\nof it.",
    ]
    assert document.metadata == {"format": "ics", "date": "2024-03-01 10:00+00:00", "location": "Room 1, Halden"}


def test_two_events_of_one_name_are_two_documents(tmp_path: Path) -> None:
    start, end = EVENT.split(b"BEGIN:VEVENT"), b"END:VEVENT\r\n"
    event = b"BEGIN:VEVENT" + start[1].split(end)[0] + end
    found = documents(tmp_path, "cal.ics", start[0] + event + event + b"END:VCALENDAR\r\n")
    assert [each.source for each in found] == ["cal.ics#1@x", "cal.ics#1@x.2"]


def test_damage_and_emptiness(tmp_path: Path) -> None:
    assert reason(tmp_path, "a.ics", "prose") == "broken"
    assert reason(tmp_path, "a.ics", "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nEND:VCALENDAR\r\n") == "empty"
