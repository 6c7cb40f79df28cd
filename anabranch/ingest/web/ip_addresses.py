"""Which IP addresses belong to the public internet, and which must never be asked for a document.

After the IANA special-purpose address registries (RFC 6890 and later), kept here and not taken from
`ipaddress.is_global`, whose answers differ between patch releases of Python.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Literal

Reach = Literal["public", "private", "forbidden"]
"""`private` may be somebody's intranet; `forbidden` is what no document comes from, such as cloud metadata."""

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


def reach(address: str) -> Reach:
    """Tell how far an address, as `getaddrinfo` writes it, is from everybody.

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


def _reach(address: IPv4Address | IPv6Address) -> Reach:
    if any(address in network for network in _FORBIDDEN):
        return "forbidden"
    if any(address in network for network in _PRIVATE):
        return "private"
    if isinstance(address, IPv6Address) and address not in _GLOBAL_V6:
        return "forbidden"
    return "public"
