"""Write the answer with a synthesis mode of another package."""

from __future__ import annotations

import asyncio

from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import State
from anabranch.agent.nodes.support.audit_events import note
from anabranch.agent.nodes.support.dependencies import chunks_of
from anabranch.agent.nodes.support.tracing import Update, traced
from anabranch.synthesis.routing import SYNTHESIS_MODES


@traced("installed")
async def installed(state: State, context: Context) -> Update:
    """Have the mode write the draft; it is given the state and the settings in force, and returns an update.

    `texts` holds the passages of all windows by id, also after a resume. What the mode returns has at least `draft`.
    """
    # In a thread: its package is imported here, and may take its time.
    mode = await asyncio.to_thread(SYNTHESIS_MODES.get, context.synthesis)
    # Read here and not by the mode: after a resume the untracked channel is empty.
    ids = [excerpt["id"] for window in state["windows"] for excerpt in window]
    texts = await chunks_of(context, state, ids)
    await note("read", context, texts.values(), step="installed")
    return dict(await mode({**state, "texts": texts}, context))
