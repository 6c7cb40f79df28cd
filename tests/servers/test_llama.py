"""A real model server, spoken to as the product speaks to one."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import openai
import pytest
from langchain_openai import ChatOpenAI
from pydantic import BaseModel

pytestmark = pytest.mark.loopback

QUESTION = [("system", "You answer in one short sentence."), ("user", "What is the capital of France?")]


class Place(BaseModel):
    """A city and its country."""

    city: str
    country: str


@pytest.fixture
async def model(llama_server: str) -> AsyncIterator[ChatOpenAI]:
    # LangChain shares one HTTP client per base url for the life of the process, but each test has its own event loop.
    async with openai.DefaultAsyncHttpxClient() as http:
        yield ChatOpenAI(
            base_url=llama_server,
            api_key="none",
            model="smollm2",
            temperature=0,
            max_tokens=32,
            stream_usage=True,
            http_async_client=http,
        )


async def test_one_reply(model: ChatOpenAI) -> None:
    reply = await model.ainvoke(QUESTION)
    assert reply.content.strip()
    assert 0 < reply.usage_metadata["output_tokens"] <= 32
    assert reply.response_metadata["model_name"] == "smollm2"


async def test_a_stream_says_what_the_whole_reply_says(model: ChatOpenAI) -> None:
    pieces = [piece async for piece in model.astream(QUESTION)]
    text = "".join(piece.content for piece in pieces)
    assert len(pieces) > 3
    assert text == (await model.ainvoke(QUESTION)).content
    assert sum(piece.usage_metadata["output_tokens"] for piece in pieces if piece.usage_metadata) > 0


async def test_json_by_response_format(model: ChatOpenAI) -> None:
    schema = {"type": "json_schema", "json_schema": {"name": "place", "schema": Place.model_json_schema()}}
    reply = await model.bind(response_format=schema).ainvoke("Name a city and its country as JSON.")
    assert set(json.loads(reply.content)) == {"city", "country"}


async def test_structured_output(model: ChatOpenAI) -> None:
    place = await model.with_structured_output(Place).ainvoke("Name a city and its country as JSON.")
    assert isinstance(place, Place)


async def test_a_prompt_longer_than_its_share_of_the_context_is_refused(model: ChatOpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match="context size"):
        await model.ainvoke("river " * 6000)
