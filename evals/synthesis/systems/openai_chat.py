"""The chat model of a server, as LangChain has it."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from evals.synthesis.systems import ANSWER_TOKENS, KEY, MODEL, PATIENCE


@asynccontextmanager
async def openai_chat(base_url: str) -> AsyncIterator[ChatOpenAI]:
    """Make the model, with a connection that ends with the block."""
    async with httpx.AsyncClient(timeout=PATIENCE) as client:
        yield ChatOpenAI(
            model=MODEL,
            base_url=base_url,
            api_key=SecretStr(KEY),
            max_retries=0,
            temperature=0.0,
            timeout=PATIENCE,
            max_completion_tokens=ANSWER_TOKENS,
            http_async_client=client,
            # By its own count it would ask a server on the internet for a tokenizer.
            custom_get_token_ids=lambda text: [0] * len(re.findall(r"\w+|[^\w\s]", text)),
        )
