"""Lists the unconfirmed claims of an answer, for the terminal, chat programs and assistants alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from anabranch.safety.link_removal import make_plain

MOST_CLAIM = 1_000


def unconfirmed_lines(status: str, unconfirmed: Sequence[Mapping[str, str]]) -> list[str]:
    """Return a plain line for each unconfirmed claim, with its reason and the nearest words.

    Args:
        status: The status of the answer. An answer without any confirmed claim says so itself, so only claims with a
            reason are listed.
        unconfirmed: The claims, as in the state: `text`, `reason`, `nearest`.
    """
    return [_line(each) for each in unconfirmed if status == "answered" or each["reason"]]


def _line(claim: Mapping[str, str]) -> str:
    text, reason, nearest = (make_plain(claim[name], MOST_CLAIM) for name in ("text", "reason", "nearest"))
    return f"Not confirmed: {text}{f' ({reason})' if reason else ''}{f' Nearest words: “{nearest}”' if nearest else ''}"
