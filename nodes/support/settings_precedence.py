"""Which settings are in force: those of the call, over the thread's, over the environment's, over the defaults."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextvars import ContextVar
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, get_origin

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from anabranch.errors import SettingsError
from anabranch.safety.operator import environment, operator
from nodes.settings import OBJECT, PRIVATE, Context

if TYPE_CHECKING:
    # It takes a second to import, which `anabranch ingest` has no use for.
    from langchain_core.language_models import BaseChatModel
    from langgraph.runtime import Runtime

model_of_graph: ContextVar[BaseChatModel | None] = ContextVar("anabranch_model_of_graph", default=None)
"""The model that the running graph was built with; it stands in the place of the environment's."""

MAX_PROBLEMS = 5
"""Problems that one error names."""

MAX_SHOWN = 80
"""Characters of a value that an error repeats."""


def settle(settings: Mapping[str, Any] | None, runtime: Runtime[Context] | None) -> Context:
    """Return the choices in force in a step.

    A resumed or forked run often comes without a context; it must go on with the corpus and the model it began with.
    As a subgraph this graph may run under a context of somebody else's: that one chooses nothing here.

    Args:
        settings: What the turn began with, from the thread.
        runtime: Holds what this call gives.

    Raises:
        SettingsError: As `in_force`.
    """
    given = runtime.context if runtime is not None else None
    return in_force(given if isinstance(given, Context) else None, settings)


def in_force(given: Context | None = None, settings: Mapping[str, Any] | None = None) -> Context:
    """Return what was given, over what the turn began with, over the environment, over the defaults.

    Raises:
        SettingsError: A field that the operator locked was given, or what the thread or the environment holds is not
            valid. The message says which, and quotes no value: it may not be the caller's.
    """
    explicit = given.explicit if given is not None else {}
    if not isinstance(settings, Mapping | None):
        msg = "The settings kept in this thread cannot be used: they are no mapping of names to values."
        raise SettingsError(msg, hint="Start a new thread.")
    remembered = {str(name): value for name, value in (settings or {}).items() if name not in PRIVATE}
    try:
        # Made first and on its own: what is wrong in the environment is not the caller's mistake.
        operators = Context(**_environment(), **_of_graph(remembered))
    except ValidationError as error:
        raise _unusable(error, set()) from error
    try:
        context = Context(**{**operators.explicit, **remembered, **explicit})
    except ValidationError as error:
        raise _unusable(error, {*remembered}) from error
    # After the thread's values: its state may have been edited to say something else.
    _refuse_locked(context, operators)
    context._explicit = frozenset(explicit)  # the class and its functions are one unit
    return context


def _of_graph(remembered: dict[str, Any]) -> dict[str, Any]:
    """Return the model that the graph was built with; a thread that was begun with such a one goes on with it."""
    model = model_of_graph.get()
    if model is None:
        return {}
    if str(remembered.get("model")).startswith(OBJECT):
        del remembered["model"]
    return {"model": model}


def given_settings(values: Mapping[str, Any]) -> Context:
    """Return settings that a program gives by name.

    Raises:
        SettingsError: A name is no setting, or a value is out of bounds.
    """
    known = list(Context.model_fields)
    for name in values:
        if name not in known:
            # Dashes are how options are spelled, so `--set top-k=3` is the likeliest slip.
            near = get_close_matches(name.lower().replace("-", "_"), known, n=1)
            hint = f"Did you mean {near[0]!r}?" if near else f"The settings are {', '.join(known)}."
            raise SettingsError(f"There is no setting {name!r}.", hint=hint)
    try:
        return Context(**values)
    except ValidationError as error:
        told = " ".join(_problem(item) for item in error.errors()[:MAX_PROBLEMS])
        raise SettingsError(told, hint="See docs/settings.md.") from error


def _problem(item: ErrorDetails) -> str:
    what = item["msg"][:1].lower() + item["msg"][1:]
    if not item["loc"]:
        return f"The settings cannot be used: {what}."
    name = str(item["loc"][0])
    value = repr(item["input"])
    # Of the options of a client the value is not repeated: it was refused because it may hold a key.
    shown = "what was given" if name == "model_kwargs" else value[:MAX_SHOWN] + ("..." if value[MAX_SHOWN:] else "")
    return f"The setting {name!r} cannot be {shown}: {what}. ({Context.model_fields[name].description})"


def reader_of(context: Context) -> str:
    """Name who may read, without saying it: a run is finished only for whoever has the access that it began with."""
    return hashlib.sha256(json.dumps(sorted(set(context.access))).encode()).hexdigest()[:16]


def _environment() -> dict[str, Any]:
    """Return the settings that the environment holds, as far as they can be read without knowing their bounds.

    Raises:
        SettingsError: A list or an object is not written as JSON.
    """
    return {
        name: _listed(name, value)
        for name, value in environment().items()
        if name in Context.model_fields and not (name == "model" and model_of_graph.get() is not None)
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


def _refuse_locked(context: Context, operators: Context) -> None:
    """Hold the caller to what the operator fixed (ANABRANCH_LOCK), also against a thread's edited state."""
    for name in locked():
        if getattr(context, name) != getattr(operators, name):
            msg = f"The setting {name!r} is fixed by the operator of this server."
            raise SettingsError(msg, hint="Leave it out.")


def locked() -> tuple[str, ...]:
    """Return the names of the settings that callers may not change.

    Raises:
        SettingsError: The lock names something that is no setting: nothing would be locked by it.
    """
    lock = operator().lock
    for name in lock:
        if name not in Context.model_fields:
            near = get_close_matches(name.lower(), Context.model_fields, n=1)
            msg = f"ANABRANCH_LOCK names {name!r}, which is no setting, so it would lock nothing."
            raise SettingsError(msg, hint=f"Did you mean {near[0]!r}?" if near else "Correct it, or leave it out.")
    return lock
