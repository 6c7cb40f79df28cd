"""Signing in on the page: where the issuer of tokens is, and its code exchanged for a token.

Both are for everybody: whoever signs in has no key yet.
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

_UNKEPT = {"Cache-Control": "no-store"}


class CodeRequest(BaseModel):
    """What the issuer gave to the page, and what the page began with."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    code: Annotated[str, Field(min_length=1, max_length=4000)]
    # RFC 7636, section 4.1.
    code_verifier: Annotated[str, Field(pattern=r"^[A-Za-z0-9._~-]{43,128}$")]
    redirect_uri: Annotated[str, Field(max_length=2000)]


@router.get("/login")
async def where() -> JSONResponse:
    """Say where one signs in; `issuer` is null where that is not set up, and a key is all there is."""
    sign_in = _sign_in()
    if sign_in is None:
        return JSONResponse({"issuer": None}, headers=_UNKEPT)
    endpoints = await sign_in.endpoints()
    return JSONResponse(
        {
            "issuer": urlsplit(sign_in.issuer).hostname,
            "authorization_endpoint": endpoints.authorization,
            "client_id": sign_in.login.client_id,
            "scope": sign_in.login.scope,
        },
        headers=_UNKEPT,
    )


@router.post("/login")
async def exchange(given: CodeRequest, request: Request) -> JSONResponse:
    """Exchange a code for a token, which is then sent as a key is."""
    refuse_other_sites(request)
    sign_in = _sign_in()
    if sign_in is None:
        msg = "Nobody signs in at this server."
        raise SettingsError(msg, hint="The operator sets `login` in the file of ANABRANCH_AUTH.")
    token = await sign_in.token(given.code, given.code_verifier, given.redirect_uri)
    return JSONResponse({"token": token}, headers=_UNKEPT)


def _sign_in() -> AuthorizationCode | None:
    return load_authenticators().sign_in if needs_identity() else None
