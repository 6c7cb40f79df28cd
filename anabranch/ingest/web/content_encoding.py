"""Undo the compression of a response, a bounded piece at a time."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

from anabranch.errors import ReadingError

_PIECE = 1 << 16
_GZIP, _ZLIB, _RAW = 31, 15, -15
"""`wbits` of zlib."""


def decoded(pieces: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """Yield the bytes behind a Content-Encoding, never more than 64 KiB at once, however well they were packed.

    Raises:
        ReadingError: `unsupported` for an encoding that was not asked for, `broken` for damaged or truncated data.
    """
    name = encoding.strip().lower()
    if name in ("", "identity"):
        yield from pieces
    elif name in ("gzip", "x-gzip"):
        yield from _inflated(pieces, _GZIP)
    elif name == "deflate":
        yield from _inflated(pieces, None)
    else:
        msg = f"The server packed the page as {encoding[:50]!r}, which was not asked for."
        raise ReadingError(msg, reason="unsupported")


def _inflated(pieces: Iterable[bytes], wbits: int | None) -> Iterator[bytes]:
    stream = zlib.decompressobj(wbits) if wbits is not None else None
    try:
        for piece in pieces:
            data = piece
            while data:
                if stream is None:  # some servers mean the bare stream by `deflate`, some the one with a header
                    stream = zlib.decompressobj(_ZLIB if data[0] & 0x0F == 8 else _RAW)
                if stream.eof:  # gzip files may be one after the other
                    stream = zlib.decompressobj(wbits or _ZLIB)
                yield stream.decompress(data, _PIECE)
                data = stream.unconsumed_tail or stream.unused_data
        if stream is not None:
            yield stream.flush()
    except zlib.error as error:
        raise ReadingError(f"The page is not packed as its server says: {error}.", reason="broken") from error
    if stream is not None and not stream.eof:
        raise ReadingError("The page breaks off before its end.", reason="broken")
