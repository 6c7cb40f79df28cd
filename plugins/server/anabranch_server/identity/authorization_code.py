"""Signing in at a token issuer: the authorization code flow with PKCE (RFC 6749, section 4.1, and RFC 7636).

The page sends a person to the issuer and gets a code; this process, not the browser, exchanges it for a token. So the
page calls only its own server, and the issuer need not allow its origin (CORS).
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from dataclasses import dataclass
from typing import Any

import httpx

from anabranch.errors import NotAuthenticatedError, OperationError
from anabranch_server.identity.auth_file import LoginSettings, TokenSettings, is_open_to_others
from anabranch_server.identity.issuer_requests import fetch
from anabranch_server.identity.tokens_of_issuer import TokenVerifier

FRESH = 3600.0
"""Seconds after which the issuer's addresses are fetched again."""

RETRY = 5.0
"""Seconds before an issuer that did not answer is asked again."""

AT_ONCE = 8
"""Most exchanges at a time: senders of codes are not authenticated, and must not cause unlimited requests."""

_AWAY = "The token issuer's sign-in address cannot be fetched."
_HINT = "Try again in a minute; the operator finds the cause in the server's log."


@dataclass(frozen=True, slots=True)
class Endpoints:
    """The issuer's addresses for signing in and for tokens."""

    authorization: str
    token: str


class AuthorizationCode:
    """Signs people in at one issuer, as a public client."""

    def __init__(self, settings: TokenSettings, login: LoginSettings, verifier: TokenVerifier) -> None:
        """Take the issuer, and the verifier of its tokens."""
        self.login = login
        self.issuer = settings.issuer
        self._verifier = verifier
        self._known: Endpoints | None = None
        self._asked = self._failed = float("-inf")
        self._lock = asyncio.Lock()
        self._exchanging = asyncio.Semaphore(AT_ONCE)

    async def endpoints(self) -> Endpoints:
        """Return the issuer's addresses (OpenID Connect Discovery 1.0, section 4).

        Raises:
            OperationError: They cannot be fetched.
        """
        async with self._lock:
            now = time.monotonic()
            if self._known is None or now - self._asked > FRESH:
                # Requests that waited here fail at once instead of each trying again.
                if now - self._failed < RETRY:
                    raise OperationError(_AWAY, hint=_HINT)
                try:
                    self._known = await self._discover()
                except (ValueError, httpx.HTTPError) as error:
                    import logging

                    self._failed = time.monotonic()
                    logging.getLogger("anabranch.identity").warning(
                        "The sign-in address of %s cannot be fetched: %r", self.issuer, error
                    )
                    raise OperationError(_AWAY, hint=_HINT) from error
                self._asked = now
            return self._known

    async def token(self, code: str, code_verifier: str, redirect_uri: str) -> str:
        """Exchange a code for a token that this server accepts.

        Raises:
            NotAuthenticatedError: The issuer returns no token, or none that is accepted.
            OperationError: The issuer does not answer.
        """
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "code_verifier": code_verifier,
            "redirect_uri": redirect_uri,
            "client_id": self.login.client_id,
        }
        address = (await self.endpoints()).token
        try:
            async with self._exchanging:
                status, content = await fetch("POST", address, form)
            given = json.loads(content)
        except (ValueError, httpx.HTTPError) as error:
            raise OperationError("The token issuer does not answer.", hint=_HINT) from error
        if status != httpx.codes.OK or not isinstance(given, dict):
            msg = f"The issuer refused the sign-in{_reason(given)}."
            raise NotAuthenticatedError(msg, hint="Sign in again.")
        return await self._first_accepted(given)

    async def _first_accepted(self, given: dict[str, Any]) -> str:
        """Return the access token, or else the id token: some issuers' access tokens are meant only for themselves."""
        refused: NotAuthenticatedError | None = None
        for token in (given.get("access_token"), given.get("id_token")):
            if isinstance(token, str):
                try:
                    await self._verifier.user_of(token)
                except NotAuthenticatedError as error:
                    refused = error
                else:
                    return token
        raise refused or NotAuthenticatedError("The issuer returned no token.", hint="Sign in again.")

    async def _discover(self) -> Endpoints:
        status, content = await fetch("GET", f"{self.issuer.rstrip('/')}/.well-known/openid-configuration")
        found = json.loads(content) if status == httpx.codes.OK else None
        # The issuer has to name itself as the file does (section 4.3), or another could answer in its place.
        if not isinstance(found, dict) or found.get("issuer") != self.issuer:
            msg = f"the answer, {status}, does not name this issuer"
            raise ValueError(msg)
        places = [found.get(f"{name}_endpoint") for name in ("authorization", "token")]
        for place in places:
            if not isinstance(place, str) or not place.startswith(("https://", "http://")) or is_open_to_others(place):
                msg = f"{place!r} is not a sign-in address"
                raise ValueError(msg)
        return Endpoints(*map(str, places))


def _reason(given: object) -> str:
    """Return the issuer's error code (RFC 6749, section 5.2), if it is valid."""
    word = given.get("error") if isinstance(given, dict) else None
    return f": {word}" if isinstance(word, str) and re.fullmatch(r"[a-z_]{1,40}", word) else ""
