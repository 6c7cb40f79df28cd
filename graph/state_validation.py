"""What a step reads from its thread: of the right shape, within bounds, and for whoever began the run.

On a server anybody who may write to a thread may write anything into its state, so bounds are checked where values are
used and not only where they are made.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Annotated, Any, get_type_hints

from pydantic import Field, TypeAdapter, ValidationError

# Not typing's: before Python 3.12 pydantic cannot make a schema of that one.
from typing_extensions import TypedDict

from anabranch.agent.graph.settings_precedence import digest_access
from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import State
from anabranch.errors import SettingsError, ThreadStateError
from anabranch.types import Chunk

MAX_PROBLEMS = 3

_LENGTHS = {
    "question": 50_000, "filters": 1_000, "settings": 200, "answer": 400_000, "queries": 64, "query_texts": 64,
    "ranked_lists": 1_000, "candidates": 200_000, "external_passages": 200_000, "texts": 400_000, "passages": 10_000,
    "windows": 100_000, "excerpts": 10_000, "partials": 100_000, "drafts": 100, "message_id": 200, "claims": 20_000,
    "degraded": 10_000, "trace": 10_000,
}  # fmt: skip
"""Items, or characters of a text: far above what a turn makes of any settings, far below what a process cannot bear."""


MAX_VALUE = 1_000_000
"""Characters, as JSON, of what a caller writes into one channel: some may have any names and texts in them."""

_OF_OTHERS = frozenset({"messages", "settings", "question", "filters"})
"""Channels that the steps themselves check."""


@cache
def _shape(of: type, besides: frozenset[str] = _OF_OTHERS) -> TypeAdapter[Any]:
    """Return what checks a state; channels that are absent are no concern of it, nor are those that others check."""
    hints = {name: hint for name, hint in get_type_hints(of).items() if name not in besides}
    if "external_passages" in hints:
        hints["external_passages"] = dict[str, TypedDict("ExternalPassage", get_type_hints(Chunk))]  # type: ignore[operator,misc]  # made here
    fields = {
        name: Annotated[hint, Field(max_length=_LENGTHS[name])] if name in _LENGTHS else hint
        for name, hint in hints.items()
    }
    return TypeAdapter(TypedDict(f"Checked{of.__name__}", fields, total=False))  # type: ignore[operator]  # made here


@contextmanager
def checked(state: Mapping[str, Any], of: type = State) -> Iterator[None]:
    """Run a step, or choose an edge, on a state that it can use.

    Args:
        state: As LangGraph gives it to the step.
        of: The TypedDict that the step takes.

    Raises:
        ThreadStateError: A channel has the wrong shape, is too long, or is missing.
    """
    # A turn that never began, or was begun by a version that kept it in other channels.
    if "turn" in of.__annotations__ and not state.get("turn"):
        raise _unusable("it has no 'turn'")
    try:
        _shape(of).validate_python(state, strict=True)
    except ValidationError as error:
        raise _unusable(_list_problems(error)) from error
    try:
        yield
    except KeyError as error:
        if error.args and error.args[0] in State.__annotations__ and error.args[0] not in state:
            problems = f"it has no {error.args[0]!r}"
            raise _unusable(problems) from error
        raise


def check_values(values: Mapping[str, Any]) -> None:
    """See that a thread's state can take values of a caller's, wherever they are written: no step may follow.

    Messages are looked at by whoever reads them from a request.

    Raises:
        ThreadStateError: A channel would have the wrong shape, or be too long.
    """
    try:
        _shape(State, frozenset({"messages"})).validate_python(values, strict=True)
    except ValidationError as error:
        raise _unwritable(_list_problems(error)) from error
    for name, value in values.items():
        if len(json.dumps(value)) > MAX_VALUE:
            raise _unwritable(f"{name[:80]}: more than {MAX_VALUE:,} characters as JSON")


def _unwritable(problems: str) -> ThreadStateError:
    msg = f"These values cannot be written into a thread: {problems}."
    return ThreadStateError(msg, hint="Write what a step of the graph would.")


def _list_problems(error: ValidationError) -> str:
    problems = error.errors(include_input=False, include_url=False, include_context=False)[:MAX_PROBLEMS]
    return "; ".join(f"{'.'.join(map(str, item['loc']))[:80]}: {item['msg']}" for item in problems)


def _unusable(problems: str) -> ThreadStateError:
    return ThreadStateError(f"The state of this thread cannot be used: {problems}.", hint="Ask the question again.")


def hold_to_reader(state: Mapping[str, Any], settings: Context) -> None:
    """Go on only for a caller with the access tags that the run began with: its text is made of what they open.

    Raises:
        SettingsError: The caller has others.
    """
    if "turn" in state and state["turn"]["access_digest"] != digest_access(settings):
        msg = "This run was begun with other access tags than yours."
        raise SettingsError(msg, hint="Resume it with the tags that it began with, or ask the question anew.")


def shape_of(step: Callable[..., Any]) -> type:
    """Return the TypedDict that a step takes, by its first parameter."""
    found = next(iter(get_type_hints(step).values()), State)
    return found if hasattr(found, "__required_keys__") else State
