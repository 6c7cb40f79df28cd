"""The figures as tables of one page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from benchmarks.answering.figures import Figures, Measured
from benchmarks.answering.rows import NAMES, OURS, PIPELINES, ROWS, SERVER, Row
from benchmarks.report import Table, ms, times

Cells = tuple[str, ...]
NOTHING = "-"
SAVERS = ("memory", "SQLite")


def tables(
    figures: Mapping[str, Figures], machine: Mapping[str, str], pipelines: Iterable[str] = PIPELINES
) -> list[Table]:
    """Return all tables but that of the aims; a system or a pipeline that was not run has no rows."""
    run = [row for row in ROWS if row.system in figures and row.pipeline in pipelines]
    found = [figures[row.system].of(row) for row in run]
    done = [each for each in found if each.turns]
    kept = [figures[row.system].of(row, saver) for row in run for saver in SAVERS if row.system in {OURS, SERVER}]
    return [
        Table("answering-machine", "Measured on", ("what", "value"), tuple(machine.items())),
        Table("answering-pipelines", "Pipelines", ("pipeline", "what it does"), tuple(PIPELINES.items())),
        Table("answering-cost", "What an answer costs", COST, tuple(map(_cost, _by_pipeline(done)))),
        Table("answering-time", "How long it takes", TIME, tuple(map(_time, _by_pipeline(done)))),
        Table("answering-threads", "What keeping a thread costs", KEPT, tuple(_kept(e) for e in kept if e.turns)),
        Table("answering-together", "Questions at once", MANY, tuple(_many(done))),
        Table("answering-not-run", "Not run", NOT_RUN, tuple(_not_run(figures, found))),
    ]  # fmt: skip


def title(row: Row) -> str:
    """Return what a table calls a row."""
    return f"{NAMES[row.system]}{f', {row.title}' if row.title else ''}"


def _by_pipeline(found: list[Measured]) -> list[Measured]:
    return sorted(found, key=lambda each: list(PIPELINES).index(each.row.pipeline))


COST = ("pipeline", "system", "calls", "rounds", "at once", "prompt tokens", "output tokens")


def _cost(measured: Measured) -> Cells:
    seen = measured.turn.counts
    numbers = (seen.calls, seen.rounds, seen.at_once, seen.prompt, seen.output)
    return (measured.row.pipeline, title(measured.row), *(f"{number:,}" for number in numbers))


TIME = (
    "pipeline", "system", "wall, s", "first token, s", "not model, ms", "CPU, ms", "longest stall, ms",
    "longest garbage, ms",
)  # fmt: skip


def _time(measured: Measured) -> Cells:
    turn = measured.turn
    first = NOTHING if turn.first is None else f"{turn.first:.2f}"
    return (
        measured.row.pipeline, title(measured.row), f"{turn.wall:.2f}", first,
        *map(ms, (measured.rest, measured.cpu, measured.stall, measured.garbage)),
    )  # fmt: skip


KEPT = ("pipeline", "system", "threads in", "steps", "not model, ms", "empty graph, ms", "not model / empty")


def _kept(measured: Measured) -> Cells:
    idle = measured.idle or float("nan")
    return (
        measured.row.pipeline, title(measured.row), measured.saver, str(measured.turn.steps), ms(measured.rest),
        ms(idle), times(measured.rest / idle),
    )  # fmt: skip


MANY = (
    "pipeline",
    "system",
    "questions",
    "answered",
    "wall, s",
    "one alone, s",
    "all / one",
    "CPU, s",
    "longest stall, ms",
)


def _many(found: list[Measured]) -> Iterator[Cells]:
    for each in found:
        if each.together:
            many, alone = each.many, each.turn.wall
            counts = (str(many.asked), str(many.answered))
            walls = (f"{many.wall:.2f}", f"{alone:.2f}", times(many.wall / alone))
            yield (each.row.pipeline, title(each.row), *counts, *walls, f"{many.cpu:.2f}", ms(many.stall))


NOT_RUN = ("pipeline", "system", "why")


def _not_run(figures: Mapping[str, Figures], found: list[Measured]) -> Iterator[Cells]:
    for each in found:
        if each.failed:
            yield (each.row.pipeline, title(each.row), " ".join(each.failed.split()).replace("|", "/")[:160])
    for system, name in NAMES.items():
        if system not in figures:
            yield (NOTHING, name, "no environment with it was given (`--peers`)")
