"""The documents as one caller may use them by tools: in MCP, in the page's API and as LangChain tools alike."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph

from anabranch.agent.graph.bindings import NONE_BOUND, GraphBindings
from anabranch.agent.graph.dependencies import import_parts, load_corpus, make_scope, read_chunks
from anabranch.agent.graph.retrieval import graph as search_graph
from anabranch.agent.graph.settings_precedence import operator_settings, resolve_settings
from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import InputState
from anabranch.errors import QuestionError
from anabranch.identity.audit_log import audit, is_audited
from anabranch.identity.user import AUTH_USER, User
from anabranch.retrieval.asked_answer import AskedAnswer, show_answer
from anabranch.retrieval.document_tools import grep, list_documents, narrow, read, show_found
from anabranch.retrieval.tool_result import DocumentList, FoundPassage, FoundPassages, ReadPassages
from anabranch.store.protocol import CorpusReader, Scope

MOST = 20
"""Most passages of one part of a search."""

USUAL = 8
"""Passages of one part of a search if the caller names no number."""

DESCRIPTIONS = MappingProxyType(
    {
        "list_documents": "List the user's documents by name, or those that match a filter.",
        "search": "Find passages of the user's documents by words and by meaning, best first.",
        "grep": "Find exact words in the user's documents, document by document. Case does not count; * is any text "
        "within a passage; no other sign has a meaning.",
        "read": "Read passages of a document, from one number to another, counted from 1.",
        "ask": "Answer a question from the user's documents. Each claim is checked and has its source.",
    }
)
"""What a model reads about each tool."""

ARGUMENTS = MappingProxyType(
    {
        "filters": 'Which documents, such as {"source": {"glob": "reports/*"}, "year": {"gte": 2020}}.',
        "query": "A question, or words to look for.",
        "limit": "How many passages.",
        "pattern": "Words as they stand in the text, such as `spare key` or `invoice * 2024`.",
        "document": "Its id, or its source or title if no other has it; from `list_documents` or a passage.",
        "from": "Number of the first passage.",
        "to": "Number of the last passage; up to the end if left out.",
        "question": "In whole words, and complete in itself.",
        "cursor": "From the result of the same call, for what follows.",
    }
)
"""What a model reads about each argument."""


@dataclass(frozen=True, slots=True)
class DocumentAccess:
    """Lists, searches, scans and reads within the caller's access tags; see `anabranch.retrieval.document_tools`.

    Attributes:
        user: The authenticated caller; None for the one who started this process.
        given: Settings of the call; None for those of the operator.
        filters: Narrow every call.
        bindings: What the graphs were built with.
        search_with: The search graph.
    """

    user: User | None = None
    given: Context | None = None
    filters: Mapping[str, Any] | None = None
    bindings: GraphBindings = NONE_BOUND
    search_with: CompiledStateGraph[Any, Any, Any, Any] = field(default=search_graph)

    async def list_documents(self, filters: Mapping[str, Any] | None = None, cursor: str = "") -> DocumentList:
        """List the documents, or those that match a filter.

        Raises:
            UserError: The filter, the cursor or the corpus cannot be used; so do all methods.
        """
        corpus, scope, _ = await self._open(filters)
        return await list_documents(corpus, scope, cursor)

    async def grep(self, pattern: str, document: str = "", cursor: str = "") -> FoundPassages:
        """Find the passages with the words of a pattern."""
        corpus, scope, settings = await self._open()
        found = await grep(corpus, scope, pattern, document, cursor)
        await self._note("grep", settings, corpus, scope, found["items"])
        return found

    async def read(self, document: str, first: int = 1, last: int | None = None, cursor: str = "") -> ReadPassages:
        """Read passages of a document, from one number to another."""
        corpus, scope, settings = await self._open()
        found = await read(corpus, scope, document, first, last, cursor)
        await self._note("read", settings, corpus, scope, found["items"])
        return found

    async def search(
        self, query: str, filters: Mapping[str, Any] | None = None, limit: int = USUAL, cursor: str = ""
    ) -> FoundPassages:
        """Find passages by words and by meaning, best first."""
        if not query.strip():
            raise QuestionError("The query of the search is empty.", hint="Give words to search for.")
        if not 1 <= limit <= MOST:
            raise QuestionError(f"A search returns no {limit} passages at once.", hint=f"Ask for 1 to {MOST}.")
        corpus, scope, settings = await self._open(filters)
        asked = InputState(question=query, filters=dict(scope.filters) if scope.filters else None)
        state = await self.search_with.ainvoke(asked, self._config(), context=self.given or Context())
        ids = [candidate["id"] for candidate in state["candidates"]]
        passages = await read_chunks(settings, state, ids)
        ranked = [passages[each] for each in ids if each in passages]
        # The graph has recorded what it found.
        return await show_found(corpus, scope, query, ranked, limit, cursor)

    async def show_answer(self, state: Mapping[str, Any]) -> AskedAnswer:
        """Return the answer of a finished run as a result of a tool.

        Raises:
            QuestionError: `review` paused the run for a person.
        """
        if "__interrupt__" in state:
            msg = "`review` paused this question for a person, and a tool cannot resume it."
            raise QuestionError(msg, hint="Ask with review=none.")
        corpus, scope, _ = await self._open()
        return await show_answer(state, corpus, scope)

    async def _open(self, filters: Mapping[str, Any] | None = None) -> tuple[CorpusReader, Scope, Context]:
        if not import_parts.cache_info().currsize:
            await asyncio.to_thread(import_parts)
        settings = self._settings()
        corpus = await load_corpus(settings, self.bindings)
        return corpus, narrow(make_scope(settings, self.filters), filters), settings

    def _settings(self) -> Context:
        """Return the caller's settings; as in the graph, None is refused where people have to authenticate."""
        if self.user is None:
            return resolve_settings(self.given, bindings=self.bindings)
        self.user.require("ask")
        return operator_settings(self.user)

    def _config(self) -> RunnableConfig:
        # Without a user, a run inside another one has that one's user.
        return RunnableConfig() if self.user is None else RunnableConfig(configurable={AUTH_USER: self.user})

    async def _note(
        self, tool: str, settings: Context, corpus: CorpusReader, scope: Scope, passages: Sequence[FoundPassage]
    ) -> None:
        """Record what somebody is shown, before they are."""
        if not is_audited():
            return
        known = await corpus.chunks([each["passage_id"] for each in passages], scope)
        sources = {each["document_id"]: each["document"] for each in passages}
        sources |= {each.doc_id: each.source for each in known.values()}
        documents = [{"id": doc_id, "source": source} for doc_id, source in sources.items()]
        await audit("document", self.user or settings.user, documents=documents, tool=tool)
