"""Access tags as a document itself declares them."""

from __future__ import annotations


def access_tags(given: object) -> tuple[str, ...]:
    """Return a list of tags, each once.

    Raises:
        ValueError: It is anything but a list of strings, each with something visible in it. To read that as no tags
            could show the document to everybody.
    """
    if not isinstance(given, list) or not all(isinstance(tag, str) and tag.strip() for tag in given):
        raise ValueError(f"'access' has to be a list of tags, not {given!r}")
    return tuple(dict.fromkeys(tag.strip() for tag in given))
