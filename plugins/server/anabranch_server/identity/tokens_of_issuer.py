"""Verifies an issuer's tokens (JWT, RFC 7519): signature, audience, expiry and claims."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pydantic import ValidationError

from anabranch.errors import MissingExtraError, NotAuthenticatedError
from anabranch.identity.user import ROLES, User, UserRole
from anabranch_server.identity.auth_file import ASK, TokenSettings
from anabranch_server.identity.signing_keys import SigningKeys

if TYPE_CHECKING:
    import jwt

HINT = "Get a new token."

LAST_SECOND = 253_402_300_799
"""The last second of the year 9999: what comes later is no date."""


class TokenVerifier:
    """Verifies tokens of one issuer."""

    def __init__(self, settings: TokenSettings, folder: Path, *, keys: SigningKeys | None = None) -> None:
        """Take the issuer; its keys are fetched with the first token.

        Raises:
            MissingExtraError: PyJWT, or the package of algorithms that it needs, is not installed.
        """
        try:
            import jwt
            import jwt.algorithms
        except ImportError as error:
            raise MissingExtraError("Reading tokens (`jwt` in ANABRANCH_AUTH)", "serve") from error
        if not jwt.algorithms.has_crypto:
            raise MissingExtraError("Reading tokens (`jwt` in ANABRANCH_AUTH)", "serve")
        self._settings = settings
        self._keys = keys or SigningKeys(settings.jwks, folder)

    async def user_of(self, token: str) -> User:
        """Return the user of a token.

        Raises:
            NotAuthenticatedError: The token is invalid, or its claims do not name a valid user.
            OperationError: The issuer's keys cannot be fetched.
        """
        import jwt

        try:
            key = await self._key_of(token)
            claims = jwt.decode(
                token,
                key,
                algorithms=[key.algorithm_name],
                audience=self._settings.audience,
                issuer=self._settings.issuer,
                leeway=self._settings.leeway,
                options={"require": ["exp", "iss", "aud"]},
            )
        except jwt.PyJWTError as error:
            msg = f"The token is refused: {_reason(error)}."
            raise NotAuthenticatedError(msg, hint=HINT) from error
        # PyJWT takes whatever Python can make a whole number of.
        if not all(_is_date(claims[name]) for name in ("exp", "nbf", "iat") if name in claims):
            raise NotAuthenticatedError("The token is refused: one of its times is no date.", hint=HINT)
        return self._user(claims)

    async def _key_of(self, token: str) -> jwt.PyJWK:
        """Return the token's key, once its algorithm was found to be allowed.

        PyJWK refuses an algorithm that does not fit the kind of key (RFC 8725, 3.1).
        """
        import jwt

        header = jwt.get_unverified_header(token)
        algorithm = header.get("alg")
        if algorithm not in self._settings.algorithms:
            raise jwt.InvalidAlgorithmError("its algorithm is not allowed")
        found = await self._keys.find(header.get("kid"))
        if found is None or found.get("alg", algorithm) != algorithm:
            raise jwt.InvalidKeyError("the issuer has no such key")
        return jwt.PyJWK(found, algorithm=algorithm)

    def _user(self, claims: Mapping[str, Any]) -> User:
        names = self._settings.claims
        try:
            return User(
                identity=claim(claims, names.identity),
                tenant=claim(claims, names.tenant),
                access=tuple(_words(claim(claims, names.access))),
                roles=ASK if names.roles is None else known_roles(_words(claim(claims, names.roles))),
            )
        except (ValidationError, TypeError) as error:
            msg = "The token is refused: its claims do not name a valid user."
            raise NotAuthenticatedError(msg, hint="Ask the operator of this server.") from error


def claim(claims: Mapping[str, Any], name: str | None) -> Any:  # noqa: ANN401  # whatever an issuer writes
    """Return a claim by its name, or by a dotted path; None where there is none."""
    if name is None or name in claims:
        return claims.get(name or "")
    found: Any = claims
    for part in name.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def known_roles(names: Iterable[str]) -> frozenset[UserRole]:
    """Return the roles that exist here; issuers also list those of other programs."""
    given = set(names)
    return frozenset(role for role in ROLES if role in given)


def _is_date(value: object) -> bool:
    """Tell whether a value is a time as tokens have it: a number of seconds since 1970, of no other type."""
    return type(value) in (int, float) and 0 <= cast("float", value) <= LAST_SECOND


def _words(value: Any) -> list[str]:  # noqa: ANN401  # whatever an issuer writes
    """Return a list of names; a text is one name, because splitting `not hr` at spaces would yield `hr`.

    Raises:
        TypeError: The value is neither a list of texts nor a text.
    """
    if value is None:
        return []
    if isinstance(value, str):
        return [value]
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return value
    raise TypeError("not a list of names")


def _reason(error: jwt.PyJWTError) -> str:
    """Describe an error without repeating the token or a key."""
    import jwt

    reasons: dict[type[jwt.PyJWTError], str] = {
        jwt.ExpiredSignatureError: "it has expired",
        jwt.ImmatureSignatureError: "it is not valid yet",
        jwt.InvalidAudienceError: "it is for another audience",
        jwt.InvalidIssuerError: "another issuer issued it",
        jwt.InvalidAlgorithmError: "its algorithm is not allowed",
        jwt.InvalidKeyError: "the issuer has no such key",
        jwt.InvalidSignatureError: "its signature is wrong",
        jwt.MissingRequiredClaimError: "a claim is missing: exp, iss or aud",
    }
    return next((reason for kind, reason in reasons.items() if isinstance(error, kind)), "it cannot be read")
