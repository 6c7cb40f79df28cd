"""What people write by hand: the passages, the question, and nothing else."""

from __future__ import annotations

from evals.synthesis.packs import Pack
from evals.synthesis.systems import Said, texts_of
from evals.synthesis.systems.openai_chat import openai_chat


async def answer(pack: Pack, mode: str, base_url: str) -> Said:
    """Ask once, without instructions."""
    passages = "\n\n".join(texts_of(pack, mode))
    async with openai_chat(base_url) as model:
        reply = await model.ainvoke(f"Context:\n{passages}\n\nQuestion: {pack.text}\nAnswer:")
    return Said(reply.text)
