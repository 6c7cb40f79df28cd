"""Resolves the settings of a run: those of the call, the thread, the graph, the environment, the effort, the defaults.

A server may be set up wrongly, without authentication. So the graph checks the user in every step itself: without an
authenticated user, it opens no documents.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, get_origin

from pydantic import BaseModel, ValidationError

from anabranch.agent.graph.bindings import NONE_BOUND, GraphBindings
from anabranch.agent.graph.dependencies import has_model
from anabranch.agent.nodes.checked_settings import MAX_PROBLEMS, OBJECTS
from anabranch.agent.nodes.efforts import EFFORTS, WINDOWED
from anabranch.agent.nodes.settings import PRIVATE, REACHING, Context
from anabranch.errors import NotAllowedError, SettingsError
from anabranch.identity.user import AUTH_USER, User, UserRole
from anabranch.models.local_servers import LocalModel, last_found
from anabranch.models.lru import LRU
from anabranch.registry import OBJECT
from anabranch.safety.operator import environment, needs_identity, operator

_Origins = tuple[Context | None, GraphBindings, Mapping[str, str], LocalModel | None]

RESOLVED = 64
"""Settings that are kept, so that the steps and edges of a turn resolve them once."""

# Owner: this module.
_resolved: LRU[tuple[Any, ...], tuple[_Origins, Context]] = LRU(RESOLVED)


def resolve_settings(
    given: Context | None = None,
    remembered: Mapping[str, Any] | None = None,
    *,
    bindings: GraphBindings = NONE_BOUND,
    role: UserRole | None = "ask",
) -> Context:
    """Return the settings of a run, by precedence: the call, the thread, the graph, the environment, the defaults.

    A resumed or forked run often has no context; it must continue with the corpus and the model it began with.

    With ANABRANCH_AUTH, access tags and the corpus are those of the authenticated user; a caller or a thread can only
    leave out some of the tags.

    Args:
        given: The settings of this call.
        remembered: The settings that the turn began with, from the thread.
        bindings: What the graph was built with.
        role: The role that an authenticated caller needs; None for what opens no documents.

    Raises:
        SettingsError: A locked setting was given, or the thread or the environment holds an invalid value. The message
            names the setting, and quotes no value: it may not be the caller's.
        NotAuthenticatedError: ANABRANCH_AUTH is set, and the run has no user.
        NotAllowedError: The user lacks the role, or a requested access tag.
    """
    user = find_caller(required=role is not None)
    if user is not None and role is not None:
        user.require(role)
    key = _key(given, remembered, bindings, user)
    # What an id stands for is kept beside the settings, so that nothing else can have it.
    made_of = (given, bindings, environment(), last_found())
    known = _resolved.get(key) if key is not None else None
    if known is not None and all(one is other for one, other in zip(known[0], made_of, strict=True)):
        return known[1]
    context = _resolve(given, remembered, bindings, user)
    if key is not None:
        _resolved.set(key, (made_of, context))
    return context


def _key(
    given: Context | None, remembered: Mapping[str, Any] | None, bindings: GraphBindings, user: User | None
) -> tuple[Any, ...] | None:
    """Return what tells equal settings; None if the thread holds what is not JSON."""
    try:
        return id(given), json.dumps(remembered, sort_keys=True), id(bindings), user, needs_identity()
    except (TypeError, ValueError, RecursionError):
        return None


def _resolve(
    given: Context | None, remembered: Mapping[str, Any] | None, bindings: GraphBindings, user: User | None
) -> Context:
    explicit = given.explicit if given is not None else {}
    if not isinstance(remembered, Mapping | None):
        msg = "The settings kept in this thread cannot be used: they are not a mapping of names to values."
        raise SettingsError(msg, hint="Start a new thread.")
    kept = {str(name): value for name, value in (remembered or {}).items() if name not in PRIVATE}
    operators = operator_settings(user, bindings, kept)
    locked = locked_settings()
    try:
        context = _apply_effort({**operators.explicit, **kept, **explicit}, locked)
    except ValidationError as error:
        raise _describe_unusable(error, {*kept}) from error
    # After the thread's values, because its state may have been edited.
    _refuse_changed(context, operators, locked)
    if user is not None:
        hold_to_user(context, user)
    context._explicit, context._user = frozenset(explicit), user  # the class and its functions are one unit
    return context


def operator_settings(
    user: User | None, bindings: GraphBindings = NONE_BOUND, remembered: dict[str, Any] | None = None
) -> Context:
    """Return the settings that a user has before choosing any.

    The names of objects are removed from `remembered`, the thread's settings, if the graph has its own objects.

    Raises:
        SettingsError: The environment is not valid.
        NotAllowedError: The user belongs to no tenant, and there are several.
    """
    try:
        # Made first and alone, to tell the environment's mistakes from the caller's.
        operators = _make_context(
            {**_read_environment(bindings), **_apply_bindings(bindings, {} if remembered is None else remembered)}
        )
    except ValidationError as error:
        raise _describe_unusable(error, set()) from error
    return operators if user is None else for_user(operators, user)


def _apply_effort(values: Mapping[str, Any], locked: Sequence[str]) -> Context:
    """Return the settings with those that `effort` stands for, except where somebody set or locked them.

    Raises:
        pydantic.ValidationError: A value cannot be used.
    """
    context = _make_context(values)
    standing = EFFORTS[context.effort or "normal"]
    # Who asks for whole documents or a list of every hit asks for more than one call.
    many = WINDOWED if context.coverage in ("document", "corpus") or context.synthesis == "rows" else ()
    chosen = {name: value for name, value in standing.items() if name not in (*values, *locked, *many)}
    # All of them are about what a model is asked: without one, there is no effort to choose.
    return _make_context({**chosen, **values}) if chosen and has_model(context) else context


def _make_context(values: Mapping[str, Any]) -> Context:
    """Return settings of several origins.

    Raises:
        pydantic.ValidationError: One cannot be used. The class's own error would repeat its value.
    """
    context = Context.__new__(Context)
    BaseModel.__init__(context, **values)
    return context


def _apply_bindings(bindings: GraphBindings, remembered: dict[str, Any]) -> Mapping[str, Any]:
    """Return the settings that the graph was built with; its objects replace their names in the thread."""
    settings = bindings.settings
    for name in OBJECTS:
        if not isinstance(settings.get(name), str | None) and str(remembered.get(name)).startswith(OBJECT):
            del remembered[name]
    return settings


def digest_access(context: Context) -> str:
    """Return a digest of the caller's access: only a caller with the same access may finish a run."""
    access: list[Any] = sorted(set(context.access))
    # Tenants may use the same tags for different documents.
    who = access if context.user is None or context.user.tenant is None else [context.user.tenant, access]
    return hashlib.sha256(json.dumps(who).encode()).hexdigest()[:16]


def _read_environment(bindings: GraphBindings) -> dict[str, Any]:
    """Return the settings in the environment, whose bounds are not checked yet.

    Raises:
        SettingsError: A list or an object is not written as JSON.
    """
    return {
        name: _read_json(name, value)
        for name, value in environment().items()
        if name in Context.model_fields and name not in bindings.settings
    }


def _read_json(name: str, value: str) -> Any:  # noqa: ANN401  # a JSON value
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


def _describe_unusable(error: ValidationError, remembered: set[str]) -> SettingsError:
    """Return the error for invalid values of the thread or the environment."""
    # Without the values, which may be the operator's or another caller's.
    problems = error.errors(include_input=False, include_url=False, include_context=False)
    descriptions = []
    for problem in problems[:MAX_PROBLEMS]:
        name = str(problem["loc"][0])[:80] if problem["loc"] else ""
        place = f"its setting {name!r}" if name in remembered else f"ANABRANCH_{name.upper()}"
        descriptions.append(f"{place}: {problem['msg'][:1].lower()}{problem['msg'][1:]}")
    if any(problem["loc"] and problem["loc"][0] in remembered for problem in problems):
        return SettingsError(
            f"The settings kept in this thread cannot be used: {'; '.join(descriptions)}.", hint="Start a new thread."
        )
    return SettingsError(
        f"The environment of this process cannot be used: {'; '.join(descriptions)}.",
        hint="The operator sets these variables.",
    )


def _refuse_changed(context: Context, operators: Context, fixed: Sequence[str]) -> None:
    """Refuse changes to locked settings (ANABRANCH_LOCK), also those from a thread's edited state."""
    for name in fixed:
        given, own = getattr(context, name), getattr(operators, name)
        if given != own and not (name == "access" and set(given) == set(own)):
            msg = f"The setting {name!r} is fixed by the operator of this server."
            raise SettingsError(msg, hint="Leave it out.")


def locked_settings(*, has_users: bool | None = None) -> tuple[str, ...]:
    """Return the names of the settings that callers may not change.

    Where a server has users, they may not choose a place or an address either, unless the operator unlocks it.

    Args:
        has_users: Whether callers have to authenticate; None: as it is for the current caller.

    Raises:
        SettingsError: ANABRANCH_LOCK names no setting, or ANABRANCH_UNLOCK one that it cannot unlock.
    """
    own = operator()
    _refuse_unknown("ANABRANCH_LOCK", own.lock, tuple(Context.model_fields), "is not a setting")
    # The corpus is never unlocked: access tags would mean nothing in a corpus of the caller's choice.
    free = tuple(name for name in REACHING if name != "corpus")
    _refuse_unknown("ANABRANCH_UNLOCK", own.unlock, free, "is not a setting that it can unlock")
    if not (needs_identity() if has_users is None else has_users):
        return own.lock
    return tuple(dict.fromkeys([*own.lock, *(name for name in REACHING if name not in own.unlock)]))


def _refuse_unknown(variable: str, names: Sequence[str], known: Sequence[str], why: str) -> None:
    for name in names:
        if name not in known:
            near = get_close_matches(name.lower(), known, n=1)
            msg = f"{variable} names {name!r}, which {why}."
            raise SettingsError(msg, hint=f"Did you mean {near[0]!r}?" if near else "Correct it, or leave it out.")


def find_caller(*, required: bool = True) -> User | None:
    """Return the authenticated user; None without authentication, or if it is not `required`.

    Raises:
        NotAuthenticatedError: ANABRANCH_AUTH is set, and the run has no user, or an invalid one.
    """
    if not needs_identity():
        return None
    from langgraph.config import get_config  # the import takes a second, and `anabranch ingest` does not need it

    try:
        # The source of `runtime.server_info.user`; edges that run for `update_state` have a config and no runtime.
        configurable = get_config().get("configurable") or {}
    except RuntimeError:  # outside a graph
        configurable = {}
    found = configurable.get(AUTH_USER)
    return None if found is None and not required else User.from_server(found)


def for_user(operators: Context, user: User) -> Context:
    """Return the operator's settings with the user's own access tags and the corpus of their tenant.

    Raises:
        SettingsError: The environment sets access tags for everybody, or one corpus for several tenants.
        NotAllowedError: The user has no tenant where there are several.
    """
    chosen = operators.explicit
    if "access" in chosen:
        msg = "ANABRANCH_ACCESS and ANABRANCH_AUTH cannot both be set: authenticated users have their own access tags."
        raise SettingsError(msg, hint="The operator must unset one of them.")
    corpus = user.place(operators.corpus, "ANABRANCH_CORPUS")
    return Context(**{**chosen, "corpus": corpus, "access": user.access})


def hold_to_user(context: Context, user: User) -> None:
    """Refuse access tags that the user does not hold; leaving some out is allowed.

    This is an error, because silently dropped tags would look like an answer that found nothing.

    Raises:
        NotAllowedError: The caller requests another tag.
    """
    if beyond := sorted(set(context.access) - set(user.access)):
        msg = f"You do not hold the access tag {beyond[0]!r}."
        raise NotAllowedError(msg, hint="Leave `access` out to use your own tags.")
