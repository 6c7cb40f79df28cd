"""A filter that a chat model reads from a question, as in "only contracts since 2024": self-query retrieval.

The model proposes conditions. One holds only if documents in scope have its field and its value, and if the question
says a word of that value; so a filter can narrow a search and nothing else. Fields and values come from documents, so
they are data to the model: short, on one line, and few.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from anabranch.store.filters import COLUMNS, ORDERS
from anabranch.text.normalization import clean, squeeze
from anabranch.types import InferredFilter, TurnRecord

SAMPLE = 1_000
"""Documents whose metadata is looked at; more hardly show further fields."""

MOST_FIELDS, MOST_VALUES = 12, 5
"""Fields, and values of each, that a model is shown."""

RAREST = 100
"""One document in so many has a field that a model is shown, at least."""

MOST_LOOKED_AT = 50
"""Values of a field of which those are chosen that a model is shown."""

MOST_BYTES = 240
"""Most bytes of what a model is shown: about 100 tokens in any script."""

LONGEST_NAME, LONGEST_VALUE = 40, 60
"""Most characters of a name or a value that a model is shown."""

MOST_WORDS = 6
"""Most words of a name or a value that a model is shown, as of a value that a chain finds: too few for most orders."""

MOST_ITEMS = 20
"""Values of a list that are looked at, in one document."""

_CONDITION = re.compile(r"([^<>=]{1,100}+)([<>]=?+|==?+) ?+(.{1,400})")
# ISO 8601, also a year or a month alone; such texts are in the order of time.
_DATE = re.compile(r"\d{4}(?:-\d{2}(?:-\d{2}(?:[T ][\d:.Z+-]{1,30})?)?)?")
_ORDERS = {">": "gt", ">=": "gte", "<": "lt", "<=": "lte"}
# Signs of the lines that a model replies with, such as "READ: corpus".
_SIGNS = frozenset(":;={}<>\n")
_AROUND = " \t\"'`*“”„«»‘’"
_AFTER = "~"
"""Comes after every character of a date: with it, a year or a month stands for its end."""


@dataclass(frozen=True, slots=True)
class MetadataField:
    """A field of the documents' metadata.

    Attributes:
        name: Its name, or `title`.
        kind: What its values are; only numbers and dates have an order.
        values: Different values, the most frequent one first.
    """

    name: str
    kind: str
    values: tuple[str | int | float, ...]


@dataclass(frozen=True, slots=True)
class FilterCondition:
    """A condition that documents in scope can meet.

    Attributes:
        text: It, for people.
        name: Its field.
        words: What a question has to say for it: its value, or the name of a field that is true or false.
        is_equal: Whether it is by "=".
        filters: It, as a filter expression.
    """

    text: str
    name: str
    words: str
    is_equal: bool
    filters: dict[str, Any]


def collect_fields(sample: Sequence[Mapping[str, Any]]) -> list[MetadataField]:
    """Return the fields that tell documents apart, those that most documents share first; titles only beside others.

    Few documents, of which anybody may have written one, cannot so displace a field that many have.

    Args:
        sample: Metadata of documents, with the title as the key `title`.
    """
    counts, documents = dict[str, Counter[str | int | float]](), Counter[str]()
    for metadata in sample:
        for name, value in metadata.items():
            items = value[:MOST_ITEMS] if isinstance(value, list) else [value]
            if _is_name(name) and (kept := dict.fromkeys(item for item in items if _is_value(item))):
                counts.setdefault(name, Counter()).update(list(kept))
                documents[name] += 1
    titles = counts.pop("title", Counter())
    # A value that every document has narrows nothing.
    fields = [
        _make_field(name, found)
        for name, found in counts.items()
        if min(found.values()) < len(sample) <= documents[name] * RAREST
    ]

    def shared(field: MetadataField) -> int:
        # Numbers and dates differ, but lie between bounds; words are shared only where they are the same.
        return counts[field.name].total() - (len(field.values) if field.kind == "text" else 1)

    fields.sort(key=lambda field: (-shared(field), -documents[field.name], field.name))
    del fields[MOST_FIELDS - 1 :]
    if fields and titles:
        fields.append(_make_field("title", titles))
    return fields


def _is_name(name: str) -> bool:
    usable = name not in COLUMNS - {"title"} and name not in ("and", "or", "not")
    is_short = 0 < len(name) <= LONGEST_NAME and len(name.split()) <= MOST_WORDS
    return usable and is_short and name.replace("_", "").replace("-", "").replace(" ", "").isalnum()


def _is_value(value: object) -> bool:
    if isinstance(value, str):
        return 0 < len(value) <= LONGEST_VALUE and not value.isspace()
    return isinstance(value, int | float) and _is_in_range(value)


def _is_in_range(number: float) -> bool:
    # A filter takes integers of 64 bits.
    return math.isfinite(number) and abs(number) < 2**63


def _make_field(name: str, found: Counter[str | int | float]) -> MetadataField:
    """Return a field of the kind that most of its values have: a few others, such as "unknown", are left out."""
    values = [value for value, _ in found.most_common()]
    for kind in ("number", "date"):
        alike = tuple(value for value in values if _kind_of(value) == kind)
        if 2 * sum(found[value] for value in alike) > found.total():
            return MetadataField(name, kind, alike)
    return MetadataField(name, "text", tuple(values))


def _kind_of(value: object) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "number"
    return "date" if isinstance(value, str) and _DATE.fullmatch(value) else "text"


def show_fields(fields: Sequence[MetadataField]) -> str:
    """Return the fields with some of their values as JSON on one line, no longer than `MOST_BYTES`."""
    shown: dict[str, str | list[str | int | float]] = {}
    for field in fields:
        if field.kind != "text" and len(field.values) > MOST_VALUES:
            span = f"{min(field.values)} to {max(field.values)}"
            shown |= {field.name: span} if _fits({**shown, field.name: span}) else {}
            continue
        # A field may have 20,000 values, of which none is plain.
        told = [each for each in field.values[:MOST_LOOKED_AT] if not isinstance(each, str) or _is_plain(each)]
        told = told[:MOST_VALUES]
        while told and not _fits({**shown, field.name: told}):
            told.pop()
        shown |= {field.name: told} if told else {}
    return json.dumps(shown, ensure_ascii=False) if shown else ""


def _is_plain(value: str) -> bool:
    """Tell whether a value may be shown: visible, and without the room and the signs of an instruction."""
    return squeeze(clean(value)) == value and len(value.split()) <= MOST_WORDS and _SIGNS.isdisjoint(value)


def _fits(fields: object) -> bool:
    return len(json.dumps(fields, ensure_ascii=False).encode()) <= MOST_BYTES


def read_condition(written: str, fields: Sequence[MetadataField]) -> FilterCondition | None:
    """Return a condition as a model writes it, such as "year >= 2024"; None if no document can meet it."""
    found = _CONDITION.fullmatch(written.replace("≥", ">=").replace("≤", "<="))
    if found is None:
        return None
    name, sign, value = found[1].strip(_AROUND), found[2].replace("==", "="), found[3].strip(_AROUND)
    # The name as it is written goes first: two may differ in case alone.
    alike = sorted((field for field in fields if _fold(field.name) == _fold(name)), key=lambda each: each.name != name)
    filters = _express(alike[0], sign, value) if alike else None
    if filters is None:
        return None
    field, shown = alike[0], squeeze(clean(value))[:LONGEST_VALUE]
    is_truth = all(isinstance(each, bool) for each in field.values)
    return FilterCondition(
        f"{field.name} {sign} {shown}", field.name, field.name if is_truth else shown, sign == "=", filters
    )


def join_conditions(conditions: Sequence[FilterCondition]) -> InferredFilter:
    """Return the filter: conditions of one field by "=" are alternatives, and all others hold together."""
    told = list(dict.fromkeys(each.text for each in conditions))
    equal: dict[str, list[dict[str, Any]]] = {}
    for each in conditions:
        if each.is_equal:
            equal.setdefault(each.name, []).append(each.filters)
    parts = [{"or": alternatives} for alternatives in equal.values()]
    parts += [each.filters for each in conditions if not each.is_equal]
    return InferredFilter(filters={"and": parts}, text="; ".join(told))


def without_inferred(record: TurnRecord) -> TurnRecord:
    """Return the record of a turn without its inferred filter; the caller's filters and access stay."""
    return cast("TurnRecord", {name: value for name, value in record.items() if name != "inferred"})


def _express(field: MetadataField, sign: str, value: str) -> dict[str, Any] | None:
    """Return a condition as a filter expression; None if its value is of another kind, or no document meets it."""
    if field.kind == "text":
        # Words have no order.
        spellings = [each for each in field.values if _fold(each) == _fold(value)]
        return {field.name: {"in": spellings}} if spellings and sign == "=" else None
    bounds: dict[str, str | int | float]
    if field.kind == "number":
        try:
            number = float(value)
        except ValueError:
            return None
        if not _is_in_range(number):
            return None
        wanted = int(number) if number.is_integer() else number
        bounds = {"gte": wanted, "lte": wanted} if sign == "=" else {_ORDERS[sign]: wanted}
    elif not _DATE.fullmatch(value):
        return None
    elif sign == "=":
        bounds = {"gte": value, "lte": value + _AFTER}
    else:
        bounds = {_ORDERS[sign]: value + _AFTER if sign in (">", "<=") else value}
    is_met = any(all(ORDERS[name](each, bound) for name, bound in bounds.items()) for each in field.values)
    return {field.name: bounds} if is_met else None


def _fold(value: object) -> str:
    return squeeze(clean(str(value))).casefold()
