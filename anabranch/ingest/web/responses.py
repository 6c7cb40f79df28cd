"""What a response says, its body within bounds, and what went wrong in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import httpcore
import httpx

from anabranch.errors import ReadingError
from anabranch.ingest.web.content_encoding import decoded
from anabranch.ingest.web.transport import Deadline

_REDIRECTS = frozenset({301, 302, 303, 307, 308})


def header(response: httpcore.Response, name: bytes) -> str:
    """Return a header by its name in lower case, empty where it is missing."""
    return next((value.decode("latin-1") for key, value in response.headers if key.lower() == name), "")


def location(response: httpcore.Response) -> str | None:
    """Return where a response leads on to; None for one that holds a page.

    Raises:
        ReadingError: `unreachable` for an error of the server.
    """
    target = header(response, b"location")
    if response.status in _REDIRECTS and target:
        return target
    if response.status != 200:
        raise ReadingError(f"The server answered {response.status}.", reason="unreachable")
    return None


def body(response: httpcore.Response, url: str, most: int) -> Iterator[bytes]:
    """Yield the bytes of the page, unpacked; at most `most` of them, and of what was sent, too.

    Raises:
        ReadingError: `too_large`, as soon as that is known; `broken` or `unsupported` (see `decoded`).
    """
    said = header(response, b"content-length")
    if said.isdecimal() and said.isascii() and int(said) > most:
        raise _too_large(url, most)
    sent = _counted(response.iter_stream(), url, most)
    yield from _counted(decoded(sent, header(response, b"content-encoding")), url, most)


def _counted(pieces: Iterable[bytes], url: str, most: int) -> Iterator[bytes]:
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > most:
            raise _too_large(url, most)
        yield piece


def _too_large(url: str, most: int) -> ReadingError:
    return ReadingError(f"{url!r} is larger than {most} bytes.", reason="too_large")


class explained:  # noqa: N801  # reads as a statement
    """Turns what httpcore raises into an error that says what happened."""

    def __init__(self, url: httpx.URL, deadline: Deadline, idle: float) -> None:
        """Take what the message needs."""
        self._url = str(url)
        self._deadline = deadline
        self._idle = idle

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, httpcore.TimeoutException):
            late, silent = f"took longer than {self._deadline.seconds:g} s", f"was silent for {self._idle:g} s"
            why = late if self._deadline.is_over else silent
            raise ReadingError(f"{self._url!r} {why}.", reason="unreachable") from error
        if isinstance(error, httpcore.RemoteProtocolError):
            raise ReadingError(f"{self._url!r} breaks off, or is no HTTP: {error}.", reason="broken") from error
        if isinstance(error, httpcore.NetworkError | httpcore.ProtocolError):
            raise ReadingError(f"{self._url!r} cannot be reached: {error}.", reason="unreachable") from error
