"""The guard against server-side request forgery (SSRF, OWASP A10:2021).

An address is parsed once, in one plain spelling; its host is looked up once, and all IP addresses must be public. The
tables are those of the IANA special-purpose address registries (RFC 6890 and later), kept here and not taken from
`ipaddress.is_global`, whose answers differ between patch releases of Python.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Sequence
from ipaddress import AddressValueError, IPv4Address, IPv6Address, ip_address, ip_network
from typing import Literal

import httpx

from anabranch.errors import ReadingError, UserError

Resolver = Callable[[str], Sequence[str]]
"""Returns the IP addresses of a host, or raises OSError."""

AddressReach = Literal["public", "private", "forbidden"]
"""`private` may be an intranet; `forbidden` never has documents, such as cloud metadata."""

_NAT64 = ip_network("64:ff9b::/96")
_GLOBAL_V6 = ip_network("2000::/3")

_PRIVATE = tuple(
    ip_network(network)
    for network in (
        "10.0.0.0/8",
        "100.64.0.0/10",  # shared address space of carriers (RFC 6598), also used by overlay networks
        "127.0.0.0/8",
        "172.16.0.0/12",
        "192.168.0.0/16",
        "::1/128",
        "fc00::/7",
    )
)
_FORBIDDEN = tuple(
    ip_network(network)
    for network in (
        "0.0.0.0/8",  # this host: Linux connects 0.0.0.0 to itself
        "100.100.100.200/32",  # metadata of Alibaba Cloud
        "168.63.129.16/32",  # the host of an Azure machine, in a public range
        "169.254.0.0/16",  # link-local, with the metadata of most clouds
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
        "fd00:ec2::/32",  # metadata of AWS, in a private range
        "fd20:ce::254/128",  # metadata of Google Cloud, likewise
        # Of 2000::/3, these are not the public internet, or lead to an IPv4 address that is written inside them.
        "2001::/23",  # protocol assignments, with Teredo
        "2001:db8::/32",
        "2002::/16",  # 6to4
        "3fff::/20",
    )
)

MOST_CHARACTERS = 4000

_UNSEEN = re.compile(r"[\s\\\x00-\x20\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff]")
_NAME = re.compile(r"(?=.{1,253}\Z)(?!-)[a-z0-9_-]{1,63}(?:\.(?!-)[a-z0-9_-]{1,63})*", re.ASCII)
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")


def parse_address(text: str) -> httpx.URL:
    """Return a web address in normal form: host in ASCII and lower case, no dot at its end, no fragment.

    Raises:
        UserError: It is not http or https, holds a user name or a password, or its host is not plainly a name or an IP
            address: numbers in other bases, addresses with parts left out, escapes and look-alikes are refused, because
            resolvers disagree on what they mean.
    """
    if len(text) > MOST_CHARACTERS or _UNSEEN.search(text):
        raise _address_error(text, "is too long, or holds blanks, backslashes or control characters")
    try:
        url = httpx.URL(text).copy_with(fragment=None)
        host = url.raw_host.decode("ascii").removesuffix(".")
        port = url.port if url.port is not None else 80
    except (httpx.InvalidURL, ValueError) as error:  # idna's errors are ValueErrors
        raise _address_error(text, "cannot be parsed") from error
    if url.scheme not in ("http", "https"):
        raise _address_error(text, "is neither http nor https")
    # An empty user name leaves only its @.
    if url.userinfo or re.match(r"[^/?#]*//[^/?#]*@", text):
        raise _address_error(text, "holds a user name or a password")
    if not 0 < port < 65536 or not _is_plain(host):
        raise _address_error(text, "has no valid host and port")
    return url.copy_with(host=host)


def _is_plain(host: str) -> bool:
    """Tell whether a host is a name, or an IP address in its usual spelling."""
    if ":" in host:
        return _parses(host, IPv6Address) and "%" not in host
    if not _NAME.fullmatch(host):
        return False
    is_number = _NUMBER.fullmatch(host.rsplit(".", 1)[-1]) is not None
    return not is_number or _parses(host, IPv4Address)


def _parses(host: str, kind: type[IPv4Address] | type[IPv6Address]) -> bool:
    try:
        kind(host)
    except AddressValueError:
        return False
    return True


def _address_error(text: str, why: str) -> UserError:
    shown = text if len(text) <= 200 else f"{text[:200]}..."
    # A password must not end up in logs.
    shown = re.sub(r"(?<=//)[^/?#]*@", "***@", shown)
    return UserError(f"The address {shown!r} {why}.", hint="Give one as a browser shows it: https://example.org/page.")


def system_addresses(host: str) -> list[str]:
    """Ask the system's resolver.

    Raises:
        OSError: The name is not known, or nobody answered.
    """
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def permitted_addresses(host: str, resolve: Resolver, *, private: bool) -> tuple[list[str], AddressReach]:
    """Return the addresses of a host and their reach, if all of them are permitted.

    A name with a public and a private address could lead into the local network.

    Args:
        host: A name, or an IP address.
        resolve: Called once; the connection goes to these addresses, whatever the name means later.
        private: Whether addresses of the local network are permitted, too.

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


def reach(address: str) -> AddressReach:
    """Return the reach of an IP address as `getaddrinfo` writes it.

    An IPv4 address inside an IPv6 one is forbidden (IPv4-mapped, 6to4, Teredo), except behind the well-known prefix of
    NAT64 (RFC 6052), the only way to IPv4 in some networks, where the address inside decides.

    Raises:
        ValueError: It is no IP address.
    """
    found = ip_address(address)
    if isinstance(found, IPv6Address):
        if found.scope_id is not None:
            return "forbidden"
        if found in _NAT64:
            inside = _reach(IPv4Address(int(found) & 0xFFFFFFFF))
            return "public" if inside == "public" else "forbidden"
    return _reach(found)


def _reach(address: IPv4Address | IPv6Address) -> AddressReach:
    if any(address in network for network in _FORBIDDEN):
        return "forbidden"
    if any(address in network for network in _PRIVATE):
        return "private"
    if isinstance(address, IPv6Address) and address not in _GLOBAL_V6:
        return "forbidden"
    return "public"
