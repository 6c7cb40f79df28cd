"""The plain types: passages, queries, ranked lists, drafts, citations. This module imports nothing of Anabranch.

Types in checkpoints consist of JSON primitives. No checkpoint holds a `Chunk`, which has the text of a passage.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field

# Not typing's: before Python 3.12 pydantic cannot make a schema of that one, and a server shows no input form.
from typing_extensions import TypedDict

Arm = Literal["bm25", "dense"]
"""A retriever of the corpus."""

Grade = Literal["quoted", "found", "not_confirmed"]
"""How a claim was found in the passages: word for word, by most of its words, or not at all."""

Judgement = Literal["entailed", "contradicted", "not_said"]
"""Whether the words of a claim's evidence imply it, contradict it, or do neither."""

RouteName = Literal["compose", "create", "refine", "map_reduce", "rows", "installed"]
"""A way of writing an answer."""

AnswerStatus = Literal["", "answered", "not_confirmed", "not_found"]
"""The outcome of a question; empty before it is known.

`not_confirmed`: a model answered, and none of its claims was matched to a passage. `not_found`: the search found
nothing, the model says that the passages hold no answer, or the budget was spent.
"""


@dataclass(frozen=True, slots=True)
class Chunk:
    """One node of the chunk tree, as the store gives it back.

    Attributes:
        chunk_id: Content hash of document, position and text.
        doc_id: Content hash of the document's source.
        doc_key: The document's name in evaluations.
        source: See `Document.source`.
        title: See `Document.title`.
        heading: Heading path, joined for display with " > ".
        page: 1-based page where it starts, or None.
        page_end: 1-based page where it ends, or None.
        level: 0 root, 1 middle, 2 leaf.
        parent_id: The chunk one level up, None for a root.
        start: First character in the document's text.
        end: One past the last character.
        text: The characters in [start, end).
        tokens: Length of `text` in the embedder's tokens.
    """

    chunk_id: str
    doc_id: str
    doc_key: str
    source: str
    title: str
    heading: str
    page: int | None
    page_end: int | None
    level: int
    parent_id: str | None
    start: int
    end: int
    text: str
    tokens: int


# Counts and positions: a negative one in an edited thread could enlarge a budget.
Count = Annotated[int, Field(ge=0)]
# Far longer than any question, and short enough for an embedder or a model.
Text = Annotated[str, Field(max_length=50_000)]


class RankedList(TypedDict):
    """One retriever's answer to one query, best first.

    Attributes:
        ids: Chunk ids, no duplicates.
        scores: Raw scores of the arm (BM25, cosine), same length as `ids`, descending, python floats.
    """

    # Two lists instead of pairs, so that a checkpoint holds the names once.
    ids: list[str]
    scores: list[float]


class Query(TypedDict):
    """One search query; `kind` says where it came from (asked, condensed, together, reviewed, or a strategy)."""

    text: Text
    weight: Annotated[float, Field(ge=0, le=100)]
    kind: str


class Retrieved(TypedDict):
    """One retriever's lists, aligned with the queries; `error` says why it has none."""

    retriever: str
    lists: list[RankedList]
    error: str | None


class Candidate(TypedDict):
    """A leaf passage that is still in the race.

    Attributes:
        id: Chunk id.
        score: Fused score, or the reranker's relevance once there is one.
        ranks: Best rank from 1 in each retriever over all queries.
        fused: Rank from 1 after fusion.
    """

    id: str
    score: float
    ranks: dict[str, int]
    fused: int


class Passage(TypedDict):
    """A passage that goes into the answer: a leaf, or a parent that stands for several.

    Attributes:
        id: Chunk id.
        score: The best score of the leaves it stands for.
        leaves: Ids of the retrieved leaves it stands for.
        source: Where it comes from, for people who read the state.
        page: 1-based page, or None.
        preview: Its first words.
    """

    id: str
    score: float
    leaves: list[str]
    source: str
    page: int | None
    preview: str


class Excerpt(TypedDict):
    """A numbered piece of a passage in a window, or of one that is shown: characters [start, end) of the document.

    `best` is where its sentence begins that fits best, of one that is shown.
    """

    number: Count
    id: str
    start: Count
    end: Count
    best: NotRequired[Count]


class Evidence(TypedDict):
    """Whether the passages can answer the question.

    Attributes:
        verdict: Empty before the evidence is judged.
        reasons: The reasons for the verdict, for people.
        missing: What the next round should look for.
        digest: A digest of the judged passages.
        scores: Measured values by name, such as the best cosine.
    """

    verdict: Literal["", "enough", "thin", "nothing"]
    reasons: list[str]
    missing: str
    digest: str
    scores: dict[str, float]


NO_EVIDENCE = Evidence(verdict="", reasons=[], missing="", digest="", scores={})


class Link(TypedDict):
    """A value that the next query of a chain was made of.

    Attributes:
        asked: The question that it answers.
        value: Verbatim words of a passage.
        chunk_id: The passage.
        start: First character of the value in the document.
        end: One past the last character.
        query: The next query, with the value in its place.
        hop: The round that searches for `query`, from 1.
    """

    asked: Text
    value: Annotated[str, Field(max_length=200)]
    chunk_id: str
    start: Count
    end: Count
    query: Text
    hop: Annotated[int, Field(ge=1)]


class Chain(TypedDict):
    """A question that is searched for in several rounds, each made of what the round before found.

    Attributes:
        steps: The questions of the plan, one after the other; empty if one search is enough.
        links: The values found so far.
        before: The candidates of the rounds before, while a round is under way.
        leaves: Ids of the best leaves of the further rounds.
        ended: The reason why there is no further round; empty while there may be one.
    """

    steps: Annotated[list[Text], Field(max_length=10)]
    links: Annotated[list[Link], Field(max_length=50)]
    before: Annotated[list[Candidate], Field(max_length=10_000)]
    leaves: Annotated[list[str], Field(max_length=1_000)]
    ended: Annotated[str, Field(max_length=1_000)]


FOUND = "{found}"
"""Stands in a step of a chain for the value that the step before finds."""

NO_CHAIN = Chain(steps=[], links=[], before=[], leaves=[], ended="")


CoverageReach = Literal["passages", "document", "corpus"]
"""How much a question needs to be read: the best passages, all of one document, or all documents in scope."""


class Coverage(TypedDict):
    """How much is read for a question, counted in leaf passages.

    Attributes:
        reach: How much the question needs to be read; empty before it is known.
        rows: Whether every hit is listed and counted.
        source: The document, if only one is read.
        documents: Documents that are to be read.
        leaves: Their passages.
        read: The passages that were read.
        unread: How many passages were not read, by reason.
        calls: Most model calls that reading takes, unless windows of many hits are asked about in halves.
        tokens: Most tokens of these calls.
        stopped: Why nothing is read, for people; empty if it is.
    """

    reach: CoverageReach | Literal[""]
    rows: bool
    source: Annotated[str, Field(max_length=10_000)]
    documents: Count
    leaves: Count
    read: Count
    unread: Annotated[dict[str, Count], Field(max_length=20)]
    calls: Count
    tokens: Count
    stopped: Annotated[str, Field(max_length=2_000)]


NO_COVERAGE = Coverage(
    reach="", rows=False, source="", documents=0, leaves=0, read=0, unread={}, calls=0, tokens=0, stopped=""
)


class Route(TypedDict):
    """How the answer is written, and why; the name is empty before the choice."""

    name: RouteName | Literal[""]
    reasons: list[str]


class Draft(TypedDict):
    """An answer in the making.

    Attributes:
        answer: Text, with [n] markers where the model put any.
        window: Windows read so far.
        keeps: Refine rounds in a row that kept it.
        message_id: Id of the streamed message; absent or empty if it was not streamed.
        again: Whether the model was asked a second time, after a refusal.
        shown: The pieces of passages that it shows whole, in the order of their markers; absent if a model wrote it.
    """

    answer: Annotated[str, Field(max_length=400_000)]
    window: Count
    keeps: Count
    message_id: NotRequired[Annotated[str, Field(max_length=200)]]
    again: NotRequired[bool]
    shown: NotRequired[list[Excerpt]]


NO_DRAFT = Draft(answer="", window=0, keeps=0)


class Partial(TypedDict):
    """One answer of the map step, or of a reduce level; `index` keeps document order.

    `group` is the group that it is joined in, None before that is decided or if it moves up unchanged. `score` says how
    well the passages of its window support it, 0 to 1. `unread` are passages of its window that it does not know, and
    `failed` those about which the model gave no usable reply.
    """

    level: int
    index: int
    draft: Draft
    group: int | None
    score: float
    unread: NotRequired[Annotated[list[str], Field(max_length=10_000)]]
    failed: NotRequired[Annotated[list[str], Field(max_length=10_000)]]


class Citation(TypedDict):
    """A claim and the verbatim words that support it; a claim that two passages support together has two citations.

    Attributes:
        marker: Its number in the answer.
        claim: The text of the claim; empty if a passage is shown whole.
        grade: `quoted`, the passage contains these words; `found`, it contains most of them, or two passages together.
        judged: The result of a further check; empty without one.
        link: The address of the words; empty if there is none.
    """

    marker: int
    source: str
    title: str
    page: int | None
    heading: str
    chunk_id: str
    claim: str
    quote: str
    start: int
    end: int
    grade: Literal["quoted", "found"]
    judged: Judgement | Literal[""]
    link: str


class Verification(TypedDict):
    """How well the passages support an answer.

    Attributes:
        claims: Statements that the answer makes.
        quoted: Claims whose words a passage contains.
        found: Claims most of whose words and whose numbers stand in a passage, or in two.
        not_confirmed: Claims that could not be matched to a passage, and may be right or wrong.
        checked: What was checked, and what was not, for people.
    """

    claims: int
    quoted: int
    found: int
    not_confirmed: int
    checked: str


class UnconfirmedClaim(TypedDict):
    """A claim of an answer that could not be matched to a passage, and may be right or wrong.

    Attributes:
        grade: Always `not_confirmed`.
        text: The claim, without markers; only the beginning of a very long one.
        reason: The reason, if one is known: "£24.90 is in no passage"; mostly empty.
        nearest: The words of the passages that share most with it; may be empty.
    """

    grade: Literal["not_confirmed"]
    text: str
    reason: str
    nearest: str


class AnswerCheck(Verification):
    """The outcome of the question, and how well the passages support the answer."""

    status: AnswerStatus


NOT_CHECKED = AnswerCheck(status="", claims=0, quoted=0, found=0, not_confirmed=0, checked="")


class InferredFilter(TypedDict):
    """A filter that a chat model read from the question, and that fits metadata of documents in scope.

    Attributes:
        filters: A filter expression, which holds beside the caller's own.
        text: The same for people, such as "kind = contract; year >= 2024".
    """

    filters: Annotated[dict[str, Any], Field(max_length=1_000)]
    text: Annotated[str, Field(max_length=2_000)]


class TurnRecord(TypedDict):
    """What stays the same from the beginning of a turn to its end.

    Attributes:
        version: That of the state; another version of Anabranch, with another one, does not finish the turn.
        settings: The given settings; a resumed run continues with them (ADR 7).
        access_digest: A digest of the access tags that the turn began with.
        generation: The generation of the corpus that the turn reads; 0 without a corpus.
        filters: Only documents that match are searched.
        question: The question as it was asked.
        standalone_question: The question, made independent of the conversation.
        inferred: A further filter; absent if there is none, or no longer.
    """

    version: int
    settings: Annotated[dict[str, Any], Field(max_length=200)]
    access_digest: Annotated[str, Field(max_length=64)]
    generation: Count
    filters: Annotated[dict[str, Any] | None, Field(max_length=1_000)]
    question: Annotated[str, Field(max_length=10_000)]
    standalone_question: Text
    inferred: NotRequired[InferredFilter]


class Degraded(TypedDict):
    """A step whose result is worse than it should be, and why; `code` is that of the error, if there was one."""

    step: str
    reason: str
    code: NotRequired[str]


class Step(TypedDict):
    """One node's line in the trace; steps of one `round`, a superstep of LangGraph, ran at the same time."""

    node: str
    round: Annotated[str, Field(max_length=200)]
    ms: Annotated[float, Field(ge=0)]
    calls: Count
    prompt_tokens: Count
    output_tokens: Count
    counts: dict[str, Any]


class Left(TypedDict):
    """What a turn may still spend, None without a limit; no calls if one was `too_slow`."""

    calls: Count | None
    tokens: Count | None
    too_slow: NotRequired[bool]
