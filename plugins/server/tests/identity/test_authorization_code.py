"""Signing in at an issuer: a code is exchanged by whoever began, at the issuer that the file names, for what counts."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jwt", reason="the extra `serve` is not installed")
pytest.importorskip("cryptography", reason="the extra `serve` is not installed")

from anabranch.errors import NotAuthenticatedError, OperationError
from anabranch_server.identity import authorization_code
from anabranch_server.identity.auth_file import TokenSettings
from anabranch_server.identity.authorization_code import AuthorizationCode
from anabranch_server.identity.tokens_of_issuer import TokenVerifier
from tests.servers.openid_issuer import AUDIENCE, CLIENT, OpenIDIssuer, openid_issuer

pytestmark = pytest.mark.loopback

VERIFIER = "v" * 43
BACK = "http://127.0.0.1:8300/"


@pytest.fixture
def issuer() -> Iterator[OpenIDIssuer]:
    with openid_issuer(claims={"sub": "ada"}) as found:
        yield found


def sign_in_at(issuer: OpenIDIssuer, **changed: Any) -> tuple[AuthorizationCode, TokenVerifier]:
    facts = {"issuer": issuer.url, "audience": AUDIENCE, "jwks": f"{issuer.url}/keys", "login": {"client_id": CLIENT}}
    settings = TokenSettings.model_validate(facts | changed)
    assert settings.login is not None
    verifier = TokenVerifier(settings, Path())
    return AuthorizationCode(settings, settings.login, verifier), verifier


def code_of(issuer: OpenIDIssuer) -> str:
    """Return the code that somebody comes back with."""
    challenge = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
    asked = {"client_id": CLIENT, "redirect_uri": BACK, "state": "s", "code_challenge": challenge}
    return issuer.signed_in(asked).partition("code=")[2].partition("&")[0]


async def test_a_code_is_exchanged_for_a_token_that_counts(issuer: OpenIDIssuer) -> None:
    sign_in, verifier = sign_in_at(issuer)
    assert (await sign_in.endpoints()).authorization == f"{issuer.url}/authorization"
    token = await sign_in.token(code_of(issuer), VERIFIER, BACK)
    assert (await verifier.user_of(token)).identity == "ada"


async def test_a_code_counts_once_and_for_whoever_began(issuer: OpenIDIssuer) -> None:
    sign_in, _ = sign_in_at(issuer)
    code = code_of(issuer)
    await sign_in.token(code, VERIFIER, BACK)
    for given in ((code, VERIFIER, BACK), (code_of(issuer), "w" * 43, BACK), (code_of(issuer), VERIFIER, "http://x/")):
        with pytest.raises(NotAuthenticatedError, match="invalid_grant"):
            await sign_in.token(*given)


async def test_an_id_token_counts_where_the_access_token_is_not_for_us(issuer: OpenIDIssuer) -> None:
    issuer.is_opaque = True
    sign_in, verifier = sign_in_at(issuer, audience=CLIENT)
    token = await sign_in.token(code_of(issuer), VERIFIER, BACK)
    assert (await verifier.user_of(token)).identity == "ada"
    stranger, _ = sign_in_at(issuer, audience="somebody else")
    with pytest.raises(NotAuthenticatedError, match="audience"):
        await stranger.token(code_of(issuer), VERIFIER, BACK)


async def test_another_issuer_and_one_that_is_away_are_not_asked(
    issuer: OpenIDIssuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    issuer.named = "https://elsewhere.example"
    sign_in, _ = sign_in_at(issuer)
    with pytest.raises(OperationError, match="sign-in address cannot be fetched"):
        await sign_in.endpoints()
    issuer.named = ""
    with pytest.raises(OperationError):  # not asked again at once
        await sign_in.endpoints()
    monkeypatch.setattr(authorization_code, "RETRY", 0.0)
    assert (await sign_in.endpoints()).token == f"{issuer.url}/token"
    issuer.url = "http://127.0.0.1:9"
    away, _ = sign_in_at(issuer)
    with pytest.raises(OperationError, match="sign-in address cannot be fetched"):
        await away.endpoints()
