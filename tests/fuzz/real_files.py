"""Ingests real files of all formats and lists what was refused; a run that ends is a failure. `make real-files`.

    python -m tests.fuzz.real_files [FOLDER ...] [--most 200] [--minutes 20] [--shown 15]

Without folders it takes what an installation brings, its packages, documentation and man pages, and ANABRANCH_SHARED.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import sysconfig
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from anabranch.ingestion.archives import is_archive
from anabranch.ingestion.ingest_report import FileRow
from anabranch.ingestion.isolation.process_limits import Limits
from anabranch.ingestion.pipeline import ingest
from anabranch.models.wordpiece_tokenizer import MINILM_TOKENIZER
from anabranch.readers import READERS, ReadOptions, extension_of
from tests.ingestion.ingest_runs import Flat

TOGETHER = 50  # files in one run
MOST_BYTES, MOST_PDF_BYTES = 5 << 20, 30 << 20
LIMITS, OPTIONS = Limits(seconds=60.0), ReadOptions(ocr=False)  # OCR may take a minute a page


def list_folders() -> list[Path]:
    """Return the folders of this machine that have files of many formats."""
    own = [sysconfig.get_path("purelib"), "/usr/share/doc", "/usr/share/man", os.environ.get("ANABRANCH_SHARED")]
    return [Path(folder) for folder in own if folder and Path(folder).is_dir()]


def list_files(folders: Sequence[Path], most: int) -> list[tuple[Path, Path]]:
    """Return at most `most` files of each format, spread over the folders, with their names below them."""
    formats: defaultdict[str, list[tuple[Path, Path]]] = defaultdict(list)
    for folder in folders:
        for path in sorted(folder.rglob("[!.]*")):
            name, kind = path.relative_to(folder.parent), "archive" if is_archive(path.name) else extension_of(path)
            is_read = (kind in READERS or kind == "archive") and not any(part.startswith(".") for part in name.parts)
            limit = MOST_PDF_BYTES if kind == ".pdf" else MOST_BYTES
            if is_read and path.is_file() and path.stat().st_size <= limit:
                formats[kind].append((path, name))
    chosen = [files[:: -(-len(files) // most)] for files in formats.values()]
    return [file for files in chosen for file in files]


class Runs:
    """Runs over files, and what became of these."""

    def __init__(self) -> None:
        self.formats: Counter[str] = Counter()
        self.rows: list[FileRow] = []
        self.ended: list[str] = []
        self.seconds: Counter[str] = Counter()
        self._current, self._began = "", 0.0

    def take(self, files: Sequence[tuple[Path, Path]]) -> None:
        """Ingest files in one run; where it ends, each by itself, to find out which one ended it."""
        self._began = time.perf_counter()
        with TemporaryDirectory(prefix="real-files-") as home:
            for path, name in files:
                (copy := Path(home, "files", name)).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, copy)
            try:
                found = ingest(
                    Path(home, "files"), Path(home, "corpus"), embedder=Flat(MINILM_TOKENIZER), archives=True,
                    options=OPTIONS, limits=LIMITS, progress=self._measure,
                )  # fmt: skip
            except Exception as error:  # what this program looks for
                if len(files) == 1:
                    self.ended.append(f"{files[0][0]}: {type(error).__name__}: {error}")
                for file in files if len(files) > 1 else ():
                    self.take([file])
                return
        self.rows += found.rows
        self.formats.update(extension_of(path) for path, _ in files)

    def _measure(self, stage: str, _done: int, _total: int, detail: str = "") -> None:
        if stage == "files":
            self.seconds[self._current] += time.perf_counter() - self._began
            self._current, self._began = detail, time.perf_counter()

    def report(self, shown: int) -> Iterator[str]:
        """Yield the lines of the report."""
        yield f"{self.formats.total()} files of {len(self.formats)} formats: {dict(self.formats.most_common())}"
        yield f"rows: {dict(Counter(row.status for row in self.rows))}"
        refused: defaultdict[str, list[str]] = defaultdict(list)
        for row in self.rows:
            if row.status in ("failed", "skipped"):
                reason, _, message = row.reason.partition(": ")
                refused[reason].append(f"  {row.source}: {message}")
        for reason, lines in sorted(refused.items()):
            yield "\n".join([f"{reason}: {len(lines)}", *lines[:shown]])
        yield "slowest:"
        yield from (f"  {seconds:6.1f} s  {source}" for source, seconds in self.seconds.most_common(10))
        yield "\n  ".join([f"ended runs: {len(self.ended)}", *self.ended])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=lambda folder: Path(folder).resolve())
    parser.add_argument("--most", type=int, default=200, help="files of each format")
    parser.add_argument("--minutes", type=float, default=20.0, help="no run begins later")
    parser.add_argument("--shown", type=int, default=15, help="refused files to list for each reason")
    given = parser.parse_args()
    files, runs, began = list_files(given.folders or list_folders(), given.most), Runs(), time.monotonic()
    for start in range(0, len(files), TOGETHER):
        if time.monotonic() - began < 60 * given.minutes:
            runs.take(files[start : start + TOGETHER])
            print(f"{start} of {len(files)} files", file=sys.stderr, flush=True)
    print(*runs.report(given.shown), sep="\n")
    sys.exit(bool(runs.ended))
