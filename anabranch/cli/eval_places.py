"""Which collections and configurations are to be measured, and where the collections are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from anabranch.errors import SettingsError
from anabranch.evaluation.collection import Collection, is_collection, read_collection
from anabranch.evaluation.score_tables import Table


@dataclass(frozen=True, slots=True)
class Selection:
    """What `--only` takes: names of collections or configurations, or both with a slash; everything where empty."""

    patterns: tuple[str, ...] = ()

    def takes(self, collection: str, configuration: str) -> bool:
        """Tell whether a configuration is to be run on a collection."""
        return not self.patterns or any(_matches(pattern, collection, configuration) for pattern in self.patterns)

    def of(self, collection: str, configurations: Iterable[str]) -> list[str]:
        """Return the configurations to run on a collection."""
        return [name for name in configurations if self.takes(collection, name)]

    def check(self, collections: Sequence[str], configurations: Sequence[str]) -> None:
        """Refuse a pattern that takes nothing: it is misspelled.

        Raises:
            SettingsError: There is one.
        """
        for pattern in self.patterns:
            if not any(_matches(pattern, each, name) for each in collections for name in configurations):
                msg = f"--only {pattern!r} takes nothing."
                hint = f"Collections: {', '.join(collections)}. Configurations: {', '.join(configurations)}."
                raise SettingsError(msg, hint=hint)


@dataclass(frozen=True, slots=True)
class Places:
    """The collections that are here, read, and the names of those that are not."""

    here: tuple[Collection, ...]
    absent: tuple[str, ...]


def places_of(
    table: Table, data: Path | None, given: Sequence[str], selection: Selection, *, split: str = "test"
) -> Places:
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
    names = list(dict.fromkeys((*table.collections, *folders)))
    selection.check(names, list(table.configurations))
    here: list[Collection] = []
    absent: list[str] = []
    for name in names:
        if not selection.of(name, table.configurations):
            continue
        folder = folders.get(name, data / name if data is not None else None)
        if folder is not None and (name in folders or is_collection(folder)):
            here.append(read_collection(folder, name, split=split))
        else:
            absent.append(name)
    return Places(tuple(here), tuple(absent))


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
