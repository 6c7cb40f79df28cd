"""Where answers are kept between turns: the memory of this process, or the store that the graph runs with.

What comes back is never trusted: a store is open to others, so a value that is not what was put there is as good as
none, and a store that fails or is slow costs an answer's keeping and not the answer.
"""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from langgraph.runtime import RunControl, Runtime
from langgraph.store.base import BaseStore
from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from anabranch.caching import DAYS, MAX_CHARS, Memory, is_fresh, slot
from graph.context import Context
from graph.state import Candidate, Citation, Evidence, Excerpt, Passage, Query, Route, State, Verification

NAMESPACE = ("anabranch", "answers")
SECONDS = 2.0
"""What a store may take: a slower one would take longer than some answers."""

MEMORY = Memory()
_RUNS = 10_000


class Kept(TypedDict):
    """What of a turn is kept: all that is shown of it."""

    standalone: str
    round: int
    queries: list[Query]
    signals: dict[str, float]
    candidates: list[Candidate]
    passages: list[Passage]
    evidence: Evidence
    windows: list[list[Excerpt]]
    route: Route
    answer: str
    citations: list[Citation]
    unsupported: list[str]
    verification: Verification | dict[str, Any]
    abstained: bool


class Entry(TypedDict):
    """A kept turn; `key` is there because several keys may share a place, `at` says when it was made."""

    key: str
    at: str
    turn: Kept


_ENTRY = TypeAdapter(Entry)
_CHANNELS = tuple(Kept.__annotations__)

# Which run looked for which answer. A run that goes on after a pause or a kill, or from another checkpoint, is another
# one: its state may have been edited and its settings may differ, so what it answers is not known to be the answer.
_runs: OrderedDict[str, tuple[RunControl, str]] = OrderedDict()


def begun(key: str, runtime: Runtime[Context]) -> str:
    """Note that this run looks for an answer; return a token for its state, empty where there is no run."""
    if runtime.control is None:
        return ""
    token = uuid4().hex
    _runs[token] = (runtime.control, key)
    while len(_runs) > _RUNS:
        _runs.popitem(last=False)
    return token


async def find(context: Context, runtime: Runtime[Context], key: str) -> tuple[Entry | None, str]:
    """Return what is kept under a key, and why there is nothing where that was a failure."""
    try:
        found = await _read(_store_of(context, runtime), key)
    except Exception as error:  # noqa: BLE001  # stores raise types of their own, and none may end the turn
        return None, f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    try:
        entry = _ENTRY.validate_python(found, strict=True) if found is not None else None
    except ValidationError:
        return None, "what was kept cannot be read"
    return (entry if entry is not None and entry["key"] == key and is_fresh(entry["at"]) else None), ""


async def keep(context: Context, runtime: Runtime[Context], state: State) -> dict[str, Any]:
    """Keep a whole answer for the next who asks the same; return what the trace says of it.

    Only the run that looked for it may, and only where nothing went wrong on the way.
    """
    control, key = _runs.pop((state.get("lookup") or {}).get("token", ""), (None, ""))
    if control is None or control is not runtime.control or state["degraded"] or not state["answer"]:
        return {}
    turn = {name: value for name, value in state.items() if name in _CHANNELS}
    text = json.dumps({"key": key, "at": datetime.now(UTC).isoformat(timespec="seconds"), "turn": turn})
    if len(text) > MAX_CHARS:
        return {"kept": False, "why": f"{len(text):,} characters; {MAX_CHARS:,} are the most"}
    try:
        await _write(_store_of(context, runtime), key, text)
    except Exception as error:  # noqa: BLE001  # as above
        return {"kept": False, "why": f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"}
    return {"kept": True}


def _store_of(context: Context, runtime: Runtime[Context]) -> BaseStore | None:
    return runtime.store if context.cache == "store" else None


async def _read(store: BaseStore | None, key: str) -> Any:  # noqa: ANN401  # whatever is there
    if store is None:
        text = MEMORY.get(key)
        return json.loads(text) if text is not None else None
    async with asyncio.timeout(SECONDS):
        item = await store.aget(NAMESPACE, slot(key))
    value: Any = item.value if item is not None else None
    return value if isinstance(value, Mapping) or value is None else {}


async def _write(store: BaseStore | None, key: str, text: str) -> None:
    if store is None:
        MEMORY.put(key, text)
        return
    ttl: dict[str, Any] = {"ttl": DAYS * 24 * 60.0} if store.supports_ttl else {}
    async with asyncio.timeout(SECONDS):
        # Not indexed: where the store searches by meaning, each answer would cost an embedding.
        await store.aput(NAMESPACE, slot(key), json.loads(text), index=False, **ttl)
