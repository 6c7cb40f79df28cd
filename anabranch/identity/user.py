"""A user, a person or a program: their identity, tenant, access tags and roles."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from anabranch.errors import NotAllowedError, NotAuthenticatedError, SettingsError
from anabranch.safety.operator import operator

AUTH_USER = "langgraph_auth_user"
"""The key under which LangGraph servers put the user into `config["configurable"]`; no request can set it."""

TENANT = "{tenant}"
"""The placeholder for the tenant in ANABRANCH_CORPUS and ANABRANCH_INGEST_ROOT."""

UserRole = Literal["ask", "ingest", "admin"]
ROLES: tuple[UserRole, ...] = get_args(UserRole)
ShortText = Annotated[str, Field(min_length=1, max_length=200)]
# It becomes part of a path: no separator, no dot, and no capitals, which some file systems do not distinguish.
Tenant = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")]
AccessTags = Annotated[tuple[ShortText, ...], Field(max_length=100)]


UPLOADS = ".anabranch/uploads"
"""Folder in the ingest root for uploaded files."""


LOCAL = "local"
"""The owner of everything where users do not authenticate."""


def upload_folder(owner: str = LOCAL) -> str:
    """Return the upload folder of an owner in the ingest root."""
    # Hashed, because a name may contain a path: an owner must not leave or share their folder.
    return f"{UPLOADS}/{hashlib.sha256(owner.encode()).hexdigest()[:16]}"


def ingest_folder(user: User | None) -> Path:
    """Return the ingest root, which contains the uploads and to which paths of the ingest graph are relative.

    Args:
        user: The caller; None for the local user.

    Raises:
        SettingsError: See `User.place`.
        NotAllowedError: See there.
    """
    folder = operator().ingest_root or "."
    return Path(folder if user is None else user.place(folder, "ANABRANCH_INGEST_ROOT"))


class User(BaseModel):
    """A user as an authenticator describes them.

    Attributes:
        identity: Their name; threads belong to it.
        tenant: The organisation whose corpus they use, None if there is only one.
        access: Access tags: which tagged documents they may read.
        roles: What they may do: `ask`, `ingest`, or `admin`, which is both, and ingesting under any tags.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    identity: ShortText
    tenant: Tenant | None = None
    access: AccessTags = ()
    roles: frozenset[UserRole] = frozenset()

    @classmethod
    def from_server(cls, found: object) -> User:
        """Return the user that a server passes to a run under AUTH_USER: a User, or an object with its attributes.

        Raises:
            NotAuthenticatedError: There is none, or one without access tags and roles: LangGraph Studio's user, or the
                "anonymous" user of a server that could not load its authentication.
        """
        if isinstance(found, User):
            return found
        msg = "Authentication required: send an API key or token."
        hint = "The operator of this server issues them; see docs/server.md."
        # Only a server's code can create attributes; a caller's JSON becomes a dict, which has none.
        if not getattr(found, "is_authenticated", True):
            raise NotAuthenticatedError(msg, hint=hint)
        try:
            values: dict[str, Any] = {name: getattr(found, name) for name in ("identity", "access", "roles")}
            return cls(**values, tenant=getattr(found, "tenant", None))
        except (AttributeError, ValidationError) as error:
            raise NotAuthenticatedError(msg, hint=hint) from error

    def as_auth_user(self) -> dict[str, Any]:
        """Return the user as a LangGraph authenticator returns it; `from_server` reads it back in the graph."""
        roles = sorted(self.roles)
        return {
            "identity": self.identity,
            "display_name": self.identity,
            "is_authenticated": True,
            "permissions": roles,
            "tenant": self.tenant,
            "access": list(self.access),
            "roles": roles,
        }

    @property
    def owner(self) -> str:
        """The name that owns their threads and files; two tenants may have users of the same name."""
        return f"{self.tenant or ''}/{self.identity}"

    def require(self, role: UserRole) -> None:
        """Check that the user has a role.

        Raises:
            NotAllowedError: They do not.
        """
        if not self.roles & {role, "admin"}:
            msg = f"You may not do this: it needs the role {role!r}."
            raise NotAllowedError(msg, hint="Ask the operator of this server.")

    def place(self, address: str, variable: str) -> str:
        """Return the operator's address with the tenant filled in.

        Args:
            address: With `{tenant}` where there are several tenants.
            variable: The environment variable that it comes from, for the message.

        Raises:
            SettingsError: The user has a tenant, and the address is the same for all: they would share documents.
            NotAllowedError: The address differs by tenant, and the user has none.
        """
        if self.tenant is not None and TENANT not in address:
            msg = f"This user belongs to a tenant, but {variable} does not contain {TENANT}."
            raise SettingsError(msg, hint=f"The operator must set it, for example {variable}=/srv/{TENANT}/corpus.")
        if self.tenant is None and TENANT in address:
            msg = "You belong to no tenant, and this server has documents only for tenants."
            raise NotAllowedError(msg, hint="Ask the operator of this server.")
        return address.replace(TENANT, self.tenant or "")
