"""Fetch one web page into a file: each redirect is checked like the first address, and everything is limited."""

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
from anabranch.ingestion.archives.decompression import open_unpacked
from anabranch.ingestion.safe_open import safe_stem
from anabranch_sources.web.content_type import extension_of, recode
from anabranch_sources.web.ssrf_guard import Resolver, parse_address, permitted_addresses, system_addresses
from anabranch_sources.web.transport import Deadline, Pinned, send_request

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_PIECE = 1 << 16


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Limits of one page.

    Attributes:
        size: Most bytes, packed and unpacked.
        seconds: Total time, with redirects and unpacking; the system limits the name lookup.
        idle: Most seconds without a byte.
        redirects: Most redirects.
    """

    size: int = 100_000_000
    seconds: float = 120.0
    idle: float = 20.0
    redirects: int = 5


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """A fetched page.

    Attributes:
        path: Its file.
        address: Its address after all redirects.
        is_public: Whether its address is on the public internet.
        deadline: The deadline for everything that concerns the page.
    """

    path: Path
    address: str
    is_public: bool
    deadline: Deadline


class StatusError(ReadingError):
    """The server answered without a page."""

    def __init__(self, status: int) -> None:
        """Take the HTTP status."""
        super().__init__(f"The server answered {status}.", reason="unreachable")
        self.status = status


class ElsewhereError(ReadingError):
    """The page redirects to an address that the caller excluded."""

    def __init__(self, address: str) -> None:
        """Take the address."""
        super().__init__(f"It redirects to {address!r}.", reason="refused")


class Fetcher:
    """Fetches pages under one set of rules."""

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
            private: Whether addresses of the local network are allowed, except as redirects of public pages.
            limits: Limits of one page.
            resolve: Looks up names.
            network: Opens sockets to IP addresses.
        """
        self._private = private
        self._limits = limits or FetchLimits()
        self._resolve = resolve
        self._network = network or httpcore.SyncBackend()

    def fetch(self, address: str, folder: Path) -> Path:
        """Fetch an address into a folder, as a file with the extension of its type; return the file.

        Raises:
            UserError: It is not a web address (see `parse_address`).
            ReadingError: `refused` (not a public address, or a redirect that leads to none), `unreachable` (no such
                name, no connection, too slow, an error of the server), `too_large`, `broken` (it breaks off),
                `unsupported` (a kind of file that no reader knows), `empty`.
        """
        return self.page(address, folder).path

    def page(
        self, address: str, folder: Path, *, within: Callable[[str], bool] | None = None, extension: str = ""
    ) -> FetchedPage:
        """Fetch a page as `fetch` does, and return its final address, too.

        Args:
            address: Address of the page.
            folder: Folder for its file.
            within: Tells whether to follow a redirect to an address; None for all.
            extension: Extension of the file, whatever its type; empty for that of its type.

        Raises:
            UserError: See `fetch`.
            ReadingError: See `fetch`; `StatusError` with the answer of the server, `ElsewhereError` for `within`.
        """
        deadline = Deadline(self._limits.seconds)
        url, private = parse_address(address), self._private
        for _ in range(self._limits.redirects + 1):
            addresses, reach = permitted_addresses(url.raw_host.decode("ascii"), self._resolve, private=private)
            pinned = Pinned(addresses, deadline, self._network)
            with (
                _translate_errors(url, deadline, self._limits.idle),
                send_request(url, pinned, idle=self._limits.idle) as response,
            ):
                target = _location(response)
                if target is None:
                    path = self._save(response, url, folder, extension, deadline)
                    return FetchedPage(path, str(url), reach == "public", deadline)
            # A public page must not redirect into the local network, even if private addresses are allowed.
            url, private = _follow_redirect(url, target), private and reach == "private"
            if within is not None and not within(str(url)):
                raise ElsewhereError(str(url))
        msg = f"{address!r} redirects more than {self._limits.redirects} times."
        raise ReadingError(msg, reason="refused", hint="Open it in a browser and use the final address.")

    def public_only(self) -> Fetcher:
        """Return a fetcher with the same rules but without private addresses."""
        return Fetcher(limits=self._limits, resolve=self._resolve, network=self._network)

    def _save(
        self, response: httpcore.Response, url: httpx.URL, folder: Path, extension: str, deadline: Deadline
    ) -> Path:
        kind = _header(response, b"content-type")
        stem = PurePosixPath(unquote(url.path)).stem or url.raw_host.decode("ascii")
        path = folder / f"{safe_stem(stem, 'page')}{extension or extension_of(kind, url)}"
        with path.open("xb") as file:
            for piece in _limit_size(_receive(response, str(url), self._limits.size), str(url), self._limits.size):
                file.write(piece)
        _unpack(path, _header(response, b"content-encoding"), str(url), self._limits.size, deadline)
        if path.stat().st_size == 0:
            raise ReadingError(f"{str(url)!r} has no content.", reason="empty")
        return recode(path, kind)


def _follow_redirect(url: httpx.URL, location: str) -> httpx.URL:
    try:
        found = parse_address(str(url.join(location)))
    except (httpx.InvalidURL, UserError, ValueError) as error:
        why = error.message if isinstance(error, UserError) else str(error)
        raise ReadingError(
            f"{str(url)!r} redirects to an address that is not allowed: {why}", reason="refused"
        ) from error
    if url.scheme == "https" and found.scheme != "https":
        msg = f"{str(url)!r} redirects from https to http, which anybody on the network can change."
        raise ReadingError(msg, reason="refused")
    return found


@contextmanager
def _translate_errors(url: httpx.URL, deadline: Deadline, idle: float) -> Iterator[None]:
    """Turn errors of httpcore into a ReadingError."""
    try:
        yield
    except httpcore.TimeoutException as error:
        why = f"took longer than {deadline.seconds:g} s" if deadline.is_over else f"was silent for {idle:g} s"
        raise ReadingError(f"{str(url)!r} {why}.", reason="unreachable") from error
    except httpcore.RemoteProtocolError as error:
        raise ReadingError(f"{str(url)!r} is cut off, or is not HTTP: {error}.", reason="broken") from error
    except (httpcore.NetworkError, httpcore.ProtocolError) as error:
        raise ReadingError(f"{str(url)!r} cannot be reached: {error}.", reason="unreachable") from error


def _header(response: httpcore.Response, name: bytes) -> str:
    """Return a header by its name in lower case, empty where it is missing."""
    return next((value.decode("latin-1") for key, value in response.headers if key.lower() == name), "")


def _location(response: httpcore.Response) -> str | None:
    """Return the target of a redirect; None for a page.

    Raises:
        StatusError: The server has no page there.
    """
    target = _header(response, b"location")
    if response.status in _REDIRECTS and target:
        return target
    if response.status != 200:
        raise StatusError(response.status)
    return None


def _receive(response: httpcore.Response, url: str, most: int) -> Iterable[bytes]:
    """Return the bytes of the page as they come.

    Raises:
        ReadingError: `too_large` if the declared length is.
    """
    # Checked first, to refuse a film at once and not after a hundred megabytes.
    length = _header(response, b"content-length")
    if length.isdecimal() and length.isascii() and int(length) > most:
        raise _too_large(url, most)
    return response.iter_stream()


def _limit_size(pieces: Iterable[bytes], url: str, most: int) -> Iterator[bytes]:
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > most:
            raise _too_large(url, most)
        yield piece


def _too_large(url: str, most: int) -> ReadingError:
    return ReadingError(f"{url!r} is larger than {most} bytes.", reason="too_large")


def _unpack(path: Path, encoding: str, url: str, most: int, deadline: Deadline) -> None:
    """Unpack the file of a page in place, if the server compressed it.

    Raises:
        ReadingError: `unsupported` for an encoding that was not requested, `broken` for damaged or truncated data,
            `too_large` for more than `most` bytes.
        httpcore.ReadTimeout: The time is up.
    """
    name = encoding.strip().lower()
    if name in ("", "identity"):
        return
    if name not in ("gzip", "x-gzip"):
        msg = f"The server compressed the page with {encoding[:50]!r}, which was not requested."
        raise ReadingError(msg, reason="unsupported")
    packed = path.rename(path.with_name(f"{path.name}.gz"))
    try:
        # The size is limited again, because a few kilobytes can unpack to any number of bytes.
        with open_unpacked(packed, "gz", deadline.check) as inside, path.open("xb") as file:
            for piece in _limit_size(iter(lambda: inside.read(_PIECE), b""), url, most):
                file.write(piece)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ReadingError(f"The page is not compressed as its server says: {error}.", reason="broken") from error
    finally:
        packed.unlink()
