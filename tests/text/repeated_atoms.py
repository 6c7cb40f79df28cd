"""Texts of one repeated piece, which a pattern or a rule that looks back and forth takes longest for."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

LENGTH = 10_000

ATOMS = (
    "1", "a", "A", "é", "你", "ا", "12 ", "1, ", "1.5 ", "1-", "-", "_", "*", "**", "#", "`", "~", ">", "> ", "|", "| ",
    "|-", "\n", "\n\n", " ", "\t", "\r\n", "\u00a0", "\u200b", "\u2028", ".", ". ", "…", "a.", "e.g. ", "A ", "a ",
    "Ida ", "Anna ", "no ", "x, ", ": ", "[", "[[", "[1] ", "(", "(1) ", "{", '{"a":', '"', "'", "<", "</", "<a ", "&",
    "&lt;", "http://", "a@b.c ", "@", "/", "\\", "%20", "$1 ", "£1.5m ", "10:30", "1985 ", "3 May 2020 ", "a-b", "a'b",
    "1. ", "- ", "Q: ", "Doc: 1 ", "<think>", "<|a|>", "<passage", "yes ", "? ", "a\u0300", "🙂", "](", "www.", "K3 ",
)  # fmt: skip

_LIKE_SEARCH = {"search", "finditer", "findall", "sub", "subn", "split"}


def texts() -> Iterator[tuple[str, str]]:
    """Yield each atom with the text that repeats it."""
    for atom in ATOMS:
        yield atom, (atom * (LENGTH // len(atom) + 1))[:LENGTH]


def slow(work: Callable[[str], object], *, seconds: float = 1.0) -> dict[str, float]:
    """Return the atoms whose texts take more processor time than that, each time that they are tried."""
    found: dict[str, float] = {}
    for atom, text in texts():
        if (spent := spent_on(lambda: work(text), seconds)) > seconds:  # noqa: B023  # called at once
            found[atom] = round(spent, 2)
    return found


def spent_on(work: Callable[[], object], seconds: float, tries: int = 4) -> float:
    """Return the processor time of some work; what is over the bound is tried again, and the least of it counts.

    On a machine that others use, a second of processor time may be half of one elsewhere.
    """
    least = float("inf")
    while tries and least > seconds:
        began = time.thread_time()
        work()
        least, tries = min(least, time.thread_time() - began), tries - 1
    return least


def modules(*packages: str) -> Iterator[object]:
    """Yield the modules of some packages."""
    for package in packages:
        for each in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
            yield importlib.import_module(each.name)


def patterns(*packages: str) -> dict[str, Callable[[str], object]]:
    """Return what is done with each pattern that a module has as a global, or in a list or an object that is one.

    A pattern that is only ever matched where a text begins is not searched for here either.
    """
    found: dict[str, Callable[[str], object]] = {}
    for module in modules(*packages):
        used = _methods(Path(module.__file__).read_text("utf-8"))  # type: ignore[attr-defined]  # a module
        for name, value in vars(module).items():
            for place, pattern in _inside(value, name):
                methods = used.get(name, set()) if place == name else set()
                found[f"{module.__name__}.{place}"] = _trial(pattern, methods or {"search", "match", "fullmatch"})  # type: ignore[attr-defined]  # a module
    return found


def _trial(pattern: re.Pattern[str], methods: set[str]) -> Callable[[str], object]:
    def tried(text: str) -> None:
        # What fails at the very end makes a pattern try all that it can.
        for each in (text, f"{text}\0"):
            if methods & _LIKE_SEARCH:
                list(pattern.finditer(each))
            if "match" in methods:
                pattern.match(each)
            if "fullmatch" in methods:
                pattern.fullmatch(each)

    return tried


def _methods(source: str) -> dict[str, set[str]]:
    """Return the methods that a module calls of its globals; another module may import one, and call another."""
    found: dict[str, set[str]] = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found.setdefault(node.value.id, set()).add(node.attr)
    return found


def _inside(value: object, name: str, depth: int = 0) -> Iterator[tuple[str, re.Pattern[str]]]:
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield name, value
    elif depth < 3 and isinstance(value, tuple | list | frozenset | set):
        for at, each in enumerate(value):
            yield from _inside(each, f"{name}[{at}]", depth + 1)
    elif depth < 3 and isinstance(value, dict):
        for key, each in value.items():
            yield from _inside(each, f"{name}[{key!r}]", depth + 1)
    elif depth < 3 and hasattr(value, "__dataclass_fields__") and not isinstance(value, type):
        for each in value.__dataclass_fields__:
            yield from _inside(getattr(value, each), f"{name}.{each}", depth + 1)


def public_functions(*packages: str) -> set[str]:
    """Return the names of the public functions, and of the public classes, that some packages define."""
    return {
        f"{module.__name__.rpartition('.')[2]}.{name}"  # type: ignore[attr-defined]  # a module
        for module in modules(*packages)
        for name, value in vars(module).items()
        if inspect.isfunction(value) and not name.startswith("_") and value.__module__ == module.__name__  # type: ignore[attr-defined]  # a module
    }
