"""Checks the state that a step reads: its shape, its bounds, and the access of the caller.

On a server, whoever may write to a thread may write anything into its state, so values are checked where they are used.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Annotated, Any, get_type_hints

from langchain_core.messages import AIMessage
from langgraph.types import Overwrite, StateSnapshot
from pydantic import Field, TypeAdapter, ValidationError

# Not typing's: before Python 3.12 pydantic cannot make a schema of that one.
from typing_extensions import TypedDict

from anabranch.agent.graph.settings_precedence import digest_access
from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import STATE_VERSION, OutputState, RetrievalState, State
from anabranch.errors import SettingsError, ThreadStateError
from anabranch.types import Chunk

MAX_PROBLEMS = 3

_LENGTHS = {
    "question": 50_000, "filters": 1_000, "settings": 200, "answer": 400_000, "queries": 64, "query_texts": 64,
    "ranked_lists": 1_000, "candidates": 200_000, "external_passages": 200_000, "texts": 400_000, "passages": 10_000,
    "windows": 100_000, "excerpts": 10_000, "partials": 100_000, "drafts": 100, "message_id": 200, "claims": 20_000,
    "degraded": 10_000, "trace": 10_000, "inferred_filter": 2_000,
}  # fmt: skip
"""Most items, or characters of a text: far above what any turn needs, far below what a process can hold."""


MAX_VALUE = 1_000_000
"""Most characters, as JSON, that a caller may write into one channel."""

_TYPES = {name: hint for shape in (State, RetrievalState, OutputState) for name, hint in get_type_hints(shape).items()}
_AllChannels = TypedDict("_AllChannels", _TYPES, total=False)  # type: ignore[misc]  # made here

_INDISPENSABLE = {"begin": ("turn",), "rewrite": ("queries", "round"), "fuse": ("candidates",), "merge": ("passages",)}
"""Channels that hold nothing before a step."""

_OF_OTHERS = frozenset({"messages", "settings", "question", "filters"})
"""Channels that the steps check themselves."""


@cache
def _make_validator(shape: type, besides: frozenset[str] = _OF_OTHERS) -> TypeAdapter[Any]:
    """Return the validator of a state; it ignores absent channels, and those in `besides`."""
    hints = {name: hint for name, hint in get_type_hints(shape).items() if name not in besides}
    if "external_passages" in hints:
        hints["external_passages"] = dict[str, TypedDict("ExternalPassage", get_type_hints(Chunk))]  # type: ignore[operator,misc]  # made here
    fields = {
        name: Annotated[hint, Field(max_length=_LENGTHS[name])] if name in _LENGTHS else hint
        for name, hint in hints.items()
    }
    return TypeAdapter(TypedDict(f"Checked{shape.__name__}", fields, total=False))  # type: ignore[operator]  # made here


@contextmanager
def check_state(state: Mapping[str, Any], shape: type = State) -> Iterator[None]:
    """Check a state before a step or an edge uses it; `shape` is the TypedDict that it takes.

    Raises:
        ThreadStateError: Another version began the turn; a channel has the wrong shape, is too long, or is missing.
    """
    if "turn" in shape.__annotations__:
        # The turn never began.
        if not state.get("turn"):
            raise _unusable("it has no 'turn'")
        _refuse_other_version(state["turn"])
    elif "version" in shape.__annotations__:
        _refuse_other_version(state)
    try:
        _make_validator(shape).validate_python(state, strict=True)
    except ValidationError as error:
        raise _unusable(_list_problems(error)) from error
    try:
        yield
    except KeyError as error:
        if error.args and error.args[0] in State.__annotations__ and error.args[0] not in state:
            problems = f"it has no {error.args[0]!r}"
            raise _unusable(problems) from error
        raise


def _refuse_other_version(record: object) -> None:
    """Refuse a turn, or what was sent to its first step, of another version: its shapes and its words may differ."""
    # What is no record is refused for its shape.
    if isinstance(record, Mapping) and record.get("version") != STATE_VERSION:
        msg = "Another version of Anabranch began this run, and this version cannot go on with it."
        raise ThreadStateError(msg, hint="Ask the question again in this conversation.")


def check_resumption(snapshot: StateSnapshot, reply: object = None) -> None:
    """Check that LangGraph can resume a run from a checkpoint, with this reply if it waits for one.

    Where the next step does not exist in this version, LangGraph ends the run without an answer, and it ignores a reply
    by the id of an interrupt that no longer waits.

    Raises:
        ThreadStateError: Another version began the run, or no such interrupt waits.
    """
    messages = snapshot.values.get("messages") or [None]
    if snapshot.interrupts or not (snapshot.tasks or isinstance(messages[-1], AIMessage)):
        _refuse_other_version(snapshot.values.get("turn") or None)
    waiting = [interrupt.id for interrupt in snapshot.interrupts]
    # Replies by id, as LangGraph tells them from others.
    if isinstance(reply, Mapping) and all(re.fullmatch("[0-9a-f]{32}", str(key)) for key in reply):
        for unknown in [key for key in reply if key not in waiting]:
            msg = f"No interrupt {unknown} waits for a reply: it was answered, or another question was asked."
            hint = f"Reply to {', '.join(waiting)}." if waiting else "This conversation waits for no reply."
            raise ThreadStateError(msg, hint=hint)


def check_values(values: Mapping[str, Any]) -> None:
    """Check values that a caller writes into a thread, because no step may follow that would check them.

    The code that reads a request checks its messages.

    Raises:
        ThreadStateError: A channel would have the wrong shape, or be too long.
    """
    try:
        _make_validator(_AllChannels, frozenset({"messages"})).validate_python(values, strict=True)
    except ValidationError as error:
        raise _unwritable(_list_problems(error)) from error
    for name, value in values.items():
        if len(json.dumps(value)) > MAX_VALUE:
            raise _unwritable(f"{name[:80]}: more than {MAX_VALUE:,} characters as JSON")


def check_update(step: str, update: object, *, is_closed: bool = True) -> None:
    """Check what a caller's own step returned; where it `is_closed`, each name must be a channel.

    Raises:
        SettingsError: It is no update, has an unknown channel or a value of the wrong shape, or lacks a channel.
    """
    if not isinstance(update, Mapping):
        raise _misfit(step, f"{type(update).__name__}, not an update of the state")
    wrong = [f"there is no channel {str(name)[:80]!r}" for name in update if is_closed and name not in _TYPES]
    wrong += [f"it has no {name!r}" for name in _INDISPENSABLE.get(step, ()) if name not in update]
    if wrong:
        raise _misfit(step, f"an update that does not fit: {wrong[0]}")
    values = {name: value.value if isinstance(value, Overwrite) else value for name, value in update.items()}
    try:
        _make_validator(_AllChannels, frozenset({"messages"})).validate_python(values, strict=True)
    except ValidationError as error:
        raise _misfit(step, f"an update that does not fit: {_list_problems(error)}") from error


def _misfit(step: str, returned: str) -> SettingsError:
    hint = "Return a dictionary of the channels that it changes, as anabranch.agent.nodes.state.State has them."
    return SettingsError(f"The step {step!r} returned {returned}.", hint=hint)


def _unwritable(problems: str) -> ThreadStateError:
    msg = f"These values cannot be written into a thread: {problems}."
    return ThreadStateError(msg, hint="Write only what a step of the graph would write.")


def _list_problems(error: ValidationError) -> str:
    problems = error.errors(include_input=False, include_url=False, include_context=False)[:MAX_PROBLEMS]
    return "; ".join(f"{'.'.join(map(str, item['loc']))[:80]}: {item['msg']}" for item in problems)


def _unusable(problems: str) -> ThreadStateError:
    return ThreadStateError(f"The state of this thread cannot be used: {problems}.", hint="Ask the question again.")


def hold_to_reader(state: Mapping[str, Any], settings: Context) -> None:
    """Refuse a caller without the access that the run began with, because the state's text depends on it.

    Raises:
        SettingsError: The caller's access tags differ.
    """
    if "turn" in state and state["turn"]["access_digest"] != digest_access(settings):
        msg = "This run began with other access tags than yours."
        raise SettingsError(msg, hint="Resume it with the tags that it began with, or ask the question again.")


def shape_of(step: Callable[..., Any]) -> type:
    """Return the TypedDict that a step takes, by its first parameter."""
    found = next(iter(get_type_hints(step).values()), State)
    return found if hasattr(found, "__required_keys__") else State
