"""What the operator of the process sets, and no caller can: secrets, and what callers may not choose."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from types import MappingProxyType
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator

from anabranch.errors import SettingsError
from anabranch.safety.reach import PLACE, fields_with

PREFIX = "ANABRANCH_"


@cache
def environment() -> Mapping[str, str]:
    """Return the `ANABRANCH_` variables by their names in small letters, without the prefix.

    This is the one place where they are read, once per process: what is set later counts for nothing.
    """
    found = {name.upper(): value for name, value in os.environ.items()}
    return MappingProxyType(
        {name.removeprefix(PREFIX).lower(): value for name, value in found.items() if name.startswith(PREFIX)}
    )


def set_variables(values: Mapping[str, str]) -> None:
    """Put what a command line chose in the place of variables, for this process and those that it starts.

    Args:
        values: By their names in small letters, without the prefix.
    """
    os.environ.update({f"{PREFIX}{name.upper()}": value for name, value in values.items()})
    # What was read before is remembered for good.
    environment.cache_clear()


class Operator(BaseModel):
    """What this process allows its callers.

    Attributes:
        lock: Names of Context fields that a caller may not set; their values come from the environment alone.
        unlock: Names of Context fields that a caller may set though a server that tells its callers apart keeps those
            of their kind to itself (`anabranch.safety.reach`).
        ingest_root: Folder that the ingest graph may read from, relative to where the process started; None for nothing
            but what its callers have sent.
        data: Where `anabranch serve` keeps conversations: a folder, or the address of a PostgreSQL database; None:
            beside the corpus.
        auth: File that says who may use this server (`anabranch_server.identity`); None where one person uses it alone.
        audit: File of the audit log (`anabranch.identity.audit_log`); None for none.
        audit_questions: Whether it holds the words of questions.
        feedback: Where feedback is kept if the page is served by another LangGraph server: a folder, or the address of
            a PostgreSQL database; None: nowhere.
        base_url: The model server that `base_url_key` is for.
        replicas: Folder for copies of published corpora.
        replica_poll: Seconds after which a published corpus is looked at again.
        replica_age: Seconds for which a copy answers that could not be compared with what is published.
        base_url_key: Key for it; read where it is used and nowhere else, never part of state, repr or logs.
    """

    # Without the input, among which a key may be.
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
    replicas: Annotated[str, PLACE] = ".anabranch/replicas"
    replica_poll: Annotated[float, Field(ge=0)] = 30.0
    # A revoked tag counts nowhere after this time and the time between two publications: a quarter of an hour is long
    # enough for a store that is restarted, and short enough to be waited for.
    replica_age: Annotated[float, Field(gt=0)] = 900.0
    base_url_key: SecretStr | None = None

    @field_validator("lock", "unlock", mode="before")
    @classmethod
    def _listed(cls, value: object) -> object:
        # A variable has text alone.
        return json.loads(value) if isinstance(value, str) else value


def operator() -> Operator:
    """Return what the environment says.

    Raises:
        SettingsError: A variable cannot be read; a lock that cannot be read locks everybody out, rather than nobody.
    """
    try:
        return Operator.model_validate(dict(environment()))
    except ValidationError as error:
        names = ", ".join(f"{PREFIX}{str(item['loc'][0]).upper()}" for item in error.errors(include_input=False))
        msg = f"The environment of this process cannot be used: {names}."
        raise SettingsError(
            msg,
            hint="ANABRANCH_LOCK and ANABRANCH_UNLOCK are lists written as JSON, such as "
            '["corpus"]; times are numbers of seconds.',
        ) from error


def own_places() -> tuple[str, ...]:
    """Return the files, folders and addresses that are the operator's own: no caller is given what is there."""
    own = operator()
    return tuple(place for name in fields_with(Operator, PLACE) if (place := getattr(own, name)))


_as_operator: ContextVar[bool] = ContextVar("anabranch_as_operator", default=False)


@contextmanager
def as_operator() -> Iterator[None]:
    """Act as the person who owns this machine: within it nobody is asked who they are, though ANABRANCH_AUTH is set.

    The command line does so: whoever can start it can read the corpus's files as well.
    """
    token = _as_operator.set(True)
    try:
        yield
    finally:
        _as_operator.reset(token)


def needs_identity() -> bool:
    """Tell whether a run has to say who asks.

    Set and empty counts as set: a variable that somebody forgot to fill in must not open a server to everybody.
    """
    return operator().auth is not None and not _as_operator.get()


def key_for(base_url: str | None) -> str | None:
    """Return the operator's key for a model server, None for any other than the operator's own.

    An address may come from a caller, and the key must not follow it there. OPENAI_API_KEY never does.
    """
    own = operator()
    if own.base_url_key is None or own.base_url is None or base_url is None:
        return None
    same = base_url.rstrip("/") == own.base_url.rstrip("/")
    return own.base_url_key.get_secret_value() if same else None
