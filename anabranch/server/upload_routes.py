"""Files that people send: kept in a folder of their own in the ingest root, where the graph `ingest` finds them."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, BinaryIO

from fastapi import APIRouter, Request
from starlette.datastructures import UploadFile

from anabranch.errors import OperationError, SettingsError
from anabranch.identity.audit_log import audit
from anabranch.identity.user import upload_folder
from anabranch.safety.operator import operator
from anabranch.server.requester import Asker, Requester
from anabranch.server.usage_limits import Limited, UsageLimits
from anabranch.store.file_identity import is_url

router = APIRouter(tags=["documents"])

MAX_BYTES = 200 * 1024 * 1024
"""Of one file."""

MAX_FILES = 100
MAX_NAME = 120
"""Bytes of a file's name; most file systems hold 255, and readers put something behind it."""

_BLOCK = 1024 * 1024


_FORM: dict[str, Any] = {
    "type": "object",
    "required": ["files"],
    "properties": {"files": {"type": "array", "items": {"type": "string", "format": "binary"}}},
}


@router.post("/uploads", openapi_extra={"requestBody": {"content": {"multipart/form-data": {"schema": _FORM}}}})
async def upload(request: Request, who: Asker, limits: Limited) -> dict[str, list[str]]:
    """Keep files, each under its own name, in place of one that was sent before.

    Returns:
        `paths`: what to give to the graph `ingest`.
    """
    who.require("ingest")
    # Not as a parameter: FastAPI reads a form before it asks who sends it, so anybody could fill the disk.
    async with request.form() as form:
        return await _taken([each for each in form.getlist("files") if isinstance(each, UploadFile)], who, limits)


async def _taken(files: list[UploadFile], who: Requester, limits: UsageLimits | None) -> dict[str, list[str]]:
    if not 0 < len(files) <= MAX_FILES:
        msg = f"{len(files)} files were sent at once."
        raise SettingsError(msg, hint=f"Send from 1 to {MAX_FILES} as `files` of a form (multipart/form-data).")
    root, own = _folders(who)
    names = [file_name(each.filename or "") for each in files]
    if limits is not None:
        await limits.begin(who, upload_bytes=sum(each.size or 0 for each in files))
    await audit("upload", who.user, files=names, bytes=sum(each.size or 0 for each in files))
    for each, name in zip(files, names, strict=True):
        await asyncio.to_thread(_kept, each.file, root / own, name)
    return {"paths": [f"{own.as_posix()}/{name}" for name in names]}


def file_name(given: str) -> str:
    """Return a name that is a file's and nothing else: no folder, no hidden file, no control character.

    Raises:
        SettingsError: Nothing is left of it.
    """
    # Either separator: a browser on Windows may send a whole path.
    last = given.replace("\\", "/").rpartition("/")[2]
    clean = "".join(character for character in last if character.isprintable()).strip().lstrip(".")
    stem, dot, kind = clean.rpartition(".")
    room = MAX_NAME - len(f"{dot}{kind}".encode())
    if not clean or room <= 0:
        raise SettingsError("A file was sent without a name that can be used.", hint="Rename it.")
    # Cut to whole characters.
    return f"{(stem or clean).encode()[:room].decode(errors='ignore')}{dot}{kind}" if stem else clean[:MAX_NAME]


def discard(path: str, who: Requester) -> bool:
    """Delete a file that this person has sent; others stay where they are. Return whether it was one.

    Args:
        path: Where the corpus says that it lies.
        who: Who asks.

    Raises:
        OperationError: It cannot be deleted.
    """
    root, own = _folders(who)
    file = Path(path)
    if is_url(path) or file.parent != (root / own).resolve() or not file.is_file():
        return False
    try:
        file.unlink()
    except OSError as error:
        msg = f"{file.name} cannot be deleted: {os.strerror(error.errno or 0)}."
        raise OperationError(msg, hint="See that the ingest root can be written.") from error
    return True


def _folders(who: Requester) -> tuple[Path, Path]:
    """Return the ingest root, and the folder of this person in it."""
    root = operator().ingest_root
    if who.user is not None:
        root = who.user.place(root, "ANABRANCH_INGEST_ROOT")
    return Path(root), Path(upload_folder(who.owner))


def _kept(source: BinaryIO, folder: Path, name: str) -> None:
    """Write a file beside its place and put it there whole: a reader must not see half of one.

    Raises:
        SettingsError: It is too large.
        OperationError: It cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=folder, prefix=".", delete=False) as file:
            try:
                shutil.copyfileobj(_Bounded(source, name), file, _BLOCK)
                file.flush()
                Path(file.name).replace(folder / name)
            except BaseException:
                Path(file.name).unlink(missing_ok=True)
                raise
    except OSError as error:
        msg = f"{name} cannot be kept: {os.strerror(error.errno or 0)}."
        raise OperationError(msg, hint="See that the ingest root can be written and that its disk has room.") from error


class _Bounded:
    """Reads a file that was sent, up to what one may have."""

    def __init__(self, source: BinaryIO, name: str) -> None:
        self._source = source
        self._name = name
        self._read = 0

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes.

        Raises:
            SettingsError: There were too many.
        """
        found = self._source.read(size)
        self._read += len(found)
        if self._read > MAX_BYTES:
            msg = f"{self._name} is larger than {MAX_BYTES // _BLOCK} MB."
            raise SettingsError(msg, hint="Have the operator ingest it from the command line.")
        return found
