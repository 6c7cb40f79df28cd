"""API keys: made here, shown once, and stored as their SHA-256.

A plain hash is enough because a key has 256 random bits, which nobody can guess as they could a password. A slow hash
would only let an attacker make requests expensive.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Sequence

from anabranch.identity.user import User
from anabranch_server.identity.auth_file import KeyEntry

PREFIX = "anabranch_"
"""Lets people and secret scanners recognise a key."""


def new_key() -> str:
    """Return a fresh key."""
    return PREFIX + secrets.token_urlsafe(32)


def digest_of_secret(secret: str) -> str:
    """Return the stored form of a key or of a proxy's secret: its SHA-256 in hexadecimal."""
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()


def is_secret(given: str, digest: str) -> bool:
    """Tell whether a digest is that of a secret, in constant time."""
    return hmac.compare_digest(digest_of_secret(given), digest)


def user_of_key(given: str, keys: Sequence[KeyEntry]) -> User | None:
    """Return the owner of a key, or None."""
    # Every entry is compared, so that the time does not tell which one matched.
    found = [entry for entry in keys if is_secret(given, entry.sha256)]
    if not found:
        return None
    return User(identity=found[0].identity, tenant=found[0].tenant, access=found[0].access, roles=found[0].roles)
