"""Drops what reasoning models think aloud before they answer."""

from __future__ import annotations

import re

_TAGS = r"think|thinking|reasoning"
_BLOCK = re.compile(rf"<({_TAGS})>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_LONE_END = re.compile(rf"\A.*</(?:{_TAGS})>", re.DOTALL | re.IGNORECASE)


def drop_thinking(reply: str) -> str:
    """Return a reply without its `<think>` blocks.

    A block that is never closed runs to the end. An end without a beginning closes one that the chat template opened,
    so everything before it goes too.

    Args:
        reply: Anything a model wrote.
    """
    return _LONE_END.sub("", _BLOCK.sub("", reply))
