"""A way to a PostgreSQL server that counts how often its user waits for an answer, and can be made longer."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

NAME = ".s.PGSQL.5432"


class Way:
    """What went through.

    Attributes:
        waits: How often the server was ready for the next question ("ReadyForQuery"): one for each round trip.
        delay: Seconds that an answer takes longer than it does.
    """

    def __init__(self) -> None:
        self.waits = 0
        self.delay = 0.0


@contextmanager
def counted(server: Path, folder: Path) -> Iterator[Way]:
    """Stand between the folder of a server's socket and a folder of one's own."""
    way, loop = Way(), asyncio.new_event_loop()

    async def through(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answers, questions = await asyncio.open_unix_connection(str(server / NAME))
        asking = asyncio.create_task(_forwarded(reader, questions))
        with suppress(asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            await _answered(way, answers, writer)
        asking.cancel()
        for each in (writer, questions):
            each.close()
        for each in (writer, questions):
            with suppress(OSError):
                await each.wait_closed()

    listening = loop.run_until_complete(asyncio.start_unix_server(through, str(folder / NAME)))
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield way
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        listening.close()
        passing = asyncio.all_tasks(loop)
        for task in passing:
            task.cancel()
        # Each closes its two connections; what is left open is reported in whatever test comes next.
        loop.run_until_complete(asyncio.gather(*passing, return_exceptions=True))
        loop.close()


async def _forwarded(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(1 << 16):
        writer.write(data)
        await writer.drain()
    with suppress(OSError):
        writer.write_eof()


async def _answered(way: Way, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Pass on what the server says, message by message: a letter, a length that counts itself, and the rest."""
    while True:
        head = await reader.readexactly(5)
        rest = await reader.readexactly(int.from_bytes(head[1:]) - 4)
        if head[:1] == b"Z":
            way.waits += 1
            await asyncio.sleep(way.delay)
        writer.write(head + rest)
        await writer.drain()
