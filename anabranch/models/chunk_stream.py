"""Reads a streamed reply of OpenAI's Chat Completions as the JSON that it is.

The SDK makes the request, reads the events and raises the errors; LangChain makes the messages. Between them the SDK
would make an object of every chunk, looking at every field, and LangChain a dictionary of that object: a third of the
processor time of a streamed call.
"""

from __future__ import annotations

from itertools import chain
from typing import Any, Self

from openai import AsyncOpenAI, AsyncStream
from openai.types.chat import ChatCompletionChunk


class ChunkStream(AsyncStream[object]):
    """The chunks of a reply, each a dictionary with all that LangChain reads of the SDK's object."""

    def __aiter__(self) -> Self:
        """Return itself."""
        return self

    async def __anext__(self) -> object:
        """Return the next chunk; what is no JSON object is returned as it is, as the SDK does."""
        chunk = await super().__anext__()
        if not isinstance(chunk, dict) or _is_flat(chunk):
            return chunk
        return ChatCompletionChunk.construct(**chunk).model_dump()


class ChunkCompletions:
    """Takes the place of the SDK's completions in a `ChatOpenAI`."""

    def __init__(self, client: AsyncOpenAI) -> None:
        """Keep the SDK's client, which makes the requests."""
        self._client = client
        self.with_raw_response = client.chat.completions.with_raw_response

    async def create(self, **payload: Any) -> object:  # noqa: ANN401  # as the SDK takes it
        """Send a request as the SDK does, with its retries and errors; return the reply, or its chunks."""
        reply = await self._client.chat.completions.create(**payload)
        # Instrumentation of the SDK gives a stream of another class, and reads the objects in it.
        if type(reply) is not AsyncStream:
            return reply
        return ChunkStream(cast_to=object, response=reply.response, client=self._client)


def _is_flat(chunk: dict[str, Any]) -> bool:
    """Tell whether a chunk holds words and numbers alone, of which the SDK makes nothing else."""
    match chunk:
        case {"choices": [{"delta": {**delta}, **choice}], **rest}:
            values = chain(delta.values(), choice.values(), rest.values())
            return not any(isinstance(value, dict | list) for value in values)
    return False
