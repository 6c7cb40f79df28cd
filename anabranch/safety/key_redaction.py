"""Removes keys from a server's messages: some servers repeat the refused request, with its key."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from pydantic import BaseModel, SecretStr

GONE = "***"

LEAST = 8
"""Least characters of a variable's value to be a key: "x" would be removed from every word."""

_NAMES = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)\Z")
_QUOTED = r"""["']?\s*[:=]\s*["']?"""
# The places of keys in requests: headers, query strings, the user in an address.
_SIGNED = (
    re.compile(
        rf"""((?:authorization|api[-_]?key){_QUOTED})(?:(?:bearer|basic|token)\s+)?[^\s"',;}}]+""", re.IGNORECASE
    ),
    re.compile(r"""(\bBearer\s+)[^\s"',;}]{6,}"""),
    re.compile(r"""([?&](?:key|api_?key|token|access_token)=)[^&\s"']+""", re.IGNORECASE),
    re.compile(r"""(://)[^/\s@"']+(?=@)"""),
)


def redacted(text: str, sent: Iterable[str] = ()) -> str:
    """Return a text without keys.

    Args:
        text: A message of a server or its client.
        sent: Keys of the request. Keys in the environment, and text in the usual places of keys, are always removed.
    """
    # Looked up each time, because programs set keys while they run.
    known = {value for name, value in os.environ.items() if _NAMES.search(name.upper()) and len(value) >= LEAST}
    # The longest first, because one key may be the beginning of another.
    for key in sorted({*known, *filter(None, sent)}, key=len, reverse=True):
        text = text.replace(key, GONE)
    for signed in _SIGNED:
        text = signed.sub(rf"\g<1>{GONE}", text)
    return text


def keys_of(client: BaseModel) -> tuple[str, ...]:
    """Return the keys that a LangChain client was made with."""
    return tuple(value.get_secret_value() for _, value in client if isinstance(value, SecretStr))
