"""Read a message that Outlook has saved (.msg): python-oxmsg takes it apart, the rest is as of any e-mail."""

from __future__ import annotations

from collections.abc import Iterator
from email.message import Message
from email.utils import format_datetime
from pathlib import Path

import oxmsg

from anabranch.errors import ReadingError
from anabranch.readers.document import PLAIN, Document, ReadOptions
from anabranch.readers.office_password import is_compound
from anabranch.readers.size_limit import limited
from anabranch_readers.eml import MimePart, mail_document


@limited(1 << 28)
def read_msg(path: Path, source: str, _: ReadOptions = PLAIN) -> Iterator[Document]:
    """Yield the one document of a message; see `read_eml`.

    Raises:
        ReadingError: `broken`, `empty`.
    """
    if not is_compound(path):
        msg = f"{source!r} is no message of Outlook."
        raise ReadingError(msg, reason="broken", hint="Check the file's extension.")
    try:
        message = _mime_message(oxmsg.Message.load(str(path)))
    except KeyError as error:
        raise ReadingError(f"{source!r} is damaged.", reason="broken", hint="Save it anew in Outlook.") from error
    if not message.keys():
        raise ReadingError(f"{source!r} holds no message.", reason="broken", hint="Check the file's extension.")
    yield mail_document(message, source, path, "msg")


def _mime_message(found: oxmsg.Message) -> MimePart:
    """Return the message as one that was sent; what it does not say is left out."""
    made: MimePart = Message()
    known = {name.lower(): value for name, value in (found.message_headers or {}).items()}
    names = ", ".join(f"{each.name} <{each.email_address}>" for each in found.recipients)
    sent = format_datetime(found.sent_date) if found.sent_date else ""
    said = {"From": found.sender, "To": known.get("to") or names, "Cc": known.get("cc"), "Date": sent}
    for name, value in (said | {"Subject": found.subject}).items():
        if value:
            made[name] = " ".join(str(value).split())
    if len(made):
        made["Content-Type"] = "multipart/mixed"
        made.set_payload(list(_parts(found)))
    return made


def _parts(found: oxmsg.Message) -> Iterator[MimePart]:
    forms = [(text, kind) for text, kind in ((found.body, "plain"), (found.html_body, "html")) if text]
    alternatives: MimePart = Message()
    alternatives["Content-Type"] = "multipart/alternative"
    alternatives.set_payload([_part(text, kind) for text, kind in forms])
    yield alternatives
    for attachment in found.attachments:
        part: MimePart = Message()
        part["Content-Type"] = "application/octet-stream"
        part.add_header("Content-Disposition", "attachment", filename=attachment.file_name or "")
        yield part


def _part(text: str, kind: str) -> MimePart:
    made: MimePart = Message()
    made["Content-Type"] = f"text/{kind}"
    made.set_payload(text, "utf-8")
    return made
