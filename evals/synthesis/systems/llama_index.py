"""LlamaIndex's response synthesizers, with their own prompts."""

from __future__ import annotations

import re
from typing import Any

from llama_index.core import Settings, get_response_synthesizer
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.llms.openai_like import OpenAILike

from evals.synthesis.packs import Pack
from evals.synthesis.systems import ANSWER_TOKENS, KEY, MODEL, PATIENCE, Said, texts_of

WINDOW = 3900
"""LlamaIndex's own default for a model that it does not know."""

# By its own count it would ask a server on the internet for a tokenizer.
Settings.tokenizer = lambda text: re.findall(r"\w+|[^\w\s]", text)


async def answer(pack: Pack, mode: str, base_url: str) -> Said:
    """Synthesize from the passages, or from the windows."""
    llm = OpenAILike(
        model=MODEL, api_base=base_url, api_key=KEY, is_chat_model=True, max_retries=0, context_window=WINDOW,
        max_tokens=ANSWER_TOKENS, temperature=0.0, timeout=PATIENCE,
    )  # fmt: skip
    modes: Any = mode
    synthesizer = get_response_synthesizer(llm=llm, response_mode=modes, use_async=True)
    nodes = [NodeWithScore(node=TextNode(text=text), score=1.0) for text in texts_of(pack, mode)]
    return Said(str(await synthesizer.asynthesize(pack.text, nodes=nodes)))
