"""The rights of users to change documents with access tags."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from anabranch.errors import ReadingError


@dataclass(frozen=True, slots=True)
class AccessRights:
    """The rights of a user who ingests files.

    Attributes:
        held: The tags of the user, who may only add, change or remove documents whose tags are among them. None for
            the operator, who may use any tag.
        of_new: The tags of a new file to which the run, the file and its earlier content give none.
    """

    held: frozenset[str] | None = None
    of_new: tuple[str, ...] = ()

    def cover(self, tags: Iterable[str]) -> bool:
        """Tell whether the user may change documents with these tags."""
        return self.held is None or set(tags) <= self.held

    def require(self, *tags: Iterable[str]) -> None:
        """Check that the user holds all these tags.

        Raises:
            ReadingError: They lack a tag. It is not named, because it may belong to a hidden document.
        """
        if not all(map(self.cover, tags)):
            raise ReadingError("it has access tags that you do not hold", reason="access")


OPERATOR = AccessRights()
