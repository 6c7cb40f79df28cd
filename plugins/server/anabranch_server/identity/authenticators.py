"""Finds the user who sent a request from its headers, as the operator's file says."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from ipaddress import ip_address
from pathlib import Path

from pydantic import ValidationError

from anabranch.errors import NotAuthenticatedError, SettingsError
from anabranch.identity.user import User
from anabranch.safety.operator import operator
from anabranch_server.identity.api_keys import is_secret, user_of_key
from anabranch_server.identity.auth_file import ASK, HINT, AuthFile, PersonLimits, ProxySettings, read_auth_file
from anabranch_server.identity.authorization_code import AuthorizationCode
from anabranch_server.identity.tokens_of_issuer import TokenVerifier, known_roles

RawHeaders = Iterable[tuple[str | bytes, str | bytes]]
"""Pairs of text or of ASGI's bytes; a mapping would hide a duplicate header."""


class Authenticators:
    """All ways to authenticate that a file names; `sign_in` is None where the page has no sign-in."""

    def __init__(self, file: AuthFile, folder: Path) -> None:
        """Take the file, and the folder that its paths are relative to.

        Raises:
            MissingExtraError: The file names tokens, and PyJWT is not installed.
        """
        self._keys = file.keys
        self._proxy = file.proxy
        self.limits = file.limits
        self._tokens = TokenVerifier(file.jwt, folder) if file.jwt is not None else None
        self.sign_in: AuthorizationCode | None = None
        if file.jwt is not None and file.jwt.login is not None and self._tokens is not None:
            self.sign_in = AuthorizationCode(file.jwt, file.jwt.login, self._tokens)

    async def identify(self, headers: RawHeaders, client_address: str | None = None) -> User:
        """Return who sent a request; see `identity_of`."""
        found = _Headers(headers)
        # The proxy's headers take precedence over a token that it passes on. If others sent them, the request is
        # refused instead of falling back to the token.
        if self._proxy is not None and found.one(self._proxy.identity) is not None:
            return _user_of_proxy(found, client_address, self._proxy)
        given = _credential(found)
        if given is None:
            msg = "Authentication required: the request has no API key or token."
            raise NotAuthenticatedError(msg, hint="Send it in the header 'Authorization: Bearer ...'.")
        if user := user_of_key(given, self._keys):
            return user
        # A token has three parts separated by dots; our keys have no dot.
        if self._tokens is not None and given.count(".") == 2:
            return await self._tokens.user_of(given)
        raise NotAuthenticatedError("The API key is unknown.", hint="Ask the operator of this server for one.")


def limits_of(user: User) -> PersonLimits:
    """Return somebody's limits, by the file in ANABRANCH_AUTH.

    Raises:
        SettingsError: As in `load_authenticators`.
    """
    found = load_authenticators().limits
    return found.of(user) if found is not None else PersonLimits()


def refuse_limits() -> None:
    """Refuse a file with limits, because this process does not enforce any.

    Raises:
        SettingsError: The file sets limits; or as in `load_authenticators`.
    """
    if load_authenticators().limits is not None:
        msg = "The file of ANABRANCH_AUTH sets limits, which only `anabranch serve` enforces."
        raise SettingsError(msg, hint="Give this server a file without `limits`, or use `anabranch serve`.")


async def identity_of(headers: RawHeaders, client_address: str | None = None) -> User:
    """Return who sent a request, by the file in ANABRANCH_AUTH.

    Args:
        headers: The request's headers as pairs: `request.headers.raw`, or the `items()` of a mapping.
        client_address: The IP address at the other end of the connection, for a proxy that is known by it.

    Raises:
        NotAuthenticatedError: The credentials are missing or invalid; a server answers 401.
        OperationError: A token issuer's keys cannot be fetched; a server answers 503.
        SettingsError: The file is missing or invalid.
    """
    return await load_authenticators().identify(headers, client_address)


def load_authenticators() -> Authenticators:
    """Return the authenticators of the file in ANABRANCH_AUTH, which is read once per process.

    Raises:
        SettingsError: The file is not named, cannot be read, or is invalid.
        MissingExtraError: The file names tokens, and PyJWT is not installed.
    """
    path = operator().auth
    if not path or not path.strip():
        raise SettingsError("ANABRANCH_AUTH names no file, so nobody can be authenticated.", hint=HINT)
    return _load(path)


@lru_cache(maxsize=4)
def _load(path: str) -> Authenticators:
    file = Path(path).absolute()
    return Authenticators(read_auth_file(file), file.parent)


class _Headers:
    """Headers by lower-case name."""

    def __init__(self, headers: RawHeaders) -> None:
        self._found: dict[str, list[str]] = {}
        for name, value in headers:
            # HTTP servers decode headers as Latin-1, which accepts every byte.
            key = name.decode("latin-1") if isinstance(name, bytes) else name
            text = value.decode("latin-1") if isinstance(value, bytes) else value
            self._found.setdefault(key.lower(), []).append(text)

    def one(self, name: str) -> str | None:
        """Return a header.

        Raises:
            NotAuthenticatedError: The header came twice: one may be the caller's and one the proxy's.
        """
        values = self._found.get(name.lower(), [])
        if len(values) > 1:
            raise NotAuthenticatedError(f"The header {name!r} came twice.", hint="Send it once.")
        return values[0].strip() if values else None


def _credential(headers: _Headers) -> str | None:
    """Return the key or the token of a request; LangGraph's SDK sends its `api_key` as `x-api-key`."""
    scheme, _, given = (headers.one("authorization") or "").partition(" ")
    # Any other scheme is for a proxy in between.
    return (given.strip() if scheme.lower() == "bearer" else headers.one("x-api-key")) or None


def _user_of_proxy(headers: _Headers, client_address: str | None, proxy: ProxySettings) -> User:
    """Return the user whom the proxy names; every proof of the proxy that the file requires has to hold."""
    if proxy.addresses and not _is_within(client_address, proxy):
        raise NotAuthenticatedError("The request does not come from the proxy.", hint="Go through the proxy.")
    if proxy.secret_header is not None and proxy.secret_sha256 is not None:
        given = headers.one(proxy.secret_header)
        if given is None or not is_secret(given, proxy.secret_sha256):
            raise NotAuthenticatedError("The request does not come from the proxy.", hint="Go through the proxy.")
    access, roles = _split_header(headers, proxy.access), _split_header(headers, proxy.roles)
    try:
        return User(
            identity=headers.one(proxy.identity) or "",
            tenant=headers.one(proxy.tenant) if proxy.tenant else None,
            access=tuple(access),
            roles=ASK if proxy.roles is None else known_roles(roles),
        )
    except ValidationError as error:
        msg = "The proxy's headers do not name a valid user."
        raise NotAuthenticatedError(msg, hint="Ask the operator of this server.") from error


def _is_within(client_address: str | None, proxy: ProxySettings) -> bool:
    try:
        address = ip_address(client_address or "")
    except ValueError:
        return False
    # A server that listens on IPv6 sees an IPv4 caller as ::ffff:10.0.0.1.
    address = getattr(address, "ipv4_mapped", None) or address
    return any(address in network for network in proxy.addresses)


def _split_header(headers: _Headers, name: str | None) -> list[str]:
    """Return the items of a comma-separated header."""
    given = headers.one(name) if name is not None else None
    return [word.strip() for word in (given or "").split(",") if word.strip()]
