"""The settings of one question: their bounds, defaults and the steps they belong to.

Precedence: the call, then the thread, then the graph, then the environment (`ANABRANCH_` and the field's name), then
what `effort` stands for, then the default here. On a LangGraph server, Studio shows the same model as a form on each
node. Secrets are never settings: the providers' clients read their keys from their own environment variables.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, cast

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    ValidationInfo,
    field_validator,
    model_validator,
)

from anabranch.agent import prompts
from anabranch.agent.nodes.checked_settings import CheckedSettings, OneOf, objects_in
from anabranch.agent.nodes.efforts import EffortName
from anabranch.models.providers import Effort, without_secrets
from anabranch.models.rerankers import RERANKERS
from anabranch.registry import OBJECT, object_name
from anabranch.retrieval import RETRIEVERS
from anabranch.safety.prompt_template import PLACES, checked_prompt
from anabranch.safety.reach import ADDRESS, PLACE, fields_with
from anabranch.store.corpus_address import DEFAULT_CORPUS
from anabranch.synthesis.routing import BUILT_IN, SYNTHESIS_MODES

if TYPE_CHECKING:
    from langchain_core.documents import BaseDocumentCompressor
    from langchain_core.language_models import BaseChatModel

    from anabranch.identity.user import User

# The value of `model` that means a model of this machine.
AUTO = "auto"

# Never kept in a thread: a resumed run gets its access from its caller.
PRIVATE = frozenset({"access"})


def _convert_path(value: Any) -> Any:  # noqa: ANN401  # whatever was given
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def _setting(default: Any, description: str, nodes: str = "", kind: str = "", **bounds: Any) -> Any:  # noqa: ANN401
    """Return a pydantic field; for Studio, it names its steps, and whether it is a prompt."""
    extra: dict[str, Any] = {"langgraph_nodes": nodes.split(), **({"langgraph_type": kind} if kind else {})}
    return Field(default=default, description=description, json_schema_extra=extra if nodes else None, **bounds)


def _prompt(node: str, default: str | None, what: str = "Instructions to the model in the step") -> Any:  # noqa: ANN401
    named = ", ".join(f"{{{name}}}" for name in PLACES[node])
    description = f"{what} {node!r}{f', or a template with {named}' if named else ''}."
    return _setting(default, description, node, kind="prompt", min_length=1, max_length=20_000)


class Context(CheckedSettings):
    """The settings that a caller gives for one run, frozen; `resolve_settings` adds those from other places."""

    corpus: Annotated[str, BeforeValidator(_convert_path), PLACE] = _setting(
        DEFAULT_CORPUS,
        "Address of the corpus: a folder, memory:NAME, postgresql://DATABASE, s3://BUCKET/PREFIX, or an address of a "
        "store that a package adds.",
        "begin retrieve",
        min_length=1,
    )
    # A setting, so that a server can take it from the authenticated user; the operator may lock it.
    access: tuple[str, ...] = _setting(
        (),
        "Access tags of the caller; documents with tags are visible only to callers who hold one of them.",
        "retrieve merge",
        max_length=100,
    )
    model: Annotated[str | None, ADDRESS] = _setting(
        None,
        "Chat model: 'provider:name' as in init_chat_model, or 'auto' for the first model that Ollama, LM Studio or "
        "llama.cpp serves on this machine. Without one, the best passages are shown. In code, any LangChain chat "
        "model.",
        "condense rewrite follow rerank grade create refine map reduce",
    )
    effort: EffortName | None = _setting(
        None,
        "How much a chat model is asked. 'quick': once, with the best eight passages; 'deep': more searches, and a "
        "judge. It stands for other settings, each of which can still be set. If unset, 'normal'; but 'quick' with "
        "model 'auto' on a machine on which no graphics processor is found.",
        "begin",
    )
    # A caller who chooses it chooses where this process sends requests.
    base_url: Annotated[str | None, ADDRESS] = _setting(
        None,
        "An OpenAI-compatible server (vLLM, Ollama, llama.cpp) that serves `model`.",
        "create",
        pattern=r"^https?://",
    )
    reasoning_effort: Effort | None = _setting(
        None, "How much a reasoning model may reason, where the provider supports this.", "create"
    )
    model_kwargs: Annotated[dict[str, Any], AfterValidator(without_secrets), ADDRESS] = _setting(
        {},
        "Further options of the model's LangChain client, as an object, such as `temperature` (0 by default); keys and "
        "addresses are refused.",
        "create",
        examples=[{"temperature": 0.7, "top_p": 0.9}],
    )
    model_timeout: float | None = _setting(
        None,
        "Seconds one model call may take, retries included. If unset, 60 at a hosted provider, and 300 at a server of "
        "your own (`base_url`, 'ollama:NAME' or 'auto').",
        gt=0,
        le=3600,
    )
    model_retries: int = _setting(2, "Retries of a call after status 429 or 5xx, or a connection error.", ge=0, le=10)
    # The published size is that of the model; a local server often has less.
    context_tokens: int | None = _setting(
        None,
        "Context size of the model in tokens, prompt and reply together. If unset, the published size is used.",
        "pack",
        ge=256,
        le=100_000_000,
    )
    # Bounded by default, because the route is chosen automatically.
    max_model_calls: int = _setting(
        100,
        "Most model calls for one question; how the answer is written is chosen to stay within this limit.",
        "pack",
        ge=1,
        le=100_000,
    )
    max_tokens: int | None = _setting(
        None, "Most tokens for one question, prompts and replies together.", "pack", ge=100, le=1_000_000_000
    )

    strategy: Literal["multi", "decompose", "hyde", "step_back", "none"] = _setting(
        "multi",
        "How the chat model makes further search queries, and new ones if these find too little. Without a model, or "
        "with 'none', only the question is searched for, once.",
        "rewrite",
    )
    hops: int = _setting(
        2,
        "Most further searches for a question that needs a name, number or date found first: each is made of one that "
        "stands in a passage, and costs one model call. 0 switches them off.",
        "rewrite follow",
        ge=0,
        le=5,
    )
    # Words of a passage must reach no other service, unless somebody says so.
    hop_retrievers: tuple[str, ...] = _setting(
        ("bm25", "dense"),
        "Retrievers that these further searches may ask. One of another service would be sent words of passages.",
        "follow",
        min_length=1,
        max_length=8,
    )
    n_queries: int = _setting(4, "Number of search queries, the question included.", "rewrite", ge=1, le=16)
    rounds: int = _setting(
        2, "Most rounds of search: after a first one that finds too little, others in other words.", "grade", ge=1, le=5
    )
    # The question weighs more than all further queries: rewrites add recall and noise (2603.13301, 2603.02153).
    variant_weight: float = _setting(
        0.5,
        "Weight of all further queries together; the question weighs 1. With 3, three further queries weigh 1 each.",
        "rewrite",
        gt=0,
        le=15,
    )
    retrievers: tuple[str, ...] = _setting(
        ("bm25", "dense"),
        "Retrievers to fan out to: 'bm25', 'dense', 'llm' (the chat model reads every passage of a small "
        "corpus), and the names of any given to build(retrievers=...) or added by an installed package.",
        "retrieve",
        min_length=1,
        max_length=8,
        examples=[["bm25", "dense", *RETRIEVERS.names]],
    )
    depth: int = _setting(50, "Length of each ranked list.", "retrieve", ge=1, le=1000)
    fusion: Literal["complete", "convex", "rrf", "z_score", "dbsf"] = _setting(
        "complete",
        "How ranked lists are fused. 'complete': weighted hybrid, every passage scored by both retrievers; 'convex': "
        "weighted hybrid of the lists as they are; 'rrf': reciprocal rank fusion; 'z_score': z-scores; 'dbsf': "
        "distribution-based score fusion.",
        "fuse",
    )
    alpha: float | None = _setting(
        None,
        "Weight of 'dense' against 'bm25': 0 is BM25 alone, 1 is dense alone. If unset, fusion 'complete' chooses it "
        "for each question, and the others use 0.5.",
        "fuse",
        ge=0,
        le=1,
    )
    rerank: Annotated[str, OneOf(RERANKERS, ("none",))] = _setting(
        "none", "Which reranker reorders the fused candidates. In code, any LangChain document compressor.", "rerank"
    )
    rerank_model: Annotated[str | None, PLACE, ADDRESS] = _setting(
        None,
        "Name of a Cohere model (default 'rerank-v4.0-fast'), or the folder of a cross-encoder, or of an encoder for "
        "'late_interaction'.",
        "rerank",
    )
    rerank_depth: int = _setting(30, "Number of fused candidates that the reranker scores.", "rerank", ge=1, le=1000)
    rerank_batch: int = _setting(
        20,
        "Candidates in one call of the LLM reranker. With several calls, each also gets the same one or two "
        "candidates, so that their scores can be compared.",
        "rerank",
        ge=1,
        le=50,
    )
    top_k: int = _setting(24, "Number of leaf passages that are kept after reranking.", "rerank merge", ge=1, le=1000)
    # Measured in evals/merging.md; lower thresholds displace other evidence if windows are small.
    merge_threshold: float = _setting(
        0.75,
        "A parent replaces its children if more than this share of them was kept; 1 switches merging off.",
        "merge",
        ge=0,
        le=1,
    )
    grade: Literal["scores", "llm", "none"] = _setting(
        "scores", "What judges whether there is enough evidence: scores, the chat model, or nothing.", "grade"
    )
    coverage: Literal["auto", "passages", "document", "corpus"] = _setting(
        "auto",
        "How much is read: the best passages, every passage of one document, or every passage in scope. With 'auto', "
        "a hosted chat model says it where it makes search queries, and a model that you run yourself is not asked.",
        "rewrite survey",
    )
    infer_filter: bool | None = _setting(
        None,
        "Whether the chat model that makes search queries may read a filter from the question, such as 'since 2024'; "
        "it holds only if it fits the documents' metadata. If unset, a hosted model may, and one that you run yourself "
        "may not.",
        "rewrite",
    )
    synthesis: Annotated[str, OneOf(SYNTHESIS_MODES, others=BUILT_IN)] = _setting(
        "auto",
        "How the answer is written if the passages fill several windows; 'rows' lists and counts every hit.",
        "pack",
    )
    # About `top_k` default leaves of 128 tokens: one window, one call.
    window_tokens: int = _setting(
        3000,
        "Most tokens of passages in one model call, by the corpus's tokenizer; fewer if the model's context is small, "
        "and some 1,000 more for what each further search (`hops`) found.",
        "pack",
        ge=64,
        le=1_000_000,
    )
    # Without the room for reasoning, which `anabranch.models.reply_budget` adds.
    answer_tokens: int = _setting(800, "Most tokens of one model reply.", "create refine map reduce", ge=16, le=32_000)
    answer_form: Literal["auto", "plain", "cited", "quoted"] = _setting(
        "auto",
        "What the model is asked for. 'plain': an answer; 'cited': an answer with the numbers of its passages; "
        "'quoted': in a second call also the words that support what could not be attributed; 'auto': 'cited' for "
        "hosted models with a published profile, else 'plain'.",
        "create refine map cite",
    )
    verify: Literal["words", "llm", "nli"] = _setting(
        "words",
        "How claims are checked. 'words': by comparing words; 'llm': then also by the chat model, one call a claim; "
        "'nli': then also by a local model of natural language inference.",
        "cite",
    )
    strict: bool = _setting(
        False,
        "Whether an answer of which nothing could be confirmed counts as not found, and is not shown. For programs "
        "that must show no unconfirmed words.",
        "cite",
    )
    verify_model: Annotated[str | None, PLACE] = _setting(
        None, "Folder of an ONNX model for verify 'nli': model.onnx, tokenizer.json, config.json.", "cite"
    )
    fan_in: int = _setting(4, "Most partial answers that one reduce call joins.", "reduce", ge=2, le=20)
    file_links: Annotated[bool, PLACE] = _setting(
        True,
        "Whether citations link to files on this machine, which shows their paths; links to web pages are kept.",
        "cite",
    )
    review: Literal["none", "queries", "sources"] = _setting(
        "none",
        "Pause for a person: to edit the queries before the search, or the passages before the answer.",
        "review_queries review_sources",
    )

    condense_prompt: str = _prompt("condense", prompts.CONDENSE)
    rewrite_prompt: str | None = _prompt(
        "rewrite", None, "Replaces the instructions of the chosen strategy: instructions to the model in the step"
    )
    retrieve_prompt: str = _prompt("retrieve", prompts.RETRIEVE)
    rerank_prompt: str = _prompt("rerank", prompts.RERANK)
    grade_prompt: str = _prompt("grade", prompts.GRADE)
    create_prompt: str = _prompt("create", prompts.CREATE)
    refine_prompt: str = _prompt("refine", prompts.REFINE)
    reduce_prompt: str = _prompt("reduce", prompts.REDUCE)

    _explicit: frozenset[str] | None = PrivateAttr(default=None)
    _objects: dict[str, Any] = PrivateAttr(default_factory=dict)
    _user: Any = PrivateAttr(default=None)

    @model_validator(mode="wrap")
    @classmethod
    def _with_objects(cls, values: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:  # noqa: ANN401  # any input
        """Keep objects apart, so that the fields stay JSON: they hold the names of the objects."""
        objects = objects_in(values) if isinstance(values, Mapping) else {}
        if not objects:
            return handler(values)
        context = handler({**values, **{name: f"{OBJECT}{object_name(value)}" for name, value in objects.items()}})
        context._objects = objects
        return context

    @property
    def model_object(self) -> BaseChatModel | None:
        """The chat model that was given in code."""
        return cast("BaseChatModel | None", self._objects.get("model"))

    @property
    def reranker_object(self) -> BaseDocumentCompressor | None:
        """The reranker that was given in code."""
        return cast("BaseDocumentCompressor | None", self._objects.get("rerank"))

    @property
    def user(self) -> User | None:
        """The authenticated user; None without authentication, and for the command line."""
        return cast("User | None", self._user)

    @property
    def explicit(self) -> dict[str, Any]:
        """The values that were given, without those that `resolve_settings` filled in."""
        given = self._given()
        return self.model_dump(include=given) | {n: value for n, value in self._objects.items() if n in given}

    @field_validator(*(f"{step}_prompt" for step in PLACES))
    @classmethod
    def _with_known_places(cls, prompt: str | None, info: ValidationInfo) -> str | None:
        step = str(info.field_name).removesuffix("_prompt")
        return None if prompt is None else checked_prompt(step, prompt)

    @field_validator("retrievers")
    @classmethod
    def _refuse_duplicates(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(names)) != len(names):
            raise ValueError("a retriever is named twice")
        return names

    def remembered(self) -> dict[str, Any]:
        """Return what a thread keeps: the given values as JSON, without the private ones and the environment's."""
        return self.model_dump(mode="json", include=self._given() - PRIVATE)

    def _given(self) -> set[str]:
        return set(self.model_fields_set if self._explicit is None else self._explicit)


REACHING = fields_with(Context, PLACE, ADDRESS)
"""Settings that name a place or an address: on a server with users, they are locked."""


def _copy_field(name: str) -> Any:  # noqa: ANN401  # as pydantic's Field
    field = Context.model_fields[name]
    extra: dict[str, Any] = {"langgraph_nodes": ["add_documents"]}
    return Field(default=field.default, description=field.description, json_schema_extra=extra)


class IngestContext(CheckedSettings):
    """One frozen set of choices for one run of the ingest graph."""

    corpus: str = _copy_field("corpus")
    access: tuple[str, ...] = _copy_field("access")

    @property
    def as_context(self) -> Context:
        """The same settings as a `Context`.

        Raises:
            SettingsError: One is out of bounds.
        """
        return Context(**self.model_dump(include=self.model_fields_set))
