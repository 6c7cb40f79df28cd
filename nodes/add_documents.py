"""Ingest files into the corpus, for the ingest graph."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, get_args

from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import Update
from anabranch.agent.nodes.turn import Turn
from anabranch.errors import NotAllowedError, SettingsError
from anabranch.identity.user import User, ingest_folder, upload_folder
from anabranch.ingestion.access_rights import OPERATOR, AccessRights
from anabranch.ingestion.ingest_report import FileRow, Status
from anabranch.ingestion.ingest_root import IngestRoot
from anabranch.ingestion.pipeline import ingest as ingest_files
from anabranch.models.embedders import LOCAL_EMBEDDERS
from anabranch.readers.document import access_tags
from anabranch.safety.operator import operator, own_places
from anabranch.store.writer_protocol import Progress

# Most files that a result names, because a server keeps the result in a checkpoint.
MOST_FILES = 1_000
# Seconds between two progress events.
EVERY = 0.25
# Files that need an action come first, if not all can be named.
_FIRST: tuple[Status, ...] = ("failed", "skipped", "removed", "updated", "added", "unchanged")


async def add_documents(state: dict[str, Any], turn: Turn) -> Update:
    """Ingest the paths in a worker thread; report each file as the command line does, up to a limit.

    Small `custom` events report the progress.
    """
    access = _check_tags(state.get("access"))
    first = {
        "language": state.get("language") or "",
        "sizes": _check_sizes(state.get("chunk_sizes")),
        "embedder": _check_embedder(state.get("embedder")),
    }
    paths = _check_paths(state.get("paths"))
    await turn.audit("ingest", paths=paths[:MOST_FILES], access=access)
    result = await asyncio.to_thread(_ingest, paths, access, turn.settings, first, _ProgressEvents(turn))
    await turn.audit("ingested", totals=result["totals"])
    return result


class _ProgressEvents:
    """Reports the progress a few times a second: events for each of a million files would fill a server's log."""

    def __init__(self, turn: Turn) -> None:
        """Take the turn, whose stream gets the events."""
        self._turn = turn
        self._stage = ""
        self._last = 0.0

    def __call__(self, stage: str, done: int, total: int, detail: str = "") -> None:
        """Report the progress, unless it was reported a moment ago."""
        now = time.monotonic()
        if stage != self._stage or done == total or now - self._last >= EVERY:
            self._stage, self._last = stage, now
            self._turn.show(step="add_documents", stage=stage, done=done, total=total, detail=detail)


def _ingest(
    paths: Sequence[str],
    access: tuple[str, ...] | None,
    settings: Context,
    first: Mapping[str, Any],
    progress: Progress,
) -> dict[str, Any]:
    user = settings.user
    report = ingest_files(
        paths,
        settings.corpus,
        root=_find_root(user),
        access=access or (),
        rights=OPERATOR if user is None else _find_rights(user, settings.access, access),
        progress=progress,
        **first,
    )
    rows = _select_rows(report.rows)
    counts = {status: report.count(status) for status in get_args(Status)}
    left = {"missing": report.missing, "left_out": len(report.rows) - len(rows)}
    totals = {**counts, **left, "seconds": round(report.seconds, 2)}
    return {"files": [asdict(row) for row in rows], "totals": totals, "warnings": report.warnings}


def _find_root(user: User | None) -> IngestRoot:
    """Return what callers may ingest: their uploads and the operator's ingest root, without the operator's own files.

    Uploads of other people are in a hidden folder, and hidden files are refused.
    """
    own = upload_folder() if user is None else upload_folder(user.owner)
    return IngestRoot(ingest_folder(user), own, is_open=bool(operator().ingest_root), closed=own_places())


def _check_paths(given: Any) -> list[str]:  # noqa: ANN401  # a caller may send anything
    """Return the paths to ingest.

    Raises:
        SettingsError: The input is not a list of texts, or it is empty.
    """
    if given is not None and not (isinstance(given, list) and all(isinstance(path, str) for path in given)):
        msg = "`paths` is not a list of texts."
        raise SettingsError(msg, hint='For example: {"paths": ["notes"]}.')
    if not given:
        msg = "There is nothing to ingest: `paths` is empty."
        raise SettingsError(msg, hint="Give files or folders.")
    return [*given]


def _check_tags(given: Any) -> tuple[str, ...] | None:  # noqa: ANN401  # a caller may send anything
    """Return the given tags; None if none were given. An empty list means that everybody may read.

    Raises:
        SettingsError: The input is not a list of tags.
    """
    try:
        return None if given is None else access_tags(given)
    except ValueError as error:
        raise SettingsError(f"The input cannot be used: {error}.", hint='Give `access` as ["staff"].') from error


def _check_sizes(given: Any) -> tuple[int, int, int] | None:  # noqa: ANN401  # a caller may send anything
    """Return the given chunk sizes; None means those of the corpus.

    Raises:
        SettingsError: The input is not three whole numbers.
    """
    if given is None:
        return None
    if not isinstance(given, list | tuple) or [type(size) for size in given] != [int] * 3:
        msg = "The input cannot be used: `chunk_sizes` is not three whole numbers."
        raise SettingsError(msg, hint="Give them from the largest to the smallest: [2048, 512, 128].")
    root, middle, leaf = given
    return root, middle, leaf


def _check_embedder(given: Any) -> str:  # noqa: ANN401  # a caller may send anything
    """Return the given name; nothing stands for the embedder of the corpus, or of new ones.

    Raises:
        SettingsError: It is another one: the operator chooses folders of this machine and hosted models.
    """
    if not given:
        return ""
    if given not in LOCAL_EMBEDDERS:
        msg = f"The input cannot be used: `embedder` is none of {', '.join(LOCAL_EMBEDDERS)}."
        raise SettingsError(msg, hint="The operator chooses any other one with ANABRANCH_EMBEDDER.")
    return str(given)


def _find_rights(user: User, own: tuple[str, ...], access: tuple[str, ...] | None) -> AccessRights:
    """Return what a user may change in the corpus: documents under their own tags; for an admin, all.

    Raises:
        NotAllowedError: The user gives a tag that they do not hold.
        SettingsError: The user gives and holds no tags: their documents would silently be visible to everybody.
    """
    rights = AccessRights(None if "admin" in user.roles else frozenset(own), own if access is None else ())
    if access is None and not own:
        msg = "You hold no access tags, so `access` must say who may read these documents."
        raise SettingsError(msg, hint="Give `access`: a list of tags, or an empty list for everybody.")
    if not rights.cover(access or ()):
        raise NotAllowedError("You give an access tag that you do not hold.", hint="Give some of your own.")
    return rights


def _select_rows(rows: Sequence[FileRow]) -> Sequence[FileRow]:
    """Return the rows that the state has room for: failures first, then changes, if some must be left out."""
    if len(rows) <= MOST_FILES:
        return rows
    return sorted(rows, key=lambda row: _FIRST.index(row.status))[:MOST_FILES]
