"""How one question is to be answered: every setting a caller may choose, its bounds and the step it belongs to.

Precedence: explicit value, then what the thread began its turn with, then the environment (`ANABRANCH_` and the
field's name), then the default here. On a LangGraph server the same model is the typed form that Studio shows on each
node. Secrets are never settings: providers' keys are read from their own environment variables by their own clients.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    ValidationInfo,
    field_validator,
    model_validator,
)

import prompts
from anabranch.models.answer_form import AnswerForm
from anabranch.models.providers import refuse_options
from anabranch.models.rerankers import RERANKERS
from anabranch.retrieval import RETRIEVERS
from anabranch.safety.prompt_template import PLACES, checked_prompt
from anabranch.synthesis.routing import BUILT_IN, SYNTHESIS_MODES
from nodes.support.extension_names import OneOf

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from anabranch.identity.user import User

AUTO = "auto"
"""The `model` that is looked for on this machine."""

OBJECT = "object:"
"""What stands before the name of a model that was given in code, where names are kept."""

# Never remembered in a thread: a resumed run gets its access from its caller, not from a checkpoint.
PRIVATE = frozenset({"access"})


def _path(value: Any) -> Any:  # noqa: ANN401  # whatever was given
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def _on(*nodes: str, kind: str = "") -> dict[str, Any]:
    """Tell Studio which nodes a field belongs to, and that it is a prompt."""
    return {"langgraph_nodes": list(nodes), **({"langgraph_type": kind} if kind else {})}


def _places(node: str) -> str:
    named = ", ".join(f"{{{name}}}" for name in PLACES[node])
    return f", or a template with {named}" if named else ""


def _prompt(node: str, text: str) -> Any:  # noqa: ANN401  # what pydantic's Field itself returns
    return Field(
        default=text,
        min_length=1,
        max_length=20_000,
        description=f"Instructions to the model in the step {node!r}{_places(node)}.",
        json_schema_extra=_on(node, kind="prompt"),
    )


class Context(BaseModel):
    """One frozen set of choices for one run; an unknown key is an error.

    It knows its fields and nothing else: where values come from besides is the business of `in_force`.
    """

    # A mistyped setting that is ignored costs a wrong answer; and `model_...` are names that pydantic would keep to
    # itself.
    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=(), hide_input_in_errors=True)

    corpus: Annotated[str, BeforeValidator(_path)] = Field(
        default=".anabranch/corpus",
        min_length=1,
        description="Address of the corpus: a folder, memory:NAME, postgresql://DATABASE, or what a package adds.",
        json_schema_extra=_on("begin", "retrieve"),
    )
    # From the caller, so that a server can take it from whoever is logged in; the operator may lock it.
    access: tuple[str, ...] = Field(
        default=(),
        max_length=100,
        description="Access tags of the caller; documents with tags are visible only to callers who hold one of them.",
        json_schema_extra=_on("retrieve", "merge"),
    )
    model: str | None = Field(
        default=None,
        description="Chat model, 'provider:name' as in init_chat_model, or 'auto': what Ollama, LM Studio or llama.cpp "
        "serves on this machine. Without one, answers are verbatim sentences. In code, any LangChain chat model.",
        json_schema_extra=_on("condense", "rewrite", "rerank", "grade", "create", "refine", "map", "reduce"),
    )
    # Locked on servers (ANABRANCH_LOCK): a caller who chooses it chooses where this process sends requests.
    base_url: str | None = Field(
        default=None,
        pattern=r"^https?://",
        description="An OpenAI-compatible server (vLLM, Ollama, llama.cpp) that serves `model`.",
        json_schema_extra=_on("create"),
    )
    reasoning_effort: Literal["minimal", "low", "medium", "high"] | None = Field(
        default=None,
        description="How long a model that thinks before it writes may think, where the provider takes it.",
        json_schema_extra=_on("create"),
    )
    model_kwargs: dict[str, Any] = Field(
        default={},
        description="Further options of the model's LangChain client, as an object, such as `temperature`, which is 0 "
        "unless it is given; keys and addresses are refused.",
        examples=[{"temperature": 0.7, "top_p": 0.9}],
        json_schema_extra=_on("create"),
    )
    model_timeout: float = Field(
        default=60.0, gt=0, le=3600, description="Seconds one model call may take, retries included."
    )
    model_retries: int = Field(
        default=2, ge=0, le=10, description="Further tries after 429, 5xx and connection errors."
    )
    # What is published is of the model; a server of one's own is often started with less.
    context_tokens: int | None = Field(
        default=None,
        ge=256,
        le=100_000_000,
        description="Tokens of one call that the model has room for, reply included; unset: what is published of it.",
        json_schema_extra=_on("pack"),
    )
    # A bound by default, for a corpus that grew and a route that nobody chose.
    max_model_calls: int = Field(
        default=100,
        ge=1,
        le=100_000,
        description="Model calls one question may take; the answer is written by a route that keeps to it.",
        json_schema_extra=_on("pack"),
    )
    max_tokens: int | None = Field(
        default=None,
        ge=100,
        le=1_000_000_000,
        description="Tokens, of prompts and replies together, that one question may take.",
        json_schema_extra=_on("pack"),
    )

    strategy: Literal["multi", "decompose", "hyde", "step_back", "none"] = Field(
        default="multi",
        description="How the chat model makes further search queries, and others where these find too little; without "
        "a model, and with 'none', the question alone is searched for, once.",
        json_schema_extra=_on("rewrite"),
    )
    n_queries: int = Field(
        default=4,
        ge=1,
        le=16,
        description="Search queries in all, the question itself among them.",
        json_schema_extra=_on("rewrite"),
    )
    # By default the question weighs more than all that was derived from it: rewrites add recall and noise (2603.13301,
    # 2603.02153), and fusion must not let them outvote the user's own words.
    variant_weight: float = Field(
        default=0.5,
        gt=0,
        le=15,
        description="What all further queries weigh together; the question weighs 1. At 3, three are its equals.",
        json_schema_extra=_on("rewrite"),
    )
    retrievers: tuple[str, ...] = Field(
        default=("bm25", "dense"),
        min_length=1,
        max_length=8,
        description="Retrievers to fan out to: 'bm25', 'dense', 'llm' (the chat model reads every passage of a small "
        "corpus), and the names of any given to build(retrievers=...) or added by an installed package.",
        examples=[["bm25", "dense", *RETRIEVERS.names]],
        json_schema_extra=_on("retrieve"),
    )
    depth: int = Field(
        default=50, ge=1, le=1000, description="Length of each ranked list.", json_schema_extra=_on("retrieve")
    )
    fusion: Literal["complete", "convex", "rrf", "z_score", "dbsf"] = Field(
        default="complete",
        description="How lists are fused: min-max convex combination with every passage scored by both retrievers, or "
        "of the lists as they are; reciprocal ranks, z-scores, distributions.",
        json_schema_extra=_on("fuse"),
    )
    alpha: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Weight of 'dense' against 'bm25': 0 is BM25 alone, 1 is dense alone; unset: chosen for each "
        "question by the evidence with fusion 'complete', one half with the others.",
        json_schema_extra=_on("fuse"),
    )
    rerank: Annotated[str, OneOf(RERANKERS, ("none",))] = Field(
        default="none", description="Who reorders the fused candidates.", json_schema_extra=_on("rerank")
    )
    rerank_model: str | None = Field(
        default=None,
        description="Cohere model name (default 'rerank-v4.0-fast'), or the folder of a cross-encoder or encoder.",
        json_schema_extra=_on("rerank"),
    )
    rerank_depth: int = Field(
        default=30, ge=1, le=1000, description="Candidates the reranker sees.", json_schema_extra=_on("rerank")
    )
    rerank_batch: int = Field(
        default=20,
        ge=1,
        le=50,
        description="Candidates in one call of the LLM reranker; of several calls, each is shown one or two more.",
        json_schema_extra=_on("rerank"),
    )
    top_k: int = Field(
        default=24,
        ge=1,
        le=1000,
        description="Leaf passages kept after reranking.",
        json_schema_extra=_on("rerank", "merge"),
    )
    # Measured in evals/merging.md; lower ones push other evidence out where windows are small.
    merge_threshold: float = Field(
        default=0.75,
        ge=0,
        le=1,
        description="A parent replaces its children when more than this share of them was kept; 1: no merging.",
        json_schema_extra=_on("merge"),
    )
    grade: Literal["scores", "llm", "none"] = Field(
        default="scores", description="Who judges whether there is evidence.", json_schema_extra=_on("grade")
    )
    synthesis: Annotated[str, OneOf(SYNTHESIS_MODES, others=BUILT_IN)] = Field(
        default="auto", description="How the answer is written from several windows.", json_schema_extra=_on("pack")
    )
    # The default leaves of 128 tokens times `top_k` are about one of these: one window, one call.
    window_tokens: int = Field(
        default=3000,
        ge=64,
        le=1_000_000,
        description="Tokens of passages in one call, by the corpus's tokenizer; less where the model has no room.",
        json_schema_extra=_on("pack"),
    )
    # Of the reply alone: room for thoughts comes on top where a model needs it (`anabranch.models.reply_budget`).
    answer_tokens: int = Field(
        default=800,
        ge=16,
        le=32_000,
        description="Tokens one model reply may have.",
        json_schema_extra=_on("create", "refine", "map", "reduce"),
    )
    answer_form: AnswerForm = Field(
        default="auto",
        description="What the model is asked for: a plain answer, one with the numbers of its passages, or also the "
        "words for what was not found there; 'auto' asks hosted models for numbers and others plainly.",
        json_schema_extra=_on("create", "refine", "map", "cite"),
    )
    verify: Literal["words", "llm", "nli"] = Field(
        default="words",
        description="How claims are checked: by words alone, then by one call of the model for all of them, or by a "
        "local model of natural language inference.",
        json_schema_extra=_on("cite"),
    )
    verify_model: str | None = Field(
        default=None,
        description="Folder of an ONNX model for verify 'nli': model.onnx, tokenizer.json, config.json.",
        json_schema_extra=_on("cite"),
    )
    fan_in: int = Field(
        default=4,
        ge=2,
        le=20,
        description="Partial answers joined by one reduce call.",
        json_schema_extra=_on("reduce"),
    )
    file_links: bool = Field(
        default=True,
        description="Whether the links of citations say where a file lies on this machine; web pages keep theirs.",
        json_schema_extra=_on("cite"),
    )
    review: Literal["none", "queries", "sources"] = Field(
        default="none",
        description="Pause for a person: to edit the queries before the search, or the passages before the answer.",
        json_schema_extra=_on("review_queries", "review_sources"),
    )

    condense_prompt: str = _prompt("condense", prompts.CONDENSE)
    rewrite_prompt: str | None = Field(
        default=None,
        min_length=1,
        max_length=20_000,
        description="In place of the instructions of the chosen strategy: instructions to the model in the step "
        f"'rewrite'{_places('rewrite')}.",
        json_schema_extra=_on("rewrite", kind="prompt"),
    )
    retrieve_prompt: str = _prompt("retrieve", prompts.RETRIEVE)
    rerank_prompt: str = _prompt("rerank", prompts.RERANK)
    grade_prompt: str = _prompt("grade", prompts.GRADE)
    create_prompt: str = _prompt("create", prompts.CREATE)
    refine_prompt: str = _prompt("refine", prompts.REFINE)
    reduce_prompt: str = _prompt("reduce", prompts.REDUCE)

    _explicit: frozenset[str] | None = PrivateAttr(default=None)
    _object: Any = PrivateAttr(default=None)
    _user: Any = PrivateAttr(default=None)

    @model_validator(mode="wrap")
    @classmethod
    def _with_object(cls, values: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:  # noqa: ANN401  # any input
        """Keep a model object beside the fields, so that these stay JSON; `model` has its name."""
        model = values.get("model") if isinstance(values, Mapping) else None
        if model is None or isinstance(model, str):
            return handler(values)
        from langchain_core.language_models import BaseChatModel

        if not isinstance(model, BaseChatModel):
            # ValueError and not TypeError: pydantic turns only the former into a readable error.
            msg = f"model is neither a name nor a LangChain chat model, but {type(model).__name__}"
            raise ValueError(msg)  # noqa: TRY004  # of a TypeError pydantic would make no ValidationError
        from anabranch.models.chat import model_name

        context = handler({**values, "model": f"{OBJECT}{model_name(model)}"})
        context._object = model
        return context

    @property
    def model_object(self) -> BaseChatModel | None:
        """The chat model that was given in code."""
        given: BaseChatModel | None = self._object
        return given

    @property
    def user(self) -> User | None:
        """Who asks; None where nobody has to say so (ANABRANCH_AUTH is not set, or the command line asks)."""
        user: User | None = self._user
        return user

    @property
    def explicit(self) -> dict[str, Any]:
        """The values that were given, without those that `in_force` added."""
        # Without those that `in_force` filled in: they would look as if the caller had chosen them.
        given = self.model_dump(include=self._given())
        return {**given, "model": self._object} if "model" in given and self._object is not None else given

    @field_validator("model_kwargs")
    @classmethod
    def _without_secrets(cls, options: dict[str, Any]) -> dict[str, Any]:
        refuse_options(options)
        return options

    @field_validator(*(f"{step}_prompt" for step in PLACES))
    @classmethod
    def _with_known_places(cls, prompt: str | None, info: ValidationInfo) -> str | None:
        step = str(info.field_name).removesuffix("_prompt")
        return None if prompt is None else checked_prompt(step, prompt)

    @field_validator("retrievers")
    @classmethod
    def _distinct(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(names)) != len(names):
            raise ValueError("a retriever is named twice")
        return names

    def remembered(self) -> dict[str, Any]:
        """Return what a thread keeps of it: the values that were given, without the private ones.

        What the environment says stays out: it is the operator's, and a result is the caller's to read.
        """
        # JSON primitives, because it lives in checkpoints.
        return self.model_dump(mode="json", include=self._given() - PRIVATE)

    def _given(self) -> set[str]:
        return set(self.model_fields_set if self._explicit is None else self._explicit)
