"""Tables of answers: which questions are asked of which collections, and what is expected to come out.

A table of answers is a YAML file with `kind: answers`. Beside its own questions a collection is asked some of the
others', which it must not answer, and some of its own with the documents that answer them left out of the search.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from anabranch.evaluation.query_set import unusable
from anabranch.evaluation.score_tables import DIGITS, Name, Score, place, said, spelled
from anabranch.evaluation.yaml_positions import Where, read_located

Measure = Literal[
    "contains", "recall", "precision", "sentences", "words", "false_abstentions", "answered_marked",
    "answered_elsewhere", "answered_removed", "auc_marked", "auc_elsewhere", "auc_removed",
]  # fmt: skip
Count = Annotated[int, Field(ge=0, le=100_000)]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=False)


class AnswerCase(_Strict):
    """One expected value."""

    collection: Name
    measure: Measure
    expected: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None
    tolerance: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None


class AnswerTable(_Strict):
    """What a YAML file of `kind: answers` holds; see the guide's page on evaluation."""

    kind: Literal["answers"]
    title: str = Field(min_length=1, description="Heading of the report.")
    about: str = Field(default="", description="What the table shows, for its readers.")
    embedder: str = Field(default="", description="As in ingest; empty for the default one.")
    chunk_sizes: tuple[int, int, int] | None = Field(default=None, description="As in ingest.")
    settings: dict[str, Any] = Field(default_factory=dict, description="Of the graph.")
    collections: tuple[Name, ...] = Field(min_length=1, description="Names of folders below --data.")
    questions: Count = Field(default=100, description="Of a collection's own, spread evenly; 0 for all.")
    elsewhere: Count = Field(default=100, description="Of all others together, asked of a collection.")
    removed: Count = Field(default=50, description="Of its own, asked without the documents that answer them.")
    related: tuple[tuple[Name, Name], ...] = Field(default=(), description="Collections that answer each other's.")
    tolerance: Score = Field(default=0.02, description="Of the cases that name none.")
    cases: tuple[AnswerCase, ...] = Field(default=(), description="Expected values.")

    def may_ask(self, asked: str, of: str) -> bool:
        """Tell whether the questions of one collection have no answer in another."""
        return asked != of and (asked, of) not in self.related and (of, asked) not in self.related


def is_answer_table(path: Path) -> bool:
    """Tell whether a YAML file says that it is a table of answers.

    Raises:
        CollectionError: It cannot be read.
    """
    value = read_located(path).value
    return isinstance(value, dict) and value.get("kind") == "answers"


def read_answer_table(path: Path) -> AnswerTable:
    """Read a table of answers from its YAML file.

    Raises:
        CollectionError: It is not one, or names what it does not define; each problem with its line.
    """
    located = read_located(path)
    table: AnswerTable | None = None
    problems: list[tuple[Where, str]]
    try:
        table = AnswerTable.model_validate(located.value)
        problems = list(_contradictions(table))
    except ValidationError as error:
        problems = [(place(item["loc"]), said(item)) for item in error.errors()]
    if table is None or problems:
        told = [f"line {located.line(where)}: {spelled(where)}{what}" for where, what in problems]
        raise unusable(path, told, hint="The guide's page on evaluation shows what a table of answers holds.")
    return table


def answers_expected(path: Path, values: Mapping[int, float]) -> str:
    """Return the text of a table's file with other expected values, by the index of the case."""
    replaced: dict[Where, str] = {
        ("cases", index, "expected"): f"{value:.{DIGITS}f}" for index, value in values.items()
    }
    return read_located(path).replaced(replaced)


def _contradictions(table: AnswerTable) -> Iterator[tuple[Where, str]]:
    for index, pair in enumerate(table.related):
        for name in pair:
            if name not in table.collections:
                yield ("related", index), f"the table has no collection {name!r}"
    seen: set[tuple[str, str]] = set()
    for index, case in enumerate(table.cases):
        if case.collection not in table.collections:
            yield ("cases", index, "collection"), f"the table has no collection {case.collection!r}"
        if (case.collection, case.measure) in seen:
            yield ("cases", index), "it stands in the table twice"
        seen.add((case.collection, case.measure))
