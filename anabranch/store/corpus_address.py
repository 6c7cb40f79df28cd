"""Where a corpus is: a folder, or an address whose scheme names another kind of store."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from anabranch.errors import SettingsError, UserError

StrPath = str | os.PathLike[str]
"""A path, as callers pass it."""

DEFAULT_CORPUS = ".anabranch/corpus"

# At least two letters: `C:` is a drive.
# A password stands before the @ of a host, or is a parameter.
_PASSWORD = re.compile(r"(://[^/?#]*?:)[^@/?#]*(@)|([?&]password=)[^&#]*", re.IGNORECASE)
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]+):(?!\\)", re.IGNORECASE)


def scheme_of(corpus: StrPath) -> str:
    """Return the scheme of a corpus's address, 'file' for a plain path.

    A `Path` is a folder whatever its name; text such as "notes:2024" is an address, and "./notes:2024" a folder.

    Raises:
        UserError: It is neither text nor a path.
    """
    path = _check_path(corpus)
    found = _SCHEME.match(path) if isinstance(path, str) else None
    return found[1].lower() if found else "file"


def shown_address(corpus: StrPath) -> str:
    """Return where a corpus is, without a password."""
    return _PASSWORD.sub(lambda found: f"{found[1] or found[3]}***{found[2] or ''}", str(corpus))


def read_only_error(corpus: StrPath) -> SettingsError:
    """Return the error for changing a published corpus, or needing its folder."""
    hint = "Change its source corpus, then publish it again: anabranch corpus publish TARGET --corpus FOLDER"
    return SettingsError(f"{shown_address(corpus)!r} is a published corpus, which can only be read.", hint=hint)


def folder_of(corpus: StrPath) -> Path:
    """Return the folder of a corpus: a plain path, or `file:PATH`.

    Raises:
        UserError: It is neither text nor a path.
        SettingsError: It is the address of a corpus in another kind of store.
    """
    if (scheme := scheme_of(corpus)) == "s3":
        raise read_only_error(corpus)
    if scheme != "file":
        msg = f"This needs a corpus in a folder; {shown_address(corpus)!r} is in a store of the kind {scheme!r}."
        raise SettingsError(msg, hint=f"Give a folder; to name a folder like that, write ./{shown_address(corpus)}")
    if isinstance(corpus, str) and _SCHEME.match(corpus):
        # `file:` addresses are URLs: a blank in the path is %20, and a drive on Windows stands behind a slash.
        return Path(url2pathname(urlsplit(corpus).path))
    return Path(corpus)


def list_paths(paths: StrPath | Iterable[StrPath]) -> list[Path | str]:
    """Return the paths as a list; text stays as it is, for it may be a web address.

    Raises:
        UserError: One of them is neither text nor a path, or is empty.
    """
    # A string is iterable, so "notes" would become five paths.
    many = paths if isinstance(paths, Iterable) and not isinstance(paths, str | bytes | os.PathLike) else [paths]
    return [path if isinstance(path, str) else Path(path) for path in map(_check_path, many)]


def _check_path(path: StrPath) -> StrPath:
    text = os.fspath(path) if isinstance(path, os.PathLike) else path
    if not isinstance(text, str):
        msg = f"A path has to be text or a Path, not {type(text).__name__}: {text!r}."
        raise UserError(msg, hint="Give one path, or a list where several are allowed.")
    if not text:
        # An empty path means the current folder, which an unset variable must not.
        raise UserError("A path is empty.", hint="For the current folder, give '.'.")
    return path
