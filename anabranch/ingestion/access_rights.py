"""What somebody who is not the operator may do to the access tags of a corpus."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from anabranch.errors import ReadingError


@dataclass(frozen=True, slots=True)
class AccessRights:
    """The rights of whoever takes files in.

    Attributes:
        held: The tags that they hold: all that they may give to documents, and all that those may have which they
            change or remove. None for the operator, who may give any.
        of_new: The tags of a new file, where neither the run nor the file, nor what is known of its content, says any.
    """

    held: frozenset[str] | None = None
    of_new: tuple[str, ...] = ()

    def cover(self, tags: Iterable[str]) -> bool:
        """Tell whether documents with these tags are theirs to change."""
        return self.held is None or set(tags) <= self.held

    def require(self, *tags: Iterable[str]) -> None:
        """Let through what they may do.

        Raises:
            ReadingError: One of the tags is not theirs. Which, is not said: it may be that of a hidden document.
        """
        if not all(map(self.cover, tags)):
            raise ReadingError("it has access tags that you do not hold", reason="access")


OPERATOR = AccessRights()
