"""One person or program that asks: who it is, to whom it belongs, what it may read and do."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from anabranch.errors import NotAllowedError, NotAuthenticatedError, SettingsError
from anabranch.safety.operator import operator

AUTH_USER = "langgraph_auth_user"
"""Where LangGraph's servers put the user into `config["configurable"]`; they take it from no request."""

TENANT = "{tenant}"
"""What stands for the tenant in the operator's ANABRANCH_CORPUS and ANABRANCH_INGEST_ROOT."""

UserRole = Literal["ask", "ingest", "admin"]
ROLES: tuple[UserRole, ...] = get_args(UserRole)
ShortText = Annotated[str, Field(min_length=1, max_length=200)]
# It becomes part of a path: no separator, no dot, and one spelling on file systems that do not tell capitals.
Tenant = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")]
AccessTags = Annotated[tuple[ShortText, ...], Field(max_length=100)]


UPLOADS = ".anabranch/uploads"
"""Folder in the ingest root for files that people send."""


LOCAL = "local"
"""Owner of what is asked where nobody is authenticated: the one person whose machine this is."""


def upload_folder(owner: str = LOCAL) -> str:
    """Return the folder of one person in the ingest root."""
    # A name may be an address or hold a path: two people must not share a folder, nor leave it.
    return f"{UPLOADS}/{hashlib.sha256(owner.encode()).hexdigest()[:16]}"


def ingest_folder(user: User | None) -> Path:
    """Return the folder that uploads are kept in and paths of the ingest graph count from.

    Args:
        user: Who asks; None for the person whose machine this is.

    Raises:
        SettingsError: See `User.place`.
        NotAllowedError: See there.
    """
    folder = operator().ingest_root or "."
    return Path(folder if user is None else user.place(folder, "ANABRANCH_INGEST_ROOT"))


class User(BaseModel):
    """Whoever asks, as an authenticator found them to be.

    Attributes:
        identity: Their name; threads belong to it.
        tenant: The organisation whose corpus they use, None where there is only one.
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
        """Return the user that a server hands to a run, under AUTH_USER: one of ours, or an object with its attributes.

        Raises:
            NotAuthenticatedError: There is none, or it does not say what it may read and do: LangGraph Studio's, or the
                "anonymous" of a server whose authentication could not be loaded.
        """
        if isinstance(found, User):
            return found
        msg = "Nobody is authenticated: this server answers only people whom it knows (ANABRANCH_AUTH)."
        hint = "Send your key or token. The operator: see docs/server.md on several people."
        # Attributes are what a server's code makes; a caller's JSON could only ever become a dict, which has none.
        if not getattr(found, "is_authenticated", True):
            raise NotAuthenticatedError(msg, hint=hint)
        try:
            named: dict[str, Any] = {name: getattr(found, name) for name in ("identity", "access", "roles")}
            return cls(**named, tenant=getattr(found, "tenant", None))
        except (AttributeError, ValidationError) as error:
            raise NotAuthenticatedError(msg, hint=hint) from error

    def as_auth_user(self) -> dict[str, Any]:
        """Return what an authenticator of a LangGraph server returns; `from_server` reads it back in the graph."""
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
        """The name that what is theirs is kept under; two tenants may have people of the same name."""
        return f"{self.tenant or ''}/{self.identity}"

    def require(self, role: UserRole) -> None:
        """Let through whoever has a role.

        Raises:
            NotAllowedError: They have not.
        """
        if not self.roles & {role, "admin"}:
            msg = f"You may not do this: it takes the role {role!r}."
            raise NotAllowedError(msg, hint="Ask the operator of this server.")

    def place(self, address: str, variable: str) -> str:
        """Return an address of the operator's with the tenant filled in.

        Args:
            address: With `{tenant}` where there are several tenants.
            variable: Where it comes from, for the message.

        Raises:
            SettingsError: The user has a tenant, and the address is the same for all: they would share documents.
            NotAllowedError: The address differs by tenant, and the user has none.
        """
        if self.tenant is not None and TENANT not in address:
            msg = f"This user belongs to a tenant, and {variable} does not say where {TENANT} stands."
            raise SettingsError(msg, hint=f"The operator sets it, such as {variable}=/srv/{TENANT}/corpus.")
        if self.tenant is None and TENANT in address:
            msg = "You belong to no tenant, and this server keeps the documents of each apart."
            raise NotAllowedError(msg, hint="Ask the operator of this server.")
        return address.replace(TENANT, self.tenant or "")
