"""Whether a model is asked to put markers: small ones copy the example, and write little else.

Of a 1.5 B model 36 of 49 replies with markers ended in those of the prompt's example, and some were nothing else.
"""

from __future__ import annotations

from typing import Literal

from anabranch.models.chat import Chat
from anabranch.models.lru import LRU

AnswerForm = Literal["auto", "plain", "cited", "quoted"]

KEPT = 256

# Models that answered with markers alone, by name and server. Owner: this module.
_plain: LRU[tuple[str, str | None], bool] = LRU(KEPT)


def asks_for_markers(form: AnswerForm, chat: Chat) -> bool:
    """Tell whether a model is asked for markers.

    With `auto` those with a published profile are, at their provider's: who serves a model elsewhere may serve any.
    """
    if form != "auto":
        return form != "plain"
    hosted = chat.settings.base_url is None and chat.context_tokens is not None
    return hosted and not _plain.get(_who(chat))


def learn_plain(chat: Chat) -> None:
    """Ask a model plainly from now on, because it wrote markers and no words."""
    _plain.set(_who(chat), True)  # the value of a table


def _who(chat: Chat) -> tuple[str, str | None]:
    return chat.settings.model, chat.settings.base_url
