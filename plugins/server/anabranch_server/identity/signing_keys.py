"""The public keys of a token issuer (JWKS, RFC 7517), from its address or a file; cached for a while."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from anabranch.errors import OperationError
from anabranch_server.identity.issuer_requests import fetch

JsonKey = dict[str, Any]

RETRY = 60.0
"""Seconds between two fetches, because any token may name an unknown key id."""

FRESH = 3600.0
"""Seconds after which keys are fetched again, so that a withdrawn one expires."""

STALE = 24 * 3600.0
"""Seconds after which keys expire even if the issuer cannot be reached."""

MAX_KEYS = 100


class SigningKeys:
    """The keys of one issuer, by their ids."""

    def __init__(self, place: str, folder: Path, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Take the place of the keys: an address, or a file relative to `folder`."""
        self._place = place
        self._file = None if place.startswith(("http://", "https://")) else folder / place
        self._clock = clock
        self._keys: dict[str | None, JsonKey] = {}
        self._fetched = self._tried = float("-inf")
        self._lock = asyncio.Lock()

    async def find(self, key_id: str | None) -> JsonKey | None:
        """Return the key with an id, or the only key if the token names none; None if no key fits.

        Raises:
            OperationError: There are no keys yet, and they cannot be fetched.
        """
        if self._is_due(key_id):
            async with self._lock:
                # Checked again, because another request may have fetched while this one waited.
                if self._is_due(key_id):
                    await self._refresh()
        if self._clock() - self._fetched > STALE:
            msg = "The token issuer's keys cannot be fetched."
            raise OperationError(msg, hint="Try again in a minute; the operator finds the cause in the server's log.")
        if key_id is None:
            return next(iter(self._keys.values())) if len(self._keys) == 1 else None
        return self._keys.get(key_id)

    def _is_due(self, key_id: str | None) -> bool:
        now = self._clock()
        is_unknown = key_id is not None and key_id not in self._keys
        return now - self._tried >= RETRY and (is_unknown or now - self._fetched > FRESH)

    async def _refresh(self) -> None:
        try:
            self._keys = _keys_in(await self._read())
            self._fetched = self._clock()
        except (OSError, ValueError, httpx.HTTPError) as error:
            # The old keys stay valid for a while: an issuer that is down for a minute must not lock people out.
            import logging

            logging.getLogger("anabranch.identity").warning("The keys at %s cannot be fetched: %r", self._place, error)
        # Set only now: others meanwhile wait for the outcome, and a cancelled request does not count as an attempt.
        self._tried = self._clock()

    async def _read(self) -> bytes:
        if self._file is not None:
            return await asyncio.to_thread(self._file.read_bytes)
        status, content = await fetch("GET", self._place)
        if status != httpx.codes.OK:
            msg = f"the answer was {status}"
            raise ValueError(msg)
        return content


def _keys_in(content: bytes) -> dict[str | None, JsonKey]:
    """Return the keys for signatures in a key set.

    Raises:
        ValueError: It is not a key set, or has no key for signatures.
    """
    found = json.loads(content)
    keys = found.get("keys") if isinstance(found, dict) else None
    if not isinstance(keys, list):
        raise ValueError("it is not a key set: it has no list 'keys'")  # noqa: TRY004  # what `json` itself raises
    # `oct` is a symmetric secret, which is not a public key.
    usable = [
        key
        for key in keys[:MAX_KEYS]
        if isinstance(key, dict) and key.get("kty") in ("RSA", "EC", "OKP") and key.get("use", "sig") == "sig"
    ]
    if not usable:
        raise ValueError("it has no key for signatures")
    return {key.get("kid"): key for key in usable}
