"""Care of a corpus: check it, make its indexes anew, embed it anew, remove documents."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from anabranch.corpus.generation import Manifest, build, current, damage, read_manifest
from anabranch.corpus.lock import writing
from anabranch.corpus.truth import DATABASE, Truth, embedded_text
from anabranch.errors import CorpusDamagedError, CorpusNotFoundError, UserError
from anabranch.models.embedders import load_embedder, settled_spec

BATCH = 512


def verify(folder: Path) -> list[str]:
    """Return what is wrong with a corpus, one line each; an empty list means sound.

    Checked: the database's own integrity, that every leaf has its vector, that leaves tile their documents, the
    checksums of the index files, and that index and database hold the same leaves.

    Raises:
        CorpusNotFoundError: There is no corpus there.
    """
    _must_exist(folder)
    problems: list[str] = []
    try:
        with closing(Truth(folder)) as truth:
            problems += [row[0] for row in truth.connection.execute("PRAGMA integrity_check") if row[0] != "ok"]
            problems += _gaps(truth)
            (leaves,) = truth.one("SELECT count(*) FROM chunks WHERE level = 2")
    except (sqlite3.DatabaseError, CorpusDamagedError) as error:
        return [*problems, f"{DATABASE}: {error}"]
    return problems + _index_problems(folder, leaves)


def _gaps(truth: Truth) -> list[str]:
    problems = []
    (missing,) = truth.one(
        "SELECT count(*) FROM chunks c LEFT JOIN vectors v ON v.vector_key = c.vector_key AND v.embedder = "
        "(SELECT value FROM meta WHERE name = 'embedder') WHERE c.level = 2 AND v.vector IS NULL"
    )
    if missing:
        problems.append(f"{missing} passages have no vector of the corpus's embedder")
    torn = truth.one(
        'SELECT count(*) FROM (SELECT start, lag("end", 1, 0) OVER (PARTITION BY doc_id ORDER BY start) AS before '
        "FROM chunks WHERE level = 2) WHERE start != before"
    )
    if torn[0]:
        problems.append(f"{torn[0]} passages do not follow on the one before")
    (orphans,) = truth.one(
        "SELECT count(*) FROM chunks c WHERE c.parent_id IS NOT NULL "
        "AND NOT EXISTS (SELECT 1 FROM chunks p WHERE p.chunk_id = c.parent_id)"
    )
    if orphans:
        problems.append(f"{orphans} chunks have lost their parent")
    return problems


def _index_problems(folder: Path, leaves: int) -> list[str]:
    try:
        name = current(folder)
        if name is None:
            return ["there is no index"] if leaves else []
        manifest = read_manifest(folder, name)
    except CorpusDamagedError as error:
        return [error.message]
    problems = damage(folder, manifest)
    if manifest.leaves != leaves:
        problems.append(f"the index holds {manifest.leaves} passages, the database {leaves}: `corpus rebuild` mends it")
    return problems


def rebuild(
    folder: Path,
    *,
    embedder: str | None = None,
    base_url: str | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Manifest:
    """Make the indexes anew from the database; with `embedder`, embed every passage with another one first.

    Raises:
        CorpusNotFoundError: There is no corpus there.
        CorpusLockedError: Another process is writing.
    """
    _must_exist(folder)
    with writing(folder), closing(Truth(folder)) as truth:
        spec = settled_spec(embedder or truth.meta("spec") or "minilm")
        url = base_url or (truth.meta("base_url") if embedder is None else None) or None
        model = load_embedder(spec, url)
        sql = (
            "SELECT DISTINCT d.title, c.heading, c.text, c.vector_key FROM chunks c JOIN documents d USING (doc_id) "
            "WHERE c.level = 2"
        )
        texts = {
            key: embedded_text(title, heading, text) for title, heading, text, key in truth.connection.execute(sql)
        }
        missing = truth.missing_vectors(list(texts.values()), model.name)
        keys = list(missing)
        for start in range(0, len(keys), BATCH):
            part = keys[start : start + BATCH]
            truth.add_vectors(part, model.embed([missing[key] for key in part]), model.name)
            if progress is not None:
                progress("passages", min(start + BATCH, len(keys)), len(keys))
        with truth.transaction():
            truth.set_meta("embedder", model.name)
            truth.set_meta("spec", spec)
            truth.set_meta("base_url", url or "")
        return build(
            folder,
            truth,
            dimension=model.dimension,
            progress=(lambda done, total: progress("index", done, total)) if progress else None,
        )


def remove(folder: Path, sources: Sequence[str]) -> int:
    """Remove documents by source (a shell pattern may be given) and make the indexes anew; return how many.

    Raises:
        UserError: A source names no document; then nothing is removed.
    """
    _must_exist(folder)
    with writing(folder), closing(Truth(folder)) as truth:
        for source in sources:
            if truth.one("SELECT 1 FROM documents WHERE source GLOB ?", source) is None:
                msg = f"No document has the source {source!r}."
                raise UserError(msg, hint="`anabranch corpus stats` lists the sources.")
        removed = sum(truth.remove("source GLOB ?", source) for source in sources)
        truth.connection.execute("DELETE FROM files WHERE path NOT IN (SELECT path FROM documents)")
        dimension = load_embedder(truth.meta("spec") or "minilm", truth.meta("base_url") or None).dimension
        build(folder, truth, dimension=dimension)
        return removed


def _must_exist(folder: Path) -> None:
    if not (folder / DATABASE).is_file():
        msg = f"There is no corpus at {folder}."
        raise CorpusNotFoundError(msg, hint=f"Make one: anabranch ingest YOUR_FOLDER --corpus {folder}")
