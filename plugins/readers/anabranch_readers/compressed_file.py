"""Read one file that is compressed with gzip, such as `rsync.1.gz`: as the file that it holds is read."""

from __future__ import annotations

import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from anabranch.errors import ReadingError
from anabranch.ingestion.archives import is_archive
from anabranch.ingestion.archives.decompression import open_unpacked
from anabranch.ingestion.archives.unpack_limits import MOST_OF_ONE, Allowance, TooMuchError
from anabranch.readers import READERS, extension_of, read
from anabranch.readers.document import PLAIN, Document, Failure, ReadOptions
from anabranch.readers.size_limit import limit_of

_PIECE = 1 << 20


def read_gzip(path: Path, source: str, options: ReadOptions = PLAIN) -> Iterator[Document | Failure]:
    """Yield what the reader of the file inside yields.

    Raises:
        ReadingError: `unsupported` when no reader takes that file, `too_large` when it unpacks to more than an archive
            may, `broken`; or what its reader raises.
    """
    inner = path.with_suffix("")
    extension = extension_of(inner)
    if extension == ".gz" or extension not in READERS or is_archive(inner.name):
        raise ReadingError(f"{source!r} holds a file of a kind that cannot be read.", reason="unsupported")
    with tempfile.TemporaryDirectory(prefix="anabranch-") as folder:
        copy = Path(folder, inner.name)
        try:
            _unpack(path, copy, limit_of(READERS.get(extension)).most_bytes or MOST_OF_ONE)
        except TooMuchError as error:
            raise ReadingError(f"{source!r} was not read: {error}.", reason="too_large") from error
        except (EOFError, OSError, zlib.error) as error:
            if isinstance(error, OSError) and error.errno is not None:  # from the system, not of the file
                raise
            raise ReadingError(f"{source!r} is damaged, or is not compressed with gzip.", reason="broken") from error
        yield from read(copy, source, options)


def _unpack(path: Path, copy: Path, most: int) -> None:
    allowance = Allowance(path.stat().st_size)
    size = 0
    with open_unpacked(path, "gz", allowance.check) as packed, copy.open("xb") as file:
        while piece := packed.read(_PIECE):
            allowance.spend(len(piece))
            size += len(piece)
            if size > most:
                raise TooMuchError(f"it unpacks to more than {most} bytes")
            file.write(piece)
