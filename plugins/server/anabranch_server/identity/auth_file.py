"""The file in ANABRANCH_AUTH: who may use a server, by keys, by tokens, or by what a proxy says.

It is read strictly: an unknown field, a field given twice, or no way in at all is an error, and never means "anybody".
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from anabranch.errors import SettingsError
from anabranch.identity.user import AccessTags, ShortText, Tenant, User, UserRole

HINT = "See docs/server.md on several people; `anabranch key new` writes the lines of a key."

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
# Symmetric ones are no choice: with HS256 the issuer's public key would sign tokens (RFC 8725, section 2.1).
Algorithm = Literal[
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"
]  # fmt: skip
Bound = Annotated[int, Field(ge=0, le=1_000_000_000_000)]
Roles = Annotated[frozenset[UserRole], Field(min_length=1)]
ASK: Roles = frozenset({"ask"})


def is_open_to_others(address: str) -> bool:
    """Tell whether others on the way can read and change what goes to an address: plain http beyond this machine."""
    parts = urlsplit(address)
    return parts.scheme == "http" and parts.hostname not in ("127.0.0.1", "::1", "localhost")


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class KeyEntry(_Section):
    """One API key: the SHA-256 of it, and whose it is."""

    identity: ShortText
    sha256: Digest
    tenant: Tenant | None = None
    access: AccessTags = ()
    roles: Roles = ASK


class ClaimNames(_Section):
    """Which claims of a token say what; a dot leads into a claim that is an object (`realm_access.roles`)."""

    identity: ShortText = "sub"
    tenant: ShortText | None = None
    access: ShortText | None = None
    roles: ShortText | None = None


class LoginSettings(_Section):
    """Signing in on the page, by the issuer's authorization code flow with PKCE; a public client, without a secret.

    Attributes:
        client_id: What the issuer knows the page by.
        scope: What the page asks for, with blanks between.
    """

    client_id: ShortText
    scope: ShortText = "openid"


class TokenSettings(_Section):
    """Tokens (JWT) of one issuer.

    Attributes:
        issuer: What `iss` has to be.
        audience: What `aud` has to be or to hold.
        jwks: The issuer's public keys: an https address, or a file beside this one.
        algorithms: Those that a signature may have.
        claims: What says who it is. Without `roles` whoever has a token may ask; without `access` they have no tags.
        leeway: Seconds by which clocks may differ.
        login: How people sign in on the page; without it they bring a token, or a key.
    """

    issuer: ShortText
    audience: ShortText
    jwks: str = Field(min_length=1)
    algorithms: Annotated[tuple[Algorithm, ...], Field(min_length=1)] = ("RS256", "ES256")
    claims: ClaimNames = ClaimNames()
    leeway: int = Field(default=30, ge=0, le=300)
    login: LoginSettings | None = None

    @field_validator("jwks")
    @classmethod
    def _not_on_the_way(cls, jwks: str) -> str:
        if is_open_to_others(jwks):
            raise ValueError("over http whoever is on the way can give keys of their own: use https, or a file")
        return jwks

    @model_validator(mode="after")
    def _can_be_asked(self) -> Self:
        is_address = urlsplit(self.issuer).scheme in ("https", "http")
        if self.login is not None and (not is_address or is_open_to_others(self.issuer)):
            raise ValueError("for `login`, the issuer has to be an https address")
        return self


class ProxySettings(_Section):
    """A proxy that has authenticated the caller, and says so in headers that it takes from nobody else.

    Attributes:
        identity: Header with the name; `tenant`, `access` and `roles` likewise, where there are such.
        addresses: Networks that the proxy connects from.
        secret_header: Header in which the proxy sends a secret.
        secret_sha256: The SHA-256 of that secret.
    """

    identity: ShortText
    tenant: ShortText | None = None
    access: ShortText | None = None
    roles: ShortText | None = None
    addresses: tuple[IPv4Network | IPv6Network, ...] = ()
    secret_header: ShortText | None = None
    secret_sha256: Digest | None = None

    @model_validator(mode="after")
    def _has_proof(self) -> Self:
        if (self.secret_header is None) != (self.secret_sha256 is None):
            raise ValueError("secret_header and secret_sha256 belong together")
        if not self.addresses and self.secret_header is None:
            raise ValueError("without addresses, or a secret, anybody could send these headers")
        if any(network.prefixlen == 0 for network in self.addresses):
            raise ValueError("a network of all addresses proves nothing")
        return self


class PersonLimits(_Section):
    """What one person may use of `anabranch serve`; None for as much as they like. A day is one of UTC.

    Attributes:
        per_minute: Questions, ingests, uploads, new threads and edits that they begin in a minute of the clock.
        questions_a_day: Runs of the graph `answer`.
        tokens_a_day: Tokens of models, sent and written; counted when a run ends, so that the last one may exceed it.
        upload_mb_a_day: Megabytes (2^20 bytes) of files that they send.
        threads: Threads that they have.
        kept_mb: Megabytes of their threads, and of their runs of the last hour.
    """

    per_minute: Bound | None = None
    questions_a_day: Bound | None = None
    tokens_a_day: Bound | None = None
    upload_mb_a_day: Bound | None = None
    # Also where nobody is named, and where nothing is said of limits: a disk has an end.
    threads: Bound | None = 10_000
    kept_mb: Bound | None = 5_000


class LimitSettings(PersonLimits):
    """The limits of everybody, and under `people`, by name, those in which somebody differs."""

    people: Mapping[ShortText, PersonLimits] = {}

    def of(self, user: User) -> PersonLimits:
        """Return the limits of one person; somebody of a tenant is named `tenant/name`."""
        name = user.identity if user.tenant is None else f"{user.tenant}/{user.identity}"
        own = self.people.get(name, PersonLimits())
        return PersonLimits(**{**self.model_dump(exclude={"people"}), **own.model_dump(exclude_unset=True)})


class AuthFile(_Section):
    """Every way in that the file names, at least one, and what those who come in may use."""

    keys: tuple[KeyEntry, ...] = ()
    jwt: TokenSettings | None = None
    proxy: ProxySettings | None = None
    limits: LimitSettings | None = None

    @model_validator(mode="after")
    def _has_a_way_in(self) -> Self:
        if not self.keys and self.jwt is None and self.proxy is None:
            raise ValueError("it names nobody: give keys, jwt or proxy")
        if len({key.sha256 for key in self.keys}) != len(self.keys):
            raise ValueError("one key stands for two people")
        known = {key.identity if key.tenant is None else f"{key.tenant}/{key.identity}" for key in self.keys}
        others = set(self.limits.people if self.limits is not None else ()) - known
        # Whom an issuer or a proxy will name cannot be known here.
        if others and self.jwt is None and self.proxy is None:
            raise ValueError(f"limits.people names {min(others)!r}, who has no key")
        return self


def read_auth_file(path: Path) -> AuthFile:
    """Return what the file says.

    Raises:
        SettingsError: It cannot be read, or does not say it rightly. Values are not repeated: they may be secrets.
    """
    try:
        # Not safe_load: of a field that is given twice it would keep the last.
        found = yaml.load(path.read_text(encoding="utf-8"), _Loader)  # noqa: S506  # a SafeLoader
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        told = getattr(error, "strerror", None) or getattr(error, "problem", None) or "it is no YAML"
        raise SettingsError(f"The file of ANABRANCH_AUTH, {path}, cannot be read: {told}.", hint=HINT) from error
    try:
        return AuthFile.model_validate({} if found is None else found)
    except ValidationError as error:
        told = "; ".join(_problem(item["loc"], item["msg"]) for item in error.errors(include_input=False)[:5])
        raise SettingsError(f"The file of ANABRANCH_AUTH, {path}, cannot be used: {told}.", hint=HINT) from error


def _problem(place: tuple[int | str, ...], message: str) -> str:
    where = ".".join(map(str, place))
    return f"{where}: {message}" if where else message


class _Loader(yaml.SafeLoader):  # type: ignore[misc]  # PyYAML has no types
    """Safe YAML in which a mapping names each field once."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Hashable, Any]:  # noqa: ANN401  # untyped there
        names = [key.value for key, _ in node.value]
        for name in names:
            if names.count(name) > 1:
                raise yaml.constructor.ConstructorError(problem=f"{name!r} is given twice in one place")
        found: dict[Hashable, Any] = super().construct_mapping(node, deep)
        return found
