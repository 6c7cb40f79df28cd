"""What the setting `effort` stands for: values of other settings, below whatever anybody sets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

EffortName = Literal["quick", "normal", "deep"]

# The eight best leaves have some 1,000 tokens: on real questions, a model of 1.5 B answered 16 of 22 from them.
EFFORTS: Mapping[EffortName, Mapping[str, Any]] = {
    "quick": {
        "strategy": "none",
        "hops": 0,
        "top_k": 8,
        "merge_threshold": 1.0,
        "window_tokens": 1100,
        "synthesis": "stuff",
        "max_model_calls": 1,
    },
    "normal": {},
    "deep": {"hops": 4, "rounds": 3, "grade": "llm", "verify": "llm"},
}
"""The table of the guide is made of this one; 'normal' is the defaults."""

WINDOWED = ("synthesis", "window_tokens", "max_model_calls")
"""What no effort changes where whole documents are read, or rows are listed: that takes a call for each window."""
