"""The documents as LangChain tools: an agent lists, searches, scans and reads them, or asks the answer graph."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Annotated, Any

from langchain_core.tools import BaseTool, StructuredTool, ToolException
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from anabranch.agent.graph.answer import aanswer
from anabranch.agent.graph.bindings import bind, bind_run
from anabranch.agent.graph.document_access import ARGUMENTS, DESCRIPTIONS, MOST, USUAL, DocumentAccess
from anabranch.agent.graph.retrieval import make_search
from anabranch.agent.graph.sync_adapter import wait_for
from anabranch.errors import AnabranchError
from anabranch.store.filters import parse_filters

if TYPE_CHECKING:
    from langchain_core.documents import BaseDocumentCompressor
    from langchain_core.embeddings import Embeddings

    from anabranch.agent.graph.bindings import Retrievers
    from anabranch.models.embedder import Embedder

Calling = Callable[..., Awaitable[tuple[Mapping[str, Any], Any]]]
"""A tool: returns what the model reads, and the artifact of the tool message."""


def as_tools(
    corpus: str | PathLike[str] | None = None,
    *,
    about: str = "",
    prefix: str = "",
    filters: dict[str, Any] | None = None,
    embedder: Embeddings | Embedder | None = None,
    reranker: BaseDocumentCompressor | str | None = None,
    retrievers: Retrievers | Sequence[str] | None = None,
    **settings: Any,  # noqa: ANN401
) -> list[BaseTool]:
    """Return the tools `list_documents`, `search`, `grep`, `read` and `ask` over a corpus.

    A result is JSON of at most 4,000 tokens, with a cursor for more. The artifact of the tool message is the result as
    well; that of `ask` is all that `answer` returns. A wrong argument is told to the model, and does not end the agent.

    Args:
        corpus: Where the documents are; None for the corpus of the operator, or of the user of the agent's run.
        about: What the documents are about, in one sentence: the agent's model decides by it when to use the tools.
        prefix: Begins each name, for an agent with several corpora or with tools of the same names.
        filters: A filter expression; the tools show only documents that match.
        embedder: As in `answer`; so are the following arguments.
        reranker: By name or as an object.
        retrievers: By name, or further LangChain retrievers.
        **settings: Settings of `Context`, such as `access` and `model`.

    Raises:
        SettingsError: A setting is unknown or out of bounds, or the filters are malformed.
    """
    parse_filters(filters)
    given = settings if corpus is None else {**settings, "corpus": corpus}
    context, own = bind_run(given, reranker, retrievers)
    documents = DocumentAccess(
        given=context,
        filters=filters,
        bindings=bind(embedder=embedder, retrievers=own),
        search_with=make_search(own, embedder),
    )

    async def read(**arguments: Any) -> Mapping[str, Any]:  # noqa: ANN401
        first, last = arguments.pop("from"), arguments.pop("to")
        return await documents.read(first=first, last=last, **arguments)

    async def ask(question: str) -> tuple[Mapping[str, Any], Any]:
        found = await aanswer(
            question, filters=filters, embedder=embedder, reranker=reranker, retrievers=retrievers, **given
        )
        return await documents.show_answer(found), found

    calls: dict[str, tuple[Calling, type[BaseModel]]] = {
        "list_documents": (_with_artifact(documents.list_documents), _LISTING),
        "search": (_with_artifact(documents.search), _SEARCH),
        "grep": (_with_artifact(documents.grep), _GREP),
        "read": (_with_artifact(read), _READ),
        "ask": (ask, _ASK),
    }
    return [
        _tool(prefix + name, call, f"{DESCRIPTIONS[name]} {about}".strip(), takes)
        for name, (call, takes) in calls.items()
    ]


def _with_artifact(call: Callable[..., Awaitable[Mapping[str, Any]]]) -> Calling:
    async def call_tool(**arguments: Any) -> tuple[Mapping[str, Any], Any]:  # noqa: ANN401
        result = await call(**arguments)
        return result, result

    return call_tool


def _tool(name: str, call: Calling, description: str, takes: type[BaseModel]) -> BaseTool:
    async def acall(**arguments: Any) -> tuple[str, Any]:  # noqa: ANN401
        try:
            given = takes.model_validate(arguments)
            shown, artifact = await call(**{name: getattr(given, name) for name in takes.model_fields})
        except ValidationError as error:
            raise ToolException(_describe_faults(error)) from error
        except AnabranchError as error:
            raise ToolException(str(error)) from error
        return json.dumps(shown, ensure_ascii=False), artifact

    async def call_both(arguments: Mapping[str, Any]) -> dict[str, Any]:
        content, artifact = await acall(**arguments)
        return {"content": content, "artifact": artifact}

    def run(**arguments: Any) -> tuple[str, Any]:  # noqa: ANN401
        done = wait_for(call_both(arguments))
        return done["content"], done["artifact"]

    return StructuredTool.from_function(
        run,
        acall,
        name=name,
        description=description,
        # As JSON: of a class, LangChain leaves out `from`, which is no name in Python.
        args_schema=takes.model_json_schema(),
        response_format="content_and_artifact",
        handle_tool_error=True,
    )


def _describe_faults(error: ValidationError) -> str:
    """Return which arguments are wrong, on one line and without their values."""
    faults = "; ".join(f"`{each['loc'][0]}`: {each['msg']}" for each in error.errors()[:5] if each["loc"])
    return f"The tool was not called: {faults or 'its arguments are wrong'}."


def _make_schema(name: str, **fields: Any) -> type[BaseModel]:  # noqa: ANN401  # as pydantic takes them
    described = {
        field: (Annotated[kind, Field(description=ARGUMENTS[field], **bounds)], default)
        for field, (kind, default, bounds) in fields.items()
    }
    return create_model(name, __config__=ConfigDict(extra="forbid"), **described)  # type: ignore[call-overload, no-any-return]


_FILTERS: Any = (dict[str, Any] | None, None, {})
_CURSOR: Any = (str, "", {})
_LISTING = _make_schema("list_documents", filters=_FILTERS, cursor=_CURSOR)
_SEARCH = _make_schema(
    "search", query=(str, ..., {}), filters=_FILTERS, limit=(int, USUAL, {"ge": 1, "le": MOST}), cursor=_CURSOR
)
_GREP = _make_schema("grep", pattern=(str, ..., {}), document=(str, "", {}), cursor=_CURSOR)
_READ = _make_schema(
    "read",
    **{"document": (str, ..., {}), "from": (int, 1, {"ge": 1}), "to": (int | None, None, {}), "cursor": _CURSOR},
)
_ASK = _make_schema("ask", question=(str, ..., {}))
