"""Numbers of things, for people."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """Return `1 passage`, `2 passages`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
