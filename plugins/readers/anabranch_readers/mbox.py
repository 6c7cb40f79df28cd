"""Read a mailbox (mbox, RFC 4155): one document a message, streamed, so that it may be larger than memory.

Not the standard library's `mailbox`, which opens the file for writing and goes through all of it before the first
message.
"""

from __future__ import annotations

import email
import email.policy
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from anabranch.errors import ReadingError
from anabranch.readers.document import PLAIN, Document, Failure, ReadOptions
from anabranch.readers.heartbeat import beat
from anabranch.readers.size_limit import limited
from anabranch.text.normalization import squeeze
from anabranch_readers.eml import mail_document

_BEGINNING = b"From "
_QUOTED = re.compile(rb"^>(>*From )", re.MULTILINE)
_LONGEST = 64 << 20  # bytes of one message; more is an attachment, which is not read


@limited(most_bytes=None)
def read_mbox(path: Path, source: str, _: ReadOptions = PLAIN) -> Iterator[Document | Failure]:
    """Yield a document for each message, called by its Message-ID, else by its number; see `read_eml`.

    Raises:
        ReadingError: `broken` when it does not begin as a mailbox does.
    """
    seen: set[str] = set()
    with path.open("rb") as file:
        for number, data in enumerate(_messages(file, source), start=1):
            if len(data) > _LONGEST:
                yield Failure(f"{source}:{number}", "too_large", f"the message is longer than {_LONGEST >> 20} MB")
                continue
            message = email.message_from_bytes(_QUOTED.sub(rb"\1", data), policy=email.policy.compat32)
            name = squeeze(str(message.get("Message-ID", ""))).strip("<>")
            # A reply that was filed twice has the same one.
            key = name if name and name not in seen else str(number)
            seen.add(key)
            try:
                yield mail_document(message, f"{source}#{key}", path, "mbox")
            except ReadingError as error:
                yield Failure(f"{source}#{key}", error.reason, error.message)
            beat()


def _messages(file: BinaryIO, source: str) -> Iterator[bytes]:
    """Yield the bytes of each message; of one that is too long the beginning."""
    held: list[bytes] = []
    size, is_new, has_begun = 0, True, False
    for line in iter(lambda: file.readline(_LONGEST), b""):
        if is_new and line.startswith(_BEGINNING):
            if has_begun:
                yield b"".join(held)
            held, size, has_begun = [], 0, True
        elif not has_begun and line.strip():
            msg = f"{source!r} does not begin with a message of a mailbox."
            raise ReadingError(msg, reason="broken", hint="Check the file's extension.")
        elif size <= _LONGEST:
            held.append(line)
            size += len(line)
        # Only after an empty line: a sentence may begin with this word.
        is_new = not line.strip()
    if has_begun:
        yield b"".join(held)
