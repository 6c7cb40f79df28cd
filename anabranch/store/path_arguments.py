"""What callers give for a path: text or a `Path`, one or several."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from anabranch.errors import UserError

Given = str | os.PathLike[str]
"""A path as a caller may write it."""


def path_of(given: Given) -> Path:
    """Return it as a `Path`.

    Raises:
        UserError: It is neither text nor a path.
    """
    return Path(_checked(given))


def paths_of(given: Given | Iterable[Given]) -> list[Path | str]:
    """Return them one by one, text as it is: that may be an address of the web.

    Raises:
        UserError: One of them is neither text nor a path.
    """
    many = given if isinstance(given, Iterable) and not isinstance(given, str | bytes | os.PathLike) else [given]
    return [path if isinstance(path, str) else Path(path) for path in map(_checked, many)]


def _checked(given: Given) -> Given:
    text = os.fspath(given) if isinstance(given, os.PathLike) else given
    if not isinstance(text, str):
        msg = f"A path has to be text or a Path, not {type(text).__name__}: {text!r}."
        raise UserError(msg, hint="Give one such path, or a list of them where several are taken.")
    return given
