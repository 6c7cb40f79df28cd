"""Read an e-mail message: who wrote to whom, when and about what, then the body, then messages attached to it."""

from __future__ import annotations

import codecs
import email
import email.policy
import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.utils import getaddresses, parsedate_to_datetime
from pathlib import Path
from typing import Any, TypeAlias

from anabranch.errors import ReadingError
from anabranch.readers.document import PLAIN, Block, Document, HeadingPath, ReadOptions, titles, with_heading
from anabranch.readers.document_parts import one_document
from anabranch.readers.encoding import decode
from anabranch.readers.html import page_blocks, parse_html
from anabranch.readers.plain_text import paragraphs
from anabranch.readers.visible_nodes import Visible
from anabranch.text.normalization import clean, squeeze
from anabranch_readers.mail_lines import part_lines

_SHOWN = ("From", "To", "Cc", "Date", "Subject")
_SIGNS = (*_SHOWN, "Message-ID", "Received", "Return-Path", "Delivered-To")
_SIGNATURES = frozenset({"application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature"})
_QUOTED = "Quoted text"
_ENCRYPTED = frozenset({"application/pkcs7-mime", "application/x-pkcs7-mime", "multipart/encrypted"})
_LEAST_SHARE = 0.25  # a plainer form with less than this of the fullest says "your program shows no HTML"
_MESSAGE_ID = re.compile(r"<([^<>\s@]+@[^<>\s]+)>")  # not `<yes>`, which git has put into many
_MOST_NAMED = 10
_LONGEST_NAME = 80

MimePart: TypeAlias = "Message[Any, Any]"


def read_eml(path: Path, source: str, _: ReadOptions = PLAIN) -> Iterator[Document]:
    """Yield the one document of a message; of a body in two forms the plain one, unless it is only a stand-in.

    Attached files are named and not read, attached messages are read.

    Raises:
        ReadingError: `broken` when it is no message, `encrypted`, `empty`.
    """
    # The newer policies raise on the malformed headers that real mail is full of; this one gives them as they are.
    data = path.read_bytes()
    message = email.message_from_bytes(data, policy=email.policy.compat32)
    if not any(message[name] for name in _SIGNS):  # a program may have saved it anew, in UTF-16 for one
        message = email.message_from_bytes(decode(data, source)[0].encode(), policy=email.policy.compat32)
    if not any(message[name] for name in _SIGNS):
        raise ReadingError(f"{source!r} is no e-mail message.", reason="broken", hint="Check the file's extension.")
    yield mail_document(message, source, path, "eml")


def mail_document(message: MimePart, source: str, path: Path, kind: str) -> Document:
    """Return a message as a document, whichever kind of file it was in.

    Raises:
        ReadingError: `encrypted`, `empty`.
    """
    mail = _MailText(source)
    blocks = tuple(mail.blocks(message))
    if mail.is_encrypted and len(blocks) <= 1:
        raise ReadingError(f"{source!r} is encrypted.", reason="encrypted", hint="Save it decrypted.")
    title = squeeze(_header(message, "Subject")) or path.stem
    return one_document(source, path, blocks, {**_metadata(message, mail), "format": kind}, title, mail.notes())


class _MailText:
    """One message with those attached to it; counts what is left out."""

    def __init__(self, source: str) -> None:
        self.attached: list[str] = []
        self.is_encrypted = False
        self._source = source
        self._left_out = 0
        self._visible = Visible()
        self._decoding: dict[str, None] = {}

    def blocks(self, message: MimePart, path: HeadingPath = ()) -> Iterator[Block]:
        """Yield the headers that matter as one block, then the text, and last what it quotes at length."""
        said = [(name, squeeze(_header(message, name))) for name in _SHOWN]
        text = "\n".join(f"{name}: {value}" for name, value in said if value)
        if text:
            yield Block(text, None, titles(path))
        below = titles(_quoted_path(path))
        quoted = []
        for block in self._body(message, path):
            if block.heading == below:
                quoted.append(block)
            else:
                yield block
        if quoted:
            yield Block(_QUOTED, None, below, is_heading=True)
            yield from quoted

    def notes(self) -> Iterator[str]:
        if self.attached:
            named = ", ".join(self.attached[:_MOST_NAMED]) + (", ..." if len(self.attached) > _MOST_NAMED else "")
            yield f"attached files were not read ({len(self.attached)}: {named})"
        if self._left_out:
            yield f"signatures were left out ({self._left_out} lines)"
        if self.is_encrypted:
            yield "an encrypted part was not read"
        yield from self._visible.notes()
        yield from self._decoding

    def _body(self, part: MimePart, path: HeadingPath) -> Iterator[Block]:
        kind = part.get_content_type()
        self.is_encrypted = self.is_encrypted or kind in _ENCRYPTED
        # A part that calls itself multipart and is none has text where the parts should be.
        inner = [each for each in _payload(part) if isinstance(each, Message)]
        if kind == "message/rfc822":
            yield from self._attached_message(inner, path)
        elif kind == "multipart/alternative":
            yield from self._alternatives(inner, path)
        elif inner:
            for each in inner:
                yield from self._body(each, path)
        elif kind in {"text/plain", "text/html"} and part.get_content_disposition() != "attachment":
            yield from self._text(part, path)
        elif part.get_content_maintype() != "multipart" and kind not in _SIGNATURES:
            self._name(part)

    def _alternatives(self, parts: list[MimePart], path: HeadingPath) -> Iterator[Block]:
        """Yield the first form, which is the plainest, or the last one where that says much more."""
        forms = [list(self._body(part, path)) for part in parts]
        lengths = [sum(len(block.text) for block in form) for form in forms]
        chosen = next((at for at, length in enumerate(lengths) if length), None)
        if chosen is None:
            return
        fullest = max(range(len(forms)), key=lengths.__getitem__)
        yield from forms[fullest if lengths[chosen] < _LEAST_SHARE * lengths[fullest] else chosen]

    def _attached_message(self, messages: list[MimePart], path: HeadingPath) -> Iterator[Block]:
        for message in messages:
            title = f"Attached message: {squeeze(_header(message, 'Subject')) or 'without a subject'}"
            below = with_heading(path, len(path) + 1, title)
            yield Block(title, None, titles(below), is_heading=True)
            yield from self.blocks(message, below)

    def _text(self, part: MimePart, path: HeadingPath) -> Iterator[Block]:
        text = self._decoded(part)
        if part.get_content_type() == "text/html":
            blocks, _ = page_blocks(parse_html(text, self._source), self._visible, path)
            yield from blocks
        else:
            found = part_lines(clean(text))
            self._left_out += found.left_out
            self.is_encrypted = self.is_encrypted or found.is_encrypted
            yield from (Block(each, None, titles(path)) for each in paragraphs(found.own))
            for quotation in found.quoted:
                yield from (Block(each, None, titles(_quoted_path(path))) for each in paragraphs(quotation))

    def _decoded(self, part: MimePart) -> str:
        """Return the text of a part: in the encoding that it names if that fits, else in the one that does."""
        # Quoted-printable and base64 are undone here; the encoding of the letters is another matter.
        data = part.get_payload(decode=True)
        if not isinstance(data, bytes) or not data.strip():
            return ""
        named = part.get_content_charset() or "utf-8"
        try:
            return data.decode(codecs.lookup(named).name)
        except (LookupError, ValueError):
            text, notes = self._recognised(data)
            self._decoding |= dict.fromkeys(notes)
            return text

    def _recognised(self, data: bytes) -> tuple[str, tuple[str, ...]]:
        try:
            return decode(data, self._source)
        except ReadingError:
            return "", ("a part that says it is text is none, and was not read",)

    def _name(self, part: MimePart) -> None:
        name = squeeze(_readable(part.get_filename() or ""))[:_LONGEST_NAME]
        self.attached.append(name or part.get_content_type())


def _quoted_path(path: HeadingPath) -> HeadingPath:
    return with_heading(path, len(path) + 1, _QUOTED)


def _payload(part: MimePart) -> list[Any]:
    payload = part.get_payload()
    return payload if isinstance(payload, list) else []


def _header(message: MimePart, name: str) -> str:
    return _readable(next((str(value) for each, value in message.raw_items() if each.lower() == name.lower()), ""))


def _readable(text: str) -> str:
    """Return a header with its encoded words decoded, and with raw bytes of another encoding made readable."""
    data = text.encode("utf-8", "surrogateescape")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("cp1252", errors="replace")
    with suppress(
        ValueError, LookupError, HeaderParseError
    ):  # an encoding that nobody knows, damaged base64: then as it stands
        words = decode_header(text) if "=?" in text else [(text, None)]
        text = "".join(_word(word, charset) for word, charset in words)
    return clean(text)


def _word(word: bytes | str, charset: str | None) -> str:
    # The module escapes what is outside an encoded word in this way, because it returns bytes beside encoded ones.
    return word if isinstance(word, str) else word.decode(charset or "raw-unicode-escape", errors="replace")


def _metadata(message: MimePart, mail: _MailText) -> dict[str, Any]:
    people = {name: _addresses(message, name) for name in ("from", "to", "cc")}
    return {**people, "date": _date(message), "thread": _thread(message), "attachments": mail.attached}


def _thread(message: MimePart) -> str:
    """Return the Message-ID of the mail that began the conversation, as far as this one says."""
    for name in ("References", "In-Reply-To", "Message-ID"):
        if found := _MESSAGE_ID.search(_header(message, name)):
            return found[1]
    return ""


def _addresses(message: MimePart, name: str) -> list[str]:
    pairs = getaddresses([str(value) for each, value in message.raw_items() if each.lower() == name])
    return [squeeze(address) for _, address in pairs if "@" in address]


def _date(message: MimePart) -> str:
    """Return when the message was written, in UTC, so that filters can compare; nothing when it does not say."""
    try:
        written = parsedate_to_datetime(str(message.get("Date", "")))
        return (written if written.tzinfo else written.replace(tzinfo=UTC)).astimezone(UTC).isoformat()
    except (ValueError, TypeError, IndexError, OverflowError):  # what the module raises on damaged dates
        return ""
