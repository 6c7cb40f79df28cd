"""Whether `graph`, `nodes` and `prompts` are Anabranch's packages here: others use these names as well (ADR 17)."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import PathFinder
from pathlib import Path

from anabranch.errors import SettingsError

OWN = ("graph", "nodes", "prompts")

_HOME = Path(__file__).resolve().parent.parent


def taken_by(name: str, path: Sequence[str] | None = None) -> str:
    """Return what would be imported in the place of one of the packages; empty where that is ours, or nothing.

    Args:
        name: Of the package.
        path: Where to look; None for where a program like this one does.
    """
    # Looked up and not imported: what hides ours may do anything when it is imported.
    spec = PathFinder.find_spec(name, path)
    # A folder without __init__.py, which has no origin, gives way to any package.
    return "" if spec is None or spec.origin is None else _if_foreign(spec.origin)


def refuse_taken() -> None:
    """Say at once which file is in the way: an import would fail somewhere deep with a puzzling message.

    Raises:
        SettingsError: One of the names is another's.
    """
    for name in OWN:
        # What is imported already stays, whatever the path says by now.
        loaded = sys.modules.get(name)
        if (
            place := taken_by(name)
            if loaded is None
            else _if_foreign(getattr(loaded, "__file__", None) or repr(loaded))
        ):
            msg = f"{place} hides Anabranch's package {name!r}: Python finds it first under that name."
            raise SettingsError(msg, hint=advice(name))


def _if_foreign(place: str) -> str:
    return "" if Path(place).resolve().parent.parent == _HOME else place


def advice(name: str) -> str:
    """Return what to do about it."""
    return f"Give it another name, or put it into a package of yours: my_agent/{name}.py, imported as my_agent.{name}."
