"""Write the answer with a synthesis mode of another package."""

from __future__ import annotations

import asyncio

from anabranch.agent.nodes.state import State, Update
from anabranch.agent.nodes.turn import Turn
from anabranch.synthesis.routing import SYNTHESIS_MODES


async def installed(state: State, turn: Turn) -> Update:
    """Let the mode write the draft; it gets the state and the resolved settings, and returns an update with `draft`.

    `texts` holds the passages of all windows by id, also after a resume.
    """
    # In a thread, because this imports its package.
    mode = await asyncio.to_thread(SYNTHESIS_MODES.get, turn.settings.synthesis)
    # Read here, because the untracked channel is empty after a resume.
    ids = [excerpt["id"] for window in state["windows"] for excerpt in window]
    texts = await turn.chunks(ids)
    await turn.audit("read", texts.values(), step="installed")
    update = dict(await mode({**state, "texts": texts}, turn.settings))
    turn.count(**update.pop("counts", {}))
    return update
