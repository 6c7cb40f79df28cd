"""Read files without an extension (README, LICENSE, Makefile): text, code, or nothing that is told by its name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from anabranch.errors import ReadingError
from anabranch.readers import READERS
from anabranch.readers.document import PLAIN, Document, Failure, ReadOptions
from anabranch.readers.encoding import codec_of
from anabranch.readers.plain_text import read_text
from anabranch.readers.size_limit import limited

_SAMPLE = 1 << 16
CODE_NAMES = frozenset({
    "brewfile", "containerfile", "dockerfile", "gemfile", "gnumakefile", "jenkinsfile", "justfile", "makefile",
    "procfile", "rakefile", "vagrantfile",
})  # fmt: skip
"""Files that are code without an extension, lower case."""


@limited(1 << 25)
def read_extensionless(path: Path, source: str, options: ReadOptions = PLAIN) -> Iterator[Document | Failure]:
    """Yield the document of a text; code is told by its name, or by its first line (`#!`).

    Raises:
        ReadingError: `unsupported` for binary data: programs have no extension either, and are no failure.
    """
    with path.open("rb") as file:
        head = file.read(_SAMPLE)
    try:
        codec_of(head, source)
    except ReadingError as error:
        msg = f"{source!r} has no extension and holds no text."
        raise ReadingError(msg, reason="unsupported", hint="Give it the extension of its kind.") from error
    is_code = path.name.lower() in CODE_NAMES or head.startswith(b"#!")
    yield from (READERS.get(".sh") if is_code else read_text)(path, source, options)
