"""Which settings are in force: those of the call, the thread's, the graph's, the environment's, the defaults."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, get_origin

from pydantic import BaseModel, ValidationError

from anabranch.agent.nodes.settings import PRIVATE, REACHING, Context
from anabranch.agent.nodes.support.caller import caller, for_user, hold_to_user
from anabranch.agent.nodes.support.checked_settings import MAX_PROBLEMS
from anabranch.agent.nodes.support.extension_names import OBJECTS
from anabranch.agent.nodes.support.graph_bindings import bindings_in_force
from anabranch.errors import SettingsError
from anabranch.identity.user import User, UserRole
from anabranch.registry import OBJECT
from anabranch.safety.operator import environment, needs_identity, operator

if TYPE_CHECKING:
    # It takes a second to import, which `anabranch ingest` has no use for.
    from langgraph.runtime import Runtime


def settle(
    settings: Mapping[str, Any] | None, runtime: Runtime[Context] | None, *, role: UserRole | None = "ask"
) -> Context:
    """Return the choices in force in a step.

    A resumed or forked run often comes without a context; it must go on with the corpus and the model it began with.
    As a subgraph this graph may run under a context of somebody else's: that one chooses nothing here.

    Args:
        settings: What the turn began with, from the thread.
        runtime: Holds what this call gives.
        role: What whoever asks needs, where people have to say who they are; None for what opens no documents.

    Raises:
        UserError: As `in_force`.
    """
    given = runtime.context if runtime is not None else None
    return in_force(given if isinstance(given, Context) else None, settings, role=role)


def in_force(
    given: Context | None = None, settings: Mapping[str, Any] | None = None, *, role: UserRole | None = "ask"
) -> Context:
    """Return what was given, over what the turn began with, over what the graph was built with, and so on.

    Last come the environment and the defaults.

    Where ANABRANCH_AUTH is set, access tags and the corpus are those of the authenticated user, and nothing that a
    caller gives, or a thread holds, does more than leave out some of the tags.

    Raises:
        SettingsError: A field that the operator locked was given, or what the thread or the environment holds is not
            valid. The message says which, and quotes no value: it may not be the caller's.
        NotAuthenticatedError: ANABRANCH_AUTH is set, and the run has no user.
        NotAllowedError: The user lacks the role, or an access tag that was asked for.
    """
    user = caller(required=role is not None)
    if user is not None and role is not None:
        user.require(role)
    explicit = given.explicit if given is not None else {}
    if not isinstance(settings, Mapping | None):
        msg = "The settings kept in this thread cannot be used: they are no mapping of names to values."
        raise SettingsError(msg, hint="Start a new thread.")
    remembered = {str(name): value for name, value in (settings or {}).items() if name not in PRIVATE}
    operators = operators_for(user, remembered)
    try:
        context = _context({**operators.explicit, **remembered, **explicit})
    except ValidationError as error:
        raise _unusable(error, {*remembered}) from error
    # After the thread's values: its state may have been edited to say something else.
    _refuse_changed(context, operators, locked())
    if user is not None:
        hold_to_user(context, user)
    context._explicit, context._user = frozenset(explicit), user  # the class and its functions are one unit
    return context


def operators_for(user: User | None, remembered: dict[str, Any] | None = None) -> Context:
    """Return the operator's settings as they are for one person, who has chosen nothing; None: for whoever is here.

    Args:
        user: Who asks.
        remembered: What the thread holds; objects given in code are taken out of it where the graph has its own.

    Raises:
        SettingsError: The environment is not valid.
        NotAllowedError: They belong to no tenant where there are several.
    """
    try:
        # Made first and on its own: what is wrong in the environment is not the caller's mistake.
        operators = _context({**_environment(), **_bound({} if remembered is None else remembered)})
    except ValidationError as error:
        raise _unusable(error, set()) from error
    return operators if user is None else for_user(operators, user)


def _context(values: Mapping[str, Any]) -> Context:
    """Return settings that are not all the caller's.

    Raises:
        pydantic.ValidationError: One cannot be used. An error of the class's own would repeat its value.
    """
    context = Context.__new__(Context)
    BaseModel.__init__(context, **values)
    return context


def _bound(remembered: dict[str, Any]) -> Mapping[str, Any]:
    """Return the settings that the graph was built with; a thread that was begun with its objects goes on with them."""
    settings = bindings_in_force.get().settings
    for name in OBJECTS:
        if not isinstance(settings.get(name), str | None) and str(remembered.get(name)).startswith(OBJECT):
            del remembered[name]
    return settings


def reader_of(context: Context) -> str:
    """Name who may read, without saying it: a run is finished only for whoever has the access that it began with."""
    access: list[Any] = sorted(set(context.access))
    # A tenant's documents are its own, under whatever tags.
    who = access if context.user is None or context.user.tenant is None else [context.user.tenant, access]
    return hashlib.sha256(json.dumps(who).encode()).hexdigest()[:16]


def _environment() -> dict[str, Any]:
    """Return the settings that the environment holds, as far as they can be read without knowing their bounds.

    Raises:
        SettingsError: A list or an object is not written as JSON.
    """
    return {
        name: _listed(name, value)
        for name, value in environment().items()
        if name in Context.model_fields and name not in bindings_in_force.get().settings
    }


def _listed(name: str, value: str) -> Any:  # noqa: ANN401  # a JSON value
    origin = get_origin(Context.model_fields[name].annotation)
    if origin not in (tuple, dict):
        return value
    what, such = ("a list", '["bm25"]') if origin is tuple else ("an object", '{"top_p": 0.9}')
    try:
        return json.loads(value)
    except ValueError as error:
        variable = f"ANABRANCH_{name.upper()}"
        msg = f"The environment variable {variable} cannot be used: it does not hold {what} written as JSON."
        raise SettingsError(msg, hint=f"Write it as {what} written as JSON, such as {such}.") from error


def _unusable(error: ValidationError, remembered: set[str]) -> SettingsError:
    """Say what is wrong with values that were not given with this call."""
    # Without the values: a caller reads this, and they may be the operator's or another caller's.
    problems = error.errors(include_input=False, include_url=False, include_context=False)
    told = []
    for problem in problems[:MAX_PROBLEMS]:
        name = str(problem["loc"][0])[:80] if problem["loc"] else ""
        of = f"its setting {name!r}" if name in remembered else f"ANABRANCH_{name.upper()}"
        told.append(f"{of}: {problem['msg'][:1].lower()}{problem['msg'][1:]}")
    if any(problem["loc"] and problem["loc"][0] in remembered for problem in problems):
        return SettingsError(
            f"The settings kept in this thread cannot be used: {'; '.join(told)}.", hint="Start a new thread."
        )
    return SettingsError(
        f"The environment of this process cannot be used: {'; '.join(told)}.",
        hint="The operator sets these variables.",
    )


def _refuse_changed(context: Context, operators: Context, fixed: Sequence[str]) -> None:
    """Hold the caller to what the operator fixed (ANABRANCH_LOCK), also against a thread's edited state."""
    for name in fixed:
        given, own = getattr(context, name), getattr(operators, name)
        if given != own and not (name == "access" and set(given) == set(own)):
            msg = f"The setting {name!r} is fixed by the operator of this server."
            raise SettingsError(msg, hint="Leave it out.")


def locked(*, are_told_apart: bool | None = None) -> tuple[str, ...]:
    """Return the names of the settings that callers may not change.

    Where they are told apart they are several, and what names a place or an address is not theirs to choose, unless the
    operator says so for each.

    Args:
        are_told_apart: Whether they have to say who they are; None for what holds of whoever asks now.

    Raises:
        SettingsError: The lock names something that is no setting, so nothing would be locked by it, or what is to be
            unlocked is not locked by itself.
    """
    own = operator()
    _refuse_unknown("ANABRANCH_LOCK", own.lock, tuple(Context.model_fields), "is no setting, so it would lock nothing")
    # Who asks decides which corpus is theirs, and their tags are worth nothing in one of the caller's choice.
    free = tuple(name for name in REACHING if name != "corpus")
    _refuse_unknown("ANABRANCH_UNLOCK", own.unlock, free, "is not locked unless ANABRANCH_LOCK says so, or always is")
    if not (needs_identity() if are_told_apart is None else are_told_apart):
        return own.lock
    return tuple(dict.fromkeys([*own.lock, *(name for name in REACHING if name not in own.unlock)]))


def _refuse_unknown(variable: str, names: Sequence[str], known: Sequence[str], why: str) -> None:
    for name in names:
        if name not in known:
            near = get_close_matches(name.lower(), known, n=1)
            msg = f"{variable} names {name!r}, which {why}."
            raise SettingsError(msg, hint=f"Did you mean {near[0]!r}?" if near else "Correct it, or leave it out.")
