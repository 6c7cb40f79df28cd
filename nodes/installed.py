"""Write the answer with a synthesis mode of another package."""

from __future__ import annotations

import asyncio

from anabranch.agent.nodes.state import State, Update
from anabranch.agent.nodes.turn import Turn
from anabranch.synthesis.routing import SYNTHESIS_MODES


async def installed(state: State, turn: Turn) -> Update:
    """Have the mode write the draft; it is given the state and the settings in force, and returns an update.

    `texts` holds the passages of all windows by id, also after a resume. What the mode returns has at least `draft`.
    """
    # In a thread: its package is imported here, and may take its time.
    mode = await asyncio.to_thread(SYNTHESIS_MODES.get, turn.settings.synthesis)
    # Read here and not by the mode: after a resume the untracked channel is empty.
    ids = [excerpt["id"] for window in state["windows"] for excerpt in window]
    texts = await turn.chunks(ids)
    await turn.audit("read", texts.values(), step="installed")
    update = dict(await mode({**state, "texts": texts}, turn.settings))
    turn.count(**update.pop("counts", {}))
    return update
