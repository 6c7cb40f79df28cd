"""The hint below an answer without a chat model: how to get a written answer."""

from __future__ import annotations

from anabranch.models.local_servers import find_model

_START = (
    "For a written answer: start Ollama or llama.cpp on this machine and add --model auto (or set "
    "ANABRANCH_MODEL=auto); or name a hosted model: --model openai:gpt-5-mini."
)


async def written_answer_hint() -> str:
    """Return the hint, which names a chat model that a local server has."""
    if (found := await find_model(anew=True)) is None:
        return _START
    return f"For a written answer: add --model auto (or set ANABRANCH_MODEL=auto) to use {found}."
