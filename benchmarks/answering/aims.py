"""What Anabranch promises of its answers' cost, beside what was measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from benchmarks.answering.figures import Figures, Measured, Ratio, median, ratio
from benchmarks.answering.rows import FLOOR, NAMES, OURS, PEER, ROWS, Row
from benchmarks.answering.tables import beside_peer, cpu, rest, wall
from benchmarks.report import Table, ms

COLUMNS = ("aim", "Anabranch", "beside", "met")
STALL, IN_MEMORY, IN_SQLITE = 0.020, 0.050, 0.100
TOGETHER = 1.3
EQUAL, CROWDED = 1.0, 0.9
"""Most CPU time beside the peer: of one question, and of many at once."""

Cells = tuple[str, ...]


def aims(figures: Mapping[str, Figures]) -> Table:
    """Return the table of the aims; one that nothing was measured for is left out."""
    if OURS not in figures:
        return Table("answering-aims", "Aims", COLUMNS, ())
    rows = [*_beside(figures), *_refine(figures), *_least(figures), *_own(figures), *_together(figures)]
    return Table("answering-aims", "Aims", COLUMNS, tuple(rows))


def _find(figures: Mapping[str, Figures], system: str, pipeline: str, title: str = "") -> Measured | None:
    row = next((r for r in ROWS if (r.system, r.pipeline, r.title) == (system, pipeline, title)), None)
    found = figures[system].of(row) if row and system in figures else None
    return found if found and found.turns else None


def _ours() -> list[Row]:
    return [row for row in ROWS if row.system == OURS]


def _beside(figures: Mapping[str, Figures]) -> Iterator[Cells]:
    """Yield the aims beside the peer, turn by turn: no more time, no more CPU time, less of it at once."""
    theirs = [each for row in ROWS if row.system == PEER and (each := _find(figures, PEER, row.pipeline))]
    for row in _ours():
        ours = figures[OURS].of(row)
        what = ", ".join(part for part in (row.pipeline, row.title) if part)
        for name, of in (("wall", wall), ("CPU", cpu)):
            if ours.turns and (found := beside_peer(ours, theirs, of)):
                yield _held(f"{what}: {name} of one question", found, EQUAL)
        peer = next((each for each in theirs if each.row.pipeline == row.pipeline), None)
        if peer and (found := ratio(ours.together, peer.together, cpu)):
            yield _held(f"{what}: CPU of {ours.together[0].asked} questions at once", found, CROWDED)


def _held(what: str, found: Ratio, most: float) -> Cells:
    return _told(what, f"{found.median:.2f}x", f"{NAMES[PEER]}, at most {most:.1f}x", met=found.median <= most)


def _refine(figures: Mapping[str, Figures]) -> Iterator[Cells]:
    """Yield the aims beside the peer that refines: half the calls, a third of the time."""
    for row in _ours():
        theirs, ours = _find(figures, PEER, row.pipeline), figures[OURS].of(row)
        if row.pipeline in {"C", "F"} and theirs and ours.turns:
            what = f"{row.pipeline}, {row.title}"
            calls = ours.turn.counts.calls, theirs.turn.counts.calls
            yield _told(f"{what}: at most half the calls", *map(str, calls), met=calls[0] * 2 <= calls[1])
            walls = median(ours.turns, wall), median(theirs.turns, wall)
            yield _told(f"{what}: a third of the time", *map(_seconds, walls), met=walls[0] * 3 <= walls[1])


def _least(figures: Mapping[str, Figures]) -> Iterator[Cells]:
    for row in _ours():
        floor, ours = _find(figures, FLOOR, row.pipeline), figures[OURS].of(row)
        if row.pipeline in {"A", "B", "D"} and floor and ours.turns:
            pairs = [(each.turn.counts.calls, each.turn.counts.rounds) for each in (ours, floor)]
            said = [f"{calls} in {rounds}" for calls, rounds in pairs]
            met = all(mine <= least for mine, least in zip(*pairs, strict=True))
            what = ", ".join(part for part in (row.pipeline, row.title) if part)
            yield _told(f"{what}: no more calls and rounds than the floor", *said, met=met)


def _own(figures: Mapping[str, Figures]) -> Iterator[Cells]:
    """Yield the aims beside fixed bounds, each for the row that is worst."""
    yield from _worst(figures, "no stall over", _stall, "memory", STALL)
    yield from _worst(figures, "not model, threads in memory, under", _rest, "memory", IN_MEMORY)
    yield from _worst(figures, "not model, threads in SQLite, under", _rest, "SQLite", IN_SQLITE)


def _stall(measured: Measured) -> float:
    return measured.stalls.stall if measured.stalls else 0.0


def _rest(measured: Measured) -> float:
    return median(measured.turns, rest)


def _worst(
    figures: Mapping[str, Figures], what: str, of: Callable[[Measured], float], saver: str, bound: float
) -> Iterator[Cells]:
    found = [each for row in _ours() if (each := figures[OURS].of(row, saver)).turns]
    if found:
        worst = max(found, key=of)
        within = sum(of(each) <= bound for each in found)
        said = f"{ms(of(worst))} ms ({worst.row.pipeline}); {within} of {len(found)} rows within"
        yield _told(f"{what} {ms(bound)} ms", said, f"{ms(bound)} ms", met=of(worst) <= bound)


def _together(figures: Mapping[str, Figures]) -> Iterator[Cells]:
    floor, ours = _find(figures, FLOOR, "A"), _find(figures, OURS, "A")
    if floor and ours and floor.together and ours.together:
        walls = median(ours.together, wall), median(floor.together, wall)
        what = f"A: {ours.together[0].asked} questions at once within {TOGETHER}x the floor"
        yield _told(what, *map(_seconds, walls), met=walls[0] <= TOGETHER * walls[1])


def _told(aim: str, ours: str, beside: str, *, met: bool) -> Cells:
    return (aim, ours, beside, "yes" if met else "**no**")


def _seconds(seconds: float) -> str:
    return f"{seconds:.2f} s"
