"""Read files without an extension (README, Makefile, a message in a Maildir) as what their content says they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from anabranch.errors import ReadingError
from anabranch.readers import READERS
from anabranch.readers.document import PLAIN, Document, Failure, ReadOptions
from anabranch.readers.encoding import codec_of
from anabranch.readers.plain_text import read_text
from anabranch.readers.size_limit import limited

_SAMPLE = 1 << 16

# The first line of a mailbox (RFC 4155) ends with a time of day and a year; header fields are those of RFC 5322.
_MAILBOX_LINE = re.compile(rb"From \S[^\r\n]{0,400}\d\d:\d\d[^\r\n]{0,40} \d{4}\b[^\r\n]{0,40}\r?\n")
_FIELD = re.compile(rb"([!-9;-~]+):[^\r\n]*(?:\r?\n[ \t][^\r\n]*)*\r?\n")
# Other texts may begin with "From:" and "Date:", and fields that the reader of messages would leave out.
_OF_MAIL = frozenset({b"message-id", b"mime-version", b"received", b"return-path"})

CODE_NAMES = frozenset({
    "brewfile", "containerfile", "dockerfile", "gemfile", "gnumakefile", "jenkinsfile", "justfile", "makefile",
    "procfile", "rakefile", "vagrantfile",
})  # fmt: skip
"""Files that are code without an extension, lower case."""


@limited(1 << 25)
def read_extensionless(path: Path, source: str, options: ReadOptions = PLAIN) -> Iterator[Document | Failure]:
    """Yield the documents of mail or the one of a text; code is told by its name, or by its first line (`#!`).

    Raises:
        ReadingError: `unsupported` for binary data: programs have no extension either, and are no failure.
    """
    with path.open("rb") as file:
        head = file.read(_SAMPLE)
    kind = mail_extension(head)
    if kind and kind in READERS:
        yield from READERS.get(kind)(path, source, options)
        return
    try:
        codec_of(head, source)
    except ReadingError as error:
        msg = f"{source!r} has no extension and holds no text."
        raise ReadingError(msg, reason="unsupported", hint="Give it the extension of its kind.") from error
    is_code = path.name.lower() in CODE_NAMES or head.startswith(b"#!")
    yield from (READERS.get(".sh") if is_code else read_text)(path, source, options)


def mail_extension(data: bytes) -> str:
    """Return `.mbox` or `.eml` for a mailbox or a message, told by its first 64 KiB, else nothing."""
    head = data[:_SAMPLE]
    line = _MAILBOX_LINE.match(head)
    at = line.end() if line else 0
    names = set()
    while field := _FIELD.match(head, at):
        names.add(field[1].lower())
        at = field.end()
    # A blank line ends the fields, unless the sample ends among them.
    is_whole = head[at : at + 2].startswith((b"\n", b"\r\n")) or len(head) == _SAMPLE or at == len(head)
    if not is_whole or b"from" not in names or names.isdisjoint(_OF_MAIL | {b"date"} if line else _OF_MAIL):
        return ""
    return ".mbox" if line else ".eml"
