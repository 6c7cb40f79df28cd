"""Clients of model servers, kept for the next call: per event loop, because a connection belongs to one.

A program may run several loops, one after the other (two asyncio.run calls) or side by side (a notebook and a server).
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from functools import partial
from typing import Generic, Protocol, TypeVar
from weakref import WeakKeyDictionary, finalize, ref

from anabranch.models.lru import LRU

K = TypeVar("K")
V = TypeVar("V")

# Clients kept in a loop: what they are told apart by comes from callers.
MOST = 16

_closing: set[asyncio.Task[None]] = set()


class Pool(Protocol):
    """Connections that can be closed."""

    async def aclose(self) -> None:
        """Close them."""
        ...


class _OfLoop(Generic[K, V]):
    def __init__(self, most: int) -> None:
        self.made: LRU[K, V] = LRU(most)
        self.coming: dict[K, asyncio.Task[V]] = {}


class Clients(Generic[K, V]):
    """Makes each client once and keeps those that were used last.

    One that is no longer kept has its connections closed when nobody holds it any more.
    """

    def __init__(self, make: Callable[[K], V], pool_of: Callable[[V], Pool | None], most: int = MOST) -> None:
        """Take what makes a client, and what returns the connections that it alone uses, if it has any."""
        self._make = make
        self._pool_of = pool_of
        self._most = most
        self._loops: WeakKeyDictionary[asyncio.AbstractEventLoop, _OfLoop[K, V]] = WeakKeyDictionary()
        self._lock = threading.Lock()

    async def get(self, key: K) -> V:
        """Return the client of a key; raises what making it raises, each time anew."""
        loop = asyncio.get_running_loop()
        here = self._clients_of(loop)
        known = here.made.get(key)
        if known is not None:
            return known
        # Two first calls at the same time must not make two clients: the pool of one would never be closed.
        if key not in here.coming:
            # In a thread: to import a provider's package blocks.
            here.coming[key] = loop.create_task(asyncio.to_thread(self._make, key))
            here.coming[key].add_done_callback(partial(self._keep_client, loop, here, key))
        # Who gives up waiting takes the client from nobody else.
        return await asyncio.shield(here.coming[key])

    def _clients_of(self, loop: asyncio.AbstractEventLoop) -> _OfLoop[K, V]:
        with self._lock:
            # A connection knows its loop, so neither would ever go by itself.
            for closed in [each for each in self._loops if each.is_closed()]:
                del self._loops[closed]
            return self._loops.setdefault(loop, _OfLoop(self._most))

    def _keep_client(self, loop: asyncio.AbstractEventLoop, here: _OfLoop[K, V], key: K, made: asyncio.Task[V]) -> None:
        del here.coming[key]
        if made.cancelled() or made.exception() is not None:
            return
        client = made.result()
        if (pool := self._pool_of(client)) is not None:
            # At the end of the program there is no loop left to close anything on.
            finalize(client, _close_later, ref(loop), pool).atexit = False
        here.made.set(key, client)


def _close_later(loop_of: ref[asyncio.AbstractEventLoop], pool: Pool) -> None:
    loop = loop_of()
    if loop is not None and not loop.is_closed():
        # Garbage is collected on any thread, and a pool can be closed on its own loop only.
        loop.call_soon_threadsafe(_close, loop, pool)


def _close(loop: asyncio.AbstractEventLoop, pool: Pool) -> None:
    closing = loop.create_task(pool.aclose())
    # A loop holds its tasks weakly: nobody else would keep this one until it is done.
    _closing.add(closing)
    closing.add_done_callback(_closing.discard)
