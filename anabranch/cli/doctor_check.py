"""One line of `anabranch doctor`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

Status = Literal["ok", "off", "note", "problem"]
"""`off` is not configured, `note` works but may surprise, `problem` is configured and cannot work."""


@dataclass(frozen=True, slots=True)
class Check:
    """One finding and, where there is something to do, what."""

    name: str
    status: Status
    said: str
    hint: str = ""

    def row(self) -> dict[str, str]:
        """Return it for JSON."""
        return asdict(self)
