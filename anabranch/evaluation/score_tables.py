"""Tables of scores: what is measured on which collections, and what is expected to come out.

A table is a YAML file. Every configuration is run on every collection; a case says which score is expected of one of
them, and by how much it may differ. `expected: null` is measured and shown, and not checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from anabranch.errors import CollectionError
from anabranch.evaluation.measures import measure_of
from anabranch.evaluation.passage_builders import Arm
from anabranch.evaluation.query_set import unusable
from anabranch.evaluation.spans import is_of_spans, span_measure
from anabranch.evaluation.yaml_positions import Located, Where, read_located

Score = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Name = Annotated[str, Field(min_length=1, max_length=80, pattern=r"^[^/\n]+$")]
"""Without a slash, because `--only` writes COLLECTION/CONFIGURATION."""


def _known_metric(name: str) -> str:
    span_measure(name) if is_of_spans(name) else measure_of(name)
    return name


Metric = Annotated[str, AfterValidator(_known_metric)]

DIGITS = 4
"""Of an expected score; finer than any tolerance that makes sense."""


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=False)


class Case(_Strict):
    """One expected score."""

    collection: Name
    configuration: Name
    metric: Metric
    expected: Score | None
    tolerance: Score | None = None


class Margin(_Strict):
    """By how much a configuration has to be better than the best of others, in the first metric.

    Below 0: by how much it may be worse.
    """

    configuration: Name
    over: tuple[Name, ...] = Field(min_length=1)
    by: Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)]
    where: Literal["each", "mean"]


class Table(_Strict):
    """What a YAML file holds; see the guide's page on evaluation."""

    title: str = Field(min_length=1, description="Heading of the report.")
    about: str = Field(default="", description="What the table shows, for its readers.")
    metrics: tuple[Metric, ...] = Field(min_length=1, description="The first one is compared and drawn.")
    baseline: Name | None = Field(default=None, description="Configuration that the others are compared with.")
    tolerance: Score = Field(default=0.005, description="Of the cases that name none.")
    kind: Literal["documents", "spans"] = Field(default="documents", description="What queries are judged by.")
    embedder: str = Field(default="", description="As in ingest; empty for the default one.")
    chunk_sizes: tuple[int, int, int] | None = Field(default=None, description="As in ingest.")
    settings: dict[str, Any] = Field(default_factory=dict, description="Of all configurations.")
    configurations: dict[Name, dict[str, Any]] = Field(min_length=1, description="Settings by name.")
    passages: dict[Name, Arm] = Field(default_factory=dict, description="With spans: how configurations make them.")
    collections: tuple[Name, ...] = Field(default=(), description="Names of folders below --data.")
    cases: tuple[Case, ...] = Field(default=(), description="Expected scores.")
    margins: tuple[Margin, ...] = Field(default=(), description="What one configuration owes to others.")

    def tolerance_of(self, case: Case) -> float:
        """Return by how much the score of a case may differ."""
        return self.tolerance if case.tolerance is None else case.tolerance


def read_table(path: Path) -> Table:
    """Read a table from its YAML file.

    Raises:
        CollectionError: It is not a table, or names what it does not define; each problem with its line.
    """
    located = read_located(path)
    table: Table | None = None
    problems: list[tuple[Where, str]]
    try:
        table = Table.model_validate(located.value)
        problems = list(_contradictions(table))
    except ValidationError as error:
        problems = [(place(item["loc"]), said(item)) for item in error.errors()]
    if table is None or problems:
        told = [f"line {located.line(where)}: {spelled(where)}{what}" for where, what in problems]
        raise unusable(path, told, hint="The guide's page on evaluation shows what a table holds.")
    return table


def with_expected(path: Path, table: Table, scores: Mapping[int, float]) -> str:
    """Return the text of a table's file with other expected scores, by the index of the case.

    Raises:
        CollectionError: The file has changed since the table was read.
    """
    located: Located = read_located(path)
    if Table.model_validate(located.value) != table:
        raise CollectionError(f"{path} has changed since it was read.", hint="Run the command again.")
    return located.replaced({("cases", index, "expected"): f"{score:.{DIGITS}f}" for index, score in scores.items()})


def _contradictions(table: Table) -> Iterator[tuple[Where, str]]:
    if table.baseline is not None and table.baseline not in table.configurations:
        yield ("baseline",), f"there is no configuration {table.baseline!r}"
    for name in ("metrics", "collections"):
        listed: tuple[str, ...] = getattr(table, name)
        if len(set(listed)) < len(listed):
            yield (name,), "a name stands in it twice"
    seen: dict[tuple[str, str, str], int] = {}
    for index, case in enumerate(table.cases):
        known = {"collection": table.collections, "configuration": table.configurations, "metric": table.metrics}
        for name, names in known.items():
            if getattr(case, name) not in names:
                yield ("cases", index, name), f"the table has no {name} {getattr(case, name)!r}"
        first = seen.setdefault((case.collection, case.configuration, case.metric), index)
        if first != index:
            yield ("cases", index), f"it is the case of cases[{first}] again"
    yield from _of_another_kind(table)
    yield from _unknown_in_margins(table)


def _of_another_kind(table: Table) -> Iterator[tuple[Where, str]]:
    for index, metric in enumerate(table.metrics):
        if is_of_spans(metric) != (table.kind == "spans"):
            yield ("metrics", index), f"{metric!r} is not a metric of {table.kind}"
    for name in table.passages:
        if name not in table.configurations:
            yield ("passages", name), f"there is no configuration {name!r}"
        elif table.kind != "spans":
            yield ("passages", name), "it goes with kind: spans"


def _unknown_in_margins(table: Table) -> Iterator[tuple[Where, str]]:
    for index, margin in enumerate(table.margins):
        for name in (margin.configuration, *margin.over):
            if name not in table.configurations:
                yield ("margins", index), f"there is no configuration {name!r}"


def place(where: tuple[str | int, ...]) -> Where:
    """Return the place that one of pydantic's errors is about."""
    return tuple(part for part in where if part != "[key]")


def said(item: Any) -> str:  # noqa: ANN401  # pydantic's ErrorDetails
    """Return what one of pydantic's errors says, with the value it is about."""
    what = str(item["msg"]).removeprefix("Value error, ")
    shown = "" if item["type"] in ("missing", "extra_forbidden") else f", not {str(item['input'])[:60]!r}"
    return what[:1].lower() + what[1:] + shown


def spelled(where: Where) -> str:
    """Return a place as a person would write it, before what is said of it."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in where).lstrip(".")
    return f"{text}: " if text else ""
