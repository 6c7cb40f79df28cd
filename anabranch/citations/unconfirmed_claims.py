"""Says which claims of an answer are not confirmed, for every door alike: terminal, chat programs, assistants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def unconfirmed_lines(status: str, unconfirmed: Sequence[Mapping[str, str]]) -> list[str]:
    """Return a line for each claim that is not confirmed, with the fact that is known of it and the nearest words.

    Args:
        status: Of the answer. One that is not confirmed at all says so in its first line and ends with the nearest
            passages, so that only the facts are told here.
        unconfirmed: As the state has them: `text`, `reason`, `nearest`.
    """
    return [_line(each) for each in unconfirmed if status == "answered" or each["reason"]]


def _line(claim: Mapping[str, str]) -> str:
    text, nearest = (" ".join(claim[name].split()) for name in ("text", "nearest"))
    reason = f" ({claim['reason']})" if claim["reason"] else ""
    return f"Not confirmed: {text}{reason}{f' Nearest words: “{nearest}”' if nearest else ''}"
