"""Addresses of web pages: taken apart once, so that what is checked is what is asked."""

from __future__ import annotations

import re
from ipaddress import AddressValueError, IPv4Address, IPv6Address

import httpx

from anabranch.errors import UserError

MOST_CHARACTERS = 4000

_UNSEEN = re.compile(r"[\s\\\x00-\x20\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff]")
_NAME = re.compile(r"(?=.{1,253}\Z)(?!-)[a-z0-9_-]{1,63}(?:\.(?!-)[a-z0-9_-]{1,63})*", re.ASCII)
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")


def parsed(text: str) -> httpx.URL:
    """Return a web address in its one normal form: host in ASCII and lower case, no dot at its end, no fragment.

    Raises:
        UserError: It is not http or https, holds a user name or a password, or its host is not plainly a name or an IP
            address: numbers in other bases, addresses with parts left out, escapes and look-alikes are refused, because
            resolvers disagree on what they mean.
    """
    if len(text) > MOST_CHARACTERS or _UNSEEN.search(text):
        raise _bad(text, "is too long, or holds blanks, backslashes or control characters")
    try:
        url = httpx.URL(text).copy_with(fragment=None)
        host = url.raw_host.decode("ascii").removesuffix(".")
        port = url.port if url.port is not None else 80
    except (httpx.InvalidURL, ValueError) as error:  # idna's errors are ValueErrors
        raise _bad(text, "cannot be taken apart") from error
    if url.scheme not in ("http", "https"):
        raise _bad(text, "is neither http nor https")
    if url.userinfo or re.match(r"[^/?#]*//[^/?#]*@", text):
        raise _bad(text, "holds a user name or a password")
    if not 0 < port < 65536 or not _is_plain(host):
        raise _bad(text, "has no plain host and port")
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


def _bad(text: str, why: str) -> UserError:
    shown = text if len(text) <= 200 else f"{text[:200]}..."
    # A password in it would end up in logs.
    shown = re.sub(r"(?<=//)[^/?#]*@", "***@", shown)
    return UserError(f"The address {shown!r} {why}.", hint="Give one as a browser shows it: https://example.org/page.")
