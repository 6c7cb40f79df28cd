"""Page numbers as people write them."""

from __future__ import annotations

from collections.abc import Sequence


def pages_named(numbers: Sequence[int]) -> str:
    """Return `page 3` or `pages 3, 7-9` for numbers in ascending order."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    parts = (f"{run[0]}-{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs)
    return f"page{'' if len(numbers) == 1 else 's'} {', '.join(parts)}"
