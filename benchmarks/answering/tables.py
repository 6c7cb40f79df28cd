"""The figures as tables of one page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from benchmarks.answering.figures import Figures, Measured, Ratio, Turn, median, ratio
from benchmarks.answering.rows import NAMES, OURS, PEER, PIPELINES, ROWS, SERVER, Row
from benchmarks.report import Table, ms, times

Cells = tuple[str, ...]
NOTHING = "-"
SAVERS = ("memory", "SQLite")
BESIDE = f"beside {NAMES[PEER]}"


def tables(
    figures: Mapping[str, Figures], machine: Mapping[str, str], pipelines: Iterable[str] = PIPELINES
) -> list[Table]:
    """Return all tables but that of the aims; a system or a pipeline that was not run has no rows."""
    run = [row for row in ROWS if row.system in figures and row.pipeline in pipelines]
    found = [figures[row.system].of(row) for row in run]
    done = _by_pipeline([each for each in found if each.turns])
    kept = [figures[row.system].of(row, saver) for row in run for saver in SAVERS if row.system in {OURS, SERVER}]
    return [
        Table("answering-machine", "Measured on", ("what", "value"), tuple(machine.items())),
        Table("answering-versions", "Versions", ("system", "packages"), tuple(_versions(figures))),
        Table("answering-pipelines", "Pipelines", ("pipeline", "what it does"), tuple(PIPELINES.items())),
        Table("answering-cost", "What an answer costs", COST, tuple(map(_cost, done))),
        Table("answering-time", "How long it takes", TIME, tuple(_time(each, done) for each in done)),
        Table("answering-cpu", "CPU time", CPU, tuple(_cpu(each, done) for each in done)),
        Table("answering-stalls", "Stalls", STALLS, tuple(_stalls(done))),
        Table("answering-threads", "What keeping a thread costs", KEPT, tuple(_kept(e) for e in kept if e.turns)),
        Table("answering-together", "Questions at once", MANY, tuple(_many(done))),
        Table("answering-not-run", "Not run", NOT_RUN, tuple(_not_run(figures, found))),
    ]  # fmt: skip


def title(row: Row) -> str:
    """Return what a table calls a row."""
    return f"{NAMES[row.system]}{f', {row.title}' if row.title else ''}"


def _versions(figures: Mapping[str, Figures]) -> Iterator[Cells]:
    for system, found in figures.items():
        if found.versions:
            yield (NAMES[system], ", ".join(f"{name} {version}" for name, version in found.versions.items()))


def _by_pipeline(found: list[Measured]) -> list[Measured]:
    return sorted(found, key=lambda each: list(PIPELINES).index(each.row.pipeline))


def beside_peer(measured: Measured, found: Iterable[Measured], of: Callable[[Turn], float]) -> Ratio | None:
    """Return the ratio to the peer that every pipeline is compared with; None where it has not run this one."""
    peer = next((e for e in found if e.row.system == PEER and e.row.pipeline == measured.row.pipeline), None)
    return ratio(measured.turns, peer.turns, of) if peer and peer is not measured else None


def _beside(found: Ratio | None) -> str:
    return f"{found.median:.2f}x ({found.low:.2f}-{found.high:.2f})" if found else NOTHING


def _named(measured: Measured) -> Cells:
    return (measured.row.pipeline, title(measured.row))


COST = ("pipeline", "system", "calls", "rounds", "at once", "prompt tokens", "output tokens")


def _cost(measured: Measured) -> Cells:
    seen = measured.turn.counts
    numbers = (seen.calls, seen.rounds, seen.at_once, seen.prompt, seen.output)
    return (*_named(measured), *(f"{number:,}" for number in numbers))


TIME = ("pipeline", "system", "turns", "left out", "wall, s", "first token, s", "not model, ms", f"wall {BESIDE}")


def _time(measured: Measured, found: Sequence[Measured]) -> Cells:
    turns, first = measured.turns, measured.first
    return (
        *_named(measured), str(len(turns)), str(measured.astray), f"{median(turns, wall):.2f}",
        NOTHING if first is None else f"{first:.2f}", ms(median(turns, rest)),
        _beside(beside_peer(measured, found, wall)),
    )  # fmt: skip


CPU = ("pipeline", "system", "CPU, ms", f"CPU {BESIDE}")


def _cpu(measured: Measured, found: Sequence[Measured]) -> Cells:
    return (*_named(measured), ms(median(measured.turns, cpu)), _beside(beside_peer(measured, found, cpu)))


STALLS = ("pipeline", "system", "questions at once", "turns", "longest stall, ms", "longest garbage, ms")


def _stalls(found: Iterable[Measured]) -> Iterator[Cells]:
    for each in found:
        for asked, stalls in ((1, each.stalls), (each.together[0].asked if each.together else 0, each.crowded)):
            if stalls is not None:
                yield (*_named(each), str(asked), str(stalls.turns), ms(stalls.stall), ms(stalls.garbage))


KEPT = ("pipeline", "system", "threads in", "steps", "not model, ms", "empty graph, ms", "not model / empty")


def _kept(measured: Measured) -> Cells:
    idle, own = measured.idle or float("nan"), median(measured.turns, rest)
    return (*_named(measured), measured.saver, str(measured.turn.steps), ms(own), ms(idle), times(own / idle))


MANY = (
    "pipeline", "system", "questions", "answered", "rounds", "wall, s", "one alone, s", f"wall {BESIDE}",
    "CPU of each answer, ms", f"CPU {BESIDE}",
)  # fmt: skip


def _many(found: Sequence[Measured]) -> Iterator[Cells]:
    peer = next((each for each in found if each.row.system == PEER and each.together), None)
    for each in found:
        if turns := each.together:
            other = peer.together if peer and peer is not each and peer.row.pipeline == each.row.pipeline else ()
            answered = median(turns, lambda turn: turn.answered)
            yield (
                *_named(each), str(turns[0].asked), f"{answered:g}", str(len(turns)), f"{median(turns, wall):.2f}",
                f"{median(each.turns, wall):.2f}", _beside(ratio(turns, other, wall)), ms(median(turns, cpu)),
                _beside(ratio(turns, other, cpu)),
            )  # fmt: skip


def wall(turn: Turn) -> float:
    """Return its seconds."""
    return turn.wall


def cpu(turn: Turn) -> float:
    """Return its CPU seconds for each answer."""
    return turn.cpu


def rest(turn: Turn) -> float:
    """Return its seconds without a model call."""
    return turn.rest


NOT_RUN = ("pipeline", "system", "why")


def _not_run(figures: Mapping[str, Figures], found: list[Measured]) -> Iterator[Cells]:
    for each in found:
        if each.failed:
            yield (each.row.pipeline, title(each.row), " ".join(each.failed.split()).replace("|", "/")[:160])
    for system, name in NAMES.items():
        if system not in figures:
            yield (NOTHING, name, "no environment with it was given (`--peers`)")
