"""Tables of what was measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from benchmarks.report import Table
from evals.chains.measuring import Measured

NOTHING = "-"
ONE, CHAIN = "Anabranch in one search", "Anabranch"
"""Ways of asking the graph: `hops` 0, and as it comes."""

MADE = (
    "questions", "asked", "one search: all passages among 24", "right", "calls", "chain: all passages among 24",
    "right", "calls",
)  # fmt: skip
RECALL = (
    "collection", "questions", "one search: all passages among 24", "calls", "planned", "searched further",
    "chain: all passages among 24", "found by the chain alone", "by one search alone", "calls",
)  # fmt: skip
ANSWERS = ("system", "right", "no answer", "failed", "confirmed", "calls", "prompt tokens", "output tokens")


def tables(results: Sequence[Measured]) -> list[Table]:
    """Return a table for each part that something was measured of; a part is named after its table."""
    parts = list(dict.fromkeys(result.part for result in results))
    return [_table(part, [result for result in results if result.part == part]) for part in parts]


def _table(part: str, results: Sequence[Measured]) -> Table:
    if part.startswith("chains-answers"):
        return Table(part, "Answers", ANSWERS, _lines(results, "way", _answers_row))
    by_model = " by a real model" if part.endswith("-model") else ""
    if part.startswith("chains-recall"):
        return Table(
            part, f"All passages that answer a question{by_model}", RECALL, _lines(results, "set", _recall_row)
        )
    return Table(part, f"Made questions{by_model}", MADE, _lines(results, "set", _made_row))


def _lines(
    results: Sequence[Measured], field: str, row: Callable[[Sequence[Measured]], tuple[str, ...]]
) -> tuple[tuple[str, ...], ...]:
    names = dict.fromkeys(getattr(result, field) for result in results)
    return tuple((name, *row([each for each in results if getattr(each, field) == name])) for name in names)


def _ways(results: Sequence[Measured]) -> tuple[list[Measured], list[Measured]]:
    """Return what one search and the chain made of the questions that were asked in both ways."""
    one, chain = ({each.id: each for each in results if each.way == way} for way in (ONE, CHAIN))
    both = [key for key in one if key in chain]
    return [one[key] for key in both], [chain[key] for key in both]


def _made_row(results: Sequence[Measured]) -> tuple[str, ...]:
    one, chain = _ways(results)
    return (str(len(one)), *_made_half(one), *_made_half(chain))


def _made_half(results: Sequence[Measured]) -> tuple[str, ...]:
    right = str(sum(bool(each.right) for each in results))
    return str(sum(each.found for each in results)), right, _mean([each.calls for each in results])


def _recall_row(results: Sequence[Measured]) -> tuple[str, ...]:
    one, chain = _ways(results)
    pairs = list(zip(one, chain, strict=True))
    return (
        str(len(one)),
        str(sum(each.found for each in one)),
        _mean([each.calls for each in one]),
        str(sum(each.planned for each in chain)),
        str(sum(each.hops > 0 for each in chain)),
        str(sum(each.found for each in chain)),
        str(sum(after.found and not before.found for before, after in pairs)),
        str(sum(before.found and not after.found for before, after in pairs)),
        _mean([each.calls for each in chain]),
    )


def _answers_row(results: Sequence[Measured]) -> tuple[str, ...]:
    total = len(results)
    checked = [each for each in results if each.confirmed is not None]
    return (
        f"{sum(bool(each.right) for each in results)} of {total}",
        str(sum(each.right is None for each in results)),
        str(sum(bool(each.failed) for each in results)),
        str(sum(bool(each.confirmed) for each in checked)) if checked else NOTHING,
        *(_mean([getattr(each, name) for each in results]) for name in ("calls", "prompt_tokens", "output_tokens")),
    )


def _mean(values: Sequence[float]) -> str:
    mean = sum(values) / len(values) if values else 0.0
    return f"{mean:.1f}" if mean < 100 else f"{mean:,.0f}"
