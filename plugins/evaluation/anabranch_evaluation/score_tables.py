"""Tables of an evaluation: what is measured on which collections, and the expected scores.

A table is a YAML file. In a table of scores every configuration runs on every collection, and a case gives an expected
score and its tolerance; `expected: null` is measured but not checked. In a table of answers (`kind: answers`) a
collection gets its own questions, some of other collections, which it must not answer, and some of its own with the
documents that answer them left out. In a table of `kind: judged` a chat model judges the configurations' answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from anabranch.errors import CollectionError
from anabranch.text.jsonl_rows import describe_bad_rows
from anabranch_evaluation.metrics import measure_of
from anabranch_evaluation.token_metrics import is_span_metric, span_measure
from anabranch_evaluation.yaml_positions import Located, Where, read_located

Score = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Name = Annotated[str, Field(min_length=1, max_length=80, pattern=r"^[^/\n]+$")]
"""Without a slash, because `--only` writes COLLECTION/CONFIGURATION."""


def _known_metric(name: str) -> str:
    if is_span_metric(name):
        span_measure(name)
    else:
        measure_of(name)
    return name


Metric = Annotated[str, AfterValidator(_known_metric)]

_Positive = Annotated[float, Field(ge=0, allow_inf_nan=False)]

ANSWERS = "answers"
EMBEDDER = "embedder"
# Digits of an expected score; finer than any sensible tolerance.
DIGITS = 4

Problem = tuple[Where, str]
"""A place in a table, and its fault."""


class _TableModel(BaseModel):
    # An unknown key would be an expectation that nobody checks.
    model_config = ConfigDict(frozen=True, extra="forbid", strict=False)


class _CommonTable(_TableModel):
    """The fields of all kinds of tables."""

    title: str = Field(min_length=1, description="Heading of the report.")
    about: str = Field(default="", description="What the table shows, for its readers.")
    chunk_sizes: tuple[int, int, int] | None = Field(default=None, description="As in ingest.")
    settings: dict[str, Any] = Field(default_factory=dict, description="Of the graph, in all configurations.")
    collections: tuple[Name, ...] = Field(default=(), description="Names of folders below --data.")


class Case(_TableModel):
    """One expected score."""

    collection: Name
    configuration: Name
    metric: Metric
    expected: Score | None
    tolerance: Score | None = None

    @property
    def key(self) -> tuple[str, ...]:
        """The place of the measurement; the last part is the measure."""
        return self.collection, self.configuration, self.metric


class Margin(_TableModel):
    """Required lead of a configuration over the best of others, in the first metric.

    A negative value is how much worse it may be.
    """

    configuration: Name
    over: tuple[Name, ...] = Field(min_length=1)
    by: Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)]
    where: Literal["each", "mean"]


class Published(_TableModel):
    """Scores of the first metric that somebody else published."""

    system: str = Field(min_length=1, description="What was measured.")
    source: str = Field(min_length=1, description="Where the scores stand.")
    scores: dict[Name, Score] = Field(min_length=1, description="By collection.")


class ScoreTable(_CommonTable):
    """A table of scores; see the guide's page on evaluation."""

    kind: Literal["scores"] = "scores"
    metrics: tuple[Metric, ...] = Field(min_length=1, description="The first one is compared and drawn.")
    baseline: Name | None = Field(default=None, description="Configuration that the others are compared with.")
    tolerance: Score = Field(default=0.005, description="Of the cases that name none.")
    configurations: dict[Name, dict[str, Any]] = Field(
        min_length=1, description="Settings by name; `embedder` is that of the corpus which is searched."
    )
    by_passage: tuple[Name, ...] = Field(
        default=(), description="Collections of which passages are judged, by the `references` of their queries."
    )
    cases: tuple[Case, ...] = Field(default=(), description="Expected scores.")
    margins: tuple[Margin, ...] = Field(default=(), description="What one configuration owes to others.")
    published: tuple[Published, ...] = Field(default=(), description="Scores of others, to compare with.")

    def embedder(self, configuration: str) -> str:
        """Return the embedder that a configuration names; empty where it names none."""
        return str({**self.settings, **self.configurations[configuration]}.get(EMBEDDER) or "")

    def problems(self) -> Iterator[Problem]:
        """Yield names that are undefined or duplicate."""
        yield from _unknown_baseline(self)
        yield from self._problems_of_spans()
        for name in ("metrics", "collections"):
            listed: tuple[str, ...] = getattr(self, name)
            if len(set(listed)) < len(listed):
                yield (name,), "it holds a name twice"
        known = {"collection": self.collections, "configuration": self.configurations, "metric": self.metrics}
        for index, case in enumerate(self.cases):
            for name, names in known.items():
                if getattr(case, name) not in names:
                    yield ("cases", index, name), f"the table has no {name} {getattr(case, name)!r}"
        yield from _find_repeated(self.cases)
        for index, margin in enumerate(self.margins):
            for name in (margin.configuration, *margin.over):
                if name not in self.configurations:
                    yield ("margins", index), f"there is no configuration {name!r}"

    def _problems_of_spans(self) -> Iterator[Problem]:
        if is_span_metric(self.metrics[0]):
            yield ("metrics",), f"{self.metrics[0]} cannot be the first one, which all collections have"
        if any(map(is_span_metric, self.metrics)) and not self.by_passage:
            yield ("metrics",), "metrics of tokens need a collection in `by_passage`"
        for name in self.by_passage:
            if name not in self.collections:
                yield ("by_passage",), f"the table has no collection {name!r}"


Measure = Literal[
    # Without `reachable` and `first`, which say nothing about the answers.
    "contains", "recall", "chars", "weak_own", "weak_marked", "weak_elsewhere", "weak_removed",
    "auc_marked", "auc_elsewhere", "auc_removed",
]  # fmt: skip


class AnswerCase(_TableModel):
    """One expected value."""

    collection: Name
    measure: Measure
    expected: _Positive | None
    tolerance: _Positive | None = None

    @property
    def key(self) -> tuple[str, ...]:
        """The place of the measurement; the last part is the measure."""
        return self.collection, self.measure


class AnswerTable(_CommonTable):
    """A table of `kind: answers`; see the guide's page on experiments."""

    kind: Literal["answers"]
    collections: tuple[Name, ...] = Field(min_length=1, description="Names of folders below --data.")
    questions: int = Field(default=100, ge=0, le=100_000, description="Of a collection's own, spread evenly; 0: all.")
    elsewhere: int = Field(default=100, ge=0, le=100_000, description="Of all others together.")
    removed: int = Field(default=50, ge=0, le=100_000, description="Own ones, without the documents that answer them.")
    related: tuple[tuple[Name, Name], ...] = Field(default=(), description="Collections that answer each other's.")
    tolerance: Score = Field(default=0.02, description="Of the cases that name none.")
    cases: tuple[AnswerCase, ...] = Field(default=(), description="Expected values.")

    @property
    def configurations(self) -> dict[str, dict[str, Any]]:
        """The one configuration, under the name that `--only` and messages use."""
        return {ANSWERS: {}}

    def may_ask(self, collection: str, other: str) -> bool:
        """Tell whether the questions of one collection have no answer in another."""
        return (
            collection != other and (collection, other) not in self.related and (other, collection) not in self.related
        )

    def problems(self) -> Iterator[Problem]:
        """Yield names that are undefined or duplicate."""
        for index, pair in enumerate(self.related):
            for name in pair:
                if name not in self.collections:
                    yield ("related", index), f"the table has no collection {name!r}"
        for index, case in enumerate(self.cases):
            if case.collection not in self.collections:
                yield ("cases", index, "collection"), f"the table has no collection {case.collection!r}"
        yield from _find_repeated(self.cases)


class JudgedTable(_CommonTable):
    """A table of `kind: judged`; see the guide's page on evaluation."""

    kind: Literal["judged"]
    collections: tuple[Name, ...] = Field(min_length=1, description="Names of folders below --data.")
    questions: int = Field(default=20, ge=0, le=100_000, description="Of each collection, spread evenly; 0: all.")
    configurations: dict[Name, dict[str, Any]] = Field(default={"default": {}}, min_length=1)
    baseline: Name | None = Field(default=None, description="Whose answers others are compared with; the first one.")
    judge: dict[str, Any] = Field(default={}, description="Settings of the judge, such as model and base_url.")

    @property
    def compared_with(self) -> str:
        """The configuration that the others are compared with."""
        return self.baseline or next(iter(self.configurations))

    def problems(self) -> Iterator[Problem]:
        """Yield undefined names."""
        return _unknown_baseline(self)


EvalTable = ScoreTable | AnswerTable | JudgedTable

_KINDS: dict[str, type[EvalTable]] = {"scores": ScoreTable, "answers": AnswerTable, "judged": JudgedTable}


def read_table(path: Path) -> EvalTable:
    """Read a table from its YAML file; the default kind is `scores`.

    Raises:
        CollectionError: The file is not a valid table; the message names each fault with its line.
    """
    located = read_located(path)
    kind = str(located.value.get("kind", "scores")) if isinstance(located.value, dict) else "scores"
    # Not a pydantic union, which would report the faults of all three kinds.
    if kind not in _KINDS:
        raise _unusable(path, located, [(("kind",), f"unknown kind {kind!r}; use {', '.join(_KINDS)}")])
    try:
        table = _KINDS[kind].model_validate(located.value)
    except ValidationError as error:
        # pydantic appends "[key]" to the place of an error in a key.
        places = [tuple(part for part in item["loc"] if part != "[key]") for item in error.errors()]
        raise _unusable(path, located, zip(places, map(_describe_fault, error.errors()), strict=True)) from error
    if problems := list(table.problems()):
        raise _unusable(path, located, problems)
    return table


def _unusable(path: Path, located: Located, problems: Iterable[Problem]) -> CollectionError:
    lines = [f"line {located.line(where)}: {_spell(where)}{what}" for where, what in problems]
    return describe_bad_rows(
        path, lines, hint="The guide's page on evaluation shows what a table holds.", refused=CollectionError
    )


def with_expected(path: Path, table: EvalTable, values: Mapping[int, float]) -> str:
    """Return the text of a table's file with other expected values, by the index of the case.

    Raises:
        CollectionError: The file has changed since the table was read.
    """
    located = read_located(path)
    # The numbers are replaced by place, so the file must still be the same.
    if type(table).model_validate(located.value) != table:
        raise CollectionError(f"{path} has changed since it was read.", hint="Run the command again.")
    # Replaced in the text, because a YAML library would drop the comments.
    return located.replace_values(
        {("cases", index, "expected"): f"{value:.{DIGITS}f}" for index, value in values.items()}
    )


def _unknown_baseline(table: ScoreTable | JudgedTable) -> Iterator[Problem]:
    if table.baseline is not None and table.baseline not in table.configurations:
        yield ("baseline",), f"there is no configuration {table.baseline!r}"


def _find_repeated(cases: Sequence[Case | AnswerCase]) -> Iterator[Problem]:
    firsts: dict[tuple[str, ...], int] = {}
    for index, case in enumerate(cases):
        first = firsts.setdefault(case.key, index)
        if first != index:
            yield ("cases", index), f"it repeats cases[{first}]"


def _describe_fault(item: Any) -> str:  # noqa: ANN401  # pydantic's ErrorDetails
    """Return the message of a pydantic error with its value."""
    what = str(item["msg"]).removeprefix("Value error, ")
    # For a missing field pydantic's input is the whole object around it.
    shown = "" if item["type"] in ("missing", "extra_forbidden") else f", not {str(item['input'])[:60]!r}"
    return what[:1].lower() + what[1:] + shown


def _spell(where: Where) -> str:
    """Return a place as a prefix of a message."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in where).lstrip(".")
    return f"{text}: " if text else ""


# Only the question itself is searched, without reranking, so that a retriever is measured alone.
ALONE = {"strategy": "none", "rerank": "none"}

METRICS = ("nDCG@10", "RR@10", "R@5", "R@10", "R@20", "Success@5", "Success@10", "Success@20")
# For judged passages: the share of questions with evidence among the first few; 24 passages reach an answer.
PASSAGE_METRICS = ("Success@10", "Success@3", "Success@5", "Success@24", "RR@10")

DEFAULT = "default"


def usual_table(collection: str, *, passages: bool = False) -> ScoreTable:
    """Return the table for one collection: the default, each retriever alone, and plain rank fusion."""
    return ScoreTable(
        title=f"Retrieval on {collection}",
        metrics=PASSAGE_METRICS if passages else METRICS,
        baseline=DEFAULT,
        configurations={
            DEFAULT: {},
            "bm25": {"retrievers": ["bm25"], **ALONE},
            "dense": {"retrievers": ["dense"], **ALONE},
            "rrf": {"retrievers": ["bm25", "dense"], "fusion": "rrf", **ALONE},
        },
        collections=(collection,),
    )
