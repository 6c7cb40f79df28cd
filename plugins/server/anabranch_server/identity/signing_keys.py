"""The public keys of an issuer of tokens (JWKS, RFC 7517), from its address or from a file; kept for a while."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from anabranch.errors import OperationError
from anabranch_server.identity.issuer_requests import fetched

JsonKey = dict[str, Any]

RETRY = 60.0
"""Seconds between two fetches: a token may name any key id, and must not make this process ask each time."""

FRESH = 3600.0
"""Seconds after which keys are fetched anew, so that one that the issuer withdrew stops counting."""

STALE = 24 * 3600.0
"""Seconds after which keys do not count any more, where the issuer cannot be reached."""

MAX_KEYS = 100


class SigningKeys:
    """The keys of one issuer, by their ids."""

    def __init__(self, place: str, folder: Path, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Take where they are: an address, or a file that counts from `folder`."""
        self._place = place
        self._file = None if place.startswith(("http://", "https://")) else folder / place
        self._clock = clock
        self._keys: dict[str | None, JsonKey] = {}
        self._fetched = self._tried = float("-inf")
        self._lock = asyncio.Lock()

    async def find(self, key_id: str | None) -> JsonKey | None:
        """Return the key with an id, or the only one there is for a token that names none; None where there is none.

        Raises:
            OperationError: There are no keys yet, and they cannot be fetched.
        """
        if self._is_due(key_id):
            async with self._lock:
                # Asked again: of many requests that wait here, the first has fetched for all.
                if self._is_due(key_id):
                    await self._refresh()
        if self._clock() - self._fetched > STALE:
            msg = "The keys of the issuer of tokens cannot be fetched."
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
            # Those of before go on counting for a while: an issuer that is down for a minute must not lock people out.
            import logging

            logging.getLogger("anabranch.identity").warning("The keys at %s cannot be fetched: %r", self._place, error)
        # Only now: who comes in the meantime waits for the outcome, and a request that was broken off tried nothing.
        self._tried = self._clock()

    async def _read(self) -> bytes:
        if self._file is not None:
            return await asyncio.to_thread(self._file.read_bytes)
        status, content = await fetched("GET", self._place)
        if status != httpx.codes.OK:
            msg = f"the answer was {status}"
            raise ValueError(msg)
        return content


def _keys_in(content: bytes) -> dict[str | None, JsonKey]:
    """Return the keys for signatures in a key set.

    Raises:
        ValueError: It is no key set, or has none that could check a signature.
    """
    found = json.loads(content)
    keys = found.get("keys") if isinstance(found, dict) else None
    if not isinstance(keys, list):
        raise ValueError("no key set: it has no list 'keys'")  # noqa: TRY004  # what `json` itself raises
    # `oct` is a secret that signs as well as it checks; it has no place among public keys.
    usable = [
        key
        for key in keys[:MAX_KEYS]
        if isinstance(key, dict) and key.get("kty") in ("RSA", "EC", "OKP") and key.get("use", "sig") == "sig"
    ]
    if not usable:
        raise ValueError("no key for signatures in it")
    return {key.get("kid"): key for key in usable}
