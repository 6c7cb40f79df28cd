"""The operator's settings of a process, which callers cannot change: secrets and locks."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator

from anabranch.errors import SettingsError
from anabranch.safety.reach import PLACE, fields_with

PREFIX = "ANABRANCH_"


@cache
def environment() -> Mapping[str, str]:
    """Return the `ANABRANCH_` variables by lower-case name, without the prefix.

    They are read here alone, once per process: later changes have no effect.
    """
    found = {name.upper(): value for name, value in os.environ.items()}
    return MappingProxyType(
        {name.removeprefix(PREFIX).lower(): value for name, value in found.items() if name.startswith(PREFIX)}
    )


def read_variable(name: str) -> str:
    """Return one variable as it is now, by its lower-case name; reading it leaves the others unread."""
    return os.environ.get(f"{PREFIX}{name.upper()}", "")


def set_variables(values: Mapping[str, str]) -> None:
    """Set variables from a command line, for this process and those that it starts.

    Args:
        values: The values by lower-case name, without the prefix.
    """
    os.environ.update({f"{PREFIX}{name.upper()}": value for name, value in values.items()})
    environment.cache_clear()


class Operator(BaseModel):
    """What this process allows its callers.

    Attributes:
        lock: Names of Context fields that a caller may not set; their values come from the environment.
        unlock: Names of Context fields that users may set, though such fields are locked (`anabranch.safety.reach`).
        ingest_root: Folder that the ingest graph may read, relative to where the process started; None: only uploads.
        data: Where `anabranch serve` keeps conversations: a folder or a PostgreSQL address; None: beside the corpus.
        auth: File with the users of this server (`anabranch_server.identity`); None without authentication.
        audit: File of the audit log (`anabranch.identity.audit_log`); None for none.
        audit_questions: Whether the audit log holds the words of questions.
        feedback: Where another LangGraph server keeps feedback: a folder or a PostgreSQL address; None: nowhere.
        base_url: The model server that `base_url_key` is for.
        embedder: The embedder of new corpora, where their first ingest names none; empty for the bundled one.
        replicas: Folder for copies of published corpora.
        replica_poll: Seconds after which a published corpus is checked for changes.
        replica_age: Seconds for which a copy may answer without a check.
        base_url_key: Key for `base_url`; never part of state, repr or logs.
    """

    # Inputs are hidden, because one may be a key.
    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)

    lock: tuple[str, ...] = ()
    unlock: tuple[str, ...] = ()
    ingest_root: str | None = None
    data: Annotated[str | None, PLACE] = None
    auth: Annotated[str | None, PLACE] = None
    audit: Annotated[str | None, PLACE] = None
    audit_questions: bool = False
    feedback: Annotated[str | None, PLACE] = None
    base_url: str | None = None
    embedder: str = ""
    replicas: Annotated[str, PLACE] = ".anabranch/replicas"
    replica_poll: Annotated[float, Field(ge=0)] = 30.0
    # A revoked tag has no effect after this time and the time between two publications. A quarter of an hour is long
    # enough to restart a store, and short enough to wait for.
    replica_age: Annotated[float, Field(gt=0)] = 900.0
    base_url_key: SecretStr | None = None

    @field_validator("lock", "unlock", mode="before")
    @classmethod
    def _listed(cls, value: object) -> object:
        # Variables hold text.
        return json.loads(value) if isinstance(value, str) else value


def operator() -> Operator:
    """Return the operator's settings from the environment.

    Raises:
        SettingsError: A variable cannot be read; an unreadable lock must not leave everything open.
    """
    try:
        return _read_operator(frozenset(environment().items()))
    except ValidationError as error:
        names = ", ".join(f"{PREFIX}{str(item['loc'][0]).upper()}" for item in error.errors(include_input=False))
        msg = f"These environment variables cannot be used: {names}."
        raise SettingsError(
            msg,
            hint="ANABRANCH_LOCK and ANABRANCH_UNLOCK are lists written as JSON, such as "
            '["corpus"]; times are numbers of seconds.',
        ) from error


@lru_cache(maxsize=4)
def _read_operator(variables: frozenset[tuple[str, str]]) -> Operator:
    """Return the operator's settings in these variables. Owner: this module; every step of a turn asks for them."""
    return Operator.model_validate(dict(variables))


def own_places() -> tuple[str, ...]:
    """Return the operator's own files, folders and addresses, whose content no caller may get."""
    own = operator()
    return tuple(place for name in fields_with(Operator, PLACE) if (place := getattr(own, name)))


_as_operator: ContextVar[bool] = ContextVar("anabranch_as_operator", default=False)


@contextmanager
def as_operator() -> Iterator[None]:
    """Act as the operator, without authentication even if ANABRANCH_AUTH is set.

    The command line does so, because whoever can start it can read the corpus's files, too.
    """
    token = _as_operator.set(True)
    try:
        yield
    finally:
        _as_operator.reset(token)


def needs_identity() -> bool:
    """Tell whether a run needs an authenticated user.

    An empty ANABRANCH_AUTH counts as set, so that a forgotten value does not open a server to everybody.
    """
    return operator().auth is not None and not _as_operator.get()


def key_for(base_url: str | None) -> str | None:
    """Return the operator's key for the operator's model server, None for any other.

    An address may come from a caller, who must not get the key. OPENAI_API_KEY is never sent to a `base_url`.
    """
    own = operator()
    if own.base_url_key is None or own.base_url is None or base_url is None:
        return None
    same = base_url.rstrip("/") == own.base_url.rstrip("/")
    return own.base_url_key.get_secret_value() if same else None
