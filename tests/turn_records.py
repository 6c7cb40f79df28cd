"""The record of a turn, as a checkpoint of this version holds it."""

from __future__ import annotations

from typing import Any

from anabranch.agent.nodes.state import STATE_VERSION


def turn_record(**changed: Any) -> dict[str, Any]:
    """Return the record of a turn, with some of its fields changed."""
    record = {"version": STATE_VERSION, "settings": {}, "access_digest": "", "generation": 1, "filters": None}
    return {**record, "question": "x", "standalone_question": "x", **changed}
