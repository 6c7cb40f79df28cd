"""From a host to the IP addresses that may be connected to."""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence

from anabranch.errors import ReadingError
from anabranch.ingest.web.ip_addresses import Reach, reach

Resolver = Callable[[str], Sequence[str]]
"""Returns the IP addresses of a host, or raises OSError."""


def system_addresses(host: str) -> list[str]:
    """Ask the system's resolver.

    Raises:
        OSError: The name is not known, or nobody answered.
    """
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def permitted(host: str, resolve: Resolver, *, private: bool) -> tuple[list[str], Reach]:
    """Return the addresses of a host and how far they reach, once every one of them is permitted.

    All of them count: a name with a public and a private address is how a page gets a caller to reach inside.

    Args:
        host: A name, or an IP address.
        resolve: Asked once; what it says is what will be connected to, whatever the name means a moment later.
        private: Whether addresses of one's own network are permitted, too.

    Raises:
        ReadingError: `refused` for an address that is not permitted, `unreachable` where there is none.
    """
    try:
        addresses = list(resolve(host))
        reaches = [reach(address) for address in addresses]
    except (OSError, ValueError) as error:  # a host name that cannot be encoded is a ValueError
        raise ReadingError(f"The name {host!r} has no address: {error}.", reason="unreachable") from error
    if not addresses:
        raise ReadingError(f"The name {host!r} has no address.", reason="unreachable")
    for address, found in zip(addresses, reaches, strict=True):
        if found == "forbidden" or (found == "private" and not private):
            msg = f"{host!r} is at {address}, which is not an address of the public internet."
            hint = "--allow-private-urls permits those of your own network." if found == "private" else ""
            raise ReadingError(msg, reason="refused", hint=hint)
    return addresses, "private" if "private" in reaches else "public"
