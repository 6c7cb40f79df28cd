"""Threads that nobody has used for a stated time, removed in the background."""

from __future__ import annotations

import logging

from langgraph.checkpoint.base import BaseCheckpointSaver

from anabranch.identity.audit_log import audit
from anabranch_server.thread_records import Threads

log = logging.getLogger("anabranch.server")

AT_ONCE = 200
"""Most threads that are removed by one call, so that questions need not wait for a database that deletes."""

DAY = 86_400.0


def retention_message(days: float | None) -> str:
    """Return the line that a server says about it when it starts."""
    if days is None:
        return "Conversations are kept until they are deleted (--thread-days N: for N days after their last use)."
    return f"Conversations are kept for {days:g} {'day' if days == 1 else 'days'} after their last use."


async def remove_idle(threads: Threads, saver: BaseCheckpointSaver[str], before: float) -> int:
    """Remove threads that were last used before a time, with their checkpoints; return how many.

    Those with an unfinished run stay, also where it is accepted meanwhile. Several servers may do so at once.

    Args:
        threads: The threads of all owners.
        saver: Holds their checkpoints.
        before: Seconds since 1970.
    """
    removed = 0
    for thread_id in await threads.list_idle(before, AT_ONCE):
        await audit("expire", None, thread_id=thread_id)
        if await threads.remove_idle(thread_id, before):
            await saver.adelete_thread(thread_id)
            removed += 1
    if removed:
        log.info("Removed %d conversations that nobody has used for the time they are kept", removed)
    return removed
