"""What it takes to see how many calls of a level run at once: many windows, and the times of the calls."""

from __future__ import annotations

from pathlib import Path

from anabranch.ingestion.pipeline import ingest
from tests.graph.replies import step_of
from tests.servers.openai_stub import OpenAIStub


def twenty_notes(folder: Path) -> str:
    """Return a corpus of twenty notes, each of which fills a window of 64 tokens."""
    for number in range(20):
        measure = " ".join(["gate", "wall", "weir", "pump", "dyke"][number % 5] for _ in range(30))
        text = f"# Parish {number}\n\nMeasure {number} protects the town from floods on the Halden: {measure}."
        (folder / f"{number}.md").write_text(text)
    ingest([folder], folder / "corpus")
    return str(folder / "corpus")


def most_at_once(stub: OpenAIStub, step: str) -> int:
    """Return how many calls of a step were under way at the same time, at most."""
    calls = [call for call in stub.calls if step_of(call.request) == step]
    return max(
        sum(other.request.started <= call.request.started < (other.finished or 0) for other in calls) for call in calls
    )
