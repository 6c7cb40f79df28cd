"""Signing in on the page: the token issuer's address, and the exchange of its code for a token.

Both routes are public, because a person who signs in has no key yet.
"""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field

from anabranch.errors import SettingsError
from anabranch_server.identity import load_authenticators, needs_identity
from anabranch_server.identity.authorization_code import AuthorizationCode
from anabranch_server.requester import refuse_other_sites

router = APIRouter(tags=["login"])

_NO_STORE = {"Cache-Control": "no-store"}


class CodeRequest(BaseModel):
    """The issuer's code, and the verifier and address that the page began with."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    code: Annotated[str, Field(min_length=1, max_length=4000)]
    # RFC 7636, section 4.1.
    code_verifier: Annotated[str, Field(pattern=r"^[A-Za-z0-9._~-]{43,128}$")]
    redirect_uri: Annotated[str, Field(max_length=2000)]


@router.get("/login")
async def describe_login() -> JSONResponse:
    """Return the sign-in address; `issuer` is null where sign-in is not set up and people need a key."""
    sign_in = _sign_in()
    if sign_in is None:
        return JSONResponse({"issuer": None}, headers=_NO_STORE)
    endpoints = await sign_in.endpoints()
    return JSONResponse(
        {
            "issuer": urlsplit(sign_in.issuer).hostname,
            "authorization_endpoint": endpoints.authorization,
            "client_id": sign_in.login.client_id,
            "scope": sign_in.login.scope,
        },
        headers=_NO_STORE,
    )


@router.post("/login")
async def exchange(body: CodeRequest, request: Request) -> JSONResponse:
    """Exchange a code for a token, which clients then send like a key."""
    refuse_other_sites(request)
    sign_in = _sign_in()
    if sign_in is None:
        msg = "Sign-in is not set up on this server."
        raise SettingsError(msg, hint="Its operator can set `login` in the file of ANABRANCH_AUTH.")
    token = await sign_in.token(body.code, body.code_verifier, body.redirect_uri)
    return JSONResponse({"token": token}, headers=_NO_STORE)


def _sign_in() -> AuthorizationCode | None:
    return load_authenticators().sign_in if needs_identity() else None
