"""Which settings are in force: those of the call, the thread's, the graph's, the environment's, the defaults.

The server in front may be set up wrongly, and fail to load its authentication without a word. So the graph looks for
itself, in every step: without a user whom an authenticator has made, there are no documents.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, get_origin

from pydantic import BaseModel, ValidationError

from anabranch.agent.graph.bindings import NONE_BOUND, GraphBindings
from anabranch.agent.nodes.checked_settings import MAX_PROBLEMS, OBJECTS
from anabranch.agent.nodes.settings import PRIVATE, REACHING, Context
from anabranch.errors import NotAllowedError, SettingsError
from anabranch.identity.user import AUTH_USER, User, UserRole
from anabranch.registry import OBJECT
from anabranch.safety.operator import environment, needs_identity, operator


def resolve_settings(
    given: Context | None = None,
    remembered: Mapping[str, Any] | None = None,
    *,
    bindings: GraphBindings = NONE_BOUND,
    role: UserRole | None = "ask",
) -> Context:
    """Return what was given, over what the turn began with, over what the graph was built with, and so on.

    Last come the environment and the defaults. A resumed or forked run often comes without a context; it must go on
    with the corpus and the model it began with.

    Where ANABRANCH_AUTH is set, access tags and the corpus are those of the authenticated user, and nothing that a
    caller gives, or a thread holds, does more than leave out some of the tags.

    Args:
        given: The settings of this call.
        remembered: What the turn began with, from the thread.
        bindings: What the graph was built with.
        role: What whoever asks needs, where people have to say who they are; None for what opens no documents.

    Raises:
        SettingsError: A field that the operator locked was given, or what the thread or the environment holds is not
            valid. The message says which, and quotes no value: it may not be the caller's.
        NotAuthenticatedError: ANABRANCH_AUTH is set, and the run has no user.
        NotAllowedError: The user lacks the role, or an access tag that was asked for.
    """
    user = find_caller(required=role is not None)
    if user is not None and role is not None:
        user.require(role)
    explicit = given.explicit if given is not None else {}
    if not isinstance(remembered, Mapping | None):
        msg = "The settings kept in this thread cannot be used: they are no mapping of names to values."
        raise SettingsError(msg, hint="Start a new thread.")
    kept = {str(name): value for name, value in (remembered or {}).items() if name not in PRIVATE}
    operators = operator_settings(user, bindings, kept)
    try:
        context = _context({**operators.explicit, **kept, **explicit})
    except ValidationError as error:
        raise _unusable(error, {*kept}) from error
    # After the thread's values: its state may have been edited to say something else.
    _refuse_changed(context, operators, locked_settings())
    if user is not None:
        hold_to_user(context, user)
    context._explicit, context._user = frozenset(explicit), user  # the class and its functions are one unit
    return context


def operator_settings(
    user: User | None, bindings: GraphBindings = NONE_BOUND, remembered: dict[str, Any] | None = None
) -> Context:
    """Return the operator's settings as they are for one person, who has chosen nothing; None: for whoever is here.

    Args:
        user: Who asks.
        bindings: What the graph was built with.
        remembered: What the thread holds; objects given in code are taken out of it where the graph has its own.

    Raises:
        SettingsError: The environment is not valid.
        NotAllowedError: They belong to no tenant where there are several.
    """
    try:
        # Made first and on its own: what is wrong in the environment is not the caller's mistake.
        operators = _context({**_environment(bindings), **_bound(bindings, {} if remembered is None else remembered)})
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


def _bound(bindings: GraphBindings, remembered: dict[str, Any]) -> Mapping[str, Any]:
    """Return the settings that the graph was built with; a thread that was begun with its objects goes on with them."""
    settings = bindings.settings
    for name in OBJECTS:
        if not isinstance(settings.get(name), str | None) and str(remembered.get(name)).startswith(OBJECT):
            del remembered[name]
    return settings


def digest_access(context: Context) -> str:
    """Name who may read, without saying it: a run is finished only for whoever has the access that it began with."""
    access: list[Any] = sorted(set(context.access))
    # A tenant's documents are its own, under whatever tags.
    who = access if context.user is None or context.user.tenant is None else [context.user.tenant, access]
    return hashlib.sha256(json.dumps(who).encode()).hexdigest()[:16]


def _environment(bindings: GraphBindings) -> dict[str, Any]:
    """Return the settings that the environment holds, as far as they can be read without knowing their bounds.

    Raises:
        SettingsError: A list or an object is not written as JSON.
    """
    return {
        name: _listed(name, value)
        for name, value in environment().items()
        if name in Context.model_fields and name not in bindings.settings
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


def locked_settings(*, are_told_apart: bool | None = None) -> tuple[str, ...]:
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


def find_caller(*, required: bool = True) -> User | None:
    """Return who asks; None where nobody has to say so.

    Args:
        required: Whether an absent user is an error, where people have to say who they are.

    Raises:
        NotAuthenticatedError: ANABRANCH_AUTH is set, and the run has no user, or none who can be believed.
    """
    if not needs_identity():
        return None
    from langgraph.config import get_config  # importing it takes a second, which `anabranch ingest` has no use for

    try:
        # The source of `runtime.server_info.user`; edges that run for `update_state` have a config and no runtime.
        configurable = get_config().get("configurable") or {}
    except RuntimeError:  # outside a graph
        configurable = {}
    found = configurable.get(AUTH_USER)
    return None if found is None and not required else User.from_server(found)


def for_user(operators: Context, user: User) -> Context:
    """Return the operator's settings with what is this user's own: their access tags, and the corpus of their tenant.

    Raises:
        SettingsError: The environment gives access tags to everybody, or one corpus to several tenants.
        NotAllowedError: The user has no tenant where there are several.
    """
    chosen = operators.explicit
    if "access" in chosen:
        msg = "ANABRANCH_ACCESS gives access tags to everybody, and ANABRANCH_AUTH to each their own."
        raise SettingsError(msg, hint="The operator unsets one of them.")
    corpus = user.place(operators.corpus, "ANABRANCH_CORPUS")
    return Context(**{**chosen, "corpus": corpus, "access": user.access})


def hold_to_user(context: Context, user: User) -> None:
    """Let a caller leave out access tags of their own, and add none.

    An error and no silent narrowing: an answer that lacks what was asked for looks like one that found nothing.

    Raises:
        NotAllowedError: They ask for another.
    """
    if beyond := sorted(set(context.access) - set(user.access)):
        msg = f"You do not hold the access tag {beyond[0]!r}."
        raise NotAllowedError(msg, hint="Leave `access` out: your own tags are yours without it.")
