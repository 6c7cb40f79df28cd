"""How well PDFs are read, beside other libraries where they are installed: `python -m benchmarks.reading FOLDER`.

What should be found is what PDFium finds (`pip install pypdfium2`). See reading.md for what each column counts.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from benchmarks import ROOT
from benchmarks.reading import planted, scores
from benchmarks.reading.libraries import Reader, readers, timed
from benchmarks.reading.pdfium import PageReference, references
from benchmarks.report import Table, shown

PAGE = ROOT / "benchmarks" / "reading.md"
NEEDED = "pip install pypdfium2; to compare, also: pip install kreuzberg 'markitdown[pdf]' 'pymupdf4llm<2'"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reading", description=__doc__)
    parser.add_argument("folder", type=Path, help="PDFs, also in folders below")
    parser.add_argument("--write", action="store_true", help="put the tables into benchmarks/reading.md")
    parser.add_argument("--most-pages", type=int, default=60, help="that are judged of one file")
    parser.add_argument("--only", help="the name of one reader")
    parser.add_argument("--json", type=Path, help="write the figures of each file there")
    options = parser.parse_args()
    if not find_spec("pypdfium2"):
        raise SystemExit(f"PDFium is the reference: {NEEDED}")
    compared = {name: reader for name, reader in readers().items() if options.only in {None, name}}
    files = sorted(options.folder.rglob("*.pdf"))
    pages = {file: references(file, options.most_pages) for file in files}
    found: Found = {name: {} for name in compared}
    leaks = {}
    with TemporaryDirectory(prefix="reading-") as room:
        # One reader after another: pymupdf4llm changes PyMuPDF, with which this project reads, for the whole process.
        for name, reader in compared.items():
            for number, file in enumerate(files, start=1):
                print(f"{name} {number}/{len(files)} {file.name}", file=sys.stderr, flush=True)
                found[name][file.name] = _judged(reader, file, pages[file], Path(room))
            leaks[name] = _leaks(reader, Path(room))
    if options.json:
        each = {name: {file: asdict(score) for file, score in files.items()} for name, files in found.items()}
        options.json.write_text(json.dumps(each, indent=1), "utf-8")
    shown([_totals(found, leaks), _files(found)], Console(width=180), PAGE if options.write else None)


def _judged(reader: Reader, file: Path, pages: Sequence[PageReference], room: Path) -> scores.Score:
    reading = timed(reader, file)
    score = scores.Score(pages=len(pages), cpu=reading.cpu)
    scores.of_text(reading.document, pages, score)
    scores.of_tables(reading.document, scores.questions().get(file.name, ()), score)
    stripped = room / "stripped.pdf"
    titles = scores.outline_of(file, pages, stripped)
    if titles:
        scores.of_headings(timed(reader, stripped).document, titles, score)
    return score


def _leaks(reader: Reader, room: Path) -> list[str]:
    planted.write_planted(room / "planted.pdf")
    return planted.leaked(timed(reader, room / "planted.pdf").document)


Found = dict[str, dict[str, scores.Score]]


def _totals(found: Found, leaks: dict[str, list[str]]) -> Table:
    rows = []
    for name, files in found.items():
        total = scores.Score()
        for score in files.values():
            total.add(score)
        rows.append((name, *_cells(total), f"{len(leaks[name])} of {len(planted.PLANTED)}", _speed(total)))
    return Table("total", f"{_count(found)} files", ("", *COLUMNS, "hidden words read", "pages per CPU-s"), tuple(rows))


def _files(found: Found) -> Table:
    """Return the order and the headings of each file, by reader."""
    names = [*found]
    rows = []
    for file, ours in sorted(found[names[0]].items()):
        scored = [found[name][file] for name in names]
        rows.append((file, str(ours.pages), *(_share(x.joints) for x in scored), *(_share(x.headings) for x in scored)))
    columns = ("file", "pages", *(f"order, {name}" for name in names), *(f"headings, {name}" for name in names))
    return Table("files", "By file", columns, tuple(rows))


def _count(found: Found) -> int:
    return max((len(files) for files in found.values()), default=0)


COLUMNS = ("pages", "snippets", "order", "garbled pages", "right page", "headings", "headings named", "in one leaf")


def _cells(score: scores.Score) -> tuple[str, ...]:
    garbled, judged = score.garbled
    return (
        str(score.pages),
        _share(score.snippets),
        _share(score.joints),
        f"{garbled} of {judged}",
        _share(score.right_page),
        _share(score.headings),
        str(score.named) if score.headings[1] else "",
        f"{score.tables[0]} of {score.tables[1]}" if score.tables[1] else "",
    )


def _share(pair: Sequence[int]) -> str:
    return f"{100 * pair[0] / pair[1]:.1f} %" if pair[1] else ""


def _speed(score: scores.Score) -> str:
    return f"{score.pages / score.cpu:.0f}" if score.cpu else ""


if __name__ == "__main__":
    main()
