"""What a child that writes says of its commits, and what may be found of them afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from anabranch.store.corpus_database import CorpusDatabase
from tests.faults.children import Say


class Ledger:
    """Which editions of a document may be found after a kill: the last one committed, and any tried since."""

    def __init__(self, found: Mapping[str, int] | None = None) -> None:
        self._may_be: dict[str, set[int | None]] = {source: {edition} for source, edition in (found or {}).items()}

    def hear(self, said: tuple[str, Any]) -> None:
        """Take what a child said before or after a commit."""
        kind, facts = said
        if kind == "trying":
            for source, edition in facts.items():
                self._may_be.setdefault(source, {None}).add(edition)
        elif kind == "committed":
            self._may_be |= {source: {edition} for source, edition in facts.items()}

    def check(self, found: Mapping[str, int]) -> None:
        """Compare with what was found, which is what is committed from now on."""
        for source, may_be in self._may_be.items():
            assert found.get(source) in may_be, f"{source} is {found.get(source)}, not one of {may_be}"
        assert set(found) <= set(self._may_be)
        self._may_be = {source: {found.get(source)} for source in self._may_be}


@contextmanager
def told(say: Say) -> Iterator[None]:
    """Have each commit announced, and reported once it is done."""
    write, remove = CorpusDatabase.write, CorpusDatabase.remove_file

    def writing_told(database: CorpusDatabase, batch: Any, files: Any) -> Any:
        facts = {each.document.source: int(each.tree.text.split("edition ")[1].split()[0]) for each in batch}
        say(("trying", facts))
        done = write(database, batch, files)
        say(("committed", facts))
        return done

    def removing_told(database: CorpusDatabase, path: str) -> int:
        facts = dict.fromkeys([Path(path).name])
        say(("trying", facts))
        done = remove(database, path)
        say(("committed", facts))
        return done

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CorpusDatabase, "write", writing_told)
        patch.setattr(CorpusDatabase, "remove_file", removing_told)
        yield
