"""A server that speaks Cohere's v2 rerank endpoint on 127.0.0.1, scoring by the query's terms that a document shares.

In a test: `with CohereStub(script) as stub: cohere.AsyncClientV2("key", base_url=stub.base_url)`. The script matters
only where its reply fails or is late; otherwise the documents are scored.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, ClassVar

from tests.servers.calls import Request
from tests.servers.loopback import ScriptedStub
from tests.servers.scripts import Reply, Script


class CohereStub(ScriptedStub):
    """Keeps its calls like the OpenAI stub; a request's query and documents are in `request.body`."""

    paths: ClassVar = {"/v2/rerank": "rerank"}

    def __init__(self, script: Script | Reply | str = "", *, port: int = 0, log: Path | None = None) -> None:
        super().__init__(script, port=port, log=log)

    @property
    def base_url(self) -> str:
        """What a client takes as its base url."""
        return self.url

    def refuse(self, request: Request) -> str | None:
        if not request.body.get("documents"):
            return "invalid request: list of documents must not be empty"
        return None if request.body.get("query") else "invalid request: query must not be empty"

    def error(self, reply: Reply) -> dict[str, Any]:
        return {"id": "stub", "message": reply.text}

    def compose(self, request: Request, reply: Reply) -> dict[str, Any]:
        scores = [overlap(request.body["query"], document) for document in request.body["documents"]]
        order = sorted(range(len(scores)), key=lambda index: (-scores[index], index))[: request.body.get("top_n")]
        return {
            "id": f"rerank-{request.number}",
            "results": [{"index": index, "relevance_score": scores[index]} for index in order],
            "meta": {"api_version": {"version": "2"}, "billed_units": {"search_units": 1}},
        }


def overlap(query: str, document: str) -> float:
    """Return the share of the query's distinct terms that the document has, from 0 to 1."""
    terms, found = (set(re.findall(r"\w+", text.lower())) for text in (query, document))
    return len(terms & found) / len(terms) if terms else 0.0
