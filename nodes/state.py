"""The state of the graphs: ids, scores and short records in every checkpoint, passage text in none.

Checkpoints hold JSON primitives, so that any checkpointer can keep them and a person can read them. `Fresh` marks the
channels of one turn with their first value; channels that several branches write have a reducer.
"""

# Without `from __future__ import annotations`, because LangGraph evaluates the hints of these classes dozens of times
# while it builds a graph: as strings, they would take half of that time.

from dataclasses import dataclass
from typing import Annotated, Any, get_type_hints

from langchain_core.messages import AnyMessage
from langgraph.channels import EphemeralValue, UntrackedValue
from langgraph.graph.message import add_messages

# Not typing's: before Python 3.12 pydantic cannot make a schema of that one, and a server shows no input form.
from typing_extensions import TypedDict

from anabranch.types import (
    NO_CHAIN,
    NO_COVERAGE,
    NO_DRAFT,
    NO_EVIDENCE,
    NOT_CHECKED,
    AnswerCheck,
    AnswerStatus,
    Candidate,
    Chain,
    Chunk,
    Citation,
    Coverage,
    Degraded,
    Draft,
    Evidence,
    Excerpt,
    Partial,
    Passage,
    Query,
    Retrieved,
    Route,
    Step,
    TurnRecord,
    UnconfirmedClaim,
    Verification,
)

Update = dict[str, Any]
"""What a step returns: new values of channels."""

STATE_VERSION = 1
"""Raised by whoever changes what checkpoints hold, or the names of the steps (`tests/graph/test_state_version.py`)."""


@dataclass(frozen=True)
class Fresh:
    """What a channel holds when a turn begins."""

    value: Any


def append_items(before: list[Any], new: list[Any]) -> list[Any]:
    """Append the items of a step to those before."""
    _refuse_other(new, list, "a list of what is to be added")
    return before + new


def keep_latest(_: Any, new: Any) -> Any:  # noqa: ANN401  # a value of any channel
    """Keep the last value; of several branches, that of any one."""
    return new


def merge_items(before: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Merge the items of a step into those before; the new ones win."""
    _refuse_other(new, dict, "the names and values that are to be added")
    return before | new


def _refuse_other(new: object, kind: type, wanted: str) -> None:
    # On a server anybody who may write to a thread may write anything into it.
    if not isinstance(new, kind):
        from anabranch.errors import ThreadStateError

        msg = f"A channel that holds a {kind.__name__} was given {type(new).__name__}."
        raise ThreadStateError(msg, hint=f"Give it {wanted}.")


class InputState(TypedDict, total=False):
    """A caller's input: a question, or messages that end with one; and optionally filters on the documents.

    `question` and `filters` are for one run: the next one finds none, however this one ends.
    """

    question: Annotated[str, EphemeralValue]
    messages: Annotated[list[AnyMessage], add_messages]
    filters: Annotated[dict[str, Any] | None, EphemeralValue]


class SearchState(TypedDict):
    """The channels of search and answer: the turn, and what was found for its question.

    `texts` are the passages that this turn has read, by id. No checkpoint holds them: a resumed run reads them again.
    """

    turn: Annotated[TurnRecord, keep_latest]
    queries: list[Query]
    external_passages: Annotated[dict[str, dict[str, Any]], Fresh({}), merge_items]
    candidates: Annotated[list[Candidate], Fresh([])]
    passages: Annotated[list[Passage], Fresh([])]
    evidence: Annotated[Evidence, Fresh(NO_EVIDENCE)]
    chain: Annotated[Chain, Fresh(NO_CHAIN)]
    coverage: Annotated[Coverage, Fresh(NO_COVERAGE)]
    # Untracked: every checkpoint would hold the words of every passage (ADR 1).
    texts: Annotated[dict[str, Chunk], Fresh({}), UntrackedValue(dict)]
    degraded: Annotated[list[Degraded], Fresh([]), append_items]
    trace: Annotated[list[Step], append_items]


class RetrievalInput(TypedDict):
    """Input of the retrieval graph as a step of another graph."""

    messages: list[AnyMessage]
    turn: TurnRecord
    queries: list[Query]


class RetrievalState(SearchState):
    """The state of one search; it starts empty in each turn."""

    messages: list[AnyMessage]
    round: int
    ranked_lists: Annotated[list[Retrieved], append_items]


class State(InputState, SearchState):
    """The state of a turn from `begin` on."""

    windows: Annotated[list[list[Excerpt]], Fresh([])]
    route: Annotated[Route, Fresh(Route(name="", reasons=[]))]
    draft: Annotated[Draft, Fresh(NO_DRAFT)]
    partials: Annotated[list[Partial], Fresh([]), append_items]
    answer: Annotated[str, Fresh("")]
    claims: Annotated[list[Citation | UnconfirmedClaim], Fresh([])]
    check: Annotated[AnswerCheck, Fresh(NOT_CHECKED)]


class OutputState(TypedDict):
    """The result of a turn; with a checkpointer, the rest is in the state of the thread.

    The last step derives the ephemeral channels from `claims`, `check` and `trace`; its checkpoint alone has them.
    """

    messages: Annotated[list[AnyMessage], add_messages]
    answer: str
    citations: Annotated[list[Citation], EphemeralValue]
    passages: list[Passage]
    unconfirmed: Annotated[list[UnconfirmedClaim], EphemeralValue]
    verification: Annotated[Verification | dict[str, Any], EphemeralValue]
    status: Annotated[AnswerStatus, EphemeralValue]
    abstained: Annotated[bool, EphemeralValue]
    coverage: Coverage
    inferred_filter: Annotated[str, EphemeralValue]
    degraded: list[Degraded]
    usage: Annotated[dict[str, Any], EphemeralValue]
    trace: list[Step]


CHANNELS = [name for name in get_type_hints(State) if name != "texts"]
"""Channels that a checkpoint keeps."""

VISIBLE = [*CHANNELS, *(name for name in get_type_hints(OutputState) if name not in CHANNELS)]
"""All channels that a run can return: `graph.ainvoke(..., output_keys=VISIBLE)`."""
