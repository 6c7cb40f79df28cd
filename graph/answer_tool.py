"""The answer graph as a tool for agents: a question in, an answer with its sources out."""

from __future__ import annotations

from typing import Any

from langchain_core.tools import BaseTool, StructuredTool

from anabranch.agent.graph.answer import aanswer, answer
from anabranch.agent.nodes.settings import Context
from anabranch.citations.answer_sources import by_marker, title_of

NAME = "ask_documents"
DESCRIPTION = (
    "Answers a question from the user's own documents, with verbatim quotes and their places. "
    "Says so if the documents do not hold the answer. Ask one complete question in words."
)
# Arguments of `answer` that are not settings.
_NO_SETTINGS = ("filters", "embedder", "reranker", "retrievers")


def as_tool(name: str = NAME, description: str = DESCRIPTION, **options: Any) -> BaseTool:  # noqa: ANN401
    """Return a tool that takes a question, and returns the answer with a line for each of its sources.

    The artifact of the tool message is the whole result.

    Args:
        name: Name of the tool.
        description: What the agent's model reads about the tool: say here what the documents are about.
        **options: Arguments of `answer`.

    Raises:
        SettingsError: An option is unknown or out of bounds.
    """
    Context(**{option: value for option, value in options.items() if option not in _NO_SETTINGS})

    def ask(question: str) -> tuple[str, dict[str, Any]]:
        return _format_result(answer(question, **options))

    async def aask(question: str) -> tuple[str, dict[str, Any]]:
        return _format_result(await aanswer(question, **options))

    return StructuredTool.from_function(
        ask, aask, name=name, description=description, response_format="content_and_artifact"
    )


def _format_result(result: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    sources = [
        f"[{marker}] {title_of(citation)}: “{citation['quote']}”"
        for marker, citation in by_marker(result["citations"]).items()
    ]
    return "\n".join([result["answer"], *([""] if sources else []), *sources]), result
