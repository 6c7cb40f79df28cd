"""A damaged page of the database is a clear error, never a crash or wrong words, and an export saves what is whole."""

from __future__ import annotations

import asyncio
import io
import json
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

from anabranch.errors import AnabranchError, CorpusDamagedError
from anabranch.store.corpus_handles import open_folder
from anabranch.store.local_reader import LocalReader
from anabranch.store.maintenance import rebuild
from anabranch.store.protocol import Scope
from anabranch_copies.export.corpus_export import export_corpus
from tests.faults.conftest import NewFault
from tests.faults.damaging import damaged
from tests.faults.days import documents, found, made, problems, take_in, tell, texts_of

DAYS = 30


def texts(corpus: Path) -> dict[str, str]:
    """The text of every chunk, parents as well."""
    with closing(sqlite3.connect(corpus / "corpus.db")) as connection:
        ids = [row[0] for row in connection.execute("SELECT chunk_id FROM chunks")]
    return texts_of(open_folder(corpus), ids)


def test_damaged_database(ground: Path, model: Path, tries: int, fault: NewFault) -> None:
    row = fault(
        "a page of the database is flipped, zeroed or cut off",
        "opening, both searches, fetching, info, verify, ingest and rebuild work or raise an error of ours; no "
        "text comes that was not written; what verify does not notice changes no text; export writes every document "
        "exactly as it was, and none is left out unsaid",
    )
    folder, template = made(ground, model, DAYS)
    before, whole = texts(template), documents(template)
    saved = 0
    for number, dice in enumerate(row.dice(tries)):
        corpus = shutil.copytree(template, ground / f"c{number}")
        what = damaged_database(corpus / "corpus.db", dice)
        with row.attempt(what):
            saved += check_export(corpus, whole)
            is_noticed = problems(corpus) != []
            said = errors_of(corpus, before)
            assert is_noticed or not said, said
            tell(folder, 3, 100 + number)
            for work in (partial(take_in, folder, corpus, model), partial(rebuild, corpus)):
                error_of(work)
            errors_of(corpus, before)
        shutil.rmtree(corpus)
    row.remark = f"of {DAYS} documents, export saved {saved / tries:.1f} on average"
    row.settle()


def damaged_database(file: Path, dice: random.Random) -> str:
    while True:
        content = file.read_bytes()
        what = damaged(file, dice)
        if "gone" not in what and "longer" not in what:
            return what
        file.write_bytes(content)


def error_of(work: Callable[[], object]) -> str:
    """Do something; anything but an error of ours goes through."""
    try:
        work()
    except AnabranchError as error:
        return f"{type(error).__name__}: {error}"
    return ""


def errors_of(corpus: Path, before: dict[str, str]) -> list[str]:
    """Ask for everything, in pieces."""
    opened: list[LocalReader] = []
    said = [error_of(lambda: opened.append(open_folder(corpus)))]
    for store in opened:
        said.append(error_of(lambda store=store: found(store)))
        said.append(error_of(lambda store=store: asyncio.run(store.info())))
        said.append(error_of(lambda store=store: asyncio.run(store.children(list(before), Scope()))))
        for chunk_id, text in before.items():
            said.append(
                error_of(lambda store=store, chunk_id=chunk_id, text=text: is_as_written(store, chunk_id, text))
            )
    return [each for each in said if each]


def is_as_written(store: LocalReader, chunk_id: str, text: str) -> None:
    for came in texts_of(store, [chunk_id]).values():
        assert came == text, f"{came!r} instead of {text!r}"


def check_export(corpus: Path, whole: dict[str, str]) -> int:
    """Compare what is exported with what was written; return how many documents are whole."""
    out = io.BytesIO()
    try:
        report = export_corpus(corpus, out)
    except CorpusDamagedError:
        return 0
    records = [json.loads(line) for line in out.getvalue().splitlines()]
    saved = {record["source"]: record["text"] for record in records if record["kind"] == "document"}
    assert len(saved) == report.documents
    for source, text in saved.items():
        assert text == whole[source], f"{source} is exported as {text!r}"
    if len(saved) < len(whole):
        assert not report.is_complete, "documents are missing from the export, unsaid"
    return len(saved)
