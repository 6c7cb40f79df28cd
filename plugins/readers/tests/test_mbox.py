from __future__ import annotations

import mailbox
from email.message import EmailMessage
from pathlib import Path

from anabranch.readers import Failure, read
from anabranch_readers import mbox
from tests.readers.read_bytes import documents, reason


def written(path: Path, *bodies: str, number: str = "<{}@x>") -> bytes:
    """Return a mailbox that Python's own library writes."""
    box = mailbox.mbox(path)
    for at, body in enumerate(bodies, start=1):
        message = EmailMessage()
        message["From"], message["Subject"], message["Message-ID"] = "Ada <a@x.org>", f"No. {at}", number.format(at)
        message.set_content(body)
        box.add(message)
    box.close()
    return path.read_bytes()


def test_each_message_is_a_document(tmp_path: Path) -> None:
    found = documents(tmp_path, "in.mbox", written(tmp_path / "x", "first", "From the second\n\nFrom here on"))
    assert [each.source for each in found] == ["in.mbox#1@x", "in.mbox#2@x"]
    assert [each.title for each in found] == ["No. 1", "No. 2"]
    assert [block.text for block in found[1].blocks[1:]] == ["From the second", "From here on"]
    assert found[0].metadata == {"format": "mbox", "from": ["a@x.org"], "thread": "1@x"}


def test_a_message_that_was_filed_twice_has_its_number(tmp_path: Path) -> None:
    found = documents(tmp_path, "in.mbox", written(tmp_path / "x", "first", "again", number="<1@x>"))
    assert [each.source for each in found] == ["in.mbox#1@x", "in.mbox#2"]


def test_a_message_that_is_too_long_costs_itself(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(mbox, "_LONGEST", 1000)
    (tmp_path / "in.mbox").write_bytes(written(tmp_path / "x", "word " * 1000, "second"))
    first, second = read(tmp_path / "in.mbox", "in.mbox")
    assert isinstance(first, Failure)
    assert (first.source, first.reason) == ("in.mbox:1", "too_large")
    assert second.source == "in.mbox#2@x"


def test_a_mailbox_needs_no_extension(tmp_path: Path) -> None:
    data = written(tmp_path / "x", "first", "second")
    assert [each.source for each in documents(tmp_path, "Inbox", data)] == ["Inbox#1@x", "Inbox#2@x"]


def test_what_does_not_begin_so_is_broken(tmp_path: Path) -> None:
    assert reason(tmp_path, "in.mbox", "just prose\n") == "broken"
