"""API keys: made here, shown once, and kept as their SHA-256.

A plain hash is enough because a key is 256 random bits: nobody can go through them, as they could through passwords,
and a slow hash would only make each request cost what an attacker would like it to.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Sequence

from anabranch.identity.user import User
from anabranch_server.identity.auth_file import KeyEntry

PREFIX = "anabranch_"
"""So that scanners of repositories, and people, know one when they see it."""


def new_key() -> str:
    """Return a fresh key."""
    return PREFIX + secrets.token_urlsafe(32)


def digest_of_secret(secret: str) -> str:
    """Return what is kept of a key, or of a proxy's secret: SHA-256, in hexadecimal."""
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()


def is_secret(given: str, digest: str) -> bool:
    """Tell whether a digest is that of a secret, in a time that does not depend on how much of it is right."""
    return hmac.compare_digest(digest_of_secret(given), digest)


def user_of_key(given: str, keys: Sequence[KeyEntry]) -> User | None:
    """Return whose key it is, None for nobody's."""
    # Every entry is compared, so that the time does not say at which one it stopped either.
    found = [entry for entry in keys if is_secret(given, entry.sha256)]
    if not found:
        return None
    return User(identity=found[0].identity, tenant=found[0].tenant, access=found[0].access, roles=found[0].roles)
