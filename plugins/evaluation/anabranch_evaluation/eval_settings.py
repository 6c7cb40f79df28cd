"""What a table, `--only`, `--data` and `--collection` say, as settings of the graph and folders of collections."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from anabranch.agent.graph.settings_precedence import resolve_settings
from anabranch.agent.nodes.settings import Context
from anabranch.errors import CollectionError, SettingsError
from anabranch.store.corpus_address import folder_of
from anabranch_evaluation.collection import Collection, is_collection, read_collection
from anabranch_evaluation.metrics import cutoff_of, measure_of
from anabranch_evaluation.score_tables import EvalTable, ScoreTable

Values = dict[str, Any]

LONGEST_SHOWN = 60


def settings_of(table: EvalTable, given: Mapping[str, Any], *, reproducible: bool, where: str) -> dict[str, Values]:
    """Return the settings of each configuration: its own over those of the table, and what was given over both.

    Args:
        table: With its configurations.
        given: Settings of the command line.
        reproducible: Whether the environment counts for nothing, so that a table says the same everywhere.
        where: What to call the table in a message.

    Raises:
        CollectionError: A setting is unknown or out of bounds.
    """
    base = _defaults() if reproducible else {}
    found: dict[str, Values] = {}
    for name, own in table.configurations.items():
        chosen = {**table.settings, **own}
        # Every configuration has to search the same documents, or the comparison says nothing.
        if "corpus" in {*chosen, *given}:
            msg = f"{where}: the configuration {name!r} names a corpus; that is what the collection is for."
            raise CollectionError(msg, hint="Leave it out.")
        found[name] = {**base, **chosen, **given}
        _check(found[name], name, where)
    return found


def context_of(values: Values, corpus: str) -> Context:
    """Return the context of a configuration on one corpus."""
    return resolve_settings(Context(**{**values, "corpus": corpus}))


def usual_corpus() -> Path | None:
    """Return the folder of the corpus that the environment names; None where it names none.

    Raises:
        SettingsError: It is in another kind of store.
    """
    context = resolve_settings()
    return folder_of(context.corpus) if "corpus" in context.model_fields_set else None


def settings_shown(values: Values) -> str:
    """Return what differs from the defaults, as JSON by name: what a reader has to set to get the same."""
    # Any corpus will do: nothing is opened here.
    context, defaults = context_of(values, "-"), _defaults()
    differing = {name: getattr(context, name) for name in defaults if getattr(context, name) != defaults[name]}
    return ", ".join(f"{name}={_short(value)}" for name, value in differing.items()) or "the defaults"


def measured_too_far(table: ScoreTable, settings: Mapping[str, Values]) -> Iterator[str]:
    """Yield which configurations keep fewer passages than a metric looks at."""
    # Behind `top_k` everything counts as not found: R@20 of ten passages is not R@20.
    furthest = max(table.metrics, key=lambda name: cutoff_of(measure_of(name)))
    for name, values in settings.items():
        kept = context_of(values, "-").top_k
        if kept < cutoff_of(measure_of(furthest)):
            yield f"{name} keeps {kept} passages (top_k), fewer than {furthest} looks at"


def _defaults() -> Values:
    # All but the corpus, which is that of the collection.
    fields = {name: field for name, field in Context.model_fields.items() if name != "corpus"}
    return {name: field.get_default(call_default_factory=True) for name, field in fields.items()}


def _check(values: Values, configuration: str, where: str) -> None:
    try:
        context_of(values, "-")
    except SettingsError as error:
        msg = f"{where}: the configuration {configuration!r} cannot be used: {error.message}"
        raise CollectionError(msg, hint=error.hint) from error


def _short(value: Any) -> str:  # noqa: ANN401  # a setting
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


@dataclass(frozen=True, slots=True)
class Selection:
    """What `--only` takes: names of collections or configurations, or both with a slash; everything where empty."""

    patterns: tuple[str, ...] = ()

    def of(self, collection: str, configurations: Iterable[str]) -> list[str]:
        """Return the configurations to run on a collection."""
        return [
            name
            for name in configurations
            if not self.patterns or any(_matches(pattern, collection, name) for pattern in self.patterns)
        ]

    def check(self, collections: Sequence[str], configurations: Sequence[str]) -> None:
        """Refuse a pattern that takes nothing: it is misspelled.

        Raises:
            SettingsError: There is one.
        """
        for pattern in self.patterns:
            # A misspelled name would measure nothing and succeed, which looks like no drift.
            if not any(_matches(pattern, each, name) for each in collections for name in configurations):
                msg = f"--only {pattern!r} takes nothing."
                hint = f"Collections: {', '.join(collections)}. Configurations: {', '.join(configurations)}."
                raise SettingsError(msg, hint=hint)


@dataclass(frozen=True, slots=True)
class FoundCollections:
    """The collections that are here, read, and the names of those that are not."""

    here: tuple[Collection, ...]
    absent: tuple[str, ...]


def collections_of(
    table: EvalTable,
    data: Path | None,
    given: Sequence[str],
    selection: Selection,
    *,
    split: str = "test",
) -> FoundCollections:
    """Find the collections of a table, and read those that are here.

    Args:
        table: With the names of its collections.
        data: Folder that holds them by name.
        given: `NAME=DIR`, also of collections that the table does not name.
        selection: Which of them are asked for.
        split: Which judgements to take.

    Raises:
        SettingsError: There is nowhere to look, or a folder that was named is not there.
        CollectionError: A collection cannot be used.
    """
    folders = _given(given)
    if data is None and not folders:
        msg = f"The table needs to know where its collections are: {', '.join(table.collections)}."
        raise SettingsError(
            msg, hint="Name the folder that holds them with --data DIR, or one with --collection NAME=DIR."
        )
    if data is not None and not data.is_dir():
        raise SettingsError(
            f"--data {str(data)!r} is not a folder.", hint="Name the folder that holds the collections."
        )
    # In the order of the table, so that two reports can be compared line by line.
    names = list(dict.fromkeys((*table.collections, *folders)))
    selection.check(names, list(table.configurations))
    here: list[Collection] = []
    absent: list[str] = []
    for name in names:
        if not selection.of(name, table.configurations):
            continue
        folder = folders.get(name, data / name if data is not None else None)
        # A folder that was named is read in any case, so that its mistakes are told; one below --data may be missing.
        if folder is not None and (name in folders or is_collection(folder)):
            here.append(read_collection(folder, name, split=split))
        else:
            absent.append(name)
    return FoundCollections(tuple(here), tuple(absent))


def _given(pairs: Sequence[str]) -> dict[str, Path]:
    folders: dict[str, Path] = {}
    for pair in pairs:
        name, equals, folder = pair.partition("=")
        if not equals or not name.strip() or not folder:
            msg = f"--collection {pair!r} is not of the form NAME=DIR."
            raise SettingsError(msg, hint="For example: --collection scifact=data/scifact.")
        folders[name.strip()] = Path(folder)
    return folders


def _matches(pattern: str, collection: str, configuration: str) -> bool:
    if "/" in pattern:
        return fnmatchcase(f"{collection}/{configuration}", pattern)
    return fnmatchcase(collection, pattern) or fnmatchcase(configuration, pattern)
