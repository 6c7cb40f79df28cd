"""Tables: what is measured on which collections, and what is expected to come out.

A table is a YAML file. In a table of scores every configuration is run on every collection, and a case says which score
is expected of one of them, and by how much it may differ. `expected: null` is measured and shown, and not checked. In a
table of answers (`kind: answers`) a collection is asked, beside its own questions, some of the others', which it must
not answer, and some of its own with the documents that answer them left out of the search.
In one of `kind: judged` every configuration answers, and a chat model judges the answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from anabranch.errors import CollectionError
from anabranch.text.jsonl_rows import unusable
from anabranch_evaluation.metrics import measure_of
from anabranch_evaluation.yaml_positions import Located, Where, read_located

Score = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Name = Annotated[str, Field(min_length=1, max_length=80, pattern=r"^[^/\n]+$")]
"""Without a slash, because `--only` writes COLLECTION/CONFIGURATION."""


def _known_metric(name: str) -> str:
    measure_of(name)
    return name


Metric = Annotated[str, AfterValidator(_known_metric)]

_Positive = Annotated[float, Field(ge=0, allow_inf_nan=False)]

ANSWERS = "answers"
# Of an expected score; finer than any tolerance that makes sense.
DIGITS = 4

Problem = tuple[Where, str]
"""The place of something in a table, and what is wrong with it."""


class _TableModel(BaseModel):
    # A key that is misspelled would be an expectation that nobody checks.
    model_config = ConfigDict(frozen=True, extra="forbid", strict=False)


class _CommonTable(_TableModel):
    """What all kinds of tables say."""

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
        """Where it is measured, and at the end what."""
        return self.collection, self.configuration, self.metric


class Margin(_TableModel):
    """By how much a configuration has to be better than the best of others, in the first metric.

    Below 0: by how much it may be worse.
    """

    configuration: Name
    over: tuple[Name, ...] = Field(min_length=1)
    by: Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)]
    where: Literal["each", "mean"]


class ScoreTable(_CommonTable):
    """What a YAML file of scores holds; see the guide's page on evaluation."""

    kind: Literal["scores"] = "scores"
    metrics: tuple[Metric, ...] = Field(min_length=1, description="The first one is compared and drawn.")
    baseline: Name | None = Field(default=None, description="Configuration that the others are compared with.")
    tolerance: Score = Field(default=0.005, description="Of the cases that name none.")
    configurations: dict[Name, dict[str, Any]] = Field(min_length=1, description="Settings by name.")
    cases: tuple[Case, ...] = Field(default=(), description="Expected scores.")
    margins: tuple[Margin, ...] = Field(default=(), description="What one configuration owes to others.")

    def problems(self) -> Iterator[Problem]:
        """Yield what it names and does not define, or names twice."""
        yield from _unknown_baseline(self)
        for name in ("metrics", "collections"):
            listed: tuple[str, ...] = getattr(self, name)
            if len(set(listed)) < len(listed):
                yield (name,), "a name stands in it twice"
        known = {"collection": self.collections, "configuration": self.configurations, "metric": self.metrics}
        for index, case in enumerate(self.cases):
            for name, names in known.items():
                if getattr(case, name) not in names:
                    yield ("cases", index, name), f"the table has no {name} {getattr(case, name)!r}"
        yield from _repeated(self.cases)
        for index, margin in enumerate(self.margins):
            for name in (margin.configuration, *margin.over):
                if name not in self.configurations:
                    yield ("margins", index), f"there is no configuration {name!r}"


Measure = Literal[
    # Without `reachable` and `first`, which are measured for comparison and say nothing of the answers.
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
        """Where it is measured, and at the end what."""
        return self.collection, self.measure


class AnswerTable(_CommonTable):
    """What a YAML file of `kind: answers` holds; see the guide's page on experiments."""

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

    def may_ask(self, asked: str, of: str) -> bool:
        """Tell whether the questions of one collection have no answer in another."""
        return asked != of and (asked, of) not in self.related and (of, asked) not in self.related

    def problems(self) -> Iterator[Problem]:
        """Yield what it names and does not define, or names twice."""
        for index, pair in enumerate(self.related):
            for name in pair:
                if name not in self.collections:
                    yield ("related", index), f"the table has no collection {name!r}"
        for index, case in enumerate(self.cases):
            if case.collection not in self.collections:
                yield ("cases", index, "collection"), f"the table has no collection {case.collection!r}"
        yield from _repeated(self.cases)


class JudgedTable(_CommonTable):
    """What a YAML file of `kind: judged` holds; see the guide's page on evaluation."""

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
        """Yield what it names and does not define."""
        return _unknown_baseline(self)


EvalTable = ScoreTable | AnswerTable | JudgedTable

_KINDS: dict[str, type[EvalTable]] = {"scores": ScoreTable, "answers": AnswerTable, "judged": JudgedTable}


def read_table(path: Path) -> EvalTable:
    """Read a table from its YAML file, of the kind that it says it is; one that does not say is of scores.

    Raises:
        CollectionError: It is not one, or names what it does not define; each problem with its line.
    """
    located = read_located(path)
    kind = str(located.value.get("kind", "scores")) if isinstance(located.value, dict) else "scores"
    # Chosen here and not by a union of pydantic's, which would tell what is wrong by the rules of all three.
    if kind not in _KINDS:
        raise _unusable(path, located, [(("kind",), f"there is none {kind!r}; known are {', '.join(_KINDS)}")])
    try:
        table = _KINDS[kind].model_validate(located.value)
    except ValidationError as error:
        # pydantic marks an error in a key itself; the place of that is the key's.
        places = [tuple(part for part in item["loc"] if part != "[key]") for item in error.errors()]
        raise _unusable(path, located, zip(places, map(_said, error.errors()), strict=True)) from error
    if problems := list(table.problems()):
        raise _unusable(path, located, problems)
    return table


def _unusable(path: Path, located: Located, problems: Iterable[Problem]) -> CollectionError:
    told = [f"line {located.line(where)}: {_spelled(where)}{what}" for where, what in problems]
    return unusable(
        path, told, hint="The guide's page on evaluation shows what a table holds.", refused=CollectionError
    )


def with_expected(path: Path, table: EvalTable, values: Mapping[int, float]) -> str:
    """Return the text of a table's file with other expected values, by the index of the case.

    Raises:
        CollectionError: The file has changed since the table was read.
    """
    located = read_located(path)
    # The places of the numbers are those of the file as it is now.
    if type(table).model_validate(located.value) != table:
        raise CollectionError(f"{path} has changed since it was read.", hint="Run the command again.")
    # Number by number in the text: a YAML library would write the file anew, without its comments.
    return located.replaced({("cases", index, "expected"): f"{value:.{DIGITS}f}" for index, value in values.items()})


def _unknown_baseline(table: ScoreTable | JudgedTable) -> Iterator[Problem]:
    if table.baseline is not None and table.baseline not in table.configurations:
        yield ("baseline",), f"there is no configuration {table.baseline!r}"


def _repeated(cases: Sequence[Case | AnswerCase]) -> Iterator[Problem]:
    seen: dict[tuple[str, ...], int] = {}
    for index, case in enumerate(cases):
        first = seen.setdefault(case.key, index)
        if first != index:
            yield ("cases", index), f"it is the case of cases[{first}] again"


def _said(item: Any) -> str:  # noqa: ANN401  # pydantic's ErrorDetails
    """Return what one of pydantic's errors says, with the value it is about."""
    what = str(item["msg"]).removeprefix("Value error, ")
    # Of what is missing pydantic gives all that is around it.
    shown = "" if item["type"] in ("missing", "extra_forbidden") else f", not {str(item['input'])[:60]!r}"
    return what[:1].lower() + what[1:] + shown


def _spelled(where: Where) -> str:
    """Return a place as a person would write it, before what is said of it."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in where).lstrip(".")
    return f"{text}: " if text else ""


# The question itself and nothing else, so that a retriever or a way of fusing is seen on its own.
ALONE = {"strategy": "none", "rerank": "none"}

METRICS = ("nDCG@10", "RR@10", "R@5", "R@10", "R@20", "Success@5", "Success@10", "Success@20")
# Where passages are judged: how many questions have their evidence among the first few; 24 reach an answer.
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
