"""A query generator that is given in code, in the place of the chat model: any function of a question and a number."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from anabranch.errors import ModelError, SettingsError
from anabranch.parsing.query_list import select_queries
from anabranch.safety.key_redaction import redacted

QueryGenerator = Callable[[str, int], Sequence[str] | Awaitable[Sequence[str]]]
"""Takes the question and how many further queries there may be, and returns them."""


def check_generator(given: object) -> None:
    """Refuse what cannot be called.

    Raises:
        SettingsError: It is not a function.
    """
    if not callable(given):
        msg = f"The query generator is not a function: {given!r:.80}."
        raise SettingsError(msg, hint="Give build(queries=...) a function of a question and a number of queries.")


async def generate_queries(generator: QueryGenerator, question: str, limit: int, seconds: float) -> list[str]:
    """Return at most `limit` distinct queries of at most `MAX_QUERY` characters, without the question itself.

    A function that is not async runs in a thread; after `seconds` it is waited for no longer.

    Raises:
        ModelError: The function failed, or did not return texts.
    """
    deadline = asyncio.timeout(seconds)
    try:
        # What it returns may be awaitable without being a coroutine function, such as a partial of one.
        async with deadline:
            given: Any = (
                generator(question, limit)
                if inspect.iscoroutinefunction(generator)
                else await asyncio.to_thread(generator, question, limit)
            )
            if inspect.isawaitable(given):
                given = await given
    except Exception as error:
        # The function may raise a TimeoutError of its own.
        if deadline.expired():
            msg = f"The query generator took more than {seconds:g} seconds."
            raise ModelError(msg, hint="Make the function in `queries` faster, or raise `model_timeout`.") from error
        reason = f"{type(error).__name__}: {redacted(' '.join(str(error).split()))[:300]}"
        raise ModelError(f"The query generator failed: {reason}", hint="Look at the function in `queries`.") from error
    if isinstance(given, str) or not isinstance(given, Sequence) or not all(isinstance(text, str) for text in given):
        msg = f"The query generator returned no list of texts: {given!r:.80}."
        raise ModelError(msg, hint="Let the function in `queries` return a list of strings.")
    return select_queries(given, limit=limit, original=question)
