"""Turns a table, `--only`, `--data` and `--collection` into settings of the graph and folders of collections."""

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
from anabranch_evaluation.score_tables import EMBEDDER, EvalTable, ScoreTable
from anabranch_evaluation.token_metrics import is_span_metric

Values = dict[str, Any]

LONGEST_SHOWN = 60


def settings_of(table: EvalTable, given: Mapping[str, Any], *, reproducible: bool, where: str) -> dict[str, Values]:
    """Return the settings of each configuration: the command line's override its own, which override the table's.

    Args:
        table: The table of configurations.
        given: Settings of the command line.
        reproducible: Whether to ignore the environment, so that a table gives the same scores everywhere.
        where: Name of the table in messages.

    Raises:
        CollectionError: A setting is unknown or out of bounds.
    """
    base = _defaults() if reproducible else {}
    found: dict[str, Values] = {}
    for name, own in table.configurations.items():
        chosen = {**table.settings, **own}
        if isinstance(table, ScoreTable):
            # It is no setting of a search: it says which corpus is searched.
            chosen.pop(EMBEDDER, None)
        # All configurations have to search the same documents to be comparable.
        if "corpus" in {*chosen, *given}:
            msg = f"{where}: the configuration {name!r} names a corpus, but the collection determines it."
            raise CollectionError(msg, hint="Leave it out.")
        found[name] = {**base, **chosen, **given}
        _check(found[name], name, where)
    return found


def context_of(values: Values, corpus: str) -> Context:
    """Return the context of a configuration on one corpus."""
    return resolve_settings(Context(**{**values, "corpus": corpus}))


def usual_corpus() -> Path | None:
    """Return the folder of the environment's corpus; None where it names none.

    Raises:
        SettingsError: The corpus is in another kind of store.
    """
    context = resolve_settings()
    return folder_of(context.corpus) if "corpus" in context.model_fields_set else None


def describe_settings(values: Values, embedder: str = "") -> str:
    """Return the embedder and the settings that differ from the defaults, for whoever repeats the measurement."""
    # The corpus is not opened here, so any name will do.
    context, defaults = context_of(values, "-"), _defaults()
    differing = {EMBEDDER: embedder} if embedder else {}
    differing |= {name: getattr(context, name) for name in defaults if getattr(context, name) != defaults[name]}
    return ", ".join(f"{name}={_shorten(value)}" for name, value in differing.items()) or "the defaults"


def find_short_rankings(table: ScoreTable, settings: Mapping[str, Values]) -> Iterator[str]:
    """Yield a remark on each configuration that returns fewer passages than a metric needs."""
    # Beyond `top_k` everything counts as not found: R@20 over ten passages is not R@20.
    of_ranks = [name for name in table.metrics if not is_span_metric(name)]
    furthest = max(of_ranks, key=lambda name: cutoff_of(measure_of(name)))
    for name, values in settings.items():
        kept = context_of(values, "-").top_k
        if kept < cutoff_of(measure_of(furthest)):
            yield f"{name} keeps {kept} passages (top_k), fewer than {furthest} looks at"


def _defaults() -> Values:
    # All except the corpus, which the collection determines.
    fields = {name: field for name, field in Context.model_fields.items() if name != "corpus"}
    return {name: field.get_default(call_default_factory=True) for name, field in fields.items()}


def _check(values: Values, configuration: str, where: str) -> None:
    try:
        context_of(values, "-")
    except SettingsError as error:
        msg = f"{where}: the configuration {configuration!r} cannot be used: {error.message}"
        raise CollectionError(msg, hint=error.hint) from error


def _shorten(value: Any) -> str:  # noqa: ANN401  # a setting
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


@dataclass(frozen=True, slots=True)
class Selection:
    """The patterns of `--only`: collections, configurations, or both with a slash; without any, all are selected."""

    patterns: tuple[str, ...] = ()

    def select(self, collection: str, configurations: Iterable[str]) -> list[str]:
        """Return the configurations to run on a collection."""
        return [
            name
            for name in configurations
            if not self.patterns or any(_matches(pattern, collection, name) for pattern in self.patterns)
        ]

    def check(self, collections: Sequence[str], configurations: Sequence[str]) -> None:
        """Refuse a pattern that matches nothing.

        Raises:
            SettingsError: A pattern matches nothing.
        """
        for pattern in self.patterns:
            # A misspelled name would measure nothing, and look like a success.
            if not any(_matches(pattern, each, name) for each in collections for name in configurations):
                msg = f"--only {pattern!r} matches nothing."
                hint = f"Collections: {', '.join(collections)}. Configurations: {', '.join(configurations)}."
                raise SettingsError(msg, hint=hint)


@dataclass(frozen=True, slots=True)
class FoundCollections:
    """The collections that were found, and the names of missing ones."""

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
    """Find and read the collections of a table.

    Args:
        table: The table that names them.
        data: Folder that holds them.
        given: `NAME=DIR` pairs, also of collections that the table does not name.
        selection: The patterns of `--only`.
        split: Which judgements to read.

    Raises:
        SettingsError: No folder was given, or it does not exist.
        CollectionError: A collection is invalid.
    """
    folders = _read_pairs(given)
    if data is None and not folders:
        msg = f"The table needs the folders of its collections: {', '.join(table.collections)}."
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
        if not selection.select(name, table.configurations):
            continue
        folder = folders.get(name, data / name if data is not None else None)
        # A folder given by name is always read, so that its errors are reported; one in --data may be missing.
        if folder is not None and (name in folders or is_collection(folder)):
            here.append(read_collection(folder, name, split=split))
        else:
            absent.append(name)
    return FoundCollections(tuple(here), tuple(absent))


def _read_pairs(pairs: Sequence[str]) -> dict[str, Path]:
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
