"""A graph of your own over your documents: Anabranch answers as one of its nodes, and a step of yours follows."""

from pathlib import Path
from typing import Any

from langgraph.graph import END, START, MessagesState, StateGraph

from anabranch import Context, build

CORPUS = Path(__file__).parent / "documents.corpus"


class Dialogue(MessagesState):
    """What a turn takes, which is `messages`, and returns; other results of an answer need a line each."""

    answer: str
    citations: list[dict[str, Any]]
    sources: list[str]


def list_sources(state: Dialogue) -> dict[str, list[str]]:
    """List each cited document once: replace this step, or add others before and behind the answer."""
    return {"sources": list(dict.fromkeys(citation["source"] for citation in state["citations"]))}


# A question may give other settings, a model among them: they are the context of the run, a form in Studio.
builder = StateGraph(Dialogue, context_schema=Context)
builder.add_node("papers", build(settings={"corpus": str(CORPUS)}).compile())
builder.add_node(list_sources)
builder.add_edge(START, "papers")
builder.add_edge("papers", "list_sources")
builder.add_edge("list_sources", END)
graph = builder.compile(name="agent")
