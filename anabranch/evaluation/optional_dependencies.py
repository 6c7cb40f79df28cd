"""The libraries of evaluation are an extra: SciPy alone is larger than what a search needs."""

from __future__ import annotations

from importlib import import_module

from anabranch.errors import MissingExtraError

LIBRARIES = ("ir_measures", "scipy.stats", "drawsvg", "yaml")


def require_libraries() -> None:
    """Import what an evaluation needs, before any work is done.

    Raises:
        MissingExtraError: One of them is not installed.
    """
    for name in LIBRARIES:
        try:
            import_module(name)
        except ImportError as error:
            raise MissingExtraError("anabranch eval", "eval") from error
