"""The file in ANABRANCH_AUTH: who may use a server, by keys, by tokens, or through a proxy.

It is read strictly: an unknown field, a duplicate field, or an empty file is an error, and never means "anybody".
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
# No symmetric ones: with HS256 the issuer's public key would sign tokens (RFC 8725, section 2.1).
Algorithm = Literal[
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"
]  # fmt: skip
Bound = Annotated[int, Field(ge=0, le=1_000_000_000_000)]
Roles = Annotated[frozenset[UserRole], Field(min_length=1)]
ASK: Roles = frozenset({"ask"})


def is_open_to_others(address: str) -> bool:
    """Tell whether an address uses plain http beyond this machine, which others can read and change."""
    parts = urlsplit(address)
    return parts.scheme == "http" and parts.hostname not in ("127.0.0.1", "::1", "localhost")


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class KeyEntry(_Section):
    """One API key: its SHA-256, and its owner."""

    identity: ShortText
    sha256: Digest
    tenant: Tenant | None = None
    access: AccessTags = ()
    roles: Roles = ASK


class ClaimNames(_Section):
    """Names of a token's claims; a dot leads into a claim that is an object (`realm_access.roles`)."""

    identity: ShortText = "sub"
    tenant: ShortText | None = None
    access: ShortText | None = None
    roles: ShortText | None = None


class LoginSettings(_Section):
    """Signing in on the page, by the issuer's authorization code flow with PKCE; a public client, without a secret.

    Attributes:
        client_id: The page's id at the issuer.
        scope: The scopes that the page requests, separated by spaces.
    """

    client_id: ShortText
    scope: ShortText = "openid"


class TokenSettings(_Section):
    """Tokens (JWT) of one issuer.

    Attributes:
        issuer: Required value of `iss`.
        audience: Value that `aud` has to be or to hold.
        jwks: The issuer's public keys: an https address, or a file beside this one.
        algorithms: Accepted signature algorithms.
        claims: Names of the claims. Without `roles` all users may only ask; without `access` they have no tags.
        leeway: Seconds by which clocks may differ.
        login: How people sign in on the page; without it they bring a token or a key.
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
    def _uses_https(cls, jwks: str) -> str:
        if is_open_to_others(jwks):
            raise ValueError("over plain http others could replace the keys: use https, or a file")
        return jwks

    @model_validator(mode="after")
    def _has_https_issuer(self) -> Self:
        is_address = urlsplit(self.issuer).scheme in ("https", "http")
        if self.login is not None and (not is_address or is_open_to_others(self.issuer)):
            raise ValueError("for `login`, the issuer has to be an https address")
        return self


class ProxySettings(_Section):
    """A proxy that authenticates callers and names them in headers, which it must not accept from outside.

    Attributes:
        identity: Header with the name; `tenant`, `access` and `roles` likewise, if set.
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
    """What one person may use of `anabranch serve`; None means no limit. Days are in UTC.

    Attributes:
        per_minute: Questions, ingests, uploads, new threads and edits that they begin in a clock minute.
        questions_a_day: Runs of the graph `answer`.
        tokens_a_day: Prompt and output tokens; counted when a run ends, so the last run may exceed the limit.
        upload_mb_a_day: Megabytes (2^20 bytes) of files that they send.
        threads: Number of their threads.
        kept_mb: Megabytes of their threads, and of their runs of the last hour.
    """

    per_minute: Bound | None = None
    questions_a_day: Bound | None = None
    tokens_a_day: Bound | None = None
    upload_mb_a_day: Bound | None = None
    # These two have defaults even without an ANABRANCH_AUTH file, because a disk can fill up.
    threads: Bound | None = 10_000
    kept_mb: Bound | None = 5_000


class LimitSettings(PersonLimits):
    """Everybody's limits, and under `people` the exceptions by name."""

    people: Mapping[ShortText, PersonLimits] = {}

    def of(self, user: User) -> PersonLimits:
        """Return the limits of one person; people of a tenant are named `tenant/name`."""
        name = user.identity if user.tenant is None else f"{user.tenant}/{user.identity}"
        own = self.people.get(name, PersonLimits())
        return PersonLimits(**{**self.model_dump(exclude={"people"}), **own.model_dump(exclude_unset=True)})


class AuthFile(_Section):
    """The file's contents: at least one way to authenticate, and the limits of people."""

    keys: tuple[KeyEntry, ...] = ()
    jwt: TokenSettings | None = None
    proxy: ProxySettings | None = None
    limits: LimitSettings | None = None

    @model_validator(mode="after")
    def _has_a_way_in(self) -> Self:
        if not self.keys and self.jwt is None and self.proxy is None:
            raise ValueError("it names nobody: give keys, jwt or proxy")
        if len({key.sha256 for key in self.keys}) != len(self.keys):
            raise ValueError("two people have the same key")
        known = {key.identity if key.tenant is None else f"{key.tenant}/{key.identity}" for key in self.keys}
        others = set(self.limits.people if self.limits is not None else ()) - known
        # An issuer or a proxy may name people that are not known here.
        if others and self.jwt is None and self.proxy is None:
            raise ValueError(f"limits.people names {min(others)!r}, who has no key")
        return self


def read_auth_file(path: Path) -> AuthFile:
    """Return what the file says.

    Raises:
        SettingsError: The file cannot be read or is invalid. Its values are not repeated: they may be secrets.
    """
    try:
        # `safe_load` would silently keep the last of two equal fields.
        found = yaml.load(path.read_text(encoding="utf-8"), _Loader)  # noqa: S506  # a SafeLoader
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        reason = getattr(error, "strerror", None) or getattr(error, "problem", None) or "it is not YAML"
        raise SettingsError(f"The file of ANABRANCH_AUTH, {path}, cannot be read: {reason}.", hint=HINT) from error
    try:
        return AuthFile.model_validate({} if found is None else found)
    except ValidationError as error:
        reason = "; ".join(_problem(item["loc"], item["msg"]) for item in error.errors(include_input=False)[:5])
        raise SettingsError(f"The file of ANABRANCH_AUTH, {path}, cannot be used: {reason}.", hint=HINT) from error


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
