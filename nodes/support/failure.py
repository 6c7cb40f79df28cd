"""How a step says that it did without a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from anabranch.errors import ModelError, RequestRefusedError
from nodes.state import Degraded, Step


def failed(step: str, error: ModelError) -> Degraded:
    """Return the record of a failure that the step survived: what went wrong, and what to do about it."""
    return Degraded(step=step, reason=str(error), code=error.code)


def all_refused(model: str | None, trace: Sequence[Step], degraded: Sequence[Degraded]) -> list[Degraded]:
    """Say once that no request of the turn was answered: then something is configured wrongly, and no single step."""
    asked = Counter(step["node"] for step in trace if step["calls"])
    refused = Counter(
        item["step"].partition(":")[0] for item in degraded if item.get("code") == RequestRefusedError.code
    )
    if not asked or asked != refused:
        return []
    reason = f"{model!r} refused every request of this question: check `model`, `base_url` and what the server said"
    return [Degraded(step="model", reason=reason)]
