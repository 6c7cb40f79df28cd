"""Files that people send: kept in a folder of their own in the ingest root, where the graph `ingest` finds them."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from tempfile import NamedTemporaryFile
from typing import Any, BinaryIO

from fastapi import APIRouter, Request
from starlette.datastructures import FormData, UploadFile

from anabranch.errors import OperationError, ReadingError, SettingsError
from anabranch.identity.audit_log import audit
from anabranch.identity.user import ingest_folder, upload_folder
from anabranch.store.file_identity import is_url
from anabranch_server.page_process import PageProcess
from anabranch_server.requester import Asker, Requester
from anabranch_server.usage_limits import Limited, UsageLimits

router = APIRouter(tags=["documents"])

MAX_BYTES = 200 * 1024 * 1024
"""Of one file."""

MAX_FILES = 100
MAX_NAME = 120
"""Bytes of a file's name; most file systems hold 255, and readers put something behind it."""

MAX_ENDING = 20
"""Bytes of a name behind its last point that are an ending, which says what the file is."""

MAX_FOLDERS = 20
"""One in the other."""

UNLOCKING = (sys.executable, "-P", "-m", "anabranch_server.unlocking_process")

_BLOCK = 1024 * 1024

_FORM: dict[str, Any] = {
    "type": "object",
    "required": ["files"],
    "properties": {
        "files": {"type": "array", "items": {"type": "string", "format": "binary"}},
        "folder": {"type": "string", "description": "Where they lay, such as `notes/2024`; part of their names."},
        "password": {"type": "string", "description": "Opens PDF and Office files; they are kept without it."},
    },
}


@router.post(
    "/uploads",
    openapi_extra={"requestBody": {"content": {"multipart/form-data": {"schema": _FORM}}}},
    # What stands between the files is no more than another one.
    max_body_size=(MAX_FILES + 1) * MAX_BYTES,
)
async def upload(request: Request, who: Asker, limits: Limited) -> dict[str, list[str]]:
    """Keep files, each under its own name, in place of one that was sent before.

    Those that the password opens are kept without protection; the password itself is kept nowhere.

    Returns:
        `paths`: what to give to the graph `ingest`; `names`: what it calls them.
    """
    who.require("ingest")
    # Not as a parameter: FastAPI reads a form before it asks who sends it, so anybody could fill the disk.
    async with request.form() as form:
        return await _taken(form, who, limits)


async def _taken(form: FormData, who: Requester, limits: UsageLimits | None) -> dict[str, list[str]]:
    files = [each for each in form.getlist("files") if isinstance(each, UploadFile)]
    if not 0 < len(files) <= MAX_FILES:
        msg = f"{len(files)} files were sent at once."
        raise SettingsError(msg, hint=f"Send from 1 to {MAX_FILES} as `files` of a form (multipart/form-data).")
    root, own = _folders(who)
    folder = _folder_name(_text(form, "folder"))
    names = [(folder / file_name(each.filename or "")).as_posix() for each in files]
    await asyncio.to_thread(_refuse_clashes, root / own, names)
    if limits is not None:
        await limits.begin(who, upload_bytes=sum(each.size or 0 for each in files))
    await audit("upload", who.user, files=names, bytes=sum(each.size or 0 for each in files))
    places = [root / own / name for name in names]
    await _kept([(each.file, place) for each, place in zip(files, places, strict=True)], _text(form, "password"))
    return {"paths": [f"{own.as_posix()}/{name}" for name in names], "names": names}


def _text(form: FormData, name: str) -> str:
    given = form.get(name)
    return given if isinstance(given, str) else ""


def _folder_name(given: str) -> PurePosixPath:
    """Return the folder that files lay in, each of its names made safe as that of a file.

    Raises:
        SettingsError: It is too deep, or leads elsewhere.
    """
    parts = [part for part in given.replace("\\", "/").split("/") if part]
    if len(parts) > MAX_FOLDERS:
        raise SettingsError(f"More than {MAX_FOLDERS} folders lie in each other.", hint="Send some of them.")
    return PurePosixPath(*map(file_name, parts))


def file_name(given: str) -> str:
    """Return a name that is a file's and nothing else: no folder, no hidden file, no control character.

    Raises:
        SettingsError: Nothing is left of it.
    """
    # Either separator: a browser on Windows may send a whole path.
    last = given.replace("\\", "/").rpartition("/")[2]
    clean = "".join(character for character in last if character.isprintable()).strip().lstrip(".")
    if not clean:
        raise SettingsError("A file was sent without a name that can be used.", hint="Rename it.")
    stem, dot, kind = clean.rpartition(".")
    ending = f"{dot}{kind}"
    if not stem or len(ending.encode()) > MAX_ENDING:
        stem, ending = clean, ""
    # Cut to whole characters.
    return f"{stem.encode()[: MAX_NAME - len(ending.encode())].decode(errors='ignore')}{ending}"


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
    home = (root / own).resolve()
    if is_url(path) or home not in file.parents or ".." in file.parts or not file.is_file():
        return False
    try:
        file.unlink()
    except OSError as error:
        msg = f"{file.name} cannot be deleted: {os.strerror(error.errno or 0)}."
        raise OperationError(msg, hint="See that the ingest root can be written.") from error
    with suppress(OSError):  # the first that is not empty stays, with those above it
        for folder in file.parents[: file.parents.index(home)]:
            folder.rmdir()
    return True


def _folders(who: Requester) -> tuple[Path, Path]:
    """Return the ingest root, and the folder of this person in it."""
    return ingest_folder(who.user), Path(upload_folder(who.owner))


async def _kept(files: Sequence[tuple[BinaryIO, Path]], password: str) -> None:
    """Write files beside their places and put them there whole, once all can be read: nobody sees half of one.

    Raises:
        SettingsError: One is too large.
        ReadingError: The password does not open one.
        OperationError: One cannot be written.
    """
    drafts: list[Path] = []
    try:
        for source, place in files:
            with _told(place):
                drafts.append(await asyncio.to_thread(_written, source, place))
                if password:
                    await _unlock(drafts[-1], place.name, password)
        for draft, (_, place) in zip(drafts, files, strict=True):
            with _told(place):
                await asyncio.to_thread(draft.replace, place)
    finally:
        for draft in drafts:
            await asyncio.to_thread(draft.unlink, missing_ok=True)


@contextmanager
def _told(place: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        msg = f"{place.name} cannot be kept: {os.strerror(error.errno or 0)}."
        raise OperationError(msg, hint="See that the ingest root can be written and that its disk has room.") from error


def _refuse_clashes(home: Path, names: Sequence[str]) -> None:
    """Refuse names of which one would be in the place of another, or of a folder.

    Raises:
        SettingsError: There are such.
    """
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise SettingsError(f"Two files were sent as {twice!r}.", hint="Rename one, or send them to different folders.")
    for name in names:
        above = next((each for each in PurePosixPath(name).parents if (home / each).is_file()), None)
        if above is not None:
            msg = f"{name!r} cannot be kept: you have sent a file {above.as_posix()!r}."
            raise SettingsError(msg, hint="Choose another folder.")
        if (home / name).is_dir():
            raise SettingsError(f"{name!r} cannot be kept: it is a folder of yours.", hint="Rename the file.")


def _written(source: BinaryIO, place: Path) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=place.parent, prefix=".", delete=False) as file:
        try:
            shutil.copyfileobj(_Bounded(source, place.name), file, _BLOCK)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise
    return Path(file.name)


async def _unlock(file: Path, name: str, password: str) -> None:
    """Take the protection off a file, in a process of its own, which opens it under bounds.

    Raises:
        ReadingError: The password does not open it, or it cannot be opened here.
    """
    copy = file.with_name(f"{file.name}.open")
    process = PageProcess(UNLOCKING)
    try:
        order = {"path": str(file), "copy": str(copy), "name": name, "password": password}
        reply, _ = await process.order(order)
        if "reason" in reply:
            reply = {"refused": (f"{name!r} cannot be opened here.", "Send a copy without a password.")}
        if "refused" in reply:
            message, hint = reply["refused"]
            raise ReadingError(message, reason="encrypted", hint=hint)
        if reply["is_open"]:
            await asyncio.to_thread(copy.replace, file)
    finally:
        await asyncio.to_thread(process.close)
        await asyncio.to_thread(copy.unlink, missing_ok=True)


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
