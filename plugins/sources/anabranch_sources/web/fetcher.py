"""Bring one page of the web into a file: each redirect checked like the first address, everything bounded."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

import httpcore
import httpx

from anabranch.errors import ReadingError, UserError
from anabranch.ingestion.archives.decompression import unpacked
from anabranch.ingestion.safe_open import safe_stem
from anabranch_sources.web.content_type import extension_of, recoded
from anabranch_sources.web.ssrf_guard import Resolver, parsed, permitted, system_addresses
from anabranch_sources.web.transport import Deadline, Pinned, asked

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_PIECE = 1 << 16


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """What one page may cost.

    Attributes:
        size: Bytes, of what the server sends and of what that unpacks to.
        seconds: For everything, redirects and unpacking included; looking the name up is bounded by the system.
        idle: Seconds without a byte.
        redirects: How often the server may point elsewhere.
    """

    size: int = 100_000_000
    seconds: float = 120.0
    idle: float = 20.0
    redirects: int = 5


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """A page that was brought.

    Attributes:
        path: The file that it is in.
        address: Where it was found, after all redirects.
        is_public: Whether everybody can reach it, and not only one's own network.
        deadline: When all that the page costs has to be over.
    """

    path: Path
    address: str
    is_public: bool
    deadline: Deadline


class StatusError(ReadingError):
    """The server answered, and with no page."""

    def __init__(self, status: int) -> None:
        """Keep the status of HTTP."""
        super().__init__(f"The server answered {status}.", reason="unreachable")
        self.status = status


class ElsewhereError(ReadingError):
    """The page leads to where whoever asked for it does not want to go."""

    def __init__(self, address: str) -> None:
        """Name where it leads."""
        super().__init__(f"It leads to {address!r}.", reason="refused")


class Fetcher:
    """Fetches pages by one set of rules."""

    def __init__(
        self,
        *,
        private: bool = False,
        limits: FetchLimits | None = None,
        resolve: Resolver = system_addresses,
        network: httpcore.NetworkBackend | None = None,
    ) -> None:
        """Take the rules.

        Args:
            private: Whether addresses of one's own network are permitted. Even then a page outside leads to none.
            limits: What one page may cost.
            resolve: Looks names up.
            network: Opens sockets, to addresses only.
        """
        self._private = private
        self._limits = limits or FetchLimits()
        self._resolve = resolve
        self._network = network or httpcore.SyncBackend()

    def fetch(self, address: str, folder: Path) -> Path:
        """Write what is at an address into a folder, as a file whose extension says what it is; return the file.

        Raises:
            UserError: The address is not one of the web (see `parsed`).
            ReadingError: `refused` (not a public address, or a redirect that leads to none), `unreachable` (no such
                name, no connection, too slow, an error of the server), `too_large`, `broken` (it breaks off),
                `unsupported` (a kind of file that no reader knows), `empty`.
        """
        return self.page(address, folder).path

    def page(
        self, address: str, folder: Path, *, within: Callable[[str], bool] | None = None, extension: str = ""
    ) -> FetchedPage:
        """Fetch a page as `fetch` does, and tell where it was found.

        Args:
            address: Of the page.
            folder: Where its file goes.
            within: Whether a redirect to an address is followed; None for all that may be followed.
            extension: Of the file, whatever the server calls it; empty for one that a reader knows.

        Raises:
            UserError: See `fetch`.
            ReadingError: See `fetch`; `StatusError` with the answer of the server, `ElsewhereError` for `within`.
        """
        deadline = Deadline(self._limits.seconds)
        url, private = parsed(address), self._private
        for _ in range(self._limits.redirects + 1):
            addresses, reach = permitted(url.raw_host.decode("ascii"), self._resolve, private=private)
            pinned = Pinned(addresses, deadline, self._network)
            with _explained(url, deadline, self._limits.idle), asked(url, pinned, idle=self._limits.idle) as response:
                target = _location(response)
                if target is None:
                    path = self._kept(response, url, folder, extension, deadline)
                    return FetchedPage(path, str(url), reach == "public", deadline)
            # A page that anybody can write must not lead into the network of whoever fetches it, also where private
            # addresses are allowed.
            url, private = _next(url, target), private and reach == "private"
            if within is not None and not within(str(url)):
                raise ElsewhereError(str(url))
        msg = f"{address!r} leads on more than {self._limits.redirects} times."
        raise ReadingError(msg, reason="refused", hint="Open it in a browser and give the address where it ends.")

    def public_only(self) -> Fetcher:
        """Return one with the same rules that goes to no private address."""
        return Fetcher(limits=self._limits, resolve=self._resolve, network=self._network)

    def _kept(
        self, response: httpcore.Response, url: httpx.URL, folder: Path, extension: str, deadline: Deadline
    ) -> Path:
        kind = _header(response, b"content-type")
        stem = PurePosixPath(unquote(url.path)).stem or url.raw_host.decode("ascii")
        path = folder / f"{safe_stem(stem, 'page')}{extension or extension_of(kind, url)}"
        with path.open("xb") as file:
            for piece in _counted(_sent(response, str(url), self._limits.size), str(url), self._limits.size):
                file.write(piece)
        _unpack(path, _header(response, b"content-encoding"), str(url), self._limits.size, deadline)
        if path.stat().st_size == 0:
            raise ReadingError(f"{str(url)!r} has no content.", reason="empty")
        return recoded(path, kind)


def _next(url: httpx.URL, location: str) -> httpx.URL:
    try:
        found = parsed(str(url.join(location)))
    except (httpx.InvalidURL, UserError, ValueError) as error:
        said = error.message if isinstance(error, UserError) else str(error)
        raise ReadingError(f"{str(url)!r} leads to where it may not: {said}", reason="refused") from error
    if url.scheme == "https" and found.scheme != "https":
        msg = f"{str(url)!r} leads from https to http, where everybody on the way can change it."
        raise ReadingError(msg, reason="refused")
    return found


@contextmanager
def _explained(url: httpx.URL, deadline: Deadline, idle: float) -> Iterator[None]:
    """Turn what httpcore raises into an error that says what happened."""
    try:
        yield
    except httpcore.TimeoutException as error:
        why = f"took longer than {deadline.seconds:g} s" if deadline.is_over else f"was silent for {idle:g} s"
        raise ReadingError(f"{str(url)!r} {why}.", reason="unreachable") from error
    except httpcore.RemoteProtocolError as error:
        raise ReadingError(f"{str(url)!r} breaks off, or is no HTTP: {error}.", reason="broken") from error
    except (httpcore.NetworkError, httpcore.ProtocolError) as error:
        raise ReadingError(f"{str(url)!r} cannot be reached: {error}.", reason="unreachable") from error


def _header(response: httpcore.Response, name: bytes) -> str:
    """Return a header by its name in lower case, empty where it is missing."""
    return next((value.decode("latin-1") for key, value in response.headers if key.lower() == name), "")


def _location(response: httpcore.Response) -> str | None:
    """Return where a response leads on to; None for one that holds a page.

    Raises:
        StatusError: The server has no page there.
    """
    target = _header(response, b"location")
    if response.status in _REDIRECTS and target:
        return target
    if response.status != 200:
        raise StatusError(response.status)
    return None


def _sent(response: httpcore.Response, url: str, most: int) -> Iterable[bytes]:
    """Return the bytes of the page as they come.

    Raises:
        ReadingError: `too_large`, where the server says so before it sends a byte.
    """
    # Before the first byte: a film is refused at once and not after a hundred megabytes.
    said = _header(response, b"content-length")
    if said.isdecimal() and said.isascii() and int(said) > most:
        raise _too_large(url, most)
    return response.iter_stream()


def _counted(pieces: Iterable[bytes], url: str, most: int) -> Iterator[bytes]:
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > most:
            raise _too_large(url, most)
        yield piece


def _too_large(url: str, most: int) -> ReadingError:
    return ReadingError(f"{url!r} is larger than {most} bytes.", reason="too_large")


def _unpack(path: Path, encoding: str, url: str, most: int, deadline: Deadline) -> None:
    """Put what a page holds in the place of the page as it was sent, if its server has packed it.

    Raises:
        ReadingError: `unsupported` for an encoding that was not asked for, `broken` for damaged or truncated data,
            `too_large` for more than `most` bytes.
        httpcore.ReadTimeout: The time is up.
    """
    name = encoding.strip().lower()
    if name in ("", "identity"):
        return
    if name not in ("gzip", "x-gzip"):
        msg = f"The server packed the page as {encoding[:50]!r}, which was not asked for."
        raise ReadingError(msg, reason="unsupported")
    packed = path.rename(path.with_name(f"{path.name}.gz"))
    try:
        # Piece by piece and counted again: a few kilobytes can unpack to any number of bytes.
        with unpacked(packed, "gz", deadline.check) as inside, path.open("xb") as file:
            for piece in _counted(iter(lambda: inside.read(_PIECE), b""), url, most):
                file.write(piece)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ReadingError(f"The page is not packed as its server says: {error}.", reason="broken") from error
    finally:
        packed.unlink()
