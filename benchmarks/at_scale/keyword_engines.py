"""Keyword search by several engines, one in a process of its own: `python -m benchmarks.at_scale.keyword_engines JOB`.

It runs in the peers' environment, too, so that whatever is imported is imported where it is needed. Each engine keeps
an index on the disk, and not the text. Where words are split already, a text is the numbers of its terms (`t12 t5`).
"""

from __future__ import annotations

import json
import re
import sqlite3
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

from benchmarks.at_scale.gauges import cpu_seconds, megabytes
from benchmarks.at_scale.systems import K

WORD = re.compile(r"\w+")


class Engine(Protocol):
    """An engine on one folder; the words of its texts may be split already."""

    def __init__(self, folder: Path, *, split: bool) -> None: ...

    def build(self, texts: Sequence[str]) -> None:
        """Write the index."""

    def open(self) -> None:
        """Be ready to search what was built."""

    def search(self, question: str) -> list[int]:
        """Return the rows of the best texts, best first."""
        ...


class _Anabranch:
    """The analyser and the postings of a corpus, in one segment."""

    def __init__(self, folder: Path, *, split: bool) -> None:
        from anabranch.text.analyzer import analyser

        self._folder, self._terms = folder, str.split if split else analyser().terms

    def build(self, texts: Sequence[str]) -> None:
        from anabranch.store.index.postings import write_postings

        write_postings(self._folder, map(self._terms, texts))

    def open(self) -> None:
        from anabranch.store.index.bm25 import BM25, Inverted
        from anabranch.store.index.postings import Postings

        self._index = BM25([Inverted(Postings(self._folder), 0, None)])

    def search(self, question: str) -> list[int]:
        (found,) = self._index.search([self._terms(question)], K, [None])
        return [int(row) for row in found.rows]


class _BM25S:
    """bm25s with its English stop words and Snowball's stemmer, as its documentation shows; mapped from the disk."""

    def __init__(self, folder: Path, *, split: bool) -> None:
        import bm25s
        import Stemmer

        self._library, self._folder = bm25s, folder
        own = {"stopwords": "en", "stemmer": Stemmer.Stemmer("english")}
        self._options = {"stopwords": []} if split else own

    def _tokens(self, texts: Sequence[str]) -> Any:  # noqa: ANN401  # its own
        return self._library.tokenize(list(texts), show_progress=False, **self._options)

    def build(self, texts: Sequence[str]) -> None:
        index = self._library.BM25()
        index.index(self._tokens(texts), show_progress=False)
        index.save(str(self._folder), show_progress=False)

    def open(self) -> None:
        self._index = self._library.BM25.load(str(self._folder), mmap=True, show_progress=False)

    def search(self, question: str) -> list[int]:
        rows, scores = self._index.retrieve(self._tokens([question]), k=K, show_progress=False)
        return [int(row) for row, score in zip(rows[0], scores[0], strict=True) if score > 0]


class _Tantivy:
    """tantivy with its English analyser, which stems and has no stop words; any word of the question may match."""

    def __init__(self, folder: Path, *, split: bool) -> None:
        import tantivy

        self._library = tantivy
        schema = tantivy.SchemaBuilder().add_integer_field("row", stored=True)
        schema.add_text_field("text", tokenizer_name="default" if split else "en_stem", index_option="freq")
        self._index = tantivy.Index(schema.build(), path=str(folder))

    def build(self, texts: Sequence[str]) -> None:
        writer = self._index.writer(heap_size=256_000_000, num_threads=1)
        for row, text in enumerate(texts):
            writer.add_document(self._library.Document(row=row, text=text))
        writer.commit()
        writer.wait_merging_threads()

    def open(self) -> None:
        self._index.reload()
        self._searcher = self._index.searcher()

    def search(self, question: str) -> list[int]:
        asked, _ = self._index.parse_query_lenient(" ".join(WORD.findall(question.lower())), ["text"])
        found = self._searcher.search(asked, K, count=False).hits
        return [self._searcher.doc(place)["row"][0] for _, place in found]


class _FTS5:
    """SQLite's FTS5 with its stemmer by Porter and no stop words, without the text; any word may match."""

    def __init__(self, folder: Path, *, split: bool) -> None:
        self._database = sqlite3.connect(folder / "fts5.sqlite")
        self._tokens = "unicode61" if split else "porter unicode61"

    def build(self, texts: Sequence[str]) -> None:
        options = f"content='', tokenize='{self._tokens}'"
        self._database.execute(f"CREATE VIRTUAL TABLE words USING fts5(text, {options})")
        self._database.executemany("INSERT INTO words (rowid, text) VALUES (?, ?)", enumerate(texts))
        self._database.execute("INSERT INTO words (words) VALUES ('optimize')")
        self._database.commit()

    def open(self) -> None:
        self._database.execute("SELECT count(*) FROM words_docsize").fetchone()

    def search(self, question: str) -> list[int]:
        asked = " OR ".join(f'"{word}"' for word in WORD.findall(question))
        sql = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?"
        return [row for (row,) in self._database.execute(sql, (asked, K))]


ENGINES: dict[str, type[Engine]] = {"Anabranch": _Anabranch, "bm25s": _BM25S, "tantivy": _Tantivy, "SQLite FTS5": _FTS5}


def main(job_file: str) -> int:
    """Build, ask each question twice, the second time with a stopwatch; print what it took and what was found."""
    job = json.loads(Path(job_file).read_text("utf-8"))
    name, folder, questions = job["engine"], Path(job["folder"]), job["questions"]
    engine = ENGINES[name](folder, split=job["split"])
    began = cpu_seconds()
    engine.build(job["texts"])
    built = cpu_seconds() - began
    engine.open()
    found = [engine.search(question) for question in questions]
    began = cpu_seconds()
    for question in questions:
        engine.search(question)
    told = {"build": built, "search": (cpu_seconds() - began) / len(questions), "disk": megabytes(folder)}
    release = sqlite3.sqlite_version if "SQLite" in name else version(name.lower())
    print(json.dumps(told | {"found": found, "version": release}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
