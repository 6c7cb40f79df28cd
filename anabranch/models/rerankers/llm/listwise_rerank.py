"""One window, one call: the model sees the passages together and lists the best first.

RankGPT (Sun et al. 2023, arXiv 2304.09542) found a window of 20 to be the best; it slides the window over longer lists,
one call after the other. Here the window stands over the best candidates, and the others keep their order behind them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from anabranch.models.chat import Chat
from anabranch.models.rerankers.llm.rerank_calls import judge
from anabranch.parsing.relevance import read_listwise

WINDOW = 20

RANKING_SCHEMA: dict[str, Any] = {
    "title": "ranking",
    "description": "The passages that help, the most helpful first.",
    "type": "object",
    "properties": {
        "ranking": {
            "type": "array",
            # Not held to two items: some providers refuse a schema that says how many.
            "items": {
                "type": "array",
                "items": {"type": "integer"},
                "description": "Number of a passage, then its relevance: 1 (touches the subject) to 10 (the answer).",
            },
        }
    },
    "required": ["ranking"],
    "additionalProperties": False,
}
"""What a model is asked for that can be held to a JSON schema; `read_listwise` reads it, and much else.

Pairs, because the time of this call is the time to write the reply: objects with named fields are twice as long.
"""


async def judge_window(chat: Chat, system: str, question: str, texts: Sequence[str]) -> dict[int, float]:
    """Return the relevance of each passage that the reply names, by index.

    What it does not name is not judged: a list of the best says nothing about the rest, unless it is empty.

    Raises:
        ModelError: The provider failed, or its reply cannot be read.
    """
    shown = texts[:WINDOW]
    judged = await judge(chat, system, question, shown, read_listwise, RANKING_SCHEMA)
    return judged.scores or dict.fromkeys(range(len(shown)), 0.0)
