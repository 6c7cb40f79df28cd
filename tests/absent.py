"""Has a package be missing, as on a machine where it is not installed."""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder
from typing import Any

import pytest


class _Absent(MetaPathFinder):
    def __init__(self, name: str) -> None:
        self._name = name

    def find_spec(self, fullname: str, *_: Any) -> None:
        if fullname == self._name:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)


def hide(name: str, monkeypatch: pytest.MonkeyPatch, *, forget: str = "") -> None:
    """Hide a package for the rest of a test; what begins with `forget` is imported anew, and misses it."""
    for module in [each for each in sys.modules if f"{each}.".startswith((f"{name}.", f"{forget or name}."))]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setattr(sys, "meta_path", [_Absent(name), *sys.meta_path])
