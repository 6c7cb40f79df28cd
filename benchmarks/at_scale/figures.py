"""What was measured, kept in a file, so that a later run of other sizes adds to it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.at_scale.systems import NAMES


@dataclass(slots=True)
class Figures:
    """The figures of one system at one size.

    Attributes:
        system: Module of the system.
        size: Passages that were asked for.
        load: Of the machine when it began.
        facts: What its sessions told, by name.
        searches: Each arm's p50 and p95.
        filtered: Each arm's, by filter.
        failed: Phase and reason where it stopped.
    """

    system: str
    size: int
    load: float
    facts: dict[str, Any] = field(default_factory=dict)
    searches: list[dict[str, Any]] = field(default_factory=list)
    filtered: list[dict[str, Any]] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)

    def hear(self, lines: Iterable[str], phase: str) -> None:
        """Take what a session told."""
        for line in lines:
            told = json.loads(line)
            if "search" in told:
                self.searches.append(told["search"])
            elif "filtered" in told:
                self.filtered.append(told["filtered"])
            elif "checked" in told:
                self._check(told["checked"])
            elif "failed" in told:
                self.failed[phase] = told["failed"]
            else:
                self.facts |= told

    def _check(self, checked: dict[str, Any]) -> None:
        for row in self.filtered:
            if (row["arm"], row["share"]) == (checked["arm"], checked["share"]):
                row.update(checked)


class Kept:
    """All figures in one folder, and the facts of each generated corpus."""

    def __init__(self, folder: Path) -> None:
        """Read what earlier runs have left."""
        self._file = folder / "figures.json"
        held = json.loads(self._file.read_text("utf-8")) if self._file.is_file() else {"figures": [], "corpora": {}}
        self.corpora: dict[int, dict[str, Any]] = {int(size): facts for size, facts in held["corpora"].items()}
        self._figures = {(each["system"], each["size"]): Figures(**each) for each in held["figures"]}

    def __iter__(self) -> Iterator[Figures]:
        """Yield them by size, in the order of the systems."""
        order = list(NAMES)
        yield from sorted(self._figures.values(), key=lambda each: (each.size, order.index(each.system)))

    def keep(self, figures: Figures) -> None:
        """Put figures in place of older ones, and write the file."""
        self._figures[figures.system, figures.size] = figures
        self.write()

    def write(self) -> None:
        """Write the file."""
        held = {
            "figures": [{name: getattr(each, name) for name in Figures.__slots__} for each in self._figures.values()],
            "corpora": self.corpora,
        }
        self._file.write_text(json.dumps(held, indent=1), "utf-8")
