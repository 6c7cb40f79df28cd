"""Bring one page of the web into a file: each redirect checked like the first address, everything bounded."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

import httpcore
import httpx

from anabranch.errors import ReadingError, UserError
from anabranch.ingest.web.content_type import extension_of, recoded
from anabranch.ingest.web.dns import Resolver, permitted, system_addresses
from anabranch.ingest.web.responses import body, explained, header, location
from anabranch.ingest.web.transport import Deadline, Pinned, asked
from anabranch.ingest.web.urls import parsed

_UNSAFE_IN_NAMES = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*]+')


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """What one page may cost.

    Attributes:
        size: Bytes, of what the server sends and of what that unpacks to.
        seconds: For everything, redirects included; looking the name up is bounded by the system.
        idle: Seconds without a byte.
        redirects: How often the server may point elsewhere.
    """

    size: int = 100_000_000
    seconds: float = 120.0
    idle: float = 20.0
    redirects: int = 5


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
            UserError: The address is not one of the web (see `urls.parsed`).
            ReadingError: `refused` (not a public address, or a redirect that leads to none), `unreachable` (no such
                name, no connection, too slow, an error of the server), `too_large`, `broken` (it breaks off),
                `unsupported` (a kind of file that no reader knows), `empty`.
        """
        deadline = Deadline(self._limits.seconds)
        url, private = parsed(address), self._private
        for _ in range(self._limits.redirects + 1):
            addresses, reach = permitted(url.raw_host.decode("ascii"), self._resolve, private=private)
            pinned = Pinned(addresses, deadline, self._network)
            with explained(url, deadline, self._limits.idle), asked(url, pinned, idle=self._limits.idle) as response:
                target = location(response)
                if target is None:
                    return self._kept(response, url, folder)
            url, private = _next(url, target), private and reach == "private"
        msg = f"{address!r} leads on more than {self._limits.redirects} times."
        raise ReadingError(msg, reason="refused", hint="Open it in a browser and give the address where it ends.")

    def _kept(self, response: httpcore.Response, url: httpx.URL, folder: Path) -> Path:
        kind = header(response, b"content-type")
        path = folder / f"{_stem(url)}{extension_of(kind, url)}"
        with path.open("xb") as file:
            for piece in body(response, str(url), self._limits.size):
                file.write(piece)
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


def _stem(url: httpx.URL) -> str:
    """Return a name for the file: it becomes the title of a page without one."""
    name = PurePosixPath(unquote(url.path)).stem or url.raw_host.decode("ascii")
    return _UNSAFE_IN_NAMES.sub(" ", name).strip(" .")[:80] or "page"
