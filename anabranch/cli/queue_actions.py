"""The actions of `ingest --queue` and `corpus stats --watch`, which a plugin provides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from anabranch.registry import Registry

QUEUE_ACTIONS: Registry[Callable[..., Any]] = Registry("queue action", {})
"""By name, from the group of entry points `anabranch.queue_actions`.

"enqueue" takes paths, the address of the corpus, `as_json` and the options of `ingest`; it returns the exit code.
"watch" takes the address of the corpus and `as_json`.
"""
