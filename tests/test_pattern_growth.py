"""No pattern that is tried on what a document says takes time that grows with the square of it.

A file is a hundred megabytes at most, and some are read by the process that serves everybody. Each pattern is tried in
the ways in which its module uses it.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from anabranch.chunking import split_units
from anabranch.errors import ReadingError
from anabranch.ingestion.isolation.read_and_chunk import read_and_chunk
from anabranch.readers import asciidoc, code, dehyphenation
from anabranch.readers.pdf_layout import headers_footers, line_numbers
from tests.hostile_texts import ATOMS, repeated

PACKAGES = ("chunking", "ingestion", "readers")
LENGTH = 10_000
SECONDS = 0.25
"""Of processor time: a pattern of linear growth takes some thousandths of one. It holds the whole process up."""

SHORT = {
    "anabranch.readers.code": code._LONGEST_LINE,
    "anabranch.readers.dehyphenation._BREAK": dehyphenation._LONGEST_WORD,
    "anabranch.readers.pdf_layout.line_numbers._ENTRY": line_numbers._LONGEST_END,
    "anabranch.readers.pdf_layout.headers_footers._NUMBER": headers_footers._LONGEST_NUMBER,
}
"""Patterns that see no more than so many characters, by module or name."""

ENDS = ("", "!\x00")
"""What comes behind them: a pattern that matches to the end has nothing to try again."""

METHODS: Mapping[str, Callable[[re.Pattern[Any], Any], object]] = {
    "match": lambda pattern, text: pattern.match(text),
    "fullmatch": lambda pattern, text: pattern.fullmatch(text),
    "search": lambda pattern, text: pattern.search(text),
    "finditer": lambda pattern, text: sum(1 for _ in pattern.finditer(text)),
}
SAME = {"sub": "finditer", "subn": "finditer", "split": "finditer", "findall": "finditer"}


def modules() -> Iterator[ModuleType]:
    for name in PACKAGES:
        package = importlib.import_module(f"anabranch.{name}")
        yield package
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            yield importlib.import_module(found.name)


def patterns_in(value: object) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        yield from patterns_in(tuple(value.values()))
    elif isinstance(value, tuple | list | set | frozenset):
        for each in value:
            yield from patterns_in(each)


def methods_of(module: ModuleType, name: str) -> set[str]:
    """Return how a module uses a pattern; all ways where it hands the pattern on."""
    source = inspect.getsource(module)
    used = re.findall(rf"\b{name}\b(?!\s*[:=])(?:\.(\w+))?", source)
    return {SAME.get(method, method) for method in used} if used and all(used) else set(METHODS)


def tried() -> list[Any]:
    found = {}
    for module in modules():
        for name, value in vars(module).items():
            for pattern in patterns_in(value):
                if module.__name__.startswith("anabranch."):
                    found.setdefault(pattern, (f"{module.__name__}.{name}", methods_of(module, name)))
    return [pytest.param(name, pattern, methods, id=name) for pattern, (name, methods) in found.items()]


def took(work: Callable[[], object]) -> float:
    began = time.thread_time()
    work()
    return time.thread_time() - began


@pytest.mark.parametrize(("name", "pattern", "methods"), tried())
def test_patterns_take_time_that_grows_with_the_text(name: str, pattern: re.Pattern[Any], methods: set[str]) -> None:
    length = SHORT.get(name, SHORT.get(name.rpartition(".")[0], LENGTH))
    for atom in ATOMS:
        for end in ENDS:
            text = repeated(atom, length) + end
            given = text.encode() if isinstance(pattern.pattern, bytes) else text
            for method in methods & set(METHODS):
                seconds = took(partial(METHODS[method], pattern, given))
                assert seconds < SECONDS, f"{method} of {atom!r} behind one another: {seconds:.2f} s"


def test_there_are_patterns_and_ways_to_use_them() -> None:
    assert len(tried()) > 100
    assert methods_of(asciidoc, "_CROSS") == {"finditer"}
    assert methods_of(asciidoc, "_ITEM") == {"match"}
    assert methods_of(split_units, "_GAP") == set(METHODS)  # it is handed on as well


HERE = {
    "note.md": "{}",
    "facts.md": "---\n{}\n---\nText.\n",
    "broken.md": "---\nx: : :\n{}\n---\nText.\n",
    "note.txt": "{}",
}
"""What the process that ingests, on a server the one that serves, reads by itself where it is short."""


@pytest.mark.parametrize("name", HERE)
def test_short_files_take_time_that_grows_with_the_text(tmp_path: Path, name: str) -> None:
    (path := tmp_path / name).touch()
    for atom in ATOMS:
        path.write_text(HERE[name].replace("{}", repeated(atom, LENGTH)), encoding="utf-8", newline="")
        seconds = took(partial(read_whole, path))
        assert seconds < 4 * SECONDS, f"{atom!r} behind one another: {seconds:.2f} s"


def read_whole(path: Path) -> None:
    with suppress(ReadingError):
        for _ in read_and_chunk(path, path.name, tokens=Letters()):
            pass


class Letters:
    """Counts each letter as a token."""

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(text) for text in texts]

    def offsets(self, text: str) -> list[tuple[int, int]]:
        return [(at, at + 1) for at in range(len(text))]
