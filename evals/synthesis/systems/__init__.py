"""The systems that are compared: each is a module with `answer(pack, mode, base_url)`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib import import_module

from evals.synthesis.packs import Pack

ANSWER_TOKENS = 80
"""What one reply may have, for every system."""
MODEL, KEY, PATIENCE = "local", "none", 3600.0

SYSTEMS = {
    "plain prompt": ("plain", "plain"),
    "Anabranch stuff": ("anabranch", "stuff"),
    "LlamaIndex compact": ("llama_index", "compact"),
    "LangChain stuff": ("langchain", "stuff"),
    "Anabranch refine": ("anabranch", "refine"),
    "LlamaIndex refine": ("llama_index", "refine"),
    "LangChain refine": ("langchain", "refine"),
    "Anabranch map_reduce": ("anabranch", "map_reduce"),
    "LlamaIndex tree_summarize": ("llama_index", "tree_summarize"),
    "LangChain map_reduce": ("langchain", "map_reduce"),
}
"""Module and way of answering, by the name in the table."""
PEERS = "llama-index-core llama-index-llms-openai-like langchain-classic"
"""Packages of theirs that stand beside ours in one environment, which not all of benchmarks/peers.txt do."""
ONE_WINDOW = frozenset({"plain", "stuff", "compact"})


@dataclass(frozen=True, slots=True)
class Said:
    """What a system answers; `abstained` where it says itself that it does, None where its words have to be read.

    `degraded`: the steps that could not do their best; `marked`: whether the reader is told that some of it is not
    confirmed.
    """

    text: str
    abstained: bool | None = None
    degraded: tuple[str, ...] = ()
    marked: bool = False


Ask = Callable[[Pack, str, str], Awaitable[Said]]
"""Asks one question in one way of a server, by its base url."""


def loaded(system: str) -> Ask:
    """Import a system.

    Raises:
        ImportError: Its packages are not installed.
    """
    ask: Ask = import_module(f"evals.synthesis.systems.{SYSTEMS[system][0]}").answer
    return ask


def texts_of(pack: Pack, mode: str) -> list[str]:
    """Return the documents that a library is given: each passage, or each window where it reads one after another."""
    if mode in ONE_WINDOW:
        return [passage.text for passage in pack.one]
    return ["\n\n".join(passage.text for passage in window) for window in pack.two]
