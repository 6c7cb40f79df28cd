"""What flows through the graphs: ids, scores and short records in every checkpoint, passage text in none.

What is kept is made of JSON primitives, so that any checkpointer can keep it and a person can read it. Each channel
that belongs to one turn says with `Fresh` what it holds when a turn begins; those that several branches write have a
reducer.
"""

# Without `from __future__ import annotations`: LangGraph asks for the hints of these classes dozens of times while it
# builds a graph, and would evaluate the strings each time, half of what building takes.

from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, NotRequired, get_type_hints

from langchain_core.messages import AnyMessage
from langgraph.channels import EphemeralValue, UntrackedValue
from langgraph.graph.message import add_messages
from langgraph.types import Overwrite

# Not typing's: before Python 3.12 pydantic cannot make a schema of that one, and a server shows no input form.
from typing_extensions import TypedDict

from anabranch.agent.nodes.support.state_records import (
    NO_DRAFT,
    AnswerStatus,
    Candidate,
    Citation,
    Degraded,
    Draft,
    Evidence,
    Excerpt,
    Left,
    Partial,
    Passage,
    Query,
    Retrieved,
    Route,
    Step,
    Text,
    UnconfirmedClaim,
    Verification,
)
from anabranch.errors import ThreadStateError
from anabranch.readers.document import Chunk


@dataclass(frozen=True)
class Fresh:
    """What a channel holds when a turn begins."""

    value: Any


def added(before: list[Any], new: list[Any]) -> list[Any]:
    """Append the items of a step to those before."""
    # On a server anybody who may write to a thread may write anything into it.
    if not isinstance(new, list):
        msg = f"A channel that holds a list was given {type(new).__name__}."
        raise ThreadStateError(msg, hint="Give it a list of what is to be added.")
    return before + new


def latest(_: int, new: int) -> int:
    """Keep the last value; of several branches, that of any one."""
    return new


def merged(before: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Merge the items of a step into those before; the new ones win."""
    if not isinstance(new, dict):
        msg = f"A channel that holds names and values was given {type(new).__name__}."
        raise ThreadStateError(msg, hint="Give it what is to be added.")
    return before | new


class InputState(TypedDict, total=False):
    """What a caller gives: a question, or messages that end with one; and optionally filters on the documents.

    `question` and `filters` are for the run that they are given to: the next one finds none, however this one ends.
    """

    question: Annotated[str, EphemeralValue]
    messages: Annotated[list[AnyMessage], add_messages]
    filters: Annotated[dict[str, Any] | None, EphemeralValue]


class SearchState(TypedDict):
    """What the search and the answer share: the question as it is in force, and what was found for it.

    `texts` are the passages that this turn has read, by id. No checkpoint has them: a resumed run reads them again.
    `generation` is the generation of the corpus that the turn reads; 0 without a corpus.
    """

    settings: dict[str, Any]
    access_digest: str
    generation: Annotated[int, latest]
    original_question: str
    active_filters: dict[str, Any] | None
    standalone_question: str
    queries: list[Query]
    external_passages: Annotated[dict[str, dict[str, Any]], Fresh({}), merged]
    candidates: Annotated[list[Candidate], Fresh([])]
    passages: Annotated[list[Passage], Fresh([])]
    evidence: Annotated[Evidence, Fresh(Evidence(verdict="", reasons=[], missing="", digest=""))]
    evidence_scores: Annotated[dict[str, float], Fresh({})]
    # Untracked: every checkpoint would hold the words of every passage (ADR 1).
    texts: Annotated[dict[str, Chunk], Fresh({}), UntrackedValue(dict)]
    degraded: Annotated[list[Degraded], Fresh([]), added]
    trace: Annotated[list[Step], added]


class RetrievalInput(TypedDict):
    """What the retrieval graph is given by the graph that it is a step of."""

    messages: list[AnyMessage]
    settings: dict[str, Any]
    access_digest: str
    generation: int
    original_question: str
    active_filters: dict[str, Any] | None
    standalone_question: str
    queries: list[Query]


class RetrievalOutput(TypedDict):
    """What the retrieval graph returns: what was found, how, and its own part of the trace."""

    generation: int
    standalone_question: str
    queries: list[Query]
    external_passages: dict[str, dict[str, Any]]
    candidates: list[Candidate]
    passages: list[Passage]
    evidence: Evidence
    evidence_scores: dict[str, float]
    texts: dict[str, Chunk]
    degraded: list[Degraded]
    trace: list[Step]


class RetrievalState(SearchState):
    """The state of one search; it starts empty in each turn."""

    messages: list[AnyMessage]
    round: int
    ranked_lists: Annotated[list[Retrieved], added]


class State(InputState, SearchState):
    """The state of a turn from `begin` on."""

    windows: Annotated[list[list[Excerpt]], Fresh([])]
    route: Annotated[Route, Fresh(Route(name="", reasons=[]))]
    draft: Annotated[Draft, Fresh(NO_DRAFT)]
    asked_again: Annotated[bool, Fresh(value=False)]
    partials: Annotated[list[Partial], Fresh([]), added]
    answer: Annotated[str, Fresh("")]
    message_id: Annotated[str, Fresh("")]
    citations: Annotated[list[Citation], Fresh([])]
    unconfirmed: Annotated[list[UnconfirmedClaim], Fresh([])]
    verification: Annotated[Verification | dict[str, Any], Fresh({})]
    status: Annotated[AnswerStatus, Fresh("")]
    abstained: Annotated[bool, Fresh(value=False)]
    usage: Annotated[dict[str, Any], Fresh({})]


class OutputState(TypedDict):
    """What a caller gets from a turn; with a checkpointer, the rest is in the state of the thread."""

    messages: Annotated[list[AnyMessage], add_messages]
    answer: str
    citations: list[Citation]
    passages: list[Passage]
    unconfirmed: list[UnconfirmedClaim]
    verification: Verification | dict[str, Any]
    status: AnswerStatus
    abstained: bool
    degraded: list[Degraded]
    usage: dict[str, Any]
    trace: list[Step]


# All that is kept of a turn, for whoever looks inside: `graph.ainvoke(..., output_keys=CHANNELS)`.
CHANNELS = [name for name in get_type_hints(State) if name != "texts"]


class SearchOutput(TypedDict):
    """What a caller gets of a search: the ids of the ranked leaves, and how they were found."""

    original_question: str
    active_filters: dict[str, Any] | None
    queries: list[Query]
    external_passages: dict[str, dict[str, Any]]
    candidates: list[Candidate]
    evidence_scores: dict[str, float]
    degraded: list[Degraded]
    trace: list[Step]


def fresh_turn() -> dict[str, Any]:
    """Return an update that empties every channel that belongs to one turn, by what `State` says of each."""
    # A channel with a reducer would add the empty value to what is there.
    return {name: Overwrite(deepcopy(value)) if reduced else deepcopy(value) for name, value, reduced in _of_a_turn()}


@lru_cache(maxsize=1)
def _of_a_turn() -> tuple[tuple[str, Any, bool], ...]:
    """Return the channels of one turn: name, empty value, and whether there is a reducer. Reading types takes 4 ms."""
    hints = get_type_hints(State, include_extras=True).items()
    marked: list[tuple[str, tuple[Any, ...]]] = [(name, getattr(hint, "__metadata__", ())) for name, hint in hints]
    return tuple(
        (name, mark.value, callable(marks[-1])) for name, marks in marked for mark in marks if isinstance(mark, Fresh)
    )


class BeginTask(InputState, total=False):
    """What the first step is sent: the caller's input, with only the last message, and the settings given with it."""

    settings: dict[str, Any]


class RetrieveTask(TypedDict):
    """What one retrieval branch is sent; `budget` only if its retriever asks the chat model."""

    retriever: str
    query_texts: list[Text]
    settings: dict[str, Any]
    access_digest: str
    generation: int
    active_filters: dict[str, Any] | None
    budget: NotRequired[Left]


class MapTask(TypedDict):
    """What one map branch is sent; `budget` limits repeated calls for its window."""

    index: int
    excerpts: list[Excerpt]
    standalone_question: str
    settings: dict[str, Any]
    access_digest: str
    generation: int
    active_filters: dict[str, Any] | None
    external_passages: dict[str, dict[str, Any]]
    budget: NotRequired[Left]


class ReduceTask(TypedDict):
    """What one reduce branch is sent: a group of partial answers; `last` says that it writes the final one.

    `budget` limits repeated calls.
    """

    level: int
    index: int
    drafts: list[Draft]
    last: bool
    standalone_question: str
    message_id: str
    settings: dict[str, Any]
    access_digest: str
    generation: int
    budget: NotRequired[Left]
