"""Looks for a model server on this machine: Ollama, LM Studio, llama.cpp, at the ports that they listen on by default.

Only the loopback address is contacted, past any proxy of the environment, and only to ask for the list of models.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

HOST = "127.0.0.1"
# Time that each server has; one on this machine answers in a few milliseconds.
SECONDS = 0.2

_NO_CHAT = ("embed", "rerank", "bge-", "minilm", "whisper", "tts-")
_NO_CHAT_FAMILIES = frozenset({"bert", "nomic-bert", "xlmroberta"})


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A program that serves models, where it listens, and where it lists them; all three speak OpenAI's protocol."""

    program: str
    port: int
    listing: str

    def __str__(self) -> str:
        """Return it as messages name it."""
        return f"{self.program} at {HOST}:{self.port}"


SERVERS = (
    LocalServer("Ollama", 11434, "/api/tags"),
    LocalServer("LM Studio", 1234, "/v1/models"),
    LocalServer("llama.cpp", 8080, "/v1/models"),
)


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A model that a server on this machine has."""

    name: str
    server: LocalServer

    @property
    def base_url(self) -> str:
        """Where it is asked."""
        return f"http://{HOST}:{self.server.port}/v1"

    def __str__(self) -> str:
        """Return it as messages name it."""
        return f"{self.name} of {self.server}"


# What was found when somebody last looked, by the servers that were asked. Owner: this module; one entry.
_found: dict[tuple[LocalServer, ...], LocalModel | None] = {}


def last_found() -> LocalModel | None:
    """Return what was found when somebody last looked."""
    return _found.get(SERVERS)


async def find_model(*, anew: bool = False) -> LocalModel | None:
    """Return the first model that chats, by the order of `SERVERS`; None where there is none.

    Args:
        anew: Whether to look again. The steps after the first do not: a turn goes on with what it began with.
    """
    servers = SERVERS
    if anew or servers not in _found:
        listed = await asyncio.gather(*map(_models, servers))
        models = [LocalModel(name, server) for server, names in zip(servers, listed, strict=True) for name in names]
        _found[servers] = next(iter(models), None)
    return _found[servers]


async def _models(server: LocalServer) -> list[str]:
    """Return the names of the models that chat, none where nobody answers as this program does."""
    import httpx

    # Not encrypted; to read the certificates that nothing here is signed with would take longer than to ask.
    asking = httpx.AsyncClient(trust_env=False, follow_redirects=False, verify=False)  # noqa: S501
    try:
        async with asking as client, asyncio.timeout(SECONDS):
            reply = await client.get(f"http://{HOST}:{server.port}{server.listing}")
            reply.raise_for_status()
            return _chat_models(reply.json())
    except (httpx.HTTPError, TimeoutError, ValueError):
        return []


def _chat_models(listing: Any) -> list[str]:  # noqa: ANN401  # whatever listens there may send anything
    """Return the names in a list of models, without those that embed or rank."""
    items = (listing.get("models") or listing.get("data")) if isinstance(listing, Mapping) else None
    if not isinstance(items, Sequence) or isinstance(items, str):
        return []
    named = [(item.get("model") or item.get("id"), item) for item in items if isinstance(item, Mapping)]
    return [name for name, item in named if isinstance(name, str) and name and not _is_for_vectors(name, item)]


def _is_for_vectors(name: str, item: Mapping[str, Any]) -> bool:
    details = item.get("details")
    family = details.get("family") if isinstance(details, Mapping) else None
    return family in _NO_CHAT_FAMILIES or any(part in name.lower() for part in _NO_CHAT)
